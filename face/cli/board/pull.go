package board

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/issues"
	"pawl/kernel/pulls"
	"pawl/kernel/query"
	"pawl/kernel/view"
)

func newPullCommand(a *cli.App) *cobra.Command {
	return a.Command("pr [RUN|TASK|ISSUE]", "pull.pr", "  pawl pr\n  pawl pr RUN-3\n  pawl pr ISS-7", cli.Between(0, 1),
		func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), cli.Writing(), func(sess *cli.Session) error {
				return propose(c.Context(), sess, strings.Join(args, ""))
			})
		})
}

// propose makes the pull request of a run, or brings it up to date.
func propose(ctx context.Context, sess *cli.Session, name string) error {
	r, err := sess.Ask().Run(ctx, sess.Label(), name)
	if err != nil {
		return err
	}
	if r.Issue != "" && r.Issue != sess.Label() {
		i, err := sess.Ask().Board().Issue(ctx, r.Issue)
		if err != nil {
			return err
		}
		sess.Enter(i)
	}
	release, err := sess.MustOwn()
	if err != nil {
		return err
	}
	defer release()
	if err := carryOn(ctx, sess); err != nil { // what a crash cut off comes first
		return err
	}
	if _, err := sess.Do(ctx, &pulls.Propose{Run: r.ID}); err != nil {
		return err
	}
	if err := carryOn(ctx, sess); err != nil {
		return err
	}
	if r, err = sess.Ask().Run(ctx, sess.Label(), r.ID); err != nil {
		return err
	}
	p := r.Pull
	if p == nil {
		return pawl.Fail(pawl.CodeInternal, "pull.no_run")
	}
	if p.Fault != nil {
		return p.Fault.Err()
	}
	if sess.JSON {
		return sess.PrintJSON(p)
	}
	sess.Say(sess.Style.OK() + " " + sess.Text("pull.made", p.Number, cli.Display(p.URL)))
	sess.Say("  " + sess.Style.Dim(sess.Text("pull.branches", cli.Display(p.Head), cli.Display(p.Base))))
	if p.Foreign {
		sess.SayText("pull.foreign")
	}
	return nil
}

// carryOn does the effects that the session waits for, one behind the other.
func carryOn(ctx context.Context, sess *cli.Session) error {
	run := sess.Workspace.Runner(nil)
	for last := ""; ; {
		s, err := sess.View(ctx)
		if err != nil || s.Effect == "" || s.Effect == last {
			return err
		}
		e, err := sess.Workspace.Kernel.Effect(ctx, s.Effect)
		if err != nil || e == nil || !e.What().Forge() {
			return err
		}
		last = s.Effect
		if err := run.Effect(ctx, last); err != nil {
			return err
		}
	}
}

func newSyncCommand(a *cli.App) *cobra.Command {
	return a.Command("sync", "pull.sync", "  pawl issue sync", cli.Exactly(0), func(c *cobra.Command, _ []string) error {
		return making(c.Context(), a, func(sess *cli.Session) error { return syncPulls(c.Context(), sess) })
	})
}

// seen is what `pawl issue sync` found of one pull request.
type seen struct {
	Run      string           `json:"run"`
	URL      string           `json:"url"`
	State    effect.PullState `json:"state"`
	Comments int              `json:"comments"`
	Issue    string           `json:"issue,omitempty"`
}

// syncPulls looks at every pull request that is open. What others said of it becomes an issue of the board, for the
// branch of the pull request, so that the answer to it goes there.
func syncPulls(ctx context.Context, sess *cli.Session) error {
	var open [][]view.RunLine // each with the runs that it is of
	for one, err := range sess.Ask().Runs(ctx, query.Page{}) {
		if err != nil {
			return err
		}
		p := one.Value.Pull
		if p == nil || p.Number == 0 || p.State != effect.PullOpen {
			continue
		}
		at := slices.IndexFunc(open, func(l []view.RunLine) bool { return l[0].Pull.URL == p.URL })
		if at < 0 {
			at, open = len(open), append(open, nil)
		}
		open[at] = append(open[at], one.Value)
	}
	out := []seen{}
	for _, runs := range open {
		one, err := syncPull(ctx, sess, runs)
		if err != nil {
			return err
		}
		out = append(out, one)
	}
	if sess.JSON {
		return sess.PrintJSON(out)
	}
	for _, s := range out {
		sess.Say(sess.Style.OK() + " " + sess.Text("pull.seen."+string(s.State), s.Run, cli.Display(s.URL)))
		if s.Issue != "" {
			sess.Say("  " + sess.Text("pull.feedback", s.Comments, s.Issue))
			sess.Say("  " + sess.Style.Cyan(sess.Text("cli.next")) + "pawl issue plan " + s.Issue)
		}
	}
	if len(out) == 0 {
		sess.SayText("pull.none_open")
	}
	return nil
}

func syncPull(ctx context.Context, sess *cli.Session, runs []view.RunLine) (seen, error) {
	l := runs[0]
	p := *l.Pull
	for _, other := range runs[1:] {
		p.Seen = append(slices.Clip(p.Seen), other.Pull.Seen...)
	}
	state, said, err := sess.Workspace.Tracker.Pull(ctx, p)
	out := seen{Run: l.Label, URL: p.URL, State: state, Comments: len(said)}
	if err != nil {
		return out, err
	}
	note := pulls.Note{State: state, Seen: p.Seen}
	for _, c := range said {
		note.Seen = append(note.Seen, c.ID)
	}
	if len(said) > 0 && state == effect.PullOpen {
		// Named by the first of them, it is the same issue where this is interrupted and done again.
		external := fmt.Sprintf("%s:%s!%d@%s", p.Forge, p.Repository, p.Number, said[0].ID)
		fresh, err := startsBatch(ctx, sess)
		if err != nil {
			return out, err
		}
		if _, err := sess.Do(ctx, &issues.AddIssues{Fresh: fresh, Issues: []issues.NewIssue{{External: external,
			URL: p.URL, Title: sess.Text("pull.answer", p.Number, l.Goal), Context: quote(said), Branch: p.Head}}}); err != nil {
			return out, err
		}
		found, err := sess.Ask().Board().Issue(ctx, external)
		if err != nil {
			return out, err
		}
		out.Issue = found.Label
	}
	for _, one := range runs {
		r, err := sess.Ask().Run(ctx, sess.Label(), one.ID)
		if err != nil {
			return out, err
		}
		lane := sess.Workspace.Kernel
		if r.Issue != "" {
			lane = lane.Session(r.Issue)
		}
		note.Run = one.ID
		command := note
		if _, err := lane.Do(ctx, kernel.Envelope{Actor: sess.App.Actor(), Command: &command}); err != nil {
			return out, err
		}
	}
	return out, nil
}

// quote writes comments as they were said, each with its place.
func quote(said []effect.PullComment) string {
	var b strings.Builder
	for _, c := range said {
		b.WriteString(c.By)
		if c.Path != "" {
			fmt.Fprintf(&b, ", %s:%d", c.Path, c.Line)
		}
		b.WriteString(":\n")
		for l := range strings.Lines(strings.TrimSpace(c.Text)) {
			b.WriteString("> " + strings.TrimRight(l, "\r\n") + "\n")
		}
		b.WriteString("\n")
		if b.Len() > 500<<10 { // half of what an issue may say
			b.WriteString("…\n")
			break
		}
	}
	return b.String()
}
