package agenttest

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"pawl"
	"pawl/kernel/effect"
)

// Host is a host that remembers what it was asked for. Its files are in memory, so that a change of the workspace is
// one that the agent made by itself. The zero Host is ready, and has no budget.
type Host struct {
	mu sync.Mutex
	// Budget bounds the requests to models, 0 for no bound.
	Budget int64
	// Refuse lists tools that are refused.
	Refuse map[string]pawl.Code

	files map[string]string
	calls []effect.Ask
	open  int // reservations that were not settled
	twice int // reservations that were settled more than once
	made  int
	spent effect.Usage
	bound string
}

// Call makes one call.
func (h *Host) Call(ctx context.Context, a effect.Ask) (effect.Receipt, error) {
	if ctx.Err() != nil {
		return effect.Receipt{}, pawl.Fail(pawl.CodeCanceled, "runner.canceled")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if code, ok := h.Refuse[a.Name]; ok {
		return effect.Receipt{}, pawl.Fail(code, "kernel.call_asks", a.Name)
	}
	var args struct{ Path, Content, Command string }
	if err := json.Unmarshal(a.Args, &args); err != nil {
		return effect.Receipt{}, pawl.Fail(pawl.CodeInvalid, "kernel.tool_unknown", a.Name).Because(err)
	}
	h.calls = append(h.calls, a)
	answer := any(map[string]any{})
	switch a.Name {
	case "write_file":
		if h.files == nil {
			h.files = map[string]string{}
		}
		h.files[args.Path] = args.Content
	case "read_file":
		answer = map[string]string{"content": h.files[args.Path]}
	case "run_terminal_cmd":
		answer = map[string]any{"exit_code": 0}
	default:
		return effect.Receipt{}, pawl.Fail(pawl.CodeInvalid, "kernel.tool_unknown", a.Name)
	}
	return effect.Succeeded(effect.ToolResult{CallID: a.ID, Payload: effect.Encode(answer)}), nil
}

// Reserve sets aside what a request may cost.
func (h *Host) Reserve(ctx context.Context, most effect.Usage) (func(effect.Usage), error) {
	if ctx.Err() != nil {
		return nil, pawl.Fail(pawl.CodeCanceled, "runner.canceled")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.Budget > 0 && h.spent.Requests+int64(h.open)+most.Requests > h.Budget {
		return nil, pawl.Fail(pawl.CodeBudget, "kernel.budget_used", "run:test", "requests", "1", "1", "1")
	}
	h.open++
	h.made++
	settled := false
	return func(cost effect.Usage) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if settled {
			h.twice++
			return
		}
		settled = true
		h.open--
		h.spent = h.spent.Plus(cost)
	}, nil
}

// Bind keeps the agent's session.
func (h *Host) Bind(_ context.Context, session string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bound = session
	return nil
}

// Calls are the calls that were made, in order.
func (h *Host) Calls() []effect.Ask {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]effect.Ask(nil), h.calls...)
}

// File is what was written to a file.
func (h *Host) File(name string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.files[name]
}

// Reserved is how many reservations were made.
func (h *Host) Reserved() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.made
}

// Spent is what was settled.
func (h *Host) Spent() effect.Usage {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.spent
}

// Open is how many reservations wait to be settled.
func (h *Host) Open() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open
}

// settled holds the agent to settling each reservation exactly once.
func (h *Host) settled(t testing.TB) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open != 0 || h.twice != 0 {
		t.Errorf("%d reservations were never settled, %d more than once", h.open, h.twice)
	}
}
