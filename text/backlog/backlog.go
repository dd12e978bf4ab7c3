package backlog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"pawl/machine/board"
)

// Limits of what is read. What is beyond them is refused and never cut.
const (
	MaxBytes  = 128 << 20 // of one file or page
	MaxText   = 256 << 20 // of the bodies of all issues together
	MaxState  = 64 << 20  // of a state.json
	MaxPage   = 16 << 20  // of a Markdown file
	MaxRecord = 8 << 20   // of one record in JSON
	MaxIssues = 200_000
	MaxBody   = 1 << 20 // of the body of one issue
	MaxID     = 200     // of an external id
	MaxTitle  = 300     // characters of a title; what is longer stands in full at the beginning of the body
	MaxTags   = 50      // of one issue
	MaxEdges  = 1000    // dependencies of one issue
)

// The range of priorities (docs/spec/board.md#priority): 1 is critical.
const (
	MinPriority     = 1
	MaxPriority     = 5
	DefaultPriority = 3
)

// Issue is one issue of a backlog. Texts are UTF-8 without control characters; a title is one line.
type Issue struct {
	// ID is the external id, unique in the backlog and the same on each import.
	ID string `json:"id"`
	// Ref is what people call the issue, such as GH-12 or login, or "" where it has only an id that was made.
	Ref   string `json:"ref,omitempty"`
	Title string `json:"title"`
	Body  string `json:"body,omitempty"`
	// Priority is from 1, critical, to 5; 3 where the source says nothing.
	Priority int      `json:"priority"`
	Tags     []string `json:"tags,omitempty"`
	// DependsOn are external ids of other issues of the backlog, each once and without circles.
	DependsOn []string          `json:"depends_on,omitempty"`
	Status    board.IssueStatus `json:"status"`
	// Paused is the flag that stands for the status of that name (docs/spec/board.md#e9).
	Paused bool `json:"paused,omitempty"`
	// SolutionID is the solution that the source has bound; solutions themselves are not part of a backlog.
	SolutionID string     `json:"solution_id,omitempty"`
	Feedback   []Feedback `json:"feedback,omitempty"`
	// URL is where people find the issue, or "".
	URL string `json:"url,omitempty"`
	// UpdatedAt is when the source last changed it (RFC 3339), or "". It is not part of the digest.
	UpdatedAt string `json:"updated_at,omitempty"`
	// Line is where the issue begins in its file, from 1.
	Line int `json:"-"`
	// State is all that a state.json says of the issue, nil for other forms.
	State *IssueState `json:"-"`
}

// IssueState is an issue of a state.json with its item of the queue, nil where it has none, and its entries of the
// error log.
type IssueState struct {
	board.IssueState
	Item   *board.QueueItem
	Errors []board.ErrorEntry
}

// Feedback is what an attempt at an issue left for the next one.
type Feedback struct {
	Type    FeedbackType `json:"type"`
	Stage   string       `json:"stage,omitempty"`
	Content string       `json:"content"`
	At      string       `json:"at,omitempty"`
}

// FeedbackType says what kind of feedback it is (docs/spec/board.md#feedback).
type FeedbackType string

// The three kinds of feedback.
const (
	Failure       FeedbackType = "failure"
	Clarification FeedbackType = "clarification"
	Rejection     FeedbackType = "rejection"
)

// Digest is a hash of everything that the source says of the issue, without when it said so and where in its file.
func (i Issue) Digest() string {
	i.UpdatedAt = ""
	raw, err := json.Marshal(i)
	if err != nil {
		return "" // strings and numbers only; there is nothing that could fail
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Backlog is what was read.
type Backlog struct {
	// Issues are in the order of their sources.
	Issues []Issue
	// Notes say what was understood and not kept, at most 100; MoreNotes counts the rest.
	Notes     []Note
	MoreNotes int
	// State is the whole of a state.json, nil for other forms.
	State *board.State
}

// Note says what was left out, as a message of the catalogue. Line is 0 where it concerns the whole.
type Note struct {
	File string
	Line int
	Key  string
	Args []any
}

// Comparison is what an import changes.
type Comparison struct {
	Added, Changed []Issue
	// Same is the number of issues that are as they were. Gone are the ids that are known and not in the backlog,
	// sorted; that they are gone from a list does not say what became of them.
	Same int
	Gone []string
}

// Compare holds a backlog against what is known from earlier imports of the same source: the digest of each external
// id.
func Compare(known map[string]string, issues []Issue) Comparison {
	var c Comparison
	left := maps.Clone(known)
	for _, i := range issues {
		digest, ok := known[i.ID]
		delete(left, i.ID)
		switch {
		case !ok:
			c.Added = append(c.Added, i)
		case digest != i.Digest():
			c.Changed = append(c.Changed, i)
		default:
			c.Same++
		}
	}
	c.Gone = slices.Sorted(maps.Keys(left))
	return c
}
