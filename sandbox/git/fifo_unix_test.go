//go:build unix

package git_test

import (
	"syscall"
	"testing"
)

// fifo makes a file that is neither regular nor a link.
func fifo(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}
