package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pawl"
	"pawl/face/fault"
	"pawl/kernel/effect"
)

// tool is one tool: the description of its arguments is its input schema and the check of what arrives alike.
type tool struct {
	name string
	// about names the message with the tool's description.
	about string
	args  effect.Object
	// reads says that the tool changes nothing.
	reads bool
	call  func(ctx context.Context, c caller, args json.RawMessage) (any, error)
}

// caller is the client that calls.
type caller struct{ name string }

// actor is the name under which the client's commands are recorded.
func (c caller) actor() pawl.Actor { return pawl.By(pawl.KindAgent, "mcp/"+c.name) }

// maxClient bounds the name of a client, in bytes.
const maxClient = 64

// callerOf reads the name that a client gives itself. What could be mistaken for another part of a record becomes a
// dash.
func callerOf(info *sdk.Implementation) caller {
	if info == nil {
		return caller{"unnamed"}
	}
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '-'
	}, strings.ToValidUTF8(info.Name, "-"))
	name = strings.Trim(name[:min(len(name), maxClient)], "-")
	if name == "" {
		name = "unnamed"
	}
	return caller{name}
}

// handler is what a tool does with its arguments.
type handler[T any] func(ctx context.Context, c caller, args T) (any, error)

// typed makes a tool's function of one that takes its arguments as a struct.
func typed[T any](o effect.Object, f handler[T]) func(context.Context, caller, json.RawMessage) (any, error) {
	return func(ctx context.Context, c caller, raw json.RawMessage) (any, error) {
		var args T
		if err := o.Decode(raw, &args); err != nil {
			return nil, err
		}
		return f(ctx, c, args)
	}
}

// addTool registers a tool. Descriptions are put into the language of the server.
func (s *Server) addTool(t tool) {
	closed, additive := false, false
	for i := range t.args {
		if t.args[i].About != "" {
			t.args[i].About = s.Lang.Text(t.args[i].About)
		}
	}
	s.sdk.AddTool(&sdk.Tool{
		Name: t.name, Description: s.Lang.Text(t.about), InputSchema: t.args.Schema(),
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: t.reads, DestructiveHint: &additive, OpenWorldHint: &closed},
	}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		out, err := s.run(ctx, t, callerOf(r.ClientInfo()), r.Params.Arguments)
		if err != nil {
			return s.refusal(err), nil
		}
		return result(out), nil
	})
}

// run calls a tool. A tool that crashes fails alone and leaves the server at work.
func (s *Server) run(ctx context.Context, t tool, c caller, args json.RawMessage) (out json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, pawl.Fail(pawl.CodeInternal, "mcp.crash", t.name, fmt.Sprint(p))
		}
	}()
	answer, err := t.call(ctx, c, args)
	if err != nil {
		return nil, err
	}
	return bounded(answer)
}

// result is the answer of a tool: the same JSON as text, which every client shows to its model, and as a value.
func result(out json.RawMessage) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(out)}}, StructuredContent: out}
}

// maxText bounds one text of an error, in bytes.
const maxText = 2000

// describe turns an error into its parts, each bounded.
func (s *Server) describe(err error) fault.Fault {
	f := fault.Of(s.Lang, "", err)
	for i, p := range f.Problems {
		f.Problems[i] = clip(p, maxText)
	}
	f.Message, f.Hint = clip(f.Message, maxText), clip(f.Hint, maxText)
	return f
}

// refusal is the answer of a tool that failed. The protocol wants it as a result, so that the model sees it and can do
// better.
func (s *Server) refusal(err error) *sdk.CallToolResult {
	f := s.describe(err)
	var b strings.Builder
	b.WriteString(string(f.Code) + ": " + f.Message)
	for _, p := range f.Problems {
		b.WriteString("\n- " + p)
	}
	if f.Hint != "" {
		b.WriteString("\n" + s.Lang.Text("mcp.next", f.Hint))
	}
	return &sdk.CallToolResult{
		IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: b.String()}},
		StructuredContent: map[string]any{"error": f},
	}
}
