package kernel

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
	"pawl/text/plan"
	"pawl/text/policy"
	"pawl/text/solution"
)

// sessionEvidence gathers what the session's gates look at.
func sessionEvidence(tx *Tx) session.Evidence {
	e := session.Evidence{MaxFixes: tx.Config.MaxFixes, NothingChanged: true}
	if tx.Solution != nil {
		e.PlanHash, e.OnlyPerson = tx.Solution.Hash, tx.Solution.OnlyPerson()
	}
	if a := tx.Approval; a != nil && a.State == ApprovalGranted {
		// Who grants whatever waits has not looked at it.
		e.ApprovalHash, e.ByPerson = a.Hash, a.AnsweredBy.Kind() == pawl.KindUser && a.Way != WayFlag
	}
	if t := tx.Task; t != nil {
		e.FixAttempts = t.Fixes
		e.FixVerified = t.Verified != nil && t.Verified.Passed || t.Cursor.Failed == ""
		if t.Ready.Checkpoint {
			e.NothingChanged = t.Ready.Cleaned
			if t.Checkpoint != nil {
				e.Checkpoint = t.Checkpoint.Name
			}
		}
		if Unfinished(t) {
			e.OpenTasks = 1
		}
	}
	return e
}

// Unfinished reports whether a task still asks for work: it is not final, and not resting with nobody at it.
func Unfinished(t *Task) bool {
	s := task.State(t.State)
	return !s.Final() && s != task.Failed
}

// turnEvidence gathers what the turn's gates look at.
func turnEvidence(tx *Tx) turn.Evidence {
	e := turn.Evidence{MaxRepairs: tx.Config.MaxFixes, AskedFrom: turn.Planning}
	if tx.Turn != nil {
		e.Rounds, e.Patches = tx.Turn.Rounds, tx.Turn.Patches
	}
	if tx.Turn != nil && tx.Turn.Return != "" {
		e.AskedFrom = turn.State(tx.Turn.Return)
	}
	if a := tx.Approval; a != nil {
		e.SubjectHash = a.Hash
		if a.State == ApprovalGranted {
			e.ApprovalHash = a.Hash
		}
	}
	if t := tx.Task; t != nil {
		e.Repairs = t.Fixes
		if v := t.Verified; v != nil {
			e.ChecksRan = true
			if !v.Passed && t.Plan != nil && t.Plan.Verification.Required {
				e.FailedRequired = countFailed(v.Outcomes)
			}
		}
	}
	return e
}

func countFailed(outcomes []effect.CheckOutcome) int {
	n := 0
	for _, o := range outcomes {
		if o.Failed() {
			n++
		}
	}
	return max(n, 1)
}

// TaskEvidence gathers what the gates of a row look at. What takes effort to gather is there only if the row asks for
// it.
func TaskEvidence(tx *Tx, t *Task, r *machine.Rule[task.State, task.Event]) *task.Evidence {
	e := &task.Evidence{
		PlanHash: t.PlanHash, LeaseEpoch: t.Epoch, Token: token(tx, t), NoLease: t.Lease.Owner == "",
		ExitReason: task.ExitReason(t.Exit), CleanupSummary: t.Cleanup != nil,
		RetryCount: t.Retry.Count, MaxRetries: tx.Config.Retry.Max, LastReasons: t.Retry.Reasons,
		AuditWarnOnly: tx.Config.AuditWarn,
	}
	if a := tx.Approval; a != nil && a.State == ApprovalGranted {
		if a.About == "plan" && a.Subject == t.Parent || a.ID == t.Approval {
			e.ApprovalHash = a.Hash
		}
		e.Unblocked = a.About == "unblock" && a.Subject == t.ID || t.Blocked == nil
	}
	if t.Approval != "" && e.ApprovalHash == "" {
		e.ApprovalHash = t.PlanHash
	}
	if t.Blocked == nil {
		e.Unblocked = true
	}
	if slices.Contains(r.Gates, task.GateVerifiedTree) {
		e.Tree, e.Checks = gateEvidence(t)
	}
	if slices.Contains(r.Gates, task.GateChecksKept) {
		for _, v := range []*effect.VerifyResult{t.Verified, t.Gate} {
			files, _ := Touched(t, v)
			for _, f := range RefusedOf(v) {
				files = append(files, f.Path)
			}
			if len(files) > 0 {
				e.Tampered = files
			}
		}
	}
	if slices.Contains(r.Gates, task.GateAuditChain) {
		e.AuditEvents, e.AuditChainOK = trail(tx, t)
	}
	return e
}

// tokenCommand is a command that presents the fencing token of a task's lease.
type tokenCommand interface{ LeaseToken() int64 }

func (c *Transition) LeaseToken() int64 { return c.Token }

// token is the fencing token that the command presents for a task: its own, or that of the task itself when pawl acts
// inside the same transaction that checked the report's token, or that takes the lease.
func token(tx *Tx, t *Task) int64 {
	if c, ok := tx.Env.Command.(tokenCommand); ok && !tx.leased {
		return c.LeaseToken()
	}
	return t.Epoch
}

// gateEvidence joins the outcomes that pawl has for the task: those of the gates, and those of the turn's verification
// of the same tree. Each carries the tree that it ran on.
func gateEvidence(t *Task) (tree string, checks []task.Check) {
	if t.Gate == nil {
		return "", nil
	}
	tree = t.Gate.Tree
	add := func(v *effect.VerifyResult, required bool) {
		for _, o := range v.Outcomes {
			if o.LeftOut() || o.Status == effect.CheckSkipped && !required {
				continue
			}
			checks = append(checks, task.Check{Name: o.Name, Required: required,
				Passed: o.Status == effect.CheckPassed && v.Tree == v.TreeAfter, Tree: v.Tree})
		}
	}
	add(t.Gate, true)
	if t.Verified != nil {
		add(t.Verified, t.Plan == nil || t.Plan.Verification.Required)
	}
	return tree, checks
}

// trail counts the task's audit records, those of this decision included, and reports whether the states that they tell
// of form one unbroken chain from the creation to the present state.
func trail(tx *Tx, t *Task) (int, bool) {
	tx.Want(trailOf(t.ID))
	count, states := tx.TrailCount, tx.Trail
	for _, e := range tx.entries {
		if e.Subject != (audit.Subject{Kind: string(KindTask), ID: t.ID}) {
			continue
		}
		count++
		if e.Move != nil {
			states = append(states[:len(states):len(states)], e.Move.From, e.Move.To)
		}
	}
	last := string(task.Draft)
	for i := 0; i+1 < len(states); i += 2 {
		if states[i] != last {
			return count, false
		}
		last = states[i+1]
	}
	return count, last == t.State
}

// BoardEvidence gathers what the board's gates look at.
func BoardEvidence(tx *Tx) board.Evidence {
	e := board.Evidence{}
	if tx.Run != nil {
		e.WorkDir = tx.Run.Place.Workspace
	}
	if tx.Solution != nil {
		e.SolutionID = tx.Solution.ID
	}
	if i := tx.Issue; i != nil {
		e.PlanFailures, e.OpenDependencies, e.Approved = i.Failures, len(i.Open), i.Bound
		e.Leased, e.Early = i.Lease.Owner != "" && i.Due.After(tx.Now), i.Lease.Owner == "" && i.Due.After(tx.Now)
		if tx.Session != nil && i.Number > 0 && tx.Session.Number == i.Number {
			e.SessionWaits, e.Unfinished = waits(tx), winds(tx)
		}
	}
	if t := tx.Task; t != nil && t.Land != nil {
		e.Landed = t.State == string(task.Done)
	}
	return e
}

// waits reports whether nothing goes on in the session before a person has said something.
func waits(tx *Tx) bool {
	switch session.State(tx.Session.State) {
	case session.Confirming, session.Blocked:
		return true
	}
	if a := tx.Approval; a != nil && a.State == ApprovalPending && a.ID == tx.Session.Approval {
		return true
	}
	return tx.Session.Paused() || tx.Turn != nil && turnParked(tx)
}

// winds reports whether the session has something to finish that does not wait for the issue's turn: what is left to do
// for an issue that rests, and a cancel.
func winds(tx *Tx) bool {
	if t := tx.Task; t != nil && tx.Session.Run != "" && !t.CancelAt.IsZero() {
		return true
	}
	if i := tx.Issue; i.State != string(board.IssueCompleted) && i.State != string(board.IssueFailed) {
		return false
	}
	return tx.Session.Effect != "" || tx.Task != nil && tx.Task.Effect != "" || helpable(tx)
}

// helpable reports whether the board tries again by itself what the session is BLOCKED with. What would begin anew is
// not begun where commands ran that may run once.
func helpable(tx *Tx) bool {
	b := tx.Session.Blocked
	if tx.Session.State != string(session.Blocked) || b == nil || tx.Session.RollingBack() {
		return false
	}
	return b.Kind == BlockedFuse && tx.Issue.Retries < tx.Config.BoardRetries || b.Kind == BlockedDependency &&
		tx.Issue.Conflicts == 0 && (tx.Task == nil || len(tx.Task.Once) == 0)
}

// flowEvidence gathers what the flow's gates look at. Where nothing was evaluated, a person stated the requirement and
// is asked about its plan, which is the seed's "go on with the requirement as it is".
func flowEvidence(tx *Tx) workflow.Evidence {
	e := workflow.Evidence{Continue: true, Archived: tx.Run != nil && tx.Run.Outcome != ""}
	if tx.Run != nil && tx.Run.Evaluation != nil {
		e.Score, e.Continue = tx.Run.Evaluation.Score, tx.Run.AsIs
	}
	if tx.Run != nil && tx.Run.Package != "" {
		e.Package = solution.LiveDir(tx.Run.Package)
	}
	if tx.Task != nil && Unfinished(tx.Task) {
		e.Pending = 1
	}
	return e
}

// Touched lists the files that decide how the work is judged, that the work changed, and that the approved plan does
// not name, and those which the policy asks about, with the hash that an approval of the change is bound to. Nothing is
// left of a change that was approved.
func Touched(t *Task, v *effect.VerifyResult) ([]string, string) {
	if v == nil {
		return nil, ""
	}
	files := unnamed(t, v)
	h := sha256.New()
	h.Write([]byte("pawl checks 1\n" + t.PlanHash + "\n"))
	for _, f := range files {
		h.Write([]byte(f + "\x00" + t.Pinned[f] + "\x00" + v.Contents[f] + "\n"))
	}
	for _, f := range AskedOf(t, v) {
		files = append(files, f.Path)
		h.Write([]byte(f.Path + "\x00" + string(f.Code) + "\x00" + f.Digest + "\n"))
	}
	slices.Sort(files)
	files = slices.Compact(files)
	hash := hex.EncodeToString(h.Sum(nil))
	if hash == t.Accepted {
		return nil, hash
	}
	return files, hash
}

// unnamed lists the files that decide how the work is judged, and that the approved plan does not name.
func unnamed(t *Task, v *effect.VerifyResult) []string {
	return slices.DeleteFunc(slices.Clone(v.Tampered), func(f string) bool { return named(t.Named, f) })
}

// AskedOf is what the policy asks about in the change that was verified. A plan covers the files that it names, unless
// --yes alone has approved it: then nobody has looked at it.
func AskedOf(t *Task, v *effect.VerifyResult) (out []policy.Found) {
	if v == nil {
		return nil
	}
	for _, f := range v.Found {
		if f.Decision == policy.Ask && (f.Person || t.Unseen || !named(t.Named, f.Path)) {
			out = append(out, f)
		}
	}
	if many := v.Added.Except(func(f string) bool { return named(t.Named, f) }); many != nil {
		out = append(out, *many)
	}
	return out
}

// RefusedOf is what the policy denies of the change that was verified. It never lands.
func RefusedOf(v *effect.VerifyResult) []policy.Found {
	if v == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(v.Found), func(f policy.Found) bool { return f.Decision != policy.Deny })
}

func named(files []string, f string) bool {
	return slices.ContainsFunc(files, func(n string) bool {
		return n == f || strings.HasSuffix(n, "/") &&
			strings.HasPrefix(f, n)
	})
}

// ChangedChecks lists the files that the question about changed checks is about: those that decide how the work is
// judged, that the work changed, and that neither the approved plan names nor a person has approved.
func (s *Snapshot) ChangedChecks() []string {
	if s.Task == nil {
		return nil
	}
	if _, hash := Touched(s.Task, s.Task.Verified); s.Task.Verified == nil || hash == s.Task.Accepted {
		return nil
	}
	return unnamed(s.Task, s.Task.Verified)
}

// AskedChanges is what the same question is about besides: what the policy asks about in the change and nobody has
// approved, with the files among them that can be shown as they are. One with a secret is not.
func (s *Snapshot) AskedChanges() (asked []policy.Reason, shown []string) {
	if s.Task == nil || s.Task.Verified == nil {
		return nil, nil
	}
	if _, hash := Touched(s.Task, s.Task.Verified); hash == s.Task.Accepted {
		return nil, nil
	}
	secret := map[string]bool{}
	for _, f := range AskedOf(s.Task, s.Task.Verified) {
		asked, shown = append(asked, f.Reason), append(shown, f.Path)
		secret[f.Path] = secret[f.Path] || f.Code == policy.CodeSecretText
	}
	return asked, slices.DeleteFunc(shown, func(f string) bool { return secret[f] })
}

// Situate completes what a tool makes of a call with where it would be carried out: the workspace as commands will see
// it, what holds them there, and what was found of git's configuration when the work was taken up.
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

// JudgeCall asks the policy about one call; a denied one is an error.
func JudgeCall(tx *Tx, c plan.ToolCallTemplate) (policy.Verdict, error) {
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

// CallSites lists where a call may connect to: what the approved plan names, and only where the call asks for the
// network.
func CallSites(tx *Tx, call plan.ToolCallTemplate) ([]effect.Site, error) {
	if !tx.Config.Connects(call) {
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

// Charges reports whether effects of a run are charged to budgets: where an agent works, and where what pawl counts is
// limited. A run without either is not slowed down by books that nobody reads.
func Charges(c *Config, r *Run) bool {
	if r == nil {
		return false
	}
	for _, l := range c.Budgets {
		if l.ofWork() {
			return true
		}
	}
	return c.Agents[r.Agent].Works || c.Agents[r.Plans()].Works || c.Agents[r.Reviewer].Works
}

// askMode asks the task's mode about a transition. Cancels pass without it, so that a mode can never hold on to a task
// (docs/spec/task.md#d10).
func askMode(tx *Tx, t *Task, from, to, rule string) *pawl.Error {
	if to == string(task.Canceled) {
		return nil
	}
	m, err := tx.Config.ModeOf(t.Mode)
	if err != nil {
		return err.At(rule, "mode")
	}
	v := Guarded(func() Verdict { return m.ValidateTransition(ModeTaskOf(tx, t), from, to) })
	if v.Decision == Approved {
		v = Guarded(func() Verdict {
			then := ModeTaskOf(tx, t)
			then.State = to
			return m.TransitionMade(then, from, to)
		})
	}
	if v.Decision != Approved {
		return pawl.Fail(pawl.CodeModeViolation, "kernel.mode_refused", t.ModeName(), from, to, string(v.Decision),
			v.Reason).At(rule, "mode")
	}
	return nil
}

// AskGate asks the task's mode whether a gate may run (docs/spec/task.md#s5-2).
func AskGate(tx *Tx, t *Task, gate string) *pawl.Error {
	m, err := tx.Config.ModeOf(t.Mode)
	if err != nil {
		return err
	}
	if v := Guarded(func() Verdict { return m.ValidateGate(ModeTaskOf(tx, t), gate) }); v.Decision != Approved {
		return pawl.Fail(pawl.CodeModeViolation, "kernel.mode_gate", t.ModeName(), gate, v.Reason)
	}
	return nil
}

// AskRetry asks the task's mode whether a retry makes sense (docs/spec/task.md#s5-5).
func AskRetry(tx *Tx, t *Task) *pawl.Error {
	m, err := tx.Config.ModeOf(t.Mode)
	if err != nil {
		return err
	}
	v := Guarded(func() Verdict { return m.EvaluateRetry(ModeTaskOf(tx, t), t.Retry, tx.Config.Retry) })
	if v.Decision != Approved {
		return pawl.Fail(pawl.CodeRetryNotAllowed, "kernel.mode_retry", t.ModeName(), v.Reason)
	}
	return nil
}

// endOf is what the record of a task's end keeps beside the move: why it failed and how its mode judges that, or what
// was cleaned up (docs/spec/task.md#s4-2). What the caller wants kept goes before it.
func endOf(t *Task, to task.State, meta any) any {
	var end map[string]any
	switch to {
	case task.Failed:
		end = map[string]any{"exit_reason": t.Exit, "mode_disposition": t.Disposition}
	case task.Canceled:
		end = map[string]any{"cleanup_summary": t.Cleanup}
	default:
		return meta
	}
	given, _ := meta.(map[string]any)
	maps.Copy(end, given)
	return end
}

// ModeTaskOf reduces a task to what modes are told.
func ModeTaskOf(tx *Tx, t *Task) ModeTask {
	m := ModeTask{ID: t.ID, State: t.State, Title: t.Title, Mode: t.ModeName(), HasPlan: t.Plan != nil}
	if tx.Session != nil && t.Session != "" {
		m.RunMode = tx.Session.RunMode
	}
	if t.Plan != nil {
		m.Risk = t.Plan.RiskLevel
		for _, s := range t.Plan.Steps {
			for _, c := range s.ToolCalls {
				m.Writes = m.Writes || !tx.Config.Tools[c.Name].Info.Idempotent
			}
		}
	}
	if t.Gate != nil {
		m.Gates = t.Gate.Outcomes
	}
	return m
}
