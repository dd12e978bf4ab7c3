package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/store/sqlite"
)

// TestIdentity: a store keeps its name, its copies have it, and no other store does.
func TestIdentity(t *testing.T) {
	of := func(path string) (out audit.Log) {
		t.Helper()
		s, err := sqlite.Open(path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Log(t.Context(), func(l audit.Log) error { out = l; return nil }); err != nil {
			t.Fatal(err)
		}
		return out
	}
	path, _ := filled(t)
	first := of(path)
	if first.Identity == "" || first.Unnamed || of(path).Identity != first.Identity {
		t.Errorf("a new store: %+v", first)
	}
	copied := filepath.Join(t.TempDir(), "backup.db")
	s, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), copied); err != nil {
		t.Error(err)
	}
	s.Close()
	if got := of(copied); got.Identity != first.Identity || got.Unnamed {
		t.Errorf("a backup: %+v, the original is %q", got, first.Identity)
	}
	if other, _ := filled(t); of(other).Identity == first.Identity {
		t.Error("two stores have one identity")
	}

	// A store of an older pawl gets one, which nothing that was said of its log before has.
	old, err := os.ReadFile("testdata/upgrade/v3.db")
	if err != nil {
		t.Fatal(err)
	}
	upgraded := filepath.Join(t.TempDir(), "pawl.db")
	if err := os.WriteFile(upgraded, old, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := of(upgraded); got.Identity == "" || !got.Unnamed || of(upgraded).Identity != got.Identity {
		t.Errorf("an upgraded store: %+v", got)
	}

	for _, damage := range []string{"UPDATE meta SET identity='A'||substr(identity,2)||'B'", "DELETE FROM meta"} {
		exec(t, path, damage)
		s, err := sqlite.Open(path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if id, err := kernel.Identity(t.Context(), s); pawl.CodeOf(err) != pawl.CodeStoreDamaged {
			t.Errorf("%s: %q, %v", damage, id, err)
		}
		s.Close()
	}
}
