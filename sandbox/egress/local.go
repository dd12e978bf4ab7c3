package egress

import (
	"context"
	"net"
	"slices"
	"sync"

	"pawl"
)

// Local lists the ports of this machine's loopback that the rules name, each once.
func (p *Proxy) Local() []uint16 {
	var out []uint16
	for _, r := range p.rules {
		if r.Local() && !slices.Contains(out, r.Port) {
			out = append(out, r.Port)
		}
	}
	return out
}

// ServeLocal carries each connection of l to a port of Local, because programs do not ask a proxy for what they take
// for their own machine. It ends as Serve does. A port that no rule names is pawl.CodeDenied.
func (p *Proxy) ServeLocal(ctx context.Context, l net.Listener, port uint16) error {
	i := slices.IndexFunc(p.rules, func(r Rule) bool { return r.Local() && r.Port == port })
	if i < 0 {
		_ = l.Close()
		return pawl.Fail(pawl.CodeDenied, "sandbox.egress_port", int(port)).In("egress.ServeLocal")
	}
	return p.serve(ctx, l, func(ctx context.Context, c *call) { p.carryLocal(ctx, c, p.rules[i]) })
}

// carryLocal carries one connection.
func (p *Proxy) carryLocal(ctx context.Context, c *call, rule Rule) {
	c.rule = rule
	c.event.Host, c.event.Port, c.event.Allowed = rule.Host, rule.Port, true
	far, err := p.dialRule(ctx, c)
	if err != nil {
		c.event.Reason = Unreached
		return
	}
	defer far.Close()
	defer context.AfterFunc(ctx, func() { _ = far.Close() })()
	p.join(c, far)
}

// limiter is a listener that lets no more than so many connections be open at one time.
type limiter struct {
	net.Listener
	free  chan struct{}
	ended chan struct{}
	once  sync.Once
}

func newLimiter(l net.Listener, n int) *limiter {
	return &limiter{Listener: l, free: make(chan struct{}, n), ended: make(chan struct{})}
}

// Accept waits for a connection, and for its turn.
func (l *limiter) Accept() (net.Conn, error) {
	select {
	case l.free <- struct{}{}:
	case <-l.ended:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.free
		return nil, err
	}
	return &limited{Conn: c, release: sync.OnceFunc(func() { <-l.free })}, nil
}

// Close ends Accept.
func (l *limiter) Close() error {
	l.once.Do(func() { close(l.ended) })
	return l.Listener.Close()
}

// limited is a connection that makes room when it is closed.
type limited struct {
	net.Conn
	release func()
}

// Close closes the connection and makes room.
func (c *limited) Close() error {
	err := c.Conn.Close()
	c.release()
	return err
}

// CloseWrite passes the end of one direction on.
func (c *limited) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Conn.Close()
}
