package safeopen

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// openFlags are not needed: Windows opens no pipe or device by a name inside a directory.
const openFlags = 0

// links cannot be told from the information that a directory gives.
func links(fs.FileInfo) uint64 { return 1 }

// syncDir has nothing to do: a rename is durable with the file system's own journal.
func syncDir(*os.Root) error { return nil }

func renameBetween(root *os.Root, src, dst *place) error { return root.Rename(src.name(), dst.name()) }

func (d *Dir) read(name string, limit int64, buf []byte) ([]byte, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, denied("safeopen.ReadFile", "sandbox.not_regular", name)
	}
	f, err := d.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	now, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !os.SameFile(info, now):
		return nil, errSwapped
	case now.Size() > limit:
		return nil, tooBig(name, now.Size(), limit)
	}
	return fill(buf, now.Size(), f.Read)
}

func diskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
