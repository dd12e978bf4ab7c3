//go:build unix

package settings

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"pawl"
)

// TestOnlyRegularFilesAreRead: a pipe that nobody writes to and a directory are refused at once.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	pipe, file := filepath.Join(dir, "pipe"), filepath.Join(dir, "file")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.WriteFile(file, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{pipe, dir} {
		if _, err := ReadFile(name, 1); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if data, err := ReadFile(file, 1); err != nil || string(data) != "x" {
		t.Errorf("%q, %v", data, err)
	}
}
