package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pawl"
)

// journal keeps what a proxy tells.
type journal struct {
	mu     sync.Mutex
	events []Event
}

func (j *journal) log(e Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, e)
}

// start serves a proxy and returns its address, what it tells, and a function that ends it.
func start(t *testing.T, o Options, rules ...string) (addr string, j *journal, stop func()) {
	t.Helper()
	list, err := Rules(rules)
	if err != nil {
		t.Fatal(err)
	}
	return startWith(t, o, list)
}

func startWith(t *testing.T, o Options, rules []Rule) (addr string, j *journal, stop func()) {
	t.Helper()
	j = &journal{}
	o.Log = j.log
	if o.Upstream == nil {
		o.Upstream = FromEnvironment(func(string) string { return "" })
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- New(rules, o).Serve(ctx, l) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return l.Addr().String(), j, stop
}

// server answers with what it was asked.
func server(t *testing.T) (host string, port string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %s %q", r.Method, r.Host, r.URL, r.Header.Get("Proxy-Authorization"), body)
	}))
	t.Cleanup(s.Close)
	host, port, _ = net.SplitHostPort(s.Listener.Addr().String())
	return host, port
}

// say sends bytes and returns all that comes back.
func say(t *testing.T, addr, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	all, _ := io.ReadAll(c)
	return string(all)
}

// at returns a lookup that knows one name.
func at(name string, addresses ...string) func(context.Context, string) ([]netip.Addr, error) {
	return func(_ context.Context, host string) ([]netip.Addr, error) {
		if host != name {
			return nil, errors.New("no such name")
		}
		var out []netip.Addr
		for _, a := range addresses {
			out = append(out, netip.MustParseAddr(a))
		}
		return out, nil
	}
}

func TestRules(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"proxy.golang.org", "proxy.golang.org:443"}, {"Registry.Example.com:8443", "registry.example.com:8443"},
		{".example.com", ".example.com:443"}, {"127.0.0.1:11434", "127.0.0.1:11434"}, {"[::1]:80", "[::1]:80"},
		{"[::ffff:127.0.0.1]:80", "127.0.0.1:80"}, {"localhost:1", "localhost:1"}, {"intranet:8080", "intranet:8080"},
		{"", ""}, {".", ""}, {".com", ""}, {"*", ""}, {"*.example.com", ""}, {"a b", ""}, {"127.0.0.1",
			""}, {"10.0.0.1:80", ""},
		{"169.254.169.254:80", ""}, {"0.0.0.0:80", ""}, {"[::]:80", ""}, {"2130706433:80", ""}, {"127.1:80",
			""}, {"a.0x7f:80", "a.0x7f:80"},
		{"example.com:0", ""}, {"example.com:070", ""}, {"example.com:65536", ""}, {"example.com:",
			""}, {"https://example.com", ""},
		{"user@example.com", ""}, {"example.com/path", ""}, {"-a.com", ""}, {"ex\u0430mple.com", ""}, {"a..b", ""},
	} {
		if c.text == "a.0x7f:80" {
			c.want = "" // a label that begins with a digit may be read as a number
		}
		r, err := ParseRule(c.text)
		got := r.String()
		if err != nil {
			got = ""
			if pawl.CodeOf(err) != pawl.CodeInvalid {
				t.Errorf("%q: %v", c.text, err)
			}
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestAllowedTunnelCarriesBothWays(t *testing.T) {
	host, port := server(t)
	addr, j, stop := start(t, Options{}, host+":"+port)
	request := "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
	// The request comes along with the CONNECT, before it was answered.
	got := say(t, addr, "CONNECT "+host+":"+port+" HTTP/1.1\r\nHost: x\r\n\r\n"+request)
	if !strings.HasPrefix(got, "HTTP/1.1 200 ") || !strings.HasSuffix(got, `POST h /x  "hello"`) {
		t.Errorf("%q", got)
	}
	stop()
	if len(j.events) != 1 || !j.events[0].Allowed || j.events[0].Sent != int64(len(request)) ||
		j.events[0].Received < 50 {
		t.Errorf("%+v", j.events)
	}
}

func TestPlainRequestIsRewritten(t *testing.T) {
	host, port := server(t)
	addr, j, stop := start(t, Options{}, host+":"+port)
	got := say(t, addr, "PUT http://"+host+":"+port+
		"/a?b=c HTTP/1.1\r\nHost: evil.example\r\nProxy-Authorization: secret\r\nProxy-Connection: keep-alive\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi")
	if !strings.HasSuffix(got, "PUT "+host+":"+port+` /a?b=c  "hi"`) {
		t.Errorf("%q", got)
	}
	stop()
	if len(j.events) != 1 || !j.events[0].Allowed || j.events[0].Host != host {
		t.Errorf("%+v", j.events)
	}
}

func TestRefusals(t *testing.T) {
	host, port := server(t)
	lookup := at("rebind.example", "127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fd00::1", "64:ff9b::7f00:1",
		"::ffff:127.0.0.1", "100.64.0.1", "0.0.0.0")
	addr, j, stop := start(t, Options{Lookup: lookup}, "good.example", "rebind.example:"+port, ".below.example", host+
		":1")
	for _, c := range []struct {
		text   string
		status string
		reason Reason
	}{
		{"CONNECT evil.example:443 HTTP/1.1\r\n\r\n", "403", Unlisted},
		{"CONNECT good.example:444 HTTP/1.1\r\n\r\n", "403", Unlisted},
		{"CONNECT xgood.example:443 HTTP/1.1\r\n\r\n", "403", Unlisted},
		{"CONNECT good.example.evil.example:443 HTTP/1.1\r\n\r\n", "403", Unlisted},
		{"CONNECT below.example:443 HTTP/1.1\r\n\r\n", "403", Unlisted},
		{"CONNECT evilbelow.example:443 HTTP/1.1\r\n\r\n", "403", Unlisted},
		{"CONNECT " + host + ":" + port + " HTTP/1.1\r\n\r\n", "403", Literal},
		{"CONNECT [::1]:" + port + " HTTP/1.1\r\n\r\n", "403", Literal},
		{"CONNECT [::ffff:127.0.0.1]:" + port + " HTTP/1.1\r\n\r\n", "403", Literal},
		{"CONNECT 2130706433:" + port + " HTTP/1.1\r\n\r\n", "400", Malformed},
		{"CONNECT 127.1:" + port + " HTTP/1.1\r\n\r\n", "400", Malformed},
		{"GET http://good.example/ HTTP/1.1\r\n\r\n", "403", Unlisted},
		{"CONNECT rebind.example:" + port + " HTTP/1.1\r\n\r\n", "403", Private},
		{"GET http://rebind.example:" + port + "/ HTTP/1.1\r\n\r\n", "403", Private},
		{"CONNECT GOOD.example.:443 HTTP/1.1\r\n\r\n", "502", Unresolved},
		{"CONNECT a.below.example:443 HTTP/1.1\r\n\r\n", "502", Unresolved},
		{"CONNECT " + host + ":1 HTTP/1.1\r\n\r\n", "502", Unreached},
		{"CONNECT good.example HTTP/1.1\r\n\r\n", "400", Malformed},
		{"GET / HTTP/1.1\r\nHost: good.example\r\n\r\n", "400", Malformed},
		{"GET https://good.example/ HTTP/1.1\r\n\r\n", "400", Malformed},
		{"GET http://good.example:443@evil.example/ HTTP/1.1\r\n\r\n", "400", Malformed},
		{"GET http://good.example/ HTTP/1.1\r\nA : b\r\n\r\n", "400", Malformed},
		{"GET http://good.example/ HTTP/1.1\r\nA: b\r\n c\r\n\r\n", "400", Malformed},
		{"GET http://good.example/ HTTP/1.1\r\nA: b\nC: d\r\n\r\n", "400", Malformed},
		{"GET http://good.example/ HTTP/2.0\r\n\r\n", "400", Malformed},
		{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400", Malformed},
		{strings.Repeat("A", maxHead+5000), "400", Malformed},
	} {
		got := say(t, addr, c.text)
		if !strings.HasPrefix(got, "HTTP/1.1 "+c.status+" ") ||
			!strings.Contains(got, "X-Pawl-Egress: "+string(c.reason)+"\r\n") {
			t.Errorf("%.80q: %.200q, want %s", c.text, got, c.reason)
		}
	}
	stop()
	for _, e := range j.events {
		if refused := e.Reason != Unresolved && e.Reason != Unreached; e.Allowed == refused || e.Sent+e.Received != 0 {
			t.Errorf("%+v", e)
		}
	}
	if len(j.events) != 27 {
		t.Errorf("%d events", len(j.events))
	}
}

// TestNameIsResolvedOnce sees to it that the address that was judged is the one that is dialed.
func TestNameIsResolvedOnce(t *testing.T) {
	host, port := server(t)
	asked := 0
	lookup := func(context.Context, string) ([]netip.Addr, error) {
		if asked++; asked > 1 {
			return []netip.Addr{netip.MustParseAddr(host)}, nil
		}
		return []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("10.0.0.1")}, nil
	}
	addr, _, stop := start(t, Options{Lookup: lookup}, "name.example:"+port)
	got := say(t, addr, "CONNECT name.example:"+port+" HTTP/1.1\r\n\r\n")
	stop()
	if asked != 1 || !strings.Contains(got, string(Private)) {
		t.Errorf("asked %d times: %q", asked, got)
	}
}

func TestPrivateAddresses(t *testing.T) {
	for _, c := range []struct {
		address      string
		open, closed bool // with and without Private
	}{
		{"10.0.0.1", true, false}, {"192.168.1.1", true, false}, {"fd00::1", true, false}, {"100.64.0.1", true,
			false}, {"::ffff:10.0.0.1", true, false},
		{"142.250.1.1", true, true}, {"2a00:1450::1", true, true}, {"127.0.0.1", false, false}, {"::1", false, false},
		{"169.254.169.254", false, false}, {"fe80::1", false, false}, {"224.0.0.1", false, false}, {"0.0.0.0", false,
			false}, {"::", false, false},
		{"255.255.255.255", false, false}, {"64:ff9b::a00:1", false, false}, {"2002:7f00:1::", false,
			false}, {"::7f00:1", false, false},
	} {
		a := netip.MustParseAddr(c.address)
		if open, closed := (Rule{Private: true}).reachable(a), (Rule{}).reachable(a); open != c.open ||
			closed != c.closed {
			t.Errorf("%s: %v %v", c.address, open, closed)
		}
	}
}

func TestUpstreamProxy(t *testing.T) {
	host, port := server(t)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "Basic dTpw" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		if r.Method != http.MethodConnect {
			fmt.Fprint(w, "through "+r.URL.String())
			return
		}
		far, err := net.Dial("tcp", net.JoinHostPort(host, port))
		if err != nil {
			t.Error(err)
			return
		}
		near, _, _ := http.NewResponseController(w).Hijack()
		fmt.Fprint(near, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(far, near); _ = far.(*net.TCPConn).CloseWrite() }()
		_, _ = io.Copy(near, far)
		near.Close()
	}))
	defer up.Close()
	for user, want := range map[string][2]string{"u:p@": {`GET h /  ""`, "through http://name.example/p"},
		"": {"502 Bad Gateway", "407"}} {
		env := map[string]string{"https_proxy": "http://" + user + up.Listener.Addr().String(), "HTTP_PROXY": user +
			up.Listener.Addr().String()}
		addr, _, stop := start(t, Options{Upstream: FromEnvironment(func(n string) string { return env[n] }),
			Lookup: at(""), Trusted: true}, "name.example", "name.example:80")
		if got := say(t, addr, "CONNECT name.example:443 HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"); !strings.Contains(got, want[0]) {
			t.Errorf("%q", got)
		}
		if got := say(t, addr, "GET http://name.example/p HTTP/1.1\r\n\r\n"); !strings.Contains(got, want[1]) {
			t.Errorf("%q", got)
		}
		if got := say(t, addr, "CONNECT evil.example:443 HTTP/1.1\r\n\r\n"); !strings.Contains(got, string(Unlisted)) {
			t.Errorf("%q", got)
		}
		stop()
	}
}

// TestUpstreamIsAskedForWhatWasJudged: with a proxy of the user's, a name is judged as without one, and the proxy gets
// the judged addresses. It gets a name only if pawl or the user's settings chose the host.
func TestUpstreamIsAskedForWhatWasJudged(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Method+" "+r.RequestURI)
		mu.Unlock()
		w.Header().Set("Connection", "close")
		if r.RequestURI == "8.8.4.4:443" {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	defer up.Close()
	through, _ := url.Parse(up.URL)
	plan := Rule{Host: "name.example", Port: 443}
	for name, c := range map[string]struct {
		rule    Rule
		trusted bool
		leads   []string // nil: the name is unknown here
		want    string   // what the proxy is asked, in order
		reason  Reason
	}{
		"metadata":            {plan, false, []string{"169.254.169.254"}, "", Private},
		"IPv4":                {plan, false, []string{"10.0.0.5", "127.0.0.1", "100.64.0.1"}, "", Private},
		"IPv6":                {plan, false, []string{"fd00::5", "fe80::1", "::1"}, "", Private},
		"mapped":              {plan, false, []string{"::ffff:10.0.0.5", "64:ff9b::a00:5", "2002:a00:5::"}, "", Private},
		"mixed":               {plan, false, []string{"10.0.0.5", "2a00:1450::1"}, "CONNECT [2a00:1450::1]:443", ""},
		"the next one":        {plan, false, []string{"8.8.4.4", "8.8.8.8"}, "CONNECT 8.8.4.4:443 CONNECT 8.8.8.8:443", ""},
		"mapped and open":     {plan, false, []string{"::ffff:8.8.8.8"}, "CONNECT 8.8.8.8:443", ""},
		"plain http":          {Rule{Host: "name.example", Port: 80}, false, []string{"8.8.8.8"}, "CONNECT 8.8.8.8:80", ""},
		"unknown here":        {plan, false, nil, "", Unresolved},
		"trusted":             {plan, true, []string{"8.8.8.8"}, "CONNECT name.example:443", ""},
		"trusted and unknown": {plan, true, nil, "CONNECT name.example:443", ""},
		"trusted and closed":  {plan, true, []string{"10.0.0.5"}, "", Private},
		"a registry":          {Rule{Host: "proxy.golang.org", Port: 443}, false, nil, "CONNECT proxy.golang.org:443", ""},
		"of the settings":     {Rule{Host: "name.example", Port: 443, Private: true}, false, []string{"10.0.0.5"}, "CONNECT name.example:443", ""},
		"settings, unknown":   {Rule{Host: "name.example", Port: 443, Private: true}, false, nil, "CONNECT name.example:443", ""},
		"settings, metadata":  {Rule{Host: "name.example", Port: 443, Private: true}, false, []string{"169.254.169.254"}, "", Private},
	} {
		asked = nil
		lookup := at("")
		if c.leads != nil {
			lookup = at(c.rule.Host, c.leads...)
		}
		addr, j, stop := startWith(t, Options{Lookup: lookup, Trusted: c.trusted,
			Upstream: func(string, string, uint16) (*url.URL, error) { return through, nil }}, []Rule{c.rule})
		request := "CONNECT " + c.rule.String() + " HTTP/1.1\r\n\r\n"
		if c.rule.Port == 80 {
			request = "GET http://" + c.rule.Host + "/ HTTP/1.1\r\n\r\n"
		}
		got := say(t, addr, request)
		stop()
		if strings.Join(asked, " ") != c.want ||
			c.reason != "" && !strings.Contains(got, "X-Pawl-Egress: "+string(c.reason)+"\r\n") || len(j.events) != 1 || j.events[0].Reason != c.reason {
			t.Errorf("%s: the proxy is asked %q, want %q; %q %+v", name, asked, c.want, got, j.events)
		}
	}
}

func TestNoProxy(t *testing.T) {
	for _, c := range []struct {
		list, host string
		port       uint16
		want       bool
	}{
		{"", "a.example", 443, false}, {"*", "a.example", 443, true}, {"example", "a.example", 443, true}, {".example",
			"a.example", 443, true},
		{"*.example", "a.example", 443, true}, {"xample", "a.example", 443, false}, {"a.example:443", "a.example", 443,
			true},
		{"a.example:80", "a.example", 443, false}, {"b.example, A.example", "a.example", 443, true}, {"10.0.0.0/8",
			"10.1.1.1", 443, true},
		{"10.1.1.1", "10.1.1.1", 443, true}, {"10.1.1.2", "10.1.1.1", 443, false}, {",", "a.example", 443, false},
	} {
		if got := spared(c.list, c.host, c.port); got != c.want {
			t.Errorf("%+v", c)
		}
	}
	up, err := FromEnvironment(func(n string) string {
		return map[string]string{"HTTPS_PROXY": "proxy:3128",
			"NO_PROXY": "b"}[n]
	})("https", "a", 443)
	if err != nil || up == nil || up.Host != "proxy:3128" {
		t.Error(up, err)
	}
}

func TestServeEndsEverything(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := make(chan net.Conn, 1)
	go func() {
		if c, err := l.Accept(); err == nil {
			taken <- c
		}
	}()
	addr, j, stop := start(t, Options{Conns: 2}, l.Addr().String())
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\n\r\n", l.Addr())
	far := <-taken
	defer far.Close()
	idle, err := net.Dial("tcp", addr) // never asks for anything
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	stop()
	_ = far.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := far.Read(make([]byte, 1)); err == nil {
		t.Error("the connection outlives the proxy")
	}
	if len(j.events) == 0 || !j.events[0].Allowed && !j.events[len(j.events)-1].Allowed {
		t.Errorf("%+v", j.events)
	}
}

func TestLocalPort(t *testing.T) {
	host, port := server(t)
	n, _ := strconv.Atoi(port)
	list, err := Rules([]string{"localhost:" + port, host + ":" + port, "name.example"})
	if err != nil {
		t.Fatal(err)
	}
	j := &journal{}
	p := New(list, Options{Log: j.log})
	if got := p.Local(); len(got) != 1 || int(got[0]) != n {
		t.Fatal(got)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.ServeLocal(ctx, l, uint16(n)) }()
	got := say(t, l.Addr().String(), "GET /m HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
	cancel()
	if err := <-ended; err != nil || !strings.HasSuffix(got, `GET h /m  ""`) {
		t.Errorf("%v %q", err, got)
	}
	if len(j.events) != 1 || !j.events[0].Allowed || j.events[0].Received == 0 {
		t.Errorf("%+v", j.events)
	}
	if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	if err := p.ServeLocal(context.Background(), l, uint16(n+1)); pawl.CodeOf(err) != pawl.CodeDenied {
		t.Error(err)
	}
}

func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		"CONNECT a:1 HTTP/1.1\r\n\r\n", "GET http://a/b?c HTTP/1.1\r\nX: y\r\n\r\nrest",
		"GET http://[::1]:80/ HTTP/1.0\r\n\r\n", "GET http://a@b/ HTTP/1.1\r\n\r\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := readRequest(strings.NewReader(text))
		if err != nil {
			return
		}
		host, _ := canonical(r.host)
		if host == "" || r.connect {
			return
		}
		r.host = host
		head := string(r.head(nil))
		// What goes on is one head, for the host that was judged.
		if strings.Count(head, "\r\n\r\n") != 1 || !strings.HasSuffix(head, "\r\n\r\n") {
			t.Fatalf("%q", head)
		}
		again, err := http.NewRequest("GET", "http://"+r.authority()+"/", nil)
		if u, uerr := url.Parse("http://" + r.authority()); err != nil || uerr != nil || u.Hostname() != host {
			t.Fatalf("%q: %v %v %v", text, again, err, uerr)
		}
	})
}
