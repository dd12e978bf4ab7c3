// Package keep keeps what git does not record of a person's own folder while a run works in it: files that are ignored,
// empty folders, permissions of all kinds, hard links. A keep belongs to a checkpoint. It lists the whole folder as it
// stood, and holds the contents of what no snapshot has: shared with the file where the file system can do that, as
// copies elsewhere, up to a limit. What is larger is only listed, so that it can be told afterwards what became of it.
// A keep is never linked to the person's files, so that nothing that writes into one of them writes into the keep.
//
// What a run changed is what differs between the list of its keep and the list of how it left the folder (Note). Only
// that is brought back, and only where it still stands as it was left.
package keep

import (
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/git/program"
	"pawl/store/disk"
	"pawl/store/owndir"
)

// entry is what a path was.
type entry struct {
	Path         string
	Mode         fs.FileMode // type and all bits
	Size         int64
	MTime, CTime int64 // in nanoseconds
	Dev, Ino     uint64
	Links        uint64
	UID, GID     int
	Target       string // of a symbolic link
	Git          bool   // a snapshot has its content
	File         string // where the keep has its content, "" where it does not
	Why          string // why it does not: one of the reasons of effect.Unkept
	How          string // the command that makes a folder anew
	Sum          string // the state of a folder whose insides are not listed, with their number in Links
}

// Folder is a person's folder with its keeps. It is safe for concurrent use by those who hold the ownership of the
// workspace, of whom there is one.
type Folder struct {
	Dir string
	// State is pawl's own directory for the workspace, which has the keeps.
	State string
	// Limit is how many bytes a keep may copy. What the file system shares does not count.
	Limit int64
}

// The bounds of a keep: how many files it may hold, and how many a folder that a lock file decides may have to be kept
// like any other.
const (
	mostFiles  = 20_000
	mostLocked = 5_000
	mostKeeps  = 16
)

func (f Folder) home() string { return filepath.Join(f.State, "git", "kept") }

func (f Folder) at(name, file string) string { return filepath.Join(f.home(), name, file) }

// The files of a keep: its list, how the folder was left, and the contents.
const (
	listFile = "list"
	leftFile = "left"
	contents = "files"
)

// left is how a folder was left, by a run or by what brought it back; that has said something.
type left struct {
	Entries []entry
	Said    effect.IgnoredBack
}

// Make lists the folder and keeps what recorded, the paths that a snapshot holds, does not have. It says what is not
// kept. A keep that is there already is left as it is. With like, an older keep, the same folders are summed up as
// there and no others, so that the two can be compared.
func (f Folder) Make(ctx context.Context, name string, recorded map[string]bool,
	like string) ([]effect.Unkept, error) {
	if list, err := load[[]entry](f.at(name, listFile)); err == nil {
		return unkept(list), nil
	}
	var closed map[string]bool
	if like != "" {
		list, err := load[[]entry](f.at(like, listFile))
		if err != nil {
			return nil, program.IOError("keep.make", err)
		}
		closed = sums(list)
	}
	list, err := f.walk(recorded, closed, false)
	if err != nil {
		return nil, err
	}
	if err := f.prune(name, like); err != nil {
		return nil, err
	}
	program.Step(ctx, "keep files")
	half := f.at(name+".half", "")
	if err := errors.Join(f.discard(name+".half"), disk.Mkdir(f.State, filepath.Join(half, contents), 0o700)); err != nil {
		return nil, program.IOError("keep.make", err)
	}
	if err := f.fill(ctx, filepath.Join(half, contents), list); err != nil {
		return nil, err
	}
	err = save(filepath.Join(half, listFile), list)
	program.Step(ctx, "name keep")
	if err = errors.Join(err, f.discard(name)); err == nil {
		err = os.Rename(half, f.at(name, ""))
	}
	if err != nil {
		return nil, program.IOError("keep.make", err)
	}
	return unkept(list), nil
}

// Foresee says what a keep that is made now would not hold.
func (f Folder) Foresee(recorded map[string]bool) ([]effect.Unkept, error) {
	list, err := f.walk(recorded, nil, false)
	if err != nil {
		return nil, err
	}
	room, files := f.Limit, 0
	for _, i := range bySize(list) {
		list[i].Why = f.refuse(list[i], &room, &files)
	}
	return unkept(list), nil
}

// refuse is why a content is not copied, "" where it may be.
func (f Folder) refuse(e entry, room *int64, files *int) string {
	switch {
	case *files >= mostFiles:
		return effect.UnkeptMany
	case e.Size > *room:
		return effect.UnkeptLarge
	}
	*room -= e.Size
	*files++
	return ""
}

// bySize are the places of the files whose contents a keep has to hold, the smallest first.
func bySize(list []entry) []int {
	var out []int
	for i, e := range list {
		if e.Mode.IsRegular() && !e.Git && e.Why == "" {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(list[a].Size, list[b].Size) })
	return out
}

// fill keeps the contents. What an older keep has of the same file is taken from there, so that keeps share what did
// not change between them.
func (f Folder) fill(ctx context.Context, dir string, list []entry) error {
	older := f.newest()
	room, files := f.Limit, 0
	for n, i := range bySize(list) {
		if ctx.Err() != nil {
			return pawl.Fail(pawl.CodeCanceled, "runner.canceled").Because(ctx.Err())
		}
		e := &list[i]
		to, name := "", strconv.Itoa(n)
		to = filepath.Join(dir, name)
		if from, ok := older[e.Path]; ok && same(from.entry, *e) && os.Link(from.file, to) == nil {
			e.File = name
			continue
		}
		shared, err := share(to, filepath.Join(f.Dir, filepath.FromSlash(e.Path)))
		if err == nil && !shared {
			if e.Why = f.refuse(*e, &room, &files); e.Why != "" {
				continue
			}
			err = copyTo(to, filepath.Join(f.Dir, filepath.FromSlash(e.Path)), e.Size)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, errGrown):
			e.Why = effect.UnkeptUnreadable
		case err != nil:
			return program.IOError("keep.make", err)
		default:
			e.File = name
		}
	}
	return nil
}

// held is a content that a keep has.
type held struct {
	entry
	file string
}

// newest is what the newest keep has.
func (f Folder) newest() map[string]held {
	names := f.names()
	if len(names) == 0 {
		return nil
	}
	list, err := load[[]entry](f.at(names[0], listFile))
	if err != nil {
		return nil
	}
	out := map[string]held{}
	for _, e := range list {
		if e.File != "" {
			out[e.Path] = held{e, filepath.Join(f.at(names[0], contents), e.File)}
		}
	}
	return out
}

// names are the keeps that are there, the newest first.
func (f Folder) names() []string {
	found, _ := os.ReadDir(f.home())
	at := map[string]time.Time{}
	var out []string
	for _, d := range found {
		if info, err := os.Stat(f.at(d.Name(), listFile)); err == nil && path.Ext(d.Name()) == "" {
			at[d.Name()] = info.ModTime()
			out = append(out, d.Name())
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(at[b].Compare(at[a]), cmp.Compare(b, a)) })
	return out
}

// prune removes all but the newest keeps and those that are spared.
func (f Folder) prune(spare ...string) error {
	names := f.names()
	for _, name := range names[min(len(names), mostKeeps):] {
		if !slices.Contains(spare, name) {
			if err := f.Drop(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// Has reports whether there is a keep of a name.
func (f Folder) Has(name string) bool {
	_, err := os.Lstat(f.at(name, listFile))
	return name != "" && err == nil
}

// Drop removes a keep.
func (f Folder) Drop(name string) error {
	if name == "" || filepath.Base(name) != name {
		return nil
	}
	if err := f.discard(name); err != nil {
		return program.IOError("keep.drop", err)
	}
	return nil
}

// discard removes a folder of keeps without following a link.
func (f Folder) discard(name string) error {
	return owndir.RemoveAll(f.State, filepath.Join("git", "kept", name))
}

// Note keeps how the folder stands now, as what the run of a keep left.
func (f Folder) Note(ctx context.Context, name string) error {
	list, err := load[[]entry](f.at(name, listFile))
	if err != nil {
		return program.IOError("keep.note", err)
	}
	now, err := f.walk(nil, sums(list), true)
	if err != nil {
		return err
	}
	program.Step(ctx, "note folder")
	return f.leave(name, left{Entries: now})
}

func (f Folder) leave(name string, l left) error {
	if err := save(f.at(name, leftFile), l); err != nil {
		return program.IOError("keep.note", err)
	}
	return nil
}

// sums are the folders of a list whose insides are not listed.
func sums(list []entry) map[string]bool {
	out := map[string]bool{}
	for _, e := range list {
		if e.Sum != "" {
			out[e.Path] = true
		}
	}
	return out
}

func unkept(list []entry) (out []effect.Unkept) {
	for _, e := range list {
		if e.Why != "" {
			out = append(out, effect.Unkept{Path: e.Path, Size: e.Size, Why: e.Why, How: e.How})
		}
	}
	return effect.Folded(out)
}

// load reads what save wrote.
func load[T any](file string) (v T, err error) {
	in, err := os.Open(file)
	if err != nil {
		return v, err
	}
	defer in.Close()
	return v, gob.NewDecoder(in).Decode(&v)
}

// save writes a value whole or not at all.
func save(file string, v any) error {
	out, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	err = gob.NewEncoder(out).Encode(v)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), file)
}

// errGrown says that a file became larger while it was copied.
var errGrown = errors.New("the file grew while it was kept")

// copyTo copies a content of a size.
func copyTo(to, from string, size int64) error {
	in, err := openPlain(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, size+1))
	if err == nil && n > size {
		err = errGrown
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}
