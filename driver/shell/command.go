package shell

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"pawl"
	"pawl/driver/tool"
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

// Config is what a command is run with. Its fields are fixed once the tool is made.
type Config struct {
	// Box runs the commands.
	Box Runner
	// Setting prepares the environment of a call; network says that the call was granted it. With nil, commands get the
	// harmless part of pawl's own environment and no caches.
	Setting func(ctx context.Context, e effect.Effect, network bool) (Setting, error)
	// Snapshot records the tree and returns its id. It is needed for calls that ask for snapshots.
	Snapshot func(ctx context.Context, place effect.Place) (string, error)
	// Changed names the files that differ between two recorded trees. Nil leaves the files of a call unnamed.
	Changed func(ctx context.Context, place effect.Place, before, after string) ([]string, error)
	// Restore brings the tree back from after to before, and fails with pawl.CodeConflict where it would lose a change
	// that is in neither. Nil makes commands that cannot be undone.
	Restore func(ctx context.Context, place effect.Place, before, after string) error
}

type commandArgs struct {
	Command      string `json:"command" min:"1" max:"1048576" about:"Command for bash. It starts in the root of the workspace, without a network unless network is given, and with standard input closed."`
	TimeoutMS    int64  `json:"timeout_ms,omitempty" min:"1" max:"3600000" about:"Milliseconds after which the command is ended; 300000 unless given."`
	Idempotent   bool   `json:"idempotent,omitempty" about:"Running the command twice is the same as running it once, so after a crash it may be run again; false unless given."`
	Network      bool   `json:"network,omitempty" about:"The command needs the network: it may then connect to the places that the approved plan names under network, through the HTTP proxy of its environment, and nowhere else; false unless given."`
	IsBackground bool   `json:"is_background,omitempty" about:"Must be false: every process ends with its command."`
}

// outcome is the payload of run_terminal_cmd.
type outcome struct {
	ExitCode   int      `json:"exit_code" about:"128 plus the number of the signal when one ended the command."`
	Signal     string   `json:"signal" about:"Name of the signal that ended the command, or empty."`
	Output     string   `json:"output" about:"Standard output and standard error together, as plain text; of more than 1 MiB the beginning and the end."`
	Truncated  bool     `json:"truncated" about:"A part of the output is missing from output."`
	Bytes      int64    `json:"output_bytes" about:"Length of the whole output."`
	Digest     string   `json:"output_digest" about:"SHA-256 of the whole output."`
	TimedOut   bool     `json:"timed_out"`
	DurationMS int64    `json:"duration_ms"`
	Walls      []string `json:"walls" about:"The layers that held the command."`
	Weaker     []string `json:"weaker,omitempty" schema:"-"`
	Network    []visit  `json:"network,omitempty" about:"Where the command connected to, or tried to."`
}

// Command is the tool run_terminal_cmd. Exit status 0 is success. Any other is pawl.CodeBuildFail; a missing program,
// one that cannot be executed, and a full disk are pawl.CodeEnvironment; the time limit is pawl.CodeTimeout, and a
// canceled context pawl.CodeCanceled. Wherever the command ran, the receipt has its output, and progress sees its lines
// as they come. What policy is asked lacks the workspace's root and what is known of the git configuration: these are
// for the caller to add.
func Command(c Config) tool.Tool {
	return tool.New(tool.Declaration[commandArgs, outcome]{
		Info: effect.ToolInfo{
			Name: "run_terminal_cmd", Version: "1.0.0",
			Description:   "Run a command of bash in the workspace, inside the sandbox, and return its exit status and output.",
			Permissions:   []policy.Permission{policy.ProcExec},
			SideEffects:   []string{"runs a program, which may change any file of the workspace that is not protected"},
			DefaultTimeMS: defaultTime.Milliseconds(),
		},
		Normalize: (*commandArgs).possible,
		Request: func(a commandArgs) policy.Request {
			return policy.Request{Command: a.Command, Network: a.Network}
		},
		Do: c.run,
		// Of any other command that was cut off nobody knows how far it got.
		Repeatable: func(a commandArgs) bool { return a.Idempotent },
		Undo:       c.undo,
	})
}

// possible refuses a command with a NUL, and one in the background.
func (a *commandArgs) possible() error {
	bad := func(key string) error { return pawl.Fail(pawl.CodeInvalid, key).In("shell.args") }
	switch {
	case a.IsBackground:
		return bad("shell.background")
	case strings.TrimSpace(a.Command) == "":
		return bad("shell.empty")
	case strings.ContainsRune(a.Command, 0):
		return bad("shell.nul")
	}
	return nil
}

func (t Config) run(ctx context.Context, c *tool.Call, a commandArgs) (*outcome, error) {
	if a.Network && len(c.Sites) == 0 {
		return nil, pawl.Fail(pawl.CodeDenied, "shell.no_network").In("shell.run")
	}
	if err := context.Cause(ctx); err != nil {
		return nil, pawl.Fail(pawl.CodeCanceled, "shell.canceled").In("shell.run").Because(err)
	}
	seen := &visits{say: c.Progress}
	spec, err := t.spec(ctx, c, a, seen)
	if err != nil {
		return nil, err
	}
	result := &c.Result
	result.Artifacts.CommandsRun = []string{a.Command}
	if result.Before = c.Effect.Before; result.Before == "" {
		if result.Before, err = t.record(ctx, c); err != nil {
			return nil, err
		}
	}
	spec.OnOutput = heard(ctx, c.Name, c.Progress)
	ran, runErr := t.Box.Run(ctx, spec)
	// What the command did has to be known even when it was canceled, or it could not be undone.
	after := context.WithoutCancel(ctx)
	if result.After, err = t.record(after, c); err == nil && result.Before != result.After && t.Changed != nil {
		//nolint:errcheck // they are told besides; the trees say the same
		result.Artifacts.FilesChanged, _ = t.Changed(after, c.Effect.Place, result.Before, result.After)
	}
	if runErr != nil {
		return nil, runErr
	}
	if err != nil {
		// How the command ended is known all the same.
		why := effect.Failed(err).Fault()
		result.Unrecorded = &why
	}
	result.DurationMS = ran.Duration.Milliseconds()
	out := &outcome{ExitCode: ran.Exit, Signal: ran.Signal, Output: logs.Plain(ran.Output), Truncated: ran.Truncated,
		Bytes: ran.Bytes, Digest: ran.Digest, TimedOut: ran.TimedOut, DurationMS: result.DurationMS,
		Walls: append([]string{}, ran.Walls...), Weaker: sandbox.Weaker(ran.Walls), Network: seen.list()}
	return out, judge(ran, a, spec.Timeout)
}

// record takes a snapshot where the call asks for it.
func (t Config) record(ctx context.Context, c *tool.Call) (string, error) {
	if !c.Snapshot {
		return "", nil
	}
	if t.Snapshot == nil {
		return "", pawl.Fail(pawl.CodeInternal, "shell.no_snapshot").In("shell.record")
	}
	return t.Snapshot(ctx, c.Effect.Place)
}

func (t Config) spec(ctx context.Context, c *tool.Call, a commandArgs, seen *visits) (sandbox.Spec, error) {
	e := c.Effect
	setting := Setting{Env: sandbox.Environ(os.Environ(), nil)}
	if t.Setting != nil {
		var err error
		if setting, err = t.Setting(ctx, e, len(c.Sites) > 0); err != nil {
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
		Argv: []string{"bash", "--noprofile", "--norc", "-c", a.Command}, Dir: e.Place.Tree, Tree: e.Place.Tree, Workspace: e.Place.Workspace,
		Env: setting.Env, Writable: append([]string{e.Place.Tree}, setting.Writable...), Readable: setting.Readable,
		Hidden: setting.Hidden, Shown: setting.Shown, Timeout: limit, OutputLimit: maxOutput,
	}
	if len(c.Sites) > 0 {
		s.Egress = egress.New(rules(c.Sites), egress.Options{Log: seen.note})
	}
	if e.Place.Git && !e.Place.InPlace {
		// The worktree is a link to the repository, which may lie where commands see nothing else: below /tmp.
		s.Readable = append(slices.Clip(s.Readable), layout.Dirs(e.Place.Workspace)...)
	}
	if e.Place.Workspace != "" {
		// The store, its records and the other tasks' trees are nobody's business; the tree itself lies deeper and
		// stays.
		s.Hidden = append(s.Hidden, e.Place.Own())
	}
	return s, nil
}

// notFound matches what bash says of a program that is missing or cannot be executed.
var notFound = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^bash: (?:line \d+: )?(.+?): (?:command not found|No such file or directory|Permission denied|cannot execute.*)$`)
})

// judge turns the end of a command into an error, nil for success.
func judge(r sandbox.Result, a commandArgs, limit time.Duration) error {
	if over := r.Over(); over != nil {
		return over
	}
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

// undo restores the tree as it was recorded before the command, through Restore. It fails with pawl.CodeOutcomeUnknown
// when the receipt does not say what the command left behind, and with whatever Restore fails.
func (t Config) undo(ctx context.Context, c *tool.Call, did *effect.ToolResult) (*outcome, error) {
	if did == nil || did.Before == "" || did.After == "" || t.Restore == nil {
		return nil, pawl.Fail(pawl.CodeOutcomeUnknown, "shell.no_record").In("shell.undo")
	}
	if did.Before != did.After {
		if err := t.Restore(ctx, c.Effect.Place, did.Before, did.After); err != nil {
			return nil, err
		}
	}
	c.Result.Before, c.Result.After = did.After, did.Before
	c.Result.Artifacts.FilesChanged = append([]string{}, did.Artifacts.FilesChanged...)
	return nil, nil
}
