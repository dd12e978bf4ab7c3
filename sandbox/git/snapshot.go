package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"pawl"
	"pawl/sandbox/git/layout"
	"pawl/sandbox/git/meta"
	"pawl/sandbox/git/program"
	"pawl/store/disk"
	"pawl/store/lockfile"
)

// largestFile is the size above which a new or changed file stops a snapshot: keeping such files would fill the object
// store.
const largestFile = 512 << 20

// snapshot is Snapshot under the lock of the tree, by git.
func (r treeIndex) snapshot(ctx context.Context) (string, error) {
	tree, _, err := r.observe(ctx)
	return tree, err
}

// observe has git look at the tree, records it and says what was seen. The index is a cache: when git cannot work with
// it, because it is damaged or because objects that it names are gone, it is made afresh once.
func (r treeIndex) observe(ctx context.Context) (string, seen, error) {
	tree, s, err := r.record(ctx)
	var e *pawl.Error
	if !errors.As(err, &e) || e.Key != "git.failed" {
		return tree, s, err
	}
	r.forget()
	tree, s, again := r.record(ctx)
	if again != nil {
		return "", seen{}, err
	}
	return tree, s, nil
}

// forget drops what is remembered of the tree between snapshots.
func (r treeIndex) forget() {
	for _, suffix := range []string{"", ".tree", ".source", quickNote} {
		//nolint:errcheck // a cache: what cannot be removed is found out when it is used
		os.Remove(r.paths.IndexFile + suffix)
	}
}

func (r treeIndex) record(ctx context.Context) (string, seen, error) {
	if err := r.seed(ctx); err != nil {
		return "", seen{}, err
	}
	s, err := r.scan(ctx, r.paths.IndexFile, "--untracked-files=all", "--ignored=matching")
	if err != nil {
		return "", seen{}, err
	}
	tree, err := r.store(ctx, s)
	if err != nil {
		return "", seen{}, err
	}
	return tree, s, r.remember(tree, func(usual fs.FileMode) (meta.Meta, error) {
		return meta.Inspect(r.paths.Tree, usual, s.ignored)
	})
}

// remember stores the meta of a tree that is seen for the first time.
func (r treeIndex) remember(tree string, look func(usual fs.FileMode) (meta.Meta, error)) error {
	return meta.Remember(r.paths.MetaFile(tree), r.paths.State("tmp/meta-"+filepath.Base(r.paths.IndexFile)), look)
}

// store records what was seen and returns the tree.
func (r treeIndex) store(ctx context.Context, s seen) (string, error) {
	if err := r.take(ctx, s); err != nil {
		return "", err
	}
	tree, fresh, err := r.writeTree(ctx)
	if err != nil {
		return "", err
	}
	return tree, r.refs.keep(ctx, tree, fresh, false)
}

// quickNote ends the name of the note that says at which tree a snapshot from memory stood.
const quickNote = ".quick.tree"

// writeTree writes the index as a tree, or answers from the note that the last time left: the index is pawl's own, so
// the note is right until take removes it. fresh says that it was written just now.
func (r treeIndex) writeTree(ctx context.Context) (tree string, fresh bool, err error) {
	if id, ok := layout.ReadLine(r.paths.IndexFile+".tree", ""); ok && validID(id) {
		return id, false, nil
	}
	out, err := layout.Record(ctx, r.paths, "", "write-tree", "--missing-ok")
	if err != nil {
		return "", false, err
	}
	tree = strings.TrimSpace(out)
	if tree == emptySHA1 || tree == emptySHA256 {
		if _, err := r.objects.EmptyTree(ctx); err != nil {
			return "", false, err
		}
	}
	if err := os.WriteFile(r.paths.IndexFile+".tree", []byte(tree), 0o600); err != nil {
		return "", false, program.IOError("git.snapshot", err)
	}
	return tree, true, nil
}

// seen is how a tree differs from an index.
type seen struct {
	changed   []string // entries whose content, mode or type differs
	gone      []string // entries without a file
	untracked []string // files without an entry that nothing ignores
	ignored   []string // files, and folders with a trailing slash, that an ignore pattern names
}

// scan compares the tree with an index. It refreshes the index's memory of unchanged files when the index is pawl's
// own.
func (r treeIndex) scan(ctx context.Context, index string, how ...string) (seen, error) {
	// Pawl's directory has no commit, so every entry is new against it; only the second column, file against entry, is
	// used.
	args := append([]string{"status", "--porcelain=v2", "-z", "--ignore-submodules=all", "--no-renames"}, how...)
	out, _, err := r.paths.On(index, "", args...).Run(ctx)
	if err != nil {
		return seen{}, err
	}
	var s seen
	for _, line := range program.Fields(string(out)) {
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case "1":
			f := strings.SplitN(rest, " ", 8)
			if len(f) != 8 || len(f[0]) != 2 || reserved(f[7]) {
				continue
			}
			switch f[0][1] {
			case '.':
			case 'D':
				s.gone = append(s.gone, f[7])
			default:
				s.changed = append(s.changed, f[7])
			}
		case "u":
			if f := strings.SplitN(rest, " ", 10); len(f) == 10 {
				s.changed = append(s.changed, f[9])
			}
		case "?":
			// A trailing slash is a nested repository, which is never entered.
			if !reserved(rest) && !strings.HasSuffix(rest, "/") {
				s.untracked = append(s.untracked, rest)
			}
		case "!":
			s.ignored = append(s.ignored, rest)
		}
	}
	return s, nil
}

// reserved reports whether a path is pawl's own.
func reserved(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return first == ".pawl"
}

// take brings pawl's index to what was seen in the tree.
func (r treeIndex) take(ctx context.Context, s seen) error {
	if len(s.gone)+len(s.changed)+len(s.untracked) == 0 {
		return nil
	}
	if err := os.Remove(r.paths.IndexFile + ".tree"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return program.IOError("git.snapshot", err)
	}
	recorded, special := r.recordable(s.changed)
	if s.changed, s.gone = recorded, append(s.gone, special...); len(s.gone) > 0 {
		// Without a look at the disk: there, something else may stand in the way by now, such as a symbolic link.
		if err := r.edit(ctx, r.paths.IndexFile, r.paths.Removals(s.gone)); err != nil {
			return err
		}
	}
	var names strings.Builder
	for _, path := range append(s.changed, s.untracked...) {
		info, err := os.Lstat(filepath.Join(r.paths.Tree, filepath.FromSlash(path)))
		if err == nil && info.Size() > largestFile && info.Mode().IsRegular() {
			return pawl.Fail(pawl.CodeRepository, "git.too_large", strconv.Quote(path), largestFile>>20)
		}
		if err == nil && info.Mode().IsRegular() && !readable(filepath.Join(r.paths.Tree, filepath.FromSlash(path))) {
			return pawl.Fail(pawl.CodeIO, "git.unreadable", strconv.Quote(path))
		}
		names.WriteString(path + "\x00")
	}
	_, err := layout.Record(ctx, r.paths, names.String(), "update-index", "-z", "--add", "--remove", "--replace",
		"--stdin")
	return err
}

// recordable tells apart what git can record and what stands in the place of such a file: a pipe, a socket or a device.
func (r treeIndex) recordable(changed []string) (recorded, special []string) {
	for _, path := range changed {
		info, err := os.Lstat(filepath.Join(r.paths.Tree, filepath.FromSlash(path)))
		if err == nil && info.Mode().Type()&^(fs.ModeDir|fs.ModeSymlink) != 0 {
			special = append(special, path)
		} else {
			recorded = append(recorded, path)
		}
	}
	return recorded, special
}

func readable(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	f.Close()
	return true
}

// edit changes entries of an index of pawl's as update-index --index-info says them.
func (r treeIndex) edit(ctx context.Context, index, entries string) error {
	_, _, err := r.paths.On(index, entries, "update-index", "-z", "--replace", "--index-info").Run(ctx)
	return err
}

// seed makes sure that pawl's index has an entry for each file that the tree's own index tracks, because a tracked file
// is recorded even where an ignore pattern names it. Entries are taken without their flags, so that neither "assume
// unchanged" nor a sparse checkout hides a change.
func (r treeIndex) seed(ctx context.Context) error {
	source := r.sourceIndex()
	stamp := stampOf(source)
	if old, ok := layout.ReadLine(r.paths.IndexFile+".source", ""); ok && old == stamp &&
		layout.Exists(r.paths.IndexFile) {
		return nil
	}
	if stamp != "" {
		if err := r.adopt(ctx, source); err != nil {
			return err
		}
	}
	if !layout.Exists(r.paths.IndexFile) {
		if _, err := r.paths.ShadowRun(ctx, "", "read-tree", "--empty"); err != nil {
			return err
		}
	}
	if err := os.WriteFile(r.paths.IndexFile+".source", []byte(stamp), 0o600); err != nil {
		return program.IOError("git.snapshot", err)
	}
	return nil
}

// adopt adds the entries of another index that pawl's lacks.
func (r treeIndex) adopt(ctx context.Context, source string) error {
	have := map[string]bool{}
	if layout.Exists(r.paths.IndexFile) {
		out, err := r.paths.ShadowRun(ctx, "", "ls-files", "-z")
		if err != nil {
			return err
		}
		for _, path := range program.Fields(out) {
			have[path] = true
		}
	}
	copied, err := r.copyIndex(source)
	if err != nil {
		return err
	}
	defer os.Remove(copied)
	out, _, err := r.paths.On(copied, "", "ls-files", "-z", "--stage").Run(ctx)
	if err != nil {
		return err
	}
	var entries strings.Builder
	for _, line := range program.Fields(string(out)) {
		head, path, ok := strings.Cut(line, "\t")
		if ok && strings.HasSuffix(head, " 0") && !have[path] && !reserved(path) {
			entries.WriteString(line + "\x00")
		}
	}
	if entries.Len() == 0 {
		return nil
	}
	os.Remove(r.paths.IndexFile + ".tree")
	return r.edit(ctx, r.paths.IndexFile, entries.String())
}

// sourceIndex is the index that tools and people use in the tree, "" where there is none.
func (r treeIndex) sourceIndex() string {
	switch {
	case !r.paths.Git:
		return ""
	case r.paths.InPlace():
		return filepath.Join(r.paths.GitDir, "index")
	}
	if dir := r.paths.Registration(); dir != "" {
		return filepath.Join(dir, "index")
	}
	return ""
}

// stampOf identifies a version of a file by what changes when it is replaced; "" when there is no file.
func stampOf(path string) string {
	if path == "" {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d %d", filepath.Base(path), info.Size(), info.ModTime().UnixNano())
}

// copyIndex copies an index, with the shared part of a split one, to a file of pawl's that the caller removes.
func (r treeIndex) copyIndex(source string) (string, error) {
	shared, _ := filepath.Glob(filepath.Join(filepath.Dir(source), "sharedindex.*"))
	for _, path := range shared {
		if to := filepath.Join(r.paths.Shadow, filepath.Base(path)); !layout.Exists(to) {
			if err := disk.Copy(to, path); err != nil {
				return "", program.IOError("git.index", err)
			}
		}
	}
	f, err := os.CreateTemp(r.paths.State("tmp"), "index-"+lockfile.Maker()+"-*")
	if err != nil {
		return "", program.IOError("git.index", err)
	}
	f.Close()
	if err := disk.Copy(f.Name(), source); err != nil {
		os.Remove(f.Name())
		return "", program.IOError("git.index", err)
	}
	return f.Name(), nil
}

// Files lists the files of the tree that are tracked or that nothing ignores, in the order of paths. Files that were
// deleted are not listed.
func (r *Repo) Files(ctx context.Context) (files []string, err error) {
	err = r.index.locked(ctx, func(ctx context.Context) error {
		tree, err := r.index.snapshot(ctx)
		if err != nil {
			return err
		}
		out, _, err := r.paths.WithoutTree("", "ls-tree", "-r", "-z", "--name-only", "--end-of-options", tree).Run(ctx)
		files = program.Fields(string(out))
		return err
	})
	return files, err
}
