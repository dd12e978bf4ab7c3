package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// payloadsAt names the folder of the payloads, for a test that runs elsewhere.
const payloadsAt = "PAWL_TEST_PAYLOADS"

// nobody is a user of whom there is nothing on the machine.
const nobody = 65533

// What tries to get over the walls is tried by an ordinary user as well, where the tests are root's: other rights, other
// limits, and no cgroups.
func TestWallsHoldForAnOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		return // every test is
	}
	dir, err := os.MkdirTemp("", "pawl-user-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	home, tmp, exe := filepath.Join(dir, "home"), filepath.Join(dir, "tmp"), filepath.Join(dir, "sandbox.test")
	data, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(exe, data, 0o755)
	}
	if err == nil {
		err = os.CopyFS(filepath.Join(dir, "hostile"), os.DirFS(filepath.Join("..", "text", "policy", "testdata", "hostile")))
	}
	for _, d := range []string{home, tmp} {
		if err == nil {
			err = os.Mkdir(d, 0o700)
		}
		if err == nil {
			err = os.Chown(d, nobody, nobody)
		}
	}
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	tests := []string{"TestHostilePayloads", "TestNamedSockets", "TestWhatIsHiddenOfAHome",
		"TestSecretsOfTheTreeAreMasked", "TestNothingIsWrittenThroughHardLinks", "TestWritesOutsideAreRefused"}
	if *allPayloads {
		tests = append(tests, "TestBombsEndWithTheReason", "TestNothingGetsOut", "TestOtherProcessesAreInvisible",
			"TestDaemonsAreEndedWithTheCommand", "TestWhatComesAndGoesStopsNothing", "TestInternalsOfAWorkspaceAreReadOnly")
	}
	args := []string{"-test.run=^(" + strings.Join(tests, "|") + ")$", "-test.timeout=60m"}
	if *allPayloads {
		args = append(args, "-payloads")
	}
	cmd := exec.Command(exe, args...)
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "HOME="+home, "TMPDIR="+tmp, "XDG_CACHE_HOME=", "XDG_RUNTIME_DIR=",
		payloadsAt+"="+filepath.Join(dir, "hostile"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
