package kernel_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/joined"
	"pawl/kernel/planning"
	"pawl/kernel/query"
	"pawl/kernel/tasks"
	"pawl/machine/task"
)

// hooked is a mode whose hooks a test replaces. One that is not replaced approves.
type hooked struct {
	kernel.Mode
	before, after func(to string) kernel.Verdict
	gate          func(gate string) kernel.Verdict
	result        func() bool
	approve       func() kernel.Verdict
	dispose       func() effect.Disposition
	retry         func() kernel.Verdict
}

var lets = kernel.Verdict{Decision: kernel.Approved}

func (h hooked) ValidateTransition(_ kernel.ModeTask, _, to string) kernel.Verdict {
	if h.before == nil {
		return lets
	}
	return h.before(to)
}

func (h hooked) TransitionMade(t kernel.ModeTask, _, to string) kernel.Verdict {
	if t.State != to {
		panic("the task is not told as it is after the transition")
	}
	if h.after == nil {
		return lets
	}
	return h.after(to)
}

func (h hooked) ValidateGate(_ kernel.ModeTask, gate string) kernel.Verdict {
	if h.gate == nil {
		return lets
	}
	return h.gate(gate)
}

func (h hooked) GateResult(t kernel.ModeTask, g effect.CheckOutcome) bool {
	if h.result == nil {
		return h.Mode.GateResult(t, g)
	}
	return h.result()
}

func (h hooked) CanAutoApprove(t kernel.ModeTask, checkpoint string) kernel.Verdict {
	if h.approve == nil {
		return h.Mode.CanAutoApprove(t, checkpoint)
	}
	return h.approve()
}

func (h hooked) Disposition(t kernel.ModeTask, exit string) effect.Disposition {
	if h.dispose == nil {
		return h.Mode.Disposition(t, exit)
	}
	return h.dispose()
}

func (h hooked) EvaluateRetry(kernel.ModeTask, kernel.RetryState, kernel.RetryConfig) kernel.Verdict {
	if h.retry == nil {
		return lets
	}
	return h.retry()
}

// moded makes a task with a mode whose hooks are the test's.
func (b *bench) moded(h hooked) string {
	b.t.Helper()
	h.Mode = kernel.BuiltinModes()[kernel.DefaultMode]
	b.k.Config().Modes["hooked"] = h
	var id string
	if err := as(b.k, "user:ada", &id, &tasks.CreateTask{Title: "t", Mode: "hooked"}); err != nil {
		b.t.Fatal(err)
	}
	return id
}

// records are the records of a task by one name, parsed.
func (b *bench) records(id string, event string) (out []audit.Parsed) {
	b.t.Helper()
	for r, err := range b.store.Records(context.Background(), audit.Subject{Kind: "task", ID: id}.String(), 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		p, err := audit.Parse(r.Bytes)
		if err != nil {
			b.t.Fatal(err)
		}
		if p.Event == event {
			out = append(out, p)
		}
	}
	return out
}

// TestModeHooksFailClosed: a hook before or after a transition that refuses, blocks, defers or crashes leaves the task
// as it was, with the reason in the error and in the audit log; so does a mode that is gone.
func TestModeHooksFailClosed(t *testing.T) {
	no := func(v kernel.VerdictKind) func(string) kernel.Verdict {
		return func(string) kernel.Verdict { return kernel.Verdict{Decision: v, Reason: "not today"} }
	}
	crash := func(string) kernel.Verdict { panic("not today") }
	for name, c := range map[string]struct {
		hooks  hooked
		gone   bool
		reason string
	}{
		"before: rejected": {hooks: hooked{before: no(kernel.Rejected)}, reason: "not today"},
		"before: blocked":  {hooks: hooked{before: no(kernel.Refused)}, reason: "not today"},
		"before: deferred": {hooks: hooked{before: no(kernel.Deferred)}, reason: "not today"},
		"before: nothing":  {hooks: hooked{before: no("")}, reason: "not today"},
		"before: crashes":  {hooks: hooked{before: crash}, reason: "the mode crashed: not today"},
		"after: rejected":  {hooks: hooked{after: no(kernel.Rejected)}, reason: "not today"},
		"after: nothing":   {hooks: hooked{after: no("")}, reason: "not today"},
		"after: crashes":   {hooks: hooked{after: crash}, reason: "the mode crashed: not today"},
		"missing":          {gone: true, reason: "hooked"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			id := b.moded(c.hooks)
			if c.gone {
				b.unlike = true
				delete(b.k.Config().Modes, "hooked")
			}
			_, err := b.move(id, task.Approved)
			if !errors.Is(err, pawl.ErrModeViolation) || !errors.Is(err, pawl.ErrInvalidTransition) ||
				!strings.Contains(err.Error(), c.reason) {
				t.Errorf("%v", err)
			}
			b.wantTask(id, task.Draft)
			refused := b.records(id, "MODE_REFUSED")
			if len(refused) != 1 || !strings.Contains(string(refused[0].Data), c.reason) ||
				!strings.Contains(string(refused[0].Data), `"rule":"T1"`) {
				t.Errorf("%d records: %+v", len(refused), refused)
			}
			if got := b.records(id, "STATE_TRANSITION_APPROVED"); len(got) != 0 {
				t.Errorf("recorded as moved: %+v", got)
			}
			if _, err := b.move(id, task.Canceled); err != nil {
				t.Errorf("a mode held on to its task: %v", err)
			}
			b.verifyAudit()
		})
	}
}

// TestModeThatHangs: nothing is held while a mode answers, so that one that does not keeps nobody else from the task,
// and what it says afterwards is judged on what the task is by then.
func TestModeThatHangs(t *testing.T) {
	b := newBench(t)
	asked, let := make(chan bool, 2), make(chan bool)
	id := b.moded(hooked{after: func(string) kernel.Verdict {
		asked <- true
		<-let
		return lets
	}})
	done := make(chan error, 1)
	go func() {
		_, err := b.k.Do(context.Background(), kernel.Envelope{Actor: "user:ada",
			Command: &kernel.Transition{Task: id, To: task.Approved}})
		done <- err
	}()
	<-asked
	other := kernel.New(joined.Table(), b.store, *b.k.Config(), pawl.ClockFunc(b.k.Now), rand.Reader)
	if err := as(other, "user:bob", nil, &kernel.Transition{Task: id, To: task.Canceled}); err != nil {
		t.Fatal(err)
	}
	close(let)
	if err := <-done; !errors.Is(err, pawl.ErrInvalidTransition) {
		t.Errorf("%v", err)
	}
	b.wantTask(id, task.Canceled)
}

// TestModesJudgeGates: a mode that refuses a gate, or crashes, keeps it from being run, by hand and by a runner.
func TestModesJudgeGates(t *testing.T) {
	for name, hook := range map[string]func(string) kernel.Verdict{
		"refused": func(g string) kernel.Verdict {
			return kernel.Verdict{Decision: kernel.Rejected, Reason: "no " + g}
		},
		"crashed": func(g string) kernel.Verdict { panic("no " + g) },
	} {
		b := newBench(t)
		id := b.moded(hooked{gate: hook})
		for _, to := range way[task.Verifying] {
			if _, err := b.move(id, to); err != nil {
				t.Fatal(name, err)
			}
		}
		err := as(b.k, "user:ada", nil, &tasks.RequestGates{Task: id})
		if pawl.CodeOf(err) != pawl.CodeModeViolation || !strings.Contains(err.Error(), "no doctor") {
			t.Errorf("%s: %v", name, err)
		}
		if got := b.wantTask(id, task.Verifying); got.Effect != "" || got.Gate != nil {
			t.Errorf("%s: the gates were asked for: %+v", name, got)
		}
		if len(b.records(id, "MODE_REFUSED")) != 1 {
			t.Errorf("%s: not recorded", name)
		}
	}
}

// TestModesDecideAboutRetries: what a mode is told of a gate, and what it says of a retry, is asked before a task goes
// back into the queue; one that crashes refuses.
func TestModesDecideAboutRetries(t *testing.T) {
	for name, hook := range map[string]func() kernel.Verdict{
		"refused": func() kernel.Verdict { return kernel.Verdict{Decision: kernel.Rejected, Reason: "once is enough"} },
		"crashed": func() kernel.Verdict { panic("once is enough") },
		"granted": func() kernel.Verdict { return lets },
	} {
		b := newBench(t)
		id := b.moded(hooked{retry: hook})
		for _, to := range way[task.Running] {
			if _, err := b.move(id, to); err != nil {
				t.Fatal(name, err)
			}
		}
		s, _ := b.k.TaskSnapshot(context.Background(), id)
		if err := as(b.k, "runner:r1", nil, &kernel.Transition{Task: id, To: task.Failed, Exit: task.ExitException,
			Reason: "r", Token: s.Task.Epoch}); err != nil {
			t.Fatal(name, err)
		}
		_, err := b.move(id, task.Queued)
		if name == "granted" {
			if err != nil || len(b.records(id, "TASK_RETRY_ATTEMPT")) != 1 {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if !errors.Is(err, pawl.ErrRetryNotAllowed) || !strings.Contains(err.Error(), "once is enough") {
			t.Errorf("%s: %v", name, err)
		}
		b.wantTask(id, task.Failed)
	}
}

// TestEndsAreRecordedWithTheirReason: the record of the transition has the exit reason with the mode's judgement, or
// the summary of the cleanup, which says where nobody cleaned up; and what the caller wants kept.
func TestEndsAreRecordedWithTheirReason(t *testing.T) {
	for name, c := range map[string]struct {
		dispose func() effect.Disposition
		want    effect.Disposition
	}{
		"built in": {nil, effect.Disposition{Verdict: "rejected", Reasoning: "exit reason timeout"}},
		"its own": {func() effect.Disposition {
			return effect.Disposition{Verdict: "blocked", Reasoning: "ask ada", Confidence: 0.5}
		}, effect.Disposition{Verdict: "blocked", Reasoning: "ask ada", Confidence: 0.5}},
		"crashes": {func() effect.Disposition { panic("x") },
			effect.Disposition{Verdict: "blocked", Reasoning: "the mode crashed"}},
	} {
		b := newBench(t)
		id := b.moded(hooked{dispose: c.dispose})
		for _, to := range way[task.Running] {
			if _, err := b.move(id, to); err != nil {
				t.Fatal(name, err)
			}
		}
		s, _ := b.k.TaskSnapshot(context.Background(), id)
		if err := as(b.k, "runner:r1", nil, &kernel.Transition{Task: id, To: task.Failed, Exit: task.ExitTimeout,
			Token: s.Task.Epoch, Metadata: []byte(`{"runner_pid":12345}`)}); err != nil {
			t.Fatal(name, err)
		}
		var kept struct {
			Exit string             `json:"exit_reason"`
			PID  int                `json:"runner_pid"`
			Mode effect.Disposition `json:"mode_disposition"`
		}
		r := b.records(id, "STATE_TRANSITION_FAILED")
		if len(r) != 1 || json.Unmarshal(r[0].Move.Metadata, &kept) != nil || kept.Exit != "timeout" ||
			kept.PID != 12345 || kept.Mode != c.want {
			t.Errorf("%s: %+v", name, kept)
		}
		s, _ = b.k.TaskSnapshot(context.Background(), id)
		if got := query.TaskOf(s.Task, nil).Disposed; got == nil || *got != c.want {
			t.Errorf("%s: shown %+v", name, got)
		}
	}
	b := newBench(t)
	id := b.moded(hooked{})
	if _, err := b.move(id, task.Canceled); err != nil {
		t.Fatal(err)
	}
	r := b.records(id, "STATE_TRANSITION_CANCELED")
	if len(r) != 1 || string(r[0].Move.Metadata) != `{"cleanup_summary":{"cleanup_performed":[],"cleanup_failed":[],`+
		`"cleanup_skipped":["no cleanup required"],"auto_generated":true}}` {
		t.Errorf("%+v", r)
	}
}

// TestModesAndOpenPlans: only a mode's yes opens a plan without a person; where nobody attends, the record of what is
// blocked has the mode's reason.
func TestModesAndOpenPlans(t *testing.T) {
	for name, c := range map[string]struct {
		approve func() kernel.Verdict
		open    bool
		reason  string
	}{
		"approved": {func() kernel.Verdict { return lets }, true, ""},
		"refused": {func() kernel.Verdict {
			return kernel.Verdict{Decision: kernel.Refused, Reason: "auto_approve_denied"}
		}, false, "auto_approve_denied"},
		"crashed": {func() kernel.Verdict { panic("x") }, false, "the mode crashed: x"},
	} {
		b := newBench(t)
		b.k.Config().Modes[kernel.DefaultMode] = hooked{Mode: kernel.BuiltinModes()[kernel.DefaultMode],
			approve: c.approve}
		w := &world{plan: twoSteps()}
		w.plan.Steps[0].ToolCalls[0].ArgsHint = json.RawMessage(`{"network":true}`)
		w.plan.Network = []string{"example.org"}
		b.do(&planning.Start{Requirement: "x", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true},
			RunMode: pawl.Autonomous})
		b.run(w.answer)
		r := b.records(b.task("T-001").ID, "AUTONOMOUS_BLOCKED")
		if len(r) != 1 || !strings.Contains(string(r[0].Data), c.reason) ||
			!strings.Contains(string(r[0].Data), `"mode":"implementation"`) {
			t.Errorf("%s: %+v", name, r)
		}
		if s := b.look(); c.open != (len(w.calls) > 0) || !c.open && s.Session.State != "CONFIRMING" {
			t.Errorf("%s: the session is %s, calls %v", name, s.Session.State, w.calls)
		}
	}
}

// TestGateResultsAreTold: a mode that sees no sense in a retry, or crashes over a result, ends the task instead.
func TestGateResultsAreTold(t *testing.T) {
	for name, c := range map[string]struct {
		again func() bool
		runs  int
		state string
	}{
		"again":   {func() bool { return true }, 2, "IDLE"},
		"never":   {func() bool { return false }, 1, "BLOCKED"},
		"crashes": {func() bool { panic("x") }, 1, "BLOCKED"},
	} {
		w := &world{plan: twoSteps(), failGates: 1}
		b := proposed(t, w)
		b.k.Config().Modes[kernel.DefaultMode] = hooked{Mode: kernel.BuiltinModes()[kernel.DefaultMode], result: c.again}
		b.do(&approval.Approve{Hash: b.look().Solution.Hash})
		b.run(w.answer)
		if s := b.look(); s.Session.State != c.state || w.gateRuns != c.runs {
			t.Errorf("%s: session %s after %d runs of the gates", name, s.Session.State, w.gateRuns)
		}
	}
}

// TestStepsAreWorkItems: each step that is done leaves a record, under the name that the seed has for parts of the work.
func TestStepsAreWorkItems(t *testing.T) {
	b := approved(t, &world{plan: twoSteps()})
	if n := b.count("WORK_ITEM_COMPLETED"); n != 2 {
		t.Errorf("%d records of two steps", n)
	}
}
