package planning

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/turn"
	"pawl/machine/workflow"
	"pawl/text/policy"
	"pawl/text/triage"
)

// AskIntake has the agent judge whether the requirement is clear.
func AskIntake(tx *kernel.Tx) error {
	tx.Emit(effect.KindIntake, effect.IntakeSpec{
		Agent: tx.Run.Plans(), Requirement: tx.Run.Requirement, Answers: tx.Run.Answers, Round: tx.Turn.Rounds +
			1, Lang: tx.Run.Lang, Continue: tx.Run.AsIs,
	}, true)
	return nil
}

// TakenIn goes on with a clear requirement and parks an unclear one until the person has answered.
func TakenIn(tx *kernel.Tx, r effect.Receipt) error {
	result, err := effect.Decode[effect.IntakeResult](r.Result)
	if err != nil || !r.OK {
		return planningFailed(tx, kernel.StillUnclear, kernel.FirstError(r.Err(), err))
	}
	tx.Run.Evaluation = &result.Evaluation
	tx.Touch(tx.Run)
	e := &result.Evaluation
	tx.Record(tx.Run, kernel.AuditIntakeJudged, audit.Info, map[string]any{
		"agent": result.Agent, "model": result.Model, "prompt": result.Prompt, "by": e.By, "class": e.Class,
		"score": e.Score, "risk": e.Risk,
		"questions": len(e.Questions), "ehrb": len(e.HighRisk), "usage": result.Usage,
	})
	if len(e.Questions) == 0 {
		return Evaluated(tx)
	}
	asked := make([]string, len(e.Questions))
	for n, q := range e.Questions {
		asked[n] = q.Text + q.Key // exactly one of them is set
	}
	if tx.Turn.Rounds >= turn.MaxRounds {
		return planningFailed(tx, kernel.StillUnclear, pawl.Fail(pawl.CodeCannotPlan, "kernel.still_unclear",
			strconv.Itoa(tx.Turn.Rounds), strings.Join(asked, " / ")))
	}
	if err := tx.Apply(kernel.Unclear, e.Why); err != nil {
		return err
	}
	n := min(len(asked), kernel.MaxQuestions)
	tx.Turn.Rounds++
	tx.Turn.Questions, tx.Turn.Put = asked[:n], e.Questions[:n]
	tx.Touch(tx.Turn)
	tx.Record(tx.Turn, kernel.AuditQuestionsAsked, audit.Info,
		map[string]any{"questions": tx.Turn.Questions, "round": tx.Turn.Rounds})
	return nil
}

// Evaluated decides the complexity of a requirement that is clear. It asks a person to confirm it where one is there,
// and wherever the words themselves are of extremely high risk: an automatic mode breaks its silence for that, an
// unattended run waits, and so does one to which somebody has said yes beforehand, without having heard of the risk
// (docs/spec/workflow.md#ehrb).
func Evaluated(tx *kernel.Tx) error {
	path, why := tx.Run.Evaluation.Path()
	tx.Run.Path = path
	dangerous := triage.Asks(tx.Run.Evaluation.HighRisk) && tx.Run.RiskBy == ""
	if dangerous {
		tx.Record(tx.Run, kernel.AuditRiskFound, audit.Warn, map[string]any{"findings": tx.Run.Evaluation.HighRisk,
			"not_confirmed_by": tx.Run.AutoApprove})
	}
	if dangerous && tx.Session.RunMode == pawl.Autonomous {
		tx.Record(tx.Run, kernel.AuditAutonomousBlocked, audit.Warn,
			map[string]any{"checkpoint": "evaluation", "risk": pawl.RiskHigh})
	}
	if tx.Run.Confirm || dangerous {
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
func goOn(tx *kernel.Tx, path workflow.Path, reason string) error {
	if err := tx.Apply(kernel.Clear, reason); err != nil {
		return err
	}
	if err := sizeFlow(tx, path, reason); err != nil {
		return err
	}
	tx.Then(kernel.ThenContext)
	return nil
}

// askStage asks the person to confirm what a stage has found.
func askStage(tx *kernel.Tx, stage workflow.Stage, detail string) {
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "pawl stage 1\n%s\n%s\n%s\n%s", tx.Run.ID, stage, tx.Run.Requirement, detail)
	if tx.Run.Evaluation != nil {
		sum.Write(effect.Encode(tx.Run.Evaluation))
	}
	tx.Run.Stage = stage
	tx.Touch(tx.Run)
	kernel.AskFor(tx, kernel.AboutStage, tx.Run.ID, hex.EncodeToString(sum.Sum(nil)), policy.SingleAction, detail)
}

// Decide takes the answer to the question of a stage.
func (c *Choose) Decide(tx *kernel.Tx) error {
	a, err := kernel.PendingApproval(tx, c.Hash, strings.TrimSpace(c.Choice+" "+string(c.Path)))
	if err != nil {
		return err
	}
	if a.About != kernel.AboutStage {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.no_stage_asks", kernel.StateName(&tx.Snapshot))
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
	kernel.AnswerApproval(tx, a, kernel.ApprovalGranted, tx.Env.Actor, c.Choice)
	tx.Run.Stage, tx.Session.Approval = workflow.None, ""
	tx.Touch(tx.Run)
	if stage == workflow.Evaluate && triage.Asks(tx.Run.Evaluation.HighRisk) {
		tx.Run.RiskBy = tx.Env.Actor
		tx.Record(tx.Run, kernel.AuditRiskConfirmed, audit.Warn,
			map[string]any{"findings": tx.Run.Evaluation.HighRisk, "hash": a.Hash})
	}
	if stage == workflow.Evaluate {
		return goOn(tx, c.Path, "confirmed by "+string(tx.Env.Actor))
	}
	return tx.Apply(kernel.ContextReady, "context built")
}
