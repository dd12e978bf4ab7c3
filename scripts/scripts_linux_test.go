// Package scripts tests what make runs: on machines that are made of stubs, so that nothing is ever installed.
package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The stubs write what they are asked for into $LOG, and what had been printed when they first changed something into
// $SEEN.
const (
	stubBefore = `[ -e "$SEEN" ] || cat "$OUT" >"$SEEN"
`
	stubInto = `for last; do :; done
into() { echo '#!/bin/sh' >"$BIN/$1"; chmod +x "$BIN/$1"; }
`
	stubAptGet = `echo "apt-get $*" >>"$LOG"
` + stubInto + `case "$*" in
*"install -s"*) [ ! -e "$STATE/lists are missing" ] || exit 100
	echo "Inst lib$last (1.0 Debian:12/stable [amd64])"; echo "Inst $last (2.0 Debian:12/stable [amd64])"; exit ;;
esac
` + stubBefore + `case "$*" in
*update*) rm -f "$STATE/lists are missing" "$STATE/lists are old" ;;
*install*)
	for broken in missing old; do [ ! -e "$STATE/lists are $broken" ] || { echo "W: x"; echo "E: Unable to locate package $last" >&2; exit 100; }; done
	[ ! -e "$STATE/$last is broken" ] || { echo "Reading"; echo "E: $last is broken" >&2; echo "E: more" >&2; exit 100; }
	case $last in bubblewrap) into bwrap ;; python3-pytest) into pytest ;; openssh-client) into ssh-keygen ;; dbus) into dbus-daemon ;; *) into "$last" ;; esac ;;
esac
`
	stubAptCache = `shift
for p; do case $p in lib*) printf 'Package: %s\nInstalled-Size: 100\nSize: 50000\n' "${p%=*}" ;;
*) printf 'Package: %s\nInstalled-Size: 2000\nSize: 1500000\n\n' "${p%=*}" ;; esac; done
`
	stubGo = `case $1 in
list)
	[ ! -e "$STATE/modules" ] || exit 0
	[ "${GOPROXY:-}" != off ] || { echo "x.go:1: module lookup disabled by GOPROXY=off" >&2; exit 1; }
	` + stubBefore + `	[ ! -e "$STATE/proxy is away" ] || { echo "go: x: dial tcp: no such host" >&2; exit 1; }
	[ "${PWD##*/}" != contract ] || : >"$STATE/modules" ;; # which is the last
vet | test)
	echo "${PWD##*/}: go $* without=${PAWL_TEST_WITHOUT:-}" >>"$LOG"
	echo "agents=${PAWL_TEST_AGENTS:-}" >>"$LOG"
	case "$*" in *"$(cat "$STATE/fails" 2>/dev/null || echo nothing)"*) echo FAIL; exit 1 ;; esac ;;
esac
`
	stubNpm = stubBefore + `echo "npm $*" >>"$LOG"
[ ! -e "$STATE/registry is away" ] || { echo "npm warn x"; echo "npm error code ENOTFOUND"; echo "npm error more"; exit 1; } >&2
case "$*" in
*octokit*)
	mkdir -p "$3/node_modules/@octokit/openapi/generated"
	: >"$3/node_modules/@octokit/openapi/generated/api.github.com.json" ;;
esac
`
	stubSudo = `echo "sudo $*" >>"$LOG"
[ ! -e "$STATE/sudo asks" ] || exit 1
[ "$1" = -n ] || exit 1
shift
exec "$@"
`
	// It has the module that a package of its name brings.
	stubPython = `[ -e "$BIN/python3-dbusmock" ]
`
	stubID = `[ -e "$STATE/user" ] && echo 1000 || echo 0
`
)

// machine is a checkout and a PATH without anything but stubs and the tools that are everywhere.
type machine struct {
	t   *testing.T
	dir string
}

func (m *machine) path(names ...string) string {
	return filepath.Join(append([]string{m.dir}, names...)...)
}

func (m *machine) write(name, text string) {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Dir(m.path(name)), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(m.path(name), []byte(text), 0o755); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) read(name string) string {
	raw, err := os.ReadFile(m.path(name))
	if err != nil && !os.IsNotExist(err) {
		m.t.Fatal(err)
	}
	return string(raw)
}

// is sets conditions that the stubs look at.
func (m *machine) is(conditions ...string) *machine {
	for _, c := range conditions {
		m.write("state/"+c, "")
	}
	return m
}

// has adds programs, most of them with stubs that do nothing.
func (m *machine) has(programs ...string) *machine {
	stubs := map[string]string{"apt-get": stubAptGet, "apt-cache": stubAptCache, "npm": stubNpm, "sudo": stubSudo,
		"go": stubGo, "id": stubID, "system-python": stubPython}
	for _, p := range programs {
		m.write("bin/"+p, "#!/bin/sh\n"+stubs[p])
	}
	return m
}

func newMachine(t *testing.T) *machine {
	m := &machine{t: t, dir: t.TempDir()}
	for _, name := range []string{"setup.sh", "test.sh", "agents.sh", "contracts.sh"} {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m.write("pawl/scripts/"+name, string(raw))
	}
	for _, dir := range []string{"pawl/bench", "pawl/internal/contract", "bin", "state"} {
		if err := os.MkdirAll(m.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, tool := range strings.Fields("awk bash cat chmod cut dirname env grep mkdir mv rm sed sh tail timeout tr true") {
		real, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(real, m.path("bin", tool)); err != nil {
			t.Fatal(err)
		}
	}
	return m.has("go", "git", "make", "id", "system-python")
}

// run runs a script and returns its status and what it printed.
func (m *machine) run(script string, env ...string) (int, string) {
	m.t.Helper()
	for _, name := range []string{"log", "seen"} {
		if err := os.RemoveAll(m.path(name)); err != nil {
			m.t.Fatal(err)
		}
	}
	out, err := os.Create(m.path("out"))
	if err != nil {
		m.t.Fatal(err)
	}
	defer out.Close()
	argv := strings.Fields(script)
	cmd := exec.Command(m.path("pawl/scripts", argv[0]), argv[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = out, out, "/"
	cmd.Env = append([]string{"PATH=" + m.path("bin"), "HOME=" + m.dir, "SYSTEM_PYTHON=" + m.path("bin", "system-python"), "BIN=" + m.path("bin"), "STATE=" +
		m.path("state"), "LOG=" + m.path("log"),
		"OUT=" + m.path("out"), "SEEN=" + m.path("seen")}, env...)
	if err := cmd.Run(); cmd.ProcessState == nil {
		m.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), m.read("out")
}

// expect runs a script and compares.
func (m *machine) expect(script string, status int, want string) {
	m.t.Helper()
	want = strings.TrimLeft(want, "\n")
	if code, out := m.run(script); code != status || out != want {
		m.t.Errorf("%s: status %d, want %d\n%s\nwant\n%s", script, code, status, out, want)
	}
}

const (
	bareList = `
make test installs, because it is missing here:
  bubblewrap        a Debian package, with libbubblewrap, 1.6 MB to fetch, 2.2 MB on disk: one of the two ways to build walls is tested with it
  strace            a Debian package, with libstrace, 1.6 MB to fetch, 2.2 MB on disk: it makes the disk fail under the tests of the store
  python3-pytest    a Debian package, with libpython3-pytest, 1.6 MB to fetch, 2.2 MB on disk: projects in Python are tested with it
  dbus              a Debian package, with libdbus, 1.6 MB to fetch, 2.2 MB on disk: messages are shown on a desktop that the tests have
  python3-dbusmock  a Debian package, with libpython3-dbusmock, 1.6 MB to fetch, 2.2 MB on disk: it plays that desktop
  cargo             a Debian package, with libcargo, 1.6 MB to fetch, 2.2 MB on disk: projects in Rust are tested with it
  openssh-client    a Debian package, with libopenssh-client, 1.6 MB to fetch, 2.2 MB on disk: signatures of approvals are verified with it
  tmux              a Debian package, with libtmux, 1.6 MB to fetch, 2.2 MB on disk: nothing that runs in it may count as a person
  Go modules        about 82 MB to fetch, 460 MB in the module cache (GOMODCACHE): pawl and its tests are built of them
  pi 0.73.1         an npm package, about 40 MB to fetch, 205 MB on disk in .tools/agents/pi: a real coding agent does whole runs
  codex-acp 0.16.0  an npm package, about 75 MB to fetch, 225 MB on disk in .tools/agents/codex-acp: a real coding agent does whole runs
`
	parts = `test: vet
test: packages
test: decoders, fuzzed for 30s each
test: bench, vet
test: bench
test: internal/contract, vet
test: internal/contract
`
	noAgents = "left out: real coding agents (npm is not installed; with it, make agents drives them)\n"
	noNpm    = noAgents + "left out: GitHub's contract (npm is not installed)\n"
)

// TestEverythingIsNamedFirst: the whole list stands there before the first thing is fetched, and nothing is said the
// second time.
func TestEverythingIsNamedFirst(t *testing.T) {
	m := newMachine(t).has("apt-get", "apt-cache", "npm")
	m.expect("test.sh", 0, bareList+`setup: fetching the Go modules
setup: installing bubblewrap
setup: installing strace
setup: installing python3-pytest
setup: installing dbus
setup: installing python3-dbusmock
setup: installing cargo
setup: installing openssh-client
setup: installing tmux
agents: installing pi 0.73.1, the npm package @mariozechner/pi-coding-agent, about 40 MB to fetch, 205 MB on disk in .tools/agents/pi
agents: installing codex-acp 0.16.0, the npm package @zed-industries/codex-acp, about 75 MB to fetch, 225 MB on disk in .tools/agents/codex-acp
contracts: installing the npm package @octokit/openapi@23.0.2, 13 MB to keep in .tools/contracts
`+parts)
	if seen := m.read("seen"); seen != strings.TrimLeft(bareList, "\n")+"setup: fetching the Go modules\n" {
		t.Errorf("when the first thing was fetched, this had been printed:\n%s", seen)
	}
	log := m.read("log")
	for _, want := range []string{"pawl: go vet ./... without=\n",
		"pawl: go test -vet=off -ldflags=-s -p 3 -parallel 6 -timeout 60m ./... without=\n",
		"bench: go test -vet=off -timeout 5m ./... without=\n",
		"contract: go test -vet=off -timeout 5m ./... without=\n", "agents=pi codex-acp\n"} {
		if !strings.Contains(log, want) {
			t.Errorf("%q did not run:\n%s", want, log)
		}
	}
	if strings.Index(log, "go vet") < strings.LastIndex(log, "npm install") {
		t.Errorf("something was installed after the tests began:\n%s", log)
	}
	m.expect("setup.sh", 0, "")
	m.expect("test.sh", 0, parts)
	if log := m.read("log"); strings.Contains(log, "apt-get") || strings.Contains(log, "npm") {
		t.Errorf("the second run looked for packages:\n%s", log)
	}
}

// TestProgramsLeftOut: a promised program that cannot be had is one line, its tests alone are left out, and the status
// tells.
func TestProgramsLeftOut(t *testing.T) {
	const asRoot = `left out: tests of bubblewrap (bwrap is missing; install it as root: apt-get install bubblewrap)
left out: tests of a disk that fails (strace is missing; install it as root: apt-get install strace)
left out: tests of pytest (pytest is missing; install it as root: apt-get install python3-pytest)
left out: tests of notifications on a desktop (dbus-daemon is missing; install it as root: apt-get install dbus)
left out: tests of notifications on a desktop (dbusmock is missing; install it as root: apt-get install python3-dbusmock)
left out: tests of Rust (cargo is missing; install it as root: apt-get install cargo)
left out: tests of SSH keys (ssh-keygen is missing; install it as root: apt-get install openssh-client)
left out: tests of terminals (tmux is missing; install it as root: apt-get install tmux)
`
	const closing = "test: the README promises tests that were left out, for want of: bwrap strace pytest dbus-daemon dbusmock cargo ssh-keygen tmux\n"
	for _, c := range []struct {
		name       string
		has, is    []string
		said, lack string
	}{
		{"without apt", nil, nil, `left out: tests of bubblewrap (bwrap is missing; install bubblewrap with the package manager of this system)
left out: tests of a disk that fails (strace is missing; install strace with the package manager of this system)
left out: tests of pytest (pytest is missing; install python3-pytest with the package manager of this system)
left out: tests of notifications on a desktop (dbus-daemon is missing; install dbus with the package manager of this system)
left out: tests of notifications on a desktop (dbusmock is missing; install python3-dbusmock with the package manager of this system)
left out: tests of Rust (cargo is missing; install cargo with the package manager of this system)
left out: tests of SSH keys (ssh-keygen is missing; install openssh-client with the package manager of this system)
left out: tests of terminals (tmux is missing; install tmux with the package manager of this system)
`, closing},
		{"a user without sudo", []string{"apt-get", "apt-cache"}, []string{"user"}, asRoot, closing},
		{"a user whose sudo asks", []string{"apt-get", "apt-cache", "sudo"}, []string{"user", "sudo asks"}, asRoot,
			closing},
		{"one of them", []string{"strace", "pytest", "dbus-daemon", "python3-dbusmock", "cargo", "ssh-keygen", "tmux"}, nil,
			"left out: tests of bubblewrap (bwrap is missing; install bubblewrap with the package manager of this system)\n",
			"test: the README promises tests that were left out, for want of: bwrap\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t).has(c.has...).is(append(c.is, "modules")...)
			m.expect("setup.sh", 1, c.said)
			m.expect("test.sh", 1, c.said+noNpm+parts+c.lack)
			_, names, _ := strings.Cut(strings.TrimSpace(c.lack), "for want of: ")
			log := m.read("log")
			if strings.Contains(log, "apt-get") || strings.Count(log, "without="+names+"\n") != 12 {
				t.Errorf("what ran:\n%s", log)
			}
		})
	}
}

// TestAptInTrouble: lists that apt does not have yet, lists that are old, and a package that cannot be installed.
func TestAptInTrouble(t *testing.T) {
	const fetching = "setup: fetching apt's lists of packages, about 10 MB\n"
	const installing = "setup: installing bubblewrap\n"
	known := strings.Replace(strings.Join(strings.SplitAfter(bareList, "\n")[:3], ""), "make test", "make setup", 1)
	for _, c := range []struct {
		name   string
		is     []string
		status int
		want   string
	}{
		{"no lists", []string{"lists are missing"}, 0, `make setup installs, because it is missing here:
  bubblewrap        a Debian package, about 50 kB to fetch, 130 kB on disk: one of the two ways to build walls is tested with it
  apt's lists       about 10 MB to fetch, 30 MB on disk: apt does not know all of these packages yet
` + fetching + installing},
		{"old lists", []string{"lists are old"}, 0, known + installing + fetching + installing},
		{"a broken package", []string{"bubblewrap is broken"}, 1, known + installing + fetching + installing +
			"left out: tests of bubblewrap (bubblewrap could not be installed: E: bubblewrap is broken; try as root: apt-get install bubblewrap)\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			newMachine(t).has("apt-get", "apt-cache", "strace", "pytest", "dbus-daemon", "python3-dbusmock", "cargo", "ssh-keygen", "tmux").is(append(c.is, "modules")...).expect("setup.sh",
				c.status, c.want)
		})
	}
}

// TestSudoThatDoesNotAsk: a user who may install without a password does, through sudo alone.
func TestSudoThatDoesNotAsk(t *testing.T) {
	m := newMachine(t).has("apt-get", "apt-cache", "sudo", "strace", "pytest", "dbus-daemon", "python3-dbusmock", "cargo", "ssh-keygen", "tmux").is("user", "modules")
	if code, out := m.run("setup.sh"); code != 0 || !strings.HasSuffix(out, "\nsetup: installing bubblewrap\n") {
		t.Errorf("status %d\n%s", code, out)
	}
	for line := range strings.Lines(m.read("log")) {
		if strings.HasPrefix(line, "sudo") && !strings.HasPrefix(line, "sudo -n ") {
			t.Errorf("sudo may have asked for a password: %s", line)
		}
	}
}

// TestAgentsLeftOut: they are an addition. Neither npm that is missing nor a registry that is away changes the status.
func TestAgentsLeftOut(t *testing.T) {
	m := newMachine(t).has("bwrap", "strace", "pytest", "dbus-daemon", "python3-dbusmock", "cargo", "ssh-keygen", "tmux").is("modules")
	m.expect("test.sh", 0, noNpm+parts)
	m.expect("agents.sh ready", 1, noAgents)
	if code, out := m.run("agents.sh install"); code != 1 ||
		out != "agents: npm is not installed; the agents come from its registry\n" {
		t.Errorf("status %d: %s", code, out)
	}

	m.has("npm").is("registry is away")
	code, out := m.run("test.sh")
	away := "left out: real coding agents (pi 0.73.1 could not be installed: npm error code ENOTFOUND; see .tools/agents/pi/install.log)\n"
	contract := "contracts: installing the npm package @octokit/openapi@23.0.2, 13 MB to keep in .tools/contracts\n" +
		"left out: GitHub's contract (@octokit/openapi@23.0.2 could not be installed; see .tools/contracts/install.log)\n"
	if code != 0 || !strings.HasSuffix(out, away+contract+parts) || strings.Count(out, "left out") != 2 ||
		strings.Count(m.read("log"), "npm install") != 2 {
		t.Errorf("status %d\n%s", code, out)
	}
	if log := m.read("log"); strings.Count(log, "agents=\n") != 12 {
		t.Errorf("agents were to be driven that are not there:\n%s", log)
	}
	if code, out := m.run("agents.sh install pi codex-acp"); code != 1 || strings.Count(out, "ENOTFOUND") != 2 {
		t.Errorf("status %d\n%s", code, out)
	}
}

// TestNothingToTestWith: without Go or its modules there is nothing that could run.
func TestNothingToTestWith(t *testing.T) {
	m := newMachine(t).has("bwrap", "strace", "pytest", "dbus-daemon", "python3-dbusmock", "cargo", "ssh-keygen", "tmux").is("proxy is away")
	m.expect("test.sh", 2, `
make test installs, because it is missing here:
  Go modules        about 82 MB to fetch, 460 MB in the module cache (GOMODCACHE): pawl and its tests are built of them
setup: fetching the Go modules
setup: the Go modules could not be fetched: go: x: dial tcp: no such host
`)
	if err := os.Remove(m.path("bin/go")); err != nil {
		t.Fatal(err)
	}
	m.expect("test.sh", 2, "setup: go is missing; pawl is built and tested with Go 1.26, git and make\n")
}

// TestPartsThatFail: the first part that fails ends the run, and what was left out is said all the same.
func TestPartsThatFail(t *testing.T) {
	for part, ran := range map[string]int{"vet ./": 1, "-timeout 60m": 2, "-fuzz ^FuzzPatch$": 7, "-timeout 5m": 10} {
		m := newMachine(t).has("bwrap", "npm", "pytest", "dbus-daemon", "python3-dbusmock", "cargo", "ssh-keygen", "tmux").is("modules")
		m.write("state/fails", part)
		code, out := m.run("test.sh", "PAWL_TEST_FLAGS=-short  -count=1")
		log := strings.Split(strings.TrimSpace(m.read("log")), "\n")
		log = slices.DeleteFunc(log, func(line string) bool { return !strings.Contains(line, ": go ") })
		if code != 1 || !strings.HasSuffix(out,
			"FAIL\ntest: the README promises tests that were left out, for want of: strace\n") || len(log) != ran {
			t.Errorf("%s: status %d\n%s\n%s", part, code, out, log)
		}
		if ran > 1 && !strings.Contains(log[1],
			"go test -vet=off -ldflags=-s -p 3 -parallel 6 -timeout 60m -short -count=1 ./...") {
			t.Errorf("%s", log[1])
		}
	}
}

// TestGoByAnotherName: GO may be a command of several words.
func TestGoByAnotherName(t *testing.T) {
	m := newMachine(t).has("bwrap", "strace", "pytest", "dbus-daemon", "python3-dbusmock", "cargo", "ssh-keygen", "tmux").is("modules")
	if err := os.Rename(m.path("bin/go"), m.path("bin/go1.26")); err != nil {
		t.Fatal(err)
	}
	if code, out := m.run("test.sh", "GO=env go1.26"); code != 0 || out != noNpm+parts {
		t.Errorf("status %d\n%s", code, out)
	}
}

// TestCIRunsTheCommitAlone: the folder in which it runs holds what is committed, its home holds nothing, and both are
// gone after it.
func TestCIRunsTheCommitAlone(t *testing.T) {
	m := &machine{t: t, dir: t.TempDir()}
	raw, err := os.ReadFile("../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	m.write("repo/.ci/run", string(raw))
	m.write("repo/Makefile", `test:
	@ls -A . ..; ls -A "$$HOME"; echo "$$PATH"; echo "$$GOPROXY"; env | grep ^XDG_ || true
	@mkdir -p "$$HOME/go/mod"; touch "$$HOME/go/mod/file"; chmod -R a-w "$$HOME/go"
	@exit 1
`)
	// Whoever runs this may have a configuration of git, and make may be what runs it.
	environ := append(os.Environ(), "HOME="+m.dir, "XDG_CONFIG_HOME="+m.dir, "GIT_CONFIG_NOSYSTEM=1", "MAKELEVEL=0",
		"MAKEFLAGS=")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", m.path("repo"), "-c", "user.name=x", "-c",
			"user.email=x@example.org"}, args...)...)
		cmd.Env = environ
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "x")
	m.write("repo/left", "")
	m.write("beside", "")
	m.write("tmp/x", "")

	cmd := exec.Command(m.path("repo/.ci/run"))
	cmd.Env = append(environ, "TMPDIR="+m.path("tmp"), "GOPROXY=the proxy")
	out, _ := cmd.CombinedOutput()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, path, _ := strings.Cut(string(out), "\npawl\n")
	path, _, _ = strings.Cut(path, "\n")
	if !strings.Contains(string(readme), "`"+path+"`") {
		t.Errorf("the README does not name the PATH %q", path)
	}
	want := "ci: what is not committed is not tested\n.:\n.ci\nMakefile\n\n..:\nhome\npawl\n" + path +
		"\nthe proxy\nmake: "
	if !strings.HasPrefix(string(out), want) || strings.Contains(string(out), "XDG_") ||
		cmd.ProcessState.ExitCode() != 2 {
		t.Errorf("status %d\n%s\nwant\n%s", cmd.ProcessState.ExitCode(), out, want)
	}
	if left, err := filepath.Glob(m.path("tmp/*")); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
