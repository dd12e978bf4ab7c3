package query

import (
	"cmp"
	"context"
	"slices"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/effect"
	"pawl/kernel/notices"
	"pawl/kernel/view"
	"pawl/machine/session"
)

// What is looked at of what ended: so many of the newest runs, if it is not longer ago.
const (
	maxEnded = 32
	told     = time.Hour
)

// Notices answers questions about what people are told, and may be.
type Notices struct {
	store kernel.Store
	now   func() time.Time
}

// NoticesOf returns what answers questions about the messages of the workspace that a kernel is of.
func NoticesOf(k Kernel) Notices { return Notices{k.Store(), k.Now} }

// Waiting lists what a person may be told of: what waits for them in all sessions, and what ended in the last hour.
// Describe fills in what else is known.
func (r Notices) Waiting(ctx context.Context) (out []view.Waiting, err error) {
	var busy []string
	for _, s := range session.Table.States() {
		if s != session.Idle {
			busy = append(busy, string(s))
		}
	}
	sessions, err := rowsOf[kernel.Session](ctx, r.store, kernel.Select{Kind: kernel.KindSession, States: busy})
	if err != nil {
		return nil, err
	}
	for _, s := range sessions {
		w, ok, err := r.stands(ctx, s)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, w)
		}
	}
	questions, err := rowsOf[kernel.Question](ctx, r.store, kernel.Select{Kind: kernel.KindQuestion,
		States: []string{kernel.QuestionOpen}})
	if err != nil {
		return nil, err
	}
	for _, q := range questions {
		label, err := r.labelOf(ctx, q.Parent)
		if err != nil {
			return nil, err
		}
		out = append(out, view.Waiting{About: notices.About{Kind: kernel.KindQuestion, ID: q.ID}.String(),
			Session: label, Topic: effect.TopicQuestion, Since: q.CreatedAt, Name: q.Label, Text: q.Text})
	}
	ended, err := r.ended(ctx)
	return append(out, ended...), err
}

// labelOf is the label of a session.
func (r Notices) labelOf(ctx context.Context, id string) (string, error) {
	rows, err := r.store.Load(ctx, kernel.Select{Kind: kernel.KindSession, ID: id, HotOnly: true})
	if err != nil || len(rows[0]) == 0 {
		return kernel.SessionLabel, err
	}
	return rows[0][0].Label, nil
}

// stands says what a session waits for: a decision, or help.
func (r Notices) stands(ctx context.Context, s *kernel.Session) (w view.Waiting, ok bool, err error) {
	w.Session = s.Label
	if a := new(kernel.Approval); s.Approval != "" {
		ok, err = first(ctx, r.store, kernel.Select{Kind: kernel.KindApproval, ID: s.Approval}, a)
		if ok && a.State == kernel.ApprovalPending {
			w.About = notices.About{Kind: kernel.KindApproval, ID: a.ID}.String()
			w.Topic, w.Since, w.Asked = effect.TopicApproval, a.CreatedAt, a.About
			return w, true, err
		}
	}
	if err != nil || s.Blocked == nil {
		return w, false, err
	}
	run, task := new(kernel.Run), new(kernel.Task)
	if ok, err = first(ctx, r.store, kernel.Select{Kind: kernel.KindRun, ID: s.Run}, run); ok {
		_, err = first(ctx, r.store, kernel.Select{Kind: kernel.KindTask, ID: run.Task}, task)
	}
	w.About = notices.About{Kind: kernel.KindSession, ID: s.ID, Mark: notices.Mark(s, task)}.String()
	w.Topic, w.Since, w.Why = notices.TopicOf(s.Blocked), s.UpdatedAt, &s.Blocked.Error
	return w, true, err
}

// ended lists the runs that ended lately by themselves: what a person ended needs no message.
func (r Notices) ended(ctx context.Context) (out []view.Waiting, err error) {
	runs, err := rowsOf[kernel.Run](ctx, r.store, kernel.Select{Kind: kernel.KindRun, Newest: true, Limit: maxEnded})
	for _, run := range runs {
		w := view.Waiting{About: notices.About{Kind: kernel.KindRun, ID: run.ID}.String(), Since: run.EndedAt,
			Name: run.Label, Goal: run.Requirement}
		switch {
		case run.EndedAt.Before(r.now().Add(-told)):
			continue
		case run.Outcome == "completed":
			w.Topic = effect.TopicLanded
		case run.Outcome == "failed":
			w.Topic = effect.TopicFailed
		default:
			continue
		}
		if l := run.Land; l != nil {
			w.Commit, w.Branch = l.Commit, l.Branch
		}
		if w.Session, err = r.labelOf(ctx, run.Parent); err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, err
}

// Describe fills in what is known of something that waits, from the kernel of its session.
func Describe(ctx context.Context, k Looker, w *view.Waiting) error {
	w.Risk = pawl.RiskLow
	if !w.Topic.Waits() {
		w.Next = []view.Next{{Op: "show", Command: "pawl show " + w.Name}}
		return nil
	}
	st, err := Status(ctx, k)
	if err != nil {
		return err
	}
	w.Goal, w.Next = st.Goal, st.Next
	switch {
	case w.Topic == effect.TopicQuestion:
		w.Next = slices.DeleteFunc(slices.Clone(st.Next), func(n view.Next) bool { return n.Op != opAnswer })
	case w.Session != kernel.SessionLabel:
		w.Name = w.Session
	case st.Run != nil:
		w.Name = st.Run.Label
	}
	at, err := Current(ctx, k)
	if err == nil && at.Solution != nil {
		w.Risk = cmp.Or(approval.Risk(at), pawl.RiskLow)
	}
	return err
}

// List lists messages to people, newest first: all of which something is left to do, and so many of the others.
func (r Notices) List(ctx context.Context, most int) (out []view.Notice, err error) {
	open, err := rowsOf[kernel.EffectDoc](ctx, r.store, kernel.Select{Kind: kernel.KindNotice, States: notices.Open()})
	if err != nil {
		return nil, err
	}
	newest, err := rowsOf[kernel.EffectDoc](ctx, r.store, kernel.Select{Kind: kernel.KindNotice, Newest: true,
		Limit: most})
	if err != nil {
		return nil, err
	}
	for _, e := range open {
		if !slices.ContainsFunc(newest, func(n *kernel.EffectDoc) bool { return n.ID == e.ID }) {
			newest = append(newest, e)
		}
	}
	slices.SortFunc(newest, func(a, b *kernel.EffectDoc) int { return cmp.Compare(b.Pos, a.Pos) })
	for _, e := range newest {
		spec, err := effect.Decode[effect.NoticeSpec](e.Effect.Spec)
		if err != nil {
			return nil, err
		}
		n := view.Notice{ID: e.ID, Channel: spec.Channel, Topic: spec.Topic, State: e.State, Name: spec.Name,
			Title: spec.Title, Attempts: e.Attempts, At: e.CreatedAt}
		if e.Receipt != nil && !e.Receipt.OK {
			f := e.Receipt.Fault()
			n.Error = &f
		}
		if e.State == notices.Pending || e.State == notices.Withdrawing {
			n.Due = e.Due
		}
		out = append(out, n)
	}
	return out, nil
}

// Undelivered counts the messages of the last day that did not arrive, or of which nobody knows.
func (r Notices) Undelivered(ctx context.Context) (n int, err error) {
	for row, err := range r.store.Scan(ctx, kernel.Select{Kind: kernel.KindNotice,
		States: []string{notices.Failed, notices.Unknown}, Newest: true, Limit: maxEnded, HotOnly: true}) {
		if err != nil {
			return 0, err
		}
		if row.UpdatedAt.After(r.now().Add(-notices.Patience)) {
			n++
		}
	}
	return n, nil
}
