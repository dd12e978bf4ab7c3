package kernel_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/control"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
	"pawl/kernel/issues"
	"pawl/kernel/planning"
	"pawl/kernel/recovery"
)

// TestReceiptOfAnEarlierAttempt: an effect that was begun anew is settled by whoever began it last. What its first
// runner, which was held for dead, still sends is refused and changes nothing.
func TestReceiptOfAnEarlierAttempt(t *testing.T) {
	w := &world{plan: twoSteps()}
	b := proposed(t, w)
	b.do(&approval.Approve{Hash: b.look().Solution.Hash})
	b.until(w, effect.KindTool)
	id := b.look().Effect.ID
	first := b.beginNow(id)
	b.do(&effects.Recover{Effect: id, Answer: effect.DoneNo})
	second := b.beginNow(id)
	if second.Token <= first.Token {
		t.Fatalf("the token does not grow: %d behind %d", second.Token, first.Token)
	}
	for _, token := range []int64{first.Token, 0, -1, second.Token + 1} {
		_, err := b.try(&effects.Report{Effect: id, Token: token, Receipt: w.answer(first)})
		if e := b.effect(id); pawl.CodeOf(err) != pawl.CodeFenced || e.State != kernel.EffectRunning ||
			e.Receipt != nil {
			t.Errorf("the receipt under token %d, where %d is the present one: %v, effect %s", token, second.Token, err,
				e.State)
		}
	}
	b.do(&effects.Report{Effect: id, Token: second.Token, Receipt: w.answer(second)})
	if _, err := b.try(&effects.Report{Effect: id, Token: second.Token,
		Receipt: w.answer(second)}); pawl.CodeOf(err) != pawl.CodeFenced {
		t.Errorf("the receipt a second time: %v", err)
	}
	b.run(w.answer)
	if s := b.look(); s.Session.State != "IDLE" {
		t.Errorf("session %s", s.Session.State)
	}
}

// TestReceiptBehindACancel: whatever an effect comes to that was at work when its task was canceled, the task is
// canceled, and nothing that the effect was for goes on: no work that passed its gates lands, and no failure uses up a
// repair or blocks the session.
func TestReceiptBehindACancel(t *testing.T) {
	bad := func(e effect.Effect) effect.Receipt {
		out := effect.CheckOutcome{Check: effect.Check{Name: "tests", Command: "true"}, Status: effect.CheckFailed}
		switch e.Kind {
		case effect.KindVerify, effect.KindGates:
			return effect.Succeeded(effect.VerifyResult{Outcomes: []effect.CheckOutcome{out}, Tree: "t1", TreeAfter: "t1"})
		}
		return effect.Failed(pawl.Fail(pawl.CodeDiskFull, "store.full", "x"))
	}
	for _, kind := range []effect.Kind{effect.KindWorktree, effect.KindTool, effect.KindVerify, effect.KindRepair,
		effect.KindGates} {
		for _, good := range []bool{true, false} {
			w := &world{plan: twoSteps()}
			if kind == effect.KindRepair {
				w.failChecks = 1
			}
			b := proposed(t, w)
			b.do(&approval.Approve{Hash: b.look().Solution.Hash})
			b.until(w, kind)
			e := b.beginNow(b.look().Effect.ID)
			b.do(&control.CancelRun{Reason: "not any more"})
			receipt := bad(e)
			if good {
				receipt = w.answer(e)
			}
			fixes := b.look().Task.Fixes
			b.do(&effects.Report{Effect: e.ID, Token: e.Token, Receipt: receipt})
			if s := b.look(); s.Session.State == "BLOCKED" || s.Task.Fixes != fixes {
				t.Errorf("%s, good %v: session %s, %d failed repairs", kind, good, s.Session.State, s.Task.Fixes)
			}
			var done []effect.Kind
			b.run(func(e effect.Effect) effect.Receipt {
				done = append(done, e.Kind)
				return w.answer(e)
			})
			s, err := b.k.TaskSnapshot(context.Background(), "T-001")
			if err != nil || s.Task.State != "canceled" || b.look().Session.State != "IDLE" {
				t.Errorf("%s, good %v: task %s, session %s, %v", kind, good, s.Task.State, b.look().Session.State, err)
			}
			if i := slices.IndexFunc(done, func(k effect.Kind) bool {
				return k != effect.KindCheckpoint && k != effect.KindCleanup && k != effect.KindArchive
			}); i >= 0 {
				t.Errorf("%s, good %v: behind the cancel came %v", kind, good, done)
			}
			b.verifyAudit()
		}
	}
}

// TestATakenIssueIsNotTakenByName: an issue that somebody has is nobody else's until the lease is over, also for who
// asks for it by name, as `pawl worker ISS-1` does.
func TestATakenIssueIsNotTakenByName(t *testing.T) {
	b := newBench(t)
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "a"}}})
	b.planned(b.take(true), "a.go")
	first := b.take(false)
	claim := &issues.ClaimIssue{Owner: "w2", Issue: first.Issue}
	claim.Now = b.now.Add(time.Second)
	if _, err := b.try(claim); pawl.CodeOf(err) != pawl.CodeBusy {
		t.Errorf("taken although it is at work: %v", err)
	}
	if i := b.issueOf("ISS-1"); i.Epoch != first.Token || i.Lease.Owner != "w1" {
		t.Errorf("%+v, token %d", i.Lease, i.Epoch)
	}
	b.do(&issues.RenewIssue{Issue: first.Issue, Token: first.Token})
	b.now = b.issueOf("ISS-1").Lease.Expires.Add(-2 * time.Second)
	claim.Now = b.now.Add(time.Second)
	if _, err := b.try(claim); pawl.CodeOf(err) != pawl.CodeBusy {
		t.Errorf("taken a second before its lease is over: %v", err)
	}
	b.now = b.now.Add(time.Second)
	claim.Now = b.now.Add(time.Second)
	if out := b.do(claim); !out.Changed || b.issueOf("ISS-1").Lease.Owner != "w2" {
		t.Errorf("not taken when its lease was over: %+v", b.issueOf("ISS-1").Lease)
	}
	// The first worker has lost it, and cannot keep it by going on.
	if _, err := b.try(&issues.RenewIssue{Issue: first.Issue, Token: first.Token}); pawl.CodeOf(err) !=
		pawl.CodeFenced {
		t.Errorf("a claim that was lost is renewed: %v", err)
	}
}

// TestAProgramsWordIsNoPersons: what a person is asked, no program answers, unless the user's settings name it; then
// it is recorded as the program's.
func TestAProgramsWordIsNoPersons(t *testing.T) {
	const program = pawl.Actor("automation:robot")
	w := &world{plan: twoSteps()}
	b := proposed(t, w)
	hash := b.look().Solution.Hash
	for _, who := range []pawl.Actor{program, "agent:m"} {
		if err := b.by(who, &approval.Approve{Hash: hash}); pawl.CodeOf(err) != pawl.CodeDenied {
			t.Errorf("%s approves: %v", who, err)
		}
	}
	// What is not bound to what was shown is nobody's word.
	for _, h := range []string{"", hash[:7], "0" + hash[1:8] + "0"} {
		if _, err := b.try(&approval.Approve{Hash: h}); pawl.CodeOf(err) != pawl.CodeApprovalStale {
			t.Errorf("approved by %q: %v", h, err)
		}
	}
	if s := b.look(); s.Session.State != "CONFIRMING" || s.Approval.State != kernel.ApprovalPending {
		t.Fatalf("session %s, approval %s", s.Session.State, s.Approval.State)
	}
	b.k.Config().Profile.Approvers = []string{"robot"}
	b.unlike = true
	if err := b.by(program, &approval.Approve{Hash: hash}); err != nil {
		t.Fatal(err)
	}
	if by := b.recorded("APPROVAL_GRANTED"); by != program {
		t.Errorf("recorded as the word of %s", by)
	}
}

// TestTheLastRepairIsTheLast: where agents know no repair that is allowed, as many are tried as any others.
func TestTheLastRepairIsTheLast(t *testing.T) {
	w := &world{plan: twoSteps(), failChecks: 99, repairTool: "no_such_tool"}
	b := approved(t, w)
	if s := b.look(); w.repairs != 3 || s.Task.Fixes != 3 || s.Session.State != "BLOCKED" ||
		s.Session.Blocked.Kind != kernel.BlockedFuse {
		t.Errorf("%d repairs were asked for, %d failed, session %+v", w.repairs, s.Task.Fixes, s.Session)
	}
	b.do(&recovery.Rollback{})
	b.run(w.answer)
	b.verifyAudit()
}

// TestGatesThatChangeTheTree: gates that passed on a tree which they left as another one prove nothing of either, and
// the work does not land.
func TestGatesThatChangeTheTree(t *testing.T) {
	w := &world{plan: twoSteps()}
	b := proposed(t, w)
	b.do(&approval.Approve{Hash: b.look().Solution.Hash})
	b.until(w, effect.KindGates)
	e := b.beginNow(b.look().Effect.ID)
	v, err := effect.Decode[effect.VerifyResult](w.gates().Result)
	if err != nil {
		t.Fatal(err)
	}
	v.TreeAfter = "t9"
	b.do(&effects.Report{Effect: e.ID, Token: e.Token, Receipt: effect.Succeeded(v)})
	s := b.look()
	if s.Session.State != "BLOCKED" || s.Task.State != "failed" || s.Session.Blocked.Error.Key != "kernel.tree_changed" {
		t.Errorf("session %s, task %s, blocked %+v, effect %s", s.Session.State, s.Task.State, s.Session.Blocked,
			s.Effect.What())
	}
}

// TestAFlagCoversNothingGrave: a plan that reaches beyond the machine is approved by a person who saw it, and not by a
// flag that grants whatever waits.
func TestAFlagCoversNothingGrave(t *testing.T) {
	b := newBench(t)
	shell(b)
	b.do(&planning.Start{Requirement: "do the work", Place: place, RunMode: pawl.Assisted})
	b.run((&world{plan: running("git push origin main")}).answer)
	hash := b.look().Approval.Hash
	if _, err := b.try(&approval.Approve{Hash: hash, Way: kernel.WayFlag}); pawl.CodeOf(err) != pawl.CodeApprovalNeeded {
		t.Errorf("approved by a flag: %v", err)
	}
	if s := b.look(); s.Session.State != "CONFIRMING" {
		t.Fatalf("session %s", s.Session.State)
	}
	b.do(&approval.Approve{Hash: hash})
}

// TestManyPlansOfOneGoal: plans of one goal get a name each, however many are made within a minute.
func TestManyPlansOfOneGoal(t *testing.T) {
	w := &world{plan: twoSteps()}
	b := newBench(t)
	b.unlike = true // replaying all of it shows nothing more
	at, last := b.now, ""
	for range 105 {
		b.now = at
		b.do(&planning.Start{Requirement: "do the work", Place: place, RunMode: pawl.Assisted})
		b.run(w.answer)
		s := b.look()
		if s.Session.State != "CONFIRMING" || s.Run.Package == last {
			t.Fatalf("the session is %s, the package %s: %+v", s.Session.State, s.Run.Package, s.Session.LastError)
		}
		last = s.Run.Package
		b.do(&approval.Deny{Reason: "another one"})
		b.run(w.answer)
	}
	if !strings.HasSuffix(last, "_v105") {
		t.Errorf("the last package is %s", last)
	}
}
