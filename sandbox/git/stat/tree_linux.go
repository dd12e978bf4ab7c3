package stat

import (
	"context"
	"io/fs"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"pawl/sandbox/git/object"
)

// Tree is what is remembered of a tree. It is for one goroutine.
//
// It knows contents of files that were recorded and the names in every folder. Everything else that a record depends on
// (ignore patterns, which files are tracked, nested repositories) is remembered only as unchanged.
type Tree struct {
	root   *folder
	format string
}

// Now is the moment of the file system that a file is on, which need not be this machine's, and the zero time where it
// cannot be known. The file's times are set to it.
func Now(path string) time.Time {
	var st unix.Stat_t
	now := []unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}
	if unix.UtimesNanoAt(unix.AT_FDCWD, path, now, 0) != nil || unix.Stat(path, &st) != nil {
		return time.Time{}
	}
	return time.Unix(0, st.Mtim.Nano())
}

// Look remembers a tree that was just recorded: which contents by their paths, and which trees by those of folders, ""
// for its top; ignored are the files, and the folders with a slash behind them, that an ignore pattern names. Begin is
// the moment before git looked: what has not changed since then is what git saw, and what has will be read again. It is
// nil where the tree is not what was recorded, or has too many files. The file system has to be
// Reliable. Format is "sha1" or "sha256".
func Look(dir string, begin time.Time, format string, contents map[string]object.Node, trees map[string]string,
	ignored []string) *Tree {
	if len(contents) > mostFiles {
		return nil
	}
	l := look{now: begin, format: format, contents: contents, ignored: map[string]bool{}, holding: map[string]bool{}}
	for path := range trees {
		if path != "" {
			l.holding[path] = true
		}
	}
	for _, path := range ignored {
		l.ignored[strings.TrimSuffix(path, "/")] = true
	}
	t := &Tree{root: &folder{}, format: format}
	if !l.first(dir, t.root) || len(l.contents) > 0 {
		return nil
	}
	t.root.name(trees)
	return t
}

// Again compares a tree with what is remembered of it and brings that up to date: changed are the files whose content
// or mode is another, which Write records. Where the memory cannot say what a change means, lost is true, and it must
// not be used any more; doubt are then the files of which git's own memory, which knows whole seconds and its own last
// look, may be wrong. Already says that it is lost for other reasons.
func (t *Tree) Again(dir string, now time.Time, already bool) (changed []Change, doubt []File, lost bool) {
	l := look{now: now, dev: t.root.stamp.dev, format: t.format, lost: already}
	fd, err := openFolder(unix.AT_FDCWD, dir)
	if err != nil {
		return nil, nil, true
	}
	defer unix.Close(fd)
	l.follow(fd, t.root)
	return l.changed, l.doubt, l.lost
}

// Write writes the contents that changed and the trees above them, and returns the id of the whole. The writer still
// has to finish. After an error the memory must not be used any more.
func (t *Tree) Write(ctx context.Context, w *object.Writer, changed []Change) (id string, err error) {
	touched := map[string]bool{"": true}
	for _, c := range changed {
		if _, err := w.Write(ctx, "blob", c.content); err != nil {
			return "", err
		}
		c.entry.node, c.entry.ahead = c.node, true
		for i, b := range []byte(c.path) {
			if b == '/' {
				touched[c.path[:i]] = true
			}
		}
	}
	return t.root.write(ctx, w, touched)
}

// Describe tells of the permissions of every regular file that is recorded, and of every folder that holds nothing.
func (t *Tree) Describe(file func(path string, perm fs.FileMode), empty func(path string)) {
	t.root.describe(file, empty)
}

// folder is a folder of the tree that git looks into.
type folder struct {
	path    string // relative to the tree, "" for its top
	stamp   Stamp
	racy    bool // names may have come or gone since without a trace in stamp
	entries []*entry
	id      string // of its git tree, "" when that is to be made afresh
}

// entry is a name in a folder.
type entry struct {
	name  string
	kind  kind
	stamp Stamp
	racy  bool        // the content may be newer than stamp shows
	node  object.Node // what is recorded, for files and nested repositories
	ahead bool        // pawl's index has an older record
	below *folder
}

type kind int

const (
	recorded kind = iota // a file or link whose content is in the record
	rule                 // an ignore file that is not recorded
	other                // only the type has a say: what is ignored, and what git does not record
	dir
)

// name sets the ids of the trees.
func (f *folder) name(trees map[string]string) {
	f.id = trees[f.path]
	for _, e := range f.entries {
		if e.below != nil {
			e.below.name(trees)
		}
	}
}

// write writes the trees of a folder and those below it that changed. A folder in which nothing is recorded has none.
func (f *folder) write(ctx context.Context, w *object.Writer, touched map[string]bool) (string, error) {
	if !touched[f.path] {
		return f.id, nil
	}
	var lines []object.Line
	for _, e := range f.entries {
		n := e.node
		if e.kind == dir && n.Absent() {
			id, err := e.below.write(ctx, w, touched)
			if err != nil {
				return "", err
			}
			if id == "" {
				continue
			}
			n = object.Node{Mode: object.ModeDir, ID: id}
		}
		if !n.Absent() {
			lines = append(lines, object.Line{Name: e.name, Node: n})
		}
	}
	var err error
	f.id, err = w.Write(ctx, "tree", object.TreeContent(lines))
	return f.id, err
}

// describe is Describe for a folder.
func (f *folder) describe(file func(path string, perm fs.FileMode), empty func(path string)) {
	for _, e := range f.entries {
		switch {
		case e.kind == dir && len(e.below.entries) == 0:
			empty(e.below.path)
		case e.kind == dir:
			e.below.describe(file, empty)
		case e.kind == recorded && e.stamp.is(unix.S_IFREG):
			file(f.at(e.name), fs.FileMode(e.stamp.mode&0o777))
		}
	}
}
