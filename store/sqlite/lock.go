package sqlite

import (
	"context"
	"errors"
	"os"
	"time"
)

// Lock is an exclusive lock on a file. It ends with Release, and with the process however that dies. Keep it reachable while
// it is needed: a forgotten one is collected, and with it the lock.
type Lock struct{ file *os.File }

// TryLock takes the lock of a file, which is made where it is missing, or returns nil where somebody else holds it. Two
// openings within one process are strangers to each other, too.
func TryLock(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, own(fileFault(err, path))
	}
	got, err := tryLock(f)
	if err != nil || !got {
		_ = f.Close()
	}
	switch {
	case err != nil:
		return nil, own(fileFault(err, path))
	case !got:
		return nil, nil
	}
	return &Lock{f}, nil
}

// WaitLock takes the lock of a file and waits for it until ctx ends.
func WaitLock(ctx context.Context, path string) (*Lock, error) {
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		l, err := TryLock(path)
		if l != nil || err != nil {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// Locked reports whether somebody holds the lock of a file. Where the file is missing nobody does. Those who ask share the lock
// for an instant, so that they do not take each other for its holder.
func Locked(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	got, err := tryShare(f)
	return err == nil && !got
}

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
