package notices

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"pawl/kernel"
	"pawl/kernel/effect"
)

// About names what a message is about: an approval, a question, a session that is blocked, a run that ended, or nothing
// but the message itself (KindNotice).
type About struct {
	Kind kernel.Kind
	ID   string
	// Mark tells the times apart at which the same session is blocked.
	Mark string
}

// String is the form that ParseAbout reads.
func (a About) String() string { return strings.Trim(string(a.Kind)+":"+a.ID+":"+a.Mark, ":") }

// ParseAbout reads what String returned.
func ParseAbout(text string) About {
	kind, rest, _ := strings.Cut(text, ":")
	id, mark, _ := strings.Cut(rest, ":")
	return About{kernel.Kind(kind), id, mark}
}

// label is the one under which a channel is told of it, once.
func (a About) label(channel string) string { return a.String() + "@" + channel }

// read reads the rows that say whether it waits.
func (a About) read(r *kernel.Reads, s *kernel.Snapshot) {
	switch a.Kind {
	case kernel.KindApproval:
		s.Approval = kernel.One[kernel.Approval](r, kernel.ByID(a.Kind, a.ID))
	case kernel.KindQuestion:
		if q := kernel.One[kernel.Question](r, kernel.ByID(a.Kind, a.ID)); q != nil {
			s.Questions = []*kernel.Question{q}
		}
	case kernel.KindRun:
		s.Run = kernel.One[kernel.Run](r, kernel.ByID(a.Kind, a.ID))
	case kernel.KindSession:
		if s.Session = kernel.One[kernel.Session](r, kernel.ByID(a.Kind, a.ID)); s.Session == nil {
			return
		}
		if s.Run = kernel.One[kernel.Run](r, kernel.ByID(kernel.KindRun, s.Session.Run)); s.Run != nil {
			s.Task = kernel.One[kernel.Task](r, kernel.ByID(kernel.KindTask, s.Run.Task))
		}
	}
}

// waits reports whether it is as it was when it was to be told: what was asked is open, what ended has ended.
func (a About) waits(tx *kernel.Tx) bool {
	switch a.Kind {
	case kernel.KindApproval:
		return tx.Approval != nil && tx.Approval.ID == a.ID && tx.Approval.State == kernel.ApprovalPending
	case kernel.KindQuestion:
		return len(tx.Questions) > 0 && tx.Questions[0].ID == a.ID && tx.Questions[0].State == kernel.QuestionOpen
	case kernel.KindSession:
		return tx.Session != nil && tx.Session.ID == a.ID && Mark(tx.Session, tx.Task) == a.Mark
	case kernel.KindRun:
		return tx.Run != nil && tx.Run.ID == a.ID && tx.Run.Outcome != ""
	}
	return true
}

// parent is the row with which the message goes out of the store.
func (a About) parent(tx *kernel.Tx) string {
	switch {
	case a.Kind == kernel.KindApproval:
		return tx.Approval.Parent
	case a.Kind == kernel.KindQuestion:
		return tx.Questions[0].Parent
	case tx.Run != nil:
		return tx.Run.ID
	}
	return tx.Session.ID
}

// Mark tells why a session is blocked, and at which attempt of its task, "" where it is not.
func Mark(s *kernel.Session, t *kernel.Task) string {
	if s.Blocked == nil {
		return ""
	}
	turns := 0
	if t != nil {
		turns = t.Turns
	}
	why, err := json.Marshal(s.Blocked)
	if err != nil {
		return "" // texts always encode
	}
	sum := sha256.Sum256(fmt.Appendf(why, "%s %d %d", s.Run, s.AutoFix, turns))
	return hex.EncodeToString(sum[:8])
}

// TopicOf is what a session that is blocked is told of as.
func TopicOf(b *kernel.Blocked) effect.Topic {
	if b.Kind == kernel.BlockedBudget {
		return effect.TopicBudget
	}
	return effect.TopicBlocked
}
