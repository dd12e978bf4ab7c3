package search

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"pawl"
	"pawl/sandbox/ignore"
	"pawl/sandbox/safeopen"
)

// Files calls visit for every regular file of a tree, folder by folder in the order of names, without what .gitignore
// excludes, with the open folder that the file is in. An error of visit ends the walk and is returned, unless it is one
// of a single file or folder (not found, denied, input or output), which only ends that folder.
func Files(ctx context.Context, root *safeopen.Root,
	visit func(in *safeopen.Dir, rel string, d fs.DirEntry) error) error {
	return regular(ctx, root, nil, visit)
}

// Shown is Files for what agents are told of a tree of a workspace: without what .pawlignore hides.
func Shown(workspace string) func(ctx context.Context, root *safeopen.Root, visit func(in *safeopen.Dir, rel string, d fs.DirEntry) error) error {
	return func(ctx context.Context, root *safeopen.Root,
		visit func(in *safeopen.Dir, rel string, d fs.DirEntry) error) error {
		hidden, err := ignore.Open(root, workspace)
		if err != nil {
			return err
		}
		defer hidden.Close()
		return regular(ctx, root, hidden, visit)
	}
}

func regular(ctx context.Context, root *safeopen.Root, hidden *ignore.Hidden,
	visit func(in *safeopen.Dir, rel string, d fs.DirEntry) error) error {
	w := walker{ctx: ctx, root: root, hidden: hidden, visit: func(in *safeopen.Dir, rel string, d fs.DirEntry) error {
		if !d.Type().IsRegular() {
			return nil
		}
		return visit(in, rel, d)
	}}
	return w.walk(".")
}

// maxHidden is how many things of a tree can be hidden behind walls.
const maxHidden = 1000

// Hidden lists what .pawlignore hides of a tree of a workspace, as paths relative to the tree; of a folder that is
// hidden only the folder itself. What .gitignore excludes is looked through as well. A .pawlignore that cannot be read,
// and more than a thousand paths, are errors with CodeDenied: a wall that leaves something out would be none.
func Hidden(ctx context.Context, workspace, tree string) (out []string, err error) {
	root, err := safeopen.OpenRoot(tree)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	hidden, err := ignore.Open(root, workspace)
	if err != nil {
		return nil, err
	}
	defer hidden.Close()
	w := walker{ctx: ctx, root: root, hidden: hidden, whole: true}
	w.hid = func(rel string) { out = append(out, rel) }
	w.visit = func(*safeopen.Dir, string, fs.DirEntry) error {
		if len(out) > maxHidden {
			return errEnough
		}
		return nil
	}
	if err := w.walk("."); err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	if len(out) > maxHidden {
		return nil, pawl.Fail(pawl.CodeDenied, "ignore.many", maxHidden).In("search.Hidden")
	}
	slices.Sort(out)
	return out, nil
}
