package main

import (
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"hash/crc32"
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

// TestVerifyComparesRows: a row that is changed together with its checksum is found, because its state is another one than
// the log's.
func TestVerifyComparesRows(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	u.must(0, "issue", "add", "the first")
	u.must(0, "audit", "verify")
	db, err := sql.Open("sqlite", u.own("pawl.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var kind, id, label, parent string
	var n [8]int64
	var hash []byte
	if err := db.QueryRow(`SELECT kind, id, ifnull(label, ''), ifnull(parent, ''), version, epoch, rank, audit_seq,
		ifnull(due, -9223372036854775808), created, updated, ifnull(doc_sum, -1), audit_hash FROM entity WHERE kind='issue'`).Scan(
		&kind, &id, &label, &parent, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7], &hash); err != nil {
		t.Fatal(err)
	}
	var b []byte
	for _, text := range []string{kind, id, label, parent, "completed"} {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	for _, v := range n {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	sum := int64(crc32.ChecksumIEEE(append(b, hash...)))
	if _, err := db.Exec("UPDATE entity SET state='completed', sum=? WHERE id=?", sum, id); err != nil {
		t.Fatal(err)
	}
	if a := u.pawl("audit", "verify"); a.code != 11 || strings.Contains(a.out, "all good") {
		t.Errorf("a row that was changed with its checksum: %v", a)
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
