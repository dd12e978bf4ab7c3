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
	"strings"
	"time"

	"pawl/driver/archive"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
	"pawl/store/disk"
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
	var out []Found
	add := func(paths []string, remove func(path string) error) {
		for _, path := range paths {
			out = append(out, Found{path, Size(path), func(context.Context) error { return remove(path) }})
		}
	}
	add(sqlite.Left(filepath.Join(dir, known.Store)), os.Remove)
	add(presence.Left(dir), lockfile.Clear)
	add(archive.Left(filepath.Join(place.Workspace, ".pawl")), os.Remove)
	r, err := layout.Find(layout.Of(place).Top())
	if err == nil {
		add(r.Left(), disk.RemoveAll)
		add(halves(r.ObjectDir()), disk.RemoveAll)
		if r.Git {
			add(halves(r.SharedObjects()), disk.RemoveAll)
		}
	}
	return append(out, grounds(place)...)
}

// Sweep removes what was left and returns what is gone. What cannot be removed stays for the next time. This process
// may not be at work in the workspace.
func Sweep(ctx context.Context, place effect.Place) (gone []Found, err error) {
	for _, f := range Find(place) {
		switch failed := f.Remove(ctx); {
		case failed == nil:
			gone = append(gone, f)
		case !errors.Is(failed, fs.ErrNotExist):
			err = errors.Join(err, failed)
		}
		if ctx.Err() != nil {
			return gone, ctx.Err()
		}
	}
	return gone, err
}

// still is for how long nobody may have written to a half of git's own before it is looked into: between its last byte
// and its name, no process has it open.
const still = time.Minute

// halves are objects that git programs which have ended were writing. Their names do not say whose they are, so that
// the system is asked who has them open.
func halves(objects string) (out []string) {
	found, _ := filepath.Glob(filepath.Join(layout.EscapeGlob(objects), "??", "tmp_obj_*")) // the pattern is well formed
	for _, path := range found {
		info, err := os.Lstat(path)
		if err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > still && !lockfile.Opened(path) {
			out = append(out, path)
		}
	}
	return out
}

// grounds are the checkouts on which something was proven when the process ended that did. Where somebody else works in
// the workspace they may be theirs.
func grounds(place effect.Place) (out []Found) {
	dir := place.Own()
	if !presence.Alone(dir) {
		return nil
	}
	folders, _ := filepath.Glob(filepath.Join(layout.EscapeGlob(dir), "worktrees", "*-proof*"))
	for _, tree := range folders {
		out = append(out, Found{tree, Size(tree), func(ctx context.Context) error {
			repo, err := (&git.Memory{}).Open(ctx, layout.Place{Workspace: place.Workspace, State: place.Own(), Tree: tree, Git: place.Git})
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
