// Package known holds the state directories of a user's workspaces: one for each path, named after it. In each, pawl
// stores what it alone writes and trusts of the workspace.
package known

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pawl/store/disk"
)

// Store is the name of the store in the state of a workspace.
const Store = "pawl.db"

// pathFile, in the state of a workspace, has its path, and in a second line what identifies the directory there.
const pathFile = "path"

// longest bounds that file: a path of Linux, and the identity.
const longest = 4096 + 64

// List is the workspaces of one user. It is safe for use by several processes: each workspace has a directory.
type List struct{ dir string }

// In is the list in the directory of a user's state.
func In(state string) List { return List{filepath.Join(state, "workspaces")} }

// State is the directory of a workspace, by its absolute path without symbolic links. It need not exist.
func (l List) State(workspace string) string {
	sum := sha256.Sum256([]byte(workspace))
	name := strings.Map(func(c rune) rune {
		if c == '-' || c == '_' || c == '.' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' {
			return c
		}
		return -1
	}, filepath.Base(workspace))
	return filepath.Join(l.dir, strings.TrimLeft(name[:min(len(name), 20)]+"-", ".-")+hex.EncodeToString(sum[:8]))
}

// Has reports whether a workspace has a store.
func (l List) Has(workspace string) bool {
	info, err := os.Lstat(filepath.Join(l.State(workspace), Store))
	return err == nil && info.Mode().IsRegular()
}

// Add creates the state of a workspace, or notes that it is at another path now. Of one that is listed, nothing is
// written.
func (l List) Add(workspace string) error {
	state := l.State(workspace)
	if at, id := l.read(filepath.Base(state)); at == workspace && id == identity(workspace) {
		return nil
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	return disk.WriteFile(filepath.Join(state, pathFile), []byte(workspace+"\n"+identity(workspace)+"\n"))
}

// read returns the path of the workspace whose state has a name, "" where there is none, and its identity then.
func (l List) read(name string) (workspace, id string) {
	raw, err := os.ReadFile(filepath.Join(l.dir, name, pathFile))
	if err != nil || len(raw) > longest {
		return "", ""
	}
	workspace, id, _ = strings.Cut(strings.TrimSuffix(string(raw), "\n"), "\n")
	if !filepath.IsAbs(workspace) {
		return "", ""
	}
	return workspace, id
}

// Owner is the workspace whose state a directory is in, "" for none.
func (l List) Owner(dir string) string {
	rel, err := filepath.Rel(l.dir, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	name, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	workspace, _ := l.read(name)
	return workspace
}

// all calls f with each workspace that has a store.
func (l List) all(f func(workspace, id string)) {
	entries, _ := os.ReadDir(l.dir) // where nothing was ever added there is no directory
	for _, e := range entries {
		if w, id := l.read(e.Name()); w != "" && filepath.Base(l.State(w)) == e.Name() && l.Has(w) {
			f(w, id)
		}
	}
}

// Workspaces are those with a store whose directory exists, by their paths in order. A directory that does not exist
// may be on a disk that comes back.
func (l List) Workspaces() (out []string) {
	l.all(func(w, _ string) {
		if _, err := os.Stat(w); err == nil {
			out = append(out, w)
		}
	})
	slices.Sort(out)
	return out
}

// Moved is the path at which a directory was a workspace before somebody moved it, "" for none: nothing is there now,
// and it had the identity of the directory.
func (l List) Moved(dir string) (from string) {
	now := identity(dir)
	l.all(func(w, id string) {
		if _, err := os.Lstat(w); errors.Is(err, fs.ErrNotExist) && id != "" && id == now {
			from = w
		}
	})
	return from
}

// Changed is when something was committed last in one of the workspaces, as far as their witnesses say (docs/store.md):
// the instant in milliseconds since 1970, which grows with each commit but those of one millisecond.
func (l List) Changed() (newest int64) {
	for _, w := range l.Workspaces() {
		if info, err := os.Stat(filepath.Join(l.State(w), Store+"-witness")); err == nil {
			newest = max(newest, info.ModTime().UnixMilli())
		}
	}
	return newest
}

// identity is what a directory has in common with itself under another name on the same disk, "" where the system has
// nothing like it, and without a .pawl in it: a file system gives the number of a removed directory to the next new
// one, so that a fresh clone would be taken for what was there before.
func identity(dir string) string {
	id := ""
	for _, p := range []string{dir, filepath.Join(dir, ".pawl")} {
		info, err := os.Lstat(p)
		if err != nil {
			return ""
		}
		dev, ino, ok := inode(info)
		if !ok {
			return ""
		}
		id += fmt.Sprintf("%d:%d:%d ", dev, ino, birth(p))
	}
	return strings.TrimSpace(id)
}
