// Package workspace finds the workspace that a directory belongs to, and prepares it: its state, and .pawl in it, which
// has only what people read or write.
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
	"pawl/store/known"
	"pawl/store/owndir"
	"pawl/text/shell"
)

// Dir is the name of pawl's directory in a workspace.
const Dir = ".pawl"

// Find returns the workspace that dir belongs to: the nearest directory upwards that is one, else the top of the git
// repository, else dir itself. A repository nested in a workspace belongs to itself, except the worktrees of pawl,
// which belong to the workspace in whose state they are.
func Find(l known.List, dir string) (effect.Place, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return effect.Place{}, pawl.Fail(pawl.CodeIO, "cli.dir", dir).Because(err)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if owner := l.Owner(dir); owner != "" {
		dir = owner
	}
	top, inGit := layout.Top(dir)
	place := effect.Place{Workspace: dir}
	found, ok := initialised(l, dir)
	if ok && !(inGit && len(top) > len(found)) {
		place.Workspace = found
	} else if inGit {
		place.Workspace = top
	}
	place.State, place.Tree = l.State(place.Workspace), place.Workspace
	place.Git = inGit && top == place.Workspace
	return place, nil
}

// initialised looks upwards for a workspace.
func initialised(l known.List, dir string) (string, bool) {
	for up := dir; ; up = filepath.Dir(up) {
		if l.Has(up) || Legacy(up) && !layout.Exists(filepath.Join(up, ".git")) {
			return up, true
		}
		if filepath.Dir(up) == up {
			return "", false
		}
	}
}

// Legacy reports whether a directory has its store in .pawl, as workspaces of earlier versions do. Nothing in it is
// opened before the user moves it (relocate.Adopt).
func Legacy(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, Dir))
	if err != nil || !info.IsDir() {
		return false
	}
	info, err = os.Lstat(filepath.Join(dir, Dir, known.Store))
	return err == nil && info.Mode().IsRegular()
}

// Ground is the directory of a workspace that a process has open, by which it sees whether it is still where it was.
type Ground struct {
	dir  string
	info os.FileInfo
}

// NewGround looks at the directory of a workspace, which must exist.
func NewGround(dir string) (Ground, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return Ground{}, pawl.Fail(pawl.CodeIO, "cli.workspace_gone", dir).Because(err)
	}
	return Ground{dir, info}, nil
}

// Holds fails if the workspace was moved, removed or replaced since.
func (g Ground) Holds() error {
	info, err := os.Stat(g.dir)
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
	// Moved is a directory that was a workspace at another path.
	Moved Doubt = "moved"
	// InTree is a workspace of an earlier version, which has its store in .pawl.
	InTree Doubt = "in_tree"
)

// Footing is what is to be known before a folder becomes a workspace.
type Footing struct {
	// Exists says that it is one.
	Exists bool
	Doubt  Doubt
	// Other is the workspace around it, the first project in it, or where it was.
	Other string
	// Projects is how many projects lie in it.
	Projects int
}

// maxLooked bounds the folders that Look goes through.
const maxLooked = 2000

// Look tells what stands in the way of making a workspace. It only reads.
func Look(l known.List, p effect.Place) Footing {
	if l.Has(p.Workspace) {
		return Footing{Exists: true}
	}
	if Legacy(p.Workspace) {
		return Footing{Doubt: InTree, Other: p.Workspace}
	}
	if from := l.Moved(p.Workspace); from != "" {
		return Footing{Doubt: Moved, Other: from}
	}
	if p.Git {
		if other, ok := initialised(l, filepath.Dir(p.Workspace)); ok {
			return Footing{Doubt: Below, Other: other}
		}
		return Footing{}
	}
	s := Footing{Doubt: Plain}
	looked := 0
	for _, dir := range folders(p.Workspace, &looked) {
		inner := append([]string{dir}, folders(dir, &looked)...)
		for i, in := range inner {
			if !layout.Exists(filepath.Join(in, ".git")) && !l.Has(in) && !Legacy(in) {
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

// Missing is the error for a workspace without a store whose state is elsewhere, nil for any other one.
func Missing(l known.List, p effect.Place) error {
	switch s := Look(l, p); s.Doubt {
	case InTree, Moved:
		return pawl.Fail(pawl.CodeNotFound, "cli.workspace_"+string(s.Doubt), p.Workspace, shell.Quote(s.Other))
	}
	return nil
}

// Begin prepares a workspace that may be created, and reports whether its store has yet to be.
func Begin(l known.List, p effect.Place, create bool) (fresh bool, err error) {
	if !create {
		return false, nil
	}
	return !l.Has(p.Workspace), Prepare(l, p)
}

// Prepare creates the state of a workspace, and .pawl in it. It refuses the user's home and the root of the file
// system, because everything in it would be open to the work; one around its own state; a bare repository, whose files
// are git's; and a workspace whose state is elsewhere. It may be repeated.
func Prepare(l known.List, p effect.Place) error {
	if err := Missing(l, p); err != nil {
		return err
	}
	home, _ := os.UserHomeDir()
	if p.Workspace == "/" || home != "" && p.Workspace == filepath.Clean(home) {
		return pawl.Fail(pawl.CodeDenied, "cli.workspace_home", p.Workspace)
	}
	if rel, err := filepath.Rel(p.Workspace, p.State); err == nil && filepath.IsLocal(rel) {
		return pawl.Fail(pawl.CodeDenied, "cli.state_inside", p.State)
	}
	if bare, ok := layout.Bare(p.Workspace); ok && !p.Git {
		return pawl.Fail(pawl.CodeRepository, "git.bare", bare)
	}
	if err := l.Add(p.Workspace); err != nil {
		return pawl.Fail(pawl.CodeReadOnly, "cli.workspace_readonly", p.State).Because(err)
	}
	d, err := owndir.Make(p.Workspace, Dir)
	if err == nil {
		defer d.Close()
		var f *os.File
		if f, err = d.OpenFile(".gitignore", os.O_WRONLY|os.O_CREATE|os.O_EXCL); err == nil {
			_, err = f.WriteString("# pawl generates these files, but for config.yaml, plan packages and the knowledge base.\n*\n")
		} else if errors.Is(err, os.ErrExist) {
			f, err = d.OpenFile(".gitignore", os.O_WRONLY) // on a read-only disk it fails
		}
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	if err == nil {
		err = l.Add(p.Workspace) // which is known by its .pawl, too
	}
	if err == nil || pawl.CodeOf(err) == pawl.CodeDenied {
		return err
	}
	return pawl.Fail(pawl.CodeReadOnly, "cli.workspace_readonly", filepath.Join(p.Workspace, Dir)).Because(err)
}
