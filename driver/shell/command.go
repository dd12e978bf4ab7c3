package shell

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/sandbox/egress"
	"pawl/sandbox/git/layout"
	"pawl/store/logs"
	"pawl/text/policy"
)

// Bounds of a command.
const (
	defaultTime = 5 * time.Minute
	maxTime     = time.Hour
	maxCommand  = 1 << 20 // bytes, as in package policy
	maxOutput   = 1 << 20 // bytes that are kept, half of the beginning and half of the end
)

// Runner runs a command behind walls. *sandbox.Box is one.
type Runner interface {
	Run(ctx context.Context, s sandbox.Spec) (sandbox.Result, error)
}

// Setting is what a command gets of the machine besides its tree. Paths are absolute.
type Setting struct {
	Env      []string // the complete environment
	Writable []string // folders to make writable besides the tree: caches
	Readable []string // folders outside the workspace that must be readable: toolchains
	Hidden   []string // folders that must look empty
	Shown    []sandbox.Shown
}

// Command is the tool run_terminal_cmd. Its fields are fixed once it is in use; it is then safe for concurrent use.
type Command struct {
	// Box runs the commands.
	Box Runner
	// Setting prepares the environment; network says that the call was granted it. With nil, commands get the harmless
	// part of pawl's own environment and no caches.
	Setting func(place effect.Place, network bool) (Setting, error)
	// Snapshot records the tree and returns its id. It is needed for calls that ask for snapshots.
	Snapshot func(ctx context.Context, place effect.Place) (string, error)
	// Changed names the files that differ between two recorded trees. Nil leaves the files of a call unnamed.
	Changed func(ctx context.Context, place effect.Place, before, after string) ([]string, error)
	// Restore brings the tree back from after to before, and fails with pawl.CodeConflict where it would lose a change
	// that is in neither. Nil makes commands that cannot be undone.
	Restore func(ctx context.Context, place effect.Place, before, after string) error
}

type commandArgs struct {
	Command      string `json:"command"`
	TimeoutMS    int64  `json:"timeout_ms"`
	Idempotent   bool   `json:"idempotent"`
	IsBackground bool   `json:"is_background"`
	Network      bool   `json:"network"`
}

var commandParams = effect.Object{
	{Name: "command", Type: effect.String, Required: true, Min: 1, Max: maxCommand,
		About: "Command for bash. It starts in the root of the workspace, without a network unless network is given, and with standard input closed."},
	{Name: "timeout_ms", Type: effect.Integer, Min: 1, Max: int64(maxTime / time.Millisecond),
		About: "Milliseconds after which the command is ended; 300000 unless given."},
	{Name: "idempotent", Type: effect.Boolean,
		About: "Running the command twice is the same as running it once, so after a crash it may be run again; false unless given."},
	{Name: "network", Type: effect.Boolean,
		About: "The command needs the network: it may then connect to the places that the approved plan names under network, through the HTTP proxy of its environment, and nowhere else; false unless given."},
	{Name: "is_background", Type: effect.Boolean, About: "Must be false: every process ends with its command."},
}

var commandReturn = effect.Object{
	{Name: "exit_code", Type: effect.Integer, Required: true,
		About: "128 plus the number of the signal when one ended the command."},
	{Name: "signal", Type: effect.String, Required: true,
		About: "Name of the signal that ended the command, or empty."},
	{Name: "output", Type: effect.String, Required: true,
		About: "Standard output and standard error together, as plain text; of more than 1 MiB the beginning and the end."},
	{Name: "truncated", Type: effect.Boolean, Required: true, About: "A part of the output is missing from output."},
	{Name: "output_bytes", Type: effect.Integer, Required: true, About: "Length of the whole output."},
	{Name: "output_digest", Type: effect.String, Required: true, About: "SHA-256 of the whole output."},
	{Name: "timed_out", Type: effect.Boolean, Required: true},
	{Name: "duration_ms", Type: effect.Integer, Required: true},
	{Name: "network", Type: effect.Objects, About: "Where the command connected to, or tried to.",
		Fields: effect.Object{
			{Name: "host", Type: effect.String, Required: true},
			{Name: "port", Type: effect.Integer, Required: true},
			{Name: "allowed", Type: effect.Boolean, Required: true},
			{Name: "reason", Type: effect.String, About: "Why there was no connection."},
			{Name: "count", Type: effect.Integer, Required: true, About: "Number of connections."},
			{Name: "sent", Type: effect.Integer, Required: true, About: "Bytes."},
			{Name: "received", Type: effect.Integer, Required: true, About: "Bytes."},
		}},
	{Name: "walls", Type: effect.Strings, Required: true, About: "The layers that held the command."},
}

// outcome is the payload of run_terminal_cmd.
type outcome struct {
	ExitCode   int      `json:"exit_code"`
	Signal     string   `json:"signal"`
	Output     string   `json:"output"`
	Truncated  bool     `json:"truncated"`
	Bytes      int64    `json:"output_bytes"`
	Digest     string   `json:"output_digest"`
	TimedOut   bool     `json:"timed_out"`
	DurationMS int64    `json:"duration_ms"`
	Walls      []string `json:"walls"`
	Weaker     []string `json:"weaker,omitempty"`
	Network    []visit  `json:"network,omitempty"`
}

// Info describes the tool.
func (Command) Info() effect.ToolInfo {
	return effect.ToolInfo{
		Name: "run_terminal_cmd", Version: "1.0.0",
		Description:   "Run a command of bash in the workspace, inside the sandbox, and return its exit status and output.",
		ArgsSchema:    commandParams.Schema(),
		ReturnSchema:  commandReturn.Schema(),
		Permissions:   []policy.Permission{policy.ProcExec},
		SideEffects:   []string{"runs a program, which may change any file of the workspace that is not protected"},
		DefaultTimeMS: defaultTime.Milliseconds(),
	}
}

// Request reduces a call to what policy judges. Malformed arguments, a command with a NUL, and a background command are
// refused with pawl.CodeInvalid. The workspace root and what is known of the git configuration are for the caller to
// add.
func (Command) Request(args json.RawMessage) (policy.Request, error) {
	a, err := decode(args)
	return policy.Request{Tool: "run_terminal_cmd", Permissions: []policy.Permission{policy.ProcExec},
		Command: a.Command, Network: a.Network}, err
}

func decode(raw json.RawMessage) (commandArgs, error) {
	var a commandArgs
	if err := commandParams.Decode(raw, &a); err != nil {
		return a, err
	}
	bad := func(key string) error { return pawl.Fail(pawl.CodeInvalid, key).In("shell.args") }
	switch {
	case a.IsBackground:
		return a, bad("shell.background")
	case strings.TrimSpace(a.Command) == "":
		return a, bad("shell.empty")
	case strings.ContainsRune(a.Command, 0):
		return a, bad("shell.nul")
	}
	return a, nil
}

// Do runs the command. Exit status 0 is success. Any other is pawl.CodeBuildFail; a missing program, one that cannot be
// executed, and a full disk are pawl.CodeEnvironment; the time limit is pawl.CodeTimeout, and a canceled context
// pawl.CodeCanceled. Wherever the command ran, the receipt has its output. Progress sees its lines as they come.
func (t Command) Do(ctx context.Context, e effect.Effect, p effect.Progress) effect.Receipt {
	start := time.Now()
	r := t.run(ctx, e, p)
	r.Start, r.End = start, time.Now()
	return r
}

func (t Command) run(ctx context.Context, e effect.Effect, p effect.Progress) effect.Receipt {
	call, err := effect.Decode[effect.ToolCall](e.Spec)
	if err != nil {
		return effect.Failed(err)
	}
	a, err := decode(call.Args)
	if err != nil {
		return effect.Failed(err)
	}
	if a.Network && len(call.Sites) == 0 {
		return effect.Failed(pawl.Fail(pawl.CodeDenied, "shell.no_network").In("shell.run"))
	}
	if err := context.Cause(ctx); err != nil {
		return effect.Failed(pawl.Fail(pawl.CodeCanceled, "shell.canceled").In("shell.run").Because(err))
	}
	seen := &visits{say: p}
	spec, err := t.spec(e, call, a, seen)
	if err != nil {
		return effect.Failed(err)
	}
	out := effect.ToolResult{CallID: call.CallID,
		Artifacts: effect.Artifacts{FilesChanged: []string{}, CommandsRun: []string{a.Command}}}
	if out.Before = e.Before; out.Before == "" {
		if out.Before, err = t.record(ctx, e, call); err != nil {
			return effect.Failed(err)
		}
	}
	spec.OnOutput = heard(logs.New(ctx, call.Name), p)
	ran, runErr := t.Box.Run(ctx, spec)
	// What the command did has to be known even when it was canceled, or it could not be undone.
	after := context.WithoutCancel(ctx)
	if out.After, err = t.record(after, e, call); err == nil && out.Before != out.After && t.Changed != nil {
		out.Artifacts.FilesChanged, err = t.Changed(after, e.Place, out.Before, out.After)
	}
	if runErr != nil {
		return effect.Failed(runErr)
	}
	out.DurationMS = ran.Duration.Milliseconds()
	out.Payload = effect.Encode(outcome{
		ExitCode: ran.Exit, Signal: ran.Signal, Output: logs.Plain(ran.Output), Truncated: ran.Truncated,
		Bytes:  ran.Bytes,
		Digest: ran.Digest, TimedOut: ran.TimedOut, DurationMS: out.DurationMS, Walls: append([]string{},
			ran.Walls...), Weaker: sandbox.Weaker(ran.Walls),
		Network: seen.list(),
	})
	if err == nil {
		err = judge(ran, a, spec.Timeout)
	}
	if err != nil {
		return effect.FailedWith(err, out)
	}
	return effect.Succeeded(out)
}

// record takes a snapshot where the call asks for it.
func (t Command) record(ctx context.Context, e effect.Effect, call effect.ToolCall) (string, error) {
	if !call.Snapshot {
		return "", nil
	}
	if t.Snapshot == nil {
		return "", pawl.Fail(pawl.CodeInternal, "shell.no_snapshot").In("shell.record")
	}
	return t.Snapshot(ctx, e.Place)
}

func (t Command) spec(e effect.Effect, call effect.ToolCall, a commandArgs, seen *visits) (sandbox.Spec, error) {
	setting := Setting{Env: sandbox.Environ(os.Environ(), nil)}
	if t.Setting != nil {
		var err error
		if setting, err = t.Setting(e.Place, len(call.Sites) > 0); err != nil {
			return sandbox.Spec{}, err
		}
	}
	limit := defaultTime
	if a.TimeoutMS > 0 {
		limit = time.Duration(a.TimeoutMS) * time.Millisecond
	}
	if e.Timeout > 0 {
		limit = min(limit, e.Timeout)
	}
	s := sandbox.Spec{
		Argv: []string{"bash", "--noprofile", "--norc", "-c", a.Command}, Dir: e.Place.Tree,
		Env: setting.Env, Writable: append([]string{e.Place.Tree}, setting.Writable...), Readable: setting.Readable,
		Hidden: setting.Hidden, Shown: setting.Shown, Timeout: limit, OutputLimit: maxOutput,
	}
	if len(call.Sites) > 0 {
		s.Egress = egress.New(rules(call.Sites), egress.Options{Log: seen.note})
	}
	if e.Place.Git && !e.Place.InPlace {
		// The worktree is a link to the repository, which may lie where commands see nothing else: below /tmp.
		s.Readable = append(slices.Clip(s.Readable), layout.Dirs(e.Place.Workspace)...)
	}
	if e.Place.Workspace != "" {
		// The store, its records and the other tasks' trees are nobody's business; the tree itself lies deeper and
		// stays.
		s.Hidden = append(s.Hidden, filepath.Join(e.Place.Workspace, ".pawl"))
	}
	return s, nil
}

// notFound matches what bash says of a program that is missing or cannot be executed.
var notFound = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^bash: (?:line \d+: )?(.+?): (?:command not found|No such file or directory|Permission denied|cannot execute.*)$`)
})

// judge turns the end of a command into an error, nil for success.
func judge(r sandbox.Result, a commandArgs, limit time.Duration) error {
	switch {
	case r.Canceled:
		return pawl.Fail(pawl.CodeCanceled, "shell.canceled").In("shell.run")
	case r.TimedOut:
		return pawl.Fail(pawl.CodeTimeout, "shell.timeout", limit.String()).In("shell.run")
	case r.Exit == 0:
		return nil
	case r.Signal != "":
		return pawl.Fail(pawl.CodeBuildFail, "shell.signal", r.Signal).In("shell.run")
	}
	text := logs.Plain(r.Output)
	switch {
	case r.Exit == 127 || r.Exit == 126:
		return pawl.Fail(pawl.CodeEnvironment, "shell.program", program(text, a.Command)).In("shell.run")
	case strings.Contains(text, "No space left on device"):
		return pawl.Fail(pawl.CodeEnvironment, "shell.disk_full").In("shell.run")
	}
	return pawl.Fail(pawl.CodeBuildFail, "shell.exit", r.Exit).In("shell.run")
}

// program names the program that could not be run: as bash says, else the first word of the command.
func program(output, command string) string {
	if all := notFound().FindAllStringSubmatch(output, -1); all != nil {
		return all[len(all)-1][1]
	}
	return strings.Fields(command)[0]
}

// Done says no for a command that is declared idempotent, by the call or by the effect, and unknown for any other:
// nobody knows how far it got.
func (Command) Done(_ context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	call, err := effect.Decode[effect.ToolCall](e.Spec)
	if err != nil {
		return effect.DoneUnknown, effect.Receipt{}
	}
	a, err := decode(call.Args)
	if err == nil && (a.Idempotent || e.Idempotent) {
		return effect.DoneNo, effect.Receipt{}
	}
	return effect.DoneUnknown, effect.Receipt{}
}

// Undo restores the tree as it was recorded before the command, through Restore. It fails with pawl.CodeOutcomeUnknown
// when the receipt does not say what the command left behind, and with whatever Restore fails. The receipt of an undo
// can itself be undone.
func (t Command) Undo(ctx context.Context, e effect.Effect, r effect.Receipt) effect.Receipt {
	start := time.Now()
	out := t.undo(ctx, e, r)
	out.Start, out.End = start, time.Now()
	return out
}

func (t Command) undo(ctx context.Context, e effect.Effect, r effect.Receipt) effect.Receipt {
	unknown := pawl.Fail(pawl.CodeOutcomeUnknown, "shell.no_record").In("shell.undo")
	if len(r.Result) == 0 {
		return effect.Failed(unknown)
	}
	did, err := effect.Decode[effect.ToolResult](r.Result)
	switch {
	case err != nil:
		return effect.Failed(err)
	case did.Before == "" || did.After == "" || t.Restore == nil:
		return effect.Failed(unknown)
	}
	if did.Before != did.After {
		if err := t.Restore(ctx, e.Place, did.Before, did.After); err != nil {
			return effect.Failed(err)
		}
	}
	return effect.Succeeded(effect.ToolResult{
		CallID: did.CallID, Before: did.After, After: did.Before,
		Artifacts: effect.Artifacts{FilesChanged: append([]string{}, did.Artifacts.FilesChanged...),
			CommandsRun: []string{}},
	})
}
