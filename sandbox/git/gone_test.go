package git_test

import (
	"context"
	"os"
	"testing"
	"time"

	"pawl/internal/gittest"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

// TestNothingIsMadeWhereAWorkspaceWas: whatever pawl is at when somebody moves the folder away, it leaves nothing in
// the old place.
func TestNothingIsMadeWhereAWorkspaceWas(t *testing.T) {
	t.Parallel()
	template := gittest.New(t, map[string]string{"a": "1\n", "d/b": "2\n"})
	for name, do := range map[string]func(ctx context.Context, r *git.Repo, head string) error{
		"a worktree": func(ctx context.Context, r *git.Repo, head string) error {
			_, err := r.AddWorktree(ctx, head)
			return err
		},
		"a copy":    func(ctx context.Context, r *git.Repo, _ string) error { _, err := r.CopyTree(ctx); return err },
		"worktrees": func(ctx context.Context, r *git.Repo, _ string) error { return git.NewWarm(r).Fill(ctx, 1) },
		"a reference": func(ctx context.Context, r *git.Repo, head string) error {
			return r.Refs.Set(ctx, "refs/pawl/chk-1", head, "", "test")
		},
	} {
		t.Run(name, func(t *testing.T) {
			for n, whole := 1, false; !whole; n++ {
				dir := gittest.Copy(t, template.Dir)
				r, err := git.Open(t.Context(), layout.Place{Workspace: dir, Tree: dir + "/.pawl/worktrees/t",
					Git: true})
				if err != nil {
					t.Fatal(err)
				}
				steps, at := 0, ""
				ctx := gittest.Trace(t.Context(), func(step string) {
					if steps++; steps == n {
						if at = step; os.Rename(dir, dir+"-moved") != nil {
							t.Error("not moved")
						}
					}
				})
				err = do(ctx, r, template.Head())
				if _, stat := os.Lstat(dir); at != "" && !os.IsNotExist(stat) {
					t.Errorf("the workspace is made again where it was moved away before step %d, %s: %v", n, at, err)
				}
				whole = at == ""
				_ = os.RemoveAll(dir + "-moved")
			}
		})
	}
}

// TestMovedAtAnyMoment moves the workspace between pawl's steps, too: while git is at work.
func TestMovedAtAnyMoment(t *testing.T) {
	t.Parallel()
	template := gittest.New(t, map[string]string{"a": "1\n", "d/b": "2\n"})
	for n := range 40 {
		dir := gittest.Copy(t, template.Dir)
		r, err := git.Open(t.Context(), layout.Place{Workspace: dir, Tree: dir + "/.pawl/worktrees/t", Git: true})
		if err != nil {
			t.Fatal(err)
		}
		moved := make(chan error)
		go func() {
			time.Sleep(time.Duration(n) * 500 * time.Microsecond)
			moved <- os.Rename(dir, dir+"-moved")
		}()
		_, added := r.AddWorktree(t.Context(), template.Head())
		if err := <-moved; err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(dir); !os.IsNotExist(err) {
			t.Errorf("round %d: the workspace is made again where it was: %v, added %v", n, err, added)
		}
		_ = os.RemoveAll(dir + "-moved")
	}
}
