package verify

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"pawl/kernel/effect"
)

// everything finds every program; without finds all but some.
func everything(string) (string, bool) { return "/bin/x", true }

func without(programs ...string) LookPath {
	return func(p string) (string, bool) {
		for _, m := range programs {
			if p == m {
				return "", false
			}
		}
		return "/bin/" + p, true
	}
}

func files(pairs ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return out
}

// show writes checks one a line: level, kind, name, folder, command, and what is missing.
func show(checks []effect.Check) []string {
	var out []string
	for _, c := range checks {
		line := fmt.Sprintf("L%d %s %s", c.Level, c.Kind, c.Command)
		if c.Command == gofmtCommand {
			line = fmt.Sprintf("L%d %s GOFMT", c.Level, c.Kind)
		}
		if c.Dir != "" {
			line += " @" + c.Dir
		}
		if c.Missing != "" {
			line += " -" + c.Missing
		}
		out = append(out, line)
	}
	return out
}

func TestDetect(t *testing.T) {
	for name, test := range map[string]struct {
		tree       fstest.MapFS
		look       LookPath
		ecosystems []string
		checks     []string
	}{
		"empty": {tree: files()},
		"go": {
			tree:       files("go.mod", "module x\n", "main.go", "package main"),
			ecosystems: []string{"go"},
			checks: []string{"L0 format GOFMT", "L0 lint go vet ./...", "L1 build go build -o /dev/null ./...",
				"L2 test go test ./..."},
		},
		"go without a toolchain": {
			tree:       files("go.mod", "module x\n"),
			look:       without("go", "gofmt"),
			ecosystems: []string{"go"},
			checks: []string{"L0 format GOFMT -gofmt", "L0 lint go vet ./... -go",
				"L1 build go build -o /dev/null ./... -go", "L2 test go test ./... -go"},
		},
		"several go modules under a go.work, tools left alone": {
			tree: files("go.work", "go 1.26\nuse ./a\nuse ./b", "a/go.mod", "module a", "b/go.mod", "module b",
				"tools/go.mod", "module tools",
				"examples/x/go.mod", "module e", "a/testdata/go.mod", "module td", "_old/go.mod", "module old",
				"x/y/z/go.mod", "module deep"),
			ecosystems: []string{"go"},
			checks: []string{"L0 format GOFMT", "L0 lint go vet ./... @a", "L0 lint go vet ./... @b",
				"L1 build go build -o /dev/null ./... @a", "L1 build go build -o /dev/null ./... @b",
				"L2 test go test ./... @a", "L2 test go test ./... @b"},
		},
		"go beside a Makefile": {
			tree:       files("go.mod", "module x", "Makefile", "test:\n\tgo test\n", ".golangci.yml", ""),
			look:       without("golangci-lint"),
			ecosystems: []string{"go"},
			checks: []string{"L0 format GOFMT", "L0 lint go vet ./...", "L0 lint golangci-lint run -golangci-lint",
				"L1 build go build -o /dev/null ./...", "L2 test go test ./..."},
		},
		"node": {
			tree: files("package.json", `{"scripts":{"test":"node --test","lint":"eslint .","build":"tsc -p .","type-check":"tsc --noEmit"}}`,
				"package-lock.json", "{}", "tsconfig.json", "{}", "eslint.config.mjs", ""),
			ecosystems: []string{"node"},
			checks: []string{"L0 lint npm run lint", "L0 lint npm run type-check", "L1 build npm run build",
				"L2 test npm test"},
		},
		"node without scripts, with configured tools": {
			tree: files("package.json", `{"scripts":{"test":"echo \"Error: no test specified\" && exit 1","lint":"eslint --fix ."},"devDependencies":{"typescript":"5"}}`,
				"pnpm-lock.yaml", "", ".eslintrc.json", "{}", "tsconfig.json", "{}", "node_modules/.bin/tsc", "#!"),
			look:       without("eslint", "tsc"),
			ecosystems: []string{"node"},
			checks:     []string{"L0 lint pnpm exec eslint . -eslint", "L0 lint pnpm exec tsc --noEmit"},
		},
		"yarn and bun below a root without either": {
			tree: files("web/package.json", `{"scripts":{"test":"jest"}}`, "web/yarn.lock", "",
				"srv/package.json", `{"scripts":{"test":"bun test"}}`, "srv/bun.lock", ""),
			ecosystems: []string{"node"},
			checks:     []string{"L2 test bun run test @srv", "L2 test yarn test @web"},
		},
		"malformed package.json": {tree: files("package.json", `{"scripts":`), ecosystems: []string{"node"}},
		"package.json of another shape": {tree: files("package.json", `{"scripts":["a"]}`),
			ecosystems: []string{"node"}},
		"python with everything configured": {
			tree: files("pyproject.toml", "[tool.ruff]\nline-length = 100\n[tool.ruff.format]\n[tool.mypy]\n[tool.pytest.ini_options]\n",
				"tests/test_a.py", ""),
			look:       without("mypy"),
			ecosystems: []string{"python"},
			checks: []string{"L0 format ruff format --check .", "L0 lint ruff check .", "L0 lint mypy . -mypy",
				"L2 test python3 -m pytest -q -p no:cacheprovider"},
		},
		"python with unittest": {
			tree: files("setup.py", "", "tests/test_a.py", ""), look: without("python3"),
			ecosystems: []string{"python"}, checks: []string{"L2 test python -m unittest discover -s tests"},
		},
		"python with pytest required but nothing to collect": {
			tree: files("requirements.txt", "pytest>=8\n", "app.py", ""), ecosystems: []string{"python"},
		},
		"pytest in requirements": {
			tree: files("requirements-dev.txt", "flask\npytest==8\n", "test_app.py", ""), look: without("python3",
				"python"),
			ecosystems: []string{"python"},
			checks:     []string{"L2 test python3 -m pytest -q -p no:cacheprovider -python3"},
		},
		"rust workspace": {
			tree: files("Cargo.toml", "[workspace]\nmembers=[\"a\"]", "Cargo.lock", "", "a/Cargo.toml",
				"[package]"),
			ecosystems: []string{"rust"},
			checks: []string{"L0 format cargo fmt --all --check",
				"L0 lint cargo clippy --all-targets --locked --offline",
				"L1 build cargo build --all-targets --locked --offline", "L2 test cargo test --locked --offline"},
		},
		"rust without components": {
			tree: files("Cargo.toml", "[package]"), look: without("cargo-fmt", "cargo-clippy",
				"cargo"), ecosystems: []string{"rust"},
			checks: []string{"L1 build cargo build --all-targets --offline -cargo",
				"L2 test cargo test --offline -cargo"},
		},
		"maven and gradle": {
			tree: files("a/pom.xml", "<project/>", "a/core/pom.xml", "<project/>", "b/build.gradle.kts", "",
				"b/gradlew", "#!"),
			look:       without("gradle"),
			ecosystems: []string{"java"},
			checks: []string{"L1 build mvn -B -q -o test-compile @a",
				"L1 build sh ./gradlew --offline --no-daemon -q testClasses @b",
				"L2 test mvn -B -q -o test @a", "L2 test sh ./gradlew --offline --no-daemon -q test @b"},
		},
		"flutter and dart": {
			tree: files("app/pubspec.yaml", "dependencies:\n  flutter:\n    sdk: flutter\n", "app/test/a_test.dart", "",
				"lib/pubspec.yaml", "name: lib\n"),
			look: without("dart"), ecosystems: []string{"dart"},
			checks: []string{"L0 lint flutter analyze --no-pub @app", "L0 lint dart analyze @lib -dart",
				"L2 test flutter test --no-pub @app"},
		},
		"cmake with tests": {
			tree: files("CMakeLists.txt", "project(x)\nenable_testing()\n", "sub/CMakeLists.txt", "", "Makefile",
				"test:\n"),
			ecosystems: []string{"cmake"},
			checks: []string{`L1 build cmake -S . -B "$PAWL_BUILD" && cmake --build "$PAWL_BUILD"`,
				`L2 test ctest --test-dir "$PAWL_BUILD" --output-on-failure`},
		},
		"make": {
			tree:       files("Makefile", "CC := gcc\nall: a\na: a.c\n\t$(CC) a.c\n.PHONY: check\ncheck: a\n\t./a\ntest = no\n", "a.c", ""),
			ecosystems: []string{"make"}, checks: []string{"L1 build make", "L2 test make check"},
		},
		"shell": {
			tree:       files("test.sh", "echo ok\n", "sub/test.sh", "", "run_tests.sh", ""),
			ecosystems: []string{"shell"}, checks: []string{"L2 test sh test.sh"},
		},
		"shell, written for bash": {
			tree: files("run-tests.sh", "#!/usr/bin/env bash\n[[ a == a ]]\n"), look: without("bash"),
			ecosystems: []string{"shell"}, checks: []string{"L2 test bash run-tests.sh -bash"},
		},
		"a test script beside a Makefile": {
			tree:       files("test.sh", "", "Makefile", "test:\n\tsh test.sh\n"),
			ecosystems: []string{"make"}, checks: []string{"L1 build make", "L2 test make test"},
		},
		"dotnet": {
			tree: files("x.sln", "", "src/x.csproj", ""), ecosystems: []string{"dotnet"},
			checks: []string{"L1 build dotnet build --nologo", "L2 test dotnet test --nologo"},
		},
		"ruby": {
			tree: files("Gemfile", "", ".rubocop.yml", "", "spec/a_spec.rb", ""), ecosystems: []string{"ruby"},
			checks: []string{"L0 lint bundle exec rubocop --cache false", "L2 test bundle exec rspec"},
		},
		"ruby with rake alone": {
			tree: files("Rakefile", "Rake::TestTask.new\n"), look: without("rake"), ecosystems: []string{"ruby"},
			checks: []string{"L2 test rake test -rake"},
		},
		"php": {
			tree: files("composer.json", "{}", "phpunit.xml.dist", "", "phpstan.neon", "", "vendor/bin/phpunit",
				""), ecosystems: []string{"php"},
			checks: []string{"L0 lint composer validate --no-check-publish --no-interaction",
				"L0 lint vendor/bin/phpstan analyse --no-progress -vendor/bin/phpstan",
				"L2 test vendor/bin/phpunit --do-not-cache-result"},
		},
		"two ecosystems": {
			tree:       files("go.mod", "module x", "web/package.json", `{"scripts":{"test":"vitest run"}}`),
			ecosystems: []string{"go", "node"},
			checks: []string{"L0 format GOFMT", "L0 lint go vet ./...", "L1 build go build -o /dev/null ./...",
				"L2 test go test ./...", "L2 test npm test @web"},
		},
		"folders with names that cannot be shown": {tree: files("a\nb/go.mod", "module x", "\u202eevil/go.mod",
			"module y")},
		"inside .pawl and node_modules": {tree: files(".pawl/tree/go.mod", "module x",
			"node_modules/y/package.json", `{"scripts":{"test":"x"}}`)},
	} {
		t.Run(name, func(t *testing.T) {
			if test.look == nil {
				test.look = everything
			}
			got, err := Detect(test.tree, test.look)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.ecosystems, got.Ecosystems); d != "" {
				t.Errorf("ecosystems (-want +got):\n%s", d)
			}
			if d := cmp.Diff(test.checks, show(got.Checks)); d != "" {
				t.Errorf("checks (-want +got):\n%s", d)
			}
		})
	}
}

func TestDetectCountsAndFails(t *testing.T) {
	tree := files("a", "", "b/c", "", "b/.git/x", "", ".git/HEAD", "", "node_modules/z/i.js", "")
	got, err := Detect(tree, everything)
	if err != nil || got.Files != 2 {
		t.Fatalf("files = %d, %v", got.Files, err)
	}
	if _, err := Detect(brokenFS{}, everything); err == nil {
		t.Fatal("a tree that cannot be listed is no empty project")
	}
}

type brokenFS struct{}

func (brokenFS) Open(string) (fs.File, error) { return nil, fs.ErrPermission }

func TestDefinitions(t *testing.T) {
	tree := files(
		"go.mod", "module x", "main.go", "package main", "Makefile", "test:\n\t./scripts/run.sh tests/a_test.py\n",
		"scripts/run.sh", "exit 1", "scripts/other.sh", "", "tests/a_test.py", "",
		".github/workflows/ci.yml", "on: push", ".ci/run", "make", "sub/package.json",
		`{"scripts":{"test":"node tool.js && ../up.sh"}}`,
		"rust-toolchain.toml", "[toolchain]\npath = \"/tmp/x\"\n", ".tool-versions", "nodejs path:./node\n",
		"sub/tool.js", "1", ".cargo/config.toml", "[target.x]\nrunner='true'", "sub/deep/deeper/jest.config.js", "")
	found, err := Detect(tree, everything)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name, hash := range found.Definitions {
		if len(hash) != 64 {
			t.Errorf("%s: %q", name, hash)
		}
		names = append(names, name)
	}
	want := []string{".cargo/config.toml", ".ci/run", ".github/workflows/ci.yml", ".tool-versions", "Makefile",
		"rust-toolchain.toml", "scripts/run.sh", "sub/package.json", "sub/tool.js"}
	if d := cmp.Diff(want, slices.Sorted(slices.Values(names))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}

	pinned := found.Definitions
	again := func() []string {
		now, err := Detect(tree, everything)
		if err != nil {
			t.Fatal(err)
		}
		return tampered(pinned, now.Definitions)
	}
	if got := again(); got != nil {
		t.Errorf("nothing changed: %v", got)
	}
	tree["scripts/run.sh"].Data = []byte("exit 0")
	tree[".golangci.yml"] = &fstest.MapFile{}
	delete(tree, ".ci/run")
	tree["main.go"].Data = []byte("package other")
	if d := cmp.Diff([]string{".ci/run", ".golangci.yml", "scripts/run.sh"}, again()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := tampered(nil, found.Definitions); got != nil {
		t.Errorf("nothing was pinned: %v", got)
	}
}

func FuzzDetect(f *testing.F) {
	f.Add(`{"scripts":{"test":"x"}}`, "all:\n\tx", "[tool.ruff]", "[workspace]")
	f.Fuzz(func(t *testing.T, pkg, mk, py, cargo string) {
		found, err := Detect(files("package.json", pkg, "b/Makefile", mk, "c/pyproject.toml", py, "d/Cargo.toml",
			cargo), everything)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range found.Checks {
			if strings.TrimSpace(c.Command) == "" || strings.ContainsAny(c.Command, "\n\x00") ||
				!filepath.IsLocal("x/"+c.Dir) {
				t.Errorf("check %+v", c)
			}
		}
	})
}
