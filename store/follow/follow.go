// Package follow does things behind commits and beside the work, so that no command waits for what is only read later.
// Commits that come shortly after each other are followed once.
package follow

import (
	"sync"
	"time"
)

// Follower does something behind commits. It is never at it twice at the same time. It is safe for concurrent use.
type Follower struct {
	do func()

	work sync.Mutex // held while at it
	mu   sync.Mutex
	due  *time.Timer // nil when nothing is due
	at   time.Time   // when due fires
	shut bool
}

// New returns a Follower that calls do, from goroutines of its own and within Close.
func New(do func()) *Follower { return &Follower{do: do} }

// Within sees to it that what was committed until now is followed no later than that. After Close nothing comes of it.
func (f *Follower) Within(d time.Duration) {
	at := time.Now().Add(d)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shut || f.due != nil && (!at.Before(f.at) || !f.due.Stop()) {
		return // the one that is due comes in time, or has just begun to wait for its turn
	}
	f.due, f.at = time.AfterFunc(d, f.follow), at
}

// follow does what is due. A commit that comes meanwhile is due anew.
func (f *Follower) follow() {
	f.work.Lock()
	defer f.work.Unlock()
	f.mu.Lock()
	due := f.due != nil
	f.due = nil
	f.mu.Unlock()
	if due {
		f.do()
	}
}

// Close does what is due and returns when nothing is being done any more.
func (f *Follower) Close() {
	f.mu.Lock()
	f.shut = true
	if f.due != nil {
		f.due.Stop()
	}
	f.mu.Unlock()
	f.follow()
}
