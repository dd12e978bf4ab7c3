package program

import (
	"context"
	"os"
	"time"
)

// ClearStale removes a lock that was left behind, after waiting until it is old enough to tell. It reports whether
// there was one that is gone now.
func ClearStale(ctx context.Context, lock string, age time.Duration) bool {
	seen, err := os.Lstat(lock)
	if err != nil || !seen.Mode().IsRegular() {
		return false
	}
	if wait := age - time.Since(seen.ModTime()); wait > 0 {
		timer := time.NewTimer(min(wait, age))
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
		}
	}
	again, err := os.Lstat(lock)
	if err != nil {
		return true // whoever held it is done
	}
	return os.SameFile(seen, again) && os.Remove(lock) == nil
}
