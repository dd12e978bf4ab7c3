package verification

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/text/plan"
	"pawl/text/policy"
)

// review has an agent look at work whose checks passed, in a session of its own, once for each tree. What it says
// proves nothing: the verdict on the proof counts, with and without it (docs/spec/turn.md#b17).
func review(tx *kernel.Tx) error {
	t, passed := tx.Task, tx.Task.Verified
	if n := len(t.Reviews); !tx.Config.Agents[tx.Run.Reviewer].Judges || t.Proof.Changed == 0 ||
		n > 0 && t.Reviews[n-1].Tree == passed.Tree ||
		len(tx.Run.Given) > 0 && asApproved(tx) { // a person wrote each call of it
		return settleProof(tx)
	}
	spec := effect.ReviewSpec{Agent: tx.Run.Reviewer, Requirement: tx.Run.Requirement, Answers: tx.Run.Answers,
		Lang: tx.Run.Lang, Criteria: t.Proof.Criteria, Base: startOf(t), Tree: passed.Tree}
	for _, o := range passed.Outcomes {
		o.Output = ""
		spec.Checks = append(spec.Checks, o)
	}
	// A reviewer that hangs must not take the time from the task that it only looks at.
	left := tx.Config.TaskTime - tx.Now.Sub(t.StartedAt) + t.Waited
	tx.Emit(effect.KindReview, spec, true).Effect.Timeout = max(min(tx.Config.TaskTime/4, left/2), time.Second)
	return nil
}

// startOf is the commit, or the tree, that the work started from.
func startOf(t *kernel.Task) string {
	if canLookBack(t) {
		return t.Base
	}
	return started(t)
}

// Reviewed takes what a reviewer says, and has the tests run with which it objects. A review that failed stops nothing.
func Reviewed(tx *kernel.Tx, r effect.Receipt) error {
	t := tx.Task
	v := effect.WorkReview{Said: effect.Said{Agent: tx.Run.Reviewer}, Tree: t.Verified.Tree, At: tx.Now}
	result, err := effect.Decode[effect.ReviewResult](r.Result)
	if !r.OK || err != nil {
		f := kernel.Info(kernel.FirstError(r.Err(), err))
		v.Fault = &f
	} else {
		v.Said = result.Said
	}
	tried := effect.ProveSpec{Base: v.Tree, Tree: v.Tree, PerCheck: tx.Config.PerCheck}
	for i, o := range result.Objections {
		o.ID, o.Ended = "o"+strconv.Itoa(i+1), ""
		v.Objections = append(v.Objections, o)
		if o.Test != nil && mayRun(tx, o.Test.Run) {
			tried.Objections = append(tried.Objections, o)
		}
	}
	t.Reviews = append(slices.Clip(t.Reviews), v)
	tx.Touch(t)
	if len(tried.Objections) == 0 {
		return reviewWeighed(tx)
	}
	for _, o := range t.Verified.Outcomes {
		if o.Status == effect.CheckPassed {
			tried.Checks = append(tried.Checks, o.Check)
		}
	}
	tx.Emit(effect.KindProve, tried, true)
	return nil
}

// mayRun reports whether a reviewer's command may be run without a word: nobody has seen it.
func mayRun(tx *kernel.Tx, command string) bool {
	if command == "" {
		return true
	}
	v, err := kernel.JudgeCall(tx, plan.ToolCallTemplate{Name: "run_terminal_cmd",
		ArgsHint: effect.Encode(map[string]string{"command": command})})
	return err == nil && v.Decision == policy.Allow
}

// objectionsTried notes how the tests of a reviewer ended. What could not be found out stays open.
func objectionsTried(tx *kernel.Tx, r effect.Receipt) error {
	t := tx.Task
	seen, _ := effect.Decode[effect.ProveResult](r.Result)
	t.Reviews = slices.Clone(t.Reviews)
	v := &t.Reviews[len(t.Reviews)-1]
	v.Objections = slices.Clone(v.Objections)
	for i := range v.Objections {
		for _, w := range seen.Witnesses {
			if o := &v.Objections[i]; w.Criterion == o.ID {
				o.Ended = w.Without
			}
		}
	}
	tx.Touch(t)
	return reviewWeighed(tx)
}

// reviewWeighed has work sent back once to which a reviewer objects with a witness. All else is only shown.
func reviewWeighed(tx *kernel.Tx) error {
	t := tx.Task
	t.Reviews = slices.Clone(t.Reviews)
	v := &t.Reviews[len(t.Reviews)-1]
	var grave []effect.Objection
	for _, o := range v.Objections {
		if o.Witness() {
			grave = append(grave, o)
		}
	}
	v.SentBack = len(grave) > 0 && !returned(t, aboutReview) && kernel.TraitsOf(tx).Works
	tx.Touch(t)
	tx.Record(t, kernel.AuditReviewResult, kernel.Level(v.Fault == nil && len(v.Objections) == 0), told(*v))
	if !v.SentBack {
		return settleProof(tx)
	}
	return sendBack(tx, kernel.ReviewObjects, effect.Failure{What: aboutReview, Key: "kernel.objected",
		Args: []string{v.Agent, objected(grave)}, Objections: grave})
}

// objected names objections in one line.
func objected(list []effect.Objection) string {
	var out []string
	for _, o := range list {
		at := o.ID
		switch {
		case o.File != "":
			at = o.File + ":" + strconv.Itoa(o.Line)
		case o.Test != nil:
			at = o.Test.Path
		}
		out = append(out, at)
	}
	return strings.Join(out, ", ")
}

// told is what the audit keeps of a review: everything but the text of tests.
func told(v effect.WorkReview) effect.WorkReview {
	v.Objections = slices.Clone(v.Objections)
	for i, o := range v.Objections {
		if o.Test != nil {
			v.Objections[i].Test = &effect.ReviewTest{Path: o.Test.Path, Run: o.Test.Run}
		}
	}
	return v
}
