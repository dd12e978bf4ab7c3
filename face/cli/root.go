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
	"pawl/face/cli/term"
)

// Entry is a command of the first level and the group under which help lists it. Tree, where it is not nil, is given
// the whole tree of commands once it is built, of which the entry need not add one.
type Entry struct {
	Name, Group string
	Build       func(*App) *cobra.Command
	Tree        func(*App, *cobra.Command)
}

// groups are the groups of commands in the order of the help text.
func groups() []string { return []string{"work", "flow", "board", "answer", "stuck", "look", "setup"} }

// order is how help lists the commands of the first level within their groups. One that is not named here stands behind
// them.
func order() []string {
	return []string{
		"init", "run", "check", "status", "show", "diff", "log", "logs", "attach", "resume", "demo",
		"plan", "approve", "accept", "deny", "revise", "answer",
		"pause", "cancel", "stop", "fix", "skip", "rollback", "undo", "redo",
		"task", "machine", "audit", "policy", "replay", "context", "tools", "budget",
		"agent", "mcp", "serve", "doctor", "config", "export", "completion", "version",
	}
}

// newRoot builds the tree of commands. Where the command line names one, only that one is built.
func newRoot(a *App) *cobra.Command {
	root := a.Group("pawl", "cli.root")
	root.Use = "pawl"
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(newHelpCommand(a))
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		_,
			_ = io.WriteString(a.Std.Out, helpText(a.Printer, c, false))
	})
	root.SetUsageFunc(func(c *cobra.Command) error {
		_, err := io.WriteString(a.Std.Err, helpText(a.Printer, c, false))
		return err
	})
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return flagError(a, c, err) })
	f := root.PersistentFlags()
	f.StringVarP(&a.Flags.dir, "dir", "C", "", a.Text("cli.flag.dir"))
	f.BoolVar(&a.Flags.init, "init", false, a.Text("cli.flag.init"))
	f.StringVar(&a.Flags.issue, "issue", "", a.Text("cli.flag.issue"))
	f.BoolVar(&a.JSON, "json", a.JSON, a.Text("cli.flag.json"))
	f.StringVar(&a.Flags.lang, "lang", a.Flags.lang, a.Text("cli.flag.lang"))
	f.BoolVar(&a.Flags.noColor, "no-color", a.Flags.noColor, a.Text("cli.flag.no_color"))
	f.BoolP("help", "h", false, a.Text("cli.flag.help"))
	named, entries := a.words(), all(a)
	only := len(named) > 0 && holds(entries, named[0])
	for i, e := range entries {
		if only && e.Name != named[0] {
			continue
		}
		c := e.Build(a)
		c.Annotations = map[string]string{"group": e.Group, "order": fmt.Sprintf("%02d", i)}
		root.AddCommand(c)
	}
	for _, e := range a.more {
		if e.Tree != nil {
			e.Tree(a, root)
		}
	}
	return root
}

// Whole is the tree of all commands, whatever the command line names, to be read and not to be run.
func Whole(a *App) *cobra.Command {
	b := newApp(a.Host, a.Std, given(a, nil))
	b.more = a.more
	return newRoot(b)
}

// all are the commands of the first level in the order of the help text.
func all(a *App) []Entry {
	place := func(e Entry) int {
		if i := slices.Index(order(), e.Name); i >= 0 {
			return i
		}
		return len(order())
	}
	out := slices.DeleteFunc(slices.Clone(a.more), func(e Entry) bool { return e.Build == nil })
	slices.SortStableFunc(out, func(x, y Entry) int { return place(x) - place(y) })
	return out
}

// Names are the names of the commands of the first level that a person may type.
func Names(a *App) []string {
	var out []string
	for _, e := range all(a) {
		if e.Name != Say && e.Name != Ask {
			out = append(out, e.Name)
		}
	}
	slices.Sort(out)
	return out
}

func known(a *App, name string) bool { return holds(all(a), name) }

func holds(entries []Entry, name string) bool {
	return slices.ContainsFunc(entries, func(e Entry) bool { return e.Name == name })
}

// The commands that stand behind `pawl '~auto …'` and behind a bare `pawl`.
const (
	Say = "say"
	Ask = "prompt"
)

// route sends what is said to pawl itself to the command that understands it.
func route(a *App) []string {
	words := a.words()
	switch {
	case len(words) == 0 && slices.Contains(a.Args, "--version"):
		// What every program understands. It is no flag of the commands, whose words it would only lengthen.
		return append([]string{"version"},
			slices.DeleteFunc(slices.Clone(a.Args), func(arg string) bool { return arg == "--version" })...)
	case len(words) > 0 && strings.HasPrefix(words[0], "~") && known(a, Say):
		return append([]string{Say}, a.Args...)
	case len(a.Args) == 0 && a.Std.TTY && known(a, Ask):
		return []string{Ask}
	}
	return a.Args
}

// words are the arguments that are neither flags nor values of global flags.
func (a *App) words() []string {
	var out []string
	for i := 0; i < len(a.Args); i++ {
		switch arg := a.Args[i]; {
		case arg == "--":
			return append(out, a.Args[i+1:]...)
		case arg == "--lang" || arg == "-C" || arg == "--dir" || arg == "--issue":
			i++
		case !strings.HasPrefix(arg, "-"):
			out = append(out, arg)
		}
	}
	return out
}

// Brief reports whether a command line only looks and ends by itself within milliseconds. Nobody has to listen for an
// interrupt then, which would take a noticeable part of that time: there is no work to end, and a shell shows the same
// exit status for a process that the signal itself ended. Whatever is not surely so is not brief.
func Brief(args []string) bool {
	words := (&App{Args: args}).words()
	if len(words) != 1 || words[0] != "status" && words[0] != "version" {
		return false
	}
	return !slices.ContainsFunc(args, func(arg string) bool {
		return strings.HasPrefix(arg, "--watch") || strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") &&
			arg != "-C"
	})
}

// Command makes a command whose short and long texts are in the catalogue under its key.
func (a *App) Command(use, key, example string, args cobra.PositionalArgs,
	run func(*cobra.Command, []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: a.Text(key + ".short"), Long: a.Text(key + ".long"), Example: example,
		Args: args, RunE: run, DisableFlagsInUseLine: true,
	}
}

// Group makes a command that only holds others. Called without one it shows its help; with an unknown one it suggests.
func (a *App) Group(use, key string, sub ...*cobra.Command) *cobra.Command {
	c := a.Command(use, key, "", cobra.ArbitraryArgs, nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return UnknownCommand(a, c, args[0])
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

// UnknownCommand is the error for a word that names no command below c.
func UnknownCommand(a *App, c *cobra.Command, word string) error {
	if near := c.SuggestionsFor(word); len(near) > 0 {
		return Usage("cli.unknown_command_near", word, c.CommandPath(), strings.Join(near, ", "))
	}
	return Usage("cli.unknown_command", word, c.CommandPath())
}

// flagError turns what the flag parser says into an error of ours. A flag behind an unknown command is not the mistake.
func flagError(a *App, c *cobra.Command, err error) error {
	depth := strings.Count(c.CommandPath(), " ")
	if words := a.words(); c.HasSubCommands() && len(words) > depth {
		return UnknownCommand(a, c, words[depth])
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
			return Usage("cli.unknown_flag_near", dashed(name), c.CommandPath(), "--"+near)
		}
		return Usage("cli.unknown_flag", dashed(name), c.CommandPath())
	case errors.As(err, &valued):
		return Usage("cli.flag_value", dashed(valued.GetSpecifiedName()), c.CommandPath())
	case errors.As(err, &invalid):
		return Usage("cli.flag_invalid", invalid.GetValue(), "--"+invalid.GetFlag().Name,
			Takes(a.Printer, invalid.GetFlag().Value.Type()))
	case errors.As(err, &spelling):
		return Usage("cli.flag_syntax", spelling.GetSpecifiedFlag(), c.CommandPath())
	}
	return Usage("cli.flag_other", c.CommandPath(), err.Error())
}

// Takes says in words what the flags of a type take.
func Takes(pr *Printer, kind string) string {
	switch kind {
	case "int":
		return pr.Text("cli.takes.number")
	case "duration":
		return pr.Text("cli.takes.duration")
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
	return pawl.Suggest(name, names)
}

// newHelpCommand is `pawl help COMMAND`.
func newHelpCommand(a *App) *cobra.Command {
	var every bool
	c := a.Command("help [COMMAND]...", "cli.help", "  pawl help run\n  pawl help --all", cobra.ArbitraryArgs,
		func(c *cobra.Command, args []string) error {
			found, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return UnknownCommand(a, c.Root(), strings.Join(args, " "))
			}
			if every && !found.HasParent() {
				_, err := io.WriteString(a.Std.Out, helpText(a.Printer, found, true))
				return err
			}
			return found.Help()
		})
	c.Flags().BoolVar(&every, "all", false, a.Text("cli.flag.help_all"))
	return c
}

// usual are the commands that most people need, in the order in which they meet them.
var usual = []string{"run", "check", "status", "show", "diff", "log", "approve", "resume", "undo", "board"}

// helpText renders the help text of a command. That of pawl itself is short unless everything is asked for.
func helpText(pr *Printer, c *cobra.Command, everything bool) string {
	var b strings.Builder
	line := func(s string) { b.WriteString(s + "\n") }
	for _, l := range term.Wrap(c.Long, min(pr.Std.Width, 100)) {
		line(l)
	}
	line("")
	line(pr.Style.Bold(pr.Text("cli.help.usage")))
	if c.HasAvailableSubCommands() {
		line("  " + pr.Text("cli.help.use_command", c.CommandPath()))
	}
	if !c.HasAvailableSubCommands() || c.Example != "" {
		line("  " + c.UseLine() + " " + pr.Text("cli.help.flags_word"))
	}
	if c.Example != "" {
		line("\n" + pr.Style.Bold(pr.Text("cli.help.examples")))
		line(c.Example)
	}
	if !c.HasParent() && !everything {
		helpUsual(pr, c, line)
		return b.String()
	}
	helpCommands(pr, c, line)
	helpFlags(pr, pr.Text("cli.help.flags"), c.LocalNonPersistentFlags(), line)
	global := c.Root().PersistentFlags()
	helpFlags(pr, pr.Text("cli.help.globals"), global, line)
	if c.HasAvailableSubCommands() {
		line("\n" + pr.Text("cli.help.more", c.CommandPath()))
	}
	return b.String()
}

// helpUsual lists the commands that most people need, and how to see the others.
func helpUsual(pr *Printer, c *cobra.Command, line func(string)) {
	var t term.Table
	for _, name := range usual {
		if s, _, err := c.Find([]string{name}); err == nil && s != c {
			t.Row("  "+s.Name(), s.Short)
		}
	}
	line("\n" + pr.Style.Bold(pr.Text("cli.help.usual")))
	for _, l := range t.Lines(pr.Std.Width) {
		line(l)
	}
	line("")
	for _, l := range term.Wrap(pr.Text("cli.help.rest", len(c.Commands())-len(usual)), pr.Std.Width) {
		line(l)
	}
}

func helpCommands(pr *Printer, c *cobra.Command, line func(string)) {
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
		line("\n" + pr.Style.Bold(title))
		for _, l := range t.Lines(pr.Std.Width) {
			line(l)
		}
	}
	if c.HasParent() {
		list(pr.Text("cli.help.commands"), "")
		return
	}
	for _, g := range groups() {
		list(pr.Text("cli.group."+g), g)
	}
}

func helpFlags(pr *Printer, title string, flags *pflag.FlagSet, line func(string)) {
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
	line("\n" + pr.Style.Bold(title))
	for _, l := range t.Lines(pr.Std.Width) {
		line(l)
	}
}
