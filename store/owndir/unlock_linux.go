package owndir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// unlock gives the owner all rights on a directory that was described by info. The mode is set by a descriptor that
// needs no right to read and that can only be of a directory: a name that was swapped for a hard link would change the
// mode of a file elsewhere.
func (d *Dir) unlock(name string, info fs.FileInfo) error {
	f, err := d.root.OpenFile(name, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	now, err := f.Stat()
	if err == nil && !os.SameFile(info, now) {
		err = d.foreign(name)
	}
	if err == nil && unix.Fchmodat(int(f.Fd()), "", 0o700, unix.AT_EMPTY_PATH) != nil { // Linux 6.6
		err = os.Chmod(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), 0o700)
	}
	return errors.Join(err, f.Close())
}
