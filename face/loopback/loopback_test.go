package loopback

import (
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pawl"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestListen: nothing but this machine is listened on, and a port that is taken is told.
func TestListen(t *testing.T) {
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "192.168.0.1:80", "example.com:80", "127.0.0.1",
		"localhost", "", "127.0.0.1.evil.example:0", "[::1%lo]:0"} {
		if l, err := Listen(t.Context(), addr); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("%q: %v %v", addr, l, err)
		}
	}
	l, err := Listen(t.Context(), "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := Listen(t.Context(), l.Addr().String()); pawl.CodeOf(err) != pawl.CodeEnvironment {
		t.Errorf("taken port: %v", err)
	}
}

// TestGuard: attacks of pages, by rebound names, other origins and other ports, are refused before anything is routed.
func TestGuard(t *testing.T) {
	for _, c := range []struct {
		name, host, origin, site string
		socket, good             bool
	}{
		{name: "a program", host: "127.0.0.1:8000", good: true},
		{name: "localhost", host: "LocalHost:8000", good: true},
		{name: "IPv6", host: "[::1]:8000", good: true},
		{name: "own page", host: "localhost:8000", origin: "http://localhost:8000", site: "same-origin", good: true},
		{name: "typed address", host: "localhost:8000", site: "none", good: true},
		{name: "rebound name", host: "evil.example:8000"},
		{name: "rebound name with its own origin", host: "evil.example:8000", origin: "http://evil.example:8000",
			site: "same-origin"},
		{name: "name that begins well", host: "localhost.evil.example:8000"},
		{name: "address of the network", host: "192.168.0.1:8000"},
		{name: "other port", host: "localhost:1"},
		{name: "no port", host: "localhost"},
		{name: "no host", host: ""},
		{name: "other page", host: "localhost:8000", origin: "http://evil.example"},
		{name: "other page that keeps its site to itself", host: "localhost:8000", origin: "http://evil.example:8000"},
		{name: "page on another port", host: "localhost:8000", origin: "http://localhost:1", site: "same-site"},
		{name: "page of a file", host: "localhost:8000", origin: "null"},
		{name: "secure page", host: "localhost:8000", origin: "https://localhost:8000"},
		{name: "cross-site fetch", host: "localhost:8000", site: "cross-site"},
		{name: "same-site fetch", host: "localhost:8000", site: "same-site"},
		{name: "unknown site", host: "localhost:8000", site: "x"},
		{name: "program at a socket", host: "anything", socket: true, good: true},
		{name: "page at a socket", host: "localhost", origin: "http://localhost", socket: true},
		{name: "fetch at a socket", host: "localhost", site: "same-site", socket: true},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodOptions} {
			in, refused := false, error(nil)
			g := &Guard{Port: "8000", Next: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { in = true }),
				Refuse: func(_ http.ResponseWriter, _ *http.Request, err error) { refused = err }}
			if c.socket {
				g.Port = ""
			}
			r := httptest.NewRequestWithContext(t.Context(), method, "/x", http.NoBody)
			r.Host = c.host
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			if c.site != "" {
				r.Header.Set("Sec-Fetch-Site", c.site)
			}
			g.ServeHTTP(httptest.NewRecorder(), r)
			if in != c.good || (refused == nil) != c.good || refused != nil && pawl.CodeOf(refused) != pawl.CodeDenied {
				t.Errorf("%s, %s: let in %v, %v", c.name, method, in, refused)
			}
		}
	}
	two := http.Header{"Origin": {"http://localhost:8000", "http://evil.example"}}
	if (&Guard{Port: "8000"}).ownOrigin(two) {
		t.Error("one good origin of two is enough")
	}
}

// TestArriving: by a link from elsewhere a person comes to the pages, and nothing else comes in by that.
func TestArriving(t *testing.T) {
	link := map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
	for _, c := range []struct {
		name, host, method string
		change             map[string]string
		good               bool
	}{
		{name: "a link in a message", host: "P-1.localhost:8000", good: true},
		{name: "a page of another port", host: "p-1.localhost:8000", change: map[string]string{"Sec-Fetch-Site": "same-site"}, good: true},
		{name: "the API", host: "127.0.0.1:8000"},
		{name: "a rebound name", host: "evil.example:8000"},
		{name: "another port", host: "p-1.localhost:1"},
		{name: "a form", host: "p-1.localhost:8000", method: http.MethodPost, change: map[string]string{"Origin": "http://evil.example"}},
		{name: "a form that keeps its origin to itself", host: "p-1.localhost:8000", method: http.MethodPost},
		{name: "a frame", host: "p-1.localhost:8000", change: map[string]string{"Sec-Fetch-Dest": "iframe"}},
		{name: "an object", host: "p-1.localhost:8000", change: map[string]string{"Sec-Fetch-Dest": "object"}},
		{name: "a script", host: "p-1.localhost:8000", change: map[string]string{"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}},
		{name: "a fetch", host: "p-1.localhost:8000", change: map[string]string{"Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}},
		{name: "no word of what for", host: "p-1.localhost:8000", change: map[string]string{"Sec-Fetch-Dest": ""}},
		{name: "with an origin", host: "p-1.localhost:8000", change: map[string]string{"Origin": "http://evil.example"}},
	} {
		in := false
		g := &Guard{Port: "8000", Name: "p-1.localhost", Next: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { in = true }),
			Refuse: func(http.ResponseWriter, *http.Request, error) {}}
		r := httptest.NewRequestWithContext(t.Context(), cmp.Or(c.method, http.MethodGet), "/x", http.NoBody)
		r.Host = c.host
		for _, headers := range []map[string]string{link, c.change} {
			for k, v := range headers {
				r.Header.Set(k, v)
			}
		}
		if g.ServeHTTP(httptest.NewRecorder(), r); in != c.good {
			t.Errorf("%s: let in %v", c.name, in)
		}
	}
}

// TestBearer: exactly one header, of that scheme.
func TestBearer(t *testing.T) {
	for _, c := range []struct {
		headers []string
		want    string
	}{
		{nil, ""}, {[]string{"Bearer x"}, "x"}, {[]string{"bearer  x "}, "x"}, {[]string{"Bearer"}, ""},
		{[]string{"Basic x"}, ""}, {[]string{"Bearer x", "Bearer x"}, ""},
	} {
		if got := Bearer(http.Header{"Authorization": c.headers}); got != c.want {
			t.Errorf("%q: %q", c.headers, got)
		}
	}
}

// TestServe: a request at work is let finish at the end, and a stream that does not end is cut.
func TestServe(t *testing.T) {
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	begun, goOn := make(chan bool, 2), make(chan bool)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun <- true
		<-goOn
		w.WriteHeader(http.StatusNoContent)
	})
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, l, h, nil) }()
	answered := make(chan int, 1)
	go func() {
		res, err := http.Get("http://" + l.Addr().String())
		if err != nil {
			t.Error(err)
			answered <- 0
			return
		}
		_ = res.Body.Close()
		answered <- res.StatusCode
	}()
	<-begun
	stop()
	time.Sleep(10 * time.Millisecond)
	close(goOn)
	if status := <-answered; status != http.StatusNoContent {
		t.Errorf("status %d", status)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("it still listens")
	}
	http.DefaultClient.CloseIdleConnections()
	closed, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	if err := Serve(t.Context(), closed, h, nil); pawl.CodeOf(err) != pawl.CodeIO {
		t.Errorf("a listener that is closed: %v", err)
	}
}

// TestABodyComesInTime: a client that goes silent in a body holds no handler, and one that was heard to the end is
// answered for as long as it takes.
func TestABodyComesInTime(t *testing.T) {
	defer func(d time.Duration) { bodyTime = d }(bodyTime)
	bodyTime = 200 * time.Millisecond
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended, read := make(chan error, 1), make(chan error, 2)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		if read <- err; err != nil {
			return
		}
		select {
		case <-r.Context().Done():
		case <-time.After(2 * bodyTime):
			_, _ = io.WriteString(w, "whole")
		}
	})
	go func() { ended <- Serve(ctx, l, h, nil) }()
	for sent, want := range map[string]string{"wh": "", "whole": "whole"} {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\n"+sent)
		select {
		case err := <-read:
			if (err == nil) != (want != "") {
				t.Errorf("%q: read with %v", sent, err)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%q: the handler still waits", sent)
		}
		if said, _ := io.ReadAll(c); want != "" && !strings.HasSuffix(string(said), want) {
			t.Errorf("%q: answered %q", sent, said)
		}
		_ = c.Close()
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
