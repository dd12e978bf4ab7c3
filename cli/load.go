package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"pawl"
	"pawl/kernel"
)

// Load reads one row and hands it to into; ok is false when there is none.
func (d *Desk) Load(ctx context.Context, sel kernel.Select, into func(kernel.Row) error) (ok bool, err error) {
	if sel.ID == "" && sel.Label == "" {
		return false, nil
	}
	rows, err := d.Workspace.Kernel.Store().Load(ctx, sel)
	if err != nil || len(rows[0]) == 0 {
		return false, err
	}
	return true, into(rows[0][0])
}

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
	if err != nil || s.Run != "" {
		return s.Run, err
	}
	rows, err := d.Workspace.Kernel.Store().Load(ctx, kernel.Select{Kind: kernel.KindRun, Parent: s.ID, Newest: true, Limit: 1, HotOnly: true})
	if err != nil || len(rows[0]) == 0 {
		return "", err
	}
	return rows[0][0].ID, nil
}

// Session reads the session, or fails where the workspace was never initialised.
func (d *Desk) Session(ctx context.Context) (*kernel.Session, error) {
	s := &kernel.Session{}
	label := kernel.SessionLabel
	if d.issue != nil {
		label = d.issue.Label
	}
	ok, err := d.Load(ctx, kernel.Select{Kind: kernel.KindSession, Label: label}, func(r kernel.Row) error { return kernel.Decode(r, s) })
	switch {
	case err != nil || ok:
	case d.issue != nil:
		err = pawl.Fail(pawl.CodeNotFound, "cli.issue_untouched", label).In("cli.issue")
	default:
		err = pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	return s, err
}

// Enter has the commands that follow speak of an issue's session.
func (d *Desk) Enter(i *kernel.Issue) {
	d.issue, d.Workspace.Kernel = i, d.Workspace.Kernel.Lane(i.Label)
}

// FindIssue finds an issue of the board by its label in any case, its number, its ULID, or the id under which another system
// knows it. An unknown one is a not_found error that names the nearest.
func (d *Desk) FindIssue(ctx context.Context, given string) (*kernel.Issue, error) {
	name := strings.TrimSpace(given)
	if name == "" {
		return nil, Usage("cli.issue_unnamed")
	}
	upper := strings.ToUpper(name)
	sel := []kernel.Select{
		{Kind: kernel.KindIssue, Label: name}, {Kind: kernel.KindIssue, Label: upper}, {Kind: kernel.KindIssue, Label: "ISS-" + name},
		{Kind: kernel.KindIssue, ID: upper}, {Kind: kernel.KindAlias, Label: name},
	}
	rows, err := d.Workspace.Kernel.Store().Load(ctx, sel...)
	if err != nil {
		return nil, err
	}
	if len(rows[4]) > 0 {
		found, err := d.Workspace.Kernel.Store().Load(ctx, kernel.Select{Kind: kernel.KindIssue, ID: rows[4][0].Parent})
		if err != nil {
			return nil, err
		}
		rows[4] = found[0]
	}
	for _, found := range rows {
		if len(found) == 0 {
			continue
		}
		i := new(kernel.Issue)
		if err := kernel.Decode(found[0], i); err != nil {
			return nil, err
		}
		if i.Number > 0 { // the others belong to runs that somebody asked for by themselves
			return i, nil
		}
	}
	if near := d.nearest(ctx, kernel.KindIssue, upper); near != "" {
		return nil, pawl.Fail(pawl.CodeNotFound, "cli.issue_unknown_near", given, near).In("cli.issue")
	}
	return nil, pawl.Fail(pawl.CodeNotFound, "cli.issue_unknown", given).In("cli.issue")
}

// task finds a task by its ULID or its label; T-1, t-001 and 1 mean T-001. An unknown one is a not_found error that names
// the nearest.
func (d *Desk) task(ctx context.Context, given string) (*kernel.Snapshot, error) {
	want := strings.ToUpper(strings.TrimSpace(given))
	if n, err := strconv.Atoi(strings.TrimPrefix(want, "T-")); err == nil && n > 0 {
		want = fmt.Sprintf("T-%03d", n)
	}
	s, err := d.Workspace.Kernel.LookAt(ctx, want)
	if pawl.CodeOf(err) != pawl.CodeNotFound {
		return s, err
	}
	if near := d.nearest(ctx, kernel.KindTask, want); near != "" {
		return nil, pawl.Fail(pawl.CodeNotFound, "cli.task_unknown_near", given, near).In("cli.task")
	}
	return nil, pawl.Fail(pawl.CodeNotFound, "cli.task_unknown", given).In("cli.task")
}

// nearest returns the label or id among the newest rows of a kind that is most like what was given.
func (d *Desk) nearest(ctx context.Context, kind kernel.Kind, given string) string {
	rows, err := d.Workspace.Kernel.Store().Load(ctx, kernel.Select{Kind: kind, Newest: true, Limit: 500, HotOnly: true})
	if err != nil {
		return ""
	}
	var names []string
	for _, r := range rows[0] {
		if len(given) >= 20 {
			names = append(names, r.ID)
		} else {
			names = append(names, r.Label)
		}
	}
	return pawl.Nearest(given, names)
}

// PlanFile reads a plan file and checks it as `pawl run` does. It returns the file as it is and its goal.
func (a *App) PlanFile(name string) (data []byte, goal string, err error) {
	f, err := a.readPlan(name)
	return f.data, f.Goal, err
}

// Put puts the open question of an issue before the person at the terminal, without going on with the work. Open is false where
// there is none. It fails with approval_needed where nobody can be asked, after it has shown the question and how to answer it.
func (d *Desk) Put(ctx context.Context, i *kernel.Issue) (open bool, err error) {
	at, ws := *d, *d.Workspace
	at.Workspace, at.rep = &ws, nil
	at.Enter(i)
	at.rep = newReporter(&at)
	s, err := ws.Kernel.Look(ctx)
	if err != nil || s.Session == nil || s.Approval == nil || s.Approval.State != kernel.ApprovalPending {
		return false, err
	}
	_, err = (&Drive{Desk: &at, ask: d.Present()}).approval(ctx, s)
	return true, err
}

// Screen is the width to which lists are cut, 0 where the output is no terminal.
func (a *terminal) Screen() int { return a.screen() }
