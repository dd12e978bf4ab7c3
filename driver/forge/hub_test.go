package forge_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pawl/driver/forge"
)

// token is what the tests show; it must stand nowhere else.
const token = "ghp_" + "test0000000000000000000000000000000001"

// hub answers like GitHub's API, as far as it is used: pages with Link and ETag, conditional requests, single issues,
// comments and labels. Before each request the script, if one is left, may do something else.
type hub struct {
	*httptest.Server
	mu       sync.Mutex
	issues   []map[string]any
	comments []string
	labels   []string
	script   []fault
	seen     []seen
	private  bool
	now      time.Time
}

// fault answers a request in the hub's place, and reports whether it did.
type fault func(w http.ResponseWriter, r *http.Request) bool

// seen is one request.
type seen struct {
	method, uri   string
	conditional   bool
	authorization string
}

func newHub(t testing.TB, issues int) *hub {
	t.Helper()
	h := &hub{now: time.Date(2026, 1, 30, 10, 0, 0, 0, time.UTC)}
	for n := 1; n <= issues; n++ {
		h.add("")
	}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *hub) add(body string) {
	n := len(h.issues) + 1
	h.issues = append(h.issues, map[string]any{
		"id": 1_000_000 + n, "node_id": "I_" + strconv.Itoa(n), "number": n, "title": fmt.Sprintf("Issue %d 议题",
			n), "body": body, "state": "open", "state_reason": nil,
		"labels": []any{map[string]any{"name": []string{"bug", "P1", "优先级：低"}[n%3]}},
		"user":   map[string]any{"login": "ada"}, "comments": 0,
		"html_url": fmt.Sprintf("https://github.com/acme/app/issues/%d", n), "updated_at": "2026-01-30T10:00:00Z",
	})
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, seen{r.Method, r.URL.RequestURI(), r.Header.Get("If-None-Match") != "",
		r.Header.Get("Authorization")})
	w.Header().Set("Date", h.now.Format(http.TimeFormat))
	if len(h.script) > 0 {
		next := h.script[0]
		h.script = h.script[1:]
		if next != nil && next(w, r) {
			return
		}
	}
	h.answer(w, r)
}

func (h *hub) answer(w http.ResponseWriter, r *http.Request) {
	rest, ok := strings.CutPrefix(r.URL.Path, "/repos/acme/app/issues")
	if !ok || h.private && r.Header.Get("Authorization") != "Bearer "+token {
		say(w, http.StatusNotFound, "Not Found")
		return
	}
	switch parts := strings.Split(strings.Trim(rest, "/"), "/"); {
	case rest == "":
		h.list(w, r)
	case len(parts) == 2 && r.Method == http.MethodPost:
		h.write(w, r, parts[1])
	case len(parts) == 2 && parts[1] == "comments":
		var out []any
		for _, c := range h.comments {
			out = append(out, map[string]any{"body": c})
		}
		h.page(w, r, out)
	default:
		n, _ := strconv.Atoi(parts[0])
		if n < 1 || n > len(h.issues) {
			say(w, http.StatusNotFound, "Not Found")
			return
		}
		h.give(w, r, h.issues[n-1])
	}
}

func (h *hub) list(w http.ResponseWriter, r *http.Request) {
	var out []any
	for _, i := range h.issues {
		if r.URL.Query().Get("state") == "all" || i["state"] == "open" {
			out = append(out, i)
		}
	}
	h.page(w, r, out)
}

// page gives one page of a list, and names the next one.
func (h *hub) page(w http.ResponseWriter, r *http.Request, all []any) {
	q := r.URL.Query()
	page, _ := strconv.Atoi(q.Get("page"))
	size, _ := strconv.Atoi(q.Get("per_page"))
	from := (max(page, 1) - 1) * size
	if from+size < len(all) {
		q.Set("page", strconv.Itoa(max(page, 1)+1))
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?%s>; rel="next", <%s/x>; rel="last"`, h.URL, r.URL.Path, q.Encode(),
			h.URL))
	}
	from = min(from, len(all))
	h.give(w, r, append([]any{}, all[from:min(from+size, len(all))]...))
}

func (h *hub) give(w http.ResponseWriter, r *http.Request, v any) {
	raw, _ := json.Marshal(v)
	sum := sha256.Sum256(raw)
	etag := `W/"` + hex.EncodeToString(sum[:8]) + `"`
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.Header().Del("Link")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(raw)
}

func (h *hub) write(w http.ResponseWriter, r *http.Request, what string) {
	var body struct {
		Body string `json:"body"`
	}
	var labels []string
	into := any(&body)
	if what == "labels" {
		into = &labels
	}
	if err := json.NewDecoder(r.Body).Decode(into); err != nil || r.Header.Get("Authorization") != "Bearer "+token {
		say(w, http.StatusForbidden, "Resource not accessible")
		return
	}
	if what == "comments" {
		h.comments = append(h.comments, body.Body)
	}
	h.labels = append(h.labels, labels...)
	w.WriteHeader(http.StatusCreated)
	answer := "{}"
	if what == "labels" {
		answer = "[]"
	}
	_, _ = io.WriteString(w, answer)
}

// took returns what was asked for since the last call.
func (h *hub) took() []seen {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := slices.Clone(h.seen)
	h.seen = nil
	return out
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"message":%q,"documentation_url":"https://docs.test"}`, text)
}

// fails answers with a status and headers.
func fails(status int, text string, header ...string) fault {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		say(w, status, text)
		return true
	}
}

// adds lets the hub answer, with headers.
func adds(header ...string) fault {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		return false
	}
}

// says answers with a body, as it is.
func says(body string) fault {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		_, _ = io.WriteString(w, body)
		return true
	}
}

// cuts breaks the answer off in its middle.
func cuts(w http.ResponseWriter, _ *http.Request) bool {
	w.Header().Set("Content-Length", "5000")
	_, _ = io.WriteString(w, `[{"number":1,"title":"a"`)
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// drops closes the connection without an answer.
func drops(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }

// desk is a client with a clock that only waits move on.
type desk struct {
	*forge.Client
	hub    *hub
	waits  []time.Duration
	events []forge.Progress
}

func newDesk(t testing.TB, h *hub) *desk {
	t.Helper()
	carry, err := forge.Transport("")
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{hub: h}
	d.Client = &forge.Client{
		Base: h.URL, HTTP: carry, Token: func() (string, error) {
			return token,
				nil
		}, Pages: forge.Dir{Path: t.TempDir() + "/pages"},
		Now: func() time.Time { return h.now }, Progress: func(p forge.Progress) { d.events = append(d.events, p) },
		Sleep: func(ctx context.Context, w time.Duration) error {
			h.mu.Lock()
			defer h.mu.Unlock()
			d.waits = append(d.waits, w)
			h.now = h.now.Add(w)
			return context.Cause(ctx)
		},
	}
	t.Cleanup(func() { carry.(*http.Transport).CloseIdleConnections() })
	return d
}

var acme = forge.Repo{Owner: "acme", Name: "app"}
