package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/internal/gittest"
)

// partly is a command that changes much and then goes on for a minute.
const partly = "echo two >> a.txt; mkdir d; echo part > d/part.txt; rm gone.txt; chmod 755 b.sh; touch ran.txt; sleep 60"

// partlyChanged are the files that partly changes.
var partlyChanged = []string{"a.txt", "d/part.txt", "gone.txt", "b.sh", "ran.txt"}

// inPlace makes a user with files of every kind who lets pawl work in the user's own tree, as it was before.
func inPlace(t *testing.T) (u *user, before string) {
	u = newUser(t)
	gittest.Write(t, u.dir, map[string]string{"a.txt": "one\n", "gone.txt": "gone\n", "b.sh": "#", "link": "-> a.txt",
		"c.txt": "c\n"})
	u.repository()
	u.write("mine.txt", "untracked\n")
	return u, gittest.Tree(t, u.dir)
}

// working starts a run in place and waits until the command of partly has left its mark.
func (u *user) working(steps ...map[string]any) *process {
	u.t.Helper()
	p := u.start("run", "--plan", u.steps(append(steps, running(partly, false), making())...), "--yes", "--in-place")
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(u.dir, "ran.txt")); err == nil {
			return p
		}
	}
	u.t.Fatal("the command never ran")
	return nil
}

// edit is a step that writes a file.
func edit(id, path, content string) map[string]any {
	return step(id, call("write_file", map[string]any{"path": path, "content": content}))
}

// says fails unless an answer contains every text.
func (u *user) says(a answer, texts ...string) {
	u.t.Helper()
	for _, want := range texts {
		if !strings.Contains(a.out, want) {
			u.t.Errorf("it is not said: %q: %v", want, a)
		}
	}
}

// wentBack checks that the tree is what it was, and that nothing is left of the work.
func (u *user) wentBack(before string) {
	u.t.Helper()
	same(u.t, "the tree", before, gittest.Tree(u.t, u.dir))
	u.state("IDLE")
	if left := gone(u.base()); len(left) > 0 {
		u.t.Errorf("processes are left: %v", left)
	}
	u.must(0, "audit", "verify")
	u.quiet()
}

func TestRollback_AfterAKillInPlace(t *testing.T) {
	t.Parallel()
	u, before := inPlace(t)
	p := u.working(edit("first", "c.txt", "changed\n"))
	p.kill()
	half := gittest.Tree(t, u.dir)
	a := u.must(0, "rollback", "--yes")
	u.says(a, append(partlyChanged, "pawl redo")...)
	if strings.Contains(a.out, "c.txt") || strings.Contains(a.out, "mine.txt") {
		t.Errorf("more is named than the interrupted command could have changed: %v", a)
	}
	u.wentBack(before)
	u.must(0, "redo")
	same(t, "what was brought back", half, gittest.Tree(t, u.dir))
	u.must(3, "redo")
	u.must(0, "undo")
	u.wentBack(before)
}

func TestRollback_WhileACommandRunsInPlace(t *testing.T) {
	t.Parallel()
	u, before := inPlace(t)
	p := u.working()
	u.must(0, "rollback", "--yes")
	a := p.wait()
	if a.code != 12 {
		t.Error(a)
	}
	u.says(a, partlyChanged...)
	u.wentBack(before)
}

// A runner that dies while it stops the command leaves the rollback to whoever comes next.
func TestRollback_OfARunThatIsStoppedTwiceInPlace(t *testing.T) {
	t.Parallel()
	u, before := inPlace(t)
	p := u.working()
	u.must(0, "rollback", "--yes")
	p.kill()
	u.must(0, "rollback", "--yes")
	u.wentBack(before)
}

func TestCancel_InPlaceSaysWhatStays(t *testing.T) {
	t.Parallel()
	for name, dead := range map[string]bool{"while pawl works": false, "after pawl was killed": true} {
		for _, back := range []string{"rollback", "undo"} {
			t.Run(name+", "+back, func(t *testing.T) {
				t.Parallel()
				u, before := inPlace(t)
				p := u.working(edit("first", "c.txt", "changed\n"))
				var a answer
				if dead {
					p.kill()
					a = u.must(0, "cancel")
				} else {
					u.must(0, "cancel")
					a = p.wait()
				}
				u.says(a, append(partlyChanged, "c.txt", "pawl undo", "step run")...)
				u.state("IDLE")
				there := gittest.Tree(t, u.dir)
				u.write("a.txt", "edited afterwards\n")
				yes := []string{back}
				if back == "rollback" {
					u.must(9, back) // nobody can be asked
					yes = append(yes, "--yes")
				}
				if a := u.must(6, yes...); !strings.Contains(a.err+a.out, "a.txt") {
					t.Errorf("the conflict is not named: %v", a)
				}
				u.write("a.txt", "one\ntwo\n")
				u.write("later.txt", "later\n")
				u.must(0, yes...)
				same(t, "the tree", sorted(before+"\n"+`"later.txt" 0644 "later\n"`), gittest.Tree(t, u.dir))
				u.must(3, "undo")
				u.must(0, "redo")
				same(t, "what was brought back", sorted(there+"\n"+`"later.txt" 0644 "later\n"`),
					gittest.Tree(t, u.dir))
				u.must(0, "audit", "verify")
				u.quiet()
			})
		}
	}
}

func TestStop_InPlaceSaysWhatStays(t *testing.T) {
	t.Parallel()
	u, before := inPlace(t)
	p := u.working()
	u.must(0, "stop")
	a := p.wait()
	if a.code != 8 {
		t.Error(a)
	}
	u.says(a, append(partlyChanged, "pawl rollback", "step run")...)
	u.must(0, "rollback", "--yes")
	u.wentBack(before)

	p = u.working()
	p.kill()
	u.says(u.must(0, "stop"), append(partlyChanged, "pawl rollback", "step run")...)
	u.write("later.txt", "later\n")
	u.must(0, "rollback", "--yes")
	u.wentBack(sorted(before + "\n" + `"later.txt" 0644 "later\n"`))
}

func TestCancel_InAWorktreeSaysWhereTheWorkIs(t *testing.T) {
	t.Parallel()
	u, before := inPlace(t)
	p := u.start("run", "--plan", u.steps(edit("first", "c.txt", "changed\n"), running("sleep 60", false), making()),
		"--yes")
	u.doing("run_terminal_cmd")
	u.must(0, "cancel")
	a := p.wait()
	u.says(a, "refs/pawl/chk-", "step run")
	_, ref, _ := strings.Cut(a.out, "refs/pawl/")
	if got := u.git("--git-dir="+u.own("git"), "show", "refs/pawl/"+strings.Fields(ref)[0]+":c.txt"); got != "changed" {
		t.Errorf("kept is %q", got)
	}
	u.wentBack(before)
}

func TestUndoStep_OfABlockedRun(t *testing.T) {
	t.Parallel()
	u, before := inPlace(t)
	text, err := document("Change much", []map[string]any{
		edit("s1", "a.txt", "1\n"), edit("s2", "c.txt", "2\n"), step("s3",
			call("run_terminal_cmd", map[string]any{"command": "echo 3 >> a.txt; mkdir n; echo n > n/n"})),
	}, "test -f wanted.txt")
	if err != nil {
		t.Fatal(err)
	}
	u.must(8, "run", "--plan", u.plan(text), "--yes")
	tree := u.own("worktrees", u.state("BLOCKED").Task.ID)
	start := gittest.Tree(t, tree)
	if a := u.must(6, "undo", "--step", "s1"); !strings.Contains(a.err, "a.txt") || !strings.Contains(a.err, "s1") {
		t.Errorf("the conflict is not named: %v", a)
	}
	u.must(3, "undo", "--step", "s9")
	u.says(u.must(0, "undo", "--step", "s3"), "s3", "pawl redo")
	if got := u.ownText(filepath.Join("worktrees", filepath.Base(tree), "a.txt")); got != "1\n" {
		t.Errorf("a.txt is %q", got)
	}
	u.must(0, "redo")
	same(t, "after the redo", start, gittest.Tree(t, tree))
	u.must(0, "undo", "--step", "s3")
	u.must(0, "undo", "--step", "s1")
	u.state("BLOCKED")
	more, err := document("More", []map[string]any{edit("w", "wanted.txt", "w\n")}, "true")
	if err != nil {
		t.Fatal(err)
	}
	u.must(0, "fix", "--plan", u.plan(more))
	if got := u.git("show", "--format=", "--name-only", "HEAD"); got != "c.txt\nwanted.txt" {
		t.Errorf("landed %q", got)
	}
	if a := u.must(4, "undo", "--step", "s2"); !strings.Contains(a.err, "pawl undo") {
		t.Errorf("%v", a)
	}
	u.must(0, "undo")
	u.wentBack(before)
}

func TestUndoStep_AfterARunInPlace(t *testing.T) {
	t.Parallel()
	u, _ := inPlace(t)
	u.write("c.txt", "edited, not committed\n") // so that the result is no commit
	before := gittest.Tree(t, u.dir)
	u.must(0, "run", "--plan", u.steps(edit("s1", "a.txt", "1\n"), edit("s2", "new/n.txt", "2\n"), making()), "--yes",
		"--in-place")
	done := gittest.Tree(t, u.dir)
	u.write("a.txt", "mine\n")
	u.must(6, "undo", "--step", "s1")
	u.must(0, "undo", "--step", "s2")
	u.write("a.txt", "1\n")
	if _, err := os.Stat(filepath.Join(u.dir, "new")); err == nil {
		t.Error("what the step made is still there")
	}
	u.must(0, "redo")
	same(t, "after the redo", done, gittest.Tree(t, u.dir))
	u.must(0, "undo", "--step", "s1")
	u.must(0, "undo")
	u.wentBack(before)
	u.must(0, "redo")
	u.must(0, "redo")
	same(t, "after both", done, gittest.Tree(t, u.dir))
	u.must(0, "undo")
	u.wentBack(before)
}

// TestKill_ThenRollbackInPlace kills pawl at random moments of a run in place. Whatever the moment, one command brings
// the tree back without anything being resumed.
func TestKill_ThenRollbackInPlace(t *testing.T) {
	t.Parallel()
	seed := *killSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-killseed %d", seed)
	for i := range *kills {
		if *killOnly >= 0 && i != *killOnly {
			continue
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, uint64(2000+i)))
			u, before := inPlace(t)
			plan := u.steps(edit("s1", "a.txt", "1\n"),
				running("echo 2 >> a.txt; sleep 0.1; mkdir d; echo d > d/d; sleep 0.1; rm gone.txt; echo 3 >> c.txt",
					i%2 == 0),
				step("s3", call("apply_patch",
					map[string]any{"patch": "*** Begin Patch\n*** Add File: n/n.txt\n+n\n*** Update File: b.sh\n@@\n-#\n+##\n*** Delete File: link\n*** End Patch\n"})), making())
			p := u.start("run", "--plan", plan, "--yes", "--in-place")
			wait(p, time.Duration(random.Int64N(int64(1500*time.Millisecond))))
			t.Logf("killed: exit status %d", p.kill().code)
			u.bringBack()
			u.wentBack(before)
		})
	}
}

// bringBack gives the one command that gives up what a run has come to.
func (u *user) bringBack() {
	u.t.Helper()
	for range 4 {
		a := u.pawl("status", "--json")
		if a.code == 3 {
			u.must(0, "init")
			return // the kill came before the session
		}
		switch st := u.status(); st.State {
		case "IDLE":
			if st.Last != nil && st.Last.Outcome == "completed" && !st.Last.Undone {
				u.must(0, "undo")
			}
			return
		case "PLANNING", "CONFIRMING":
			u.must(0, "cancel")
		case "ARCHIVING":
			u.must(0, "resume")
		default:
			if a := u.pawl("rollback", "--yes"); a.code != 0 {
				u.t.Fatal(a)
			}
		}
	}
}
