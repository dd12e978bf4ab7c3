//go:build linux

package prove

import (
	"os"
	"slices"
	"testing"

	"pawl/internal/need"
	"pawl/sandbox"
	"pawl/text/message"
)

func TestMain(m *testing.M) {
	sandbox.Child()
	Child()
	os.Exit(m.Run())
}

// Every wall holds in namespaces and under bubblewrap. On the floor the folder of the work is an open book, which is
// told. There is a text for each of both.
func TestWallsAreProved(t *testing.T) {
	need.Program(t, "bwrap")
	for m, open := range map[sandbox.Mechanism][]string{sandbox.MechanismNamespaces: nil, sandbox.MechanismBubblewrap: nil,
		sandbox.MechanismLandlock: {Secrets}} {
		box, err := sandbox.New(sandbox.Options{Mechanism: m})
		if err != nil {
			t.Fatal(err)
		}
		proofs, err := All(t.Context(), box)
		if err != nil || len(proofs) != len(Names) {
			t.Fatalf("%s: %v %v", m, proofs, err)
		}
		for _, p := range proofs {
			if p.Held == slices.Contains(open, p.Name) {
				t.Errorf("%s: %+v", m, p)
			}
			for _, key := range []string{"sandbox.held_" + p.Name, "sandbox.open_" + p.Name} {
				if e, ok := message.Lookup(key); !ok || e.En == "" || e.Zh == "" {
					t.Error(key)
				}
			}
		}
	}
}

// A wall that is not there is noticed: what is open is told, each by its own name.
func TestAMissingWallIsNoticed(t *testing.T) {
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.New(sandbox.Options{Mechanism: sandbox.MechanismNamespaces, Readable: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	proofs, err := All(t.Context(), box)
	for _, p := range proofs {
		if want := p.Name != Home && p.Name != Secrets; err != nil || p.Held != want {
			t.Errorf("%+v %v", p, err)
		}
	}
}
