//go:build unix

package git

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the lock on an open file and reports whether it was free. The lock belongs to the open file, so it
// excludes other goroutines as well as other processes, and ends when the last holder of the file does.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}

// alive reports whether a process with the id may exist.
func alive(pid int) bool {
	return pid <= 0 || unix.Kill(pid, 0) != unix.ESRCH
}
