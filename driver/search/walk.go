package search

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
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
	// hidden is what is not to be seen of the tree, nil for nothing. What it hides is given to hid instead of visit,
	// where there is one.
	hidden *ignore.Hidden
	hid    func(rel string)
	// whole goes through what .gitignore excludes, too.
	whole bool
	// visit is called with the folder that the entry is in.
	visit func(in *safeopen.Dir, rel string, d fs.DirEntry) error
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
	in, err := safeopen.OpenDir(w.root, start)
	if err != nil {
		return err
	}
	if start == "." {
		start = ""
	}
	return w.folder(in, start, r, veil, 1)
}

// file visits a single file.
func (w walker) file(rel string, info fs.FileInfo) error {
	in, err := safeopen.OpenDir(w.root, path.Dir(rel))
	if err != nil {
		return err
	}
	defer in.Close()
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

// folder visits what is in a folder, and closes it.
func (w walker) folder(in *safeopen.Dir, dir string, r *gitpattern.Rules, veil ignore.Level, level int) (err error) {
	defer func() { shut(in) }()
	if err := canceled(w.ctx); err != nil {
		return err
	}
	entries, err := in.List()
	if err != nil {
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
	for _, d := range entries {
		rel := above + d.Name()
		if w.leaves(dir, rel, d, r, veil) {
			continue
		}
		if in == nil {
			if in, err = safeopen.OpenDir(w.root, cmp.Or(dir, ".")); err != nil {
				return err
			}
		}
		if err := w.visit(in, rel, d); err != nil {
			return err
		}
		if !d.IsDir() || w.depth > 0 && level >= w.depth {
			continue
		}
		var sub *safeopen.Dir
		if level < maxOpen {
			sub, err = in.Enter(d.Name())
		} else {
			shut(in)
			in = nil
			sub, err = safeopen.OpenDir(w.root, rel)
		}
		if err == nil {
			err = w.folder(sub, rel, r, veil, level+1)
		}
		// A folder that is gone by now, or closed to us, holds nothing that could be found.
		if err != nil && !unreadable(err) {
			return err
		}
	}
	return nil
}

func shut(d *safeopen.Dir) {
	if d != nil {
		_ = d.Close() // nothing was written
	}
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
