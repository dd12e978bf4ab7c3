// Package lockfile locks files among processes and says who holds a lock. A lock ends with its holder however that
// dies, but a holder that is stopped or frozen keeps it; so whoever waits has a limit, and learns which process to let
// go on or to end.
//
// On Linux the system itself says who holds a lock. The content of the file says it too, for people and for other
// systems; it decides nothing.
package lockfile

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"pawl"
)

// Lock is an exclusive lock on a file. It ends with Release, and with the process however that dies. Keep it reachable
// while it is needed: a forgotten one is collected, and with it the lock.
type Lock struct{ file *os.File }

// Try takes the lock of a file, which is made where it is missing, or returns nil where somebody else holds it. Two
// openings within one process are strangers to each other, too.
func Try(path string) (*Lock, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o600)
		if err != nil {
			return nil, fault(err, path)
		}
		info, err := f.Stat()
		if err != nil || !info.Mode().IsRegular() {
			_ = f.Close()
			return nil, fault(cmp.Or(err, error(syscall.ELOOP)), path)
		}
		got, err := TryFile(f)
		if err == nil && got && isAt(f, path) {
			if links(info) == 1 { // nothing is written over a file that has another name, as in a copy by hard links
				announce(f)
			}
			return &Lock{f}, nil
		}
		_ = f.Close()
		if err != nil {
			return nil, fault(err, path)
		}
		if !got {
			return nil, nil
		}
		// Whoever held the lock has removed the file; the next one of that name is the lock now.
	}
}

// isAt reports whether an open file is the one that a path names.
func isAt(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(open, named)
}

// Held reports whether somebody holds the lock of a file. Where the file is missing nobody does. Those who ask share
// the lock for an instant, so that they do not take each other for its holder.
func Held(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR|noFollow, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	got, err := ShareFile(f)
	return err == nil && !got
}

// File is the open file. Whoever inherits it shares the lock.
func (l *Lock) File() *os.File { return l.file }

// Release gives the lock up. The file stays: removing it would let two processes lock two files of the same name.
func (l *Lock) Release() error {
	if l == nil || l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// Remove gives the lock up for good and removes the file. It is for files whose name nobody else will ever take.
func (l *Lock) Remove() error {
	if l == nil || l.file == nil {
		return nil
	}
	name := l.file.Name()
	return errors.Join(l.Release(), os.Remove(name)) // not every system removes what is open
}

// Patience says how long a lock is waited for. A limit of 0 is none.
type Patience struct {
	// Halted is how long a holder that is stopped or frozen is waited for, One how long any one holder is, and All how
	// long the lock is, whoever holds it.
	Halted, One, All time.Duration
	// Tell is told who holds the lock, as the error that Wait would end with: when a wait has lasted longer than After,
	// and again when the holder is another one, stops or goes on. It may be nil.
	Tell  func(*pawl.Error)
	After time.Duration
}

// lookEvery is how often somebody who waits looks who holds the lock.
const lookEvery = 250 * time.Millisecond

// Wait takes the lock of a file and waits for it as long as its patience lasts; then it fails with code busy and the
// holder's name. When ctx ends it returns the error of ctx. Time in which the waiting process is stopped itself does
// not count.
func Wait(ctx context.Context, path string, p Patience) (*Lock, error) {
	w := wait{path: path, patience: p}
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		l, err := Try(path)
		if l != nil || err != nil {
			return l, err
		}
		if err := w.more(pause); err != nil {
			return nil, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		case <-timer.C:
		}
	}
}

// wait is somebody who waits. Its durations are sums of pauses and not differences of clocks, which go on while it is
// stopped.
type wait struct {
	path     string
	patience Patience

	all, looked time.Duration // since it began; when it looked last
	holder      Holder
	one, halted time.Duration // behind this holder; behind it while it is halted
	told        Holder
}

// more is called before each pause. Its error says that it is too long.
func (w *wait) more(pause time.Duration) error {
	w.all += pause
	p := w.patience
	over := p.All > 0 && w.all >= p.All
	if w.all-w.looked < lookEvery && !over {
		return nil
	}
	past := w.all - w.looked
	w.looked = w.all
	h, held := Who(w.path)
	if !held {
		return nil // given up this very moment
	}
	if h.PID != w.holder.PID || !h.Since.Equal(w.holder.Since) {
		w.one, w.halted = 0, 0
	}
	w.holder, w.one = h, w.one+past
	if h.Halted() {
		w.halted += past
	} else {
		w.halted = 0
	}
	if over || p.One > 0 && w.one >= p.One || p.Halted > 0 && w.halted >= p.Halted {
		return h.Fault(w.path)
	}
	if p.Tell != nil && w.all >= p.After && h != w.told {
		w.told = h
		p.Tell(h.Fault(w.path))
	}
	return nil
}

// Clear removes the file of a lock, unless somebody holds it. It is for files whose name nobody else will ever take.
func Clear(path string) error {
	l, err := Try(path)
	return errors.Join(err, l.Remove())
}

// fault is the error for a file that cannot be made or locked.
func fault(err error, path string) error {
	code := pawl.CodeIO
	switch {
	case errors.Is(err, syscall.ELOOP):
		return pawl.Fail(pawl.CodeDenied, "store.own_foreign", path).In("lockfile.try")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		code = pawl.CodeReadOnly
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		code = pawl.CodeDiskFull
	}
	return pawl.Fail(code, "lock.io", path).In("lockfile.try").Because(err)
}
