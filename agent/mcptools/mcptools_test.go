//go:build linux

package mcptools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pawl"
	"pawl/agent"
	"pawl/agent/mcptools"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/text/message"
	"pawl/text/policy"
)

func ignore() { signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP) }

func words(err error) string { text, _ := message.English.Error(err); return text }

func next(err error) string { _, hint := message.English.Error(err); return hint }

func nextZh(err error) string { _, hint := message.Chinese.Error(err); return hint }

// process is a server behind real walls.
type process struct{ *sandbox.Process }

func (p process) Wait() (int, error) {
	r, err := p.Process.Wait()
	return r.Exit, err
}

type streams struct{ process }

func (s streams) Stdin() io.WriteCloser { return s.Process.Stdin }
func (s streams) Stdout() io.Reader     { return s.Process.Stdout }
func (s streams) Stderr() io.Reader     { return s.Process.Stderr }

// lab is a workspace with a task's tree, and a hub with one server.
type lab struct {
	t      *testing.T
	dir    string
	hub    *mcptools.Hub
	starts atomic.Int32
}

func newLab(t *testing.T, config mcptools.Config) *lab {
	t.Helper()
	return newLabIn(t, t.TempDir(), config)
}

func newLabIn(t *testing.T, dir string, config mcptools.Config) *lab {
	t.Helper()
	l := &lab{t: t, dir: dir}
	for name, text := range map[string]string{".pawl/pawl.db": "secret", ".pawl/worktrees/t1/seen.txt": "seen"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(l.dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	box, err := sandbox.New(sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	config.Start = func(ctx context.Context, s mcptools.Spec) (agent.Process, error) {
		l.starts.Add(1)
		p, err := box.Start(ctx, sandbox.Spec{Argv: s.Argv, Dir: s.Dir, Env: s.Env, Writable: s.Writable,
			Readable: s.Readable, Hidden: s.Hidden, Timeout: time.Hour})
		if err != nil {
			return nil, err
		}
		return streams{process{p}}, nil
	}
	config.Transport = func() (http.RoundTripper, error) {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.DisableKeepAlives = true
		return t, nil
	}
	config.Environ = sandbox.Environ(os.Environ(), nil)
	config.Getenv = func(name string) string { return map[string]string{"DOCS_TOKEN": "t0ken"}[name] }
	l.hub = mcptools.New(config)
	t.Cleanup(l.hub.Close)
	return l
}

// program is a server that is this very program.
func program(what string) mcptools.Server {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return mcptools.Server{Name: "docs", Command: []string{self, serves, what}}
}

// trust looks at a server and trusts it.
func (l *lab) trust(s mcptools.Server) mcptools.Server {
	l.t.Helper()
	o, err := l.hub.Ask(l.t.Context(), s)
	if err != nil {
		l.t.Fatal(words(err))
	}
	s.Digest, s.Kept = o.Digest, filepath.Join(l.dir, s.Name+".json")
	if err := os.WriteFile(s.Kept, o.Raw, 0o600); err != nil {
		l.t.Fatal(err)
	}
	return s
}

func (l *lab) tool(s mcptools.Server) *mcptools.Tool {
	l.t.Helper()
	tools, err := l.hub.Tools([]mcptools.Server{s}, nil)
	if err != nil || len(tools) == 0 {
		l.t.Fatalf("%v, %v", tools, err)
	}
	return tools[0]
}

func (l *lab) effect(args string) effect.Effect {
	return effect.Effect{
		ID: "e1", Kind: effect.KindTool, Place: effect.Place{Workspace: l.dir,
			Tree: filepath.Join(l.dir, ".pawl", "worktrees", "t1")},
		Spec: effect.Encode(effect.ToolCall{CallID: "c1", Args: json.RawMessage(args)}),
	}
}

func (l *lab) call(t *mcptools.Tool, args string) effect.Receipt {
	l.t.Helper()
	return t.Do(l.t.Context(), l.effect(args), nil)
}

// said is what a call returned.
type said struct {
	Server, About, Text string
	Failed, Truncated   bool
	Bytes               int
}

func payload(t *testing.T, r effect.Receipt) said {
	t.Helper()
	res, err := effect.Decode[effect.ToolResult](r.Result)
	if err != nil {
		t.Fatalf("%v: %+v", err, r)
	}
	var s said
	if err := json.Unmarshal(res.Payload, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func (l *lab) made() int {
	raw, _ := os.ReadFile(filepath.Join(l.dir, ".pawl", "mcp", "docs", "calls"))
	return len(raw)
}

func TestCall(t *testing.T) {
	l := newLab(t, mcptools.Config{})
	tool := l.tool(l.trust(program("plain")))
	if i := tool.Info(); i.Name != "docs__echo" || i.Idempotent || !strings.Contains(i.Description, "docs") ||
		!strings.Contains(i.Description, "echoes") {
		t.Errorf("%+v", i)
	}
	for _, text := range []string{"one", "two"} {
		r := l.call(tool, `{"text":"`+text+`"}`)
		if s := payload(t, r); !r.OK || s.Text != text || s.Server != "docs" || !strings.Contains(s.About, "data") ||
			s.Failed {
			t.Errorf("%+v, %+v", r, s)
		}
	}
	if n := l.starts.Load(); n != 2 {
		t.Errorf("started %d times, once to look and once to call", n)
	}
	if a, _ := tool.Done(t.Context(), effect.Effect{}); a != effect.DoneUnknown {
		t.Errorf("done: %s", a)
	}
}

func TestRequest(t *testing.T) {
	l := newLab(t, mcptools.Config{})
	tool := l.tool(l.trust(program("plain")))
	r, err := tool.Request(json.RawMessage(`{"text":"x"}`))
	if err != nil || r.Foreign != "docs" || r.Tool != "docs__echo" || len(r.Permissions) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	// That the server calls the tool read-only decides nothing.
	if v := policy.Judge(r, policy.Standard()); v.Decision != policy.Ask || v.Code != policy.CodeForeignTool {
		t.Errorf("%+v", v)
	}
	for _, bad := range []string{`[]`, `1`, `null`, `{"text":`, `{"text":"` + strings.Repeat("x", 300<<10) + `"}`} {
		if _, err := tool.Request(json.RawMessage(bad)); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("%.20s: %v", bad, err)
		}
	}
}

// A server may answer anything, and dies in a call in any way. What it did is known only where it answered.
func TestHostileCalls(t *testing.T) {
	for what, want := range map[string]struct {
		code pawl.Code
		text string
	}{
		"huge": {"", "bytes …]"}, "flood": {pawl.CodeOutcomeUnknown, ""}, "hang": {pawl.CodeOutcomeUnknown,
			""}, "crash": {pawl.CodeOutcomeUnknown, "all is"},
		"stubborn": {pawl.CodeOutcomeUnknown, ""}, "noisy": {"", "hello"}, "fails": {pawl.CodeBuildFail,
			"no such page"}, "refuses": {pawl.CodeBuildFail, "not today"},
		"rich": {"", "[image image/png, 10 bytes]"}, "structured": {"", `{"n":1}`}, "talks": {"", "hello"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, mcptools.Config{Limit: time.Second, Dial: 20 * time.Second})
			if what == "huge" || what == "flood" {
				l = newLab(t, mcptools.Config{Limit: time.Minute, Dial: 20 * time.Second})
			}
			if what == "talks" {
				if _, err := l.hub.Ask(t.Context(), program(what)); pawl.CodeOf(err) != pawl.CodeEnvironment {
					t.Errorf("words beside the protocol: %v", err)
				}
				return
			}
			tool := l.tool(l.trust(program(what)))
			r := l.call(tool, `{"text":"hello"}`)
			if r.Code != want.code || r.OK != (want.code == "") {
				t.Fatalf("%+v: %s", r, words(r.Err()))
			}
			if len(r.Result) > 0 {
				if s := payload(t, r); !strings.Contains(s.Text, want.text) || len(s.Text) > 50<<10 ||
					strings.ContainsAny(s.Text, "\x1b\u202e") || s.Failed == r.OK {
					t.Errorf("%d bytes: %.200s", len(s.Text), s.Text)
				}
			} else if !strings.Contains(strings.Join(r.Args, " "), want.text) {
				t.Errorf("%q", r.Args)
			}
			if what == "hang" || what == "crash" {
				if n := l.made(); n != 1 {
					t.Errorf("made %d times", n)
				}
			}
			if what == "huge" {
				if s := payload(t, r); !s.Truncated || s.Bytes < 10<<20 || !strings.HasPrefix(s.Text, "begin") ||
					!strings.HasSuffix(s.Text, "end") {
					t.Errorf("%+v", s.Bytes)
				}
			}
		})
	}
}

// Who breaks a call off does not learn what became of it, and the program does not go on with it.
func TestCanceledCall(t *testing.T) {
	l := newLab(t, mcptools.Config{})
	tool := l.tool(l.trust(program("hang")))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for l.made() == 0 {
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	if r := tool.Do(ctx, l.effect(`{}`), nil); r.Code != pawl.CodeCanceled {
		t.Errorf("%+v", r)
	}
	if left := running("mcp-server\x00hang"); left != "" {
		t.Errorf("left: %s", left)
	}
}

// A server that does not read must not hold a call for ever: the arguments do not fit into a pipe.
func TestDeafServer(t *testing.T) {
	l := newLab(t, mcptools.Config{Limit: time.Second})
	tool := l.tool(l.trust(program("deaf:" + strings.TrimPrefix(listing(one("echo", object)), "list:"))))
	if r := l.call(tool, `{"text":"`+strings.Repeat("x", 200<<10)+`"}`); r.Code != pawl.CodeOutcomeUnknown {
		t.Errorf("%+v", r)
	}
}

// A server that cannot be started, or is never ready, says why.
func TestServerThatIsNotThere(t *testing.T) {
	l := newLab(t, mcptools.Config{Dial: time.Second})
	s := program("silent")
	if _, err := l.hub.Ask(t.Context(), s); pawl.CodeOf(err) != pawl.CodeEnvironment ||
		!strings.Contains(words(err), "docs") {
		t.Errorf("%v", err)
	}
	if _, err := l.hub.Ask(t.Context(), program("dies")); pawl.CodeOf(err) != pawl.CodeEnvironment ||
		!strings.Contains(words(err), "no configuration found") {
		t.Errorf("%v", err)
	}
	gone := mcptools.Server{Name: "docs", Command: []string{"no-such-program-at-all"}}
	if _, err := l.hub.Ask(t.Context(), gone); pawl.CodeOf(err) != pawl.CodeEnvironment {
		t.Errorf("%v", err)
	}
}

// running returns a process whose command line holds a text, "" for none.
func running(text string) string {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range all {
		if raw, err := os.ReadFile(f); err == nil && bytes.Contains(raw, []byte(text)) {
			return f
		}
	}
	return ""
}

func TestNothingIsLeft(t *testing.T) {
	l := newLab(t, mcptools.Config{})
	tool := l.tool(l.trust(program("orphan")))
	if s := payload(t, l.call(tool, `{}`)); s.Text != "left" {
		t.Fatal(s.Text)
	}
	if running("4242.4242") == "" {
		t.Fatal("there is no grandchild to be found")
	}
	l.hub.Close()
	for _, text := range []string{"4242.4242", "mcp-server\x00orphan"} {
		if left := running(text); left != "" {
			t.Errorf("left: %s", left)
		}
	}
	if r := l.call(tool, `{}`); r.OK {
		t.Error("a closed hub started a server")
	}
}

// A server that is not called for a while ends, and is begun anew when it is.
func TestIdleServerEnds(t *testing.T) {
	l := newLab(t, mcptools.Config{Idle: time.Millisecond})
	tool := l.tool(l.trust(program("plain")))
	for range 2 {
		if r := l.call(tool, `{"text":"x"}`); !r.OK {
			t.Fatal(r)
		}
		for running("mcp-server\x00plain") != "" && t.Context().Err() == nil {
			time.Sleep(5 * time.Millisecond)
		}
	}
	if n := l.starts.Load(); n != 3 {
		t.Errorf("started %d times", n)
	}
}

// A server is held by the walls: it sees the tree and changes nothing of it, knows nothing of the store, and reaches
// nobody.
func TestServerBehindWalls(t *testing.T) {
	away := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(away.Close)
	// Servers have a /tmp of their own, which would hide everything in the machine's.
	base, err := os.UserCacheDir()
	if err == nil {
		err = os.MkdirAll(base, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(base, "pawl-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l := newLabIn(t, dir, mcptools.Config{})
	tool := l.tool(l.trust(program("walls")))
	if s := payload(t, l.call(tool, `{"text":"`+away.Listener.Addr().String()+`"}`)); s.Text != "read:seen home" {
		t.Errorf("the server could: %s", s.Text)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("MY_SECRET_TOKEN", "not for servers")
	l := newLab(t, mcptools.Config{})
	s := program("env")
	s.Env = map[string]string{"TOKEN": "$DOCS_TOKEN", "MODE": "fast", "HOME": "/elsewhere"}
	tool := l.tool(l.trust(s))
	text := payload(t, l.call(tool, `{}`)).Text
	if !strings.Contains(text, "TOKEN=t0ken") || !strings.Contains(text, "MODE=fast") ||
		strings.Contains(text, "not for servers") || strings.Contains(text, "/elsewhere") {
		t.Error(text)
	}
	raw, err := os.ReadFile(filepath.Join(l.dir, "docs.json"))
	if err != nil || bytes.Contains(raw, []byte("t0ken")) || bytes.Contains(raw, []byte("fast")) ||
		!bytes.Contains(raw, []byte("TOKEN")) {
		t.Errorf("%v: %s", err, raw)
	}
	s.Env = map[string]string{"TOKEN": "$NO_SUCH"}
	if _, err := l.hub.Ask(t.Context(), s); pawl.CodeOf(err) != pawl.CodeEnvironment {
		t.Errorf("%v", err)
	}
}

// A server that changes its tools between the look and the call is refused before the call, with what changed.
func TestRugPull(t *testing.T) {
	l := newLab(t, mcptools.Config{})
	tool := l.tool(l.trust(program("morphs")))
	first := l.call(tool, `{"text":"x"}`)
	if !first.OK || l.made() != 1 {
		t.Fatalf("%+v", first)
	}
	r := l.call(tool, `{"text":"x"}`)
	if r.OK || r.Code != pawl.CodeEnvironment || l.made() != 1 {
		t.Fatalf("%+v, made %d times", r, l.made())
	}
	text := words(r.Err())
	for _, want := range []string{"echo: description", "+more"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if hint := next(r.Err()); !strings.Contains(hint, "pawl mcp trust docs") ||
		!strings.Contains(hint, "pawl mcp untrust docs") {
		t.Errorf("hint %s", hint)
	}
}

// How a server is reached is trusted with its tools.
func TestAnotherProgram(t *testing.T) {
	l := newLab(t, mcptools.Config{})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	note := filepath.Join(l.dir, "script")
	if err := os.WriteFile(note, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := mcptools.Server{Name: "docs", Command: []string{self, serves, "plain", note}}
	trusted := l.trust(s)
	if err := os.WriteFile(note, []byte("2"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := l.call(l.tool(trusted), `{}`)
	if r.Code != pawl.CodeEnvironment || !slices.Contains(r.Args, "files") {
		t.Errorf("%+v", r)
	}
	trusted.Command = append(trusted.Command, "--more")
	if r := l.call(l.tool(trusted), `{}`); r.Code != pawl.CodeEnvironment || !strings.Contains(r.Args[1], "command") {
		t.Errorf("%+v", r)
	}
	o, err := l.hub.Ask(t.Context(), trusted)
	if err != nil || !o.Known || len(o.Changed) != 2 {
		t.Errorf("%+v, %v", o, err)
	}
}

// A description is data: a model is shown it as the server's words, without what nobody can see, and a person sees all.
func TestInjection(t *testing.T) {
	l := newLab(t, mcptools.Config{})
	s := l.trust(program("injects"))
	about := l.tool(s).Offered().Description
	if !strings.HasPrefix(about, "A tool of the MCP server docs, which describes it in these words: Echoes.") ||
		strings.ContainsAny(about, "\u200b\U000E0041") {
		t.Errorf("%q", about)
	}
	doc, err := s.Known()
	if err != nil || doc.Tools[0].Description != injection {
		t.Errorf("%q, %v", doc.Tools[0].Description, err)
	}
}

func listing(tools ...string) string {
	return "list:" + `{"tools":[` + strings.Join(tools, ",") + `]}`
}

func one(name, schema string) string {
	return fmt.Sprintf(`{"name":%q,"inputSchema":%s}`, name, schema)
}

// What no model can be offered is said when it is looked at, with the next step.
func TestUnusableTools(t *testing.T) {
	many := make([]string, 200)
	for i := range many {
		many[i] = one(fmt.Sprintf("t%d", i), object)
	}
	for what, c := range map[string]struct{ list, key string }{
		"twice":   {listing(one("echo", object), one("echo", `{"type":"object"}`)), "mcptools.twice"},
		"case":    {listing(one("Echo", object), one("echo", object)), "mcptools.twice"},
		"dash":    {listing(one("get-it", object), one("get_it", object)), "mcptools.twice"},
		"dot":     {listing(one("get.it", object), one("get/it", object)), "mcptools.twice"},
		"name":    {listing(one("rm -rf", object)), "mcptools.tool_name"},
		"unicode": {listing(one("\u0435cho", object)), "mcptools.tool_name"},
		"long":    {listing(one(strings.Repeat("a", 60), object)), "mcptools.tool_long"},
		"no args": {listing(`{"name":"x"}`), "mcptools.schema"},
		"a list":  {listing(one("x", `{"type":"array"}`)), "mcptools.schema"},
		"large": {listing(one("x", `{"type":"object","description":"`+strings.Repeat("x", 70<<10)+`"}`)),
			"mcptools.schema"},
		"too many": {listing(many...), "mcptools.too_many"},
		"no end":   {"list:" + `{"tools":[],"nextCursor":"again"}`, "mcptools.too_many"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, mcptools.Config{Dial: 20 * time.Second})
			_, err := l.hub.Ask(t.Context(), byList(t, l, c.list))
			var e *pawl.Error
			if !errors.As(err, &e) || e.Key != c.key || e.Code != pawl.CodeInvalid {
				t.Errorf("%v", err)
			}
			if next(err) == "" || nextZh(err) == "" {
				t.Error("no next step")
			}
		})
	}
}

// byList is a server with a list of tools that may be too long for an argument.
func byList(t *testing.T, _ *lab, list string) mcptools.Server {
	t.Helper()
	return program(list)
}

// Two servers whose tools a model could mix up are a conflict, named with both and the next step.
func TestConflict(t *testing.T) {
	l := newLab(t, mcptools.Config{})
	a, b := program("plain"), program("plain")
	a.Name, b.Name = "my-docs", "my_docs"
	a, b = l.trust(a), l.trust(b)
	tools, err := l.hub.Tools([]mcptools.Server{a, b}, []string{"read_file"})
	var e *pawl.Error
	if len(tools) != 1 || !errors.As(err, &e) || e.Key != "mcptools.conflict" {
		t.Fatalf("%v, %v", tools, err)
	}
	if text := words(err) + next(err); !strings.Contains(text, "my-docs") ||
		!strings.Contains(text, "pawl mcp untrust my_docs") {
		t.Error(text)
	}
	if _, err := l.hub.Tools([]mcptools.Server{a}, []string{"MY_DOCS__echo"}); pawl.CodeOf(err) != pawl.CodeConflict {
		t.Errorf("pawl's own tool: %v", err)
	}
	o, err := l.hub.Ask(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.hub.Fits(b, o.Document, []mcptools.Server{a, b}, nil); pawl.CodeOf(err) != pawl.CodeConflict {
		t.Errorf("%v", err)
	}
	b.Digest = ""
	if tools, err := l.hub.Tools([]mcptools.Server{a, b}, nil); len(tools) != 1 || err != nil {
		t.Errorf("a server that nobody trusts: %v, %v", tools, err)
	}
}

// What is kept under a digest counts only while it is what the digest is of.
func TestKeptDocument(t *testing.T) {
	l := newLab(t, mcptools.Config{})
	s := l.trust(program("plain"))
	raw, err := os.ReadFile(s.Kept)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Kept, bytes.Replace(raw, []byte("echoes"), []byte("obeys!"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if tools, err := l.hub.Tools([]mcptools.Server{s}, nil); len(tools) != 0 ||
		pawl.CodeOf(err) != pawl.CodeEnvironment {
		t.Errorf("%v, %v", tools, err)
	}
	if err := os.Remove(s.Kept); err != nil {
		t.Fatal(err)
	}
	if tools, err := l.hub.Tools([]mcptools.Server{s}, nil); len(tools) != 0 ||
		pawl.CodeOf(err) != pawl.CodeEnvironment {
		t.Errorf("%v, %v", tools, err)
	}
}

func TestSettings(t *testing.T) {
	for _, s := range []mcptools.Server{
		{Name: "Docs", Command: []string{"x"}}, {Name: "a__b", Command: []string{"x"}}, {Name: "a_",
			Command: []string{"x"}}, {Name: "1a", Command: []string{"x"}},
		{Name: strings.Repeat("a", 25), Command: []string{"x"}}, {Name: "docs"}, {Name: "docs", Command: []string{"x"},
			URL: "https://example.org"},
		{Name: "docs", Command: []string{""}}, {Name: "docs", URL: "http://example.org/mcp"}, {Name: "docs",
			URL: "https://me:pw@example.org/mcp"},
		{Name: "docs", URL: "ftp://example.org"}, {Name: "docs", URL: "https://example.org",
			Env: map[string]string{"A": "b"}}, {Name: "docs", URL: "https://example.org", Network: []string{"x.org"}},
		{Name: "docs", URL: "http://127.0.0.1.example.org/"},
	} {
		if err := s.Valid(); pawl.CodeOf(err) != pawl.CodeInvalid || strings.Contains(fmt.Sprint(err), "pw") {
			t.Errorf("%+v: %v", s, err)
		}
	}
	for _, s := range []mcptools.Server{
		{Name: "docs", Command: []string{"x"}, Network: []string{"example.org"}}, {Name: "a-b_c1",
			URL: "http://localhost:1/mcp"}, {Name: "docs", URL: "http://[::1]:1/mcp"},
		{Name: "docs", URL: "https://example.org/mcp?key=secret"},
	} {
		if err := s.Valid(); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
		if strings.Contains(s.Where(), "secret") {
			t.Error(s.Where())
		}
	}
}

// web is a server over HTTP.
type web struct {
	*httptest.Server
	calls, lost atomic.Int32
}

func newWeb(t *testing.T, do func(context.Context, string) (*sdk.CallToolResult, error)) *web {
	t.Helper()
	w := &web{}
	s := plain("echoes", func(ctx context.Context, text string) (*sdk.CallToolResult, error) {
		w.calls.Add(1)
		return do(ctx, text)
	})
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer k3y" {
			w.lost.Add(1)
			http.Error(rw, "who are you", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(rw, r)
	}))
	t.Cleanup(w.Close)
	t.Cleanup(w.CloseClientConnections)
	return w
}

func (w *web) server() mcptools.Server {
	return mcptools.Server{Name: "docs", URL: w.URL + "/mcp", Key: func() (string, error) { return "k3y", nil }}
}

func TestHTTP(t *testing.T) {
	w := newWeb(t, echo)
	l := newLab(t, mcptools.Config{})
	s := l.trust(w.server())
	tool := l.tool(s)
	if r := l.call(tool, `{"text":"hello"}`); payload(t, r).Text != "hello" || w.lost.Load() != 0 ||
		w.calls.Load() != 1 {
		t.Errorf("%+v", r)
	}
	if r, _ := tool.Request(json.RawMessage(`{}`)); !slices.Contains(r.Permissions, policy.NetConnect) {
		t.Errorf("%+v", r)
	}
	s.Key = func() (string, error) { return "", nil }
	_, err := newLab(t, mcptools.Config{}).hub.Ask(t.Context(), s)
	if pawl.CodeOf(err) != pawl.CodeEnvironment {
		t.Errorf("%v", err)
	}
	s.Key = func() (string, error) { return "", pawl.Fail(pawl.CodeLogin, "llm.no_key", "DOCS_KEY") }
	if _, err := l.hub.Ask(t.Context(), s); pawl.CodeOf(err) != pawl.CodeEnvironment {
		t.Errorf("%v", err)
	}
}

func TestHostileHTTP(t *testing.T) {
	release := make(chan struct{})
	for what, c := range map[string]struct {
		do   func(context.Context, string) (*sdk.CallToolResult, error)
		code pawl.Code
	}{
		"huge": {doing["huge"], ""}, "flood": {func(context.Context, string) (*sdk.CallToolResult, error) {
			return say(strings.Repeat("0123456789", 8<<20)), nil
		}, pawl.CodeOutcomeUnknown},
		"hang": {func(context.Context, string) (*sdk.CallToolResult, error) { <-release; return say(""), nil },
			pawl.CodeOutcomeUnknown},
	} {
		t.Run(what, func(t *testing.T) {
			w := newWeb(t, c.do)
			limit := time.Minute
			if what == "hang" {
				limit = 500 * time.Millisecond
				t.Cleanup(func() { close(release) })
			}
			l := newLab(t, mcptools.Config{Limit: limit})
			r := l.call(l.tool(l.trust(w.server())), `{}`)
			if r.Code != c.code || w.calls.Load() != 1 {
				t.Errorf("%+v, %d calls", r, w.calls.Load())
			}
			l.hub.Close()
		})
	}
}

// A redirect would carry the key and the call to somebody whom the user did not name.
func TestRedirect(t *testing.T) {
	w := newWeb(t, echo)
	away := httptest.NewServer(http.RedirectHandler(w.URL+"/mcp", http.StatusTemporaryRedirect))
	t.Cleanup(away.Close)
	s := w.server()
	s.URL = away.URL
	if _, err := newLab(t, mcptools.Config{}).hub.Ask(t.Context(), s); pawl.CodeOf(err) != pawl.CodeEnvironment {
		t.Errorf("%v", err)
	}
}

// Arguments are held against a server's schema only where that has an end: a decision must not take for ever, and a
// schema that pawl does not understand must not make a tool useless.
func TestSchemas(t *testing.T) {
	bomb := `{"type":"object","$defs":{"d0":{"type":"object"}`
	for i := 1; i < 40; i++ {
		bomb += fmt.Sprintf(`,"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i-1, i-1)
	}
	bomb += `},"allOf":[{"$ref":"#/$defs/d39"}]}`
	const loose = `{"type":"object"}`
	for what, c := range map[string]struct {
		schema string
		held   bool
	}{
		"plain":     {`{"properties":{"a":{"type":"string"}},"type":"object"}`, true},
		"reference": {`{"$defs":{"n":{"type":"number"}},"properties":{"a":{"$ref":"#/$defs/n"},"b":{"$ref":"#/$defs/n"}},"type":"object"}`, true},
		"circle":    {`{"properties":{"a":{"$ref":"#/properties/a"}},"type":"object"}`, false},
		"tree":      {`{"$defs":{"n":{"properties":{"kids":{"items":{"$ref":"#/$defs/n"},"type":"array"}},"type":"object"}},"properties":{"n":{"$ref":"#/$defs/n"}},"type":"object"}`, false},
		"bomb":      {bomb, false}, "file": {`{"$ref":"file:///etc/passwd","type":"object"}`,
			false}, "web": {`{"properties":{"a":{"$ref":"http://127.0.0.1/x"}},"type":"object"}`, false},
		"nonsense": {`{"minimum":"x","type":"object"}`,
			false}, "pattern": {`{"properties":{"a":{"pattern":"(?<=a)b","type":"string"}},"type":"object"}`, false},
		"named": {`{"properties":{"$ref":{"type":"string"}},"type":"object"}`, true},
	} {
		t.Run(what, func(t *testing.T) {
			l := newLab(t, mcptools.Config{})
			tool := l.tool(l.trust(program(listing(one("echo", c.schema)))))
			if got := string(tool.Info().ArgsSchema); got != map[bool]string{true: c.schema, false: loose}[c.held] {
				t.Errorf("held against %.200s", got)
			}
			if what != "bomb" && string(tool.Offered().ArgsSchema) != c.schema {
				t.Errorf("offered as %s", tool.Offered().ArgsSchema)
			}
			if r := l.call(tool, `{"a":1}`); !r.OK {
				t.Errorf("%+v", r)
			}
		})
	}
}
