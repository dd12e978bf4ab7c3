package board

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"pawl"
)

// State is an exported state.json, in the seed's shape. Fields that the seed does not know are ignored.
type State struct {
	Status           RunStatus             `json:"status"`
	Phase            PhaseStatus           `json:"phase"`
	WorkDir          string                `json:"work_dir"`
	Issues           map[string]IssueState `json:"issues"`
	Queue            []QueueItem           `json:"queue"`
	CompletedActions []string              `json:"completed_actions"`
	Context          Counters              `json:"context"`
	Errors           []ErrorEntry          `json:"errors"`
	CreatedAt        string                `json:"created_at"`
	UpdatedAt        string                `json:"updated_at"`
}

// IssueState is an issue in state.json. Error is nil where nothing went wrong.
type IssueState struct {
	ID         string      `json:"id"`
	Title      string      `json:"title"`
	Status     IssueStatus `json:"status"`
	SolutionID string      `json:"solution_id"`
	PlannedAt  Instant     `json:"planned_at"`
	ExecutedAt Instant     `json:"executed_at"`
	Error      *string     `json:"error"`
}

// Instant is a time of state.json in RFC 3339, "" for none, which is written as null and read of both.
type Instant string

// MarshalJSON writes the time, or null.
func (t Instant) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(t))
}

// QueueItem is a queue item in state.json.
type QueueItem struct {
	ItemID     string     `json:"item_id"`
	IssueID    string     `json:"issue_id"`
	SolutionID string     `json:"solution_id"`
	Status     ItemStatus `json:"status"`
}

// Counters are the sums in state.json. They are derived on export and never read back (docs/spec/board.md#e16).
type Counters struct {
	TotalIssues    int `json:"total_issues"`
	CompletedCount int `json:"completed_count"`
	FailedCount    int `json:"failed_count"`
}

// ErrorEntry is one entry of the error log (docs/spec/board.md#e17).
type ErrorEntry struct {
	Timestamp string `json:"timestamp"`
	Action    string `json:"action"`
	IssueID   string `json:"issue_id,omitempty"`
	Class     string `json:"class"`
	Code      string `json:"code"`
	Message   string `json:"message"`
}

// issueID accepts the ids of issues that the seed and its tools write (docs/spec/board.md#e14).
var issueID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(ISS-[A-Za-z0-9-]+|GH-[0-9]+)$`) })

// IsIssueID reports whether a text has the form of an issue's id.
func IsIssueID(text string) bool { return issueID().MatchString(text) }

// MaxOrdinal bounds the numbers in labels that are kept, behind which the numbers of further issues go on.
const MaxOrdinal = 1_000_000_000

// Ordinal is the number of a label that could be one of pawl's own, 0 for any other.
func Ordinal(label string) int64 {
	digits, ok := strings.CutPrefix(label, "ISS-")
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || n < 0 || n > MaxOrdinal || strconv.FormatInt(n, 10) != digits {
		return 0
	}
	return n
}

// ParseState reads an exported state.json and checks it as the seed's validateState does, with its gaps closed: the
// working directory is asked for only once the run has begun (docs/spec/board.md#e1); null and arrays are no objects,
// phases are checked, and the queue, the issues and the solutions must agree with each other (docs/spec/board.md#e2);
// the phase must fit the status (docs/spec/board.md#e4). The first fault is returned with code invalid and the place
// that it was found at. Empty, truncated or trailing input is a fault and never an empty state
// (docs/spec/board.md#e15). Aliases of phases are replaced by the seed's names. On an error the state is the zero
// value.
func ParseState(raw []byte) (State, error) {
	var fields map[string]json.RawMessage
	if err := decode(raw, &fields); err != nil || fields == nil {
		return State{}, fault("machine.state_json").Because(err)
	}
	if err := shape(fields); err != nil {
		return State{}, err
	}
	s, err := values(fields)
	if err != nil {
		return State{}, fault("machine.state_json").Because(err)
	}
	if err := s.check(); err != nil {
		return State{}, err
	}
	s.Phase, _ = ParsePhase(string(s.Phase))
	return s, nil
}

// fieldNames are the fields of State as they are spelt in the file.
var fieldNames = []string{
	"status", "phase", "work_dir", "issues", "queue", "completed_actions", "context", "errors", "created_at",
	"updated_at",
}

// values reads the known fields. Go's decoder would also take a field in another spelling for the known one, and join
// two of the same name; that would let through what shape has not seen.
func values(fields map[string]json.RawMessage) (s State, err error) {
	maps.DeleteFunc(fields, func(name string, _ json.RawMessage) bool { return !slices.Contains(fieldNames, name) })
	raw, err := json.Marshal(fields)
	if err != nil {
		return State{}, err
	}
	err = decode(raw, &s)
	return s, err
}

// decode reads exactly one JSON value.
func decode(raw []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return pawl.Fail(pawl.CodeInvalid, "machine.state_trailing")
	}
	return nil
}

// fault returns the error for one place of the state.
func fault(key string, args ...any) *pawl.Error {
	return pawl.Fail(pawl.CodeInvalid, key, args...).In("board.ParseState")
}

// shape checks what Go's decoder would let pass: that fields are there, and that null stands for nothing.
func shape(fields map[string]json.RawMessage) error {
	for _, f := range []string{"status", "phase"} {
		if v := fields[f]; len(v) == 0 || string(v) == `""` || string(v) == "null" {
			return fault("machine.state_missing", f)
		}
	}
	for _, f := range []struct {
		name     string
		open     byte
		required bool
	}{{"issues", '{', true}, {"queue", '[', true}, {"completed_actions", '[', false}, {"context", '{', false},
		{"errors", '[', false}} {
		v := fields[f.name]
		if len(v) == 0 && !f.required {
			continue
		}
		if len(v) == 0 || v[0] != f.open {
			key := "machine.state_object"
			if f.open == '[' {
				key = "machine.state_array"
			}
			return fault(key, f.name)
		}
	}
	return nil
}

// check looks at the values.
func (s State) check() error {
	if !Run.Known(s.Status) {
		return fault("machine.state_value", "status", string(s.Status))
	}
	phase, ok := ParsePhase(string(s.Phase))
	if !ok {
		return fault("machine.state_value", "phase", string(s.Phase))
	}
	if s.WorkDir == "" && s.Status != RunPending {
		return fault("machine.state_missing", "work_dir")
	}
	if !fits(s.Status, phase) {
		return fault("machine.state_phase", string(s.Status), string(phase))
	}
	for _, t := range [][2]string{{"created_at", s.CreatedAt}, {"updated_at", s.UpdatedAt}} {
		if err := checkTime(t[0], t[1]); err != nil {
			return err
		}
	}
	if s.Context.TotalIssues < 0 || s.Context.CompletedCount < 0 || s.Context.FailedCount < 0 {
		return fault("machine.state_value", "context", "-")
	}
	for _, id := range slices.Sorted(maps.Keys(s.Issues)) {
		if err := s.Issues[id].check(id); err != nil {
			return err
		}
	}
	return s.checkQueue()
}

// fits reports whether a run of the status can be in the phase: it has not begun, or is over, or is anywhere between.
func fits(status RunStatus, phase PhaseStatus) bool {
	switch status {
	case RunPending:
		return phase == PhaseInit
	case RunCompleted:
		return phase == PhaseComplete
	}
	return phase != PhaseComplete
}

func (i IssueState) check(key string) error {
	at := "issues." + key
	if i.ID != key || !issueID().MatchString(i.ID) {
		return fault("machine.state_value", at+".id", i.ID)
	}
	if !Issue.Known(i.Status) {
		return fault("machine.state_value", at+".status", string(i.Status))
	}
	if i.SolutionID != "" && !solves(i.SolutionID, i.ID) {
		return fault("machine.state_solution", at+".solution_id", i.SolutionID, i.ID)
	}
	if err := checkTime(at+".planned_at", string(i.PlannedAt)); err != nil {
		return err
	}
	return checkTime(at+".executed_at", string(i.ExecutedAt))
}

func (s State) checkQueue() error {
	seen := make(map[string]bool, len(s.Queue))
	for _, q := range s.Queue {
		at := "queue." + q.ItemID
		if q.ItemID == "" || seen[q.ItemID] {
			return fault("machine.state_item", q.ItemID)
		}
		seen[q.ItemID] = true
		if !Item.Known(q.Status) {
			return fault("machine.state_value", at+".status", string(q.Status))
		}
		if _, ok := s.Issues[q.IssueID]; !ok {
			return fault("machine.state_reference", at+".issue_id", q.IssueID)
		}
		if !solves(q.SolutionID, q.IssueID) {
			return fault("machine.state_solution", at+".solution_id", q.SolutionID, q.IssueID)
		}
	}
	return nil
}

// solves reports whether a solution id belongs to an issue: SOL-<issue>-<n>, where the seed's own example leaves the
// issue's prefix away.
func solves(solution, issue string) bool {
	rest, ok := strings.CutPrefix(solution, "SOL-")
	if !ok {
		return false
	}
	at := strings.LastIndexByte(rest, '-')
	if at < 1 || rest[at+1:] == "" || strings.Trim(rest[at+1:], "0123456789") != "" {
		return false
	}
	return rest[:at] == issue || rest[:at] == strings.TrimPrefix(issue, "ISS-")
}

func checkTime(at, text string) error {
	if text == "" {
		return nil
	}
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		return fault("machine.state_time", at, text)
	}
	return nil
}
