package serve

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"pawl"
	"pawl/face/host"
	"pawl/kernel"
	"pawl/kernel/planning"
	"pawl/kernel/query"
	"pawl/text/message"
)

// browser is a client that keeps the cookies of each host and finds the hosts of this machine.
func browser() *http.Client {
	jar := &cookies{}
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			_, port, _ := net.SplitHostPort(addr)
			return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+port)
		}}}
}

// cookies are those of each host, without a look at anything else of them.
type cookies struct{ kept map[string][]*http.Cookie }

func (c *cookies) SetCookies(u *url.URL, set []*http.Cookie) {
	if c.kept == nil {
		c.kept = map[string][]*http.Cookie{}
	}
	c.kept[u.Hostname()] = append(c.kept[u.Hostname()], set...)
}
func (c *cookies) Cookies(u *url.URL) []*http.Cookie { return c.kept[u.Hostname()] }

// get asks for a page, or sends a form.
func get(t *testing.T, c *http.Client, at string, form url.Values) (int, string) {
	t.Helper()
	res, err := c.Get(at)
	if form != nil {
		if err == nil {
			res.Body.Close()
		}
		res, err = c.PostForm(at, form)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// enter enters pages by their address.
func enter(t *testing.T, c *http.Client, address string) string {
	t.Helper()
	pages, code, _ := strings.Cut(address, "enter#")
	if status, text := get(t, c, pages+"enter", url.Values{"code": {code}}); status != http.StatusSeeOther {
		t.Fatal(status, text)
	}
	return pages
}

// TestEverywhere: one page shows what waits in all workspaces; one that is opened there is served with its own pages,
// once, whoever served it before, and no other is.
func TestEverywhere(t *testing.T) {
	one, two := newLab(t), newLab(t)
	labs := map[string]*lab{one.w.Place.Workspace: one, two.w.Place.Workspace: two}
	start := &planning.Start{Requirement: "Write the <report>", Place: one.w.Place, RunMode: pawl.Interactive}
	if _, err := one.w.Kernel.Do(t.Context(), kernel.Envelope{Actor: "user:ada", Command: start}); err != nil {
		t.Fatal(err)
	}
	all := All(filepath.Join(t.TempDir(), "state"))
	if _, _, err := all.Enter("user:ada"); pawl.CodeOf(err) != pawl.CodeNotFound {
		t.Errorf("nobody serves it: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan host.Offered, 1), make(chan error, 1)
	var served atomic.Int64
	broken := filepath.Join(t.TempDir(), "broken")
	go func() {
		ended <- all.Serve(ctx, host.Everywhere{Addr: "127.0.0.1:0", Lang: message.English,
			Look: func(ctx context.Context) []host.Sight {
				var out []host.Sight
				for dir, l := range labs {
					s := host.Sight{Dir: dir}
					if s.Status, s.Err = query.Status(ctx, l.w.Kernel); s.Err == nil {
						s.Inbox, s.Err = query.Inbox(ctx, l.w.Kernel, query.Working{}, 10)
					}
					out = append(out, s)
				}
				return append(out, host.Sight{Dir: broken, Err: pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")})
			},
			Serve: func(ctx context.Context, dir string, ready func()) error {
				if labs[dir] == nil {
					return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
				}
				served.Add(1)
				return Programs(labs[dir].w, labs[dir].tokens, labs[dir].dir, "test")(ctx, host.Offering{Addr: "127.0.0.1:0",
					Lang: message.English, Ready: func(host.Offered) { ready() }, Failed: func(error) {}})
			},
			Enter: func(ctx context.Context, dir string, person pawl.Actor) (string, error) {
				if labs[dir] == nil {
					return "", pawl.Fail(pawl.CodeNotFound, "serve.not_running")
				}
				address, _, err := Enter(labs[dir].tokens, labs[dir].dir)(ctx, person)
				return address, err
			},
			Ready: func(at host.Offered) { ready <- at }})
	}()
	at := <-ready
	if err := all.Serve(ctx, host.Everywhere{Addr: "127.0.0.1:0"}); pawl.CodeOf(err) != pawl.CodeBusy {
		t.Errorf("a second one: %v", err)
	}
	if status, _ := get(t, browser(), at.Pages, nil); status != http.StatusSeeOther {
		t.Errorf("a stranger: %d", status)
	}
	if _, _, err := all.Enter("agent:x"); pawl.CodeOf(err) != pawl.CodeDenied {
		t.Errorf("an agent: %v", err)
	}
	address, _, err := all.Enter("user:ada")
	if err != nil {
		t.Fatal(err)
	}
	ada := browser()
	pages := enter(t, ada, address)
	status, text := get(t, ada, pages, nil)
	for _, want := range []string{"Write the &lt;report&gt;", filepath.Base(one.w.Place.Workspace), filepath.Base(two.w.Place.Workspace), "Workspaces (3)",
		"no session yet"} {
		if status != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%d, without %q: %s", status, want, text)
		}
	}
	link := regexp.MustCompile(`id="go" href="([^"]+)"`)
	for range 2 {
		status, text = get(t, ada, pages+"open", url.Values{"dir": {one.w.Place.Workspace}})
		m := link.FindStringSubmatch(text)
		if status != http.StatusOK || m == nil {
			t.Fatal(status, text)
		}
		own := enter(t, ada, m[1])
		if status, text := get(t, ada, own, nil); status != http.StatusOK || !strings.Contains(text, "Write the &lt;report&gt;") || own == pages {
			t.Errorf("%d %s", status, text)
		}
	}
	elsewhere, end := two.serve("127.0.0.1:0")
	_, text = get(t, ada, pages+"open", url.Values{"dir": {two.w.Place.Workspace}})
	if m := link.FindStringSubmatch(text); m == nil || !strings.HasPrefix(m[1], elsewhere.Pages) || served.Load() != 1 {
		t.Errorf("one that another process serves: %q, %d served", m, served.Load())
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{"", "/", broken} {
		if status, text := get(t, ada, pages+"open", url.Values{"dir": {dir}}); status != http.StatusNotFound {
			t.Errorf("%q: %d %s", dir, status, text)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, ok := Running(one.dir); ok {
		t.Error("a workspace is served after the end")
	}
}
