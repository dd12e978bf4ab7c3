package sandbox

import (
	"context"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"pawl"
	"pawl/sandbox/safeopen"
)

// Box runs commands behind walls. It is safe for concurrent use; every Run has walls of its own.
type Box struct {
	mechanism Mechanism
	homes     []string

	mu     sync.Mutex
	chosen Mechanism // what choose found to work; a failure is not kept, because it may pass
	walls  *Walls

	level    int  // the newest version of Landlock to use on the floor; zero for the kernel's
	ready    bool // keep a spare launcher
	spareMu  sync.Mutex
	spare    *spare
	closed   bool
	standing sync.WaitGroup // launchers that are or were spare

	findOnce sync.Once
	cgroups  map[string]string // directory by controller in which a cgroup can be made

	pointsMu sync.Mutex
	points   map[string]int // directories that were made to show something at, and how many commands use them
}

// New returns a Box. It starts nothing: the walls are tried on the first use, and a machine without them is reported by
// Run and by Walls. An unknown mechanism is pawl.CodeInvalid.
func New(o Options) (*Box, error) {
	switch o.Mechanism {
	case "":
		o.Mechanism = MechanismAuto
	case MechanismAuto, MechanismBubblewrap, MechanismNamespaces, MechanismLandlock, MechanismOuter:
	default:
		return nil, pawl.Fail(pawl.CodeInvalid, "sandbox.mechanism", string(o.Mechanism)).In("sandbox.New")
	}
	return &Box{mechanism: o.Mechanism, homes: homes(o.Home), ready: o.Ready}, nil
}

// Warm makes ready for a command that is to come: a Box with Options.Ready tries the walls and starts a launcher beside
// what the caller does next. Without Ready it does nothing. It never waits and never fails.
func (b *Box) Warm() { b.warm() }

// Close ends the launcher that a Box with Options.Ready keeps, and waits until nothing of it is left, and for the
// commands that run. Commands can still be run afterwards; they wait for their launchers. Closing twice, and closing a
// Box without Ready, does nothing.
func (b *Box) Close() { b.dismiss() }

// Run runs a command and waits until all of its processes are gone. A command that fails, is ended by a signal, by its
// timeout or by ctx is a Result, not an error. The errors are: pawl.CodeInvalid for a Spec that makes no sense,
// pawl.CodeDenied for a Writable path that must not be writable, pawl.CodeNotFound for one that is missing,
// pawl.CodeEnvironment when the executable is missing or cannot be executed, pawl.CodeSandbox when the walls cannot be
// raised, pawl.CodeCanceled when ctx was done before the start, and pawl.CodeIO when pawl itself failed.
func (b *Box) Run(ctx context.Context, s Spec) (Result, error) {
	s, err := s.checked(b.homes)
	if err == nil {
		err = b.hides(ctx, s)
	}
	if err != nil {
		return Result{}, err
	}
	if ctx.Err() != nil {
		return Result{}, pawl.Fail(pawl.CodeCanceled, "sandbox.canceled").Because(context.Cause(ctx)).In("sandbox.Run")
	}
	return b.pointed(ctx, s)
}

// pointed runs a command with a place for everything that it is shown.
func (b *Box) pointed(ctx context.Context, s Spec) (Result, error) {
	var made []string
	// Where no mounts can be made, folders are shown by links.
	linking := len(s.Shown) > 0 && b.bare(ctx)
	defer func() { b.unpoint(made, s.Writable, linking) }()
	for _, sh := range s.Shown {
		ours, err := b.point(sh, s.Writable, linking)
		if err != nil {
			return Result{}, err
		}
		if ours {
			made = append(made, sh.At)
		}
	}
	return b.run(ctx, s)
}

// hides refuses a command that must not see what could not be hidden from it.
func (b *Box) hides(ctx context.Context, s Spec) error {
	if !s.MustHide {
		return nil
	}
	for _, p := range s.Hidden {
		if slices.ContainsFunc(s.Writable, func(w string) bool { return within(p, w) }) && b.bare(ctx) {
			return pawl.Fail(pawl.CodeEnvironment, "sandbox.cannot_hide", p).In("sandbox.Run")
		}
	}
	return nil
}

// point makes the directory to show something at, where there is none, and reports whether it is one that commands of
// the Box made. The writable directory around it is held, so that a link that somebody puts into the path meanwhile
// does not lead out of it.
func (b *Box) point(sh Shown, writable []string, linking bool) (ours bool, err error) {
	b.pointsMu.Lock()
	defer b.pointsMu.Unlock()
	at := sh.At
	root, rel, err := around(at, writable)
	if err != nil {
		return false, safeopen.Fail("sandbox.Run", at, err)
	}
	defer root.Close()
	info, err := root.Lstat(rel)
	switch {
	case err == nil && !info.IsDir():
		return false, pawl.Fail(pawl.CodeDenied, "sandbox.shown_taken", at).In("sandbox.Run")
	case err == nil && b.points[at] == 0 && linking:
		// Links cover nothing, so that what stands there would be taken for what is to be shown. What a killed pawl
		// left is made anew.
		remove := root.Remove
		if onlyLinks(root, rel, sh.From) {
			remove = root.RemoveAll
		}
		if remove(rel) != nil {
			return false, pawl.Fail(pawl.CodeDenied, "sandbox.shown_taken", at).In("sandbox.Run")
		}
		err = fs.ErrNotExist
	case err == nil && b.points[at] == 0:
		return false, nil
	}
	if err != nil {
		err = root.Mkdir(rel, 0o755)
		if err == nil && linking {
			err = linkAll(root, rel, sh.From)
		}
		if err != nil {
			_ = root.RemoveAll(rel)
			return false, safeopen.Fail("sandbox.Run", at, err)
		}
	}
	if b.points == nil {
		b.points = map[string]int{}
	}
	b.points[at]++
	return true, nil
}

// unpoint removes directories that were made to show something at, when no other command of the Box uses them and
// nothing is in them. What cannot be removed is an empty directory, which no version control sees.
func (b *Box) unpoint(made, writable []string, linking bool) {
	b.pointsMu.Lock()
	defer b.pointsMu.Unlock()
	for _, at := range made {
		if b.points[at]--; b.points[at] > 0 {
			continue
		}
		delete(b.points, at)
		root, rel, err := around(at, writable)
		if err != nil {
			continue
		}
		if info, err := root.Lstat(rel); err == nil && info.IsDir() {
			remove := root.Remove
			if linking { // nothing is in it but links, and what the commands left among them
				remove = root.RemoveAll
			}
			_ = remove(rel)
		}
		_ = root.Close()
	}
}

// linkAll fills a directory with links to what is in a folder, as linksTo says.
func linkAll(root *os.Root, rel, from string) error {
	list, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range list {
		name, source := filepath.Join(rel, e.Name()), filepath.Join(from, e.Name())
		to, err := linksTo(e, source)
		switch {
		case err != nil:
			return err
		case to != "":
			err = root.Symlink(to, name)
		case scope(e):
			if err = root.Mkdir(name, 0o755); err == nil {
				err = linkAll(root, name, source)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// linksTo is where the link leads that stands for an entry. A link is made anew with the same target, so that one that
// leads up leads into the tree around the directory. It is "" for the folder of a scope, in which packages of a
// workspace are linked and which is made with links of its own, and for caches, which are for the command to fill.
func linksTo(e os.DirEntry, source string) (string, error) {
	switch {
	case e.Name() == ".cache" || scope(e):
		return "", nil
	case e.Type()&os.ModeSymlink != 0:
		return os.Readlink(source)
	}
	return source, nil
}

// scope reports whether an entry is the folder of a scope of packages ("@name").
func scope(e os.DirEntry) bool { return e.IsDir() && strings.HasPrefix(e.Name(), "@") }

// onlyLinks reports whether a directory holds nothing but what linkAll makes.
func onlyLinks(root *os.Root, rel, from string) bool {
	dir, err := root.Open(rel)
	if err != nil {
		return false
	}
	list, err := dir.ReadDir(-1)
	_ = dir.Close()
	if err != nil {
		return false
	}
	for _, e := range list {
		name, source := filepath.Join(rel, e.Name()), filepath.Join(from, e.Name())
		info, err := os.Lstat(source)
		if err != nil {
			return false
		}
		if scope(e) {
			if !onlyLinks(root, name, source) {
				return false
			}
			continue
		}
		want, err := linksTo(fs.FileInfoToDirEntry(info), source)
		if got, lost := root.Readlink(name); err != nil || lost != nil || got != want {
			return false
		}
	}
	return true
}

// around opens the writable directory in which a path lies, and returns the rest of the path.
func around(path string, writable []string) (*os.Root, string, error) {
	best := ""
	for _, w := range writable {
		if within(path, w) && path != w && len(w) > len(best) {
			best = w
		}
	}
	rel, err := filepath.Rel(best, path)
	if best == "" || err != nil {
		return nil, "", fs.ErrPermission
	}
	root, err := os.OpenRoot(best)
	return root, rel, err
}

// streams are a command's ends of its three standard streams.
type streams struct{ in, out, err *os.File }

// Process is a command that was started and whose streams are the caller's to read and write.
type Process struct {
	Stdin          *os.File
	Stdout, Stderr *os.File
	stop           context.CancelFunc
	done           chan struct{}
	result         Result
	err            error
}

// Start starts a command as Run does, without waiting for it. The caller must read both outputs, or the command waits
// for it, and must call Wait. Stdin of the Spec, OutputLimit and OnOutput have no meaning. What keeps a command from
// starting is returned by Wait, with the same errors as Run's.
func (b *Box) Start(ctx context.Context, s Spec) (*Process, error) {
	s, err := s.checked(b.homes)
	if err == nil {
		err = b.hides(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	var ends [6]*os.File
	for i := 0; i < len(ends); i += 2 {
		if ends[i], ends[i+1], err = os.Pipe(); err != nil {
			for _, f := range ends[:i] {
				_ = f.Close()
			}
			return nil, pawl.Fail(pawl.CodeIO, "sandbox.walls").Because(err).In("sandbox.Start")
		}
	}
	work, stop := context.WithCancel(ctx)
	p := &Process{Stdin: ends[1], Stdout: ends[2], Stderr: ends[4], stop: stop, done: make(chan struct{})}
	s.Stdin, s.OnOutput, s.streams = nil, nil, &streams{in: ends[0], out: ends[3], err: ends[5]}
	go func() {
		defer close(p.done)
		p.result, p.err = b.pointed(work, s)
		// Nothing of the command is left, so what it wrote can be read to its end.
		for _, f := range []*os.File{ends[0], ends[3], ends[5]} {
			_ = f.Close()
		}
	}()
	return p, nil
}

// Wait waits until no process of the command is left. Call it once.
func (p *Process) Wait() (Result, error) {
	<-p.done
	p.stop()
	_ = p.Stdin.Close()
	return p.result, p.err
}

// Kill ends the command: with SIGTERM, and with SIGKILL two seconds later. It may be called at any time and often.
func (p *Process) Kill() { p.stop() }

// Walls reports what this machine can do. The first call tries every layer, as Probe does; later calls repeat its
// answer.
func (b *Box) Walls(ctx context.Context) Walls {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.walls == nil {
		w := Probe(ctx)
		w.Outer = b.mechanism == MechanismOuter
		b.walls = &w
	}
	return *b.walls
}

// checked returns a copy of s with its defaults filled in and its paths resolved.
func (s Spec) checked(homes []string) (Spec, error) {
	bad := func(key string, args ...any) (Spec, error) {
		return Spec{}, pawl.Fail(pawl.CodeInvalid, key, args...).In("sandbox.Run")
	}
	if len(s.Argv) == 0 || s.Argv[0] == "" {
		return bad("sandbox.argv_empty")
	}
	paths := slices.Concat(s.Writable, s.Readable, s.Hidden, []string{s.Dir})
	for _, sh := range s.Shown {
		paths = append(paths, sh.From, sh.At)
	}
	for _, v := range slices.Concat(s.Argv, s.Env, paths) {
		if strings.IndexByte(v, 0) >= 0 {
			return bad("sandbox.nul")
		}
	}
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			return bad("sandbox.path_relative", p)
		}
	}
	if ports := gates(s.Egress); ports != nil {
		if s.Network || len(ports) > maxGates {
			return bad("sandbox.egress_spec")
		}
		s.Env = throughGate(s.Env, ports[0], !s.Unproxied)
	}
	if len(s.Secret) > 0 && (len(s.Secret) > maxSecret || s.SecretFD <= 2 || s.SecretFD > lastSecretFD) {
		return bad("sandbox.secret_spec", s.SecretFD)
	}
	if s.Timeout <= 0 {
		s.Timeout = DefaultTimeout
	}
	if s.MaxProcs <= 0 {
		s.MaxProcs = DefaultMaxProcs
	}
	var err error
	if s.Writable, err = resolveWritable(s.Writable, homes); err == nil {
		s.Shown, err = resolveShown(s.Shown, s.Writable)
	}
	s.Readable, s.Hidden = resolveExisting(s.Readable), resolveExisting(s.Hidden)
	return s, err
}

// resolveShown resolves the links of what is shown, and refuses a place that is in no writable directory or behind a
// link of it: the directory is the command's, and so is every link in it.
func resolveShown(shown []Shown, writable []string) ([]Shown, error) {
	out := make([]Shown, 0, len(shown))
	for _, sh := range shown {
		from, err := filepath.EvalSymlinks(sh.From)
		if err == nil && !isDir(from) {
			err = syscall.ENOTDIR
		}
		if err != nil {
			return nil, safeopen.Fail("sandbox.Run", sh.From, err)
		}
		parent, err := filepath.EvalSymlinks(filepath.Dir(sh.At))
		if err != nil {
			return nil, safeopen.Fail("sandbox.Run", sh.At, err)
		}
		at := filepath.Join(parent, filepath.Base(sh.At))
		root, _, err := around(at, writable)
		if err != nil {
			return nil, pawl.Fail(pawl.CodeDenied, "sandbox.shown_outside", sh.At).In("sandbox.Run")
		}
		_ = root.Close()
		out = append(out, Shown{From: from, At: at})
	}
	return out, nil
}

func isDir(p string) bool {
	info, err := os.Stat(p)
	return err == nil && info.IsDir()
}

// systemDirs may never be writable, and nor may a directory that holds one of them.
var systemDirs = []string{
	"/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/opt", "/proc", "/root", "/run", "/sbin", "/sys",
	"/tmp", "/usr",
	"/var", "/var/tmp", "/var/lib", "/var/run",
}

// resolveWritable resolves the symbolic links of paths and refuses those that must not be writable. The directories
// below /proc, /sys and /dev are not files of anybody's workspace, so they are refused as well.
func resolveWritable(paths, homes []string) ([]string, error) {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		r, err := filepath.EvalSymlinks(p)
		if err != nil {
			return nil, safeopen.Fail("sandbox.Run", p, err)
		}
		for _, d := range slices.Concat(systemDirs, homes) {
			if within(d, r) {
				return nil, pawl.Fail(pawl.CodeDenied, "sandbox.writable_root", p).In("sandbox.Run")
			}
		}
		for _, d := range []string{"/dev", "/proc", "/sys"} {
			if within(r, d) {
				return nil, pawl.Fail(pawl.CodeDenied, "sandbox.writable_root", p).In("sandbox.Run")
			}
		}
		out = append(out, r)
	}
	return out, nil
}

// resolveExisting resolves the symbolic links of paths and drops those that do not exist.
func resolveExisting(paths []string) []string {
	var out []string
	for _, p := range paths {
		if r, err := filepath.EvalSymlinks(p); err == nil {
			out = append(out, r)
		}
	}
	return out
}

// within reports whether p is dir or lies below it. Both are clean and absolute.
func within(p, dir string) bool {
	return p == dir || dir == "/" || strings.HasPrefix(p, dir+"/")
}

// homes lists the resolved home directories whose secrets are hidden.
func homes(own string) []string {
	candidates := []string{own, os.Getenv("HOME")}
	if u, err := user.Current(); err == nil {
		candidates = append(candidates, u.HomeDir)
	}
	var out []string
	for _, c := range candidates {
		if !filepath.IsAbs(c) {
			continue
		}
		r, err := filepath.EvalSymlinks(c)
		if err == nil && r != "/" && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}
