package keep

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/git/program"
	"pawl/sandbox/safeopen"
)

// Finished is what a restoration said whose safety keep has that name, nil where none was brought to its end.
func (f Folder) Finished(safety string) *effect.IgnoredBack {
	l, err := load[left](f.at(safety, leftFile))
	if err != nil {
		return nil
	}
	return &l.Said
}

// Bring brings back what a run, or an earlier restoration, changed since the keep of that name, as far as it still is
// as that left it. What is recorded is restored by git in between. The keep safety holds the folder before the first
// attempt: what is decided is decided by it, so that a repetition after a crash does the same.
func (f Folder) Bring(ctx context.Context, name, safety string, git func() error) (effect.IgnoredBack, error) {
	said := effect.IgnoredBack{Kept: safety}
	b, err := f.back(name, safety)
	if err != nil {
		return said, err
	}
	defer b.root.Close()
	if err := b.unlock(); err != nil {
		return said, program.IOError("keep.back", err)
	}
	if err = git(); pawl.CodeOf(err) == pawl.CodeConflict {
		if aside := b.inTheWay(); len(aside) > 0 {
			if err = b.remove(ctx, aside); err == nil {
				err = git()
			}
			if err != nil {
				return said, errors.Join(err, b.putBack(ctx, aside), b.lock())
			}
		}
	}
	if err != nil {
		return said, errors.Join(err, b.lock())
	}
	if err := b.all(ctx); err != nil {
		return said, program.IOError("keep.back", err)
	}
	said.Back = b.count
	if said.Lost, err = b.lost(); err != nil {
		return said, err
	}
	return said, f.settle(ctx, b, said)
}

// settle notes how the folder was left, which says that all is done.
func (f Folder) settle(ctx context.Context, b *back, said effect.IgnoredBack) error {
	now, err := f.walk(nil, b.closed, true)
	if err != nil {
		return err
	}
	program.Step(ctx, "end keep")
	return f.leave(said.Kept, left{Entries: now, Said: said})
}

// back is one restoration at work: what each path was when the keep was made, as the run left it, and when the
// restoration began.
type back struct {
	f              Folder
	root           *os.Root
	then, run, now map[string]entry
	from, safe     string          // where the contents of then and of now are
	ours           []string        // what the run changed and nobody since, in the order of paths
	foreign        map[string]bool // what both changed
	closed         map[string]bool
	unable         []effect.Unkept
	count          int
}

func (f Folder) back(name, safety string) (*back, error) {
	then, err := load[[]entry](f.at(name, listFile))
	if err != nil {
		return nil, program.IOError("keep.back", err)
	}
	run, err := load[left](f.at(name, leftFile))
	if errors.Is(err, fs.ErrNotExist) {
		run.Entries, err = then, nil // nothing was done
	}
	if err != nil {
		return nil, program.IOError("keep.back", err)
	}
	now, err := load[[]entry](f.at(safety, listFile))
	if err != nil {
		return nil, program.IOError("keep.back", err)
	}
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return nil, program.IOError("keep.back", err)
	}
	b := &back{f: f, root: root, then: indexed(then), run: indexed(run.Entries), now: indexed(now),
		from: f.at(name, contents), safe: f.at(safety, contents), foreign: map[string]bool{}, closed: sums(then)}
	b.compare()
	return b, nil
}

func indexed(list []entry) map[string]entry {
	out := make(map[string]entry, len(list))
	for _, e := range list {
		out[e.Path] = e
	}
	return out
}

// same reports whether two entries are one thing that nobody touched in between.
func same(a, b entry) bool {
	switch {
	case a.Mode != b.Mode || a.Path != b.Path:
		return false
	case a.Mode.IsRegular():
		return a.Ino == b.Ino && a.Size == b.Size && a.MTime == b.MTime && a.CTime == b.CTime
	}
	return a.Target == b.Target
}

// compare finds what is to be brought back.
func (b *back) compare() {
	all := map[string]bool{}
	for _, list := range []map[string]entry{b.then, b.run} {
		for p := range list {
			all[p] = true
		}
	}
	for p := range all {
		then, was := b.then[p]
		run, left := b.run[p]
		now, stands := b.now[p]
		switch {
		case was && then.Mode.IsDir() && then.Sum == "" && stands && same(then, now):
			b.ours = append(b.ours, p) // git may remove it, and make it anew
		case then.Sum != "" || was && left && same(then, run) || b.below(p):
		case left == stands && same(run, now):
			b.ours = append(b.ours, p)
			b.count++
		case was == stands && same(then, now):
		default:
			b.foreign[p] = true
		}
	}
	slices.Sort(b.ours)
}

// below reports whether a path is in a folder whose insides are not listed.
func (b *back) below(p string) bool {
	for p = path.Dir(p); p != "."; p = path.Dir(p) {
		if b.closed[p] {
			return true
		}
	}
	return false
}

// locked are the folders in which the run left no way to work.
func (b *back) locked() (out []entry) {
	for _, p := range b.ours {
		if e, ok := b.now[p]; ok && e.Mode.IsDir() && e.Mode.Perm()&0o700 != 0o700 {
			out = append(out, e)
		}
	}
	return out
}

// unlock opens them, and lock undoes that.
func (b *back) unlock() (err error) {
	for _, e := range b.locked() {
		if info, ok, _ := b.look(e.Path); ok && info.IsDir() {
			err = errors.Join(err, b.root.Chmod(e.Path, e.Mode|0o700))
		}
	}
	return err
}

func (b *back) lock() (err error) {
	for _, e := range slices.Backward(b.locked()) {
		if info, ok, _ := b.look(e.Path); ok && info.IsDir() {
			err = errors.Join(err, b.root.Chmod(e.Path, e.Mode))
		}
	}
	return err
}

// going reports whether what stands at a path, unless git has it, did not when the keep was made.
func (b *back) going(p string) bool {
	then, was := b.then[p]
	now, stands := b.now[p]
	return stands && !now.Git && (!was || then.Mode.Type() != now.Mode.Type())
}

// inTheWay is what the run left where git has files to restore.
func (b *back) inTheWay() (out []string) {
	above := map[string]bool{}
	for p, e := range b.then {
		for at := p; e.Git && at != "."; at = path.Dir(at) {
			above[at] = true
		}
	}
	for _, p := range b.ours {
		way := above[p]
		for at := path.Dir(p); at != "." && !way; at = path.Dir(at) {
			way = b.then[at].Git
		}
		if way && b.going(p) {
			out = append(out, p)
		}
	}
	return out
}

// remove removes what the run left, as far as it is still that, the deepest first. A folder that holds something stays.
func (b *back) remove(ctx context.Context, paths []string) error {
	for _, p := range slices.Backward(paths) {
		was := b.now[p]
		info, ok, err := b.look(p)
		at := was
		if ok && was.Links > 1 {
			at.CTime = b.entry(p, info).CTime // another name of the file went
		}
		switch {
		case err != nil:
			return err
		case !ok || info.Mode().Type() != was.Mode.Type():
			continue
		case !was.Mode.IsDir() && !same(at, b.entry(p, info)):
			continue
		}
		program.Step(ctx, "remove file")
		if was.Sum != "" {
			b.unable = append(b.unable, effect.Unkept{Path: p, Size: was.Size, Why: was.Why})
			continue
		}
		if err := b.aside(p); err != nil {
			return err
		}
		if err := b.root.Remove(p); err != nil && !was.Mode.IsDir() && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// aside moves what was too large to be kept before the restoration to what was, so that the restoration loses nothing.
func (b *back) aside(p string) error {
	e, ok := b.now[p]
	if info, there, err := b.look(p); !ok || e.Git || e.File != "" || !e.Mode.IsRegular() || !there || err != nil ||
		!info.Mode().IsRegular() {
		return err
	}
	return move(filepath.Join(b.safe, moved(p)), filepath.Join(b.f.Dir, filepath.FromSlash(p)), e.Size)
}

// moved is the name under which a keep has a content that was moved to it.
func moved(p string) string {
	sum := sha256.Sum256([]byte(p))
	return "moved-" + hex.EncodeToString(sum[:12])
}

// move moves a file, from one file system to another as well.
func move(to, from string, size int64) error {
	if os.Rename(from, to) == nil {
		return nil
	}
	if err := copyTo(to, from, size); err != nil {
		return err
	}
	return os.Remove(from)
}

// putBack undoes remove.
func (b *back) putBack(ctx context.Context, paths []string) error {
	for _, p := range paths {
		if err := b.put(ctx, b.now[p], b.safe); err != nil {
			return program.IOError("keep.back", err)
		}
	}
	return nil
}

// look says what stands at a path, without following anything.
func (b *back) look(p string) (fs.FileInfo, bool, error) {
	for i, c := range p {
		if c != '/' {
			continue
		}
		if info, err := b.root.Lstat(p[:i]); err != nil || !info.IsDir() {
			return nil, false, nil
		}
	}
	info, err := b.root.Lstat(p)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, false, nil
	}
	return info, err == nil, err
}

func (b *back) entry(p string, info fs.FileInfo) entry {
	e := entryOf(p, info)
	if e.Mode&fs.ModeSymlink != 0 {
		e.Target, _ = b.root.Readlink(p) // a link that went away is another one
	}
	return e
}

// all brings everything back that git does not.
func (b *back) all(ctx context.Context) error {
	var going []string
	for _, p := range b.ours {
		if b.going(p) {
			going = append(going, p)
		}
	}
	if err := b.remove(ctx, going); err != nil {
		return err
	}
	for _, p := range b.ours {
		if then, was := b.then[p]; was && !then.Git {
			if err := b.put(ctx, then, b.from); err != nil {
				return err
			}
		}
	}
	if err := b.link(ctx); err != nil {
		return err
	}
	for _, p := range slices.Backward(b.ours) {
		if then, was := b.then[p]; was && then.Mode&fs.ModeSymlink == 0 {
			if err := b.mode(ctx, then); err != nil {
				return err
			}
		}
	}
	return nil
}

// put makes a path what it was. What cannot be made is noted.
func (b *back) put(ctx context.Context, e entry, from string) error {
	info, there, err := b.look(e.Path)
	if err != nil {
		return err
	}
	if there && info.Mode().Type() != e.Mode.Type() {
		b.foreign[e.Path] = true // it came just now, or holds what came
		return nil
	}
	dir, name, err := b.parent(e.Path)
	if errors.Is(err, safeopen.ErrInWay) {
		b.foreign[e.Path] = true
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	temp := safeopen.Temporary()
	switch {
	case e.Mode.IsDir():
		if !there {
			err = dir.Mkdir(name, 0o700)
		}
	case e.Mode&fs.ModeSymlink != 0:
		if at, _ := dir.Readlink(name); !there || at != e.Target {
			program.Step(ctx, "write file")
			err = errors.Join(dir.Symlink(e.Target, temp), dir.Rename(temp, name))
		}
	case e.Mode&fs.ModeNamedPipe != 0:
		if !there {
			err = makePipe(filepath.Join(b.f.Dir, filepath.FromSlash(e.Path)), 0o600)
		}
	case e.File == "" && !b.returned(e, from):
		if !there || !same(e, b.entry(e.Path, info)) {
			b.unable = append(b.unable, effect.Unkept{Path: e.Path, Size: e.Size, Why: e.Why, How: e.How})
		}
	case e.File != "":
		err = b.write(ctx, e, dir, name, temp, filepath.Join(from, e.File))
	}
	if errors.Is(err, errors.ErrUnsupported) {
		b.unable = append(b.unable, effect.Unkept{Path: e.Path, Why: effect.UnkeptSpecial})
		return nil
	}
	return err
}

// returned moves a content back that was moved to a keep, and reports whether there was one.
func (b *back) returned(e entry, from string) bool {
	at := filepath.Join(from, moved(e.Path))
	if info, err := os.Lstat(at); err != nil || info.Size() != e.Size || b.aside(e.Path) != nil {
		return false
	}
	return move(filepath.Join(b.f.Dir, filepath.FromSlash(e.Path)), at, e.Size) == nil
}

// parent opens the folder above a path, and makes those that are missing.
func (b *back) parent(p string) (*os.Root, string, error) {
	dir, name := path.Split(p)
	if dir = strings.TrimSuffix(dir, "/"); dir == "" {
		dir = "."
	}
	if dir != "." {
		if err := safeopen.PlainDirs(b.root, dir); err != nil {
			return nil, "", err
		}
	}
	r, err := b.root.OpenRoot(dir)
	if err != nil {
		return nil, "", err
	}
	return r, name, nil
}

// write puts a content in its place in one step, with all that belongs to it, unless it stands there.
func (b *back) write(ctx context.Context, e entry, dir *os.Root, name, temp, content string) error {
	if equal(dir, name, content, e.Size) {
		return nil
	}
	if err := b.aside(e.Path); err != nil {
		return err
	}
	program.Step(ctx, "write file")
	out, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	in, err := os.Open(content)
	if err == nil {
		_, err = io.Copy(out, in)
		in.Close()
	}
	if e.UID >= 0 {
		_ = out.Chown(e.UID, e.GID) // only who may give files away does
	}
	err = errors.Join(err, out.Chmod(e.Mode), out.Close(), dir.Chtimes(temp, time.Time{}, time.Unix(0, e.MTime)))
	if err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, dir.Remove(temp))
	}
	return nil
}

// equal reports whether a file has the content that is kept.
func equal(dir *os.Root, name, content string, size int64) bool {
	info, err := dir.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() != size {
		return false
	}
	a, err := dir.Open(name)
	if err != nil {
		return false
	}
	defer a.Close()
	c, err := os.Open(content)
	if err != nil {
		return false
	}
	defer c.Close()
	return alike(a, c)
}

func alike(a, b io.Reader) bool {
	one, two := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, errA := io.ReadFull(a, one)
		m, errB := io.ReadFull(b, two)
		if !bytes.Equal(one[:n], two[:m]) {
			return false
		}
		if errA != nil || errB != nil {
			return errors.Is(errA, io.EOF) || errors.Is(errA, io.ErrUnexpectedEOF)
		}
	}
}

// link makes files one again that were one, where they have the same content now.
func (b *back) link(ctx context.Context) error {
	groups := map[string][]string{}
	for p, e := range b.then {
		if e.Mode.IsRegular() && e.Links > 1 {
			id := fmt.Sprint(e.Dev, " ", e.Ino)
			groups[id] = append(groups[id], p)
		}
	}
	for _, names := range groups {
		slices.Sort(names)
		if !slices.ContainsFunc(names, func(p string) bool { _, ok := slices.BinarySearch(b.ours, p); return ok }) {
			continue
		}
		for _, p := range names[1:] {
			if err := b.linkTo(ctx, names[0], p); err != nil {
				return err
			}
		}
	}
	return nil
}

// linkTo makes p another name of the file first.
func (b *back) linkTo(ctx context.Context, first, p string) error {
	one, ok, err := b.look(first)
	two, there, err2 := b.look(p)
	if err = errors.Join(err, err2); err != nil || !ok || !there || os.SameFile(one, two) || b.foreign[p] ||
		b.foreign[first] || !one.Mode().IsRegular() || !two.Mode().IsRegular() || one.Size() != two.Size() {
		return err
	}
	dir, name, err := b.parent(p)
	if err != nil {
		return err
	}
	defer dir.Close()
	if !equal(dir, name, filepath.Join(b.f.Dir, filepath.FromSlash(first)), one.Size()) {
		return nil
	}
	program.Step(ctx, "write file")
	temp := path.Join(path.Dir(p), safeopen.Temporary())
	if err := b.root.Link(first, temp); err != nil {
		return err
	}
	return b.root.Rename(temp, p)
}

// mode gives a path the permissions that it had.
func (b *back) mode(ctx context.Context, e entry) error {
	info, ok, err := b.look(e.Path)
	if err != nil || !ok || info.Mode() == e.Mode || info.Mode().Type() != e.Mode.Type() || b.foreign[e.Path] {
		return err
	}
	program.Step(ctx, "set permissions")
	return b.root.Chmod(e.Path, e.Mode)
}

// lost is what was not brought back: what could not be made, what somebody changed since, and folders whose state is
// another one.
func (b *back) lost() ([]effect.Unkept, error) {
	out := b.unable
	for p := range b.foreign {
		if b.then[p].Git || b.now[p].Git { // git has said so
			continue
		}
		out = append(out, effect.Unkept{Path: p, Size: max(b.then[p].Size, b.now[p].Size), Why: effect.UnkeptChanged})
	}
	if len(b.closed) > 0 {
		now, err := b.f.walk(nil, b.closed, false)
		if err != nil {
			return nil, err
		}
		stands := indexed(now)
		for p := range b.closed {
			if e := b.then[p]; stands[p].Sum != e.Sum {
				out = append(out, effect.Unkept{Path: p, Size: e.Size, Why: e.Why, How: e.How})
			}
		}
	}
	return effect.Folded(folders(out)), nil
}

// folders names what a lock file decides by its folder.
func folders(all []effect.Unkept) (out []effect.Unkept) {
	named := map[string]bool{}
	for _, u := range all {
		for at := u.Path; u.Why == effect.UnkeptLocked && at != "."; at = path.Dir(at) {
			if deciders[path.Base(at)] != nil {
				u.Path, u.Size = at, 0
			}
		}
		if !named[u.Path] {
			out = append(out, u)
		}
		named[u.Path] = true
	}
	return out
}
