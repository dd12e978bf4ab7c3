// Package filter finds the files that the user's git would send through a filter. Pawl starts no filter, so what such a
// file has in a commit of pawl's could be a secret in plain text.
package filter

import (
	"context"
	"io"
	"os"

	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
	"pawl/sandbox/git/object"
	"pawl/sandbox/git/program"
	"pawl/store/lockfile"
)

// Changed lists the files, each with the filter in parentheses, whose content differs between two trees and that the
// user's git would send through a filter, by the attributes of either tree, the repository's, the user's or the
// system's. A commit of pawl's would hold such a file as it is: a secret in plain text. Left out is a pointer of Git
// LFS, which is what its filter would make of it. Every named filter counts, configured or not.
func Changed(ctx context.Context, r *git.Repo, from, to string) (found []string, err error) {
	if !r.Git() {
		return nil, nil
	}
	change, err := r.Objects.Diff(ctx, from, to)
	if err != nil {
		return nil, err
	}
	ids := map[string]string{}
	var paths []string
	for _, d := range change {
		if d.New.ID != d.Old.ID && (d.New.Mode == object.ModeFile || d.New.Mode == object.ModeExec) {
			paths, ids[d.Path] = append(paths, d.Path), d.New.ID
		}
	}
	filters := map[string]string{}
	for _, tree := range []string{from, to} {
		if err := named(ctx, r, tree, paths, filters); err != nil {
			return nil, err
		}
	}
	for _, path := range paths {
		name := filters[path]
		if name == "lfs" {
			if is, err := pointer(ctx, r.Objects, ids[path]); err != nil {
				return nil, err
			} else if is {
				continue
			}
		}
		if name != "" {
			found = append(found, path+" ("+name+")")
		}
	}
	return found, nil
}

// named notes the filters of paths by the attributes of a tree; without a tree, by those of the workspace.
func named(ctx context.Context, r *git.Repo, tree string, paths []string, filters map[string]string) error {
	if len(paths) == 0 {
		return nil
	}
	index := ""
	if tree != "" {
		dir, err := os.MkdirTemp(r.State("tmp"), "index-"+lockfile.Maker()+"-*")
		if err != nil {
			return program.IOError("git.index", err)
		}
		defer layout.Discard(r.Paths(), dir) //nolint:errcheck // a sweep removes it
		index = dir + "/index"
		if _, _, err := r.Paths().On(index, "", "read-tree", tree).Run(ctx); err != nil {
			return program.IOError("git.snapshot", err)
		}
	}
	out, _, err := layout.CheckAttr(r.Paths(), index, paths, "filter").Run(ctx)
	for f := program.Fields(string(out)); len(f) >= 3; f = f[3:] {
		if value := f[2]; value != "unspecified" && value != "unset" && value != "set" {
			filters[f[0]] = value
		}
	}
	return err
}

// pointer reports whether a blob is a pointer of Git LFS.
func pointer(ctx context.Context, objects git.Objects, id string) (is bool, err error) {
	err = objects.Blobs(ctx, []string{id}, func(_ int, size int64, content io.Reader) error {
		const version = "version https://git-lfs.github.com/spec/v1\n"
		text := &program.Capped{Limit: len(version)}
		_, err := io.CopyN(text, content, size)
		is = string(text.Kept) == version && size < 1024 // as Git LFS tells them
		return err
	})
	return is, err
}

// Files lists the tracked files that the user's git sends through a filter, each with the filter in
// parentheses.
func Files(ctx context.Context, r *git.Repo) (found []string, err error) {
	if !r.Git() {
		return nil, nil
	}
	out, _, err := r.Paths().Plumbing("", "ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD").Answering(128).
		Run(ctx)
	files := program.Fields(string(out))
	filters := map[string]string{}
	if err == nil {
		err = named(ctx, r, "", files, filters)
	}
	for _, path := range files {
		if name := filters[path]; name != "" {
			found = append(found, path+" ("+name+")")
		}
	}
	return found, err
}
