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
	"pawl/sandbox/allow"
	"pawl/sandbox/deps"
	"pawl/sandbox/safeopen"
	"pawl/text/shell"
)

// Host is what the tools of a project may know of the machine. All fields are fixed once it is in use.
type Host struct {
	// Home is the user's home folder, "" when there is none. Only caches and toolchains below it are shown to tools.
	Home string
	// Env is the environment of pawl's own process, as os.Environ gives it; what tools get of it is a short list.
	Env []string
	// Std is the directory of Go's compiled standard library for all workspaces of the user, "" to store none. It is
	// made where it is missing, and must be hidden from commands.
	Std string
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

// A verification has caches of its own, which are empty when it begins: a cache that code of another tree has written
// would let it forge the result of a check. Work is for the commands of an agent.
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
	Readable []string // folders outside the workspace that must be readable, besides those that Env names
	// Dependencies are those of the project. They are shown in the tree, and those of the user's own that do not belong
	// into it are hidden.
	Dependencies deps.Found
	// caches is the folder of the writable caches; fetched says that there are modules of Go which commands fetched.
	caches  string
	fetched bool
}

// passed are variables that compilers need as the user set them, besides those that the sandbox passes anyway.
var passed = []string{"CFLAGS", "CXXFLAGS", "LDFLAGS", "PKG_CONFIG_PATH", "M2_HOME", "MAVEN_HOME"}

// shared are variables that name a cache or a toolchain in the user's home. They are set if the directory exists,
// because tools in the sandbox have another home. What of it they read is up to the sandbox.
var shared = []string{"GOMODCACHE", "CARGO_HOME", "RUSTUP_HOME", "PYENV_ROOT", "PYTHONUSERBASE", "NVM_DIR",
	"VOLTA_HOME", "RBENV_ROOT", "ASDF_DATA_DIR", "SDKMAN_DIR", "NUGET_PACKAGES", "PUB_CACHE", "GRADLE_RO_DEP_CACHE",
	"MAVEN_USER_HOME", "PIPX_HOME"}

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
	t := Toolchain{Writable: []string{caches.all}, caches: caches.all}
	for _, name := range shared {
		if dir := h.toolchainDir(name); isDir(dir) {
			env[name] = dir
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
	if env["PATH"], err = h.searchPath(t.Dependencies, env, place, use, t.caches); err != nil {
		return Toolchain{}, ioError("verify.cache_unusable", place.Workspace, err)
	}
	t.Env = sandbox.Environ(h.Env, env)
	if err := h.useFetched(place, use, &t); err != nil {
		return Toolchain{}, ioError("verify.cache_unusable", place.Workspace, err)
	}
	slices.Sort(t.Env)
	return t, nil
}

func (h Host) getenv(name string) string { return valueOf(h.Env, name) }

// toolchainDir is the user's directory that a variable stands for.
func (h Host) toolchainDir(name string) string {
	dir := h.getenv(name)
	if dir == "" && name == "GOMODCACHE" {
		dir = h.goModCache()
	}
	if own := h.getenv("GRADLE_USER_HOME"); dir == "" && own != "" && name == "GRADLE_RO_DEP_CACHE" {
		dir = filepath.Join(own, "caches")
	}
	if dir == "" && h.Home != "" {
		dir = filepath.Join(h.Home, filepath.FromSlash(allow.Default(name)))
	}
	return dir
}

func (h Host) goModCache() string {
	if first, _, _ := strings.Cut(h.getenv("GOPATH"), string(filepath.ListSeparator)); first != "" {
		return filepath.Join(first, "pkg", "mod")
	}
	return ""
}

// searchPath puts the project's virtual environment before the user's path: the user's own, or one that was prepared.
// One that stands in a task's own tree was made by what ran there, and could bring any program by any name. In the
// user's own tree nobody can tell who made it: where work is judged its tools of Python alone go before the path,
// by programs of ours among the caches, and the rest behind it.
func (h Host) searchPath(found deps.Found, env map[string]string, place effect.Place, use Use,
	caches string) (string, error) {
	dirs := filepath.SplitList(h.getenv("PATH"))
	if use == UseVerify {
		dirs = h.outer(place)
	}
	if venv := found.Environment(); venv != "" {
		env["VIRTUAL_ENV"] = venv
		bin := filepath.Join(venv, "bin")
		if use != UseVerify || venv != filepath.Join(place.Tree, filepath.Base(venv)) {
			dirs = append([]string{bin}, dirs...)
		} else {
			front := filepath.Join(caches, "bin")
			if err := frontPython(bin, place.Workspace, front); err != nil {
				return "", err
			}
			dirs = append(append([]string{front}, dirs...), bin)
		}
	}
	return strings.Join(dirs, string(filepath.ListSeparator)), nil
}

// outer are the folders of the user's path that lie outside of the project: what is in it may be the work's.
func (h Host) outer(place effect.Place) []string {
	return slices.DeleteFunc(filepath.SplitList(h.getenv("PATH")), func(dir string) bool {
		return !filepath.IsAbs(dir) || below(dir, place.Tree) || below(dir, place.Workspace)
	})
}

// pythonTools are the programs of a virtual environment in the user's own tree that go before the machine's.
var pythonTools = []string{"python", "python3", "pip", "pip3", "pytest", "py.test", "ruff", "mypy", "black", "flake8",
	"isort", "pylint", "coverage", "tox", "nox", "pyright", "hatch", "poetry", "pdm", "uv"}

// frontPython makes programs that start the tools of an environment whose interpreter is one of the machine's.
func frontPython(bin, workspace, front string) error {
	python, err := filepath.EvalSymlinks(filepath.Join(bin, "python3"))
	if err != nil {
		python, err = filepath.EvalSymlinks(filepath.Join(bin, "python"))
	}
	if name := filepath.Base(python); err != nil || below(python, workspace) || !strings.HasPrefix(name, "python") &&
		!strings.HasPrefix(name, "pypy") {
		return nil //nolint:nilerr // whatever stands there is no Python of the machine
	}
	root, err := os.OpenRoot(filepath.Dir(front))
	if err == nil {
		defer root.Close()
		err = safeopen.PlainDirs(root, filepath.Base(front))
	}
	for _, name := range pythonTools {
		if p := filepath.Join(bin, name); err == nil && isFile(p) {
			to := path.Join(filepath.Base(front), name)
			_ = root.Remove(to) // what stands there may be a link
			err = root.WriteFile(to, []byte("#!/bin/sh\nexec "+shell.Quote(p)+" \"$@\"\n"), 0o755)
		}
	}
	return err
}

// below reports whether a path is a folder or lies in it, with all links followed.
func below(p, dir string) bool {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		p = real
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	rel, err := filepath.Rel(dir, p)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
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
