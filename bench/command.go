package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/joined"
	"pawl/machine/task"
	"pawl/store/known"
	"pawl/store/sqlite"
)

// program is a built pawl with a home of its own, so that nothing of the user's weighs in.
type program struct {
	path string
	home string
	env  []string
}

// buildPawl builds the command as `make build` does, into a folder of this run.
func buildPawl(ctx context.Context, s *settings) (*program, error) {
	home := filepath.Join(s.dir, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return nil, err
	}
	p := &program{path: filepath.Join(s.dir, "pawl"), home: home, env: append(os.Environ(),
		"HOME="+home, "XDG_STATE_HOME="+home+"/state", "XDG_CONFIG_HOME="+home+"/config", "PAWL_LANG=en", "LC_ALL=C",
		"GIT_CONFIG_GLOBAL="+filepath.Join(home, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1")}
	if runtime.GOOS == "windows" {
		p.path += ".exe"
	}
	gitconfig := "[user]\n\tname = bench\n\temail = bench@example.invalid\n"
	if err := os.WriteFile(filepath.Join(home, "gitconfig"), []byte(gitconfig), 0o644); err != nil {
		return nil, err
	}
	s.say("building pawl")
	made := p.path + ".new"
	// It is built as make does.
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", made, "./cmd/pawl")
	build.Dir = ".." // benchmarks are started in their own folder
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if err := quiet(build); err != nil {
		return nil, err
	}
	// The linker writes its file through a mapping, from which a program starts a tenth slower than from a file that
	// was written in order, as that of an installed program was.
	return p, install(made, p.path)
}

// install copies a program into its place.
func install(from, to string) error {
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, raw, 0o755)
}

// quiet runs a command and returns what it wrote when it fails.
func quiet(c *exec.Cmd) error {
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(c.Args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

func (p *program) command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, p.path, args...)
	c.Dir, c.Env = dir, p.env
	return c
}

// repository makes a git repository with one commit.
func (p *program) repository(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("# A sample\n"), 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "First"}} {
		c := exec.CommandContext(ctx, "git", args...)
		c.Dir, c.Env = dir, p.env
		if err := quiet(c); err != nil {
			return err
		}
	}
	return nil
}

// state is where the program has what belongs to a workspace.
func (p *program) state(dir string) string {
	return known.In(filepath.Join(p.home, "state", "pawl")).State(dir)
}

// workspace makes a repository that is a workspace of pawl and has n tasks.
func (p *program) workspace(ctx context.Context, dir string, n int) error {
	if err := p.repository(ctx, dir); err != nil {
		return err
	}
	if err := quiet(p.command(ctx, dir, "init")); err != nil {
		return err
	}
	store, err := sqlite.Open(filepath.Join(p.state(dir), known.Store), sqlite.Options{})
	if err != nil {
		return err
	}
	k := kernel.New(joined.Table(), store, kernel.Defaults(), pawl.ClockFunc(time.Now), rand.Reader)
	_, err = seed(ctx, k, effect.Place{Workspace: dir, Tree: dir, Git: true}, n, task.Draft, task.Queued, task.Running,
		task.Done)
	return errors.Join(err, store.Close())
}

// wall runs a process to its end and returns the time that it took.
func wall(c *exec.Cmd) (time.Duration, error) {
	start := time.Now()
	err := quiet(c)
	return time.Since(start), err
}

// firstRow starts a process, and returns when the first line that holds the text arrived, and when the process ended.
func firstRow(c *exec.Cmd, text string) (first, whole time.Duration, rows int, err error) {
	out, err := c.StdoutPipe()
	if err != nil {
		return 0, 0, 0, err
	}
	start := time.Now()
	if err := c.Start(); err != nil {
		return 0, 0, 0, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if !strings.Contains(lines.Text(), text) {
			continue
		}
		if rows++; first == 0 {
			first = time.Since(start)
		}
	}
	err = errors.Join(lines.Err(), c.Wait())
	if err == nil && first == 0 {
		err = fmt.Errorf("%s printed no line with %q", strings.Join(c.Args, " "), text)
	}
	return first, time.Since(start), rows, err
}

// The sizes of the workspaces, and how often the commands run in them.
const (
	statusTasks, statusRuns = 10000, 41
	listTasks, listRuns     = 100000, 11
)

// benchCLI measures whole processes: `pawl status` beside `git --version`, and the first row of a long list.
func benchCLI(ctx context.Context, s *settings, emit func(Result)) error {
	p, err := buildPawl(ctx, s)
	if err != nil {
		return err
	}
	if err := benchStatus(ctx, s, p, emit); err != nil {
		return err
	}
	binary, err := os.Stat(p.path)
	if err != nil {
		return err
	}
	emit(Result{Case: "the program itself", Pawl: count(float64(binary.Size())/1e6, "MB"), Score: float64(binary.Size()) / 1e6,
		Unit: "MB", Goal: 45, AtMost: true, Note: "as make builds it"})
	dir := filepath.Join(s.dir, "list")
	s.say("a workspace with %d tasks", listTasks)
	if err := p.workspace(ctx, dir, listTasks); err != nil {
		return err
	}
	var firsts, wholes []float64
	for range listRuns {
		first, whole, rows, err := firstRow(p.command(ctx, dir, "task", "list"), "T-")
		if err != nil {
			return err
		}
		if rows != listTasks {
			return fmt.Errorf("pawl task list printed %d tasks of %d", rows, listTasks)
		}
		firsts, wholes = append(firsts, float64(first)), append(wholes, float64(whole))
	}
	emit(Result{Case: "task list, first row", Pawl: tookNanos(median(firsts)), Score: median(firsts) / 1e6, Unit: "ms",
		Goal: 50, AtMost: true,
		Note: fmt.Sprintf("all %s rows %s; %d runs", grouped(listTasks), short(median(wholes)), listRuns)})
	return nil
}

func benchStatus(ctx context.Context, s *settings, p *program, emit func(Result)) error {
	dir := filepath.Join(s.dir, "status")
	s.say("a workspace with %d tasks", statusTasks)
	if err := p.workspace(ctx, dir, statusTasks); err != nil {
		return err
	}
	commands := []func() *exec.Cmd{
		func() *exec.Cmd { return exec.CommandContext(ctx, "git", "--version") },
		func() *exec.Cmd { return p.command(ctx, dir, "status") },
		func() *exec.Cmd { return p.command(ctx, dir, "version") },
	}
	times := make([][]float64, len(commands))
	for round := range statusRuns + 1 {
		for i, command := range commands {
			took, err := wall(command())
			if err != nil {
				return err
			}
			if round > 0 { // the first round warms the system's caches
				times[i] = append(times[i], float64(took))
			}
		}
	}
	git, status, version := median(times[0]), median(times[1]), median(times[2])
	emit(Result{Case: "status", Pawl: tookNanos(status), Beside: tookNanos(git), Yardstick: "git --version",
		Score: status / git, Unit: "×",
		Goal: 3, AtMost: true, Note: fmt.Sprintf("%s tasks; %d runs", grouped(statusTasks), statusRuns)})
	emit(Result{Case: "version", Pawl: tookNanos(version), Beside: tookNanos(git), Yardstick: "git --version",
		Score: version / git, Unit: "×",
		NoGoal: true, Note: "what any command costs at least"})
	return nil
}
