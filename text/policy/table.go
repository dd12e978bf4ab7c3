package policy

import (
	"slices"
	"strings"
	"sync"

	"pawl/text/shell"
)

// row is what is known of the commands whose names, separated by blanks, it begins with. Behind "program: " stand the
// names of subcommands of a program that is judged by its first argument.
type row struct {
	names string
	rule
}

// commands are what is known of commands by their names.
type commands struct {
	programs    map[string]rule            // judged by their arguments as a whole
	subcommands map[string]map[string]rule // judged by their first argument
	words       map[string]func(*command)  // wrappers of other commands and builtins of the shell
	dangers     map[string][]danger        // what cannot be taken back
}

// The table is filled when it is first needed, because most starts of the program judge no command. It has no initial
// value: the judgements in its rows look other commands up in it.
var (
	tableOnce sync.Once
	table     commands
)

// known returns what is known of commands.
func known() *commands {
	tableOnce.Do(func() {
		table = commands{
			map[string]rule{}, map[string]map[string]rule{}, map[string]func(*command){}, map[string][]danger{},
		}
		for _, r := range rows() {
			program, subs, ok := strings.Cut(r.names, ": ")
			into := table.programs
			if ok {
				if into = table.subcommands[program]; into == nil {
					into = map[string]rule{}
					table.subcommands[program] = into
				}
				r.names = subs
			}
			for _, name := range strings.Fields(r.names) {
				into[name] = r.rule
			}
		}
		for _, w := range shellWords() {
			for _, name := range strings.Fields(w.names) {
				table.words[name] = w.judge
			}
		}
		for _, d := range dangers {
			for _, name := range strings.Fields(d.names) {
				table.dangers[name] = append(table.dangers[name], d)
			}
		}
	})
	return &table
}

// build is the rule of a command that runs the project's own tools, unless one of the options is given. Letters may
// have their value attached and long names may be cut short, as most option parsers allow.
func build(ask, out string) rule {
	return rule{class: builds, ask: ask, out: out, exact: true, short: true}
}

// runs is the rule of a command that runs the project's own tools and whose arguments need a judgement of their own.
func runs(check func(*command, []shell.Word)) rule { return rule{class: builds, check: check} }

// changes is that of a command that changes the files which it names.
func changes(check func(*command, []shell.Word)) rule { return rule{class: writes, check: check} }

// goOut are the options of the go command whose value is a file that it writes.
const goOut = "-coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace -outputdir " +
	"-test.coverprofile -json-file"

// rows are the rules of programs. The zero rule is that of a command that reads the files which it names and has no
// option that does anything else; with text, no operand of it is a file.
func rows() []row { return slices.Concat(fileRows(), toolRows(), subcommandRows()) }

func fileRows() []row {
	return []row{
		{"cat tac head tail nl wc rev fold fmt expand unexpand paste join comm column od hexdump cksum sum md5sum " +
			"sha1sum sha256sum sha512sum b2sum ls dir vdir stat du df realpath readlink cmp tsort base64 base32 " +
			"strings shellcheck", rule{}},
		{"basename dirname seq sleep nproc uname arch id whoami groups tty expr tr which whereis printenv uptime " +
			"free ps numfmt factor getconf locale cal yes clear", rule{text: true}},
		{"cut", rule{prose: "-d --delimiter --output-delimiter"}},
		{"diff", rule{ask: "-l --paginate"}},
		{"file", rule{ask: "-C --compile -z -Z --uncompress -f --files-from"}},
		{"tree", rule{ask: "-o --output --fromfile -R"}},
		{"shuf", rule{ask: "-o --output"}},
		{"uniq", rule{most: 1}},
		{"xxd", rule{ask: "-r --revert", most: 1}},
		{"sort", rule{ask: "-o -T --output --compress-program --temporary-directory --files0-from",
			prose: "-t --field-separator -k --key"}},
		{"date", rule{ask: "-s --set"}},
		{"grep egrep fgrep", rule{lead: 1, leadless: "-e --regexp -f --file",
			prose: "--include --exclude --exclude-dir --color --colour --regexp --label"}},
		{"rg", rule{ask: "--pre --pre-glob --hostname-bin -z --search-zip --ignore-file", lead: 1,
			leadless: "-e --regexp -f --file --files --type-list",
			prose: "-g --glob --iglob -t -T --type --type-not --regexp --replace -r --sort --sortr --color " +
				"--colors"}},
		{"fd fdfind", rule{lead: 1, ask: "-x -X -C --exec --exec-batch --gen-completions --base-directory " +
			"--search-path --ignore-file"}},
		{"jq", rule{lead: 1, ask: "-f -L --from-file --run-tests --library-path", shun: "import include"}},
		{"find", rule{check: checkFind}},
		{"sed", rule{check: checkSed}},
		{"awk gawk mawk", rule{check: checkAwk}},

		{"touch tee", rule{class: writes}},
		{"mkdir", rule{class: writes, prose: "-m --mode"}},
		{"truncate", rule{class: writes, prose: "-s --size"}},
		{"cp mv", changes(checkCopy)},
		{"chmod", changes(checkMode)},
		{"rm rmdir unlink", changes(checkRemove)},
		{"tar", changes(checkTar)},
		{"unzip", rule{check: checkUnzip}},
		{"git", rule{check: checkGit}},
	}
}

func toolRows() []row {
	return []row{
		{"shfmt yamllint hadolint clang-format black isort prettier biome ./node_modules/.bin/prettier", build("", "")},
		{"gofmt gofumpt", build("-cpuprofile", "")},
		{"goimports", build("-cpuprofile -memprofile -trace", "")},
		{"staticcheck", build("-debug.cpuprofile -debug.memprofile -debug.trace", "")},
		{"actionlint", build("-shellcheck -pyflakes", "")},
		{"markdownlint bandit", build("", "-o --output")},
		{"clang-tidy", build("-load", "-export-fixes --export-fixes")},
		{"pytest py.test", build("-p -c -o --override-ini --basetemp --rootdir --confcutdir --pastebin --debug "+
			"--pdbcls --config-file", "--junitxml --junit-xml --report-log --html --log-file")},
		{"mypy", build("--python-executable --install-types --custom-typeshed-dir --cache-dir",
			"--junit-xml --html-report --txt-report")},
		{"flake8 stylelint", build("", "--output-file")},
		{"pylint", build("--init-hook --load-plugins", "--output")},
		{"pyright", build("--pythonpath --createstub", "")},
		{"eslint node_modules/.bin/eslint ./node_modules/.bin/eslint",
			build("--init --parser --rulesdir --resolve-plugins-relative-to",
				"-o --output-file --cache-location --cache-file")},
		{"tsc", build("", "--outDir --outFile --declarationDir --tsBuildInfoFile --generateTrace "+
			"--generateCpuProfile")},
		{"./node_modules/.bin/tsc", build("", "--outDir --outFile")},
		{"jest vitest mocha ava ./node_modules/.bin/jest",
			build("--ui --globalSetup --testRunner --resolver --inspect --inspect-brk",
				"--outputFile --coverageDirectory --cacheDirectory")},
		{"rspec", build("-o --out", "")},
		{"rubocop", build("--plugin", "-o --out")},
		{"phpunit vendor/bin/phpunit ./vendor/bin/phpunit",
			build("--prepend --bootstrap --include-path -d --generate-configuration",
				"--coverage-html --coverage-clover --coverage-text --log-junit --cache-directory")},
		{"phpstan vendor/bin/phpstan", build("-a --autoload-file", "")},
		{"rustfmt", build("--config", "")},
		{"ninja", build("-t -f", "")},
		{"ctest", build("-S -SP -D -M -T --script --build-and-test --dashboard --extra-submit --overwrite",
			"-O --output-log --output-junit")},
		{"cmake", runs(checkCMake)},
		{"make gmake", runs(checkMake)},
		{"mvn ./mvnw", runs(checkTasks(mavenTasks))},
		{"gradle ./gradlew", runs(checkTasks(gradleTasks))},
		{"node", runs(checkNode)},
		{"python python3", runs(checkPython)},
		{"npx", runs(checkNpx)},
		{"php", runs(checkPHP)},
		{"ruby", runs(checkRubySyntax)},
	}
}

func subcommandRows() []row {
	flutter := build("--packages --dart-define-from-file --precompiled --local-engine --fatal",
		"--coverage-path -o --output")
	return []row{
		{"go: build test vet list fix", runs(checkGo)},
		{"go: fmt", build("-toolexec -exec -vettool -overlay -gccgoflags -compiler -pkgdir -modcacherw -C -work "+
			"-ldflags -gcflags -asmflags -o -modfile -args", "")},
		{"go: version", rule{}},
		{"go: doc", rule{text: true, ask: "-http", exact: true}},
		{"go: help", rule{text: true}},
		{"go: env", rule{text: true, only: "-json -changed"}},
		{"go: mod", runs(checkGoMod)},
		{"go: tool", runs(checkGoTool)},
		{"go: get", runs(checkFetch)},
		{"golangci-lint: run fmt linters", build("--cpu-profile-path --mem-profile-path --trace-path", "--out")},
		{"golangci-lint: version", rule{text: true}},
		{"npm: test t tst", runs(checkPackageScript)},
		{"npm: run run-script", runs(checkScript)},
		{"npm: ls list", rule{only: "--depth --all -a --json"}},
		{"npm: ci install i add update audit view outdated", runs(checkFetch)},
		{"yarn: test lint build typecheck format check", runs(checkPackageScript)},
		{"yarn: run", runs(checkScript)},
		{"yarn: install add", runs(checkFetch)},
		{"pnpm: test lint build typecheck format check", runs(checkPackageScript)},
		{"pnpm: run -r", runs(checkScript)},
		{"pnpm: install i add", runs(checkFetch)},
		{"bun: test", build("--preload -r --config", "--coverage-dir")},
		{"bun: run", runs(checkScript)},
		{"bun: install add", runs(checkFetch)},
		{"deno: test lint fmt check", build("-A --allow-all --allow-run --allow-net --allow-ffi --allow-write "+
			"--allow-env --allow-sys --import-map --config -c", "--coverage")},
		{"ruff: check", build("", "-o --output-file")},
		{"ruff: format", build("", "")},
		{"ruff: rule version", rule{text: true}},
		{"coverage: run", runs(checkCoverage)},
		{"coverage: report", build("--rcfile", "")},
		{"coverage: html", build("--rcfile", "-d --directory")},
		{"coverage: xml", build("--rcfile", "-o")},
		{"cargo: test t build b check c fmt clippy doc tree metadata bench nextest fix",
			build("--config -Z -C --target-dir --artifact-dir --out-dir --lockfile-path", "")},
		{"cargo: fetch add update install", runs(checkFetch)},
		{"dotnet: test build format", runs(checkDotnet)},
		{"dotnet: restore add", runs(checkFetch)},
		{"bundle: exec", runs(checkBundle)},
		{"bundle: check list", rule{text: true}},
		{"bundle: install update", runs(checkFetch)},
		{"rake: test spec lint rubocop", build("-f -r -I -e -E -p --rakefile --require --libdir --execute", "")},
		{"rails: test", build("-r --require", "")},
		{"composer: test validate lint", rule{text: true}},
		{"composer: install update require", runs(checkFetch)},
		{"flutter: test analyze", flutter},
		{"flutter: doctor", rule{text: true}},
		{"flutter: pub", runs(checkFetch)},
		{"dart: analyze test format fix", flutter},
		{"dart: pub", runs(checkFetch)},
	}
}
