package login

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"pawl"
	"pawl/agent"
	"pawl/agent/wire"
)

// opencodeMaker knows the login of opencode at OpenAI. With a plan opencode connects to ChatGPT by itself, whatever
// address it is given, so that the tunnel is its only way out; it has no command that renews a login and does nothing
// else.
func opencodeMaker() maker {
	return maker{
		name: "OpenAI", programs: []string{"opencode", "opencode-acp"}, signIn: "opencode auth login",
		look: lookOpencode,
		kind: wire.OpenAI, upstream: "https://chatgpt.com/backend-api/codex", keys: wire.OpenAI.URL(),
		shape: shapeOpencode,
		sites: []string{"chatgpt.com:443"}, tunnelOnly: true,
	}
}

// lookOpencode reads the entry for OpenAI: a plan of ChatGPT, or a key.
func lookOpencode(m maker, s Source) (Login, error) {
	path := filepath.Join(s.folder("XDG_DATA_HOME", ".local", "share"), "opencode", "auth.json")
	raw, err := m.read(path)
	if err != nil {
		return Login{}, err
	}
	var f struct {
		OpenAI *struct {
			Type    string `json:"type"`
			Access  string `json:"access"`
			Refresh string `json:"refresh"`
			Expires int64  `json:"expires"`
			Account string `json:"accountId"`
			Key     string `json:"key"`
		} `json:"openai"`
	}
	if err := m.decode(path, raw, &f); err != nil {
		return Login{}, err
	}
	config := filepath.Join(s.folder("XDG_CONFIG_HOME", ".config"), "opencode")
	l := Login{Where: path, Model: opencodeModel(config), more: map[string]any{"folder": config}}
	o := f.OpenAI
	switch {
	case o == nil:
		return Login{}, m.fail(pawl.CodeNotFound, "login.none", m.programs[0])
	case o.Type == "api":
		l.Kind, l.token = Key, secret(o.Key)
		return l, m.usable(path, o.Key)
	case o.Access == "":
		return Login{}, m.fail(pawl.CodeLogin, "login.blank", path)
	}
	if err := m.usable(path, o.Access); err != nil {
		return Login{}, err
	}
	l.Kind, l.token = Subscription, secret(o.Access)
	if o.Expires > 0 {
		l.Expires = time.UnixMilli(o.Expires)
	}
	access := claims(o.Access)
	l.Email = first(text(access, "email"), text(access, "https://api.openai.com/profile", "email"))
	l.Plan = text(access, "https://api.openai.com/auth", "chatgpt_plan_type")
	l.more["account"] = o.Account
	return l, nil
}

// opencodeModel is the model of OpenAI that the owner has chosen, "" for none and for one of somebody else.
func opencodeModel(config string) string {
	var f struct {
		Model string `json:"model"`
	}
	// settings that cannot be read choose nothing
	_ = json.Unmarshal([]byte(readText(filepath.Join(config, "opencode.json"))), &f)
	model, _ := strings.CutPrefix(agent.Line(f.Model), "openai/")
	if strings.Contains(model, "/") {
		return ""
	}
	return model
}

// shapeOpencode lets opencode use its own provider with a copy of the login, or, with a key, leaves it as pawl runs it
// in any case.
func shapeOpencode(p agent.Program, l Login, o options) shaped {
	model := first(o.model, l.Model)
	folder, _ := l.more["folder"].(string)
	out := shaped{program: p, model: model,
		memory: map[string]string{".config/opencode/AGENTS.md": filepath.Join(folder, "AGENTS.md")}}
	if l.Kind == Key {
		out.unreadable = true
		return out
	}
	env := map[string]string{}
	for name, v := range p.Env {
		env[name] = v
	}
	const settings = "OPENCODE_CONFIG_CONTENT"
	env[settings] = ownOpencode(env[settings], model)
	out.program.Env = env
	copied, _ := json.Marshal(map[string]any{"openai": map[string]any{ // texts and a number always encode
		"type": "oauth", "access": string(l.token), "refresh": "", "expires": l.Expires.UnixMilli(),
		"accountId": l.more["account"],
	}})
	out.name, out.copy = ".local/share/opencode/auth.json", copied
	return out
}

// ownOpencode makes settings of opencode that name pawl's gateway into ones for its own provider.
func ownOpencode(settings, model string) string {
	var all map[string]any
	if json.Unmarshal([]byte(strings.NewReplacer("{window}", "0", "{out}", "0").Replace(settings)), &all) != nil {
		all = map[string]any{}
	}
	delete(all, "provider")
	delete(all, "model")
	delete(all, "small_model")
	if model != "" {
		all["model"] = "openai/" + model
	}
	raw, _ := json.Marshal(all) // what was read from JSON encodes
	return string(raw)
}
