//go:build unix

package contextpack

import (
	"io/fs"
	"syscall"
)

// inode returns what tells a file from another one that took its place.
func inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino)
	}
	return 0
}
