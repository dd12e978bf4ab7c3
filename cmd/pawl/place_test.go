package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/internal/gittest"
	"pawl/machine/board"
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
	if left := gone(u.dir); len(left) > 0 {
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

// TestCopy_AtRest: what is undone in a copy of a workspace is undone there and nowhere else.
func TestCopy_AtRest(t *testing.T) {
	t.Parallel()
	u := settled(t)
	u.must(0, "run", "--plan", u.steps(making()), "--yes")
	before, head := gittest.Tree(t, u.dir), u.git("rev-parse", "HEAD")
	c := u.copied("copy", bytewise)
	a := c.must(0, "undo")
	c.tells(a, "copy of "+u.dir)
	if strings.Count(strings.TrimSpace(a.err), "\n") > 0 {
		t.Errorf("it takes more than a line: %v", a)
	}
	if got := c.git("log", "--format=%s", "-1"); !strings.HasPrefix(got, "Revert") && !strings.HasPrefix(got, "Undo") {
		t.Errorf("the newest commit of the copy is %q", got)
	}
	if c.read("made.txt") != "" || u.git("rev-parse", "HEAD") != head {
		t.Errorf("made.txt is %q in the copy, and the original is at %s, was %s", c.read("made.txt"),
			u.git("rev-parse", "HEAD"), head)
	}
	same(t, "the original", before, gittest.Tree(t, u.dir))
	c.silent(c.must(0, "status"))
	u.silent(u.must(0, "status"))
	u.must(0, "undo")
	c.must(0, "audit", "verify")
	u.must(0, "audit", "verify")
	c.quiet()
	u.quiet()
}

// TestCopy_AtWork: work that was under way when a workspace was copied is stopped in the copy, which says so; the
// original goes on with it as if there were no copy.
func TestCopy_AtWork(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(c *user){
		"resume":   func(c *user) { c.must(8, "resume") },
		"rollback": func(c *user) { c.must(0, "rollback", "--yes"); c.state("IDLE"); c.quiet("pawl/") },
		"skip":     func(c *user) { c.must(0, "skip"); c.state("IDLE") },
		"fix": func(c *user) {
			c.must(0, "fix", "-m", "go on here")
			if c.read("made.txt") != "made\n" || c.git("rev-list", "--count", "HEAD") != "2" {
				t.Errorf("the copy has %s commits and made.txt %q", c.git("rev-list", "--count", "HEAD"),
					c.read("made.txt"))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := settled(t)
			u.half()
			c := u.copied("copy", bytewise)
			before := gittest.Tree(t, u.dir)
			c.tells(c.must(0, "status"), "copy of "+u.dir, "RUN-1")
			st := c.state("BLOCKED")
			if st.Blocked == nil || !strings.Contains(pretty(st.Blocked), u.dir) {
				t.Errorf("the copy does not say whose the work is: %+v", st.Blocked)
			}
			do(c)
			same(t, "the original", before, gittest.Tree(t, u.dir))
			u.silent(u.must(0, "resume"))
			u.finished()
			u.quiet()
		})
	}
}

// TestMove_AfterAKill: a workspace that was moved while a run was cut short goes on where it is, by whatever command.
func TestMove_AfterAKill(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(u *user){
		"resume":   func(u *user) { u.must(0, "resume"); u.finished() },
		"rollback": func(u *user) { u.must(0, "rollback", "--yes") },
		"stop":     func(u *user) { u.must(0, "stop"); u.must(0, "skip") },
		"cancel":   func(u *user) { u.must(0, "cancel") },
		"doctor":   func(u *user) { u.must(0, "doctor"); u.must(0, "resume"); u.finished(); u.must(0, "undo") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := settled(t)
			u.half()
			m := u.moved("elsewhere")
			m.tells(m.pawl("status"), "was at "+u.dir)
			m.silent(m.pawl("status"))
			if got := m.git("worktree", "list"); strings.Contains(got, u.dir) || strings.Contains(got, "prunable") {
				t.Errorf("git knows its worktrees elsewhere: %s", got)
			}
			do(m)
			m.state("IDLE")
			m.must(0, "audit", "verify")
			m.quiet()
			if _, err := os.Lstat(u.dir); !os.IsNotExist(err) {
				t.Errorf("something was made where the workspace was: %v", err)
			}
		})
	}
}

// TestMove_AtRest: what was landed before a move can be undone after it.
func TestMove_AtRest(t *testing.T) {
	t.Parallel()
	u := settled(t)
	u.must(0, "run", "--plan", u.steps(making()), "--yes")
	m := u.moved("elsewhere")
	m.tells(m.must(0, "undo"), "was at "+u.dir)
	if m.read("made.txt") != "" {
		t.Error("nothing was undone")
	}
	m.silent(m.must(0, "redo"))
	m.quiet()
}

// TestMove_WhileItRuns: the process ends and says why, and the next command goes on.
func TestMove_WhileItRuns(t *testing.T) {
	t.Parallel()
	u := settled(t)
	p := u.start("run", "--plan", u.steps(running("touch ran.txt; sleep 2", true), making()), "--yes")
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if found, _ := filepath.Glob(filepath.Join(u.dir, ".pawl", "worktrees", "*", "ran.txt")); len(found) > 0 {
			break
		}
	}
	m := u.moved("elsewhere")
	a := p.wait()
	if a.code != 10 || !strings.Contains(a.err, "no longer at "+u.dir) || !strings.Contains(a.err, "pawl resume") {
		t.Errorf("the process that was at work: %v", a)
	}
	if _, err := os.Lstat(u.dir); !os.IsNotExist(err) {
		t.Errorf("something was made where the workspace was: %v", err)
	}
	m.tells(m.must(0, "resume"), "was at "+u.dir)
	m.finished()
	m.quiet()
}

// TestPlace_OtherNames: by whatever name a workspace is entered, and whatever is restored over it, it is the same
// place.
func TestPlace_OtherNames(t *testing.T) {
	t.Parallel()
	u := settled(t)
	u.half()
	backup := u.copied("backup", bytewise)
	link := u.beside("link")
	if err := os.Symlink(u.dir, link); err != nil {
		t.Fatal(err)
	}
	l := u.in(link)
	l.silent(l.pawl("status"))
	if err := os.RemoveAll(u.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(backup.dir, u.dir); err != nil {
		t.Fatal(err)
	}
	u.silent(u.pawl("status"))
	u.silent(u.must(0, "resume"))
	u.finished()
}

// TestCopy_WithOneStore: two folders that are linked to one store are told apart, and the copy is left alone.
func TestCopy_WithOneStore(t *testing.T) {
	t.Parallel()
	u := settled(t)
	u.must(0, "run", "--plan", u.steps(making()), "--yes")
	c := u.copied("hard", func(from, to string, _ fs.FileInfo) error { return os.Link(from, to) })
	a := c.must(10, "undo")
	c.tells(a, u.dir, "cp -a")
	u.must(0, "undo")
}

// TestCopy_OfAWorktree: a copy of a linked worktree has the branch of the original, so that nothing may be done in it;
// one that was moved goes on.
func TestCopy_OfAWorktree(t *testing.T) {
	t.Parallel()
	main := settled(t)
	main.git("worktree", "add", "-q", "-b", "side", main.beside("tree"))
	u := main.in(main.beside("tree"))
	u.must(0, "run", "--plan", u.steps(making()), "--yes")
	head := u.git("rev-parse", "HEAD")
	c := u.copied("copy", bytewise)
	c.tells(c.must(10, "undo"), "same git directory", "git worktree add")
	c.must(0, "status")
	if got := u.git("rev-parse", "HEAD"); got != head {
		t.Errorf("the original is at %s, was %s", got, head)
	}
	m := u.moved("elsewhere")
	m.tells(m.must(0, "undo"), "was at "+u.dir)
	if got := m.git("worktree", "list"); !strings.Contains(got, m.dir) || strings.Contains(got, "prunable") {
		t.Errorf("git knows the worktree elsewhere: %s", got)
	}
}

// TestCopy_OfABoardAtWork: the issue that is worked on goes on over there, is stopped in the copy, and can be ended
// there; those that wait are worked on in each.
func TestCopy_OfABoardAtWork(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	u.part(1)
	slow := partPlan(2, "", "sleep 3", false)
	u.must(0, "issue", "add", "part 2", "--plan", u.planFile("part2", slow), "--priority", "1")
	p := u.start("worker", "--yes")
	u.appears(filepath.Join(u.dir, ".pawl", "worktrees", "*", "part002.go"))
	c := u.copied("copy", bytewise)
	before := gittest.Tree(t, c.dir)
	if a := p.wait(); a.code != 0 {
		t.Fatal(a)
	}
	u.branches(map[string]string{"main": "1 2"})
	same(t, "the copy", before, gittest.Tree(t, c.dir))
	c.tells(c.must(0, "issue", "list"), "copy of "+u.dir, "RUN-2.1")
	c.issueIs("ISS-2", board.IssueFailed, "")
	c.must(0, "skip", "--issue", "ISS-2")
	c.pawl("worker", "--yes")
	c.branches(map[string]string{"main": "1"})
	c.quiet()
	u.quiet()
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
	u.appears(filepath.Join(u.dir, ".pawl", "worktrees", "*", "part001.go"))
	m := u.moved("elsewhere")
	a := p.wait()
	if a.code != 10 || !strings.Contains(a.err, "no longer at "+u.dir) {
		t.Errorf("the workers: %v", a)
	}
	if made := paths(u.dir); len(made) > 0 {
		t.Errorf("something was made where the workspace was: %q", made)
	}
	m.tells(m.must(0, "worker", "--yes"), "was at "+u.dir)
	m.branches(map[string]string{"main": "1 2"})
	m.quiet()
}
