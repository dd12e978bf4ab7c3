package policy

import "sync"

// look is the rule of a command that reads the files which it names and has no option that does anything else.
func look() rule { return rule{} }

// lookBut is the rule of a command that reads the files which it names, unless one of the options is given.
func lookBut(ask string) rule { return rule{ask: ask} }

// words is the rule of a command whose operands are text.
func words() rule { return rule{text: true} }

// build is the rule of a command that runs the project's own tools, unless one of the options is given. Letters may have
// their value attached and long names may be cut short, as most option parsers allow.
func build(ask, out string) rule {
	return rule{class: builds, ask: ask, out: out, exact: true, short: true}
}

// fetch is the rule of a command that fetches dependencies.
func fetch() rule {
	return rule{class: builds, special: specialFetch}
}

// goFlags are the options of the go command that make it run another program or use another place.
const (
	goFlags = "-toolexec -exec -vettool -overlay -gccgoflags -compiler -pkgdir -modcacherw -C -work -ldflags -gcflags -asmflags -o -modfile -args"
	goOut   = "-coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace -outputdir -test.coverprofile -json-file"
)

// programs are the commands that are judged by their arguments as a whole. The tables are made when they are first needed,
// because most starts of the program judge no command.
var programs = sync.OnceValue(func() map[string]rule {
	return map[string]rule{
		"cat": look(), "tac": look(), "head": look(), "tail": look(), "nl": look(), "wc": look(),
		"cut": {prose: "-d --delimiter --output-delimiter"}, "rev": look(), "fold": look(), "fmt": look(), "expand": look(),
		"unexpand": look(), "paste": look(), "join": look(), "comm": look(), "column": look(), "od": look(), "hexdump": look(),
		"cksum": look(), "sum": look(), "md5sum": look(), "sha1sum": look(), "sha256sum": look(), "sha512sum": look(),
		"b2sum": look(), "ls": look(), "dir": look(), "vdir": look(), "stat": look(), "du": look(), "df": look(),
		"realpath": look(), "readlink": look(), "cmp": look(), "tsort": look(), "base64": look(), "base32": look(), "strings": look(),
		"diff": lookBut("-l --paginate"), "file": lookBut("-C --compile -z -Z --uncompress -f --files-from"),
		"tree": lookBut("-o --output --fromfile -R"), "shuf": lookBut("-o --output"),
		"uniq": {most: 1}, "xxd": {ask: "-r --revert", most: 1},
		"sort":     {ask: "-o -T --output --compress-program --temporary-directory --files0-from", prose: "-t --field-separator -k --key"},
		"basename": words(), "dirname": words(), "seq": words(), "sleep": words(), "nproc": words(), "uname": words(), "arch": words(),
		"id": words(), "whoami": words(), "groups": words(), "tty": words(), "expr": words(), "tr": words(), "which": words(),
		"whereis": words(), "printenv": words(), "uptime": words(), "free": words(), "ps": words(), "numfmt": words(),
		"factor": words(), "getconf": words(), "locale": words(), "cal": words(), "yes": words(), "clear": words(),
		"date": {ask: "-s --set"},
		"grep": grepRule(), "egrep": grepRule(), "fgrep": grepRule(),
		"rg": {ask: "--pre --pre-glob --hostname-bin -z --search-zip --ignore-file", exact: false, lead: 1, leadless: "-e --regexp -f --file --files --type-list",
			prose: "-g --glob --iglob -t -T --type --type-not --regexp --replace -r --sort --sortr --color --colors"},
		"fd": fdRule(), "fdfind": fdRule(),
		"jq":   {lead: 1, ask: "-f -L --from-file --run-tests --library-path", shun: "import include"},
		"find": {special: specialFind}, "sed": {special: specialSed}, "awk": {special: specialAwk}, "gawk": {special: specialAwk}, "mawk": {special: specialAwk},

		"touch": {class: writes}, "mkdir": {class: writes, prose: "-m --mode"}, "tee": {class: writes}, "truncate": {class: writes, prose: "-s --size"},
		"cp": {class: writes, special: specialCopy}, "mv": {class: writes, special: specialCopy}, "chmod": {class: writes, special: specialMode},
		"rm": {class: writes, special: specialRemove}, "rmdir": {class: writes, special: specialRemove}, "unlink": {class: writes, special: specialRemove},
		"tar": {class: writes, special: specialTar}, "unzip": {ask: "-x -o -n -d -p", special: specialUnzip}, "git": {special: specialGit},

		"gofmt": build("-cpuprofile", ""), "goimports": build("-cpuprofile -memprofile -trace", ""), "gofumpt": build("-cpuprofile", ""),
		"staticcheck": build("-debug.cpuprofile -debug.memprofile -debug.trace", ""),
		"shellcheck":  lookBut(""), "shfmt": build("", ""), "yamllint": build("", ""), "actionlint": build("-shellcheck -pyflakes", ""),
		"hadolint": build("", ""), "markdownlint": build("", "-o --output"), "clang-format": build("", ""), "clang-tidy": build("-load", "-export-fixes --export-fixes"),

		"pytest": pytestRule(), "py.test": pytestRule(),
		"mypy":   build("--python-executable --install-types --custom-typeshed-dir --cache-dir", "--junit-xml --html-report --txt-report"),
		"flake8": build("", "--output-file"), "black": build("", ""), "isort": build("", ""), "pylint": build("--init-hook --load-plugins", "--output"),
		"pyright": build("--pythonpath --createstub", ""), "bandit": build("", "-o --output"),
		"eslint": eslintRule(), "prettier": build("", ""), "tsc": build("", "--outDir --outFile --declarationDir --tsBuildInfoFile --generateTrace --generateCpuProfile"),
		"jest": jestRule(), "vitest": jestRule(), "mocha": jestRule(), "ava": jestRule(), "stylelint": build("", "--output-file"), "biome": build("", ""),
		"rspec": build("-o --out", ""), "rubocop": build("--plugin", "-o --out"), "phpunit": phpunitRule(), "vendor/bin/phpunit": phpunitRule(),
		"./vendor/bin/phpunit": phpunitRule(), "phpstan": build("-a --autoload-file", ""), "vendor/bin/phpstan": build("-a --autoload-file", ""),
		"node_modules/.bin/eslint": eslintRule(), "./node_modules/.bin/eslint": eslintRule(), "./node_modules/.bin/prettier": build("", ""),
		"./node_modules/.bin/tsc": build("", "--outDir --outFile"), "./node_modules/.bin/jest": jestRule(), "rustfmt": build("--config", ""),
		"ninja": build("-t -f", ""), "ctest": build("-S -SP -D -M -T --script --build-and-test --dashboard --extra-submit --overwrite", "-O --output-log --output-junit"),
		"cmake": {class: builds, special: specialCMake}, "make": {class: builds, special: specialMake}, "gmake": {class: builds, special: specialMake},
		"mvn": {class: builds, special: specialMaven}, "./mvnw": {class: builds, special: specialMaven},
		"gradle": {class: builds, special: specialGradle}, "./gradlew": {class: builds, special: specialGradle},
		"node": {class: builds, special: specialNode}, "python": {class: builds, special: specialPython}, "python3": {class: builds, special: specialPython},
		"npx": {class: builds, special: specialNpx}, "php": {class: builds, special: specialPHP}, "ruby": {class: builds, special: specialRubySyntax},
	}
})

// subcommands are the commands that are judged by their first argument.
var subcommands = sync.OnceValue(func() map[string]map[string]rule {
	return map[string]map[string]rule{
		"go": {
			"build": goRule(), "test": goRule(), "vet": goRule(), "list": goRule(), "fmt": build(goFlags, ""), "fix": goRule(),
			"version": look(), "doc": {text: true, ask: "-http", exact: true}, "help": words(), "env": {text: true, only: "-json -changed"}, "mod": {class: builds, special: specialGoMod},
			"tool": {class: builds, special: specialGoTool}, "get": fetch(),
		},
		"golangci-lint": {"run": golangciRule(), "fmt": golangciRule(), "linters": golangciRule(), "version": words()},
		"npm": {
			"test": npmRule(), "t": npmRule(), "tst": npmRule(), "run": {class: builds, special: specialScript}, "run-script": {class: builds, special: specialScript},
			"ls": {only: "--depth --all -a --json"}, "list": {only: "--depth --all -a --json"}, "ci": fetch(), "install": fetch(), "i": fetch(), "add": fetch(),
			"update": fetch(), "audit": fetch(), "view": fetch(), "outdated": fetch(),
		},
		"yarn": {
			"test": npmRule(), "lint": npmRule(), "build": npmRule(), "run": {class: builds, special: specialScript}, "install": fetch(), "add": fetch(),
			"typecheck": npmRule(), "format": npmRule(), "check": npmRule(),
		},
		"pnpm": {
			"test": npmRule(), "lint": npmRule(), "build": npmRule(), "run": {class: builds, special: specialScript}, "install": fetch(), "i": fetch(),
			"add": fetch(), "typecheck": npmRule(), "format": npmRule(), "check": npmRule(), "-r": {class: builds, special: specialScript},
		},
		"bun":  {"test": build("--preload -r --config", "--coverage-dir"), "run": {class: builds, special: specialScript}, "install": fetch(), "add": fetch()},
		"deno": {"test": denoRule(), "lint": denoRule(), "fmt": denoRule(), "check": denoRule()},
		"ruff": {"check": build("", "-o --output-file"), "format": build("", ""), "rule": words(), "version": words()},
		"coverage": {
			"run": {class: builds, special: specialCoverage}, "report": build("--rcfile", ""), "html": build("--rcfile", "-d --directory"),
			"xml": build("--rcfile", "-o"),
		},
		"cargo": {
			"test": cargoRule(), "t": cargoRule(), "build": cargoRule(), "b": cargoRule(), "check": cargoRule(), "c": cargoRule(), "fmt": cargoRule(),
			"clippy": cargoRule(), "doc": cargoRule(), "tree": cargoRule(), "metadata": cargoRule(), "bench": cargoRule(), "nextest": cargoRule(),
			"fix": cargoRule(), "fetch": fetch(), "add": fetch(), "update": fetch(), "install": fetch(),
		},
		"dotnet":   {"test": dotnetRule(), "build": dotnetRule(), "format": dotnetRule(), "restore": fetch(), "add": fetch()},
		"bundle":   {"exec": {class: builds, special: specialBundle}, "check": words(), "list": words(), "install": fetch(), "update": fetch()},
		"rake":     {"test": rakeRule(), "spec": rakeRule(), "lint": rakeRule(), "rubocop": rakeRule()},
		"rails":    {"test": build("-r --require", "")},
		"composer": {"test": words(), "validate": words(), "lint": words(), "install": fetch(), "update": fetch(), "require": fetch()},
		"flutter": {
			"test": flutterRule(), "analyze": flutterRule(), "pub": fetch(), "doctor": words(),
		},
		"dart": {
			"analyze": flutterRule(), "test": flutterRule(), "format": flutterRule(), "fix": flutterRule(), "pub": fetch(),
		},
	}
})

func goRule() rule {
	return rule{class: builds, special: specialGo}
}

func fdRule() rule {
	return rule{lead: 1, ask: "-x -X -C --exec --exec-batch --gen-completions --base-directory --search-path --ignore-file"}
}

func grepRule() rule {
	return rule{lead: 1, leadless: "-e --regexp -f --file", prose: "--include --exclude --exclude-dir --color --colour --regexp --label"}
}

func golangciRule() rule { return build("--cpu-profile-path --mem-profile-path --trace-path", "--out") }

func pytestRule() rule {
	return build("-p -c -o --override-ini --basetemp --rootdir --confcutdir --pastebin --debug --pdbcls --config-file", "--junitxml --junit-xml --report-log --html --log-file")
}

func eslintRule() rule {
	return build("--init --parser --rulesdir --resolve-plugins-relative-to", "-o --output-file --cache-location --cache-file")
}

func jestRule() rule {
	return build("--ui --globalSetup --testRunner --resolver --inspect --inspect-brk", "--outputFile --coverageDirectory --cacheDirectory")
}

func phpunitRule() rule {
	return build("--prepend --bootstrap --include-path -d --generate-configuration", "--coverage-html --coverage-clover --coverage-text --log-junit --cache-directory")
}

func npmRule() rule { return rule{class: builds, special: specialPackageScript} }

func denoRule() rule {
	return build("-A --allow-all --allow-run --allow-net --allow-ffi --allow-write --allow-env --allow-sys --import-map --config -c", "--coverage")
}

func cargoRule() rule {
	return build("--config -Z -C --target-dir --artifact-dir --out-dir --lockfile-path", "")
}

func dotnetRule() rule { return rule{class: builds, special: specialDotnet} }

func rakeRule() rule { return build("-f -r -I -e -E -p --rakefile --require --libdir --execute", "") }

func flutterRule() rule {
	return build("--packages --dart-define-from-file --precompiled --local-engine --fatal", "--coverage-path -o --output")
}
