package kernel_test

import (
	"strings"
	"testing"

	"pawl/internal/invariant"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/issues"
	"pawl/kernel/recovery"
	"pawl/machine/board"
)

// clueless is a world whose agent knows no repair, and would know none if it were asked again.
type clueless struct {
	*world
	after int // repairs that it knows before
}

func (c *clueless) answer(e effect.Effect) effect.Receipt {
	if e.Kind == effect.KindRepair && c.repairs >= c.after {
		c.repairs++
		return effect.Succeeded(effect.RepairResult{Why: "script.repair_none", Final: true})
	}
	return c.world.answer(e)
}

// TestNoRepairIsSaidAtOnce: an agent that knows none is asked once, and nothing that was not tried is counted as
// failed.
func TestNoRepairIsSaidAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		world  *clueless
		failed int
	}{
		"a check":               {&clueless{world: &world{plan: twoSteps(), failChecks: 99}}, 0},
		"a step":                {&clueless{world: &world{plan: twoSteps(), failCall: 99}}, 0},
		"after one that failed": {&clueless{world: &world{plan: twoSteps(), failChecks: 99}, after: 1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := proposed(t, c.world.world)
			b.do(&approval.Approve{Hash: b.look().Solution.Hash})
			b.run(c.world.answer)
			s := b.look()
			if s.Session.State != "BLOCKED" || s.Session.Blocked.Kind != kernel.BlockedNoRepair ||
				s.Session.AutoFix != c.failed || s.Task.Fixes != c.failed ||
				s.Task.Exit == "retry_exhausted" || s.Task.State != "blocked" || c.world.repairs != c.failed+1 {
				t.Errorf("session %s %+v, task %s %q, %d repairs failed, %d asked for", s.Session.State,
					s.Session.Blocked, s.Task.State, s.Task.Exit, s.Task.Fixes, c.world.repairs)
			}
			if e := s.Session.Blocked.Error; e.Key != "kernel.no_repair" || e.Cause == nil ||
				e.Cause.Key != "script.repair_none" || len(s.Task.Failures) == 0 {
				t.Errorf("%+v", e)
			}
			b.verifyAudit()

			// A person helps, and the work goes on.
			c.world.failChecks, c.world.failCall, c.world.after = 0, 0, 99
			b.do(&recovery.Fix{Note: "I mended it"})
			b.run(c.world.answer)
			if got := b.taskState(); got != "done" {
				t.Errorf("after help: task %s", got)
			}
		})
	}
}

// TestTheSameFailureAgainIsSaid: a repair that changes nothing and leaves the failure as it was is told apart from one
// that did something.
func TestTheSameFailureAgainIsSaid(t *testing.T) {
	for name, same := range map[string]bool{"the same": true, "another": false} {
		t.Run(name, func(t *testing.T) {
			w := &world{plan: twoSteps(), failChecks: 99}
			answer := func(e effect.Effect) effect.Receipt {
				r := w.answer(e)
				if result, err := effect.Decode[effect.VerifyResult](r.Result); e.Kind == effect.KindVerify &&
					err == nil && same {
					result.Fingerprint = "f"
					return effect.Succeeded(result)
				}
				return r
			}
			b := proposed(t, w)
			b.do(&approval.Approve{Hash: b.look().Solution.Hash})
			b.run(answer)
			s := b.look()
			if s.Task.Exit != "retry_exhausted" || (s.Session.Blocked.Error.Key == "kernel.fuse_again") != same {
				t.Errorf("%s: %+v", s.Task.Exit, s.Session.Blocked.Error)
			}
			if n := b.said("FIX_FAILED", `"again":true`); same && n != 3 || !same && n != 0 {
				t.Errorf("%d of 3 repairs are said to have changed nothing", n)
			}
		})
	}
}

// said counts the records of an event that hold a text.
func (b *bench) said(event, text string) (n int) {
	b.t.Helper()
	for rec, err := range b.store.Records(b.t.Context(), "", 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		if p, err := audit.Parse(rec.Bytes); err == nil && p.Event == event &&
			strings.Contains(string(rec.Bytes), text) {
			n++
		}
	}
	return n
}

// TestABoardGoesOnWhereNoRepairIsKnown: an issue that nothing mends fails at once, the board does not try it again by
// itself, and a person's word gives it another chance.
func TestABoardGoesOnWhereNoRepairIsKnown(t *testing.T) {
	b := newBench(t)
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "fails"}, {Title: "goes well"},
		{Title: "waits", After: []string{"ISS-1"}}}})
	for range 3 {
		taken := b.take(true)
		b.planned(taken, taken.Session+".go")
	}
	first := b.take(false)
	hopeless := &clueless{world: worldOf("x")}
	hopeless.failChecks = 99
	home := b.k
	b.k = home.Session(first.Session)
	b.run(hopeless.answer)
	s := b.look()
	b.k = home
	if s.Task.State != "failed" || s.Task.Exit != "fatal_error" || s.Session.Blocked.Kind != kernel.BlockedNoRepair ||
		s.Session.Blocked.Error.Key != "kernel.no_repair" || hopeless.repairs != 1 {
		t.Errorf("task %s %q, %+v, %d repairs asked for", s.Task.State, s.Task.Exit, s.Session.Blocked,
			hopeless.repairs)
	}
	if i := b.issueOf(first.Session); i.State != string(board.IssueFailed) || i.Work != board.WorkWaiting {
		t.Errorf("%s is %s, waiting %v", i.Label, i.State, i.Work)
	}
	b.do(&issues.ReleaseIssue{Issue: first.Issue, Token: first.Token})
	next := b.take(false)
	if next == nil || next.Session != "ISS-2" {
		t.Fatalf("next %+v", next)
	}
	b.work(next, worldOf("y"))
	b.do(&issues.ReleaseIssue{Issue: next.Issue, Token: next.Token})
	if more := b.take(false); more != nil {
		t.Errorf("%+v is taken without a word", more)
	}
	b.k = home.Session(first.Session)
	b.do(&recovery.Fix{Note: "mended"})
	b.k = home
	again := b.take(false)
	if again == nil || again.Session != first.Session {
		t.Fatalf("after a person's word: %+v", again)
	}
	b.work(again, worldOf("x"))
	if i := b.issueOf(first.Session); i.State != string(board.IssueCompleted) {
		t.Errorf("%s is %s", i.Label, i.State)
	}
	b.verifyAudit()
	for _, v := range invariant.Check(t.Context(), b.k) {
		t.Errorf("%+v", v)
	}
}
