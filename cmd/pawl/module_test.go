package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v4"

	"pawl/internal/gittest"
	"pawl/kernel/view"
)

// theModule is a public module that pawl itself requires, so that it is always in the module cache.
const theModule = "github.com/bluekeyes/go-gitdiff"

// copyModule copies the module into a folder, as somebody who begins to work on it has it.
func copyModule(dir string) error { return copyOf(theModule, dir) }

// copyOf copies a module of the module cache into a folder.
func copyOf(module, dir string) error {
	from, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	if err := os.CopyFS(dir, os.DirFS(strings.TrimSpace(string(from)))); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Chmod(path, info.Mode().Perm()|0o200)
	})
}

// module copies the module into the user's folder, unless it is there, with a cache for checks that is warm, and for
// other uses as well where they are named.
func (u *user) module(uses ...string) *user {
	u.t.Helper()
	warm, err := warmCache()
	if _, there := os.Stat(filepath.Join(u.dir, "go.mod")); err == nil && there != nil {
		err = copyModule(u.dir)
	}
	cache := u.own("cache")
	if err == nil {
		err = linkAll(filepath.Join(warm, "built"), filepath.Join(cache, "built"))
	}
	for _, use := range uses {
		if err == nil {
			err = linkAll(filepath.Join(warm, "built", "go"), filepath.Join(cache, use))
		}
	}
	if err != nil {
		u.t.Fatal(err)
	}
	u.write(".pawl/.gitignore", "*\n") // as pawl itself writes it
	return u
}

// warmFolder is where the caches that all tests begin with are made; TestMain removes it.
var warmFolder string

// warmCache compiles once what every copy of the module needs, in the folder where pawl keeps its caches, and returns
// that folder. Everything else of pawl works as it does for a user; only the standard library is not compiled again
// each time.
var warmCache = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "pawl-warm-*")
	if err != nil {
		return "", err
	}
	warmFolder = dir
	t := &quietT{}
	u := &user{t: t, home: filepath.Join(dir, "home"), dir: filepath.Join(dir, "work")}
	if err := errors.Join(os.Mkdir(u.home, 0o755), os.Mkdir(u.dir, 0o755), copyModule(u.dir)); err != nil {
		return "", err
	}
	// The checks of the module are all that is to be warm: work there would be tried without its parts as well.
	if a := u.repository().pawl("check"); a.code != 0 {
		return "", fmt.Errorf("the first check of the module: %v", a)
	}
	return u.own("cache"), nil
})

// quietT fails what happens outside any test.
type quietT struct{ testing.TB }

func (*quietT) Helper()                      {}
func (*quietT) Fatal(args ...any)            { panic(fmt.Sprint(args...)) }
func (*quietT) Fatalf(f string, args ...any) { panic(fmt.Sprintf(f, args...)) }

// linkAll makes a copy of a folder with hard links.
func linkAll(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, path)
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		if err := os.Link(path, target); !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	})
}

// newTest is the test that the plan adds.
const newTest = `package gitdiff

import (
	"strings"
	"testing"
)

func TestHasLen(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int64
		want bool
	}{{"", 0, true}, {"a", 0, false}, {"a", 1, true}, {"ab", 1, false}, {"a", 2, false}} {
		if got, err := hasLen(strings.NewReader(c.text), c.n); got != c.want || err != nil {
			t.Errorf("hasLen(%q, %d) = %v, %v, want %v", c.text, c.n, got, err, c.want)
		}
	}
}
`

// rename is the plan that renames isLen to hasLen in every file of the module that uses it, and adds a test. The line
// that computes the offset is replaced by another one, which is how the same plan with a wrong edit is made. More steps
// go between the edits and their verification.
func rename(dir, offset string, more ...map[string]any) (string, error) {
	var patch strings.Builder
	patch.WriteString("*** Begin Patch\n")
	files, err := filepath.Glob(filepath.Join(dir, "gitdiff", "*.go"))
	if err != nil {
		return "", err
	}
	used := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		if !strings.Contains(string(raw), "isLen(") {
			continue
		}
		used++
		rel, _ := filepath.Rel(dir, file)
		after := strings.ReplaceAll(string(raw), "isLen(", "hasLen(")
		patch.WriteString("*** Update File: " + filepath.ToSlash(rel) + "\n")
		patch.WriteString(hunks(lines(string(raw)), lines(strings.Replace(after, "off := n - 1", offset, 1))))
	}
	if used < 3 {
		return "", fmt.Errorf("isLen is used in %d files", used)
	}
	patch.WriteString("*** End Patch\n")
	steps := []map[string]any{
		step("s1", call("apply_patch", map[string]any{"patch": patch.String()})),
		step("s2", call("write_file", map[string]any{"path": "gitdiff/io_len_test.go", "content": newTest})),
	}
	return document("Rename isLen to hasLen", append(steps, more...), "go vet ./...", "go test ./...")
}

func lines(s string) []string { return strings.Split(strings.TrimSuffix(s, "\n"), "\n") }

// hunks writes the lines that differ between two texts of as many lines, with the lines around them.
func hunks(before, after []string) string {
	const around = 3
	var b strings.Builder
	for i := 0; i < len(before); i++ {
		if before[i] == after[i] {
			continue
		}
		last := i
		for j := i; j < len(before) && j <= last+2*around; j++ {
			if before[j] != after[j] {
				last = j
			}
		}
		b.WriteString("@@\n")
		for j := max(0, i-around); j <= min(len(before)-1, last+around); j++ {
			if before[j] == after[j] {
				b.WriteString(" " + before[j] + "\n")
			} else {
				b.WriteString("-" + before[j] + "\n+" + after[j] + "\n")
			}
		}
		i = last
	}
	return b.String()
}

// step, call and document make plans.
func step(id string, calls ...map[string]any) map[string]any {
	return map[string]any{"step_id": id, "title": "Step " + id, "intent": "Part of the test", "tool_calls": calls}
}

func call(tool string, args map[string]any) map[string]any {
	return map[string]any{"name": tool, "args_hint": args}
}

func document(goal string, steps []map[string]any, checks ...string) (string, error) {
	raw, err := yaml.Marshal(map[string]any{
		"goal": goal, "steps": steps, "risk_level": "low",
		"verification": map[string]any{"mode": "custom", "commands": checks, "required": true, "stop_on_fail": true},
	})
	return string(raw), err
}

// renaming writes the plan of rename for the user.
func (u *user) renaming(offset string, more ...map[string]any) string {
	u.t.Helper()
	text, err := rename(u.dir, offset, more...)
	if err != nil {
		u.t.Fatal(err)
	}
	return u.plan(text)
}

const (
	right = "off := n - 1"
	wrong = "off := n"
)

// oddFiles are untracked files of the user's that nothing may touch.
func (u *user) oddFiles() {
	u.t.Helper()
	gittest.Write(u.t, u.dir, map[string]string{
		"notes.txt": "mine\n", "tool.sh": "#!/bin/sh\nexit 0\n", "link": "-> notes.txt",
		"dangling": "-> nowhere/at all",
		"loop":     "-> .", "empty folder/": "", "-dash": "x", " blanks ": "x", "line\nfeed": "x", "quo\"te's": "x",
		"文字 ünï": "x", "bad\xff\xfeutf8": "\x00\xff", "gitdiff/untracked.md": "mine, too\n", "crlf.txt": "a\r\nb\r\n",
		"no end": "x",
	})
	for name, mode := range map[string]fs.FileMode{"notes.txt": 0o600, "-dash": 0o444} {
		if err := os.Chmod(filepath.Join(u.dir, name), mode); err != nil {
			u.t.Fatal(err)
		}
	}
}

// same fails when two listings of a folder differ, and says where.
func same(t testing.TB, what, before, after string) {
	t.Helper()
	if before == after {
		return
	}
	short := func(line string) string { return line[:min(len(line), 300)] }
	old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	for _, l := range old {
		if !slices.Contains(now, l) {
			t.Errorf("%s: was   %s", what, short(l))
		}
	}
	for _, l := range now {
		if !slices.Contains(old, l) {
			t.Errorf("%s: is now %s", what, short(l))
		}
	}
}

// landedTree checks that a commit is the plan's result and nothing else.
func (u *user) landedTree(commit, base string) {
	u.t.Helper()
	if parent := u.git("rev-parse", commit+"^"); parent != base {
		u.t.Errorf("the commit's parent is %s, want %s", parent, base)
	}
	changed := u.git("diff", "--name-status", base, commit)
	if want := "M\tgitdiff/apply_binary.go\nM\tgitdiff/apply_text.go\nM\tgitdiff/io.go\nA\tgitdiff/io_len_test.go"; changed != want {
		u.t.Errorf("the commit changes\n%s\nwant\n%s", changed, want)
	}
	if left, _ := exec.Command("git", "-C", u.dir, "grep", "-n", "isLen(", commit).Output(); len(left) > 0 {
		u.t.Errorf("isLen is still used:\n%s", left)
	}
	if got := u.git("show", commit+":gitdiff/io_len_test.go"); got != strings.TrimSuffix(newTest, "\n") {
		u.t.Errorf("the new test is\n%s", got)
	}
	message := u.git("log", "-1", "--format=%B", commit)
	for _, want := range []string{"Rename isLen to hasLen\n", "\nPawl-Task: ", "\nPawl-Plan: ", "\nPawl-Trace: "} {
		if !strings.Contains(message, want) {
			u.t.Errorf("the commit's message has no %q:\n%s", want, message)
		}
	}
	if by := u.git("log", "-1", "--format=%an <%ae>", commit); by != "Ada <ada@example.org>" {
		u.t.Errorf("the commit is by %s", by)
	}
	if tree := u.task("T-001").Verified.Tree; tree != u.git("rev-parse", commit+"^{tree}") {
		u.t.Errorf("the tree that was verified is %s, not that of the commit", tree)
	}
}

func TestModule_Landed(t *testing.T) {
	t.Parallel()
	u := newUser(t).module().repository()
	u.oddFiles()
	base, mine := u.git("rev-parse", "HEAD"), untracked(u)
	a := u.must(0, "run", "--plan", u.renaming(right), "--yes")
	if head := u.git("rev-parse", "HEAD"); head == base || u.git("rev-parse", "main") != head {
		t.Fatalf("main is not at a new commit: %v", a)
	}
	u.landedTree("HEAD", base)
	if n := u.git("rev-list", "--count", "HEAD"); n != "2" {
		t.Errorf("%s commits, want 2", n)
	}
	same(t, "untracked files", mine, untracked(u))
	if dirty := u.git("status", "--porcelain", "--untracked-files=no"); dirty != "" {
		t.Errorf("the user's tree is not the landed one:\n%s", dirty)
	}
	if st := u.state("IDLE"); st.Last == nil || st.Last.Outcome != "completed" || st.Last.Landing != "landed" {
		t.Errorf("%+v", st.Last)
	}
	if got := strings.Join(u.states(), " "); got != "IDLE PLANNING CONFIRMING EXECUTING ARCHIVING IDLE" {
		t.Errorf("the session went through %s", got)
	}
	u.must(0, "audit", "verify")
	u.quiet()

	u.must(0, "undo")
	if got := u.git("rev-parse", "HEAD^{tree}"); got != u.git("rev-parse", base+"^{tree}") {
		t.Errorf("undo left tree %s", got)
	}
	u.must(0, "redo")
	if got := u.git("rev-parse", "HEAD^{tree}"); got != u.task("T-001").Verified.Tree {
		t.Errorf("redo left tree %s", got)
	}
	same(t, "untracked files after undo and redo", mine, untracked(u))
	u.quiet()
}

// untracked lists the user's untracked files as they are.
func untracked(u *user) string {
	all := strings.Split(gittest.Tree(u.t, u.dir), "\n")
	tracked := map[string]bool{}
	for name := range strings.SplitSeq(u.git("ls-files", "-z"), "\x00") {
		tracked[fmt.Sprintf("%q", name)] = true
	}
	return strings.Join(slices.DeleteFunc(all, func(l string) bool {
		name, err := quotedPrefix(l)
		return err == nil && tracked[name]
	}), "\n")
}

// quotedPrefix is the quoted name that a line of a listing begins with.
func quotedPrefix(line string) (string, error) {
	for i := 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return line[:i+1], nil
		}
	}
	return "", errors.New("no name")
}

// kept checks that the result is on a branch of pawl's, that the user was told how to merge it, and that nothing of
// theirs was touched.
func (u *user) kept(a answer, base, head string) view.Result {
	u.t.Helper()
	st := u.state("IDLE")
	if st.Last == nil || st.Last.Landing != "kept" || !strings.HasPrefix(st.Last.Branch, "pawl/") {
		u.t.Fatalf("the result was not kept: %+v\n%v", st.Last, a)
	}
	if at := u.git("rev-parse", "HEAD"); at != head {
		u.t.Errorf("HEAD moved to %s, was %s", at, head)
	}
	if !strings.Contains(a.out, st.Last.Branch) || !strings.Contains(a.out, "git merge") &&
		!strings.Contains(a.out, "git switch") && !strings.Contains(a.out, "git cherry-pick") {
		u.t.Errorf("the user is not told how to merge:\n%s", a.out)
	}
	u.landedTree(st.Last.Branch, base)
	u.quiet("refs/heads/"+st.Last.Branch, "refs/heads/other")
	return *st.Last
}

func TestModule_DirtyTreeIsKept(t *testing.T) {
	t.Parallel()
	u := newUser(t).module().repository()
	plan := u.renaming(right)
	head := u.git("rev-parse", "HEAD")
	u.write("README.md", u.read("README.md")+"mine\n")
	u.write("gitdiff/io.go", u.read("gitdiff/io.go")+"// mine\n")
	before, status := gittest.Tree(t, u.dir), u.git("status", "--porcelain")
	u.kept(u.must(0, "run", "--plan", plan, "--yes"), head, head)
	same(t, "the user's tree", before, gittest.Tree(t, u.dir))
	if now := u.git("status", "--porcelain"); now != status {
		t.Errorf("git status was\n%s\nis\n%s", status, now)
	}
}

func TestModule_MovedBranchIsKept(t *testing.T) {
	t.Parallel()
	u := newUser(t).module().repository()
	base := u.git("rev-parse", "HEAD")
	p := u.start("run", "--plan", u.renaming(right,
		step("s3", call("run_terminal_cmd", map[string]any{"command": "sleep 2"}))), "--yes")
	u.doing("run_terminal_cmd")
	u.write("README.md", "meanwhile\n")
	u.git("commit", "-qam", "meanwhile")
	head := u.git("rev-parse", "HEAD")
	a := p.wait()
	if a.code != 0 {
		t.Fatal(a)
	}
	last := u.kept(a, base, head)
	// What the user was told to do works.
	u.git("merge", "-q", "--no-edit", last.Branch)
	u.run("env", "GOCACHE="+u.own("cache", "verify", "go-build"), "go", "vet", "./...")
}

func TestModule_DetachedHeadIsKept(t *testing.T) {
	t.Parallel()
	u := newUser(t).module().repository()
	head := u.git("rev-parse", "HEAD")
	plan := u.renaming(right)
	u.git("checkout", "-q", "--detach")
	before := gittest.Tree(t, u.dir)
	u.kept(u.must(0, "run", "--plan", plan, "--yes"), head, head)
	same(t, "the user's tree", before, gittest.Tree(t, u.dir))
}

// blockedForGood checks what a run for which no repair is known says and leaves.
func (u *user) blockedForGood(a answer) {
	u.t.Helper()
	if a.code != 8 {
		u.t.Fatalf("want exit status 8: %v", a)
	}
	st := u.state("BLOCKED")
	if st.Attempts != 0 || st.Blocked == nil || st.Blocked.Kind != "no_repair" {
		u.t.Errorf("auto_fix_attempts = %d, blocked = %+v", st.Attempts, st.Blocked)
	}
	unknown := 0
	for _, r := range u.log() {
		switch r.Event {
		case "FIX_FAILED", "FIX_PLANNED":
			u.t.Errorf("%s, though no repair is known", r.Event)
		case "FIX_UNKNOWN":
			unknown++
		}
	}
	if unknown != 1 {
		u.t.Errorf("said %d times that no repair is known, want once", unknown)
	}
	for _, want := range []string{"go test ./...", "--- FAIL: TestHasLen", "pawl fix", "pawl rollback", "pawl skip"} {
		if !strings.Contains(a.out, want) {
			u.t.Errorf("the output does not say %q:\n%s", want, a.out)
		}
	}
}

// rolledBack rolls back and checks that the folder is as a listing says.
func (u *user) rolledBack(want string) {
	u.t.Helper()
	u.must(0, "rollback", "--yes")
	same(u.t, "after the rollback", want, gittest.Tree(u.t, u.dir))
	if st := u.state("IDLE"); st.Attempts != 0 || st.Blocked != nil || st.Task != nil {
		u.t.Errorf("the session still has to do with the run: %+v", st)
	}
	u.must(0, "audit", "verify")
	u.quiet()
}

func TestModule_WrongEditIsRolledBack(t *testing.T) {
	t.Parallel()
	u := newUser(t).module().repository()
	u.oddFiles()
	u.write("README.md", "edited, not committed\n")
	u.write("LICENSE", "staged\n")
	u.git("add", "LICENSE")
	before, status, head := gittest.Tree(t, u.dir), u.git("status", "--porcelain", "-z"), u.git("rev-parse", "HEAD")
	a := u.pawl("run", "--plan", u.renaming(wrong), "--yes")
	u.blockedForGood(a)
	same(t, "while it is blocked", before, gittest.Tree(t, u.dir))
	u.must(9, "rollback") // nobody can be asked
	u.state("BLOCKED")
	u.rolledBack(before)
	if now := u.git("status", "--porcelain", "-z"); now != status || u.git("rev-parse", "HEAD") != head {
		t.Errorf("git status was %q, is %q", status, now)
	}
	if got := u.task("T-001").State; got != "failed" && got != "canceled" {
		t.Errorf("the task is %s", got)
	}
	// The next run begins afresh.
	u.must(0, "run", "--plan", u.renaming(right), "--yes")
}

func TestModule_WrongEditInPlaceIsRolledBack(t *testing.T) {
	t.Parallel()
	u := newUser(t).module().repository()
	u.oddFiles()
	u.write("README.md", "edited, not committed\n")
	u.write("LICENSE", "staged\n")
	u.git("add", "LICENSE")
	// Modes that git does not know of, on files that the plan changes.
	for name, mode := range map[string]fs.FileMode{"gitdiff/io.go": 0o600, "gitdiff/apply_text.go": 0o755} {
		if err := os.Chmod(filepath.Join(u.dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	before, status, head := gittest.Tree(t, u.dir), u.git("status", "--porcelain", "-z"), u.git("rev-parse", "HEAD")
	a := u.pawl("run", "--plan", u.renaming(wrong), "--yes", "--in-place")
	u.blockedForGood(a)
	if now := gittest.Tree(t, u.dir); now == before || !strings.Contains(u.read("gitdiff/io.go"), "hasLen(") {
		t.Fatal("the work was not done in place")
	}
	u.write("notes.txt", "edited after the block\n")
	u.write("brand new.txt", "made after the block\n")
	want := strings.Replace(before, `"notes.txt" 0600 "mine\n"`, `"notes.txt" 0600 "edited after the block\n"`, 1) +
		"\n" + `"brand new.txt" 0644 "made after the block\n"`
	want = sorted(want)
	u.rolledBack(want)
	if now := u.git("status", "--porcelain", "-z"); now != strings.Replace(status, "?? crlf.txt\x00",
		"?? brand new.txt\x00?? crlf.txt\x00", 1) || u.git("rev-parse", "HEAD") != head {
		t.Errorf("git status was %q, is %q", status, now)
	}
}

func sorted(listing string) string {
	all := strings.Split(listing, "\n")
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func TestModule_FolderWithoutGit(t *testing.T) {
	t.Parallel()
	u := newUser(t).module()
	u.oddFiles()
	before := gittest.Tree(t, u.dir)
	good := u.renaming(right)
	raw, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	u.blockedForGood(u.pawl("run", "--plan", u.renaming(wrong), "--yes"))
	u.rolledBack(before)

	a := u.must(0, "run", "--plan", u.plan(string(raw)), "--yes")
	after := gittest.Tree(t, u.dir)
	if after == before || !strings.Contains(u.read("gitdiff/io.go"), "hasLen(") {
		t.Fatalf("the work was not done in place: %v", a)
	}
	if st := u.state("IDLE"); st.Last == nil || st.Last.Landing != "in_place" {
		t.Errorf("%+v", st.Last)
	}
	u.must(0, "undo")
	same(t, "after the undo", before, gittest.Tree(t, u.dir))
	u.must(0, "redo")
	same(t, "after the redo", after, gittest.Tree(t, u.dir))
	u.must(0, "undo")
	same(t, "after the second undo", before, gittest.Tree(t, u.dir))
	u.quiet()
	var found struct{ OK bool }
	if err := json.Unmarshal([]byte(u.must(0, "audit", "verify", "--json").out), &found); err != nil || !found.OK {
		t.Errorf("%v %+v", err, found)
	}
}
