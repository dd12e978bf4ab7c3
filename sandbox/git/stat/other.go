//go:build !linux

package stat

import (
	"context"
	"io/fs"
	"time"

	"pawl/sandbox/git/object"
)

// Stamp identifies a version of a file. Without a time of change that programs cannot set, none is trusted.
type Stamp struct{}

// StampFile tells nothing.
func StampFile(string) Stamp { return Stamp{} }

// Indexed tells nothing, so that git looks at the file.
func Indexed(string) (before [6]uint32, after [3]uint32, err error) { return before, after, nil }

// Settled is never true.
func (Stamp) Settled(time.Time) bool { return false }

// Reliable is never true.
func Reliable(string) bool { return false }

// Now cannot be known.
func Now(string) time.Time { return time.Time{} }

// Tree is what is remembered of a tree: nothing, on this system.
type Tree struct{}

// Change is never found.
type Change struct{}

// Look remembers nothing.
func Look(string, time.Time, string, map[string]object.Node, map[string]string, []string) *Tree {
	return nil
}

// Again never knows the tree.
func (*Tree) Again(string, time.Time, bool) ([]Change, []File, bool) { return nil, nil, true }

// Write has nothing to write.
func (*Tree) Write(context.Context, *object.Writer, []Change) (string, error) { return "", nil }

// Describe tells of nothing.
func (*Tree) Describe(func(string, fs.FileMode), func(string)) {}

// Fingerprint is none: without a time of change that programs cannot set, only contents tell.
func Fingerprint(string) (print string, settled bool) { return "", true }
