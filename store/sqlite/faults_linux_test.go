package sqlite_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pawl/internal/need"
	"pawl/kernel"
	"pawl/store/sqlite"
)

// walls gives the roles that mount something a mount namespace of their own, in a user namespace where one is needed.
func walls(role string) *syscall.SysProcAttr {
	if role != "fill" && role != "readonly" {
		return nil
	}
	a := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		a.Cloneflags |= syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	return a
}

func private() error { return syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "") }

func mountSmall(dir string) error {
	if err := private(); err != nil {
		return err
	}
	return syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m")
}

func mountReadOnly(dir string) error {
	if err := private(); err != nil {
		return err
	}
	if err := syscall.Mount(dir, dir, "", syscall.MS_BIND, ""); err != nil {
		return err
	}
	return syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
}

func TestDiskFull(t *testing.T) { play(t, "fill", t.TempDir()) }

func TestReadOnlyDisk(t *testing.T) {
	path, _ := filled(t)
	play(t, "readonly", path)
}

func TestManyProcesses(t *testing.T) {
	path, _ := filled(t)
	const processes = 6
	var wait sync.WaitGroup
	for range processes {
		wait.Go(func() { t.Log(strings.TrimSpace(play(t, "worker", path))) })
	}
	wait.Wait()
	s, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if report, err := s.Check(t.Context(), nil); err != nil || report.Moves != 20+processes*50 {
		t.Errorf("%+v, %v", report, err)
	}
}

// After a flush that failed nothing is acknowledged any more, and a new process finds every acknowledged commit.
func TestFlushFails(t *testing.T) {
	strace := need.Program(t, "strace") // it makes the flush fail
	for _, when := range []int{1, 4, 9} {
		path, _ := filled(t)
		var out bytes.Buffer
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		inject := fmt.Sprintf("inject=fdatasync,fsync:error=EIO:when=%d", when)
		p, err := os.StartProcess(strace, []string{strace, "-f", "-qq", "-o", "/dev/null", "-e",
			"trace=fdatasync,fsync", "-e", inject, os.Args[0]},
			&os.ProcAttr{Env: append(os.Environ(), roleEnv+"=sync "+path), Files: []*os.File{nil, w, os.Stderr}})
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
		if _, err := out.ReadFrom(r); err != nil {
			t.Fatal(err)
		}
		if state, err := p.Wait(); err != nil || !state.Success() {
			t.Fatalf("flush %d: %v, %v\n%s", when, state, err, out.String())
		}
		acked := map[string]int64{}
		for line := range strings.Lines(out.String()) {
			if id, ok := strings.CutPrefix(strings.TrimSpace(line), "ack "); ok {
				acked[id]++
			}
		}
		s, err := sqlite.Open(path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Check(t.Context(), nil); err != nil {
			t.Error(err)
		}
		for id, n := range acked {
			rows, err := s.Load(t.Context(), kernel.Select{ID: id})
			if err != nil || rows[0][0].Version < 2+n {
				t.Errorf("flush %d: %d moves of %s were acknowledged: %+v, %v", when, n, id, rows, err)
			}
		}
		s.Close()
	}
}
