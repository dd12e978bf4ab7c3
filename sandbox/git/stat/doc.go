// Package stat remembers how the file system described every file, link and folder of a tree that was recorded, so that
// another look need not read what is as it was. Whatever is done to a file moves the time of its last change (ctime),
// which programs cannot set; so a file that looks the same is the same, except within the grain of that time, where its
// content is read again. On systems without such a time nothing is remembered.
//
// What git's own memory of files, its index, takes beside this is in the benchmarks of package git. For a snapshot it
// is BenchmarkMemory, with 2 to 8 times the processor time. For a worktree that stands ready it is
// BenchmarkFingerprint, with 1.2 to 1.4 times; there git would do, if it saw permissions, empty folders and other
// names that a file was given.
package stat

import "pawl/sandbox/git/object"

// File is a file or link with what is recorded of it.
type File struct {
	Path string // relative to the tree, with slashes
	Node object.Node
}
