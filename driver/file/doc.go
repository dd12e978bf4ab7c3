// Package file holds the tools that read and change single files of the workspace: read_file, apply_patch, write_file
// and delete_file (docs/spec/turn.md#tools-list). Every tool is a value; it keeps no state and may be used by several
// goroutines at a time.
//
// The writing tools work in two halves (docs/spec/turn.md#s4-2, preflight and rollback). Preflight computes in memory
// what every file will hold and returns an image per file: what is there before, what will be there after, and how to
// get back. The images are committed before anything is written. Do compares the tree with the images and writes each
// file atomically; a file that already holds its new content is left alone, so a crash in the middle is repaired by Do
// itself. Done judges the tree by the same images, and Undo brings the old content back while nobody else has changed
// the files.
//
// The tree is reached through package safeopen only. Symbolic links are never followed: policy judged the path that the
// call names, and a link would make it another.
package file
