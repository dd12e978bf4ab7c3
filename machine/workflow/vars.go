package workflow

import "pawl"

// Vars are the variables of docs/spec/workflow.md#variables, in the JSON spelling of the seed. Vars is comparable; the
// zero value is not valid, Initial is.
type Vars struct {
	Mode           Mode   `json:"WORKFLOW_MODE"`
	Stage          Stage  `json:"CURRENT_STAGE"`
	Entry          Entry  `json:"STAGE_ENTRY_MODE"`
	KBSkipped      Flag   `json:"KB_SKIPPED"`
	CreatedPackage string `json:"CREATED_PACKAGE"`
	CurrentPackage string `json:"CURRENT_PACKAGE"`
	ActiveTool     string `json:"ACTIVE_TOOL"`
	SuspendedStage Stage  `json:"SUSPENDED_STAGE"`
	ToolNesting    int    `json:"TOOL_NESTING"`
	SilenceBroken  bool   `json:"SILENCE_BROKEN"`
	// Path and Command are pawl's own: the decided path (docs/spec/workflow.md#c8) and the command that the flow runs
	// for. They are reset with the stage.
	Path    Path   `json:"PATH"`
	Command string `json:"COMMAND"`
}

// Initial returns the variables of an idle system.
func Initial() Vars { return Vars{Mode: Interactive, Entry: Natural} }

// ResetStep is one of the four steps of the reset protocol: the variables that it resets, in order, and how.
type ResetStep struct {
	Names []string
	apply func(*Vars)
}

// resetSteps is the reset protocol in the seed's order (docs/spec/workflow.md#reset).
var resetSteps = []ResetStep{
	{[]string{"CREATED_PACKAGE", "CURRENT_PACKAGE", "KB_SKIPPED", "ACTIVE_TOOL", "SUSPENDED_STAGE"}, func(v *Vars) {
		v.CreatedPackage, v.CurrentPackage, v.KBSkipped, v.ActiveTool, v.SuspendedStage = "", "", Undecided, "", None
	}},
	{[]string{"TOOL_NESTING", "SILENCE_BROKEN"}, func(v *Vars) { v.ToolNesting, v.SilenceBroken = 0, false }},
	{[]string{"CURRENT_STAGE", "STAGE_ENTRY_MODE"}, func(v *Vars) {
		v.Stage, v.Entry, v.Path, v.Command = None, Natural, PathNone, ""
	}},
	{[]string{"WORKFLOW_MODE"}, func(v *Vars) { v.Mode = Interactive }},
}

// Apply returns v after the step.
func (s ResetStep) Apply(v Vars) Vars { s.apply(&v); return v }

// Reset returns v after the whole protocol, which equals Initial. Configuration, files, packages in the archive and the
// knowledge base are not variables and stay (docs/spec/workflow.md#kept-and-reset).
func (v Vars) Reset() Vars {
	for _, s := range resetSteps {
		v = s.Apply(v)
	}
	return v
}

// Active reports whether a flow is running: a stage is set, or suspended by a tool.
func (v Vars) Active() bool { return v.Stage != None || v.SuspendedStage != None }

// Waits reports whether the flow stops for a person when its present stage is complete: in INTERACTIVE after every
// stage (docs/spec/workflow.md#c6), and in any mode while the silence is broken.
func (v Vars) Waits() bool { return v.SilenceBroken || v.Mode == Interactive }

// Advance moves the stage along its table and sets the variables that the seed sets with it. Reaching no stage runs the
// reset protocol. The gates of the row are tried on e, with v in place of e.Vars. An error is invalid_transition or
// that of the gate. The event COMMAND is answered by Command, which knows the mode and the running flow.
func Advance(v Vars, on Event, when string, e Evidence) (Vars, error) {
	if on == CommandGiven {
		return Command(when, v)
	}
	r, ok := Stages.Next(v.Stage, on, when)
	if !ok {
		return v, Stages.Refusal(v.Stage, on).In("workflow.Advance")
	}
	e.Vars = v
	if err := AdmitStage(r, e); err != nil {
		return v, err.In("workflow.Advance")
	}
	if r.To == None {
		return v.Reset(), nil
	}
	next := v
	next.Stage = r.To
	switch on {
	case Complexity:
		next.Path = Path(when)
	case PackageReady:
		next.CreatedPackage = e.Package
	}
	return next, nil
}

// SwitchMode applies the user's choice when the complexity is confirmed. There is no way back to a silent mode within
// the flow (docs/spec/workflow.md#mode-switch-moment).
func SwitchMode(v Vars, choice string, e Evidence) (Vars, error) {
	r, ok := Modes.Next(v.Mode, Choose, choice)
	if !ok {
		return v, pawl.Fail(pawl.CodeInvalidTransition, "machine.mode_choice", choice,
			string(v.Mode)).In("workflow.SwitchMode")
	}
	e.Vars = v
	if err := AdmitMode(r, e); err != nil {
		return v, err.In("workflow.SwitchMode")
	}
	v.Mode = r.To
	return v, nil
}

// BreakSilence marks that something must be said to a person although the mode is silent. The mode stays
// (docs/spec/workflow.md#c5).
func (v Vars) BreakSilence() Vars { v.SilenceBroken = true; return v }

// Reply clears the mark after the person's answer.
func (v Vars) Reply() Vars { v.SilenceBroken = false; return v }

// EnterTool notes that an external tool has taken over. The stage at the first entry is suspended; tools may nest.
func EnterTool(v Vars, tool string) (Vars, error) {
	if tool == "" {
		return v, pawl.Fail(pawl.CodeInvalid, "machine.tool_unnamed").In("workflow.EnterTool")
	}
	if v.ToolNesting == 0 {
		v.SuspendedStage, v.Stage = v.Stage, None
	}
	v.ActiveTool = tool
	v.ToolNesting++
	return v, nil
}

// LeaveTool notes that the innermost tool is finished. Outer names the tool that called it, and is "" at the outermost
// one; then the suspended stage is resumed when resume is true, and otherwise the variables are reset.
func LeaveTool(v Vars, outer string, resume bool) (Vars, error) {
	switch {
	case v.ToolNesting == 0:
		return v, pawl.Fail(pawl.CodeInvalid, "machine.tool_none").In("workflow.LeaveTool")
	case (v.ToolNesting > 1) != (outer != ""):
		return v, pawl.Fail(pawl.CodeInvalid, "machine.tool_nesting", v.ToolNesting).In("workflow.LeaveTool")
	case v.ToolNesting > 1:
		v.ActiveTool = outer
		v.ToolNesting--
		return v, nil
	case !resume:
		return v.Reset(), nil
	}
	v.Stage, v.SuspendedStage = v.SuspendedStage, None
	v.ActiveTool, v.ToolNesting = "", 0
	return v, nil
}
