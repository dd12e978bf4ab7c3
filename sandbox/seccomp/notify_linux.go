package seccomp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Call is a system call that waits for a decision. The thread that made it stands still until it is answered, and other
// threads of its program go on: what its arguments point to can change at any time.
type Call struct {
	// ID names the call towards the kernel.
	ID uint64
	// PID is the thread that made it.
	PID uint32
	_   uint32
	// Number is the call's, Arch the architecture's.
	Number int32
	Arch   uint32
	IP     uint64
	Args   [6]uint64
}

// reply is the kernel's struct seccomp_notif_resp.
type reply struct {
	id    uint64
	val   int64
	err   int32
	flags uint32
}

// addition is the kernel's struct seccomp_notif_addfd.
type addition struct {
	id       uint64
	flags    uint32
	from, to uint32
	fdFlags  uint32
}

// Listener receives the calls that a filter hands over. It is safe for concurrent use.
type Listener struct{ fd int }

// NewListener returns the listener of a descriptor that Listen returned.
func NewListener(fd int) *Listener { return &Listener{fd} }

// Receive waits for the next call. An error other than ENOENT, which is a call whose program is gone, means that no
// further call will come.
func (l *Listener) Receive() (*Call, error) {
	for {
		fds := []unix.PollFd{{Fd: int32(l.fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil {
			if err == unix.EINTR {
				continue
			}
			return nil, err
		}
		if fds[0].Revents&unix.POLLIN == 0 {
			return nil, unix.EPIPE // no program has the filter any more
		}
		c := &Call{}
		err := l.control(unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(c))
		if err != unix.EINTR && err != unix.ENOENT {
			return c, err
		}
	}
}

// Valid reports whether the call still waits, and with it, whether PID is still the thread that made it.
func (l *Listener) Valid(c *Call) bool {
	return l.control(unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&c.ID)) == nil
}

// Continue lets the kernel carry the call out as if nobody had been asked. It is no permission: the arguments can have
// changed, so it is right only where other walls judge the call, or where all that matters is in the arguments
// themselves.
func (l *Listener) Continue(c *Call) error {
	r := reply{id: c.ID, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	return l.control(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
}

// Answer ends the call with an error, or without one.
func (l *Listener) Answer(c *Call, errno unix.Errno) error {
	r := reply{id: c.ID, err: -int32(errno)}
	return l.control(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
}

// Hand gives the program a descriptor as the call's result, and ends the call with that. The caller's own is closed in
// any case, and before the program goes on: it stands for the same open file, and a file that is open for writing
// anywhere cannot be executed. A program that was received is interrupted by nothing but its death (Listen), so that it
// never has the descriptor without the result.
func (l *Listener) Hand(c *Call, fd int, closeOnExec bool) error {
	a := addition{id: c.ID, from: uint32(fd)}
	if closeOnExec {
		a.fdFlags = unix.O_CLOEXEC
	}
	at, err := l.ask(unix.SECCOMP_IOCTL_NOTIF_ADDFD, unsafe.Pointer(&a))
	_ = unix.Close(fd)
	if err != nil {
		return err
	}
	r := reply{id: c.ID, val: int64(at)}
	return l.control(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
}

// Replace puts a copy of a descriptor in the place of one of the program's. The call goes on waiting.
func (l *Listener) Replace(c *Call, fd, at int, closeOnExec bool) error {
	a := addition{id: c.ID, from: uint32(fd), to: uint32(at), flags: unix.SECCOMP_ADDFD_FLAG_SETFD}
	if closeOnExec {
		a.fdFlags = unix.O_CLOEXEC
	}
	return l.control(unix.SECCOMP_IOCTL_NOTIF_ADDFD, unsafe.Pointer(&a))
}

func (l *Listener) control(request uintptr, arg unsafe.Pointer) error {
	_, err := l.ask(request, arg)
	return err
}

func (l *Listener) ask(request uintptr, arg unsafe.Pointer) (int, error) {
	for {
		n, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(l.fd), request, uintptr(arg))
		switch errno {
		case 0:
			return int(n), nil
		case unix.EINTR:
			continue
		}
		return 0, errno
	}
}
