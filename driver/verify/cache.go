package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pawl/driver/verify/gocache"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/sandbox/safeopen"
	"pawl/store/disk"
	"pawl/store/owndir"
)

// What code of one tree wrote must not be read where another one is judged. So a verification has caches of its own,
// below ownCaches, which are empty when it begins. What proof reads from before lies below builtCaches, and is written
// by programs that run no code of a tree: the go command where it compiles (trusted, compile). Whatever runs code of
// the tree sees it under a layer that ends with it, or, where no layer can be laid, has a copy of its own. What an
// agent compiles is below agentCaches, where its task alone reads it.
const (
	builtCaches = "cache/built"
	ownCaches   = "cache/once"
	agentCaches = "cache/agents"
)

// Where commands find the caches, in their home.
const (
	ownPlace     = ".cache/build"
	buildPlace   = ".cache/go-build"
	modulesPlace = "go/pkg/mod"
)

// cacheSet is where a toolchain may write.
type cacheSet struct {
	all  string            // the folder to make writable
	vars map[string]string // variables that name folders in it
}

// modCache is the folder of Go modules among the caches, for where the user's own is not there or not to be used.
const modCache = "gomod"

// cacheFolders are the writable caches by variable. Those that depend on where a tree lies are not shared between
// trees by the commands of an agent.
var cacheFolders = []struct {
	name, folder string
	perTree      bool
}{
	{"BUILD_DIR", "build", true}, {"MYPY_CACHE_DIR", "mypy", true}, {"RUFF_CACHE_DIR", "ruff", true},
	{"GOCACHE", "go-build", false}, {"CARGO_TARGET_DIR", "cargo-target", false}, {"GRADLE_USER_HOME", "gradle", false},
	{"npm_config_cache", "npm", false}, {"GOLANGCI_LINT_CACHE", "golangci-lint", false},
}

// cachesOf is the folder of the caches of a tree for a use, relative to the workspace's state, and the part of its name
// that depends on the tree.
func cachesOf(place effect.Place, use Use) (base, tree string) {
	if use == UseVerify {
		return path.Join(ownCaches, shortDigest(place.Tree)), ""
	}
	return path.Join("cache", string(use)), path.Join("tree", shortDigest(place.Tree))
}

// makeCaches makes the cache folders through a descriptor of the workspace's state.
func makeCaches(place effect.Place, use Use) (cacheSet, error) {
	fail := func(err error) (cacheSet, error) {
		return cacheSet{}, ioError("verify.cache_unusable", place.Workspace, err)
	}
	root, err := disk.Root(place.Own())
	if err != nil {
		return fail(err)
	}
	defer root.Close()
	base, tree := cachesOf(place, use)
	set := cacheSet{all: place.Own(base), vars: map[string]string{}}
	dirs := []string{modCache}
	for _, c := range cacheFolders {
		dir := c.folder
		if c.perTree {
			dir = path.Join(tree, c.folder)
		}
		dirs = append(dirs, dir)
		set.vars[c.name] = filepath.Join(set.all, filepath.FromSlash(dir))
	}
	for _, dir := range dirs {
		if err := safeopen.PlainDirs(root, path.Join(base, dir)); err != nil {
			return fail(err)
		}
	}
	return set, nil
}

// Forget removes the caches that belong to the tree of a place alone: those of a verification, those of commands, and
// those of agents. It is called when a tree is made or removed.
func Forget(place effect.Place) error {
	once, _ := cachesOf(place, UseVerify)
	work, tree := cachesOf(place, UseWork)
	for _, name := range []string{once, path.Join(work, tree), path.Join(agentCaches, shortDigest(place.Tree))} {
		if err := owndir.RemoveAll(place.Own(), name); err != nil {
			return ioError("verify.cache_unusable", place.Workspace, err)
		}
	}
	return nil
}

// renew empties the caches of a verification.
func renew(place effect.Place) error {
	base, _ := cachesOf(place, UseVerify)
	if err := owndir.RemoveAll(place.Own(), base); err != nil {
		return ioError("verify.cache_unusable", place.Own(), err)
	}
	return nil
}

// shelf says where the caches of one verification are, and how its commands see them.
type shelf struct {
	of      *session
	own     string // the folder of its own, on the machine
	built   string // that of what proof reads from before: go-build, and modules where fetched says so
	home    string // that of commands
	fetched bool   // modules are unpacked here, because commands have fetched some
	shows   bool   // folders can be shown in the home of commands
	layered bool   // under a layer that ends with the command
}

// open makes the folders of what proof reads from before, and has the environment of a toolchain name all caches as
// commands will see them.
func (sh *shelf) open(ctx context.Context) error {
	s := sh.of
	sh.own, sh.home, sh.fetched = s.tools.caches, valueOf(s.tools.Env, "HOME"), s.tools.fetched
	root, err := disk.Root(s.place.Own())
	if err != nil {
		return err
	}
	defer root.Close()
	name := "go"
	if sh.fetched {
		// What a go.sum vouches for is known by that file alone, and so is what was compiled of it.
		name += "-" + sums(s.Open, s.place)
		dropOld(root, name)
	}
	for _, dir := range []string{"go-build", modCache} {
		if err := safeopen.PlainDirs(root, path.Join(builtCaches, name, dir)); err != nil {
			return err
		}
	}
	sh.built = s.place.Own(builtCaches, name)
	sh.shows, sh.layered = s.known.layers(ctx, s.Box, filepath.Join(sh.built, "go-build"))
	if sh.shows {
		for i, kv := range s.tools.Env {
			s.tools.Env[i] = strings.ReplaceAll(kv, sh.own, sh.seen(sh.own))
		}
		s.tools.Writable = slices.DeleteFunc(slices.Clone(s.tools.Writable),
			func(p string) bool { return p == sh.own })
	}
	if sh.layered {
		s.tools.Env = sh.goFolders(s.tools.Env)
	}
	return nil
}

// layers remembers how a Runner shows folders.
func (v *versions) layers(ctx context.Context, l Runner, folder string) (shows, layered bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.looked != l {
		v.shows, v.layered = l.Layers(ctx, folder)
		if ctx.Err() == nil {
			v.looked = l
		}
	}
	return v.shows, v.layered
}

// seen is where commands see a path in the folder of a verification's own.
func (sh *shelf) seen(p string) string {
	if rel, err := filepath.Rel(sh.own, p); sh.shows && err == nil && filepath.IsLocal(rel) {
		return filepath.Join(sh.home, filepath.FromSlash(ownPlace), rel)
	}
	return p
}

// goFolders names the folders of what was compiled and of modules, as they are shown.
func (sh *shelf) goFolders(env []string) []string {
	build, modules := filepath.Join(sh.built, "go-build"), filepath.Join(sh.built, modCache)
	if sh.shows {
		build = filepath.Join(sh.home, filepath.FromSlash(buildPlace))
		modules = filepath.Join(sh.home, filepath.FromSlash(modulesPlace))
	}
	env = set(env, "GOCACHE", build)
	if sh.fetched {
		env = set(env, "GOMODCACHE", modules)
	}
	return env
}

// goShown are these folders: kept is for what runs no code of the tree.
func (sh *shelf) goShown(kept bool) []sandbox.Shown {
	out := []sandbox.Shown{{From: filepath.Join(sh.built, "go-build"),
		At: filepath.Join(sh.home, filepath.FromSlash(buildPlace)), Kept: kept}}
	if sh.fetched {
		out = append(out, sandbox.Shown{From: filepath.Join(sh.built, modCache),
			At: filepath.Join(sh.home, filepath.FromSlash(modulesPlace)), Kept: kept})
	}
	return out
}

// shelved gives a command that may run code of the tree its caches.
func (sh *shelf) shelved(spec sandbox.Spec) sandbox.Spec {
	if sh.shows {
		spec.Shown = append(slices.Clone(spec.Shown), sandbox.Shown{From: sh.own,
			At: filepath.Join(sh.home, filepath.FromSlash(ownPlace)), Kept: true})
	}
	if sh.layered {
		spec.Shown = append(spec.Shown, sh.goShown(false)...)
	}
	return spec
}

// trusted gives a go command that runs no code of the tree the caches that proof reads, to write into. It finds no
// program of the project, and does not ask git about the tree, whose configuration may name one.
func (sh *shelf) trusted(spec sandbox.Spec) sandbox.Spec {
	spec.Env = set(sh.goFolders(spec.Env), "PATH", strings.Join(sh.of.Host.outer(sh.of.place),
		string(filepath.ListSeparator)))
	spec.Env = set(spec.Env, "GOFLAGS", strings.TrimSpace(valueOf(spec.Env, "GOFLAGS")+" -buildvcs=false"))
	spec.Writable = slices.DeleteFunc(slices.Clone(spec.Writable), func(p string) bool { return p == sh.own })
	spec.Shown = slices.DeleteFunc(slices.Clone(spec.Shown),
		func(s sandbox.Shown) bool { return strings.HasPrefix(s.At, sh.home+"/") })
	if sh.shows {
		spec.Shown = append(spec.Shown, sh.goShown(true)...)
	} else {
		spec.Writable = append(spec.Writable, sh.built)
	}
	return spec
}

// sums is a digest of all files of a tree that vouch for the modules of Go.
func sums(open OpenTree, place effect.Place) string {
	h := sha256.New()
	tree, closer, err := open(place.Tree)
	if err != nil {
		return "none"
	}
	defer closer.Close()
	entries := 0
	_ = fs.WalkDir(tree, ".", func(p string, e fs.DirEntry, err error) error {
		switch name := path.Base(p); {
		case err != nil:
			return fs.SkipDir
		case e.IsDir() && uncounted[name]:
			return fs.SkipDir
		case name == "go.sum" || name == "go.work.sum":
			text, _ := readLimited(tree, p, maxSums)
			h.Write([]byte(p + "\x00" + string(text) + "\x00"))
		}
		if entries++; entries > maxEntries {
			return fs.SkipAll
		}
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)[:8])
}

const (
	maxSums = 16 << 20
	// keptSums is how long what was compiled for other sums than the tree's is kept.
	keptSums = 5 * 24 * time.Hour
)

// dropOld removes what was compiled for sums that no tree has had for some time.
func dropOld(root *os.Root, but string) {
	all, _ := fs.Glob(root.FS(), path.Join(builtCaches, "go-"+strings.Repeat("[0-9a-f]", 16))) // well-formed
	for _, p := range all {
		if info, err := root.Lstat(p); err == nil && path.Base(p) != but && time.Since(info.ModTime()) > keptSums {
			_ = owndir.RemoveAll(root.Name(), p) // what cannot be removed now is tried again
		}
	}
	now := time.Now()
	_ = root.Chtimes(path.Join(builtCaches, but), now, now) // there is none yet the first time
}

// The commands by which detection has Go checked without running any code of the tree: the go command promises that.
const (
	goVet   = "go vet ./..."
	goBuild = "go build -o /dev/null ./..."
)

// runsNoCode reports whether a check is one of them, to the letter: another flag may name another program.
func runsNoCode(c effect.Check) bool { return c.Command == goVet || c.Command == goBuild }

// stopLink is what the go command runs its tools by where it only compiles: no program of the tree is ever made.
const stopLink = `sh -c 'case "$0 $1" in */link\ -V=full) ;; */link\ *) exit 1;; esac; exec "$0" "$@"'`

// goSwitch and goValue are the flags of go test that are known to name no program. Of these, the ones of goBuilds say
// what is compiled.
var (
	goSwitch = []string{"race", "msan", "asan", "cover", "trimpath", "v", "short", "failfast", "json", "fullpath",
		"benchmem"}
	goValue = []string{"tags", "covermode", "coverpkg", "coverprofile", "p", "run", "skip", "count", "timeout",
		"parallel", "cpu", "shuffle", "bench", "benchtime", "fuzz", "fuzztime", "list"}
	goBuilds = []string{"race", "msan", "asan", "cover", "trimpath", "tags", "covermode", "coverpkg", "p"}
)

// plainWord are the characters of a command in which the shell does nothing but part the words.
const plainWord = `abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=,:@%+-`

// compiling are the flags and packages of a go test that decide what it compiles. They are those of any test in the
// folder where the command is not a go test that can be read.
func compiling(command string) (flags, packages []string) {
	all := []string{"./..."}
	words := strings.Fields(command)
	if strings.Trim(strings.ReplaceAll(command, " ", ""), plainWord) != "" || len(words) < 2 || words[0] != "go" ||
		words[1] != "test" {
		return nil, all
	}
	for i := 2; i < len(words); i++ {
		w := words[i]
		if !strings.HasPrefix(w, "-") {
			if !strings.HasPrefix(w, ".") {
				return nil, all
			}
			packages = append(packages, w)
			continue
		}
		name, _, given := strings.Cut(strings.TrimLeft(w, "-"), "=")
		switch {
		case slices.Contains(goValue, name) && !given && i+1 < len(words):
			i++
			w += "=" + words[i]
		case !slices.Contains(goSwitch, name) && !(given && slices.Contains(goValue, name)):
			return nil, all
		}
		if slices.Contains(goBuilds, name) {
			flags = append(flags, w)
		}
	}
	if len(packages) == 0 {
		packages = []string{"."}
	}
	return flags, packages
}

// compiles reports whether a check is of a module of Go, which is compiled before the check runs.
func (sh *shelf) compiles(c effect.Check) bool {
	dir := filepath.Join(sh.of.place.Tree, filepath.FromSlash(c.Dir))
	return c.Command != gofmtCommand && (isFile(filepath.Join(dir, "go.mod")) || isFile(filepath.Join(dir, "go.work")))
}

// keptCompiled is how long it is believed that what was compiled of a tree is still there. The go command takes what it
// uses for used when that was more than an hour ago, and removes what was not used for days.
const keptCompiled = time.Hour

// compileArgs are what the go command is asked to compile for a check, nil where that cannot be told.
func (sh *shelf) compileArgs(c effect.Check) []string {
	flags, packages := compiling(c.Command)
	if len(sh.of.only) == 0 || !strings.HasPrefix(c.Command, "go test") {
		return append(flags, packages...)
	}
	packages = nil
	for _, n := range sh.of.only {
		if n.File == "" || n.File[0] == '-' || strings.Trim(n.File, plainWord) != "" {
			return nil
		}
		packages = append(packages, n.File)
	}
	slices.Sort(packages)
	return append(flags, slices.Compact(packages)...)
}

// compile has the go command compile and vet what a check is going to test, into what proof reads: what the check
// itself compiles is gone with it. Nothing depends on it. A mark among the caches of the verification's own says that
// it was done; whoever forges it has the check compile by itself. One beside what proof reads says that it was done for
// the same tree not long ago, by another verification.
func (sh *shelf) compile(ctx context.Context, c effect.Check) {
	s := sh.of
	args := sh.compileArgs(c)
	if args == nil || !sh.compiles(c) || !sh.usersGo() {
		return
	}
	own, err := os.OpenRoot(sh.own)
	if err != nil {
		return
	}
	defer own.Close()
	mark := "compiled-" + shortDigest(strings.Join(append([]string{c.Dir}, args...), "\x00"))
	if _, err := own.Lstat(mark); err == nil {
		return
	}
	begin := time.Now()
	before, note := sh.compiled(mark)
	if !before {
		spec := s.spec(c, append([]string{"go", "test", "-toolexec=" + stopLink, "-exec=false", "-run=^$"}, args...))
		_, err = s.Box.Run(ctx, s.ground.Show(sh.trusted(spec))) // where something does not compile, the check says so
	}
	if err == nil && !sh.layered {
		// What was used is not older than the go command lets its times become.
		err = gocache.Copy(ctx, own, filepath.Join(sh.built, "go-build"), begin.Add(-2*keptCompiled))
	}
	if err == nil && ctx.Err() == nil {
		_ = own.WriteFile(mark, nil, 0o600) // without the mark it is done again
		if !before && s.tree != "" {
			_ = note()
		}
	}
}

// compiled reports whether what a mark stands for was compiled not long ago of the same tree, where commands find it,
// and by the same toolchain. What it returns notes that it was.
func (sh *shelf) compiled(mark string) (before bool, note func() error) {
	s := sh.of
	if s.anew {
		mark += "-again" // the same tree, at another place
	}
	program, _ := s.Host.LookPath("go")
	name, of := filepath.Join(sh.built, mark), strings.Join([]string{s.tree, s.ground.Sees(s.place.Tree),
		s.Host.stdKey(program), valueOf(s.tools.Env, "GOFLAGS")}, "\n")
	text, _ := os.ReadFile(name)
	info, err := os.Lstat(name)
	before = err == nil && s.tree != "" && string(text) == of && time.Since(info.ModTime()).Abs() <= keptCompiled
	return before, func() error { return writeWhole(name, of) }
}

// folder makes a folder of the verification's own anew, with files in it.
func (sh *shelf) folder(name string, files map[string][]byte) (string, error) {
	root, err := os.OpenRoot(sh.own)
	if err == nil {
		defer root.Close()
		if err = owndir.RemoveAll(sh.own, name); err == nil {
			err = root.Mkdir(name, 0o755)
		}
		for file, text := range files {
			if err == nil {
				err = root.WriteFile(filepath.Join(name, file), text, 0o644)
			}
		}
	}
	if err != nil {
		return "", ioError("verify.cache_unusable", sh.of.place.Workspace, err)
	}
	return filepath.Join(sh.own, name), nil
}
