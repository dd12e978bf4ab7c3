package git

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"pawl"
	"pawl/sandbox/git/layout"
	"pawl/sandbox/git/meta"
	"pawl/sandbox/git/object"
	"pawl/sandbox/git/program"
	"pawl/store/disk"
)

// Restoration asks to bring the files of a tree back to a recorded state.
type Restoration struct {
	// Target is the tree to restore.
	Target string
	// Expect is the tree that pawl left behind. With it only what differs between Expect and Target is restored, and a
	// file of those that is neither what Expect nor what Target says is a conflict. Empty means to restore everything.
	Expect string
	// Origin is the tree before the first attempt; it makes a repetition after a crash decide as that attempt did. It
	// may be empty in a first attempt.
	Origin string
	// Paths limits the restoration to these files; nil stands for all.
	Paths []string
	// Force overwrites conflicting files. Their content is in the snapshot that is taken first.
	Force bool
}

// Restored says what a restoration did.
type Restored struct {
	Before  string   // tree that was found
	After   string   // tree that was left
	Changed []string // paths that were written or removed
	Kept    []string // paths that differ from the target and were left, because they are not pawl's change
}

// Restore brings the tree's files to a recorded state: contents, executable bits, symbolic links, and as far as they
// were recorded other permissions and empty folders. It never touches .pawl, .git, the insides of nested repositories,
// or files that the target's own ignore rules name and that were not recorded despite them. On a conflict it fails with
// CodeConflict, naming the files, and nothing has changed. It may be repeated after a crash and then completes what is
// left.
func (r *Repo) Restore(ctx context.Context, q Restoration) (done Restored, err error) {
	err = r.index.locked(ctx, func(ctx context.Context) error {
		done, err = r.restore(ctx, q)
		return err
	})
	return done, err
}

func (r *Repo) restore(ctx context.Context, q Restoration) (Restored, error) {
	w, todo, err := r.begin(ctx, q)
	if w != nil {
		defer w.files.close()
	}
	if err != nil {
		return Restored{}, err
	}
	done := Restored{Before: w.before, After: w.before}
	want := meta.Recall(r.paths.MetaFile(q.Target))
	left, err := w.files.put(ctx, todo, want)
	if err != nil {
		return done, err
	}
	if err := w.files.restoreMeta(w, want, meta.Recall(r.paths.MetaFile(w.base())), todo); err != nil {
		return done, err
	}
	if done.After, err = w.after(ctx, todo, left); err != nil {
		return done, err
	}
	for _, t := range todo {
		done.Changed = append(done.Changed, t.path)
	}
	return w.judge(ctx, done, left)
}

// after records what the restoration left: the tree that was found, with those paths as they are on disk now that it
// was to change. Looking at all the others again would double its time.
func (w *restorer) after(ctx context.Context, todo []delta, left []string) (string, error) {
	var s seen
	for _, t := range todo {
		switch {
		case t.new.Mode == object.ModeNested || t.old.Mode == object.ModeNested && slices.Contains(left, t.path):
		case t.new.Absent() && !slices.Contains(left, t.path):
			s.gone = append(s.gone, t.path)
		default:
			s.changed = append(s.changed, t.path)
		}
	}
	return w.repo.index.store(ctx, s)
}

// restorer is one restoration at work.
type restorer struct {
	repo   *Repo
	files  *treeFiles
	q      Restoration
	before string  // tree that was found
	change []delta // from the base to the target: what the whole restoration is about, across crashes
}

// begin records the tree as it is and decides which paths are to change. The restorer, unless nil, has its disk open.
func (r *Repo) begin(ctx context.Context, q Restoration) (*restorer, []delta, error) {
	before, err := r.index.snapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	if q.Origin == "" {
		q.Origin = before
	}
	d, err := openFiles(r)
	if err != nil {
		return nil, nil, err
	}
	w := &restorer{repo: r, files: d, q: q, before: before}
	todo, err := w.plan(ctx)
	return w, todo, err
}

// Pending lists the paths that a restoration has still to change. Empty means that it is done.
func (r *Repo) Pending(ctx context.Context, q Restoration) (paths []string, err error) {
	err = r.index.locked(ctx, func(ctx context.Context) error {
		w, todo, err := r.begin(ctx, q)
		if w != nil {
			defer w.files.close()
		}
		for _, t := range todo {
			paths = append(paths, t.path)
		}
		return err
	})
	return paths, err
}

// base is the state that the restoration starts from, as far as it decides what is pawl's change.
func (w *restorer) base() string {
	if w.q.Expect != "" {
		return w.q.Expect
	}
	return w.q.Origin
}

// plan decides which paths are to change.
func (w *restorer) plan(ctx context.Context) ([]delta, error) {
	wanted, err := w.repo.Objects.deltas(ctx, w.before, w.q.Target)
	if err != nil {
		return nil, err
	}
	w.change = slices.Clone(wanted)
	if w.base() != w.before {
		if w.change, err = w.repo.Objects.deltas(ctx, w.base(), w.q.Target); err != nil {
			return nil, err
		}
	}
	if w.q.Paths != nil {
		only := make(map[string]bool, len(w.q.Paths))
		for _, p := range w.q.Paths {
			only[p] = true
		}
		outside := func(t delta) bool { return !only[t.path] }
		wanted, w.change = slices.DeleteFunc(wanted, outside), slices.DeleteFunc(w.change, outside)
	}
	var conflicts []string
	if w.q.Expect != "" {
		wanted, conflicts = w.ours(wanted)
	}
	if wanted, err = w.spareIgnored(ctx, wanted); err != nil {
		return nil, err
	}
	blocked, err := w.files.blocked(wanted)
	if err != nil {
		return nil, err
	}
	if conflicts = append(conflicts, blocked...); len(conflicts) > 0 {
		return nil, pawl.Fail(pawl.CodeConflict, "git.conflict", Listing(conflicts))
	}
	return wanted, nil
}

// ours keeps of the differences to the target those that are pawl's own change, and names the files that somebody else
// has changed as well.
func (w *restorer) ours(wanted []delta) (mine []delta, conflicts []string) {
	expected := make(map[string]object.Node, len(w.change))
	for _, c := range w.change {
		expected[c.path] = c.old
	}
	for _, t := range wanted {
		switch old, known := expected[t.path]; {
		case !known:
		case old == t.old || w.q.Force:
			mine = append(mine, t)
		default:
			conflicts = append(conflicts, t.path)
		}
	}
	return mine, conflicts
}

// spareIgnored takes back the removal of files that were recorded only because an ignore pattern was gone for a while:
// under the target's rules they are the user's, and the target could not have recorded them. Both sets of rules come
// from trees, not from the disk, so that a repetition decides alike.
func (w *restorer) spareIgnored(ctx context.Context, wanted []delta) ([]delta, error) {
	var going []string
	for _, t := range wanted {
		if t.new.Absent() {
			going = append(going, t.path)
		}
	}
	rules := slices.ContainsFunc(w.change, func(t delta) bool { return path.Base(t.path) == ".gitignore" })
	if len(going) == 0 || !rules {
		return wanted, nil
	}
	now, err := w.repo.Objects.ignoredBy(ctx, w.q.Target, going)
	if err != nil {
		return nil, err
	}
	then, err := w.repo.Objects.ignoredBy(ctx, w.base(), going)
	if err != nil {
		return nil, err
	}
	kept := wanted[:0]
	for _, t := range wanted {
		if !t.new.Absent() || !now[t.path] || then[t.path] {
			kept = append(kept, t)
		}
	}
	return kept, nil
}

// ignoredBy says which paths the ignore files of a tree would ignore.
func (r Objects) ignoredBy(ctx context.Context, tree string, paths []string) (map[string]bool, error) {
	out, _, err := r.paths.WithoutTree("", "ls-tree", "-r", "-z", "--end-of-options", tree).Run(ctx)
	if err != nil {
		return nil, r.missing(ctx, err, tree)
	}
	scratch := r.paths.State("tmp/" + filepath.Base(r.paths.IndexFile))
	dir := filepath.Join(scratch, "rules")
	if err := errors.Join(layout.Discard(r.paths, dir), disk.Mkdir(r.paths.Base, dir, 0o700)); err != nil {
		return nil, program.IOError("git.restore", err)
	}
	defer layout.Discard(r.paths, scratch) //nolint:errcheck // swept before its next use
	var ids, names []string
	for _, line := range program.Fields(string(out)) {
		head, name, _ := strings.Cut(line, "\t")
		f := strings.Fields(head)
		if path.Base(name) == ".gitignore" && len(f) == 3 && f[0] != object.ModeLink && safePath(name) {
			ids, names = append(ids, f[2]), append(names, filepath.Join(dir, filepath.FromSlash(name)))
		}
	}
	err = r.Blobs(ctx, ids, func(n int, size int64, content io.Reader) error {
		raw := make([]byte, size)
		_, err := io.ReadFull(content, raw)
		return errors.Join(err, os.MkdirAll(filepath.Dir(names[n]), 0o700), os.WriteFile(names[n], raw, 0o600))
	})
	if err != nil {
		return nil, err
	}
	// This command alone refuses literal path specifications; a name that begins with "./" has no other meaning.
	c := program.Call{
		Args: []string{"check-ignore", "-z", "--stdin", "--no-index"}, Dir: dir, Answers: []int{1},
		Env:   append(r.paths.ShadowEnv(dir, r.paths.State("no-index")), "GIT_LITERAL_PATHSPECS=0"),
		Stdin: strings.NewReader("./" + strings.Join(paths, "\x00./") + "\x00"),
	}
	out, _, err = c.Run(ctx)
	ignored := map[string]bool{}
	for _, p := range program.Fields(string(out)) {
		ignored[strings.TrimPrefix(p, "./")] = true
	}
	return ignored, err
}

// blocked names what stands where something is to be written and is not ours to remove: a file that was not recorded,
// or a folder with such files.
func (d *treeFiles) blocked(todo []delta) ([]string, error) {
	going := make(map[string]bool, len(todo))
	for _, t := range todo {
		if !t.old.Absent() {
			going[t.path] = true
		}
	}
	found := map[string]bool{}
	for _, t := range todo {
		if t.new.Absent() {
			continue
		}
		for p := path.Dir(t.path); p != "."; p = path.Dir(p) {
			if info, err := d.lstat(p); err == nil && !info.IsDir() && !going[p] {
				found[p] = true
			}
		}
		info, err := d.lstat(t.path)
		if gone(err) {
			continue
		}
		if err != nil {
			return nil, program.IOError("git.restore", err)
		}
		switch {
		case info.IsDir() && t.new.Mode == object.ModeNested:
		case info.IsDir():
			if err := d.foreign(t.path, going, found); err != nil {
				return nil, err
			}
		case t.old.Absent() && !going[t.path]:
			there, err := d.node(t.path)
			if err != nil {
				return nil, err
			}
			if there != t.new {
				found[t.path] = true
			}
		}
	}
	out := deepestFirst(found)
	sort.Strings(out)
	return out, nil
}

// foreign finds the files in a folder that are not going.
func (d *treeFiles) foreign(dir string, going, found map[string]bool) error {
	err := fs.WalkDir(d.root.FS(), d.at(dir), func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if rel := strings.TrimPrefix(p, d.tree+"/"); !going[rel] {
			found[rel] = true
		}
		return nil
	})
	if err != nil {
		return program.IOError("git.restore", err)
	}
	return nil
}

// restoreMeta brings back empty folders and permissions that a git tree does not hold. Where only pawl's change is to
// be undone, it touches only what is still as pawl left it.
func (d *treeFiles) restoreMeta(w *restorer, want, from meta.Meta, todo []delta) error {
	written := map[string]bool{}
	for _, t := range todo {
		written[t.path] = true
	}
	for p := range want.Empty {
		if !safePath(p) || reserved(p) {
			continue
		}
		if err := d.makeParents(p + "/"); err != nil && pawl.CodeOf(err) != pawl.CodeConflict {
			return err
		}
	}
	if err := d.removeEmpty(w.surplus(want, from)); err != nil || !want.Known {
		return err
	}
	for p := range mergeKeys(want.Modes, from.Modes) {
		if written[p] || !safePath(p) {
			continue
		}
		info, err := d.lstat(p)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		exec, now := info.Mode()&0o100 != 0, info.Mode().Perm()
		perm, _ := want.Perm(p, exec)
		if left, known := from.Perm(p, exec); perm == 0 || w.q.Expect != "" && (!known || left != now) {
			continue
		}
		if perm = meta.WithExec(perm, exec); perm != now {
			if err := d.root.Chmod(d.at(p), perm); err != nil {
				return program.IOError("git.restore", err)
			}
		}
	}
	return nil
}

// surplus is the folders that are to go if they are empty: those that were left empty, those from which files went,
// perhaps before a crash, and those above. Such a folder was not there, or is in use, or is wanted empty.
func (w *restorer) surplus(want, from meta.Meta) map[string]bool {
	var leaves []string
	if want.Known {
		for p := range from.Empty {
			leaves = append(leaves, p)
		}
	}
	for _, t := range w.change {
		if t.new.Absent() {
			leaves = append(leaves, path.Dir(t.path))
		}
	}
	out := map[string]bool{}
	for _, p := range leaves {
		for ; p != "." && !want.Empty[p] && safePath(p); p = path.Dir(p) {
			out[p] = true
		}
	}
	return out
}

func mergeKeys[V any](maps ...map[string]V) map[string]bool {
	out := map[string]bool{}
	for _, m := range maps {
		for k := range m {
			out[k] = true
		}
	}
	return out
}

// judge compares what was left with what was asked: whatever still differs must be a path that was not ours to change.
func (w *restorer) judge(ctx context.Context, done Restored, left []string) (Restored, error) {
	rest, err := w.repo.Objects.deltas(ctx, done.After, w.q.Target)
	if err != nil {
		return done, err
	}
	leave := map[string]bool{}
	for _, p := range left {
		leave[p] = true
	}
	ours := map[string]bool{}
	for _, p := range done.Changed {
		ours[p] = !leave[p]
	}
	var wrong []string
	for _, d := range rest {
		done.Kept = append(done.Kept, d.path)
		if ours[d.path] {
			wrong = append(wrong, d.path)
		}
	}
	for _, p := range left {
		if !slices.Contains(done.Kept, p) {
			done.Kept = append(done.Kept, p)
		}
	}
	if len(wrong) > 0 {
		return done, pawl.Fail(pawl.CodeConflict, "git.changed_meanwhile", Listing(wrong))
	}
	return done, nil
}

// Listing renders paths for a message: quoted, and at most twenty of them.
func Listing(paths []string) string {
	const most = 20
	var b strings.Builder
	for i, p := range paths {
		if i == most {
			b.WriteString(", … +" + strconv.Itoa(len(paths)-most))
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(p))
	}
	return b.String()
}
