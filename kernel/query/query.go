// Package query answers what the faces ask: the command line, the terminal screens, MCP and programs. Each question has
// a name and is answered with a value of package view; no face sees a row of the store. A question only reads: it
// changes nothing, takes no lock, and what it answers is what was committed when it was asked.
package query

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/view"
	"pawl/machine/session"
)

// Reader answers questions about one workspace. It keeps nothing, and is safe for concurrent use.
type Reader struct {
	store kernel.Store
	now   func() time.Time
}

// Kernel is what is asked about: a kernel, whose store is read and whose clock says what is due.
type Kernel interface {
	Store() kernel.Store
	Now() time.Time
}

// Of returns a reader of the workspace that a kernel is of.
func Of(k Kernel) Reader { return Reader{k.Store(), k.Now} }

// Board returns what answers questions about the issues of the workspace.
func (r Reader) Board() Board { return Board(r) }

// Log returns what answers questions about its audit log.
func (r Reader) Log() Log { return Log{r.store} }

// first reads the first row that a selection picks into a document; ok is false where there is none.
func first(ctx context.Context, store kernel.Store, sel kernel.Select, into kernel.Document) (ok bool, err error) {
	rows, err := store.Load(ctx, sel)
	if err != nil || len(rows[0]) == 0 {
		return false, err
	}
	return true, kernel.Decode(rows[0][0], into)
}

// Session tells where the session stands that bears a label: that of the person who sits in the workspace
// (kernel.SessionLabel), or that of an issue. Where there is none it fails with CodeNotFound.
func (r Reader) Session(ctx context.Context, label string) (view.Session, error) {
	s := new(kernel.Session)
	ok, err := first(ctx, r.store, kernel.Select{Kind: kernel.KindSession, Label: label}, s)
	switch {
	case err != nil:
		return view.Session{}, err
	case ok:
		return sessionOf(s), nil
	case label == kernel.SessionLabel:
		return view.Session{}, pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	return view.Session{}, pawl.Fail(pawl.CodeNotFound, "cli.issue_untouched", label).In("cli.issue")
}

func sessionOf(s *kernel.Session) view.Session {
	out := view.Session{ID: s.ID, State: session.State(s.State), Run: s.Run, Goal: s.Goal, Effect: s.Effect,
		Paused: s.Paused()}
	if s.Blocked != nil {
		out.Failure = &s.Blocked.Error
	}
	return out
}

// Home is where a store knows its workspace to be, which is asked before there is a kernel: the folder may have been
// moved since. It is "" before the workspace is initialised.
func Home(ctx context.Context, store kernel.Store) (string, error) {
	s := new(kernel.Session)
	if ok, err := first(ctx, store, kernel.Select{Kind: kernel.KindSession, Label: kernel.SessionLabel},
		s); err != nil || !ok {
		return "", err
	}
	return cmp.Or(s.Home, s.Place.Workspace), nil
}

// Working are the labels of the sessions whose work is under way, and with planned of those whose plan is.
func (r Reader) Working(ctx context.Context, planned bool) ([]string, error) {
	sel := kernel.Select{Kind: kernel.KindSession, States: []string{string(session.Executing), string(session.AutoFix)},
		HotOnly: true}
	if planned {
		sel.States = append(sel.States, string(session.Planning), string(session.Confirming))
	}
	var out []string
	for row, err := range r.store.Scan(ctx, sel) {
		if err != nil {
			return nil, err
		}
		out = append(out, row.Label)
	}
	return out, nil
}

// LastRun is the id of the run that a session is at, or of its newest one, "" where there was none.
func (r Reader) LastRun(ctx context.Context, s view.Session) (string, error) {
	if s.Run != "" {
		return s.Run, nil
	}
	rows, err := r.store.Load(ctx, kernel.Select{Kind: kernel.KindRun, Parent: s.ID, Newest: true, Limit: 1,
		HotOnly: true})
	if err != nil || len(rows[0]) == 0 {
		return "", err
	}
	return rows[0][0].ID, nil
}

// Page picks a part of a list, in the order in which its items were made unless Newest.
type Page struct {
	// States picks items in one of these states; none picks all. IDs, where there are any, picks the items that have
	// one of them, in their order and without any bound.
	States []string
	IDs    []string
	// Limit is how many there are at most, 0 for no limit; After is the cursor of an earlier page.
	Limit  int
	After  int64
	Newest bool
}

func (p Page) selection(kind kernel.Kind) kernel.Select {
	return kernel.Select{Kind: kind, States: p.States, Limit: p.Limit, After: p.After, Newest: p.Newest}
}

// Tasks streams tasks with the cursor behind each.
func (r Reader) Tasks(ctx context.Context, p Page) iter.Seq2[Item[view.TaskLine], error] {
	return scan(ctx, r.store, p.selection(kernel.KindTask), p.IDs,
		func(t *kernel.Task) (view.TaskLine, bool) { return LineOf(t), true })
}

// Item is one item of a list. Cursor is where a page goes on behind it (Page.After).
type Item[T any] struct {
	Value  T
	Cursor int64
}

// Collect takes the items of a list that was asked for with one more than limit, so that it is known whether there are
// further ones: next is the cursor where these begin, 0 for none. The slice is never nil.
func Collect[T any](limit int, list iter.Seq2[Item[T], error]) (out []T, next int64, err error) {
	out = []T{}
	for i, err := range list {
		switch {
		case err != nil:
			return nil, 0, err
		case len(out) == limit:
			return out, next, nil
		}
		out, next = append(out, i.Value), i.Cursor
	}
	return out, 0, nil
}

// picked streams the rows of a selection, or those of its kind that have one of the ids, where there are any.
func picked(ctx context.Context, store kernel.Store, sel kernel.Select, ids []string) iter.Seq2[kernel.Row, error] {
	if len(ids) == 0 {
		return store.Scan(ctx, sel)
	}
	return func(yield func(kernel.Row, error) bool) {
		for part := range slices.Chunk(ids, together) {
			asked := make([]kernel.Select, len(part))
			for n, id := range part {
				asked[n] = kernel.Select{Kind: sel.Kind, ID: id}
			}
			found, err := store.Load(ctx, asked...)
			if err != nil {
				yield(kernel.Row{}, err)
				return
			}
			for _, row := range slices.Concat(found...) {
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

// scan streams the rows of a selection as what show makes of them; those that it does not want are left out.
func scan[D, T any, P interface {
	*D
	kernel.Document
}](ctx context.Context, store kernel.Store, sel kernel.Select, ids []string,
	show func(P) (T, bool)) iter.Seq2[Item[T], error] {
	return func(yield func(Item[T], error) bool) {
		for row, err := range picked(ctx, store, sel, ids) {
			doc := P(new(D))
			if err == nil {
				err = kernel.Decode(row, doc)
			}
			if err != nil {
				yield(Item[T]{}, err)
				return
			}
			if v, ok := show(doc); ok && !yield(Item[T]{v, row.Pos}, nil) {
				return
			}
		}
	}
}

// Question reads a question of an agent by its label. Where there is none it fails with CodeNotFound.
func (r Reader) Question(ctx context.Context, label string) (view.Asked, error) {
	q := new(kernel.Question)
	ok, err := first(ctx, r.store, kernel.Select{Kind: kernel.KindQuestion, Label: label}, q)
	if err == nil && !ok {
		err = pawl.Fail(pawl.CodeNotFound, "mcp.no_question", label)
	}
	if err != nil {
		return view.Asked{}, err
	}
	return view.Asked{ID: q.Label, Text: q.Text, State: q.State, Open: q.State == kernel.QuestionOpen, Answer: q.Answer,
		By: q.AnsweredBy}, nil
}

// Packages are the solution packages that wait to be carried out, by their names.
func (r Reader) Packages(ctx context.Context) (map[string]view.Package, error) {
	out := map[string]view.Package{}
	for row, err := range r.store.Scan(ctx,
		kernel.Select{Kind: kernel.KindSolution, States: []string{kernel.SolutionDraft}}) {
		s := new(kernel.Solution)
		if err == nil {
			err = kernel.Decode(row, s)
		}
		if err != nil {
			return nil, err
		}
		if s.Package != "" {
			out[s.Package] = s.Draft()
		}
	}
	return out, nil
}

// PackageUsed reports whether a package of the name is at work, or was carried out and is pawl's own: what lies in
// plan/ by that name is then not to be carried out.
func (r Reader) PackageUsed(ctx context.Context, name string) (bool, error) {
	alias, s := new(kernel.Alias), new(kernel.Solution)
	ok, err := first(ctx, r.store, kernel.Select{Kind: kernel.KindAlias, Label: kernel.PackageAlias + name}, alias)
	if err == nil && ok {
		ok, err = first(ctx, r.store, kernel.Select{Kind: kernel.KindSolution, ID: alias.Parent}, s)
	}
	return ok && !(s.Theirs && s.Over()), err
}

// nearest returns the label, or for something that is as long as an id the id, among the newest of a kind that is most
// like what was given, "" where none is.
func nearest(ctx context.Context, store kernel.Store, kind kernel.Kind, given string) string {
	rows, err := store.Load(ctx, kernel.Select{Kind: kind, Newest: true, Limit: 500, HotOnly: true})
	if err != nil {
		return ""
	}
	var names []string
	for _, row := range rows[0] {
		if len(given) >= 20 {
			names = append(names, row.ID)
		} else {
			names = append(names, row.Label)
		}
	}
	return pawl.Suggest(given, names)
}

// Step says how far the plan of a task is, with step the id of the step at work, or nil where there is no such plan.
func (r Reader) Step(ctx context.Context, task, step string) (*view.Step, error) {
	t := new(kernel.Task)
	if ok, err := first(ctx, r.store, kernel.Select{Kind: kernel.KindTask, ID: task}, t); err != nil || !ok {
		return nil, err
	}
	return view.StepOf(t.Plan, step), nil
}

// NoTask is the error for a task that is not there, which was given by a name and has a label: it was retired, or there
// is one that is most like it.
func (r Reader) NoTask(ctx context.Context, given, label string) error {
	if r.Log().Retired(ctx, label) {
		return notFound("see.retired", label)
	}
	if near := nearest(ctx, r.store, kernel.KindTask, label); near != "" {
		return notFound("cli.task_unknown_near", given, near)
	}
	return notFound("cli.task_unknown", given)
}
