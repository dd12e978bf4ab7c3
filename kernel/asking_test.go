package kernel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/planning"
	"pawl/kernel/query"
	"pawl/kernel/recovery"
	"pawl/kernel/steps"
)

// by gives a command in somebody's name.
func (b *bench) by(who pawl.Actor, c kernel.Command) error {
	_, err := b.k.Do(context.Background(), kernel.Envelope{Actor: who, Command: c})
	return err
}

// recorded returns who caused the newest record of an event.
func (b *bench) recorded(event string) (by pawl.Actor) {
	b.t.Helper()
	for rec, err := range b.store.Records(b.t.Context(), "", 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		p, err := audit.Parse(rec.Bytes)
		if err != nil {
			b.t.Fatal(err)
		}
		if p.Event == event {
			by = p.Actor
		}
	}
	return by
}

func asks(id, question string) effect.Ask {
	return effect.Ask{ID: id, Name: effect.AskHuman, Args: json.RawMessage(fmt.Sprintf(`{"question":%q}`, question))}
}

// TestAgentAsksThePerson parks the work on an agent's question, answers it as the result of its call, and lets nobody
// but a person answer.
func TestAgentAsksThePerson(t *testing.T) {
	m := &mind{work: []effect.WorkResult{wants(call("a", "read_file", "x"), asks("b", "keep the flag?"),
		call("c", "write_file", "x")), finished}}
	b := working(t, m, planning.Start{})
	s := b.look()
	if s.Turn.State != "CLARIFYING" || s.Session.State != "EXECUTING" || len(s.Turn.Questions) != 1 ||
		s.Turn.Questions[0] != "keep the flag?" {
		t.Fatalf("session %s, turn %s %q", s.Session.State, s.Turn.State, s.Turn.Questions)
	}
	st, err := query.Status(t.Context(), b.k)
	if err != nil || len(st.Questions) != 1 || st.Questions[0].ID != "q-1" || !st.Questions[0].Waits ||
		st.Questions[0].By != "agent:m" || st.Next[0].Command != "pawl answer" {
		t.Errorf("status %v %+v %+v", err, st.Questions, st.Next)
	}
	if text := b.projections()["active_context.md"]; !strings.Contains(text,
		"- question: q-1 agent:m: keep the flag?") {
		t.Errorf("the active context says %s", text)
	}
	for _, c := range []kernel.Command{&steps.AnswerQuestions{Answers: []string{"yes"}},
		&steps.AnswerQuestions{Question: "q-1", Answers: []string{"yes"}}, &steps.AnswerQuestions{}} {
		if err := b.by("agent:m", c); pawl.CodeOf(err) != pawl.CodeDenied {
			t.Errorf("an agent answers: %v", err)
		}
	}
	if err := b.by("user:ada", &steps.AnswerQuestions{Answers: []string{"a",
		"b"}}); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Errorf("two answers to one question: %v", err)
	}
	b.do(&steps.AnswerQuestions{Answers: []string{"no, drop it"}})
	b.run(m.answer)
	b.wantStates("PLANNING CONFIRMING EXECUTING ARCHIVING IDLE")
	if got := strings.Join(m.made, " "); got != "read_file write_file" {
		t.Errorf("made %s", got)
	}
	told := m.asked[1].Messages
	if len(told) != 4 || told[2].Call != "b" || told[2].Failed || !strings.Contains(told[2].Text, "no, drop it") {
		t.Errorf("the agent was told %+v", told)
	}
	if by := b.recorded("QUESTION_ANSWERED"); by != "user:ada" {
		t.Errorf("the audit names %q", by)
	}
	b.verifyAudit()
}

// TestLoopingAgentAsksThePerson has an agent with a loop of its own ask, which ends its turn; the answer comes with the
// next.
func TestLoopingAgentAsksThePerson(t *testing.T) {
	question := effect.WorkResult{Said: effect.Said{Agent: "m"}, Control: effect.Question, Reason: "keep the flag?",
		Session: "own-1"}
	m := &mind{work: []effect.WorkResult{question, finished}}
	b := working(t, m, planning.Start{})
	b.do(&steps.AnswerQuestions{Question: "Q-1", Answers: []string{"no"}})
	b.run(m.answer)
	b.wantStates("PLANNING CONFIRMING EXECUTING ARCHIVING IDLE")
	if s := m.asked[1]; s.Session != "own-1" || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "keep the flag?") ||
		!strings.Contains(s.Notes[0], "answered: no") {
		t.Errorf("the agent goes on with %q, told %q", s.Session, s.Notes)
	}
	unattended := &mind{work: []effect.WorkResult{wants(asks("a", "x?")), finished}}
	b = working(t, unattended, planning.Start{RunMode: pawl.Autonomous})
	if len(unattended.asked) < 2 || !strings.Contains(unattended.asked[1].Messages[1].Text, "unattended") &&
		!unattended.asked[1].Messages[1].Failed {
		t.Errorf("an unattended agent was told %+v", unattended.asked)
	}
	b.verifyAudit()
}

// TestQuestionsBesideTheWork parks work on the question of another agent, at its next call, and keeps a question that
// outlives the work.
func TestQuestionsBesideTheWork(t *testing.T) {
	m := &mind{work: []effect.WorkResult{wants(call("a", "read_file", "x")), finished}}
	b := working(t, m, planning.Start{})
	b.wantStates("PLANNING CONFIRMING EXECUTING ARCHIVING IDLE")
	ask := func(by pawl.Actor, text string) error { return b.by(by, &steps.Ask{Question: text}) }
	for range 2 {
		if err := ask("agent:mcp/x", "why?"); err != nil {
			t.Fatal(err)
		}
	}
	if open, err := b.k.Questions(t.Context()); err != nil || len(open) != 1 {
		t.Fatalf("%v %+v", err, open)
	}
	m = &mind{work: []effect.WorkResult{wants(call("a", "read_file", "x")), finished}}
	m.plan = intent()
	during := func(e effect.Effect) effect.Receipt {
		if e.Kind == effect.KindWork && len(m.asked) == 0 {
			if err := ask("agent:mcp/x", "and this?"); err != nil {
				t.Error(err)
			}
		}
		return m.answer(e)
	}
	b.do(&planning.Start{Requirement: "more", Agent: "m", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true},
		RunMode: pawl.Assisted})
	b.run(during)
	b.do(&approval.Approve{Hash: b.look().Solution.Hash})
	b.run(during)
	if s := b.look(); s.Turn.State != "CLARIFYING" || len(m.made) != 0 {
		t.Fatalf("turn %s, made %v", s.Turn.State, m.made)
	}
	b.do(&recovery.Stop{Reason: "enough"})
	if s := b.look(); s.Session.State != "BLOCKED" {
		t.Errorf("session %s", s.Session.State)
	}
	if open, _ := b.k.Questions(t.Context()); len(open) != 2 {
		t.Errorf("the questions of another agent went with the work: %+v", open)
	}
	b.do(&steps.AnswerQuestions{Answers: []string{"because", ""}})
	if open, _ := b.k.Questions(t.Context()); len(open) != 0 {
		t.Errorf("still open: %+v", open)
	}
	if err := ask("agent:mcp/x", strings.Repeat("x", 2001)); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Errorf("a question without end: %v", err)
	}
	for i := range 21 {
		if err := ask("agent:mcp/x", fmt.Sprint(i)); (err != nil) != (i == 20) {
			t.Errorf("question %d: %v", i, err)
		}
	}
	b.verifyAudit()
}
