package lockfile_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pawl"
	"pawl/store/lockfile"
)

// roleEnv makes a process of this test binary hold a lock: "role path".
const roleEnv = "PAWL_LOCKFILE_ROLE"

func TestMain(m *testing.M) {
	if role, path, ok := strings.Cut(os.Getenv(roleEnv), " "); ok {
		if err := hold(role, path); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// hold holds a lock until the process is killed.
func hold(role, path string) error {
	switch role {
	case "flock":
		l, err := lockfile.Try(path)
		if err != nil || l == nil {
			return fmt.Errorf("%v, %w", l, err)
		}
		defer runtime.KeepAlive(l)
	case "range":
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		defer runtime.KeepAlive(f)
		if err := unix.FcntlFlock(f.Fd(), unix.F_SETLK,
			&unix.Flock_t{Type: unix.F_WRLCK, Start: 120, Len: 1}); err != nil {
			return err
		}
	}
	fmt.Println("locked")
	for {
		time.Sleep(time.Hour)
	}
}

// holder starts a process that holds a lock.
func holder(t *testing.T, role, path string) *os.Process {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.StartProcess(os.Args[0], []string{os.Args[0], "--for", "ever"}, &os.ProcAttr{
		Env: append(os.Environ(), roleEnv+"="+role+" "+path), Files: []*os.File{nil, w, os.Stderr}})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() {
		r.Close()
		_ = p.Kill()
		_, _ = p.Wait()
	})
	if line, err := bufio.NewReader(r).ReadString('\n'); err != nil || line != "locked\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return p
}

// signal sends a signal to a process that this test started, and waits until its state shows it.
func signal(t *testing.T, p *os.Process, s syscall.Signal, want lockfile.State) {
	t.Helper()
	if err := p.Signal(s); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); lockfile.StateOf(p.Pid) != want; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d is %q, want %q", p.Pid, lockfile.StateOf(p.Pid), want)
		}
	}
}

// TestHolderIsNamed: whoever looks learns which process holds a lock and what it does, whatever the file says.
func TestHolderIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if h, held := lockfile.Who(path); held {
		t.Errorf("a file that is not there is locked by %+v", h)
	}
	p := holder(t, "flock", path)
	look := func(want lockfile.State, key string) {
		t.Helper()
		h, held := lockfile.Who(path)
		if !held || h.PID != p.Pid || h.State != want || !strings.HasSuffix(h.Command, "--for ever") ||
			h.Since.IsZero() {
			t.Errorf("held %v by %+v, want process %d, %s", held, h, p.Pid, want)
		}
		if err := h.Fault(path); err.Code != pawl.CodeBusy || err.Key != key ||
			!strings.Contains(err.Error(), strconv.Itoa(p.Pid)) {
			t.Errorf("%v, want %s", err, key)
		}
	}
	look(lockfile.Running, "lock.running")
	signal(t, p, syscall.SIGSTOP, lockfile.Stopped)
	look(lockfile.Stopped, "lock.stopped")
	signal(t, p, syscall.SIGCONT, lockfile.Running)
	for _, said := range []string{"", "nonsense",
		`{"pid":1,"host":"elsewhere","started":"2020-01-01T00:00:00Z","command":"pawl run"}`, `{"pid":-5}`} {
		if err := os.WriteFile(path, []byte(said), 0o600); err != nil {
			t.Fatal(err)
		}
		look(lockfile.Running, "lock.running")
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = p.Wait()
	if h, held := lockfile.Who(path); held {
		t.Errorf("a dead process holds it: %+v", h)
	}
}

// TestRangeIsNamed: the same for locks of fcntl, which the database uses, only where they overlap.
func TestRangeIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shm")
	if h, held := lockfile.Range(path, 0, 1000); held {
		t.Errorf("a file that is not there: %+v", h)
	}
	p := holder(t, "range", path)
	signal(t, p, syscall.SIGSTOP, lockfile.Stopped)
	for _, c := range []struct {
		from, to int64
		held     bool
	}{{120, 120, true}, {0, 1000, true}, {0, 119, false}, {121, 130, false}} {
		h, held := lockfile.Range(path, c.from, c.to)
		if held != c.held || held && (h.PID != p.Pid || h.State != lockfile.Stopped || h.Command == "" ||
			h.Since.IsZero() || time.Since(h.Since) > 10*time.Minute) {
			t.Errorf("%d to %d: held %v by %+v", c.from, c.to, held, h)
		}
	}
	if _, held := lockfile.Who(path); held {
		t.Error("a part counts as the whole")
	}
}

// TestFaults: what is said of each kind of holder.
func TestFaults(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for key, h := range map[string]lockfile.Holder{
		"lock.unknown":   {},
		"lock.elsewhere": {PID: 7, Host: host + "-not", State: lockfile.Stopped},
		"lock.self":      {PID: os.Getpid(), Host: host},
		"lock.frozen":    {PID: 7, Host: host, State: lockfile.Frozen},
		"lock.gone":      {PID: 7, Host: host, State: lockfile.Gone},
		"lock.running":   {PID: 7, Host: host},
	} {
		if err := h.Fault("/x"); err.Key != key || err.Code != pawl.CodeBusy {
			t.Errorf("%+v: %v, want %s", h, err, key)
		}
	}
}

// TestWaitEnds: behind a holder that is stopped a wait ends after its patience, with the holder's name, and tells
// before.
func TestWaitEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	p := holder(t, "flock", path)
	signal(t, p, syscall.SIGSTOP, lockfile.Stopped)
	var told []string
	tell := func(e *pawl.Error) { told = append(told, e.Key) }
	l, err := lockfile.Wait(t.Context(), path, lockfile.Patience{Halted: 300 * time.Millisecond, One: time.Hour,
		Tell: tell})
	if l != nil || pawl.CodeOf(err) != pawl.CodeBusy || !strings.Contains(err.Error(), "lock.stopped") {
		t.Errorf("%v, %v", l, err)
	}
	if len(told) != 1 || told[0] != "lock.stopped" {
		t.Errorf("told %q", told)
	}

	// One that works is waited for until the longer limit, and its stop is told of.
	signal(t, p, syscall.SIGCONT, lockfile.Running)
	told = nil
	stop := func(e *pawl.Error) {
		tell(e)
		if len(told) == 1 {
			signal(t, p, syscall.SIGSTOP, lockfile.Stopped)
		}
	}
	if l, err := lockfile.Wait(t.Context(), path,
		lockfile.Patience{Halted: 300 * time.Millisecond, Tell: stop}); l != nil || pawl.CodeOf(err) != pawl.CodeBusy {
		t.Errorf("%v, %v", l, err)
	}
	if strings.Join(told, " ") != "lock.running lock.stopped" {
		t.Errorf("told %q", told)
	}
	signal(t, p, syscall.SIGCONT, lockfile.Running)
	for _, patience := range []lockfile.Patience{{One: 600 * time.Millisecond, Halted: time.Millisecond},
		{All: 600 * time.Millisecond}, {All: time.Millisecond}} {
		if l, err := lockfile.Wait(t.Context(), path, patience); l != nil ||
			!strings.Contains(fmt.Sprint(err), "lock.running") {
			t.Errorf("%+v: %v, %v", patience, l, err)
		}
	}

	// The one that is let go gives the lock up at last, and the wait has it.
	signal(t, p, syscall.SIGSTOP, lockfile.Stopped)
	go func() { time.Sleep(300 * time.Millisecond); _ = p.Kill() }()
	l, err = lockfile.Wait(t.Context(), path, lockfile.Patience{Halted: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	var said lockfile.Holder
	raw, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(raw, &said) != nil || said.PID != os.Getpid() {
		t.Errorf("the file says %s: %v", raw, err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

// TestWait waits for a lock that this process holds by another opening, until that is released and until the wait is
// ended.
func TestWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if lockfile.Held(path) {
		t.Error("a file that is not there is locked")
	}
	one, err := lockfile.Try(path)
	if err != nil || one == nil {
		t.Fatalf("%v, %v", one, err)
	}
	if two, err := lockfile.Try(path); err != nil || two != nil || !lockfile.Held(path) {
		t.Errorf("a lock that is held: %v, %v", two, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	if l, err := lockfile.Wait(ctx, path, lockfile.Patience{}); l != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wait that was ended: %v, %v", l, err)
	}
	got := make(chan error, 1)
	go func() {
		l, err := lockfile.Wait(context.Background(), path, lockfile.Patience{})
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
	case <-time.After(time.Minute):
		t.Fatal("it waits for a lock that was released")
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a lock that was removed: %v", err)
	}
	if _, err := lockfile.Wait(context.Background(), filepath.Join(path, "nowhere"), lockfile.Patience{}); err == nil {
		t.Error("it waits for a file that cannot be made")
	}
}

// TestLockDies kills the process that holds a lock while another one waits for it.
func TestLockDies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	p := holder(t, "flock", path)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if l, err := lockfile.Wait(ctx, path, lockfile.Patience{}); l != nil || !errors.Is(err, context.DeadlineExceeded) ||
		!lockfile.Held(path) {
		t.Errorf("the lock of a living process: %v, %v", l, err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	l, err := lockfile.Wait(ctx, path, lockfile.Patience{})
	if err != nil {
		t.Fatalf("the lock of a dead process: %v", err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}
