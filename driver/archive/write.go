package archive

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unicode"
	"unicode/utf8"

	"pawl"
	"pawl/sandbox/safeopen"
	"pawl/store/disk"
	"pawl/store/lockfile"
)

const (
	maxFile  = 64 << 20 // bytes of one projection, what is appended to included
	tempMark = ".pawl-tmp-"
)

// reserved are the names in .pawl that are no projections: pawl's own repository, caches, worktrees and locks. The
// store's files all begin with storeName.
var reserved = []string{"git", "cache", "tree", "trees", "worktree", "worktrees", "tmp", "run", "lock"}

const storeName = "pawl.db"

// Write writes files below dir, which is created when its parent exists, and returns their names as written, relative
// to dir. Each file appears whole or not at all: a temporary file is flushed and renamed, and its folder flushed before
// Write returns. Writing the same files again changes nothing:
//
//   - Append adds the content at the end unless the file holds Marker already, or ends with the content where there is no
//     marker.
//   - Unique never overwrites: where the file's folder holds it with other content, the whole folder gets the next _vN, all
//     unique files of the folder move there together, and what the other files say of the folder follows.
//   - Otherwise the file is replaced.
//
// All paths are checked before the first file is written. A path that leaves dir, is not printable, or names something
// of pawl that is no projection is CodeDenied; so is a symbolic link that leads out. Other failures are CodeIO,
// CodeDiskFull, CodeReadOnly, CodeInvalid (too large) or CodeCanceled; some of the files may be written then.
func Write(ctx context.Context, dir string, files []pawl.ProjectedFile) ([]string, error) {
	if err := check(files); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, failed(dir, err)
	}
	root, err := openDir(dir)
	if err != nil {
		return nil, failed(dir, err)
	}
	defer root.Close()
	w := writer{root: root, swept: map[string]bool{}, stale: map[string]bool{}}
	if files, err = w.settle(files); err != nil {
		return nil, failed(dir, err)
	}
	out, drafts := make([]string, 0, len(files)), []*draft{}
	defer func() {
		for _, d := range drafts {
			w.discard(d)
		}
	}()
	for _, f := range files {
		if slices.ContainsFunc(drafts, func(d *draft) bool { return d.name == f.Path }) {
			// What comes later for a file goes by what came first.
			if err := w.publish(drafts); err != nil {
				return nil, err
			}
			drafts = nil
		}
		if err := ctx.Err(); err != nil {
			return nil, pawl.Fail(pawl.CodeCanceled, "archive.canceled").Because(err).In("archive.Write")
		}
		d, err := w.draft(f)
		if err != nil {
			return nil, failed(f.Path, err)
		}
		if d != nil {
			drafts = append(drafts, d)
		}
		out = append(out, f.Path)
	}
	if err := w.publish(drafts); err != nil {
		return nil, err
	}
	return out, nil
}

// Written returns the names under which the files stand below dir, and whether all of them do as Write would leave
// them.
func Written(dir string, files []pawl.ProjectedFile) ([]string, bool) {
	if check(files) != nil {
		return nil, false
	}
	root, err := openDir(dir)
	if err != nil {
		return nil, false
	}
	defer root.Close()
	w := writer{root: root}
	if files, err = w.settle(files); err != nil {
		return nil, false
	}
	var out []string
	for _, f := range files {
		name, ok := w.standing(f)
		if !ok {
			return nil, false
		}
		out = append(out, name)
	}
	return out, true
}

// openDir opens the folder, which must not be a symbolic link: what a repository brings must not say where pawl writes.
func openDir(dir string) (*os.Root, error) {
	parent, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	info, err := parent.Lstat(filepath.Base(dir))
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errNotPlain
	}
	return parent.OpenRoot(filepath.Base(dir))
}

var (
	errNotPlain = errors.New("not a plain file or folder")
	errTooLarge = errors.New("file too large")
)

// check judges the paths and sizes of files.
func check(files []pawl.ProjectedFile) error {
	for _, f := range files {
		first, _, _ := strings.Cut(f.Path, "/")
		first = strings.ToLower(first)
		inside := fs.ValidPath(f.Path) && f.Path != "." && filepath.IsLocal(filepath.FromSlash(f.Path)) &&
			!strings.Contains(f.Path, `\`) && utf8.ValidString(f.Path) &&
			!strings.ContainsFunc(f.Path, func(r rune) bool { return !unicode.IsPrint(r) })
		own := slices.Contains(reserved, first) || strings.HasPrefix(first, storeName)
		homeless := f.Unique && !strings.Contains(f.Path, "/") // there is no folder to give another name to
		if !inside || own || homeless || strings.HasPrefix(path.Base(f.Path), tempMark) {
			return pawl.Fail(pawl.CodeDenied, "archive.path_refused", f.Path).In("archive.Write")
		}
		if len(f.Content) > maxFile {
			return pawl.Fail(pawl.CodeInvalid, "archive.too_large", f.Path).In("archive.Write")
		}
	}
	return nil
}

// writer writes below one root.
type writer struct {
	root  *os.Root
	swept map[string]bool // folders whose stale temporary files were removed
	stale map[string]bool // folders in which there are names that are yet to be made durable
}

// settle gives the folder of unique files the first name of which it is either free or holds nothing but these very
// files, which is so as well after a crash between two of them. Files that name the folder are made to name it as it is
// called.
func (w writer) settle(files []pawl.ProjectedFile) ([]pawl.ProjectedFile, error) {
	files = slices.Clone(files)
	settled := map[string]bool{}
	for i := range files {
		dir := path.Dir(files[i].Path)
		if !files[i].Unique || settled[dir] {
			continue
		}
		name, err := w.vacant(dir, files)
		if err != nil {
			return nil, err
		}
		settled[dir], settled[name] = true, true
		if name == dir {
			continue
		}
		rename := strings.NewReplacer(path.Base(dir)+"/", path.Base(name)+"/")
		for j := range files {
			switch f := &files[j]; {
			case f.Unique && path.Dir(f.Path) == dir:
				f.Path = path.Join(name, path.Base(f.Path))
			case !f.Unique && f.Append:
				f.Content = rename.Replace(f.Content)
			}
		}
	}
	return files, nil
}

// vacant returns the first version of a folder in which no unique file of it stands with other content. What is not
// plain takes the name that it has: it stays as it is, and keeps nobody from archiving beside it.
func (w writer) vacant(dir string, files []pawl.ProjectedFile) (string, error) {
	for n := 1; ; n++ {
		name, taken := version(dir, n), false
		if info, err := w.root.Lstat(name); err == nil && !info.IsDir() {
			continue
		}
		for _, f := range files {
			if !f.Unique || path.Dir(f.Path) != dir {
				continue
			}
			have, err := w.read(path.Join(name, path.Base(f.Path)))
			odd := errors.Is(err, errNotPlain) || errors.Is(err, errTooLarge)
			if err != nil && !odd && !errors.Is(err, fs.ErrNotExist) {
				return "", err
			}
			taken = taken || odd || err == nil && string(have) != f.Content
		}
		if !taken {
			return name, nil
		}
	}
}

// draft is the new form of a file before it has its name.
type draft struct {
	name, temp string
	file       *os.File // open until it is flushed
	put        func(temp, name string) error
	placed     bool
}

// draft writes the final form of one file beside its place, or returns nil where the file stands in that form already.
func (w writer) draft(f pawl.ProjectedFile) (*draft, error) {
	if err := w.folders(path.Dir(f.Path)); err != nil {
		return nil, err
	}
	if _, ok := w.standing(f); ok {
		return nil, nil
	}
	content := []byte(f.Content)
	switch {
	case f.Append:
		old, err := w.read(f.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if len(old)+len(content) > maxFile {
			return nil, errTooLarge
		}
		content = append(old, content...)
	case f.Unique:
		if _, err := w.root.Lstat(f.Path); err == nil {
			return nil, fs.ErrExist
		}
		return w.write(f.Path, content, w.link)
	}
	if info, err := w.root.Lstat(f.Path); err == nil && !info.Mode().IsRegular() {
		return nil, errNotPlain
	}
	return w.write(f.Path, content, w.root.Rename)
}

// publish flushes the drafts, gives them their names in order, and flushes the folders. Flushes that wait for the disk
// together cost little more than one.
func (w writer) publish(drafts []*draft) error {
	if err := together(drafts, func(d *draft) error {
		err := errors.Join(d.file.Sync(), d.file.Close())
		d.file = nil
		return failedUnlessNil(d.name, err)
	}); err != nil {
		return err
	}
	for _, d := range drafts {
		if err := d.put(d.temp, d.name); err != nil {
			return failed(d.name, err)
		}
		d.placed = true
		w.stale[path.Dir(d.name)] = true
	}
	return together(slices.Collect(maps.Keys(w.stale)),
		func(dir string) error { return failedUnlessNil(dir, w.flush(dir)) })
}

// together does something with each of a few things at the same time, and returns the first error in their order.
func together[T any](all []T, do func(T) error) error {
	errs := make([]error, len(all))
	var wait sync.WaitGroup
	for i, one := range all {
		wait.Go(func() { errs[i] = do(one) })
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// discard removes a draft that did not get its name.
func (w writer) discard(d *draft) {
	if d.file != nil {
		_ = d.file.Close()
	}
	if !d.placed {
		_ = w.root.Remove(d.temp) // what stays is swept when it is old
	}
}

// standing returns the name under which the file stands in its final form already.
func (w writer) standing(f pawl.ProjectedFile) (string, bool) {
	have, err := w.read(f.Path)
	switch {
	case err != nil:
		return "", false
	case f.Keep:
		return f.Path, true
	case f.Append && f.Marker != "":
		return f.Path, bytes.Contains(have, []byte(f.Marker))
	case f.Append:
		return f.Path, bytes.HasSuffix(have, []byte(f.Content))
	}
	return f.Path, string(have) == f.Content
}

// version is the n-th name of a folder of unique files.
func version(name string, n int) string {
	if n == 1 {
		return name
	}
	return name + "_v" + strconv.Itoa(n)
}

// read returns a plain file. Anything else that stands in its place is refused without being opened.
func (w writer) read(name string) ([]byte, error) {
	info, err := w.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotPlain
	}
	if info.Size() > maxFile {
		return nil, errTooLarge
	}
	file, err := w.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxFile+1))
}

// folders makes a folder and its parents. A symbolic link on the way is refused even where it stays inside: it
// would turn a projection's name into a name of something else.
func (w writer) folders(dir string) error {
	if dir == "." {
		return nil
	}
	if err := w.folders(path.Dir(dir)); err != nil {
		return err
	}
	info, err := w.root.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err = w.root.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		w.stale[path.Dir(dir)] = true
		info, err = w.root.Lstat(dir)
	}
	if err == nil && !info.IsDir() {
		err = errNotPlain
	}
	return err
}

// link gives a draft its name only where nothing stands yet (fs.ErrExist otherwise).
func (w writer) link(temp, name string) error {
	err := w.root.Link(temp, name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return errors.Join(err, w.root.Remove(temp))
	}
	// A file system without hard links: the name was free a moment ago, and one process owns the workspace.
	return w.root.Rename(temp, name)
}

// write writes a temporary file beside name, which put is to move there.
func (w writer) write(name string, content []byte, put func(temp, name string) error) (*draft, error) {
	dir := path.Dir(name)
	w.sweep(dir)
	var random [8]byte
	rand.Read(random[:]) // never fails
	d := &draft{name: name, temp: path.Join(dir, tempMark+lockfile.Maker()+"-"+hex.EncodeToString(random[:])), put: put}
	var err error
	if d.file, err = w.root.OpenFile(d.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644); err != nil {
		return nil, err
	}
	if _, err := d.file.Write(content); err != nil {
		w.discard(d)
		return nil, err
	}
	return d, nil
}

// flush makes the names in a folder durable.
func (w writer) flush(dir string) error {
	d, err := w.root.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) &&
		!errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// Left names the temporary files below dir that writers left which have ended.
func Left(dir string) (out []string) {
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what cannot be looked into is swept by nobody
		case d.IsDir() && filepath.Dir(name) == dir && (slices.Contains(reserved, d.Name()) || d.Name() == "logs"):
			return fs.SkipDir
		case strings.HasPrefix(d.Name(), tempMark) || strings.HasPrefix(d.Name(), disk.New):
			if d.Type().IsRegular() && lockfile.Left(d.Name()) {
				out = append(out, name)
			}
		}
		return nil
	})
	return out
}

// sweep removes temporary files that a crash left in a folder.
func (w writer) sweep(dir string) {
	if w.swept == nil || w.swept[dir] {
		return
	}
	w.swept[dir] = true
	d, err := w.root.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	entries, _ := d.ReadDir(-1)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempMark) && e.Type().IsRegular() && lockfile.Left(e.Name()) {
			w.root.Remove(path.Join(dir, e.Name()))
		}
	}
}

// failedUnlessNil gives a failure its code, if it is one.
func failedUnlessNil(name string, err error) error {
	if err == nil {
		return nil
	}
	return failed(name, err)
}

// failed gives a failure its code.
func failed(name string, err error) error {
	code, key := safeopen.Code(err), "archive.write_failed"
	switch {
	case errors.Is(err, errNotPlain):
		code, key = pawl.CodeDenied, "archive.path_refused"
	case errors.Is(err, errTooLarge):
		code, key = pawl.CodeInvalid, "archive.too_large"
	}
	return pawl.Fail(code, key, name).Because(err).In("archive.Write")
}
