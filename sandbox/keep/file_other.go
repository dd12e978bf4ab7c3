//go:build !linux

package keep

import (
	"errors"
	"io/fs"
	"os"
)

// entryOf is what the file system says of a path. What tells two files apart that look the same is not asked for here.
func entryOf(p string, info fs.FileInfo) entry {
	e := entry{Path: p, Mode: info.Mode(), MTime: info.ModTime().UnixNano(), UID: -1, GID: -1}
	if info.Mode().IsRegular() {
		e.Size = info.Size()
	}
	return e
}

// openPlain opens a file to be read.
func openPlain(name string) (*os.File, error) { return os.Open(name) }

// makePipe fails: this system's pipes with names are not made.
func makePipe(string, fs.FileMode) error { return errors.ErrUnsupported }

// share reports false: no file system of this machine is asked to share contents.
func share(_, _ string) (bool, error) { return false, nil }
