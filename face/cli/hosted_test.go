package cli_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/settings"
	"pawl/face/host"
	"pawl/internal/memory"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/joined"
	"pawl/runner"
	"pawl/store/feed"
	"pawl/text/plan"
	"pawl/text/policy"
)

// TestMain fixes the time zone, so that transcripts are the same everywhere.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// fakeHost is a program around the command line that keeps everything in memory: a store, drivers that follow a script,
// and a clock and ids that are the same in every run.
type fakeHost struct {
	footing host.Footing
	scenes  []host.Scene // of the demo
	shown   host.Demo
	wrong   error
	dir     string
	store   *memory.Store
	world   *world
	mu      sync.Mutex
	now     time.Time
	ids     *counter
	owner   *host.Owner
	made    bool
	noGit   bool
	edit    func(path string) error
	broken  bool // the audit log does not verify
	serve   func(context.Context, host.Serving) error
	// others are further workspaces by their folders, which all lists, and shut is why one cannot be opened.
	others map[string]*fakeHost
	all    workspaces
	shut   error
	// written are the files that were written below .pawl, and agents the agents of the machine besides pawl's own.
	written []string
	agents  []host.AgentInfo
	// logins are those that the user has, and removed is how many copies of them were left behind.
	logins  map[string]host.AgentLogin
	removed int
	// servers are the MCP servers of the settings, and offer is what they offer.
	servers []host.ServerInfo
	offer   func(context.Context, string) (host.Offer, error)
}

func newHost(t *testing.T) *fakeHost {
	t.Helper()
	return &fakeHost{
		footing: host.Footing{Exists: true},
		dir:     t.TempDir(), store: memory.New(), now: time.Date(2026, 2, 8, 12, 0, 0, 0, time.UTC), ids: &counter{},
		world: &world{plan: twoSteps()},
	}
}

// clock goes on by a minute with each command line.
func (h *fakeHost) clock() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

// counter is a source of "randomness" that is the same in every run.
type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := 0; i < len(p); {
		c.n++
		sum := sha256.Sum256(fmt.Append(nil, c.n))
		i += copy(p[i:], sum[:])
	}
	return len(p), nil
}

func (h *fakeHost) Find(dir string) (effect.Place, error) {
	if other := h.others[dir]; other != nil {
		return other.Find("")
	}
	return effect.Place{Workspace: h.dir, Tree: h.dir, Git: !h.noGit}, nil
}

func (h *fakeHost) Open(ctx context.Context, place effect.Place, o host.Open) (*host.Workspace, error) {
	if other := h.others[place.Workspace]; other != nil {
		return other.Open(ctx, place, o)
	}
	if h.shut != nil {
		return nil, h.shut
	}
	if !h.made && !o.Create {
		return nil, pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	h.mu.Lock()
	h.made = true
	h.mu.Unlock()
	base := kernel.Defaults()
	for _, t := range h.Tools() {
		base.Tools[t.Info.Name] = t
	}
	if base.Proofs = h.world.seen != nil; base.Proofs {
		base.Agents[""] = kernel.Traits{Works: true}
	}
	config, err := o.Config.Kernel(base)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.now = h.now.Add(time.Minute)
	h.mu.Unlock()
	k := kernel.New(joined.Table(), h.store, config, pawl.ClockFunc(h.clock), h.ids)
	follow := feed.New(h.store, nil)
	k.OnCommit(func(kernel.Outcome) { follow.Tell() })
	return &host.Workspace{
		Place: place, Kernel: k, Feed: follow,
		Runner: func(progress func(effect.Effect, string)) *runner.Runner {
			return runner.New(k, h.world.options(progress))
		},
		Own: func(string) (func(), error) {
			if h.owner != nil {
				return nil, pawl.Fail(pawl.CodeBusy, "store.owned", h.owner.PID)
			}
			return func() {}, nil
		},
		Owner: func() (host.Owner, bool) {
			if h.owner == nil {
				return host.Owner{}, false
			}
			return *h.owner, true
		},
		Export: func(context.Context) ([]string, error) { return []string{"active_context.md"}, nil },
		Diff: func(context.Context, effect.Place, string, string) (string, error) {
			return "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n-old\n+new\n+more\n", nil
		},
		Backup:     func(_ context.Context, path string) error { return os.WriteFile(path, nil, 0o600) },
		Checkpoint: func(context.Context) ([]byte, error) { return []byte("note\n"), nil },
		Verify: func(ctx context.Context, notes ...[]byte) (audit.Report, error) {
			if h.broken {
				return audit.Report{}, pawl.Fail(pawl.CodeAuditBroken, "audit.altered", 3)
			}
			var report audit.Report
			err := h.store.Log(ctx, func(l audit.Log) (err error) { report, err = l.Verify(); return err })
			return report, err
		},
		Earlier:  func(context.Context, bool) (*host.EarlierLog, bool, error) { return nil, false, nil },
		Warnings: func(context.Context) []host.Finding { return nil },
		Check: func(ctx context.Context, _ func(done, all int64)) (report audit.Report, err error) {
			if h.broken {
				return report, pawl.Fail(pawl.CodeAuditBroken, "audit.root", 1)
			}
			err = h.store.Log(ctx, func(l audit.Log) (err error) { report, err = l.Verify(); return err })
			return report, err
		},
		Witness: func(context.Context) (host.Witness, error) { return host.Witness{Covers: 1}, nil },
		Write: func(_ context.Context, files []pawl.ProjectedFile) error {
			for _, f := range files {
				h.written = append(h.written, f.Path+"\n"+f.Content)
			}
			return nil
		},
		Project: host.Project{
			Checks: func(context.Context) (effect.ContextResult, error) { return h.world.found(), nil },
			Unaided: func(_ context.Context, agent, requirement string) (bool, error) {
				return agent == "" && requirement == h.world.unaided, nil
			},
		},
		Close: func() error { return nil },
		Serve: h.serve,
	}, nil
}

func (h *fakeHost) Doctor(context.Context, effect.Place, settings.Config) []host.Finding {
	return []host.Finding{{Name: "system", State: "ok", Key: "cli.doctor_system", Value: "test"},
		{Name: "git", State: "warn", Key: "cli.doctor_no_git"}}
}

// Demo shows what h.scenes are.
func (h *fakeHost) Demo(_ context.Context, d host.Demo) (host.Sample, error) {
	h.shown = d
	for _, s := range h.scenes {
		d.Scene(s)
	}
	return host.Sample{Dir: "/tmp/a demo", Repo: "/tmp/a demo/greeting", Program: "pawl"}, h.wrong
}

func (h *fakeHost) Agents(_ effect.Place, c settings.Config) host.Agents {
	infos := []host.AgentInfo{{Name: "script", Kind: "script", State: "ready"},
		{Name: "gone", Kind: "acp", State: "missing", Key: "agent.unknown", Args: []string{"gone", "script"}}}
	infos = append(infos, h.agents...)
	for name, l := range h.logins {
		i := host.AgentInfo{Name: name, Kind: "headless", State: "ready", Version: l.Version, Path: l.Path,
			Account: l.Account, Plan: l.Plan, Login: l.Kind, Model: l.Model}
		if c.Agents[name].Login != l.Account {
			i.State, i.Key, i.Args, i.Offer = "unset", "login.not_agreed", []string{l.Title, l.Account, name}, true
		}
		infos = append(infos, i)
	}
	other := func(context.Context) (name, setUp string) {
		for _, i := range h.agents {
			if i.State == "ready" {
				name = i.Name
			}
		}
		return name, ""
	}
	return host.Agents{
		Installed: func(context.Context) []host.AgentInfo { return infos[2+len(h.agents):] }, Other: other,
		Embedded: func(string) bool { return false },
		Login: func(_ context.Context, name string) (host.AgentLogin, error) {
			l, ok := h.logins[name]
			if !ok {
				return l, pawl.Fail(pawl.CodeNotFound, "login.none", name, name+" login")
			}
			l.Agreed = c.Agents[name].Login == l.Account
			return l, nil
		},
		Forget:  func(string) (int, error) { return h.removed, nil },
		Servers: func() []host.ServerInfo { return h.servers }, Ask: h.offer,
		List: func(context.Context, string) []host.AgentInfo { return infos },
		Check: func(_ context.Context, c host.Check) (string, error) {
			c.Stage(host.Stage{Name: "found", Took: 1200 * time.Millisecond,
				Saw: []host.Phrase{{Key: "check.saw_embedded"}, {Key: "check.saw_requests", Args: []string{"3"}}}})
			if c.Agent == "gone" {
				c.Stage(host.Stage{Name: "edited", Took: 61 * time.Second,
					Err: pawl.Fail(pawl.CodeModel, "check.not_edited", "sum.go"), Said: []string{"All done.\x1b[2J"}})
			}
			return "", nil
		},
	}
}

// Footing is what the test says; without a word it is a workspace already.
func (h *fakeHost) Footing(effect.Place) host.Footing { return h.footing }

func (h *fakeHost) Adopt(context.Context, effect.Place, string, bool) error { return nil }

func (h *fakeHost) Edit(_ context.Context, path string) error { return h.edit(path) }

func (h *fakeHost) Tools() []kernel.Tool {
	tool := func(name string, idempotent bool, p policy.Permission) kernel.Tool {
		info := effect.ToolInfo{Name: name, Version: "1.0.0", Description: "the tool " + name,
			ArgsSchema: json.RawMessage(`{"type":"object"}`), Permissions: []policy.Permission{p},
			Idempotent: idempotent}
		return kernel.Tool{Info: info, Request: func(args json.RawMessage) (policy.Request,
			error) {
			return request(info, args)
		}}
	}
	return []kernel.Tool{tool("read_file", true, policy.FSRead), tool("write_file", false, policy.FSWrite),
		tool("run_terminal_cmd", false, policy.ProcExec)}
}

// request reduces a call of a tool of the host to what the policy judges.
func request(tool effect.ToolInfo, args json.RawMessage) (policy.Request, error) {
	r := policy.Request{Tool: tool.Name, Permissions: tool.Permissions}
	var a struct{ Command, Path string }
	_ = json.Unmarshal(args, &a)
	r.Command = a.Command
	if a.Path != "" {
		r.Paths = []policy.Path{{Rel: a.Path, Op: policy.OpWrite}}
	}
	return r, nil
}

// world answers effects as drivers in good order would, except for what it is told to fail.
type world struct {
	plan       plan.Plan
	failChecks int
	failGates  int
	hang       chan struct{}
	cannotPlan bool
	repair     string // tool of the repairs, "" for write_file
	unknown    bool   // no repair is known
	conflict   bool   // landing is kept on a branch
	hostile    string
	says       string // a line that each call says
	// missing is the linter that the project configures and the machine lacks.
	missing string
	// unaided is what pawl's own agent can do nothing about.
	unaided string
	needs   []effect.Need
	tree    string // of the commit that the work starts from
	// seen is what is seen with and without the work; nil where that is not tried.
	seen *effect.ProveResult
}

func (w *world) options(progress func(effect.Effect, string)) runner.Options {
	o := runner.Options{Owner: "test/1/abc", Drivers: map[effect.Kind]runner.Driver{},
		Tools: map[string]runner.Driver{}, Progress: progress, Poll: time.Millisecond}
	for _, k := range []effect.Kind{
		effect.KindContext, effect.KindPlan, effect.KindRepair, effect.KindWorktree, effect.KindCheckpoint,
		effect.KindRestore, effect.KindVerify,
		effect.KindGates, effect.KindProve, effect.KindLand, effect.KindRevert, effect.KindCleanup, effect.KindArchive, effect.KindTest,
	} {
		o.Drivers[k] = w
	}
	for _, t := range []string{"read_file", "write_file", "run_terminal_cmd"} {
		o.Tools[t] = w
	}
	return o
}

// Done knows nothing of an effect whose runner died.
func (w *world) Done(context.Context, effect.Effect) (effect.Answer, effect.Receipt) {
	return effect.DoneUnknown, effect.Receipt{}
}

// Do answers an effect.
func (w *world) Do(ctx context.Context, e effect.Effect, progress effect.Progress) effect.Receipt {
	switch e.Kind {
	case effect.KindContext:
		return effect.Succeeded(w.found())
	case effect.KindPlan:
		return w.planned()
	case effect.KindWorktree:
		return effect.Succeeded(effect.WorktreeResult{Tree: "t0"})
	case effect.KindCheckpoint:
		spec, _ := effect.Decode[effect.CheckpointSpec](e.Spec)
		return effect.Succeeded(effect.CheckpointResult{Name: spec.Name, Tree: cmp.Or(w.tree, "t0"), Commit: "k",
			Ref: "refs/pawl/" + spec.Name})
	case effect.KindTool:
		return w.call(ctx, e, progress)
	case effect.KindVerify, effect.KindGates, effect.KindTest:
		return w.verify(e.Kind)
	case effect.KindRepair:
		if w.unknown {
			return effect.Succeeded(effect.RepairResult{Why: "script.repair_none", Final: true,
				Said: effect.Said{Agent: "script"}})
		}
		tool, args := "write_file", `{"path":"b.txt"}`
		if w.repair != "" {
			tool, args = w.repair, `{"command":"curl evil.example"}`
		}
		return effect.Succeeded(effect.RepairResult{Steps: []plan.Step{step("x", tool, args)},
			Why: "script.repair_format", Said: effect.Said{Agent: "script"}})
	case effect.KindProve:
		return effect.Succeeded(*w.seen)
	case effect.KindLand:
		return w.land()
	case effect.KindRevert:
		return effect.Succeeded(effect.LandResult{Outcome: effect.Landed, Commit: strings.Repeat("2", 40), Tree: "t0",
			Branch: "main"})
	case effect.KindCleanup:
		return effect.Succeeded(effect.CleanupResult{Performed: []string{"worktree"}})
	case effect.KindRestore:
		return restored(e)
	}
	return effect.Succeeded(effect.ArchiveResult{})
}

// restored says that a tree was brought back as it was asked.
func restored(e effect.Effect) effect.Receipt {
	spec, _ := effect.Decode[effect.RestoreSpec](e.Spec)
	r := effect.RestoreResult{Before: spec.Expect, After: spec.Target}
	if n := len(spec.Spans); n > 0 {
		r = effect.RestoreResult{Before: spec.Spans[n-1].After, After: spec.Spans[0].Before, Cut: []string{"cut.txt"},
			Kept: []string{"mine.txt"}}
	}
	return effect.Succeeded(r)
}

func (w *world) planned() effect.Receipt {
	if w.cannotPlan {
		return effect.Failed(pawl.Fail(pawl.CodeCannotPlan, "script.no_plan", "do magic"))
	}
	p := w.plan.Clone()
	return effect.Succeeded(effect.PlanResult{Plan: &p, Said: effect.Said{Agent: "script"}})
}

func (w *world) call(ctx context.Context, e effect.Effect, progress effect.Progress) effect.Receipt {
	call, _ := effect.Decode[effect.ToolCall](e.Spec)
	progress("working on " + call.StepID)
	if w.says != "" {
		progress(w.says)
	}
	if w.hang != nil {
		w.hang <- struct{}{}
		<-ctx.Done()
		return effect.Failed(pawl.Fail(pawl.CodeCanceled, "runner.driver_failed"))
	}
	return effect.Succeeded(effect.ToolResult{CallID: call.CallID, After: "t1"})
}

// found is what there is to know of the project.
func (w *world) found() effect.ContextResult {
	return effect.ContextResult{
		Head: "c0", Branch: "main", Ecosystems: []string{"go"}, Files: 1, Needs: w.needs, Tree: w.tree,
		Checks: append(w.leftOut(), effect.Check{Name: "tests", Command: "go test ./...", Level: 2}),
	}
}

// leftOut is the check that the machine has no program for.
func (w *world) leftOut() []effect.Check {
	if w.missing == "" {
		return nil
	}
	return []effect.Check{{Name: w.missing, Command: w.missing + " run", Missing: w.missing}}
}

func (w *world) verify(kind effect.Kind) effect.Receipt {
	out := effect.CheckOutcome{Check: effect.Check{Name: "tests", Command: "go test ./..."}, Status: effect.CheckPassed,
		DurationMS: 1200}
	left := &w.failChecks
	if kind == effect.KindGates {
		out.Check, left = effect.Check{Name: "doctor"}, &w.failGates
	}
	if len(w.needs) > 0 && kind != effect.KindGates {
		out.Status, out.ExitCode, out.Environment, out.Output = effect.CheckFailed, 1, true,
			"module lookup disabled by GOPROXY=off"
	}
	if *left > 0 {
		*left--
		out.Status, out.ExitCode, out.Output = effect.CheckFailed, 1, "--- FAIL: TestX\nwant 1, got 2\n"+w.hostile
	}
	outcomes := []effect.CheckOutcome{out}
	if kind != effect.KindGates {
		for _, c := range w.leftOut() {
			outcomes = append(outcomes, effect.CheckOutcome{Check: c, Status: effect.CheckSkipped})
		}
	}
	if outcomes[0].Status != effect.CheckPassed && w.tree != "" {
		outcomes[0].Fingerprint = "f"
	}
	return effect.Succeeded(effect.VerifyResult{
		Outcomes: outcomes, Passed: out.Status == effect.CheckPassed, Tree: "t1t1t1t1t1t1t1",
		TreeAfter: "t1t1t1t1t1t1t1", Fingerprint: fmt.Sprint(*left),
	})
}

func (w *world) land() effect.Receipt {
	files := []effect.FileStat{{Path: "a.txt", Status: "M", Added: 2, Removed: 1},
		{Path: "说明.md", Status: "A", Added: 10}}
	if w.conflict {
		return effect.Succeeded(effect.LandResult{Outcome: effect.Kept, Commit: strings.Repeat("1", 40), Tree: "t1",
			Branch: "pawl/T-001", Reason: "land.moved", Command: "git merge pawl/T-001", Files: files})
	}
	return effect.Succeeded(effect.LandResult{Outcome: effect.Landed, Commit: strings.Repeat("1", 40), Tree: "t1",
		Branch: "main", Files: files})
}

func step(id, tool, args string) plan.Step {
	return plan.Step{StepID: id, Title: "step " + id, Intent: "because of " + id, Status: plan.Pending,
		ToolCalls: []plan.ToolCallTemplate{{Name: tool, ArgsHint: json.RawMessage(args)}}}
}

func twoSteps() plan.Plan {
	return plan.Plan{
		Goal: "do the work", Constraints: []string{"keep it small"}, RiskLevel: pawl.RiskLow,
		Steps: []plan.Step{step("s1", "write_file", `{"path":"a.txt","content":"one\ntwo\n"}`),
			step("s2", "run_terminal_cmd", `{"command":"go generate ./..."}`)},
		Verification: plan.VerificationPolicy{Mode: plan.VerifyTest, Commands: []string{}, Required: true,
			StopOnFail: true},
	}
}

// root finds the log's root hash, which differs with the folder of the test.
var root = regexp.MustCompile(`(root|根) \S{44}`)

// console runs command lines against a host and keeps a transcript.
type console struct {
	t    *testing.T
	host *fakeHost
	env  map[string]string
	in   string
	// stdin takes the place of in where it is set.
	stdin io.Reader
	tty   bool
	width int // 0 for 80
	log   bytes.Buffer

	mu   sync.Mutex
	both bytes.Buffer // what the command at work wrote so far
}

func newConsole(t *testing.T, lang string) *console {
	h := newHost(t)
	return &console{t: t, host: h, env: map[string]string{"USER": "ada", "HOME": filepath.Join(h.dir, "home"),
		"LANG": lang, "PAWL_RETRY_KIND": "none"}}
}

// run runs one command line and returns its exit status and what it wrote.
func (c *console) run(args ...string) (status int, out, errs string) {
	return c.runIn(context.Background(), args...)
}

func (c *console) runIn(ctx context.Context, args ...string) (status int, out, errs string) {
	var o, e bytes.Buffer
	c.mu.Lock()
	c.both.Reset()
	c.mu.Unlock()
	in := c.stdin
	if in == nil {
		in = strings.NewReader(c.in)
	}
	std := host.Streams{
		In: in, Out: &tee{&o, c}, Err: &tee{&e, c}, TTY: c.tty, Width: cmp.Or(c.width, 80), Dir: c.host.dir,
		Env: func(name string) string { return c.env[name] },
	}
	status = cli.Main(ctx, c.host, std, args, others()...)
	written := root.ReplaceAllString(strings.ReplaceAll(c.seen(), c.host.dir, "/w"), "$1 ROOT")
	line := strings.ReplaceAll(strings.Join(args, " "), c.host.dir, "/w")
	fmt.Fprintf(&c.log, "$ pawl %s\n%s[%d]\n\n", line, written, status)
	return status, o.String(), e.String()
}

// must runs a command line that ends with the status.
func (c *console) must(want int, args ...string) string {
	c.t.Helper()
	status, out, errs := c.run(args...)
	if status != want {
		c.t.Fatalf("pawl %s: exit %d, want %d\n%s%s", strings.Join(args, " "), status, want, out, errs)
	}
	return out + errs
}

// hash is the hash that waits for approval.
func (c *console) hash() string {
	c.t.Helper()
	logged := c.log.Len()
	_, out, _ := c.run("status", "--json")
	c.log.Truncate(logged)
	var st struct {
		Approval struct {
			Hash string `json:"hash"`
		} `json:"approval"`
	}
	if err := json.Unmarshal([]byte(out), &st); err != nil || st.Approval.Hash == "" {
		c.t.Fatalf("no approval in %s", out)
	}
	return st.Approval.Hash[:12]
}

// seen is what the command at work wrote so far.
func (c *console) seen() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.both.String()
}

// tee writes to one stream and to what both streams show together.
type tee struct {
	own *bytes.Buffer
	c   *console
}

func (t *tee) Write(p []byte) (int, error) {
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	t.c.both.Write(p)
	return t.own.Write(p)
}
