// Package export writes the projections of a workspace (kernel/projection) into its .pawl folder: behind each commit of
// this process, and where another one left them behind the log.
package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pawl"
	"pawl/driver/archive"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/projection"
	"pawl/kernel/query"
	"pawl/kernel/view"
	"pawl/store/follow"
	"pawl/store/lockfile"
)

// lag is how long the projections may lag behind commits that leave the session's state as it is. A step takes
// several commits within milliseconds, and nobody reads between them.
const lag = 300 * time.Millisecond

// Exporter writes the projections of a workspace. Several processes may work on one: each writes what it reads while it
// holds the lock, so that an older state never replaces a newer one. It is safe for concurrent use.
type Exporter struct {
	k     *kernel.Kernel
	dir   string // .pawl
	state string // where the lock and the mark are
	board projection.Board
	took  atomic.Int64 // how long the files of the board took last, in nanoseconds
	// late is told, once, that the files were left as they are because another process does not give up their lock.
	// From then on, until it was had again, the lock is not waited for.
	late func(error)
	told sync.Once
	left atomic.Bool
	own  sync.Mutex // held before the lock, for which this process would be a stranger to itself
}

// How long the lock of the projections is waited for. What was committed is acknowledged by then and the files are only
// its picture, so nobody waits long behind a commit; whoever asks for the files themselves waits longer.
var (
	behind = lockfile.Patience{Halted: 500 * time.Millisecond, All: 3 * time.Second}
	asked  = lockfile.Patience{Halted: 5 * time.Second, All: time.Minute}
)

// New returns the exporter of the projections of k into dir, the .pawl directory of its workspace, whose state is in
// another one. Nothing is written
// before it is asked to. Late is told, once and from any goroutine, that the files were left as they are because
// another process does not give up their lock (CodeBusy).
func New(k *kernel.Kernel, dir, state string, late func(error)) *Exporter {
	return &Exporter{k: k, dir: dir, state: state, late: late}
}

// Edited names the projections below dir, a .pawl folder, that somebody changed by hand, and reports whether the page
// about the context was taken away. They are never read as truth and are overwritten.
func Edited(dir, state string) (names []string, gone bool) {
	data, err := os.ReadFile(filepath.Join(dir, view.ContextFile))
	if os.IsNotExist(err) {
		_, err := os.Lstat(filepath.Join(state, LockFile)) // which stays once projections were written
		gone = err == nil
	} else if err == nil && view.Edited(data) {
		names = append(names, view.ContextFile)
	}
	shown := readMark(state).shown
	data, err = os.ReadFile(filepath.Join(dir, view.StateFile))
	if err == nil && shown != "" && !slices.Contains(strings.Split(shown, ","), effect.Digest(data)) {
		names = append(names, view.StateFile)
	}
	return names, gone
}

// LockFile, in the state of the workspace, is locked while the projections are written.
const LockFile = "export.lock"

// boardShare is the part of the time that goes into the files of the board at most: one of so many.
const boardShare = 20

// boardEvery is how long the files of the board may lag behind.
func (x *Exporter) boardEvery() time.Duration {
	return max(lag, boardShare*time.Duration(x.took.Load()))
}

// MarkFile says how far the projections had followed the log when they were last written. It is a shortcut and no
// truth: without it, or with one that makes no sense, they are written once more.
const MarkFile = "export.mark"

// mark is how long the log was when projections were last read from the store: those of the board, and all others.
// State is the digest of the state.json that shows the board as it was then. Shown is that of the state.json that was
// written last, with that of the one before while it is being written.
type mark struct {
	files, board int64
	state, shown string
}

// All writes every projection, also where nothing has changed, and returns their paths.
func (x *Exporter) All(ctx context.Context) ([]string, error) {
	return x.write(ctx, asked, func(_ mark, size int64) ([]pawl.ProjectedFile, mark, error) {
		files, err := projection.Files(ctx, x.k)
		if err != nil {
			return nil, mark{}, err
		}
		more, state, err := x.ofBoard(ctx, projection.Shown{}, size)
		return append(files, more...), mark{size, size, state, ""}, err
	})
}

// quick writes the projections that cost the same however large the workspace is, if they are behind the log.
func (x *Exporter) quick(ctx context.Context) {
	x.follows(ctx, func(m mark, size int64) ([]pawl.ProjectedFile, mark, error) {
		if m.files == size {
			return nil, m, nil
		}
		files, err := projection.Files(ctx, x.k)
		m.files = size
		return files, m, err
	})
}

// boards writes the files of the board, if they are what is shown and are behind the log.
func (x *Exporter) boards(ctx context.Context) {
	x.follows(ctx, func(m mark, size int64) ([]pawl.ProjectedFile, mark, error) {
		moved, err := x.moved(ctx, m.board, size)
		if err != nil || !moved {
			m.board = size
			return nil, m, err
		}
		shown, err := x.shown(ctx, m)
		if err != nil {
			return nil, m, err
		}
		files, state, err := x.ofBoard(ctx, shown, size)
		return files, mark{m.files, size, state, ""}, err
	})
}

// shown is the state.json that is there, unless it is not what a mark says: somebody has changed it, it shows something
// else, or the log is another one.
func (x *Exporter) shown(ctx context.Context, m mark) (projection.Shown, error) {
	content, err := os.ReadFile(filepath.Join(x.dir, view.StateFile))
	if err != nil || m.board <= 0 {
		return projection.Shown{}, nil
	}
	if state, err := x.digest(ctx, content, m.board); err != nil || state != m.state {
		return projection.Shown{}, err
	}
	return projection.Shown{Content: content, Size: m.board}, nil
}

// digest tells a state.json, in the form that this version gives it and from when the log had a size, from any other.
func (x *Exporter) digest(ctx context.Context, content []byte, size int64) (string, error) {
	h := sha256.New()
	_, _ = io.WriteString(h, "pawl state.json 1\n")
	for rec, err := range query.Of(x.k).Log().Records(ctx, audit.Subject{}, size-1) {
		if err != nil {
			return "", err
		}
		_, _ = h.Write(rec.Hash[:])
		break
	}
	_, _ = h.Write(content)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// moved reports whether the log says something of the board from one size of it to another.
func (x *Exporter) moved(ctx context.Context, from, to int64) (bool, error) {
	if from < 0 || from > to {
		return true, nil // no mark, or that of another history
	}
	seen := false
	for rec, err := range query.Of(x.k).Log().Records(ctx, audit.Subject{}, from) {
		if err != nil {
			return false, err
		}
		if rec.Index > from && !seen { // what was retired may have said so
			return true, nil
		}
		if seen = true; rec.Index >= to {
			return false, nil
		}
		if ofIssue(rec.Subject) {
			return true, nil
		}
	}
	return false, nil
}

// ofBoard makes the files of the board, with the digest of its state.json, if they are what is shown.
func (x *Exporter) ofBoard(
	ctx context.Context, shown projection.Shown, size int64,
) (files []pawl.ProjectedFile, state string, err error) {
	begun := time.Now()
	newest, err := projection.Newest(ctx, x.k)
	if err != nil || !newest {
		return nil, nothing, err
	}
	if files, err = x.board.Files(ctx, x.k, shown); err == nil {
		state, err = x.digest(ctx, []byte(files[0].Content), size)
	}
	x.took.Store(int64(time.Since(begun)))
	return files, state, err
}

// follows writes behind a commit. What cannot be written now is written after a later one.
func (x *Exporter) follows(ctx context.Context, read func(m mark, size int64) ([]pawl.ProjectedFile, mark, error)) {
	p := behind
	if x.left.Load() {
		p.All = time.Millisecond
	}
	_, err := x.write(ctx, p, read)
	busy := pawl.CodeOf(err) == pawl.CodeBusy
	if x.left.Store(busy); busy {
		x.told.Do(func() { x.late(pawl.Fail(pawl.CodeBusy, "lock.projections").Because(err)) })
	}
}

// write writes what read returns, which is told how far the projections had come and how long the log is now.
func (x *Exporter) write(ctx context.Context, p lockfile.Patience,
	read func(m mark, size int64) ([]pawl.ProjectedFile, mark, error)) ([]string, error) {
	if _, err := os.Stat(x.dir); os.IsNotExist(err) { // a folder that somebody removed is not made again
		return nil, pawl.Fail(pawl.CodeIO, "cli.workspace_gone", filepath.Dir(x.dir)).Because(err)
	}
	x.own.Lock()
	defer x.own.Unlock()
	lock, err := lockfile.Wait(ctx, filepath.Join(x.state, LockFile), p)
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	head, err := query.Of(x.k).Log().Head(ctx) // before the rows, which are at least as new
	if err != nil {
		return nil, err
	}
	before := x.mark()
	files, after, err := read(before, head.Size)
	after.shown = before.shown
	if err != nil || after == before && len(files) == 0 {
		return nil, err
	}
	if n := slices.IndexFunc(files, func(f pawl.ProjectedFile) bool { return f.Path == view.StateFile }); n >= 0 {
		if after.shown = effect.Digest([]byte(files[n].Content)); after.shown != before.shown && before.shown != "" {
			// Whoever is killed in between has edited nothing.
			during := before
			during.shown += "," + after.shown
			if err := x.note(during); err != nil {
				return nil, err
			}
		}
	}
	written, err := archive.Write(ctx, x.dir, files)
	if err == nil && after.files != before.files {
		var gone []string
		if gone, err = projection.Gone(ctx, x.k); err == nil {
			err = archive.Prune(x.dir, "plan", gone)
		}
	}
	if err == nil {
		err = x.note(after)
	}
	return written, err
}

// note writes how far the projections have come.
func (x *Exporter) note(m mark) error {
	for _, s := range []*string{&m.state, &m.shown} {
		if *s == "" {
			*s = nothing
		}
	}
	return os.WriteFile(filepath.Join(x.state, MarkFile), fmt.Appendln(nil, m.files, m.board, m.state, m.shown), 0o644)
}

// nothing stands in a mark for a digest that there is none of.
const nothing = "none"

// mark reads how far the projections have come.
func (x *Exporter) mark() mark { return readMark(x.state) }

func readMark(dir string) mark {
	var m mark
	raw, err := os.ReadFile(filepath.Join(dir, MarkFile))
	if err == nil {
		_, err = fmt.Sscanln(string(raw), &m.files, &m.board, &m.state, &m.shown)
	}
	if m.shown == nothing {
		m.shown = ""
	}
	if err != nil {
		return mark{files: -1, board: -1}
	}
	return m
}

// othersEvery is how often a process looks whether the projections are behind, so long as it is there.
const othersEvery = 2 * time.Second

// catchUp has the projections follow what others have committed: a process that was killed behind a commit leaves them
// as they were before it, and nobody may have anything to commit any more. It waits for nobody where nothing is to be
// done.
func (x *Exporter) catchUp(ctx context.Context) {
	head, err := query.Of(x.k).Log().Head(ctx)
	if err != nil {
		return
	}
	m := x.mark()
	if m.files != head.Size {
		x.quick(ctx)
	}
	if moved, err := x.moved(ctx, m.board, head.Size); moved && err == nil {
		x.boards(ctx)
	}
}

// Follow has the projections follow each commit of this process, and now and then those of others, until the function
// that it returns is called, which catches up for the last time.
func (x *Exporter) Follow(ctx context.Context) (stop func()) {
	files := follow.New(func() { x.quick(ctx) })
	boards := follow.New(func() { x.boards(ctx) })
	x.k.OnCommit(func(o kernel.Outcome) {
		if projection.Ended(o) || projection.MovesSession(o) {
			files.Within(0)
		} else {
			files.Within(lag)
		}
		if ofIssues(o) {
			boards.Within(x.boardEvery())
		}
	})
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-time.After(max(othersEvery, x.boardEvery())):
				x.catchUp(ctx)
			case <-over:
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(over)
		<-ended
		files.Close()
		boards.Close()
		x.catchUp(ctx)
	})
}

// ofIssues reports whether a commit changed what the files of the board show.
func ofIssues(o kernel.Outcome) bool {
	return slices.ContainsFunc(o.Entries, func(e audit.Entry) bool { return ofIssue(e.Subject) })
}

func ofIssue(s audit.Subject) bool {
	switch kernel.Kind(s.Kind) {
	case kernel.KindIssue, kernel.KindItem, kernel.KindBoard:
		return true
	}
	return false
}
