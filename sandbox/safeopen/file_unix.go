//go:build unix

package safeopen

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFlags keep an open from waiting for the other end of a FIFO and from making a terminal the process's own.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY | syscall.O_NOFOLLOW

// links is the number of names that a file has.
func links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// syncDir makes the entries of a directory durable. File systems that cannot do that say EINVAL.
func syncDir(dir *os.Root) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

// renameBetween moves src to dst by the descriptors of their directories, so that nothing is resolved a second time.
func renameBetween(_ *os.Root, src, dst *place) error {
	from, err := src.dir.Open(".")
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := dst.dir.Open(".")
	if err != nil {
		return err
	}
	defer to.Close()
	if err := unix.Renameat(int(from.Fd()), src.base, int(to.Fd()), dst.base); err != nil {
		return err
	}
	return errors.Join(syncDir(dst.dir), syncDir(src.dir))
}

// read opens, checks and reads one file of the directory by its descriptor alone. An os.File would cost as much again
// in bookkeeping and in calls for a poller that no file needs.
func (d *Dir) read(name string, limit int64, buf []byte) ([]byte, error) {
	fd, err := again(func() (int, error) {
		return unix.Openat(int(d.file.Fd()), name, unix.O_RDONLY|unix.O_CLOEXEC|openFlags, 0)
	})
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, denied("safeopen.ReadFile", "sandbox.not_regular", name)
	case st.Size > limit:
		return nil, tooBig(name, st.Size, limit)
	}
	return fill(buf, st.Size, func(b []byte) (int, error) {
		return again(func() (int, error) { return unix.Read(fd, b) })
	})
}

// again repeats a call that a signal interrupted.
func again(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}

func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
