//go:build unix

package login

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the lock of a file, which belongs to everybody who was handed it open, and reports whether it was free.
func tryLock(f *os.File) (bool, error) {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err {
		case nil:
			return true, nil
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return false, nil
		default:
			return false, err
		}
	}
}
