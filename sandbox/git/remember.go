package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"pawl/sandbox/git/layout"
	"pawl/sandbox/git/meta"
	"pawl/sandbox/git/program"
)

// remember keeps the meta of a tree that is seen for the first time, which look finds out, given the usual permission.
func (r treeIndex) remember(tree string, look func(usual fs.FileMode) (meta.Meta, error)) error {
	path := r.paths.MetaFile(tree)
	if layout.Exists(path) {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(r.paths.State("tmp"), "meta-"+filepath.Base(r.paths.IndexFile)),
		os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return program.IOError("git.snapshot", err)
	}
	defer os.Remove(f.Name())
	// What a new file gets is what most files have.
	info, err := f.Stat()
	if err == nil {
		var m meta.Meta
		if m, err = look(info.Mode().Perm()); err == nil {
			_, err = f.WriteString(m.String())
		}
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return program.IOError("git.snapshot", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return program.IOError("git.snapshot", err)
	}
	return nil
}

// recall reads the meta of a tree. Where there is none, or it is damaged, nothing is known and nothing is restored by
// it.
func (r treeIndex) recall(tree string) meta.Meta {
	raw, err := os.ReadFile(r.paths.MetaFile(tree))
	if err != nil {
		return meta.Meta{}
	}
	return meta.Parse(string(raw))
}
