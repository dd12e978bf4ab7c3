// Package host says what the command line needs of the program and the machine around it: opening workspaces, agents,
// the project, the tracker. Package app implements it by wiring the packages that the command line may not know.
package host

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"
	"time"

	"pawl"
	"pawl/face/cli/settings"
	"pawl/face/tui"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/kernel/word"
	"pawl/runner"
	"pawl/store/feed"
	"pawl/text/backlog"
	"pawl/text/knowledge"
	"pawl/text/message"
	"pawl/text/policy"
)

// Host is what the command line needs of the program around it: opening workspaces and asking the machine. Package app
// implements it by wiring the packages that this one may not know.
type Host interface {
	// Find returns the workspace that dir belongs to: the nearest folder upwards with a .pawl folder, else the top of
	// the git repository, else dir itself.
	Find(dir string) (effect.Place, error)
	// Open opens the store of a workspace. With Create it makes the .pawl folder and the store where they are missing;
	// without, a workspace that was never initialised is a not_found error.
	Open(ctx context.Context, place effect.Place, o Open) (*Workspace, error)
	// Doctor asks the machine: walls, tools, git, store. It needs no workspace.
	Doctor(ctx context.Context, place effect.Place, c settings.Config) []Finding
	// Demo shows on a sample repository what pawl does, each command in a process of its own. It returns what it has
	// made, which stays; nothing stays where ctx ended. The error is CodeChecksFailed where pawl did something else
	// than what is told of it.
	Demo(ctx context.Context, d Demo) (Sample, error)
	// Edit opens a file in the user's editor ($VISUAL, $EDITOR, else vi) on the terminal and returns when it was
	// closed. It fails with code environment when there is no editor.
	Edit(ctx context.Context, path string) error
	// Tools are the tools that plans may call, for commands that need no workspace.
	Tools() []kernel.Tool
	// Agents are the agents that runs may name, with the settings of a workspace.
	Agents(place effect.Place, c settings.Config) Agents
}

// Grounds is a Host that can say where plans of a place would be carried out, before any work on them.
type Grounds interface {
	// Grounds returns what git would obey in the place, and whether commands run behind walls or not at all.
	Grounds(place effect.Place, c settings.Config) (repo policy.Repo, walled bool)
}

// Founder is a Host that can say what stands in the way of making a place a workspace.
type Founder interface {
	Footing(place effect.Place) Footing
	// Adopt gives the place the state of another path: of a workspace that was moved here, or, with the path of the
	// place itself, of one whose store an earlier version put into its .pawl.
	// Sure accepts data of an earlier version that this account has no record of.
	Adopt(ctx context.Context, place effect.Place, from string, sure bool) error
}

// Footing is what is to be known before a place becomes a workspace.
type Footing struct {
	// Exists says that it is one. Doubt says why it may not be meant: plain (no git repository), many (several projects
	// in it), below (inside another workspace), or "".
	Exists bool
	Doubt  string
	// Other is the workspace around it, or the first project in it; Projects is how many there are.
	Other    string
	Projects int
}

// Open says how a workspace is opened.
type Open struct {
	Create bool
	// Meant says that making the workspace is what the command is for, Sure that the person said not to be asked.
	Meant, Sure bool
	// ReadOnly opens for looking only: the kernel that is wired then knows no tools and must not be given commands.
	ReadOnly bool
	// Still leaves it to a later command to take note of a workspace that was moved or copied, and to bring an old
	// store up to date.
	Still bool
	// Accept goes on with a store whose end is lost. Without it nothing is done in one; it may be looked at.
	Accept bool
	Config settings.Config
	// Looks says that a person has what the command shows before them, and Lang what they are told in.
	Looks bool
	Lang  message.Lang
	// Unseen says that nobody sits before it, though it was begun at a terminal.
	Unseen bool
	// Tell is told, from any goroutine, what work waits for that another process has, and what was left undone because
	// of that. It may be nil.
	Tell func(error)
}

// Demo says how the demo is shown.
type Demo struct {
	// Dir is a folder that is empty or missing, "" for a new one among the temporary files.
	Dir    string
	Config settings.Config
	// Lang is the language of what pawl says in it, and Color whether it says it in colour. Text puts a text of the
	// catalogue into words.
	Lang  string
	Color bool
	Text  func(key string, args ...any) string
	// Scene is told what is to be seen.
	Scene func(Scene)
}

// Scene is one thing that is to be seen in the demo, and its line with --json.
type Scene struct {
	Type string `json:"type"`
	// Act is the name of an act, and Args are the words of a command line; Text says either in words, or what is to be
	// read.
	Act  string   `json:"act,omitempty"`
	Args []string `json:"args,omitempty"`
	Text string   `json:"text,omitempty"`
	// Status is the exit status of a command, negative where a signal ended it.
	Status int `json:"status,omitempty"`
}

// The types of scenes.
const (
	SceneAct     = "act"
	SceneNote    = "note"
	SceneCommand = "command"
	SceneOutput  = "output" // a line of a command's output
	SceneRest    = "rest"   // one that a person is not shown
	SceneStatus  = "status"
	SceneSaid    = "said" // what the agent said
	SceneSaw     = "saw"  // what is so
)

// Sample is what the demo has made: its folder, and the repository in it. Program is the shell command for pawl there.
type Sample struct{ Dir, Repo, Program string }

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

// Retired is something that runs left and whose time is over, or that a killed process left. Bytes do not count objects
// of git.
type Retired struct {
	What  string    `json:"what"` // left checkpoint tree kept journal log
	Name  string    `json:"name"`
	At    time.Time `json:"at,omitzero"`
	Bytes int64     `json:"bytes"`
}

// Collected is what was retired, or, dry, what would be, and why the rest is kept.
type Collected struct {
	Dry   bool      `json:"dry_run"`
	Items []Retired `json:"items"`
	Bytes int64     `json:"bytes"`
	// Open are the runs and tasks that have not ended, of which nothing is retired.
	Open []string `json:"open"`
	// Days and Runs are the settings: for how many days things are kept, and of how many of the newest runs at most.
	Days int `json:"days"`
	Runs int `json:"runs"`
	// History is what was retired of the history, nil where all of it is kept.
	History *History `json:"history,omitempty"`
}

// History is what was retired of the audit log and of the store, or would be: records, with the rows of what they tell
// of. Days and MB are the settings.
type History struct {
	Days    int   `json:"days"`
	MB      int   `json:"mb"`
	Records int64 `json:"records"`
	Rows    int   `json:"rows"`
	Bytes   int64 `json:"bytes"`
	// Begin is when the oldest record was written that stays, nil where nothing is retired. More says, dry, that there
	// is more than was counted.
	Begin *time.Time `json:"begin,omitempty"`
	More  bool       `json:"more,omitempty"`
	// Held is what has not ended, or is still needed, and keeps what is as old and newer; "" where nothing does.
	Held string `json:"held,omitempty"`
}

// Workspace is an open workspace.
type Workspace struct {
	Place  effect.Place
	Kernel *kernel.Kernel
	// Said is what is to be told of the place before anything else: that the workspace was moved or copied.
	Said []Finding
	// Feed follows the audit log.
	Feed *feed.Feed
	// Branch returns the name of a branch if there is one, of the one that is checked out for "", which is "" where
	// there is none.
	Branch func(ctx context.Context, name string) (string, error)
	// Holds fails where the workspace is no longer where it was opened.
	Holds func() error
	// Sign has a person say a decision, for which a program asks, by a signature of their key; nil where none is set.
	Sign func(ctx context.Context, d word.Decision, program string) (*word.Signed, error)
	// Runner makes a runner for the session that Kernel speaks of; the caller must hold the ownership, or the claim on
	// the issue whose session it is. Progress may be nil.
	Runner func(progress func(e effect.Effect, line string)) *runner.Runner
	// Name is what this process is called in leases and records. Here says to the others that it is there, until Close;
	// a process that holds claims without that is taken for dead.
	Name func() string
	Here func() error
	// Crew makes workers for the issues of the board. Only Workers, Plan, Execute, Issue, Start, Stay and Tell are
	// looked at.
	Crew func(o runner.PoolOptions) (*runner.Pool, error)
	// Own takes the right to run work in the workspace, or fails with code busy naming the process that has it.
	Own func(command string) (release func(), err error)
	// Owner says which process runs work now. Alive reports whether the process of a worker that claimed an issue is
	// there, or may be; it is nil if nobody knows.
	Owner func() (Owner, bool)
	Alive func(owner string) bool
	// Export rewrites every projection from the store and returns their paths.
	Export func(ctx context.Context) ([]string, error)
	// Collect retires what runs left and whose time is over, or says what that is without changing anything. Tell hears
	// how much of how much is done.
	Collect func(ctx context.Context, dry bool, tell func(done, all int64)) (Collected, error)
	// Diff returns the unified diff between two trees of the workspace or of a task's worktree.
	Diff func(ctx context.Context, place effect.Place, from, to string) (string, error)
	// Unkept says what a run in a place could not have brought back by an undo.
	Unkept func(ctx context.Context, place effect.Place) ([]effect.Unkept, error)
	// Preview tells what calls would change in the files of a place, one behind the other, without changing anything.
	Preview func(place effect.Place, calls []effect.ToolCall) ([]Draft, error)
	// Recording opens what a run decided, as it was recorded, with the configuration that it would be decided with now.
	// Where nothing was recorded it is a not_found error.
	Recording func(run string) (io.ReadCloser, *kernel.Config, error)
	// Backup writes a copy of the store.
	Backup func(ctx context.Context, path string) error
	// Checkpoint signs the head of the audit log with the user's key, which lives outside the workspace, and returns
	// the signed note. Verify checks the whole log against notes, or against those that were kept when none are given.
	Checkpoint func(ctx context.Context) ([]byte, error)
	Verify     func(ctx context.Context, notes ...[]byte) (audit.Report, error)
	// Check reads the whole store: every page, row and record, with what the checkpoints say that were kept. Progress
	// is told how much of how much was read.
	Check func(ctx context.Context, progress func(done, all int64)) (audit.Report, error)
	// Anchor verifies that a note was signed with the user's key for this workspace, and returns what a proof needs of
	// it and what it says.
	Anchor func(note []byte) (audit.ProvenCheckpoint, audit.Tree, error)
	// Witness says how far the newest checkpoint reaches that is kept of the log outside of the workspace.
	Witness func(ctx context.Context) (Witness, error)
	// Earlier is another log that was kept in this place before, nil where none was, by the checkpoints that are kept
	// outside of the workspace. Told says that a person was told of it before; with tell, that they are now.
	Earlier func(ctx context.Context, tell bool) (found *EarlierLog, told bool, err error)
	// Warnings are things to tell before anything else, such as a projection that was edited by hand.
	Warnings func(ctx context.Context) []Finding
	// Write writes files below .pawl, each whole or not at all.
	Write func(ctx context.Context, files []pawl.ProjectedFile) error
	// Tracker reads issues from where they are kept elsewhere.
	Tracker Tracker
	// Project looks at the project that the workspace is of.
	Project Project
	// Serve serves the workspace to agents until ctx ends or the client is gone.
	Serve func(ctx context.Context, s Serving) error
	// Offer serves it to programs and pages until ctx ends. Tokens are what these have to show.
	Offer func(ctx context.Context, o Offering) error
	// Notices tell people what waits for them.
	Notices Notices
	// Enter makes the address by which a person enters the pages of the server that runs, and the code in it, which is
	// good once, and for a short time.
	Enter  func(ctx context.Context, person pawl.Actor) (address, code string, err error)
	Tokens Tokens
	Close  func() error
}

// Draft is what a call that was not made yet would change.
type Draft struct {
	// Known is false for a call of which that is known only once it was made.
	Known bool
	// Patch is a unified diff, "" where nothing would change.
	Patch string
	// Err is why the call would fail.
	Err error
}

// Witness is the newest checkpoint that is kept of a log: how many records it covers, 0 where none is kept, and when it
// was signed.
type Witness struct {
	Covers int64     `json:"records"`
	At     time.Time `json:"at,omitzero"`
}

// EarlierLog is the last checkpoint of an audit log, with the file that it is kept in.
type EarlierLog struct {
	Size int64     `json:"records"`
	Root string    `json:"root"`
	At   time.Time `json:"at"`
	Kept string    `json:"kept"`
}

// Fault says that the log is not the one of the workspace any more.
func (e *EarlierLog) Fault() error {
	return pawl.Fail(pawl.CodeNotFound, "audit.made_anew", e.Size, e.At.Local().Format(time.DateTime), e.Root, e.Kept)
}

// Tracker is where issues are kept elsewhere.
type Tracker struct {
	// Read reads the issues of a repository. Say is told what happens, as a message of the catalogue.
	Read func(ctx context.Context, q TrackerQuery, say func(key string, args ...any)) (TrackerRead, error)
	// Back writes to the tracker what became of an issue, at most once for each mark, and reports whether it did.
	Back func(ctx context.Context, w TrackerWord) (bool, error)
	// Pull reads what became of a pull request: its state, and the comments of others that have not come back.
	Pull func(ctx context.Context, p effect.Pull) (effect.PullState, []effect.PullComment, error)
}

// TrackerQuery says which issues are read. Source names the repository; All reads closed issues, too.
type TrackerQuery struct {
	Source  string
	All     bool
	Labels  []string
	Options backlog.Options
}

// TrackerRead is what was read. Pages were, of which Unchanged came from an earlier import; Requests were made for
// that, and Unconditional of them without a condition.
type TrackerRead struct {
	Backlog                                   backlog.Backlog
	Pages, Unchanged, Requests, Unconditional int
}

// TrackerWord is what is said of an issue: as a comment or as a label (How).
type TrackerWord struct{ Source, External, How, Mark, State, Text string }

// Worker is the process that runs work now, nil if there is none.
func (w *Workspace) Worker() *view.Owner {
	if o, ok := w.Owner(); ok {
		return &view.Owner{PID: o.PID, Host: o.Host, Started: o.Started, Command: o.Command, State: o.State}
	}
	return nil
}

// Owner is the process that runs work in a workspace.
type Owner struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Started time.Time `json:"started"`
	Command string    `json:"command"`
	// State is stopped or frozen where the process is there and does not go on by itself, "" otherwise.
	State string `json:"state,omitempty"`
}

// Streams are the three standard streams and what is known of them.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// TTY says that In and Out are a terminal; Width is its width, 80 when unknown. TermIn and TermOut are the terminal
	// itself, for what draws on it.
	TTY             bool
	TermIn, TermOut *os.File
	Width           int
	Screen          *tui.Screen // what one command line hands to another
	// Pager starts what long output is read in, on that terminal; Close waits until the person has left it. Nil is
	// none.
	Pager func() (w io.WriteCloser, ok bool)
	// Program names the program that gives the commands while no person can be seen; "", or no function, is a person.
	Program func() string
	// Env looks up an environment variable.
	Env func(string) string
	Dir string // the working directory
}

// Project is the project of a workspace, as the commands see it that are no flow: its documents, its packages, its code
// and its repository. All of it only reads.
type Project struct {
	// Documents are those of the knowledge base, by their paths relative to .pawl.
	Documents func(ctx context.Context) (map[string][]byte, error)
	// Packages are what lies in .pawl/plan, and what the archive holds.
	Packages func(ctx context.Context) (Packages, error)
	// Scan looks at the code. Progress hears how many files were read.
	Scan func(ctx context.Context, progress func(files int)) (knowledge.Project, error)
	// Old is a knowledge base of another tool, or of an older layout. Where there is none it is CodeNotFound.
	Old func(ctx context.Context) (OldBase, error)
	// Checks are the commands that check the project.
	Checks func(ctx context.Context) (effect.ContextResult, error)
	// Unaided reports whether a requirement asks that the checks pass, the agent is pawl's own, and no program is
	// installed with which that could do anything about it.
	Unaided func(ctx context.Context, agent, requirement string) (bool, error)
	// Lacks are the dependencies that a place needs and that commands would not find there. With scripts, those count
	// as well that were fetched without letting packages run programs that they wanted to run.
	Lacks func(ctx context.Context, place effect.Place, scripts bool) ([]Lack, error)
	// Sites reads the names of places to connect to.
	Sites func(hosts []string) ([]effect.Site, error)
	// Stands reports whether the tree of a place is there.
	Stands func(place effect.Place) bool
	// Review looks at the code for what a reviewer would stumble over.
	Review func(ctx context.Context, scope ReviewScope, paths []string) (effect.Review, error)
	// Standing is what there is to commit: what is staged or, with all or where nothing is, everything that changed.
	Standing func(ctx context.Context, all bool) (Standing, error)
	// Upstream says where a branch is shared.
	Upstream func(ctx context.Context, branch string) (Upstream, error)
	// Past is what the branch can go back to.
	Past func(ctx context.Context) (Past, error)
}

// Lack is a folder of dependencies that commands would not find, and how it would be filled.
type Lack struct {
	Set effect.PrepareSet
	// State says why: missing, changed, foreign or own; Detail is what makes it foreign.
	State, Detail string
	Tool          string
	// Err is why pawl cannot fill it.
	Err error
}

// Packages are the solution packages of a workspace.
type Packages struct {
	// Names are the folders in plan, and Files the documents of each by name.
	Names []string
	Files map[string]map[string][]byte
	// Index is the archive's index, and Indexed says that there is one.
	Index   []byte
	Indexed bool
	// Exists says which folders there are, relative to .pawl.
	Exists func(dir string) bool
}

// OldBase is a knowledge base to take over.
type OldBase struct {
	// Folder is where it is and Name what its copy is called after, both relative to the workspace. Files are all that
	// lie in it with the digests of what they say, Beside the names next to the copy, and Existing pawl's own files.
	Folder, Name string
	Files        map[string]string
	Beside       []string
	Existing     []string
}

// ReviewScope says what is reviewed.
type ReviewScope string

// The scopes of a review.
const (
	ReviewAll    ReviewScope = "all"
	ReviewRecent ReviewScope = "recent" // what the last commits changed, and what is not committed
	ReviewStaged ReviewScope = "staged"
	ReviewPaths  ReviewScope = "path"
)

// Standing is what there is to commit, and where it would go.
type Standing struct {
	Head, Branch, From string // commit, its branch and its tree; Head is "" before the first commit
	By                 effect.CommitBy
	// Staged says that the index holds changes, which alone are committed then. Tree is what would be committed, Files
	// what it changes, and Beside names changed files that would not be.
	Staged bool
	Tree   string
	Files  []effect.FileStat
	Beside []string
}

// Upstream is where a branch is shared.
type Upstream struct {
	effect.Push
	URL string
	// New says that nothing is configured, and that the only remote there is was taken.
	New bool
}

// Past is the history of the branch that is checked out.
type Past struct {
	Head, Branch, From string
	By                 effect.CommitBy
	Dirty              []string
	// Newest returns the newest commits, the one that the branch is at first.
	Newest func(ctx context.Context, n int) ([]Commit, error)
	// Find returns the commit that a person names, At the one that the branch was at, at an instant.
	Find func(ctx context.Context, name string) (Commit, error)
	At   func(ctx context.Context, at time.Time) (Commit, error)
	// Free returns a name for a branch that is not taken.
	Free func(ctx context.Context, name string) (string, error)
	// Stats tells what going from one tree to another changes.
	Stats func(ctx context.Context, from, to string) ([]effect.FileStat, error)
}

// Commit is a commit of the branch.
type Commit struct {
	ID, Tree, Message string
	At                time.Time
}

// Token is what a program shows to use the API of a workspace, without what makes it one.
type Token struct {
	Name   string    `json:"name"`
	Scopes []string  `json:"scopes"`
	Made   time.Time `json:"made_at"`
}

// Tokens are those of a workspace.
type Tokens interface {
	// New makes a token of a name and with scopes, and returns it this once. Person is in whose name it decides where
	// it may approve.
	New(ctx context.Context, of Token, person pawl.Actor) (token string, err error)
	List(ctx context.Context) ([]Token, error)
	// Revoke takes one back by its name. Where there is none it fails with CodeNotFound.
	Revoke(ctx context.Context, name string) error
}

// Notices are the channels by which people are told, and what is done with them.
type Notices struct {
	Channels []Channel
	// Start tells people until stop is called, unless another process does. It may be called more than once.
	Start func()
	// Test sends a message by a channel, or by all of them for "", and returns what came of it.
	Test func(ctx context.Context, channel string) ([]view.Notice, error)
	// Look says that a person has the workspace before them, until done is called.
	Look func() (done func())
}

// Channel is a way to a person. Place is where it leads, and Flaw what is wrong with its settings, nil for nothing.
type Channel struct {
	Name, Kind, Place string
	Rules             []string
	Flaw              error
}

// Offering says how a workspace is served to programs and pages over HTTP.
type Offering struct {
	// Addr is the loopback address, such as 127.0.0.1:0.
	Addr string
	Lang message.Lang
	// Ready is told where the server is, once it is there.
	Ready func(Offered)
	// Advance works on a run until it waits for a person, unless another process does. Failed is told what comes of it,
	// nil as well.
	Advance func(ctx context.Context) error
	Failed  func(error)
	// Begin makes the command that takes a requirement up. It fails where the requirement or its plan makes no sense,
	// and where an agent that would work on it cannot.
	Begin func(ctx context.Context, r Requirement) (kernel.Command, error)
}

// Requirement is what somebody wants done.
type Requirement struct {
	// Text says it; with a Plan, a document as YAML or JSON, it may be "".
	Text, Plan string
	// Agent works on it, and Mode says what is asked about (pawl.RunMode), "" for what the settings say.
	Agent, Mode string
	// InPlace has the work done in the user's own tree.
	InPlace bool
}

// Offered is where a server is. Socket is "" where there is none.
type Offered struct {
	URL string `json:"url"`
	// Pages is where the dashboard is, under a name of its own.
	Pages  string `json:"pages"`
	Socket string `json:"socket,omitempty"`
	PID    int    `json:"pid"`
}

// Lister is a Host that knows the workspaces of its user.
type Lister interface{ Workspaces() Workspaces }

// Workspaces are those in which a user has had work done on this machine, and whose stores are there.
type Workspaces interface {
	List() []string
	// Serve serves all of them on one page until ctx ends.
	Serve(ctx context.Context, o Everywhere) error
	// Enter makes the address by which a person enters that page, once and soon. Where nothing serves it, it fails with
	// CodeNotFound.
	Enter(person pawl.Actor) (address, code string, err error)
}

// Everywhere says how all workspaces of a user are served on one page.
type Everywhere struct {
	// Addr is the loopback address, such as 127.0.0.1:0.
	Addr string
	Lang message.Lang
	// Look says how all workspaces are. It writes to none of them.
	Look func(ctx context.Context) []Sight
	// Serve serves a workspace with its own pages until ctx ends, and calls ready once it does. Enter is that of the
	// workspace, which fails with CodeNotFound where nothing serves it.
	Serve func(ctx context.Context, dir string, ready func()) error
	Enter func(ctx context.Context, dir string, person pawl.Actor) (address string, err error)
	// Ready is told where the server is, once it is there.
	Ready func(Offered)
}

// Sight is a workspace as it is seen from outside.
type Sight struct {
	Dir string `json:"dir"`
	// Status is where the session of the person stands, and Inbox what waits for a person.
	Status view.Status `json:"status"`
	Inbox  view.Inbox  `json:"inbox"`
	// At is when it was looked at.
	At time.Time `json:"-"`
	// Err is why nothing is known of it, nil where it is.
	Err error `json:"-"`
}

// Waiting is what waits for a person in one of several workspaces.
type Waiting struct {
	Workspace string `json:"workspace"`
	view.Need
	// At is when the workspace was looked at.
	At time.Time `json:"-"`
}

// Gravest is what waits in workspaces, the gravest first, as in the inbox of one.
func Gravest(sights []Sight) []Waiting {
	out := []Waiting{}
	for _, s := range sights {
		for _, n := range s.Inbox.Needs {
			out = append(out, Waiting{s.Dir, n, s.At})
		}
	}
	slices.SortStableFunc(out, func(a, b Waiting) int { return view.Graver(a.Need, b.Need) })
	return out
}

// Serving says how a workspace is served to agents over the Model Context Protocol.
type Serving struct {
	// In and Out are the streams of the one client, unless Addr is set.
	In  io.Reader
	Out io.Writer
	// Addr is the loopback address to serve streamable HTTP at, "" for the streams; Token is what clients must show
	// there.
	Addr, Token string
	Lang        message.Lang
	// Ready is told where the server is, once it is there.
	Ready func(url string)
	// Advance works on a run until it waits for a person, unless another process does.
	Advance func(ctx context.Context) error
}
