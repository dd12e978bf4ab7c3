package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"pawl/agent/wire"
)

// Request is a request as the server got it.
type Request struct {
	Form         wire.Form
	Model        string
	Body         string
	Key          string // what the caller sent to show who it is
	Branch, Step int
	Stream       bool
	Results      []string // ids of the calls whose results the request carries, in order, repeated where they are
}

// Server is a model server on loopback.
type Server struct {
	URL string

	http   *http.Server
	mu     sync.Mutex
	script Script
	seen   []Request
	played map[[2]int]int
	asked  map[string]int // structured answers, by the name of the schema
}

// Serve starts a server. The caller closes it.
func Serve(addr string, s Script) (*Server, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	srv := &Server{URL: "http://" + l.Addr().String(), script: s, played: map[[2]int]int{}, asked: map[string]int{}}
	srv.http = &http.Server{Handler: srv, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = srv.http.Serve(l) }()
	return srv, nil
}

// Close stops the server and breaks off what it is answering.
func (s *Server) Close() { _ = s.http.Close() }

// Play changes the script.
func (s *Server) Play(script Script) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script, s.played, s.asked = script, map[[2]int]int{}, map[string]int{}
}

// Requests returns the requests for an answer so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.seen...)
}

// ServeHTTP answers in the form that the path belongs to.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		return
	}
	path := r.URL.Path
	switch {
	case strings.HasSuffix(path, "/models") && r.Method == http.MethodGet:
		reply(w, `{"object":"list","data":[{"id":"mock-model","object":"model"}],"models":[{"name":"models/mock-model"}]}`)
	case strings.HasSuffix(path, "/count_tokens"):
		reply(w, `{"input_tokens":100}`)
	case strings.Contains(path, ":countTokens"):
		reply(w, `{"totalTokens":100}`)
	case wire.FormAt(path) != "":
		s.answer(w, r, wire.FormAt(path), body)
	default:
		http.Error(w, `{"error":{"message":"no such path `+path+`","type":"not_found"}}`, http.StatusNotFound)
	}
}

func reply(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, body)
}

// answer plays the step that a request asks for.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, form wire.Form, body []byte) {
	q := parse(form, r, body)
	s.mu.Lock()
	script := s.script
	at := q.place(script)
	s.played[at]++
	times := s.played[at]
	s.seen = append(s.seen, q.seen)
	if q.json {
		s.asked[q.schema]++
		q.nth = s.asked[q.schema]
	}
	s.mu.Unlock()
	step := script.Branches[at[0]].Steps[at[1]]
	a := answerTo(script, step, q, at)
	sleep(r, step.Wait)
	if step.Status != 0 && times <= max(step.Times, 1) {
		if step.RetryAfter != "" {
			w.Header().Set("Retry-After", step.RetryAfter)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(step.Status)
		_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"scripted","code":%d,"status":"SCRIPTED","message":"scripted status %d"}}`, step.Status, step.Status)
		return
	}
	var out [][]byte
	contentType := "application/json"
	if q.seen.Stream {
		contentType = "text/event-stream"
		out = a.stream(form)
	} else {
		out = [][]byte{a.plain(form)}
	}
	w.Header().Set("Content-Type", contentType)
	if step.Cut > 0 && (step.Times == 0 || times <= step.Times) {
		cut(w, bytes.Join(out, nil), step.Cut)
		return
	}
	for i, piece := range out {
		if _, err := w.Write(piece); err != nil {
			return
		}
		if step.Flood > 0 && i == a.firstText(form) {
			for sent := 0; sent < step.Flood; sent += len(piece) {
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
		}
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		if !sleep(r, step.Drip) {
			return
		}
	}
}

// cut sends the first bytes of a body and breaks the connection.
func cut(w http.ResponseWriter, body []byte, n int) {
	_, _ = w.Write(body[:min(n, len(body))])
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	panic(http.ErrAbortHandler)
}

func sleep(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	select {
	case <-r.Context().Done():
		return false
	case <-time.After(d):
		return true
	}
}

// query is what matters of a request.
type query struct {
	seen   Request
	tools  []tool
	schema string // name of the structured answer that is asked for
	forced string // tool that has to be called
	json   bool
	nth    int // how often this structured answer was asked for
}

func parse(form wire.Form, r *http.Request, body []byte) query {
	q := query{seen: Request{Form: form, Body: string(body)}}
	key := r.Header.Get("Authorization")
	for _, h := range []string{"X-Api-Key", "X-Goog-Api-Key"} {
		if v := r.Header.Get(h); v != "" {
			key = v
		}
	}
	q.seen.Key = strings.TrimPrefix(key, "Bearer ")
	switch form {
	case wire.Chat:
		q.chat(body)
	case wire.Responses:
		q.responses(body)
	case wire.Messages:
		q.messages(body)
	case wire.Gemini:
		q.gemini(body)
		q.seen.Stream = strings.Contains(r.URL.Path, "stream")
		_, model, _ := strings.Cut(r.URL.Path, "models/")
		q.seen.Model, _, _ = strings.Cut(model, ":")
	}
	var whole any
	_ = json.Unmarshal(body, &whole) // a request that is no JSON carries no results
	results(whole, &q.seen.Results)
	return q
}

// results finds the ids of the calls that a request answers, in any wire form.
func results(v any, out *[]string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			results(e, out)
		}
	case map[string]any:
		id := v["tool_call_id"]
		if id == nil {
			id = v["tool_use_id"]
		}
		if kind, _ := v["type"].(string); strings.HasSuffix(kind, "_call_output") {
			id = v["call_id"]
		}
		if r, ok := v["functionResponse"].(map[string]any); ok {
			id = r["id"]
		}
		if s, ok := id.(string); ok {
			*out = append(*out, s)
			return
		}
		for _, field := range []string{"messages", "input", "contents", "content", "parts"} {
			results(v[field], out)
		}
	}
}

// answerTo chooses what a step says to a request.
func answerTo(script Script, step Step, q query, at [2]int) answer {
	a := answer{model: q.seen.Model, text: step.Text, thought: step.Thought, finish: step.Finish, in: step.In,
		out: step.Out, id: strconv.Itoa(at[0]) + "-" + strconv.Itoa(at[1])}
	if a.in == 0 {
		a.in = 100
	}
	if a.out == 0 {
		a.out = 10
	}
	if step.Repeat > 1 {
		a.text = strings.Repeat(a.text, step.Repeat)
	}
	if q.json {
		raw, ok := script.JSON[q.schema+"#"+strconv.Itoa(min(q.nth, 2))]
		if !ok {
			raw, ok = script.JSON[q.schema]
		}
		if !ok {
			raw = script.JSON[""]
		}
		if raw == nil {
			raw = sensible(q.schema, q.seen.Body)
		}
		a.text = string(raw)
		switch {
		case q.forced == "":
		case q.given():
			a.text = "That is my answer."
		default:
			a.text, a.calls = "", []asked{{Name: q.forced, Args: string(raw)}}
			a.ids = []string{Structured + strconv.Itoa(q.nth)}
		}
		return a
	}
	if len(q.tools) == 0 {
		if a.text == "" {
			a.text = "A title"
		}
		return a
	}
	for n, c := range step.Calls {
		a.calls = append(a.calls, c.in(q.tools, roots().FindString(q.seen.Body)))
		a.ids = append(a.ids, callID(at[0], at[1], n))
	}
	return a
}
