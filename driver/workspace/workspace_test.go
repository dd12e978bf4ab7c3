package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"pawl/driver/workspace"
	"pawl/internal/gittest"
	"pawl/store/known"
)

func TestMain(m *testing.M) { os.Exit(gittest.Isolate(m, nil)) }

// made makes folders in a new place, some of them repositories and some workspaces.
func made(t *testing.T, repositories, workspaces, folders []string) (root string, l known.List) {
	t.Helper()
	l = known.In(t.TempDir())
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := func(path string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range repositories {
		file(filepath.Join(root, r, ".git", "HEAD"))
		file(filepath.Join(root, r, ".git", "objects", "x"))
	}
	for _, w := range workspaces {
		file(filepath.Join(root, w, "x"))
		if err := l.Add(filepath.Join(root, w)); err != nil {
			t.Fatal(err)
		}
		file(filepath.Join(l.State(filepath.Join(root, w)), known.Store))
	}
	for _, f := range folders {
		file(filepath.Join(root, f, "x"))
	}
	return root, l
}

func TestFind(t *testing.T) {
	root, l := made(t, []string{"repo", "big", "big/part"}, []string{"big", "plain"},
		[]string{"repo/a/b", "big/src", "big/part/src", "plain/src", "bare"})
	for dir, c := range map[string]struct {
		want string
		git  bool
	}{
		"repo": {"repo", true}, "repo/a/b": {"repo", true},
		"big": {"big", true}, "big/src": {"big", true},
		// A repository of its own belongs to itself.
		"big/part": {"big/part", true}, "big/part/src": {"big/part", true},
		"plain": {"plain", false}, "plain/src": {"plain", false}, "bare": {"bare", false},
	} {
		p, err := workspace.Find(l, filepath.Join(root, dir))
		if err != nil || p.Workspace != filepath.Join(root, c.want) || p.Tree != p.Workspace {
			t.Errorf("%s: %+v %v, want %s", dir, p, err, c.want)
		}
		if p.Git != c.git || p.State != l.State(p.Workspace) {
			t.Errorf("%s: %+v", dir, p)
		}
	}
	tree := filepath.Join(l.State(filepath.Join(root, "big")), "worktrees", "T1")
	if err := os.MkdirAll(filepath.Join(tree, ".git", "objects"), 0o755); err != nil {
		t.Fatal(err)
	}
	if p, err := workspace.Find(l, tree); err != nil || p.Workspace != filepath.Join(root, "big") || !p.Git {
		t.Errorf("a worktree belongs to %+v, %v", p, err)
	}
}

func TestLook(t *testing.T) {
	root, l := made(t, []string{"repo", "many/a", "many/deep/b", "one/a", "outer", "outer/inner", "nested/.hidden/x",
		"nested/.hidden/y"},
		[]string{"outer", "spaces/a", "spaces/b"}, []string{"plain", "one/b", "nested/z"})
	for dir, want := range map[string]workspace.Footing{
		"repo": {}, "outer": {Exists: true}, "plain": {Doubt: workspace.Plain},
		"outer/inner": {Doubt: workspace.Below, Other: filepath.Join(root, "outer")},
		"many":        {Doubt: workspace.Many, Other: filepath.Join(root, "many/a"), Projects: 2},
		"spaces":      {Doubt: workspace.Many, Other: filepath.Join(root, "spaces/a"), Projects: 2},
		"one":         {Doubt: workspace.Plain, Other: filepath.Join(root, "one/a"), Projects: 1},
		"nested":      {Doubt: workspace.Plain},
	} {
		p, err := workspace.Find(l, filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		if got := workspace.Look(l, p); got != want {
			t.Errorf("%s: %+v, want %+v", dir, got, want)
		}
	}
}
