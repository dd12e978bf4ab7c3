// Command pawl is the durable orchestrator for AI coding agents. This package only starts the program: it names the
// commands that there are, and package app puts together what they work with.
package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/term"

	"pawl/face/app"
	"pawl/face/cli"
	"pawl/face/cli/commands"
	"pawl/face/cli/complete"
	"pawl/face/cli/manual"
	"pawl/face/host"
	"pawl/face/person"
	"pawl/sandbox"
	"pawl/sandbox/prove"
)

func main() {
	run(app.Host{}, func() string { return person.Program(os.Stdin, os.Getenv) })
}

// run carries out the command line of this process, in the name of the program that program names or of a person, and
// ends it.
func run(host app.Host, program func() string) {
	// A command behind walls is started through this very program; its launcher never comes back from here.
	sandbox.Child()
	prove.Child()
	ctx, stop := context.Background(), func() {}
	std, readers := streams(), &audience{}
	std.Program = sync.OnceValue(program)
	if !cli.Brief(os.Args[1:]) {
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		// The first interrupt ends the work in an orderly way; a second one ends the process at once.
		context.AfterFunc(ctx, stop)
		var leave func()
		ctx, leave = readers.attend(ctx, &std)
		defer leave()
	}
	code := cli.Main(ctx, host, std, os.Args[1:],
		slices.Concat(commands.Entries(), complete.Entries(), manual.Entries())...)
	stop()
	os.Exit(readers.status(code))
}

func streams() host.Streams {
	s := host.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Width: 80, Env: os.Getenv}
	s.Dir, _ = os.Getwd()
	if term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())) {
		s.TTY, s.TermIn, s.TermOut, s.Pager = true, os.Stdin, os.Stdout, sandbox.Pager
		if w, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && w > 0 {
			s.Width = w
		}
	}
	return s
}
