package serve

import (
	"context"
	"net"

	"golang.org/x/sys/unix"

	"pawl/face/person"
)

// peerOf notes the program at the other end of a socket.
func peerOf(ctx context.Context, c net.Conn) context.Context {
	name := person.Unknown
	if u, ok := c.(*net.UnixConn); ok {
		if raw, err := u.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) {
				if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
					name = person.Called(int(cred.Pid))
				}
			})
		}
	}
	return context.WithValue(ctx, peer{}, name)
}
