// Package relocate moves the state of a workspace to where its user has moved the workspace, and notes it in the store.
package relocate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"pawl"
	"pawl/driver/workspace"
	"pawl/kernel"
	"pawl/kernel/control"
	"pawl/kernel/effect"
	"pawl/kernel/planning"
	"pawl/kernel/query"
	"pawl/kernel/recovery"
	"pawl/sandbox/git/layout"
	"pawl/sandbox/git/program"
	"pawl/store/disk"
	"pawl/store/known"
	"pawl/store/notary"
	"pawl/store/presence"
	"pawl/store/sqlite"
)

// Workspace is a workspace that was just opened.
type Workspace struct {
	Place effect.Place
	Store kernel.Store
	// Kernel wires a kernel over another opening of the same store.
	Kernel func(kernel.Store) *kernel.Kernel
	// ReadOnly says that it was opened for looking only.
	ReadOnly bool
}

// Note is what a person is to be told: a text of the catalogue and its arguments.
type Note struct {
	Key  string
	Args []string
}

// Settle notes where the workspace is where its store knows another path, after Adopt. Where nothing can be written it
// is left to a later command. The note is nil if nothing needs to be reported.
func Settle(ctx context.Context, w Workspace) (*Note, error) {
	home, err := query.Home(ctx, w.Store)
	if err != nil || home == "" || home == w.Place.Workspace || w.ReadOnly {
		return nil, nil // a session that cannot be read is reported by its reader
	}
	// A workspace of an earlier version had its worktrees in its .pawl, and an Adopt may have been cut short.
	states := known.In(filepath.Dir(filepath.Dir(w.Place.State)))
	for _, was := range []string{filepath.Join(home, workspace.Dir), states.State(home)} {
		err := layout.Relink(w.Place.Workspace, filepath.Join(was, "worktrees"), w.Place.Own("worktrees"))
		if err != nil {
			return nil, err
		}
	}
	_, err = w.Kernel(w.Store).Do(ctx, kernel.Envelope{Actor: byPlace,
		Command: &planning.Relocate{From: home, To: w.Place.Workspace}})
	return &Note{"cli.workspace_relocated", []string{home}}, err
}

// stored are the entries of .pawl in which earlier versions kept what is in the state of a workspace now. The store
// comes last: until it has moved, Adopt can be repeated. Caches are not moved, because what other programs put there
// would be trusted.
var stored = []string{"git", "worktrees", "agents", "mcp", "recordings", "logs", "export.mark",
	known.Store + "-witness", known.Store + "-wal", known.Store + "-shm", known.Store}

// Adopt gives a workspace the state of another path: that of a directory that somebody moved here or, where from is the
// workspace itself, what an earlier version stored in its .pawl. Nobody may be at work in it. What is in .pawl may come
// from anybody: it has to be whole, and a store that was never signed in this account is accepted only if sure.
func Adopt(ctx context.Context, l known.List, place effect.Place, from string, sure bool) error {
	if l.Has(place.Workspace) {
		return pawl.Fail(pawl.CodeConflict, "cli.adopt_exists", place.Workspace)
	}
	old := l.State(from)
	if from == place.Workspace {
		old = filepath.Join(from, workspace.Dir)
	}
	relink := func() error {
		return layout.Relink(place.Workspace, filepath.Join(old, "worktrees"), place.Own("worktrees"))
	}
	if !layout.Exists(filepath.Join(old, known.Store)) {
		return pawl.Fail(pawl.CodeNotFound, "cli.adopt_nothing", from)
	}
	if from != place.Workspace && layout.Exists(from) {
		return pawl.Fail(pawl.CodeConflict, "cli.adopt_there", from)
	}
	if presence.Occupied(old) || !presence.Alone(old) {
		return pawl.Fail(pawl.CodeBusy, "cli.adopt_busy", from)
	}
	fail := func(err error) error {
		return pawl.Fail(pawl.CodeIO, "cli.adopt_failed", old, place.Own()).Because(err)
	}
	if old == filepath.Join(from, workspace.Dir) {
		if err := vet(ctx, place, old, sure); err != nil {
			return err
		}
		if err := os.MkdirAll(place.Own(), 0o700); err != nil {
			return fail(err)
		}
		for _, name := range stored {
			if name == known.Store { // with it there is nothing more to repeat
				// The index would be believed about the user's files.
				if err := errors.Join(disk.RemoveAll(place.Own("git", "index")), relink()); err != nil {
					return fail(err)
				}
			} else if strings.HasPrefix(name, known.Store) && layout.Exists(place.Own(name)) {
				continue // moved by an Adopt that was cut short; vet made another one
			}
			if err := move(filepath.Join(old, name), place.Own(name)); err != nil {
				return fail(err)
			}
		}
	} else if err := errors.Join(disk.RemoveAll(place.Own()), os.Rename(old, place.Own()), relink()); err != nil {
		return fail(err)
	}
	if err := l.Add(place.Workspace); err != nil {
		return fail(err)
	}
	return nil
}

// vet refuses the data that stand in a tree if the store does not open, if it was never signed in this account, or if
// an object of pawl's git is not what its name says. It changes nothing.
func vet(ctx context.Context, place effect.Place, old string, sure bool) error {
	id := ""
	store, err := sqlite.Open(filepath.Join(old, known.Store), sqlite.Options{ReadOnly: true})
	if err == nil {
		id, err = kernel.Identity(ctx, store)
		err = errors.Join(err, store.Close())
	}
	if err != nil && pawl.CodeOf(err) != pawl.CodeReadOnly { // one of an older schema does not say who it is
		return err
	}
	if state := filepath.Dir(filepath.Dir(place.State)); !sure && !notary.Signed(state, id) {
		return pawl.Fail(pawl.CodeDenied, "cli.adopt_foreign", old)
	}
	dir := filepath.Join(old, "git")
	if !layout.Exists(dir) {
		return nil
	}
	call := program.Call{Args: []string{"fsck", "--full", "--no-dangling", "--no-reflogs", "--no-progress"}, Dir: old,
		Env:   append(program.Environment(), "GIT_DIR="+dir, "GIT_INDEX_FILE="+filepath.Join(dir, "no index")),
		Stdin: strings.NewReader("")}
	_, status, err := call.Answering(1, 2, 3, 4, 5, 6, 7).Run(ctx)
	const wrong, pack = 1, 4 // missing objects (2) are those of the user's repository
	if err == nil && status&(wrong|pack) != 0 {
		err = pawl.Fail(pawl.CodeDenied, "cli.adopt_forged", dir)
	}
	return err
}

// move moves a file or a directory, also to another file system. What is not there is moved already.
func move(from, to string) error {
	if !layout.Exists(from) {
		return nil
	}
	err := os.Rename(from, to)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	half := to + ".half"
	if err := disk.RemoveAll(half); err != nil {
		return err
	}
	info, err := os.Lstat(from)
	switch {
	case err != nil:
	case info.IsDir():
		err = os.CopyFS(half, os.DirFS(from))
	default:
		err = disk.Copy(half, from)
	}
	if err == nil {
		err = os.Rename(half, to)
	}
	if err == nil {
		err = os.Rename(from, from+".moved")
	}
	return err
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
	release, err := presence.Own(w.Place.Own(), strings.Join(os.Args, " "))
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
