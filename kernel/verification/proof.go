package verification

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/turn"
	"pawl/text/criteria"
	"pawl/text/plan"
	"pawl/text/policy"
)

// prove goes on after checks that passed: with what shows that the work did what was wanted, where that has not been
// tried on this tree (docs/spec/turn.md#b16).
func prove(tx *kernel.Tx) error {
	t := tx.Task
	switch {
	case !tx.Config.Proofs:
		return passedUnlessTouched(tx)
	case t.Proof.Settled(t.Verified.Tree):
		return review(tx)
	}
	wanted, _ := criteriaOf(t)
	spec := effect.ProveSpec{Base: startOf(t), Tree: t.Verified.Tree, PerCheck: tx.Config.PerCheck,
		Budget: tx.Config.ProofTime, Goal: t.Plan.Goal + "\n" + tx.Run.Requirement}
	for _, c := range slices.Concat(wanted, artifacts(t.Plan)) {
		if c.Proof != plan.ProofPerson && c.Proof != plan.ProofReview {
			spec.Criteria = append(spec.Criteria, c)
		}
	}
	for _, o := range t.Verified.Outcomes {
		if o.Status != effect.CheckPassed {
			continue
		}
		spec.Checks = append(spec.Checks, o.Check)
		switch o.Before {
		case effect.CheckPassed:
			spec.Green = append(spec.Green, effect.CheckKey(o.Check))
		case effect.CheckFailed:
			if spec.Red == nil {
				spec.Red = map[string]effect.Without{}
			}
			spec.Red[effect.CheckKey(o.Check)] = effect.WithoutUnmet
		}
	}
	tx.Emit(effect.KindProve, spec, true)
	return nil
}

// criteriaOf are the criteria of a task. Where its plan names none, the words of its goal have to do.
func criteriaOf(t *kernel.Task) (list []plan.Criterion, derived bool) {
	if len(t.Plan.Criteria) > 0 {
		return t.Plan.Criteria, false
	}
	return criteria.Of(t.Plan.Goal), true
}

// artifacts are the files that the steps of a plan were to make, as criteria of their own.
func artifacts(p *plan.Plan) []plan.Criterion {
	var out []plan.Criterion
	for _, s := range p.Steps {
		for _, a := range s.ExpectedArtifacts {
			if a.Type == plan.ArtifactFile && s.Status == plan.Done {
				out = append(out, plan.Criterion{ID: artifactID(s.StepID, a.Value), Text: s.Title,
					Proof: plan.ProofDiff, Paths: []string{a.Value}})
			}
		}
	}
	return out
}

func artifactID(step, path string) string { return step + ":" + path }

// ProofSeen judges what was seen with and without the work.
func ProofSeen(tx *kernel.Tx, r effect.Receipt) error {
	t := tx.Task
	if spec, err := effect.Decode[effect.ProveSpec](tx.Effect.Effect.Spec); err == nil && len(spec.Objections) > 0 {
		return objectionsTried(tx, r)
	}
	if !r.OK && kernel.Environmental(r.Code) {
		return kernel.Block(tx, kernel.BlockedEnvironment, "", r.Err())
	}
	seen, err := effect.Decode[effect.ProveResult](r.Result)
	if err != nil {
		seen = effect.ProveResult{} // nothing was seen, which proves nothing
	}
	seen.Tree = t.Verified.Tree
	p := weigh(tx, seen)
	t.Proof = &p
	tx.Touch(t)
	tx.Record(t, kernel.AuditProofResult, kernel.Level(p.Verdict != effect.Unproven), proofSummary(p, seen.DurationMS))
	if why := shortfall(&p); p.Mendable() && !returned(t, aboutProof) && kernel.TraitsOf(tx).Works {
		return sendBack(tx, kernel.ProofMissing, effect.Failure{What: aboutProof, Key: "kernel.unproven",
			Args: []string{why}, Unproven: p.Open()})
	}
	return review(tx)
}

// sendBack has work done anew whose checks passed, by an agent that can do something about it.
func sendBack(tx *kernel.Tx, what kernel.Event, f effect.Failure) error {
	kernel.FixHeld(tx) // whatever was repaired before passes now
	if err := tx.Apply(what, f.Args[0]); err != nil {
		return err
	}
	f.Class, f.Code, f.Tree = pawl.ClassBuildFail, pawl.CodeChecksFailed, tx.Task.Verified.Tree
	return kernel.FailWork(tx, f)
}

// settleProof goes on with the verdict on the work. What nothing shows a person decides; where nobody attends, the work
// is BLOCKED.
func settleProof(tx *kernel.Tx) error {
	t, why := tx.Task, shortfall(tx.Task.Proof)
	switch {
	case t.Proof.Verdict != effect.Unproven:
		return passedUnlessTouched(tx)
	case tx.Session.RunMode == pawl.Autonomous:
		tx.Record(t, kernel.AuditAutonomousBlocked, audit.Warn, map[string]any{"checkpoint": "unproven", "why": why})
		return kernel.Block(tx, kernel.BlockedUnproven, "", pawl.Fail(pawl.CodeBlocked, "kernel.unproven", why))
	}
	tx.Turn.Return = string(turn.Verifying)
	tx.Touch(tx.Turn)
	kernel.AskFor(tx, kernel.AboutProof, t.ID, proofHash(t), policy.SingleAction, why)
	return tx.Apply(kernel.ProofAsks, why)
}

// What failures are about by which work was sent back: nothing shows it, or a reviewer objects to it.
const (
	aboutProof  = "proof"
	aboutReview = "review"
)

// returned reports whether the work was sent back about something since a person last helped with words.
func returned(t *kernel.Task, about string) bool {
	since := t.Failures[min(t.Help.Failures, len(t.Failures)):]
	return slices.ContainsFunc(since, func(f effect.Failure) bool { return f.What == about })
}

// proofHash is what a person's acceptance is bound to: the plan, the tree, and what of it is not shown.
func proofHash(t *kernel.Task) string {
	h := sha256.New()
	h.Write([]byte("pawl proof 1\n" + t.PlanHash + "\n" + t.Proof.Tree + "\n"))
	for _, c := range t.Proof.Criteria {
		h.Write([]byte(c.ID + "\x00" + string(c.Verdict) + "\x00" + string(c.Why) + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// ProofAccepted goes on with work that a person takes without proof, on a reason.
func ProofAccepted(tx *kernel.Tx, a *kernel.Approval) error {
	if strings.TrimSpace(a.Note) == "" {
		return pawl.Fail(pawl.CodeInvalid, "kernel.accept_reason", kernel.Short(tx.Task.Proof.Tree))
	}
	accepted(tx, a.Note)
	tx.Session.Approval = ""
	if err := tx.Apply(kernel.ProofAccepted, "accepted by "+string(tx.Env.Actor)+": "+a.Note); err != nil {
		return err
	}
	tx.Turn.Return = ""
	return passedUnlessTouched(tx)
}

// accepted notes who takes the work, and why. With it the person takes what the work changed of what it is judged by,
// which was shown with the question and belongs to the tree: that is not asked about again.
func accepted(tx *kernel.Tx, reason string) {
	t := tx.Task
	p := *t.Proof
	p.Verdict, p.By, p.Reason, p.At = effect.Accepted, tx.Env.Actor, reason, tx.Now
	t.Proof = &p
	record := map[string]any{"by": p.By, "reason": reason, "tree": p.Tree, "unproven": shortfall(&p)}
	if files, hash := kernel.Touched(t, t.Verified); len(files) > 0 {
		t.Accepted, record["checks_changed"] = hash, files
	}
	tx.Touch(t)
	tx.Record(t, kernel.AuditProofAccepted, audit.Warn, record)
}

// ProofRefused has the work done anew that a person does not take.
func ProofRefused(tx *kernel.Tx, a *kernel.Approval, reason string) error {
	tx.Session.Approval, tx.Task.Verified = "", nil
	if err := tx.Apply(kernel.ProofRefused, reason); err != nil {
		return err
	}
	tx.Turn.Return = ""
	return kernel.FailWork(tx, effect.Failure{
		What: aboutProof, Class: pawl.ClassPolicyDenied, Code: pawl.CodeUserDenied,
		Key: "kernel.proof_refused", Args: []string{a.Detail}, Output: reason,
	})
}

// Decide takes work without proof: while that is asked, and where a run that nobody attended is BLOCKED for it.
func (c *Accept) Decide(tx *kernel.Tx) error {
	t := tx.Task
	if t == nil || t.Proof == nil || t.Proof.Verdict != effect.Unproven || tx.Session == nil {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_accept", kernel.StateName(&tx.Snapshot))
	}
	if c.Tree != t.Proof.Tree && (len(c.Tree) < minTree || !strings.HasPrefix(t.Proof.Tree, c.Tree)) {
		return pawl.Fail(pawl.CodeApprovalStale, "kernel.accept_stale", c.Tree, kernel.Short(t.Proof.Tree))
	}
	if strings.TrimSpace(c.Reason) == "" {
		return pawl.Fail(pawl.CodeInvalid, "kernel.accept_reason", kernel.Short(t.Proof.Tree))
	}
	if err := kernel.PersonsWord(tx, t, kernel.AboutProof, t.Proof.Tree, "accept", c.Reason); err != nil {
		return err
	}
	if a := tx.Approval; a != nil && a.State == kernel.ApprovalPending && a.About == kernel.AboutProof {
		a.Way = c.Way
		kernel.AnswerApproval(tx, a, kernel.ApprovalGranted, tx.Env.Actor, c.Reason)
		return ProofAccepted(tx, a)
	}
	b, err := kernel.BlockedTask(tx, "accept")
	if err != nil {
		return err
	}
	if b.Kind != kernel.BlockedUnproven {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_accept", kernel.StateName(&tx.Snapshot))
	}
	accepted(tx, c.Reason)
	tx.Session.Blocked = nil
	return kernel.Unblock(tx, c.Reason)
}

// minTree is as much of a tree's id as has to be given.
const minTree = 8

// proofLine says in one line what became of what was wanted, and on whose word.
func proofLine(p *effect.Proof) string {
	switch p.Verdict {
	case effect.Accepted:
		return "accepted without proof by " + p.By.Label() + ": " + kernel.FirstLine(p.Reason)
	case effect.AlreadySo:
		return "already so"
	}
	return string(p.Verdict)
}

// proofSummary is what the audit keeps of a proof: everything but what was printed.
func proofSummary(p effect.Proof, took int64) map[string]any {
	criteria := make([]map[string]any, 0, len(p.Criteria))
	for _, c := range p.Criteria {
		line := map[string]any{"id": c.ID, "text": c.Text, "proof": c.Proof, "verdict": c.Verdict, "why": c.Why}
		if len(c.Shown) > 0 {
			line["shown"] = c.Shown
		}
		criteria = append(criteria, line)
	}
	out := map[string]any{"verdict": p.Verdict, "tree": p.Tree, "criteria": criteria, "derived": p.Derived,
		"changed": p.Changed, "duration_ms": took}
	if len(p.Unnoticed) > 0 {
		names := make([]string, len(p.Unnoticed))
		for i, part := range p.Unnoticed {
			names[i] = part.String()
		}
		out["unnoticed"] = names
	}
	return out
}
