package git_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl"
	"pawl/internal/gittest"
	"pawl/sandbox/git/layout"
)

// withTree makes a repository with a worktree of pawl's and one of the user's own.
func withTree(t *testing.T) (r *gittest.Repo, mine string) {
	t.Helper()
	r = gittest.New(t, map[string]string{"a.txt": "a\n"})
	tree := r.Path(".pawl/worktrees/T1")
	if _, err := open(t, r, tree, true).AddWorktree(context.Background(), r.Head()); err != nil {
		t.Fatal(err)
	}
	mine = filepath.Join(filepath.Dir(r.Dir), filepath.Base(r.Dir)+"-mine")
	r.Git("worktree", "add", "-q", "--detach", mine)
	return r, mine
}

// linked fails unless git and pawl know the worktree where the repository is, and the user's own where it was.
func linked(t *testing.T, r *gittest.Repo, mine string) {
	t.Helper()
	tree := r.Path(".pawl/worktrees/T1")
	list := r.Git("worktree", "list", "--porcelain")
	if !strings.Contains(list, "worktree "+tree+"\n") || !strings.Contains(list, "worktree "+mine+"\n") ||
		strings.Contains(list, "prunable") {
		t.Errorf("git knows:\n%s", list)
	}
	if ok, err := open(t, r, tree, true).WorktreeIs(context.Background(), r.Head()); err != nil || !ok {
		t.Errorf("pawl does not know its worktree: %v, %v", ok, err)
	}
	if got := gittest.At(t, tree).Git("status", "--porcelain"); got != "" {
		t.Errorf("git in the worktree says: %s", got)
	}
}

func TestRelink(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, mine := withTree(t)
	from, to := r.Dir, r.Dir+"-moved"
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
	m := gittest.At(t, to)
	if ok, _ := open(t, m, m.Path(".pawl/worktrees/T1"), true).WorktreeIs(ctx, m.Head()); ok {
		t.Fatal("the links need no mending")
	}
	for range 2 {
		if err := layout.Relink(to, from+"/.pawl/worktrees", to+"/.pawl/worktrees"); err != nil {
			t.Fatal(err)
		}
	}
	linked(t, m, mine)
}

// What a registration says is the user's repository's; what it names outside of pawl's worktrees is never written to.
func TestRelink_WritesNothingElse(t *testing.T) {
	t.Parallel()
	r, mine := withTree(t)
	from := r.Dir
	for name, target := range map[string]string{
		"deep": from + "/.pawl/worktrees/a/b/.git", "up": from + "/.pawl/worktrees/../../x/.git", "other": from +
			"-other/.pawl/worktrees/T1/.git",
		"plain": from + "/.pawl/worktrees/.git", "strange": "\x00", "empty": "",
	} {
		r.Write(map[string]string{".git/worktrees/" + name + "/gitdir": target + "\n"})
	}
	to := from + "-moved"
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
	m := gittest.At(t, to)
	m.Write(map[string]string{"x/.git/keep": "", ".pawl/worktrees/a/b/keep": ""})
	if err := layout.Relink(to, from+"/.pawl/worktrees", to+"/.pawl/worktrees"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"deep", "up", "other", "plain", "strange", "empty"} {
		raw, err := os.ReadFile(m.Path(".git/worktrees/" + name + "/gitdir"))
		if err != nil || strings.Contains(string(raw), to) {
			t.Errorf("%s says %q now, %v", name, raw, err)
		}
	}
	if raw, err := os.ReadFile(filepath.Join(mine, ".git")); err != nil ||
		!strings.Contains(string(raw), from+"/.git") {
		t.Errorf("the user's own worktree was changed: %q, %v", raw, err)
	}
}

// A folder that is gone is named, and not git.
func TestAFolderThatIsGone(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"a.txt": "a\n"})
	repo := open(t, r, "", true)
	if err := os.Rename(r.Dir, r.Dir+"-moved"); err != nil {
		t.Fatal(err)
	}
	_, err := repo.Objects.ResolveTree(context.Background(), strings.Repeat("1", 40))
	var e *pawl.Error
	if !errors.As(err, &e) || e.Key != "git.no_folder" || !strings.HasPrefix(e.Args[1].(string), r.Dir) {
		t.Errorf("it says %v", err)
	}
}
