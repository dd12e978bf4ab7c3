package git

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pawl"
	"pawl/sandbox/git/layout"
	"pawl/sandbox/git/object"
	"pawl/sandbox/git/program"
	"pawl/sandbox/git/stat"
	"pawl/store/disk"
	"pawl/store/lockfile"
)

// WorktreePool are the worktrees of a workspace that stand ready to be taken: linked, detached and locked worktrees of
// the user's repository in .pawl/worktrees/warm-*, each with exactly the content of a commit. What is ready is said by
// a note, which is written last; everything else that has such a name was cut short, and Tidy removes it. It is safe
// for concurrent use, in any number of processes: whoever works on one of them holds its lock, and the lock ends with
// its holder.
//
// A worktree that a task has worked in never comes back. That nothing of the task is left in it (hard links,
// permissions, descriptors that are still open) would be dearer to prove than a new one, which nobody waits for, is to
// make.
type WorktreePool struct{ repo *Repo }

// NewWarm returns the warm worktrees of the workspace of r.
func NewWarm(r *Repo) WorktreePool { return WorktreePool{r} }

// warmPrefix begins the names of warm worktrees.
const warmPrefix = "warm-"

// warmReason is what git shows of a warm worktree.
const warmReason = "pawl: kept ready for a task\n"

// ready is what the note of a warm worktree says.
type ready struct {
	commit, tree string
	// print is the fingerprint of its files, "" where the system has none; then git compares them.
	print string
}

// at is the repository with a warm worktree for its tree.
func (w WorktreePool) at(name string) *Repo {
	s := *w.repo.paths
	s.Rel = "worktrees/" + name
	s.Tree = filepath.Join(s.Worktrees(), name)
	s.IndexFile = s.State(filepath.Join("index", layout.IndexName(s.Rel)))
	return repoAt(&s, nil) // a memory is for trees that are looked at again and again
}

func (w WorktreePool) note(name string) string {
	return filepath.Join(w.repo.paths.State("warm"), name)
}

func (w WorktreePool) lock(name string) string { return w.note(name) + ".lock" }

// notes are the worktrees that are ready.
func (w WorktreePool) notes() map[string]ready {
	found := map[string]ready{}
	paths, _ := filepath.Glob(filepath.Join(layout.EscapeGlob(w.repo.paths.State("warm")), warmPrefix+"*"))
	for _, path := range paths {
		line, _ := layout.ReadLine(path, "")
		if f := strings.Fields(line); len(f) >= 2 && validID(f[0]) && validID(f[1]) {
			found[filepath.Base(path)] = ready{f[0], f[1], strings.Join(f[2:], "")}
		}
	}
	return found
}

// Count is how many are ready.
func (w WorktreePool) Count() int { return len(w.notes()) }

// seize takes the lock of a file below a directory if it is free. Without an error, nil says that somebody else holds
// it.
func seize(base, path string) (*lockfile.Lock, error) {
	if err := disk.Mkdir(base, filepath.Dir(path), 0o700); err != nil {
		return nil, program.IOError("git.lock", err)
	}
	l, err := lockfile.Try(path)
	if err != nil {
		return nil, program.IOError("git.lock", err)
	}
	return l, nil
}

// AddWorktree makes the tree a linked worktree of the user's repository whose content is exactly that of the commit
// base, and returns the id of its tree. Files are written by pawl's own git, so no filter, hook or line-end conversion
// touches them. What a crash left half made is removed first; content that is there already and that differs is
// recorded in a snapshot before it goes. It does nothing when the worktree stands as asked, and takes a warm one where
// there is one and nothing is in the way.
func (r *Repo) AddWorktree(ctx context.Context, base string) (tree string, err error) {
	if r.InPlace() || !r.paths.Git {
		return "", pawl.Fail(pawl.CodeInvalid, "git.outside", r.paths.Tree, r.paths.Workspace)
	}
	if tree, ok, err := NewWarm(r).Take(ctx, r, base); ok || err != nil {
		return tree, err
	}
	want, err := r.Objects.ResolveTree(ctx, base)
	if err != nil {
		return "", err
	}
	if ok, err := r.WorktreeIs(ctx, base); ok || err != nil {
		return want, err
	}
	if r.paths.Registration() != "" {
		_, _ = r.Snapshot(ctx) // half-made trees cannot be recorded, and need not be
	}
	if err := r.RemoveWorktree(ctx); err != nil {
		return "", err
	}
	return want, plant(ctx, r, base, want)
}

// Take makes a warm worktree the tree of to, at the commit base, and returns the id of its tree. ok is false where
// there is none to take, and where something stands at the tree already; nothing is changed then. The claim is the
// renaming of its folder, which succeeds once. One whose files are not as they were left is removed, and so is one that
// fails on the way. Cut short, what is there is no worktree by WorktreeIs, and AddWorktree makes it afresh.
func (w WorktreePool) Take(ctx context.Context, to *Repo, base string) (tree string, ok bool, err error) {
	notes := w.notes()
	if len(notes) == 0 || to.InPlace() || !to.paths.Git || layout.Exists(to.paths.Tree) ||
		to.paths.Registration() != "" {
		return "", false, nil
	}
	// Those at the commit first; among equals the newest, which the file system is likeliest to have at hand.
	names := slices.SortedFunc(maps.Keys(notes), func(a, b string) int {
		switch at := notes[a].commit == base; {
		case at == (notes[b].commit == base):
			return strings.Compare(b, a)
		case at:
			return -1
		}
		return 1
	})
	want := ""
	for _, name := range names {
		if ctx.Err() != nil {
			return "", false, pawl.Fail(pawl.CodeCanceled, "git.canceled", "worktree").Because(ctx.Err())
		}
		switch note := notes[name]; {
		case note.commit == base:
			want = note.tree
		case want == "":
			if want, err = w.repo.Objects.ResolveTree(ctx, base); err != nil {
				return "", false, err
			}
		}
		if w.take(ctx, name, to, base, want) {
			return want, true, nil
		}
	}
	return "", false, nil
}

// take takes one warm worktree, if nobody else has it.
func (w WorktreePool) take(ctx context.Context, name string, to *Repo, base, want string) bool {
	held, err := seize(w.repo.paths.Base, w.lock(name))
	if err != nil || held == nil {
		return false
	}
	defer held.Release() //nolint:errcheck // the lock ends with the file
	note, is := w.notes()[name]
	from := w.at(name)
	admin := from.paths.Registration()
	if !is || admin == "" || !linked(from.paths.Tree, admin) {
		return false // Tidy knows what to do with it
	}
	if err := disk.Mkdir(to.paths.Base, filepath.Dir(to.paths.Tree), 0o755); err != nil {
		return false
	}
	claimed := false
	err = to.index.locked(ctx, func(ctx context.Context) error {
		if claimed, err = become(ctx, from, to, admin); err != nil {
			return err
		}
		if err := intact(ctx, to, note); err != nil || note.commit == base {
			return err
		}
		return advance(ctx, to, note.commit, note.tree, base, want)
	})
	if err != nil && claimed {
		err = errors.Join(err, to.RemoveWorktree(context.WithoutCancel(ctx)))
	}
	if claimed {
		w.forget(name)
	}
	return err == nil
}

// linked reports whether a folder's own .git leads to where the user's repository keeps it.
func linked(tree, admin string) bool {
	target, ok := layout.ReadLine(filepath.Join(tree, ".git"), "gitdir: ")
	return ok && layout.Absolute(tree, target) == admin
}

// become moves a linked worktree with all that is known of it to the place of another tree. The renaming of the folder
// is what makes it that tree's; claimed says that it happened.
func become(ctx context.Context, from, to *Repo, admin string) (claimed bool, err error) {
	to.index.forget()
	program.Step(ctx, "claim worktree")
	if err := os.Rename(from.paths.Tree, to.paths.Tree); err != nil {
		return false, program.IOError("git.worktree", err)
	}
	program.Step(ctx, "move registration")
	if err := disk.WriteFile(filepath.Join(admin, "gitdir"),
		[]byte(filepath.Join(to.paths.Tree, ".git")+"\n")); err != nil {
		return true, program.IOError("git.worktree", err)
	}
	program.Step(ctx, "unlock worktree")
	if err := os.Remove(filepath.Join(admin, "locked")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return true, program.IOError("git.worktree", err)
	}
	// The index comes last: without one, WorktreeIs knows that something is missing.
	program.Step(ctx, "move index")
	for _, suffix := range []string{".source", ".tree", ""} {
		if err := os.Rename(from.paths.IndexFile+suffix, to.paths.IndexFile+suffix); err != nil {
			return true, program.IOError("git.worktree", err)
		}
	}
	return true, nil
}

// intact fails unless the tree's files are as a note says that they were left.
func intact(ctx context.Context, r *Repo, note ready) error {
	if note.print != "" {
		print, _ := stat.Fingerprint(r.paths.Tree)
		if print != note.print {
			return pawl.Fail(pawl.CodeConflict, "git.not_exact", r.paths.Tree, note.print, print)
		}
		return nil
	}
	s, err := r.index.scan(ctx, r.paths.IndexFile, "--untracked-files=all", "--ignored=matching")
	if err == nil && len(s.changed)+len(s.gone)+len(s.untracked)+len(s.ignored) > 0 {
		err = pawl.Fail(pawl.CodeConflict, "git.not_exact", r.paths.Tree, note.tree, "")
	}
	return err
}

// advance brings a linked worktree from one commit to another with the tree want: only what differs is written, and is
// read again. The commit is named last, so that WorktreeIs knows what was cut short.
func advance(ctx context.Context, r *Repo, from, tree, base, want string) error {
	linked, err := NewLinked(r)
	if err != nil {
		return err
	}
	change, err := r.Objects.deltas(ctx, tree, want)
	if err != nil {
		return err
	}
	if err := os.Remove(r.paths.IndexFile + ".tree"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return program.IOError("git.worktree", err)
	}
	if _, err := r.paths.ShadowRun(ctx, "", "read-tree", "-m", "-u", tree, want); err != nil {
		return err
	}
	have, _, err := r.index.writeTree(ctx)
	if err == nil && have == want {
		err = holds(r, change)
	}
	if err == nil && have != want {
		err = pawl.Fail(pawl.CodeConflict, "git.not_exact", r.paths.Tree, want, have)
	}
	if err != nil {
		return err
	}
	if err := linked.share(ctx); err != nil {
		return err
	}
	return linked.MoveHead(ctx, base, from)
}

// holds fails unless every path of a change is on disk what its new side says.
func holds(r *Repo, change []delta) error {
	d, err := openFiles(r)
	if err != nil {
		return err
	}
	defer d.close()
	for _, t := range change {
		there, err := d.node(t.path)
		if err != nil {
			return err
		}
		if there != t.new && !(there.Mode == object.ModeDir && (t.new.Absent() || t.new.Mode == object.ModeNested)) {
			return pawl.Fail(pawl.CodeConflict, "git.changed_meanwhile", Listing([]string{t.path}))
		}
	}
	return nil
}

// forget drops what says that a warm worktree is ready, and its lock, which the caller holds.
func (w WorktreePool) forget(name string) {
	os.Remove(w.note(name)) //nolint:errcheck // without its folder it is found and removed by Tidy
	os.Remove(w.lock(name)) //nolint:errcheck // whoever waits for a lock sees that it is no longer named
}

// Fill makes as many warm worktrees as are missing to size, at the commit that the workspace is at, brings those that
// stand elsewhere to it, and removes those that are too many or that somebody touched. It is for the background: it
// waits until no change of a file could go unseen, for about a second. Where another process is at it, it does nothing.
// On an error those that were finished stay.
func (w WorktreePool) Fill(ctx context.Context, size int) error {
	if !w.repo.paths.Git || w.repo.Operation() != "" {
		return nil
	}
	head, _, err := w.repo.Refs.Head(ctx)
	if err != nil || head == "" {
		return err
	}
	want, err := w.repo.Objects.ResolveTree(ctx, head)
	if err != nil {
		return err
	}
	filling, err := seize(w.repo.paths.Base, filepath.Join(w.repo.paths.State("warm"), "fill.lock"))
	if err != nil || filling == nil {
		return err
	}
	defer filling.Release() //nolint:errcheck // the lock ends with the file
	if err := w.Tidy(ctx); err != nil {
		return err
	}
	batch := map[string]*lockfile.Lock{}
	defer func() {
		for _, held := range batch {
			_ = held.Release()
		}
	}()
	err = w.renew(ctx, size, head, want, batch)
	for missing := size - w.Count() - len(batch); missing > 0 && err == nil; missing-- {
		err = w.plant(ctx, head, want, batch)
	}
	return errors.Join(err, w.finish(ctx, head, want, batch))
}

// renew looks through those that are ready. What has to be finished again goes into the batch.
func (w WorktreePool) renew(ctx context.Context, size int, head, want string, batch map[string]*lockfile.Lock) error {
	notes := w.notes()
	for i, name := range slices.Sorted(maps.Keys(notes)) {
		held, err := seize(w.repo.paths.Base, w.lock(name))
		if err != nil {
			return err
		}
		if held == nil {
			continue // it is being taken
		}
		note, r := notes[name], w.at(name)
		admin := r.paths.Registration()
		keep := i < size && admin != "" && layout.Exists(r.paths.Tree) && intact(ctx, r, note) == nil
		if keep && note.commit == head {
			_ = held.Release()
			continue
		}
		os.Remove(w.note(name)) //nolint:errcheck // what follows fails where this does
		if keep {
			err = r.index.locked(ctx, func(ctx context.Context) error {
				return advance(ctx, r, note.commit, note.tree,
					head, want)
			})
		}
		if keep && err == nil {
			batch[name] = held
			continue
		}
		err = w.drop(ctx, name)
		_ = held.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// plant makes one more, which is ready once it is finished.
func (w WorktreePool) plant(ctx context.Context, head, want string, batch map[string]*lockfile.Lock) error {
	id, err := pawl.NewID(time.Now(), rand.Reader)
	if err != nil {
		return pawl.Fail(pawl.CodeIO, "git.io").In("git.worktree").Because(err)
	}
	name := warmPrefix + string(id)
	held, err := seize(w.repo.paths.Base, w.lock(name))
	if err != nil || held == nil {
		return err
	}
	r := w.at(name)
	// A git that outlives this process keeps the lock for as long.
	if err := plant(program.WithLock(ctx, held.File()), r, head, want); err != nil {
		err = errors.Join(err, w.drop(context.WithoutCancel(ctx), name))
		_ = held.Release()
		return err
	}
	batch[name] = held
	return nil
}

// finish makes the worktrees of a batch ready, once every one of them is settled.
func (w WorktreePool) finish(ctx context.Context, head, want string, batch map[string]*lockfile.Lock) error {
	for name, held := range batch {
		r := w.at(name)
		print, err := seal(ctx, r, want)
		if err == nil {
			program.Step(ctx, "write note")
			err = disk.WriteFile(w.note(name), []byte(head+" "+want+" "+print+"\n"))
		}
		if err != nil {
			err = errors.Join(err, w.drop(context.WithoutCancel(ctx), name))
		}
		_ = held.Release()
		delete(batch, name)
		if err != nil {
			return err
		}
	}
	return nil
}

// seal locks a worktree for git and returns the fingerprint of its files, after which they are known to be what they
// should.
func seal(ctx context.Context, r *Repo, want string) (print string, err error) {
	admin := r.paths.Registration()
	if admin == "" {
		return "", pawl.Fail(pawl.CodeRepository, "git.not_repository", r.paths.Tree)
	}
	if err := os.WriteFile(filepath.Join(admin, "locked"), []byte(warmReason), 0o644); err != nil {
		return "", program.IOError("git.worktree", err)
	}
	if print, err = settledPrint(ctx, r.paths.Tree); err != nil {
		return "", err
	}
	err = r.index.locked(ctx, func(ctx context.Context) error {
		// What git sees a second after it wrote the files it need not read again; so tools in the tree get that index.
		if _, _, err := r.index.observe(ctx); err != nil {
			return err
		}
		linked, err := NewLinked(r)
		if err == nil {
			err = linked.share(ctx)
		}
		if err != nil {
			return err
		}
		have, s, err := r.index.observe(ctx)
		if err == nil && (have != want || len(s.ignored) > 0) {
			err = pawl.Fail(pawl.CodeConflict, "git.not_exact", r.paths.Tree, want, have)
		}
		return err
	})
	return print, err
}

// settledPrint waits until a change of any file must show in its fingerprint, and returns it.
func settledPrint(ctx context.Context, tree string) (string, error) {
	for {
		print, settled := stat.Fingerprint(tree)
		if print == "" || settled {
			return print, nil
		}
		select {
		case <-ctx.Done():
			return "", pawl.Fail(pawl.CodeCanceled, "git.canceled", "worktree").Because(ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// drop removes a warm worktree with all that is known of it. The caller holds its lock.
func (w WorktreePool) drop(ctx context.Context, name string) error {
	os.Remove(w.note(name)) //nolint:errcheck // RemoveWorktree fails where this does
	if err := w.at(name).RemoveWorktree(ctx); err != nil {
		return err
	}
	w.forget(name)
	return nil
}

// Tidy removes what was left of warm worktrees by calls that were cut short. Those that are ready or being worked on
// stay.
func (w WorktreePool) Tidy(ctx context.Context) error { return w.clear(ctx, false) }

// Drain removes all warm worktrees but those that are being taken.
func (w WorktreePool) Drain(ctx context.Context) error { return w.clear(ctx, true) }

func (w WorktreePool) clear(ctx context.Context, all bool) error {
	if !w.repo.paths.Git {
		return nil
	}
	failed := w.forgetTaken()
	for _, name := range w.names() {
		held, err := seize(w.repo.paths.Base, w.lock(name))
		if err != nil || held == nil {
			failed = errors.Join(failed, err)
			continue
		}
		r := w.at(name)
		if _, is := w.notes()[name]; all || !is || !layout.Exists(r.paths.Tree) || r.paths.Registration() == "" {
			failed = errors.Join(failed, w.drop(ctx, name))
		}
		_ = held.Release()
	}
	return failed
}

// names are all warm worktrees of which there is a trace: a folder, a note, a lock, or what the user's repository
// knows.
func (w WorktreePool) names() []string {
	set := map[string]bool{}
	folders := w.repo.paths.Worktrees()
	for _, dir := range []string{folders, w.repo.paths.State("warm")} {
		found, _ := filepath.Glob(filepath.Join(layout.EscapeGlob(dir), warmPrefix+"*"))
		for _, path := range found {
			set[strings.TrimSuffix(filepath.Base(path), ".lock")] = true
		}
	}
	for _, tree := range w.registered("*") {
		if name := filepath.Base(tree); strings.HasPrefix(name, warmPrefix) {
			set[name] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// registered maps what the user's repository knows by a pattern of names to the folders, as far as they are among
// pawl's.
func (w WorktreePool) registered(pattern string) map[string]string {
	folders := w.repo.paths.Worktrees()
	found := map[string]string{}
	paths, _ := filepath.Glob(filepath.Join(layout.EscapeGlob(w.repo.paths.CommonDir), "worktrees", pattern, "gitdir"))
	for _, path := range paths {
		target, _ := layout.ReadLine(path, "")
		if tree := filepath.Dir(layout.Absolute(filepath.Dir(path), target)); filepath.Dir(tree) == folders {
			found[filepath.Dir(path)] = tree
		}
	}
	return found
}

// forgetTaken removes what the user's repository knows of worktrees that tasks took and whose folders are gone. It has
// the name that they had when they were warm, by which no task looks for it.
func (w WorktreePool) forgetTaken() error {
	var failed error
	for dir, tree := range w.registered(warmPrefix + "*") {
		if !layout.Exists(tree) && !strings.HasPrefix(filepath.Base(tree), warmPrefix) {
			failed = errors.Join(failed, os.RemoveAll(dir))
		}
	}
	if failed != nil {
		return program.IOError("git.worktree", failed)
	}
	return nil
}
