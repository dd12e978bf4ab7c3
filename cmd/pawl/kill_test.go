package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/internal/gittest"
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/kernel/view/viewtest"
)

var (
	kills    = flag.Int("kills", 4, "how often the tests that kill pawl kill it")
	killSeed = flag.Uint64("killseed", 0, "seed of the kill test's moments; 0 takes one from the clock")
	wayKills = flag.Int("waykills", 1, "how often the tests that kill pawl kill each way back")
	killOnly = flag.Int("killonly", -1, "number of the one kill to make, with the seed of a run that failed")
)

// life is what is the same about every life of one run, however often it was interrupted.
type life struct {
	Tree    string // of the commit that is checked out
	Commits string
	Status  view.Status
	Task    view.Task
	Ran     string // what the command that may run once left behind
	Files   string // the user's folder
	Dirty   string // what git says of it
}

// lived returns the life of a user's finished run, without the names and times that differ from run to run.
func (u *user) lived() life {
	u.t.Helper()
	st, task := u.status(), u.task("T-001")
	st.ID, st.Session, st.UpdatedAt, st.Checkpoint = "", "", time.Time{}, ""
	if st.Last != nil {
		st.Last.Commit, st.Last.EndedAt = "", time.Time{}
	}
	kept := view.Task{Steps: task.Steps, Fixes: task.Fixes, Repairs: task.Repairs, Lease: task.Lease, Land: task.Land,
		Reason: task.Reason, Cleanup: task.Cleanup}
	kept.State, kept.Label, kept.Title = task.State, task.Label, task.Title
	if kept.Land != nil {
		kept.Land.Commit = ""
	}
	if task.Verified != nil {
		kept.Verified = &view.Evidence{Passed: task.Verified.Passed, Tree: task.Verified.Tree,
			TreeAfter: task.Verified.TreeAfter}
	}
	return life{
		Tree: u.git("rev-parse", "HEAD^{tree}"), Commits: u.git("rev-list", "--count", "HEAD"), Status: st, Task: kept,
		Ran:   u.read("ran.txt"),
		Files: gittest.Tree(u.t, u.dir), Dirty: u.git("status", "--porcelain"),
	}
}

// killPlan is the plan of the renaming with two commands: one that may run only once, and one that may be repeated.
func killPlan(u *user) string {
	return u.renaming(right,
		step("s3", call("run_terminal_cmd", map[string]any{"command": "sleep 0.2; echo ran >> ran.txt; sleep 0.2"})),
		step("s4", call("run_terminal_cmd", map[string]any{"command": "gofmt -l . && sleep 0.2", "idempotent": true})),
	)
}

// TestKill kills pawl at random moments of a run and of what resumes it. Whatever the moment, the run comes to the same
// end, and nothing is done twice that must not be.
func TestKill(t *testing.T) {
	t.Parallel()
	seed := *killSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-killseed %d", seed)
	scenes := []scene{undisturbed(t), undisturbed(t, "--in-place")}
	for i := range *kills {
		if *killOnly >= 0 && i != *killOnly {
			continue
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			s := scenes[0]
			if i%4 == 1 {
				s = scenes[1]
			}
			s.play(t, rand.New(rand.NewPCG(seed, uint64(i))), i%3 == 0)
		})
	}
}

// undisturbed runs the plan without a kill, to learn the end that every other run has to come to.
func undisturbed(t *testing.T, flags ...string) scene {
	t.Helper()
	u := newUser(t).module().repository()
	s := scene{template: t.TempDir()}
	s.run = append([]string{"run", "--plan", killPlan(u), "--yes", "--json"}, flags...)
	if err := os.CopyFS(s.template, os.DirFS(u.dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(s.template, ".pawl")); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	a := u.must(0, s.run...)
	s.time, s.lines, s.want = time.Since(start), strings.Count(a.out, "\n"), u.lived()
	if s.want.Ran != "ran\n" || s.want.Task.State != "done" || s.want.Status.Last == nil ||
		s.want.Status.Last.Outcome != "completed" {
		t.Fatalf("the undisturbed run: %s", pretty(s.want))
	}
	t.Logf("the undisturbed run %v took %v, said %d lines and made %s commits", flags, s.time.Round(time.Millisecond),
		s.lines, s.want.Commits)
	return s
}

// scene is what every kill begins with, and the end that it has to come to.
type scene struct {
	run      []string // the command that is killed
	template string   // the user's folder before it
	time     time.Duration
	lines    int
	want     life
}

// play kills one run, and with twice also what resumes it, lets it come to its end and judges it.
func (s scene) play(t *testing.T, random *rand.Rand, twice bool) {
	u := newUser(t)
	if err := os.CopyFS(u.dir, os.DirFS(s.template)); err != nil {
		t.Fatal(err)
	}
	u.module()
	promised := s.interrupt(u, random, s.run...)
	if twice {
		s.interrupt(u, random, "resume", "--json")
	}
	s.settle(u, promised)
	got := u.lived()
	same(t, "the folder", s.want.Files, got.Files)
	got.Files = s.want.Files
	if pretty(got) != pretty(s.want) {
		got.Files, s.want.Files = "", ""
		t.Errorf("another end: %s\nwant %s", pretty(got), pretty(s.want))
	}
	u.once()
	u.must(0, "audit", "verify")
	u.quiet()
	u.git("fsck", "--no-dangling", "--no-progress")
	if front, err := viewtest.Parse([]byte(u.read(".pawl/active_context.md"))); err != nil || front.State != "IDLE" ||
		view.Edited([]byte(u.read(".pawl/active_context.md"))) {
		t.Errorf("active_context.md: %+v %v", front, err)
	}
	if t.Failed() {
		t.Logf("the log:\n%s", u.pawl("audit", "log").out)
	}
}

// interrupt kills a command: either at a moment of the time that an undisturbed run takes, or just after something that
// it said. It returns whether pawl had acknowledged the run by then.
func (s scene) interrupt(u *user, random *rand.Rand, args ...string) (promised bool) {
	p := u.start(args...)
	if random.IntN(2) == 0 {
		wait(p, time.Duration(random.Int64N(int64(s.time))))
	} else {
		n := random.IntN(s.lines)
		p.until(func(out string) bool { return strings.Count(out, "\n") >= n })
		// What pawl does itself takes a few milliseconds, so that short waits hit it best.
		wait(p, time.Duration(random.Float64()*random.Float64()*float64(20*time.Millisecond)))
	}
	a := p.kill()
	u.t.Logf("%s: %d lines said before the kill, exit status %d", args[0], strings.Count(a.out, "\n"), a.code)
	if left := gone(u.base()); len(left) > 0 {
		u.t.Errorf("processes outlive pawl: %v", left)
	}
	return strings.Contains(a.out, "RUN_CREATED")
}

// wait waits for a time or for the end of the process.
func wait(p *process, d time.Duration) {
	select {
	case <-p.done:
	case <-time.After(d):
	}
}

// settle goes on until the run has come to its end: it resumes, answers the one question that may be asked as a person
// who looks would, and begins again only what was never acknowledged.
func (s scene) settle(u *user, promised bool) {
	u.t.Helper()
	for range 5 {
		a := u.pawl("resume", "--json")
		switch a.code {
		case 0:
			if u.state("IDLE").Last != nil {
				return
			}
		case 3: // there is no session
		case 8:
			a = u.pawl("fix", "--json", "--answer", u.whatHappened())
			if a.code == 0 {
				return
			}
			u.t.Fatalf("fix: %v", a)
		default:
			u.t.Fatalf("resume: %v", a)
		}
		if promised {
			u.t.Fatalf("pawl acknowledged the run and forgot it: %v", a)
		}
		u.must(0, s.run...)
	}
	u.t.Fatal("it never ends")
}

// whatHappened answers the question whether the command that may run once did run.
func (u *user) whatHappened() string {
	u.t.Helper()
	st := u.state("BLOCKED")
	if st.Blocked == nil || st.Blocked.Kind != "question" {
		u.t.Fatalf("blocked: %+v", st.Blocked)
	}
	if u.ownText(filepath.Join("worktrees", st.Blocked.Task, "ran.txt")) != "" || u.read("ran.txt") != "" {
		return "done"
	}
	return "retry"
}

// once fails when an effect that may happen only once was begun again without knowing that it had not happened.
func (u *user) once() {
	u.t.Helper()
	repeatable, begun, absent := map[string]bool{}, map[string]int{}, map[string]int{}
	for _, r := range u.log() {
		switch r.Event {
		case "EFFECT_REQUESTED":
			repeatable[r.Subject] = r.Payload.Idempotent
		case "EFFECT_STARTED":
			begun[r.Subject]++
		case "EFFECT_RECOVERED":
			if r.Payload.Answer == string(effect.DoneNo) {
				absent[r.Subject]++
			}
		}
	}
	for id, n := range begun {
		if !repeatable[id] && n > 1+absent[id] {
			u.t.Errorf("%s may happen once, was begun %d times and was found not to have happened %d times", id, n,
				absent[id])
		}
	}
}

func pretty(v any) string {
	raw, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// wayBack is a command that brings the user's tree back to what it was, and what comes before it.
type wayBack struct {
	name    string
	git     bool
	args    []string
	prepare func(u *user)
	// done says whether the way back has been gone.
	done func(u *user) bool
}

var waysBack = []wayBack{
	{"rollback in place", true, []string{"rollback", "--yes"}, func(u *user) { u.changing(8, "false", "--in-place") },
		rolledBack},
	{"rollback without git", false, []string{"rollback", "--yes"}, func(u *user) { u.changing(8, "false") },
		rolledBack},
	{"rollback of a worktree", true, []string{"rollback", "--yes"}, func(u *user) { u.changing(8, "false") },
		rolledBack},
	{"undo", true, []string{"undo"}, func(u *user) { u.changing(0, "true") }, undone},
	{"undo in place", true, []string{"undo"}, func(u *user) { u.changing(0, "true", "--in-place") }, undone},
	{"undo of a step in place", true, []string{"undo", "--step", "s1"}, func(u *user) {
		u.changing(0, "true", "--in-place")
		u.must(0, "undo", "--step", "s2")
	}, leftOut},
	{"undo without git", false, []string{"undo"}, func(u *user) { u.changing(0, "true") }, undone},
}

func rolledBack(u *user) bool { return u.status().Run == nil }
func undone(u *user) bool {
	st := u.status()
	return st.Last != nil && st.Last.Undone
}
func leftOut(u *user) bool { return u.task("T-001").Steps[0].Status == "skipped" }

// changing runs a plan that adds, changes, deletes and moves files.
func (u *user) changing(code int, check string, flags ...string) {
	u.t.Helper()
	patch := "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** Add File: deep/er/new.txt\n+new\n*** Delete File: gone.txt\n*** Update File: old name.txt\n*** Move to: new name.txt\n@@\n-x\n+y\n*** End Patch\n"
	text, err := document("Change much", []map[string]any{
		step("s1", call("apply_patch", map[string]any{"patch": patch})), step("s2",
			call("run_terminal_cmd", map[string]any{"command": "chmod 755 b.sh; rm link; mkdir d; ln -s a.txt d/l; seq 2000 > big.txt"})),
	}, check)
	if err != nil {
		u.t.Fatal(err)
	}
	u.must(code, append([]string{"run", "--plan", u.plan(text), "--yes"}, flags...)...)
}

// TestKill_WaysBack kills pawl while it rolls back and undoes. The tree comes back byte for byte all the same.
func TestKill_WaysBack(t *testing.T) {
	t.Parallel()
	seed := *killSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-killseed %d", seed)
	for n, w := range waysBack {
		for i := range *wayKills {
			t.Run(fmt.Sprintf("%s/%d", w.name, i), func(t *testing.T) {
				t.Parallel()
				w.play(t, rand.New(rand.NewPCG(seed, uint64(1000*n+i))))
			})
		}
	}
}

func (w wayBack) play(t *testing.T, random *rand.Rand) {
	u := newUser(t)
	gittest.Write(t, u.dir, map[string]string{"a.txt": "one\n", "gone.txt": "gone\n", "old name.txt": "x\n",
		"b.sh": "#", "link": "-> a.txt"})
	if w.git {
		u.repository()
	}
	u.write("mine.txt", "untracked\n")
	before := gittest.Tree(t, u.dir)
	w.prepare(u)
	u.write("later.txt", "made afterwards\n")
	want := sorted(before + "\n" + `"later.txt" 0644 "made afterwards\n"`)
	p := u.start(w.args...)
	wait(p, time.Duration(random.Int64N(int64(400*time.Millisecond))))
	a := p.kill()
	t.Logf("exit status %d, said %q", a.code, a.out)
	for range 3 {
		if b := u.pawl("resume"); b.code != 0 && b.code != 8 && b.code != 12 {
			t.Fatalf("resume: %v", b)
		}
		if w.done(u) {
			break
		}
		u.must(0, w.args...)
	}
	u.state("IDLE")
	same(t, "the tree", want, gittest.Tree(t, u.dir))
	u.must(0, "audit", "verify")
	u.quiet()
	if w.git {
		if dirty := u.git("status", "--porcelain", "--untracked-files=no"); dirty != "" {
			t.Errorf("git status:\n%s", dirty)
		}
	}
}
