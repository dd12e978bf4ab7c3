// Package fresh writes the files of a recorded tree where nothing is yet, and the index by which git knows them without
// having read any.
package fresh

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"pawl"
	"pawl/sandbox/git/object"
	"pawl/sandbox/git/program"
	"pawl/sandbox/git/stat"
)

// writtenBefore is how long ago the files say that they were written. Git takes a file for unchanged without reading it
// only where it is older than the index, and many a git counts whole seconds.
const writtenBefore = 5 * time.Second

// tree is a tree that is being written.
type tree struct {
	root  *os.Root
	at    time.Time
	made  map[string]bool // folders that are there
	files []file          // in the order of the index
}

type file struct {
	path string
	node object.Node
	bare bool // it is in the index, and not written
}

// Write writes a tree, as git lists it (ls-tree -r -z), into an empty folder, and returns the index of it. What skip
// says is in the index alone, and what may not be written is refused. Blobs hands the contents of objects to sink, in
// order; it is called for several parts of the tree at once.
func Write(root *os.Root, format string, list []string, skip, may func(path string) bool,
	blobs func(ids []string, sink func(n int, size int64, content io.Reader) error) error) ([]byte, error) {
	t := start(root)
	var ids []string
	var which []int
	for _, line := range list {
		head, name, _ := strings.Cut(line, "\t")
		f := strings.Fields(head)
		if len(f) != 3 {
			return nil, pawl.Fail(pawl.CodeIO, "git.failed", "ls-tree")
		}
		node := object.Node{Mode: f[0], ID: f[2]}
		if !skip(name) && !may(name) {
			return nil, pawl.Fail(pawl.CodeDenied, "git.unsafe_path", strconv.Quote(name))
		}
		number, err := t.add(name, node, skip(name))
		if err != nil {
			return nil, err
		}
		if !t.files[number].bare {
			if err := t.folder(path.Dir(name)); err != nil {
				return nil, program.IOError("git.files", err)
			}
			ids, which = append(ids, node.ID), append(which, number)
		}
	}
	// A disk takes several files at once, and a processor several contents: each part is a run of git of its own.
	var parts errgroup.Group
	size := max(fewest, (len(ids)+runtime.NumCPU()-1)/runtime.NumCPU())
	for part := range slices.Chunk(which, size) {
		from := ids[:len(part)]
		ids = ids[len(part):]
		parts.Go(func() error {
			return blobs(from, func(n int, size int64, content io.Reader) error {
				return t.write(part[n], size, content)
			})
		})
	}
	if err := parts.Wait(); err != nil {
		return nil, err
	}
	return t.index(format)
}

// fewest is how many files are worth a run of git of their own.
const fewest = 250

// start begins a tree in an empty folder.
func start(root *os.Root) *tree {
	at := time.Now().Add(-writtenBefore).Truncate(time.Microsecond)
	return &tree{root: root, at: at, made: map[string]bool{".": true}}
}

// add adds a file, in the order in which git lists a tree, and returns its number. One that is bare is not written.
func (t *tree) add(path string, node object.Node, bare bool) (int, error) {
	t.files = append(t.files, file{path, node, bare || node.Mode == object.ModeNested})
	if node.Mode == object.ModeNested && !bare {
		if err := t.folder(path); err != nil {
			return 0, program.IOError("git.files", err)
		}
	}
	return len(t.files) - 1, nil
}

// folder makes a folder and those around it.
func (t *tree) folder(name string) error {
	if t.made[name] {
		return nil
	}
	if err := t.folder(path.Dir(name)); err != nil {
		return err
	}
	t.made[name] = true
	return t.root.Mkdir(name, 0o777)
}

// write makes a file. Nothing may stand there: names that a file system takes for one are told by that.
func (t *tree) write(number int, size int64, content io.Reader) error {
	f := t.files[number]
	if f.node.Mode == object.ModeLink {
		target, err := io.ReadAll(io.LimitReader(content, min(size, object.LongestLink)))
		if err == nil && int64(len(target)) != size {
			return pawl.Fail(pawl.CodeDenied, "git.unsafe_path", strconv.Quote(f.path))
		}
		if err == nil {
			err = t.root.Symlink(string(target), f.path)
		}
		if err != nil {
			return program.IOError("git.files", err)
		}
		return nil
	}
	create := fs.FileMode(0o666)
	if f.node.Mode == object.ModeExec {
		create = 0o777
	}
	w, err := t.root.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, create)
	if err != nil {
		return program.IOError("git.files", err)
	}
	_, err = io.CopyN(w, content, size)
	if err = errors.Join(err, w.Close(), t.root.Chtimes(f.path, t.at, t.at)); err != nil {
		return program.IOError("git.files", err)
	}
	return nil
}

// index is the tree as git keeps it (gitformat-index(5), version 2).
func (t *tree) index(format string) ([]byte, error) {
	b := append([]byte("DIRC"), 0, 0, 0, 2)
	b = binary.BigEndian.AppendUint32(b, uint32(len(t.files)))
	words := func(list []uint32) {
		for _, v := range list {
			b = binary.BigEndian.AppendUint32(b, v)
		}
	}
	for _, f := range t.files {
		var before [6]uint32
		var after [3]uint32
		var err error
		if !f.bare {
			before, after, err = stat.Indexed(filepath.Join(t.root.Name(), filepath.FromSlash(f.path)))
		}
		mode, wrong := strconv.ParseUint(f.node.Mode, 8, 32)
		id, bad := hex.DecodeString(f.node.ID)
		if err = errors.Join(err, wrong, bad); err != nil {
			return nil, program.IOError("git.files", err)
		}
		words(before[:])
		words([]uint32{uint32(mode)})
		words(after[:])
		b = append(b, id...)
		b = binary.BigEndian.AppendUint16(b, uint16(min(len(f.path), 0xfff)))
		b = append(b, f.path...)
		b = append(b, make([]byte, 8-(42+len(id)+len(f.path))%8)...) // as laid out, an entry begins with its times
	}
	h := object.NewHash(format)
	_, _ = h.Write(b)
	return h.Sum(b), nil
}
