package notary_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pawl"
	"pawl/internal/memory"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/store/notary"
)

// busy is a store in which somebody commits whenever the head of its log was just read.
type busy struct {
	*memory.Store
	t *testing.T
	n int64
	// signs signs a checkpoint in the middle of reading the log.
	signs *notary.Notary
}

func (b *busy) Head(ctx context.Context) (audit.Head, error) {
	h, err := b.Store.Head(ctx)
	b.grow()
	return h, err
}

func (b *busy) Log(ctx context.Context, read func(audit.Log) error) error {
	return b.Store.Log(ctx, func(l audit.Log) error {
		b.grow()
		if b.signs != nil {
			if _, err := b.signs.Sign(ctx, b.Store); err != nil {
				b.t.Error(err)
			}
		}
		return read(l)
	})
}

// nowhere is asked for the store of a workspace where none is.
func nowhere(string) string { return "" }

// grow commits one record.
func (b *busy) grow() {
	b.t.Helper()
	id, err := pawl.NewIDSource(time.Unix(b.n, 0), rand.Reader).Next()
	if err != nil {
		b.t.Fatal(err)
	}
	b.n++
	w := kernel.Write{Row: kernel.Row{Kind: kernel.KindIssue, ID: string(id), State: "registered", Version: 1}}
	s := audit.Subject{Kind: string(w.Kind), ID: w.ID}
	rec := audit.Seal(audit.Entry{Subject: s, Level: audit.Info, Event: "NOTE", Actor: "system", Data: []byte(`{}`),
		At: time.Unix(b.n, 0)}, 1, audit.Genesis(s))
	w.AuditSeq, w.AuditHash = rec.Seq, rec.Hash
	if _, err := b.Commit(b.t.Context(), kernel.Batch{Writes: []kernel.Write{w},
		Records: []audit.Sealed{rec}}); err != nil {
		b.t.Fatal(err)
	}
}

// TestVerifyBesideWriters: a log that grows while it is verified is good.
func TestVerifyBesideWriters(t *testing.T) {
	b := &busy{Store: memory.New(), t: t}
	n := notary.New(t.TempDir(), "/work", nowhere, rand.Reader)
	b.signs = n
	for range 3 {
		b.grow()
		if _, err := n.Sign(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		report, err := n.Verify(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		if h, _ := b.Store.Head(t.Context()); report.Size == 0 || report.Size > h.Size {
			t.Errorf("%d records were verified, there are %d", report.Size, h.Size)
		}
	}
}

// named is a store with an identity of its own.
type named struct {
	*busy
	id      string
	unnamed bool
}

func (s *named) Log(ctx context.Context, read func(audit.Log) error) error {
	return s.Store.Log(ctx, func(l audit.Log) error {
		l.Identity, l.Unnamed = s.id, s.unnamed
		return read(l)
	})
}

// logOf returns a store with so many records.
func logOf(t *testing.T, id string, size int64) *named {
	s := &named{busy: &busy{Store: memory.New(), t: t}, id: id}
	for range size {
		s.grow()
	}
	return s
}

// TestWhoseCheckpoints: checkpoints hold for the log that they were signed of, wherever its workspace is now, and for
// no other one.
func TestWhoseCheckpoints(t *testing.T) {
	state := t.TempDir()
	stands := map[string]string{}
	in := func(place string) *notary.Notary {
		return notary.New(state, place, func(place string) string { return stands[place] }, rand.Reader)
	}
	sign := func(n *notary.Notary, s kernel.Store) []byte {
		t.Helper()
		text, err := n.Sign(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	verify := func(what string, n *notary.Notary, s kernel.Store, want pawl.Code, notes ...[]byte) {
		t.Helper()
		if _, err := n.Verify(t.Context(), s, notes...); pawl.CodeOf(err) != want {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	earlier := func(what string, s kernel.Store, tell, found, told bool) {
		t.Helper()
		e, was, err := in("/work").Earlier(t.Context(), s, tell)
		if err != nil || (e != nil) != found || was != told || e != nil && e.Size != 5 {
			t.Errorf("%s: %+v, told %v, %v", what, e, was, err)
		}
	}
	first := logOf(t, "FIRST", 5)
	earlier("nothing yet", first, true, false, false)
	text := sign(in("/work"), first)
	verify("as it was", in("/work"), first, "")
	verify("with the note", in("/work"), first, "", text)
	earlier("its own", first, true, false, false)

	// Rolled back, or replaced by an older copy of itself, it is found, in its place and wherever it was moved to.
	verify("rolled back", in("/work"), logOf(t, "FIRST", 3), pawl.CodeAuditBroken)
	verify("moved", in("/moved"), first, "")
	verify("moved and rolled back", in("/moved"), logOf(t, "FIRST", 3), pawl.CodeAuditBroken)

	// A copy beside the original goes on by itself.
	copied := logOf(t, "FIRST", 3)
	stands["/work"], stands["/copy"] = "FIRST", "FIRST"
	sign(in("/copy"), copied)
	verify("the copy", in("/copy"), copied, "")
	verify("the original", in("/work"), first, "")
	verify("the copy rolled back", in("/copy"), logOf(t, "FIRST", 2), pawl.CodeAuditBroken)
	// Where the original was removed, what it was signed at holds for what is left.
	stands["/work"] = ""
	verify("the copy alone", in("/copy"), copied, pawl.CodeAuditBroken)

	// Made anew in the same place it is another log, which is told of once.
	second := logOf(t, "SECOND", 2)
	verify("made anew", in("/work"), second, "")
	verify("with the note of the other", in("/work"), second, pawl.CodeAuditBroken, text)
	earlier("asked about", second, false, true, false)
	earlier("the first time", second, true, true, false)
	earlier("the second time", second, true, true, true)
	sign(in("/work"), second)
	verify("made anew and signed", in("/work"), second, "")
	verify("made anew and rolled back", in("/work"), logOf(t, "SECOND", 1), pawl.CodeAuditBroken)
}

// TestCheckpointsOfAnOlderPawl: those that were filed under the place hold for a log that is older than its identity,
// and for no new one.
func TestCheckpointsOfAnOlderPawl(t *testing.T) {
	state := t.TempDir()
	n := notary.New(state, "/work", nowhere, rand.Reader)
	sum := sha256.Sum256([]byte("/work"))
	place := hex.EncodeToString(sum[:8])
	old := logOf(t, place, 5) // whose name is the place
	if _, err := n.Sign(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(state, "checkpoints", place)
	notes, _ := filepath.Glob(filepath.Join(dir, place, "*.note"))
	if len(notes) != 1 {
		t.Fatal(notes)
	}
	if err := os.Rename(notes[0], filepath.Join(dir, filepath.Base(notes[0]))); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, place)); err != nil {
		t.Fatal(err)
	}
	old.id, old.unnamed = "NEW", true
	if _, err := n.Verify(t.Context(), old); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, filepath.Base(notes[0])))
	if err != nil {
		t.Fatal(err)
	}
	if c, tree, err := n.Anchor(t.Context(), old, text); err != nil || tree.N != 5 || c.Log != "pawl/"+place {
		t.Errorf("%+v, %+v, %v", c, tree, err)
	}
	cut := logOf(t, "NEW", 3)
	cut.unnamed = true
	if _, err := n.Verify(t.Context(), cut); pawl.CodeOf(err) != pawl.CodeAuditBroken {
		t.Errorf("cut short: %v", err)
	}
	if e, _, err := n.Earlier(t.Context(), old, false); err != nil || e != nil {
		t.Errorf("its own checkpoints are another log's: %+v, %v", e, err)
	}
	anew := logOf(t, "ANEW", 1)
	if _, err := n.Verify(t.Context(), anew); err != nil {
		t.Error(err)
	}
	if e, _, err := n.Earlier(t.Context(), anew, false); err != nil || e == nil || e.Size != 5 {
		t.Errorf("made anew: %+v, %v", e, err)
	}
}

// elsewhere holds a key that this process could not read.
type elsewhere struct {
	private ed25519.PrivateKey
	away    bool
}

var errAway = errors.New("the key is away")

func (e *elsewhere) public() ed25519.PublicKey { return e.private.Public().(ed25519.PublicKey) }

func (e *elsewhere) Is(public ed25519.PublicKey) bool { return e.public().Equal(public) }

func (e *elsewhere) Public(context.Context) (ed25519.PublicKey, error) {
	if e.away {
		return nil, errAway
	}
	return e.public(), nil
}

func (e *elsewhere) Sign(_ context.Context, data []byte) ([]byte, error) {
	return ed25519.Sign(e.private, data), nil
}

// TestHeldKey: notes of a key that is held elsewhere are believed while it is away, those that were signed before stay
// true, and those of any other key never are.
func TestHeldKey(t *testing.T) {
	state, b := t.TempDir(), &busy{Store: memory.New(), t: t}
	own := notary.New(state, "/work", nowhere, rand.Reader)
	b.grow()
	before, err := own.Sign(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	with := func(state string) (*notary.Notary, *elsewhere) {
		_, private, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		e, n := &elsewhere{private: private}, notary.New(state, "/work", nowhere, rand.Reader)
		n.Hold(e)
		return n, e
	}
	n, key := with(state)
	b.grow()
	after, err := n.Sign(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	key.away = true
	if _, err := n.Sign(t.Context(), b); !errors.Is(err, errAway) {
		t.Errorf("signed by a key that is away: %v", err)
	}
	for what, text := range map[string][]byte{"before": before, "after": after} {
		c, tree, err := n.Anchor(t.Context(), b, text)
		if err != nil || tree.N == 0 || c.Key == "" {
			t.Errorf("%s: %+v %v", what, c, err)
		}
	}
	if report, err := n.Verify(t.Context(), b); err != nil || report.Size < 2 {
		t.Errorf("%+v %v", report, err)
	}
	if _, _, err := own.Anchor(t.Context(), b, after); err == nil {
		t.Error("believed without the key being named")
	}
	other, _ := with(state)
	if _, _, err := other.Anchor(t.Context(), b, after); err == nil {
		t.Error("another key is named, and this one is believed")
	}
	fresh, held := with(t.TempDir())
	if _, err := fresh.Sign(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	held.away = true
	if _, err := fresh.Verify(t.Context(), b); err != nil {
		t.Errorf("without a key in the user's state: %v", err)
	}
}
