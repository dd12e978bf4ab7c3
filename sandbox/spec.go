package sandbox

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"pawl"

	"pawl/sandbox/cause"
	"pawl/sandbox/safeopen"
)

// Mechanism names what commands are held by: who makes the namespaces, on top of which Landlock and seccomp come, or
// the floor that is left without namespaces.
type Mechanism string

// The mechanisms. MechanismAuto takes bubblewrap where it is installed and works, and pawl's own namespaces otherwise;
// with Options.Ready it is the other way round. Where neither works it takes MechanismLandlock, the floor.
// MechanismOuter is taken only by who names it: the machine itself is the wall, and commands get what layers of the
// floor there are, which may be none.
const (
	MechanismAuto       Mechanism = "auto"
	MechanismBubblewrap Mechanism = "bwrap"
	MechanismNamespaces Mechanism = "namespaces"
	MechanismLandlock   Mechanism = "landlock"
	MechanismOuter      Mechanism = "outer"
)

// bare reports whether commands run without namespaces.
func (m Mechanism) bare() bool { return m == MechanismLandlock || m == MechanismOuter }

// Home is the home directory that Environ gives a command. It lies in the private /tmp and is made when HOME names it.
const Home = "/tmp/home"

// Defaults that stand in for a zero field of a Spec.
const (
	DefaultTimeout     = 5 * time.Minute
	DefaultOutputLimit = int64(1 << 20)
	DefaultMaxProcs    = 4096
	DefaultDisk        = int64(32 << 30)
	DefaultFiles       = int64(1 << 20)

	// maxSecret is what an empty pipe takes in at once, so that filling one waits for nobody.
	maxSecret = 64 << 10
	// lastSecretFD is far below the fewest descriptors that a process may have.
	lastSecretFD = 255
	// maxOutputLimit bounds what one command may keep in memory whatever its Spec says.
	maxOutputLimit = int64(64 << 20)
	// grace is how long a command has between SIGTERM and SIGKILL.
	grace = 2 * time.Second
	// handshake bounds the start of the launcher. A healthy one needs a few milliseconds, but waits for its turn where
	// agents keep every processor busy.
	handshake = time.Minute
)

// Spec describes one command. Paths are absolute. The deepest path that covers a file decides what the command may do
// with it, so a Writable path inside a Hidden one is writable, and a Readable path inside a Writable one is read-only;
// for one and the same path, Hidden beats Readable and Readable beats Writable.
type Spec struct {
	// Argv is the command and its arguments, passed as they are: no shell is involved. A name without a slash is looked
	// up in the absolute entries of PATH of Env, inside the walls.
	Argv []string
	// Dir is the working directory, as the command sees it.
	Dir string
	// Tree is the tree that the command works in, where it is to be looked through afterwards (package planted).
	Tree string
	// Workspace is the user's directory that Tree belongs to. Of it, a command sees the repository and what is
	// Writable, Readable or Shown. Empty means the directory around the .pawl in which something is Writable.
	Workspace string
	// Writable lists directories and files that the command may change. Each must exist, and none may be the user's
	// home, a system directory or a parent of those. A .git or .pawl directly inside one stays read-only unless it is
	// listed itself.
	Writable []string
	// Readable lists paths that must be readable and read-only: exceptions from what is hidden by default, and
	// read-only parts of a Writable directory. Paths that do not exist are ignored.
	Readable []string
	// Hidden lists paths that appear empty to the command. Paths that do not exist are ignored.
	Hidden []string
	// MustHide refuses the command, with pawl.CodeEnvironment, where something Hidden lies in a Writable directory and
	// the machine gives no namespaces: it could be read there (WeakInside).
	MustHide bool
	// Shown are folders that the command sees at another path as well. Each place must lie in a Writable directory or
	// in Home and must be free or a directory; it is made where it is missing, and removed after the command when it is
	// still empty. What was in it is covered. Without namespaces (Box.Layers) nothing is shown in Home, and what is
	// shown at its own path is as it is.
	Shown []Shown
	// Put are folders and files that the command finds elsewhere than where they are. Nothing is put anywhere where the
	// machine gives no namespaces (Box.Puts): all is found where it is.
	Put []Put
	// Env is the complete environment; Environ makes one.
	Env []string
	// Stdin is the command's standard input; it is closed afterwards. Empty means /dev/null.
	Stdin []byte
	// Secret, when not empty, is what the command can read once, to its end, from a pipe at descriptor SecretFD. It is
	// in no argument, variable or file, and the launcher keeps none of it. At most 64 KiB.
	Secret []byte
	// SecretFD is the descriptor of Secret: 3 to 255.
	SecretFD int
	// asked are the paths of Readable and Shown before their links were resolved.
	asked []string
	// masked and shared are what was found in the folder that the command works in (package inside).
	masked, shared []string
	// repositories are the git directories in that folder.
	repositories []string
	// filter is the Box's.
	filter func(emit func([]byte)) io.WriteCloser
	// streams are the command's own three streams, for Start.
	streams *streams
	// Timeout ends the command with SIGTERM, and with SIGKILL two seconds later. Zero means DefaultTimeout.
	Timeout time.Duration
	// OutputLimit is the number of bytes of output that are kept, one half from the beginning and one from the end.
	// Zero means DefaultOutputLimit; values above 64 MiB count as 64 MiB.
	OutputLimit int64
	// Network lets the command share pawl's network. Without it the command has nothing but a loopback of its own.
	Network bool
	// Egress, when not nil, carries connections out of the command's own network: the command finds a proxy for HTTP in
	// its environment, at a port of its loopback, and nothing else. It cannot be combined with Network, and needs
	// Linux.
	Egress Egress
	// Unproxied leaves the proxy of Egress out of the environment, for a command that needs the ports of its loopback
	// alone: some programs ask a proxy even for what lies on their own loopback, whatever NO_PROXY says.
	Unproxied bool
	// MaxProcs limits the threads and processes alive at one time, and MaxMemory the memory in bytes, private /tmp
	// included. The kernel holds them where pawl may make a cgroup, and the number of processes for an unprivileged
	// user; otherwise a command that passes them is ended. Zero means the Box's Limits.
	MaxProcs  int
	MaxMemory int64
	// OnOutput, when not nil, sees each piece of output as it comes. It is called from one goroutine at a time, never
	// after Run has returned; the slice is valid during the call only. It must return quickly, because the command
	// waits for it.
	OnOutput func([]byte)
}

// Put is what a command finds at a path in the place of what is there. All paths of the Spec but Dir, Argv and Env are
// those of the machine, also where they lie in From; of what lies at the place itself, the command finds what is
// Readable, and what is Hidden in that stays hidden.
type Put struct {
	// From is a folder or a file. A folder that is Writable can be written to, all else only be read. Empty stands for
	// the home of the command (Home), which is empty at first but for what is Shown in it, and gone with the command.
	From string
	// At is the place: no system directory nor a parent of one, and the user's home only for an empty From.
	At string
}

// Limits are what one command may use. Zero means the default.
type Limits struct {
	// Memory in bytes, private /tmp included, which may hold a third of it: by default three quarters of the machine's,
	// and of that at most 8 GiB in /tmp.
	Memory int64
	// Processes is how many threads and processes may be alive at one time, by default DefaultMaxProcs.
	Processes int
	// Disk is how much a command may write to its folders in bytes, and Files how many files it may make or change
	// there, by default DefaultDisk and DefaultFiles.
	Disk, Files int64
}

// Shown is a folder of the machine at another path. Unless it is Kept, the folder itself never changes: what the
// command writes there goes into a layer that ends with it, or is refused as to a read-only file system where the
// machine cannot lay one over the folder (with MechanismBubblewrap, or in a kernel before 5.11).
type Shown struct {
	// From is the folder. Links in its path are followed; one that does not exist is an error.
	From string
	// At is where the command finds it, apart from links in the Writable directory around it. A link below that
	// directory is an error.
	At string
	// Kept has the command write to the folder itself, which then must be one that Writable could name. Its place must
	// lie in Home.
	Kept bool
	// Layer is a directory that stores what the command writes there, for later commands with the same Layer. Commands
	// must not be able to write to it otherwise. While one command uses it, another one gets a layer that ends with it,
	// and so does a command where the file system of Layer cannot take one.
	Layer string
}

// private reports whether the place lies in the command's own home, where nothing has to be made for it beforehand.
func (sh Shown) private() bool { return within(sh.At, Home) && sh.At != Home }

// Result says how a command ended.
type Result struct {
	// Exit is the exit status; 128 plus the number for a command ended by a signal, and 127 or 126 for one that was not
	// found or could not be executed (Run returns an error then).
	Exit int
	// Signal names the signal that ended the command, such as "SIGKILL", or is empty.
	Signal string
	// Output is standard output and standard error in the order in which they were written, byte for byte, with one
	// line in place of the middle where it is longer than the limit. It belongs to the caller.
	Output []byte
	// Truncated reports that a part of the output is not in Output.
	Truncated bool
	// Bytes is the length of the whole output.
	Bytes int64
	// Digest is the SHA-256 of the whole output in hexadecimal.
	Digest string
	// Duration is the time from the call of Run to the end of the last process.
	Duration time.Duration
	// Limit names the limit for which the command was ended or has failed, "" for none: "memory", "processes", "disk",
	// "files", "scratch" or "file". Over says it in words.
	Limit string
	// TimedOut and Canceled report that pawl ended the command because of its Timeout or of its context.
	TimedOut, Canceled bool
	// Hint names paths that a failed command missed although they exist outside the sandbox, and the setting that shows
	// them. Empty means none.
	Hint string
	// Walls lists the layers that held the command, the outermost first: "bwrap", "namespaces" or "outer", "landlock",
	// "seccomp", "cgroup". Without one of the first three it ran on the floor.
	Walls []string
}

// limitFile is the limit of the size of one file.
const limitFile = "file"

// Over says which limit a command has passed and how it is raised, nil for none.
func (r Result) Over() error {
	if r.Limit == "" {
		return nil
	}
	return pawl.Fail(pawl.CodeBuildFail, "sandbox.over_"+r.Limit).In("sandbox.Run")
}

// Wall is one layer as Probe found it.
type Wall struct {
	// OK reports that the layer was tried and holds.
	OK bool
	// Detail is the technical reason when it does not hold, or a version when it does.
	Detail string
}

// Walls is what this machine can do. Commands run when Bubblewrap, Namespaces or Floor hold, and Seccomp holds with
// them. Landlock is added where the kernel has it, Cgroup where pawl may make one.
type Walls struct {
	Bubblewrap, Namespaces, Floor, Landlock, Seccomp, Cgroup Wall
	// Cause is why Namespaces do not hold.
	Cause cause.Cause
	// Outer reports that the Box relies on the machine around it, whatever else holds.
	Outer bool
}

// Any reports whether commands can run at all.
func (w Walls) Any() bool { return (w.Bubblewrap.OK || w.Namespaces.OK || w.Floor.OK) && w.Seccomp.OK }

// streams are a command's ends of its three standard streams.
type streams struct{ in, out, err *os.File }

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
	for _, p := range s.Put {
		paths = append(paths, p.At)
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
	s.note()
	var err error
	if s.Writable, err = resolveWritable(s.Writable, homes); err == nil {
		s.Shown, err = resolveShown(s.Shown, s.Writable, homes)
	}
	if err == nil {
		s.Put, err = resolvePut(s.Put, homes)
	}
	s.Readable, s.Hidden = resolveExisting(s.Readable), resolveExisting(s.Hidden)
	return s, err
}

// note keeps what was asked for before links are resolved, and finds the workspace.
func (s *Spec) note() {
	for _, w := range s.Writable {
		if workspace, _, ok := strings.Cut(w, "/.pawl/"); ok && s.Workspace == "" {
			s.Workspace = workspace
		}
	}
	for _, p := range s.Readable {
		s.asked = append(s.asked, filepath.Clean(p))
	}
	for _, sh := range s.Shown {
		s.asked = append(s.asked, filepath.Clean(sh.From))
	}
	if r, err := filepath.EvalSymlinks(s.Workspace); err == nil && s.Workspace != "" {
		s.Workspace = r
	}
}

// resolvePut resolves the links of what is put elsewhere, and of the places as far as they are there.
func resolvePut(put []Put, homes []string) ([]Put, error) {
	out := make([]Put, 0, len(put))
	for _, p := range put {
		for _, d := range slices.Concat(systemDirs, homes) {
			if at := filepath.Clean(p.At); within(d, at) && !(p.From == "" && slices.Contains(homes, at)) {
				return nil, pawl.Fail(pawl.CodeDenied, "sandbox.writable_root", p.At).In("sandbox.Run")
			}
		}
		var err error
		if p.From != "" {
			if p.From, err = filepath.EvalSymlinks(p.From); err != nil {
				return nil, safeopen.Fail("sandbox.Run", p.From, err)
			}
		}
		rest := ""
		for at := filepath.Clean(p.At); ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
			if real, err := filepath.EvalSymlinks(at); err == nil {
				p.At = filepath.Join(real, rest)
				break
			}
		}
		out = append(out, p)
	}
	return out, nil
}

// resolveShown resolves the links of what is shown, and refuses a place that is in no writable directory or behind a
// link of it: the directory is the command's, and so is every link in it.
func resolveShown(shown []Shown, writable, homes []string) ([]Shown, error) {
	out := make([]Shown, 0, len(shown))
	for _, sh := range shown {
		from, err := filepath.EvalSymlinks(sh.From)
		if err == nil && !isDir(from) {
			err = syscall.ENOTDIR
		}
		if err != nil {
			return nil, safeopen.Fail("sandbox.Run", sh.From, err)
		}
		if sh.Kept {
			if _, err := resolveWritable([]string{from}, homes); err != nil {
				return nil, err
			}
		}
		if real, err := filepath.EvalSymlinks(sh.Layer); err == nil && sh.Layer != "" {
			sh.Layer = real
		}
		if sh.From, sh.At = from, filepath.Clean(sh.At); sh.private() {
			out = append(out, sh)
			continue
		}
		if sh.Kept {
			return nil, pawl.Fail(pawl.CodeDenied, "sandbox.shown_outside", sh.At).In("sandbox.Run")
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
		sh.At = at
		out = append(out, sh)
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

// within reports whether p is dir or lies below it. Both are clean and absolute.
func within(p, dir string) bool {
	return p == dir || dir == "/" || strings.HasPrefix(p, dir+"/")
}
