package git

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"pawl"
	"pawl/sandbox/git/fresh"
	"pawl/sandbox/git/layout"
	"pawl/sandbox/git/own"
	"pawl/sandbox/git/program"
	"pawl/store/disk"
)

// Laid is the tree of a Repo as a copy of a recorded one, in which nobody works yet.
type Laid struct {
	repo  *Repo
	paths *layout.Layout
}

// NewLaid is the tree of a Repo, of which nothing is asked before Lay.
func NewLaid(r *Repo) Laid { return Laid{r, r.paths} }

// Lay makes the tree anew, with exactly the files of a recorded one. With a commit it is a linked worktree of the
// user's repository at that commit; without one it is none. Nobody has read any of the files afterwards: the time of
// the last access to each is that of its last change, so that whoever reads it first leaves a mark on file systems that
// keep these times. The index of pawl's (Index) knows each file as it stands there, so that no git has to read it.
func (r Laid) Lay(ctx context.Context, tree, commit string) error {
	if err := r.repo.RemoveWorktree(ctx); err != nil {
		return err
	}
	if commit != "" && r.paths.Git {
		if err := disk.Mkdir(r.paths.Base, filepath.Dir(r.paths.Tree), 0o755); err != nil {
			return program.IOError("git.worktree", err)
		}
		if err := link(ctx, r.repo, commit); err != nil {
			return r.repo.Objects.missing(ctx, err, commit)
		}
	} else if err := layout.MakeFolder(r.paths); err != nil {
		return program.IOError("git.worktree", err)
	}
	return r.repo.index.locked(ctx, func(ctx context.Context) error {
		if err := r.lay(ctx, tree); err != nil || commit == "" || !r.paths.Git {
			return err
		}
		linked, err := NewLinked(r.repo)
		if err != nil {
			return err
		}
		return linked.share(ctx)
	})
}

// Found is what Snapshot finds in a tree that was laid, in which few files have changed if any.
func (r Laid) Found(ctx context.Context) (tree string, err error) {
	err = r.repo.index.locked(ctx, func(ctx context.Context) error {
		tree, err = r.repo.index.snapshot(ctx)
		return err
	})
	return tree, err
}

// Objects is a store with those objects of the tree that the user's store lacks, which git needs besides for Index.
func (r Laid) Objects() string { return layout.Exported(r.paths) }

// Index is pawl's own index of the tree.
func (r Laid) Index() string { return r.paths.IndexFile }

// Lent returns what a command needs of the user's repository that finds the tree at the path of the workspace: what
// must be readable, and what of that is pawl's own and hidden. Index is where its git looks for the index, "" if there
// is none.
func (r Laid) Lent() (index string, readable, hidden []string) {
	if !r.paths.Git {
		return "", nil, nil
	}
	if index = filepath.Join(r.paths.GitDir, "index"); !layout.Exists(index) {
		index = ""
	}
	hidden = []string{filepath.Join(r.paths.CommonDir, "worktrees")}
	return index, append(layout.Dirs(r.paths.Workspace), filepath.Join(r.paths.Workspace, ".git")), hidden
}

// lay writes the files of a tree into its empty folder, and the index.
func (r Laid) lay(ctx context.Context, tree string) error {
	program.Step(ctx, "lay")
	r.repo.index.forget()
	out, _, err := r.paths.WithoutTree("", "ls-tree", "-r", "-z", "--end-of-options", tree).Run(ctx)
	if err != nil {
		return r.repo.Objects.missing(ctx, err, tree)
	}
	root, err := os.OpenRoot(r.paths.Tree)
	if err != nil {
		return program.IOError("git.worktree", err)
	}
	defer root.Close()
	index, err := fresh.Write(root, r.paths.Config.Format, program.Fields(string(out)), reserved, safePath,
		func(ids []string, sink func(n int, size int64, content io.Reader) error) error {
			return r.repo.Objects.Blobs(ctx, ids, sink)
		})
	if err != nil {
		return err
	}
	if err = errors.Join(os.WriteFile(r.paths.IndexFile, index, 0o600),
		os.WriteFile(r.paths.IndexFile+".tree", []byte(tree), 0o600)); err != nil {
		return program.IOError("git.index", err)
	}
	return own.At(r.paths).Export(ctx, tree, r.Objects())
}

// CopyTree makes the tree a copy of the workspace's files, for a workspace without git, and returns the id of their
// tree.
func (r *Repo) CopyTree(ctx context.Context) (tree string, err error) {
	if r.InPlace() {
		return "", pawl.Fail(pawl.CodeInvalid, "git.outside", r.paths.Tree, r.paths.Workspace)
	}
	if tree, err = r.Workspace().Snapshot(ctx); err != nil {
		return "", err
	}
	if layout.Exists(r.paths.Tree) {
		if have, err := r.Snapshot(ctx); err == nil && have == tree {
			return tree, nil
		}
	}
	return tree, NewLaid(r).Lay(ctx, tree, "")
}
