package sqlite_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/store/sqlite"
)

// Documents go from any length to any other, are kept and are taken away, whether the writer remembers the row or has
// to read it first, and nothing of an old one stays behind.
func TestDocumentsOfAllLengths(t *testing.T) {
	lengths := []int{0, 1, 1699, 1700, 1701, 5000, 200_000}
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprintf("read again %t", again), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pawl.db")
			s := open(t, path)
			defer func() { s.Close() }()
			src := pawl.NewIDSource(time.Now(), constant{})
			row := kernel.Row{Kind: kernel.KindSetting, ID: next(t, src)}
			write := func(doc []byte, keep bool) {
				t.Helper()
				w := kernel.Write{Row: row, From: row.Version, KeepDoc: keep}
				w.Version++
				w.Doc = doc
				want := doc
				if keep {
					want, w.Doc = row.Doc, []byte("ignored")
				}
				if again {
					s.Close()
					s = open(t, path)
				}
				if _, err := s.Commit(t.Context(), kernel.Batch{Writes: []kernel.Write{w}}); err != nil {
					t.Fatal(err)
				}
				rows, err := s.Load(t.Context(), kernel.Select{ID: row.ID})
				if err != nil {
					t.Fatalf("%d bytes after %d, kept %t: %v", len(doc), len(row.Doc), keep, err)
				}
				if row = rows[0][0]; !bytes.Equal(row.Doc, want) {
					t.Fatalf("%d bytes came back as %d", len(want), len(row.Doc))
				}
			}
			write(nil, true)
			for _, from := range lengths {
				for _, to := range lengths {
					write(bytes.Repeat([]byte("a"), from), false)
					write(nil, true)
					write(bytes.Repeat([]byte("b"), to), false)
				}
			}
			write(nil, true)
			write([]byte("short"), false)
			if _, err := s.Check(t.Context(), nil); err != nil {
				t.Error(err)
			}
			s.Close()
			if n := number(t, path, "SELECT count(*) FROM long_doc"); n != 0 {
				t.Errorf("%d long documents of one short one", n)
			}
			s = open(t, path)
			write(bytes.Repeat([]byte("c"), 5000), false)
			s.Close()
			exec(t, path, "UPDATE long_doc SET body=x'7b7d'")
			s = open(t, path)
			if _, err := s.Load(t.Context(), kernel.Select{ID: row.ID}); pawl.CodeOf(err) != pawl.CodeStoreDamaged {
				t.Errorf("another document: %v", err)
			}
		})
	}
}

// A transaction's records come into the log whole and in order, however many they are.
func TestRecordsOfManyLengths(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "pawl.db"))
	defer s.Close()
	src := pawl.NewIDSource(time.Now(), constant{})
	total := int64(0)
	for n := range 44 {
		var b kernel.Batch
		for i := range 3 {
			row := kernel.Row{Kind: kernel.KindTask, ID: next(t, src), State: "queued", Version: 1}
			subject := audit.Subject{Kind: string(row.Kind), ID: row.ID}
			row.AuditHash = audit.Genesis(subject)
			for range (n + i) / 3 {
				rec := audit.Seal(audit.Entry{Subject: subject, Level: audit.Info, Event: "TASK_NOTE",
					Actor: "user:test", At: time.Now()},
					row.AuditSeq+1, row.AuditHash)
				row.AuditSeq, row.AuditHash = rec.Seq, rec.Hash
				b.Records = append(b.Records, rec)
			}
			if row.AuditSeq == 0 {
				row.AuditHash = audit.Hash{}
			}
			b.Writes = append(b.Writes, kernel.Write{Row: row})
		}
		done, err := s.Commit(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		total += int64(len(b.Records))
		if done.Size != total {
			t.Errorf("%d records: size %d, want %d", len(b.Records), done.Size, total)
		}
		i := 0
		for rec, err := range s.Records(t.Context(), "", done.First) {
			if err != nil || rec.Subject != b.Records[i].Subject || !bytes.Equal(rec.Bytes, b.Records[i].Bytes) {
				t.Fatalf("record %d of %d: %v, %v", i, len(b.Records), rec.Subject, err)
			}
			i++
		}
		for _, w := range b.Writes {
			own := int64(0)
			for _, err := range s.Records(t.Context(), "task:"+w.ID, 0) {
				if own++; err != nil {
					t.Fatal(err)
				}
			}
			if own != w.AuditSeq {
				t.Errorf("%d records along the chain, want %d", own, w.AuditSeq)
			}
		}
	}
	if report, err := s.Check(t.Context(), nil); err != nil || report.Size != total {
		t.Errorf("%+v, %v", report, err)
	}
}

func open(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
