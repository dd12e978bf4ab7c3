package main

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pawl"
	"pawl/audit"
	"pawl/cli"
	"pawl/effect"
	"pawl/kernel"
	"pawl/kernel/query"
	"pawl/lockfile"
	"pawl/sandbox/git"
	"pawl/store/sqlite"
	"pawl/workspace"
)

// settle compares where a workspace is with where its store knows it, and takes note of a move or a copy: with the first command
// after it, and once. What was under way in a workspace is stopped in its copy, because it belongs to the original, which may go
// on with it. Where nothing can be written, or somebody is at work, it is left to a later command.
func settle(ctx context.Context, place effect.Place, store *sqlite.Store, config kernel.Config, o cli.Open) (said []cli.Finding, g workspace.Ground, err error) {
	if g, err = workspace.NewGround(place.Workspace); err != nil || o.Still {
		return nil, g, err
	}
	home, err := query.Home(ctx, store)
	if err != nil {
		return nil, g, nil // whoever reads the session says what is wrong with it
	}
	stands := workspace.Examine(place.Workspace, home, func(other string) bool { return akin(ctx, store, other) })
	copied := stands == workspace.Copied
	switch {
	case stands == workspace.Here:
		return nil, g, nil
	case stands == workspace.Tied:
		return nil, g, pawl.Fail(pawl.CodeEnvironment, "cli.workspace_tied", place.Workspace, home)
	case copied && git.Shared(place.Workspace, home):
		if o.ReadOnly {
			return []cli.Finding{{Name: "workspace", State: "warn", Key: "cli.workspace_shared", Args: []string{place.Workspace, home}}}, g, nil
		}
		return nil, g, pawl.Fail(pawl.CodeEnvironment, "cli.workspace_shared", place.Workspace, home)
	}
	m := mover{place: place, home: home, copied: copied, config: config}
	stopped, ok := m.move(ctx)
	if !ok && !copied {
		return nil, g, nil
	}
	f := cli.Finding{Name: "workspace", State: "warn", Key: "cli.workspace_moved", Args: []string{home}}
	if copied {
		f.Key = "cli.workspace_copied"
	}
	if len(stopped) > 0 {
		f.Key, f.Args = "cli.workspace_copied_stopped", append(f.Args, strings.Join(stopped, ", "))
	}
	return []cli.Finding{f}, g, nil
}

// akin reports whether another store has the same origin: the first record of its log, which no two stores have in common
// unless one was copied from the other. One that cannot be read counts as akin.
func akin(ctx context.Context, store kernel.Store, path string) bool {
	other, err := sqlite.Open(path, sqlite.Options{ReadOnly: true})
	if err != nil {
		return true
	}
	defer other.Close()
	first := func(s kernel.Store) (audit.Hash, bool) {
		for rec, err := range s.Records(ctx, "", 0) {
			return rec.Hash, err == nil
		}
		return audit.Hash{}, false
	}
	mine, ok := first(store)
	theirs, also := first(other)
	return !ok || !also || mine == theirs
}

// mover takes note of where a workspace is now.
type mover struct {
	place  effect.Place
	home   string // where it was, or where that is which it is a copy of
	copied bool
	config kernel.Config
}

// move mends the links of git, stops in a copy what was under way, and then commits where the workspace is: cut short, the next
// command does all of it again. It names what was stopped. It is not ok where it could not be done now.
func (m mover) move(ctx context.Context) (stopped []string, ok bool) {
	dir := filepath.Join(m.place.Workspace, workspace.Dir)
	if occupied(dir) {
		return nil, false // to whom this may be the same folder under another name
	}
	store, err := sqlite.Open(filepath.Join(dir, workspace.Store), sqlite.Options{})
	if err != nil {
		return nil, false
	}
	defer store.Close()
	own, err := sqlite.Own(dir, sqlite.OwnerInfo{PID: os.Getpid(), Host: hostname(), Started: time.Now().UTC(), Command: strings.Join(os.Args, " ")})
	if err != nil {
		return nil, false
	}
	defer func() { _ = own.Release() }()
	k := kernel.New(kernel.At(store, m.place.Workspace), m.config, pawl.ClockFunc(time.Now), rand.Reader)
	if home, err := query.Home(ctx, store); err != nil || home != m.home {
		return nil, err == nil // another process was faster
	}
	if err := git.Relink(m.place.Workspace, m.home, !m.copied); err != nil {
		return nil, false
	}
	if m.copied {
		if err := git.Forget(m.place.Workspace); err != nil {
			return nil, false
		}
		if stopped, err = m.stop(ctx, k); err != nil {
			return nil, false
		}
	}
	_, err = k.Do(ctx, kernel.Envelope{Actor: byPlace, Command: &kernel.Relocate{From: m.home, To: m.place.Workspace, Copied: m.copied}})
	return stopped, err == nil
}

// byPlace is who takes note of it.
var byPlace = pawl.By(pawl.KindSystem, "place")

// occupied reports whether a process of a crew is at work on the board.
func occupied(dir string) bool {
	locks, _ := filepath.Glob(filepath.Join(dir, workersDir, "*.lock")) // a bad pattern finds nothing
	for _, l := range locks {
		if lockfile.Held(l) {
			return true
		}
	}
	return false
}

// stop stops in a copy what was under way. What waits for a person, and what is only to be planned again, waits on.
func (m mover) stop(ctx context.Context, k *kernel.Kernel) (stopped []string, err error) {
	lanes, err := query.Of(k).Working(ctx)
	if err != nil {
		return nil, err
	}
	for _, lane := range lanes {
		at := k
		if lane != kernel.SessionLabel {
			at = k.Lane(lane)
		}
		s, err := at.Look(ctx)
		if err != nil {
			return nil, err
		}
		if e := s.Effect; s.Run == nil || e != nil && finishing(e.What()) {
			continue
		}
		_, err = at.Do(ctx, kernel.Envelope{Actor: byPlace, Command: &kernel.Stop{Reason: "copied", Copied: m.home}})
		switch pawl.CodeOf(err) {
		case "":
			stopped = append(stopped, s.Run.Label)
		case pawl.CodeInvalidTransition: // nothing of it is at work
		default:
			return nil, err
		}
	}
	return stopped, nil
}

// finishing reports whether an effect of the kind only brings to its end what was decided: in a copy as well, in its own
// repository, because a landing that stops halfway is worse than one that is done.
func finishing(k effect.Kind) bool {
	switch k {
	case effect.KindLand, effect.KindRestore, effect.KindCleanup, effect.KindArchive, effect.KindRevert:
		return true
	}
	return false
}
