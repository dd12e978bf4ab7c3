package orders

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/term"
	"pawl/face/host"
	"pawl/kernel/effect"
	"pawl/text/solution"
)

func newCleanCommand(a *cli.App) *cobra.Command {
	var all bool
	c := a.Command("clean [PACKAGE...]", "orders.clean",
		"  pawl clean\n  pawl clean --all\n  pawl clean 202602081200_login", cli.Between(0, 1000), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		if all && len(args) > 0 {
			return cli.Usage("cli.flags_conflict", "--all", args[0])
		}
		return a.With(c.Context(), cli.Writing(),
			func(sess *cli.Session) error { return clean(c.Context(), sess, args, all) })
	}
	c.Flags().BoolVar(&all, "all", false, a.Text("orders.flag.clean_all"))
	return c
}

// clean retires packages that nobody works on.
func clean(ctx context.Context, sess *cli.Session, args []string, all bool) error {
	if err := free(ctx, sess); err != nil {
		return err
	}
	p, err := sess.Workspace.Project.Packages(ctx)
	if err != nil {
		return err
	}
	left := solution.Leftovers(p.Names, "")
	names, others := foldersIn(p.Names)
	for _, o := range others {
		sess.Note(sess.Style.Warn() + " " + sess.Text("orders.clean.no_package", ".pawl/plan/"+o))
	}
	chosen, err := pickLeftovers(ctx, sess.Printer, left, names, args, all)
	if err != nil {
		return err
	}
	result := effect.RetireResult{Archived: []string{}}
	if len(chosen) > 0 {
		spec, err := retiring(sess, p, chosen)
		if err != nil {
			return err
		}
		r, err := carry(ctx, sess, "~clean", effect.KindRetire, spec)
		if err != nil {
			return err
		}
		if result, err = effect.Decode[effect.RetireResult](r.Result); err != nil {
			return err
		}
	}
	if sess.JSON {
		if others == nil {
			others = []string{}
		}
		return sess.PrintJSON(map[string]any{"archived": result.Archived, "no_packages": others,
			"left": len(names) - len(chosen)})
	}
	if len(names) == 0 {
		sess.Say(sess.Style.OK() + " " + sess.Text("orders.clean.nothing"))
	}
	for _, to := range result.Archived {
		sess.Say(sess.Style.OK() + " " + sess.Text("orders.clean.archived", ".pawl/"+to))
	}
	return nil
}

// pickLeftovers says which packages are meant. Where nobody said it, a person is asked; without one the packages are
// listed with what to pass.
func pickLeftovers(ctx context.Context, pr *cli.Printer, left []solution.Leftover, names, args []string,
	all bool) ([]string, error) {
	switch {
	case all || len(names) == 0 && len(args) == 0:
		return names, nil
	case len(args) > 0:
		picked := map[string]bool{}
		for _, arg := range args {
			name, err := solution.Pick(names, arg)
			if err != nil {
				return nil, err
			}
			picked[name] = true
		}
		var out []string
		for _, n := range names { // in the order of their age, each once
			if picked[n] {
				out = append(out, n)
			}
		}
		return out, nil
	}
	if !pr.JSON {
		pr.SayText("orders.clean.list")
		var t term.Table
		n := 0
		for _, l := range left {
			if l.Package {
				n++
				t.Row("  "+strconv.Itoa(n), cli.Display(l.Name), l.Minute.UTC().Format("2006-01-02 15:04"))
			}
		}
		pr.SayTable(&t, pr.Std.Width)
	}
	if !pr.Present() {
		return nil, pawl.Fail(pawl.CodeApprovalNeeded, "orders.clean.which", len(names))
	}
	return askLeftovers(ctx, pr, names)
}

func askLeftovers(ctx context.Context, pr *cli.Printer, names []string) ([]string, error) {
	for {
		line, err := cli.AskText(ctx, pr, pr.Text("orders.clean.ask"))
		if err != nil {
			return nil, ctx.Err()
		}
		switch strings.ToLower(line) {
		case "a", "all":
			return names, nil
		case "", "n", "no", "c":
			pr.SayText("orders.left")
			return nil, nil
		}
		var out []string
		for _, word := range strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' || r == '，' }) {
			n, err := strconv.Atoi(word)
			if err != nil || n < 1 || n > len(names) {
				out = nil
				break
			}
			out = append(out, names[n-1])
		}
		if len(out) > 0 {
			return out, nil
		}
	}
}

// retiring decides how packages go into the archive: as not carried out, each under a name that is free.
func retiring(sess *cli.Session, p host.Packages, names []string) (effect.RetireSpec, error) {
	spec := effect.RetireSpec{}
	taken := map[string]bool{}
	index := string(p.Index)
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		files := maps.Clone(p.Files[name])
		out, err := solution.Retire(solution.Retiring{
			Name: name, Files: files, Result: solution.NotCarried, At: sess.Workspace.Kernel.Now(), Index: index,
			Language: solution.Chinese, // as the end of a run writes it
			Reason:   func(solution.Task) string { return written(sess, "orders.clean.reason") },
			Exists:   func(dir string) bool { return taken[dir] || p.Exists(dir) },
		})
		if err != nil {
			return spec, err
		}
		r := effect.Retired{From: out.From, To: out.To, Result: string(out.Result)}
		if old, had := files[solution.TasksName]; had && out.Tasks != string(old) {
			r.Tasks = effect.NewDocument(out.From+"/"+solution.TasksName, out.Tasks, old, true)
		}
		taken[out.To] = true
		index = out.Index
		spec.Packages = append(spec.Packages, r)
	}
	spec.Index = effect.NewDocument(solution.IndexName, index, p.Index, p.Indexed)
	return spec, nil
}
