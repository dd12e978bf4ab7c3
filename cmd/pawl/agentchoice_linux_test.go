package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/internal/modeltest"
)

// twoAgents is a user who is logged in to both fake agents, whose vendors cannot be reached.
func twoAgents(t *testing.T) *user {
	t.Helper()
	u := newUser(t)
	u.write("a.txt", "one\n")
	u.repository()
	u.path = fakes(t)
	u.vars = []string{"CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-not-a-token"}
	for name, text := range map[string]string{
		".codex/auth.json": `{"OPENAI_API_KEY": "sk-not-a-key"}`,
		".config/pawl/config.yaml": "agents:\n  codex: {base_url: http://127.0.0.1:1/v1}\n" +
			"  claude-code: {base_url: http://127.0.0.1:1}\n",
	} {
		path := filepath.Join(u.home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

// settings is the user's own file.
func (u *user) settings() string {
	u.t.Helper()
	raw, err := os.ReadFile(filepath.Join(u.home, ".config", "pawl", "config.yaml"))
	if err != nil {
		u.t.Fatal(err)
	}
	return string(raw)
}

// A user at a terminal chooses among several agents once, sees once what the use of the chosen one means, and is asked
// neither again. Without consent nothing is stored, and no request is made.
func TestAgentIsChosenOnce(t *testing.T) {
	t.Parallel()
	u := twoAgents(t)
	p := u.sit(100, 60, "run", "Sum(2, 3) must be 5")
	p.Sees("Which agent?")
	p.Types("codex\r")
	p.Sees("Use Codex CLI with this account? [y/n]")
	p.Types("n\r")
	p.Sees("pawl agent add codex")
	p.Ends()
	if code := p.Cmd.ProcessState.ExitCode(); code != 5 || strings.Contains(u.settings(), "login") {
		t.Errorf("status %d, settings %s", code, u.settings())
	}
	p = u.sit(100, 60, "run", "Sum(2, 3) must be 5")
	p.Sees("Which agent?")
	p.Types("claude-code\r")
	p.Sees("CLAUDE_CODE_OAUTH_TOKEN")
	p.Sees("Use Claude Code with this account? [y/n]")
	p.Types("y\r")
	p.Sees("agent: claude-code")
	p.Ends()
	if s := u.settings(); !strings.Contains(s, "agent: claude-code") || !strings.Contains(s, "login: ") {
		t.Errorf("the choice is not stored: %s", s)
	}
	if a := u.pawl("run", "Sum(2, 3) must be 5"); strings.Contains(a.err, "several agents") ||
		strings.Contains(a.err, "because no setting") {
		t.Errorf("it is asked again: %v", a)
	}
}

// The prompt chooses as `pawl run` does, and --unattended asks nobody, at a terminal either.
func TestAgentIsChosenAtThePrompt(t *testing.T) {
	t.Parallel()
	u := twoAgents(t)
	u.must(0, "init", "--yes")
	p := u.sit(100, 60)
	p.Sees("› ▮")
	p.Types("~auto Sum(2, 3) must be 5\r")
	p.Sees("Which agent?")
	p.Types("\x03")
	p.Until("the prompt", again(p, "› ▮", "", 0))
	p.Types("exit\r")
	p.Ends()
	p = u.sit(100, 60, "run", "--unattended", "--yes", "Sum(2, 3) must be 5")
	p.Sees("several agents are ready")
	p.Ends()
}

// With a key of pawl's the consent is to the key, and requests go to the address that is set for the agent.
func TestAgentWithAKey(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.write("go.mod", "module example.org/sum\n\ngo 1.26\n")
	u.write("sum.go", sumWrong)
	u.write("sum_test.go", sumTest)
	u.module().repository()
	u.path = fakes(t)
	srv := modeltest.Go(t, badSum())
	u.vars = []string{"OPENAI_API_KEY=model-key", "HTTPS_PROXY=http://127.0.0.1:1", "https_proxy=http://127.0.0.1:1"}
	u.must(0, "config", "set", "agents.codex.base_url", srv.URL+"/v1")
	if a := u.must(9, "run", sumTask, "--yes"); !strings.Contains(a.err, "pawl agent add codex") {
		t.Errorf("%v", a)
	}
	a := u.must(9, "agent", "add", "codex")
	if !strings.Contains(a.out, "$OPENAI_API_KEY") || !strings.Contains(a.out, srv.URL+"/v1") {
		t.Errorf("it does not say which key is shown to whom: %v", a)
	}
	u.must(0, "agent", "add", "codex", "--yes")
	if s := u.settings(); !strings.Contains(s, "key: $OPENAI_API_KEY") {
		t.Errorf("the consent is not stored: %s", s)
	}
	u.must(0, "run", sumTask, "--yes")
	if u.read("sum.go") != sumRight || len(srv.Requests()) == 0 {
		t.Errorf("the result did not land, %d requests", len(srv.Requests()))
	}
	// A task that is restarted is worked on by the agent that had it before.
	u.must(0, "undo")
	srv.Play(badSum())
	u.must(9, "task", "restart", "T-001")
	if a := u.must(0, "show", "--json"); !strings.Contains(a.out, `"agent":"codex"`) {
		t.Errorf("%v", a)
	}
	u.must(0, "cancel")
	u.must(0, "agent", "remove", "codex")
	u.must(9, "run", sumTask, "--yes")
}
