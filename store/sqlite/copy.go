package sqlite

import (
	"bytes"
	"errors"
	"os"
	"time"

	engine "modernc.org/sqlite"

	"pawl"
)

// maxCopy is the size above which a store is not read from memory, in bytes.
const maxCopy = 512 << 20

// image is a store as it was at one moment, in memory. It is how a store is read on a full disk: SQLite wants to put
// the index of the write-ahead log beside the file even to read it, and there is no room for that. Without a log there
// is nothing to index, so the file alone is the store, for as long as nobody changes it.
type image struct {
	data []byte
	at   stamp
}

// stamp tells whether a file was written to.
type stamp struct {
	size    int64
	changed time.Time
}

// stampOf returns the stamp of a database that has no log, and false for one that has.
func stampOf(path string) (stamp, bool) {
	if !idle(path) {
		return stamp{}, false
	}
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}, false
	}
	return stamp{info.Size(), info.ModTime()}, true
}

// errChanging says that a store was written to while it was copied.
var errChanging = errors.New("the store changes while it is read")

// imageOf copies a store that nobody writes to. The file is read twice, because a reader without locks could see a half
// written page; what differs, or carries another stamp afterwards, is not used. Opening and closing the file drops the
// locks that this process has on it, so the process must have no connection to it.
func imageOf(path string) (*image, error) {
	before, ok := stampOf(path)
	if !ok {
		return nil, errChanging
	}
	if before.size > maxCopy {
		return nil, pawl.Fail(pawl.CodeDiskFull, "store.full", path).In("store.open")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	again, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	after, ok := stampOf(path)
	if !ok || before != after || int64(len(data)) != before.size || !bytes.Equal(data, again) {
		return nil, errChanging
	}
	// A database in memory has no log; these two bytes of the header say whether one is to be used (1: no).
	const versions = 18
	if len(data) > versions+1 {
		data[versions], data[versions+1] = 1, 1
	}
	return &image{data: data, at: before}, nil
}

// current reports whether the file still is what was copied.
func (m *image) current(path string) bool {
	now, ok := stampOf(path)
	return ok && now == m.at
}

// connect opens a connection to the copy.
func (m *image) connect() (*conn, error) {
	raw, err := new(engine.Driver).Open("file::memory:?mode=memory")
	if err != nil {
		return nil, err
	}
	c := &conn{raw: raw, st: map[string]*stmt{}}
	target, ok := raw.(interface{ Deserialize(buf []byte) error })
	if !ok {
		return nil, errors.Join(errors.ErrUnsupported, c.close())
	}
	if err := target.Deserialize(m.data); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}
