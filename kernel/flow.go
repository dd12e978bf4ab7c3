package kernel

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
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

// autoFull is in whose name AUTO_FULL approves what nobody has to be asked about (docs/spec/task.md#d21).
const autoFull pawl.Actor = "policy:auto_full"

// PackageAlias is what the label of the alias of a solution package begins with.
const PackageAlias = "package:"

// read reads what a requirement is taken up with: the issue of the board, or the package that is to be carried out.
func (c *Start) read(r *reads, s *Snapshot) error {
	issue := c.Issue
	if c.Package != "" {
		alias := one[Alias](r, byLabel(KindAlias, PackageAlias+c.Package))
		if alias == nil {
			return nil
		}
		s.Taking, issue = one[Solution](r, byID(KindSolution, alias.Parent)), alias.Issue
	}
	if s.Issue = one[Issue](r, byID(KindIssue, issue)); s.Issue != nil {
		s.Item = one[Item](r, byID(KindItem, s.Issue.Item))
	}
	return nil
}

// beginRun makes the first moves of a run, and asks for its first effect.
func beginRun(tx *Tx, c *Start) error {
	why := firstLine(tx.Run.Requirement)
	switch {
	case c.Package != "" && tx.Taking != nil:
		if err := tx.apply(PackageTaken, why); err != nil {
			return err
		}
		decideKnowledge(tx, knowledge.AtExec)
	case c.Package != "" && len(c.Given) == 0:
		return pawl.Fail(pawl.CodeNotFound, "kernel.package_unknown", c.Package)
	case judgedFirst(tx, c):
		return tx.apply(Received, why)
	default:
		if err := tx.apply(TakenUp, why); err != nil {
			return err
		}
		if err := sizeFlow(tx, workflow.PathLight, "a plan is given"); err != nil {
			return err
		}
		if tx.Flow.Stage == workflow.Develop {
			decideKnowledge(tx, knowledge.AtExec)
		}
		tx.then(ThenContext)
	}
	return nil
}

// judgedFirst reports whether the requirement is evaluated: by every agent for a ~command and where somebody confirms
// the stages, and otherwise by those that judge for themselves. A plan that is given has answered what would be asked.
func judgedFirst(tx *Tx, c *Start) bool {
	t := traits(tx)
	return t.Intakes && len(c.Given) == 0 && (c.Command != "" || c.Confirm || t.Judges)
}

// commandOr is the ~command that the run is taken up for.
func commandOr(tx *Tx, otherwise string) string {
	if tx.Run != nil && tx.Run.Command != "" {
		return tx.Run.Command
	}
	return otherwise
}

// maxQuestions is how many questions one round may ask (docs/spec/turn.md#b1).
const maxQuestions = 3

// askIntake has the agent judge whether the requirement is clear.
func askIntake(tx *Tx) {
	tx.emit(effect.KindIntake, effect.IntakeSpec{
		Agent: tx.Run.Agent, Requirement: tx.Run.Requirement, Answers: tx.Run.Answers, Round: tx.Turn.Rounds + 1, Lang: tx.Run.Lang, Continue: tx.Run.AsIs,
	}, true)
}

// takenIn goes on with a clear requirement and parks an unclear one until the person has answered.
func takenIn(tx *Tx, r effect.Receipt) error {
	result, err := effect.Decode[effect.IntakeResult](r.Result)
	if err != nil || !r.OK {
		return planningFailed(tx, StillUnclear, firstError(r.Err(), err))
	}
	tx.Run.Evaluation = &result.Evaluation
	tx.touch(tx.Run)
	e := &result.Evaluation
	tx.record(tx.Run, AuditIntakeJudged, audit.Info, map[string]any{
		"agent": result.Agent, "model": result.Model, "prompt": result.Prompt, "by": e.By, "class": e.Class, "score": e.Score, "risk": e.Risk,
		"questions": len(e.Questions), "ehrb": len(e.EHRB), "usage": result.Usage,
	})
	if len(e.Questions) == 0 {
		return evaluated(tx)
	}
	asked := make([]string, len(e.Questions))
	for n, q := range e.Questions {
		asked[n] = q.Text + q.Key // exactly one of them is set
	}
	if tx.Turn.Rounds >= turn.MaxRounds {
		return planningFailed(tx, StillUnclear, pawl.Fail(pawl.CodeCannotPlan, "kernel.still_unclear", itoa(tx.Turn.Rounds), strings.Join(asked, " / ")))
	}
	if err := tx.apply(Unclear, e.Why); err != nil {
		return err
	}
	n := min(len(asked), maxQuestions)
	tx.Turn.Rounds++
	tx.Turn.Questions, tx.Turn.Put = asked[:n], e.Questions[:n]
	tx.touch(tx.Turn)
	tx.record(tx.Turn, AuditQuestionsAsked, audit.Info, map[string]any{"questions": tx.Turn.Questions, "round": tx.Turn.Rounds})
	return nil
}

// intakeAnswered takes the person's answers to the questions of an intake. None at all means: go on with what there is.
func intakeAnswered(tx *Tx, c *Give) error {
	if len(c.Answers) > 0 && len(c.Answers) != len(tx.Turn.Questions) {
		return pawl.Fail(pawl.CodeInvalid, "kernel.answers_count", itoa(len(tx.Turn.Questions)), itoa(len(c.Answers)))
	}
	tx.Run.Answers = slices.Clip(tx.Run.Answers)
	for i, q := range tx.Turn.Questions {
		a := effect.Answered{Question: q}
		if i < len(tx.Turn.Put) {
			a.About = string(tx.Turn.Put[i].About)
		}
		if i < len(c.Answers) {
			a.Answer = strings.TrimSpace(c.Answers[i])
		}
		tx.Run.Answers = append(tx.Run.Answers, a)
	}
	tx.Turn.Questions, tx.Turn.Put = nil, nil
	tx.Run.AsIs = tx.Run.AsIs || len(c.Answers) == 0
	tx.touch(tx.Run)
	tx.touch(tx.Turn)
	tx.record(tx.Run, AuditQuestionsAnswered, audit.Info, map[string]any{"answers": len(c.Answers), "by": tx.env.Actor})
	if err := tx.apply(Answered, "answered by "+string(tx.env.Actor)); err != nil {
		return err
	}
	if tx.Run.AsIs && tx.Run.Evaluation != nil {
		e := tx.Run.Evaluation.GoOn()
		tx.Run.Evaluation = &e
		return evaluated(tx)
	}
	tx.then(ThenIntake)
	return nil
}

// evaluated decides the complexity of a requirement that is clear, and asks the person to confirm it where one is there.
func evaluated(tx *Tx) error {
	path, why := tx.Run.Evaluation.Path()
	tx.Run.Path = path
	if tx.Run.Confirm {
		askStage(tx, workflow.Evaluate, string(path))
		return nil
	}
	reason := string(path)
	if len(why) > 0 {
		reason = why[0].Key
	}
	return goOn(tx, path, reason)
}

// goOn leaves the evaluation by its path.
func goOn(tx *Tx, path workflow.Path, reason string) error {
	if err := tx.apply(Clear, reason); err != nil {
		return err
	}
	if err := sizeFlow(tx, path, reason); err != nil {
		return err
	}
	tx.then(ThenContext)
	return nil
}

// sizeFlow takes the flow to the stage of a path. ~plan is there for its package, so that a tweak becomes light (docs/spec/workflow.md#c4).
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
	d, err := knowledge.Decide(knowledge.Question{Mode: tx.Config.KnowledgeMode, Condition: knowledge.Fine, Coding: true, At: at})
	if err != nil {
		return // a mode that does not exist is refused with the settings
	}
	tx.Flow.KBSkipped = knowledge.Carry(tx.Flow.KBSkipped, d)
	tx.touch(tx.Flow)
}

// askStage asks the person to confirm what a stage has found.
func askStage(tx *Tx, stage workflow.Stage, detail string) {
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "pawl stage 1\n%s\n%s\n%s\n%s", tx.Run.ID, stage, tx.Run.Requirement, detail)
	if tx.Run.Evaluation != nil {
		sum.Write(encode(tx.Run.Evaluation))
	}
	tx.Run.Stage = stage
	tx.touch(tx.Run)
	askFor(tx, aboutStage, tx.Run.ID, hex.EncodeToString(sum.Sum(nil)), policy.SingleAction, detail)
}

// aboutStage is what an approval is about that a stage ends with.
const aboutStage = "stage"

// Decide takes the answer to the question of a stage.
func (c *Choose) Decide(tx *Tx) error {
	a, err := pendingApproval(tx, c.Hash)
	if err != nil {
		return err
	}
	if a.About != aboutStage {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.no_stage_asks", stateName(tx))
	}
	stage := tx.Run.Stage
	if stage == workflow.Evaluate {
		next, err := workflow.SwitchMode(tx.Flow.Vars, c.Choice, workflow.Evidence{Confirming: true})
		if err != nil {
			return err
		}
		if c.Path == workflow.PathNone {
			c = &Choose{Choice: c.Choice, Path: tx.Run.Path}
		}
		if tx.Run.Evaluation != nil && tx.Run.Evaluation.Dangerous() && c.Path != workflow.PathStandard {
			return pawl.Fail(pawl.CodeDenied, "kernel.path_dangerous", string(c.Path))
		}
		if _, ok := workflow.Stages.Next(workflow.Evaluate, workflow.Complexity, string(c.Path)); !ok {
			return pawl.Fail(pawl.CodeInvalid, "kernel.path_unknown", string(c.Path))
		}
		setVars(tx, next, string(workflow.Choose), c.Choice)
	}
	answerApproval(tx, a, ApprovalGranted, tx.env.Actor, c.Choice)
	tx.Run.Stage, tx.Session.Approval = workflow.None, ""
	tx.touch(tx.Run)
	if stage == workflow.Evaluate {
		return goOn(tx, c.Path, "confirmed by "+string(tx.env.Actor))
	}
	return tx.apply(ContextReady, "context built")
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
	tx.record(tx.Flow, auditModeAs.in(string(r.To)), audit.Info, map[string]any{"from": r.From, "to": r.To, "rule": r.ID, "event": on, "argument": when})
}

// analyzed goes on to the design, once the person has seen what the analysis found, where the mode waits for that
// (docs/spec/workflow.md#c6).
func analyzed(tx *Tx) error {
	waits := tx.Run.Confirm && tx.Flow.Stage == workflow.Analyze && tx.Flow.Vars.Waits() && !slices.Contains(tx.Config.AutoContinue, workflow.Analyze)
	if waits {
		c := tx.Run.Context
		askStage(tx, workflow.Analyze, fmt.Sprintf("%d %d %s", c.Files, len(c.Checks), strings.Join(c.Ecosystems, ",")))
		return nil
	}
	return tx.apply(ContextReady, "context built")
}

// packageDesigned names the package of a plan. A tweak has none; one whose plan is too large or too dangerous for a tweak goes on as a
// light iteration.
func packageDesigned(tx *Tx, p *plan.Plan) error {
	if tx.Flow.Stage == workflow.Tweak {
		files := namedFiles(tx, p)
		changed := make([]triage.Changed, len(files))
		for n, f := range files {
			changed[n].Path = f
		}
		if !outgrows(tx, changed) {
			return nil
		}
		if err := tx.apply(Outgrew, "the plan"); err != nil {
			return err
		}
		decideKnowledge(tx, knowledge.AtAnalyze)
	}
	return packSolution(tx, p)
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

// outgrows reports whether a change is too large or too dangerous for a tweak, and notes the path that it needs.
func outgrows(tx *Tx, changed []triage.Changed) bool {
	facts := triage.Measure(changed)
	facts.EHRB = dangerous(tx.Solution)
	path, why := triage.Outgrown(workflow.PathTweak, facts)
	if path == workflow.PathTweak {
		return false
	}
	tx.record(tx.Run, AuditPathOutgrown, audit.Warn, map[string]any{"from": workflow.PathTweak, "to": path, "why": why, "facts": facts})
	tx.Run.Path, tx.Flow.KBSkipped = path, workflow.Undecided
	return true
}

// changeMeasured looks at what the work on a tweak has really changed. AUTO_FULL goes on as a light iteration, with a package; where a
// person has approved the plan as it is, it stays a tweak that went beyond its scope, and is logged as one.
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

// packageName names the package after the plan's goal, or after the requirement where nothing in the goal can be a name.
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

// dangerous reports whether a plan would do something of extremely high risk.
func dangerous(s *Solution) bool {
	return slices.ContainsFunc(s.EHRB, func(p triage.Placed) bool { return p.Stance == triage.StanceAction })
}

// approvalEvent is what it is called when the plan is approved: that depends on the stage, and in AUTO_FULL on whose word it is.
func approvalEvent(tx *Tx, by pawl.Actor) Event {
	switch {
	case tx.Flow.Stage != workflow.Design:
		return PlanAllowed
	case by == autoFull:
		return PlanFlowsOn
	}
	return PlanApproved
}

// keepPackage ends a flow of AUTO_PLAN with its design: the package waits for ~exec (docs/spec/workflow.md#c7).
func keepPackage(tx *Tx) error {
	answerApproval(tx, tx.Approval, ApprovalStale, tx.env.Actor, "kept for ~exec")
	tx.Turn.Outcome = string(turn.OutcomeDone)
	tx.Task.Cleanup = nothingToClean()
	tx.Task.Reason = "planned only"
	if err := tx.apply(PlanKept, "the package is kept"); err != nil {
		return err
	}
	endRun(tx, OutcomePlanned)
	return nil
}

// OutcomePlanned is the outcome of a run that ends with its plan.
const OutcomePlanned = "planned"

// flowInterrupted notes that a flow was cut off by a crash: its stage is kept, and it goes on from there.
func flowInterrupted(tx *Tx, what string) error {
	if tx.Flow == nil || !tx.has(tx.Flow, string(workflow.Interrupt), "") {
		return nil
	}
	return tx.move(tx.Flow, string(workflow.Interrupt), "", "interrupted in "+what, nil)
}

// keepSilence keeps SILENCE_BROKEN: it is set while a person has to be spoken to although the mode is silent, and cleared by the
// answer (docs/spec/workflow.md#c5). The question that a stage ends with is no break: it belongs to the mode.
func keepSilence(tx *Tx) {
	f := tx.Flow
	if f == nil || tx.Session == nil || !f.Mode.Auto() || ofBoard(tx.env.Command) || tx.Session.Paused {
		return // a pause is neither a question nor an answer, and an external tool brings one along
	}
	asks := waits(tx)
	if a := tx.Approval; asks && a != nil && a.State == ApprovalPending && a.About == aboutStage {
		asks = false
	}
	switch {
	case asks && !f.SilenceBroken:
		f.Vars = f.Vars.BreakSilence()
		tx.record(f, AuditSilenceBroken, audit.Warn, map[string]any{"mode": f.Mode, "stage": f.Stage, "state": tx.Session.State})
	case !asks && f.SilenceBroken && tx.env.Actor.Kind() == pawl.KindUser:
		f.Vars = f.Vars.Reply()
		tx.record(f, AuditSilenceRestored, audit.Info, map[string]any{"by": tx.env.Actor})
	}
}

// Decide hands the flow to an external tool (docs/spec/workflow.md#external-tools).
func (c *EnterTool) Decide(tx *Tx) error {
	s := tx.Session
	switch {
	case s == nil || tx.Flow == nil:
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	case s.Effect != "" || tx.Task != nil && tx.Task.Effect != "" && s.Run != "":
		return pawl.Fail(pawl.CodeBusy, "kernel.tool_while_working", c.Tool)
	}
	next, err := workflow.EnterTool(tx.Flow.Vars, c.Tool)
	if err != nil {
		return err
	}
	tx.Flow.Vars, tx.Flow.Tools = next, append(slices.Clip(tx.Flow.Tools), c.Tool)
	tx.record(tx.Flow, AuditToolEntered, audit.Info, map[string]any{"tool": c.Tool, "nesting": next.ToolNesting, "suspended": next.SuspendedStage})
	if s.Run != "" && !s.Paused && s.State != string(session.Blocked) {
		s.Paused, s.PausedAt, s.PausedBy = true, tx.now, tx.env.Actor
		tx.touch(s)
		tx.Flow.Held = true
	}
	return nil
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
func (*Give) takesFlowOn(tx *Tx) bool {
	return tx.Turn != nil && tx.Turn.State == string(turn.Clarifying)
}

// flowFree fails for what would take a flow on, or end it, that an external tool has: its stage is suspended until the tool is left.
func flowFree(tx *Tx) error {
	if tx.Flow == nil || tx.Flow.ToolNesting == 0 || tx.Session == nil || tx.Session.Run == "" {
		return nil
	}
	if c, ok := tx.env.Command.(flowCommand); ok && c.takesFlowOn(tx) {
		return pawl.Fail(pawl.CodeBusy, "kernel.tool_active", tx.Flow.ActiveTool)
	}
	return nil
}

// Decide says that the innermost external tool is done.
func (c *LeaveTool) Decide(tx *Tx) error {
	if tx.Flow == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	outer := ""
	if n := len(tx.Flow.Tools); n > 1 {
		outer = tx.Flow.Tools[n-2]
	}
	suspended := tx.Flow.SuspendedStage
	next, err := workflow.LeaveTool(tx.Flow.Vars, outer, c.Resume || suspended != workflow.None)
	if err != nil {
		return err
	}
	tx.record(tx.Flow, AuditToolLeft, audit.Info, map[string]any{"tool": tx.Flow.ActiveTool, "nesting": next.ToolNesting, "resume": c.Resume})
	tx.Flow.Vars, tx.Flow.Tools = next, tx.Flow.Tools[:max(0, len(tx.Flow.Tools)-1)]
	if next.ToolNesting > 0 {
		return nil
	}
	held := tx.Flow.Held
	tx.Flow.Held = false
	switch {
	case tx.Session.Run == "" || c.Resume && !held: // a pause that somebody else asked for before stays
		return nil
	case c.Resume:
		return (&Resume{}).Decide(tx)
	}
	tx.Session.Paused = false
	tx.touch(tx.Session)
	if tx.Session.State == string(session.Blocked) {
		return nil
	}
	return (&CancelRun{Reason: "given up after an external tool"}).Decide(tx)
}

// maxLogged is how many changed files an entry of the CHANGELOG names.
const maxLogged = 20

// changelog is what the run has to say in the CHANGELOG: what landed, and that a person has confirmed an extremely high risk
// (docs/spec/workflow.md#knowledge-base, docs/spec/workflow.md#ehrb).
func changelog(tx *Tx) []effect.LogEntry {
	r, t := tx.Run, tx.Task
	if r == nil || t == nil || r.Land == nil || tx.Solution == nil {
		return nil
	}
	e := effect.LogEntry{At: t.EndedAt, Kind: string(knowledge.Changed), Text: firstLine(tx.Solution.Plan.Goal), Commit: r.Land.Commit, ID: t.ID, Language: tx.Config.Language}
	if e.Language == "" {
		e.Language = r.Lang
	}
	switch {
	case r.Outgrown:
		e.Kind = string(knowledge.OutOfScope)
	case r.Path == workflow.PathTweak:
		e.Kind = string(knowledge.Tweaked)
	case r.Evaluation != nil && r.Evaluation.Class == triage.ClassFeature:
		e.Kind = string(knowledge.Added)
	case r.Evaluation != nil && r.Evaluation.Class == triage.ClassBugfix:
		e.Kind = string(knowledge.Fixed)
	}
	for _, f := range r.Land.Files {
		if len(e.Files) < maxLogged {
			e.Files = append(e.Files, f.Path)
		}
		if m := triage.Module(f.Path); m != "" && !slices.Contains(e.Modules, m) {
			e.Modules = append(e.Modules, m)
		}
	}
	if r.Package != "" {
		e.Package, e.Folder = r.Package, solution.ArchiveDir(r.Package)
	}
	out := []effect.LogEntry{e}
	if a := tx.Approval; dangerous(tx.Solution) && a != nil && a.State == ApprovalGranted && a.AnsweredBy.Kind() == pawl.KindUser {
		risk := e
		risk.Kind, risk.ID, risk.Files, risk.At = string(knowledge.RiskConfirmed), t.ID+"-risk", nil, a.AnsweredAt
		risk.Text += " (" + string(a.AnsweredBy) + ")"
		out = append(out, risk)
	}
	return out
}

// Decide carries out a command that is no flow. A command that writes is refused while a flow runs (docs/spec/workflow.md#c2).
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

// prepareDependencies has dependencies fetched. It is no ~command, changes nothing but a cache of pawl's own, and is what a person is
// told to do where a plan waits for a word or work stopped for the want of dependencies, so that it is let through there, too.
func prepareDependencies(tx *Tx, c *Order) error {
	s := tx.Session
	resting := s.State == string(session.Idle) || s.State == string(session.Confirming) || s.State == string(session.Blocked)
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
			s.remember(result, tx.now)
		}
	}
	if s.State == string(session.Idle) { // elsewhere it says why work stopped
		s.LastError = nil
		if !r.OK {
			kept := info(r.Err())
			s.LastError = &kept
		}
	}
	tx.record(s, AuditCommandDone, level(r.OK), map[string]any{"effect": tx.Effect.ID, "kind": tx.Effect.What(), "code": r.Code})
	return nil
}

// packageUsed notes whether the package of a run that ends is done with, or can be carried out again.
func packageUsed(tx *Tx) {
	if tx.Solution == nil || tx.Solution.State == "" {
		return
	}
	state := SolutionUsed
	if tx.Run.Outcome == OutcomePlanned || tx.Run.Command == execCommand && (tx.Task == nil || tx.Task.State == string(task.Canceled) && tx.Task.StartedAt.IsZero()) {
		state = SolutionDraft
	}
	tx.Solution.State = state
	tx.touch(tx.Solution)
}
