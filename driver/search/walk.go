package search

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"pawl"
	"pawl/sandbox/ignore"
	"pawl/sandbox/safeopen"
	"pawl/text/gitpattern"
)

// maxIgnore bounds a .gitignore file, in bytes; what is behind it is not read.
const maxIgnore = 1 << 20

// ignoreFile is the file whose patterns exclude others, in its folder and below.
const ignoreFile = ".gitignore"

// walker goes through a tree in the order of names, without what is ignored. It follows no symbolic links.
type walker struct {
	ctx  context.Context
	root *safeopen.Root
	// depth is how many levels below the start to descend; 0 means all.
	depth int
	// ahead is how many folders of each folder may be opened and listed before it is their turn.
	ahead int
	// hidden is what is not to be seen of the tree, nil for nothing. What it hides is given to hid instead of visit,
	// where there is one.
	hidden *ignore.Hidden
	hid    func(rel string)
	// whole goes through what .gitignore excludes, too.
	whole bool
	// visit is called with the folder that the entry is in.
	visit func(in *folder, rel string, d fs.DirEntry) error
}

// folder is an open folder with several users; the last of them closes it.
type folder struct {
	*safeopen.Dir
	users atomic.Int32
}

func used(d *safeopen.Dir, err error) (*folder, error) {
	if err != nil {
		return nil, err
	}
	f := &folder{Dir: d}
	return f.hold(), nil
}

func (f *folder) hold() *folder {
	f.users.Add(1)
	return f
}

func (f *folder) release() {
	if f != nil && f.users.Add(-1) == 0 {
		_ = f.Close() // nothing was written
	}
}

// stat returns what stands at a path. One that leads through a symbolic link is refused, because policy judged the path
// as it is named.
func stat(root *safeopen.Root, rel string) (fs.FileInfo, error) {
	real, err := root.Resolve(rel)
	if err != nil {
		return nil, missing(err, rel)
	}
	if real != rel {
		return nil, pawl.Fail(pawl.CodeDenied, "search.is_link", rel, real).In("search.open")
	}
	info, err := root.Lstat(rel)
	return info, missing(err, rel)
}

func missing(err error, rel string) error {
	if pawl.CodeOf(err) == pawl.CodeNotFound || errors.Is(err, syscall.ENOTDIR) {
		return pawl.Fail(pawl.CodeNotFound, "search.not_found", rel).In("search.open")
	}
	return err
}

// walk visits everything below start, folders before what is in them. The rules of the folders above start hold, but
// start itself is searched even where they exclude it: whoever names it wants to see it.
func (w walker) walk(start string) error {
	var r *gitpattern.Rules
	var veil ignore.Level
	if start != "." {
		above, parts := "", strings.Split(start, "/")
		for _, part := range parts {
			var err error
			if veil, err = w.hidden.Enter(veil, above, true); err != nil {
				return err
			}
			r = w.load(r, above)
			above = path.Join(above, part)
		}
	}
	in, err := used(safeopen.OpenDir(w.root, start))
	if err != nil {
		return err
	}
	if start == "." {
		start = ""
	}
	return w.folder(list(in), start, r, veil, 1)
}

// file visits a single file.
func (w walker) file(rel string, info fs.FileInfo) error {
	in, err := used(safeopen.OpenDir(w.root, path.Dir(rel)))
	if err != nil {
		return err
	}
	defer in.release()
	return w.visit(in, rel, fs.FileInfoToDirEntry(info))
}

// load adds the rules of a folder's own .gitignore, where it has one that can be read.
func (w walker) load(r *gitpattern.Rules, dir string) *gitpattern.Rules {
	rel := path.Join(dir, ignoreFile)
	info, err := w.root.Lstat(rel)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIgnore {
		return r
	}
	data, err := w.root.ReadFile(rel, maxIgnore)
	if err != nil {
		return r
	}
	return r.With(dir, string(data))
}

// maxOpen is the number of levels whose folders stay open while what is below them is visited. Folders further down are
// found from the root again, so that a tree without end does not use up the descriptors.
const maxOpen = 64

// listed is an open folder with what is in it, or why that is not known.
type listed struct {
	in      *folder
	entries []fs.DirEntry
	err     error
}

func list(in *folder) listed {
	entries, err := in.List()
	return listed{in, entries, err}
}

// enter opens and lists a folder in another one.
func enter(in *folder, name string) listed {
	sub, err := used(in.Enter(name))
	if err != nil {
		return listed{err: err}
	}
	return list(sub)
}

// early are folders of one folder that are listed before it is their turn, in the order of their turns.
type early struct {
	names []string
	next  int
	begun []chan listed // of names[next:]
}

// begin has the next folders listed, at most so many at a time.
func (e *early) begin(in *folder, most int) {
	for len(e.begun) < most && e.next+len(e.begun) < len(e.names) {
		name, out := e.names[e.next+len(e.begun)], make(chan listed, 1)
		e.begun = append(e.begun, out)
		in.hold()
		go func() {
			got := enter(in, name)
			in.release() // before it is told, so that a walk which has ended holds nothing open
			out <- got
		}()
	}
}

// take returns the next folder where it was begun early.
func (e *early) take() (listed, bool) {
	e.next++
	if len(e.begun) == 0 {
		return listed{}, false
	}
	out := <-e.begun[0]
	e.begun = e.begun[1:]
	return out, true
}

// drop lets go of the folders whose turn does not come.
func (e *early) drop() {
	for _, c := range e.begun {
		out := <-c
		out.in.release()
	}
	e.begun = nil
}

// folder visits what is in a folder, and lets go of it.
func (w walker) folder(at listed, dir string, r *gitpattern.Rules, veil ignore.Level, level int) (err error) {
	in, entries := at.in, at.entries
	defer func() { in.release() }()
	if err := cmp.Or(canceled(w.ctx), at.err); err != nil {
		return err
	}
	if named(entries, ignoreFile) {
		r = w.load(r, dir)
	}
	if veil, err = w.hidden.Enter(veil, dir, named(entries, ignore.Name)); err != nil {
		if w.hid != nil && dir != "" {
			w.hid(dir)
			return nil
		}
		return err
	}
	above := strings.TrimPrefix(dir+"/", "/")
	entries = slices.DeleteFunc(entries, func(d fs.DirEntry) bool { return w.leaves(dir, above+d.Name(), d, r, veil) })
	descend := w.depth == 0 || level < w.depth
	var e early
	defer e.drop()
	if descend && level < maxOpen {
		e.names = folders(entries)
	}
	for _, d := range entries {
		e.begin(in, w.ahead)
		rel := above + d.Name()
		if in == nil {
			if in, err = used(safeopen.OpenDir(w.root, cmp.Or(dir, "."))); err != nil {
				return err
			}
		}
		if err := w.visit(in, rel, d); err != nil {
			return err
		}
		if !d.IsDir() || !descend {
			continue
		}
		sub, ok := e.take()
		if !ok && level < maxOpen {
			sub = enter(in, d.Name())
		} else if !ok {
			in.release()
			in, sub = nil, w.reach(rel)
		}
		// A folder that is gone by now, or closed to us, holds nothing that could be found.
		if err := w.folder(sub, rel, r, veil, level+1); err != nil && !unreadable(err) {
			return err
		}
	}
	return nil
}

// reach lists a folder from the root on, without those above it.
func (w walker) reach(rel string) listed {
	in, err := used(safeopen.OpenDir(w.root, rel))
	if err != nil {
		return listed{err: err}
	}
	return list(in)
}

// folders are the names of the folders among entries.
func folders(entries []fs.DirEntry) (names []string) {
	for _, d := range entries {
		if d.IsDir() {
			names = append(names, d.Name())
		}
	}
	return names
}

func named(entries []fs.DirEntry, name string) bool {
	return slices.ContainsFunc(entries, func(d fs.DirEntry) bool { return d.Name() == name })
}

// leaves reports whether an entry of a folder is left out.
func (w walker) leaves(dir, rel string, d fs.DirEntry, r *gitpattern.Rules, veil ignore.Level) bool {
	switch {
	case d.Name() == ".git" || dir == "" && d.Name() == ".pawl":
		return true
	case veil.Hides(rel, d.IsDir()):
		if w.hid != nil {
			w.hid(rel)
		}
		return true
	}
	return !w.whole && r.Ignored(rel, d.IsDir())
}

// unreadable reports whether an error is about one file or folder of the tree rather than about the search.
func unreadable(err error) bool {
	switch pawl.CodeOf(err) {
	case pawl.CodeNotFound, pawl.CodeIO, pawl.CodeDenied, pawl.CodeInvalid:
		return true
	}
	return false
}

func canceled(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return pawl.Fail(pawl.CodeCanceled, "search.canceled").In("search.call").Because(err)
	}
	return nil
}
