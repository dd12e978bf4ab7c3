package query

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/audit"
	"pawl/kernel/view"
	issue "pawl/machine/board"
	"pawl/machine/session"
)

// Working says which processes work in a workspace, as far as this machine knows.
type Working struct {
	// Owner returns the process that works on the session of the person, nil if there is none. It is nil if nobody
	// knows.
	Owner func() *view.Owner
	// Alive reports whether the process that claimed an issue is there, or may be. It is nil if nobody knows.
	Alive func(owner string) bool
}

// Inbox is everything that waits for a person in the workspace of a kernel, the most severe first. At most so many of
// its sessions are read.
func Inbox(ctx context.Context, k *kernel.Kernel, w Working, most int) (view.Inbox, error) {
	out, board := view.Inbox{Needs: []view.Need{}}, Of(k).Board()
	add := func(k *kernel.Kernel, i *view.Issue) error {
		n, _, err := NeedOf(ctx, k, w, i)
		if err == nil && n.Waits() {
			out.Needs = append(out.Needs, n)
		}
		return err
	}
	if err := add(k.Session(kernel.SessionLabel), nil); err != nil {
		return out, err
	}
	asking, err := board.Asking(ctx, most+1)
	if err != nil {
		return out, err
	}
	curious, err := board.questioned(ctx, asking, most+1)
	if err != nil {
		return out, err
	}
	asking = append(asking, curious...)
	out.More = len(asking) > most
	for _, i := range asking[:min(len(asking), most)] {
		if err := add(k.Session(i.Label), i); err != nil {
			return out, err
		}
	}
	for i, err := range board.Issues(ctx, Filter{States: []string{string(issue.IssueFailed)}}) {
		if len(out.Needs) > most {
			out.More = true
			break
		}
		known := err == nil && (i.Winding ||
			slices.ContainsFunc(asking, func(a *view.Issue) bool { return a.ID == i.ID }))
		if err == nil && !known { // a worker goes on with one that is winding
			err = add(k.Session(i.Label), i)
		}
		if err != nil {
			return out, err
		}
	}
	err = unclaimed(ctx, k, w, most, &out)
	slices.SortStableFunc(out.Needs, view.Graver)
	return out, err
}

// unclaimed adds the need for a worker: issues are approved or started, and no worker at work has claimed one. It is
// about the issue that is claimed next, with the others behind it. Issues that were only registered are a backlog.
func unclaimed(ctx context.Context, k *kernel.Kernel, w Working, most int, in *view.Inbox) error {
	board := Of(k).Board()
	batch, err := board.Batch(ctx)
	if err != nil || batch == nil || slices.ContainsFunc(batch.Workers, func(at view.IssueWorker) bool {
		return !at.Lost && (w.Alive == nil || w.Alive(at.Owner))
	}) {
		return err
	}
	var next []*view.Issue
	for _, state := range []issue.IssueStatus{issue.IssueExecuting, issue.IssuePlanned, issue.IssuePlanning,
		issue.IssueFailed, issue.IssueCompleted} {
		// What a worker may claim has a positive rank, and comes first.
		for i, err := range board.Issues(ctx, Filter{States: []string{string(state)}, ByRank: true, Looked: most}) {
			if err != nil {
				return err
			}
			listed := slices.ContainsFunc(in.Needs, func(n view.Need) bool { return n.Issue == i.Label })
			over := state == issue.IssueCompleted && !i.Winding // only its dependents do not know it yet
			if i.Rank > 0 && i.Standing != view.StandingLater && !listed && !over {
				next = append(next, i)
			}
		}
	}
	if len(next) == 0 {
		return nil
	}
	n, _, err := NeedOf(ctx, k.Session(next[0].Label), w, next[0])
	n.About, n.Behind = view.AboutUnclaimed, nil
	n.Next = []view.Next{{Op: "work", Command: "pawl worker"}}
	for _, i := range next[1:] {
		n.Behind = append(n.Behind, i.Label)
	}
	in.Needs = append(in.Needs, n)
	return err
}

// questioned are the issues in whose sessions agents ask something although the work does not wait for it, but for
// those that are known.
func (b Board) questioned(ctx context.Context, known []*view.Issue, most int) ([]*view.Issue, error) {
	rows, err := b.store.Load(ctx, kernel.Select{Kind: kernel.KindQuestion, States: []string{kernel.QuestionOpen},
		Limit: most, HotOnly: true})
	if err != nil {
		return nil, err
	}
	var sel []kernel.Select
	for _, q := range rows[0] {
		sel = append(sel, kernel.Select{Kind: kernel.KindSession, ID: q.Parent, HotOnly: true})
	}
	if len(sel) == 0 {
		return nil, nil
	}
	sessions, err := b.store.Load(ctx, sel...)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{kernel.SessionLabel: true}
	for _, i := range known {
		seen[i.Label] = true
	}
	var out []*view.Issue
	for _, found := range sessions {
		for _, s := range found {
			if seen[s.Label] {
				continue
			}
			seen[s.Label] = true
			i, err := b.Issue(ctx, s.Label)
			if err != nil {
				return nil, err
			}
			out = append(out, i)
		}
	}
	return out, nil
}

// seeing keeps the snapshot that a question looked at.
type seeing struct {
	Looker
	at *kernel.Snapshot
}

func (s *seeing) Snapshot(ctx context.Context) (_ *kernel.Snapshot, err error) {
	s.at, err = s.Looker.Snapshot(ctx)
	return s.at, err
}

// NeedOf is what the session of a kernel waits for a person with, and where it stands. The issue is that whose session
// it is, nil for that of the person. Where nothing was initialised it fails with CodeNotFound.
func NeedOf(ctx context.Context, k *kernel.Kernel, w Working, i *view.Issue) (n view.Need, st view.Status, err error) {
	seen := &seeing{Looker: k}
	st, err = Status(ctx, seen)
	if err == nil && st.ID == "" && i == nil {
		err = notFound("kernel.not_initialised")
	}
	if err != nil {
		return n, st, err
	}
	n = view.Need{State: st.State, Goal: st.Goal, Since: st.UpdatedAt, Blocked: st.Blocked, Questions: st.Questions,
		Next: st.Next}
	if st.Run != nil {
		n.Run = st.Run.Label
	}
	if i != nil {
		n.Issue, n.Goal = i.Label, cmp.Or(n.Goal, i.Title)
		if n.Behind, err = Of(k).Board().behind(ctx, i.ID); err != nil {
			return n, st, err
		}
	} else if w.Owner != nil {
		st.Owner = w.Owner()
	}
	if waitsWith(&n, &st, i, i == nil && w.Owner != nil); n.About == "" {
		return n, st, nil
	}
	at, log := seen.at, Of(k).Log()
	begun := audit.Subject{Kind: string(kernel.KindRun), ID: at.Session.Run}
	if i != nil {
		begun = audit.Subject{Kind: string(kernel.KindIssue), ID: i.ID}
	}
	if n.By, err = log.actor(ctx, begun); err != nil {
		return n, st, err
	}
	if t := at.Task; t != nil && n.About == view.AboutUnproven && t.Proof != nil {
		n.Digest = t.Proof.Tree
	}
	if n.About == "plan" {
		n.Risk, n.Rule = approval.Risk(at), approval.Together(at)
		if at.Solution != nil {
			n.Agent = at.Solution.Agent
		}
	}
	return n, st, nil
}

// waitsWith says what a session waits for a person with. If owned, its status says which process works on it.
func waitsWith(n *view.Need, st *view.Status, i *view.Issue, owned bool) {
	switch {
	case st.Approval != nil:
		n.About, n.Digest, n.Since = st.Approval.About, st.Approval.Hash, st.Approval.Since
	case st.Stopped():
		if n.About = view.AboutBlocked; st.Blocked.Kind == string(kernel.BlockedUnproven) {
			n.About = view.AboutUnproven
		}
	case st.Unclear():
		n.About, n.Since = view.AboutUnclear, st.Questions[0].Since
	case len(st.Questions) > 0:
		n.About, n.Since, n.Agent = view.AboutQuestion, st.Questions[0].Since, string(st.Questions[0].By)
	case st.Paused:
		n.About, n.Since = view.AboutPaused, st.PausedAt
	case i != nil && i.Status == issue.IssueFailed:
		failed(n, st, i)
	case owned && st.Interrupted():
		interrupted(n, st)
	}
}

// failed is the need of an issue that failed and has nothing left to do. What a person skipped, canceled or rolled back
// needs nothing, unless other issues depend on it: these would wait forever.
func failed(n *view.Need, st *view.Status, i *view.Issue) {
	ended := i.Held || st.Last != nil && st.Last.Outcome != "failed"
	if ended && len(n.Behind) == 0 {
		return
	}
	n.About, n.Since = view.AboutFailed, i.UpdatedAt
	if i.Failure != nil {
		n.Blocked = &view.Blocked{Kind: view.AboutFailed, Error: *i.Failure}
	}
	skip := view.Next{Op: "skip_issue", Command: "pawl issue skip " + i.Label}
	if len(n.Behind) > 0 {
		skip = view.Next{Op: "release", Command: skip.Command + " --release"}
	}
	n.Next = []view.Next{{Op: "retry", Command: "pawl issue retry " + i.Label}, skip}
}

// interrupted is the need of a run that no process works on.
func interrupted(n *view.Need, st *view.Status) {
	n.About, n.Next = view.AboutInterrupted, []view.Next{{Op: "resume", Command: "pawl resume"}}
	if o := st.Owner; o != nil {
		n.Next[0] = view.Next{Op: "continue", Command: "kill -CONT " + strconv.Itoa(o.PID)}
	}
	n.Next = append(n.Next, slices.DeleteFunc(slices.Clone(st.Next), func(c view.Next) bool {
		return c.Op != string(session.OpCancel) && c.Op != string(session.OpStop)
	})...)
}
