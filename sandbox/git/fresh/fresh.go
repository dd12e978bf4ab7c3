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
	"strconv"
	"time"

	"pawl"
	"pawl/sandbox/git/object"
	"pawl/sandbox/git/program"
	"pawl/sandbox/git/stat"
)

// writtenBefore is how long ago the files say that they were written. Git takes a file for unchanged without reading it
// only where it is older than the index, and many a git counts whole seconds.
const writtenBefore = 5 * time.Second

// Tree is a tree that is being written.
type Tree struct {
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

// New begins a tree in an empty folder.
func New(root *os.Root) *Tree {
	at := time.Now().Add(-writtenBefore).Truncate(time.Microsecond)
	return &Tree{root: root, at: at, made: map[string]bool{".": true}}
}

// Add adds a file, in the order in which git lists a tree, and returns its number. One that is bare is not written.
func (t *Tree) Add(path string, node object.Node, bare bool) (int, error) {
	t.files = append(t.files, file{path, node, bare || node.Mode == object.ModeNested})
	if node.Mode == object.ModeNested && !bare {
		if err := t.folder(path); err != nil {
			return 0, program.IOError("git.files", err)
		}
	}
	return len(t.files) - 1, nil
}

// folder makes a folder and those around it.
func (t *Tree) folder(name string) error {
	if t.made[name] {
		return nil
	}
	if err := t.folder(path.Dir(name)); err != nil {
		return err
	}
	t.made[name] = true
	return t.root.Mkdir(name, 0o777)
}

// Write makes a file. Nothing may stand there: names that a file system takes for one are told by that.
func (t *Tree) Write(number int, size int64, content io.Reader) error {
	f := t.files[number]
	if err := t.folder(path.Dir(f.path)); err != nil {
		return program.IOError("git.files", err)
	}
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

// Index is the tree as git keeps it (gitformat-index(5), version 2).
func (t *Tree) Index(format string) ([]byte, error) {
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
