package joined

import (
	"pawl"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/control"
	"pawl/kernel/planning"
	"pawl/kernel/recovery"
	"pawl/machine/session"
)

// RouteState returns the command that takes the session to a state, for update_state of the context manager. Text is
// what the command needs: a requirement, the hash of the plan, a reason or a note. Moves that only work itself can
// cause are refused, and so are those that the session's machine does not have.
func RouteState(s *kernel.Snapshot, to session.State, text string) (kernel.Command, error) {
	from := session.Table.Initial()
	if s.Session != nil {
		from = session.State(s.Session.State)
	}
	switch [2]session.State{from, to} {
	case [2]session.State{session.Idle, session.Planning}:
		start := &planning.Start{Requirement: text, RunMode: pawl.Assisted}
		if s.Session != nil {
			start.Place, start.RunMode = s.Session.Place, s.Session.RunMode
		}
		return start, nil
	case [2]session.State{session.Planning, session.Idle}:
		return &control.CancelRun{Reason: text}, nil
	case [2]session.State{session.Confirming, session.Idle}:
		return &approval.Deny{Reason: text}, nil
	case [2]session.State{session.Confirming, session.Executing}:
		return &approval.Approve{Hash: text}, nil
	case [2]session.State{session.Executing, session.Blocked}, [2]session.State{session.AutoFix, session.Blocked}:
		return &recovery.Stop{Reason: text}, nil
	case [2]session.State{session.Blocked, session.Executing}:
		return &recovery.Fix{Note: text}, nil
	case [2]session.State{session.Blocked, session.Idle}:
		return &recovery.Rollback{Reason: text}, nil
	}
	if _, ok := session.Table.Between(from, to); ok {
		return nil, pawl.Fail(pawl.CodeInvalidTransition, "kernel.state_of_work", string(from), string(to))
	}
	return nil, pawl.Fail(pawl.CodeInvalidTransition, "kernel.state_unreachable", string(from), string(to))
}
