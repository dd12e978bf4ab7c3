package script

import (
	"encoding/json"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"pawl/text/shell"

	"pawl/kernel/effect"
)

// class orders the fixers as a repair tries them: first what only changes the look of the code, then what changes code,
// then what changes dependencies.
type class int

const (
	formatters class = iota
	linters
	tidiers
)

// fixer is a command of the project's own that puts something right. All fixers are idempotent and work offline. Those
// that say with their exit status what is left to do are made to succeed: what is left is for the checks to say.
type fixer struct {
	class   class
	family  string // ecosystem that it belongs to
	dir     string // folder of the tree, "" for its root
	command string
}

// shell is the fixer as a command to be run in the root of the tree.
func (f fixer) shell() string {
	if f.dir == "" {
		return f.command
	}
	return "cd " + shell.Quote(f.dir) + " && " + f.command
}

// view is what the agent sees of a place: the task's tree and, for packages that are installed beside it only, the
// workspace.
type view struct {
	look  func(string) (string, bool)
	trees []fs.FS
}

// view opens a place for one question. A folder that cannot be opened shows nothing, and its fixers are not proposed.
func (a *Agent) view(place effect.Place) *view {
	v := &view{look: a.config.LookPath}
	for _, dir := range slices.Compact([]string{place.Tree, place.Workspace}) {
		if dir == "" {
			continue
		}
		if tree, closer, err := a.config.Open(dir); err == nil {
			v.trees = append(v.trees, opened{tree, closer})
		}
	}
	return v
}

func (v *view) close() {
	for _, t := range v.trees {
		if c, ok := t.(io.Closer); ok {
			c.Close()
		}
	}
}

// opened ties a tree to what closes it.
type opened struct {
	fs.FS
	io.Closer
}

func (v *view) installed(programs ...string) bool {
	return !slices.ContainsFunc(programs, func(p string) bool { _, ok := v.look(p); return !ok })
}

// exists reports whether a path is in the tree or beside it.
func (v *view) exists(name string) bool {
	return slices.ContainsFunc(v.trees, func(t fs.FS) bool { _, err := fs.Stat(t, name); return err == nil })
}

// anyExists reports whether one of the names is in the folder.
func (v *view) anyExists(dir string, names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return v.exists(path.Join(dir, n)) })
}

const maxRead = 1 << 20

// text returns the beginning of a regular file of the tree, or "".
func (v *view) text(name string) string {
	for _, t := range v.trees {
		if info, err := fs.Stat(t, name); err != nil || !info.Mode().IsRegular() {
			continue
		}
		f, err := t.Open(name)
		if err != nil {
			continue
		}
		b, err := io.ReadAll(io.LimitReader(f, maxRead))
		f.Close()
		if err == nil {
			return string(b)
		}
	}
	return ""
}

// family is one ecosystem: how its checks are recognised and which fixers a folder of it has.
type family struct {
	name   string
	checks *regexp.Regexp
	fixers func(v *view, dir string, checks []effect.Check) []fixer
}

var families = sync.OnceValue(func() []family {
	return []family{
		{"go", regexp.MustCompile(`\bgofmt\b|^go |^golangci-lint `), goFixers},
		{"node", regexp.MustCompile(`^(npm|npx|pnpm|yarn|bun|bunx) `), nodeFixers},
		{"python", regexp.MustCompile(`^(ruff|black|flake8|mypy) |^python3? -m (pytest|unittest)`), pythonFixers},
		{"rust", regexp.MustCompile(`^cargo `), rustFixers},
		{"java", regexp.MustCompile(`^(mvn|gradle|sh \./mvnw|sh \./gradlew) `), javaFixers},
		{"dart", regexp.MustCompile(`^(dart|flutter) `), dartFixers},
		{"dotnet", regexp.MustCompile(`^dotnet `), dotnetFixers},
		{"ruby", regexp.MustCompile(`\b(rubocop|rspec|rake test)\b`), rubyFixers},
		{"php", regexp.MustCompile(`^(composer|vendor/bin/)`), phpFixers},
		{"make", regexp.MustCompile(`^make\b`), makeFixers},
	}
})

// familyOf returns the ecosystem of a check, or "".
func familyOf(c effect.Check) string {
	for _, f := range families() {
		if f.checks.MatchString(c.Command) {
			return f.name
		}
	}
	return ""
}

// fixers returns the installed fixers of a project, folder by folder in the order of its checks.
func (v *view) fixers(found effect.ContextResult) []fixer {
	var out []fixer
	for _, f := range families() {
		byDir := map[string][]effect.Check{}
		var dirs []string
		for _, c := range found.Checks {
			if !f.checks.MatchString(c.Command) || (c.Dir != "" && !fs.ValidPath(c.Dir)) {
				continue
			}
			if byDir[c.Dir] == nil {
				dirs = append(dirs, c.Dir)
			}
			byDir[c.Dir] = append(byDir[c.Dir], c)
		}
		for _, dir := range dirs {
			for _, x := range f.fixers(v, dir, byDir[dir]) {
				x.family, x.dir = f.name, dir
				out = append(out, x)
			}
		}
	}
	return out
}

// has reports whether one of the checks begins with the prefix.
func has(checks []effect.Check, prefix string) bool {
	return slices.ContainsFunc(checks, func(c effect.Check) bool { return strings.HasPrefix(c.Command, prefix) })
}

// goDirective is the language version of a go.mod.
var goDirective = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^go 1\.(\d+)`) })

func goFixers(v *view, dir string, checks []effect.Check) []fixer {
	if !v.installed("go", "gofmt") {
		return nil
	}
	mod := v.text(path.Join(dir, "go.mod"))
	if mod == "" {
		return nil
	}
	out := []fixer{{class: formatters, command: goFormat}}
	if has(checks, "golangci-lint ") && v.installed("golangci-lint") {
		out = append(out, fixer{class: linters, command: "golangci-lint run --fix --issues-exit-code 0"})
	}
	if m := goDirective().FindStringSubmatch(mod); m != nil {
		// Since Go 1.26 vet applies the fixes that it knows; a module of that version is built with such a toolchain.
		if minor, err := strconv.Atoi(m[1]); err == nil && minor >= 26 {
			out = append(out, fixer{class: linters, command: "go vet -fix ./... || true"})
		}
	}
	out = append(out, fixer{class: tidiers, command: "go mod tidy"})
	if v.exists(path.Join(dir, "vendor/modules.txt")) {
		out = append(out, fixer{class: tidiers, command: "go mod vendor"})
	}
	return out
}

// manifest is what the agent reads of a package.json.
type manifest struct {
	Scripts         map[string]string          `json:"scripts"`
	Dependencies    map[string]json.RawMessage `json:"dependencies"`
	DevDependencies map[string]json.RawMessage `json:"devDependencies"`
}

var nodeFixScripts = []struct {
	class class
	names []string
}{
	{formatters, []string{"format:fix", "format:write", "prettier:fix", "prettier:write", "format", "fmt"}},
	{linters, []string{"lint:fix", "lint-fix", "fix:lint", "eslint:fix", "fix"}},
}

// rewrites tells a script that fixes from one that only checks.
var rewrites = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`--(fix|write|apply)\b|\bprettier -w\b`) })

func nodeFixers(v *view, dir string, checks []effect.Check) []fixer {
	var m manifest
	if json.Unmarshal([]byte(v.text(path.Join(dir, "package.json"))), &m) != nil || !v.installed("node") {
		return nil
	}
	manager, run, exec := "npm", "npm run ", "npx --no-install "
	for _, c := range checks {
		switch first, _, _ := strings.Cut(c.Command, " "); first {
		case "pnpm":
			manager, run = "pnpm", "pnpm run "
		case "yarn":
			manager, run, exec = "yarn", "yarn run ", "yarn run "
		case "bun", "bunx":
			manager, run, exec = "bun", "bun run ", "bunx --no-install "
		}
	}
	if !v.installed(manager) {
		return nil
	}
	var out []fixer
	done := map[class]bool{}
	for _, row := range nodeFixScripts {
		for _, name := range row.names {
			if rewrites().MatchString(m.Scripts[name]) && !done[row.class] {
				done[row.class] = true
				out = append(out, fixer{class: row.class, command: run + name + " || true"})
			}
		}
	}
	for _, tool := range []struct {
		class   class
		name    string
		command string
	}{
		{formatters, "prettier", "prettier --write ."},
		{formatters, "biome", "biome format --write ."},
		{linters, "eslint", "eslint --fix . || true"},
		{linters, "biome", "biome check --write . || true"},
		{linters, "stylelint", "stylelint --fix '**/*.{css,scss}' || true"},
	} {
		if !done[tool.class] && v.nodeTool(dir, m, tool.name) {
			out = append(out, fixer{class: tool.class, command: exec + tool.command})
		}
	}
	return out
}

// nodeTool reports whether the project uses a tool and has it installed.
func (v *view) nodeTool(dir string, m manifest, tool string) bool {
	name := tool
	if tool == "biome" {
		name = "@biomejs/biome"
	}
	_, a := m.Dependencies[name]
	_, b := m.DevDependencies[name]
	if !a && !b {
		return false
	}
	for {
		if v.exists(path.Join(dir, "node_modules/.bin", tool)) {
			return true
		}
		if dir == "" || dir == "." {
			return false
		}
		dir = path.Dir(dir)
	}
}

func pythonFixers(v *view, dir string, checks []effect.Check) []fixer {
	var out []fixer
	ruff := v.installed("ruff") && (has(checks, "ruff ") || v.anyExists(dir, "ruff.toml", ".ruff.toml"))
	switch {
	case has(checks, "black ") && v.installed("black"):
		out = append(out, fixer{class: formatters, command: "black -q ."})
	case ruff && has(checks, "ruff format"):
		out = append(out, fixer{class: formatters, command: "ruff format ."})
	}
	if ruff {
		out = append(out, fixer{class: linters, command: "ruff check --fix --exit-zero ."})
	}
	return out
}

func rustFixers(v *view, dir string, checks []effect.Check) []fixer {
	if !v.installed("cargo") {
		return nil
	}
	var out []fixer
	if v.installed("cargo-fmt") {
		out = append(out, fixer{class: formatters, command: "cargo fmt --all"})
	}
	fix := "cargo fix"
	if v.installed("cargo-clippy") {
		fix = "cargo clippy --fix"
	}
	out = append(out, fixer{class: linters, command: fix + " --allow-dirty --allow-staged --all-targets --offline"})
	if v.exists(path.Join(dir, "Cargo.lock")) {
		out = append(out, fixer{class: tidiers, command: "cargo update --workspace --offline"})
	}
	return out
}

func javaFixers(v *view, dir string, checks []effect.Check) []fixer {
	tool, task, file := "", "", ""
	for _, c := range checks {
		switch {
		case strings.HasPrefix(c.Command, "mvn "):
			tool, task, file = "mvn -B -q -o ", "spotless:apply", "pom.xml"
		case strings.HasPrefix(c.Command, "sh ./mvnw "):
			tool, task, file = "sh ./mvnw -B -q -o ", "spotless:apply", "pom.xml"
		case strings.HasPrefix(c.Command, "gradle "):
			tool, task, file = "gradle --offline --no-daemon -q ", "spotlessApply", ""
		case strings.HasPrefix(c.Command, "sh ./gradlew "):
			tool, task, file = "sh ./gradlew --offline --no-daemon -q ", "spotlessApply", ""
		}
	}
	build := v.text(path.Join(dir, file))
	if file == "" {
		build = v.text(path.Join(dir, "build.gradle")) + v.text(path.Join(dir, "build.gradle.kts"))
	}
	if tool == "" || !v.installed("java") || !strings.Contains(build, "spotless") {
		return nil
	}
	return []fixer{{class: formatters, command: tool + task}}
}

func dartFixers(v *view, _ string, checks []effect.Check) []fixer {
	if !v.installed("dart") {
		return nil
	}
	get := fixer{class: tidiers, command: "dart pub get --offline"}
	if has(checks, "flutter ") {
		get.command = "flutter pub get --offline"
	}
	return []fixer{{class: formatters, command: "dart format ."}, {class: linters, command: "dart fix --apply"}, get}
}

func dotnetFixers(v *view, _ string, _ []effect.Check) []fixer {
	if !v.installed("dotnet") {
		return nil
	}
	return []fixer{
		{class: formatters, command: "dotnet format whitespace --no-restore"},
		{class: linters, command: "dotnet format --no-restore"}}
}

func rubyFixers(v *view, _ string, checks []effect.Check) []fixer {
	for _, c := range checks {
		if prefix, _, ok := strings.Cut(c.Command, "rubocop"); ok && c.Missing == "" {
			return []fixer{{class: linters, command: prefix + "rubocop -a --fail-level F --cache false"}}
		}
	}
	return nil
}

func phpFixers(v *view, _ string, checks []effect.Check) []fixer {
	for _, c := range checks {
		if strings.HasPrefix(c.Command, "vendor/bin/php-cs-fixer ") && c.Missing == "" {
			return []fixer{{class: formatters, command: "vendor/bin/php-cs-fixer fix --using-cache=no"}}
		}
	}
	return nil
}

// makeTarget matches the targets of a Makefile that put code right.
var makeTarget = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^(fmt|format|lint-fix|fix)\s*:(?:[^=]|$)`) })

func makeFixers(v *view, dir string, _ []effect.Check) []fixer {
	if !v.installed("make") {
		return nil
	}
	var out []fixer
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		for _, m := range makeTarget().FindAllStringSubmatch(v.text(path.Join(dir, name)), -1) {
			x := fixer{class: formatters, command: "make " + m[1]}
			if strings.Contains(m[1], "fix") {
				x.class = linters
			}
			out = append(out, x)
		}
		if len(out) > 0 {
			break
		}
	}
	return out
}
