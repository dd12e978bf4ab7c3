package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/budget"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
	"pawl/kernel/planning"
	"pawl/kernel/recovery"
	"pawl/kernel/steps"
)

// budget reads what one scope spent and holds.
func (b *bench) budget(scope string) *kernel.Budget {
	b.t.Helper()
	rows, err := b.store.Load(context.Background(), kernel.Select{Kind: kernel.KindBudget})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, r := range rows[0] {
		if strings.HasPrefix(r.Label, scope) {
			out := new(kernel.Budget)
			if err := kernel.Decode(r, out); err != nil {
				b.t.Fatal(err)
			}
			return out
		}
	}
	return &kernel.Budget{}
}

func command(id, text string) effect.Ask {
	return effect.Ask{ID: id, Name: "run_terminal_cmd", Args: []byte(fmt.Sprintf(`{"command":%q}`, text))}
}

// TestWorkIsLimited refuses what does not fit, before it is begun, in each of the measures that pawl itself counts;
// blocks with the figures; and goes on at that very call when more is allowed.
func TestWorkIsLimited(t *testing.T) {
	for what, c := range map[string]struct {
		limit kernel.Limit
		made  string
		key   string
	}{
		"calls":     {kernel.Limit{Calls: 2}, "read_file run_terminal_cmd", "calls 2 2 1"},
		"processes": {kernel.Limit{Processes: 1}, "read_file run_terminal_cmd write_file", "processes 1 1 1"},
		"turns":     {kernel.Limit{Turns: 3}, "read_file run_terminal_cmd write_file run_terminal_cmd", "turns 3 3 1"},
		"minutes":   {kernel.Limit{WallMS: 2000}, "", "minutes 0.03 0.03 0.02"},
	} {
		for _, scope := range []string{budget.ScopeRun, budget.ScopeIssue, budget.ScopeDay} {
			t.Run(what+" of a "+scope, func(t *testing.T) {
				m := &mind{work: []effect.WorkResult{
					wants(call("a", "read_file", "x"), command("b", "make"), call("c", "write_file", "x"),
						command("d", "make test")), finished,
				}}
				m.plan = intent()
				b := newBench(t)
				b.unlike = true
				b.k.Config().Agents["m"] = kernel.Traits{Works: true, Intakes: true, Judges: true}
				b.k.Config().Budgets = map[string]kernel.Limit{scope: c.limit}
				b.do(&planning.Start{Requirement: "do the work", Agent: "m",
					Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}, RunMode: pawl.Assisted})
				b.run(m.answer)
				b.do(&approval.Approve{Hash: b.look().Solution.Hash})
				b.run(m.answer)
				s := b.look()
				if s.Session.State != "BLOCKED" || s.Session.Blocked.Kind != kernel.BlockedBudget ||
					s.Session.Blocked.Error.Key != "kernel.budget_used" {
					t.Fatalf("%s %+v", s.Session.State, s.Session.Blocked)
				}
				if got := strings.Join(s.Session.Blocked.Error.Args[1:], " "); got != c.key ||
					!strings.HasPrefix(s.Session.Blocked.Error.Args[0], scope+":") {
					t.Errorf("figures %q of %s, want %q", got, s.Session.Blocked.Error.Args[0], c.key)
				}
				if got := strings.Join(m.made, " "); got != c.made {
					t.Errorf("made %q", got)
				}
				b.k.Config().Budgets = nil
				b.do(&recovery.Fix{Note: "more is allowed"})
				b.run(m.answer)
				if got := strings.Join(m.made, " "); got != "read_file run_terminal_cmd write_file run_terminal_cmd" {
					t.Errorf("all in all made %q", got)
				}
				if s := b.look(); s.Session.State != "IDLE" {
					t.Errorf("session %s %+v", s.Session.State, s.Session.Blocked)
				}
				spent := b.budget(scope)
				if u := spent.Spent; u.Calls != 4 || u.Processes != 2 || u.Turns < 3 || u.WallMS < 4000 ||
					len(spent.Held) != 0 {
					t.Errorf("the books say %+v, held %v", u, spent.Held)
				}
				b.verifyAudit()
			})
		}
	}
}

// TestTimeIsSetAside: an effect may take no longer than its budgets leave, and what it did not take is given back.
func TestTimeIsSetAside(t *testing.T) {
	b, e := begun(t, &mind{work: []effect.WorkResult{finished}})
	b.do(&effects.Report{Effect: e.ID, Token: e.Token,
		Receipt: effect.Succeeded(wants(command("a", "make"), command("b", "make")))})
	b.unlike = true
	b.k.Config().Budgets = map[string]kernel.Limit{budget.ScopeRun: {WallMS: 100_000}}
	pending := b.look().Effect
	b.do(&effects.Begin{Effect: pending.ID, Owner: "r1", Day: b.now})
	left := 100*time.Second - time.Duration(b.budget(budget.ScopeRun).Spent.WallMS)*time.Millisecond
	running := b.look().Effect
	if running.Effect.Timeout != left || b.budget(budget.ScopeRun).Used().WallMS != 100_000 {
		t.Errorf("%v is left and %v is granted: %+v", left, running.Effect.Timeout, b.budget(budget.ScopeRun))
	}
	b.now = b.now.Add(9 * time.Second)
	b.do(&effects.Report{Effect: pending.ID, Token: 1, Receipt: effect.Succeeded(effect.ToolResult{})})
	if got := 100*time.Second - left + 10*time.Second; b.budget(budget.ScopeRun).Used().WallMS != got.Milliseconds() {
		t.Errorf("after 10 s of it: %+v, want %v", b.budget(budget.ScopeRun), got)
	}
	// Stopped work is charged until then, and holds nothing.
	next := b.look().Effect
	b.do(&effects.Begin{Effect: next.ID, Owner: "r1", Day: b.now})
	before := b.budget(budget.ScopeRun).Spent.WallMS
	b.do(&recovery.Stop{Reason: "enough"})
	if got := b.budget(budget.ScopeRun); got.Spent.WallMS != before+1000 || len(got.Held) != 0 {
		t.Errorf("stopped: %+v after %d", got, before)
	}
}

// TestCallsInTheMiddle counts the calls of an agent with a loop of its own, and refuses the one that does not fit.
func TestCallsInTheMiddle(t *testing.T) {
	b, e := begun(t, &mind{work: []effect.WorkResult{finished}})
	b.unlike = true
	b.k.Config().Budgets = map[string]kernel.Limit{budget.ScopeRun: {Processes: 2}}
	ask := func(id string, judge bool) error {
		_, err := b.try(&steps.StartToolCall{Effect: e.ID, Token: e.Token, Ask: command(id, "make "+id), Judge: judge,
			Day: b.now})
		return err
	}
	if err := ask("a", true); err != nil {
		t.Error(err)
	}
	if err := ask("b", false); err != nil {
		t.Error(err)
	}
	for _, judge := range []bool{true, false} {
		if err := ask("c", judge); pawl.CodeOf(err) != pawl.CodeBudget ||
			!strings.Contains(fmt.Sprint(err), "processes") {
			t.Errorf("the third process: %v", err)
		}
	}
	if u := b.budget(budget.ScopeRun).Spent; u.Processes != 2 || u.Calls != 2 {
		t.Errorf("%+v", u)
	}
}

// TestMidnight: what an effect that went on past midnight set aside counts on the day on which it did so, also when it
// is forfeited.
func TestMidnight(t *testing.T) {
	b, e := begun(t, &mind{work: []effect.WorkResult{finished}})
	first := b.now
	reserve := func() {
		b.do(&budget.Reserve{Effect: e.ID, Token: e.Token, Day: b.now, Most: effect.Usage{Requests: 1, MicroUSD: 700}})
	}
	reserve()
	b.now = b.now.Add(24 * time.Hour)
	reserve()
	second := b.now
	b.now = b.now.Add(48 * time.Hour)
	b.do(&effects.Recover{Effect: e.ID, Answer: effect.DoneUnknown, Tree: "t0"})
	for _, day := range []time.Time{first, second} {
		got := b.budget("day:" + day.UTC().Format(time.DateOnly))
		if got.Spent.MicroUSD != 700 || len(got.Held) != 0 {
			t.Errorf("%s: %+v", day.Format(time.DateOnly), got)
		}
	}
	if got := b.budget(budget.ScopeRun); got.Spent.MicroUSD != 1400 || len(got.Held) != 0 {
		t.Errorf("the run: %+v", got)
	}
	if got := b.budget("day:" + b.now.UTC().Format(time.DateOnly)); got.Spent.MicroUSD != 0 {
		t.Errorf("the day of the restart: %+v", got)
	}
}

// TestRoles: what one role of a run may spend is counted in that role alone. A plan that does not fit is refused, work
// that does not fit waits until more is allowed, and a review that does not fit holds nothing up and is said.
func TestRoles(t *testing.T) {
	limited := func(role string, l kernel.Limit) func(*kernel.Config) {
		return func(c *kernel.Config) {
			c.Agents["m"] = kernel.Traits{Works: true, Intakes: true, Judges: true}
			c.Budgets = map[string]kernel.Limit{role: l}
		}
	}
	figures := func(t *testing.T, what string, key string, args []string, want string) {
		t.Helper()
		if got := key + " " + strings.Join(args, " "); got != "kernel.role_used "+want {
			t.Errorf("%s: %s", what, got)
		}
	}
	t.Run("plan", func(t *testing.T) {
		w := &reviewed{reviews: []effect.Receipt{nothingWrong}}
		s := reviewing(t, w, pawl.Assisted, limited(budget.ScopePlan, kernel.Limit{Turns: 1})).look()
		if s.Session.State != "IDLE" || s.Session.LastError == nil {
			t.Fatalf("%s, %+v", s.Session.State, s.Session.LastError)
		}
		figures(t, "the plan", s.Session.LastError.Key, s.Session.LastError.Args, "plan turns 1 1 1")
	})
	t.Run("work", func(t *testing.T) {
		m := &mind{work: []effect.WorkResult{wants(command("a", "make")), finished}}
		m.plan = intent()
		b := newBench(t, limited(budget.ScopeWork, kernel.Limit{Turns: 1}))
		b.unlike = true
		b.do(&planning.Start{Requirement: "do the work", Agent: "m", AutoApprove: "policy:test",
			Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}, RunMode: pawl.Assisted})
		b.run(m.answer)
		s := b.look()
		if s.Session.State != "BLOCKED" || s.Session.Blocked.Kind != kernel.BlockedBudget {
			t.Fatalf("%s, %+v", s.Session.State, s.Session.Blocked)
		}
		figures(t, "the second exchange", s.Session.Blocked.Error.Key, s.Session.Blocked.Error.Args, "work turns 1 1 1")
		b.k.Config().Budgets = map[string]kernel.Limit{budget.ScopeWork: {Turns: 2}}
		b.do(&recovery.Fix{Note: "more is allowed"})
		b.run(m.answer)
		if u := b.budget(budget.ScopeWork).Used(); b.look().Session.State != "IDLE" || u.Turns != 2 || u.Calls != 1 {
			t.Errorf("%s, %+v", b.look().Session.State, u)
		}
		b.verifyAudit()
	})
	t.Run("review", func(t *testing.T) {
		w := &reviewed{reviews: []effect.Receipt{objecting(cited), nothingWrong}}
		b := newBench(t, proving, reviewer, limited(budget.ScopeReview, kernel.Limit{Turns: 1}))
		w.start(b, "r", "m")
		b.run(w.onNewTrees())
		task := b.task("T-001")
		if task.State != "done" || task.Proof.Verdict != effect.Proven || w.repairs != 1 || len(w.asked) != 1 ||
			len(task.Reviews) != 2 || !task.Reviews[0].SentBack || task.Reviews[1].Fault == nil {
			t.Fatalf("%s, asked %d times, %+v", task.State, len(w.asked), task.Reviews)
		}
		figures(t, "the review", task.Reviews[1].Fault.Key, task.Reviews[1].Fault.Args, "review turns 1 1 1")
		if u := b.budget(budget.ScopeReview).Used(); u.Turns != 1 || b.budget(budget.ScopePlan).Label != "" {
			t.Errorf("%+v", u)
		}
		b.verifyAudit()
	})
	t.Run("calls of its model", func(t *testing.T) {
		w := &reviewed{reviews: []effect.Receipt{nothingWrong}}
		b := newBench(t, proving, reviewer, limited(budget.ScopeReview, kernel.Limit{Tokens: 100, WallMS: 90_000}))
		w.start(b, "r", "m")
		for s := b.look(); s.Effect == nil || s.Effect.What() != effect.KindReview; s = b.look() {
			if !b.act(w.answer) {
				t.Fatal("nobody reviews")
			}
		}
		id := b.look().Effect.ID
		b.do(&effects.Begin{Effect: id, Owner: "r1", Day: b.now})
		e := b.look().Effect
		if e.Effect.Timeout != 90*time.Second {
			t.Errorf("%v is granted", e.Effect.Timeout)
		}
		reserve := func(tokens int64) error {
			_, err := b.try(&budget.Reserve{Effect: id, Token: e.Epoch, Day: b.now, Most: effect.Usage{OutTokens: tokens}})
			return err
		}
		if err := reserve(60); err != nil {
			t.Error(err)
		}
		err := reserve(60)
		if own := new(pawl.Error); !errors.As(err, &own) || own.Code != pawl.CodeBudget {
			t.Errorf("the second call: %v", err)
		} else {
			figures(t, "the second call", own.Key, kernel.Info(own).Args, "review tokens 100 60 60")
		}
		b.do(&effects.Recover{Effect: id, Answer: effect.DoneNo}) // what a crash left set aside counts
		if u := b.budget(budget.ScopeReview); u.Spent.OutTokens != 60 || len(u.Held) != 0 {
			t.Errorf("%+v", u)
		}
	})
}
