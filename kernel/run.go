package kernel

import (
	"encoding/json"
	"strconv"
	"strings"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/composed"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
	"pawl/text/knowledge"
	"pawl/text/plan"
	"pawl/text/policy"
	"pawl/text/solution"
	"pawl/text/triage"
)

// newTurn makes the turn of an attempt; its parent is the task, or the run while there is no task.
func newTurn(tx *Tx, parent string) {
	tx.Turn = &Turn{Trace: tx.trace, Number: 1}
	if tx.Task != nil {
		tx.Task.Turns++
		tx.Turn.Number = tx.Task.Turns
	}
	tx.create(tx.Turn, KindTurn, "", parent, string(turn.Table.Initial()))
}

// endRun closes the run's books; the moves are the caller's.
func endRun(tx *Tx, outcome string) {
	tx.Run.Outcome, tx.Run.EndedAt = outcome, tx.now
	packageUsed(tx)
	s := tx.Session
	s.Run, s.Approval, s.AutoFix, s.Blocked = "", "", 0, nil
	tx.touch(tx.Run)
	tx.touch(s)
}

// OutcomePlanned is the outcome of a run that ends with its plan.
const OutcomePlanned = "planned"

// packageUsed notes whether the package of a run that ends is done with, or can be carried out again.
func packageUsed(tx *Tx) {
	if tx.Solution == nil || tx.Solution.State == "" {
		return
	}
	state := SolutionUsed
	if tx.Run.Outcome == OutcomePlanned || tx.Run.Command == execCommand &&
		(tx.Task == nil || tx.Task.State == string(task.Canceled) && tx.Task.StartedAt.IsZero()) {
		state = SolutionDraft
	}
	tx.Solution.State = state
	tx.touch(tx.Solution)
}

// sessionWorks reports whether the session is in a state in which tasks are worked on.
func sessionWorks(tx *Tx) bool { return tx.states().Holds(composed.IfAtWork) }

// holdsRun reports whether the task is the one that the session's present run is about.
func holdsRun(tx *Tx, t *Task) bool {
	return tx.Run != nil && tx.Session.Run == tx.Run.ID && tx.Run.Task == t.ID
}

func stateName(tx *Tx) string {
	if tx.Session == nil {
		return "-"
	}
	return tx.Session.State
}

// AboutStage is what an approval is about that a stage ends with.
const AboutStage = "stage"

// aboutChecks is what an approval is about that lets the work change what it is judged by.
const aboutChecks = "checks"

// askFor makes the one open approval.
func askFor(tx *Tx, about, subject, hash string, scope policy.Scope, detail string) {
	tx.Approval = &Approval{About: about, Subject: subject, Hash: hash, Scope: scope, Detail: detail}
	tx.create(tx.Approval, KindApproval, "", subject, ApprovalPending)
	tx.Session.Approval = tx.Approval.ID
	tx.touch(tx.Session)
	tx.record(tx.Approval, AuditApprovalRequested, audit.Info,
		map[string]any{"about": about, "hash": hash, "scope": scope})
}

// answerApproval settles an approval.
func answerApproval(tx *Tx, a *Approval, state string, by pawl.Actor, note string) {
	a.State, a.AnsweredBy, a.AnsweredAt, a.Note = state, by, tx.now, note
	level := audit.Info
	if state != ApprovalGranted {
		level = audit.Warn
	}
	data := map[string]any{"about": a.About, "hash": a.Hash, "by": by, "note": note}
	if a.Way != "" {
		data["way"] = a.Way
	}
	tx.record(a, auditApprovalAs.in(state), level, data)
}

// dropEffect takes the task's effect out of the runner's hands. One that had not begun is canceled; one that was at
// work and may not be repeated leaves the question whether it happened, and its id is returned.
func dropEffect(tx *Tx) string {
	e := tx.Effect
	if tx.Task != nil {
		tx.Task.Effect = ""
		tx.touch(tx.Task)
	}
	if e == nil || e.State != EffectPending && e.State != EffectRunning {
		return ""
	}
	unknown := e.State == EffectRunning && !e.Effect.Idempotent
	if e.State == EffectRunning && e.Effect.Record && tx.Task != nil && e.Effect.Task == tx.Task.ID {
		tx.Task.OrphanEffect = e.ID
	}
	effectEnds(tx, e)
	e.State = EffectCanceled
	if unknown {
		e.State = EffectUnknown
	}
	tx.record(e, auditEffectAs.in(e.State), audit.Warn, map[string]any{"effect": e.What()})
	if unknown {
		return e.ID
	}
	return ""
}

// newestPoint asks for the name of the newest checkpoint, behind which a new one is numbered.
var newestPoint = newest(KindCheckpoint, 1).hot()

// checkpointName is the seed's name for a checkpoint of this minute, with a number where the minute is taken
// (docs/spec/session.md#a9). The sessions of issues work at the same time, so each has names of its own.
func checkpointName(tx *Tx) string {
	base := "chk-" + tx.now.UTC().Format("200601021504")
	if tx.Session.Number == 0 {
		tx.want(newestPoint)
		last := ""
		if len(tx.Taken) > 0 {
			last = tx.Taken[0]
		}
		return behind(last, base)
	}
	tx.Session.LastPoint = behind(tx.Session.LastPoint, base+"-i"+strconv.FormatInt(tx.Session.Number, 10))
	tx.touch(tx.Session)
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
	return base + "-" + itoa(n+1)
}

// Decide asks for a checkpoint on request. While work is at hand the work makes its own, and its tree is not still.
func (*CreateCheckpoint) Decide(tx *Tx) error {
	s := tx.Session
	switch {
	case s == nil:
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	case s.State != string(session.Idle) || s.Effect != "":
		return pawl.Fail(pawl.CodeBusy, "kernel.session_active", s.State, s.Goal)
	}
	tx.Task, tx.Run, tx.Turn = nil, nil, nil
	e := tx.emit(effect.KindCheckpoint, effect.CheckpointSpec{Name: checkpointName(tx)}, true)
	tx.result = e.ID
	return nil
}

// keepCheckpoint keeps a checkpoint that was made below its owner. Mark is what its record says of it beside where it
// is, "" for nothing.
func keepCheckpoint(tx *Tx, c CheckpointDoc, owner, mark string) {
	tx.create(&c, KindCheckpoint, c.Name, owner, "")
	data := map[string]any{"name": c.Name, "tree": c.Tree, "ref": c.Ref}
	if mark != "" {
		data[mark] = true
	}
	tx.record(&c, AuditCheckpointCreated, audit.Info, data)
}

// checkpointMade takes a checkpoint that was made on request. It becomes the newest one and changes nothing else.
func checkpointMade(tx *Tx, r effect.Receipt) error {
	s := tx.Session
	made, err := effect.Decode[effect.CheckpointResult](r.Result)
	if !r.OK || err != nil {
		kept := info(firstError(r.Err(), err))
		s.LastError = &kept
		tx.record(s, AuditCheckpointFailed, audit.Warn, kept)
		return nil
	}
	keepCheckpoint(tx, CheckpointDoc{CheckpointResult: made, Place: tx.Effect.Effect.Place}, s.ID, "requested")
	s.LastCheckpoint, s.LastError = made.Name, nil
	tx.touch(s)
	return nil
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > 120 {
		return string(r[:119]) + "…"
	}
	return s
}

func short(hash string) string { return hash[:min(12, len(hash))] }

func itoa(n int) string {
	raw, _ := json.Marshal(n)
	return string(raw)
}

// clip keeps the tail of an output; the whole is in the effect's receipt.
func clip(s string) string {
	const limit = 16 << 10
	if len(s) > limit {
		s = s[len(s)-limit:]
	}
	return s
}

func note(s string) string {
	if s == "" {
		return "a person helped"
	}
	return s
}

func nothingToClean() *effect.CleanupResult {
	return &effect.CleanupResult{Performed: []string{}, Failed: []string{}, Skipped: []string{"no cleanup required"}}
}

// sizeFlow takes the flow to the stage of a path. ~plan is there for its package, so that a tweak becomes light
// (docs/spec/workflow.md#c4).
func sizeFlow(tx *Tx, path workflow.Path, reason string) error {
	if path == workflow.PathTweak && tx.Flow.Mode == workflow.AutoPlan {
		path = workflow.PathLight
	}
	if tx.Flow.Stage != workflow.Evaluate {
		return nil // ~exec has gone straight into development
	}
	tx.Run.Path = path
	tx.touch(tx.Run)
	what, at := SizedLight, knowledge.AtAnalyze
	switch path {
	case workflow.PathTweak:
		what, at = SizedTweak, knowledge.AtTweak
	case workflow.PathStandard:
		what = SizedStandard
	}
	if err := tx.apply(what, reason); err != nil {
		return err
	}
	decideKnowledge(tx, at)
	return nil
}

// decideKnowledge sets KB_SKIPPED when the flow comes to a point that decides it, and carries it otherwise.
func decideKnowledge(tx *Tx, at knowledge.Point) {
	// The variable depends on the mode and the point alone; what becomes of the documents is asked when they are read.
	d, err := knowledge.Decide(knowledge.Question{Mode: tx.Config.KnowledgeMode, Condition: knowledge.Fine,
		Coding: true, At: at})
	if err != nil {
		return // a mode that does not exist is refused with the settings
	}
	tx.Flow.KBSkipped = knowledge.Carry(tx.Flow.KBSkipped, d)
	tx.touch(tx.Flow)
}

// setVars changes variables beside the stage. A change of the mode is a move of its machine and is recorded as one.
func setVars(tx *Tx, next workflow.Vars, on, when string) {
	before := tx.Flow.Vars
	tx.Flow.Vars = next
	tx.touch(tx.Flow)
	modeMoved(tx, before.Mode, on, when)
}

// modeMoved records the row of the mode's machine by which it has got where it is.
func modeMoved(tx *Tx, from workflow.Mode, on, when string) {
	r, ok := workflow.Modes.Next(from, workflow.Event(on), when)
	if !ok || r.To != tx.Flow.Mode || on == string(workflow.ResetMode) && r.From == r.To {
		return
	}
	tx.record(tx.Flow, auditModeAs.in(string(r.To)), audit.Info,
		map[string]any{"from": r.From, "to": r.To, "rule": r.ID, "event": on, "argument": when})
}

// outgrows reports whether a change is too large or too dangerous for a tweak, and notes the path that it needs.
func outgrows(tx *Tx, changed []triage.Changed) bool {
	facts := triage.Measure(changed)
	facts.HighRisk = dangerous(tx.Solution)
	path, why := triage.Outgrown(workflow.PathTweak, facts)
	if path == workflow.PathTweak {
		return false
	}
	tx.record(tx.Run, AuditPathOutgrown, audit.Warn, map[string]any{"from": workflow.PathTweak, "to": path, "why": why,
		"facts": facts})
	tx.Run.Path, tx.Flow.KBSkipped = path, workflow.Undecided
	return true
}

// packSolution gives the solution its package.
func packSolution(tx *Tx, p *plan.Plan) (err error) {
	name := tx.Run.Package
	if name == "" {
		if name, err = packageName(tx, p); err != nil {
			return err
		}
	}
	tx.Solution.Package, tx.Run.Package = name, name
	tx.touch(tx.Run)
	return nil
}

// packageName names the package after the plan's goal, or after the requirement where nothing in the goal can be a
// name.
func packageName(tx *Tx, p *plan.Plan) (string, error) {
	taken := func(name string) bool { return isTaken(tx, KindAlias, PackageAlias, name) }
	text := p.Goal
	if _, err := solution.Feature(text); err != nil {
		if text = tx.Run.Requirement; tx.Run.Requirement == "" {
			text = tx.Run.Label
		}
	}
	name, err := solution.NewName(text, tx.Run.StartedAt, taken)
	return name.String(), err
}

// changeMeasured looks at what the work on a tweak has really changed. AUTO_FULL goes on as a light iteration, with a
// package; where a person has approved the plan as it is, it stays a tweak that went beyond its scope, and is logged as
// one.
func changeMeasured(tx *Tx, files []effect.FileStat) error {
	if tx.Flow == nil || tx.Flow.Stage != workflow.Tweak || len(files) == 0 || tx.Run.Outgrown {
		return nil
	}
	changed := make([]triage.Changed, len(files))
	for n, f := range files {
		changed[n] = triage.Changed{Path: f.Path, Added: f.Added, Removed: f.Removed}
	}
	skipped := tx.Flow.KBSkipped
	switch {
	case !outgrows(tx, changed):
		return nil
	case tx.Flow.Mode != workflow.AutoFull:
		tx.Run.Path, tx.Run.Outgrown, tx.Flow.KBSkipped = workflow.PathTweak, true, skipped
		return nil
	}
	if err := packSolution(tx, &tx.Solution.Plan); err != nil {
		return err
	}
	tx.touch(tx.Solution)
	tx.create(&Alias{Issue: tx.Issue.ID}, KindAlias, PackageAlias+tx.Solution.Package, tx.Solution.ID, "")
	if err := tx.apply(GrewAtWork, "the change"); err != nil {
		return err
	}
	decideKnowledge(tx, knowledge.AtAnalyze)
	return nil
}

// flowInterrupted notes that a flow was cut off by a crash: its stage is kept, and it goes on from there.
func flowInterrupted(tx *Tx, what string) error {
	if tx.Flow == nil || !tx.has(tx.Flow, string(workflow.Interrupt), "") {
		return nil
	}
	return tx.move(tx.Flow, string(workflow.Interrupt), "", "interrupted in "+what, nil)
}

// keepSilence keeps SILENCE_BROKEN: it is set while a person has to be spoken to although the mode is silent, and
// cleared by the answer (docs/spec/workflow.md#c5). The question that a stage ends with is no break: it belongs to the
// mode.
func keepSilence(tx *Tx) {
	f := tx.Flow
	if f == nil || tx.Session == nil || !f.Mode.Auto() || ofBoard(tx.env.Command) || tx.Session.Paused() {
		return // a pause is neither a question nor an answer, and an external tool brings one along
	}
	asks := waits(tx)
	if a := tx.Approval; asks && a != nil && a.State == ApprovalPending && a.About == AboutStage {
		asks = false
	}
	switch {
	case asks && !f.SilenceBroken:
		f.Vars = f.Vars.BreakSilence()
		tx.record(f, AuditSilenceBroken, audit.Warn,
			map[string]any{"mode": f.Mode, "stage": f.Stage, "state": tx.Session.State})
	case !asks && f.SilenceBroken && tx.env.Actor.Kind() == pawl.KindUser:
		f.Vars = f.Vars.Reply()
		tx.record(f, AuditSilenceRestored, audit.Info, map[string]any{"by": tx.env.Actor})
	}
}

// flowCommand is a command that may take a flow on, or end it.
type flowCommand interface{ takesFlowOn(tx *Tx) bool }

func (*Approve) takesFlowOn(*Tx) bool   { return true }
func (*Deny) takesFlowOn(*Tx) bool      { return true }
func (*Revise) takesFlowOn(*Tx) bool    { return true }
func (*EditPlan) takesFlowOn(*Tx) bool  { return true }
func (*Choose) takesFlowOn(*Tx) bool    { return true }
func (*Resume) takesFlowOn(*Tx) bool    { return true }
func (*CancelRun) takesFlowOn(*Tx) bool { return true }
func (*Fix) takesFlowOn(*Tx) bool       { return true }
func (*Skip) takesFlowOn(*Tx) bool      { return true }
func (*Rollback) takesFlowOn(*Tx) bool  { return true }

func (*CancelTask) takesFlowOn(tx *Tx) bool { return tx.Task != nil && holdsRun(tx, tx.Task) }

// What agents ask beside the work goes on.
func (*AnswerQuestions) takesFlowOn(tx *Tx) bool {
	return tx.Turn != nil && tx.Turn.State == string(turn.Clarifying)
}

// flowFree fails for what would take a flow on, or end it, that an external tool has: its stage is suspended until the
// tool is left.
func flowFree(tx *Tx) error {
	if tx.Flow == nil || tx.Flow.ToolNesting == 0 || tx.Session == nil || tx.Session.Run == "" {
		return nil
	}
	if c, ok := tx.env.Command.(flowCommand); ok && c.takesFlowOn(tx) {
		return pawl.Fail(pawl.CodeBusy, "kernel.tool_active", tx.Flow.ActiveTool)
	}
	return nil
}

// Decide carries out a command that is no flow. A command that writes is refused while a flow runs
// (docs/spec/workflow.md#c2).
func (c *Order) Decide(tx *Tx) error {
	s := tx.Session
	if s == nil || tx.Flow == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	if c.Kind == effect.KindPrepare {
		return prepareDependencies(tx, c)
	}
	if _, err := workflow.Command(c.Command, tx.Flow.Vars); err != nil {
		return err
	}
	if info, _ := workflow.LookupCommand(c.Command); info.Flow() || !c.Kind.Ordered() {
		return pawl.Fail(pawl.CodeInternal, "kernel.no_order", c.Command, string(c.Kind))
	}
	if s.State != string(session.Idle) || s.Effect != "" {
		return pawl.Fail(pawl.CodeBusy, "kernel.session_active", s.State, s.Goal)
	}
	e := tx.emit(c.Kind, c.Spec, c.Idempotent)
	e.Effect.Place.Tree = e.Effect.Place.Workspace
	tx.record(s, AuditCommandGiven, audit.Info, map[string]any{"command": c.Command, "effect": e.ID})
	tx.result = e.ID
	return nil
}

// prepareDependencies has dependencies fetched. It is no ~command, changes nothing but a cache of pawl's own, and is
// what a person is told to do where a plan waits for a word or work stopped for the want of dependencies, so that it is
// let through there, too.
func prepareDependencies(tx *Tx, c *Order) error {
	s := tx.Session
	resting := s.State == string(session.Idle) || s.State == string(session.Confirming) ||
		s.State == string(session.Blocked)
	if !resting || s.Effect != "" || tx.Task != nil && tx.Task.Effect != "" {
		return pawl.Fail(pawl.CodeBusy, "kernel.session_active", s.State, s.Goal)
	}
	if tx.Config.Profile.NoNetwork {
		return pawl.Fail(pawl.CodeDenied, "kernel.prepare_no_network")
	}
	spec, err := effect.Decode[effect.PrepareSpec](c.Spec)
	if err != nil {
		return err
	}
	e := tx.emit(c.Kind, c.Spec, c.Idempotent)
	if e.Effect.Place.Tree = e.Effect.Place.Workspace; spec.Task && tx.Task != nil {
		e.Effect.Place = tx.Task.Place
	}
	tx.record(s, AuditCommandGiven, audit.Info, map[string]any{"command": c.Command, "effect": e.ID})
	tx.result = e.ID
	return nil
}

// carriedOut takes what came of it.
func carriedOut(tx *Tx, r effect.Receipt) error {
	s := tx.Session
	if s == nil {
		return nil
	}
	if tx.Effect.What() == effect.KindTest {
		if result, err := effect.Decode[effect.VerifyResult](r.Result); err == nil {
			s.Known = s.Known.With(result, tx.now)
		}
	}
	if s.State == string(session.Idle) { // elsewhere it says why work stopped
		s.LastError = nil
		if !r.OK {
			kept := info(r.Err())
			s.LastError = &kept
		}
	}
	tx.record(s, AuditCommandDone, level(r.OK), map[string]any{"effect": tx.Effect.ID, "kind": tx.Effect.What(),
		"code": r.Code})
	return nil
}
