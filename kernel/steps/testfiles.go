package steps

import (
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
)

// putTest commits the write of the next of the files of tests that came with the plan. It is false when all of them
// stand in the tree as they were approved: whoever works may have changed them since, so that they are written once
// before the work and once more before the checks (docs/spec/turn.md#criteria).
func putTest(tx *kernel.Tx) (bool, error) {
	files := tx.Task.Plan.TestFiles()
	if tx.Task.Ready.Tests >= len(files) {
		return false, nil
	}
	call := files[tx.Task.Ready.Tests].Write()
	v, err := kernel.JudgeCall(tx, call)
	if err != nil {
		return true, kernel.Block(tx, kernel.BlockedEnvironment, "", err)
	}
	tool := tx.Config.Tools[call.Name].Info
	e := tx.Emit(effect.KindTool, effect.ToolCall{
		CallID: tx.NewID(), Name: call.Name, Version: tool.Version, Args: call.ArgsHint, Permissions: tool.Permissions,
		TraceID: tx.Turn.Trace, StepID: effect.TestsStep, Granted: granted(tx, v), Snapshot: true,
	}, tx.Config.Repeatable(call.Name, call.ArgsHint))
	e.Effect.Timeout, e.Effect.Record = tx.Config.Call, true
	return true, nil
}

// testPut goes on after the write of a file of tests. One that had to be written anew was changed by the work, which is
// worth a record.
func testPut(tx *kernel.Tx, r effect.Receipt) error {
	t := tx.Task
	if !r.OK {
		return kernel.Block(tx, kernel.BlockedEnvironment, "", r.Err())
	}
	if did, err := effect.Decode[effect.ToolResult](r.Result); err == nil && t.Ready.Placed {
		for _, path := range did.Artifacts.FilesChanged {
			tx.Record(t, kernel.AuditTestRestored, audit.Warn, map[string]any{"path": path})
		}
	}
	t.Ready.Tests++
	t.Ready.Placed = t.Ready.Placed || t.Ready.Tests == len(t.Plan.TestFiles())
	tx.Touch(t)
	return tx.Apply(kernel.CallWorked, "the tests of the plan")
}
