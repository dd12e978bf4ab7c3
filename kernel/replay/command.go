package replay

import (
	"reflect"

	"pawl/kernel"
)

// commands lists every command of the kernel.
func commands() []kernel.Command {
	return []kernel.Command{
		new(kernel.Init), new(kernel.Start), new(kernel.Give), new(kernel.Approve), new(kernel.Deny), new(kernel.Revise), new(kernel.EditPlan), new(kernel.Pause),
		new(kernel.Resume), new(kernel.Stop), new(kernel.CancelRun), new(kernel.Fix), new(kernel.Skip), new(kernel.Rollback), new(kernel.Undo),
		new(kernel.Redo), new(kernel.CreateTask), new(kernel.Transition), new(kernel.RequestGates), new(kernel.CancelTask), new(kernel.RestartTask),
		new(kernel.Claim), new(kernel.Heartbeat), new(kernel.Begin), new(kernel.Report), new(kernel.Recover), new(kernel.Make), new(kernel.Reserve),
		new(kernel.Settle), new(kernel.Bind), new(kernel.Sweep), new(kernel.SaveDecision), new(kernel.RecordError), new(kernel.UpdateProgress),
		new(kernel.CreateCheckpoint), new(kernel.Ask), new(kernel.Order), new(kernel.AddIssues), new(kernel.EditIssue), new(kernel.Depend),
		new(kernel.Take), new(kernel.Keep), new(kernel.Leave), new(kernel.Release), new(kernel.RetryIssue), new(kernel.Choose), new(kernel.EnterTool), new(kernel.LeaveTool), new(kernel.MoveBoard), new(kernel.Relocate), new(kernel.AimBoard),
	}
}

// nameOf is the name of a command's type.
func nameOf(c kernel.Command) string { return reflect.TypeOf(c).Elem().Name() }

// command makes an empty command from its name, or returns nil.
func command(name string) kernel.Command {
	for _, c := range commands() {
		if nameOf(c) == name {
			return c
		}
	}
	return nil
}
