package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"pawl/store/sqlite"
)

// roleLock holds the lock of a file until it is killed.
func roleLock(path string) error {
	l, err := sqlite.TryLock(path)
	if err != nil || l == nil {
		return fmt.Errorf("%v, %w", l, err)
	}
	fmt.Println("locked")
	for {
		time.Sleep(time.Hour)
		runtime.KeepAlive(l)
	}
}

// TestWaitLock waits for a lock that this process holds by another opening, until that is released and until the wait is ended.
func TestWaitLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if sqlite.Locked(path) {
		t.Error("a file that is not there is locked")
	}
	one, err := sqlite.TryLock(path)
	if err != nil || one == nil {
		t.Fatalf("%v, %v", one, err)
	}
	if two, err := sqlite.TryLock(path); err != nil || two != nil || !sqlite.Locked(path) {
		t.Errorf("a lock that is held: %v, %v", two, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	if l, err := sqlite.WaitLock(ctx, path); l != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wait that was ended: %v, %v", l, err)
	}
	got := make(chan error, 1)
	go func() {
		l, err := sqlite.WaitLock(context.Background(), path)
		if err == nil {
			err = l.Remove()
		}
		got <- err
	}()
	select {
	case err := <-got:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	for range 2 {
		if err := one.Release(); err != nil {
			t.Error(err)
		}
	}
	select {
	case err := <-got:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for a lock that was released")
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a lock that was removed: %v", err)
	}
	if _, err := sqlite.WaitLock(context.Background(), filepath.Join(path, "nowhere")); err == nil {
		t.Error("it waits for a file that cannot be made")
	}
}

// TestLockDies kills the process that holds a lock while another one waits for it.
func TestLockDies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	p, out := child(t, "lock", path)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, "locked") {
		t.Fatalf("%q, %v", line, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if l, err := sqlite.WaitLock(ctx, path); l != nil || !errors.Is(err, context.DeadlineExceeded) || !sqlite.Locked(path) {
		t.Errorf("the lock of a living process: %v, %v", l, err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	l, err := sqlite.WaitLock(ctx, path)
	if err != nil {
		t.Fatalf("the lock of a dead process: %v", err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	_, _ = p.Wait()
}

// TestOwnerOfAStaleFile asks, from many sides at once, who owns a folder whose owner was killed and left its name: nobody does,
// and those who ask must not take each other for the owner.
func TestOwnerOfAStaleFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "owner.lock")
	if err := os.WriteFile(path, []byte(`{"pid":1,"host":"there","command":"pawl run"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 500 {
				if got, ok := sqlite.Owner(dir); ok {
					t.Errorf("a dead owner counts: %+v", got)
					return
				}
				if sqlite.Locked(path) {
					t.Error("a lock that is only asked about counts as held")
					return
				}
			}
		})
	}
	all.Wait()
}
