package sandbox

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

func TestOrdersSurviveTheSocket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) })
		o := order{
			argv: rapid.SliceOf(text).Draw(t, "argv"), env: rapid.SliceOf(text).Draw(t, "env"), dir: text.Draw(t, "dir"),
			mounts: rapid.SliceOf(rapid.Map(text, func(s string) mount { return mount{mountWrite, s, s} })).Draw(t, "mounts"),
			own:    rapid.Bool().Draw(t, "own"), network: rapid.Bool().Draw(t, "network"),
			scratch: rapid.Int64Min(0).Draw(t, "scratch"), procs: rapid.Int64Min(0).Draw(t, "procs"),
		}
		b := o.encode()
		got, err := decodeOrder(b)
		if err != nil || !reflect.DeepEqual(got, o) {
			t.Fatalf("%v\n%+v\n%+v", err, got, o)
		}
		if _, err := decodeOrder(b[:len(b)-1]); err == nil {
			t.Fatal("a cut order was taken")
		}
		if _, err := decodeOrder(append(b, 0)); err == nil {
			t.Fatal("an order with a tail was taken")
		}
	})
}

func FuzzDecodeOrder(f *testing.F) {
	o := order{argv: []string{"a"}, env: []string{"b=c"}, dir: "/", mounts: []mount{{mountRead, "/x", ""}}}
	f.Add(o.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := decodeOrder(b)
		if err != nil {
			return
		}
		again, err := decodeOrder(o.encode())
		if err != nil || !reflect.DeepEqual(o, again) {
			t.Fatal(o, again, err)
		}
	})
}

func TestAMessageMayNotBeHuge(t *testing.T) {
	if _, _, err := receive(bytes.NewReader([]byte{msgOrder, 0xff, 0xff, 0xff, 0xff})); err == nil {
		t.Error("four gigabytes were accepted")
	}
}

// TestTheFilterAnswers runs the program of the filter, so that every jump is tried on every architecture without one.
func TestTheFilterAnswers(t *testing.T) {
	p := program()
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
		default:
			t.Fatalf("instruction %d is %#x", i, in.Code)
		}
	}
	t.Fatal("the filter ends without an answer")
	return 0
}

func TestGroupsAreFoundInBothHierarchies(t *testing.T) {
	const info = `30 24 0:26 / /sys/fs/cgroup/pids rw,relatime shared:9 - cgroup cgroup rw,pids
31 24 0:27 /outer /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
32 24 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu`
	for _, c := range []struct{ controllers, path, want, dir string }{
		{"pids", "/", "pids", "/sys/fs/cgroup/pids"},
		{"pids", "/a/b", "pids", "/sys/fs/cgroup/pids/a/b"},
		{"memory", "/outer/in", "memory", "/sys/fs/cgroup/memory/in"},
		{"memory", "/elsewhere", "memory", ""},
		{"cpu", "/", "pids", ""},
		{"name=systemd", "/", "pids", ""},
	} {
		if dir, ok := groupDir(info, c.controllers, c.path, c.want); dir != c.dir || ok != (c.dir != "") {
			t.Errorf("%+v: %q", c, dir)
		}
	}
	if got := strings.Join(groups{"pids": "x", "memory": "y"}.controllers(), " "); got != "memory pids" {
		t.Error(got)
	}
}
