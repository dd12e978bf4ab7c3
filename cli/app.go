// Package cli is the command line: it turns arguments into commands of the kernel, runs the runner in the foreground where
// a command asks for work, and turns what happened into text or JSON. It decides nothing: whatever it refuses, the kernel
// or a parser refused first. Every word for people comes from the message catalogue, and everything that came from agents,
// files or commands is escaped before it is printed.
//
// The package keeps no state of its own between calls of Main and reads the machine only through Host and Streams.
package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/cli/term"
	"pawl/message"
	"pawl/policy"
)

// interrupted is the exit status after Ctrl-C or SIGTERM: 128 and the number of SIGINT.
const interrupted = 130

// voice puts things into the words of one language, decorated for one terminal.
type voice struct {
	lang  message.Lang
	style term.Style
	width int
}

// terminal is where the program writes and asks.
type terminal struct {
	*voice
	std   Streams
	flags globals
	in    *bufio.Reader // over std.In, once something was asked
	typed chan typed    // the line that is being read, nil when none is
}

// app is one call of the program.
type app struct {
	*terminal
	host Host
	args []string
}

// globals are the flags that every command takes.
type globals struct {
	dir     string
	json    bool
	lang    string
	noColor bool
}

// Main runs one command line, without the program's name, and returns the exit status (docs/exit-codes.md). It ends
// early, leaving work to be resumed, when ctx ends; the caller ends ctx at Ctrl-C and SIGTERM. Nothing is written but to
// the streams and by what the command does. Errors go to Err as text, or as one JSON object with --json.
func Main(ctx context.Context, host Host, std Streams, args []string) (status int) {
	a := newApp(host, std, args)
	defer func() {
		if p := recover(); p != nil {
			a.report(pawl.Fail(pawl.CodeInternal, "cli.crash", fmt.Sprint(p)))
			_, _ = a.std.Err.Write(debug.Stack())
			status = pawl.CodeInternal.Info().Exit
		}
	}()
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(a.std.In)
	root.SetOut(a.std.Out)
	root.SetErr(a.std.Err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return interrupted
	}
	a.report(err)
	return exitOf(err)
}

func newApp(host Host, std Streams, args []string) *app {
	if std.Env == nil {
		std.Env = func(string) string { return "" }
	}
	if std.Width <= 0 {
		std.Width = 80
	}
	if std.In == nil {
		std.In = strings.NewReader("")
	}
	a := &app{terminal: &terminal{voice: &voice{width: std.Width}, std: std}, host: host, args: args}
	// Language, colour and form are needed before the flags are parsed, for help and for errors about flags.
	a.flags.lang = early(args, "--lang")
	a.flags.noColor = early(args, "--no-color") == "true"
	a.flags.json = early(args, "--json") == "true"
	a.lang = message.ParseLang(a.locale())
	a.style = term.Detect(std.TTY, a.flags.noColor, std.Env)
	return a
}

// early reads a global flag before the flags are parsed: "true" for one that stands alone.
func early(args []string, name string) string {
	for i, arg := range args {
		switch {
		case arg == "--":
			return ""
		case strings.HasPrefix(arg, name+"="):
			return arg[len(name)+1:]
		case arg == name && name == "--lang":
			// Without its value the flag is a mistake, which is told in the language of the user.
			if i+1 == len(args) {
				return ""
			}
			return args[i+1]
		case arg == name:
			return "true"
		}
	}
	return ""
}

// locale names the language: the flag, PAWL_LANG, then the locale.
func (a *app) locale() string {
	if a.flags.lang != "" {
		return a.flags.lang
	}
	for _, name := range []string{"PAWL_LANG", "LC_ALL", "LC_MESSAGES", "LANG"} {
		if v := a.std.Env(name); v != "" {
			return v
		}
	}
	return ""
}

// text renders a message of the catalogue. Strings among the arguments are escaped, so that nothing in them can act on
// the terminal.
func (a *voice) text(key string, args ...any) string {
	return a.lang.Text(key, fit(key, safe(args))...)
}

// wordy renders a reason that is either a key of the catalogue or text of an agent.
func (a *voice) wordy(reason string) string {
	if _, ok := message.Lookup(reason); ok {
		return a.lang.Text(reason)
	}
	return reason
}

// choose picks between texts that come in both languages, such as the descriptions of the machines.
func (a *voice) choose(en, zh string) string {
	if a.lang == message.Chinese {
		return zh
	}
	return en
}

func safe(args []any) []any {
	out := make([]any, len(args))
	for i, v := range args {
		switch v := v.(type) {
		case string:
			out[i] = policy.Display(v)
		case error, fmt.Stringer:
			out[i] = policy.Display(fmt.Sprint(v))
		default:
			out[i] = v
		}
	}
	return out
}

// say writes a line to Out.
func (a *terminal) say(line string) { _, _ = io.WriteString(a.std.Out, line+"\n") }

// sayText writes a message to Out.
func (a *terminal) sayText(key string, args ...any) { a.say(a.text(key, args...)) }

// note writes a line for people to Err; with --json it is left out.
func (a *terminal) note(line string) {
	if !a.flags.json {
		_, _ = io.WriteString(a.std.Err, line+"\n")
	}
}

// actor names the user at the keyboard.
func (a *app) actor() pawl.Actor { return pawl.By(pawl.KindUser, a.user()) }

func (a *app) user() string {
	for _, name := range []string{"USER", "LOGNAME", "USERNAME"} {
		if v := a.std.Env(name); v != "" {
			return v
		}
	}
	return ""
}

// commandLine is the command as it was typed, for the owner's record.
func (a *app) commandLine() string { return "pawl " + strings.Join(a.args, " ") }

// usage returns an error about how a command was called.
func usage(key string, args ...any) error {
	return pawl.Fail(pawl.CodeUsage, key, args...).In("cli.args")
}

// exactly accepts n arguments.
func exactly(n int) cobra.PositionalArgs { return between(n, n) }

// between accepts from least to most arguments.
func between(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usage("cli.args_few", cmd.UseLine(), cmd.CommandPath())
		case len(args) > most:
			return usage("cli.args_many", args[most], cmd.CommandPath())
		}
		return nil
	}
}
