package git

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sort"
	"strconv"
	"strings"
	"syscall"

	"pawl"
	"pawl/sandbox/git/layout"
	"pawl/sandbox/git/meta"
	"pawl/sandbox/git/object"
	"pawl/sandbox/git/program"
	"pawl/store/disk"
	"pawl/store/owndir"
)

// treeFiles changes the files of a tree. Every path goes through a descriptor of the directory around it, so nothing
// outside can be reached, and every parent is checked to be a real directory, so nothing is reached through a symbolic
// link inside it either.
type treeFiles struct {
	paths   *layout.Layout
	objects Objects
	root    *os.Root
	base    string // the path of root
	tree    string // relative to root, with slashes
	stage   string // the directory for new contents, likewise
}

// openFiles opens the tree of a repository for changes. The caller closes it.
func openFiles(r *Repo) (*treeFiles, error) {
	d := &treeFiles{paths: r.paths, objects: r.Objects}
	d.base, d.tree, d.stage = r.paths.Files()
	var err error
	if d.root, err = os.OpenRoot(d.base); err != nil {
		return nil, program.IOError("git.files", err)
	}
	return d, nil
}

func (d *treeFiles) close() { d.root.Close() }

// at is a path of the tree relative to root.
func (d *treeFiles) at(p string) string { return path.Join(d.tree, p) }

// lstat looks at a path of the tree without following anything. A path below something that is not a folder is not
// there.
func (d *treeFiles) lstat(p string) (fs.FileInfo, error) {
	for i, c := range p {
		if c != '/' {
			continue
		}
		info, err := d.root.Lstat(d.at(p[:i]))
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			return nil, fs.ErrNotExist
		}
	}
	return d.root.Lstat(d.at(p))
}

// node says what is at a path, in git's terms.
func (d *treeFiles) node(p string) (object.Node, error) {
	info, err := d.lstat(p)
	if gone(err) {
		return object.Node{}, nil
	}
	if err != nil {
		return object.Node{}, program.IOError("git.files", err)
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return object.Node{Mode: object.ModeDir}, nil
	case mode&fs.ModeSymlink != 0:
		target, err := d.root.Readlink(d.at(p))
		if err != nil {
			return object.Node{}, program.IOError("git.files", err)
		}
		id, err := d.blobID(int64(len(target)), strings.NewReader(target))
		return object.Node{Mode: object.ModeLink, ID: id}, err
	case mode.IsRegular():
		f, err := d.root.Open(d.at(p))
		if err != nil {
			return object.Node{}, program.IOError("git.files", err)
		}
		defer f.Close()
		id, err := d.blobID(info.Size(), f)
		if mode&0o100 != 0 {
			return object.Node{Mode: object.ModeExec, ID: id}, err
		}
		return object.Node{Mode: object.ModeFile, ID: id}, err
	}
	return object.Node{Mode: object.ModeOther}, nil
}

// blobID is the id that git gives to a content of a size.
func (d *treeFiles) blobID(size int64, content io.Reader) (string, error) {
	h := object.NewHash(d.paths.Config.Format)
	fmt.Fprintf(h, "blob %d\x00", size)
	if _, err := io.Copy(h, content); err != nil {
		return "", program.IOError("git.files", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// pending sorts the paths of a change: those that are still what the old side says, and those that are neither that nor
// what the new side says.
func (d *treeFiles) pending(change []delta) (todo []delta, left []string, err error) {
	for _, t := range change {
		there, err := d.node(t.path)
		switch {
		case err != nil:
			return nil, nil, err
		// A folder where a file is to go has been made for other files already.
		case there == t.new || there.Mode == object.ModeDir &&
			(t.new.Absent() && t.old.Mode != object.ModeNested || t.new.Mode == object.ModeNested):
		case there == t.old || there.Mode == object.ModeDir && (t.old.Absent() || t.old.Mode == object.ModeNested):
			todo = append(todo, t)
		default:
			left = append(left, t.path)
		}
	}
	return todo, left, nil
}

// put makes every delta's path what its new side says. Contents are all fetched before the first file changes; then
// files that go are removed, and those that come replace what was there in one step each, so that at any moment each
// file is the old one or the new one as a whole. Run again after a crash, it completes. left are paths that were left
// as they are: nested repositories that are not empty, and whatever is no longer what the old side says, because
// somebody changed it just now.
func (d *treeFiles) put(ctx context.Context, todo []delta, want meta.Meta) (left []string, err error) {
	if len(todo) == 0 {
		return nil, nil
	}
	defer owndir.RemoveAll(d.base, d.stage) //nolint:errcheck // swept before the next use
	if err := d.fetch(ctx, todo, want); err != nil {
		return nil, err
	}
	left, err = d.removeOld(ctx, todo)
	if err != nil {
		return nil, err
	}
	for i, t := range todo {
		if t.new.Absent() {
			continue
		}
		program.Step(ctx, "write file")
		same, err := d.unchanged(t)
		if err == nil && same {
			err = d.place(t, d.staged(i), want)
		}
		if err != nil {
			return nil, err
		}
		if !same {
			left = append(left, t.path)
		}
	}
	return left, nil
}

// removeOld removes what goes, deepest first, and the folders that this empties.
func (d *treeFiles) removeOld(ctx context.Context, todo []delta) (left []string, err error) {
	for i := len(todo) - 1; i >= 0; i-- {
		t := todo[i]
		if !t.new.Absent() {
			continue
		}
		program.Step(ctx, "remove file")
		same, err := d.unchanged(t)
		if err != nil {
			return nil, err
		}
		if !same {
			left = append(left, t.path)
			continue
		}
		err = d.root.Remove(d.at(t.path))
		switch {
		case err == nil || gone(err):
		case t.old.Mode == object.ModeNested:
			left = append(left, t.path) // its insides are not ours
			continue
		default:
			return nil, program.IOError("git.files", err)
		}
	}
	return left, d.removeEmptied(ctx, todo)
}

// removeEmptied removes the folders that a change leaves empty. Who completes a change after a crash gives all of it,
// because the files of a folder may have gone before and the folder not.
func (d *treeFiles) removeEmptied(ctx context.Context, change []delta) error {
	parents := map[string]bool{}
	for _, t := range change {
		for p := path.Dir(t.path); t.new.Absent() && p != "."; p = path.Dir(p) {
			parents[p] = true
		}
	}
	if len(parents) > 0 {
		program.Step(ctx, "remove folders")
	}
	return d.removeEmpty(parents)
}

// unchanged reports whether a path is what the old side of its delta says, or already what the new side says. A folder
// is taken for nothing: if it holds something, it cannot be replaced.
func (d *treeFiles) unchanged(t delta) (bool, error) {
	there, err := d.node(t.path)
	if err != nil {
		return false, err
	}
	if there.Mode == object.ModeDir {
		return t.old.Absent() || t.old.Mode == object.ModeNested, nil
	}
	return there == t.old || there == t.new || there.Absent(), nil
}

// removeEmpty removes those of the folders that are empty, deepest first.
func (d *treeFiles) removeEmpty(dirs map[string]bool) error {
	for _, p := range deepestFirst(dirs) {
		info, err := d.lstat(p)
		if gone(err) || err == nil && !info.IsDir() {
			continue
		}
		if err != nil {
			return program.IOError("git.files", err)
		}
		_ = d.root.Remove(d.at(p)) // a folder that holds something stays
	}
	return nil
}

// removeHollow removes a folder in which there are at most folders.
func (d *treeFiles) removeHollow(p string) error {
	dirs := map[string]bool{}
	err := fs.WalkDir(d.root.FS(), d.at(p), func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			err = fs.ErrExist
		}
		dirs[name] = true
		return err
	})
	for _, name := range deepestFirst(dirs) {
		if err == nil {
			err = d.root.Remove(name)
		}
	}
	return err
}

func deepestFirst(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for p := range set {
		out = append(out, p)
	}
	sort.Sort(sort.Reverse(sort.StringSlice(out)))
	return out
}

// place moves one new file to where it belongs.
func (d *treeFiles) place(t delta, staged string, want meta.Meta) error {
	if err := d.makeParents(t.path); err != nil {
		return err
	}
	to := d.at(t.path)
	info, err := d.root.Lstat(to)
	if err != nil && !gone(err) {
		return program.IOError("git.files", err)
	}
	if info != nil && info.IsDir() {
		if t.new.Mode == object.ModeNested {
			return nil
		}
		if err := d.removeHollow(t.path); err != nil {
			return pawl.Fail(pawl.CodeConflict, "git.in_the_way", strconv.Quote(t.path)).Because(err)
		}
		info = nil
	}
	if info != nil && info.Mode().IsRegular() && t.new.Mode != object.ModeLink {
		// A private file stays private: what it was recorded with counts first, then what it has now.
		if _, known := want.Perm(t.path, t.new.Mode == object.ModeExec); !known {
			if err := d.root.Chmod(staged,
				meta.WithExec(info.Mode().Perm(), t.new.Mode == object.ModeExec)); err != nil {
				return program.IOError("git.files", err)
			}
		}
	}
	if t.new.Mode == object.ModeNested {
		err = d.root.Mkdir(to, 0o777)
	} else {
		err = disk.Move(d.root, staged, to)
	}
	if err != nil {
		return program.IOError("git.files", err)
	}
	return nil
}

// makeParents makes the folders above a path. What stands there and is no folder is in the way, and stays.
func (d *treeFiles) makeParents(p string) error {
	for i, c := range p {
		if c != '/' {
			continue
		}
		dir := d.at(p[:i])
		info, err := d.root.Lstat(dir)
		if gone(err) {
			err = d.root.Mkdir(dir, 0o777)
			info = nil
		}
		if err != nil {
			return program.IOError("git.files", err)
		}
		if info != nil && !info.IsDir() {
			return pawl.Fail(pawl.CodeConflict, "git.in_the_way", strconv.Quote(p[:i]))
		}
	}
	return nil
}

// staged is where the new side of the i-th delta waits.
func (d *treeFiles) staged(i int) string { return path.Join(d.stage, strconv.Itoa(i)) }

// fetch makes each new file in the staging folder, with the permissions that it was recorded with, or the usual ones.
func (d *treeFiles) fetch(ctx context.Context, todo []delta, want meta.Meta) error {
	// In place the stage is below .pawl, which somebody may have replaced by a link since the command started.
	err := owndir.RemoveAll(d.base, d.stage)
	if err == nil {
		var made *owndir.Dir
		if made, err = owndir.Make(d.base, d.stage); err == nil {
			err = made.Close()
		}
	}
	if err != nil {
		return program.IOError("git.files", err)
	}
	var ids []string
	var which []int
	for i, t := range todo {
		if !t.new.Absent() && t.new.Mode != object.ModeNested {
			ids, which = append(ids, t.new.ID), append(which, i)
		}
	}
	return d.objects.Blobs(ctx, ids, func(n int, size int64, content io.Reader) error {
		return d.stash(which[n], todo[which[n]], size, content, want)
	})
}

// stash makes one new file.
func (d *treeFiles) stash(i int, t delta, size int64, content io.Reader, want meta.Meta) error {
	if t.new.Mode == object.ModeLink {
		target, err := io.ReadAll(io.LimitReader(content, min(size, object.LongestLink)))
		if err == nil && int64(len(target)) != size {
			return pawl.Fail(pawl.CodeDenied, "git.unsafe_path", strconv.Quote(t.path))
		}
		if err == nil {
			err = d.root.Symlink(string(target), d.staged(i))
		}
		if err != nil {
			return program.IOError("git.files", err)
		}
		return nil
	}
	exec, create := t.new.Mode == object.ModeExec, fs.FileMode(0o666)
	if exec {
		create = 0o777
	}
	f, err := d.root.OpenFile(d.staged(i), os.O_WRONLY|os.O_CREATE|os.O_EXCL, create)
	if err != nil {
		return program.IOError("git.files", err)
	}
	_, err = io.CopyN(f, content, size)
	if perm, known := want.Perm(t.path, exec); known {
		err = errors.Join(err, f.Chmod(meta.WithExec(perm, exec)))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return program.IOError("git.files", err)
	}
	return nil
}

// Blobs streams the contents of objects to sink, in order, with their place in ids.
func (r Objects) Blobs(ctx context.Context, ids []string, sink func(n int, size int64, content io.Reader) error) error {
	if len(ids) == 0 {
		return nil
	}
	// Git writes to the pipe itself: it may be long gone before a slow disk has taken everything.
	reader, writer, err := os.Pipe()
	if err != nil {
		return program.IOError("git.object", err)
	}
	done := make(chan error, 1)
	go func() {
		err := readBlobs(bufio.NewReaderSize(reader, 64<<10), ids, sink)
		done <- errors.Join(err, reader.Close())
	}()
	c := r.paths.WithoutTree(strings.Join(ids, "\n")+"\n", "cat-file", "--batch", "--buffer")
	c.Stdout = writer
	_, _, err = c.Run(ctx)
	writer.Close() //nolint:errcheck // nothing was written here
	sunk := <-done
	var e *pawl.Error
	switch short := errors.Is(sunk, io.EOF) || errors.Is(sunk, io.ErrUnexpectedEOF); {
	case errors.As(sunk, &e):
		return sunk
	case sunk != nil && !short:
		return program.Failed("cat-file", sunk)
	case err == nil && short:
		return program.Failed("cat-file", io.ErrUnexpectedEOF)
	}
	return err
}

func readBlobs(in *bufio.Reader, ids []string, sink func(int, int64, io.Reader) error) error {
	for n, id := range ids {
		head, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		f := strings.Fields(head)
		if len(f) != 3 || f[0] != id || f[1] != "blob" {
			return pawl.Fail(pawl.CodeRepository, "git.object_missing", id)
		}
		size, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil {
			return err
		}
		if err := sink(n, size, in); err != nil {
			return err
		}
		if _, err := in.Discard(1); err != nil {
			return err
		}
	}
	return nil
}
