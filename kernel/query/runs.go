package query

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/budget"
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/machine/board"
)

// maxRuns is how many of the newest runs are looked through for one that has no name of its own: by the commit that it
// made.
const maxRuns = 2000

// Runs streams runs with the cursor behind each. The state of one that is at work is that of its session. What belongs
// to runs is read for a hundred of them at a time.
func (r Reader) Runs(ctx context.Context, p Page) iter.Seq2[Item[view.RunLine], error] {
	return func(yield func(Item[view.RunLine], error) bool) {
		var page []Item[*kernel.Run]
		flush := func() bool {
			lines, err := r.linesOf(ctx, page)
			if err != nil {
				yield(Item[view.RunLine]{}, err)
				return false
			}
			page = page[:0]
			for _, l := range lines {
				if !yield(l, nil) {
					return false
				}
			}
			return true
		}
		for i, err := range scan(ctx, r.store, p.selection(kernel.KindRun), p.IDs,
			func(run *kernel.Run) (*kernel.Run, bool) { return run, true }) {
			if err != nil {
				yield(Item[view.RunLine]{}, err)
				return
			}
			if page = append(page, i); len(page) == together && !flush() {
				return
			}
		}
		flush()
	}
}

// linesOf are runs as lists show them, with the state of the session of each that is at work and the proof of its task.
func (r Reader) linesOf(ctx context.Context, page []Item[*kernel.Run]) ([]Item[view.RunLine], error) {
	var asked []kernel.Select
	for _, i := range page {
		if i.Value.State != string(board.RunCompleted) {
			asked = append(asked, kernel.Select{Kind: kernel.KindSession, ID: i.Value.Parent, HotOnly: true})
		}
		if i.Value.Task != "" {
			asked = append(asked, kernel.Select{Kind: kernel.KindTask, ID: i.Value.Task})
		}
	}
	states, proofs := map[string]string{}, map[string]effect.Verdict{}
	if len(asked) > 0 {
		found, err := r.store.Load(ctx, asked...)
		if err != nil {
			return nil, err
		}
		for _, row := range slices.Concat(found...) {
			if states[row.ID] = row.State; row.Kind != kernel.KindTask {
				continue
			}
			task := new(kernel.Task)
			if err := kernel.Decode(row, task); err != nil {
				return nil, err
			}
			if task.Proof != nil {
				proofs[row.ID] = task.Proof.Verdict
			}
		}
	}
	var out []Item[view.RunLine]
	for _, i := range page {
		l := lineOf(i.Value)
		if !l.Over() {
			l.State = cmp.Or(states[i.Value.Parent], l.State)
		}
		l.Proof, l.Pull = proofs[i.Value.Task], i.Value.Pull
		out = append(out, Item[view.RunLine]{l, i.Cursor})
	}
	return out, nil
}

func lineOf(r *kernel.Run) view.RunLine {
	l := view.RunLine{
		ID: r.ID, Label: r.Label, Goal: r.Requirement, Outcome: r.Outcome, State: r.State, Phase: r.Phase,
		Undone: r.Undone, Agent: r.Agent,
		MicroUSD: r.Usage.MicroUSD, StartedAt: r.StartedAt, EndedAt: r.EndedAt,
	}
	if r.Land != nil {
		l.Commit, l.Branch = r.Land.Commit, r.Land.Branch
	}
	return l
}

// commit matches what may be the beginning of a commit's id.
var commit = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{4,64}$`) })

// Run finds a run and reports on it: by its label, number or ULID, by its task, by an issue of the board, or by the
// beginning of the id of a commit that it made. Without a name it is the run that the session with the label is at, or
// its newest one. Where there is none it fails with CodeNotFound.
func (r Reader) Run(ctx context.Context, label, name string) (*view.Report, error) {
	id, err := r.runID(ctx, label, strings.TrimSpace(name))
	if err != nil {
		return nil, err
	}
	run := new(kernel.Run)
	if ok, err := first(ctx, r.store, kernel.Select{Kind: kernel.KindRun, ID: id}, run); err != nil || !ok {
		return nil, cmp.Or(err, notFound("see.run_unknown", name))
	}
	return r.report(ctx, run)
}

func notFound(key string, args ...any) error { return pawl.Fail(pawl.CodeNotFound, key, args...) }

func (r Reader) runID(ctx context.Context, label, name string) (string, error) {
	upper := strings.ToUpper(name)
	if n, err := strconv.Atoi(name); err == nil && n > 0 {
		upper = fmt.Sprintf("RUN-%d", n)
	}
	switch {
	case name == "":
		s, err := r.Session(ctx, label)
		if err != nil {
			return "", err
		}
		id, err := r.LastRun(ctx, s)
		if err == nil && id == "" {
			err = notFound("see.no_run")
		}
		return id, err
	case strings.HasPrefix(upper, "ISS-"):
		i, err := r.Board().Issue(ctx, name)
		if err != nil {
			return "", err
		}
		return r.runOfIssue(ctx, i)
	}
	rows, err := r.store.Load(ctx, kernel.Select{Kind: kernel.KindRun, Label: upper, HotOnly: true},
		kernel.Select{Kind: kernel.KindRun, ID: upper, HotOnly: true},
		kernel.Select{Kind: kernel.KindTask, Label: TaskLabel(upper)}, kernel.Select{Kind: kernel.KindTask, ID: upper})
	if err != nil {
		return "", err
	}
	for n, found := range rows {
		switch {
		case len(found) == 0:
		case n < 2:
			return found[0].ID, nil
		default:
			return runOfTask(found[0], name)
		}
	}
	if lower := strings.ToLower(name); commit().MatchString(lower) {
		return r.runOfCommit(ctx, lower)
	}
	if upper == strings.ToUpper(name) { // a number is a run's alone
		// Issues that came from elsewhere have other labels, such as GH-7, and the names that they have there.
		if i, err := r.Board().Issue(ctx, name); err == nil {
			return r.runOfIssue(ctx, i)
		} else if pawl.CodeOf(err) != pawl.CodeNotFound {
			return "", err
		}
	}
	if r.Log().Retired(ctx, upper) {
		return "", notFound("see.retired", upper)
	}
	if near := nearest(ctx, r.store, kernel.KindRun, upper); near != "" {
		return "", notFound("see.run_unknown_near", name, near)
	}
	return "", notFound("see.run_unknown", name)
}

// TaskLabel is the label of the task that is meant by 1, T-1, t-001 or T-001; anything else is returned in capitals, as
// ids are written.
func TaskLabel(given string) string {
	given = strings.ToUpper(strings.TrimSpace(given))
	if n, err := strconv.Atoi(strings.TrimPrefix(given, "T-")); err == nil && n > 0 {
		return fmt.Sprintf("T-%03d", n)
	}
	return given
}

// runOfIssue is the newest run of an issue.
func (r Reader) runOfIssue(ctx context.Context, i *view.Issue) (string, error) {
	s, err := r.Session(ctx, i.Label)
	if err != nil {
		return "", err
	}
	id, err := r.LastRun(ctx, s)
	if err == nil && id == "" {
		err = notFound("cli.issue_untouched", i.Label)
	}
	return id, err
}

// runOfTask is the run that a task belongs to.
func runOfTask(row kernel.Row, name string) (string, error) {
	t := new(kernel.Task)
	if err := kernel.Decode(row, t); err != nil {
		return "", err
	}
	if run := LineOf(t).Run; run != "" {
		return run, nil
	}
	return "", notFound("see.task_alone", name)
}

// runOfCommit is the run that made a commit, or reverted its own by one.
func (r Reader) runOfCommit(ctx context.Context, begins string) (string, error) {
	for row, err := range r.store.Scan(ctx, kernel.Select{Kind: kernel.KindRun, Newest: true, Limit: maxRuns}) {
		run := new(kernel.Run)
		if err == nil {
			err = kernel.Decode(row, run)
		}
		if err != nil {
			return "", err
		}
		if run.Land != nil && strings.HasPrefix(run.Land.Commit, begins) || run.Revert != nil &&
			strings.HasPrefix(run.Revert.Commit, begins) {
			return run.ID, nil
		}
	}
	return "", notFound("see.commit_unknown", begins)
}

// report puts together what is known of a run.
func (r Reader) report(ctx context.Context, run *kernel.Run) (*view.Report, error) {
	s := &kernel.Snapshot{Run: run}
	var err error
	read := func(sel kernel.Select, into kernel.Document) bool {
		if err != nil || sel.ID == "" && sel.Label == "" {
			return false
		}
		var ok bool
		ok, err = first(ctx, r.store, sel, into)
		return ok
	}
	if row := new(kernel.Session); read(kernel.Select{Kind: kernel.KindSession, ID: run.Parent}, row) {
		s.Session = row
	}
	if row := new(kernel.Issue); read(kernel.Select{Kind: kernel.KindIssue, ID: run.Issue}, row) {
		s.Issue = row
	}
	if row := new(kernel.Solution); read(kernel.Select{Kind: kernel.KindSolution, ID: run.Solution}, row) {
		s.Solution = row
	}
	if row := new(kernel.Task); read(kernel.Select{Kind: kernel.KindTask, ID: run.Task}, row) {
		s.Task = row
	}
	if s.Session != nil && s.Session.Run == run.ID {
		if row := new(kernel.Approval); read(kernel.Select{Kind: kernel.KindApproval, ID: s.Session.Approval}, row) {
			s.Approval = row
		}
	}
	if err != nil {
		return nil, err
	}
	out := reportOf(s)
	if out.Approvals, err = r.approvals(ctx, run); err != nil {
		return nil, err
	}
	if b, ok, err := r.Ledger().Spent(ctx, budget.ScopeRun+":"+run.Label); err != nil {
		return nil, err
	} else if ok {
		out.Cost = &b
	}
	return out, nil
}

func reportOf(s *kernel.Snapshot) *view.Report {
	run := s.Run
	out := &view.Report{Summary: SummaryOf(s), ID: run.ID, Version: run.Version, Agent: run.Agent, Pull: run.Pull,
		PlanFile:  run.GivenName,
		Approvals: []view.ApprovalLine{}, Left: run.SkippedFiles, Cut: run.TruncatedFiles}
	if run.Ignored != nil {
		out.Lost = run.Ignored.Lost
	}
	if run.Undone && run.Revert != nil {
		out.Reversal = run.Revert.Commit
	}
	if at := s.Session; at != nil && at.Run == run.ID {
		out.State = at.State
		out.Outcome = run.Outcome // whatever became of the task, the run is not over
		if b := at.Blocked; b != nil {
			out.Waiting = &view.Blocked{Kind: string(b.Kind), Task: b.Task, Effect: b.Effect, Error: b.Error}
		}
	} else {
		out.Next = []view.Next{} // what can be done now has nothing to do with a run that is over
		if at == nil || at.LastRun != run.ID {
			out.Undo = byName(out.Undo, run)
		}
	}
	if i := s.Issue; i != nil && i.Number > 0 {
		out.Issue = i.Label
	}
	if sol := s.Solution; sol != nil {
		out.Plan, out.Agent = sol.Hash, cmp.Or(out.Agent, sol.Agent)
	}
	t := s.Task
	if out.State != "" && (t == nil || t.Checkpoint == nil) {
		out.Planned = PlanOf(s).Steps
	}
	if t == nil {
		return out
	}
	out.By, out.Branch, out.Plan = string(t.By), t.Branch, cmp.Or(t.PlanHash, out.Plan)
	if !t.Place.InPlace && t.Ready.Worktree && !t.Ready.Cleaned {
		out.Worktree = t.Place.Tree
	}
	out.Changes = changesOf(t)
	return out
}

// changesOf says between which trees a task changed its place, and by which steps.
func changesOf(t *kernel.Task) view.Changes {
	steps := slices.DeleteFunc(slices.Clone(t.Spans), func(s effect.Span) bool { return s.After == "" })
	out := view.Changes{Place: t.Place, To: t.Tree, Steps: steps, Open: t.EndedAt.IsZero()}
	if t.Checkpoint != nil {
		out.From = t.Checkpoint.Tree
	}
	if t.Verified != nil && !out.Open {
		out.To = cmp.Or(t.Verified.Tree, t.Tree)
	}
	return out
}

// byName names the run in the ways to undo a result that is not the last one. What it left in the user's own tree can
// be undone only before other work came upon it.
func byName(undo []view.Next, run *kernel.Run) []view.Next {
	landed := run.Land != nil && run.Land.Outcome == effect.Landed || run.Pull.Stands()
	out := []view.Next{}
	for _, n := range undo {
		switch reverses := n.Op == "undo" || n.Op == "redo"; {
		case !reverses:
			out = append(out, n)
		case landed:
			out = append(out, view.Next{Op: n.Op, Command: "pawl " + n.Op + " " + run.Label})
		}
	}
	return out
}

// approvals are the questions about a run and its task, oldest first.
func (r Reader) approvals(ctx context.Context, run *kernel.Run) ([]view.ApprovalLine, error) {
	sel := []kernel.Select{{Kind: kernel.KindApproval, Parent: run.ID}}
	if run.Task != "" {
		sel = append(sel, kernel.Select{Kind: kernel.KindApproval, Parent: run.Task})
	}
	rows, err := r.store.Load(ctx, sel...)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(rows...)
	slices.SortFunc(all, func(a, b kernel.Row) int { return cmp.Compare(a.Pos, b.Pos) })
	out := []view.ApprovalLine{}
	for _, row := range all {
		a := new(kernel.Approval)
		if err := kernel.Decode(row, a); err != nil {
			return nil, err
		}
		out = append(out, view.ApprovalLine{
			About: a.About, Hash: a.Hash, State: a.State, By: string(a.AnsweredBy), Way: string(a.Way), Key: a.Key,
			Note: a.Note, Detail: a.Detail, Asked: a.CreatedAt, At: a.AnsweredAt,
		})
	}
	return out, nil
}
