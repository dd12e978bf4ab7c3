package query

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/notices"
	"pawl/machine/board"
	"pawl/machine/task"
)

// Keep says how much of the history of a workspace is kept.
type Keep struct {
	// Ended is the instant before which something must have ended for any of it to go.
	Ended time.Time
	// Since has what is older go, unless it is the zero time.
	Since time.Time
	// Bytes has the oldest go when the records take more, until they take less; 0 for no limit.
	Bytes int64
}

// History is what may be retired of the history of a workspace: what runs left in its store.
type History struct {
	kernel.Retirement
	// Records and Bytes are how many records of the audit log may go, and their size; Begin is when the first was
	// written that stays.
	Records, Bytes int64
	Begin          time.Time
	// Held is the label of what has not ended, or is still needed, and keeps the records behind its first; "" where
	// none is as old.
	Held string
	// More says that there is more than is retired at once.
	More bool
}

// atOnce is how many records are retired at once at most, so that nobody waits long behind it.
const atOnce = 50_000

// Old finds what may be retired: the records of the log up to the first that is to be kept or is about what has not
// ended, and the rows of the runs and tasks that no other record is about. The log begins there afterwards.
func Old(ctx context.Context, of Kernel, keep Keep) (History, error) {
	o := older{store: of.Store(), before: keep.Ended, bound: math.MaxInt64}
	if err := o.find(ctx); err != nil {
		return History{}, err
	}
	var h History
	err := o.store.Log(ctx, func(l audit.Log) error { return o.advance(l, keep, &h) })
	if err != nil || h.Records == 0 {
		return History{Held: h.Held}, err
	}
	gone := map[audit.Subject]bool{}
	for _, root := range o.roots {
		if err := o.below(ctx, root, &h, gone); err != nil {
			return History{}, err
		}
	}
	if len(h.Rows) == 0 && !h.More {
		return History{Held: h.Held}, nil
	}
	h.Front = h.Front.Without(func(s audit.Subject) bool { return gone[s] })
	return h, nil
}

// Retired reports whether a label is that of a run or a task which was there and is there no more: numbers are given in
// order, and what has one stays until it is retired.
func (l Log) Retired(ctx context.Context, label string) bool {
	s := new(kernel.Session)
	person := kernel.Select{Kind: kernel.KindSession, Label: kernel.SessionLabel}
	if ok, err := first(ctx, l.store, person, s); err != nil || !ok {
		return false
	}
	of, number, _ := strings.Cut(label, "-")
	n, err := strconv.ParseInt(number, 10, 64)
	given := map[string]int64{"RUN": s.Runs, "T": s.Tasks}[of]
	if err != nil || n < 1 || n > given {
		return false
	}
	rows, err := l.store.Load(ctx, kernel.Select{Kind: kernel.KindRun, Label: label, HotOnly: true},
		kernel.Select{Kind: kernel.KindTask, Label: label, HotOnly: true})
	return err == nil && len(rows[0])+len(rows[1]) == 0
}

// older looks for what ended before an instant.
type older struct {
	store  kernel.Store
	before time.Time
	// roots are the rows that may go with all that is below them. Bound is the place in the log of the first record of
	// the oldest that may not, which is called held.
	roots []kernel.Row
	bound int64
	held  string
}

// advance finds how far the log may be retired.
func (o *older) advance(l audit.Log, keep Keep, h *History) (err error) {
	all, err := sizeOf(l, keep.Bytes)
	if err != nil {
		return err
	}
	enough := all // what the records may take, once some of them have to go
	if all > keep.Bytes && keep.Bytes > 0 {
		enough = keep.Bytes / 4 * 3
	}
	first := int64(-1)
	records := l.Records
	l.Records = func(yield func(audit.Stored, error) bool) {
		for rec, err := range records {
			h.Bytes += int64(len(rec.Bytes))
			if !yield(rec, err) {
				h.Bytes -= int64(len(rec.Bytes)) // that of the first that stays
				return
			}
		}
	}
	last := int64(0)
	h.Front, err = l.Advance(func(index int64, at time.Time) bool {
		if first < 0 {
			first = index
		}
		last, h.Begin, h.More = index, at, index-first >= atOnce
		switch {
		case h.More || !at.Before(keep.Ended):
			return true
		case !at.Before(keep.Since) && all-h.Bytes < enough:
			return true
		case index >= o.bound:
			h.Held = o.held
			return true
		}
		return false
	})
	h.Records = h.Front.Size - max(first, 0)
	if h.Front.Size > last { // nothing stays, which is never so where something was ever done
		h.Records = 0
	}
	return err
}

// sizeOf is how many bytes the records of a log take, 0 where there is no limit.
func sizeOf(l audit.Log, limit int64) (all int64, err error) {
	if limit == 0 {
		return 0, nil
	}
	for rec, err := range l.Records {
		if err != nil {
			return 0, err
		}
		all += int64(len(rec.Bytes))
	}
	return all, nil
}

// find looks through the sessions, their runs, and the tasks outside of runs.
func (o *older) find(ctx context.Context) error {
	sessions, err := rowsOf[kernel.Session](ctx, o.store, kernel.Select{Kind: kernel.KindSession})
	if err != nil {
		return err
	}
	for _, s := range sessions {
		over, err := o.issueOver(ctx, s)
		if err != nil {
			return err
		}
		if err := o.session(ctx, s, over); err != nil {
			return err
		}
	}
	tasks, err := rowsOf[kernel.Task](ctx, o.store, kernel.Select{Kind: kernel.KindTask})
	if err != nil {
		return err
	}
	var stays *kernel.Row
	for _, t := range tasks {
		switch {
		case t.Session != "":
		case slices.Contains([]task.State{task.Done, task.Failed, task.Canceled}, task.State(t.State)) &&
			t.UpdatedAt.Before(o.before):
			o.roots = append(o.roots, t.Row)
		case stays == nil:
			stays = &t.Row
		}
	}
	return o.keep(ctx, stays)
}

// rowsOf reads the documents of a selection.
func rowsOf[T any, P interface {
	*T
	kernel.Document
}](ctx context.Context, store kernel.Store, sel kernel.Select) (out []P, err error) {
	for row, err := range store.Scan(ctx, sel) {
		if err != nil {
			return nil, err
		}
		doc := P(new(T))
		if err := kernel.Decode(row, doc); err != nil {
			return nil, err
		}
		out = append(out, doc)
	}
	return out, nil
}

// issueOver reports whether a session is that of an issue which is completed.
func (o *older) issueOver(ctx context.Context, s *kernel.Session) (bool, error) {
	if s.Number == 0 || s.Run != "" || !s.UpdatedAt.Before(o.before) {
		return false, nil
	}
	rows, err := o.store.Load(ctx, kernel.Select{Kind: kernel.KindIssue, Label: s.Label, HotOnly: true})
	return err == nil && len(rows[0]) > 0 && rows[0][0].State == string(board.IssueCompleted), err
}

// session looks through what is below a session. That of an issue which is over goes as a whole.
func (o *older) session(ctx context.Context, s *kernel.Session, over bool) error {
	runs, err := rowsOf[kernel.Run](ctx, o.store, kernel.Select{Kind: kernel.KindRun, Parent: s.ID})
	if err != nil {
		return err
	}
	var stays *kernel.Row
	for _, r := range runs {
		ended := r.Outcome != "" && r.EndedAt.Before(o.before) && r.UpdatedAt.Before(o.before)
		switch needed := !over && slices.Contains([]string{s.Run, s.LastRun, s.RolledBackRun}, r.ID); {
		case ended && !needed:
			o.roots = append(o.roots, r.Row)
		case stays == nil:
			stays = &r.Row
		}
	}
	if stays == nil && over {
		o.roots = append(slices.DeleteFunc(o.roots, func(r kernel.Row) bool { return r.Parent == s.ID }), s.Row)
		return nil
	}
	for _, kind := range []kernel.Kind{kernel.KindEffect, kernel.KindCheckpoint, kernel.KindQuestion,
		kernel.KindNotice} {
		rows, err := o.store.Load(ctx, kernel.Select{Kind: kind, Parent: s.ID, HotOnly: true})
		if err != nil {
			return err
		}
		for _, row := range rows[0] {
			if row.UpdatedAt.Before(o.before) && !slices.Contains([]string{kernel.EffectPending, kernel.EffectRunning,
				kernel.EffectUnknown, kernel.QuestionOpen, notices.Told, notices.Withdrawing}, row.State) &&
				row.ID != s.Effect && row.Label != s.LastCheckpoint && (row.Label == "" || row.Label != s.LastPoint) {
				o.roots = append(o.roots, row)
			}
		}
	}
	return o.keep(ctx, stays)
}

// keep has the log begin at the latest with the first record about a row.
func (o *older) keep(ctx context.Context, row *kernel.Row) error {
	if row == nil {
		return nil
	}
	about := audit.Subject{Kind: string(row.Kind), ID: row.ID}
	for rec, err := range o.store.Records(ctx, about.String(), 0) {
		if err == nil && rec.Index < o.bound {
			o.bound, o.held = rec.Index, row.Label
		}
		return err
	}
	return nil
}

// below adds a row with all that is below it, if every record about them is among those that go.
func (o *older) below(ctx context.Context, root kernel.Row, h *History, gone map[audit.Subject]bool) error {
	rows := []kernel.Row{root}
	for n := 0; n < len(rows); n++ {
		r := rows[n]
		if r.AuditSeq != h.Front.Tails[audit.Subject{Kind: string(r.Kind), ID: r.ID}].Seq {
			return nil
		}
		found, err := o.store.Load(ctx, kernel.Select{Parent: r.ID, HotOnly: true})
		if err != nil {
			return err
		}
		rows = append(rows, found[0]...)
	}
	for _, r := range rows {
		h.Rows = append(h.Rows, kernel.Read{Kind: r.Kind, ID: r.ID, Version: r.Version})
		gone[audit.Subject{Kind: string(r.Kind), ID: r.ID}] = true
	}
	return nil
}
