//go:build !unix

package git

import (
	"os"
	"os/exec"
)

// alive reports whether a process with the id may exist. It cannot be found out here, so it may.
func alive(int) bool { return true }

// start runs cmd. The system has neither process groups nor inheritable locks.
func start(cmd *exec.Cmd, _ *os.File) error { return cmd.Run() }
