// Package need finds what tests need beside Go and git: programs, and namespaces in which they may mount.
package need

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Without is the environment variable that names, between spaces, the programs without which the tests are run.
// scripts/test.sh sets it where a program cannot be installed, names what was left out and does not end with status 0.
const Without = "PAWL_TEST_WITHOUT"

// Python returns the Python of the system, which has a module. Without it, or without the module, it does what Program
// does without a program.
func Python(t testing.TB, module string) string {
	t.Helper()
	const python = "/usr/bin/python3"
	if slices.Contains(strings.Fields(os.Getenv(Without)), module) {
		t.Skipf("left out: %s names %s", Without, module)
	}
	if err := exec.Command(python, "-c", "import "+module).Run(); err != nil {
		t.Fatalf("%s is not installed: run make setup", module)
	}
	return python
}

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

// NoContract is the environment variable that says that the tests are run without what GitHub publishes of its API.
// scripts/test.sh sets it where that cannot be installed, and says so.
const NoContract = "PAWL_TEST_NO_CONTRACT"

// Contract returns the file in which GitHub's API is described, which scripts/contracts.sh installs, or "" where the
// variable NoContract says that there is none. It fails the test where the file is missing all the same.
func Contract(t testing.TB) string {
	t.Helper()
	if os.Getenv(NoContract) != "" {
		return ""
	}
	dir, err := os.Getwd()
	for up := ""; err == nil && up != dir; up, dir = dir, filepath.Dir(dir) {
		path := filepath.Join(dir, ".tools", "contracts", "api.github.com.json")
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Fatal("GitHub's contract is not installed: run scripts/contracts.sh ready")
	return ""
}
