// Package leftover finds what processes left that were killed, and removes it: temporary files in .pawl and in the
// user's git directory, files of workers that are gone, and checkouts on which something was being proven. Whether
// somebody still needs a thing is told by whether its maker lives (lockfile.Left), not by how old it is.
package leftover

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"pawl"
	"pawl/driver/archive"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
	"pawl/store/known"
	"pawl/store/lockfile"
	"pawl/store/presence"
	"pawl/store/sqlite"
)

// Found is something that was left.
type Found struct {
	Path  string
	Bytes int64
	// Remove takes it away.
	Remove func(context.Context) error
}

// Find looks for what was left in a workspace and in its repository.
func Find(place effect.Place) []Found {
	dir := place.Own()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	r, err := layout.Find(layout.Of(place).Top())
	if err != nil {
		return nil // what is not understood is left alone
	}
	var out []Found
	discard := func(path string) error { return layout.Discard(r, path) }
	add := func(paths []string, remove func(path string) error) {
		for _, path := range paths {
			out = append(out, Found{path, Size(path), func(context.Context) error { return remove(path) }})
		}
	}
	add(sqlite.Left(filepath.Join(dir, known.Store)), discard)
	add(presence.Left(dir), lockfile.Clear)
	add(archive.Left(filepath.Join(r.Workspace, ".pawl")), discard)
	add(r.Left(), discard)
	if !presence.Alone(dir) {
		return out // what follows does not say whose it is
	}
	add(halves(r.ObjectDir()), discard)
	return append(out, grounds(place, dir)...)
}

// Sweep removes what was left and returns what is gone. What cannot be removed stays for the next time. It stops with
// CodeDenied at a link or another entry that pawl did not make. This process may not be at work in the workspace.
func Sweep(ctx context.Context, place effect.Place) (gone []Found, err error) {
	for _, f := range Find(place) {
		switch failed := f.Remove(ctx); {
		case failed == nil:
			gone = append(gone, f)
		case pawl.CodeOf(failed) == pawl.CodeDenied:
			return gone, errors.Join(err, failed) // something of somebody else's is in the way
		case !errors.Is(failed, fs.ErrNotExist):
			err = errors.Join(err, failed)
		}
		if ctx.Err() != nil {
			return gone, ctx.Err()
		}
	}
	return gone, err
}

// halves are objects that git programs of pawl's were writing in pawl's own object store when they ended.
func halves(objects string) (out []string) {
	for _, pattern := range []string{"tmp_objdir-*", "??/tmp_obj_*"} {
		found, _ := filepath.Glob(filepath.Join(layout.EscapeGlob(objects), pattern)) // the pattern is well formed
		for _, path := range found {
			if !lockfile.Opened(path) {
				out = append(out, path)
			}
		}
	}
	return out
}

// proving is the form of the names of checkouts on which something is proven (ground.Beside).
var proving = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:in-place|[0-9A-HJKMNP-TV-Z]{26}|branch-[0-9A-HJKMNP-TV-Z]{26})-proof(?:-again)?$`)
})

// grounds are the checkouts on which something was proven when the process ended that did. Where somebody else works in
// the workspace they may be theirs.
func grounds(place effect.Place, dir string) (out []Found) {
	entries, _ := os.ReadDir(filepath.Join(dir, "worktrees")) // where there is no folder, nothing is left in it
	for _, e := range entries {
		if !e.IsDir() || !proving().MatchString(e.Name()) {
			continue
		}
		tree := filepath.Join(dir, "worktrees", e.Name())
		out = append(out, Found{tree, Size(tree), func(ctx context.Context) error {
			at := layout.Place{Workspace: place.Workspace, State: dir, Tree: tree, Git: place.Git}
			repo, err := (&git.Memory{}).Open(ctx, at)
			if err != nil {
				return err
			}
			return repo.RemoveWorktree(ctx)
		}})
	}
	return out
}

// Size is how many bytes a file has, or all below a folder.
func Size(path string) (n int64) {
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil // what cannot be looked into is not counted
	})
	return n
}

// Relative is how a thing is called in its workspace.
func (f Found) Relative(root string) string {
	if rel, ok := strings.CutPrefix(f.Path, root+string(filepath.Separator)); ok {
		return rel
	}
	return f.Path
}
