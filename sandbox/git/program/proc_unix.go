//go:build unix && !linux

package program

import (
	"os"
	"os/exec"
	"syscall"
)

// start runs cmd in a process group of its own that is killed as a whole. The held lock is inherited, so that it
// outlives a killed pawl for as long as its git does.
func start(cmd *exec.Cmd, held *os.File) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if held != nil {
		cmd.ExtraFiles = []*os.File{held}
	}
	return cmd.Run()
}
