package query

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"pawl/text/display"
	"pawl/text/message"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
	"pawl/text/plan"
	"pawl/text/policy"
	"pawl/text/solution"
	"pawl/text/triage"
)

// Looker reads where one session stands, as a kernel does.
type Looker interface {
	Snapshot(ctx context.Context) (*kernel.Snapshot, error)
	LastRun(ctx context.Context) (*kernel.Snapshot, error)
	Questions(ctx context.Context) ([]*kernel.Question, error)
}

// Current reads the run in progress, or else the last one. Where nothing was initialised it fails with CodeNotFound.
func Current(ctx context.Context, k Looker) (*kernel.Snapshot, error) {
	at, err := k.Snapshot(ctx)
	if err == nil && at.Session == nil {
		err = notFound("kernel.not_initialised")
	}
	if err != nil || at.Session.Run != "" {
		return at, err
	}
	return k.LastRun(ctx)
}

// Planned reads the run in progress where it has a plan, or else the newest one that is over; it has no Solution where
// that has none either. Where nothing was initialised it fails with CodeNotFound.
func Planned(ctx context.Context, k Looker) (*kernel.Snapshot, error) {
	at, err := k.Snapshot(ctx)
	if err == nil && at.Session == nil {
		err = notFound("kernel.not_initialised")
	}
	if err != nil || at.Solution != nil {
		return at, err
	}
	return k.LastRun(ctx)
}

// Status reads the session and says how the last run ended.
func Status(ctx context.Context, k Looker) (view.Status, error) {
	s, err := k.Snapshot(ctx)
	if err != nil {
		return view.Status{}, err
	}
	out := StatusOf(s)
	if s.Session != nil && s.Session.Questions > 0 {
		open, err := k.Questions(ctx)
		if err != nil {
			return view.Status{}, err
		}
		for _, q := range open {
			if q.Parent != s.Session.ID {
				continue // an agent asks it in another session
			}
			out.Questions = append(out.Questions, view.Question{
				ID: q.Label, Text: q.Text, By: q.By, Since: q.CreatedAt, Waits: s.Turn != nil &&
					slices.Contains(s.Turn.Asked, q.ID),
			})
		}
		said := slices.ContainsFunc(out.Next, func(n view.Next) bool { return n.Op == opAnswer })
		if len(out.Questions) > 0 && !said {
			out.Next = append(out.Next, view.Next{Op: opAnswer, Command: "pawl answer"})
		}
	}
	last, err := k.LastRun(ctx)
	if err != nil || last.Run == nil {
		return out, err
	}
	r := last.Run
	out.Last = resultOf(r, last.Task)
	landed := r.InTree(last.Task) || r.Land != nil && r.Land.Outcome == effect.Landed || r.Pull.Stands()
	if at := last.Session; out.State == session.Idle && (at.LastRun == r.ID || at.RolledBackRun == r.ID) && landed {
		op := "undo"
		if r.Undone {
			op = "redo"
		}
		out.Next = append(out.Next, hereNext(s, []view.Next{{Op: op, Command: "pawl " + op}})...)
	}
	return out, nil
}

// resultOf is what a run came to. Its task may be nil.
func resultOf(r *kernel.Run, t *kernel.Task) *view.Result {
	out := &view.Result{Run: r.Label, Goal: r.Requirement, Outcome: r.Outcome, Undone: r.Undone, EndedAt: r.EndedAt}
	if t != nil {
		out.Task = t.Label
		if p := t.Proof; p != nil {
			out.Proof, out.AcceptedBy = p.Verdict, p.By
		}
		if n := len(t.Reviews); n > 0 {
			out.Objections = len(t.Reviews[n-1].Objections)
		}
	}
	if l := r.Land; l != nil {
		out.Landing, out.Commit, out.Branch = l.Outcome, l.Commit, l.Branch
	}
	return out
}

// opExec is the operation of a flow that ended with its design.
const opExec = "exec"

// StatusOf returns what `pawl status` shows of the snapshot. Owner and Last stay nil; Status fills in Last.
func StatusOf(s *kernel.Snapshot) view.Status {
	out := view.Status{State: session.Table.Initial(), Next: []view.Next{}}
	if s.Config != nil {
		out.MaxAttempts = s.Config.MaxFixes
	}
	at := s.Session
	if at == nil {
		return out
	}
	out.ID, out.Session, out.Name, out.State = at.ID, at.ID, at.Name, session.State(at.State)
	out.Goal, out.RunMode, out.Attempts = at.Goal, at.RunMode, at.AutoFix
	out.Paused, out.PausedAt, out.PausedBy = at.Paused(), at.PausedAt, at.PausedBy
	out.Blocked, out.Checkpoint = blockedOf(at.Blocked), at.LastCheckpoint
	out.LastError, out.UpdatedAt = at.LastError, at.UpdatedAt
	if a := s.Approval; a != nil && a.State == kernel.ApprovalPending {
		out.Approval = approvalOf(a)
	}
	if f := s.Flow; f != nil {
		out.Flow = &view.Flow{Stage: f.Stage, Mode: f.Mode, Path: f.Path, Package: f.CreatedPackage, Variables: f.Vars}
	}
	if at.Run != "" {
		statusOfRun(s, &out)
	}
	if e := s.Effect; e != nil && (e.State == kernel.EffectPending || e.State == kernel.EffectRunning) {
		out.Doing = doingOf(e)
	}
	out.Next = append(out.Next, hereNext(s, nextSteps(s))...)
	return out
}

// hereNext has commands speak of the session that the snapshot is of.
func hereNext(s *kernel.Snapshot, next []view.Next) []view.Next {
	if s.Session == nil || s.Session.Label == kernel.SessionLabel {
		return next
	}
	for i := range next {
		next[i].Command = view.ForIssue(next[i].Command, s.Session.Label)
	}
	return next
}

// statusOfRun fills in what belongs to the run in progress.
func statusOfRun(s *kernel.Snapshot, out *view.Status) {
	if r := s.Run; r != nil {
		out.Run = &view.Run{
			ID: r.ID, Label: r.Label, Status: board.RunStatus(r.State), Phase: r.Phase, StartedAt: r.StartedAt,
			EndedAt: r.EndedAt, Outcome: r.Outcome,
		}
		if r.Context != nil && r.Context.Pack != nil {
			out.Run.Degraded = r.Context.Pack.Degraded
		}
	}
	if i := s.Issue; i != nil {
		out.Board = &view.Board{Issue: i.Label, IssueStatus: board.IssueStatus(i.State)}
		if s.Item != nil {
			out.Board.Item, out.Board.ItemStatus = s.Item.Label, board.ItemStatus(s.Item.State)
		}
	}
	if u := s.Turn; u != nil && u.State == string(turn.Clarifying) && u.Return != string(turn.Executing) &&
		s.Run != nil && s.Run.Evaluation != nil {
		by := pawl.By(pawl.KindAgent, s.Run.Evaluation.By)
		for n, text := range u.Questions {
			if n < len(u.Put) && u.Put[n].Key != "" {
				text = worded(s, u.Put[n].Key, u.Put[n].Args)
			}
			out.Questions = append(out.Questions,
				view.Question{Text: text, By: by, Since: u.ParkedAt, Waits: true})
		}
	}
	if t := s.Turn; t != nil {
		out.Turn = &view.Turn{ID: t.ID, State: turn.State(t.State), Number: t.Number, Repair: t.Fix, Calls: t.Calls}
	}
	if t := s.Task; t != nil {
		line := LineOf(t)
		out.Task, out.Step = &line, view.StepOf(t.Plan, t.Cursor.Step)
	}
}

// nextSteps lists what a person can do in the session's state, the most useful first.
func nextSteps(s *kernel.Snapshot) []view.Next {
	at := s.Session
	if at.Paused() {
		return []view.Next{{Op: "resume", Command: "pawl resume"},
			{Op: string(session.OpCancel), Command: "pawl cancel"}}
	}
	if a := s.Approval; a != nil && a.State == kernel.ApprovalPending && at.Approval == a.ID {
		if a.About == kernel.AboutStage {
			choice := workflow.ChooseStart
			if s.Flow != nil && s.Flow.Mode.Auto() {
				choice = workflow.ChooseSilent
			}
			way := "pawl choose " + choice + " " + display.Hash(a.Hash)
			return []view.Next{{Op: string(session.OpConfirm), Command: way},
				{Op: string(session.OpCancel), Command: "pawl cancel"}}
		}
		out := []view.Next{{Op: string(session.OpConfirm), Command: "pawl approve " + display.Hash(a.Hash)}}
		if a.About == kernel.AboutProof {
			out = []view.Next{acceptNext(s), {Op: "show", Command: "pawl show"}}
		}
		if a.About == "plan" {
			out = append(out, view.Next{Op: "show", Command: "pawl plan show"},
				view.Next{Op: string(session.OpRevise), Command: "pawl revise -m " + view.Feedback})
		}
		return append(out, view.Next{Op: "deny", Command: "pawl deny"})
	}
	if u := s.Turn; u != nil && u.State == string(turn.Clarifying) {
		return []view.Next{{Op: opAnswer, Command: "pawl answer"},
			{Op: string(session.OpCancel), Command: "pawl cancel"}}
	}
	switch session.State(at.State) {
	case session.Idle:
		return []view.Next{{Op: string(session.OpRequire), Command: "pawl run REQUIREMENT"},
			{Op: string(session.OpHistory), Command: "pawl task list"}}
	case session.Planning:
		return []view.Next{{Op: "resume", Command: "pawl resume"},
			{Op: string(session.OpCancel), Command: "pawl cancel"},
			{Op: string(session.OpPause), Command: "pawl pause"}}
	case session.Executing:
		return []view.Next{{Op: string(session.OpProgress), Command: "pawl status --watch"},
			{Op: "resume", Command: "pawl resume"},
			{Op: string(session.OpPause), Command: "pawl pause"}, {Op: string(session.OpStop), Command: "pawl stop"}}
	case session.AutoFix:
		return []view.Next{{Op: string(session.OpErrors), Command: "pawl task show"},
			{Op: "resume", Command: "pawl resume"}, {Op: string(session.OpStop), Command: "pawl stop"}}
	case session.Archiving:
		return []view.Next{{Op: "resume", Command: "pawl resume"}}
	case session.Blocked:
		return nextBlocked(s, at.Blocked)
	}
	return nil
}

func nextBlocked(s *kernel.Snapshot, b *kernel.Blocked) []view.Next {
	fix := func(rest string) view.Next { return view.Next{Op: string(session.OpFix), Command: "pawl fix" + rest} }
	told := fix("")
	if t := s.Task; t != nil && t.Hears() {
		told = fix(" -m " + view.Feedback)
	}
	switch {
	case s.Session.RollingBack():
		return []view.Next{{Op: "resume", Command: "pawl resume"}}
	case b == nil:
		return nil
	case b.Kind == kernel.BlockedArchive:
		return []view.Next{fix("")}
	}
	out := []view.Next{fix("")}
	switch b.Kind {
	case kernel.BlockedUnproven:
		out = []view.Next{acceptNext(s), told}
	case kernel.BlockedFuse:
		out = []view.Next{told}
	}
	if b.Effect != "" {
		out = []view.Next{fix(" --answer " + string(kernel.AnswerDone)), fix(" --answer " + string(kernel.AnswerRetry))}
	}
	return append(out, view.Next{Op: string(session.OpRollback), Command: "pawl rollback"},
		view.Next{Op: string(session.OpSkip), Command: "pawl skip"})
}

// acceptNext is how a person takes work without proof.
func acceptNext(s *kernel.Snapshot) view.Next {
	return view.Next{Op: "accept", Command: "pawl accept " + display.Hash(s.Task.Proof.Tree) + " -m REASON"}
}

func blockedOf(b *kernel.Blocked) *view.Blocked {
	if b == nil {
		return nil
	}
	return &view.Blocked{Kind: string(b.Kind), Task: b.Task, Effect: b.Effect, Error: b.Error}
}

func approvalOf(a *kernel.Approval) *view.Approval {
	if a == nil {
		return nil
	}
	return &view.Approval{
		ID: a.ID, About: a.About, Hash: a.Hash, Scope: string(a.Scope), Detail: a.Detail, State: a.State,
		By: string(a.AnsweredBy), Since: a.CreatedAt,
	}
}

func doingOf(e *kernel.EffectDoc) *view.Doing {
	out := &view.Doing{ID: e.ID, Kind: e.What(), State: e.State, Attempts: e.Attempts, Since: e.UpdatedAt}
	if e.What() == effect.KindTool {
		if call, err := effect.Decode[effect.ToolCall](e.Effect.Spec); err == nil {
			out.Tool, out.Step = call.Name, call.StepID
		}
	}
	return out
}

// LineOf returns the task as one line of a list.
func LineOf(t *kernel.Task) view.TaskLine {
	l := view.TaskLine{
		ID: t.ID, Label: t.Label, Title: t.Title, State: task.State(t.State), Mode: t.ModeName(), Exit: t.Exit,
		CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
	}
	if t.Session != "" {
		l.Run = t.Parent
	}
	if t.Proof != nil {
		l.Verdict = t.Proof.Verdict
	}
	return l
}

// TaskOf returns the whole task. Config may be nil.
func TaskOf(t *kernel.Task, c *kernel.Config) view.Task {
	out := view.Task{
		TaskLine: LineOf(t), By: t.By, Base: t.Base, Branch: t.Branch, Tree: t.Tree, PlanHash: t.PlanHash,
		Approval: t.Approval,
		Steps:    stepsOf(t), Gates: append([]string{}, t.Gates...), Fixes: t.Fixes, Repairs: t.Repairs,
		Turns:    t.Turns,
		Retries:  view.Retries{Count: t.Retry.Count, Next: t.Retry.Next, Reasons: t.Retry.Reasons},
		Verified: view.EvidenceOf(t.Verified), Gate: view.EvidenceOf(t.Gate), Proof: view.ProofOf(t.Proof),
		Reviews: t.Reviews, Disputed: t.Disputed,
		Land:    view.LandingOf(t.Land),
		Reason:  t.Reason,
		Blocked: blockedOf(t.Blocked), CancelAt: t.CancelAt, CancelBy: t.CancelBy, Restart: t.Restart,
		Cleanup: t.Cleanup, Disposed: t.Disposition,
		StartedAt: t.StartedAt, EndedAt: t.EndedAt, Failures: failures(t.Failures),
	}
	if c != nil {
		out.Retries.Max = c.Retry.Max
	}
	if t.Lease.Owner != "" {
		out.Lease = &view.Lease{Owner: t.Lease.Owner, Token: t.Epoch, Expires: t.Lease.Expires}
	}
	if t.Checkpoint != nil {
		out.Checkpoint = t.Checkpoint.Name
	}
	if t.State == string(task.Queued) {
		out.DueAt = t.Due
	}
	return out
}

// stepsOf lists the steps of a task's plan, with those that an agent called done without having changed anything.
func stepsOf(t *kernel.Task) []view.StepLine {
	out := view.StepsOf(t.Plan)
	for i := range out {
		s := &out[i]
		s.Unchanged = t.Ready.Tracked && s.Status == plan.Done && len(t.Plan.Steps[i].ToolCalls) == 0 &&
			!slices.ContainsFunc(t.Spans, func(c effect.Span) bool { return c.Step == s.ID && c.Before != c.After })
	}
	return out
}

func failures(list []effect.Failure) []view.Failure {
	var out []view.Failure
	for _, f := range list {
		before := slices.ContainsFunc(f.Checks, func(o effect.CheckOutcome) bool {
			return o.Name == f.What &&
				o.FailingBefore
		})
		out = append(out, view.Failure{What: f.What, Error: f.Fault(), Output: f.Output, FailingBefore: before})
	}
	return out
}

// PlanOf returns the plan of the run, with the progress of its steps once its task is at work.
func PlanOf(s *kernel.Snapshot) view.Plan {
	var p *plan.Plan
	verdicts := map[string]map[int]*policy.Verdict{}
	if s.Solution != nil {
		p, verdicts = &s.Solution.Plan, verdictsOf(s.Solution)
	}
	if s.Task != nil && s.Task.Plan != nil {
		p = s.Task.Plan
	}
	out := view.PlanOf(p, func(step string, n int) *policy.Verdict { return verdicts[step][n] })
	out.Network = networkOf(s, p, out.Network)
	if t := s.Task; t != nil {
		out.Hash, out.Task = t.PlanHash, t.Label
		out.Checks, out.Gates = append(out.Checks, t.Checks...), append(out.Gates, t.Gates...)
	}
	if sol := s.Solution; sol != nil {
		out.Hash, out.Agent, out.Stated, out.HighRisk = sol.Hash, sol.Agent, sol.Stated, perilsOf(sol)
		for n := range sol.Plan.Verification.Commands {
			if v := verdicts["verification"][n]; v != nil {
				out.Commands = append(out.Commands, *v)
			}
		}
		if s.Run != nil && sol.Package != "" {
			out.Package = solution.LiveDir(sol.Package)
		}
	}
	if a := s.Approval; a != nil && a.About == "plan" {
		out.Approval = approvalOf(a)
		if s.Task != nil {
			out.Red, out.Green = beforeWork(s.Task.Baseline, out.Checks)
		}
		if s.Run != nil && s.Run.Context != nil && len(out.Checks) > 0 && len(out.Network) == 0 {
			out.Needs = s.Run.Context.Needs // a plan that names the network fetches by itself
		}
	}
	return out
}

// perilsOf is what a plan would do of extremely high risk, each once wherever it stands.
func perilsOf(sol *kernel.Solution) (out []triage.Finding) {
	for _, p := range sol.HighRisk {
		same := func(f triage.Finding) bool { return f.Kind == p.Kind && f.Quote == p.Quote }
		if p.Stance == triage.StanceAction && !slices.ContainsFunc(out, same) {
			out = append(out, p.Finding)
		}
	}
	return out
}

// verdictsOf are the policy's verdicts on the calls of a plan, by step and place.
func verdictsOf(sol *kernel.Solution) map[string]map[int]*policy.Verdict {
	out := map[string]map[int]*policy.Verdict{}
	for i := range sol.Verdicts {
		j := &sol.Verdicts[i]
		if out[j.Step] == nil {
			out[j.Step] = map[int]*policy.Verdict{}
		}
		out[j.Step][j.Call] = &j.Verdict
	}
	return out
}

// networkOf are the network grants of a plan: those of the approved one, or what it names, where it can be granted with
// its places.
func networkOf(s *kernel.Snapshot, p *plan.Plan, named []effect.Grant) []effect.Grant {
	if s.Task != nil && len(s.Task.Grants) > 0 {
		return s.Task.Grants
	}
	if p != nil && s.Config != nil {
		if grants, err := s.Config.Grants(p); err == nil {
			return grants
		}
	}
	return named
}

// beforeWork parts checks by what they said of the tree that the work starts from, as far as that is known.
func beforeWork(b *effect.Baseline, checks []effect.Check) (red, green []string) {
	for _, c := range checks {
		switch failure, known := b.Of(c); {
		case known && failure != "":
			red = append(red, c.Name)
		case known:
			green = append(green, c.Name)
		}
	}
	return red, green
}

// SummaryOf returns what became of the run of the snapshot, or of its task when it belongs to none.
func SummaryOf(s *kernel.Snapshot) view.Summary {
	out := view.Summary{
		Steps: []view.SummaryStep{}, Files: []effect.FileStat{}, Verification: []view.Evidence{}, Risks: []view.Note{},
		Undo: []view.Next{}, Next: []view.Next{},
	}
	if r := s.Run; r != nil {
		out.Run, out.Goal, out.Outcome, out.StartedAt, out.EndedAt = r.Label, r.Requirement, r.Outcome, r.StartedAt,
			r.EndedAt
	}
	if i := s.Issue; i != nil && i.Error != nil {
		out.Error = i.Error
	}
	if t := s.Task; t != nil {
		summarize(s, &out, t)
	}
	if at := s.Session; at != nil {
		if at.Blocked != nil {
			out.Error = &at.Blocked.Error
		}
		if r := s.Run; r != nil && r.Outcome == kernel.OutcomePlanned && at.Run == "" {
			out.Next = append(out.Next, view.Next{Op: opExec, Command: "pawl exec " + r.Package})
		} else if r == nil || at.Run == "" || at.Run == r.ID {
			out.Next = append(out.Next, hereNext(s, nextSteps(s))...)
		}
	}
	if !out.StartedAt.IsZero() && out.EndedAt.After(out.StartedAt) {
		out.Duration = out.EndedAt.Sub(out.StartedAt)
	}
	return out
}

// summarize fills in what the task has to tell.
func summarize(s *kernel.Snapshot, out *view.Summary, t *kernel.Task) {
	out.Proof, out.Reviews, out.Disputed = view.ProofOf(t.Proof), t.Reviews, t.Disputed
	out.Task, out.Repairs, out.Failures, out.Landing = t.Label, t.Repairs, failures(t.Failures), view.LandingOf(t.Land)
	if out.Goal == "" {
		out.Goal = t.Title
	}
	if out.Outcome == "" && task.State(t.State).Terminal() {
		out.Outcome = t.State
	}
	if out.StartedAt.IsZero() {
		out.StartedAt, out.EndedAt = t.StartedAt, t.EndedAt
	}
	if t.Plan != nil {
		out.Risk = t.Plan.RiskLevel
		for i, l := range stepsOf(t) {
			out.Steps = append(out.Steps, view.SummaryStep{StepLine: l, Why: t.Plan.Steps[i].Intent})
		}
	}
	if out.Landing != nil {
		out.Files = append(out.Files, out.Landing.Files...)
	}
	for _, e := range []*view.Evidence{view.EvidenceOf(t.Verified), view.EvidenceOf(t.Gate)} {
		if e != nil {
			out.Verification = append(out.Verification, *e)
		}
	}
	out.Risks = append(out.Risks, risksOf(s, t)...)
	out.Undo = append(out.Undo, hereNext(s, undosOf(s, t))...)
}

// risksOf lists what a person should know before relying on the result.
func risksOf(s *kernel.Snapshot, t *kernel.Task) []view.Note {
	out := risksOfPlan(t)
	note := func(key string, args ...string) { out = append(out, view.Note{Key: key, Args: args}) }
	if l := t.Land; l != nil && l.Outcome == effect.Kept {
		note("kernel.risk_kept", l.Branch, l.Command)
	}
	if t.InterruptedStep != "" && t.State != string(task.Done) &&
		(s.Run == nil || !s.Run.Undone && s.Run.Outcome != "rolled_back") {
		note("kernel.risk_cut", t.InterruptedStep, view.StepOf(t.Plan, t.InterruptedStep).Title)
	}
	if c := t.Checkpoint; c != nil && len(c.Unkept) > 0 {
		note("kernel.risk_unkept", effect.Named(c.Unkept))
	}
	if s.Run != nil && s.Run.Saved != "" {
		note("kernel.risk_saved", s.Run.Saved)
	}
	if c := t.Cleanup; c != nil && len(c.Failed) > 0 {
		note("kernel.risk_cleanup", strings.Join(c.Failed, ", "))
	}
	if s.Run != nil {
		for c := s.Run.ArchiveWarning; c != nil && c.Key != ""; c = c.Cause {
			note(c.Key, c.Args...)
		}
	}
	return out
}

// risksOfPlan lists what was not proven, and what was left out of the plan.
func risksOfPlan(t *kernel.Task) (out []view.Note) {
	note := func(key string, args ...string) { out = append(out, view.Note{Key: key, Args: args}) }
	if t.Plan != nil && t.Plan.RiskLevel != pawl.RiskLow {
		note("kernel.risk_level", string(t.Plan.RiskLevel))
	}
	if t.Plan != nil && t.Plan.Verification.Mode == plan.VerifyNone {
		note("kernel.risk_unverified")
	}
	if v := t.Verified; v != nil {
		if failed := v.FailedNames(); failed != "" && t.State == string(task.Done) {
			note("kernel.risk_tolerated", failed)
		}
		if len(v.Tampered) > 0 {
			note("kernel.risk_tampered", strings.Join(v.Tampered, ", "))
		}
		for _, f := range v.Found {
			note(f.Key, f.Args...)
		}
	}
	for _, r := range t.Refused {
		out = append(out, refused(r))
	}
	for _, f := range t.Taken {
		key, where := taken[f.What], f.Path
		if f.To != "" {
			where += " → " + f.To
		}
		if f.Failed {
			key = "kernel.taken_failed"
		}
		note(key, where)
	}
	if t.Plan != nil {
		for _, l := range view.StepsOf(t.Plan) {
			if l.Status == plan.Skipped && l.Repair == 0 {
				note("kernel.risk_skipped", l.ID, l.Title)
			}
		}
	}
	return out
}

// refused says which call an agent was not allowed to make, by which rules, and what would allow it.
func refused(r effect.RefusedCall) view.Note {
	var rules []string
	for _, reason := range r.Reasons {
		rules = append(rules, string(reason.Code))
	}
	n := view.Note{Key: "kernel.risk_refused", Args: []string{r.Call, strings.Join(rules, ", ")}}
	switch {
	case r.Rule != "":
		n.Key, n.Args = "kernel.risk_refused_rule", append(n.Args, r.Rule)
	case r.Person:
		n.Key = "kernel.risk_refused_person"
	}
	return n
}

// taken are the texts for what was taken out of a tree.
var taken = map[effect.TakenKind]string{effect.TakenRepository: "kernel.taken_repository",
	effect.TakenBare: "kernel.taken_bare", effect.TakenRights: "kernel.taken_rights",
	effect.TakenUnseen: "kernel.taken_unseen"}

// undosOf lists the ways to undo the result.
func undosOf(s *kernel.Snapshot, t *kernel.Task) []view.Next {
	switch {
	case s.Run != nil && s.Run.Undone:
		return []view.Next{{Op: "redo", Command: "pawl redo"}}
	case s.Run != nil && t.Land == nil && s.Session != nil && s.Session.LastRun == s.Run.ID && s.Run.InTree(t):
		return []view.Next{{Op: "undo", Command: "pawl undo"}}
	case t.Land != nil && (t.Land.Outcome == effect.Landed || t.Land.Outcome == effect.InPlace):
		out := []view.Next{{Op: "undo", Command: "pawl undo"}}
		if t.Land.Commit != "" {
			out = append(out, view.Next{Op: "revert", Command: "git revert " + t.Land.Commit})
		}
		return out
	case t.Land != nil && t.Land.Outcome == effect.Kept:
		out := []view.Next{{Op: "delete", Command: "git branch -D " + t.Land.Branch}}
		if s.Run != nil && s.Run.Pull.Stands() {
			out = slices.Insert(out, 0, view.Next{Op: "undo", Command: "pawl undo"})
		}
		return out
	case s.Session != nil && s.Session.State == string(session.Blocked) && t.Ready.Checkpoint:
		return []view.Next{{Op: string(session.OpRollback), Command: "pawl rollback"}}
	}
	return nil
}

// opAnswer is the operation that answers questions.
const opAnswer = "answer"

// ContextOf returns what active_context.md shows of the snapshot, with a history that the caller has read.
func ContextOf(s *kernel.Snapshot, history ...view.HistoryLine) view.Context {
	c := view.Context{State: session.Table.Initial(), History: history}
	if len(history) > 0 {
		c.Ended = history[0].Ended
	}
	at := s.Session
	if at == nil {
		return c
	}
	c.SessionID, c.State, c.Attempts, c.Checkpoint = at.ID, session.State(at.State), at.AutoFix, at.LastCheckpoint
	c.Updated, c.Goal = at.UpdatedAt, at.Goal
	if at.Paused() {
		c.Ended = at.PausedAt
	}
	if at.Run == "" {
		c.Goal = ""
	}
	if t := s.Task; t != nil && at.Run != "" {
		line := view.ContextTask{Label: t.Label, Title: t.Title, State: task.State(t.State),
			Steps: view.StepsOf(t.Plan)}
		if len(line.Steps) > 0 {
			line.File = line.Steps[0].File
		}
		c.Tasks = append(c.Tasks, line)
		c.Summary = t.Label
		if step := view.StepOf(t.Plan, t.Cursor.Step); step != nil {
			c.Summary += " " + strconv.Itoa(step.Done) + "/" + strconv.Itoa(step.Total) + " " + step.Title
		}
		if t.Lease.Owner != "" {
			c.Workers = append(c.Workers, view.Worker{Task: t.Label, Session: t.Turn, State: t.State,
				Note: t.Lease.Owner})
		}
	}
	c.Pad = scratchpad(s)
	return c
}

// inWords is a failure in the language of documents, or in that of the run.
func inWords(s *kernel.Snapshot, f effect.Fault) string {
	return worded(s, f.Key, f.Args) + " (" + string(f.Class) + "/" + string(f.Code) + ")"
}

// worded is a text of the catalogue in the language of documents, or in that of the run.
func worded(s *kernel.Snapshot, key string, given []string) string {
	lang := ""
	if s.Run != nil {
		lang = s.Run.Lang
	}
	args := make([]any, len(given))
	for i, a := range given {
		args[i] = a
	}
	return message.ParseLang(cmp.Or(s.Config.Language, lang)).Text(key, args...)
}

// scratchpad lists what somebody who comes back should know first.
func scratchpad(s *kernel.Snapshot) []view.PadLine {
	var out []view.PadLine
	add := func(name, value string) {
		if value != "" {
			out = append(out, view.PadLine{Name: name, Value: value})
		}
	}
	at := s.Session
	if at.Paused() {
		add("paused", string(at.PausedBy))
	}
	if b := at.Blocked; b != nil {
		add("blocked", string(b.Kind)+": "+inWords(s, b.Error))
	}
	if at.Run == "" {
		if at.LastError != nil {
			add("last_error", inWords(s, *at.LastError))
		}
		return out
	}
	if t := s.Turn; t != nil {
		add("turn", t.State)
	}
	if t := s.Task; t != nil && t.Cursor.Step != "" {
		add("step", t.Cursor.Step)
	}
	if t := s.Task; t != nil && t.Progress != nil {
		out = append(out, t.Progress.Pad(t.Label))
	}
	if t := s.Turn; t != nil && t.Failure != nil {
		add("failure", string(t.Failure.Code)+" "+t.Failure.What)
	}
	if t := s.Task; t != nil && t.GateNote != "" {
		add("gate_failure_context", t.GateNote)
	}
	if a := s.Approval; a != nil && a.State == kernel.ApprovalPending {
		add("approval", a.About+" "+a.Hash)
	}
	for _, n := range nextSteps(s) {
		add("next", n.Command)
	}
	return out
}
