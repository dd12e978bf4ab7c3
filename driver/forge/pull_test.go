package forge_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/driver/forge"
	"pawl/internal/forgetest"
	"pawl/internal/gittest"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
	"pawl/text/message"
)

// appToken is what a workflow or an application shows.
const appToken = "ghs_" + "test0000000000000000000000000000000001"

// bench is a repository with a bare remote, and a driver for its hub.
type bench struct {
	*forge.Driver
	client *forge.Client
	hub    *forgetest.Hub
	place  effect.Place
	there  effect.Target
	bare   string
	commit string
}

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return strings.TrimSpace(gittest.At(t, dir).Git(args...))
}

func newBench(t *testing.T, kind, token string) *bench {
	t.Helper()
	base := t.TempDir()
	b := &bench{hub: forgetest.New(t, kind, token), bare: filepath.Join(base, "bare.git"),
		there: effect.Target{Remote: "origin", Forge: kind, Repository: forgetest.Repository}}
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
	b.client = &forge.Client{Kind: forge.Kind(kind), Base: b.hub.URL, HTTP: carry, TokenName: "THE_TOKEN",
		Token: func() (string, error) { return token, nil },
		Sleep: func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) }}
	b.Driver = &forge.Driver{Memory: &git.Memory{},
		Target: func(g effect.Target, pushed, _ string) (effect.Target, error) {
			g.Remote, g.Forge, g.Repository = "origin", kind, forgetest.Repository
			if strings.HasSuffix(pushed, "fork.git") {
				g.Fork = forgetest.Fork
			}
			return g, nil
		},
		Connect: func(g effect.Target) (forge.Forge, error) { return b.client.Of(g.Repository, g.Fork) },
		Prove:   func(context.Context, string) ([]byte, error) { return []byte(`{"records":[]}`), nil },
	}
	return b
}

// step is an effect of a pull request, as the kernel asks for it.
type step struct {
	kind effect.Kind
	spec any
}

// steps are the effects of one pull request, in their order.
func (b *bench) steps(body string) []step {
	return []step{
		{effect.KindPush, effect.PushSpec{Commit: b.commit, Head: "pawl/T-001", Branch: "main"}},
		{effect.KindPull, effect.PullSpec{Target: b.there, Head: "pawl/T-001", Base: "main", Title: "Work", Body: body,
			Marker: "pawl:R:pull"}},
		{effect.KindStatus, effect.StatusSpec{Target: b.there, Commit: b.commit, OK: true, Title: "1 of 1 criteria shown",
			Text: body, URL: "https://github.com/acme/app/pull/1", Marker: "pawl:R:check"}},
		{effect.KindComment, effect.CommentSpec{Target: b.there, Number: 1, Text: "proof", Marker: "pawl:proof", Task: "T"}},
	}
}

func (b *bench) effect(s step) effect.Effect {
	return effect.Effect{ID: "E-" + string(s.kind), Kind: s.kind, Place: b.place, Spec: effect.Encode(s.spec)}
}

func (b *bench) do(t *testing.T, s step) effect.Receipt {
	t.Helper()
	return b.Do(t.Context(), b.effect(s), nil)
}

// made does all of a pull request.
func (b *bench) made(t *testing.T) {
	t.Helper()
	for _, s := range b.steps("body") {
		if got := b.do(t, s); !got.OK {
			t.Fatalf("%s: %v", s.kind, got.Err())
		}
	}
}

// counts are how many there are of what is to be there once.
func (b *bench) counts() [3]int {
	return [3]int{len(b.hub.Pulls), len(b.hub.Statuses) + len(b.hub.Checks), len(b.hub.Comments)}
}

// everywhere tries a forge of each kind.
func everywhere(t *testing.T, try func(t *testing.T, b *bench)) {
	for _, kind := range forgetest.Kinds {
		t.Run(kind, func(t *testing.T) { try(t, newBench(t, kind, token)) })
	}
	t.Run("application", func(t *testing.T) { try(t, newBench(t, "github", appToken)) })
}

// Each effect is done once, however often it is asked for and wherever its answer is cut off: the request that was
// carried out and whose answer never came is the case that makes two of everything elsewhere.
func TestOnce(t *testing.T) {
	everywhere(t, func(t *testing.T, b *bench) {
		cut := 0
		b.hub.After = func(r *http.Request) {
			if r.Method == http.MethodPost {
				cut++
				panic(http.ErrAbortHandler)
			}
		}
		for n := range 2 {
			for _, s := range b.steps("body") {
				want := map[bool]effect.Answer{false: effect.DoneNo, true: effect.DoneYes}
				if answer, _ := b.Done(t.Context(), b.effect(s)); answer != want[n > 0] {
					t.Errorf("%s, the time %d: %s", s.kind, n, answer)
				}
				did := b.do(t, s)
				answer, found := b.Done(t.Context(), b.effect(s))
				if !did.OK || answer != effect.DoneYes || s.kind != effect.KindStatus && string(found.Result) != string(did.Result) {
					t.Fatalf("%s: %v, %s %s, then %s", s.kind, did.Err(), did.Result, answer, found.Result)
				}
			}
		}
		if cut != 3 || b.counts() != [3]int{1, 1, 1} || len(b.hub.Writes) != 3 {
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
		other := b.steps("other words")[1]
		if answer, _ := b.Done(t.Context(), b.effect(other)); answer != effect.DoneNo {
			t.Errorf("other words are said already: %s", answer)
		}
		if got := b.do(t, other); !got.OK || len(b.hub.Pulls) != 1 ||
			!strings.HasPrefix(b.hub.Pulls[0]["body"].(string), "other words") {
			t.Errorf("%v, %v", got.Err(), b.hub.Pulls)
		}
		// Where it cannot be seen, nobody knows.
		b.hub.Close()
		for _, s := range b.steps("body")[1:] {
			if answer, _ := b.Done(t.Context(), b.effect(s)); answer != effect.DoneUnknown {
				t.Errorf("%s without a forge: %s", s.kind, answer)
			}
		}
	})
}

// A branch that has somebody else's commits is left alone, and so is a pull request that a person closed.
func TestOthers(t *testing.T) {
	b := newBench(t, "github", token)
	steps := b.steps("body")
	run(t, b.place.Workspace, "push", "-q", "origin", "main:refs/heads/pawl/T-001")
	first := b.commit
	run(t, b.place.Workspace, "reset", "-q", "--hard", "HEAD~1")
	run(t, b.place.Workspace, "commit", "-q", "--allow-empty", "-m", "other work")
	b.commit = run(t, b.place.Workspace, "rev-parse", "HEAD")
	steps[0].spec = effect.PushSpec{Commit: b.commit, Head: "pawl/T-001", Branch: "main"}
	if got := b.do(t, steps[0]); got.OK || got.Key != "forge.diverged" {
		t.Errorf("%+v", got)
	}
	if got := run(t, b.bare, "rev-parse", "refs/heads/pawl/T-001"); got != first {
		t.Errorf("the branch was moved to %s", got)
	}
	if got := b.do(t, steps[1]); !got.OK {
		t.Fatal(got.Err())
	}
	b.hub.Do(func() { b.hub.Pulls[0]["state"] = "closed" })
	got := b.do(t, steps[1])
	if r, err := effect.Decode[effect.PullResult](got.Result); err != nil || r.State != effect.PullClosed || r.Number != 1 ||
		len(b.hub.Pulls) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// The description of a pull request that a person opened stays, and so does that of one that a person moved to another
// base. One into another base is not the branch's. What an earlier run of pawl wrote takes the new words.
func TestDescriptionOfAPerson(t *testing.T) {
	for name, c := range map[string]struct {
		base, body string
		moved      string // where the pull request of pawl is moved to
		foreign    bool
		pulls      int
		want       string // how the first one's description begins
	}{
		"a person's":        {"main", "Mine, three hours of work", "", true, 1, "Mine"},
		"without any words": {"main", "", "", true, 1, ""},
		"with another mark": {"main", "Mine <!-- pawl pawl:proof -->", "", true, 1, "Mine"},
		"into another base": {"next", "Mine", "", false, 2, "Mine"},
		"of an earlier run": {"main", "Before <!-- pawl pawl:Q:pull -->", "", false, 1, "body"},
		"moved by a person": {"main", "Mine <!-- pawl pawl:R:pull -->", "next", true, 1, "Mine"},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(t *testing.T, b *bench) {
				at, err := b.Connect(b.there)
				if err != nil {
					t.Fatal(err)
				}
				if got := b.do(t, b.steps("body")[0]); !got.OK {
					t.Fatal(got.Err())
				}
				if _, err := at.Open(t.Context(), forge.Request{Title: "Mine", Body: c.body, Head: "pawl/T-001", Base: c.base}); err != nil {
					t.Fatal(err)
				}
				if c.moved != "" {
					b.hub.Do(func() { b.hub.Pulls[0]["base"] = map[string]any{"ref": c.moved} })
				}
				s := b.steps("body")[1]
				got := b.do(t, s)
				out, err := effect.Decode[effect.PullResult](got.Result)
				if !got.OK || err != nil || out.Foreign != c.foreign || out.Number != c.pulls || len(b.hub.Pulls) != c.pulls {
					t.Errorf("%+v, %v, %v, %v", out, err, got.Err(), b.hub.Pulls)
				}
				if said, _ := b.hub.Pulls[0]["body"].(string); !strings.HasPrefix(said, c.want) || c.foreign && said != c.body {
					t.Errorf("%q", said)
				}
				if answer, _ := b.Done(t.Context(), b.effect(s)); answer != effect.DoneYes {
					t.Error(answer)
				}
			})
		})
	}
}

// TestAnswerWithoutBody has the forge answer a successful write with nothing.
func TestAnswerWithoutBody(t *testing.T) {
	for _, kind := range []string{"gitlab", "gitea"} {
		t.Run(kind, func(t *testing.T) {
			b := newBench(t, kind, token)
			b.hub.Silent = true
			b.made(t)
			if other := b.do(t, b.steps("other words")[1]); !other.OK ||
				!strings.HasPrefix(b.hub.Pulls[0]["body"].(string), "other words") {
				t.Errorf("%v, %v", other.Err(), b.hub.Pulls)
			}
			again := b.effect(b.steps("body")[3])
			again.ID = "E-again"
			got := b.Do(t.Context(), again, nil)
			posted, err := effect.Decode[effect.Posted](got.Result)
			if _, found := b.Done(t.Context(), again); !got.OK || err != nil || string(found.Result) != string(got.Result) {
				t.Errorf("%+v, %v, %v, %s", posted, err, got.Err(), found.Result)
			}
			for _, step := range []step{b.closing(false), b.closing(true)} {
				if got := b.do(t, step); !got.OK {
					t.Error(got.Err())
				}
			}
			if b.counts() != [3]int{1, 1, 1} {
				t.Errorf("%v", b.hub.Writes)
			}
		})
	}
}

// Of a branch of the same name in somebody's fork, the pull request is somebody else's.
func TestSameNameElsewhere(t *testing.T) {
	everywhere(t, func(t *testing.T, b *bench) {
		stranger, err := b.client.Of(forgetest.Repository, forgetest.Fork)
		if err != nil {
			t.Fatal(err)
		}
		made, err := stranger.Open(t.Context(), forge.Request{Title: "Mine", Body: "mine", Head: "pawl/T-001", Base: "main"})
		if err != nil || made.Number != 1 {
			t.Fatalf("%+v, %v", made, err)
		}
		for _, s := range b.steps("body")[:2] {
			if got := b.do(t, s); !got.OK {
				t.Fatal(got.Err())
			}
		}
		if len(b.hub.Pulls) != 2 || b.hub.Pulls[0]["body"] != "mine" {
			t.Errorf("%v", b.hub.Pulls)
		}
		if found, err := stranger.Find(t.Context(), "pawl/T-001"); err != nil || len(found) != 1 || found[0].Number != 1 {
			t.Errorf("%+v, %v", found, err)
		}
	})
}

// Who works in a fork pushes there, and asks the repository that the work is for; what may not be said of a commit there
// is said where the branch is.
func TestFork(t *testing.T) {
	everywhere(t, func(t *testing.T, b *bench) {
		dir := b.place.Workspace
		fork := filepath.Join(filepath.Dir(b.bare), "fork.git")
		run(t, filepath.Dir(b.bare), "clone", "-q", "--bare", b.bare, fork)
		run(t, dir, "remote", "rename", "origin", "upstream")
		run(t, dir, "remote", "add", "origin", fork)
		run(t, dir, "config", "remote.pushDefault", "origin")
		b.hub.Foreign = true
		for range 2 {
			for i := range b.steps("body") {
				s := b.steps("body")[i]
				got := b.do(t, s)
				if !got.OK {
					t.Fatalf("%s: %v", s.kind, got.Err())
				}
				if i == 0 {
					out, err := effect.Decode[effect.PushResult](got.Result)
					if err != nil || out.Remote != "origin" || out.Fork != forgetest.Fork || out.Base != "main" {
						t.Fatalf("%+v, %v", out, err)
					}
					b.there = out.Target
				}
			}
		}
		from := b.hub.Pulls[0]["head"].(map[string]any)
		if b.counts() != [3]int{1, 1, 1} || from["ref"] != "pawl/T-001" || from["user"].(map[string]any)["login"] != "ada" {
			t.Errorf("%v, %v", b.hub.Writes, b.hub.Pulls)
		}
		for _, s := range slices.Concat(b.hub.Statuses, b.hub.Checks) {
			if s["repository"] != forgetest.Fork {
				t.Errorf("said of %v", s["repository"])
			}
		}
		if got := run(t, fork, "rev-parse", "refs/heads/pawl/T-001"); got != b.commit ||
			strings.Contains(run(t, b.bare, "branch"), "pawl") {
			t.Errorf("the branch is at %s", got)
		}
	})
}

// closing is the effect that takes a pull request back.
func (b *bench) closing(again bool) step {
	return step{effect.KindClose, effect.CloseSpec{Target: b.there, Number: 1, Head: "pawl/T-001", Commit: b.commit,
		Again: again}}
}

func (b *bench) branches(t *testing.T) string {
	t.Helper()
	return run(t, b.bare, "branch", "--format=%(refname:short)")
}

// A pull request is taken back by closing it and taking its branch away, and both come back. What was merged stays, and
// so does a branch that somebody went on with.
func TestClose(t *testing.T) {
	everywhere(t, func(t *testing.T, b *bench) {
		b.made(t)
		for _, again := range []bool{false, true} {
			s := b.closing(again)
			if answer, _ := b.Done(t.Context(), b.effect(s)); answer != effect.DoneNo {
				t.Errorf("%v is done already: %s", again, answer)
			}
			for range 2 {
				if got := b.do(t, s); !got.OK {
					t.Fatal(got.Err())
				}
			}
			state := map[bool]string{false: "closed", true: "open"}[again]
			if answer, _ := b.Done(t.Context(), b.effect(s)); answer != effect.DoneYes || b.hub.Pulls[0]["state"] != state ||
				strings.Contains(b.branches(t), "pawl") != again {
				t.Errorf("%s, %v, %s", answer, b.hub.Pulls[0]["state"], b.branches(t))
			}
		}
		if body := b.hub.Pulls[0]["body"].(string); !strings.HasPrefix(body, "body") || b.counts() != [3]int{1, 1, 1} {
			t.Errorf("%s, %v", body, b.hub.Writes)
		}
		// The branch goes on.
		run(t, b.place.Workspace, "commit", "-q", "--allow-empty", "-m", "more")
		run(t, b.place.Workspace, "push", "-q", "origin", "main:refs/heads/pawl/T-001")
		if got := b.do(t, b.closing(false)); !got.OK || b.hub.Pulls[0]["state"] != "closed" ||
			!strings.Contains(b.branches(t), "pawl/T-001") {
			t.Errorf("%v, %s", got.Err(), b.branches(t))
		}
		b.hub.Do(func() { b.hub.Pulls[0]["merged_at"] = "2026-01-30T10:00:00Z" })
		writes := len(b.hub.Writes)
		for _, again := range []bool{false, true} {
			got := b.do(t, b.closing(again))
			if got.OK || got.Key != "pull.merged" || len(b.hub.Writes) != writes {
				t.Errorf("%+v", got)
			}
			clear(t, got.Err(), nil)
			if _, hint := message.English.Error(got.Err()); !strings.Contains(hint, "git revert -m 1 0123456789abcdef") {
				t.Error(hint)
			}
		}
	})
}

// Comments, comments on lines and reviews come back, in pages or not.
func TestComments(t *testing.T) {
	b := newBench(t, "github", token)
	at, err := b.Connect(b.there)
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
