//go:build unix

package lockfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// noFollow opens no link, and does not wait for the other end of a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// links is the number of names that a file has.
func links(info fs.FileInfo) uint64 { return uint64(info.Sys().(*syscall.Stat_t).Nlink) }

// TryFile takes the exclusive lock on an open file without waiting. The kernel releases it when the last descriptor of
// this opening is closed, at the latest when the process dies.
func TryFile(f *os.File) (bool, error) { return flock(f, unix.LOCK_EX) }

// ShareFile takes the lock so that others may do the same, and nobody may take it for itself.
func ShareFile(f *os.File) (bool, error) { return flock(f, unix.LOCK_SH) }

// UnlockFile gives the lock on an open file up.
func UnlockFile(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

func flock(f *os.File, how int) (bool, error) {
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

// exists reports whether there may be a process with an id here.
func exists(pid int) bool { return !errors.Is(unix.Kill(pid, 0), unix.ESRCH) }

// NoProcess reports whether there is certainly no process with an id here.
func NoProcess(pid int) bool { return pid > 0 && !exists(pid) }
