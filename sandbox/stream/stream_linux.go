package stream

import (
	"os"

	"golang.org/x/sys/unix"
)

// private connects two ends. own is pawl's, which waits without a thread; the command expects one that blocks.
func private(own int) (r, w *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	err = os.NewSyscallError("fcntl", unix.SetNonblock(pair[own], true))
	return os.NewFile(uintptr(pair[0]), "stream"), os.NewFile(uintptr(pair[1]), "stream"), err
}
