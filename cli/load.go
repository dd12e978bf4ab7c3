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
	rows, err := d.Workspace.Kernel.Store().Load(ctx, kernel.Select{Kind: kernel.KindRun, Newest: true, Limit: 1, HotOnly: true})
	if err != nil || len(rows[0]) == 0 {
		return "", err
	}
	return rows[0][0].ID, nil
}

// Session reads the session, or fails where the workspace was never initialised.
func (d *Desk) Session(ctx context.Context) (*kernel.Session, error) {
	s := &kernel.Session{}
	ok, err := d.Load(ctx, kernel.Select{Kind: kernel.KindSession, Label: kernel.SessionLabel}, func(r kernel.Row) error { return kernel.Decode(r, s) })
	if err == nil && !ok {
		err = pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	return s, err
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
	if near := d.nearestTask(ctx, want); near != "" {
		return nil, pawl.Fail(pawl.CodeNotFound, "cli.task_unknown_near", given, near).In("cli.task")
	}
	return nil, pawl.Fail(pawl.CodeNotFound, "cli.task_unknown", given).In("cli.task")
}

// nearestTask returns the label or id among the newest tasks that is most like what was given.
func (d *Desk) nearestTask(ctx context.Context, given string) string {
	rows, err := d.Workspace.Kernel.Store().Load(ctx, kernel.Select{Kind: kernel.KindTask, Newest: true, Limit: 500, HotOnly: true})
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
