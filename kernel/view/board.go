package view

import (
	"bytes"
	"encoding/json"
	"time"

	"pawl/kernel/effect"
	"pawl/machine/board"
	"pawl/text/message"
)

// BoardError is an entry of state.json's error log; its time may be zero where it is not known.
type BoardError struct {
	At     time.Time
	Action string
	Issue  string
	Error  effect.Fault
}

// Batch is what state.json shows: a run, its issues and its queue (docs/spec/board.md#fields).
type Batch struct {
	Status  board.RunStatus
	Phase   board.PhaseStatus
	WorkDir string
	Issues  []board.IssueState
	Queue   []board.QueueItem
	// Actions are the actions that the run has gone through: init, list, plan, execute, complete.
	Actions          []string
	Errors           []BoardError
	Created, Updated time.Time
}

// StateJSON returns the content of state.json as docs/spec/board.md#fields has it. Counters are derived from the issues
// (docs/spec/board.md#e16); board.ParseState accepts the result.
func StateJSON(b Batch) []byte { return indented(b.state()) }

// state is the batch in the form of state.json.
func (b *Batch) state() board.State {
	s := board.State{
		Status: b.Status, Phase: b.Phase, WorkDir: b.WorkDir, Issues: map[string]board.IssueState{},
		Queue:            []board.QueueItem{},
		CompletedActions: []string{}, Errors: []board.ErrorEntry{}, CreatedAt: stamp(b.Created),
		UpdatedAt: stamp(b.Updated),
	}
	s.CompletedActions = append(s.CompletedActions, b.Actions...)
	s.Queue = append(s.Queue, b.Queue...)
	for _, i := range b.Issues {
		s.Issues[i.ID] = i
	}
	for _, i := range s.Issues {
		count(&s.Context, i.Status, 1)
	}
	for _, e := range b.Errors {
		s.Errors = append(s.Errors, board.ErrorEntry{
			Timestamp: stamp(e.At), Action: e.Action, IssueID: e.Issue, Class: string(e.Error.Class),
			Code: string(e.Error.Code), Message: Said(e.Error),
		})
	}
	return s
}

// count counts issues in a status in, or out.
func count(c *board.Counters, status board.IssueStatus, by int) {
	c.TotalIssues += by
	switch status {
	case board.IssueCompleted:
		c.CompletedCount += by
	case board.IssueFailed:
		c.FailedCount += by
	}
}

// BoardPoint is one entry of state-history.json: the run after one of its moves.
type BoardPoint struct {
	At      time.Time
	Phase   board.PhaseStatus
	Actions int
	Issues  int
}

// StateHistory returns the content of state-history.json (docs/spec/board.md#persistence).
func StateHistory(points []BoardPoint) []byte {
	type entry struct {
		Timestamp        string            `json:"timestamp"`
		Phase            board.PhaseStatus `json:"phase"`
		CompletedActions int               `json:"completed_actions"`
		IssuesCount      int               `json:"issues_count"`
	}
	out := []entry{}
	for _, p := range points {
		out = append(out, entry{stamp(p.At), p.Phase, p.Actions, p.Issues})
	}
	return indented(out)
}

// indented writes a value of this package's own types as the seed's tools do, with two blanks per level.
func indented(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	// Strings, numbers, and lists and maps of them always encode.
	_ = enc.Encode(v)
	return b.Bytes()
}

// Said puts a failure into words for files without a language, in English.
func Said(f effect.Fault) string {
	args := make([]any, len(f.Args))
	for n, a := range f.Args {
		args[n] = a
	}
	return plain(message.English.Text(f.Key, args...), maxGoal)
}
