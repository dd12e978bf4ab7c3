package sandbox

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"pawl"
	"pawl/sandbox/landlock"
)

// onFloor is a Box without namespaces.
func onFloor(t testing.TB) *Box { return box(t, Options{Mechanism: MechanismLandlock}) }

// Older kernels do not keep signals and abstract sockets within a domain; there each of them is judged. ABI 4 is Ubuntu
// 24.04's.
func TestOlderVersionsOfLandlockHoldAsWell(t *testing.T) {
	for level := landlock.ABINetwork; level <= landlock.ABIScopes; level++ {
		t.Run(fmt.Sprint("ABI ", level), func(t *testing.T) {
			b := onFloor(t)
			b.level = level
			_, targets := listeners(t)
			beside := neighbour(t)
			s := self(t, "attack", "PAWL_TEST_BARE=1", "PAWL_TEST_NEIGHBOUR="+fmt.Sprint(beside.Process.Pid),
				"PAWL_TEST_TARGETS="+strings.Join(targets, " "))
			if got := output(t, b, s); got != "loopback of its own: <nil>\n" {
				t.Error(got)
			}
			s = self(t, "servers", "FOREIGN="+echo(t, "foreign"), "FOREIGN_UNIX=@pawl-test-nobody")
			if got := output(t, b, s); strings.Count(got, " ok\n") != 6 || strings.Count(got, "refused\n") != 2 {
				t.Error(got)
			}
			s = spec(t, `sleep 100 & p=$!; kill $p; wait $p; echo $?; setsid sh -c 'sleep 100 & wait' & p=$!; sleep 0.1; kill -- -$p; wait $p; echo $?
kill -0 "$1" 2>/dev/null && echo WORKED; kill -CONT -"$1" 2>/dev/null && echo WORKED; true`)
			s.Argv = append(s.Argv, "sh", fmt.Sprint(beside.Process.Pid))
			if got := output(t, b, s); strings.ReplaceAll(got, "Terminated\n", "") != "143\n143\n" {
				t.Error(got)
			}
			if !alive(beside) {
				t.Error("a process beside was ended")
			}
		})
	}
}

// Daemons that leave their session and their parent behind are ended with the command, however many there are.
func TestDaemonsAreEndedWithTheCommand(t *testing.T) {
	mechanisms(t, func(t *testing.T, m Mechanism) {
		b := box(t, Options{Mechanism: m})
		sleep := mark(t)
		s := spec(t, `i=0; while [ $i -lt 200 ]; do (setsid sh -c 'trap "" TERM HUP; sleep "$0" & wait' "$0" </dev/null >/dev/null 2>&1 &) ; i=$((i+1)); done; echo all`)
		s.Argv = append(s.Argv, sleep)
		if got := output(t, b, s); got != "all\n" {
			t.Fatal(got)
		}
		if left := marked(sleep); len(left) > 0 {
			t.Errorf("%d are left", len(left))
		}
	})
}

// In a writable directory, all but what it protects can be made, changed, moved and removed, at its top and below.
func TestAGuardedDirectoryIsWritableAroundWhatItHolds(t *testing.T) {
	mechanisms(t, func(t *testing.T, m Mechanism) {
		b := box(t, Options{Mechanism: m})
		s := spec(t, `set -e
umask 027
echo a >new; echo b >>new; cat new; stat -c %a new; chmod 600 new; touch -d 2001-01-01 new; stat -c '%a %Y' new
mkdir made; echo c >made/c; mkdir -p made/deep/er; echo d >made/deep/er/d; mv made/deep moved; cat moved/er/d; ln -s moved/er/d link; echo e >link; cat moved/er/d
ln new hard; rm new; cat hard; cp hard sub/copy; mv sub/copy .; mv hard sub/; cat copy sub/hard
rm -r sub; mkdir sub; echo f >sub/f; cat sub/f; mkfifo pipe; rm -r made moved; truncate -s 1 copy; wc -c <copy
cp /bin/true here; ./here; python3 -c 'import os; os.replace("here", "there"); open("there","r+b").write(b"x")' 2>/dev/null || mv here there
TMPDIR=. mktemp >/dev/null; cd sub; echo g >../top; cat ../top
cd ..; for c in 'echo x >.git/config' 'echo x >.git/new' 'mkdir .git/d' 'mv .git g' 'mv sub .git/sub' 'rm .git/config' 'rm -r .git' 'ln .git/config h' 'chmod 777 .git/config' \
  'touch -d 2001-01-01 .git/config' 'truncate -s 0 .git/config' 'ln -s . .git/l' 'rmdir keep/ro' 'echo x >keep/ro/f' 'mv keep/ro k' 'cd .git && echo x >config' \
  'cd .git && echo x >../.git/config' 'echo x >sub/../.git/config' 'ln -s .git/config l1 && echo x >l1' 'ln -s .git l2 && echo x >l2/config' 'exec 7<.git/config; chmod 777 /proc/self/fd/7' \
  'exec 7<.git/config; echo x >/proc/self/fd/7'; do
  if (eval "$c") 2>/dev/null; then echo "WORKED: $c"; fi
done; cat .git/config keep/ro/f`)
		p := func(rel string) string { return filepath.Join(s.Dir, rel) }
		write(t, p(".git/config"), "mine\n")
		write(t, p("keep/ro/f"), "kept\n")
		write(t, p("sub/g"), "x")
		s.Readable = append(s.Readable, p("keep/ro"))
		want := "a\nb\n640\n600 978307200\nd\ne\na\nb\na\nb\na\nb\nf\n1\ng\nmine\nkept\n"
		got := strings.ReplaceAll(output(t, b, s), "978303600", "978307200")
		if got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
		if st, err := os.Stat(p(".git/config")); err != nil || st.Mode().Perm() != 0o644 {
			t.Error(st.Mode(), err)
		}
	})
}

// What must be hidden is hidden in the folder that a command works in, or the command does not run.
func TestWhatMustBeHidden(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		s := spec(t, "cat secret 2>/dev/null; ls d; echo new >top; cat top")
		write(t, filepath.Join(s.Dir, "secret"), "seen\n")
		write(t, filepath.Join(s.Dir, "d", "seen"), "")
		s.Hidden, s.MustHide = []string{filepath.Join(s.Dir, "secret"), filepath.Join(s.Dir, "d")}, true
		if !b.bare(t.Context()) {
			if got := output(t, b, s); got != "new\n" {
				t.Errorf("%q", got)
			}
			return
		}
		if _, err := b.Run(t.Context(), s); pawl.CodeOf(err) != pawl.CodeEnvironment {
			t.Errorf("run: %v", err)
		}
		if _, err := b.Start(t.Context(), s); pawl.CodeOf(err) != pawl.CodeEnvironment {
			t.Errorf("started: %v", err)
		}
		if _, err := os.Stat(filepath.Join(s.Dir, "top")); err == nil {
			t.Error("the command ran")
		}
		s.Hidden = []string{outside(t)}
		output(t, b, s)
	})
}

// A file that was written this moment can be executed, however busy the machine is.
func TestWhatWasJustWrittenCanBeExecuted(t *testing.T) {
	b := onFloor(t)
	s := spec(t, `i=0; while [ $i -lt 300 ]; do cp /bin/true here || exit; ./here || exit; rm here; i=$((i+1)); done; echo all`)
	write(t, filepath.Join(s.Dir, ".git", "config"), "") // what is held in the folder has each file in it be judged
	if got := output(t, b, s); got != "all\n" {
		t.Error(got)
	}
}

// Servers of the command's own are reached, over each family, and heard on the loopback alone.
func TestOwnServersAreReachedAndNoOthers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	here := filepath.Join(outside(t), "s")
	named, err := net.Listen("unix", here)
	if err != nil {
		t.Fatal(err)
	}
	defer named.Close()
	heard := make(chan string, 8)
	for _, l := range []net.Listener{l, named} {
		go func() {
			for c, err := l.Accept(); err == nil; c, err = l.Accept() {
				heard <- l.Addr().String()
				c.Close()
			}
		}()
	}
	mechanisms(t, func(t *testing.T, m Mechanism) {
		b := box(t, Options{Mechanism: m})
		if !m.bare() {
			if got := output(t, b, self(t, "datagrams")); got != "ok ok\n" {
				t.Errorf("%s", got)
			}
		}
		s := self(t, "servers", "FOREIGN="+l.Addr().String(), "FOREIGN_UNIX="+here)
		want := "tcp4 127.0.0.1 ok\ntcp wildcard ok\ntcp6 loopback ok\nunix ok\nabstract ok\nunix in the tree ok\nforeign refused\nforeign unix refused\n"
		if got := output(t, b, s); got != want {
			t.Errorf("%s", got)
		}
	})
	select {
	case who := <-heard:
		t.Error(who, "was reached")
	default:
	}
}

// servers plays a command with servers of its own.
func servers() {
	dir := os.Getenv("TMPDIR")
	tree, _ := os.Getwd()
	for _, c := range []struct{ name, network, listen, dial string }{
		{"tcp4 127.0.0.1", "tcp", "127.0.0.1:0", ""}, {"tcp wildcard", "tcp", ":0", "localhost"}, {"tcp6 loopback",
			"tcp", "[::1]:0", ""},
		{"unix", "unix", filepath.Join(dir, "sock"), ""}, {"abstract", "unix", "@pawl-test-own",
			""}, {"unix in the tree", "unix", filepath.Join(tree, "sock"), ""},
	} {
		fmt.Println(c.name, converse(c.network, c.listen, c.dial))
	}
	for name, at := range map[string][2]string{"foreign": {"tcp", os.Getenv("FOREIGN")}} {
		fmt.Println(name, refusal(at[0], at[1]))
	}
	fmt.Println("foreign unix", refusal("unix", os.Getenv("FOREIGN_UNIX")))
}

// datagrams plays a command that connects a socket for datagrams of the internet, and another one after that.
func datagrams() {
	var said []string
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.ListenPacket("udp", at)
		if err != nil {
			said = append(said, err.Error())
			continue
		}
		to := l.LocalAddr().(*net.UDPAddr)
		s, _ := unix.Socket(unix.AF_INET6, unix.SOCK_DGRAM, 0)
		mapped := &unix.SockaddrInet6{Port: to.Port, Addr: [16]byte(to.IP.To16())}
		err = unix.Connect(s, mapped)
		// What a resolver does between two addresses: no family at all undoes the connection.
		none := make([]byte, unix.SizeofSockaddrInet6)
		if _, _, no := unix.Syscall(unix.SYS_CONNECT, uintptr(s), uintptr(unsafe.Pointer(&none[0])),
			uintptr(len(none))); no != 0 && err == nil {
			err = no
		}
		if err == nil {
			err = unix.Connect(s, mapped)
		}
		if err == nil {
			_, err = unix.Write(s, []byte("ok"))
		}
		b := make([]byte, 8)
		if err != nil {
			said = append(said, err.Error())
			continue
		}
		_ = l.SetReadDeadline(time.Now().Add(5 * time.Second))
		n, _, _ := l.ReadFrom(b)
		said = append(said, string(b[:n]))
	}
	fmt.Println(strings.Join(said, " "))
}

func refusal(network, addr string) string {
	c, err := net.Dial(network, addr)
	if err == nil {
		c.Close()
		return "REACHED"
	}
	return "refused"
}

// converse has a server and a client of this process talk.
func converse(network, listen, dial string) string {
	l, err := net.Listen(network, listen)
	if err != nil {
		return err.Error()
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			fmt.Fprint(c, "ok")
			c.Close()
		}
	}()
	addr := l.Addr().String()
	if dial != "" {
		_, port, _ := net.SplitHostPort(addr)
		addr = net.JoinHostPort(dial, port)
	}
	c, err := net.Dial(network, addr)
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	b := make([]byte, 2)
	if _, err := c.Read(b); err != nil {
		return err.Error()
	}
	return string(b)
}

// Without namespaces a socket of the command is one of the machine, so none is heard from outside of it.
func TestServersAreHeardOnTheLoopbackAlone(t *testing.T) {
	addr := ownAddress()
	if addr == "" {
		t.Log("this machine has no address but the loopback's")
		return
	}
	b := onFloor(t)
	s := self(t, "listener")
	ports := make(chan string, 1)
	s.OnOutput = func(p []byte) { ports <- strings.TrimSpace(string(p)) }
	s.Stdin = nil
	done := make(chan error)
	go func() {
		res, err := b.Run(t.Context(), s)
		if err == nil && res.Exit != 0 {
			err = fmt.Errorf("exit %d %s", res.Exit, res.Output)
		}
		close(ports)
		done <- err
	}()
	for port := range strings.FieldsSeq(<-ports) {
		if c, err := net.Dial("tcp", net.JoinHostPort(addr, port)); err == nil {
			c.Close()
			t.Error("heard at", addr, port)
		}
		c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
		if err != nil {
			t.Error(err)
			continue
		}
		c.Close()
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// listener listens without saying where, in three ways, and waits until each was reached.
func listener() {
	var ports []string
	var fds []int
	for _, bound := range []unix.Sockaddr{&unix.SockaddrInet4{}, &unix.SockaddrInet6{}, nil} {
		family := unix.AF_INET
		if _, six := bound.(*unix.SockaddrInet6); six {
			family = unix.AF_INET6
		}
		fd, err := unix.Socket(family, unix.SOCK_STREAM, 0)
		if err == nil && bound != nil {
			err = unix.Bind(fd, bound)
		}
		if err == nil {
			err = unix.Listen(fd, 1)
		}
		sa, _ := unix.Getsockname(fd)
		switch a := sa.(type) {
		case *unix.SockaddrInet4:
			ports = append(ports, fmt.Sprint(a.Port))
		case *unix.SockaddrInet6:
			ports = append(ports, fmt.Sprint(a.Port))
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fds = append(fds, fd)
	}
	fmt.Println(strings.Join(ports, " "))
	for _, fd := range fds {
		_, _, _ = unix.Accept(fd)
	}
}

// Other ways to open, bind, connect and send do not lead around what is judged.
func TestOtherWaysAroundTheFloor(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	heard := make(chan struct{}, 8)
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			heard <- struct{}{}
			c.Close()
		}
	}()
	s := self(t, "around", "FOREIGN="+l.Addr().String(), "CANARY="+
		write(t, filepath.Join(outside(t), "canary"), "mine"))
	s.Readable = append(s.Readable, filepath.Dir(envOf(s.Env, "CANARY")))
	if got := output(t, onFloor(t), s); got != "" {
		t.Error(got)
	}
	select {
	case <-heard:
		t.Error("the listener was reached")
	default:
	}
	canary := envOf(s.Env, "CANARY")
	st, err := os.Stat(canary)
	data, _ := os.ReadFile(canary)
	if err != nil || st.Mode().Perm() != 0o644 || string(data) != "mine" {
		t.Error(st.Mode(), string(data), err)
	}
}

func envOf(env []string, name string) string {
	i := slices.IndexFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	return env[i][len(name)+1:]
}

// neighbours tries them, and prints what worked.
func neighbours() {
	try := func(name string, err error) {
		if err == nil {
			fmt.Println("WORKED:", name)
		}
	}
	a, err := net.ResolveTCPAddr("tcp", os.Getenv("FOREIGN"))
	if err != nil {
		fmt.Println(err)
		return
	}
	to := &unix.SockaddrInet4{Port: a.Port, Addr: [4]byte{127, 0, 0, 1}}
	for name, kind := range map[string][3]int{
		"mptcp": {unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, "udp": {unix.AF_INET, unix.SOCK_DGRAM,
			0}, "udp6": {unix.AF_INET6, unix.SOCK_DGRAM, 0},
		"raw": {unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP}, "sctp": {unix.AF_INET, unix.SOCK_STREAM,
			unix.IPPROTO_SCTP}, "ping": {unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP},
		"unix datagrams": {unix.AF_UNIX, unix.SOCK_DGRAM, 0}, "unix raw": {unix.AF_UNIX, unix.SOCK_RAW, 0}, "smc": {43,
			unix.SOCK_STREAM, 0},
	} {
		_, err := unix.Socket(kind[0], kind[1], kind[2])
		try(name, err)
	}
	_, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	try("pair of datagrams", err)
	fd, _ := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	try("fast open", unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, to))
	try("fast open message", unix.Sendmsg(fd, []byte("x"), nil, to, unix.MSG_FASTOPEN))
	try("connect", unix.Connect(fd, to))
	six, _ := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM, 0)
	try("mapped", unix.Connect(six, &unix.SockaddrInet6{Port: a.Port,
		Addr: [16]byte{10: 0xff, 11: 0xff, 12: 127, 15: 1}}))
	try("any", unix.Connect(fd, &unix.SockaddrInet4{Port: a.Port}))
	if own, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0); err == nil {
		// A server of its own at another address of the same port makes the first one no more its own.
		if unix.Bind(own, &unix.SockaddrInet4{Port: a.Port, Addr: [4]byte{127, 0, 0, 2}}) == nil &&
			unix.Listen(own, 1) == nil {
			try("beside a server of its own", unix.Connect(fd, to))
		}
	}
	canary := os.Getenv("CANARY")
	read, _ := unix.Open(canary, unix.O_RDONLY, 0)
	try("chmod", unix.Chmod(canary, 0o777))
	try("fchmod", unix.Fchmod(read, 0o777))
	try("fchmodat", unix.Fchmodat(unix.AT_FDCWD, canary, 0o777, 0))
	try("utimes", unix.Utimes(canary, make([]unix.Timeval, 2)))
	try("futimes", unix.Futimes(read, make([]unix.Timeval, 2)))
	try("utimensat", unix.UtimesNanoAt(unix.AT_FDCWD, canary, make([]unix.Timespec, 2), 0))
	try("setxattr", unix.Setxattr(canary, "user.x", []byte("x"), 0))
	try("fsetxattr", unix.Fsetxattr(read, "user.x", []byte("x"), 0))
	try("chown", unix.Chown(canary, 65534, 65534))
	try("truncate", unix.Truncate(canary, 0))
	try("flags", unix.IoctlSetPointerInt(read, unix.FS_IOC_SETFLAGS, 0))
	try("openat2", func() error {
		_, err := unix.Openat2(unix.AT_FDCWD, canary, &unix.OpenHow{Flags: unix.O_WRONLY})
		return err
	}())
	try("open to write", func() error { _, err := unix.Open(canary, unix.O_RDONLY|unix.O_TRUNC, 0); return err }())
	try("a terminal", func() error { _, err := unix.Open("/dev/ptmx", unix.O_RDWR, 0); return err }())
}
