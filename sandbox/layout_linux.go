package sandbox

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"pawl"
)

// protectedNames are read-only where they stand directly in a writable directory.
var protectedNames = []string{".git", ".pawl"}

// homeShown are the parts of a home directory in which toolchains and package managers keep what they need to run, and
// packages. All else is hidden: the person's files, other repositories, and what a new tool keeps there from its first
// day on.
var homeShown = []string{
	".asdf", ".bun", ".bundle", ".cabal", ".cargo", ".deno", ".dotnet", ".gem", ".ghcup", ".go", ".gradle", ".ivy2",
	".juliaup", ".konan", ".m2", ".mix", ".npm/_cacache", ".npm/_npx", ".nuget", ".nvm", ".opam", ".pnpm-store",
	".pub-cache", ".pyenv", ".rbenv", ".rustup", ".rvm", ".sbt", ".sdkman", ".stack", ".swiftly", ".volta", ".yarn",
	"go/bin", "go/pkg",
	".local/bin", ".local/lib", ".local/pipx", ".local/share/coursier", ".local/share/fnm", ".local/share/gem/ruby",
	".local/share/hatch/env", ".local/share/mise/installs", ".local/share/mise/shims", ".local/share/NuGet",
	".local/share/pipx", ".local/share/pnpm", ".local/share/pypoetry/venv", ".local/share/rtx/installs",
	".local/share/uv", ".local/share/virtualenvs", ".local/share/zig",
	".cache/bazel", ".cache/bazelisk", ".cache/ccache", ".cache/composer", ".cache/coursier", ".cache/Cypress",
	".cache/deno", ".cache/electron", ".cache/go-build", ".cache/golangci-lint", ".cache/hex", ".cache/huggingface",
	".cache/ms-playwright", ".cache/node", ".cache/node-gyp", ".cache/pdm", ".cache/pip", ".cache/pnpm",
	".cache/pre-commit", ".cache/prisma", ".cache/puppeteer", ".cache/pypoetry", ".cache/rebar3", ".cache/sccache",
	".cache/torch", ".cache/typescript", ".cache/uv", ".cache/yarn", ".cache/zig",
}

// homeSecrets are the secrets inside those, and those that stay hidden where somebody has all of a home shown.
var homeSecrets = []string{
	".netrc", ".git-credentials", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".pgpass", ".my.cnf", ".vault-token",
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", ".terraform.d", ".config/gh",
	".config/gcloud", ".config/hub", ".config/op", ".local/share/keyrings", ".bash_history", ".zsh_history",
	".bundle/config", ".cargo/credentials", ".cargo/credentials.toml", ".m2/settings.xml", ".m2/settings-security.xml",
	".gradle/gradle.properties", ".gem/credentials", ".ivy2/.credentials", ".nuget/NuGet", ".pub-cache/credentials.json",
	".sbt/.credentials", ".cache/huggingface/token", ".cache/huggingface/stored_tokens", ".local/share/uv/credentials",
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
	if os.Geteuid() == 0 || m.bare() {
		l.otherHomes(b.homes)
	}
	for _, h := range b.homes {
		l.home(h)
	}
	l.read(b.readable...)
	for _, p := range s.Put {
		if p.From == "" && !m.bare() {
			l.at[p.At] = mountScratch
		}
	}
	l.programs(s, b.homes)
	l.around(s)
	if err := l.protect(s.Writable); err != nil {
		return nil, err
	}
	for _, w := range s.Writable {
		l.at[w] = mountWrite
	}
	l.read(s.Readable...)
	l.hide(s.Hidden...)
	l.inside(s, m)
	for _, sh := range s.Shown {
		kind := mountShow
		if sh.Kept {
			kind = mountKeep
		}
		switch {
		case m.bare() && (sh.private() || sh.From == sh.At): // no link can show it, as Box.Layers says
			continue
		case m.bare():
			l.at[sh.From] = mountRead // where the links lead, whatever is hidden around it
			continue
		}
		l.at[sh.At], l.from[sh.At] = kind, sh.From
	}
	if !m.bare() {
		l.put(s)
	}
	return &l, nil
}

// put has the command find elsewhere what the Spec says: statements about what lies there are about its new place then,
// and those about what it covers are dropped, but for what the Spec wants to be readable and what it says of that.
func (l *layout) put(s Spec) {
	said, from := l.at, l.from
	l.at, l.from = map[string]mountKind{}, map[string]string{}
	for _, p := range slices.SortedFunc(maps.Keys(said), func(a, b string) int { return len(a) - len(b) }) {
		to, covered := p, false
		for _, put := range s.Put {
			if from := cmp.Or(put.From, Home); within(p, from) {
				to = put.At + strings.TrimPrefix(p, from)
			}
			covered = covered || put.From != "" && within(p, put.At)
		}
		switch _, taken := l.at[to]; {
		case to != p && taken && said[p] == mountRead: // the place where that was put for a command before
		case to != p:
			l.at[to], l.from[to] = said[p], cmp.Or(from[p], p)
		case !covered || l.readable(p, s.Readable):
			l.at[p], l.from[p] = said[p], from[p]
		}
	}
	for _, put := range s.Put {
		if put.From != "" && l.from[put.At] == "" {
			l.at[put.At], l.from[put.At] = mountRead, put.From
		}
	}
}

// readable reports whether a path is one of those, or lies in one that is found at its own place.
func (l *layout) readable(p string, readable []string) bool {
	for d := p; d != "/"; d = filepath.Dir(d) {
		if slices.Contains(readable, d) && (d == p || l.at[d] == mountRead) {
			return true
		}
	}
	return false
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
	from map[string]string // by path, what mountShow and mountKeep show
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

// home hides what is not known to be a toolchain's. A service may have a system directory for its home.
func (l *layout) home(dir string) {
	if dir != "/root" && slices.Contains(systemDirs, dir) {
		return
	}
	l.hide(dir)
	for _, p := range homeShown {
		l.read(filepath.Join(dir, p))
	}
	for _, p := range homeSecrets {
		l.hide(filepath.Join(dir, p))
	}
}

// inside covers what was found in the folder that the command works in: secrets, and folders whose files have names
// outside, which are written to in a layer that ends with the command. Without mounts the secrets can be read
// (WeakInside), and the folders not be written to.
func (l *layout) inside(s Spec, m Mechanism) {
	if m.bare() {
		l.read(s.shared...)
		return
	}
	l.hide(s.masked...)
	for _, d := range s.shared {
		l.at[d], l.from[d] = mountShow, d
	}
}

// around hides the workspace of a worktree, but for its repository: the user's own files are there.
func (l *layout) around(s Spec) {
	if s.Workspace != "" && !within(s.Dir, s.Workspace) || s.Workspace != "" && s.Tree != "" && s.Tree != s.Workspace {
		l.hide(s.Workspace)
		l.read(filepath.Join(s.Workspace, ".git"))
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

// homeVariables name what toolchains need, which may lie anywhere in a home directory, each with what of it is shown.
var homeVariables = map[string][]string{
	"GOROOT": {""}, "GOPATH": {"bin", "pkg"}, "GOMODCACHE": {""}, "CARGO_HOME": {"bin", "git", "registry", "env"},
	"RUSTUP_HOME": {""}, "JAVA_HOME": {""}, "ANDROID_HOME": {""}, "FLUTTER_ROOT": {""}, "PUB_CACHE": {"hosted", "git"},
	"DOTNET_ROOT": {""}, "NVM_DIR": {""}, "VOLTA_HOME": {"bin", "tools"}, "PYENV_ROOT": {""}, "RBENV_ROOT": {""},
	"GEM_HOME": {""}, "GEM_PATH": {""}, "VIRTUAL_ENV": {""}, "PNPM_HOME": {""}, "NODE_PATH": {""},
	"SSL_CERT_FILE": {""}, "SSL_CERT_DIR": {""},
}

// programs shows what the environment names among what is hidden in a home directory: toolchains, and the folders of
// programs of PATH, with what links in them lead to. A program that a person has installed there is there for the
// person's tools, too. Not the home itself, nor, for PATH, an entry of it, which may hold anything; nor a cache that
// the command was given to write, which would become read-only.
func (l *layout) programs(s Spec, homes []string) {
	var shown []string
	for _, kv := range s.Env {
		name, value, _ := strings.Cut(kv, "=")
		for _, dir := range filepath.SplitList(value) {
			r, info, ok := real(dir)
			below := func(h string) bool { return within(r, h) && r != h }
			given := slices.ContainsFunc(s.Writable, func(w string) bool { return within(r, w) })
			if !ok || given || !l.covered(r) || !slices.ContainsFunc(homes, below) {
				continue
			}
			for _, part := range homeVariables[name] {
				shown = append(shown, filepath.Join(r, part))
			}
			if name == "PATH" && info.IsDir() && !slices.Contains(homes, filepath.Dir(r)) {
				shown = append(shown, r)
				shown = append(shown, l.linked(r, homes)...)
			}
		}
	}
	l.read(shown...)
}

// linked is what the links in a folder of programs lead to among what is hidden.
func (l *layout) linked(dir string, homes []string) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	entries, _ := f.ReadDir(maxPrograms) // those that were read count
	_ = f.Close()
	var out []string
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 {
			continue
		}
		if target, _, ok := real(filepath.Join(dir, e.Name())); ok && l.covered(target) {
			if p := packageOf(target); !slices.ContainsFunc(homes, func(h string) bool { return within(h, p) }) {
				out = append(out, p)
			}
		}
	}
	return out
}

// packageOf is what a program needs of its own around it: all packages beside it where it came with one of Node's, what
// stands beside its folder where that is called bin, and else its folder.
func packageOf(program string) string {
	if at := strings.Index(program, "/node_modules/"); at >= 0 {
		return program[:at] + "/node_modules"
	}
	dir := filepath.Dir(program)
	if up := filepath.Dir(dir); filepath.Base(dir) == "bin" && filepath.Base(up) != ".local" {
		return up
	}
	return dir
}

// covered reports whether the deepest statement about p replaces what was there.
func (l *layout) covered(p string) bool {
	for d := p; d != "/"; d = filepath.Dir(d) {
		switch l.at[d] {
		case mountRead, mountWrite, mountShow, mountKeep:
			return false
		case mountScratch, mountHideDir, mountHideFile:
			return true
		}
	}
	return false
}

// steps sorts the statements and drops those below a hidden or scratch directory that would hide what is covered.
func (l *layout) steps() []mount {
	var out []mount
	for p, k := range l.at {
		m := mount{k, p, l.from[p]}
		if m.hides() && l.covered(filepath.Dir(p)) {
			continue
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b mount) int {
		return cmp.Or(strings.Count(a.path, "/")-strings.Count(b.path, "/"), strings.Compare(a.path, b.path))
	})
	return out
}

// with are the limits of one command, with the defaults filled in.
func (l Limits) with(s Spec) Limits {
	l.Memory, l.Processes = cmp.Or(max(s.MaxMemory, 0), l.Memory), cmp.Or(max(s.MaxProcs, 0), l.Processes)
	return Limits{Memory: cmp.Or(l.Memory, memory()/4*3), Processes: cmp.Or(l.Processes, DefaultMaxProcs),
		Disk: cmp.Or(l.Disk, DefaultDisk), Files: cmp.Or(l.Files, DefaultFiles)}
}

// scratch is what a private directory may hold.
func (l Limits) scratch() int64 {
	if l.Memory == memory()/4*3 {
		return min(l.Memory/3, 8<<30)
	}
	return l.Memory / 3
}
