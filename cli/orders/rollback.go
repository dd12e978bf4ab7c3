package orders

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/cli"
	"pawl/cli/term"
	"pawl/effect"
	"pawl/knowledge"
	"pawl/machine/session"
	"pawl/message"
	"pawl/solution"
)

// rollbackFlags are the flags of `pawl rollback`.
type rollbackFlags struct {
	reason    string
	yes, list bool
}

func newRollbackCommand(a *cli.App) *cobra.Command {
	var f rollbackFlags
	c := a.Command("rollback [TARGET]", "orders.rollback", "  pawl rollback\n  pawl rollback --yes\n  pawl rollback --list\n  pawl rollback 1a2b3c4 --yes", cli.Between(0, 1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		target := strings.Join(args, "")
		if f.list && target != "" {
			return cli.Usage("cli.flags_conflict", "--list", target)
		}
		open := cli.Writing()
		if f.list {
			open = cli.Reading()
		}
		return a.With(c.Context(), open, func(d *cli.Desk) error {
			if !f.list && target == "" {
				return cli.Rollback(c.Context(), d, f.reason, f.yes)
			}
			return rewind(c.Context(), d, target, f)
		})
	}
	c.Flags().StringVarP(&f.reason, "message", "m", "", a.Text("cli.flag.reason"))
	c.Flags().BoolVar(&f.yes, "yes", false, a.Text("orders.flag.yes"))
	c.Flags().BoolVar(&f.list, "list", false, a.Text("orders.flag.list"))
	return c
}

// maxSources bounds what is listed of each kind.
const maxSources = 5

// source is something that the branch can go back to.
type source struct {
	Target string    `json:"target"` // what to say to go there
	Kind   string    `json:"kind"`   // commit, package or log
	Title  string    `json:"title"`
	At     time.Time `json:"at"`
	// commit is what it stands for, "" where that is found by the time; before says that the state before it is meant, and
	// exact that the commit is that state.
	commit        string
	before, exact bool
}

// sources lists what the branch can go back to, the newest of each kind first.
func sources(ctx context.Context, d *cli.Desk, past cli.Past) ([]source, error) {
	var out []source
	commits, err := past.Newest(ctx, maxSources+1)
	if err != nil {
		return nil, err
	}
	for n, c := range commits {
		if n > 0 { // the first is where the branch is
			title, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
			out = append(out, source{Target: c.ID[:min(len(c.ID), 10)], Kind: "commit", Title: title, At: c.At, commit: c.ID})
		}
	}
	archived, err := archivedPackages(ctx, d)
	if err != nil {
		return nil, err
	}
	out = append(out, archived[:min(len(archived), maxSources)]...)
	logged, err := loggedChanges(ctx, d)
	return append(out, logged[:min(len(logged), maxSources)]...), err
}

func archivedPackages(ctx context.Context, d *cli.Desk) ([]source, error) {
	p, err := d.Workspace.Project.Packages(ctx)
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
		out = append(out, source{Target: name.String(), Kind: "package", Title: string(r.Result), At: name.Minute, before: true})
	}
	slices.SortStableFunc(out, func(a, b source) int { return b.At.Compare(a.At) })
	return out, nil
}

func loggedChanges(ctx context.Context, d *cli.Desk) ([]source, error) {
	docs, err := d.Workspace.Project.Documents(ctx)
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
		out = append(out, source{Target: "log:" + strconv.Itoa(len(out)+1), Kind: "log", Title: e.Text, At: e.At, commit: e.Commit, before: true, exact: e.Kind == knowledge.RolledBack})
	}
	return out, nil
}

// resolve finds the commit that a person means: by the name of a commit, an archived package or an entry of the CHANGELOG. Of
// the last two the state before that work is meant.
func resolve(ctx context.Context, d *cli.Desk, past cli.Past, target string) (cli.Commit, source, error) {
	c, err := past.Find(ctx, target)
	if err == nil {
		title, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
		return c, source{Target: target, Kind: "commit", Title: title, At: c.At}, nil
	}
	if pawl.CodeOf(err) != pawl.CodeNotFound {
		return c, source{}, err
	}
	missing := err
	archived, err := archivedPackages(ctx, d)
	if err != nil {
		return c, source{}, err
	}
	logged, err := loggedChanges(ctx, d)
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
func rewind(ctx context.Context, d *cli.Desk, target string, f rollbackFlags) error {
	if !f.list {
		if s, err := d.Session(ctx); err == nil && s.State != session.Idle {
			return pawl.Fail(pawl.CodeBusy, "orders.rollback.running", string(s.State))
		}
		if err := free(ctx, d); err != nil {
			return err
		}
	}
	past, err := d.Workspace.Project.Past(ctx)
	if err != nil {
		return err
	}
	if f.list {
		list, err := sources(ctx, d, past)
		if err != nil {
			return err
		}
		return printSources(d, list)
	}
	to, src, err := resolve(ctx, d, past, target)
	if err != nil {
		return err
	}
	if to.Tree == past.From {
		return pawl.Fail(pawl.CodeAlreadyInState, "orders.rollback.same", short(to.ID))
	}
	if len(past.Dirty) > 0 {
		return pawl.Fail(pawl.CodeRepository, "orders.dirty", strings.Join(past.Dirty[:min(len(past.Dirty), 5)], ", "))
	}
	if past.By.Name == "" {
		return pawl.Fail(pawl.CodeRepository, "orders.commit.nobody")
	}
	spec, err := rewinding(ctx, d, past, to, src, f.reason)
	if err != nil {
		return err
	}
	if err := confirmRewind(ctx, d, past, spec, src, f.yes); err != nil {
		return err
	}
	r, err := carry(ctx, d, "~rollback", effect.KindRewind, spec)
	if err != nil {
		return err
	}
	done, err := effect.Decode[effect.RewindResult](r.Result)
	if err != nil {
		return err
	}
	if d.Flags.JSON {
		return d.PrintJSON(done)
	}
	d.Say(d.Style.OK() + " " + d.Text("orders.rollback.done", done.Branch, short(to.ID), short(done.Commit), len(done.Files)))
	d.Say("  " + d.Text("orders.rollback.kept", done.Backup))
	if done.Clean {
		d.Say("  " + d.Style.OK() + " " + d.Text("orders.rollback.clean"))
	} else {
		d.Say("  " + d.Style.Warn() + " " + d.Text("orders.rollback.unclean"))
	}
	for _, l := range done.Left {
		d.Say("  " + d.Style.Warn() + " " + cli.Display(l))
	}
	return nil
}

func printSources(d *cli.Desk, list []source) error {
	if d.Flags.JSON {
		if list == nil {
			list = []source{}
		}
		return d.PrintJSON(map[string]any{"sources": list})
	}
	if len(list) == 0 {
		d.SayText("orders.rollback.nothing")
		return nil
	}
	kind := ""
	var t term.Table
	flush := func() {
		d.SayTable(&t, d.Std.Width)
		t = term.Table{}
	}
	for _, s := range list {
		if s.Kind != kind {
			flush()
			kind = s.Kind
			d.Say(d.Style.Bold(d.Text("orders.rollback.kind." + kind)))
		}
		t.Row("  "+cli.Display(s.Target), s.At.UTC().Format("2006-01-02 15:04"), cli.Display(s.Title))
	}
	flush()
	d.Say("  " + d.Style.Cyan(d.Text("cli.next")) + d.Text("orders.rollback.next"))
	return nil
}

// rewinding decides the commit that goes back, the branch that keeps what is given up, and what the CHANGELOG says of it.
func rewinding(ctx context.Context, d *cli.Desk, past cli.Past, to cli.Commit, src source, reason string) (effect.RewindSpec, error) {
	at := d.Workspace.Kernel.Now()
	backup, err := past.Free(ctx, "pawl/backup-"+at.UTC().Format("200601021504"))
	if err != nil {
		return effect.RewindSpec{}, err
	}
	c := knowledge.Commit{Type: knowledge.CommitRevert, Footers: []knowledge.Footer{{Key: "Restores", Value: to.ID}, {Key: "Backup", Value: backup}}}
	summary := func(l message.Lang) string { return d.TextIn(l, "orders.rollback.summary", short(to.ID)) }
	c.Local.Summary, c.English.Summary = summary(writing(d)), summary(message.English)
	c.Local.Body, c.English.Body = reason, reason
	text, err := knowledge.Compose(c, language(d), d.Config.Bilingual)
	if err != nil {
		return effect.RewindSpec{}, err
	}
	spec := effect.RewindSpec{
		Branch: past.Branch, Head: past.Head, From: past.From, Target: to.ID, Tree: to.Tree, Backup: backup, Message: text, By: past.By, At: at,
	}
	docs, err := d.Workspace.Project.Documents(ctx)
	if err != nil {
		return spec, err
	}
	if !knowledge.Logs(d.Config.KBMode, true, knowledge.RolledBack).Write {
		return spec, nil
	}
	old, had := docs[knowledge.ChangelogName]
	id := "rollback-" + at.UTC().Format("20060102150405")
	log, err := knowledge.Log(old, knowledge.Entry{At: at, Kind: knowledge.RiskConfirmed, Text: written(d, "orders.rollback.risk_entry", string(d.Actor())), ID: id + "-risk"}, language(d))
	if err == nil {
		log, err = knowledge.Log([]byte(log), knowledge.Entry{At: at, Kind: knowledge.RolledBack, Text: written(d, "orders.rollback.entry", src.Target, short(to.ID), backup), Commit: past.Head, ID: id}, language(d))
	}
	spec.Log = []effect.Document{effect.NewDocument(knowledge.ChangelogName, log, old, had)}
	return spec, err
}

// confirmRewind warns of what is given up and asks.
func confirmRewind(ctx context.Context, d *cli.Desk, past cli.Past, spec effect.RewindSpec, src source, yes bool) error {
	if !d.Flags.JSON {
		files, err := past.Stats(ctx, spec.From, spec.Tree)
		if err != nil {
			return err
		}
		d.Say(d.Style.Warn() + " " + d.Style.Bold(d.Text("orders.rollback.warn", spec.Branch, short(spec.Target))))
		if src.before {
			d.Say("  " + d.Text("orders.rollback.before", src.Target))
		}
		if src.Title != "" {
			d.Say("  " + d.Style.Dim(cli.Display(src.Title)))
		}
		shown := files[:min(len(files), maxShown)]
		d.Section("orders.rollback.files", d.FileLines(shown, "  "))
		if n := len(files) - len(shown); n > 0 {
			d.Say("  " + d.Style.Dim(d.Text("orders.more", n)))
		}
		d.Say("  " + d.Text("orders.rollback.backup", spec.Backup))
	}
	return sure(ctx, d.App, d.Text("orders.rollback.ask"), yes)
}
