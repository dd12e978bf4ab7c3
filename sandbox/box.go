package sandbox

import (
	"io"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"sync"

	"pawl"
)

// Options configures a Box. The zero value is right for production.
type Options struct {
	// Mechanism forces one of the mechanisms; empty means MechanismAuto.
	Mechanism Mechanism
	// Home is the user's home directory, whose secrets are hidden. Empty means the home of the user who runs pawl; the
	// directories named by $HOME and by the user database are hidden in any case.
	Home string
	// Readable are further files and folders that every command may read, such as a neighbour of the project in the
	// home directory. What does not exist is ignored.
	Readable []string
	// Limits are what a command may use.
	Limits Limits
	// Ready keeps a launcher waiting for the next command for some seconds after each, so that commands which follow
	// one another start sooner. It needs Close at the end. Only MechanismNamespaces can do it, because bubblewrap has
	// to know the command first; MechanismAuto takes bubblewrap second then. Commands with Network, Stdin or MaxMemory
	// wait for a launcher of their own.
	Ready bool
	// Filter stands between what commands of Run write and all that is made of it: what is kept, its digest, and
	// OnOutput. What is written to the filter comes out by emit, at the latest when it is closed. Nil lets all through.
	Filter func(emit func([]byte)) io.WriteCloser
}

// Box runs commands behind walls. It is safe for concurrent use; every Run has walls of its own.
type Box struct {
	mechanism Mechanism
	homes     []string
	readable  []string
	limits    Limits
	filter    func(emit func([]byte)) io.WriteCloser

	mu     sync.Mutex
	chosen Mechanism // what choose found to work; a failure is not kept, because it may pass
	walls  *Walls

	level     int // the newest version of Landlock to use on the floor; zero for the kernel's
	launchers launchers
	points    points
	layers    sync.Map // the Layers of commands that run
}

// New returns a Box. It starts nothing: the walls are tried on the first use, and a machine without them is reported by
// Run and by Walls. An unknown mechanism is pawl.CodeInvalid.
func New(o Options) (*Box, error) {
	switch o.Mechanism {
	case "":
		o.Mechanism = MechanismAuto
	case MechanismAuto, MechanismBubblewrap, MechanismNamespaces, MechanismLandlock, MechanismOuter:
	default:
		return nil, pawl.Fail(pawl.CodeInvalid, "sandbox.mechanism", string(o.Mechanism)).In("sandbox.New")
	}
	return &Box{mechanism: o.Mechanism, homes: homes(o.Home), readable: o.Readable, limits: o.Limits, filter: o.Filter,
		launchers: launchers{ready: o.Ready, memory: o.Limits.Memory}}, nil
}

// homes lists the resolved home directories whose secrets are hidden.
func homes(own string) []string {
	candidates := []string{own, os.Getenv("HOME")}
	if u, err := user.Current(); err == nil {
		candidates = append(candidates, u.HomeDir)
	}
	var out []string
	for _, c := range candidates {
		if !filepath.IsAbs(c) {
			continue
		}
		r, err := filepath.EvalSymlinks(c)
		if err == nil && r != "/" && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}
