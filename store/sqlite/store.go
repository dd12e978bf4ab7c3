// Package sqlite keeps pawl's state in one SQLite file, .pawl/pawl.db: the embedded default store, without cgo.
//
// All writing of a process goes through one goroutine with a connection of its own. It takes every batch that is waiting
// into one transaction (BEGIN IMMEDIATE … COMMIT, write-ahead log, synchronous=FULL), so that many callers share one
// fsync, and answers them after the commit. A batch is first checked as a whole against the rows as they are (nobody else
// can change them inside the transaction) and only then written; a batch that does not fit is refused and leaves its
// neighbours alone, without a savepoint. Reading uses a few read-only connections; each reading statement or transaction
// sees every commit that was acknowledged before it began. Several processes may use one file.
//
// docs/store.md tells what was measured and why the tables are as they are.
package sqlite

import (
	"context"
	"sync"
	"time"

	"pawl"
	"pawl/kernel"
)

var _ kernel.Store = (*Store)(nil)

// limit is the longest that a write waits for its turn and for the lock of other processes (seed 003 §4.1).
const limit = 10 * time.Second

// readers is the number of connections that serve Load, Count and Head.
const readers = 4

// Options says how a store is opened. The zero value opens an existing store for reading and writing.
type Options struct {
	// Create makes the store, and its folder with mode 0700, if the file does not exist.
	Create bool
	// ReadOnly refuses every write and works on media that cannot be written.
	ReadOnly bool
	// Limit replaces the 10 s that a write may take until it is done or given up; 0 keeps them.
	Limit time.Duration
	// Clock tells when kept answers expire; nil is the system's clock.
	Clock pawl.Clock
}

// Store is a kernel.Store on one SQLite file. It is safe for concurrent use.
type Store struct {
	path string
	opts Options
	// extra is added to the names under which connections are opened; see Open.
	extra string

	// slots holds one token per reading connection; a token is nil until its connection is needed.
	slots chan *conn
	// spare are connections of finished streams. Streams have connections of their own: the body of a loop over one may
	// read again, and must not wait for itself.
	spare chan *conn

	mu     sync.RWMutex // guards closed and the hand-over to the writer
	closed bool
	writer *writer
	start  sync.Once
	tasks  sync.WaitGroup // streams and the writer
}

// Path returns the file that the store was opened with.
func (s *Store) Path() string { return s.path }

// Close waits for running commits and reads and releases the store. Commits and reads that come later are refused. It
// must not be called from inside a loop over Scan or Records.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	w := s.writer
	if w != nil {
		close(w.in)
	}
	s.mu.Unlock()
	s.tasks.Wait()
	var first error
	keep := func(c *conn) {
		if c == nil {
			return
		}
		if err := c.close(); err != nil && first == nil {
			first = err
		}
	}
	for range readers {
		keep(<-s.slots)
	}
	// Whoever still waits for a connection gets a token, and learns that the store is closed.
	for range readers {
		s.slots <- nil
	}
	for len(s.spare) > 0 {
		keep(<-s.spare)
	}
	// The writer's connection goes last: with it goes the write-ahead log, copied into the file.
	if w != nil {
		keep(w.conn)
	}
	return s.fault("close", first)
}

func errClosed(op string) error {
	return pawl.Fail(pawl.CodeCanceled, "store.closed").In("store." + op)
}

// reader takes a connection for a short read; give returns it.
func (s *Store) reader(ctx context.Context, op string) (*conn, error) {
	if ctx.Err() != nil {
		return nil, canceled(ctx, op)
	}
	var c *conn
	select {
	case c = <-s.slots:
	default:
		select {
		case c = <-s.slots:
		case <-ctx.Done():
			return nil, canceled(ctx, op)
		}
	}
	s.mu.RLock()
	closed := s.closed
	s.mu.RUnlock()
	if closed {
		s.slots <- c
		return nil, errClosed(op)
	}
	if c == nil {
		var err error
		if c, err = s.connectReader(); err != nil {
			s.slots <- nil
			return nil, s.fault(op, err)
		}
	}
	return c, nil
}

func (s *Store) give(c *conn) { s.slots <- c }

// stream takes a connection for a loop of unknown length; finish returns it.
func (s *Store) stream(ctx context.Context, op string) (*conn, error) {
	if ctx.Err() != nil {
		return nil, canceled(ctx, op)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, errClosed(op)
	}
	select {
	case c := <-s.spare:
		s.tasks.Add(1)
		return c, nil
	default:
	}
	c, err := s.connectReader()
	if err != nil {
		return nil, s.fault(op, err)
	}
	s.tasks.Add(1)
	return c, nil
}

func (s *Store) finish(c *conn) {
	select {
	case s.spare <- c:
	default:
		_ = c.close()
	}
	s.tasks.Done()
}

func (s *Store) connectReader() (*conn, error) { return connect(s.path, readOnly, s.extra, limit) }
