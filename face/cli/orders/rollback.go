package orders

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/control"
	"pawl/face/cli/term"
	"pawl/face/host"
	"pawl/face/tui"
	"pawl/kernel/effect"
	"pawl/machine/session"
	"pawl/text/knowledge"
	"pawl/text/message"
	"pawl/text/solution"
)

// rollbackFlags are the flags of `pawl rollback`.
type rollbackFlags struct {
	reason    string
	yes, list bool
}

func newRollbackCommand(a *cli.App) *cobra.Command {
	var f rollbackFlags
	c := a.Command("rollback [TARGET]", "orders.rollback",
		"  pawl rollback\n  pawl rollback --yes\n  pawl rollback --list\n  pawl rollback 1a2b3c4 --yes",
		cli.Between(0, 1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		target := strings.Join(args, "")
		if f.list && target != "" {
			return cli.Usage("cli.flags_conflict", "--list", target)
		}
		open := cli.Writing()
		if f.list {
			open = cli.Reading()
		}
		return a.With(c.Context(), open, func(sess *cli.Session) error {
			if !f.list && target == "" {
				return rollback(c.Context(), sess, f)
			}
			return rewind(c.Context(), sess, target, f)
		})
	}
	c.Flags().StringVarP(&f.reason, "message", "m", "", a.Text("cli.flag.reason"))
	c.Flags().BoolVar(&f.yes, "yes", false, a.Text("orders.flag.yes"))
	c.Flags().BoolVar(&f.list, "list", false, a.Text("orders.flag.list"))
	return c
}

// rollback brings the tree of a run back. Where there is none, the branch can go back, and a person says where to.
func rollback(ctx context.Context, sess *cli.Session, f rollbackFlags) error {
	last, err := sess.Workspace.Kernel.LastRun(ctx)
	if err != nil {
		return err
	}
	idle := last.Session == nil || last.Session.State == string(session.Idle)
	if !idle || last.Run != nil && last.Run.InTree(last.Task) {
		return control.Rollback(ctx, sess, f.reason, f.yes)
	}
	past, err := sess.Workspace.Project.Past(ctx)
	if err != nil {
		return err
	}
	list, err := sources(ctx, sess, past)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return control.Rollback(ctx, sess, f.reason, f.yes) // which says why there is nothing to go back to
	}
	if !cli.Picks(sess.Printer) {
		if err := printSources(sess.Printer, list); err != nil {
			return err
		}
		return pawl.Fail(pawl.CodeApprovalNeeded, "orders.rollback.which")
	}
	target, err := cli.Pick(ctx, sess.Printer, nil, "orders.rollback.pick", func() (items []tui.Item, err error) {
		for _, s := range list {
			items = append(items, tui.Item{ID: s.Target, Title: s.Target, Note: s.Title})
		}
		return items, nil
	})
	if err != nil {
		return err
	}
	return rewind(ctx, sess, target, f)
}

// maxSources bounds what is listed of each kind.
const maxSources = 5

// source is something that the branch can go back to.
type source struct {
	Target string    `json:"target"` // what to say to go there
	Kind   string    `json:"kind"`   // commit, package or log
	Title  string    `json:"title"`
	At     time.Time `json:"at"`
	// commit is what it stands for, "" where that is found by the time; before says that the state before it is meant,
	// and exact that the commit is that state.
	commit        string
	before, exact bool
}

// sources lists what the branch can go back to, the newest of each kind first.
func sources(ctx context.Context, sess *cli.Session, past host.Past) ([]source, error) {
	var out []source
	commits, err := past.Newest(ctx, maxSources+1)
	if err != nil {
		return nil, err
	}
	for n, c := range commits {
		if n > 0 { // the first is where the branch is
			title, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
			out = append(out, source{Target: c.ID[:min(len(c.ID), 10)], Kind: "commit", Title: title, At: c.At,
				commit: c.ID})
		}
	}
	archived, err := archivedPackages(ctx, sess)
	if err != nil {
		return nil, err
	}
	out = append(out, archived[:min(len(archived), maxSources)]...)
	logged, err := loggedChanges(ctx, sess)
	return append(out, logged[:min(len(logged), maxSources)]...), err
}

func archivedPackages(ctx context.Context, sess *cli.Session) ([]source, error) {
	p, err := sess.Workspace.Project.Packages(ctx)
	if err != nil || !p.Indexed {
		return nil, err
	}
	rows, _, err := solution.ReadIndex(p.Index)
	if err != nil {
		return nil, err
	}
	var out []source
	for _, r := range rows {
		name, err := solution.ParseName(r.Stamp + "_" + r.Name)
		if err != nil {
			continue
		}
		out = append(out, source{Target: name.String(), Kind: "package", Title: string(r.Result), At: name.Minute,
			before: true})
	}
	slices.SortStableFunc(out, func(a, b source) int { return b.At.Compare(a.At) })
	return out, nil
}

func loggedChanges(ctx context.Context, sess *cli.Session) ([]source, error) {
	docs, err := sess.Workspace.Project.Documents(ctx)
	if err != nil {
		return nil, err
	}
	data, ok := docs[knowledge.ChangelogName]
	if !ok {
		return nil, nil
	}
	entries, err := knowledge.ReadChangelog(knowledge.ChangelogName, data)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(entries, func(a, b knowledge.Entry) int { return b.At.Compare(a.At) })
	var out []source
	for _, e := range entries {
		if e.Kind == knowledge.RiskConfirmed || e.ID == "init" {
			continue
		}
		out = append(out, source{Target: "log:" + strconv.Itoa(len(out)+1), Kind: "log", Title: e.Text, At: e.At,
			commit: e.Commit, before: true, exact: e.Kind == knowledge.RolledBack})
	}
	return out, nil
}

// resolve finds the commit that a person means: by the name of a commit, an archived package or an entry of the
// CHANGELOG. Of the last two the state before that work is meant.
func resolve(ctx context.Context, sess *cli.Session, past host.Past, target string) (host.Commit, source, error) {
	c, err := past.Find(ctx, target)
	if err == nil {
		title, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
		return c, source{Target: target, Kind: "commit", Title: title, At: c.At}, nil
	}
	if pawl.CodeOf(err) != pawl.CodeNotFound {
		return c, source{}, err
	}
	missing := err
	archived, err := archivedPackages(ctx, sess)
	if err != nil {
		return c, source{}, err
	}
	logged, err := loggedChanges(ctx, sess)
	if err != nil {
		return c, source{}, err
	}
	for _, s := range append(archived, logged...) {
		_, feature, _ := strings.Cut(s.Target, "_")
		if s.Target != target && (s.Kind != "package" || feature != target) {
			continue
		}
		if s.commit != "" {
			name := s.commit
			if !s.exact {
				name += "^"
			}
			if c, err = past.Find(ctx, name); err == nil {
				return c, s, nil
			}
		}
		c, err = past.At(ctx, s.At.Add(-time.Second))
		return c, s, err
	}
	return c, source{}, missing
}

// rewind brings the branch back to an older state by a commit of its own, or lists what there is.
func rewind(ctx context.Context, sess *cli.Session, target string, f rollbackFlags) error {
	if !f.list {
		if s, err := sess.View(ctx); err == nil && s.State != session.Idle {
			return pawl.Fail(pawl.CodeBusy, "orders.rollback.running", string(s.State))
		}
		if err := free(ctx, sess); err != nil {
			return err
		}
	}
	past, err := sess.Workspace.Project.Past(ctx)
	if err != nil {
		return err
	}
	if f.list {
		list, err := sources(ctx, sess, past)
		if err != nil {
			return err
		}
		return printSources(sess.Printer, list)
	}
	to, src, err := resolve(ctx, sess, past, target)
	if err != nil {
		return err
	}
	if to.Tree == past.From {
		return pawl.Fail(pawl.CodeAlreadyInState, "orders.rollback.same", cli.Short(to.ID))
	}
	if len(past.Dirty) > 0 {
		return pawl.Fail(pawl.CodeRepository, "orders.dirty", strings.Join(past.Dirty[:min(len(past.Dirty), 5)], ", "))
	}
	if past.By.Name == "" {
		return pawl.Fail(pawl.CodeRepository, "orders.commit.nobody")
	}
	spec, err := rewinding(ctx, sess, past, to, src, f.reason)
	if err != nil {
		return err
	}
	if err := confirmRewind(ctx, sess, past, spec, src, f.yes); err != nil {
		return err
	}
	r, err := carry(ctx, sess, "~rollback", effect.KindRewind, spec)
	if err != nil {
		return err
	}
	done, err := effect.Decode[effect.RewindResult](r.Result)
	if err != nil {
		return err
	}
	if sess.JSON {
		return sess.PrintJSON(done)
	}
	sess.Say(sess.Style.OK() + " " + sess.Text("orders.rollback.done", done.Branch, cli.Short(to.ID),
		cli.Short(done.Commit), len(done.Files)))
	sess.Say("  " + sess.Text("orders.rollback.kept", done.Backup))
	if done.Clean {
		sess.Say("  " + sess.Style.OK() + " " + sess.Text("orders.rollback.clean"))
	} else {
		sess.Say("  " + sess.Style.Warn() + " " + sess.Text("orders.rollback.unclean"))
	}
	for _, l := range done.Left {
		sess.Say("  " + sess.Style.Warn() + " " + cli.Display(l))
	}
	return nil
}

func printSources(pr *cli.Printer, list []source) error {
	if pr.JSON {
		if list == nil {
			list = []source{}
		}
		return pr.PrintJSON(map[string]any{"sources": list})
	}
	if len(list) == 0 {
		pr.SayText("orders.rollback.nothing")
		return nil
	}
	kind := ""
	var t term.Table
	flush := func() {
		pr.SayTable(&t, pr.Std.Width)
		t = term.Table{}
	}
	for _, s := range list {
		if s.Kind != kind {
			flush()
			kind = s.Kind
			pr.Say(pr.Style.Bold(pr.Text("orders.rollback.kind." + kind)))
		}
		t.Row("  "+cli.Display(s.Target), s.At.UTC().Format("2006-01-02 15:04"), cli.Display(s.Title))
	}
	flush()
	pr.Say("  " + pr.Style.Cyan(pr.Text("cli.next")) + pr.Text("orders.rollback.next"))
	return nil
}

// rewinding decides the commit that goes back, the branch that keeps what is given up, and what the CHANGELOG says of
// it.
func rewinding(ctx context.Context, sess *cli.Session, past host.Past, to host.Commit, src source,
	reason string) (effect.RewindSpec, error) {
	at := sess.Workspace.Kernel.Now()
	backup, err := past.Free(ctx, "pawl/backup-"+at.UTC().Format("200601021504"))
	if err != nil {
		return effect.RewindSpec{}, err
	}
	c := knowledge.Commit{Type: knowledge.CommitRevert, Footers: []knowledge.Footer{{Key: "Restores", Value: to.ID},
		{Key: "Backup", Value: backup}}}
	summary := func(l message.Lang) string { return sess.TextIn(l, "orders.rollback.summary", cli.Short(to.ID)) }
	c.Local.Summary, c.English.Summary = summary(writing(sess)), summary(message.English)
	c.Local.Body, c.English.Body = reason, reason
	text, err := knowledge.Compose(c, language(sess), sess.Config.Bilingual)
	if err != nil {
		return effect.RewindSpec{}, err
	}
	spec := effect.RewindSpec{
		Branch: past.Branch, Head: past.Head, From: past.From, Target: to.ID, Tree: to.Tree, Backup: backup,
		Message: text, By: past.By, At: at,
	}
	docs, err := sess.Workspace.Project.Documents(ctx)
	if err != nil {
		return spec, err
	}
	if !knowledge.Logs(sess.Config.KBMode, true, knowledge.RolledBack).Write {
		return spec, nil
	}
	old, had := docs[knowledge.ChangelogName]
	id := "rollback-" + at.UTC().Format("20060102150405")
	log, err := knowledge.Log(old, knowledge.Entry{At: at, Kind: knowledge.RiskConfirmed,
		Text: written(sess, "orders.rollback.risk_entry", string(sess.App.Actor())), ID: id + "-risk"}, language(sess))
	if err == nil {
		log, err = knowledge.Log([]byte(log), knowledge.Entry{At: at, Kind: knowledge.RolledBack,
			Text: written(sess, "orders.rollback.entry", src.Target, cli.Short(to.ID), backup), Commit: past.Head,
			ID: id}, language(sess))
	}
	spec.Log = []effect.Document{effect.NewDocument(knowledge.ChangelogName, log, old, had)}
	return spec, err
}

// confirmRewind warns of what is given up and asks.
func confirmRewind(ctx context.Context, sess *cli.Session, past host.Past, spec effect.RewindSpec, src source,
	yes bool) error {
	if !sess.JSON {
		files, err := past.Stats(ctx, spec.From, spec.Tree)
		if err != nil {
			return err
		}
		sess.Say(sess.Style.Warn() + " " +
			sess.Style.Bold(sess.Text("orders.rollback.warn", spec.Branch, cli.Short(spec.Target))))
		if src.before {
			sess.Say("  " + sess.Text("orders.rollback.before", src.Target))
		}
		if src.Title != "" {
			sess.Say("  " + sess.Style.Dim(cli.Display(src.Title)))
		}
		shown := files[:min(len(files), maxShown)]
		cli.PrintSection(sess.Printer, "orders.rollback.files", cli.FileLines(sess.Printer, shown, "  "))
		if n := len(files) - len(shown); n > 0 {
			sess.Say("  " + sess.Style.Dim(sess.Text("orders.more", n)))
		}
		sess.Say("  " + sess.Text("orders.rollback.backup", spec.Backup))
	}
	return sure(ctx, sess.Printer, sess.Text("orders.rollback.ask"), yes)
}
