package forge_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"pawl/driver/forge"
	"pawl/kernel/effect"
)

// small answers like GitLab's or Gitea's API, as far as it is used, and remembers what it was asked.
type small struct {
	*httptest.Server
	mu       sync.Mutex
	kind     forge.Kind
	asked    []string
	requests []map[string]any
	notes    []map[string]any
	statuses []map[string]any
}

func newSmall(t *testing.T, kind forge.Kind) (*small, forge.Forge) {
	s := &small{kind: kind}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	carry, err := forge.Transport("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(carry.(*http.Transport).CloseIdleConnections)
	at, err := (&forge.Client{Kind: kind, Base: s.URL, HTTP: carry,
		Token: func() (string, error) { return token, nil }}).Of("group/app")
	if err != nil {
		t.Fatal(err)
	}
	return s, at
}

func (s *small) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.Method+" "+r.URL.EscapedPath())
	scheme := map[forge.Kind]string{forge.GitLab: "Bearer ", forge.Gitea: "token "}[s.kind]
	if r.Header.Get("Authorization") != scheme+token {
		say(w, http.StatusUnauthorized, "no")
		return
	}
	in := map[string]any{}
	raw, _ := io.ReadAll(r.Body)
	if len(raw) > 0 && json.Unmarshal(raw, &in) != nil {
		say(w, http.StatusBadRequest, "no JSON")
		return
	}
	path := r.URL.Path
	list := func(all []map[string]any) {
		_ = json.NewEncoder(w).Encode(append([]map[string]any{}, all...))
	}
	switch {
	case strings.HasSuffix(path, "/reviews"):
		list(nil)
	case strings.Contains(path, "/statuses"):
		if r.Method == http.MethodPost {
			in["id"], in["status"] = 5, in["state"]
			s.statuses = append(s.statuses, in)
			_ = json.NewEncoder(w).Encode(in)
			return
		}
		list(s.statuses)
	case strings.Contains(path, "/notes") || strings.Contains(path, "/comments"):
		switch r.Method {
		case http.MethodGet:
			list(s.notes)
			return
		case http.MethodPost:
			in["id"] = 7
			s.notes = append(s.notes, in)
		default:
			s.notes[0]["body"] = in["body"]
			in["id"] = 7
		}
		_ = json.NewEncoder(w).Encode(in)
	case r.Method == http.MethodPost:
		one := map[string]any{"iid": 1, "number": 1, "state": map[forge.Kind]string{forge.GitLab: "opened",
			forge.Gitea: "open"}[s.kind], "title": in["title"], "description": in["description"], "body": in["body"],
			"web_url": "https://x/1", "html_url": "https://x/1", "source_branch": in["source_branch"],
			"target_branch": in["target_branch"], "head": map[string]any{"ref": in["head"]},
			"base": map[string]any{"ref": in["base"]}}
		s.requests = append(s.requests, one)
		_ = json.NewEncoder(w).Encode(one)
	case strings.HasSuffix(path, "/1"):
		for k, v := range in {
			s.requests[0][k] = v
		}
		_ = json.NewEncoder(w).Encode(s.requests[0])
	default:
		w.Header().Set("Link", fmt.Sprintf(`<%s/next/1>; rel="first"`, s.URL))
		list(s.requests)
	}
}

// GitLab and Gitea are asked for the same as GitHub, in their own words.
func TestSmallForges(t *testing.T) {
	for kind, want := range map[forge.Kind][]string{
		forge.GitLab: {"GET /projects/group%2Fapp/merge_requests", "POST /projects/group%2Fapp/merge_requests",
			"PUT /projects/group%2Fapp/merge_requests/1", "POST /projects/group%2Fapp/merge_requests/1/notes",
			"PUT /projects/group%2Fapp/merge_requests/1/notes/7", "POST /projects/group%2Fapp/statuses/abc"},
		forge.Gitea: {"GET /repos/group/app/pulls", "POST /repos/group/app/pulls", "PATCH /repos/group/app/pulls/1",
			"POST /repos/group/app/issues/1/comments", "PATCH /repos/group/app/issues/comments/7",
			"POST /repos/group/app/statuses/abc"},
	} {
		s, at := newSmall(t, kind)
		ctx := t.Context()
		if got, err := at.Find(ctx, "pawl/T-1"); err != nil || len(got) != 0 {
			t.Fatalf("%s: %v, %v", kind, got, err)
		}
		made, err := at.Open(ctx, forge.Request{Title: "Work", Body: "body", Head: "pawl/T-1", Base: "main"})
		if err != nil || made.Number != 1 || made.State != effect.PullOpen || made.Head != "pawl/T-1" || made.Base != "main" {
			t.Errorf("%s: %+v, %v", kind, made, err)
		}
		if err := at.Edit(ctx, 1, "Other", "other"); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if got, err := at.Find(ctx, "pawl/T-1"); err != nil || len(got) != 1 || got[0].Body != "other" {
			t.Errorf("%s: %v, %v", kind, got, err)
		}
		if got, err := at.Find(ctx, "pawl/T-2"); err != nil || len(got) != 0 {
			t.Errorf("%s: of another branch: %v, %v", kind, got, err)
		}
		id, err := at.Say(ctx, 1, "", "first")
		if err == nil {
			_, err = at.Say(ctx, 1, id, "second")
		}
		said, listErr := at.Comments(ctx, 1)
		if err != nil || listErr != nil || len(said) != 1 || said[0].ID != id || said[0].Text != "second" {
			t.Errorf("%s: %v, %v, %v", kind, said, err, listErr)
		}
		report := forge.Report{Commit: "abc", OK: true, Title: "2 of 2"}
		if id, err := at.Reported(ctx, report); id != "" || err != nil {
			t.Errorf("%s: %q, %v", kind, id, err)
		}
		if id, _, err := at.Report(ctx, report); id != "5" || err != nil {
			t.Errorf("%s: %q, %v", kind, id, err)
		}
		if id, err := at.Reported(ctx, report); id != "5" || err != nil {
			t.Errorf("%s: %q, %v", kind, id, err)
		}
		s.requests[0]["state"], s.requests[0]["merged"] = "merged", true
		if got, err := at.Look(ctx, 1); err != nil || got.State != effect.PullMerged {
			t.Errorf("%s: %+v, %v", kind, got, err)
		}
		for _, one := range want {
			if !slices.Contains(s.asked, one) {
				t.Errorf("%s: never asked: %s, but %v", kind, one, s.asked)
			}
		}
	}
}
