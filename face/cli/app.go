// Package cli is the command line: it turns arguments into commands of the kernel, runs the runner in the foreground
// where a command asks for work, and turns what happened into text or JSON. It decides nothing: whatever it refuses,
// the kernel or a parser refused first. Every word for people comes from the message catalogue, and everything that
// came from agents, files or commands is escaped before it is printed.
//
// The package keeps no state of its own between calls of Main and reads the machine only through Host and Streams.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli/term"
	"pawl/face/host"
	"pawl/face/person"
	"pawl/face/tui"
	"pawl/text/message"
)

// interrupted is the exit status after Ctrl-C or SIGTERM: 128 and the number of SIGINT.
const interrupted = 130

// App is one call of the program: its arguments, what of the machine it may see, and how it speaks.
type App struct {
	*Printer
	Host  host.Host
	Args  []string
	Flags globals
	more  []Entry      // commands of other packages
	out   *term.Output // what everything is written to
	did   atomic.Bool  // something was committed
	// warned says that what is to be known before anything else was told.
	warned atomic.Bool
	made   string    // what the command made, by its name
	stdin  io.Reader // ends with the context of the command
}

// globals are the flags that every command takes.
type globals struct {
	dir     string
	issue   string
	lang    string
	noColor bool
	init    bool
}

// Main runs one command line, without the program's name, and returns the exit status (docs/exit-codes.md). It ends
// early, leaving work to be resumed, when ctx ends; the caller ends ctx at Ctrl-C and SIGTERM. Nothing is written but
// to the streams and by what the command does. Errors go to Err as text, or as one JSON object with --json.
//
// More are the commands of the first level that other packages bring. An argument that begins with "~" is a ~command
// (docs/spec/workflow.md#commands) and goes to the one of them that is called Say; without any argument a terminal gets
// the one called Ask.
func Main(ctx context.Context, host host.Host, std host.Streams, args []string, more ...Entry) (status int) {
	a := newApp(host, std, args)
	a.more = more
	a.Args = route(a)
	a.stdin = term.Interruptible(ctx, a.Std.In)
	defer func() {
		if p := recover(); p != nil {
			ReportError(a.Printer, pawl.Fail(pawl.CodeInternal, "cli.crash", fmt.Sprint(p)))
			_, _ = a.Std.Err.Write(debug.Stack())
			status = pawl.CodeInternal.Info().Exit
		}
	}()
	err := judgeOutput(a, execute(ctx, a))
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return interrupted
	}
	if next := a.Screen.Next; next != "" {
		a.Screen.Next = ""
		return Again(ctx, a, []string{Say, "--", next}) // for which a question was left open
	}
	if err == nil {
		return 0
	}
	ReportError(a.Printer, err)
	return exitOf(err)
}

// execute runs the command line.
func execute(ctx context.Context, a *App) error {
	root := newRoot(a)
	root.SetArgs(a.Args)
	root.SetIn(a.Std.In)
	root.SetOut(a.Std.Out)
	root.SetErr(a.Std.Err)
	return root.ExecuteContext(ctx)
}

// Within runs another command line as a part of a, at the same terminal, and returns its error instead of telling it.
// Its flags mean what they mean on a command line of its own; the global ones then hold for the rest of a, which tells
// the error.
func Within(ctx context.Context, a *App, args []string) error {
	defer func(outer []string) { a.Args = outer }(a.Args)
	a.Args = append(given(a, args), args...)
	prepare(a)
	return execute(ctx, a)
}

// Again runs another command line in the place of a, on its streams, and returns the exit status as Main does. The
// global flags of a go on to hold, so that it speaks of the same workspace and issue, unless the command line says
// otherwise.
func Again(ctx context.Context, a *App, args []string) int {
	return Main(ctx, a.Host, a.Std, append(given(a, args), args...), a.more...)
}

// given are the global flags as arguments, but for those that another command line gives itself and that are read from
// the first place where they stand.
func given(a *App, args []string) []string {
	g := a.Flags
	var out []string
	if g.dir != "" {
		out = append(out, "--dir="+g.dir)
	}
	if g.issue != "" {
		out = append(out, "--issue="+g.issue)
	}
	if g.lang != "" && early(args, "--lang") == "" {
		out = append(out, "--lang="+g.lang)
	}
	if a.JSON {
		out = append(out, "--json")
	}
	if g.noColor {
		out = append(out, "--no-color")
	}
	return out
}

func newApp(host host.Host, std host.Streams, args []string) *App {
	if std.Env == nil {
		std.Env = func(string) string { return "" }
	}
	if std.Width <= 0 {
		std.Width = 80
	}
	if std.In == nil {
		std.In = strings.NewReader("")
	}
	out := term.NewOutput(std.Out)
	if std.Screen == nil {
		std.Screen = tui.NewScreen(std.In, out, std.TermIn, std.TermOut, std.TTY, std.Width, std.Env)
		std.Out = std.Screen
	} else {
		std.Out = out
	}
	a := &App{Printer: &Printer{Std: std, Screen: std.Screen}, Host: host, Args: args, out: out}
	prepare(a)
	return a
}

// prepare reads the language, the colour and the form, which are needed before the flags are parsed, for help and for
// errors about flags.
func prepare(a *App) {
	a.Flags.lang = early(a.Args, "--lang")
	a.Flags.noColor = early(a.Args, "--no-color") == "true"
	a.JSON = early(a.Args, "--json") == "true"
	a.Lang = message.ParseLang(locale(a))
	a.Style = term.Detect(a.Std.TTY, a.Flags.noColor, a.Std.Env)
	a.Screen.Lang, a.Screen.Style = a.Lang, a.Style
	a.Screen.Hear = func(ctx context.Context, line string) bool { return hear(ctx, a, line) }
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
func locale(a *App) string {
	env := a.Std.Env
	return cmp.Or(a.Flags.lang, env("PAWL_LANG"), env("LC_ALL"), env("LC_MESSAGES"), env("LANG"))
}

// Issue is the label of the issue that the command line names, "" for none.
func (a *App) Issue() string { return a.Flags.issue }

// Actor names the user at the keyboard, or the program that calls where nobody is to be seen.
func (a *App) Actor() pawl.Actor {
	if program := caller(a.Printer); program != "" {
		return pawl.By(pawl.KindAutomation, program)
	}
	return pawl.By(pawl.KindUser, person.Account(a.Std.Env))
}

// Usage returns an error about how a command was called.
func Usage(key string, args ...any) error {
	return pawl.Fail(pawl.CodeUsage, key, args...).In("cli.args")
}

// Exactly accepts n arguments.
func Exactly(n int) cobra.PositionalArgs { return Between(n, n) }

// Between accepts from least to most arguments.
func Between(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return Usage("cli.args_few", cmd.UseLine(), cmd.CommandPath())
		case len(args) > most:
			return Usage("cli.args_many", args[most], cmd.CommandPath())
		}
		return nil
	}
}
