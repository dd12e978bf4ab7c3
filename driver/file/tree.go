package file

import (
	"errors"
	"io/fs"
	"path"
	"syscall"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/ignore"
	"pawl/sandbox/safeopen"
)

// defaultTimeMS is the time that a call on files may take, in milliseconds.
const defaultTimeMS = 30_000

// tree is the workspace on disk. It follows no symbolic link in any part of a path.
type tree struct {
	root   *safeopen.Root
	hidden *ignore.Hidden
}

// openTree opens the tree of a place. The caller closes it.
func openTree(at effect.Place) (tree, error) {
	root, err := safeopen.OpenRoot(at.Tree)
	if err != nil {
		return tree{}, err
	}
	hidden, err := ignore.Open(root, at.Workspace)
	if err != nil {
		_ = root.Close() // the first error counts
		return tree{}, err
	}
	return tree{root, hidden}, nil
}

func (t tree) close() {
	t.hidden.Close()
	_ = t.root.Close() // what was written is on disk, or was told of
}

// shown is the tree as calls are told of it: without what .pawlignore hides. What was written before it was hidden can
// be undone.
type shown struct{ of tree }

// look implements source.
func (s shown) look(rel string) (content, error) {
	if err := s.of.hidden.Refuse(rel); err != nil {
		return content{}, err
	}
	return s.of.look(rel)
}

// stat returns what stands at a clean path, nil where nothing does. A path that leads through a symbolic link is
// refused.
func (t tree) stat(rel string) (fs.FileInfo, error) {
	real, err := t.root.Resolve(rel)
	if err == nil && real != rel {
		return nil, pawl.Fail(pawl.CodeDenied, "file.is_link", rel, real).In("file.open")
	}
	var info fs.FileInfo
	if err == nil {
		info, err = t.root.Lstat(rel)
	}
	if pawl.CodeOf(err) == pawl.CodeNotFound || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	return info, err
}

// look implements source.
func (t tree) look(rel string) (content, error) {
	info, err := t.stat(rel)
	if err != nil || info == nil {
		return content{}, err
	}
	switch {
	case info.IsDir():
		return content{dir: true}, nil
	case !info.Mode().IsRegular():
		return content{}, pawl.Fail(pawl.CodeInvalid, "file.not_regular", rel).In("file.open")
	case info.Size() > maxFile:
		return content{}, pawl.Fail(pawl.CodeInvalid, "file.too_large", rel, maxFile>>20).In("file.open")
	}
	data, err := t.root.ReadFile(rel, maxFile)
	if err != nil {
		return content{}, err
	}
	return content{exists: true, data: data, mode: uint32(info.Mode().Perm())}, nil
}

// missing returns the folders that a file at rel needs and that are not there, outermost first.
func (t tree) missing(rel string) ([]string, error) {
	var out []string
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
		info, err := t.stat(dir)
		if err != nil {
			return nil, err
		}
		if info != nil {
			break
		}
		out = append([]string{dir}, out...)
	}
	return out, nil
}

// write makes a file hold what it should, with the folders that it needs.
func (t tree) write(rel string, c content) error {
	if !c.exists {
		return t.root.Remove(rel)
	}
	if dir := path.Dir(rel); dir != "." {
		if err := t.root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return t.root.WriteFile(rel, c.data, fs.FileMode(c.mode))
}

// prune removes folders that a call had made, innermost first, as far as they are empty.
func (t tree) prune(dirs []string) error {
	for i := len(dirs) - 1; i >= 0; i-- {
		entries, err := t.root.ReadDir(dirs[i])
		if pawl.CodeOf(err) == pawl.CodeNotFound {
			continue
		}
		if err != nil {
			return err
		}
		if len(entries) > 0 {
			continue
		}
		if err := t.root.Remove(dirs[i]); err != nil {
			return err
		}
	}
	return nil
}
