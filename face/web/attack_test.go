//go:build browser

package web

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"golang.org/x/net/html"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/issues"
	"pawl/kernel/planning"
	"pawl/kernel/query"
)

var (
	pictures = flag.Bool("pictures", false, "take the pictures of the documents anew")
	kills    = flag.Int("kills", 50, "how often the server is killed under a page")
)

// archived has the work that was approved carried out, and looks for its end on the page of its run, to which opened leads.
func (b *browser) archived(opened func()) {
	b.Helper()
	if b.approval() != "" {
		b.Fatal("it still waits")
	}
	b.work()
	opened()
	b.is(`location.pathname === '/run/RUN-1' && document.readyState === 'complete'`)
	r, err := query.Of(b.k).Run(b.Context(), kernel.SessionLabel, "RUN-1")
	if err != nil || r.Outcome != "completed" {
		b.Fatalf("%+v %v", r, err)
	}
	b.is(`document.querySelector('main').textContent.includes('c1')`)
}

// documented are the pages whose pictures are in the documents, by the names of these.
var documented = map[string]string{"now": "/", "board": "/board", "decide": "/decide", "run": "/run/RUN-1"}

// TestBrowserPictures takes the pictures of the documents, where that is asked for.
func TestBrowserPictures(t *testing.T) {
	if !*pictures {
		t.Skip("-pictures takes them anew")
	}
	l := newLab(t)
	l.do("user:ada", &issues.AddIssues{Issues: []issues.NewIssue{
		{Title: "Greetings say who is greeted", Priority: 1, Tags: []string{"greeting"}},
		{Title: "An empty name is refused", Priority: 2}, {Title: "Names may hold any letter"},
		{Title: "The manual shows a greeting", Paused: true}}})
	l.text = strings.NewReplacer("write a greeting", "Greet people by their names", "write it <b>now</b>",
		"Write the greeting", "it is wanted", "a test says what it has to be", "a.txt", "greet.go", "<i>hello</i>",
		"package greet").Replace(planText)
	l.do("user:ada", &planning.Start{Requirement: "Greet people by their names", Place: place,
		RunMode: pawl.Interactive, Given: []byte(l.text), Name: "plan.yaml"})
	l.work()
	b := l.look()
	b.run(emulation.SetDeviceMetricsOverride(1280, 800, 1, false))
	for name, path := range documented {
		var picture []byte
		b.run(chromedp.Navigate(b.base + path))
		b.is(`document.body.classList.contains('live')`)
		b.run(chromedp.CaptureScreenshot(&picture))
		if len(picture) > 150_000 {
			t.Errorf("the picture of %s has %d bytes", path, len(picture))
		}
		file := filepath.Join("..", "..", "docs", "pictures", name+".png")
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if err == nil {
			err = os.WriteFile(file, picture, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// parts are what a page says, by the ids of its parts in their order, without the times, which pass.
const parts = `[...document.querySelectorAll('main [id]')].map((e) => {
	const copy = e.cloneNode(true);
	for (const t of copy.querySelectorAll('time')) t.remove();
	return e.id + ': ' + copy.textContent.split(/\s+/).filter(Boolean).join(' ');
})`

// partsOf are the parts of a page that was fetched.
func partsOf(d *document) (out []string) {
	for n := range d.all("main")[0].Descendants() {
		if id := attr(n, "id"); id != "" {
			out = append(out, id+": "+strings.Join(strings.Fields(said(n)), " "))
		}
	}
	return out
}

// said is the text of an element without times.
func said(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	out := ""
	for c := range n.ChildNodes() {
		if c.Data != "time" || c.Type != html.ElementNode {
			out += said(c)
		}
	}
	return out
}

// TestBrowserKilled: where connections are cut at any byte and the server is killed again and again, a list ends as a
// fresh load shows it.
func TestBrowserKilled(t *testing.T) {
	l := newLab(t).enter().fill()
	behind := l.server.Listener.Addr().String()
	c := cut(t, behind, 0)
	_, front, _ := net.SplitHostPort(c.Addr().String())
	back := l.port
	through := func(port string) { l.guard.Port, l.port = port, port }
	for _, path := range []string{"/board", "/tasks"} {
		through(front)
		b := l.look()
		b.run(chromedp.Navigate(b.base + path))
		b.is(`document.body.classList.contains('live')`)
		for n := range *kills / 2 {
			c.set("", 0)
			l.do("user:ada", &issues.AddIssues{Issues: []issues.NewIssue{{Title: fmt.Sprint("while it was gone ", n)}}})
			l.guard.Next = New(l.config)
			c.set(behind, 20_000)
			l.do("user:ada", &issues.AddIssues{Issues: []issues.NewIssue{{Title: fmt.Sprint("when it was back ", n),
				Priority: 1 + n%5}}})
			other := strings.ReplaceAll(planText, "write it", fmt.Sprint("say ", path, n))
			l.do("user:ada", &planning.Revise{Given: []byte(other), Name: "p.yaml"})
			l.work()
			time.Sleep(time.Duration(n%7) * 100 * time.Millisecond)
		}
		c.set(behind, 0)
		var got, want []string
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
			through(back)
			want = partsOf(l.get(path))
			through(front)
			b.run(chromedp.Evaluate(parts, &got))
			if slices.Equal(got, want) {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s ended as\n%s\nand is\n%s", path, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if c.cuts.Load() == 0 {
			t.Error("nothing was cut")
		}
	}
}

// evil is a page of somebody else, which tries to read the dashboard and to decide there.
const evil = `<!doctype html><title>trying</title><body><script>
const to = new URLSearchParams(location.search).get('to');
const read = [], tries = [];
const body = new URLSearchParams({answer: 'approve', op: 'stop', lang: 'zh-CN', back: '/', digest: '', nonce: ''});
for (const path of ['/', '/decide', '/board', '/static/pawl.js', '/live?of=/'])
	for (const mode of ['cors', 'no-cors', 'same-origin'])
		tries.push(() => fetch(to + path, {mode, credentials: 'include'}));
for (const path of ['/decide', '/answer', '/control', '/language', '/leave', '/enter'])
	for (const mode of ['cors', 'no-cors'])
		tries.push(() => fetch(to + path, {method: 'POST', body, mode, credentials: 'include'}));
for (const [name, key] of [['img', 'src'], ['script', 'src'], ['iframe', 'src'], ['embed', 'src'], ['object', 'data']])
	for (const path of ['/', '/static/icon.svg']) {
		const e = document.createElement(name);
		e[key] = to + path;
		document.body.append(e);
	}
for (const path of ['/decide', '/control', '/leave']) {
	const [frame, form] = [document.createElement('iframe'), document.createElement('form')];
	frame.name = form.target = path;
	form.method = 'post';
	form.action = to + path;
	document.body.append(frame, form);
	form.submit();
}
new EventSource(to + '/live?of=/', {withCredentials: true}).onmessage = (e) => read.push(e.data);
Promise.all(tries.map((f) => f().then((r) => r.text()).then((t) => read.push(t)).catch(() => {}))).then(() => setTimeout(() => {
	for (const f of document.querySelectorAll('iframe')) try { read.push(f.contentDocument.body.textContent); } catch {}
	document.title = 'done' + read.filter((t) => t).join('|');
}, 1000));
</script>`

// TestBrowserAttacks: neither a page of another site, nor one of another port of our own name, nor one whose name leads
// to us, nor a frame reads anything or has anything done.
func TestBrowserAttacks(t *testing.T) {
	l := newLab(t).fill()
	b := l.look()
	waits := l.approval()
	var reached atomic.Int64
	pages := l.guard.Next
	l.guard.Next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		pages.ServeHTTP(w, r)
	})
	theirs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, evil)
	}))
	defer theirs.Close()
	_, port, _ := net.SplitHostPort(theirs.Listener.Addr().String())
	ours := "http://127.0.0.1:" + l.port
	for _, from := range []string{"http://evil.example:" + port, "http://" + l.name + ":" + port,
		"http://127.0.0.1:" + port, "http://localhost:" + port} {
		// The page that was left asks for nothing any more.
		b.run(chromedp.Navigate("about:blank"))
		time.Sleep(200 * time.Millisecond)
		reached.Store(0)
		for _, to := range []string{b.base, ours, "http://evil.example:" + l.port} {
			b.run(chromedp.Navigate(from + "/?to=" + to))
			b.is(`document.title.startsWith('done')`)
			if got := b.text(`document.title`); strings.Contains(got, "greeting") || strings.Contains(got, "data-at") {
				t.Errorf("%s reads of %s: %s", from, to, got)
			}
			if n := reached.Swap(0); n != 0 {
				t.Errorf("%s reaches %s %d times", from, to, n)
			}
		}
		// A link from there, as one in a message, shows the person the page, and decides nothing.
		b.run(chromedp.Navigate(from+"/?to="+ours), chromedp.Evaluate(`location.href = "`+b.base+`/decide"`, nil))
		b.is(`location.pathname === "/decide" && !!document.querySelector('form[action="/decide"]')`)
		if n := reached.Swap(0); n == 0 || l.approval() != waits {
			t.Errorf("a link of %s reaches us %d times", from, n)
		}
		b.run(chromedp.Navigate("about:blank")) // our page, which asks for more, is gone
		time.Sleep(200 * time.Millisecond)
		reached.Store(0)
	}
	// A name of theirs that leads to us is not ours.
	b.run(chromedp.Navigate("http://evil.example:" + l.port + "/"))
	if n := reached.Swap(0); n != 0 || strings.Contains(b.text(`document.body.textContent`), "greeting") {
		t.Errorf("by another name it answers %d times", n)
	}
	if l.approval() != waits || l.works != 0 {
		t.Error("something was decided")
	}
	// The person still is who they were.
	b.run(chromedp.Navigate(b.base+"/"), chromedp.WaitVisible("h1.answer"))
}
