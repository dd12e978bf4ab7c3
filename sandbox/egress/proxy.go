package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"pawl"
)

// Defaults that stand in for a zero field of Options.
const (
	DefaultConns = 64
	DefaultIdle  = 2 * time.Minute

	// startTime bounds what comes before data flow: the head of a request, the resolution of a name, a connection.
	startTime = 30 * time.Second
	// lookupTime bounds the lookup of a host that goes to the user's proxy even if it is unknown here, because a
	// machine behind a proxy may have no name server that answers.
	lookupTime = 3 * time.Second
	// maxHead bounds the head of a request, and of an upstream proxy's answer.
	maxHead = 64 << 10
)

// Reason says why a connection was refused, or why it failed. Reasons are append-only.
type Reason string

// The reasons. The first four are refusals; the others are connections that were allowed and could not be made.
const (
	Malformed  Reason = "malformed"  // no request that a forward proxy answers
	Unlisted   Reason = "unlisted"   // no rule names the place
	Literal    Reason = "literal"    // an address instead of a name
	Private    Reason = "private"    // the name leads only to addresses that are not for everybody
	Unresolved Reason = "unresolved" // the name is not known
	Unreached  Reason = "unreached"  // nobody answers there
)

// Event is one decision, told when its connection is over. It is told from many goroutines.
type Event struct {
	// Host and Port are the place as it was asked for; both are zero for a malformed request.
	Host string `json:"host"`
	Port uint16 `json:"port"`
	// Allowed says that a rule names the place and its address may be connected to.
	Allowed bool   `json:"allowed"`
	Reason  Reason `json:"reason,omitempty"`
	// Sent and Received count the bytes that went out and came back.
	Sent     int64         `json:"sent"`
	Received int64         `json:"received"`
	Start    time.Time     `json:"start"`
	Duration time.Duration `json:"duration"`
}

// Options configures a Proxy. The zero value is right for production.
type Options struct {
	// Log, when not nil, is told of every decision.
	Log func(Event)
	// Conns is how many connections may be open at one time on a listener; further ones wait. Zero means DefaultConns.
	Conns int
	// Idle ends a connection in which nothing has moved for so long. Zero means DefaultIdle.
	Idle time.Duration
	// Upstream names the user's own proxy on the way to a place, or nil to connect directly; scheme is "https" for
	// CONNECT and "http" otherwise. Nil means FromEnvironment of pawl's own.
	Upstream func(scheme, host string, port uint16) (*url.URL, error)
	// Lookup resolves a name. Nil means the machine's resolver.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// Trusted says that pawl or the user's settings chose the hosts, and no plan. The user's proxy may then be asked
	// for a host that is unknown on this machine.
	Trusted bool
}

// Proxy is a forward proxy for a fixed list of places. It is safe for concurrent use and serves any number of
// listeners.
type Proxy struct {
	rules  []Rule
	o      Options
	dialer net.Dialer
}

// New returns a proxy for the places of rules.
func New(rules []Rule, o Options) *Proxy {
	p := &Proxy{rules: append([]Rule(nil), rules...), o: o, dialer: net.Dialer{Timeout: startTime}}
	if p.o.Log == nil {
		p.o.Log = func(Event) {}
	}
	if p.o.Conns <= 0 {
		p.o.Conns = DefaultConns
	}
	if p.o.Idle <= 0 {
		p.o.Idle = DefaultIdle
	}
	if p.o.Upstream == nil {
		p.o.Upstream = FromEnvironment(nil)
	}
	if p.o.Lookup == nil {
		p.o.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	return p
}

// Serve answers on l until ctx is done or l fails, closes l, and returns when the last of its connections is closed and
// told of. The end of ctx is no error.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error { return p.serve(ctx, l, p.answer) }

// serve hands each connection of l to one.
func (p *Proxy) serve(ctx context.Context, l net.Listener, one func(context.Context, *call)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	bounded := newLimiter(l, p.o.Conns)
	defer context.AfterFunc(ctx, func() { _ = bounded.Close() })()
	var open sync.WaitGroup
	for {
		near, err := bounded.Accept()
		if err != nil {
			ended := ctx.Err() != nil || errors.Is(err, net.ErrClosed)
			cancel()
			_ = bounded.Close()
			open.Wait()
			if ended {
				return nil
			}
			return pawl.Fail(pawl.CodeIO, "sandbox.egress").Because(err).In("egress.Serve")
		}
		open.Go(func() {
			defer near.Close()
			defer context.AfterFunc(ctx, func() { _ = near.Close() })()
			c := &call{near: near, event: Event{Start: time.Now()}}
			one(ctx, c)
			c.event.Sent, c.event.Received = c.sent.Load(), c.received.Load()
			c.event.Duration = time.Since(c.event.Start)
			p.o.Log(c.event)
		})
	}
}

// call is one connection on its way.
type call struct {
	near           net.Conn
	rule           Rule
	event          Event
	sent, received atomic.Int64
}

// answer reads one request, judges it and carries it. A connection carries one request: what a client sends after it
// goes where the first one went.
func (p *Proxy) answer(ctx context.Context, c *call) {
	_ = c.near.SetDeadline(time.Now().Add(startTime))
	r, err := readRequest(c.near)
	if err != nil {
		c.refuse(Malformed)
		return
	}
	if reason := p.judge(r, c); reason != "" {
		c.refuse(reason)
		return
	}
	far, through, err := p.dial(ctx, r, c)
	if err != nil {
		c.fail(err)
		return
	}
	defer far.Close()
	defer context.AfterFunc(ctx, func() { _ = far.Close() })()
	if r.connect {
		_, err = c.near.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n"))
	} else {
		err = c.send(far, r.head(through))
	}
	if err == nil {
		// What the client has sent before it was answered was read along with its request.
		err = c.send(far, r.early)
	}
	if err == nil {
		p.join(c, far)
	}
}

// judge finds the rule that lets a request pass, or the reason why none does.
func (p *Proxy) judge(r *request, c *call) Reason {
	host, address := canonical(r.host)
	if host == "" {
		return Malformed
	}
	r.host = host
	c.event.Host, c.event.Port = host, r.port
	for _, rule := range p.rules {
		if rule.matches(host, r.port) {
			c.rule, c.event.Allowed = rule, true
			return ""
		}
	}
	if address {
		return Literal
	}
	return Unlisted
}
