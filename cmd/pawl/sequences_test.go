package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/internal/modeltest"
	"pawl/kernel/effect"
)

// note is what the model says of the requirement of these tests: it is clear, and takes a light iteration.
const note = `{"class":"feature","score":9,"risk":"low","dimensions":[{"name":"goal","points":3,"evidence":` + quoted +
	`},{"name":"criteria","points":2,"evidence":` + quoted + `},` +
	`{"name":"scope","points":2,"evidence":` + quoted +
	`},{"name":"limits","points":2,"evidence":[]}],"questions":[],"factors":{"new":false,"major":false,"design":"simple","extent":"local"},"ehrb":[],"why":"clear"}`

const notePlan = `{"goal":"write a note","constraints":[],"criteria":[{"id":"c1","text":"the note is there","proof":"diff","paths":["note.txt"]}],"risk_level":"low","steps":[{"step_id":"s1","title":"Write note.txt","intent":"Say hello in note.txt"}],` +
	`"verification":{"mode":"test","commands":[],"required":true,"stop_on_fail":true}}`

// notes is a model that writes the note, after a while.
func notes(intake string, after time.Duration) modeltest.Script {
	return modeltest.Script{
		JSON: map[string]json.RawMessage{"intake": json.RawMessage(intake), "plan": json.RawMessage(notePlan)},
		Branches: []modeltest.Branch{{Steps: []modeltest.Step{{Text: "done"}}},
			{When: "Say hello in note.txt", Steps: []modeltest.Step{
				{Calls: []modeltest.Call{{Write: "note.txt", Content: "hello\n"}}, Wait: after}, {Text: "done"},
			}}},
	}
}

// forever is longer than any test lives.
const forever = time.Hour

// sequence is a user with a small repository whose check is quick, and a model.
func sequence(t *testing.T, s modeltest.Script) (*user, *modeltest.Server) {
	t.Helper()
	u := newUser(t)
	u.write("Makefile", "test:\n\t@true\n")
	u.repository()
	return u, u.modelled("openai", s)
}

// stands fails unless the session and the variables of the flow are as told: session, mode, stage, path, created
// package.
func (u *user) stands(when, want string) {
	u.t.Helper()
	st := u.status()
	if got := strings.Join([]string{string(st.State), string(st.Flow.Mode), string(st.Flow.Stage), string(st.Flow.Path),
		st.Flow.Package}, " "); strings.TrimSpace(got) != want {
		u.t.Errorf("%s: %s, want %s", when, strings.TrimSpace(got), want)
	}
}

// asking waits until a process has asked the model to do a step, which takes as long as the script says.
func (u *user) asking(p *process) {
	u.t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if st := u.status(); st.Doing != nil && st.Doing.Kind == effect.KindWork && st.Doing.State == "running" {
			return
		}
	}
	u.t.Fatalf("the model was never asked: %+v %v", u.status().Doing, p.kill())
}

const atRest = "IDLE INTERACTIVE"

// noted fails unless so many notes have landed, and nothing is left of the flows.
func (u *user) noted(commits string) {
	u.t.Helper()
	u.stands("at the end", atRest)
	if n := u.git("rev-list", "--count", "HEAD"); n != commits || u.read("note.txt") != "hello\n" ||
		u.git("status", "--porcelain") != "" {
		u.t.Errorf("%s commits; note.txt is %q; %s", n, u.read("note.txt"), u.git("status", "--porcelain"))
	}
	u.must(0, "audit", "verify")
	u.quiet()
}

// passed are the rows of the machine of the stage that the flows came through.
func (u *user) passed() string {
	u.t.Helper()
	var out []string
	for line := range strings.Lines(u.must(0, "audit", "log", "--json").out) {
		var r struct {
			Payload struct {
				Rule string `json:"rule"`
			} `json:"payload"`
			Event string `json:"event_type"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			u.t.Fatal(err)
		}
		if strings.HasPrefix(r.Payload.Rule, "W") && !strings.HasPrefix(r.Event, "MODE_") {
			out = append(out, r.Payload.Rule)
		}
	}
	return strings.Join(out, " ")
}

// TestSequence1 is 场景1: ~auto completes, and ~exec inherits nothing of it.
func TestSequence1_CompletedThenExec(t *testing.T) {
	t.Parallel()
	u, srv := sequence(t, notes(note, 0))
	u.must(0, "~plan write a note")
	u.stands("after ~plan", atRest)
	u.must(0, "~auto write a note")
	u.stands("after ~auto", atRest)
	if u.read("note.txt") != "hello\n" {
		t.Fatal("nothing landed")
	}
	u.write("note.txt", "not yet\n")
	u.git("commit", "-q", "-a", "-m", "another note")

	srv.Play(notes(note, forever))
	p := u.start("~exec write-a-note")
	u.asking(p)
	u.stands("~exec at work", "EXECUTING INTERACTIVE DEVELOP")
	p.kill()
	srv.Play(notes(note, 0))
	u.must(0, "resume")
	u.noted("4")
	if got := u.passed(); got != "W02 W06 W08 W13 W01 W06 W08 W10 W11 W03 W11" &&
		got != "W02 W06 W08 W13 W01 W06 W08 W10 W11 W03 W22 W11" {
		t.Errorf("came through %s", got)
	}
}

// TestSequence2 is 场景2: what is canceled leaves as little behind as what is completed.
func TestSequence2_CanceledThenAuto(t *testing.T) {
	t.Parallel()
	u, srv := sequence(t, notes(unclear, 0))
	u.must(9, "~plan write a note")
	u.stands("~plan at work", "PLANNING AUTO_PLAN EVALUATE")
	u.must(0, "cancel")
	u.stands("canceled", atRest)
	srv.Play(notes(note, 0))
	u.must(0, "~auto write a note")
	u.noted("2")
	if got := u.passed(); got != "W02 W14 W01 W06 W08 W10 W11" {
		t.Errorf("came through %s", got)
	}
}

// TestSequence3 is 场景3 and the mutual exclusion: while ~auto is at work, what reads is answered at once, what writes is
// refused, and another flow takes its place only where that is asked for.
func TestSequence3_CommandsWhileAutoRuns(t *testing.T) {
	t.Parallel()
	u, srv := sequence(t, notes(note, 0))
	u.must(0, "~plan write a note")
	waiting := decode[struct{ Packages map[string]struct{} }](u, "validate").Packages
	if len(waiting) != 1 {
		t.Fatalf("packages %v", waiting)
	}
	name := slices.Collect(maps.Keys(waiting))[0]
	srv.Play(notes(note, forever))
	first := u.start("~auto write a note")
	u.asking(first)
	at := "EXECUTING AUTO_FULL DEVELOP light " + u.status().Flow.Package
	u.stands("~auto at work", at)
	records := len(u.log())

	for _, c := range []struct {
		code int
		args []string
		says string
	}{
		{0, []string{"~help"}, "~rollback"}, {0, []string{"say", "please show ~help"}, "~rollback"}, {0,
			[]string{"say", "what is going on?"}, "EXECUTING"},
		{0, []string{"~validate"}, "write-a-note"}, {0, []string{"~review"}, ""},
		{7, []string{"~plan write a note"}, "--replace"}, {7, []string{"~auto write a note"}, "--replace"}, {7,
			[]string{"~exec " + name}, "--replace"},
		{7, []string{"say", "write a note about it"}, "--replace"},
		{7, []string{"~clean --all"}, ""}, {7, []string{"~clean"}, ""}, {7, []string{"~commit all of it"}, ""}, {7,
			[]string{"~test"}, ""}, {7, []string{"~upgrade"}, ""},
		{7, []string{"~rollback HEAD"}, ""},
	} {
		a := u.pawl(c.args...)
		if a.code != c.code || !strings.Contains(a.out+a.err, c.says) {
			t.Errorf("%q: want exit status %d and %q, got %v", c.args, c.code, c.says, a)
		}
	}
	u.stands("after all of them", at)
	if n := len(u.log()); n != records {
		t.Errorf("%d records were written by what was refused or only reads", n-records)
	}

	srv.Play(notes(note, 0))
	u.must(0, "~auto write a note", "--replace")
	if a := first.wait(); a.code != 12 {
		t.Errorf("the flow that gave way: %v", a)
	}
	u.noted("2")
	// What is canceled at work is cleaned up and archived, and its flow ends by that.
	if got := u.passed(); got != "W02 W06 W08 W13 W01 W06 W08 W10 W11 W01 W06 W08 W10 W11" {
		t.Errorf("came through %s", got)
	}
}

// TestSequence4 is 场景4: a question leaves no variable behind, whether anything was there before or not.
func TestSequence4_QuestionThenAuto(t *testing.T) {
	t.Parallel()
	u, _ := sequence(t, notes(note, 0))
	u.must(0, "say", "what is going on?")
	u.must(0, "init", "--bare")
	u.stands("before the question", atRest)
	records := len(u.log())
	for _, words := range []string{"what is going on?", "how does this project work?", "现在进展如何？"} {
		u.must(0, "say", words)
		u.stands(words, atRest)
	}
	if n := len(u.log()); n != records {
		t.Errorf("%d records of a conversation", n-records)
	}
	u.must(0, "~auto write a note")
	u.noted("2")
	if got := u.passed(); got != "W01 W06 W08 W10 W11" {
		t.Errorf("came through %s", got)
	}
}
