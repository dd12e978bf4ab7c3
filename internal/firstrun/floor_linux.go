package firstrun

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// launchFlag marks a process that takes itself to a floor and becomes the command.
const launchFlag = "firstrun-floor"

// Child is called first by every program that uses a Floor: in the process that a floor starts it does not return.
func Child() {
	if len(os.Args) < 4 || os.Args[1] != launchFlag {
		return
	}
	err := launch(strings.Split(os.Args[2], "+"), os.Args[3:])
	fmt.Fprintln(os.Stderr, "floor:", err)
	os.Exit(126)
}

// command starts argv on the floor. The program that calls it must call Child first.
func (f Floor) command(ctx context.Context, argv []string) (*exec.Cmd, error) {
	if len(f.parts) == 0 {
		return exec.CommandContext(ctx, argv[0], argv[1:]...), nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, append([]string{launchFlag, strings.Join(f.parts, "+")}, argv...)...)
	if f.has(noUserns) {
		cmd.SysProcAttr, err = outerNamespace()
	}
	return cmd, err
}

// outerNamespace is a user namespace in which everybody is who they are, and in which the launcher may lower the limit.
func outerNamespace() (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
	if uid := os.Geteuid(); uid != 0 {
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_RESOURCE}
		return attr, nil
	}
	for name, to := range map[string]*[]syscall.SysProcIDMap{"/proc/self/uid_map": &attr.UidMappings,
		"/proc/self/gid_map": &attr.GidMappings} {
		raw, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(raw)) {
			var inside, outside, size int
			if _, err := fmt.Sscan(line, &inside, &outside, &size); err != nil {
				return nil, fmt.Errorf("%s: %q: %w", name, line, err)
			}
			*to = append(*to, syscall.SysProcIDMap{ContainerID: inside, HostID: inside, Size: size})
		}
	}
	attr.GidMappingsEnableSetgroups = true
	return attr, nil
}

// launch takes the parts upon itself and becomes the command.
func launch(parts, argv []string) error {
	runtime.LockOSThread()
	var filter []unix.SockFilter
	for _, part := range parts {
		switch part {
		case noUserns:
			if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0\n"), 0o644); err != nil {
				return err
			}
			if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
				return err
			}
		case docker:
			if err := dropAsDocker(); err != nil {
				return err
			}
			filter = append(filter, refuse(unix.EPERM, dockerRefuses...)...)
			filter = append(filter, refuse(unix.ENOSYS, unix.SYS_CLONE3)...)
			filter = append(filter, whenArgument(unix.SYS_CLONE, 0, unix.BPF_JSET, namespaces, unix.EPERM)...)
			filter = append(filter, whenArgument(unix.SYS_SOCKET, 0, unix.BPF_JEQ, unix.AF_VSOCK, unix.EPERM)...)
		case apparmor:
			filter = append(filter, refuse(unix.EACCES, mounting...)...)
			filter = append(filter, refuse(unix.EPERM, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME)...)
			filter = append(filter, whenArgument(unix.SYS_IOCTL, 1, unix.BPF_JEQ, unix.SIOCSIFFLAGS, unix.EPERM)...)
		case noLandlock:
			filter = append(filter, refuse(unix.EOPNOTSUPP, unix.SYS_LANDLOCK_CREATE_RULESET,
				unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF)...)
		}
	}
	if filter != nil {
		if err := install(filter); err != nil {
			return err
		}
	}
	return syscall.Exec(argv[0], argv, os.Environ())
}

// namespaces are the flags of clone that make one.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// mounting are the calls that change mounts.
var mounting = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN,
	unix.SYS_FSCONFIG, unix.SYS_FSMOUNT,
	unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
}

// dockerRefuses are the calls that Docker's profile allows only with capabilities that it does not give, or not at all.
var dockerRefuses = append([]uint32{
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_BPF, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_USERFAULTFD, unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SWAPON,
	unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_REBOOT, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_SYSLOG, unix.SYS_FANOTIFY_INIT, unix.SYS_SETHOSTNAME,
	unix.SYS_SETDOMAINNAME, unix.SYS_VHANGUP,
	unix.SYS_LOOKUP_DCOOKIE,
}, mounting...)

// dockerKeeps are the capabilities that root has in a container of Docker's.
var dockerKeeps = map[uintptr]bool{
	unix.CAP_CHOWN: true, unix.CAP_DAC_OVERRIDE: true, unix.CAP_FSETID: true, unix.CAP_FOWNER: true,
	unix.CAP_MKNOD: true, unix.CAP_NET_RAW: true, unix.CAP_SETGID: true,
	unix.CAP_SETUID: true, unix.CAP_SETFCAP: true, unix.CAP_SETPCAP: true, unix.CAP_NET_BIND_SERVICE: true,
	unix.CAP_SYS_CHROOT: true, unix.CAP_KILL: true, unix.CAP_AUDIT_WRITE: true,
}

// dropAsDocker takes the other capabilities out of what an executed program of root's gets. Others have none to take.
func dropAsDocker() error {
	if os.Geteuid() != 0 {
		return nil
	}
	for c := uintptr(0); c <= 63; c++ {
		if dockerKeeps[c] {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && err != unix.EINVAL { // past the kernel's last one
			return fmt.Errorf("capability %d: %w", c, err)
		}
	}
	return nil
}

// refuse answers calls with an error.
func refuse(errno unix.Errno, calls ...uint32) []unix.SockFilter {
	var out []unix.SockFilter
	for _, nr := range calls {
		out = append(out, jump(unix.BPF_JEQ, nr, 0, 1), answer(errno))
	}
	return out
}

// whenArgument answers a call with an error when its argument compares with v, as the lower half of both goes.
func whenArgument(call uint32, argument uint32, op uint16, v uint32, errno unix.Errno) []unix.SockFilter {
	load := unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 16 + 8*argument}
	return []unix.SockFilter{jump(unix.BPF_JEQ, call, 0, 4), load, jump(op, v, 0, 1), answer(errno), number}
}

// number loads the number of the call.
var number = unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}

func jump(op uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | op, Jt: yes, Jf: no, K: k}
}

func answer(errno unix.Errno) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)}
}

// install puts the filter on the calling thread, which executes the command. Calls of another architecture pass: the
// filter makes a machine, and holds nobody back.
func install(filter []unix.SockFilter) error {
	arch := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	if arch == 0 {
		return fmt.Errorf("there is no filter for %s", runtime.GOARCH)
	}
	pass := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}
	p := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 4}, jump(unix.BPF_JEQ, arch, 1, 0), pass,
		number}
	p = append(append(p, filter...), pass)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0,
		uintptr(unsafe.Pointer(&prog))); errno != 0 {
		return errno
	}
	return nil
}
