package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"pawl/sandbox/git/layout"
	"pawl/sandbox/git/meta"
	"pawl/sandbox/git/object"
	"pawl/sandbox/git/program"
	"pawl/sandbox/git/stat"
)

// Snapshot records the tree as it stands, tracked and untracked, and returns the id of a git tree that holds it. What
// .gitignore, the repository's or the user's own ignore files name is not recorded, unless it was tracked; nor are
// .pawl, .git, the insides of nested repositories, and files that are neither regular nor symbolic links. Contents are
// recorded as they are, byte for byte. A reference keeps the objects until Prune removes it.
//
// The same content always gives the same id. A snapshot of an unchanged tree costs one git call. With a Memory that
// knows the tree it costs none, and none either when only the contents of files that were recorded before have changed.
func (r *Repo) Snapshot(ctx context.Context) (tree string, err error) {
	err = r.index.locked(ctx, func(ctx context.Context) error {
		if r.memory == nil {
			tree, err = r.index.snapshot(ctx)
			return err
		}
		tree, err = statusCache{r.paths, r.index, r.memory}.snapshot(ctx)
		return err
	})
	return tree, err
}

// statusCache answers snapshots of a tree from what a Memory knows of its files, and has git look where that does not
// suffice.
type statusCache struct {
	paths  *layout.Layout
	index  treeIndex
	memory *Memory
}

// snapshot is Snapshot under the lock of the tree, from memory where that knows the tree.
func (r statusCache) snapshot(ctx context.Context) (string, error) {
	key := r.paths.IndexFile + "\x00" + r.paths.Tree
	if t := r.memory.takeTable(key); t != nil {
		tree, ok, err := r.again(ctx, t)
		if err != nil {
			return "", err
		}
		if ok {
			r.memory.putTable(key, t)
			return tree, nil
		}
	}
	begin := r.moment()
	tree, seen, err := r.index.observe(ctx)
	if err != nil {
		return "", err
	}
	os.Remove(r.paths.IndexFile + quickNote) //nolint:errcheck // it only spares one tree more than need be
	if t := r.tabulate(ctx, tree, seen, begin); t != nil {
		r.memory.putTable(key, t)
	}
	return tree, nil
}

// instant is how things stood before a look. Its time is that of the tree's file system, which need not be this
// machine's, and the zero time where it cannot be known.
type instant struct {
	at     time.Time
	source stat.Stamp
}

// moment is now.
func (r statusCache) moment() instant {
	return instant{at: stat.Now(r.paths.IndexFile + ".flock"), source: stat.StampFile(r.index.sourceIndex())}
}

// basis is what a table would rest on now. ok is false where tables are no use: git would not take files for what they
// are.
func (r statusCache) basis(begin instant) (b basis, ok bool) {
	for _, pair := range r.paths.Config.Files {
		if pair[1] != "true" && (pair[0] == "core.filemode" || pair[0] == "core.symlinks") ||
			pair[1] == "true" && (pair[0] == "core.ignorecase" || pair[0] == "core.precomposeunicode") {
			return basis{}, false
		}
	}
	b = basis{config: fmt.Sprint(r.paths.Config.Format, r.paths.Config.Refs, r.paths.Config.Files),
		rules: r.paths.Rules}
	b.index, b.source = stat.StampFile(r.paths.IndexFile), begin.source
	return b, b.index != stat.Stamp{} && !begin.at.IsZero()
}

// tabulate remembers a tree that was just recorded, and nothing where a table could not tell for certain. Begin is the
// moment before git looked: what has not changed since then is what git saw, and what has will be read again.
func (r statusCache) tabulate(ctx context.Context, tree string, s seen, begin instant) *table {
	b, ok := r.basis(begin)
	if !ok || !stat.Reliable(r.paths.Tree) {
		return nil
	}
	out, _, err := r.paths.WithoutTree("", "ls-tree", "-r", "-t", "-z", "--end-of-options", tree).Run(ctx)
	if err != nil {
		return nil
	}
	contents, trees := map[string]object.Node{}, map[string]string{"": tree}
	for _, line := range program.Fields(string(out)) {
		head, path, _ := strings.Cut(line, "\t")
		f := strings.Fields(head)
		switch {
		case len(f) != 3:
			return nil
		case f[1] == "tree":
			trees[path] = f[2]
		default:
			contents[path] = object.Node{Mode: f[0], ID: f[2]}
		}
	}
	files := stat.Look(r.paths.Tree, begin.at, r.paths.Config.Format, contents, trees, s.ignored)
	if files == nil {
		return nil
	}
	return &table{basis: b, tree: tree, files: files}
}

// again answers a snapshot from memory: the tree that was recorded, or what it becomes with the files that changed. ok
// is false where git has to look; then the table must not be used any more.
func (r statusCache) again(ctx context.Context, t *table) (tree string, ok bool, err error) {
	now := r.moment()
	b, ok := r.basis(now)
	if !ok || b.index != t.basis.index {
		return "", false, nil
	}
	changed, doubt, lost := t.files.Again(r.paths.Tree, now.at, b != t.basis)
	switch {
	case lost:
		return "", false, r.distrust(ctx, doubt)
	case len(changed) > 0:
		if err := r.renew(ctx, t, changed); err != nil {
			return "", false, err
		}
	}
	return t.tree, true, r.stand(ctx, t, len(changed) > 0)
}

// distrust makes git read files again that it may believe to be unchanged.
func (r statusCache) distrust(ctx context.Context, files []stat.File) error {
	if len(files) == 0 {
		return nil
	}
	var entries strings.Builder
	for _, d := range files {
		entries.WriteString(d.Node.Mode + " " + d.Node.ID + "\t" + d.Path + "\x00")
	}
	err := os.Remove(r.paths.IndexFile + ".tree")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return program.IOError("git.snapshot", err)
	}
	if err := r.index.edit(ctx, r.paths.IndexFile, entries.String()); err != nil {
		r.index.forget() // an index that cannot be edited is made afresh
	}
	return nil
}

// renew records what changed.
func (r statusCache) renew(ctx context.Context, t *table, changed []stat.Change) error {
	w := object.Writer{Dir: r.paths.ObjectDir(), Format: r.paths.Config.Format}
	defer w.Drop()
	id, err := t.files.Write(ctx, &w, changed)
	if err != nil {
		return err
	}
	t.tree = id
	return w.Finish(ctx)
}

// stand leaves what a snapshot leaves besides its objects: the reference that keeps them, the note for Prune that a
// tree stands there, and the permissions that a git tree cannot hold.
func (r statusCache) stand(ctx context.Context, t *table, fresh bool) error {
	if err := r.index.refs.keep(ctx, t.tree, fresh, true); err != nil {
		return err
	}
	if fresh {
		if err := os.WriteFile(r.paths.IndexFile+quickNote, []byte(t.tree), 0o600); err != nil {
			return program.IOError("git.snapshot", err)
		}
	}
	return r.index.remember(t.tree, func(usual fs.FileMode) (meta.Meta, error) {
		m := meta.New(usual)
		t.files.Describe(m.Note, func(path string) { m.Empty[path] = true })
		return m, nil
	})
}
