package archive

import (
	"errors"
	"io/fs"
	"path"

	"pawl/text/solution"
)

// Prune removes packages in dir/folder by their names: projections of what has ended, whose archive is elsewhere. Only
// their two documents go; a folder in which somebody keeps something else stays with that. One that is not there is no
// error. The errors are those of Write.
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
		for _, document := range []string{solution.ProposalName, solution.TasksName} {
			if err := root.Remove(path.Join(folder, name, document)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return failed(name, err)
			}
		}
		if rest, err := fs.ReadDir(root.FS(), path.Join(folder, name)); err == nil && len(rest) == 0 {
			if err := root.Remove(path.Join(folder, name)); err != nil {
				return failed(name, err)
			}
		}
	}
	return nil
}
