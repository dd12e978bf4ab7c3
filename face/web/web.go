// Package web is the dashboard: pages on which a person sees what waits for a word, what is proven and what it cost,
// and decides about exactly what was shown. It has no state, no rule and no right of its own: it asks package query and
// gives commands to the kernel in the way that all faces have. Every page is whole HTML and every act a form, so that
// all of it works without script; the module of script only keeps a page up to date and makes it quick by the keyboard.
package web

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"pawl"
	"pawl/face/fault"
	"pawl/face/give"
	"pawl/face/host"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/query"
	"pawl/store/feed"
	"pawl/text/message"
)

// Config is what the dashboard is made of.
type Config struct {
	Kernel *kernel.Kernel
	Feed   *feed.Feed
	// Door lets persons in.
	Door *Door
	// To gives commands to a kernel.
	To func(k *kernel.Kernel) give.To
	// Working says which processes run the work. Its functions may be nil.
	query.Working
	// Begin makes the command that takes a requirement up (host.Offering); nil where none can be.
	Begin func(ctx context.Context, r host.Requirement) (kernel.Command, error)
	// Work has the work go on after a command. It returns at once, and may be nil.
	Work func()
	// Look says that a person has a page before them, until done is called; it may be nil.
	Look func() (done func())
	// Lang is the language where a browser asks for none that there is.
	Lang message.Lang
	// Diff returns the unified diff between two trees; nil where none can be made.
	Diff func(ctx context.Context, place effect.Place, from, to string) (string, error)
	// Verify checks the whole audit log, with the checkpoints that are kept; nil where that cannot be done.
	Verify func(ctx context.Context) (audit.Report, error)
}

// csp is the content security policy: nothing inline, nothing from elsewhere, no text that becomes script.
const csp = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types pawl"

// maxForm bounds the body of a form, in bytes.
const maxForm = 256 << 10

// server answers requests.
type server struct {
	Config
	now func() time.Time
	// head is where what the pages show ends by now: it grows whenever that changes.
	head  func(ctx context.Context) (int64, error)
	read  *reader
	menu  []entry
	mux   *http.ServeMux
	drawn drawn
}

// New returns the dashboard. What comes to it has passed the guard of the server (package loopback).
func New(c Config) http.Handler {
	ask := query.Of(c.Kernel)
	read := &reader{Config: c, ask: ask, shown: &shown{at: map[string]seen{}}}
	log := ask.Log()
	s := &server{Config: c, now: c.Kernel.Now, read: read, menu: entries(), mux: http.NewServeMux(),
		head: func(ctx context.Context) (int64, error) {
			head, err := log.Head(ctx)
			return head.Size, err
		}}
	decide := &decider{read: read, shown: read.shown}
	s.door()
	for path, f := range map[string]pageFunc{
		"/{$}": decide.now, "/board": read.board, "/issue/{issue}": read.issue, "/tasks": read.tasks,
		"/task/{task}": read.task,
		"/runs":        read.runs, "/run/{run}": read.run, "/run/{run}/diff": decide.diff,
		"/run/{run}/evidence": read.evidence,
		"/audit":              read.audit, "/machines": read.machines, "/decide": decide.decide,
		"/workers": read.workers, "/costs": read.costs, "/dependencies": read.graph,
	} {
		s.mux.Handle("GET "+path, s.page(f))
	}
	s.mux.Handle("POST /decide", s.page(decide.decided))
	s.mux.Handle("POST /batch", s.page(decide.batched))
	s.mux.Handle("POST /comment", s.page(decide.commented))
	s.mux.Handle("POST /answer", s.page(decide.answered))
	s.mux.Handle("POST /control", s.page(decide.controlled))
	s.mux.Handle("POST /run", s.page(decide.begun))
	s.mux.HandleFunc("GET /live", s.live)
	return s
}

// door answers what all pages have: entering and leaving, the language, and what is not there.
func (s *server) door() {
	s.mux.HandleFunc("GET /enter", s.enterPage)
	s.mux.HandleFunc("POST /enter", s.enter)
	s.mux.HandleFunc("POST /leave", s.leave)
	s.mux.HandleFunc("POST /language", s.language)
	s.mux.HandleFunc("GET /static/{name}", static)
	s.mux.Handle("/", s.page(func(context.Context, *page, *http.Request) (templ.Component, error) {
		return nil, pawl.Fail(pawl.CodeNotFound, "web.no_page")
	}))
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", csp)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	// With no-referrer a browser would call the origin of our own forms null.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	s.mux.ServeHTTP(w, r)
}

// page is one page in the making.
type page struct {
	lang   message.Lang
	now    time.Time
	person pawl.Actor
	// visit is the visit that it is made in.
	visit string
	// title and here are its heading and the entry of the menu that it belongs to.
	title, here string
	menu        []entry
	// at is where the audit log ended before anything was read for it.
	at int64
	// url is where it is, to come back to, and notice a key of what was just done.
	url    string
	notice string
	// next is where an act leads to, "" where there is something to show instead.
	next string
	// status is that of the answer, and alone says that nothing stands around what is shown.
	status int
	alone  bool
	// since is when the person looked before.
	since time.Time
}

// pageFunc makes a page, or says where to go on.
type pageFunc func(ctx context.Context, p *page, r *http.Request) (templ.Component, error)

// begin is a page for a request, before anything is known of who makes it.
func (s *server) begin(r *http.Request) *page {
	return &page{lang: s.langOf(r), now: s.now(), menu: s.menu, url: r.URL.RequestURI(), status: http.StatusOK}
}

// page serves what a function makes to a person who has entered.
func (s *server) page(f pageFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := s.begin(r)
		if p.person = s.Door.who(r); p.person == "" {
			if r.Header.Get("Pawl-Live") != "" || r.URL.Path == "/live" || r.Method != http.MethodGet {
				p.status = http.StatusUnauthorized
				s.write(w, r, p, enterView(p, "web.enter.gone"))
				return
			}
			if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
				s.write(w, r, p, arriveView(p, p.url)) // who follows the link from here shows whether they have entered
				return
			}
			http.Redirect(w, r, "/enter", http.StatusSeeOther)
			return
		}
		p.visit = visitOf(r)
		if r.Method == http.MethodPost {
			if err := r.ParseForm(); err != nil {
				s.fail(w, r, p, pawl.Fail(pawl.CodeInvalid, "web.form").Because(err))
				return
			}
		}
		p.notice = notices[r.URL.Query().Get("done")]
		p.since = look(w, r, p.now)
		var err error
		p.at, err = s.head(r.Context())
		var body templ.Component
		if err == nil {
			body, err = f(r.Context(), p, r)
		}
		switch {
		case err != nil:
			s.fail(w, r, p, err)
		case p.next != "":
			http.Redirect(w, r, p.next, http.StatusSeeOther)
		case p.alone:
			s.write(w, r, p, body)
		default:
			s.write(w, r, p, layout(p, body))
		}
	})
}

// notices are what may be said of an act on the page after it.
var notices = map[string]string{"approve": "web.done.approve", "deny": "web.done.deny", "revise": "web.done.revise",
	"choose": "web.done.choose", "accept": "web.done.accept", "answer": "web.done.answer", "control": "web.done.control",
	"begin": "web.done.begin"}

// fail shows an error as a page.
func (s *server) fail(w http.ResponseWriter, r *http.Request, p *page, err error) {
	p.status = pawl.CodeOf(err).Info().HTTP
	p.title = p.Text("web.failed")
	s.write(w, r, p, layout(p, failedView(p, fault.Of(p.lang, "", err))))
}

// write sends a page, which tells its length: what comes of it in part is known to be no page.
func (s *server) write(w http.ResponseWriter, r *http.Request, p *page, body templ.Component) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Vary", "Accept-Language, Cookie")
	var whole bytes.Buffer
	if err := body.Render(r.Context(), &whole); err != nil { // who asked has gone away, or a template is wrong
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(whole.Len()))
	w.WriteHeader(p.status)
	_, _ = whole.WriteTo(w) // who has gone away needs no answer
}

// The names of the cookies: who has entered, the language that was chosen, and when the person looked last.
const (
	entered    = "pawl"
	langCookie = "pawl-lang"
	lookCookie = "pawl-look"
)

// langOf is the language of a request: the one that was chosen, or else the first that the browser asks for.
func (s *server) langOf(r *http.Request) message.Lang {
	if c, err := r.Cookie(langCookie); err == nil {
		return message.ParseLang(c.Value)
	}
	for part := range strings.SplitSeq(r.Header.Get("Accept-Language"), ",") {
		switch part = strings.ToLower(strings.TrimSpace(part)); {
		case strings.HasPrefix(part, "zh"):
			return message.Chinese
		case strings.HasPrefix(part, "en"):
			return message.English
		}
	}
	return s.Lang
}

// language has the pages speak another language.
func (s *server) language(w http.ResponseWriter, r *http.Request) {
	lang := message.ParseLang(r.PostFormValue("lang"))
	http.SetCookie(w, &http.Cookie{Name: langCookie, Value: string(lang), Path: "/", MaxAge: 365 * 24 * 3600,
		HttpOnly: true, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, local(r.PostFormValue("back")), http.StatusSeeOther)
}

// local is a path of ours to go back to.
func local(back string) string {
	u, err := url.Parse(back)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(back, "//") ||
		strings.ContainsAny(back, "\\\r\n\t") {
		return "/"
	}
	return back
}

// look says when a person looked before this look, which ends half an hour after the last page of it.
func look(w http.ResponseWriter, r *http.Request, now time.Time) time.Time {
	var before, last time.Time
	if c, err := r.Cookie(lookCookie); err == nil {
		a, b, _ := strings.Cut(c.Value, ".")
		before, last = moment(a), moment(b)
	}
	if r.Header.Get("Pawl-Live") != "" || r.URL.Path == "/live" || r.Method != http.MethodGet {
		return before
	}
	if now.Sub(last) > 30*time.Minute {
		before = last
	}
	http.SetCookie(w, &http.Cookie{Name: lookCookie, Value: stamp(before) + "." + stamp(now), Path: "/",
		MaxAge: 90 * 24 * 3600, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	return before
}
