package mcp

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pawl"
)

// Path is where the server answers.
const Path = "/mcp"

// MinToken is the least length of a bearer token, in bytes.
const MinToken = 16

// idle is how long a session may be silent before it is closed, grace how long open requests may take at the end.
const (
	idle  = 30 * time.Minute
	grace = 2 * time.Second
)

// HTTP serves streamable HTTP on a loopback address, such as "127.0.0.1:0", until ctx ends, which is no error. Ready is
// told the address once clients can connect. Every request needs the token.
func (s *Server) HTTP(ctx context.Context, addr, token string, ready func(url string)) error {
	if len(token) < MinToken {
		return pawl.Fail(pawl.CodeInvalid, "mcp.token_short", MinToken).In("mcp.http")
	}
	l, err := listen(ctx, addr)
	if err != nil {
		return err
	}
	at := l.Addr().String()
	_, port, _ := net.SplitHostPort(at) // the address of a listener always has a port
	server := &http.Server{
		Handler:           s.handler(port, token),
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	ready("http://" + at + Path)
	select {
	case err = <-ended:
		return pawl.Fail(pawl.CodeIO, "mcp.stream_broken").In("mcp.http").Because(err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if server.Shutdown(last) != nil {
		_ = server.Close() // streams that clients hold open end here; nothing of theirs is lost
	}
	<-ended
	return nil
}

// listen opens a port on the loopback interface and nowhere else.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || !loopback(host) {
		return nil, pawl.Fail(pawl.CodeInvalid, "mcp.not_loopback", addr).In("mcp.http")
	}
	if host == "localhost" {
		host = "127.0.0.1" // what a resolver makes of a name is not asked
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, pawl.Fail(pawl.CodeEnvironment, "mcp.no_listener", addr).In("mcp.http").Because(cause(err))
	}
	return l, nil
}

// cause is the innermost reason of an error of the network, without the address that the message names already.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// loopback reports whether a host is the machine itself by its very spelling.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Zone() == "" && ip.IsLoopback()
}

// handler is what a listener on a port serves.
func (s *Server) handler(port, token string) http.Handler {
	get := func(*http.Request) *sdk.Server { return s.sdk }
	sessions := sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{
		SessionTimeout: idle, MaxRequestBodyBytes: maxFrame,
		// A stream that breaks off goes on where it was, so that the answer to a call is not lost.
		EventStore: sdk.NewMemoryEventStore(nil),
	})
	single := sdk.NewStreamableHTTPHandler(get,
		&sdk.StreamableHTTPOptions{Stateless: true, MaxRequestBodyBytes: maxFrame, PropagateRequestCancellation: true})
	both := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Session-Id") == "" && r.Header.Get("Mcp-Protocol-Version") >= sessionless {
			single.ServeHTTP(w, r)
			return
		}
		sessions.ServeHTTP(w, r)
	})
	return &guard{next: both, server: s, port: port, token: sha256.Sum256([]byte(token))}
}

// sessionless is the first version of the protocol in which each request stands alone. Clients of older versions have
// sessions.
const sessionless = "2026-07-28"

// guard lets in who names this very server, comes from no other site and has the token. A page that was made to resolve
// its own name to this machine fails at the first, a page of another site at the second, and every other program at the
// third.
type guard struct {
	next   http.Handler
	server *Server
	port   string
	token  [sha256.Size]byte
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	switch {
	case !g.here(r.Host):
		g.refuse(w, http.StatusForbidden, pawl.Fail(pawl.CodeDenied, "mcp.host", clip(r.Host, 100)))
	case !g.ownOrigin(r.Header):
		g.refuse(w, http.StatusForbidden, pawl.Fail(pawl.CodeDenied, "mcp.origin",
			clip(strings.Join(r.Header.Values("Origin"), " "), 100)))
	case r.URL.Path != Path:
		g.refuse(w, http.StatusNotFound, pawl.Fail(pawl.CodeNotFound, "mcp.path", Path))
	case !g.knows(r.Header.Values("Authorization")):
		h.Set("WWW-Authenticate", `Bearer realm="pawl"`)
		g.refuse(w, http.StatusUnauthorized, pawl.Fail(pawl.CodeLogin, "mcp.token"))
	default:
		g.next.ServeHTTP(w, r)
	}
}

// here reports whether a host with its port is this server.
func (g *guard) here(hostPort string) bool {
	host, port, err := net.SplitHostPort(hostPort)
	return err == nil && port == g.port && loopback(strings.ToLower(host))
}

// ownOrigin reports whether a request comes from no page, or from a page of this very server.
func (g *guard) ownOrigin(h http.Header) bool {
	if site := h.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return false
	}
	origins := h.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	u, err := url.Parse(origins[0])
	return len(origins) == 1 && err == nil && u.Scheme == "http" && g.here(u.Host)
}

// knows reports whether the one Authorization header carries the token. The comparison takes the same time for every
// other token.
func (g *guard) knows(headers []string) bool {
	if len(headers) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1
}

// refuse answers with an error in the form of the tools' errors.
func (g *guard) refuse(w http.ResponseWriter, status int, err error) {
	raw, failed := json.Marshal(map[string]any{"error": g.server.describe(err)})
	if failed != nil {
		raw = []byte("{}")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(raw, '\n')) // who was refused need not listen
}
