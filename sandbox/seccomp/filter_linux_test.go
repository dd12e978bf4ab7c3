package seccomp

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// TestTheFilterAnswers runs the program of the filter, so that every jump is tried on every architecture without one.
func TestTheFilterAnswers(t *testing.T) {
	p := Namespaces(SocketsByKernel)
	if len(p) > 4096 {
		t.Fatal("too long for the kernel: ", len(p))
	}
	type call struct {
		arch, nr uint32
		args     [3]uint32
		want     uint32
	}
	calls := []call{
		{nativeArch ^ 1, unix.SYS_READ, [3]uint32{}, kill},
		{nativeArch, unix.SYS_READ, [3]uint32{}, allow},
		{nativeArch, unix.SYS_CLONE, [3]uint32{uint32(unix.SIGCHLD)}, allow},
		{nativeArch, unix.SYS_CLONE, [3]uint32{unix.CLONE_NEWUSER}, eperm},
		{nativeArch, unix.SYS_CLONE, [3]uint32{unix.CLONE_VM | unix.CLONE_NEWNS}, eperm},
		{nativeArch, unix.SYS_SOCKET, [3]uint32{unix.AF_UNIX}, allow},
		{nativeArch, unix.SYS_SOCKET, [3]uint32{unix.AF_INET6}, allow},
		{nativeArch, unix.SYS_SOCKET, [3]uint32{unix.AF_NETLINK, 0, unix.NETLINK_ROUTE}, allow},
		{nativeArch, unix.SYS_SOCKET, [3]uint32{unix.AF_NETLINK, 0, unix.NETLINK_NETFILTER}, eperm},
		{nativeArch, unix.SYS_SOCKET, [3]uint32{unix.AF_VSOCK}, eperm},
		{nativeArch, unix.SYS_SOCKETPAIR, [3]uint32{unix.AF_UNIX}, allow},
		{nativeArch, unix.SYS_SOCKETPAIR, [3]uint32{unix.AF_TIPC}, eperm},
		{nativeArch, unix.SYS_IOCTL, [3]uint32{0, unix.TCGETS}, allow},
		{nativeArch, unix.SYS_IOCTL, [3]uint32{0, ioctlTIOCSTI}, eperm},
		{nativeArch, unix.SYS_IOCTL, [3]uint32{0, ioctlTIOCLINUX}, eperm},
	}
	if x32Bit != 0 {
		calls = append(calls, call{nativeArch, x32Bit | unix.SYS_READ, [3]uint32{}, nosys})
	}
	for _, nr := range slices.Concat(refusedCalls, refusedHere) {
		calls = append(calls, call{nativeArch, nr, [3]uint32{}, eperm})
	}
	for _, nr := range absentCalls {
		calls = append(calls, call{nativeArch, nr, [3]uint32{}, nosys})
	}
	for _, c := range calls {
		data := map[uint32]uint32{offNumber: c.nr, offArch: c.arch, offArg0: c.args[0], offArg1: c.args[1],
			offArg2: c.args[2]}
		if got := interpret(t, p, data); got != c.want {
			t.Errorf("%+v: %#x", c, got)
		}
	}
}

// Who judges sockets with names decides which sockets there are, and whether connecting is handed over.
func TestTheFilterKnowsWhoJudgesSockets(t *testing.T) {
	for _, c := range []struct {
		nr, kind uint32
		want     [3]uint32 // by kernel, judged, none
	}{
		{unix.SYS_SOCKET, unix.SOCK_STREAM | unix.SOCK_CLOEXEC, [3]uint32{allow, allow, eperm}},
		{unix.SYS_SOCKET, unix.SOCK_SEQPACKET, [3]uint32{allow, allow, eperm}},
		{unix.SYS_SOCKET, unix.SOCK_DGRAM, [3]uint32{allow, eperm, eperm}},
		{unix.SYS_SOCKET, unix.SOCK_RAW, [3]uint32{allow, eperm, eperm}}, // the kernel takes it for datagrams
		{unix.SYS_SOCKETPAIR, unix.SOCK_STREAM, [3]uint32{allow, allow, allow}},
		{unix.SYS_SOCKETPAIR, unix.SOCK_DGRAM | unix.SOCK_NONBLOCK, [3]uint32{allow, eperm, eperm}},
		{unix.SYS_CONNECT, 0, [3]uint32{allow, handOver, allow}},
		{unix.SYS_SENDTO, 0, [3]uint32{allow, allow, allow}},
	} {
		for i, who := range []Sockets{SocketsByKernel, SocketsJudged, SocketsNone} {
			data := map[uint32]uint32{offNumber: c.nr, offArch: nativeArch, offArg0: unix.AF_UNIX, offArg1: c.kind}
			if got := interpret(t, Namespaces(who), data); got != c.want[i] {
				t.Errorf("%d of kind %d, judged by %d: %#x", c.nr, c.kind, who, got)
			}
			data[offArg0] = unix.AF_INET
			if got := interpret(t, Namespaces(who), data); c.nr == unix.SYS_SOCKET && got != allow {
				t.Errorf("internet, judged by %d: %#x", who, got)
			}
		}
	}
}

// interpret runs a filter the way the kernel does.
func interpret(t *testing.T, p []unix.SockFilter, data map[uint32]uint32) uint32 {
	t.Helper()
	var a uint32
	for i := 0; i < len(p); i++ {
		in := p[i]
		skip := func(yes bool) {
			if yes {
				i += int(in.Jt)
			} else {
				i += int(in.Jf)
			}
		}
		switch in.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			a = data[in.K]
		case unix.BPF_JMP | unix.BPF_K | unix.BPF_JEQ:
			skip(a == in.K)
		case unix.BPF_JMP | unix.BPF_K | unix.BPF_JGE:
			skip(a >= in.K)
		case unix.BPF_JMP | unix.BPF_K | unix.BPF_JSET:
			skip(a&in.K != 0)
		case unix.BPF_RET | unix.BPF_K:
			return in.K
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			a &= in.K
		default:
			t.Fatalf("instruction %d is %#x", i, in.Code)
		}
	}
	t.Fatal("the filter ends without an answer")
	return 0
}

// What the floor hands over, refuses and allows, under each of its terms.
func TestTheFloorAnswers(t *testing.T) {
	plain, open := Terms{UID: 7, GID: 8}, Terms{Network: true, UID: 7, GID: 8}
	full := Terms{Signals: true, Names: true, UID: 7, GID: 8}
	const nobody, none = 65534, ^uint32(0)
	for _, c := range []struct {
		terms Terms
		nr    uint32
		args  [4]uint32
		want  uint32
	}{
		{plain, unix.SYS_READ, [4]uint32{}, allow},
		{plain, unix.SYS_CONNECT, [4]uint32{}, handOver}, {open, unix.SYS_CONNECT, [4]uint32{}, handOver}, {open,
			unix.SYS_BIND, [4]uint32{}, handOver},
		{plain, unix.SYS_LISTEN, [4]uint32{}, handOver}, {plain, unix.SYS_FCHMOD, [4]uint32{}, handOver}, {plain,
			unix.SYS_UTIMENSAT, [4]uint32{}, handOver},
		{plain, unix.SYS_SOCKET, [4]uint32{unix.AF_INET, unix.SOCK_STREAM | unix.SOCK_CLOEXEC, 0}, allow},
		{plain, unix.SYS_SOCKET, [4]uint32{unix.AF_INET6, unix.SOCK_STREAM, unix.IPPROTO_TCP}, allow},
		{plain, unix.SYS_SOCKET, [4]uint32{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, eperm},
		{plain, unix.SYS_SOCKET, [4]uint32{unix.AF_INET, unix.SOCK_DGRAM, 0}, eperm}, {open, unix.SYS_SOCKET,
			[4]uint32{unix.AF_INET, unix.SOCK_DGRAM, 0}, allow},
		{plain, unix.SYS_SOCKET, [4]uint32{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_NONBLOCK, 0}, allow},
		{plain, unix.SYS_SOCKET, [4]uint32{unix.AF_UNIX, unix.SOCK_SEQPACKET, 0}, allow}, {open, unix.SYS_SOCKET,
			[4]uint32{unix.AF_UNIX, unix.SOCK_DGRAM, 0}, eperm},
		{open, unix.SYS_SOCKET, [4]uint32{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE}, allow},
		{plain, unix.SYS_SOCKET, [4]uint32{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE}, allow},
		{plain, unix.SYS_SOCKET, [4]uint32{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT}, eperm}, {plain,
			unix.SYS_SOCKET, [4]uint32{unix.AF_VSOCK, unix.SOCK_STREAM}, eperm},
		{open, unix.SYS_SOCKET, [4]uint32{unix.AF_VSOCK, unix.SOCK_STREAM}, eperm},
		{plain, unix.SYS_SOCKETPAIR, [4]uint32{unix.AF_UNIX, unix.SOCK_STREAM}, allow}, {plain, unix.SYS_SOCKETPAIR,
			[4]uint32{unix.AF_UNIX, unix.SOCK_DGRAM}, eperm},
		{plain, unix.SYS_SENDTO, [4]uint32{0, 0, 0, unix.MSG_FASTOPEN | unix.MSG_NOSIGNAL}, eperm}, {plain,
			unix.SYS_SENDTO, [4]uint32{0, 0, 0, unix.MSG_NOSIGNAL}, allow},
		{plain, unix.SYS_SENDMSG, [4]uint32{0, 0, unix.MSG_FASTOPEN}, eperm}, {plain, unix.SYS_SENDMMSG,
			[4]uint32{0, 0, 0, unix.MSG_FASTOPEN}, eperm},
		{plain, unix.SYS_FCHOWN, [4]uint32{3, 7, 8}, allow}, {plain, unix.SYS_FCHOWN, [4]uint32{3, none, none},
			allow}, {plain, unix.SYS_FCHOWN, [4]uint32{3, none, 8}, allow},
		{plain, unix.SYS_FCHOWN, [4]uint32{3, nobody, 8}, eperm}, {plain, unix.SYS_FCHOWN, [4]uint32{3, 7, nobody},
			eperm},
		{plain, unix.SYS_FCHOWNAT, [4]uint32{0, 0, 7, nobody}, eperm}, {plain, unix.SYS_FCHOWNAT, [4]uint32{0, 0, 7, 8},
			allow},
		{plain, unix.SYS_FSETXATTR, [4]uint32{}, notsup}, {plain, unix.SYS_PRLIMIT64, [4]uint32{0}, allow}, {plain,
			unix.SYS_PRLIMIT64, [4]uint32{1234}, eperm},
		{plain, unix.SYS_SHMGET, [4]uint32{}, nosys}, {plain, unix.SYS_MQ_OPEN, [4]uint32{}, nosys}, {plain,
			unix.SYS_PROCESS_MADVISE, [4]uint32{}, eperm},
		{plain, unix.SYS_IOCTL, [4]uint32{0, fsSetFlags}, eperm}, {plain, unix.SYS_IOCTL, [4]uint32{0, unix.TCGETS},
			allow}, {plain, unix.SYS_IOCTL, [4]uint32{0, ioctlTIOCSTI}, eperm},
		{plain, unix.SYS_CLONE, [4]uint32{unix.CLONE_NEWUSER}, eperm}, {plain, unix.SYS_CLONE,
			[4]uint32{uint32(unix.SIGCHLD)}, allow}, {plain, unix.SYS_UNSHARE, [4]uint32{}, eperm},
		{plain, unix.SYS_KILL, [4]uint32{}, allow}, {full, unix.SYS_KILL, [4]uint32{}, handOver}, {full,
			unix.SYS_TGKILL, [4]uint32{}, handOver},
		{plain, unix.SYS_PIDFD_SEND_SIGNAL, [4]uint32{}, allow}, {full, unix.SYS_PIDFD_SEND_SIGNAL, [4]uint32{}, nosys},
		{plain, unix.SYS_FCNTL, [4]uint32{0, unix.F_SETOWN}, allow}, {full, unix.SYS_FCNTL, [4]uint32{0, unix.F_SETOWN},
			eperm}, {full, unix.SYS_FCNTL, [4]uint32{0, unix.F_GETFL}, allow},
		{plain, unix.SYS_OPENAT, [4]uint32{0, 0, unix.O_RDWR}, allow}, {full, unix.SYS_OPENAT,
			[4]uint32{0, 0, unix.O_RDONLY | unix.O_CLOEXEC}, allow},
		{full, unix.SYS_OPENAT, [4]uint32{0, 0, unix.O_WRONLY}, handOver}, {full, unix.SYS_OPENAT,
			[4]uint32{0, 0, unix.O_RDONLY | unix.O_TRUNC}, handOver},
		{plain, unix.SYS_OPENAT2, [4]uint32{}, allow}, {full, unix.SYS_OPENAT2, [4]uint32{}, nosys}, {full,
			unix.SYS_RENAMEAT2, [4]uint32{}, handOver}, {plain, unix.SYS_RENAMEAT2, [4]uint32{}, allow},
	} {
		data := map[uint32]uint32{offNumber: c.nr, offArch: nativeArch, offArg0: c.args[0], offArg1: c.args[1],
			offArg2: c.args[2], offArg3: c.args[3]}
		if got := interpret(t, Floor(c.terms), data); got != c.want {
			t.Errorf("%+v: %#x", c, got)
		}
	}
	if n := len(Floor(full)); n > 4096 {
		t.Error("too long for the kernel: ", n)
	}
}
