package orders

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/host"
	"pawl/kernel/effect"
	"pawl/kernel/planning"
	"pawl/machine/session"
	"pawl/machine/workflow"
	"pawl/text/knowledge"
	"pawl/text/solution"
)

// initFlags are the flags of `pawl init`.
type initFlags struct {
	yes, rebuild, bare bool
	adopt              string
}

func newInitCommand(a *cli.App) *cobra.Command {
	var f initFlags
	c := a.Command("init", "orders.init", "  pawl init\n  pawl init --rebuild --yes\n  pawl init --adopt ../old-path",
		cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if f.adopt != "" {
			if err := adopt(c.Context(), a, f.adopt, f.yes); err != nil {
				return err
			}
			f.bare = true // its documents came with it
		}
		return a.With(c.Context(), host.Open{Create: true, Meant: true},
			func(sess *cli.Session) error { return initialise(c.Context(), sess, f) })
	}
	c.Flags().BoolVar(&f.yes, "yes", false, a.Text("orders.flag.yes"))
	c.Flags().BoolVar(&f.rebuild, "rebuild", false, a.Text("orders.flag.rebuild"))
	c.Flags().BoolVar(&f.bare, "bare", false, a.Text("orders.flag.bare"))
	c.Flags().StringVar(&f.adopt, "adopt", "", a.Text("orders.flag.adopt"))
	return c
}

// adopt gives the workspace here the state of the one that was at a path.
func adopt(ctx context.Context, a *cli.App, from string, sure bool) error {
	place, err := a.Found()
	h, ok := a.Host.(host.Founder)
	if err != nil || !ok {
		return err
	}
	if !filepath.IsAbs(from) {
		from = filepath.Join(a.Std.Dir, from)
	}
	if real, err := filepath.EvalSymlinks(from); err == nil {
		from = real
	}
	return h.Adopt(ctx, place, from, sure)
}

// built is what became of the knowledge base.
type built struct {
	Condition knowledge.Condition  `json:"condition"` // what there was
	Choice    knowledge.InitChoice `json:"choice"`
	Modules   int                  `json:"modules"`
	Stack     []string             `json:"stack"`
	Written   []string             `json:"written"`
	// Skipped is the key of the message that says why nothing was done, "" where something was.
	Skipped string `json:"skipped,omitempty"`
}

// initialise makes the workspace, and the knowledge base in it.
func initialise(ctx context.Context, sess *cli.Session, f initFlags) error {
	out, err := sess.Do(ctx, &planning.Init{Place: sess.Workspace.Place})
	if err != nil {
		return err
	}
	var kb built
	if !f.bare {
		if kb, err = buildKnowledge(ctx, sess, f); err != nil {
			return err
		}
	}
	if sess.JSON {
		reply := map[string]any{"workspace": sess.Workspace.Place.Workspace, "git": sess.Workspace.Place.Git,
			"session": cli.ID(out), "created": out.Changed}
		if !f.bare {
			reply["knowledge"] = kb
		}
		return sess.PrintJSON(reply)
	}
	key := "cli.init.exists"
	if out.Changed {
		key = "cli.init.done"
	}
	sess.Say(sess.Style.OK() + " " + sess.Text(key, sess.Workspace.Place.Workspace))
	if !sess.Workspace.Place.Git {
		sess.Say("  " + sess.Text("cli.init.no_git"))
	}
	if !f.bare {
		kb.say(sess.Printer)
	}
	sess.Say("  " + sess.Text("cli.init.next"))
	return nil
}

func (b built) say(pr *cli.Printer) {
	switch {
	case b.Skipped != "":
		pr.Say(pr.Style.Warn() + " " + pr.Text(b.Skipped))
	case b.Choice == knowledge.InitCancel:
		pr.Say("  " + pr.Text("orders.left"))
	case len(b.Written) == 0:
		pr.Say(pr.Style.OK() + " " + pr.Text("orders.init.same", b.Modules))
	default:
		pr.Say(pr.Style.OK() + " " + pr.Text("orders.init.built", b.Modules, len(b.Written)))
		for _, name := range b.Written[:min(len(b.Written), 8)] {
			pr.Say("  " + pr.Style.Dim(cli.Display(".pawl/"+name)))
		}
		if n := len(b.Written) - 8; n > 0 {
			pr.Say("  " + pr.Style.Dim(pr.Text("orders.more", n)))
		}
	}
}

// buildKnowledge makes the documents of the knowledge base, or brings them up to date.
func buildKnowledge(ctx context.Context, sess *cli.Session, f initFlags) (built, error) {
	b := built{Written: []string{}, Stack: []string{}}
	s, err := sess.View(ctx)
	if err != nil {
		return b, err
	}
	if s.State != session.Idle {
		b.Skipped = "orders.init.busy" // the workspace is there, which is what most want of it; the documents can wait
		return b, nil
	}
	if err := free(ctx, sess); err != nil {
		return b, err
	}
	docs, err := sess.Workspace.Project.Documents(ctx)
	if err != nil {
		return b, err
	}
	var wrong []pawl.Problem
	b.Condition, wrong = knowledge.Judge(docs)
	choices, err := knowledge.Init(sess.Config.KBMode, b.Condition, sess.Present(), f.yes)
	if err != nil {
		return b, err
	}
	b.Choice = choices[0]
	switch {
	case f.rebuild:
		b.Choice = knowledge.InitRebuild
	case len(choices) > 1:
		for _, w := range wrong {
			sess.Say(sess.Style.Warn() + " " + onOneLine(sess.Printer, w.Error(solution.At)))
		}
		if b.Choice, err = askInit(ctx, sess, b.Condition, choices); err != nil || b.Choice == knowledge.InitCancel {
			return b, err
		}
	}
	return b, fill(ctx, sess, "~init", docs, &b)
}

// Sync brings the knowledge base in line with what a flow has done, as far as KB_CREATE_MODE asks for it at a point of
// the flow (docs/spec/workflow.md#develop, step 10): it is made, made anew, brought up to date, or left alone. The
// caller must not own the workspace.
func Sync(ctx context.Context, sess *cli.Session, at knowledge.Point) error {
	docs, err := sess.Workspace.Project.Documents(ctx)
	if err != nil {
		return err
	}
	var b built
	b.Condition, _ = knowledge.Judge(docs)
	decision, err := knowledge.Decide(knowledge.Question{Mode: sess.Config.KBMode, Condition: b.Condition, Coding: true,
		At: at})
	if err != nil {
		return err
	}
	if decision.Note != "" {
		sess.Note(sess.Style.Dim(sess.Text(decision.Note)))
	}
	switch {
	case decision.Skipped == workflow.True || !decision.Write:
		return nil
	case decision.Do == knowledge.Rebuild:
		b.Choice = knowledge.InitRebuild
	}
	return fill(ctx, sess, "~init", docs, &b)
}

func askInit(ctx context.Context, sess *cli.Session, c knowledge.Condition,
	choices []knowledge.InitChoice) (knowledge.InitChoice, error) {
	var options []option
	for n, choice := range choices {
		key := string('1' + rune(n))
		options = append(options, option{key, sess.Text("orders.init.choice." + string(choice))})
	}
	got, err := choose(ctx, sess.Printer, sess.Text("orders.init.ask."+string(c)), options)
	if err != nil {
		return "", err
	}
	return choices[got[0]-'1'], nil
}

// fill scans the code and writes what the documents are to say, a batch of modules at a time: each batch is whole, so
// that a large project that is cut off goes on where it was.
func fill(ctx context.Context, sess *cli.Session, command string, docs map[string][]byte, b *built) error {
	sess.Note(sess.Style.Dim(sess.Text("orders.init.scan")))
	project, err := sess.Workspace.Project.Scan(ctx,
		func(files int) { sess.Note("  " + sess.Style.Dim(sess.Text("orders.init.scanned", files))) })
	if err != nil {
		return err
	}
	b.Modules, b.Stack = len(project.Modules), project.Stack
	at := sess.Workspace.Kernel.Now()
	scan := knowledge.Scan{Project: project, At: at, Language: language(sess),
		Rebuild: b.Choice == knowledge.InitRebuild}
	batches := max(1, len(project.Batches()))
	for n := range batches {
		files, err := knowledge.Update(scan, docs, n)
		if err != nil {
			return err
		}
		if _, ok := docs[knowledge.ChangelogName]; !ok && n == batches-1 {
			entry := knowledge.Entry{At: at, Kind: knowledge.Added, Text: written(sess, "orders.init.entry"),
				ID: "init"}
			if files[knowledge.ChangelogName], err = knowledge.Log(nil, entry, scan.Language); err != nil {
				return err
			}
		}
		if len(files) == 0 {
			continue
		}
		if batches > 1 {
			sess.Note("  " + sess.Style.Dim(sess.Text("orders.init.batch", n+1, batches)))
		}
		var spec effect.KnowledgeSpec
		for _, name := range slices.Sorted(maps.Keys(files)) {
			old, had := docs[name]
			spec.Files = append(spec.Files, effect.NewDocument(name, files[name], old, had))
		}
		r, err := carry(ctx, sess, command, effect.KindKnowledge, spec)
		if err != nil {
			return err
		}
		done, err := effect.Decode[effect.KnowledgeResult](r.Result)
		if err != nil {
			return err
		}
		b.Written = append(b.Written, done.Written...)
		for _, name := range done.Written {
			docs[name] = []byte(files[name])
		}
	}
	return nil
}

// onOneLine renders an error on one line.
func onOneLine(pr *cli.Printer, err *pawl.Error) string {
	text, _ := pr.Lang.Error(err)
	return cli.Display(text)
}
