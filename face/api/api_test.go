package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pawl"
	"pawl/face/give"
	"pawl/face/host"
	"pawl/internal/golden"
	"pawl/internal/memory"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/issues"
	"pawl/kernel/joined"
	"pawl/kernel/planning"
	"pawl/kernel/query"
	"pawl/runner"
	"pawl/store/feed"
	"pawl/store/logs"
	"pawl/text/message"
	"pawl/text/plan"
	"pawl/text/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lab is a server over a kernel in memory.
type lab struct {
	*testing.T
	k      *kernel.Kernel
	store  *memory.Store
	server *Server
	mu     sync.Mutex
	now    time.Time
	works  int // how often work was asked to go on
}

// The tokens of the lab, by what they may do.
const (
	reads    = "reads"
	acts     = "acts"
	approves = "approves"
)

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{T: t, store: memory.New(), now: time.Date(2026, 2, 8, 12, 0, 0, 0, time.UTC)}
	config := kernel.Defaults()
	config.Tools["write_file"] = tool("write_file", policy.FSWrite, policy.OpWrite)
	config.Tools["read_file"] = tool("read_file", policy.FSRead, policy.OpRead)
	l.k = kernel.New(joined.Table(), l.store, config, pawl.ClockFunc(l.clock), rand.Reader)
	follow := feed.New(l.store, nil)
	l.k.OnCommit(func(kernel.Outcome) { follow.Tell() })
	l.server = New(Config{Kernel: l.k, Feed: follow, Logs: logs.Of(t.TempDir()), Version: "test", Lang: message.English,
		To:    func(k *kernel.Kernel) give.To { return give.To{Kernel: k} },
		Begin: begin,
		Work:  func() { l.mu.Lock(); l.works++; l.mu.Unlock() },
		Who: func(r *http.Request) *Caller {
			c := &Caller{Name: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), Person: "user:ada"}
			c.By = pawl.By(pawl.KindAutomation, c.Name)
			switch c.Name {
			case reads:
				c.Scopes = []Scope{Read}
			case acts:
				c.Scopes = []Scope{Read, Act}
			case approves:
				c.Scopes = []Scope{Read, Act, Approve}
			default:
				return nil
			}
			return c
		}})
	l.do("user:ada", &planning.Init{Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}})
	return l
}

func (l *lab) clock() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = l.now.Add(time.Second)
	return l.now
}

func (l *lab) do(by pawl.Actor, c kernel.Command) {
	l.Helper()
	if _, err := l.k.Do(l.Context(), kernel.Envelope{Actor: by, Command: c}); err != nil {
		l.Fatalf("%T: %v", c, err)
	}
}

// begin makes the command that takes a requirement up; one agent there is not.
func begin(_ context.Context, r host.Requirement) (kernel.Command, error) {
	if r.Agent == "nobody" {
		return nil, pawl.Fail(pawl.CodeInvalid, "agent.unknown", r.Agent, "script")
	}
	return &planning.Start{Requirement: r.Text, RunMode: pawl.RunMode(cmp.Or(r.Mode, "interactive")), Given: []byte(r.Plan),
		Name: "plan.json", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true, InPlace: r.InPlace}}, nil
}

// propose has a plan wait for approval.
func (l *lab) propose() {
	l.Helper()
	l.do("user:ada", &planning.Start{Requirement: "write a greeting", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true},
		RunMode: pawl.Interactive, Given: []byte(planText), Name: "plan.json"})
	l.work()
}

// work does what is to be done until a person is asked.
func (l *lab) work() {
	l.Helper()
	r := runner.New(l.k, l.options())
	if _, err := r.Run(l.Context()); err != nil {
		l.Fatal(err)
	}
}

const planText = `{"goal":"write a greeting","steps":[{"step_id":"s1","title":"write","intent":"write",
"tool_calls":[{"name":"write_file","args_hint":{"path":"a.txt"}}]}]}`

// lowText is a plan of low risk that needs nothing confirmed but the plan itself.
const lowText = `goal: read the greeting
risk_level: low
steps:
  - step_id: s1
    title: read it
    intent: it is wanted
    tool_calls: [{name: read_file, args_hint: {path: a.txt}}]
`

// tool is one that reads or writes a file.
func tool(name string, needs policy.Permission, op policy.Op) kernel.Tool {
	return kernel.Tool{
		Info: effect.ToolInfo{Name: name, Version: "1.0.0", ArgsSchema: json.RawMessage(`{"type":"object"}`),
			Permissions: []policy.Permission{needs}},
		Request: func(args json.RawMessage) (policy.Request, error) {
			var a struct{ Path string }
			_ = json.Unmarshal(args, &a)
			return policy.Request{Tool: name, Permissions: []policy.Permission{needs},
				Paths: []policy.Path{{Rel: a.Path, Op: op}}}, nil
		},
	}
}

// plans registers issues with plans, and has these wait for approval.
func (l *lab) plans(given ...issues.NewIssue) {
	l.Helper()
	l.do("user:ada", &issues.AddIssues{Issues: given})
	var ids []string
	for n := range given {
		i, err := query.Of(l.k).Board().Issue(l.Context(), fmt.Sprint("ISS-", n+1))
		if err != nil {
			l.Fatal(err)
		}
		ids = append(ids, i.ID)
	}
	pool := runner.NewPool(l.k, runner.PoolOptions{Options: l.options(),
		Session: func(label string) runner.Kernel { return l.k.Session(label) }, Workers: 1, Plan: true, Issues: ids,
		Start: planning.Start{Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}, RunMode: pawl.Interactive},
		Alive: func(string) bool { return true }, Lease: time.Hour, Tell: func(h runner.Happened) { l.Logf("%+v", h) }})
	ctx, cancel := context.WithTimeout(l.Context(), 20*time.Second)
	defer cancel()
	if err := pool.Run(ctx); err != nil {
		l.Fatal(err)
	}
}

// options have the lab plan.
func (l *lab) options() runner.Options {
	return runner.Options{Owner: "test/1/a", Poll: time.Millisecond,
		Drivers: map[effect.Kind]runner.Driver{effect.KindContext: l, effect.KindPlan: l, effect.KindIntake: l}}
}

func (l *lab) Done(context.Context, effect.Effect) (effect.Answer, effect.Receipt) {
	return effect.DoneUnknown, effect.Receipt{}
}

func (l *lab) Do(_ context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	if e.Kind == effect.KindContext {
		return effect.Succeeded(effect.ContextResult{Head: "c0", Branch: "main",
			Checks: []effect.Check{{Name: "tests", Command: "go test ./...", Level: 2}}})
	}
	spec, err := effect.Decode[effect.PlanSpec](e.Spec)
	if err != nil {
		return effect.Failed(err)
	}
	p, _, err := plan.Decode(spec.File, spec.Given)
	if err != nil {
		return effect.Failed(err)
	}
	return effect.Succeeded(effect.PlanResult{Plan: &p, Said: effect.Said{Agent: "script"}})
}

// ask makes a request. Headers are pairs.
func (l *lab) ask(method, path, token, body string, headers ...string) (int, http.Header, []byte) {
	l.Helper()
	r := httptest.NewRequestWithContext(l.Context(), method, Root+path, strings.NewReader(body))
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	l.server.ServeHTTP(w, r)
	raw, err := io.ReadAll(w.Result().Body)
	if err != nil {
		l.Fatal(err)
	}
	return w.Code, w.Header(), raw
}

// want makes a request that is to be answered with a status, and fills an answer in.
func (l *lab) want(status int, method, path, token, body string, into any, headers ...string) http.Header {
	l.Helper()
	got, h, raw := l.ask(method, path, token, body, headers...)
	if got != status {
		l.Fatalf("%s %s: %d, want %d: %s", method, path, got, status, raw)
	}
	if into != nil {
		if err := json.Unmarshal(raw, into); err != nil {
			l.Fatalf("%s %s: %v in %s", method, path, err, raw)
		}
	}
	return h
}

// TestDocument: what the API is, is kept where it can be read and compared.
func TestDocument(t *testing.T) {
	golden.Check(t, "../../docs/schema/openapi.json", string(newLab(t).server.Document()))
}

// TestRefusedRequestNamesItsField: a request that the library does not hand on is refused with the name of the field.
func TestRefusedRequestNamesItsField(t *testing.T) {
	l := newLab(t)
	for _, c := range [][4]string{
		{"POST", "/commands/approve", `{}`, "digest"}, {"GET", "/runs?limit=0", "", "limit"},
		{"POST", "/issues", `{"issues":[{"titel":"x"}]}`, "titel"}, {"POST", "/commands/run", `{"requirement":7}`, "requirement"},
	} {
		var p struct{ Detail string }
		l.want(422, c[0], c[1], acts, c[2], &p)
		if !strings.Contains(p.Detail, c[3]) {
			t.Errorf("%s %s: %q does not name %s", c[0], c[1], p.Detail, c[3])
		}
	}
}

// TestScopes: a request without a token, with one that is unknown, and with one that may not do what it asks for is
// refused with the next step.
func TestScopes(t *testing.T) {
	l := newLab(t)
	for _, c := range []struct {
		method, path, token, body string
		want                      int
		code                      pawl.Code
	}{
		{"GET", "/status", "", "", 401, pawl.CodeLogin}, {"GET", "/status", "x", "", 401, pawl.CodeLogin},
		{"GET", "/events", "", "", 401, pawl.CodeLogin},
		{"POST", "/commands/pause", "", "{}", 401, pawl.CodeLogin},
		{"POST", "/commands/pause", reads, "{}", 403, pawl.CodeDenied},
		{"GET", "/nothing", reads, "", 404, pawl.CodeNotFound},
		{"POST", "/status", acts, "{}", 405, pawl.CodeInvalid}, {"GET", "/commands/pause", acts, "", 405, pawl.CodeInvalid},
		{"GET", "/status?x=1", reads, "", 422, pawl.CodeInvalid}, {"GET", "/runs?limit=0", reads, "", 422, pawl.CodeInvalid},
		{"POST", "/commands/pause", acts, "{", 400, pawl.CodeInvalid},
		{"POST", "/commands/approve", acts, `{"digest":"12345678","digest":"12345679"}`, 400, pawl.CodeInvalid},
		{"POST", "/commands/approve", acts, `{"digest":"12345678","Digest":"12345679"}`, 400, pawl.CodeInvalid},
		{"POST", "/commands/approve", acts, `{}`, 422, pawl.CodeInvalid},
		{"POST", "/commands/approve", acts, ``, 400, pawl.CodeInvalid},
	} {
		status, h, raw := l.ask(c.method, c.path, c.token, c.body)
		var p Problem
		if err := json.Unmarshal(raw, &p); status != c.want || err != nil || p.Code != c.code || p.Status != status ||
			p.Hint == "" || p.Type == "" || h.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%+v: %d %s, %v", c, status, raw, err)
		}
		if c.want == 401 && h.Get("WWW-Authenticate") == "" || c.want == 405 && h.Get("Allow") == "" {
			t.Errorf("%+v: headers %v", c, h)
		}
	}
	l.want(200, "GET", "/openapi.json", "", "", nil)
}
