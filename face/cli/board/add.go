package board

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/kernel/issues"
)

// maxContext is how large the description of an issue may be.
const maxContext = 1 << 20

// facts are the flags that say what an issue is.
type facts struct {
	title, context, file, agent string
	priority                    int
	tags, after, notAfter       []string
	plan, feedback, branch      string
	paused                      bool
}

func (f *facts) flags(pr *cli.Printer, c *cobra.Command) {
	c.Flags().StringVar(&f.context, "context", "", pr.Text("issue.flag.context"))
	c.Flags().StringVarP(&f.file, "file", "F", "", pr.Text("issue.flag.file"))
	c.Flags().IntVarP(&f.priority, "priority", "p", 0, pr.Text("issue.flag.priority"))
	c.Flags().StringSliceVar(&f.tags, "tag", nil, pr.Text("issue.flag.tag"))
	c.Flags().StringSliceVar(&f.after, "after", nil, pr.Text("issue.flag.after"))
	c.Flags().StringVar(&f.plan, "plan", "", pr.Text("issue.flag.plan"))
	c.Flags().StringVar(&f.agent, "agent", "", pr.Text("issue.flag.agent"))
	c.Flags().StringVar(&f.branch, "branch", "", pr.Text("issue.flag.branch"))
	c.Flags().BoolVar(&f.paused, "paused", false, pr.Text("issue.flag.paused"))
}

// read reads the description where a file holds it, and refuses an agent that does not exist.
func (f *facts) read(ctx context.Context, a *cli.App) error {
	if f.agent != "" {
		agents, err := cli.AgentsOf(a)
		if err == nil {
			err = agents.Known(ctx, f.agent)
		}
		if err != nil {
			return err
		}
	}
	if f.file == "" {
		return nil
	}
	if f.context != "" {
		return cli.Usage("cli.flags_conflict", "--context", "--file")
	}
	data, err := a.ReadInput(f.file, maxContext)
	f.context = strings.TrimSpace(string(data))
	return err
}

func newAddCommand(a *cli.App) *cobra.Command {
	var f facts
	c := a.Command("add TITLE", "issue.add", `  pawl issue add "parse dates with a zone" --priority 2 --tag parser
  pawl issue add "use the new parser" --after ISS-1 -F notes.md
  pawl issue add "rename it" --plan rename.yaml`, cli.Exactly(1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := f.read(c.Context(), a); err != nil {
			return err
		}
		n := issues.NewIssue{Title: strings.TrimSpace(args[0]), Context: f.context, Priority: f.priority, Tags: f.tags,
			Agent: f.agent, Branch: f.branch, Paused: f.paused}
		if f.plan != "" {
			p, err := cli.ReadPlan(a, f.plan)
			if err != nil {
				return err
			}
			n.Given, n.GivenName = p.Data, f.plan
		}
		return making(c.Context(), a, func(sess *cli.Session) error {
			if err := checkBranch(c.Context(), sess, f.branch); err != nil {
				return err
			}
			on, err := findIssues(c.Context(), sess, f.after)
			if err != nil {
				return err
			}
			for _, i := range on {
				n.After = append(n.After, i.ID)
			}
			fresh, err := startsBatch(c.Context(), sess)
			if err != nil {
				return err
			}
			out, err := sess.Do(c.Context(), &issues.AddIssues{Issues: []issues.NewIssue{n}, Fresh: fresh})
			if err != nil {
				return err
			}
			var labels []string
			if err := json.Unmarshal(out.Result, &labels); err != nil || len(labels) != 1 {
				return pawl.Fail(pawl.CodeInternal, "runner.result_malformed").Because(err)
			}
			a.Made(labels[0])
			i, err := sess.Ask().Board().Issue(c.Context(), labels[0])
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(i.IssueLine)
			}
			a.Say(a.Style.OK() + " " + a.Style.Bold(i.Label) + "  " + cli.Display(i.Title))
			a.Say("  " + a.Style.Cyan(a.Text("cli.next")) + "pawl issue plan " + i.Label)
			return nil
		})
	}
	f.flags(a.Printer, c)
	return c
}

func newEditCommand(a *cli.App) *cobra.Command {
	var f facts
	c := a.Command("edit ISSUE", "issue.edit", `  pawl issue edit ISS-3 --priority 1 --after ISS-2
  pawl issue edit ISS-3 --not-after ISS-2 --paused=false
  pawl issue edit ISS-3 --feedback "keep the old flag"`, cli.Exactly(1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := f.read(c.Context(), a); err != nil {
			return err
		}
		if c.Flags().NFlag() == 0 {
			return cli.Usage("issue.edit_nothing", c.CommandPath())
		}
		return a.With(c.Context(), cli.Writing(),
			func(sess *cli.Session) error { return editIssue(c.Context(), sess, c.Flags().Changed, &f, args[0]) })
	}
	f.flags(a.Printer, c)
	c.Flags().StringVar(&f.title, "title", "", a.Text("issue.flag.title"))
	c.Flags().StringSliceVar(&f.notAfter, "not-after", nil, a.Text("issue.flag.not_after"))
	c.Flags().StringVar(&f.feedback, "feedback", "", a.Text("issue.flag.feedback"))
	return c
}

// editIssue changes what flags were given for.
func editIssue(ctx context.Context, sess *cli.Session, given func(flag string) bool, f *facts, name string) error {
	i, err := sess.Ask().Board().Issue(ctx, name)
	if err != nil {
		return err
	}
	on, err := findIssues(ctx, sess, f.after)
	if err != nil {
		return err
	}
	off, err := findIssues(ctx, sess, f.notAfter)
	if err != nil {
		return err
	}
	e := &issues.EditIssue{Issue: i.ID, Feedback: f.feedback}
	if given("title") {
		e.Title = &f.title
	}
	if given("context") || given("file") {
		e.Context = &f.context
	}
	if given("priority") {
		e.Priority = &f.priority
	}
	if given("tag") {
		f.tags = slices.DeleteFunc(f.tags, func(t string) bool { return t == "" })
		e.Tags = &f.tags
	}
	if given("agent") {
		e.Agent = &f.agent
	}
	if given("branch") {
		if err := checkBranch(ctx, sess, f.branch); err != nil {
			return err
		}
		e.Branch = &f.branch
	}
	if given("paused") {
		e.Paused = &f.paused
	}
	if f.plan != "" {
		p, err := cli.ReadPlan(sess.App, f.plan)
		if err != nil {
			return err
		}
		e.Given, e.GivenName = &p.Data, f.plan
	}
	if _, err := sess.Do(ctx, e); err != nil {
		return err
	}
	for _, other := range off {
		if _, err := sess.Do(ctx, &issues.AddDependency{Issue: i.ID, On: other.ID, Remove: true}); err != nil {
			return err
		}
	}
	for _, other := range on {
		if _, err := sess.Do(ctx, &issues.AddDependency{Issue: i.ID, On: other.ID}); err != nil {
			return err
		}
	}
	return showIssue(ctx, sess, name, false)
}
