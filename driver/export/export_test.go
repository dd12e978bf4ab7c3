package export

import (
	"crypto/rand"
	"testing"
	"time"

	"pawl"
	"pawl/internal/memory"
	"pawl/kernel"
	"pawl/kernel/joined"
)

// TestOwnWriterIsWaitedFor: who writes behind a commit waits for another writer of this process however long that
// takes, and does not report a lock that this process holds itself.
func TestOwnWriterIsWaitedFor(t *testing.T) {
	patience := behind
	behind.All, behind.Halted = 10*time.Millisecond, time.Millisecond
	defer func() { behind = patience }()
	k := kernel.New(joined.Table(), memory.New(), kernel.Defaults(), pawl.ClockFunc(time.Now), rand.Reader)
	x := New(k, t.TempDir(), t.TempDir(), func(err error) { t.Error(err) })
	begun, end, wrote := make(chan bool), make(chan bool), make(chan bool)
	go x.follows(t.Context(), func(m mark, _ int64) ([]pawl.ProjectedFile, mark, error) {
		close(begun)
		<-end
		return nil, m, nil
	})
	<-begun
	go func() {
		defer close(wrote)
		x.follows(t.Context(), func(m mark, _ int64) ([]pawl.ProjectedFile, mark, error) { return nil, m, nil })
	}()
	select {
	case <-wrote:
		t.Error("the second writer did not wait")
	case <-time.After(200 * time.Millisecond):
	}
	close(end)
	<-wrote
}
