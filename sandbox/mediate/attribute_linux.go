package mediate

import (
	"strings"

	"golang.org/x/sys/unix"
)

// chmod changes a mode.
func (t *task) chmod(nr uintptr, args [6]uint64) verdict {
	var fd int
	var err error
	mode := uint32(args[2])
	switch nr {
	case unix.SYS_FCHMOD:
		fd, err, mode = t.program.descriptor(args[0]), nil, uint32(args[1])
	default:
		flags := 0
		if nr == unix.SYS_FCHMODAT2 {
			flags = int(int32(args[3]))
		}
		var p string
		if p, err = t.program.text(args[1]); err == nil {
			fd, err = t.program.object(int32(args[0]), p, flags&unix.AT_SYMLINK_NOFOLLOW == 0,
				flags&unix.AT_EMPTY_PATH != 0)
		}
	}
	return t.alter(fd, err, nr == unix.SYS_FCHMOD,
		func(name string) error { return unix.Fchmodat(unix.AT_FDCWD, name, mode, 0) })
}

// alter changes what is held, when the command may.
func (t *task) alter(fd int, err error, own bool, change func(name string) error) verdict {
	switch {
	case err != nil:
		return of(err)
	case fd < 0:
		return of(unix.EBADF)
	}
	defer unix.Close(fd)
	if !t.s.changeable(fd, own) {
		return refused
	}
	return of(change(held(fd)))
}

// touch changes times.
func (t *task) touch(nr uintptr, args [6]uint64) verdict {
	dirfd, at, times, flags := int32(args[0]), args[1], args[2], 0
	if nr == unix.SYS_UTIMENSAT {
		flags = int(int32(args[3]))
	} else if nr != futimesat {
		dirfd, at, times = unix.AT_FDCWD, args[0], args[1]
	}
	set, err := t.times(nr, times)
	if err != nil {
		return of(err)
	}
	var fd int
	if at == 0 {
		fd = t.program.descriptor(uint64(uint32(dirfd)))
	} else {
		var p string
		if p, err = t.program.text(at); err == nil {
			fd, err = t.program.object(dirfd, p, flags&unix.AT_SYMLINK_NOFOLLOW == 0, flags&unix.AT_EMPTY_PATH != 0)
		}
	}
	return t.alter(fd, err, at == 0, func(name string) error {
		if target, err := where(fd); err == nil && strings.HasPrefix(target, "/") && isLink(fd) {
			// The name of a held link leads to what the link is, not to where it points.
			return unix.UtimesNanoAt(fd, "", set, unix.AT_EMPTY_PATH)
		}
		return unix.UtimesNanoAt(unix.AT_FDCWD, name, set, 0)
	})
}

func isLink(fd int) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK
}

// times reads the two times of a call, in the form that it has; none means now.
func (t *task) times(nr uintptr, at uint64) ([]unix.Timespec, error) {
	now := unix.Timespec{Nsec: unix.UTIME_NOW}
	if at == 0 {
		return []unix.Timespec{now, now}, nil
	}
	n, scale := 4, int64(1)
	switch {
	case nr == unix.SYS_UTIMENSAT:
	case nr == utime:
		n = 2
	default:
		scale = 1000
	}
	v, err := t.program.numbers(at, n)
	if err != nil {
		return nil, err
	}
	if n == 2 {
		return []unix.Timespec{{Sec: v[0]}, {Sec: v[1]}}, nil
	}
	return []unix.Timespec{{Sec: v[0], Nsec: v[1] * scale}, {Sec: v[2], Nsec: v[3] * scale}}, nil
}
