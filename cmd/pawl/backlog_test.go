package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pawl/machine/board"
)

// issueServer answers like GitHub's API with a list of issues that does not change, and remembers what it was asked.
type issueServer struct {
	*httptest.Server
	mu            sync.Mutex
	issues        []any
	unconditional int
	comments      []string
	labels        []string
}

func newIssueServer(t *testing.T, n int) *issueServer {
	s := &issueServer{}
	for k := 1; k <= n; k++ {
		s.issues = append(s.issues, map[string]any{
			"id": 7_000_000 + k, "node_id": "I_" + strconv.Itoa(k), "number": k, "title": fmt.Sprintf("Issue %d 议题",
				k), "body": "It does not work.", "state": "open",
			"labels": []any{map[string]any{"name": []string{"bug", "P1", "docs"}[k%3]}},
			"user":   map[string]any{"login": "ada"}, "comments": 0,
			"html_url": fmt.Sprintf("https://github.com/acme/app/issues/%d", k), "updated_at": "2026-01-30T10:00:00Z",
		})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *issueServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodPost {
		w.WriteHeader(http.StatusCreated)
		if strings.HasSuffix(r.URL.Path, "/labels") {
			var in []string
			_ = json.NewDecoder(r.Body).Decode(&in)
			s.labels = append(s.labels, in...)
			fmt.Fprint(w, "[]")
			return
		}
		var in struct{ Body string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		s.comments = append(s.comments, in.Body)
		fmt.Fprint(w, "{}")
		return
	}
	list := s.issues
	if strings.HasSuffix(r.URL.Path, "/comments") {
		list = nil
		for _, c := range s.comments {
			list = append(list, map[string]any{"body": c})
		}
	}
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	size, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
	page, size = max(page, 1), max(size, 30)
	from, to := min((page-1)*size, len(list)), min(page*size, len(list))
	if to < len(list) {
		next := *r.URL
		q := next.Query()
		q.Set("page", strconv.Itoa(page+1))
		next.RawQuery = q.Encode()
		w.Header().Set("Link", fmt.Sprintf(`<%s%s>; rel="next"`, s.URL, next.RequestURI()))
	}
	tag := fmt.Sprintf(`"%s-%d-%d"`, strings.ReplaceAll(r.URL.Path, "/", "."), from, to)
	w.Header().Set("ETag", tag)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	switch r.Header.Get("If-None-Match") {
	case tag:
		w.WriteHeader(http.StatusNotModified)
		return
	case "":
		s.unconditional++
	}
	_ = json.NewEncoder(w).Encode(append([]any{}, list[from:to]...))
}

// imported is what `pawl issue import --json` says.
type imported struct {
	Issues, Added, Changed, Same, Pages, Requests int
	Unchanged                                     int `json:"unchanged_pages"`
	Unconditional                                 int `json:"unconditional_requests"`
	Back                                          int `json:"written_back"`
}

// TestImportFromGitHubTwice imports a list of a thousand issues twice (Show 4).
func TestImportFromGitHubTwice(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	s := newIssueServer(t, 1000)
	u.must(0, "config", "set", "github.base_url", s.URL)
	first := decode[imported](u, "issue", "import", "github:acme/app")
	if first.Added != 1000 || s.unconditional != first.Requests {
		t.Errorf("first %+v, %d unconditional", first, s.unconditional)
	}
	before := s.unconditional
	second := decode[imported](u, "issue", "import", "github:acme/app", "--update", "--state-back", "comment")
	if second.Added+second.Changed != 0 || second.Same != 1000 || second.Unchanged != second.Pages ||
		second.Unconditional != 0 || s.unconditional != before {
		t.Errorf("second %+v, %d more unconditional", second, s.unconditional-before)
	}
	list := u.issues()
	seen := map[string]bool{}
	for _, i := range list {
		seen[i.Title] = true
	}
	if len(list) != 1000 || len(seen) != 1000 {
		t.Errorf("%d issues, %d titles", len(list), len(seen))
	}
	if _, err := board.ParseState([]byte(u.read(".pawl/state.json"))); err != nil {
		t.Error(err)
	}
	if got := u.must(0, "issue", "show", "github:acme/app#17").out; !strings.Contains(got, "Issue 17") {
		t.Errorf("by its external id:\n%s", got)
	}
	if len(s.comments)+len(s.labels) > 0 {
		t.Errorf("written back: %v %v", s.comments, s.labels)
	}
	u.must(0, "issue", "edit", "github:acme/app#3", "--plan", u.planFile("p", partPlan(3, "", "", false)))
	u.must(0, "issue", "execute", "github:acme/app#3", "--yes")
	u.must(10, "issue", "import", "github:acme/app", "--state-back", "comment") // without a token
	u.must(0, "config", "set", "github.token_env", "USER")
	for range 2 {
		u.must(0, "issue", "import", "github:acme/app", "--state-back", "comment")
	}
	u.must(0, "issue", "import", "github:acme/app", "--state-back", "label")
	if len(s.comments) != 1 || len(s.labels) != 1 || s.labels[0] != "pawl:completed" {
		t.Errorf("written back: %v %v", s.comments, s.labels)
	}
}

// TestImportedState takes over a state.json, whole and damaged.
func TestImportedState(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	state := `{"status":"running","phase":"planning","work_dir":"/w","issues":{
  "ISS-20250129-001":{"id":"ISS-20250129-001","title":"done before","status":"completed","solution_id":"SOL-ISS-20250129-001-1","planned_at":"","executed_at":"","error":null},
  "ISS-7":{"id":"ISS-7","title":"to be done","status":"planned","solution_id":"SOL-ISS-7-1","planned_at":"","executed_at":"","error":null},
  "GH-12":{"id":"GH-12","title":"failed before","status":"failed","solution_id":"","planned_at":"","executed_at":"","error":"it broke"}},
  "queue":[],"completed_actions":["init"],"context":{"total_issues":3,"completed_count":1,"failed_count":1},"errors":[],"created_at":"","updated_at":""}`
	u.write("old/state.json", state)
	if a := u.must(13, "issue", "import", "old/state.json"); !strings.Contains(a.err, "ISS-7") ||
		!strings.Contains(a.err, "--replan") {
		t.Errorf("a plan that is not there: %v", a)
	}
	u.must(0, "issue", "import", "old/state.json", "--replan")
	if got := decode[imported](u, "issue", "import", "old/state.json"); got.Same != 3 {
		t.Errorf("again: %+v", got)
	}
	u.must(0, "issue", "add", "new", "--after", "iss-7,gh-12")
	want := map[string]board.IssueStatus{"ISS-20250129-001": board.IssueCompleted, "ISS-7": board.IssueRegistered,
		"GH-12": board.IssueFailed, "ISS-8": board.IssueRegistered}
	for _, i := range u.issues() {
		if want[i.Label] != i.Status {
			t.Errorf("%s is %s", i.Label, i.Status)
		}
		delete(want, i.Label)
	}
	if len(want) > 0 {
		t.Errorf("missing %v", want)
	}
	u.must(0, "audit", "verify")
	exported := filepath.Join(filepath.Dir(u.dir), "out.json")
	u.must(0, "issue", "export", exported)
	raw, err := os.ReadFile(exported)
	if err == nil {
		_, err = board.ParseState(raw)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestBadBacklogs gives what nobody can import or ask for. Each is refused with its place, and the board stays as it
// was.
func TestBadBacklogs(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	u.must(0, "issue", "add", "the one", "--priority", "1")
	whole := func(issues, queue string) string {
		return `{"status":"running","phase":"planning","work_dir":"/w","issues":` + issues + `,"queue":` + queue + `,"completed_actions":[],"context":{},"errors":[]}`
	}
	for name, c := range map[string]struct {
		text string
		code int
		says string
	}{
		"bogus.json": {strings.Replace(whole("{}", "[]"), `"planning"`, `"dreaming"`, 1), 13, "dreaming"},
		"null.json":  {whole("null", "[]"), 13, "issues"},
		"twice.json": {whole(`{"ISS-1":{"id":"ISS-1","title":"a","status":"planned","solution_id":"SOL-ISS-1-1"}}`,
			`[{"item_id":"S-1","issue_id":"ISS-1","solution_id":"SOL-ISS-1-1","status":"pending"},{"item_id":"S-1","issue_id":"ISS-1","solution_id":"SOL-ISS-1-1","status":"pending"}]`), 13, "S-1"},
		"nobody.json": {whole(`{}`, `[{"item_id":"S-1","issue_id":"ISS-9","solution_id":"SOL-ISS-9-1","status":"pending"}]`), 13, "ISS-9"},
		"types.json":  {whole(`{"ISS-1":{"id":1,"title":"a","status":"planned"}}`, "[]"), 13, "types.json"},
		"cut.json":    {whole("{}", "[]")[:40], 13, "cut.json"},
		"empty.json":  {"", 13, "empty.json"},
		"circle.jsonl": {`{"id":"a","title":"a","depends_on":["b"]}` + "\n" +
			`{"id":"b","title":"b","depends_on":["a"]}` + "\n", 13, "circle.jsonl"},
		"unknown.jsonl":  {`{"id":"a","title":"a","depends_on":["zzz"]}` + "\n", 13, "zzz"},
		"duplicate.json": {`[{"id":"a","title":"a"},{"id":"a","title":"b"}]`, 13, "duplicate.json"},
	} {
		path := filepath.Join(filepath.Dir(u.dir), name)
		format := []string{}
		if strings.Contains(c.text, "phase") {
			format = []string{"--format", "state"}
		}
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		a := u.must(c.code, append([]string{"issue", "import", path}, format...)...)
		if !strings.Contains(a.err, c.says) {
			t.Errorf("%s: %v", name, a)
		}
		if slip := slipIn(a.err); slip != "" {
			t.Errorf("%s: %s", name, slip)
		}
	}
	for args, c := range map[string]struct {
		code int
		says string
	}{
		"issue show ISS-99":                        {3, "ISS-1"},
		"issue add --priority 9 x":                 {13, "9"},
		"issue add x --after ISS-5":                {3, "ISS-5"},
		"issue edit ISS-1":                         {2, "--help"},
		"issue edit ISS-1 --after ISS-1":           {13, "ISS-1 → ISS-1"},
		"issue edit ISS-1 --not-after ISS-1":       {3, "ISS-1"},
		"issue plan":                               {2, "--all"},
		"issue execute ISS-1":                      {4, "ISS-1 has no plan yet"},
		"issue list --status done":                 {2, "registered"},
		"issue bind ISS-1 SOL-ISS-1-1":             {3, "SOL-ISS-1-1"},
		"issue dag --dot --mermaid":                {2, "--mermaid"},
		"issue import nothing.json":                {3, "nothing.json"},
		"issue import github:acme":                 {2, "acme"},
		"issue import nothing.json --format x":     {2, "markdown"},
		"issue import old.json --state-back label": {2, "--state-back"},
		"worker --workers 1000":                    {2, "1000"},
		"status --issue 1":                         {3, "pawl issue plan"},
		"run x --issue 1":                          {2, "--issue"},
		"isue":                                     {2, "issue"},
	} {
		a := u.pawl(strings.Fields(args)...)
		if a.code != c.code || !strings.Contains(a.out+a.err, c.says) {
			t.Errorf("%s: want %d with %q, got %v", args, c.code, c.says, a)
		}
		if slip := slipIn(a.out + a.err); slip != "" {
			t.Errorf("%s: %s", args, slip)
		}
	}
	if list := u.issues(); len(list) != 1 || list[0].Label != "ISS-1" {
		t.Errorf("the board has changed: %+v", list)
	}
}
