// Package prepare fetches the dependencies of a project by the project's own tools: behind the walls, with nothing of
// the project but its manifests and lock files, with the network open to the registries that were named and nowhere
// else, and without letting packages run programs unless that was allowed. What it fetches is kept below
// .pawl/cache/deps by the digest of the lock file, where no command can write, and package sandbox/deps finds it there
// for every worktree.
package prepare

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"pawl/text/display"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/sandbox/deps"
	"pawl/sandbox/egress"
	"pawl/sandbox/safeopen"
	"pawl/store/disk"
	"pawl/store/logs"
)

// Runner runs a command behind walls. *sandbox.Box is one.
type Runner interface {
	Run(ctx context.Context, s sandbox.Spec) (sandbox.Result, error)
}

// Config is what the driver works with. All fields are required, and none may change afterwards.
type Config struct {
	Box Runner
	// LookPath finds the programs of the machine.
	LookPath func(program string) (string, bool)
	// Setting is the environment of a tool that may fetch packages of an ecosystem from the registries that the user's
	// settings name, and the folders outside of the workspace that it must be able to read.
	Setting func(place effect.Place, ecosystem string) (env, readable []string, err error)
}

// limit is how long one tool may take.
const limit = 30 * time.Minute

// Driver is the driver for effect.KindPrepare. It is safe for concurrent use on different workspaces.
type Driver struct{ config Config }

// New returns the driver.
func New(c Config) *Driver { return &Driver{c} }

// Do fetches every set that is not ready. A set appears as a whole or not at all, and those that are ready stay when a
// later one fails. The errors are: pawl.CodeConflict where a lock file says something else than the spec knows,
// pawl.CodeEnvironment where a tool is missing or a registry does not answer, pawl.CodeDiskFull, pawl.CodeCanceled,
// pawl.CodeTimeout, pawl.CodeInvalid where manifest and lock file do not fit each other or nobody knows a tool for
// them, and pawl.CodeBuildFail for any other failure of a tool.
func (d *Driver) Do(ctx context.Context, e effect.Effect, p effect.Progress) effect.Receipt {
	start := time.Now()
	if p == nil {
		p = func(string) {}
	}
	r := effect.Outcome(d.prepare(ctx, e, p))
	r.Start, r.End, r.Attempts = start, time.Now(), 1
	return r
}

// Done says yes when every set is ready as it was asked for.
func (d *Driver) Done(_ context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	spec, err := effect.Decode[effect.PrepareSpec](e.Spec)
	if err != nil {
		return effect.DoneNo, effect.Receipt{}
	}
	var out effect.PrepareResult
	for _, s := range spec.Sets {
		r, ok := ready(e.Place, s, spec.Scripts)
		if !ok {
			return effect.DoneNo, effect.Receipt{}
		}
		out.Sets = append(out.Sets, told(s, r, true))
	}
	return effect.DoneYes, effect.Succeeded(out)
}

// folder is a set as package deps knows it.
func folder(s effect.PrepareSet) deps.Folder {
	return deps.Folder{Path: s.Path, Ecosystem: deps.Ecosystem(s.Ecosystem), Root: s.Root, Locks: s.Locks,
		Digest: s.Digest}
}

// ready reads what a set says of itself. One whose packages were not let run programs is not what was asked for where
// they are to be.
func ready(place effect.Place, s effect.PrepareSet, scripts bool) (deps.Ready, bool) {
	r, ok := deps.ReadReady(folder(s).Set(place))
	return r, ok && r.Digest == s.Digest && (!scripts || r.Ran || len(r.Scripts) == 0)
}

func told(s effect.PrepareSet, r deps.Ready, before bool) effect.PreparedSet {
	return effect.PreparedSet{Path: s.Path, Digest: s.Digest, Folders: r.Folders, Tool: r.Tool, Scripts: r.Scripts,
		Ran: r.Ran, Before: before}
}

func (d *Driver) prepare(ctx context.Context, e effect.Effect, p effect.Progress) (effect.PrepareResult, error) {
	out := effect.PrepareResult{Sets: []effect.PreparedSet{}}
	spec, err := effect.Decode[effect.PrepareSpec](e.Spec)
	if err != nil {
		return out, err
	}
	for _, s := range spec.Sets {
		if r, ok := ready(e.Place, s, spec.Scripts); ok {
			out.Sets = append(out.Sets, told(s, r, true))
			continue
		}
		w := &fetch{Driver: d, place: e.Place, set: s, folder: folder(s), scripts: spec.Scripts, say: p}
		r, err := w.do(ctx)
		if err != nil {
			return out, err
		}
		out.Sets = append(out.Sets, told(s, r, false))
	}
	return out, nil
}

// fetch is one set at work.
type fetch struct {
	*Driver
	place   effect.Place
	set     effect.PrepareSet
	folder  deps.Folder
	scripts bool
	say     effect.Progress

	root *os.Root // the workspace
	rel  string   // the set's folder in it
}

func (f *fetch) do(ctx context.Context) (r deps.Ready, err error) {
	if deps.Again(f.place.Tree, f.folder) != f.set.Digest {
		return r, pawl.Fail(pawl.CodeConflict, "prepare.changed", strings.Join(f.set.Locks, ", ")).In("prepare.Do")
	}
	tool, err := choose(f.folder, f.scripts, f.place.Tree)
	if err != nil {
		return r, err
	}
	for _, program := range tool.programs {
		if _, ok := f.config.LookPath(program); !ok {
			return r, pawl.Fail(pawl.CodeEnvironment, "prepare.no_tool", program,
				strings.Join(f.set.Locks, ", ")).In("prepare.Do")
		}
	}
	if f.root, err = disk.Root(f.place.Own()); err != nil {
		return r, ioError(f.place.Own(), err)
	}
	defer f.root.Close()
	f.rel = path.Join(deps.Store, f.folder.Key())
	if err := f.stage(); err != nil {
		return r, ioError(f.rel, err)
	}
	// What was not finished is of no use to anybody.
	defer func() {
		if err != nil {
			_ = removeAll(f.root, f.rel)
		}
	}()
	if err := f.run(ctx, tool); err != nil {
		return r, err
	}
	return f.finish(tool)
}

// stage makes the folder of the set anew, with a copy of the files that the tool needs.
func (f *fetch) stage() error {
	if err := safeopen.PlainDirs(f.root, path.Dir(f.rel)); err != nil {
		return err
	}
	if err := removeAll(f.root, f.rel); err != nil {
		return err
	}
	for _, dir := range []string{"tree", "temp"} {
		if err := f.root.MkdirAll(path.Join(f.rel, dir), 0o755); err != nil {
			return err
		}
	}
	from, err := os.OpenRoot(f.place.Tree)
	if err != nil {
		return err
	}
	defer from.Close()
	for _, name := range deps.Manifests(f.place.Tree, f.folder) {
		raw, err := from.ReadFile(filepath.FromSlash(name))
		if err != nil {
			return err
		}
		to := path.Join(f.rel, "tree", name)
		if err := errors.Join(f.root.MkdirAll(path.Dir(to), 0o755), f.root.WriteFile(to, raw, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// run has the tool fetch the packages.
func (f *fetch) run(ctx context.Context, t tool) error {
	env, readable, err := f.config.Setting(f.place, f.set.Ecosystem)
	if err != nil {
		return err
	}
	set := f.place.Own(f.rel)
	for name, value := range t.env {
		value = strings.ReplaceAll(strings.ReplaceAll(value, "{temp}", filepath.Join(set, "temp")), "{tree}",
			filepath.Join(set, "tree", filepath.FromSlash(f.set.Root)))
		env = replaced(env, name, value)
	}
	away := &refusals{}
	rules := make([]egress.Rule, len(f.set.Sites))
	for i, s := range f.set.Sites {
		rules[i] = egress.Rule(s)
	}
	last, log := "", logs.New(ctx, t.name)
	spec := sandbox.Spec{
		Argv: []string{"sh", "-c", t.command}, Dir: filepath.Join(set, "tree", filepath.FromSlash(f.set.Root)),
		Workspace: f.place.Workspace, Env: env,
		Writable: []string{set}, Readable: readable, Hidden: []string{f.place.Workspace}, Timeout: limit,
		OutputLimit: 1 << 20,
		Egress:      egress.New(rules, egress.Options{Log: away.note}),
		OnOutput: func(b []byte) {
			_, _ = log.Write(b)
			lines := strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' || r == '\r' })
			if len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) != "" && lines[len(lines)-1] != last {
				last = lines[len(lines)-1]
				f.say(display.Line(logs.Mask(ctx, last)))
			}
		},
	}
	f.say(t.name + ": " + t.command)
	r, err := f.config.Box.Run(ctx, spec)
	if err != nil {
		return err
	}
	return f.judge(r, t, away)
}

// finish looks at what the tool made, and marks the set as ready.
func (f *fetch) finish(t tool) (deps.Ready, error) {
	tree := f.place.Own(f.rel, "tree")
	r := deps.Ready{
		Ecosystem: f.folder.Ecosystem, Root: f.set.Root, Digest: f.set.Digest, Platform: deps.Platform(), Tool: t.name,
		Ran:     f.scripts,
		Folders: deps.Filled(tree, f.folder),
	}
	if f.folder.Ecosystem == deps.Node {
		r.Scripts = deps.Wanting(tree, r.Folders)
	}
	if len(f.set.Locks) > 0 && deps.Again(tree, f.folder) != f.set.Digest {
		return r, pawl.Fail(pawl.CodeInvalid, "prepare.rewritten", t.name,
			strings.Join(f.set.Locks, ", ")).In("prepare.Do")
	}
	if len(r.Folders) == 0 {
		return r, pawl.Fail(pawl.CodeBuildFail, "prepare.nothing", t.name).In("prepare.Do")
	}
	if err := removeAll(f.root, path.Join(f.rel, "temp")); err != nil {
		return r, ioError(f.rel, err)
	}
	if err := r.Mark(f.place.Own(f.rel)); err != nil {
		return r, ioError(f.rel, err)
	}
	return r, nil
}

// refusals are the hosts that a tool asked for and that it was not let connect to, or that did not answer. It is safe
// for concurrent use.
type refusals struct {
	mu    sync.Mutex
	hosts []string
	gone  bool
}

func (r *refusals) note(e egress.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Reason {
	case egress.Unresolved, egress.Unreached:
		r.gone = true
	case egress.Unlisted, egress.Literal, egress.Private:
		if !slices.Contains(r.hosts, e.Host) && len(r.hosts) < 10 {
			r.hosts = append(r.hosts, e.Host)
		}
	}
}

// replaced sets a variable of an environment.
func replaced(env []string, name, value string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	return append(env, name+"="+value)
}

// removeAll removes a folder whose own folders may forbid it.
func removeAll(root *os.Root, dir string) error {
	if root.RemoveAll(dir) == nil {
		return nil
	}
	_ = fs.WalkDir(root.FS(), dir, func(p string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = root.Chmod(p, 0o700)
		}
		return nil
	})
	return root.RemoveAll(dir)
}

// ioError gives a failure of the file system its code.
func ioError(what string, err error) error {
	code := safeopen.Code(err)
	if errors.Is(err, safeopen.ErrInWay) {
		code = pawl.CodeDenied
	}
	return pawl.Fail(code, "prepare.store", what).Because(err).In("prepare.Do")
}
