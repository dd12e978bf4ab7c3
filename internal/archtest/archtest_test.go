// Package archtest keeps the house in order: who may import whom, what pure packages must not do, and how large files,
// functions, types, interfaces and packages may become (ARCHITECTURE.md, "Layout"). It holds tests only.
package archtest

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	module       = "pawl"
	maxFile      = 800
	maxFunction  = 80
	maxMethods   = 25
	maxInterface = 8
	maxFiles     = 25
	maxMain      = 200 // lines of cmd/pawl, which only starts the program
	maxAssembly  = 700 // lines of app, which only wires
)

// rule says what a package, or all packages below a folder ("x/*"), may import of ours. Third lists the third-party
// modules that are allowed; nil allows all. Pure packages may not use the listed standard packages, the clock or
// goroutines either.
type rule struct {
	pattern string
	ours    []string
	third   []string
	pure    bool
}

var none = []string{}

// rules is the import table. The first pattern that fits a package counts.
var rules = []rule{
	{pattern: ".", ours: none, third: []string{"github.com/oklog/ulid"}, pure: true},
	{pattern: "message", ours: []string{"."}, third: none, pure: true},
	{pattern: "text/strictjson", ours: none, third: []string{"github.com/go-json-experiment/json"}, pure: true},
	{pattern: "machine", ours: []string{"."}, third: none, pure: true},
	{pattern: "machine/*", ours: []string{".", "machine"}, third: none, pure: true},
	{pattern: "plan", ours: []string{".", "text/strictjson"}, third: []string{"go.yaml.in/yaml", "github.com/google/jsonschema-go", "github.com/invopop/jsonschema", "golang.org/x/text"}, pure: true},
	{pattern: "policy", ours: []string{"."}, third: []string{"mvdan.cc/sh", "golang.org/x/text"}, pure: true},
	{pattern: "effect", ours: []string{".", "plan", "policy", "triage", "text/strictjson"}, third: none, pure: true},
	{pattern: "audit", ours: []string{".", "text/strictjson"}, third: []string{"golang.org/x/mod", "github.com/oklog/ulid"}, pure: true},
	{pattern: "solution", ours: []string{".", "effect", "text/strictjson"}, third: none, pure: true},
	{pattern: "knowledge", ours: []string{".", "machine", "machine/workflow", "solution"}, third: none, pure: true},
	{pattern: "triage", ours: []string{".", "machine", "machine/*", "plan", "policy", "text/strictjson"}, third: none, pure: true},
	{pattern: "view", ours: []string{".", "machine", "machine/*", "plan", "audit", "effect", "policy", "solution"}, third: none, pure: true},
	{pattern: "view/viewtest", ours: []string{"machine", "machine/session"}},
	{pattern: "skill", ours: []string{".", "message"}, third: none, pure: true},
	{pattern: "backlog", ours: []string{".", "machine", "machine/board", "text/strictjson"}, third: none, pure: true},
	{pattern: "kernel", ours: []string{".", "machine", "machine/*", "plan", "policy", "triage", "effect", "audit", "view", "solution", "knowledge", "kernel/topo"}, third: none},
	{pattern: "kernel/topo", ours: none, third: none, pure: true},
	{pattern: "kernel/*", ours: []string{".", "machine", "machine/*", "plan", "policy", "triage", "effect", "audit", "view", "solution", "knowledge", "kernel"}, third: none},
	{pattern: "disk", ours: none, third: []string{"golang.org/x/sys"}},
	{pattern: "logs", ours: []string{".", "disk"}, third: none},
	{pattern: "follow", ours: none, third: none},
	{pattern: "lockfile", ours: []string{"."}, third: []string{"golang.org/x/sys"}},
	{pattern: "store/*", ours: []string{".", "lockfile", "audit", "kernel", "effect", "plan", "policy", "machine", "machine/*"}},
	{pattern: "presence", ours: []string{".", "lockfile", "store/sqlite"}, third: none},
	{pattern: "recording", ours: []string{".", "kernel", "kernel/replay"}, third: none},
	{pattern: "export", ours: []string{".", "audit", "driver/archive", "effect", "follow", "kernel", "kernel/projection", "kernel/query", "lockfile", "view"}, third: none},
	{pattern: "sandbox", ours: []string{".", "policy", "sandbox/seccomp", "sandbox/landlock", "sandbox/mediate", "sandbox/cause"}},
	{pattern: "sandbox/seccomp", ours: none, third: []string{"golang.org/x/sys"}},
	{pattern: "sandbox/landlock", ours: none, third: []string{"golang.org/x/sys"}},
	{pattern: "sandbox/cause", ours: none, third: none},
	{pattern: "sandbox/mediate", ours: []string{"sandbox/seccomp"}, third: []string{"golang.org/x/sys"}},
	{pattern: "sandbox/ignore", ours: []string{".", "sandbox"}},
	{pattern: "sandbox/*", ours: []string{".", "disk", "lockfile", "policy", "sandbox", "effect"}},
	{pattern: "driver/github", ours: []string{".", "backlog", "disk"}, third: none},
	{pattern: "driver/checkpoint", ours: []string{".", "effect", "follow", "policy", "sandbox", "sandbox/git"}, third: none},
	{pattern: "driver/compound", ours: []string{".", "agent", "driver/checkpoint", "driver/contextpack", "driver/verify", "effect", "sandbox/git", "workspace"}, third: none},
	{pattern: "driver/*", ours: []string{".", "plan", "policy", "effect", "audit", "view", "knowledge", "solution", "triage", "sandbox", "sandbox/*", "disk", "logs"}},
	{pattern: "agent", ours: []string{".", "plan", "policy", "triage", "effect", "logs", "agent/wire"}},
	{pattern: "agent/wire", ours: none, third: none, pure: true},
	{pattern: "agent/check", ours: []string{".", "plan", "triage", "sandbox", "agent", "agent/scripted", "agent/wire"}},
	{pattern: "agent/launch", ours: []string{"agent", "agent/mcptools", "driver/search", "effect", "sandbox", "sandbox/deps", "sandbox/egress"}, third: none},
	{pattern: "agent/registry", ours: []string{".", "agent", "agent/acp", "agent/check", "agent/gateway", "agent/headless", "agent/launch", "agent/llm", "agent/login", "agent/mcptools", "agent/script", "agent/wire", "cli", "driver/verify", "effect", "kernel", "message", "plan", "sandbox", "sandbox/keyring", "sandbox/outside"}, third: none},
	{pattern: "agent/*", ours: []string{".", "text/strictjson", "plan", "policy", "triage", "effect", "audit", "view", "sandbox", "agent", "agent/wire", "logs"}},
	{pattern: "tui", ours: []string{".", "disk", "message", "machine", "machine/*", "policy", "view", "triage", "cli/term"}, third: []string{"golang.org/x/term", "golang.org/x/sys", "charm.land/bubbletea/v2", "github.com/charmbracelet/", "github.com/muesli/cancelreader"}},
	{pattern: "mcp", ours: []string{".", "message", "machine", "machine/*", "plan", "policy", "effect", "audit", "view", "kernel", "kernel/*", "runner"}},
	{pattern: "notary", ours: []string{".", "audit", "kernel"}},
	{pattern: "workspace", ours: []string{".", "effect", "sandbox/git"}},
	{pattern: "workspace/relocate", ours: []string{".", "audit", "effect", "kernel", "kernel/query", "presence", "sandbox/git", "store/sqlite", "workspace"}, third: none},
	{pattern: "project", ours: []string{".", "agent/script", "cli", "driver/commit", "driver/github", "driver/knowledge", "driver/packages", "driver/prepare", "driver/review", "driver/search", "driver/verify", "effect", "knowledge", "sandbox", "sandbox/deps", "sandbox/egress", "sandbox/git"}, third: none},
	{pattern: "doctor", ours: []string{".", "effect", "sandbox", "sandbox/git", "sandbox/cause"}},
	{pattern: "demo", ours: []string{".", "plan", "policy", "triage", "sandbox", "sandbox/self", "agent/scripted"}},
	{pattern: "runner", ours: []string{".", "machine", "machine/*", "plan", "policy", "effect", "audit", "view", "kernel"}},
	{pattern: "cli", ours: []string{".", "text/strictjson", "disk", "message", "machine", "machine/*", "plan", "policy", "triage", "effect", "audit", "view", "kernel", "kernel/*", "runner", "backlog", "knowledge", "cli/*", "tui"}},
	{pattern: "cli/agents", ours: []string{".", "policy", "cli", "cli/term"}},
	{pattern: "cli/complete", ours: []string{".", "message", "machine", "machine/*", "policy", "skill", "view", "kernel", "kernel/query", "cli", "cli/term"}},
	{pattern: "cli/inspect", ours: []string{".", "machine/session", "audit", "effect", "view", "kernel/query", "logs", "cli", "cli/term"}},
	{pattern: "cli/skills", ours: []string{".", "skill", "sandbox", "cli"}},
	{pattern: "cli/manual", ours: []string{".", "cli"}},
	{pattern: "cli/orders", ours: []string{".", "message", "machine", "machine/*", "plan", "policy", "effect", "audit", "view", "kernel", "kernel/*", "runner", "knowledge", "solution", "triage", "cli", "cli/term", "tui"}},
	{pattern: "cli/board", ours: []string{".", "message", "machine", "machine/*", "plan", "policy", "effect", "audit", "view", "kernel", "kernel/*", "runner", "backlog", "cli", "cli/term", "tui"}},
	{pattern: "cli/flow", ours: []string{".", "message", "machine", "machine/*", "plan", "policy", "triage", "solution", "knowledge", "effect", "audit", "view", "kernel", "runner", "cli", "cli/term", "cli/orders", "tui"}},
	{pattern: "cli/*", ours: []string{".", "message", "policy", "view"}},
	{pattern: "app", ours: []string{
		".", "plan", "policy", "effect", "audit", "kernel", "kernel/projection", "kernel/query", "runner", "store/sqlite", "driver/*", "agent/launch", "agent/registry", "sandbox", "sandbox/egress", "sandbox/git",
		"follow", "logs", "presence", "recording", "export", "notary", "workspace", "workspace/relocate", "project", "doctor", "demo", "mcp", "cli",
	}, third: none},
	{pattern: "cmd/*", ours: []string{"*"}},
	{pattern: "internal/*", ours: []string{"*"}},
}

// forbidden are standard packages that a pure package must not import.
var forbidden = []string{"os", "os/exec", "net", "net/http", "database/sql", "syscall", "math/rand", "math/rand/v2", "crypto/rand", "log", "log/slog"}

// banned are package names that say nothing.
var banned = []string{"util", "utils", "common", "helper", "helpers", "base", "shared", "types", "misc", "models", "constants"}

type pkg struct {
	ImportPath   string
	Dir          string
	Name         string
	Imports      []string
	GoFiles      []string
	IgnoredFiles []string `json:"IgnoredGoFiles"`
	Doc          string
	Export       string // the file with what the compiler tells others of the package, where it was asked for
}

func (p pkg) rel() string {
	if p.ImportPath == module {
		return "."
	}
	return strings.TrimPrefix(p.ImportPath, module+"/")
}

// files are the names of all files of a package, those for other systems included, without its tests.
func (p pkg) files() []string {
	return slices.DeleteFunc(slices.Concat(p.GoFiles, p.IgnoredFiles), func(name string) bool { return strings.HasSuffix(name, "_test.go") })
}

// packages lists the packages of the project. All tests share one list.
func packages(t *testing.T) []pkg {
	t.Helper()
	all, err := listed()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	if len(all) < 15 {
		t.Fatalf("go list found %d packages", len(all))
	}
	return all
}

var listed = sync.OnceValues(func() ([]pkg, error) {
	return list("-json=ImportPath,Dir,Name,Imports,GoFiles,IgnoredGoFiles,Doc", "./...")
})

// list returns what go list says for its arguments.
func list(args ...string) (all []pkg, err error) {
	cmd := exec.Command("go", append([]string{"list", "-e"}, args...)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	for d := json.NewDecoder(bytes.NewReader(out)); err == nil; {
		var p pkg
		if err = d.Decode(&p); err == nil {
			all = append(all, p)
		}
	}
	if err != io.EOF {
		return nil, err
	}
	return all, nil
}

func fits(pattern, rel string) bool {
	if pattern == "*" {
		return true
	}
	ok, _ := path.Match(pattern, rel)
	return ok
}

func ruleFor(rel string) (rule, bool) {
	i := slices.IndexFunc(rules, func(r rule) bool { return fits(r.pattern, rel) })
	if i < 0 {
		return rule{}, false
	}
	return rules[i], true
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		rel := p.rel()
		if len(p.GoFiles) == 0 {
			continue
		}
		r, ok := ruleFor(rel)
		if !ok {
			t.Errorf("%s: no row of the import table fits; add one to internal/archtest", rel)
			continue
		}
		for _, imp := range p.Imports {
			if why := refused(r, rel, imp); why != "" {
				t.Errorf("%s imports %s: %s", rel, imp, why)
			}
		}
	}
}

func refused(r rule, rel, imp string) string {
	own, ours := strings.CutPrefix(imp, module+"/")
	if imp == module {
		own, ours = ".", true
	}
	switch {
	case ours:
		if own == rel || slices.ContainsFunc(r.ours, func(p string) bool { return fits(p, own) }) || testSupport(rel) {
			return ""
		}
		return "not allowed by the import table"
	case strings.Contains(strings.SplitN(imp, "/", 2)[0], "."):
		if r.third == nil || slices.ContainsFunc(r.third, func(m string) bool { return strings.HasPrefix(imp, m) }) {
			return ""
		}
		return "third-party module not allowed here"
	case imp == "os/exec" && rel != "sandbox" && !strings.HasPrefix(rel, "sandbox/") && !strings.HasPrefix(rel, "internal/") && !testSupport(rel):
		return "only sandbox starts processes"
	case imp == "testing" && !testSupport(rel):
		return "test code belongs into tests and suites"
	case r.pure && slices.Contains(forbidden, imp):
		return "the package is pure"
	}
	return ""
}

// testSupport reports whether a package is a suite or test plumbing.
func testSupport(rel string) bool {
	return strings.HasSuffix(rel, "test") || strings.HasPrefix(rel, "internal/")
}

func TestPurity(t *testing.T) {
	for _, p := range packages(t) {
		r, ok := ruleFor(p.rel())
		if !ok || !r.pure && p.rel() != "kernel" {
			continue
		}
		for _, name := range p.GoFiles {
			inspect(t, filepath.Join(p.Dir, name), func(n ast.Node) {
				switch n := n.(type) {
				case *ast.GoStmt:
					t.Errorf("%s: a pure package starts no goroutine", fset.Position(n.Pos()))
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After"}, n.Sel.Name) {
						t.Errorf("%s: a pure package reads no clock", fset.Position(n.Pos()))
					}
				}
			})
		}
	}
}

// source is a file of Go, read and parsed once for all tests.
type source struct {
	raw  []byte
	tree *ast.File
}

var (
	fset    = token.NewFileSet()
	sources = map[string]source{}
)

// lines is how many lines a file has.
func (s source) lines() int { return bytes.Count(s.raw, []byte("\n")) }

func parse(t *testing.T, file string) source {
	t.Helper()
	s, ok := sources[file]
	if ok {
		return s
	}
	var err error
	if s.raw, err = os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	if s.tree, err = parser.ParseFile(fset, file, s.raw, parser.ParseComments|parser.SkipObjectResolution); err != nil {
		t.Fatal(err)
	}
	sources[file] = s
	return s
}

func inspect(t *testing.T, file string, see func(ast.Node)) {
	t.Helper()
	ast.Inspect(parse(t, file).tree, func(n ast.Node) bool { see(n); return true })
}

func TestBudgets(t *testing.T) {
	for _, p := range packages(t) {
		if n := len(p.GoFiles) + len(p.IgnoredFiles); n > maxFiles {
			t.Errorf("%s: %d files, at most %d", p.rel(), n, maxFiles)
		}
		if p.Doc == "" && len(p.GoFiles) > 0 {
			t.Errorf("%s: no package comment", p.rel())
		}
		if slices.Contains(banned, p.Name) {
			t.Errorf("%s: the package's name says nothing", p.rel())
		}
		methods, lines := map[string]int{}, 0
		for _, name := range p.GoFiles {
			lines += budget(t, filepath.Join(p.Dir, name), methods)
		}
		if most, ok := map[string]int{"cmd/pawl": maxMain, "app": maxAssembly}[p.rel()]; ok && lines > most {
			t.Errorf("%s: %d lines, at most %d; what it holds beside wiring has a room of its own (ARCHITECTURE.md)", p.rel(), lines, most)
		}
		for typ, n := range methods {
			if n > maxMethods {
				t.Errorf("%s.%s: %d methods, at most %d", p.rel(), typ, n, maxMethods)
			}
		}
	}
}

// budget holds a file to its limits, counts the methods in it, and returns how many lines it has.
func budget(t *testing.T, file string, methods map[string]int) (lines int) {
	t.Helper()
	if lines = parse(t, file).lines(); lines > maxFile {
		t.Errorf("%s: %d lines, at most %d", file, lines, maxFile)
	}
	inspect(t, file, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if lines := fset.Position(n.End()).Line - fset.Position(n.Pos()).Line + 1; lines > maxFunction {
				t.Errorf("%s: %s has %d lines, at most %d", fset.Position(n.Pos()), n.Name.Name, lines, maxFunction)
			}
			if n.Recv != nil {
				methods[receiver(n.Recv.List[0].Type)]++
			}
			if n.Recv == nil && n.Name.Name == "init" {
				t.Errorf("%s: no init functions", fset.Position(n.Pos()))
			}
		case *ast.InterfaceType:
			if len(n.Methods.List) > maxInterface {
				t.Errorf("%s: interface with %d methods, at most %d", fset.Position(n.Pos()), len(n.Methods.List), maxInterface)
			}
		}
	})
	return lines
}

// receiver names the type that a method belongs to.
func receiver(e ast.Expr) string {
	name, _, _ := strings.Cut(strings.TrimLeft(types.ExprString(e), "*("), "[")
	return name
}

// TestAuditEventsAreNamed: what a record tells is a constant of the kernel (AuditEvent), so that who reads the log finds who writes it.
func TestAuditEventsAreNamed(t *testing.T) {
	seen := 0
	for _, p := range packages(t) {
		if p.rel() != "kernel" {
			continue
		}
		for _, name := range p.GoFiles {
			inspect(t, filepath.Join(p.Dir, name), func(n ast.Node) {
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) != 4 {
					return
				}
				if f, ok := call.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "record" {
					return
				}
				seen++
				ast.Inspect(call.Args[1], func(n ast.Node) bool {
					if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
						t.Errorf("%s: the event %s is no constant", fset.Position(lit.Pos()), lit.Value)
					}
					return true
				})
			})
		}
	}
	if seen < 80 {
		t.Errorf("%d records", seen)
	}
}

// TestFacesSeeNoRows: what a face shows are answers (kernel/query) and outcomes. It reads no row, and does not ask the store for one.
func TestFacesSeeNoRows(t *testing.T) {
	seen := 0
	for _, p := range packages(t) {
		rel := p.rel()
		if !isFace(rel) {
			continue
		}
		for _, name := range p.GoFiles {
			seen++
			inspect(t, filepath.Join(p.Dir, name), func(n ast.Node) {
				if what := ofRows(n); what != "" && rel+" "+what != opening {
					t.Errorf("%s: %s; ask kernel/query", fset.Position(n.Pos()), what)
				}
			})
		}
	}
	if seen < 80 {
		t.Errorf("%d files were looked at", seen)
	}
}

// opening is where the program puts a workspace together: it says where its store is.
const opening = "app kernel.At"

// ofRows names what a piece of code has to do with rows, "" where that is nothing.
func ofRows(n ast.Node) string {
	switch n := n.(type) {
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) == 0 && f.Sel.Name == "Store" {
			return types.ExprString(n)
		}
	case *ast.SelectorExpr:
		x, ok := n.X.(*ast.Ident)
		if ok && x.Name == "kernel" && slices.Contains([]string{"At", "Batch", "Decode", "Row", "Select", "Write"}, n.Sel.Name) {
			return types.ExprString(n)
		}
	}
	return ""
}

// TestRefusesWhatItShould guards the guard: a table that lets everything pass would never be noticed.
func TestRefusesWhatItShould(t *testing.T) {
	for _, c := range []struct{ rel, imp string }{
		{"kernel", module + "/store/sqlite"}, {"machine/task", module + "/machine/turn"}, {"plan", "os"}, {"cli", "os/exec"},
		{"driver/file", module + "/driver/search"}, {"driver/file", module + "/kernel"}, {"runner", module + "/store/sqlite"}, {"view", "net/http"},
		{"policy", "github.com/spf13/cobra"}, {"store/sqlite", module + "/runner"}, {"tui", module + "/kernel"},
		{"driver/compound", module + "/driver/land"}, {"export", module + "/cli"}, {"project", module + "/kernel"}, {"presence", module + "/runner"}, {"app", module + "/agent/llm"},
		{"agent/wire", module + "/effect"}, {"agent/wire", "net/http"},
	} {
		r, ok := ruleFor(c.rel)
		if !ok || refused(r, c.rel, c.imp) == "" {
			t.Errorf("%s may import %s", c.rel, c.imp)
		}
	}
}
