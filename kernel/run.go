package kernel

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/kernel/word"
	"pawl/machine/board"
	"pawl/machine/composed"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
	"pawl/text/policy"
	"pawl/text/solution"
	"pawl/text/triage"
)

// NewTurn makes the turn of an attempt; its parent is the task, or the run while there is no task.
func NewTurn(tx *Tx, parent string) {
	tx.Turn = &Turn{Trace: tx.Trace, Number: 1}
	if tx.Task != nil {
		tx.Task.Turns++
		tx.Turn.Number = tx.Task.Turns
	}
	tx.Create(tx.Turn, KindTurn, "", parent, string(turn.Table.Initial()))
}

// EndRun closes the run's books; the moves are the caller's.
func EndRun(tx *Tx, outcome string) {
	tx.Run.Outcome, tx.Run.EndedAt = outcome, tx.Now
	packageUsed(tx)
	s := tx.Session
	s.Run, s.Approval, s.AutoFix, s.Blocked = "", "", 0, nil
	tx.Touch(tx.Run)
	tx.Touch(s)
}

// OutcomePlanned is the outcome of a run that ends with its plan.
const OutcomePlanned = "planned"

// packageUsed notes whether the package of a run that ends is done with, or can be carried out again.
func packageUsed(tx *Tx) {
	if tx.Solution == nil || tx.Solution.State == "" {
		return
	}
	state := SolutionUsed
	if tx.Run.Outcome == OutcomePlanned || tx.Run.Command == ExecCommand &&
		(tx.Task == nil || tx.Task.State == string(task.Canceled) && tx.Task.StartedAt.IsZero()) {
		state = SolutionDraft
	}
	tx.Solution.State = state
	tx.Touch(tx.Solution)
}

// SessionWorks reports whether the session is in a state in which tasks are worked on.
func SessionWorks(tx *Tx) bool { return tx.states().Holds(composed.IfAtWork) }

// ExecCommand is the command that goes straight into development.
const ExecCommand = "~exec"

// HoldsRun reports whether the task is the one that the session's present run is about.
func HoldsRun(tx *Tx, t *Task) bool {
	return tx.Run != nil && tx.Session.Run == tx.Run.ID && tx.Run.Task == t.ID
}

// StateName is the state of the session, for messages.
func StateName(s *Snapshot) string {
	if s.Session == nil {
		return "-"
	}
	return s.Session.State
}

// AboutStage is what an approval is about that a stage ends with.
const AboutStage = "stage"

// AboutChecks is what an approval is about that lets the work change what it is judged by.
const AboutChecks = "checks"

// AboutProof is what an approval is about by which a person takes work that nothing shows to have done what was wanted.
const AboutProof = "proof"

// AboutTest is what an approval is about that has a test of the plan replaced by another.
const AboutTest = "test"

// AskFor makes the one open approval.
func AskFor(tx *Tx, about, subject, hash string, scope policy.Scope, detail string) {
	tx.Approval = &Approval{About: about, Subject: subject, Hash: hash, Scope: scope, Detail: detail}
	tx.Create(tx.Approval, KindApproval, "", subject, ApprovalPending)
	tx.Session.Approval = tx.Approval.ID
	tx.Touch(tx.Session)
	tx.Record(tx.Approval, AuditApprovalRequested, audit.Info,
		map[string]any{"about": about, "hash": hash, "scope": scope})
}

// AnswerApproval settles an approval.
func AnswerApproval(tx *Tx, a *Approval, state string, by pawl.Actor, note string) {
	a.State, a.AnsweredBy, a.AnsweredAt, a.Note, a.Key = state, by, tx.Now, note, tx.Key
	data := map[string]any{"about": a.About, "hash": a.Hash, "by": by, "note": note}
	if a.Way != "" {
		data["way"] = a.Way
	}
	if a.Key != "" {
		data["key"] = a.Key
	}
	tx.Record(a, auditApprovalAs.In(state), Level(state == ApprovalGranted), data)
}

// DropEffect takes the task's effect out of the runner's hands. One that had not begun is canceled; one that was at
// work and may not be repeated leaves the question whether it happened, and its id is returned.
func DropEffect(tx *Tx) string {
	e := tx.Effect
	if tx.Task != nil {
		tx.Task.Effect = ""
		tx.Touch(tx.Task)
	}
	if e == nil || e.State != EffectPending && e.State != EffectRunning {
		return ""
	}
	unknown := e.State == EffectRunning && !e.Effect.Idempotent
	if e.State == EffectRunning && e.Effect.Record && tx.Task != nil && e.Effect.Task == tx.Task.ID {
		tx.Task.OrphanEffect = e.ID
	}
	tx.Protocols.Books.End(tx, e)
	e.State = EffectCanceled
	if unknown {
		e.State = EffectUnknown
	}
	tx.Record(e, AuditEffectAs.In(e.State), audit.Warn, map[string]any{"effect": e.What()})
	if unknown {
		return e.ID
	}
	return ""
}

// newestPoint asks for the name of the newest checkpoint, behind which a new one is numbered.
var newestPoint = Newest(KindCheckpoint, 1).Hot()

// CheckpointName is the seed's name for a checkpoint of this minute, with a number where the minute is taken
// (docs/spec/session.md#a9). The sessions of issues work at the same time, so each has names of its own.
func CheckpointName(tx *Tx) string {
	base := "chk-" + tx.Now.UTC().Format("200601021504")
	if tx.Session.Number == 0 {
		tx.Want(newestPoint)
		last := ""
		if len(tx.Taken) > 0 {
			last = tx.Taken[0]
		}
		return behind(last, base)
	}
	tx.Session.LastPoint = behind(tx.Session.LastPoint, base+"-i"+strconv.FormatInt(tx.Session.Number, 10))
	tx.Touch(tx.Session)
	return tx.Session.LastPoint
}

// behind is the name for the next checkpoint of a minute behind the last one.
func behind(last, base string) string {
	suffix, same := strings.CutPrefix(last, base)
	if !same {
		return base
	}
	n, err := strconv.Atoi(strings.TrimPrefix(suffix, "-"))
	if err != nil {
		n = 1
	}
	return base + "-" + strconv.Itoa(n+1)
}

// KeepCheckpoint keeps a checkpoint that was made below its owner. Mark is what its record says of it beside where it
// is, "" for nothing.
func KeepCheckpoint(tx *Tx, c CheckpointDoc, owner, mark string) {
	tx.Create(&c, KindCheckpoint, c.Name, owner, "")
	data := map[string]any{"name": c.Name, "tree": c.Tree, "ref": c.Ref}
	if mark != "" {
		data[mark] = true
	}
	tx.Record(&c, AuditCheckpointCreated, audit.Info, data)
}

// FirstLine is the first line of a text, cut where it is long.
func FirstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > 120 {
		return string(r[:119]) + "…"
	}
	return s
}

// Short is as much of a hash as messages show.
func Short(hash string) string { return hash[:min(12, len(hash))] }

// Clip keeps the tail of an output; the whole is in the effect's receipt.
func Clip(s string) string {
	const limit = 16 << 10
	if len(s) > limit {
		s = s[len(s)-limit:]
	}
	return s
}

// Note is what a person says, or that somebody helped where nothing was said.
func Note(s string) string {
	if s == "" {
		return "a person helped"
	}
	return s
}

// NothingToClean is the summary of a cleanup that had nothing to do.
func NothingToClean() *effect.CleanupResult {
	return &effect.CleanupResult{Performed: []string{}, Failed: []string{}, Skipped: []string{"no cleanup required"},
		Made: true}
}

// keepSilence keeps SILENCE_BROKEN: it is set while a person has to be spoken to although the mode is silent, and
// cleared by the answer (docs/spec/workflow.md#c5). The question that a stage ends with is no break, as it belongs to
// the mode, unless it is about an extremely high risk.
func keepSilence(tx *Tx) {
	f := tx.Flow
	if f == nil || tx.Session == nil || !f.Mode.Auto() || OfBoard(tx.Env.Command) || tx.Session.Paused() {
		return // a pause is neither a question nor an answer, and an external tool brings one along
	}
	asks := waits(tx)
	if a := tx.Approval; asks && a != nil && a.State == ApprovalPending && a.About == AboutStage {
		asks = tx.Run.AsksRisk()
	}
	switch {
	case asks && !f.SilenceBroken:
		f.Vars = f.Vars.BreakSilence()
		tx.Record(f, AuditSilenceBroken, audit.Warn,
			map[string]any{"mode": f.Mode, "stage": f.Stage, "state": tx.Session.State})
	case !asks && f.SilenceBroken && tx.Env.Actor.Kind() == pawl.KindUser:
		f.Vars = f.Vars.Reply()
		tx.Record(f, AuditSilenceRestored, audit.Info, map[string]any{"by": tx.Env.Actor})
	}
}

// flowCommand is a command that may take a flow on, or end it.
type flowCommand interface{ TakesFlowOn(tx *Tx) bool }

// flowFree fails for what would take a flow on, or end it, that an external tool has: its stage is suspended until the
// tool is left.
func flowFree(tx *Tx) error {
	if tx.Flow == nil || tx.Flow.ToolNesting == 0 || tx.Session == nil || tx.Session.Run == "" {
		return nil
	}
	if c, ok := tx.Env.Command.(flowCommand); ok && c.TakesFlowOn(tx) {
		return pawl.Fail(pawl.CodeBusy, "kernel.tool_active", tx.Flow.ActiveTool)
	}
	return nil
}

// AsksRisk reports whether the question of the run's stage is about an extremely high risk in its requirement.
func (r *Run) AsksRisk() bool {
	return r.Stage == workflow.Evaluate && r.Evaluation != nil && triage.Asks(r.Evaluation.HighRisk)
}

// DeclinePlan ends the run whose plan waits for approval; nothing was changed.
func DeclinePlan(tx *Tx, reason, outcome string) error {
	AnswerApproval(tx, tx.Approval, ApprovalRefused, tx.Env.Actor, reason)
	return EndPlan(tx, reason, outcome)
}

// ApplyTo applies a row of the composition table to an issue of the board, in whose session the command is not given.
func ApplyTo(tx *Tx, i *Issue, what Event) error {
	tx.Issue = i
	return tx.Apply(what, "")
}

// HoldIssue holds an issue back, or lets it go on.
func HoldIssue(tx *Tx, i *Issue, back bool) error {
	switch {
	case back == (i.Hold == board.HoldPaused):
		return nil
	case back:
		return ApplyTo(tx, i, HeldBack)
	}
	return ApplyTo(tx, i, LetGo)
}

// EndPlan ends the run whose plan was turned down.
func EndPlan(tx *Tx, reason, outcome string) error {
	tx.Turn.Outcome = string(turn.OutcomeDeclined)
	tx.Task.Cleanup = NothingToClean()
	if reason != "" {
		tx.Issue.Hear(reason)
	}
	if tx.Issue.Number > 0 && outcome != "revised" {
		// What a person has turned down is not planned again by itself.
		if err := HoldIssue(tx, tx.Issue, true); err != nil {
			return err
		}
	}
	if err := tx.Apply(PlanDeclined, reason); err != nil {
		return err
	}
	EndRun(tx, outcome)
	return nil
}

// minHash is the least number of characters of a hash that an approval may be given with.
const minHash = 8

// PendingApproval returns the open approval, checked against the hash that the person saw, and on a person's word that
// this is the answer to it.
func PendingApproval(tx *Tx, hash, answer string) (*Approval, error) {
	if err := seen(&tx.Snapshot, hash); err != nil {
		return nil, err
	}
	a := tx.Approval
	return a, PersonsWord(tx, a, a.About, a.Hash, answer, "")
}

// seen refuses what is said to a question that is not the open one, by the hash of what was shown.
func seen(s *Snapshot, hash string) error {
	a := s.Approval
	if a == nil || a.State != ApprovalPending {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_approve", StateName(s))
	}
	if len(hash) < minHash || !strings.HasPrefix(a.Hash, strings.ToLower(hash)) {
		return pawl.Fail(pawl.CodeApprovalStale, "kernel.approval_stale", hash, Short(a.Hash))
	}
	return nil
}

// PersonsWord refuses a program's word where a person's is asked for about a row, unless the user's settings name the
// program, or the person has signed this very decision by their key. What such a program grants is recorded as its own,
// and never passes for a person's. Digest is the hash of what is decided, "" for that of the newest record about the
// row.
func PersonsWord(tx *Tx, e Document, about, digest, answer, note string) error {
	by, said := tx.Env.Actor, tx.Env.Word
	if said == nil && (by.Kind() != pawl.KindAutomation || slices.Contains(tx.Config.Profile.Approvers, by.Name())) {
		return nil
	}
	r := e.hot()
	d := &word.Decision{About: about, Digest: cmp.Or(digest, r.AuditHash.String()), Answer: answer, Note: note,
		Subject: subject(e), Version: r.Version,
		Refused: pawl.Fail(pawl.CodeDenied, "kernel.no_person", by.Label())}
	if said == nil || tx.Config.Vouch == nil {
		return d
	}
	if err := tx.Config.Vouch(d, said); err != nil {
		return err
	}
	tx.Key = said.Fingerprint
	tx.Record(e, AuditDecisionSigned, audit.Info, said)
	return nil
}

// BlockedTask returns why the session is BLOCKED, or refuses.
func BlockedTask(tx *Tx, op string) (*Blocked, error) {
	if tx.Session == nil || tx.Session.State != string(session.Blocked) || tx.Session.Blocked == nil {
		return nil, notBlocked(tx, op)
	}
	if tx.Session.RollingBack() || tx.Task != nil && tx.Task.Effect != "" {
		return nil, pawl.Fail(pawl.CodeBusy, "kernel.winding_up", op)
	}
	return tx.Session.Blocked, nil
}

// notBlocked refuses what is for a session that is BLOCKED, with the way out of the state that it is in.
func notBlocked(tx *Tx, op string) error {
	key := "kernel.not_blocked"
	if s := tx.Session; s != nil && (s.State == string(session.Planning) || s.State == string(session.Confirming)) {
		key = "kernel.not_blocked_planned"
	} else if s != nil && SessionWorks(tx) && tx.Task != nil && Unfinished(tx.Task) {
		key = "kernel.not_blocked_working"
	}
	return pawl.Fail(pawl.CodeInvalidTransition, key, op, StateName(&tx.Snapshot))
}

// allowUnblock makes the approval that a person gives with the word by which a task that is blocked goes on. Data is
// what its record says beside the task.
func allowUnblock(tx *Tx, t *Task, note string, scope policy.Scope, data map[string]any) {
	tx.Approval = &Approval{About: "unblock", Subject: t.ID, Hash: t.PlanHash, Scope: scope, AnsweredBy: tx.Env.Actor,
		AnsweredAt: tx.Now, Note: note, Key: tx.Key}
	tx.Create(tx.Approval, KindApproval, "", t.ID, ApprovalGranted)
	data["about"], data["task"] = "unblock", t.ID
	tx.Record(tx.Approval, AuditApprovalGranted, audit.Info, data)
}

// Unblock lets the task that is blocked go on, on a person's word.
func Unblock(tx *Tx, note string) error {
	t := tx.Task
	allowUnblock(tx, t, note, policy.SingleAction, map[string]any{"note": note})
	if err := tx.Apply(HelpedBlocked, Note(note)); err != nil {
		return err
	}
	t.Blocked, t.Due = nil, tx.Now
	tx.Touch(t)
	return nil
}

// CallTook notes the tree that a call left.
func CallTook(tx *Tx, r effect.Receipt) {
	if res, err := effect.Decode[effect.ToolResult](r.Result); err == nil && res.After != "" {
		tx.Task.Tree = res.After
		tx.Touch(tx.Task)
	}
}

// StartEffect hands an effect to who does it, under a token of its own. Tree is the tree before it, where the effect
// asks for that.
func StartEffect(tx *Tx, e *EffectDoc, owner, tree string) {
	e.State = EffectRunning
	e.Epoch++
	e.Attempts++
	e.Effect.Token, e.Effect.Before = e.Epoch, tree
	e.Due = tx.Now.Add(tx.Config.LeaseTime)
	NoteOnce(tx, e)
	tx.Record(e, AuditEffectStarted, audit.Info, map[string]any{"effect": e.What(), "attempt": e.Attempts,
		"owner": owner, "token": e.Epoch})
	tx.Result = e.Effect
}

// maxOnce bounds the calls that are kept of those that may run once.
const maxOnce = 3

// NoteOnce notes that an effect is about to be done that may be done once, and of which nobody can find out afterwards
// whether it was: a call of a tool that does more than change files.
func NoteOnce(tx *Tx, e *EffectDoc) {
	if e.Effect.Idempotent || e.What() != effect.KindTool {
		return
	}
	call, err := effect.Decode[effect.ToolCall](e.Effect.Spec)
	files := func(p policy.Permission) bool {
		return p == policy.FSRead || p == policy.FSWrite || p == policy.FSDelete
	}
	if err != nil || !slices.ContainsFunc(tx.Config.Tools[call.Name].Info.Permissions,
		func(p policy.Permission) bool { return !files(p) }) {
		return
	}
	tx.Attest = true
	if t := tx.Task; t != nil && len(t.Once) < maxOnce {
		t.Once = append(slices.Clip(t.Once), call.Name+" "+string(call.Args))
		tx.Touch(t)
	}
}

// Package returns the run's solution package.
func (s *Snapshot) Package() view.Package {
	r, sol, t := s.Run, s.Solution, s.Task
	p := view.Package{
		Name: sol.Package, Plan: sol.Plan, Hash: sol.Hash, Risk: sol.Risk, Agent: sol.Agent,
		Outcome: r.Outcome, Checks: sol.Checks, Created: r.StartedAt, Written: r.Written,
		Lang: sol.language(),
	}
	if t == nil {
		return p
	}
	p.Task, p.Label, p.Title, p.State, p.Land, p.Ended = t.ID, t.Label, t.Title, t.State, view.LandingOf(t.Land),
		EndedAt(r, t)
	if t.Plan != nil {
		p.Plan = *t.Plan
	}
	p.Proof, p.Refused = view.ProofOf(t.Proof), t.Refused
	if t.State != string(task.Done) {
		p.Reason = strings.TrimSpace(t.Exit + " " + t.Reason)
	}
	for _, e := range []*view.Evidence{view.EvidenceOf(t.Verified), view.EvidenceOf(t.Gate)} {
		if e != nil {
			p.Evidence = append(p.Evidence, *e)
		}
	}
	return p
}

// language is that of the package's documents. Earlier versions wrote Chinese.
func (s *Solution) language() solution.Language {
	if s.Lang == "" {
		return solution.Chinese
	}
	return solution.ParseLanguage(s.Lang)
}

// Draft returns the package of a solution that waits to be carried out. Of one that a person wrote it tells no more
// than that.
func (s *Solution) Draft() view.Package {
	var theirs *solution.Written
	if s.Theirs {
		theirs = new(solution.Written)
	}
	return view.Package{
		Written: theirs, Lang: s.language(),
		Name: s.Package, Plan: s.Plan, Hash: s.Hash, Risk: s.Risk, Agent: s.Agent, Checks: s.Checks,
		Title: s.Plan.Goal, Label: s.Label, State: string(task.Draft), Created: s.CreatedAt,
	}
}

// EndedAt is when the run's work ended: the end of its task, or of the run itself.
func EndedAt(r *Run, t *Task) time.Time {
	if t != nil && !t.EndedAt.IsZero() {
		return t.EndedAt
	}
	return r.EndedAt
}
