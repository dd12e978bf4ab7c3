package view

import (
	"time"

	"pawl"
	"pawl/kernel/effect"
	"pawl/text/plan"
	"pawl/text/policy"
)

// Task is the answer to `pawl task show --json` (docs/spec/task.md).
type Task struct {
	TaskLine
	By       pawl.Actor `json:"created_by"`
	Base     string     `json:"base,omitempty"`
	Branch   string     `json:"branch,omitempty"`
	Tree     string     `json:"tree,omitempty"`
	PlanHash string     `json:"plan_hash,omitempty"`
	Approval string     `json:"approval,omitempty"`
	Steps    []StepLine `json:"steps,omitempty"`
	Gates    []string   `json:"gates"`
	// Fixes are the failed repairs since the last success, Repairs all that were ever planned.
	Fixes   int     `json:"fixes"`
	Repairs int     `json:"repairs"`
	Turns   int     `json:"turns"`
	Retries Retries `json:"retry_state"`
	Lease   *Lease  `json:"lease,omitempty"`
	// Failures are what went wrong, oldest first.
	Failures []Failure `json:"failures,omitempty"`
	Verified *Evidence `json:"verification,omitempty"`
	Gate     *Evidence `json:"gate_results,omitempty"`
	Proof    *Proof    `json:"proof,omitempty"`
	// Reviews and Disputed are as in a Summary.
	Reviews  []effect.WorkReview `json:"reviews,omitempty"`
	Disputed []effect.Disputed   `json:"disputed,omitempty"`
	Land     *Landing            `json:"landing,omitempty"`
	Reason   string              `json:"reason,omitempty"`
	Blocked  *Blocked            `json:"blocked,omitempty"`
	CancelAt time.Time           `json:"cancel_requested_at,omitzero"`
	CancelBy pawl.Actor          `json:"cancel_requested_by,omitempty"`
	Restart  string              `json:"restart_source,omitempty"`

	Cleanup    *effect.CleanupResult `json:"cleanup_summary,omitempty"`
	Disposed   *effect.Disposition   `json:"mode_disposition,omitempty"`
	Checkpoint string                `json:"checkpoint,omitempty"`
	DueAt      time.Time             `json:"due_at,omitzero"`
	StartedAt  time.Time             `json:"started_at,omitzero"`
	EndedAt    time.Time             `json:"ended_at,omitzero"`
}

// StepLine is one step of a plan with its progress. Repair is the number of the repair that it belongs to, 0 for a step
// of the plan itself.
type StepLine struct {
	ID     string      `json:"step_id"`
	Title  string      `json:"title"`
	Status plan.Status `json:"status"`
	Repair int         `json:"repair,omitempty"`
	File   string      `json:"file,omitempty"`
	// Unchanged says of a step that an agent calls done that nothing was changed in it.
	Unchanged bool `json:"unchanged,omitempty"`
}

// Retries is the use of a task's retry budget (docs/spec/task.md#retries).
type Retries struct {
	Count   int       `json:"retry_count"`
	Max     int       `json:"max_retries"`
	Next    time.Time `json:"next_retry_after,omitzero"`
	Reasons []string  `json:"retry_history,omitempty"`
}

// Lease is who works on a task.
type Lease struct {
	Owner   string    `json:"owner"`
	Token   int64     `json:"token"`
	Expires time.Time `json:"expires,omitzero"`
}

// Failure is one thing that went wrong. Output is the end of what the failing command printed.
type Failure struct {
	What   string       `json:"what"`
	Error  effect.Fault `json:"error"`
	Output string       `json:"output,omitempty"`
	// FailingBefore says that the check failed in the same way on what the work started from.
	FailingBefore bool `json:"failing_before,omitempty"`
}

// Evidence is what a verification has proven: which commands ran, on which tree, in which environment.
type Evidence struct {
	Passed    bool     `json:"passed"`
	Tree      string   `json:"tree"`
	TreeAfter string   `json:"tree_after"`
	EnvDigest string   `json:"env_digest,omitempty"`
	Tampered  []string `json:"tampered,omitempty"`
	// Policy is what the policy has against what the work left behind.
	Policy []policy.Found `json:"policy,omitempty"`
	Checks []Outcome      `json:"checks"`
	// Dependencies are the folders that no commit holds and that the checks ran with.
	Dependencies []effect.Dependency `json:"dependencies,omitempty"`
}

// Outcome is one command that pawl ran. Output is kept for a check that did not pass.
type Outcome struct {
	Name        string             `json:"name"`
	Command     string             `json:"command,omitempty"`
	Status      effect.CheckStatus `json:"status"`
	ExitCode    int                `json:"exit_code"`
	DurationMS  int64              `json:"duration_ms"`
	Digest      string             `json:"output_digest,omitempty"`
	Environment bool               `json:"environment,omitempty"`
	// Walls are the layers that held the command, and Weaker what it could do because others were missing.
	Walls  []string `json:"walls,omitempty"`
	Weaker []string `json:"weaker,omitempty"`
	Output string   `json:"output,omitempty"`
	// Twice says that the check ran a second time, under other names.
	Twice bool `json:"twice,omitempty"`
	// FailingBefore says that the check failed in the same way on what the work started from.
	FailingBefore bool `json:"failing_before,omitempty"`
	// Before is what the check said of the tree that the work started from, passed or failed; "" where it has not run
	// there.
	Before effect.CheckStatus `json:"before,omitempty"`
	// Missing names the program whose absence had the check left out.
	Missing string `json:"missing,omitempty"`
	// Tests is what the check said of its tests, nil where it proves by its exit status alone, and Lost those that the
	// work has kept from running.
	Tests *effect.TestRun `json:"tests,omitempty"`
	Lost  []string        `json:"lost,omitempty"`
}

// Landing is where a verified result is.
type Landing struct {
	Outcome effect.LandOutcome `json:"outcome"`
	Commit  string             `json:"commit,omitempty"`
	Tree    string             `json:"tree,omitempty"`
	Branch  string             `json:"branch,omitempty"`
	// Reason is a key of the catalogue with what it names, and Command what to run, if the result was kept instead of
	// landed.
	Reason  string            `json:"reason,omitempty"`
	Named   string            `json:"named,omitempty"`
	Command string            `json:"command,omitempty"`
	Files   []effect.FileStat `json:"files,omitempty"`
}

// EvidenceOf returns the evidence of a verification, or nil for none.
func EvidenceOf(v *effect.VerifyResult) *Evidence {
	if v == nil {
		return nil
	}
	e := &Evidence{Passed: v.Passed, Tree: v.Tree, TreeAfter: v.TreeAfter, EnvDigest: v.EnvDigest, Tampered: v.Tampered,
		Policy: v.Found,
		Checks: make([]Outcome, 0, len(v.Outcomes)), Dependencies: v.Dependencies}
	for _, o := range v.Outcomes {
		c := Outcome{
			Name: o.Name, Command: o.Command, Status: o.Status, ExitCode: o.ExitCode, DurationMS: o.DurationMS,
			Digest: o.Digest, Environment: o.Environment, FailingBefore: o.FailingBefore, Walls: o.Walls,
			Weaker: o.Weaker, Twice: o.Twice, Before: o.Before, Tests: o.Tests, Lost: o.Lost,
		}
		if o.LeftOut() {
			c.Missing = o.Missing
		}
		if o.Status != effect.CheckPassed {
			c.Output = o.Output
		}
		e.Checks = append(e.Checks, c)
	}
	return e
}

// LandingOf returns where a result is, or nil for none.
func LandingOf(r *effect.LandResult) *Landing {
	if r == nil {
		return nil
	}
	return &Landing{Outcome: r.Outcome, Commit: r.Commit, Tree: r.Tree, Branch: r.Branch, Reason: r.Reason,
		Named: r.Named, Command: r.Command, Files: r.Files}
}

// StepsOf lists the steps of a plan with their progress.
func StepsOf(p *plan.Plan) []StepLine {
	if p == nil {
		return nil
	}
	out := make([]StepLine, 0, len(p.Steps))
	for _, s := range p.Steps {
		out = append(out, StepLine{ID: s.StepID, Title: s.Title, Status: s.Status, Repair: s.Repair(), File: fileOf(s)})
	}
	return out
}

// fileOf returns the first file that a step is expected to leave behind, or "".
func fileOf(s plan.Step) string {
	for _, a := range s.ExpectedArtifacts {
		if a.Type == plan.ArtifactFile {
			return a.Value
		}
	}
	return ""
}

// StepOf says how far a plan is, with current the id of the step at work, or nil without a plan.
func StepOf(p *plan.Plan, current string) *Step {
	if p == nil {
		return nil
	}
	out := &Step{}
	for _, s := range p.Steps {
		repair := s.Repair()
		if repair == 0 {
			out.Total++
			if s.Status.Closed() {
				out.Done++
			}
		}
		if s.StepID == current {
			out.ID, out.Title, out.Repair = s.StepID, s.Title, repair
			if repair == 0 {
				out.Number = out.Total
			}
		}
	}
	return out
}
