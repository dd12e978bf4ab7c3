package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"pawl/sandbox/landlock"
	"pawl/sandbox/mediate"
	"pawl/sandbox/seccomp"
)

// shm is where programs keep memory that they share under a name.
const shm = "/dev/shm"

// floor is the layout of a command without mounts. Nothing can be put over a path, so what is readable is granted,
// around what is hidden; and as a grant holds for all that is below, a writable directory that holds something which is
// not is left to be judged call by call.
type floor struct {
	at     map[string]mountKind
	below  map[string]bool // directories with a statement below them
	hidden map[string]bool // those with one that hides
	dirs   map[string]bool // directories below which the kernel judges changes rightly
	mu     sync.Mutex      // of dirs
	rules  *landlock.Ruleset
}

func newFloor(mounts []mount) *floor {
	f := &floor{at: map[string]mountKind{"/": mountRead, "/dev": mountHideDir, shm: mountWrite},
		below: map[string]bool{}, hidden: map[string]bool{}, dirs: map[string]bool{}}
	for _, m := range mounts {
		f.at[m.path] = m.kind
	}
	for p, k := range f.at {
		for d := p; d != "/"; {
			d = filepath.Dir(d)
			f.below[d] = true
			f.hidden[d] = f.hidden[d] || (mount{kind: k, path: p}).hides()
		}
	}
	return f
}

// kind is what the deepest statement says about a path.
func (f *floor) kind(path string) mountKind {
	for d := path; ; d = filepath.Dir(d) {
		if k, ok := f.at[d]; ok {
			return k
		}
		if d == "/" || d == "." {
			return mountHideDir
		}
	}
}

// writable reports whether what is at a path may be changed.
func (f *floor) writable(path string) bool { return f.kind(path) == mountWrite }

// granted reports whether a path lies in a directory in which the kernel judges changes rightly.
func (f *floor) granted(path string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for d := path; d != "/" && d != "."; {
		d = filepath.Dir(d)
		if f.dirs[d] {
			return true
		}
	}
	return false
}

// lost forgets a directory whose name was given to something else: the kernel's rule went with the directory.
func (f *floor) lost(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.dirs, path)
}

// guarded reports whether a writable directory holds something that is not writable.
func (f *floor) guarded() bool {
	for p, k := range f.at {
		if k == mountWrite && f.below[p] {
			return true
		}
	}
	return false
}

// grant makes the rules for a path of a kind and for what is below it.
func (f *floor) grant(path string, kind mountKind) error {
	switch {
	case kind == mountWrite && !f.below[path]:
		f.dirs[path] = true
		return f.rule(path, landlock.Write)
	case kind == mountWrite:
		// All of it can be read. Each directory in it is granted by itself, and what is left is judged call by call.
		if err := f.rule(path, landlock.Read); err != nil {
			return err
		}
		return f.each(path, kind, func(e os.DirEntry) bool { return e.IsDir() })
	case kind == mountRead && f.hidden[path]:
		return f.each(path, kind, func(e os.DirEntry) bool { return e.Type()&os.ModeSymlink == 0 })
	case kind == mountRead:
		if err := f.rule(path, landlock.Read); err != nil {
			return err
		}
	}
	return f.statements(path)
}

// each grants the entries of a directory by themselves. Those that come later are not granted to this command.
func (f *floor) each(dir string, kind mountKind, wanted func(os.DirEntry) bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrPermission) && !gone(err) {
		return err
	}
	for _, e := range entries {
		p := filepath.Join(dir, e.Name())
		k, said := f.at[p]
		if !said {
			k = kind
		}
		if !said && !wanted(e) {
			continue
		}
		if err := f.grant(p, k); err != nil {
			return err
		}
	}
	return nil
}

// statements grants the topmost statements below a directory.
func (f *floor) statements(dir string) error {
	if !f.below[dir] {
		return nil
	}
	for _, p := range slices.Sorted(maps.Keys(f.at)) {
		if p == dir || !within(p, dir) || f.between(p, dir) {
			continue
		}
		if err := f.grant(p, f.at[p]); err != nil {
			return err
		}
	}
	return nil
}

// between reports whether another statement lies between a path and a directory above it.
func (f *floor) between(path, dir string) bool {
	for d := filepath.Dir(path); d != dir && d != "/"; d = filepath.Dir(d) {
		if _, ok := f.at[d]; ok {
			return true
		}
	}
	return false
}

// rule grants one path. The layout has resolved its links, and one that is there now is an attack or came meanwhile;
// nothing is granted through it. What is gone needs no rule.
func (f *floor) rule(path string, rights uint64) error {
	fd, err := openNoLinks(path)
	if err != nil {
		if gone(err) || err == unix.ELOOP || err == unix.EACCES {
			return nil
		}
		return fmt.Errorf("grant %s: %w", path, err)
	}
	defer unix.Close(fd)
	if err := f.rules.Grant(fd, rights); err != nil {
		return fmt.Errorf("grant %s: %w", path, err)
	}
	return nil
}

// restrict takes the calling thread into the domain of the floor.
func (f *floor) restrict(abi int, network bool) error {
	if abi < landlock.ABINetwork {
		//lint:ignore ST1005 Landlock is a name
		return fmt.Errorf("Landlock of ABI %d, at least %d is needed: %w", abi, landlock.ABINetwork,
			errors.Join(landlock.Missing(), unix.EOPNOTSUPP))
	}
	rules, err := landlock.New(abi, !network)
	if err != nil {
		return err
	}
	defer rules.Close()
	f.rules = rules
	if err := f.grant("/", mountRead); err != nil {
		return err
	}
	for _, d := range devices {
		if err := f.rule("/dev/"+d, landlock.Device); err != nil {
			return err
		}
	}
	return rules.Restrict()
}

// raiseBare puts up the walls that need no namespaces. Where the machine around is the wall, what cannot be raised is
// left out; otherwise it is an error.
func (o *order) raiseBare() ([]string, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("subreaper: %w", err)
	}
	o.makeHome()
	if err := o.limit(); err != nil {
		return nil, err
	}
	if err := dropCapabilities(mayBound()); err != nil {
		return nil, fmt.Errorf("capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("no_new_privs: %w", err)
	}
	var walls []string
	if o.outer {
		walls = append(walls, string(MechanismOuter))
	}
	f := newFloor(o.mounts)
	held := f.restrict(o.abi(), o.network)
	if held == nil {
		walls = append(walls, "landlock")
	} else if !o.outer {
		return nil, fmt.Errorf("landlock: %w", held)
	}
	filtered := o.mediate(f, held == nil)
	if filtered == nil {
		walls = append(walls, "seccomp")
	} else if !o.outer {
		return nil, fmt.Errorf("seccomp: %w", filtered)
	}
	return walls, nil
}

// abi is the version of Landlock that is used.
func (o *order) abi() int {
	if abi := landlock.ABI(); o.level == 0 || abi < o.level {
		return abi
	}
	return o.level
}

// mediate puts the filter of the floor on the calling thread and decides what it hands over, on other threads. Without
// a domain the kernel judges no names, so there is nothing to decide about them.
func (o *order) mediate(f *floor, domain bool) error {
	fd, err := seccomp.Listen(seccomp.Floor(seccomp.Terms{
		Network: o.network, Signals: !domain || o.abi() < landlock.ABIScopes, Names: domain && f.guarded(),
		UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()),
	}))
	if err != nil {
		return err
	}
	o.forked = make(chan struct{})
	gates := map[uint16]int{}
	maps.Copy(gates, o.ways)
	go mediate.Run(mediate.Config{
		Calls: seccomp.NewListener(fd), Enter: enterBare, Ready: o.forked,
		Writable: func(p string) bool {
			return !domain ||
				f.writable(p)
		}, Holds: func(p string) bool { return f.below[p] },
		Granted: f.granted, Lost: f.lost, Network: o.network, Gates: gates,
	})
	return nil
}

// enterBare leaves a thread that carries calls out with no more than the command has.
func enterBare() error { return dropCapabilities(false) }

// openWays makes a pair of sockets for each gate and hands one end of each to pawl: connections of the command travel
// over it.
func (o *order) openWays() error {
	o.ways = map[uint16]int{}
	var theirs []int
	defer func() {
		for _, fd := range theirs {
			_ = unix.Close(fd)
		}
	}()
	for _, port := range o.gates {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("gate: %w", err)
		}
		if _, twice := o.ways[port]; twice {
			return fmt.Errorf("gate at port %d: %w", port, unix.EADDRINUSE)
		}
		o.ways[port] = pair[0]
		theirs = append(theirs, pair[1])
	}
	if err := unix.Sendmsg(controlFD, frame(msgGates, nil), unix.UnixRights(theirs...), nil, 0); err != nil {
		return fmt.Errorf("gates: %w", err)
	}
	return nil
}

// privately tells the programs of an environment where their folder for temporary files is: /tmp is everybody's here.
func privately(env []string, private string) []string {
	out := slices.Clone(env)
	for i, kv := range out {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case value == "/tmp":
			out[i] = name + "=" + private
		case within(value, Home):
			out[i] = name + "=" + filepath.Join(private, strings.TrimPrefix(value, "/tmp"))
		}
	}
	return out
}
