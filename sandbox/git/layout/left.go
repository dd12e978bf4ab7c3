package layout

import (
	"os"
	"path/filepath"

	"pawl/sandbox/git/object"
	"pawl/store/disk"
	"pawl/store/lockfile"
)

// MarkedLock begins the names of locks that are about to be linked into place.
const MarkedLock = "pawl.lock-"

// Left names the temporary files of calls that were cut short: in pawl's own directory, and those of pawl's in the
// user's.
func (r *Layout) Left() (out []string) {
	patterns := [][]string{{r.Shadow, disk.New + "*"}, {r.State("tmp"), "*"}, {r.State("land"), disk.New + "*"},
		// New objects are written under such names, or collected in such folders, before they enter the store.
		{r.ObjectDir(), "tmp_obj*"}, {r.RefDir(), "refs", "pawl", "trees", "*", disk.New + "*"}}
	if r.Git {
		patterns = append(patterns, []string{r.GitDir, MarkedLock + "*"}, []string{r.SharedObjects(), "tmp_obj*"},
			[]string{r.SharedObjects(), "pack", object.Half + "*"})
	}
	for _, p := range patterns {
		p[0] = EscapeGlob(p[0])
		found, _ := filepath.Glob(filepath.Join(p...)) // the patterns are well formed
		for _, path := range found {
			if info, err := os.Lstat(path); err == nil && lockfile.Left(info) {
				out = append(out, path)
			}
		}
	}
	return out
}
