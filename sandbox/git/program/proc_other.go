//go:build !unix

package program

import (
	"os"
	"os/exec"
)

// start runs cmd. The system has neither process groups nor inheritable locks.
func start(cmd *exec.Cmd, _ *os.File) error { return cmd.Run() }
