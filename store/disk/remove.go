package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// RemoveAll removes a folder whose own folders may forbid it, as module caches do.
func RemoveAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o700)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return errors.Join(os.RemoveAll(dir), ignorePermission(err))
}

// ignorePermission leaves it to the removal that follows to say what is in the way.
func ignorePermission(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
