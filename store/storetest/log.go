package storetest

import (
	"errors"
	"testing"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
)

// testLog reads the log at one moment while others write: before its records are read, between them, and after.
func testLog(t *testing.T, backend Backend) {
	place := backend.Place(t)
	b := open(t, backend, place)
	x := b.row(kernel.KindTask, "draft")
	b.commit(insert(x))
	for range 3 {
		b.commit(move(b.get(x.ID), "draft"))
	}
	other := open(t, backend, place)
	var identity string
	for _, s := range []*bench{b, other} {
		was := b.head()
		err := s.Log(t.Context(), func(l audit.Log) error {
			identity = l.Identity
			other.commit(move(other.get(x.ID), "draft"))
			n := int64(0)
			for _, err := range l.Records {
				if err != nil {
					t.Fatal(err)
				}
				if n++; n == 2 {
					b.commit(move(b.get(x.ID), "draft"))
				}
			}
			if n != was.Size || l.Head.Size != was.Size || l.Head.Root != was.Root {
				t.Errorf("the log at one moment has %d records, its head says %d; there were %d", n, l.Head.Size,
					was.Size)
			}
			report, err := l.Verify(was.Tree())
			if err != nil || report.Size != was.Size {
				t.Errorf("a log of %d records beside writers: %d, %v", was.Size, report.Size, err)
			}
			if l.Unnamed {
				t.Error("the log is older than the store")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if now := b.head(); now.Size != was.Size+2 {
			t.Errorf("%d records after two more were added to %d", now.Size, was.Size)
		}
	}
	b.verify()

	// Whoever reads may break off, and what they say is what the caller hears.
	odd := errors.New("odd")
	err := b.Log(t.Context(), func(l audit.Log) error {
		for range l.Records {
			break
		}
		return odd
	})
	if err != odd {
		t.Errorf("the error of a reader came back as %v", err)
	}

	testIdentity(t, backend, b, other, identity)
}

// testIdentity asks for the name of a store that is open twice, of another one, and of one that is closed.
func testIdentity(t *testing.T, backend Backend, b, other *bench, identity string) {
	for name, s := range map[string]kernel.Store{"reopened": other, "elsewhere": fresh(t, backend)} {
		id, err := kernel.Identity(t.Context(), s)
		if err != nil || id == "" || (id == identity) != (name == "reopened") {
			t.Errorf("%s: identity %q, the first one has %q: %v", name, id, identity, err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := kernel.Identity(t.Context(), b); pawl.CodeOf(err) != pawl.CodeCanceled {
		t.Errorf("the identity of a closed store: %v", err)
	}
}
