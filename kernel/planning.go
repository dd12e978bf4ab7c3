package kernel

import (
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
	"pawl/text/plan"
	"pawl/text/policy"
	"pawl/text/triage"
)

// SessionLabel is the label of a workspace's one session, and of its one flow.
const SessionLabel = "main"

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
	tx.create(tx.Session, KindSession, label, parent, string(session.Table.Initial()))
	tx.Flow = &Flow{Vars: workflow.Initial()}
	tx.create(tx.Flow, KindFlow, label, tx.Session.ID, string(workflow.Stages.Initial()))
	tx.record(tx.Session, AuditSessionCreated, audit.Info, map[string]any{"workspace": place.Workspace, "git": place.Git})
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

// ownLabel makes the label of the issue of the session's newest run, behind those that are taken: a backlog that was imported
// may have brought issues with labels of the same form.
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
	s.AutoFix, s.Blocked, s.LastError, s.Paused, s.Rolling, s.Rolled = 0, nil, nil, false, false, ""
	tx.Task, tx.Solution, tx.Approval = nil, nil, nil
	tx.Run = &Run{
		Number: s.Runs, Requirement: c.Requirement, Given: c.Given, GivenName: c.Name, Place: place,
		Phase: string(board.Phase.Initial()), Flow: tx.Flow.ID, Feedback: feedback, AutoApprove: c.AutoApprove, StartedAt: tx.now,
		Command: c.Command, Lang: c.Lang, Confirm: c.Confirm, AsIs: c.AsIs, Agent: c.Agent, Package: c.Package,
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
	tx.record(tx.Run, AuditRunCreated, audit.Info, map[string]any{"requirement": c.Requirement, "plan_file": c.Name, "run_mode": c.RunMode, "command": c.Command})
	tx.result = tx.Run.ID
	return beginRun(tx, c)
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > 120 {
		return string(r[:119]) + "…"
	}
	return s
}

// newTurn makes the turn of an attempt; its parent is the task, or the run while there is no task.
func newTurn(tx *Tx, parent string) {
	tx.Turn = &Turn{Trace: tx.trace, Number: 1}
	if tx.Task != nil {
		tx.Task.Turns++
		tx.Turn.Number = tx.Task.Turns
	}
	tx.create(tx.Turn, KindTurn, "", parent, string(turn.Table.Initial()))
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

// makePlan has the plan made, now that the facts about the workspace are there.
func makePlan(tx *Tx) error {
	if tx.Solution != nil {
		return packaged(tx)
	}
	tx.emit(effect.KindPlan, effect.PlanSpec{
		Agent: tx.Run.Agent, Answers: tx.Run.Answers, Requirement: tx.Run.Requirement, Feedback: tx.Run.Feedback, File: tx.Run.GivenName, Given: tx.Run.Given,
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
	tx.Solution.Plan, tx.Solution.Verdicts, tx.Solution.Checks = p, verdicts, effect.SelectChecks(p.Verification, tx.Run.Context.Checks)
	tx.Solution.Risk, tx.Solution.Hash = p.RiskLevel, plan.Hash(p)
	tx.touch(tx.Solution)
	return draft(tx, PackageReady)
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return pawl.Fail(pawl.CodeInternal, "runner.driver_failed")
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
		return planningFailed(tx, PlanFailed, pawl.Fail(pawl.CodeCannotPlan, "kernel.plan_missing", strings.Join(result.Questions, " / ")))
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

// judgePlan checks a plan and asks the policy about each of its calls. The plan's risk is the gravest of what it states and
// what the policy sees.
func judgePlan(tx *Tx, p *plan.Plan) ([]Judged, error) {
	if err := plan.Check(*p, tx.Config.schema, tx.Config.Plan); err != nil {
		return nil, err
	}
	if _, err := tx.Config.grants(p); err != nil {
		return nil, err
	}
	var out []Judged
	for _, s := range p.Steps {
		for i, c := range s.ToolCalls {
			v, err := judgeCall(tx, c)
			if err == nil && len(p.Network) == 0 && tx.Config.connects(c) {
				err = pawl.Fail(pawl.CodeInvalid, "kernel.network_unnamed", c.Name)
			}
			if err != nil {
				return nil, err
			}
			out = append(out, Judged{Step: s.StepID, Call: i, Tool: c.Name, Verdict: v})
		}
	}
	for i, command := range p.Verification.Commands {
		v := policy.Judge(tx.Situate(policy.Request{Tool: "verify", Permissions: []policy.Permission{policy.ProcExec}, Command: command}), tx.Config.Profile)
		if v.Decision == policy.Deny {
			return nil, v.Err()
		}
		out = append(out, Judged{Step: "verification", Call: i, Tool: "verify", Verdict: v})
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

// checkable refuses a plan whose result could not be proven: it asks for checks and there is none, or the program of a build, of
// tests or of a command that the plan names is not installed. It is better said before the approval than after the work. Static
// checks whose program is missing are left out instead, where others remain.
func checkable(tx *Tx, p plan.Plan) error {
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

// judgeCall asks the policy about one call; a denied one is an error.
func judgeCall(tx *Tx, c plan.ToolCallTemplate) (policy.Verdict, error) {
	tool, ok := tx.Config.Tools[c.Name]
	if !ok {
		return policy.Verdict{}, pawl.Fail(pawl.CodeInvalid, "kernel.tool_unknown", c.Name)
	}
	request, err := tool.Request(c.ArgsHint)
	if err != nil {
		return policy.Verdict{}, err
	}
	v := policy.Judge(tx.Situate(request), tx.Config.Profile)
	if v.Decision == policy.Deny {
		return v, v.Err()
	}
	return v, nil
}

// Situate completes what a tool makes of a call with where it would be carried out: the workspace as commands will see it,
// what holds them there, and what was found of git's configuration when the work was taken up.
func (s *Snapshot) Situate(r policy.Request) policy.Request {
	var place effect.Place
	if s.Run != nil {
		place, r.Root = s.Run.Place, s.Run.Place.Workspace
		if s.Run.Context != nil {
			r.Repo = s.Run.Context.Repo
		}
	}
	if s.Task != nil && s.Task.Place.Tree != "" {
		place, r.Root = s.Task.Place, s.Task.Place.Tree
	}
	r.Ground = policy.Ground{Walled: s.Config.Walled, Own: place.Git && !place.InPlace}
	return r
}

// schema is the JSON Schema of a tool's arguments.
func (c *Config) schema(tool string) ([]byte, bool) {
	t, ok := c.Tools[tool]
	return t.Info.ArgsSchema, ok
}

// propose keeps the plan as a solution with its draft task and asks for approval, bound to the plan's hash.
func propose(tx *Tx, p plan.Plan, verdicts []Judged, agent string) error {
	hash := plan.Hash(p)
	tx.Solution = &Solution{
		Plan: p, Hash: hash, Agent: agent, Verdicts: verdicts, Risk: p.RiskLevel, Checks: effect.SelectChecks(p.Verification, tx.Run.Context.Checks),
		EHRB: triage.DetectPlan(p),
	}
	if err := packageDesigned(tx, &p); err != nil {
		return err
	}
	tx.Issue.Solutions++
	tx.create(tx.Solution, KindSolution, fmt.Sprintf("SOL-%s-%d", tx.Issue.Label, tx.Issue.Solutions), tx.Issue.ID, SolutionOpen)
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
		Title: p.Goal, By: tx.env.Actor, Mode: DefaultMode, Number: tx.Session.Tasks, Session: tx.Session.ID, Place: tx.Run.Place,
		Base: tx.Run.Context.Head, Branch: tx.Run.Context.Branch, Plan: &p, PlanHash: hash, Checks: tx.Solution.Checks,
		Pinned: tx.Run.Context.Definitions, Gates: tx.Config.Gates, Turn: tx.Turn.ID, Turns: 1,
	}
	tx.create(tx.Task, KindTask, tx.Session.label("T-%03d", "T", tx.Session.Tasks), tx.Run.ID, string(task.Table.Initial()))
	tx.Task.Baseline = tx.Session.known(tx.Run.Context.Tree)
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

func short(hash string) string { return hash[:min(12, len(hash))] }

// askFor makes the one open approval.
func askFor(tx *Tx, about, subject, hash string, scope policy.Scope, detail string) {
	tx.Approval = &Approval{About: about, Subject: subject, Hash: hash, Scope: scope, Detail: detail}
	tx.create(tx.Approval, KindApproval, "", subject, ApprovalPending)
	tx.Session.Approval = tx.Approval.ID
	tx.touch(tx.Session)
	tx.record(tx.Approval, AuditApprovalRequested, audit.Info, map[string]any{"about": about, "hash": hash, "scope": scope})
}

// autoApproval names the policy in whose name the plan may be approved without a person, or "".
func autoApproval(tx *Tx) pawl.Actor {
	if tx.Solution.outward() {
		tx.record(tx.Task, AuditAutoApprovalRefused, audit.Warn, map[string]any{"checkpoint": "open_plan", "by": tx.Run.AutoApprove, "risk": tx.Solution.Risk})
		return ""
	}
	if tx.Run.AutoApprove != "" {
		return tx.Run.AutoApprove
	}
	if tx.Flow.Mode == workflow.AutoFull && !asks(tx) && !tx.Solution.perilous() {
		return autoFull
	}
	if tx.Session.RunMode == pawl.Autonomous {
		// An unattended run asks nobody. What the policy wants a word for waits for a person all the same (docs/spec/task.md#d7).
		if !asks(tx) && !tx.Solution.perilous() {
			return pawl.By(pawl.KindPolicy, "run_mode/autonomous")
		}
		tx.record(tx.Task, AuditAutonomousBlocked, audit.Warn, map[string]any{"checkpoint": "open_plan", "risk": tx.Solution.Risk})
	}
	m, err := tx.Config.modeOf(tx.Task.Mode)
	if err != nil {
		return ""
	}
	if v := ask(func() Verdict { return m.CanAutoApprove(modeTask(tx, tx.Task), "open_plan") }); v.Decision == Approved {
		return pawl.By(pawl.KindPolicy, "mode/"+tx.Task.modeName())
	}
	return ""
}

// outward reports whether a plan has calls that only a person can say yes to, whatever was said before they were seen.
func (s *Solution) outward() bool {
	return slices.ContainsFunc(s.Verdicts, func(j Judged) bool { return j.Verdict.Person })
}

// perilous reports whether a plan would do something of extremely high risk that walls and undo do not hold: what a call that
// the policy allows deletes or ends is within the tree of the work.
func (s *Solution) perilous() bool {
	return slices.ContainsFunc(s.EHRB, func(p triage.Placed) bool {
		if p.Stance != triage.StanceAction {
			return false
		}
		return p.Kind != triage.RiskDataLoss && p.Kind != triage.RiskOutage || !slices.ContainsFunc(s.Verdicts, func(j Judged) bool {
			i, ok := s.Plan.Find(j.Step)
			return ok && j.Verdict.Decision == policy.Allow && p.Where == fmt.Sprintf("steps[%d].tool_calls[%d].args_hint.command", i, j.Call)
		})
	})
}

// asks reports whether the policy wants a word for something in the plan.
func asks(tx *Tx) bool {
	return slices.ContainsFunc(tx.Solution.Verdicts, func(j Judged) bool { return j.Verdict.Decision == policy.Ask })
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

// endRun closes the run's books; the moves are the caller's.
func endRun(tx *Tx, outcome string) {
	tx.Run.Outcome, tx.Run.EndedAt = outcome, tx.now
	packageUsed(tx)
	s := tx.Session
	s.Run, s.Approval, s.Paused, s.AutoFix, s.Rolling, s.Blocked = "", "", false, 0, false, nil
	tx.touch(tx.Run)
	tx.touch(s)
}

// grants looks up what the network grants of a plan stand for.
func (c *Config) grants(p *plan.Plan) ([]effect.Grant, error) {
	var out []effect.Grant
	for _, name := range p.Network {
		if c.Network == nil {
			return nil, pawl.Fail(pawl.CodeDenied, "kernel.no_network", name)
		}
		sites, err := c.Network(name)
		if err != nil {
			return nil, err
		}
		out = append(out, effect.Grant{Name: name, Sites: sites})
	}
	return out, nil
}

// connects reports whether a call asks for the network.
func (c *Config) connects(call plan.ToolCallTemplate) bool {
	tool, ok := c.Tools[call.Name]
	if !ok {
		return false
	}
	request, err := tool.Request(call.ArgsHint)
	return err == nil && request.Network
}

// callSites lists where a call may connect to: what the approved plan names, and only where the call asks for the network.
func callSites(tx *Tx, call plan.ToolCallTemplate) ([]effect.Site, error) {
	if !tx.Config.connects(call) {
		return nil, nil
	}
	var out []effect.Site
	for _, g := range tx.Task.Grants {
		out = append(out, g.Sites...)
	}
	if len(out) == 0 {
		return nil, pawl.Fail(pawl.CodeDenied, "kernel.network_unnamed", call.Name)
	}
	return out, nil
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

// Decide takes the person's answers to the open questions: those of the intake where that waits for some, and otherwise those
// of agents at work.
func (c *Give) Decide(tx *Tx) error {
	if c.Question != "" || tx.Turn == nil || tx.Run == nil || tx.Turn.State != string(turn.Clarifying) || tx.Turn.Return == string(turn.Executing) {
		return giveAnswers(tx, c)
	}
	return intakeAnswered(tx, c)
}
