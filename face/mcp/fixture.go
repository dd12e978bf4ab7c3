//go:build conformance

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A picture of one pixel and a sound without samples: the smallest that are valid.
var (
	pixel = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89" +
		"\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82")
	sound = []byte("RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00")
)

// addFixtures adds the tools and resources that the protocol's conformance suite calls by name. They belong to no
// release.
func addFixtures(s *sdk.Server) {
	fixture := func(name, schema string, f func(ctx context.Context, r *sdk.CallToolRequest) ([]sdk.Content, error)) {
		s.AddTool(&sdk.Tool{Name: name, Description: "fixture", InputSchema: json.RawMessage(schema)},
			func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				content, err := f(ctx, r)
				if err != nil {
					return &sdk.CallToolResult{IsError: true,
							Content: []sdk.Content{&sdk.TextContent{Text: err.Error()}}},
						nil
				}
				return &sdk.CallToolResult{Content: content}, nil
			})
	}
	const empty = `{"type":"object","properties":{},"additionalProperties":false}`
	say := func(text string) sdk.Content { return &sdk.TextContent{Text: text} }
	picture := &sdk.ImageContent{MIMEType: "image/png", Data: pixel}
	embedded := &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "test://embedded-resource",
		MIMEType: "text/plain", Text: "an embedded resource"}}
	for name, content := range map[string][]sdk.Content{
		"test_simple_text":            {say("This is a simple text response for testing.")},
		"test_image_content":          {picture},
		"test_audio_content":          {&sdk.AudioContent{MIMEType: "audio/wav", Data: sound}},
		"test_embedded_resource":      {embedded},
		"test_multiple_content_types": {say("several kinds"), picture, embedded},
	} {
		fixture(name, empty, func(context.Context, *sdk.CallToolRequest) ([]sdk.Content, error) { return content, nil })
	}
	fixture("test_error_handling", empty, func(context.Context, *sdk.CallToolRequest) ([]sdk.Content, error) {
		return nil, errors.New("this tool always fails")
	})
	fixture("test_tool_with_progress", empty, func(ctx context.Context, r *sdk.CallToolRequest) ([]sdk.Content, error) {
		for _, n := range []float64{0, 50, 100} {
			p := &sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: n, Total: 100}
			if err := r.Session.NotifyProgress(ctx, p); err != nil {
				return nil, err
			}
		}
		return []sdk.Content{say("done")}, nil
	})
	fixture("test_reconnection", empty, func(_ context.Context, r *sdk.CallToolRequest) ([]sdk.Content, error) {
		if r.Extra != nil && r.Extra.CloseSSEStream != nil {
			r.Extra.CloseSSEStream(sdk.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
		}
		time.Sleep(100 * time.Millisecond)
		return []sdk.Content{say("still here after the stream was closed")}, nil
	})
	fixture("test_streaming_elicitation", empty, func(context.Context, *sdk.CallToolRequest) ([]sdk.Content, error) {
		return []sdk.Content{say("no question was needed")}, nil
	})
	fixture("test_logging_tool", empty, func(ctx context.Context, r *sdk.CallToolRequest) ([]sdk.Content, error) {
		//nolint:staticcheck // the suite wants to see that nothing is logged to a client that did not ask for it
		return []sdk.Content{say("tried to log")}, r.Session.Log(ctx,
			&sdk.LoggingMessageParams{Level: "info", Data: "not to be seen"})
	})
	s.AddTool(&sdk.Tool{Name: "test_missing_capability", Description: "fixture", InputSchema: json.RawMessage(empty)},
		needsSampling)
	fixture("json_schema_2020_12_tool", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
		"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},
		"phone":{"type":"string"},"email":{"type":"string"}},
		"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
		"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},
		"additionalProperties":false}`, func(context.Context, *sdk.CallToolRequest) ([]sdk.Content, error) {
		return []sdk.Content{say("ok")}, nil
	})
	addFixtureResources(s)
}

// needsSampling refuses clients that have declared no sampling.
func needsSampling(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if c := r.ClientCapabilities(); c != nil && c.Sampling != nil {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "the client samples"}}}, nil
	}
	data, err := json.Marshal(sdk.MissingRequiredClientCapabilityData{RequiredCapabilities: &sdk.ClientCapabilities{Sampling: &sdk.SamplingCapabilities{}}})
	if err != nil {
		return nil, err
	}
	return nil, &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "sampling is needed",
		Data: data}
}

func addFixtureResources(s *sdk.Server) {
	content := func(c sdk.ResourceContents) sdk.ResourceHandler {
		return func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			out := c
			out.URI = r.Params.URI
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{&out}}, nil
		}
	}
	s.AddResource(&sdk.Resource{URI: "test://static-text", Name: "static-text", MIMEType: "text/plain"},
		content(sdk.ResourceContents{MIMEType: "text/plain", Text: "This is the content of the static text resource."}))
	s.AddResource(&sdk.Resource{URI: "test://static-binary", Name: "static-binary", MIMEType: "image/png"},
		content(sdk.ResourceContents{MIMEType: "image/png", Blob: pixel}))
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template",
		MIMEType: asJSON},
		func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(r.Params.URI, "test://template/"), "/data")
			raw, err := json.Marshal(map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " + id})
			if err != nil {
				return nil, err
			}
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: asJSON,
				Text: string(raw)}}}, nil
		})
}
