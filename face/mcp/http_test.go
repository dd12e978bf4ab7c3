package mcp

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pawl"
	"pawl/face/fault"
)

const secret = "a-token-for-the-tests"

// serveHTTP serves the lab and returns the address and a function that ends it.
func (l *lab) serveHTTP() (at string, end func() error) {
	l.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- l.server.HTTP(ctx, "127.0.0.1:0", secret, func(url string) { ready <- url }) }()
	select {
	case at = <-ready:
	case err := <-ended:
		l.t.Fatal(err)
	}
	end = func() error { stop(); return <-ended }
	return at, end
}

// withToken adds the header that every request needs.
type withToken struct{}

func (withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+secret)
	return http.DefaultTransport.RoundTrip(r)
}

func TestHTTP(t *testing.T) {
	l := newLab(t)
	at, end := l.serveHTTP()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "net"}, nil).Connect(t.Context(),
		&sdk.StreamableClientTransport{Endpoint: at, HTTPClient: &http.Client{Transport: withToken{}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "ask_human",
		Arguments: map[string]any{"question": "who am I?"}}); err != nil || r.IsError {
		t.Errorf("%v %+v", err, r)
	}
	if open, err := l.k.Questions(t.Context()); err != nil || len(open) != 1 || open[0].By != "agent:mcp/net" {
		t.Errorf("%v %+v", err, open)
	}
	_ = c.Close()
	if err := end(); err != nil {
		t.Errorf("end: %v", err)
	}
}

func TestGuard(t *testing.T) {
	l := newLab(t)
	at, end := l.serveHTTP()
	defer func() { _ = end() }()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	port := u.Port()
	for _, c := range []struct {
		name   string
		change func(r *http.Request)
		want   int
	}{
		{"good", func(*http.Request) {}, 200},
		{"localhost", func(r *http.Request) { r.Host = "localhost:" + port }, 200},
		{"IPv6", func(r *http.Request) { r.Host = "[::1]:" + port }, 200},
		{"own page", func(r *http.Request) { r.Header.Set("Origin", "http://localhost:"+port) }, 200},
		{"lower case scheme", func(r *http.Request) { r.Header.Set("Authorization", "bearer "+secret) }, 200},
		{"rebound name", func(r *http.Request) { r.Host = "evil.example:" + port }, 403},
		{"name that begins well", func(r *http.Request) { r.Host = "localhost.evil.example:" + port }, 403},
		{"address of the network", func(r *http.Request) { r.Host = "192.168.0.1:" + port }, 403},
		{"other port", func(r *http.Request) { r.Host = "localhost:1" }, 403},
		{"no port", func(r *http.Request) { r.Host = "localhost" }, 403},
		{"other page", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
		{"page on another port", func(r *http.Request) { r.Header.Set("Origin", "http://localhost:1") }, 403},
		{"page of a file", func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		{"two origins", func(r *http.Request) {
			r.Header["Origin"] = []string{"http://localhost:" + port, "http://evil.example"}
		}, 403},
		{"secure page", func(r *http.Request) { r.Header.Set("Origin", "https://localhost:"+port) }, 403},
		{"cross-site fetch", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		{"no token", func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		{"wrong token", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+secret+"x") }, 401},
		{"empty token", func(r *http.Request) { r.Header.Set("Authorization", "Bearer ") }, 401},
		{"other scheme", func(r *http.Request) { r.Header.Set("Authorization", "Basic "+secret) }, 401},
		{"two tokens", func(r *http.Request) { r.Header.Add("Authorization", "Bearer "+secret) }, 401},
		{"other path", func(r *http.Request) { r.URL.Path = "/" }, 404},
		{"preflight of a page", func(r *http.Request) {
			r.Method = http.MethodOptions
			r.Header.Set("Origin", "http://evil.example")
			r.Header.Set("Access-Control-Request-Method", "POST")
		}, 403},
		{"too large", func(r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader(strings.Repeat(" ", maxFrame+
				1)))
		}, 413},
	} {
		body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+secret)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.ContentLength = -1
		c.change(r)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != c.want {
			t.Errorf("%s: %d, want %d: %s", c.name, res.StatusCode, c.want, text)
		}
		for name := range res.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s: the answer has %s", c.name, name)
			}
		}
		var refused struct{ Error fault.Fault }
		if c.want/100 == 4 && c.want != 413 && (json.Unmarshal(text, &refused) != nil || refused.Error.Code == "" ||
			refused.Error.Hint == "") {
			t.Errorf("%s: no code and next step: %s", c.name, text)
		}
		if strings.Contains(string(text), secret) {
			t.Errorf("%s: the answer has the token", c.name)
		}
	}
}

func TestOnlyLoopback(t *testing.T) {
	l := newLab(t)
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "192.168.0.1:80", "example.com:80", "127.0.0.1",
		"localhost", "", "127.0.0.1.evil.example:0", "[::1%lo]:0"} {
		if err := l.server.HTTP(t.Context(), addr, secret,
			func(string) { t.Errorf("%s is served", addr) }); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("%q: %v", addr, err)
		}
	}
	if err := l.server.HTTP(t.Context(), "127.0.0.1:0", "short",
		func(string) { t.Error("a short token is served") }); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Errorf("short token: %v", err)
	}
	at, end := l.serveHTTP()
	u, _ := url.Parse(at)
	if err := l.server.HTTP(t.Context(), u.Host, secret, func(string) {}); pawl.CodeOf(err) != pawl.CodeEnvironment {
		t.Errorf("taken port: %v", err)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}
