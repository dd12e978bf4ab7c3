// Package serve offers a workspace to other programs: to agents over the Model Context Protocol, and to programs and
// pages over HTTP. It wires what answers them, says who they are, and decides nothing.
package serve

import (
	"context"

	"pawl"
	"pawl/face/host"
	"pawl/face/mcp"
	"pawl/kernel/projection"
	"pawl/kernel/query"
)

// Agents returns the function that serves a workspace to agents.
func Agents(w *host.Workspace, version string) func(context.Context, host.Serving) error {
	return func(ctx context.Context, o host.Serving) error {
		s := mcp.New(mcp.Config{Kernel: w.Kernel, Query: query.Of(w.Kernel), Feed: w.Feed,
			Projections: func(ctx context.Context) ([]pawl.ProjectedFile, error) {
				return projection.Files(ctx, w.Kernel)
			}, Version: version, Lang: o.Lang, Advance: o.Advance, Export: func(ctx context.Context) error {
				_, err := w.Export(ctx)
				return err
			}})
		if o.Addr != "" {
			return s.HTTP(ctx, o.Addr, o.Token, o.Ready)
		}
		return s.Stdio(ctx, o.In, o.Out)
	}
}
