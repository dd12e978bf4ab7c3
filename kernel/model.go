package kernel

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"pawl"
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/workflow"
	"pawl/text/plan"
	"pawl/text/policy"
	"pawl/text/solution"
	"pawl/text/triage"
)

// SessionLabel is the label of a workspace's one session, and of its one flow.
const SessionLabel = "main"

// The documents below are the cold halves of rows. Each embeds the hot half, which is not part of its JSON.

// Session is the one session of a workspace: the machine of docs/spec/session.md and the pointers to what it is working
// on.
type Session struct {
	Row     `json:"-"`
	Name    string       `json:"session_id"`
	Place   effect.Place `json:"place"`
	RunMode pawl.RunMode `json:"run_mode"`
	// Home is where the workspace is known to be, in the session of the person who sits in it; Place may follow a
	// folder that was moved before anybody has taken note of that.
	Home string `json:"home,omitempty"`
	Goal string `json:"goal,omitempty"`
	session.Beside
	// PausedAt and PausedBy tell of the pause that Dispatch is in.
	PausedAt time.Time  `json:"paused_at,omitzero"`
	PausedBy pawl.Actor `json:"paused_by,omitempty"`
	// AutoFix is the seed's auto_fix_attempts: the failed repairs of the task at work.
	AutoFix        int    `json:"auto_fix_attempts"`
	LastCheckpoint string `json:"last_checkpoint,omitempty"`
	// LastPoint is the name that was given last to a checkpoint of an issue's session.
	LastPoint string `json:"last_point,omitempty"`
	// Blocked says why the session is BLOCKED and what a person can do.
	Blocked *Blocked `json:"blocked,omitempty"`
	// Run, Approval and Effect name the run in progress, the open approval and the session's own effect in flight.
	Run      string `json:"run,omitempty"`
	Approval string `json:"approval,omitempty"`
	Effect   string `json:"effect,omitempty"`
	// LastRun is the run before, whose result undo refers to; Undone says that it was undone.
	LastRun string `json:"last_run,omitempty"`
	// RolledBackRun is the run whose rollback in the user's own tree was the last thing to happen; redo brings it back.
	RolledBackRun string        `json:"rolled_run,omitempty"`
	LastError     *effect.Fault `json:"last_error,omitempty"`
	// Known is what pawl's own runs of checks have shown of the last few trees, newest first.
	Known effect.Baselines `json:"known,omitempty"`
	// Number is that of the issue whose session this is, 0 for the session of the person who sits in the workspace.
	Number int64 `json:"number,omitempty"`
	// Runs, Tasks and Questions count what was made, for display ids.
	Runs      int64 `json:"runs"`
	Tasks     int64 `json:"tasks"`
	Questions int64 `json:"questions,omitempty"`
}

// BlockedKind says what kind of help is needed (docs/spec/composition.md#x4).
type BlockedKind string

// The kinds of block.
const (
	BlockedFuse        BlockedKind = "fuse"
	BlockedApproval    BlockedKind = "approval"
	BlockedDependency  BlockedKind = "dependency"
	BlockedEnvironment BlockedKind = "environment"
	BlockedQuestion    BlockedKind = "question"
	BlockedStopped     BlockedKind = "stopped"
	BlockedArchive     BlockedKind = "archive"
	BlockedBudget      BlockedKind = "budget"
	BlockedNoRepair    BlockedKind = "no_repair"
	BlockedUnproven    BlockedKind = "unproven"
)

// Blocked is why work stopped.
type Blocked struct {
	Kind BlockedKind `json:"kind"`
	Task string      `json:"task,omitempty"`
	// Effect is the effect whose outcome is not known, for a question.
	Effect string       `json:"effect,omitempty"`
	Error  effect.Fault `json:"error"`
}

// Info keeps an error as data.
func Info(err error) effect.Fault { return effect.Failed(err).Fault() }

// FirstError returns the first error that is one.
func FirstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return pawl.Fail(pawl.CodeInternal, "runner.driver_failed")
}

// Run is one requirement on its way through the flow: the run of docs/spec/board.md, with the ids of what belongs to
// it.
type Run struct {
	Row         `json:"-"`
	Phase       string `json:"phase"`
	Number      int64  `json:"number"`
	Requirement string `json:"requirement"`
	// Given is the plan file that the user brought, and its name.
	Given     []byte `json:"given,omitempty"`
	GivenName string `json:"given_name,omitempty"`
	// Place is where the run's work happens; Tree is filled in when its task is made.
	Place    effect.Place          `json:"place"`
	Context  *effect.ContextResult `json:"context,omitempty"`
	Flow     string                `json:"flow"`
	Issue    string                `json:"issue"`
	Item     string                `json:"item,omitempty"`
	Solution string                `json:"solution,omitempty"`
	Turn     string                `json:"turn,omitempty"` // the planning turn, until a task takes it over
	Task     string                `json:"task,omitempty"`
	Feedback []string              `json:"feedback,omitempty"`
	// Command is the ~command (docs/spec/workflow.md#commands) that asked for the run, "" for a requirement in plain
	// words; Path is the way that it takes, which outlives the flow's variables. Package is the name of its solution
	// package, "" where a tweak has none.
	Command string        `json:"command,omitempty"`
	Path    workflow.Path `json:"path,omitempty"`
	Package string        `json:"package,omitempty"`
	// Written is the package where a person wrote or changed it, and Archived how it went into the archive.
	Written  *solution.Written `json:"written,omitempty"`
	Archived *effect.Retired   `json:"archived,omitempty"`
	Lang     string            `json:"lang,omitempty"`
	// Restart is the task whose plan is carried out once more, "" for none.
	Restart string `json:"restart_source,omitempty"`
	// RiskBy is the person who confirmed what the requirement says of extremely high risk, "" for nobody.
	RiskBy pawl.Actor `json:"risk_by,omitempty"`
	// Outgrown says that a tweak became larger than one and went on as the person had approved it.
	Outgrown bool `json:"outgrown,omitempty"`
	// Evaluation is the judgement on the requirement, nil where there was none. AsIs says that the person goes on with
	// it as it is; Confirm that somebody is there to confirm each stage, and Stage is the one that waits for that.
	Evaluation *triage.Evaluation `json:"evaluation,omitempty"`
	AsIs       bool               `json:"as_is,omitempty"`
	Confirm    bool               `json:"confirm,omitempty"`
	Stage      workflow.Stage     `json:"stage_asked,omitempty"`
	// Agent is the agent that works, "" for the embedded one, and Planner the one that judges and plans, "" for the
	// same; Answers are what the person said to its questions.
	Agent   string `json:"agent,omitempty"`
	Planner string `json:"planner,omitempty"`
	// Reviewer is the agent that looks at the work when its checks have passed; one that cannot judge looks at none.
	Reviewer string            `json:"reviewer,omitempty"`
	Answers  []effect.Answered `json:"answers,omitempty"`
	// Usage is what the run's model calls cost so far.
	Usage   effect.Usage       `json:"usage,omitzero"`
	Outcome string             `json:"outcome,omitempty"` // completed failed canceled rolled_back declined
	Land    *effect.LandResult `json:"land,omitempty"`
	// SkippedFiles are files that a rollback or an undo left alone because they are not known to be pawl's change. Cut
	// are files that it restored and that changed while work was under way that was cut off.
	SkippedFiles   []string `json:"left,omitempty"`
	TruncatedFiles []string `json:"cut,omitempty"`
	// ArchiveWarning is what was left out when the run was archived, such as an entry in a CHANGELOG.
	ArchiveWarning *effect.Fault `json:"amiss,omitempty"`
	// Saved is the checkpoint that holds what was unfinished when the run ended.
	Saved  string `json:"saved,omitempty"`
	Undone bool   `json:"undone,omitempty"`
	// Restored and Ignored are what the last rollback, undo or redo did in the user's own tree.
	Restored *effect.Span        `json:"restored,omitempty"`
	Ignored  *effect.IgnoredBack `json:"ignored,omitempty"`
	Revert   *effect.LandResult  `json:"revert,omitempty"`
	// Pull is the pull request of what the run landed, nil where none was asked for.
	Pull *effect.Pull `json:"pull,omitempty"`
	// AutoApprove is the actor in whose name a plan is approved without asking, "" for none.
	AutoApprove pawl.Actor `json:"auto_approve,omitempty"`
	StartedAt   time.Time  `json:"started_at"`
	EndedAt     time.Time  `json:"ended_at,omitzero"`
}

// Plans is the agent that judges and plans.
func (r *Run) Plans() string { return cmp.Or(r.Planner, r.Agent) }

// InTree reports whether the run's work stands in the user's own tree and in no commit.
func (r *Run) InTree(t *Task) bool {
	return t != nil && t.Place.InPlace && t.Checkpoint != nil && (r.Land == nil || r.Land.Outcome == effect.InPlace)
}

// Turn is one attempt at a task, or at planning: the machine of docs/spec/turn.md.
type Turn struct {
	Row     `json:"-"`
	Trace   string `json:"trace_id"`
	Number  int    `json:"number"`
	Outcome string `json:"outcome,omitempty"` // done declined canceled failed blocked
	Fix     int    `json:"fix"`               // number of the repair at work, 0 for the plan itself
	// Return is the state that a confirmation goes back to (docs/spec/turn.md#b4).
	Return  string          `json:"return,omitempty"`
	Failure *effect.Failure `json:"failure,omitempty"`
	Calls   int             `json:"calls"` // tool calls made, against the budget
	// Patches counts the changes of the plan; Rounds the rounds of questions, of which Questions are the open one's.
	Patches   int      `json:"patches,omitempty"`
	Rounds    int      `json:"rounds,omitempty"`
	Questions []string `json:"questions,omitempty"`
	// Put are the questions of an open round of the intake as data, in the order of Questions.
	Put []triage.Question `json:"put,omitempty"`
	// Asked are the ids of the open questions that were put in the middle of the work, in the order of Questions; Asks
	// counts those of the agent at work.
	Asked []string `json:"asked,omitempty"`
	Asks  int      `json:"asks,omitempty"`
	// ParkedAt is since when the turn waits for a person.
	ParkedAt time.Time `json:"parked_at,omitzero"`
}

// Flow is the row of the variables of docs/spec/workflow.md#variables.
type Flow struct {
	Row           `json:"-"`
	workflow.Vars `json:"vars"`
	// Tools are the external tools that have taken over, the outermost first.
	Tools []string `json:"tools,omitempty"`
	// Held says that the run was paused for the outermost of them, and goes on when it is left.
	Held bool `json:"held,omitempty"`
}

// Board is a batch of issues: its run and phase (docs/spec/board.md#transitions), and what is being worked on. Every
// claim of an issue is written here, so that claims come one after the other.
type Board struct {
	Row   `json:"-"`
	Phase string `json:"phase"`
	// Number counts the batches of the workspace, Issues the issues that were ever made, for display ids.
	Number int64 `json:"number"`
	Issues int64 `json:"issues"`
	// Members are the issues of this batch: those that were registered in it, and older ones that were taken up in it.
	Members int64  `json:"members,omitempty"`
	Busy    []Busy `json:"busy,omitempty"`
	// Branch is the branch that the batch was begun for, "" before that and where there was none.
	Branch string `json:"branch,omitempty"`
	// EndedAt is when the batch was completed.
	EndedAt time.Time `json:"ended_at,omitzero"`
}

// Busy is an issue that a worker has claimed.
type Busy struct {
	Issue string    `json:"issue"`
	Label string    `json:"label"`
	Owner string    `json:"owner"`
	Since time.Time `json:"since"`
	// Planning says that a plan is being made; Files are those that the plan is expected to change otherwise.
	Planning bool     `json:"planning,omitempty"`
	Files    []string `json:"files,omitempty"`
}

// Issue is the issue of docs/spec/board.md#issue. That of a run which somebody asked for by itself has neither Number
// nor place in the queue.
type Issue struct {
	Row        `json:"-"`
	Title      string        `json:"title"`
	Solution   string        `json:"solution_id,omitempty"`
	PlannedAt  time.Time     `json:"planned_at,omitzero"`
	ExecutedAt time.Time     `json:"executed_at,omitzero"`
	Error      *effect.Fault `json:"error,omitempty"`
	// Errors are its newest entries of the error log, those of earlier attempts included.
	Errors   []IssueError `json:"errors,omitempty"`
	Feedback []string     `json:"feedback,omitempty"`
	// Came is what the state.json said of it that it was imported from, until it is planned here.
	Came     *Came `json:"came,omitempty"`
	Failures int   `json:"planning_failures,omitempty"`
	// Number is the issue's number on the board, of which its display ids are made; Batch is that of the batch in which
	// it was registered or last taken up.
	Number int64 `json:"number,omitempty"`
	Batch  int64 `json:"batch,omitempty"`
	// Context is what the issue says beside its title.
	Context  string   `json:"context,omitempty"`
	Priority int      `json:"priority,omitempty"` // 1, critical, to 5; 0 means 3
	Tags     []string `json:"tags,omitempty"`
	// External is the id under which another system knows the issue, with the digest of what that said and where it is
	// found.
	External string `json:"external_id,omitempty"`
	Digest   string `json:"external_digest,omitempty"`
	URL      string `json:"url,omitempty"`
	// Given is a plan file that came with the issue, and its name; Agent works on it, "" for the one that is set.
	Given     []byte `json:"given,omitempty"`
	GivenName string `json:"given_name,omitempty"`
	Agent     string `json:"agent,omitempty"`
	// Branch is the branch that the result is for: the one that was asked for or, from when its work begins, that of
	// the batch. Landed is the branch that the result is on.
	Branch string `json:"branch,omitempty"`
	Landed string `json:"landed,omitempty"`
	// DependsOn are the ids of the issues that must be completed first, Open those that are not yet. Height is greater
	// than that of each issue that waits for this one. It is at least the length of the longest chain of them, unless
	// one of them was put below 0 because too many others would have had to be raised.
	DependsOn []string `json:"depends_on,omitempty"`
	Open      []string `json:"open_dependencies,omitempty"`
	Height    int64    `json:"height,omitempty"`
	// Files are those that the plan is expected to change, Item and Solutions the queue item and the number of plans.
	Files     []string `json:"files,omitempty"`
	Item      string   `json:"item_id,omitempty"`
	Solutions int      `json:"solutions,omitempty"`
	// ConflictFiles are the files in which its work has conflicted with what landed meanwhile: its plan did not say
	// that it changes them.
	ConflictFiles []string `json:"met_files,omitempty"`
	// Regions are the states beside the issue's own, where it is the board's.
	board.Regions
	// Bound says that its plan is approved. RestartReason is what conflicted, once work that is rolled back is to be
	// begun anew.
	Bound         bool   `json:"bound,omitempty"`
	RestartReason string `json:"anew,omitempty"`
	// NotBefore is before when it is not to be claimed, after a failure.
	NotBefore time.Time `json:"again,omitzero"`
	// Retries and Conflicts count what the board tried again by itself: failures, and conflicts with what landed
	// meanwhile.
	Retries   int   `json:"retries,omitempty"`
	Conflicts int   `json:"conflicts,omitempty"`
	Lease     Lease `json:"lease,omitzero"`
	Cost      int64 `json:"cost_micros,omitempty"`
}

// Never is when an issue may be claimed that waits for something.
var Never = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// IssueError is what an issue failed of: Action is that of the board, plan or execute.
type IssueError struct {
	At     time.Time    `json:"timestamp,omitzero"`
	Action string       `json:"action"`
	Fault  effect.Fault `json:"fault"`
}

// ImportedError is the key of a failure that was put into words before the issue was imported.
const ImportedError = "kernel.issue_came"

// Came is the solution of an issue that was imported, with its item of the queue: there is no plan of either.
type Came struct {
	Solution string           `json:"solution_id,omitempty"`
	Item     *board.QueueItem `json:"item,omitempty"`
}

// maxIssueErrors is how many failures of one issue the error log tells of.
const maxIssueErrors = 5

// Failed notes what an issue failed of.
func (i *Issue) Failed(action string, f effect.Fault, at time.Time) {
	i.Error = &f
	i.Errors = append(slices.Clip(i.Errors), IssueError{At: at, Action: action, Fault: f})
	i.Errors = i.Errors[max(0, len(i.Errors)-maxIssueErrors):]
}

// Hear keeps what the next attempt is to be told, and drops the oldest of it where there is too much.
func (i *Issue) Hear(note string) { i.Feedback = effect.Heard(i.Feedback, note) }

// Held fails with CodeFenced unless the claim with this token is the present one of the issue.
func (i *Issue) Held(token int64) error {
	if i.Epoch != token || i.Lease.Owner == "" {
		return pawl.Fail(pawl.CodeFenced, "kernel.lease_lost", i.Label)
	}
	return nil
}

// Link says that one issue depends on another, which is its row's parent.
type Link struct {
	Row   `json:"-"`
	Issue string `json:"issue"`
	// Gone says that the dependency was taken back.
	Gone bool `json:"gone,omitempty"`
}

// Alias is the name under which another system knows an issue: its row's label.
type Alias struct {
	Row   `json:"-"`
	Issue string `json:"issue"`
}

// PackageAlias is what the label of the alias of a solution package begins with.
const PackageAlias = "package:"

// Item is the queue item of docs/spec/board.md#queue-item.
type Item struct {
	Row      `json:"-"`
	Issue    string `json:"issue_id"`
	Solution string `json:"solution_id"`
}

// Solution is an approved or proposed plan for an issue.
type Solution struct {
	Row      `json:"-"`
	Plan     plan.Plan `json:"plan"`
	Hash     string    `json:"hash"`
	Agent    string    `json:"agent"`
	Verdicts []Judged  `json:"verdicts"`
	Risk     pawl.Risk `json:"risk"`
	// Stated is the risk that the plan says it has, where pawl judges it graver; "" elsewhere.
	Stated pawl.Risk      `json:"stated_risk,omitempty"`
	Checks []effect.Check `json:"checks"`
	Bound  bool           `json:"is_bound"`
	// Package is the name of the solution package, "" where there is none. EHRB are the findings of extremely high risk
	// in the plan.
	Package string `json:"package,omitempty"`
	// Lang is the language in which pawl writes the package, "" for Chinese.
	Lang string `json:"lang,omitempty"`
	// Theirs says that a person wrote the package: pawl neither writes nor removes it in plan/.
	Theirs   bool            `json:"theirs,omitempty"`
	HighRisk []triage.Placed `json:"ehrb,omitempty"`
}

// Over reports whether the run of a solution whose package a person wrote is over, so that what lies in plan/ by its
// name is to be carried out.
func (s *Solution) Over() bool {
	return s.State == SolutionDraft || s.State == SolutionUsed
}

// OnlyPerson reports whether only a person can say yes to a plan, whatever was said before it was seen: it has calls
// that cannot be taken back, or would do something of extremely high risk that walls and undo do not hold.
func (s *Solution) OnlyPerson() bool {
	return slices.ContainsFunc(s.Verdicts, func(j Judged) bool { return j.Verdict.Person }) ||
		slices.ContainsFunc(s.HighRisk, s.perilous)
}

// perilous leaves out what a call that the policy allows deletes or ends: that is within the tree of the work.
func (s *Solution) perilous(p triage.Placed) bool {
	if p.Stance != triage.StanceAction && (p.Stance != triage.StanceUnsure || p.Kind == triage.RiskUnclear) {
		return false
	}
	return p.Kind != triage.RiskDataLoss && p.Kind != triage.RiskOutage ||
		!slices.ContainsFunc(s.Verdicts, func(j Judged) bool {
			i, ok := s.Plan.Find(j.Step)
			return ok && j.Verdict.Decision == policy.Allow &&
				p.Where == fmt.Sprintf("steps[%d].tool_calls[%d].args_hint.command", i, j.Call)
		})
}

// Dangerous reports whether a plan would do something of extremely high risk.
func Dangerous(s *Solution) bool {
	return slices.ContainsFunc(s.HighRisk, func(p triage.Placed) bool { return p.Stance == triage.StanceAction })
}

// The states of a solution. Those of the first schema have none.
const (
	SolutionOpen  = "open"  // its run is under way
	SolutionDraft = "draft" // kept for ~exec
	SolutionUsed  = "used"  // carried out, or taken back
)

// Judged is the policy's verdict on one call of a plan.
type Judged struct {
	Step    string         `json:"step"`
	Call    int            `json:"call"`
	Tool    string         `json:"tool"`
	Verdict policy.Verdict `json:"verdict"`
}

// Approval is a question to a person and its answer, bound to the hash of what it is about
// (docs/spec/composition.md#x7).
type Approval struct {
	Row        `json:"-"`
	About      string       `json:"about"` // plan action call checks unblock
	Subject    string       `json:"subject"`
	Hash       string       `json:"hash"`
	Scope      policy.Scope `json:"scope"`
	Detail     string       `json:"detail,omitempty"`
	AnsweredBy pawl.Actor   `json:"answered_by,omitempty"`
	Way        Way          `json:"way,omitempty"`
	AnsweredAt time.Time    `json:"answered_at,omitzero"`
	Note       string       `json:"note,omitempty"`
	Key        string       `json:"key,omitempty"` // the fingerprint of the key by which it was answered
	// ShownTo are the persons to whom a page has shown it.
	ShownTo []pawl.Actor `json:"shown_to,omitempty"`
}

// The states of an approval.
const (
	ApprovalPending = "pending"
	ApprovalGranted = "granted"
	ApprovalRefused = "refused"
	ApprovalStale   = "stale"
)

// Task is the task of docs/spec/task.md.
type Task struct {
	Row      `json:"-"`
	Title    string            `json:"title"`
	By       pawl.Actor        `json:"created_by"`
	Mode     string            `json:"mode_id"`
	Number   int64             `json:"number"`
	Session  string            `json:"session_id,omitempty"` // set for tasks of a run
	Place    effect.Place      `json:"place,omitzero"`
	Base     string            `json:"base,omitempty"`
	Branch   string            `json:"branch,omitempty"`
	Plan     *plan.Plan        `json:"plan,omitempty"`
	PlanHash string            `json:"plan_hash,omitempty"`
	Approval string            `json:"approval,omitempty"` // id of the approval that covers the plan
	Checks   []effect.Check    `json:"checks,omitempty"`
	Pinned   map[string]string `json:"pinned,omitempty"`
	// Named are the files that the approved plan says it changes; one that ends with a slash is a folder.
	Named  []string       `json:"named_files,omitempty"`
	Unseen bool           `json:"plan_unseen,omitempty"` // no person has looked at the plan, or written it
	Grants []effect.Grant `json:"network,omitempty"`     // the network grants of the approved plan
	// Refused are calls of agents that were not made, the first ones, each once.
	Refused []effect.RefusedCall `json:"refused_calls,omitempty"`
	// Accepted is the hash of the change to the checks that a person approved.
	Accepted string `json:"accepted_change,omitempty"`
	Ready    Ready  `json:"ready,omitzero"`
	Cursor   Cursor `json:"cursor,omitzero"`
	Turn     string `json:"turn,omitempty"`
	Turns    int    `json:"turns,omitempty"`
	Talk     string `json:"talk,omitempty"` // the agent's conversation about the step at work
	Effect   string `json:"effect,omitempty"`
	Lease    Lease  `json:"lease,omitzero"`
	// Repairs counts the repairs that were ever planned; it numbers their steps.
	Repairs  int                  `json:"repairs,omitempty"`
	Fixes    int                  `json:"fixes,omitempty"` // failed repairs since the last success
	Failures []effect.Failure     `json:"failures,omitempty"`
	Help     effect.Help          `json:"help,omitzero"`
	Taken    []effect.Taken       `json:"taken,omitempty"`
	Retry    RetryState           `json:"retry_state,omitzero"`
	Verified *effect.VerifyResult `json:"verified,omitempty"`
	Gates    []string             `json:"gates,omitempty"`
	Gate     *effect.VerifyResult `json:"gate_results,omitempty"`
	// GateFault is why the gates that were asked for by hand could not be run.
	GateFault   *effect.Fault            `json:"gate_fault,omitempty"`
	GateNote    string                   `json:"gate_failure_context,omitempty"`
	Land        *effect.LandResult       `json:"land,omitempty"`
	Exit        string                   `json:"exit_reason,omitempty"`
	Reason      string                   `json:"reason,omitempty"`
	Progress    *Progress                `json:"progress,omitempty"`
	Blocked     *Blocked                 `json:"blocked,omitempty"`
	CancelAt    time.Time                `json:"cancel_requested_at,omitzero"`
	CancelBy    pawl.Actor               `json:"cancel_requested_by,omitempty"`
	Cleanup     *effect.CleanupResult    `json:"cleanup_summary,omitempty"`
	Disposition *effect.Disposition      `json:"mode_disposition,omitempty"`
	Checkpoint  *effect.CheckpointResult `json:"checkpoint,omitempty"`
	Restart     string                   `json:"restart_source,omitempty"`
	Tree        string                   `json:"tree,omitempty"` // last tree that pawl left behind
	// Moved says that the work was brought onto another base than it began on, Fits that this is what its branch is at.
	Moved    bool `json:"moved,omitempty"`
	UpToDate bool `json:"fits,omitempty"`
	// Spans are the times in which pawl changed the tree since its checkpoint, oldest first.
	Spans []effect.Span `json:"spans,omitempty"`
	// OrphanEffect was taken out of its runner's hands, as long as it is not known what it left in the tree.
	OrphanEffect string   `json:"half_done,omitempty"`
	Once         []string `json:"ran_once,omitempty"` // the first calls that were begun and may run once
	// InterruptedStep is the step whose call was cut off by a stop, a cancel or a crash.
	InterruptedStep string `json:"cut_step,omitempty"`
	// Undone are the steps that were undone, for redo; the last one comes first.
	Undone    []UndoneStep `json:"undone_steps,omitempty"`
	StartedAt time.Time    `json:"started_at,omitzero"`
	EndedAt   time.Time    `json:"ended_at,omitzero"`
	// LookedBack says that the failing checks were run on what the work started from, and FailingBefore are the
	// fingerprints of those that failed there, by their names.
	LookedBack    bool              `json:"looked_back,omitempty"`
	FailingBefore map[string]string `json:"failing_before,omitempty"`
	// ApprovedBy is the person who looked at the plan and approved it, "" for none. Proof is what shows that the work
	// did what was wanted, nil before that was tried.
	ApprovedBy pawl.Actor    `json:"approved_by,omitempty"`
	Proof      *effect.Proof `json:"proof,omitempty"`
	// Reviews are what reviewers said of the work, one for each tree that came so far, newest last.
	Reviews []effect.WorkReview `json:"reviews,omitempty"`
	// Disputed are the tests of the plan that somebody who works says are wrong.
	Disputed []effect.Disputed `json:"disputed,omitempty"`
	// Baseline is what was known of the checks on the tree that the work started from, nil where nothing was.
	Baseline *effect.Baseline `json:"baseline,omitempty"`
	// Waited is how long the task waited for a person, which does not count against its time.
	Waited time.Duration `json:"waited,omitempty"`
}

// Hears reports whether what a person says is told to an agent that goes on with the task: one of its steps is an
// agent's, and what nothing shows is not for a person alone to settle.
func (t *Task) Hears() bool {
	return t.Plan != nil && (t.Proof == nil || t.Proof.Verdict != effect.Unproven || t.Proof.Mendable()) &&
		slices.ContainsFunc(t.Plan.Steps, func(s plan.Step) bool { return len(s.ToolCalls) == 0 })
}

// ModeName is the capability mode of the task, the default one where it names none.
func (t *Task) ModeName() string {
	return cmp.Or(t.Mode, DefaultMode)
}

// Changed reports whether the task has left something in its tree that is not undone.
func (t *Task) Changed() bool {
	if !t.Ready.Tracked {
		return t.Checkpoint != nil && t.Tree != t.Checkpoint.Tree
	}
	return slices.ContainsFunc(t.Spans, func(s effect.Span) bool { return !s.Undone })
}

// UndoneStep is a step that was undone: the status that it had, and the trees before and after.
type UndoneStep struct {
	Step   string      `json:"step"`
	Status plan.Status `json:"status"`
	Before string      `json:"before"`
	After  string      `json:"after"`
}

// Ready says how far a task's place is prepared.
type Ready struct {
	Worktree   bool `json:"worktree,omitempty"`
	Checkpoint bool `json:"checkpoint,omitempty"`
	Cleaned    bool `json:"cleaned,omitempty"`
	// Tracked says that every change of pawl's is in Spans.
	Tracked bool `json:"tracked,omitempty"`
	// Tests counts the files of tests of the plan that stand in the tree as they were approved, Placed says that all of
	// them did once, and Worked that somebody has worked since.
	Tests  int  `json:"tests,omitempty"`
	Placed bool `json:"placed,omitempty"`
	Worked bool `json:"worked,omitempty"`
}

// Cursor is the next call of the plan. It survives turns, so that a new attempt goes on where the last one stopped.
type Cursor struct {
	Step string `json:"step,omitempty"`
	Call int    `json:"call,omitempty"`
	// Failed names the step whose call failed and is tried again after its repair; "" when a check failed.
	Failed string `json:"failed,omitempty"`
	// At is the call of the failed step to go on with.
	At int `json:"at,omitempty"`
}

// Lease is the right of one runner to work on a task. Its fencing token is the row's Epoch.
type Lease struct {
	Owner   string    `json:"owner,omitempty"`
	Expires time.Time `json:"expires,omitzero"`
}

// EffectDoc is the cold half of an effect's row: what is to be done and what became of it.
type EffectDoc struct {
	Row      `json:"-"`
	Effect   effect.Effect   `json:"effect"`
	Receipt  *effect.Receipt `json:"receipt,omitempty"`
	Attempts int             `json:"attempts"`
	Answer   string          `json:"answer,omitempty"` // of a person, where the outcome was unknown
	// Within is the agent's effect in the middle of which a call is made, "" for an effect of its own.
	Within string `json:"within,omitempty"`
	// Clock says that the effect's time is charged to budgets while it is at work.
	Clock *Clock `json:"clock,omitempty"`
}

// What returns the kind of the effect.
func (e *EffectDoc) What() effect.Kind { return e.Effect.Kind }

// The states of an effect. Append-only.
const (
	EffectPending  = "pending"
	EffectRunning  = "running"
	EffectDone     = "done"
	EffectFailed   = "failed"
	EffectUnknown  = "unknown"
	EffectCanceled = "canceled"
)

// CheckpointDoc is the cold half of a checkpoint's row; its label is the checkpoint's name.
type CheckpointDoc struct {
	Row `json:"-"`
	effect.CheckpointResult
	Task  string       `json:"task"`
	Place effect.Place `json:"place"`
}

// Clock is the time of an effect at work, as it is charged to budgets: since when it runs, the day that it is charged
// to, and what is held for it.
type Clock struct {
	Since time.Time `json:"since"`
	Day   time.Time `json:"day"`
	Held  int64     `json:"held_ms"`
}

// Budget is what the work of one scope cost. Its label is the scope and what it is about: "run:RUN-3",
// "review:RUN-3", "issue:ISS-20260102-001", "day:2026-01-02".
type Budget struct {
	Row   `json:"-"`
	Spent effect.Usage `json:"spent"`
	// Held is what calls in flight may cost at most, by reservation. One that a crash left counts as spent in full.
	Held map[string]effect.Usage `json:"held,omitempty"`
}

// Used is what is spent and held together.
func (b *Budget) Used() effect.Usage {
	u := b.Spent
	for _, h := range b.Held {
		u = u.Plus(h)
	}
	return u
}

// Conversation is an agent's conversation about one step, and what it asked for last.
type Conversation struct {
	Row      `json:"-"`
	Step     string           `json:"step"`
	Agent    string           `json:"agent"`
	Messages []effect.Message `json:"messages,omitempty"`
	// Asks are the calls that the agent's last answer asks for; Next is the first that is not settled.
	Asks []effect.Ask `json:"asks,omitempty"`
	Next int          `json:"next,omitempty"`
	// Granted is the approval of the call at Next, once a person gave it.
	Granted string `json:"granted,omitempty"`
	// Recent are digests of the newest calls, by which a loop is seen.
	Recent []string `json:"recent,omitempty"`
	// Session is the agent's own session.
	Session string `json:"session,omitempty"`
	// Wanted is the call for which the agent's work broke off, because a person has to allow it. Allowed are the
	// approvals of such calls by the calls' digests: each is good for one call, and for no other.
	Wanted  *effect.Ask       `json:"wanted,omitempty"`
	Allowed map[string]string `json:"allowed,omitempty"`
	// Notes are for the agent to read before it goes on.
	Notes []string     `json:"notes,omitempty"`
	Usage effect.Usage `json:"usage,omitzero"`
	// Earlier are the results of the last calls of the conversation before this one.
	Earlier []effect.ToolResult `json:"earlier,omitempty"`
	// Said is the first line of what the agent said last; no evidence of anything.
	Said string `json:"said,omitempty"`
}

// Question is a question of an agent to the person. Its label is "q-1", "q-2" and so on.
type Question struct {
	Row  `json:"-"`
	Text string     `json:"text"`
	By   pawl.Actor `json:"by"`
	// Step is the step whose work waits for the answer, and Call the model's call that asks; both are "" for an agent
	// that does no work of the run.
	Step string `json:"step,omitempty"`
	Call string `json:"call,omitempty"`
	// Answer is what the person said, "" where the question was dismissed.
	Answer     string     `json:"answer,omitempty"`
	AnsweredBy pawl.Actor `json:"answered_by,omitempty"`
	AnsweredAt time.Time  `json:"answered_at,omitzero"`
}

// The states of a question.
const (
	QuestionOpen      = "open"
	QuestionAnswered  = "answered"
	QuestionDismissed = "dismissed"
)

// Ruling is a decision of the project. Rows are only ever added: one is deprecated when a later one replaces it.
type Ruling struct {
	Row      `json:"-"`
	Type     string     `json:"decision_type"`
	Content  string     `json:"content"`
	Replaces string     `json:"replaces,omitempty"`
	By       pawl.Actor `json:"by"`
}

// Incident is an error with its cause and its fix.
type Incident struct {
	Row       `json:"-"`
	Type      string     `json:"error_type"`
	RootCause string     `json:"root_cause"`
	Fix       string     `json:"fix_solution"`
	Scope     string     `json:"scope"`
	By        pawl.Actor `json:"by"`
}

// Progress is the newest word about a task: what somebody said of it, which proves nothing.
type Progress struct {
	Text string     `json:"text"`
	By   pawl.Actor `json:"by"`
	At   time.Time  `json:"at"`
}

// Pad returns the word as a line of the scratchpad.
func (p *Progress) Pad(label string) view.PadLine {
	return view.PadLine{Name: "progress", Value: label + " " + string(p.By) + ": " + p.Text}
}

// Lease is the token of the runner that asked for the gates of a task outside a run, 0 for none.
func (e *EffectDoc) Lease() int64 {
	if e.What() != effect.KindGates {
		return 0
	}
	spec, _ := effect.Decode[effect.VerifySpec](e.Effect.Spec) // what cannot be read was asked for by nobody
	return spec.Lease
}

// MaxQuestions is how many questions one round may ask (docs/spec/turn.md#b1).
const MaxQuestions = 3

// MaxNote bounds the text of a decision or an incident, in bytes.
const MaxNote = 16 << 10

// Changes are the files that work on the issue is expected to change.
func (i *Issue) Changes() []string { return append(slices.Clip(i.Files), i.ConflictFiles...) }

// Timed reports whether an effect is charged to budgets: what agents and tools do, and not what pawl does by itself.
func Timed(e *EffectDoc) bool { return e.What().Agent() || e.What() == effect.KindTool }
