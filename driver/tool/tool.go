// Package tool makes a tool of one declaration: its arguments and its answer as types, what a call asks of policy, and
// what is done, found out and undone. What all tools have in common stands here once: the schemas, which follow from
// the types, the decoding of what arrives, and the form of requests and receipts.
package tool

import (
	"context"
	"encoding/json"
	"time"

	"pawl/kernel/effect"
	"pawl/text/policy"
)

// Tool is what answers the calls of one tool. It is safe for concurrent use, and keeps nothing between calls.
type Tool interface {
	// Info describes the tool, above all to models.
	Info() effect.ToolInfo
	// Request reduces a call to what policy judges. Malformed arguments are refused with pawl.CodeInvalid.
	Request(args json.RawMessage) (policy.Request, error)
	// Preflight looks at the tree, and returns the image of every file that the call would change, without changing
	// anything. The caller commits the images into the effect's spec before Do. A tool that knows only afterwards what
	// it changed, or changes nothing, has none.
	Preflight(ctx context.Context, e effect.Effect) ([]effect.FileImage, error)
	// Do makes the call. It ends early when ctx does, leaving nothing running.
	Do(ctx context.Context, e effect.Effect, progress effect.Progress) effect.Receipt
	// Done says whether a call happened whose outcome was lost; with effect.DoneYes it returns the receipt that Do
	// would have.
	Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt)
	// Undo takes back what a call changed, by its receipt or, where that was lost, by its images. Its receipt undoes
	// the undoing.
	Undo(ctx context.Context, e effect.Effect, did effect.Receipt) effect.Receipt
}

// Call is one call of a tool, while it is answered.
type Call struct {
	effect.ToolCall
	Effect effect.Effect
	// Progress is told lines for people. It may be nil.
	Progress effect.Progress
	// Result is what goes back beside the answer; the id of the call and, unless set, its duration are added.
	Result effect.ToolResult
}

// Declaration is all that there is to a tool that is called with an A and answers with a P. Both are structs, of which
// effect.ObjectOf makes the schemas; Do and what Request is given follow them strictly (effect.Object.Decode).
type Declaration[A, P any] struct {
	// Info is the tool's, without the schemas.
	Info effect.ToolInfo
	// Defaults are the arguments that a call has where it does not give them.
	Defaults A
	// Normalize brings arguments into the one form that policy and Do read alike, and refuses with pawl.CodeInvalid
	// what no call can mean. Nil takes all that the schema allows.
	Normalize func(*A) error
	// Request says what a call asks of policy; it must name every path. The tool's name and, unless set, the
	// permissions of Info are added.
	Request func(A) policy.Request
	// Preflight is as in Tool; nil for a tool that has no images.
	Preflight func(context.Context, *Call, A) ([]effect.FileImage, error)
	// Do makes the call. An answer beside an error is kept with the failure.
	Do func(context.Context, *Call, A) (*P, error)
	// Done is as in Tool. Nil says no of what may be made again, as Info, the effect or Repeatable say, and that nobody
	// knows of any other.
	Done func(context.Context, *Call) (effect.Answer, *P)
	// Repeatable says of a call that making it twice is the same as making it once. It may be nil.
	Repeatable func(A) bool
	// Undo takes a call back; did is nil where its result was lost. Nil has nothing to undo.
	Undo func(ctx context.Context, c *Call, did *effect.ToolResult) (*P, error)
}

// Decode reads the arguments of a call.
func (d Declaration[A, P]) Decode(raw json.RawMessage) (A, error) {
	args := d.Defaults
	err := effect.ObjectOf[A]().Decode(raw, &args)
	if err == nil && d.Normalize != nil {
		err = d.Normalize(&args)
	}
	return args, err
}

// New makes the tool.
func New[A, P any](d Declaration[A, P]) Tool {
	d.Info.ArgsSchema, d.Info.ReturnSchema = effect.ObjectOf[A]().Schema(), effect.ObjectOf[P]().Schema()
	return declared[A, P]{d}
}

// declared is a tool that does as its declaration says.
type declared[A, P any] struct{ as Declaration[A, P] }

func (t declared[A, P]) Info() effect.ToolInfo { return t.as.Info }

func (t declared[A, P]) Request(args json.RawMessage) (policy.Request, error) {
	a, err := t.as.Decode(args)
	if err != nil {
		return policy.Request{}, err
	}
	r := t.as.Request(a)
	r.Tool = t.as.Info.Name
	if r.Permissions == nil {
		r.Permissions = t.as.Info.Permissions
	}
	return r, nil
}

func (t declared[A, P]) Preflight(ctx context.Context, e effect.Effect) ([]effect.FileImage, error) {
	if t.as.Preflight == nil {
		return nil, nil
	}
	c, err := open(e)
	if err != nil {
		return nil, err
	}
	a, err := t.as.Decode(c.Args)
	if err != nil {
		return nil, err
	}
	return t.as.Preflight(ctx, c, a)
}

func (t declared[A, P]) Do(ctx context.Context, e effect.Effect, progress effect.Progress) effect.Receipt {
	return answer(e, func(c *Call) (*P, error) {
		a, err := t.as.Decode(c.Args)
		if err != nil {
			return nil, err
		}
		c.Progress = progress
		return t.as.Do(ctx, c, a)
	})
}

func (t declared[A, P]) Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	if t.as.Done == nil {
		return t.repeatable(e), effect.Receipt{}
	}
	found := effect.DoneUnknown
	receipt := answer(e, func(c *Call) (p *P, _ error) {
		found, p = t.as.Done(ctx, c)
		return p, nil
	})
	if found != effect.DoneYes {
		return found, effect.Receipt{}
	}
	return found, receipt
}

// repeatable is what is said of a call of which nobody knows whether it happened.
func (t declared[A, P]) repeatable(e effect.Effect) effect.Answer {
	if t.as.Info.Idempotent {
		return effect.DoneNo
	}
	c, err := open(e)
	if err != nil {
		return effect.DoneUnknown
	}
	a, err := t.as.Decode(c.Args)
	if err == nil && (e.Idempotent || t.as.Repeatable != nil && t.as.Repeatable(a)) {
		return effect.DoneNo
	}
	return effect.DoneUnknown
}

func (t declared[A, P]) Undo(ctx context.Context, e effect.Effect, did effect.Receipt) effect.Receipt {
	return answer(e, func(c *Call) (*P, error) {
		if t.as.Undo == nil {
			return nil, nil
		}
		if len(did.Result) == 0 {
			return t.as.Undo(ctx, c, nil)
		}
		result, err := effect.Decode[effect.ToolResult](did.Result)
		if err != nil {
			return nil, err
		}
		return t.as.Undo(ctx, c, &result)
	})
}

// open reads the call that an effect asks for.
func open(e effect.Effect) (*Call, error) {
	call, err := effect.Decode[effect.ToolCall](e.Spec)
	return &Call{ToolCall: call, Effect: e, Result: effect.ToolResult{CallID: call.CallID,
		Artifacts: effect.Artifacts{FilesChanged: []string{}, CommandsRun: []string{}}}}, err
}

// answer has a call worked on, and makes a receipt of what came of it. When that was is for the runner to say.
func answer[P any](e effect.Effect, work func(*Call) (*P, error)) effect.Receipt {
	start := time.Now()
	c, err := open(e)
	if err != nil {
		return effect.Failed(err)
	}
	said, err := work(c)
	if said == nil && err != nil {
		return effect.Failed(err)
	}
	if said != nil {
		c.Result.Payload = effect.Encode(said)
	}
	if c.Result.DurationMS == 0 {
		c.Result.DurationMS = time.Since(start).Milliseconds()
	}
	if err != nil {
		return effect.FailedWith(err, c.Result)
	}
	return effect.Succeeded(c.Result)
}
