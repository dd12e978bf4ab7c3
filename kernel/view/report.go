package view

import (
	"encoding/json"
	"time"

	"pawl"
	"pawl/kernel/effect"
	"pawl/machine/board"
	"pawl/machine/session"
)

// Report is a run as it is looked at from outside: what was asked for, on whose word it was done, what was proven, what
// it cost and how it is undone. Of a run that is still at work it tells how far it is.
type Report struct {
	Summary
	ID string `json:"id"`
	// Version is that of the run's row.
	Version int64 `json:"-"`
	// Issue is the issue of the board that the run is for, "" for one that somebody asked for by itself.
	Issue string `json:"issue,omitempty"`
	// State is the state of the session while the run is at work, "" once it has ended.
	State    string   `json:"state,omitempty"`
	Agent    string   `json:"agent,omitempty"`
	By       string   `json:"asked_by,omitempty"`
	Plan     string   `json:"plan_hash,omitempty"`
	PlanFile string   `json:"plan_file,omitempty"`
	Branch   string   `json:"branch,omitempty"`
	Worktree string   `json:"worktree,omitempty"`
	Waiting  *Blocked `json:"blocked,omitempty"`
	// Reversal is the commit that undid the result, "" where it was not undone by one. Left are files that undoing left
	// alone, because they are not known to be the run's change, and Cut those of which it took back only a part.
	Reversal string   `json:"undone_by,omitempty"`
	Left     []string `json:"left,omitempty"`
	Cut      []string `json:"cut,omitempty"`
	// Lost is what the last undo or redo could not bring back of what git ignores.
	Lost []effect.Unkept `json:"not_brought_back,omitempty"`
	// Approvals are what was asked about on the way, oldest first.
	Approvals []ApprovalLine `json:"approvals"`
	Cost      *Budget        `json:"cost,omitempty"`
	// Pull is the pull request of the result, nil where none was asked for.
	Pull *effect.Pull `json:"pull_request,omitempty"`
	// Planned are the steps of a plan whose work has not begun, with the calls that they name.
	Planned []PlanStep `json:"-"`
	// Changes says what can be compared to see what the run changed.
	Changes Changes `json:"changes"`
}

// ApprovalLine is a question about a run and its answer.
type ApprovalLine struct {
	About string `json:"about"`
	Hash  string `json:"hash"`
	State string `json:"state"`
	// By is who answered, or the policy that answered in the name of a person, and Way how: terminal, command or flag;
	// "" where that is not known.
	By  string `json:"answered_by,omitempty"`
	Way string `json:"way,omitempty"`
	// Key is the fingerprint of the key by which it was answered, "" where the person was seen.
	Key    string    `json:"key,omitempty"`
	Note   string    `json:"note,omitempty"`
	Detail string    `json:"detail,omitempty"`
	Asked  time.Time `json:"asked_at,omitzero"`
	At     time.Time `json:"answered_at,omitzero"`
}

// Changes are the recorded trees between which the work of a run lies, as git object ids.
type Changes struct {
	// Place is where these trees are known.
	Place effect.Place `json:"-"`
	// From is the tree that the work began on and To what was verified or, before that, the last that was recorded; To
	// is "" where nothing was recorded yet.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Steps are what pawl changed in between, step by step.
	Steps []effect.Span `json:"-"`
	// Open says that the work is still under way, so that there may be more in its tree by now.
	Open bool `json:"open,omitempty"`
}

// RunLine is a run in a list. State is that of its session while it is at work, and that of the run once it is over.
type RunLine struct {
	ID      string `json:"id"`
	Label   string `json:"label"`
	Goal    string `json:"goal"`
	Outcome string `json:"outcome,omitempty"`
	State   string `json:"state"`
	Phase   string `json:"phase,omitempty"`
	Task    string `json:"task,omitempty"`
	// Proof says whether what was wanted is shown, "" where that was not tried.
	Proof     effect.Verdict `json:"proof,omitempty"`
	Commit    string         `json:"commit,omitempty"`
	Branch    string         `json:"branch,omitempty"`
	Undone    bool           `json:"undone,omitempty"`
	Agent     string         `json:"agent,omitempty"`
	Risk      pawl.Risk      `json:"risk_level,omitempty"`
	MicroUSD  int64          `json:"cost_micros,omitempty"`
	StartedAt time.Time      `json:"started_at,omitzero"`
	EndedAt   time.Time      `json:"ended_at,omitzero"`
	// Pull is the pull request of the result, nil where none was asked for.
	Pull *effect.Pull `json:"-"`
}

// Over reports whether the run is over. Before that its outcome may be known already: then its result is archived, or
// taken back.
func (r RunLine) Over() bool { return r.State == string(board.RunCompleted) }

// RunOutputs are the outputs of a run, with the state of its session while it is at work, "" once it has ended.
type RunOutputs struct {
	Run   string        `json:"run"`
	State session.State `json:"state,omitempty"`
	// Claimed says that the run is for an issue of the board that a worker has claimed.
	Claimed bool     `json:"claimed,omitempty"`
	Outputs []Output `json:"outputs"`
}

// Output is what one effect of a run said: a call of a tool, an agent at work, or the checks.
type Output struct {
	Effect string      `json:"effect"`
	Kind   effect.Kind `json:"kind"`
	// State is that of the effect: pending, running, done or failed.
	State string `json:"state"`
	// Name is the tool or the agent, and Step the step of the plan that it belongs to, each "" where there is none.
	Name string `json:"name,omitempty"`
	Step string `json:"step_id,omitempty"`
	// Args are the arguments of a call.
	Args json.RawMessage `json:"args,omitempty"`
	// Within is the effect of the agent that asked for a call, "" for one of the plan's.
	Within string `json:"within,omitempty"`
	// Before says that checks ran on what the work started from.
	Before bool      `json:"before_work,omitempty"`
	Began  time.Time `json:"began_at,omitzero"`
	Ended  time.Time `json:"ended_at,omitzero"`
	// Kept is what the store holds of it once it has ended, one for each check.
	Kept []KeptOutput `json:"kept,omitempty"`
}

// KeptOutput is what the store keeps of an output as evidence.
type KeptOutput struct {
	// Name is that of the check, "" for a call.
	Name   string `json:"name,omitempty"`
	Exit   int    `json:"exit_code"`
	Failed bool   `json:"failed,omitempty"`
	// Text is the output as far as it is kept, without control sequences; Cut says that it is not all. Bytes and
	// Digest, a SHA-256, are of the whole.
	Text   string `json:"text,omitempty"`
	Cut    bool   `json:"cut,omitempty"`
	Bytes  int64  `json:"bytes"`
	Digest string `json:"digest"`
}
