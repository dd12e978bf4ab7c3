//go:build !linux

package sqlite_test

// playRole does nothing: the tests that need processes with roles run on Linux.
func playRole() {}
