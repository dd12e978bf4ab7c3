package orders

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl/face/cli"
	"pawl/face/host"
	"pawl/kernel/effect"
	"pawl/kernel/planning"
	"pawl/machine/session"
)

// prepareFlags are the flags of `pawl prepare`.
type prepareFlags struct {
	yes, scripts bool
	hosts        []string
}

func newPrepareCommand(a *cli.App) *cobra.Command {
	var f prepareFlags
	c := a.Command("prepare", "orders.prepare",
		"  pawl prepare\n  pawl prepare --yes\n  pawl prepare --scripts\n  pawl prepare --host npm.example.org",
		cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.With(c.Context(), host.Open{Create: true},
			func(sess *cli.Session) error { return prepare(c.Context(), sess, f) })
	}
	c.Flags().BoolVar(&f.scripts, "scripts", false, a.Text("orders.flag.scripts"))
	c.Flags().StringArrayVar(&f.hosts, "host", nil, a.Text("orders.flag.host"))
	c.Flags().BoolVar(&f.yes, "yes", false, a.Text("orders.flag.yes"))
	return c
}

// prepare has the dependencies fetched that the project lacks.
func prepare(ctx context.Context, sess *cli.Session, f prepareFlags) error {
	if _, err := sess.Do(ctx, &planning.Init{Place: sess.Workspace.Place}); err != nil {
		return err
	}
	place, err := standing(ctx, sess)
	if err != nil {
		return err
	}
	spec := effect.PrepareSpec{Scripts: f.scripts || sess.Config.PrepareScripts, Task: place.Tree != place.Workspace}
	lacks, err := sess.Workspace.Project.Lacks(ctx, place, spec.Scripts)
	if err != nil {
		return err
	}
	sites, err := sess.Workspace.Project.Sites(f.hosts)
	if err != nil {
		return err
	}
	var hopeless error
	for _, l := range lacks {
		if l.Err != nil {
			hopeless = l.Err
			continue
		}
		for _, s := range sites {
			if !slices.Contains(l.Set.Sites, s) {
				l.Set.Sites = append(l.Set.Sites, s)
			}
		}
		spec.Sets = append(spec.Sets, l.Set)
	}
	if len(spec.Sets) == 0 {
		if hopeless != nil {
			return hopeless
		}
		if sess.JSON {
			return sess.PrintJSON(effect.PrepareResult{Sets: []effect.PreparedSet{}})
		}
		sess.SayText("orders.prepare.nothing")
		return nil
	}
	if !sess.JSON {
		for _, l := range lacks {
			sayLack(sess.Printer, l)
		}
		if spec.Scripts {
			sess.Say(sess.Style.Warn() + " " + sess.Text("orders.prepare.lets"))
		}
	}
	if err := sure(ctx, sess.Printer, sess.Text("orders.prepare.ask", strings.Join(connected(spec), ", ")),
		f.yes); err != nil {
		return err
	}
	r, err := carry(ctx, sess, "prepare", effect.KindPrepare, spec)
	if err != nil {
		return err
	}
	return sayPrepared(sess.Printer, r, hopeless)
}

// standing is the tree whose lock files count: that of the task at work, where it waits for a person, else the user's
// own.
func standing(ctx context.Context, sess *cli.Session) (effect.Place, error) {
	place := cli.WorkPlace(sess.Workspace.Place, true)
	s, err := sess.Workspace.Kernel.Snapshot(ctx)
	if err != nil || s.Session == nil || s.Session.State == string(session.Idle) || s.Task == nil ||
		s.Task.Place.Tree == "" || !sess.Workspace.Project.Stands(s.Task.Place) {
		return place, err
	}
	return s.Task.Place, nil
}

// connected lists the places that a spec names.
func connected(spec effect.PrepareSpec) []string {
	var out []string
	for _, s := range spec.Sets {
		for _, at := range s.Sites {
			if !slices.Contains(out, at.Host) {
				out = append(out, at.Host)
			}
		}
	}
	return out
}

// sayLack tells what is missing, and how it would be fetched.
func sayLack(pr *cli.Printer, l host.Lack) {
	line := cli.Display(l.Set.Path) + "  " + pr.Text("orders.prepare.state."+l.State)
	if l.Detail != "" {
		line += " (" + cli.Display(l.Detail) + ")"
	}
	pr.Say(pr.Style.Warn() + " " + line)
	if l.Err != nil {
		pr.Say("    " + pr.Style.Dim(cli.Display(l.Err.Error())))
		return
	}
	pr.Say("    " + pr.Style.Dim(cli.Display(l.Tool)+"  "+cli.Display(strings.Join(l.Set.Locks, ", "))))
}

// mostNamed is how many packages are named on one line.
const mostNamed = 8

// sayPrepared tells what was fetched, and what was not let run.
func sayPrepared(pr *cli.Printer, r effect.Receipt, hopeless error) error {
	result, err := effect.Decode[effect.PrepareResult](r.Result)
	if err != nil {
		return err
	}
	if pr.JSON {
		if err := pr.PrintJSON(result); err != nil {
			return err
		}
		return hopeless
	}
	for _, s := range result.Sets {
		pr.Say(pr.Style.OK() + " " + cli.Display(strings.Join(s.Folders, ", ")) + "  " +
			pr.Style.Dim(cli.Display(s.Tool)))
		if names := s.Scripts; len(names) > 0 && !s.Ran {
			shown := strings.Join(names[:min(len(names), mostNamed)], ", ")
			if len(names) > mostNamed {
				shown += ", …"
			}
			pr.Say(pr.Style.Warn() + " " + pr.Text("orders.prepare.scripts", len(names), cli.Display(shown)))
		}
	}
	pr.SayText("orders.prepare.done")
	return hopeless
}

// left reports whether what a crash cut off is the fetching of dependencies, which is let through where a plan waits
// for a word or work stopped as well.
func left(ctx context.Context, sess *cli.Session, id string) bool {
	e, err := sess.Workspace.Kernel.Effect(ctx, id)
	return err == nil && e != nil && e.What() == effect.KindPrepare
}
