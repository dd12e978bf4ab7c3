package main

import (
	"database/sql/driver"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	engine "modernc.org/sqlite"
)

// TestVerifyWhileOthersWrite: the log is good, whoever is adding to it, and a damaged one is found all the same.
func TestVerifyWhileOthersWrite(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	u.must(0, "issue", "add", "the first")
	var writers, readers sync.WaitGroup
	var over atomic.Bool
	for range 4 {
		writers.Go(func() {
			for !over.Load() {
				if a := u.pawl("issue", "add", "one more"); a.code != 0 {
					t.Errorf("a writer: %v", a)
					return
				}
			}
		})
	}
	for range 4 {
		readers.Go(func() {
			for range 10 {
				if a := u.pawl("audit", "verify"); a.code != 0 {
					t.Errorf("beside writers: %v", a)
					return
				}
			}
		})
	}
	readers.Wait()
	over.Store(true)
	writers.Wait()
	u.must(0, "audit", "verify")

	c, err := new(engine.Driver).Open(u.own("pawl.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"DROP TRIGGER audit_no_update",
		"UPDATE audit SET bytes=CAST(replace(CAST(bytes AS TEXT), 'ada', 'eve') AS BLOB) WHERE idx=1"} {
		if _, err := c.(driver.ExecerContext).ExecContext(t.Context(), s, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if a := u.pawl("audit", "verify"); a.code != 11 {
		t.Errorf("a record that was altered: %v", a)
	}
}

// TestMadeAnew: a workspace that was made anew in the same place has a log of its own, which is told once; an older
// copy of the store in its place is found.
func TestMadeAnew(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	u.must(0, "init")
	early := filepath.Join(t.TempDir(), "early.db")
	u.must(0, "export", "--backup", early)
	u.must(0, "run", "--plan", u.planFile("p", partPlan(1, "", "", false)), "--yes")
	u.must(0, "audit", "verify")
	dir := u.own()
	replace := func() {
		t.Helper()
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	replace()
	const anew = "is another one"
	if a := u.must(0, "init"); strings.Count(a.err, anew) != 1 {
		t.Errorf("making it anew: %v", a)
	}
	for range 2 {
		if a := u.must(0, "audit", "verify"); strings.Contains(a.err, anew) {
			t.Errorf("told again: %v", a)
		}
	}
	if got := decode[struct {
		Earlier *struct{ Records int64 }
	}](u, "audit", "verify"); got.Earlier == nil || got.Earlier.Records == 0 {
		t.Errorf("for a program: %+v", got)
	}

	replace()
	raw, err := os.ReadFile(early)
	if err != nil {
		t.Fatal(err)
	}
	u.setOwn("pawl.db", string(raw))
	if a := u.pawl("audit", "verify"); a.code != 11 {
		t.Errorf("an older copy of the first store: %v", a)
	}
}
