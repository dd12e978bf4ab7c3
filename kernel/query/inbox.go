package query

import (
	"cmp"
	"context"
	"slices"

	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/audit"
	"pawl/kernel/view"
)

// Inbox is everything that waits for a person in the workspace that a kernel is of, the gravest first: of its sessions
// at most so many are looked at.
func Inbox(ctx context.Context, k *kernel.Kernel, most int) (view.Inbox, error) {
	out, board := view.Inbox{Needs: []view.Need{}}, Of(k).Board()
	add := func(k *kernel.Kernel, i *view.Issue) error {
		n, _, err := NeedOf(ctx, k, i)
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
	slices.SortStableFunc(out.Needs, view.Graver)
	return out, nil
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
func NeedOf(ctx context.Context, k *kernel.Kernel, i *view.Issue) (n view.Need, st view.Status, err error) {
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
		whole, err := Of(k).Board().Detail(ctx, i)
		if err != nil {
			return n, st, err
		}
		n.Issue, n.Behind, n.Goal = i.Label, whole.Needed, cmp.Or(n.Goal, i.Title)
	}
	switch {
	case st.Approval != nil:
		n.About, n.Digest, n.Since = st.Approval.About, st.Approval.Hash, st.Approval.Since
	case st.Blocked != nil:
		if n.About = view.AboutBlocked; st.Blocked.Kind == string(kernel.BlockedUnproven) {
			n.About = view.AboutUnproven
		}
	case len(st.Questions) > 0:
		n.About, n.Since, n.Agent = view.AboutQuestion, st.Questions[0].Since, string(st.Questions[0].By)
	default:
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
