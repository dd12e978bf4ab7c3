package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/internal/forgetest"
	"pawl/internal/gittest"
	"pawl/kernel/effect"
)

// pullToken is what the tests show; it must stand nowhere else.
const pullToken = "ghp_" + "pull0000000000000000000000000000000001"

// pullKills has `pawl pr` killed at each of its requests.
var pullKills = flag.Bool("pullkills", false, "kill the making of a pull request at each of its requests")

// sharing makes a user with a repository that has a remote, and a hub where its pull requests are made.
func sharing(t *testing.T) (*user, *forgetest.Hub) {
	u := newUser(t)
	h := forgetest.New(t, "github", pullToken)
	u.write("a.txt", "one\n")
	u.repository()
	bare := filepath.Join(u.home, "app.git")
	u.git("init", "-q", "--bare", "-b", "main", bare)
	u.git("remote", "add", "origin", bare)
	u.git("push", "-q", "-u", "origin", "main")
	for name, value := range map[string]string{"forge.kind": "github", "forge.repository": forgetest.Repository,
		"forge.base_url": h.URL} {
		u.must(0, "config", "set", name, value)
	}
	u.vars = append(u.vars, "GITHUB_TOKEN="+pullToken)
	return u, h
}

// bare is where the remote's branch is.
func bare(u *user, branch string) string {
	return strings.TrimSpace(gittest.At(u.t, filepath.Join(u.home, "app.git")).Git("rev-parse", "refs/heads/"+branch))
}

// wording is a plan that has a.txt say a word.
func (u *user) wording(word string) string {
	u.t.Helper()
	steps := []map[string]any{edit("s1", "a.txt", word+"\n")}
	text, err := document("Have a.txt say "+word, steps, "grep -qx "+word+" a.txt")
	if err != nil {
		u.t.Fatal(err)
	}
	return u.plan(text)
}

// A pull request is made of what landed, with what shows that it is done. Killed at any request, before it was carried
// out and behind that, and done again, there is one of everything. Comments come back as an issue for its branch, and
// the answer to them goes into the same pull request.
func TestPullRequest(t *testing.T) {
	t.Parallel()
	u, h := sharing(t)
	u.must(3, "pr") // there is no run
	moments := []int{2, 4, 8}
	if *pullKills {
		moments = []int{1, 2, 3, 4, 5, 6, 7, 8}
	}
	gone := 0
	for n := range moments {
		for _, carried := range []bool{false, true} {
			gone++
			u.must(0, "run", "--plan", u.wording(fmt.Sprint(gone)), "--yes")
			p := (*process)(nil)
			started := make(chan struct{})
			h.Do(func() {
				first := h.Requests
				cut := func() {
					if h.Requests-first == moments[n] {
						<-started
						_ = p.cmd.Process.Kill()
						panic(http.ErrAbortHandler)
					}
				}
				h.Before = func(http.ResponseWriter, *http.Request) bool {
					if !carried {
						cut()
					}
					return false
				}
				h.After = func(*http.Request) {
					if carried {
						cut()
					}
				}
			})
			p = u.start("pr")
			close(started)
			if got := p.wait(); got.code == 0 {
				t.Errorf("request %d: it was not killed: %v", moments[n], got)
			}
			h.Do(func() { h.Before, h.After = nil, nil })
			made := decode[effect.Pull](u, "pr")
			if made.Number != gone || made.State != effect.PullOpen || len(h.Pulls) != gone || len(h.Statuses) != gone ||
				len(h.Comments) != gone || bare(u, made.Head) != made.Commit {
				t.Errorf("killed at request %d (carried out: %v): %+v, %d pull requests, %d statuses, %d comments", moments[n],
					carried, made, len(h.Pulls), len(h.Statuses), len(h.Comments))
			}
		}
	}
	before := h.Requests
	u.says(u.must(0, "pr"), fmt.Sprint("#", gone))
	if h.Requests != before {
		t.Errorf("%d requests for what is there already", h.Requests-before)
	}
	if body := h.Pulls[gone-1]["body"].(string); !strings.Contains(body, "### Undo") || strings.Contains(body, pullToken) {
		t.Errorf("it says:\n%s", body)
	}
	for _, name := range []string{"pawl.db", "pawl.db-wal"} {
		if strings.Contains(u.ownText(name), pullToken) {
			t.Errorf("the token stands in %s", name)
		}
	}

	h.Do(func() {
		h.Pulls[0]["state"], h.Pulls[0]["merged_at"] = "closed", "2026-01-30T10:00:00Z"
		h.Pulls[1]["state"] = "closed"
		for _, p := range h.Pulls[2 : gone-1] {
			p["state"] = "closed"
		}
		h.Lines = []map[string]any{{"id": 900, "body": "Why six?", "path": "a.txt", "line": 1,
			"user": map[string]any{"login": "bob"}}}
	})
	type found struct {
		URL, Issue string
		State      effect.PullState
		Comments   int
	}
	states := map[effect.PullState]int{}
	issue := ""
	for _, f := range decode[[]found](u, "issue", "sync") {
		states[f.State]++
		issue += f.Issue
	}
	if states[effect.PullMerged] != 1 || states[effect.PullClosed] != gone-2 || states[effect.PullOpen] != 1 || issue == "" {
		t.Fatalf("%v, %q", states, issue)
	}
	u.says(u.must(0, "issue", "show", issue), "Why six?", "a.txt:1")
	if again := decode[[]found](u, "issue", "sync"); len(again) != 1 || again[0].Comments != 0 {
		t.Errorf("the second time: %+v", again)
	}
	u.must(0, "issue", "edit", issue, "--plan", u.wording("seven"))
	u.must(0, "issue", "execute", issue, "--yes")
	made := decode[effect.Pull](u, "pr", issue)
	if made.Number != gone || len(h.Pulls) != gone || len(h.Comments) != gone || bare(u, made.Head) != made.Commit {
		t.Errorf("the answer went to %+v, of %d", made, len(h.Pulls))
	}
	if again := decode[[]found](u, "issue", "sync"); len(again) != 1 || again[0].Comments != 0 {
		t.Errorf("behind the answer: %+v", again)
	}
}

// With land.as the result does not touch the branch: it goes to a pull request within the run, with a token of the
// keyring. An undo closes it, as long as it is not merged. Where the forge does not answer, the run has ended well all the
// same, and says what to do.
func TestLandAsPullRequest(t *testing.T) {
	t.Parallel()
	u, h := sharing(t)
	u.vars = slices.DeleteFunc(u.vars, func(v string) bool { return strings.HasPrefix(v, "GITHUB_TOKEN=") })
	u.path = filepath.Join(filepath.Dir(u.dir), "bin")
	keyring := "#!/bin/sh\n[ \"$*\" = 'lookup service pawl username github' ] && echo " + pullToken + "\n"
	if err := errors.Join(os.Mkdir(u.path, 0o755),
		os.WriteFile(filepath.Join(u.path, "secret-tool"), []byte(keyring), 0o755)); err != nil {
		t.Fatal(err)
	}
	u.must(0, "config", "set", "forge.token_keyring", "pawl/github")
	u.must(0, "config", "set", "land.as", "pull-request")
	main := u.git("rev-parse", "main")
	u.must(0, "run", "--plan", u.wording("two"), "--yes")
	if u.git("rev-parse", "main") != main || len(h.Pulls) != 1 || len(h.Statuses) != 1 || len(h.Comments) != 1 {
		t.Errorf("%d pull requests, %d statuses, %d comments", len(h.Pulls), len(h.Statuses), len(h.Comments))
	}
	u.says(u.must(0, "show"), "pawl undo")
	branches := func() string { return gittest.At(t, filepath.Join(u.home, "app.git")).Git("branch") }
	u.says(u.must(0, "undo"), "closed without being merged", "pawl redo")
	if h.Pulls[0]["state"] != "closed" || strings.Contains(branches(), "pawl/") {
		t.Errorf("undone: %v, %s", h.Pulls[0]["state"], branches())
	}
	u.says(u.must(0, "redo"), "is open", "pawl undo")
	if h.Pulls[0]["state"] != "open" || !strings.Contains(branches(), "pawl/") || len(h.Pulls) != 1 {
		t.Errorf("brought back: %v, %s", h.Pulls[0]["state"], branches())
	}
	h.Do(func() { h.Pulls[0]["state"], h.Pulls[0]["merged_at"] = "closed", "2026-01-30T10:00:00Z" })
	merged := u.must(6, "undo")
	merged.out += merged.err
	u.says(merged, "is merged", "git revert -m 1 "+h.Pulls[0]["merge_commit_sha"].(string))
	if !strings.Contains(branches(), "pawl/") {
		t.Errorf("the branch of what is merged is gone: %s", branches())
	}
	h.Do(func() {
		h.Before = func(w http.ResponseWriter, _ *http.Request) bool {
			forgetest.Say(w, http.StatusForbidden, "Resource not accessible")
			return true
		}
	})
	u.must(0, "run", "--plan", u.wording("three"), "--yes")
	u.says(u.must(0, "show"), "the token may not do this")
	h.Do(func() { h.Before = nil })
	if made := decode[effect.Pull](u, "pr"); made.Number != 2 || made.Fault != nil || len(h.Pulls) != 2 {
		t.Errorf("%+v", made)
	}
	err := filepath.WalkDir(u.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if strings.Contains(string(raw), pullToken) {
			t.Errorf("the token stands in %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
