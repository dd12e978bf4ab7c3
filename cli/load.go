package cli

import (
	"context"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/query"
	"pawl/view"
)

// Ask asks about the workspace.
func (sess *Session) Ask() query.Reader { return query.Of(sess.Workspace.Kernel) }

// lookRun reads a run with all that belongs to it: the one that the session is at, or the newest one that ended. The
// snapshot has no run when the id names neither.
func lookRun(ctx context.Context, sess *Session, id string) (*kernel.Snapshot, error) {
	s, err := sess.Workspace.Kernel.Look(ctx)
	if err != nil || id == "" || s.Run != nil && s.Run.ID == id && s.Session.Run == id {
		return s, err
	}
	last, err := sess.Workspace.Kernel.LookLast(ctx)
	if err != nil {
		return nil, err
	}
	if last.Run != nil && last.Run.ID != id {
		last.Run = nil
	}
	return last, nil
}

// lastRun is the id of the run that the session is at, or of the newest one, "" when there was none.
func lastRun(ctx context.Context, sess *Session) (string, error) {
	s, err := sess.View(ctx)
	if err != nil {
		return "", err
	}
	return sess.Ask().LastRun(ctx, s)
}

// Label is that of the session that the command speaks of.
func (sess *Session) Label() string {
	if sess.issue != nil {
		return sess.issue.Label
	}
	return kernel.SessionLabel
}

// Session tells where that session stands, or fails where there is none.
func (sess *Session) View(ctx context.Context) (view.Session, error) {
	return sess.Ask().Session(ctx, sess.Label())
}

// Enter has the commands that follow speak of an issue's session.
func (sess *Session) Enter(i *view.Issue) {
	sess.issue, sess.Printer.issue, sess.Workspace.Kernel = i, i.Label, sess.Workspace.Kernel.Lane(i.Label)
}

// findTask finds a task by its ULID or its label; T-1, t-001 and 1 mean T-001. An unknown one is a not_found error that names
// the nearest.
func findTask(ctx context.Context, sess *Session, given string) (*kernel.Snapshot, error) {
	want := query.TaskLabel(given)
	s, err := sess.Workspace.Kernel.LookAt(ctx, want)
	if pawl.CodeOf(err) != pawl.CodeNotFound {
		return s, err
	}
	if near := sess.Ask().NearestTask(ctx, want); near != "" {
		return nil, pawl.Fail(pawl.CodeNotFound, "cli.task_unknown_near", given, near).In("cli.task")
	}
	return nil, pawl.Fail(pawl.CodeNotFound, "cli.task_unknown", given).In("cli.task")
}

// PlanFile reads a plan file and checks it as `pawl run` does. It returns the file as it is and its goal.
func PlanFile(a *App, name string) (data []byte, goal string, err error) {
	f, err := readPlan(a, name)
	return f.data, f.Goal, err
}

// inIssue has f speak of an issue's session.
func inIssue(sess *Session, i *view.Issue, f func(*Session) error) error {
	defer func(before string) { sess.Printer.issue = before }(sess.Printer.issue)
	at, ws := *sess, *sess.Workspace
	at.Workspace, at.rep = &ws, nil
	at.Enter(i)
	return f(&at)
}

// Put puts the open question of an issue before the person at the terminal, without going on with the work. Open is false where
// there is none. It fails with approval_needed where nobody can be asked, after it has shown the question and how to answer it.
func Put(ctx context.Context, sess *Session, i *view.Issue) (open bool, err error) {
	err = inIssue(sess, i, func(at *Session) error {
		at.rep = newReporter(at)
		s, err := at.Workspace.Kernel.Look(ctx)
		if err != nil || s.Session == nil || s.Approval == nil || s.Approval.State != kernel.ApprovalPending {
			return err
		}
		open = true
		_, err = (&Drive{sess: at, ask: sess.Present()}).approval(ctx, s)
		return err
	})
	return open, err
}

// Refuse shows the open question of an issue and denies it once the person has said so. Open is false where there is none.
func Refuse(ctx context.Context, sess *Session, i *view.Issue) (open bool, err error) {
	err = inIssue(sess, i, func(at *Session) error {
		s, err := at.Workspace.Kernel.Look(ctx)
		if err != nil || s.Session == nil || s.Approval == nil || s.Approval.State != kernel.ApprovalPending {
			return err
		}
		open = true
		showApproval(ctx, at, s, s.Plan(), false)
		ok, err := Confirm(ctx, at.Printer, at.Text("cli.ask.deny", i.Label))
		if err != nil || !ok {
			return err
		}
		_, err = at.Do(ctx, &kernel.Deny{})
		return err
	})
	return open, err
}
