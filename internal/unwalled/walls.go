//go:build linux

package main

import "pawl/internal/mutant"

const (
	bwrapFile   = "sandbox/bubblewrap_linux.go"
	childFile   = "sandbox/child_linux.go"
	launchFile  = "sandbox/launch_linux.go"
	layoutFile  = "sandbox/layout_linux.go"
	filterFile  = "sandbox/seccomp/filter_linux.go"
	floorFile   = "sandbox/floor_linux.go"
	networkFile = "sandbox/mediate/net_linux.go"
	socketFile  = "sandbox/mediate/unix_linux.go"
	pathFile    = "sandbox/mediate/path_linux.go"
	mountFile   = "sandbox/mount_linux.go"
	rootFile    = "sandbox/safeopen/root.go"
	specFile    = "sandbox/spec.go"
	tryFile     = "sandbox/try_linux.go"
)

// walls are those that can be taken away. Where a second one would notice at once that the first is missing, it goes
// with it.
var walls = []mutant.Mutant{
	mutant.New("process namespace",
		childFile, "unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS", "unix.CLONE_NEWUSER | unix.CLONE_NEWNS",
		launchFile, "if os.Getpid() != 1 {", "if false {",
		bwrapFile, `"--unshare-user", "--unshare-pid", `, `"--unshare-user", `,
		bwrapFile, `"--new-session", "--as-pid-1", `, `"--new-session", `,
		mountFile, `if err := unix.Mount("proc", "/proc", "proc", flags, ""); err != nil {`, "if err := error(nil); err != nil {",
	),
	mutant.New("network namespace",
		childFile, "flags |= unix.CLONE_NEWNET", "_ = flags",
		launchFile, "if o.network {\n\t\treturn nil\n\t}\n\tdev, err", "if true {\n\t\treturn nil\n\t}\n\tdev, err",
		bwrapFile, `args = append(args, "--unshare-net")`, "_ = args",
		mountFile, "return loopbackUp()", "return nil",
		tryFile, "if err == nil {\n\t\treturn errors.New(\"a datagram",
		"if false {\n\t\treturn errors.New(\"a datagram",
	),
	mutant.New("read-only file system",
		mountFile, "unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {\n\t\treturn fmt.Errorf(\"read-only /", "unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {\n\t\treturn fmt.Errorf(\"read-only /",
		launchFile, "if fs.Flags&unix.ST_RDONLY == 0 {", "if false {",
		bwrapFile, `"--ro-bind", "/", "/", "--proc"`, `"--bind", "/", "/", "--proc"`,
		tryFile, "if unix.Access(dir, unix.W_OK) == nil {", "if false {",
	),
	mutant.New("read-only, and Landlock",
		mountFile, "unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {\n\t\treturn fmt.Errorf(\"read-only /", "unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {\n\t\treturn fmt.Errorf(\"read-only /",
		launchFile, "if fs.Flags&unix.ST_RDONLY == 0 {", "if false {",
		launchFile, "held, err := o.landlock()", "held, err := false, error(nil)",
		bwrapFile, `"--ro-bind", "/", "/", "--proc"`, `"--bind", "/", "/", "--proc"`,
		tryFile, "if unix.Access(dir, unix.W_OK) == nil {", "if false {",
	),
	mutant.New("Landlock", launchFile, "held, err := o.landlock()", "held, err := false, error(nil)"),
	mutant.New("system call filter",
		launchFile, "if err := filter(o.mounts, held); err != nil {", "if err := error(nil); err != nil {",
		tryFile, "if err := unix.Unshare(unix.CLONE_NEWUSER); err != unix.EPERM {",
		"if err := error(nil); err != nil {",
		tryFile, "err != unix.EPERM {\n\t\t_ = unix.Close(fd)",
		"err == unix.ENOTRECOVERABLE {\n\t\t_ = unix.Close(fd)",
	),
	mutant.New("loss of capabilities",
		launchFile, "if err := dropCapabilities(o.own); err != nil {", "if err := error(nil); err != nil {",
	),
	mutant.New("capabilities, calls, Landlock",
		launchFile, "if err := dropCapabilities(o.own); err != nil {", "if err := error(nil); err != nil {",
		launchFile, "if err := filter(o.mounts, held); err != nil {", "if err := error(nil); err != nil {",
		launchFile, "held, err := o.landlock()", "held, err := false, error(nil)",
		tryFile, "if err := unix.Unshare(unix.CLONE_NEWUSER); err != unix.EPERM {",
		"if err := error(nil); err != nil {",
		tryFile, "err != unix.EPERM {\n\t\t_ = unix.Close(fd)",
		"err == unix.ENOTRECOVERABLE {\n\t\t_ = unix.Close(fd)",
	),
	mutant.New("covered parts of /proc",
		mountFile, `var procCovered = []string{"sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi"}`,
		"var procCovered = []string{}",
		launchFile, "held, err := o.landlock()", "held, err := false, error(nil)",
		tryFile, "if fd, err := unix.Open(knob,", "if fd, err := unix.Open(knob+\"-none\",",
	),
	mutant.New("the list of what is readable", layoutFile, "l.apply(allow.System())", ""),
	mutant.New("named sockets of others",
		socketFile, "		return pid > 0\n", "		return true\n",
		launchFile, "if domain && landlock.ABI() >= landlock.ABISockets {", "if false {",
	),
	mutant.New("sockets for datagrams",
		filterFile, "if s != SocketsByKernel {", "if false {",
		launchFile, "if domain && landlock.ABI() >= landlock.ABISockets {", "if false {",
	),
	mutant.New("private /tmp",
		layoutFile, `l.scratch("/tmp", "/var/tmp")`,
		"for _, p := range []string{\"/tmp\", \"/var/tmp\"} {\n\t\tl.at[p] = mountWrite\n\t}",
	),
	mutant.New("read-only .git and .pawl", layoutFile, "\t\t\t\tl.at[p] = mountRead\n",
		"\t\t\t\tl.at[p] = mountWrite\n"),
	mutant.New("read-only grants",
		mountFile, "return clone(m.source(), plain|unix.MOUNT_ATTR_RDONLY)\n\tcase mountWrite",
		"return clone(m.source(), plain)\n\tcase mountWrite",
		launchFile, "held, err := o.landlock()", "held, err := false, error(nil)",
	),
	mutant.New("Landlock of the floor",
		floorFile, "held := f.restrict(o.abi(), o.network)", "held := error(nil)",
		tryFile, "unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600); err == nil {",
		"unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600); err == nil && dir == \"\" {",
		tryFile, "unix.S_IFBLK, 0); err != unix.EACCES {\n\t\t\t_ = unix.Unlink(name + \"-node\")\n\t\t\treturn fmt.Errorf(\"landlock lets mknod pass on the floor", "unix.S_IFBLK, 0); err == unix.ENOTRECOVERABLE {\n\t\t\treturn fmt.Errorf(\"landlock lets mknod pass on the floor",
	),
	mutant.New("reading judged on the floor", floorFile, "case kind == mountRead && f.hidden[path]:", "case false:"),
	mutant.New("connections judged", networkFile, "	return to, unix.ECONNREFUSED\n", "	return to, nil\n"),
	mutant.New("unix sockets judged",
		socketFile, "if !t.s.changeable(o, false) {", "if false {", socketFile,
		"if err != nil || !t.s.serves(int(peer.Pid)) {", "if err != nil || peer == nil {",
	),
	mutant.New("servers on the loopback", networkFile,
		"		to = netip.AddrFrom4([4]byte{127, 0, 0, 1})\n	case !v.IsLoopback()", "	case !v.IsLoopback()"),
	mutant.New("modes and times judged", pathFile, "	return s.Writable(at)\n", "	return true\n"),
	mutant.New("names judged",
		floorFile, "func (f *floor) writable(path string) bool { return f.kind(path) == mountWrite }",
		"func (f *floor) writable(path string) bool { return true }",
	),
	mutant.New("what is left is ended", launchFile, "if o.bare && !o.kids.endAll() {", "if false {",
		childFile, "		c.group.clear()\n", ""),
	mutant.New("directories never writable",
		specFile, "if within(d, r) {", "if within(d, r) && d == \"\" {", specFile, "if within(r, d) {",
		"if within(r, d) && d == \"\" {",
	),
	mutant.New("names that lead outside",
		rootFile, "if !filepath.IsLocal(filepath.FromSlash(slashed)) {", "if false {",
		rootFile, "if err != nil || !filepath.IsLocal(inside) {", "if err != nil {",
		rootFile, "if named || len(out) == 0 {", "if named && len(out) > 99 {",
		rootFile, "out = out[:len(out)-1]", "out = append(out, c)",
	),
	mutant.New("protected names", rootFile, "case \".git\", \".pawl\", \"git~1\", \"pawl~1\":\n\t\t\treturn true",
		"case \".git\", \".pawl\", \"git~1\", \"pawl~1\":\n\t\t\treturn false"),
}
