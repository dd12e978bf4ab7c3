// Package meta is what a git tree cannot say of a folder, and the form in which that is kept.
package meta

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"pawl/sandbox/git/program"
)

// Meta is what a git tree cannot say of a folder: permissions beyond the executable bit, and empty folders. It is kept
// beside the object store under the tree's id, as it was when that tree was first seen.
type Meta struct {
	Known bool                   // whether anything was found out
	plain fs.FileMode            // permissions of new files
	exec  fs.FileMode            // permissions of new executable files
	Modes map[string]fs.FileMode // permissions that differ from those
	Empty map[string]bool        // folders that hold nothing
}

// Perm is the permission that a file had; ok is false when it is not known.
func (m Meta) Perm(path string, exec bool) (perm fs.FileMode, ok bool) {
	if !m.Known {
		return 0, false
	}
	if perm, ok := m.Modes[path]; ok {
		return perm, true
	}
	if exec {
		return m.exec, m.exec != 0
	}
	return m.plain, m.plain != 0
}

// New is the meta of a tree without files; usual is the permission of files that needs no mention.
func New(usual fs.FileMode) Meta {
	return Meta{Known: true, plain: usual, exec: WithExec(usual, true), Modes: map[string]fs.FileMode{},
		Empty: map[string]bool{}}
}

// Note takes the permission of a file into account.
func (m Meta) Note(path string, perm fs.FileMode) {
	if perm != m.plain && perm != m.exec {
		m.Modes[path] = perm
	}
}

// Inspect walks the tree; usual is the permission of its files that needs no mention. Ignored files and
// folders and nested repositories are not looked into. What vanishes meanwhile is
// not there; what cannot be read is left out, because its content, if recorded, has already been refused.
func Inspect(tree string, usual fs.FileMode, ignored []string) (Meta, error) {
	skip := make(map[string]bool, len(ignored))
	for _, path := range ignored {
		skip[strings.TrimSuffix(path, "/")] = true
	}
	w := walker{tree: tree, skip: skip, perms: map[string]fs.FileMode{}, empty: map[string]bool{}}
	if err := w.dir(""); err != nil {
		return Meta{}, err
	}
	m := New(usual)
	m.Empty = w.empty
	for path, perm := range w.perms {
		m.Note(path, perm)
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
func (m Meta) String() string {
	records := []string{"f " + octal(m.plain), "x " + octal(m.exec)}
	for path, perm := range m.Modes {
		records = append(records, "m "+octal(perm)+" "+path)
	}
	for path := range m.Empty {
		records = append(records, "d "+path)
	}
	sort.Strings(records)
	return strings.Join(records, "\x00") + "\x00"
}

func octal(m fs.FileMode) string { return strconv.FormatUint(uint64(m), 8) }

// WithExec sets the executable bits where reading is allowed, or clears them all.
func WithExec(perm fs.FileMode, exec bool) fs.FileMode {
	if !exec {
		return perm &^ 0o111
	}
	if perm&0o111 == 0 {
		perm |= perm & 0o444 >> 2
	}
	return perm | 0o100
}

// Parse reads the stored form. From one that is damaged nothing is known.
func Parse(stored string) Meta {
	m := Meta{Known: true, Modes: map[string]fs.FileMode{}, Empty: map[string]bool{}}
	for _, record := range program.Fields(stored) {
		kind, rest, _ := strings.Cut(record, " ")
		first, path, _ := strings.Cut(rest, " ")
		perm, err := strconv.ParseUint(first, 8, 9)
		switch {
		case kind == "d":
			m.Empty[rest] = true
		case err != nil:
			return Meta{}
		case kind == "f":
			m.plain = fs.FileMode(perm)
		case kind == "x":
			m.exec = fs.FileMode(perm)
		case kind == "m":
			m.Modes[path] = fs.FileMode(perm)
		}
	}
	return m
}

// Remember writes the meta of a tree to a file, unless it is there. Look finds it out, given the usual permission. It
// overwrites and removes a file at temp.
func Remember(path, temp string, look func(usual fs.FileMode) (Meta, error)) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return program.IOError("git.snapshot", err)
	}
	defer os.Remove(temp)
	// Most files have the permission that a new file gets.
	info, err := f.Stat()
	if err == nil {
		var m Meta
		if m, err = look(info.Mode().Perm()); err == nil {
			_, err = f.WriteString(m.String())
		}
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return program.IOError("git.snapshot", err)
	}
	return nil
}

// Recall reads the meta of a tree. Where there is none, or it is damaged, nothing is known and nothing is restored by
// it.
func Recall(path string) Meta {
	raw, err := os.ReadFile(path)
	if err != nil {
		return Meta{}
	}
	return Parse(string(raw))
}
