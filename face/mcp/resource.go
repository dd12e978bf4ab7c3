package mcp

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pawl"
	"pawl/face/fault"
	"pawl/kernel/view"
)

// The kinds of content.
const (
	asJSON     = "application/json"
	asMarkdown = "text/markdown"
)

// resource is something to read under a fixed name.
type resource struct {
	uri, name, about, mime string
	read                   func(ctx context.Context) (string, error)
}

// resources are those with a fixed name. They say what the tools of the same purpose say.
func (s *Server) resources() []resource {
	read := readTools{&s.Config}
	answer := func(f handler[none]) func(context.Context) (string, error) {
		return func(ctx context.Context) (string, error) { return text(f(ctx, caller{}, none{})) }
	}
	file := func(name string) func(context.Context) (string, error) {
		return func(ctx context.Context) (string, error) {
			content, err := read.projection(ctx, name)
			return clip(content, maxOutput), err
		}
	}
	return []resource{
		{"pawl://context", view.ContextFile, "mcp.tool.read_context", asMarkdown, file(view.ContextFile)},
		{"pawl://decisions", view.DecisionsFile, "mcp.resource.decisions", asMarkdown, file(view.DecisionsFile)},
		{"pawl://status", "status", "mcp.tool.get_status", asJSON, answer(read.getStatus)},
		{"pawl://plan", "plan", "mcp.tool.get_plan", asJSON, answer(read.getPlan)},
	}
}

// text puts an answer into bounded JSON.
func text(answer any, err error) (string, error) {
	if err != nil {
		return "", err
	}
	raw, err := bounded(answer)
	return string(raw), err
}

func (s *Server) addResources() {
	for _, r := range s.resources() {
		s.sdk.AddResource(&sdk.Resource{URI: r.uri, Name: r.name, Description: s.Lang.Text(r.about), MIMEType: r.mime},
			func(ctx context.Context, q *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				content, err := r.read(ctx)
				return s.contents(q.Params.URI, r.mime, content, err)
			})
	}
	for prefix, one := range map[string]struct {
		name, about string
		read        func(ctx context.Context, id string) (any, error)
	}{
		"pawl://task/": {"task", "mcp.tool.get_task", func(ctx context.Context, id string) (any, error) {
			return readTools{&s.Config}.getTask(ctx, caller{}, about{id})
		}},
		"pawl://issue/": {"issue", "mcp.tool.get_issue", func(ctx context.Context, id string) (any, error) {
			return readTools{&s.Config}.getIssue(ctx, caller{}, struct{ Issue string }{id})
		}},
	} {
		s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: prefix + "{id}", Name: one.name,
			Description: s.Lang.Text(one.about), MIMEType: asJSON},
			func(ctx context.Context, q *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				content, err := text(one.read(ctx, strings.TrimPrefix(q.Params.URI, prefix)))
				return s.contents(q.Params.URI, asJSON, content, err)
			})
	}
}

// contents is the answer to a reading. What does not exist is told in the way of the protocol, everything else as an
// error with its next step.
func (s *Server) contents(uri, mime, content string, err error) (*sdk.ReadResourceResult, error) {
	switch pawl.CodeOf(err) {
	case "":
	case pawl.CodeNotFound:
		return nil, sdk.ResourceNotFoundError(uri)
	default:
		return nil, refused(s.describe(err))
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: mime, Text: content}}}, nil
}

// refused is an error of the protocol that carries a fault.
func refused(f fault.Fault) error {
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: string(f.Code) + ": " + f.Message, Data: data}
}
