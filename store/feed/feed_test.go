package feed

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pawl"
	"pawl/kernel/audit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// log is a log in memory whose first records may be retired.
type log struct {
	mu    sync.Mutex
	front int64
	size  int64
	grown func() // between a reading and the question how long the log is
}

func (l *log) Head(context.Context) (audit.Head, error) {
	if l.grown != nil {
		l.grown()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return audit.Head{Size: l.size}, nil
}

func (l *log) Records(ctx context.Context, _ string, first int64) iter.Seq2[audit.Stored, error] {
	return func(yield func(audit.Stored, error) bool) {
		l.mu.Lock()
		from, to := max(first, l.front), l.size
		l.mu.Unlock()
		for i := from; i < to; i++ {
			if ctx.Err() != nil {
				yield(audit.Stored{}, ctx.Err())
				return
			}
			if !yield(audit.Stored{Index: i}, nil) {
				return
			}
		}
	}
}

func (l *log) grow(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.size += n
}

// TestSince: what a cursor stands for is read whole, or it is said from where the log goes on.
func TestSince(t *testing.T) {
	for _, c := range []struct {
		front, size, cursor int64
		want, wrong         string
	}{
		{0, 3, 0, "[0 1 2]", ""}, {0, 3, 2, "[2]", ""}, {0, 3, 3, "[]", ""}, {0, 0, 0, "[]", ""},
		{0, 3, 4, "[]", "[4 3]"}, {5, 8, 0, "[]", "[0 5]"}, {5, 8, 4, "[]", "[4 5]"}, {5, 8, 5, "[5 6 7]", ""},
		{8, 8, 3, "[]", "[3 8]"}, {8, 8, 8, "[]", ""}, {8, 8, 9, "[]", "[9 8]"},
	} {
		f := New(&log{front: c.front, size: c.size}, nil)
		got, wrong := []int64{}, ""
		for rec, err := range f.Since(context.Background(), c.cursor) {
			if err != nil {
				if pawl.CodeOf(err) != pawl.CodeGone {
					t.Error(err)
				}
				wrong = fmt.Sprint(err.(*pawl.Error).Args)
				continue
			}
			got = append(got, rec.Index)
		}
		if fmt.Sprint(got) != c.want || wrong != c.wrong {
			t.Errorf("%+v: read %v, %q", c, got, wrong)
		}
	}
}

// TestSinceWhileItGrows: what is committed after the log was read and before it was asked how long it is, is no gap.
func TestSinceWhileItGrows(t *testing.T) {
	l := &log{}
	l.grown = func() { l.grown = nil; l.grow(2) }
	var got []int64
	for rec, err := range New(l, nil).Since(context.Background(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, rec.Index)
	}
	if !slices.Equal(got, []int64{0, 1}) {
		t.Error(got)
	}
}

// TestFollow: many readers, each at its own pace, read every record once and in order while the log grows, whether this
// process or another one writes; and nothing is looked for while nobody listens.
func TestFollow(t *testing.T) {
	const all = 400
	l := &log{size: 5}
	var watching sync.WaitGroup
	outside := make(chan struct{})
	f := New(l, func(ctx context.Context, every time.Duration, changed func()) error {
		watching.Add(1)
		defer watching.Done()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-outside:
				changed()
			}
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var readers sync.WaitGroup
	for n := range 5 {
		readers.Go(func() {
			want := int64(n)
			for rec, err := range f.Follow(ctx, want) {
				if err != nil || rec.Index != want {
					t.Errorf("reader %d: %d after %d, %v", n, rec.Index, want-1, err)
					return
				}
				if want++; want == all {
					return
				}
				if n > 2 && want%64 == 0 {
					time.Sleep(time.Millisecond) // a slow one
				}
			}
		})
	}
	for n := range int64(all - 5) {
		l.grow(1)
		if n%2 == 0 {
			f.Tell()
			continue
		}
		select {
		case outside <- struct{}{}:
		case <-time.After(time.Second): // every reader may have gone
		}
	}
	readers.Wait()
	watching.Wait()
}

// TestFollowEnds: with the context, whose error is told, and when the loop is broken off.
func TestFollowEnds(t *testing.T) {
	f := New(&log{size: 2}, nil)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var last error
	for rec, err := range f.Follow(ctx, 0) {
		if last = err; err == nil && rec.Index == 1 {
			cancel()
		}
	}
	if last != context.Canceled {
		t.Error(last)
	}
	for range f.Follow(context.Background(), 0) {
		break
	}
	if len(f.listeners) != 0 {
		t.Error("somebody still listens")
	}
}
