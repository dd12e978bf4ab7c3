package archive

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"pawl/effect"
)

// Prune removes the folders in dir/folder that none of the files lies in: projections of what has ended, whose archive is
// elsewhere. Files directly in the folder stay. It is for folders that hold nothing but projections. The errors are those
// of Write.
func Prune(dir, folder string, files []effect.ProjectedFile) error {
	root, err := openDir(dir)
	if err != nil {
		return failed(folder, err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return failed(folder, err)
	}
	live := map[string]bool{}
	for _, f := range files {
		if rest, ok := strings.CutPrefix(f.Path, folder+"/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			live[name] = true
		}
	}
	for _, e := range entries {
		if !e.IsDir() || live[e.Name()] {
			continue
		}
		if err := root.RemoveAll(path.Join(folder, e.Name())); err != nil {
			return failed(e.Name(), err)
		}
	}
	return nil
}
