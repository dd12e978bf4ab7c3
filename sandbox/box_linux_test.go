package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pawl"
	"pawl/internal/need"
	"pawl/sandbox/landlock"
)

// role makes the test binary play a part of a test: the pawl that is killed, or a command inside the walls.
const role = "PAWL_TEST_ROLE"

func TestMain(m *testing.M) {
	Child()
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "attack":
		attack()
	case "reach":
		reach()
	case "machine":
		machine()
	case "covered":
		coveredMachine()
	case "tenant":
		tenant()
	case "around":
		neighbours()
	case "servers":
		servers()
	case "listener":
		listener()
	case "opener":
		opener()
	case "spew":
		spew()
	case "owner":
		owner()
	case "idler":
		idler()
	case "datagrams":
		datagrams()
	case "forker":
		forker()
	case "caller":
		caller()
	case "elsewhere":
		serveElsewhere()
	case "ender":
		ender()
	}
}

// each runs a test with every mechanism, and with a launcher that waited for the command. A machine without bubblewrap
// fails, so that its path is never untested unnoticed.
func each(t *testing.T, test func(t *testing.T, b *Box)) {
	t.Helper()
	mechanisms(t, func(t *testing.T, m Mechanism) { test(t, box(t, Options{Mechanism: m})) })
	for name, m := range map[string]Mechanism{"ready": MechanismNamespaces, "ready landlock": MechanismLandlock} {
		t.Run(name, func(t *testing.T) {
			b := box(t, Options{Mechanism: m, Ready: true})
			run(t, b, spec(t, "true"))
			if !waiting(b) {
				t.Fatal("no launcher waits")
			}
			test(t, b)
		})
	}
}

// mechanisms runs a test with every mechanism.
func mechanisms(t *testing.T, test func(t *testing.T, m Mechanism)) {
	t.Helper()
	for _, m := range []Mechanism{MechanismNamespaces, MechanismBubblewrap, MechanismLandlock} {
		t.Run(string(m), func(t *testing.T) { test(t, m) })
	}
}

// waiting reports whether a Box has a spare launcher.
func waiting(b *Box) bool {
	b.launchers.mu.Lock()
	defer b.launchers.mu.Unlock()
	return b.launchers.spare != nil
}

func box(t testing.TB, o Options) *Box {
	t.Helper()
	if o.Mechanism == MechanismBubblewrap {
		need.Program(t, "bwrap")
	}
	b, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// spec is a shell command in a fresh workspace.
func spec(t testing.TB, script string) Spec {
	t.Helper()
	ws := t.TempDir()
	return Spec{Argv: []string{"sh", "-c", script}, Dir: ws, Writable: []string{ws}, Env: Environ(os.Environ(), nil)}
}

// self is the test binary in a part, as a command.
func self(t testing.TB, part string, env ...string) Spec {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := spec(t, "")
	s.Argv, s.Readable = []string{exe}, []string{exe}
	s.Env = append(append(s.Env, role+"="+part, "PAWL_TEST_PROCESSES="+processes()), env...)
	return s
}

func run(t testing.TB, b *Box, s Spec) Result {
	t.Helper()
	res, err := b.Run(context.Background(), s)
	if err != nil {
		t.Fatalf("%v\n%s", err, res.Output)
	}
	return res
}

// output runs a command that must succeed.
func output(t testing.TB, b *Box, s Spec) string {
	t.Helper()
	res := run(t, b, s)
	if res.Exit != 0 {
		t.Fatalf("exit %d %s\n%s", res.Exit, res.Signal, res.Output)
	}
	return string(res.Output)
}

// outside makes a directory that no workspace covers. It is not below /tmp, which is private to a command, unless the
// home directory is: what a command has to see of it is named Readable.
func outside(t testing.TB) string {
	t.Helper()
	base, err := os.UserCacheDir()
	if err == nil {
		err = os.MkdirAll(base, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(base, "pawl-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("something is left in the home directory: %v", err)
		}
	})
	return dir
}

func write(t testing.TB, name, data string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestWallsAreNamed(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		res := run(t, b, spec(t, "true"))
		if res.Walls[0] != string(b.mechanism) || !slices.Contains(res.Walls, "seccomp") {
			t.Errorf("walls %q", res.Walls)
		}
		if landlock.ABI() > 0 && !slices.Contains(res.Walls, "landlock") {
			t.Errorf("the kernel has Landlock, walls %q", res.Walls)
		}
	})
}

// What tries to get over the walls must not harm the machine should one of them be missing: what is written to is a
// canary of the test, and what belongs to the machine is only asked whether it could be written to, or opened and left
// as it is.
func TestWritesOutsideAreRefused(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		out := outside(t)
		keep := write(t, filepath.Join(out, "keep"), "kept")
		before, _ := os.Stat(keep)
		s := spec(t, `cd "$1" || exit
for c in 'echo x >new' 'echo x >keep' 'echo x >>keep' 'rm keep' 'mv keep gone' 'mkdir d' 'ln -s keep l' 'ln keep h' \
  'chmod 777 keep' 'chown 65534 keep' 'touch -d 2001-01-01 keep' 'truncate -s 0 keep' 'mkfifo p' 'cp /bin/true .' \
  'mv "$2/mine" .' 'ln "$2/mine" h2' 'mknod "$2/node" b 0 0' 'mount -t tmpfs t "$1" && umount "$1"' \
  'test -w /' 'test -w /etc' 'test -w /usr' 'true >>/proc/sys/kernel/hostname' 'true >>/proc/sys/kernel/core_pattern' 'true >>/sys/kernel/mm/ksm/run'; do
  if eval "$c" 2>/dev/null; then echo "WORKED: $c"; fi
done
echo fine >"$2/made" && mkdir "$2/d" && mv "$2/mine" "$2/d/" && cat "$2/made"`)
		s.Argv = append(s.Argv, "sh", out, s.Dir)
		s.Readable = []string{out}
		write(t, filepath.Join(s.Dir, "mine"), "x")
		if got := withoutAsking(b, output(t, b, s)); got != "fine\n" {
			t.Error(got)
		}
		if _, err := os.Stat(filepath.Join(s.Dir, "d", "mine")); err != nil {
			t.Error("the workspace was not writable: ", err)
		}
		after, err := os.Stat(keep)
		entries, _ := os.ReadDir(out)
		if err != nil || len(entries) != 1 || after.ModTime() != before.ModTime() || after.Mode() != before.Mode() ||
			after.Size() != 4 {
			t.Errorf("outside changed: %v %v %v", err, entries, after)
		}
	})
}

// withoutAsking leaves out of what worked what was only asked about: on the floor the kernel answers for the user, not
// for the walls. What was asked about is opened for writing in TestTheMachineCannotBeOpened.
func withoutAsking(b *Box, out string) string {
	if !b.mechanism.bare() {
		return out
	}
	var rest []string
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "WORKED: test -w ") {
			rest = append(rest, line)
		}
	}
	return strings.Join(rest, "")
}

// opener asks for a file without a name in directories, which changes nothing should one be made.
func opener() {
	for dir := range strings.FieldsSeq(os.Getenv("TARGETS")) {
		fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_WRONLY, 0o600)
		fmt.Println(dir, err == nil)
		_ = unix.Close(fd)
	}
}

func TestTheMachineCannotBeOpened(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		out := outside(t)
		s := self(t, "opener", "TARGETS=/ /etc /usr /var "+out)
		s.Readable = append(s.Readable, out)
		if got := output(t, b, s); strings.Contains(got, "true") || strings.Count(got, "false") != 5 {
			t.Error(got)
		}
	})
}

func TestInternalsOfAWorkspaceAreReadOnly(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		s := spec(t, `for c in 'echo x >.git/config' 'echo x >.git/hooks/pre-commit' 'mv .git g' 'rm -rf .git' 'echo x >.pawl' 'rm .pawl' \
  'mv .pawl p' 'ln -sf elsewhere .pawl' 'chmod 777 .git'; do
  if eval "$c" 2>/dev/null; then echo "WORKED: $c"; fi
done; cat .git/config`)
		write(t, filepath.Join(s.Dir, ".git", "config"), "mine")
		write(t, filepath.Join(s.Dir, ".pawl"), "mine")
		if got := output(t, b, s); got != "mine" {
			t.Error(got)
		}
		// Who lists .git itself may write to it.
		s.Writable = append(s.Writable, filepath.Join(s.Dir, ".git"))
		s.Argv[2] = "echo new >.git/config && cat .git/config"
		if got := output(t, b, s); got != "new\n" {
			t.Error(got)
		}
		// A link cannot be held in place.
		linked := spec(t, "true")
		if err := os.Symlink("elsewhere", filepath.Join(linked.Dir, ".git")); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Run(context.Background(), linked); pawl.CodeOf(err) != pawl.CodeDenied {
			t.Error(err)
		}
	})
}

func TestTheDeepestPathDecides(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		s := spec(t, `cat ro/f; cat hidden/f hidden/shown/f secret 2>/dev/null
for f in ro/f hidden/f hidden/shown/f hidden/new; do if echo x 2>/dev/null >$f; then echo "WORKED $f"; fi; done; echo y >hidden/open/f; cat hidden/open/f`)
		p := func(rel string) string { return filepath.Join(s.Dir, rel) }
		for _, f := range []string{"ro/f", "hidden/f", "hidden/shown/f", "hidden/open/f", "secret"} {
			write(t, p(f), f+"\n")
		}
		s.Readable = []string{p("ro"), p("hidden/shown"), p("absent")}
		s.Hidden = []string{p("hidden"), p("secret"), p("absent too")}
		s.Writable = append(s.Writable, p("hidden/open"))
		want := "ro/f\nhidden/shown/f\ny\n"
		if b.mechanism.bare() { // WeakInside
			want = "ro/f\nhidden/f\nhidden/shown/f\nsecret\ny\n"
		}
		if got := output(t, b, s); got != want {
			t.Error(got)
		}
	})
}

func TestTmpIsPrivateAndHomeIsFresh(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		dir, err := os.MkdirTemp("/tmp", "pawl-test-") // wherever TMPDIR is
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		mine := write(t, filepath.Join(dir, "mine"), "mine")
		if b.mechanism.bare() {
			privateFolder(t, b, mine)
			return
		}
		s := spec(t, `test -e "$1" && echo visible; echo x >"/tmp/$2" && echo x >"/var/tmp/$2" && ls -A "$HOME"; echo "$HOME"; echo z >"$HOME/$2"`)
		name := "pawl-test-" + rand.Text()
		s.Argv = append(s.Argv, "sh", mine, name)
		if got := output(t, b, s); got != Home+"\n" {
			t.Error(got)
		}
		for _, dir := range []string{"/tmp", "/var/tmp", Home} {
			if os.Remove(filepath.Join(dir, name)) == nil {
				t.Errorf("a file in the private %s is visible outside", dir)
			}
		}
	})
}

// privateFolder is the same without mounts: TMPDIR names the private folder, and /tmp itself is nobody's.
func privateFolder(t *testing.T, b *Box, mine string) {
	s := spec(t, `cat "$1" 2>/dev/null; echo x 2>/dev/null >"/tmp/$2" && echo WORKED; echo x >"$TMPDIR/$2" && ls -A "$HOME" && echo z >"$HOME/$2" && mkdir "$HOME/d" && chmod 0 "$HOME/d" && echo "$TMPDIR"`)
	name := "pawl-test-" + rand.Text()
	s.Argv = append(s.Argv, "sh", mine, name)
	s.Env = append(s.Env, "AS_IT_IS=/tmp/x")
	dirs := map[string]bool{}
	for range 2 {
		got := strings.TrimSpace(output(t, b, s))
		b.Close() // and with it the removal of what commands have left
		if _, err := os.Stat(got); err == nil || !strings.Contains(got, privatePrefix) || strings.Contains(got, "\n") ||
			dirs[got] {
			t.Errorf("%q %v", got, err)
		}
		dirs[got] = true
	}
	if os.Remove(filepath.Join(os.TempDir(), name)) == nil {
		t.Error("a file in /tmp was made")
	}
}

func TestSecretsAreHidden(t *testing.T) {
	home := outside(t)
	for _, f := range []string{".ssh/id_ed25519", ".gnupg/k", ".aws/credentials", ".config/gh/hosts.yml", ".netrc",
		".npmrc", ".docker/config.json",
		".unheard-of/token", ".cargo/credentials.toml", ".m2/settings.xml", ".git-credentials", ".bash_history"} {
		write(t, filepath.Join(home, f), "s3cret")
	}
	for _, f := range []string{".cargo/registry/index", "go/pkg/mod/m"} {
		write(t, filepath.Join(home, f), "open\n")
	}
	if err := os.Symlink("go/pkg/mod/m", filepath.Join(home, ".linked-secret")); err != nil {
		t.Fatal(err)
	}
	mechanisms(t, func(t *testing.T, m Mechanism) {
		b := box(t, Options{Mechanism: m, Home: home})
		s := spec(t, `grep -rsl s3cret "$1"; cat "$1/.cargo/registry/index" "$1/go/pkg/mod/m"; [ -s /etc/shadow ] && head -c 1 /etc/shadow 2>/dev/null | grep -q . && echo WORKED; true`)
		s.Argv = append(s.Argv, "sh", home)
		if got := output(t, b, s); got != "open\nopen\n" {
			t.Errorf("%s: %s", m, got)
		}
		s.Writable = []string{home}
		if _, err := b.Run(context.Background(), s); pawl.CodeOf(err) != pawl.CodeDenied {
			t.Errorf("%s: a writable home: %v", m, err)
		}
	})
}

// A program that a person has installed somewhere in the home is there for tools, and nothing else of where it lies.
func TestInstalledProgramsAreThere(t *testing.T) {
	home := outside(t)
	program := func(name, says string) {
		write(t, filepath.Join(home, name), "#!/bin/sh\necho "+says+"\n")
		if err := os.Chmod(filepath.Join(home, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program(".npm-global/lib/node_modules/tool/bin/tool", `"tool $(cat "$(dirname "$(readlink -f "$0")")/../data")"`)
	write(t, filepath.Join(home, ".npm-global/lib/node_modules/tool/data"), "with data\n")
	program(".own/bin/plain", "plain")
	program(".bare/direct", "direct")
	for _, f := range []string{".npm-global/token", ".own/token", ".bare/token"} {
		write(t, filepath.Join(home, f), "s3cret")
	}
	if err := os.MkdirAll(filepath.Join(home, ".npm-global/bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../lib/node_modules/tool/bin/tool", filepath.Join(home, ".npm-global/bin/tool")); err != nil {
		t.Fatal(err)
	}
	mechanisms(t, func(t *testing.T, m Mechanism) {
		b := box(t, Options{Mechanism: m, Home: home})
		s := spec(t, `tool; plain; direct 2>/dev/null || echo none; grep -rsl s3cret "$1"; true`)
		s.Argv = append(s.Argv, "sh", home)
		for i, kv := range s.Env {
			if path, ok := strings.CutPrefix(kv, "PATH="); ok {
				s.Env[i] = fmt.Sprintf("PATH=%[1]s/.npm-global/bin:%[1]s/.own/bin:%[1]s/.bare:%[1]s/.gone:%[2]s", home,
					path)
			}
		}
		if got := output(t, b, s); got != "tool with data\nplain\nnone\n" {
			t.Errorf("%s: %q", m, got)
		}
	})
}

// A cache that a command may write stays so where the environment names it and it lies in the home, as a workspace does.
func TestCachesInAHomeAreWritable(t *testing.T) {
	home := outside(t)
	ws, cache := filepath.Join(home, "project"), filepath.Join(home, "project/.pawl/cache/work")
	for _, d := range []string{filepath.Join(cache, "gomod"), filepath.Join(home, "own/pkg/mod")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mechanisms(t, func(t *testing.T, m Mechanism) {
		b := box(t, Options{Mechanism: m, Home: home})
		s := spec(t, `mkdir -p "$GOMODCACHE/cache/`+string(m)+`" && echo made; mkdir "$GOPATH/pkg/mod/`+string(m)+`" 2>/dev/null || echo kept`)
		s.Dir, s.Writable = ws, []string{ws, cache}
		s.Env = append(s.Env, "GOMODCACHE="+filepath.Join(cache, "gomod"), "GOPATH="+filepath.Join(home, "own"))
		if got := output(t, b, s); got != "made\nkept\n" {
			t.Errorf("%s: %q", m, got)
		}
	})
}

// processes names the namespace of processes that this one is in. What kills a process that is not the test's own first
// sees to it that it is not in the machine's.
func processes() string {
	name, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return err.Error()
	}
	return name
}

// attack tries, from inside, what no command may do, and prints what worked.
func attack() {
	worked := func(what string, err error) {
		if err == nil {
			fmt.Println("WORKED:", what)
		}
	}
	for _, target := range strings.Split(os.Getenv("PAWL_TEST_TARGETS"), " ") {
		network, addr, _ := strings.Cut(target, "=")
		c, err := net.DialTimeout(network, addr, time.Second)
		if err == nil {
			_, err = c.Write([]byte("sentinel"))
		}
		worked(target, err)
	}
	for _, c := range []struct {
		name string
		args [4]uintptr
		nr   uintptr
	}{
		{"socket vsock", [4]uintptr{unix.AF_VSOCK, unix.SOCK_STREAM}, unix.SYS_SOCKET},
		{"socket packet", [4]uintptr{unix.AF_PACKET, unix.SOCK_RAW}, unix.SYS_SOCKET},
		{"socket alg", [4]uintptr{unix.AF_ALG, unix.SOCK_SEQPACKET}, unix.SYS_SOCKET},
		{"socket netlink", [4]uintptr{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT}, unix.SYS_SOCKET},
		{"socket with high bits", [4]uintptr{1<<32 | unix.AF_VSOCK, unix.SOCK_STREAM}, unix.SYS_SOCKET},
		{"unshare user", [4]uintptr{unix.CLONE_NEWUSER}, unix.SYS_UNSHARE},
		{"clone user", [4]uintptr{unix.CLONE_NEWUSER | uintptr(unix.SIGCHLD)}, unix.SYS_CLONE},
		{"clone3", [4]uintptr{0, 0}, unix.SYS_CLONE3},
		{"io_uring", [4]uintptr{1, 0}, unix.SYS_IO_URING_SETUP},
		{"bpf", [4]uintptr{}, unix.SYS_BPF},
		{"keyctl", [4]uintptr{}, unix.SYS_KEYCTL},
		// of no process: one that is traced would never end
		{"ptrace", [4]uintptr{unix.PTRACE_DETACH}, unix.SYS_PTRACE},
		{"userfaultfd", [4]uintptr{1}, unix.SYS_USERFAULTFD},
		{"perf", [4]uintptr{}, unix.SYS_PERF_EVENT_OPEN},
		{"tiocsti", [4]uintptr{0, unix.TIOCSTI}, unix.SYS_IOCTL},
		{"tiocsti with high bits", [4]uintptr{0, 1<<32 | unix.TIOCSTI}, unix.SYS_IOCTL},
		{"setns", [4]uintptr{0, 0}, unix.SYS_SETNS},
		{"chroot", [4]uintptr{0}, unix.SYS_CHROOT},
		{"process_vm_readv", [4]uintptr{1}, unix.SYS_PROCESS_VM_READV},
	} {
		r, _, no := unix.RawSyscall6(c.nr, c.args[0], c.args[1], c.args[2], c.args[3], 0, 0)
		if c.nr == unix.SYS_CLONE && r == 0 && no == 0 {
			unix.Exit(0) // this is the clone
		}
		if no != unix.EPERM && no != unix.ENOSYS {
			fmt.Printf("WORKED: %s: %v\n", c.name, no)
		}
	}
	for _, p := range []string{"environ", "mem", "maps", "fd/3", "root/etc/passwd"} {
		f, err := os.Open("/proc/1/" + p)
		if err == nil {
			_, err = f.Read(make([]byte, 1))
			if p == "environ" {
				err = nil
			}
		}
		worked("/proc/1/"+p, err)
	}
	if own := processes(); own == os.Getenv("PAWL_TEST_PROCESSES") {
		if os.Getenv("PAWL_TEST_BARE") != "" {
			attackNeighbour()
		} else {
			fmt.Println("WORKED: these are the machine's processes:", own)
		}
	} else {
		_ = unix.Kill(1, unix.SIGKILL)
		_ = unix.Kill(1, unix.SIGTERM)
	}
	if fds, err := os.ReadDir("/proc/self/fd"); err != nil || len(fds) > 8 {
		fmt.Println("WORKED: descriptors", fds, err)
	}
	local, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		var c net.Conn
		c, err = net.Dial("tcp", local.Addr().String())
		if err == nil {
			c.Close()
		}
	}
	fmt.Println("loopback of its own:", err)
}

// attackNeighbour tries what one process can do to another of the same user, on one that the test has started for it.
func attackNeighbour() {
	pid, err := strconv.Atoi(os.Getenv("PAWL_TEST_NEIGHBOUR"))
	if err != nil || pid < 2 {
		fmt.Println("WORKED: there is no neighbour")
		return
	}
	for _, p := range []string{"environ", "mem", "maps", "fd/0", "fd/1", "root/etc/passwd", "cwd/."} {
		f, err := os.Open(fmt.Sprintf("/proc/%d/%s", pid, p))
		if err == nil {
			f.Close()
			fmt.Println("WORKED: neighbour's", p)
		}
	}
	fd, _, _ := unix.Syscall(unix.SYS_PIDFD_OPEN, uintptr(pid), 0, 0)
	for name, no := range map[string]error{
		"kill": unix.Kill(pid, unix.SIGKILL), "kill 0": unix.Kill(pid, 0), "kill group": unix.Kill(-pid,
			unix.SIGKILL), "tgkill": unix.Tgkill(pid, pid, unix.SIGKILL),
		"pidfd": unix.PidfdSendSignal(int(fd), unix.SIGKILL, nil, 0), "limits": unix.Prlimit(pid, unix.RLIMIT_FSIZE,
			&unix.Rlimit{}, nil),
	} {
		if no == nil {
			fmt.Println("WORKED: neighbour by", name)
		}
	}
	_ = unix.Close(int(fd))
	for _, c := range []struct {
		nr   uintptr
		args [3]uintptr
	}{{unix.SYS_SHMGET, [3]uintptr{0, 4096, 0o1600}}, {unix.SYS_MSGGET, [3]uintptr{0, 0o1600, 0}},
		{unix.SYS_SEMGET, [3]uintptr{0, 1, 0o1600}}} {
		if _, _, no := unix.Syscall(c.nr, c.args[0], c.args[1], c.args[2]); no == 0 {
			fmt.Println("WORKED: shared memory or messages", c.nr)
		}
	}
}

// neighbour is a process of the same user that no command may touch.
func neighbour(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "300")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = []string{"SECRET=of the neighbour"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

// alive reports whether a process was not ended.
func alive(cmd *exec.Cmd) bool {
	var st unix.WaitStatus
	pid, err := unix.Wait4(cmd.Process.Pid, &st, unix.WNOHANG, nil)
	return err == nil && pid == 0
}

func TestNothingGetsOut(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		got, targets := listeners(t)
		s := self(t, "attack", "PAWL_TEST_TARGETS="+strings.Join(targets, " "))
		beside := neighbour(t)
		if b.mechanism.bare() {
			s.Env = append(s.Env, "PAWL_TEST_BARE=1", "PAWL_TEST_NEIGHBOUR="+strconv.Itoa(beside.Process.Pid))
		}
		if out := output(t, b, s); out != "loopback of its own: <nil>\n" {
			t.Error(out)
		}
		if !alive(beside) {
			t.Error("a process beside was ended")
		}
		select {
		case who := <-got:
			t.Errorf("%s was reached", who)
		case <-time.After(50 * time.Millisecond):
		}
	})
}

func TestAGrantedNetworkOpensNothingElse(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		_, targets := listeners(t)
		s := self(t, "attack", "PAWL_TEST_TARGETS="+strings.Join(targets, " "))
		s.Network = true
		out := output(t, b, s)
		for _, target := range targets {
			inet := strings.HasPrefix(target, "tcp") || strings.HasPrefix(target, "udp")
			abstract := strings.Contains(target, "@") && landlock.ABI() < 6
			if !abstract && strings.Contains(out, "WORKED: "+target) != inet {
				t.Errorf("%s: %s", target, out)
			}
		}
	})
}

// listeners starts one listener of each kind on this machine and reports which of them hears anything.
func listeners(t *testing.T) (<-chan string, []string) {
	t.Helper()
	got := make(chan string, 16)
	var targets []string
	dir := outside(t)
	for _, a := range []string{"tcp=127.0.0.1:0", "tcp=[::1]:0", "unix=" + filepath.Join(dir, "docker.sock"),
		"unix=@pawl-test-" + strconv.Itoa(os.Getpid())} {
		network, addr, _ := strings.Cut(a, "=")
		l, err := net.Listen(network, addr)
		if err != nil {
			t.Logf("%s: %v", a, err)
			continue
		}
		t.Cleanup(func() { l.Close() })
		targets = append(targets, network+"="+l.Addr().String())
		go func() {
			for c, err := l.Accept(); err == nil; c, err = l.Accept() {
				got <- a
				c.Close()
			}
		}()
	}
	u, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.Close() })
	go func() {
		if _, _, err := u.ReadFrom(make([]byte, 9)); err == nil {
			got <- "udp"
		}
	}()
	// A datagram to a loopback where nobody listens is lost without an error, so this target is sent to by name only.
	if addr := ownAddress(); addr != "" {
		p, err := net.ListenPacket("udp", net.JoinHostPort(addr, "0"))
		if err == nil {
			t.Cleanup(func() { p.Close() })
			targets = append(targets, "udp="+p.LocalAddr().String())
			go func() {
				if _, _, err := p.ReadFrom(make([]byte, 9)); err == nil {
					got <- "udp " + addr
				}
			}()
		}
	}
	return got, targets
}

// ownAddress is an address of this machine that is not a loopback.
func ownAddress() string {
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			return n.IP.String()
		}
	}
	return ""
}

func TestOtherProcessesAreInvisible(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		if b.mechanism.bare() {
			return // WeakProcesses; what they hold is tried in TestNothingGetsOut
		}
		s := spec(t, `count() { echo $#; }; count /proc/[0-9]*; [ "$(readlink /proc/self/ns/pid)" != "$2" ] || exit
kill -9 -1 2>/dev/null; kill -0 "$1" 2>/dev/null && echo WORKED; ls -l /proc/self/fd | grep -c -- '->'`)
		s.Argv = append(s.Argv, "sh", strconv.Itoa(os.Getpid()), processes())
		// Process 1 and the shell; then 0, 1, 2 and the directory that ls reads.
		if got := output(t, b, s); got != "2\n4\n" {
			t.Error(got)
		}
	})
}

func TestWithoutWallsNothingRuns(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	b, _ := New(Options{Mechanism: MechanismBubblewrap})
	s := spec(t, `echo ran >"$PWD/ran"`)
	_, err := b.Run(context.Background(), s)
	if !errors.Is(err, &pawl.Error{Code: pawl.CodeSandbox}) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "ran")); err == nil {
		t.Error("the command ran")
	}
	// A bubblewrap that only pretends gives no walls either.
	write(t, filepath.Join(os.Getenv("PATH"), "bwrap"),
		"#!/bin/sh\nwhile [ $# -gt 0 ] && [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"\n")
	if err := os.Chmod(filepath.Join(os.Getenv("PATH"), "bwrap"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err = b.Run(context.Background(), s); pawl.CodeOf(err) != pawl.CodeSandbox {
		t.Error(err)
	}
	// Without the demand, pawl's own namespaces stand in.
	auto := box(t, Options{})
	s.Env = []string{"PATH=/usr/bin:/bin"}
	if res := run(t, auto, s); res.Walls[0] != string(MechanismNamespaces) || res.Exit != 0 {
		t.Error(res.Walls, res.Exit)
	}
}

func TestProbeFindsWhatRunUses(t *testing.T) {
	w := box(t, Options{}).Walls(context.Background())
	if !w.Any() || !w.Namespaces.OK || !w.Seccomp.OK {
		t.Errorf("%+v", w)
	}
}

func TestGoBuildsAndTestsInside(t *testing.T) {
	t.Parallel()
	gotool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal("the Go toolchain is not on PATH")
	}
	out, err := exec.Command(gotool, "env", "GOCACHE", "GOMODCACHE", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	dirs := strings.Fields(string(out))
	if err := os.MkdirAll(dirs[0], 0o755); err != nil {
		t.Fatal(err)
	}
	b := box(t, Options{Mechanism: MechanismNamespaces})
	s := spec(t, "")
	write(t, filepath.Join(s.Dir, "go.mod"), "module sample\n\ngo 1.26\n")
	write(t, filepath.Join(s.Dir, "s_test.go"), `package sample

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
)

func TestServer(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	if _, err := http.Get(s.URL); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(t.TempDir()+"/x", nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
`)
	s.Argv = []string{gotool, "test", "-vet=off", "./..."}
	s.Writable, s.Readable = append(s.Writable, dirs[0]), dirs[1:]
	s.Env = Environ(os.Environ(), map[string]string{"GOCACHE": dirs[0], "GOMODCACHE": dirs[1], "GOPROXY": "off",
		"GOFLAGS": "-mod=mod"})
	if got := output(t, b, s); !strings.HasPrefix(got, "ok") {
		t.Error(got)
	}
}

func BenchmarkStart(b *testing.B) {
	for _, m := range []Mechanism{MechanismNamespaces, MechanismBubblewrap} {
		b.Run(string(m), func(b *testing.B) {
			x := box(b, Options{Mechanism: m})
			s := spec(b, "")
			s.Argv = []string{"/bin/true"}
			run(b, x, s)
			for b.Loop() {
				run(b, x, s)
			}
		})
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			p, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{Sys: &syscall.SysProcAttr{}})
			if err != nil {
				b.Fatal(err)
			}
			_, _ = p.Wait()
		}
	})
}

// TestWhatIsHiddenOfAHome: toolchains' folders are shown, but for the secrets in them. All else is hidden, whatever its
// name, and so is the workspace around a worktree. A setting and the environment may name more.
func TestWhatIsHiddenOfAHome(t *testing.T) {
	home := outside(t)
	shown := []string{".cache/go-build", ".cargo/bin", ".local/share/uv/tools/x", "go/pkg/mod", "named/by/setting",
		"jdk/lib", "ws/.git/HEAD", "ws/.pawl/worktrees/1"}
	hidden := []string{".cache/pawl", ".cache/gh", ".cache/any", ".ssh", ".local/state", ".local/share/password-store",
		".local/share/pypoetry/auth.toml", ".cargo/credentials.toml", "go/src", "project", "project/.git/config",
		"named/beside", "ws/.env", "ws/.pawl/pawl.db", "notes.txt"}
	for _, name := range slices.Concat(shown, hidden) {
		write(t, filepath.Join(home, name, "canary"), "s3cret\n")
	}
	tree := filepath.Join(home, "ws/.pawl/worktrees/1")
	mechanisms(t, func(t *testing.T, m Mechanism) {
		b := box(t, Options{Mechanism: m, Home: home, Readable: []string{filepath.Join(home, "named/by")}})
		s := Spec{Dir: tree, Writable: []string{tree}, Env: append(Environ(os.Environ(), nil),
			"JAVA_HOME="+filepath.Join(home, "jdk"))}
		s.Hidden = []string{filepath.Join(home, "ws/.pawl")}
		script := `for f; do for way in "" /proc/self/root /proc/thread-self/cwd/../../../../..; do case $way in */cwd/*) f=/${f#"$HOMEDIR"/};; esac
			if grep -qs s3cret "$way$f/canary"; then echo "$f"; break; fi; done; done`
		s.Env = append(s.Env, "HOMEDIR="+home)
		s.Argv = []string{"sh", "-c", script, "sh"}
		for _, name := range slices.Concat(shown, hidden) {
			s.Argv = append(s.Argv, filepath.Join(home, name))
		}
		var want []string
		for _, name := range shown {
			want = append(want, filepath.Join(home, name))
		}
		if got := strings.Fields(output(t, b, s)); !slices.Equal(got, want) {
			t.Errorf("%s:\n%q\nwant\n%q", m, got, want)
		}
	})
}

// TestMemoryOfProcesses has a command open the memory of a process that it started, and of the one that started it: an
// agent's command that can write its agent's memory has it say anything.
func TestMemoryOfProcesses(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *Box) {
		s := spec(t, `P=/proc; sleep 60 & for p in $! $PPID self; do (exec 3<>$P/$p/mem) 2>/dev/null && echo "opened $p"; done
			for f in comm oom_score_adj; do (echo x >$P/$!/$f) 2>/dev/null && echo "wrote $f"; done
			echo out >/dev/stdout; echo err >$P/self/fd/2; kill $! || true`)
		if got := output(t, b, s); got != "out\nerr\n" {
			t.Error(got)
		}
	})
}
