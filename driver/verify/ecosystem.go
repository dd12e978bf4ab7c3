package verify

import (
	"regexp"
	"strings"
	"sync"

	"pawl/kernel/effect"
)

// The kinds of a check, as effect.Check documents them.
const (
	kindFormat = "format"
	kindLint   = "lint"
	kindBuild  = "build"
	kindTest   = "test"
	kindCustom = "custom"
	kindDoctor = "doctor"
)

func static(name, kind, command, missing string) effect.Check {
	return effect.Check{Name: name, Command: command, Kind: kind, Level: 0, Missing: missing}
}

func build(name, command, missing string) effect.Check {
	return effect.Check{Name: name, Command: command, Kind: kindBuild, Level: 1, Missing: missing}
}

func tests(name, command, missing string) effect.Check {
	return effect.Check{Name: name, Command: command, Kind: kindTest, Level: 2, Missing: missing}
}

// gofmtCommand lists the Go files that gofmt would change, and fails when there is one. gofmt itself succeeds either
// way. The folders are those that the go command ignores, too, so that a broken file among test data is nobody's
// problem.
const gofmtCommand = `! find . \( -name '.?*' -o -name '_*' -o -name vendor -o -name testdata -o -name node_modules \)` +
	` -prune -o -type f -name '*.go' -exec gofmt -l {} + 2>&1 | sort | grep .`

func detectGo(s *scan, d *folder) ([]effect.Check, bool) {
	if !d.file("go.mod") {
		if d.file("go.work") {
			d.claims["gofmt"] = true
			return []effect.Check{static("gofmt", kindFormat, gofmtCommand, s.missing("gofmt"))}, true
		}
		return nil, false
	}
	if base := d.base(); d.parent != nil && (base == "tools" || base == "hack") {
		// A module that only pins developer tools: its dependencies are rarely in the cache and no code of the project
		// is in it.
		return nil, false
	}
	var out []effect.Check
	if !d.claimed("gofmt") {
		out = append(out, static("gofmt", kindFormat, gofmtCommand, s.missing("gofmt")))
	}
	d.claims["gofmt"] = true
	missing := s.missing("go")
	out = append(out, static("go vet", kindLint, goVet, missing))
	if d.anyFile(".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json") != "" {
		out = append(out, static("golangci-lint", kindLint, "golangci-lint run", s.missing("golangci-lint")))
	}
	return append(out,
		// Without -o, a lone main package would leave its program in the tree.
		build("go build", goBuild, missing),
		tests("go test", "go test ./...", missing)), true
}

func (d *folder) base() string { return d.rel[strings.LastIndexByte(d.rel, '/')+1:] }

func detectRust(s *scan, d *folder) ([]effect.Check, bool) {
	if !d.file("Cargo.toml") || d.claimed("rust") {
		return nil, false
	}
	d.claims["rust"] = strings.Contains(d.text("Cargo.toml"), "[workspace")
	flags := " --offline"
	if d.file("Cargo.lock") {
		flags = " --locked --offline"
	}
	missing := s.missing("cargo")
	var out []effect.Check
	if s.installed("cargo-fmt") {
		out = append(out, static("cargo fmt", kindFormat, "cargo fmt --all --check", missing))
	}
	if s.installed("cargo-clippy") {
		out = append(out, static("cargo clippy", kindLint, "cargo clippy --all-targets"+flags, missing))
	}
	return append(out,
		build("cargo build", "cargo build --all-targets"+flags, missing),
		tests("cargo test", "cargo test"+flags, missing)), true
}

func detectJava(s *scan, d *folder) ([]effect.Check, bool) {
	if d.claimed("java") {
		return nil, false
	}
	switch {
	case d.file("pom.xml"):
		d.claims["java"] = true
		tool, missing := s.javaTool(d, "mvn", "mvnw")
		return []effect.Check{
			build("maven compile", tool+" -B -q -o test-compile", missing),
			tests("maven test", tool+" -B -q -o test", missing)}, true
	case d.anyFile("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts") != "":
		d.claims["java"] = true
		tool, missing := s.javaTool(d, "gradle", "gradlew")
		return []effect.Check{
			build("gradle classes", tool+" --offline --no-daemon -q testClasses", missing),
			tests("gradle test", tool+" --offline --no-daemon -q test", missing)}, true
	}
	return nil, false
}

// javaTool prefers the installed tool to the project's wrapper, which wants to fetch a tool of its own into the user's
// home.
func (s *scan) javaTool(d *folder, tool, wrapper string) (command, missing string) {
	if !s.installed(tool) && d.file(wrapper) {
		return "sh ./" + wrapper, s.missing("java")
	}
	return tool, s.missing(tool)
}

func detectDart(s *scan, d *folder) ([]effect.Check, bool) {
	if !d.file("pubspec.yaml") {
		return nil, false
	}
	hasTests := d.dir("test")
	if flutterSDK().MatchString(d.text("pubspec.yaml")) {
		missing := s.missing("flutter")
		out := []effect.Check{static("flutter analyze", kindLint, "flutter analyze --no-pub", missing)}
		if hasTests {
			out = append(out, tests("flutter test", "flutter test --no-pub", missing))
		}
		return out, true
	}
	missing := s.missing("dart")
	out := []effect.Check{static("dart analyze", kindLint, "dart analyze", missing)}
	if hasTests {
		out = append(out, tests("dart test", "dart test", missing))
	}
	return out, true
}

var flutterSDK = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s+sdk:\s*flutter\b|^flutter:`) })

func detectDotnet(s *scan, d *folder) ([]effect.Check, bool) {
	if d.claimed("dotnet") || !d.match("*.sln", "*.slnx", "*.csproj", "*.fsproj", "*.vbproj") {
		return nil, false
	}
	d.claims["dotnet"] = true
	missing := s.missing("dotnet")
	return []effect.Check{
		build("dotnet build", "dotnet build --nologo", missing),
		tests("dotnet test", "dotnet test --nologo", missing)}, true
}

func detectRuby(s *scan, d *folder) ([]effect.Check, bool) {
	prefix, missing := "bundle exec ", s.missing("bundle")
	if !d.file("Gemfile") {
		if d.anyFile("Rakefile", ".rspec") == "" {
			return nil, false
		}
		prefix, missing = "", ""
	}
	need := func(program string) string {
		if prefix != "" {
			return missing
		}
		return s.missing(program)
	}
	var out []effect.Check
	if d.file(".rubocop.yml") {
		out = append(out, static("rubocop", kindLint, prefix+"rubocop --cache false", need("rubocop")))
	}
	switch {
	case d.file(".rspec") || d.dir("spec"):
		out = append(out, tests("rspec", prefix+"rspec", need("rspec")))
	case rakeTest().MatchString(d.text("Rakefile")):
		out = append(out, tests("rake test", prefix+"rake test", need("rake")))
	}
	return out, true
}

var rakeTest = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)TestTask|^\s*task\s*[ (]:?["']?test\b`) })

func detectPHP(s *scan, d *folder) ([]effect.Check, bool) {
	if !d.file("composer.json") {
		return nil, false
	}
	tool := func(name string) string {
		if !d.exists("vendor/bin/" + name) {
			return "vendor/bin/" + name
		}
		return s.missing("php")
	}
	out := []effect.Check{static("composer validate", kindLint,
		"composer validate --no-check-publish --no-interaction", s.missing("composer"))}
	if d.anyFile(".php-cs-fixer.php", ".php-cs-fixer.dist.php") != "" {
		out = append(out, static("php-cs-fixer", kindFormat,
			"vendor/bin/php-cs-fixer fix --dry-run --diff --using-cache=no", tool("php-cs-fixer")))
	}
	if d.anyFile("phpstan.neon", "phpstan.neon.dist", "phpstan.dist.neon") != "" {
		out = append(out, static("phpstan", kindLint, "vendor/bin/phpstan analyse --no-progress", tool("phpstan")))
	}
	if d.anyFile("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml") != "" {
		out = append(out, tests("phpunit", "vendor/bin/phpunit --do-not-cache-result", tool("phpunit")))
	}
	return out, true
}

func detectCMake(s *scan, d *folder) ([]effect.Check, bool) {
	if !d.file("CMakeLists.txt") || d.claimed("cmake") {
		return nil, false
	}
	d.claims["cmake"], d.claims["make"] = true, true
	// PAWL_BUILD is a folder among the caches of the verification, one per folder, so that a build never changes the
	// tree.
	out := []effect.Check{build("cmake build", `cmake -S . -B "$PAWL_BUILD" && cmake --build "$PAWL_BUILD"`,
		s.missing("cmake"))}
	if ctestUse().MatchString(d.text("CMakeLists.txt")) {
		out = append(out, tests("ctest", `ctest --test-dir "$PAWL_BUILD" --output-on-failure`,
			s.missing("cmake", "ctest")))
	}
	return out, true
}

var ctestUse = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?im)^\s*(enable_testing|add_test|include\s*\(\s*CTest)\b`)
})

func detectMake(s *scan, d *folder) ([]effect.Check, bool) {
	name := d.anyFile("GNUmakefile", "makefile", "Makefile")
	if name == "" || d.claimed("make") {
		return nil, false
	}
	d.claims["make"] = true
	targets := map[string]bool{}
	for _, m := range makeTarget().FindAllStringSubmatch(d.text(name), -1) {
		for _, t := range strings.Fields(m[1]) {
			targets[t] = true
		}
	}
	missing := s.missing("make")
	var out []effect.Check
	if targets["lint"] {
		out = append(out, static("make lint", kindLint, "make lint", missing))
	}
	if targets["build"] {
		out = append(out, build("make build", "make build", missing))
	} else {
		out = append(out, build("make", "make", missing))
	}
	for _, t := range []string{"test", "check"} {
		if targets[t] {
			return append(out, tests("make "+t, "make "+t, missing)), true
		}
	}
	return out, true
}

// makeTarget matches a rule line with plain target names; assignments are not rules.
var makeTarget = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^([A-Za-z0-9_][A-Za-z0-9_ .-]*?)\s*::?(?:[^=:]|$)`)
})

// testScripts are the names by which a project that has no build tool is tested.
var testScripts = []string{"test.sh", "tests.sh", "run_tests.sh", "run-tests.sh"}

// detectShell finds a test script at the root; a script further down may be anything. It is run by the shell that its
// first line names, or else by sh, so that it need not be executable.
func detectShell(s *scan, d *folder) ([]effect.Check, bool) {
	name := d.anyFile(testScripts...)
	if name == "" || d.rel != "" {
		return nil, false
	}
	shell := "sh"
	if first, _, _ := strings.Cut(d.text(name), "\n"); strings.HasPrefix(first, "#!") &&
		strings.Contains(first, "bash") {
		shell = "bash"
	}
	return []effect.Check{tests(name, shell+" "+name, s.missing(shell))}, true
}
