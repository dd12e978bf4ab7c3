package mcp

import (
	"context"
	"io"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/query"
	"pawl/store/feed"
	"pawl/text/message"
)

// Kernel is what the server needs of the kernel.
type Kernel interface {
	query.Looker
	Do(ctx context.Context, env kernel.Envelope) (kernel.Outcome, error)
	TaskSnapshot(ctx context.Context, id string) (*kernel.Snapshot, error)
	Config() *kernel.Config
}

// Config is what a Server is made of.
type Config struct {
	Kernel Kernel
	// Query answers what is only asked.
	Query query.Reader
	// Feed tells of commits.
	Feed *feed.Feed
	// Projections are the files that show the workspace to people, as the store has them at this moment.
	Projections func(ctx context.Context) ([]pawl.ProjectedFile, error)
	Version     string
	// Lang is the language of descriptions and errors.
	Lang message.Lang
	// Advance works on a run that was taken up until it waits for a person. It may be nil, and it may do nothing where
	// another process does that work; the run then waits for `pawl resume`.
	Advance func(ctx context.Context) error
	// Export writes the projections after a command. It may be nil.
	Export func(ctx context.Context) error
}

// Server serves one workspace to any number of clients. It is safe for concurrent use.
type Server struct {
	Config
	sdk *sdk.Server
}

// maxFrame bounds one message of a client, in bytes. A proposal is the largest.
const maxFrame = 1 << 20

// New returns a server with every tool and resource.
func New(c Config) *Server {
	s := &Server{Config: c}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "pawl", Title: "pawl", Version: c.Version}, &sdk.ServerOptions{
		Instructions: c.Lang.Text("mcp.instructions"),
		// Only what is served is declared: the lists never change while a server runs, and nothing is logged to
		// clients.
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}},
	})
	s.sdk.AddReceivingMiddleware(declared)
	for _, t := range s.tools() {
		s.addTool(t)
	}
	s.addResources()
	addFixtures(s.sdk)
	return s
}

// undeclared are the methods of the protocol that belong to what this server does not have.
var undeclared = []string{
	"prompts/list", "prompts/get", "completion/complete", "logging/setLevel", "resources/subscribe",
	"resources/unsubscribe",
}

// declared refuses the methods of capabilities that are not declared, so that no client takes an empty answer for one.
func declared(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if slices.Contains(undeclared, method) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found: " + method}
		}
		return next(ctx, method, r)
	}
}

// Stdio serves one client on a pair of streams until the client ends its side, which is no error, or ctx ends.
func (s *Server) Stdio(ctx context.Context, in io.Reader, out io.Writer) error {
	err := s.sdk.Run(ctx, &sdk.IOTransport{Reader: io.NopCloser(in), Writer: unclosed{out}, MaxLineLength: maxFrame})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return pawl.Fail(pawl.CodeIO, "mcp.stream_broken").In("mcp.stdio").Because(err)
	}
	return nil
}

// unclosed is a stream that belongs to somebody else and stays open.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
