package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pawl"
	"pawl/sandbox/git/layout"
	"pawl/sandbox/git/meta"
	"pawl/sandbox/git/object"
	"pawl/sandbox/git/program"
	"pawl/store/disk"
	"pawl/store/lockfile"
)

// Checkout is the user's checked-out tree while pawl holds the lock of its index: until Close, the user's own git
// refuses to change index or commits there, so what was checked stays true. The lock is git's own index.lock with
// pawl's mark in it, so that a lock which a crash left behind can be told from anybody else's.
type Checkout struct {
	repo *Repo
	lock string
	mark string
}

// lockMark begins the content of an index lock of pawl's; the id of its holder and the process follow, a line each. The
// process is 0 where it has given up on what it had begun.
const lockMark = "pawl "

// Checkout takes the lock of the user's index in the name of id, which may hold it already from before a crash. It
// fails with CodeBusy where somebody else holds it.
func (r *Repo) Checkout(ctx context.Context, id string) (*Checkout, error) {
	if !r.paths.Git {
		return nil, pawl.Fail(pawl.CodeRepository, "git.not_repository", r.paths.Workspace)
	}
	c := &Checkout{repo: r.atWorkspace("checkout"), lock: filepath.Join(r.paths.GitDir, "index.lock"), mark: lockMark +
		id + "\n"}
	program.Step(ctx, "lock index")
	// Made apart and linked into place, so that no lock of ours ever stands there without its mark. Others may be at
	// the same, so that it needs a name of its own.
	marked, err := os.CreateTemp(r.paths.GitDir, layout.MarkedLock+lockfile.Maker()+"-*")
	if err != nil {
		return nil, program.IOError("git.index", err)
	}
	defer os.Remove(marked.Name())
	_, err = marked.WriteString(c.mark + strconv.Itoa(os.Getpid()) + "\n")
	if err = errors.Join(err, marked.Close()); err != nil {
		return nil, program.IOError("git.index", err)
	}
	err = os.Link(marked.Name(), c.lock)
	if errors.Is(err, fs.ErrExist) && c.mine() {
		return c, nil
	}
	if errors.Is(err, fs.ErrExist) {
		return nil, c.taken()
	}
	if err != nil {
		return nil, program.IOError("git.index", err)
	}
	return c, nil
}

// taken is the error for a lock that somebody else holds: with the name of the process where it is one of pawl's.
func (c *Checkout) taken() error {
	if _, pid := markOf(c.lock); pid > 0 && pid != os.Getpid() && !lockfile.NoProcess(pid) {
		return pawl.Fail(pawl.CodeBusy, "git.index_held").Because(lockfile.Process(pid).Fault(c.lock))
	}
	return pawl.Fail(pawl.CodeBusy, "git.index_locked", c.lock)
}

func (c *Checkout) mine() bool {
	raw, err := layout.ReadCapped(c.lock, 4096)
	return err == nil && strings.HasPrefix(string(raw), c.mark)
}

// deadHolder is the id in whose name a lock of pawl's is held by a process that has ended, "" for any other file.
func deadHolder(lock string) string {
	if id, pid := markOf(lock); pid == 0 || lockfile.NoProcess(pid) {
		return id
	}
	return ""
}

// markOf reads in whose name and by which process a lock of pawl's was taken; the name is "" for any other file.
func markOf(lock string) (id string, pid int) {
	raw, err := layout.ReadCapped(lock, 4096)
	mark, number, _ := strings.Cut(strings.TrimSpace(string(raw)), "\n")
	pid, notNumber := strconv.Atoi(number)
	id, ours := strings.CutPrefix(mark, lockMark)
	if err != nil || notNumber != nil || !ours || pid < 0 {
		return "", 0
	}
	return id, pid
}

// Abandoned is the id in whose name the lock of the user's index is held although the process that took it has ended,
// "" where it is not so. What it had begun may be half done.
func Abandoned(r *Repo) string {
	if !r.paths.Git {
		return ""
	}
	return deadHolder(filepath.Join(r.paths.GitDir, "index.lock"))
}

// DropAbandoned removes such a lock, once what its holder had begun is finished or taken back.
func DropAbandoned(r *Repo) error {
	if Abandoned(r) == "" {
		return nil
	}
	// Somebody else may do the same at this moment and take the lock. So it is put aside first, and put back if it is
	// not that one.
	aside, err := os.MkdirTemp(r.paths.GitDir, layout.MarkedLock+lockfile.Maker()+"-*")
	if err != nil {
		return program.IOError("git.sweep", err)
	}
	defer os.RemoveAll(aside)
	lock, held := filepath.Join(r.paths.GitDir, "index.lock"), filepath.Join(aside, "lock")
	switch err := os.Rename(lock, held); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return program.IOError("git.sweep", err)
	}
	if deadHolder(held) == "" {
		if err := os.Link(held, lock); err != nil {
			return program.IOError("git.sweep", err)
		}
	}
	return nil
}

// Close gives the lock back. It may be called again.
func (c *Checkout) Close() error {
	if !c.mine() {
		return nil
	}
	os.Remove(filepath.Join(c.repo.paths.GitDir, "index.pawl")) //nolint:errcheck // only a crash leaves it
	if err := os.Remove(c.lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return program.IOError("git.index", err)
	}
	return nil
}

// Abandon leaves the lock where it is, for others to find as that of a process that has ended: what was begun under it
// is half done, and nobody may commit that.
func (c *Checkout) Abandon() error {
	f, err := os.OpenFile(c.lock, os.O_WRONLY, 0)
	if err != nil || !c.mine() {
		return err
	}
	// Written over the number that is there, so that the lock is never without its mark.
	_, err = f.WriteAt([]byte("0"+strings.Repeat(" ", len(strconv.Itoa(os.Getpid()))-1)), int64(len(c.mark)))
	return errors.Join(err, f.Close())
}

// Dirty lists the tracked files that differ from a commit, in the index or on disk, and that are in the way of going
// from it to another tree or commit. As git merge does, it minds only what that changes; without an index it minds
// everything.
func (c *Checkout) Dirty(ctx context.Context, commit, to string) ([]string, error) {
	change, err := c.repo.Objects.deltas(ctx, commit, to)
	if err != nil || len(change) == 0 {
		return nil, err
	}
	dirty, _, _, err := c.repo.index.dirt(ctx, commit, "--untracked-files=no")
	if err != nil || !layout.Exists(filepath.Join(c.repo.paths.GitDir, "index")) {
		return dirty, err
	}
	touched := map[string]bool{} // each changed path, and each directory above one
	for _, t := range change {
		for p := t.path; p != "."; p = path.Dir(p) {
			touched[p] = touched[p] || p == t.path
		}
	}
	return slices.DeleteFunc(dirty, func(file string) bool {
		_, in := touched[file] // the change is there, or below it
		for p := path.Dir(file); p != "." && !in; p = path.Dir(p) {
			in = touched[p] // a file of the change belongs where its directory is
		}
		return !in
	}), nil
}

// Staged lists the paths at which the index differs from a commit, whatever is on disk.
func (c *Checkout) Staged(ctx context.Context, commit string) ([]string, error) {
	copied, err := c.repo.index.copyIndex(filepath.Join(c.repo.paths.GitDir, "index"))
	if err != nil {
		return nil, err
	}
	defer os.Remove(copied)
	return c.repo.index.staged(ctx, copied, commit)
}

// Obstacles says what would be lost or done wrongly if the checked-out tree went from one tree to another.
type Obstacles struct {
	// Untracked are files that no commit holds, ignored or not, where a new file belongs.
	Untracked []string
	// Sparse are paths that the user keeps out of the working tree, and Flagged those that the user told git to assume
	// unchanged.
	Sparse []string
	// Converted are paths that the user's git would not write as they are: behind filters, in another encoding, or with
	// other line ends.
	Converted []string
}

// Obstacles looks at the paths that differ between two trees.
func (c *Checkout) Obstacles(ctx context.Context, from, to string) (Obstacles, error) {
	var o Obstacles
	change, err := c.repo.Objects.deltas(ctx, from, to)
	if err != nil {
		return o, err
	}
	d, err := openFiles(c.repo)
	if err != nil {
		return o, err
	}
	defer d.close()
	if o.Untracked, err = d.blocked(change); err != nil {
		return o, err
	}
	touched := map[string]bool{}
	var names []string
	for _, t := range change {
		touched[t.path] = true
		if !t.new.Absent() {
			names = append(names, t.path)
		}
	}
	if o.Sparse, err = c.flagged(ctx, touched); err != nil {
		return o, err
	}
	o.Converted, err = c.converted(ctx, names)
	return o, err
}

// flagged lists those of the paths whose index entries say "skip worktree" or "assume unchanged".
func (c *Checkout) flagged(ctx context.Context, touched map[string]bool) ([]string, error) {
	copied, err := c.repo.index.copyIndex(filepath.Join(c.repo.paths.GitDir, "index"))
	if err != nil {
		return nil, err
	}
	defer os.Remove(copied)
	out, _, err := c.repo.paths.On(copied, "", "ls-files", "-v", "-z").Run(ctx)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, line := range program.Fields(string(out)) {
		tag, path, _ := strings.Cut(line, " ")
		if touched[path] && tag != "H" {
			found = append(found, path)
		}
	}
	return found, nil
}

// converted lists those of the paths that attributes or configuration tell the user's git to convert, each with the
// attribute that does.
func (c *Checkout) converted(ctx context.Context, paths []string) (found []string, err error) {
	if len(paths) == 0 {
		return nil, nil
	}
	out, _, err := layout.CheckAttr(c.repo.paths, "", paths, "filter", "working-tree-encoding", "ident", "eol", "text").Run(ctx)
	f := program.Fields(string(out))
	for i, last := 0, ""; i+2 < len(f); i += 3 {
		path, attribute, value := f[i], f[i+1], f[i+2]
		converts := value != "unspecified" && value != "unset"
		switch attribute {
		case "eol":
			converts = value == "crlf"
		case "text":
			converts = c.repo.paths.Config.Crlf && value != "unset"
		}
		if converts && path != last {
			found, last = append(found, path+" ("+attribute+"="+value+")"), path
		}
	}
	return found, err
}

// Advance brings the checked-out files and the index from one tree to another. Every file that is what the first tree
// says becomes what the second says; a file or index entry that is neither is left alone and named. Run again after a
// crash it completes.
func (c *Checkout) Advance(ctx context.Context, from, to string) (left []string, err error) {
	change, err := c.repo.Objects.deltas(ctx, from, to)
	if err != nil {
		return nil, err
	}
	err = c.repo.index.locked(ctx, func(ctx context.Context) error {
		d, err := openFiles(c.repo)
		if err != nil {
			return err
		}
		defer d.close()
		todo, others, err := d.pending(change)
		if err != nil {
			return err
		}
		left = others
		more, err := d.put(ctx, todo, meta.Meta{})
		if err == nil {
			err = d.removeEmptied(ctx, change)
		}
		if err != nil {
			return err
		}
		left = append(left, more...)
		return c.advanceIndex(ctx, change)
	})
	return left, err
}

// advanceIndex moves the entries that are as the old sides say to the new sides, in a copy that then takes the index's
// place.
func (c *Checkout) advanceIndex(ctx context.Context, change []delta) error {
	index := filepath.Join(c.repo.paths.GitDir, "index")
	info, err := os.Stat(index)
	if err != nil {
		return program.IOError("git.index", err)
	}
	copied, err := c.repo.index.copyIndex(index)
	if err != nil {
		return err
	}
	defer os.Remove(copied)
	out, _, err := c.repo.paths.On(copied, "", "ls-files", "-z", "--stage").Run(ctx)
	if err != nil {
		return err
	}
	have := map[string]object.Node{}
	for _, line := range program.Fields(string(out)) {
		head, path, _ := strings.Cut(line, "\t")
		if f := strings.Fields(head); len(f) == 3 {
			have[path] = object.Node{Mode: f[0], ID: f[1]}
		}
	}
	var gone, come strings.Builder
	for _, t := range change {
		if have[t.path] != t.old {
			continue
		}
		if t.new.Absent() {
			gone.WriteString(c.repo.paths.Removals([]string{t.path}))
			continue
		}
		come.WriteString(t.new.Mode + " " + t.new.ID + " 0\t" + t.path + "\x00")
	}
	if gone.Len()+come.Len() == 0 {
		return nil
	}
	if err := c.repo.index.edit(ctx, copied, gone.String()+come.String()); err != nil {
		return err
	}
	// What differs from its entry by now is the user's; refreshing finds it and says so with status 1.
	refresh := c.repo.paths.On(copied, "", "update-index", "-q", "--refresh")
	if _, _, err := refresh.Answering(1).Run(ctx); err != nil {
		return err
	}
	return c.install(ctx, copied, index, info.Mode().Perm())
}

// install puts a finished index in the place of the user's, whole.
func (c *Checkout) install(ctx context.Context, copied, index string, perm fs.FileMode) error {
	fresh := index + ".pawl"
	if err := disk.Copy(fresh, copied); err != nil {
		return program.IOError("git.index", err)
	}
	if err := os.Chmod(fresh, perm); err != nil {
		return program.IOError("git.index", err)
	}
	program.Step(ctx, "install index")
	if !c.mine() {
		os.Remove(fresh)
		return pawl.Fail(pawl.CodeConflict, "git.lock_lost", c.lock)
	}
	if err := os.Rename(fresh, index); err != nil {
		return program.IOError("git.index", err)
	}
	return nil
}
