package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pawl/internal/gittest"
)

// failingGit puts a git before the machine's that fails while flag is there and a file of a tree that pawl works in
// says what it says once the work on it is done. Each failure takes one line off the flag, so that it is over with the
// last one.
func (u *user) failingGit(file, says string) (flag string) {
	u.t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		u.t.Fatal(err)
	}
	bin := filepath.Join(filepath.Dir(u.dir), "bin")
	flag = filepath.Join(bin, "fails")
	if err := os.Mkdir(bin, 0o755); err != nil {
		u.t.Fatal(err)
	}
	text := fmt.Sprintf(`#!/bin/sh
if [ -s %[1]s ] && grep -qs %[2]s %[6]s/worktrees/*/%[4]s %[3]s/%[4]s; then
	sed -i 1d %[1]s
	echo "fatal: not now" >&2
	exit 128
fi
exec %[5]s "$@"
`, flag, says, u.dir, file, git, u.own())
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(text), 0o755); err != nil {
		u.t.Fatal(err)
	}
	u.only = bin + ":" + os.Getenv("PATH")
	return flag
}

// failing has the next so many calls of git fail, once the file says so.
func failing(t *testing.T, flag string, times int) {
	t.Helper()
	if err := os.WriteFile(flag, []byte(strings.Repeat("once\n", times)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestGitThatFails: what was done before git failed is done. It is not done again, no repair is spent on it, and once
// git works the work goes on behind it; what it changed is known, and can be taken back.
func TestGitThatFails(t *testing.T) {
	t.Parallel()
	const patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** Add File: deep/er/new.txt\n+new\n*** End Patch\n"
	patched := call("apply_patch", map[string]any{"patch": patch})
	command := call("run_terminal_cmd", map[string]any{"command": "sed -i s/one/two/ a.txt; echo once >> n.txt; mkdir -p deep/er; echo new > deep/er/new.txt"})
	for _, c := range []struct {
		name  string
		call  map[string]any
		flags []string
	}{
		{"patch", patched, nil}, {"command", command, nil},
		{"patch in place", patched, []string{"--in-place"}}, {"command in place", command, []string{"--in-place"}},
	} {
		for _, until := range []string{"for a moment", "until it is mended", "until it is given up"} {
			t.Run(c.name+" "+until, func(t *testing.T) {
				t.Parallel()
				u := newUser(t)
				gittest.Write(t, u.dir, map[string]string{"a.txt": "one\n", ".gitignore": "/.pawl\n"})
				u.repository()
				before := gittest.Tree(t, u.dir)
				text, err := document("Change", []map[string]any{edit("s1", "first.txt", "1\n"), step("s2", c.call),
					edit("s3", "last.txt", "3\n")}, "true")
				if err != nil {
					t.Fatal(err)
				}
				run := append([]string{"run", "--plan", u.plan(text), "--yes"}, c.flags...)
				flag := u.failingGit("a.txt", "two")
				if until == "for a moment" {
					failing(t, flag, 2)
					u.must(0, run...)
				} else {
					failing(t, flag, 1000)
					u.says(u.must(8, run...), "git ls-files failed")
					// Without git no command can tell whether the repository tracks pawl's files.
					if a := u.must(10, "audit", "log"); !strings.Contains(a.err, "git ls-files failed") {
						t.Error(a)
					}
					failing(t, flag, 0)
					u.says(u.must(0, "audit", "log"), "TREE_UNRECORDED")
				}
				if until == "until it is given up" {
					u.must(0, "rollback", "--yes")
					if got := gittest.Tree(t, u.dir); got != before {
						t.Errorf("the rollback left\n%s\nof\n%s", got, before)
					}
					return
				}
				if until == "until it is mended" {
					u.must(0, "fix", "-m", "git works again")
				}
				if u.read("a.txt") != "two\n" || u.read("deep/er/new.txt") != "new\n" || u.read("last.txt") != "3\n" {
					t.Error("the work is not there")
				}
				if n := u.read("n.txt"); n != "" && n != "once\n" {
					t.Errorf("the command ran again: %q", n)
				}
				st := u.task("T-001")
				if st.Fixes != 0 || len(st.Failures) != 0 {
					t.Errorf("repairs were spent: %+v", st)
				}
				u.must(0, "undo")
				if got := gittest.Tree(t, u.dir); got != before {
					t.Errorf("undo left\n%s\nof\n%s", got, before)
				}
			})
		}
	}
}

// TestFolderDeleted: a folder that is deleted while pawl works in it stays deleted.
func TestFolderDeleted(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.write("a.txt", "a\n")
	u.repository()
	text, err := document("Wait", []map[string]any{running("sleep 5; echo x > x.txt", true)}, "true")
	if err != nil {
		t.Fatal(err)
	}
	p := u.start("run", "--plan", u.plan(text), "--yes")
	u.doing("run_terminal_cmd")
	for range 100 { // what pawl writes meanwhile may be in the way
		if err = os.RemoveAll(u.dir); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if a := p.wait(); a.code != 10 || !strings.Contains(a.err, "no longer at") {
		t.Error(a)
	}
	if left, err := filepath.Glob(filepath.Join(u.dir, "*")); err == nil && len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	if _, err := os.Lstat(u.dir); err == nil {
		t.Error("the folder is there again")
	}
}
