package steps

import (
	"slices"
	"strings"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/turn"
	"pawl/text/plan"
	"pawl/text/policy"
)

// dispute takes the word of the agent at work that a test of the plan is wrong. Whoever planned is asked for the test
// once more, once for each task; whatever comes of it, the agent goes on and is told (docs/spec/turn.md#b18).
func dispute(tx *kernel.Tx, result effect.WorkResult) error {
	t, d := tx.Task, effect.Disputed{Agent: tx.Talk.Agent, At: tx.Now}
	if result.Dispute != nil {
		d.Dispute = *result.Dispute
	}
	c, test, found := testOf(t.Plan, d.Path)
	switch {
	case !found:
		goOnWith(tx, "No test of the plan that you were shown is named "+d.Path+".")
		return nil
	case strings.TrimSpace(d.Reason) == "":
		goOnWith(tx, "A dispute of "+d.Path+" needs a reason.")
		return nil
	case len(t.Disputed) > 0:
		goOnWith(tx, "A test was disputed already, which is possible once. "+d.Path+" stays as it is.")
		return nil
	}
	d.Criterion, d.Was = c.ID, test.Content
	t.Disputed = append(slices.Clip(t.Disputed), d)
	tx.Touch(t)
	tx.Record(t, kernel.AuditTestDisputed, audit.Warn, map[string]any{"path": d.Path, "criterion": d.Criterion,
		"reason": d.Reason, "agent": d.Agent})
	if !kernel.PlannerTraits(tx).Judges {
		goOnWith(tx, "Nobody can look at "+d.Path+" once more. It stays as it is.")
		return nil
	}
	shown := plan.Plan{Criteria: []plan.Criterion{c}}.Withheld()
	tx.Emit(effect.KindRewrite, effect.RewriteSpec{Agent: tx.Run.Plans(), Requirement: tx.Run.Requirement,
		Answers: tx.Run.Answers, Lang: tx.Run.Lang, Criterion: shown.Criteria[0], Test: test, Reason: d.Reason}, true)
	return nil
}

// testOf finds a test of a plan that is shown to whoever works, with the criterion that it belongs to.
func testOf(p *plan.Plan, path string) (plan.Criterion, plan.TestFile, bool) {
	for _, c := range p.Criteria {
		for _, f := range c.Files {
			if f.Path == path && !f.Held {
				return c, f, true
			}
		}
	}
	return plan.Criterion{}, plan.TestFile{}, false
}

// goOnWith has the agent at work go on, and tells it something.
func goOnWith(tx *kernel.Tx, note string) {
	tx.Talk.Notes = append(slices.Clip(tx.Talk.Notes), note)
	tx.Touch(tx.Talk)
	tx.Then(kernel.ThenAdvance)
}

// TestRewritten takes what whoever planned says of a disputed test. Another text makes another plan, with a hash of its
// own, which a person approves. Where nobody attends, it counts at once, and what it shows is not proven.
func TestRewritten(tx *kernel.Tx, r effect.Receipt) error {
	t := tx.Task
	d := lastDisputed(t)
	result, err := effect.Decode[effect.RewriteResult](r.Result)
	if !r.OK {
		result, err = effect.RewriteResult{}, r.Err()
	}
	if err == nil {
		d.Answer = &result
	}
	if result.Content != "" {
		err = writable(tx, *d)
	}
	if err != nil {
		f := kernel.Info(err)
		d.Fault = &f
	}
	tx.Touch(t)
	if err != nil || result.Content == "" {
		recordDisputed(tx)
		goOnWith(tx, "Whoever wrote "+d.Path+" was asked. It stays as it is. "+result.Why)
		return nil
	}
	hash := plan.Hash(plan.Planned(rewritten(*t.Plan, *d)))
	kernel.AskFor(tx, kernel.AboutTest, t.ID, hash, policy.SingleAction, d.Path)
	if tx.Session.RunMode == pawl.Autonomous {
		by := pawl.By(pawl.KindPolicy, "run_mode/autonomous")
		kernel.AnswerApproval(tx, tx.Approval, kernel.ApprovalGranted, by, "")
		take(tx, tx.Approval, by)
		tx.Then(kernel.ThenAdvance)
		return nil
	}
	tx.Turn.Return = string(turn.Executing)
	tx.Touch(tx.Turn)
	return tx.Apply(kernel.TestAsks, d.Path)
}

// lastDisputed is the dispute at hand, which may be changed.
func lastDisputed(t *kernel.Task) *effect.Disputed {
	t.Disputed = slices.Clone(t.Disputed)
	return &t.Disputed[len(t.Disputed)-1]
}

// recordDisputed records what became of the dispute at hand: everything but the texts, which stand with the task.
func recordDisputed(tx *kernel.Tx) {
	d := tx.Task.Disputed[len(tx.Task.Disputed)-1]
	record := map[string]any{"path": d.Path, "criterion": d.Criterion, "taken": d.Taken}
	if d.By != "" {
		record["by"], record["hash"] = d.By, tx.Task.PlanHash
	}
	if d.Answer != nil {
		record["agent"], record["why"] = d.Answer.Agent, d.Answer.Why
	}
	if d.Fault != nil {
		record["error"] = d.Fault
	}
	tx.Record(tx.Task, kernel.AuditTestRewritten, kernel.Level(d.Fault == nil), record)
}

// rewritten is a plan with the other text of a disputed test.
func rewritten(p plan.Plan, d effect.Disputed) plan.Plan {
	p = p.Clone()
	for _, c := range p.Criteria {
		for i := range c.Files {
			if c.Files[i].Path == d.Path {
				c.Files[i].Content = d.Answer.Content
			}
		}
	}
	return p
}

// writable reports why a plan with the other text of a test may not be.
func writable(tx *kernel.Tx, d effect.Disputed) error {
	p := rewritten(*tx.Task.Plan, d)
	if err := plan.Check(p, tx.Config.Schema, tx.Config.Plan); err != nil {
		return err
	}
	_, err := kernel.JudgeCall(tx, plan.TestFile{Path: d.Path, Content: d.Answer.Content}.Write())
	return err
}

// take has the other text of the disputed test count, on somebody's word: the plan has another hash, and the file is
// written before the work goes on.
func take(tx *kernel.Tx, a *kernel.Approval, by pawl.Actor) {
	t := tx.Task
	d := lastDisputed(t)
	d.Taken, d.By = true, by
	p := rewritten(*t.Plan, *d)
	t.Plan, t.PlanHash, t.Approval = &p, a.Hash, a.ID
	if s := tx.Solution; s != nil {
		s.Plan, s.Hash = rewritten(s.Plan, *d), a.Hash
		tx.Touch(s)
	}
	tx.Session.Approval = ""
	t.Ready.Tests = slices.IndexFunc(p.TestFiles(), func(f plan.TestFile) bool { return f.Path == d.Path })
	t.Ready.Placed = false // to write what was approved restores nothing
	tx.Touch(t)
	recordDisputed(tx)
	goOnWith(tx, "Whoever wrote "+d.Path+" wrote it anew, and that counts now. "+d.Answer.Why)
}

// TestTaken goes on with the other text of a disputed test, which a person approved.
func TestTaken(tx *kernel.Tx, a *kernel.Approval) error {
	take(tx, a, tx.Env.Actor)
	return testAnswered(tx, kernel.TestTaken)
}

// TestKept goes on with the test as it was approved with the plan.
func TestKept(tx *kernel.Tx, _ *kernel.Approval, reason string) error {
	d := lastDisputed(tx.Task)
	d.By = tx.Env.Actor
	tx.Touch(tx.Task)
	recordDisputed(tx)
	goOnWith(tx, strings.TrimSpace("The person was asked about "+d.Path+". It stays as it is. "+reason))
	return testAnswered(tx, kernel.TestKept)
}

// testAnswered goes on with the step in which a test was disputed.
func testAnswered(tx *kernel.Tx, what kernel.Event) error {
	tx.Session.Approval = ""
	if err := tx.Apply(what, "on the word of "+string(tx.Env.Actor)); err != nil {
		return err
	}
	tx.Turn.Return = ""
	return nil
}
