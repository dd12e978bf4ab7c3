//go:build unix

package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fileFault(err, dir)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fileFault(err, dir)
	}
	return nil
}

func isReadOnlyFS(err error) bool { return errors.Is(err, unix.EROFS) }

func isDiskFull(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }
