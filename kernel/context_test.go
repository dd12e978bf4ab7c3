package kernel_test

import (
	"context"
	"encoding/json"
	"errors"

	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
	"pawl/kernel/joined"
	"pawl/kernel/orders"
	"pawl/kernel/planning"
	"pawl/kernel/tasks"
	"pawl/machine/session"
	"pawl/machine/task"
)

// decided is a decision with the rows that it changes.
type decided struct {
	kernel.Decision
	Session *kernel.Session
	Task    *kernel.Task
}

// decideOn decides a command on rows that are there.
func decideOn(s kernel.Snapshot, by pawl.Actor, c kernel.Command) (decided, error) {
	config := kernel.Defaults()
	s.Config = &config
	d, err := kernel.Decide(joined.Table(), &s, &kernel.Envelope{Actor: by, Command: c, Trace: "t", Nonce: [16]byte{1}},
		time.Date(2026, 2, 8, 12, 0, 0, 0, time.UTC))
	out := decided{Decision: d, Session: s.Session, Task: s.Task}
	for _, doc := range d.Touched {
		switch doc := doc.(type) {
		case *kernel.Session:
			out.Session = doc
		case *kernel.Task:
			out.Task = doc
		}
	}
	return out, err
}

func atRest() kernel.Snapshot {
	return kernel.Snapshot{Session: &kernel.Session{Row: kernel.Row{Kind: kernel.KindSession, ID: "S",
		State: string(session.Idle)},
		Place: effect.Place{Workspace: "/w", Tree: "/w"}}}
}

func byHand(state task.State) kernel.Snapshot {
	s := atRest()
	s.Task = &kernel.Task{Row: kernel.Row{Kind: kernel.KindTask, ID: "T", Label: "T-001", State: string(state)},
		Title: "by hand"}
	return s
}

func TestNotesAreKept(t *testing.T) {
	w, err := decideOn(atRest(), "user:ada", &orders.SaveDecision{Type: "lib", Content: " use ULIDs ", Replaces: "D0"})
	if err != nil || len(w.Touched) != 1 || len(w.Entries) != 1 {
		t.Fatalf("decision: %v, touched %d, records %d", err, len(w.Touched), len(w.Entries))
	}
	if d := w.Touched[0].(*kernel.Ruling); d.Type != "Lib" || d.Content != "use ULIDs" || d.Replaces != "D0" ||
		d.By != "user:ada" || d.Kind != kernel.KindDecision || w.Result != d.ID ||
		w.Entries[0].Event != "DECISION_SAVED" {
		t.Errorf("decision %+v, record %+v", d, w.Entries[0])
	}
	w, err = decideOn(atRest(), "agent:x", &orders.RecordError{Type: "E_IO", RootCause: "disk full", Fix: "more disk"})
	if err != nil || len(w.Touched) != 1 || w.Entries[0].Event != "ERROR_RECORDED" {
		t.Fatalf("incident: %v", err)
	}
	if i := w.Touched[0].(*kernel.Incident); i.RootCause != "disk full" || i.Kind != kernel.KindIncident {
		t.Errorf("incident %+v", i)
	}
}

func TestNotesThatSayNothingAreRefused(t *testing.T) {
	long := strings.Repeat("x", 16<<10+1)
	for _, c := range []struct {
		at   kernel.Snapshot
		say  kernel.Command
		want string
	}{
		{kernel.Snapshot{}, &orders.SaveDecision{Type: "Lib", Content: "x"}, "kernel.not_initialised"},
		{kernel.Snapshot{}, &orders.RecordError{Type: "a", RootCause: "b", Fix: "c"}, "kernel.not_initialised"},
		{kernel.Snapshot{}, &orders.CreateCheckpoint{}, "kernel.not_initialised"},
		{atRest(), &orders.SaveDecision{Type: "Opinion", Content: "x"}, "kernel.decision_type"},
		{atRest(), &orders.SaveDecision{Type: "Rule", Content: " \n"}, "kernel.note_size"},
		{atRest(), &orders.SaveDecision{Type: "Rule", Content: long}, "kernel.note_size"},
		{atRest(), &orders.RecordError{Type: "a", RootCause: "", Fix: "c"}, "kernel.note_size"},
		{atRest(), &orders.RecordError{Type: "a", RootCause: "b", Fix: "c", Scope: long}, "kernel.note_size"},
		{atRest(), &tasks.UpdateProgress{Task: "T"}, "kernel.task_not_found"},
		{byHand(task.Running), &tasks.UpdateProgress{Task: "T", Summary: long}, "kernel.note_size"},
	} {
		w, err := decideOn(c.at, "user:ada", c.say)
		var e *pawl.Error
		if !errors.As(err, &e) || e.Key != c.want || len(w.Touched) > 0 {
			t.Errorf("%+v: %v, want %s", c.say, err, c.want)
		}
	}
}

func TestProgressGoesThroughTheMachine(t *testing.T) {
	w, err := decideOn(byHand(task.Blocked), "user:ada",
		&tasks.UpdateProgress{Task: "T", Status: "pending", Summary: "answered"})
	if err != nil || w.Task.State != string(task.Queued) {
		t.Errorf("blocked to pending: %v, %s", err, w.Task.State)
	}
	events := ""
	for _, e := range w.Entries {
		events += e.Event + " "
	}
	if events != "APPROVAL_GRANTED STATE_TRANSITION_QUEUED TASK_PROGRESS " {
		t.Errorf("records %s", events)
	}
	if w, err = decideOn(byHand(task.Running), "user:ada",
		&tasks.UpdateProgress{Task: "T", Status: "DONE",
			Summary: "really"}); pawl.CodeOf(err) != pawl.CodeInvalidTransition {
		t.Errorf("running to done: %v, %s", err, w.Task.State)
	}
	if w, err = decideOn(byHand(task.Done), "user:ada", &tasks.UpdateProgress{Task: "T", Status: "DONE"}); err != nil ||
		len(w.Touched) > 0 {
		t.Errorf("done to done: %v, touched %d", err, len(w.Touched))
	}
	if _, err = decideOn(byHand(task.Running), "user:ada",
		&tasks.UpdateProgress{Task: "T", Status: "nearly"}); err == nil {
		t.Error("a status that is none was taken")
	}
	w, err = decideOn(byHand(task.Running), "agent:x", &tasks.UpdateProgress{Task: "T", Summary: "half way"})
	if err != nil || len(w.Entries) != 1 || w.Task.State != string(task.Running) {
		t.Errorf("a mere note: %v, %+v", err, w.Entries)
	}
	if p := w.Task.Progress; p == nil || p.Text != "half way" || p.By != "agent:x" || p.At.IsZero() {
		t.Errorf("the note is not kept with the task: %+v", p)
	}
}

func TestCheckpointOnRequest(t *testing.T) {
	at := atRest()
	at.Taken = []string{"chk-202602081200"}
	w, err := decideOn(at, "user:ada", &orders.CreateCheckpoint{})
	if err != nil || w.Session.Effect == "" {
		t.Fatalf("request: %v", err)
	}
	e := w.Touched[0].(*kernel.EffectDoc)
	spec, _ := effect.Decode[effect.CheckpointSpec](e.Effect.Spec)
	if e.What() != effect.KindCheckpoint || e.Effect.Task != "" || spec.Name != "chk-202602081200-2" ||
		e.Effect.Place.Tree != "/w" {
		t.Errorf("effect %+v %+v", e.Effect, spec)
	}
	e.State, e.Epoch = kernel.EffectRunning, 1
	running := kernel.Snapshot{Session: w.Session, Effect: e}
	made, err := decideOn(running, "runner", &effects.Report{Effect: e.ID, Token: 1,
		Receipt: effect.Succeeded(effect.CheckpointResult{Name: spec.Name, Tree: "t"})})
	if err != nil || made.Session.LastCheckpoint != spec.Name {
		t.Errorf("made: %v, %+v", err, made.Session)
	}
	running.Session = made.Session
	failed, err := decideOn(running, "runner", &effects.Report{Effect: e.ID, Token: 1,
		Receipt: effect.Failed(pawl.Fail(pawl.CodeDiskFull, "point.x"))})
	if err != nil || failed.Session.LastError == nil || failed.Session.LastCheckpoint != spec.Name {
		t.Errorf("failed: %v, %+v", err, failed.Session)
	}
	at.Session.State = string(session.Executing)
	if _, err := decideOn(at, "user:ada", &orders.CreateCheckpoint{}); pawl.CodeOf(err) != pawl.CodeBusy {
		t.Errorf("while at work: %v", err)
	}
}

func TestRouteState(t *testing.T) {
	for _, from := range session.Table.States() {
		for _, to := range session.Table.States() {
			s := atRest()
			s.Session.State = string(from)
			c, err := joined.RouteState(&s, to, "text")
			_, legal := session.Table.Between(from, to)
			if c != nil && (err != nil || !legal) {
				t.Errorf("%s to %s: %T, %v", from, to, c, err)
			}
			if c == nil && pawl.CodeOf(err) != pawl.CodeInvalidTransition {
				t.Errorf("%s to %s: %v", from, to, err)
			}
			if from == session.Executing && to == session.Idle && c != nil {
				t.Errorf("EXECUTING to IDLE: %T", c)
			}
		}
	}
	s := atRest()
	if c, err := joined.RouteState(&s, session.Planning, "do it"); err != nil ||
		c.(*planning.Start).Requirement != "do it" ||
		c.(*planning.Start).Place.Workspace != "/w" {
		t.Errorf("IDLE to PLANNING: %+v, %v", c, err)
	}
}

func TestReplacing(t *testing.T) {
	b := newBench(t)
	saved := b.do(&orders.SaveDecision{Type: "Lib", Content: "old"})
	var first string
	if err := json.Unmarshal(saved.Result, &first); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]pawl.Code{"": "", first: "", "d9": pawl.CodeNotFound} {
		_, err := b.k.Do(context.Background(), kernel.Envelope{Actor: "user:ada",
			Command: &orders.SaveDecision{Type: "Lib", Content: "new", Replaces: id}})
		if got := pawl.CodeOf(err); got != want {
			t.Errorf("replacing %q: %q, want %q", id, got, want)
		}
	}
}
