package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"pawl/agent"
	"pawl/agent/gateway"
	"pawl/agent/wire"
	"pawl/kernel/effect"
)

// realKey is what must appear nowhere but at the endpoint.
const realKey = "sk-real-7Hq3TheRealKey"

// host keeps what is set aside and settled.
type host struct {
	mu       sync.Mutex
	refuse   error
	reserved []effect.Usage
	settled  []effect.Usage
	twice    int
}

func (h *host) Call(context.Context, effect.Ask) (effect.Receipt, error) {
	panic("the gateway calls no tools")
}
func (h *host) Bind(context.Context, string) error { panic("the gateway knows no sessions") }

func (h *host) Reserve(_ context.Context, most effect.Usage) (func(effect.Usage), error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refuse != nil {
		return nil, h.refuse
	}
	h.reserved = append(h.reserved, most)
	done := false
	return func(cost effect.Usage) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if done {
			h.twice++
		}
		done = true
		h.settled = append(h.settled, cost)
	}, nil
}

// check wants n calls, each settled exactly once, and returns the last one's cost.
func (h *host) check(t *testing.T, n int) effect.Usage {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	// A call is settled once its answer has been sent, which whoever has read the answer may know before.
	for end := time.Now().Add(10 * time.Second); len(h.settled) < len(h.reserved) && time.Now().Before(end); {
		h.mu.Unlock()
		time.Sleep(time.Millisecond)
		h.mu.Lock()
	}
	if len(h.reserved) != n || len(h.settled) != n || h.twice != 0 {
		t.Fatalf("%d reserved, %d settled, %d settled again; want %d, %d, 0", len(h.reserved), len(h.settled), h.twice,
			n, n)
	}
	if n == 0 {
		return effect.Usage{}
	}
	return h.settled[n-1]
}

// price is a dollar for a million tokens that go in and ten for those that come out.
func price(model string, u effect.Usage) effect.Usage {
	if model != "mock-model" {
		u.Unpriced = true
		return u
	}
	u.MicroUSD = u.InTokens + 10*u.OutTokens
	return u
}

// rig is a lane that is served.
type rig struct {
	t    *testing.T
	url  string
	host *host
	lane agent.Route
	stop func() // ends the lane and waits for it

	mu   sync.Mutex
	kept []gateway.Exchange
}

func key() (string, error) { return realKey, nil }

// kinds are the providers of a rig, with the bases that their endpoints have.
func providers(at string) map[string]gateway.Provider {
	return map[string]gateway.Provider{
		"openai":    {Kind: wire.OpenAI, URL: at + "/v1", Key: key},
		"anthropic": {Kind: wire.Anthropic, URL: at, Key: key},
		"gemini":    {Kind: wire.Google, URL: at + "/", Key: key},
	}
}

func serve(t *testing.T, c gateway.Config) *rig {
	t.Helper()
	r := &rig{t: t, host: &host{}}
	if c.Price == nil {
		c.Price = price
	}
	if c.Record == nil {
		c.Record = func(x gateway.Exchange) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.kept = append(r.kept, x)
		}
	}
	var err error
	if r.lane, err = gateway.New(c).Route(context.Background(), r.host, "codex"); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.url = "http://" + l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.lane.Serve(ctx, l) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	t.Cleanup(r.stop)
	return r
}

// request is a request as agents make them.
func (r *rig) request(method, path, body string) *http.Request {
	r.t.Helper()
	req, err := http.NewRequest(method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer dummy")
	req.Header.Set("X-Api-Key", "dummy")
	req.Header.Set("X-Goog-Api-Key", "dummy")
	req.Header.Set("Cookie", "session=dummy")
	req.Header.Set("X-Forwarded-For", "10.0.0.1")
	return req
}

// do makes a request and returns the status, the body and how it ended.
func (r *rig) do(method, path, body string) (int, string, error) {
	r.t.Helper()
	resp, err := http.DefaultClient.Do(r.request(method, path, body))
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(raw), err
}

// asking is how one form is asked, streaming or plain.
type asking struct {
	name, path, body string
	form             wire.Form
}

const offered = `[{"type":"function","function":{"name":"run_terminal_cmd","parameters":{"properties":{"command":{"type":"string"}}}}}]`

func wires() []asking {
	chat := `{"model":"mock-model","stream":%t,"max_tokens":500,"messages":[{"role":"user","content":"hello"}],"tools":` + offered + `}`
	responses := `{"model":"mock-model","stream":%t,"max_output_tokens":500,"input":"hello","tools":[{"type":"function","name":"run_terminal_cmd","parameters":{"properties":{"command":{"type":"string"}}}}]}`
	messages := `{"model":"mock-model","stream":%t,"max_tokens":500,"messages":[{"role":"user","content":"hello"}],"tools":[{"name":"Bash","input_schema":{"properties":{"command":{"type":"string"}}}}]}`
	gemini := `{"contents":[{"role":"user","parts":[{"text":"hello"}]}],"generationConfig":{"maxOutputTokens":500},"tools":[{"functionDeclarations":[{"name":"run_shell_command","parameters":{"properties":{"command":{"type":"string"}}}}]}]}`
	return []asking{
		{"chat stream", "/openai/v1/chat/completions", fmt.Sprintf(chat, true), wire.Chat},
		{"chat plain", "/openai/v1/chat/completions", fmt.Sprintf(chat, false), wire.Chat},
		{"responses stream", "/openai/v1/responses", fmt.Sprintf(responses, true), wire.Responses},
		{"responses plain", "/openai/v1/responses", fmt.Sprintf(responses, false), wire.Responses},
		{"messages stream", "/anthropic/v1/messages?beta=true", fmt.Sprintf(messages, true), wire.Messages},
		{"messages plain", "/anthropic/v1/messages", fmt.Sprintf(messages, false), wire.Messages},
		{"gemini stream", "/gemini/v1beta/models/mock-model:streamGenerateContent?alt=sse&key=dummy", gemini,
			wire.Gemini},
		{"gemini plain", "/gemini/v1beta/models/mock-model:generateContent", gemini, wire.Gemini},
	}
}
