package workflow

import (
	"slices"
	"strings"

	"pawl"
)

// Class is how a command is confirmed (docs/spec/workflow.md#commands, column class).
type Class string

// The five classes.
const (
	ClassEvaluation Class = "evaluation" // 需求评估类
	ClassTarget     Class = "target"     // 目标选择类
	ClassScene      Class = "scene"      // 场景确认类
	ClassRange      Class = "range"      // 范围选择类
	ClassDirect     Class = "direct"     // 直接执行类
)

// Effect says whether a command changes anything. It decides whether the command may be given while a flow runs
// (docs/spec/workflow.md#c2).
type Effect string

// The two effects.
const (
	Read  Effect = "read"
	Write Effect = "write"
)

// CommandInfo is one row of the command table. Mode, Entry and Stage are the variables that the command sets, and empty
// where it sets none.
type CommandInfo struct {
	Name   string `json:"name"`
	Class  Class  `json:"class"`
	Effect Effect `json:"effect"`
	Mode   Mode   `json:"mode"`
	Entry  Entry  `json:"entry"`
	Stage  Stage  `json:"stage"`
}

// Flow reports whether the command starts a flow. Only one flow runs at a time.
func (c CommandInfo) Flow() bool { return c.Stage != None }

// commands is the seed's table, in its order.
var commands = []CommandInfo{
	{Name: "~auto", Class: ClassEvaluation, Effect: Write, Mode: AutoFull, Stage: Evaluate},
	{Name: "~plan", Class: ClassEvaluation, Effect: Write, Mode: AutoPlan, Stage: Evaluate},
	{Name: "~exec", Class: ClassTarget, Effect: Write, Entry: Direct, Stage: Develop},
	{Name: "~init", Class: ClassScene, Effect: Write},
	{Name: "~upgrade", Class: ClassScene, Effect: Write},
	{Name: "~clean", Class: ClassScene, Effect: Write},
	{Name: "~test", Class: ClassScene, Effect: Write},
	{Name: "~commit", Class: ClassScene, Effect: Write},
	{Name: "~review", Class: ClassRange, Effect: Read},
	{Name: "~validate", Class: ClassRange, Effect: Read},
	{Name: "~rollback", Class: ClassTarget, Effect: Write},
	{Name: "~help", Class: ClassDirect, Effect: Read},
}

// Commands returns the command table in the seed's order.
func Commands() []CommandInfo { return slices.Clone(commands) }

// LookupCommand finds a command by its name, with or without the leading "~"; "~?" is "~help".
func LookupCommand(name string) (CommandInfo, bool) {
	name = "~" + strings.TrimPrefix(strings.TrimSpace(name), "~")
	if name == "~?" {
		name = "~help"
	}
	for _, c := range commands {
		if c.Name == name {
			return c, true
		}
	}
	return CommandInfo{}, false
}

// Command applies the state-setting action of a command. A flow command starts from reset variables, as nothing is
// inherited from an earlier command. While a flow runs, a command that only reads is let through and changes nothing; a
// flow command is refused with code busy, so that the caller asks whether to give the running flow up (Replace); and
// any other command that writes is refused with code busy. An unknown command is refused with code usage. The argument
// of the flow in plain words is Request.
func Command(name string, v Vars) (Vars, error) {
	if name == Request {
		return start(CommandInfo{Name: Request, Effect: Write, Stage: Evaluate}, v)
	}
	c, ok := LookupCommand(name)
	if !ok {
		return v, pawl.Fail(pawl.CodeUsage, "machine.command_unknown", name).In("workflow.Command")
	}
	switch {
	case c.Flow():
		return start(c, v)
	case c.Effect == Write && (v.Active() || v.ToolNesting > 0):
		return v, pawl.Fail(pawl.CodeBusy, "machine.command_write", c.Name, runningName(v)).In("workflow.Command")
	}
	return v, nil
}

func start(c CommandInfo, v Vars) (Vars, error) {
	if v.Active() || v.ToolNesting > 0 {
		return v, pawl.Fail(pawl.CodeBusy, "machine.command_flow", c.Name, runningName(v)).In("workflow.Command")
	}
	next := v.Reset()
	next.Stage, next.Command = c.Stage, c.Name
	if c.Mode != "" {
		next.Mode = c.Mode
	}
	if c.Entry != "" {
		next.Entry = c.Entry
	}
	return next, nil
}

// runningName names what is running, for the message.
func runningName(v Vars) string {
	switch {
	case v.Command != "":
		return v.Command
	case v.ActiveTool != "":
		return v.ActiveTool
	}
	return string(v.Stage)
}
