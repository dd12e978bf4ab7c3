package checkpoint

import (
	"context"
	"encoding/json"
	"errors"

	"pawl/kernel/effect"
	"pawl/sandbox/safeopen"
	"pawl/text/policy"
	"pawl/text/secret"
)

// Tool is what every tool's driver offers.
type Tool interface {
	Info() effect.ToolInfo
	Request(args json.RawMessage) (policy.Request, error)
	Do(ctx context.Context, e effect.Effect, progress effect.Progress) effect.Receipt
	Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt)
}

// Recorded is a tool whose calls record the tree that they leave behind, where the call asks for it and the tool does
// not do so itself. Work in the user's own tree needs that: what pawl left is how a rollback tells pawl's changes from
// the user's.
//
// What a call answers goes to agents and into the store, so the secrets are taken out of it.
type Recorded struct {
	Tool
	Snapshotter Snapshotter
	// Secrets tells what knows the secrets of a workspace. Nil leaves answers as they are.
	Secrets func(workspace string) *secret.Redactor
}

// Preflight passes on to the tool, if it has one.
func (r Recorded) Preflight(ctx context.Context, e effect.Effect) ([]effect.FileImage, error) {
	if p, ok := r.Tool.(interface {
		Preflight(ctx context.Context, e effect.Effect) ([]effect.FileImage, error)
	}); ok {
		return p.Preflight(ctx, e)
	}
	return nil, nil
}

// Do makes the call and records the tree behind it.
func (r Recorded) Do(ctx context.Context, e effect.Effect, progress effect.Progress) effect.Receipt {
	return r.clean(e, r.record(ctx, e, r.Tool.Do(ctx, e, progress)))
}

// clean takes the secrets out of an answer, and leaves what undoes the call as it is.
func (r Recorded) clean(e effect.Effect, receipt effect.Receipt) effect.Receipt {
	result, err := effect.Decode[effect.ToolResult](receipt.Result)
	if r.Secrets == nil || err != nil {
		return receipt
	}
	payload, changed := secret.JSON(result.Payload, r.Secrets(e.Place.Workspace).Certain)
	if changed {
		result.Payload = payload
		receipt.Result = effect.Encode(result)
	}
	return receipt
}

// Done removes what a write that was cut off left behind, asks the tool, and records the tree when the call turns out
// to have happened.
func (r Recorded) Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	if err := sweep(ctx, e.Place.Tree); err != nil {
		return effect.DoneUnknown, effect.Failed(err)
	}
	answer, receipt := r.Tool.Done(ctx, e)
	if answer == effect.DoneYes {
		receipt = r.clean(e, r.record(ctx, e, receipt))
	}
	return answer, receipt
}

func (r Recorded) record(ctx context.Context, e effect.Effect, receipt effect.Receipt) effect.Receipt {
	call, err := effect.Decode[effect.ToolCall](e.Spec)
	if err != nil || !call.Snapshot || !receipt.OK {
		return receipt
	}
	result, err := effect.Decode[effect.ToolResult](receipt.Result)
	if err != nil || result.After != "" || result.Unrecorded != nil {
		return receipt
	}
	// A call that was made is recorded even when it is wanted no longer. One that has worked has, whether its tree can
	// be recorded or not: that is tried again when the next effect begins.
	result.Before = e.Before
	if result.After, err = r.Snapshotter.Snapshot(context.WithoutCancel(ctx), e.Place); err != nil {
		why := effect.Failed(err).Fault()
		result.Unrecorded = &why
	}
	receipt.Result = effect.Encode(result)
	return receipt
}

// sweep removes unfinished files; nothing else writes in the tree while a call is being recovered.
func sweep(ctx context.Context, tree string) error {
	root, err := safeopen.OpenRoot(tree)
	if err != nil {
		return err
	}
	_, err = root.Sweep(ctx)
	return errors.Join(err, root.Close())
}
