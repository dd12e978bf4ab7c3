package workflow

import (
	"pawl"
	"pawl/machine"
)

// Names of the gates.
const (
	GateScore     = "score"
	GatePackage   = "package"
	GateAutoFull  = "auto-full"
	GateAutoPlan  = "auto-plan"
	GateNoPending = "no-pending-task"
	GateMigrated  = "package-archived"
	GateSwitch    = "switch-point"
)

// PassScore is the score from which a requirement is clear enough (docs/spec/workflow.md#evaluate-to-complexity).
const PassScore = 7

// Evidence is what the gates of a row look at. The caller fills in what the row's gates need; a gate that finds its
// evidence missing refuses. Vars are the variables before the move.
type Evidence struct {
	Vars Vars
	// Score is the requirement's score of 0 to 10; Continue states that the user goes on with the requirement as it is.
	Score    int
	Continue bool
	// Package is the path of the package that was created.
	Package string
	// Pending is the number of tasks that were not carried out yet. A failed or skipped task is not pending
	// (docs/spec/workflow.md#c9).
	Pending int
	// Archived states that the package was moved to the archive.
	Archived bool
	// Confirming states that the user is being asked to confirm the complexity, the one moment at which the mode may be
	// switched.
	Confirming bool
}

// stageGates is the number of gates that belong to the machine of the stage.
const stageGates = 6

// gates are the implemented gates: those of the stage, then that of the mode.
var gates = machine.Gates[Evidence]{
	{Name: GateScore, Pass: score, Description: "the score is at least 7, or the user goes on as it is"},
	{Name: GatePackage, Pass: packageReady, Description: "the package is created"},
	{Name: GateAutoFull, Pass: inMode(AutoFull), Description: "the mode is AUTO_FULL"},
	{Name: GateAutoPlan, Pass: inMode(AutoPlan), Description: "the mode is AUTO_PLAN"},
	{Name: GateNoPending, Pass: noPending, Description: "no task is pending"},
	{Name: GateMigrated, Pass: migrated, Description: "the package is archived"},
	{Name: GateSwitch, Pass: switchPoint, Description: "the complexity is being confirmed in EVALUATE"},
}

// AdmitStage tries the gates of a row of Stages and returns the first refusal, naming row and gate, or nil.
func AdmitStage(r *machine.Rule[Stage, Event], e Evidence) *pawl.Error {
	return machine.Admit(r, gates, e)
}

// AdmitMode tries the gates of a row of Modes and returns the first refusal, naming row and gate, or nil.
func AdmitMode(r *machine.Rule[Mode, Event], e Evidence) *pawl.Error {
	return machine.Admit(r, gates, e)
}

func score(e Evidence) *pawl.Error {
	if e.Score < PassScore && !e.Continue {
		return pawl.Fail(pawl.CodeGate, "machine.gate_score", e.Score, PassScore)
	}
	return nil
}

func packageReady(e Evidence) *pawl.Error {
	if e.Package == "" {
		return pawl.Fail(pawl.CodeGate, "machine.gate_package")
	}
	return nil
}

func inMode(m Mode) func(Evidence) *pawl.Error {
	return func(e Evidence) *pawl.Error {
		if e.Vars.Mode != m {
			return pawl.Fail(pawl.CodeGate, "machine.gate_mode", string(m), string(e.Vars.Mode))
		}
		return nil
	}
}

func noPending(e Evidence) *pawl.Error {
	if e.Pending > 0 {
		return pawl.Fail(pawl.CodeGate, "machine.gate_pending", e.Pending)
	}
	return nil
}

func migrated(e Evidence) *pawl.Error {
	if !e.Archived {
		return pawl.Fail(pawl.CodeGate, "machine.gate_migrated")
	}
	return nil
}

func switchPoint(e Evidence) *pawl.Error {
	if e.Vars.Stage != Evaluate || !e.Confirming {
		return pawl.Fail(pawl.CodeGate, "machine.gate_switch", machine.Show(e.Vars.Stage))
	}
	return nil
}
