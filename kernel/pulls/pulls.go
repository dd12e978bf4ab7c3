// Package pulls makes pull requests of what runs have landed: a branch that is pushed, the pull request, what pawl says
// of its commit, and one comment. Each is an effect, and each asks first whether it was done already, so that there is
// never a second one of any of them. What goes wrong there changes nothing about the work, which is proven and kept.
package pulls

import (
	"slices"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/machine/session"
	"pawl/text/plan"
)

// What the audit log is told of pull requests.
const (
	auditRequested = kernel.AuditPullAs + "REQUESTED"
	auditFailed    = kernel.AuditPullAs + "FAILED"
	auditWritten   = kernel.AuditPullAs + "WRITTEN"
	auditSeen      = kernel.AuditPullAs + "SEEN"
)

// Decide asks for the pull request of a run that is over.
func (c *Propose) Decide(tx *kernel.Tx) error {
	s, r, t := tx.Session, tx.Run, tx.Task
	switch {
	case s == nil:
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	case s.State != string(session.Idle) || s.Effect != "":
		return pawl.Fail(pawl.CodeBusy, "kernel.session_active", s.State, s.Goal)
	case r == nil || t == nil:
		return pawl.Fail(pawl.CodeNotFound, "pull.no_run")
	case r.Undone:
		return pawl.Fail(pawl.CodeInvalidTransition, "pull.undone", r.Label)
	case r.Land == nil || r.Land.Commit == "":
		return pawl.Fail(pawl.CodeInvalidTransition, "pull.no_commit", r.Label)
	case tx.Config.Profile.NoNetwork:
		return pawl.Fail(pawl.CodeDenied, "pull.no_network")
	}
	tx.Result = ""
	if p := r.Pull; p != nil && p.Fault == nil && p.Tree == r.Land.Tree {
		kernel.Discard(tx)
		return nil
	}
	tx.Task = nil // its work is over: the effects are the session's
	share(tx, t)
	tx.Result = s.Effect
	return nil
}

// Share begins the pull request of the task at work, whose result is kept on a branch of its own.
func Share(tx *kernel.Tx) error {
	share(tx, tx.Task)
	return nil
}

func share(tx *kernel.Tx, t *kernel.Task) {
	r := tx.Run
	p := effect.Pull{}
	if r.Pull != nil {
		p = *r.Pull
	}
	p.Head, p.Commit, p.Tree, p.Fault = headOf(t), r.Land.Commit, r.Land.Tree, nil
	r.Pull = &p
	tx.Touch(r)
	tx.Record(r, auditRequested, audit.Info, map[string]any{"commit": p.Commit, "head": p.Head})
	spec := effect.PushSpec{Target: p.Target, Commit: p.Commit, Head: p.Head}
	if p.Head != t.Branch {
		spec.Branch = t.Branch
	}
	tx.Emit(effect.KindPush, spec, true)
}

// headOf is the branch that is pushed: a task's own, or the one of the pull request that the task answers comments of.
func headOf(t *kernel.Task) string {
	if effect.OfPull(t.Branch) {
		return t.Branch
	}
	return "pawl/" + t.Label
}

// marker names the pull request of a run, and with what what pawl wrote about it.
func marker(r *kernel.Run, what string) string { return "pawl:" + r.ID + ":" + what }

// came takes the receipt of one of the effects, and reports whether what it was for is there. Where it is not, the pull
// request says why and nothing else is asked for. In both cases the next effect is the session's where the work is
// over.
func came[T any](tx *kernel.Tx, r effect.Receipt) (result T, task *kernel.Task, ok bool, err error) {
	task = tx.Task
	if tx.Effect.Effect.Task == "" {
		tx.Task = nil
	}
	if tx.Run == nil || tx.Run.Pull == nil {
		return result, task, false, pawl.Fail(pawl.CodeInternal, "pull.no_run")
	}
	result, malformed := effect.Decode[T](r.Result)
	if !r.OK || malformed != nil {
		fault := kernel.Info(kernel.FirstError(r.Err(), malformed))
		change(tx, func(p *effect.Pull) { p.Fault = &fault })
		tx.Record(tx.Run, auditFailed, audit.Warn, map[string]any{"effect": tx.Effect.What(), "error": fault})
		over(tx)
		return result, task, false, nil
	}
	return result, task, true, nil
}

// over lets a task that is at work go on with its end.
func over(tx *kernel.Tx) {
	if tx.Task != nil {
		tx.Emit(effect.KindCleanup, effect.CleanupSpec{}, true)
	}
}

// change replaces the pull request of the run.
func change(tx *kernel.Tx, how func(p *effect.Pull)) effect.Pull {
	p := *tx.Run.Pull
	how(&p)
	tx.Run.Pull = &p
	tx.Touch(tx.Run)
	return p
}

// Pushed asks for the pull request of a branch that is there.
func Pushed(tx *kernel.Tx, r effect.Receipt) error {
	where, t, ok, err := came[effect.PushResult](tx, r)
	if !ok {
		return err
	}
	p := change(tx, func(p *effect.Pull) {
		p.Target = where.Target
		if where.Base != "" {
			p.Base = where.Base
		}
	})
	said := words(tx.Run, t)
	tx.Emit(effect.KindPull, effect.PullSpec{Target: p.Target, Head: p.Head, Base: p.Base, Title: said.Title,
		Body: said.Body(), Marker: marker(tx.Run, "pull")}, true)
	return nil
}

// Opened asks for what pawl says of the commit.
func Opened(tx *kernel.Tx, r effect.Receipt) error {
	made, t, ok, err := came[effect.PullResult](tx, r)
	if !ok {
		return err
	}
	p := change(tx, func(p *effect.Pull) {
		p.Number, p.URL, p.State, p.Base, p.Foreign = made.Number, made.URL, made.State, made.Base, made.Foreign
	})
	said := words(tx.Run, t)
	tx.Emit(effect.KindStatus, effect.StatusSpec{Target: p.Target, Commit: p.Commit, OK: said.OK(),
		Title: said.Line(), Text: said.Body(), URL: p.URL, Marker: marker(tx.Run, "check")}, true)
	return nil
}

// Reported asks for the comment that holds what proves the task's records.
func Reported(tx *kernel.Tx, r effect.Receipt) error {
	_, t, ok, err := came[effect.Posted](tx, r)
	if !ok {
		return err
	}
	p := tx.Run.Pull
	tx.Emit(effect.KindComment, effect.CommentSpec{Target: p.Target, Number: p.Number, Text: words(tx.Run, t).Note(),
		Marker: "pawl:proof", Task: t.ID}, true)
	return nil
}

// Commented ends the making of a pull request.
func Commented(tx *kernel.Tx, r effect.Receipt) error {
	if _, _, ok, err := came[effect.Posted](tx, r); !ok {
		return err
	}
	p := tx.Run.Pull
	tx.Record(tx.Run, auditWritten, audit.Info, map[string]any{"number": p.Number, "url": p.URL,
		"commit": p.Commit, "tree": p.Tree})
	over(tx)
	return nil
}

// words is what is said of a run.
func words(r *kernel.Run, t *kernel.Task) view.Pull {
	p := view.Pull{Run: r.Label, Task: t.Label, Title: kernel.FirstLine(t.Title), Requirement: r.Requirement,
		Lang: r.Lang, Proof: view.ProofOf(t.Proof), Spent: r.Usage, Land: *r.Land, Base: t.Base}
	if t.Verified != nil {
		p.Environment = t.Verified.EnvDigest
	}
	if t.Gate != nil {
		p.Checks = t.Gate.Outcomes
	} else if t.Verified != nil {
		p.Checks = t.Verified.Outcomes
	}
	if t.Plan != nil {
		p.Risk = t.Plan.RiskLevel
		for _, s := range t.Plan.Steps {
			if s.Status == plan.Done {
				p.Steps = append(p.Steps, s.Title)
			}
		}
	}
	return p
}

// Decide keeps what became of a pull request elsewhere.
func (c *Note) Decide(tx *kernel.Tx) error {
	switch {
	case tx.Session == nil:
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	case tx.Run == nil || tx.Run.ID != c.Run:
		return pawl.Fail(pawl.CodeBusy, "kernel.session_active", tx.Session.State, tx.Session.Goal)
	case tx.Run.Pull == nil:
		return pawl.Fail(pawl.CodeNotFound, "pull.no_run")
	}
	p := *tx.Run.Pull
	fresh := func(id string) bool { return !slices.Contains(p.Seen, id) }
	if c.State == p.State && !slices.ContainsFunc(c.Seen, fresh) {
		kernel.Discard(tx)
		return nil
	}
	p.State, p.Seen = c.State, slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(p.Seen), c.Seen...))))
	tx.Run.Pull = &p
	tx.Touch(tx.Run)
	tx.Record(tx.Run, auditSeen, audit.Info, map[string]any{"number": p.Number, "state": p.State,
		"comments": len(c.Seen)})
	return nil
}
