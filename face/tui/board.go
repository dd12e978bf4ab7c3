package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pawl/machine/board"
)

// Board is a backlog at one moment, as far as it is shown. The caller makes it from the store; it holds counts and what
// heads each column, so that its size does not grow with the backlog. Texts may hold anything: they are escaped when
// drawn.
type Board struct {
	// At is when it was read. All times that are shown as "since" are counted up to it.
	At time.Time
	// Run names the batch: its id or label. Status and Phase are those of docs/spec/board.md#fields.
	Run    string
	Status board.RunStatus
	Phase  board.PhaseStatus
	// Columns are the issues by their status, in any order; a status without a column counts as empty.
	Columns []Column
	// Workers are those that are alive, at work or not.
	Workers []Worker
	// Events are the last ones, newest first.
	Events []Event
	Totals Totals
	// Filter is what the caller chose the issues by, "" for none.
	Filter string
}

// Column holds the issues of one status: how many there are, and the first of them in their order.
type Column struct {
	Status board.IssueStatus
	Count  int
	Issues []Issue
}

// Flag is what is computed of an issue beside its status.
type Flag string

// The flags.
const (
	FlagNone    Flag = ""
	FlagReady   Flag = "ready"   // may begin at once
	FlagBlocked Flag = "blocked" // waits for other issues or for a person
	FlagPaused  Flag = "paused"
)

// Issue is a line of a column.
type Issue struct {
	ID, Title string
	Flag      Flag
	// Priority is 1 (critical) to 5; 0 counts as 3, the usual one, which is not shown.
	Priority int
	// Since is when it came into its status; zero is not shown.
	Since time.Time
	// Attempt is the number of the attempt, shown from 2.
	Attempt int
}

// Worker is one that carries issues out. Issue is "" while it waits for work.
type Worker struct {
	Name, Issue, Step string
	Since             time.Time
}

// Mark says how something went.
type Mark string

// The marks.
const (
	MarkNone Mark = ""
	MarkOK   Mark = "ok"
	MarkBad  Mark = "bad"
	MarkWarn Mark = "warn"
	MarkMove Mark = "move"
)

// Event is something that happened. Text is in the language of the person.
type Event struct {
	At    time.Time
	Issue string
	Mark  Mark
	Text  string
}

// Totals are the numbers of the whole backlog, whatever the filter shows.
type Totals struct {
	Total, Completed, Failed int
	// Finished issues took the time Took together, from the begin of their work to its end. Issues that were finished
	// without a known time count in neither.
	Finished int
	Took     time.Duration
	// Today is what all work of the present day has cost, in UTC as budgets count days.
	Today Cost
}

// Cost is what work has cost. It is not known where nothing was charged, or where a price is missing.
type Cost struct {
	MicroUSD int64
	Known    bool
}

// String is the cost in dollars, "" where it is not known.
func (c Cost) String() string {
	if !c.Known {
		return ""
	}
	return fmt.Sprintf("$%d.%02d", c.MicroUSD/1e6, c.MicroUSD%1e6/1e4)
}

// Detail is all there is to know about one issue. Each text is in the language of the person.
type Detail struct {
	Issue  Issue
	Status board.IssueStatus
	// Cost is what the work on it has cost.
	Cost Cost
	// Text is the issue's own description.
	Text string
	// Blocked says why work on it stopped, "" when it did not.
	Blocked  string
	Plan     []DetailLine
	Evidence []DetailLine
	// History are its last events, newest first.
	History []Event
	// Next are the commands that a person can give now.
	Next []string
}

// DetailLine is a step of the plan or a check, with what is to be said beside it.
type DetailLine struct {
	Mark       Mark
	Text, Note string
}

// In returns the board with its times as a person at a place reads them.
func (b Board) In(place *time.Location) Board {
	b.At, b.Events = b.At.In(place), eventsIn(b.Events, place)
	return b
}

// In returns the detail with its times as a person at a place reads them.
func (d Detail) In(place *time.Location) Detail {
	d.History = eventsIn(d.History, place)
	return d
}

func eventsIn(events []Event, place *time.Location) []Event {
	out := slices.Clone(events)
	for i := range out {
		out[i].At = out[i].At.In(place)
	}
	return out
}

// Left estimates the time until everything is done: as long as the finished issues took on average, for each that is
// left, shared by the workers. It is unknown before the first issue is finished.
func (b Board) Left() (time.Duration, bool) {
	t := b.Totals
	left := t.Total - t.Completed - t.Failed
	if left <= 0 {
		return 0, t.Total > 0
	}
	if t.Finished == 0 || t.Took <= 0 {
		return 0, false
	}
	each := t.Took / time.Duration(t.Finished)
	hands := min(max(1, len(b.Workers)), left)
	return each * time.Duration(left) / time.Duration(hands), true
}

// Percent is how much is over, completed or failed: 100 only when all of it is.
func (b Board) Percent() int {
	t := b.Totals
	if t.Total <= 0 {
		return 0
	}
	over := min(t.Completed+t.Failed, t.Total)
	return int(int64(over) * 100 / int64(t.Total))
}

// Success is the share of the completed ones among those that are over, in percent; unknown before the first.
func (b Board) Success() (int, bool) {
	t := b.Totals
	if over := t.Completed + t.Failed; over > 0 {
		return t.Completed * 100 / over, true
	}
	return 0, false
}

// column returns the column of a status, with what the filter leaves of its first page.
func (b Board) column(s board.IssueStatus, filter string) Column {
	for _, c := range b.Columns {
		if c.Status != s {
			continue
		}
		if filter == "" || filter == b.Filter {
			return c
		}
		// The caller has not filtered yet: what is known is filtered meanwhile.
		out := Column{Status: s}
		for _, i := range c.Issues {
			if matches(i, filter) {
				out.Issues = append(out.Issues, i)
			}
		}
		out.Count = len(out.Issues)
		return out
	}
	return Column{Status: s}
}

// matches reports whether an issue's id or title holds all words of a filter.
func matches(i Issue, filter string) bool {
	text := strings.ToLower(i.ID + " " + i.Title)
	for _, w := range strings.Fields(strings.ToLower(filter)) {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
