package keep

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// entryOf is what the file system says of a path.
func entryOf(p string, info fs.FileInfo) entry {
	e := entry{Path: p, Mode: info.Mode(), MTime: info.ModTime().UnixNano(), UID: -1, GID: -1}
	if info.Mode().IsRegular() {
		e.Size = info.Size()
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		e.Dev, e.Ino, e.Links = uint64(st.Dev), st.Ino, uint64(st.Nlink)
		e.UID, e.GID, e.CTime = int(st.Uid), int(st.Gid), st.Ctim.Nano()
	}
	return e
}

// openPlain opens a file to be read, and neither follows a link nor waits for what is no file.
func openPlain(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
}

// makePipe makes a named pipe.
func makePipe(name string, perm fs.FileMode) error { return unix.Mkfifo(name, uint32(perm.Perm())) }

// share makes a file that shares the content of another until one of them is written, and reports false where the file
// system cannot do that.
func share(to, from string) (bool, error) {
	in, err := openPlain(from)
	if err != nil {
		return false, err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false, err
	}
	defer out.Close()
	if unix.IoctlFileClone(int(out.Fd()), int(in.Fd())) == nil {
		return true, nil
	}
	return false, os.Remove(to)
}
