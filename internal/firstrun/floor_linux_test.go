package firstrun

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// asProbe makes the test binary say what the machine lets it do.
const asProbe = "FIRSTRUN_PROBE"

func TestMain(m *testing.M) {
	Child()
	if os.Getenv(asProbe) == "1" {
		probe()
		return
	}
	os.Exit(m.Run())
}

// probe prints the error of each thing that a floor may forbid. A mount is asked for with a name of no file system, so
// that none is made where it is allowed.
func probe() {
	runtime.LockOSThread()
	_, _, landlock := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	_, _, clone3 := unix.Syscall(unix.SYS_CLONE3, 0, 0, 0)
	child, _, clone := unix.RawSyscall6(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if clone == 0 && child == 0 {
		unix.Exit(0)
	}
	if clone == 0 {
		_, _ = unix.Wait4(int(child), nil, 0, nil)
	}
	mount := unix.Mount("none", "/", "no-such-file-system", 0, "")
	_, _, unshare := unix.Syscall(unix.SYS_UNSHARE, 0, 0, 0) // of nothing, which is always allowed
	fmt.Printf("unshare=%d clone=%d clone3=%d mount=%v landlock=%d\n", int(unshare), int(clone), int(clone3), mount,
		int(landlock))
}

func TestFloors(t *testing.T) {
	t.Parallel()
	said := map[string]string{}
	for _, name := range []string{"none", noUserns, docker, apparmor, noLandlock, docker + "+" + noLandlock} {
		f, err := ParseFloor(name)
		if err != nil {
			t.Fatal(err)
		}
		cmd, err := f.command(context.Background(), []string{os.Args[0]})
		if err != nil {
			t.Fatal(err)
		}
		cmd.Env = []string{asProbe + "=1"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		said[name] = string(out)
	}
	nsp := int(syscall.ENOSPC)
	for name, want := range map[string]string{
		noUserns: fmt.Sprintf("clone=%d ", nsp), docker: fmt.Sprintf("unshare=%d clone=%d clone3=%d mount=%v",
			int(syscall.EPERM), int(syscall.EPERM), int(syscall.ENOSYS), syscall.EPERM),
		apparmor: fmt.Sprintf("mount=%v", syscall.EACCES), noLandlock: fmt.Sprintf("landlock=%d\n",
			int(syscall.EOPNOTSUPP)),
		docker + "+" + noLandlock: fmt.Sprintf("mount=%v landlock=%d\n", syscall.EPERM, int(syscall.EOPNOTSUPP)),
	} {
		if !strings.Contains(said[name], want) {
			t.Errorf("%s: %s, want %s", name, said[name], want)
		}
		if name != noLandlock && strings.Contains(said["none"], want) { // a kernel without Landlock says so everywhere
			t.Errorf("%s forbids nothing: %s without it", name, said["none"])
		}
	}
	if _, err := ParseFloor("cellar"); err == nil {
		t.Error("there is a cellar")
	}
}
