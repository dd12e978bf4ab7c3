// Package workspace finds the workspace that a folder belongs to and prepares its .pawl folder.
package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/git/layout"
	"pawl/store/owndir"
)

// Dir is the name of pawl's folder in a workspace, Store that of the store in it, and StoreAt where that is.
const (
	Dir     = ".pawl"
	Store   = "pawl.db"
	StoreAt = Dir + "/" + Store
)

// Find returns the workspace that dir belongs to: the nearest folder upwards that was initialised, else the top of the
// git repository, else dir itself. A repository that is nested in an initialised folder belongs to itself, except the
// worktrees that pawl keeps there.
func Find(dir string) (effect.Place, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return effect.Place{}, pawl.Fail(pawl.CodeIO, "cli.dir", dir).Because(err)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	top, inGit := layout.Top(dir)
	place := effect.Place{Workspace: dir}
	found, ok := initialised(dir)
	nested := inGit && len(top) > len(found) &&
		!strings.HasPrefix(top, filepath.Join(found, Dir)+string(filepath.Separator))
	if ok && !nested {
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

// Standing says how a workspace stands to the path at which its store knows it.
type Standing int

// Here: the same folder, maybe by another name. Moved: nothing with this store is at the path any more. Copied: another
// folder with a store of the same origin is. Tied: the other folder has the very same store file, as links make it;
// nothing may be done then.
const (
	Here Standing = iota
	Moved
	Copied
	Tied
)

// Examine finds out how the workspace at a folder stands to the path home. Same is asked whether a store at another
// path, which may be damaged, comes from the same origin as this one; what cannot be found out counts as yes, so that
// the other workspace is left alone.
func Examine(at, home string, same func(store string) bool) Standing {
	if home == "" || home == at {
		return Here
	}
	if sameFile(at, home) {
		return Here
	}
	there := filepath.Join(home, Dir, Store)
	switch _, err := os.Stat(there); {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return Moved
	case err == nil && sameFile(filepath.Join(at, Dir, Store), there):
		return Tied
	case err == nil && !same(there):
		return Moved
	}
	return Copied
}

func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// Ground is the store that a process has open, by which it sees whether the workspace is still where it was.
type Ground struct {
	dir  string
	info os.FileInfo
}

// NewGround looks at the store of the workspace at a folder, which must be there.
func NewGround(dir string) (Ground, error) {
	info, err := os.Stat(filepath.Join(dir, Dir, Store))
	if err != nil {
		return Ground{}, pawl.Fail(pawl.CodeIO, "cli.workspace_gone", dir).Because(err)
	}
	return Ground{dir, info}, nil
}

// Holds fails where the workspace was moved, removed or replaced since.
func (g Ground) Holds() error {
	info, err := os.Stat(filepath.Join(g.dir, Dir, Store))
	if err == nil && os.SameFile(info, g.info) {
		return nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return nil // what is only out of reach for now says so itself
	}
	return pawl.Fail(pawl.CodeIO, "cli.workspace_gone", g.dir).Because(err)
}

// Doubt says why a folder may not be meant to become a workspace.
type Doubt string

// The doubts.
const (
	NoDoubt Doubt = ""
	// Plain is a folder that is no git repository: nothing says where the project begins.
	Plain Doubt = "plain"
	// Many is such a folder with several projects in it, which would all be open to the work.
	Many Doubt = "many"
	// Below is a repository inside another workspace.
	Below Doubt = "below"
)

// Footing is what is to be known before a folder becomes a workspace.
type Footing struct {
	// Exists says that it is one.
	Exists bool
	Doubt  Doubt
	// Other is the workspace around it, or the first project in it.
	Other string
	// Projects is how many projects lie in it.
	Projects int
}

// maxLooked bounds the folders that Look goes through.
const maxLooked = 2000

// Look tells what stands in the way of making a workspace. It only reads.
func Look(p effect.Place) Footing {
	if info, err := os.Lstat(filepath.Join(p.Workspace, Dir, Store)); err == nil && info.Mode().IsRegular() {
		return Footing{Exists: true}
	}
	if p.Git {
		if other, ok := initialised(filepath.Dir(p.Workspace)); ok {
			return Footing{Doubt: Below, Other: other}
		}
		return Footing{}
	}
	s := Footing{Doubt: Plain}
	looked := 0
	for _, dir := range folders(p.Workspace, &looked) {
		inner := append([]string{dir}, folders(dir, &looked)...)
		for i, in := range inner {
			if !project(in) {
				continue
			}
			if s.Projects++; s.Other == "" {
				s.Other = in
			}
			if i == 0 {
				break
			}
		}
	}
	if s.Projects > 1 {
		s.Doubt = Many
	}
	return s
}

// folders lists the folders in a folder, as far as they are not hidden and not too many.
func folders(dir string, looked *int) (out []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if *looked++; *looked > maxLooked {
			break
		}
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && e.Name() != "node_modules" {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// project reports whether a folder is a repository or a workspace of its own.
func project(dir string) bool {
	for _, name := range []string{".git", filepath.Join(Dir, Store)} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// Prepare makes the .pawl folder. A workspace that is the user's home or the root of the file system is refused,
// because everything in it would be open to the work, and so is a bare repository, whose files are git's own. It is
// safe to call again.
func Prepare(p effect.Place) error {
	home, _ := os.UserHomeDir()
	if p.Workspace == "/" || home != "" && p.Workspace == filepath.Clean(home) {
		return pawl.Fail(pawl.CodeDenied, "cli.workspace_home", p.Workspace)
	}
	if bare, ok := layout.Bare(p.Workspace); ok && !p.Git {
		return pawl.Fail(pawl.CodeRepository, "git.bare", bare)
	}
	d, err := owndir.Make(p.Workspace, Dir)
	if err == nil {
		defer d.Close()
		// Objects of pawl's own pass through there on the way to the user's store. Without a store none of them are
		// pawl's, and they would be read instead of the repository's.
		if _, missing := d.Lstat(Store); p.Git && errors.Is(missing, os.ErrNotExist) {
			err = d.RemoveAll("git/objects")
		}
	}
	if err == nil {
		var f *os.File
		if f, err = d.OpenFile(".gitignore", os.O_WRONLY|os.O_CREATE|os.O_EXCL); err == nil {
			_, err = f.WriteString("# Everything here is pawl's own.\n*\n")
			err = errors.Join(err, f.Close())
		}
	}
	switch {
	case err == nil, errors.Is(err, os.ErrExist):
		return nil
	case pawl.CodeOf(err) == pawl.CodeDenied:
		return err
	}
	return pawl.Fail(pawl.CodeReadOnly, "cli.workspace_readonly", filepath.Join(p.Workspace, Dir)).Because(err)
}
