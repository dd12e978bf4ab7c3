package agent

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"pawl"
	"pawl/kernel/effect"
	"pawl/store/disk"
	"pawl/store/logs"
)

// places are the folders of one task's agents: a home and, beside it and never above it, a folder for temporary files,
// because some agents refuse to work with a home below the temporary folder.
type places struct {
	side, home, temp string
}

// makePlaces makes the folders in the state of the workspace. Nothing of the user's own configuration is in them.
func (c External) makePlaces(e effect.Effect) (places, error) {
	owner := e.Task
	if owner == "" {
		owner = e.ID
	}
	if owner == "" || owner != filepath.Base(owner) || strings.HasPrefix(owner, ".") {
		return places{}, pawl.Fail(pawl.CodeInternal, "agent.no_home", c.Program.Name).In("agent.Work")
	}
	side := path.Join("agents", owner)
	fail := func(err error) (places, error) {
		return places{}, pawl.Fail(pawl.CodeIO, "agent.no_home", c.Program.Name).Because(err).In("agent.Work")
	}
	root, err := disk.Root(e.Place.Own())
	if err != nil {
		return fail(err)
	}
	defer root.Close()
	for _, d := range []string{"home", "tmp"} {
		if err := root.MkdirAll(path.Join(side, d), 0o700); err != nil {
			return fail(err)
		}
	}
	abs := filepath.Join(root.Name(), side)
	return places{side: abs, home: filepath.Join(abs, "home"), temp: filepath.Join(abs, "tmp")}, nil
}

// remove takes the folders away. What cannot be removed is left to whoever clears the workspace.
func (p places) remove(state string) {
	root, err := os.OpenRoot(state)
	if err != nil {
		return
	}
	defer root.Close()
	if rel, err := filepath.Rel(state, p.side); err == nil {
		_ = root.RemoveAll(rel)
	}
}

// write writes the agent's configuration into its home. The agent may have left anything there, so what stands in the
// way is removed first, and no link leads out of the home.
func (p places) write(files map[string]string) error {
	root, err := os.OpenRoot(p.home)
	if err != nil {
		return err
	}
	defer root.Close()
	for name, content := range files {
		if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
			return err
		}
		if err := root.RemoveAll(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = f.WriteString(content)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// maxProjectText bounds one text of a project for an agent.
const maxProjectText = 64 << 10

// Texts makes files of texts that stand below a folder, one after the other where a file has several. Texts that are
// not there, too long or no files are left out, and no link leads out of the folder.
func Texts(dir string, from map[string][]string) map[string]string {
	out := map[string]string{}
	if len(from) == 0 {
		return out
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return out
	}
	defer root.Close()
	for file, names := range from {
		var parts []string
		for _, name := range names {
			info, err := root.Stat(name)
			if err != nil || !info.Mode().IsRegular() || info.Size() > maxProjectText {
				continue
			}
			raw, _ := root.ReadFile(name) // what was read counts
			if text := strings.TrimSpace(string(raw)); text != "" {
				parts = append(parts, text+"\n")
			}
		}
		if len(parts) > 0 {
			out[file] = strings.Join(parts, "\n")
		}
	}
	return out
}

// values fills the placeholders of a catalog entry. Filling is done once, so a value never stands for another.
func (j *Job) values(session, prompt string) *strings.Replacer {
	url := "http://127.0.0.1:" + strconv.Itoa(int(j.External.Port))
	if j.lane != nil {
		url += "/" + strings.Trim(j.lane.URL(j.External.Provider), "/")
	}
	schema, form := "", ""
	if j.Question != nil {
		schema, form = j.Question.Schema, filepath.Join(j.places.home, schemaFile)
	}
	return strings.NewReplacer("{schema}", schema, "{form}", form, "{url}", url, "{model}", j.External.Model, "{window}",
		strconv.FormatInt(j.External.Window, 10), "{out}", strconv.FormatInt(j.External.MaxOut, 10), "{key}", dummyKey,
		"{home}", j.places.home, "{session}", session, "{prompt}", prompt)
}

// Launch writes the agent's configuration, runs what has to run first, and starts the agent: to go on with a session,
// or with "" to begin one.
func (j *Job) Launch(ctx context.Context, session, prompt string) (*Running, error) {
	fill := j.values(session, prompt)
	files := map[string]string{}
	for name, content := range j.External.Program.Files {
		files[name] = fill.Replace(content)
	}
	if j.Question != nil {
		files[schemaFile] = strictForm(j.Question.Schema)
	}
	maps.Copy(files, Texts(j.Effect.Place.Tree, j.External.Program.Texts))
	if j.loan != nil {
		maps.Copy(files, j.loan.Files)
	}
	if err := j.places.write(files); err != nil {
		return nil, pawl.Fail(pawl.CodeIO, "agent.no_home", j.External.Program.Name).Because(err).In("agent.Launch")
	}
	for _, args := range j.External.Program.Setup {
		if err := j.setup(ctx, fill, args); err != nil {
			return nil, err
		}
	}
	args := j.External.Program.Args
	if session != "" && len(j.External.Program.Resume) > 0 {
		args = j.External.Program.Resume
	}
	return j.start(ctx, fill, args, true)
}

func (j *Job) setup(ctx context.Context, fill *strings.Replacer, args []string) error {
	r, err := j.start(ctx, fill, args, false)
	if err != nil {
		return err
	}
	_ = r.Stdin().Close()
	_, _ = io.Copy(io.Discard, r.Stdout())
	exit := r.End(j.External.Grace)
	if exit != 0 && ctx.Err() == nil {
		return j.Died(r, exit)
	}
	return ctx.Err()
}

// start starts the program, with a way to its model where it needs one.
func (j *Job) start(ctx context.Context, fill *strings.Replacer, args []string, model bool) (*Running, error) {
	hidden, obeys := j.External.distrusted(j.Effect.Place.Tree)
	s := Spec{Hidden: hidden, MustHide: j.External.Program.Distrust == nil, Argv: []string{j.External.Path},
		Dir: j.Effect.Place.Tree, Port: j.External.Port, Env: j.env(fill),
		Writable: []string{j.places.home, j.places.temp}}
	s.Readable, s.Unproxied = append(installation(j.External.Path), j.External.Readable...),
		j.External.Program.Unproxied
	if j.Question == nil {
		s.Writable, s.Task = append(s.Writable, j.Effect.Place.Tree), j.Effect.Task
	} else {
		s.Readable = append(s.Readable, j.Effect.Place.Tree)
		s.Hidden = append(s.Hidden, j.Effect.Place.Own())
	}
	for _, a := range j.External.Program.Line(args, j.Question != nil, obeys) {
		s.Argv = append(s.Argv, fill.Replace(a))
	}
	if j.loan != nil && model {
		s.Secret, s.SecretFD, s.Sites = j.loan.Secret, j.loan.SecretFD, j.loan.Sites
	}
	hang, closed := func() {}, make(chan struct{})
	if model && j.lane != nil {
		var serving context.Context
		serving, hang = context.WithCancel(j.ctx)
		s.Inside = func(l net.Listener) {
			go func() {
				defer close(closed)
				_ = j.lane.Serve(serving, l) // an agent that cannot reach its model says so itself
			}()
		}
	} else {
		close(closed)
	}
	p, err := j.External.Start(ctx, s)
	if err != nil {
		hang()
		return nil, err
	}
	return run(p, j.aside(), func() { hang(); <-closed }), nil
}

// env is the agent's whole environment. Its own home and folder for temporary files come last, so that nothing
// overrides them.
func (j *Job) env(fill *strings.Replacer) []string {
	env := map[string]string{}
	for _, kv := range j.External.Environ {
		if k, v, ok := strings.Cut(kv, "="); ok {
			env[k] = v
		}
	}
	for k, v := range j.External.Program.Env {
		env[k] = fill.Replace(v)
	}
	env["HOME"], env["TMPDIR"], env["TERM"], env["NO_COLOR"] = j.places.home, j.places.temp, "dumb", "1"
	// Agents that are scripts find their interpreter beside themselves or on PATH.
	env["PATH"] = strings.Trim(filepath.Dir(j.External.Path)+":"+env["PATH"], ":")
	out := make([]string, 0, len(env))
	for k, v := range env {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return out
}

// installation returns what an installed program needs to read of itself: its folder, that of what it links to, and the
// whole tree of packages when it came with one.
func installation(program string) []string {
	out := []string{filepath.Dir(program)}
	if target, err := filepath.EvalSymlinks(program); err == nil {
		out = append(out, filepath.Dir(target))
	}
	for i, p := range out {
		if at := strings.Index(p+"/", "/node_modules/"); at >= 0 {
			out[i] = p[:at] + "/node_modules"
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Running is a started agent. The end of what it writes to its standard error is kept for the failure's text.
type Running struct {
	Process
	mu      sync.Mutex
	errTail []byte
	aside   func([]byte)
	gone    chan struct{} // closed when nothing of it is left
	exit    int
}

// run looks after a process until it is gone, and calls after then. Aside is given what it writes to its standard
// error, nil at the end.
func run(p Process, aside func([]byte), after func()) *Running {
	r := &Running{Process: p, aside: aside, gone: make(chan struct{})}
	read := make(chan struct{})
	go func() { defer close(read); r.collect() }()
	go func() {
		defer close(r.gone)
		exit, err := p.Wait()
		if err != nil {
			exit = -1
		}
		<-read
		after()
		r.exit = exit
	}()
	return r
}

// keptErr is how much of the standard error is kept.
const keptErr = 8 << 10

func (r *Running) collect() {
	buf := make([]byte, 16<<10)
	for {
		n, err := r.Stderr().Read(buf)
		r.mu.Lock()
		r.errTail = append(r.errTail, buf[:n]...)
		if over := len(r.errTail) - keptErr; over > 0 {
			r.errTail = append(r.errTail[:0], r.errTail[over:]...)
		}
		r.mu.Unlock()
		r.aside(buf[:n])
		if err != nil {
			r.aside(nil)
			return
		}
	}
}

// maxAside is how much of an unfinished line of the standard error waits for its end.
const maxAside = 64 << 10

// aside keeps what a program writes to its standard error in a log of its own. It is kept by whole lines, so that
// nothing that was lent can come in two pieces.
func (j *Job) aside() func([]byte) {
	log := logs.New(j.ctx, j.External.Program.Name+" stderr")
	var rest []byte
	return func(p []byte) {
		rest = append(rest, p...)
		end := bytes.LastIndexByte(rest, '\n') + 1
		if len(p) == 0 || len(rest)-end > maxAside {
			end = len(rest)
		}
		text := string(rest[:end])
		if j.loan != nil {
			text = j.loan.Hide(text)
		}
		_, _ = io.WriteString(log, text)
		rest = append(rest[:0], rest[end:]...)
	}
}

// Complaint returns the end of the standard error as plain text.
func (r *Running) Complaint() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if c == '\n' || c == '\t' || c >= ' ' && c != 0x7f {
			return c
		}
		return -1
	}, string(bytes.ToValidUTF8(r.errTail, []byte("\uFFFD")))))
}

// End waits for the agent to end by itself, at most for grace, kills whatever is left of it then, and returns the exit
// status. Whoever reads the standard output comes to its end. It may be called often.
func (r *Running) End(grace time.Duration) int {
	if grace > 0 {
		wait := time.NewTimer(grace)
		defer wait.Stop()
		select {
		case <-r.gone:
		case <-wait.C:
		}
	}
	r.Kill()
	<-r.gone
	return r.exit
}

// Died is the error of an agent that ended without having finished. One that wants to be logged in often says so and
// ends.
func (j *Job) Died(r *Running, exit int) error {
	e := pawl.Fail(pawl.CodeModel, "agent.died", j.External.Program.Name, exit).In("agent.Work")
	switch text := r.Complaint(); {
	case loginText().MatchString(text), limitText().MatchString(text):
		return j.ModelError(text)
	case text != "":
		return e.Because(errors.New(text))
	}
	return e
}

// Silent is the error of an agent that gave no sign of life.
func (j *Job) Silent() error {
	return pawl.Fail(pawl.CodeTimeout, "agent.silent", j.External.Program.Name,
		j.External.Idle.Round(time.Second).String()).In("agent.Work")
}

// TooMuch is the error of an agent that writes without end.
func (j *Job) TooMuch(limit int64) error {
	return pawl.Fail(pawl.CodeModel, "agent.too_much_output", j.External.Program.Name, limit>>20).In("agent.Work")
}

// What agents write of an error of their model. There is no code in it to go by.
var (
	loginText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(401|403)\b|unauthorized|invalid[ _]?(api|x-api)[ _-]?key|authenticat|could not be refreshed|sign in again|not logged in|` +
			`please run /login|token refresh failed|manual authorization is required|session expired`)
	})
	limitText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)usage[ _]limit|hit your (session |weekly )?limit|limit reached`)
	})
	rateText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b429\b|rate[ _-]?limit|quota|resource[ _]?exhausted`)
	})
)

// ModelError is the error of an agent that says that its model failed. That a login or a plan has come to its end is no
// fault of the work, and no repair mends it.
func (j *Job) ModelError(text string) error {
	e := pawl.Fail(pawl.CodeModel, "agent.model_failed", j.External.Program.Name)
	switch {
	case limitText().MatchString(text):
		e = pawl.Fail(pawl.CodeEnvironment, "agent.usage_limit", j.External.Program.Name)
	case loginText().MatchString(text) && j.loan != nil:
		e = pawl.Fail(pawl.CodeLogin, "agent.login_ended", j.External.Program.Name, j.loan.SignIn)
	case loginText().MatchString(text):
		e = pawl.Fail(pawl.CodeLogin, "agent.login_needed", j.External.Program.Name)
	case rateText().MatchString(text):
		e = pawl.Fail(pawl.CodeEnvironment, "agent.rate_limited", j.External.Program.Name)
	}
	return e.Because(errors.New(Line(text))).In("agent.Work")
}

// Watch calls silent once when nothing was seen for the job's Idle time.
func (j *Job) Watch(silent func()) *Watch {
	w := &Watch{idle: j.External.Idle}
	w.timer = time.AfterFunc(j.External.Idle, silent)
	return w
}

// Watch is a clock that runs out when an agent is silent. It is safe for concurrent use.
type Watch struct {
	mu    sync.Mutex
	timer *time.Timer
	idle  time.Duration
	busy  int
	over  bool
}

// Seen starts the clock anew.
func (w *Watch) Seen() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over && w.busy == 0 {
		w.timer.Reset(w.idle)
	}
}

// Busy stops the clock while pawl works for the agent; the result starts it again.
func (w *Watch) Busy() (done func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy++
	w.timer.Stop()
	return func() {
		w.mu.Lock()
		w.busy--
		w.mu.Unlock()
		w.Seen()
	}
}

// Stop ends the watch.
func (w *Watch) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.timer.Stop()
}
