package view

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"pawl/text/display"

	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/text/plan"
)

// Names of projections, relative to .pawl.
const (
	ContextFile   = "active_context.md"
	StateFile     = "state.json"
	HistoryFile   = "state-history.json"
	DecisionsFile = "project_decisions.md"
	IndexFile     = "archive/_index.md"
)

// MaxHistory is the number of entries under "History" (docs/spec/session.md#active-context).
const MaxHistory = 5

// Context is what active_context.md shows (docs/spec/session.md#s4, docs/spec/session.md#active-context).
type Context struct {
	SessionID  string
	State      session.State
	Attempts   int // auto_fix_attempts
	Checkpoint string
	// Stash says that changes of the user were put aside for the work; pawl works in a tree of its own and needs none.
	Stash bool
	// Ended is when the last run ended or the session was paused; Updated is when the session last changed. Both may be
	// zero. Neither is the time of writing, so that the same rows always give the same bytes.
	Ended, Updated time.Time
	Summary        string
	Goal           string
	Tasks          []ContextTask
	// More is the number of open tasks that are not among Tasks.
	More    int
	Pad     []PadLine
	History []HistoryLine
	Workers []Worker
}

// ContextTask is a line of the task queue with its steps.
type ContextTask struct {
	Label, Title string
	State        task.State
	File         string
	Steps        []StepLine
}

// PadLine is a line of the scratchpad: a name and its value.
type PadLine struct{ Name, Value string }

// HistoryLine is a task that ended. Archived says that the history file has an entry for it.
type HistoryLine struct {
	Label, Title string
	Result       Ending
	Ended        time.Time
	Commit       string
	Archived     bool
}

// Worker is a line of the table of live workers: who works on what, to be resumed.
type Worker struct{ Task, Session, State, Note string }

// ActiveContext returns the content of active_context.md. It is a projection: nothing ever reads it as truth, and
// Edited tells whether somebody changed it.
func ActiveContext(c Context) []byte {
	var front, body strings.Builder
	front.WriteString("---\n")
	for _, f := range [][2]string{
		{"session_id", scalar(display.Clip(c.SessionID, maxTitle))},
		{"task_status", string(c.State)},
		{"auto_fix_attempts", fmt.Sprint(c.Attempts)},
		{"last_checkpoint", scalar(display.Clip(c.Checkpoint, maxTitle))},
		{"stash_applied", fmt.Sprint(c.Stash)},
		{"last_session_end", scalar(minute(c.Ended))},
		{"last_updated", scalar(stamp(c.Updated))},
		{"context_summary", scalar(plain(c.Summary, maxSummary))},
	} {
		front.WriteString(f[0] + ": " + f[1] + "\n")
	}
	body.WriteString("---\n\n# Active Context\n\n## 1. Current Goal\n\n")
	body.WriteString(quoted(c.Goal))
	body.WriteString("\n## 2. Task Queue\n\n")
	for _, t := range c.Tasks {
		t.write(&body)
	}
	if c.More > 0 {
		fmt.Fprintf(&body, "- … +%d\n", c.More)
	}
	body.WriteString("\n## 3. Scratchpad\n\n")
	for _, p := range c.Pad {
		body.WriteString("- " + p.Name + ": " + line(p.Value, maxCell) + "\n")
	}
	body.WriteString("\n## 4. History\n\n")
	for _, h := range c.History[:min(len(c.History), MaxHistory)] {
		h.write(&body)
	}
	body.WriteString("\n## 活跃会话\n\n| 任务 ID | 会话 ID | 状态 | 备注 |\n| --- | --- | --- | --- |\n")
	for _, w := range c.Workers {
		fmt.Fprintf(&body, "| %s | %s | %s | %s |\n", cell(w.Task), cell(w.Session), cell(w.State), cell(w.Note))
	}
	return []byte(front.String() + projectionLine(front.String()+body.String()) + body.String())
}

// taskMarks are the words in the brackets of a task's line.
var taskMarks = map[task.State]string{
	task.Draft: " ", task.Approved: " ", task.Queued: " ",
	task.Running: "🔄 IN_PROGRESS", task.Verifying: "🔍 VERIFYING", task.Verified: "🔍 VERIFYING",
	task.Done: "✅ DONE", task.Failed: "❌ FAILED", task.Canceled: "⏭️ SKIPPED", task.Blocked: "🚫 BLOCKED",
}

// stepMarks are the words in the brackets of a step's line.
var stepMarks = map[plan.Status]string{
	plan.Pending: " ", plan.InProgress: "🔄 IN_PROGRESS", plan.Done: "✅ DONE", plan.Blocked: "🚫 BLOCKED",
	plan.Skipped: "⏭️ SKIPPED",
}

func (t ContextTask) write(b *strings.Builder) {
	fmt.Fprintf(b, "- [%s] %s: [P0] %s%s\n", mark(taskMarks[t.State]), t.Label, line(t.Title, maxTitle),
		related(t.File))
	for i, s := range t.Steps {
		fmt.Fprintf(b, "  - [%s] %s.%d: %s%s\n", mark(stepMarks[s.Status]), t.Label, i+1, line(s.Title, maxTitle),
			related(s.File))
	}
}

func mark(m string) string {
	if m == "" {
		return " "
	}
	return m
}

func related(file string) string {
	if file == "" {
		return ""
	}
	return " (" + line(file, maxTitle) + ")"
}

func (h HistoryLine) write(b *strings.Builder) {
	fmt.Fprintf(b, "- %s %s %s: %s", h.Result.Icon(), minute(h.Ended), h.Label, line(h.Title, maxTitle))
	if h.Commit != "" {
		b.WriteString(" (" + h.Commit[:min(12, len(h.Commit))] + ")")
	}
	if h.Archived {
		b.WriteString(" Details: ./" + TaskArchive(h.Ended) + "#" + anchor(h.Label))
	}
	b.WriteString("\n")
}

// minute writes an instant as the seed's tools do, in UTC, or "".
func minute(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// stamp writes an instant in RFC 3339 with milliseconds, in UTC, or "".
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

const (
	projection = "projection: \"sha256:"
	frontEnd   = "---\n"
)

// projectionLine is the last line of the front matter: the digest of everything else in the file.
func projectionLine(rest string) string {
	sum := sha256.Sum256([]byte(rest))
	return projection + hex.EncodeToString(sum[:]) + "\"\n"
}

// Edited reports whether data is anything but what ActiveContext wrote: changed by hand, cut short, or no such file at
// all.
func Edited(data []byte) bool {
	head, tail, ok := bytes.Cut(data, []byte("\n"+projection))
	if !ok {
		return true
	}
	_, tail, ok = bytes.Cut(tail, []byte("\n"))
	if !ok || !bytes.HasPrefix(tail, []byte(frontEnd)) {
		return true
	}
	front := string(head) + "\n"
	return front+projectionLine(front+string(tail))+string(tail) != string(data)
}
