package kernel_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/control"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
	"pawl/kernel/planning"
	"pawl/kernel/query"
	"pawl/kernel/recovery"
	"pawl/kernel/view"
	"pawl/text/plan"
)

var inPlace = effect.Place{Workspace: "/w", Tree: "/w", Git: true, InPlace: true}

// tree is a tree that a test plays: each call that works makes the next one, and what is asked to be restored is kept.
type tree struct {
	world
	n        int
	restores []effect.RestoreSpec
	refuse   bool
}

func (w *tree) id() string { return fmt.Sprintf("t%d", w.n) }

func (w *tree) answer(e effect.Effect) effect.Receipt {
	switch e.Kind {
	case effect.KindTool:
		call, _ := effect.Decode[effect.ToolCall](e.Spec)
		before := w.id()
		w.n++
		w.calls = append(w.calls, call.StepID)
		return effect.Succeeded(effect.ToolResult{CallID: call.CallID, Before: before, After: w.id()})
	case effect.KindVerify:
		return w.seen(w.verify())
	case effect.KindGates:
		return w.seen(w.gates())
	case effect.KindLand:
		return effect.Succeeded(effect.LandResult{Outcome: effect.InPlace, Tree: w.id()})
	case effect.KindRestore:
		spec, _ := effect.Decode[effect.RestoreSpec](e.Spec)
		w.restores = append(w.restores, spec)
		if w.refuse {
			return effect.Failed(pawl.Fail(pawl.CodeConflict, "git.conflict", `"a.txt"`))
		}
		before := w.id()
		w.n += 10
		return effect.Succeeded(effect.RestoreResult{Before: before, After: w.id(), Changed: []string{"a.txt"},
			Cut: []string{"cut.txt"}, Kept: []string{"mine.txt"}})
	}
	return w.world.answer(e)
}

func (w *tree) bench(t *testing.T) *bench {
	b := newBench(t)
	b.tree = w.id
	return b
}

// seen says which tree was verified.
func (w *tree) seen(r effect.Receipt) effect.Receipt {
	v, _ := effect.Decode[effect.VerifyResult](r.Result)
	v.Tree, v.TreeAfter = w.id(), w.id()
	r.Result = effect.Encode(v)
	return r
}

// at brings a bench in place to the call of the n-th step, begun and not ended.
func (w *tree) at(t *testing.T, n int) (*bench, string) {
	t.Helper()
	b := w.bench(t)
	b.do(&planning.Start{Requirement: "do the work", Place: inPlace, RunMode: pawl.Assisted,
		AutoApprove: "policy:test"})
	for len(w.calls) < n || b.look().Effect == nil || b.look().Effect.What() != effect.KindTool {
		if !b.act(w.answer) {
			t.Fatal("never came to the call")
		}
	}
	id := b.look().Effect.ID
	b.do(&effects.Begin{Effect: id, Owner: "r1", Tree: w.id()})
	return b, id
}

// until acts until an effect of a kind is pending.
func (w *tree) until(b *bench, kind effect.Kind) {
	b.t.Helper()
	for b.look().Effect == nil || b.look().Effect.What() != kind {
		if !b.act(w.answer) {
			b.t.Fatalf("never came to %s", kind)
		}
	}
}

// last returns what was asked to be restored last, as a line.
func (w *tree) last() string {
	if len(w.restores) == 0 {
		return "nothing"
	}
	s := w.restores[len(w.restores)-1]
	var spans []string
	for _, sp := range s.Spans {
		line := sp.Step + ":" + sp.Before + "-" + sp.After
		if sp.Cut {
			line += " cut"
		}
		if sp.Undone {
			line += " undone"
		}
		if sp.Files != nil {
			line += " " + strings.Join(sp.Files, ",")
		}
		spans = append(spans, line)
	}
	return fmt.Sprintf("%s step=%q %s<-%s [%s]", s.Name, s.Step, s.Target, s.Expect, strings.Join(spans, "; "))
}

func (w *tree) want(t *testing.T, want string) {
	t.Helper()
	if got := w.last(); got != want {
		t.Errorf("asked to restore\n %s, want\n %s", got, want)
	}
}

// A command that was at work when its runner died: what the tree shows at the recovery counts as the command's change.
func TestRollbackOfADeadRunnersCommandInPlace(t *testing.T) {
	for _, answer := range []effect.Answer{effect.DoneUnknown, effect.DoneNo} {
		w := &tree{world: world{plan: twoSteps()}}
		b, id := w.at(t, 1)
		b.do(&recovery.Rollback{})
		s := b.look()
		if s.Session.State != "BLOCKED" || !s.Session.RollingBack() || s.Task.OrphanEffect != id || s.Task.Effect != "" {
			t.Fatalf("the rollback does not wait for what the command did: %+v", s.Task)
		}
		b.do(&recovery.Rollback{}) // said twice it is the same
		b.do(&effects.Recover{Effect: id, Answer: answer, Tree: "left"})
		b.run(w.answer)
		w.want(t, `chk-202602081200 step="" t0<-t0 [s1:t0-t1; s2:t1-left cut]`)
		last, err := b.k.LastRun(context.Background())
		if err != nil || b.look().Session.State != "IDLE" || last.Run.Outcome != "rolled_back" ||
			!slices.Equal(last.Run.TruncatedFiles, []string{"cut.txt"}) ||
			!slices.Equal(last.Run.SkippedFiles, []string{"mine.txt"}) {
			t.Fatalf("%+v, %v", last.Run, err)
		}
		b.do(&recovery.Redo{})
		b.run(w.answer)
		w.want(t, `undo step="" t1<-t11 []`)
		if _, err := b.try(&recovery.Redo{}); pawl.CodeOf(err) != pawl.CodeNotFound {
			t.Errorf("redo twice: %v", err)
		}
		b.do(&recovery.Undo{})
		b.run(w.answer)
		if last, _ := b.k.LastRun(context.Background()); !last.Run.Undone {
			t.Error("what was brought back cannot be undone again")
		}
		b.verifyAudit()
	}
}

// The runner lives: it stops the command, and its late report says what the command did.
func TestRollbackWhileACommandRunsInPlace(t *testing.T) {
	w := &tree{world: world{plan: twoSteps()}}
	b, id := w.at(t, 1)
	b.do(&recovery.Rollback{})
	r := effect.FailedWith(pawl.Fail(pawl.CodeCanceled, "shell.canceled"),
		effect.ToolResult{Before: "t1", After: "half"})
	b.do(&effects.Report{Effect: id, Token: 1, Receipt: r})
	b.run(w.answer)
	w.want(t, `chk-202602081200 step="" t0<-t0 [s1:t0-t1; s2:t1-half cut]`)
	if b.look().Session.State != "IDLE" {
		t.Error(b.look().Session.State)
	}
	b.verifyAudit()
}

// Of a write that was cut off it is known which files it could change.
func TestAWriteThatWasCutOffIsKnownByItsFiles(t *testing.T) {
	w := &tree{world: world{plan: twoSteps()}}
	b := w.bench(t)
	b.do(&planning.Start{Requirement: "do the work", Place: inPlace, RunMode: pawl.Assisted,
		AutoApprove: "policy:test"})
	w.until(b, effect.KindTool)
	id := b.look().Effect.ID
	b.do(&effects.Begin{Effect: id, Owner: "r1", Tree: "t0", Images: []effect.FileImage{{Path: "a.txt"}}})
	b.do(&effects.Recover{Effect: id, Answer: effect.DoneNo, Tree: "left"})
	b.do(&recovery.Rollback{})
	b.run(w.answer)
	w.want(t, `chk-202602081200 step="" t0<-t0 [s1:t0-left cut a.txt]`)
}

// A command that failed has changed the tree all the same.
func TestRollbackOfAFailedCommandInPlace(t *testing.T) {
	w := &tree{world: world{plan: twoSteps(), noRepair: true}}
	b, id := w.at(t, 0)
	b.do(&effects.Report{Effect: id, Token: 1, Receipt: effect.Failed(pawl.Fail(pawl.CodeBuildFail, "shell.exit", 1)),
		Tree: "broken"})
	b.run(w.answer)
	b.do(&recovery.Rollback{})
	b.run(w.answer)
	w.want(t, `chk-202602081200 step="" t0<-t0 [s1:t0-broken]`)
}

func TestCancelInPlaceCanBeUndone(t *testing.T) {
	for name, end := range map[string]func(b *bench, id string){
		"the runner lives": func(b *bench, id string) {
			b.do(&effects.Report{Effect: id, Token: 1,
				Receipt: effect.Failed(pawl.Fail(pawl.CodeCanceled, "shell.canceled")), Tree: "half"})
		},
		"the runner is gone": func(b *bench,
			id string) {
			b.do(&effects.Recover{Effect: id, Answer: effect.DoneUnknown, Tree: "half"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := &tree{world: world{plan: twoSteps()}}
			b, id := w.at(t, 1)
			b.do(&control.CancelRun{Reason: "enough"})
			end(b, id)
			b.run(w.answer)
			last, err := b.k.LastRun(context.Background())
			if err != nil || b.look().Session.State != "IDLE" || last.Run.Outcome != "canceled" {
				t.Fatalf("%s %+v %v", b.look().Session.State, last.Run, err)
			}
			sum := query.SummaryOf(last)
			if commands(sum.Undo) != "pawl undo" ||
				!slices.ContainsFunc(sum.Risks, func(n view.Note) bool {
					return n.Key == "kernel.risk_cut" &&
						n.Args[0] == "s2"
				}) {
				t.Errorf("undo %v, risks %v", sum.Undo, sum.Risks)
			}
			w.refuse = true
			b.do(&recovery.Rollback{})
			b.run(w.answer)
			if s := b.look(); s.Session.LastError == nil || s.Session.LastError.Key != "git.conflict" {
				t.Errorf("%+v", s.Session.LastError)
			}
			w.refuse = false
			b.do(&recovery.Rollback{}) // at IDLE it is an undo
			b.run(w.answer)
			w.want(t, `undo step="" t0<-t0 [s1:t0-t1; s2:t1-half cut]`)
			if _, err := b.try(&recovery.Rollback{}); pawl.CodeOf(err) != pawl.CodeNotFound {
				t.Errorf("rolled back twice: %v", err)
			}
			b.do(&recovery.Redo{})
			b.run(w.answer)
			w.want(t, `undo step="" t1<-t11 []`)
			b.verifyAudit()
		})
	}
}

// A rollback leaves the run before it to be undone.
func TestUndoOfTheRunBeforeARollback(t *testing.T) {
	w := &tree{world: world{plan: twoSteps()}}
	b := w.bench(t)
	start := &planning.Start{Requirement: "do the work", Place: inPlace, RunMode: pawl.Assisted,
		AutoApprove: "policy:test"}
	b.do(start)
	b.run(w.answer)
	b.do(start)
	w.until(b, effect.KindVerify)
	b.do(&recovery.Rollback{})
	b.run(w.answer)
	first := b.look().Session.LastRun
	b.do(&recovery.Undo{})
	b.run(w.answer)
	if got := b.look().Session; got.LastRun != first || got.RolledBackRun != "" {
		t.Errorf("%+v", got)
	}
	b.do(&recovery.Redo{})
	b.run(w.answer)
	b.verifyAudit()
}

func TestUndoStepOfABlockedRun(t *testing.T) {
	w := &tree{world: world{plan: twoSteps(), failChecks: 99, noRepair: true}}
	b := w.bench(t)
	b.do(&planning.Start{Requirement: "do the work", Place: place, RunMode: pawl.Assisted, AutoApprove: "policy:test"})
	w.until(b, effect.KindVerify)
	if _, err := b.try(&recovery.Undo{Step: "s1"}); pawl.CodeOf(err) != pawl.CodeInvalidTransition {
		t.Errorf("while the work goes on: %v", err)
	}
	b.run(w.answer)
	w.n = 5
	for step, code := range map[string]pawl.Code{"s9": pawl.CodeNotFound, "fix1-1": pawl.CodeNotFound} {
		if _, err := b.try(&recovery.Undo{Step: step}); pawl.CodeOf(err) != code {
			t.Errorf("step %s: %v", step, err)
		}
	}
	w.refuse = true
	b.do(&recovery.Undo{Step: "s1"})
	b.run(w.answer)
	if s := b.look(); s.Session.State != "BLOCKED" || s.Session.LastError == nil || len(s.Task.Undone) > 0 ||
		statuses(s.Task.Plan) != "done done" {
		t.Errorf("%+v %+v", s.Session, s.Task.Undone)
	}
	w.refuse = false
	b.do(&recovery.Undo{Step: "s1"})
	b.run(w.answer)
	if s := b.look(); s.Session.State != "BLOCKED" || s.Session.LastError != nil ||
		statuses(s.Task.Plan) != "skipped done" {
		t.Errorf("%+v %s", s.Session, statuses(s.Task.Plan))
	}
	if _, err := b.try(&recovery.Undo{Step: "s1"}); pawl.CodeOf(err) != pawl.CodeNotFound {
		t.Errorf("undone twice: %v", err)
	}
	b.do(&recovery.Redo{})
	b.run(w.answer)
	w.want(t, `redo s1 step="s1" t5<-t15 []`)
	if s := b.look(); statuses(s.Task.Plan) != "done done" || len(s.Task.Undone) > 0 {
		t.Errorf("%s", statuses(s.Task.Plan))
	}
	if _, err := b.try(&recovery.Redo{}); pawl.CodeOf(err) != pawl.CodeNotFound {
		t.Errorf("redone twice: %v", err)
	}
	b.do(&recovery.Undo{Step: "s2"})
	b.run(w.answer)
	calls := len(w.calls)
	w.failChecks = 0
	b.do(&recovery.Fix{Note: "without it"})
	b.run(w.answer)
	s, _ := b.k.TaskSnapshot(context.Background(), "T-001")
	if b.look().Session.State != "IDLE" || s.Task.State != "done" || len(w.calls) != calls ||
		statuses(s.Task.Plan) != "done skipped" {
		t.Errorf("session %s, task %s, %v", b.look().Session.State, s.Task.State, w.calls)
	}
	if _, err := b.try(&recovery.Undo{Step: "s1"}); pawl.CodeOf(err) != pawl.CodeInvalidTransition {
		t.Errorf("a step of a result that is one commit: %v", err)
	}
	b.verifyAudit()
}

func statuses(p *plan.Plan) string {
	var out []string
	for _, s := range p.Steps {
		out = append(out, string(s.Status))
	}
	return strings.Join(out, " ")
}

func TestUndoStepAfterARunInPlace(t *testing.T) {
	w := &tree{world: world{plan: twoSteps()}}
	b := w.bench(t)
	b.do(&planning.Start{Requirement: "do the work", Place: inPlace, RunMode: pawl.Assisted,
		AutoApprove: "policy:test"})
	b.run(w.answer)
	b.do(&recovery.Undo{Step: "s2"})
	b.run(w.answer)
	w.want(t, `undo s2 step="s2" <- [s1:t0-t1; s2:t1-t2]`)
	b.do(&recovery.Undo{})
	b.run(w.answer)
	w.want(t, `undo step="" t0<-t0 [s1:t0-t1; s2:t1-t2 undone; :t2-t12 undone]`)
	if _, err := b.try(&recovery.Undo{Step: "s1"}); pawl.CodeOf(err) != pawl.CodeNotFound {
		t.Errorf("a step of a run that is undone: %v", err)
	}
	b.do(&recovery.Redo{})
	b.run(w.answer)
	b.do(&recovery.Redo{})
	b.run(w.answer)
	w.want(t, `redo s2 step="s2" t2<-t12 []`)
	b.verifyAudit()
}

// The step whose call is in question is not undone before the question is answered.
func TestUndoStepThatIsInQuestion(t *testing.T) {
	w := &tree{world: world{plan: twoSteps()}}
	b, id := w.at(t, 1)
	b.do(&effects.Recover{Effect: id, Answer: effect.DoneUnknown, Tree: "left"})
	if _, err := b.try(&recovery.Undo{Step: "s2"}); pawl.CodeOf(err) != pawl.CodeBlocked {
		t.Errorf("%v", err)
	}
	b.do(&recovery.Undo{Step: "s1"})
	b.run(w.answer)
	b.do(&recovery.Fix{Answer: kernel.AnswerDone})
	b.run(w.answer)
	if got := b.look().Session.State; got != "IDLE" {
		t.Error(got)
	}
}
