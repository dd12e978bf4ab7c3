package serve

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pawl"
	"pawl/face/api"
	"pawl/face/host"
	"pawl/internal/memory"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/joined"
	"pawl/kernel/planning"
	"pawl/store/feed"
	"pawl/text/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lab is a workspace that is served.
type lab struct {
	*testing.T
	w      *host.Workspace
	tokens *Tokens
	dir    string
	works  atomic.Int64
}

func newLab(t *testing.T) *lab {
	t.Helper()
	store := memory.New()
	k := kernel.New(joined.Table(), store, kernel.Defaults(), pawl.ClockFunc(time.Now), rand.Reader)
	dir := t.TempDir()
	l := &lab{T: t, dir: filepath.Join(dir, ".pawl"), tokens: NewTokens(filepath.Join(dir, "state"), k)}
	if err := os.Mkdir(l.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	follow := feed.New(store, nil)
	k.OnCommit(func(kernel.Outcome) { follow.Tell() })
	l.w = &host.Workspace{Place: effect.Place{Workspace: dir, Tree: dir}, Kernel: k, Feed: follow,
		Owner: func() (host.Owner, bool) { return host.Owner{}, false }}
	if _, err := k.Do(t.Context(), kernel.Envelope{Actor: "user:ada", Command: &planning.Init{Place: l.w.Place}}); err != nil {
		t.Fatal(err)
	}
	return l
}

// serve serves the workspace until the function that it returns is called, which returns what it ended with.
func (l *lab) serve(addr string) (at host.Offered, end func() error) {
	l.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan host.Offered, 1), make(chan error, 1)
	go func() {
		ended <- Programs(l.w, l.tokens, l.dir, "test")(ctx, host.Offering{Addr: addr, Lang: message.English,
			Ready: func(o host.Offered) { ready <- o }, Failed: func(error) {},
			Advance: func(context.Context) error { l.works.Add(1); return nil }})
	}()
	select {
	case at = <-ready:
	case err := <-ended:
		stop()
		l.Fatal(err)
	}
	return at, func() error { stop(); return <-ended }
}

// ask asks a server with a token.
func (l *lab) ask(client *http.Client, method, url, token, body string) int {
	l.Helper()
	r, err := http.NewRequestWithContext(l.Context(), method, url+api.Root+"/"+body, http.NoBody)
	if method == http.MethodPost {
		r, err = http.NewRequestWithContext(l.Context(), method, url+api.Root+"/commands/"+body, strings.NewReader("{}"))
		if err == nil {
			r.Header.Set("Content-Type", "application/json")
		}
	}
	if err != nil {
		l.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := client.Do(r)
	if err != nil {
		l.Fatal(err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

func (l *lab) token(name string, scopes ...string) string {
	l.Helper()
	token, err := l.tokens.New(l.Context(), host.Token{Name: name, Scopes: scopes}, "user:ada")
	if err != nil {
		l.Fatal(err)
	}
	return token
}

// TestTokens: what is kept of a token is its digest, below the user's own state; a name is one token's, and one that
// was taken back is unknown.
func TestTokens(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	if all, err := l.tokens.List(ctx); err != nil || all == nil || len(all) != 0 {
		t.Errorf("%v %v", all, err)
	}
	one, two := l.token("one", "read"), l.token("two", "read", "act")
	for _, name := range []string{"", "a b", "user:ada", "../x", "é", strings.Repeat("a", 65), "-x"} {
		if _, err := l.tokens.New(ctx, host.Token{Name: name}, "user:ada"); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := l.tokens.New(ctx, host.Token{Name: "one"}, "user:ada"); pawl.CodeOf(err) != pawl.CodeConflict {
		t.Errorf("a name that is taken: %v", err)
	}
	all, err := l.tokens.List(ctx)
	if err != nil || len(all) != 2 || all[0].Name != "one" || !slices.Equal(all[1].Scopes, []string{"read", "act"}) {
		t.Errorf("%+v %v", all, err)
	}
	file, err := l.tokens.file(ctx)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(raw), one) || strings.Contains(string(raw), two) {
		t.Errorf("%s %v", raw, err)
	}
	for name, want := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700 | os.ModeDir} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	if k := l.tokens.known(ctx, two); k == nil || k.Name != "two" || k.Person != "user:ada" {
		t.Errorf("%+v", k)
	}
	for _, shown := range []string{"", "x", two + "x", two[1:], digest(two)} {
		if k := l.tokens.known(ctx, shown); k != nil {
			t.Errorf("%q is %s", shown, k.Name)
		}
	}
	if err := l.tokens.Revoke(ctx, "two"); err != nil || l.tokens.known(ctx, two) != nil || l.tokens.known(ctx, one) == nil {
		t.Errorf("%v", err)
	}
	if err := l.tokens.Revoke(ctx, "two"); pawl.CodeOf(err) != pawl.CodeNotFound {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := l.tokens.List(ctx); pawl.CodeOf(err) != pawl.CodeIO || l.tokens.known(ctx, one) != nil {
		t.Errorf("a file that is broken: %v", err)
	}
}

// TestServe: there is one server at a time, which says where it is; a token that is taken back is good for nothing at
// once; the socket is the user's alone; and nothing is left when it ends.
func TestServe(t *testing.T) {
	l := newLab(t)
	reads, acts := l.token("reads", "read"), l.token("acts", "read", "act")
	at, end := l.serve("127.0.0.1:0")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	local := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", at.Socket)
		}}}
	for _, c := range []struct {
		client                    *http.Client
		method, url, token, about string
		want                      int
	}{
		{client, "GET", at.URL, reads, "status", 200}, {client, "GET", at.URL, "", "status", 401},
		{client, "GET", at.URL, "x", "status", 401}, {client, "POST", at.URL, reads, "resume", 403},
		{client, "POST", at.URL, acts, "resume", 200}, {local, "GET", "http://x", "", "status", 200},
		{local, "POST", "http://x", "", "resume", 200}, {local, "GET", "http://x", "wrong", "status", 401},
		{local, "POST", "http://x", reads, "resume", 403},
	} {
		if got := l.ask(c.client, c.method, c.url, c.token, c.about); got != c.want {
			t.Errorf("%s %s %s: %d, want %d", c.method, c.url, c.about, got, c.want)
		}
	}
	for name, want := range map[string]os.FileMode{at.Socket: 0o600 | os.ModeSocket, filepath.Dir(at.Socket): 0o700 | os.ModeDir,
		filepath.Join(l.dir, hereName): 0o600} {
		if info, err := os.Lstat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	second := Programs(l.w, l.tokens, l.dir, "test")(t.Context(), host.Offering{Addr: "127.0.0.1:0"})
	var e *pawl.Error
	if e, _ = second.(*pawl.Error); e == nil || e.Code != pawl.CodeBusy || e.Args[0] != at.URL || e.Args[1] != os.Getpid() {
		t.Errorf("a second server: %v", second)
	}
	if err := l.tokens.Revoke(t.Context(), "reads"); err != nil {
		t.Fatal(err)
	}
	if got := l.ask(client, "GET", at.URL, reads, "status"); got != 401 {
		t.Errorf("a token that was taken back: %d", got)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if l.works.Load() == 0 {
		t.Error("no work went on after a command")
	}
	left, err := os.ReadDir(l.dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if _, ok := Running(l.dir); ok {
		t.Error("it is said to run")
	}
	// One that was killed leaves its files, which are no obstacle.
	if err := os.Mkdir(filepath.Join(l.dir, sockets), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{lockName, hereName, sockets + "/api.sock"} {
		if err := os.WriteFile(filepath.Join(l.dir, name), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	again, end := l.serve(strings.TrimPrefix(at.URL, "http://"))
	if again.URL != at.URL {
		t.Errorf("%s, want %s", again.URL, at.URL)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

// TestAttacks: a page of another site, one on another port and one whose name was made to lead here read nothing and
// change nothing, though they have a token.
func TestAttacks(t *testing.T) {
	l := newLab(t)
	acts := l.token("acts", "read", "act")
	at, end := l.serve("127.0.0.1:0")
	defer func() { _ = end() }()
	own := strings.TrimPrefix(at.URL, "http://")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	before, err := l.w.Kernel.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ host, origin, site string }{
		{"evil.example", "", ""}, {"evil.example:" + own[strings.LastIndex(own, ":")+1:], "", "same-origin"},
		{own, "http://evil.example", "cross-site"}, {own, "http://evil.example", ""},
		{own, "http://127.0.0.1:1", "same-site"}, {own, "null", ""}, {own, "", "cross-site"}, {own, "", "same-site"},
	} {
		for method, path := range map[string]string{"GET": "/status", "POST": "/commands/stop", "OPTIONS": "/status",
			"HEAD": "/events"} {
			r, err := http.NewRequestWithContext(t.Context(), method, at.URL+api.Root+path, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			r.Host = c.host
			for name, v := range map[string]string{"Origin": c.origin, "Sec-Fetch-Site": c.site,
				"Authorization": "Bearer " + acts, "Content-Type": "application/json"} {
				if v != "" {
					r.Header.Set(name, v)
				}
			}
			res, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			raw, _ := io.ReadAll(res.Body)
			_ = res.Body.Close()
			var p api.Problem
			if method != "HEAD" && json.Unmarshal(raw, &p) != nil || res.StatusCode != 403 || p.Status != 403 && method != "HEAD" {
				t.Errorf("%+v %s: %d %s", c, method, res.StatusCode, raw)
			}
			for name := range res.Header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%+v: the answer has %s", c, name)
				}
			}
		}
	}
	if now, err := l.w.Kernel.Snapshot(t.Context()); err != nil || now.Session.Version != before.Session.Version {
		t.Error("something was changed")
	}
}
