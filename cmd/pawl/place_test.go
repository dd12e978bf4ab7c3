package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/internal/gittest"
)

// in is the same user in another folder.
func (u *user) in(dir string) *user {
	o := *u
	o.dir = dir
	u.t.Cleanup(func() {
		for _, p := range processesOf(dir) {
			if proc, err := os.FindProcess(p.pid); err == nil {
				_ = proc.Kill()
			}
		}
	})
	return &o
}

// beside is a path beside the user's folder.
func (u *user) beside(name string) string { return filepath.Join(filepath.Dir(u.dir), name) }

// moved moves the user's folder.
func (u *user) moved(name string) *user {
	u.t.Helper()
	if err := os.Rename(u.dir, u.beside(name)); err != nil {
		u.t.Fatal(err)
	}
	return u.in(u.beside(name))
}

// copied copies the user's folder as cp -a does, with put for each file. What is gone by the time that its turn comes
// is not in the copy.
func (u *user) copied(name string, put func(from, to string, info fs.FileInfo) error) *user {
	u.t.Helper()
	to := u.beside(name)
	err := filepath.WalkDir(u.dir, func(path string, d fs.DirEntry, err error) (failed error) {
		defer func() {
			if errors.Is(failed, fs.ErrNotExist) {
				failed = nil
			}
		}()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(u.dir, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.Mkdir(target, info.Mode().Perm()|0o700)
		case info.Mode()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case info.Mode().IsRegular():
			return put(path, target, info)
		}
		return nil
	})
	if err != nil {
		u.t.Fatal(err)
	}
	return u.in(to)
}

// bytewise copies one file with its permissions and its time.
func bytewise(from, to string, info fs.FileInfo) error {
	raw, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, raw, info.Mode().Perm())
	}
	if err == nil {
		err = os.Chtimes(to, info.ModTime(), info.ModTime())
	}
	return err
}

// settled is a user with a small repository.
func settled(t *testing.T) *user {
	u := newUser(t)
	gittest.Write(t, u.dir, map[string]string{"a.txt": "one\n"})
	return u.repository()
}

// half starts a run whose command takes a minute the first time, kills it there, and returns the run's plan.
func (u *user) half() {
	u.t.Helper()
	p := u.start("run", "--plan", u.steps(running(slowAtFirst, true), making()), "--yes")
	u.started()
	p.kill()
	if left := gone(u.base()); len(left) > 0 {
		u.t.Fatalf("processes outlive pawl: %v", left)
	}
}

// silent fails if an answer speaks of another place.
func (u *user) silent(a answer) {
	u.t.Helper()
	if strings.Contains(a.err, "workspace") {
		u.t.Errorf("it speaks of another place: %v", a)
	}
}

// tells fails unless an answer's standard error contains a text.
func (u *user) tells(a answer, texts ...string) {
	u.t.Helper()
	for _, text := range texts {
		if !strings.Contains(a.err, text) {
			u.t.Errorf("it is not told: %q: %v", text, a)
		}
	}
}

// TestCopy: a copy of a workspace is a new workspace. It has no history, and nothing that is done in it touches the
// original, which goes on with what was under way.
func TestCopy(t *testing.T) {
	t.Parallel()
	u := settled(t)
	u.must(0, "run", "--plan", u.steps(making()), "--yes")
	u.half()
	c := u.copied("copy", bytewise)
	before := gittest.Tree(t, u.dir)
	c.must(3, "status")
	if a := c.must(6, "init", "--adopt", u.dir); !strings.Contains(a.err, "still exists") {
		t.Errorf("it takes over what is another's: %v", a)
	}
	c.must(14, "check") // which has nothing to run, and makes a workspace
	if a := c.must(3, "undo"); a.out != "" {
		t.Errorf("the copy has a history: %v", a)
	}
	same(t, "the original", before, gittest.Tree(t, u.dir))
	u.silent(u.must(0, "resume"))
	u.must(0, "audit", "verify")
	u.quiet()
}

// TestMove_AfterAKill: a workspace that was moved while a run was cut short says where its history is, and continues by
// whatever command once it was adopted.
func TestMove_AfterAKill(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(u *user){
		"resume":   func(u *user) { u.must(0, "resume"); u.finished() },
		"rollback": func(u *user) { u.must(0, "rollback", "--yes") },
		"stop":     func(u *user) { u.must(0, "stop"); u.must(0, "skip") },
		"doctor":   func(u *user) { u.must(0, "doctor"); u.must(0, "resume"); u.finished(); u.must(0, "undo") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := settled(t)
			u.half()
			m := u.moved("elsewhere")
			for _, args := range [][]string{{"status"}, {"check"}, {"init"}, {"run", "anything"}} {
				if a := m.must(3, args...); !strings.Contains(a.err, "pawl init --adopt "+u.dir) {
					t.Errorf("%v", a)
				}
			}
			m.must(0, "init", "--adopt", "../work")
			m.silent(m.pawl("status"))
			if got := m.git("worktree", "list"); strings.Contains(got, u.own()) || strings.Contains(got, "prunable") {
				t.Errorf("git knows its worktrees elsewhere: %s", got)
			}
			do(m)
			m.state("IDLE")
			m.must(0, "audit", "verify")
			m.quiet()
			for _, old := range []string{u.dir, u.own()} {
				if _, err := os.Lstat(old); !os.IsNotExist(err) {
					t.Errorf("something is where the workspace was: %s, %v", old, err)
				}
			}
		})
	}
}

// TestMove_AtRest: what landed before a move can be undone after it, and only one directory has the history.
func TestMove_AtRest(t *testing.T) {
	t.Parallel()
	u := settled(t)
	u.must(0, "run", "--plan", u.steps(making()), "--yes")
	m := u.moved("elsewhere")
	m.tells(m.must(0, "init", "--adopt", u.dir), "was at "+u.dir)
	m.silent(m.must(0, "undo"))
	if m.read("made.txt") != "" {
		t.Error("nothing was undone")
	}
	m.must(0, "redo")
	if a := m.pawl("init", "--adopt", u.dir); a.code == 0 {
		t.Errorf("it was adopted twice: %v", a)
	}
	m.quiet()
}

// TestMove_WhileItRuns: the process ends and says why, and the next command goes on.
func TestMove_WhileItRuns(t *testing.T) {
	t.Parallel()
	u := settled(t)
	p := u.start("run", "--plan", u.steps(running("touch ran.txt; sleep 2", true), making()), "--yes")
	u.appears(u.own("worktrees", "*", "ran.txt"))
	m := u.moved("elsewhere")
	a := p.wait()
	if a.code != 10 || !strings.Contains(a.err, "no longer at "+u.dir) || !strings.Contains(a.err, "pawl resume") {
		t.Errorf("the process that was at work: %v", a)
	}
	if _, err := os.Lstat(u.dir); !os.IsNotExist(err) {
		t.Errorf("something was made where the workspace was: %v", err)
	}
	m.must(0, "init", "--adopt", u.dir)
	m.must(0, "resume")
	m.finished()
	m.quiet()
}

// TestAdopt_InTree: a workspace of an earlier version has its data in .pawl. Nothing is opened there before its user says
// so; then the run that was cut short goes on and can be undone, and what the tree has instead of the data counts for
// nothing.
func TestAdopt_InTree(t *testing.T) {
	t.Parallel()
	u := settled(t)
	u.half()
	earlier(u)
	before := gittest.Tree(t, u.dir)
	for _, args := range [][]string{{"status"}, {"check"}, {"resume"}, {"gc"}, {"run", "anything"}} {
		if a := u.must(3, args...); !strings.Contains(a.err, "pawl init --adopt "+u.dir) {
			t.Errorf("%v", a)
		}
	}
	same(t, "before the answer, the tree", before, gittest.Tree(t, u.dir))
	u.must(0, "init", "--adopt", ".", "--yes") // nothing of its log was signed yet
	if _, err := os.Lstat(filepath.Join(u.dir, ".pawl/pawl.db")); !os.IsNotExist(err) {
		t.Errorf("the store is still in the tree: %v", err)
	}
	u.must(0, "resume")
	u.finished()
	u.must(0, "undo")
	u.must(0, "audit", "verify")
	u.quiet()
}

// TestAdopt_CutShort: an adoption that was killed after it had moved all but the store is repeated, and loses nothing.
func TestAdopt_CutShort(t *testing.T) {
	t.Parallel()
	u := settled(t)
	u.half()
	earlier(u)
	if err := os.MkdirAll(u.own(), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"git", "worktrees", "pawl.db-witness", "pawl.db-wal"} {
		if err := os.Rename(filepath.Join(u.dir, ".pawl", name), u.own(name)); err != nil {
			t.Fatal(err)
		}
	}
	u.must(0, "init", "--adopt", ".", "--yes")
	u.must(0, "resume")
	u.finished()
	u.must(0, "undo")
	u.must(0, "audit", "verify")
	u.quiet()
}

// TestAdopt_Hostile: data in a tree that are no store, that nobody of this account signed, or in which an object of git
// has another's name are refused, and stay where they are. A state directory inside the workspace is refused, too.
func TestAdopt_Hostile(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.write("a.txt", "a\n")
	u.repository()
	u.must(0, "run", "--plan", u.steps(making()), "--yes")
	v := *u
	v.vars = append(slices.Clone(u.vars), "XDG_STATE_HOME="+filepath.Join(u.dir, "state"))
	if a := v.must(5, "check"); !strings.Contains(a.err, "inside the workspace") {
		t.Errorf("a state directory in the workspace: %v", a)
	}
	earlier(u)
	store := filepath.Join(u.dir, ".pawl/pawl.db")
	refused := func(what string, code int, says string) {
		t.Helper()
		before := gittest.Tree(t, filepath.Join(u.dir, ".pawl/git"))
		if a := u.must(code, "init", "--adopt", "."); !strings.Contains(a.err, says) {
			t.Errorf("%s: %v", what, a)
		}
		same(t, what+": pawl's git", before, gittest.Tree(t, filepath.Join(u.dir, ".pawl/git")))
		if _, err := os.Lstat(u.own("git")); err == nil {
			t.Errorf("%s: something was moved", what)
		}
	}
	signed := filepath.Join(u.home, ".local/state/pawl/checkpoints")
	if err := os.Rename(signed, signed+"-"); err != nil {
		t.Fatal(err)
	}
	refused("a store of somebody", 5, "no record of the data")
	if err := os.Rename(signed+"-", signed); err != nil {
		t.Fatal(err)
	}
	objects, err := filepath.Glob(filepath.Join(u.dir, ".pawl/git/objects/??/*"))
	if err != nil || len(objects) < 2 {
		t.Fatalf("%q %v", objects, err)
	}
	raw, err := os.ReadFile(objects[0])
	if err == nil {
		err = os.Remove(objects[1])
	}
	if err == nil {
		err = os.WriteFile(objects[1], raw, 0o444)
	}
	if err != nil {
		t.Fatal(err)
	}
	refused("an object by another's name", 5, "do not match their names")
	if err := os.WriteFile(store, []byte("no store"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("no store", 11, "not a store of pawl")
}

// earlier puts the state of a workspace to where earlier versions had it.
func earlier(u *user) {
	u.t.Helper()
	entries, err := os.ReadDir(u.own())
	if err != nil {
		u.t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "path" {
			err = errors.Join(err, os.Rename(u.own(e.Name()), filepath.Join(u.dir, ".pawl", e.Name())))
		}
	}
	err = errors.Join(err, os.RemoveAll(u.own()))
	links, _ := filepath.Glob(filepath.Join(u.dir, ".git", "worktrees", "*", "gitdir"))
	for _, link := range links {
		raw, failed := os.ReadFile(link)
		tree := strings.Replace(string(raw), u.own(), filepath.Join(u.dir, ".pawl"), 1)
		err = errors.Join(err, failed, os.WriteFile(link, []byte(tree), 0o644))
	}
	if err != nil {
		u.t.Fatal(err)
	}
}

// appears waits until something is there.
func (u *user) appears(pattern string) {
	u.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return
		}
	}
	u.t.Fatalf("there never was %s", pattern)
}

// paths are a folder, if it is there, and everything in it.
func paths(dir string) (out []string) {
	_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			out = append(out, path)
		}
		return nil
	})
	return out
}

// TestMove_WhileABoardRuns: the workers end and say why, and the next ones go on where the workspace is.
func TestMove_WhileABoardRuns(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	u.must(0, "issue", "add", "part 1", "--plan", u.planFile("part1", partPlan(1, "", "sleep 2", false)))
	u.part(2)
	p := u.start("worker", "--yes", "--workers", "2")
	u.appears(u.own("worktrees", "*", "part001.go"))
	m := u.moved("elsewhere")
	a := p.wait()
	if a.code != 10 || !strings.Contains(a.err, "no longer at "+u.dir) {
		t.Errorf("the workers: %v", a)
	}
	if made := paths(u.dir); len(made) > 0 {
		t.Errorf("something was made where the workspace was: %q", made)
	}
	m.must(0, "init", "--adopt", u.dir)
	m.must(0, "worker", "--yes")
	m.branches(map[string]string{"main": "1 2"})
	m.quiet()
}
