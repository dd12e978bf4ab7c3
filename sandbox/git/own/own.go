// Package own is pawl's own object store. References of pawl's are in pawl's own git directory, and everything that
// they name is in its store: trees of the user's files, with what git ignores or would encrypt. So no push of the
// user's publishes it, and no garbage collection of the user's removes it. Objects that a branch of the user's will
// name are copied into the user's store first.
package own

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pawl"
	"pawl/sandbox/git/layout"
	"pawl/sandbox/git/object"
	"pawl/sandbox/git/program"
	"pawl/store/disk"
	"pawl/store/lockfile"
)

// Refs begins the names of pawl's references.
const Refs = "refs/pawl/"

// Store is pawl's own object store of a repository. It is safe for concurrent use.
type Store struct{ paths *layout.Layout }

// At returns the store of a repository.
func At(paths *layout.Layout) Store { return Store{paths} }

// completeNote names a file with the name of a reference to a tree that the store holds completely.
const completeNote = "complete"

// Complete records that the store holds the complete tree that a reference of pawl's names: Add need not compare more.
func (s Store) Complete(ref string) error {
	return os.WriteFile(s.paths.State(completeNote), []byte(ref), 0o600)
}

// Add copies into the store the objects that it lacks of a commit or a tree, before a reference of pawl's names it. Of
// the history behind a commit, it copies what no reference of the user's reaches. A partial clone need not have all.
func (s Store) Add(ctx context.Context, id string) error {
	if !s.paths.Git {
		return nil
	}
	out, _, err := s.paths.WithoutTree("", "rev-parse", "--verify", "--quiet", "--end-of-options",
		id+"^{tree}").Answering(1, 128).Run(ctx)
	if tree := strings.TrimSpace(string(out)); err == nil && tree != "" {
		err = s.AddTree(ctx, tree)
	}
	if err != nil {
		return err
	}
	behind, err := s.unshared(ctx, id)
	if err != nil {
		return err
	}
	return s.fill(ctx, append(behind, id))
}

// AddTree is Add for a tree.
func (s Store) AddTree(ctx context.Context, tree string) error {
	if !s.paths.Git {
		return nil
	}
	var but []string
	if ref, ok := layout.ReadLine(s.paths.State(completeNote), ""); ok {
		switch since, _ := layout.ReadLine(s.paths.State(ref), ""); {
		case since == tree:
			return nil
		case since != "" && since == path.Base(ref):
			but = []string{"^" + since}
		}
	}
	ids, err := s.list(ctx, tree, but...)
	if err != nil {
		return err
	}
	return s.fill(ctx, ids)
}

// Export packs into a new directory the objects of a tree that the user's store lacks, for commands of git that read
// both.
func (s Store) Export(ctx context.Context, tree, dir string) error {
	if !s.paths.Git {
		return nil
	}
	ids, err := s.list(ctx, tree)
	if err == nil {
		ids, err = lacking(ctx, s.paths.Plumbing, ids)
	}
	if err == nil {
		err = disk.Mkdir(s.paths.Base, filepath.Join(dir, "pack"), 0o700)
	}
	if err == nil && len(ids) > 0 {
		_, _, err = s.paths.WithoutTree(lines(ids), "pack-objects", "-q", filepath.Join(dir, "pack", "pack")).Run(ctx)
	}
	return err
}

// list lists the objects of a tree. What a partial clone does not have is left out.
func (s Store) list(ctx context.Context, tree string, but ...string) ([]string, error) {
	out, _, err := s.paths.Both("", append([]string{"rev-list", "--objects", "--no-object-names",
		"--missing=allow-promisor", tree}, but...)...).Run(ctx)
	return strings.Fields(string(out)), err
}

// fill packs into the store those of the objects that it lacks.
func (s Store) fill(ctx context.Context, ids []string) error {
	ids = slices.DeleteFunc(ids, func(id string) bool {
		return layout.Exists(filepath.Join(s.paths.ObjectDir(), id[:2], id[2:]))
	})
	ids, err := lacking(ctx, s.paths.Alone, ids)
	if err != nil || len(ids) == 0 {
		return err
	}
	_, _, err = s.paths.WithoutTree(lines(ids), "pack-objects", "-q",
		filepath.Join(s.paths.ObjectDir(), "pack", "pack")).Run(ctx)
	return err
}

func lines(ids []string) string { return strings.Join(append(slices.Clip(ids), ""), "\n") }

// lacking returns those of the objects that a git directory lacks.
func lacking(ctx context.Context, call func(stdin string, args ...string) program.Call, ids []string) (out []string,
	err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	said, _, err := call(lines(ids), "cat-file", "--batch-check=%(objectname)", "--buffer").Run(ctx)
	for line := range strings.Lines(string(said)) {
		if id, ok := strings.CutSuffix(strings.TrimSpace(line), " missing"); ok {
			out = append(out, id)
		}
	}
	return out, err
}

// unshared lists the objects that commits or trees name and no reference of the user's reaches.
func (s Store) unshared(ctx context.Context, ids ...string) ([]string, error) {
	out, _, err := s.paths.Both(lines(ids), "rev-list", "--objects", "--no-object-names", "--ignore-missing",
		"--missing=allow-promisor", "--stdin", "--not", "--exclude="+Refs+"*", "--all").Run(ctx)
	return strings.Fields(string(out)), err
}

// Share copies into the user's store what that lacks of an object that a reference of the user's is to name. No garbage
// collection takes it away before release, which is for after the reference is written.
func (s Store) Share(ctx context.Context, id string) (release func(), err error) {
	release = func() {}
	if !s.paths.Git {
		return release, nil
	}
	ids, err := s.unshared(ctx, id)
	if err != nil || len(ids) == 0 {
		return release, err
	}
	f, err := os.CreateTemp(s.paths.State("tmp"), "pack-"+lockfile.Maker()+"-*")
	if err != nil {
		return release, program.IOError("git.object", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	pack := s.paths.Both(lines(ids), "pack-objects", "-q", "--stdout")
	pack.Stdout = f
	if _, _, err := pack.Run(ctx); err != nil {
		return release, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return release, program.IOError("git.object", err)
	}
	index := s.paths.Plumbing("", "index-pack", "--stdin", "--keep="+layout.Keeper)
	index.Stdin = f
	out, _, err := index.Run(ctx)
	if err != nil {
		return release, err
	}
	_, name, _ := strings.Cut(strings.TrimSpace(string(out)), "\t")
	release = func() {
		//nolint:errcheck // one that stays is found by Left
		os.Remove(filepath.Join(s.paths.SharedObjects(), "pack", "pack-"+name+".keep"))
	}
	if gone, err := lacking(ctx, s.paths.Plumbing, ids); err != nil || len(gone) > 0 {
		release()
		return func() {}, errors.Join(err, pawl.Fail(pawl.CodeRepository, "git.object_missing",
			strings.Join(gone, " ")))
	}
	return release, nil
}

// Adopted reports whether Adopt has nothing to do any more.
func (s Store) Adopted() bool { return !s.paths.Git || layout.Exists(s.paths.State("adopted")) }

// Adopt moves into pawl's own git directory, once, the references that older versions wrote into the user's repository,
// with all that they name. It removes a reference to a missing object, and does without missing objects behind others.
// The caller excludes every other Adopt.
func (s Store) Adopt(ctx context.Context) error {
	if s.Adopted() {
		return nil
	}
	refs, err := named(ctx, s.paths.Plumbing)
	if err != nil {
		return err
	}
	gone, err := lacking(ctx, s.paths.WithoutTree, slices.Collect(maps.Keys(refs)))
	if err != nil {
		return err
	}
	var names, ids, create []string
	for id, at := range refs {
		names = append(names, at...)
		if slices.Contains(gone, id) {
			continue
		}
		ids = append(ids, id)
		for _, name := range at {
			create = append(create, "update "+name+" "+id)
		}
	}
	if len(ids) > 0 {
		if ids, err = s.reached(ctx, ids); err == nil {
			err = s.fill(ctx, ids)
		}
		if err == nil {
			_, _, err = s.paths.FromTop(s.paths.Shadow, lines(create), "update-ref", "--stdin").Run(ctx)
		}
	}
	if err == nil && len(names) > 0 {
		_, _, err = s.paths.FromTop(s.paths.GitDir, object.Deletion(names), "update-ref", "--stdin").Run(ctx)
	}
	if err != nil {
		return err
	}
	for _, keep := range layout.Keeps(s.paths) {
		os.Remove(keep) //nolint:errcheck // it only keeps a pack from being collected
	}
	if err := os.WriteFile(s.paths.State("adopted"), nil, 0o600); err != nil {
		return program.IOError("git.prepare", err)
	}
	return nil
}

// named returns the names of pawl's references in a git directory, by the objects that they name.
func named(ctx context.Context, call func(stdin string, args ...string) program.Call) (map[string][]string, error) {
	out, _, err := call("", "for-each-ref", "--format=%(objectname) %(refname)", Refs).Run(ctx)
	refs := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		refs[id] = append(refs[id], name)
	}
	return refs, err
}

// reached lists what references of pawl's need of the objects that they name: their trees, and the history that only
// they reach, where all of that can still be walked.
func (s Store) reached(ctx context.Context, ids []string) ([]string, error) {
	out, _, err := s.paths.WithoutTree(lines(ids), "rev-list", "--objects", "--no-object-names", "--no-walk",
		"--missing=allow-any", "--stdin").Run(ctx)
	behind, _ := s.unshared(ctx, ids...) // fails where the user's repository has lost a part of the history
	return append(strings.Fields(string(out)), behind...), err
}

// Dangling lists the references of pawl's that name a missing object.
func (s Store) Dangling(ctx context.Context) (names []string, err error) {
	refs, err := named(ctx, s.paths.WithoutTree)
	if err != nil {
		return nil, err
	}
	gone, err := lacking(ctx, s.paths.WithoutTree, slices.Collect(maps.Keys(refs)))
	for _, id := range gone {
		names = append(names, refs[id]...)
	}
	return names, err
}

// young is the age below which an object may belong to work in progress whose reference is not written yet. Git renews
// the time of a pack that has what it would write.
const young = 2 * time.Hour

// Compact removes from the store what no reference of pawl's names any more. Where it fails, everything stays.
func (s Store) Compact(ctx context.Context) error {
	before := time.Now().Add(-young)
	refs, err := named(ctx, s.paths.WithoutTree)
	if err != nil {
		return err
	}
	ids, err := s.reached(ctx, slices.Collect(maps.Keys(refs)))
	if err != nil {
		return err
	}
	old := s.files("pack/pack-*", "pack/tmp_*", "[0-9a-f][0-9a-f]/*")
	out, _, err := s.paths.WithoutTree(lines(ids), "pack-objects", "-q", filepath.Join(s.paths.ObjectDir(), "pack",
		"pack")).Run(ctx)
	if err != nil {
		return err
	}
	pack := "pack-" + strings.TrimSpace(string(out)) + "."
	// References name what is in that pack, so that the next Compact has to wait for no work in progress.
	for _, file := range s.files("pack/" + pack + "*") {
		err = errors.Join(err, os.Chtimes(file, before, before))
	}
	if _, _, failed := s.paths.Alone("", "prune-packed", "-q").Run(ctx); failed != nil {
		return failed
	}
	for _, file := range old {
		info, failed := os.Lstat(file)
		if failed == nil && info.Mode().IsRegular() && info.ModTime().Before(before) &&
			!strings.HasPrefix(filepath.Base(file), pack) {
			err = errors.Join(err, os.Remove(file))
		}
	}
	if err != nil {
		return program.IOError("git.object", err)
	}
	return nil
}

// files lists files of the store by patterns.
func (s Store) files(patterns ...string) (out []string) {
	for _, pattern := range patterns {
		found, _ := filepath.Glob(filepath.Join(layout.EscapeGlob(s.paths.ObjectDir()), pattern))
		out = append(out, found...)
	}
	return out
}
