package kernel

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pawl"
	"pawl/audit"
	"pawl/effect"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
	"pawl/plan"
	"pawl/policy"
	"pawl/triage"
)

// planner decides from the requirement to the question about its plan.
type planner struct{ *work }

// SessionLabel is the label of a workspace's one session, and of its one flow.
const SessionLabel = "main"

// init makes the session and the flow of a workspace. Done twice it changes nothing.
func (w planner) init(c *Init) error {
	if w.Session != nil {
		w.result = w.Session.ID
		return nil
	}
	w.open(SessionLabel, "", c.Place)
	w.Session.Home = c.Place.Workspace
	w.result = w.Session.ID
	return nil
}

// open makes a session with its flow.
func (w planner) open(label, parent string, place effect.Place) {
	w.Session = &Session{Name: label, Place: place, RunMode: pawl.Assisted}
	w.create(w.Session, KindSession, label, parent, string(session.Table.Initial()))
	w.Flow = &Flow{Vars: workflow.Initial()}
	w.create(w.Flow, KindFlow, label, w.Session.ID, string(workflow.Stages.Initial()))
	w.record(w.Session, "SESSION_CREATED", audit.Info, map[string]any{"workspace": place.Workspace, "git": place.Git})
}

// relocate takes note of where the workspace is now.
func (w planner) relocate(c *Relocate) error {
	s := w.Session
	if s == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	if s.Home == c.To {
		return nil
	}
	event := "WORKSPACE_MOVED"
	if s.Home = c.To; c.Copied {
		event, s.Fork = "WORKSPACE_COPIED", w.newID()
	}
	w.touch(s)
	w.record(s, event, audit.Info, map[string]any{"from": c.From, "to": c.To})
	return nil
}

// openFor makes the session of an issue of the board, when its first run is taken up.
func (w planner) openFor(c *Start) error {
	i := w.Issue
	if i == nil || i.Number == 0 {
		return pawl.Fail(pawl.CodeNotFound, "kernel.issue_not_found", c.Issue)
	}
	if err := i.Held(c.Token); err != nil {
		return err
	}
	if w.Session == nil {
		w.open(i.Label, i.Parent, c.Place)
		w.Session.Number = i.Number
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
func (s *Session) ownLabel(now time.Time, taken map[string]bool) string {
	base := fmt.Sprintf("ISS-%s-%03d", now.UTC().Format("20060102"), s.Runs)
	label := base
	for n := 2; taken[label]; n++ {
		label = fmt.Sprintf("%s-%d", base, n)
	}
	return label
}

// start takes up a requirement: the run with its issue and its planning turn, and the first effect.
func (w planner) start(c *Start) error {
	if c.Issue != "" {
		c = clone(c)
		if err := w.openFor(c); err != nil {
			return err
		}
	}
	if w.Session == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	if w.Session.State != string(session.Idle) || w.Session.Effect != "" {
		return pawl.Fail(pawl.CodeBusy, "kernel.session_active", w.Session.State, w.Session.Goal)
	}
	if w.Taking != nil && w.Taking.State != SolutionDraft {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.package_used", w.Taking.Package)
	}
	if strings.TrimSpace(c.Requirement) == "" && len(c.Given) == 0 {
		return pawl.Fail(pawl.CodeInvalid, "kernel.requirement_empty")
	}
	return w.takeUp(c, nil)
}

func (w planner) takeUp(c *Start, feedback []string) error {
	s := w.Session
	place := c.Place
	if !place.Git || place.InPlace {
		// Without git there is no branch to land on: the work happens where the user's files are.
		place.InPlace, place.Tree = true, place.Workspace
	}
	s.Runs++
	s.Goal, s.RunMode, s.Place = c.Requirement, c.RunMode, place
	s.AutoFix, s.Blocked, s.LastError, s.Paused, s.Rolling, s.Rolled = 0, nil, nil, false, false, ""
	w.Task, w.Solution, w.Approval, w.Checkpoint = nil, nil, nil, nil
	w.Run = &Run{
		Number: s.Runs, Requirement: c.Requirement, Given: c.Given, GivenName: c.Name, Place: place,
		Phase: string(board.Phase.Initial()), Flow: w.Flow.ID, Feedback: feedback, AutoApprove: c.AutoApprove, StartedAt: w.now,
		Command: c.Command, Lang: c.Lang, Confirm: c.Confirm, AsIs: c.AsIs, Agent: c.Agent, Package: c.Package,
	}
	w.create(w.Run, KindRun, s.label("RUN-%d", "RUN", s.Runs), s.ID, string(board.Run.Initial()))
	switch {
	case c.Package != "" && w.Taking != nil:
		w.Solution = w.Taking
		w.Solution.State = SolutionOpen
		w.touch(w.Solution)
		w.Run.Item, w.Run.Solution, w.Run.Package = w.Item.ID, w.Taking.ID, w.Taking.Package
	case s.Number == 0:
		w.Item = nil
		w.Issue = &Issue{Title: firstLine(c.Requirement), Feedback: feedback}
		w.create(w.Issue, KindIssue, s.ownLabel(w.now, w.Names), w.Run.ID, string(board.Issue.Initial()))
	default:
		w.Run.Item, w.Run.Feedback = w.Issue.Item, w.Issue.Feedback
		w.Issue.Error, w.Issue.Bound, w.Issue.Solution = nil, false, ""
		w.touch(w.Issue)
	}
	w.Run.Issue = w.Issue.ID
	w.newTurn(w.Run.ID)
	w.Run.Turn = w.Turn.ID
	s.Run, s.Approval = w.Run.ID, ""
	w.touch(s)
	w.record(w.Run, "RUN_CREATED", audit.Info, map[string]any{"requirement": c.Requirement, "plan_file": c.Name, "run_mode": c.RunMode, "command": c.Command})
	w.result = w.Run.ID
	return flows{w.work}.begin(c)
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > 120 {
		return string(r[:119]) + "…"
	}
	return s
}

// newTurn makes the turn of an attempt; its parent is the task, or the run while there is no task.
func (w *work) newTurn(parent string) {
	w.Turn = &Turn{Trace: w.trace, Number: 1}
	if w.Task != nil {
		w.Task.Turns++
		w.Turn.Number = w.Task.Turns
	}
	w.create(w.Turn, KindTurn, "", parent, string(turn.Table.Initial()))
}

// contextBuilt goes on to planning with the facts about the workspace.
func (w planner) contextBuilt(r effect.Receipt) error {
	facts, err := effect.Decode[effect.ContextResult](r.Result)
	if err != nil || !r.OK {
		return w.planningFailed(ContextFailed, firstError(r.Err(), err))
	}
	w.Run.Context = &facts
	w.touch(w.Run)
	if facts.Pack != nil {
		w.record(w.Run, "CONTEXT_BUILT", audit.Info, facts.Pack.Note())
	}
	return flows{w.work}.analyzed()
}

// design has the plan made, now that the facts about the workspace are there.
func (w planner) design() error {
	if err := w.raise(ContextReady, "context built"); err != nil {
		return err
	}
	if w.Solution != nil {
		return w.packaged()
	}
	w.emit(effect.KindPlan, effect.PlanSpec{
		Agent: w.Run.Agent, Answers: w.Run.Answers, Requirement: w.Run.Requirement, Feedback: w.Run.Feedback, File: w.Run.GivenName, Given: w.Run.Given,
		Context: *w.Run.Context,
	}, true)
	return nil
}

// packaged judges the plan of a package that ~exec carries out, as if it had been made just now.
func (w planner) packaged() error {
	p := w.Solution.Plan
	verdicts, err := w.judge(&p)
	if err == nil {
		err = w.checkable(p)
	}
	if err != nil {
		return w.planningFailed(PlanFailed, err)
	}
	w.Solution.Plan, w.Solution.Verdicts, w.Solution.Checks = p, verdicts, effect.SelectChecks(p.Verification, w.Run.Context.Checks)
	w.Solution.Risk, w.Solution.Hash = p.RiskLevel, plan.Hash(p)
	w.touch(w.Solution)
	return w.draft(PackageReady)
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
func (w planner) planMade(r effect.Receipt) error {
	if !r.OK {
		return w.planningFailed(PlanFailed, r.Err())
	}
	result, err := effect.Decode[effect.PlanResult](r.Result)
	if err != nil {
		return w.planningFailed(PlanFailed, err)
	}
	if result.Plan == nil {
		return w.planningFailed(PlanFailed, pawl.Fail(pawl.CodeCannotPlan, "kernel.plan_missing", strings.Join(result.Questions, " / ")))
	}
	p := *result.Plan
	if p.PlanID == "" {
		p.PlanID = w.newID()
	}
	if p.CreatedAt.IsZero() {
		p.CreatedAt = plan.Instant{Time: w.now.UTC()}
	}
	verdicts, err := w.judge(&p)
	if err == nil {
		err = w.checkable(p)
	}
	if err != nil {
		return w.planningFailed(PlanFailed, err)
	}
	return w.propose(p, verdicts, result.Agent)
}

// judge checks a plan and asks the policy about each of its calls. The plan's risk is the gravest of what it states and
// what the policy sees.
func (w planner) judge(p *plan.Plan) ([]Judged, error) {
	if err := plan.Check(*p, w.schema, w.Config.Plan); err != nil {
		return nil, err
	}
	if _, err := w.Config.grants(p); err != nil {
		return nil, err
	}
	var out []Judged
	for _, s := range p.Steps {
		for i, c := range s.ToolCalls {
			v, err := w.judgeCall(c)
			if err == nil && len(p.Network) == 0 && w.Config.connects(c) {
				err = pawl.Fail(pawl.CodeInvalid, "kernel.network_unnamed", c.Name)
			}
			if err != nil {
				return nil, err
			}
			out = append(out, Judged{Step: s.StepID, Call: i, Tool: c.Name, Verdict: v})
		}
	}
	for i, command := range p.Verification.Commands {
		v := policy.Judge(w.Situate(policy.Request{Tool: "verify", Permissions: []policy.Permission{policy.ProcExec}, Command: command}), w.Config.Profile)
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
func (w planner) checkable(p plan.Plan) error {
	checks := effect.SelectChecks(p.Verification, w.Run.Context.Checks)
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
func (w planner) judgeCall(c plan.ToolCallTemplate) (policy.Verdict, error) {
	tool, ok := w.Config.Tools[c.Name]
	if !ok {
		return policy.Verdict{}, pawl.Fail(pawl.CodeInvalid, "kernel.tool_unknown", c.Name)
	}
	request, err := tool.Request(c.ArgsHint)
	if err != nil {
		return policy.Verdict{}, err
	}
	v := policy.Judge(w.Situate(request), w.Config.Profile)
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

func (w *work) schema(name string) ([]byte, bool) {
	t, ok := w.Config.Tools[name]
	return t.Info.ArgsSchema, ok
}

// propose keeps the plan as a solution with its draft task and asks for approval, bound to the plan's hash.
func (w planner) propose(p plan.Plan, verdicts []Judged, agent string) error {
	hash := plan.Hash(p)
	w.Solution = &Solution{
		Plan: p, Hash: hash, Agent: agent, Verdicts: verdicts, Risk: p.RiskLevel, Checks: effect.SelectChecks(p.Verification, w.Run.Context.Checks),
		EHRB: triage.DetectPlan(p),
	}
	if err := (packer{w.work}).designed(&p); err != nil {
		return err
	}
	w.Issue.Solutions++
	w.create(w.Solution, KindSolution, fmt.Sprintf("SOL-%s-%d", w.Issue.Label, w.Issue.Solutions), w.Issue.ID, SolutionOpen)
	if w.Solution.Package != "" {
		w.create(&Alias{Issue: w.Issue.ID}, KindAlias, PackageAlias+w.Solution.Package, w.Solution.ID, "")
	}
	if err := w.enqueue(&p); err != nil {
		return err
	}
	w.Issue.Solution, w.Issue.PlannedAt = w.Solution.ID, w.now
	return w.draft(PlanExists)
}

// draft makes the task of the solution and asks for approval, bound to the plan's hash.
func (w planner) draft(what Happening) error {
	p, hash := w.Solution.Plan, w.Solution.Hash
	w.Session.Tasks++
	w.Task = &Task{
		Title: p.Goal, By: w.env.Actor, Mode: DefaultMode, Number: w.Session.Tasks, Session: w.Session.ID, Place: w.Run.Place,
		Base: w.Run.Context.Head, Branch: w.Run.Context.Branch, Plan: &p, PlanHash: hash, Checks: w.Solution.Checks,
		Pinned: w.Run.Context.Definitions, Gates: w.Config.Gates, Turn: w.Turn.ID, Turns: 1,
	}
	w.create(w.Task, KindTask, w.Session.label("T-%03d", "T", w.Session.Tasks), w.Run.ID, string(task.Table.Initial()))
	w.Task.Baseline = w.Session.known(w.Run.Context.Tree)
	if !w.Task.Place.InPlace {
		w.Task.Place.Tree = worktree(w.Task.Place.Workspace, w.Task.ID)
	}
	w.record(w.Task, "TASK_CREATED", audit.Info, map[string]any{"title": p.Goal, "plan_hash": hash})
	w.Run.Item, w.Run.Solution, w.Run.Task = w.Item.ID, w.Solution.ID, w.Task.ID
	w.touch(w.Run)
	w.touch(w.Issue)
	w.askFor("plan", w.Run.ID, hash, policy.Session, p.Goal)
	if err := w.raise(what, "plan "+short(hash)); err != nil {
		return err
	}
	if w.Flow.Mode == workflow.AutoPlan {
		return flows{w.work}.keep()
	}
	if by := w.autoApproval(); by != "" {
		return desk{w.work}.grantPlan(by, "approved by "+string(by))
	}
	return nil
}

// enqueue puts the solution into the queue. An issue of the board keeps its place in it for every further solution.
func (w planner) enqueue(p *plan.Plan) error {
	label, parent := w.Run.Label+":S-1", w.Run.ID
	if w.Issue.Number > 0 {
		label, parent = fmt.Sprintf("S-%d", w.Issue.Number), w.Issue.Parent
		w.Issue.Files = w.names(p)
	}
	if w.Item == nil {
		w.Item = &Item{Issue: w.Issue.ID}
		w.create(w.Item, KindItem, label, parent, string(board.Item.Initial()))
		w.Issue.Item = w.Item.ID
	} else if w.Item.State == string(board.ItemFailed) {
		if err := w.move(w.Item, string(board.Retry), "", "planned anew", nil); err != nil {
			return err
		}
	}
	w.Item.Solution = w.Solution.ID
	w.touch(w.Item)
	return nil
}

// worktree names the folder of a task's worktree.
func worktree(workspace, id string) string { return workspace + "/.pawl/worktrees/" + id }

func short(hash string) string { return hash[:min(12, len(hash))] }

// askFor makes the one open approval.
func (w planner) askFor(about, subject, hash string, scope policy.Scope, detail string) {
	w.Approval = &Approval{About: about, Subject: subject, Hash: hash, Scope: scope, Detail: detail}
	w.create(w.Approval, KindApproval, "", subject, ApprovalPending)
	w.Session.Approval = w.Approval.ID
	w.touch(w.Session)
	w.record(w.Approval, "APPROVAL_REQUESTED", audit.Info, map[string]any{"about": about, "hash": hash, "scope": scope})
}

// autoApproval names the policy in whose name the plan may be approved without a person, or "".
func (w planner) autoApproval() pawl.Actor {
	if w.Solution.outward() {
		w.record(w.Task, "AUTO_APPROVAL_REFUSED", audit.Warn, map[string]any{"checkpoint": "open_plan", "by": w.Run.AutoApprove, "risk": w.Solution.Risk})
		return ""
	}
	if w.Run.AutoApprove != "" {
		return w.Run.AutoApprove
	}
	if w.Flow.Mode == workflow.AutoFull && !w.asks() && !w.Solution.perilous() {
		return autoFull
	}
	if w.Session.RunMode == pawl.Autonomous {
		// An unattended run asks nobody. What the policy wants a word for waits for a person all the same
		// (docs/spec/task.md#d7).
		if !w.asks() && !w.Solution.perilous() {
			return pawl.By(pawl.KindPolicy, "run_mode/autonomous")
		}
		w.record(w.Task, "AUTONOMOUS_BLOCKED", audit.Warn, map[string]any{"checkpoint": "open_plan", "risk": w.Solution.Risk})
	}
	m, err := w.Config.modeOf(w.Task.Mode)
	if err != nil {
		return ""
	}
	if v := ask(func() Verdict { return m.CanAutoApprove(w.modeTask(w.Task), "open_plan") }); v.Decision == Approved {
		return pawl.By(pawl.KindPolicy, "mode/"+w.Task.modeName())
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
func (w planner) asks() bool {
	return slices.ContainsFunc(w.Solution.Verdicts, func(j Judged) bool { return j.Verdict.Decision == policy.Ask })
}

// planningFailed ends the run without having changed anything (docs/spec/session.md#a7).
func (w planner) planningFailed(what Happening, err error) error {
	kept := info(err)
	w.Session.LastError = &kept
	w.Issue.Error = &kept
	w.Issue.Failures++
	w.Turn.Outcome = string(turn.OutcomeFailed)
	w.endRun("failed")
	return w.raise(what, kept.Key)
}

// endRun closes the run's books; the moves are the caller's.
func (w *work) endRun(outcome string) {
	w.Run.Outcome, w.Run.EndedAt = outcome, w.now
	flows{w}.used()
	s := w.Session
	s.Run, s.Approval, s.Paused, s.AutoFix, s.Rolling, s.Blocked = "", "", false, 0, false, nil
	w.touch(w.Run)
	w.touch(s)
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

// sites lists where a call may connect to: what the approved plan names, and only where the call asks for the network.
func (w planner) sites(call plan.ToolCallTemplate) ([]effect.Site, error) {
	if !w.Config.connects(call) {
		return nil, nil
	}
	var out []effect.Site
	for _, g := range w.Task.Grants {
		out = append(out, g.Sites...)
	}
	if len(out) == 0 {
		return nil, pawl.Fail(pawl.CodeDenied, "kernel.network_unnamed", call.Name)
	}
	return out, nil
}

// buildContext asks for the facts that planning needs.
func (w planner) buildContext() {
	spec := effect.ContextSpec{Requirement: w.Run.Requirement, Answers: w.Run.Answers, Feedback: w.Run.Feedback}
	if w.traits().Reads && len(w.Run.Given) == 0 {
		spec.Tokens = w.Config.PackTokens
	}
	if w.Issue != nil && w.Issue.Number > 0 {
		spec.Branch = w.Issue.Branch
	}
	w.emit(effect.KindContext, spec, true)
}

// give takes the person's answers to the open questions: those of the intake where that waits for some, and otherwise those
// of agents at work.
func (w planner) give(c *Give) error {
	if c.Question != "" || w.Turn == nil || w.Run == nil || w.Turn.State != string(turn.Clarifying) || w.Turn.Return == string(turn.Executing) {
		return inquirer{w.work}.give(c)
	}
	return flows{w.work}.answered(c)
}
