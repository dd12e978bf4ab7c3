package login

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pawl"
	"pawl/agent"
	"pawl/agent/wire"
)

func claudeMaker() maker {
	return maker{
		name: "Anthropic", programs: []string{"claude-code", "claude-code-acp"}, signIn: "claude /login",
		look: lookClaude,
		kind: wire.Anthropic, upstream: wire.Anthropic.URL(), keys: wire.Anthropic.URL(), shape: shapeClaude,
		sites:   []string{"api.anthropic.com:443"},
		renewal: &renewal{program: "claude", args: []string{"auth", "status"}, without: claudeKeys},
	}
}

// claudeKeys are the variables that Claude Code takes before its file, and those that lead it elsewhere.
var claudeKeys = []string{
	"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN",
	"CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX",
}

// lookClaude reads the login of Claude Code: a token of its variable, or a plan.
func lookClaude(m maker, s Source) (Login, error) {
	home := s.folder("CLAUDE_CONFIG_DIR", ".claude")
	var settings struct {
		Model string `json:"model"`
	}
	// settings that cannot be read choose nothing
	_ = json.Unmarshal([]byte(readText(filepath.Join(home, "settings.json"))), &settings)
	l := Login{Model: agent.Line(settings.Model), more: map[string]any{"folder": home}}
	if token := strings.TrimSpace(s.Env("CLAUDE_CODE_OAUTH_TOKEN")); token != "" {
		l.Kind, l.Where, l.token = Token, "$CLAUDE_CODE_OAUTH_TOKEN", secret(token)
		return l, m.usable(l.Where, token)
	}
	path := filepath.Join(s.folder("CLAUDE_SECURESTORAGE_CONFIG_DIR", ".claude"), ".credentials.json")
	if !filepath.IsAbs(s.Env("CLAUDE_SECURESTORAGE_CONFIG_DIR")) {
		path = filepath.Join(home, ".credentials.json")
	}
	raw, err := m.read(path)
	if err != nil {
		return Login{}, err
	}
	var f struct {
		OAuth *struct {
			Access    string   `json:"accessToken"`
			Refresh   string   `json:"refreshToken"`
			Expires   int64    `json:"expiresAt"`
			Scopes    []string `json:"scopes"`
			Plan      string   `json:"subscriptionType"`
			RateLimit string   `json:"rateLimitTier"`
		} `json:"claudeAiOauth"`
	}
	if err := m.decode(path, raw, &f); err != nil {
		return Login{}, err
	}
	o := f.OAuth
	switch {
	case o == nil:
		return Login{}, m.fail(pawl.CodeNotFound, "login.none", m.programs[0])
	case o.Access == "":
		return Login{}, m.fail(pawl.CodeLogin, "login.blank", path)
	case len(o.Scopes) > 0 && !slices.Contains(o.Scopes, "user:inference"):
		return Login{}, m.fail(pawl.CodeLogin, "login.scope", path)
	}
	if err := m.usable(path, o.Access); err != nil {
		return Login{}, err
	}
	l.Kind, l.Where, l.token, l.Renewable, l.Plan = Subscription, path, secret(o.Access), o.Refresh != "",
		agent.Line(o.Plan)
	if o.Expires > 0 {
		l.Expires = time.UnixMilli(o.Expires)
	}
	l.Email = claudeOwner(s, home)
	l.more["claudeAiOauth"] = map[string]any{"expiresAt": o.Expires, "scopes": o.Scopes, "subscriptionType": o.Plan,
		"rateLimitTier": o.RateLimit}
	return l, nil
}

// claudeOwner is the address that Claude Code keeps beside its settings, "" where it keeps none.
func claudeOwner(s Source, home string) string {
	for _, path := range []string{filepath.Join(home, ".claude.json"), filepath.Join(s.Home, ".claude.json")} {
		var f map[string]any
		if json.Unmarshal([]byte(readText(path)), &f) == nil {
			if email := text(f, "oauthAccount", "emailAddress"); email != "" {
				return email
			}
		}
	}
	return ""
}

// secretFD is where Claude Code finds its token.
const secretFD = 9

// shapeClaude gives Claude Code its token through a pipe, which no command that it starts can read after it. Behind the
// Agent Client Protocol another program stands in between, which hands no pipe on, so that it gets a file.
func shapeClaude(p agent.Program, l Login, o options) shaped {
	model := first(o.model, l.Model)
	if model == "" && l.Plan == "max" && p.Kind != agent.KindACP {
		model = claudeOfMax // without a file it takes the smaller plan's default
	}
	env := map[string]string{
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1",
		"DISABLE_AUTOUPDATER": "1",
	}
	switch {
	case o.tunnel && o.elsewhere:
		env["ANTHROPIC_BASE_URL"] = o.upstream
	case !o.tunnel:
		env["ANTHROPIC_BASE_URL"], env["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] = "{url}", "{out}"
	}
	p = p.Unnamed()
	if model != "" {
		env["ANTHROPIC_MODEL"] = model
	}
	folder, _ := l.more["folder"].(string)
	out := shaped{model: model, memory: map[string]string{".claude/CLAUDE.md": filepath.Join(folder, "CLAUDE.md")}}
	if p.Kind == agent.KindACP {
		kept := map[string]any{"accessToken": string(l.token)}
		if more, ok := l.more["claudeAiOauth"].(map[string]any); ok {
			for name, v := range more {
				kept[name] = v
			}
		}
		out.name = ".claude/.credentials.json"
		out.copy, _ = json.Marshal(map[string]any{"claudeAiOauth": kept}) // what was read from JSON encodes
	} else {
		out.pipe, out.unreadable = true, true
		env["CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR"] = "9"
	}
	p.Env = env
	out.program = p
	return out
}

// claudeOfMax is the model that the largest plan begins with.
const claudeOfMax = "opus"
