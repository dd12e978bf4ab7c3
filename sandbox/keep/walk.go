package keep

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"pawl/kernel/effect"
	"pawl/sandbox/git/program"
	"pawl/sandbox/safeopen"
)

// deciders are the folders that a lock file beside them decides, with the command that makes them anew.
var deciders = map[string][][2]string{
	"node_modules": {{"package-lock.json", "npm ci"}, {"npm-shrinkwrap.json", "npm ci"},
		{"yarn.lock", "yarn install"}, {"pnpm-lock.yaml", "pnpm install"}, {"bun.lock", "bun install"},
		{"bun.lockb", "bun install"}},
	".venv": {{"uv.lock", "uv sync"}, {"poetry.lock", "poetry install"}, {"Pipfile.lock", "pipenv sync"},
		{"pdm.lock", "pdm sync"}},
	"vendor": {{"composer.lock", "composer install"}, {"Gemfile.lock", "bundle install"}},
}

// walker lists a folder.
type walker struct {
	root     *os.Root
	recorded map[string]bool
	holds    map[string]bool // folders with something that is recorded
	closed   map[string]bool // folders whose insides are summed up; nil to find those that are large
	brief    bool            // nobody asks for the state of those
	limit    int64
}

// walk lists everything below the folder but .git and .pawl, in the order of paths. The insides of repositories of
// their own, and of what is closed, are only summed up.
func (f Folder) walk(recorded, closed map[string]bool, brief bool) ([]entry, error) {
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return nil, program.IOError("keep.look", err)
	}
	defer root.Close()
	w := walker{root: root, recorded: recorded, holds: map[string]bool{}, closed: closed, brief: brief, limit: f.Limit}
	for p := range recorded {
		for p = path.Dir(p); p != "." && !w.holds[p]; p = path.Dir(p) {
			w.holds[p] = true
		}
	}
	var out []entry
	if err := w.dir("", &out); err != nil {
		return nil, program.IOError("keep.look", err)
	}
	return out, nil
}

// list reads a folder; ok is false where it may not be read.
func (w *walker) list(rel string) (found []fs.DirEntry, ok bool, err error) {
	d, err := w.root.Open(path.Join(".", rel))
	if err == nil {
		found, err = d.ReadDir(-1)
		d.Close()
	}
	switch {
	case rel != "" && errors.Is(err, fs.ErrNotExist):
		return nil, true, nil
	case rel != "" && errors.Is(err, fs.ErrPermission):
		return nil, false, nil
	}
	slices.SortFunc(found, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return found, true, err
}

func (w *walker) dir(rel string, out *[]entry) error {
	found, _, err := w.list(rel)
	if err != nil {
		return err
	}
	for _, d := range found {
		if rel == "" && (d.Name() == ".git" || d.Name() == ".pawl") || safeopen.Unfinished(d.Name()) {
			continue
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := w.add(path.Join(rel, d.Name()), found, info, out); err != nil {
			return err
		}
	}
	return nil
}

// add lists one path, and what is in it. Beside is what stands in the same folder.
func (w *walker) add(p string, beside []fs.DirEntry, info fs.FileInfo, out *[]entry) (err error) {
	e := entryOf(p, info)
	e.Git = w.recorded[p]
	switch {
	case e.Mode&fs.ModeSymlink != 0:
		if e.Target, err = w.root.Readlink(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	case !e.Mode.IsDir():
		if e.Mode.Type()&(fs.ModeSocket|fs.ModeDevice) != 0 {
			e.Why = effect.UnkeptSpecial
		}
	case w.closed[p]:
		e.Why = effect.UnkeptLocked
		if e.How = w.decided(p, beside); e.How == "" {
			e.Why = effect.UnkeptNested
		}
		if !w.brief {
			return w.sum(&e, out)
		}
	default:
		inside, ok, err := w.list(p)
		switch {
		case err != nil:
			return err
		case !ok:
			e.Why, e.Sum = effect.UnkeptUnreadable, "?"
		case slices.ContainsFunc(inside, func(d fs.DirEntry) bool { return d.Name() == ".git" }):
			if e.Why = effect.UnkeptNested; w.brief {
				break
			}
			return w.sum(&e, out)
		default:
			return w.open(e, beside, out)
		}
	}
	*out = append(*out, e)
	return nil
}

// open lists a folder with what is in it, unless a lock file decides that and it is large.
func (w *walker) open(e entry, beside []fs.DirEntry, out *[]entry) error {
	how := w.decided(e.Path, beside)
	if w.brief || how == "" || w.holds[e.Path] {
		*out = append(*out, e)
		return w.dir(e.Path, out)
	}
	var inside []entry
	if err := w.dir(e.Path, &inside); err != nil {
		return err
	}
	var size int64
	for _, f := range inside {
		size += f.Size
	}
	if len(inside) > mostLocked || size > w.limit/2 {
		if w.closed == nil {
			e.Why, e.How = effect.UnkeptLocked, how
			e.summed(inside)
			*out = append(*out, e)
			return nil
		}
		for i := range inside {
			if inside[i].Mode.IsRegular() {
				inside[i].Why, inside[i].How = effect.UnkeptLocked, how
			}
		}
	}
	*out = append(append(*out, e), inside...)
	return nil
}

// decided is the command that makes a folder anew by the lock file beside it, "" where there is none.
func (w *walker) decided(p string, beside []fs.DirEntry) string {
	for _, by := range deciders[path.Base(p)] {
		if slices.ContainsFunc(beside, func(d fs.DirEntry) bool { return d.Name() == by[0] }) {
			return by[1]
		}
	}
	return ""
}

// sum lists a folder as one, with the state of all that is in it.
func (w *walker) sum(e *entry, out *[]entry) error {
	var inside []entry
	all := walker{root: w.root, brief: true}
	if err := all.dir(e.Path, &inside); err != nil {
		return err
	}
	e.summed(inside)
	*out = append(*out, *e)
	return nil
}

// summed notes the state of what is in a folder.
func (e *entry) summed(inside []entry) {
	h := sha256.New()
	e.Size = 0
	for _, f := range inside {
		fmt.Fprintf(h, "%q %o %d %d %d %q\n", f.Path, f.Mode, f.Ino, f.Size, f.MTime, f.Target)
		if f.Mode.IsDir() {
			continue
		}
		e.Size += f.Size
	}
	e.Sum, e.Links = hex.EncodeToString(h.Sum(nil)), uint64(len(inside))
}
