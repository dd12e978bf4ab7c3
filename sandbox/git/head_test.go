package git_test

import (
	"context"
	"testing"

	"pawl/internal/gittest"
	"pawl/sandbox/git"
)

// TestHeadNamesTheBranch: what is read of a plain name is what git says of it, and git is asked for every other.
func TestHeadNamesTheBranch(t *testing.T) {
	r := gittest.New(t, map[string]string{"a.txt": "a"})
	repo := open(t, r, "", true)
	head := func() (branch string, asked bool) {
		t.Helper()
		ctx := git.Trace(t.Context(), func(name string) { asked = asked || name == "git symbolic-ref" })
		commit, branch, err := repo.Head(ctx)
		if err != nil || commit != r.Head() {
			t.Fatal(commit, branch, err)
		}
		return branch, asked
	}
	for _, name := range []string{"topic", "team/fix-12_b", "v1.2", "Ümlaut", "a+b"} {
		r.Git("checkout", "-q", "-b", name)
		branch, asked := head()
		if branch != name || asked != (name == "v1.2" || name == "Ümlaut" || name == "a+b") {
			t.Errorf("%q: %q, git asked: %v", name, branch, asked)
		}
	}
	r.Git("checkout", "-q", "--detach")
	if branch, _ := head(); branch != "" {
		t.Errorf("detached: %q", branch)
	}
	r.Git("checkout", "-q", "--orphan", "unborn")
	s, err := repo.Status(context.Background())
	if err != nil || !s.Unborn || s.Branch != "unborn" || s.Ready() == nil || repo.Ready(context.Background()) == nil {
		t.Errorf("unborn: %+v %v", s, err)
	}
}
