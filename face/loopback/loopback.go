// Package loopback serves HTTP to this machine alone: it listens nowhere else, and lets in only requests that name this
// very server and come from no other site.
package loopback

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"pawl"
	"pawl/text/display"
)

// grace is how long open requests may take at the end.
const grace = 2 * time.Second

// bodyTime is how long a request may take to come with its body: a client that goes silent in it holds a handler. The
// server lifts the limit once the body was read, so that it ends no stream of answers.
var bodyTime = time.Minute

// maxNamed bounds what a refusal repeats of a request, in bytes.
const maxNamed = 100

// Listen opens a port on the loopback interface and nowhere else. Addr is such as "127.0.0.1:0".
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || !own(host) {
		return nil, pawl.Fail(pawl.CodeInvalid, "loopback.elsewhere", addr).In("loopback.listen")
	}
	if host == "localhost" {
		host = "127.0.0.1" // what a resolver makes of a name is not asked
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, pawl.Fail(pawl.CodeEnvironment, "loopback.taken", addr).In("loopback.listen").Because(cause(err))
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

// own reports whether a host is the machine itself by its very spelling.
func own(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Zone() == "" && ip.IsLoopback()
}

// Serve serves what comes to a listener until ctx ends, which is no error. Open requests then get a moment to end;
// streams that clients hold open are cut, and nothing of theirs is lost. Prepare may change the server before it
// begins; it may be nil.
func Serve(ctx context.Context, l net.Listener, h http.Handler, prepare func(*http.Server)) error {
	// Streams end with ctx; whoever changes something is let finish.
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: bodyTime, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 32 << 10,
		BaseContext:    func(net.Listener) context.Context { return ctx },
	}
	if prepare != nil {
		prepare(server)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return pawl.Fail(pawl.CodeIO, "loopback.broken").In("loopback.serve").Because(err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if server.Shutdown(last) != nil {
		_ = server.Close()
	}
	<-ended
	return nil
}

// Guard lets in who names this very server and comes from no other site. A page that was made to resolve its own name
// to this machine fails at the first, and a page of another site at the second. It judges before anything is routed.
type Guard struct {
	Next http.Handler
	// Port is that of the listener, "" for a socket of the file system, which no page can reach: a request there may
	// name any host, and comes from no page at all.
	Port string
	// Name is a host name of the server's own below localhost, "" for none.
	Name string
	// Refuse answers a request that is not let in.
	Refuse func(w http.ResponseWriter, r *http.Request, err error)
}

// ServeHTTP implements http.Handler.
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	switch {
	case g.Port != "" && !g.here(r.Host):
		g.Refuse(w, r, pawl.Fail(pawl.CodeDenied, "loopback.host", display.Head(r.Host, maxNamed)))
	case !g.ownOrigin(r.Header) && !g.arrives(r):
		from := strings.Join(append(r.Header.Values("Origin"), r.Header.Values("Sec-Fetch-Site")...), " ")
		g.Refuse(w, r, pawl.Fail(pawl.CodeDenied, "loopback.origin", display.Head(from, maxNamed)))
	default:
		g.Next.ServeHTTP(w, r)
	}
}

// here reports whether a host with its port is this server.
func (g *Guard) here(hostPort string) bool {
	host, port, err := net.SplitHostPort(hostPort)
	return err == nil && g.Port != "" && port == g.Port &&
		(own(strings.ToLower(host)) || g.Name != "" && strings.EqualFold(host, g.Name))
}

// ownOrigin reports whether a request comes from no page, or from a page of this very server.
func (g *Guard) ownOrigin(h http.Header) bool {
	for _, site := range h.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" {
			return false
		}
	}
	origins := h.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	u, err := url.Parse(origins[0])
	return len(origins) == 1 && err == nil && u.Scheme == "http" && g.here(u.Host)
}

// arrives reports whether a person comes to a page by a link from elsewhere, say in a message: nothing is sent along,
// no frame is around it, and the browser shows the answer to nobody but the person. Cookies that are SameSite=Strict
// are not sent, so that nobody has entered as far as such a request is concerned.
func (g *Guard) arrives(r *http.Request) bool {
	host, _, _ := net.SplitHostPort(r.Host) // here has looked at it
	return g.Name != "" && strings.EqualFold(host, g.Name) && r.Method == http.MethodGet &&
		len(r.Header.Values("Origin")) == 0 && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document"
}

// Bearer is the token that the one Authorization header of a request carries, "" where there is none.
func Bearer(h http.Header) string {
	headers := h.Values("Authorization")
	if len(headers) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
