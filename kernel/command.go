package kernel

import (
	"encoding/json"
	"time"

	"pawl"
	"pawl/kernel/effect"
	"pawl/machine/board"
	"pawl/machine/task"
	"pawl/machine/workflow"
	"pawl/text/plan"
)

// Commands of a person about the session.
type (
	// Init makes the session of a workspace, once.
	Init struct{ Place effect.Place }
	// Relocate takes note that the workspace is at another path than before: it was moved there or, with Copied, is a
	// copy of the one that is still at From and a workspace of its own from now on. What else follows from that is done
	// before.
	Relocate struct {
		From, To string
		Copied   bool `json:",omitempty"`
	}
	// Start takes up a requirement. Given is a plan file's content, Name its name; AutoApprove names the policy in
	// whose name the plan is approved without asking, "" for none.
	Start struct {
		Requirement string
		Given       []byte
		Name        string
		Place       effect.Place
		RunMode     pawl.RunMode
		AutoApprove pawl.Actor
		// Agent is the agent that plans and works, "" for the embedded one.
		Agent string
		// Issue takes up an issue of the board, by its id, in a session of its own; Token is the claim's.
		Issue string `json:",omitempty"`
		Token int64  `json:",omitempty"`
		// Command is the ~command that asks for it, "" for a requirement in plain words. Package is the solution
		// package that ~exec carries out. Lang is the language in which an agent may ask.
		Command string `json:",omitempty"`
		Package string `json:",omitempty"`
		Lang    string `json:",omitempty"`
		// Confirm says that somebody is there to confirm each stage as the mode asks for. AsIs goes on with what there
		// is.
		Confirm bool `json:",omitempty"`
		AsIs    bool `json:",omitempty"`
	}
	// Choose answers the question that a stage has ended with, bound to the hash of what was shown. For EVALUATE,
	// Choice is that of the machine of the mode, and Path another way of working than the one that was found, "" for
	// that.
	Choose struct {
		Choice string
		Path   workflow.Path `json:",omitempty"`
		Hash   string
	}
	// EnterTool hands the flow to an external tool: nothing of it may be at work, and nothing goes on until the tool
	// has been left. LeaveTool says that the innermost tool is done; Resume goes on with the stage, and otherwise the
	// flow is given up.
	EnterTool struct{ Tool string }
	LeaveTool struct{ Resume bool }
	// AnswerQuestions answers the open questions, in their order: those that the work waits for or, where it waits for
	// none, all others. Question names one of them. Without answers the asker goes on with what there is.
	AnswerQuestions struct {
		Answers  []string
		Question string `json:",omitempty"`
	}
	// Approve grants the open approval if its subject still has the hash.
	Approve struct {
		Hash string
		// Way is how the person said so.
		Way Way `json:",omitempty"`
	}
	// Deny refuses the open approval. For the plan that ends the run; for a single action the turn looks for another
	// way.
	Deny struct{ Reason string }
	// Revise sends the plan back to planning, with feedback or with another plan.
	Revise struct {
		Feedback string
		Given    []byte
		Name     string
	}
	// EditPlan replaces the plan that waits for approval by one that a person edited; Base is the hash it was made
	// from.
	EditPlan struct {
		Plan plan.Plan
		Base string
	}
	// Pause stops dispatch at the next safe point, Resume goes on.
	Pause  struct{}
	Resume struct{}
	// Stop ends the work by force and leaves the session BLOCKED. Copied is the workspace that the work belongs to,
	// where this one is a copy of it.
	Stop struct {
		Reason string
		Copied string `json:",omitempty"`
	}
	// CancelRun gives up a plan that is being made or waits for approval, or cancels the task that is at work.
	CancelRun struct{ Reason string }
	// Fix goes on after a person helped: with further steps, an answer about an effect whose outcome is unknown, or
	// because something outside was repaired.
	Fix struct {
		Note   string
		Steps  []plan.Step
		Answer Answer
	}
	// Skip leaves the task that failed behind.
	Skip struct{ Reason string }
	// Rollback brings the tree back to the last checkpoint and ends the run. What is at work is stopped first, and what
	// it did is recorded. When the last run worked in the user's own tree and has ended without a result, it is the
	// same as Undo.
	Rollback struct{ Reason string }
	// Undo undoes what a run of the session landed or left in the user's own tree, and Redo brings it back. Run is the
	// run's id, "" for the one that was landed, undone or brought back last; one that is named and landed is that from
	// then on. With a Step, Undo takes back what that step changed, while the tree of its run is there and nothing is
	// at work, and leaves the step out; the next Redo brings that back.
	Undo struct {
		Run  string `json:",omitempty"`
		Step string `json:",omitempty"`
	}
	Redo struct {
		Run string `json:",omitempty"`
	}
)

// Order carries out a ~command that changes something and is no flow, as one effect of the session: nothing else
// may be at work. The answer is the effect's id; its receipt says what came of it.
type Order struct {
	// Command is the command by its name ("~init").
	Command string
	Kind    effect.Kind
	Spec    json.RawMessage
	// Idempotent says that the effect may be done again where it is not known whether it happened.
	Idempotent bool
}

// Answer is what a person says about an effect whose outcome was lost in a crash.
type Answer string

// The answers: it happened, it did not and may be done, or try it again in any case.
const (
	AnswerNone  Answer = ""
	AnswerDone  Answer = "done"
	AnswerRetry Answer = "retry"
)

// Commands about single tasks (docs/spec/task.md#transition).
type (
	// CreateTask makes a draft.
	CreateTask struct {
		Title string
		Mode  string
		Gates []string
		Place effect.Place
	}
	// Transition is that of docs/spec/task.md#s4-1: move a task to a state, if its table, gates and mode allow it.
	Transition struct {
		Task     string
		To       task.State
		Reason   string
		Exit     task.ExitReason
		Metadata []byte // JSON
		Owner    string // who takes the lease, for running
		Token    int64  // fencing token of the caller's lease, 0 for none
		// Check asks for TaskAlreadyInState instead of the idempotent answer (docs/spec/task.md#d11).
		Check bool
	}
	// RequestGates asks for the gates of a task outside a run. Without a token the task is being verified by hand, the
	// answer is the effect's id, and whoever moves the task does the rest. A runner that has finished the work gives
	// the Token of its lease: the same commit hands the task over to verification and begins the gates, the answer is
	// the effect as that of Begin is, and when all gates have passed the commit of their Report verifies and closes the
	// task.
	RequestGates struct {
		Task  string
		Token int64  `json:",omitempty"`
		Owner string `json:",omitempty"`
	}
	// CancelTask cancels a task; one that is at work is asked to stop and cleans up first (docs/spec/task.md#d16).
	CancelTask struct{ Task, Reason string }
	// RestartTask makes a new draft from a task that ended, with its lineage.
	RestartTask struct{ Task string }
)

// Commands of the context manager (docs/spec/session.md#context-manager) that no other command covers. read_context is
// Kernel.Status, archive_task is part of every run's end, and update_state is RouteState.
type (
	// SaveDecision keeps a decision of the project. Type is Architecture, Lib or Rule; Replaces is the id of the
	// decision that this one contradicts, which is marked as deprecated, or "".
	SaveDecision struct{ Type, Content, Replaces string }
	// RecordError keeps what was learnt from an error: its root cause, how it was fixed and what it affects.
	RecordError struct{ Type, RootCause, Fix, Scope string }
	// UpdateProgress notes the progress of a task. Status is PENDING, DONE, BLOCKED, or a state of a task; a change of
	// state goes through the task's machine like any other (docs/spec/session.md#a11). An empty Status notes the
	// summary alone.
	UpdateProgress struct{ Task, Status, Summary string }
	// CreateCheckpoint makes a checkpoint of the tree on request, while nothing is at work.
	CreateCheckpoint struct{}
	// Ask puts a question to the person. It is answered with the question's label; asked again by the same actor while
	// it is open, it is the same question. Work that goes on meanwhile waits for the answer before its next call.
	Ask struct{ Question string }
)

// Commands of the runner.
type (
	// Claim takes the lease on a queued task (T5), or on a running one whose runner is gone.
	Claim struct{ Task, Owner string }
	// Heartbeat prolongs the lease.
	Heartbeat struct {
		Task  string
		Token int64
	}
	// Begin takes an effect to do it. It is the commit that must precede any act. Images are what a writing tool found
	// in its preflight, for Done to compare with. Tree is the tree that was recorded before, where the effect asks for
	// it.
	Begin struct {
		Effect string
		Owner  string
		Images []effect.FileImage
		Tree   string `json:",omitempty"`
		// Day is the day that the effect is charged to. An effect that does not fit its budgets is not begun: it has
		// failed then, and the answer is null.
		Day time.Time `json:",omitzero"`
	}
	// Report is the receipt of an effect, under the token that Begin gave. Tree is the tree behind an effect that
	// failed, where the effect asks for it.
	Report struct {
		Effect  string
		Token   int64
		Receipt effect.Receipt
		Tree    string `json:",omitempty"`
	}
	// Recover settles an effect that was at work when its runner died, with what the driver's Done said. Tree is the
	// tree as it was found then, where the effect asks for it and did not end.
	Recover struct {
		Effect  string
		Answer  effect.Answer
		Receipt effect.Receipt
		Tree    string `json:",omitempty"`
		// Within says the same of the calls that were at work in the middle of an agent's effect, by their ids.
		Within map[string]Recovered `json:",omitempty"`
	}
	// Recovered is what a driver's Done says of an effect.
	Recovered struct {
		Answer  effect.Answer
		Receipt effect.Receipt
	}
	// StartToolCall has a call judged that an agent asks for in the middle of its work, and commits it as begun. It is
	// answered with Made.
	StartToolCall struct {
		Effect string
		Token  int64
		Ask    effect.Ask
		Images []effect.FileImage
		// Judge asks for the judgement alone: the agent makes the call itself, behind its walls.
		Judge bool `json:",omitempty"`
		// Day is the day that the call is charged to.
		Day time.Time `json:",omitzero"`
	}
	// Reserve sets aside what one model call of an effect may cost at most, on a day; it is answered with the
	// reservation. Settle says what the call did cost.
	Reserve struct {
		Effect string
		Token  int64
		Day    time.Time
		Most   effect.Usage
	}
	Settle struct {
		Effect      string
		Day         time.Time
		Reservation string
		Cost        effect.Usage
	}
	// AttachSession keeps the agent's own session, so that a later attempt goes on with it.
	AttachSession struct {
		Effect  string
		Token   int64
		Session string
	}
	// Sweep does what time asks for: leases that ended, cancels whose grace is over, tasks past their time.
	Sweep struct{ Owner string }
)

// Commands about the board (docs/spec/board.md). Issues are named by their ids, where nothing else is said.
type (
	// AddIssues registers issues, all or none. One whose external id is known is brought up to date instead, unless it
	// is what it was. The answer is the list of their labels, in the order of the command. With Fresh no issue is open,
	// and the batch is begun for a branch anew.
	AddIssues struct {
		Issues []NewIssue
		Fresh  bool `json:",omitempty"`
	}
	// EditIssue changes what is set.
	EditIssue struct {
		Issue    string
		Branch   *string   `json:",omitempty"`
		Title    *string   `json:",omitempty"`
		Context  *string   `json:",omitempty"`
		Priority *int      `json:",omitempty"`
		Tags     *[]string `json:",omitempty"`
		Agent    *string   `json:",omitempty"`
		Paused   *bool     `json:",omitempty"`
		// Given is a plan file to plan with, and its name; an empty one takes it back.
		Given     *[]byte `json:",omitempty"`
		GivenName string  `json:",omitempty"`
		// Feedback is added to what the next attempt is told.
		Feedback string `json:",omitempty"`
	}
	// AddDependency has an issue wait for another one, or no longer.
	AddDependency struct {
		Issue, On string
		Remove    bool `json:",omitempty"`
	}
	// ClaimIssue claims the next issue for a worker: one to plan, or one whose approved plan is to be carried out and
	// whose files no claimed issue is expected to change. Issue names a certain one. It is answered with Taken, or null
	// where there is none.
	ClaimIssue struct {
		Owner    string
		Planning bool      `json:",omitempty"`
		Issue    string    `json:",omitempty"`
		Now      time.Time // by the caller's clock
		// Branch is the one that the batch is begun for, where it is not yet.
		Branch string `json:",omitempty"`
	}
	// AimBoard has the batch go on for another branch: issues whose work has not begun, and that name none, land there.
	AimBoard struct{ Branch string }
	// RenewIssue prolongs a claim, Leave ends it. Again is before when the issue is not to be claimed. Without an
	// issue, Leave ends all claims of an owner who is known to be gone.
	RenewIssue struct {
		Issue string
		Token int64
	}
	ReleaseIssue struct {
		Issue string    `json:",omitempty"`
		Token int64     `json:",omitempty"`
		Owner string    `json:",omitempty"`
		Again time.Time `json:",omitzero"`
	}
	// Release tells the issues that depend on a completed one.
	Release struct{ Issue string }
	// RetryIssue puts a failed issue back: to be planned anew, with the failure as feedback.
	RetryIssue struct {
		Issue string
		Note  string `json:",omitempty"`
	}
	// MoveBoard takes the batch to another phase: list, plan, execute, or complete, which ends it.
	MoveBoard struct{ Action board.Event }
)

// NewIssue is an issue to register. After names issues that must be completed first, by id, label, external id, or Ref:
// the name that an issue of the same command has in it. Label is kept where it is free. Height is a lower bound, for a
// caller who adds a large graph piece by piece. Closed says that it was completed elsewhere: it is kept as history, and
// what depends on it does not wait.
type NewIssue struct {
	Ref       string `json:",omitempty"`
	Label     string `json:",omitempty"`
	Title     string
	Context   string   `json:",omitempty"`
	Priority  int      `json:",omitempty"`
	Tags      []string `json:",omitempty"`
	After     []string `json:",omitempty"`
	External  string   `json:",omitempty"`
	Digest    string   `json:",omitempty"`
	URL       string   `json:",omitempty"`
	Given     []byte   `json:",omitempty"`
	GivenName string   `json:",omitempty"`
	Agent     string   `json:",omitempty"`
	Branch    string   `json:",omitempty"`
	Feedback  []string `json:",omitempty"`
	Paused    bool     `json:",omitempty"`
	Closed    bool     `json:",omitempty"`
	Height    int64    `json:",omitempty"`
}

// Taken is the answer to Take. Lane is the label of the issue's session.
type Taken struct {
	Issue   string `json:"issue"`
	Session string `json:"lane"`
	Token   int64  `json:"token"`
}

// Made is the answer to Make: the call to do next, or why it must not be made.
type Made struct {
	Effect  *effect.Effect `json:"effect,omitempty"`
	Refused *effect.Fault  `json:"refused,omitempty"`
}
