package board

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pawl/face/cli"
	"pawl/face/cli/term"
	"pawl/kernel/query"
	"pawl/kernel/view"
	"pawl/machine/board"
)

// place is an issue in the queue, with the reason why it stands there.
type place struct {
	view.IssueLine
	Order int    `json:"order,omitempty"` // from 1, for those that may be claimed
	Why   string `json:"why"`
}

func newQueueCommand(a *cli.App) *cobra.Command {
	var limit int
	c := a.Command("queue", "issue.queue", "  pawl issue queue\n  pawl issue queue --limit 5 --json", cli.Exactly(0),
		nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if limit < 1 {
			return cli.Usage("cli.flag_invalid", strconv.Itoa(limit), "--limit", "1 …")
		}
		return a.With(c.Context(), cli.Reading(),
			func(sess *cli.Session) error { return printQueue(c.Context(), sess, limit) })
	}
	c.Flags().IntVar(&limit, "limit", 20, a.Text("issue.flag.limit"))
	return c
}

// printQueue shows what is at work, what comes next in the order in which it is claimed, and why others wait.
func printQueue(ctx context.Context, sess *cli.Session, limit int) error {
	if _, err := sess.Ask().Board().Counts(ctx); err != nil {
		return err
	}
	b, err := sess.Ask().Board().Batch(ctx)
	if err != nil {
		return err
	}
	var busy, next, held []*view.Issue
	for _, state := range []board.IssueStatus{board.IssueExecuting, board.IssuePlanned, board.IssuePlanning,
		board.IssueRegistered} {
		n, h, err := rankedIssues(ctx, sess, state, limit)
		if err != nil {
			return err
		}
		next, held = append(next, n...), append(held, h...)
	}
	busy = append(busy, taken(&next)...)
	next, held = next[:min(len(next), limit)], held[:min(len(held), limit)]
	var places []place
	for _, i := range busy {
		places = append(places, place{IssueLine: i.IssueLine, Why: placeReason(sess, i, b)})
	}
	for n, i := range next {
		places = append(places, place{IssueLine: i.IssueLine, Order: n + 1, Why: placeReason(sess, i, b)})
	}
	for _, i := range held {
		places = append(places, place{IssueLine: i.IssueLine, Why: placeReason(sess, i, b)})
	}
	if sess.JSON {
		return sess.PrintJSON(map[string]any{"queue": append([]place{}, places...)})
	}
	var t term.Table
	for _, p := range places {
		order := ""
		if p.Order > 0 {
			order = strconv.Itoa(p.Order)
		}
		t.Row(order, cli.Display(p.Label), statusText(sess.Printer, p.Status), "p"+strconv.Itoa(p.Priority),
			term.Clip(cli.Display(p.Title), 40, sess.Style.Ellipsis()), p.Why)
	}
	sess.SayTable(&t, cli.ListWidth(sess.Printer))
	if len(places) == 0 {
		sess.Note(sess.Text("issue.queue_empty"))
	}
	return nil
}

// taken takes the issues that somebody works on out of a list.
func taken(list *[]*view.Issue) (out []*view.Issue) {
	*list = slices.DeleteFunc(*list, func(i *view.Issue) bool {
		if i.Owner != "" {
			out = append(out, i)
		}
		return i.Owner != ""
	})
	return out
}

// rankedIssues reads issues of a status in the order of their claims: those that may be claimed, and the first of those
// that wait.
func rankedIssues(ctx context.Context, sess *cli.Session, state board.IssueStatus,
	limit int) (next, held []*view.Issue, err error) {
	for i, err := range sess.Ask().Board().Issues(ctx, query.Filter{States: []string{string(state)}, ByRank: true,
		Looked: 4*limit + maxWorkers}) {
		if err != nil {
			return nil, nil, err
		}
		switch {
		case i.Rank > 0:
			next = append(next, i)
		default:
			held = append(held, i)
		}
	}
	return next, held, nil
}

// placeReason says why an issue stands where it stands.
func placeReason(sess *cli.Session, i *view.Issue, b *view.BoardBatch) string {
	switch i.Standing {
	case view.StandingWorking:
		return sess.Text("issue.why.works", i.Owner)
	case view.StandingLost:
		return sess.Text("issue.why.lost", i.Owner, sess.Clock(i.LeaseUntil))
	case view.StandingPaused:
		return sess.Text("issue.why.paused")
	case view.StandingAsks:
		return sess.Text("issue.why.asks")
	case view.StandingLater:
		return sess.Text("issue.why.later", sess.Clock(i.NotBefore))
	case view.StandingBlocked, view.StandingWaits:
		var names []string
		key := "issue.why.waits"
		for _, on := range i.Waits {
			if on.Status == board.IssueFailed {
				key = "issue.why.blocked"
			}
			names = append(names, on.Label+" "+string(on.Status))
		}
		if n := i.Open - len(i.Waits); n > 0 {
			names = append(names, "+"+strconv.Itoa(n))
		}
		return sess.Text(key, strings.Join(names, ", "))
	}
	if b != nil && i.Status != board.IssueRegistered && i.Status != board.IssuePlanning {
		for _, busy := range b.Workers {
			if busy.Issue != i.ID && board.Overlap(busy.Files, i.Touches) {
				return sess.Text("issue.why.overlaps", busy.Label)
			}
		}
	}
	return sess.Text("issue.why.ready", i.Priority, sess.Clock(i.CreatedAt), max(i.Height, 0))
}

func newDagCommand(a *cli.App) *cobra.Command {
	var dot, mermaid bool
	var limit int
	c := a.Command("dag [ISSUE]", "issue.dag",
		"  pawl issue dag\n  pawl issue dag ISS-12 --mermaid\n  pawl issue dag --dot | dot -Tsvg > board.svg",
		cli.Between(0, 1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		if dot && mermaid {
			return cli.Usage("cli.flags_conflict", "--dot", "--mermaid")
		}
		if limit < 1 {
			return cli.Usage("cli.flag_invalid", strconv.Itoa(limit), "--limit", "1 …")
		}
		return a.With(c.Context(), cli.Reading(), func(sess *cli.Session) error {
			nodes, more, err := readGraph(c.Context(), sess, args, limit)
			if err != nil {
				return err
			}
			return drawGraph(sess.Printer, nodes, more, dot, mermaid)
		})
	}
	c.Flags().BoolVar(&dot, "dot", false, a.Text("issue.flag.dot"))
	c.Flags().BoolVar(&mermaid, "mermaid", false, a.Text("issue.flag.mermaid"))
	c.Flags().IntVar(&limit, "limit", 200, a.Text("issue.flag.limit"))
	return c
}

// readGraph reads the issues of the graph: all, or one with everything that it depends on. More says that there are
// others.
func readGraph(ctx context.Context, sess *cli.Session, names []string,
	limit int) (nodes []*view.Issue, more bool, err error) {
	if _, err := sess.Ask().Board().Counts(ctx); err != nil {
		return nil, false, err
	}
	if len(names) == 0 {
		for i, err := range sess.Ask().Board().Issues(ctx, query.Filter{Every: true}) {
			if err != nil {
				return nil, false, err
			}
			if len(nodes) == limit {
				return nodes, true, nil
			}
			nodes = append(nodes, i)
		}
		return nodes, false, nil
	}
	found, err := findIssues(ctx, sess, names)
	seen := map[string]bool{}
	for err == nil && len(found) > 0 {
		var ids []string
		for _, i := range found {
			if len(nodes) == limit {
				return nodes, true, nil
			}
			nodes = append(nodes, i)
			seen[i.ID] = true
			for _, on := range i.Dependencies {
				if !seen[on.ID] {
					seen[on.ID] = true
					ids = append(ids, on.ID)
				}
			}
		}
		found, err = sess.Ask().Board().ByID(ctx, ids)
	}
	return nodes, false, err
}

// drawGraph writes a graph. An arrow goes from what comes first to what waits for it.
func drawGraph(pr *cli.Printer, nodes []*view.Issue, more bool, dot, mermaid bool) error {
	labels := map[string]string{}
	for _, i := range nodes {
		labels[i.ID] = i.Label
	}
	edges := func(i *view.Issue) (out []string) {
		for _, on := range i.Dependencies {
			if labels[on.ID] != "" {
				out = append(out, on.Label)
			}
		}
		return out
	}
	if pr.JSON {
		out := []map[string]any{}
		for _, i := range nodes {
			out = append(out, map[string]any{"id": i.Label, "title": i.Title, "status": i.Status,
				"depends_on": append([]string{}, edges(i)...)})
		}
		return pr.PrintJSON(map[string]any{"nodes": out, "more": more})
	}
	w := bufio.NewWriter(pr.Std.Out)
	switch {
	case dot:
		fmt.Fprintln(w, "digraph board {\n  rankdir=LR;\n  node [shape=box];")
		for _, i := range nodes {
			fmt.Fprintf(w, "  %s [label=%s];\n", quoted(i.Label),
				quoted(i.Label+"\n"+term.Clip(cli.Display(i.Title), 40, "…")+"\n"+string(i.Status)))
			for _, on := range edges(i) {
				fmt.Fprintf(w, "  %s -> %s;\n", quoted(on), quoted(i.Label))
			}
		}
		fmt.Fprintln(w, "}")
	case mermaid:
		fmt.Fprintln(w, "graph LR")
		for _, i := range nodes {
			fmt.Fprintf(w, "  %s[\"%s %s (%s)\"]\n", i.Label, i.Label, tame(i.Title), i.Status)
			for _, on := range edges(i) {
				fmt.Fprintf(w, "  %s --> %s\n", on, i.Label)
			}
		}
	default:
		var t term.Table
		for _, i := range nodes {
			after := ""
			if e := edges(i); len(e) > 0 {
				after = strings.Join(e, ", ") + " " + pr.Style.To()
			}
			t.Row(after, i.Label, statusText(pr, i.Status), term.Clip(cli.Display(i.Title), 50, pr.Style.Ellipsis()))
		}
		for _, l := range t.Lines(cli.ListWidth(pr)) {
			fmt.Fprintln(w, l)
		}
	}
	if more {
		pr.Note(pr.Text("issue.list_more", len(nodes)))
	}
	return w.Flush()
}

// quoted writes a text as Graphviz reads it.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// tame keeps a title from being read as Mermaid.
func tame(s string) string {
	return strings.NewReplacer(`"`, "#quot;", "`", "'", "<", "#lt;", ">",
		"#gt;").Replace(term.Clip(cli.Display(s), 40, "…"))
}
