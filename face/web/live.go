package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"

	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/query"
	"pawl/kernel/view"
	"pawl/text/message"
)

// beat is how often a stream says that it is alive, gather how long after one message commits are gathered for the
// next, and writing how long a browser may take to receive it.
const (
	beat    = 15 * time.Second
	gather  = 5 * time.Millisecond
	writing = 10 * time.Second
)

// maxTold is how many records are gone through for rows that changed: a page that is further behind is fetched.
const maxTold = 1000

// live tells a page what was committed since it was made, or since the browser heard of it last. Of a list it sends the
// rows that changed; any other page is told that there is something, and is fetched anew, as lists are, too, when it
// has become quiet: so each ends as a fresh one would be, whatever was missed in between. The id of what is told is the
// index of the newest record in it.
func (s *server) live(w http.ResponseWriter, r *http.Request) {
	if s.Door.who(r) == "" {
		http.Error(w, "", http.StatusUnauthorized)
		return
	}
	p := s.begin(r)
	p.since = look(w, r, p.now)
	t := &stream{of: s, w: w, control: http.NewResponseController(w), p: p, page: r.URL.Query().Get("of")}
	t.list = s.read.listing(t.page)
	head, err := s.head(r.Context())
	t.next = head
	for _, given := range []string{r.URL.Query().Get("from"), r.Header.Get("Last-Event-ID")} {
		if n, wrong := strconv.ParseInt(given, 10, 64); wrong == nil {
			t.next = n
			if given == r.Header.Get("Last-Event-ID") {
				t.next++
			}
		}
	}
	if err != nil || t.next < 0 || t.next > head {
		http.Error(w, "", http.StatusGone) // it is of another log: the page that it was on is, too
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if s.Look != nil { // the script ends the stream of a page that is hidden
		defer s.Look()()
	}
	// Who has gone comes back, and is told then what is wrong.
	_ = t.tell(r.Context(), func() bool { return s.Door.who(r) != "" })
}

// stream is one that a browser listens to.
type stream struct {
	of      *server
	w       http.ResponseWriter
	control *http.ResponseController
	// p is in whose language rows are drawn, and page the path and query of the page that they are for.
	p    *page
	page string
	list *listing // nil for a page that is fetched
	next int64    // the index of the first record that was not told
}

// tell writes until the browser goes, the visit ends or ctx does.
func (t *stream) tell(ctx context.Context, visits func() bool) error {
	commits := t.of.Feed.Listen()
	defer commits.Close()
	alive := time.NewTicker(beat)
	defer alive.Stop()
	if err := t.write("retry: 1000\nevent: beat\ndata:\n\n"); err != nil {
		return err
	}
	for visits() {
		if err := t.told(ctx); err != nil {
			return err
		}
		wrote := time.Now()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-commits.C:
			time.Sleep(gather - time.Since(wrote))
		case <-alive.C:
			if err := t.write("event: beat\ndata:\n\n"); err != nil {
				return err
			}
		}
	}
	return nil
}

// told tells what was committed since it was told last.
func (t *stream) told(ctx context.Context) error {
	changed, known := map[string]int64{}, map[audit.Subject]string{}
	from := t.next
	for rec, err := range t.of.Feed.Since(ctx, from) {
		if err != nil {
			return err
		}
		if t.next = rec.Index + 1; t.list == nil || t.next-from >= maxTold {
			break
		}
		id, ok := known[rec.Subject]
		if !ok {
			if id, err = t.list.of(ctx, rec.Subject); err != nil {
				return err
			}
			known[rec.Subject] = id
		}
		if id != "" {
			changed[id] = rec.Index
		}
	}
	switch {
	case t.next == from:
		return nil
	case t.list == nil, t.next-from >= maxTold:
		head, err := t.of.head(ctx)
		if err != nil {
			return err
		}
		t.next = head
		return t.write(fmt.Sprintf("event: at\nid: %d\ndata:\n\n", t.next-1))
	}
	t.p.now = t.of.Kernel.Now()
	rows, err := t.of.drawn.rows(ctx, t.list, t.p, t.page, changed)
	if err != nil {
		return err
	}
	rows = strings.NewReplacer("\r", "&#13;", "\n", "\ndata: ").Replace(rows)
	return t.write(fmt.Sprintf("event: rows\nid: %d\ndata: %s\n\n", t.next-1, rows))
}

// write sends a message. A browser that does not take it is cut off.
func (t *stream) write(text string) error {
	// Where nothing can be set there is no network, as in tests.
	_ = t.control.SetWriteDeadline(time.Now().Add(writing))
	if _, err := io.WriteString(t.w, text); err != nil {
		return err
	}
	return t.control.Flush()
}

// listed is the id of the one list of a page.
const listed = "list"

// listing is a page whose rows are told one by one: which of them a record is about, "" for none, and how some look.
type listing struct {
	of   func(ctx context.Context, about audit.Subject) (id string, err error)
	draw func(ctx context.Context, p *page, ids []string, add func(id string, row templ.Component)) error
	// totals is what such a page says of all of them, nil for nothing.
	totals func(ctx context.Context, p *page) (templ.Component, error)
}

// listing is the page at a path with a query, nil where it is none of these. A row that came to fit goes into a list
// only where that shows its beginning; what no longer does stays until the page is fetched.
func (s *reader) listing(of string) *listing {
	u, err := url.Parse(of)
	if err != nil {
		return nil
	}
	state, words := u.Query().Get("state"), u.Query().Get("q")
	in := func(is string) string {
		if u.Query().Get("after") != "" || words != "" || state != "" && state != is {
			return ""
		}
		return listed
	}
	b := s.ask.Board()
	switch u.Path {
	case "/board":
		l := &listing{of: ofKind(kernel.KindIssue)}
		columns := state == "" && words == ""
		if columns {
			l.totals = func(ctx context.Context, p *page) (templ.Component, error) {
				counts, err := b.Counts(ctx)
				return totals(p, counts), err
			}
		}
		l.draw = func(ctx context.Context, p *page, ids []string, add func(string, templ.Component)) error {
			for i, err := range b.Issues(ctx, query.Filter{IDs: ids}) {
				switch {
				case err != nil:
					return err
				case columns:
					add(i.ID, card(p, i))
				default:
					add(i.ID, issueRow(p, i, in(string(i.Status))))
				}
			}
			return nil
		}
		return l
	case "/tasks":
		return &listing{of: ofKind(kernel.KindTask), draw: drawing(s.ask.Tasks, func(p *page, t view.TaskLine) (string,
			templ.Component) {
			return t.ID, taskRow(p, t, in(string(t.State)))
		})}
	case "/runs":
		return &listing{of: s.runOf, draw: drawing(s.ask.Runs, func(p *page, r view.RunLine) (string,
			templ.Component) {
			return r.ID, runRow(p, r, in(""))
		})}
	}
	return nil
}

// ofKind are the rows of a kind, each of which is told of by records about itself.
func ofKind(kind kernel.Kind) func(context.Context, audit.Subject) (string, error) {
	return func(_ context.Context, about audit.Subject) (string, error) {
		if about.Kind != string(kind) {
			return "", nil
		}
		return about.ID, nil
	}
}

// runOf is the run that a record is about: its state is that of its session, its proof that of its task.
func (s *reader) runOf(ctx context.Context, about audit.Subject) (string, error) {
	switch kernel.Kind(about.Kind) {
	case kernel.KindRun:
		return about.ID, nil
	case kernel.KindSession:
		return s.ask.LastRun(ctx, view.Session{ID: about.ID})
	case kernel.KindTask:
		for t, err := range s.ask.Tasks(ctx, query.Page{IDs: []string{about.ID}}) {
			return t.Value.Run, err
		}
	}
	return "", nil
}

// drawing draws the rows that a question answers with.
func drawing[T any](ask func(context.Context, query.Page) iter.Seq2[query.Item[T], error],
	row func(*page, T) (string, templ.Component)) func(context.Context, *page, []string, func(string,
	templ.Component)) error {
	return func(ctx context.Context, p *page, ids []string, add func(string, templ.Component)) error {
		for i, err := range ask(ctx, query.Page{IDs: ids}) {
			if err != nil {
				return err
			}
			add(row(p, i.Value))
		}
		return nil
	}
}

// maxDrawn bounds how many rows are kept as they were drawn.
const maxDrawn = 4000

// drawn keeps rows as they were drawn last, so that a change is drawn once in each language, however many look.
type drawn struct {
	mu   sync.Mutex
	kept map[sketch]picture
}

// sketch is a row, "" for the totals, on a page in a language, for those who looked before at the same time.
type sketch struct {
	page, row string
	lang      message.Lang
	since     int64
}

// picture is how it looks, as of the record with that index at least.
type picture struct {
	at   int64
	html string
}

// rows are those that changed, by id with the index of the newest record about each, as a page shows them.
func (d *drawn) rows(ctx context.Context, l *listing, p *page, path string, changed map[string]int64) (string, error) {
	if len(changed) == 0 {
		return "", nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kept == nil || len(d.kept) > maxDrawn {
		d.kept = map[sketch]picture{}
	}
	key := func(id string) sketch { return sketch{path, id, p.lang, p.since.Unix()} }
	var wanted []string
	newest := int64(0)
	for id, at := range changed {
		newest = max(newest, at)
		if has, ok := d.kept[key(id)]; !ok || has.at < at {
			wanted = append(wanted, id)
			d.kept[key(id)] = picture{at: at} // where there is no such row any more
		}
	}
	var wrong error
	keep := func(id string, at int64, c templ.Component) {
		var b strings.Builder
		wrong = cmp.Or(wrong, c.Render(ctx, &b))
		d.kept[key(id)] = picture{at, b.String()}
	}
	if len(wanted) > 0 {
		wrong = l.draw(ctx, p, wanted, func(id string, c templ.Component) { keep(id, changed[id], c) })
	}
	order := slices.Sorted(maps.Keys(changed))
	if l.totals != nil && wrong == nil {
		if has, ok := d.kept[key("")]; !ok || has.at < newest {
			var c templ.Component
			if c, wrong = l.totals(ctx, p); wrong == nil {
				keep("", newest, c)
			}
		}
		order = append(order, "")
	}
	if wrong != nil {
		d.kept = nil // what was not drawn is not kept as if it were
		return "", wrong
	}
	var b strings.Builder
	for _, id := range order {
		b.WriteString(d.kept[key(id)].html)
	}
	return b.String(), nil
}

//go:embed static
var files embed.FS

// assets are the embedded files by the names that they are served under, which change with their content.
var assets = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	list, _ := files.ReadDir("static") // it is embedded
	for _, f := range list {
		raw, _ := files.ReadFile("static/" + f.Name())
		sum := sha256.Sum256(raw)
		stem, ext, _ := strings.Cut(f.Name(), ".")
		out[f.Name()] = stem + "-" + hex.EncodeToString(sum[:6]) + "." + ext
	}
	return out
})

// asset is where an embedded file is.
func asset(name string) string { return "/static/" + assets()[name] }

// types are those of the embedded files.
var types = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml"}

// static serves an embedded file, which never changes under its name.
func static(w http.ResponseWriter, r *http.Request) {
	for name, as := range assets() {
		if as != r.PathValue("name") {
			continue
		}
		raw, _ := files.ReadFile("static/" + name)
		w.Header().Set("Content-Type", types[path.Ext(name)])
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		_, _ = w.Write(raw) // who has gone away needs no answer
		return
	}
	http.NotFound(w, r)
}
