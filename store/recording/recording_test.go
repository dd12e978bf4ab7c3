package recording

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"pawl"
)

// begun opens the recordings of a folder with a run at work.
func begun(t *testing.T, dir string, all bool, run string, begins bool) (r *Recordings, recorded bool) {
	t.Helper()
	if r = Open(dir, all, func() []string { return nil }); r == nil {
		return nil, false
	}
	rec, err := r.open(run, begins)
	if err != nil {
		t.Fatal(err)
	}
	r.runs[run], r.at = rec, rec
	return r, rec != nil
}

// say writes lines of the exchanges with models.
func say(t *testing.T, r *Recordings, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if n, err := io.WriteString(r, l); err != nil || n != len(l) {
			t.Fatal(n, err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestRecordings: a run that is recorded is recorded to its end by whoever works on it, and no other one.
func TestRecordings(t *testing.T) {
	dir := t.TempDir()
	if r := Open(dir, false, func() []string { t.Error("asked for secrets"); return nil }); r != nil {
		t.Error("something is recorded that nobody asked for")
	}
	var none *Recordings
	none.Hear(nil)
	if err := none.Close(); err != nil {
		t.Error(err)
	}
	exchanges := filepath.Join(dir, Dir, "RUN-1", ExchangesFile)
	said := func(want string) {
		t.Helper()
		if raw, err := os.ReadFile(exchanges); err != nil || string(raw) != want {
			t.Errorf("%v: %q, want %q", err, raw, want)
		}
	}
	r, _ := begun(t, dir, true, "RUN-1", true)
	say(t, r, "one\n", "two")
	r, _ = begun(t, dir, false, "RUN-1", false)
	say(t, r, "three\n")
	said("one\ntwo\nthree\n") // what a crash cut off spoils no other line
	if info, err := os.Stat(exchanges); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	for run, begins := range map[string]bool{"RUN-2": true, "RUN-3": false} {
		r, recorded := begun(t, dir, false, run, begins)
		if recorded {
			t.Errorf("%s is recorded", run)
		}
		say(t, r, "lost\n")
	}
	r, _ = begun(t, dir, true, "RUN-1", true) // of another store
	say(t, r, "anew\n")
	said("anew\n")
}

// TestRecordingsAreFiles: nothing is written through a link, and nothing outside of the folder is removed.
func TestRecordingsAreFiles(t *testing.T) {
	dir, canary := t.TempDir(), filepath.Join(t.TempDir(), "canary")
	run := filepath.Join(dir, Dir, "RUN-1")
	if err := errors.Join(os.WriteFile(canary, []byte("whole"), 0o600), os.MkdirAll(run, 0o700),
		os.Symlink(canary, filepath.Join(run, ExchangesFile))); err != nil {
		t.Fatal(err)
	}
	r := Open(dir, false, func() []string { return nil })
	if _, err := r.open("RUN-1", false); pawl.CodeOf(err) != pawl.CodeIO {
		t.Errorf("%v", err)
	}
	if raw, err := os.ReadFile(canary); err != nil || string(raw) != "whole" {
		t.Errorf("%q, %v", raw, err)
	}
}

func TestDecisions(t *testing.T) {
	dir := t.TempDir()
	if _, err := Decisions(dir, "RUN-1"); pawl.CodeOf(err) != pawl.CodeNotFound {
		t.Errorf("nothing is recorded: %v", err)
	}
	r, _ := begun(t, dir, true, "RUN-1", true)
	say(t, r)
	in, err := Decisions(dir, "RUN-1")
	if err != nil {
		t.Fatal(err)
	}
	in.Close()
	for _, run := range []string{"", "RUN-2", "../recordings/RUN-1"} {
		if _, err := Decisions(dir, run); pawl.CodeOf(err) != pawl.CodeNotFound {
			t.Errorf("%q: %v", run, err)
		}
	}
	if _, err := Decisions(filepath.Join(dir, "gone"), "RUN-1"); pawl.CodeOf(err) != pawl.CodeIO {
		t.Errorf("%v", err)
	}
}
