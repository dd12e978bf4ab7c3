package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pawl/machine/board"
)

var (
	boardIssues = flag.Int("issues", 12, "how many issues the test of the board works on")
	boardKills  = flag.Bool("issuekills", false,
		"whether one worker is killed every five seconds in the long test of the board")
)

// backlogged is a user with a small Go module as a repository, whose files the plans of issues change.
func backlogged(t *testing.T) *user {
	t.Helper()
	u := newUser(t)
	u.write("go.mod", "module example.org/parts\n\ngo 1.24\n")
	u.write("parts.go", "// Package parts has a list that grows.\npackage parts\n\n// All are the parts.\nvar All []string\n")
	u.write("LIST.md", "# Parts\n\n"+strings.Repeat("A line that nobody changes.\n", 5)+"\n")
	u.write(".gitignore", ".pawl/\n")
	return u.repository()
}

// formatted is a command that fails as long as a file is not formatted, which pawl's own agent knows how to mend.
const formatted = `test -z "$(gofmt -l .)" || { echo "run gofmt"; exit 1; }`

// partPlan is a plan that adds a part in a file of its own and, where a shared file is named, a line to that. Whoever
// may be killed in the middle has a plan that adds the line only once: where a command must not be repeated and nobody
// can say whether it happened, pawl asks a person.
func partPlan(n int, shared string, command string, again bool) string {
	name, gap := fmt.Sprintf("part%03d", n), " "
	if command == formatted {
		gap = "    "
	}
	steps := []map[string]any{step("s1", call("write_file", map[string]any{
		"path": name + ".go", "content": fmt.Sprintf("package parts\n\n// %s is a part.\nconst %s%s= %d\n",
			exported(name), exported(name), gap, n),
	}))}
	if shared != "" {
		add := fmt.Sprintf("printf '%%s\\n' %s >> %s", name, shared)
		if again {
			add = fmt.Sprintf("grep -qx %s %s || %s", name, shared, add)
		}
		s := step("s2", call("run_terminal_cmd", map[string]any{"command": add, "idempotent": again}))
		s["expected_artifacts"] = []map[string]any{{"type": "file", "value": shared}}
		steps = append(steps, s)
	}
	if command != "" {
		steps = append(steps, step("s3", call("run_terminal_cmd",
			map[string]any{"command": command, "idempotent": true})))
	}
	text, err := document("Add "+name, steps, "go vet ./...")
	if err != nil {
		panic(err)
	}
	return text
}

func exported(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// issueLine is an issue as `pawl issue list --json` prints it.
type issueLine struct {
	ID, Label, Title string
	Status           board.IssueStatus
	Standing         string
	DependsOn        []string `json:"depends_on"`
	Retries          int
	Branch, Landed   string
}

func (u *user) issues() []issueLine {
	u.t.Helper()
	var out []issueLine
	for line := range strings.Lines(u.must(0, "issue", "list", "--all", "--json").out) {
		var l issueLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			u.t.Fatalf("%v: %s", err, line)
		}
		out = append(out, l)
	}
	return out
}

// planFile writes a plan beside the folder and returns its path.
func (u *user) planFile(name, text string) string {
	u.t.Helper()
	path := filepath.Join(filepath.Dir(u.dir), name+".yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		u.t.Fatal(err)
	}
	return path
}

func TestIssuesLandInParallel(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	for n := range 3 {
		after := []string{"issue", "add", fmt.Sprint("part ", n), "--plan",
			u.planFile(fmt.Sprint("p", n), partPlan(n, "", "", false))}
		if n == 2 {
			after = append(after, "--after", "ISS-1,2")
		}
		u.must(0, after...)
	}
	u.must(0, "issue", "plan", "--all", "--yes")
	if got := u.must(0, "issue", "queue").out; !strings.Contains(got, "waits for ISS-1 planned, ISS-2 planned") {
		t.Errorf("the queue does not say why ISS-3 waits:\n%s", got)
	}
	a := u.must(0, "issue", "execute", "--all", "--workers", "2")
	for _, i := range u.issues() {
		if i.Status != board.IssueCompleted {
			t.Errorf("%s is %s, %s: %v", i.Label, i.Status, i.Standing, u.pawl("status", "--issue", i.Label, "--json"))
		}
	}
	log := u.git("log", "--format=%s")
	if !strings.HasPrefix(log, "Add part002\n") || strings.Count(log, "\n") != 3 {
		t.Errorf("landed:\n%s\n%v", log, a)
	}
	if got := u.must(0, "issue", "complete").out; !strings.Contains(got, "| completed | 3 |") ||
		!strings.Contains(u.read(".pawl/final-report.md"), "100.0") {
		t.Errorf("the report:\n%s", got)
	}
	if _, err := board.ParseState([]byte(u.read(".pawl/state.json"))); err != nil {
		t.Errorf("state.json: %v", err)
	}
}

// fate is how an issue of the test ends, and what its plan has to get over.
type fate int

// The fates.
const (
	smooth   fate = iota
	stumbles      // fails, is repaired, and then passes
	fails         // fails for good
)

// scenario is a backlog whose end is known beforehand.
type scenario struct {
	fates []fate
	after [][]int
	kills bool // whether workers are killed
}

// dealt deals fates: a tenth stumbles, a twentieth fails, at least one of each. What depends on a failing one never
// begins, so nothing does; some depend on one or two earlier ones.
func dealt(n int, r *rand.Rand) scenario {
	s := scenario{fates: make([]fate, n), after: make([][]int, n)}
	order := r.Perm(n)
	for k, at := range order {
		switch {
		case k < max(1, n/10):
			s.fates[at] = stumbles
		case k < max(1, n/10)+max(1, n/20):
			s.fates[at] = fails
		}
	}
	for i := 1; i < n; i++ {
		for range r.IntN(3) {
			if on := r.IntN(i); s.fates[on] != fails && len(s.after[i]) < 2 && !slices.Contains(s.after[i], on) {
				s.after[i] = append(s.after[i], on)
			}
		}
	}
	return s
}

// add registers the backlog, with its plans.
func (s scenario) add(u *user) {
	for n, f := range s.fates {
		shared, command := "", ""
		if n%4 == 3 {
			shared = "LIST.md"
		}
		switch f {
		case stumbles:
			command = formatted
		case fails:
			command = "exit 3"
		}
		args := []string{"issue", "add", fmt.Sprint("part ", n), "--priority", fmt.Sprint(1 + n%5), "--plan",
			u.planFile(fmt.Sprint("part", n), partPlan(n, shared, command, s.kills))}
		for _, on := range s.after[n] {
			args = append(args, "--after", fmt.Sprintf("ISS-%d", on+1))
		}
		u.must(0, args...)
	}
}

// check compares the end with what was dealt.
func (s scenario) check(u *user) {
	u.t.Helper()
	counts := map[board.IssueStatus]int{}
	list := u.issues()
	if len(list) != len(s.fates) {
		u.t.Errorf("%d issues of %d", len(list), len(s.fates))
	}
	for _, i := range list {
		var n int
		if _, err := fmt.Sscanf(i.Label, "ISS-%d", &n); err != nil {
			u.t.Fatal(err)
		}
		want := board.IssueCompleted
		if s.fates[n-1] == fails {
			want = board.IssueFailed
		}
		if i.Status != want {
			u.t.Errorf("%s is %s and %q, want %s (fate %d): %v", i.Label, i.Status, i.Standing, want, s.fates[n-1],
				u.pawl("status", "--issue", i.Label))
		}
		counts[i.Status]++
	}
	u.landed(counts[board.IssueCompleted])
	// Each part is there once: nothing that landed was lost by what landed behind it, and nothing was done twice.
	shared := strings.Split(u.read("LIST.md"), "\n")
	for n, f := range s.fates {
		name, lines := fmt.Sprintf("part%03d", n), 0
		for _, l := range shared {
			if l == name {
				lines++
			}
		}
		want := 0
		if f != fails && n%4 == 3 {
			want = 1
		}
		if lines != want || (u.read(name+".go") != "") != (f != fails) {
			u.t.Errorf("%s (fate %d): %d lines in LIST.md, want %d; its file has %q", name, f, lines, want,
				u.read(name+".go"))
		}
	}
	if left := u.git("status", "--porcelain"); left != "" {
		u.t.Errorf("left behind: %s", left)
	}
	log := strings.Fields(u.git("log", "--format=%f"))
	for n := range s.after {
		for _, on := range s.after[n] {
			before, after := slices.Index(log, fmt.Sprintf("Add-part%03d", on)), slices.Index(log,
				fmt.Sprintf("Add-part%03d", n))
			if s.fates[n] != fails && (before < 0 || after < 0 || before < after) {
				u.t.Errorf("part %d (%d) is not behind part %d (%d), which it waits for:\n%v", n, after, on, before,
					log)
			}
		}
	}
	if state, err := board.ParseState([]byte(u.read(".pawl/state.json"))); err != nil {
		u.t.Error(err)
	} else {
		for _, i := range list {
			if got := state.Issues[i.Label].Status; got != i.Status {
				u.t.Errorf("%s is %q in state.json, %q in the store", i.Label, got, i.Status)
			}
		}
	}
	a := u.must(1, "issue", "complete", "--json")
	var report struct {
		Issues   int                       `json:"issues"`
		ByStatus map[board.IssueStatus]int `json:"by_status"`
		Success  float64                   `json:"success_rate"`
	}
	if err := json.Unmarshal([]byte(a.out), &report); err != nil {
		u.t.Fatalf("%v: %s", err, a.out)
	}
	done, failed := counts[board.IssueCompleted], counts[board.IssueFailed]
	if report.Issues != len(s.fates) || report.ByStatus[board.IssueCompleted] != done ||
		report.ByStatus[board.IssueFailed] != failed ||
		report.Success != float64(done*1000/(done+failed))/10 {
		u.t.Errorf("the report says %+v, the store %v", report, counts)
	}
	u.must(0, "audit", "verify")
}

// landed fails unless there are so many commits behind the first one, and each passes its checks when it is checked out
// alone.
func (u *user) landed(n int) {
	u.t.Helper()
	commits := strings.Fields(u.git("log", "--format=%H", "--grep=Pawl-Task"))
	if all := u.git("rev-list", "--count", "HEAD"); len(commits) != n || all != fmt.Sprint(n+1) {
		u.t.Errorf("%d commits (%s with the first and those of nobody) for %d completed issues:\n%s", len(commits), all,
			n, u.git("log", "--oneline"))
	}
	tree := filepath.Join(u.t.TempDir(), "alone")
	u.git("worktree", "add", "-q", "--detach", tree)
	defer u.git("worktree", "remove", "--force", tree)
	for _, c := range commits {
		u.git("-C", tree, "checkout", "-q", c)
		u.run("go", "-C", tree, "vet", "./...")
	}
}

// watched reads state.json every ten milliseconds until stop is called, and fails when it is not valid, is gone after
// it was there, or was never there.
func (u *user) watched() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		seen := 0
		for tick := time.NewTicker(10 * time.Millisecond); ; {
			select {
			case <-done:
				if u.t.Logf("state.json was read %d times", seen); seen == 0 {
					u.t.Error("state.json was never there")
				}
				return
			case <-tick.C:
			}
			raw, err := os.ReadFile(filepath.Join(u.dir, ".pawl", "state.json"))
			if os.IsNotExist(err) && seen == 0 {
				continue
			}
			seen++
			if err == nil {
				_, err = board.ParseState(raw)
			}
			if err != nil {
				u.t.Errorf("state.json: %v\n%s", err, raw)
				return
			}
		}
	}()
	// A test that gives up before it calls stop must not be written to afterwards.
	stop = sync.OnceFunc(func() { close(done); <-ended })
	u.t.Cleanup(stop)
	return stop
}

// TestBoard has four workers carry out a backlog of which some fail and are repaired, and some fail for good (Show 3).
func TestBoard(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	s := dealt(*boardIssues, rand.New(rand.NewPCG(4, uint64(*boardIssues))))
	stop := u.watched()
	s.add(u)
	a := u.must(1, "worker", "--workers", "4", "--yes")
	stop()
	t.Log(a.out)
	s.check(u)
	if locks, _ := filepath.Glob(u.own("workers", "*")); len(locks) > 0 {
		t.Errorf("left behind: %v", locks)
	}
}

// TestBoardWithKilledWorkers has two processes work on a backlog while one after the other is killed. Whatever the
// moments, the backlog comes to the end that was dealt.
func TestBoardWithKilledWorkers(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	n, every := 6, 700*time.Millisecond
	if *boardKills {
		n, every = *boardIssues, 5*time.Second
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	s := dealt(n, rand.New(rand.NewPCG(4, uint64(n))))
	s.kills = true
	stop := u.watched()
	s.add(u)
	working := []*process{u.start("worker", "--workers", "2", "--yes"), u.start("worker", "--workers", "2", "--yes")}
	r := rand.New(rand.NewPCG(5, seed))
	kills := 0
	for at := 0; ; at = 1 - at {
		wait := time.After(every/2 + time.Duration(r.Int64N(int64(every))))
		select {
		case <-working[0].done:
		case <-working[1].done:
		case <-wait:
			if kills++; kills <= 8 || *boardKills {
				working[at].kill()
				working[at] = u.start("worker", "--workers", "2", "--yes")
				continue
			}
			<-working[at].done
		}
		break
	}
	for _, p := range working {
		if a := p.wait(); a.code != 0 && a.code != 1 { // nobody killed these, and 1 says that an issue failed
			t.Errorf("a worker: %v", a)
		}
	}
	stop()
	// Those who are left may have ended before the last one that was killed was known to be gone.
	u.pawl("worker", "--yes")
	if t.Logf("%d kills", kills); kills == 0 {
		t.Error("the work was over before anybody was killed")
	}
	s.check(u)
}

// issue reads one issue.
func (u *user) issue(name string) issueLine {
	u.t.Helper()
	return decode[issueLine](u, "issue", "show", name)
}

// issueIs fails unless an issue has a status and a standing.
func (u *user) issueIs(name string, status board.IssueStatus, standing string) {
	u.t.Helper()
	if i := u.issue(name); i.Status != status || i.Standing != standing {
		u.t.Fatalf("%s is %s and %q, want %s and %q", name, i.Status, i.Standing, status, standing)
	}
}

// TestAPersonDecidesAboutIssues goes the ways on which a person has a word: approving, refusing, choosing an earlier
// plan, trying again, planning anew, leaving behind.
func TestAPersonDecidesAboutIssues(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	u.must(0, "issue", "add", "approved", "--plan", u.planFile("a", partPlan(1, "", "", false)))
	u.must(0, "issue", "plan", "1")
	u.issueIs("1", board.IssuePlanned, "asks")
	u.must(9, "approve", "--issue", "1")
	u.must(0, "plan", "show", "--issue", "iss-1")
	u.must(0, "approve", "--issue", "1", "--yes")
	u.issueIs("1", board.IssueCompleted, "")
	if got := u.git("log", "--format=%s", "-1"); got != "Add part001" {
		t.Fatalf("landed: %s", got)
	}

	u.must(0, "issue", "add", "refused", "--plan", u.planFile("b", partPlan(2, "", "", false)))
	u.must(0, "issue", "plan", "2")
	u.must(0, "deny", "--issue", "2", "-m", "not like this")
	u.issueIs("2", board.IssueRegistered, "paused")
	u.must(0, "issue", "edit", "2", "--paused=false", "--plan", u.planFile("c", partPlan(3, "", "", false)))
	u.must(0, "issue", "plan", "2")
	u.must(0, "issue", "bind", "2", "1")
	u.must(0, "issue", "plan", "2", "--yes")
	if u.issue("2").Standing == "asks" { // the plan was asked for by the person who chose it
		u.must(0, "approve", "--issue", "2", "--yes")
	} else {
		u.must(0, "issue", "execute", "2")
	}
	u.issueIs("2", board.IssueCompleted, "")
	if u.read("part002.go") == "" || u.read("part003.go") != "" {
		t.Errorf("it was not the first plan that was carried out: %s", u.git("log", "--stat"))
	}

	u.must(0, "issue", "add", "fails", "--plan", u.planFile("d", partPlan(4, "", "exit 3", false)))
	u.must(0, "issue", "add", "behind it", "--after", "3", "--plan", u.planFile("e", partPlan(5, "", "", false)))
	u.must(1, "issue", "execute", "3", "--yes")
	u.issueIs("3", board.IssueFailed, "")
	u.must(0, "issue", "plan", "4", "--yes")
	u.issueIs("4", board.IssuePlanned, "blocked")
	u.must(0, "issue", "retry", "3", "-m", "try once more")
	u.issueIs("3", board.IssuePlanned, "ready")
	u.must(1, "worker")
	u.issueIs("3", board.IssueFailed, "")
	u.must(0, "issue", "retry", "3", "--replan")
	u.issueIs("3", board.IssueRegistered, "ready")
	u.must(0, "issue", "edit", "3", "--plan", u.planFile("f", partPlan(6, "", "", false)))
	u.must(0, "issue", "plan", "3", "--yes")
	u.must(0, "issue", "skip", "3", "--reason", "no longer wanted", "--release")
	u.issueIs("3", board.IssueFailed, "")
	u.issueIs("4", board.IssuePlanned, "ready")
	u.must(0, "issue", "execute", "4")
	u.issueIs("4", board.IssueCompleted, "")
	for _, args := range [][]string{{"issue", "history", "3"}, {"issue", "history"}, {"issue", "dag", "--mermaid"},
		{"issue", "dag", "4", "--dot"}, {"issue", "show", "3"}, {"issue", "list"}, {"issue", "queue"}} {
		for _, lang := range []string{"en", "zh"} {
			if slip := slipIn(u.must(0, append(args, "--lang", lang)...).out); slip != "" {
				t.Errorf("%v: %s", args, slip)
			}
		}
	}
	u.must(1, "issue", "complete", "--lang", "zh")
	if trees, _ := filepath.Glob(u.own("worktrees", "*")); len(trees) > 0 {
		t.Errorf("left behind: %v", trees)
	}
	u.must(0, "audit", "verify")
}

// TestReportAgain has the disk refuse the report of a batch whose end is in the store already.
func TestReportAgain(t *testing.T) {
	t.Parallel()
	u := small(t)
	u.must(0, "init", "--bare")
	u.must(0, "issue", "add", "one")
	u.write(".pawl/final-report.md/in-the-way", "")
	if a := u.pawl("issue", "complete"); a.code == 0 {
		t.Fatalf("the report was written over a folder: %v", a)
	}
	u.must(0, "audit", "verify")
	if err := os.RemoveAll(filepath.Join(u.dir, ".pawl/final-report.md")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		u.must(0, "issue", "complete")
		if got := u.read(".pawl/final-report.md"); !strings.Contains(got, "| registered | 1 |") ||
			!strings.Contains(got, "| Status | completed |") {
			t.Errorf("the report:\n%s", got)
		}
	}
	if n := strings.Count(u.must(0, "issue", "history").out, "COMPLETE"); n != 1 {
		t.Errorf("the batch ended %d times", n)
	}
}

// TestAnIssueWaitsForItsBranch has changes of the user's own in the way of a landing: the issue is not done, what
// depends on it does not begin, and both come through once the changes are put away.
func TestAnIssueWaitsForItsBranch(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	for n := range 2 {
		args := []string{"issue", "add", fmt.Sprint("part ", n), "--plan",
			u.planFile(fmt.Sprint("p", n), partPlan(n, "", "", false))}
		if n > 0 {
			args = append(args, "--after", "ISS-1")
		}
		u.must(0, args...)
	}
	u.must(0, "issue", "plan", "--all", "--yes")
	u.write("LIST.md", "mine")
	u.write("part000.go", "package parts\n")
	u.git("add", "part000.go")
	if a := u.must(1, "issue", "execute", "--all"); !strings.Contains(a.out, "uncommitted changes") ||
		!strings.Contains(a.out, "part000.go") || strings.Contains(a.out, "LIST.md") {
		t.Errorf("the worker does not say what is in the way: %v", a)
	}
	if got := u.git("log", "--format=%s"); got != "base" || u.issue("2").Status != board.IssuePlanned {
		t.Errorf("landed %q, the second issue is %s", got, u.issue("2").Status)
	}
	if got := u.must(0, "status", "--issue", "1").out; !strings.Contains(got, "part000.go") ||
		!strings.Contains(got, "pawl fix") {
		t.Errorf("the status does not say what to do:\n%s", got)
	}
	if got := u.must(0, "issue", "show", "1").out; !strings.Contains(got, "part000.go") {
		t.Errorf("the issue does not say what is in the way:\n%s", got)
	}
	u.git("stash", "-q")
	u.must(0, "fix", "--issue", "1")
	u.must(0, "issue", "execute", "--all")
	u.issueIs("1", board.IssueCompleted, "")
	u.issueIs("2", board.IssueCompleted, "")
	if got := u.git("log", "--format=%s"); got != "Add part001\nAdd part000\nbase" {
		t.Errorf("landed:\n%s", got)
	}
}
