package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/store/sqlite"
)

// roleEnv makes a process of this test binary play a part that needs a process of its own: "role path".
const roleEnv = "PAWL_SQLITE_ROLE"

var roles = map[string]func(path string) error{
	"own":      roleOwn,
	"sleep":    func(string) error { _, err := io.Copy(io.Discard, os.Stdin); return err },
	"fill":     roleFill,
	"readonly": roleReadOnly,
	"sync":     roleSync,
	"worker":   roleWorker,
}

// playRole plays the part that this process was started for, if it was, and ends it.
func playRole() {
	if role, path, ok := strings.Cut(os.Getenv(roleEnv), " "); ok {
		if err := roles[role](path); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		fmt.Println("ok")
		os.Exit(0)
	}
}

// child starts a role and returns its process and what it prints.
func child(t *testing.T, role, path string) (*os.Process, io.Reader) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.StartProcess(os.Args[0], []string{os.Args[0]}, &os.ProcAttr{
		Env: append(os.Environ(), roleEnv+"="+role+" "+path), Files: []*os.File{nil, w, os.Stderr}, Sys: walls(role)})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() { r.Close() })
	return p, r
}

// play runs a role to its end, which must be a good one.
func play(t *testing.T, role, path string) string {
	t.Helper()
	p, out := child(t, role, path)
	said, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	state, err := p.Wait()
	if err != nil || !state.Success() {
		t.Errorf("%s: %v, %v\n%s", role, state, err, said)
	}
	return string(said)
}

func roleOwn(dir string) error {
	o, err := sqlite.Own(dir, sqlite.OwnerInfo{PID: os.Getpid(), Host: "there"})
	if err != nil {
		return err
	}
	in, end, err := os.Pipe()
	if err != nil {
		return err
	}
	defer end.Close()
	p, err := os.StartProcess(os.Args[0], []string{os.Args[0]}, &os.ProcAttr{
		Env: []string{roleEnv + "=sleep -"}, Files: []*os.File{in, nil, nil}})
	if err != nil {
		return err
	}
	fmt.Println("owned", p.Pid)
	for {
		time.Sleep(time.Hour)
		runtime.KeepAlive(o)
	}
}

// roleFill fills a small disk until a commit is refused, makes room, and goes on with the same store.
func roleFill(dir string) error {
	if err := mountSmall(dir); err != nil {
		return err
	}
	s, err := sqlite.Open(filepath.Join(dir, "pawl.db"), sqlite.Options{Create: true})
	if err != nil {
		return err
	}
	defer s.Close()
	ctx := context.Background()
	src := pawl.NewIDSource(time.Now(), constant{})
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 256<<10), 0o600); err != nil {
		return err
	}
	acked := int64(0)
	for {
		id, err := src.Next()
		if err != nil {
			return err
		}
		row := kernel.Row{Kind: kernel.KindTask, ID: string(id), State: "queued", Version: 1, Doc: make([]byte, 5000)}
		if _, err = s.Commit(ctx, kernel.Batch{Writes: []kernel.Write{{Row: row}}}); err == nil {
			err = transition(s, string(id))
		}
		if err != nil {
			if pawl.CodeOf(err) != pawl.CodeDiskFull {
				return fmt.Errorf("a full disk is reported as %w", err)
			}
			break
		}
		acked++
	}
	if acked < 5 {
		return fmt.Errorf("only %d commits fitted", acked)
	}
	if err := os.Remove(ballast); err != nil {
		return err
	}
	report, err := s.Check(ctx, nil)
	if err != nil || report.Moves < acked {
		return fmt.Errorf("%d acknowledged moves, %d found: %w", acked, report.Moves, err)
	}
	rows, err := s.Load(ctx, kernel.Select{Kind: kernel.KindTask, Limit: 1})
	if err != nil {
		return err
	}
	return transition(s, rows[0][0].ID)
}

// roleReadOnly works with a store on a disk that cannot be written.
func roleReadOnly(path string) error {
	if err := mountReadOnly(filepath.Dir(path)); err != nil {
		return err
	}
	s, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	ctx := context.Background()
	rows, err := s.Load(ctx, kernel.Select{Kind: kernel.KindTask})
	if err != nil || len(rows[0]) != 20 {
		return fmt.Errorf("%d rows: %w", len(rows[0]), err)
	}
	if _, err := s.Check(ctx, nil); err != nil {
		return err
	}
	if err := transition(s, rows[0][0].ID); pawl.CodeOf(err) != pawl.CodeReadOnly {
		return fmt.Errorf("a commit: %w", err)
	}
	_, err = sqlite.Open(filepath.Join(filepath.Dir(path), "new", "pawl.db"), sqlite.Options{Create: true})
	if pawl.CodeOf(err) != pawl.CodeReadOnly {
		return fmt.Errorf("a new store: %w", err)
	}
	if _, err := sqlite.Own(filepath.Dir(path), sqlite.OwnerInfo{}); pawl.CodeOf(err) != pawl.CodeReadOnly {
		return fmt.Errorf("owning: %w", err)
	}
	return nil
}

// roleSync commits until a flush fails, which it is made to from outside, and then looks whether the store keeps off.
func roleSync(path string) error {
	s, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		return err
	}
	ctx := context.Background()
	rows, err := s.Load(ctx, kernel.Select{Kind: kernel.KindTask})
	if err != nil {
		return err
	}
	acked := 0
	for n := 0; ; n++ {
		if err = transition(s, rows[0][n%20].ID); err != nil {
			break
		}
		fmt.Println("ack", rows[0][n%20].ID)
		if acked++; acked > 1000 {
			return errors.New("no flush failed")
		}
	}
	if pawl.CodeOf(err) != pawl.CodeOutcomeUnknown {
		return fmt.Errorf("the commit whose flush failed: %w", err)
	}
	for range 3 {
		if err := transition(s, rows[0][7].ID); pawl.CodeOf(err) != pawl.CodeIO {
			return fmt.Errorf("a later commit: %w", err)
		}
	}
	if _, err := s.Load(ctx, kernel.Select{Kind: kernel.KindTask}); err != nil {
		return fmt.Errorf("reading afterwards: %w", err)
	}
	fmt.Println("acked", acked)
	return nil
}

// roleWorker makes 50 transitions beside other processes and tells how long the slowest took.
func roleWorker(path string) error {
	// Six write at the same time, and others may be using the disk: a turn may be long in coming.
	s, err := sqlite.Open(path, sqlite.Options{Limit: 5 * time.Minute})
	if err != nil {
		return err
	}
	defer s.Close()
	rows, err := s.Load(context.Background(), kernel.Select{Kind: kernel.KindTask})
	if err != nil {
		return err
	}
	var slowest time.Duration
	for n := 0; n < 50; {
		start := time.Now()
		err := transition(s, rows[0][(n*7+os.Getpid())%20].ID)
		slowest = max(slowest, time.Since(start))
		if err == nil {
			n++
		} else if !errors.Is(err, pawl.ErrConflict) {
			return err
		}
	}
	fmt.Println("slowest", slowest)
	return nil
}
