package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/agent/llm"
	"pawl/internal/modeltest"
	"pawl/store/recording"
)

// replayed is what `pawl replay --json` prints.
type replayed struct {
	Run         string
	Decisions   int
	Lost        int
	Differences []difference
}

// difference is a decision that comes out differently.
type difference struct {
	Line         int
	Command      string
	Decided, Now []struct{ On, From, To, Rule string }
	Settings     []struct{ What string }
}

// moved reports whether it makes other moves.
func (d difference) moved() bool { return !slices.Equal(d.Decided, d.Now) }

// recording is the path of a recording of the user's first run.
func (u *user) recording(name string) string {
	return u.own(recording.Dir, "RUN-1", name)
}

// TestReplayWithoutAModel records a run and makes its decisions again when there is no model any more.
func TestReplayWithoutAModel(t *testing.T) {
	t.Parallel()
	u, srv := faulty(t, "openai", asking(modeltest.FixBug("sum.go", sumWorse, sumRight)))
	u.must(0, "run", "Sum(2, 3) is not 5", "--yes", "--record")
	srv.Close()
	for _, name := range []string{recording.DecisionsFile, recording.ExchangesFile} {
		info, err := os.Stat(u.recording(name))
		if err != nil || info.Mode().Perm() != 0o600 || info.Size() == 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if a := u.must(0, "replay", "RUN-1"); !strings.Contains(a.out, "all would be the same") {
		t.Errorf("%v", a)
	}
	if r := decode[replayed](u, "replay", "1"); r.Run != "RUN-1" || r.Decisions < 30 || r.Lost != 0 ||
		len(r.Differences) != 0 {
		t.Errorf("%+v", r)
	}
	// The next run is not recorded, and the recording is no part of the user's files.
	u.must(3, "replay", "RUN-2")
	if got := u.git("status", "--porcelain"); got != "" {
		t.Errorf("status %s", got)
	}
	raw, err := os.ReadFile(u.recording(recording.DecisionsFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(u.recording(recording.DecisionsFile), raw[:len(raw)-10], 0o600); err != nil {
		t.Fatal(err)
	}
	if a := u.must(13, "replay", "1"); !strings.Contains(a.err, "cut off") {
		t.Errorf("%v", a)
	}
}

// TestReplayShowsWhatSettingsChange: a recorded run that had three repairs is replayed where one is allowed.
func TestReplayShowsWhatSettingsChange(t *testing.T) {
	t.Parallel()
	u, srv := faulty(t, "openai", asking(modeltest.Liar()), "record: true")
	u.must(8, "run", "Sum(2, 3) is not 5", "--yes")
	srv.Close()
	u.must(0, "skip") // another process, which goes on recording
	whole := decode[replayed](u, "replay", "1")
	if whole.Lost != 0 || len(whole.Differences) != 0 {
		t.Errorf("%+v", whole)
	}
	raw, err := os.ReadFile(u.recording(recording.DecisionsFile))
	if err != nil || !bytes.Contains(raw, []byte(`"command":"recovery.Skip"`)) {
		t.Errorf("the recording ends with its process: %v", err)
	}
	config := filepath.Join(u.home, ".config", "pawl", "config.yaml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, append(text, "max_fixes: 1\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	a := u.must(6, "replay", "RUN-1")
	for _, want := range []string{"max_fixes: 3, now 1", "AUTO_FIX → BLOCKED (S08", "would be different"} {
		if !strings.Contains(a.out, want) {
			t.Errorf("%q is not said: %v", want, a)
		}
	}
	b := u.must(6, "replay", "RUN-1", "--json")
	if !strings.Contains(b.out, `"what":"max_fixes"`) || !strings.Contains(b.out, `"rule":"S`) {
		t.Errorf("%v", b)
	}
}

// TestExchangesStandForTheModel makes a recorded run again from its exchanges alone. No check fails in it: what failing
// tests say of their time would be part of the next request.
func TestExchangesStandForTheModel(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"openai", "anthropic", "gemini"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			u, srv := faulty(t, kind, asking(modeltest.FixBug("sum.go", sumRight, sumRight)))
			u.must(0, "run", "Sum(2, 3) is not 5", "--yes", "--record")
			srv.Close()
			states := u.states()
			tape, left, said := standIn(t, u)
			stand := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.RequestURI, r.URL.Scheme, r.URL.Host = "", "http", r.Host
				answer, err := tape.RoundTrip(r)
				if err != nil {
					t.Errorf("%v", err)
					http.Error(w, `{"error":{"message":"not recorded"}}`, http.StatusBadRequest)
					return
				}
				w.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
				w.WriteHeader(answer.StatusCode)
				_, _ = io.Copy(w, answer.Body)
			}))
			defer stand.Close()
			config := filepath.Join(u.home, ".config", "pawl", "config.yaml")
			text, err := os.ReadFile(config)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(config, bytes.ReplaceAll(text, []byte(srv.URL), []byte(stand.URL)),
				0o644); err != nil {
				t.Fatal(err)
			}
			u.git("reset", "-q", "--hard", "HEAD~1")
			if err := os.RemoveAll(u.own()); err != nil {
				t.Fatal(err)
			}
			u.module().must(0, "run", "Sum(2, 3) is not 5", "--yes")
			if u.read("sum.go") != sumRight || strings.Join(u.states(), " ") != strings.Join(states, " ") {
				t.Errorf("the run came out differently: %v", u.states())
			}
			if left() != 0 || said < 4 {
				t.Errorf("%d of %d exchanges were not asked for", left(), said)
			}
			if _, err := os.Stat(u.recording(recording.DecisionsFile)); !os.IsNotExist(err) {
				t.Error("a run was recorded that nobody asked to be")
			}
		})
	}
}

// standIn answers from the exchanges of a user's first run; said is how many there are.
func standIn(t *testing.T, u *user) (tape http.RoundTripper, left func() int, said int) {
	t.Helper()
	raw, err := os.ReadFile(u.recording(recording.ExchangesFile))
	if err != nil {
		t.Fatal(err)
	}
	var all []modeltest.Exchange
	for line := range bytes.Lines(raw) {
		var x llm.Exchange
		if err := json.Unmarshal(line, &x); err != nil {
			t.Fatal(err)
		}
		all = append(all, modeltest.Exchange{Path: x.Path, Request: string(x.Request), Status: x.Status,
			Type: "text/event-stream", Reply: x.Response})
	}
	tape, left = modeltest.Replay(t, all, func(x modeltest.Exchange, asked string) bool { return x.Request == asked })
	return tape, left, len(all)
}
