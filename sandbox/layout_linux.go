package sandbox

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"pawl"
)

// protectedNames are read-only where they stand directly in a writable directory.
var protectedNames = []string{".git", ".pawl"}

// openDots are the entries of a home directory, among those that begin with a dot, in which toolchains and package
// managers live. All others are hidden: a new tool that keeps secrets there is hidden from its first day on.
var openDots = []string{
	".asdf", ".bun", ".bundle", ".cabal", ".cache", ".cargo", ".deno", ".dotnet", ".gem", ".ghcup", ".go", ".gradle",
	".ivy2",
	".juliaup", ".konan", ".local", ".m2", ".mix", ".npm", ".nuget", ".nvm", ".opam", ".pnpm-store", ".pub-cache",
	".pyenv",
	".rbenv", ".rustup", ".rvm", ".sbt", ".sdkman", ".stack", ".swiftly", ".volta", ".yarn",
}

// closedBelow are the secrets inside those.
var closedBelow = []string{
	".cargo/credentials", ".cargo/credentials.toml", ".m2/settings.xml", ".m2/settings-security.xml",
	".gradle/gradle.properties", ".gem/credentials", ".bundle/config", ".ivy2/.credentials", ".nuget/NuGet",
	".sbt/.credentials", ".local/share/keyrings", ".local/share/kwalletd", ".local/share/gh", ".local/state",
	".local/share/containers", ".cache/mozilla", ".cache/google-chrome", ".cache/chromium", ".cache/gh",
	".cache/huggingface/token", ".cache/huggingface/stored_tokens", ".cache/gcloud", ".cache/keyring", ".cache/pawl",
	"Library/Keychains", "snap",
}

// systemSecrets are hidden wherever they are. An unprivileged user cannot read most of them anyway; a pawl that runs as
// root can.
var systemSecrets = []string{
	"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d",
	"/etc/ssl/private",
	"/etc/ssh", "/etc/docker", "/etc/kubernetes", "/etc/rancher", "/etc/wireguard",
	"/etc/NetworkManager/system-connections",
	"/var/lib/docker", "/var/lib/containerd", "/var/lib/kubelet", "/var/spool/cron", "/lost+found",
}

// The parts of /run that programs need: always the system profile of distributions that keep it there, and with a
// network what name resolution reads.
var (
	runAlways  = []string{"/run/current-system", "/run/opengl-driver"}
	runNetwork = []string{"/run/systemd/resolve/resolv.conf", "/run/systemd/resolve/stub-resolv.conf",
		"/run/resolvconf",
		"/run/NetworkManager/resolv.conf", "/run/NetworkManager/no-stub-resolv.conf", "/run/connman/resolv.conf"}
)

// layout lists the steps that make the file system of a command out of a read-only view of everything. Shorter paths
// come first, so that the deepest statement about a file is the last and wins; about one and the same path the later of
// the sources below wins.
func (b *Box) layout(s Spec, m Mechanism) (*layout, error) {
	l := layout{at: map[string]mountKind{}, from: map[string]string{}}
	l.scratch("/tmp", "/var/tmp")
	l.hide("/run", "/var/run")
	l.hide(systemSecrets...)
	if m.bare() {
		l.unmounted()
	}
	l.read(runAlways...)
	if s.Network {
		l.read(runNetwork...)
	}
	for _, h := range b.homes {
		l.home(h)
	}
	if os.Geteuid() == 0 || m.bare() {
		l.otherHomes(b.homes)
	}
	l.programs(s.Env, b.homes)
	if err := l.protect(s.Writable); err != nil {
		return nil, err
	}
	for _, w := range s.Writable {
		l.at[w] = mountWrite
	}
	l.read(s.Readable...)
	l.hide(s.Hidden...)
	for _, sh := range s.Shown {
		if m.bare() {
			l.at[sh.From] = mountRead // where the links lead, whatever is hidden around it
			continue
		}
		l.at[sh.At], l.from[sh.At] = mountShow, sh.From
	}
	return &l, nil
}

// unmounted fits the statements so far to a command without mounts: what is private elsewhere is hidden, and a secret
// that cannot be read anyway needs no statement, which would cost a rule for each of its neighbours.
func (l *layout) unmounted() {
	for p, k := range l.at {
		switch {
		case k == mountScratch:
			l.at[p] = mountHideDir
		case k == mountHideFile && unix.Access(p, unix.R_OK) != nil, k == mountHideDir &&
			unix.Access(p, unix.R_OK|unix.X_OK) == unix.EACCES:
			delete(l.at, p)
		}
	}
}

// layout collects at most one statement per path.
type layout struct {
	at   map[string]mountKind
	from map[string]string // by path, what mountShow shows
}

// blamed reports whether an error names something that was to be hidden.
func (l *layout) blamed(err error) bool {
	text := err.Error()
	for p, k := range l.at {
		if (mount{kind: k}).hides() && strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// real resolves p and reports whether it exists as something that can be mounted on. Most of what is hidden wherever it
// is does not exist, which one look tells without a walk along the path.
func real(p string) (string, os.FileInfo, bool) {
	if _, err := os.Lstat(p); err == nil {
		if r, err := filepath.EvalSymlinks(p); err == nil {
			info, err := os.Lstat(r)
			return r, info, err == nil
		}
	}
	return "", nil, false
}

func (l *layout) scratch(paths ...string) {
	for _, p := range paths {
		if r, info, ok := real(p); ok && info.IsDir() {
			l.at[r] = mountScratch
		}
	}
}

func (l *layout) hide(paths ...string) {
	for _, p := range paths {
		r, info, ok := real(p)
		switch {
		case !ok || r == "/":
		case info.IsDir():
			l.at[r] = mountHideDir
		default:
			l.at[r] = mountHideFile
		}
	}
}

func (l *layout) read(paths ...string) {
	for _, p := range paths {
		if r, _, ok := real(p); ok && r != "/" {
			l.at[r] = mountRead
		}
	}
}

// home hides what is not known to be a toolchain's.
func (l *layout) home(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") && !slices.Contains(openDots, e.Name()) {
			l.hideEntry(filepath.Join(dir, e.Name()), e)
		}
	}
	for _, c := range closedBelow {
		l.hide(filepath.Join(dir, c))
	}
}

// hideEntry hides a directory entry without following it: what a link in a home directory leads to is judged by where
// it is, except that a secret is often kept elsewhere and linked from there.
func (l *layout) hideEntry(p string, e os.DirEntry) {
	if e.Type()&os.ModeSymlink == 0 {
		l.hide(p)
		return
	}
	if r, info, ok := real(p); ok && r != "/" && !info.IsDir() {
		l.hide(r)
	}
}

// otherHomes hides the home directories of other users from a command of root.
func (l *layout) otherHomes(own []string) {
	entries, _ := os.ReadDir("/home")
	for _, e := range entries {
		if p := filepath.Join("/home", e.Name()); e.IsDir() &&
			!slices.ContainsFunc(own, func(h string) bool { return within(h, p) }) {
			l.hide(p)
		}
	}
	if !slices.ContainsFunc(own, func(h string) bool { return within(h, "/root") }) {
		l.hide("/root")
	}
}

// protect makes .git and .pawl in writable directories read-only. One that is a link cannot be held in place, because
// the command could replace the link itself, and is refused.
func (l *layout) protect(writable []string) error {
	for _, w := range writable {
		for _, n := range protectedNames {
			p := filepath.Join(w, n)
			info, err := os.Lstat(p)
			switch {
			case err != nil:
			case info.Mode()&os.ModeSymlink != 0:
				return pawl.Fail(pawl.CodeDenied, "sandbox.protected_link", p).In("sandbox.Run")
			default:
				l.at[p] = mountRead
			}
		}
	}
	return nil
}

// maxPrograms is how many entries of a folder of programs are looked at.
const maxPrograms = 2000

// programs shows the folders of programs that PATH names where they lie among what is hidden in a home directory, with
// what links in them lead to: a program that a person has installed there is there for the person's tools, too. Not the
// entry of the home itself, which may hold anything.
func (l *layout) programs(env, homes []string) {
	path := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	var shown []string
	for _, dir := range filepath.SplitList(path) {
		r, info, ok := real(dir)
		if !ok || !info.IsDir() || !l.covered(r) || slices.Contains(homes, filepath.Dir(r)) ||
			!slices.ContainsFunc(homes, func(h string) bool { return within(r, h) }) {
			continue
		}
		shown = append(shown, r)
		f, err := os.Open(r)
		if err != nil {
			continue
		}
		entries, _ := f.ReadDir(maxPrograms) // those that were read count
		_ = f.Close()
		for _, e := range entries {
			if e.Type()&os.ModeSymlink == 0 {
				continue
			}
			if target, _, ok := real(filepath.Join(r, e.Name())); ok && l.covered(target) {
				shown = append(shown, packageOf(target))
			}
		}
	}
	l.read(shown...)
}

// packageOf is what a program needs of its own around it: all packages beside it where it came with one of Node's, and
// else its folder.
func packageOf(program string) string {
	if at := strings.Index(program, "/node_modules/"); at >= 0 {
		return program[:at] + "/node_modules"
	}
	return filepath.Dir(program)
}

// covered reports whether the deepest statement about p replaces what was there.
func (l *layout) covered(p string) bool {
	for d := p; d != "/"; d = filepath.Dir(d) {
		switch l.at[d] {
		case mountRead, mountWrite, mountShow:
			return false
		case mountScratch, mountHideDir, mountHideFile:
			return true
		}
	}
	return false
}

// steps sorts the statements and drops those below a hidden or scratch directory that would cover what is covered.
func (l *layout) steps() []mount {
	var out []mount
	for p, k := range l.at {
		m := mount{k, p, l.from[p]}
		if (m.hides() || k == mountScratch) && l.covered(filepath.Dir(p)) {
			continue
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b mount) int {
		return cmp.Or(strings.Count(a.path, "/")-strings.Count(b.path, "/"), strings.Compare(a.path, b.path))
	})
	return out
}

// scratchSize is what a private directory may hold: a quarter of the machine's memory, at most 8 GiB.
func scratchSize() int64 { return min(memory()/4, 8<<30) }
