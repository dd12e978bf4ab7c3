//go:build unix

package outside

import "syscall"

// ownSession keeps the signals of pawl's terminal from a program.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
