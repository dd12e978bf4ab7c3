// Package known lists the workspaces of a user, so that one page can show them all. It is a hint and never the truth:
// how a workspace is, only its own store says, and one that is not in the list is as good as any.
package known

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pawl/store/disk"
)

// List is that of one user. It is safe for use by several processes: each workspace is a file of its own.
type List struct {
	dir   string
	store string
}

// In is the list in the folder of a user's state. Store is where, below a workspace, its store is.
func In(state, store string) List { return List{filepath.Join(state, "workspaces"), store} }

// longest is as long as the file of one workspace may be: a path of Linux, and the end of the line.
const longest = 4097

// Add takes a workspace, by its whole path, into the list. Of one that is in it nothing is written.
func (l List) Add(workspace string) error {
	sum := sha256.Sum256([]byte(workspace))
	file := filepath.Join(l.dir, hex.EncodeToString(sum[:8]))
	if _, err := os.Lstat(file); err == nil || len(workspace) >= longest {
		return nil
	}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	return disk.WriteFile(file, []byte(workspace+"\n"))
}

// Workspaces are those whose stores are there, by their paths in order. One whose folder is there without a store has
// been removed, and leaves the list; one whose folder is not there may be on a disk that comes back.
func (l List) Workspaces() []string {
	entries, _ := os.ReadDir(l.dir) // where nothing was ever added there is no folder
	var out []string
	for _, e := range entries {
		file := filepath.Join(l.dir, e.Name())
		if info, err := e.Info(); err != nil || !info.Mode().IsRegular() || info.Size() > longest {
			continue
		}
		raw, err := os.ReadFile(file)
		workspace := strings.TrimSuffix(string(raw), "\n")
		if err != nil || !filepath.IsAbs(workspace) {
			continue
		}
		if _, err := os.Stat(filepath.Join(workspace, l.store)); err == nil {
			out = append(out, workspace)
		} else if _, err := os.Stat(workspace); err == nil {
			_ = os.Remove(file)
		}
	}
	slices.Sort(out)
	return out
}

// Changed is when something was committed last in one of the workspaces, as far as their witnesses say (docs/store.md):
// the instant in milliseconds since 1970, which grows with each commit but those of one millisecond.
func (l List) Changed() (newest int64) {
	for _, w := range l.Workspaces() {
		if info, err := os.Stat(filepath.Join(w, l.store+"-witness")); err == nil {
			newest = max(newest, info.ModTime().UnixMilli())
		}
	}
	return newest
}
