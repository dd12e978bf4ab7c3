package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"pawl"
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
		if m.kind == mountWrite && within(path, m.path) || m.kind == mountKeep && within(path, m.from) {
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
	args = append(args, "--remount-ro", "/proc")
	if !o.network {
		args = append(args, "--unshare-net")
	}
	for _, m := range o.mounts {
		switch m.kind {
		case mountRead, mountShow:
			args = append(args, "--ro-bind", m.source(), m.path)
		case mountWrite, mountKeep:
			args = append(args, "--bind", m.source(), m.path)
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
