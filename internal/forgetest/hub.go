// Package forgetest is a forge for tests: a part of GitHub, GitLab or Gitea with a memory. It holds each request to
// GitHub to the contract that GitHub publishes, as far as that was installed, and what is sent to the others to what
// their documentation names.
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

// Repository is the one that the hub has, and Fork somebody's fork of it.
const (
	Repository = "acme/app"
	Fork       = "ada/app"
)

// Kinds are the forges that a hub can be.
var Kinds = []string{"github", "gitlab", "gitea"}

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

// Hub is a forge with one repository. Its fields may be looked at while no request is under way; what it has is kept in
// GitHub's words, whatever it speaks.
type Hub struct {
	*httptest.Server
	t      testing.TB
	kind   string
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
	// Silent has what is written answered with 204 and nothing else.
	Silent bool
	// Foreign says that the token may say nothing of commits in Repository: it is that of somebody with a fork.
	Foreign bool
}

// New starts a hub of a kind that takes one token.
func New(t testing.TB, kind, token string) *Hub {
	t.Helper()
	h := &Hub{t: t, kind: kind, token: token, next: 100}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	if kind != "github" {
		return h
	}
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
		h.t.Errorf("%s %s is not what the contract of %s says: %v\n%s", r.Method, r.URL, h.kind, err, body)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if h.Before != nil && h.Before(w, r) {
		return
	}
	scheme := "Bearer "
	if h.kind == "gitea" {
		scheme = "token "
	}
	if r.Header.Get("Authorization") != scheme+h.token {
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
	speak := map[string]func(*http.Request, object) (int, any){"github": h.answer, "gitlab": h.lab, "gitea": h.tea}
	status, answer := speak[h.kind](r, in)
	if r.Method != http.MethodGet && status < 300 {
		h.Writes = append(h.Writes, r.Method+" "+r.URL.Path)
	}
	if h.After != nil {
		h.After(r)
	}
	if h.Silent && r.Method != http.MethodGet && status < 300 {
		w.WriteHeader(http.StatusNoContent)
		return
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
	_, said := failure(status, text)
	_ = json.NewEncoder(w).Encode(said) // who is gone does not want it
}

type object = map[string]any

func failure(status int, text string) (int, any) {
	said := object{"message": text, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status)}
	if status == http.StatusUnprocessableEntity {
		said["message"] = "Validation Failed"
		said["errors"] = []object{{"resource": "PullRequest", "code": "custom", "message": text}}
	}
	return status, said
}

// whose takes the path of a request apart: the repository that it is about, and what of it.
func whose(path string) (repository, rest string, ok bool) {
	part := strings.SplitN(strings.TrimPrefix(path, "/repos/"), "/", 3)
	if len(part) < 3 {
		return "", "", false
	}
	repository = part[0] + "/" + part[1]
	return repository, part[2], repository == Repository || repository == Fork
}

func (h *Hub) answer(r *http.Request, in object) (int, any) {
	repository, rest, ok := whose(r.URL.Path)
	part := strings.Split(rest, "/")
	switch {
	case !ok:
		return failure(http.StatusNotFound, "Not Found")
	case part[0] == "statuses" || part[0] == "check-runs" || part[0] == "commits":
		return h.commit(r.Method, repository, part, in)
	case repository != Repository:
		return failure(http.StatusNotFound, "Not Found")
	case rest == "pulls" && r.Method == http.MethodPost:
		return h.propose(in, http.StatusUnprocessableEntity, "A pull request already exists for this branch.")
	case rest == "pulls":
		return http.StatusOK, h.of(r.URL.Query().Get("head"))
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

// propose makes a pull request of OWNER:BRANCH, or refuses a second one.
func (h *Hub) propose(in object, status int, refusal string) (int, any) {
	owner, head, named := strings.Cut(in["head"].(string), ":")
	if !named {
		owner, head = "acme", owner
	}
	if h.there(owner, head, in["base"]) {
		return failure(status, refusal)
	}
	return http.StatusCreated, h.open(owner, head, in)
}

// of are the pull requests of OWNER:BRANCH, or all for "", newest first.
func (h *Hub) of(want string) []object {
	out := []object{}
	for i := len(h.Pulls) - 1; i >= 0; i-- {
		head := h.Pulls[i]["head"].(object)
		if want == "" || want == fmt.Sprint(head["user"].(object)["login"], ":", head["ref"]) {
			out = append(out, h.Pulls[i])
		}
	}
	return out
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
	}
	return failure(http.StatusNotFound, "Not Found")
}

// commit answers what is asked and said of a commit.
func (h *Hub) commit(method, repository string, part []string, in object) (int, any) {
	if h.Foreign && repository == Repository && method == http.MethodPost {
		return failure(http.StatusForbidden, "Resource not accessible by personal access token")
	}
	switch {
	case part[0] == "statuses":
		in["sha"], in["repository"] = part[1], repository
		return http.StatusCreated, h.add(&h.Statuses, in)
	case part[0] == "check-runs":
		in["repository"] = repository
		return http.StatusCreated, h.add(&h.Checks, in)
	case part[2] == "statuses":
		out := of(of(h.Statuses, "sha", part[1]), "repository", repository)
		slices.Reverse(out) // the newest comes first
		return http.StatusOK, out
	}
	out := of(of(h.Checks, "head_sha", part[1]), "repository", repository)
	return http.StatusOK, object{"total_count": len(out), "check_runs": out}
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

// there reports whether a pull request of a branch into a base is open: there is one at most.
func (h *Hub) there(owner, head string, base any) bool {
	return slices.ContainsFunc(h.Pulls, func(p object) bool {
		from := p["head"].(object)
		return p["state"] == "open" && from["ref"] == head && p["base"].(object)["ref"] == base &&
			from["user"].(object)["login"] == owner
	})
}

// open makes a pull request of a branch of somebody's.
func (h *Hub) open(owner, head string, in object) object {
	n := len(h.Pulls) + 1
	return h.add(&h.Pulls, object{"number": n, "state": "open", "title": in["title"], "body": in["body"],
		"head": object{"ref": head, "user": object{"login": owner}, "repo": object{"full_name": owner + "/app"}},
		"base": object{"ref": in["base"]}, "merged_at": nil, "merge_commit_sha": "0123456789abcdef0123456789abcdef01234567",
		"html_url": "https://github.com/" + Repository + "/pull/" + strconv.Itoa(n)})
}
