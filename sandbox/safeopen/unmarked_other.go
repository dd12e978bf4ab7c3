//go:build !linux

package safeopen

// unmarked is nothing that this system knows.
const unmarked = 0
