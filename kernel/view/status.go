package view

import (
	"slices"
	"time"

	"pawl"
	"pawl/kernel/effect"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
)

// Status is the answer to `pawl status --json`: where the session stands and what a person can do
// (docs/spec/session.md#s5, read_context of docs/spec/session.md#context-manager). Owner and Last are filled by the
// caller, because they are not part of the session's rows.
type Status struct {
	ID string `json:"id"`
	// Session is the name that active_context.md gives as well: the id. Name is what the session is called.
	Session string        `json:"session_id"`
	Name    string        `json:"session"`
	State   session.State `json:"state"`
	// Goal is the requirement in the words of the person who gave it.
	Goal    string       `json:"goal"`
	RunMode pawl.RunMode `json:"run_mode"`
	// Attempts are the failed repairs of the task at work (auto_fix_attempts); the fuse blows at MaxAttempts.
	Attempts    int `json:"auto_fix_attempts"`
	MaxAttempts int `json:"max_auto_fix_attempts"`

	Run   *Run      `json:"run,omitempty"`
	Board *Board    `json:"board,omitempty"`
	Flow  *Flow     `json:"flow,omitempty"`
	Turn  *Turn     `json:"turn,omitempty"`
	Task  *TaskLine `json:"task,omitempty"`
	Step  *Step     `json:"step,omitempty"`
	// Doing is the effect in flight, nil when nothing is asked of a driver.
	Doing *Doing `json:"doing,omitempty"`

	Paused   bool       `json:"paused"`
	PausedAt time.Time  `json:"paused_at,omitzero"`
	PausedBy pawl.Actor `json:"paused_by,omitempty"`
	Blocked  *Blocked   `json:"blocked,omitempty"`
	Approval *Approval  `json:"approval,omitempty"`
	// Questions are those about an unclear requirement, and the open ones of agents, oldest first.
	Questions []Question `json:"questions,omitempty"`
	// Checkpoint is the newest checkpoint (last_checkpoint).
	Checkpoint string        `json:"last_checkpoint"`
	LastError  *effect.Fault `json:"last_error,omitempty"`
	Last       *Result       `json:"last_result,omitempty"`
	Owner      *Owner        `json:"owner,omitempty"`
	Next       []Next        `json:"next"`
	UpdatedAt  time.Time     `json:"updated_at,omitzero"`
}

// Interrupted reports whether a run has work to do and no process does it: there is none, or it is stopped.
func (s *Status) Interrupted() bool {
	waits := s.Paused || s.Approval != nil || s.Stopped() ||
		slices.ContainsFunc(s.Questions, func(q Question) bool { return q.Waits })
	return (s.State != session.Idle || s.Doing != nil) && !waits && (s.Owner == nil || s.Owner.State != "")
}

// Stopped reports whether work is blocked until a person helps, and is not being rolled back.
func (s *Status) Stopped() bool { return s.Blocked != nil && s.Doing == nil }

// Unclear reports whether planning waits for answers about the requirement.
func (s *Status) Unclear() bool { return len(s.Questions) > 0 && s.Questions[0].ID == "" }

// Question is an open question to the person. One without an ID is about an unclear requirement: all of these are
// answered together, in their order.
type Question struct {
	ID    string     `json:"id"`
	Text  string     `json:"text"`
	By    pawl.Actor `json:"by"`
	Since time.Time  `json:"since"`
	// Waits says that work waits for the answer.
	Waits bool `json:"waits,omitempty"`
}

// Note is a sentence of the catalogue: its key and its arguments.
type Note struct {
	Key  string   `json:"key"`
	Args []string `json:"args,omitempty"`
}

// Next is something that a person can do now. Op is an operation of docs/spec/session.md#s1 or one that the product
// adds; Command is the command line that does it, where words in capitals stand for what the person has to fill in.
type Next struct {
	Op      string `json:"op"`
	Command string `json:"command"`
}

// Run is the requirement on its way (the run of docs/spec/board.md).
type Run struct {
	ID        string          `json:"id"`
	Label     string          `json:"label"`
	Status    board.RunStatus `json:"status"`
	Phase     string          `json:"phase"`
	StartedAt time.Time       `json:"started_at,omitzero"`
	EndedAt   time.Time       `json:"ended_at,omitzero"`
	Outcome   string          `json:"outcome,omitempty"`
	// Degraded names what the context of the run could not use, as catalogue keys.
	Degraded []string `json:"context_degraded,omitempty"`
}

// Board is the state of the run's issue and queue item.
type Board struct {
	Issue       string            `json:"issue_id"`
	IssueStatus board.IssueStatus `json:"issue_status"`
	Item        string            `json:"item_id,omitempty"`
	ItemStatus  board.ItemStatus  `json:"item_status,omitempty"`
}

// Flow is the state of the running ~command (docs/spec/workflow.md#variables).
type Flow struct {
	Stage   workflow.Stage `json:"stage"`
	Mode    workflow.Mode  `json:"mode"`
	Path    workflow.Path  `json:"path,omitempty"`
	Package string         `json:"package,omitempty"`
	// Variables are all of them, under the names of the seed.
	Variables workflow.Vars `json:"variables"`
}

// Turn is the attempt at work (docs/spec/turn.md).
type Turn struct {
	ID     string     `json:"id"`
	State  turn.State `json:"state"`
	Number int        `json:"number"`
	// Repair is the number of the repair at work, 0 while the plan itself is carried out.
	Repair int `json:"repair,omitempty"`
	Calls  int `json:"tool_calls"`
}

// Step says how far the plan is. Number is the place of the step at work among the plan's own steps, from 1; it is 0
// while a repair's step is at work or none is. Done and Total count the plan's own steps.
type Step struct {
	ID     string `json:"id,omitempty"`
	Title  string `json:"title,omitempty"`
	Number int    `json:"number"`
	Done   int    `json:"done"`
	Total  int    `json:"total"`
	Repair int    `json:"repair,omitempty"`
}

// Doing is an effect in flight.
type Doing struct {
	ID       string      `json:"id"`
	Kind     effect.Kind `json:"kind"`
	State    string      `json:"state"`
	Tool     string      `json:"tool,omitempty"`
	Step     string      `json:"step,omitempty"`
	Attempts int         `json:"attempts"`
	Since    time.Time   `json:"since,omitzero"`
}

// Blocked says why work stopped and what kind of help it needs (docs/spec/composition.md#x4).
type Blocked struct {
	Kind   string       `json:"kind"`
	Task   string       `json:"task,omitempty"`
	Effect string       `json:"effect,omitempty"`
	Error  effect.Fault `json:"error"`
}

// Approval is an open question. Hash is what an answer is bound to; About is "plan", "action", "call" or "checks".
type Approval struct {
	ID     string    `json:"id"`
	About  string    `json:"about"`
	Hash   string    `json:"hash"`
	Scope  string    `json:"scope"`
	Detail string    `json:"detail,omitempty"`
	State  string    `json:"state"`
	By     string    `json:"answered_by,omitempty"`
	Since  time.Time `json:"since,omitzero"`
}

// Result is how the last run ended.
type Result struct {
	Run     string             `json:"run"`
	Task    string             `json:"task,omitempty"`
	Goal    string             `json:"goal"`
	Outcome string             `json:"outcome"`
	Landing effect.LandOutcome `json:"landing,omitempty"`
	Commit  string             `json:"commit,omitempty"`
	Branch  string             `json:"branch,omitempty"`
	Undone  bool               `json:"undone,omitempty"`
	// Proof says whether what was wanted is shown, "" where that was not tried; AcceptedBy is who took it without.
	Proof      effect.Verdict `json:"proof,omitempty"`
	AcceptedBy pawl.Actor     `json:"accepted_by,omitempty"`
	// Objections counts those of the last review, which are only shown.
	Objections int       `json:"objections,omitempty"`
	EndedAt    time.Time `json:"ended_at,omitzero"`
}

// Owner is the process that runs work in the workspace.
type Owner struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Started time.Time `json:"started,omitzero"`
	Command string    `json:"command"`
	// State is stopped or frozen where the process does not go on by itself.
	State string `json:"state,omitempty"`
}

// TaskLine is one line of `pawl task list`.
type TaskLine struct {
	ID    string     `json:"task_id"`
	Label string     `json:"label"`
	Title string     `json:"title"`
	State task.State `json:"state"`
	Mode  string     `json:"mode_id"`
	Exit  string     `json:"exit_reason,omitempty"`
	// Verdict says whether what was wanted is shown, "" where that was not tried.
	Verdict   effect.Verdict `json:"verdict,omitempty"`
	Run       string         `json:"run,omitempty"`
	CreatedAt time.Time      `json:"created_at,omitzero"`
	UpdatedAt time.Time      `json:"updated_at,omitzero"`
}

// Session is the session of a workspace, or of an issue of its board: where it stands and at which run.
type Session struct {
	ID    string
	State session.State
	// Run is the run in progress, "" where there is none.
	Run string
	// Goal is the requirement of that run, in the words of the person who gave it.
	Goal string
	// Effect is the id of an effect of the session's own that is still to be done, "" for none.
	Effect string
	Paused bool
	// Failure is what it is blocked by.
	Failure *effect.Fault
}

// Asked is a question of an agent, open or answered.
type Asked struct {
	ID     string     `json:"id"`
	Text   string     `json:"text"`
	State  string     `json:"state"`
	Open   bool       `json:"open"`
	Answer string     `json:"answer,omitempty"`
	By     pawl.Actor `json:"answered_by,omitempty"`
}

// Budget is what was spent in a scope, such as "run:R-3", and what is held back for work that is under way.
type Budget struct {
	Scope string       `json:"scope"`
	Spent effect.Usage `json:"spent"`
	Held  effect.Usage `json:"held"`
}
