package query

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/issues"
	"pawl/kernel/view"
	"pawl/machine/board"
)

// maxWaits is how many of the issues that one still waits for are looked at in a list of many.
const maxWaits = 8

// maxNeeded is how many of the issues that wait for one are named.
const maxNeeded = 50

// together is how many issues are looked at together, for one question about what they wait for.
const together = 100

// Issue finds an issue of the board by its label in any case, its number, its ULID, or the id under which another
// system knows it. An unknown one is a not_found error that names the nearest.
func (b Board) Issue(ctx context.Context, name string) (*view.Issue, error) {
	i, err := b.find(ctx, name)
	if err != nil {
		return nil, err
	}
	near, err := b.around(ctx, []*kernel.Issue{i}, true)
	if err != nil {
		return nil, err
	}
	return near.show(i), nil
}

func (b Board) find(ctx context.Context, given string) (*kernel.Issue, error) {
	name := strings.TrimSpace(given)
	if name == "" {
		return nil, pawl.Fail(pawl.CodeUsage, "cli.issue_unnamed").In("cli.args")
	}
	upper := strings.ToUpper(name)
	rows, err := b.store.Load(ctx,
		kernel.Select{Kind: kernel.KindIssue, Label: name}, kernel.Select{Kind: kernel.KindIssue, Label: upper},
		kernel.Select{Kind: kernel.KindIssue, Label: "ISS-" + name}, kernel.Select{Kind: kernel.KindIssue, ID: upper},
		kernel.Select{Kind: kernel.KindAlias, Label: name})
	if err != nil {
		return nil, err
	}
	if alias := rows[4]; len(alias) > 0 {
		found, err := b.store.Load(ctx, kernel.Select{Kind: kernel.KindIssue, ID: alias[0].Parent})
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
	if near := nearest(ctx, b.store, kernel.KindIssue, upper); near != "" {
		return nil, pawl.Fail(pawl.CodeNotFound, "cli.issue_unknown_near", given, near).In("cli.issue")
	}
	return nil, pawl.Fail(pawl.CodeNotFound, "cli.issue_unknown", given).In("cli.issue")
}

// ByID reads issues in the order of their ids. Those that there are not, and those of runs by themselves, are left out.
func (b Board) ByID(ctx context.Context, ids []string) ([]*view.Issue, error) {
	page, err := b.decoded(ctx, ids)
	if err != nil {
		return nil, err
	}
	near, err := b.around(ctx, page, true)
	if err != nil {
		return nil, err
	}
	var out []*view.Issue
	for _, i := range page {
		out = append(out, near.show(i))
	}
	return out, nil
}

func (b Board) decoded(ctx context.Context, ids []string) ([]*kernel.Issue, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	sel := make([]kernel.Select, len(ids))
	for n, id := range ids {
		sel[n] = kernel.Select{Kind: kernel.KindIssue, ID: id}
	}
	rows, err := b.store.Load(ctx, sel...)
	if err != nil {
		return nil, err
	}
	var out []*kernel.Issue
	for _, found := range rows {
		for _, row := range found {
			i := new(kernel.Issue)
			if err := kernel.Decode(row, i); err != nil {
				return nil, err
			}
			if i.Number > 0 {
				out = append(out, i)
			}
		}
	}
	return out, nil
}

// Filter says which issues of the board are listed.
type Filter struct {
	// States picks issues in one of these states; none picks all. Tags picks those that bear all of them, and Search
	// those whose label, title, description, tags or external id hold each of its words, in any case.
	// IDs, where there are any, picks those that have one of them, in their order.
	States []string
	IDs    []string
	Tags   []string
	Search string
	// ByRank lists them in the order in which they would be claimed, instead of that of their registration; Newest
	// lists the newest first.
	ByRank bool
	Newest bool
	// After goes on behind an issue of an earlier page (view.Issue.Pos); it is not for lists by rank.
	After int64
	// Limit bounds how many issues are listed, 0 for no bound.
	Limit int
	// Looked bounds how many rows are looked at, 0 for no bound.
	Looked int
	// Every names all dependencies, instead of the first few that an issue still waits for.
	Every bool
}

// Fits reports whether an issue bears the tags and holds the words.
func (f *Filter) fits(i *kernel.Issue) bool {
	for _, t := range f.Tags {
		if !slices.Contains(i.Tags, t) {
			return false
		}
	}
	if f.Search == "" {
		return true
	}
	text := strings.ToLower(i.Label + " " + i.Title + " " + i.Context + " " + strings.Join(i.Tags, " ") + " " +
		i.External)
	for _, word := range strings.Fields(strings.ToLower(f.Search)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// Issues streams the issues of the board that a filter picks. What they wait for is looked at for a hundred of them at
// a time.
func (b Board) Issues(ctx context.Context, f Filter) iter.Seq2[*view.Issue, error] {
	return func(yield func(*view.Issue, error) bool) {
		var page []*kernel.Issue
		n := 0
		flush := func() bool {
			near, err := b.around(ctx, page, f.Every)
			if err != nil {
				yield(nil, err)
				return false
			}
			for _, i := range page {
				if !yield(near.show(i), nil) {
					return false
				}
			}
			page = page[:0]
			return true
		}
		for row, err := range picked(ctx, b.store, kernel.Select{Kind: kernel.KindIssue, States: f.States,
			ByRank: f.ByRank, Newest: f.Newest, After: f.After, Limit: f.Looked}, f.IDs) {
			i := new(kernel.Issue)
			if err == nil {
				err = kernel.Decode(row, i)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if i.Number == 0 || !f.fits(i) {
				continue
			}
			page, n = append(page, i), n+1
			if n == f.Limit {
				break
			}
			if len(page) == together && !flush() {
				return
			}
		}
		flush()
	}
}

// Asking are the issues that wait for a person, at most most of them.
func (b Board) Asking(ctx context.Context, most int) ([]*view.Issue, error) {
	states := []string{string(board.IssuePlanning), string(board.IssuePlanned), string(board.IssueExecuting)}
	var out []*view.Issue
	for i, err := range b.Issues(ctx, Filter{States: states}) {
		if err != nil {
			return nil, err
		}
		if i.Standing != view.StandingAsks {
			continue
		}
		if out = append(out, i); len(out) >= most {
			break
		}
	}
	return out, nil
}

// Fitting counts the issues that a filter picks. What they wait for is not looked at.
func (b Board) Fitting(ctx context.Context, f Filter) (n int, err error) {
	for row, err := range b.store.Scan(ctx, kernel.Select{Kind: kernel.KindIssue, States: f.States, ByRank: f.ByRank,
		Limit: f.Looked}) {
		i := new(kernel.Issue)
		if err == nil {
			err = kernel.Decode(row, i)
		}
		if err != nil {
			return n, err
		}
		if i.Number > 0 && f.fits(i) {
			n++
		}
	}
	return n, nil
}

// Newest streams the issues of the board, the newest first, of so many rows that are looked at. What they wait for is
// not looked at.
func (b Board) Newest(ctx context.Context, looked int) iter.Seq2[Item[*view.Issue], error] {
	none := near{now: b.now()}
	sel := kernel.Select{Kind: kernel.KindIssue, Newest: true, Limit: looked}
	return scan(ctx, b.store, sel, nil, func(i *kernel.Issue) (*view.Issue, bool) { return none.show(i), i.Number > 0 })
}

// Row reads one issue by its label or its ULID, that of a run by itself included; ok is false where there is none.
func (b Board) Row(ctx context.Context, name string) (i *view.Issue, ok bool, err error) {
	sel := kernel.Select{Kind: kernel.KindIssue, Label: name}
	if _, err := pawl.ParseID(name); err == nil {
		sel = kernel.Select{Kind: kernel.KindIssue, ID: name}
	}
	row := new(kernel.Issue)
	if ok, err = first(ctx, b.store, sel, row); err != nil || !ok {
		return nil, ok, err
	}
	return near{now: b.now()}.show(row), true, nil
}

// near is what is known of the issues that others depend on, and the time by which it is judged what is due.
type near struct {
	at  map[string]view.Dependency
	now time.Time
}

// around reads what issues depend on: what they still wait for, or all of it. Only the hot halves of rows are read.
func (b Board) around(ctx context.Context, page []*kernel.Issue, every bool) (near, error) {
	out := near{map[string]view.Dependency{}, b.now()}
	var sel []kernel.Select
	seen := map[string]bool{}
	for _, i := range page {
		ids := i.Open[:min(len(i.Open), maxWaits)]
		if every {
			ids = i.DependsOn
		}
		for _, id := range ids {
			if !seen[id] {
				seen[id] = true
				sel = append(sel, kernel.Select{Kind: kernel.KindIssue, ID: id, HotOnly: true})
			}
		}
	}
	if len(sel) == 0 {
		return out, nil
	}
	rows, err := b.store.Load(ctx, sel...)
	for _, found := range rows {
		for _, row := range found {
			out.at[row.ID] = view.Dependency{ID: row.ID, Label: row.Label, Status: board.IssueStatus(row.State)}
		}
	}
	return out, err
}

// known are those of some issues that were looked at.
func (n near) known(ids []string) []view.Dependency {
	var out []view.Dependency
	for _, id := range ids {
		if d, ok := n.at[id]; ok {
			out = append(out, d)
		}
	}
	return out
}

func (n near) show(i *kernel.Issue) *view.Issue {
	out := &view.Issue{
		IssueLine: view.IssueLine{
			ID: i.ID, Label: i.Label, Title: i.Title, Status: board.IssueStatus(i.State), Standing: n.standing(i),
			Priority: i.Priority,
			Tags:     append([]string{}, i.Tags...), After: []string{}, Open: len(i.Open), External: i.External,
			Owner:   i.Lease.Owner,
			Retries: i.Retries, Branch: i.Branch, Landed: i.Landed, CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt,
		},
		Context: i.Context, URL: i.URL, Agent: i.Agent, PlanFile: i.GivenName, Files: i.Files, Feedback: i.Feedback,
		Failure:      i.Error,
		Dependencies: n.known(i.DependsOn), Waits: n.known(i.Open),
		PlannedAt: i.PlannedAt, ExecutedAt: i.ExecutedAt, Conflicts: i.Conflicts, Failures: i.Failures,
		LeaseUntil: i.Lease.Expires, Held: i.Hold == board.HoldPaused,
		Pos: i.Pos, Version: i.Version,
		Parent: i.Parent, SolutionID: i.Solution, Plans: i.Solutions, Bound: i.Bound,
		Winding: i.Work == board.WorkDraining, Rank: i.Rank, NotBefore: i.NotBefore, Height: i.Height,
		Batch: i.Batch, Touches: i.Changes(), MicroUSD: i.Cost, Digest: i.Digest,
	}
	if out.Priority == 0 {
		out.Priority = board.UsualPriority
	}
	for _, id := range i.DependsOn {
		if d, ok := n.at[id]; ok {
			id = d.Label
		}
		out.After = append(out.After, id)
	}
	if i.Solution != "" {
		out.Solution = fmt.Sprintf("SOL-%s-%d", i.Label, i.Solutions)
	}
	if i.Item != "" {
		out.Item = fmt.Sprintf("S-%d", i.Number)
	}
	return out
}

// standing computes the standing of an issue (docs/spec/board.md#standing): what its status alone does not say.
func (n near) standing(i *kernel.Issue) view.Standing {
	if state := board.IssueStatus(i.State); state == board.IssueCompleted || state == board.IssueFailed {
		return view.StandingNone
	}
	switch {
	case i.Lease.Owner != "" && !lost(i.Lease, n.now):
		return view.StandingWorking
	case i.Work == board.WorkWaiting && i.Hold != board.HoldPaused:
		return view.StandingAsks // also if its worker is lost: no other one can go on
	case i.Lease.Owner != "":
		return view.StandingLost
	case i.Hold == board.HoldPaused:
		return view.StandingPaused
	}
	for _, on := range n.known(i.Open) {
		if on.Status == board.IssueFailed {
			return view.StandingBlocked
		}
	}
	switch {
	case len(i.Open) > 0:
		return view.StandingWaits
	case i.NotBefore.After(n.now):
		return view.StandingLater
	}
	return view.StandingReady
}

// Detail reads what belongs to an issue: its plans, what it waits for and what waits for it, and its session.
func (b Board) Detail(ctx context.Context, i *view.Issue) (*view.IssueDetail, error) {
	out := &view.IssueDetail{Issue: *i, Solutions: []view.IssueSolution{}}
	for _, on := range i.Waits {
		out.Blocking = append(out.Blocking, on.Label)
	}
	rows, err := b.store.Load(ctx, kernel.Select{Kind: kernel.KindSolution, Parent: i.ID},
		kernel.Select{Kind: kernel.KindLink, Parent: i.ID, Limit: maxNeeded},
		kernel.Select{Kind: kernel.KindSession, Label: i.Label})
	if err != nil {
		return nil, err
	}
	for _, row := range rows[0] {
		s := new(kernel.Solution)
		if err := kernel.Decode(row, s); err != nil {
			return nil, err
		}
		out.Solutions = append(out.Solutions, view.IssueSolution{
			ID: s.Label, Hash: s.Hash, Goal: s.Plan.Goal, Steps: len(s.Plan.Steps), Risk: s.Risk, Agent: s.Agent,
			Bound: s.Bound && s.ID == i.SolutionID,
		})
	}
	waiting, err := b.linked(ctx, rows[1])
	if err != nil {
		return nil, err
	}
	for _, w := range waiting {
		out.Needed = append(out.Needed, w.Label)
	}
	for _, row := range rows[2] {
		s := new(kernel.Session)
		if err := kernel.Decode(row, s); err != nil {
			return nil, err
		}
		if out.Session = row.State; s.Blocked != nil {
			out.Failure = &s.Blocked.Error
		}
	}
	return out, nil
}

// behind names the issues that stand still behind one: those that depend on it, have not ended, and are not held back.
func (b Board) behind(ctx context.Context, id string) (labels []string, err error) {
	rows, err := b.store.Load(ctx, kernel.Select{Kind: kernel.KindLink, Parent: id, Limit: maxNeeded})
	if err != nil {
		return nil, err
	}
	waiting, err := b.linked(ctx, rows[0])
	for _, i := range waiting {
		state := board.IssueStatus(i.State)
		if state != board.IssueCompleted && state != board.IssueFailed && i.Hold != board.HoldPaused {
			labels = append(labels, i.Label)
		}
	}
	return labels, err
}

// linked reads the issues that wait for one, by the links that lead to them.
func (b Board) linked(ctx context.Context, links []kernel.Row) ([]*kernel.Issue, error) {
	var ids []string
	for _, row := range links {
		l := new(kernel.Link)
		if err := kernel.Decode(row, l); err != nil {
			return nil, err
		}
		if !l.Gone {
			ids = append(ids, l.Issue)
		}
	}
	return b.decoded(ctx, ids)
}

// Plan finds a plan that was made for an issue, by its label, its number, its id or the beginning of its hash, as a
// document that a plan file may hold. Where there is none it fails with CodeNotFound.
func (b Board) Plan(ctx context.Context, i *view.Issue, which string) (view.IssuePlan, error) {
	rows, err := b.store.Load(ctx, kernel.Select{Kind: kernel.KindSolution, Parent: i.ID})
	if err != nil {
		return view.IssuePlan{}, err
	}
	var names []string
	for _, row := range rows[0] {
		s := new(kernel.Solution)
		if err := kernel.Decode(row, s); err != nil {
			return view.IssuePlan{}, err
		}
		if strings.EqualFold(s.Label, which) || s.Label == "SOL-"+i.Label+"-"+which || s.ID == which ||
			len(which) >= 8 && strings.HasPrefix(s.Hash, which) {
			return view.IssuePlan{ID: s.ID, Label: s.Label, Plan: s.Plan}, nil
		}
		names = append(names, s.Label)
	}
	if near := pawl.Suggest(which, names); near != "" {
		return view.IssuePlan{}, pawl.Fail(pawl.CodeNotFound, "issue.solution_unknown_near", i.Label, which, near)
	}
	return view.IssuePlan{}, pawl.Fail(pawl.CodeNotFound, "issue.solution_unknown", i.Label, which)
}

// External tells which of some ids, under which another system knows issues, are on the board, and the digest of what
// it said then.
func (b Board) External(ctx context.Context, ids []string) (map[string]string, error) {
	known := map[string]string{}
	for part := range slices.Chunk(ids, issues.MaxIssues) {
		sel := make([]kernel.Select, len(part))
		for n, id := range part {
			sel[n] = kernel.Select{Kind: kernel.KindAlias, Label: id}
		}
		rows, err := b.store.Load(ctx, sel...)
		if err != nil {
			return nil, err
		}
		var own []string
		for _, found := range rows {
			for _, row := range found {
				own = append(own, row.Parent)
			}
		}
		issues, err := b.decoded(ctx, own)
		if err != nil {
			return nil, err
		}
		for _, i := range issues {
			known[i.External] = i.Digest
		}
	}
	return known, nil
}
