package git

import (
	"context"
	"io"
	"os"

	"pawl/sandbox/git/object"
	"pawl/sandbox/git/program"
	"pawl/store/lockfile"
)

// Filtered lists the files, each with the filter in parentheses, whose content differs between two trees and that the
// user's git would send through a filter, by the attributes of either tree, the repository's, the user's or the
// system's. A commit of pawl's would hold such a file as it is: a secret in plain text. Left out is a pointer of Git
// LFS, which is what its filter would make of it. Every named filter counts, configured or not.
func (r *Repo) Filtered(ctx context.Context, from, to string) (found []string, err error) {
	change, err := r.Objects.deltas(ctx, from, to)
	if err != nil || !r.paths.Git {
		return nil, err
	}
	ids := map[string]string{}
	var paths []string
	for _, d := range change {
		if d.new.ID != d.old.ID && (d.new.Mode == object.ModeFile || d.new.Mode == object.ModeExec) {
			paths, ids[d.path] = append(paths, d.path), d.new.ID
		}
	}
	filters := map[string]string{}
	for _, tree := range []string{from, to} {
		if err := r.filters(ctx, tree, paths, filters); err != nil {
			return nil, err
		}
	}
	for _, path := range paths {
		name := filters[path]
		if name == "lfs" {
			if pointer, err := r.Objects.isPointer(ctx, ids[path]); err != nil {
				return nil, err
			} else if pointer {
				continue
			}
		}
		if name != "" {
			found = append(found, path+" ("+name+")")
		}
	}
	return found, nil
}

// filters notes the filters of paths by the attributes of a tree; without a tree, by those of the workspace.
func (r *Repo) filters(ctx context.Context, tree string, paths []string, filters map[string]string) error {
	if len(paths) == 0 {
		return nil
	}
	index := ""
	if tree != "" {
		dir, err := os.MkdirTemp(r.paths.State("tmp"), "index-"+lockfile.Maker()+"-*")
		if err != nil {
			return program.IOError("git.index", err)
		}
		defer os.RemoveAll(dir)
		index = dir + "/index"
		if _, _, err := r.paths.On(index, "", "read-tree", tree).Run(ctx); err != nil {
			return r.Objects.missing(ctx, err, tree)
		}
	}
	out, _, err := r.paths.CheckAttr(index, paths, "filter").Run(ctx)
	for f := program.Fields(string(out)); len(f) >= 3; f = f[3:] {
		if value := f[2]; value != "unspecified" && value != "unset" && value != "set" {
			filters[f[0]] = value
		}
	}
	return err
}

// isPointer reports whether a blob is a pointer of Git LFS.
func (r Objects) isPointer(ctx context.Context, id string) (is bool, err error) {
	err = r.Blobs(ctx, []string{id}, func(_ int, size int64, content io.Reader) error {
		const pointer = "version https://git-lfs.github.com/spec/v1\n"
		text := &program.Capped{Limit: len(pointer)}
		_, err := io.CopyN(text, content, size)
		is = string(text.Kept) == pointer && size < 1024 // as Git LFS tells them
		return err
	})
	return is, err
}

// FilteredFiles lists the tracked files that the user's git sends through a filter, each with the filter in
// parentheses.
func (r *Repo) FilteredFiles(ctx context.Context) (found []string, err error) {
	if !r.paths.Git {
		return nil, nil
	}
	out, _, err := r.paths.Plumbing("", "ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD").Answering(128).Run(ctx)
	files := program.Fields(string(out))
	filters := map[string]string{}
	if err == nil {
		err = r.filters(ctx, "", files, filters)
	}
	for _, path := range files {
		if name := filters[path]; name != "" {
			found = append(found, path+" ("+name+")")
		}
	}
	return found, err
}
