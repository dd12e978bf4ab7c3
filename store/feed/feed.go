// Package feed follows the audit log of a workspace as it grows. The log is the stream and an index in it the cursor: a
// reader is told that something was committed, by whichever process, and reads from its own cursor at its own pace.
// Nothing is kept for a slow reader, dropped for it or told to it twice, and a reader that comes back after a restart
// goes on where it was.
package feed

import (
	"context"
	"iter"
	"sync"
	"time"

	"pawl"
	"pawl/kernel/audit"
)

// every is how often it is looked for commits of other processes while somebody listens and there are any. One look
// takes some 10 µs.
const every = 5 * time.Millisecond

// Log is the log that is followed.
type Log interface {
	Records(ctx context.Context, subject string, first int64) iter.Seq2[audit.Stored, error]
	Head(ctx context.Context) (audit.Head, error)
}

// Watch calls changed after commits of whichever process, looking so often, until ctx ends.
type Watch func(ctx context.Context, every time.Duration, changed func()) error

// Feed tells of what is committed to a log. It is safe for concurrent use.
type Feed struct {
	log   Log
	watch Watch

	mu        sync.Mutex
	listeners map[*Listener]bool
	stop      context.CancelFunc // ends the watch, nil while there is none
	watched   chan struct{}      // closed when the watch has ended
}

// New returns a feed of a log. Watch looks for the commits of other processes; nil where no other process writes.
func New(log Log, watch Watch) *Feed {
	return &Feed{log: log, watch: watch, listeners: map[*Listener]bool{}}
}

// Listener hears of commits. Several commits while it was not looking are told once.
type Listener struct {
	// C holds a value when something was committed since it was received from last.
	C <-chan struct{}

	of   *Feed
	told chan struct{}
}

// Listen has a listener told of every commit until it is closed. Whoever listens first and reads then misses nothing.
func (f *Feed) Listen() *Listener {
	told := make(chan struct{}, 1)
	l := &Listener{C: told, of: f, told: told}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listeners[l] = true
	if f.stop == nil && f.watch != nil {
		ctx, stop := context.WithCancel(context.Background())
		watched := make(chan struct{})
		f.stop, f.watched = stop, watched
		go func() {
			defer close(watched)
			// Where nobody can look, what this process commits is told all the same.
			_ = f.watch(ctx, every, f.Tell)
		}()
	}
	return l
}

// Close ends the listening.
func (l *Listener) Close() {
	f := l.of
	f.mu.Lock()
	delete(f.listeners, l)
	stop, watched := f.stop, f.watched
	if len(f.listeners) > 0 || stop == nil {
		f.mu.Unlock()
		return
	}
	f.stop = nil
	f.mu.Unlock()
	stop()
	<-watched
}

// Tell says that something was committed. This process calls it after its own commits, so that these are told at once.
func (f *Feed) Tell() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for l := range f.listeners {
		select {
		case l.told <- struct{}{}:
		default: // it knows already that it has to look
		}
	}
}

// Since streams what the log holds from a cursor on, without waiting for more. A cursor beyond the end of the log,
// which belongs to another log, and one before its front, whose records were retired, are CodeGone, and the error says
// from where the log goes on.
func (f *Feed) Since(ctx context.Context, cursor int64) iter.Seq2[audit.Stored, error] {
	return func(yield func(audit.Stored, error) bool) {
		next := cursor
		for range 2 { // what is committed between the first reading and the question how long the log is comes second
			for rec, err := range f.log.Records(ctx, "", next) {
				if err == nil && rec.Index != next {
					err = pawl.Fail(pawl.CodeGone, "feed.retired", next, rec.Index)
				}
				if !yield(rec, err) || err != nil {
					return
				}
				next++
			}
			if next > cursor {
				return
			}
			head, err := f.log.Head(ctx)
			if err == nil && head.Size < cursor {
				err = pawl.Fail(pawl.CodeGone, "feed.beyond", cursor, head.Size)
			}
			if err != nil {
				yield(audit.Stored{}, err)
			}
			if err != nil || head.Size == cursor {
				return
			}
		}
		head, err := f.log.Head(ctx)
		if err == nil {
			err = pawl.Fail(pawl.CodeGone, "feed.retired", cursor, head.Size)
		}
		yield(audit.Stored{}, err)
	}
}

// Follow streams the log from a cursor on, and then what is committed, until ctx ends, whose error is the last thing
// that it yields. Errors are those of Since.
func (f *Feed) Follow(ctx context.Context, cursor int64) iter.Seq2[audit.Stored, error] {
	return func(yield func(audit.Stored, error) bool) {
		l := f.Listen()
		defer l.Close()
		for {
			for rec, err := range f.Since(ctx, cursor) {
				if !yield(rec, err) || err != nil {
					return
				}
				cursor = rec.Index + 1
			}
			select {
			case <-ctx.Done():
				yield(audit.Stored{}, ctx.Err())
				return
			case <-l.C:
			}
		}
	}
}
