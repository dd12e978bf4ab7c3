package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"pawl"
	"pawl/driver/ground"
	"pawl/driver/verify/fingerprint"
	"pawl/driver/verify/reads"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/sandbox/deps"
	"pawl/store/logs"
	"pawl/text/policy"
	"pawl/text/secret"
	"pawl/text/testrun"
)

// Runner starts one command behind the walls; sandbox.Box is one. An error means that the command could not be started
// there; a command that failed is a result.
type Runner interface {
	Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error)
	// Layers says how folders are shown in the home of a command (sandbox.Box.Layers).
	Layers(ctx context.Context, folder string) (shows, layered bool)
}

// OpenTree opens a folder for reading. Paths that lead out of it, through symbolic links or otherwise, must fail.
type OpenTree func(dir string) (fs.FS, io.Closer, error)

// Config is what the drivers work with. All fields but Grounds, Changed, Change and Commands are required, and none may
// change afterwards.
type Config struct {
	Box  Runner
	Host Host
	Open OpenTree
	// Grounds makes the grounds that checks of a worktree run on. It may be nil: then they run in the tree itself.
	Grounds *ground.Maker
	// Snapshot records the content of the tree and returns its id; equal content has an equal id.
	Snapshot func(ctx context.Context, place effect.Place) (string, error)
	// Changed lists what differs between two snapshots, for messages. It may be nil.
	Changed func(ctx context.Context, place effect.Place, from, to string) ([]effect.FileStat, error)
	// Was reads files of a snapshot, those that it can. It may be nil: then any test that was changed counts as such.
	Was func(ctx context.Context, place effect.Place, tree string, paths []string) map[string]string
	// Change is what the policy judges of a change from one snapshot to another, and Policy by what it does. Without
	// Change nothing is judged.
	Change func(ctx context.Context, place effect.Place, from, to string) ([]policy.Entry, error)
	Policy policy.Profile
	// Commands are the commands of gates by name, as the project configured them ("smoke"). It may be nil.
	Commands map[string]string
}

const (
	defaultPerCheck = 300 * time.Second // docs/spec/composition.md#x13
	boxOutput       = 256 << 10         // bytes of output that a box keeps
	outcomeOutput   = 16 << 10          // bytes of output that an outcome keeps
	exitTimeout     = 124               // exit status recorded for a check that ran out of time
	exitNotFound    = 127               // the shell's exit status for a program that is not there
)

// session is one verification at work.
type session struct {
	*Config
	place    effect.Place   // where the checks run
	of       effect.Place   // what they are about: the same, unless they run on a ground
	ground   *ground.Ground // nil where they run in the tree itself
	tree     string         // what was recorded of it
	tools    Toolchain
	shelf    shelf
	find     LookPath
	perCheck time.Duration
	say      effect.Progress
	known    *versions
	ask      []string          // tests whose ends are wanted one by one
	only     []testrun.Name    // the tests that are to run, where only some are
	anew     bool              // nothing may come from a cache of results
	also     map[string]string // variables that commands have beside the others
	told     *telling          // what the last command said of its tests, nil where its runner is not known
	base     string            // the tree that the work started from, "" where none is known
	changed  []effect.FileStat // what differs from it
	seen     readings
	// unheld is why the machine lets nothing be run at all, nil where it does.
	unheld error
}

// open prepares a verification that runs in a place, which is that of a ground where there is one.
func (v *Verify) open(ctx context.Context, place effect.Place, g *ground.Ground, perCheck time.Duration,
	say effect.Progress) (*session, error) {
	if !filepath.IsAbs(place.Workspace) || !filepath.IsAbs(place.Tree) {
		return nil, pawl.Fail(pawl.CodeInvalid, "verify.no_place").In("verify.Do")
	}
	tools, err := v.config.Host.Toolchain(place, UseVerify)
	if err != nil {
		return nil, err
	}
	if perCheck <= 0 {
		perCheck = defaultPerCheck
	}
	if say == nil {
		say = func(string) {}
	}
	find := v.config.Host.finder(tools.Dependencies)
	s := &session{Config: &v.config, place: place, of: place, ground: g, tools: tools, find: find, perCheck: perCheck,
		say: say, known: &v.known}
	s.shelf.of = s
	if err := s.shelf.open(ctx); err != nil {
		return nil, ioError("verify.cache_unusable", place.Workspace, err)
	}
	return s, nil
}

// judge runs the runnable checks between two snapshots of the tree. The error is nil unless the evidence itself could
// not be taken; a check that fails is an outcome.
func (s *session) judge(ctx context.Context, checks []effect.Check, stopOnFail bool,
	one func(context.Context, effect.Check) effect.CheckOutcome) (effect.VerifyResult, error) {
	out := effect.VerifyResult{Tree: s.tree}
	var err error
	if s.base != "" && s.Changed != nil && s.base != out.Tree {
		if s.changed, err = s.Changed(ctx, s.of, s.base, out.Tree); err != nil {
			return out, err
		}
	}
	stopped := false
	run, left := s.runnable(checks)
	s.shelf.warm(ctx, run)
	for _, c := range run {
		if stopped || ctx.Err() != nil {
			if c.Missing != "" {
				if _, found := s.lookup(c); found {
					c.Missing = "" // it was skipped, and not left out
				}
			}
			out.Outcomes = append(out.Outcomes, effect.CheckOutcome{Check: c, Status: effect.CheckSkipped})
			continue
		}
		s.say("▶ " + label(c))
		o := one(ctx, c)
		o.Fingerprint = fingerprint.Of(s.place, []effect.CheckOutcome{o})
		s.say(verdict(o))
		out.Outcomes = append(out.Outcomes, o)
		stopped = stopOnFail && o.Status != effect.CheckPassed || s.unheld != nil
	}
	if err := ctx.Err(); err != nil {
		return out, stopError(err)
	}
	if s.ground != nil {
		out.TreeAfter, err = s.ground.Found(ctx)
	} else {
		out.TreeAfter, err = s.Snapshot(ctx, s.place)
	}
	if err != nil {
		return out, err
	}
	if out.Tree != out.TreeAfter {
		out.Outcomes = append(out.Outcomes, s.disturbed(ctx, out.Tree, out.TreeAfter))
	}
	out.Passed = len(out.Outcomes) > 0 && !slices.ContainsFunc(out.Outcomes,
		func(o effect.CheckOutcome) bool { return o.Status != effect.CheckPassed })
	for _, c := range left {
		out.Outcomes = append(out.Outcomes, effect.CheckOutcome{Check: c, Status: effect.CheckSkipped})
	}
	out.Fingerprint = fingerprint.Of(s.place, out.Outcomes)
	return out, nil
}

// runnable parts the checks that run from those that are left out, as effect.LeaveOut does, with what is installed by
// now.
func (s *session) runnable(checks []effect.Check) (run, left []effect.Check) {
	return effect.LeaveOut(checks, func(c effect.Check) bool { _, found := s.lookup(c); return !found })
}

// treeCheck is the name of the outcome that says that the checks changed what they judged.
const treeCheck = "tree"

// disturbed is the outcome of checks that changed the tree: whatever they said of it, it was not about what is there
// now.
func (s *session) disturbed(ctx context.Context, from, to string) effect.CheckOutcome {
	o := effect.CheckOutcome{Check: effect.Check{Name: treeCheck, Kind: kindDoctor}, Status: effect.CheckError}
	if s.Changed == nil {
		return o
	}
	files, err := s.Changed(ctx, s.of, from, to)
	if err != nil {
		return o
	}
	var lines []string
	for _, f := range files {
		lines = append(lines, f.Status+" "+f.Path)
	}
	return s.record(o, []byte(strings.Join(lines, "\n")))
}

// command runs one check as a shell command behind the walls.
func (s *session) command(ctx context.Context, c effect.Check) effect.CheckOutcome {
	o := effect.CheckOutcome{Check: c, Status: effect.CheckError}
	if strings.TrimSpace(c.Command) == "" {
		return s.record(o, []byte("empty command"))
	}
	if c.Dir != "" && !filepath.IsLocal(filepath.FromSlash(c.Dir)) {
		return s.record(o, []byte("folder outside the tree: "+c.Dir))
	}
	if c.Missing != "" {
		if _, ok := s.lookup(c); !ok {
			o.ExitCode, o.Environment = exitNotFound, true
			return s.record(o, []byte("not installed: "+c.Missing))
		}
		o.Missing = ""
	}
	spec := s.spec(c, []string{"sh", "-c", c.Command})
	if runsNoCode(c) && s.shelf.usersGo() {
		spec = s.shelf.trusted(spec)
	} else {
		s.shelf.compile(ctx, c)
	}
	if s.anew {
		flags := strings.TrimSpace(valueOf(spec.Env, "GOFLAGS") + " -count=1")
		spec.Env = set(spec.Env, "GOFLAGS", flags) // commands that know no such flag leave it alone
	}
	for name, value := range s.also {
		spec.Env = set(spec.Env, name, value)
	}
	log := logs.New(ctx, c.Name)
	spec.OnOutput = func(b []byte) { _, _ = log.Write(b) }
	told, err := s.reporting(ctx, c, &spec)
	s.told = told
	if err != nil {
		o.Environment = true
		return s.record(o, []byte(err.Error()))
	}
	seen := s.seen.watch(s.place.Tree, s.changed, c)
	r, err := s.Box.Run(ctx, s.ground.Show(spec))
	seen()
	o.DurationMS, o.Walls, o.Weaker = r.Duration.Milliseconds(), r.Walls, sandbox.Weaker(r.Walls)
	if err != nil {
		// The command did not even start: unless it cannot be one, or the work put something in the place of the
		// dependencies, that is no fault of the work.
		if pawl.CodeOf(err) == pawl.CodeSandbox {
			s.unheld = err
		}
		o.ExitCode, o.Environment = -1, !slices.Contains([]pawl.Code{pawl.CodeInvalid, pawl.CodeCanceled,
			pawl.CodeDenied}, pawl.CodeOf(err))
		return s.record(o, []byte(err.Error()))
	}
	o.ExitCode = r.Exit
	o.Tests = told.tests(&r)
	s.ended(c, &o, &r, told)
	o = s.record(o, r.Output)
	o.Digest, o.OutputBytes = r.Digest, r.Bytes
	return o
}

// ended says how a command ended, and adds to its output why it has not passed where it says nothing of that itself.
func (s *session) ended(c effect.Check, o *effect.CheckOutcome, r *sandbox.Result, told *telling) {
	over := r.Over()
	switch {
	case over != nil:
		o.Status = effect.CheckFailed
		r.Output = append(r.Output, "\n"+over.Error()...)
	case r.TimedOut:
		o.Status, o.ExitCode = effect.CheckFailed, exitTimeout
		r.Output = append(r.Output, "\ntimeout after "+s.perCheck.String()...)
	case r.Canceled:
		o.Status = effect.CheckError
	case r.Exit == 0 && r.Signal == "":
		o.Status = effect.CheckPassed
		if why := told.belies(); why != "" {
			o.Status = effect.CheckFailed
			r.Output = append(r.Output, "\n"+why...)
		}
	default:
		o.Status = effect.CheckFailed
		if r.Signal != "" {
			r.Output = append(r.Output, "\nended by signal "+r.Signal...)
		}
		o.Hint = r.Hint
		o.Lacks = s.lacks(c, r.Output)
		o.Environment = o.Lacks != "" || environmental(r.Exit, r.Output)
	}
}

// readings are the changed files that checks read, and those that checks which test read. Both are nil where it is not
// known.
type readings struct{ read, tested map[string]bool }

// watch begins to watch which files of a tree are read, for a check that builds or tests: those of format and lint read
// everything. What it returns notes them.
func (r *readings) watch(tree string, files []effect.FileStat, c effect.Check) (seen func()) {
	nothing := func() {}
	if len(files) == 0 || c.Kind == kindFormat || c.Kind == kindLint {
		return nothing
	}
	root, err := os.OpenRoot(tree)
	if err != nil {
		return nothing
	}
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	marks := reads.Mark(root, paths)
	return func() {
		defer root.Close()
		if !marks.Known {
			return
		}
		if r.read == nil {
			r.read, r.tested = map[string]bool{}, map[string]bool{}
		}
		if marks.Read(r.read); c.Kind != kindBuild {
			marks.Read(r.tested)
		}
	}
}

// lookup asks again for a program that was missing when the plan was made. A path is one of the project's own packages.
func (s *session) lookup(c effect.Check) (string, bool) {
	if !strings.ContainsRune(c.Missing, '/') {
		return s.find(c.Missing)
	}
	if p, ok := s.tools.Dependencies.Locate(path.Join(c.Dir, c.Missing)); ok {
		return p, isFile(p)
	}
	p := filepath.Join(s.place.Tree, filepath.FromSlash(c.Dir), filepath.FromSlash(c.Missing))
	return p, isFile(p)
}

// spec describes a command in the place to the box.
func (s *session) spec(c effect.Check, argv []string) sandbox.Spec {
	env := slices.Clone(s.tools.Env)
	dir := filepath.Join(s.place.Tree, filepath.FromSlash(c.Dir))
	if src := filepath.Join(dir, "src"); isDir(src) {
		// A virtual environment may have the project installed from another worktree; what is verified is this one.
		first := append([]string{src}, s.tools.Dependencies.Editable()...)
		env = set(env, "PYTHONPATH", strings.Join(first, string(filepath.ListSeparator)))
	}
	if c.Dir != "" {
		for _, kv := range env {
			if base, ok := strings.CutPrefix(kv, "BUILD_DIR="); ok {
				env = set(env, "BUILD_DIR", filepath.Join(base, shortDigest(c.Dir)))
			}
		}
	}
	return s.shelf.shelved(sandbox.Spec{
		Argv:      argv,
		Dir:       dir,
		Tree:      s.place.Tree,
		Workspace: s.place.Workspace,
		Writable:  append([]string{s.place.Tree}, s.tools.Writable...),
		Readable:  s.tools.Readable,
		// the tree and the caches lie deeper and stay
		Hidden:      append(s.tools.Dependencies.Hidden(), s.place.Own()),
		Shown:       s.tools.Dependencies.Shown(),
		Env:         env,
		Timeout:     s.perCheck,
		OutputLimit: boxOutput,
	})
}

// set replaces or adds a variable.
func set(env []string, name, value string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	return append(env, name+"="+value)
}

// lacks names the folder of dependencies that a failed check may have wanted and that is not there, "" for none.
// Without its packages nothing can be said of a project of Node; the tests of other languages fail for the want of them
// in known words.
func (s *session) lacks(c effect.Check, output []byte) string {
	program, _, _ := strings.Cut(c.Command, " ")
	for _, d := range s.tools.Dependencies.Lacks() {
		switch d.Ecosystem {
		case deps.Node:
			if slices.Contains([]string{"npm", "npx", "pnpm", "yarn", "bun", "bunx", "node"}, program) {
				return d.Path
			}
		case deps.Python:
			if wantsModule().Match(output) {
				return d.Path
			}
		}
	}
	return ""
}

// wantsModule matches what Python says of a module that is not installed.
var wantsModule = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`ModuleNotFoundError|No module named|ImportError`) })

// record puts an output into an outcome: its end, as text that is safe to keep.
func (s *session) record(o effect.CheckOutcome, output []byte) effect.CheckOutcome {
	sum := sha256.Sum256(output)
	o.Digest, o.OutputBytes = hex.EncodeToString(sum[:]), int64(len(output))
	// The Box has taken the secrets out, but for what a runner has told of line by line.
	o.Output = secret.New().Text(tail(output, outcomeOutput))
	if s.ground != nil { // who mends it works in another folder
		o.Output = relative(o.Output, s.ground.Sees(s.place.Tree))
	}
	return o
}

// stopError is the error of a verification whose context ended.
func stopError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return pawl.Fail(pawl.CodeTimeout, "verify.out_of_time").Because(err).In("verify.Do")
	}
	return pawl.Fail(pawl.CodeCanceled, "verify.canceled").Because(err).In("verify.Do")
}
