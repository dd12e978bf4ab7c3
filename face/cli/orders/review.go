package orders

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/host"
	"pawl/kernel/effect"
	"pawl/text/message"
	"pawl/text/solution"
)

func newReviewCommand(a *cli.App) *cobra.Command {
	var pack bool
	c := a.Command("review [all|recent|staged|PATH...]", "orders.review",
		"  pawl review\n  pawl review staged\n  pawl review api/ --json\n  pawl review all --package",
		cli.Between(0, 1000), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		open := cli.Reading()
		if pack {
			open = cli.Writing()
		}
		return a.With(c.Context(), open, func(sess *cli.Session) error { return review(c.Context(), sess, args, pack) })
	}
	c.Flags().BoolVar(&pack, "package", false, a.Text("orders.flag.package"))
	return c
}

// review looks at the code and says what it found.
func review(ctx context.Context, sess *cli.Session, args []string, pack bool) error {
	scope, paths, err := scopeOf(ctx, sess, args)
	if err != nil {
		return err
	}
	r, err := sess.Workspace.Project.Review(ctx, scope, paths)
	if err != nil {
		return err
	}
	folder := ""
	if pack {
		if folder, err = reviewPackage(ctx, sess, r); err != nil {
			return err
		}
	}
	if sess.JSON {
		return printReview(sess.Printer, r, folder)
	}
	sayReview(sess.Printer, r)
	if folder != "" {
		sess.Say(sess.Style.OK() + " " + sess.Text("orders.package_made", ".pawl/"+folder))
	}
	return nil
}

// scopeOf says what is reviewed. In a terminal a person is asked where nothing was said; otherwise it is everything.
func scopeOf(ctx context.Context, sess *cli.Session, args []string) (host.ReviewScope, []string, error) {
	if len(args) == 1 {
		switch s := host.ReviewScope(args[0]); s {
		case host.ReviewAll, host.ReviewRecent, host.ReviewStaged:
			return s, nil, nil
		}
	}
	if len(args) == 0 {
		if !sess.Present() {
			return host.ReviewAll, nil, nil
		}
		got, err := choose(ctx, sess.Printer, sess.Text("orders.review.ask"), []option{
			{"r", sess.Text("orders.review.recent")}, {"s", sess.Text("orders.review.staged")}, {"a",
				sess.Text("orders.review.all")},
		})
		return map[string]host.ReviewScope{"r": host.ReviewRecent, "s": host.ReviewStaged, "a": host.ReviewAll}[got], nil,
			err
	}
	var paths []string
	for _, arg := range args {
		rel, err := filepath.Rel(sess.Workspace.Place.Workspace, sess.App.Path(arg))
		rel = filepath.ToSlash(rel)
		if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
			return "", nil, pawl.Fail(pawl.CodeDenied, "orders.bad_path", arg)
		}
		info, err := os.Stat(sess.App.Path(arg))
		if err != nil {
			return "", nil, pawl.Fail(pawl.CodeNotFound, "cli.file_missing", arg)
		}
		if info.IsDir() {
			rel += "/"
		}
		paths = append(paths, rel)
	}
	return host.ReviewPaths, paths, nil
}

func printReview(pr *cli.Printer, r effect.Review, folder string) error {
	type line struct {
		effect.Remark
		Text string `json:"text"`
	}
	lines := []line{}
	count := map[effect.Severity]int{effect.Critical: 0, effect.Warning: 0, effect.Info: 0}
	for _, m := range r.Remarks {
		lines = append(lines, line{m, remarkText(pr, pr.Lang, m)})
		count[m.Severity]++
	}
	return pr.PrintJSON(map[string]any{"files": r.Files, "lines": r.Lines, "skipped": r.Skipped, "counts": count,
		"remarks": lines, "more": r.More, "package": folder})
}

func remarkText(pr *cli.Printer, l message.Lang, m effect.Remark) string {
	args := make([]any, len(m.Args))
	for i, a := range m.Args {
		args[i] = a
	}
	return pr.TextIn(l, m.Key, args...)
}

func sayReview(pr *cli.Printer, r effect.Review) {
	for _, s := range []effect.Severity{effect.Critical, effect.Warning, effect.Info} {
		symbol := map[effect.Severity]string{effect.Critical: pr.Style.Bad(), effect.Warning: pr.Style.Warn(),
			effect.Info: pr.Style.Dot()}[s]
		var lines []string
		for _, m := range r.Remarks {
			if m.Severity == s {
				lines = append(lines, "  "+symbol+" "+cli.Display(m.File)+":"+strconv.Itoa(m.Line)+"  "+
					remarkText(pr, pr.Lang, m)+"  "+pr.Style.Dim(m.Rule))
			}
		}
		cli.PrintSection(pr, "orders.review.severity."+string(s), lines)
	}
	if r.More > 0 {
		pr.Say("  " + pr.Style.Dim(pr.Text("orders.more", r.More)))
	}
	if len(r.Remarks) == 0 {
		pr.Say(pr.Style.OK() + " " + pr.Text("orders.review.clean"))
	} else {
		pr.Say("")
	}
	pr.SayText("orders.review.looked", r.Files, r.Lines)
	if len(r.Skipped) > 0 {
		pr.SayText("orders.review.skipped", len(r.Skipped))
	}
	pr.Say(pr.Style.Dim(pr.Text("orders.review.honest")))
}

// reviewPackage makes a package of what is critical or worth a warning.
func reviewPackage(ctx context.Context, sess *cli.Session, r effect.Review) (string, error) {
	p := draft{
		feature: "code-review", title: written(sess, "orders.review.title"), kind: "review", goal: written(sess,
			"orders.review.goal"), accept: written(sess, "orders.review.accept"),
		approach: written(sess, "orders.review.approach"),
	}
	found := 0
	for _, m := range r.Remarks {
		if m.Severity == effect.Info {
			continue
		}
		if found++; found <= maxTasks {
			p.tasks = append(p.tasks, solution.Task{Status: solution.Pending, Title: "`" + m.File + ":" +
				strconv.Itoa(m.Line) + "` " + remarkText(sess.Printer, writing(sess), m),
				Verify: []string{"`pawl review`"}})
		}
	}
	if found == 0 {
		return "", nil
	}
	p.background = written(sess, "orders.review.background", found, r.Files)
	return makePackage(ctx, sess, "~review", p)
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
func makePackage(ctx context.Context, sess *cli.Session, command string, p draft) (string, error) {
	have, err := sess.Workspace.Project.Packages(ctx)
	if err != nil {
		return "", err
	}
	at := sess.Workspace.Kernel.Now()
	name, err := solution.NewName(p.feature, at, func(n string) bool {
		return have.Exists(solution.LiveDir(n)) ||
			have.Exists(solution.ArchiveDir(n))
	})
	if err != nil {
		return "", err
	}
	for n := range p.tasks {
		p.tasks[n].Number = "1." + strconv.Itoa(n+1)
	}
	l := language(sess)
	proposal := solution.Proposal{
		Language: l, Title: p.title, Kind: p.kind, Type: solution.Implementation, Priority: solution.P1,
		State: written(sess, "orders.package_state"), Created: at.UTC().Format("2006-01-02 15:04"),
		Background: p.background, Goal: p.goal, Acceptance: p.accept, Technical: p.approach,
	}
	tasks := solution.Tasks{Language: l, Title: p.title, List: p.tasks}
	r, err := carry(ctx, sess, command, effect.KindPackage,
		effect.PackageSpec{Name: name.String(), Files: map[string]string{
			solution.ProposalName: proposal.Render(), solution.TasksName: tasks.Render(),
		}})
	if err != nil {
		return "", err
	}
	made, err := effect.Decode[effect.PackageResult](r.Result)
	return made.Dir, err
}
