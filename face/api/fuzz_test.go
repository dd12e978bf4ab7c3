package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"pawl/kernel/issues"
)

// fuzzed is how many requests are made.
const fuzzed = 3000

// words are what stands in requests by chance: names that there are, and what nobody expects.
var words = []string{"ISS-1", "ISS-2", "RUN-1", "1", "T-001", "main", "", "0", "-1", "99999999999999999999", "x", "%00",
	"\x00", "\x1b[1m", "../../etc/passwd", "a/b", "日本語", "é", "\u202e", strings.Repeat("a", 300), "null", "true",
	`"7"`, "[]", "{}", "' OR 1=1 --", "\r\nX: y"}

// TestFuzz makes requests of chance, as the document describes them and as it does not. Whatever comes, the server
// stands, and answers with what the document declares.
func TestFuzz(t *testing.T) {
	l := newLab(t)
	l.do("user:ada", &issues.AddIssues{Issues: []issues.NewIssue{{Title: "one", Tags: []string{"a"}}, {Title: "two"}}})
	l.propose()
	raw, err := l.server.api.OpenAPI().Downgrade() // the library reads 3.0
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
	f := &fuzzer{lab: l, doc: doc, rand: rand.New(rand.NewPCG(seed, 1)), answers: map[int]int{}}
	for range fuzzed {
		f.one()
	}
	if t.Failed() {
		t.Logf("seed %d", seed)
	}
	for _, want := range []int{200, 401, 404, 409, 422} {
		if f.answers[want] == 0 {
			t.Errorf("no request was answered with %d: %v", want, f.answers)
		}
	}
}

type fuzzer struct {
	*lab
	doc     *openapi3.T
	rand    *rand.Rand
	answers map[int]int
}

func pick[T any](f *fuzzer, from []T) T { return from[f.rand.IntN(len(from))] }

// one makes one request and looks at its answer.
func (f *fuzzer) one() {
	paths := slices.Sorted(maps.Keys(f.doc.Paths.Map()))
	path := pick(f, paths)
	item := f.doc.Paths.Value(path)
	method := pick(f, slices.Sorted(maps.Keys(item.Operations())))
	op := item.Operations()[method]
	at, query, headers := path, url.Values{}, http.Header{}
	for _, p := range op.Parameters {
		v := f.text(p.Value.Schema.Value)
		switch {
		case p.Value.In == "path":
			at = strings.ReplaceAll(at, "{"+p.Value.Name+"}", url.PathEscape(v))
		case f.rand.IntN(3) == 0:
		case p.Value.In == "query":
			query.Add(p.Value.Name, v)
		default:
			headers.Set(p.Value.Name, strings.Map(func(r rune) rune {
				if r < ' ' || r > '~' {
					return -1
				}
				return r
			}, v))
		}
	}
	if f.rand.IntN(20) == 0 {
		query.Add(pick(f, words), pick(f, words))
	}
	var body []byte
	if op.RequestBody != nil {
		body = f.body(op.RequestBody.Value.Content.Get("application/json").Schema.Value)
	}
	target := Root + at
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	patience := 20 * time.Second
	if path == "/events" {
		patience = 10 * time.Millisecond // it ends with its client
	}
	ctx, cancel := context.WithTimeout(f.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://localhost"+target, bytes.NewReader(body))
	if err != nil {
		return // no client can make it
	}
	r.Header = headers
	if token := pick(f, []string{reads, acts, acts, approves, approves, "", "x"}); token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body != nil {
		r.Header.Set("Content-Type", pick(f, []string{"application/json", "application/json", "application/json",
			"text/plain", "x"}))
	}
	w := httptest.NewRecorder()
	f.server.ServeHTTP(w, r)
	f.judge(fmt.Sprintf("%s %s %q", method, target, body), method, path, op, r, w)
}

// judge looks whether an answer is one that the document declares.
func (f *fuzzer) judge(what, method, path string, op *openapi3.Operation, r *http.Request,
	w *httptest.ResponseRecorder) {
	f.Helper()
	f.answers[w.Code]++
	answer, err := io.ReadAll(w.Body)
	if err != nil {
		f.Fatal(err)
	}
	if w.Code >= 500 {
		f.Errorf("%s: %d %s", what, w.Code, answer)
	}
	if w.Code == http.StatusTemporaryRedirect || w.Code == http.StatusMovedPermanently {
		return // the path was not in its shortest form
	}
	if op.Responses.Status(w.Code) == nil {
		if w.Code == 404 || w.Code == 405 {
			return // another path than was meant
		}
		f.Errorf("%s: %d is not declared", what, w.Code)
		return
	}
	if strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		return
	}
	in := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r,
			Route: &routers.Route{Spec: f.doc, Path: path, Method: method, Operation: op}},
		Status: w.Code, Header: w.Header(),
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	}
	in.SetBodyBytes(answer)
	if err := openapi3filter.ValidateResponse(f.Context(), in); err != nil {
		f.Errorf("%s: %d is answered with something else than is declared: %.600v\n%s", what, w.Code, err, answer)
	}
}

// text is a value for a parameter.
func (f *fuzzer) text(s *openapi3.Schema) string {
	if f.rand.IntN(3) > 0 {
		switch {
		case s.Type.Is("integer"):
			return fmt.Sprint(f.rand.IntN(60))
		case s.Type.Is("boolean"):
			return pick(f, []string{"true", "false"})
		case s.Type.Is("string") && s.Pattern != "":
			return fmt.Sprint(f.rand.IntN(8))
		}
	}
	return pick(f, words)
}

// body is a body that fits a schema, or one that does not.
func (f *fuzzer) body(s *openapi3.Schema) []byte {
	switch f.rand.IntN(12) {
	case 0:
		odd := []string{"{", `{"a":`, "[1,2", `{"digest":1}`, strings.Repeat("[", 5000)}
		return []byte(pick(f, slices.Concat(words, odd)))
	case 1:
		return nil
	}
	raw, err := json.Marshal(f.value(s, 0))
	if err != nil {
		f.Fatal(err)
	}
	if f.rand.IntN(15) == 0 && len(raw) > 2 {
		raw[f.rand.IntN(len(raw))] = byte(f.rand.IntN(256))
	}
	return raw
}

func (f *fuzzer) value(s *openapi3.Schema, deep int) any {
	if f.rand.IntN(20) == 0 || deep > 5 {
		return pick(f, []any{nil, 1, "x", []any{}, map[string]any{}, 1e300, true})
	}
	switch {
	case s.Type.Is("object"):
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if slices.Contains(s.Required, name) && f.rand.IntN(20) > 0 || f.rand.IntN(2) == 0 {
				out[name] = f.value(s.Properties[name].Value, deep+1)
			}
		}
		if f.rand.IntN(20) == 0 {
			out[pick(f, words)] = 1
		}
		return out
	case s.Type.Is("array"):
		out := []any{}
		for range f.rand.IntN(3) {
			out = append(out, f.value(s.Items.Value, deep+1))
		}
		return out
	case s.Type.Is("integer"):
		return f.rand.IntN(10)
	case s.Type.Is("boolean"):
		return f.rand.IntN(2) == 0
	case len(s.Enum) > 0:
		return pick(f, s.Enum)
	case s.Pattern != "":
		return pick(f, []string{"0123456789abcdef", f.open(), f.open(), "xyz"})
	}
	return pick(f, words)
}

// open is the hash of what waits for an answer.
func (f *fuzzer) open() string {
	s, err := f.k.Snapshot(f.Context())
	if err != nil || s.Approval == nil {
		return "00000000"
	}
	return s.Approval.Hash
}
