package mediate

import (
	"golang.org/x/sys/unix"
)

// open opens a file for writing, where the kernel's walls would refuse it although the command may.
func (t *task) open(args [6]uint64) verdict {
	p, err := t.program.text(args[1])
	if err != nil {
		return of(err)
	}
	flags, mode := int(int32(args[2])), uint32(args[3])
	e, err := t.program.entry(int32(args[0]), p)
	if err != nil {
		return pass // the kernel finds the same, or refuses
	}
	exclusive := flags&unix.O_CREAT != 0 && flags&unix.O_EXCL != 0
	if flags&unix.O_NOFOLLOW == 0 && !exclusive && e.plain() {
		if e, err = e.followed(); err != nil {
			e.close()
			return of(err)
		}
	}
	defer e.close()
	switch {
	case !e.plain() || p[len(p)-1] == '/' || t.s.Granted(e.path) || !t.s.Writable(e.path):
		return pass
	case flags&unix.O_TMPFILE == unix.O_TMPFILE:
		return of(unix.EOPNOTSUPP)
	}
	fd, err := unix.Openat(e.dir, e.name, flags|unix.O_NOFOLLOW|unix.O_NOCTTY|unix.O_CLOEXEC, t.program.masked(mode))
	if err != nil {
		return of(err)
	}
	if t.s.Calls.Hand(t.program.call, fd, flags&unix.O_CLOEXEC != 0) != nil {
		return of(unix.EMFILE)
	}
	return done
}

// truncate shortens a file by its name.
func (t *task) truncate(args [6]uint64) verdict {
	p, err := t.program.text(args[0])
	if err != nil {
		return of(err)
	}
	fd, err := t.program.object(unix.AT_FDCWD, p, true, false)
	if err != nil {
		return of(err)
	}
	defer unix.Close(fd)
	at, err := where(fd)
	if err != nil || t.s.Granted(at) || !t.s.Writable(at) {
		return pass
	}
	return of(unix.Truncate(held(fd), int64(args[1])))
}

// change makes or removes one name.
func (t *task) change(nr uintptr, args [6]uint64) verdict {
	dirfd, at := args[0], args[1]
	target := ""
	if nr == unix.SYS_SYMLINKAT {
		var err error
		if target, err = t.program.text(args[0]); err != nil {
			return of(err)
		}
		dirfd, at = args[1], args[2]
	}
	p, err := t.program.text(at)
	if err != nil {
		return of(err)
	}
	e, err := t.program.entry(int32(dirfd), p)
	if err != nil {
		return pass
	}
	defer e.close()
	if !t.s.movable(e) || t.s.Granted(e.path) {
		return pass
	}
	switch nr {
	case unix.SYS_MKDIRAT:
		return of(unix.Mkdirat(e.dir, e.name, t.program.masked(uint32(args[2]))))
	case unix.SYS_SYMLINKAT:
		return of(unix.Symlinkat(target, e.dir, e.name))
	case unix.SYS_UNLINKAT:
		t.s.Lost(e.path)
		return of(unix.Unlinkat(e.dir, e.name, int(int32(args[2]))))
	}
	mode := uint32(args[2])
	switch mode & unix.S_IFMT {
	case 0, unix.S_IFREG, unix.S_IFIFO, unix.S_IFSOCK:
		return of(unix.Mknodat(e.dir, e.name, mode&unix.S_IFMT|t.program.masked(mode), 0))
	}
	return refused
}

// move gives something another name, or a further one.
func (t *task) move(nr uintptr, args [6]uint64) verdict {
	flags := 0
	if nr != unix.SYS_RENAMEAT {
		flags = int(int32(args[4]))
	}
	p, err := t.program.text(args[1])
	if err != nil {
		return of(err)
	}
	q, err := t.program.text(args[3])
	if err != nil {
		return of(err)
	}
	from, err := t.program.entry(int32(args[0]), p)
	if err != nil {
		return pass
	}
	if nr == unix.SYS_LINKAT && flags&unix.AT_SYMLINK_FOLLOW != 0 && from.plain() {
		if from, err = from.followed(); err != nil {
			from.close()
			return pass
		}
	}
	defer from.close()
	to, err := t.program.entry(int32(args[2]), q)
	if err != nil {
		return pass
	}
	defer to.close()
	if !t.s.movable(from) || !t.s.movable(to) || t.s.Granted(from.path) && t.s.Granted(to.path) {
		return pass
	}
	if nr == unix.SYS_LINKAT {
		return of(unix.Linkat(from.dir, from.name, to.dir, to.name, 0))
	}
	if flags&unix.RENAME_WHITEOUT != 0 {
		return of(unix.EINVAL)
	}
	t.s.Lost(from.path)
	t.s.Lost(to.path)
	return of(unix.Renameat2(from.dir, from.name, to.dir, to.name, uint(flags)))
}
