package presence_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pawl"
	"pawl/store/lockfile"
	"pawl/store/presence"
)

// TestHere: a process is there for the others from Here until Close, and what a dead one left is removed by the next.
func TestHere(t *testing.T) {
	dir := t.TempDir()
	a, b := presence.New(dir), presence.New(dir)
	if a.Name() == b.Name() {
		t.Fatalf("two processes have the name %s", a.Name())
	}
	if a.Alive(b.Name()) || presence.Occupied(dir) {
		t.Error("a process is there that has not said so")
	}
	for range 2 {
		if err := b.Here(); err != nil {
			t.Fatal(err)
		}
	}
	if !a.Alive(b.Name()) || !a.Alive(b.Name()+"/2") || !presence.Occupied(dir) || !lockfile.Held(b.File()) {
		t.Error("a process that is there is taken for dead")
	}
	for _, name := range []string{a.Name(), "another machine/1/x", "somebody"} {
		if !a.Alive(name) {
			t.Errorf("%s is known to be dead", name)
		}
	}
	at := func(name string) string { return filepath.Join(dir, "workers", name) }
	dead, young, foreign := at("other~1~abcdef.lock"), at("other~2~abcdef.lock"), at("Cargo.lock")
	for _, file := range []string{dead, young, foreign} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hour := time.Now().Add(-time.Hour)
	if err := errors.Join(os.Chtimes(dead, hour, hour), os.Chtimes(foreign, hour, hour),
		os.Symlink(foreign, at("other~3~abcdef.lock")), os.Chtimes(b.File(), hour, hour), a.Here()); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]bool{dead: false, young: true, foreign: true,
		at("other~3~abcdef.lock"): true, b.File(): true} {
		if _, err := os.Lstat(file); (err == nil) != want {
			t.Errorf("%s is there: %v", file, err == nil)
		}
	}
	b.Close()
	if a.Alive(b.Name()) {
		t.Error("a process that is gone is taken for one that is there")
	}
	a.Close()
	a.Close()
	if presence.Occupied(dir) {
		t.Error("somebody is there after all have gone")
	}
	if err := a.Here(); err != nil || presence.Occupied(dir) {
		t.Errorf("a process came back: %v", err)
	}
}

// TestTurn: one process at a time has the turn to land, and one worker of it.
func TestTurn(t *testing.T) {
	dir := t.TempDir()
	a, b := presence.New(dir), presence.New(dir)
	nobody := func(err error) { t.Errorf("told of %v", err) }
	end, err := a.Turn(t.Context(), nobody)
	if err != nil {
		t.Fatal(err)
	}
	if !lockfile.Held(filepath.Join(dir, presence.LandingLock)) {
		t.Error("nothing says that somebody lands")
	}
	for name, p := range map[string]*presence.Process{"another worker": a, "another process": b} {
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if _, err := p.Turn(ctx, nobody); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		stop()
	}
	end()
	for _, p := range []*presence.Process{b, a} {
		if end, err = p.Turn(t.Context(), nobody); err != nil {
			t.Fatal(err)
		}
		end()
	}
}

func TestOwn(t *testing.T) {
	dir := t.TempDir()
	if o, ok := presence.OwnerOf(dir); ok {
		t.Errorf("somebody owns it: %+v", o)
	}
	release, err := presence.Own(dir, "pawl run")
	if err != nil {
		t.Fatal(err)
	}
	if o, ok := presence.OwnerOf(dir); !ok || o.PID != os.Getpid() || o.Command != "pawl run" || o.State != "" {
		t.Errorf("%+v, %v", o, ok)
	}
	if _, err := presence.Own(dir, "pawl fix"); pawl.CodeOf(err) != pawl.CodeBusy {
		t.Errorf("owned twice: %v", err)
	}
	release()
	if o, ok := presence.OwnerOf(dir); ok {
		t.Errorf("somebody owns it: %+v", o)
	}
}
