package main

import (
	"fmt"
	"strings"
	"testing"

	"pawl/machine/board"
)

// part adds an issue that adds a part.
func (u *user) part(n int, more ...string) {
	u.t.Helper()
	u.must(0, append([]string{"issue", "add", fmt.Sprintf("part %d", n), "--plan",
		u.planFile(fmt.Sprint("part", n), partPlan(n, "", "", false))}, more...)...)
}

// parts lists the parts that a branch has.
func (u *user) parts(branch string) string {
	u.t.Helper()
	var out []string
	for f := range strings.FieldsSeq(u.git("ls-tree", "--name-only", branch)) {
		if strings.HasPrefix(f, "part0") {
			out = append(out, strings.Trim(f, "part0.go"))
		}
	}
	return strings.Join(out, " ")
}

// branches fails unless each branch has its parts.
func (u *user) branches(want map[string]string) {
	u.t.Helper()
	for branch, parts := range want {
		if got := u.parts(branch); got != parts {
			u.t.Errorf("%s has the parts %q, want %q", branch, got, parts)
		}
	}
	if got := u.git("status", "--porcelain"); got != "" {
		u.t.Errorf("the user's tree is not what its branch says:\n%s", got)
	}
}

// TestBranch_OfTheBoard: the results of a board land on the branch that it was begun for, whatever is checked out when
// the work on an issue begins, and that is said.
func TestBranch_OfTheBoard(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	// The first waits for a person, so that the batch stays open.
	u.part(1)
	u.part(2)
	u.must(0, "issue", "plan", "ISS-1")
	u.git("checkout", "-q", "-b", "mine")
	u.write("mine.txt", "mine\n")
	u.git("add", "mine.txt")
	u.git("commit", "-q", "-m", "mine")
	a := u.must(0, "issue", "execute", "ISS-2", "--yes")
	u.says(a, "on main")
	u.tells(a, "begun for the branch main")
	u.branches(map[string]string{"main": "2", "mine": ""})
	if u.read("mine.txt") != "mine\n" || u.read("part002.go") != "" {
		t.Error("the user's tree was changed by what landed elsewhere")
	}
	if i := u.issue("ISS-2"); i.Branch != "main" || i.Landed != "main" {
		t.Errorf("the issue: %+v", i)
	}
	// What is approved later, and what is retried, goes the same way.
	u.must(0, "approve", "--issue", "ISS-1", "--yes")
	u.must(0, "worker")
	u.branches(map[string]string{"main": "1 2", "mine": ""})
	u.issueIs("ISS-1", board.IssueCompleted, "")
	// What is begun when nothing is open any more is for what is checked out then.
	u.part(3)
	u.says(u.must(0, "worker", "--yes"), "on mine")
	u.branches(map[string]string{"main": "1 2", "mine": "3"})
	if u.read("part003.go") == "" {
		t.Error("what landed on the branch that is checked out is not in its tree")
	}
}

// TestBranch_Asked: an issue and a board land on the branch that was asked for, from what that branch holds.
func TestBranch_Asked(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	u.git("branch", "release")
	u.git("checkout", "-q", "-b", "side")
	u.write("Makefile", "test:\n\ttrue\n")
	u.git("add", "Makefile")
	u.git("commit", "-q", "-m", "how it is checked")
	u.part(1, "--branch", "release")
	u.part(2)
	u.tells(u.must(3, "issue", "add", "x", "--branch", "nowhere"), "no branch nowhere", "git branch")
	u.must(0, "worker", "--yes", "--branch", "main")
	u.branches(map[string]string{"release": "1", "main": "2", "side": ""})
	if got := u.git("ls-tree", "--name-only", "release", "Makefile"); got != "" {
		t.Errorf("what was checked out is on the branch that was asked for: %s", got)
	}
	u.quiet("refs/heads/release", "refs/heads/side")
}

// TestBranch_Gone: a branch that was deleted or renamed stops the work with the reason, and the next command brings it
// on.
func TestBranch_Gone(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	u.git("branch", "release")
	u.part(1, "--branch", "release")
	u.part(2, "--branch", "release")
	u.must(0, "issue", "plan", "ISS-1", "--yes")
	u.git("branch", "-m", "release", "renamed")
	a := u.pawl("issue", "execute", "ISS-1")
	u.says(a, "release is gone")
	if a.code == 0 {
		t.Errorf("it is taken for done: %v", a)
	}
	u.branches(map[string]string{"main": "", "renamed": ""})
	u.says(u.must(0, "issue", "show", "ISS-1"), "release")
	u.git("branch", "release")
	u.must(0, "fix", "--issue", "ISS-1")
	u.branches(map[string]string{"main": "", "release": "1"})

	u.git("branch", "-D", "release")
	if a = u.pawl("issue", "plan", "ISS-2", "--yes"); a.code == 0 {
		t.Errorf("it is taken for planned: %v", a)
	}
	u.says(u.must(0, "issue", "show", "ISS-2"), "branch release", "is gone")
	u.must(0, "issue", "edit", "ISS-2", "--branch", "renamed")
	u.must(0, "issue", "retry", "ISS-2")
	u.must(0, "worker", "--yes")
	u.branches(map[string]string{"main": "", "renamed": "2"})
}

// TestBranch_Planned: a plan is made from what the branch holds that it is for, and the checks are those of that
// branch.
func TestBranch_Planned(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	u.write("ugly.go", "package parts\n\nfunc  Ugly( ) {}\n")
	u.git("add", "-A")
	u.git("commit", "-q", "-m", "ugly")
	u.git("checkout", "-q", "-b", "side")
	u.git("rm", "-q", "-r", "ugly.go", "go.mod", "parts.go")
	u.git("commit", "-q", "-m", "no code at all")
	u.must(0, "issue", "add", "fix the formatting", "--branch", "main")
	a := u.must(0, "worker", "--yes")
	u.says(a, "on main")
	if got := u.git("show", "main:ugly.go"); !strings.Contains(got, "func Ugly() {}") {
		t.Errorf("it is still ugly: %s\n%v", got, a)
	}
	u.branches(map[string]string{"side": ""})
	u.quiet("refs/heads/side")
}
