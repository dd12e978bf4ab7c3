package layout

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"pawl/sandbox/git/object"
	"pawl/store/disk"
	"pawl/store/lockfile"
	"pawl/store/owndir"
)

// Keeper is what pawl writes beside a pack in the user's store, so that no garbage collection takes it away before its
// reference is written. Settled is the age from which that has happened or never will.
const (
	Keeper  = "pawl"
	settled = 10 * time.Minute
)

// Keeps lists the files by which pawl keeps packs of the user's store.
func Keeps(r *Layout) (out []string) {
	found, _ := filepath.Glob(filepath.Join(EscapeGlob(r.SharedObjects()), "pack", "*.keep"))
	for _, path := range found {
		if line, ok := ReadLine(path, ""); ok && line == Keeper {
			out = append(out, path)
		}
	}
	return out
}

// MarkedLock begins the names of locks that are about to be linked into place.
const MarkedLock = "pawl.lock-"

// Left names the temporary files of calls that were cut short: in pawl's own directory, and those of pawl's in the
// user's. Each has a name that pawl gave, which says that its maker has ended.
func (r *Layout) Left() (out []string) {
	patterns := [][]string{{r.Shadow, disk.New + "*"}, {r.State("land"), disk.New + "*"},
		{r.State("tmp"), "index-*"}, {r.State("tmp"), "remote-*"}, {r.State("tmp"), "worktree-*"},
		{r.State("tmp"), "pack-*"}, {r.ObjectDir(), object.New + "*"},
		{r.Shadow, "refs", "pawl", "trees", "*", disk.New + "*"}}
	if r.Git {
		patterns = append(patterns, []string{r.GitDir, MarkedLock + "*"}, []string{r.SharedObjects(), object.New + "*"})
		for _, path := range Keeps(r) {
			if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > settled {
				out = append(out, path)
			}
		}
	}
	for _, p := range patterns {
		p[0] = EscapeGlob(p[0])
		found, _ := filepath.Glob(filepath.Join(p...)) // the patterns are well formed
		for _, path := range found {
			if lockfile.Left(filepath.Base(path)) {
				out = append(out, path)
			}
		}
	}
	return out
}

// Discard removes a file or a directory of pawl's own. In the state and in .pawl it follows no link, and refuses one
// on the way.
func Discard(r *Layout, path string) error {
	if own, err := filepath.Rel(r.Base, path); err == nil && filepath.IsLocal(own) {
		return owndir.RemoveAll(r.Base, own)
	}
	if own, err := filepath.Rel(r.Workspace, path); err == nil && strings.HasPrefix(filepath.ToSlash(own), ".pawl/") {
		return owndir.RemoveAll(r.Workspace, own)
	}
	return disk.RemoveAll(path)
}
