package kernel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"pawl"
	"pawl/audit"
	"pawl/effect"
	"pawl/knowledge"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
	"pawl/plan"
	"pawl/policy"
	"pawl/solution"
	"pawl/triage"
)

// flows decides about the ~commands (docs/spec/workflow.md) and about the stages of the flows that they start.
type flows struct{ *work }

// autoFull is in whose name AUTO_FULL approves what nobody has to be asked about (docs/spec/task.md#d21).
const autoFull pawl.Actor = "policy:auto_full"

// PackageAlias is what the label of the alias of a solution package begins with.
const PackageAlias = "package:"

// loadStart reads what a requirement is taken up with: the issue of the board, or the package that is to be carried out.
func (k loader) loadStart(ctx context.Context, s *Snapshot, c *Start) error {
	issue := c.Issue
	if c.Package != "" {
		var alias *Alias
		if err := load(ctx, k.store, &alias, Select{Kind: KindAlias, Label: PackageAlias + c.Package}); err != nil {
			return err
		}
		if alias == nil {
			return nil
		}
		if err := load(ctx, k.store, &s.Taking, optional(KindSolution, alias.Parent)); err != nil {
			return err
		}
		issue = alias.Issue
	}
	if err := load(ctx, k.store, &s.Issue, optional(KindIssue, issue)); err != nil || s.Issue == nil {
		return err
	}
	return load(ctx, k.store, &s.Item, optional(KindItem, s.Issue.Item))
}

// begin makes the first moves of a run, and asks for its first effect.
func (w flows) begin(c *Start) error {
	why := firstLine(w.Run.Requirement)
	switch {
	case c.Package != "" && w.Taking != nil:
		if err := w.raise(PackageTaken, why); err != nil {
			return err
		}
		w.decideKnowledge(knowledge.AtExec)
	case c.Package != "" && len(c.Given) == 0:
		return pawl.Fail(pawl.CodeNotFound, "kernel.package_unknown", c.Package)
	case w.judgedFirst(c):
		if err := w.raise(Received, why); err != nil {
			return err
		}
		w.askIntake()
		return nil
	default:
		if err := w.raise(TakenUp, why); err != nil {
			return err
		}
		if err := w.size(workflow.PathLight, "a plan is given"); err != nil {
			return err
		}
		if w.Flow.Stage == workflow.Develop {
			w.decideKnowledge(knowledge.AtExec)
		}
	}
	planner{w.work}.buildContext()
	return nil
}

// judgedFirst reports whether the requirement is evaluated: by every agent for a ~command and where somebody confirms
// the stages, and otherwise by those that judge for themselves. A plan that is given has answered what would be asked.
func (w flows) judgedFirst(c *Start) bool {
	t := w.traits()
	return t.Intakes && len(c.Given) == 0 && (c.Command != "" || c.Confirm || t.Judges)
}

// command is the ~command that the run is taken up for.
func (w flows) command(otherwise string) string {
	if w.Run != nil && w.Run.Command != "" {
		return w.Run.Command
	}
	return otherwise
}

// maxQuestions is how many questions one round may ask (docs/spec/turn.md#b1).
const maxQuestions = 3

// askIntake has the agent judge whether the requirement is clear.
func (w flows) askIntake() {
	w.emit(effect.KindIntake, effect.IntakeSpec{
		Agent: w.Run.Agent, Requirement: w.Run.Requirement, Answers: w.Run.Answers, Round: w.Turn.Rounds + 1, Lang: w.Run.Lang, Continue: w.Run.AsIs,
	}, true)
}

// takenIn goes on with a clear requirement and parks an unclear one until the person has answered.
func (w flows) takenIn(r effect.Receipt) error {
	result, err := effect.Decode[effect.IntakeResult](r.Result)
	if err != nil || !r.OK {
		return planner{w.work}.planningFailed(StillUnclear, firstError(r.Err(), err))
	}
	w.Run.Evaluation = &result.Evaluation
	w.touch(w.Run)
	e := &result.Evaluation
	w.record(w.Run, "INTAKE_JUDGED", audit.Info, map[string]any{
		"agent": result.Agent, "model": result.Model, "prompt": result.Prompt, "by": e.By, "class": e.Class, "score": e.Score, "risk": e.Risk,
		"questions": len(e.Questions), "ehrb": len(e.EHRB), "usage": result.Usage,
	})
	if len(e.Questions) == 0 {
		return w.evaluated()
	}
	asked := make([]string, len(e.Questions))
	for n, q := range e.Questions {
		asked[n] = q.Text + q.Key // exactly one of them is set
	}
	if w.Turn.Rounds >= turn.MaxRounds {
		return planner{w.work}.planningFailed(StillUnclear, pawl.Fail(pawl.CodeCannotPlan, "kernel.still_unclear", itoa(w.Turn.Rounds), strings.Join(asked, " / ")))
	}
	if err := w.raise(Unclear, e.Why); err != nil {
		return err
	}
	n := min(len(asked), maxQuestions)
	w.Turn.Rounds++
	w.Turn.Questions, w.Turn.Put = asked[:n], e.Questions[:n]
	w.touch(w.Turn)
	w.record(w.Turn, "QUESTIONS_ASKED", audit.Info, map[string]any{"questions": w.Turn.Questions, "round": w.Turn.Rounds})
	return nil
}

// answered takes the person's answers to the questions of an intake. None at all means: go on with what there is.
func (w flows) answered(c *Give) error {
	if len(c.Answers) > 0 && len(c.Answers) != len(w.Turn.Questions) {
		return pawl.Fail(pawl.CodeInvalid, "kernel.answers_count", itoa(len(w.Turn.Questions)), itoa(len(c.Answers)))
	}
	w.Run.Answers = slices.Clip(w.Run.Answers)
	for i, q := range w.Turn.Questions {
		a := effect.Answered{Question: q}
		if i < len(w.Turn.Put) {
			a.About = string(w.Turn.Put[i].About)
		}
		if i < len(c.Answers) {
			a.Answer = strings.TrimSpace(c.Answers[i])
		}
		w.Run.Answers = append(w.Run.Answers, a)
	}
	w.Turn.Questions, w.Turn.Put = nil, nil
	w.Run.AsIs = w.Run.AsIs || len(c.Answers) == 0
	w.touch(w.Run)
	w.touch(w.Turn)
	w.record(w.Run, "QUESTIONS_ANSWERED", audit.Info, map[string]any{"answers": len(c.Answers), "by": w.env.Actor})
	if err := w.raise(Answered, "answered by "+string(w.env.Actor)); err != nil {
		return err
	}
	if w.Run.AsIs && w.Run.Evaluation != nil {
		e := w.Run.Evaluation.GoOn()
		w.Run.Evaluation = &e
		return w.evaluated()
	}
	w.askIntake()
	return nil
}

// evaluated decides the complexity of a requirement that is clear, and asks the person to confirm it where one is there.
func (w flows) evaluated() error {
	path, why := w.Run.Evaluation.Path()
	w.Run.Path = path
	if w.Run.Confirm {
		w.askStage(workflow.Evaluate, string(path))
		return nil
	}
	reason := string(path)
	if len(why) > 0 {
		reason = why[0].Key
	}
	return w.goOn(path, reason)
}

// goOn leaves the evaluation by its path.
func (w flows) goOn(path workflow.Path, reason string) error {
	if err := w.raise(Clear, reason); err != nil {
		return err
	}
	if err := w.size(path, reason); err != nil {
		return err
	}
	planner{w.work}.buildContext()
	return nil
}

// size takes the flow to the stage of a path. ~plan is there for its package, so that a tweak becomes light
// (docs/spec/workflow.md#c4).
func (w flows) size(path workflow.Path, reason string) error {
	if path == workflow.PathTweak && w.Flow.Mode == workflow.AutoPlan {
		path = workflow.PathLight
	}
	if w.Flow.Stage != workflow.Evaluate {
		return nil // ~exec has gone straight into development
	}
	w.Run.Path = path
	w.touch(w.Run)
	what, at := SizedLight, knowledge.AtAnalyze
	switch path {
	case workflow.PathTweak:
		what, at = SizedTweak, knowledge.AtTweak
	case workflow.PathStandard:
		what = SizedStandard
	}
	if err := w.raise(what, reason); err != nil {
		return err
	}
	w.decideKnowledge(at)
	return nil
}

// decideKnowledge sets KB_SKIPPED when the flow comes to a point that decides it, and carries it otherwise.
func (w flows) decideKnowledge(at knowledge.Point) {
	// The variable depends on the mode and the point alone; what becomes of the documents is asked when they are read.
	d, err := knowledge.Decide(knowledge.Question{Mode: w.Config.KnowledgeMode, Condition: knowledge.Fine, Coding: true, At: at})
	if err != nil {
		return // a mode that does not exist is refused with the settings
	}
	w.Flow.KBSkipped = knowledge.Carry(w.Flow.KBSkipped, d)
	w.touch(w.Flow)
}

// askStage asks the person to confirm what a stage has found.
func (w flows) askStage(stage workflow.Stage, detail string) {
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "pawl stage 1\n%s\n%s\n%s\n%s", w.Run.ID, stage, w.Run.Requirement, detail)
	if w.Run.Evaluation != nil {
		sum.Write(encode(w.Run.Evaluation))
	}
	w.Run.Stage = stage
	w.touch(w.Run)
	planner{w.work}.askFor(aboutStage, w.Run.ID, hex.EncodeToString(sum.Sum(nil)), policy.SingleAction, detail)
}

// aboutStage is what an approval is about that a stage ends with.
const aboutStage = "stage"

// choose takes the answer to the question of a stage.
func (w flows) choose(c *Choose) error {
	a, err := desk{w.work}.pending(c.Hash)
	if err != nil {
		return err
	}
	if a.About != aboutStage {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.no_stage_asks", w.stateName())
	}
	stage := w.Run.Stage
	if stage == workflow.Evaluate {
		next, err := workflow.SwitchMode(w.Flow.Vars, c.Choice, workflow.Evidence{Confirming: true})
		if err != nil {
			return err
		}
		if c.Path == workflow.PathNone {
			c = &Choose{Choice: c.Choice, Path: w.Run.Path}
		}
		if w.Run.Evaluation != nil && w.Run.Evaluation.Dangerous() && c.Path != workflow.PathStandard {
			return pawl.Fail(pawl.CodeDenied, "kernel.path_dangerous", string(c.Path))
		}
		if _, ok := workflow.Stages.Next(workflow.Evaluate, workflow.Complexity, string(c.Path)); !ok {
			return pawl.Fail(pawl.CodeInvalid, "kernel.path_unknown", string(c.Path))
		}
		w.setVars(next, string(workflow.Choose), c.Choice)
	}
	desk{w.work}.answer(a, ApprovalGranted, w.env.Actor, c.Choice)
	w.Run.Stage, w.Session.Approval = workflow.None, ""
	w.touch(w.Run)
	if stage == workflow.Evaluate {
		return w.goOn(c.Path, "confirmed by "+string(w.env.Actor))
	}
	return planner{w.work}.design()
}

// setVars changes variables beside the stage. A change of the mode is a move of its machine and is recorded as one.
func (w flows) setVars(next workflow.Vars, on, when string) {
	before := w.Flow.Vars
	w.Flow.Vars = next
	w.touch(w.Flow)
	w.modeMoved(before.Mode, on, when)
}

// modeMoved records the row of the mode's machine by which it has got where it is.
func (w flows) modeMoved(from workflow.Mode, on, when string) {
	r, ok := workflow.Modes.Next(from, workflow.Event(on), when)
	if !ok || r.To != w.Flow.Mode || on == string(workflow.ResetMode) && r.From == r.To {
		return
	}
	w.record(w.Flow, "MODE_"+string(r.To), audit.Info, map[string]any{"from": r.From, "to": r.To, "rule": r.ID, "event": on, "argument": when})
}

// analyzed goes on to the design, once the person has seen what the analysis found, where the mode waits for that
// (docs/spec/workflow.md#c6).
func (w flows) analyzed() error {
	waits := w.Run.Confirm && w.Flow.Stage == workflow.Analyze && w.Flow.Vars.Waits() && !slices.Contains(w.Config.AutoContinue, workflow.Analyze)
	if waits {
		c := w.Run.Context
		w.askStage(workflow.Analyze, fmt.Sprintf("%d %d %s", c.Files, len(c.Checks), strings.Join(c.Ecosystems, ",")))
		return nil
	}
	return planner{w.work}.design()
}

// packer names solution packages, and measures whether a change still fits a tweak, which has none.
type packer struct{ *work }

// designed names the package of a plan. A tweak has none; one whose plan is too large or too dangerous for a tweak goes on as a
// light iteration.
func (w packer) designed(p *plan.Plan) error {
	if w.Flow.Stage == workflow.Tweak {
		files := planner{w.work}.names(p)
		changed := make([]triage.Changed, len(files))
		for n, f := range files {
			changed[n].Path = f
		}
		if !w.outgrows(changed) {
			return nil
		}
		if err := w.raise(Outgrew, "the plan"); err != nil {
			return err
		}
		flows{w.work}.decideKnowledge(knowledge.AtAnalyze)
	}
	return w.pack(p)
}

// pack gives the solution its package.
func (w packer) pack(p *plan.Plan) (err error) {
	name := w.Run.Package
	if name == "" {
		if name, err = w.packageName(p); err != nil {
			return err
		}
	}
	w.Solution.Package, w.Run.Package = name, name
	w.touch(w.Run)
	return nil
}

// outgrows reports whether a change is too large or too dangerous for a tweak, and notes the path that it needs.
func (w packer) outgrows(changed []triage.Changed) bool {
	facts := triage.Measure(changed)
	facts.EHRB = dangerous(w.Solution)
	path, why := triage.Outgrown(workflow.PathTweak, facts)
	if path == workflow.PathTweak {
		return false
	}
	w.record(w.Run, "PATH_OUTGROWN", audit.Warn, map[string]any{"from": workflow.PathTweak, "to": path, "why": why, "facts": facts})
	w.Run.Path, w.Flow.KBSkipped = path, workflow.Undecided
	return true
}

// measured looks at what the work on a tweak has really changed. AUTO_FULL goes on as a light iteration, with a package; where a
// person has approved the plan as it is, it stays a tweak that went beyond its scope, and is logged as one.
func (w packer) measured(files []effect.FileStat) error {
	if w.Flow == nil || w.Flow.Stage != workflow.Tweak || len(files) == 0 || w.Run.Outgrown {
		return nil
	}
	changed := make([]triage.Changed, len(files))
	for n, f := range files {
		changed[n] = triage.Changed{Path: f.Path, Added: f.Added, Removed: f.Removed}
	}
	skipped := w.Flow.KBSkipped
	switch {
	case !w.outgrows(changed):
		return nil
	case w.Flow.Mode != workflow.AutoFull:
		w.Run.Path, w.Run.Outgrown, w.Flow.KBSkipped = workflow.PathTweak, true, skipped
		return nil
	}
	if err := w.pack(&w.Solution.Plan); err != nil {
		return err
	}
	w.touch(w.Solution)
	w.create(&Alias{Issue: w.Issue.ID}, KindAlias, PackageAlias+w.Solution.Package, w.Solution.ID, "")
	if err := w.raise(GrewAtWork, "the change"); err != nil {
		return err
	}
	flows{w.work}.decideKnowledge(knowledge.AtAnalyze)
	return nil
}

// packageName names the package after the plan's goal, or after the requirement where nothing in the goal can be a name.
func (w packer) packageName(p *plan.Plan) (string, error) {
	var ask []string
	taken := func(name string) bool {
		at, known := w.Names[name]
		if !known {
			ask = append(ask, name)
		}
		return at
	}
	text := p.Goal
	if _, err := solution.Feature(text); err != nil {
		if text = w.Run.Requirement; w.Run.Requirement == "" {
			text = w.Run.Label
		}
	}
	name, err := solution.NewName(text, w.Run.StartedAt, taken)
	if err == nil && len(ask) > 0 {
		return "", &missing{names: ask}
	}
	return name.String(), err
}

// dangerous reports whether a plan would do something of extremely high risk.
func dangerous(s *Solution) bool {
	return slices.ContainsFunc(s.EHRB, func(p triage.Placed) bool { return p.Stance == triage.StanceAction })
}

// approved is what it is called when the plan is approved: that depends on the stage, and in AUTO_FULL on whose word it is.
func (w flows) approved(by pawl.Actor) Happening {
	switch {
	case w.Flow.Stage != workflow.Design:
		return PlanAllowed
	case by == autoFull:
		return PlanFlowsOn
	}
	return PlanApproved
}

// keep ends a flow of AUTO_PLAN with its design: the package waits for ~exec (docs/spec/workflow.md#c7).
func (w flows) keep() error {
	desk{w.work}.answer(w.Approval, ApprovalStale, w.env.Actor, "kept for ~exec")
	w.Turn.Outcome = string(turn.OutcomeDone)
	w.Task.Cleanup = nothingToClean()
	w.Task.Reason = "planned only"
	if err := w.raise(PlanKept, "the package is kept"); err != nil {
		return err
	}
	w.endRun(OutcomePlanned)
	return nil
}

// OutcomePlanned is the outcome of a run that ends with its plan.
const OutcomePlanned = "planned"

// interrupted notes that a flow was cut off by a crash: its stage is kept, and it goes on from there.
func (w flows) interrupted(what string) error {
	if w.Flow == nil || !w.has(w.Flow, string(workflow.Interrupt), "") {
		return nil
	}
	return w.move(w.Flow, string(workflow.Interrupt), "", "interrupted in "+what, nil)
}

// silence keeps SILENCE_BROKEN: it is set while a person has to be spoken to although the mode is silent, and cleared by the
// answer (docs/spec/workflow.md#c5). The question that a stage ends with is no break: it belongs to the mode.
func (w flows) silence() {
	f := w.Flow
	if f == nil || w.Session == nil || !f.Mode.Auto() || ofBoard(w.env.Command) || w.Session.Paused {
		return // a pause is neither a question nor an answer, and an external tool brings one along
	}
	asks := waits(w.work)
	if a := w.Approval; asks && a != nil && a.State == ApprovalPending && a.About == aboutStage {
		asks = false
	}
	switch {
	case asks && !f.SilenceBroken:
		f.Vars = f.Vars.BreakSilence()
		w.record(f, "SILENCE_BROKEN", audit.Warn, map[string]any{"mode": f.Mode, "stage": f.Stage, "state": w.Session.State})
	case !asks && f.SilenceBroken && w.env.Actor.Kind() == pawl.KindUser:
		f.Vars = f.Vars.Reply()
		w.record(f, "SILENCE_RESTORED", audit.Info, map[string]any{"by": w.env.Actor})
	}
}

// nester decides about external tools that take a flow over and give it back.
type nester struct{ *work }

// enter hands the flow to an external tool (docs/spec/workflow.md#external-tools).
func (w nester) enter(c *EnterTool) error {
	s := w.Session
	switch {
	case s == nil || w.Flow == nil:
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	case s.Effect != "" || w.Task != nil && w.Task.Effect != "" && s.Run != "":
		return pawl.Fail(pawl.CodeBusy, "kernel.tool_while_working", c.Tool)
	}
	next, err := workflow.EnterTool(w.Flow.Vars, c.Tool)
	if err != nil {
		return err
	}
	w.Flow.Vars, w.Flow.Tools = next, append(slices.Clip(w.Flow.Tools), c.Tool)
	w.record(w.Flow, "TOOL_ENTERED", audit.Info, map[string]any{"tool": c.Tool, "nesting": next.ToolNesting, "suspended": next.SuspendedStage})
	if s.Run != "" && !s.Paused && s.State != string(session.Blocked) {
		s.Paused, s.PausedAt, s.PausedBy = true, w.now, w.env.Actor
		w.touch(s)
		w.Flow.Held = true
	}
	return nil
}

// free fails for what would take a flow on, or end it, that an external tool has: its stage is suspended until the tool is left.
func (w nester) free() error {
	if w.Flow == nil || w.Flow.ToolNesting == 0 || w.Session == nil || w.Session.Run == "" {
		return nil
	}
	switch w.env.Command.(type) {
	case *Approve, *Deny, *Revise, *EditPlan, *Choose, *Resume, *CancelRun, *Fix, *Skip, *Rollback:
	case *CancelTask:
		if w.Task == nil || !(clerk{w.work}).holdsRun(w.Task) {
			return nil
		}
	case *Give:
		if w.Turn == nil || w.Turn.State != string(turn.Clarifying) {
			return nil // what agents ask beside the work goes on
		}
	default:
		return nil
	}
	return pawl.Fail(pawl.CodeBusy, "kernel.tool_active", w.Flow.ActiveTool)
}

// leave says that the innermost external tool is done.
func (w nester) leave(c *LeaveTool) error {
	if w.Flow == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	outer := ""
	if n := len(w.Flow.Tools); n > 1 {
		outer = w.Flow.Tools[n-2]
	}
	suspended := w.Flow.SuspendedStage
	next, err := workflow.LeaveTool(w.Flow.Vars, outer, c.Resume || suspended != workflow.None)
	if err != nil {
		return err
	}
	w.record(w.Flow, "TOOL_LEFT", audit.Info, map[string]any{"tool": w.Flow.ActiveTool, "nesting": next.ToolNesting, "resume": c.Resume})
	w.Flow.Vars, w.Flow.Tools = next, w.Flow.Tools[:max(0, len(w.Flow.Tools)-1)]
	if next.ToolNesting > 0 {
		return nil
	}
	held := w.Flow.Held
	w.Flow.Held = false
	switch {
	case w.Session.Run == "" || c.Resume && !held: // a pause that somebody else asked for before stays
		return nil
	case c.Resume:
		return desk{w.work}.resume()
	}
	w.Session.Paused = false
	w.touch(w.Session)
	if w.Session.State == string(session.Blocked) {
		return nil
	}
	return desk{w.work}.cancelRun(&CancelRun{Reason: "given up after an external tool"})
}

// maxLogged is how many changed files an entry of the CHANGELOG names.
const maxLogged = 20

// changelog is what the run has to say in the CHANGELOG: what landed, and that a person has confirmed an extremely high risk
// (docs/spec/workflow.md#knowledge-base, docs/spec/workflow.md#ehrb).
func (w flows) changelog() []effect.LogEntry {
	r, t := w.Run, w.Task
	if r == nil || t == nil || r.Land == nil || w.Solution == nil {
		return nil
	}
	e := effect.LogEntry{At: t.EndedAt, Kind: string(knowledge.Changed), Text: firstLine(w.Solution.Plan.Goal), Commit: r.Land.Commit, ID: t.ID, Language: w.Config.Language}
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
	if a := w.Approval; dangerous(w.Solution) && a != nil && a.State == ApprovalGranted && a.AnsweredBy.Kind() == pawl.KindUser {
		risk := e
		risk.Kind, risk.ID, risk.Files, risk.At = string(knowledge.RiskConfirmed), t.ID+"-risk", nil, a.AnsweredAt
		risk.Text += " (" + string(a.AnsweredBy) + ")"
		out = append(out, risk)
	}
	return out
}

// order carries out a command that is no flow. A command that writes is refused while a flow runs (docs/spec/workflow.md#c2).
func (w flows) order(c *Order) error {
	s := w.Session
	if s == nil || w.Flow == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	if c.Kind == effect.KindPrepare {
		return w.prepare(c)
	}
	if _, err := workflow.Command(c.Command, w.Flow.Vars); err != nil {
		return err
	}
	if info, _ := workflow.LookupCommand(c.Command); info.Flow() || !c.Kind.Ordered() {
		return pawl.Fail(pawl.CodeInternal, "kernel.no_order", c.Command, string(c.Kind))
	}
	if s.State != string(session.Idle) || s.Effect != "" {
		return pawl.Fail(pawl.CodeBusy, "kernel.session_active", s.State, s.Goal)
	}
	e := w.emit(c.Kind, c.Spec, c.Idempotent)
	e.Effect.Place.Tree = e.Effect.Place.Workspace
	w.record(s, "COMMAND_GIVEN", audit.Info, map[string]any{"command": c.Command, "effect": e.ID})
	w.result = e.ID
	return nil
}

// prepare has dependencies fetched. It is no ~command, changes nothing but a cache of pawl's own, and is what a person is
// told to do where a plan waits for a word or work stopped for the want of dependencies, so that it is let through there, too.
func (w flows) prepare(c *Order) error {
	s := w.Session
	resting := s.State == string(session.Idle) || s.State == string(session.Confirming) || s.State == string(session.Blocked)
	if !resting || s.Effect != "" || w.Task != nil && w.Task.Effect != "" {
		return pawl.Fail(pawl.CodeBusy, "kernel.session_active", s.State, s.Goal)
	}
	if w.Config.Profile.NoNetwork {
		return pawl.Fail(pawl.CodeDenied, "kernel.prepare_no_network")
	}
	spec, err := effect.Decode[effect.PrepareSpec](c.Spec)
	if err != nil {
		return err
	}
	e := w.emit(c.Kind, c.Spec, c.Idempotent)
	if e.Effect.Place.Tree = e.Effect.Place.Workspace; spec.Task && w.Task != nil {
		e.Effect.Place = w.Task.Place
	}
	w.record(s, "COMMAND_GIVEN", audit.Info, map[string]any{"command": c.Command, "effect": e.ID})
	w.result = e.ID
	return nil
}

// carriedOut takes what came of it.
func (w flows) carriedOut(r effect.Receipt) error {
	s := w.Session
	if s == nil {
		return nil
	}
	if w.Effect.What() == effect.KindTest {
		if result, err := effect.Decode[effect.VerifyResult](r.Result); err == nil {
			s.remember(result, w.now)
		}
	}
	if s.State == string(session.Idle) { // elsewhere it says why work stopped
		s.LastError = nil
		if !r.OK {
			kept := info(r.Err())
			s.LastError = &kept
		}
	}
	w.record(s, "COMMAND_DONE", level(r.OK), map[string]any{"effect": w.Effect.ID, "kind": w.Effect.What(), "code": r.Code})
	return nil
}

// used notes whether the package of a run that ends is done with, or can be carried out again.
func (w flows) used() {
	if w.Solution == nil || w.Solution.State == "" {
		return
	}
	state := SolutionUsed
	if w.Run.Outcome == OutcomePlanned || w.Run.Command == execCommand && (w.Task == nil || w.Task.State == string(task.Canceled) && w.Task.StartedAt.IsZero()) {
		state = SolutionDraft
	}
	w.Solution.State = state
	w.touch(w.Solution)
}
