//go:build !unix

package outside

import "syscall"

func ownSession() *syscall.SysProcAttr { return nil }
