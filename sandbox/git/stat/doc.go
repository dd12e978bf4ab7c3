// Package stat remembers how the file system described every file, link and folder of a tree that was recorded, so that
// another look need not read what is as it was. Whatever is done to a file moves the time of its last change (ctime),
// which programs cannot set; so a file that looks the same is the same, except within the grain of that time, where its
// content is read again. On systems without such a time nothing is remembered.
package stat

import "pawl/sandbox/git/object"

// File is a file or link with what is recorded of it.
type File struct {
	Path string // relative to the tree, with slashes
	Node object.Node
}
