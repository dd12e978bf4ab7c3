package git

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
)

// newHash is the hash by which a repository names its objects.
func newHash(format string) hash.Hash {
	if format == "sha256" {
		return sha256.New()
	}
	return sha1.New() //nolint:gosec // as above
}

// objectID is the id that git gives to a content.
func objectID(format, kind string, content []byte) string {
	h := newHash(format)
	h.Write(header(kind, len(content)))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

func header(kind string, size int) []byte { return []byte(kind + " " + strconv.Itoa(size) + "\x00") }

// line is one line of a tree.
type line struct {
	name string
	node node
}

// treeContent is the content of a tree of git's. Lines are in the order of names, where a folder counts as ending in a slash.
func treeContent(lines []line) []byte {
	slices.SortFunc(lines, func(a, b line) int { return strings.Compare(a.key(), b.key()) })
	var out []byte
	for _, l := range lines {
		id, _ := hex.DecodeString(l.node.id) // ids come from git or from objectID
		out = append(out, strings.TrimPrefix(l.node.mode, "0")+" "+l.name+"\x00"...)
		out = append(out, id...)
	}
	return out
}

func (l line) key() string {
	if l.node.mode == modeDir {
		return l.name + "/"
	}
	return l.name
}

// writer puts objects into an object store, each in a file of its own, as git does with few objects. Nothing has its name
// before finish.
type writer struct {
	dir     string
	format  string
	alone   bool // every file has to be made durable by itself
	pending []half
	deflate *zlib.Writer // made once, because it is large
}

// half is an object that has no name yet.
type half struct {
	file *os.File
	path string
}

// write begins to store an object and returns its id.
func (w *writer) write(ctx context.Context, kind string, content []byte) (string, error) {
	id := objectID(w.format, kind, content)
	path := filepath.Join(w.dir, id[:2], id[2:])
	// A garbage collection spares what is young.
	if now := time.Now(); os.Chtimes(path, now, now) == nil {
		return id, nil
	}
	Step(ctx, "write object")
	f, err := os.CreateTemp(w.dir, "tmp_obj_pawl_*")
	if err != nil {
		return "", ioError("git.object", err)
	}
	w.pending = append(w.pending, half{f, path})
	if w.deflate == nil {
		w.deflate, _ = zlib.NewWriterLevel(f, zlib.BestSpeed) // a level that exists
	}
	w.deflate.Reset(f)
	_, head := w.deflate.Write(header(kind, len(content)))
	_, body := w.deflate.Write(content)
	if err := errors.Join(head, body, w.deflate.Close(), f.Chmod(0o444)); err != nil {
		return "", ioError("git.object", err)
	}
	begin(f)
	return id, nil
}

// finish gives the objects their names, those first that others name. Each is complete under its name; all are durable at
// the latest when the reference that keep makes to the last is.
func (w *writer) finish(ctx context.Context) error {
	for _, h := range w.pending {
		if err := flush(h.file, w.alone); err != nil {
			return ioError("git.object", err)
		}
	}
	for _, h := range w.pending {
		Step(ctx, "name object")
		err := os.Rename(h.file.Name(), h.path)
		if errors.Is(err, fs.ErrNotExist) {
			if err = os.Mkdir(filepath.Dir(h.path), 0o777); err == nil || errors.Is(err, fs.ErrExist) {
				err = os.Rename(h.file.Name(), h.path)
			}
		}
		if err != nil {
			return ioError("git.object", err)
		}
	}
	return nil
}

// drop closes the files and removes those that got no name.
func (w *writer) drop() {
	for _, h := range w.pending {
		h.file.Close()
		os.Remove(h.file.Name()) //nolint:errcheck // gone when finish named it
	}
}

// putRef makes a reference that always names the same object, and so can be in nobody's way. It is durable when putRef
// returns, and so is what writer wrote before it.
func putRef(ctx context.Context, dir, name, id string) error {
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := Mkdir(dir, filepath.Dir(path), 0o777); err != nil {
		return err
	}
	Step(ctx, "write reference")
	// Git takes no name that begins with a dot for a reference.
	f, err := os.CreateTemp(filepath.Dir(path), halfRef+"*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = fmt.Fprintln(f, id)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	Step(ctx, "name reference")
	return os.Rename(f.Name(), path)
}

// halfRef begins the names of references that are being written.
const halfRef = ".new-"
