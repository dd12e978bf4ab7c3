package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pawl"
	"pawl/internal/memory"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/audit"
	"pawl/kernel/budget"
	"pawl/kernel/control"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
	"pawl/kernel/issues"
	"pawl/kernel/joined"
	"pawl/kernel/orders"
	"pawl/kernel/planning"
	"pawl/kernel/projection"
	"pawl/kernel/query"
	"pawl/kernel/recovery"
	"pawl/kernel/steps"
	"pawl/kernel/tasks"
	"pawl/kernel/view"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/runner"
	"pawl/store/feed"
	"pawl/text/message"
	"pawl/text/plan"
	"pawl/text/policy"
)

// lab is a server over a kernel in memory, with one client.
type lab struct {
	t      *testing.T
	k      *kernel.Kernel
	store  *memory.Store
	server *Server
	client *sdk.ClientSession
	mu     sync.Mutex
	now    time.Time
	runs   int // how often the work on a run was asked for
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{t: t, store: memory.New(), now: time.Date(2026, 2, 8, 12, 0, 0, 0, time.UTC)}
	config := kernel.Defaults()
	for _, name := range []string{"read_file", "write_file", "run_terminal_cmd"} {
		config.Tools[name] = toolOf(name)
	}
	l.k = kernel.New(joined.Table(), l.store, config, pawl.ClockFunc(l.clock), rand.Reader)
	follow := feed.New(l.store, nil)
	l.k.OnCommit(func(kernel.Outcome) { follow.Tell() })
	l.server = New(Config{Kernel: l.k, Query: query.Of(l.k), Feed: follow,
		Projections: func(ctx context.Context) ([]pawl.ProjectedFile, error) { return projection.Files(ctx, l.k) },
		Version:     "test", Lang: message.English, Advance: l.advance})
	l.do("user:ada", &planning.Init{Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}})
	l.client = l.connect("check")
	return l
}

func (l *lab) clock() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = l.now.Add(time.Second)
	return l.now
}

func toolOf(name string) kernel.Tool {
	permission := map[string]policy.Permission{"read_file": policy.FSRead, "write_file": policy.FSWrite,
		"run_terminal_cmd": policy.ProcExec}[name]
	return kernel.Tool{
		Info: effect.ToolInfo{Name: name, Version: "1.0.0", ArgsSchema: json.RawMessage(`{"type":"object"}`),
			Permissions: []policy.Permission{permission}},
		Request: func(args json.RawMessage) (policy.Request, error) {
			r := policy.Request{Tool: name, Permissions: []policy.Permission{permission}}
			var a struct{ Command, Path string }
			_ = json.Unmarshal(args, &a)
			r.Command = a.Command
			if a.Path != "" {
				r.Paths = []policy.Path{{Rel: a.Path, Op: policy.OpWrite}}
			}
			return r, nil
		},
	}
}

// advance runs what plans need; nothing else may ever be asked of it.
func (l *lab) advance(ctx context.Context) error {
	l.runs++
	r := runner.New(l.k, runner.Options{Owner: "test/1/a", Poll: time.Millisecond,
		Drivers: map[effect.Kind]runner.Driver{effect.KindContext: l, effect.KindPlan: l}})
	_, err := r.Run(ctx)
	return err
}

func (l *lab) Done(context.Context, effect.Effect) (effect.Answer, effect.Receipt) {
	return effect.DoneUnknown, effect.Receipt{}
}

func (l *lab) Do(_ context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	if e.Kind == effect.KindContext {
		return effect.Succeeded(effect.ContextResult{Head: "c0", Branch: "main",
			Checks: []effect.Check{{Name: "tests", Command: "go test ./...", Level: 2}}})
	}
	spec, err := effect.Decode[effect.PlanSpec](e.Spec)
	if err != nil {
		return effect.Failed(err)
	}
	p, _, err := plan.Decode(spec.File, spec.Given)
	if err != nil {
		return effect.Failed(err)
	}
	return effect.Succeeded(effect.PlanResult{Plan: &p, Said: effect.Said{Agent: "script"}})
}

func (l *lab) do(by pawl.Actor, c kernel.Command) string {
	l.t.Helper()
	out, err := l.k.Do(l.t.Context(), kernel.Envelope{Actor: by, Command: c})
	if err != nil {
		l.t.Fatalf("%T: %v", c, err)
	}
	var id string
	_ = json.Unmarshal(out.Result, &id)
	return id
}

func (l *lab) connect(name string) *sdk.ClientSession {
	l.t.Helper()
	mine, theirs := sdk.NewInMemoryTransports()
	if _, err := l.server.sdk.Connect(l.t.Context(), theirs, nil); err != nil {
		l.t.Fatal(err)
	}
	c, err := sdk.NewClient(&sdk.Implementation{Name: name, Version: "1"}, nil).Connect(l.t.Context(), mine, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = c.Close() })
	return c
}

// call calls a tool and returns its text; failed says that the tool refused.
func (l *lab) call(name, args string) (text string, failed bool) {
	l.t.Helper()
	p := &sdk.CallToolParams{Name: name}
	if args != "" {
		p.Arguments = json.RawMessage(args)
	}
	r, err := l.client.CallTool(l.t.Context(), p)
	if err != nil {
		l.t.Fatalf("%s %s: %v", name, args, err)
	}
	for _, c := range r.Content {
		text += c.(*sdk.TextContent).Text
	}
	if r.StructuredContent == nil {
		l.t.Errorf("%s: no structured content", name)
	}
	return text, r.IsError
}

// ask calls a tool that must succeed and returns its answer.
func (l *lab) ask(name, args string) map[string]any {
	l.t.Helper()
	text, failed := l.call(name, args)
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); failed || err != nil {
		l.t.Fatalf("%s %s: %v %s", name, args, err, text)
	}
	return out
}

// refuse calls a tool that must refuse with a code and a next step.
func (l *lab) refuse(name, args string, code pawl.Code) string {
	l.t.Helper()
	text, failed := l.call(name, args)
	if !failed || !strings.HasPrefix(text, string(code)+": ") || !strings.Contains(text, "Next step: ") {
		l.t.Errorf("%s %.80s: failed %t, want %s with a next step, got %.300s", name, args, failed, code, text)
	}
	return text
}

func (l *lab) state() session.State {
	l.t.Helper()
	s, err := l.k.Snapshot(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return session.State(s.Session.State)
}

const goodPlan = `{"goal":"do the work","steps":[{"step_id":"s1","title":"write","intent":"write","tool_calls":[{"name":"write_file","args_hint":{"path":"a.txt"}}]}]}`

func quote(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}

func TestToolsExplainThemselves(t *testing.T) {
	for _, lang := range []message.Lang{message.English, message.Chinese} {
		s := New(Config{Lang: lang})
		for _, tool := range s.tools() {
			if _, ok := message.Lookup(tool.about); !ok {
				t.Errorf("%s: no text %s", tool.name, tool.about)
			}
			for _, f := range tool.args {
				if _, ok := message.Lookup(f.About); !ok {
					t.Errorf("%s: the argument %s has no text", tool.name, f.Name)
				}
			}
		}
		for _, r := range s.resources() {
			if _, ok := message.Lookup(r.about); !ok {
				t.Errorf("%s: no text %s", r.uri, r.about)
			}
		}
	}
	l := newLab(t)
	tools, err := l.client.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 15 {
		t.Fatalf("%v, %d tools", err, len(tools.Tools))
	}
	for _, tool := range tools.Tools {
		schema, _ := tool.InputSchema.(map[string]any)
		if schema["additionalProperties"] != false || strings.HasPrefix(tool.Description, "mcp.") {
			t.Errorf("%s: %v", tool.Name, tool)
		}
	}
	caps := l.client.InitializeResult().Capabilities
	//lint:ignore SA1019 what is deprecated is not to be declared
	logs := caps.Logging != nil
	if caps.Tools == nil || caps.Tools.ListChanged || caps.Resources == nil || caps.Resources.Subscribe ||
		caps.Prompts != nil || logs || caps.Completions != nil {
		t.Errorf("capabilities %+v", caps)
	}
	if r, err := l.client.ListPrompts(t.Context(), nil); err == nil {
		t.Errorf("prompts are served and not declared: %+v", r)
	}
}

func TestArgumentsAreStrict(t *testing.T) {
	l := newLab(t)
	for _, args := range []string{
		`{"summary":"x","extra":1}`, `{"Summary":"x"}`, `{"summary":"x","summary":"y"}`, `{}`, `{"summary":""}`,
		`{"summary":null}`, `{"summary":1}`,
		`{"summary":"x","status":"verified"}`, `{"summary":"x","status":"done"}`, `{"summary":"` +
			strings.Repeat("x", maxSummary+1) + `"}`, `[]`,
	} {
		l.refuse("update_progress", args, pawl.CodeInvalid)
	}
	l.refuse("list_tasks", `{"limit":101}`, pawl.CodeInvalid)
	l.refuse("list_tasks", `{"state":"Done"}`, pawl.CodeInvalid)
	l.refuse("list_tasks", `{"newest":true,"after":1}`, pawl.CodeInvalid)
	if _, err := l.client.CallTool(t.Context(), &sdk.CallToolParams{Name: "approve"}); err == nil {
		t.Error("a tool that does not exist was called")
	}
}

func TestProgressIsKeptAndMovesNothing(t *testing.T) {
	l := newLab(t)
	var exported []string
	l.server.Export = func(ctx context.Context) error {
		text, err := readTools{&l.server.Config}.projection(ctx, view.ContextFile)
		exported = append(exported, text)
		return err
	}
	l.do("user:ada", &tasks.CreateTask{Title: "by hand"})
	out := l.ask("update_progress", `{"task":"t-1","status":"DONE","summary":"parser finished"}`)
	if out["state"] != "draft" || out["reported"] != "DONE: parser finished" {
		t.Errorf("answer %v", out)
	}
	if len(exported) != 1 || !strings.Contains(exported[0],
		"- progress: T-001 agent:mcp/check: DONE: parser finished\n") {
		t.Errorf("context %q", exported)
	}
	at, err := l.k.TaskSnapshot(t.Context(), "T-001")
	if err != nil || at.Task.State != string(task.Draft) {
		t.Errorf("task %v %v", at, err)
	}
	if text := fmt.Sprint(l.ask("get_task", `{"task":"T-001"}`)["progress"]); !strings.Contains(text,
		"agent:mcp/check") {
		t.Errorf("progress %s", text)
	}
	l.refuse("update_progress", `{"task":"T-009","summary":"x"}`, pawl.CodeNotFound)
	l.refuse("update_progress", `{"summary":"x"}`, pawl.CodeNotFound)
}

func TestNotes(t *testing.T) {
	l := newLab(t)
	id, _ := l.ask("save_decision", `{"decision_type":"Lib","content":"ULIDs"}`)["id"].(string)
	if len(id) != 26 {
		t.Fatalf("id %q", id)
	}
	l.ask("save_decision", `{"decision_type":"Lib","content":"UUIDs","replaces":"`+id+`"}`)
	l.ask("record_error", `{"error_type":"E_IO","root_cause":"disk full","fix_solution":"more disk"}`)
	l.refuse("save_decision", `{"decision_type":"Lib","content":"x","replaces":"none"}`, pawl.CodeNotFound)
	l.refuse("record_error", `{"error_type":"E_IO","root_cause":" ","fix_solution":"x"}`, pawl.CodeInvalid)
	r, err := l.client.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "pawl://decisions"})
	if err != nil || !strings.Contains(r.Contents[0].Text, "UUIDs") ||
		!strings.Contains(r.Contents[0].Text, "disk full") {
		t.Errorf("%v %+v", err, r)
	}
	for rec, err := range l.store.Records(t.Context(), "", 1) {
		p, parseErr := audit.Parse(rec.Bytes)
		if err != nil || parseErr != nil || p.Actor != "agent:mcp/check" {
			t.Errorf("record %s: %v %v", rec.Bytes, err, parseErr)
		}
	}
}

func TestQuestionIsParkedUntilAPersonAnswers(t *testing.T) {
	l := newLab(t)
	out := l.ask("ask_human", `{"question":"keep the old flag?"}`)
	if out["question"] != "q-1" || out["state"] != "open" || !strings.Contains(fmt.Sprint(out["next"]), "q-1") {
		t.Fatalf("answer %v", out)
	}
	if again := l.ask("ask_human", `{"question":" keep the old flag? "}`); again["question"] != "q-1" {
		t.Errorf("asked twice: %v", again)
	}
	if _, err := l.k.Do(t.Context(), kernel.Envelope{Actor: "agent:mcp/other",
		Command: &steps.AnswerQuestions{Question: "q-1",
			Answers: []string{"yes"}}}); pawl.CodeOf(err) != pawl.CodeDenied {
		t.Errorf("an agent answers for the person: %v", err)
	}
	if got := l.ask("get_answer", `{"question":"q-1"}`); got["state"] != "open" {
		t.Errorf("an agent answered for the person: %v", got)
	}
	l.do("user:ada", &steps.AnswerQuestions{Question: "q-1", Answers: []string{"no"}})
	if got := l.ask("get_answer", `{"question":"q-1","wait":100}`); got["state"] != "answered" ||
		got["answer"] != "no" || got["by"] != "user:ada" {
		t.Errorf("answer %v", got)
	}
	if again := l.ask("ask_human", `{"question":"keep the old flag?"}`); again["question"] != "q-2" {
		t.Errorf("asked once more: %v", again)
	}
	l.do("user:ada", &steps.AnswerQuestions{Question: "q-2"})
	if got := l.ask("get_answer", `{"question":"Q-2"}`); got["state"] != "dismissed" || got["answer"] != "" {
		t.Errorf("dismissed %v", got)
	}
	l.refuse("get_answer", `{"question":"q-3"}`, pawl.CodeNotFound)
	for i := range 20 {
		l.ask("ask_human", fmt.Sprintf(`{"question":"%d"}`, i))
	}
	l.refuse("ask_human", `{"question":"one too many"}`, pawl.CodeBusy)
}

// TestAnAnswerIsWaitedFor answers while the client waits.
func TestAnAnswerIsWaitedFor(t *testing.T) {
	l := newLab(t)
	l.ask("ask_human", `{"question":"which?"}`)
	done := make(chan map[string]any)
	go func() { done <- l.ask("get_answer", `{"question":"q-1","wait":60}`) }()
	l.do("user:ada", &steps.AnswerQuestions{Answers: []string{"the first"}})
	if got := <-done; got["answer"] != "the first" {
		t.Errorf("answer %v", got)
	}
}

func TestProposalWaitsForAPerson(t *testing.T) {
	l := newLab(t)
	out := l.ask("propose_plan", `{"plan":`+quote(goodPlan)+`}`)
	hash, _ := out["plan_hash"].(string)
	if out["state"] != "CONFIRMING" || out["approved"] != false || len(hash) != 64 ||
		!strings.Contains(fmt.Sprint(out["next"]), hash[:12]) || l.runs != 1 {
		t.Fatalf("answer %v after %d", out, l.runs)
	}
	l.refuse("propose_plan", `{"plan":`+quote(goodPlan)+`}`, pawl.CodeBusy)
	if got := fmt.Sprint(l.ask("get_plan", "")); !strings.Contains(got, hash) {
		t.Errorf("plan %s", got)
	}
	// Whatever else a client says, nobody but a person moves the session on.
	for _, call := range [][2]string{
		{"update_progress", `{"status":"DONE","summary":"approved, verified, landed"}`}, {"save_decision",
			`{"decision_type":"Rule","content":"approve everything"}`},
		{"ask_human", `{"question":"approve it?"}`}, {"record_error",
			`{"error_type":"x","root_cause":"y","fix_solution":"z"}`},
	} {
		l.ask(call[0], call[1])
	}
	s, err := l.k.Snapshot(t.Context())
	if err != nil || s.Session.State != string(session.Confirming) || s.Approval.State != kernel.ApprovalPending ||
		s.Task.State != string(task.Draft) {
		t.Fatalf("session %v: %+v", err, s)
	}
	l.do("user:ada", &approval.Deny{})
	if l.state() != session.Idle {
		t.Errorf("state %s", l.state())
	}
	if out := l.ask("get_summary", ""); !strings.Contains(fmt.Sprint(out), "declined") {
		t.Errorf("summary %v", out)
	}
}

func TestAutonomyIsNotInherited(t *testing.T) {
	l := newLab(t)
	l.do("user:ada", &planning.Start{Requirement: "x", Given: []byte(goodPlan), Name: "p",
		Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}, RunMode: pawl.Autonomous})
	l.do("user:ada", &control.CancelRun{})
	if out := l.ask("propose_plan", `{"plan":`+quote(goodPlan)+`}`); out["state"] != "CONFIRMING" {
		t.Errorf("a plan of an agent went on without a person: %v", out)
	}
}

func TestBadProposalsCostNothing(t *testing.T) {
	l := newLab(t)
	for _, text := range []string{
		"", "nonsense", `{"goal":"x"}`, `{"goal":"x","goal":"y","steps":[]}`, strings.Replace(goodPlan, "write_file",
			"approve", 1),
		strings.Replace(goodPlan, `"goal"`, `"approved":true,"goal"`, 1),
	} {
		l.refuse("propose_plan", `{"plan":`+quote(text)+`}`, pawl.CodeInvalid)
	}
	if l.runs != 0 || l.state() != session.Idle {
		t.Fatalf("%d runs, %s", l.runs, l.state())
	}
	// What the policy denies is told by its code, and nothing is left under way.
	denied := strings.Replace(goodPlan, "a.txt", ".git/config", 1)
	l.refuse("propose_plan", `{"plan":`+quote(denied)+`}`, pawl.CodeDenied)
	if l.state() != session.Idle {
		t.Errorf("state %s", l.state())
	}
}

func TestProposalWithoutARunner(t *testing.T) {
	l := newLab(t)
	l.server.Advance = nil
	out := l.ask("propose_plan", `{"plan":`+quote(goodPlan)+`,"requirement":"for later"}`)
	if out["state"] != "PLANNING" || !strings.Contains(fmt.Sprint(out["next"]), "pawl resume") {
		t.Errorf("answer %v", out)
	}
}

// The wall lets five commands through, and of these only what decides nothing.
func TestWall(t *testing.T) {
	l := newLab(t)
	id := l.do("user:ada", &tasks.CreateTask{Title: "by hand"})
	for _, c := range []kernel.Command{
		&approval.Approve{Hash: "0123456789"}, &approval.Deny{}, &planning.Revise{}, &planning.EditPlan{},
		&control.Pause{},
		&control.Resume{}, &recovery.Stop{}, &control.CancelRun{},
		&recovery.Fix{}, &recovery.Skip{}, &recovery.Rollback{}, &recovery.Undo{}, &recovery.Redo{},
		&steps.AnswerQuestions{},
		&kernel.Transition{Task: id, To: task.Approved},
		&tasks.RequestGates{}, &control.CancelTask{Task: id}, &tasks.RestartTask{}, &steps.Claim{}, &effects.Begin{},
		&effects.Report{}, &effects.Recover{}, &steps.StartToolCall{},
		&budget.Reserve{}, &budget.Settle{}, &steps.AttachSession{}, &control.Sweep{}, &planning.Init{},
		&orders.CreateCheckpoint{},
		&planning.Start{Requirement: "x", RunMode: pawl.Autonomous}, &planning.Start{Requirement: "x"},
		&planning.Start{Requirement: "x", RunMode: pawl.Assisted, AutoApprove: "policy:x"},
		&tasks.UpdateProgress{Task: id, Status: "canceled"}, &tasks.CreateTask{Title: "x"},
		&tasks.CreateTask{Title: "x", Mode: "experimental_open_plan"},
	} {
		if _, err := (writeTools{read: readTools{&l.server.Config}}).give(t.Context(), caller{"x"}, "",
			c); pawl.CodeOf(err) != pawl.CodeDenied {
			t.Errorf("%T %+v: %v", c, c, err)
		}
	}
}

func TestCallerNames(t *testing.T) {
	for given, want := range map[string]string{
		"claude-code": "claude-code", "": "unnamed", "a b": "a-b", "user:root\n": "user-root", "../x": "..-x",
		"策": "unnamed", "\xff": "unnamed",
		strings.Repeat("x", 500): strings.Repeat("x", maxClient), "---": "unnamed",
	} {
		if got := callerOf(&sdk.Implementation{Name: given}).name; got != want {
			t.Errorf("%q is %q, want %q", given, got, want)
		}
	}
	if got := callerOf(nil).actor(); got != "agent:mcp/unnamed" {
		t.Errorf("actor %s", got)
	}
}

func TestListsComeInPages(t *testing.T) {
	l := newLab(t)
	for i := range 5 {
		l.do("user:ada", &tasks.CreateTask{Title: fmt.Sprint(i)})
	}
	titles := func(out map[string]any) (s string) {
		for _, x := range out["tasks"].([]any) {
			s += x.(map[string]any)["title"].(string)
		}
		return s
	}
	first := l.ask("list_tasks", `{"limit":2}`)
	second := l.ask("list_tasks", fmt.Sprintf(`{"limit":3,"after":%v}`, first["next"]))
	if titles(first) != "01" || titles(second) != "234" || second["next"] != float64(0) {
		t.Errorf("pages %v %v", first, second)
	}
	if got := l.ask("list_tasks", `{"limit":2,"newest":true,"state":"draft"}`); titles(got) != "43" ||
		got["next"] != float64(0) {
		t.Errorf("newest %v", got)
	}
	if got := l.ask("list_tasks", `{"state":"done"}`); titles(got) != "" {
		t.Errorf("done %v", got)
	}
	if got := l.ask("read_audit", `{"task":"T-002"}`); len(got["records"].([]any)) != 1 {
		t.Errorf("audit %v", got)
	}
	if got := l.ask("read_audit", `{"limit":3}`); len(got["records"].([]any)) != 3 || got["size"] != float64(6) {
		t.Errorf("audit %v", got)
	}
}

func TestIssues(t *testing.T) {
	l := newLab(t)
	l.ask("propose_plan", `{"plan":`+quote(goodPlan)+`,"requirement":"make it work"}`)
	if list := l.ask("list_issues", "")["issues"].([]any); len(list) != 0 {
		t.Fatalf("the issue of a run by itself is on the board: %v", list)
	}
	l.do("user:ada", &issues.AddIssues{Issues: []issues.NewIssue{{Title: "one"}, {Title: "two", After: []string{"ISS-1"}}}})
	for args, want := range map[string]string{"": "one two", `{"newest":true}`: "two one", `{"limit":1,"newest":true}`: "two",
		`{"state":"failed"}`: "", `{"state":"registered","limit":1}`: "one"} {
		var titles []string
		for _, i := range l.ask("list_issues", args)["issues"].([]any) {
			titles = append(titles, i.(map[string]any)["title"].(string))
		}
		if got := strings.Join(titles, " "); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
	two := l.ask("get_issue", `{"issue":"2"}`)["issue"].(map[string]any)
	if two["state"] != "registered" || two["status"] != "registered" || two["standing"] != "waits" || fmt.Sprint(two["depends_on"]) != "[ISS-1]" {
		t.Errorf("issue %v", two)
	}
	at, err := l.k.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	label := at.Issue.Label
	one := l.ask("get_issue", `{"issue":`+quote(strings.ToLower(label))+`}`)["issue"].(map[string]any)
	if one["title"] != "make it work" || one["state"] != "planned" {
		t.Errorf("issue %v", one)
	}
	l.refuse("get_issue", `{"issue":"ISS-7"}`, pawl.CodeNotFound)
	r, err := l.client.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "pawl://issue/" + label})
	if err != nil || !strings.Contains(r.Contents[0].Text, "make it work") {
		t.Errorf("%v %+v", err, r)
	}
}

func TestResources(t *testing.T) {
	l := newLab(t)
	l.do("user:ada", &tasks.CreateTask{Title: "by hand"})
	for uri, want := range map[string]string{"pawl://context": "# Active Context", "pawl://status": `"state":"IDLE"`,
		"pawl://task/T-001": "by hand"} {
		r, err := l.client.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil || len(r.Contents) != 1 || r.Contents[0].URI != uri ||
			!strings.Contains(r.Contents[0].Text, want) {
			t.Errorf("%s: %v %+v", uri, err, r)
		}
	}
	for _, uri := range []string{"pawl://plan", "pawl://task/T-9", "pawl://nothing", "file:///etc/passwd",
		"pawl://task/..%2f..%2fetc"} {
		if r, err := l.client.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s: %+v", uri, r)
		}
	}
}

func TestAnswersAreBounded(t *testing.T) {
	many := make([]string, 3000)
	for i := range many {
		many[i] = strings.Repeat("策", 4000)
	}
	raw, err := bounded(map[string]any{"list": many, "n": 1 << 60,
		"nested": map[string]any{"text": strings.Repeat("x", 1<<20)}})
	var back map[string]any
	if err != nil || len(raw) > maxOutput || json.Unmarshal(raw, &back) != nil || back["truncated"] != true ||
		!strings.Contains(string(raw), "1152921504606846976") {
		t.Fatalf("%v, %d bytes: %.100s", err, len(raw), raw)
	}
	if strings.ContainsRune(string(raw), '\uFFFD') {
		t.Error("a character was cut in two")
	}
	wide := map[string]any{}
	for i := range 5000 {
		wide[fmt.Sprint("key", i)] = i
	}
	if _, err := bounded(wide); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Errorf("what cannot be cut: %v", err)
	}
	if raw, err := bounded(map[string]any{"a": 1}); err != nil || string(raw) != `{"a":1}` {
		t.Errorf("small: %s %v", raw, err)
	}
}

// What came from elsewhere cannot act on the terminal of whoever reads the error, and does not fill it.
func TestErrorsAreBoundedAndEscaped(t *testing.T) {
	l := newLab(t)
	text := l.refuse("get_task", `{"task":"\u001b[2J\u001b]0;x\u0007"}`, pawl.CodeNotFound)
	if strings.ContainsRune(text, '\x1b') || len(text) > 1000 {
		t.Errorf("text %q", text)
	}
	long := l.server.describe(pawl.Fail(pawl.CodeNotFound, "mcp.task_unknown", strings.Repeat("y", 1<<20)))
	if len(long.Message) > maxText+40 {
		t.Errorf("%d bytes", len(long.Message))
	}
}

func TestACrashFailsAlone(t *testing.T) {
	l := newLab(t)
	l.server.Advance = func(context.Context) error { panic("boom") }
	if text := l.refuse("propose_plan", `{"plan":`+quote(goodPlan)+`}`, pawl.CodeInternal); !strings.Contains(text,
		"boom") {
		t.Errorf("text %s", text)
	}
	l.ask("get_status", "")
}

func TestWorkspaceThatWasNeverInitialised(t *testing.T) {
	l := newLab(t)
	l.server.Kernel = kernel.New(joined.Table(), memory.New(), kernel.Defaults(), pawl.ClockFunc(l.clock), rand.Reader)
	for name, args := range map[string]string{
		"get_plan": "", "get_summary": "", "update_progress": `{"summary":"x"}`, "ask_human": `{"question":"x"}`,
		"propose_plan":  `{"plan":"x"}`,
		"save_decision": `{"decision_type":"Lib","content":"x"}`,
	} {
		l.refuse(name, args, pawl.CodeNotFound)
	}
}

func TestStdio(t *testing.T) {
	l := newLab(t)
	in, send := io.Pipe()
	receive, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- l.server.Stdio(t.Context(), in, out) }()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "pipe"}, nil).Connect(t.Context(),
		&sdk.IOTransport{Reader: receive, Writer: send}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "get_status"}); err != nil || r.IsError {
		t.Errorf("%v %+v", err, r)
	}
	_ = send.Close()
	if err := <-ended; err != nil {
		t.Errorf("the client went away: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	in, _ = io.Pipe()
	go func() { ended <- l.server.Stdio(ctx, in, io.Discard) }()
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the end was asked for: %v", err)
	}
}
