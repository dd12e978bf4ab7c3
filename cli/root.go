package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pawl"
	"pawl/cli/term"
)

// entry is a command of the first level and the group under which help lists it.
type entry struct {
	name, group string
	build       func(*app) *cobra.Command
}

// groups are the groups of commands in the order of the help text.
func groups() []string { return []string{"work", "answer", "stuck", "look", "setup"} }

// entries are the commands of the first level, in the order of the help text.
func entries() []entry {
	return []entry{
		{"init", "work", newInitCommand},
		{"run", "work", newRunCommand},
		{"status", "work", newStatusCommand},
		{"resume", "work", newResumeCommand},
		{"demo", "work", newDemoCommand},
		{"plan", "answer", newPlanCommand},
		{"approve", "answer", newApproveCommand},
		{"deny", "answer", newDenyCommand},
		{"revise", "answer", newReviseCommand},
		{"answer", "answer", newAnswerCommand},
		{"pause", "stuck", newPauseCommand},
		{"cancel", "stuck", newCancelCommand},
		{"stop", "stuck", newStopCommand},
		{"fix", "stuck", newFixCommand},
		{"skip", "stuck", newSkipCommand},
		{"rollback", "stuck", newRollbackCommand},
		{"undo", "stuck", newUndoCommand},
		{"redo", "stuck", newRedoCommand},
		{"task", "look", newTaskCommand},
		{"machine", "look", newMachineCommand},
		{"audit", "look", newAuditCommand},
		{"replay", "look", newReplayCommand},
		{"context", "look", newContextCommand},
		{"tools", "look", newToolsCommand},
		{"budget", "look", newBudgetCommand},
		{"agent", "setup", newAgentCommand},
		{"mcp", "setup", newMCPCommand},
		{"doctor", "setup", newDoctorCommand},
		{"config", "setup", newConfigCommand},
		{"export", "setup", newExportCommand},
		{"completion", "setup", newCompletionCommand},
		{"version", "setup", newVersionCommand},
	}
}

// newRoot builds the tree of commands. Where the command line names one, only that one is built.
func newRoot(a *app) *cobra.Command {
	root := a.group("pawl", "cli.root")
	root.Use = "pawl"
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(newHelpCommand(a))
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { _, _ = io.WriteString(a.std.Out, a.help(c)) })
	root.SetUsageFunc(func(c *cobra.Command) error { _, err := io.WriteString(a.std.Err, a.help(c)); return err })
	root.SetFlagErrorFunc(a.flagError)
	f := root.PersistentFlags()
	f.StringVarP(&a.flags.dir, "dir", "C", "", a.text("cli.flag.dir"))
	f.BoolVar(&a.flags.json, "json", a.flags.json, a.text("cli.flag.json"))
	f.StringVar(&a.flags.lang, "lang", a.flags.lang, a.text("cli.flag.lang"))
	f.BoolVar(&a.flags.noColor, "no-color", a.flags.noColor, a.text("cli.flag.no_color"))
	f.BoolP("help", "h", false, a.text("cli.flag.help"))
	named := a.words()
	for i, e := range entries() {
		if len(named) > 0 && known(named[0]) && e.name != named[0] {
			continue
		}
		c := e.build(a)
		c.Annotations = map[string]string{"group": e.group, "order": fmt.Sprintf("%02d", i)}
		root.AddCommand(c)
	}
	return root
}

func known(name string) bool {
	for _, e := range entries() {
		if e.name == name {
			return true
		}
	}
	return false
}

// words are the arguments that are neither flags nor values of global flags.
func (a *app) words() []string {
	var out []string
	for i := 0; i < len(a.args); i++ {
		switch arg := a.args[i]; {
		case arg == "--":
			return append(out, a.args[i+1:]...)
		case arg == "--lang" || arg == "-C" || arg == "--dir":
			i++
		case !strings.HasPrefix(arg, "-"):
			out = append(out, arg)
		}
	}
	return out
}

// Brief reports whether a command line only looks and ends by itself within milliseconds. Nobody has to listen for an
// interrupt then, which would take a noticeable part of that time: there is no work to end, and a shell shows the same exit
// status for a process that the signal itself ended. Whatever is not surely so is not brief.
func Brief(args []string) bool {
	words := (&app{args: args}).words()
	if len(words) != 1 || words[0] != "status" && words[0] != "version" {
		return false
	}
	return !slices.ContainsFunc(args, func(arg string) bool {
		return strings.HasPrefix(arg, "--watch") || strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && arg != "-C"
	})
}

// command makes a command whose short and long texts are in the catalogue under its key.
func (a *app) command(use, key, example string, args cobra.PositionalArgs, run func(*cobra.Command, []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: a.text(key + ".short"), Long: a.text(key + ".long"), Example: example,
		Args: args, RunE: run, DisableFlagsInUseLine: true,
	}
}

// group makes a command that only holds others. Called without one it shows its help; with an unknown one it suggests.
func (a *app) group(use, key string, sub ...*cobra.Command) *cobra.Command {
	c := a.command(use, key, "", cobra.ArbitraryArgs, nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return a.unknownCommand(c, args[0])
		}
		return c.Help()
	}
	c.SuggestionsMinimumDistance = 2
	for i, s := range sub {
		s.Annotations = map[string]string{"order": fmt.Sprintf("%02d", i)}
	}
	c.AddCommand(sub...)
	return c
}

// unknownCommand is the error for a word that names no command below c.
func (a *app) unknownCommand(c *cobra.Command, word string) error {
	if near := c.SuggestionsFor(word); len(near) > 0 {
		return usage("cli.unknown_command_near", word, c.CommandPath(), strings.Join(near, ", "))
	}
	return usage("cli.unknown_command", word, c.CommandPath())
}

// flagError turns what the flag parser says into an error of ours. A flag behind an unknown command is not the mistake.
func (a *app) flagError(c *cobra.Command, err error) error {
	depth := strings.Count(c.CommandPath(), " ")
	if words := a.words(); c.HasSubCommands() && len(words) > depth {
		return a.unknownCommand(c, words[depth])
	}
	var (
		unknown  *pflag.NotExistError
		valued   *pflag.ValueRequiredError
		invalid  *pflag.InvalidValueError
		spelling *pflag.InvalidSyntaxError
	)
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if near := nearestFlag(c, name); near != "" {
			return usage("cli.unknown_flag_near", dashed(name), c.CommandPath(), "--"+near)
		}
		return usage("cli.unknown_flag", dashed(name), c.CommandPath())
	case errors.As(err, &valued):
		return usage("cli.flag_value", dashed(valued.GetSpecifiedName()), c.CommandPath())
	case errors.As(err, &invalid):
		return usage("cli.flag_invalid", invalid.GetValue(), "--"+invalid.GetFlag().Name, takes(a.voice, invalid.GetFlag().Value.Type()))
	case errors.As(err, &spelling):
		return usage("cli.flag_syntax", spelling.GetSpecifiedFlag(), c.CommandPath())
	}
	return usage("cli.flag_other", c.CommandPath(), err.Error())
}

// takes says in words what the flags of a type take.
func takes(a *voice, kind string) string {
	switch kind {
	case "int":
		return a.text("cli.takes.number")
	case "duration":
		return a.text("cli.takes.duration")
	case "bool":
		return "true, false"
	}
	return kind
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

func nearestFlag(c *cobra.Command, name string) string {
	var names []string
	add := func(f *pflag.Flag) { names = append(names, f.Name) }
	c.LocalFlags().VisitAll(add)
	c.InheritedFlags().VisitAll(add)
	return pawl.Nearest(name, names)
}

// newHelpCommand is `pawl help COMMAND`.
func newHelpCommand(a *app) *cobra.Command {
	c := a.command("help [COMMAND]", "cli.help", "  pawl help run", cobra.ArbitraryArgs, func(c *cobra.Command, args []string) error {
		found, rest, err := c.Root().Find(args)
		if err != nil || len(rest) > 0 {
			return a.unknownCommand(c.Root(), strings.Join(args, " "))
		}
		return found.Help()
	})
	return c
}

// help renders the help text of a command.
func (a *app) help(c *cobra.Command) string {
	var b strings.Builder
	line := func(s string) { b.WriteString(s + "\n") }
	for _, l := range term.Wrap(c.Long, min(a.std.Width, 100)) {
		line(l)
	}
	line("")
	line(a.style.Bold(a.text("cli.help.usage")))
	if c.HasAvailableSubCommands() {
		line("  " + a.text("cli.help.use_command", c.CommandPath()))
	}
	if !c.HasAvailableSubCommands() || c.Example != "" {
		line("  " + c.UseLine() + " " + a.text("cli.help.flags_word"))
	}
	if c.Example != "" {
		line("\n" + a.style.Bold(a.text("cli.help.examples")))
		line(c.Example)
	}
	a.helpCommands(c, line)
	a.helpFlags(a.text("cli.help.flags"), c.LocalNonPersistentFlags(), line)
	global := c.Root().PersistentFlags()
	a.helpFlags(a.text("cli.help.globals"), global, line)
	if c.HasAvailableSubCommands() {
		line("\n" + a.text("cli.help.more", c.CommandPath()))
	}
	return b.String()
}

func (a *app) helpCommands(c *cobra.Command, line func(string)) {
	all := slices.SortedFunc(slices.Values(c.Commands()), func(x, y *cobra.Command) int {
		return strings.Compare(x.Annotations["order"], y.Annotations["order"])
	})
	list := func(title, group string) {
		var t term.Table
		n := 0
		for _, s := range all {
			if s.IsAvailableCommand() && (group == "" || s.Annotations["group"] == group) {
				t.Row("  "+s.Name(), s.Short)
				n++
			}
		}
		if n == 0 {
			return
		}
		line("\n" + a.style.Bold(title))
		for _, l := range t.Lines(a.std.Width) {
			line(l)
		}
	}
	if c.HasParent() {
		list(a.text("cli.help.commands"), "")
		return
	}
	for _, g := range groups() {
		list(a.text("cli.group."+g), g)
	}
}

func (a *app) helpFlags(title string, flags *pflag.FlagSet, line func(string)) {
	var t term.Table
	n := 0
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := "      --" + f.Name
		if f.Shorthand != "" {
			name = "  -" + f.Shorthand + ", --" + f.Name
		}
		value, usage := pflag.UnquoteUsage(f)
		if value != "" {
			name += " " + value
		}
		t.Row(name, usage)
		n++
	})
	if n == 0 {
		return
	}
	line("\n" + a.style.Bold(title))
	for _, l := range t.Lines(a.std.Width) {
		line(l)
	}
}
