package layout

import (
	"os"
	"path/filepath"

	"pawl/sandbox/git/program"
	"pawl/store/disk"
)

// Relink corrects the links between the user's repository and pawl's worktrees after both workspace and worktrees may
// have moved: registrations of worktrees in the directory was name those in trees, and these name their registrations.
// A workspace that is itself a linked worktree and was moved is noted in its repository. What others have linked stays
// unchanged. It may be repeated, and does nothing without git.
func Relink(workspace, was, trees string) error {
	gitDir, commonDir, err := Locate(workspace)
	if err != nil {
		return nil //nolint:nilerr // no repository
	}
	if back := filepath.Join(gitDir, "gitdir"); gitDir != commonDir && Exists(back) &&
		!Exists(Backlink(back)) {
		if err := disk.WriteFile(back, []byte(filepath.Join(workspace, ".git")+"\n")); err != nil {
			return program.IOError("git.relink", err)
		}
	}
	paths, _ := filepath.Glob(filepath.Join(EscapeGlob(commonDir), "worktrees", "*", "gitdir"))
	for _, path := range paths {
		below, err := filepath.Rel(was, Backlink(path))
		name := filepath.Dir(below)
		if err != nil || filepath.Base(below) != ".git" || name != filepath.Base(name) || name == "." || name == ".." {
			continue
		}
		tree := filepath.Join(trees, name)
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

// MakeFolder makes the empty folder of a tree that is no worktree. Of a repository it has the place where the user's is
// shown to commands: what they cannot have made is not taken out as theirs.
func MakeFolder(r *Layout) error {
	err := disk.Mkdir(r.Base, r.Tree, 0o755)
	if err != nil || !r.Git {
		return err
	}
	shown := filepath.Join(r.Tree, ".git")
	if theirs, err := os.Stat(filepath.Join(r.Workspace, ".git")); err == nil && !theirs.IsDir() {
		return os.WriteFile(shown, nil, 0o600)
	}
	return os.Mkdir(shown, 0o700)
}
