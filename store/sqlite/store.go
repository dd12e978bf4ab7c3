// Package sqlite keeps pawl's state in one SQLite file, .pawl/pawl.db: the embedded default store, without cgo.
//
// All writing of a process goes through one goroutine with a connection of its own. It takes every batch that is
// waiting into one transaction (BEGIN IMMEDIATE … COMMIT, write-ahead log, synchronous=FULL), so that many callers
// share one fsync, and answers them after the commit. A batch is first checked as a whole against the rows as they are
// (nobody else can change them inside the transaction) and only then written; a batch that does not fit is refused and
// leaves its neighbours alone, without a savepoint. Reading uses a few read-only connections; each reading statement or
// transaction sees every commit that was acknowledged before it began. Several processes may use one file.
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

// limit is the longest that a write waits for its turn and for the lock of other processes (docs/spec/task.md#s4-1).
const limit = 10 * time.Second

// readers is the number of connections that serve Load, Count and Head.
const readers = 4

// Options says how a store is opened. The zero value opens an existing store for reading and writing.
type Options struct {
	// Create makes the store, and its folder with mode 0700, if the file does not exist.
	Create bool
	// ReadOnly refuses every write and works on media that cannot be written, and on a full disk where no process has
	// the store open.
	ReadOnly bool
	// Upgrade brings a store of an older schema up to date although it is opened for reading only, where it can be
	// written.
	Upgrade bool
	// Limit replaces the 10 s that a write may take until it is done or given up; 0 keeps them.
	Limit time.Duration
	// Clock tells when kept answers expire; nil is the system's clock.
	Clock pawl.Clock
}

// Store is a kernel.Store on one SQLite file. It is safe for concurrent use.
type Store struct {
	faults // path is the file
	opts   Options
	// image is what is read instead of the file when the disk is full, nil otherwise; see Open.
	image *image
	// extra is added to the names under which connections are opened; see Open.
	extra string

	// slots bounds the short reads at work: each holds a token. Streams hold none: the body of a loop over one may read
	// again, and must not wait for itself.
	slots chan struct{}
	// idle are the open reading connections that nobody uses, the one used last at the end: its pages and statements
	// are warm, and what no read has asked for is never opened.
	idleMu sync.Mutex
	idle   []*conn

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
		s.slots <- struct{}{}
	}
	for _, c := range s.idle {
		keep(c)
	}
	s.idle = nil
	// Whoever still waits for a token gets one, and learns that the store is closed.
	for range readers {
		<-s.slots
	}
	// The writer's connection goes last: with it goes the write-ahead log, copied into the file.
	if w != nil {
		keep(w.conn)
		w.said.close()
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
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, canceled(ctx, op)
	}
	s.mu.RLock()
	closed := s.closed
	s.mu.RUnlock()
	if closed {
		<-s.slots
		return nil, errClosed(op)
	}
	c, err := s.warm()
	if err != nil {
		<-s.slots
		return nil, s.fault(op, err)
	}
	return c, nil
}

func (s *Store) give(c *conn) {
	s.rest(c)
	<-s.slots
}

// warm takes the connection that was used last, or opens one.
func (s *Store) warm() (*conn, error) {
	s.idleMu.Lock()
	if s.image != nil && !s.image.current(s.path) {
		s.idleMu.Unlock()
		return nil, pawl.Fail(pawl.CodeDiskFull, "store.full_changed", s.path).In("store.read")
	}
	if n := len(s.idle); n > 0 {
		c := s.idle[n-1]
		s.idle = s.idle[:n-1]
		s.idleMu.Unlock()
		return c, nil
	}
	s.idleMu.Unlock()
	return s.connectReader()
}

// rest keeps a connection for the next read, or closes it when there are enough.
func (s *Store) rest(c *conn) {
	s.idleMu.Lock()
	keep := len(s.idle) < readers
	if keep {
		s.idle = append(s.idle, c)
	}
	s.idleMu.Unlock()
	if !keep {
		_ = c.close()
	}
}

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
	c, err := s.warm()
	if err != nil {
		return nil, s.fault(op, err)
	}
	s.tasks.Add(1)
	return c, nil
}

func (s *Store) finish(c *conn) {
	s.rest(c)
	s.tasks.Done()
}

func (s *Store) connectReader() (*conn, error) {
	if s.image != nil {
		return s.image.connect()
	}
	return connect(s.path, readOnly, s.extra, limit)
}
