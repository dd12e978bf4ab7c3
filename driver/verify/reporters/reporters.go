// Package reporters has test runners say which tests they ran and how each ended. The command that a person approved
// stays what it is; what is added is a flag, a variable or a module of pawl's own, none of which changes what runs.
//
//	go test       -json, whose events are read from the output and given on as plain text
//	node:test     a reporter beside the usual one, by NODE_OPTIONS
//	unittest      python -m unittest runs by a module that writes down each end
//	pytest        a plugin, by PYTEST_ADDOPTS
//	cargo test    nothing: what it prints by itself is read
//	mvn, gradle   nothing: the reports that they write are read
//	any other     nothing: what it prints by the Test Anything Protocol is read
//
// What the process under test prints is a claim of the code that is judged. That a test is missing is found by what the
// source declares (package testlist); that a passing test proves anything is found by seeing it fail.
package reporters

import (
	"embed"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pawl/text/policy"
	"pawl/text/shell"
	"pawl/text/testrun"
)

//go:embed node.mjs unittest_main.py pytest_pawl_tests.py sitecustomize.py ends.sh
var modules embed.FS

// The modules, by runner.
var moduleOf = map[testrun.Runner]string{
	testrun.Node:     "node.mjs",
	testrun.Unittest: "unittest_main.py",
	testrun.Pytest:   "pytest_pawl_tests.py",
}

// Reporter is how one command is made to say which tests it ran.
type Reporter struct {
	Runner testrun.Runner
	// Verbose and Tags are the flags -v and -tags of go test.
	Verbose bool
	Tags    []string

	command string
	argv    []string
	// narrow says that the command runs some tests alone, as Narrow made it.
	narrow bool
}

// Of recognises the runner of a command: one call of a program that is known, or a script of a package manager of Node,
// which may call anything. It is false where the runner is not known, or says already by itself what it ran.
func Of(command string) (Reporter, bool) {
	parsed, err := policy.ParseCommand(command)
	if err != nil || len(parsed.Calls) != 1 || len(parsed.Calls[0].Argv) < 2 {
		return Reporter{}, false
	}
	argv := parsed.Calls[0].Argv
	r := Reporter{command: command, argv: argv}
	if !parsed.Calls[0].Literal {
		r.argv = nil
	}
	switch program := filepath.Base(argv[0]); {
	case program == "go" && argv[1] == "test":
		return r.ofGo(argv[2:])
	case slices.Contains([]string{"npm", "pnpm", "yarn", "node"}, program):
		r.Runner = testrun.Node
		return r, !strings.Contains(command, "--test-reporter")
	case program == "pytest" || strings.HasPrefix(program, "python") && module(argv) == "pytest":
		r.Runner = testrun.Pytest
		return r, true
	case strings.HasPrefix(program, "python") && module(argv) == "unittest":
		r.Runner = testrun.Unittest
		return r, strings.Contains(command, asModule)
	case slices.Contains([]string{"mvn", "gradle"}, program), program == "sh" && (argv[1] == "./mvnw" || argv[1] == "./gradlew"):
		r.Runner = testrun.Java
		return r, slices.ContainsFunc(argv, func(a string) bool {
			return slices.Contains([]string{"test", "check", "build", "verify", "package", "install"}, a)
		})
	case program == "cargo":
		r.Runner = testrun.Cargo
		return r, cargoNames(argv[1:])
	}
	return Reporter{}, false
}

// cargoNames reports whether a call of cargo tests, and has its tests named one by one.
func cargoNames(args []string) bool {
	if len(args) > 0 && strings.HasPrefix(args[0], "+") {
		args = args[1:]
	}
	return len(args) > 0 && (args[0] == "test" || args[0] == "t") && !slices.ContainsFunc(args, func(a string) bool {
		return slices.Contains([]string{"-q", "--quiet", "--no-run", "--nocapture", "--no-capture", "--show-output", "--list", "--format", "-h",
			"--help"}, a) || strings.HasPrefix(a, "--format=") || strings.HasPrefix(a, "--message-format")
	})
}

// Spoken is a reporter for commands whose runner is not known, and that may say by the Test Anything Protocol what they
// ran.
func Spoken(command string) Reporter { return Reporter{Runner: testrun.TAP, command: command} }

// Gathers matches the reports that a build tool leaves in the folders of its products.
func (r Reporter) Gathers(file string) bool {
	dir, base := path.Split(file)
	if r.Runner != testrun.Java || !strings.HasPrefix(base, "TEST-") || path.Ext(base) != ".xml" {
		return false
	}
	return strings.HasSuffix(dir, "target/surefire-reports/") || strings.HasSuffix(path.Dir(path.Clean(dir)), "build/test-results")
}

// Certain reports whether the command runs its runner and nothing else, so that one which says nothing was kept from
// it. A script of a package manager may call anything, and crates may bring a harness of their own.
func (r Reporter) Certain() bool {
	switch r.Runner {
	case testrun.Go, testrun.Unittest, testrun.Pytest:
		return true
	case testrun.Node:
		return len(r.argv) > 0 && filepath.Base(r.argv[0]) == "node" && slices.Contains(r.argv, "--test")
	}
	return false
}

// asModule is what the module of pawl's own takes the place of.
const asModule = " -m unittest"

// module is the one that python runs with -m directly behind its name.
func module(argv []string) string {
	if len(argv) > 2 && argv[1] == "-m" {
		return argv[2]
	}
	return ""
}

// ofGo reads the flags of go test. Those that run something else, or nothing, leave the runner unknown.
func (r Reporter) ofGo(args []string) (Reporter, bool) {
	r.Runner = testrun.Go
	for i, a := range args {
		name, value, given := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(a, "-"), "-"), "=")
		if !strings.HasPrefix(a, "-") {
			continue
		}
		switch name {
		case "json", "c", "list", "exec", "n", "x", "C", "args", "h", "help", "fuzz":
			return Reporter{}, false
		case "v", "test.v":
			r.Verbose = !given || value == "true"
		case "tags":
			if !given && i+1 < len(args) {
				value = args[i+1]
			}
			r.Tags = strings.FieldsFunc(value, func(c rune) bool { return c == ',' || c == ' ' })
		}
	}
	return r, strings.Contains(r.command, "go test")
}

// Module is the file that has to be in the folder of Apply, and what it says; "" where none is needed.
func (r Reporter) Module() (name string, text []byte) {
	name, ok := moduleOf[r.Runner]
	if r.Ends() {
		name, ok = endsModule, true
	}
	if !ok {
		return "", nil
	}
	text, _ = fs.ReadFile(modules, name)
	return name, text
}

// PythonLines is a module by which Python programs tell which lines ran, for those that find it as sitecustomize.py.
func PythonLines() []byte {
	text, _ := fs.ReadFile(modules, "sitecustomize.py")
	return text
}

// reportName is the file in the folder into which a module writes.
const reportName = "tests.jsonl"

// Report is the file that a module writes in the folder, "" where events come on the output.
func (r Reporter) Report(dir string) string {
	if _, ok := moduleOf[r.Runner]; !ok {
		return ""
	}
	return filepath.Join(dir, reportName)
}

// Apply returns the command and the variables that make it report. The folder is outside of the tree, holds the module
// and takes the report. Env holds what is set already, for variables that are added to.
func (r Reporter) Apply(dir string, env func(name string) string) (command string, vars map[string]string) {
	switch r.Runner {
	case testrun.Go:
		with := "go test -json"
		if r.Ends() {
			with += " -exec " + shell.Quote("sh "+quotedForGo(filepath.Join(dir, endsModule)))
		}
		return strings.Replace(r.command, "go test", with, 1), nil
	case testrun.Node:
		return r.command, map[string]string{"NODE_OPTIONS": joined(env("NODE_OPTIONS"), " ", nodeOptions(dir))}
	case testrun.Unittest:
		by := " " + shell.Quote(filepath.Join(dir, moduleOf[r.Runner])) + " " + shell.Quote(r.Report(dir))
		return strings.Replace(r.command, asModule, by, 1), nil
	case testrun.Pytest:
		plugin := strings.TrimSuffix(moduleOf[r.Runner], ".py")
		return r.command, map[string]string{
			"PAWL_TESTS":     r.Report(dir),
			"PYTHONPATH":     joined(env("PYTHONPATH"), string(filepath.ListSeparator), dir),
			"PYTEST_ADDOPTS": joined(env("PYTEST_ADDOPTS"), " ", "-p "+plugin),
		}
	}
	return r.command, nil
}

// quotedForGo is a word of the list that go test takes with -exec.
func quotedForGo(s string) string {
	if strings.Contains(s, "'") {
		return `"` + s + `"`
	}
	return "'" + s + "'"
}

// nodeOptions has Node report twice: as it would have, and into the file.
func nodeOptions(dir string) string {
	return strings.Join([]string{
		"--import=" + quoted(filepath.Join(dir, moduleOf[testrun.Node])),
		"--test-reporter=spec", "--test-reporter-destination=stdout",
		"--test-reporter=" + quoted(filepath.Join(dir, moduleOf[testrun.Node])),
		"--test-reporter-destination=" + quoted(filepath.Join(dir, reportName)),
	}, " ")
}

// quoted is a value for NODE_OPTIONS, where spaces part and double quotes keep together.
func quoted(s string) string {
	if !strings.ContainsAny(s, " \"\\") {
		return s
	}
	return strconv.Quote(s)
}

func joined(a, by, b string) string {
	if a == "" {
		return b
	}
	return a + by + b
}

// Reports says whether a version of Node, as `node --version` prints it, takes a reporter from NODE_OPTIONS.
func Reports(version string) bool {
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(version), "v"), ".")
	n, err := strconv.Atoi(major)
	return err == nil && n >= 20
}
