package cli

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"pawl/audit"
	"pawl/effect"
	"pawl/kernel"
	"pawl/runner"
)

// Host is what the command line needs of the program around it: opening workspaces and asking the machine. cmd/pawl
// implements it by wiring the packages that this one may not know.
type Host interface {
	// Find returns the workspace that dir belongs to: the nearest folder upwards with a .pawl folder, else the top of
	// the git repository, else dir itself.
	Find(dir string) (effect.Place, error)
	// Open opens the store of a workspace. With Create it makes the .pawl folder and the store where they are missing;
	// without, a workspace that was never initialised is a not_found error.
	Open(ctx context.Context, place effect.Place, o Open) (*Workspace, error)
	// Doctor asks the machine: walls, tools, git, store. It needs no workspace.
	Doctor(ctx context.Context, place effect.Place) []Finding
	// Demo unpacks the sample repository of `pawl demo` into dir and returns the arguments of the run to show.
	Demo(ctx context.Context, dir string) (Sample, error)
	// Edit opens a file in the user's editor ($VISUAL, $EDITOR, else vi) on the terminal and returns when it was closed. It
	// fails with code environment when there is no editor.
	Edit(ctx context.Context, path string) error
	// Tools are the tools that plans may call, for commands that need no workspace.
	Tools() []kernel.Tool
	// Agents are the agents that runs may name, with the settings of a workspace.
	Agents(place effect.Place, c Config) Agents
	// Log runs nothing of the user's: it returns `git log --oneline -n` of a repository for the demo's last screen.
	Log(ctx context.Context, dir string, n int) ([]string, error)
}

// Open says how a workspace is opened.
type Open struct {
	Create bool
	// ReadOnly opens for looking only: the kernel that is wired then knows no tools and must not be given commands.
	ReadOnly bool
	Config   Config
}

// Sample is the demo: a repository, a plan file in it, and what to ask for.
type Sample struct {
	Dir         string
	PlanFile    string
	Requirement string
}

// Finding is one line of `pawl doctor`.
type Finding struct {
	Name string `json:"name"`
	// State is ok, warn or fail.
	State string `json:"state"`
	// Key and Args name the message; Value is data to show beside it (a version, a path).
	Key   string   `json:"key"`
	Args  []string `json:"args,omitempty"`
	Value string   `json:"value,omitempty"`
}

// Agents are the agents of this machine.
type Agents struct {
	// List describes them, with what was found of each. With a name only that one is looked into, which takes no time; the
	// others are named.
	List func(ctx context.Context, only string) []AgentInfo
	// Check tries one out with a scripted model, in a folder of its own that is gone afterwards. The error tells what kept
	// the check from being made; that the agent does not work is a stage that failed. kept is the folder where it is kept.
	Check func(ctx context.Context, c Check) (kept string, err error)
	// Servers describe the MCP servers of the settings. None is started for that.
	Servers func() []ServerInfo
	// Ask starts an MCP server of the settings for a moment and returns what it offers. One that cannot be trusted because of
	// a conflict with the tools of others is an error.
	Ask func(ctx context.Context, server string) (Offer, error)
}

// ServerInfo is one line of `pawl mcp list`.
type ServerInfo struct {
	Name string `json:"name"`
	// Kind is stdio or http, and Where the command or the address.
	Kind  string `json:"kind"`
	Where string `json:"where"`
	// State is trusted, untrusted, or broken where it is trusted and cannot be used.
	State  string `json:"state"`
	Digest string `json:"digest,omitempty"`
	// Tools are the names under which models are offered the server's tools.
	Tools []string `json:"tools"`
	// Err says why where State is broken.
	Err error `json:"-"`
}

// Offer is what an MCP server offers now.
type Offer struct {
	// Document is what was looked at, in the form that Digest is of.
	Document json.RawMessage
	Digest   string
	Tools    []OfferedTool
	// Changed says what differs from what was trusted, nil where nothing was.
	Changed []string
}

// OfferedTool is one tool as its server describes it.
type OfferedTool struct {
	// Name is the name under which models are offered it.
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"input"`
	Output      json.RawMessage `json:"output,omitempty"`
	Annotations json.RawMessage `json:"annotations,omitempty"`
}

// Check says what is checked.
type Check struct {
	Agent string
	// Limit bounds the whole check. Keep leaves its folder where it is.
	Limit time.Duration
	Keep  bool
	// Lang is the language of what pawl itself says in it.
	Lang string
	// Stage is told of each stage when it is over. The check ends with the first that fails.
	Stage func(Stage)
}

// Stage is one stage of a check.
type Stage struct {
	Name string
	Took time.Duration
	// Saw is what is worth telling of it.
	Saw []Phrase
	// Err says why it failed, nil where it passed; Said are the last things that the agent said before.
	Err  error
	Said []string
}

// Phrase is a text of the catalogue.
type Phrase struct {
	Key  string
	Args []string
}

// AgentInfo is one line of `pawl agent list`.
type AgentInfo struct {
	Name string `json:"name"`
	// Kind is script, llm, acp or headless.
	Kind string `json:"kind"`
	// State is ready, missing (not installed), untested (a version that was not tried) or unset (settings are missing).
	State   string `json:"state"`
	Version string `json:"version,omitempty"`
	Path    string `json:"path,omitempty"`
	// Key and Args name the message that says what to do where State is not ready.
	Key  string   `json:"key,omitempty"`
	Args []string `json:"args,omitempty"`
}

// Workspace is an open workspace.
type Workspace struct {
	Place  effect.Place
	Kernel *kernel.Kernel
	// Runner makes a runner; the caller must hold the ownership. Progress may be nil.
	Runner func(progress func(e effect.Effect, line string)) *runner.Runner
	// Own takes the right to run work in the workspace, or fails with code busy naming the process that has it.
	Own func(command string) (release func(), err error)
	// Owner says which process runs work now.
	Owner func() (Owner, bool)
	// Export rewrites every projection from the store and returns their paths.
	Export func(ctx context.Context) ([]string, error)
	// Diff returns the unified diff between two trees of the workspace or of a task's worktree.
	Diff func(ctx context.Context, place effect.Place, from, to string) (string, error)
	// Recording opens what a run decided, as it was recorded, with the configuration that it would be decided with now. Where
	// nothing was recorded it is a not_found error.
	Recording func(run string) (io.ReadCloser, *kernel.Config, error)
	// Backup writes a copy of the store.
	Backup func(ctx context.Context, path string) error
	// Checkpoint signs the head of the audit log with the user's key, which lives outside the workspace, and returns the
	// signed note. Verify checks the whole log against notes, or against those that were kept when none are given.
	Checkpoint func(ctx context.Context) ([]byte, error)
	Verify     func(ctx context.Context, notes ...[]byte) (audit.Report, error)
	// Anchor verifies that a note was signed with the user's key for this workspace, and returns what a proof needs of it
	// and what it says.
	Anchor func(note []byte) (audit.ProvenCheckpoint, audit.Tree, error)
	// Warnings are things to tell before anything else, such as a projection that was edited by hand.
	Warnings func(ctx context.Context) []Finding
	// Serve serves the workspace to agents until ctx ends or the client is gone.
	Serve func(ctx context.Context, s Serving) error
	Close func() error
}

// Owner is the process that runs work in a workspace.
type Owner struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Started time.Time `json:"started"`
	Command string    `json:"command"`
}

// Streams are the three standard streams and what is known of them.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// TTY says that In and Out are a terminal; Width is its width, 80 when unknown.
	TTY   bool
	Width int
	// Env looks up an environment variable.
	Env func(string) string
	Dir string // the working directory
}
