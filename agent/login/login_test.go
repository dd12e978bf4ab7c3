package login_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/agent"
	"pawl/agent/login"
	"pawl/internal/modeltest"
	"pawl/internal/vendortest"
	"pawl/text/message"
)

// owner is a person with a home, and with the logins that a test gives them.
type owner struct {
	t    *testing.T
	home string
	env  map[string]string
}

func person(t *testing.T) *owner {
	return &owner{t: t, home: t.TempDir(), env: map[string]string{}}
}

func (o *owner) source() login.Source {
	return login.Source{Home: o.home, Env: func(name string) string { return o.env[name] }, Workspace: "/nowhere"}
}

func (o *owner) write(name, content string) string {
	o.t.Helper()
	path := filepath.Join(o.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		o.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		o.t.Fatal(err)
	}
	return path
}

// explained fails where an error has no text and next step in both languages, or shows a secret.
func explained(t *testing.T, err error, secrets ...string) {
	t.Helper()
	for _, l := range []message.Lang{message.English, message.Chinese} {
		text, hint := l.Error(err)
		if text == "" || hint == "" || strings.Contains(text+hint, "%!") {
			t.Errorf("%v: %q, next %q", err, text, hint)
		}
		for _, s := range secrets {
			if strings.Contains(text+hint+err.Error(), s) {
				t.Errorf("a secret is told: %v", err)
			}
		}
	}
}

const (
	codexAuth    = ".codex/auth.json"
	opencodeAuth = ".local/share/opencode/auth.json"
)

// TestLook finds logins where they are, and says exactly why one cannot be used.
func TestLook(t *testing.T) {
	ends := time.Now().Add(time.Hour).Truncate(time.Second)
	token := vendortest.Token(1, ends)
	codex := func(access, refresh string) string {
		return fmt.Sprintf(`{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"id_token":%q,"access_token":%q,"refresh_token":%q,"account_id":"a"},"last_refresh":"2026-01-01T00:00:00Z"}`, token, access, refresh)
	}
	claude := func(access string, scopes string) string {
		return fmt.Sprintf(`{"claudeAiOauth":{"accessToken":%q,"refreshToken":"rt","expiresAt":%d,"scopes":[%s],"subscriptionType":"max"}}`, access, ends.UnixMilli(), scopes)
	}
	opencode := func(access string, ends time.Time) string {
		return fmt.Sprintf(`{"openai":{"type":"oauth","access":%q,"refresh":"rt","expires":%d,"accountId":"a"}}`,
			access, ends.UnixMilli())
	}
	for _, c := range []struct {
		name, agent string
		files       map[string]string
		env         map[string]string
		want        login.Login
		who         string
		code        pawl.Code
		key         string
	}{
		{name: "codex", agent: "codex", files: map[string]string{codexAuth: codex(token, "rt"),
			".codex/config.toml": "# mine\nmodel = \"gpt-x\" # best\nmodel_reasoning_effort = 'high'\n[profiles.p]\nmodel = \"other\"\n"},
			want: login.Login{Kind: login.Subscription, Email: vendortest.Email, Plan: "plus", Expires: ends,
				Renewable: true, Model: "gpt-x", Effort: "high"}, who: vendortest.Email},
		{name: "codex by a profile", agent: "codex-acp", files: map[string]string{codexAuth: codex(token, ""),
			".codex/config.toml": "profile = \"p\"\nmodel = \"gpt-x\"\n[profiles.p]\nmodel = \"other\"\n"},
			want: login.Login{Kind: login.Subscription, Email: vendortest.Email, Plan: "plus", Expires: ends,
				Model: "other"}, who: vendortest.Email},
		{name: "codex elsewhere", agent: "codex", files: map[string]string{"else/auth.json": codex("opaque", "rt")},
			env:  map[string]string{"CODEX_HOME": "{home}/else"},
			want: login.Login{Kind: login.Subscription, Email: vendortest.Email, Plan: "plus", Renewable: true},
			who:  vendortest.Email},
		{name: "codex by a key", agent: "codex",
			files: map[string]string{codexAuth: `{"auth_mode":"apikey","OPENAI_API_KEY":"sk-1"}`},
			want:  login.Login{Kind: login.Key}, who: "auth.json"},
		{name: "codex without one", agent: "codex", code: pawl.CodeNotFound, key: "login.none"},
		{name: "codex logged out", agent: "codex", files: map[string]string{codexAuth: `{"OPENAI_API_KEY":null}`},
			code: pawl.CodeNotFound, key: "login.none"},
		{name: "codex in a keyring", agent: "codex",
			files: map[string]string{".codex/config.toml": `cli_auth_credentials_store = "keyring"`},
			code:  pawl.CodeLogin, key: "login.keyring"},
		{name: "codex cut off", agent: "codex", files: map[string]string{codexAuth: codex(token, "rt")[:90]},
			code: pawl.CodeLogin, key: "login.malformed"},
		{name: "codex empty", agent: "codex", files: map[string]string{codexAuth: ""}, code: pawl.CodeLogin,
			key: "login.malformed"},
		{name: "codex with a line in it", agent: "codex",
			files: map[string]string{codexAuth: codex("tok\r\nX-Evil: 1", "rt")}, code: pawl.CodeLogin,
			key: "login.malformed"},
		{name: "codex taken back", agent: "codex", files: map[string]string{codexAuth: codex("", "")},
			code: pawl.CodeLogin, key: "login.blank"},
		{name: "codex is a folder", agent: "codex", files: map[string]string{codexAuth + "/x": ""},
			code: pawl.CodeLogin, key: "login.unreadable"},
		{name: "codex huge", agent: "codex", files: map[string]string{codexAuth: strings.Repeat(" ", 1<<20)},
			code: pawl.CodeLogin, key: "login.unreadable"},
		{name: "claude", agent: "claude-code", files: map[string]string{".claude/.credentials.json": claude("at",
			`"user:inference"`), ".claude/settings.json": `{"model":"opus","env":{"ANTHROPIC_BASE_URL":"http://evil"}}`,
			".claude.json": `{"oauthAccount":{"emailAddress":"ada@example.org"}}`},
			want: login.Login{Kind: login.Subscription, Email: "ada@example.org", Plan: "max", Expires: ends,
				Renewable: true, Model: "opus"}, who: "ada@example.org"},
		{name: "claude without an address", agent: "claude-code",
			files: map[string]string{".claude/.credentials.json": claude("at", "")},
			want:  login.Login{Kind: login.Subscription, Plan: "max", Expires: ends, Renewable: true},
			who:   "max (.credentials.json)"},
		{name: "claude by a variable", agent: "claude-code",
			env: map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat"}, want: login.Login{Kind: login.Token},
			who: "$CLAUDE_CODE_OAUTH_TOKEN"},
		{name: "claude elsewhere", agent: "claude-code",
			files: map[string]string{"c/.credentials.json": claude("at", "")},
			env:   map[string]string{"CLAUDE_CONFIG_DIR": "{home}/c"},
			want:  login.Login{Kind: login.Subscription, Plan: "max", Expires: ends, Renewable: true},
			who:   "max (.credentials.json)"},
		{name: "claude blanked", agent: "claude-code",
			files: map[string]string{".claude/.credentials.json": claude("", "")}, code: pawl.CodeLogin,
			key: "login.blank"},
		{name: "claude for something else", agent: "claude-code",
			files: map[string]string{".claude/.credentials.json": claude("at", `"user:profile"`)}, code: pawl.CodeLogin,
			key: "login.scope"},
		{name: "opencode", agent: "opencode", files: map[string]string{opencodeAuth: opencode(token, ends),
			".config/opencode/opencode.json": `{"model":"openai/gpt-x"}`},
			want: login.Login{Kind: login.Subscription, Email: vendortest.Email, Plan: "plus", Expires: ends,
				Model: "gpt-x"}, who: vendortest.Email},
		{name: "opencode with a model of another maker", agent: "opencode-acp",
			files: map[string]string{"d/opencode/auth.json": opencode("opaque", ends),
				".config/opencode/opencode.json": `{"model":"anthropic/claude-x"}`},
			env:  map[string]string{"XDG_DATA_HOME": "{home}/d"},
			want: login.Login{Kind: login.Subscription, Expires: ends}, who: "auth.json"},
		{name: "opencode by a key", agent: "opencode",
			files: map[string]string{opencodeAuth: `{"openai":{"type":"api","key":"sk-1"}}`},
			want:  login.Login{Kind: login.Key}, who: "auth.json"},
		{name: "opencode of somebody else", agent: "opencode",
			files: map[string]string{opencodeAuth: `{"anthropic":{"type":"oauth","access":"at"}}`},
			code:  pawl.CodeNotFound, key: "login.none"},
		{name: "opencode blanked", agent: "opencode", files: map[string]string{opencodeAuth: opencode("", ends)},
			code: pawl.CodeLogin, key: "login.blank"},
		{name: "no such login", agent: "pi", code: pawl.CodeInvalid, key: "login.unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := person(t)
			for name, content := range c.files {
				o.write(name, content)
			}
			for name, v := range c.env {
				o.env[name] = strings.ReplaceAll(v, "{home}", o.home)
			}
			l, err := login.Look(c.agent, o.source())
			if c.code != "" {
				e, _ := err.(*pawl.Error)
				if e == nil || e.Code != c.code || e.Key != c.key {
					t.Fatalf("%v", err)
				}
				explained(t, err, token)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if l.Kind != c.want.Kind || l.Email != c.want.Email || l.Plan != c.want.Plan ||
				!l.Expires.Equal(c.want.Expires) || l.Renewable != c.want.Renewable || l.Model != c.want.Model ||
				l.Effort != c.want.Effort || l.Who() != c.who {
				t.Errorf("%+v, %s", l, l.Who())
			}
			raw, _ := json.Marshal(l)
			if said := fmt.Sprintf("%v %+v %#v %s", l, l, l, raw); strings.Contains(said, token) ||
				strings.Contains(said, "sk-") {
				t.Errorf("a secret is shown: %s", said)
			}
		})
	}
}

func TestALoginInTheProject(t *testing.T) {
	o := person(t)
	o.write("work/.codex/auth.json", `{"auth_mode":"apikey","OPENAI_API_KEY":"sk-1"}`)
	o.env["CODEX_HOME"] = filepath.Join(o.home, "work/.codex")
	s := o.source()
	s.Workspace = filepath.Join(o.home, "work")
	if _, err := login.Look("codex", s); pawl.CodeOf(err) != pawl.CodeDenied {
		t.Errorf("%v", err)
	}
}

// keeping is a keeper of a login at a maker on loopback, renewed by a function that stands for the maker's program.
type keeping struct {
	*login.Keeper
	*owner
	vendor *vendortest.Vendor
	file   string
	runs   int
	config login.Config
}

func keep(t *testing.T, name string, life time.Duration, change func(*login.Config)) *keeping {
	t.Helper()
	k := &keeping{owner: person(t), vendor: vendortest.Go(t, modeltest.Liar(), life)}
	k.put()
	k.config = login.Config{Source: k.source(), Agent: name, Path: "/usr/bin/" + name, Account: login.AnyAccount,
		Provider: "own", State: t.TempDir(), Now: time.Now, Need: time.Minute}
	k.config.Run = func(_ context.Context, c login.Command, started func(int)) error {
		k.runs++
		started(os.Getpid())
		if c.Dir != k.home || c.Hold == nil || c.Output == nil {
			t.Errorf("%+v", c)
		}
		return k.vendor.Renew(filepath.Join(k.home, codexAuth))
	}
	if change != nil {
		change(&k.config)
	}
	var err error
	if k.Keeper, err = login.NewKeeper(k.config); err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *keeping) put() { k.file = k.write(codexAuth, string(k.vendor.CodexFile())) }

func (k *keeping) kept() []byte {
	raw, err := os.ReadFile(k.file)
	if err != nil {
		k.t.Fatal(err)
	}
	return raw
}

func (k *keeping) lend(t *testing.T) (agent.Loan, string, error) {
	t.Helper()
	p, _ := agent.Known(k.config.Agent)
	home := t.TempDir()
	loan, err := k.Lend(t.Context(), agent.Borrower{Program: p, Home: home, Tree: t.TempDir()})
	return loan, filepath.Join(home, codexAuth), err
}

// TestACopyWithoutWhatRenewsIt: the copy has the token and not what renews it, goes with the loan, and the login stays
// as it was.
func TestACopyWithoutWhatRenewsIt(t *testing.T) {
	k := keep(t, "codex", time.Hour, nil)
	k.write(".codex/AGENTS.md", "be kind\n")
	before := k.kept()
	loan, copied, err := k.lend(t)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(copied)
	if err != nil || !strings.Contains(string(raw), k.vendor.Access()) || strings.Contains(string(raw), "rt-") {
		t.Errorf("%v %s", err, raw)
	}
	if info, err := os.Stat(copied); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", err, info)
	}
	if loan.Account != vendortest.Email || !loan.Readable || loan.Provider != "own" ||
		loan.Files[".codex/AGENTS.md"] != "be kind\n" || loan.SecretFD != 0 {
		t.Errorf("%+v", loan)
	}
	if said := loan.Hide("it is " + k.vendor.Access()); said != "it is [token]" {
		t.Errorf("%q", said)
	}
	if !k.Accepts(k.vendor.Access()) || k.Accepts("") || k.Accepts(k.vendor.Access()+"x") {
		t.Error("another token is accepted")
	}
	loan.Return()
	if _, err := os.Stat(copied); !os.IsNotExist(err) {
		t.Errorf("the copy is still there: %v", err)
	}
	if string(k.kept()) != string(before) || k.runs != 0 {
		t.Error("the login was touched")
	}
}

// TestCopiesThatWereLeft are found and removed by those who take their word back, and nothing else is.
func TestCopiesThatWereLeft(t *testing.T) {
	k := keep(t, "codex", time.Hour, nil)
	_, copied, err := k.lend(t)
	if err != nil {
		t.Fatal(err)
	}
	for want := 1; want >= 0; want-- {
		if n, err := login.Forget(k.config.State, "codex"); n != want || err != nil {
			t.Errorf("%d %v", n, err)
		}
	}
	if _, err := os.Stat(copied); !os.IsNotExist(err) {
		t.Errorf("the copy is still there: %v", err)
	}
	if !k.vendor.Holds(k.kept()) {
		t.Error("the login was touched")
	}
}

// TestItIsRenewedAhead where it ends before the work may, and only then.
func TestItIsRenewedAhead(t *testing.T) {
	for life, want := range map[time.Duration]int{time.Hour: 0, 5 * time.Minute: 1} {
		k := keep(t, "codex", life, nil)
		_, copied, err := k.lend(t)
		raw, _ := os.ReadFile(copied)
		if err != nil || k.runs != want || !strings.Contains(string(raw), k.vendor.Access()) ||
			!k.vendor.Holds(k.kept()) {
			t.Errorf("%v: %v, %d renewals, %s", life, err, k.runs, raw)
		}
	}
}

// TestARefusal is followed by one renewal, whose token is in the copies at once, or by the one thing to do.
func TestARefusal(t *testing.T) {
	k := keep(t, "codex", time.Hour, nil)
	loan, copied, err := k.lend(t)
	if err != nil {
		t.Fatal(err)
	}
	old := k.vendor.Access()
	k.vendor.Drop()
	for range 3 { // several calls of one agent are refused at once
		if err := k.Refused(t.Context(), old); err != nil {
			t.Fatal(err)
		}
	}
	raw, _ := os.ReadFile(copied)
	if k.runs != 1 || !strings.Contains(string(raw), k.vendor.Access()) || !k.Accepts(k.vendor.Access()) ||
		strings.Contains(string(raw), "rt-") {
		t.Errorf("%d renewals, %s", k.runs, raw)
	}
	if next, ok := loan.Fresh(t.Context()); !ok || next.Return == nil {
		t.Error("the work cannot go on with it")
	}
	if err := k.Refused(t.Context(), k.vendor.Access()); pawl.CodeOf(err) != pawl.CodeLogin || k.runs != 1 {
		t.Errorf("a login that is refused just after its renewal: %v, %d", err, k.runs)
	}
}

// TestRevoked is told with the command that mends it, once for all calls, and leaves the file as the maker's program
// left it.
func TestRevoked(t *testing.T) {
	k := keep(t, "codex", time.Hour, nil)
	loan, _, err := k.lend(t)
	if err != nil {
		t.Fatal(err)
	}
	before, old := k.kept(), k.vendor.Access()
	k.vendor.Revoke()
	for range 2 {
		err = k.Refused(t.Context(), old)
		if pawl.CodeOf(err) != pawl.CodeLogin {
			t.Fatalf("%v", err)
		}
	}
	explained(t, err, old)
	if _, hint := message.English.Error(err); !strings.Contains(hint, "codex login") {
		t.Errorf("%q", hint)
	}
	if _, ok := loan.Fresh(t.Context()); ok || k.runs != 1 || string(before) != string(k.kept()) {
		t.Errorf("%d renewals", k.runs)
	}
}

// TestWhatIsRefusedBefore anything is lent.
func TestWhatIsRefusedBefore(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*login.Config)
		life   time.Duration
		code   pawl.Code
		key    string
	}{
		"another account": {func(c *login.Config) { c.Account = "bob@example.org" }, time.Hour, pawl.CodeDenied,
			"login.other_account"},
		"a limit in money": {func(c *login.Config) { c.Money = true }, time.Hour, pawl.CodeBudget, "login.money"},
		"a limit in a tunnel": {func(c *login.Config) { c.Counted, c.Tunnel = true, true }, time.Hour, pawl.CodeBudget,
			"login.counted"},
		"nobody renews it": {func(c *login.Config) { c.Path = "" }, -time.Minute, pawl.CodeLogin,
			"login.no_program"},
		"a program in project": {func(c *login.Config) {
			c.Workspace, c.Path = "/work",
				"/work/node_modules/.bin/codex"
		}, -time.Minute, pawl.CodeDenied, "login.program_in_project"},
		"it cannot be renewed": {func(c *login.Config) {
			c.Run = func(context.Context, login.Command, func(int)) error { return nil }
		}, -time.Minute, pawl.CodeLogin, "login.not_renewed"},
	} {
		t.Run(name, func(t *testing.T) {
			k := keep(t, "codex", c.life, c.change)
			_, copied, err := k.lend(t)
			e, _ := err.(*pawl.Error)
			if e == nil || e.Code != c.code || e.Key != c.key {
				t.Fatalf("%v", err)
			}
			explained(t, err, k.vendor.Access())
			if _, err := os.Stat(copied); err == nil {
				t.Error("there is a copy")
			}
		})
	}
}

// TestClaudeByAPipe: Claude Code gets its token through a pipe and no file, with the model of its owner's plan, without
// what a project sets for it, and with the texts of the owner and of the project.
func TestClaudeByAPipe(t *testing.T) {
	o := person(t)
	v := vendortest.Go(t, modeltest.Liar(), time.Hour)
	o.write(".claude/.credentials.json", string(v.ClaudeFile()))
	o.write(".claude/CLAUDE.md", "mine\n")
	o.write("tree/CLAUDE.md", "ours\n")
	k, err := login.NewKeeper(login.Config{Source: o.source(), Agent: "claude-code", Account: login.AnyAccount,
		Provider: "own", State: t.TempDir(), Now: time.Now, Need: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	p, _ := agent.Known("claude-code")
	home := t.TempDir()
	loan, err := k.Lend(t.Context(), agent.Borrower{Program: p, Home: home, Tree: filepath.Join(o.home, "tree")})
	if err != nil {
		t.Fatal(err)
	}
	if string(loan.Secret) != v.Access() || loan.SecretFD != 9 || loan.Readable || loan.Model != "opus" {
		t.Errorf("fd %d, readable %v, model %s", loan.SecretFD, loan.Readable, loan.Model)
	}
	if left, _ := os.ReadDir(home); len(left) != 0 {
		t.Errorf("%v", left)
	}
	args := strings.Join(loan.Program.Args, " ")
	if !slices.Contains(loan.Program.Args, "{distrust}") || strings.Join(loan.Program.Distrust,
		" ") != "--setting-sources user --strict-mcp-config" || strings.Contains(args, "{model}") ||
		loan.Program.Env["ANTHROPIC_API_KEY"] != "" {
		t.Errorf("%s %v", args, loan.Program.Env)
	}
	if got := loan.Files[".claude/CLAUDE.md"]; got != "mine\n\nours\n" {
		t.Errorf("%q", got)
	}
	for name, v := range loan.Program.Env {
		if strings.Contains(v, string(loan.Secret)) {
			t.Errorf("%s holds the token", name)
		}
	}
	loan.Return()
}

// TestOpencodeByATunnel: opencode gets a copy that it cannot renew, its own provider, and no other way out than to its
// maker.
func TestOpencodeByATunnel(t *testing.T) {
	o := person(t)
	ends := time.Now().Add(time.Hour)
	o.write(opencodeAuth, fmt.Sprintf(`{"openai":{"type":"oauth","access":"at-1","refresh":"rt-1","expires":%d,"accountId":"acc"}}`, ends.UnixMilli()))
	o.write(".config/opencode/AGENTS.md", "mine\n")
	c := login.Config{Source: o.source(), Agent: "opencode", Account: login.AnyAccount, Provider: "own",
		State: t.TempDir(), Now: time.Now, Need: time.Minute}
	k, err := login.NewKeeper(c)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := agent.Known("opencode")
	home := t.TempDir()
	loan, err := k.Lend(t.Context(), agent.Borrower{Program: p, Home: home, Tree: home})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(loan.Sites, " ") != "chatgpt.com:443" || loan.Provider != "" || !loan.Readable ||
		loan.Files[".config/opencode/AGENTS.md"] != "mine\n" {
		t.Errorf("%q by %q, readable %v, %q", loan.Sites, loan.Provider, loan.Readable, loan.Files)
	}
	raw, _ := os.ReadFile(filepath.Join(home, opencodeAuth))
	if text := string(raw); !strings.Contains(text, `"access":"at-1"`) || !strings.Contains(text, `"refresh":""`) ||
		!strings.Contains(text, fmt.Sprint(ends.UnixMilli())) {
		t.Errorf("the copy is %s", text)
	}
	if got := loan.Program.Env["OPENCODE_CONFIG_CONTENT"]; strings.Contains(got, "{") &&
		(strings.Contains(got, "pawl") || strings.Contains(got, "{url}")) ||
		!strings.Contains(got, `"permission":{"bash":"allow"`) {
		t.Errorf("the settings are %s", got)
	}
	if own, _ := agent.Known("opencode"); !strings.Contains(own.Env["OPENCODE_CONFIG_CONTENT"], "pawl") {
		t.Error("the catalog's own entry was changed")
	}
	loan.Return()
	if _, err := os.Lstat(filepath.Join(home, opencodeAuth)); err == nil {
		t.Error("the copy is still there")
	}

	// Nothing of the plan can be counted in the tunnel, and a limit that cannot hold is refused.
	c.Counted = true
	if k, err = login.NewKeeper(c); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Ready(); pawl.CodeOf(err) != pawl.CodeBudget {
		t.Errorf("%v", err)
	}

	// A key is shown by pawl.
	o.write(opencodeAuth, `{"openai":{"type":"api","key":"sk-1"}}`)
	loan, err = k.Lend(t.Context(), agent.Borrower{Program: p, Home: t.TempDir(), Tree: home})
	if err != nil || loan.Provider != "own" || len(loan.Sites) != 0 || loan.Readable ||
		loan.Program.Env["OPENCODE_CONFIG_CONTENT"] != p.Env["OPENCODE_CONFIG_CONTENT"] {
		t.Errorf("%+v, %v", loan, err)
	}
	l, err := k.Look()
	if at := login.TermsOf(p, l).Sites; err != nil || len(at) != 1 || at[0] != k.KeyUpstream() {
		t.Errorf("a key is said to be shown to %q, and is shown to %s (%v)", at, k.KeyUpstream(), err)
	}
}
