package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl"
	"pawl/agent"
	"pawl/machine/workflow"
	"pawl/sandbox"
	"pawl/text/triage"
)

// quietBox answers every command of git's with the same hash.
type quietBox struct{}

func (quietBox) Run(context.Context, sandbox.Spec) (sandbox.Result, error) {
	return sandbox.Result{Output: []byte("abc\n")}, nil
}

// acting plays pawl and the agent at once: it writes records and does to the folder what they tell of, unless spoiled.
type acting struct {
	t     *testing.T
	s     sample
	spoil map[string]bool
	lied  bool
	state string
}

func (a *acting) call(_ context.Context, c Call) int {
	if c.Args[0] == "undo" {
		a.put(c.Dir, a.s.fault, "undo")
		return 0
	}
	say := func(format string, args ...any) { fmt.Fprintf(c.Out, format+"\n", args...) }
	if a.lied {
		if a.spoil["state"] {
			say(`{"type":"result","state":"IDLE"}`)
			return blockedStatus
		}
		say(`{"type":"result","state":"BLOCKED"}`)
		if a.spoil["liar"] {
			return 0
		}
		return blockedStatus
	}
	a.lied = true
	tree := filepath.Join(a.state, "workspaces", "w", "worktrees", "T")
	if err := os.MkdirAll(tree, 0o755); err != nil {
		a.t.Error(err)
	}
	verdict := func(passed bool, tree string) {
		status := map[bool]string{true: "passed", false: "failed"}[passed]
		say(`{"event":"VERIFICATION_RESULT","data":{"passed":%v,"tree":%q,"gates_executed":[{"gate_name":"go vet","status":"passed"},{"gate_name":"go test","status":%q}]}}`, passed, tree, status)
	}
	say(`{"event":"INTAKE_JUDGED","data":{"by":%q,"score":10}}`, map[bool]string{true: "pawl", false: "a"}[a.spoil["judged"]])
	say(`{"event":"APPROVAL_GRANTED"}`)
	say(`{"event":"CALL_ALLOWED"}`)
	a.put(tree, a.s.first, "edit")
	if a.spoil["outside"] {
		a.put(c.Dir, a.s.first, "")
	}
	say(`{"event":"STATE_TRANSITION_VERIFYING","subject":{"kind":"turn"}}`)
	verdict(a.spoil["believed"], "t0")
	a.put(tree, a.s.right, "mend")
	say(`{"event":"STATE_TRANSITION_VERIFYING","subject":{"kind":"task"}}`)
	say(`{"event":"STATE_TRANSITION_VERIFYING","subject":{"kind":"turn"}}`)
	verdict(true, "t1")
	say(`{"type":"progress","kind":"agent.work","line":"I mend it."}`)
	say(`{"event":"REVIEW_RESULT","data":{"agent":"a"%s}}`, map[bool]string{true: `,"fault":{"code":"model"}`}[a.spoil["review"]])
	a.put(c.Dir, a.s.right, "land")
	landed := "t1"
	if a.spoil["tree"] {
		landed = "t2"
	}
	if !a.spoil["silent"] {
		say(`{"event":"RESULT_LANDED","data":{"tree":%q,"commit":"c0ffee","branch":"main"}}`, landed)
	}
	if a.spoil["status"] {
		_, _ = io.WriteString(c.Err, `{"error":{"code":"model","message":"the model is gone"}}`)
		return 1
	}
	return 0
}

// put writes the file, unless that is what is spoiled.
func (a *acting) put(dir, content, what string) {
	if a.spoil[what] {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, a.s.file), []byte(content), 0o600); err != nil {
		a.t.Error(err)
	}
}

// TestTheSampleIsClear: no agent may be stopped by questions about the sample, whoever judges it.
func TestTheSampleIsClear(t *testing.T) {
	own, err := triage.Evaluate(requirement, nil)
	if err != nil || !own.Ready() || own.Dangerous() {
		t.Errorf("%+v %v", own, err)
	}
	if path, _ := own.Path(); path == workflow.PathTweak {
		t.Error("no model would be asked to judge it")
	}
}

func TestRun(t *testing.T) {
	for spoil, want := range map[string]struct{ stage, key string }{
		"":         {},
		"judged":   {Judged, "check.not_seen"},
		"edit":     {Edited, "check.not_edited"},
		"outside":  {Edited, "check.outside"},
		"believed": {Refused, "check.believed"},
		"mend":     {Mended, "check.not_edited"},
		"review":   {Reviewed, "check.not_reviewed"},
		"tree":     {Proven, "check.other_tree"},
		"land":     {Landed, "check.not_landed"},
		"silent":   {Proven, "check.not_seen"},
		"undo":     {Undone, "check.not_undone"},
		"liar":     {Liar, "check.status"},
		"state":    {Liar, "check.lie_believed"},
	} {
		t.Run(spoil, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			var got []Stage
			o := Options{Agent: "a", Kind: agent.KindHeadless, Provider: "openai", Dir: dir, State: t.TempDir(), Go: true, Box: quietBox{},
				Report: func(s Stage) { got = append(got, s) }}
			play := &acting{t: t, s: sampleFor(o), spoil: map[string]bool{spoil: true}, state: o.State}
			o.Pawl = play.call
			failed, err := Run(t.Context(), o)
			if err != nil || failed != want.stage {
				t.Fatalf("failed %q, %v", failed, err)
			}
			var names []string
			for _, s := range got[:len(got)-1] {
				names = append(names, s.Name)
				if s.Err != nil {
					t.Errorf("%s: %v", s.Name, s.Err)
				}
			}
			last := got[len(got)-1]
			all := []string{Judged, Planned, Edited, Refused, Mended, Reviewed, Proven, Landed, Undone, Liar, Quiet}
			if !slices.Equal(append(names, last.Name), all[:len(got)]) {
				t.Errorf("stages %v %s", names, last.Name)
			}
			if said := []string{"I mend it."}; spoil == "mend" && !slices.Equal(last.Said, said) {
				t.Errorf("the agent said %q", last.Said)
			}
			var e *pawl.Error
			if errors.As(last.Err, &e) != (want.key != "") || e != nil && e.Key != want.key {
				t.Errorf("%v", last.Err)
			}
		})
	}
}

// TestWhatPawlSays shows what pawl itself complained of.
func TestWhatPawlSays(t *testing.T) {
	var got []Stage
	o := Options{Agent: "a", Kind: agent.KindHeadless, Provider: "openai", Dir: t.TempDir(), State: t.TempDir(), Box: quietBox{},
		Report: func(s Stage) { got = append(got, s) }}
	play := &acting{t: t, s: sampleFor(o), spoil: map[string]bool{"status": true, "silent": true}, state: o.State}
	o.Pawl = play.call
	failed, err := Run(t.Context(), o)
	last := got[len(got)-1]
	if err != nil || failed != Proven || pawl.CodeOf(last.Err) != pawl.CodeModel ||
		!strings.Contains(last.Err.Error(), "the model is gone") {
		t.Errorf("%s %v %+v", failed, err, last)
	}
}

// TestQuiet finds a process that is left in the folder.
func TestQuiet(t *testing.T) {
	if _, err := os.Stat("/proc/self/cwd"); err != nil {
		t.Skip("only /proc tells in which folder a process works, and this system has none")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &checker{Options: Options{Dir: dir, Report: func(Stage) {}}}
	cmd := exec.Command("sleep", "60")
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := c.quiet(t.Context()); err == nil || !strings.Contains(err.Error(), fmt.Sprint(cmd.Process.Pid)) {
		t.Errorf("%v", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if err := c.quiet(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestCanceled is an interrupt, which is no verdict.
func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Agent: "a", Kind: agent.KindHeadless, Provider: "openai", Dir: t.TempDir(), State: t.TempDir(), Box: quietBox{},
		Report: func(s Stage) { t.Errorf("%+v", s) }}
	o.Pawl = func(context.Context, Call) int { cancel(); return 130 }
	if _, err := Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
