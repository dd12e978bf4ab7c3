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

// openGates makes the sockets of the order on the namespace's own loopback and hands them to pawl, who accepts from
// them: a socket belongs to the network that it was made in, whoever holds it. The launcher keeps none.
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
func takeGates(control *net.UnixConn, in io.Reader, n int, listen func(*os.File) (net.Listener, error)) (
	[]net.Listener, error) {
	var head [5]byte
	oob := make([]byte, unix.CmsgSpace(unix.SizeofUcred)+unix.CmsgSpace(4*maxGates))
	read, m, _, _, err := control.ReadMsgUnix(head[:], oob)
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
		_, body, _ := receive(io.MultiReader(bytes.NewReader(head[:]), in))
		return nil, errors.New(string(body))
	case parsed != nil || head[0] != msgGates || len(files) != n:
		return nil, errors.Join(errOrder, parsed)
	}
	var out []net.Listener
	for _, f := range files {
		l, err := listen(f)
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

// carry takes the gates of a command and serves them until shut is called, which waits for the last connection. The
// gates come over the control socket, from which in reads what is no gate.
func carry(control *net.UnixConn, in io.Reader, e Egress, o order) (shut func(), err error) {
	ports, listener := o.gates, net.FileListener
	if o.bare {
		listener = newWay
	}
	gates, err := takeGates(control, in, len(ports), listener)
	if err != nil {
		return nil, err
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
	return func() {
		cancel()
		closeAll(gates)
		serving.Wait()
	}, nil
}

func closeAll(gates []net.Listener) {
	for _, l := range gates {
		_ = l.Close()
	}
}

// way is a gate over which connections are handed one by one, by who has judged and made them.
type way struct{ conn *net.UnixConn }

func newWay(f *os.File) (net.Listener, error) {
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	return &way{c.(*net.UnixConn)}, nil
}

// Accept waits for the next connection.
func (w *way) Accept() (net.Conn, error) {
	for {
		var b [1]byte
		oob := make([]byte, unix.CmsgSpace(4))
		n, m, _, _, err := w.conn.ReadMsgUnix(b[:], oob)
		if err == nil && n == 0 {
			err = net.ErrClosed // the command has ended
		}
		if err != nil {
			return nil, err
		}
		files, err := received(oob[:m])
		for _, f := range files {
			c, failed := net.FileConn(f)
			_ = f.Close()
			if failed == nil && err == nil {
				return c, nil
			}
		}
	}
}

// Close ends Accept.
func (w *way) Close() error { return w.conn.Close() }

// Addr is where the connections come from.
func (w *way) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
