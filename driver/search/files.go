package search

import (
	"context"
	"io/fs"

	"pawl/sandbox"
)

// ahead is how many folders of a folder Files lists while it visits the one before them: so many that the visitor seldom waits
// for a small one, and few enough to hold no more than a few descriptors.
const ahead = 6

// Files calls visit for every regular file of a tree, folder by folder in the order of names, without what .gitignore
// excludes, with the open folder that the file is in. An error of visit ends the walk and is returned, unless it is one of a
// single file or folder (not found, denied, input or output), which only ends that folder.
func Files(ctx context.Context, root *sandbox.Root, visit func(in *sandbox.Dir, rel string, d fs.DirEntry) error) error {
	w := walker{ctx: ctx, root: root, ahead: ahead, visit: func(in *folder, rel string, d fs.DirEntry) error {
		if !d.Type().IsRegular() {
			return nil
		}
		return visit(in.Dir, rel, d)
	}}
	return w.walk(".")
}
