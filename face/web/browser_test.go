//go:build browser

package web

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"pawl"
	"pawl/kernel/issues"
	"pawl/kernel/planning"
)

var shots = flag.String("shots", "", "a folder that pictures of every page are written to")

// browser is a tab of Chromium with the dashboard, and what it complained of.
type browser struct {
	*lab
	ctx  context.Context
	base string
	mu   sync.Mutex
	bad  []string
}

// look opens a browser, which enters by the address that pawl open prints.
func (l *lab) look() *browser {
	l.Helper()
	own, err := os.MkdirTemp("", "chromium")
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() { _ = os.RemoveAll(own) }) // a process of the browser's may still write to it
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.NoSandbox,
		chromedp.UserDataDir(own), chromedp.Flag("host-resolver-rules", "MAP evil.example 127.0.0.1"))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	l.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	l.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 30*time.Minute)
	l.Cleanup(cancel)
	b := &browser{lab: l, ctx: ctx, base: "http://" + l.name + ":" + l.port}
	chromedp.ListenTarget(ctx, func(e any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := e.(type) {
		case *log.EventEntryAdded:
			if !strings.Contains(e.Entry.URL, "/live") { // a stream that is cut is told of, too
				b.bad = append(b.bad, e.Entry.Text+" "+e.Entry.URL)
			}
		case *runtime.EventExceptionThrown:
			b.bad = append(b.bad, e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			b.bad = append(b.bad, fmt.Sprint(e.Type, e.Args))
		}
	})
	code, err := l.door.Code("user:ada")
	if err != nil {
		l.Fatal(err)
	}
	b.run(log.Enable(), chromedp.Navigate(b.base+"/enter#"+code), chromedp.WaitVisible("h1.answer"))
	return b
}

func (b *browser) run(actions ...chromedp.Action) {
	b.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// is evaluates an expression until it is true.
func (b *browser) is(expression string) {
	b.Helper()
	var got any
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		// Between two pages there is none to ask.
		if err := chromedp.Run(b.ctx, chromedp.Evaluate(expression, &got)); err == nil && got == true {
			return
		}
	}
	b.Fatalf("%s is %v: %s", expression, got, b.text(`document.title`))
}

// quiet fails where the browser complained: of the content security policy, of the script, of anything.
func (b *browser) quiet() {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.bad {
		b.Error(text)
	}
}

// TestBrowserLive: the page of a browser follows what is committed, without losing what a person is at, and looks old
// when it can no longer do so.
func TestBrowserLive(t *testing.T) {
	l := newLab(t).fill()
	b := l.look()
	b.is(`document.body.classList.contains('live') && location.hash === '' && location.pathname === '/'`)

	b.run(chromedp.Navigate(b.base + "/board"))
	b.is(`document.body.classList.contains('live')`)
	var took []time.Duration
	for n := range 40 {
		title := fmt.Sprint("committed ", n)
		begun := time.Now()
		l.do("user:ada", &issues.AddIssues{Issues: []issues.NewIssue{{Title: title}}})
		b.is(`document.body.textContent.includes("` + title + `")`)
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	t.Logf("from the commit to the page, with the looking: p50 %v, p95 %v", took[len(took)/2], took[len(took)*95/100])

	b.run(chromedp.Navigate(b.base+"/decide"), chromedp.WaitVisible("#reason"))
	b.run(chromedp.Focus("#reason"), chromedp.SendKeys("#reason", "not yet"))
	before := b.text(`document.body.dataset.at`)
	l.do("user:ada", &issues.AddIssues{Issues: []issues.NewIssue{{Title: "meanwhile"}}})
	b.is(`document.body.dataset.at !== "` + before + `"`)
	b.is(`document.getElementById('reason').value === 'not yet' && document.activeElement.id === 'reason'`)

	b.quiet()
	l.server.CloseClientConnections()
	l.server.Config.SetKeepAlivesEnabled(false)
	_ = l.server.Listener.Close()
	b.is(`document.body.classList.contains('stale') && document.querySelector('#link .old').textContent.includes('20')`)
}

func (b *browser) text(expression string) (out string) {
	b.Helper()
	b.run(chromedp.Evaluate(expression, &out))
	return out
}

// TestBrowserKeys: a plan is found, approved and followed to its archive, pages are reached, rows gone through, and the
// palette used by the keyboard alone.
func TestBrowserKeys(t *testing.T) {
	l := newLab(t).fill()
	b := l.look()
	b.is(`document.body.classList.contains('live')`)
	b.run(chromedp.KeyEvent("j"), chromedp.KeyEvent("\r"))
	b.is(`location.pathname === '/decide' && document.readyState === 'complete'`)
	for n, found := 0, false; !found; n++ {
		if n == 80 {
			t.Fatal("no way to the approval by the keyboard")
		}
		b.run(chromedp.KeyEvent("\t"), chromedp.Evaluate(`document.activeElement.matches('button[value=approve]')`,
			&found))
	}
	b.run(chromedp.KeyEvent("\r"), chromedp.WaitVisible(".notice"))
	b.archived(func() {
		b.is(`document.body.classList.contains('live')`)
		b.run(chromedp.KeyEvent("g"), chromedp.KeyEvent("r"))
		b.is(`document.title.startsWith('Runs') && document.body.classList.contains('live')`)
		b.run(chromedp.KeyEvent("j"), chromedp.KeyEvent("\r"))
	})
	b.is(`document.body.classList.contains('live')`)
	b.run(chromedp.KeyEvent("g"), chromedp.KeyEvent("b"))
	b.is(`location.pathname === '/board' && document.title.startsWith('Board')`)
	b.is(`document.body.classList.contains('live')`)
	b.run(chromedp.KeyEvent("j"), chromedp.KeyEvent("j"))
	b.is(`document.querySelectorAll('.at').length === 1 && document.activeElement.textContent === 'ISS-1'`)
	b.run(chromedp.KeyEvent("\r"))
	b.is(`location.pathname === '/issue/ISS-1' && document.title.startsWith('ISS-1')`)
	b.is(`document.body.classList.contains('live')`)
	b.run(chromedp.KeyEvent("?"))
	b.is(`document.getElementById('help').open`)
	b.run(chromedp.KeyEvent("\x1b"))
	b.is(`!document.getElementById('help').open`)
	b.run(chromedp.Evaluate(`document.dispatchEvent(new KeyboardEvent('keydown', {key: 'k', ctrlKey: true, bubbles: true})) && 0 ||
		document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'k', ctrlKey: true, bubbles: true}))`, nil))
	b.is(`document.getElementById('palette').open`)
	b.run(chromedp.SendKeys("#palette input", "audit\r"))
	b.is(`location.pathname === '/audit'`)
	b.quiet()
}

// TestBrowserWithoutScript: a plan is looked at, approved and followed to its archive where no script runs.
func TestBrowserWithoutScript(t *testing.T) {
	l := newLab(t).fill()
	b := l.look()
	b.run(emulation.SetScriptExecutionDisabled(true), chromedp.Navigate(b.base+"/"),
		chromedp.Click(`a.button.primary`), chromedp.WaitVisible(`button[value=approve]`),
		chromedp.Click(`button[value=approve]`), chromedp.WaitVisible(`.notice`))
	b.archived(func() {
		b.run(chromedp.Click(`nav a[data-key=r]`), chromedp.WaitVisible(`#run-RUN-1`), chromedp.Click(`#run-RUN-1 a`))
	})
	b.quiet()
}

// pictured are the pages that are looked at in every form.
var pictured = []string{"/", "/board", "/board?state=registered", "/issue/ISS-1", "/tasks", "/runs", "/run/RUN-1",
	"/run/RUN-1/diff", "/run/RUN-1/evidence", "/audit", "/audit?verify=1", "/machines", "/decide", "/enter",
	"/workers", "/costs", "/dependencies"}

// axe is the script that looks for what keeps people out of a page.
func axe(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", ".tools", "axe", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatalf("%v: scripts/setup.sh browser installs it", err)
	}
	return string(raw)
}

// violations are the rules of accessibility that a page breaks, and where.
const violations = `axe.run(document, {resultTypes: ['violations']}).then((r) =>
	r.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.target.join(' ')).join(', ')))`

// awaiting has the value of a promise waited for.
func awaiting(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// TestBrowserPages looks at each page in both languages, both themes and three sizes: nothing is wider than the window, and
// neither axe nor the browser has anything to complain of. With -shots it takes pictures.
func TestBrowserPages(t *testing.T) {
	newLab(t).fill().busy().look().pages("", pictured)
	unproven(t, pawl.Autonomous).look().pages("unproven-", []string{"/", "/decide", "/run/RUN-1", "/run/RUN-1/diff"})
}

// pages looks at pages in both languages, both themes and three widths. Their pictures have names that begin alike.
func (b *browser) pages(name string, paths []string) {
	b.Helper()
	script := axe(b.T)
	for _, lang := range []string{"en", "zh-CN"} {
		b.run(chromedp.Navigate(b.base+"/"), chromedp.Evaluate(`document.documentElement.lang !== "`+lang+
			`" && document.querySelector('form[action="/language"] button').click()`, nil))
		b.is(`document.documentElement.lang === "` + lang + `" && document.readyState === 'complete'`)
		for _, theme := range []string{"light", "dark"} {
			b.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme",
				Value: theme}}))
			for _, width := range []int64{320, 1280, 3840} {
				b.run(emulation.SetDeviceMetricsOverride(width, 900, 1, false))
				for _, path := range paths {
					var wide bool
					var picture []byte
					b.run(chromedp.Navigate(b.base+path), chromedp.Evaluate(
						`document.documentElement.scrollWidth > document.documentElement.clientWidth`, &wide))
					if wide {
						b.Errorf("%s is wider than %d", path, width)
					}
					var broken []string
					b.run(chromedp.Evaluate(script, nil), chromedp.Evaluate(violations, &broken, awaiting))
					for _, rule := range broken {
						b.Errorf("%s in %s, %s, %d wide: %s", path, lang, theme, width, rule)
					}
					if *shots == "" {
						continue
					}
					b.run(chromedp.FullScreenshot(&picture, 90))
					file := fmt.Sprintf("%s%s-%s-%s-%d.jpg", name, cmp.Or(strings.NewReplacer("/", "-", "?", "-").Replace(path[1:]), "now"), lang, theme,
						width)
					if err := os.WriteFile(filepath.Join(*shots, file), picture, 0o600); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
	}
	b.quiet()
}

// TestBrowserGoing: what a link or a search leads to takes the place of the page without a load, stays live there, and goes
// back and forth with the browser; who has left meanwhile comes to the door.
func TestBrowserGoing(t *testing.T) {
	l := newLab(t).enter().fill()
	b := l.look()
	b.run(chromedp.Navigate(b.base + "/board"))
	b.is(`document.body.classList.contains('live')`)
	b.run(chromedp.Evaluate(`window.kept = true`, nil))
	at := func(path, title string) {
		t.Helper()
		b.is(`kept && location.pathname + location.search === '` + path + `' && document.title === '` + title + ` · pawl' &&
			document.body.classList.contains('live')`)
	}
	b.run(chromedp.SendKeys(`input[type=search]`, "nothing at all\r"))
	at("/board?q=nothing+at+all", "Board")
	b.run(chromedp.Click(`nav a[data-key=t]`))
	at("/tasks", "Tasks")
	b.is(`document.querySelector('nav [aria-current]').dataset.key === 't' && document.activeElement.id === 'main' &&
		document.querySelector('input[type=search]').value === '' && document.querySelectorAll('main').length === 1`)
	l.do("user:ada", &planning.Revise{Given: []byte(strings.ReplaceAll(planText, "write it", "say it otherwise")), Name: "p.yaml"})
	l.work()
	if n := strings.Count(l.get("/tasks").raw, " data-row"); n < 2 {
		t.Errorf("%d tasks", n)
	} else {
		b.is(fmt.Sprint(n, ` === document.querySelectorAll('[data-row]').length`))
	}
	b.run(chromedp.NavigateBack())
	at("/board?q=nothing+at+all", "Board")
	b.run(chromedp.NavigateBack())
	at("/board", "Board")
	b.run(chromedp.NavigateForward())
	at("/board?q=nothing+at+all", "Board")
	b.is(`document.querySelector('input[type=search]').value === 'nothing at all'`)
	b.run(chromedp.Evaluate(`document.querySelector('nav a[data-key=r]').click(); document.querySelector('nav a[data-key=a]').click()`, nil))
	at("/audit", "Audit")
	b.quiet()

	b.run(chromedp.Evaluate(`fetch('/leave', {method: 'POST'}).then(() => document.querySelector('nav a[data-key=b]').click())`, nil))
	b.is(`location.pathname === '/enter' && window.kept === undefined`)
}

// TestBrowserUpgraded: a tab that another version of pawl serves by now loads its page anew, whether something happens
// there or a link is followed.
func TestBrowserUpgraded(t *testing.T) {
	l := newLab(t).fill()
	b := l.look()
	served := l.guard.Next
	for n, act := range []func(){
		func() { l.do("user:ada", &issues.AddIssues{Issues: []issues.NewIssue{{Title: "after the upgrade"}}}) },
		func() { b.run(chromedp.Evaluate(`document.querySelector('nav a[data-key=b]').click()`, nil)) },
	} {
		b.run(chromedp.Navigate(b.base + "/costs"))
		b.is(`document.body.classList.contains('live')`)
		b.run(chromedp.Evaluate(`window.kept = true`, nil))
		script := asset("pawl.js")
		l.guard.Next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/live" || strings.HasPrefix(r.URL.Path, "/static/") {
				served.ServeHTTP(w, r)
				return
			}
			answer := httptest.NewRecorder()
			served.ServeHTTP(answer, r)
			maps.Copy(w.Header(), answer.Header())
			w.Header().Del("Content-Length")
			w.WriteHeader(answer.Code)
			_, _ = io.WriteString(w, strings.ReplaceAll(answer.Body.String(), script, fmt.Sprint(script, "?version=", n)))
		})
		act()
		b.is(`window.kept === undefined && document.body.classList.contains('live') &&
			document.querySelector('script[src]').src.endsWith('?version=` + fmt.Sprint(n) + `')`)
	}
	b.quiet()
}
