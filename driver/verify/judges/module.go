package judges

import (
	"crypto/sha256"
	"encoding/hex"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/modfile"
)

// Module is a digest of what a go.mod says besides which modules are required, "" where it says nothing: replaced and
// left out modules decide what code tests are made of. What cannot be parsed says all of it.
func Module(text []byte) string {
	f, err := modfile.ParseLax("go.mod", text, nil)
	if err != nil {
		return digest(string(text))
	}
	full, err := modfile.Parse("go.mod", text, nil)
	if err == nil {
		f = full
	}
	var says []string
	for _, stmt := range f.Syntax.Stmt {
		switch s := stmt.(type) {
		case *modfile.Line:
			says = append(says, judging(s.Token))
		case *modfile.LineBlock:
			for _, line := range s.Line {
				says = append(says, judging(append(slices.Clone(s.Token), line.Token...)))
			}
		}
	}
	says = slices.DeleteFunc(says, func(s string) bool { return s == "" })
	if len(says) == 0 {
		return ""
	}
	slices.Sort(says)
	return digest(strings.Join(says, "\n"))
}

// judging is a line of go.mod, "" where it is one that decides nothing of how the module is judged.
func judging(words []string) string {
	if len(words) == 0 || slices.Contains([]string{"module", "go", "toolchain", "require", "retract"}, words[0]) {
		return ""
	}
	return strings.Join(words, " ")
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// module is about go.mod: one that says other things than which modules are required, and one that takes packages out
// of the module around them, or lets them into it.
func (k *known) module(name string) bool {
	if path.Base(name) != "go.mod" || strings.Contains(name, "testdata/") {
		return false
	}
	was, _ := k.was(name)
	text, _ := k.text(name)
	switch k.status[name] {
	case "A":
		return k.holds(path.Dir(name), k.stood()) || Module([]byte(text)) != "" && !strings.Contains(name, "/")
	case "D":
		return k.holds(path.Dir(name), k.files())
	}
	return Module([]byte(was)) != Module([]byte(text))
}

// holds reports whether there is code in Go among files of a folder.
func (k *known) holds(dir string, files []string) bool {
	return slices.ContainsFunc(files, func(p string) bool {
		return path.Ext(p) == ".go" && (dir == "." || strings.HasPrefix(p, dir+"/"))
	})
}

// foreignDir matches folders with packages of others.
var foreignDir = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|/)(?:(node_modules|site-packages|dist-packages|\.venv|venv|bower_components)|(?:vendor|third_party|thirdparty))/`)
})

// foreign is about packages of others that the tree holds: assertions and runners are among them, and nothing of them
// is the work's. Whole folders that were added with a new dependency are left out, but for packages that Node or Python
// would find before others.
func (k *known) foreign(name string) bool {
	at := foreignDir().FindStringSubmatchIndex(name)
	if at == nil || path.Base(name) == "modules.txt" {
		return false
	}
	if at[2] >= 0 || k.status[name] != "A" {
		return true
	}
	dir := path.Dir(name)
	return slices.ContainsFunc(k.stood(), func(p string) bool { return path.Dir(p) == dir && IsSource(p) })
}

// supports is about what tests are made of: code of the project that no other code of it uses, but tests do, and that
// asserts something or says by its name that it is for tests.
func (k *known) supports(name string) bool {
	if Test(name) || k.status[name] == "A" && path.Ext(name) != ".go" {
		return false
	}
	switch path.Ext(name) {
	case ".go":
		return k.goSupport(name)
	case ".rs":
		return k.rustSupport(name)
	case ".py", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx":
		return k.scriptSupport(name)
	}
	return false
}

// forTests matches names of what tests are made of.
var forTests = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[_./-])(?:assert(?:ion)?s?|expect(?:ation)?s?|check(?:s|ers?|ing)?|` +
		`test(?:s|ing|utils?|helpers?|support|case|kit)?|[a-z]+test|supports?|helpers?|fixtures?|mocks?|fakes?|stubs?|harness|matchers?)(?:$|[_./-])`)
})

// goSupport is about packages that only tests of others import, and about functions that only tests of their own
// package call.
func (k *known) goSupport(name string) bool {
	dir := path.Dir(name)
	beside := func(p string) bool { return path.Dir(p) == dir && path.Ext(p) == ".go" }
	if k.status[name] == "A" && !slices.ContainsFunc(k.stood(), beside) {
		return false
	}
	was, _ := k.was(name)
	imported := importPath(k, dir)
	program, tests := k.sources()
	imports := func(s source) bool {
		return path.Ext(s.path) == ".go" && path.Dir(s.path) != dir && slices.Contains(goImports(s.text), imported)
	}
	if imported != "" && slices.ContainsFunc(tests, imports) && !slices.ContainsFunc(program, imports) {
		asserts := slices.Contains(goImports(was), "testing")
		for _, s := range program {
			asserts = asserts || path.Dir(s.path) == dir && slices.Contains(goImports(s.text), "testing")
		}
		if asserts || forTests().MatchString(path.Base(dir)) {
			return true
		}
	}
	return slices.ContainsFunc(k.changedFunctions(name, was), func(f string) bool {
		word := regexp.MustCompile(`\b` + regexp.QuoteMeta(f) + `\b`)
		uses := func(s source) bool {
			return path.Ext(s.path) == ".go" && path.Dir(s.path) == dir && word.MatchString(withoutDeclaration(s.text, f))
		}
		return slices.ContainsFunc(tests, uses) && !slices.ContainsFunc(program, uses)
	})
}

// withoutDeclaration is a text without the declaration of a function and the comment above it, as far as lines show
// them.
func withoutDeclaration(text, f string) string {
	return regexp.MustCompile(`(?m)(?:^//.*\n)*^func `+regexp.QuoteMeta(f)+`\b.*(?:\n(?:[\t ].*|))*\n?`).ReplaceAllString(text, "\n")
}

// changedFunctions are the functions of a file in Go that other packages cannot call, that were there and that say
// something else now.
func (k *known) changedFunctions(name, was string) []string {
	text, _ := k.text(name)
	now := functions(text)
	var out []string
	for f, body := range functions(was) {
		if !ast.IsExported(f) && f != "main" && f != "init" && now[f] != body {
			out = append(out, f)
		}
	}
	return out
}

// functions are those of a file in Go without a receiver, with what they say.
func functions(text string) map[string]string {
	set, out := token.NewFileSet(), map[string]string{}
	f, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
			out[fn.Name.Name] = text[set.Position(fn.Pos()).Offset:set.Position(fn.End()).Offset]
		}
	}
	return out
}

// goImports are the paths that a file in Go imports.
func goImports(text string) []string {
	f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
	if err != nil {
		return nil
	}
	var out []string
	for _, s := range f.Imports {
		out = append(out, strings.Trim(s.Path.Value, "\"`"))
	}
	return out
}

// importPath is the path by which a folder is imported, "" where no module is around it.
func importPath(k *known, dir string) string {
	for up, below := dir, ""; ; up, below = path.Dir(up), path.Join(path.Base(up), below) {
		if text, ok := k.was(path.Join(up, "go.mod")); ok {
			if m := modfile.ModulePath([]byte(text)); m != "" {
				return path.Join(m, below)
			}
			return ""
		}
		if up == "." {
			return ""
		}
	}
}

// rustSupport is about modules that are compiled for tests alone, and crates that only tests depend on.
func (k *known) rustSupport(name string) bool {
	module := strings.TrimSuffix(path.Base(name), ".rs")
	if module == "mod" {
		module = path.Base(path.Dir(name))
	}
	declared := regexp.MustCompile(`#\[cfg\(test\)\]\s*(?:pub(?:\([a-z]+\))?\s+)?mod\s+` + regexp.QuoteMeta(module) + `\s*;`)
	program, _ := k.sources()
	for _, s := range program {
		if path.Ext(s.path) == ".rs" && declared.MatchString(s.text) {
			return true
		}
	}
	for _, p := range k.stood() {
		if path.Base(p) != "Cargo.toml" {
			continue
		}
		text, _ := k.was(p)
		for _, dir := range onlyForTests(text) {
			if within(name, path.Join(path.Dir(p), dir)) {
				return true
			}
		}
	}
	return false
}

func within(name, dir string) bool { return strings.HasPrefix(name, dir+"/") }

var (
	cargoTable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*\[+([^\]]+)\]`) })
	cargoPath  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bpath\s*=\s*["']([^"']+)["']`) })
)

// onlyForTests are the folders of crates that a manifest of cargo names for tests, and for nothing else.
func onlyForTests(manifest string) []string {
	var tests, program []string
	table := ""
	for line := range strings.Lines(manifest) {
		if m := cargoTable().FindStringSubmatch(line); m != nil {
			table = m[1]
		}
		m := cargoPath().FindStringSubmatch(line)
		switch {
		case m == nil:
		case strings.Contains(table, "dev-dependencies"):
			tests = append(tests, m[1])
		case strings.Contains(table, "dependencies"):
			program = append(program, m[1])
		}
	}
	return slices.DeleteFunc(tests, func(p string) bool { return slices.Contains(program, p) })
}
