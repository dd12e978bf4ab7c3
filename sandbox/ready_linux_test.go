package sandbox

import (
	"bufio"
	"context"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// groupsLeft lists the groups of this process that a Box could have made.
func groupsLeft(b *Box) []string {
	var out []string
	for _, dir := range b.launchers.groups() {
		found, _ := filepath.Glob(filepath.Join(dir, groupPrefix+strconv.Itoa(os.Getpid())+"-*"))
		out = append(out, found...)
	}
	return out
}

// standings lists where the threads of this process stand in the hierarchies, each place once.
func standings(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/self/task/*/cgroup")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var out []string
	for _, f := range files {
		// A thread that is gone by now stands nowhere.
		if b, err := os.ReadFile(f); err == nil && len(b) > 0 && !slices.Contains(out, string(b)) {
			out = append(out, string(b))
		}
	}
	return out
}

// standing is the path in the hierarchy of a controller, given what /proc/self/cgroup says.
func standing(said, controller string) string {
	path := ""
	for line := range strings.Lines(said) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) == 3 && slices.Contains(strings.Split(f[1], ","), controller) {
			return f[2]
		}
		if len(f) == 3 && f[1] == "" {
			path = f[2]
		}
	}
	return path
}

func TestACommandIsInItsGroupAndPawlIsNot(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		if len(b.launchers.groups()) == 0 {
			t.Skip("no cgroup can be made here")
		}
		// A namespace of cgroups begins where its first process stood, so one that was moved later sees a path.
		out := output(t, b, spec(t, "cat /proc/self/cgroup"))
		for _, c := range b.launchers.groups().controllers() {
			p := standing(out, c)
			if b.mechanism.bare() { // it sees the machine's own names
				p = strings.TrimRight(filepath.Dir(p)+"/", "/") + "/"
				p = strings.TrimPrefix(p, strings.TrimRight(standing(ownGroups(t), c), "/"))
			}
			if p != "/" {
				t.Errorf("%s: the command was not started in its group but moved to %s", c, p)
			}
		}
		b.Close() // a launcher that is being started has a thread in its group
		if at := standings(t); len(at) != 1 {
			t.Errorf("threads of pawl stand at\n%s", strings.Join(at, "\n"))
		}
	})
}

// ownGroups is where this process stands in the hierarchies.
func ownGroups(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// unified finds a hierarchy of the newer kind in which groups can be made.
func unified() string {
	info, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(info)) {
		left, right, _ := strings.Cut(line, " - ")
		if f := strings.Fields(left); len(f) > 4 && strings.HasPrefix(right, "cgroup2 ") &&
			unix.Access(f[4]+"/cgroup.procs", unix.W_OK) == nil {
			return f[4]
		}
	}
	return ""
}

func TestAUnifiedGroupIsForkedInto(t *testing.T) {
	root := unified()
	if root == "" {
		t.Skip("no unified hierarchy can be written to here")
	}
	mechanisms(t, func(t *testing.T, m Mechanism) {
		b := box(t, Options{Mechanism: m})
		// No controller is needed to stand in a group.
		b.launchers.findOnce.Do(func() { b.launchers.found = groups{"any": root} })
		s := spec(t, "grep ^0: /proc/self/cgroup")
		res := run(t, b, s)
		at := "0::/\n"
		if m.bare() {
			at = string(res.Output)
			if !strings.HasPrefix(at, "0::/"+groupPrefix) {
				at = "in no group"
			}
		}
		if string(res.Output) != at || !slices.Contains(res.Walls, "cgroup") {
			t.Errorf("%s: %s %q", m, res.Output, res.Walls)
		}
		if left := groupsLeft(b); len(left) > 0 {
			t.Error(left)
		}
	})
}

func TestAGroupThatCannotBeForkedIntoStopsNothing(t *testing.T) {
	b := box(t, Options{Mechanism: MechanismNamespaces})
	b.launchers.findOnce.Do(func() { b.launchers.found = groups{"any": t.TempDir()} })
	if res := run(t, b, spec(t, "true")); res.Exit != 0 || slices.Contains(res.Walls, "cgroup") {
		t.Errorf("%+v", res)
	}
}

func TestASpareLauncherServesOneCommand(t *testing.T) {
	b := box(t, Options{Ready: true})
	if waiting(b) {
		t.Error("a launcher waits before the first command")
	}
	left := "/tmp/pawl-test-" + rand.Text()
	t.Cleanup(func() { _ = os.Remove(left) })
	s := spec(t, `echo x >"$1"; cat "$1"; exit 3`)
	s.Argv, s.Env = append(s.Argv, "sh", left), append(s.Env, "HUSH=before")
	if res := run(t, b, s); res.Walls[0] != string(MechanismNamespaces) || res.Exit != 3 {
		t.Errorf("%+v", res)
	}
	first := b.launchers.spare
	s = spec(t, `cat "$1" 2>/dev/null; echo "$HUSH"`)
	s.Argv = append(s.Argv, "sh", left)
	if out := output(t, b, s); out != "\n" {
		t.Errorf("something is left of the command before: %q", out)
	}
	second := b.launchers.spare
	if first == nil || second == nil || first == second {
		t.Errorf("%p and %p", first, second)
	}
	for name, change := range map[string]func(*Spec){
		"network": func(s *Spec) { s.Network = true }, "stdin": func(s *Spec) { s.Stdin = []byte("x") },
		"memory": func(s *Spec) { s.MaxMemory = 1 << 30 },
	} {
		s := spec(t, "true")
		change(&s)
		if run(t, b, s); b.launchers.spare != second {
			t.Errorf("a spare launcher was used for a command with its own %s", name)
		}
	}
	b.Close()
	run(t, b, s)
	if waiting(b) || len(groupsLeft(b)) > 0 || len(launcherPIDs(t, os.Getpid())) > 0 {
		t.Error("after Close: ", waiting(b), groupsLeft(b), launcherPIDs(t, os.Getpid()))
	}
}

// spareUp waits for a spare launcher of this process and returns its process id.
func spareUp(t *testing.T) int {
	t.Helper()
	for end := time.Now().Add(slack); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if up := launcherPIDs(t, os.Getpid()); len(up) > 0 {
			pid, _ := strconv.Atoi(up[0])
			return pid
		}
	}
	t.Fatal("no launcher waits")
	return 0
}

func TestASpareLauncherMayBeGone(t *testing.T) {
	b := box(t, Options{Ready: true})
	s := spec(t, "echo x >>runs; cat runs")
	output(t, b, s)
	if err := unix.Kill(spareUp(t), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	if out := output(t, b, s); out != "x\nx\n" {
		t.Error(out)
	}
}

func TestASpareLauncherSeesNewMounts(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	b := box(t, Options{Ready: true})
	s := spec(t, "cat in/f")
	in := filepath.Join(s.Dir, "in")
	write(t, filepath.Join(in, "f"), "covered\n")
	output(t, b, s)
	spareUp(t)
	if err := unix.Mount("tmpfs", in, "tmpfs", 0, ""); err != nil {
		t.Skip(err)
	}
	defer func() { _ = unix.Unmount(in, unix.MNT_DETACH) }()
	write(t, filepath.Join(in, "f"), "mounted\n")
	if out := output(t, b, s); out != "mounted\n" {
		t.Error(out)
	}
}

// launchers lists the processes that a process has started as launchers.
func launcherPIDs(t *testing.T, pid int) []string {
	t.Helper()
	var out []string
	files, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	for _, f := range files {
		b, _ := os.ReadFile(f)
		for _, c := range strings.Fields(string(b)) {
			if line, _ := os.ReadFile("/proc/" + c + "/cmdline"); strings.HasPrefix(string(line), launcherName+"\x00") {
				out = append(out, c)
			}
		}
	}
	return out
}

// idler plays a pawl that has a spare launcher when it is killed.
func idler() {
	b, err := New(Options{Ready: true})
	if err != nil {
		os.Exit(1)
	}
	if _, err := b.Run(context.Background(),
		Spec{Argv: []string{"true"}, Dir: "/", Env: Environ(os.Environ(), nil)}); err != nil {
		os.Exit(1)
	}
	_, _ = os.Stdout.WriteString("up\n")
	time.Sleep(time.Hour)
}

func TestAKilledPawlTakesItsSpareLauncherAlong(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), role+"=idler")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(line, err)
	}
	var spares []string
	for end := time.Now().Add(slack); len(spares) == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		spares = launcherPIDs(t, cmd.Process.Pid)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if len(spares) != 1 {
		t.Fatalf("%d launchers wait", len(spares))
	}
	for end := time.Now().Add(slack); ; time.Sleep(time.Millisecond) {
		line, _ := os.ReadFile("/proc/" + spares[0] + "/cmdline")
		if len(line) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%q is left", line)
		}
	}
	// The next pawl removes the groups that the killed one could not, once the kernel has let go of them.
	b := box(t, Options{})
	for end := time.Now().Add(slack); ; time.Sleep(time.Millisecond) {
		b.launchers.groups().sweep()
		var left []string
		for _, dir := range b.launchers.groups() {
			found, _ := filepath.Glob(filepath.Join(dir, groupPrefix+strconv.Itoa(cmd.Process.Pid)+"-*"))
			left = append(left, found...)
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatal(left)
		}
	}
}
