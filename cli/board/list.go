package board

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/audit"
	"pawl/cli"
	"pawl/cli/term"
	"pawl/kernel"
	"pawl/machine/board"
)

// viewer shows issues.
type viewer struct{ shelf }

// standing is what is computed of an issue beside its status (spec.md §6.5 E9).
type standing string

// The standings.
const (
	works   standing = "working"
	paused  standing = "paused"
	asks    standing = "asks"    // waits for a person
	waits   standing = "waits"   // for other issues
	blocked standing = "blocked" // one that it waits for is failed
	ready   standing = "ready"   // its work, or its planning, may begin
	later   standing = "later"   // after a pause
	none    standing = ""
)

// standingOf computes the standing of an issue. Of the issues that it waits for, those that are given are looked at.
func standingOf(i *kernel.Issue, near map[string]*kernel.Issue, now time.Time) standing {
	state := board.IssueStatus(i.State)
	if state == board.IssueCompleted || state == board.IssueFailed {
		return none
	}
	switch {
	case i.Lease.Owner != "":
		return works
	case i.Paused:
		return paused
	case i.Waiting:
		return asks
	}
	for _, id := range i.Open {
		if on := near[id]; on != nil && on.State == string(board.IssueFailed) {
			return blocked
		}
	}
	switch {
	case len(i.Open) > 0:
		return waits
	case i.Again.After(now):
		return later
	}
	return ready
}

// line is an issue in a list, as JSON.
type line struct {
	ID        string            `json:"id"`
	Label     string            `json:"label"`
	Title     string            `json:"title"`
	Status    board.IssueStatus `json:"status"`
	Standing  standing          `json:"standing,omitempty"`
	Priority  int               `json:"priority"`
	Tags      []string          `json:"tags"`
	After     []string          `json:"depends_on"`
	Open      int               `json:"open_dependencies"`
	External  string            `json:"external_id,omitempty"`
	Solution  string            `json:"solution_id,omitempty"`
	Item      string            `json:"item_id,omitempty"`
	Owner     string            `json:"worker,omitempty"`
	Retries   int               `json:"retries,omitempty"`
	Branch    string            `json:"branch,omitempty"`
	Landed    string            `json:"landed,omitempty"`
	CreatedAt time.Time         `json:"created_at"`
	UpdatedAt time.Time         `json:"updated_at"`
}

// priority is that of an issue, with the usual one where none is set.
func priority(i *kernel.Issue) int {
	if i.Priority == 0 {
		return 3
	}
	return i.Priority
}

func lineOf(i *kernel.Issue, near map[string]*kernel.Issue) line {
	l := line{
		ID: i.ID, Label: i.Label, Title: i.Title, Status: board.IssueStatus(i.State), Standing: standingOf(i, near, time.Now()), Priority: priority(i),
		Tags: append([]string{}, i.Tags...), After: []string{}, Open: len(i.Open), External: i.External, Owner: i.Lease.Owner,
		Retries: i.Retries, Branch: i.Branch, Landed: i.Landed, CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt,
	}
	for _, id := range i.DependsOn {
		if on := near[id]; on != nil {
			id = on.Label
		}
		l.After = append(l.After, id)
	}
	if i.Solution != "" {
		l.Solution = fmt.Sprintf("SOL-%s-%d", i.Label, i.Solutions)
	}
	if i.Item != "" {
		l.Item = fmt.Sprintf("S-%d", i.Number)
	}
	return l
}

// defaultPage is how many issues are listed where nothing else is said.
const defaultPage = 100

// filter says which issues are listed.
type filter struct {
	states []string
	tags   []string
	search string
	limit  int
	all    bool
}

func newListCommand(a *cli.App) *cobra.Command {
	var f filter
	c := a.Command("list", "issue.list", `  pawl issue list
  pawl issue list --status failed,planned --tag parser
  pawl issue list --all --json`, cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		for _, s := range f.states {
			if !board.Issue.Known(board.IssueStatus(s)) {
				return cli.Usage("cli.flag_invalid", s, "--status", join(board.Issue.States()))
			}
		}
		if f.limit < 0 {
			return cli.Usage("cli.flag_invalid", itoa(f.limit), "--limit", "0 …")
		}
		if f.all {
			f.limit = 0
		}
		return with(c.Context(), a, cli.Reading(), func(d shelf) error { return viewer{d}.list(c.Context(), &f) })
	}
	c.Flags().StringSliceVar(&f.states, "status", nil, a.Text("issue.flag.status"))
	c.Flags().StringSliceVar(&f.tags, "tag", nil, a.Text("issue.flag.tag_filter"))
	c.Flags().StringVar(&f.search, "search", "", a.Text("issue.flag.search"))
	c.Flags().IntVar(&f.limit, "limit", defaultPage, a.Text("issue.flag.limit"))
	c.Flags().BoolVar(&f.all, "all", false, a.Text("issue.flag.all_list"))
	return c
}

func join[S ~string](list []S) string {
	var b strings.Builder
	for n, s := range list {
		if n > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(s))
	}
	return b.String()
}

// fits reports whether an issue is to be listed.
func (f *filter) fits(i *kernel.Issue) bool {
	for _, t := range f.tags {
		if !slices.Contains(i.Tags, t) {
			return false
		}
	}
	if f.search == "" {
		return true
	}
	text := strings.ToLower(i.Label + " " + i.Title + " " + i.Context + " " + strings.Join(i.Tags, " ") + " " + i.External)
	for _, word := range strings.Fields(strings.ToLower(f.search)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// chunk is how many issues are looked at together, for one question about what they wait for.
const chunk = 100

// list streams issues in the order of their registration. Only a chunk of them is kept.
func (d viewer) list(ctx context.Context, f *filter) error {
	counts, all, err := d.counts(ctx)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(d.Std.Out, 32<<10)
	var page []*kernel.Issue
	n := 0
	flush := func() error {
		err := d.page(ctx, out, page)
		n += len(page)
		page = page[:0]
		if err != nil {
			return err
		}
		return out.Flush()
	}
	more := false
	for i, err := range d.scan(ctx, kernel.Select{States: f.states}) {
		if err != nil {
			return err
		}
		if !f.fits(i) {
			continue
		}
		if more = f.limit > 0 && n+len(page) == f.limit; more {
			break
		}
		if page = append(page, i); len(page) == chunk {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil || d.Flags.JSON {
		return err
	}
	if more {
		d.Note(d.Text("issue.list_more", n))
	}
	if all == 0 {
		d.Note(d.Text("issue.none"))
		return nil
	}
	d.Note(d.countLine(counts, all))
	return nil
}

// page writes issues, with what they wait for.
func (d viewer) page(ctx context.Context, out *bufio.Writer, page []*kernel.Issue) error {
	near, err := d.around(ctx, page, d.Flags.JSON)
	if err != nil {
		return err
	}
	for _, i := range page {
		l := lineOf(i, near)
		if !d.Flags.JSON {
			if _, err := out.WriteString(d.row(&l, d.Screen()) + "\n"); err != nil {
				return err
			}
			continue
		}
		raw, err := json.Marshal(l)
		if err == nil {
			_, err = out.Write(append(raw, '\n'))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxAround is how many dependencies of one issue are looked at for a list of many.
const maxAround = 8

// around reads what issues depend on: what they still wait for, or all of it. Only the hot halves are read.
func (d shelf) around(ctx context.Context, page []*kernel.Issue, every bool) (map[string]*kernel.Issue, error) {
	near := map[string]*kernel.Issue{}
	var sel []kernel.Select
	for _, i := range page {
		ids := i.Open[:min(len(i.Open), maxAround)]
		if every {
			ids = i.DependsOn
		}
		for _, id := range ids {
			if _, ok := near[id]; !ok {
				near[id] = nil
				sel = append(sel, kernel.Select{ID: id, HotOnly: true})
			}
		}
	}
	if len(sel) == 0 {
		return near, nil
	}
	rows, err := d.Workspace.Kernel.Store().Load(ctx, sel...)
	for _, found := range rows {
		for _, r := range found {
			near[r.ID] = &kernel.Issue{Row: r}
		}
	}
	return near, err
}

// row is an issue on one line, in columns that do not depend on the other lines.
func (d shelf) row(l *line, width int) string {
	label := term.Pad(cli.Display(l.Label), 8) + "  "
	mark := "p" + itoa(l.Priority)
	title, tail := cli.Display(l.Title), ""
	if len(l.Tags) > 0 {
		tail = "  #" + cli.Display(strings.Join(l.Tags, " #"))
	}
	head := label + d.state(l.Status) + strings.Repeat(" ", max(0, 10-len(l.Status))) + "  " + d.standing(l.Standing, 8) + "  " + mark + "  "
	if width > 0 {
		title = term.Clip(title, max(width-term.Width(label)-26-term.Width(tail), 8), d.Style.Ellipsis())
	}
	return head + title + d.Style.Dim(tail)
}

// standing is a standing in its colour, padded.
func (d shelf) standing(s standing, width int) string {
	pad := strings.Repeat(" ", max(0, width-len(s)))
	switch s {
	case works:
		return d.Style.Cyan(string(s)) + pad
	case ready:
		return d.Style.Green(string(s)) + pad
	case blocked:
		return d.Style.Red(string(s)) + pad
	case asks, paused:
		return d.Style.Yellow(string(s)) + pad
	}
	return string(s) + pad
}

func newShowCommand(a *cli.App) *cobra.Command {
	return a.Command("show ISSUE", "issue.show", "  pawl issue show ISS-3\n  pawl issue show 3 --json", cli.Exactly(1), func(c *cobra.Command, args []string) error {
		return with(c.Context(), a, cli.Reading(), func(d shelf) error { return viewer{d}.show(c.Context(), args[0], true) })
	})
}

// whole is an issue with all that belongs to it, as JSON.
type whole struct {
	line
	Context   string     `json:"context,omitempty"`
	URL       string     `json:"url,omitempty"`
	Agent     string     `json:"agent,omitempty"`
	PlanFile  string     `json:"plan_file,omitempty"`
	Files     []string   `json:"files,omitempty"`
	Feedback  []string   `json:"feedback,omitempty"`
	Error     string     `json:"error,omitempty"`
	Why       []string   `json:"waits_for,omitempty"`
	Needed    []string   `json:"needed_by,omitempty"`
	Solutions []solution `json:"solutions"`
	Session   string     `json:"session_state,omitempty"`
	PlannedAt *time.Time `json:"planned_at,omitempty"`
	DoneAt    *time.Time `json:"executed_at,omitempty"`
	Conflicts int        `json:"conflicts,omitempty"`
	Failures  int        `json:"planning_failures,omitempty"`
	Lease     *time.Time `json:"lease_until,omitempty"`
	near      map[string]*kernel.Issue
}

// solution is one plan that was made for an issue.
type solution struct {
	ID    string    `json:"id"`
	Hash  string    `json:"hash"`
	Goal  string    `json:"goal"`
	Steps int       `json:"steps"`
	Risk  pawl.Risk `json:"risk"`
	Agent string    `json:"agent"`
	Bound bool      `json:"is_bound"`
}

// show prints an issue.
func (d viewer) show(ctx context.Context, name string, next bool) error {
	i, err := d.FindIssue(ctx, name)
	if err != nil {
		return err
	}
	w, err := d.wholeOf(ctx, i)
	if err != nil {
		return err
	}
	if d.Flags.JSON {
		return d.PrintJSON(w)
	}
	d.print(i, w, next)
	return nil
}

// maxNeeded is how many of the issues that wait for one are named.
const maxNeeded = 50

func (d shelf) wholeOf(ctx context.Context, i *kernel.Issue) (*whole, error) {
	store := d.Workspace.Kernel.Store()
	near, err := d.around(ctx, []*kernel.Issue{i}, true)
	if err != nil {
		return nil, err
	}
	w := &whole{line: lineOf(i, near), Context: i.Context, URL: i.URL, Agent: i.Agent, PlanFile: i.GivenName, Files: i.Files, Feedback: i.Feedback,
		Solutions: []solution{}, Conflicts: i.Conflicts, Failures: i.Failures, near: near}
	w.PlannedAt, w.DoneAt, w.Lease = instant(i.PlannedAt), instant(i.ExecutedAt), instant(i.Lease.Expires)
	if i.Error != nil {
		w.Error = d.Explain(i.Error.Err())
	}
	for _, id := range i.Open {
		if on := near[id]; on != nil {
			w.Why = append(w.Why, on.Label)
		}
	}
	rows, err := store.Load(ctx, kernel.Select{Kind: kernel.KindSolution, Parent: i.ID}, kernel.Select{Kind: kernel.KindLink, Parent: i.ID, Limit: maxNeeded},
		kernel.Select{Kind: kernel.KindSession, Label: i.Label})
	if err != nil {
		return nil, err
	}
	for _, r := range rows[0] {
		s := new(kernel.Solution)
		if err := kernel.Decode(r, s); err != nil {
			return nil, err
		}
		w.Solutions = append(w.Solutions, solution{s.Label, s.Hash, s.Plan.Goal, len(s.Plan.Steps), s.Risk, s.Agent, s.Bound && s.ID == i.Solution})
	}
	var ids []string
	for _, r := range rows[1] {
		l := new(kernel.Link)
		if err := kernel.Decode(r, l); err != nil {
			return nil, err
		}
		if !l.Gone {
			ids = append(ids, l.Issue)
		}
	}
	waiting, err := d.issues(ctx, ids)
	for _, j := range waiting {
		w.Needed = append(w.Needed, j.Label)
	}
	for _, r := range rows[2] {
		w.Session = r.State
		s := new(kernel.Session)
		if err := kernel.Decode(r, s); err != nil {
			return nil, err
		}
		if s.Blocked != nil {
			w.Error = d.Explain(s.Blocked.Error.Err())
		}
	}
	return w, err
}

func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// print shows an issue to a person.
func (d viewer) print(i *kernel.Issue, w *whole, next bool) {
	d.Say(d.Style.Bold(w.Label) + "  " + cli.Display(w.Title))
	var t term.Table
	add := func(key, value string) {
		if value != "" {
			t.Row("  "+d.Text(key), value)
		}
	}
	status := string(w.Status)
	if w.Standing != none {
		status += " " + d.Style.Middle() + " " + d.Text("issue.standing."+string(w.Standing))
	}
	add("issue.show.status", status)
	add("issue.show.priority", itoa(w.Priority))
	add("issue.show.tags", cli.Display(strings.Join(w.Tags, ", ")))
	branch := cli.Display(w.Branch)
	if w.Landed != "" {
		branch = d.Text("issue.show.landed", w.Landed)
	}
	add("issue.show.branch", branch)
	add("issue.show.agent", cli.Display(w.Agent))
	add("issue.show.plan_file", cli.Display(w.PlanFile))
	var after []string
	for _, id := range i.DependsOn {
		if on := w.near[id]; on != nil {
			after = append(after, on.Label+" "+on.State)
		}
	}
	add("issue.show.after", cli.Display(strings.Join(after, ", ")))
	add("issue.show.needed", cli.Display(strings.Join(w.Needed, ", ")))
	add("issue.show.external", cli.Display(strings.TrimSpace(w.External+"  "+w.URL)))
	add("issue.show.worker", cli.Display(w.Owner))
	add("issue.show.session", w.Session)
	for _, s := range w.Solutions {
		text := cli.Display(s.ID) + "  " + s.Hash[:min(12, len(s.Hash))] + "  " + string(s.Risk) + "  " + cli.Display(s.Goal)
		if s.Bound {
			text += "  " + d.Style.OK()
		}
		add("issue.show.solution", text)
	}
	add("issue.show.files", cli.Display(strings.Join(w.Files, ", ")))
	add("issue.show.error", w.Error)
	for _, f := range w.Feedback {
		add("issue.show.feedback", cli.Display(f))
	}
	d.SayTable(&t, d.Std.Width)
	if w.Context != "" {
		d.Say("")
		for _, l := range strings.Split(w.Context, "\n") {
			d.Say("  " + cli.Display(l))
		}
	}
	if next {
		d.ways(w)
	}
}

// ways tells what can be done next with an issue.
func (d viewer) ways(w *whole) {
	if out := nextOf(w); len(out) > 0 {
		d.Say("\n" + d.Style.Cyan(d.Text("cli.next")) + strings.Join(out, "   "))
	}
}

// nextOf are the commands that take an issue on.
func nextOf(w *whole) (out []string) {
	at := " --issue " + w.Label
	switch {
	case w.Standing == asks && w.Status == board.IssuePlanned:
		out = []string{"pawl approve" + at, "pawl deny" + at, "pawl plan show" + at}
	case w.Standing == asks:
		out = []string{"pawl status" + at}
	case w.Standing == paused:
		out = []string{"pawl issue edit " + w.Label + " --paused=false"}
	case w.Status == board.IssueRegistered && w.Standing != works:
		out = []string{"pawl issue plan " + w.Label}
	case w.Status == board.IssuePlanned && w.Standing == ready:
		out = []string{"pawl issue execute " + w.Label}
	case w.Status == board.IssueFailed:
		out = []string{"pawl issue retry " + w.Label, "pawl issue retry " + w.Label + " --replan", "pawl issue skip " + w.Label, "pawl status" + at}
	}
	return out
}

func newHistoryCommand(a *cli.App) *cobra.Command {
	var limit int
	c := a.Command("history [ISSUE]", "issue.history", "  pawl issue history\n  pawl issue history ISS-3 --json", cli.Between(0, 1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		if limit < 0 {
			return cli.Usage("cli.flag_invalid", itoa(limit), "--limit", "0 …")
		}
		return with(c.Context(), a, cli.Reading(), func(d shelf) error {
			subject := audit.Subject{Kind: string(kernel.KindBoard)}
			if len(args) > 0 {
				i, err := d.FindIssue(c.Context(), args[0])
				if err != nil {
					return err
				}
				subject = audit.Subject{Kind: string(kernel.KindIssue), ID: i.ID}
			} else {
				b, err := d.batch(c.Context())
				if err != nil {
					return err
				}
				if b == nil {
					return pawl.Fail(pawl.CodeNotFound, "kernel.board_empty")
				}
				subject.ID = b.ID
			}
			return viewer{d}.history(c.Context(), subject, limit)
		})
	}
	c.Flags().IntVarP(&limit, "limit", "n", 200, a.Text("issue.flag.limit"))
	return c
}

// history prints the newest records about an issue or a batch, the oldest of them first.
func (d viewer) history(ctx context.Context, subject audit.Subject, limit int) error {
	var last []audit.Parsed
	for rec, err := range d.Workspace.Kernel.Store().Records(ctx, subject.String(), 0) {
		if err != nil {
			return err
		}
		p, err := audit.Parse(rec.Bytes)
		if err != nil {
			return err
		}
		if last = append(last, p); limit > 0 && len(last) > 2*limit {
			last = slices.Clone(last[len(last)-limit:])
		}
	}
	if limit > 0 && len(last) > limit {
		last = last[len(last)-limit:]
	}
	var t term.Table
	for _, p := range last {
		if d.Flags.JSON {
			if err := d.PrintJSON(map[string]any{"at": p.At, "event": p.Event, "level": p.Level, "actor": p.Actor, "move": p.Move, "data": p.Data}); err != nil {
				return err
			}
			continue
		}
		text := cli.Display(p.Event)
		if p.Move != nil {
			text = p.Move.From + " " + d.Style.To() + " " + p.Move.To + "  " + d.Style.Dim(cli.Display(p.Move.Reason))
		} else if len(p.Data) > 2 {
			text += "  " + d.Style.Dim(cli.Display(string(p.Data)))
		}
		t.Row(d.Clock(p.At), cli.Display(string(p.Actor)), text)
	}
	d.SayTable(&t, d.Screen())
	return nil
}
