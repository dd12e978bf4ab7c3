//go:build unix

package acp_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pawl"
	"pawl/agent"
	"pawl/agent/acp"
	"pawl/agent/agenttest"
	"pawl/agent/externaltest"
	"pawl/agent/wire"
	"pawl/internal/modeltest"
	"pawl/kernel/effect"
	"pawl/store/logs"
	"pawl/text/message"
)

// fakeProgram is the agent that the tests drive, built once.
var fakeProgram string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "fakeagent")
	if err != nil {
		panic(err)
	}
	fakeProgram = filepath.Join(dir, "fakeagent")
	out, err := exec.Command("go", "build", "-o", fakeProgram, "./testdata/fakeagent").CombinedOutput()
	if err != nil {
		fmt.Printf("%s\n", out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Println(err)
			code = 1
		}
	}
	os.Exit(code)
}

const wrong = "package add\n\nfunc Add(a, b int) int { return a - b }\n"

// play runs a scenario.
type play struct {
	scenario string
	external func(*agent.External)
	spec     func(*effect.WorkSpec)
	host     func(*externaltest.Host) effect.Host
	ctx      context.Context
	progress effect.Progress
}

func (p play) run(t *testing.T) (effect.Receipt, *externaltest.Host) {
	t.Helper()
	e := externaltest.Work(t, map[string]string{"add.go": wrong}, p.spec)
	h := &externaltest.Host{Tree: e.Place.Tree}
	var host effect.Host = h
	if p.host != nil {
		host = p.host(h)
	}
	c := external(p.scenario)
	if p.external != nil {
		p.external(&c)
	}
	if p.ctx == nil {
		p.ctx = t.Context()
	}
	r := acp.New(c).Do(p.ctx, e, host, p.progress)
	if !r.OK {
		if text, _ := message.English.Error(r.Err()); text == "" {
			t.Errorf("no message for %s", r.Key)
		}
	}
	return r, h
}

func external(scenario string) agent.External {
	return agent.External{
		Program: agent.Program{Name: "fake", Title: "Fake", Kind: agent.KindACP, Dialect: agent.DialectACP,
			Wire: wire.Chat, Files: map[string]string{".fake/config": "{model}"}},
		Text: message.English.Text, Path: fakeProgram, Model: "mock-model", Start: externaltest.Start, Environ: []string{"PATH=/usr/bin:/bin",
			"FAKE=" + scenario}, Grace: 300 * time.Millisecond,
	}
}

// asked is an agent that answers questions with what a model says.
func asked(t *testing.T, scenario string, model *modeltest.Server) agent.External {
	t.Helper()
	x := external(scenario)
	x.Program.Env = map[string]string{"FAKE_URL": "{url}"}
	x.Gateway, x.Port = &externaltest.Gateway{URL: model.URL}, externaltest.Port(t)
	return x
}

func judging(h *externaltest.Host) effect.Host { return externaltest.Judging{Host: h} }

func TestSuite(t *testing.T) {
	agenttest.Run(t, func(t *testing.T, w agenttest.Workspace) agenttest.Agent { return acp.New(asked(t, "lie", w.Model)) },
		agenttest.Traits{Intakes: true, Judges: true, Plans: true, Explain: func(err error) string {
			text, _ := message.English.Error(err)
			return text
		}})
}

// TestWorksThroughPawl: what the agent reads, writes and runs are calls of pawl's.
func TestWorksThroughPawl(t *testing.T) {
	r, h := play{scenario: "work"}.run(t)
	if !r.OK {
		t.Fatalf("%+v", r)
	}
	var tools []string
	for _, a := range h.Made() {
		tools = append(tools, a.Name)
	}
	if got := strings.Join(tools, " "); got != "read_file write_file run_terminal_cmd" {
		t.Errorf("calls: %s", got)
	}
	if got := string(h.Made()[2].Args); got != `{"command":"export A='b c'; cat add.go"}` {
		t.Errorf("command: %s", got)
	}
	w := externaltest.Result(t, r)
	if w.Control != effect.StepDone || w.Session != "new-1" || !strings.Contains(w.Text, "exit 0: package add") ||
		!strings.Contains(w.Text, "a + b") {
		t.Errorf("%+v", w)
	}
	if w.Agent != "fake" || w.Model != "mock-model" || len(w.Prompt) != 64 {
		t.Errorf("not signed: %+v", w.Said)
	}
	if got := h.Sessions(); len(got) != 1 || got[0] != "new-1" {
		t.Errorf("bound: %v", got)
	}
}

// TestNewFile: an agent is told that a file is not there in the protocol's own words, and writes it. One that makes
// nothing of these words is not offered to ask.
func TestNewFile(t *testing.T) {
	for alone, calls := range map[bool]string{false: "read_file write_file", true: "write_file"} {
		r, h := play{scenario: "new", external: func(c *agent.External) { c.Program.ReadsAlone = alone }}.run(t)
		raw, err := os.ReadFile(filepath.Join(h.Tree, "sub", "new.go"))
		if !r.OK || err != nil || string(raw) != "package sub\n" {
			t.Fatalf("%q, %v: %s", raw, err, externaltest.Result(t, r).Text)
		}
		var tools []string
		for _, a := range h.Made() {
			tools = append(tools, a.Name)
		}
		if got := strings.Join(tools, " "); got != calls {
			t.Errorf("calls: %s", got)
		}
	}
}

// TestDeniedCallIsNotMade: a refusal reaches the agent, and nothing is written.
func TestDeniedCallIsNotMade(t *testing.T) {
	refuse := func(a effect.Ask) error {
		if a.Name == "write_file" {
			return pawl.Fail(pawl.CodeDenied, "agent.not_judged", "fake")
		}
		return nil
	}
	r, h := play{scenario: "work", host: func(h *externaltest.Host) effect.Host { h.Refuse = refuse; return h }}.run(t)
	w := externaltest.Result(t, r)
	if !r.OK || !strings.Contains(w.Text, "refused by pawl") {
		t.Errorf("%+v", w)
	}
	if raw, _ := os.ReadFile(filepath.Join(h.Tree, "add.go")); string(raw) != wrong {
		t.Error("the file was written")
	}
}

// TestFinalRefusalEndsTheWork: a budget, and a call that a person has to approve, end the work with their own code.
func TestFinalRefusalEndsTheWork(t *testing.T) {
	for _, code := range []pawl.Code{pawl.CodeBudget, pawl.CodeApprovalNeeded, pawl.CodeLoop, pawl.CodeFenced} {
		r, _ := play{scenario: "work", host: func(h *externaltest.Host) effect.Host {
			h.Refuse = func(effect.Ask) error { return pawl.Fail(code, "agent.not_judged", "fake") }
			return h
		}}.run(t)
		if r.OK || r.Code != code {
			t.Errorf("%s: %+v", code, r)
		}
		if externaltest.Result(t, r).Session != "new-1" {
			t.Errorf("%s: the session is lost", code)
		}
	}
}

func TestPermissions(t *testing.T) {
	t.Run("judged", func(t *testing.T) {
		r, h := play{scenario: "permission", host: func(h *externaltest.Host) effect.Host {
			h.Refuse = func(a effect.Ask) error {
				if strings.Contains(string(a.Args), "rm -rf") {
					return pawl.Fail(pawl.CodeDenied, "agent.not_judged", "fake")
				}
				return nil
			}
			return judging(h)
		}}.run(t)
		if text := strings.Join(strings.Fields(externaltest.Result(t, r).Text),
			" "); text != "1=weird-yes 2=weird-no 3=weird-no 4=weird-no" {
			t.Errorf("%s", text)
		}
		j := h.Judged()
		if len(j) != 2 || j[0].Name != "write_file" || string(j[1].Args) != `{"command":"rm -rf build"}` {
			t.Errorf("judged: %s", j)
		}
		if len(h.Made()) != 0 {
			t.Error("a permission made a call")
		}
	})
	t.Run("nobody judges", func(t *testing.T) {
		r, _ := play{scenario: "permission"}.run(t)
		if text := strings.Join(strings.Fields(externaltest.Result(t, r).Text),
			" "); text != "1=weird-yes 2=weird-no 3=weird-no 4=weird-no" {
			t.Errorf("%s", text)
		}
	})
	t.Run("a person has to be asked", func(t *testing.T) {
		r, _ := play{scenario: "permission", host: func(h *externaltest.Host) effect.Host {
			h.Refuse = func(effect.Ask) error { return pawl.Fail(pawl.CodeApprovalNeeded, "agent.not_judged", "fake") }
			return judging(h)
		}}.run(t)
		if r.Code != pawl.CodeApprovalNeeded {
			t.Errorf("%+v", r)
		}
	})
}

// TestEndings: however an agent ends, the effect ends in a documented way.
func TestEndings(t *testing.T) {
	for _, c := range []struct {
		scenario string
		code     pawl.Code
		key      string
		control  effect.Control
	}{
		{scenario: "lie", control: effect.StepDone},
		{scenario: "noise", control: effect.StepDone},
		{scenario: "giveup", control: effect.GiveUp},
		{scenario: "question", control: effect.Question},
		{scenario: "refusal", control: effect.GiveUp},
		{scenario: "tokens", code: pawl.CodeModel, key: "agent.stopped_short"},
		{scenario: "crash", code: pawl.CodeModel, key: "agent.died"},
		{scenario: "version", code: pawl.CodeEnvironment, key: "agent.protocol_version"},
		{scenario: "auth", code: pawl.CodeLogin, key: "agent.login_needed"},
		{scenario: "model", code: pawl.CodeLogin, key: "agent.login_needed"},
		{scenario: "garbage", code: pawl.CodeModel, key: "agent.too_much_output"},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			r, _ := play{scenario: c.scenario}.run(t)
			w := externaltest.Result(t, r)
			if r.Code != c.code || r.Key != c.key || w.Control != c.control {
				t.Errorf("%s %s %q, control %q: %s", r.Code, r.Key, r.Args, w.Control, r.Detail)
			}
			if c.scenario == "crash" && (!strings.Contains(r.Detail, "the agent broke") || r.Args[1] != "3") {
				t.Errorf("not told why: %v %s", r.Args, r.Detail)
			}
			if c.scenario == "question" && w.Reason != "keep the flag?" {
				t.Errorf("question: %q", w.Reason)
			}
			if c.scenario == "giveup" && w.Reason != "the file is missing" {
				t.Errorf("reason: %q", w.Reason)
			}
		})
	}
}

// TestHangs: an agent that does not answer, does not read or ignores signals is ended.
func TestHangs(t *testing.T) {
	for _, scenario := range []string{"hang", "mute", "deaf", "stubborn"} {
		t.Run(scenario, func(t *testing.T) {
			r, _ := play{scenario: scenario,
				external: func(c *agent.External) { c.Idle = 400 * time.Millisecond }}.run(t)
			if r.Code != pawl.CodeTimeout || r.Key != "agent.silent" {
				t.Errorf("silent: %s %s", r.Code, r.Key)
			}
			r, _ = play{scenario: scenario,
				external: func(c *agent.External) { c.Timeout = 300 * time.Millisecond }}.run(t)
			if r.Code != pawl.CodeTimeout || r.Key != "agent.out_of_time" {
				t.Errorf("out of time: %s %s", r.Code, r.Key)
			}
		})
	}
}

// TestCancel: the agent is asked to stop before it is killed, and its session is kept.
func TestCancel(t *testing.T) {
	for _, scenario := range []string{"cancel", "stubborn"} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		begin := time.Now()
		r, _ := play{scenario: scenario, ctx: ctx, progress: func(string) { cancel() },
			external: func(c *agent.External) {
				if scenario == "cancel" {
					c.Grace = time.Minute
				}
			}}.run(t)
		if r.Code != pawl.CodeCanceled || externaltest.Result(t, r).Session != "new-1" {
			t.Errorf("%s: %+v", scenario, r)
		}
		if time.Since(begin) > 30*time.Second {
			t.Errorf("%s: the agent was not asked to stop", scenario)
		}
	}
}

func TestGrandchildIsGone(t *testing.T) {
	r, _ := play{scenario: "grandchild"}.run(t)
	pid, err := strconv.Atoi(externaltest.Result(t, r).Text)
	if err != nil || !r.OK {
		t.Fatalf("%v %+v", err, r)
	}
	if !externaltest.Gone(pid) {
		t.Error("the grandchild lives")
	}
}

// TestFlood: 100 MB of output are bounded, and fewer are seen to the end whatever their number.
func TestFlood(t *testing.T) {
	r, _ := play{scenario: "flood", external: func(c *agent.External) { c.Output = 16 << 20 }}.run(t)
	if r.Code != pawl.CodeModel || r.Key != "agent.too_much_output" {
		t.Errorf("%s %s", r.Code, r.Key)
	}
	r, _ = play{scenario: "chatter"}.run(t)
	if w := externaltest.Result(t, r); !r.OK || len(w.Text) > 70<<10 || !strings.HasSuffix(w.Text, "line 19999") {
		t.Errorf("%s %s, %d bytes of text", r.Code, r.Key, len(w.Text))
	}
	r, h := play{scenario: "many"}.run(t)
	if w := externaltest.Result(t, r); w.Text != "500" || len(h.Made()) != 500 {
		t.Errorf("%q of 500 answered", w.Text)
	}
}

func TestResume(t *testing.T) {
	var lines atomic.Int64
	again := func(s *effect.WorkSpec) { s.Session = "old-1" }
	r, h := play{scenario: "load", spec: again, progress: func(l string) {
		if strings.Contains(l, "old line") {
			lines.Add(1)
		}
	}}.run(t)
	if w := externaltest.Result(t, r); !r.OK || w.Session != "old-1" || w.Text != "Done. All tests pass." ||
		len(h.Sessions()) != 0 {
		t.Errorf("%+v, bound %v", w, h.Sessions())
	}
	if lines.Load() != 0 {
		t.Error("what was said before is shown again")
	}
	for _, scenario := range []string{"lost", "noload"} {
		r, h = play{scenario: scenario, spec: again}.run(t)
		if w := externaltest.Result(t, r); !r.OK || w.Session != "new-1" || len(h.Sessions()) != 1 {
			t.Errorf("%s: %+v", scenario, w)
		}
		raw, _ := os.ReadFile(filepath.Join(h.Tree, ".pawl/agents/task-1/home/prompt.txt"))
		if !strings.Contains(string(raw), "You may have worked on this task before") {
			t.Errorf("%s: the agent was not told that it may have begun", scenario)
		}
	}
}

// TestIsolation: the agent has a home of its own and nothing of pawl's environment, and does not leave the tree.
func TestIsolation(t *testing.T) {
	t.Setenv("SECRET_TOKEN", "geheim")
	r, h := play{scenario: "environment"}.run(t)
	text := externaltest.Result(t, r).Text
	if home := "HOME=" + filepath.Join(h.Tree, ".pawl/agents/task-1/home"); !strings.Contains(text, home) ||
		strings.Contains(text, "geheim") {
		t.Errorf("%s", text)
	}
	if raw, _ := os.ReadFile(filepath.Join(h.Tree,
		".pawl/agents/task-1/home/.fake/config")); string(raw) != "mock-model" {
		t.Errorf("configuration: %q", raw)
	}
	r, h = play{scenario: "outside"}.run(t)
	if w := externaltest.Result(t, r); w.Text != "true true" || len(h.Made()) != 0 {
		t.Errorf("%q, %v", w.Text, h.Made())
	}
}

// TestOnlyAsked: an agent that is only asked gets nothing done through pawl, and nothing permitted that changes a file.
// A command is held by the walls.
func TestOnlyAsked(t *testing.T) {
	model := modeltest.Go(t, modeltest.Liar())
	for scenario, said := range map[string]string{"work": "true false",
		"permission": "1=weird-no 2=weird-yes 3=weird-no 4=weird-no"} {
		e := externaltest.Work(t, map[string]string{"add.go": wrong}, nil)
		e.Task, e.Kind, e.Spec = "", effect.KindPlan, effect.Encode(effect.PlanSpec{Requirement: "mend Add"})
		h := &externaltest.Host{Tree: e.Place.Tree}
		kept := logs.Of(t.TempDir())
		ctx, end := kept.Record(t.Context(), "E", nil)
		var shown, heard []string
		r := acp.New(asked(t, scenario, model)).Do(ctx, e, judging(h), func(line string) { shown = append(shown, line) })
		end()
		for _, part := range kept.Parts("E") {
			raw, _ := os.ReadFile(part.File)
			heard = append(heard, strings.Fields(string(raw))...)
		}
		if strings.Contains(strings.Join(shown, " "), said) {
			t.Errorf("%s: what it answers is shown: %q", scenario, shown)
		}
		if r.OK || r.Code != pawl.CodeModel {
			t.Errorf("%s: %+v", scenario, r)
		}
		if len(h.Made())+len(h.Judged())+len(h.Sessions()) > 0 {
			t.Errorf("%s: made %v, judged %v, bound %v", scenario, h.Made(), h.Judged(), h.Sessions())
		}
		if raw, _ := os.ReadFile(filepath.Join(e.Place.Tree, "add.go")); string(raw) != wrong {
			t.Errorf("%s: %s", scenario, raw)
		}
		if !strings.Contains(strings.Join(heard, " "), said) {
			t.Errorf("%s: heard %q", scenario, heard)
		}
	}
}

// TestTranscript: calls that an agent reports show their command, output, exit code and seconds, as far as the stream has
// them. Calls of the same command that overlap are told apart, and a long output does not end the work.
func TestTranscript(t *testing.T) {
	var lines []string
	r, _ := play{scenario: "commands", progress: func(l string) { lines = append(lines, l) }}.run(t)
	if !r.OK {
		t.Fatalf("%+v", r)
	}
	got := regexp.MustCompile(`\d+\.\ds`).ReplaceAllString(strings.Join(lines, "\n"), "Ns")
	if want := `▸ bash
▸ bash
▸ $ sleep 4; echo one
▸ $ sleep 4; echo one
│ second
✗ agent reports exit code 1 · Ns
◂ $ sleep 4; echo one
│ first
└ agent reports exit code 0 · Ns
▸ echo two; false
└ agent reports no exit code · Ns
▸ add.go
▸ rm -rf /
✗ agent reports a failure without an exit code · Ns
▸ long
│ … +149793
│ a line
│ a line
│ a line
│ a line
│ a line
└ agent reports no exit code · Ns
▸ sleep 600
◂ sleep 600
✗ agent ended before it reported a result · Ns`; got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
}
