package agent

import (
	"context"
	"net"

	"pawl/kernel/effect"
)

// Gateway is pawl's own model server for external agents. It stands between them and the real endpoints: it holds the
// keys, sets aside what a call may cost before it is made, and counts what it did cost.
type Gateway interface {
	// Route opens the way to the models for one effect of an agent. The lane ends with ctx.
	Route(ctx context.Context, host effect.Host, agent string) (Route, error)
}

// Route is the way of one effect to the models. Its methods are safe for concurrent use.
type Route interface {
	// Serve answers on a listener until ctx ends or the listener is closed, and closes the listener. It returns nil
	// then.
	Serve(ctx context.Context, l net.Listener) error
	// URL returns the path below which a provider is served, such as "/openai". What follows it is the path of the
	// provider's own interface with its version: /v1/chat/completions, /v1/messages, /v1beta/models/….
	URL(provider string) string
	// Usage returns what the lane's calls did cost so far.
	Usage() effect.Usage
	// Refused returns what the gateway refused for good, or nil.
	Refused() error
	// Err returns the refusal or failure that decides how the effect ends (a budget, a key that does not work), or nil.
	Err() error
}
