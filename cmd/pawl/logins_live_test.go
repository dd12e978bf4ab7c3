package main

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var liveLogins = flag.String("logins", "",
	"names of installed agents, with commas, that are driven with a login of their own (scripts/agents.sh)")

// TestLogins_Live drives the real programs, logged in by their own files. The place where Claude Code renews its login
// cannot be moved, so that only Codex is tried with a login that ends.
func TestLogins_Live(t *testing.T) {
	for name := range strings.SplitSeq(*liveLogins, ",") {
		if name == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			begin := func(t *testing.T, life time.Duration) *loggedIn {
				l := logIn(t, name, badSum(), life)
				l.path = installed(t)
				l.must(0, "agent", "add", name, "--yes")
				return l
			}
			t.Run("lands", func(t *testing.T) {
				l := begin(t, 2*time.Hour)
				before := l.kept()
				l.must(0, "run", sumTask, "--agent", name, "--yes")
				l.landed()
				if !bytes.Equal(before, l.kept()) {
					t.Error("the login was changed")
				}
			})
			if name != "codex" {
				return
			}
			t.Run("ends before", func(t *testing.T) {
				l := begin(t, 8*time.Minute)
				l.must(0, "run", sumTask, "--agent", name, "--yes")
				l.landed()
				if l.vendor.Refused() != 0 || len(l.vendor.Renewals()) == 0 {
					t.Errorf("%d calls were refused, renewals %v", l.vendor.Refused(), l.vendor.Renewals())
				}
			})
			t.Run("ends on the way", func(t *testing.T) {
				l := begin(t, 2*time.Hour)
				l.vendor.Drop()
				l.must(0, "run", sumTask, "--agent", name, "--yes")
				l.landed()
				if got := l.vendor.Renewals(); len(got) != 1 || !got[0] {
					t.Errorf("renewals %v", got)
				}
			})
			t.Run("taken back", func(t *testing.T) {
				l := begin(t, 2*time.Hour)
				l.vendor.Revoke()
				a := l.must(8, "run", sumTask, "--agent", name, "--yes")
				if st := l.state("BLOCKED"); st.Attempts != 0 || !strings.Contains(a.out+a.err, "codex login") {
					t.Errorf("%v", a)
				}
			})
			t.Run("killed", func(t *testing.T) {
				l := begin(t, 8*time.Minute)
				seed := uint64(time.Now().UnixNano())
				t.Logf("seed %d", seed)
				l.killed(rand.New(rand.NewPCG(seed, 1)), time.Second)
			})
		})
	}
}
