package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// watching is a user with an empty home who calls the demo in a folder of their own, and Go's compiled standard library
// where pawl keeps it. Places is all that the demo must not touch.
func watching(t *testing.T) (u *user, places func() string) {
	t.Helper()
	if _, err := warmCache(); err != nil {
		t.Fatal(err)
	}
	u = newUser(t)
	u.temp = filepath.Join(filepath.Dir(u.home), "tmp")
	if err := os.Mkdir(u.temp, 0o755); err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(filepath.Dir(u.home), "cache")
	if err := linkAll(filepath.Join(warmFolder, "home", ".cache"), cache); err != nil {
		t.Fatal(err)
	}
	u.vars = []string{"PAWL_MAX_FIXES=1", "XDG_CACHE_HOME=" + cache, "XDG_STATE_HOME=" + filepath.Join(u.home, "state")}
	return u, func() string {
		return u.run("find", u.home, u.temp, u.dir, cache, "-mindepth", "1",
			"-not", "-name", "*.db-shm", "-printf", "%p %s %T@\\n")
	}
}

// untouched fails where something outside of the demo's folder is another than before.
func untouched(t *testing.T, before, now string) {
	t.Helper()
	was := strings.Split(before, "\n")
	changed := slices.DeleteFunc(strings.Split(now, "\n"), func(l string) bool { return slices.Contains(was, l) })
	if before != now {
		t.Errorf("the demo left its folder, in %d places: %q", len(changed), changed[:min(len(changed), 5)])
	}
}

// inRepo is the same user in the repository of a demo.
func (u *user) inRepo(dir string) *user {
	v := *u
	v.dir, v.home, v.vars = filepath.Join(dir, "greeting"), filepath.Join(dir, "home"), nil
	return &v
}

func TestDemo(t *testing.T) {
	t.Parallel()
	u, places := watching(t)
	// The folder lies in a workspace of the user's, which stays as it is.
	around := u.in(filepath.Join(filepath.Dir(u.dir), "around"))
	around.vars = nil
	around.write("mine", "mine\n")
	around.repository().must(0, "init")
	status, before := around.status(), places()
	dir := filepath.Join(around.dir, "a demo")
	out := u.must(0, "demo", "../around/a demo").out
	if now := around.status(); pretty(now) != pretty(status) || around.git("status", "--porcelain") != `?? "a demo/"` {
		t.Errorf("the workspace around it: %s", pretty(now))
	}
	untouched(t, before, places())
	if left := gone(dir); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	v := u.inRepo(dir)
	v.theLie(out)
	v.theKill(out)
	v.theProof(out)
	v.must(0, "audit", "verify")
	v.quiet()
	// The last lines are how one looks at it, and how it is removed.
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, head := range []string{"cd ", "rm -rf "} {
		said := strings.TrimSpace(lines[len(lines)-2+i])
		cmd := exec.Command("/bin/sh", "-c", said)
		cmd.Env = u.env(asPawl + "=1")
		if raw, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(said, head) || i == 0 &&
			!strings.Contains(string(raw), "RUN-2") {
			t.Errorf("%s: %v %s", said, err, raw)
		}
	}
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", dir, err)
	}
}

// theLie checks that the agent did weaken the test, that the checks passed, and that nothing of it landed.
func (u *user) theLie(out string) {
	u.t.Helper()
	first := u.task("T-001")
	if first.State != "canceled" || first.Land != nil {
		u.t.Errorf("the lie: %s", pretty(first))
	}
	weak := 0
	for ref := range strings.SplitSeq(u.git("--git-dir="+u.own("git"), "for-each-ref", "--format=%(refname)", "refs/pawl"), "\n") {
		if strings.Contains(u.git("--git-dir="+u.own("git"), "show", ref+":greeting_test.go"), `t.Log(Greet("Ada"))`) {
			weak++
		}
	}
	if weak == 0 {
		u.t.Error("the agent did not weaken the test: no checkpoint has it")
	}
	if !strings.Contains(u.read("greeting_test.go"), `"hello, Ada"`) {
		u.t.Error("the weakened test landed")
	}
	if v := first.Verified; v == nil || !v.Passed || !slices.Equal(v.Tampered, []string{"greeting_test.go"}) {
		u.t.Errorf("what the lie was judged by: %s", pretty(first.Verified))
	}
	for _, want := range []string{"exit status 9", "Done. Greet is fixed and all tests pass.",
		"is it done? not proven", "it held before the work already", "pawl accept"} {
		if !strings.Contains(out, want) {
			u.t.Errorf("the screen does not say %q:\n%s", want, out)
		}
	}
}

var killedPid = regexp.MustCompile(`(?m)^\$ kill -9 (\d+)$`)

// theKill checks that the process that did the work was killed in the middle of it, that another one went on, that
// nothing was done twice, and that what failed was repaired.
func (u *user) theKill(out string) {
	u.t.Helper()
	m := killedPid.FindStringSubmatch(out)
	if m == nil {
		u.t.Fatalf("nothing was killed:\n%s", out)
	}
	var worked []string
	events := map[string]int{}
	starts := map[string]int{}
	for _, r := range u.log() {
		events[r.Event]++
		if r.Event == "EFFECT_STARTED" && r.Payload.Effect == "tool.call" {
			starts[r.Subject]++
			if pid := strings.Split(r.Actor, "/"); len(pid) == 3 && !slices.Contains(worked, pid[1]) {
				worked = append(worked, pid[1])
			}
		}
	}
	if len(worked) != 3 || worked[1] != m[1] {
		u.t.Errorf("calls were begun by %v, and %s was killed", worked, m[1])
	}
	if pid, _ := strconv.Atoi(m[1]); syscall.Kill(pid, 0) == nil {
		u.t.Errorf("%d is alive", pid)
	}
	for id, n := range starts {
		if n != 1 {
			u.t.Errorf("%s was begun %d times", id, n)
		}
	}
	if events["EFFECT_RECOVERED"] == 0 || events["FIX_PLANNED"] != 2 || len(starts) != 5 {
		u.t.Errorf("%d calls, %v", len(starts), events)
	}
	second := u.task("T-002")
	if second.Fixes != 0 || second.Repairs != 1 {
		u.t.Errorf("no repair: %s", pretty(second))
	}
	u.once()
}

// theProof checks that one commit landed with what was done before and after the kill, that it was proven on its tree,
// and that it was taken back.
func (u *user) theProof(out string) {
	u.t.Helper()
	if n := u.git("rev-list", "--count", "HEAD"); n != "3" {
		u.t.Fatalf("%s commits", n)
	}
	if a, b := u.git("rev-parse", "HEAD^{tree}"), u.git("rev-parse", "HEAD~2^{tree}"); a != b {
		u.t.Errorf("undo left the tree %s, and it was %s", a, b)
	}
	if got := u.git("show", "HEAD~1:CHANGES.md"); strings.Count(got, "- Greet") != 1 {
		u.t.Errorf("CHANGES.md: %q", got)
	}
	if got := u.git("show", "HEAD~1:greeting.go"); !strings.Contains(got, "\t\tname = \"world\"\n") {
		u.t.Errorf("greeting.go: %q", got)
	}
	second := u.task("T-002")
	if second.Verified == nil || !second.Verified.Passed ||
		second.Verified.Tree != u.git("rev-parse", "HEAD~1^{tree}") || len(second.Verified.Checks) < 3 {
		u.t.Errorf("the proof: %s", pretty(second.Verified))
	}
	if dirty := u.git("status", "--porcelain"); dirty != "" {
		u.t.Errorf("dirty: %s", dirty)
	}
	if p := second.Proof; p == nil || p.Verdict != "proven" {
		u.t.Errorf("what was wanted is not shown: %s", pretty(p))
	}
	if !strings.Contains(out, "it failed before the work, and passes now") ||
		!strings.Contains(out, "on tree "+u.git("rev-parse", "HEAD~1^{tree}")[:12]) {
		u.t.Errorf("the proof is not shown:\n%s", out)
	}
}

// TestDemo_Interrupted: Ctrl-C leaves nothing, neither in the middle of a command nor while the model is waited for.
func TestDemo_Interrupted(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"go vet", "2. kill"} {
		t.Run(at, func(t *testing.T) {
			u, places := watching(t)
			before := places()
			dir := filepath.Join(filepath.Dir(u.dir), "demo")
			p := u.start("demo", dir)
			p.mustSay(at)
			if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			a := p.wait()
			if a.code != 130 || !strings.Contains(a.err, "pawl demo") || strings.Contains(a.out, "rm -rf") {
				t.Errorf("%v", a)
			}
			if left := gone(dir); len(left) > 0 {
				t.Errorf("processes are left: %v", left)
			}
			if _, err := os.Lstat(dir); !os.IsNotExist(err) {
				t.Errorf("the folder is left: %v", err)
			}
			untouched(t, before, places())
		})
	}
}

// TestDemo_Refuses: nothing is done in a folder that somebody uses, and a workspace around the folder is left alone.
func TestDemo_Refuses(t *testing.T) {
	t.Parallel()
	u, places := watching(t)
	u.write("mine", "mine\n")
	u.write("file", "")
	before := places()
	u.must(6, "demo", ".")
	if a := u.pawl("demo", "file"); a.code == 0 || !strings.Contains(a.err, "pawl demo DIR") {
		t.Errorf("%v", a)
	}
	u.only = "/nowhere"
	if a := u.must(10, "demo", "new"); !strings.Contains(a.err, "git") {
		t.Errorf("%v", a)
	}
	untouched(t, before, places())
}
