package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"pawl/kernel/effect"
)

// machineFailure matches what tools print when the machine is at fault and no change of the work can help: a full disk,
// a program or a package that is not installed, a dependency that would have to be fetched. Reading a failure of the
// work as one of the machine stops a run with a question; it never lets anything pass.
var machineFailure = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(strings.Join([]string{
		`(?i)no space left on device`, `/(pkg/mod|\.cargo|\.m2|\.gradle|\.nuget|\.pub-cache)/\S*: read-only file system`, `Read-only file system \(os error 30\)`, `\bENOSPC\b`, `(?i)disk quota exceeded`,
		// Programs.
		`(?m)^make(\[\d+\])?: \*\*\* .*Error 127\b`,
		`(?m)^(sh|bash|dash|/bin/sh)(: line \d+|: \d+)?: [^:\n]+: (command )?not found$`,
		`(?m)npm (error|ERR!) code (ENOTCACHED|ENOTFOUND|EAI_AGAIN)`, `npx canceled due to missing packages`,
		`(?m)^\S*python\S*: No module named (pytest|unittest|mypy|ruff|black|flake8)$`, `bundler: command not found`,
		`error: toolchain '[^']+' is not installed`, `error: no such command: `,
		`JAVA_HOME (environment variable )?is not (set|defined)`,
		// Go.
		`module lookup disabled by GOPROXY=off`, `\(running go [^)]*; GOTOOLCHAIN=local\)`,
		`go: download(ing)? go[0-9.]+ .*toolchain not available`,
		`exec: "(gcc|clang|cc|g\+\+)": executable file not found`,
		// Node.
		`(?m)^Error: Cannot find module '[^./'][^']*'$`, `node_modules (missing|not found)`,
		// Rust.
		`attempting to make an HTTP request, but --offline was specified`,
		`perhaps a crate was updated and forgotten to be re-vendored`,
		`(?i)failed to download .*\(?offline`,
		// Java.
		`[Cc]annot access \S+ \(.*\) in offline mode`, `No cached version of .* available for offline mode`,
		// The rest.
		`Could not find \S+ in (any of the sources|locally installed gems)`, `error NU1301`,
		`You must install (or update )?\.NET`,
		`(?i)pub get failed .*offline`, `(?i)could not resolve host`, `Temporary failure in name resolution`,
		`getaddrinfo (ENOTFOUND|EAI_AGAIN)`,
		`java\.net\.UnknownHostException`,
	}, "|"))
})

// environmental reports whether a failed command failed because of the machine.
func environmental(exit int, output []byte) bool {
	return exit == exitNotFound || machineFailure().Match(output)
}

// versionArgs say how a program tells its version; programs that are not here count by their place alone.
var versionArgs = map[string]string{
	"go": "version", "gofmt": "", "node": "--version", "npm": "--version", "pnpm": "--version", "yarn": "--version",
	"bun": "--version", "python3": "--version", "python": "--version", "ruff": "--version", "mypy": "--version",
	"black": "--version", "flake8": "--version", "cargo": "--version", "mvn": "--version", "gradle": "--version",
	"java": "-version", "flutter": "--version --suppress-analytics", "dart": "--version", "cmake": "--version",
	"ctest": "--version", "make": "--version", "dotnet": "--version", "bundle": "--version", "rspec": "--version",
	"rake": "--version", "composer": "--version", "php": "--version", "golangci-lint": "--version", "ruby": "--version",
}

// companions are programs that a command brings into play without naming them.
var companions = map[string][]string{
	"npm": {"node"}, "npx": {"node"}, "pnpm": {"node"}, "yarn": {"node"}, "mvn": {"java"}, "gradle": {"java"},
	"bundle": {"ruby"},
}

// versions remembers what programs say of themselves, by place and search path. It is safe for concurrent use.
type versions struct {
	mu    sync.Mutex
	lines map[string]string
	// looked is the Runner of which shows and layered are known.
	looked         Runner
	shows, layered bool
}

const versionTimeout = 20 * time.Second

// environmentDigest is the sha256 over the environment of the checks and the versions of the programs that they use.
func (s *session) environmentDigest(ctx context.Context, checks []effect.Check) string {
	lines := slices.Clone(s.tools.Env)
	slices.Sort(lines)
	for _, program := range Programs(checks) {
		lines = append(lines, program+"="+s.version(ctx, program))
	}
	for _, d := range s.dependencies() {
		lines = append(lines, "dependencies="+d.Path+" "+d.State+" "+d.Digest)
	}
	lines = append(lines, "os="+runtime.GOOS+"/"+runtime.GOARCH)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}

// version returns the place of a program and the first line that it prints about itself.
func (s *session) version(ctx context.Context, program string) string {
	where, ok := s.find(program)
	if !ok {
		return "missing"
	}
	args, ok := versionArgs[program]
	if !ok || args == "" {
		return where
	}
	s.known.mu.Lock()
	line, ok := s.known.lines[where]
	s.known.mu.Unlock()
	if ok {
		return where + " " + line
	}
	spec := s.spec(effect.Check{}, append([]string{program}, strings.Fields(args)...))
	spec.Timeout = versionTimeout
	r, err := s.Box.Run(ctx, s.ground.Show(spec))
	if err != nil || r.Exit != 0 {
		return where
	}
	line, _, _ = strings.Cut(tail(r.Output, 4096), "\n")
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	if s.known.lines == nil {
		s.known.lines = map[string]string{}
	}
	s.known.lines[where] = line
	return where + " " + line
}

var commandWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[\s;&|(])([A-Za-z][A-Za-z0-9_.+-]*)`) })

// Programs returns the known programs that stand in the commands of checks, and their companions, sorted.
func Programs(checks []effect.Check) []string {
	var out []string
	for _, c := range checks {
		for _, m := range commandWord().FindAllStringSubmatch(c.Command, -1) {
			if _, ok := versionArgs[m[1]]; ok {
				out = append(out, m[1])
			}
			out = append(out, companions[m[1]]...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
