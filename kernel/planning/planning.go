// Package planning goes from a requirement to a plan that is approved.
package planning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
	"pawl/text/criteria"
	"pawl/text/knowledge"
	"pawl/text/plan"
	"pawl/text/policy"
	"pawl/text/triage"
)

// Decide makes the session and the flow of a workspace. Done twice it changes nothing.
func (c *Init) Decide(tx *kernel.Tx) error {
	if tx.Session != nil {
		tx.Result = tx.Session.ID
		return nil
	}
	openSession(tx, kernel.SessionLabel, "", c.Place)
	tx.Session.Home = c.Place.Workspace
	tx.Result = tx.Session.ID
	return nil
}

// openSession makes a session with its flow.
func openSession(tx *kernel.Tx, label, parent string, place effect.Place) {
	tx.Session = &kernel.Session{Name: label, Place: place, RunMode: pawl.Assisted}
	tx.Session.Settle()
	tx.Create(tx.Session, kernel.KindSession, label, parent, string(session.Table.Initial()))
	tx.Flow = &kernel.Flow{Vars: workflow.Initial()}
	tx.Create(tx.Flow, kernel.KindFlow, label, tx.Session.ID, string(workflow.Stages.Initial()))
	tx.Record(tx.Session, kernel.AuditSessionCreated, audit.Info,
		map[string]any{"workspace": place.Workspace, "git": place.Git})
}

// Decide takes note of where the workspace is now.
func (c *Relocate) Decide(tx *kernel.Tx) error {
	s := tx.Session
	if s == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	if s.Home == c.To {
		return nil
	}
	s.Home = c.To
	tx.Touch(s)
	tx.Record(s, kernel.AuditWorkspaceMoved, audit.Info, map[string]any{"from": c.From, "to": c.To})
	return nil
}

// openFor makes the session of an issue of the board, when its first run is taken up.
func openFor(tx *kernel.Tx, c *Start) error {
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
		if c.Reviewer == c.Agent { // nobody was named to review
			c.Reviewer = i.Agent
		}
		c.Agent, c.Planner = i.Agent, ""
	}
	return nil
}

// label makes a display id: RUN-1 in the session of the person, RUN-7.1 in that of the seventh issue.
func labelIn(s *kernel.Session, plain string, letter string, n int64) string {
	if s.Number > 0 {
		return fmt.Sprintf("%s-%d.%d", letter, s.Number, n)
	}
	return fmt.Sprintf(plain, n)
}

// ownLabel makes the label of the issue of the session's newest run, behind those that are taken: a backlog that was
// imported may have brought issues with labels of the same form.
func ownLabel(tx *kernel.Tx) string {
	base := fmt.Sprintf("ISS-%s-%03d", tx.Now.UTC().Format("20060102"), tx.Session.Runs)
	label := base
	for n := 2; kernel.IsTaken(tx, kernel.KindIssue, "", label); n++ {
		label = fmt.Sprintf("%s-%d", base, n)
	}
	return label
}

// Decide takes up a requirement: the run with its issue and its planning turn, and the first effect.
func (c *Start) Decide(tx *kernel.Tx) error {
	if c.Issue != "" {
		c = kernel.Clone(c)
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
	if tx.Taking != nil && tx.Taking.State != kernel.SolutionDraft && (c.Written == nil || !tx.Taking.Over()) {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.package_used", tx.Taking.Package)
	}
	if strings.TrimSpace(c.Requirement) == "" && len(c.Given) == 0 {
		return pawl.Fail(pawl.CodeInvalid, "kernel.requirement_empty")
	}
	return takeUp(tx, c, nil)
}

func takeUp(tx *kernel.Tx, c *Start, feedback []string) error {
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
	tx.Run = &kernel.Run{
		Number: s.Runs, Requirement: c.Requirement, Given: c.Given, GivenName: c.Name, Place: place,
		Phase: string(board.Phase.Initial()), Flow: tx.Flow.ID, Feedback: feedback, AutoApprove: c.AutoApprove,
		StartedAt: tx.Now,
		Command:   c.Command, Lang: c.Lang, Confirm: c.Confirm, AsIs: c.AsIs, Agent: c.Agent, Package: c.Package,
		Planner: c.Planner, Reviewer: c.Reviewer,
		Written: c.Written, Restart: c.Restart,
	}
	tx.Create(tx.Run, kernel.KindRun, labelIn(s, "RUN-%d", "RUN", s.Runs), s.ID, string(board.Run.Initial()))
	switch {
	case keptPlan(tx, c):
		tx.Solution = tx.Taking
		tx.Solution.State, tx.Solution.Theirs = kernel.SolutionOpen, c.Written != nil
		if err := rewritten(tx, c); err != nil {
			return err
		}
		tx.Touch(tx.Solution)
		tx.Run.Item, tx.Run.Solution, tx.Run.Package = tx.Item.ID, tx.Taking.ID, tx.Taking.Package
	case s.Number == 0:
		tx.Item = nil
		tx.Issue = &kernel.Issue{Title: kernel.FirstLine(c.Requirement), Feedback: feedback}
		tx.Create(tx.Issue, kernel.KindIssue, ownLabel(tx), tx.Run.ID, string(board.Issue.Initial()))
	default:
		tx.Run.Item, tx.Run.Feedback = tx.Issue.Item, tx.Issue.Feedback
		tx.Issue.Error, tx.Issue.Bound, tx.Issue.Solution, tx.Issue.Came = nil, false, "", nil
		tx.Touch(tx.Issue)
	}
	tx.Run.Issue = tx.Issue.ID
	kernel.NewTurn(tx, tx.Run.ID)
	tx.Run.Turn = tx.Turn.ID
	s.Run, s.Approval = tx.Run.ID, ""
	tx.Touch(s)
	tx.Record(tx.Run, kernel.AuditRunCreated, audit.Info,
		map[string]any{"requirement": c.Requirement, "plan_file": c.Name,
			"run_mode": c.RunMode, "command": c.Command})
	tx.Result = tx.Run.ID
	return beginRun(tx, c)
}

// keptPlan reports whether the plan of a package is there from before and waits to be carried out. One that was at work
// once is planned anew from its documents.
func keptPlan(tx *kernel.Tx, c *Start) bool {
	return c.Package != "" && tx.Taking != nil && tx.Taking.State == kernel.SolutionDraft && tx.Issue != nil &&
		tx.Issue.State == string(board.IssuePlanned)
}

// rewritten takes the plan from the documents of a package that a person changed after it was made. It is another plan,
// with a hash of its own, and is judged and approved as one.
func rewritten(tx *kernel.Tx, c *Start) error {
	if c.Written == nil {
		return nil
	}
	p, _, err := plan.Decode(c.Name, c.Given)
	if err != nil {
		return err
	}
	old := tx.Solution.Plan
	p.PlanID, p.CreatedAt = old.PlanID, old.CreatedAt
	tx.Solution.Plan, tx.Solution.HighRisk = p, triage.DetectPlan(p)
	return nil
}

// Read reads what a requirement is taken up with: the issue of the board, or the package that is to be carried out.
func (c *Start) Read(r *kernel.Reads, s *kernel.Snapshot) error {
	issue := c.Issue
	if c.Package != "" {
		alias := kernel.One[kernel.Alias](r, kernel.ByLabel(kernel.KindAlias, kernel.PackageAlias+c.Package))
		if alias == nil {
			return nil
		}
		s.Taking, issue = kernel.One[kernel.Solution](r, kernel.ByID(kernel.KindSolution, alias.Parent)), alias.Issue
	}
	if s.Issue = kernel.One[kernel.Issue](r, kernel.ByID(kernel.KindIssue, issue)); s.Issue != nil {
		s.Item = kernel.One[kernel.Item](r, kernel.ByID(kernel.KindItem, s.Issue.Item))
	}
	return nil
}

// judgedFirst reports whether the requirement is evaluated: by every agent for a ~command, where somebody confirms the
// stages and where it is of extremely high risk, and otherwise by those that judge for themselves. A plan that is given
// has answered what would be asked.
func judgedFirst(tx *kernel.Tx, c *Start) bool {
	t := kernel.PlannerTraits(tx)
	return t.Intakes && len(c.Given) == 0 &&
		(c.Command != "" || c.Confirm || t.Judges || triage.Asks(triage.Weigh(c.Requirement)))
}

// beginRun makes the first moves of a run, and asks for its first effect.
func beginRun(tx *kernel.Tx, c *Start) error {
	why := kernel.FirstLine(tx.Run.Requirement)
	switch {
	case tx.Solution != nil:
		if err := tx.Apply(kernel.PackageTaken, why); err != nil {
			return err
		}
		decideKnowledge(tx, knowledge.AtExec)
	case c.Package != "" && len(c.Given) == 0:
		return pawl.Fail(pawl.CodeNotFound, "kernel.package_unknown", c.Package)
	case judgedFirst(tx, c):
		return tx.Apply(kernel.Received, why)
	default:
		if err := tx.Apply(kernel.TakenUp, why); err != nil {
			return err
		}
		reason := "not evaluated"
		if len(c.Given) > 0 {
			reason = "a plan is given"
		}
		if err := sizeFlow(tx, workflow.PathLight, reason); err != nil {
			return err
		}
		if tx.Flow.Stage == workflow.Develop {
			decideKnowledge(tx, knowledge.AtExec)
		}
		tx.Then(kernel.ThenContext)
	}
	return nil
}

// BuildContext asks for the facts that planning needs.
func BuildContext(tx *kernel.Tx) error {
	spec := effect.ContextSpec{Requirement: tx.Run.Requirement, Answers: tx.Run.Answers, Feedback: tx.Run.Feedback}
	if (kernel.TraitsOf(tx).Reads || kernel.PlannerTraits(tx).Reads) && len(tx.Run.Given) == 0 {
		spec.Tokens = tx.Config.PackTokens
	}
	if tx.Issue != nil && tx.Issue.Number > 0 {
		spec.Branch = tx.Issue.Branch
	}
	tx.Emit(effect.KindContext, spec, true)
	return nil
}

// ContextBuilt goes on to planning with the facts about the workspace.
func ContextBuilt(tx *kernel.Tx, r effect.Receipt) error {
	facts, err := effect.Decode[effect.ContextResult](r.Result)
	if err != nil || !r.OK {
		return planningFailed(tx, kernel.ContextFailed, kernel.FirstError(r.Err(), err))
	}
	tx.Run.Context = &facts
	tx.Touch(tx.Run)
	if facts.Pack != nil {
		tx.Record(tx.Run, kernel.AuditContextBuilt, audit.Info, facts.Pack.Note())
	}
	return analyzed(tx)
}

// analyzed goes on to the design, once the person has seen what the analysis found, where the mode waits for that
// (docs/spec/workflow.md#c6).
func analyzed(tx *kernel.Tx) error {
	waits := tx.Run.Confirm && tx.Flow.Stage == workflow.Analyze && tx.Flow.Vars.Waits() &&
		!slices.Contains(tx.Config.AutoContinue, workflow.Analyze)
	if waits {
		c := tx.Run.Context
		askStage(tx, workflow.Analyze, fmt.Sprintf("%d %d %s", c.Files, len(c.Checks), strings.Join(c.Ecosystems, ",")))
		return nil
	}
	return tx.Apply(kernel.ContextReady, "context built")
}

// MakePlan has the plan made, now that the facts about the workspace are there.
func MakePlan(tx *kernel.Tx) error {
	if tx.Solution != nil {
		return packaged(tx)
	}
	tx.Emit(effect.KindPlan, effect.PlanSpec{
		Agent: tx.Run.Plans(), Answers: tx.Run.Answers, Requirement: tx.Run.Requirement, Feedback: tx.Run.Feedback,
		File: tx.Run.GivenName, Given: tx.Run.Given,
		Context: *tx.Run.Context,
	}, true)
	return nil
}

// packaged judges the plan of a package that ~exec carries out, as if it had been made just now.
func packaged(tx *kernel.Tx) error {
	p := tx.Solution.Plan
	verdicts, err := judgePlan(tx, &p)
	if err == nil {
		err = cmp.Or(doable(tx, p), checkable(tx, p))
	}
	if err != nil {
		return planningFailed(tx, kernel.PlanFailed, err)
	}
	tx.Solution.Plan, tx.Solution.Verdicts, tx.Solution.Checks = p, verdicts, effect.SelectChecks(p.Verification,
		tx.Run.Context.Checks)
	tx.Solution.Risk, tx.Solution.Hash = p.RiskLevel, plan.Hash(p)
	tx.Touch(tx.Solution)
	return draft(tx, kernel.PackageReady)
}

// PlanMade checks and judges what the agent proposed and asks the person.
func PlanMade(tx *kernel.Tx, r effect.Receipt) error {
	if !r.OK {
		return planningFailed(tx, kernel.PlanFailed, r.Err())
	}
	result, err := effect.Decode[effect.PlanResult](r.Result)
	if err != nil {
		return planningFailed(tx, kernel.PlanFailed, err)
	}
	if result.Plan == nil {
		return planningFailed(tx, kernel.PlanFailed,
			pawl.Fail(pawl.CodeCannotPlan, "kernel.plan_missing", strings.Join(result.Questions, " / ")))
	}
	p := *result.Plan
	if p.PlanID == "" {
		p.PlanID = tx.NewID()
	}
	if p.CreatedAt.IsZero() {
		p.CreatedAt = plan.Instant{Time: tx.Now.UTC()}
	}
	said := p.RiskLevel
	if tx.Config.Proofs && len(p.Criteria) == 0 && len(tx.Run.Given) == 0 {
		p.Criteria = criteria.Of(tx.Run.Requirement)
	}
	verdicts, err := judgePlan(tx, &p)
	if err == nil {
		err = cmp.Or(doable(tx, p), checkable(tx, p))
	}
	if err != nil {
		return planningFailed(tx, kernel.PlanFailed, err)
	}
	return propose(tx, p, verdicts, result.Agent, said)
}

// stated is the risk that a plan says it has, where that is not the one that pawl finds.
func stated(said, found pawl.Risk) pawl.Risk {
	if said == found {
		return ""
	}
	return said
}

// planningFailed ends the run without having changed anything (docs/spec/session.md#a7).
func planningFailed(tx *kernel.Tx, what kernel.Event, err error) error {
	kept := kernel.Info(err)
	if what == kernel.PlanFailed && kept.Code == pawl.CodeTimeout {
		what = kernel.PlanTimedOut
	}
	tx.Session.LastError = &kept
	tx.Issue.Failed("plan", kept, tx.Now)
	tx.Issue.Failures++
	if e := tx.Effect; e != nil && e.Receipt != nil && e.Receipt.Refused {
		tx.Issue.Failures = board.MaxPlanFailures
	}
	tx.Turn.Outcome = string(turn.OutcomeFailed)
	kernel.EndRun(tx, "failed")
	return tx.Apply(what, kept.Key)
}

// packageDesigned names the package of a plan. A tweak has none; one whose plan is too large or too dangerous for a
// tweak goes on as a light iteration.
func packageDesigned(tx *kernel.Tx, p *plan.Plan) error {
	if tx.Flow.Stage == workflow.Tweak {
		files := namedFiles(tx, p)
		changed := make([]triage.Changed, len(files))
		for n, f := range files {
			changed[n].Path = f
		}
		if !outgrows(tx, changed) {
			return nil
		}
		if err := tx.Apply(kernel.Outgrew, "the plan"); err != nil {
			return err
		}
		decideKnowledge(tx, knowledge.AtAnalyze)
	}
	return packSolution(tx, p)
}

// propose keeps the plan as a solution with its draft task and asks for approval, bound to the plan's hash.
func propose(tx *kernel.Tx, p plan.Plan, verdicts []kernel.Judged, agent string, said pawl.Risk) error {
	hash := plan.Hash(p)
	tx.Solution = &kernel.Solution{
		Plan: p, Hash: hash, Agent: agent, Verdicts: verdicts, Risk: p.RiskLevel, Stated: stated(said, p.RiskLevel),
		Checks:   effect.SelectChecks(p.Verification, tx.Run.Context.Checks),
		HighRisk: triage.DetectPlan(p), Lang: tx.Run.Lang,
	}
	if err := packageDesigned(tx, &p); err != nil {
		return err
	}
	tx.Issue.Solutions++
	tx.Create(tx.Solution, kernel.KindSolution, fmt.Sprintf("SOL-%s-%d", tx.Issue.Label, tx.Issue.Solutions),
		tx.Issue.ID,
		kernel.SolutionOpen)
	nameSolution(tx)
	if err := enqueue(tx, &p); err != nil {
		return err
	}
	tx.Issue.Solution, tx.Issue.PlannedAt = tx.Solution.ID, tx.Now
	return draft(tx, kernel.PlanExists)
}

// nameSolution makes the package's name known. One that a person wrote may have been carried out before, and be there
// again.
func nameSolution(tx *kernel.Tx) {
	name := tx.Solution.Package
	if name == "" {
		return
	}
	tx.Solution.Theirs = tx.Run.Written != nil
	if known := kernel.PackageNamed(tx, name); known != nil {
		known.Issue, known.Parent = tx.Issue.ID, tx.Solution.ID
		tx.Touch(known)
		return
	}
	tx.Create(&kernel.Alias{Issue: tx.Issue.ID}, kernel.KindAlias, kernel.PackageAlias+name, tx.Solution.ID, "")
}

// draft makes the task of the solution and asks for approval, bound to the plan's hash.
func draft(tx *kernel.Tx, what kernel.Event) error {
	p, hash := tx.Solution.Plan, tx.Solution.Hash
	tx.Session.Tasks++
	tx.Task = &kernel.Task{
		Title: p.Goal, By: tx.Env.Actor, Mode: kernel.DefaultMode, Number: tx.Session.Tasks, Session: tx.Session.ID,
		Place: tx.Run.Place,
		Base:  tx.Run.Context.Head, Branch: tx.Run.Context.Branch, Plan: &p, PlanHash: hash, Checks: tx.Solution.Checks,
		Pinned: tx.Run.Context.Definitions, Gates: tx.Config.Gates, Turn: tx.Turn.ID, Turns: 1,
	}
	tx.Create(tx.Task, kernel.KindTask, labelIn(tx.Session, "T-%03d", "T", tx.Session.Tasks), tx.Run.ID,
		string(task.Table.Initial()))
	tx.Task.Baseline = tx.Session.Known.Of(tx.Run.Context.Tree)
	if !tx.Task.Place.InPlace {
		tx.Task.Place.Tree = tx.Task.Place.Own("worktrees", tx.Task.ID)
	}
	tx.Record(tx.Task, kernel.AuditTaskCreated, audit.Info, map[string]any{"title": p.Goal, "plan_hash": hash})
	if tx.Run.Restart != "" {
		tx.Task.Restart = tx.Run.Restart
		tx.Record(tx.Task, kernel.AuditTaskRestarted, audit.Info, map[string]any{"restart_source": tx.Run.Restart})
	}
	tx.Run.Item, tx.Run.Solution, tx.Run.Task = tx.Item.ID, tx.Solution.ID, tx.Task.ID
	tx.Touch(tx.Run)
	tx.Touch(tx.Issue)
	kernel.AskFor(tx, "plan", tx.Run.ID, hash, policy.Session, p.Goal)
	if err := tx.Apply(what, "plan "+kernel.Short(hash)); err != nil {
		return err
	}
	if tx.Flow.Mode == workflow.AutoPlan {
		return keepPackage(tx)
	}
	if by := autoApproval(tx); by != "" {
		kernel.AnswerApproval(tx, tx.Approval, kernel.ApprovalGranted, by, "")
		return grantPlan(tx, by, "approved by "+string(by))
	}
	return nil
}

// enqueue puts the solution into the queue. An issue of the board keeps its place in it for every further solution.
func enqueue(tx *kernel.Tx, p *plan.Plan) error {
	label, parent := tx.Run.Label+":S-1", tx.Run.ID
	if tx.Issue.Number > 0 {
		label, parent = fmt.Sprintf("S-%d", tx.Issue.Number), tx.Issue.Parent
		tx.Issue.Files = namedFiles(tx, p)
	}
	if tx.Item == nil {
		tx.Item = &kernel.Item{Issue: tx.Issue.ID}
		tx.Create(tx.Item, kernel.KindItem, label, parent, string(board.Item.Initial()))
		tx.Issue.Item = tx.Item.ID
	} else if tx.Item.State == string(board.ItemFailed) {
		if err := tx.Move(tx.Item, string(board.Retry), "", "planned anew", nil); err != nil {
			return err
		}
	}
	tx.Item.Solution = tx.Solution.ID
	tx.Touch(tx.Item)
	return nil
}

// keepPackage ends a flow of AUTO_PLAN with its design: the package waits for ~exec (docs/spec/workflow.md#c7).
func keepPackage(tx *kernel.Tx) error {
	kernel.AnswerApproval(tx, tx.Approval, kernel.ApprovalStale, tx.Env.Actor, "kept for ~exec")
	tx.Turn.Outcome = string(turn.OutcomeDone)
	tx.Task.Cleanup = kernel.NothingToClean()
	tx.Task.Reason = "planned only"
	tx.Voice = autoPlan
	defer func() { tx.Voice = "" }()
	if err := tx.Apply(kernel.PlanKept, "the package is kept"); err != nil {
		return err
	}
	kernel.EndRun(tx, kernel.OutcomePlanned)
	return nil
}

// asks reports whether the policy wants a word for something in the plan.
func asks(tx *kernel.Tx) bool {
	return slices.ContainsFunc(tx.Solution.Verdicts,
		func(j kernel.Judged) bool { return j.Verdict.Decision == policy.Ask })
}

// autoApproval names the policy in whose name the plan may be approved without a person, or "". What is of extremely
// high risk or cannot be taken back nobody has said yes to who has not seen it, however the run was begun.
func autoApproval(tx *kernel.Tx) pawl.Actor {
	held := tx.Solution.OnlyPerson()
	if held {
		tx.Record(tx.Task, kernel.AuditAutoApprovalRefused, audit.Warn,
			map[string]any{"checkpoint": "open_plan", "by": tx.Run.AutoApprove, "risk": tx.Solution.Risk,
				"findings": tx.Solution.HighRisk})
	}
	switch {
	case held:
	case tx.Run.AutoApprove != "":
		return tx.Run.AutoApprove
	case tx.Flow.Mode == workflow.AutoFull && !asks(tx):
		return autoFull
	}
	m, err := tx.Config.ModeOf(tx.Task.Mode)
	if err != nil {
		return ""
	}
	v := kernel.Guarded(func() kernel.Verdict { return m.CanAutoApprove(kernel.ModeTaskOf(tx, tx.Task), "open_plan") })
	if tx.Session.RunMode == pawl.Autonomous {
		// An unattended run asks nobody. What the policy wants a word for waits for a person all the same
		// (docs/spec/task.md#d7).
		if !held && !asks(tx) {
			return pawl.By(pawl.KindPolicy, "run_mode/autonomous")
		}
		tx.Record(tx.Task, kernel.AuditAutonomousBlocked, audit.Warn,
			map[string]any{"checkpoint": "open_plan", "risk": tx.Solution.Risk, "mode": tx.Task.ModeName(),
				"mode_verdict": v.Decision, "mode_reason": v.Reason})
	}
	if !held && v.Decision == kernel.Approved {
		return pawl.By(pawl.KindPolicy, "mode/"+tx.Task.ModeName())
	}
	return ""
}

// Decide sends the plan back to planning: the decline and the new requirement in one transaction
// (docs/spec/session.md#a6).
func (c *Revise) Decide(tx *kernel.Tx) error {
	if tx.Session == nil || tx.Session.State != string(session.Confirming) || tx.Run == nil || tx.Approval == nil {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_revise", kernel.StateName(&tx.Snapshot))
	}
	last := *tx.Run
	next := &Start{
		Requirement: last.Requirement, Given: last.Given, Name: last.GivenName, Place: last.Place,
		RunMode: tx.Session.RunMode, AutoApprove: "", Agent: last.Agent, Planner: last.Planner, Reviewer: last.Reviewer,
		Command: last.Command, Lang: last.Lang, AsIs: true,
	}
	if len(c.Given) > 0 {
		next.Given, next.Name = c.Given, c.Name
	}
	feedback := slices.Clone(last.Feedback)
	if c.Feedback != "" {
		feedback = append(feedback, c.Feedback)
	}
	if err := kernel.DeclinePlan(tx, c.Feedback, "revised"); err != nil {
		return err
	}
	if err := takeUp(tx, next, feedback); err != nil {
		return err
	}
	tx.Run.RiskBy = last.RiskBy // what was said of the requirement holds for the plans that are made of it
	return nil
}

// Decide replaces the plan that waits for approval. The approval of the old one is void, because it was bound to the
// old hash.
func (c *EditPlan) Decide(tx *kernel.Tx) error {
	if tx.Session == nil || tx.Session.State != string(session.Confirming) || tx.Approval == nil ||
		tx.Approval.State != kernel.ApprovalPending {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_edit", kernel.StateName(&tx.Snapshot))
	}
	if c.Base != tx.Solution.Hash {
		return pawl.Fail(pawl.CodeConflict, "kernel.edit_stale", kernel.Short(c.Base), kernel.Short(tx.Solution.Hash))
	}
	p := c.Plan
	p.PlanID, p.CreatedAt = tx.Solution.Plan.PlanID, tx.Solution.Plan.CreatedAt
	verdicts, err := judgePlan(tx, &p)
	if err == nil {
		err = cmp.Or(doable(tx, p), checkable(tx, p))
	}
	if err != nil {
		return err
	}
	hash := plan.Hash(p)
	if hash == tx.Solution.Hash {
		tx.Result = hash
		return nil
	}
	kernel.AnswerApproval(tx, tx.Approval, kernel.ApprovalStale, tx.Env.Actor, "the plan was edited")
	s, t := tx.Solution, tx.Task
	s.Plan, s.Hash, s.Verdicts, s.Risk, s.Stated = p, hash, verdicts, p.RiskLevel, stated(c.Plan.RiskLevel, p.RiskLevel)
	s.Checks, s.HighRisk = effect.SelectChecks(p.Verification, tx.Run.Context.Checks), triage.DetectPlan(p)
	t.Plan, t.PlanHash, t.Checks, t.Title = &p, hash, s.Checks, p.Goal
	tx.Touch(s)
	tx.Touch(t)
	tx.Record(s, kernel.AuditPlanEdited, audit.Info, map[string]any{"from": c.Base, "to": hash})
	kernel.AskFor(tx, "plan", tx.Run.ID, hash, policy.Session, p.Goal)
	tx.Result = hash
	return nil
}

// judgePlan checks a plan and asks the policy about each of its calls. The plan's risk is the gravest of what it states
// and what the policy sees.
func judgePlan(tx *kernel.Tx, p *plan.Plan) ([]kernel.Judged, error) {
	if err := plan.Check(*p, tx.Config.Schema, tx.Config.Plan); err != nil {
		return nil, err
	}
	if _, err := tx.Config.Grants(p); err != nil {
		return nil, err
	}
	var out []kernel.Judged
	for _, s := range p.Steps {
		for i, c := range s.ToolCalls {
			v, err := kernel.JudgeCall(tx, c)
			if err == nil && len(p.Network) == 0 && tx.Config.Connects(c) {
				err = pawl.Fail(pawl.CodeInvalid, "kernel.network_unnamed", c.Name)
			}
			if err != nil {
				return nil, err
			}
			out = append(out, kernel.Judged{Step: s.StepID, Call: i, Tool: c.Name, Verdict: v})
		}
	}
	for i, f := range p.TestFiles() {
		v, err := kernel.JudgeCall(tx, f.Write())
		if err != nil {
			return nil, err
		}
		out = append(out, kernel.Judged{Step: effect.TestsStep, Call: i, Tool: f.Write().Name, Verdict: v})
	}
	for i, command := range p.Verification.Commands {
		v := policy.Judge(tx.Situate(policy.Request{Tool: "verify", Permissions: []policy.Permission{policy.ProcExec},
			Command: command}), tx.Config.Profile)
		if v.Decision == policy.Deny {
			return nil, v.Err()
		}
		out = append(out, kernel.Judged{Step: "verification", Call: i, Tool: "verify", Verdict: v})
	}
	verdicts := make([]policy.Verdict, len(out))
	for i, j := range out {
		verdicts[i] = j.Verdict
	}
	if r := policy.Risk(verdicts...); r.AtLeast(p.RiskLevel) {
		p.RiskLevel = r
	}
	return out, nil
}

// doable refuses a plan with a step that nobody can carry out: it names no calls, and the agent of the run does not
// work.
func doable(tx *kernel.Tx, p plan.Plan) error {
	for _, s := range p.Steps {
		if len(s.ToolCalls) == 0 && s.Status != plan.Skipped && !kernel.TraitsOf(tx).Works {
			return pawl.Fail(pawl.CodeCannotPlan, "kernel.nobody_does", s.StepID, kernel.FirstLine(s.Title))
		}
	}
	return nil
}

// checkable refuses a plan whose result could not be proven: it asks for checks and there is none, or the program of a
// build, of tests or of a command that the plan names is not installed. It is better said before the approval than
// after the work. Static checks whose program is missing are left out instead, where others remain.
func checkable(tx *kernel.Tx, p plan.Plan) error {
	checks := effect.SelectChecks(p.Verification, tx.Run.Context.Checks)
	if p.Verification.Demanding() && len(checks) == 0 {
		return pawl.Fail(pawl.CodeInvalid, "kernel.no_checks", string(p.Verification.Mode))
	}
	run, _ := effect.LeaveOut(checks, func(effect.Check) bool { return true })
	for _, c := range run {
		if c.Missing == "" || !p.Verification.Required {
			continue
		}
		if strings.ContainsRune(c.Missing, '/') {
			return pawl.Fail(pawl.CodeEnvironment, "kernel.check_package_missing", c.Missing, c.Name)
		}
		return pawl.Fail(pawl.CodeEnvironment, "kernel.check_program_missing", c.Missing, c.Name)
	}
	return nil
}
