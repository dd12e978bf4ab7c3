//go:build !linux

package sandbox

import (
	"context"
	"runtime"

	"pawl"
)

// Child returns at once: without Linux there are no walls and no launcher.
func Child() {}

// Probe reports that this operating system has none of the walls.
func Probe(context.Context) Walls {
	no := Wall{Detail: runtime.GOOS}
	return Walls{Bubblewrap: no, Namespaces: no, Floor: no, Landlock: no, Seccomp: no, Cgroup: no}
}

func (b *Box) bare(context.Context) bool { return false }

func (b *Box) run(ctx context.Context, _ Spec) (Result, error) {
	_, err := b.choose(ctx)
	return Result{}, err
}

// choose finds none: nothing runs behind walls here.
func (b *Box) choose(context.Context) (Mechanism, error) {
	return "", pawl.Fail(pawl.CodeSandbox, "sandbox.system", runtime.GOOS).In("sandbox.Run")
}

// launchers do not exist without Linux.
type launchers struct{ ready bool }

func (l *launchers) warm(func(context.Context) (Mechanism, error)) {}

func (l *launchers) dismiss() {}

// Hidden finds nothing: no command runs here.
func (b *Box) Hidden(context.Context, string) ([]string, string) { return nil, "" }
