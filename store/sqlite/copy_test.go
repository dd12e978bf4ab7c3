package sqlite

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"pawl"
	"pawl/kernel"
)

// TestImage reads a store from a copy of its file, as on a full disk, for as long as nobody writes to it.
func TestImage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pawl.db")
	write := func(id string) *Store {
		s, err := Open(path, Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Commit(t.Context(),
			kernel.Batch{Writes: []kernel.Write{{Row: kernel.Row{Kind: kernel.KindTask, ID: id, State: "queued",
				Version: 1, Doc: []byte(`{"title":"x"}`)}}}}); err != nil {
			t.Fatal(err)
		}
		return s
	}
	if err := write("01KA0000000000000000000001").Close(); err != nil {
		t.Fatal(err)
	}
	m, err := imageOf(path)
	if err != nil {
		t.Fatal(err)
	}
	s := &Store{faults: faults{path}, opts: Options{ReadOnly: true}, slots: make(chan struct{}, readers), image: m}
	c, have, err := s.look()
	if err != nil || have != Schema {
		t.Fatal(have, err)
	}
	s.rest(c)
	defer s.Close()
	if n, err := s.Count(t.Context(), kernel.KindTask, ""); err != nil || n["queued"] != 1 {
		t.Errorf("%v: %v", n, err)
	}
	// A copy shares nothing with the next one.
	rows, err := s.Load(t.Context(), kernel.Select{ID: "01KA0000000000000000000001"},
		kernel.Select{Kind: kernel.KindTask})
	if err != nil || len(rows[0]) != 1 || len(rows[1]) != 1 {
		t.Errorf("%v: %v", rows, err)
	}
	if _, err := os.Stat(path + "-shm"); err == nil {
		t.Error("reading wrote an index")
	}
	// Somebody writes: what was copied is no longer what is there, be it in the log or in the file.
	w := write("01KA0000000000000000000002")
	if _, err := s.Count(t.Context(), kernel.KindTask, ""); pawl.CodeOf(err) != pawl.CodeDiskFull {
		t.Errorf("a log beside it: %v", err)
	}
	if _, err := imageOf(path); err == nil {
		t.Error("copied although there is a log")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Count(t.Context(), kernel.KindTask, ""); pawl.CodeOf(err) != pawl.CodeDiskFull {
		t.Errorf("another file: %v", err)
	}
}
