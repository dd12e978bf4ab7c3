package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pawl"
)

// AddWorktree makes the tree a linked worktree of the user's repository whose content is exactly that of the commit base,
// and returns the id of its tree. Files are written by pawl's own git, so no filter, hook or line-end conversion touches
// them. What a crash left half made is removed first; content that is there already and that differs is recorded in a
// snapshot before it goes. It does nothing when the worktree stands as asked.
func (r *Repo) AddWorktree(ctx context.Context, base string) (tree string, err error) {
	if r.InPlace() || !r.git {
		return "", pawl.Fail(pawl.CodeInvalid, "git.outside", r.tree, r.workspace)
	}
	want, err := r.ResolveTree(ctx, base)
	if err != nil {
		return "", err
	}
	if ok, err := r.WorktreeIs(ctx, base); ok || err != nil {
		return want, err
	}
	if r.registration() != "" {
		_, _ = r.Snapshot(ctx) // half-made trees cannot be recorded, and need not be
	}
	if err := r.RemoveWorktree(ctx); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(r.tree), 0o755); err != nil {
		return "", ioError("git.worktree", err)
	}
	if _, _, err := r.plumbing("", "worktree", "add", "--no-checkout", "--detach", "--", r.tree, base).run(ctx); err != nil {
		return "", r.missing(ctx, err, base)
	}
	err = r.locked(ctx, func(ctx context.Context) error {
		if err := r.populate(ctx, want); err != nil {
			return err
		}
		return r.shareIndex(ctx)
	})
	if err != nil {
		return "", err
	}
	return want, r.confirm(ctx, want)
}

// CopyTree makes the tree a copy of the workspace's files, for a workspace without git, and returns the id of their tree.
func (r *Repo) CopyTree(ctx context.Context) (tree string, err error) {
	if r.InPlace() {
		return "", pawl.Fail(pawl.CodeInvalid, "git.outside", r.tree, r.workspace)
	}
	if tree, err = r.Workspace().Snapshot(ctx); err != nil {
		return "", err
	}
	if exists(r.tree) {
		if have, err := r.Snapshot(ctx); err == nil && have == tree {
			return tree, nil
		}
	}
	if err := r.RemoveWorktree(ctx); err != nil {
		return "", err
	}
	if err := os.MkdirAll(r.tree, 0o755); err != nil {
		return "", ioError("git.worktree", err)
	}
	if err := r.locked(ctx, func(ctx context.Context) error { return r.populate(ctx, tree) }); err != nil {
		return "", err
	}
	return tree, r.confirm(ctx, tree)
}

// WorktreeIs reports whether the tree is a linked worktree at the commit, with exactly its content.
func (r *Repo) WorktreeIs(ctx context.Context, base string) (bool, error) {
	dir := r.registration()
	if dir == "" || !exists(filepath.Join(r.tree, ".git")) {
		return false, nil
	}
	head, ok := readLine(filepath.Join(dir, "HEAD"), "")
	if !ok || head != base || !exists(r.index) {
		return false, nil
	}
	want, err := r.ResolveTree(ctx, base)
	if err != nil {
		return false, err
	}
	have, err := r.Snapshot(ctx)
	return have == want, err
}

// populate writes a whole tree into the empty folder of r and makes pawl's index of it.
func (r *Repo) populate(ctx context.Context, tree string) error {
	Step(ctx, "populate")
	r.forget()
	if _, err := r.shadowRun(ctx, "", "read-tree", "--reset", "-u", tree); err != nil {
		return r.missing(ctx, err, tree)
	}
	return nil
}

// shareIndex gives tools in the worktree an index that knows every file as unchanged.
func (r *Repo) shareIndex(ctx context.Context) error {
	Step(ctx, "share index")
	dir := r.registration()
	if dir == "" {
		return pawl.Fail(pawl.CodeRepository, "git.not_repository", r.tree)
	}
	if err := copyFile(filepath.Join(dir, "index.pawl"), r.index); err != nil {
		return ioError("git.worktree", err)
	}
	if err := os.Rename(filepath.Join(dir, "index.pawl"), filepath.Join(dir, "index")); err != nil {
		return ioError("git.worktree", err)
	}
	return nil
}

// confirm checks that the tree now holds what it should.
func (r *Repo) confirm(ctx context.Context, want string) error {
	have, err := r.Snapshot(ctx)
	if err == nil && have != want {
		return pawl.Fail(pawl.CodeConflict, "git.not_exact", r.tree, want, have)
	}
	return err
}

// registration finds the folder in which the user's repository keeps what it knows of the tree as a linked worktree, ""
// when it knows nothing. The tree's own .git file is not asked: what runs in the tree may have written it.
func (r *site) registration() string {
	if !r.git || r.InPlace() {
		return ""
	}
	want := filepath.Join(r.tree, ".git")
	dirs, _ := filepath.Glob(filepath.Join(escapeGlob(r.commonDir), "worktrees", "*", "gitdir"))
	for _, path := range dirs {
		if target, ok := readLine(path, ""); ok && absolute(filepath.Dir(path), target) == want {
			return filepath.Dir(path)
		}
	}
	return ""
}

// escapeGlob makes a path match only itself.
func escapeGlob(path string) string {
	return strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`).Replace(path)
}

// RemoveWorktree removes the tree's folder, its registration in the user's repository and pawl's memory of it. It never
// removes the workspace. Removing what is gone already is no error.
func (r *Repo) RemoveWorktree(ctx context.Context) error {
	if r.InPlace() {
		return pawl.Fail(pawl.CodeInvalid, "git.outside", r.tree, r.workspace)
	}
	return r.locked(ctx, func(ctx context.Context) error {
		Step(ctx, "remove tree")
		if err := removeAll(r.tree); err != nil {
			return ioError("git.worktree", err)
		}
		Step(ctx, "remove registration")
		if dir := r.registration(); dir != "" {
			if err := os.RemoveAll(dir); err != nil {
				return ioError("git.worktree", err)
			}
		}
		if err := removeStillborn(r.site); err != nil {
			return ioError("git.worktree", err)
		}
		r.forget()
		os.Remove(r.index + ".flock") //nolint:errcheck // hold knows what to do with a lock that is no longer named
		return nil
	})
}

// removeStillborn removes the registration that a killed "git worktree add" leaves before it has written whose it is. Such a
// folder is locked, so that nothing else would ever remove it.
func removeStillborn(r *site) error {
	if !r.git {
		return nil
	}
	dir := filepath.Join(r.commonDir, "worktrees", filepath.Base(r.tree))
	if exists(filepath.Join(dir, "gitdir")) || !exists(filepath.Join(dir, "locked")) {
		return nil
	}
	return os.RemoveAll(dir)
}

// removeAll removes a folder whose own folders may forbid it, as module caches do.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o700)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return errors.Join(os.RemoveAll(dir), ignorePermission(err))
}

// ignorePermission leaves it to the removal that follows to say what is in the way.
func ignorePermission(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// abandoned is the age from which a temporary file belongs to nobody: no call lasts as long.
const abandoned = time.Hour

// Sweep removes what calls that were cut short left: temporary files in pawl's own directory, and a lock on the user's index
// whose process is gone.
func (r *Repo) Sweep(ctx context.Context) error {
	return r.locked(ctx, func(context.Context) error {
		if err := os.RemoveAll(r.stage()); err != nil {
			return ioError("git.sweep", err)
		}
		if err := dropDeadLock(r.site); err != nil {
			return err
		}
		// New objects are written under such names, or collected in such folders, before they enter the store.
		halves, _ := filepath.Glob(filepath.Join(escapeGlob(r.objectDir()), "tmp_obj*"))
		ours, _ := filepath.Glob(filepath.Join(escapeGlob(r.State("tmp")), "*"))
		unnamed, _ := filepath.Glob(filepath.Join(escapeGlob(r.refDir()), private, "trees", "*", halfRef+"*"))
		for _, path := range slices.Concat(ours, halves, unnamed) {
			info, err := os.Lstat(path)
			if err != nil || time.Since(info.ModTime()) < abandoned {
				continue
			}
			if err := os.RemoveAll(path); err != nil {
				return ioError("git.sweep", err)
			}
		}
		return nil
	})
}

// objectDir is where objects are kept.
func (r *Repo) objectDir() string {
	if r.git {
		return filepath.Join(r.commonDir, "objects")
	}
	return r.State("objects")
}
