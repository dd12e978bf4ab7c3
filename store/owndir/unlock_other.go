//go:build !linux

package owndir

import (
	"errors"
	"io/fs"
	"os"
)

// unlock gives the owner all rights on a directory that was described by info and that can be read.
func (d *Dir) unlock(name string, info fs.FileInfo) error {
	f, err := d.root.Open(name)
	if err != nil {
		return err
	}
	now, err := f.Stat()
	if err == nil && !os.SameFile(info, now) {
		err = d.foreign(name)
	}
	if err == nil {
		err = f.Chmod(0o700)
	}
	return errors.Join(err, f.Close())
}
