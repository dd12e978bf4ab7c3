package main

import (
	"database/sql/driver"
	"path/filepath"
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
	for range 8 {
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
			for range 60 {
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

	c, err := new(engine.Driver).Open(filepath.Join(u.dir, ".pawl", "pawl.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"DROP TRIGGER audit_no_update", "UPDATE audit SET bytes=CAST(replace(CAST(bytes AS TEXT), 'ada', 'eve') AS BLOB) WHERE idx=1"} {
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
