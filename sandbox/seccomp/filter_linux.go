package seccomp

import (
	"slices"

	"golang.org/x/sys/unix"
)

// refusedCalls fail with EPERM: they change the machine, look into other processes, make or enter namespaces and
// mounts, or open a large part of the kernel to a program that does not need it.
var refusedCalls = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_SETNS,
	unix.SYS_UNSHARE, unix.SYS_BPF, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_PTRACE,
	unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_USERFAULTFD,
	unix.SYS_PERF_EVENT_OPEN, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE,
	unix.SYS_FINIT_MODULE,
	unix.SYS_DELETE_MODULE, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT,
	unix.SYS_SYSLOG, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SETTIMEOFDAY,
	unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_FANOTIFY_INIT, unix.SYS_VHANGUP, unix.SYS_LOOKUP_DCOOKIE,
}

// absentCalls fail with ENOSYS, so that programs take the older way: a filter cannot see what io_uring does, nor the
// flags of clone3.
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

// Sockets says who judges which sockets with a name in the file system a command in namespaces of its own reaches: no
// namespace holds them.
type Sockets int

const (
	// SocketsByKernel leaves it to Landlock.
	SocketsByKernel Sockets = iota
	// SocketsJudged hands connecting over. Datagrams need no connection, so there are no unix sockets for them.
	SocketsJudged
	// SocketsNone leaves no unix sockets but those of a pair.
	SocketsNone
)

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
	offArg3   = 40
)

func load(off uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: off}
}

func answer(v uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: v} }

// jump compares with k and skips yes or no instructions.
func jump(op uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | op, Jt: yes, Jf: no, K: k}
}

// Namespaces is the filter for a command in namespaces of its own. Its network namespace holds sockets of the internet,
// and route netlink, which resolvers and runtimes ask for the list of interfaces, comes with them. Families that know
// no namespaces, such as vsock and the kernel's crypto sockets, are not among what is allowed.
func Namespaces(s Sockets) []unix.SockFilter {
	p := begin(slices.Concat(refusedCalls, refusedHere), absentCalls)
	local := []unix.SockFilter{jump(unix.BPF_JEQ, unix.AF_UNIX, 0, 1), answer(allow)}
	pairs := local
	if s != SocketsByKernel {
		local = unixKinds()
		pairs = local
	}
	if s == SocketsJudged {
		p = append(p, calls([]uint32{unix.SYS_CONNECT}, handOver)...)
	}
	if s == SocketsNone {
		local = nil
	}
	families := []unix.SockFilter{load(offArg0)}
	for _, f := range []uint32{unix.AF_INET, unix.AF_INET6} {
		families = append(families, jump(unix.BPF_JEQ, f, 0, 1), answer(allow))
	}
	families = append(families, jump(unix.BPF_JEQ, unix.AF_NETLINK, 0, 4), load(offArg2),
		jump(unix.BPF_JEQ, unix.NETLINK_ROUTE, 0, 1), answer(allow), answer(eperm))
	p = append(p, forCall(unix.SYS_SOCKET, slices.Concat(families, local, []unix.SockFilter{answer(eperm)})...)...)
	p = append(p, forCall(unix.SYS_SOCKETPAIR, slices.Concat([]unix.SockFilter{load(offArg0)}, pairs,
		[]unix.SockFilter{answer(eperm)})...)...)
	p = append(p, refuseClones()...)
	p = append(p, refuseArgument(unix.SYS_IOCTL, offArg1, ioctlTIOCSTI, ioctlTIOCLINUX)...)
	return append(p, answer(allow))
}

// begin is what each filter starts with: a 32-bit program, whose calls have other numbers, is killed, and whole calls
// are refused or said to be absent. Filters are written for the kernel's lower 32 bits of an argument wherever the
// kernel itself looks at no more.
func begin(refused, absent []uint32) []unix.SockFilter {
	p := []unix.SockFilter{load(offArch), jump(unix.BPF_JEQ, nativeArch, 1, 0), answer(kill), load(offNumber)}
	if x32Bit != 0 {
		p = append(p, jump(unix.BPF_JGE, x32Bit, 0, 1), answer(nosys))
	}
	return append(append(p, calls(refused, eperm)...), calls(absent, nosys)...)
}

// calls answers whole calls.
func calls(numbers []uint32, with uint32) []unix.SockFilter {
	var p []unix.SockFilter
	for _, nr := range numbers {
		p = append(p, jump(unix.BPF_JEQ, nr, 0, 1), answer(with))
	}
	return p
}

// refuseClones refuses to make namespaces along with a process.
func refuseClones() []unix.SockFilter {
	return forCall(unix.SYS_CLONE, load(offArg0), jump(unix.BPF_JSET, namespaceFlags, 0, 1), answer(eperm),
		answer(allow))
}

// refuseArgument refuses a call when one of its arguments has one of the values.
func refuseArgument(nr, argument uint32, values ...uint32) []unix.SockFilter {
	body := []unix.SockFilter{load(argument)}
	for _, v := range values {
		body = append(body, jump(unix.BPF_JEQ, v, 0, 1), answer(eperm))
	}
	return forCall(nr, append(body, answer(allow))...)
}

// forCall puts instructions, which end in an answer on every path, behind a test for one call.
func forCall(nr uint32, body ...unix.SockFilter) []unix.SockFilter {
	return append([]unix.SockFilter{jump(unix.BPF_JEQ, nr, 0, uint8(len(body)))}, body...)
}
