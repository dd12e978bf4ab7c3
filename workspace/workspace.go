// Package workspace finds the workspace that a folder belongs to and prepares its .pawl folder.
package workspace

import (
	"errors"
	"os"
	"path/filepath"

	"pawl"
	"pawl/effect"
	"pawl/sandbox/git"
)

// Dir is the name of pawl's folder in a workspace, Store that of the store in it.
const (
	Dir   = ".pawl"
	Store = "pawl.db"
)

// Find returns the workspace that dir belongs to: the nearest folder upwards that was initialised, else the top of the
// git repository, else dir itself.
func Find(dir string) (effect.Place, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return effect.Place{}, pawl.Fail(pawl.CodeIO, "cli.dir", dir).Because(err)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	top, inGit := git.Top(dir)
	place := effect.Place{Workspace: dir}
	if found, ok := initialised(dir); ok {
		place.Workspace = found
	} else if inGit {
		place.Workspace = top
	}
	place.Tree, place.Git = place.Workspace, inGit && top == place.Workspace
	return place, nil
}

// initialised looks upwards for a store.
func initialised(dir string) (string, bool) {
	for up := dir; ; up = filepath.Dir(up) {
		if info, err := os.Lstat(filepath.Join(up, Dir, Store)); err == nil && info.Mode().IsRegular() {
			return up, true
		}
		if filepath.Dir(up) == up {
			return "", false
		}
	}
}

// Prepare makes the .pawl folder. A workspace that is the user's home or the root of the file system is refused, because
// everything in it would be open to the work, and so is a bare repository, whose files are git's own. It is safe to call
// again.
func Prepare(p effect.Place) error {
	home, _ := os.UserHomeDir()
	if p.Workspace == "/" || home != "" && p.Workspace == filepath.Clean(home) {
		return pawl.Fail(pawl.CodeDenied, "cli.workspace_home", p.Workspace)
	}
	if bare, ok := git.Bare(p.Workspace); ok && !p.Git {
		return pawl.Fail(pawl.CodeRepository, "git.bare", bare)
	}
	dir := filepath.Join(p.Workspace, Dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return pawl.Fail(pawl.CodeReadOnly, "cli.workspace_readonly", dir).Because(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err == nil {
		_, err = f.WriteString("# Everything here is pawl's own.\n*\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return pawl.Fail(pawl.CodeIO, "cli.workspace_readonly", dir).Because(err)
	}
	return nil
}
