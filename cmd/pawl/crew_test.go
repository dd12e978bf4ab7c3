package main

import (
	"crypto/rand"
	"path/filepath"
	"testing"
	"time"

	"pawl"
	"pawl/driver/checkpoint"
	"pawl/effect"
	"pawl/kernel"
	"pawl/lockfile"
	"pawl/runner"
	"pawl/store/sqlite"
)

// TestCrewsOneAfterTheOther: a process that needs a crew again keeps no worktrees ready for the one before.
func TestCrewsOneAfterTheOther(t *testing.T) {
	dir := t.TempDir()
	store, err := sqlite.Open(filepath.Join(dir, "pawl.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	k := kernel.New(store, kernel.Defaults(), pawl.ClockFunc(time.Now), rand.Reader)
	h := newHand(dir)
	defer h.close()
	crew := h.crew(k, func() *parts {
		return &parts{warm: func() {}, pool: func(size int) checkpoint.Pool {
			return checkpoint.NewPool(nil, effect.Place{Workspace: dir, Tree: dir}, size)
		}}
	})
	var before *filler
	for range 3 {
		if _, err := crew(runner.CrewOptions{Workers: 1}); err != nil {
			t.Fatal(err)
		}
		if before != nil && (before == h.fill || !before.follow.shut) {
			t.Error("worktrees are still kept ready for a crew that has gone")
		}
		before = h.fill
	}
	if !lockfile.Held(h.file(h.name)) {
		t.Error("a process at work says that it is gone")
	}
	h.close()
	if !before.follow.shut || lockfile.Held(h.file(h.name)) {
		t.Error("a process that is gone left something behind")
	}
}
