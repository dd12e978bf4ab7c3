package sandbox

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pawl"
	"pawl/sandbox/egress"
)

// reach plays a command that tries to get out: by the proxy of its environment, and past it.
func reach() {
	for target := range strings.FieldsSeq(os.Getenv("TARGETS")) {
		how, addr, _ := strings.Cut(target, "=")
		fmt.Printf("%s %s\n", how, attempt(how, addr))
	}
}

func attempt(how, addr string) string {
	at := addr
	if how == "proxy" {
		u, err := url.Parse(os.Getenv("HTTPS_PROXY"))
		if err != nil || u.Host == "" {
			return "no proxy"
		}
		at = u.Host
	}
	c, err := net.DialTimeout("tcp", at, 5*time.Second)
	if err != nil {
		return "no connection"
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	in := bufio.NewReader(c)
	if how == "proxy" {
		fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", addr, addr)
		line, _ := in.ReadString('\n')
		if !strings.Contains(line, " 200 ") {
			return strings.TrimSpace(line)
		}
		for line != "\r\n" {
			if line, err = in.ReadString('\n'); err != nil {
				return err.Error()
			}
		}
	}
	fmt.Fprint(c, "GET / HTTP/1.0\r\n\r\n")
	all, _ := io.ReadAll(in)
	_, body, _ := strings.Cut(string(all), "\r\n\r\n")
	return body
}

// echo is a server of this machine that says its name.
func echo(t *testing.T, name string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, name) }))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// beside is the address of a server of the test at an address of this machine that is no loopback, or else of one that
// is.
func beside(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(cmp.Or(ownAddress(), "127.0.0.1"), "0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			c.Close()
		}
	}()
	return l.Addr().String()
}

func TestOnlyGrantedPlacesAreReached(t *testing.T) {
	granted, other := echo(t, "granted"), echo(t, "other")
	rules, err := egress.Rules([]string{granted, "name.example"})
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, b *Box) {
		var mu sync.Mutex
		var events []egress.Event
		s := self(t, "reach", "HTTP_PROXY=http://elsewhere:1", "all_proxy=socks5://elsewhere:1", "no_proxy=*",
			"TARGETS="+strings.Join([]string{
				"proxy=" + granted, "proxy=" + other, "proxy=evil.example:443", "direct=" + granted, "direct=" +
					other, "direct=" + beside(t), "direct=192.0.2.1:443",
			}, " "))
		s.Egress = egress.New(rules, egress.Options{Log: func(e egress.Event) {
			mu.Lock()
			defer mu.Unlock()
			events = append(events, e)
		}})
		want := "proxy granted\nproxy HTTP/1.1 403 Forbidden\nproxy HTTP/1.1 403 Forbidden\ndirect granted\ndirect no connection\ndirect no connection\ndirect no connection\n"
		res := run(t, b, s)
		if got := string(res.Output); got != want {
			t.Errorf("%s", got)
		}
		if !slices.Contains(res.Walls, "seccomp") {
			t.Errorf("walls %q", res.Walls)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(events) != 4 {
			t.Fatalf("%+v", events)
		}
		// An event is told at the end of its connection, and connections end in any order.
		slices.SortFunc(events, func(a, b egress.Event) int { return a.Start.Compare(b.Start) })
		for i, allowed := range []bool{true, false, false, true} {
			if e := events[i]; e.Allowed != allowed || allowed != (e.Received > 0) {
				t.Errorf("%+v", e)
			}
		}
	})
}

// TestGrantEndsWithTheCommand sees to it that nothing of a grant is left for the next command, nor any connection.
func TestGrantEndsWithTheCommand(t *testing.T) {
	granted := echo(t, "granted")
	rules, err := egress.Rules([]string{granted})
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, b *Box) {
		s := self(t, "reach", "TARGETS=direct="+granted)
		s.Egress = egress.New(rules, egress.Options{})
		if got := output(t, b, s); got != "direct granted\n" {
			t.Fatal(got)
		}
		s.Egress = nil
		if got := output(t, b, s); got != "direct no connection\n" {
			t.Error(got)
		}
		s = spec(t, "exec 3<>/dev/tcp/127.0.0.1/61999; sleep 60")
		s.Argv[0], s.Timeout = "bash", 300*time.Millisecond
		s.Egress = egress.New(rules, egress.Options{})
		if res := run(t, b, s); !res.TimedOut {
			t.Errorf("%+v", res)
		}
	})
}

func TestEnvironmentOfAGate(t *testing.T) {
	env := []string{"PATH=/bin", "Http_Proxy=x", "ALL_PROXY=y", "npm_config_noproxy=z", "A=b"}
	if got := throughGate(env, 7, false); !slices.Equal(got, []string{"PATH=/bin", "A=b"}) {
		t.Errorf("without a proxy: %q", got)
	}
	got := throughGate(env, 7, true)
	slices.Sort(got)
	want := []string{
		"A=b", "HTTPS_PROXY=http://127.0.0.1:7", "HTTP_PROXY=http://127.0.0.1:7", "NODE_USE_ENV_PROXY=1", "NO_PROXY=" +
			unproxied, "PATH=/bin",
		"http_proxy=http://127.0.0.1:7", "https_proxy=http://127.0.0.1:7", "no_proxy=" +
			unproxied, "npm_config_https_proxy=http://127.0.0.1:7",
		"npm_config_noproxy=" + unproxied, "npm_config_proxy=http://127.0.0.1:7",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// ports is an egress of local ports alone.
type ports []uint16

func (ports) Serve(context.Context, net.Listener) error              { return nil }
func (p ports) Local() []uint16                                      { return p }
func (ports) ServeLocal(context.Context, net.Listener, uint16) error { return nil }

// watched is an egress that tells when it has ended.
type watched struct{ ended chan struct{} }

func (w watched) Serve(ctx context.Context, l net.Listener) error {
	<-ctx.Done()
	close(w.ended)
	return l.Close()
}
func (watched) Local() []uint16                                        { return nil }
func (watched) ServeLocal(context.Context, net.Listener, uint16) error { return nil }

func TestEgressHasEndedWithRun(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		w := watched{make(chan struct{})}
		s := spec(t, "true")
		s.Egress = w
		run(t, b, s)
		select {
		case <-w.ended:
		default:
			t.Error("still at work")
		}
	})
}

func TestEgressThatMakesNoSense(t *testing.T) {
	b := box(t, Options{})
	s := spec(t, "true")
	s.Egress, s.Network = ports{}, true
	if _, err := b.Run(context.Background(), s); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Error(err)
	}
	many := make(ports, maxGates)
	for i := range many {
		many[i] = uint16(2000 + i)
	}
	s.Egress, s.Network = many, false
	if _, err := b.Run(context.Background(), s); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Error(err)
	}
	if got := gates(ports{gatePort, 80, 0, 1024}); !slices.Equal(got, []uint16{gatePort - 1, gatePort, 1024}) {
		t.Error(got)
	}
	// A port twice cannot be listened on twice; the launcher says so and nothing runs.
	s.Egress = ports{4000, 4000}
	if _, err := b.Run(context.Background(), s); pawl.CodeOf(err) != pawl.CodeSandbox ||
		!strings.Contains(fmt.Sprintf("%+v", err), "") {
		t.Error(err)
	}
}
