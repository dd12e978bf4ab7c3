package cli

import (
	"context"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/query"
	"pawl/view"
)

// Ask asks about the workspace.
func (d *Desk) Ask() query.Reader { return query.Of(d.Workspace.Kernel) }

// lookRun reads a run with all that belongs to it: the one that the session is at, or the newest one that ended. The
// snapshot has no run when the id names neither.
func (d *Desk) lookRun(ctx context.Context, id string) (*kernel.Snapshot, error) {
	s, err := d.Workspace.Kernel.Look(ctx)
	if err != nil || id == "" || s.Run != nil && s.Run.ID == id && s.Session.Run == id {
		return s, err
	}
	last, err := d.Workspace.Kernel.LookLast(ctx)
	if err != nil {
		return nil, err
	}
	if last.Run != nil && last.Run.ID != id {
		last.Run = nil
	}
	return last, nil
}

// lastRun is the id of the run that the session is at, or of the newest one, "" when there was none.
func (d *Desk) lastRun(ctx context.Context) (string, error) {
	s, err := d.Session(ctx)
	if err != nil {
		return "", err
	}
	return d.Ask().LastRun(ctx, s)
}

// Label is that of the session that the command speaks of.
func (d *Desk) Label() string {
	if d.issue != nil {
		return d.issue.Label
	}
	return kernel.SessionLabel
}

// Session tells where that session stands, or fails where there is none.
func (d *Desk) Session(ctx context.Context) (view.Session, error) {
	return d.Ask().Session(ctx, d.Label())
}

// Enter has the commands that follow speak of an issue's session.
func (d *Desk) Enter(i *view.Issue) {
	d.issue, d.voice.issue, d.Workspace.Kernel = i, i.Label, d.Workspace.Kernel.Lane(i.Label)
}

// task finds a task by its ULID or its label; T-1, t-001 and 1 mean T-001. An unknown one is a not_found error that names
// the nearest.
func (d *Desk) task(ctx context.Context, given string) (*kernel.Snapshot, error) {
	want := query.TaskLabel(given)
	s, err := d.Workspace.Kernel.LookAt(ctx, want)
	if pawl.CodeOf(err) != pawl.CodeNotFound {
		return s, err
	}
	if near := d.Ask().NearestTask(ctx, want); near != "" {
		return nil, pawl.Fail(pawl.CodeNotFound, "cli.task_unknown_near", given, near).In("cli.task")
	}
	return nil, pawl.Fail(pawl.CodeNotFound, "cli.task_unknown", given).In("cli.task")
}

// PlanFile reads a plan file and checks it as `pawl run` does. It returns the file as it is and its goal.
func (a *App) PlanFile(name string) (data []byte, goal string, err error) {
	f, err := a.readPlan(name)
	return f.data, f.Goal, err
}

// within has f speak of an issue's session.
func (d *Desk) within(i *view.Issue, f func(*Desk) error) error {
	defer func(before string) { d.voice.issue = before }(d.voice.issue)
	at, ws := *d, *d.Workspace
	at.Workspace, at.rep = &ws, nil
	at.Enter(i)
	return f(&at)
}

// Put puts the open question of an issue before the person at the terminal, without going on with the work. Open is false where
// there is none. It fails with approval_needed where nobody can be asked, after it has shown the question and how to answer it.
func Put(ctx context.Context, d *Desk, i *view.Issue) (open bool, err error) {
	err = d.within(i, func(at *Desk) error {
		at.rep = newReporter(at)
		s, err := at.Workspace.Kernel.Look(ctx)
		if err != nil || s.Session == nil || s.Approval == nil || s.Approval.State != kernel.ApprovalPending {
			return err
		}
		open = true
		_, err = (&Drive{desk: at, ask: d.Present()}).approval(ctx, s)
		return err
	})
	return open, err
}

// Refuse shows the open question of an issue and denies it once the person has said so. Open is false where there is none.
func Refuse(ctx context.Context, d *Desk, i *view.Issue) (open bool, err error) {
	err = d.within(i, func(at *Desk) error {
		s, err := at.Workspace.Kernel.Look(ctx)
		if err != nil || s.Session == nil || s.Approval == nil || s.Approval.State != kernel.ApprovalPending {
			return err
		}
		open = true
		showApproval(ctx, at, s, s.Plan(), false)
		ok, err := at.Confirm(ctx, at.Text("cli.ask.deny", i.Label))
		if err != nil || !ok {
			return err
		}
		_, err = at.Do(ctx, &kernel.Deny{})
		return err
	})
	return open, err
}

// Screen is the width to which lists are cut, 0 where the output is no terminal.
func (a *terminal) Screen() int { return a.screen() }
