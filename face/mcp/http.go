package mcp

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net"
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pawl"
	"pawl/face/loopback"
)

// Path is where the server answers.
const Path = "/mcp"

// MinToken is the least length of a bearer token, in bytes.
const MinToken = 16

// idle is how long a session may be silent before it is closed.
const idle = 30 * time.Minute

// HTTP serves streamable HTTP on a loopback address, such as "127.0.0.1:0", until ctx ends, which is no error. Ready is
// told the address once clients can connect. Every request needs the token.
func (s *Server) HTTP(ctx context.Context, addr, token string, ready func(url string)) error {
	if len(token) < MinToken {
		return pawl.Fail(pawl.CodeInvalid, "mcp.token_short", MinToken).In("mcp.http")
	}
	l, err := loopback.Listen(ctx, addr)
	if err != nil {
		return err
	}
	at := l.Addr().String()
	_, port, _ := net.SplitHostPort(at) // the address of a listener always has a port
	ready("http://" + at + Path)
	return loopback.Serve(ctx, l, s.handler(port, token), nil)
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
	both := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Session-Id") == "" && r.Header.Get("Mcp-Protocol-Version") >= sessionless {
			single.ServeHTTP(w, r)
			return
		}
		sessions.ServeHTTP(w, r)
	}
	known := sha256.Sum256([]byte(token))
	own := func(w http.ResponseWriter, r *http.Request) {
		sum := sha256.Sum256([]byte(loopback.Bearer(r.Header)))
		switch {
		case r.URL.Path != Path:
			s.refuse(w, r, pawl.Fail(pawl.CodeNotFound, "mcp.path", Path))
		case subtle.ConstantTimeCompare(sum[:], known[:]) != 1: // which takes the same time for every other token
			w.Header().Set("WWW-Authenticate", `Bearer realm="pawl"`)
			s.refuse(w, r, pawl.Fail(pawl.CodeLogin, "mcp.token"))
		default:
			both(w, r)
		}
	}
	return &loopback.Guard{Port: port, Refuse: s.refuse, Next: http.HandlerFunc(own)}
}

// sessionless is the first version of the protocol in which each request stands alone. Clients of older versions have
// sessions.
const sessionless = "2026-07-28"

// refuse answers with an error in the form of the tools' errors.
func (s *Server) refuse(w http.ResponseWriter, _ *http.Request, err error) {
	raw, failed := json.Marshal(map[string]any{"error": s.describe(err)})
	if failed != nil {
		raw = []byte("{}")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(pawl.CodeOf(err).Info().HTTP)
	_, _ = w.Write(append(raw, '\n')) // who was refused need not listen
}
