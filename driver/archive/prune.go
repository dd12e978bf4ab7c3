package archive

import (
	"path"
)

// Prune removes folders in dir/folder by their names: projections of what has ended, whose archive is elsewhere. One
// that is not there is no error; nothing else in the folder is looked at. The errors are those of Write.
func Prune(dir, folder string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	root, err := openDir(dir)
	if err != nil {
		return failed(folder, err)
	}
	defer root.Close()
	for _, name := range names {
		if err := root.RemoveAll(path.Join(folder, name)); err != nil {
			return failed(name, err)
		}
	}
	return nil
}
