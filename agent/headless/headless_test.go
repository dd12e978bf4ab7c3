//go:build unix

package headless_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pawl"
	"pawl/agent"
	"pawl/agent/agenttest"
	"pawl/agent/externaltest"
	"pawl/agent/gateway"
	"pawl/agent/headless"
	"pawl/agent/wire"
	"pawl/internal/modeltest"
	"pawl/kernel/effect"
	"pawl/text/message"
	"pawl/text/plan"
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

func external(t *testing.T, dialect agent.Dialect, recording, mode string) agent.External {
	t.Helper()
	path, err := filepath.Abs(recording)
	if err != nil {
		t.Fatal(err)
	}
	return agent.External{
		Program: agent.Program{Name: "fake", Title: "Fake", Kind: agent.KindHeadless, Dialect: dialect, Wire: wire.Chat,
			Args: []string{path, "{prompt}"}, Resume: []string{path, "resume", "{session}", "{prompt}"}},
		Text: message.English.Text, Path: fakeProgram, Model: "mock-model", Start: externaltest.Start, Environ: []string{"PATH=/usr/bin:/bin",
			"FAKE=" + mode}, Grace: 300 * time.Millisecond,
	}
}

// asked is an agent that answers questions with what a model says.
func asked(t *testing.T, mode string, model *modeltest.Server) agent.External {
	t.Helper()
	x := external(t, agent.DialectCodex, "testdata/events/codex.jsonl", mode)
	x.Program.Env = map[string]string{"FAKE_URL": "{url}"}
	x.Gateway, x.Port = &externaltest.Gateway{URL: model.URL}, externaltest.Port(t)
	return x
}

func run(t *testing.T, ctx context.Context, c agent.External, progress effect.Progress,
	change func(*effect.WorkSpec)) (effect.Receipt, effect.WorkResult, *externaltest.Host) {
	t.Helper()
	e := externaltest.Work(t, map[string]string{"add.go": "package add\n"}, change)
	h := &externaltest.Host{Tree: e.Place.Tree}
	r := headless.New(c).Do(ctx, e, h, progress)
	if !r.OK {
		if text, _ := message.English.Error(r.Err()); text == "" {
			t.Errorf("no message for %s", r.Key)
		}
	}
	return r, externaltest.Result(t, r), h
}

func TestSuite(t *testing.T) {
	agenttest.Run(t, func(t *testing.T, w agenttest.Workspace) agenttest.Agent {
		return headless.New(asked(t, "", w.Model))
	}, agenttest.Traits{
		Intakes: true, Judges: true, Plans: true,
		Explain: func(err error) string {
			text, _ := message.English.Error(err)
			return text
		},
		Edits: &agenttest.Editing{
			Begin:   `{"type":"thread.started","thread_id":"th-1"}` + "\n" + `{"type":"turn.started"}` + "\n",
			Session: "th-1",
			End: `{"type":"item.completed","item":{"type":"agent_message","text":"All done."}}` + "\n" +
				`{"type":"turn.completed"}` + "\n",
			Gone: externaltest.Gone,
			New: func(t *testing.T, _ agenttest.Workspace, program string) agenttest.Agent {
				x := external(t, agent.DialectCodex, "testdata/events/codex.jsonl", "")
				x.Path, x.Output = program, 32<<20
				return headless.New(x)
			},
		},
	})
}

// TestDialects plays one recording of success and one of failure in each dialect. The exit status is always the wrong
// one.
func TestDialects(t *testing.T) {
	for _, c := range []struct {
		dialect   agent.Dialect
		recording string
		mode      string
		session   string
		code      pawl.Code
		key       string
	}{
		{dialect: agent.DialectCodex, recording: "codex", session: "th-1"},
		{dialect: agent.DialectCodex, recording: "codex-failed", session: "th-1", code: pawl.CodeLogin,
			key: "agent.login_needed"},
		{dialect: agent.DialectClaude, recording: "claude", session: "cl-1"},
		{dialect: agent.DialectClaude, recording: "claude-failed", session: "cl-1", code: pawl.CodeEnvironment,
			key: "agent.rate_limited"},
		{dialect: agent.DialectClaude, recording: "claude-short", session: "cl-1", code: pawl.CodeModel,
			key: "agent.stopped_short"},
		{dialect: agent.DialectClaude, recording: "qwen-failed", session: "qw-1", code: pawl.CodeLogin,
			key: "agent.login_needed"},
		{dialect: agent.DialectOpencode, recording: "opencode", session: "ses_1"},
		{dialect: agent.DialectOpencode, recording: "opencode-failed", session: "ses_1", code: pawl.CodeLogin,
			key: "agent.login_needed"},
		{dialect: agent.DialectOpencode, recording: "opencode-short", session: "ses_1", code: pawl.CodeModel,
			key: "agent.stopped_short"},
		{dialect: agent.DialectGemini, recording: "gemini", session: "ge-1"},
		{dialect: agent.DialectGemini, recording: "gemini-failed", session: "ge-1", code: pawl.CodeLogin,
			key: "agent.login_needed"},
		{dialect: agent.DialectPi, recording: "pi", session: "pi-1"},
		{dialect: agent.DialectPi, recording: "pi-failed", session: "pi-1", code: pawl.CodeLogin,
			key: "agent.login_needed"},
		{dialect: agent.DialectContinue, recording: "continue"},
		{dialect: agent.DialectContinue, recording: "continue-failed", mode: "stderr-object", code: pawl.CodeLogin,
			key: "agent.login_needed"},
		{dialect: agent.DialectCline, recording: "cline"},
		{dialect: agent.DialectCline, recording: "cline-failed", code: pawl.CodeLogin, key: "agent.login_needed"},
	} {
		t.Run(c.recording, func(t *testing.T) {
			mode := c.mode
			if mode == "" && c.code == "" {
				mode = "fails"
			}
			r, w, h := run(t, t.Context(), external(t, c.dialect, "testdata/events/"+c.recording+".jsonl", mode), nil,
				nil)
			if r.Code != c.code || r.Key != c.key {
				t.Fatalf("%s %s %s", r.Code, r.Key, r.Detail)
			}
			if c.code == "" && (w.Control != effect.StepDone || w.Text != "All done.") || c.code != "" &&
				w.Control != "" {
				t.Errorf("control %q, text %q", w.Control, w.Text)
			}
			if w.Session != c.session || c.session != "" && (len(h.Sessions()) != 1 || h.Sessions()[0] != c.session) {
				t.Errorf("session %q, bound %v", w.Session, h.Sessions())
			}
		})
	}
}

// TestEveryCut: a stream that ends anywhere before its terminal event is never a success.
func TestEveryCut(t *testing.T) {
	for dialect, recording := range map[agent.Dialect]string{
		agent.DialectCodex: "codex", agent.DialectClaude: "claude", agent.DialectOpencode: "opencode",
		agent.DialectGemini:   "gemini",
		agent.DialectContinue: "continue", agent.DialectCline: "cline",
	} {
		raw, err := os.ReadFile("testdata/events/" + recording + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		last := strings.LastIndex(strings.TrimSpace(string(raw)), "\n") + 1
		for n := range len(raw) - 1 {
			if ended := headless.EndedAt(dialect, raw[:n]); ended != (n > last && n == len(raw)-1) {
				t.Fatalf("%s: ended %v after %d of %d bytes", recording, ended, n, len(raw))
			}
		}
		if !headless.EndedAt(dialect, raw) {
			t.Errorf("%s: the whole stream is no end", recording)
		}
	}
}

// TestRetryIsNoEnd: pi says that it ended before it tries again; only the last end counts.
func TestRetryIsNoEnd(t *testing.T) {
	raw, err := os.ReadFile("testdata/events/pi.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	last := strings.LastIndex(string(raw), `{"type":"agent_end"`)
	for n := range last {
		if headless.EndedAt(agent.DialectPi, raw[:n]) {
			t.Fatalf("ended after %d bytes: %s", n, raw[max(0, n-80):n])
		}
	}
	if !headless.EndedAt(agent.DialectPi, raw) {
		t.Error("the whole stream is no end")
	}
}

func TestFaults(t *testing.T) {
	recording := "testdata/events/codex.jsonl"
	for _, c := range []struct {
		mode   string
		change func(*agent.External)
		code   pawl.Code
		key    string
	}{
		{mode: "crash", code: pawl.CodeModel, key: "agent.died"},
		{mode: "login", code: pawl.CodeLogin, key: "agent.login_needed"},
		{mode: "ignore", change: func(c *agent.External) { c.Idle = 300 * time.Millisecond }, code: pawl.CodeTimeout,
			key: "agent.silent"},
		{mode: "ignore", change: func(c *agent.External) { c.Timeout = 300 * time.Millisecond }, code: pawl.CodeTimeout,
			key: "agent.out_of_time"},
		{mode: "flood", change: func(c *agent.External) { c.Output = 16 << 20 }, code: pawl.CodeModel,
			key: "agent.too_much_output"},
		{mode: "flood", change: func(c *agent.External) { c.Output = 200 << 20 }},
		{mode: "long"},
		{mode: "stderr"},
		{mode: "linger"},
		{mode: "", change: func(c *agent.External) { c.Path = "/no/such/program" }, code: pawl.CodeEnvironment,
			key: "agent.not_installed"},
		{mode: "", change: func(c *agent.External) { c.Path = "" }, code: pawl.CodeEnvironment,
			key: "agent.not_installed"},
		{mode: "", change: func(c *agent.External) { c.Model = `m","x":"` }, code: pawl.CodeEnvironment,
			key: "agent.model_name"},
		{mode: "", change: func(c *agent.External) { c.Program.Dialect = agent.DialectPi }, code: pawl.CodeModel,
			key: "agent.cut_off"},
	} {
		x := external(t, agent.DialectCodex, recording, c.mode)
		if c.change != nil {
			c.change(&x)
		}
		r, w, _ := run(t, t.Context(), x, nil, nil)
		if r.Code != c.code || r.Key != c.key || (r.OK && w.Control != effect.StepDone) {
			t.Errorf("%s: %s %s %s", c.mode, r.Code, r.Key, r.Detail)
		}
		if c.mode == "crash" && (!strings.Contains(r.Detail, "the agent broke") || w.Session != "th-1") {
			t.Errorf("crash: %q, session %q", r.Detail, w.Session)
		}
	}
}

func TestGrandchildIsGone(t *testing.T) {
	r, w, _ := run(t, t.Context(), external(t, agent.DialectCodex, "testdata/events/codex.jsonl", "grandchild"), nil,
		nil)
	pid, err := strconv.Atoi(w.Text)
	if err != nil || !r.OK {
		t.Fatalf("%v %+v", err, r)
	}
	if !externaltest.Gone(pid) {
		t.Error("the grandchild lives")
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	x := external(t, agent.DialectCodex, "testdata/events/codex.jsonl", "linger")
	x.Grace = time.Hour
	r, w, _ := run(t, ctx, x, func(line string) {
		if strings.Contains(line, "All done") {
			cancel()
		}
	}, nil)
	if r.Code != pawl.CodeCanceled || w.Session != "th-1" {
		t.Errorf("%s %s, session %q", r.Code, r.Key, w.Session)
	}
}

// TestResume: the agent goes on with its session, and begins anew when it has lost it.
func TestResume(t *testing.T) {
	again := func(s *effect.WorkSpec) { s.Session = "th-0" }
	for mode, fails := range map[string]bool{"": false, "lost": false} {
		r, w, h := run(t, t.Context(), external(t, agent.DialectCodex, "testdata/events/codex.jsonl", mode), nil, again)
		if r.OK == fails || w.Session != "th-1" || len(h.Sessions()) != 1 {
			t.Errorf("%q: %+v %+v", mode, r, w)
		}
	}
}

// TestGatewayRefusal: what the gateway refuses for good ends an agent that would ask for it again and again, and
// decides.
func TestGatewayRefusal(t *testing.T) {
	g := &externaltest.Gateway{URL: "http://127.0.0.1:1"}
	g.Fail(pawl.Fail(pawl.CodeBudget, "agent.model_failed", "fake"))
	for _, mode := range []string{"ignore", ""} {
		x := external(t, agent.DialectCodex, "testdata/events/codex.jsonl", mode)
		x.Gateway, x.Port = g, externaltest.Port(t)
		if r, _, _ := run(t, t.Context(), x, nil, nil); r.Code != pawl.CodeBudget {
			t.Errorf("%q: %s %s", mode, r.Code, r.Key)
		}
	}
}

// TestProgressIsSafe: nothing that an agent says reaches the terminal as a control sequence.
func TestProgressIsSafe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	text := `{"type":"item.completed","item":{"type":"agent_message","text":"a\u001b[2Jb\u202ec\r\nd ` +
		strings.Repeat("é", 5000) + `"}}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var lines []string
	run(t, t.Context(), external(t, agent.DialectCodex, path, ""),
		func(l string) { mu.Lock(); lines = append(lines, l); mu.Unlock() }, nil)
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "a[2Jbc d é") || len([]rune(lines[0])) > 200 {
		t.Errorf("%q", lines)
	}
}

// TestAskedAndWrote: whoever is only asked and changes the tree, where no walls keep it from that, is not listened to.
// The walls are told what it may change: its home, and nothing of the tree.
func TestAskedAndWrote(t *testing.T) {
	model := modeltest.Go(t, modeltest.Liar())
	for mode, key := range map[string]string{"": "", "writes": "agent.asked_and_wrote"} {
		e := externaltest.Work(t, map[string]string{"add.go": "package add\n"}, nil)
		e.Task, e.Kind, e.Spec = "", effect.KindPlan, effect.Encode(effect.PlanSpec{Requirement: "mend Add"})
		x := asked(t, mode, model)
		x.Snapshot = func(_ context.Context, at effect.Place) (string, error) {
			raw, err := os.ReadFile(filepath.Join(at.Tree, "add.go"))
			return string(raw), err
		}
		var started agent.Spec
		x.Start = func(ctx context.Context, s agent.Spec) (agent.Process, error) {
			started = s
			return externaltest.Start(ctx, s)
		}
		r := headless.New(x).Do(t.Context(), e, &externaltest.Host{Tree: e.Place.Tree}, nil)
		if r.OK != (key == "") || r.Key != key {
			t.Errorf("%q: %+v", mode, r)
		}
		for _, w := range started.Writable {
			if w == e.Place.Tree || !strings.HasPrefix(w, filepath.Join(e.Place.Workspace, ".pawl", "agents")+"/") {
				t.Errorf("it may write to %s", w)
			}
		}
		if !slices.Contains(started.Readable, e.Place.Tree) ||
			!slices.Contains(started.Hidden, filepath.Join(e.Place.Workspace, ".pawl")) {
			t.Errorf("%+v", started)
		}
	}
}

// TestBadPlanners: whatever a planner answers, it is told once what is wrong, and the end is clear.
func TestBadPlanners(t *testing.T) {
	t.Parallel()
	const en, zh = "Mend Add", "修复 Add，使其返回两数之和"
	made := func(steps int, text string) string {
		list := make([]string, steps)
		for i := range list {
			list[i] = fmt.Sprintf(`{"step_id":"s%d","title":%q,"intent":%q}`, i+1, text, strings.Repeat(text+". ", 20))
		}
		return fmt.Sprintf(`{"goal":%q,"risk_level":"low","verification":{"mode":"test"},"steps":[%s]}`, text,
			strings.Join(list, ","))
	}
	for _, c := range []struct {
		name, requirement string
		first, second     string
		key, because      string
		goal              string
		asked             int
	}{
		{name: "good", requirement: en, first: made(3, en), goal: en, asked: 1},
		{name: "corrected", requirement: en, first: `{"goal":"half"}`, second: made(3, en), goal: en, asked: 2},
		{name: "malformed twice", requirement: en, first: `{"goal":"half"}`, key: "agent.malformed_twice",
			because: "steps", asked: 2},
		{name: "400 steps", requirement: en, first: made(400, en), key: "agent.malformed_twice",
			because: "more than 12 steps", asked: 2},
		{name: "400 steps, then few", requirement: en, first: made(400, en), second: made(3, en), goal: en, asked: 2},
		{name: "Chinese", requirement: zh, first: made(3, zh), goal: zh, asked: 1},
		{name: "English for Chinese", requirement: zh, first: made(3, en), second: made(3, zh), goal: zh, asked: 2},
		{name: "Chinese for English", requirement: en, first: made(3, zh), second: made(3, en), goal: en, asked: 2},
		{name: "it stays foreign", requirement: zh, first: made(3, en), goal: en, asked: 2},
		{name: "it stays foreign, and breaks", requirement: zh, first: made(3, en), second: `{}`, goal: en, asked: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			script := modeltest.Liar()
			script.JSON = map[string]json.RawMessage{"plan": json.RawMessage(c.first)}
			if c.second != "" {
				script.JSON["plan#2"] = json.RawMessage(c.second)
			}
			model := modeltest.Go(t, script)
			e := externaltest.Work(t, map[string]string{"add.go": "package add\n"}, nil)
			e.Task, e.Kind, e.Spec = "", effect.KindPlan, effect.Encode(effect.PlanSpec{Requirement: c.requirement})
			r := headless.New(asked(t, "", model)).Do(t.Context(), e, &externaltest.Host{Tree: e.Place.Tree}, nil)
			if r.Key != c.key {
				t.Fatalf("%+v", r)
			}
			if c.key != "" {
				if text, hint := message.English.Error(r.Err()); !strings.Contains(text, c.because) || hint == "" {
					t.Errorf("%s (%s)", text, hint)
				}
			}
			if n := len(model.Requests()); n != c.asked {
				t.Errorf("asked %d times", n)
			}
			if c.goal == "" {
				return
			}
			if got, err := effect.Decode[effect.PlanResult](r.Result); err != nil || got.Plan.Goal != c.goal ||
				len(got.Plan.Steps) != 3 {
				t.Errorf("%v %+v", err, got.Plan)
			}
		})
	}
}

// TestPlannerWithoutEnd: a planner that goes on for ever is ended, by its time or for its silence, and says so.
func TestPlannerWithoutEnd(t *testing.T) {
	t.Parallel()
	model := modeltest.Go(t, modeltest.Liar())
	for key, change := range map[string]func(*agent.External){
		"agent.out_of_time": func(x *agent.External) { x.Timeout = time.Second },
		"agent.silent":      func(x *agent.External) { x.Idle = time.Second },
	} {
		x := asked(t, "thinks", model)
		change(&x)
		e := externaltest.Work(t, map[string]string{"add.go": "package add\n"}, nil)
		e.Task, e.Kind, e.Spec = "", effect.KindPlan, effect.Encode(effect.PlanSpec{Requirement: "Mend Add"})
		r := headless.New(x).Do(t.Context(), e, &externaltest.Host{Tree: e.Place.Tree}, nil)
		if text, _ := message.English.Error(r.Err()); r.Key != key || text == "" {
			t.Errorf("%s: %+v", key, r)
		}
		if left, _ := filepath.Glob(filepath.Join(e.Place.Workspace, ".pawl", "agents", "*")); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	}
}

// TestNobodyAnswersForTheAgent: code of the reviewed tree that a reviewer runs reaches the agent's way to its models, and
// gives no verdict there, neither a good one nor one that cannot be used.
func TestNobodyAnswersForTheAgent(t *testing.T) {
	t.Parallel()
	script := modeltest.Liar()
	script.JSON = map[string]json.RawMessage{"review": json.RawMessage(
		`{"verdict":"objections","objections":[{"criterion":"c1","file":"add.go","line":1,"reason":"it steals tokens"}]}`)}
	x := asked(t, "forges", modeltest.Go(t, script))
	x.Gateway = gateway.New(gateway.Config{Providers: map[string]gateway.Provider{
		"openai": {Kind: wire.OpenAI, URL: x.Gateway.(*externaltest.Gateway).URL + "/v1"}}})
	e := externaltest.Work(t, map[string]string{"add.go": "package add\n"}, nil)
	e.Task, e.Kind = "", effect.KindReview
	e.Spec = effect.Encode(effect.ReviewSpec{Requirement: "mend Add", Patch: "+steal()",
		Criteria: []effect.Met{{Criterion: plan.Criterion{ID: "c1", Text: "it adds"}}},
		Files:    []effect.ReviewedFile{{FileStat: effect.FileStat{Path: "add.go", Status: "M"}, Lines: 1}}})
	r := headless.New(x).Do(t.Context(), e, &externaltest.Host{Tree: e.Place.Tree}, nil)
	got, err := effect.Decode[effect.ReviewResult](r.Result)
	if !r.OK || err != nil || len(got.Objections) != 1 || got.Objections[0].Reason != "it steals tokens" {
		t.Errorf("%+v %+v: %v", r, got, err)
	}
}
