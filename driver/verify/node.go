package verify

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"pawl/kernel/effect"
)

// manifest is what detection reads of a package.json.
type manifest struct {
	Scripts         map[string]string          `json:"scripts"`
	DevDependencies map[string]json.RawMessage `json:"devDependencies"`
	Dependencies    map[string]json.RawMessage `json:"dependencies"`
	ESLint          json.RawMessage            `json:"eslintConfig"`
	Workspaces      json.RawMessage            `json:"workspaces"`
}

func (m manifest) depends(name string) bool {
	_, dev := m.DevDependencies[name]
	_, run := m.Dependencies[name]
	return dev || run
}

// nodeScripts are the scripts that check a project, in the order of their levels; of each row the first that the
// project has is used.
var nodeScripts = []struct {
	names []string
	kind  string
	level int
}{
	{[]string{"format:check", "check:format", "check-format", "prettier:check", "fmt:check"}, kindFormat, 0},
	{[]string{"lint", "lint:check", "lint:js", "lint:ts"}, kindLint, 0},
	{[]string{"typecheck", "type-check", "check-types", "check:types", "tsc"}, kindLint, 0},
	{[]string{"build"}, kindBuild, 1},
	{[]string{"test"}, kindTest, 2},
}

// npmPlaceholder is what `npm init` writes where there are no tests.
var npmPlaceholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`no test specified`) })

// rewrites matches scripts that change the files that they are asked to judge.
var rewrites = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|\s)(--fix|--write|--apply)\b`) })

func detectNode(s *scan, d *folder) ([]effect.Check, bool) {
	if !d.file("package.json") {
		return nil, false
	}
	var m manifest
	if json.Unmarshal([]byte(d.text("package.json")), &m) != nil {
		return nil, true
	}
	if d.claimed("node") && len(m.Scripts) == 0 {
		return nil, true
	}
	d.claims["node"] = true
	manager := nodeManager(d)
	missing := s.missing("node")
	if manager == "bun" {
		missing = ""
	}
	if missing == "" {
		missing = s.missing(manager)
	}
	var out []effect.Check
	used := map[string]bool{}
	for _, row := range nodeScripts {
		for _, name := range row.names {
			body, ok := m.Scripts[name]
			if !ok || strings.TrimSpace(body) == "" || npmPlaceholder().MatchString(body) ||
				rewrites().MatchString(body) {
				continue
			}
			used[row.kind+name] = true
			used[row.kind] = true
			out = append(out, effect.Check{Name: manager + " " + name, Kind: row.kind, Level: row.level, Missing: missing,
				Command: nodeRun(manager, name) + unwatched(manager, body)})
			break
		}
	}
	all := strings.Join(scriptBodies(m), "\n")
	if configured := m.ESLint != nil || d.match("eslint.config.*", ".eslintrc", ".eslintrc.*"); configured &&
		!strings.Contains(all, "eslint") {
		out = append(out, static("eslint", kindLint, nodeExec(manager, "eslint ."), nodeTool(s, d, missing, "eslint")))
	}
	if d.file("tsconfig.json") && !strings.Contains(all, "tsc") && m.depends("typescript") {
		out = append(out, static("tsc", kindLint, nodeExec(manager, "tsc --noEmit"), nodeTool(s, d, missing, "tsc")))
	}
	return out, true
}

func scriptBodies(m manifest) []string {
	out := make([]string, 0, len(m.Scripts))
	for _, body := range m.Scripts {
		if !rewrites().MatchString(body) {
			out = append(out, body)
		}
	}
	return out
}

// nodeManager tells the package manager from the lock file of the folder or of one above it.
func nodeManager(d *folder) string {
	for ; d != nil; d = d.parent {
		switch {
		case d.file("pnpm-lock.yaml"):
			return "pnpm"
		case d.file("yarn.lock"):
			return "yarn"
		case d.anyFile("bun.lock", "bun.lockb") != "":
			return "bun"
		case d.file("package-lock.json"):
			return "npm"
		}
	}
	return "npm"
}

// nodeRun is the command that runs a script.
func nodeRun(manager, script string) string {
	if script == "test" && manager != "bun" {
		return manager + " test"
	}
	return manager + " run " + script
}

// unwatched are the arguments of a script that would wait for changes, and run its tests again, where nothing says that
// nobody is there.
func unwatched(manager, body string) string {
	switch {
	case !strings.Contains(body, "react-scripts test") || strings.Contains(body, "--watch"):
		return ""
	case manager == "yarn":
		return " --watchAll=false"
	}
	return " -- --watchAll=false"
}

// nodeExec is the command that runs an installed tool and never fetches one.
func nodeExec(manager, tool string) string {
	switch manager {
	case "pnpm":
		return "pnpm exec " + tool
	case "yarn":
		return "yarn run " + tool
	case "bun":
		return "bunx --no-install " + tool
	default:
		return "npx --no-install " + tool
	}
}

// nodeTool says what is missing for a tool of the project's own packages.
func nodeTool(s *scan, d *folder, missing, tool string) string {
	if missing != "" {
		return missing
	}
	for up := d; up != nil; up = up.parent {
		if up.exists("node_modules/.bin/" + tool) {
			return ""
		}
	}
	return s.missing(tool)
}
