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
	"slices"
	"strings"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/sandbox/deps"
	"pawl/sandbox/safeopen"
)

// Host is what the tools of a project may know of the machine. All fields are fixed once it is in use.
type Host struct {
	// Home is the user's home folder, "" when there is none. Only caches and toolchains below it are shown to tools.
	Home string
	// Env is the environment of pawl's own process, as os.Environ gives it; what tools get of it is a short list.
	Env []string
	// LookPath finds the programs of the machine.
	LookPath LookPath
	// Dependencies finds the dependencies of a project that no commit holds. Nil finds them without asking git or the
	// settings.
	Dependencies *deps.Finder
}

// ThisMachine is the Host that this process runs on, as its environment says. It has no Dependencies yet.
func ThisMachine() Host {
	home, _ := os.UserHomeDir()
	return Host{Home: home, Env: os.Environ(), LookPath: sandbox.LookPath}
}

// Use says which set of caches a toolchain works with.
type Use string

// Verification has caches of its own: a cache that an agent's command may write would let it forge the result of a
// check. Work is for the commands of an agent.
const (
	UseVerify Use = "verify"
	UseWork   Use = "work"
)

// Toolchain is the setting in which the tools of a project work behind the walls and without a network: the sandbox's
// private home, which is empty at the start of every command, writable caches below .pawl/cache, and the user's package
// caches and toolchains, to be read only.
type Toolchain struct {
	Env      []string // complete environment, sorted
	Writable []string // folders to make writable besides the tree
	Readable []string // folders outside the workspace that must be readable
	// Dependencies are those of the project. They are shown in the tree, and those of the user's own that do not belong
	// into it are hidden.
	Dependencies deps.Found
}

// passed are variables that compilers need as the user set them, besides those that the sandbox passes anyway.
var passed = []string{"CFLAGS", "CXXFLAGS", "LDFLAGS", "PKG_CONFIG_PATH", "M2_HOME", "MAVEN_HOME"}

// shared are variables that name a cache or a toolchain in the user's home, with the folder that they default to. They
// are set where that folder is there, because tools behind the walls have another home.
var shared = []struct{ name, folder string }{
	{"GOMODCACHE", "go/pkg/mod"}, {"CARGO_HOME", ".cargo"}, {"RUSTUP_HOME", ".rustup"}, {"PYENV_ROOT", ".pyenv"},
	{"PYTHONUSERBASE", ".local"}, {"NVM_DIR", ".nvm"}, {"VOLTA_HOME", ".volta"}, {"RBENV_ROOT", ".rbenv"},
	{"ASDF_DATA_DIR", ".asdf"}, {"SDKMAN_DIR", ".sdkman"}, {"NUGET_PACKAGES", ".nuget/packages"}, {"PUB_CACHE",
		".pub-cache"},
	{"GRADLE_RO_DEP_CACHE", ".gradle/caches"}, {"MAVEN_USER_HOME", ".m2"}, {"PIPX_HOME", ".local/pipx"},
}

// fixed are variables that keep tools quiet, offline and from writing into the tree that they judge.
var fixed = map[string]string{
	"LC_ALL": "C.UTF-8", "TZ": "UTC",
	"GOPROXY": "off", "GOSUMDB": "off", "GOTOOLCHAIN": "local", "GOTELEMETRY": "off", "GOENV": "off",
	"CARGO_NET_OFFLINE": "true", "RUSTUP_AUTO_INSTALL": "0",
	"npm_config_offline": "true", "npm_config_audit": "false", "npm_config_fund": "false",
	"npm_config_update_notifier": "false", "npm_config_yes": "false", "NO_UPDATE_NOTIFIER": "1",
	"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONDONTWRITEBYTECODE": "1",
	"COMPOSER_DISABLE_NETWORK": "1", "BUNDLE_FROZEN": "true", "BUNDLE_DISABLE_VERSION_CHECK": "true",
	"DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1", "DOTNET_SKIP_FIRST_TIME_EXPERIENCE": "1",
}

// Toolchain prepares the setting for tools that work in place and creates the cache folders. It fails with CodeIO,
// CodeReadOnly or CodeDiskFull when they cannot be made, and with CodeDenied when .pawl or a cache in it is a symbolic
// link.
func (h Host) Toolchain(place effect.Place, use Use) (Toolchain, error) {
	caches, err := makeCaches(place, use)
	if err != nil {
		return Toolchain{}, err
	}
	env := map[string]string{}
	for k, v := range fixed {
		env[k] = v
	}
	if use == UseWork { // checks see what the user's own commands see
		env["CI"] = "true"
	}
	for _, name := range passed {
		if v := h.getenv(name); v != "" {
			env[name] = v
		}
	}
	t := Toolchain{Writable: []string{caches.all}}
	for _, s := range shared {
		dir := h.getenv(s.name)
		if dir == "" && s.name == "GOMODCACHE" {
			dir = h.goModCache()
		}
		if dir == "" && h.Home != "" {
			dir = filepath.Join(h.Home, filepath.FromSlash(s.folder))
		}
		if isDir(dir) {
			env[s.name] = dir
			t.Readable = append(t.Readable, dir)
		}
	}
	for name, folder := range caches.vars {
		env[name] = folder
	}
	if env["GOMODCACHE"] == "" {
		// Whoever has fetched no module yet has no cache of them, and the go command would make one in the home, which
		// is not its own.
		env["GOMODCACHE"] = filepath.Join(caches.all, modCache)
	}
	if t.Dependencies, err = h.Dependencies.Find(context.Background(), place); err != nil {
		return Toolchain{}, ioError("verify.dependencies", place.Workspace, err)
	}
	t.Readable = append(t.Readable, t.Dependencies.Readable()...)
	if first := t.Dependencies.Editable(); len(first) > 0 {
		env["PYTHONPATH"] = strings.Join(first, string(filepath.ListSeparator))
	}
	env["PATH"] = h.searchPath(t.Dependencies, env)
	t.Env = sandbox.Environ(h.Env, env)
	if err := h.useFetched(place, use, &t); err != nil {
		return Toolchain{}, ioError("verify.cache_unusable", place.Workspace, err)
	}
	slices.Sort(t.Env)
	return t, nil
}

func (h Host) getenv(name string) string { return valueOf(h.Env, name) }

func (h Host) goModCache() string {
	if first, _, _ := strings.Cut(h.getenv("GOPATH"), string(filepath.ListSeparator)); first != "" {
		return filepath.Join(first, "pkg", "mod")
	}
	return ""
}

// searchPath puts the project's virtual environment before the user's path: the user's own, or one that was prepared.
// One that stands in a task's own tree was made by what ran there, and could bring any program by any name.
func (h Host) searchPath(found deps.Found, env map[string]string) string {
	dirs := filepath.SplitList(h.getenv("PATH"))
	if venv := found.Environment(); venv != "" {
		env["VIRTUAL_ENV"] = venv
		dirs = append([]string{filepath.Join(venv, "bin")}, dirs...)
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// find is LookPath with the programs that the dependencies of a workspace bring.
func (h Host) find(place effect.Place) LookPath {
	found, err := h.Dependencies.Find(context.Background(), place)
	if err != nil {
		return h.LookPath
	}
	return h.finder(found)
}

func (h Host) finder(found deps.Found) LookPath {
	return func(program string) (string, bool) {
		if p, ok := found.Program(program); ok {
			return p, true
		}
		return h.LookPath(program)
	}
}

// cacheSet is where a toolchain may write.
type cacheSet struct {
	all  string            // the folder to make writable
	vars map[string]string // variables that name folders in it
}

// modCache is the folder of Go modules among the caches, for where the user's own is not there or not to be used.
const modCache = "gomod"

// cacheFolders are the writable caches by variable. Those that depend on where a tree lies are not shared between
// trees.
var cacheFolders = []struct {
	name, folder string
	perTree      bool
}{
	{"BUILD_DIR", "build", true}, {"MYPY_CACHE_DIR", "mypy", true}, {"RUFF_CACHE_DIR", "ruff", true},
	{"GOCACHE", "go-build", false}, {"CARGO_TARGET_DIR", "cargo-target", false}, {"GRADLE_USER_HOME", "gradle", false},
	{"npm_config_cache", "npm", false}, {"GOLANGCI_LINT_CACHE", "golangci-lint", false},
}

// makeCaches makes the cache folders through a descriptor of the workspace, so that a symbolic link that the repository
// brings cannot turn another folder writable.
func makeCaches(place effect.Place, use Use) (cacheSet, error) {
	fail := func(err error) (cacheSet, error) {
		return cacheSet{}, ioError("verify.cache_unusable", place.Workspace, err)
	}
	root, err := os.OpenRoot(place.Workspace)
	if err != nil {
		return fail(err)
	}
	defer root.Close()
	base := path.Join(".pawl", "cache", string(use))
	if err := safeopen.PlainDirs(root, base); err != nil {
		return fail(err)
	}
	below, err := root.OpenRoot(base)
	if err != nil {
		return fail(err)
	}
	defer below.Close()
	tree := path.Join("tree", shortDigest(place.Tree))
	set := cacheSet{all: filepath.Join(place.Workspace, filepath.FromSlash(base)), vars: map[string]string{}}
	dirs := []string{tree, modCache}
	for _, c := range cacheFolders {
		dir := c.folder
		if c.perTree {
			dir = path.Join(tree, c.folder)
		}
		dirs = append(dirs, dir)
		set.vars[c.name] = filepath.Join(set.all, filepath.FromSlash(dir))
	}
	for _, dir := range dirs {
		if err := safeopen.PlainDirs(below, dir); err != nil {
			return fail(err)
		}
	}
	return set, nil
}

// Forget removes the caches that belong to the tree of a place alone. It is called when a task's worktree is removed;
// the caches that worktrees share stay.
func Forget(place effect.Place) error {
	root, err := os.OpenRoot(place.Workspace)
	if err != nil {
		return ioError("verify.cache_unusable", place.Workspace, err)
	}
	defer root.Close()
	for _, use := range []Use{UseVerify, UseWork} {
		if err := root.RemoveAll(path.Join(".pawl", "cache", string(use), "tree",
			shortDigest(place.Tree))); err != nil {
			return ioError("verify.cache_unusable", place.Workspace, err)
		}
	}
	return nil
}

// ioError gives a failure of the file system its code.
func ioError(key, what string, err error) error {
	code := safeopen.Code(err)
	if errors.Is(err, safeopen.ErrInWay) {
		code = pawl.CodeDenied
	}
	return pawl.Fail(code, key, what).Because(err).In("verify.Toolchain")
}

func shortDigest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:6])
}

// OpenDir is an OpenTree for a folder of the machine. Paths that lead out of the folder fail, also through links.
func OpenDir(dir string) (fs.FS, io.Closer, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	return unmarked{root.FS().(rootFS), root}, root, nil
}

// rootFS is what the FS of a folder can do.
type rootFS interface {
	fs.ReadDirFS
	fs.ReadFileFS
	fs.StatFS
	fs.ReadLinkFS
}

// unmarked is a folder whose files pawl reads without leaving the mark by which it is told that a check has read them.
type unmarked struct {
	rootFS
	root *os.Root
}

func (u unmarked) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return safeopen.Unmarked(u.root, name)
}

func (u unmarked) ReadFile(name string) ([]byte, error) {
	f, err := u.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

func isDir(p string) bool {
	info, err := os.Stat(p)
	return p != "" && err == nil && info.IsDir()
}

func isFile(p string) bool {
	info, err := os.Stat(p)
	return p != "" && err == nil && info.Mode().IsRegular()
}
