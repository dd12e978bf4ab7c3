package sqlite

import (
	"context"
	"time"
)

// Whoever watches looks often only while somebody commits: to wake up costs more than the look. When nobody has for
// some time, it has the system ring at the next write to the write-ahead log. That comes before what is written can be
// seen, so it is looked for often again from then on. Now and then it is looked all the same, should the system not
// ring.
const (
	dozing  = time.Second
	resting = 250 * time.Millisecond
	// dozes is how much less often it is looked then where the system does not ring at all.
	dozes = 5
)

// Watching returns what calls changed when somebody, in whichever process, has committed since it looked last, which it
// does so often while there are commits, until ctx ends. It is to end before the store is closed.
func Watching(s *Store) func(ctx context.Context, every time.Duration, changed func()) error {
	return func(ctx context.Context, every time.Duration, changed func()) error {
		return watch(ctx, s, pace{every, dozing, resting}, changed)
	}
}

// pace is how often it is looked while there are commits, for how long without any that is so, and how often then.
type pace struct{ every, dozing, resting time.Duration }

func watch(ctx context.Context, s *Store, p pace, changed func()) error {
	c, err := s.stream(ctx, "watch")
	if err != nil {
		return err
	}
	defer s.finish(c)
	q, err := c.prepare("PRAGMA data_version") // changes with the commits of all other connections
	if err != nil {
		return s.fault("watch", err)
	}
	log := newBell(s.path + "-wal")
	defer log.close()
	pause := time.NewTimer(p.every)
	defer pause.Stop()
	set, busy := false, time.Now()
	for seen := int64(0); ; {
		if _, err := q.one(); err != nil {
			return s.fault("watch", err)
		}
		if now := q.int(0); now != seen {
			seen, busy = now, time.Now()
			changed() // the first time for what was committed before anybody looked
		}
		wait := p.every
		switch {
		case time.Since(busy) < p.dozing:
			set = false
		case set:
			wait = p.resting
		default:
			if set = log.set(); set {
				continue // what was committed before that rings nothing
			}
			wait = dozes * p.every
		}
		pause.Reset(wait)
		select {
		case <-ctx.Done():
			return nil
		case <-log.rings():
			set, busy = false, time.Now()
		case <-pause.C:
		}
	}
}
