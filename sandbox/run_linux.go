package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl/sandbox/allow"
	"pawl/sandbox/cause"
	"pawl/sandbox/inside"
	"pawl/sandbox/landlock"
	"pawl/sandbox/safeopen"
	"pawl/text/policy"

	"pawl"
)

// Probe tries every layer on this machine: it raises the walls with each mechanism and has the launcher try to get over
// them. It takes some tens of milliseconds.
func Probe(ctx context.Context) Walls {
	b := &Box{homes: homes("")}
	var w Walls
	for _, m := range []Mechanism{MechanismBubblewrap, MechanismNamespaces, MechanismLandlock} {
		held, err := b.try(ctx, m)
		one := Wall{OK: err == nil}
		if err != nil {
			one.Detail = detail(err)
		}
		switch m {
		case MechanismBubblewrap:
			w.Bubblewrap = one
		case MechanismNamespaces:
			w.Namespaces = one
			if err != nil {
				w.Cause = cause.Of(os.DirFS("/"), err, os.Geteuid() == 0)
			}
		default:
			w.Floor = one
		}
		if slices.Contains(held, "seccomp") {
			w.Seccomp = Wall{OK: true}
		}
		if slices.Contains(held, "landlock") {
			w.Landlock = Wall{OK: true, Detail: "ABI " + strconv.Itoa(landlock.ABI())}
		}
		if slices.Contains(held, "cgroup") {
			w.Cgroup = Wall{OK: true, Detail: strings.Join(findGroups().controllers(), " ")}
		}
	}
	return w
}

// detail is the innermost reason of an error.
func detail(err error) string {
	var own *pawl.Error
	if errors.As(err, &own) && own.Err != nil {
		return detail(own.Err)
	}
	return err.Error()
}

// run carries out a checked Spec.
func (b *Box) run(ctx context.Context, s Spec) (Result, error) {
	begin := time.Now()
	mechanism, err := b.choose(ctx)
	if err == nil {
		err = b.look(&s)
	}
	if err != nil {
		return Result{}, err
	}
	if mechanism.bare() { // git fails on a configuration of the system that it cannot read (layout.repositories)
		s.Env = append(slices.Clip(s.Env), "GIT_CONFIG_NOSYSTEM=1")
	}
	res, err := b.behind(ctx, mechanism, s)
	res.Duration = time.Since(begin)
	if mechanism != MechanismBubblewrap {
		b.launchers.prepare(mechanism)
	}
	return res, err
}

// look looks through the folder that a command works in, where that is not one of pawl's own making: what it must not
// read there is noted, and what has names outside is parted from them.
func (b *Box) look(s *Spec) error {
	for _, w := range s.Writable {
		made := strings.Contains(w+"/", "/.pawl/") || s.Workspace != "" && !within(w, s.Workspace)
		if made || !within(s.Dir, w) || !isDir(w) {
			continue
		}
		found, err := inside.Look(w, policy.Secret)
		var kept *inside.Error
		if errors.As(err, &kept) {
			return pawl.Fail(pawl.CodeEnvironment, "sandbox.linked_outside", kept.Path).Because(err).In("sandbox.Run")
		}
		if err != nil {
			return safeopen.Fail("sandbox.Run", w, err)
		}
		named := slices.Concat(b.readable, s.Readable)
		for _, p := range found.Secrets {
			if !slices.ContainsFunc(named, func(r string) bool { return within(p, r) }) {
				s.masked = append(s.masked, p)
			}
		}
		s.shared = append(s.shared, found.Shared...)
		s.repositories = append(s.repositories, found.Repositories...)
	}
	return nil
}

// bare reports whether commands run without namespaces here. Where no mechanism works, the run itself says so.
func (b *Box) bare(ctx context.Context) bool {
	m, err := b.choose(ctx)
	return err == nil && m.bare()
}

// choose returns the mechanism that the Box uses, tried for real the first time.
func (b *Box) choose(ctx context.Context) (Mechanism, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.chosen != "" {
		return b.chosen, nil
	}
	candidates := []Mechanism{b.mechanism}
	switch {
	case b.mechanism != MechanismAuto:
	case b.launchers.ready:
		candidates = []Mechanism{MechanismNamespaces, MechanismBubblewrap, MechanismLandlock}
	default:
		candidates = []Mechanism{MechanismBubblewrap, MechanismNamespaces, MechanismLandlock}
	}
	var errs []error
	why := cause.Cause{Kind: cause.Unknown}
	for _, m := range candidates {
		_, err := b.try(ctx, m)
		if err == nil {
			b.chosen = m
			return m, nil
		}
		errs = append(errs, fmt.Errorf("%s: %s", m, detail(err)))
		if m == MechanismNamespaces && b.mechanism == MechanismAuto {
			why = cause.Of(os.DirFS("/"), err, os.Geteuid() == 0)
		}
	}
	return "", refused(why).Because(errors.Join(errs...)).In("sandbox.Run")
}

// refused says that no walls can be raised, and what mends it.
func refused(why cause.Cause) *pawl.Error {
	switch why.Kind {
	case cause.Sysctl:
		return pawl.Fail(pawl.CodeSandbox, "sandbox.walls_sysctl", why.Name, why.Value, why.Enough())
	case cause.Limit:
		return pawl.Fail(pawl.CodeSandbox, "sandbox.walls_limit", why.Name, why.Value, why.Enough())
	case cause.AppArmor:
		return pawl.Fail(pawl.CodeSandbox, "sandbox.walls_apparmor", why.Name, why.Value)
	case cause.Seccomp:
		return pawl.Fail(pawl.CodeSandbox, "sandbox.walls_seccomp", cmp.Or(why.Name, "seccomp"))
	}
	return pawl.Fail(pawl.CodeSandbox, "sandbox.walls")
}

// try raises the walls of a mechanism around the launcher alone and returns their names when they hold.
func (b *Box) try(ctx context.Context, m Mechanism) ([]string, error) {
	res, err := b.behind(context.WithoutCancel(ctx), m, Spec{Timeout: handshake})
	if err == nil && (res.TimedOut || res.Exit != 0) {
		err = fmt.Errorf("the walls could not be tried to the end: exit %d %s", res.Exit, res.Signal)
	}
	return res.Walls, err
}

// maxLayouts bounds how often a layout is made for one command.
const maxLayouts = 50

// behind runs a Spec behind the walls of one mechanism. The launcher of pawl's own namespaces leaves out what is gone
// from the machine by the time that it gets there. Bubblewrap ends with an error instead, which any program can bring
// about that opens and closes a socket, so it is given another layout then.
func (b *Box) behind(ctx context.Context, m Mechanism, s Spec) (res Result, err error) {
	for range maxLayouts {
		l, failed := b.layout(s, m)
		if failed != nil {
			return Result{}, failed
		}
		res, err = b.within(ctx, m, s, l.steps())
		l.close()
		if err == nil && res.Exit != 0 {
			missed := append(allow.Missed(string(res.Output), s.Dir), allow.Beside(s.Workspace)...)
			res.Hint = allow.Hint(b.offered(l, s.Workspace, missed), b.readable)
		}
		if err == nil || len(res.Walls) > 0 || m != MechanismBubblewrap || !l.blamed(err) {
			break
		}
	}
	return res, err
}

// within runs a Spec behind walls that are built by a list of steps.
func (b *Box) within(ctx context.Context, m Mechanism, s Spec, mounts []mount) (Result, error) {
	use := b.limits.with(s)
	s.MaxProcs = use.Processes
	o := order{argv: s.Argv, env: s.Env, dir: s.Dir, mounts: mounts, scratch: use.scratch(), use: use,
		network: s.Network, gates: gates(s.Egress), secret: s.Secret, secretFD: s.SecretFD}
	o.own, o.bare, o.outer = m == MechanismNamespaces, m.bare(), m == MechanismOuter
	o.apart = m == MechanismBubblewrap && s.streams != nil
	o.level = b.level
	if o.bare {
		if err := o.makePrivate(); err != nil {
			return Result{}, err
		}
		// What a command leaves in its folder can be a lot, and nobody has to wait for its removal but Close.
		defer b.launchers.standing.Go(func() { discard(o.private); _ = o.claim.Close() })
	}
	j := &job{ctx: ctx, spec: s, order: o, done: make(chan struct{})}
	if b.launchers.hand(j) {
		return j.res, j.err
	}
	aside(func() bool {
		group := b.launchers.groups().open(use.Memory)
		defer group.remove()
		c, fault := start(o, s, group)
		if fault != nil {
			j.err = failed(fault)
		} else {
			j.res, j.err = c.supervise(ctx, s, o)
		}
		return !group.keepsThread()
	})
	return j.res, j.err
}

// makePrivate makes the folder that stands in for /tmp. It is removed when the command has ended, by the launcher where
// pawl is gone by then, and by a later pawl where both were killed.
func (o *order) makePrivate() error {
	dir, claim, err := privateDir()
	if err != nil {
		return err
	}
	o.claim = claim
	o.private = dir
	o.mounts = append(slices.Clone(o.mounts), mount{kind: mountWrite, path: dir})
	if !slices.Contains(o.mounts, mount{kind: mountRead, path: allow.SystemGit}) {
		// Git fails on a file that it cannot read.
		o.env = append(o.env, "GIT_CONFIG_NOSYSTEM=1")
	}
	o.env = privately(o.env, dir)
	return nil
}

// offered are those of some paths that may be proposed for the setting readable.
func (b *Box) offered(l *layout, workspace string, paths []string) []string {
	return allow.Offered(paths, b.homes, workspace, func(p string) bool { return l.covered(p) && !policy.Secret(p) })
}

// Hidden lists what a project may need and commands cannot read, and the command that lets them.
func (b *Box) Hidden(ctx context.Context, workspace string) (paths []string, command string) {
	m, err := b.choose(ctx)
	ws, _, ok := real(workspace)
	if err != nil || !ok {
		return nil, ""
	}
	l, err := b.layout(Spec{Dir: ws, Workspace: ws, Writable: []string{ws}, Env: Environ(os.Environ(), nil)}, m)
	if err != nil {
		return nil, ""
	}
	defer l.close()
	paths = b.offered(l, ws, allow.Needs(ws))
	return paths, allow.Command(paths, b.readable)
}
