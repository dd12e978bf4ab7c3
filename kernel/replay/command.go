package replay

import (
	"cmp"
	"reflect"

	"pawl/kernel"
)

// commands lists every command of the kernel.
func commands() []kernel.Command {
	return []kernel.Command{
		new(kernel.Init), new(kernel.Start), new(kernel.AnswerQuestions), new(kernel.Approve), new(kernel.Deny),
		new(kernel.Revise), new(kernel.EditPlan), new(kernel.Pause),
		new(kernel.Resume), new(kernel.Stop), new(kernel.CancelRun), new(kernel.Fix), new(kernel.Skip),
		new(kernel.Rollback), new(kernel.Undo),
		new(kernel.Redo), new(kernel.CreateTask), new(kernel.Transition), new(kernel.RequestGates),
		new(kernel.CancelTask), new(kernel.RestartTask),
		new(kernel.Claim), new(kernel.Heartbeat), new(kernel.Begin), new(kernel.Report), new(kernel.Recover),
		new(kernel.StartToolCall), new(kernel.Reserve),
		new(kernel.Settle), new(kernel.AttachSession), new(kernel.Sweep), new(kernel.SaveDecision),
		new(kernel.RecordError), new(kernel.UpdateProgress),
		new(kernel.CreateCheckpoint), new(kernel.Ask), new(kernel.Order), new(kernel.AddIssues), new(kernel.EditIssue),
		new(kernel.AddDependency),
		new(kernel.ClaimIssue), new(kernel.RenewIssue), new(kernel.ReleaseIssue), new(kernel.Release),
		new(kernel.RetryIssue), new(kernel.Choose), new(kernel.EnterTool), new(kernel.LeaveTool), new(kernel.MoveBoard),
		new(kernel.Relocate), new(kernel.AimBoard),
	}
}

// recordedAs are the names under which recordings know the commands whose types have other names.
var recordedAs = map[string]string{
	"AddDependency": "Depend", "AnswerQuestions": "Give", "AttachSession": "Bind", "ClaimIssue": "Take",
	"ReleaseIssue": "Leave", "RenewIssue": "Keep", "StartToolCall": "Make",
}

// nameOf is the name under which a command is recorded.
func nameOf(c kernel.Command) string {
	name := reflect.TypeOf(c).Elem().Name()
	return cmp.Or(recordedAs[name], name)
}

// command makes an empty command from its name, or returns nil.
func command(name string) kernel.Command {
	for _, c := range commands() {
		if nameOf(c) == name {
			return c
		}
	}
	return nil
}
