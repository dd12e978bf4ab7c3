package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// meta is what a git tree cannot say of a folder: permissions beyond the executable bit, and empty folders. It is kept
// beside the object store under the tree's id, as it was when that tree was first seen.
type meta struct {
	known bool
	plain fs.FileMode            // permissions of new files
	exec  fs.FileMode            // permissions of new executable files
	modes map[string]fs.FileMode // permissions that differ from those
	empty map[string]bool        // folders that hold nothing
}

// perm is the permission that a file had; ok is false when it is not known.
func (m meta) perm(path string, exec bool) (perm fs.FileMode, ok bool) {
	if !m.known {
		return 0, false
	}
	if perm, ok := m.modes[path]; ok {
		return perm, true
	}
	if exec {
		return m.exec, m.exec != 0
	}
	return m.plain, m.plain != 0
}

func (r *repoPaths) metaFile(tree string) string { return filepath.Join(r.state("meta"), tree) }

// newMeta is the meta of a tree without files; usual is the permission of files that needs no mention.
func newMeta(usual fs.FileMode) meta {
	return meta{known: true, plain: usual, exec: withExec(usual, true), modes: map[string]fs.FileMode{}, empty: map[string]bool{}}
}

// note takes the permission of a file into account.
func (m meta) note(path string, perm fs.FileMode) {
	if perm != m.plain && perm != m.exec {
		m.modes[path] = perm
	}
}

// remember keeps the meta of a tree that is seen for the first time, which look finds out, given the usual permission.
func (r treeIndex) remember(tree string, look func(usual fs.FileMode) (meta, error)) error {
	path := r.paths.metaFile(tree)
	if exists(path) {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(r.paths.state("tmp"), "meta-"+filepath.Base(r.paths.indexFile)), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return ioError("git.snapshot", err)
	}
	defer os.Remove(f.Name())
	// What a new file gets is what most files have.
	info, err := f.Stat()
	if err == nil {
		var m meta
		if m, err = look(info.Mode().Perm()); err == nil {
			_, err = f.WriteString(m.String())
		}
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return ioError("git.snapshot", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return ioError("git.snapshot", err)
	}
	return nil
}

// inspect walks the tree; usual is the permission of its files that needs no mention. Ignored files and
// folders and nested repositories are not looked into. What vanishes meanwhile is
// not there; what cannot be read is left out, because its content, if recorded, has already been refused.
func inspect(tree string, usual fs.FileMode, ignored []string) (meta, error) {
	skip := make(map[string]bool, len(ignored))
	for _, path := range ignored {
		skip[strings.TrimSuffix(path, "/")] = true
	}
	w := walker{tree: tree, skip: skip, perms: map[string]fs.FileMode{}, empty: map[string]bool{}}
	if err := w.dir(""); err != nil {
		return meta{}, err
	}
	m := newMeta(usual)
	m.empty = w.empty
	for path, perm := range w.perms {
		m.note(path, perm)
	}
	return m, nil
}

type walker struct {
	tree  string
	skip  map[string]bool
	perms map[string]fs.FileMode
	empty map[string]bool
}

func (w *walker) dir(rel string) error {
	entries, err := os.ReadDir(filepath.Join(w.tree, filepath.FromSlash(rel)))
	if err != nil {
		if rel != "" && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)) {
			return nil
		}
		return err
	}
	if len(entries) == 0 && rel != "" {
		w.empty[rel] = true
	}
	if rel != "" {
		for _, e := range entries {
			if e.Name() == ".git" {
				return nil
			}
		}
	}
	for _, e := range entries {
		path := e.Name()
		if rel != "" {
			path = rel + "/" + path
		} else if path == ".git" || path == ".pawl" {
			continue
		}
		switch {
		case w.skip[path]:
		case e.IsDir():
			if err := w.dir(path); err != nil {
				return err
			}
		case e.Type().IsRegular():
			if info, err := e.Info(); err == nil {
				w.perms[path] = info.Mode().Perm()
			}
		}
	}
	return nil
}

// String is the stored form: records that end with NUL, each a letter and its arguments.
func (m meta) String() string {
	records := []string{"f " + octal(m.plain), "x " + octal(m.exec)}
	for path, perm := range m.modes {
		records = append(records, "m "+octal(perm)+" "+path)
	}
	for path := range m.empty {
		records = append(records, "d "+path)
	}
	sort.Strings(records)
	return strings.Join(records, "\x00") + "\x00"
}

func octal(m fs.FileMode) string { return strconv.FormatUint(uint64(m), 8) }

// recall reads the meta of a tree. Where there is none, or it is damaged, nothing is known and nothing is restored by it.
func (r treeIndex) recall(tree string) meta {
	raw, err := os.ReadFile(r.paths.metaFile(tree))
	if err != nil {
		return meta{}
	}
	m := meta{known: true, modes: map[string]fs.FileMode{}, empty: map[string]bool{}}
	for _, record := range fields(string(raw)) {
		kind, rest, _ := strings.Cut(record, " ")
		first, path, _ := strings.Cut(rest, " ")
		perm, err := strconv.ParseUint(first, 8, 9)
		switch {
		case kind == "d":
			m.empty[rest] = true
		case err != nil:
			return meta{}
		case kind == "f":
			m.plain = fs.FileMode(perm)
		case kind == "x":
			m.exec = fs.FileMode(perm)
		case kind == "m":
			m.modes[path] = fs.FileMode(perm)
		}
	}
	return m
}
