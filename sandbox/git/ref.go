package git

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"pawl"
	"pawl/sandbox/git/layout"
	"pawl/sandbox/git/object"
	"pawl/sandbox/git/own"
	"pawl/sandbox/git/program"
)

// Ref is a reference as it stands.
type Ref struct {
	Name string // in full, "refs/…"
	ID   string // of the object that it names
	// At is when the commit was made; the zero time for references to other objects.
	At time.Time
}

// private is where pawl's references are, in pawl's own git directory.
const private = own.Refs

// isPrivate reports whether a reference, or what begins the names of references, is pawl's.
func isPrivate(name string) bool { return strings.HasPrefix(name+"/", private) }

// home is the git directory to move a reference in, and dir the one that has its refs/.
func (r Refs) home(name string) (home, dir string) {
	if isPrivate(name) || !r.paths.Git {
		return r.paths.Shadow, r.paths.Shadow
	}
	return r.paths.GitDir, r.paths.CommonDir
}

// call reads references where those with a name are.
func (r Refs) call(name string, args ...string) program.Call {
	if isPrivate(name) {
		return r.paths.WithoutTree("", args...)
	}
	return r.paths.Plumbing("", args...)
}

// file is where a reference is if it is a file of its own.
func (r Refs) file(name string) string {
	_, dir := r.home(name)
	return filepath.Join(dir, filepath.FromSlash(name))
}

// PrivateRef returns the full name of a reference of pawl's.
func PrivateRef(name string) string { return private + name }

// BranchRef returns the full name of a branch.
func BranchRef(name string) string { return "refs/heads/" + name }

// validID reports whether s is an object id in full. Only such strings reach git as revisions, so none is taken for an
// option or an expression.
func validID(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}

// Lookup returns the object that a reference names, "" when there is no such reference. The name is taken as it is,
// never searched for.
func (r Refs) Lookup(ctx context.Context, name string) (string, error) {
	if err := r.check(ctx, name); err != nil {
		return "", err
	}
	if id, ok := r.loose(name); ok {
		return id, nil
	}
	if r.absent(name) {
		return "", nil
	}
	out, _, err := r.call(name, "show-ref", "--verify", "--hash", "--", name).Answering(1, 128).Run(ctx)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(out)), nil
}

// loose reads a branch or a reference of pawl's where references are kept as files, each in its own; others may belong
// to one working tree only. One that is not there, that stands in the file of packed ones or names another reference is
// git's to find.
func (r Refs) loose(name string) (id string, ok bool) {
	if !isPrivate(name) && (r.paths.Config.Refs != "" || !strings.HasPrefix(name, BranchRef(""))) {
		return "", false
	}
	id, ok = layout.ReadLine(r.file(name), "")
	return id, ok && validID(id)
}

// absent reports whether there is surely no reference of pawl's by a name: neither a file of its own nor a line among
// the packed ones. git writes the line before it removes the file, so the file is looked for first.
func (r Refs) absent(name string) bool {
	if !isPrivate(name) {
		return false
	}
	if _, err := os.Lstat(r.file(name)); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	packed, err := os.ReadFile(filepath.Join(r.paths.Shadow, "packed-refs"))
	return errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Contains(packed, []byte(" "+name+"\n"))
}

// check refuses names that git would refuse, before they are used to look something up.
func (r Refs) check(ctx context.Context, name string) error {
	if strings.HasPrefix(name, private) && !strings.ContainsAny(name, " ~^:?*[\\\x7f") &&
		!strings.Contains(name, "..") {
		return nil // made by pawl; update-ref judges what is left
	}
	_, status, err := r.paths.WithoutTree("", "check-ref-format", name).Answering(1).Run(ctx)
	if err == nil && status != 0 {
		return pawl.Fail(pawl.CodeInvalid, "git.bad_ref", name)
	}
	return err
}

// Set makes a reference name the object id, if it now names old; an empty old means that there must be no such
// reference. It fails with CodeConflict when the reference is something else by then. The change is durable.
func (r Refs) Set(ctx context.Context, name, id, old, why string) error {
	if !validID(id) {
		return pawl.Fail(pawl.CodeInvalid, "git.bad_id", id)
	}
	if isPrivate(name) {
		if err := own.At(r.paths).Add(ctx, id); err != nil {
			return err
		}
	} else {
		release, err := own.At(r.paths).Share(ctx, id)
		if err != nil {
			return err
		}
		defer release()
	}
	return r.update(ctx, name, old, "update-ref", "-m", why, "--", name, id, r.paths.OrZero(old))
}

// Delete removes a reference that names old; one that is gone already is no error.
func (r Refs) Delete(ctx context.Context, name, old string) error {
	return r.update(ctx, name, old, "update-ref", "-d", "--", name, r.paths.OrZero(old))
}

// update runs update-ref. Whether it failed because the reference moved is found out by asking, not from its words.
func (r Refs) update(ctx context.Context, name, old string, args ...string) error {
	home, _ := r.home(name)
	err := moving(ctx, r.locks(name), func() program.Call { return r.paths.FromTop(home, "", args...) })
	if err == nil {
		return nil
	}
	now, readErr := r.Lookup(ctx, name)
	if readErr == nil && now != old {
		return pawl.Fail(pawl.CodeConflict, "git.ref_moved", name).Because(err)
	}
	return err
}

// How old the lock of a reference must be to count as left behind by a git that was killed. git holds such locks for
// milliseconds. On the user's own references pawl waits longer, because another program may be at work there.
const (
	staleOwn   = time.Second
	staleOther = 10 * time.Second
)

// lock is a file that git holds while it moves references, and how old it must be to be left behind.
type lock struct {
	path string
	age  time.Duration
}

// locks are those that git takes to move the references with these names: their own, that of the packed ones, from
// which what is removed is taken out, and for the branch that is checked out that of HEAD.
func (r Refs) locks(names ...string) []lock {
	var out []lock
	head, dir := false, r.paths.Shadow
	for _, name := range names {
		l := lock{r.file(name) + ".lock", staleOther}
		if isPrivate(name) {
			l.age = staleOwn
		} else {
			head = r.paths.Git
			_, dir = r.home(name)
		}
		out = append(out, l)
	}
	if head {
		out = append(out, lock{filepath.Join(r.paths.GitDir, "HEAD.lock"), staleOther})
	}
	return append(out, lock{filepath.Join(dir, "packed-refs.lock"), staleOther})
}

// ClearHead removes the lock of the workspace's HEAD if a git that was killed has left it behind. It waits until the
// lock is old enough to tell, and is for going on with what a crash cut off.
func ClearHead(ctx context.Context, r *Repo) {
	if r.paths.Git {
		program.ClearStale(ctx, filepath.Join(r.paths.GitDir, "HEAD.lock"), staleOther)
	}
}

// moving runs a call that moves references. Where it fails and locks are there that a killed git has left behind, they
// are removed, once they are old enough to tell, and it is tried once more.
func moving(ctx context.Context, locks []lock, c func() program.Call) error {
	_, _, err := c().Run(ctx)
	if err == nil {
		return nil
	}
	cleared := false
	for _, l := range locks {
		cleared = program.ClearStale(ctx, l.path, l.age) || cleared
	}
	if cleared {
		_, _, err = c().Run(ctx)
	}
	return err
}

// List lists the references below a prefix such as "refs/pawl/".
func (r Refs) List(ctx context.Context, prefix string) ([]Ref, error) {
	const format = "%(refname)%00%(objectname)%00%(committerdate:unix)"
	out, _, err := r.call(prefix, "for-each-ref", "--format="+format, "--",
		strings.TrimSuffix(prefix, "/")).Run(ctx)
	if err != nil {
		return nil, err
	}
	var refs []Ref
	for line := range strings.Lines(string(out)) {
		part := strings.Split(strings.TrimSuffix(line, "\n"), "\x00")
		if len(part) != 3 {
			continue
		}
		ref := Ref{Name: part[0], ID: part[1]}
		if at, err := strconv.ParseInt(part[2], 10, 64); err == nil {
			ref.At = time.Unix(at, 0).UTC()
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// ClearDangling removes the references of pawl's that point to nothing, and reports whether there were any.
func (r Refs) ClearDangling(ctx context.Context) (bool, error) {
	names, err := own.At(r.paths).Dangling(ctx)
	if err != nil || len(names) == 0 {
		return false, err
	}
	return true, moving(ctx, r.locks(names...), func() program.Call {
		return r.paths.FromTop(r.paths.Shadow, object.Deletion(names), "update-ref", "--stdin")
	})
}

// dayLayout names the folder of references that keep one day's snapshots.
const dayLayout = "20060102"

// keep makes a reference to a tree, so that a snapshot that an undo may need stays. The day in its name is what Prune
// goes by. Fresh says that the tree was written just now; otherwise git makes sure that it is there. Whole says that
// pawl's own store has all of it.
func (r Refs) keep(ctx context.Context, tree string, fresh, whole bool) error {
	name := private + "trees/" + time.Now().UTC().Format(dayLayout) + "/" + tree
	if _, err := os.Lstat(r.file(name)); err == nil {
		return nil
	}
	if !whole {
		if err := own.At(r.paths).AddTree(ctx, tree); err != nil {
			return err
		}
	}
	if !fresh || object.PutRef(ctx, r.paths.Shadow, name, tree) != nil {
		if err := moving(ctx, r.locks(name), func() program.Call {
			return r.paths.FromTop(r.paths.Shadow, "", "update-ref", "--", name, tree)
		}); err != nil {
			return err
		}
	}
	return own.At(r.paths).Complete(name)
}

// Prune removes pawl's references that are older than before, with what is remembered of the trees that only they kept,
// and returns them. Checkpoints and safety references go by the date of their commit, kept snapshots by the day in
// their name. Spared are those for which spare answers true, and snapshots that some tree of this workspace still
// stands at.
func (r Refs) Prune(ctx context.Context, before time.Time, spare func(Ref) bool) ([]Ref, error) {
	refs, err := r.List(ctx, private)
	if err != nil {
		return nil, err
	}
	standing := r.standing()
	var old []Ref
	var script strings.Builder
	var names []string
	left := map[string]bool{}
	for _, ref := range refs {
		if at := age(ref); at.IsZero() || !at.Before(before) || standing[ref.ID] || spare != nil && spare(ref) {
			left[ref.ID] = true
			continue
		}
		old, names = append(old, ref), append(names, ref.Name)
		script.WriteString("delete " + ref.Name + "\x00" + ref.ID + "\x00")
	}
	if len(old) == 0 {
		return nil, nil
	}
	if err := moving(ctx, r.locks(names...), func() program.Call {
		return r.paths.FromTop(r.paths.Shadow, script.String(), "update-ref", "-z", "--stdin")
	}); err != nil {
		return nil, err
	}
	for _, ref := range old {
		if !left[ref.ID] {
			os.Remove(r.paths.MetaFile(ref.ID)) //nolint:errcheck // commits have none, and what stays is found again
		}
	}
	_ = own.At(r.paths).Compact(ctx) // what stays is dropped the next time
	return old, nil
}

// age is when a reference of pawl's stopped being new: the zero time where that cannot be known.
func age(ref Ref) time.Time {
	rest, ok := strings.CutPrefix(ref.Name, private+"trees/")
	if !ok {
		return ref.At
	}
	day, _, _ := strings.Cut(rest, "/")
	start, err := time.Parse(dayLayout, day)
	if err != nil {
		return time.Time{}
	}
	return start.AddDate(0, 0, 1)
}

// standing is the set of trees that the last snapshots of this workspace's trees found.
func (r Refs) standing() map[string]bool {
	set := map[string]bool{}
	notes, _ := filepath.Glob(filepath.Join(layout.EscapeGlob(r.paths.State("index")), "*.tree"))
	for _, note := range notes {
		if id, ok := layout.ReadLine(note, ""); ok {
			set[id] = true
		}
	}
	return set
}
