package forge_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl"
	"pawl/driver/forge"
	"pawl/internal/forgetest"
	"pawl/internal/gittest"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
)

// appToken is what a workflow or an application shows.
const appToken = "ghs_" + "test0000000000000000000000000000000001"

// bench is a repository with a bare remote, and a driver for its hub.
type bench struct {
	*forge.Driver
	hub    *forgetest.Hub
	place  effect.Place
	bare   string
	commit string
}

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return strings.TrimSpace(gittest.At(t, dir).Git(args...))
}

func newBench(t *testing.T, token string) *bench {
	t.Helper()
	base := t.TempDir()
	b := &bench{hub: forgetest.New(t, token), bare: filepath.Join(base, "bare.git")}
	dir := filepath.Join(base, "work")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, base, "init", "-q", "--bare", "-b", "main", b.bare)
	run(t, dir, "init", "-q", "-b", "main")
	gittest.Configure(t, dir)
	run(t, dir, "commit", "-q", "--allow-empty", "-m", "base")
	run(t, dir, "remote", "add", "origin", b.bare)
	run(t, dir, "push", "-q", "-u", "origin", "main")
	run(t, dir, "commit", "-q", "--allow-empty", "-m", "work")
	b.commit = run(t, dir, "rev-parse", "HEAD")
	b.place = effect.Place{Workspace: dir, Tree: dir, Git: true}
	carry, err := forge.Transport("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(carry.(*http.Transport).CloseIdleConnections)
	client := &forge.Client{Base: b.hub.URL, HTTP: carry, Token: func() (string, error) { return token, nil }}
	b.Driver = &forge.Driver{Memory: &git.Memory{},
		Target: func(g effect.Target, _ string) (effect.Target, error) {
			g.Remote, g.Forge, g.Repository = "origin", "github", forgetest.Repository
			return g, nil
		},
		Connect: func(g effect.Target) (forge.Forge, error) { return client.Of(g.Repository) },
		Prove:   func(context.Context, string) ([]byte, error) { return []byte(`{"records":[]}`), nil },
	}
	return b
}

func (b *bench) do(t *testing.T, kind effect.Kind, spec any) effect.Receipt {
	t.Helper()
	return b.Do(t.Context(), effect.Effect{ID: "E", Kind: kind, Place: b.place, Spec: effect.Encode(spec)}, nil)
}

var there = effect.Target{Remote: "origin", Forge: "github", Repository: forgetest.Repository}

// steps are the effects of one pull request, as the kernel asks for them.
func (b *bench) steps(body string) []func(t *testing.T) effect.Receipt {
	return []func(t *testing.T) effect.Receipt{
		func(t *testing.T) effect.Receipt {
			return b.do(t, effect.KindPush, effect.PushSpec{Commit: b.commit, Head: "pawl/T-001", Branch: "main"})
		},
		func(t *testing.T) effect.Receipt {
			return b.do(t, effect.KindPull, effect.PullSpec{Target: there, Head: "pawl/T-001", Base: "main", Title: "Work",
				Body: body, Marker: "pawl:R:pull"})
		},
		func(t *testing.T) effect.Receipt {
			return b.do(t, effect.KindStatus, effect.StatusSpec{Target: there, Commit: b.commit, OK: true,
				Title: "1 of 1 criteria shown", Text: body, URL: "https://github.com/acme/app/pull/1", Marker: "pawl:R:check"})
		},
		func(t *testing.T) effect.Receipt {
			return b.do(t, effect.KindComment, effect.CommentSpec{Target: there, Number: 1, Text: "proof", Marker: "pawl:proof",
				Task: "T"})
		},
	}
}

// Each effect is done once, however often it is asked for and wherever its answer is cut off: the request that was
// carried out and whose answer never came is the case that makes two of everything elsewhere.
func TestOnce(t *testing.T) {
	for name, token := range map[string]string{"status": token, "check": appToken} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, token)
			cut := 0
			b.hub.After = func(r *http.Request) {
				if r.Method == http.MethodPost {
					cut++
					panic(http.ErrAbortHandler)
				}
			}
			for range 2 {
				for i, step := range b.steps("body") {
					if got := step(t); !got.OK {
						t.Fatalf("step %d: %v", i, got.Err())
					}
				}
			}
			if cut != 3 || len(b.hub.Pulls) != 1 || len(b.hub.Comments) != 1 || len(b.hub.Checks)+len(b.hub.Statuses) != 1 ||
				(len(b.hub.Checks) == 1) != (name == "check") {
				t.Errorf("%d requests were cut off: %v", cut, b.hub.Writes)
			}
			if got := run(t, b.bare, "rev-parse", "refs/heads/pawl/T-001"); got != b.commit {
				t.Errorf("the branch is at %s, not at %s", got, b.commit)
			}
			if got := b.hub.Pulls[0]; got["base"].(map[string]any)["ref"] != "main" ||
				!strings.Contains(got["body"].(string), "<!-- pawl pawl:R:pull -->") {
				t.Errorf("%v", got)
			}
			if got := b.hub.Comments[0]["body"].(string); !strings.Contains(got, `{"records":[]}`) {
				t.Error(got)
			}
			// New words change what is there, and make nothing new.
			for _, step := range b.steps("other words")[:2] {
				if got := step(t); !got.OK {
					t.Fatal(got.Err())
				}
			}
			if len(b.hub.Pulls) != 1 || !strings.HasPrefix(b.hub.Pulls[0]["body"].(string), "other words") {
				t.Errorf("%v", b.hub.Pulls)
			}
		})
	}
}

// What the forge refuses is said in words, and nothing is done twice.
func TestRefusals(t *testing.T) {
	for status, want := range map[int]pawl.Code{401: pawl.CodeLogin, 403: pawl.CodeDenied, 404: pawl.CodeNotFound,
		409: pawl.CodeConflict, 422: pawl.CodeInvalid, 429: pawl.CodeBusy, 500: pawl.CodeOutcomeUnknown} {
		b := newBench(t, token)
		for i, step := range b.steps("body") {
			if i > 0 {
				b.hub.Do(func() {
					b.hub.Before = func(w http.ResponseWriter, r *http.Request) bool {
						if r.Method == http.MethodPost {
							if status == 429 {
								w.Header().Set("Retry-After", "86400")
							}
							forgetest.Say(w, status, "no, "+token+", no")
							return true
						}
						return false
					}
				})
				got := step(t)
				if got.OK || got.Code != want || strings.Contains(string(effect.Encode(got)), token) {
					t.Errorf("%d at step %d: %+v", status, i, got)
				}
				clear(t, got.Err(), nil)
				b.hub.Do(func() { b.hub.Before = nil })
			}
			if got := step(t); !got.OK {
				t.Fatalf("after %d, step %d: %v", status, i, got.Err())
			}
		}
		if len(b.hub.Writes) != 3 {
			t.Errorf("%d: %v", status, b.hub.Writes)
		}
	}
}

// A branch that has somebody else's commits is left alone, and so is a pull request that a person closed.
func TestOthers(t *testing.T) {
	b := newBench(t, token)
	steps := b.steps("body")
	run(t, b.place.Workspace, "push", "-q", "origin", "main:refs/heads/pawl/T-001")
	first := b.commit
	run(t, b.place.Workspace, "reset", "-q", "--hard", "HEAD~1")
	run(t, b.place.Workspace, "commit", "-q", "--allow-empty", "-m", "other work")
	b.commit = run(t, b.place.Workspace, "rev-parse", "HEAD")
	if got := steps[0](t); got.OK || got.Key != "forge.diverged" {
		t.Errorf("%+v", got)
	}
	if got := run(t, b.bare, "rev-parse", "refs/heads/pawl/T-001"); got != first {
		t.Errorf("the branch was moved to %s", got)
	}
	if got := steps[1](t); !got.OK {
		t.Fatal(got.Err())
	}
	b.hub.Do(func() { b.hub.Pulls[0]["state"] = "closed" })
	got := steps[1](t)
	if r, err := effect.Decode[effect.PullResult](got.Result); err != nil || r.State != effect.PullClosed || r.Number != 1 ||
		len(b.hub.Pulls) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// Comments, comments on lines and reviews come back, in pages or not.
func TestComments(t *testing.T) {
	b := newBench(t, token)
	at, err := b.Connect(there)
	if err != nil {
		t.Fatal(err)
	}
	b.hub.Comments = []map[string]any{{"id": 1, "body": "Why?", "user": map[string]any{"login": "ada"}}}
	b.hub.Lines = []map[string]any{{"id": 2, "body": "Off by one", "path": "a.go", "line": 7,
		"user": map[string]any{"login": "bob"}}}
	b.hub.Reviews = []map[string]any{{"id": 3, "body": " "}, {"id": 4, "body": "Please change it"}}
	got, err := at.Comments(t.Context(), 1)
	if err != nil || len(got) != 3 || got[0].ID != "c1" || got[1].Path != "a.go" || got[1].Line != 7 || got[2].ID != "r4" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestPlace(t *testing.T) {
	for remote, want := range map[string][3]string{
		"https://github.com/acme/app.git":            {"github.com", "acme/app", "github"},
		"https://token@ghe.github.example/acme/app/": {"ghe.github.example", "acme/app", "github"},
		"git@gitlab.com:group/sub/app.git":           {"gitlab.com", "group/sub/app", "gitlab"},
		"ssh://git@codeberg.org:2222/acme/app.git":   {"codeberg.org", "acme/app", "gitea"},
		"http://git.example.com:3000/acme/app":       {"git.example.com:3000", "acme/app", ""},
		"/srv/git/app.git":                           {"", "", ""},
		"../app":                                     {"", "", ""},
		"file:///srv/git/app.git":                    {"", "", ""},
	} {
		host, path := forge.Place(remote)
		if got := [3]string{host, path, string(forge.KindOf(host))}; got != want {
			t.Errorf("%s: %v", remote, got)
		}
	}
}
