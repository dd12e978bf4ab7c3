// Package need finds what tests need beside Go and git: programs, and namespaces in which they may mount.
package need

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Without is the environment variable that names, between spaces, the programs without which the tests are run.
// scripts/test.sh sets it where a program cannot be installed, names what was left out and does not end with status 0.
const Without = "PAWL_TEST_WITHOUT"

// Program returns the path of a program. It skips the test where the variable Without names the program, and fails it
// where the program is missing all the same, so that nothing is left out in silence.
func Program(t testing.TB, name string) string {
	t.Helper()
	if slices.Contains(strings.Fields(os.Getenv(Without)), name) {
		t.Skipf("left out: %s names %s", Without, name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is not installed: run make setup", name)
	}
	return path
}
