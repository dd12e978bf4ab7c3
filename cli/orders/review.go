package orders

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/cli"
	"pawl/effect"
	"pawl/message"
	"pawl/solution"
)

func newReviewCommand(a *cli.App) *cobra.Command {
	var pack bool
	c := a.Command("review [all|recent|staged|PATH...]", "orders.review", "  pawl review\n  pawl review staged\n  pawl review api/ --json\n  pawl review all --package", cli.Between(0, 1000), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		open := cli.Reading()
		if pack {
			open = cli.Writing()
		}
		return a.With(c.Context(), open, func(d *cli.Desk) error { return review(c.Context(), d, args, pack) })
	}
	c.Flags().BoolVar(&pack, "package", false, a.Text("orders.flag.package"))
	return c
}

// review looks at the code and says what it found.
func review(ctx context.Context, d *cli.Desk, args []string, pack bool) error {
	scope, paths, err := scopeOf(ctx, d, args)
	if err != nil {
		return err
	}
	r, err := d.Workspace.Project.Review(ctx, scope, paths)
	if err != nil {
		return err
	}
	folder := ""
	if pack {
		if folder, err = reviewPackage(ctx, d, r); err != nil {
			return err
		}
	}
	if d.Flags.JSON {
		return printReview(d, r, folder)
	}
	sayReview(d, r)
	if folder != "" {
		d.Say(d.Style.OK() + " " + d.Text("orders.package_made", ".pawl/"+folder))
	}
	return nil
}

// scopeOf says what is reviewed. In a terminal a person is asked where nothing was said; otherwise it is everything.
func scopeOf(ctx context.Context, d *cli.Desk, args []string) (cli.ReviewScope, []string, error) {
	if len(args) == 1 {
		switch s := cli.ReviewScope(args[0]); s {
		case cli.ReviewAll, cli.ReviewRecent, cli.ReviewStaged:
			return s, nil, nil
		}
	}
	if len(args) == 0 {
		if !d.Present() {
			return cli.ReviewAll, nil, nil
		}
		got, err := choose(ctx, d.App, d.Text("orders.review.ask"), []option{
			{"r", d.Text("orders.review.recent")}, {"s", d.Text("orders.review.staged")}, {"a", d.Text("orders.review.all")},
		})
		return map[string]cli.ReviewScope{"r": cli.ReviewRecent, "s": cli.ReviewStaged, "a": cli.ReviewAll}[got], nil, err
	}
	var paths []string
	for _, arg := range args {
		rel, err := filepath.Rel(d.Workspace.Place.Workspace, d.Path(arg))
		rel = filepath.ToSlash(rel)
		if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
			return "", nil, pawl.Fail(pawl.CodeDenied, "orders.bad_path", arg)
		}
		info, err := os.Stat(d.Path(arg))
		if err != nil {
			return "", nil, pawl.Fail(pawl.CodeNotFound, "cli.file_missing", arg)
		}
		if info.IsDir() {
			rel += "/"
		}
		paths = append(paths, rel)
	}
	return cli.ReviewPaths, paths, nil
}

func printReview(d *cli.Desk, r effect.Review, folder string) error {
	type line struct {
		effect.Remark
		Text string `json:"text"`
	}
	lines := []line{}
	count := map[effect.Severity]int{effect.Critical: 0, effect.Warning: 0, effect.Info: 0}
	for _, m := range r.Remarks {
		lines = append(lines, line{m, remarkText(d, d.Lang, m)})
		count[m.Severity]++
	}
	return d.PrintJSON(map[string]any{"files": r.Files, "lines": r.Lines, "skipped": r.Skipped, "counts": count, "remarks": lines, "more": r.More, "package": folder})
}

func remarkText(d *cli.Desk, l message.Lang, m effect.Remark) string {
	args := make([]any, len(m.Args))
	for i, a := range m.Args {
		args[i] = a
	}
	return d.TextIn(l, m.Key, args...)
}

func sayReview(d *cli.Desk, r effect.Review) {
	for _, s := range []effect.Severity{effect.Critical, effect.Warning, effect.Info} {
		symbol := map[effect.Severity]string{effect.Critical: d.Style.Bad(), effect.Warning: d.Style.Warn(), effect.Info: d.Style.Dot()}[s]
		var lines []string
		for _, m := range r.Remarks {
			if m.Severity == s {
				lines = append(lines, "  "+symbol+" "+cli.Display(m.File)+":"+strconv.Itoa(m.Line)+"  "+remarkText(d, d.Lang, m)+"  "+d.Style.Dim(m.Rule))
			}
		}
		d.Section("orders.review.severity."+string(s), lines)
	}
	if r.More > 0 {
		d.Say("  " + d.Style.Dim(d.Text("orders.more", r.More)))
	}
	if len(r.Remarks) == 0 {
		d.Say(d.Style.OK() + " " + d.Text("orders.review.clean"))
	} else {
		d.Say("")
	}
	d.SayText("orders.review.looked", r.Files, r.Lines)
	if len(r.Skipped) > 0 {
		d.SayText("orders.review.skipped", len(r.Skipped))
	}
	d.Say(d.Style.Dim(d.Text("orders.review.honest")))
}

// reviewPackage makes a package of what is critical or worth a warning.
func reviewPackage(ctx context.Context, d *cli.Desk, r effect.Review) (string, error) {
	p := draft{
		feature: "code-review", title: written(d, "orders.review.title"), kind: "review", goal: written(d, "orders.review.goal"), accept: written(d, "orders.review.accept"),
		approach: written(d, "orders.review.approach"),
	}
	found := 0
	for _, m := range r.Remarks {
		if m.Severity == effect.Info {
			continue
		}
		if found++; found <= maxTasks {
			p.tasks = append(p.tasks, solution.Task{Status: solution.Pending, Title: "`" + m.File + ":" + strconv.Itoa(m.Line) + "` " + remarkText(d, writing(d), m), Verify: []string{"`pawl review`"}})
		}
	}
	if found == 0 {
		return "", nil
	}
	p.background = written(d, "orders.review.background", found, r.Files)
	return makePackage(ctx, d, "~review", p)
}

// maxTasks bounds the tasks of a package that is made of a list.
const maxTasks = 50

// draft is a package that is about to be made.
type draft struct {
	feature, title, kind               string
	background, goal, accept, approach string
	tasks                              []solution.Task
}

// makePackage makes a package and returns its folder, relative to .pawl.
func makePackage(ctx context.Context, d *cli.Desk, command string, p draft) (string, error) {
	have, err := d.Workspace.Project.Packages(ctx)
	if err != nil {
		return "", err
	}
	at := d.Workspace.Kernel.Now()
	name, err := solution.NewName(p.feature, at, func(n string) bool { return have.Exists(solution.LiveDir(n)) || have.Exists(solution.ArchiveDir(n)) })
	if err != nil {
		return "", err
	}
	for n := range p.tasks {
		p.tasks[n].Number = "1." + strconv.Itoa(n+1)
	}
	l := language(d)
	proposal := solution.Proposal{
		Language: l, Title: p.title, Kind: p.kind, Type: solution.Implementation, Priority: solution.P1, State: written(d, "orders.package_state"), Created: at.UTC().Format("2006-01-02 15:04"),
		Background: p.background, Goal: p.goal, Acceptance: p.accept, Technical: p.approach,
	}
	tasks := solution.Tasks{Language: l, Title: p.title, List: p.tasks}
	r, err := carry(ctx, d, command, effect.KindPackage, effect.PackageSpec{Name: name.String(), Files: map[string]string{
		solution.ProposalName: proposal.Render(), solution.TasksName: tasks.Render(),
	}})
	if err != nil {
		return "", err
	}
	made, err := effect.Decode[effect.PackageResult](r.Result)
	return made.Dir, err
}
