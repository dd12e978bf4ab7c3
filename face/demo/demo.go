// Package demo is what `pawl demo` shows: in a folder of its own it makes a sample repository with a bug, puts a
// scripted model on loopback, and has pawl itself work there with its own agent, each command in a process as a person
// would start it. The model first lies, with a stub and an empty test; then it works honestly, pawl is killed in the
// middle of it, and goes on; what was left unformatted is repaired; and the result, its proof and the way back are
// shown.
//
// It judges each act by what pawl recorded and by what lies in the folder, and fails where pawl does not do what is
// said of it.
package demo

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"pawl"
	"pawl/agent/scripted"
	"pawl/sandbox"
)

//go:embed all:repo
var repo embed.FS

// Repo is the name of the repository in the folder.
const Repo = "greeting"

// Box runs a command behind walls; *sandbox.Box is one.
type Box interface {
	Run(ctx context.Context, s sandbox.Spec) (sandbox.Result, error)
}

// Call is one command line for pawl: its environment is Env and what every program needs, and it is called in Dir.
// Output is told of each line that it writes, Started of the process, whose Kill ends it as SIGKILL does.
type Call struct {
	Dir     string
	Env     map[string]string
	Args    []string
	Output  func(line string)
	Started func(pid int, kill func())
}

// Options say what is shown, and with what. All fields are required but Std.
type Options struct {
	// Dir is a folder that is empty or missing, absolute. It stays; Leave removes what was made in it.
	Dir string
	Box Box
	// Pawl runs a command line in a process of its own and returns its exit status, a negative one where a signal ended
	// it. The error says that it could not be run, or that ctx ended.
	Pawl func(ctx context.Context, c Call) (status int, err error)
	// Text puts a text of the catalogue into words: what the model is asked and says.
	Text func(key string, args ...any) string
	// Tell is told what is to be seen, in order, from one goroutine at a time.
	Tell func(Scene)
	// Std is a folder with Go's compiled standard library as pawl keeps it for all workspaces. It is only read; where
	// there is none the first check compiles it.
	Std string
}

// Kind says what a Scene is.
type Kind string

// The kinds of scenes.
const (
	Act     Kind = "act"     // an act begins: Act is its name, and Text says it in words
	Note    Kind = "note"    // Text is to be read
	Command Kind = "command" // a command begins: Args are its words, and Text is what one would type
	Output  Kind = "output"  // Text is a line of its output
	Rest    Kind = "rest"    // a line of its output that a person need not read
	Status  Kind = "status"  // it ended, with Status
	Said    Kind = "said"    // Text is what the agent said
	Saw     Kind = "saw"     // Text is what is so
)

// Scene is one thing that is to be seen.
type Scene struct {
	Kind   Kind
	Act    string
	Text   string
	Args   []string
	Status int
}

// The acts in their order.
const (
	Lie    = "lie"    // an agent leaves a stub, empties a test and says that it is done
	Kill   = "kill"   // pawl is killed in the middle of the work
	Repair = "repair" // it goes on, and what fails is repaired
	Proof  = "proof"  // what landed, why, and how it is undone
)

// Run shows the acts in their order and stops at the first that does not come out as it is told. The error is
// CodeChecksFailed then, and tells another thing where the demo could not be made.
func Run(ctx context.Context, o Options) error {
	model, err := scripted.Serve("127.0.0.1:0", scripted.Liar())
	if err != nil {
		return pawl.Fail(pawl.CodeEnvironment, "demo.no_model").Because(err).In("demo.Run")
	}
	defer model.Close()
	s := &stage{Options: o, model: model, repo: filepath.Join(o.Dir, Repo)}
	s.note("demo.note.begin", s.repo)
	if err := s.prepare(ctx); err != nil {
		return err
	}
	for _, act := range []func(context.Context) error{s.lie, s.kill, s.repair, s.proof} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	return os.RemoveAll(filepath.Join(o.Dir, "home", ".cache")) // the repository has its own copy
}

// Empty fails unless a folder is empty or missing.
func Empty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return pawl.Fail(pawl.CodeInvalid, "demo.no_folder", dir).Because(err).In("demo.Run")
	case len(entries) > 0:
		return pawl.Fail(pawl.CodeConflict, "demo.not_empty", dir).In("demo.Run")
	}
	return nil
}

// Leave removes what Run has made in a folder.
func Leave(dir string) error {
	var err error
	for _, name := range []string{Repo, "home", "tmp"} {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, name)))
	}
	return err
}

// stage is one demo that goes on.
type stage struct {
	Options
	model *scripted.Server
	repo  string
	base  string // the first commit
}

// prepare makes the repository, and a home without settings for pawl.
func (s *stage) prepare(ctx context.Context) error {
	if err := Empty(s.Dir); err != nil {
		return err
	}
	err := errors.Join(unpack(s.repo), os.MkdirAll(filepath.Join(s.Dir, "home"), 0o700),
		os.MkdirAll(filepath.Join(s.Dir, "tmp"), 0o700))
	if err == nil && s.Std != "" {
		// It only saves time: what is missing or cut is compiled.
		_ = os.CopyFS(filepath.Join(s.Dir, "home", ".cache", "pawl", "go-build-std", filepath.Base(s.Std)),
			os.DirFS(s.Std))
	}
	if err != nil {
		return pawl.Fail(pawl.CodeIO, "demo.unpack", s.Dir).Because(err).In("demo.Run")
	}
	s.base, err = s.git(ctx, "git init -q -b main . && git config user.name Ada && git config user.email ada@example.org && git add -A && git commit -q -m 'A greeting in Go' && git rev-parse HEAD")
	if err != nil {
		return err
	}
	// Made a workspace on purpose, the sample may lie inside of one.
	var said []string
	status, err := s.Pawl(ctx, Call{Dir: s.repo, Env: s.env(), Args: []string{"init"},
		Output: func(line string) { said = append(said, line) }})
	if err == nil && status != 0 {
		err = s.wrong("init", append(said, strconv.Itoa(status))...)
	}
	return err
}

// unpack writes the sample. Go files carry the suffix .txt in this package, so that they are no part of it.
func unpack(dir string) error {
	return fs.WalkDir(repo, "repo", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := repo.ReadFile(p)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, strings.TrimSuffix(d.Name(), ".txt")), data, 0o644)
	})
}

// git runs git in the repository, with no configuration but its own.
func (s *stage) git(ctx context.Context, script string) (string, error) {
	r, err := s.Box.Run(ctx, sandbox.Spec{
		Argv: []string{"/bin/sh", "-c", script}, Dir: s.repo, Writable: []string{s.repo}, Timeout: time.Minute,
		Env: sandbox.Environ(os.Environ(),
			map[string]string{"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}),
	})
	out := strings.TrimSpace(string(r.Output))
	if err == nil && r.Exit != 0 {
		err = pawl.Fail(pawl.CodeEnvironment, "demo.git", out).In("demo.Run")
	}
	return out, err
}
