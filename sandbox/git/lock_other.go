//go:build !unix

package git

// alive reports whether a process with the id may exist. It cannot be found out here, so it may.
func alive(int) bool { return true }
