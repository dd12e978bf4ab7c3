package sqlite

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	lib "modernc.org/sqlite/lib"

	"pawl"
	"pawl/kernel"
)

// maxGroup bounds the batches of one transaction, and with it how long the first of them waits for the last.
const maxGroup = 512

// enough is the number of waiting batches that are not kept waiting for more.
const enough = 48

// request is a batch on its way through the writer.
type request struct {
	batch *kernel.Batch
	plan  plan
	until time.Time
	state atomic.Int32
	reply chan answer
}

// The states of a request: who takes it out of waiting, the writer or a caller who gives up, takes it for good.
const (
	waiting int32 = iota
	taken
	dropped
)

type answer struct {
	committed kernel.Committed
	err       error
}

// Commit implements kernel.Store. The batch must not be changed until Commit returns, and not after it returned
// outcome_unknown either.
func (s *Store) Commit(ctx context.Context, b kernel.Batch) (kernel.Committed, error) {
	if s.opts.ReadOnly {
		return kernel.Committed{}, pawl.Fail(pawl.CodeReadOnly, "store.readonly", s.path).In("store.commit")
	}
	r := &request{batch: &b, reply: make(chan answer, 1), until: time.Now().Add(s.opts.limit())}
	if err := r.plan.check(&b); err != nil {
		return kernel.Committed{}, err
	}
	timer := time.NewTimer(s.opts.limit())
	defer timer.Stop()
	if err := s.submit(ctx, r, timer.C); err != nil {
		return kernel.Committed{}, err
	}
	select {
	case a := <-r.reply:
		return a.committed, a.err
	case <-ctx.Done():
		return r.abandon(func() error { return canceled(ctx, "commit") })
	case <-timer.C:
		return r.abandon(func() error { return lateFault(s.faults, "commit") })
	}
}

// settling is how long a request is waited for that its caller gave up while it was being written. It is then a matter
// of one flush, unless the disk hangs.
const settling = 2 * time.Second

// abandon gives a request up for the reason given. If the writer has already begun with it, its end is waited for, for
// a moment; after that nobody can tell how it ends.
func (r *request) abandon(reason func() error) (kernel.Committed, error) {
	if r.state.CompareAndSwap(waiting, dropped) {
		return kernel.Committed{}, reason()
	}
	timer := time.NewTimer(settling)
	defer timer.Stop()
	select {
	case a := <-r.reply:
		return a.committed, a.err
	case <-timer.C:
		return kernel.Committed{}, pawl.Fail(pawl.CodeOutcomeUnknown,
			"store.unknown").In("store.commit").Because(reason())
	}
}

// submit hands a request to the writer, which is started by the first one.
func (s *Store) submit(ctx context.Context, r *request, late <-chan time.Time) error {
	if ctx.Err() != nil {
		return canceled(ctx, "commit")
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return errClosed("commit")
	}
	s.start.Do(func() {
		s.writer = &writer{store: s, in: make(chan *request, maxGroup)}
		s.tasks.Add(1)
		go func() {
			defer s.tasks.Done()
			s.writer.run()
		}()
	})
	select {
	case s.writer.in <- r:
		return nil
	case <-ctx.Done():
		return canceled(ctx, "commit")
	case <-late:
		return lateFault(s.faults, "commit")
	}
}

func (o Options) limit() time.Duration {
	if o.Limit > 0 {
		return o.Limit
	}
	return limit
}

func (o Options) now() time.Time {
	if o.Clock != nil {
		return o.Clock.Now()
	}
	return time.Now()
}

// writer is the one goroutine that writes.
type writer struct {
	store *Store
	in    chan *request
	conn  *conn
	st    statements
	// broken is set once the outcome of a commit on disk is unknown; from then on nothing is written.
	broken error
	group  []*request
	live   []*request
	tx     tx
	// said is the witness of what was committed.
	said witness
}

func (w *writer) run() {
	for r := range w.in {
		w.group = append(w.group[:0], r)
		// Callers who were answered a moment ago may be about to come back: they get their turn before the flush
		// begins, which makes groups a third larger. Where nobody is, this takes no time. Where many wait already, the
		// flush is shared widely enough, and the others had better work while this group is written.
		if len(w.in) < enough {
			runtime.Gosched()
		}
		w.gather()
		w.commit()
		clear(w.group)
		clear(w.live)
	}
}

// gather adds what is waiting, without waiting for more: while one transaction is written, the next group collects
// itself.
func (w *writer) gather() {
	for len(w.group) < maxGroup {
		select {
		case r, open := <-w.in:
			if !open {
				return
			}
			w.group = append(w.group, r)
		default:
			return
		}
	}
}

// commit carries the group out and answers every request in it.
func (w *writer) commit() {
	err := w.begin()
	if err == nil {
		w.gather()
		w.take()
		err = w.apply(w.live)
		if err != nil && len(w.live) > 1 && !w.lost(err) {
			// One of the group cannot be written (a document too large for the disk, say). The others need not suffer.
			w.oneByOne()
			return
		}
		w.reply(w.live, err)
		return
	}
	w.take()
	w.reply(w.live, err)
}

// take makes the group's requests the writer's own. Those whose caller gave up in the meantime are left out.
func (w *writer) take() {
	w.live = w.live[:0]
	for _, r := range w.group {
		if r.state.CompareAndSwap(waiting, taken) {
			w.live = append(w.live, r)
		}
	}
}

func (w *writer) oneByOne() {
	for i := range w.live {
		one := w.live[i : i+1]
		err := w.begin()
		if err == nil {
			err = w.apply(one)
		}
		w.reply(one, err)
	}
}

// lost reports whether an error leaves it open what is on disk.
func (w *writer) lost(err error) bool {
	return w.broken != nil || pawl.CodeOf(err) == pawl.CodeOutcomeUnknown
}

// reply answers requests: with the error if there is one, else each with its own outcome.
func (w *writer) reply(requests []*request, err error) {
	err = w.store.fault("commit", err)
	for _, r := range requests {
		if err != nil {
			r.reply <- answer{err: err}
		} else {
			r.reply <- r.plan.outcome
		}
	}
}

// begin opens the transaction, waiting for other processes as long as any request of the group still wants it.
func (w *writer) begin() error {
	if w.broken != nil {
		return pawl.Fail(pawl.CodeIO, "store.halted", w.store.path).In("store.commit").Because(w.broken)
	}
	pause := 200 * time.Microsecond
	for {
		err := w.connect()
		if err == nil {
			_, err = w.st.begin.exec()
		}
		if err == nil || !locked(err) {
			return err
		}
		if !w.wanted() {
			return err
		}
		// Jitter keeps processes that wait for the same lock from asking in step.
		time.Sleep(pause/2 + rand.N(pause))
		pause = min(2*pause, 4*time.Millisecond)
	}
}

// wanted reports whether a request of the group is still waited for and within its time.
func (w *writer) wanted() bool {
	now := time.Now()
	for _, r := range w.group {
		if r.state.Load() != dropped && now.Before(r.until) {
			return true
		}
	}
	return false
}

// connect opens the writing connection on first use: reading commands never pay for it.
func (w *writer) connect() error {
	if w.conn != nil {
		return nil
	}
	c, err := connect(w.store.path, readWrite, w.store.extra+"&_synchronous=FULL", 0)
	if err != nil {
		return err
	}
	// Many writers change the same pages over and over: 32 MB of them are copied back at a time, and as many stay in
	// memory. What a statement for many rows would have to take back, were the last of them refused, is kept in memory,
	// not in a file.
	tuned := errors.Join(c.run("PRAGMA wal_autocheckpoint=8000"), c.run("PRAGMA cache_size=-32768"),
		c.run("PRAGMA journal_size_limit=67108864"), c.run("PRAGMA temp_store=MEMORY"))
	if err := errors.Join(tuned, w.st.prepare(c)); err != nil {
		_ = c.close()
		return err
	}
	w.conn = c
	return nil
}

// apply writes the requests' batches and commits. Each request's outcome is in its plan afterwards; an error concerns
// all of them, and then nothing is written.
func (w *writer) apply(requests []*request) error {
	if len(requests) == 0 {
		return w.rollback(nil)
	}
	if err := w.tx.open(&w.st, w.store.opts.now()); err != nil {
		return w.rollback(err)
	}
	if w.tx.schema > Schema { // somebody brought it to a newer form while it was open here
		return w.rollback(pawl.Fail(pawl.CodeStoreNewer, "store.newer", w.store.path, w.tx.schema, Schema).In("store.commit"))
	}
	for _, r := range requests {
		r.plan.outcome = answer{}
		committed, err := w.tx.batch(r.batch, &r.plan)
		var refused *pawl.Error
		if err != nil && !errors.As(err, &refused) {
			return w.rollback(err)
		}
		r.plan.outcome = answer{committed, err}
	}
	if !w.tx.dirty {
		return w.rollback(nil)
	}
	if err := w.tx.close(); err != nil {
		return w.rollback(err)
	}
	if _, err := w.st.commit.exec(); err != nil {
		return w.rollback(w.afterCommit(err))
	}
	return w.attest(requests)
}

// attest has the witness say what was committed. What was asked to be attested and could not be may be lost again
// without a word, and so its outcome is not known.
func (w *writer) attest(requests []*request) error {
	flush := slices.ContainsFunc(requests, func(r *request) bool { return r.batch.Attest && r.plan.outcome.err == nil })
	if len(w.tx.leaves) == 0 {
		return nil
	}
	err := w.said.attest(w.conn, w.store.path, w.tx.head.Size, w.tx.leaves[len(w.tx.leaves)-1], flush)
	if err == nil || !flush {
		return nil
	}
	return pawl.Fail(pawl.CodeOutcomeUnknown, "store.unknown").In("store.commit").Because(err)
}

// afterCommit judges a failed COMMIT. A full disk, a lock or a read-only file stops it before the log's commit mark is
// on disk. After any other failure, a failed fsync above all, the mark may or may not survive a crash: the callers are
// told just that, and this connection writes no more, because pages that the system dropped would pass for written.
func (w *writer) afterCommit(err error) error {
	switch resultCode(err) & 0xff {
	case lib.SQLITE_FULL, lib.SQLITE_READONLY, lib.SQLITE_CONSTRAINT, lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return err
	}
	w.broken = err
	return pawl.Fail(pawl.CodeOutcomeUnknown, "store.unknown").In("store.commit").Because(err)
}

// rollback ends the transaction without writing and passes the reason on.
func (w *writer) rollback(reason error) error {
	if reason != nil {
		w.tx.forget()
	}
	if _, err := w.st.rollback.exec(); err != nil && reason == nil {
		return err
	}
	return reason
}
