package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pawl/face/app"
	"pawl/internal/firstrun"
	"pawl/internal/gittest"
	"pawl/kernel/view"
	"pawl/sandbox"
	"pawl/sandbox/prove"
	"pawl/store/known"
)

// asPawl makes the test binary act as pawl, so that every test goes through the real command line in processes of its
// own.
const asPawl = "PAWL_TEST_MAIN"

// byProgram names the program that gives the test binary its commands as pawl, in the place of a person.
const byProgram = "PAWL_TEST_PROGRAM"

func TestMain(m *testing.M) {
	sandbox.Child()
	prove.Child()
	firstrun.Child()
	if fake := fakeAgents[filepath.Base(os.Args[0])]; fake != nil {
		os.Exit(fake(os.Args[1:]))
	}
	if os.Getenv(asPawl) == "1" {
		// Whoever calls counts as a person, but where a test says which program it is.
		run(app.Host{Env: []string{asPawl + "=1"}}, func() string { return os.Getenv(byProgram) })
	}
	if what := os.Getenv(asHolder); what != "" {
		fmt.Fprintln(os.Stderr, holding(what))
		os.Exit(1)
	}
	if len(os.Args) == 2 && os.Args[1] == asServer {
		lookups()
		return
	}
	flag.Parse()
	var early sync.WaitGroup
	if flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.list").Value.String() == "" {
		early.Go(func() { _, _ = warmCache() }) // many tests wait for it, the others go on meanwhile
	}
	code := m.Run()
	early.Wait()
	if warmFolder != "" {
		_ = os.RemoveAll(warmFolder)
	}
	os.Exit(code)
}

// patience bounds every wait of the tests. It is far beyond what the machine needs, because others may be using it.
const patience = 8 * time.Minute

// user is a person with a home of their own and one folder to work in.
type user struct {
	t    testing.TB
	home string
	dir  string
	path string   // further folders to search for programs
	only string   // the folders to search for programs, instead of the machine's
	temp string   // the folder for temporary files, instead of the machine's
	vars []string // further variables
	// program is the pawl to run, instead of the one that is tested.
	program string
}

// newUser returns a user with an empty home and an empty folder.
func newUser(t testing.TB) *user {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	u := &user{t: t, home: filepath.Join(base, "home"), dir: filepath.Join(base, "work")}
	for _, d := range []string{u.home, u.dir} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// A test that fails leaves nothing running behind it.
	t.Cleanup(func() {
		for _, p := range processesOf(u.base()) {
			if proc, err := os.FindProcess(p.pid); err == nil {
				_ = proc.Kill()
			}
		}
	})
	return u
}

// base is the directory of everything that the user has.
func (u *user) base() string { return filepath.Dir(u.home) }

// own is a path in the state of the user's workspace.
func (u *user) own(elem ...string) string {
	state := known.In(filepath.Join(u.home, ".local", "state", "pawl")).State(u.dir)
	return filepath.Join(append([]string{state}, elem...)...)
}

// ownText is what a file in the state has, "" where there is none.
func (u *user) ownText(name string) string {
	raw, err := os.ReadFile(u.own(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		u.t.Fatal(err)
	}
	return string(raw)
}

// setOwn writes a file in the state.
func (u *user) setOwn(name, text string) {
	u.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(u.own(name)), 0o700), os.WriteFile(u.own(name), []byte(text), 0o600)); err != nil {
		u.t.Fatal(err)
	}
}

// env is the environment of the user's commands: the machine's search path, and nothing else of whoever runs the tests.
func (u *user) env(more ...string) []string {
	out := []string{"HOME=" + u.home, "USER=ada", "LANG=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1"}
	for _, name := range []string{"PATH", "TMPDIR", "GOROOT"} {
		if v := os.Getenv(name); v != "" {
			if name == "PATH" && u.path != "" {
				v += ":" + u.path
			}
			switch {
			case name == "PATH" && u.only != "":
				v = u.only
			case name == "TMPDIR" && u.temp != "":
				continue
			}
			out = append(out, name+"="+v)
		}
	}
	if u.temp != "" {
		out = append(out, "TMPDIR="+u.temp)
	}
	return append(append(out, u.vars...), more...)
}

// run runs a program in the user's folder and returns what it printed.
func (u *user) run(name string, args ...string) string {
	u.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = u.dir, u.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		u.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

func (u *user) git(args ...string) string { u.t.Helper(); return u.run("git", args...) }

// repository makes the folder a git repository with everything that is in it as the first commit.
func (u *user) repository() *user {
	u.t.Helper()
	u.git("init", "-q", "-b", "main")
	gittest.Configure(u.t, u.dir)
	u.git("add", "-A")
	u.git("commit", "-q", "--allow-empty", "-m", "base")
	return u
}

// write writes one file of the user's.
func (u *user) write(name, content string) {
	u.t.Helper()
	path := filepath.Join(u.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		u.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		u.t.Fatal(err)
	}
}

// read returns the content of one file, "" when there is none.
func (u *user) read(name string) string {
	raw, err := os.ReadFile(filepath.Join(u.dir, name))
	if err != nil && !os.IsNotExist(err) {
		u.t.Fatal(err)
	}
	return string(raw)
}

// plan writes a plan beside the folder, so that it is no part of the user's files, and returns its path.
func (u *user) plan(text string) string {
	u.t.Helper()
	path := filepath.Join(filepath.Dir(u.dir), "plan.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		u.t.Fatal(err)
	}
	return path
}

// answer is how a process of pawl ended.
type answer struct {
	code int
	out  string
	err  string
}

func (a answer) String() string {
	return fmt.Sprintf("exit status %d\n--- out\n%s\n--- err\n%s", a.code, a.out, a.err)
}

// pawl runs one command to its end.
func (u *user) pawl(args ...string) answer { u.t.Helper(); return u.start(args...).wait() }

// must runs one command that has to end with a status.
func (u *user) must(code int, args ...string) answer {
	u.t.Helper()
	a := u.pawl(args...)
	if a.code != code {
		u.t.Fatalf("pawl %s: want exit status %d, got %v", strings.Join(args, " "), code, a)
	}
	return a
}

// process is a running pawl. Its output can be looked at while it runs.
type process struct {
	u    *user
	cmd  *exec.Cmd
	stop context.CancelFunc
	err  bytes.Buffer
	done chan struct{}

	mu    sync.Mutex
	out   bytes.Buffer
	grown chan struct{} // closed and replaced when there is more output
}

// start starts one command of pawl.
func (u *user) start(args ...string) *process {
	u.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	p := &process{u: u, stop: stop, done: make(chan struct{}), grown: make(chan struct{})}
	program, env := os.Args[0], u.env(asPawl+"=1")
	if u.program != "" {
		program, env = u.program, u.env()
	}
	p.cmd = exec.CommandContext(ctx, program, args...)
	p.cmd.Dir, p.cmd.Env = u.dir, env
	p.cmd.Stdout, p.cmd.Stderr = p, &p.err
	p.cmd.WaitDelay = 10 * time.Second
	if err := p.cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait()
	}()
	return p
}

// Write takes the standard output.
func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.Write(b)
	close(p.grown)
	p.grown = make(chan struct{})
	return len(b), nil
}

func (p *process) output() (string, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String(), p.grown
}

// wait waits for the end.
func (p *process) wait() answer {
	<-p.done
	p.stop()
	out, _ := p.output()
	return answer{code: p.cmd.ProcessState.ExitCode(), out: out, err: p.err.String()}
}

// kill ends the process as a crash of the machine would, and waits for its end.
func (p *process) kill() answer {
	_ = p.cmd.Process.Kill() // it may have ended already
	return p.wait()
}

// until waits until the output satisfies a condition; it is false when the process ended without.
func (p *process) until(cond func(out string) bool) bool {
	for {
		out, grown := p.output()
		if cond(out) {
			return true
		}
		select {
		case <-grown:
		case <-p.done:
			out, _ := p.output()
			return cond(out)
		}
	}
}

// mustSay waits until the output contains a text.
func (p *process) mustSay(text string) {
	p.u.t.Helper()
	if !p.until(func(out string) bool { return strings.Contains(out, text) }) {
		p.u.t.Fatalf("pawl ended without saying %q: %v", text, p.wait())
	}
}

// decode reads the JSON that a command prints.
func decode[T any](u *user, args ...string) T {
	u.t.Helper()
	a := u.must(0, append(args, "--json")...)
	var v T
	if err := json.Unmarshal([]byte(a.out), &v); err != nil {
		u.t.Fatalf("pawl %s: %v\n%s", strings.Join(args, " "), err, a.out)
	}
	return v
}

func (u *user) status() view.Status { u.t.Helper(); return decode[view.Status](u, "status") }
func (u *user) task(label string) view.Task {
	u.t.Helper()
	return decode[view.Task](u, "task", "show", label)
}

// state fails unless the session is in a state.
func (u *user) state(want string) view.Status {
	u.t.Helper()
	st := u.status()
	if string(st.State) != want {
		u.t.Fatalf("the session is %s, want %s: %+v", st.State, want, st)
	}
	return st
}

// doing waits until an effect of a tool is at work.
func (u *user) doing(tool string) view.Status {
	u.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		a := u.pawl("status", "--json")
		var st view.Status
		if a.code == 0 && json.Unmarshal([]byte(a.out), &st) == nil && st.Doing != nil && st.Doing.Tool == tool &&
			st.Doing.State == "running" {
			return st
		}
	}
	u.t.Fatalf("%s was never at work", tool)
	return view.Status{}
}

// record is one line of the audit log.
type record struct {
	Subject string `json:"subject"`
	Event   string `json:"event_type"`
	Actor   string `json:"actor"`
	Payload struct {
		From       string `json:"from_state"`
		To         string `json:"to_state"`
		Effect     string `json:"effect"`
		Idempotent bool   `json:"idempotent"`
		Answer     string `json:"answer"`
	} `json:"payload"`
}

// log returns the audit log.
func (u *user) log() []record {
	u.t.Helper()
	var out []record
	for line := range strings.Lines(u.must(0, "audit", "log", "--json").out) {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			u.t.Fatalf("%v: %s", err, line)
		}
		out = append(out, r)
	}
	return out
}

// states are the states that the session went through, by its audit records.
func (u *user) states() []string {
	u.t.Helper()
	out := []string{"IDLE"}
	for _, r := range u.log() {
		if strings.HasPrefix(r.Subject, "session:") && r.Payload.To != "" {
			out = append(out, r.Payload.To)
		}
	}
	return out
}

// quiet fails unless nothing is left of the work: no process, worktree, lock, lease, temporary file, and no reference of
// pawl's in the repository.
func (u *user) quiet(branches ...string) {
	u.t.Helper()
	if left := gone(u.base()); len(left) > 0 {
		u.t.Errorf("processes are left: %v", left)
	}
	err := filepath.WalkDir(u.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), ".pawl-unfinished") {
			u.t.Errorf("a temporary file is left: %s", path)
		}
		return err
	})
	if err != nil {
		u.t.Error(err)
	}
	if left, err := os.ReadDir(u.own("worktrees")); err == nil && len(left) > 0 {
		u.t.Errorf("worktrees are left: %v", left)
	}
	if st := u.status(); st.Owner != nil || st.Doing != nil {
		u.t.Errorf("the session is still worked on: %+v %+v", st.Owner, st.Doing)
	}
	if _, err := os.Stat(filepath.Join(u.dir, ".git")); err != nil {
		return
	}
	if trees := u.git("worktree", "list", "--porcelain"); strings.Count(trees, "worktree ") != 1 {
		u.t.Errorf("git knows of worktrees:\n%s", trees)
	}
	for ref := range strings.SplitSeq(u.git("for-each-ref", "--format=%(refname)"), "\n") {
		if ref != "refs/heads/main" && !slices.Contains(branches, ref) {
			u.t.Errorf("a reference is left: %s", ref)
		}
	}
	for _, lock := range []string{"index.lock", "HEAD.lock", "refs/heads/main.lock", "config.lock",
		"packed-refs.lock"} {
		if _, err := os.Stat(filepath.Join(u.dir, ".git", lock)); err == nil {
			u.t.Errorf("git's lock %s is left", lock)
		}
	}
}

// one is a process of the machine.
type one struct {
	pid  int
	what string
}

// gone waits a moment for the processes of a folder to go and returns those that stay.
func gone(dir string) []one {
	var left []one
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if left = processesOf(dir); len(left) == 0 {
			return nil
		}
	}
	return left
}

// processesOf lists the processes that have to do with a folder: those that work in it, name it, or were told of it.
func processesOf(dir string) []one {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var out []one
	for _, e := range all {
		var pid int
		if _, err := fmt.Sscanf(e.Name(), "%d", &pid); err != nil || pid == os.Getpid() {
			continue
		}
		at := filepath.Join("/proc", e.Name())
		cwd, _ := os.Readlink(filepath.Join(at, "cwd"))
		cmdline, _ := os.ReadFile(filepath.Join(at, "cmdline"))
		env, _ := os.ReadFile(filepath.Join(at, "environ"))
		stat, _ := os.ReadFile(filepath.Join(at, "stat"))
		if i := bytes.LastIndexByte(stat, ')'); i >= 0 && bytes.HasPrefix(stat[i:], []byte(") Z")) {
			continue // dead, only not collected yet
		}
		if inside(cwd, dir) || bytes.Contains(cmdline, []byte(dir)) || bytes.Contains(env, []byte(dir)) {
			out = append(out, one{pid, cwd + " " + strings.ReplaceAll(string(cmdline), "\x00", " ")})
		}
	}
	return out
}

func inside(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }
