package verify

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"pawl/driver/verify/gocache"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/store/owndir"
)

// The standard library is compiled once for all workspaces of a user (Host.Std), by toolchain and settings. The go
// command alone writes it, in a process that sees no project. pawl copies it into the cache of a workspace before its
// first check; a copy, because a link would let one workspace write into all. Agents have it below a layer of their own
// (Host.GoCache), so a directory that was written once never changes: a generation is what the one before has, and
// more.
const (
	stdTimeout  = 10 * time.Minute
	listTimeout = time.Minute
	stdMark     = "go-std"       // file in a workspace's cache: the key of what was copied into it
	stdKept     = 48 * time.Hour // how long a generation outlives the next one: longer than an agent may run
	stdProgress = "verify.compiling_std"
)

// stdSettings are the variables that decide what the go command compiles, besides those of C.
var stdSettings = []string{"GOROOT", "GOOS", "GOARCH", "GO386", "GOAMD64", "GOARM", "GOARM64", "GOEXPERIMENT",
	"GOFIPS140", "GODEBUG", "CC", "CXX"}

// stdName matches the import path of a package of the standard library that can be named on a command line.
var stdName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_]*(/[a-z][a-z0-9_.]*)*$`) })

// Compiled is the newest generation below std (Host.Std) of Go's compiled standard library, for any toolchain, or "" if
// there is none.
func Compiled(std string) string {
	all := gocache.Generations(std, "go-")
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1].Dir
}

// warm copies what is kept of the standard library into what proof reads, once for each toolchain, and compiles what is
// missing of it first. Nothing depends on it: where it fails, the checks compile what they need.
func (sh *shelf) warm(ctx context.Context, checks []effect.Check) {
	s := sh.of
	if s.Host.Std == "" || !slices.ContainsFunc(checks, sh.usesGo) || !sh.usersGo() {
		return
	}
	program, _ := s.Host.LookPath("go")
	key := s.Host.stdKey(program)
	caches, err := os.OpenRoot(sh.built)
	if key == "" || err != nil {
		return
	}
	defer caches.Close()
	if done, _ := caches.ReadFile(stdMark); string(done) == key {
		return
	}
	wanted := sh.stdWanted(ctx, checks)
	library := sh.stdLibrary(ctx, key+"-", wanted)
	from := filepath.Join(library, "cache")
	if len(wanted) > 0 && library != "" && gocache.Copy(ctx, caches, from, time.Time{}) == nil {
		_ = caches.WriteFile(stdMark, []byte(key), 0o644) // without the mark it is copied again
	}
}

// usersGo reports whether the checks use a go command of the user's. What one makes that the project brings belongs to
// nobody else.
func (sh *shelf) usersGo() bool {
	program, ok := sh.of.Host.LookPath("go")
	used, _ := sh.of.find("go")
	return ok && used == program
}

// usesGo reports whether the go command compiles for a check, or runs as one.
func (sh *shelf) usesGo(c effect.Check) bool {
	return sh.compiles(c) || strings.HasPrefix(c.Command, "go ") || strings.HasPrefix(c.Command, "golangci-lint ")
}

// stdKey names what a toolchain compiles with the settings of this machine, or is "" where that cannot be told: the
// version of the toolchain and where it is, the C compiler, and every variable that the go command takes into account.
// The go command looks at all of that itself, so that an entry that does not fit is not used.
func (h Host) stdKey(program string) string {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return ""
	}
	goroot := filepath.Dir(filepath.Dir(real))
	version, err := os.ReadFile(filepath.Join(goroot, "VERSION"))
	if err != nil {
		return ""
	}
	lines := []string{"3", goroot, string(version), runtime.GOOS, runtime.GOARCH}
	for _, cc := range []string{"gcc", "cc", "clang", "g++"} {
		if where, ok := h.LookPath(cc); ok {
			if info, err := os.Stat(where); err == nil {
				lines = append(lines, where, info.ModTime().UTC().String())
			}
		}
	}
	for _, kv := range slices.Sorted(slices.Values(h.Env)) {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(stdSettings, name) || slices.Contains(passed, name) || strings.HasPrefix(name, "CGO_") {
			lines = append(lines, kv)
		}
	}
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return "go-" + hex.EncodeToString(sum[:12])
}

// stdEnv is the environment of the process that compiles for all workspaces: that of the checks without anything of the
// project.
func (sh *shelf) stdEnv(cache string) []string {
	env := slices.DeleteFunc(slices.Clone(sh.of.tools.Env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == "VIRTUAL_ENV" || name == "GOMODCACHE" || name == "GOFLAGS" || name == "GOPROXY" ||
			strings.HasPrefix(name, "PAWL_")
	})
	env = set(env, "PATH", strings.Join(sh.of.Host.outer(sh.of.place), string(filepath.ListSeparator)))
	env = set(env, "GOPROXY", "off")
	env = set(env, "GOWORK", "off")
	return set(env, "GOCACHE", cache)
}

// stdWanted lists the packages of the standard library that the checks of the tree need. The go command is only asked
// for them: no code of the project runs, and what it says is taken for names and nothing else.
func (sh *shelf) stdWanted(ctx context.Context, checks []effect.Check) []string {
	var out, dirs []string
	for _, c := range checks {
		if !sh.usesGo(c) || slices.Contains(dirs, c.Dir) || len(dirs) == 8 {
			continue
		}
		dirs = append(dirs, c.Dir)
		spec := sh.trusted(sh.of.spec(c, []string{"go", "list", "-deps", "-test", "-e", "-f",
			"{{if .Standard}}{{.ImportPath}}{{end}}", "./..."}))
		spec.Timeout, spec.OutputLimit = listTimeout, 4<<20
		r, err := sh.of.Box.Run(ctx, sh.of.ground.Show(spec))
		if err != nil || r.Exit != 0 {
			continue
		}
		for line := range strings.Lines(string(r.Output)) {
			name := strings.TrimSpace(line)
			if stdName().MatchString(name) && !strings.HasPrefix(name, "vendor/") && name != "unsafe" &&
				len(name) < 200 {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// stdLibrary returns the newest generation for a key, or "" if it lacks packages that cannot be compiled. If it lacks
// packages that can, there is a new one.
func (sh *shelf) stdLibrary(ctx context.Context, key string, wanted []string) string {
	std, newest, known := sh.of.Host.Std, "", []string{}
	all := gocache.Generations(std, key)
	if len(all) > 0 {
		newest = all[len(all)-1].Dir
		text, _ := os.ReadFile(filepath.Join(newest, gocache.Packages))
		known = strings.Fields(string(text))
	}
	missing := slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { return slices.Contains(known, name) })
	if len(missing) == 0 {
		return newest
	}
	// Another process may compile at the same time. What its generation has and this one lacks is compiled again later.
	name := rand.Text()
	made, next := filepath.Join(std, "new-"+name), filepath.Join(std, key+name)
	defer os.RemoveAll(made)
	err := os.MkdirAll(filepath.Join(made, "cache"), 0o700)
	if err == nil && newest != "" {
		err = os.CopyFS(filepath.Join(made, "cache"), os.DirFS(filepath.Join(newest, "cache")))
	}
	if err == nil {
		err = sh.compileStd(ctx, made, missing)
	}
	if err == nil {
		known = slices.Sorted(slices.Values(append(known, missing...)))
		err = os.WriteFile(filepath.Join(made, gocache.Packages), []byte(strings.Join(known, "\n")+"\n"), 0o600)
	}
	if err != nil || gocache.Seal(filepath.Join(made, "cache")) != nil || os.Rename(made, next) != nil {
		return ""
	}
	for i := 1; i < len(all); i++ {
		if time.Since(all[i].Made) > stdKept {
			_ = owndir.RemoveAll(std, filepath.Base(all[i-1].Dir)) // what cannot be removed now is tried again
		}
	}
	killed, _ := fs.Glob(os.DirFS(std), "new-*") // the pattern is well-formed
	for _, name := range killed {
		if info, err := os.Lstat(filepath.Join(std, name)); err == nil && time.Since(info.ModTime()) > stdKept {
			_ = owndir.RemoveAll(std, name)
		}
	}
	return next
}

// compileStd compiles packages of the standard library into a generation. In addition to the toolchain, the process
// sees a directory with a module of pawl's own that imports them. It is vetted and tested, so that the generation has
// what that needs, too; only a package with a test has what coverage needs.
func (sh *shelf) compileStd(ctx context.Context, made string, names []string) error {
	cache, own := filepath.Join(made, "cache"), filepath.Join(made, "module")
	if err := os.Mkdir(own, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(own)
	sh.of.say(stdProgress)
	src := "package std\n\nimport (\n"
	for _, name := range names {
		if !slices.Contains(strings.Split(name, "/"), "internal") && name != "runtime/cgo" {
			src += "\t_ \"" + name + "\"\n"
		}
	}
	for name, text := range map[string]string{"go.mod": "module std.pawl\n", "std.go": src + ")\n",
		"std_test.go": "package std\n\nimport \"testing\"\n\nfunc TestNothing(*testing.T) {}\n"} {
		if err := os.WriteFile(filepath.Join(own, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	for _, argv := range [][]string{append([]string{"go", "build"}, names...), {"go", "vet", "."},
		{"go", "test", "-cover", "."}} {
		r, err := sh.of.Box.Run(ctx, sandbox.Spec{
			Argv: argv, Dir: own, Writable: []string{cache}, Readable: []string{own}, Env: sh.stdEnv(cache),
			Timeout: stdTimeout, OutputLimit: boxOutput,
		})
		if err != nil {
			return err
		}
		if r.Exit != 0 {
			return errors.New(tail(r.Output, 1024))
		}
	}
	return nil
}

// writeWhole writes a file so that nobody sees half of it.
func writeWhole(name, text string) error {
	part := name + "." + rand.Text()
	if err := os.WriteFile(part, []byte(text), 0o600); err != nil {
		return err
	}
	if err := os.Rename(part, name); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return nil
}
