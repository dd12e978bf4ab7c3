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
		ctx := gittest.Trace(t.Context(), func(name string) { asked = asked || name == "git symbolic-ref" })
		commit, branch, err := repo.Refs.Head(ctx)
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

// TestReferencesAreReadFromFiles: what is read from the file of a reference, and what its absence says, is what git
// says, wherever the reference stands.
func TestReferencesAreReadFromFiles(t *testing.T) {
	r := gittest.New(t, map[string]string{"a.txt": "a"})
	repo := open(t, r, "", true)
	first := r.Head()
	name := git.PrivateRef("mark")
	if err := repo.Refs.Set(t.Context(), git.PrivateRef("other"), first, "", "test"); err != nil { // its objects are there
		t.Fatal(err)
	}
	read := func(want string, wantAsked bool) {
		t.Helper()
		asked := false
		ctx := gittest.Trace(t.Context(), func(string) { asked = true })
		id, err := repo.Refs.Lookup(ctx, name)
		if err != nil || id != want || asked != wantAsked {
			t.Errorf("%q, want %q; git asked: %v; %v", id, want, asked, err)
		}
	}
	read("", false)
	r.Own("update-ref", name, first)
	read(first, false)
	r.Own("pack-refs", "--all")
	read(first, true)
	r.Own("update-ref", "-d", name)
	read("", false)
	r.Own("symbolic-ref", name, git.PrivateRef("other"))
	read(first, true)
	r.Own("symbolic-ref", "-d", name)
	r.Own("update-ref", name+"/below", first)
	read("", true) // a folder may be where git has left one, and says nothing
}

// TestTrackedPaths: a path counts as tracked where the newest commit holds something at it, whatever lies in the tree.
func TestTrackedPaths(t *testing.T) {
	r := gittest.New(t, map[string]string{"a/vendor/x.go": "x", "b.txt": "b", ".gitignore": "node_modules\n"})
	gittest.Write(t, r.Dir, map[string]string{"node_modules/x.js": "x", "new/y": "y"})
	paths := []string{"a/vendor", "node_modules", "new", "b.txt", "gone", "-x", "*"}
	got, err := git.Tracked(t.Context(), open(t, r, "", true), paths)
	if err != nil || len(got) != 2 || !got["a/vendor"] || !got["b.txt"] {
		t.Errorf("%v %v", got, err)
	}
	r.Git("checkout", "-q", "--orphan", "unborn")
	if got, err := git.Tracked(t.Context(), open(t, r, "", true), paths); err != nil || len(got) != 0 {
		t.Errorf("without a commit: %v %v", got, err)
	}
}
