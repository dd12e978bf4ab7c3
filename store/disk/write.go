// Package disk writes files so that a crash leaves the old one or the new, and tells what is left of a disk.
package disk

import (
	"os"
	"path/filepath"

	"pawl/store/owndir"
)

// New begins the names of files that WriteFile writes; who writes them follows (lockfile.Left).
const New = owndir.Temp

// WriteFile replaces a file as a whole and makes it durable: after a crash there is the old content or the new, and no
// reader sees half of it. A new file is its user's alone. The folder must exist; a name that is a link is replaced
// itself.
func WriteFile(path string, content []byte) error {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer root.Close()
	return owndir.Replace(root, filepath.Base(path), content)
}

// Root opens a directory of pawl's own, which is made where it is missing. The caller closes it.
func Root(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

// Mkdir makes a folder below another one, with those between them that are missing. The other one has to be there:
// where a workspace was moved or removed meanwhile, nothing of it may appear again.
func Mkdir(base, path string, perm os.FileMode) error {
	rel, err := filepath.Rel(base, path)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.MkdirAll(rel, perm)
}
