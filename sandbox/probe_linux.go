package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"pawl"
	"pawl/sandbox/cause"
	"pawl/sandbox/landlock"
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
	case b.ready:
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
	res, err := b.behind(context.WithoutCancel(ctx), m, Spec{Timeout: handshake, MaxProcs: DefaultMaxProcs})
	if err == nil && (res.TimedOut || res.Exit != 0) {
		err = fmt.Errorf("the walls could not be tried to the end: exit %d %s", res.Exit, res.Signal)
	}
	return res.Walls, err
}

// try does from inside what no command may do, and fails when any of it works.
func (o *order) try(walls []string) error {
	const name = "/tmp/.pawl-try"
	if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
		return fmt.Errorf("private /tmp: %w", err)
	}
	defer os.Remove(name)
	// Asking is enough to know, and changes nothing should one of them be writable.
	for _, dir := range []string{"/", "/etc", "/usr"} {
		if unix.Access(dir, unix.W_OK) == nil {
			return fmt.Errorf("%s is writable", dir)
		}
	}
	// Opening is enough to know, and writing nothing changes nothing should it work.
	const knob = "/proc/sys/kernel/core_pattern"
	if fd, err := unix.Open(knob, unix.O_WRONLY|unix.O_CLOEXEC, 0); err == nil {
		_ = unix.Close(fd)
		return fmt.Errorf("%s is writable", knob)
	}
	if slices.Contains(walls, "landlock") {
		// Landlock answers before the file system misses the capability, and with another error.
		if err := unix.Mknod(name+"-node", unix.S_IFBLK, 0); err != unix.EACCES {
			_ = unix.Unlink(name + "-node")
			return fmt.Errorf("landlock lets mknod pass: %v", err)
		}
	}
	if err := tryFilter(); err != nil {
		return err
	}
	return o.tryNetwork()
}

// tryFilter makes calls that every filter refuses.
func tryFilter() error {
	if err := unix.Unshare(unix.CLONE_NEWUSER); err != unix.EPERM {
		return fmt.Errorf("seccomp lets unshare pass: %v", err)
	}
	if fd, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0); err != unix.EPERM {
		_ = unix.Close(fd)
		return fmt.Errorf("seccomp lets a vsock pass: %v", err)
	}
	return nil
}

// tryBare does the same where there are no namespaces. Where the machine around is the wall, it tries only what is said
// to hold.
func (o *order) tryBare(walls []string) error {
	if slices.Contains(walls, "landlock") {
		// A file without a name changes nothing should it be made.
		for _, dir := range []string{"/", "/etc", "/usr", "/tmp"} {
			if fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600); err == nil {
				_ = unix.Close(fd)
				return fmt.Errorf("%s is writable", dir)
			}
		}
		name := filepath.Join(o.private, "try")
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			return fmt.Errorf("private folder: %w", err)
		}
		if err := unix.Mknod(name+"-node", unix.S_IFBLK, 0); err != unix.EACCES {
			_ = unix.Unlink(name + "-node")
			return fmt.Errorf("landlock lets mknod pass on the floor: %v", err)
		}
	}
	if !slices.Contains(walls, "seccomp") {
		return nil
	}
	// What is tried below is read out of this process, as it is out of a command's. Nothing else is in here that could
	// be read.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("dumpable: %w", err)
	}
	if err := tryFilter(); err != nil {
		return err
	}
	if udp, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0); err != unix.EPERM {
		_ = unix.Close(udp)
		return fmt.Errorf("seccomp lets UDP pass: %v", err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: 9, Addr: [4]byte{192, 0, 2, 1}}); err != unix.ENETUNREACH {
		return fmt.Errorf("a connection is not judged: %v", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{}); err != nil {
		return fmt.Errorf("a server of its own: %w", err)
	}
	return nil
}

// tryNetwork sends a datagram towards an address that is reserved for documentation.
func (o *order) tryNetwork() error {
	if o.network {
		return nil
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	defer unix.Close(fd)
	err = unix.Sendto(fd, []byte("x"), 0, &unix.SockaddrInet4{Port: 9, Addr: [4]byte{192, 0, 2, 1}})
	if err == nil {
		return errors.New("a datagram left the network namespace")
	}
	return nil
}

// Descriptors that bubblewrap hands through, after the control socket.
const (
	argsFD = controlFD + 1
	exeFD  = controlFD + 2
	// asideFD is the command's stream for errors, where bubblewrap has another one.
	asideFD = controlFD + 3
)

// bubblewrap prepares a bubblewrap that makes the namespaces and the mounts of an order and starts the launcher as
// process 1 inside. Its options are handed over in a file, not on the command line. The executable is handed over as a
// descriptor, because its path may be covered inside.
func bubblewrap(o order) (_ *exec.Cmd, extra []*os.File, err error) {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, nil, pawl.Fail(pawl.CodeSandbox, "sandbox.no_bwrap").Because(err).In("sandbox.Run")
	}
	path, err = filepath.EvalSymlinks(path)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range o.mounts {
		if m.kind == mountWrite && within(path, m.path) {
			return nil, nil, fmt.Errorf("%s lies in a writable directory", path)
		}
	}
	fd, err := unix.MemfdCreate("pawl-bwrap", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, err
	}
	args := os.NewFile(uintptr(fd), "args")
	exe, err := os.Open("/proc/self/exe")
	if err == nil {
		_, err = args.WriteAt(o.bubblewrapArgs(), 0)
	}
	if err != nil {
		_ = args.Close()
		_ = exe.Close()
		return nil, nil, err
	}
	cmd := &exec.Cmd{
		Path: path,
		Args: []string{"bwrap", "--args", strconv.Itoa(argsFD), "--", "/proc/self/fd/" + strconv.Itoa(exeFD),
			launcherFlag},
		Env: []string{"GOMAXPROCS=2"},
		SysProcAttr: &unix.SysProcAttr{
			Pdeathsig: unix.SIGKILL,
			Setsid:    true,
		},
	}
	return cmd, []*os.File{args, exe}, nil
}

// bubblewrapArgs are the options for the mounts of an order, each ended by a zero byte.
func (o *order) bubblewrapArgs() []byte {
	args := []string{
		"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL",
		"--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev",
	}
	for _, p := range procCovered {
		args = append(args, "--ro-bind-try", "/proc/"+p, "/proc/"+p)
	}
	for _, p := range procHidden {
		if _, err := os.Lstat("/proc/" + p); err == nil {
			args = append(args, "--ro-bind", "/dev/null", "/proc/"+p)
		}
	}
	if !o.network {
		args = append(args, "--unshare-net")
	}
	for _, m := range o.mounts {
		switch m.kind {
		case mountRead:
			args = append(args, "--ro-bind", m.path, m.path)
		case mountWrite:
			args = append(args, "--bind", m.path, m.path)
		case mountShow:
			args = append(args, "--ro-bind", m.from, m.path)
		case mountScratch:
			args = append(args, "--perms", "1777", "--size", strconv.FormatInt(o.scratch, 10), "--tmpfs", m.path)
		case mountHideDir:
			args = append(args, "--perms", "0755", "--size", "65536", "--tmpfs", m.path)
		case mountHideFile:
			args = append(args, "--ro-bind", "/dev/null", m.path)
		}
	}
	for _, m := range o.mounts {
		if m.kind == mountHideDir {
			args = append(args, "--remount-ro", m.path)
		}
	}
	args = append(args, "--chdir", "/")
	var b bytes.Buffer
	for _, a := range args {
		b.WriteString(a)
		b.WriteByte(0)
	}
	return b.Bytes()
}
