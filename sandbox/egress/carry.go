package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// refusal is a connection that is not made.
type refusal struct {
	reason Reason
	err    error
}

// Error names the reason.
func (r *refusal) Error() string { return string(r.reason) }

// Unwrap returns the cause.
func (r *refusal) Unwrap() error { return r.err }

// fail answers an allowed request that came to nothing.
func (c *call) fail(err error) {
	reason := Unreached
	var r *refusal
	if errors.As(err, &r) {
		reason = r.reason
	}
	c.event.Allowed = reason != Private
	c.refuse(reason)
}

// refuse tells the program in words why there is no connection, so that it can be read in its output.
func (c *call) refuse(reason Reason) {
	c.event.Reason = reason
	status := "403 Forbidden"
	switch reason {
	case Malformed:
		status = "400 Bad Request"
	case Unresolved, Unreached:
		status = "502 Bad Gateway"
	}
	body := "pawl: no connection to " + c.event.Host + ": " + string(reason) + "\n"
	_ = c.near.SetDeadline(time.Now().Add(time.Second))
	_, err := io.WriteString(c.near, "HTTP/1.1 "+status+
		"\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: "+
		strconv.Itoa(len(body))+"\r\nX-Pawl-Egress: "+string(reason)+"\r\nConnection: close\r\n\r\n"+body)
	if half, ok := c.near.(interface{ CloseWrite() error }); ok && err == nil {
		// A connection that is closed with something unread is reset, and the answer is lost with it.
		_ = half.CloseWrite()
		_, _ = io.CopyN(io.Discard, c.near, maxHead)
	}
}

// send writes to the place and counts.
func (c *call) send(far net.Conn, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	n, err := far.Write(data)
	c.sent.Add(int64(n))
	return err
}

// join carries bytes both ways until both sides have ended or nothing has moved for the idle time.
func (p *Proxy) join(c *call, far net.Conn) {
	touch := func() {
		until := time.Now().Add(p.o.Idle)
		_, _ = c.near.SetDeadline(until), far.SetDeadline(until)
	}
	touch()
	var both sync.WaitGroup
	both.Go(func() { flow(far, c.near, &c.sent, touch) })
	both.Go(func() { flow(c.near, far, &c.received, touch) })
	both.Wait()
}

// flow copies one direction and passes its end on, so that a program that is done writing can still read.
func flow(to, from net.Conn, n *atomic.Int64, touch func()) {
	buf := make([]byte, 32<<10)
	for {
		read, err := from.Read(buf)
		if read > 0 {
			touch()
			if _, werr := to.Write(buf[:read]); werr != nil {
				_ = from.Close()
				break
			}
			n.Add(int64(read))
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			_ = to.Close()
			return
		}
	}
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
		return
	}
	_ = to.Close()
}

// dial connects a request to its place, through the user's own proxy if there is one. The proxy is returned when the
// request itself is for it to read. A name is resolved and judged here either way, because a company's proxy reaches
// that company's inner network.
func (p *Proxy) dial(ctx context.Context, r *request, c *call) (net.Conn, *url.URL, error) {
	scheme := "http"
	if r.connect {
		scheme = "https"
	}
	var up *url.URL
	if !c.rule.Local() { // the loopback is never behind a proxy
		var err error
		if up, err = p.o.Upstream(scheme, c.event.Host, c.event.Port); err != nil {
			return nil, nil, &refusal{Unreached, err}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if up == nil {
		conn, err := p.dialRule(ctx, c)
		return conn, nil, err
	}
	places, err := p.throughProxy(ctx, r, c)
	if err != nil {
		return nil, nil, err
	}
	for _, place := range places {
		var conn net.Conn
		if conn, err = p.dialProxy(ctx, up); err != nil {
			break
		}
		if place == "" {
			return conn, up, nil
		}
		if err = ask(ctx, conn, up, place); err == nil {
			return conn, nil, nil
		}
		_ = conn.Close()
	}
	return nil, nil, &refusal{Unreached, err}
}

// throughProxy lists what the user's proxy may be asked to connect to, in order; "" is the request as it is. A host of
// the user's settings or of pawl's own is asked for by name, also one that is unknown on this machine. Any other is
// asked for by the addresses that were judged, so that its name cannot lead elsewhere when the proxy resolves it.
func (p *Proxy) throughProxy(ctx context.Context, r *request, c *call) ([]string, error) {
	trusted := c.rule.Private || p.o.Trusted || ownRegistry(c.event.Host)
	if trusted {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, lookupTime)
		defer cancel()
	}
	addresses, err := p.resolve(ctx, c.rule, c.event.Host)
	var refused *refusal
	switch {
	case err != nil && (!trusted || !errors.As(err, &refused) || refused.reason != Unresolved):
		return nil, err
	case trusted && r.connect:
		return []string{r.authority()}, nil
	case trusted:
		return []string{""}, nil
	}
	places := make([]string, len(addresses))
	for i, a := range addresses {
		places[i] = netip.AddrPortFrom(a, c.event.Port).String()
	}
	return places, nil
}

// dialRule resolves the place once, judges the addresses by the rule, and connects to the first that may be connected
// to and answers.
func (p *Proxy) dialRule(ctx context.Context, c *call) (net.Conn, error) {
	addresses, err := p.resolve(ctx, c.rule, c.event.Host)
	if err != nil {
		return nil, err
	}
	for _, a := range addresses {
		var conn net.Conn
		if conn, err = p.dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(a, c.event.Port).String()); err == nil {
			return conn, nil
		}
	}
	return nil, &refusal{Unreached, err}
}

// resolve lists the addresses of a place that may be connected to, at least one.
func (p *Proxy) resolve(ctx context.Context, rule Rule, host string) ([]netip.Addr, error) {
	if rule.Local() {
		if a, err := netip.ParseAddr(rule.Host); err == nil {
			return []netip.Addr{a}, nil
		}
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	all, err := p.o.Lookup(ctx, host)
	if err != nil || len(all) == 0 {
		return nil, &refusal{Unresolved, err}
	}
	var out []netip.Addr
	for _, a := range all {
		if rule.reachable(a) {
			out = append(out, a.Unmap())
		}
	}
	if len(out) == 0 {
		return nil, &refusal{Private, nil}
	}
	return out, nil
}

// dialProxy connects to the user's own proxy. One that wants to be spoken to with TLS is not supported.
func (p *Proxy) dialProxy(ctx context.Context, up *url.URL) (net.Conn, error) {
	if up.Scheme != "http" {
		return nil, errors.New("proxy of scheme " + up.Scheme)
	}
	port := up.Port()
	if port == "" {
		port = "80"
	}
	return p.dialer.DialContext(ctx, "tcp", net.JoinHostPort(up.Hostname(), port))
}

// ask sends a CONNECT of our own and reads its answer byte by byte, because what follows the answer belongs to the
// tunnel.
func ask(ctx context.Context, conn net.Conn, up *url.URL, place string) error {
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	_, err := io.WriteString(conn, "CONNECT "+place+" HTTP/1.1\r\nHost: "+place+"\r\n"+credentials(up)+"\r\n")
	if err != nil {
		return err
	}
	head, _, err := readHead(oneByOne{conn})
	if err != nil {
		return err
	}
	status, _, _ := strings.Cut(head, "\r\n")
	version, code, _ := strings.Cut(status, " ")
	if !strings.HasPrefix(version, "HTTP/1.") || !strings.HasPrefix(code, "200") {
		return errors.New("the proxy answers " + code)
	}
	return nil
}

// oneByOne hands out one byte at a time.
type oneByOne struct{ r io.Reader }

// Read reads one byte.
func (o oneByOne) Read(p []byte) (int, error) { return o.r.Read(p[:1]) }
