package view

import (
	"time"

	"pawl"
	"pawl/kernel/effect"
	"pawl/machine/board"
	"pawl/text/plan"
)

// Standing is what is computed of an issue beside its status: whether it could go on now, and what it waits for.
type Standing string

// The standings.
const (
	StandingNone    Standing = ""        // it has ended
	StandingWorking Standing = "working" // a worker has it
	StandingLost    Standing = "lost"    // a worker has it that did not renew its claim: anybody may take it over
	StandingPaused  Standing = "paused"  // a person holds it back
	StandingAsks    Standing = "asks"    // it waits for a person
	StandingWaits   Standing = "waits"   // it waits for other issues
	StandingBlocked Standing = "blocked" // one that it waits for has failed
	StandingReady   Standing = "ready"   // its planning, or its work, may begin
	StandingLater   Standing = "later"   // it may be tried again after a pause
)

// IssueLine is an issue of the board in a list (docs/spec/board.md#issue).
type IssueLine struct {
	ID       string            `json:"id"`
	Label    string            `json:"label"`
	Title    string            `json:"title"`
	Status   board.IssueStatus `json:"status"`
	Standing Standing          `json:"standing,omitempty"`
	// Priority goes from 1, critical, to 5.
	Priority int      `json:"priority"`
	Tags     []string `json:"tags"`
	// After are the labels of the issues that must be completed first; one whose label was not asked for, or is not
	// known, stands there by its id. Open is how many of them are not completed yet.
	After     []string  `json:"depends_on"`
	Open      int       `json:"open_dependencies"`
	External  string    `json:"external_id,omitempty"`
	Solution  string    `json:"solution_id,omitempty"`
	Item      string    `json:"item_id,omitempty"`
	Owner     string    `json:"worker,omitempty"`
	Retries   int       `json:"retries,omitempty"`
	Branch    string    `json:"branch,omitempty"`
	Landed    string    `json:"landed,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Issue is an issue of the board with everything that it says itself.
type Issue struct {
	IssueLine
	Context  string   `json:"context,omitempty"`
	URL      string   `json:"url,omitempty"`
	Agent    string   `json:"agent,omitempty"`
	PlanFile string   `json:"plan_file,omitempty"`
	Files    []string `json:"files,omitempty"`
	Feedback []string `json:"feedback,omitempty"`
	// Failure is what stopped it last.
	Failure *effect.Fault `json:"failure,omitempty"`
	// Dependencies are the issues that must be completed first, and Waits those of them that are not yet, as far as
	// they were looked at.
	Dependencies []Dependency `json:"-"`
	Waits        []Dependency `json:"-"`
	PlannedAt    time.Time    `json:"planned_at,omitzero"`
	ExecutedAt   time.Time    `json:"executed_at,omitzero"`
	Conflicts    int          `json:"conflicts,omitempty"`
	// Failures counts the attempts at a plan that failed.
	Failures   int       `json:"planning_failures,omitempty"`
	LeaseUntil time.Time `json:"lease_until,omitzero"`
	// Held says that a person holds it back.
	Held bool `json:"-"`
	// Pos is where a list goes on behind it, and Version that of its row.
	Pos     int64 `json:"-"`
	Version int64 `json:"-"`
	// Parent is the id of what the issue belongs to, SolutionID that of its newest plan; Plans counts the plans that
	// were made for it.
	Parent     string `json:"-"`
	SolutionID string `json:"-"`
	Plans      int    `json:"-"`
	// Bound says that its plan is approved, Winding that it still has something to finish while it rests. Rank is its
	// place among those that are claimed, the highest first, 0 where it may not be, and NotBefore the time before which
	// it is not.
	Bound     bool      `json:"-"`
	Winding   bool      `json:"-"`
	Rank      int64     `json:"-"`
	NotBefore time.Time `json:"-"`
	// Height is at least the number of issues that wait for it one behind the other. Batch is the number of the batch
	// that it is in.
	Height int64 `json:"-"`
	Batch  int64 `json:"-"`
	// Touches are the files that its work is expected to change, or has conflicted in.
	Touches []string `json:"-"`
	// MicroUSD is what its work has cost, in millionths of a dollar. Digest is that of what another system said of it.
	MicroUSD int64  `json:"cost_micros,omitempty"`
	Digest   string `json:"-"`
}

// Dependency is an issue that another one waits for.
type Dependency struct {
	ID, Label string
	Status    board.IssueStatus
}

// IssueDetail is an issue with all that belongs to it.
type IssueDetail struct {
	Issue
	// Blocking are the labels of what it waits for, Needed those of the issues that wait for it.
	Blocking  []string        `json:"waits_for,omitempty"`
	Needed    []string        `json:"needed_by,omitempty"`
	Solutions []IssueSolution `json:"solutions"`
	// Session is the state of the session in which it is worked on, "" where there was none.
	Session string `json:"session_state,omitempty"`
}

// IssueSolution is one plan that was made for an issue.
type IssueSolution struct {
	ID    string    `json:"id"`
	Hash  string    `json:"hash"`
	Goal  string    `json:"goal"`
	Steps int       `json:"steps"`
	Risk  pawl.Risk `json:"risk"`
	Agent string    `json:"agent"`
	Bound bool      `json:"is_bound"`
}

// IssueCounts says how many issues of each status the board has.
type IssueCounts struct {
	ByStatus map[board.IssueStatus]int
	Total    int
}

// Unfinished counts the issues that are neither completed nor failed.
func (c IssueCounts) Unfinished() int {
	return c.Total - c.ByStatus[board.IssueCompleted] - c.ByStatus[board.IssueFailed]
}

// BoardBatch is a batch of issues (the run of docs/spec/board.md) and who works on it.
type BoardBatch struct {
	ID, Label string
	Number    int64
	Status    board.RunStatus
	Phase     board.PhaseStatus
	// Branch is the branch that the batch was begun for, "" before that.
	Branch  string
	Workers []IssueWorker
	Begun   time.Time
	Ended   time.Time
}

// IssueWorker is a worker and the issue that it has claimed.
type IssueWorker struct {
	Issue, Label string
	Owner        string
	Since        time.Time
	Planning     bool
	// Files are those that the plan is expected to change.
	Files []string
	// Lost says that the claim has ended without having been renewed.
	Lost bool
}

// IssuePlan is one plan that was made for an issue, with its steps.
type IssuePlan struct {
	ID, Label string
	Plan      plan.Plan
}
