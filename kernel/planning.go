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
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
	"pawl/text/knowledge"
	"pawl/text/plan"
	"pawl/text/policy"
	"pawl/text/triage"
)

// Decide makes the session and the flow of a workspace. Done twice it changes nothing.
func (c *Init) Decide(tx *Tx) error {
	if tx.Session != nil {
		tx.result = tx.Session.ID
		return nil
	}
	openSession(tx, SessionLabel, "", c.Place)
	tx.Session.Home = c.Place.Workspace
	tx.result = tx.Session.ID
	return nil
}

// openSession makes a session with its flow.
func openSession(tx *Tx, label, parent string, place effect.Place) {
	tx.Session = &Session{Name: label, Place: place, RunMode: pawl.Assisted}
	tx.Session.Settle()
	tx.create(tx.Session, KindSession, label, parent, string(session.Table.Initial()))
	tx.Flow = &Flow{Vars: workflow.Initial()}
	tx.create(tx.Flow, KindFlow, label, tx.Session.ID, string(workflow.Stages.Initial()))
	tx.record(tx.Session, AuditSessionCreated, audit.Info,
		map[string]any{"workspace": place.Workspace, "git": place.Git})
}

// Decide takes note of where the workspace is now.
func (c *Relocate) Decide(tx *Tx) error {
	s := tx.Session
	if s == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	if s.Home == c.To {
		return nil
	}
	event := AuditWorkspaceMoved
	if s.Home = c.To; c.Copied {
		event, s.Fork = AuditWorkspaceCopied, tx.newID()
	}
	tx.touch(s)
	tx.record(s, event, audit.Info, map[string]any{"from": c.From, "to": c.To})
	return nil
}

// openFor makes the session of an issue of the board, when its first run is taken up.
func openFor(tx *Tx, c *Start) error {
	i := tx.Issue
	if i == nil || i.Number == 0 {
		return pawl.Fail(pawl.CodeNotFound, "kernel.issue_not_found", c.Issue)
	}
	if err := i.Held(c.Token); err != nil {
		return err
	}
	if tx.Session == nil {
		openSession(tx, i.Label, i.Parent, c.Place)
		tx.Session.Number = i.Number
	}
	if c.Requirement == "" {
		c.Requirement = strings.TrimSpace(i.Title + "\n\n" + i.Context)
	}
	if len(c.Given) == 0 {
		c.Given, c.Name = i.Given, i.GivenName
	}
	if i.Agent != "" {
		c.Agent = i.Agent
	}
	return nil
}

// label makes a display id: RUN-1 in the session of the person, RUN-7.1 in that of the seventh issue.
func (s *Session) label(plain string, letter string, n int64) string {
	if s.Number > 0 {
		return fmt.Sprintf("%s-%d.%d", letter, s.Number, n)
	}
	return fmt.Sprintf(plain, n)
}

// ownLabel makes the label of the issue of the session's newest run, behind those that are taken: a backlog that was
// imported may have brought issues with labels of the same form.
func ownLabel(tx *Tx) string {
	base := fmt.Sprintf("ISS-%s-%03d", tx.now.UTC().Format("20060102"), tx.Session.Runs)
	label := base
	for n := 2; isTaken(tx, KindIssue, "", label); n++ {
		label = fmt.Sprintf("%s-%d", base, n)
	}
	return label
}

// Decide takes up a requirement: the run with its issue and its planning turn, and the first effect.
func (c *Start) Decide(tx *Tx) error {
	if c.Issue != "" {
		c = clone(c)
		if err := openFor(tx, c); err != nil {
			return err
		}
	}
	if tx.Session == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	if tx.Session.State != string(session.Idle) || tx.Session.Effect != "" {
		return pawl.Fail(pawl.CodeBusy, "kernel.session_active", tx.Session.State, tx.Session.Goal)
	}
	if tx.Taking != nil && tx.Taking.State != SolutionDraft {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.package_used", tx.Taking.Package)
	}
	if strings.TrimSpace(c.Requirement) == "" && len(c.Given) == 0 {
		return pawl.Fail(pawl.CodeInvalid, "kernel.requirement_empty")
	}
	return takeUp(tx, c, nil)
}

func takeUp(tx *Tx, c *Start, feedback []string) error {
	s := tx.Session
	place := c.Place
	if !place.Git || place.InPlace {
		// Without git there is no branch to land on: the work happens where the user's files are.
		place.InPlace, place.Tree = true, place.Workspace
	}
	s.Runs++
	s.Goal, s.RunMode, s.Place = c.Requirement, c.RunMode, place
	s.AutoFix, s.Blocked, s.LastError, s.RolledBackRun = 0, nil, nil, ""
	tx.Task, tx.Solution, tx.Approval = nil, nil, nil
	tx.Run = &Run{
		Number: s.Runs, Requirement: c.Requirement, Given: c.Given, GivenName: c.Name, Place: place,
		Phase: string(board.Phase.Initial()), Flow: tx.Flow.ID, Feedback: feedback, AutoApprove: c.AutoApprove,
		StartedAt: tx.now,
		Command:   c.Command, Lang: c.Lang, Confirm: c.Confirm, AsIs: c.AsIs, Agent: c.Agent, Package: c.Package,
	}
	tx.create(tx.Run, KindRun, s.label("RUN-%d", "RUN", s.Runs), s.ID, string(board.Run.Initial()))
	switch {
	case c.Package != "" && tx.Taking != nil:
		tx.Solution = tx.Taking
		tx.Solution.State = SolutionOpen
		tx.touch(tx.Solution)
		tx.Run.Item, tx.Run.Solution, tx.Run.Package = tx.Item.ID, tx.Taking.ID, tx.Taking.Package
	case s.Number == 0:
		tx.Item = nil
		tx.Issue = &Issue{Title: firstLine(c.Requirement), Feedback: feedback}
		tx.create(tx.Issue, KindIssue, ownLabel(tx), tx.Run.ID, string(board.Issue.Initial()))
	default:
		tx.Run.Item, tx.Run.Feedback = tx.Issue.Item, tx.Issue.Feedback
		tx.Issue.Error, tx.Issue.Bound, tx.Issue.Solution = nil, false, ""
		tx.touch(tx.Issue)
	}
	tx.Run.Issue = tx.Issue.ID
	newTurn(tx, tx.Run.ID)
	tx.Run.Turn = tx.Turn.ID
	s.Run, s.Approval = tx.Run.ID, ""
	tx.touch(s)
	tx.record(tx.Run, AuditRunCreated, audit.Info, map[string]any{"requirement": c.Requirement, "plan_file": c.Name,
		"run_mode": c.RunMode, "command": c.Command})
	tx.result = tx.Run.ID
	return beginRun(tx, c)
}

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

// judgedFirst reports whether the requirement is evaluated: by every agent for a ~command and where somebody confirms
// the stages, and otherwise by those that judge for themselves. A plan that is given has answered what would be asked.
func judgedFirst(tx *Tx, c *Start) bool {
	t := traits(tx)
	return t.Intakes && len(c.Given) == 0 && (c.Command != "" || c.Confirm || t.Judges)
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

// askIntake has the agent judge whether the requirement is clear.
func askIntake(tx *Tx) {
	tx.emit(effect.KindIntake, effect.IntakeSpec{
		Agent: tx.Run.Agent, Requirement: tx.Run.Requirement, Answers: tx.Run.Answers, Round: tx.Turn.Rounds +
			1, Lang: tx.Run.Lang, Continue: tx.Run.AsIs,
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
		"agent": result.Agent, "model": result.Model, "prompt": result.Prompt, "by": e.By, "class": e.Class,
		"score": e.Score, "risk": e.Risk,
		"questions": len(e.Questions), "ehrb": len(e.HighRisk), "usage": result.Usage,
	})
	if len(e.Questions) == 0 {
		return evaluated(tx)
	}
	asked := make([]string, len(e.Questions))
	for n, q := range e.Questions {
		asked[n] = q.Text + q.Key // exactly one of them is set
	}
	if tx.Turn.Rounds >= turn.MaxRounds {
		return planningFailed(tx, StillUnclear, pawl.Fail(pawl.CodeCannotPlan, "kernel.still_unclear",
			itoa(tx.Turn.Rounds), strings.Join(asked, " / ")))
	}
	if err := tx.apply(Unclear, e.Why); err != nil {
		return err
	}
	n := min(len(asked), maxQuestions)
	tx.Turn.Rounds++
	tx.Turn.Questions, tx.Turn.Put = asked[:n], e.Questions[:n]
	tx.touch(tx.Turn)
	tx.record(tx.Turn, AuditQuestionsAsked, audit.Info,
		map[string]any{"questions": tx.Turn.Questions, "round": tx.Turn.Rounds})
	return nil
}

// Decide takes the person's answers to the open questions: those of the intake where that waits for some, and otherwise
// those of agents at work.
func (c *AnswerQuestions) Decide(tx *Tx) error {
	if c.Question != "" || tx.Turn == nil || tx.Run == nil || tx.Turn.State != string(turn.Clarifying) ||
		tx.Turn.Return == string(turn.Executing) {
		return giveAnswers(tx, c)
	}
	return intakeAnswered(tx, c)
}

// intakeAnswered takes the person's answers to the questions of an intake. None at all means: go on with what there is.
func intakeAnswered(tx *Tx, c *AnswerQuestions) error {
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

// evaluated decides the complexity of a requirement that is clear, and asks the person to confirm it where one is
// there.
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

// askStage asks the person to confirm what a stage has found.
func askStage(tx *Tx, stage workflow.Stage, detail string) {
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "pawl stage 1\n%s\n%s\n%s\n%s", tx.Run.ID, stage, tx.Run.Requirement, detail)
	if tx.Run.Evaluation != nil {
		sum.Write(encode(tx.Run.Evaluation))
	}
	tx.Run.Stage = stage
	tx.touch(tx.Run)
	askFor(tx, AboutStage, tx.Run.ID, hex.EncodeToString(sum.Sum(nil)), policy.SingleAction, detail)
}

// Decide takes the answer to the question of a stage.
func (c *Choose) Decide(tx *Tx) error {
	a, err := pendingApproval(tx, c.Hash)
	if err != nil {
		return err
	}
	if a.About != AboutStage {
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

// buildContext asks for the facts that planning needs.
func buildContext(tx *Tx) {
	spec := effect.ContextSpec{Requirement: tx.Run.Requirement, Answers: tx.Run.Answers, Feedback: tx.Run.Feedback}
	if traits(tx).Reads && len(tx.Run.Given) == 0 {
		spec.Tokens = tx.Config.PackTokens
	}
	if tx.Issue != nil && tx.Issue.Number > 0 {
		spec.Branch = tx.Issue.Branch
	}
	tx.emit(effect.KindContext, spec, true)
}

// contextBuilt goes on to planning with the facts about the workspace.
func contextBuilt(tx *Tx, r effect.Receipt) error {
	facts, err := effect.Decode[effect.ContextResult](r.Result)
	if err != nil || !r.OK {
		return planningFailed(tx, ContextFailed, firstError(r.Err(), err))
	}
	tx.Run.Context = &facts
	tx.touch(tx.Run)
	if facts.Pack != nil {
		tx.record(tx.Run, AuditContextBuilt, audit.Info, facts.Pack.Note())
	}
	return analyzed(tx)
}

// analyzed goes on to the design, once the person has seen what the analysis found, where the mode waits for that
// (docs/spec/workflow.md#c6).
func analyzed(tx *Tx) error {
	waits := tx.Run.Confirm && tx.Flow.Stage == workflow.Analyze && tx.Flow.Vars.Waits() &&
		!slices.Contains(tx.Config.AutoContinue, workflow.Analyze)
	if waits {
		c := tx.Run.Context
		askStage(tx, workflow.Analyze, fmt.Sprintf("%d %d %s", c.Files, len(c.Checks), strings.Join(c.Ecosystems, ",")))
		return nil
	}
	return tx.apply(ContextReady, "context built")
}

// makePlan has the plan made, now that the facts about the workspace are there.
func makePlan(tx *Tx) error {
	if tx.Solution != nil {
		return packaged(tx)
	}
	tx.emit(effect.KindPlan, effect.PlanSpec{
		Agent: tx.Run.Agent, Answers: tx.Run.Answers, Requirement: tx.Run.Requirement, Feedback: tx.Run.Feedback,
		File: tx.Run.GivenName, Given: tx.Run.Given,
		Context: *tx.Run.Context,
	}, true)
	return nil
}

// packaged judges the plan of a package that ~exec carries out, as if it had been made just now.
func packaged(tx *Tx) error {
	p := tx.Solution.Plan
	verdicts, err := judgePlan(tx, &p)
	if err == nil {
		err = checkable(tx, p)
	}
	if err != nil {
		return planningFailed(tx, PlanFailed, err)
	}
	tx.Solution.Plan, tx.Solution.Verdicts, tx.Solution.Checks = p, verdicts, effect.SelectChecks(p.Verification,
		tx.Run.Context.Checks)
	tx.Solution.Risk, tx.Solution.Hash = p.RiskLevel, plan.Hash(p)
	tx.touch(tx.Solution)
	return draft(tx, PackageReady)
}

// planMade checks and judges what the agent proposed and asks the person.
func planMade(tx *Tx, r effect.Receipt) error {
	if !r.OK {
		return planningFailed(tx, PlanFailed, r.Err())
	}
	result, err := effect.Decode[effect.PlanResult](r.Result)
	if err != nil {
		return planningFailed(tx, PlanFailed, err)
	}
	if result.Plan == nil {
		return planningFailed(tx, PlanFailed,
			pawl.Fail(pawl.CodeCannotPlan, "kernel.plan_missing", strings.Join(result.Questions, " / ")))
	}
	p := *result.Plan
	if p.PlanID == "" {
		p.PlanID = tx.newID()
	}
	if p.CreatedAt.IsZero() {
		p.CreatedAt = plan.Instant{Time: tx.now.UTC()}
	}
	verdicts, err := judgePlan(tx, &p)
	if err == nil {
		err = checkable(tx, p)
	}
	if err != nil {
		return planningFailed(tx, PlanFailed, err)
	}
	return propose(tx, p, verdicts, result.Agent)
}

// planningFailed ends the run without having changed anything (docs/spec/session.md#a7).
func planningFailed(tx *Tx, what Event, err error) error {
	kept := info(err)
	tx.Session.LastError = &kept
	tx.Issue.Error = &kept
	tx.Issue.Failures++
	tx.Turn.Outcome = string(turn.OutcomeFailed)
	endRun(tx, "failed")
	return tx.apply(what, kept.Key)
}

// packageDesigned names the package of a plan. A tweak has none; one whose plan is too large or too dangerous for a
// tweak goes on as a light iteration.
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

// propose keeps the plan as a solution with its draft task and asks for approval, bound to the plan's hash.
func propose(tx *Tx, p plan.Plan, verdicts []Judged, agent string) error {
	hash := plan.Hash(p)
	tx.Solution = &Solution{
		Plan: p, Hash: hash, Agent: agent, Verdicts: verdicts, Risk: p.RiskLevel,
		Checks:   effect.SelectChecks(p.Verification, tx.Run.Context.Checks),
		HighRisk: triage.DetectPlan(p),
	}
	if err := packageDesigned(tx, &p); err != nil {
		return err
	}
	tx.Issue.Solutions++
	tx.create(tx.Solution, KindSolution, fmt.Sprintf("SOL-%s-%d", tx.Issue.Label, tx.Issue.Solutions), tx.Issue.ID,
		SolutionOpen)
	if tx.Solution.Package != "" {
		tx.create(&Alias{Issue: tx.Issue.ID}, KindAlias, PackageAlias+tx.Solution.Package, tx.Solution.ID, "")
	}
	if err := enqueue(tx, &p); err != nil {
		return err
	}
	tx.Issue.Solution, tx.Issue.PlannedAt = tx.Solution.ID, tx.now
	return draft(tx, PlanExists)
}

// draft makes the task of the solution and asks for approval, bound to the plan's hash.
func draft(tx *Tx, what Event) error {
	p, hash := tx.Solution.Plan, tx.Solution.Hash
	tx.Session.Tasks++
	tx.Task = &Task{
		Title: p.Goal, By: tx.env.Actor, Mode: DefaultMode, Number: tx.Session.Tasks, Session: tx.Session.ID,
		Place: tx.Run.Place,
		Base:  tx.Run.Context.Head, Branch: tx.Run.Context.Branch, Plan: &p, PlanHash: hash, Checks: tx.Solution.Checks,
		Pinned: tx.Run.Context.Definitions, Gates: tx.Config.Gates, Turn: tx.Turn.ID, Turns: 1,
	}
	tx.create(tx.Task, KindTask, tx.Session.label("T-%03d", "T", tx.Session.Tasks), tx.Run.ID,
		string(task.Table.Initial()))
	tx.Task.Baseline = tx.Session.Known.Of(tx.Run.Context.Tree)
	if !tx.Task.Place.InPlace {
		tx.Task.Place.Tree = worktree(tx.Task.Place.Workspace, tx.Task.ID)
	}
	tx.record(tx.Task, AuditTaskCreated, audit.Info, map[string]any{"title": p.Goal, "plan_hash": hash})
	tx.Run.Item, tx.Run.Solution, tx.Run.Task = tx.Item.ID, tx.Solution.ID, tx.Task.ID
	tx.touch(tx.Run)
	tx.touch(tx.Issue)
	askFor(tx, "plan", tx.Run.ID, hash, policy.Session, p.Goal)
	if err := tx.apply(what, "plan "+short(hash)); err != nil {
		return err
	}
	if tx.Flow.Mode == workflow.AutoPlan {
		return keepPackage(tx)
	}
	if by := autoApproval(tx); by != "" {
		return grantPlan(tx, by, "approved by "+string(by))
	}
	return nil
}

// enqueue puts the solution into the queue. An issue of the board keeps its place in it for every further solution.
func enqueue(tx *Tx, p *plan.Plan) error {
	label, parent := tx.Run.Label+":S-1", tx.Run.ID
	if tx.Issue.Number > 0 {
		label, parent = fmt.Sprintf("S-%d", tx.Issue.Number), tx.Issue.Parent
		tx.Issue.Files = namedFiles(tx, p)
	}
	if tx.Item == nil {
		tx.Item = &Item{Issue: tx.Issue.ID}
		tx.create(tx.Item, KindItem, label, parent, string(board.Item.Initial()))
		tx.Issue.Item = tx.Item.ID
	} else if tx.Item.State == string(board.ItemFailed) {
		if err := tx.move(tx.Item, string(board.Retry), "", "planned anew", nil); err != nil {
			return err
		}
	}
	tx.Item.Solution = tx.Solution.ID
	tx.touch(tx.Item)
	return nil
}

// worktree names the folder of a task's worktree.
func worktree(workspace, id string) string { return workspace + "/.pawl/worktrees/" + id }

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

// asks reports whether the policy wants a word for something in the plan.
func asks(tx *Tx) bool {
	return slices.ContainsFunc(tx.Solution.Verdicts, func(j Judged) bool { return j.Verdict.Decision == policy.Ask })
}

// autoApproval names the policy in whose name the plan may be approved without a person, or "".
func autoApproval(tx *Tx) pawl.Actor {
	if tx.Solution.outward() {
		tx.record(tx.Task, AuditAutoApprovalRefused, audit.Warn,
			map[string]any{"checkpoint": "open_plan", "by": tx.Run.AutoApprove, "risk": tx.Solution.Risk})
		return ""
	}
	if tx.Run.AutoApprove != "" {
		return tx.Run.AutoApprove
	}
	if tx.Flow.Mode == workflow.AutoFull && !asks(tx) && !tx.Solution.perilous() {
		return autoFull
	}
	if tx.Session.RunMode == pawl.Autonomous {
		// An unattended run asks nobody. What the policy wants a word for waits for a person all the same
		// (docs/spec/task.md#d7).
		if !asks(tx) && !tx.Solution.perilous() {
			return pawl.By(pawl.KindPolicy, "run_mode/autonomous")
		}
		tx.record(tx.Task, AuditAutonomousBlocked, audit.Warn,
			map[string]any{"checkpoint": "open_plan", "risk": tx.Solution.Risk})
	}
	m, err := tx.Config.modeOf(tx.Task.Mode)
	if err != nil {
		return ""
	}
	if v := ask(func() Verdict {
		return m.CanAutoApprove(modeTask(tx, tx.Task),
			"open_plan")
	}); v.Decision == Approved {
		return pawl.By(pawl.KindPolicy, "mode/"+tx.Task.ModeName())
	}
	return ""
}

// Decide sends the plan back to planning: the decline and the new requirement in one transaction
// (docs/spec/session.md#a6).
func (c *Revise) Decide(tx *Tx) error {
	if tx.Session == nil || tx.Session.State != string(session.Confirming) || tx.Run == nil || tx.Approval == nil {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_revise", stateName(tx))
	}
	last := *tx.Run
	next := &Start{
		Requirement: last.Requirement, Given: last.Given, Name: last.GivenName, Place: last.Place,
		RunMode: tx.Session.RunMode, AutoApprove: "", Agent: last.Agent,
		Command: last.Command, Lang: last.Lang, AsIs: true,
	}
	if len(c.Given) > 0 {
		next.Given, next.Name = c.Given, c.Name
	}
	feedback := slices.Clone(last.Feedback)
	if c.Feedback != "" {
		feedback = append(feedback, c.Feedback)
	}
	if err := declinePlan(tx, c.Feedback, "revised"); err != nil {
		return err
	}
	return takeUp(tx, next, feedback)
}
