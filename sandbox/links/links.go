// Package links shows a folder elsewhere by links to what is in it, where nothing can be mounted.
package links

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Make fills a directory with links to what is in a folder, as linksTo says.
func Make(root *os.Root, rel, from string) error {
	list, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range list {
		name, source := filepath.Join(rel, e.Name()), filepath.Join(from, e.Name())
		to, err := linksTo(e, source)
		switch {
		case err != nil:
			return err
		case to != "":
			err = root.Symlink(to, name)
		case scope(e):
			if err = root.Mkdir(name, 0o755); err == nil {
				err = Make(root, name, source)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// linksTo is where the link leads that stands for an entry. A link is made anew with the same target, so that one that
// leads up leads into the tree around the directory. It is "" for the folder of a scope, in which packages of a
// workspace are linked and which is made with links of its own, and for caches, which are for the command to fill.
func linksTo(e os.DirEntry, source string) (string, error) {
	switch {
	case e.Name() == ".cache" || scope(e):
		return "", nil
	case e.Type()&os.ModeSymlink != 0:
		return os.Readlink(source)
	}
	return source, nil
}

// scope reports whether an entry is the folder of a scope of packages ("@name").
func scope(e os.DirEntry) bool { return e.IsDir() && strings.HasPrefix(e.Name(), "@") }

// Only reports whether a directory holds nothing but what Make makes.
func Only(root *os.Root, rel, from string) bool {
	dir, err := root.Open(rel)
	if err != nil {
		return false
	}
	list, err := dir.ReadDir(-1)
	_ = dir.Close()
	if err != nil {
		return false
	}
	for _, e := range list {
		name, source := filepath.Join(rel, e.Name()), filepath.Join(from, e.Name())
		info, err := os.Lstat(source)
		if err != nil {
			return false
		}
		if scope(e) {
			if !Only(root, name, source) {
				return false
			}
			continue
		}
		want, err := linksTo(fs.FileInfoToDirEntry(info), source)
		if got, lost := root.Readlink(name); err != nil || lost != nil || got != want {
			return false
		}
	}
	return true
}
