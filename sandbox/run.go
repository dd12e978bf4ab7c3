package sandbox

import (
	"context"
	"os"
	"slices"

	"pawl"
	"pawl/sandbox/stream"
)

// Warm makes ready for a command that is to come: a Box with Options.Ready tries the walls and starts a launcher beside
// what the caller does next. Without Ready it does nothing. It never waits and never fails.
func (b *Box) Warm() { b.launchers.warm(b.choose) }

// Puts reports whether commands find elsewhere what the Spec puts there: where there are namespaces.
func (b *Box) Puts(ctx context.Context) bool {
	m, err := b.choose(ctx)
	return err == nil && !m.bare()
}

// Close ends the launcher that a Box with Options.Ready keeps, and waits until nothing of it is left, and for the
// commands that run. Commands can still be run afterwards; they wait for their launchers. Closing twice, and closing a
// Box without Ready, does nothing.
func (b *Box) Close() { b.launchers.dismiss() }

// Run runs a command and waits until all of its processes are gone. A command that fails, is ended by a signal, by its
// timeout or by ctx is a Result, not an error. The errors are: pawl.CodeInvalid for a Spec that makes no sense,
// pawl.CodeDenied for a Writable path that must not be writable, pawl.CodeNotFound for one that is missing,
// pawl.CodeEnvironment when the executable is missing or cannot be executed, pawl.CodeSandbox when the walls cannot be
// raised, pawl.CodeCanceled when ctx was done before the start, and pawl.CodeIO when pawl itself failed.
func (b *Box) Run(ctx context.Context, s Spec) (Result, error) {
	s, err := s.checked(b.homes)
	if err == nil {
		err = b.hides(ctx, s)
	}
	if err != nil {
		return Result{}, err
	}
	if ctx.Err() != nil {
		return Result{}, pawl.Fail(pawl.CodeCanceled, "sandbox.canceled").Because(context.Cause(ctx)).In("sandbox.Run")
	}
	s.filter = b.filter
	return b.pointed(ctx, s)
}

// pointed runs a command with a place for everything that it is shown.
func (b *Box) pointed(ctx context.Context, s Spec) (Result, error) {
	var made []string
	// Where no mounts can be made, folders are shown by links.
	linking := len(s.Shown) > 0 && b.bare(ctx)
	defer func() { b.points.leave(made, s.Writable, linking) }()
	for i, sh := range s.Shown {
		if _, busy := b.layers.LoadOrStore(sh.Layer, true); busy { // or there is none
			s.Shown[i].Layer = ""
		} else {
			defer b.layers.Delete(sh.Layer)
		}
		if sh.private() || linking && sh.From == sh.At {
			continue
		}
		ours, err := b.points.take(sh, s.Writable, linking)
		if err != nil {
			return Result{}, err
		}
		if ours {
			made = append(made, sh.At)
		}
	}
	return b.run(ctx, s)
}

// hides refuses a command that must not see what could not be hidden from it.
func (b *Box) hides(ctx context.Context, s Spec) error {
	if !s.MustHide {
		return nil
	}
	for _, p := range s.Hidden {
		if slices.ContainsFunc(s.Writable, func(w string) bool { return within(p, w) }) && b.bare(ctx) {
			return pawl.Fail(pawl.CodeEnvironment, "sandbox.cannot_hide", p).In("sandbox.Run")
		}
	}
	return nil
}

// Process is a command that was started and whose streams are the caller's to read and write.
type Process struct {
	Stdin          *os.File
	Stdout, Stderr *os.File
	stop           context.CancelFunc
	done           chan struct{}
	result         Result
	err            error
}

// Start starts a command as Run does, without waiting for it. The caller must read both outputs, or the command waits
// for it, and must call Wait. Stdin of the Spec, OutputLimit and OnOutput have no meaning. What keeps a command from
// starting is returned by Wait, with the same errors as Run's.
func (b *Box) Start(ctx context.Context, s Spec) (*Process, error) {
	s, err := s.checked(b.homes)
	if err == nil {
		err = b.hides(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	ends, err := stream.Three()
	if err != nil {
		return nil, pawl.Fail(pawl.CodeIO, "sandbox.walls").Because(err).In("sandbox.Start")
	}
	work, stop := context.WithCancel(ctx)
	p := &Process{Stdin: ends[1], Stdout: ends[2], Stderr: ends[4], stop: stop, done: make(chan struct{})}
	s.Stdin, s.OnOutput, s.streams = nil, nil, &streams{in: ends[0], out: ends[3], err: ends[5]}
	go func() {
		defer close(p.done)
		p.result, p.err = b.pointed(work, s)
		// Nothing of the command is left, so what it wrote can be read to its end.
		for _, f := range []*os.File{ends[0], ends[3], ends[5]} {
			_ = f.Close()
		}
	}()
	return p, nil
}

// Wait waits until no process of the command is left. Call it once.
func (p *Process) Wait() (Result, error) {
	<-p.done
	p.stop()
	_ = p.Stdin.Close()
	return p.result, p.err
}

// Kill ends the command: with SIGTERM, and with SIGKILL two seconds later. It may be called at any time and often.
func (p *Process) Kill() { p.stop() }

// Layers says how the Box shows a folder in a command's Home: not at all, where there are no namespaces; or at another
// path, and then under a layer that takes what the command writes, or read-only. It is tried with that folder, in which
// nothing changes.
func (b *Box) Layers(ctx context.Context, folder string) (shows, layered bool) {
	if b.bare(ctx) {
		return false, false
	}
	at := Home + "/.cache/try"
	r, err := b.Run(ctx, Spec{Argv: []string{"sh", "-c", `: >"$0/.try"`, at}, Dir: "/", Env: Environ(nil, nil),
		Shown: []Shown{{From: folder, At: at}}, Timeout: handshake})
	return err == nil, err == nil && r.Exit == 0
}

// Walls reports what this machine can do. The first call tries every layer, as Probe does; later calls repeat its
// answer.
func (b *Box) Walls(ctx context.Context) Walls {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.walls == nil {
		w := Probe(ctx)
		w.Outer = b.mechanism == MechanismOuter
		b.walls = &w
	}
	return *b.walls
}
