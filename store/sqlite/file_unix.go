//go:build unix

package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fileFault(err, dir)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fileFault(err, dir)
	}
	return nil
}

func isReadOnlyFS(err error) bool { return errors.Is(err, unix.EROFS) }

func isDiskFull(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// tryLock takes the exclusive lock on an open file without waiting. The kernel releases it when the last descriptor of
// this opening is closed, at the latest when the process dies.
func tryLock(f *os.File) (bool, error) { return tryFlock(f, unix.LOCK_EX) }

// tryShare takes the lock so that others may do the same, and nobody may take it for itself.
func tryShare(f *os.File) (bool, error) { return tryFlock(f, unix.LOCK_SH) }

func tryFlock(f *os.File, how int) (bool, error) {
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, err
		}
	}
}

// noProcess reports whether there is certainly no process with an id here.
func noProcess(pid int) bool { return pid > 0 && errors.Is(unix.Kill(pid, 0), unix.ESRCH) }
