package object

import (
	"compress/zlib"
	"context"
	"crypto/sha1" //nolint:gosec // git's object ids, not a protection
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl/sandbox/git/program"
	"pawl/store/disk"
	"pawl/store/lockfile"
)

// New begins the names of objects that are being written; the process that writes follows (lockfile.Left).
const New = "tmp_obj_pawl_"

// NewHash is the hash by which a repository names its objects.
func NewHash(format string) hash.Hash {
	if format == "sha256" {
		return sha256.New()
	}
	return sha1.New() //nolint:gosec // as above
}

// ID is the id that git gives to a content.
func ID(format, kind string, content []byte) string {
	h := NewHash(format)
	h.Write(header(kind, len(content)))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

func header(kind string, size int) []byte { return []byte(kind + " " + strconv.Itoa(size) + "\x00") }

// Line is one line of a tree.
type Line struct {
	Name string
	Node Node
}

// TreeContent is the content of a tree of git's. Lines are in the order of names, where a folder counts as ending in a
// slash.
func TreeContent(lines []Line) []byte {
	slices.SortFunc(lines, func(a, b Line) int { return strings.Compare(a.key(), b.key()) })
	var out []byte
	for _, l := range lines {
		id, _ := hex.DecodeString(l.Node.ID) // ids come from git or from ID
		out = append(out, strings.TrimPrefix(l.Node.Mode, "0")+" "+l.Name+"\x00"...)
		out = append(out, id...)
	}
	return out
}

func (l Line) key() string {
	if l.Node.Mode == ModeDir {
		return l.Name + "/"
	}
	return l.Name
}

// Writer puts objects into an object store, each in a file of its own, as git does with few objects. Nothing has its
// name before Finish. It is for one goroutine.
type Writer struct {
	Dir     string // of the object store
	Format  string // "sha1" or "sha256"
	pending []half
	deflate *zlib.Writer // made once, because it is large
}

// half is an object that has no name yet.
type half struct {
	file *os.File
	path string
}

// Write begins to store an object and returns its id.
func (w *Writer) Write(ctx context.Context, kind string, content []byte) (string, error) {
	id := ID(w.Format, kind, content)
	path := filepath.Join(w.Dir, id[:2], id[2:])
	// A garbage collection spares what is young.
	if now := time.Now(); os.Chtimes(path, now, now) == nil {
		return id, nil
	}
	program.Step(ctx, "write object")
	f, err := os.CreateTemp(w.Dir, New+lockfile.Maker()+"-*")
	if err != nil {
		return "", program.IOError("git.object", err)
	}
	w.pending = append(w.pending, half{f, path})
	if w.deflate == nil {
		w.deflate, _ = zlib.NewWriterLevel(f, zlib.BestSpeed) // a level that exists
	}
	w.deflate.Reset(f)
	_, head := w.deflate.Write(header(kind, len(content)))
	_, body := w.deflate.Write(content)
	if err := errors.Join(head, body, w.deflate.Close(), f.Chmod(0o444)); err != nil {
		return "", program.IOError("git.object", err)
	}
	begin(f)
	return id, nil
}

// Finish gives the objects their names, those first that others name. Each is complete under its name; all are durable
// at the latest when a reference that PutRef makes to the last is.
func (w *Writer) Finish(ctx context.Context) error {
	for _, h := range w.pending {
		if err := h.file.Sync(); err != nil {
			return program.IOError("git.object", err)
		}
	}
	for _, h := range w.pending {
		program.Step(ctx, "name object")
		err := os.Rename(h.file.Name(), h.path)
		if errors.Is(err, fs.ErrNotExist) {
			if err = os.Mkdir(filepath.Dir(h.path), 0o777); err == nil || errors.Is(err, fs.ErrExist) {
				err = os.Rename(h.file.Name(), h.path)
			}
		}
		if err != nil {
			return program.IOError("git.object", err)
		}
	}
	return nil
}

// Drop closes the files and removes those that got no name.
func (w *Writer) Drop() {
	for _, h := range w.pending {
		h.file.Close()
		os.Remove(h.file.Name()) //nolint:errcheck // gone when finish named it
	}
}

// PutRef makes a reference that always names the same object, and so can be in nobody's way. It is durable when PutRef
// returns, and so is what a Writer wrote before it.
func PutRef(ctx context.Context, dir, name, id string) error {
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := disk.Mkdir(dir, filepath.Dir(path), 0o777); err != nil {
		return err
	}
	program.Step(ctx, "write reference")
	// Git takes no name that begins with a dot for a reference.
	f, err := os.CreateTemp(filepath.Dir(path), disk.New+lockfile.Maker()+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = fmt.Fprintln(f, id)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	program.Step(ctx, "name reference")
	return os.Rename(f.Name(), path)
}
