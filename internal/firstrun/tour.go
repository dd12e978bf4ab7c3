package firstrun

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pawl/agent/scripted"
	"pawl/kernel/view"
)

// Way is how pawl is called the first time.
type Way string

// The ways.
const (
	Default Way = "default" // pawl run "make the checks pass" --yes, with nothing set up
	Asked   Way = "asked"   // the same without --yes: pawl ends and waits for the word
	Agent   Way = "agent"   // the work is asked of a model, which is scripted, with --yes
)

// Verdict is what came of a way.
type Verdict string

// The verdicts. Those of work that is done are proven by the instrument itself.
const (
	Done     Verdict = "done"       // the first command did the work
	DoneNext Verdict = "done, next" // the commands that the screens named did it
	// they did, but the person had to mend the fault, or to write the plan that does
	ByHand   Verdict = "done by hand"
	Yours    Verdict = "yours"          // the screen names a command that needs the network, a login or another person
	DeadEnd  Verdict = "DEAD END"       // nothing is named, or what is named does not help
	Unproven Verdict = "UNPROVEN"       // pawl says that it is done, and it is not
	NotTried Verdict = "not tried here" // a program or the floor is missing on this machine
)

// Bad reports whether nobody should meet the verdict.
func (v Verdict) Bad() bool { return v == DeadEnd || v == Unproven }

// Try is one command and what it came to.
type Try struct {
	Command string  `json:"command"`
	Status  int     `json:"status"`
	Message string  `json:"message,omitempty"`
	Seconds float64 `json:"seconds"`
	// Played says what the instrument did as the person before it.
	Played string `json:"played,omitempty"`
	// ByHand says that this was the work itself.
	ByHand bool `json:"by_hand,omitempty"`
}

// Row is one folder, gone into one way.
type Row struct {
	Folder  string  `json:"folder"`
	Says    string  `json:"says"`
	Way     Way     `json:"way"`
	Floor   string  `json:"floor"`
	Verdict Verdict `json:"verdict"`
	// Status and State are those after the first command; Seconds is how long it took.
	Status  int     `json:"status"`
	State   string  `json:"state,omitempty"`
	Seconds float64 `json:"seconds"`
	// Told says that the first screen shows what is wrong with the code.
	Told bool `json:"told"`
	// Landed is the commit that landed in the end; Checks are the commands with which pawl proved it.
	Landed string   `json:"landed,omitempty"`
	Checks []string `json:"checks,omitempty"`
	// Message is the reason on the first screen where the work was not done by it, and Named the commands that it
	// names.
	Message string   `json:"message,omitempty"`
	Named   []string `json:"named,omitempty"`
	Tries   []Try    `json:"tries"`
	// Why explains the verdict, and Note what was no ordinary machine's.
	Why  string `json:"why,omitempty"`
	Note string `json:"note,omitempty"`
	// Screens are the screens of all tries.
	Screens []string `json:"screens,omitempty"`
}

// Options say how the ways are gone.
type Options struct {
	// Dir is an absolute folder without links in its path, the caller's to remove.
	Dir string
	// Pawl is the program, and Env what its environment has beside that of a person.
	Pawl string
	Env  []string
	// Path are the folders to search for programs.
	Path []string
	// Floor is what the machine is made to forbid.
	Floor Floor
	// Cold says that nothing is compiled beforehand: each folder of Go compiles the standard library.
	Cold bool
	// Keep leaves the folders where they are.
	Keep bool
	// Patience bounds each command.
	Patience time.Duration
}

// Go goes one way in one folder. The error says what kept the instrument from it.
func Go(ctx context.Context, o Options, f Folder, way Way) (Row, error) {
	row := Row{Folder: f.Name, Says: f.Says, Way: way, Floor: o.Floor.Name, Verdict: NotTried, Tries: []Try{}}
	for _, p := range append([]string{"git"}, f.Needs...) {
		if find(o.Path, p) == "" {
			row.Why = p + " is not installed"
			return row, nil
		}
	}
	registry, err := serveRegistry()
	if err != nil {
		return row, err
	}
	defer registry.close()
	model, err := scripted.Serve("127.0.0.1:0", f.script())
	if err != nil {
		return row, err
	}
	defer model.Close()
	base := filepath.Join(o.Dir, f.Name+"-"+string(way))
	m, err := newMaker(ctx, base, o.Path)
	if err == nil && !o.Keep {
		defer Remove(base)
	}
	if err == nil {
		err = f.make(m, registry.url)
	}
	if err == nil && way == Agent {
		err = m.modelled(model.URL, true)
	}
	if err != nil {
		return row, fmt.Errorf("%s: %w", f.Name, err)
	}
	t := &tour{Options: o, maker: m, folder: f, row: &row, model: model.URL}
	row.Note = m.note
	if err := t.lend(); err != nil {
		return row, err
	}
	err = t.walk(way)
	return row, errors.Join(err, t.keepCache())
}

// tour is one way that is being gone.
type tour struct {
	Options
	*maker
	folder Folder
	row    *Row
	model  string
	screen string   // the last one
	from   string   // the commit that the user had
	first  []string // the first command
	verbs  []string
	told   bool // a screen said what is wrong with the code
}

// walk gives the first command and follows what the screens say.
func (t *tour) walk(way Way) error {
	t.from = t.head()
	var err error
	if t.verbs, err = t.commands(); err != nil {
		return err
	}
	args := []string{"run", "make the checks pass", "--yes"}
	switch way {
	case Asked:
		args = args[:2]
	case Agent:
		args[1] = t.folder.asks
	}
	t.first = args
	first, err := t.pawl("", args...)
	if err != nil {
		return err
	}
	t.row.Status, t.row.Seconds, t.row.State = first.Status, first.Seconds, t.state()
	t.row.Told = t.told
	t.row.Named = Named(t.screen, t.verbs)
	if t.done(Done) {
		return nil
	}
	t.row.Message = first.Message
	return t.follow()
}

// maxTries bounds how many commands are followed.
const maxTries = 8

// follow gives the commands that the screens name, until the work is done, or one does not help. Behind a command that
// succeeded and names no other, what the screen before named is given, and then the first command again.
func (t *tour) follow() error {
	last := t.row.Message
	named := Named(t.screen, t.verbs)
	again, succeeded := false, false
	for len(t.row.Tries) < maxTries {
		command, p, ok := t.choose(named)
		if !ok && !again && succeeded {
			command, p, ok, again = "pawl "+
				shown(t.first), play{run: func() (Try, error) { return t.pawl("", t.first...) }}, true, true
		}
		if !ok {
			return t.end(DeadEnd, t.stuck(named))
		}
		if v, why := t.refused(command, p, last); why != "" {
			return t.end(v, why)
		}
		try, err := p.run()
		if err != nil {
			return err
		}
		try.Command, try.Played, try.ByHand = command, p.played, p.hand
		t.row.Tries = append(t.row.Tries, try)
		v := DoneNext
		if slices.ContainsFunc(t.row.Tries, func(e Try) bool { return e.ByHand }) {
			v = ByHand
		}
		if t.done(v) {
			return nil
		}
		if try.Status != 0 && same(try.Message, last) {
			return t.end(DeadEnd, command+" fails with the same message")
		}
		succeeded = try.Status == 0 && !p.looks
		rest := slices.DeleteFunc(slices.Clone(named), func(c string) bool { return c == command })
		if named = Named(t.screen, t.verbs); p.looks && len(named) == 0 {
			named = listed(t.screen, t.verbs)
		}
		if succeeded && len(named) == 0 {
			named = rest
		}
		last = try.Message
	}
	return t.end(DeadEnd, fmt.Sprintf("not done after %d commands", maxTries))
}

// refused says why a command is not given, "" where it is. last is what the one before it said.
func (t *tour) refused(command string, p play, last string) (Verdict, string) {
	switch {
	case p.blind && !t.told:
		return DeadEnd, command + " asks the person to mend what no screen has told"
	case p.needs != "":
		return Yours, command + " needs " + p.needs
	case slices.ContainsFunc(t.row.Tries, func(e Try) bool {
		return e.Command == command && e.ByHand == p.hand &&
			same(e.Message, last)
	}):
		return DeadEnd, "the screens go round: " + command
	}
	return "", ""
}

// stuck says how nothing goes on.
func (t *tour) stuck(named []string) string {
	out := "the screen names no command"
	if len(named) > 0 {
		out = "the screen names nothing that goes on with the work: " + strings.Join(named, "; ")
	}
	for _, e := range t.row.Tries {
		if e.Status != 0 {
			return e.Command + " does not help, and after it " + out
		}
	}
	return out
}

func (t *tour) end(v Verdict, why string) error {
	t.row.Verdict, t.row.Why = v, why
	return nil
}

// pawl runs one command of pawl to its end, on the floor, and keeps its screen.
func (t *tour) pawl(played string, args ...string) (Try, error) {
	return t.command(append([]string{t.Pawl}, args...), "pawl "+shown(args), played, true)
}

// command runs a program as the user, on the floor if it is to.
func (t *tour) command(argv []string, says, played string, floor bool) (Try, error) {
	ctx, stop := context.WithTimeout(t.ctx, t.Patience)
	defer stop()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	if floor {
		var err error
		if cmd, err = t.Floor.command(ctx, argv); err != nil {
			return Try{}, err
		}
	}
	var out bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = t.work, t.env(t.Options.Env...), &out, &out
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	start := time.Now()
	err := cmd.Run()
	try := Try{Command: says, Played: played, Seconds: float64(time.Since(start).Milliseconds()/10) / 100}
	if t.ctx.Err() != nil {
		return try, t.ctx.Err()
	}
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) && ctx.Err() == nil {
		return try, err
	}
	t.screen = out.String()
	try.Status = cmd.ProcessState.ExitCode()
	if ctx.Err() != nil {
		t.screen += fmt.Sprintf("\npawl: the instrument's patience of %s came to its end\n", t.Patience)
	}
	if try.Status != 0 || ctx.Err() != nil {
		try.Message = said(t.screen)
	}
	t.told = t.told || strings.Contains(t.screen, Told)
	t.row.Screens = append(t.row.Screens, "$ "+says+"\n"+t.screen)
	return try, nil
}

// shown are arguments as a person types them.
func shown(args []string) string {
	out := slices.Clone(args)
	for i, a := range out {
		if strings.ContainsAny(a, " ,") {
			out[i] = `"` + a + `"`
		}
	}
	return strings.Join(out, " ")
}

// look reads what pawl says of its state. What cannot be read is nothing.
func look[T any](t *tour, args ...string) T {
	var v T
	cmd := exec.CommandContext(t.ctx, t.Pawl, append(args, "--json")...)
	cmd.Dir, cmd.Env = t.work, t.env(t.Options.Env...)
	if out, err := cmd.Output(); err == nil {
		_ = json.Unmarshal(out, &v) // half of an answer is none
	}
	return v
}

// commands are those that pawl has, as it completes them for a shell.
func (t *tour) commands() ([]string, error) {
	cmd := exec.CommandContext(t.ctx, t.Pawl, "__complete", "")
	cmd.Dir, cmd.Env = t.work, t.env(t.Options.Env...)
	out, err := cmd.Output()
	var verbs []string
	for line := range strings.Lines(string(out)) {
		if name, _, ok := strings.Cut(line, "\t"); ok {
			verbs = append(verbs, name)
		}
	}
	if err == nil && len(verbs) == 0 {
		err = fmt.Errorf("pawl lists no commands: %q", out)
	}
	return verbs, err
}

func (t *tour) state() string { return string(look[view.Status](t, "status").State) }

func (t *tour) head() string {
	if !t.folder.git {
		return ""
	}
	head, err := t.run(nil, "git", "rev-parse", "HEAD")
	if err != nil {
		return ""
	}
	return head
}

// Ground makes a folder for a program's work below another, "" for that of temporary files. Done removes it, unless it
// is to be kept, which is said then. Its name does not tell who made it: a worker that behaves when it is watched
// looks.
func Ground(below, program string, keep bool) (dir string, done func(), err error) {
	if dir, err = os.MkdirTemp(below, program+"-*"); err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil || !keep {
		return dir, func() { Remove(dir) }, err
	}
	fmt.Fprintln(os.Stderr, program+": the folders are in", dir)
	return dir, func() {}, nil
}

// Built is the path of the program to try: the given one or, where that is "", one that is built into a folder from the
// module whose top folder is at top.
func Built(ctx context.Context, given, top, dir string) (string, error) {
	if given != "" {
		return filepath.Abs(given)
	}
	to := filepath.Join(dir, "pawl")
	build := exec.CommandContext(ctx, "go", "build", "-ldflags=-s", "-o", to, "./cmd/pawl")
	build.Dir, build.Env, build.Stderr = top, append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("go build: %w", err)
	}
	return to, nil
}

// Remove removes a folder whose parts may be read-only, as Go's caches are.
func Remove(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) // whose is another's is not removed
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}
