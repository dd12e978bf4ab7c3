//go:build unix

package owndir

import (
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// openFlags keep an open from waiting for the other end of a pipe, and from making a terminal the process's own.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY

// links is the number of names that a file has.
func links(info fs.FileInfo) uint64 { return uint64(info.Sys().(*syscall.Stat_t).Nlink) }

// device is the number of the file system that has a file.
func device(info fs.FileInfo) uint64 { return uint64(info.Sys().(*syscall.Stat_t).Dev) }

// owned reports whether a file belongs to this user, or to the user for whom root works by sudo.
func owned(info fs.FileInfo) bool {
	owner, me := int(info.Sys().(*syscall.Stat_t).Uid), os.Geteuid()
	return owner == me || me == 0 && strconv.Itoa(owner) == os.Getenv("SUDO_UID")
}
