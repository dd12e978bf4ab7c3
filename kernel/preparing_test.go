package kernel_test

import (
	"reflect"
	"testing"

	"pawl"
	"pawl/kernel/approval"
	"pawl/kernel/effect"
	"pawl/kernel/orders"
	"pawl/kernel/planning"
	"pawl/kernel/recovery"
)

func preparing(task bool) *orders.Order {
	return &orders.Order{Command: "prepare", Kind: effect.KindPrepare, Idempotent: true,
		Spec: effect.Encode(effect.PrepareSpec{Task: task})}
}

// TestDependenciesAreFetchedWhereWorkRests lets the fetching of dependencies through where nothing is at work: at rest,
// and where work stopped for a person. What comes of it changes nothing about the work.
func TestDependenciesAreFetchedWhereWorkRests(t *testing.T) {
	w := &world{plan: twoSteps(), failChecks: 4}
	b := approved(t, w)
	was := b.look()
	if was.Session.State != "BLOCKED" || was.Session.Blocked == nil {
		t.Fatalf("%+v", was.Session)
	}
	for _, failed := range []bool{true, false} {
		b.do(preparing(true))
		e := b.look().Effect
		if e == nil || e.What() != effect.KindPrepare || e.Effect.Place.Tree != was.Task.Place.Tree ||
			e.Effect.Task != "" {
			t.Fatalf("%+v", e)
		}
		if _, err := b.try(preparing(true)); pawl.CodeOf(err) != pawl.CodeBusy {
			t.Errorf("twice at the same time: %v", err)
		}
		b.run(func(e effect.Effect) effect.Receipt {
			if failed {
				return effect.Failed(pawl.Fail(pawl.CodeEnvironment, "prepare.no_answer", "registry"))
			}
			return effect.Succeeded(effect.PrepareResult{})
		})
		now := b.look()
		if now.Session.State != "BLOCKED" || now.Session.Effect != "" || !reflect.DeepEqual(now.Session.Blocked,
			was.Session.Blocked) || now.Task.State != was.Task.State || b.recorded("COMMAND_DONE") == "" {
			t.Errorf("the work is another: %+v", now.Session)
		}
	}
	b.do(&recovery.Fix{Note: "fetched"})
	b.run(w.answer)
	b.wantStates("PLANNING CONFIRMING EXECUTING AUTO_FIX BLOCKED EXECUTING ARCHIVING IDLE")
	b.do(preparing(true))
	if e := b.look().Effect; e == nil || e.Effect.Place.Tree != "/w" {
		t.Errorf("at rest the user's own lock files count: %+v", e)
	}
	b.run(func(effect.Effect) effect.Receipt { return effect.Succeeded(effect.PrepareResult{}) })
	b.verifyAudit()
}

func TestDependenciesWait(t *testing.T) {
	w := &world{plan: twoSteps()}
	b := newBench(t)
	b.do(&planning.Start{Requirement: "do it", Place: place, RunMode: pawl.Assisted})
	if _, err := b.try(preparing(false)); pawl.CodeOf(err) != pawl.CodeBusy {
		t.Errorf("while a plan is made: %v", err)
	}
	b.run(w.answer)
	if s := b.look(); s.Session.State != "CONFIRMING" {
		t.Fatal(s.Session.State)
	}
	b.do(preparing(false))
	if e := b.look().Effect; e == nil || e.Effect.Place.Tree != e.Effect.Place.Workspace {
		t.Errorf("%+v", e)
	}
	b.run(func(effect.Effect) effect.Receipt { return effect.Succeeded(effect.PrepareResult{}) })
	b.do(&approval.Approve{Hash: b.look().Approval.Hash})
	b.run(w.answer)
	b.wantStates("PLANNING CONFIRMING EXECUTING ARCHIVING IDLE")
	b.verifyAudit()
}
