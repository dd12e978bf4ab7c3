package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// openGates makes the sockets of the order on the namespace's own loopback and hands them to pawl, who accepts from them:
// a socket belongs to the network that it was made in, whoever holds it. The launcher keeps none.
func (o *order) openGates() error {
	fds := make([]int, 0, len(o.gates))
	defer func() {
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
	}()
	for _, port := range o.gates {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("gate: %w", err)
		}
		fds = append(fds, fd)
		if err := unix.Bind(fd, &unix.SockaddrInet4{Port: int(port), Addr: [4]byte{127, 0, 0, 1}}); err != nil {
			return fmt.Errorf("gate at port %d: %w", port, err)
		}
		if err := unix.Listen(fd, unix.SOMAXCONN); err != nil {
			return fmt.Errorf("gate at port %d: %w", port, err)
		}
	}
	if err := unix.Sendmsg(controlFD, frame(msgGates, nil), unix.UnixRights(fds...), nil, 0); err != nil {
		return fmt.Errorf("gates: %w", err)
	}
	return nil
}

// takeGates receives the sockets of an order's gates.
func (c *child) takeGates(n int) ([]net.Listener, error) {
	var head [5]byte
	oob := make([]byte, unix.CmsgSpace(unix.SizeofUcred)+unix.CmsgSpace(4*maxGates))
	read, m, _, _, err := c.control.ReadMsgUnix(head[:], oob)
	files, parsed := received(oob[:m])
	defer func() {
		for _, f := range files {
			_ = f.Close()
		}
	}()
	switch {
	case err != nil || read != len(head):
		return nil, errors.Join(errors.New("the launcher ended early"), err)
	case head[0] == msgFailed:
		_, body, _ := receive(io.MultiReader(bytes.NewReader(head[:]), c.in))
		return nil, errors.New(string(body))
	case parsed != nil || head[0] != msgGates || len(files) != n:
		return nil, errors.Join(errOrder, parsed)
	}
	var out []net.Listener
	for _, f := range files {
		l, err := net.FileListener(f)
		if err != nil {
			closeAll(out)
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

// received takes the files out of a message's ancillary data.
func received(oob []byte) ([]*os.File, error) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	var out []*os.File
	for i := range msgs {
		if msgs[i].Header.Level != unix.SOL_SOCKET || msgs[i].Header.Type != unix.SCM_RIGHTS {
			continue
		}
		fds, err := unix.ParseUnixRights(&msgs[i])
		if err != nil {
			return out, err
		}
		for _, fd := range fds {
			out = append(out, os.NewFile(uintptr(fd), "gate"))
		}
	}
	return out, nil
}

// carry takes the gates of a command and serves them until c.shut is called, which waits for the last connection.
func (c *child) carry(e Egress, ports []uint16) error {
	gates, err := c.takeGates(len(ports))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	for i, l := range gates {
		serving.Go(func() {
			// A proxy that fails ends its connections, which is what the command sees; the command's end is the result.
			if i == 0 {
				_ = e.Serve(ctx, l)
				return
			}
			_ = e.ServeLocal(ctx, l, ports[i])
		})
	}
	c.shut = func() {
		cancel()
		closeAll(gates)
		serving.Wait()
	}
	return nil
}

func closeAll(gates []net.Listener) {
	for _, l := range gates {
		_ = l.Close()
	}
}
