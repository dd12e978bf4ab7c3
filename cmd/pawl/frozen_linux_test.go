package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pawl/driver/export"
	"pawl/machine/board"
	"pawl/store/lockfile"
	"pawl/store/presence"
)

// freeze starts a process that holds a lock and stops it as SIGSTOP does.
func (u *user) freeze(what string) *os.Process {
	u.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		u.t.Fatal(err)
	}
	defer r.Close()
	p, err := os.StartProcess(os.Args[0], []string{os.Args[0]},
		&os.ProcAttr{Env: u.env(asHolder + "=" + what), Files: []*os.File{nil, w, os.Stderr}})
	if err != nil {
		u.t.Fatal(err)
	}
	w.Close()
	u.t.Cleanup(func() { release(p) })
	if line, err := bufio.NewReader(r).ReadString('\n'); line != "held\n" {
		u.t.Fatalf("%q, %v", line, err)
	}
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		u.t.Fatal(err)
	}
	for end := time.Now().Add(patience); lockfile.StateOf(p.Pid) != lockfile.Stopped; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			u.t.Fatal("it does not stop")
		}
	}
	return p
}

// release ends a process that was frozen.
func release(p *os.Process) {
	_ = p.Kill()
	_, _ = p.Wait()
}

// wayOn is what a person is told to do about a process that is stopped.
func wayOn(p *os.Process) string { return fmt.Sprintf("kill -CONT %d", p.Pid) }

// TestFrozenBehindTheProjections: what is acknowledged is not held up by the files that only show it, and the next one
// that writes brings them up to date.
func TestFrozenBehindTheProjections(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	u.must(0, "issue", "add", "first")
	p := u.freeze("flock " + u.own(export.LockFile))
	a := u.must(0, "issue", "add", "second")
	if !strings.Contains(a.out, "ISS-2") || strings.Count(a.err, wayOn(p)) != 1 {
		t.Errorf("beside a frozen process: %v", a)
	}
	if a := u.must(0, "issue", "add", "third", "--json"); strings.Count(a.err, `"warning"`) != 1 ||
		!strings.Contains(a.err, wayOn(p)) {
		t.Errorf("for a program: %v", a)
	}
	if got := u.read(".pawl/state.json"); strings.Contains(got, "second") {
		t.Errorf("written without the lock:\n%s", got)
	}
	if a := u.must(7, "export"); !strings.Contains(a.err, wayOn(p)) {
		t.Errorf("whoever asks for the files: %v", a)
	}
	release(p)
	a = u.must(0, "issue", "add", "fourth")
	if got := u.read(".pawl/state.json"); !strings.Contains(got, "second") || !strings.Contains(got, "fourth") ||
		a.err != "" {
		t.Errorf("afterwards: %v\n%s", a, got)
	}
}

// TestFrozenInTurnToLand: a landing waits audibly for one that is frozen, and gives up with nothing half done. It goes
// on from there.
func TestFrozenInTurnToLand(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	u.must(0, "init")
	p := u.freeze("flock " + u.own(presence.LandingLock))
	before := u.git("rev-parse", "HEAD")
	a := u.must(7, "run", "--plan", u.planFile("p", partPlan(1, "", "", false)), "--yes")
	if strings.Count(a.err, wayOn(p)) < 2 || !strings.Contains(a.err, "pawl resume") {
		t.Errorf("beside a frozen process: %v", a)
	}
	if got := u.git("rev-parse", "HEAD"); got != before || u.git("status", "--porcelain") != "" {
		t.Errorf("something landed: %s", got)
	}
	release(p)
	u.must(0, "resume")
	if log := u.git("log", "-1", "--format=%s"); log != "Add part001" {
		t.Errorf("landed: %s", log)
	}
	u.quiet()
}

// TestFrozenWriterOfTheStore: a command names who keeps the store locked, and has written nothing; workers go on when
// they can.
func TestFrozenWriterOfTheStore(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	u.must(0, "issue", "add", "part 1", "--plan", u.planFile("p1", partPlan(1, "", "", false)))
	p := u.freeze("writer " + u.own("pawl.db"))
	w := u.start("worker", "--yes")
	a := u.must(7, "issue", "add", "second")
	if !strings.Contains(a.err, wayOn(p)) || !strings.Contains(a.err, "nothing was written") || a.out != "" {
		t.Errorf("beside a frozen process: %v", a)
	}
	w.mustSay(wayOn(p))
	release(p)
	if a := w.wait(); a.code != 0 {
		t.Errorf("the worker: %v", a)
	}
	if all := u.issues(); len(all) != 1 || all[0].Status != board.IssueCompleted {
		t.Errorf("the issues: %+v", all)
	}
	u.must(0, "issue", "add", "second")
}

// TestFrozenOwner: a process that has the work and is stopped is named, with what to do about it.
func TestFrozenOwner(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	u.must(0, "init")
	p := u.freeze("flock " + u.own("owner.lock"))
	plan := u.planFile("p", partPlan(1, "", "", false))
	if a := u.must(7, "run", "--plan", plan, "--yes"); !strings.Contains(a.err, wayOn(p)) {
		t.Errorf("a run beside it: %v", a)
	}
	if a := u.must(0, "status"); !strings.Contains(a.out, wayOn(p)) {
		t.Errorf("the status: %v", a)
	}
	if st := u.status(); st.Owner == nil || st.Owner.PID != p.Pid || st.Owner.State != string(lockfile.Stopped) {
		t.Errorf("the owner: %+v", st.Owner)
	}
	release(p)
	u.must(0, "run", "--plan", plan, "--yes")
}

// TestFrozenInATree: the lock of a tree that nobody gives up is named, nothing is changed meanwhile, and the work goes
// on after it.
func TestFrozenInATree(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	u.must(0, "run", "--plan", u.planFile("p", partPlan(1, "", "", false)), "--yes", "--in-place")
	locks, err := filepath.Glob(u.own("git", "index", "????????????????.flock"))
	if err != nil || len(locks) != 1 {
		t.Fatalf("%v, %v", locks, err)
	}
	before := u.git("rev-parse", "HEAD")
	p := u.freeze("flock " + locks[0])
	a := u.pawl("run", "--plan", u.planFile("q", partPlan(2, "", "", false)), "--yes", "--in-place")
	if a.code == 0 || !strings.Contains(a.out+a.err, wayOn(p)) {
		t.Errorf("beside a frozen process: %v", a)
	}
	if got := u.git("rev-parse", "HEAD"); got != before || u.git("status", "--porcelain") != "" {
		t.Errorf("something was undone: %s", got)
	}
	release(p)
	u.must(0, "fix")
}
