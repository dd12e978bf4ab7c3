package safeopen

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"pawl"
)

// maxRead bounds what one call reads into memory, whatever the caller asks for.
const maxRead = int64(64 << 20)

// Open opens a regular file for reading. Anything else, above all a FIFO or a device, is refused without waiting for
// it. The caller closes the file and must not hand its descriptor to a command.
func (r *Root) Open(rel string) (*os.File, error) {
	f, _, err := r.open("safeopen.Open", rel)
	return f, err
}

// open finds, checks and opens a file. It is looked at before it is opened, because opening a device can have effects,
// and afterwards, because it may have been swapped.
func (r *Root) open(op, rel string) (*os.File, fs.FileInfo, error) {
	p, err := r.find(op, rel, true)
	if err != nil {
		return nil, nil, err
	}
	defer p.close()
	switch {
	case p.info == nil:
		return nil, nil, Fail(op, rel, fs.ErrNotExist)
	case p.info.IsDir():
		return nil, nil, pawl.Fail(pawl.CodeInvalid, "sandbox.is_dir", rel).In(op)
	case !p.info.Mode().IsRegular():
		return nil, nil, denied(op, "sandbox.not_regular", rel)
	}
	f, err := p.dir.OpenFile(p.base, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, nil, Fail(op, rel, err)
	}
	now, err := f.Stat()
	if err == nil && !os.SameFile(p.info, now) {
		err = errSwapped
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, Fail(op, rel, err)
	}
	return f, now, nil
}

// ReadFile returns the content of a regular file of at most limit bytes; a longer one is CodeInvalid. A limit of zero
// or less means 64 MiB.
func (r *Root) ReadFile(rel string, limit int64) ([]byte, error) {
	const op = "safeopen.ReadFile"
	if limit <= 0 {
		limit = maxRead
	}
	f, info, err := r.open(op, rel)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, pawl.Fail(pawl.CodeInvalid, "sandbox.too_big", rel, info.Size(), limit).In(op)
	}
	buf := make([]byte, 0, info.Size()+1)
	for {
		n, err := f.Read(buf[len(buf):min(int64(cap(buf)), limit+1)])
		buf = buf[:len(buf)+n]
		switch {
		case int64(len(buf)) > limit:
			return nil, pawl.Fail(pawl.CodeInvalid, "sandbox.too_big", rel, int64(len(buf)), limit).In(op)
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			return nil, Fail(op, rel, err)
		}
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, 4096)
		}
	}
}

// ReadRange returns up to n bytes of a regular file from offset off. Less than n bytes means that the file ended there;
// an offset behind the end gives none.
func (r *Root) ReadRange(rel string, off, n int64) ([]byte, error) {
	const op = "safeopen.ReadRange"
	if off < 0 || n < 0 || n > maxRead {
		return nil, pawl.Fail(pawl.CodeInvalid, "sandbox.range", rel, off, n).In(op)
	}
	f, info, err := r.open(op, rel)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	buf := make([]byte, max(0, min(n, info.Size()-off)))
	got, err := f.ReadAt(buf, off)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, Fail(op, rel, err)
	}
	return buf[:got], nil
}

// Stat describes what rel denotes, following links.
func (r *Root) Stat(rel string) (fs.FileInfo, error) { return r.stat("safeopen.Stat", rel, true) }

// Lstat describes the entry rel itself.
func (r *Root) Lstat(rel string) (fs.FileInfo, error) { return r.stat("safeopen.Lstat", rel, false) }

func (r *Root) stat(op, rel string, follow bool) (fs.FileInfo, error) {
	p, err := r.find(op, rel, follow)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if p.info == nil {
		return nil, Fail(op, rel, fs.ErrNotExist)
	}
	return p.info, nil
}

// Readlink returns the target of a symbolic link as it is stored.
func (r *Root) Readlink(rel string) (string, error) {
	const op = "safeopen.Readlink"
	p, err := r.find(op, rel, false)
	if err != nil {
		return "", err
	}
	defer p.close()
	target, err := p.dir.Readlink(p.base)
	if err != nil {
		return "", Fail(op, rel, err)
	}
	return target, nil
}

// ReadDir lists a directory in the order of its names.
func (r *Root) ReadDir(rel string) ([]fs.DirEntry, error) {
	const op = "safeopen.ReadDir"
	p, err := r.find(op, rel, true)
	if err != nil {
		return nil, err
	}
	defer p.close()
	switch {
	case p.info == nil:
		return nil, Fail(op, rel, fs.ErrNotExist)
	case !p.info.IsDir():
		return nil, pawl.Fail(pawl.CodeInvalid, "sandbox.not_dir", rel).In(op)
	}
	list, err := p.list()
	if err != nil {
		return nil, Fail(op, rel, err)
	}
	return list, nil
}

// list reads the directory that the place denotes, checking that it is still the one that was seen.
func (p *place) list() ([]fs.DirEntry, error) {
	f, err := p.dir.OpenFile(p.base, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	now, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(p.info, now) {
		return nil, errSwapped
	}
	list, err := f.ReadDir(-1)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, err
}

// Dir is an open directory of a Root for reading many of its entries: each is opened by its single name from here,
// without another walk from the Root, and no link is followed. The caller closes it; until then it may be used
// concurrently.
type Dir struct {
	root *os.Root
	file *os.File // the same directory, for its descriptor and its list
}

// OpenDir opens the directory rel of a Root, which must not be reached through a link that leads outside.
func OpenDir(r *Root, rel string) (*Dir, error) {
	const op = "safeopen.OpenDir"
	p, err := r.find(op, rel, true)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if p.base != "." && p.info != nil && p.info.IsDir() {
		err = p.enter(p.base, p.info)
		p.base = "."
	}
	switch {
	case err != nil:
		return nil, Fail(op, rel, err)
	case p.info == nil:
		return nil, Fail(op, rel, fs.ErrNotExist)
	case !p.info.IsDir():
		return nil, pawl.Fail(pawl.CodeInvalid, "sandbox.not_dir", rel).In(op)
	}
	sub, err := p.dir.OpenRoot(".")
	if err != nil {
		return nil, Fail(op, rel, err)
	}
	return newDir(op, rel, sub)
}

func newDir(op, rel string, sub *os.Root) (*Dir, error) {
	f, err := sub.Open(".")
	if err != nil {
		_ = sub.Close() // the first error counts
		return nil, Fail(op, rel, err)
	}
	return &Dir{root: sub, file: f}, nil
}

// Close releases the descriptors.
func (d *Dir) Close() error { return errors.Join(d.file.Close(), d.root.Close()) }

// Enter opens the directory name in d.
func (d *Dir) Enter(name string) (*Dir, error) {
	const op = "safeopen.OpenDir"
	if err := single(op, name); err != nil {
		return nil, err
	}
	info, err := d.root.Lstat(name)
	if err != nil {
		return nil, Fail(op, name, err)
	}
	if !info.IsDir() {
		return nil, pawl.Fail(pawl.CodeInvalid, "sandbox.not_dir", name).In(op)
	}
	p := place{dir: d.root, base: "."}
	if err := p.enter(name, info); err != nil {
		return nil, Fail(op, name, err)
	}
	return newDir(op, name, p.dir)
}

// List returns the entries in the order of their names.
func (d *Dir) List() ([]fs.DirEntry, error) {
	if _, err := d.file.Seek(0, io.SeekStart); err != nil {
		return nil, Fail("safeopen.ReadDir", d.file.Name(), err)
	}
	list, err := d.file.ReadDir(-1)
	if err != nil {
		return nil, Fail("safeopen.ReadDir", d.file.Name(), err)
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// ReadFile reads the regular file name of at most limit bytes into buf, which it grows where it has to, and returns the
// content. Name is to be one that List told of as a regular file: what was put in its place since then is refused when
// it is no regular file, and is opened without waiting for it. A longer file is CodeInvalid with the key
// sandbox.too_big.
func (d *Dir) ReadFile(name string, limit int64, buf []byte) ([]byte, error) {
	const op = "safeopen.ReadFile"
	if err := single(op, name); err != nil {
		return nil, err
	}
	data, err := d.read(name, limit, buf[:0])
	if err != nil {
		return nil, Fail(op, name, err)
	}
	return data, nil
}

// single refuses what is not the name of an entry.
func single(op, name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") || !filepath.IsLocal(name) {
		return pawl.Fail(pawl.CodeInvalid, "sandbox.name", name).In(op)
	}
	return nil
}

// tooBig is the refusal of a file that is longer than its reader wants.
func tooBig(name string, size, limit int64) error {
	return pawl.Fail(pawl.CodeInvalid, "sandbox.too_big", name, size, limit).In("safeopen.ReadFile")
}

// fill reads an open file of a known size into buf. A file that grows meanwhile is read as far as it was long, which is
// one of the states that it had.
func fill(buf []byte, size int64, read func([]byte) (int, error)) ([]byte, error) {
	buf = slices.Grow(buf, int(size))
	for int64(len(buf)) < size {
		n, err := read(buf[len(buf):size])
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if n <= 0 {
			break
		}
		buf = buf[:len(buf)+n]
	}
	return buf, nil
}

// Walk calls visit for everything below the directory rel, in the order of names with a directory before its content,
// and stops when ctx is done. Links are reported and not followed. The answer fs.SkipDir leaves out a directory,
// fs.SkipAll ends the walk without an error, and any other error ends it with that error. What vanishes during the walk
// is left out. A Root that may not change .git and .pawl does not show them either.
func (r *Root) Walk(ctx context.Context, rel string, visit func(rel string, d fs.DirEntry) error) error {
	err := r.walk(ctx, path.Clean(rel), visit, 0)
	if errors.Is(err, fs.SkipAll) || errors.Is(err, fs.SkipDir) {
		return nil
	}
	return err
}

// maxDepth bounds the recursion of Walk; no path that a program can name is deeper.
const maxDepth = 2048

func (r *Root) walk(ctx context.Context, rel string, visit func(string, fs.DirEntry) error, depth int) error {
	if depth > maxDepth {
		return denied("safeopen.Walk", "sandbox.refused", rel)
	}
	list, err := r.ReadDir(rel)
	if depth > 0 && pawl.CodeOf(err) == pawl.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	for _, d := range list {
		if ctx.Err() != nil {
			return pawl.Fail(pawl.CodeCanceled, "sandbox.canceled").Because(context.Cause(ctx)).In("safeopen.Walk")
		}
		if !r.internal && guarded(d.Name()) {
			continue
		}
		name := path.Join(rel, d.Name())
		err := visit(name, d)
		if errors.Is(err, fs.SkipDir) {
			if d.IsDir() {
				continue
			}
			return nil
		}
		if err != nil {
			return err
		}
		if d.IsDir() {
			if err := r.walk(ctx, name, visit, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// Unmarked opens a file below a folder to be read, without waiting for who writes a pipe, and where its owner does so
// without setting the time of its last access: by that it is told whether a check has read a file, and pawl's own look
// at it is none.
func Unmarked(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|unmarked, 0)
	if errors.Is(err, syscall.EPERM) {
		f, err = root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	}
	return f, err
}
