//go:build unix

package git

import "golang.org/x/sys/unix"

// alive reports whether a process with the id may exist.
func alive(pid int) bool {
	return pid <= 0 || unix.Kill(pid, 0) != unix.ESRCH
}
