package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"pawl/internal/gittest"
	"pawl/kernel/view"
	"pawl/kernel/view/viewtest"
)

// small makes a user with a small repository.
func small(t *testing.T) *user {
	u := newUser(t)
	u.write("a.txt", "one\n")
	return u.repository()
}

// steps writes a plan whose check is the existence of a file.
func (u *user) steps(steps ...map[string]any) string {
	u.t.Helper()
	text, err := document("Make a file", steps, "test -f made.txt")
	if err != nil {
		u.t.Fatal(err)
	}
	return u.plan(text)
}

// making is the step that makes the file.
func making() map[string]any {
	return step("make", call("write_file", map[string]any{"path": "made.txt", "content": "made\n"}))
}

// running is a step that runs a command.
func running(command string, idempotent bool) map[string]any {
	return step("run", call("run_terminal_cmd", map[string]any{"command": command, "idempotent": idempotent}))
}

// slowAtFirst is a command that takes a minute when it runs first, and no time when it runs again.
const slowAtFirst = "echo ran >> ran.txt; test $(wc -l < ran.txt) -gt 1 || sleep 60"

// started waits until the command of slowAtFirst has left its mark in the task's own tree.
func (u *user) started() {
	u.t.Helper()
	mark := u.own("worktrees", "*", "ran.txt")
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if found, _ := filepath.Glob(mark); len(found) > 0 {
			if raw, err := os.ReadFile(found[0]); err == nil && len(raw) > 0 {
				return
			}
		}
	}
	u.t.Fatal("the command never ran")
}

// finished checks that the run came to its end on the user's branch.
func (u *user) finished() {
	u.t.Helper()
	if st := u.state("IDLE"); st.Last == nil || st.Last.Landing != "landed" {
		u.t.Errorf("the result was not landed: %+v", st.Last)
	}
	if n := u.git("rev-list", "--count", "HEAD"); n != "2" || u.read("made.txt") != "made\n" {
		u.t.Errorf("%s commits, made.txt is %q", n, u.read("made.txt"))
	}
	if s := u.task("T-001").State; s != "done" {
		u.t.Errorf("the task is %s", s)
	}
	u.must(0, "audit", "verify")
	u.once()
	u.quiet()
}

// untouched checks that nothing of the user's changed.
func (u *user) untouched(before string) {
	u.t.Helper()
	same(u.t, "the user's tree", before, gittest.Tree(u.t, u.dir))
	if n := u.git("rev-list", "--count", "HEAD"); n != "1" {
		u.t.Errorf("%s commits, want the first alone", n)
	}
}

func TestTwoRuns_SecondNamesTheFirst(t *testing.T) {
	t.Parallel()
	u := small(t)
	plan := u.steps(making(), running("sleep 1.5", false))
	first := u.start("run", "--plan", plan, "--yes")
	u.doing("run_terminal_cmd")
	for _, args := range [][]string{{"run", "--plan", plan, "--yes"}, {"run", "something else"},
		{"run", "--plan", plan, "--yes", "--json"}} {
		a := u.must(7, args...)
		if pid := fmt.Sprint(first.cmd.Process.Pid); !strings.Contains(a.err, pid) {
			t.Errorf("the second run does not name process %s: %v", pid, a)
		}
	}
	if a := first.wait(); a.code != 0 {
		t.Fatal(a)
	}
	u.finished()
}

func TestTwoRuns_AtOnce(t *testing.T) {
	t.Parallel()
	for range 3 {
		u := small(t)
		plan := u.steps(making(), running("sleep 1", false))
		both := []*process{u.start("run", "--plan", plan, "--yes"), u.start("run", "--plan", plan, "--yes")}
		answers := []answer{both[0].wait(), both[1].wait()}
		won := slices.IndexFunc(answers, func(a answer) bool { return a.code == 0 })
		if won < 0 || answers[1-won].code != 7 {
			t.Fatalf("want one to work and one to exit with status 7: %v", answers)
		}
		if pid := fmt.Sprint(both[won].cmd.Process.Pid); !strings.Contains(answers[1-won].err, pid) {
			t.Errorf("the loser does not name process %s: %v", pid, answers[1-won])
		}
		u.finished()
	}
}

// frontKeys are the keys of the front matter that docs/spec/session.md#s4 names, and the digest that tells of edits.
var frontKeys = []string{"auto_fix_attempts", "context_summary", "last_checkpoint", "last_session_end", "last_updated",
	"projection", "session_id", "stash_applied", "task_status"}

// front reads the front matter of the projection; ok is false while there is none.
func (u *user) front() (viewtest.Front, bool) {
	raw, err := os.ReadFile(filepath.Join(u.dir, ".pawl", view.ContextFile))
	if os.IsNotExist(err) {
		return viewtest.Front{}, false
	}
	parts := strings.SplitN(string(raw), "---\n", 3)
	var keys map[string]any
	var f viewtest.Front
	if err == nil && len(parts) == 3 {
		err = yaml.Unmarshal([]byte(parts[1]), &keys)
	}
	if err == nil {
		f, err = viewtest.Parse(raw)
	}
	if got := slices.Sorted(maps.Keys(keys)); err != nil || !slices.Equal(got, frontKeys) || view.Edited(raw) {
		u.t.Errorf("the projection is not whole: %v, keys %v\n%s", err, got, raw)
	}
	return f, true
}

// lag is how long the projection may be behind the store: far beyond the time of writing a file, because others may be
// using the machine, too.
const lag = 20 * time.Second

// watch reads the projection all the time until stop is closed. It returns the states that it saw, in their order, and
// fails where the projection is behind the store for longer than lag.
func (u *user) watch(stop <-chan struct{}) <-chan []string {
	out := make(chan []string, 1)
	go func() {
		var seen []string
		var behind time.Time
		for n := 0; ; n++ {
			if f, ok := u.front(); ok && (len(seen) == 0 || seen[len(seen)-1] != f.State) {
				seen = append(seen, f.State)
			}
			if n%20 == 0 {
				behind = u.compare(behind)
			}
			select {
			case <-stop:
				out <- seen
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	return out
}

// compare compares the projection with the store and returns since when they differ, the zero time when they do not.
func (u *user) compare(since time.Time) time.Time {
	a := u.start("status", "--json").wait()
	f, ok := u.front()
	b := u.start("status", "--json").wait()
	if !ok || a.code != 0 || a.out != b.out || strings.Contains(a.out, `"state":"`+f.State+`"`) {
		return time.Time{}
	}
	if since.IsZero() {
		return time.Now()
	}
	if time.Since(since) > lag {
		u.t.Errorf("the projection says %s for longer than %v while the store says %s", f.State, lag, a.out)
	}
	return since
}

// within reports whether some are among all, in the same order.
func within(some, all []string) bool {
	for _, s := range all {
		if len(some) > 0 && some[0] == s {
			some = some[1:]
		}
	}
	return len(some) == 0
}

// unformatted is a plan whose first attempt is not formatted.
const unformatted = `
goal: Count
steps:
  - step_id: s1
    title: Count
    intent: Somebody has to
    tool_calls:
      - name: write_file
        args_hint: {path: count.go, content: "package count\n\n// Count counts.\nfunc Count() int {\n  return 1\n}\n"}
verification: {mode: test, commands: [], required: true, stop_on_fail: true}
risk_level: low
`

func TestActiveContext(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.write("go.mod", "module example.org/count\n\ngo 1.21\n")
	u.module().repository()
	stop := make(chan struct{})
	watched := u.watch(stop)
	a := u.pawl("run", "--plan", u.plan(unformatted), "--yes")
	close(stop)
	seen := <-watched
	if a.code != 0 {
		t.Fatal(a)
	}
	all := u.states()
	if got := strings.Join(all, " "); got != "IDLE PLANNING CONFIRMING EXECUTING AUTO_FIX EXECUTING ARCHIVING IDLE" {
		t.Errorf("the session went through %s", got)
	}
	if !within(seen, all) || !within([]string{"EXECUTING", "AUTO_FIX", "EXECUTING"}, seen) {
		t.Errorf("the projection went through %v, the session through %v", seen, all)
	}
	f, _ := u.front()
	if st := u.state("IDLE"); f.State != "IDLE" || f.Attempts != st.Attempts || f.Checkpoint != st.Checkpoint ||
		f.SessionID == "" || f.SessionID != st.ID {
		t.Errorf("the projection says %+v, the store %+v", f, st)
	}
	u.quiet()
	u.edited()
}

// edited edits the projection by hand and checks that nothing comes of it but a warning.
func (u *user) edited() {
	u.t.Helper()
	name := ".pawl/" + view.ContextFile
	before, records := u.status(), len(u.log())
	good := u.read(name)
	u.write(name, strings.Replace(good, "task_status: IDLE", "task_status: EXECUTING", 1))
	a := u.must(0, "status")
	if !strings.Contains(a.err, view.ContextFile) {
		u.t.Errorf("the edit is not warned of: %v", a)
	}
	if now := u.status(); pretty(now) != pretty(before) || len(u.log()) != records {
		u.t.Errorf("the edit changed the session: %s\nwas %s", pretty(now), pretty(before))
	}
	u.must(0, "task", "create", "something")
	if f, ok := u.front(); !ok || f.State != "IDLE" {
		u.t.Errorf("the edit was not overwritten: %+v", f)
	}
	if a := u.must(0, "status"); strings.Contains(a.err, view.ContextFile) {
		u.t.Errorf("still warned of: %v", a)
	}
	if err := os.Remove(filepath.Join(u.dir, name)); err != nil {
		u.t.Fatal(err)
	}
	if a := u.must(0, "--lang", "zh-CN", "status"); !strings.Contains(a.err, view.ContextFile) {
		u.t.Errorf("that it is gone is not warned of: %v", a)
	}
	// After a crash before it was written, resume writes it.
	u.write(name, strings.Replace(good, "task_status: IDLE", "task_status: ARCHIVING", 1))
	u.must(0, "resume")
	if f, ok := u.front(); !ok || f.State != "IDLE" {
		u.t.Errorf("resume left the projection behind: %+v", f)
	}
}

func TestCancel_WhileACommandRuns(t *testing.T) {
	t.Parallel()
	u := small(t)
	before := gittest.Tree(t, u.dir)
	p := u.start("run", "--plan", u.steps(making(), running("sleep 61 & sleep 60", false)), "--yes")
	u.doing("run_terminal_cmd")
	start := time.Now()
	u.must(0, "cancel", "-m", "not needed")
	if a := p.wait(); a.code != 12 {
		t.Fatal(a)
	}
	if d := time.Since(start); d > 30*time.Second {
		t.Errorf("the cancel took %v", d)
	}
	task := u.task("T-001")
	if task.State != "canceled" || task.Cleanup == nil || !slices.Contains(task.Cleanup.Performed, "worktree") ||
		len(task.Cleanup.Failed) > 0 || task.Reason != "not needed" {
		t.Errorf("%s", pretty(task))
	}
	if st := u.state("IDLE"); st.Last != nil && st.Last.Outcome != "canceled" {
		t.Errorf("%+v", st.Last)
	}
	u.untouched(before)
	u.must(0, "audit", "verify")
	u.quiet()
}

func TestPause_AndResume(t *testing.T) {
	t.Parallel()
	u := small(t)
	before := gittest.Tree(t, u.dir)
	plan := u.steps(running("sleep 1; echo ran >> ran.txt", false), making())
	p := u.start("run", "--plan", plan, "--yes")
	u.doing("run_terminal_cmd")
	u.must(0, "pause")
	if a := p.wait(); a.code != 0 || !strings.Contains(a.out, "pawl resume") {
		t.Errorf("a paused run ends well and says how to go on: %v", a)
	}
	if st := u.state("EXECUTING"); !st.Paused || st.Owner != nil || st.Doing != nil && st.Doing.State == "running" {
		t.Errorf("%s", pretty(st))
	}
	if left := gone(u.base()); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	u.must(7, "run", "--plan", plan, "--yes")
	u.untouched(before)
	u.must(0, "resume")
	u.finished()
	if got := u.read("ran.txt"); got != "ran\n" {
		t.Errorf("the command ran %q", got)
	}
	u.must(0, "resume") // nothing is left to resume, which is no mistake
}

func TestStop_ThenFix(t *testing.T) {
	t.Parallel()
	u := small(t)
	before := gittest.Tree(t, u.dir)
	p := u.start("run", "--plan", u.steps(running(slowAtFirst, false), making()), "--yes")
	u.started()
	u.must(0, "stop", "-m", "wait")
	if a := p.wait(); a.code != 8 {
		t.Fatal(a)
	}
	if st := u.state("BLOCKED"); st.Blocked == nil || st.Blocked.Kind != "stopped" || st.Blocked.Effect == "" {
		t.Errorf("%+v", st.Blocked)
	}
	if left := gone(u.base()); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	u.untouched(before)
	if a := u.must(8, "fix"); !strings.Contains(a.err+a.out, "--answer") {
		t.Errorf("the question is not put: %v", a)
	}
	u.state("BLOCKED")
	u.must(0, "fix", "--answer", "retry", "-m", "go on")
	u.finished()
	if got := u.read("ran.txt"); got != "ran\nran\n" {
		t.Errorf("the command ran %q", got)
	}
}

func TestSkip_KeepsTheWork(t *testing.T) {
	t.Parallel()
	u := small(t)
	before := gittest.Tree(t, u.dir)
	text, err := document("Cannot be done", []map[string]any{making()}, "false")
	if err != nil {
		t.Fatal(err)
	}
	if a := u.must(8, "run", "--plan", u.plan(text), "--yes"); !strings.Contains(a.out, "pawl skip") {
		t.Errorf("%v", a)
	}
	if st := u.state("BLOCKED"); st.Attempts != 0 || st.Blocked == nil || st.Blocked.Kind != "no_repair" {
		t.Errorf("auto_fix_attempts = %d, blocked = %+v", st.Attempts, st.Blocked)
	}
	u.must(0, "skip", "-m", "later")
	u.state("IDLE")
	u.untouched(before)
	u.quiet()
	kept := false
	for ref := range strings.SplitSeq(u.git("--git-dir="+u.own("git"), "for-each-ref", "--format=%(refname)", "refs/pawl/chk-*"), "\n") {
		if ref != "" && strings.Contains(u.git("--git-dir="+u.own("git"), "ls-tree", "--name-only", ref), "made.txt") {
			kept = true
		}
	}
	if !kept {
		t.Error("the unfinished work is in no checkpoint")
	}
	u.must(0, "run", "--plan", u.steps(making()), "--yes")
}

func TestInterrupt_ThenResume(t *testing.T) {
	t.Parallel()
	for name, idempotent := range map[string]bool{"a command that may be repeated": true,
		"a command that may run once": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := small(t)
			before := gittest.Tree(t, u.dir)
			p := u.start("run", "--plan", u.steps(running(slowAtFirst, idempotent), making()), "--yes")
			u.started()
			if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			if a := p.wait(); a.code != 130 || !strings.Contains(a.out, "pawl resume") {
				t.Errorf("want exit status 130 and the way on: %v", a)
			}
			if left := gone(u.base()); len(left) > 0 {
				t.Errorf("processes are left: %v", left)
			}
			u.untouched(before)
			if !idempotent {
				a := u.must(8, "resume")
				if !strings.Contains(a.out, "--answer") {
					t.Errorf("the question is not put: %v", a)
				}
				u.must(0, "fix", "--answer", "retry")
			} else {
				u.must(0, "resume")
			}
			u.finished()
		})
	}
}

func TestApprove_WithoutATerminal(t *testing.T) {
	t.Parallel()
	u := small(t)
	before := gittest.Tree(t, u.dir)
	plan := u.steps(making())
	a := u.must(9, "run", "--plan", plan)
	st := u.state("CONFIRMING")
	if st.Approval == nil || !strings.Contains(a.out+a.err, st.Approval.Hash[:12]) {
		t.Fatalf("the question has no hash: %+v\n%v", st.Approval, a)
	}
	old := st.Approval.Hash
	u.must(9, "approve")
	u.must(9, "resume")
	u.must(9, "approve", old) // a hash alone is no word of a person
	u.must(6, "approve", "0123456789abcdef", "--yes")
	u.must(6, "approve", old[:7], "--yes") // too short to be bound to anything
	// What the plan file says by now is of no matter: what is approved is what was read and shown.
	if err := os.WriteFile(plan, []byte("goal: something else\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	prd := u.must(0, "plan", "show", "--prd").out
	edited := strings.Replace(prd, "Step make", "Step make it", 1)
	if edited == prd {
		t.Fatalf("the document does not show the step:\n%s", prd)
	}
	file := filepath.Join(filepath.Dir(u.dir), "plan.md")
	if err := os.WriteFile(file, []byte(edited), 0o644); err != nil {
		t.Fatal(err)
	}
	u.must(0, "plan", "edit", "--from", file)
	if a := u.must(6, "approve", old, "--yes"); !strings.Contains(a.err, "is not that of what waits") {
		t.Errorf("%v", a)
	}
	st = u.state("CONFIRMING")
	if st.Approval == nil || st.Approval.Hash == old {
		t.Fatalf("the edit did not change the hash: %+v", st.Approval)
	}
	u.untouched(before)
	u.must(0, "approve", st.Approval.Hash[:12], "--yes")
	u.finished()
	if got := u.task("T-001").Steps[0].Title; got != "Step make it" {
		t.Errorf("the step that was carried out is %q", got)
	}
}

func TestDeny_ChangesNothing(t *testing.T) {
	t.Parallel()
	u := small(t)
	before := gittest.Tree(t, u.dir)
	u.must(9, "run", "--plan", u.steps(making()))
	u.must(0, "deny", "-m", "no")
	u.state("IDLE")
	u.untouched(before)
	u.quiet()
	u.must(4, "approve", "--yes")
}

func TestRollback_OfAStoppedCommandInPlace(t *testing.T) {
	t.Parallel()
	for name, idempotent := range map[string]bool{"a command that may be repeated": true,
		"a command that may run once": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := small(t)
			u.write("mine.txt", "untracked\n")
			before := gittest.Tree(t, u.dir)
			p := u.start("run", "--plan", u.steps(running("echo two >> a.txt; mkdir d; echo part > d/part.txt; touch ran.txt; sleep 60", idempotent), making()), "--yes", "--in-place")
			u.doing("run_terminal_cmd")
			for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
				if _, err := os.Stat(filepath.Join(u.dir, "ran.txt")); err == nil {
					break
				}
			}
			u.must(0, "stop")
			if a := p.wait(); a.code != 8 {
				t.Fatal(a)
			}
			u.write("later.txt", "made after the stop\n")
			u.must(0, "rollback", "--yes")
			same(t, "the tree", sorted(before+"\n"+`"later.txt" 0644 "made after the stop\n"`), gittest.Tree(t, u.dir))
			u.state("IDLE")
			u.must(0, "audit", "verify")
			u.quiet()
		})
	}
}
