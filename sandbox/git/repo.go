// Package git is pawl's own use of git. It is the one place, with package sandbox, that starts processes, and it starts
// only git.
//
// A repository is hostile input: its configuration names programs that ordinary git commands run (filters, fsmonitor,
// hooks, textconv, merge drivers, pagers, signers). So nothing here runs with the user's configuration. Three kinds of
// call exist:
//
//   - shadow calls work in a git directory of pawl's own, in the state of the workspace, with a configuration of pawl's
//     own, on index files of pawl's own, and write new objects into a store of pawl's own, which has all that pawl's
//     references name; they read the user's store besides, and what a branch of the user's will name is copied there
//     (own.Store.Share);
//   - plumbing calls (update-ref, show-ref, symbolic-ref, check-attr, worktree add) see the user's git directory,
//     because references live there, with hooks, fsmonitor, transports and lazy fetching switched off by the
//     environment, which outranks every file;
//   - calls that talk to a remote have the user's settings and credentials, in a git directory of their own that knows
//     of the repository's configuration only where the remote is.
//
// Contents are never converted: what is in a file is what is in the blob, whatever .gitattributes says. Large-file
// pointers stay pointers, line ends stay as they are. Nested repositories and submodules are recorded if the index
// knows them and are never entered.
//
// A Memory answers without git what it can prove from the times and numbers that the file system keeps of every file;
// what it cannot prove, git is asked. BenchmarkMemory sets it beside git's own means: a snapshot on pawl's own index,
// kept warm, takes 6 to 8 times the processor time with 100 files, 3 to 6 times with 2,000 and 2 to 5 times with
// 20,000, and 5 ms more in the smallest of them. A command takes two, so that the run of 20 steps in
// docs/benchmarks.md would take about 25 % over its commands, where 15 % are the goal. Git's untracked cache is no
// help: git does not use it where it has to tell what is ignored. A configuration that git is asked for takes 10 times
// one that is remembered (BenchmarkConfiguration).
//
// The user's index is read through copies, and written only while pawl holds its lock (Checkout).
package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"pawl"
	"pawl/sandbox/git/layout"
	"pawl/sandbox/git/own"
	"pawl/sandbox/git/program"
	"pawl/store/lockfile"
)

// Repo is a tree of files and the repository that remembers it. It is safe for concurrent use: what changes the tree or
// its index takes a lock that holds across processes.
type Repo struct {
	Objects Objects // commits, trees and contents
	Refs    Refs    // references
	paths   *layout.Layout
	index   treeIndex
	memory  *Memory // nil where nothing is remembered
}

// Objects reads and writes commits, trees and contents. It is got from a Repo; the zero value is of no use. It is safe
// for concurrent use.
type Objects struct{ paths *layout.Layout }

// Refs reads and moves references. It is got from a Repo; the zero value is of no use. It is safe for concurrent use: a
// reference that somebody else has moved meanwhile is a conflict, and is left as it is.
type Refs struct{ paths *layout.Layout }

// treeIndex is the index of pawl's own by which a tree is recorded. It looks at others, such as the user's, in copies
// that it makes.
type treeIndex struct {
	paths   *layout.Layout
	objects Objects
	refs    Refs
}

func repoAt(p *layout.Layout, m *Memory) *Repo {
	o, r := Objects{p}, Refs{p}
	return &Repo{Objects: o, Refs: r, paths: p, index: treeIndex{p, o, r}, memory: m}
}

// atWorkspace is the same repository with the workspace for its tree and an index of its own by that name.
func (r *Repo) atWorkspace(index string) *Repo {
	w := *r.paths
	w.Tree, w.Rel, w.IndexFile = w.Workspace, ".", w.State(filepath.Join("index", index))
	return repoAt(&w, r.memory)
}

// Open finds the repository of a place and prepares pawl's own git directory in it. It fails with CodeRepository where
// the workspace is not the top folder of a working tree, or is a bare repository, and with CodeEnvironment without git.
func Open(ctx context.Context, p layout.Place) (*Repo, error) { return open(ctx, p, nil) }

// Open is like the function Open, and the Repo uses what m remembers.
func (m *Memory) Open(ctx context.Context, p layout.Place) (*Repo, error) { return open(ctx, p, m) }

// Recorded finds what has been recorded of a place, to be read, with the errors of Open. Where pawl's own git directory
// is still as Open leaves it, nothing is written and no process is started; elsewhere it is opened.
func Recorded(ctx context.Context, p layout.Place) (Objects, error) {
	r, err := layout.Find(p)
	if err != nil {
		return Objects{}, err
	}
	if r.Prepared() {
		return Objects{r}, nil
	}
	repo, err := Open(ctx, p)
	if err != nil {
		return Objects{}, err
	}
	return repo.Objects, nil
}

func open(ctx context.Context, p layout.Place, m *Memory) (*Repo, error) {
	r, err := layout.Find(p)
	if err != nil {
		return nil, err
	}
	if r.Config, err = m.readConfig(ctx, r); err != nil {
		return nil, err
	}
	if r.Config.Bare && r.GitDir == r.CommonDir && r.Git {
		return nil, pawl.Fail(pawl.CodeRepository, "git.bare", r.Workspace)
	}
	repo := repoAt(r, m)
	if err := r.Prepare(); err != nil {
		return repo, err
	}
	store := own.At(r)
	if store.Adopted() {
		return repo, nil
	}
	return repo, hold(ctx, r.State("adopted.flock"), store.Adopt)
}

// Paths says where everything of the repository is.
func (r *Repo) Paths() *layout.Layout { return r.paths }

// InPlace reports whether the tree is the workspace itself.
func (r *Repo) InPlace() bool { return r.paths.InPlace() }

// Git reports whether the workspace belongs to the user's repository.
func (r *Repo) Git() bool { return r.paths.Git }

// Workspace returns the same repository with the workspace for its tree.
func (r *Repo) Workspace() *Repo { return r.atWorkspace(layout.IndexName(".")) }

// GitDirs lists the user's git directories, which nothing that runs in the tree may write to. Without git it is empty.
func (r *Repo) GitDirs() []string {
	if !r.paths.Git {
		return nil
	}
	if r.paths.GitDir == r.paths.CommonDir {
		return []string{r.paths.GitDir}
	}
	return []string{r.paths.GitDir, r.paths.CommonDir}
}

// State returns a path in pawl's own git directory, for files that a driver stores there. The caller creates it.
func (r *Repo) State(name string) string { return r.paths.State(name) }

// holding is how long the lock of a tree is waited for. Whoever has it works on many files at most; one that is stopped
// does not.
var holding = lockfile.Patience{Halted: 10 * time.Second, One: 10 * time.Minute}

// hold runs do under the lock of a file, which excludes every other holder in any process. Whoever holds the lock may
// remove the file; who waits for it then has the next one. It fails with code busy where the lock is not to be had,
// naming its holder.
func hold(ctx context.Context, path string, do func(context.Context) error) error {
	l, err := lockfile.Wait(ctx, path, holding)
	switch {
	case err != nil && ctx.Err() != nil:
		return pawl.Fail(pawl.CodeBusy, "git.busy").Because(err)
	case pawl.CodeOf(err) == pawl.CodeBusy:
		return pawl.Fail(pawl.CodeBusy, "git.tree_held").Because(err)
	case err != nil:
		return program.IOError("git.lock", err)
	}
	defer l.Release() //nolint:errcheck // it ends with the file
	return do(program.WithLock(ctx, l.File()))
}

// locked runs do under the lock of the tree. A git that was killed leaves the lock file of its index behind; whoever
// holds our lock knows that no git of ours is alive, and removes it.
func (r treeIndex) locked(ctx context.Context, do func(context.Context) error) error {
	return hold(ctx, r.paths.IndexFile+".flock", func(ctx context.Context) error {
		if err := os.Remove(r.paths.IndexFile + ".lock"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return program.IOError("git.lock", err)
		}
		return do(ctx)
	})
}

// Identity returns who commits for the user are by: the configured name and address, or pawl's.
func (r *Repo) Identity() layout.Identity { return r.paths.Config.Identity }
