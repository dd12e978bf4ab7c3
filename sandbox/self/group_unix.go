//go:build unix

package self

import "syscall"

// ownGroup keeps the signals of pawl's terminal from a process.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
