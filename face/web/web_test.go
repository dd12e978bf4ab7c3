package web

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/html"

	"pawl"
	"pawl/face/give"
	"pawl/face/host"
	"pawl/face/loopback"
	"pawl/internal/memory"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/audit"
	"pawl/kernel/budget"
	"pawl/kernel/effect"
	"pawl/kernel/issues"
	"pawl/kernel/joined"
	"pawl/kernel/planning"
	"pawl/kernel/query"
	"pawl/kernel/steps"
	"pawl/runner"
	"pawl/store/feed"
	"pawl/text/message"
	"pawl/text/plan"
	"pawl/text/policy"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"))
}

// lab is a dashboard over a kernel in memory, with a browser that has no script.
type lab struct {
	*testing.T
	k      *kernel.Kernel
	door   *Door
	server *httptest.Server
	client *http.Client
	lang   string
	// name and port are where the server is.
	name, port string
	mu         sync.Mutex
	now        time.Time
	works      int
	text       string // the plan that agents propose
	config     Config
	guard      *loopback.Guard
	patch      string // what the diff of any two trees is
	// cost is what planning costs, and told what the planner says of that.
	cost, told effect.Usage
	// asked is what was asked of the agent that works.
	asked []effect.WorkSpec
}

// hostile is what an agent could write to break a page, a terminal or an eye.
const hostile = `<script>alert(1)</script><img src=x onerror=alert(1)>` + "\u202e\x1b[31m" + `"' onfocus="x`

func newLab(t *testing.T, tune ...func(*kernel.Config)) *lab {
	t.Helper()
	l := &lab{T: t, now: time.Date(2026, 2, 8, 12, 0, 0, 0, time.UTC), lang: "en", name: "p-test.localhost", text: planText, patch: patchText}
	store := memory.New()
	config := kernel.Defaults()
	for _, name := range []string{"write_file", "read_file"} {
		config.Tools[name] = tool(name)
	}
	for _, f := range tune {
		f(&config)
	}
	l.k = kernel.New(joined.Table(), store, config, pawl.ClockFunc(l.clock), rand.Reader)
	follow := feed.New(store, nil)
	l.k.OnCommit(func(kernel.Outcome) { follow.Tell() })
	l.door = NewDoor(filepath.Join(t.TempDir(), "codes"), l.clock)
	l.config = Config{Kernel: l.k, Feed: follow, Door: l.door, Lang: message.English,
		To: func(k *kernel.Kernel) give.To { return give.To{Kernel: k} },
		Begin: func(_ context.Context, r host.Requirement) (kernel.Command, error) {
			if r.Agent != "" {
				return nil, pawl.Fail(pawl.CodeInvalid, "agent.unknown", r.Agent, "script")
			}
			return &planning.Start{Requirement: r.Text, RunMode: pawl.RunMode(r.Mode), Place: place}, nil
		},
		Work: func() { l.mu.Lock(); l.works++; l.mu.Unlock() },
		Diff: func(context.Context, effect.Place, string, string) (string, error) { return l.patch, nil },
		Verify: func(ctx context.Context) (r audit.Report, err error) {
			err = query.Of(l.k).Log().At(ctx, func(log audit.Log) error { r, err = log.Verify(); return err })
			return r, err
		}}
	l.guard = &loopback.Guard{Next: New(l.config), Refuse: func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, err.Error(), http.StatusForbidden)
	}}
	l.server = httptest.NewServer(l.guard)
	u, _ := url.Parse(l.server.URL)
	l.guard.Port, l.guard.Name, l.port = u.Port(), l.name, u.Port()
	t.Cleanup(l.server.Close)
	jar, _ := cookiejar.New(nil)
	l.client = &http.Client{Jar: jar}
	t.Cleanup(l.client.CloseIdleConnections)
	l.do("user:ada", &planning.Init{Place: place})
	return l
}

var place = effect.Place{Workspace: "/w", Tree: "/w", Git: true}

func (l *lab) clock() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = l.now.Add(10 * time.Millisecond)
	return l.now
}

func (l *lab) do(by pawl.Actor, c kernel.Command) {
	l.Helper()
	if _, err := l.k.Do(l.Context(), kernel.Envelope{Actor: by, Command: c}); err != nil {
		l.Fatalf("%T: %v", c, err)
	}
}

// propose has a plan wait for approval.
func (l *lab) propose() {
	l.Helper()
	l.do("user:ada", &planning.Start{Requirement: "write a greeting " + hostile, Place: place,
		RunMode: pawl.Interactive, Given: []byte(l.text), Name: "plan.yaml"})
	l.work()
}

// work does what is to be done until a person is asked.
func (l *lab) work() {
	l.Helper()
	drivers := map[effect.Kind]runner.Driver{effect.KindContext: l, effect.KindPlan: l, effect.KindIntake: l,
		effect.KindCheckpoint: l}
	for kind := range results {
		drivers[kind] = l
	}
	r := runner.New(l.k, runner.Options{Owner: "test/1/a", Poll: time.Millisecond, Drivers: drivers,
		Tools: map[string]runner.Driver{"write_file": l}})
	if _, err := r.Run(l.Context()); err != nil {
		l.Fatal(err)
	}
}

const planText = `goal: write a greeting
risk_level: low
steps:
  - step_id: s1
    title: write it <b>now</b>
    intent: it is wanted
    tool_calls: [{name: write_file, args_hint: {path: a.txt, content: "<i>hello</i>"}}]
`

const dangerText = `goal: write a greeting
risk_level: high
steps:
  - step_id: s1
    title: write it
    intent: it is wanted
    tool_calls: [{name: write_file, args_hint: {path: a.txt, content: "<i>hello</i>"}}]
`

const patchText = `diff --git a/greet.go b/greet.go
--- a/greet.go
+++ b/greet.go
@@ -1,2 +1,2 @@
 package greet
-<script>old</script>
+<script>new</script>
diff --git a/greet_test.go b/greet_test.go
new file mode 100644
--- /dev/null
+++ b/greet_test.go
@@ -0,0 +1 @@
+package greet
\ No newline at end of file
`

// tool is one that reads or writes a file.
func tool(name string) kernel.Tool {
	needs, op := policy.FSWrite, policy.OpWrite
	if name == "read_file" {
		needs, op = policy.FSRead, policy.OpRead
	}
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

// lowText is a plan of low risk that needs nothing confirmed but the plan itself.
const lowText = `goal: read the greeting
risk_level: low
steps:
  - step_id: s1
    title: read it
    intent: it is wanted
    tool_calls: [{name: read_file, args_hint: {path: a.txt}}]
`

// plans registers issues with plans, and has these wait for approval.
func (l *lab) plans(given ...issues.NewIssue) {
	l.Helper()
	out, err := l.k.Do(l.Context(), kernel.Envelope{Actor: "user:ada", Command: &issues.AddIssues{Issues: given}})
	var labels, ids []string
	if err == nil {
		err = json.Unmarshal(out.Result, &labels)
	}
	for _, label := range labels {
		i, err := query.Of(l.k).Board().Issue(l.Context(), label)
		if err != nil {
			l.Fatal(err)
		}
		ids = append(ids, i.ID)
	}
	if err != nil {
		l.Fatal(err)
	}
	pool := runner.NewPool(l.k, runner.PoolOptions{
		Options: runner.Options{Owner: "test/1/a", Poll: time.Millisecond,
			Drivers: map[effect.Kind]runner.Driver{effect.KindContext: l, effect.KindPlan: l, effect.KindIntake: l}},
		Session: func(label string) runner.Kernel { return l.k.Session(label) }, Workers: 1, Plan: true, Issues: ids,
		Start: planning.Start{Place: place, RunMode: pawl.Interactive}, Alive: func(string) bool { return true },
		Lease: time.Hour, Tell: func(h runner.Happened) { l.Logf("%+v", h) }})
	ctx, cancel := context.WithTimeout(l.Context(), 20*time.Second)
	defer cancel()
	if err := pool.Run(ctx); err != nil {
		l.Fatal(err)
	}
}

// TestInbox: what needs a person stands in the order of its risk, and of what waits behind it, with who asked for it.
func TestInbox(t *testing.T) {
	l := newLab(t).enter()
	l.plans(issues.NewIssue{Title: "alone", Given: []byte(lowText)}, issues.NewIssue{Title: "needed", Given: []byte(lowText)},
		issues.NewIssue{Title: "grave", Given: []byte(dangerText)})
	l.do("user:ada", &issues.AddIssues{Issues: []issues.NewIssue{{Title: "later", After: []string{"ISS-2"}}}})
	if _, err := l.k.Session("ISS-1").Do(t.Context(), kernel.Envelope{Actor: "agent:bo",
		Command: &steps.Ask{Question: "which one?"}}); err != nil {
		t.Fatal(err)
	}
	in, err := query.Inbox(t.Context(), l.k, query.Working{}, 10)
	if err != nil || len(in.Needs) != 3 || in.More {
		t.Fatalf("%+v %v", in, err)
	}
	for n, want := range []string{"ISS-3", "ISS-2", "ISS-1"} {
		if got := in.Needs[n]; got.Issue != want || got.By != "user:ada" || len(got.Digest) != 64 || got.Since.IsZero() ||
			got.About != "plan" || !strings.Contains(got.Next[0].Command, "--issue "+want) {
			t.Errorf("%d: %+v", n, got)
		}
	}
	if g, n, a := in.Needs[0], in.Needs[1], in.Needs[2]; g.Risk != pawl.RiskHigh || g.Rule != "" || n.Risk != pawl.RiskLow ||
		n.Rule != policy.CodeAllowed || len(n.Behind) != 1 || len(a.Questions) != 1 || a.Questions[0].ID != "q-ISS-1-1" {
		t.Errorf("%+v", in.Needs)
	}
	l.get("/").says("3 waiting for you", "asked for by ada", "1 wait behind it: ISS-4", "which one?")
	if in, err = query.Inbox(t.Context(), l.k.Session("ISS-1"), query.Working{}, 2); err != nil || len(in.Needs) != 2 || !in.More {
		t.Errorf("%+v %v", in, err)
	}
}

// TestUnclaimed: approved issues need a worker unless one that is there has a claim, whatever its lease says.
func TestUnclaimed(t *testing.T) {
	l := newLab(t).enter()
	l.plans(issues.NewIssue{Title: "one", Given: []byte(lowText)}, issues.NewIssue{Title: "two", Given: []byte(lowText)})
	about := func(alive bool) (out []string) {
		t.Helper()
		in, err := query.Inbox(t.Context(), l.k, query.Working{Alive: func(string) bool { return alive }}, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range in.Needs {
			out = append(out, fmt.Sprint(n.About, " ", n.Issue, " ", n.Behind, " ", n.Next[0].Command))
		}
		return out
	}
	for _, issue := range []string{"ISS-1", "ISS-2"} {
		k := l.k.Session(issue)
		s, err := k.Snapshot(t.Context())
		if err == nil {
			_, err = k.Do(t.Context(), kernel.Envelope{Actor: "user:ada", Command: &approval.Approve{Hash: s.Approval.Hash}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	needed := "[unclaimed ISS-1 [ISS-2] pawl worker]"
	if got := fmt.Sprint(about(true)); got != needed {
		t.Errorf("nobody claims them: %s", got)
	}
	l.do("runner:x", &issues.ClaimIssue{Owner: "near/2/b", Now: l.clock()})
	if got := about(true); len(got) != 0 {
		t.Errorf("a worker is at work: %q", got)
	}
	if got := fmt.Sprint(about(false)); got != needed {
		t.Errorf("its process was killed: %s", got)
	}
}

func (l *lab) Done(context.Context, effect.Effect) (effect.Answer, effect.Receipt) {
	return effect.DoneUnknown, effect.Receipt{}
}

// check is the one by which work is judged here, and verified what came of it.
var (
	check    = effect.Check{Name: "tests", Command: "go test ./...", Level: 2}
	verified = effect.VerifyResult{Passed: true, Tree: "t1", TreeAfter: "t1",
		Outcomes: []effect.CheckOutcome{{Check: check, Status: effect.CheckPassed}}}
)

// results are what the steps of a run that goes well come to.
var results = map[effect.Kind]any{
	effect.KindWorktree: effect.WorktreeResult{Tree: "t0"},
	effect.KindVerify:   verified,
	effect.KindGates:    verified,
	effect.KindLand:     effect.LandResult{Outcome: effect.Landed, Commit: "c1", Tree: "t1", Branch: "main"},
	effect.KindCleanup:  effect.CleanupResult{Performed: []string{"worktree"}},
	effect.KindArchive:  effect.ArchiveResult{},
	effect.KindTool:     effect.ToolResult{After: "t1"},
	effect.KindWork:     effect.WorkResult{Said: effect.Said{Agent: "m"}, Control: effect.StepDone, Before: "t0", After: "t1"},
	effect.KindProve:    effect.ProveResult{Changed: []effect.FileStat{{Status: "M", Path: "greet.go"}}},
	effect.KindRepair: effect.RepairResult{Said: effect.Said{Agent: "m"}, Why: "mend it",
		Steps: []plan.Step{{StepID: "r", Title: "mend", Intent: "mend", Status: plan.Pending}}},
}

func (l *lab) Do(_ context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	if spec, err := effect.Decode[effect.WorkSpec](e.Spec); err == nil && e.Kind == effect.KindWork {
		l.mu.Lock()
		l.asked = append(l.asked, spec)
		l.mu.Unlock()
	}
	if result, ok := results[e.Kind]; ok {
		return effect.Succeeded(result)
	}
	switch e.Kind {
	case effect.KindContext:
		return effect.Succeeded(effect.ContextResult{Head: "c0", Branch: "main", Checks: []effect.Check{check}})
	case effect.KindCheckpoint:
		spec, err := effect.Decode[effect.CheckpointSpec](e.Spec)
		if err != nil {
			return effect.Failed(err)
		}
		return effect.Succeeded(effect.CheckpointResult{Name: spec.Name, Tree: "t0", Commit: "k", Ref: "refs/pawl/" +
			spec.Name})
	}
	spec, err := effect.Decode[effect.PlanSpec](e.Spec)
	if err != nil {
		return effect.Failed(err)
	}
	text := spec.Given
	if len(text) == 0 {
		text = []byte(l.text)
	}
	p, _, err := plan.Decode("plan", text)
	if err != nil {
		return effect.Failed(err)
	}
	if l.cost.MicroUSD > 0 {
		out, err := l.k.Do(l.Context(), kernel.Envelope{Actor: "runner:test",
			Command: &budget.Reserve{Effect: e.ID, Token: e.Token, Day: l.clock(), Most: l.cost}})
		var held string
		if err == nil {
			err = json.Unmarshal(out.Result, &held)
		}
		if err == nil {
			_, err = l.k.Do(l.Context(), kernel.Envelope{Actor: "runner:test",
				Command: &budget.Settle{Effect: e.ID, Day: l.clock(), Reservation: held, Cost: l.cost}})
		}
		if err != nil {
			return effect.Failed(err)
		}
	}
	return effect.Succeeded(effect.PlanResult{Plan: &p, Said: effect.Said{Agent: "script", Usage: l.told}})
}

// document is a page that was answered with.
type document struct {
	*testing.T
	status int
	header http.Header
	raw    string
	root   *html.Node
	url    string
}

// send makes a request as the browser, without following it anywhere.
func (l *lab) send(method, path string, form url.Values, headers ...string) *document {
	l.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(l.Context(), method, l.server.URL+path, body)
	if err != nil {
		l.Fatal(err)
	}
	r.Header.Set("Accept-Language", l.lang)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	client := *l.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := client.Do(r)
	if err != nil {
		l.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		l.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(string(raw)))
	if err != nil {
		l.Fatal(err)
	}
	return &document{l.T, answer.StatusCode, answer.Header, string(raw), root, path}
}

func (l *lab) get(path string) *document {
	l.Helper()
	return l.send(http.MethodGet, path, nil)
}

// enter has the person come in.
func (l *lab) enter() *lab {
	l.Helper()
	code, err := l.door.Code("user:ada")
	if err != nil {
		l.Fatal(err)
	}
	if d := l.send(http.MethodPost, "/enter", url.Values{"code": {code}}); d.status != http.StatusSeeOther {
		l.Fatalf("%d %s", d.status, d.raw)
	}
	return l
}

// want fails unless the page has the status.
func (d *document) want(status int) *document {
	d.Helper()
	if d.status != status {
		d.Fatalf("%s: status %d, want %d: %s", d.url, d.status, status, d.text())
	}
	return d
}

// all are the elements of a name.
func (d *document) all(name string) (out []*html.Node) {
	for n := range d.root.Descendants() {
		if n.Type == html.ElementNode && (name == "*" || n.Data == name) {
			out = append(out, n)
		}
	}
	return out
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// text is what a person reads of a page.
func (d *document) text() string { return textOf(d.root) }

func textOf(root *html.Node) string {
	var b strings.Builder
	for n := range root.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "script" {
			b.WriteString(n.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// says fails unless the page says all of it.
func (d *document) says(words ...string) *document {
	d.Helper()
	for _, w := range words {
		if !strings.Contains(d.text(), w) {
			d.Errorf("%s does not say %q: %s", d.url, w, d.text())
		}
	}
	return d
}

// form is what a form of the page would send, by the path that it is sent to; those of several are the first's.
func (d *document) form(action string) url.Values {
	d.Helper()
	for _, f := range d.all("form") {
		if attr(f, "action") != action {
			continue
		}
		out := url.Values{}
		for n := range f.Descendants() {
			kind := attr(n, "type")
			_, checked := "", false
			for _, a := range n.Attr {
				checked = checked || a.Key == "checked"
			}
			if n.Data == "input" && attr(n, "name") != "" && (kind != "radio" || checked) {
				out.Set(attr(n, "name"), attr(n, "value"))
			}
		}
		return out
	}
	d.Fatalf("%s has no form for %s: %s", d.url, action, d.text())
	return nil
}

// filled are the fields of a form with others.
func filled(f url.Values, pairs ...string) url.Values {
	for i := 0; i < len(pairs); i += 2 {
		f.Set(pairs[i], pairs[i+1])
	}
	return f
}

// fill puts what pages show into the workspace: issues, and a plan that waits.
func (l *lab) fill() *lab {
	l.Helper()
	l.do("user:ada", &issues.AddIssues{Issues: []issues.NewIssue{{Title: "first " + hostile, Context: hostile,
		Tags: []string{"x"}}, {Title: "second", Priority: 1}, {Title: "held", Paused: true}}})
	l.propose()
	return l
}

// pages are all pages of a workspace that was filled.
var pages = []string{"/", "/board", "/board?state=registered", "/board?q=second", "/issue/ISS-1", "/tasks",
	"/tasks?state=draft", "/runs", "/run/RUN-1", "/run/RUN-1/diff", "/run/RUN-1/evidence", "/audit", "/audit?verify=1",
	"/audit?before=3", "/machines", "/machines?name=task", "/decide", "/workers", "/costs", "/dependencies", "/nowhere", "/issue/ISS-99", "/enter"}

// unknown finds keys of the catalogue that have no text, and arguments that no text takes.
var unknown = regexp.MustCompile(`\b(web|cli|see|proof|kernel)\.[a-z_]+[a-z_.]*\b|%!`)

// inert fails where a page has anything that runs or paints beside its own files, or lets text be more than text.
func inert(d *document) {
	d.Helper()
	for _, n := range d.all("*") {
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "srcdoc" ||
				strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:") {
				d.Errorf("%s: <%s %s=%q>", d.url, n.Data, a.Key, a.Val)
			}
			if (a.Key == "href" || a.Key == "src" || a.Key == "action") && !strings.HasPrefix(a.Val, "/") &&
				!strings.HasPrefix(a.Val, "#") {
				d.Errorf("%s: <%s> leads to %s", d.url, n.Data, a.Val)
			}
		}
		switch n.Data {
		case "script":
			if n.FirstChild != nil || !strings.HasPrefix(attr(n, "src"), "/static/") {
				d.Errorf("%s: a script that is not our own", d.url)
			}
		case "style", "img", "iframe", "object", "embed", "base", "b", "i", "use", "image", "foreignObject", "animate", "set":
			d.Errorf("%s: <%s>", d.url, n.Data)
		}
	}
	if strings.ContainsAny(d.raw, "\u202e\x1b") {
		d.Errorf("%s holds characters that are not seen", d.url)
	}
}

// TestEveryPage looks at each page in both languages: it is whole, says what it has to say in words of the catalogue, and
// nothing that an agent wrote is anything but text.
func TestEveryPage(t *testing.T) {
	l := newLab(t).enter().fill()
	for _, lang := range []string{"en", "zh-CN"} {
		l.lang = lang
		for _, path := range pages {
			d := l.get(path)
			if want := map[string]int{"/nowhere": 404, "/issue/ISS-99": 404}[path]; d.status != max(want, 200) {
				t.Errorf("%s: %d", path, d.status)
			}
			inert(d)
			if got := unknown.FindString(d.text()); got != "" {
				t.Errorf("%s in %s: %s", path, lang, got)
			}
			if h := d.all("html"); attr(h[0], "lang") != lang {
				t.Errorf("%s is in %s", path, attr(h[0], "lang"))
			}
			if len(d.all("h1")) != 1 || len(d.all("main")) != 1 || len(d.all("title")) != 1 {
				t.Errorf("%s has no heading, or two", path)
			}
			ids := map[string]bool{}
			for _, n := range d.all("*") {
				if id := attr(n, "id"); id != "" && ids[id] {
					t.Errorf("%s: %s twice", path, id)
				} else {
					ids[id] = true
				}
			}
			for _, n := range append(d.all("input"), d.all("textarea")...) {
				kind := attr(n, "type")
				if kind != "hidden" && kind != "radio" && attr(n, "aria-label") == "" && attr(n, "id") == "" {
					t.Errorf("%s: the field %s has no name", path, attr(n, "name"))
				}
			}
			if got := d.header.Get("Content-Security-Policy"); got != csp || strings.Contains(got, "unsafe") {
				t.Errorf("%s: %s", path, got)
			}
			for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
				"Referrer-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin"} {
				if d.header.Get(name) != want {
					t.Errorf("%s: %s is %q", path, name, d.header.Get(name))
				}
			}
		}
	}
	l.lang = "en"
	l.get("/").says("1 waiting for you", "A plan waits for your word", "<script>alert(1)</script>", `\u{202e}\x1b[31m`, "medium risk")
	l.get("/board").says("registered 3", "ISS-2", "paused")
	l.get("/issue/ISS-1").says("first", "onerror")
	l.get("/run/RUN-1").says("write it <b>now</b>", "Decide")
	l.get("/audit?verify=1").says("verified")
	l.get("/machines").says("now", "PLANNING")
	l.lang = "zh-CN"
	l.get("/").says("1 项等你决定", "一份计划等你决定")
}

// TestLanguage: the form in the footer changes the language for good, and leads back to the page.
func TestLanguage(t *testing.T) {
	l := newLab(t).enter().fill()
	d := l.send(http.MethodPost, "/language", filled(l.get("/board").form("/language"), "lang", "zh-CN"))
	if d.status != http.StatusSeeOther || d.header.Get("Location") != "/board" {
		t.Errorf("%d %s", d.status, d.header.Get("Location"))
	}
	l.get("/board").says("看板")
	for _, back := range []string{"//evil.example/", "http://evil.example/", "/\\evil.example", "javascript:alert(1)", "x"} {
		d := l.send(http.MethodPost, "/language", url.Values{"lang": {"en"}, "back": {back}})
		if got := d.header.Get("Location"); got != "/" {
			t.Errorf("%s leads to %s", back, got)
		}
	}
}

// TestEntering: only who shows a code that a person made enters, once and in time, and what is got for it is for this
// server alone.
func TestEntering(t *testing.T) {
	l := newLab(t)
	if d := l.get("/board"); d.status != http.StatusSeeOther || d.header.Get("Location") != "/enter" {
		t.Errorf("%d %v", d.status, d.header)
	}
	for _, path := range []string{"/decide", "/answer", "/control"} {
		l.send(http.MethodPost, path, url.Values{}).want(http.StatusUnauthorized)
	}
	l.get("/live").want(http.StatusUnauthorized)
	if _, err := l.door.Code("automation:ci"); pawl.CodeOf(err) != pawl.CodeDenied {
		t.Error("what is no person has a code", err)
	}
	code, err := l.door.Code("user:ada")
	if err != nil {
		t.Fatal(err)
	}
	left, _ := os.ReadDir(l.door.dir)
	if len(left) != 1 || strings.Contains(left[0].Name(), code[:6]) {
		t.Errorf("%v is kept of %s", left, code)
	}
	for _, wrong := range []string{"", "x", code[1:], "../../etc/passwd"} {
		l.send(http.MethodPost, "/enter", url.Values{"code": {wrong}}).want(http.StatusForbidden).says("unknown")
	}
	d := l.send(http.MethodPost, "/enter", url.Values{"code": {" " + strings.ToUpper(code) + " "}}).want(http.StatusSeeOther)
	cookie := d.header.Get("Set-Cookie")
	for _, flag := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(cookie, flag) {
			t.Errorf("no %s in %s", flag, cookie)
		}
	}
	if strings.Contains(cookie, "Domain") || len(cookie) < 64 {
		t.Error(cookie)
	}
	l.get("/").want(http.StatusOK)
	l.send(http.MethodPost, "/enter", url.Values{"code": {code}}).want(http.StatusForbidden)
	l.send(http.MethodPost, "/leave", nil).want(http.StatusSeeOther)
	l.get("/").want(http.StatusSeeOther)

	late, err := l.door.Code("user:ada")
	if err != nil {
		t.Fatal(err)
	}
	l.pass(codeFor)
	l.send(http.MethodPost, "/enter", url.Values{"code": {late}}).want(http.StatusForbidden)
	l.enter().pass(visitFor)
	l.get("/").want(http.StatusSeeOther)
}

func (l *lab) pass(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = l.now.Add(d)
}

// TestElsewhere: the guard of the server stands before every page.
func TestElsewhere(t *testing.T) {
	l := newLab(t).enter().fill()
	for _, h := range [][]string{{"Origin", "http://evil.example"}, {"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"}, {"Origin", "null"}} {
		for _, path := range []string{"/", "/live", "/enter"} {
			l.send(http.MethodGet, path, nil, h...).want(http.StatusForbidden)
		}
		l.send(http.MethodPost, "/decide", l.get("/decide").form("/decide"), h...).want(http.StatusForbidden)
	}
	if l.approval() == "" {
		t.Error("it was answered")
	}
}

// approval is the hash of what waits, "" for nothing.
func (l *lab) approval() string {
	l.Helper()
	st, err := query.Status(l.Context(), l.k)
	if err != nil {
		l.Fatal(err)
	}
	if st.Approval == nil {
		return ""
	}
	return st.Approval.Hash
}

// TestApproving: what was shown is approved once, in the name of the person, and work goes on.
func TestApproving(t *testing.T) {
	l := newLab(t).enter().fill()
	d := l.get("/decide").says("write it <b>now</b>", "go test ./...", l.approval())
	f := d.form("/decide")
	if f.Get("digest") != l.approval() || f.Get("nonce") == "" || f.Has("typed") {
		t.Errorf("%v", f)
	}
	if again := l.get("/decide").form("/decide"); again.Get("nonce") != f.Get("nonce") {
		t.Error("the same question has two nonces")
	}
	d = l.send(http.MethodPost, "/decide", filled(f, "answer", "approve")).want(http.StatusSeeOther)
	l.get(d.header.Get("Location")).says("Approved.", "Nothing needs you")
	r, err := query.Of(l.k).Run(l.Context(), kernel.SessionLabel, "RUN-1")
	if err != nil || len(r.Approvals) != 1 || r.Approvals[0].By != "user:ada" || r.Approvals[0].Way != "page" {
		t.Errorf("%+v %v", r.Approvals, err)
	}
	if l.works != 1 {
		t.Errorf("work went on %d times", l.works)
	}
	// The same form again does nothing, and says so.
	d = l.send(http.MethodPost, "/decide", f).want(http.StatusConflict)
	d.says("Your answer did not count")
	inert(d)
}

// TestDenying and sending back carry what was said.
func TestDenying(t *testing.T) {
	l := newLab(t).enter().fill()
	f := l.get("/decide").form("/decide")
	l.send(http.MethodPost, "/decide", filled(f, "answer", "revise", "reason", " ")).want(http.StatusUnprocessableEntity)
	f = l.get("/decide").form("/decide")
	l.send(http.MethodPost, "/decide", filled(f, "answer", "deny", "reason", "not today")).want(http.StatusSeeOther)
	l.get("/run/RUN-1").says("refused", "not today", "user:ada")
	l.get("/decide").says("Nothing waits for a decision here.")
}

// TestWhatWasNotShown: an answer to anything else than what was shown to this very person is refused with what changed,
// and nothing happens.
func TestWhatWasNotShown(t *testing.T) {
	l := newLab(t).enter().fill()
	good := func() url.Values { return filled(l.get("/decide").form("/decide"), "answer", "approve") }
	first := l.approval()
	for name, f := range map[string]url.Values{
		"no nonce": filled(good(), "nonce", ""), "another nonce": filled(good(), "nonce", strings.Repeat("0", 32)),
		"another digest": filled(good(), "digest", strings.Repeat("0", 64)), "another issue": filled(good(), "issue", "ISS-1"),
		"nothing": {"answer": {"approve"}},
	} {
		if d := l.send(http.MethodPost, "/decide", f); d.status != http.StatusConflict {
			t.Errorf("%s: %d %s", name, d.status, d.text())
		}
		if l.approval() != first || l.works != 0 {
			t.Fatalf("%s: it was answered", name)
		}
	}
	for _, op := range []string{"accept", "choose", "", "exec"} {
		l.send(http.MethodPost, "/decide", filled(good(), "answer", op)).want(http.StatusUnprocessableEntity)
	}

	// What another person was shown is not good for this one.
	theirs := good()
	l.send(http.MethodPost, "/leave", nil)
	l.enter()
	l.send(http.MethodPost, "/decide", theirs).want(http.StatusConflict)

	// The plan is another one by now.
	old := good()
	l.do("user:bob", &planning.Revise{Given: []byte(strings.ReplaceAll(planText, "write it", "burn it")), Name: "b.yaml"})
	l.work()
	if l.approval() == first || l.approval() == "" {
		t.Fatal("there is no other plan")
	}
	d := l.send(http.MethodPost, "/decide", old).want(http.StatusConflict)
	d.says("It is no longer what you were shown", "What has changed since", "write it <b>now</b>", "burn it <b>now</b>")
	inert(d)

	// Somebody else was quicker.
	late := good()
	next := l.get("/decide").form("/decide")
	l.send(http.MethodPost, "/decide", filled(next, "answer", "deny")).want(http.StatusSeeOther)
	l.send(http.MethodPost, "/decide", late).want(http.StatusConflict).says("did not count")
}

// TestHighRisk has the digest typed.
func TestHighRisk(t *testing.T) {
	l := newLab(t).enter()
	l.text = dangerText
	l.propose()
	hash := l.approval()
	l.get("/").says("high risk")
	for _, wrong := range []string{"", "0", hash[:7], hash[1:9], hash} {
		f := filled(l.get("/decide").form("/decide"), "answer", "approve", "typed", wrong)
		l.send(http.MethodPost, "/decide", f).want(http.StatusUnprocessableEntity).says("not how it begins")
	}
	if l.approval() != hash {
		t.Fatal("it was approved")
	}
	f := filled(l.get("/decide").form("/decide"), "answer", "approve", "typed", strings.ToUpper(hash[:8])+" ")
	l.send(http.MethodPost, "/decide", f).want(http.StatusSeeOther)
}

// TestControl: work is paused and goes on by forms, and leads back to where the person was.
func TestControl(t *testing.T) {
	l := newLab(t).enter().fill()
	f := l.get("/decide").form("/decide")
	l.send(http.MethodPost, "/decide", filled(f, "answer", "approve")).want(http.StatusSeeOther)
	l.works = 0
	d := l.send(http.MethodPost, "/control", url.Values{"op": {"pause"}, "back": {"/board?q=x"}}).want(http.StatusSeeOther)
	if d.header.Get("Location") != "/board?done=control" || l.works != 0 {
		t.Errorf("%s, worked %d times", d.header.Get("Location"), l.works)
	}
	d = l.get("/").says("paused")
	l.send(http.MethodPost, "/control", d.form("/control")).want(http.StatusSeeOther)
	if st, _ := query.Status(l.Context(), l.k); st.Paused || l.works != 1 {
		t.Errorf("paused %v, worked %d times", st.Paused, l.works)
	}
	l.send(http.MethodPost, "/control", url.Values{"op": {"burn"}}).want(http.StatusUnprocessableEntity)
	l.send(http.MethodPost, "/control", url.Values{"op": {"undo"}}).want(http.StatusConflict)
	l.send(http.MethodPost, "/control", url.Values{"op": {"stop"}, "issue": {"ISS-99"}}).want(http.StatusNotFound)
}

// told is a stream of the pages that a test listens to.
type told struct {
	*lab
	body io.ReadCloser
	read string
}

// listen opens the stream of a page, from a place in the log on.
func (l *lab) listen(page string, from int64, headers ...string) *told {
	l.Helper()
	answer := l.stream(page, from, headers...)
	if got := answer.Header.Get("Content-Type"); answer.StatusCode != http.StatusOK || got != "text/event-stream" {
		l.Fatal(answer.Status, got)
	}
	return &told{lab: l, body: answer.Body}
}

func (l *lab) stream(page string, from int64, headers ...string) *http.Response {
	l.Helper()
	q := url.Values{"of": {page}, "from": {stampOf(from)}}
	r, err := http.NewRequestWithContext(l.Context(), http.MethodGet, l.server.URL+"/live?"+q.Encode(), nil)
	if err != nil {
		l.Fatal(err)
	}
	r.Header.Set("Accept-Language", l.lang)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := l.client.Do(r)
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

// until reads until something was told, and returns all that was told since it was asked last.
func (s *told) until(want string) string {
	s.Helper()
	buf := make([]byte, 4096)
	for !strings.Contains(s.read, want) || !strings.HasSuffix(s.read, "\n\n") {
		n, err := s.body.Read(buf)
		if err != nil {
			s.Fatalf("%v instead of %q after %q", err, want, s.read)
		}
		s.read += string(buf[:n])
	}
	defer func() { s.read = "" }()
	return s.read
}

// head is how many records the log has.
func (l *lab) head() int64 {
	l.Helper()
	head, err := query.Of(l.k).Log().Head(l.Context())
	if err != nil {
		l.Fatal(err)
	}
	return head.Size
}

// TestLive: a page is told of what is committed, with the index of the record, and whoever comes back is told what was
// committed meanwhile, once.
func TestLive(t *testing.T) {
	l := newLab(t).enter().fill()
	from := l.head()
	s := l.listen("/", from)
	s.until("event: beat")
	l.do("user:ada", &issues.AddIssues{Issues: []issues.NewIssue{{Title: "new"}}})
	if got := s.until("event: at"); !strings.Contains(got, "id: "+stampOf(l.head()-1)+"\n") {
		t.Errorf("%q of %d records", got, l.head())
	}
	if at := attr(l.get("/").all("body")[0], "data-at"); at != stampOf(l.head()) || l.head() == from {
		t.Errorf("the page is of %s", at)
	}
	// From where the page was made, or from what was heard last, which counts more.
	if got := l.listen("/", from).until("event: at"); !strings.Contains(got, "id: "+stampOf(l.head()-1)+"\n") {
		t.Error(got)
	}
	s = l.listen("/", from, "Last-Event-ID", stampOf(l.head()-1))
	s.until("event: beat")
	l.do("user:ada", &issues.AddIssues{Issues: []issues.NewIssue{{Title: "newer"}}})
	if got := s.until("event: at"); strings.Count(got, "event: at") != 1 {
		t.Error("told twice", got)
	}
	for _, beyond := range []int64{l.head() + 1, 1 << 40, -1} {
		if got := l.stream("/", beyond).StatusCode; got != http.StatusGone {
			t.Errorf("from %d: %d", beyond, got)
		}
	}
}

// rowsIn are the rows of lists on a page, or in what was told of one, by id, as they are written.
func rowsIn(t *testing.T, text string) map[string]string {
	t.Helper()
	root, err := html.Parse(strings.NewReader("<template>" + text + "</template>"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for n := range root.Descendants() {
		id := attr(n, "id")
		if attr(n, "data-key") == "" && id != "total" && !strings.HasPrefix(id, "n-") || n.Type != html.ElementNode {
			continue
		}
		var b strings.Builder
		if err := html.Render(&b, n); err != nil {
			t.Fatal(err)
		}
		out[id] = times.ReplaceAllString(b.String(), "")
	}
	return out
}

// times are those of a page, which pass while it is looked at.
var times = regexp.MustCompile(`<time [^>]*>[^<]*</time>`)

// TestRows: what is told of a list is what a fresh page of it shows, row by row, in the language of who looks; and what
// does not belong into a part of a list is not said to.
func TestRows(t *testing.T) {
	l := newLab(t).enter().fill()
	first, err := query.Of(l.k).Board().Issue(t.Context(), "ISS-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, lang := range []string{"en", "zh-CN"} {
		l.lang = lang
		for _, path := range []string{"/board", "/board?state=registered", "/tasks", "/runs"} {
			from := l.head()
			s := l.listen(path, from)
			s.until("event: beat")
			l.do("user:ada", &issues.AddIssues{Issues: []issues.NewIssue{{Title: "told " + hostile, Priority: 1},
				{Title: "and held", Paused: true}}})
			paused, priority := lang == "en", 2
			l.do("user:ada", &issues.EditIssue{Issue: first.ID, Paused: &paused, Priority: &priority})
			l.do("user:ada", &planning.Revise{Given: []byte(strings.ReplaceAll(l.text, "write it", "say "+lang)), Name: "p.yaml"})
			l.work()
			got := map[string]string{}
			for last := "id: " + stampOf(l.head()-1) + "\n"; ; {
				text := s.until("event: ")
				for _, event := range strings.Split(text, "\n\n") {
					_, data, _ := strings.Cut(event, "\ndata: ")
					for id, row := range rowsIn(t, strings.ReplaceAll(data, "\ndata: ", "\n")) {
						got[id] = row
					}
				}
				if strings.Contains(text, last) {
					break
				}
			}
			want := rowsIn(t, l.get(path).raw)
			for id, row := range got {
				if want[id] != row {
					t.Errorf("%s in %s: %s was told as\n%s\nand is\n%s", path, lang, id, row, want[id])
				}
			}
			if path == "/board" && (len(got) < 10 || got["total"] == "") || path == "/board?state=registered" && len(got) < 2 {
				t.Errorf("%s: only %d rows were told", path, len(got))
			}
		}
	}
	l.lang = "en"
	for _, path := range []string{"/board?state=planned", "/board?q=told", "/board?after=1&state=registered"} {
		s := l.listen(path, l.head())
		s.until("event: beat")
		l.do("user:ada", &issues.AddIssues{Issues: []issues.NewIssue{{Title: "elsewhere"}}})
		if got := s.until("elsewhere"); strings.Contains(got, "data-in") {
			t.Errorf("%s: %s", path, got)
		}
	}
}

func stampOf(n int64) string { return strconv.FormatInt(n, 10) }

// TestDiff: files are shown line by line, those by which the work is judged marked.
func TestDiff(t *testing.T) {
	files, err := parseDiff(patchText)
	if err != nil || len(files) != 2 || files[0].Path != "greet.go" || files[0].Added != 1 || files[0].Removed != 1 ||
		files[1].Path != "greet_test.go" || files[1].Kind != "tests" || len(files[1].Rows) != 3 ||
		files[1].Rows[2].Sign != '\\' {
		t.Errorf("%+v %v", files, err)
	}
	if got, err := parseDiff("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n x"); err == nil {
		t.Errorf("half a diff is %+v", got)
	}
	// A line that looks like the head of a file is a line of the file.
	tricky := "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,1 @@\n--- a/y\n diff --git a/z b/z\n"
	if got, err := parseDiff(tricky); err != nil || len(got) != 1 || got[0].Path != "x" || got[0].Removed != 1 {
		t.Errorf("%+v %v", got, err)
	}
	many := "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,50000 @@\n" + strings.Repeat("+x\n", 50000)
	if got, err := parseDiff(many); err != nil || got[0].Added != 50000 || len(got[0].Rows) != maxFileLines ||
		got[0].Left != 50001-maxFileLines {
		t.Errorf("%v", err)
	}
	for path, want := range map[string]string{"a/b_test.go": "tests", "tests/x.py": "tests", "src/x.spec.ts": "tests",
		".github/workflows/ci.yml": "ci", ".gitlab-ci.yml": "ci", ".gitignore": "protected", ".pawl/config.yaml": "protected",
		"src/main.go": "", "latest/contest.go": ""} {
		if got := kindOf(path); got != want {
			t.Errorf("%s is %q", path, got)
		}
	}
}

// TestStatic: what the pages are made with is served under names of its content, and nothing else is.
func TestStatic(t *testing.T) {
	l := newLab(t)
	for _, name := range []string{"pawl.css", "pawl.js", "icon.svg"} {
		d := l.get(asset(name)).want(http.StatusOK)
		if !strings.Contains(d.header.Get("Cache-Control"), "immutable") || d.header.Get("Content-Type") == "" {
			t.Errorf("%s: %v", name, d.header)
		}
	}
	for _, path := range []string{"/static/pawl.css", "/static/", "/static/..%2fweb.go", "/static/x"} {
		if d := l.get(path); d.status == http.StatusOK {
			t.Errorf("%s: %s", path, d.raw)
		}
	}
	script, _ := files.ReadFile("static/pawl.js")
	if n := strings.Count(string(script), "\n"); n > 400 {
		t.Errorf("the module has %d lines, at most 400", n)
	}
	if strings.Contains(string(script), "innerHTML") || strings.Contains(string(script), "eval(") {
		t.Error("the module makes script of text")
	}
}
