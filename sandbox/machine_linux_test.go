package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"pawl"
	"pawl/sandbox/seccomp"
)

// The machines that people have, as filters and limits make them: what they refuse, a process that is started on them
// cannot do.
const (
	forbidden = "forbidden" // no user namespace can be made: the sysctl, or the limit of a namespace around
	// unshare, clone with namespaces, mount and pidfd_getfd are refused, as by the default filter
	docker    = "docker"
	unmounted = "apparmor" // namespaces can be made, and nothing can be mounted in them
	unlocked  = "landlock" // as docker, and without Landlock
)

// refusing is a filter that answers calls with an error.
func refusing(errno unix.Errno, calls ...uint32) []unix.SockFilter {
	p := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}}
	for _, nr := range calls {
		p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: nr, Jf: 1},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)})
	}
	return append(p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
}

// refusingNamespaces answers clone when it asks for one.
func refusingNamespaces() []unix.SockFilter {
	const flags = unix.CLONE_NEWNS | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	return []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, {Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K,
			K: unix.SYS_CLONE, Jf: 3},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 16}, {Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K,
			K: flags, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
}

var mounting = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT,
	unix.SYS_MOUNT_SETATTR, unix.SYS_FSOPEN,
}

// machine plays the process that makes a machine poorer, and goes on as a user of it.
func machine() {
	runtime.LockOSThread()
	var filters [][]unix.SockFilter
	kind := os.Getenv("MACHINE")
	switch kind {
	case forbidden:
		// The limit is that of the namespace, which must be one that was made for this.
		if own, err := os.Readlink("/proc/self/ns/user"); err != nil || own == os.Getenv("MACHINE_OUTSIDE") ||
			os.Getenv("MACHINE_OUTSIDE") == "" {
			fmt.Println("this is the machine's own user namespace", err)
			os.Exit(1)
		}
		if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	case unmounted:
		filters = append(filters, refusing(unix.EPERM, mounting...))
	case docker, unlocked:
		filters = append(filters, refusing(unix.EPERM, append(mounting, unix.SYS_UNSHARE, unix.SYS_SETNS,
			unix.SYS_PIDFD_GETFD)...), refusingNamespaces(), refusing(unix.ENOSYS, unix.SYS_CLONE3))
	}
	if kind == unlocked {
		filters = append(filters, refusing(unix.ENOSYS, unix.SYS_LANDLOCK_CREATE_RULESET))
	}
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	for _, f := range filters {
		if err == nil {
			err = seccomp.Install(f)
		}
	}
	if err == nil {
		err = os.Setenv(role, "tenant")
	}
	if err == nil {
		err = syscall.Exec(os.Getenv("MACHINE_PROGRAM"), os.Args, os.Environ())
	}
	fmt.Println(err)
	os.Exit(1)
}

// tenant plays a pawl on a poorer machine: it runs commands, and tells what held them and what came of it.
func tenant() {
	dir, err := os.MkdirTemp("", "pawl-machine-")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	defer os.RemoveAll(dir)
	b, err := New(Options{Mechanism: Mechanism(os.Getenv("MECHANISM"))})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	s := Spec{Dir: dir, Writable: []string{dir}, Env: Environ(os.Environ(), nil),
		Argv: []string{"sh", "-c", `echo mine >made; cat made; echo x 2>/dev/null >"$1" && echo WORKED; (setsid sleep "$2" &) ; true`, "sh", os.Getenv("CANARY"), os.Getenv("SLEEP")}}
	res, err := b.Run(context.Background(), s)
	var own *pawl.Error
	if errors.As(err, &own) {
		fmt.Println(own.Key, own.Args)
	}
	fmt.Printf("code %s\nwalls %s\n%s", pawl.CodeOf(err), strings.Join(res.Walls, " "), res.Output)
	if err != nil {
		return
	}
	exe, _ := os.Executable()
	s.Argv, s.Readable = []string{exe}, []string{exe}
	s.Env = append(s.Env, role+"=servers", "FOREIGN="+os.Getenv("FOREIGN"), "FOREIGN_UNIX="+os.Getenv("FOREIGN_UNIX"))
	res, err = b.Run(context.Background(), s)
	fmt.Printf("%v %d\n%s", err, res.Exit, res.Output)
}

// on starts the test binary on a poorer machine, as an ordinary user where asked, and returns what it printed.
func on(t *testing.T, kind string, ordinary bool, env ...string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pawl-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	exe := filepath.Join(dir, "pawl.test")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	outer, err := os.Readlink("/proc/self/ns/user")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{os.Chmod(dir, 0o755), copied(self, exe), os.Chmod(exe, 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(exe)
	cmd.Dir = "/"
	cmd.Env = append([]string{"PATH=/usr/bin:/bin", "HOME=/nonexistent", role + "=machine", "MACHINE=" + kind,
		"MACHINE_PROGRAM=" + exe, "MACHINE_OUTSIDE=" + outer}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	uid := os.Geteuid()
	if ordinary && uid == 0 {
		uid = 65534
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	if kind == forbidden {
		// Who is root of a namespace may forbid further ones within it.
		cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWUSER
		cmd.SysProcAttr.Credential = nil
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		if uid != os.Geteuid() {
			cmd.SysProcAttr.Credential = &syscall.Credential{NoSetGroups: true}
		}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func copied(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// On each machine without namespaces a command works behind the floor, whoever runs it, and the same is refused.
func TestCommandsWorkWithoutNamespaces(t *testing.T) {
	for _, kind := range []string{forbidden, docker, unmounted} {
		for _, ordinary := range []bool{false, true} {
			t.Run(fmt.Sprint(kind, " ordinary ", ordinary), func(t *testing.T) {
				canary := write(t, filepath.Join(outside(t), "canary"), "mine")
				sleep := mark(t)
				out := on(t, kind, ordinary, "CANARY="+canary, "SLEEP="+sleep, "FOREIGN="+echo(t, "foreign"),
					"FOREIGN_UNIX=@pawl-test-nobody")
				// A cgroup can be made by some users and not by others.
				out = strings.Replace(out, "landlock seccomp cgroup\n", "landlock seccomp\n", 1)
				want := "code \nwalls landlock seccomp\nmine\n<nil> 0\n" +
					"tcp4 127.0.0.1 ok\ntcp wildcard ok\ntcp6 loopback ok\nunix ok\nabstract ok\nunix in the tree ok\nforeign refused\nforeign unix refused\n"
				if out != want {
					t.Errorf("%s", out)
				}
				if left := marked(sleep); len(left) > 0 {
					t.Error(left)
				}
				if data, _ := os.ReadFile(canary); !bytes.Equal(data, []byte("mine")) {
					t.Errorf("%q", data)
				}
			})
		}
	}
}

// Without Landlock as well nothing runs, until somebody says that the machine is the wall.
func TestWithoutAFloorNothingRunsButInAnOuterWall(t *testing.T) {
	for _, ordinary := range []bool{false, true} {
		sleep := mark(t)
		env := []string{"CANARY=/nonexistent/canary", "SLEEP=" + sleep, "FOREIGN=" + echo(t, "foreign"),
			"FOREIGN_UNIX=@pawl-test-nobody"}
		if out := on(t, unlocked, ordinary, env...); !strings.HasPrefix(out, "sandbox.walls_seccomp [") ||
			!strings.HasSuffix(out, "]\ncode sandbox_unavailable\nwalls \n") {
			t.Errorf("ordinary %v: %s", ordinary, out)
		}
		out := on(t, unlocked, ordinary, append(env, "MECHANISM=outer")...)
		if !strings.HasPrefix(out, "code \nwalls outer seccomp") || !strings.Contains(out, "\nmine\n") ||
			!strings.Contains(out, "foreign refused") {
			t.Errorf("ordinary %v: %s", ordinary, out)
		}
		if left := marked(sleep); len(left) > 0 {
			t.Error(left)
		}
	}
}

func TestWeakerPointsAreNamed(t *testing.T) {
	for walls, want := range map[string]string{
		"":                                   "",
		"namespaces landlock seccomp cgroup": "",
		"bwrap seccomp":                      "limits",
		"landlock seccomp cgroup":            "processes metadata shared_memory inside servers tuning place",
		"outer landlock seccomp":             "processes metadata shared_memory inside servers tuning place limits",
		"outer seccomp cgroup":               "files processes metadata shared_memory inside servers tuning place",
		"outer":                              "files network processes metadata shared_memory inside servers tuning place limits",
	} {
		if got := strings.Join(Weaker(strings.Fields(walls)), " "); got != want {
			t.Errorf("%s: %s", walls, got)
		}
	}
}
