package layout

import (
	"os"
	"path/filepath"

	"pawl/sandbox/git/program"
	"pawl/store/disk"
)

// Relink mends the links between the user's repository and pawl's worktrees in a workspace that stands where it was
// moved or copied to from another folder: the registrations that name folders of pawl's there are made to name those
// here, and these to name their registrations. A workspace that is itself a linked worktree and was moved is told to
// its repository as well. What others have linked stays as it is, and so does a repository that is not in the workspace
// unless owned is set: that of a copy belongs to the original too. It may be repeated, and does nothing without git.
func Relink(workspace, from string, owned bool) error {
	gitDir, commonDir, err := Locate(workspace)
	if err != nil || !owned && !within(workspace, commonDir) {
		return nil
	}
	if back := filepath.Join(gitDir, "gitdir"); gitDir != commonDir && Exists(back) &&
		!Exists(Backlink(back)) {
		if err := disk.WriteFile(back, []byte(filepath.Join(workspace, ".git")+"\n")); err != nil {
			return program.IOError("git.relink", err)
		}
	}
	paths, _ := filepath.Glob(filepath.Join(EscapeGlob(commonDir), "worktrees", "*", "gitdir"))
	for _, path := range paths {
		below, err := filepath.Rel(filepath.Join(from, ".pawl", "worktrees"), Backlink(path))
		name := filepath.Dir(below)
		if err != nil || filepath.Base(below) != ".git" || name != filepath.Base(name) || name == "." || name == ".." {
			continue
		}
		tree := filepath.Join(workspace, ".pawl", "worktrees", name)
		if err := disk.WriteFile(path, []byte(filepath.Join(tree, ".git")+"\n")); err != nil {
			return program.IOError("git.relink", err)
		}
		if Exists(filepath.Join(tree, ".git")) {
			if err := disk.WriteFile(filepath.Join(tree, ".git"),
				[]byte("gitdir: "+filepath.Dir(path)+"\n")); err != nil {
				return program.IOError("git.relink", err)
			}
		}
	}
	return nil
}

// Shared reports whether two workspaces have one git directory, as a linked worktree and a copy of its folder do: what
// is done to the branch of the one is done to the other's.
func Shared(a, b string) bool {
	dirA, _, errA := Locate(a)
	dirB, _, errB := Locate(b)
	if errA != nil || errB != nil {
		return false
	}
	return SameFile(dirA, dirB)
}

// within reports whether a path lies below a folder.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// Lent is what of the user's repository a command needs that finds the tree in the place of the workspace: what must be
// readable, and in that what is pawl's own and hidden. Index is where its git looks for the index, "" where there is
// none.
func (r *Layout) Lent() (index string, readable, hidden []string) {
	if !r.Git {
		return "", nil, nil
	}
	if index = filepath.Join(r.GitDir, "index"); !Exists(index) {
		index = ""
	}
	for _, own := range []string{"worktrees", "refs/pawl", "logs/refs/pawl"} {
		hidden = append(hidden, filepath.Join(r.CommonDir, filepath.FromSlash(own)))
	}
	return index, append(Dirs(r.Workspace), filepath.Join(r.Workspace, ".git")), hidden
}

// MakeFolder makes the empty folder of a tree that is no worktree. Of a repository it has the place where the user's is
// shown to commands: what they cannot have made is not taken out as theirs.
func (r *Layout) MakeFolder() error {
	err := disk.Mkdir(r.Workspace, r.Tree, 0o755)
	if err != nil || !r.Git {
		return err
	}
	shown := filepath.Join(r.Tree, ".git")
	if theirs, err := os.Stat(filepath.Join(r.Workspace, ".git")); err == nil && !theirs.IsDir() {
		return os.WriteFile(shown, nil, 0o600)
	}
	return os.Mkdir(shown, 0o700)
}
