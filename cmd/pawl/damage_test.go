package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// onceKilled is a user whose run was killed while, or after, a command ran that may run once: the command has left its
// mark, and the write-ahead log is still there.
func onceKilled(t *testing.T) *user {
	t.Helper()
	u := settled(t)
	count := filepath.Join(filepath.Dir(u.dir), "temp")
	if err := os.Mkdir(count, 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := document("Count", []map[string]any{
		step("s1", call("run_terminal_cmd", map[string]any{"command": "echo ran >> ran.txt"})),
		step("s2", call("run_terminal_cmd", map[string]any{"command": "sleep 2", "idempotent": true})),
	}, "true")
	if err != nil {
		t.Fatal(err)
	}
	p := u.start("run", "--plan", u.plan(text), "--yes")
	for end := time.Now().Add(patience); len(u.marks()) == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the command was never run")
		}
	}
	p.kill()
	if left := gone(u.base()); len(left) > 0 {
		t.Fatalf("processes outlive pawl: %v", left)
	}
	return u
}

// marks are what the command that may run once has left, in whichever tree it ran.
func (u *user) marks() (ran []string) {
	found, _ := filepath.Glob(u.own("worktrees", "*", "ran.txt"))
	for _, name := range append(found, filepath.Join(u.dir, "ran.txt")) {
		raw, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			u.t.Fatal(err)
		}
		ran = append(ran, strings.Fields(string(raw))...)
	}
	return ran
}

// TestDamagedLogAfterAKill: whatever becomes of the write-ahead log after a kill, what was acknowledged is there, or its
// loss is told with the way on; and nothing runs twice that may run once.
func TestDamagedLogAfterAKill(t *testing.T) {
	t.Parallel()
	seed := *killSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-killseed %d", seed)
	killed := onceKilled(t)
	if got := killed.marks(); len(got) != 1 {
		t.Fatalf("it ran %q", got)
	}
	log, err := os.ReadFile(killed.own("pawl.db-wal"))
	if err != nil || len(log) == 0 {
		t.Fatalf("no log is left: %v", err)
	}
	template, home := killed.moved("template"), killed.beside("template home")
	killed.mirror(killed.home, home)
	damages := map[string]func(r *rand.Rand) []byte{
		"cut": func(r *rand.Rand) []byte { return log[:r.IntN(len(log)-4096)] },
		"flipped": func(r *rand.Rand) []byte {
			damaged := []byte(string(log))
			damaged[r.IntN(len(damaged))] ^= 1 << r.IntN(8)
			return damaged
		},
		"deleted": func(*rand.Rand) []byte { return nil },
	}
	for name, damage := range damages {
		for i := range max(1, *kills/2) {
			t.Run(fmt.Sprint(name, i), func(t *testing.T) {
				u := template.again(killed)
				u.t = t
				u.mirror(home, u.home)
				u.damaged(damage(rand.New(rand.NewPCG(seed, uint64(i)))))
			})
		}
	}
}

// again puts a copy of what was moved away where it was.
func (u *user) again(was *user) *user {
	u.t.Helper()
	if err := os.RemoveAll(was.dir); err != nil {
		u.t.Fatal(err)
	}
	u.copied(filepath.Base(was.dir), bytewise)
	return was.in(was.dir)
}

// damaged puts a log in the place of the one that is there, and goes on as a person would.
func (u *user) damaged(log []byte) {
	u.t.Helper()
	name := u.own("pawl.db-wal")
	_ = os.Remove(u.own("pawl.db-shm"))
	if err := os.Remove(name); err != nil {
		u.t.Fatal(err)
	}
	if log != nil {
		if err := os.WriteFile(name, log, 0o600); err != nil {
			u.t.Fatal(err)
		}
	}
	looked := u.pawl("status")
	a := u.pawl("resume")
	told := strings.Contains(a.err, "--accept-loss")
	if told != strings.Contains(looked.err, "lost its end") {
		u.t.Errorf("told by one only:\n%v\n%v", looked, a)
	}
	if told {
		if a.code != 11 {
			u.t.Errorf("%v", a)
		}
		if d := u.pawl("doctor"); !strings.Contains(d.err, "lost its end") || d.code == 0 {
			u.t.Errorf("doctor: %v", d)
		}
		accepted, again := u.pawl("resume", "--accept-loss"), u.pawl("resume")
		if len(u.marks()) != 1 {
			u.t.Errorf("%v\n%v", accepted, again)
		}
		u.must(0, "audit", "verify")
	}
	if got := u.marks(); len(got) != 1 {
		u.t.Errorf("it ran %q; %v", got, a)
	}
}
