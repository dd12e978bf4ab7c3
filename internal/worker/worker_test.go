package worker

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pawl/agent/scripted"
)

// TestStandIn is about what a stand-in writes: files of any text, exactly.
func TestStandIn(t *testing.T) {
	files := map[string]string{"a": "", "b.go": "it's `$HOME` \\n\t%s\r\nEND", "d/e f/x'y": "'\n''\n"}
	j := Job{Requirement: "it's done", Agent: "installed", Work: files, Gone: []string{"old's"},
		Again: map[string]string{"again": "1"}}
	dir := t.TempDir()
	program := filepath.Join(dir, "codex")
	if err := os.WriteFile(program, []byte(j.standIn()), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "old's"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	told := func(words string) string {
		cmd := exec.Command(program, "exec", words)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	if out := told(scripted.Planning); !strings.Contains(out, "it's done") {
		t.Errorf("the plan: %s", out)
	}
	if _, err := os.Stat(filepath.Join(dir, "b.go")); err == nil {
		t.Error("it works while it is asked for a plan")
	}
	told("do it")
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q %v, want %q", name, got, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "old's")); err == nil {
		t.Error("what was to go is there")
	}
	told(scripted.Repairing)
	if _, err := os.Stat(filepath.Join(dir, "again")); err != nil {
		t.Error(err)
	}
}

// TestEach is about errors, which are all told, and about being stopped.
func TestEach(t *testing.T) {
	var n atomic.Int32
	bad := []error{errors.New("one"), nil, errors.New("three")}
	err := Each(t.Context(), 2, len(bad), func(i int) error { n.Add(1); return bad[i] })
	if n.Load() != 3 || !errors.Is(err, bad[0]) || !errors.Is(err, bad[2]) {
		t.Errorf("%d looked at: %v", n.Load(), err)
	}
}

// TestHeld is about the ends that are not the worker's doing.
func TestHeld(t *testing.T) {
	for end, want := range map[string][2]bool{Done: {true, false}, AlreadySo: {true, false}, "done, accepted": {},
		"asked: proof": {false, true}, "blocked: no_repair": {false, true}, "asked: plan": {}, "blocked: environment": {},
		"failed": {}, "": {}} {
		r := Result{End: end}
		if got := [2]bool{r.Landed(), r.Held()}; !slices.Equal(got[:], want[:]) {
			t.Errorf("%q: %v, want %v", end, got, want)
		}
	}
}
