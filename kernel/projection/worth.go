package projection

import (
	"pawl/kernel"
	"pawl/machine/session"
	"pawl/machine/task"
)

// Ended reports whether the commit closed a task for good or brought the session to rest, which is when a checkpoint of
// the audit log is worth signing.
func Ended(o kernel.Outcome) bool {
	for _, e := range o.Entries {
		if e.Move == nil {
			continue
		}
		switch kernel.Kind(e.Subject.Kind) {
		case kernel.KindTask:
			if task.State(e.Move.To).Terminal() {
				return true
			}
		case kernel.KindSession:
			if e.Move.To == string(session.Idle) || e.Move.To == string(session.Blocked) {
				return true
			}
		}
	}
	return false
}

// MovesSession reports whether the commit changed the session's state.
func MovesSession(o kernel.Outcome) bool {
	for _, e := range o.Entries {
		if e.Subject.Kind == string(kernel.KindSession) {
			return true
		}
	}
	return false
}
