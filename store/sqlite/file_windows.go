package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// syncDir does nothing: Windows has no handle on a folder that could be flushed, and orders its metadata itself.
func syncDir(string) error { return nil }

func isReadOnlyFS(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }

func isDiskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// tryLock takes the exclusive lock on an open file without waiting. It covers one byte far behind the content, because a
// locked range cannot be read by others here, and they must be able to read who holds the lock.
func tryLock(f *os.File) (bool, error) { return tryRange(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// tryShare takes the lock so that others may do the same, and nobody may take it for itself.
func tryShare(f *os.File) (bool, error) { return tryRange(f, 0) }

func tryRange(f *os.File, how uint32) (bool, error) {
	at := &windows.Overlapped{OffsetHigh: 1}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// noProcess reports whether there is certainly no process with an id here. No lock outlives its process on this system.
func noProcess(int) bool { return false }
