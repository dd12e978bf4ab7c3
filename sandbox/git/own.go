package git

import (
	"context"
	"errors"
	"io"
	"io/fs"
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
	"pawl/store/lockfile"
)

// Pawl's references and all that they name are in pawl's own git directory: trees of the user's files, with what git
// ignores or would encrypt. No push of the user's publishes them, and no garbage collection of the user's takes them
// away. What a branch of the user's is to name is copied into the user's store first.

// completeNote names a reference of pawl's to a tree of which pawl's own store has every object.
const completeNote = "complete"

// own copies into pawl's own store what that lacks of a tree or a commit, before a reference of pawl's names it. Of
// the history behind a commit it copies what no reference of the user's reaches.
func (r Refs) own(ctx context.Context, id string) error {
	if !r.paths.Git {
		return nil
	}
	since, ids, tree := "", []string{id}, id
	if ref, ok := layout.ReadLine(r.paths.State(completeNote), ""); ok {
		if id, err := r.Lookup(ctx, ref); err == nil && id == path.Base(ref) {
			since = id
		}
	}
	if c, err := Objects(r).ReadCommit(ctx, id); err == nil {
		ids, tree = append(ids, c.Tree), c.Tree
		if len(c.Parents) > 0 {
			behind, err := r.unshared(ctx, id)
			if err != nil {
				return err
			}
			ids = append(ids, behind...)
		}
	}
	out, err := Objects(r).diffTree(ctx, since, tree, "-t", "--raw", "--no-abbrev")
	if err != nil {
		return err
	}
	for i := 0; i+1 < len(out); i += 2 {
		if f := strings.Fields(out[i]); len(f) == 5 && f[1] != object.ModeNested && f[4] != "D" {
			ids = append(ids, f[3])
		}
	}
	return r.fill(ctx, ids)
}

// fill packs those of the objects that pawl's own store lacks into it.
func (r Refs) fill(ctx context.Context, ids []string) error {
	ids = slices.DeleteFunc(ids, func(id string) bool {
		return layout.Exists(filepath.Join(r.paths.ObjectDir(), id[:2], id[2:]))
	})
	ids, err := lacking(ctx, r.paths.Alone, ids)
	if err != nil || len(ids) == 0 {
		return err
	}
	_, _, err = r.paths.WithoutTree(strings.Join(ids, "\n")+"\n", "pack-objects", "-q",
		filepath.Join(r.paths.ObjectDir(), "pack", "pack")).Run(ctx)
	return err
}

// lacking returns those of the objects that a git directory lacks.
func lacking(ctx context.Context, call func(stdin string, args ...string) program.Call, ids []string) (out []string,
	err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	said, _, err := call(strings.Join(ids, "\n")+"\n", "cat-file", "--batch-check=%(objectname)", "--buffer").Run(ctx)
	for line := range strings.Lines(string(said)) {
		if id, ok := strings.CutSuffix(strings.TrimSpace(line), " missing"); ok {
			out = append(out, id)
		}
	}
	return out, err
}

// unshared lists the objects that a commit or tree names and no reference of the user's reaches.
func (r Refs) unshared(ctx context.Context, id string) ([]string, error) {
	out, _, err := r.paths.Both("", "rev-list", "--objects", "--no-object-names", "--ignore-missing", id, "--not",
		"--all").Run(ctx)
	return strings.Fields(string(out)), err
}

// share copies into the user's store what that lacks of an object that a reference of the user's is to name. No garbage
// collection takes it away before release, which is for after the reference is written.
func (r Refs) share(ctx context.Context, id string) (release func(), err error) {
	release = func() {}
	if !r.paths.Git {
		return release, nil
	}
	ids, err := r.unshared(ctx, id)
	if err != nil || len(ids) == 0 {
		return release, err
	}
	f, err := os.CreateTemp(r.paths.State("tmp"), "pack-"+lockfile.Maker()+"-*")
	if err != nil {
		return release, program.IOError("git.object", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	pack := r.paths.Both(strings.Join(ids, "\n")+"\n", "pack-objects", "-q", "--stdout")
	pack.Stdout = f
	if _, _, err := pack.Run(ctx); err != nil {
		return release, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return release, program.IOError("git.object", err)
	}
	index := r.paths.Plumbing("", "index-pack", "--stdin", "--keep="+layout.Keeper)
	index.Stdin = f
	out, _, err := index.Run(ctx)
	if err != nil {
		return release, err
	}
	_, name, _ := strings.Cut(strings.TrimSpace(string(out)), "\t")
	release = func() {
		//nolint:errcheck // one that stays is found by Left
		os.Remove(filepath.Join(r.paths.SharedObjects(), "pack", "pack-"+name+".keep"))
	}
	if gone, err := lacking(ctx, r.paths.Plumbing, ids); err != nil || len(gone) > 0 {
		release()
		return func() {}, errors.Join(err, pawl.Fail(pawl.CodeRepository, "git.object_missing", strings.Join(gone, " ")))
	}
	return release, nil
}

// adopt moves into pawl's own git directory, once, the references that older versions wrote into the user's repository,
// with all that they name. What they name that is gone is not missed: the references are.
func (r *Repo) adopt(ctx context.Context) error {
	const adopted = "adopted"
	if !r.paths.Git || layout.Exists(r.paths.State(adopted)) {
		return nil
	}
	return hold(ctx, r.paths.State(adopted)+".flock", func(ctx context.Context) error {
		refs, _, err := r.paths.Plumbing("", "for-each-ref", "--format=%(objectname) %(refname)", private).Run(ctx)
		if err != nil {
			return err
		}
		var ids, names, create []string
		for line := range strings.Lines(string(refs)) {
			id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
			ids, names = append(ids, id), append(names, name)
		}
		gone, err := lacking(ctx, r.paths.WithoutTree, ids)
		if err != nil {
			return err
		}
		for i, id := range ids {
			if !slices.Contains(gone, id) {
				create = append(create, "update "+names[i]+" "+id+"\n")
			}
		}
		ids = slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(gone, id) })
		if len(ids) > 0 {
			out, _, err := r.paths.WithoutTree(strings.Join(ids, "\n")+"\n", "rev-list", "--objects", "--no-object-names",
				"--no-walk", "--missing=allow-any", "--stdin").Run(ctx)
			if err == nil {
				err = r.Refs.fill(ctx, strings.Fields(string(out)))
			}
			if err != nil {
				return err
			}
		}
		program.Step(ctx, "adopt references")
		_, _, err = r.paths.FromTop(r.paths.Shadow, strings.Join(create, ""), "update-ref", "--stdin").Run(ctx)
		if err == nil && len(names) > 0 {
			_, _, err = r.paths.FromTop(r.paths.GitDir, object.Deletion(names), "update-ref", "--stdin").Run(ctx)
		}
		if err != nil {
			return err
		}
		for _, keep := range r.paths.Keeps() {
			os.Remove(keep) //nolint:errcheck // it only keeps a pack from being collected
		}
		if err := os.WriteFile(r.paths.State(adopted), nil, 0o600); err != nil {
			return program.IOError("git.prepare", err)
		}
		return nil
	})
}

// young is the age below which an object may be of work under way whose reference is not written yet.
const young = 2 * time.Hour

// compact drops from pawl's own store what no reference of pawl's names any more. Where it cannot, all stays.
func (r Refs) compact(ctx context.Context) error {
	before := time.Now().Add(-young)
	refs, _, err := r.paths.Alone("", "for-each-ref", "--format=%(objectname)").Run(ctx)
	if err != nil {
		return err
	}
	// The history behind a commit is the user's.
	ids, _, err := r.paths.Alone(string(refs), "rev-list", "--objects", "--no-object-names", "--no-walk", "--stdin").Run(ctx)
	if err != nil {
		return err
	}
	packs := filepath.Join(r.paths.ObjectDir(), "pack")
	old, err := os.ReadDir(packs)
	if err != nil {
		return program.IOError("git.object", err)
	}
	out, _, err := r.paths.Alone(string(ids), "pack-objects", "-q", filepath.Join(packs, "pack")).Run(ctx)
	if err != nil {
		return err
	}
	drop := func(file string) error {
		if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() && info.ModTime().Before(before) {
			return os.Remove(file)
		}
		return nil
	}
	for _, e := range old {
		if !strings.Contains(e.Name(), strings.TrimSpace(string(out))) {
			err = errors.Join(err, drop(filepath.Join(packs, e.Name())))
		}
	}
	loose, _ := filepath.Glob(filepath.Join(layout.EscapeGlob(r.paths.ObjectDir()), "[0-9a-f][0-9a-f]", "*"))
	for _, file := range loose {
		err = errors.Join(err, drop(file))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return program.IOError("git.object", err)
	}
	return nil
}
