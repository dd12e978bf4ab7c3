// Package policies is what tells of the policy: what it says of a command and why, whether it still says what a file
// expects, what it asked about and refused here, and which settings would save a question that always has the same
// answer.
package policies

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/settings"
	"pawl/face/cli/term"
	"pawl/face/host"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/text/policy"
	"pawl/text/shell"
)

// Entries are the commands of the first level.
func Entries() []cli.Entry {
	return []cli.Entry{{Name: "policy", Group: "look", Build: func(a *cli.App) *cobra.Command {
		return a.Group("policy", "cli.policy", newExplainCommand(a), newTestCommand(a), newLogCommand(a),
			newLearnCommand(a))
	}}}
}

// commandTool is the tool that runs commands.
const commandTool = "run_terminal_cmd"

// judge is what the policy would say of a command, as of a call of work that begins now.
func judge(there kernel.Snapshot, command string, p policy.Profile) policy.Verdict {
	return policy.Judge(request(there, command), p)
}

func request(there kernel.Snapshot, command string) policy.Request {
	return there.Situate(policy.Request{Tool: commandTool, Permissions: []policy.Permission{policy.ProcExec},
		Command: command})
}

// WouldBe is where a call of work that begins now would be carried out, for the policy to judge by, and the settings.
func WouldBe(a *cli.App, inPlace bool) (kernel.Snapshot, settings.Config, error) {
	place, c, err := a.Configured()
	if err != nil {
		return kernel.Snapshot{}, c, err
	}
	there := kernel.Snapshot{Config: &kernel.Config{},
		Run: &kernel.Run{Place: cli.WorkPlace(place, inPlace), Context: &effect.ContextResult{}}}
	if h, ok := a.Host.(host.Grounds); ok {
		there.Run.Context.Repo, there.Config.Walled = h.Grounds(place, c)
	}
	return there, c, nil
}

// under is WouldBe under a profile, "" for that of the settings.
func under(a *cli.App, inPlace bool, profile string) (kernel.Snapshot, settings.Config, error) {
	there, config, err := WouldBe(a, inPlace)
	if err == nil && profile != "" {
		err = settings.Override("profile", profile)(&config)
	}
	return there, config, err
}

func newExplainCommand(a *cli.App) *cobra.Command {
	var inPlace bool
	var profile string
	c := a.Command("explain COMMAND", "cli.policy.explain",
		"  pawl policy explain \"rm -rf build\"\n  pawl policy explain --in-place \"git push\" --json",
		cli.Exactly(1), nil)
	c.RunE = func(_ *cobra.Command, args []string) error {
		there, config, err := under(a, inPlace, profile)
		if err != nil {
			return err
		}
		v := judge(there, args[0], config.Profile)
		if a.JSON {
			return a.PrintJSON(map[string]any{"command": args[0], "profile": config.Profile.Name,
				"walled": there.Config.Walled, "own_tree": !there.Run.Place.InPlace, "verdict": v})
		}
		explain(a.Printer, there, config, v)
		return nil
	}
	c.Flags().BoolVar(&inPlace, "in-place", false, a.Text("cli.flag.in_place"))
	c.Flags().StringVar(&profile, "profile", "", a.Text("cli.flag.profile"))
	return c
}

// Mark is the symbol of a decision.
func Mark(pr *cli.Printer, d policy.Decision) string {
	switch d {
	case policy.Allow:
		return pr.Style.OK()
	case policy.Ask:
		return pr.Style.Warn()
	}
	return pr.Style.Bad()
}

// explain tells a verdict: what it is, why, and by which rules; what would run; and where that would be.
func explain(pr *cli.Printer, there kernel.Snapshot, config settings.Config, v policy.Verdict) {
	text, paint := cli.VerdictText(pr, &v)
	lines := term.Wrap(text, pr.Std.Width-2)
	pr.Say(Mark(pr, v.Decision) + " " + paint(lines[0]))
	for _, l := range lines[1:] {
		pr.Say("  " + paint(l))
	}
	var t term.Table
	row := func(key, value string) {
		if value != "" {
			t.Row("  "+pr.Style.Dim(pr.Text(key)), cli.Display(value))
		}
	}
	if v.Decision != policy.Allow {
		row("cli.policy.rules", Codes(v.Reasons))
	}
	row("cli.policy.runs", strings.Join(v.Commands, ", "))
	var paths []string
	for _, p := range v.Paths {
		paths = append(paths, string(p.Op)+" "+p.Rel)
	}
	row("cli.policy.paths", strings.Join(paths, ", "))
	row("cli.policy.risk", string(v.Risk))
	if v.Person {
		row("cli.policy.word", pr.Text("cli.policy.person"))
	}
	where := "cli.policy.worktree"
	if there.Run.Place.InPlace {
		where = "cli.policy.own_tree"
	}
	if !there.Config.Walled {
		where += "_unwalled"
	}
	row("cli.policy.where", pr.Text(where))
	row("cli.policy.profile", config.Profile.Name)
	for _, l := range t.Lines(0) {
		pr.Say(l)
	}
	if len(v.Reasons) > 0 && v.Decision != policy.Allow {
		first := v.Reasons[0]
		if _, ok := pr.Lang.Format(first.Key + ".hint"); ok {
			pr.Say("  " + pr.Style.Cyan(pr.Text("cli.next")) + pr.Text(first.Key+".hint", cli.Args(first.Args)...))
		}
	}
}

// Codes names the rules of reasons, each once.
func Codes(reasons []policy.Reason) string {
	var out []string
	for _, r := range reasons {
		if !slices.Contains(out, string(r.Code)) {
			out = append(out, string(r.Code))
		}
	}
	return strings.Join(out, ", ")
}

// expected is a file of what the policy is to say, by its decision.
type expected struct {
	Profile string   `yaml:"profile"`
	InPlace bool     `yaml:"in_place"`
	Allow   []string `yaml:"allow"`
	Ask     []string `yaml:"ask"`
	Deny    []string `yaml:"deny"`
}

// missed is a command of which the policy says something else than a file expects.
type missed struct {
	Command string          `json:"command"`
	Want    policy.Decision `json:"want"`
	Verdict policy.Verdict  `json:"verdict"`
}

// maxExpected bounds the size of a file of expectations.
const maxExpected = 1 << 20

func newTestCommand(a *cli.App) *cobra.Command {
	return a.Command("test FILE", "cli.policy.test",
		"  pawl policy test policy-test.yaml\n  pawl policy test policy-test.yaml --json",
		cli.Exactly(1), func(_ *cobra.Command, args []string) error {
			data, err := a.ReadInput(args[0], maxExpected)
			if err != nil {
				return err
			}
			var want expected
			in := yaml.NewDecoder(bytes.NewReader(data))
			in.KnownFields(true)
			if err := in.Decode(&want); err != nil {
				return pawl.Fail(pawl.CodeInvalid, "cli.policy.file", args[0]).Because(err)
			}
			return test(a, args[0], want)
		})
}

func test(a *cli.App, name string, want expected) error {
	there, config, err := under(a, want.InPlace, want.Profile)
	if err != nil {
		return err
	}
	n, wrong := 0, []missed{}
	for _, of := range []struct {
		decision policy.Decision
		commands []string
	}{{policy.Allow, want.Allow}, {policy.Ask, want.Ask}, {policy.Deny, want.Deny}} {
		for _, command := range of.commands {
			n++
			if v := judge(there, command, config.Profile); v.Decision != of.decision {
				wrong = append(wrong, missed{command, of.decision, v})
			}
		}
	}
	if n == 0 {
		return pawl.Fail(pawl.CodeInvalid, "cli.policy.file_empty", name)
	}
	if a.JSON {
		err = a.PrintJSON(map[string]any{"commands": n, "missed": wrong})
	} else {
		for _, m := range wrong {
			text, paint := cli.VerdictText(a.Printer, &m.Verdict)
			a.Say(a.Style.Bad() + " " + a.Style.Bold(cli.Display(m.Command)) + "  " + a.Text("cli.policy.wanted",
				a.Text("cli.policy.want."+strings.ToLower(string(m.Want)))))
			a.Say("  " + paint(cli.FirstLine(text)) + "  " + a.Style.Dim(Codes(m.Verdict.Reasons)))
		}
		if len(wrong) == 0 {
			a.Say(a.Style.OK() + " " + a.Text("cli.policy.as_expected", n))
		}
	}
	if err == nil && len(wrong) > 0 {
		err = pawl.Fail(pawl.CodeChecksFailed, "cli.policy.unexpected", name, len(wrong), n)
	}
	return err
}

func newLogCommand(a *cli.App) *cobra.Command {
	last := 0
	c := a.Command("log", "cli.policy.log", "  pawl policy log\n  pawl policy log -n 100 --json", cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if last < 0 {
			return cli.Usage("cli.flag_invalid", fmt.Sprint(last), "--last", "0 …")
		}
		return a.With(c.Context(), cli.Reading(), func(sess *cli.Session) error {
			all, err := sess.Ask().Rulings(c.Context())
			if err != nil {
				return err
			}
			if last > 0 {
				all = all[max(0, len(all)-last):]
			}
			return printLog(sess, all)
		})
	}
	c.Flags().IntVarP(&last, "last", "n", 20, a.Text("cli.flag.last"))
	return c
}

func printLog(sess *cli.Session, all []view.Ruling) error {
	if sess.JSON {
		return sess.PrintJSON(append([]view.Ruling{}, all...))
	}
	if len(all) == 0 {
		sess.SayText("cli.policy.log_empty")
	}
	for _, r := range all {
		call := strings.TrimSpace(r.Step + " " + r.Call)
		if call == "" {
			call = r.Tool
		}
		sess.Say(Mark(sess.Printer, r.Decision) + " " + sess.Style.Dim(sess.Clock(r.At)) + "  " +
			term.Clip(cli.Display(cli.FirstLine(call)), max(20, sess.Std.Width-24), sess.Style.Ellipsis()))
		told := sess.Text("cli.policy.refused_at_once")
		if r.Answer != "" {
			told = strings.TrimSpace(sess.Text("cli.policy.answer."+r.Answer) + " " + cli.Display(r.By))
		}
		if rules := Codes(r.Reasons); rules != "" {
			told += "  " + sess.Style.Dim(rules)
		}
		sess.Say("    " + strings.TrimSpace(r.Run+"  "+told))
	}
	return nil
}

func newLearnCommand(a *cli.App) *cobra.Command {
	least := 3
	c := a.Command("learn", "cli.policy.learn", "  pawl policy learn\n  pawl policy learn --least 5 --json",
		cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if least < 1 {
			return cli.Usage("cli.flag_invalid", fmt.Sprint(least), "--least", "1 …")
		}
		return a.With(c.Context(), cli.Reading(),
			func(sess *cli.Session) error { return learn(c.Context(), sess, least) })
	}
	c.Flags().IntVar(&least, "least", least, a.Text("cli.flag.least"))
	return c
}

// lesson is a rule that would have saved questions.
type lesson struct {
	Rule     string `json:"rule"`
	Approved int    `json:"approved"`
}

// learn proposes what was approved again and again, and never refused, as commands that need no question. It proposes
// only what the setting has an effect on, and nothing that only a person can say yes to.
func learn(ctx context.Context, sess *cli.Session, least int) error {
	all, err := sess.Ask().Rulings(ctx)
	if err != nil {
		return err
	}
	there, config, err := WouldBe(sess.App, false)
	if err != nil {
		return err
	}
	place := there.Run.Place
	counts, order := map[string]int{}, []string{}
	for _, r := range all {
		refused := r.Answer == kernel.ApprovalRefused
		if r.Tool != commandTool || r.Person || r.Answer != kernel.ApprovalGranted && !refused {
			continue
		}
		if there.Run.Place = place; r.InPlace {
			there.Run.Place = cli.WorkPlace(place, true)
		}
		rule := policy.AllowingRule(request(there, r.Call), config.Profile)
		if rule == "" {
			continue
		}
		if _, known := counts[rule]; !known {
			order = append(order, rule)
		}
		if refused {
			counts[rule] -= len(all) // one no outweighs every yes
		}
		counts[rule]++
	}
	found := []lesson{}
	for _, rule := range order {
		if counts[rule] >= least {
			found = append(found, lesson{rule, counts[rule]})
		}
	}
	slices.SortStableFunc(found, func(a, b lesson) int { return b.Approved - a.Approved })
	return teach(sess, config.Profile.AllowedCommands, found, least)
}

func teach(sess *cli.Session, allowed []string, found []lesson, least int) error {
	set := slices.Clone(allowed)
	for _, l := range found {
		set = append(set, l.Rule)
	}
	next := "pawl config set policy.allowed_commands " + shell.QuoteAll(set)
	if sess.JSON {
		return sess.PrintJSON(map[string]any{"rules": found, "next": next})
	}
	if len(found) == 0 {
		sess.SayText("cli.policy.nothing_learnt", least)
		return nil
	}
	for _, l := range found {
		sess.Say(cli.Display(l.Rule) + "  " + sess.Style.Dim(sess.Text("cli.policy.approved_times", l.Approved)))
	}
	sess.Say("  " + sess.Style.Cyan(sess.Text("cli.next")) + cli.Display(next))
	return nil
}
