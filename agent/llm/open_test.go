package llm

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pawl"
	"pawl/agent/agenttest"
	"pawl/agent/wire"
	"pawl/internal/modeltest"
	"pawl/kernel/effect"
)

func write(t *testing.T, mode os.FileMode, text string, path ...string) string {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestKeys(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	good := write(t, 0o600, "  "+secret+"\n", home, "key")
	elsewhere := write(t, 0o600, "", home, "elsewhere", ".git")
	link := filepath.Join(project, "link")
	if err := os.Symlink(good, link); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(home, "out")
	if err := os.Symlink(write(t, 0o600, secret, project, "inside"), out); err != nil {
		t.Fatal(err)
	}
	write(t, 0o600, "", home, ".git")
	getenv := func(name string) string {
		return map[string]string{"GOOD": secret + "\n", "SPACE": "a b", "LINES": "a\nb", "HAN": "密钥"}[name]
	}
	ring := func(_ context.Context, entry string) (string, error) {
		if entry != "model/ada" {
			return "", pawl.Fail(pawl.CodeLogin, "sandbox.keyring_secret", entry, "store it")
		}
		return secret, nil
	}
	for name, c := range map[string]struct {
		keys Keys
		key  string
		code pawl.Code
		says string
	}{
		"keyring":       {Keys{Entry: "model/ada", Env: "EMPTY", Ring: ring}, secret, "", ""},
		"no such entry": {Keys{Entry: "model/bob", Env: "GOOD", Ring: ring}, "", pawl.CodeLogin, "model/bob"},
		"a key of the keyring": {Keys{Entry: "x", Ring: func(context.Context, string) (string, error) {
			return "a b",
				nil
		}}, "", pawl.CodeLogin, "x"},
		"file before keyring":   {Keys{File: good, Entry: "model/bob", Ring: ring}, secret, "", ""},
		"none wanted":           {Keys{}, "", "", ""},
		"variable":              {Keys{Env: "GOOD"}, secret, "", ""},
		"empty variable":        {Keys{Env: "EMPTY"}, "", pawl.CodeLogin, "EMPTY"},
		"a key with a space":    {Keys{Env: "SPACE"}, "", pawl.CodeLogin, "SPACE"},
		"a key of two lines":    {Keys{Env: "LINES"}, "", pawl.CodeLogin, "LINES"},
		"a key that is none":    {Keys{Env: "HAN"}, "", pawl.CodeLogin, "HAN"},
		"file":                  {Keys{File: good, Env: "EMPTY"}, secret, "", ""},
		"file that is missing":  {Keys{File: good + "x"}, "", pawl.CodeLogin, "keyx"},
		"file without a place":  {Keys{File: "key"}, "", pawl.CodeInvalid, "key"},
		"file that is empty":    {Keys{File: write(t, 0o600, "\n", home, "empty")}, "", pawl.CodeLogin, "empty"},
		"file that is a folder": {Keys{File: home}, "", pawl.CodeLogin, "key_file"},
		"file that is large": {Keys{File: write(t, 0o600, strings.Repeat("x", maxKey+1), home, "large")}, "",
			pawl.CodeLogin, "large"},
		"file that others read": {Keys{File: write(t, 0o640, secret, home, "open")}, "", pawl.CodeDenied,
			"llm.key_file_open"},
		"file in the workspace": {Keys{File: filepath.Join(project, "inside")}, "", pawl.CodeDenied,
			"llm.key_in_project"},
		"link in the workspace": {Keys{File: link}, "", pawl.CodeDenied, "llm.key_in_project"},
		"link into it":          {Keys{File: out}, "", pawl.CodeDenied, "llm.key_in_project"},
		"file in a repository": {Keys{File: write(t, 0o600, secret, filepath.Dir(elsewhere), "sub", "key")}, "",
			pawl.CodeDenied, "llm.key_in_project"},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && c.code == pawl.CodeDenied {
				t.Skip("modes mean nothing here")
			}
			c.keys.Getenv, c.keys.Workspace, c.keys.Home = getenv, project, home
			key, err := c.keys.Read()
			if key != c.key && err == nil || pawl.CodeOf(err) != c.code {
				t.Errorf("%q %v", key, err)
			}
			if err != nil && (!strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), secret) ||
				explain(err) == "") {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestDefaultKeyStaysHome sends the usual variable's key to the kind's own provider only.
func TestDefaultKeyStaysHome(t *testing.T) {
	s := Settings{Kind: wire.OpenAI, Env: func(string) string { return secret }}
	for base, want := range map[string]string{"": secret, "https://api.openai.com/v1": secret,
		"https://api.openai.com.evil.test/v1": "", "http://localhost:11434/v1": ""} {
		s.BaseURL = base
		url, err := s.endpoint()
		if err != nil {
			t.Fatal(err)
		}
		if key, err := s.keys(url).Read(); key != want || err != nil {
			t.Errorf("%q: %q %v", base, key, err)
		}
	}
}

func TestEndpoint(t *testing.T) {
	for _, c := range []struct {
		kind     wire.Provider
		in, want string
	}{
		{wire.OpenAI, "", "https://api.openai.com/v1"}, {wire.OpenAI, "http://localhost:11434",
			"http://localhost:11434/v1"}, {wire.OpenAI, "http://x/api/", "http://x/api"},
		{wire.Anthropic, "https://api.anthropic.com/v1/", "https://api.anthropic.com"}, {wire.Google,
			"https://x/v1beta", "https://x"},
		{wire.OpenAI, "localhost:80", ""}, {wire.OpenAI, "ftp://x", ""}, {wire.OpenAI, "https://", ""}, {wire.OpenAI,
			"https://me:" + secret + "@x/v1", ""},
		{wire.OpenAI, "https://x/v1?key=" + secret, ""}, {wire.OpenAI, "https://me:" + secret + "@[x/v1", ""},
	} {
		got, err := Settings{Kind: c.kind, BaseURL: c.in}.endpoint()
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q: %q %v", c.in, got, err)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%v", err)
		}
	}
}

func TestOpenIsLazy(t *testing.T) {
	asked := 0
	s := Settings{Kind: "nonsense", BaseURL: "::", KeyFile: "/nowhere", CAFile: "/nowhere", Prices: "/nowhere",
		Env: func(string) string { asked++; return "" }}
	_ = Open(s)
	if asked != 0 {
		t.Error("the environment was read")
	}
	for want, change := range map[string]func(*Settings){
		"llm.no_model": func(*Settings) {},
		"llm.kind":     func(s *Settings) { s.Name = "m" },
		"llm.endpoint": func(s *Settings) { s.Name, s.Kind = "m", wire.OpenAI },
		"llm.ca_file":  func(s *Settings) { s.Name, s.Kind, s.BaseURL = "m", wire.OpenAI, "" },
		"llm.prices":   func(s *Settings) { s.Name, s.Kind, s.BaseURL, s.CAFile = "m", wire.OpenAI, "", "" },
		"llm.key_file": func(s *Settings) {
			s.Name, s.Kind, s.BaseURL, s.CAFile, s.Prices = "m", wire.OpenAI, "", "",
				""
		},
		"llm.no_key": func(s *Settings) { *s = Settings{Name: "claude-sonnet-4", Env: s.Env} },
	} {
		s := s
		change(&s)
		a := Open(s)
		err := a.Ready()
		if err == nil || !strings.Contains(err.Error(), want) || explain(err) == "" {
			t.Errorf("%s: %v", want, err)
		}
		if _, r := worked(t, a, &agenttest.Host{}, step()); r.Key != want {
			t.Errorf("%s: %+v", want, r)
		}
	}
	if err := Open(at(wire.Chat, "http://localhost:1")).Ready(); err != nil {
		t.Error(err)
	}
}

func TestPrices(t *testing.T) {
	got, err := ParsePrices("p", []byte("my-model: {in: 1.25, cached: 0.125, out: 10}\nfree: {in: 0, out: 0}\ntiny: {in: 0.0001, out: 1}\n"))
	if err != nil || got["my-model"] != (Price{1250, 125, 1250, 10000}) || got["free"] != (Price{}) ||
		got["tiny"].In != 1 {
		t.Fatalf("%v %v", got, err)
	}
	for _, bad := range []string{"m: {in: 1}", "m: {in: -1, out: 1}", "m: {in: .nan, out: 1}",
		"m: {in: 1, out: 1, mood: 1}", "m: {in: 1, out: 1}\nm: {in: 2, out: 2}",
		"m: {in: 1, out: 1}\n---\nn: {in: 1, out: 1}", "m: {in: 1, in: 2, out: 1}", "- a", "m: {in: x, out: 1}", "m: [",
		"m: {in: 1, out: 1e300}"} {
		if p, err := ParsePrices("p", []byte(bad)); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("%q: %v %v", bad, p, err)
		}
	}
	for model, want := range map[string]int64{"gpt-5": 1250, "gpt-5-mini-2025": 250, "openai/gpt-5-nano": 50,
		"openrouter/anthropic/claude-sonnet-4.5": 3000, "llama3": -1, "": -1} {
		if p, ok := KnownPrice(model); ok != (want >= 0) || ok && p.In != want {
			t.Errorf("%s: %v %v", model, p, ok)
		}
	}
	u := Price{In: 3000, Cached: 300, Written: 3750, Out: 15000}.of(effect.Usage{InTokens: 1000, CachedTokens: 400,
		OutTokens: 10}, 200, true)
	if u.MicroUSD != 600*3+400*3/10+10*15+200*750/1000 || u.Unpriced {
		t.Errorf("%+v", u)
	}
	if u := (Price{In: 1}).of(effect.Usage{InTokens: 1}, 0, true); u.MicroUSD != 1 {
		t.Errorf("a price is rounded down: %+v", u)
	}
}

// TestOwnPrices lets a file of the user's decide what a model costs, the reservation included.
func TestOwnPrices(t *testing.T) {
	srv := modeltest.Go(t, modeltest.Liar())
	s := at(wire.Chat, srv.URL)
	s.Prices = write(t, 0o644, "mock-: {in: 2, out: 4}\n", t.TempDir(), "prices.yaml")
	host := &most{}
	result, r := worked(t, Open(s), host, step())
	if !r.OK || result.Usage.MicroUSD != 100*2+10*4 || result.Usage.Unpriced || host.Spent() != result.Usage {
		t.Errorf("%+v %+v", r, result.Usage)
	}
	if m := host.most; m.OutTokens != 8192 || m.MicroUSD < result.Usage.MicroUSD || m.Requests != 1 {
		t.Errorf("set aside %+v", m)
	}
}

// most remembers what was set aside.
type most struct {
	agenttest.Host
	most effect.Usage
}

func (h *most) Reserve(ctx context.Context, u effect.Usage) (func(effect.Usage), error) {
	h.most = u
	return h.Host.Reserve(ctx, u)
}
