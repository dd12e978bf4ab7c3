package mcptools

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pawl"
	"pawl/agent"
)

// The protocol's last version with sessions. In later ones a server may have its list of tools cached by the client for
// as long as it likes, and then pawl would compare what it has with what it has.
const protocol = "2025-11-25"

const (
	// maxFrame bounds one message of a server, maxFlow everything that it sends in one call, in bytes.
	maxFrame = 16 << 20
	maxFlow  = 64 << 20
	// maxPages bounds the pages of a list of tools.
	maxPages = 32
	// keptErr is how much of what a program writes to its standard error is kept for the text of a failure.
	keptErr = 4 << 10
	// closing is how long a program has to end by itself once its input ended.
	closing = time.Second
)

// line is a connection to one server, with its program where it has one. It serves one call at a time.
type line struct {
	session *sdk.ClientSession
	program *program // nil over HTTP
	flow    *atomic.Int64
	// as it was when the connection was made: what becomes of its files later the running program does not see
	reach Reach
}

// program is a server's process.
type program struct {
	agent.Process
	mu   sync.Mutex
	tail []byte
	gone chan struct{}
	exit int
	err  error
}

// watch looks after a process until nothing of it is left.
func watch(p agent.Process) *program {
	r := &program{Process: p, gone: make(chan struct{})}
	read := make(chan struct{})
	go func() { defer close(read); r.collect() }()
	go func() {
		defer close(r.gone)
		r.exit, r.err = p.Wait()
		<-read
	}()
	return r
}

func (p *program) collect() {
	buf := make([]byte, 8<<10)
	for {
		n, err := p.Stderr().Read(buf)
		p.mu.Lock()
		p.tail = append(p.tail, buf[:n]...)
		if over := len(p.tail) - keptErr; over > 0 {
			p.tail = append(p.tail[:0], p.tail[over:]...)
		}
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// said is the last line that the program wrote to its standard error.
func (p *program) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(p.tail)), "\n")
	return agent.Line(lines[len(lines)-1])
}

// end ends the program and waits until no process of it is left.
func (p *program) end() {
	_ = p.Stdin().Close()
	select {
	case <-p.gone:
		return
	case <-time.After(closing):
	}
	p.Kill()
	<-p.gone
}

// cut ends the program without any grace of pawl's.
func (p *program) cut() {
	_ = p.Stdin().Close() // a write that nobody reads ends here
	p.Kill()
}

// metered counts what comes in, and breaks off beyond a bound.
type metered struct {
	io.ReadCloser
	flow *atomic.Int64
}

var errFlood = errors.New("the server sent more than pawl takes in one call")

func (m metered) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	if m.flow.Add(int64(n)) > maxFlow {
		return 0, errFlood
	}
	return n, err
}

// client is pawl's side of a connection. It offers a server nothing: no models, no questions to the person, no folders.
func client(version string) *sdk.Client {
	return sdk.NewClient(&sdk.Implementation{Name: "pawl", Version: version}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{}, MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
	})
}

// dial connects to a server, starting its program. Where it fails nothing of the program is left.
func (h *Hub) dial(ctx context.Context, s Server, p Place) (*line, error) {
	if err := s.Valid(); err != nil {
		return nil, err
	}
	r, err := s.reach()
	if err != nil {
		return nil, err
	}
	l := &line{flow: new(atomic.Int64), reach: r}
	var transport sdk.Transport
	if s.URL != "" {
		t, err := h.http(s, l.flow)
		if err != nil {
			return nil, err
		}
		transport = t
	} else {
		started, err := h.start(ctx, s, p)
		if err != nil {
			return nil, err
		}
		l.program = started
		transport = &sdk.IOTransport{Reader: metered{io.NopCloser(started.Stdout()), l.flow}, Writer: started.Stdin(),
			MaxLineLength: maxFrame}
	}
	defer l.guard(ctx)()
	session, err := client(h.config.Version).Connect(ctx, transport,
		&sdk.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		return nil, l.unreached(ctx, s, err)
	}
	l.session = session
	return l, nil
}

// guard ends the program when ctx ends, because a write to one that does not read waits for it whatever the context
// says.
func (l *line) guard(ctx context.Context) (stop func()) {
	if l.program == nil {
		return func() {}
	}
	done := context.AfterFunc(ctx, l.program.cut)
	return func() { done() }
}

// unreached says why a connection could not be made. Nothing was asked of the server yet.
func (l *line) unreached(ctx context.Context, s Server, err error) error {
	detail, started := "", error(nil)
	if l.program != nil {
		l.program.end()
		if detail, started = l.program.said(), l.program.err; detail == "" {
			detail = "exit " + strconv.Itoa(l.program.exit)
		}
	}
	var own *pawl.Error
	switch {
	case errors.Is(context.Cause(ctx), errSlow):
		return pawl.Fail(pawl.CodeEnvironment, "mcptools.silent", s.Name, detail).In("mcptools.Connect")
	case ctx.Err() != nil:
		return pawl.Fail(pawl.CodeCanceled, "mcptools.canceled",
			s.Name).Because(context.Cause(ctx)).In("mcptools.Connect")
	case errors.As(started, &own):
		return pawl.Fail(pawl.CodeEnvironment, "mcptools.not_started", s.Name).Because(own).In("mcptools.Connect")
	}
	if detail == "" {
		detail = agent.Line(cause(err).Error())
	}
	return pawl.Fail(pawl.CodeEnvironment, "mcptools.unreached", s.Name,
		detail).Because(cause(err)).In("mcptools.Connect")
}

// close ends the connection, and its program with everything that it left.
func (l *line) close() {
	if l.program != nil {
		l.program.end()
	}
	if l.session != nil {
		_ = l.session.Close() // its other side is gone
	}
}

// offered asks the server which tools it has.
func (l *line) offered(ctx context.Context, s Server) ([]*sdk.Tool, error) {
	l.flow.Store(0)
	defer l.guard(ctx)()
	var out []*sdk.Tool
	cursor := ""
	for range maxPages {
		page, err := l.session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, l.unreached(ctx, s, err)
		}
		out = append(out, page.Tools...)
		if cursor = page.NextCursor; cursor == "" {
			return out, nil
		}
		if len(out) > maxTools {
			break
		}
	}
	return nil, pawl.Fail(pawl.CodeInvalid, "mcptools.too_many", s.Name, maxTools).In("mcptools.Ask")
}

// call calls a tool. A *jsonrpc.Error is the server's answer that it did not; after any other error nobody knows.
func (l *line) call(ctx context.Context, name string, args any) (*sdk.CallToolResult, error) {
	l.flow.Store(0)
	defer l.guard(ctx)()
	return l.session.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: args})
}

// refusal returns the server's own answer that a call failed, if that is what an error is.
func refusal(err error) (*jsonrpc.Error, bool) {
	var wire *jsonrpc.Error
	if errors.As(err, &wire) && !errors.Is(err, sdk.ErrConnectionClosed) {
		return wire, true
	}
	return nil, false
}

// http is the way to a server at an address. Redirects are not followed: they would carry the key and the call
// elsewhere.
func (h *Hub) http(s Server, flow *atomic.Int64) (sdk.Transport, error) {
	carrier, err := h.config.Transport()
	if err != nil {
		return nil, err
	}
	key := ""
	if s.Key != nil {
		if key, err = s.Key(); err != nil {
			return nil, pawl.Fail(pawl.CodeEnvironment, "mcptools.no_key", s.Name).Because(err).In("mcptools.Connect")
		}
	}
	c := &http.Client{Transport: keyed{carrier, key, flow},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &sdk.StreamableClientTransport{Endpoint: s.URL, HTTPClient: c, DisableStandaloneSSE: true,
		MaxEventSize: maxFrame, MaxRetries: 2}, nil
}

// keyed shows a key with each request and counts what is answered.
type keyed struct {
	http.RoundTripper
	key  string
	flow *atomic.Int64
}

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	if k.key != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+k.key)
	}
	resp, err := k.RoundTripper.RoundTrip(r)
	if err == nil {
		resp.Body = metered{resp.Body, k.flow}
	}
	return resp, err
}
