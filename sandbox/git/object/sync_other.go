//go:build !linux

package object

import "os"

// begin has nothing to do.
func begin(*os.File) {}

// flush makes the content of a file durable.
func flush(f *os.File, _ bool) error { return f.Sync() }

// FileSystem tells of no file system that it can be relied on.
func FileSystem(string) (ordered, known bool) { return false, false }
