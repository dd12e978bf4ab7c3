package judges

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// definitions are the files, by pattern of path.Match, that say how a project is checked. go.mod is not among them:
// work changes it every day, and Module says what of it counts.
var definitions = strings.Fields(`
	Makefile makefile GNUmakefile *.mk CMakeLists.txt meson.build justfile Justfile Taskfile.yml Taskfile.yaml
	run_tests.sh run-tests.sh BUILD BUILD.bazel WORKSPACE WORKSPACE.bazel MODULE.bazel .bazelrc
	package.json .eslintrc* eslint.config.* .eslintignore .prettierrc* prettier.config.* .prettierignore .stylelintrc*
	biome.json* tsconfig*.json jsconfig.json jest.config.* .jestrc* vitest.config.* vitest.workspace.* vite.config.*
	playwright.config.* cypress.config.* karma.conf.* ava.config.* .taprc .nycrc* .c8rc* .mocharc* babel.config.*
	.babelrc* .swcrc .npmrc .yarnrc* .pnpmfile.cjs pnpm-workspace.yaml turbo.json nx.json deno.json* bunfig.toml
	pyproject.toml setup.cfg tox.ini tox.toml noxfile.py pytest.ini .pytest.ini pytest.toml .pytest.toml conftest.py nose.cfg
	.noserc unittest.cfg mypy.ini .mypy.ini ruff.toml .ruff.toml .flake8 .pylintrc .coveragerc sitecustomize.py
	usercustomize.py entry_points.txt .envrc
	.golangci.y*ml .golangci.toml .golangci.json go.work go.env
	Cargo.toml build.rs rust-toolchain rust-toolchain.toml clippy.toml .clippy.toml rustfmt.toml .rustfmt.toml nextest.toml
	pom.xml build.gradle* settings.gradle* gradle.properties gradle-wrapper.properties analysis_options.yaml dart_test.yaml
	build.sbt build.xml
	Directory.Build.props Directory.Build.targets *.runsettings .editorconfig global.json xunit.runner.json
	Rakefile .rspec .rubocop.yml composer.json phpunit.xml* phpunit.dist.xml phpstan.neon* phpstan.dist.neon
	.php-cs-fixer*.php
	.tool-versions mise.toml .mise.toml .python-version .node-version .nvmrc .ruby-version .go-version
	.pre-commit-config.yaml .gitlab-ci.yml Jenkinsfile .travis.yml azure-pipelines.yml bitbucket-pipelines.yml .drone.yml
	appveyor.yml .cirrus.yml`)

// Dirs are folders of the root whose files all say how checks run: continuous integration, and the settings that a
// build tool reads before anything else (a test runner can be replaced there).
var Dirs = []string{".cargo", ".mvn", ".bundle", ".config", ".github/workflows", ".github/actions", ".ci", "ci", ".circleci",
	".buildkite", ".gitlab", ".woodpecker"}

// Defines reports whether a file says how a project is checked, by its name.
func Defines(name string) bool {
	base := path.Base(name)
	return slices.ContainsFunc(definitions, func(pattern string) bool {
		ok, _ := path.Match(pattern, base)
		return ok
	})
}

// configures is about files that say how checks run wherever they stand: those that a check read. Those near the root
// are compared with what they were when the plan was made, whether they are read or not.
func (k *known) configures(name string) bool { return Defines(name) && k.Read[name] }

var (
	// scriptWord matches a word of a recipe that may name a script of the project by its ending.
	scriptWord = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:\./)?[A-Za-z0-9_][A-Za-z0-9_./-]*\.(?:sh|bash|mk|py|js|mjs|cjs|ts|rb|pl|php)\b`)
	})
	// plainWord matches one that may name a script without an ending: a path, or what a shell is told to run.
	plainWord = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:^|[\s;&|(@"'=])(?:\./)?([A-Za-z0-9_.-]+(?:/[A-Za-z0-9_-]+)+)(?:$|[\s;&|)"'])|` +
			`(?:^|[\s;&|(@"'=])(?:(?:ba|da|z)?sh|source|\.|python3?|node|perl|ruby)\s+(?:-[a-z]+\s+)*(?:\./)?([A-Za-z0-9_-]+)(?:$|[\s;&|)"'])|` +
			`(?:^|[\s;&|(@"'=])\./([A-Za-z0-9_-]+)(?:$|[\s;&|)"'])`)
	})
	// testWord tells tests from scripts: a test is work, and changing one is judged elsewhere.
	testWord = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(^|/)(tests?|specs?|__tests__)/|(^|/)test[_.]|[_.](test|spec)\.[a-z]+$|(^|/)tests?\.[a-z]+$`)
	})
	// scriptDir matches what lies in folders for scripts that build and check, which are no programs of the project.
	scriptDir = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:[^/]+/)*?(?:tools?|scripts?|hack|ci|\.ci|build|etc|mk|make)/[^/]*$`)
	})
)

// Scripts are the paths that a recipe may name as scripts of the project, tests left out; "" for the folder is the
// root. Whether there is such a file is for the caller to see.
func Scripts(dir, recipe string) []string {
	words := scriptWord().FindAllString(recipe, 200)
	for _, m := range plainWord().FindAllStringSubmatch(recipe, 200) {
		words = append(words, m[1]+m[2]+m[3])
	}
	var out []string
	for _, w := range words {
		if p := path.Join(dir, w); !testWord().MatchString(p) && p != "." && !strings.HasPrefix(p, "../") {
			out = append(out, p)
		}
	}
	return out
}

// Inner are the scripts that a script of the project names and that are parts of it: those beside it, where that is not
// the root, and those in folders for scripts. What else it names may be what it is about.
func Inner(script, text string) []string {
	var out []string
	for _, p := range append(Scripts("", text), Scripts(path.Dir(script), text)...) {
		if path.Dir(p) == path.Dir(script) && path.Dir(p) != "." || scriptDir().MatchString(p) {
			out = append(out, p)
		}
	}
	return out
}

// recipe reports whether a file is one of the shell, which may say what a check does.
func recipe(name string) bool {
	return slices.Contains([]string{".sh", ".bash", ".mk"}, path.Ext(name)) || path.Ext(name) == "" && scriptDir().MatchString(name)
}

// script is about scripts that say what a check does: those that the command of a check names, and those in folders for
// scripts that a check read. A script elsewhere may be the program.
func (k *known) script(name string) bool {
	if k.Read != nil && !k.Read[name] || k.status[name] == "A" {
		return false
	}
	for _, c := range k.Commands {
		if slices.Contains(Scripts("", c), name) {
			return true
		}
	}
	return recipe(name) && scriptDir().MatchString(name) && k.Read[name]
}
