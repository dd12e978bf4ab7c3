package seccomp

import (
	"slices"

	"golang.org/x/sys/unix"
)

// Terms say how the Floor filter is to be made.
type Terms struct {
	// Network lets sockets of the internet be made of any kind. Without it they are TCP's alone.
	Network bool
	// Signals hands over the calls that send signals: the kernel itself does not keep them within the command.
	Signals bool
	// Names hands over the calls that open for writing and that make, move and remove names.
	Names bool
	// UID and GID are the only owners that a file may be given, which changes nothing.
	UID, GID uint32
}

// openCall is a call that opens a file, and where its flags are.
type openCall struct{ nr, flags uint32 }

// ownerCall is a call that changes who owns a file, and where it names the owner and the group.
type ownerCall struct{ nr, uid, gid uint32 }

// Calls that are handed over.
var (
	attributeCalls = []uint32{unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_UTIMENSAT}
	signalCalls    = []uint32{unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO,
		unix.SYS_RT_TGSIGQUEUEINFO}
	nameCalls = []uint32{
		unix.SYS_MKDIRAT, unix.SYS_MKNODAT, unix.SYS_UNLINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_LINKAT,
		unix.SYS_SYMLINKAT,
		unix.SYS_TRUNCATE,
	}
	openCalls = []openCall{{unix.SYS_OPENAT, offArg2}}
)

// ownerCalls may give a file to nobody else, wherever it is.
var ownerCalls = []ownerCall{{unix.SYS_FCHOWN, offArg1, offArg2}, {unix.SYS_FCHOWNAT, offArg2, offArg3}}

// Calls whose numbers are the same on both architectures and that the table of the library does not know.
const (
	sysSetxattrat    = 463
	sysRemovexattrat = 466
)

// attributeSets change attributes of files that no other layer guards. Programs that copy files take this answer for a
// file system without such attributes.
var attributeSets = []uint32{
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR,
	unix.SYS_FREMOVEXATTR,
	sysSetxattrat, sysRemovexattrat,
}

// neighbourCalls reach into other processes of the same user.
var neighbourCalls = []uint32{unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES, unix.SYS_PROCESS_MADVISE,
	unix.SYS_PROCESS_MRELEASE}

// sharedCalls use the machine's System V objects and message queues: a command has no namespace of its own for them.
var sharedCalls = []uint32{
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV,
	unix.SYS_MSGCTL, unix.SYS_SEMGET,
	unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
}

const (
	writing    = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC
	kindOfType = 0xf // the part of a socket's type that is no flag

	// Requests that change a file through a descriptor which was opened for reading.
	fsSetFlags, fsSetFlags32, fsSetVersion, fsSetXattr, fsEnableVerity = 0x40086602, 0x40046602, 0x40087602, 0x401c5820,
		0x40806685

	handOver = unix.SECCOMP_RET_USER_NOTIF
	notsup   = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOTSUP)
)

// Floor is the filter for a command without namespaces. Sockets with a name in the file system and those of the
// internet are connected by who decides the calls that are handed over, and by nobody else: a filter cannot see where
// they lead.
func Floor(t Terms) []unix.SockFilter {
	refused := slices.Concat(refusedCalls, refusedHere, neighbourCalls)
	absent := slices.Concat(absentCalls, sharedCalls)
	handed := slices.Concat(attributeCalls, attributeCallsHere,
		[]uint32{unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN})
	var p []unix.SockFilter
	if !t.Network {
		for _, c := range []struct{ nr, flags uint32 }{{unix.SYS_SENDTO, offArg3}, {unix.SYS_SENDMSG, offArg2},
			{unix.SYS_SENDMMSG, offArg3}} {
			// With this flag sending connects, past every rule about connecting.
			p = append(p, forCall(c.nr, load(c.flags), jump(unix.BPF_JSET, unix.MSG_FASTOPEN, 0, 1), answer(eperm),
				answer(allow))...)
		}
	}
	if t.Signals {
		handed, absent = append(handed, signalCalls...), append(absent, unix.SYS_PIDFD_SEND_SIGNAL)
		p = append(p, refuseArgument(unix.SYS_FCNTL, offArg1, unix.F_SETOWN, unix.F_SETOWN_EX)...)
	}
	if t.Names {
		handed, absent = slices.Concat(handed, nameCalls, nameCallsHere), append(absent, unix.SYS_OPENAT2)
		for _, c := range slices.Concat(openCalls, openCallsHere) {
			p = append(p, forCall(c.nr, load(c.flags), jump(unix.BPF_JSET, writing, 0, 1), answer(handOver),
				answer(allow))...)
		}
	}
	for _, c := range slices.Concat(ownerCalls, ownerCallsHere) {
		p = append(p, forCall(c.nr, keepOwner(c, t)...)...)
	}
	p = append(p, forCall(unix.SYS_SOCKET, sockets(t)...)...)
	p = append(p, forCall(unix.SYS_SOCKETPAIR, slices.Concat([]unix.SockFilter{load(offArg0)}, unixKinds(),
		[]unix.SockFilter{answer(eperm)})...)...)
	p = append(p, forCall(unix.SYS_PRLIMIT64, load(offArg0), jump(unix.BPF_JEQ, 0, 0, 1), answer(allow),
		answer(eperm))...)
	p = append(p, refuseClones()...)
	p = append(p, refuseArgument(unix.SYS_IOCTL, offArg1, ioctlTIOCSTI, ioctlTIOCLINUX, fsSetFlags, fsSetFlags32,
		fsSetVersion, fsSetXattr, fsEnableVerity)...)
	return slices.Concat(begin(refused, absent), calls(attributeSets, notsup), calls(handed, handOver), p,
		[]unix.SockFilter{answer(allow)})
}

// keepOwner allows a change of owner that is none.
func keepOwner(c ownerCall, t Terms) []unix.SockFilter {
	const none = ^uint32(0)
	return []unix.SockFilter{
		load(c.uid), jump(unix.BPF_JEQ, none, 1, 0), jump(unix.BPF_JEQ, t.UID, 0, 4),
		load(c.gid), jump(unix.BPF_JEQ, none, 1, 0), jump(unix.BPF_JEQ, t.GID, 0, 1), answer(allow), answer(eperm),
	}
}

// unixKinds judges the type of a socket whose family is loaded and known to be AF_UNIX or nothing that is allowed. One
// for datagrams could send to any address without being connected.
func unixKinds() []unix.SockFilter {
	return []unix.SockFilter{
		jump(unix.BPF_JEQ, unix.AF_UNIX, 0, 5), load(offArg1), {Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K,
			K: kindOfType},
		jump(unix.BPF_JEQ, unix.SOCK_STREAM, 1, 0), jump(unix.BPF_JEQ, unix.SOCK_SEQPACKET, 0, 1), answer(allow),
	}
}

// sockets judges the family, type and protocol of a socket.
func sockets(t Terms) []unix.SockFilter {
	tcp := []unix.SockFilter{answer(allow)}
	if !t.Network {
		tcp = []unix.SockFilter{
			load(offArg1), {Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: kindOfType}, jump(unix.BPF_JEQ,
				unix.SOCK_STREAM, 0, 4),
			load(offArg2), jump(unix.BPF_JEQ, unix.IPPROTO_IP, 1, 0), jump(unix.BPF_JEQ, unix.IPPROTO_TCP, 0,
				1), answer(allow), answer(eperm),
		}
	}
	n := uint8(len(tcp))
	p := []unix.SockFilter{load(offArg0), jump(unix.BPF_JEQ, unix.AF_INET, 1, 0),
		jump(unix.BPF_JEQ, unix.AF_INET6, 0, n)}
	p = append(p, tcp...)
	p = append(p, jump(unix.BPF_JEQ, unix.AF_NETLINK, 0, 4), load(offArg2),
		jump(unix.BPF_JEQ, unix.NETLINK_ROUTE, 0, 1), answer(allow), answer(eperm))
	return append(append(p, unixKinds()...), answer(eperm))
}
