package seccomp

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// TestTheFilterAnswers runs the program of the filter, so that every jump is tried on every architecture without one.
func TestTheFilterAnswers(t *testing.T) {
	p := Namespaces()
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
		data := map[uint32]uint32{offNumber: c.nr, offArch: c.arch, offArg0: c.args[0], offArg1: c.args[1], offArg2: c.args[2]}
		if got := interpret(t, p, data); got != c.want {
			t.Errorf("%+v: %#x", c, got)
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
