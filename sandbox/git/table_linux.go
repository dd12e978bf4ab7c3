package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// table is what is remembered of a tree that was recorded: every file, link and folder that had a say in what the record
// holds, as the file system described it. Whatever is done to a file moves the time of its last change (ctime), which
// programs cannot set; so a file that looks the same is the same, except within the grain of that time, where its content
// is read again.
//
// The table knows contents of files that were recorded and the names in every folder. Everything else that a snapshot
// depends on (ignore patterns, which files are tracked, nested repositories) is remembered only as unchanged; when it did
// change, the table does not know the tree, and git has to look.
type table struct {
	basis basis
	tree  string
	root  *folder
	sync  bool // the file system of the objects needs every file synced by itself
}

// basis is what a table rests on besides the files of the tree. The two indexes are never written in place, so a new one
// is a new file.
type basis struct {
	config, rules string
	index, source stamp // pawl's own index, and the one that tools use in the tree
}

// instant is how things stood before a look. Its time is that of the tree's file system, which need not be this machine's,
// and the zero time where it cannot be known.
type instant struct {
	at     time.Time
	source stamp
}

// folder is a folder of the tree that git looks into.
type folder struct {
	path    string // relative to the tree, "" for its top
	stamp   stamp
	racy    bool // names may have come or gone since without a trace in stamp
	entries []*entry
	id      string // of its git tree, "" when that is to be made afresh
}

// entry is a name in a folder.
type entry struct {
	name  string
	kind  kind
	stamp stamp
	racy  bool // the content may be newer than stamp shows
	node  node // what is recorded, for files and nested repositories
	ahead bool // pawl's index has an older record
	below *folder
}

type kind int

const (
	recorded kind = iota // a file or link whose content is in the record
	rule                 // an ignore file that is not recorded
	other                // only the type has a say: what is ignored, and what git does not record
	dir
)

// moment is now.
func (r statusCache) moment() instant {
	var st unix.Stat_t
	now := []unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}
	lock := r.paths.indexFile + ".flock"
	if unix.UtimesNanoAt(unix.AT_FDCWD, lock, now, 0) != nil || unix.Stat(lock, &st) != nil {
		return instant{}
	}
	return instant{at: time.Unix(0, st.Mtim.Nano()), source: stampFile(r.index.sourceIndex())}
}

// basis is what a table would rest on now. ok is false where tables are no use: git would not take files for what they are.
func (r statusCache) basis(begin instant) (b basis, ok bool) {
	for _, pair := range r.paths.config.files {
		if pair[1] != "true" && (pair[0] == "core.filemode" || pair[0] == "core.symlinks") ||
			pair[1] == "true" && (pair[0] == "core.ignorecase" || pair[0] == "core.precomposeunicode") {
			return basis{}, false
		}
	}
	b = basis{config: fmt.Sprint(r.paths.config.format, r.paths.config.refs, r.paths.config.files), rules: r.paths.rules}
	b.index, b.source = stampFile(r.paths.indexFile), begin.source
	return b, b.index != stamp{} && !begin.at.IsZero()
}

// local are the file systems whose times of change can be relied on. True says that syncing one file there makes durable
// what was written to others before.
var local = map[int64]bool{
	unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true, unix.TMPFS_MAGIC: true, unix.F2FS_SUPER_MAGIC: false,
	unix.BTRFS_SUPER_MAGIC: false, unix.OVERLAYFS_SUPER_MAGIC: false,
}

func fileSystem(path string) (ordered, known bool) {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return false, false
	}
	ordered, known = local[int64(st.Type)] //nolint:unconvert // 32 bits on some systems
	return ordered, known
}

// begin lets the content of a file be written to the disk, without waiting for it.
func begin(f *os.File) {
	_ = unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE) // flush finds out what went wrong
}

// flush makes the content of a file durable: by itself, or as soon as any file there is synced.
func flush(f *os.File, alone bool) error {
	if alone {
		return f.Sync()
	}
	return unix.SyncFileRange(int(f.Fd()), 0, 0,
		unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WRITE|unix.SYNC_FILE_RANGE_WAIT_AFTER)
}

// tabulate remembers a tree that was just recorded, and nothing where a table could not tell for certain. Begin is the
// moment before git looked: what has not changed since then is what git saw, and what has will be read again.
func (r statusCache) tabulate(ctx context.Context, tree string, s seen, begin instant) *table {
	b, ok := r.basis(begin)
	_, known := fileSystem(r.paths.tree)
	ordered, _ := fileSystem(r.paths.objectDir())
	if !ok || !known {
		return nil
	}
	out, _, err := r.paths.withoutTree("", "ls-tree", "-r", "-t", "-z", "--end-of-options", tree).run(ctx)
	if err != nil {
		return nil
	}
	l := look{now: begin.at, format: r.paths.config.format, contents: map[string]node{}, ignored: map[string]bool{}, holding: map[string]bool{}}
	trees := map[string]string{"": tree}
	for _, line := range fields(string(out)) {
		head, path, _ := strings.Cut(line, "\t")
		f := strings.Fields(head)
		switch {
		case len(f) != 3:
			return nil
		case f[1] == "tree":
			trees[path], l.holding[path] = f[2], true
		default:
			l.contents[path] = node{f[0], f[2]}
		}
	}
	for _, path := range s.ignored {
		l.ignored[strings.TrimSuffix(path, "/")] = true
	}
	if len(l.contents) > mostFiles {
		return nil
	}
	t := &table{basis: b, tree: tree, root: &folder{}, sync: !ordered}
	if !l.first(r.paths.tree, t.root) || len(l.contents) > 0 {
		return nil
	}
	t.root.name(trees)
	return t
}

// name sets the ids of the trees.
func (f *folder) name(trees map[string]string) {
	f.id = trees[f.path]
	for _, e := range f.entries {
		if e.below != nil {
			e.below.name(trees)
		}
	}
}

// again answers a snapshot from memory: the tree that was recorded, or what it becomes with the files that changed. ok is
// false where git has to look; then the table must not be used any more.
func (r statusCache) again(ctx context.Context, t *table) (tree string, ok bool, err error) {
	now := r.moment()
	b, ok := r.basis(now)
	if !ok || b.index != t.basis.index {
		return "", false, nil
	}
	l := look{now: now.at, dev: t.root.stamp.dev, format: r.paths.config.format, lost: b != t.basis}
	fd, err := openFolder(unix.AT_FDCWD, r.paths.tree)
	if err != nil {
		return "", false, nil
	}
	defer unix.Close(fd)
	l.follow(fd, t.root)
	switch {
	case l.lost:
		return "", false, r.distrust(ctx, l.doubt)
	case len(l.changed) > 0:
		if err := r.renew(ctx, t, l.changed); err != nil {
			return "", false, err
		}
	}
	return t.tree, true, r.stand(ctx, t, len(l.changed) > 0)
}

// distrust makes git read files again that it may believe to be unchanged.
func (r statusCache) distrust(ctx context.Context, files []delta) error {
	if len(files) == 0 {
		return nil
	}
	var entries strings.Builder
	for _, d := range files {
		entries.WriteString(d.old.mode + " " + d.old.id + "\t" + d.path + "\x00")
	}
	err := os.Remove(r.paths.indexFile + ".tree")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ioError("git.snapshot", err)
	}
	if err := r.index.edit(ctx, r.paths.indexFile, entries.String()); err != nil {
		r.index.forget() // an index that cannot be edited is made afresh
	}
	return nil
}

// renew writes the contents that changed and the trees above them.
func (r statusCache) renew(ctx context.Context, t *table, changed []change) error {
	w := writer{dir: r.paths.objectDir(), format: r.paths.config.format, alone: t.sync}
	defer w.drop()
	touched := map[string]bool{"": true}
	for _, c := range changed {
		if _, err := w.write(ctx, "blob", c.content); err != nil {
			return err
		}
		c.entry.node, c.entry.ahead = c.node, true
		for i, b := range []byte(c.path) {
			if b == '/' {
				touched[c.path[:i]] = true
			}
		}
	}
	id, err := t.root.write(ctx, &w, touched)
	if err != nil {
		return err
	}
	t.tree = id
	return w.finish(ctx)
}

// write writes the trees of a folder and those below it that changed. A folder in which nothing is recorded has none.
func (f *folder) write(ctx context.Context, w *writer, touched map[string]bool) (string, error) {
	if !touched[f.path] {
		return f.id, nil
	}
	var lines []line
	for _, e := range f.entries {
		n := e.node
		if e.kind == dir && n.absent() {
			id, err := e.below.write(ctx, w, touched)
			if err != nil {
				return "", err
			}
			if id == "" {
				continue
			}
			n = node{modeDir, id}
		}
		if !n.absent() {
			lines = append(lines, line{e.name, n})
		}
	}
	var err error
	f.id, err = w.write(ctx, "tree", treeContent(lines))
	return f.id, err
}

// stand leaves what a snapshot leaves besides its objects: the reference that keeps them, the note for Prune that a tree
// stands there, and the permissions that a git tree cannot hold.
func (r statusCache) stand(ctx context.Context, t *table, fresh bool) error {
	if err := r.index.refs.keep(ctx, t.tree, fresh); err != nil {
		return err
	}
	if fresh {
		if err := os.WriteFile(r.paths.indexFile+quickNote, []byte(t.tree), 0o600); err != nil {
			return ioError("git.snapshot", err)
		}
	}
	return r.index.remember(t.tree, func(usual fs.FileMode) (meta, error) {
		m := newMeta(usual)
		t.root.describe(m)
		return m, nil
	})
}

// describe adds to a meta what is known of a folder.
func (f *folder) describe(m meta) {
	for _, e := range f.entries {
		switch {
		case e.kind == dir && len(e.below.entries) == 0:
			m.empty[e.below.path] = true
		case e.kind == dir:
			e.below.describe(m)
		case e.kind == recorded && e.stamp.is(unix.S_IFREG):
			m.note(f.at(e.name), fs.FileMode(e.stamp.mode&0o777))
		}
	}
}
