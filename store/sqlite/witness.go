package sqlite

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pawl"
	"pawl/kernel/audit"
	"pawl/store/lockfile"
)

// SQLite takes a write-ahead log only up to its first page that is not as it was written, and what stood behind that is
// then as if it had never been. So how far the log went is also said beside it, in the witness: one line of a constant
// length that is written over after each commit that has records. It costs no flush, because a process that is killed
// takes nothing of it along; only a batch that says so (kernel.Batch.Attest) is acknowledged when the line is on disk,
// too.

// witnessLength is that of the line, which one sector holds.
const witnessLength = 160

// said is what a witness says: the store's identity, the size of its log, and the hash of the record before that.
type said struct {
	identity string
	size     int64
	last     audit.Hash
}

func (w said) line() []byte {
	text := fmt.Sprintf("pawl %s %d %s", w.identity, w.size, base64.RawStdEncoding.EncodeToString(w.last[:]))
	text += fmt.Sprintf(" %08x", sumOf([]byte(text)))
	return []byte(text + strings.Repeat(" ", max(witnessLength-1-len(text), 0)) + "\n")
}

// heard reads a line; ok is false for one that is not whole, which says nothing.
func heard(line []byte) (w said, ok bool) {
	text := strings.TrimSpace(string(line))
	var last string
	var sum int64
	if n, err := fmt.Sscanf(text, "pawl %s %d %s %x", &w.identity, &w.size, &last, &sum); n != 4 || err != nil ||
		w.size < 1 || sum != sumOf([]byte(text[:max(strings.LastIndexByte(text, ' '), 0)])) {
		return said{}, false
	}
	raw, err := base64.RawStdEncoding.DecodeString(last)
	return w, copy(w.last[:], raw) == len(w.last) && err == nil
}

func witnessOf(path string) string { return path + "-witness" }

// witness writes the line. It is the writer's.
type witness struct {
	file     *os.File
	identity string
}

// attest says how far the log goes now, unless another process has said more. Without flush it is no failure where that
// cannot be done: less is known then after a crash.
func (w *witness) attest(c *conn, path string, size int64, last audit.Hash, flush bool) error {
	if err := w.open(c, path); err != nil || w.file == nil {
		return err
	}
	// A process that is stopped in this moment keeps the lock. Nobody waits for it for long.
	locked, err := lockfile.TryFile(w.file)
	for end := time.Now().Add(time.Second); flush && !locked && err == nil && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
		locked, err = lockfile.TryFile(w.file)
	}
	if err != nil || !locked && !flush {
		return err
	}
	line := make([]byte, witnessLength)
	_, _ = w.file.ReadAt(line, 0) // what cannot be read says nothing
	if now, ok := heard(line); !ok || now.identity != w.identity || now.size < size {
		_, err = w.file.WriteAt(said{w.identity, size, last}.line(), 0)
	}
	if locked {
		err = errors.Join(err, lockfile.UnlockFile(w.file))
	}
	if flush && err == nil {
		err = w.file.Sync()
	}
	return err
}

// open makes the file where it is missing.
func (w *witness) open(c *conn, path string) (err error) {
	if w.file != nil {
		return nil
	}
	if w.identity, _, err = c.identity(); err != nil {
		return err
	}
	w.file, err = os.OpenFile(witnessOf(path), os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	return err
}

func (w *witness) close() {
	if w.file != nil {
		_ = w.file.Close()
	}
}

// Behind fails with store_damaged where the log has not come as far as was acknowledged: its end is lost, as a damaged
// or deleted write-ahead log loses it, or the store is an older copy of itself. It is for Accept to go on with that.
func Behind(ctx context.Context, s *Store) error {
	line, err := os.ReadFile(witnessOf(s.path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	was, ok := heard(line)
	if err != nil || !ok {
		return nil
	}
	return s.Log(ctx, func(l audit.Log) error {
		if l.Identity != was.identity {
			return nil // that of another store, which this one has taken the place of
		}
		if l.Head.Size < was.size {
			return pawl.Fail(pawl.CodeStoreDamaged, "store.behind", s.path, was.size, l.Head.Size).In("store.open")
		}
		for rec, err := range s.Records(ctx, "", was.size-1) {
			if err == nil && rec.Index == was.size-1 && rec.Hash != was.last { // else it was retired meanwhile
				err = pawl.Fail(pawl.CodeStoreDamaged, "store.diverged", s.path, was.size).In("store.open")
			}
			return err
		}
		return nil
	})
}

// Accept takes the store as it is, whatever is lost. Nobody may be at work.
func Accept(s *Store) error {
	if err := os.Remove(witnessOf(s.path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fileFault(err, witnessOf(s.path))
	}
	return nil
}
