package safeopen

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"pawl"
)

// tempPrefix begins the name of every file that a write has not finished. Random text follows, so that no one can have
// put something in its place.
const tempPrefix = ".pawl-unfinished-"

// WriteFile gives a file new content in one step: whoever reads it, also after a crash, finds all of the old or all of
// the new. When it returns nil the content is on disk. The file has the permissions perm afterwards; a perm of zero
// keeps those of the old file, or 0644 for a new one. The directory must exist. A link is followed inside the Root and
// stays a link; files with several hard links and everything that is no regular file are refused.
func (r *Root) WriteFile(rel string, data []byte, perm fs.FileMode) error {
	const op = "safeopen.WriteFile"
	p, err := r.change(op, rel, true)
	if err != nil {
		return err
	}
	defer p.close()
	if err := p.regular(op, rel); err != nil {
		return err
	}
	if perm == 0 {
		perm = 0o644
		if p.info != nil {
			perm = p.info.Mode().Perm()
		}
	}
	if err := p.replace(data, perm.Perm()); err != nil {
		return Fail(op, rel, err)
	}
	return nil
}

// regular refuses a place that holds something other than a regular file with one name.
func (p *place) regular(op, rel string) error {
	switch {
	case p.info == nil:
		return nil
	case p.info.IsDir():
		return pawl.Fail(pawl.CodeInvalid, "sandbox.is_dir", rel).In(op)
	case !p.info.Mode().IsRegular():
		return denied(op, "sandbox.not_regular", rel)
	case links(p.info) > 1:
		return denied(op, "sandbox.hardlink", rel)
	}
	return nil
}

// replace writes data beside the place, makes it durable, and moves it there.
func (p *place) replace(data []byte, perm fs.FileMode) error {
	temp := Temporary()
	f, err := p.dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(perm)
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = p.dir.Rename(temp, p.base)
	}
	if err != nil {
		_ = p.dir.Remove(temp)
		return err
	}
	return syncDir(p.dir)
}

// Remove deletes a file, a link (not its target) or an empty directory, durably.
func (r *Root) Remove(rel string) error {
	const op = "safeopen.Remove"
	p, err := r.change(op, rel, false)
	if err != nil {
		return err
	}
	defer p.close()
	err = p.dir.Remove(p.base)
	if err == nil {
		err = syncDir(p.dir)
	}
	if err != nil {
		return Fail(op, rel, err)
	}
	return nil
}

// Mkdir makes one directory, durably. One that is there already is CodeConflict.
func (r *Root) Mkdir(rel string, perm fs.FileMode) error {
	const op = "safeopen.Mkdir"
	p, err := r.change(op, rel, false)
	if err != nil {
		return err
	}
	defer p.close()
	err = p.dir.Mkdir(p.base, perm.Perm())
	if err == nil {
		err = syncDir(p.dir)
	}
	if err != nil {
		return Fail(op, rel, err)
	}
	return nil
}

// MkdirAll makes a directory and those above it that are missing. Directories that are there are left as they are.
func (r *Root) MkdirAll(rel string, perm fs.FileMode) error {
	const op = "safeopen.MkdirAll"
	parts, err := components(op, rel)
	if err != nil {
		return err
	}
	for i := range parts {
		name := strings.Join(parts[:i+1], "/")
		info, err := r.stat(op, name, true)
		switch {
		case err == nil && info.IsDir():
			continue
		case err == nil:
			return pawl.Fail(pawl.CodeInvalid, "sandbox.not_dir", name).In(op)
		case pawl.CodeOf(err) != pawl.CodeNotFound:
			return err
		}
		if err := r.Mkdir(name, perm); err != nil && pawl.CodeOf(err) != pawl.CodeConflict {
			return err
		}
	}
	return nil
}

// Chmod sets the permissions of a regular file or a directory; other bits of perm are ignored.
func (r *Root) Chmod(rel string, perm fs.FileMode) error {
	const op = "safeopen.Chmod"
	p, err := r.change(op, rel, true)
	if err != nil {
		return err
	}
	defer p.close()
	if p.info == nil {
		return Fail(op, rel, fs.ErrNotExist)
	}
	if !p.info.IsDir() {
		if err := p.regular(op, rel); err != nil {
			return err
		}
	}
	f, err := p.dir.OpenFile(p.base, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return Fail(op, rel, err)
	}
	defer f.Close()
	now, err := f.Stat()
	if err == nil && !os.SameFile(p.info, now) {
		err = errSwapped
	}
	if err == nil {
		err = f.Chmod(perm.Perm())
	}
	if err != nil {
		return Fail(op, rel, err)
	}
	return nil
}

// Symlink makes a symbolic link, durably. A target that is absolute, leads outside, or leads to .git or .pawl is
// refused; it need not exist.
func (r *Root) Symlink(target, rel string) error {
	const op = "safeopen.Symlink"
	p, err := r.change(op, rel, false)
	if err != nil {
		return err
	}
	defer p.close()
	if target == "" || strings.IndexByte(target, 0) >= 0 {
		return pawl.Fail(pawl.CodeInvalid, "sandbox.name", target).In(op)
	}
	if filepath.IsAbs(target) {
		return denied(op, "sandbox.outside", rel)
	}
	leads, err := r.linkTarget(op, rel, p.real, target)
	if err != nil {
		return err
	}
	if !r.internal && guarded(leads...) {
		return denied(op, "sandbox.protected", rel)
	}
	err = p.dir.Symlink(target, p.base)
	if err == nil {
		err = syncDir(p.dir)
	}
	if err != nil {
		return Fail(op, rel, err)
	}
	return nil
}

// Rename moves a file, a link or a directory, durably, and replaces what a file system allows to be replaced. The
// entries themselves are moved; links at the end are not followed. A relative link that would lead elsewhere from its
// new place is refused when it would lead outside.
func (r *Root) Rename(from, to string) error {
	const op = "safeopen.Rename"
	src, err := r.change(op, from, false)
	if err != nil {
		return err
	}
	defer src.close()
	dst, err := r.change(op, to, false)
	if err != nil {
		return err
	}
	defer dst.close()
	switch {
	case src.info == nil:
		return Fail(op, from, fs.ErrNotExist)
	case src.info.Mode()&fs.ModeSymlink != 0:
		target, err := src.dir.Readlink(src.base)
		if err != nil {
			return Fail(op, from, err)
		}
		leads, err := r.linkTarget(op, to, dst.real, target)
		if err != nil {
			return err
		}
		if !r.internal && guarded(leads...) {
			return denied(op, "sandbox.protected", to)
		}
	case !src.info.IsDir():
		if err := src.regular(op, from); err != nil {
			return err
		}
	}
	if err := renameBetween(r.root, src, dst); err != nil {
		return Fail(op, to, err)
	}
	return nil
}

// Temporary is a new name for a file of a tree that is being written.
func Temporary() string { return tempPrefix + rand.Text() }

// Unfinished reports whether a file of that name is one that a write has not finished.
func Unfinished(name string) bool { return strings.HasPrefix(name, tempPrefix) }

// Sweep removes the unfinished files that a crash has left behind and returns how many there were. It must not run
// while something else writes in the tree.
func (r *Root) Sweep(ctx context.Context) (int, error) {
	n := 0
	err := r.Walk(ctx, ".", func(rel string, d fs.DirEntry) error {
		if !d.Type().IsRegular() || !Unfinished(d.Name()) {
			return nil
		}
		if err := r.Remove(rel); err != nil && pawl.CodeOf(err) != pawl.CodeNotFound {
			return err
		}
		n++
		return nil
	})
	return n, err
}
