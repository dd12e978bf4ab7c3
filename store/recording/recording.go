// Package recording keeps in a workspace what its runs decide (kernel/replay) and what models say in them, for `pawl
// replay`.
package recording

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/planning"
	"pawl/kernel/replay"
	"pawl/text/secret"
)

// Dir is the directory of recordings in the state of a workspace, with a directory for each run; the others are the
// files in that.
const (
	Dir           = "recordings"
	DecisionsFile = "decisions.jsonl"
	ExchangesFile = "exchanges.jsonl"
)

// Recordings keep what runs decide and what models say. A run that is recorded goes on being recorded by whichever
// process works on it. It is safe for concurrent use. A nil value records nothing; only Write needs another one.
type Recordings struct {
	dir    string // the state of the workspace
	all    bool   // whether runs that begin are recorded
	redact func(string) string

	mu   sync.Mutex
	runs map[string]*recording // nil for one that is not recorded
	at   *recording            // of the run that was decided about last
	err  error
}

// recording are the files of one run.
type recording struct {
	decisions *replay.Recorder
	exchanges *os.File
	files     []*os.File
}

// Open returns the recordings in dir, the state of a workspace, or nil when nothing is recorded in it. All says that
// runs that begin are recorded. Secrets, which is asked only where something is recorded, names what must not come into
// a recording, besides what the environment of this process holds of it.
func Open(dir string, all bool, secrets func() []string) *Recordings {
	if _, err := os.Stat(filepath.Join(dir, Dir)); err != nil && !all {
		return nil
	}
	known := append(secret.Known(os.Environ()), secrets()...)
	return &Recordings{dir: dir, all: all, redact: secret.New(known...).Text, runs: map[string]*recording{}}
}

// Hear has the decisions of a kernel recorded.
func (r *Recordings) Hear(k *kernel.Kernel) {
	if r != nil {
		k.OnDecide(r.decided)
	}
}

// decided records a decision if it is one of a run that is recorded.
func (r *Recordings) decided(d kernel.Decided) {
	run := runOf(&d)
	if run == "" {
		return
	}
	_, begins := d.Envelope.Command.(*planning.Start)
	r.mu.Lock()
	rec, ok := r.runs[run]
	if !ok {
		var err error
		rec, err = r.open(run, begins)
		r.err = errors.Join(r.err, err)
		r.runs[run] = rec
	}
	r.at = rec
	r.mu.Unlock()
	if rec != nil {
		rec.decisions.Record(d)
	}
}

// runOf names the run that a decision is about.
func runOf(d *kernel.Decided) string {
	for _, doc := range d.Decision.Touched {
		if r, ok := any(doc).(*kernel.Run); ok {
			return r.Label
		}
	}
	if d.Snapshot.Run != nil {
		return d.Snapshot.Run.Label
	}
	return ""
}

// open opens the files of a run. What another store's run of the same name left is removed when a run begins.
func (r *Recordings) open(run string, begins bool) (*recording, error) {
	dir := filepath.Join(Dir, run)
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		return nil, unwritten(err)
	}
	defer root.Close()
	if _, err := root.Lstat(dir); begins && !r.all || !begins && err != nil {
		return nil, nil
	}
	if begins {
		if err := errors.Join(root.RemoveAll(dir), root.MkdirAll(dir, 0o700)); err != nil {
			return nil, unwritten(err)
		}
	}
	rec := &recording{}
	for _, name := range []string{DecisionsFile, ExchangesFile} {
		f, err := appending(root, filepath.Join(dir, name))
		if err != nil {
			rec.close()
			return nil, unwritten(err)
		}
		rec.files = append(rec.files, f)
	}
	rec.decisions, rec.exchanges = replay.NewRecorder(rec.files[0], r.redact), rec.files[1]
	return rec, nil
}

// appending opens a file to append lines to. A line that a crash cut off is ended, so that it spoils no other.
func appending(root *os.Root, name string) (*os.File, error) {
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	}
	f, err := root.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	last := []byte{'\n'}
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		if _, err := f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			_, err = f.Write([]byte{'\n'})
			if err != nil {
				return nil, errors.Join(err, f.Close())
			}
		}
	}
	return f, nil
}

func unwritten(err error) error { return pawl.Fail(pawl.CodeIO, "replay.unwritten").Because(err) }

// Write takes a line of the exchanges with models. It belongs to the run that was decided about last.
func (r *Recordings) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at == nil {
		return len(p), nil
	}
	n, err := r.at.exchanges.Write(p)
	if err != nil && r.err == nil {
		r.err = unwritten(err)
	}
	return n, err
}

func (rec *recording) close() {
	for _, f := range rec.files {
		_ = f.Close() // what could not be written was told of by its Write
	}
}

// Close ends the recordings. Its error says what is missing from them.
func (r *Recordings) Close() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.err
	for _, rec := range r.runs {
		if rec != nil {
			err = errors.Join(err, rec.decisions.Err())
			rec.close()
		}
	}
	return err
}

// Decisions opens what a run decided, as it is recorded in dir, a .pawl folder. Where nothing of it was it is
// CodeNotFound, naming the runs that were. The caller closes it.
func Decisions(dir, run string) (io.ReadCloser, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, pawl.Fail(pawl.CodeIO, "replay.unread", 1).Because(err)
	}
	defer root.Close()
	if run != "" && filepath.Base(run) == run {
		f, err := root.Open(filepath.Join(Dir, run, DecisionsFile))
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, pawl.Fail(pawl.CodeIO, "replay.unread", 1).Because(err)
		}
	}
	there := []string{}
	entries, _ := fs.ReadDir(root.FS(), Dir) // a folder that is not there holds nothing
	for _, e := range entries {
		there = append(there, e.Name())
	}
	if len(there) == 0 {
		there = append(there, "–")
	}
	return nil, pawl.Fail(pawl.CodeNotFound, "replay.none", run, strings.Join(there, ", "))
}
