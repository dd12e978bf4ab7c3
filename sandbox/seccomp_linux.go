package sandbox

import (
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refusedCalls fail with EPERM: they change the machine, look into other processes, make or enter namespaces and mounts, or
// open a large part of the kernel to a program that does not need it.
var refusedCalls = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_SETNS,
	unix.SYS_UNSHARE, unix.SYS_BPF, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_PTRACE,
	unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_USERFAULTFD,
	unix.SYS_PERF_EVENT_OPEN, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE,
	unix.SYS_DELETE_MODULE, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT,
	unix.SYS_SYSLOG, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SETTIMEOFDAY,
	unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_FANOTIFY_INIT, unix.SYS_VHANGUP, unix.SYS_LOOKUP_DCOOKIE,
}

// absentCalls fail with ENOSYS, so that programs take the older way: a filter cannot see what io_uring does, nor the flags
// of clone3.
var absentCalls = []uint32{
	unix.SYS_CLONE3, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
}

// Arguments that are looked at.
const (
	// namespaceFlags of clone. CLONE_NEWTIME cannot be among them, because clone takes its bit for a signal number.
	namespaceFlags = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
		unix.CLONE_NEWPID | unix.CLONE_NEWNET
	ioctlTIOCSTI   = 0x5412
	ioctlTIOCLINUX = 0x541c
)

// openFamilies are the socket families a command may use: its own network namespace holds the first three, and route
// netlink, which resolvers and runtimes ask for the list of interfaces, comes with them. Families that know no namespaces,
// such as vsock and the kernel's crypto sockets, are not among them.
var openFamilies = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6}

// Answers of the filter.
const (
	allow = unix.SECCOMP_RET_ALLOW
	eperm = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	nosys = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	kill  = unix.SECCOMP_RET_KILL_PROCESS
)

// Offsets in struct seccomp_data. Both architectures are little-endian, so the lower half of an argument comes first.
const (
	offNumber = 0
	offArch   = 4
	offArg0   = 16
	offArg1   = 24
	offArg2   = 32
)

func load(off uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: off}
}

func answer(v uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: v} }

// jump compares with k and skips yes or no instructions.
func jump(op uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | op, Jt: yes, Jf: no, K: k}
}

// program is the filter. It is written for the kernel's lower 32 bits of an argument wherever the kernel itself looks at no
// more. A 32-bit program, whose calls have other numbers, is killed.
func program() []unix.SockFilter {
	p := []unix.SockFilter{load(offArch), jump(unix.BPF_JEQ, nativeArch, 1, 0), answer(kill), load(offNumber)}
	if x32Bit != 0 {
		p = append(p, jump(unix.BPF_JGE, x32Bit, 0, 1), answer(nosys))
	}
	for _, set := range []struct {
		calls  []uint32
		answer uint32
	}{{slices.Concat(refusedCalls, refusedHere), eperm}, {absentCalls, nosys}} {
		for _, nr := range set.calls {
			p = append(p, jump(unix.BPF_JEQ, nr, 0, 1), answer(set.answer))
		}
	}
	families := []unix.SockFilter{load(offArg0)}
	for _, f := range openFamilies {
		families = append(families, jump(unix.BPF_JEQ, f, 0, 1), answer(allow))
	}
	families = append(families, jump(unix.BPF_JEQ, unix.AF_NETLINK, 0, 3), load(offArg2),
		jump(unix.BPF_JEQ, unix.NETLINK_ROUTE, 0, 1), answer(allow), answer(eperm))
	p = append(p, forCall(unix.SYS_SOCKET, families...)...)
	p = append(p, forCall(unix.SYS_SOCKETPAIR,
		load(offArg0), jump(unix.BPF_JEQ, unix.AF_UNIX, 0, 1), answer(allow), answer(eperm))...)
	p = append(p, forCall(unix.SYS_CLONE,
		load(offArg0), jump(unix.BPF_JSET, namespaceFlags, 0, 1), answer(eperm), answer(allow))...)
	p = append(p, forCall(unix.SYS_IOCTL,
		load(offArg1), jump(unix.BPF_JEQ, ioctlTIOCSTI, 1, 0), jump(unix.BPF_JEQ, ioctlTIOCLINUX, 0, 1), answer(eperm),
		answer(allow))...)
	return append(p, answer(allow))
}

// forCall puts instructions, which end in an answer on every path, behind a test for one call.
func forCall(nr uint32, body ...unix.SockFilter) []unix.SockFilter {
	return append([]unix.SockFilter{jump(unix.BPF_JEQ, nr, 0, uint8(len(body)))}, body...)
}

// filterSyscalls puts the filter on the calling thread, which must have no_new_privs.
func filterSyscalls() error {
	p := program()
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	return nil
}

// dropCapabilities leaves the calling thread, and what it executes, without capabilities, also when it is root.
func dropCapabilities(bounding bool) error {
	if bounding {
		for c := uintptr(0); c <= 63; c++ {
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
				if err == unix.EINVAL && c > 0 { // past the kernel's last one
					break
				}
				return err
			}
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&hdr, &none[0])
}
