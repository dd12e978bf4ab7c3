package shell_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/driver/drivertest"
	"pawl/driver/shell"
	"pawl/driver/tool"
	"pawl/kernel/effect"
	"pawl/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Child()
	os.Exit(m.Run())
}

// fakeBox answers with a prepared result and keeps what it was asked to run.
type fakeBox struct {
	result sandbox.Result
	err    error
	spec   sandbox.Spec
	runs   int
}

func (f *fakeBox) Run(_ context.Context, s sandbox.Spec) (sandbox.Result, error) {
	f.spec = s
	f.runs++
	if s.OnOutput != nil {
		s.OnOutput(f.result.Output)
	}
	return f.result, f.err
}

type outcome struct {
	ExitCode  int    `json:"exit_code"`
	Output    string `json:"output"`
	Truncated bool   `json:"truncated"`
	Bytes     int64  `json:"output_bytes"`
	TimedOut  bool   `json:"timed_out"`
}

func object(t *testing.T, members map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func call(dir, args string, change func(*effect.ToolCall)) effect.Effect {
	e := drivertest.Effect(dir, "run_terminal_cmd", args)
	c, _ := effect.Decode[effect.ToolCall](e.Spec)
	if change != nil {
		change(&c)
	}
	e.Spec = effect.Encode(c)
	return e
}

func payload(t *testing.T, r effect.Receipt) (effect.ToolResult, outcome) {
	t.Helper()
	res, err := effect.Decode[effect.ToolResult](r.Result)
	if err != nil {
		t.Fatalf("%v of %+v", err, r)
	}
	out, err := effect.Decode[outcome](res.Payload)
	if err != nil {
		t.Fatal(err)
	}
	return res, out
}

func TestSuite(t *testing.T) {
	drivertest.Run(t, drivertest.Case{
		Name: "run_terminal_cmd",
		New: func(func(string) error) tool.Tool {
			return shell.Command(shell.Config{
				Box:     &fakeBox{result: sandbox.Result{Output: []byte("ok\n")}},
				Restore: func(context.Context, effect.Place, string, string) error { return nil },
			})
		},
		Args: `{"command":"go test ./...","timeout_ms":1000,"idempotent":true,"is_background":false}`,
	})
}

func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		name   string
		result sandbox.Result
		err    error
		code   pawl.Code
		arg    string
	}{
		{name: "success", result: sandbox.Result{Output: []byte("\x1b[1mok\x1b[0m\n")}},
		{name: "failure", result: sandbox.Result{Exit: 2}, code: pawl.CodeBuildFail, arg: "2"},
		{name: "signal", result: sandbox.Result{Exit: 137, Signal: "SIGKILL"}, code: pawl.CodeBuildFail,
			arg: "SIGKILL"},
		{name: "missing program", result: sandbox.Result{Exit: 127,
			Output: []byte("bash: line 1: frobnicate: command not found\n")}, code: pawl.CodeEnvironment,
			arg: "frobnicate"},
		{name: "not executable", result: sandbox.Result{Exit: 126,
			Output: []byte("bash: line 3: ./x y: Permission denied\n")}, code: pawl.CodeEnvironment, arg: "./x y"},
		{name: "missing, silent", result: sandbox.Result{Exit: 127}, code: pawl.CodeEnvironment, arg: "make"},
		{name: "disk full", result: sandbox.Result{Exit: 1,
			Output: []byte("cc: write error: No space left on device\n")}, code: pawl.CodeEnvironment},
		{name: "timeout", result: sandbox.Result{Exit: 143, Signal: "SIGTERM", TimedOut: true}, code: pawl.CodeTimeout,
			arg: "5m0s"},
		{name: "canceled", result: sandbox.Result{Exit: 143, Signal: "SIGTERM", Canceled: true},
			code: pawl.CodeCanceled},
		{name: "no walls", err: pawl.Fail(pawl.CodeSandbox, "sandbox.none"), code: pawl.CodeSandbox},
	} {
		t.Run(c.name, func(t *testing.T) {
			box := &fakeBox{result: c.result, err: c.err}
			r := shell.Command(shell.Config{Box: box}).Do(t.Context(), call("/ws/.pawl/trees/t", `{"command":"make all"}`, nil), nil)
			if r.OK != (c.code == "") || r.Code != c.code || c.arg != "" && !slices.Contains(r.Args, c.arg) {
				t.Fatalf("%+v", r)
			}
			if c.err != nil {
				return
			}
			res, out := payload(t, r)
			if out.ExitCode != c.result.Exit || strings.Contains(out.Output, "\x1b") ||
				!slices.Equal(res.Artifacts.CommandsRun, []string{"make all"}) {
				t.Errorf("%+v %+v", res, out)
			}
		})
	}
}

func TestSpec(t *testing.T) {
	box := &fakeBox{result: sandbox.Result{Output: []byte("building\x1b[31m\n\u202eevil\n")}}
	setting := func(_ context.Context, _ effect.Effect, network bool) (shell.Setting, error) {
		if !network {
			t.Error("the grant does not reach the setting")
		}
		return shell.Setting{Env: []string{"A=b"}, Writable: []string{"/cache"}, Readable: []string{"/go"}}, nil
	}
	tool := shell.Command(shell.Config{Box: box, Setting: setting})
	e := call("/ws/tree", `{"command":"echo 'a b'","timeout_ms":2000}`, func(c *effect.ToolCall) {
		c.Network, c.Sites = true, []effect.Site{{Host: "localhost", Port: 11434}}
	})
	e.Place.Workspace = "/ws"
	var lines []string
	if r := tool.Do(t.Context(), e, func(l string) { lines = append(lines, l) }); !r.OK {
		t.Fatalf("%+v", r)
	}
	s := box.spec
	if s.Argv[0] != "bash" || s.Argv[len(s.Argv)-1] != "echo 'a b'" || s.Dir != "/ws/tree" || s.Network ||
		s.Egress == nil || !slices.Equal(s.Egress.Local(), []uint16{11434}) || s.Timeout != 2*time.Second ||
		!slices.Equal(s.Writable, []string{"/ws/tree", "/cache"}) || !slices.Equal(s.Readable, []string{"/go"}) ||
		!slices.Equal(s.Hidden, []string{"/ws/.pawl"}) || !slices.Equal(s.Env, []string{"A=b"}) {
		t.Errorf("%+v", s)
	}
	if len(lines) != 1 || strings.Contains(lines[0], "\u202e") || !strings.Contains(lines[0], "evil") {
		t.Errorf("%q", lines)
	}
	e.Timeout = time.Second
	tool.Do(t.Context(), e, nil)
	if box.spec.Timeout != time.Second {
		t.Errorf("timeout %v", box.spec.Timeout)
	}
}

func TestRefusals(t *testing.T) {
	box := &fakeBox{}
	for _, args := range []string{
		`{"command":""}`, `{"command":"  \n"}`, `{"command":"a\u0000b"}`, `{"command":"a\ud800"}`,
		`{"command":"ls","is_background":true}`,
		`{"command":"ls","timeout_ms":0}`, `{"command":"ls","timeout_ms":1000000000}`, `{"command":"ls","cwd":"/"}`,
		`{"command":"ls","network":"true"}`,
	} {
		if r := shell.Command(shell.Config{Box: box}).Do(t.Context(), call(t.TempDir(), args, nil), nil); r.OK ||
			r.Code != pawl.CodeInvalid {
			t.Errorf("%s: %+v", args, r)
		}
	}
	// Who asks for the network and was granted none is not run without it either.
	if r := shell.Command(shell.Config{Box: box}).Do(t.Context(), call(t.TempDir(), `{"command":"ls","network":true}`, nil),
		nil); r.Code != pawl.CodeDenied {
		t.Errorf("%+v", r)
	}
	// A word for the network alone opens nothing.
	e := call(t.TempDir(), `{"command":"ls"}`, func(c *effect.ToolCall) { c.Network = true })
	if box.runs != 0 {
		t.Errorf("%d commands ran", box.runs)
	}
	if r := shell.Command(shell.Config{Box: box}).Do(t.Context(), e, nil); !r.OK || box.spec.Network || box.spec.Egress != nil {
		t.Errorf("%+v %+v", r, box.spec)
	}
}

func TestDone(t *testing.T) {
	for args, want := range map[string]effect.Answer{
		`{"command":"make"}`: effect.DoneUnknown, `{"command":"make","idempotent":false}`: effect.DoneUnknown,
		`{"command":"gofmt -w .","idempotent":true}`: effect.DoneNo,
		`{"command":7,"idempotent":true}`:            effect.DoneUnknown,
	} {
		if got, _ := shell.Command(shell.Config{}).Done(t.Context(), call("/ws", args, nil)); got != want {
			t.Errorf("%s: %s", args, got)
		}
	}
}

func TestSnapshotsAndUndo(t *testing.T) {
	trees := []string{"t1", "t2"}
	var restored [][2]string
	var fail error
	box := &fakeBox{result: sandbox.Result{Exit: 1}}
	config := shell.Config{
		Box: box,
		Snapshot: func(ctx context.Context, _ effect.Place) (string, error) {
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
			next := trees[0]
			trees = trees[1:]
			return next, fail
		},
		Changed: func(_ context.Context, _ effect.Place, before, after string) ([]string, error) {
			return []string{before + ".." + after}, nil
		},
		Restore: func(_ context.Context, _ effect.Place, before, after string) error {
			restored = append(restored, [2]string{before, after})
			return fail
		},
	}
	tool := shell.Command(config)
	e := call(t.TempDir(), `{"command":"make"}`, func(c *effect.ToolCall) { c.Snapshot = true })
	r := tool.Do(t.Context(), e, nil)
	res, _ := payload(t, r)
	if res.Before != "t1" || res.After != "t2" || !slices.Equal(res.Artifacts.FilesChanged, []string{"t1..t2"}) {
		t.Fatalf("a failing command is not recorded: %+v", res)
	}
	undone := tool.Undo(t.Context(), e, r)
	redone := tool.Undo(t.Context(), e, undone)
	if !undone.OK || !redone.OK || !slices.Equal(restored, [][2]string{{"t1", "t2"}, {"t2", "t1"}}) {
		t.Errorf("%+v %+v %v", undone, redone, restored)
	}
	if r := tool.Undo(t.Context(), e, effect.Receipt{}); r.OK || r.Code != pawl.CodeOutcomeUnknown {
		t.Errorf("%+v", r)
	}
	fail = pawl.Fail(pawl.CodeConflict, "git.changed")
	if got := tool.Undo(t.Context(), e, r); got.OK || got.Code != pawl.CodeConflict {
		t.Errorf("%+v", got)
	}
	trees, fail = []string{"t1"}, errors.New("disk")
	if got := tool.Do(t.Context(), e, nil); got.OK || box.runs != 1 {
		t.Errorf("the command ran without a record: %+v", got)
	}
	trees, fail = []string{"t1", "t2"}, nil
	ctx, cancel := context.WithCancel(t.Context())
	canceled := shell.Command(shell.Config{Snapshot: config.Snapshot,
		Box: runnerFunc(func(context.Context, sandbox.Spec) (sandbox.Result, error) {
			cancel()
			return sandbox.Result{Canceled: true}, nil
		})})
	if res, _ := payload(t, canceled.Do(ctx, e, nil)); res.After != "t2" {
		t.Errorf("a canceled command is not recorded: %+v", res)
	}
}

type runnerFunc func(context.Context, sandbox.Spec) (sandbox.Result, error)

func (f runnerFunc) Run(ctx context.Context, s sandbox.Spec) (sandbox.Result, error) {
	return f(ctx, s)
}

// TestWalls runs real commands behind real walls.
func TestWalls(t *testing.T) {
	box, err := sandbox.New(sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	for _, c := range []struct {
		name, command string
		code          pawl.Code
		output        func(outcome) bool
	}{
		{"output", "printf '\\033[1mhi\\033[0m\\n'; echo err >&2", "",
			func(o outcome) bool { return o.Output == "hi\nerr\n" }},
		{"writes here", "mkdir -p d && echo x > d/f && cat d/f", "", func(o outcome) bool { return o.Output == "x\n" }},
		{"not elsewhere", "echo x > " + filepath.Join(outside, "f"), pawl.CodeBuildFail, nil},
		{"exit status", "exit 3", pawl.CodeBuildFail, func(o outcome) bool { return o.ExitCode == 3 }},
		{"missing program", "no-such-program-here --x", pawl.CodeEnvironment, nil},
		{"no input", "cat; echo done", "", func(o outcome) bool { return o.Output == "done\n" }},
		{"flood", "head -c 30000000 /dev/zero | tr '\\0' 'x'", "",
			func(o outcome) bool { return o.Truncated && o.Bytes == 30_000_000 && len(o.Output) < 2<<20 }},
		{"no records", "cat .pawl/secret", pawl.CodeBuildFail,
			func(o outcome) bool { return !strings.Contains(o.Output, "TOP") }},
		{"time limit", "sleep 60", pawl.CodeTimeout, func(o outcome) bool { return o.TimedOut }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			drivertest.Populate(t, dir, map[string]string{".pawl/secret": "TOP\n"})
			args := map[string]any{"command": c.command, "timeout_ms": 20_000}
			if c.code == pawl.CodeTimeout {
				args["timeout_ms"] = 300
			}
			begin := time.Now()
			r := shell.Command(shell.Config{Box: box}).Do(t.Context(), drivertest.Effect(dir, "run_terminal_cmd", object(t, args)),
				nil)
			if r.OK != (c.code == "") || r.Code != c.code {
				t.Fatalf("%+v: %s", r, r.Result)
			}
			if _, out := payload(t, r); c.output != nil && !c.output(out) {
				t.Errorf("%+v", out)
			}
			if took := time.Since(begin); took > time.Minute {
				t.Errorf("took %v", took)
			}
		})
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 0 {
		t.Error("a command wrote outside its tree")
	}
}
