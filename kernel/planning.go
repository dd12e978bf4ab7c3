package kernel

import (
	"fmt"
	"slices"
	"strings"

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
	w.Session = &Session{Name: SessionLabel, Place: c.Place, RunMode: pawl.Assisted}
	w.create(w.Session, KindSession, SessionLabel, "", string(session.Table.Initial()))
	w.Flow = &Flow{Vars: workflow.Initial()}
	w.create(w.Flow, KindFlow, SessionLabel, w.Session.ID, string(workflow.Stages.Initial()))
	w.record(w.Session, "SESSION_CREATED", audit.Info, map[string]any{"workspace": c.Place.Workspace, "git": c.Place.Git})
	w.result = w.Session.ID
	return nil
}

// start takes up a requirement: the run with its issue and its planning turn, and the first effect.
func (w planner) start(c *Start) error {
	if w.Session == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	if w.Session.State != string(session.Idle) || w.Session.Effect != "" {
		return pawl.Fail(pawl.CodeBusy, "kernel.session_active", w.Session.State, w.Session.Goal)
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
	w.Task, w.Item, w.Solution, w.Approval, w.Checkpoint = nil, nil, nil, nil, nil
	w.Run = &Run{
		Number: s.Runs, Requirement: c.Requirement, Given: c.Given, GivenName: c.Name, Place: place,
		Phase: string(board.Phase.Initial()), Flow: w.Flow.ID, Feedback: feedback, AutoApprove: c.AutoApprove, StartedAt: w.now,
	}
	w.create(w.Run, KindRun, fmt.Sprintf("RUN-%d", s.Runs), s.ID, string(board.Run.Initial()))
	w.Issue = &Issue{Title: firstLine(c.Requirement), Feedback: feedback}
	w.create(w.Issue, KindIssue, fmt.Sprintf("ISS-%s-%03d", w.now.UTC().Format("20060102"), s.Runs), w.Run.ID, string(board.Issue.Initial()))
	w.Run.Issue = w.Issue.ID
	w.Run.Agent = c.Agent
	w.newTurn(w.Run.ID)
	w.Run.Turn = w.Turn.ID
	s.Run, s.Approval = w.Run.ID, ""
	w.touch(s)
	w.record(w.Run, "RUN_CREATED", audit.Info, map[string]any{"requirement": c.Requirement, "plan_file": c.Name, "run_mode": c.RunMode})
	w.result = w.Run.ID
	if w.traits().Intakes && len(c.Given) == 0 {
		if err := w.raise(Received, firstLine(c.Requirement)); err != nil {
			return err
		}
		w.askIntake()
		return nil
	}
	if err := w.raise(TakenUp, firstLine(c.Requirement)); err != nil {
		return err
	}
	w.buildContext()
	return nil
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
	if err := w.raise(ContextReady, "context built"); err != nil {
		return err
	}
	w.emit(effect.KindPlan, effect.PlanSpec{
		Agent: w.Run.Agent, Answers: w.Run.Answers, Requirement: w.Run.Requirement, Feedback: w.Run.Feedback, File: w.Run.GivenName, Given: w.Run.Given, Context: facts,
	}, true)
	return nil
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
		v := policy.Judge(policy.Request{Tool: "verify", Permissions: []policy.Permission{policy.ProcExec}, Command: command, Root: w.root()}, w.Config.Profile)
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

// checkable refuses a plan whose result could not be proven: it asks for checks and there is none, or their program is
// not installed. It is better said before the approval than after the work.
func (w planner) checkable(p plan.Plan) error {
	checks := effect.SelectChecks(p.Verification, w.Run.Context.Checks)
	if p.Verification.Demanding() && len(checks) == 0 {
		return pawl.Fail(pawl.CodeInvalid, "kernel.no_checks", string(p.Verification.Mode))
	}
	for _, c := range checks {
		if c.Missing != "" && p.Verification.Required {
			return pawl.Fail(pawl.CodeEnvironment, "verify.missing_program", c.Missing, c.Name)
		}
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
	request.Root = w.root()
	v := policy.Judge(request, w.Config.Profile)
	if v.Decision == policy.Deny {
		return v, v.Err()
	}
	return v, nil
}

// root is the workspace as commands will see it.
func (w *work) root() string {
	if w.Task != nil && w.Task.Place.Tree != "" {
		return w.Task.Place.Tree
	}
	if w.Run != nil {
		return w.Run.Place.Workspace
	}
	return ""
}

func (w *work) schema(name string) ([]byte, bool) {
	t, ok := w.Config.Tools[name]
	return t.Info.ArgsSchema, ok
}

// propose keeps the plan as a solution with its draft task and asks for approval, bound to the plan's hash.
func (w planner) propose(p plan.Plan, verdicts []Judged, agent string) error {
	hash := plan.Hash(p)
	w.Solution = &Solution{Plan: p, Hash: hash, Agent: agent, Verdicts: verdicts, Risk: p.RiskLevel, Checks: effect.SelectChecks(p.Verification, w.Run.Context.Checks)}
	w.create(w.Solution, KindSolution, fmt.Sprintf("SOL-%s-1", w.Issue.Label), w.Issue.ID, "")
	w.Item = &Item{Issue: w.Issue.ID, Solution: w.Solution.ID}
	w.create(w.Item, KindItem, w.Run.Label+":S-1", w.Run.ID, string(board.Item.Initial()))
	w.Session.Tasks++
	w.Task = &Task{
		Title: p.Goal, By: w.env.Actor, Mode: DefaultMode, Number: w.Session.Tasks, Session: w.Session.ID, Place: w.Run.Place,
		Base: w.Run.Context.Head, Branch: w.Run.Context.Branch, Plan: &p, PlanHash: hash, Checks: w.Solution.Checks,
		Pinned: w.Run.Context.Definitions, Gates: w.Config.Gates, Turn: w.Turn.ID, Turns: 1,
	}
	w.create(w.Task, KindTask, fmt.Sprintf("T-%03d", w.Session.Tasks), w.Run.ID, string(task.Table.Initial()))
	if !w.Task.Place.InPlace {
		w.Task.Place.Tree = worktree(w.Task.Place.Workspace, w.Task.ID)
	}
	w.record(w.Task, "TASK_CREATED", audit.Info, map[string]any{"title": p.Goal, "plan_hash": hash})
	w.Run.Item, w.Run.Solution, w.Run.Task = w.Item.ID, w.Solution.ID, w.Task.ID
	w.touch(w.Run)
	w.Issue.Solution, w.Issue.PlannedAt = w.Solution.ID, w.now
	w.askFor("plan", w.Run.ID, hash, policy.Session, p.Goal)
	if err := w.raise(PlanExists, "plan "+short(hash)); err != nil {
		return err
	}
	if by := w.autoApproval(); by != "" {
		return desk{w.work}.grantPlan(by, "approved by "+string(by))
	}
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
	if w.Run.AutoApprove != "" {
		return w.Run.AutoApprove
	}
	if w.Session.RunMode == pawl.Autonomous {
		// An unattended run asks nobody. What the policy wants a word for waits for a person all the same (D7).
		if !w.asks() {
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

// asks reports whether the policy wants a word for something in the plan.
func (w planner) asks() bool {
	return slices.ContainsFunc(w.Solution.Verdicts, func(j Judged) bool { return j.Verdict.Decision == policy.Ask })
}

// planningFailed ends the run without having changed anything (spec.md §6.1 A7).
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

// maxQuestions is how many questions one round may ask (spec.md §6.2 B1).
const maxQuestions = 3

// askIntake has the agent judge whether the requirement is clear.
func (w planner) askIntake() {
	w.emit(effect.KindIntake, effect.IntakeSpec{Agent: w.Run.Agent, Requirement: w.Run.Requirement, Answers: w.Run.Answers, Round: w.Turn.Rounds + 1}, true)
}

// takenIn goes on with a clear requirement and parks an unclear one until the person has answered.
func (w planner) takenIn(r effect.Receipt) error {
	result, err := effect.Decode[effect.IntakeResult](r.Result)
	if err != nil || !r.OK {
		return w.planningFailed(StillUnclear, firstError(r.Err(), err))
	}
	w.record(w.Run, "INTAKE_JUDGED", audit.Info, map[string]any{
		"agent": result.Agent, "model": result.Model, "prompt": result.Prompt, "class": result.Class, "score": result.Score, "risk": result.Risk,
		"questions": len(result.Questions), "usage": result.Usage,
	})
	if len(result.Questions) == 0 {
		return w.clear("the requirement is clear")
	}
	if w.Turn.Rounds >= turn.MaxRounds {
		return w.planningFailed(StillUnclear, pawl.Fail(pawl.CodeCannotPlan, "kernel.still_unclear", itoa(w.Turn.Rounds), strings.Join(result.Questions, " / ")))
	}
	if err := w.raise(Unclear, result.Why); err != nil {
		return err
	}
	w.Turn.Rounds++
	w.Turn.Questions = result.Questions[:min(len(result.Questions), maxQuestions)]
	w.touch(w.Turn)
	w.record(w.Turn, "QUESTIONS_ASKED", audit.Info, map[string]any{"questions": w.Turn.Questions, "round": w.Turn.Rounds})
	return nil
}

// clear goes on to the context.
func (w planner) clear(why string) error {
	if err := w.raise(Clear, why); err != nil {
		return err
	}
	w.buildContext()
	return nil
}

// buildContext asks for the facts that planning needs.
func (w planner) buildContext() {
	spec := effect.ContextSpec{Requirement: w.Run.Requirement, Answers: w.Run.Answers, Feedback: w.Run.Feedback}
	if w.traits().Reads && len(w.Run.Given) == 0 {
		spec.Tokens = w.Config.PackTokens
	}
	w.emit(effect.KindContext, spec, true)
}

// give takes the person's answers to the open questions. None at all means: go on with what there is.
func (w planner) give(c *Give) error {
	if c.Question != "" || w.Turn == nil || w.Run == nil || w.Turn.State != string(turn.Clarifying) || w.Turn.Return == string(turn.Executing) {
		return inquirer{w.work}.give(c)
	}
	if len(c.Answers) > 0 && len(c.Answers) != len(w.Turn.Questions) {
		return pawl.Fail(pawl.CodeInvalid, "kernel.answers_count", itoa(len(w.Turn.Questions)), itoa(len(c.Answers)))
	}
	for i, q := range w.Turn.Questions {
		a := effect.Answered{Question: q}
		if i < len(c.Answers) {
			a.Answer = strings.TrimSpace(c.Answers[i])
		}
		w.Run.Answers = append(w.Run.Answers[:len(w.Run.Answers):len(w.Run.Answers)], a)
	}
	w.Turn.Questions = nil
	w.touch(w.Run)
	w.touch(w.Turn)
	w.record(w.Run, "QUESTIONS_ANSWERED", audit.Info, map[string]any{"answers": len(c.Answers), "by": w.env.Actor})
	if err := w.raise(Answered, "answered by "+string(w.env.Actor)); err != nil {
		return err
	}
	if len(c.Answers) == 0 {
		return w.clear("the person wants to go on with what there is")
	}
	w.askIntake()
	return nil
}
