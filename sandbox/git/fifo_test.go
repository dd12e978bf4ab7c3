package git_test

import (
	"os/exec"
	"testing"
)

// fifo makes a file that is neither regular nor a link, where the system has such files.
func fifo(t *testing.T, path string) {
	t.Helper()
	program, err := exec.LookPath("mkfifo")
	if err != nil {
		return
	}
	if out, err := exec.Command(program, "-m", "600", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
