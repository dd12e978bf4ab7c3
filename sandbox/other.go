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

// warm does nothing: nothing runs behind walls here.
func (b *Box) warm() {}

func (b *Box) bare(context.Context) bool { return false }

func (b *Box) run(context.Context, Spec) (Result, error) {
	return Result{}, pawl.Fail(pawl.CodeSandbox, "sandbox.system", runtime.GOOS).In("sandbox.Run")
}

// spare does not exist without Linux.
type spare struct{}

func (b *Box) dismiss() {}
