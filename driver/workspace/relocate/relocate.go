// Package relocate takes note of it when a workspace was moved or copied, with the first command after it, and once.
package relocate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"pawl"
	"pawl/driver/workspace"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/control"
	"pawl/kernel/effect"
	"pawl/kernel/planning"
	"pawl/kernel/query"
	"pawl/kernel/recovery"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
	"pawl/store/presence"
	"pawl/store/sqlite"
)

// Workspace is a workspace that was just opened.
type Workspace struct {
	Place effect.Place
	Store kernel.Store
	// Kernel wires a kernel over another opening of the same store.
	Kernel func(kernel.Store) *kernel.Kernel
	// ReadOnly says that it was opened for looking only: where it shares its git with the original it may still be
	// looked at.
	ReadOnly bool
}

// Note is what a person is to be told: a text of the catalogue and its arguments.
type Note struct {
	Key  string
	Args []string
}

// Settle compares where a workspace is with where its store knows it, and takes note of a move or a copy. What was
// under way in a workspace is stopped in its copy, because it belongs to the original, which may go on with it. Where
// nothing can be written, or somebody is at work, it is left to a later command. The note is nil where nothing is to be
// told. It is CodeEnvironment where nothing may be done in the workspace, because it has its store, or its git, in
// common with the original.
func Settle(ctx context.Context, w Workspace) (*Note, error) {
	place := w.Place
	home, err := query.Home(ctx, w.Store)
	if err != nil {
		return nil, nil // whoever reads the session says what is wrong with it
	}
	stands := workspace.Examine(place.Workspace, home, func(other string) bool { return akin(ctx, w.Store, other) })
	copied := stands == workspace.Copied
	switch {
	case stands == workspace.Here:
		return nil, nil
	case stands == workspace.Tied:
		return nil, pawl.Fail(pawl.CodeEnvironment, "cli.workspace_tied", place.Workspace, home)
	case copied && layout.Shared(place.Workspace, home):
		if w.ReadOnly {
			return &Note{"cli.workspace_shared", []string{place.Workspace, home}}, nil
		}
		return nil, pawl.Fail(pawl.CodeEnvironment, "cli.workspace_shared", place.Workspace, home)
	}
	m := mover{place: place, home: home, copied: copied, kernel: w.Kernel}
	stopped, ok := m.move(ctx)
	if !ok && !copied {
		return nil, nil
	}
	n := &Note{"cli.workspace_moved", []string{home}}
	if copied {
		n.Key = "cli.workspace_copied"
	}
	if len(stopped) > 0 {
		n.Key, n.Args = "cli.workspace_copied_stopped", append(n.Args, strings.Join(stopped, ", "))
	}
	return n, nil
}

// akin reports whether another store has the same origin: the first record of its log, which no two stores have in
// common unless one was copied from the other. One that cannot be read counts as akin.
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
	kernel func(kernel.Store) *kernel.Kernel
}

// move mends the links of git, stops in a copy what was under way, and then commits where the workspace is: cut short,
// the next command does all of it again. It names what was stopped. It is not ok where it could not be done now.
func (m mover) move(ctx context.Context) (stopped []string, ok bool) {
	dir := filepath.Join(m.place.Workspace, workspace.Dir)
	if presence.Occupied(dir) {
		return nil, false // to whom this may be the same folder under another name
	}
	store, err := sqlite.Open(filepath.Join(dir, workspace.Store), sqlite.Options{})
	if err != nil {
		return nil, false
	}
	defer store.Close()
	release, err := presence.Own(dir, strings.Join(os.Args, " "))
	if err != nil {
		return nil, false
	}
	defer release()
	k := m.kernel(store)
	if home, err := query.Home(ctx, store); err != nil || home != m.home {
		return nil, err == nil // another process was faster
	}
	if err := layout.Relink(m.place.Workspace, m.home, !m.copied); err != nil {
		return nil, false
	}
	if m.copied {
		if err := git.Forget(m.place.Workspace); err != nil {
			return nil, false
		}
		if sqlite.Accept(store) != nil { // what was copied while somebody wrote may lack its end, and is stopped for it
			return nil, false
		}
		if stopped, err = stop(ctx, k, recovery.Stop{Reason: "copied", Copied: m.home}); err != nil {
			return nil, false
		}
	}
	_, err = k.Do(ctx, kernel.Envelope{Actor: byPlace, Command: &planning.Relocate{From: m.home, To: m.place.Workspace,
		Copied: m.copied}})
	return stopped, err == nil
}

// byPlace is who takes note of it.
var byPlace = pawl.By(pawl.KindSystem, "place")

// Whole makes sure that the store has come as far as was acknowledged. One that has not is only looked at, unless it is
// to be gone on with; the note says which it is.
func Whole(ctx context.Context, w Workspace, store *sqlite.Store, accept bool) (*Note, error) {
	behind := sqlite.Behind(ctx, store)
	var e *pawl.Error
	switch {
	case behind == nil || !errors.As(behind, &e) || !w.ReadOnly && !accept:
		return nil, behind
	case w.ReadOnly:
		return &Note{e.Key, effect.Failed(e).Args}, nil
	}
	stopped, err := goOn(ctx, w, store)
	if err != nil || len(stopped) == 0 {
		return nil, err
	}
	return &Note{"cli.store_accepted", []string{strings.Join(stopped, ", ")}}, nil
}

// goOn goes on with a store whose end is lost: what is under way by it is stopped, because what came after may have
// been done, and then it is taken as it is. It names what was stopped. Nobody else may be at work.
func goOn(ctx context.Context, w Workspace, store *sqlite.Store) (stopped []string, err error) {
	release, err := presence.Own(filepath.Join(w.Place.Workspace, workspace.Dir), strings.Join(os.Args, " "))
	if err != nil {
		return nil, err
	}
	defer release()
	if stopped, err = stop(ctx, w.Kernel(store), recovery.Stop{Reason: "lost", Lost: true}); err == nil {
		err = sqlite.Accept(store)
	}
	return stopped, err
}

// stop stops what is under way. What waits for a person, and what is only to be planned again, waits on.
func stop(ctx context.Context, k *kernel.Kernel, how recovery.Stop) (stopped []string, err error) {
	lanes, err := query.Of(k).Working(ctx, how.Lost)
	if err != nil {
		return nil, err
	}
	for _, lane := range lanes {
		at := k
		if lane != kernel.SessionLabel {
			at = k.Session(lane)
		}
		s, err := at.Snapshot(ctx)
		if err != nil {
			return nil, err
		}
		if e := s.Effect; s.Run == nil || e != nil && finishing(e.What()) {
			continue
		}
		_, err = at.Do(ctx, kernel.Envelope{Actor: byPlace, Command: &how})
		if how.Lost && pawl.CodeOf(err) == pawl.CodeInvalidTransition {
			// Nothing is at work by what is left of the store; what was after that is not to be done by it.
			_, err = at.Do(ctx, kernel.Envelope{Actor: byPlace, Command: &control.CancelRun{Reason: how.Reason}})
		}
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

// finishing reports whether an effect of the kind only brings to its end what was decided: in a copy as well, in its
// own repository, because a landing that stops halfway is worse than one that is done.
func finishing(k effect.Kind) bool {
	switch k {
	case effect.KindLand, effect.KindRestore, effect.KindCleanup, effect.KindArchive, effect.KindRevert:
		return true
	}
	return false
}
