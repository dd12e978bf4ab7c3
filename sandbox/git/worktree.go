package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"pawl"
	"pawl/sandbox/git/layout"
	"pawl/sandbox/git/meta"
	"pawl/sandbox/git/object"
	"pawl/sandbox/git/program"
	"pawl/store/disk"
	"pawl/store/lockfile"
)

// plant makes a linked worktree where nothing stands, at a commit and with the content of its tree.
func plant(ctx context.Context, r *Repo, base, want string) error {
	if err := disk.Mkdir(r.paths.Base, filepath.Dir(r.paths.Tree), 0o755); err != nil {
		return program.IOError("git.worktree", err)
	}
	if err := link(ctx, r, base); err != nil {
		return r.Objects.missing(ctx, err, base)
	}
	err := r.index.locked(ctx, func(ctx context.Context) error {
		if err := r.index.populate(ctx, want); err != nil {
			return err
		}
		linked, err := NewLinked(r)
		if err != nil {
			return err
		}
		return linked.share(ctx)
	})
	if err != nil {
		return err
	}
	return r.confirm(ctx, want)
}

// linkTries is how often a worktree is tried to be linked.
const linkTries = 5

// link links a worktree without any files. Git removes the folder of its worktrees with the last of them, and so may
// take it away from under another one that is just being made; that one is made again.
func link(ctx context.Context, r *Repo, base string) (err error) {
	for try := range linkTries {
		err = errors.ErrUnsupported
		if r.paths.Config.Refs == "" {
			err = register(ctx, r.paths, base)
		}
		if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EXDEV) {
			_, _, err = r.paths.FromTop(r.paths.GitDir, "", "worktree", "add", "--no-checkout", "--detach", "--",
				r.paths.Tree, base).Run(ctx)
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		if found, _ := r.Objects.ResolveTree(ctx, base); found == "" {
			return err // what is missing stays missing
		}
		if r.paths.Registration() != "" || layout.Exists(r.paths.Tree) {
			if removed := r.RemoveWorktree(ctx); removed != nil {
				return err
			}
		}
		time.Sleep(10 * time.Millisecond << try)
	}
	return err
}

// register links a worktree as git does in a repository that keeps its references as files (gitrepository-layout(5),
// "worktrees"). What the repository knows of it appears whole, and no folder is made but in one that is there: git
// itself makes those that are missing, also where the workspace was a moment ago. It fails with EXDEV where .pawl and
// the repository are not on one file system.
func register(ctx context.Context, r *layout.Layout, base string) (err error) {
	program.Step(ctx, "make registration")
	made, err := os.MkdirTemp(r.State("tmp"), "worktree-"+lockfile.Maker()+"-")
	if err != nil {
		return program.IOError("git.worktree", err)
	}
	if err := os.Mkdir(r.Tree, 0o777); err != nil {
		// what stands there is not taken for a part of this
		return program.IOError("git.worktree", errors.Join(err, layout.Discard(r, made)))
	}
	all, link := filepath.Join(r.CommonDir, "worktrees"), filepath.Join(r.Tree, ".git")
	err = errors.Join(
		os.Chmod(made, 0o755),
		os.WriteFile(filepath.Join(made, "HEAD"), []byte(base+"\n"), 0o644),
		os.WriteFile(filepath.Join(made, "commondir"), []byte("../..\n"), 0o644),
		os.WriteFile(filepath.Join(made, "gitdir"), []byte(link+"\n"), 0o644),
	)
	if missing := os.Mkdir(all, 0o777); err == nil && !errors.Is(missing, fs.ErrExist) {
		err = missing
	}
	for n := 0; err == nil; n++ {
		at := filepath.Join(all, filepath.Base(r.Tree))
		if n > 0 {
			at += strconv.Itoa(n) // as git does where the name is taken
		}
		if layout.Exists(at) {
			continue
		}
		program.Step(ctx, "name worktree")
		if err = os.WriteFile(link, []byte("gitdir: "+at+"\n"), 0o644); err != nil {
			break
		}
		program.Step(ctx, "name registration")
		if err = os.Rename(made, at); err == nil {
			return nil
		}
		if layout.Exists(at) {
			err = nil
		}
	}
	_ = errors.Join(layout.Discard(r, made), os.Remove(link), os.Remove(r.Tree))
	return program.IOError("git.worktree", err)
}

// Overlay writes into the tree what differs from one recorded tree to another, of the paths that only lets through. It
// is for copies of pawl's own, in which nobody else works: what stands in the way and is neither is an error.
func (r *Repo) Overlay(ctx context.Context, from, to string, only func(path string) bool) error {
	change, err := r.Objects.deltas(ctx, from, to)
	if err != nil {
		return err
	}
	change = slices.DeleteFunc(change, func(d delta) bool { return !only(d.path) })
	return r.index.locked(ctx, func(ctx context.Context) error {
		d, err := openFiles(r)
		if err != nil {
			return err
		}
		defer d.close()
		left, err := d.put(ctx, change, meta.Meta{})
		if err == nil && len(left) > 0 {
			err = pawl.Fail(pawl.CodeConflict, "git.conflict", Listing(left))
		}
		return err
	})
}

// WorktreeIs reports whether the tree is a linked worktree at the commit, with exactly its content.
func (r *Repo) WorktreeIs(ctx context.Context, base string) (bool, error) {
	dir := r.paths.Registration()
	if dir == "" || !layout.Exists(filepath.Join(r.paths.Tree, ".git")) {
		return false, nil
	}
	head, ok := layout.ReadLine(filepath.Join(dir, "HEAD"), "")
	if !ok || head != base || !layout.Exists(r.paths.IndexFile) {
		return false, nil
	}
	want, err := r.Objects.ResolveTree(ctx, base)
	if err != nil {
		return false, err
	}
	have, err := r.Snapshot(ctx)
	return have == want, err
}

// populate writes a whole tree into the empty folder of r and makes pawl's index of it.
func (r treeIndex) populate(ctx context.Context, tree string) error {
	program.Step(ctx, "populate")
	r.forget()
	if _, err := r.paths.ShadowRun(ctx, "", "read-tree", "--reset", "-u", tree); err != nil {
		return r.objects.missing(ctx, err, tree)
	}
	return nil
}

// Linked is the tree of a Repo as a linked worktree of the user's repository.
type Linked struct {
	repo *Repo
	dir  string // where the user's repository keeps what it knows of it
}

// NewLinked fails with CodeRepository where the tree is no linked worktree.
func NewLinked(r *Repo) (Linked, error) {
	dir := r.paths.Registration()
	if dir == "" || !layout.Exists(filepath.Join(r.paths.Tree, ".git")) {
		return Linked{}, pawl.Fail(pawl.CodeRepository, "git.not_repository", r.paths.Tree)
	}
	return Linked{r, dir}, nil
}

// plumbing is a call on the git directory of the worktree.
func (l Linked) plumbing(args ...string) program.Call {
	c := l.repo.paths.Plumbing("", args...)
	c.Env = append(c.Env, "GIT_DIR="+l.dir)
	return c
}

// Head is the commit that the worktree stands at.
func (l Linked) Head(ctx context.Context) (string, error) {
	if id, ok := layout.ReadLine(filepath.Join(l.dir, "HEAD"), ""); ok && validID(id) {
		return id, nil
	}
	out, _, err := l.plumbing("rev-parse", "--verify", "--quiet", "HEAD^{commit}").Run(ctx)
	return strings.TrimSpace(string(out)), err
}

// MoveHead makes the worktree stand at another commit, if it stands at old. Its files and its index stay as they are.
func (l Linked) MoveHead(ctx context.Context, commit, old string) error {
	return moving(ctx, []lock{{filepath.Join(l.dir, "HEAD.lock"), staleOwn}}, func() program.Call {
		return l.repo.paths.FromTop(l.dir, "", "update-ref", "--no-deref", "-m", "pawl: move", "--", "HEAD", commit,
			old)
	})
}

// Blocked names what stands in the worktree, and is in no tree, where files of to belong that are not in from.
func (l Linked) Blocked(ctx context.Context, from, to string) ([]string, error) {
	change, err := l.repo.Objects.deltas(ctx, from, to)
	if err != nil {
		return nil, err
	}
	d, err := openFiles(l.repo)
	if err != nil {
		return nil, err
	}
	defer d.close()
	return d.blocked(change)
}

// Advance brings the files from one tree to another, and what pawl records of them. It fails with CodeConflict, before
// it changes anything, where a file that is to change is neither what the first tree says nor what the second says, and
// where something stands in the way. Run again after a crash it completes. The insides of submodules are never entered.
func (l Linked) Advance(ctx context.Context, from, to string) error {
	r := l.repo
	change, err := r.Objects.deltas(ctx, from, to)
	if err != nil {
		return err
	}
	return r.index.locked(ctx, func(ctx context.Context) error {
		d, err := openFiles(r)
		if err != nil {
			return err
		}
		defer d.close()
		todo, left, err := d.pending(change)
		if err != nil {
			return err
		}
		blocked, err := d.blocked(todo)
		if err != nil {
			return err
		}
		if left = append(left, blocked...); len(left) > 0 {
			return pawl.Fail(pawl.CodeConflict, "git.conflict", Listing(left))
		}
		if left, err = d.put(ctx, todo, meta.Meta{}); err == nil {
			err = d.removeEmptied(ctx, change)
		}
		if err != nil {
			return err
		}
		var gone, come strings.Builder
		modules := map[string]bool{}
		for _, t := range change {
			modules[t.path] = t.old.Mode == object.ModeNested
			if t.new.Absent() {
				gone.WriteString(r.paths.Removals([]string{t.path}))
				continue
			}
			come.WriteString(t.new.Mode + " " + t.new.ID + "\t" + t.path + "\x00")
		}
		left = slices.DeleteFunc(left, func(path string) bool { return modules[path] })
		if len(left) > 0 {
			return pawl.Fail(pawl.CodeConflict, "git.changed_meanwhile", Listing(left))
		}
		if err := os.Remove(r.paths.IndexFile + ".tree"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return program.IOError("git.worktree", err)
		}
		return r.index.edit(ctx, r.paths.IndexFile, gone.String()+come.String())
	})
}

// ResetIndex gives tools in the worktree the index of a tree, so that they see as a change what differs from it.
func (l Linked) ResetIndex(ctx context.Context, tree string) error {
	return l.repo.index.locked(ctx, func(ctx context.Context) error {
		copied, err := l.repo.index.copyIndex(l.repo.paths.IndexFile)
		if err != nil {
			return err
		}
		defer os.Remove(copied)
		if _, _, err := l.repo.paths.On(copied, "", "read-tree", "--reset", tree).Run(ctx); err != nil {
			return l.repo.Objects.missing(ctx, err, tree)
		}
		// What differs from its entry is found by refreshing, which says so with status 1.
		if _, _, err := l.repo.paths.On(copied, "", "update-index", "-q",
			"--refresh").Answering(1).Run(ctx); err != nil {
			return err
		}
		return l.lend(ctx, copied)
	})
}

// share gives tools in the worktree an index that knows every file as unchanged: pawl's own.
func (l Linked) share(ctx context.Context) error {
	own := l.repo.paths.IndexFile
	if err := l.lend(ctx, own); err != nil {
		return err
	}
	// It has no entry that pawl's own lacks.
	if err := os.WriteFile(own+".source", []byte(stampOf(filepath.Join(l.dir, "index"))), 0o600); err != nil {
		return program.IOError("git.worktree", err)
	}
	return nil
}

// lend puts a copy of an index in the place of the one that tools in the worktree use.
func (l Linked) lend(ctx context.Context, index string) error {
	program.Step(ctx, "share index")
	fresh := filepath.Join(l.dir, "index.pawl")
	if err := disk.Copy(fresh, index); err != nil {
		return program.IOError("git.worktree", err)
	}
	if err := os.Rename(fresh, filepath.Join(l.dir, "index")); err != nil {
		return program.IOError("git.worktree", err)
	}
	return nil
}

// confirm checks that the tree now holds what it should.
func (r *Repo) confirm(ctx context.Context, want string) error {
	have, err := r.Snapshot(ctx)
	if err == nil && have != want {
		return pawl.Fail(pawl.CodeConflict, "git.not_exact", r.paths.Tree, want, have)
	}
	return err
}

// RemoveWorktree removes the tree's folder, its registration in the user's repository and pawl's memory of it. It never
// removes the workspace. Removing what is gone already is no error.
func (r *Repo) RemoveWorktree(ctx context.Context) error {
	if r.InPlace() {
		return pawl.Fail(pawl.CodeInvalid, "git.outside", r.paths.Tree, r.paths.Workspace)
	}
	return r.index.locked(ctx, func(ctx context.Context) error {
		program.Step(ctx, "remove tree")
		for _, dir := range []string{r.paths.Tree, r.paths.Stage(), layout.Exported(r.paths)} {
			if err := layout.Discard(r.paths, dir); err != nil {
				return program.IOError("git.worktree", err)
			}
		}
		program.Step(ctx, "remove registration")
		if dir := r.paths.Registration(); dir != "" {
			if err := os.RemoveAll(dir); err != nil {
				return program.IOError("git.worktree", err)
			}
		}
		if err := removeStillborn(r.paths); err != nil {
			return program.IOError("git.worktree", err)
		}
		r.index.forget()
		//nolint:errcheck // hold knows what to do with a lock that is no longer named
		os.Remove(r.paths.IndexFile + ".flock")
		return nil
	})
}

// removeStillborn removes the registration that a killed "git worktree add" leaves before it has written whose it is.
// Such a folder is locked, so that nothing else would ever remove it.
func removeStillborn(r *layout.Layout) error {
	if !r.Git {
		return nil
	}
	dir := filepath.Join(r.CommonDir, "worktrees", filepath.Base(r.Tree))
	if layout.Exists(filepath.Join(dir, "gitdir")) || !layout.Exists(filepath.Join(dir, "locked")) {
		return nil
	}
	return os.RemoveAll(dir)
}

// Sweep removes what calls that were cut short left: temporary files in pawl's own directory, and of pawl's in the
// user's. The lock of the user's index is for those to give back who know what was begun under it (DropAbandoned).
func (r *Repo) Sweep(ctx context.Context) error {
	return r.index.locked(ctx, func(context.Context) error {
		if err := layout.Discard(r.paths, r.paths.Stage()); err != nil {
			return program.IOError("git.sweep", err)
		}
		for _, path := range r.paths.Left() {
			if err := layout.Discard(r.paths, path); err != nil {
				return program.IOError("git.sweep", err)
			}
		}
		return nil
	})
}
