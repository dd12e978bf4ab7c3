// Package forgetest is a forge for tests: a part of GitHub with a memory, which holds each request to the contract that
// GitHub publishes, as far as that was installed, and each answer that it gives itself, too.
package forgetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"pawl/internal/need"
)

// Repository is the one that the hub has.
const Repository = "acme/app"

// parts are the paths of the contract that are asked for.
var parts = []string{"/repos/{owner}/{repo}/pulls", "/repos/{owner}/{repo}/pulls/{pull_number}",
	"/repos/{owner}/{repo}/pulls/{pull_number}/comments", "/repos/{owner}/{repo}/pulls/{pull_number}/reviews",
	"/repos/{owner}/{repo}/issues/{issue_number}/comments", "/repos/{owner}/{repo}/issues/comments/{comment_id}",
	"/repos/{owner}/{repo}/statuses/{sha}", "/repos/{owner}/{repo}/commits/{ref}/statuses",
	"/repos/{owner}/{repo}/check-runs", "/repos/{owner}/{repo}/commits/{ref}/check-runs"}

var (
	once     sync.Once
	document *openapi3.T
	flaw     error
)

// contract reads the part of GitHub's description that is asked for.
func contract(path string) (*openapi3.T, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var whole map[string]json.RawMessage
	var paths map[string]json.RawMessage
	if err := json.Unmarshal(raw, &whole); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(whole["paths"], &paths); err != nil {
		return nil, err
	}
	kept := map[string]json.RawMessage{}
	for _, p := range parts {
		if kept[p] = paths[p]; kept[p] == nil {
			return nil, fmt.Errorf("the contract has no %s", p)
		}
	}
	whole["paths"], _ = json.Marshal(kept) // it was read from JSON
	delete(whole, "x-webhooks")
	raw, _ = json.Marshal(whole)
	return openapi3.NewLoader().LoadFromData(raw)
}

// Hub is a forge with one repository. Its fields may be looked at while no request is under way.
type Hub struct {
	*httptest.Server
	t      testing.TB
	token  string
	router routers.Router

	mu       sync.Mutex
	next     int
	Pulls    []map[string]any
	Comments []map[string]any
	Lines    []map[string]any
	Reviews  []map[string]any
	Statuses []map[string]any
	Checks   []map[string]any
	// Requests counts those that were answered; Writes are the methods and paths of those that changed something.
	Requests int
	Writes   []string
	// Before may answer a request in the hub's place; it reports whether it did. After hears of each that was carried
	// out before its answer goes out, and may panic with http.ErrAbortHandler to cut that off.
	Before func(w http.ResponseWriter, r *http.Request) bool
	After  func(r *http.Request)
}

// New starts a hub that takes one token.
func New(t testing.TB, token string) *Hub {
	t.Helper()
	h := &Hub{t: t, token: token, next: 100}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	path := need.Contract(t)
	if path == "" {
		t.Log("without GitHub's contract, to which requests are held otherwise")
		return h
	}
	if once.Do(func() { document, flaw = contract(path) }); flaw != nil {
		t.Fatal(flaw)
	}
	own := *document
	own.Servers = openapi3.Servers{{URL: h.URL}}
	var err error
	if h.router, err = gorillamux.NewRouter(&own); err != nil {
		t.Fatal(err)
	}
	return h
}

// Do changes what the hub has, while no request is answered.
func (h *Hub) Do(change func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
}

func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Requests++
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if err := h.keeps(r); err != nil {
		h.t.Errorf("%s %s is not what GitHub's contract says: %v\n%s", r.Method, r.URL, err, body)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if h.Before != nil && h.Before(w, r) {
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+h.token {
		Say(w, http.StatusUnauthorized, "Bad credentials")
		return
	}
	in := map[string]any{}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &in); err != nil {
			Say(w, http.StatusBadRequest, "Problems parsing JSON")
			return
		}
	}
	status, answer := h.answer(r, in)
	if r.Method != http.MethodGet && status < 300 {
		h.Writes = append(h.Writes, r.Method+" "+r.URL.Path)
	}
	if h.After != nil {
		h.After(r)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // who is gone does not want it
}

// keeps holds a request to the contract.
func (h *Hub) keeps(r *http.Request) error {
	if h.router == nil {
		return nil
	}
	route, params, err := h.router.FindRoute(r)
	if err != nil {
		return err
	}
	return openapi3filter.ValidateRequest(r.Context(), &openapi3filter.RequestValidationInput{Request: r,
		PathParams: params, Route: route, Options: &openapi3filter.Options{
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}})
}

// Say answers with an error as GitHub writes one.
func Say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"message":%q,"documentation_url":"https://docs.github.com/rest","status":"%d"}`, text, status)
}

type object = map[string]any

func failure(status int, text string) (int, any) { return status, object{"message": text} }

func (h *Hub) answer(r *http.Request, in object) (int, any) {
	rest, ok := strings.CutPrefix(r.URL.Path, "/repos/"+Repository+"/")
	if !ok {
		return failure(http.StatusNotFound, "Not Found")
	}
	part := strings.Split(rest, "/")
	switch {
	case rest == "pulls" && r.Method == http.MethodPost:
		return h.open(in)
	case rest == "pulls":
		var out []object
		for i := len(h.Pulls) - 1; i >= 0; i-- {
			head := h.Pulls[i]["head"].(object)["ref"].(string)
			if want := r.URL.Query().Get("head"); want == "" || want == "acme:"+head {
				out = append(out, h.Pulls[i])
			}
		}
		return http.StatusOK, page(out)
	case part[0] == "pulls" && len(part) == 2:
		p := h.pull(part[1])
		if p == nil {
			return failure(http.StatusNotFound, "Not Found")
		}
		for k, v := range in {
			p[k] = v
		}
		return http.StatusOK, p
	case part[0] == "pulls" && part[2] == "comments":
		return http.StatusOK, page(h.Lines)
	case part[0] == "pulls":
		return http.StatusOK, page(h.Reviews)
	}
	return h.said(r.Method, part, in)
}

func (h *Hub) said(method string, part []string, in object) (int, any) {
	switch {
	case part[0] == "issues" && part[1] == "comments":
		for _, c := range h.Comments {
			if fmt.Sprint(c["id"]) == part[2] {
				c["body"] = in["body"]
				return http.StatusOK, c
			}
		}
		return failure(http.StatusNotFound, "Not Found")
	case part[0] == "issues" && method == http.MethodPost:
		if h.pull(part[1]) == nil {
			return failure(http.StatusNotFound, "Not Found")
		}
		return http.StatusCreated, h.add(&h.Comments, object{"body": in["body"], "issue": part[1],
			"user": object{"login": "pawl-bot"}})
	case part[0] == "issues":
		return http.StatusOK, of(h.Comments, "issue", part[1])
	case part[0] == "statuses":
		in["sha"] = part[1]
		return http.StatusCreated, h.add(&h.Statuses, in)
	case part[0] == "check-runs":
		return http.StatusCreated, h.add(&h.Checks, in)
	case part[0] == "commits" && part[2] == "statuses":
		out := of(h.Statuses, "sha", part[1])
		slices.Reverse(out) // the newest comes first
		return http.StatusOK, out
	case part[0] == "commits":
		out := of(h.Checks, "head_sha", part[1])
		return http.StatusOK, object{"total_count": len(out), "check_runs": out}
	}
	return failure(http.StatusNotFound, "Not Found")
}

// of are those of a list that belong to something, or do not say what they belong to.
func of(list []object, name, value string) []object {
	return slices.DeleteFunc(page(list), func(o object) bool {
		at, ok := o[name]
		return ok && at != value
	})
}

func page(list []object) []object { return append([]object{}, list...) }

func (h *Hub) pull(number string) object {
	for _, p := range h.Pulls {
		if fmt.Sprint(p["number"]) == number {
			return p
		}
	}
	return nil
}

func (h *Hub) add(to *[]map[string]any, one object) object {
	h.next++
	one["id"] = h.next
	one["created_at"] = fmt.Sprintf("2026-01-30T10:%02d:00Z", h.next%60)
	*to = append(*to, one)
	return one
}

// open makes a pull request, as GitHub does: one for a branch at most.
func (h *Hub) open(in object) (int, any) {
	head, _ := in["head"].(string)
	for _, p := range h.Pulls {
		if p["head"].(object)["ref"] == head && p["state"] == "open" {
			return failure(http.StatusUnprocessableEntity, "A pull request already exists for acme:"+head+".")
		}
	}
	n := len(h.Pulls) + 1
	return http.StatusCreated, h.add(&h.Pulls, object{"number": n, "state": "open", "title": in["title"],
		"body": in["body"], "head": object{"ref": head}, "base": object{"ref": in["base"]}, "merged_at": nil,
		"html_url": "https://github.com/" + Repository + "/pull/" + strconv.Itoa(n)})
}
