package gateway

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"pawl"
	"pawl/kernel/effect"
)

// Times of a connection with the agent.
const (
	headTime = 10 * time.Second // for the head of a request
	bodyTime = time.Minute      // for its body
	keepTime = 2 * time.Minute  // between two requests
	maxHead  = 64 << 10         // bytes of a head
)

// lane implements agent.Lane.
type lane struct {
	g     *Gateway
	ctx   context.Context // the effect's: the lane ends with it
	host  effect.Host
	agent string
	free  chan struct{} // one place for each call at one time
	load  load

	mu      sync.Mutex
	usage   effect.Usage
	calls   int64
	serving int
	refused error // what ends the lane for good
	failed  error // how the last call ended, nil when it succeeded
	// failures counts the calls since the last good one that failed by no fault of the work.
	failures int
	tools    bool // a call that offered tools was made
}

// URL implements agent.Lane.
func (l *lane) URL(provider string) string {
	if _, ok := l.g.providers[provider]; !ok {
		return ""
	}
	return "/" + provider
}

// Usage implements agent.Lane.
func (l *lane) Usage() effect.Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.usage
}

// Refused implements agent.Lane.
func (l *lane) Refused() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused
}

// Err implements agent.Lane. A refusal for good is told at once: nothing that could not be set aside is asked for
// again, and a key that is refused stays wrong. Anything else may pass, and agents try again by themselves; only when
// the lane is no longer served is it told that the last call failed, since agents end without a word after such
// failures.
func (l *lane) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused != nil || l.serving > 0 {
		return l.refused
	}
	return l.failed
}

// unanswered reports whether a call failed by no fault of the work, and before there was an answer.
func unanswered(err error) bool {
	var e *pawl.Error
	return errors.As(err, &e) && e.Code == pawl.CodeEnvironment && e.Key != "agent.gateway_cut"
}

// enough is after how many failures in a row, none of which is the work's fault, a provider is taken for one that does
// not answer: agents go on asking for minutes.
const enough = 5

// end ends the lane for good.
func (l *lane) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused == nil {
		l.refused = err
	}
}

// note keeps how a call ended, nil for well. Calls on the side, such as for the title of a session, offer no tools and
// say nothing of how the work ends.
func (l *lane) note(tools bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if tools || !l.tools {
		l.failed = err
	}
	switch {
	case err == nil:
		l.failures = 0
	case unanswered(err):
		if l.failures++; l.failures >= enough && l.refused == nil {
			l.refused = err
		}
	}
	l.tools = l.tools || tools
}

func (l *lane) served(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serving += n
}

// Serve implements agent.Lane. It returns when every call is settled.
func (l *lane) Serve(ctx context.Context, listener net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	l.served(1)
	defer l.served(-1)
	var open gate
	srv := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !open.enter() {
				return
			}
			defer open.leave()
			l.answer(ctx, w, r)
		}),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: headTime, IdleTimeout: keepTime, MaxHeaderBytes: maxHead,
		// What the agent does wrong on the wire is told to the agent; nobody reads a log.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	defer context.AfterFunc(l.ctx, stop)()
	defer context.AfterFunc(ctx, func() { _ = srv.Close() })()
	err := srv.Serve(bounded(listener, 4*l.g.config.Limits.Calls))
	ended := ctx.Err() != nil || errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed)
	stop()
	_ = srv.Close()
	open.shut()
	if ended {
		return nil
	}
	return pawl.Fail(pawl.CodeIO, "agent.gateway_listener").Because(err).In("gateway.Serve")
}

// reserve sets aside what a call may cost. Once something could not be set aside, nothing more is paid for on this
// lane: the effect is over, and an agent that asks again must not find a call that happens to fit.
func (l *lane) reserve(ctx context.Context, most effect.Usage) (func(effect.Usage), error) {
	l.mu.Lock()
	err := l.refused
	l.mu.Unlock()
	if err != nil {
		return nil, err
	}
	settle, err := l.host.Reserve(ctx, most)
	if err != nil {
		if ctx.Err() == nil {
			l.end(err)
		}
		return nil, err
	}
	return func(cost effect.Usage) {
		l.mu.Lock()
		l.usage = l.usage.Plus(cost)
		l.mu.Unlock()
		settle(cost)
	}, nil
}

// number counts the calls of the lane.
func (l *lane) number() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	return l.calls
}

// load bounds what the requests of a lane hold in memory together, in pieces: an agent that sends many long ones waits.
type load struct {
	turn   sync.Mutex // those that wait take their pieces one after the other, so that none has half of what it needs
	pieces chan struct{}
}

// The size of a piece of memory, and how many requests of the longest kind there is room for.
const (
	pieceSize = 1 << 20
	longest   = 4
)

func newLoad(most int64) load { return load{pieces: make(chan struct{}, longest*(most/pieceSize+1))} }

// take waits for the room that a request of n bytes needs, at most most; n is -1 where nobody knows.
func (l *load) take(ctx context.Context, n, most int64) (release func(), ok bool) {
	if n < 0 || n > most {
		n = most
	}
	l.turn.Lock()
	defer l.turn.Unlock()
	taken := int64(0)
	release = func() {
		for ; taken > 0; taken-- {
			<-l.pieces
		}
	}
	for range n/pieceSize + 1 {
		select {
		case l.pieces <- struct{}{}:
			taken++
		case <-ctx.Done():
			release()
			return nil, false
		}
	}
	return release, true
}

// gate lets calls in until it is shut, and can then wait for those inside.
type gate struct {
	mu     sync.Mutex
	closed bool
	inside sync.WaitGroup
}

func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.inside.Add(1)
	}
	return !g.closed
}

func (g *gate) leave() { g.inside.Done() }

func (g *gate) shut() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.inside.Wait()
}

// bounded returns a listener on which no more than n connections are open at one time; further ones wait.
func bounded(l net.Listener, n int) net.Listener {
	return &boundedListener{Listener: l, free: make(chan struct{}, n), ended: make(chan struct{})}
}

type boundedListener struct {
	net.Listener
	free  chan struct{}
	ended chan struct{}
	once  sync.Once
}

func (b *boundedListener) Accept() (net.Conn, error) {
	select {
	case b.free <- struct{}{}:
	case <-b.ended:
		return nil, net.ErrClosed
	}
	c, err := b.Listener.Accept()
	if err != nil {
		<-b.free
		return nil, err
	}
	return &boundedConn{Conn: c, leave: sync.OnceFunc(func() { <-b.free })}, nil
}

func (b *boundedListener) Close() error {
	b.once.Do(func() { close(b.ended) })
	return b.Listener.Close()
}

type boundedConn struct {
	net.Conn
	leave func()
}

func (c *boundedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
