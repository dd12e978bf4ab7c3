package api

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/control"
	"pawl/kernel/issues"
	"pawl/kernel/steps"
	"pawl/text/message"
)

// fuzzed is how many requests of chance are made, beside those at the borders of what the document describes.
var fuzzed = flag.Int("fuzzed", 1000, "how many requests of chance TestFuzz makes")

// fuzzer makes requests, and judges the answers by the document.
type fuzzer struct {
	*lab
	doc     *openapi3.T
	rand    *rand.Rand
	answers map[int]int
	done    map[string]bool // the operations that were carried out
	told    int             // how many events streams have begun with
	task    string          // the task that is under way
	made    int             // how many requests were made
	begun   int             // how many labs
}

func newFuzzer(t *testing.T) *fuzzer {
	t.Helper()
	f := &fuzzer{lab: &lab{T: t}, answers: map[int]int{}, done: map[string]bool{}}
	f.begin()
	raw, err := f.server.api.OpenAPI().Downgrade() // the library reads 3.0 in whole
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	f.doc, f.rand = doc, rand.New(rand.NewPCG(seed, 1))
	return f
}

// begin makes a lab in which two issues wait.
func (f *fuzzer) begin() {
	f.Helper()
	f.begun++
	f.lab = newLab(f.T)
	f.plans(issues.NewIssue{Title: "one", Tags: []string{"a"}, Given: []byte(lowText)},
		issues.NewIssue{Title: "two", Given: []byte(lowText)})
	f.do("user:ada", &issues.AddIssues{Issues: []issues.NewIssue{{Title: "three"}}})
}

// operation is one that the document describes.
type operation struct {
	path, method string
	*openapi3.Operation
}

// operations are all of them. Registering issues comes last: the more there are, the longer everything takes.
func (f *fuzzer) operations() (out []operation) {
	for _, path := range slices.Sorted(maps.Keys(f.doc.Paths.Map())) {
		item := f.doc.Paths.Value(path).Operations()
		for _, method := range slices.Sorted(maps.Keys(item)) {
			out = append(out, operation{path, method, item[method]})
		}
	}
	slices.SortStableFunc(out, func(a, b operation) int {
		last := func(o operation) int { return len(o.OperationID) - len(strings.TrimPrefix(o.OperationID, "addIssues")) }
		return last(a) - last(b)
	})
	return out
}

// request is a request for an operation.
type request struct {
	operation
	names   map[string]string // what stands for the names in the path
	query   url.Values
	headers http.Header
	token   string
	body    []byte
	// odd says that the document does not tell whether the request is as it should be: it is no JSON, or has more than
	// is described.
	odd bool
}

// often is how many requests are made between two looks whether everything is as they need it.
const often = 20

// fitting is a request as the document wants it, by somebody who may make it.
func (f *fuzzer) fitting(op operation) *request {
	if f.made++; op.method == http.MethodPost && f.made%often == 0 {
		f.ready(op)
	}
	r := &request{operation: op, names: map[string]string{}, query: url.Values{}, headers: http.Header{}, token: approves}
	for _, p := range op.Parameters {
		switch at := p.Value; {
		case op.OperationID == "cancelTask" && at.In == "path":
			r.set(at, f.task)
		case op.OperationID == "retryIssue" && at.In == "path":
			r.set(at, "ISS-3")
		case at.In == "path":
			r.set(at, pick(f, []string{"ISS-1", "RUN-1", "T-001", "1"}))
		case at.Name == "from" || at.Name == "limit":
			r.set(at, "1")
		}
	}
	if op.RequestBody != nil {
		r.body = f.encode(f.fit(bodyOf(op), op.OperationID))
		r.headers.Set("Content-Type", "application/json")
	}
	return r
}

// bodyOf is what an operation wants as a body.
func bodyOf(op operation) *openapi3.Schema {
	return op.RequestBody.Value.Content.Get("application/json").Schema.Value
}

// set has a parameter sent. One that is sent empty counts as left out, which the document has no word for.
func (r *request) set(p *openapi3.Parameter, v string) {
	r.odd = r.odd || v == "" || p.In == "path" && strings.Trim(v, ".") == ""
	switch p.In {
	case "path":
		r.names[p.Name] = v
	case "query":
		r.query.Set(p.Name, v)
	default:
		kept := strings.Map(func(c rune) rune {
			if c < ' ' || c == 0x7f {
				return -1 // no client can send it
			}
			return c
		}, v)
		r.odd = r.odd || strings.TrimSpace(kept) != kept || kept == ""
		r.headers.Set(p.Name, kept)
	}
}

func (f *fuzzer) encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		f.Fatal(err)
	}
	return raw
}

// send makes a request and judges its answer, which it returns.
func (f *fuzzer) send(r *request) (int, []byte) {
	f.Helper()
	at := r.path
	for name, v := range r.names {
		at = strings.ReplaceAll(at, "{"+name+"}", url.PathEscape(v))
	}
	if len(r.query) > 0 {
		at += "?" + r.query.Encode()
	}
	patience := 20 * time.Second
	if r.path == "/events" {
		patience = 5 * time.Millisecond // it ends with its client
	}
	ctx, cancel := context.WithTimeout(f.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, r.method, "http://localhost"+Root+at, bytes.NewReader(r.body))
	if err != nil {
		return 0, nil // no client can make it
	}
	req.Header = r.headers.Clone()
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	w := httptest.NewRecorder()
	f.server.ServeHTTP(w, req)
	answer, err := io.ReadAll(w.Body)
	if err != nil {
		f.Fatal(err)
	}
	what := fmt.Sprintf("%s %s %v %.300q", r.method, at, r.headers, r.body)
	f.answers[w.Code]++
	f.judge(what, r, req, w, answer)
	return w.Code, answer
}

// judge looks whether an answer is one that the document declares, and whether it takes and refuses what the document
// does.
func (f *fuzzer) judge(what string, r *request, req *http.Request, w *httptest.ResponseRecorder, answer []byte) {
	f.Helper()
	if w.Code >= 500 {
		f.Errorf("%s: %d %s", what, w.Code, answer)
	}
	if f.elsewhere(what, r, w) {
		return
	}
	if r.Responses.Status(w.Code) == nil {
		f.Errorf("%s: %d is not declared", what, w.Code)
		return
	}
	in := &openapi3filter.RequestValidationInput{Request: req, PathParams: r.names,
		Route: &routers.Route{Spec: f.doc, Path: r.path, PathItem: f.doc.Paths.Value(r.path), Method: r.method,
			Operation: r.Operation},
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}}
	if w.Code == http.StatusOK && strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		f.begins(what, r, answer)
	} else {
		out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: w.Code, Header: w.Header(),
			Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true}}
		out.SetBodyBytes(answer)
		if err := openapi3filter.ValidateResponse(f.Context(), out); err != nil {
			f.Errorf("%s: %d is answered with something else than is declared: %.600v\n%s", what, w.Code, err, answer)
		}
	}
	if w.Code < 300 {
		f.done[r.OperationID] = true
	}
	if r.odd || w.Code == http.StatusUnauthorized || w.Code == http.StatusForbidden {
		return
	}
	body := r.body
	var v any
	if r.RequestBody != nil && json.Unmarshal(body, &v) == nil {
		body = f.encode(withoutNull(bodyOf(r.operation), v))
	}
	req.Body, req.GetBody = io.NopCloser(bytes.NewReader(body)), nil
	forbidden := openapi3filter.ValidateRequest(f.Context(), in)
	if forbidden != nil && w.Code < 300 {
		f.Errorf("%s: is carried out against the document: %.600v", what, forbidden)
	}
	if forbidden == nil && unread(w.Code, answer) {
		f.Errorf("%s: is as the document wants it, and is refused with %d: %s", what, w.Code, answer)
	}
}

// withoutNull is a body without the parts that are null and need not be there: these count as left out, which a schema
// has no word for.
func withoutNull(s *openapi3.Schema, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, part := range v {
			at := s.Properties[name]
			if at != nil && part == nil && !slices.Contains(s.Required, name) {
				delete(v, name)
			} else if at != nil {
				withoutNull(at.Value, part)
			}
		}
	case []any:
		for _, part := range v {
			if s.Items != nil {
				withoutNull(s.Items.Value, part)
			}
		}
	}
	return v
}

// unread reports whether a request was refused for its form, before anybody looked what it says.
func unread(status int, answer []byte) bool {
	var p Problem
	return json.Unmarshal(answer, &p) == nil && p.Detail == message.English.Text("api.request", http.StatusText(status))
}

// elsewhere reports whether a name led to another path than was meant: one that is empty or consists of dots.
func (f *fuzzer) elsewhere(what string, r *request, w *httptest.ResponseRecorder) bool {
	f.Helper()
	for _, v := range r.names {
		if strings.Trim(v, ".") == "" {
			if to := w.Header().Get("Location"); w.Code/100 == 3 && !strings.HasPrefix(to, Root+"/") {
				f.Errorf("%s: leads to %q", what, to)
			}
			return true
		}
	}
	return false
}

// begins looks at the beginning of a stream: each event is one that is declared.
func (f *fuzzer) begins(what string, r *request, answer []byte) {
	f.Helper()
	declared := r.Responses.Status(http.StatusOK).Value.Content.Get("text/event-stream").Schema.Value
	if !bytes.HasPrefix(answer, []byte("retry: ")) || !bytes.HasSuffix(answer, []byte("\n\n")) {
		f.Errorf("%s: the stream is %.200q", what, answer)
	}
	stream(bytes.NewReader(answer), func(e event) bool {
		f.told++
		got := map[string]any{"event": e.name}
		var data, id any
		err := json.Unmarshal([]byte(e.data), &data)
		if got["data"] = data; err == nil && e.id != "" {
			err = json.Unmarshal([]byte(e.id), &id)
			got["id"] = id
		}
		if err == nil {
			err = declared.VisitJSON(got, openapi3.VisitAsResponse())
		}
		if err != nil {
			f.Errorf("%s: the event %+v is not declared: %.600v", what, e, err)
		}
		return true
	})
}

// ready has everything be as an operation needs it: a plan waits for approval, or nothing is under way, or an agent
// asks. Where that cannot be had from what the requests have left, it begins anew.
func (f *fuzzer) ready(op operation) {
	f.Helper()
	if !f.settled(op) || op.OperationID == "batch" && f.open("ISS-1") == none64 {
		f.begin()
		f.settled(op)
	}
	switch op.OperationID {
	case "answer":
		f.do("agent:bo", &steps.Ask{Question: "which one?"})
	case "pause", "rollback":
		f.do("user:ada", &approval.Approve{Hash: f.open(kernel.SessionLabel)})
	}
	if s, err := f.k.Snapshot(f.Context()); err == nil && s.Task != nil {
		f.task = s.Task.Label
	}
}

// settled has a plan wait, or nothing be under way for an operation that begins something, and reports whether that is
// so.
func (f *fuzzer) settled(op operation) bool {
	f.Helper()
	s, err := f.k.Snapshot(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	waits := s.Approval != nil && s.Approval.State == kernel.ApprovalPending && !s.Session.Paused()
	if free := s.Session.Run == "" && !s.Session.Paused(); op.OperationID == "run" || free {
		if waits {
			f.do("user:ada", &control.CancelRun{})
		} else if !free {
			return false
		}
		if op.OperationID != "run" {
			f.propose()
		}
		return true
	}
	return waits
}

// beyond are the operations that nothing in the lab is there for: work that was done, and what came of it.
var beyond = []string{"accept", "choose", "fix", "getQuestion", "redo", "skip", "stop", "undo"}

// TestFuzz makes requests at the borders of what the document describes and beyond them, for each operation, parameter
// and part of a body, and then requests of chance. Whatever comes, the server stands, answers with what the document
// declares, takes what the document allows and refuses what it forbids.
func TestFuzz(t *testing.T) {
	f := newFuzzer(t)
	for _, op := range f.operations() {
		f.ready(op)
		f.callers(op)
		f.borders(op)
		f.forms(op)
		if t.Failed() {
			return // what is wrong with one operation is enough to look at
		}
	}
	ops := f.operations()
	for range *fuzzed {
		f.send(f.chance(pick(f, ops)))
	}
	for _, want := range []int{200, 400, 401, 403, 404, 409, 410, 412, 413, 415, 422, 423} {
		if f.answers[want] == 0 {
			t.Errorf("no request was answered with %d: %v", want, f.answers)
		}
	}
	for _, op := range ops {
		if !f.done[op.OperationID] && !slices.Contains(beyond, op.OperationID) {
			t.Errorf("%s was never carried out", op.OperationID)
		}
	}
	if f.told == 0 {
		t.Error("no stream began with an event")
	}
	t.Logf("%d requests in %d labs: %v, %d events", f.made, f.begun, f.answers, f.told)
}

// callers has an operation asked for by everybody. Who may not do it is refused whatever the request says.
func (f *fuzzer) callers(op operation) {
	f.Helper()
	for token, want := range map[string]int{"": 401, "x": 401, reads: 403, acts: 0, approves: 0} {
		r := f.fitting(op)
		r.token = token
		if op.method == http.MethodGet && token == reads {
			want = 0
		}
		if got, answer := f.send(r); want != 0 && got != want {
			f.Errorf("%s %s with the token %q: %d %s", op.method, op.path, token, got, answer)
		}
	}
}

// borders sends each value at the border of each parameter and of each part of the body, and beyond it.
func (f *fuzzer) borders(op operation) {
	f.Helper()
	for _, p := range op.Parameters {
		for _, v := range f.around(p.Value.Schema.Value, p.Value.Name) {
			r := f.fitting(op)
			r.set(p.Value, asText(v))
			f.send(r)
		}
		for _, v := range words {
			r := f.fitting(op)
			r.set(p.Value, v)
			f.send(r)
		}
	}
	if op.RequestBody == nil {
		return
	}
	for _, v := range f.around(bodyOf(op), op.OperationID) {
		r := f.fitting(op)
		r.body = f.encode(v)
		r.odd = pointed.Match(r.body)
		f.send(r)
	}
	for _, v := range slices.Concat(words, broken) {
		r := f.fitting(op)
		r.body, r.odd = []byte(v), true
		f.send(r)
	}
}

// pointed are integers with a point or an exponent, which JSON Schema takes for such and Go does not.
var pointed = regexp.MustCompile(`:1(\.0|e0|e400)`)

// forms sends a request in other forms: other types of content, other wishes for the answer, other methods, more than
// is described.
func (f *fuzzer) forms(op operation) {
	f.Helper()
	if op.RequestBody != nil {
		for kind, want := range map[string]int{"application/json; charset=utf-8": 0, "": 0, "text/plain": 415,
			"application/x-www-form-urlencoded": 415, "multipart/form-data; boundary=x": 415, "x": 415, "/": 415, ";": 0} {
			r := f.fitting(op)
			r.odd = true
			if r.headers.Set("Content-Type", kind); kind == "" {
				r.headers.Del("Content-Type")
			}
			if got, answer := f.send(r); want != 0 && got != want {
				f.Errorf("%s %s as %q: %d %s", op.method, op.path, kind, got, answer)
			}
		}
		r := f.fitting(op)
		r.body, r.odd = slices.Concat(r.body, bytes.Repeat([]byte(" "), 1<<20)), true
		if got, answer := f.send(r); got != http.StatusRequestEntityTooLarge {
			f.Errorf("%s %s with a body that is too large: %d %s", op.method, op.path, got, answer)
		}
	}
	for _, accept := range []string{"*/*", "text/html", "application/xml", "application/json;q=0", "application/*", ",", "x"} {
		r := f.fitting(op)
		r.headers.Set("Accept", accept)
		r.headers.Set("Accept-Language", pick(f, []string{"zh-CN", "de,en;q=0.1", "*", "x", ";q=2", ""}))
		f.send(r)
	}
	more := f.fitting(op)
	more.query.Set("unheard", "of")
	more.odd = true
	if got, answer := f.send(more); got != http.StatusUnprocessableEntity {
		f.Errorf("%s %s with a parameter that there is not: %d %s", op.method, op.path, got, answer)
	}
	declared := f.doc.Paths.Value(op.path).Operations()
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "X"} {
		if declared[method] != nil {
			continue
		}
		path := strings.ReplaceAll(strings.ReplaceAll(op.path, "{", ""), "}", "")
		status, h, raw := f.ask(method, path, approves, "")
		var p Problem
		if err := json.Unmarshal(raw, &p); status != http.StatusMethodNotAllowed || err != nil || h.Get("Allow") == "" ||
			p.Status != status || h.Get("Content-Type") != "application/problem+json" {
			f.Errorf("%s %s: %d %v %s", method, path, status, h, raw)
		}
	}
}

// chance is a request of chance.
func (f *fuzzer) chance(op operation) *request {
	r := f.fitting(op)
	r.token = pick(f, []string{reads, acts, acts, approves, approves, "", "x"})
	for _, p := range op.Parameters {
		if p.Value.In == "path" || f.rand.IntN(2) == 0 {
			r.set(p.Value, pick(f, slices.Concat(words, f.texts(p.Value))))
		}
	}
	if f.rand.IntN(20) == 0 {
		r.query.Add(pick(f, words), pick(f, words))
		r.odd = true
	}
	if op.RequestBody == nil {
		return r
	}
	r.body = f.encode(f.value(bodyOf(op), op.OperationID, 0))
	switch f.rand.IntN(15) {
	case 0:
		r.body, r.odd = []byte(pick(f, slices.Concat(words, broken))), true
	case 1:
		r.body[f.rand.IntN(len(r.body))] = byte(f.rand.IntN(256))
		r.odd = true
	case 2:
		r.headers.Set("Content-Type", pick(f, []string{"text/plain", "x", "application/merge-patch+json"}))
		r.odd = true
	}
	return r
}
