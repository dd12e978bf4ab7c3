package notify

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"strings"
	"sync"

	"pawl"
	"pawl/sandbox/egress"
)

// way leads to the one place of a channel, through an egress proxy of its own.
type way struct {
	rule   egress.Rule
	near   *pipes
	served sync.WaitGroup
	stop   context.CancelFunc
}

// open opens the way to a place. The caller closes it.
func open(ctx context.Context, rule egress.Rule) *way {
	ctx, stop := context.WithCancel(ctx)
	w := &way{rule: rule, near: &pipes{conns: make(chan net.Conn), ended: make(chan struct{})}, stop: stop}
	proxy := egress.New([]egress.Rule{rule}, egress.Options{})
	w.served.Go(func() { _ = proxy.Serve(ctx, w.near) }) // its listener cannot fail
	return w
}

func (w *way) close() {
	w.stop()
	w.served.Wait()
}

// unreached says that there is no connection, so that nothing was sent.
func (w *way) unreached(err error) error {
	return pawl.Fail(pawl.CodeEnvironment, "notify.unreached", w.rule.String()).Because(err)
}

// dial connects to a place, which the proxy lets pass where it is the channel's.
func (w *way) dial(ctx context.Context, _, at string) (net.Conn, error) {
	near, err := w.near.dial(ctx)
	if err != nil {
		return nil, w.unreached(err)
	}
	if until, ok := ctx.Deadline(); ok {
		_ = near.SetDeadline(until)
	}
	_, err = fmt.Fprintf(near, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", at, at)
	if err == nil {
		err = allowed(near)
	}
	if err != nil {
		_ = near.Close()
		return nil, w.unreached(err)
	}
	return near, nil
}

// allowed reads the proxy's answer, and nothing of what comes behind it.
func allowed(from io.Reader) error {
	var head bytes.Buffer
	for one := make([]byte, 1); !bytes.HasSuffix(head.Bytes(), []byte("\r\n\r\n")); head.Write(one) {
		if _, err := io.ReadFull(from, one); err != nil || head.Len() > maxReply {
			return errors.Join(err, errors.New("no answer"))
		}
	}
	lines := textproto.NewReader(bufio.NewReader(&head))
	status, err := lines.ReadLine()
	if err != nil || strings.HasPrefix(status, "HTTP/1.1 200 ") {
		return err
	}
	fields, err := lines.ReadMIMEHeader()
	return errors.Join(errors.New(fields.Get("X-Pawl-Egress")), err)
}

// client asks over the way. A receiver that wants to send a message elsewhere has refused it.
func (w *way) client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: w.dial, DisableKeepAlives: true,
		MaxResponseHeaderBytes: maxReply},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// pipes is a listener that only this process can reach.
type pipes struct {
	conns chan net.Conn
	ended chan struct{}
	once  sync.Once
}

func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.ended:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.ended) })
	return nil
}

// Addr implements net.Listener.
func (*pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }
