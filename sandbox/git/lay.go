package git

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"pawl"
	"pawl/sandbox/git/fresh"
	"pawl/sandbox/git/layout"
	"pawl/sandbox/git/object"
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
		if err := disk.Mkdir(r.paths.Workspace, filepath.Dir(r.paths.Tree), 0o755); err != nil {
			return program.IOError("git.worktree", err)
		}
		if err := link(ctx, r.repo, commit); err != nil {
			return r.repo.Objects.missing(ctx, err, commit)
		}
	} else if err := disk.Mkdir(r.paths.Workspace, r.paths.Tree, 0o755); err != nil {
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

// Index is pawl's own index of the tree.
func (r Laid) Index() string { return r.paths.IndexFile }

// Lent is what of the user's repository a command needs that finds the tree in the place of the workspace: what must be
// readable, and in that what is pawl's own and hidden. Index is where its git looks for the index, "" where there is
// none.
func (r Laid) Lent() (index string, readable, hidden []string) {
	if !r.paths.Git {
		return "", nil, nil
	}
	if index = filepath.Join(r.paths.GitDir, "index"); !layout.Exists(index) {
		index = ""
	}
	for _, own := range []string{"worktrees", "refs/pawl", "logs/refs/pawl"} {
		hidden = append(hidden, filepath.Join(r.paths.CommonDir, filepath.FromSlash(own)))
	}
	return index, append(r.repo.GitDirs(), filepath.Join(r.paths.Workspace, ".git")), hidden
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
	files := fresh.New(root)
	var ids []string
	var which []int
	for _, line := range program.Fields(string(out)) {
		head, name, _ := strings.Cut(line, "\t")
		f := strings.Fields(head)
		if len(f) != 3 {
			return pawl.Fail(pawl.CodeIO, "git.failed", "ls-tree")
		}
		node := object.Node{Mode: f[0], ID: f[2]}
		if !safePath(name) && !reserved(name) {
			return pawl.Fail(pawl.CodeDenied, "git.unsafe_path", strconv.Quote(name))
		}
		number, err := files.Add(name, node, reserved(name))
		if err != nil {
			return err
		}
		if node.Mode != object.ModeNested && !reserved(name) {
			ids, which = append(ids, node.ID), append(which, number)
		}
	}
	err = r.repo.Objects.blobs(ctx, ids, func(n int, size int64, content io.Reader) error {
		return files.Write(which[n], size, content)
	})
	if err != nil {
		return err
	}
	index, err := files.Index(r.paths.Config.Format)
	if err == nil {
		err = errors.Join(os.WriteFile(r.paths.IndexFile, index, 0o600),
			os.WriteFile(r.paths.IndexFile+".tree", []byte(tree), 0o600))
	}
	if err != nil {
		return program.IOError("git.index", err)
	}
	return nil
}
