// Package effect describes what is to happen outside the store, as data. The kernel decides effects and commits them;
// the runner claims each under a lease and hands it to its driver; the driver's receipt goes back to the kernel as a
// command (ARCHITECTURE.md, "Decide, commit, act, report"). Everything here is a plain value with a stable JSON form,
// because effects and receipts are kept for ever beside the audit records.
package effect

import (
	"encoding/json"
	"strings"
	"time"

	"pawl/text/shell"

	"pawl"
	"pawl/text/plan"
	"pawl/text/policy"
)

// Kind names a driver. Kinds are append-only.
type Kind string

// The kinds of effect. Each has one spec type and one result type in this package.
const (
	KindIntake     Kind = "agent.intake"       // IntakeSpec → IntakeResult
	KindContext    Kind = "context.build"      // ContextSpec → ContextResult
	KindPlan       Kind = "agent.plan"         // PlanSpec → PlanResult
	KindRepair     Kind = "agent.repair"       // RepairSpec → RepairResult
	KindWork       Kind = "agent.work"         // WorkSpec → WorkResult
	KindWorktree   Kind = "worktree.create"    // WorktreeSpec → WorktreeResult
	KindCheckpoint Kind = "checkpoint.create"  // CheckpointSpec → CheckpointResult
	KindRestore    Kind = "checkpoint.restore" // RestoreSpec → RestoreResult
	KindTool       Kind = "tool.call"          // ToolSpec call → ToolResult
	KindVerify     Kind = "verify.run"         // VerifySpec → VerifyResult
	KindGates      Kind = "gates.run"          // VerifySpec → VerifyResult
	KindProve      Kind = "proof.run"          // ProveSpec → ProveResult
	KindReview     Kind = "agent.review"       // ReviewSpec → ReviewResult
	KindRewrite    Kind = "agent.rewrite"      // RewriteSpec → RewriteResult
	KindLand       Kind = "land.commit"        // LandSpec → LandResult
	KindRevert     Kind = "land.revert"        // RevertSpec → LandResult
	KindCleanup    Kind = "worktree.remove"    // CleanupSpec → CleanupResult
	KindArchive    Kind = "archive.write"      // ArchiveSpec → ArchiveResult
	KindKnowledge  Kind = "knowledge.write"    // KnowledgeSpec → KnowledgeResult
	KindPackage    Kind = "package.write"      // PackageSpec → PackageResult
	KindRetire     Kind = "package.retire"     // RetireSpec → RetireResult
	KindCommit     Kind = "git.commit"         // CommitSpec → CommitResult
	KindRewind     Kind = "git.rewind"         // RewindSpec → RewindResult
	KindTest       Kind = "project.test"       // VerifySpec → VerifyResult
	KindPrepare    Kind = "project.prepare"    // PrepareSpec → PrepareResult
	KindPush       Kind = "forge.push"         // PushSpec → PushResult
	KindPull       Kind = "forge.pull"         // PullSpec → PullResult
	KindStatus     Kind = "forge.status"       // StatusSpec → Posted
	KindComment    Kind = "forge.comment"      // CommentSpec → Posted
	KindClose      Kind = "forge.close"        // CloseSpec → PullResult
)

// Ordered reports whether an effect of the kind is what a ~command asks for that is no flow (~init, ~clean, …).
func (k Kind) Ordered() bool {
	switch k {
	case KindKnowledge, KindPackage, KindRetire, KindCommit, KindRewind, KindTest, KindPrepare:
		return true
	}
	return false
}

// Forge reports whether an effect of the kind is about a pull request.
func (k Kind) Forge() bool {
	return k == KindPush || k == KindPull || k == KindStatus || k == KindComment || k == KindClose
}

// Agent reports whether an effect of the kind is done by an agent.
func (k Kind) Agent() bool {
	return k == KindIntake || k == KindPlan || k == KindRepair || k == KindWork || k == KindReview || k == KindRewrite
}

// Place says where an effect works. All paths are absolute.
type Place struct {
	// Workspace is the directory that the user works in.
	Workspace string `json:"workspace"`
	// State is the directory of the workspace in the user's state directory: the store, pawl's repository, checkpoints,
	// worktrees, caches and logs are there, outside of every tree that others write. Documents that earlier versions
	// wrote have none; for these it is .pawl in the workspace (Own).
	State string `json:"state,omitempty"`
	// Tree is the folder that effects change: the task's own worktree, or the workspace itself when in place.
	Tree string `json:"tree"`
	// Git says that the workspace belongs to a git repository. Without it there is no branch to land on, and snapshots
	// are stored in pawl's repository alone.
	Git bool `json:"git"`
	// InPlace says that Tree is Workspace.
	InPlace bool `json:"in_place"`
	// Kept names the checkpoint that keeps what git ignores, once a run in place has one.
	Kept string `json:"kept,omitempty"`
}

// Own is a path in the State directory, with the separator of slash-separated elements.
func (p Place) Own(elem ...string) string {
	own := p.State
	if own == "" {
		own = p.Workspace + "/.pawl"
	}
	return strings.Join(append([]string{own}, elem...), "/")
}

// At returns the same place of a workspace that is at another path now, with its state directory at another one, as
// now names both. A place that names no workspace stays as it is.
func (p Place) At(now Place) Place {
	if p.Workspace == "" {
		return p
	}
	if rest, ok := under(p.Tree, p.Own()); ok {
		p.Tree = now.Own() + rest
	} else if rest, ok := under(p.Tree, p.Workspace); ok {
		p.Tree = now.Workspace + rest
	}
	p.Workspace, p.State = now.Workspace, now.State
	return p
}

// under returns what follows dir in a path that is dir or lies below it.
func under(path, dir string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, dir)
	return rest, ok && (rest == "" || rest[0] == '/' || rest[0] == '\\')
}

// Effect is one thing to do, as the kernel committed it.
type Effect struct {
	ID      string `json:"id"`
	Kind    Kind   `json:"kind"`
	Session string `json:"session"`
	Task    string `json:"task,omitempty"`
	Turn    string `json:"turn,omitempty"`
	// Idempotent says that doing it twice is the same as doing it once, so that after a crash it may be done again.
	Idempotent bool `json:"idempotent"`
	// Delays are the waits before the retries of a failing idempotent effect (docs/spec/turn.md#s4-1); empty means no
	// retry.
	Delays []time.Duration `json:"delays,omitempty"`
	// Timeout bounds one attempt; zero leaves it to the driver's default.
	Timeout time.Duration   `json:"timeout,omitempty"`
	Place   Place           `json:"place"`
	Spec    json.RawMessage `json:"spec"`
	// Record says that the effect may change the tree: the runner records it before the effect begins and, where the
	// effect failed or was cut off, when that is found.
	Record bool `json:"record,omitempty"`
	// Before is the tree that was recorded before the effect began, "" where it is not recorded.
	Before string `json:"before,omitempty"`
	// Token is the fencing token under which the effect was claimed; a receipt with an older token is refused.
	Token int64 `json:"token,omitempty"`
}

// Answer is what a driver's Done says about an effect whose outcome was lost in a crash.
type Answer string

// The answers. Unknown leads to a question for a person, never to a blind repetition.
const (
	DoneYes     Answer = "yes"
	DoneNo      Answer = "no"
	DoneUnknown Answer = "unknown"
)

// Receipt is the outcome of one attempt at an effect.
type Receipt struct {
	OK bool `json:"ok"`
	// Class, Code, Key and Args describe the failure when OK is false; Key and Args name a message of the catalogue.
	Class  pawl.Class      `json:"class,omitempty"`
	Code   pawl.Code       `json:"code,omitempty"`
	Key    string          `json:"key,omitempty"`
	Args   []string        `json:"args,omitempty"`
	Detail string          `json:"detail,omitempty"` // technical text: the cause, or the tail of an output
	Cause  *Fault          `json:"cause,omitempty"`  // the cause as data, where it is an error of pawl's
	Result json.RawMessage `json:"result,omitempty"` // the kind's result type
	// Refused says that the attempt ended with Result, which could not be used: doing it again would not change that.
	Refused bool `json:"refused,omitempty"`
	// Taken is what the effect's commands left in the tree and what was taken out of it.
	Taken []Taken   `json:"taken,omitempty"`
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	// Attempts counts how often the effect was tried, retries included.
	Attempts int `json:"attempts,omitempty"`
}

// Taken is something that a command left in a tree and that was taken out.
type Taken struct {
	Path string    `json:"path"`
	What TakenKind `json:"what"`
	// To is where it is kept for a while, in the tree, "" where it was removed.
	To string `json:"to,omitempty"`
	// Failed says that it is still there.
	Failed bool `json:"failed,omitempty"`
}

// TakenKind says what was taken out.
type TakenKind string

// What is taken out of a tree: a repository's .git, the HEAD by which a folder is a repository, the rights of a file to
// run as somebody else; or the tree is too large to be looked through.
const (
	TakenRepository TakenKind = "repository"
	TakenBare       TakenKind = "bare_repository"
	TakenRights     TakenKind = "setuid"
	TakenUnseen     TakenKind = "unseen"
)

// Progress is called by a driver while it works, with a line for people (already safe to print, never evidence).
type Progress func(line string)

// Permission is what a tool needs.
type Permission = policy.Permission

// ToolInfo is the single source of truth about a tool (docs/spec/turn.md#tool-protocol).
type ToolInfo struct {
	Name          string          `json:"name"`
	Version       string          `json:"version"`
	Description   string          `json:"description"`
	ArgsSchema    json.RawMessage `json:"args_schema"`   // JSON Schema 2020-12, additionalProperties false
	ReturnSchema  json.RawMessage `json:"return_schema"` // JSON Schema of ToolResult.Payload
	Permissions   []Permission    `json:"required_permissions"`
	SideEffects   []string        `json:"side_effects"`
	Idempotent    bool            `json:"idempotent"`
	DefaultTimeMS int64           `json:"default_timeout_ms"`
}

// ToolCall is the spec of KindTool: the call of docs/spec/turn.md#tool-protocol plus the place in the plan.
type ToolCall struct {
	CallID      string          `json:"tool_call_id"`
	Name        string          `json:"name"`
	Version     string          `json:"version"`
	Args        json.RawMessage `json:"args"`
	Permissions []Permission    `json:"requested_permissions"`
	TraceID     string          `json:"trace_id"`
	StepID      string          `json:"step_id"`
	// Fix is the number of the repair that the call belongs to, 0 for the plan itself.
	Fix int `json:"fix,omitempty"`
	// Granted is the id of the approval that covers the call, "" where policy allows it without one.
	Granted string `json:"granted,omitempty"`
	// Network says that the call was granted the network, and Sites where it may connect to: nowhere else.
	Network bool   `json:"network,omitempty"`
	Sites   []Site `json:"sites,omitempty"`
	// Snapshot says that the tree is to be recorded before and after the call, because its effect is not known from its
	// arguments (commands).
	Snapshot bool `json:"snapshot,omitempty"`
	// Images are the files that the call will change, with what is there before, as the tool's Preflight found them.
	// The kernel commits them before the call starts, so that after a crash the driver can tell what happened, finish
	// it and undo it.
	Images []FileImage `json:"images,omitempty"`
}

// Site is a place on the network that a call may connect to: a host, or with a dot in front all names below it, and a
// port. Private says that the user's own settings name it, so that its name may lead into a private network.
type Site struct {
	Host    string `json:"host"`
	Port    uint16 `json:"port"`
	Private bool   `json:"private,omitempty"`
}

// Grant is a network grant of a plan with what it stands for on this machine.
type Grant struct {
	Name  string `json:"name"`
	Sites []Site `json:"sites"`
}

// TestsStep, which no step is called, stands in the place of one where pawl writes the files of tests that came with
// the plan.
const TestsStep = "(tests)"

// ToolResult is the result of KindTool (docs/spec/turn.md#tool-protocol).
type ToolResult struct {
	CallID     string          `json:"tool_call_id"`
	Payload    json.RawMessage `json:"payload"`
	Artifacts  Artifacts       `json:"artifacts"`
	DurationMS int64           `json:"duration_ms"`
	// Inverse undoes the call: a list of file images that restore what the call changed.
	Inverse []FileImage `json:"inverse,omitempty"`
	// Before and After are tree ids of the snapshots around a command, "" for other tools.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Unrecorded says why After is missing of a call that was made and has worked.
	Unrecorded *Fault `json:"unrecorded,omitempty"`
}

// Artifacts says what a call touched.
type Artifacts struct {
	FilesChanged []string `json:"files_changed"`
	CommandsRun  []string `json:"commands_run"`
}

// FileImage is one file before and after a write. An absent file has an empty hash. Undo restores Before only while the
// file still hashes to NewHash, so that it never removes somebody else's change.
type FileImage struct {
	Path    string `json:"path"`
	OldHash string `json:"old_hash"` // sha256 hex, "" when the file did not exist
	NewHash string `json:"new_hash"` // sha256 hex, "" when the file was deleted
	OldMode uint32 `json:"old_mode,omitempty"`
	NewMode uint32 `json:"new_mode,omitempty"`
	// Dirs are the folders that the call makes for the file, outermost first; undo removes those that are empty by
	// then.
	Dirs []string `json:"dirs,omitempty"`
	// Patch is the unified diff that turns new into old, for text; Before holds the old bytes otherwise (base64 in
	// JSON).
	Patch  string `json:"undo_patch,omitempty"`
	Before []byte `json:"before,omitempty"`
}

// ContextSpec asks for the facts that planning needs.
type ContextSpec struct {
	Requirement string `json:"requirement"`
	// Answers and Feedback are what was said of the requirement since; a pack is built for them, too.
	Answers  []Answered `json:"answers,omitempty"`
	Feedback []string   `json:"feedback,omitempty"`
	// Tokens is the size of the pack to build, in estimated tokens; 0 builds none.
	Tokens int `json:"tokens,omitempty"`
	// Branch is the branch that the work is for, whatever is checked out; "" is the one that is.
	Branch string `json:"branch,omitempty"`
}

// Check is one verification command that pawl runs itself.
type Check struct {
	Name    string `json:"name"`    // short name: "go vet", "tests"
	Command string `json:"command"` // the shell command
	Kind    string `json:"kind"`    // format lint build test custom doctor
	Level   int    `json:"level"`   // 0 static, 1 build, 2 tests (docs/spec/turn.md#verification)
	Dir     string `json:"dir,omitempty"`
	// Missing names the program that the command needs and that is not installed, "" when it can run.
	Missing string `json:"missing,omitempty"`
}

// Need is what checks need of other people's packages and what is not on the machine.
type Need struct {
	Ecosystem string `json:"ecosystem"`
	Dir       string `json:"dir,omitempty"` // folder of the tree, "" for its root
	// Missing names what is not there, at most five; Count is how many there are.
	Missing []string `json:"missing"`
	Count   int      `json:"count"`
	// Command is the command of the project's own tool that fetches it, to be run in Dir.
	Command string `json:"command"`
}

// Next is the one command that a person runs to fetch what is missing, in the top folder of the project. Whatever else
// learns to fetch it is named here, and nowhere else.
func (n Need) Next() string {
	if n.Dir == "" {
		return n.Command
	}
	return "(cd " + shell.Quote(n.Dir) + " && " + n.Command + ")"
}

// ContextResult is what pawl found out about the workspace.
type ContextResult struct {
	Tree       string   `json:"tree,omitempty"` // tree of that commit, "" where it is not known
	Head       string   `json:"head"`           // commit that work starts from, "" without git
	Branch     string   `json:"branch"`         // branch that results land on, "" when detached or without git
	Dirty      []string `json:"dirty"`          // tracked files with uncommitted changes, at most 100
	Ecosystems []string `json:"ecosystems"`
	Checks     []Check  `json:"checks"`
	// Needs is what the checks need and the machine has not.
	Needs []Need `json:"needs,omitempty"`
	Files int    `json:"files"`
	// Definitions maps each file that defines the checks (Makefile, package.json, CI files) to its sha256, so that a
	// change to how the work is judged is seen.
	Definitions map[string]string `json:"definitions"`
	// Repo is what git would obey there of its configuration, for the judgement of commands that call it.
	Repo policy.Repo `json:"repo,omitzero"`
	// Pack is what an agent needs to know of the code; nil when no agent asks for it.
	Pack *ContextPack `json:"pack,omitempty"`
}

// PlanSpec asks an agent for a plan.
type PlanSpec struct {
	Agent       string        `json:"agent,omitempty"`
	Requirement string        `json:"requirement"`
	Answers     []Answered    `json:"answers,omitempty"`
	Feedback    []string      `json:"feedback,omitempty"` // of earlier refusals and failures, newest last
	File        string        `json:"file,omitempty"`     // name of the plan file, for messages
	Given       []byte        `json:"given,omitempty"`    // the plan file's bytes when the user brought one
	Context     ContextResult `json:"context"`
}

// PlanResult is an agent's proposal. Questions say what is missing where there is no plan.
type PlanResult struct {
	Said
	Plan      *plan.Plan `json:"plan,omitempty"`
	Questions []string   `json:"questions,omitempty"`
}

// RepairSpec asks an agent for steps that repair a failed verification or step.
type RepairSpec struct {
	Agent    string        `json:"agent,omitempty"`
	Plan     plan.Plan     `json:"plan"`
	Attempt  int           `json:"attempt"` // 1, 2, 3
	Failure  Failure       `json:"failure"`
	Earlier  []Failure     `json:"earlier,omitempty"` // failures before the earlier attempts
	Context  ContextResult `json:"context"`
	Proposed []plan.Step   `json:"proposed,omitempty"` // steps of the earlier attempts
}

// Failure is what went wrong, as pawl saw it.
type Failure struct {
	What        string         `json:"what"` // "step s2", "go test ./..."
	Class       pawl.Class     `json:"class"`
	Code        pawl.Code      `json:"code"`
	Key         string         `json:"key,omitempty"` // message of the failure, where there is one
	Args        []string       `json:"args,omitempty"`
	Cause       *Fault         `json:"cause,omitempty"`
	Output      string         `json:"output"`      // tail of the output, at most 16 KiB
	Fingerprint string         `json:"fingerprint"` // digest of the output without times and addresses
	Tree        string         `json:"tree"`
	Checks      []CheckOutcome `json:"checks,omitempty"`
	// Unproven are the criteria that nothing shows to hold, where every check passed.
	Unproven []Met `json:"unproven,omitempty"`
	// Objections are a reviewer's to work whose checks passed.
	Objections []Objection `json:"objections,omitempty"`
}

// Fault is what went wrong as an error that is kept.
func (f Failure) Fault() Fault {
	return Fault{Class: f.Class, Code: f.Code, Key: f.Key, Args: f.Args, Cause: f.Cause}
}

// Repeats reports whether f is an earlier failure that came back unchanged, on the same tree.
func (f Failure) Repeats(earlier Failure) bool {
	if earlier.What != f.What || earlier.Tree != f.Tree || f.Tree == "" {
		return false
	}
	return f.Fingerprint != "" && f.Fingerprint == earlier.Fingerprint || f.Fingerprint == "" &&
		f.Output == earlier.Output
}

// RepairResult is the agent's proposal: further steps, or none when it knows no repair.
type RepairResult struct {
	Said
	Steps []plan.Step `json:"steps"`
	Why   string      `json:"why"`
	// Final says, where there are no steps, that asking again about this failure would bring none either.
	Final bool `json:"final,omitempty"`
}

// WorktreeSpec asks for the task's own worktree at a commit. Where Branch is set, that is what the branch is at when
// the worktree is made, and Base only where there is no such branch.
type WorktreeSpec struct {
	Base   string `json:"base"` // commit
	Branch string `json:"branch,omitempty"`
}

// WorktreeResult is the worktree that was made.
type WorktreeResult struct {
	Tree string `json:"tree"` // tree id of the content at the start
	// Base is the commit that it was made at, where a branch was asked for.
	Base string `json:"base,omitempty"`
}

// CheckpointSpec asks for a checkpoint of the tree, tracked and untracked.
type CheckpointSpec struct {
	Name string `json:"name"` // chk-YYYYMMDDHHMM[-n]
	// Ignored asks to keep what git does not record, too: files that are ignored, permissions, empty folders.
	Ignored bool `json:"ignored,omitempty"`
}

// CheckpointResult is the checkpoint that was made.
type CheckpointResult struct {
	Name   string `json:"name"`
	Commit string `json:"commit"`
	Tree   string `json:"tree"`
	Ref    string `json:"ref"`
	// Unkept is what is neither in the tree nor kept beside it.
	Unkept []Unkept `json:"unkept,omitempty"`
}

// Span is a time in which pawl was at work in a tree: what differs between Before and After is pawl's change.
type Span struct {
	Step   string `json:"step,omitempty"` // of the plan, "" for checks and for what was restored
	Before string `json:"before"`         // tree ids
	// After is "" for the last one until the tree behind it could be recorded.
	After string `json:"after"`
	// Files are the only ones that the work could change, where that is known; what else changed is somebody else's.
	Files []string `json:"files,omitempty"`
	// Cut says that the work was cut off, so that After was recorded only when that was found, and a change that
	// somebody else made until then cannot be told apart.
	Cut bool `json:"cut,omitempty"`
	// Undone says that the change is no longer in the tree.
	Undone bool `json:"undone,omitempty"`
}

// RestoreSpec asks to bring the tree back to a checkpoint. Only what pawl itself changed between Expect and the
// checkpoint is undone; files that differ from Expect are somebody else's and make the restore stop with a conflict,
// unless Force.
type RestoreSpec struct {
	// Spans are the times in which pawl was at work since Target, oldest first. With them only files that one of them
	// changed are restored, and one of these that somebody else changed in between is a conflict, too.
	Spans []Span `json:"spans,omitempty"`
	// Step names the step that the restoration is about, "" for everything. With Spans, what the spans of this step
	// changed is restored to what was there before the first of them, and a file that a later step changed is a
	// conflict; Target and Expect follow from the spans then.
	Step   string `json:"step,omitempty"`
	Name   string `json:"name"`             // label for records: a checkpoint, or an undo step
	Target string `json:"target"`           // tree id to restore
	Expect string `json:"expect,omitempty"` // tree id that pawl left behind, "" to restore exactly
	Safety string `json:"safety"`           // name of the safety reference taken first
	// Force overwrites files that are not as Expect says; the safety reference has them.
	Force bool `json:"force,omitempty"`
	// Kept names the checkpoint from which what git ignores is brought back as well, "" for nothing of it.
	Kept string `json:"kept,omitempty"`
}

// RestoreResult says what the restore did.
type RestoreResult struct {
	Before  string   `json:"before"` // tree id found before the restore
	After   string   `json:"after"`  // tree id afterwards
	Changed []string `json:"changed"`
	Kept    []string `json:"kept,omitempty"` // files left alone because they are not pawl's change
	Cut     []string `json:"cut,omitempty"`  // of Changed, what changed while work was under way that was cut off
	// Ignored is what became of what git ignores, where that was asked for.
	Ignored *IgnoredBack `json:"ignored,omitempty"`
}

// VerifySpec is the spec of KindVerify and KindGates.
type VerifySpec struct {
	Checks     []Check       `json:"checks"`
	StopOnFail bool          `json:"stop_on_fail"`
	Required   bool          `json:"required"`
	PerCheck   time.Duration `json:"per_check"` // 300 s unless configured (docs/spec/composition.md#x13)
	// Pinned maps each file that defined the checks when the plan was made to its sha256; Base is the id of the tree
	// that the work started from, against which changed tests are found. Without them no change is found.
	Pinned map[string]string `json:"pinned,omitempty"`
	Base   string            `json:"base,omitempty"`
	// Moved says that the work was brought onto another base since: Base is that commit or its tree, and only what
	// differs from it is the work's.
	Moved bool `json:"moved,omitempty"`
	// Twice asks for a second run of each check under other names, which has to end alike.
	Twice bool `json:"twice,omitempty"`
	// Measure asks for the files that the work has changed.
	Measure bool `json:"measure,omitempty"`
	// At is a commit to run the checks on instead of the place's tree: in a worktree of its own, which is gone
	// afterwards. It is how pawl finds out whether a check failed before the work began.
	At string `json:"at,omitempty"`
	// Ask names tests whose ends are wanted one by one (TestRun.Asked).
	Ask []string `json:"ask,omitempty"`
	// Lease is the token of the runner that asked for the gates of a task outside a run: where they pass, and the lease
	// is still the task's newest, the task is verified and closed. 0 leaves that to whoever moves the task.
	Lease int64 `json:"lease,omitempty"`
}

// CheckStatus is the status of a gate (docs/spec/task.md#gates).
type CheckStatus string

// The gate statuses; Skipped is for checks behind a failure with stop_on_fail.
const (
	CheckPassed  CheckStatus = "passed"
	CheckFailed  CheckStatus = "failed"
	CheckError   CheckStatus = "error"
	CheckSkipped CheckStatus = "skipped"
)

// WeakIgnored says of a check that it ran in the user's own tree, because what the work started from does not pass it
// without files that no commit holds.
const WeakIgnored = "ignored_files"

// WeakOnce says of a check that it ran once, although two runs were asked for: it ran in the user's own tree, which has
// one name.
const WeakOnce = "once"

// CheckOutcome is the evidence of one command that pawl ran.
type CheckOutcome struct {
	Check
	Status      CheckStatus `json:"status"`
	ExitCode    int         `json:"exit_code"`
	Output      string      `json:"output"` // tail, valid UTF-8, at most 16 KiB
	OutputBytes int64       `json:"output_bytes"`
	Digest      string      `json:"output_digest"` // sha256 of the whole output
	DurationMS  int64       `json:"duration_ms"`
	// Hint is what the person may do about what commands cannot read. It is no part of Output, which agents go by.
	Hint string `json:"hint,omitempty"`
	// Environment marks a failure of the machine rather than of the work: a missing program, a full disk.
	Environment bool `json:"environment,omitempty"`
	// Lacks is a folder of dependencies that was not there, as far as the failure may come of that.
	Lacks string   `json:"lacks,omitempty"`
	Walls []string `json:"walls,omitempty"`
	// Weaker names what the command could do because a wall was missing, WeakIgnored and WeakOnce.
	Weaker []string `json:"weaker,omitempty"`
	// Twice says that the check ran a second time, under other names of folder, home and user. It passed then, too,
	// where it has passed.
	Twice bool `json:"twice,omitempty"`
	// Fingerprint identifies the failure of this check alone, as VerifyResult.Fingerprint does that of all, "" when it
	// passed.
	Fingerprint string `json:"fingerprint,omitempty"`
	// FailingBefore says that pawl ran the check on what the work started from, and saw it fail in the same way.
	FailingBefore bool `json:"failing_before,omitempty"`
	// Before is what pawl saw of the check on the tree that the work started from, passed or failed; "" where it has
	// not run there.
	Before CheckStatus `json:"before,omitempty"`
	// Tests is what the check said of its tests, nil where its runner is not known: it proves by its exit status alone.
	Tests *TestRun `json:"tests,omitempty"`
	// Lost are the tests that the work has kept from running: they ran on what it started from, or they are its own and
	// never ran. A check that lost a test has failed, whatever its exit status.
	Lost []string `json:"lost,omitempty"`
}

// TestRun is what a run of tests said of them, by name (package testrun), and what it did not say of those that the
// tree declares. Lists of names are sorted and hold at most MaxTestNames.
type TestRun struct {
	Runner  string `json:"runner"`
	Passed  int    `json:"passed"`
	Failed  int    `json:"failed"`
	Skipped int    `json:"skipped"` // those that were to fail and did among them
	// Whole says that the runner came to the end of its report.
	Whole bool `json:"whole"`
	// Left are the tests that were skipped, and Silent those that the source declares in a file that the run spoke of,
	// and of which it said no end.
	Left   []string `json:"left,omitempty"`
	Silent []string `json:"silent,omitempty"`
	// Asked maps each of the spec's Ask that the run named to its end.
	Asked map[string]string `json:"asked,omitempty"`
}

// Doubtful reports whether there are tests of the run that say nothing of the work.
func (r *TestRun) Doubtful() bool {
	return r != nil && (!r.Whole || len(r.Left) > 0 || len(r.Silent) > 0)
}

// MaxTestNames bounds the lists of a TestRun.
const MaxTestNames = 500

// VerifyResult is the evidence of one verification: what ran, on which tree, in which environment.
type VerifyResult struct {
	Outcomes []CheckOutcome `json:"outcomes"`
	Passed   bool           `json:"passed"`
	// Tree is the id of the exact tree that was verified, taken before the commands; TreeAfter, taken after them, must
	// be equal or the commands changed what they judged.
	Tree      string `json:"tree"`
	TreeAfter string `json:"tree_after"`
	// EnvDigest is the sha256 of the environment and of the versions of the tools that the checks used.
	EnvDigest string `json:"env_digest"`
	// Tampered lists files that decide how the work is judged and that changed since the plan was made: what defines
	// the checks, and tests that were there before. Contents maps each of them to the sha256 of what it says, "" when
	// it is gone.
	Tampered    []string          `json:"tampered,omitempty"`
	Contents    map[string]string `json:"contents,omitempty"`
	Fingerprint string            `json:"fingerprint,omitempty"` // of the failure, "" when passed
	// Found is what the policy has against the change from the spec's Base, and Added the new files, where they are too
	// many to pass without a question.
	Found []policy.Found `json:"found,omitempty"`
	Added *policy.Added  `json:"added,omitempty"`
	// Changed are the files that differ from the spec's Base, where it asks for them.
	Changed []FileStat `json:"changed,omitempty"`
	// Dependencies are the folders that no commit holds and that the checks ran with.
	Dependencies []Dependency `json:"dependencies,omitempty"`
}

// Dependency is a folder of dependencies that checks ran with.
type Dependency struct {
	Path string `json:"path"` // in the tree
	From string `json:"from"` // where it is on the machine
	// State says whose it is: the user's ("used"), one that was prepared for the lock files ("prepared"), or the tree's
	// own, which no lock file vouches for ("own").
	State string `json:"state"`
	// Locks are the files that decide what is in it, and Digest the sha256 of what they say; both are empty where none
	// does.
	Locks  []string `json:"locks,omitempty"`
	Digest string   `json:"digest,omitempty"`
}

// LandSpec asks to land a verified tree as one commit.
type LandSpec struct {
	Tree     string   `json:"tree"`   // the verified tree; anything else is refused
	Base     string   `json:"base"`   // commit that the work started from
	Branch   string   `json:"branch"` // branch to land on, "" keeps the result on Keep
	Keep     string   `json:"keep"`   // pawl/… branch for a result that cannot land
	Subject  string   `json:"subject"`
	Body     string   `json:"body"`
	Trailers []string `json:"trailers"`
	// At is the author and committer date, so that landing the same result again makes the same commit.
	At time.Time `json:"at"`
	// Start is the tree that the work started from, as WorktreeResult.Tree said. In place a commit is made only if it
	// is Base's own tree, so that nothing of the user's is swept into it; without git it says what pawl changed.
	Start string `json:"start,omitempty"`
	// Current asks for a failure instead of a kept result. It has CodeConflict and "land.moved" where the branch is no
	// longer at Base: the work is brought onto it then, and verified again. It has CodeEnvironment where something in
	// the user's tree is in the way that a person can mend. Only where nothing can be mended is the result kept.
	Current bool `json:"current,omitempty"`
}

// LandOutcome says where the result is.
type LandOutcome string

// Landed: on the user's branch. Kept: on a branch of pawl's, because landing would have overwritten something. InPlace:
// the changes are in the user's tree, which has no branch or was asked to be worked in directly. Empty: nothing
// changed.
const (
	Landed  LandOutcome = "landed"
	Kept    LandOutcome = "kept"
	InPlace LandOutcome = "in_place"
	Empty   LandOutcome = "empty"
)

// LandResult says what became of the verified tree.
type LandResult struct {
	Outcome LandOutcome `json:"outcome"`
	Commit  string      `json:"commit,omitempty"`
	Tree    string      `json:"tree"`
	Branch  string      `json:"branch,omitempty"`
	Reason  string      `json:"reason,omitempty"` // catalogue key: why it was kept instead of landed
	Named   string      `json:"named,omitempty"`  // what the reason names
	Command string      `json:"command,omitempty"`
	Files   []FileStat  `json:"files,omitempty"`
	// Ignored is what became of what git ignores, where that was asked for.
	Ignored *IgnoredBack `json:"ignored,omitempty"`
}

// FileStat is one line of a change's summary.
type FileStat struct {
	Path    string `json:"path"`
	Status  string `json:"status"` // A M D R T
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
}

// RevertSpec asks to undo a landed commit with a commit of its own.
type RevertSpec struct {
	Commit  string `json:"commit"`
	Branch  string `json:"branch"`
	Keep    string `json:"keep"`
	Subject string `json:"subject"`
	Body    string `json:"body"`
	// Trailers are as in LandSpec.
	Trailers []string `json:"trailers,omitempty"`
	// At is the author and committer date.
	At time.Time `json:"at"`
	// Kept is as in RestoreSpec.
	Kept string `json:"kept,omitempty"`
}

// CleanupSpec asks to remove what a task left: its worktree and temporary files. Checkpoints stay.
type CleanupSpec struct {
	KeepTree bool `json:"keep_tree"` // leave the worktree for a person to look at
}

// CleanedLanding names among what failed in a cleanup that a landing is half done in the user's tree: the work must not
// be closed.
const CleanedLanding = "landing"

// CleanupResult is the cleanup summary of docs/spec/task.md#cleanup.
type CleanupResult struct {
	Performed []string `json:"cleanup_performed"`
	Failed    []string `json:"cleanup_failed"`
	Skipped   []string `json:"cleanup_skipped"`
	// Made says that nobody cleaned up, and that the summary is the smallest there is.
	Made bool `json:"auto_generated,omitempty"`
}

// Disposition is how a mode judges the end of a task (docs/spec/task.md#s5-4).
type Disposition struct {
	Verdict    string  `json:"mode_verdict"`
	Reasoning  string  `json:"mode_reasoning"`
	Confidence float64 `json:"mode_confidence"`
}

// ArchiveSpec asks to write the archive's projections: the files that the seeds name.
type ArchiveSpec struct {
	Files []pawl.ProjectedFile `json:"files"`
	// Package is a package that a person wrote and that is moved into the archive. Its tasks.md is left as it is where
	// it says something else by then.
	Package *Retired `json:"package,omitempty"`
	// Log are the entries of CHANGELOG.md, which is read and added to: people may write it, too.
	Log []LogEntry `json:"changelog,omitempty"`
}

// LogEntry is an entry of CHANGELOG.md. Kind is one of the knowledge base's kinds; an entry whose ID the file holds
// already is not added again.
type LogEntry struct {
	At       time.Time `json:"at"`
	Kind     string    `json:"kind"`
	Text     string    `json:"text"`
	Modules  []string  `json:"modules,omitempty"`
	Package  string    `json:"package,omitempty"`
	Folder   string    `json:"folder,omitempty"`
	Commit   string    `json:"commit,omitempty"`
	Files    []string  `json:"files,omitempty"`
	ID       string    `json:"id"`
	Language string    `json:"language,omitempty"`
}

// ArchiveResult names the files as written.
type ArchiveResult struct {
	Written []string `json:"written"`
	// Package is where the package went that was to be moved, nil where none was there any more. Without Tasks its
	// tasks.md was left as it is.
	Package *Retired `json:"package,omitempty"`
}
