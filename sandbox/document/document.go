// Package document reads and writes the text files that pawl and people share below .pawl: the knowledge base, solution
// packages and their archive. What is written was decided before, so that writing it again after a crash changes
// nothing; a file that somebody changed meanwhile is never written over; and no symbolic link leads anywhere.
package document

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/safeopen"
)

// Dir is pawl's folder in a workspace.
const Dir = ".pawl"

// Limits of what is read: the bytes of a document, and the number and the bytes of those that are read at once.
const (
	MaxFile  = 4 << 20
	MaxFiles = 20_000
	MaxTotal = 64 << 20
)

// Folder is pawl's folder of a workspace, held open. It is safe for concurrent use.
type Folder struct {
	root *safeopen.Root
}

// Open opens the folder of a workspace. The caller closes it. A folder that is a symbolic link is CodeDenied: what a
// repository brings must not say where pawl writes.
func Open(workspace string) (*Folder, error) {
	root, err := safeopen.OpenRoot(workspace, safeopen.WithInternal())
	if err != nil {
		return nil, err
	}
	info, err := root.Lstat(Dir)
	if err == nil && !info.IsDir() {
		err = pawl.Fail(pawl.CodeDenied, "orders.not_plain", Dir)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &Folder{root}, nil
}

// Close releases the folder.
func (f *Folder) Close() error { return f.root.Close() }

// Root is the whole workspace, in which names begin with Dir for what is pawl's.
func (f *Folder) Root() *safeopen.Root { return f.root }

// kept are names in .pawl that hold no documents.
var kept = []string{"git", "cache", "worktree", "worktrees", "tree", "trees", "tmp", "run", "lock", "config.yaml",
	".gitignore"}

// foreign are characters that no document has in its name, because some system reads them as something else.
const foreign = "\\\x00"

// at returns the name in the workspace of a path below .pawl, and refuses what is not the name of a document.
func (f *Folder) at(rel string) (string, error) {
	top, _, _ := strings.Cut(rel, "/")
	if rel == "" || path.Clean(rel) != rel || path.IsAbs(rel) || rel == "." || top == ".." ||
		strings.ContainsAny(rel, foreign) ||
		slices.Contains(kept, strings.ToLower(top)) || strings.HasPrefix(strings.ToLower(top), "pawl.db") {
		return "", pawl.Fail(pawl.CodeDenied, "orders.bad_path", rel)
	}
	name := path.Join(Dir, rel)
	for dir := path.Dir(name); dir != "." && dir != Dir; dir = path.Dir(dir) {
		info, err := f.root.Lstat(dir)
		if err == nil && !info.IsDir() {
			return "", pawl.Fail(pawl.CodeDenied, "orders.not_plain", dir)
		}
		if err != nil && pawl.CodeOf(err) != pawl.CodeNotFound {
			return "", err
		}
	}
	info, err := f.root.Lstat(name)
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return "", pawl.Fail(pawl.CodeDenied, "orders.not_plain", name)
	}
	if err != nil && pawl.CodeOf(err) != pawl.CodeNotFound {
		return "", err
	}
	return name, nil
}

// Read returns what a document says; ok is false where there is none.
func (f *Folder) Read(rel string) (data []byte, ok bool, err error) {
	name, err := f.at(rel)
	if err != nil {
		return nil, false, err
	}
	data, err = f.root.ReadFile(name, MaxFile)
	if pawl.CodeOf(err) == pawl.CodeNotFound {
		return nil, false, nil
	}
	return data, err == nil, err
}

// Exists reports whether there is anything by a name.
func (f *Folder) Exists(rel string) bool {
	_, err := f.root.Lstat(path.Join(Dir, rel))
	return err == nil
}

// List returns the names of what lies in a folder, folders with a slash behind them. A folder that is not there is
// empty. What cannot be named by a path of documents is left out, so that no odd name keeps anybody from the rest.
func (f *Folder) List(rel string) ([]string, error) {
	name := Dir
	if rel != "" {
		var err error
		if name, err = f.at(rel); err != nil {
			return nil, err
		}
	}
	entries, err := f.root.ReadDir(name)
	if pawl.CodeOf(err) == pawl.CodeNotFound {
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		switch {
		case strings.ContainsAny(e.Name(), foreign):
		case e.IsDir():
			out = append(out, e.Name()+"/")
		case e.Type().IsRegular():
			out = append(out, e.Name())
		}
	}
	return out, err
}

// Files reads the documents of a folder and of those below it, by their paths relative to the folder. Other things than
// regular files are left out, and so are odd names and what is too large to be a document. A folder with more than
// MaxFiles entries of any kind, or more than MaxTotal bytes of documents, is CodeInvalid.
func (f *Folder) Files(ctx context.Context, rel string) (map[string][]byte, error) {
	name, err := f.at(rel)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	seen, total := 0, 0
	err = f.root.Walk(ctx, name, func(at string, d fs.DirEntry) error {
		if seen++; seen > MaxFiles {
			return pawl.Fail(pawl.CodeInvalid, "orders.too_many", rel, MaxFiles)
		}
		odd := strings.ContainsAny(d.Name(), foreign)
		if d.IsDir() && odd {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() || odd {
			return nil
		}
		data, err := f.root.ReadFile(at, MaxFile)
		if code := pawl.CodeOf(err); code == pawl.CodeInvalid || code == pawl.CodeNotFound {
			return nil
		}
		if err != nil {
			return err
		}
		if total += len(data); total > MaxTotal {
			return pawl.Fail(pawl.CodeInvalid, "orders.too_much", rel, MaxTotal>>20)
		}
		out[strings.TrimPrefix(at, name+"/")] = data
		return nil
	})
	if pawl.CodeOf(err) == pawl.CodeNotFound {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Ready checks that documents can be written: every one is as it was when that was decided, or as it is to be. todo are
// those that are still to be written. A file that is neither is CodeConflict.
func (f *Folder) Ready(docs []effect.Document) (todo []effect.Document, err error) {
	for _, d := range docs {
		old, had, err := f.Read(d.Path)
		switch {
		case err != nil:
			return nil, err
		case had && string(old) == d.Content:
		case had && effect.Digest(old) == d.Was, !had && d.Was == "":
			todo = append(todo, d)
		default:
			return nil, pawl.Fail(pawl.CodeConflict, "orders.changed", path.Join(Dir, d.Path))
		}
	}
	return todo, nil
}

// Write writes documents, each whole and durably, and returns their names. Nothing is written unless all of them are
// Ready.
func (f *Folder) Write(ctx context.Context, docs []effect.Document) ([]string, error) {
	todo, err := f.Ready(docs)
	if err != nil {
		return nil, err
	}
	for _, d := range todo {
		if err := ctx.Err(); err != nil {
			return nil, pawl.Fail(pawl.CodeCanceled, "orders.canceled").Because(err)
		}
		if err := f.Put(d.Path, []byte(d.Content)); err != nil {
			return nil, err
		}
	}
	out := make([]string, 0, len(docs))
	for _, d := range docs {
		out = append(out, d.Path)
	}
	return out, nil
}

// Put writes one document, whatever was there.
func (f *Folder) Put(rel string, data []byte) error {
	name, err := f.at(rel)
	if err != nil {
		return err
	}
	if err := f.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	return f.root.WriteFile(name, data, 0)
}

// Move renames a folder, whose new name must be free.
func (f *Folder) Move(from, to string) error {
	source, err := f.at(from)
	if err != nil {
		return err
	}
	target, err := f.at(to)
	if err != nil {
		return err
	}
	if f.Exists(to) {
		return pawl.Fail(pawl.CodeConflict, "orders.taken", target)
	}
	if err := f.root.MkdirAll(path.Dir(target), 0o755); err != nil {
		return err
	}
	return f.root.Rename(source, target)
}

// Discard removes a folder that was being made and has no name of its own yet.
func (f *Folder) Discard(ctx context.Context, rel string) error {
	name, err := f.at(rel)
	if err != nil {
		return err
	}
	return Discard(ctx, f.root, name)
}

// Discard removes whatever stands at a name, a folder with all that is in it. Links are removed and not followed, the
// name itself included. That there is nothing is no error.
func Discard(ctx context.Context, root *safeopen.Root, name string) error {
	var all []string
	info, err := root.Lstat(name)
	if err == nil && info.IsDir() {
		err = root.Walk(ctx, name, func(at string, _ fs.DirEntry) error { all = append(all, at); return nil })
	}
	if err != nil && pawl.CodeOf(err) != pawl.CodeNotFound {
		return err
	}
	slices.Reverse(all)
	for _, at := range append(all, name) {
		if err := root.Remove(at); err != nil && pawl.CodeOf(err) != pawl.CodeNotFound {
			return err
		}
	}
	return nil
}
