package kernel

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/session"
	"pawl/machine/task"
)

// decideOn decides a command of the context manager on rows that are there.
func decideOn(s Snapshot, by pawl.Actor, c Command) (*Tx, error) {
	config := Defaults()
	s.Config = &config
	w := begin(&s, nil, &Envelope{Actor: by, Command: c, Trace: "t", Nonce: [16]byte{1}},
		time.Date(2026, 2, 8, 12, 0, 0, 0, time.UTC))
	return w, c.Decide(w)
}

func atRest() Snapshot {
	return Snapshot{Session: &Session{Row: Row{Kind: KindSession, ID: "S", State: string(session.Idle)},
		Place: effect.Place{Workspace: "/w", Tree: "/w"}}}
}

func byHand(state task.State) Snapshot {
	s := atRest()
	s.Task = &Task{Row: Row{Kind: KindTask, ID: "T", Label: "T-001", State: string(state)}, Title: "by hand"}
	return s
}

func TestNotesAreKept(t *testing.T) {
	w, err := decideOn(atRest(), "user:ada", &SaveDecision{Type: "lib", Content: " use ULIDs ", Replaces: "D0"})
	if err != nil || len(w.touched) != 1 || len(w.entries) != 1 {
		t.Fatalf("decision: %v, touched %d, records %d", err, len(w.touched), len(w.entries))
	}
	if d := w.touched[0].(*Ruling); d.Type != "Lib" || d.Content != "use ULIDs" || d.Replaces != "D0" ||
		d.By != "user:ada" || d.Kind != KindDecision || w.result != d.ID || w.entries[0].Event != "DECISION_SAVED" {
		t.Errorf("decision %+v, record %+v", d, w.entries[0])
	}
	w, err = decideOn(atRest(), "agent:x", &RecordError{Type: "E_IO", RootCause: "disk full", Fix: "more disk"})
	if err != nil || len(w.touched) != 1 || w.entries[0].Event != "ERROR_RECORDED" {
		t.Fatalf("incident: %v", err)
	}
	if i := w.touched[0].(*Incident); i.RootCause != "disk full" || i.Kind != KindIncident {
		t.Errorf("incident %+v", i)
	}
}

func TestNotesThatSayNothingAreRefused(t *testing.T) {
	long := strings.Repeat("x", maxNote+1)
	for _, c := range []struct {
		at   Snapshot
		say  Command
		want string
	}{
		{Snapshot{}, &SaveDecision{Type: "Lib", Content: "x"}, "kernel.not_initialised"},
		{Snapshot{}, &RecordError{Type: "a", RootCause: "b", Fix: "c"}, "kernel.not_initialised"},
		{Snapshot{}, &CreateCheckpoint{}, "kernel.not_initialised"},
		{atRest(), &SaveDecision{Type: "Opinion", Content: "x"}, "kernel.decision_type"},
		{atRest(), &SaveDecision{Type: "Rule", Content: " \n"}, "kernel.note_size"},
		{atRest(), &SaveDecision{Type: "Rule", Content: long}, "kernel.note_size"},
		{atRest(), &RecordError{Type: "a", RootCause: "", Fix: "c"}, "kernel.note_size"},
		{atRest(), &RecordError{Type: "a", RootCause: "b", Fix: "c", Scope: long}, "kernel.note_size"},
		{atRest(), &UpdateProgress{Task: "T"}, "kernel.task_not_found"},
		{byHand(task.Running), &UpdateProgress{Task: "T", Summary: long}, "kernel.note_size"},
	} {
		w, err := decideOn(c.at, "user:ada", c.say)
		var e *pawl.Error
		if !errors.As(err, &e) || e.Key != c.want || len(w.touched) > 0 {
			t.Errorf("%+v: %v, want %s", c.say, err, c.want)
		}
	}
}

func TestProgressGoesThroughTheMachine(t *testing.T) {
	w, err := decideOn(byHand(task.Blocked), "user:ada",
		&UpdateProgress{Task: "T", Status: "pending", Summary: "answered"})
	if err != nil || w.Task.State != string(task.Queued) {
		t.Errorf("blocked to pending: %v, %s", err, w.Task.State)
	}
	events := ""
	for _, e := range w.entries {
		events += e.Event + " "
	}
	if events != "APPROVAL_GRANTED STATE_TRANSITION_QUEUED TASK_PROGRESS " {
		t.Errorf("records %s", events)
	}
	if w, err = decideOn(byHand(task.Running), "user:ada",
		&UpdateProgress{Task: "T", Status: "DONE", Summary: "really"}); pawl.CodeOf(err) != pawl.CodeInvalidTransition {
		t.Errorf("running to done: %v, %s", err, w.Task.State)
	}
	if w, err = decideOn(byHand(task.Done), "user:ada", &UpdateProgress{Task: "T", Status: "DONE"}); err != nil ||
		len(w.touched) > 0 {
		t.Errorf("done to done: %v, touched %d", err, len(w.touched))
	}
	if _, err = decideOn(byHand(task.Running), "user:ada", &UpdateProgress{Task: "T", Status: "nearly"}); err == nil {
		t.Error("a status that is none was taken")
	}
	w, err = decideOn(byHand(task.Running), "agent:x", &UpdateProgress{Task: "T", Summary: "half way"})
	if err != nil || len(w.entries) != 1 || w.Task.State != string(task.Running) {
		t.Errorf("a mere note: %v, %+v", err, w.entries)
	}
	if p := w.Task.Progress; p == nil || p.Text != "half way" || p.By != "agent:x" || p.At.IsZero() {
		t.Errorf("the note is not kept with the task: %+v", p)
	}
}

func TestCheckpointOnRequest(t *testing.T) {
	at := atRest()
	at.Taken = []string{"chk-202602081200"}
	w, err := decideOn(at, "user:ada", &CreateCheckpoint{})
	if err != nil || w.Session.Effect == "" {
		t.Fatalf("request: %v", err)
	}
	e := w.touched[0].(*EffectDoc)
	spec, _ := effect.Decode[effect.CheckpointSpec](e.Effect.Spec)
	if e.What() != effect.KindCheckpoint || e.Effect.Task != "" || spec.Name != "chk-202602081200-2" ||
		e.Effect.Place.Tree != "/w" {
		t.Errorf("effect %+v %+v", e.Effect, spec)
	}
	w.Effect = e
	if err := checkpointMade(w, effect.Succeeded(effect.CheckpointResult{Name: spec.Name, Tree: "t"})); err != nil ||
		w.Session.LastCheckpoint != spec.Name {
		t.Errorf("made: %v, %+v", err, w.Session)
	}
	if err := checkpointMade(w, effect.Failed(pawl.Fail(pawl.CodeDiskFull, "point.x"))); err != nil ||
		w.Session.LastError == nil || w.Session.LastCheckpoint != spec.Name {
		t.Errorf("failed: %v, %+v", err, w.Session)
	}
	at.Session.State = string(session.Executing)
	if _, err := decideOn(at, "user:ada", &CreateCheckpoint{}); pawl.CodeOf(err) != pawl.CodeBusy {
		t.Errorf("while at work: %v", err)
	}
}

func TestRouteState(t *testing.T) {
	for _, from := range session.Table.States() {
		for _, to := range session.Table.States() {
			s := atRest()
			s.Session.State = string(from)
			c, err := s.RouteState(to, "text")
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
	if c, err := s.RouteState(session.Planning, "do it"); err != nil || c.(*Start).Requirement != "do it" ||
		c.(*Start).Place.Workspace != "/w" {
		t.Errorf("IDLE to PLANNING: %+v, %v", c, err)
	}
}

// shelf is a store that has nothing but rows.
type shelf struct {
	Store
	rows map[Kind][]Row
}

func (s shelf) Load(_ context.Context, sel ...Select) ([][]Row, error) {
	out := make([][]Row, len(sel))
	for i, q := range sel {
		for n := range s.rows[q.Kind] {
			r := s.rows[q.Kind][len(s.rows[q.Kind])-1-n] // newest first
			if q.ID == "" || q.ID == r.ID {
				out[i] = append(out[i], r)
			}
		}
	}
	return out, nil
}

func (s shelf) Records(context.Context, string, int64) iter.Seq2[audit.Stored, error] { return nil }

func TestReplacing(t *testing.T) {
	k := &Kernel{core: &core{store: shelf{rows: map[Kind][]Row{KindDecision: {{Kind: KindDecision, ID: "d1",
		Doc: []byte(`{"decision_type":"Lib","content":"old"}`)}}}}}}
	for id, want := range map[string]pawl.Code{"": "", "d1": "", "d9": pawl.CodeNotFound} {
		r := &reads{}
		err := r.gather(context.Background(), k.store,
			func() error { return (&SaveDecision{Replaces: id}).read(r, &Snapshot{}) })
		if got := pawl.CodeOf(err); got != want {
			t.Errorf("replacing %q: %q, want %q", id, got, want)
		}
	}
}
