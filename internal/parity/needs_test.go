package parity

import (
	"slices"
	"testing"

	"pawl/face/host"
	"pawl/kernel"
	"pawl/kernel/view"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
)

// verdict says when a state needs a person, who then finds it in the inbox.
type verdict string

const (
	never  verdict = "never"
	always verdict = "always"
	// stuck needs a person if it asks for something, if it is paused, or if nobody works on it.
	stuck verdict = "stuck"
)

// needing is the verdict on each state of the machines of sessions, issues and tasks. A state without one fails the
// test, so that whoever adds a state decides whether it is in the inbox.
var needing = map[string]verdict{
	"session IDLE":       stuck, // an undo may have been interrupted
	"session PLANNING":   stuck,
	"session CONFIRMING": always,
	"session EXECUTING":  stuck,
	"session AUTO_FIX":   stuck,
	"session BLOCKED":    always,
	"session ARCHIVING":  stuck,

	"issue registered": never, // the backlog: nobody said yet that it is to be worked on
	"issue planning":   stuck,
	"issue planned":    stuck,
	"issue executing":  stuck,
	"issue completed":  stuck, // its archive may not be written
	"issue failed":     always,

	// A task of a run needs what its session needs. One outside of runs is moved by the program or person that made it.
	"task draft": stuck, "task approved": stuck, "task queued": stuck, "task running": stuck, "task verifying": stuck,
	"task verified": stuck, "task failed": stuck, "task blocked": always, "task done": stuck, "task canceled": stuck,
}

func TestEveryStateHasAVerdict(t *testing.T) {
	all := map[string]bool{}
	for _, s := range session.Table.States() {
		all["session "+string(s)] = true
	}
	for _, s := range board.Issue.States() {
		all["issue "+string(s)] = true
	}
	for _, s := range task.Table.States() {
		all["task "+string(s)] = true
	}
	for s := range all {
		if needing[s] == "" {
			t.Errorf("%s: say in needing whether it needs a person", s)
		}
	}
	for s := range needing {
		if !all[s] {
			t.Errorf("%s is no state", s)
		}
	}
}

// needs compares the inbox with the verdicts on the states in the store, with a process at work and without one.
func (l *lab) needs() {
	l.Helper()
	for _, works := range []bool{false, true} {
		l.machine.owner = nil
		if works {
			l.machine.owner = &host.Owner{PID: 7, Host: "here", Command: "pawl run"}
		}
		_, raw := l.path("/inbox")
		in := into[view.Inbox](l, l.object(raw))
		at, err := l.own.Snapshot(l.Context())
		if err != nil {
			l.Fatal(err)
		}
		if got, want := has(in.Needs, ""), l.sessionNeeds(at, works); got != want {
			l.Errorf("session %s, process %v: in the inbox %v, want %v: %s", at.Session.State, works, got, want, raw)
		}
		l.issuesNeed(in)
	}
	l.machine.owner = nil
}

// sessionNeeds reports whether the inbox has to list what the session of the person is at.
func (l *lab) sessionNeeds(at *kernel.Snapshot, works bool) bool {
	l.Helper()
	questions, err := l.own.Questions(l.Context())
	if err != nil {
		l.Fatal(err)
	}
	asks := at.Session.Paused() || at.Approval != nil && at.Approval.State == kernel.ApprovalPending ||
		at.Turn != nil && at.Session.Run != "" && at.Turn.State == string(turn.Clarifying) ||
		slices.ContainsFunc(questions, func(q *kernel.Question) bool { return q.Parent == at.Session.ID })
	open := at.Session.State != string(session.Idle) || at.Effect != nil && at.Session.Effect == at.Effect.ID
	verdicts := []verdict{needing["session "+at.Session.State]}
	if at.Task != nil && at.Session.Run != "" {
		verdicts = append(verdicts, needing["task "+at.Task.State])
	}
	return asks || slices.Contains(verdicts, always) && !at.Session.RollingBack() || open && !works
}

// issuesNeed compares the inbox with the verdicts on the issues of the board.
func (l *lab) issuesNeed(in view.Inbox) {
	l.Helper()
	listed := map[string]bool{}
	for _, n := range in.Needs {
		listed[n.Issue] = true
		for _, label := range n.Behind {
			listed[label] = listed[label] || n.About == view.AboutUnclaimed
		}
	}
	at, claimed := map[string]*kernel.Issue{}, false
	for _, r := range l.rows() {
		if i := new(kernel.Issue); r.Kind == kernel.KindIssue {
			if err := kernel.Decode(r, i); err != nil {
				l.Fatal(err)
			}
			if i.Number > 0 {
				at[i.ID], claimed = i, claimed || i.Lease.Owner != "" && i.Lease.Expires.After(l.now)
			}
		}
	}
	for _, i := range at {
		behind := false
		for _, other := range at {
			behind = behind || slices.Contains(other.Open, i.ID) && other.State != string(board.IssueFailed) &&
				other.Hold != board.HoldPaused
		}
		lane, err := l.own.Session(i.Label).LastRun(l.Context())
		if err != nil {
			l.Fatal(err)
		}
		atWork := i.Lease.Owner != "" && i.Lease.Expires.After(l.now)
		waits := i.Work == board.WorkWaiting && !atWork
		ended := i.Hold == board.HoldPaused || lane.Run != nil && lane.Run.Outcome != "failed" && !waits
		want := waits && i.Hold != board.HoldPaused
		switch needing["issue "+i.State] {
		case always:
			want = !ended || behind || waits
		case stuck:
			want = want || !claimed && i.Rank > 0 && !i.NotBefore.After(l.now) &&
				(i.State != string(board.IssueCompleted) || i.Work == board.WorkDraining)
		}
		if listed[i.Label] != want {
			l.Errorf("%s is %s, held %v, work %s, claimed %v: in the inbox %v, want %v: %+v", i.Label, i.State, i.Hold, i.Work,
				claimed, listed[i.Label], want, in.Needs)
		}
	}
}
