package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"pawl/text/display"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pawl"
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

// fault is the form of an error, as the command line's --json has it.
type fault struct {
	Code    pawl.Code  `json:"code"`
	Class   pawl.Class `json:"class"`
	Message string     `json:"message"`
	Hint    string     `json:"hint,omitempty"`
	Rule    string     `json:"rule,omitempty"`
	Gate    string     `json:"gate,omitempty"`
	// Problems are the single problems of a plan, one text each.
	Problems []string `json:"problems,omitempty"`
}

// maxText bounds one text of an error, in bytes.
const maxText = 2000

// describe turns an error into its parts. Whatever could act on a terminal is escaped.
func (s *Server) describe(err error) fault {
	f := fault{Code: pawl.CodeOf(err), Message: err.Error()}
	f.Class = f.Code.Info().Class
	var e *pawl.Error
	if errors.As(err, &e) {
		f.Rule, f.Gate = e.Rule, e.Gate
		f.Message, f.Hint = s.Lang.Error(err)
		var bad *pawl.Problems
		if errors.As(err, &bad) {
			f.Message, f.Hint = s.Lang.Text(e.Key, e.Args...), s.Lang.Hint(e.Key, e.Args...)
			for _, p := range bad.Errors() {
				text, hint := s.Lang.Error(p)
				if hint != "" {
					text += " (" + hint + ")"
				}
				f.Problems = append(f.Problems, clip(display.Line(text), maxText))
			}
		}
	}
	f.Message, f.Hint = clip(display.Line(f.Message), maxText), clip(display.Line(f.Hint), maxText)
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
