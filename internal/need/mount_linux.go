package need

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// Mounts runs a test once more in namespaces in which it may mount what it likes without harm, and is true there. Where
// it is false, the test has run, and has nothing to do any more.
func Mounts(t *testing.T) bool {
	t.Helper()
	const inside = "PAWL_TEST_MAY_MOUNT"
	if os.Getenv(inside) != "" {
		return true
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return false
}
