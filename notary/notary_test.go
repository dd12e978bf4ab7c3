package notary_test

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"pawl"
	"pawl/audit"
	"pawl/internal/memory"
	"pawl/kernel"
	"pawl/notary"
)

// busy is a store in which somebody commits whenever the head of its log was just read.
type busy struct {
	*memory.Store
	t *testing.T
	n int64
}

func (b *busy) Head(ctx context.Context) (audit.Head, error) {
	h, err := b.Store.Head(ctx)
	b.grow()
	return h, err
}

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
	rec := audit.Seal(audit.Entry{Subject: s, Level: audit.Info, Event: "NOTE", Actor: "system", Data: []byte(`{}`), At: time.Unix(b.n, 0)}, 1, audit.Genesis(s))
	w.AuditSeq, w.AuditHash = rec.Seq, rec.Hash
	if _, err := b.Commit(b.t.Context(), kernel.Batch{Writes: []kernel.Write{w}, Records: []audit.Sealed{rec}}); err != nil {
		b.t.Fatal(err)
	}
}

// TestVerifyBesideWriters: a log that grows while it is verified is good.
func TestVerifyBesideWriters(t *testing.T) {
	b := &busy{Store: memory.New(), t: t}
	n := notary.New(t.TempDir(), "/work", rand.Reader)
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
