package policy

import (
	"slices"
	"strings"
)

// checkGo judges go build, test, vet and the like.
func checkGo(c *command, args []word) {
	r := rule{class: builds, ask: "-toolexec -exec -vettool -fixtool -overlay -gccgoflags -compiler -pkgdir -modcacherw -work", exact: true,
		out: goOut + " -o -c-out", prose: "-run -bench -skip -fuzz -tags -ldflags -gcflags -asmflags -f -list -count -timeout -coverpkg -cpu"}
	var rest []word
	for i := 0; i < len(args); i++ {
		w := args[i]
		name, value, joined := strings.Cut(w.text, "=")
		switch name = "-" + strings.TrimLeft(name, "-"); {
		case !w.flag() || w.dynamic:
			rest = append(rest, w)
		case name == "-args":
			i = len(args) // the rest is for the test binary, which is the project's own code
		case name == "-ldflags" || name == "-gcflags" || name == "-asmflags":
			if !joined && i+1 < len(args) {
				i++
				value = args[i].text
				if args[i].dynamic {
					c.judge.guess(args[i])
				}
			}
			if !harmlessToolFlags(value) {
				c.flagged(w.text)
			}
		case slices.Contains([]string{"-run", "-bench", "-skip", "-fuzz", "-f", "-tags", "-list"}, name) && !joined:
			i++ // the next word is a regular expression or a template
			if i < len(args) && args[i].dynamic {
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
func checkGoMod(c *command, args []word) {
	if len(args) == 0 {
		return
	}
	switch args[0].text {
	case "verify", "graph", "why", "tidy":
		c.apply(build("-C -modfile -modcacherw -overlay", ""), args[1:])
	case "download":
		judgeFetch(c)
	default:
		c.unknown()
	}
}

// checkGoTool lets coverage be shown.
func checkGoTool(c *command, args []word) {
	if len(args) == 0 || args[0].text != "cover" {
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
	"test", "tests", "unit", "lint", "build", "check", "checks", "typecheck", "type", "types", "tsc", "format", "fmt", "prettier",
	"eslint", "coverage", "cover", "compile", "verify", "vet", "validate", "bench", "race", "golden", "docs", "doc", "help", "ci", "tidy", "stylecheck",
}

// checkPackageScript judges npm test and its like. The options of npm are settings, some of which name programs, so none
// but those that choose a workspace pass; even quiet ones would hide which script ran.
func checkPackageScript(c *command, args []word) {
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case w.text == "--":
			return // the rest is for the project's own script
		case w.dynamic:
			c.judge.guess(w)
		case !w.flag():
			c.judge.file(w, OpRead, c.cwds)
		case w.text == "-w" || w.text == "--workspace" || w.text == "--filter" || w.text == "-F":
			if i++; i < len(args) {
				c.judge.file(args[i], OpRead, c.cwds)
			}
		case strings.HasPrefix(w.text, "--workspace=") || strings.HasPrefix(w.text, "--filter=") ||
			slices.Contains([]string{"--workspaces", "-ws", "--if-present", "-r", "--recursive"}, w.text):
		case c.name == "npm" || c.name == "pnpm":
			c.flagged(w.text)
		case hasAny(w.text, "script-shell", "cwd", "config", "require", "preload"):
			c.flagged(w.text)
		}
	}
}

// checkScript judges npm run and its like by the name of the script.
func checkScript(c *command, args []word) {
	for len(args) > 0 && slices.Contains([]string{"--if-present", "--workspaces", "-ws", "-r", "run"}, args[0].text) {
		args = args[1:]
	}
	if len(args) == 0 || args[0].unsure() || !routine(args[0].text) {
		c.unknown()
		return
	}
	checkPackageScript(c, args[1:])
}

// checkNpx judges npx with a tool that projects install.
func checkNpx(c *command, args []word) {
	for len(args) > 0 && (args[0].text == "--no-install" || args[0].text == "--no" || args[0].text == "--") {
		args = args[1:]
	}
	if len(args) > 0 && !args[0].unsure() &&
		slices.Contains([]string{"eslint", "prettier", "tsc", "jest", "vitest", "mocha", "ava", "stylelint", "biome"}, args[0].text) {
		c.apply(known().programs[args[0].text], args[1:])
		return
	}
	c.unknown()
}

// checkNode lets node run the project's tests and check syntax.
func checkNode(c *command, args []word) {
	if len(args) == 0 || args[0].text != "--test" && args[0].text != "--check" && args[0].text != "-c" {
		c.unknown()
		return
	}
	c.apply(rule{class: builds, exact: true, only: "--test-name-pattern --test-reporter --test-only --test-concurrency --experimental-test-coverage --test-timeout"}, args[1:])
}

// pythonModules are the modules that python -m may run.
var pythonModules = []string{"pytest", "unittest", "mypy", "black", "ruff", "flake8", "isort", "pylint", "coverage", "compileall", "py_compile"}

// checkPython lets python run checks that are installed as modules.
func checkPython(c *command, args []word) {
	if len(args) < 2 || args[0].text != "-m" || args[1].unsure() || !slices.Contains(pythonModules, args[1].text) {
		c.unknown()
		return
	}
	name, rest := args[1].text, args[2:]
	if r, ok := known().programs[name]; ok {
		c.apply(r, rest)
		return
	}
	if table, ok := known().subcommands[name]; ok {
		if len(rest) > 0 {
			if r, ok := table[rest[0].text]; ok && !rest[0].expanded {
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
func checkCoverage(c *command, args []word) {
	for len(args) > 0 && (args[0].text == "--branch" || args[0].text == "-p" || strings.HasPrefix(args[0].text, "--source=")) {
		args = args[1:]
	}
	checkPython(c, args)
}

// checkPHP lets php check syntax and run the tests of the framework.
func checkPHP(c *command, args []word) {
	switch {
	case len(args) == 2 && args[0].text == "-l":
		c.judge.file(args[1], OpRead, c.cwds)
	case len(args) > 1 && args[0].text == "artisan" && args[1].text == "test":
		c.apply(known().programs["phpunit"], args[2:])
	case len(args) > 0 && args[0].text == "vendor/bin/phpunit":
		c.apply(known().programs["phpunit"], args[1:])
	default:
		c.unknown()
	}
}

// checkRubySyntax lets ruby check syntax.
func checkRubySyntax(c *command, args []word) {
	if len(args) > 1 && args[0].text == "-c" {
		c.operandPaths(args[1:])
		return
	}
	c.unknown()
}

// checkBundle judges bundle exec by the command that it runs.
func checkBundle(c *command, args []word) {
	if len(args) > 0 && slices.Contains([]string{"rspec", "rake", "rubocop", "rails"}, args[0].text) && !args[0].expanded {
		inner := &command{judge: c.judge, name: args[0].text, argv: args, args: args[1:], cwds: c.cwds}
		inner.program()
		return
	}
	c.unknown()
}

// checkMake lets make reach targets whose names are those of checks. Without a target it does whatever comes first in the
// file, so that is asked for.
func checkMake(c *command, args []word) {
	targets := 0
	for i := 0; i < len(args); i++ {
		w := args[i]
		name, _, assigned := strings.Cut(w.text, "=")
		switch {
		case w.unsure() || w.pattern:
			c.judge.guess(w)
		case w.text == "-C" && i+1 < len(args):
			i++
			c.judge.file(args[i], OpRead, c.cwds)
		case w.text == "-j" && i+1 < len(args) && number(args[i+1].text):
			i++
		case slices.Contains([]string{"-k", "-B", "-j", "--keep-going", "--always-make", "--no-print-directory"}, w.text),
			strings.HasPrefix(w.text, "-j") && number(w.text[2:]), strings.HasPrefix(w.text, "--jobs="):
		case w.flag():
			c.flagged(w.text)
		case assigned:
			if name != "V" && name != "VERBOSE" {
				c.flagged(w.text)
			}
		default:
			targets++
			if !routine(w.text) {
				c.unknown()
			}
		}
	}
	if targets == 0 {
		c.unknown()
	}
}

// checkCMake lets cmake configure and build.
func checkCMake(c *command, args []word) {
	const valued, plain = "-G --target -t --config --parallel -j --preset", "-Wno-dev --clean-first --verbose"
	folders := map[string]Op{"-S": OpRead, "-B": OpWrite, "--build": OpWrite}
	for i := 0; i < len(args); i++ {
		w := args[i]
		define, defines := strings.CutPrefix(w.text, "-D")
		if defines && define == "" && i+1 < len(args) {
			i++
			w, define = args[i], args[i].text
		}
		switch {
		case w.dynamic:
			c.judge.guess(w)
		case defines:
			if !harmlessDefinition(define) {
				c.flagged(w.text)
			}
		case folders[w.text] != "" && i+1 < len(args):
			i++
			c.judge.file(args[i], folders[w.text], c.cwds)
		case len(w.text) > 2 && hasAnyPrefix(w.text, "-S", "-B"):
			c.judge.file(word{text: w.text[2:], pattern: w.pattern}, OpWrite, c.cwds)
		case listed(valued, w.text):
			if i+1 < len(args) && !args[i+1].flag() {
				i++
			}
			if w.text == "--target" && args[i].text == "install" {
				c.flagged("install")
			}
		case strings.HasPrefix(w.text, "-j"), listed(plain, w.text):
		case w.flag():
			c.flagged(w.text)
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
func checkTasks(t tasks) func(c *command, args []word) {
	return func(c *command, args []word) {
		asked := 0
		for i := 0; i < len(args); i++ {
			w := args[i]
			task := w.text
			if t.paths {
				task = task[strings.LastIndexByte(task, ':')+1:]
			}
			switch {
			case w.unsure():
				c.judge.guess(w)
			case listed(t.valued, w.text):
				i++
			case listed(t.plain, w.text), hasAnyPrefix(w.text, strings.Fields(t.starts)...):
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
func checkDotnet(c *command, args []word) {
	var rest []word
	for _, w := range args {
		lower := strings.ToLower(w.text)
		if strings.HasPrefix(lower, "-p:") || strings.HasPrefix(lower, "/") || strings.HasPrefix(lower, "@") || strings.HasPrefix(lower, "-property") || strings.HasPrefix(lower, "--property") {
			c.flagged(w.text)
			continue
		}
		rest = append(rest, w)
	}
	c.apply(build("-s --settings --test-adapter-path --diag -d -a", "-o --output -r --results-directory --report"), rest)
}
