// Package owndir opens directories that belong to pawl. It follows no symbolic link on the way, not even one that stays
// inside: a link that points elsewhere in the workspace would send a deletion into the user's files.
//
// A Dir holds its directory by descriptor. Every name is resolved one component at a time. Each component is inspected
// before it is opened, and compared with what was opened, so that a swap is noticed. A link, a pipe, or a device is
// refused with CodeDenied, and nothing is changed. Other errors are those of package os.
package owndir

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"pawl"
	"pawl/store/lockfile"
)

// Temp begins the names of files that Replace writes. The process that writes follows (lockfile.Left).
const Temp = ".new-"

// Dir is an open directory that belongs to pawl. It is safe for concurrent use. The caller closes it.
type Dir struct {
	root *os.Root
	path string
}

// Open opens the directory name below base. Base is trusted: links in it are followed.
func Open(base, name string) (*Dir, error) { return open(base, name, false) }

// Make opens the directory name below base, and creates missing directories with mode 0700. Base must exist.
func Make(base, name string) (*Dir, error) { return open(base, name, true) }

func open(base, name string, create bool) (*Dir, error) {
	// To open a pipe is to wait for who writes to it.
	if info, err := os.Stat(base); err == nil && !info.IsDir() {
		return nil, pawl.Fail(pawl.CodeDenied, "store.own_foreign", base).In("owndir")
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	d := Dir{root, base}
	defer d.Close()
	return d.walk(name, create)
}

// RemoveAll removes name below base, as Dir.RemoveAll does. A missing base is no error.
func RemoveAll(base, name string) error {
	d, err := Open(base, ".")
	if err != nil {
		return ignoreMissing(err)
	}
	defer d.Close()
	return d.RemoveAll(name)
}

// Close releases the descriptor.
func (d *Dir) Close() error { return d.root.Close() }

// Chmod sets the mode of the directory itself, by its descriptor.
func (d *Dir) Chmod(mode fs.FileMode) error {
	f, err := d.root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(mode), f.Close())
}

// Claim refuses a directory of another user, and takes the rights of other users away from it. Root accepts one of the
// user who called sudo, as git does. A file system without modes keeps its own.
func (d *Dir) Claim() error {
	info, err := d.root.Stat(".")
	switch {
	case err != nil:
		return err
	case !owned(info):
		return pawl.Fail(pawl.CodeDenied, "store.own_owner", d.path).In("owndir")
	case info.Mode().Perm()&0o077 != 0:
		_ = d.Chmod(0o700)
	}
	return nil
}

// Plain refuses a tree in which anything is neither a regular file with one name nor a directory, belongs to another
// user, or is on another file system than d. It does not look into directories that skip names by their paths below d.
func (d *Dir) Plain(skip func(name string) bool) error {
	here, err := d.root.Stat(".")
	if err != nil {
		return err
	}
	return d.plain(".", device(here), skip)
}

func (d *Dir) plain(at string, on uint64, skip func(name string) bool) error {
	entries, err := d.ReadDir(at)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(at, e.Name())
		if !plain(e.Type()) {
			return d.foreign(name)
		}
		info, err := e.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
		case !owned(info):
			err = pawl.Fail(pawl.CodeDenied, "store.own_owner", filepath.Join(d.path, name)).In("owndir")
		case device(info) != on:
			err = pawl.Fail(pawl.CodeDenied, "store.own_mount", filepath.Join(d.path, name)).In("owndir")
		case e.IsDir() && !skip(filepath.ToSlash(name)):
			err = ignoreMissing(d.plain(name, on, skip))
		case !e.IsDir() && links(info) > 1:
			err = d.linked(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ReadDir lists a directory in the order of its names.
func (d *Dir) ReadDir(name string) ([]fs.DirEntry, error) {
	sub, err := d.walk(name, false)
	if err != nil {
		return nil, err
	}
	defer sub.Close()
	return sub.list()
}

// OpenFile opens a regular file with the flags of os.OpenFile. A new file gets mode 0600. A file that has other hard
// links is opened for reading only, because a change would show under its other names.
func (d *Dir) OpenFile(name string, flag int) (*os.File, error) {
	p, base, err := d.parent(name)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if flag&os.O_CREATE != 0 {
		f, err := p.root.OpenFile(base, flag|os.O_EXCL|openFlags, 0o600)
		if err == nil || flag&os.O_EXCL != 0 || !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	info, err := p.root.Lstat(base)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, p.foreign(base)
	}
	f, err := p.root.OpenFile(base, flag&^(os.O_CREATE|os.O_TRUNC)|openFlags, 0)
	if err != nil {
		return nil, err
	}
	now, err := f.Stat()
	switch {
	case err != nil:
	case !os.SameFile(info, now):
		err = p.foreign(base)
	case flag&(os.O_WRONLY|os.O_RDWR) != 0 && links(now) > 1:
		err = p.linked(base)
	case flag&os.O_TRUNC != 0:
		err = f.Truncate(0)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Replace writes a file next to its name, makes it durable, and renames it. The name has one component. A link of that
// name is replaced, not followed.
func Replace(root *os.Root, name string, content []byte) error {
	temp := Temp + lockfile.Maker() + "-" + rand.Text()[:12]
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, ignoreMissing(root.Remove(temp)))
	}
	return syncNames(root)
}

// syncNames makes the names in a directory durable. Systems that cannot sync a directory do it without being asked.
func syncNames(root *os.Root) error {
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// RemoveAll removes a regular file, or a directory with everything in it. Links in it are removed and not followed.
// Directories that forbid it, as those of module caches do, are opened up by descriptor. A directory on another file
// system is refused. A missing name is no error.
func (d *Dir) RemoveAll(name string) error {
	p, base, err := d.parent(name)
	if err != nil {
		return ignoreMissing(err)
	}
	defer p.Close()
	switch info, err := p.root.Lstat(base); {
	case err != nil:
		return ignoreMissing(err)
	case info.IsDir():
		return ignoreMissing(p.removeTree(base, info))
	case !info.Mode().IsRegular():
		return p.foreign(base)
	}
	return ignoreMissing(p.root.Remove(base))
}

// removeTree removes a directory that was described by info. It removes as much as it can, and returns the first error.
func (d *Dir) removeTree(name string, info fs.FileInfo) error {
	if here, err := d.root.Stat("."); err != nil {
		return err
	} else if device(here) != device(info) {
		return pawl.Fail(pawl.CodeDenied, "store.own_mount", filepath.Join(d.path, name)).In("owndir")
	}
	if info.Mode().Perm()&0o700 != 0o700 {
		if err := d.unlock(name, info); err != nil {
			return err
		}
	}
	sub, err := d.enter(name)
	if err != nil {
		return err
	}
	defer sub.Close()
	entries, failed := sub.list()
	for _, e := range entries {
		if e.IsDir() {
			if info, err = e.Info(); err == nil {
				err = sub.removeTree(e.Name(), info)
			}
		} else {
			err = sub.root.Remove(e.Name())
		}
		if err = ignoreMissing(err); failed == nil {
			failed = err
		}
	}
	if failed != nil {
		return failed
	}
	return d.root.Remove(name)
}

// parent opens the directory of a name, and returns the last component.
func (d *Dir) parent(name string) (*Dir, string, error) {
	name = filepath.Clean(name)
	if name == "." || !filepath.IsLocal(name) {
		return nil, "", pawl.Fail(pawl.CodeInvalid, "sandbox.name", name).In("owndir")
	}
	p, err := d.walk(filepath.Dir(name), false)
	return p, filepath.Base(name), err
}

func (d *Dir) walk(name string, create bool) (*Dir, error) {
	if !filepath.IsLocal(name) {
		return nil, pawl.Fail(pawl.CodeInvalid, "sandbox.name", name).In("owndir")
	}
	root, err := d.root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	at := &Dir{root, d.path}
	for part := range strings.SplitSeq(filepath.ToSlash(filepath.Clean(name)), "/") {
		if part == "." {
			continue
		}
		if create {
			if err := at.root.Mkdir(part, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return nil, errors.Join(err, at.Close())
			}
		}
		next, err := at.enter(part)
		_ = at.Close() // it was only read
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// enter opens a directory by a single name.
func (d *Dir) enter(name string) (*Dir, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, d.foreign(name)
	}
	sub, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	now, err := sub.Stat(".")
	if err == nil && !os.SameFile(info, now) {
		err = d.foreign(name)
	}
	if err != nil {
		return nil, errors.Join(err, sub.Close())
	}
	return &Dir{sub, filepath.Join(d.path, name)}, nil
}

func (d *Dir) list() ([]fs.DirEntry, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// foreign is the refusal of an entry that pawl cannot have made.
func (d *Dir) foreign(name string) error {
	return pawl.Fail(pawl.CodeDenied, "store.own_foreign", filepath.Join(d.path, name)).In("owndir")
}

// linked is the error about a file that has another name, too.
func (d *Dir) linked(name string) error {
	return pawl.Fail(pawl.CodeDenied, "store.own_linked", filepath.Join(d.path, name)).In("owndir")
}

func plain(mode fs.FileMode) bool { return mode.IsRegular() || mode.IsDir() }

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
