package parity

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pawl/kernel"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
)

// atlas is what was looked at: the states of each table, and the combinations of states, so that one is looked at once.
type atlas struct {
	states map[string]map[string]bool
	looked map[string]bool
	looks  int
}

func (a *atlas) saw(table, state string) {
	if a.states[table] == nil {
		a.states[table] = map[string]bool{}
	}
	a.states[table][state] = true
}

// mark notes the states that a row is in, and returns them.
func (a *atlas) mark(t *testing.T, r kernel.Row) string {
	t.Helper()
	read := func(d kernel.Document) {
		t.Helper()
		if err := kernel.Decode(r, d); err != nil {
			t.Fatal(err)
		}
	}
	out := string(r.Kind) + " " + r.State
	and := func(table, state string) {
		a.saw(table, state)
		out += " " + state
	}
	switch r.Kind {
	case kernel.KindSession:
		s := new(kernel.Session)
		read(s)
		a.saw("session", r.State)
		and("session.dispatch", string(s.Dispatch))
		and("session.rollback", string(s.Rollback))
	case kernel.KindFlow:
		f := new(kernel.Flow)
		read(f)
		if f.Vars.Stage != "" {
			and("workflow.stage", string(f.Vars.Stage))
		}
		and("workflow.mode", string(f.Vars.Mode))
	case kernel.KindRun:
		run := new(kernel.Run)
		read(run)
		a.saw("board.run", r.State)
		and("board.phase", run.Phase)
		out += fmt.Sprint(run.Outcome, run.Undone, run.Land != nil)
	case kernel.KindIssue:
		i := new(kernel.Issue)
		read(i)
		a.saw("board.issue", r.State)
		if i.Number > 0 {
			and("board.hold", string(i.Hold))
			and("board.work", string(i.Work))
			and("board.claim", string(i.Claim))
			and("board.dependents", string(i.Dependents))
			out += fmt.Sprint(len(i.Open) > 0)
		}
	case kernel.KindTask:
		tk := new(kernel.Task)
		read(tk)
		a.saw("task", r.State)
		if tk.Proof != nil {
			out += string(tk.Proof.Verdict)
		}
		if tk.Blocked != nil {
			out += string(tk.Blocked.Kind)
		}
	case kernel.KindBoard:
		b := new(kernel.Board)
		read(b)
		a.saw("board.run", r.State)
		and("board.phase", b.Phase)
	case kernel.KindItem:
		a.saw("board.item", r.State)
	case kernel.KindTurn:
		a.saw("turn", r.State)
	case kernel.KindApproval, kernel.KindQuestion, kernel.KindEffect, kernel.KindSolution:
		a.saw(string(r.Kind), r.State)
	default:
		return ""
	}
	return out
}

// tables are all states that work can be in: of the published machines, and of the rows beside them.
func tables() map[string][]string {
	out := map[string][]string{
		"approval": {kernel.ApprovalPending, kernel.ApprovalGranted, kernel.ApprovalRefused, kernel.ApprovalStale},
		"question": {kernel.QuestionOpen, kernel.QuestionAnswered, kernel.QuestionDismissed},
		"effect": {kernel.EffectPending, kernel.EffectRunning, kernel.EffectDone, kernel.EffectFailed, kernel.EffectUnknown,
			kernel.EffectCanceled},
		"solution": {kernel.SolutionOpen, kernel.SolutionDraft, kernel.SolutionUsed},
	}
	for _, d := range slices.Concat(session.Describe(), turn.Describe(), workflow.Describe(), task.Describe(), board.Describe()) {
		for _, s := range d.States {
			if !s.Unset {
				out[d.Name] = append(out[d.Name], s.State)
			}
		}
	}
	return out
}

// passed are states that work goes through within one commit, so that nobody ever finds it there, and why.
var passed = map[string]string{
	"turn SUMMARIZING":  "the summary is a view of what is known by then",
	"turn DONE":         "a turn that is done is closed",
	"board.run pending": "a batch is set up when its first issue is registered",
	"board.phase init":  "a batch is listed as soon as it is set up",
}

// look asks every face about everything, unless the states of the store together were looked at before.
func (l *lab) look() {
	l.Helper()
	var all []string
	for _, r := range l.rows() {
		if s := l.all.mark(l.T, r); s != "" {
			all = append(all, s)
		}
	}
	slices.Sort(all)
	if together := strings.Join(slices.Compact(all), "\n"); l.all.looked[together] {
		return
	} else {
		l.all.looked[together] = true
	}
	l.all.looks++
	l.status()
	l.plan()
	l.runs()
	l.tasks()
	l.issues()
	l.inbox()
	l.needs()
	l.spent()
}
