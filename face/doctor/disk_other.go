//go:build !unix

package doctor

// freeSpace cannot tell on this system.
func freeSpace(string) (uint64, bool) { return 0, false }
