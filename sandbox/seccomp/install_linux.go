package seccomp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Install puts a filter on the calling thread, which must have no_new_privs, and on what it starts afterwards.
func Install(program []unix.SockFilter) error {
	_, err := install(program, 0)
	return err
}

// Listen puts a filter on the calling thread as Install does, and returns the descriptor by which the calls that it
// hands over are received. A call that was received is not interrupted by signals that its program handles; before
// Linux 5.19 it may be, and is made anew then.
func Listen(program []unix.SockFilter) (int, error) {
	const listen = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
	fd, err := install(program, listen|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
	if err == unix.EINVAL {
		fd, err = install(program, listen)
	}
	return fd, err
}

func install(program []unix.SockFilter, flags uintptr) (int, error) {
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}
