package sqlite_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pawl"
	"pawl/store/lockfile"
	"pawl/store/sqlite"
)

func info() sqlite.OwnerInfo {
	return sqlite.OwnerInfo{PID: os.Getpid(), Host: "here", Started: time.Unix(1, 0).UTC(), Command: "pawl run"}
}

func TestOwn(t *testing.T) {
	dir := t.TempDir()
	if got, ok := sqlite.Owner(dir); ok {
		t.Errorf("nobody owns the folder, and yet: %+v", got)
	}
	one, err := sqlite.Own(dir, info())
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := sqlite.Owner(dir); !ok || got != info() {
		t.Errorf("the owner is %+v, %v", got, ok)
	}
	if _, err := sqlite.Own(dir, info()); pawl.CodeOf(err) != pawl.CodeBusy ||
		!strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Errorf("a second owner: %v", err)
	}
	for range 2 {
		if err := one.Release(); err != nil {
			t.Error(err)
		}
	}
	if got, ok := sqlite.Owner(dir); ok {
		t.Errorf("after the release: %+v", got)
	}
	// What a dead owner left in the file decides nothing.
	if err := os.WriteFile(filepath.Join(dir, "owner.lock"), []byte("{\"pid\":1}\ngarbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	two, err := sqlite.Own(dir, info())
	if err != nil {
		t.Fatal(err)
	}
	defer two.Release()
	if got, ok := sqlite.Owner(dir); !ok || got != info() {
		t.Errorf("the owner is %+v, %v", got, ok)
	}
	if info, err := os.Stat(filepath.Join(dir, "owner.lock")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the lock has mode %v, %v", info.Mode(), err)
	}
	if _, err := sqlite.Own(filepath.Join(dir, "nowhere"), sqlite.OwnerInfo{}); pawl.CodeOf(err) != pawl.CodeIO {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// Of many that ask at once exactly one gets it, round after round, while others keep asking who it is.
func TestOwnRace(t *testing.T) {
	dir := t.TempDir()
	stop := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if got, ok := sqlite.Owner(dir); ok && got != info() {
					t.Errorf("the owner is %+v", got)
				}
				time.Sleep(100 * time.Microsecond)
			}
		}
	})
	for range 20 {
		var won atomic.Int32
		var wait, racing sync.WaitGroup
		racing.Add(4)
		for range 4 {
			wait.Go(func() {
				o, err := sqlite.Own(dir, info())
				racing.Done()
				if err != nil {
					if pawl.CodeOf(err) != pawl.CodeBusy {
						t.Error(err)
					}
					return
				}
				won.Add(1)
				racing.Wait()
				if err := o.Release(); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d owners", won.Load())
		}
	}
	close(stop)
	asking.Wait()
}

// Whoever comes after an owner that was killed waits for what the owner was just starting, and not for one that lives.
func TestWhatADeadOwnerLeavesIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	const dead = 1 << 30 // more than the kernel ever gives
	for name, c := range map[string]struct {
		pid  int
		code pawl.Code
	}{"dead": {dead, ""}, "alive": {os.Getpid(), pawl.CodeBusy}} {
		who := info()
		who.PID = c.pid
		o, err := sqlite.Own(dir, who)
		if err != nil {
			t.Fatal(err)
		}
		// The lock is held by an opening that nobody gives up for a while.
		released := make(chan struct{})
		left := time.AfterFunc(300*time.Millisecond, func() { _ = o.Release(); close(released) })
		next, err := sqlite.Own(dir, info())
		if pawl.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
		_ = next.Release()
		if !left.Stop() {
			<-released
		}
		_ = o.Release()
	}
}

// An owner that has taken its name away and not yet given up the lock is waited for: it is just leaving.
func TestALeavingOwnerIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	o, err := sqlite.Own(dir, info())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "owner.lock"), 0); err != nil {
		t.Fatal(err)
	}
	left := time.AfterFunc(300*time.Millisecond, func() { _ = o.Release() })
	defer left.Stop()
	next, err := sqlite.Own(dir, info())
	if err != nil {
		t.Fatalf("while the owner leaves: %v", err)
	}
	_ = next.Release()
}

// The right ends with the process, however it dies, even while a child of it lives on.
func TestOwnerDies(t *testing.T) {
	dir := t.TempDir()
	p, out := child(t, "own", dir)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "owned") {
		t.Fatalf("the owner said %q, %v", line, err)
	}
	if _, err := sqlite.Own(dir, info()); pawl.CodeOf(err) != pawl.CodeBusy ||
		!strings.Contains(err.Error(), strconv.Itoa(p.Pid)) {
		t.Errorf("beside a living owner: %v", err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	// The kernel may still be at work on the child's start, which drops the lock it was born with.
	o, err := sqlite.Own(dir, info())
	if err != nil {
		t.Fatalf("after the owner's death: %v", err)
	}
	o.Release()
	// The owner's child was alive all the time, and ends when its input does.
	grandchild, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, "owned")))
	if err != nil {
		t.Fatal(err)
	}
	if g, err := os.FindProcess(grandchild); err == nil {
		_ = g.Kill()
	}
}

// TestOwnerOfAStaleFile asks, from many sides at once, who owns a folder whose owner was killed and left its name:
// nobody does, and those who ask must not take each other for the owner.
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
				if lockfile.Held(path) {
					t.Error("a lock that is only asked about counts as held")
					return
				}
			}
		})
	}
	all.Wait()
}
