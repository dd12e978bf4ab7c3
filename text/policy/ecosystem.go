package policy

import (
	"slices"
	"strings"

	"pawl/text/shell"
)

// checkGo judges go build, test, vet and the like.
func checkGo(c *command, args []shell.Word) {
	r := rule{class: builds, ask: "-toolexec -exec -vettool -fixtool -overlay -gccgoflags -compiler -pkgdir -modcacherw -work", exact: true,
		out: goOut + " -o -c-out", prose: "-run -bench -skip -fuzz -tags -ldflags -gcflags -asmflags -f -list -count -timeout -coverpkg -cpu"}
	var rest []shell.Word
	for i := 0; i < len(args); i++ {
		w := args[i]
		name, value, joined := strings.Cut(w.Text, "=")
		switch name = "-" + strings.TrimLeft(name, "-"); {
		case !w.Flag() || w.Dynamic:
			rest = append(rest, w)
		case name == "-args":
			i = len(args) // the rest is for the test binary, which is the project's own code
		case name == "-ldflags" || name == "-gcflags" || name == "-asmflags":
			if !joined && i+1 < len(args) {
				i++
				value = args[i].Text
				if args[i].Dynamic {
					c.judge.guess(args[i])
				}
			}
			if !harmlessToolFlags(value) {
				c.flagged(w.Text)
			}
		case slices.Contains([]string{"-run", "-bench", "-skip", "-fuzz", "-f", "-tags", "-list"}, name) && !joined:
			i++ // the next word is a regular expression or a template
			if i < len(args) && args[i].Dynamic {
				rest = append(rest, args[i])
			}
		default:
			rest = append(rest, w)
		}
	}
	c.apply(r, rest)
}

// harmlessToolFlags reports whether the flags for the compiler and the linker only strip, set variables or explain.
func harmlessToolFlags(value string) bool {
	fields := strings.Fields(value)
	for i := 0; i < len(fields); i++ {
		switch f := strings.TrimPrefix(fields[i], "all="); f {
		case "-s", "-w", "-m", "-m=2", "-N", "-l":
		case "-X":
			i++
		default:
			if !strings.HasPrefix(f, "-X=") {
				return false
			}
		}
	}
	return true
}

// checkGoMod judges go mod.
func checkGoMod(c *command, args []shell.Word) {
	if len(args) == 0 {
		return
	}
	switch args[0].Text {
	case "verify", "graph", "why", "tidy":
		c.apply(build("-C -modfile -modcacherw -overlay", ""), args[1:])
	case "download":
		judgeFetch(c)
	default:
		c.unknown()
	}
}

// checkGoTool lets coverage be shown.
func checkGoTool(c *command, args []shell.Word) {
	if len(args) == 0 || args[0].Text != "cover" {
		c.unknown()
		return
	}
	c.apply(build("-pkgcfg -mode", "-o"), args[1:])
}

// routine reports whether the name of a script or target is that of a check or a build rather than of anything else.
func routine(name string) bool {
	head := name
	if i := strings.IndexAny(name, ":-_./"); i > 0 {
		head = name[:i]
	}
	return slices.Contains(routines, head)
}

var routines = []string{
	"test", "tests", "unit", "lint", "build", "check", "checks", "typecheck", "type", "types", "tsc", "format", "fmt",
	"prettier",
	"eslint", "coverage", "cover", "compile", "verify", "vet", "validate", "bench", "race", "golden", "docs", "doc",
	"help", "ci", "tidy", "stylecheck",
}

// checkPackageScript judges npm test and its like. The options of npm are settings, some of which name programs, so
// none but those that choose a workspace pass; even quiet ones would hide which script ran.
func checkPackageScript(c *command, args []shell.Word) {
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case w.Text == "--":
			return // the rest is for the project's own script
		case w.Dynamic:
			c.judge.guess(w)
		case !w.Flag():
			c.judge.file(w, OpRead, c.cwds)
		case w.Text == "-w" || w.Text == "--workspace" || w.Text == "--filter" || w.Text == "-F":
			if i++; i < len(args) {
				c.judge.file(args[i], OpRead, c.cwds)
			}
		case strings.HasPrefix(w.Text, "--workspace=") || strings.HasPrefix(w.Text, "--filter=") ||
			slices.Contains([]string{"--workspaces", "-ws", "--if-present", "-r", "--recursive"}, w.Text):
		case c.name == "npm" || c.name == "pnpm":
			c.flagged(w.Text)
		case hasAny(w.Text, "script-shell", "cwd", "config", "require", "preload"):
			c.flagged(w.Text)
		}
	}
}

// checkScript judges npm run and its like by the name of the script.
func checkScript(c *command, args []shell.Word) {
	for len(args) > 0 && slices.Contains([]string{"--if-present", "--workspaces", "-ws", "-r", "run"}, args[0].Text) {
		args = args[1:]
	}
	if len(args) == 0 || args[0].Unsure() || !routine(args[0].Text) {
		c.unknown()
		return
	}
	checkPackageScript(c, args[1:])
}

// checkNpx judges npx with a tool that projects install.
func checkNpx(c *command, args []shell.Word) {
	for len(args) > 0 && (args[0].Text == "--no-install" || args[0].Text == "--no" || args[0].Text == "--") {
		args = args[1:]
	}
	if len(args) > 0 && !args[0].Unsure() &&
		slices.Contains([]string{"eslint", "prettier", "tsc", "jest", "vitest", "mocha", "ava", "stylelint", "biome"},
			args[0].Text) {
		c.apply(known().programs[args[0].Text], args[1:])
		return
	}
	c.unknown()
}

// checkNode lets node run the project's tests and check syntax.
func checkNode(c *command, args []shell.Word) {
	if len(args) == 0 || args[0].Text != "--test" && args[0].Text != "--check" && args[0].Text != "-c" {
		c.unknown()
		return
	}
	c.apply(rule{class: builds, exact: true,
		only: "--test-name-pattern --test-reporter --test-only --test-concurrency --experimental-test-coverage --test-timeout"}, args[1:])
}

// pythonModules are the modules that python -m may run.
var pythonModules = []string{"pytest", "unittest", "mypy", "black", "ruff", "flake8", "isort", "pylint", "coverage",
	"compileall", "py_compile"}

// checkPython lets python run checks that are installed as modules.
func checkPython(c *command, args []shell.Word) {
	if len(args) < 2 || args[0].Text != "-m" || args[1].Unsure() || !slices.Contains(pythonModules, args[1].Text) {
		c.unknown()
		return
	}
	name, rest := args[1].Text, args[2:]
	if r, ok := known().programs[name]; ok {
		c.apply(r, rest)
		return
	}
	if table, ok := known().subcommands[name]; ok {
		if len(rest) > 0 {
			if r, ok := table[rest[0].Text]; ok && !rest[0].Expanded {
				c.apply(r, rest[1:])
				return
			}
		}
		c.unknown()
		return
	}
	c.apply(build("", ""), rest)
}

// checkCoverage judges coverage run, which runs another module.
func checkCoverage(c *command, args []shell.Word) {
	for len(args) > 0 && (args[0].Text == "--branch" || args[0].Text == "-p" ||
		strings.HasPrefix(args[0].Text, "--source=")) {
		args = args[1:]
	}
	checkPython(c, args)
}

// checkPHP lets php check syntax and run the tests of the framework.
func checkPHP(c *command, args []shell.Word) {
	switch {
	case len(args) == 2 && args[0].Text == "-l":
		c.judge.file(args[1], OpRead, c.cwds)
	case len(args) > 1 && args[0].Text == "artisan" && args[1].Text == "test":
		c.apply(known().programs["phpunit"], args[2:])
	case len(args) > 0 && args[0].Text == "vendor/bin/phpunit":
		c.apply(known().programs["phpunit"], args[1:])
	default:
		c.unknown()
	}
}

// checkRubySyntax lets ruby check syntax.
func checkRubySyntax(c *command, args []shell.Word) {
	if len(args) > 1 && args[0].Text == "-c" {
		c.operandPaths(args[1:])
		return
	}
	c.unknown()
}

// checkBundle judges bundle exec by the command that it runs.
func checkBundle(c *command, args []shell.Word) {
	if len(args) > 0 && slices.Contains([]string{"rspec", "rake", "rubocop", "rails"}, args[0].Text) &&
		!args[0].Expanded {
		inner := &command{judge: c.judge, name: args[0].Text, argv: args, args: args[1:], cwds: c.cwds}
		inner.program()
		return
	}
	c.unknown()
}

// checkMake lets make reach targets whose names are those of checks. Without a target it does whatever comes first in
// the file, so that is asked for.
func checkMake(c *command, args []shell.Word) {
	targets := 0
	for i := 0; i < len(args); i++ {
		w := args[i]
		name, _, assigned := strings.Cut(w.Text, "=")
		switch {
		case w.Unsure() || w.Pattern:
			c.judge.guess(w)
		case w.Text == "-C" && i+1 < len(args):
			i++
			c.judge.file(args[i], OpRead, c.cwds)
		case w.Text == "-j" && i+1 < len(args) && number(args[i+1].Text):
			i++
		case slices.Contains([]string{"-k", "-B", "-j", "--keep-going", "--always-make", "--no-print-directory"},
			w.Text),
			strings.HasPrefix(w.Text, "-j") && number(w.Text[2:]), strings.HasPrefix(w.Text, "--jobs="):
		case w.Flag():
			c.flagged(w.Text)
		case assigned:
			if name != "V" && name != "VERBOSE" {
				c.flagged(w.Text)
			}
		default:
			targets++
			if !routine(w.Text) {
				c.unknown()
			}
		}
	}
	if targets == 0 {
		c.unknown()
	}
}

// checkCMake lets cmake configure and build.
func checkCMake(c *command, args []shell.Word) {
	const valued, plain = "-G --target -t --config --parallel -j --preset", "-Wno-dev --clean-first --verbose"
	folders := map[string]Op{"-S": OpRead, "-B": OpWrite, "--build": OpWrite}
	for i := 0; i < len(args); i++ {
		w := args[i]
		define, defines := strings.CutPrefix(w.Text, "-D")
		if defines && define == "" && i+1 < len(args) {
			i++
			w, define = args[i], args[i].Text
		}
		switch {
		case w.Dynamic:
			c.judge.guess(w)
		case defines:
			if !harmlessDefinition(define) {
				c.flagged(w.Text)
			}
		case folders[w.Text] != "" && i+1 < len(args):
			i++
			c.judge.file(args[i], folders[w.Text], c.cwds)
		case len(w.Text) > 2 && hasAnyPrefix(w.Text, "-S", "-B"):
			c.judge.file(shell.Word{Text: w.Text[2:], Pattern: w.Pattern}, OpWrite, c.cwds)
		case listed(valued, w.Text):
			if i+1 < len(args) && !args[i+1].Flag() {
				i++
			}
			if w.Text == "--target" && args[i].Text == "install" {
				c.flagged("install")
			}
		case strings.HasPrefix(w.Text, "-j"), listed(plain, w.Text):
		case w.Flag():
			c.flagged(w.Text)
		default:
			c.judge.file(w, OpRead, c.cwds)
		}
	}
}

// harmlessDefinition reports whether a variable of cmake names no program and no place.
func harmlessDefinition(define string) bool {
	name, value, _ := strings.Cut(define, "=")
	return !strings.ContainsAny(value, "/\\$;") && !hasAny(strings.ToUpper(name), "COMPILER", "LAUNCHER", "TOOLCHAIN",
		"PROGRAM", "COMMAND", "LINKER", "INCLUDE", "EXECUTABLE", "MODULE", "EMULATOR", "RULE")
}

// tasks are what a build tool may be asked for.
type tasks struct {
	names  string // those that check and build
	paths  bool   // before a name the path of a project may stand, with colons
	valued string // options with a value behind them
	plain  string // options that stand alone
	starts string // beginnings of options that hold their value
}

var (
	mavenTasks = tasks{
		names:  "test verify compile test-compile package validate checkstyle:check spotless:check spotless:apply",
		valued: "-pl -T",
		plain: "-q -B -o -am -e -X -ntp --offline --batch-mode --quiet --no-transfer-progress -fae " +
			"-DskipTests",
		starts: "-DskipTests= -Dtest= -Dmaven.test.skip= -T",
	}
	gradleTasks = tasks{
		names: "test build check assemble classes testClasses compileJava compileTestJava compileKotlin lint " +
			"ktlintCheck spotlessCheck spotlessApply detekt tasks projects",
		paths:  true,
		valued: "--tests -x",
		plain: "--offline --no-daemon --info --stacktrace -q --quiet -i -s --parallel --build-cache --continue " +
			"--rerun-tasks",
		starts: "--console= --tests=",
	}
)

// checkTasks lets a build tool do tasks that check and build. Without any it does whatever its file says.
func checkTasks(t tasks) func(c *command, args []shell.Word) {
	return func(c *command, args []shell.Word) {
		asked := 0
		for i := 0; i < len(args); i++ {
			w := args[i]
			task := w.Text
			if t.paths {
				task = task[strings.LastIndexByte(task, ':')+1:]
			}
			switch {
			case w.Unsure():
				c.judge.guess(w)
			case listed(t.valued, w.Text):
				i++
			case listed(t.plain, w.Text), hasAnyPrefix(w.Text, strings.Fields(t.starts)...):
			case listed(t.names, task):
				asked++
			default:
				c.unknown()
			}
		}
		if asked == 0 {
			c.unknown()
		}
	}
}

// checkDotnet judges dotnet test, build and format. Properties can name programs and are asked for.
func checkDotnet(c *command, args []shell.Word) {
	var rest []shell.Word
	for _, w := range args {
		lower := strings.ToLower(w.Text)
		if strings.HasPrefix(lower, "-p:") || strings.HasPrefix(lower, "/") || strings.HasPrefix(lower, "@") ||
			strings.HasPrefix(lower, "-property") || strings.HasPrefix(lower, "--property") {
			c.flagged(w.Text)
			continue
		}
		rest = append(rest, w)
	}
	c.apply(build("-s --settings --test-adapter-path --diag -d -a", "-o --output -r --results-directory --report"),
		rest)
}
