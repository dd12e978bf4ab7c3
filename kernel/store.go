package kernel

import (
	"context"
	"iter"
	"strings"
	"time"

	"pawl/kernel/audit"
	"pawl/kernel/effect"
)

// Kind says what a row is. Kinds are append-only.
type Kind string

// The kinds of row. The first seven are instances of the five machines (workflow keeps one row, board three kinds); the
// others have a small state of their own or none.
const (
	KindSession    Kind = "session"
	KindTurn       Kind = "turn"
	KindFlow       Kind = "flow"
	KindTask       Kind = "task"
	KindRun        Kind = "run"
	KindIssue      Kind = "issue"
	KindItem       Kind = "item"
	KindSolution   Kind = "solution"
	KindApproval   Kind = "approval"
	KindCheckpoint Kind = "checkpoint"
	KindEffect     Kind = "effect"
	KindOwner      Kind = "owner"
	KindTalk       Kind = "talk"
	KindBudget     Kind = "budget"
	KindQuestion   Kind = "question"
	KindSetting    Kind = "setting"
	KindBoard      Kind = "board"
	KindLink       Kind = "link"
	KindAlias      Kind = "alias"
	KindDecision   Kind = "decision"
	KindIncident   Kind = "incident"
	KindNotice     Kind = "notice"
	// KindPhase is no row of its own: it stands for the phase of a run in the composition table.
	KindPhase Kind = "phase"
)

// Row is one entity as the store keeps it. Its texts are UTF-8 without NUL bytes, ID and Label at most 255 bytes;
// instants are kept to the microsecond, in UTC; Doc may hold any bytes, and an empty one is none (nil). The hot half
// (State, Version, Epoch, Due, Rank, audit tail) is read and written by every transition; Doc is written only when it
// changed.
type Row struct {
	// Pos is the row's place in the order of insertion, from 1, given by the store; writes ignore it.
	Pos    int64
	Kind   Kind
	ID     string // ULID
	Label  string // display id, unique per kind where it is not empty: T-001, ISS-…, chk-…
	Parent string // ID of the owning row: the session of a task, the task of a turn; "" for none
	State  string // wire name of the machine's state, "" for kinds without one
	// Version is 1 after the insert and grows by one with every write: the compare-and-set of optimistic concurrency.
	Version int64
	// Epoch is the fencing token of the newest lease on the row.
	Epoch int64
	// Due is when the row may be claimed (queued tasks, pending effects) or when its lease ends (running ones).
	Due time.Time
	// Rank orders claims: higher first, then older first.
	Rank int64
	// AuditSeq and AuditHash are the number and the hash of the newest audit record about this row.
	AuditSeq  int64
	AuditHash audit.Hash
	Doc       []byte // JSON of the kind's document
	CreatedAt time.Time
	UpdatedAt time.Time
	// Root is where the workspace and its state are now; without a Workspace the paths in Doc are taken unchanged.
	// Only moved.At sets it; stores ignore it.
	Root effect.Place `json:"-"`
}

// Document is what a row says, with its row. The types of this package that embed Row are documents.
type Document interface{ hot() *Row }

func (r *Row) hot() *Row { return r }

// Write is one row to insert (From 0) or to replace if its version still is From. The row carries its new version.
type Write struct {
	Row
	From int64
	// KeepDoc leaves the stored document as it is; Row.Doc is ignored.
	KeepDoc bool
}

// Read is a row that a batch was decided on, as it was then. Version 0 says that there was none.
type Read struct {
	Kind    Kind
	ID      string
	Version int64
}

// Batch is what one command commits: all of it or nothing. It writes no row twice. Each record is about a row that the
// batch writes and continues that row's chain, and the row carries the number and the hash of its last record; a row
// without records keeps both as they were stored. Commit owns the batch until it returns, and for good after
// outcome_unknown.
type Batch struct {
	// Key makes the batch idempotent: a second batch with the same key is not applied, and Commit answers with the
	// Committed of the first and Replayed set. Digest guards the key: the same key with another digest is a conflict.
	// Keys are remembered for at least 24 hours; the key of a batch that was refused is free.
	Key     string
	Digest  string
	Result  []byte // opaque answer that is kept with the key
	At      time.Time
	Writes  []Write
	Records []audit.Sealed
	// Reads are rows that the batch does not write and that must still have these versions; where one has not, that is
	// a conflict like one of a write's. They are compared in the transaction that writes, and not for a batch that is
	// replayed.
	Reads []Read
	// Retire, unless it is nil, takes the oldest records out of the log and rows out of the store, for good.
	Retire *Retirement
	// Attest has what is committed be known after a crash even where the end of the store is lost then: what comes next
	// may happen once.
	Attest bool
}

// Retirement is what a batch takes out of the store: the records of the log before the front, and rows that no other
// record is about. The front must be what the records amount to (audit.Log.Advance), the rows must still have these
// versions, and none that stays may be below one that goes; otherwise the batch is refused as a conflict. A record of
// the batch says what was retired (audit.Retired).
type Retirement struct {
	Front audit.Front
	Rows  []Read
}

// Committed is the store's acknowledgement. When it is returned the batch is on disk.
type Committed struct {
	Replayed bool
	Result   []byte
	// First is the index in the audit log of the batch's first record; Size is the log's size after it.
	First, Size int64
}

// Select picks rows. All fields that are set must match. Rows come in the order of insertion unless ByRank or Newest.
type Select struct {
	Kind    Kind
	ID      string
	Label   string
	Parent  string
	States  []string
	DueBy   time.Time // only rows with Due at or before this instant
	After   int64     // continue behind this Row.Pos
	Limit   int       // 0 = no limit
	ByRank  bool      // rank descending, then insertion order
	Newest  bool      // newest first
	HotOnly bool      // leave Doc nil
}

// Identity returns the name of a store: random, made with the store and never changed. A copy or a backup of a store
// has the identity of the original; a store that was made anew in the same place has another one. It is made of letters
// and digits.
func Identity(ctx context.Context, s Store) (string, error) {
	var id string
	err := s.Log(ctx, func(l audit.Log) error { id = l.Identity; return nil })
	return id, err
}

// Store is what the kernel needs of a database. Every implementation passes store/storetest. All methods are safe for
// concurrent use, also by several processes on one store.
//
// Errors are *pawl.Error: conflict when a version does not match (nothing was written), outcome_unknown when the
// caller's deadline passed while the batch was being written (ask again with the same key), disk_full, read_only, io,
// busy, store_damaged.
type Store interface {
	// Load reads the selected rows in one consistent snapshot; result i belongs to selection i.
	Load(ctx context.Context, sel ...Select) ([][]Row, error)
	// Scan streams the rows of one selection; breaking off the loop releases the snapshot.
	Scan(ctx context.Context, sel Select) iter.Seq2[Row, error]
	// Count counts the rows of a kind by state, restricted to a parent unless it is "".
	Count(ctx context.Context, kind Kind, parent string) (map[string]int, error)
	// Commit applies a batch. It returns only after the batch is durable (synchronous=FULL or better). A batch that has
	// not begun when ctx ends is dropped; the limit for one write is 10 s (docs/spec/task.md#s4-1).
	Commit(ctx context.Context, b Batch) (Committed, error)
	// Records streams the audit log from index first on, exact bytes as they were committed; from the first record that
	// is there where those before it were retired. Subject is the text form of an audit.Subject, "task:01H…"; "" means
	// all.
	Records(ctx context.Context, subject string, first int64) iter.Seq2[audit.Stored, error]
	// Head returns the audit log's head: size, Merkle root and frontier. Its size changes with every commit that
	// carries a record, which makes it the cursor to wait on.
	Head(ctx context.Context) (audit.Head, error)
	// Log calls read with the audit log as it is at one moment, whatever is committed meanwhile, and with the identity
	// of the store. The log can be read until read returns; an error of read is returned as it is.
	Log(ctx context.Context, read func(audit.Log) error) error
	// Close waits for running commits and releases the store.
	Close() error
}

// AuditEvent names what an audit record tells that is no move of a machine; moves are named by the state that they lead
// to. The names are kept in audit logs, so they are append-only.
type AuditEvent string

// The events.
const (
	AuditAgentSaid              AuditEvent = "AGENT_SAID"
	AuditAgentSession           AuditEvent = "AGENT_SESSION"
	AuditApprovalGranted        AuditEvent = "APPROVAL_GRANTED"
	AuditApprovalRequested      AuditEvent = "APPROVAL_REQUESTED"
	AuditApprovalShown          AuditEvent = "APPROVAL_SHOWN"
	AuditArchiveIncomplete      AuditEvent = "ARCHIVE_INCOMPLETE"
	AuditAutonomousBlocked      AuditEvent = "AUTONOMOUS_BLOCKED"
	AuditAutoApprovalRefused    AuditEvent = "AUTO_APPROVAL_REFUSED"
	AuditBaseMoved              AuditEvent = "BASE_MOVED"
	AuditBoardBranch            AuditEvent = "BOARD_BRANCH"
	AuditBoardOpened            AuditEvent = "BOARD_OPENED"
	AuditBudgetForfeited        AuditEvent = "BUDGET_FORFEITED"
	AuditBudgetSpent            AuditEvent = "BUDGET_SPENT"
	AuditCallAllowed            AuditEvent = "CALL_ALLOWED"
	AuditCallAsked              AuditEvent = "CALL_ASKED"
	AuditCallRefused            AuditEvent = "CALL_REFUSED"
	AuditCheckedBefore          AuditEvent = "CHECKED_BEFORE"
	AuditCheckpointCreated      AuditEvent = "CHECKPOINT_CREATED"
	AuditCheckpointFailed       AuditEvent = "CHECKPOINT_FAILED"
	AuditCommandDone            AuditEvent = "COMMAND_DONE"
	AuditCommandGiven           AuditEvent = "COMMAND_GIVEN"
	AuditContextBuilt           AuditEvent = "CONTEXT_BUILT"
	AuditDecisionSaved          AuditEvent = "DECISION_SAVED"
	AuditDecisionSigned         AuditEvent = "DECISION_SIGNED"
	AuditDependencyAdded        AuditEvent = "DEPENDENCY_ADDED"
	AuditDependencyRemoved      AuditEvent = "DEPENDENCY_REMOVED"
	AuditDependentsReleased     AuditEvent = "DEPENDENTS_RELEASED"
	AuditEffectAnswered         AuditEvent = "EFFECT_ANSWERED"
	AuditEffectCanceled         AuditEvent = "EFFECT_CANCELED"
	AuditEffectDone             AuditEvent = "EFFECT_DONE"
	AuditEffectFailed           AuditEvent = "EFFECT_FAILED"
	AuditEffectRecovered        AuditEvent = "EFFECT_RECOVERED"
	AuditEffectRequested        AuditEvent = "EFFECT_REQUESTED"
	AuditEffectStarted          AuditEvent = "EFFECT_STARTED"
	AuditEffectStopped          AuditEvent = "EFFECT_STOPPED"
	AuditErrorRecorded          AuditEvent = "ERROR_RECORDED"
	AuditFixFailed              AuditEvent = "FIX_FAILED"
	AuditFixPlanned             AuditEvent = "FIX_PLANNED"
	AuditFixRefused             AuditEvent = "FIX_REFUSED"
	AuditFixUnknown             AuditEvent = "FIX_UNKNOWN"
	AuditGateVerificationResult AuditEvent = "GATE_VERIFICATION_RESULT"
	AuditHistoryRetired         AuditEvent = audit.EventRetired
	AuditHumanHelp              AuditEvent = "HUMAN_HELP"
	AuditIntakeJudged           AuditEvent = "INTAKE_JUDGED"
	AuditIssueCreated           AuditEvent = "ISSUE_CREATED"
	AuditIssueEdited            AuditEvent = "ISSUE_EDITED"
	AuditIssueLeft              AuditEvent = "ISSUE_LEFT"
	AuditIssueTaken             AuditEvent = "ISSUE_TAKEN"
	AuditIssueUpdated           AuditEvent = "ISSUE_UPDATED"
	AuditLandingConflict        AuditEvent = "LANDING_CONFLICT"
	AuditLeaseAdopted           AuditEvent = "LEASE_ADOPTED"
	AuditModeRefused            AuditEvent = "MODE_REFUSED"
	AuditPathOutgrown           AuditEvent = "PATH_OUTGROWN"
	AuditPlanEdited             AuditEvent = "PLAN_EDITED"
	AuditTestDisputed           AuditEvent = "TEST_DISPUTED"
	AuditTestRewritten          AuditEvent = "TEST_REWRITTEN"
	AuditTestRestored           AuditEvent = "TEST_RESTORED"
	AuditTreeCleared            AuditEvent = "TREE_CLEARED"
	AuditTreeUnrecorded         AuditEvent = "TREE_UNRECORDED"
	AuditPlanPatched            AuditEvent = "PLAN_PATCHED"
	AuditProofAccepted          AuditEvent = "PROOF_ACCEPTED"
	AuditProofResult            AuditEvent = "PROOF_RESULT"
	AuditReviewResult           AuditEvent = "REVIEW_RESULT"
	AuditQuestionsAnswered      AuditEvent = "QUESTIONS_ANSWERED"
	AuditQuestionsAsked         AuditEvent = "QUESTIONS_ASKED"
	AuditQuestionAsked          AuditEvent = "QUESTION_ASKED"
	AuditRemainsRetired         AuditEvent = "REMAINS_RETIRED"
	AuditResultRebased          AuditEvent = "RESULT_REBASED"
	AuditResultUndone           AuditEvent = "RESULT_UNDONE"
	AuditRiskConfirmed          AuditEvent = "RISK_CONFIRMED"
	AuditRiskFound              AuditEvent = "RISK_FOUND"
	AuditRollbackFailed         AuditEvent = "ROLLBACK_FAILED"
	AuditRollbackRequested      AuditEvent = "ROLLBACK_REQUESTED"
	AuditRunCreated             AuditEvent = "RUN_CREATED"
	AuditSessionCreated         AuditEvent = "SESSION_CREATED"
	AuditSessionPaused          AuditEvent = "SESSION_PAUSED"
	AuditSessionResumed         AuditEvent = "SESSION_RESUMED"
	AuditSilenceBroken          AuditEvent = "SILENCE_BROKEN"
	AuditSilenceRestored        AuditEvent = "SILENCE_RESTORED"
	AuditStepRedone             AuditEvent = "STEP_REDONE"
	AuditStepUndone             AuditEvent = "STEP_UNDONE"
	AuditStepUndoFailed         AuditEvent = "STEP_UNDO_FAILED"
	AuditStepUndoRequested      AuditEvent = "STEP_UNDO_REQUESTED"
	AuditTaskCancelRequested    AuditEvent = "TASK_CANCEL_REQUESTED"
	AuditTaskCreated            AuditEvent = "TASK_CREATED"
	AuditTaskProgress           AuditEvent = "TASK_PROGRESS"
	AuditTaskRestarted          AuditEvent = "TASK_RESTARTED"
	AuditTaskRetryAttempt       AuditEvent = "TASK_RETRY_ATTEMPT"
	AuditToolEntered            AuditEvent = "TOOL_ENTERED"
	AuditToolLeft               AuditEvent = "TOOL_LEFT"
	AuditTreeRestored           AuditEvent = "TREE_RESTORED"
	AuditUndoFailed             AuditEvent = "UNDO_FAILED"
	AuditUndoKept               AuditEvent = "UNDO_KEPT"
	AuditUndoRequested          AuditEvent = "UNDO_REQUESTED"
	AuditVerificationResult     AuditEvent = "VERIFICATION_RESULT"
	AuditWorkItemCompleted      AuditEvent = "WORK_ITEM_COMPLETED"
	AuditWorkspaceMoved         AuditEvent = "WORKSPACE_MOVED"
)

// What such names begin with that end with a state, an outcome or a mode.
const (
	auditApprovalAs AuditEvent = "APPROVAL_"
	AuditEffectAs   AuditEvent = "EFFECT_"
	AuditModeAs     AuditEvent = "MODE_"
	AuditNoticeAs   AuditEvent = "NOTICE_"
	AuditPhaseAs    AuditEvent = "PHASE_"
	AuditPullAs     AuditEvent = "PULL_"
	auditQuestionAs AuditEvent = "QUESTION_"
	AuditResultAs   AuditEvent = "RESULT_"
)

// In is the name for a state.
func (e AuditEvent) In(state string) AuditEvent { return e + AuditEvent(strings.ToUpper(state)) }
