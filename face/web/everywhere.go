package web

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"pawl"
	"pawl/face/host"
	"pawl/text/message"
)

// All is what the page of all workspaces is made of.
type All struct {
	Door *Door
	Lang message.Lang
	Now  func() time.Time
	// Look says how all workspaces are, and Changed grows with what is committed in any of them.
	Look    func(ctx context.Context) []host.Sight
	Changed func() int64
	// Open has a workspace served with its own pages, and makes the address by which a person enters them.
	Open func(ctx context.Context, dir string, person pawl.Actor) (address string, err error)
}

// Everywhere is one page of all workspaces: where each stands, and what waits for a person in any of them. What is
// decided is decided on the pages of a workspace.
type Everywhere struct {
	*server
	all All
}

// NewAll returns that page, with all that leads to it.
func NewAll(a All) *Everywhere {
	e := &Everywhere{&server{Config: Config{Door: a.Door, Lang: a.Lang}, now: a.Now, mux: http.NewServeMux(),
		head: func(context.Context) (int64, error) { return a.Changed(), nil }}, a}
	e.door()
	e.mux.Handle("GET /{$}", e.page(e.look))
	e.mux.Handle("POST /open", e.page(e.open))
	e.mux.HandleFunc("GET /live", e.live)
	return e
}

// glance is how often it is asked whether something was committed, while somebody looks.
const glance = time.Second

// live tells a page when something was committed in any workspace since it was made.
func (e *Everywhere) live(w http.ResponseWriter, r *http.Request) {
	if e.Door.who(r) == "" {
		http.Error(w, "", http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	t := &stream{w: w, control: http.NewResponseController(w)}
	known, _ := strconv.ParseInt(r.URL.Query().Get("from"), 10, 64) // whoever does not say is told at once
	look := time.NewTicker(glance)
	defer look.Stop()
	last := time.Time{}
	for err := error(nil); err == nil && e.Door.who(r) != ""; {
		switch at := e.all.Changed(); {
		case at != known:
			known = at
			err = t.write(fmt.Sprintf("event: at\nid: %d\ndata:\n\n", at-1))
		case time.Since(last) > beat:
			last = time.Now()
			err = t.write("retry: 1000\nevent: beat\ndata:\n\n")
		}
		select {
		case <-r.Context().Done():
			return
		case <-look.C:
		}
	}
}

// Refuse answers a request that is not let in.
func (e *Everywhere) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	e.fail(w, r, e.begin(r), err)
}

// name is a workspace as a person calls it.
func name(dir string) string { return line(filepath.Base(dir)) }

// look shows all workspaces.
func (e *Everywhere) look(ctx context.Context, p *page, _ *http.Request) (templ.Component, error) {
	p.title = p.Text("web.all")
	sights := e.all.Look(ctx)
	return everywhereView(p, sights, host.Gravest(sights)), nil
}

// open leads to the pages of a workspace, by a link: no form of ours may end at another address (form-action).
func (e *Everywhere) open(ctx context.Context, p *page, r *http.Request) (templ.Component, error) {
	address, err := e.all.Open(ctx, r.PostFormValue("dir"), p.person)
	p.alone = true
	return arriveView(p, address), err
}

// most is as many things of all workspaces as stand on the page.
const most = 200
