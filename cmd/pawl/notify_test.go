package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// told is a server of ntfy and of Slack, which takes its time.
type told struct {
	*httptest.Server
	mu    sync.Mutex
	ntfy  map[string]int // by sequence id
	slack int
	gone  []string
}

func newTold(t *testing.T) *told {
	t.Helper()
	s := &told{ntfy: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var body struct {
			ID string `json:"sequence_id"`
		}
		s.mu.Lock()
		switch {
		case r.Method == http.MethodDelete:
			s.gone = append(s.gone, r.URL.Path)
		case strings.HasPrefix(r.URL.Path, "/services/"):
			s.slack++
		case json.Unmarshal(raw, &body) == nil:
			s.ntfy[body.ID]++
		}
		s.mu.Unlock()
		time.Sleep(30 * time.Millisecond)
	}))
	t.Cleanup(s.Close)
	return s
}

// seen waits until something is so.
func (s *told) seen(t *testing.T, what string, so func() bool) {
	t.Helper()
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		s.mu.Lock()
		ok := so()
		s.mu.Unlock()
		if ok {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("never seen: %s (%+v, %d, %v)", what, s.ntfy, s.slack, s.gone)
		}
	}
}

// newTeller is a user with two channels, whose keyring holds the address of the one of Slack.
func newTeller(t *testing.T, s *told) *user {
	t.Helper()
	u := newUser(t).repository()
	u.path = filepath.Join(filepath.Dir(u.dir), "bin")
	if err := os.Mkdir(u.path, 0o755); err != nil {
		t.Fatal(err)
	}
	keyring := "#!/bin/sh\necho " + s.URL + "/services/T0/B0/x\n"
	if err := os.WriteFile(filepath.Join(u.path, "secret-tool"), []byte(keyring), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]string{"phone.kind": "ntfy", "phone.url": s.URL + "/topic", "team.kind": "slack",
		"team.url": s.URL, "team.secret": "pawl/team"} {
		u.must(0, "config", "set", "notices."+name, v)
	}
	return u
}

// TestNotify: who runs a plan without a terminal and leaves it waiting is told once by each channel; when it is answered
// elsewhere the message is taken back, and what landed is told where that is wanted.
func TestNotify(t *testing.T) {
	t.Parallel()
	s := newTold(t)
	u := newTeller(t, s)
	u.must(9, "run", "--plan", u.plan(smallPlan))
	s.seen(t, "one message by each channel", func() bool { return len(s.ntfy) == 1 && s.slack == 1 })
	if out := u.must(0, "notify").out; !strings.Contains(out, "sent, still waits for you") || strings.Contains(out, "B0") {
		t.Error(out)
	}
	u.must(0, "cancel")
	serve := u.start("serve")
	s.seen(t, "the message is taken back", func() bool { return len(s.gone) == 1 })
	serve.kill()
	if s.slack != 1 || len(s.ntfy) != 1 {
		t.Errorf("%v %d", s.ntfy, s.slack)
	}
	u.must(0, "notify", "test")
	u.must(0, "config", "set", "notices.phone.url", "http://127.0.0.1:1/topic")
	if a := u.must(10, "notify", "test", "phone"); !strings.Contains(a.out+a.err, "127.0.0.1:1") {
		t.Error(a)
	}
	u.must(3, "notify", "test", "nobody")
}

// TestNotifyKilled: servers are killed at many moments while they tell; in the end there is one message.
func TestNotifyKilled(t *testing.T) {
	t.Parallel()
	s := newTold(t)
	u := newTeller(t, s)
	u.must(0, "config", "set", "notices.phone.rules", "question")
	u.must(0, "config", "set", "notices.team.rules", "question")
	u.must(9, "run", "--plan", u.plan(smallPlan))
	u.must(0, "config", "unset", "notices.phone.rules")
	u.must(0, "config", "unset", "notices.team.rules")
	for n := range 8 {
		p := u.start("serve")
		p.mustSay("http://")
		time.Sleep(time.Duration(n) * 25 * time.Millisecond)
		p.kill()
	}
	p := u.start("serve")
	s.seen(t, "a message", func() bool { return len(s.ntfy) == 1 })
	time.Sleep(time.Second)
	p.kill()
	if len(s.ntfy) != 1 || s.slack > 1 {
		t.Errorf("%v %d", s.ntfy, s.slack)
	}
	if out := u.must(0, "notify").out; s.slack == 0 && !strings.Contains(out, "perhaps delivered") {
		t.Error(out)
	}
}
