package lockfile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// noFollow has nothing to add here.
const noFollow = 0

// links cannot be told from the information that a file gives.
func links(fs.FileInfo) uint64 { return 1 }

// TryFile takes the exclusive lock on an open file without waiting. It covers one byte far behind the content, because
// a locked range cannot be read by others here, and they must be able to read who holds the lock.
func TryFile(f *os.File) (bool, error) { return lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// ShareFile takes the lock so that others may do the same, and nobody may take it for itself.
func ShareFile(f *os.File) (bool, error) { return lock(f, 0) }

// UnlockFile gives the lock on an open file up.
func UnlockFile(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{OffsetHigh: 1})
}

func lock(f *os.File, how uint32) (bool, error) {
	at := &windows.Overlapped{OffsetHigh: 1}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// exists reports whether there may be a process with an id here. It cannot be found out cheaply, so there may.
func exists(int) bool { return true }

// NoProcess reports whether there is certainly no process with an id here. No lock outlives its process on this system.
func NoProcess(int) bool { return false }
