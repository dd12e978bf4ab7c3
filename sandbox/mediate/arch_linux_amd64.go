package mediate

import "golang.org/x/sys/unix"

// Older forms of the calls that change times.
const (
	utime     = uintptr(unix.SYS_UTIME)
	futimesat = uintptr(unix.SYS_FUTIMESAT)
)

// here is the working directory as an argument.
const here = uint64(1<<64 - 100) // AT_FDCWD

// modern turns an older form of a call into the one with directories.
func modern(nr uintptr, a [6]uint64) (uintptr, [6]uint64) {
	switch nr {
	case unix.SYS_OPEN:
		return unix.SYS_OPENAT, [6]uint64{here, a[0], a[1], a[2]}
	case unix.SYS_CREAT:
		return unix.SYS_OPENAT, [6]uint64{here, a[0], unix.O_CREAT | unix.O_WRONLY | unix.O_TRUNC, a[1]}
	case unix.SYS_CHMOD:
		return unix.SYS_FCHMODAT, [6]uint64{here, a[0], a[1]}
	case unix.SYS_MKDIR:
		return unix.SYS_MKDIRAT, [6]uint64{here, a[0], a[1]}
	case unix.SYS_MKNOD:
		return unix.SYS_MKNODAT, [6]uint64{here, a[0], a[1], a[2]}
	case unix.SYS_UNLINK:
		return unix.SYS_UNLINKAT, [6]uint64{here, a[0], 0}
	case unix.SYS_RMDIR:
		return unix.SYS_UNLINKAT, [6]uint64{here, a[0], unix.AT_REMOVEDIR}
	case unix.SYS_SYMLINK:
		return unix.SYS_SYMLINKAT, [6]uint64{a[0], here, a[1]}
	case unix.SYS_RENAME:
		return unix.SYS_RENAMEAT2, [6]uint64{here, a[0], here, a[1], 0}
	case unix.SYS_LINK:
		return unix.SYS_LINKAT, [6]uint64{here, a[0], here, a[1], 0}
	}
	return nr, a
}
