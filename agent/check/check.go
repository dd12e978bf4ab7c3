// Package check shows whether an agent works on this machine. In a folder of its own it makes a repository with a small
// fault, puts a scripted model on loopback, and has pawl itself work there with the agent, from the plan to the landed
// commit: the first edit does not mend the fault, so a check must fail and a repair follow. Then the model lies, and
// nothing may come of it. No other model is called, and nothing of the user's is read or changed.
//
// It judges by what pawl recorded and by what lies in the folder, never by what the agent says.
package check

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"pawl"
	"pawl/agent"
	"pawl/agent/scripted"
	"pawl/agent/wire"
	"pawl/sandbox"
)

// The stages in their order. A stage that an agent cannot come to is left out.
const (
	Found    = "found"    // the agent is there; told by the caller
	Judged   = "judged"   // the agent's model judged the requirement
	Planned  = "planned"  // a plan was made and approved
	Edited   = "edited"   // the agent changed the file in the task's own tree
	Refused  = "refused"  // pawl's own check found the fault that is left
	Mended   = "mended"   // told of the failure, the agent mended it
	Reviewed = "reviewed" // the agent's model looked at the result, and had nothing against it
	Proven   = "proven"   // every check passed, on exactly the tree that landed
	Landed   = "landed"   // the result is a commit on the user's branch
	Undone   = "undone"   // and was taken back
	Liar     = "liar"     // a model that lies comes to nothing
	Quiet    = "quiet"    // no process is left
)

// Stage is one stage as it came out.
type Stage struct {
	Name string
	Took time.Duration
	// Saw are the things worth telling: keys of the catalogue and their arguments.
	Saw []Phrase
	// Err says why the stage failed, nil where it passed. Said are the last things that the agent said before it did.
	Err  error
	Said []string
}

// Phrase is a text of the catalogue.
type Phrase struct {
	Key  string
	Args []string
}

// Box runs a command behind walls; *sandbox.Box is one.
type Box interface {
	Run(ctx context.Context, s sandbox.Spec) (sandbox.Result, error)
}

// Call is one command line for pawl: its environment is Env alone, and it is called in Dir.
type Call struct {
	Dir      string
	Env      map[string]string
	Args     []string
	Out, Err io.Writer
}

// Options say what is checked, and with what.
type Options struct {
	// Agent is the agent's name in runs, and Kind how it is reached.
	Agent string
	Kind  agent.Kind
	// Provider is the wire form in the words of the settings: openai, anthropic or gemini; API is the form of openai,
	// "" for chat.
	Provider, API string
	// Dir is an empty folder without links in its path. It is the caller's to remove. State is where Pawl has the
	// state of its workspaces.
	Dir, State string
	// Go says that the checks of the sample may be those of Go; without it they are a script of the shell.
	Go   bool
	Box  Box
	Pawl func(ctx context.Context, c Call) (status int)
	// Report is told of each stage when it is over.
	Report func(Stage)
}

// modelName and modelKey are what pawl is given for a model. The agent must never show the key.
const (
	modelName = "mock-model"
	modelKey  = "key-of-the-check"
)

// Run goes through the stages and stops at the first that fails; failed is its name, "" where all passed. The error
// tells what kept the check from being made: what is missing on the machine, or that ctx ended.
func Run(ctx context.Context, o Options) (failed string, err error) {
	model, err := scripted.Serve("127.0.0.1:0", scripted.Liar())
	if err != nil {
		return "", pawl.Fail(pawl.CodeEnvironment, "check.no_model").Because(err).In("check.Run")
	}
	defer model.Close()
	c := &checker{Options: o, sample: sampleFor(o), model: model, work: filepath.Join(o.Dir, "work"), since: time.Now(),
		fixes: 3}
	if err := c.prepare(ctx); err != nil {
		return "", err
	}
	for _, part := range []func(context.Context) error{c.honest, c.undo, c.lie, c.quiet} {
		if err := part(ctx); err != nil {
			if errors.Is(ctx.Err(), context.Canceled) {
				return "", ctx.Err()
			}
			if ctx.Err() != nil {
				err = pawl.Fail(pawl.CodeTimeout, "check.out_of_time").In("check.Run")
			}
			c.fail(err)
			return c.stage, nil
		}
	}
	return "", nil
}

// checker is one check that goes on.
type checker struct {
	Options
	sample sample
	model  *scripted.Server
	work   string    // the repository
	stage  string    // the one that goes on
	since  time.Time // when the last one was over
	said   []string
	fixes  int // how many repairs a run may try
}

// url is where the settings say that the model is.
func (c *checker) url() string {
	if c.Provider == string(wire.OpenAI) {
		return c.model.URL + "/v1"
	}
	return c.model.URL
}

// pass reports the stage that goes on as passed.
func (c *checker) pass(saw ...Phrase) {
	c.Report(Stage{Name: c.stage, Took: c.lap(), Saw: saw})
	c.said = nil
}

func (c *checker) fail(err error) {
	c.Report(Stage{Name: c.stage, Took: c.lap(), Err: err, Said: c.said})
}

func (c *checker) lap() time.Duration {
	now := time.Now()
	took := now.Sub(c.since)
	c.since = now
	return took
}

// heard keeps the last things that the agent said.
func (c *checker) heard(line string) {
	if c.said = append(c.said, line); len(c.said) > 3 {
		c.said = c.said[1:]
	}
}

// prepare makes the repository, a home without settings, and the key.
func (c *checker) prepare(ctx context.Context) error {
	files := map[string]string{filepath.Join(c.Dir, "key"): modelKey + "\n"}
	for name, content := range c.sample.files {
		files[filepath.Join(c.work, name)] = content
	}
	for name, content := range c.sample.plans {
		files[filepath.Join(c.Dir, name)] = content
	}
	err := errors.Join(os.MkdirAll(c.work, 0o755), os.MkdirAll(filepath.Join(c.Dir, "home"), 0o700))
	for name, content := range files {
		err = errors.Join(err, os.WriteFile(name, []byte(content), 0o600))
	}
	if err != nil {
		return pawl.Fail(pawl.CodeIO, "check.no_folder", c.Dir).Because(err).In("check.Run")
	}
	_, err = c.git(ctx, "git init -q -b main . && git config user.name pawl && git config user.email pawl@example.invalid && git add -A && git commit -q -m 'A fault'")
	return err
}

// git runs git in the repository, with no configuration but its own.
func (c *checker) git(ctx context.Context, script string) (string, error) {
	r, err := c.Box.Run(ctx, sandbox.Spec{
		Argv: []string{"/bin/sh", "-c", script}, Dir: c.work, Writable: []string{c.work}, Timeout: time.Minute,
		Env: sandbox.Environ(os.Environ(),
			map[string]string{"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}),
	})
	out := strings.TrimSpace(string(r.Output))
	if err == nil && r.Exit != 0 {
		err = pawl.Fail(pawl.CodeEnvironment, "check.no_git", out).In("check.Run")
	}
	return out, err
}

// pawl runs a command line in the repository. Each line of its output is handed to see, and what it complained of is
// the error; a status other than want is one, too.
func (c *checker) pawl(ctx context.Context, want int, see func(line []byte), args ...string) error {
	var complaint strings.Builder
	status := c.Pawl(ctx, Call{
		Dir: c.work, Out: &lines{see: see}, Err: &complaint, Args: append(args, "--json"),
		Env: map[string]string{
			"HOME": filepath.Join(c.Dir, "home"), "PAWL_MODEL_KIND": c.Provider, "PAWL_MODEL_API": c.API,
			"PAWL_MODEL_BASE_URL": c.url(), "PAWL_MODEL_NAME": modelName,
			"PAWL_MODEL_KEY_FILE": filepath.Join(c.Dir, "key"), "PAWL_MAX_FIXES": strconv.Itoa(c.fixes),
		},
	})
	if status == want {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var told struct {
		Error struct {
			Code    pawl.Code `json:"code"`
			Message string    `json:"message"`
		} `json:"error"`
	}
	text := strings.TrimSpace(complaint.String())
	if json.Unmarshal([]byte(text), &told) == nil && told.Error.Message != "" {
		return pawl.Fail(told.Error.Code, "check.told", told.Error.Message).In("check.Run")
	}
	return pawl.Fail(pawl.CodeEnvironment, "check.status", "pawl "+args[0], status, want, text).In("check.Run")
}

// lines hands over what is written line by line.
type lines struct {
	see  func([]byte)
	rest []byte
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, whole := cutLine(l.rest)
		if !whole {
			return len(p), nil
		}
		l.rest = rest
		if l.see != nil {
			l.see(line)
		}
	}
}
