package login

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"pawl"
	"pawl/agent"
	"pawl/agent/wire"
)

func codexMaker() maker {
	return maker{
		name: "OpenAI", programs: []string{"codex", "codex-acp"}, signIn: "codex login", look: lookCodex,
		kind: wire.OpenAI, upstream: "https://chatgpt.com/backend-api/codex", keys: wire.OpenAI.URL(),
		shape: shapeCodex,
		sites: []string{"chatgpt.com:443"},
		renewal: &renewal{
			program: "codex", args: []string{"app-server"}, without: []string{"CODEX_API_KEY", "CODEX_ACCESS_TOKEN",
				"OPENAI_API_KEY"},
			input: `{"id":1,"method":"initialize","params":{"clientInfo":{"name":"pawl","title":"pawl","version":"1"}}}` + "\n" + `{"method":"initialized"}` + "\n" +
				`{"id":2,"method":"account/read","params":{"refreshToken":true}}` + "\n",
			answered: answersTwo,
		},
	}
}

// answersTwo reports whether the answer to the second request is among the lines.
func answersTwo(output []byte) bool {
	for line := range strings.Lines(string(output)) {
		var m struct {
			ID     json.Number     `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if json.Unmarshal([]byte(line), &m) == nil && m.ID == "2" && m.Method == "" &&
			(m.Result != nil || m.Error != nil) {
			return true
		}
	}
	return false
}

// lookCodex reads the login of Codex: a plan of ChatGPT, or a key.
func lookCodex(m maker, s Source) (Login, error) {
	home := s.folder("CODEX_HOME", ".codex")
	path := filepath.Join(home, "auth.json")
	set := tomlWords(readText(filepath.Join(home, "config.toml")))
	raw, err := m.read(path)
	if pawl.CodeOf(err) == pawl.CodeNotFound &&
		(set["cli_auth_credentials_store"] == "keyring" || set["cli_auth_credentials_store"] == "auto") {
		return Login{}, m.fail(pawl.CodeLogin, "login.keyring", filepath.Join(home, "config.toml"),
			`cli_auth_credentials_store = "file"`)
	}
	if err != nil {
		return Login{}, err
	}
	var f struct {
		Mode   string  `json:"auth_mode"`
		Key    *string `json:"OPENAI_API_KEY"`
		Tokens *struct {
			ID      string `json:"id_token"`
			Access  string `json:"access_token"`
			Refresh string `json:"refresh_token"`
			Account string `json:"account_id"`
		} `json:"tokens"`
	}
	if err := m.decode(path, raw, &f); err != nil {
		return Login{}, err
	}
	l := Login{Where: path, Model: set["model"], Effort: set["model_reasoning_effort"]}
	if f.Tokens == nil || f.Mode == "apikey" {
		if f.Key == nil || *f.Key == "" {
			return Login{}, m.fail(pawl.CodeNotFound, "login.none", m.programs[0])
		}
		l.Kind, l.token = Key, secret(*f.Key)
		return l, m.usable(path, *f.Key)
	}
	if f.Tokens.Access == "" && f.Tokens.Refresh == "" {
		return Login{}, m.fail(pawl.CodeLogin, "login.blank", path)
	}
	if err := m.usable(path, f.Tokens.Access); err != nil {
		return Login{}, err
	}
	access, id := claims(f.Tokens.Access), claims(f.Tokens.ID)
	l.Kind, l.token, l.Renewable = Subscription, secret(f.Tokens.Access), f.Tokens.Refresh != ""
	if exp, ok := access["exp"].(float64); ok {
		l.Expires = time.Unix(int64(exp), 0)
	}
	for _, from := range []map[string]any{id, access} {
		l.Email = first(l.Email, text(from, "email"), text(from, "https://api.openai.com/profile", "email"))
		l.Plan = first(l.Plan, text(from, "https://api.openai.com/auth", "chatgpt_plan_type"))
	}
	l.more = map[string]any{"id_token": f.Tokens.ID, "account_id": f.Tokens.Account}
	return l, nil
}

// shapeCodex has Codex use a provider of its own that wants the login, which is what makes it send the token to another
// address than its maker's, and without a search for the route of the account.
func shapeCodex(p agent.Program, l Login, o options) shaped {
	model := first(o.model, l.Model)
	var config strings.Builder
	if p.Kind == agent.KindACP {
		config.WriteString("approval_policy = \"untrusted\"\nsandbox_mode = \"danger-full-access\"\n")
	}
	if model != "" {
		config.WriteString("model = " + quoted(model) + "\n")
	}
	if l.Effort != "" {
		config.WriteString("model_reasoning_effort = " + quoted(l.Effort) + "\n")
	}
	config.WriteString(codexBase)
	switch {
	case l.Kind == Key:
		config.WriteString(codexProvider + "env_key = \"OPENAI_API_KEY\"\n")
	case o.tunnel:
		config.WriteString(strings.Replace(codexProvider, "{url}/v1", o.upstream, 1) + "requires_openai_auth = true\n")
	default:
		config.WriteString(codexProvider + "requires_openai_auth = true\n")
	}
	env := map[string]string{"CODEX_HOME": "{home}/.codex"}
	if l.Kind == Key {
		env["OPENAI_API_KEY"] = "{key}"
	}
	p.Env, p.Files = env, map[string]string{".codex/config.toml": config.String()}
	p.Args, p.Resume = p.Unnamed().Args, p.Unnamed().Resume
	out := shaped{program: p, model: model,
		memory: map[string]string{".codex/AGENTS.md": filepath.Join(filepath.Dir(l.Where), "AGENTS.md")}}
	if l.Kind == Key {
		out.unreadable = true
		return out
	}
	copied, _ := json.Marshal(map[string]any{ // texts and maps of them always encode
		"auth_mode": "chatgpt", "OPENAI_API_KEY": nil, "last_refresh": o.now.UTC().Format(time.RFC3339),
		"tokens": map[string]any{"id_token": l.more["id_token"], "account_id": l.more["account_id"],
			"access_token": string(l.token), "refresh_token": ""},
	})
	out.name, out.copy = ".codex/auth.json", copied
	return out
}

// codexBase is what holds with every login: no login shell, which would reset PATH, none of what its provider runs out
// of every policy's reach, and nothing that asks other places.
const codexBase = `allow_login_shell = false
check_for_update_on_startup = false
web_search = "disabled"
cli_auth_credentials_store = "file"
model_provider = "pawl"

[tools]
web_search = false

[features]
plugins = false
apps = false

[analytics]
enabled = false

[otel]
metrics_exporter = "none"

`

const codexProvider = `[model_providers.pawl]
name = "pawl"
base_url = "{url}/v1"
wire_api = "responses"
`

// quoted writes a text of TOML.
func quoted(s string) string { return strconv.Quote(s) }

// tomlWords reads the texts at the top of a file of TOML, and those of the profile that it chooses in their place. What
// is not a text of one line is passed over.
func tomlWords(file string) map[string]string {
	tables, at := map[string]map[string]string{"": {}}, ""
	for line := range strings.Lines(file) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			at, _, _ = strings.Cut(strings.TrimPrefix(line, "["), "]")
			at = strings.ReplaceAll(strings.TrimSpace(at), `"`, "")
			if tables[at] == nil {
				tables[at] = map[string]string{}
			}
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		if word, ok := tomlWord(strings.TrimSpace(value)); ok {
			tables[at][strings.Trim(strings.TrimSpace(name), `"`)] = word
		}
	}
	out := tables[""]
	for name, word := range tables["profiles."+out["profile"]] {
		out[name] = word
	}
	return out
}

// tomlWord reads a text in quotes, with what may stand behind it.
func tomlWord(s string) (string, bool) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return "", false
	}
	end := strings.IndexByte(s[1:], s[0])
	if end < 0 || strings.Contains(s[1:1+end], `\`) {
		return "", false
	}
	return s[1 : 1+end], true
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
