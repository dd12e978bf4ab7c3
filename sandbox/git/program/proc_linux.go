package program

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// start runs cmd in a process group of its own that is killed as a whole, and that ends when this process ends. The
// held lock is inherited, so that it outlives a killed pawl for as long as its git does.
func start(cmd *exec.Cmd, held *os.File) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if held != nil {
		cmd.ExtraFiles = []*os.File{held}
	}
	// The parent-death signal is bound to the thread that forks, which therefore must not end before the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return cmd.Run()
}
