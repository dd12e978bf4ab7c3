package land_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/driver/land"
	"pawl/internal/gittest"
	"pawl/kernel/effect"
)

// permissions reads the modes of all files and folders.
func permissions(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == ".git" || d.Name() == ".pawl" {
			return fs.SkipDir
		}
		info, err := d.Info()
		fmt.Fprintf(&b, "%s %v\n", strings.TrimPrefix(path, dir), info.Mode())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A file or a folder that its owner made private is private again when an undo brings it back.
func TestPermissionsComeBack(t *testing.T) {
	t.Parallel()
	r, e := worked(t)
	s, err := effect.Decode[effect.LandSpec](e.Spec)
	if err != nil {
		t.Fatal(err)
	}
	for name, perm := range map[string]fs.FileMode{"a": 0o600, "gone": 0o640, "d/x": 0o660, "kind": 0o640, "run": 0o640,
		"d": 0o770 | fs.ModeSetgid | fs.ModeSticky, "b": 0o640} {
		if err := os.Chmod(r.Path(name), perm); err != nil {
			t.Fatal(err)
		}
	}
	before, content := permissions(t, r.Dir), gittest.Tree(t, r.Dir)
	if f := do(t, e).Files; len(f) == 0 {
		t.Fatal("nothing was landed")
	}
	after := permissions(t, r.Dir)
	if !strings.Contains(after, "/kind drwxr-xr-x") {
		t.Fatalf("a folder has the permissions of the file that it replaced:\n%s", after)
	}
	for n, want := range []string{before, after, before} {
		spec := effect.Encode(effect.RevertSpec{Commit: r.Head(), Branch: s.Branch, Keep: "pawl/undo", Subject: "Undo",
			At: when})
		result := land.NewRevert(nil).Do(context.Background(), effect.Effect{ID: fmt.Sprint("0", n+2), Place: e.Place,
			Spec: spec}, nil)
		if err := result.Err(); err != nil {
			t.Fatal(err)
		}
		if got := permissions(t, r.Dir); got != want {
			t.Errorf("%d: got\n%s\nwant\n%s", n, got, want)
		}
	}
	if got := gittest.Tree(t, r.Dir); got != content {
		t.Errorf("got\n%s\nwant\n%s", got, content)
	}
}
