// Package testlist finds the tests that a tree declares, from its source alone: no code of the tree runs, so that
// nothing in it can hide a test. What cannot be told without running it (names that are computed, tests that a loop
// makes) is not listed; the list is a lower bound of what a run has to name.
package testlist

import (
	"bytes"
	"go/ast"
	gobuild "go/build"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/mod/modfile"

	"pawl/text/testrun"
)

// maxSource bounds what is read of one file, in bytes.
const maxSource = 4 << 20

// Test is a test that a tree declares.
type Test struct {
	testrun.Name
	// Path is the file that it stands in, from the folder in which the check runs, and Source what it says there: the
	// whole of it in Go, elsewhere all up to the next test.
	Path, Source string
}

// Names are those of tests.
func Names(tests []Test) []testrun.Name {
	var out []testrun.Name
	for _, t := range tests {
		out = append(out, t.Name)
	}
	return out
}

// Of lists the tests that a runner would find in a tree whose top folder is the one that the check runs in. The names
// are those of testrun for that runner. Files that cannot be read, or not be parsed, declare nothing: the runner says
// of them what is wrong. Tags are the build tags of Go that the check names.
func Of(tree fs.FS, runner testrun.Runner, tags []string) []Test {
	l := list{tree: tree, tags: tags}
	switch runner {
	case testrun.Go:
		if text, err := read(tree, "go.mod"); err == nil {
			l.module = modfile.ModulePath(text)
		}
		l.walk(goSkips, l.goFile, ".go")
	case testrun.Node:
		l.walk(scriptSkips, l.nodeFile, ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")
	case testrun.Java:
		l.walk(scriptSkips, l.javaFile, ".java", ".kt", ".groovy")
	case testrun.Cargo:
		l.walk(rustSkips, l.rustFile, ".rs")
	case testrun.Unittest, testrun.Pytest:
		l.walk(scriptSkips, func(file string, text []byte) { l.pythonFile(runner, file, text) }, ".py")
	}
	return l.found
}

type list struct {
	tree   fs.FS
	tags   []string
	module string // the name of the Go module
	found  []Test
}

func (l *list) add(path, file, test, source string) {
	l.found = append(l.found, Test{testrun.Name{File: file, Test: test}, path, source})
}

// upTo completes the tests of one file behind the first ones, of which is known where each begins: it goes on to the
// next.
func (l *list) upTo(first int, text []byte, begins []int) {
	for i, from := range begins {
		to := len(text)
		if i+1 < len(begins) {
			to = begins[i+1]
		}
		l.found[first+i].Source = string(text[from:to])
	}
}

// walk reads the files with one of the endings. A folder that skip names is not entered.
func (l *list) walk(skip func(tree fs.FS, dir string) bool, each func(file string, text []byte), endings ...string) {
	_ = fs.WalkDir(l.tree, ".", func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && e != nil && e.IsDir():
			return fs.SkipDir
		case err != nil:
			return nil
		case e.IsDir() && p != "." && skip(l.tree, p):
			return fs.SkipDir
		case !e.Type().IsRegular() || !slices.Contains(endings, path.Ext(p)):
			return nil
		}
		if text, err := read(l.tree, p); err == nil {
			each(p, text)
		}
		return nil
	})
}

// read reads a regular file. Its kind is asked for first, because opening a named pipe waits.
func read(tree fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(tree, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	f, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxSource))
}

// goSkips are the folders that no pattern of the go command leads into (go help packages), and other modules.
func goSkips(tree fs.FS, dir string) bool {
	name := path.Base(dir)
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "vendor" {
		return true
	}
	_, err := fs.Stat(tree, path.Join(dir, "go.mod"))
	return err == nil
}

// scriptSkips are folders that hold other people's code or are none of the project's source.
func scriptSkips(_ fs.FS, dir string) bool {
	switch name := path.Base(dir); name {
	case "node_modules", "__pycache__", "venv", "site-packages":
		return true
	default:
		return strings.HasPrefix(name, ".")
	}
}

// goFile lists the tests, fuzz tests and examples with an output of a file that is built here.
func (l *list) goFile(file string, text []byte) {
	if !strings.HasSuffix(file, "_test.go") || !l.built(file) {
		return
	}
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return
	}
	at := l.importPath(path.Dir(file))
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || f.Type.TypeParams != nil {
			continue
		}
		if params := f.Type.Params.NumFields(); params == 1 && (isTest(f, "Test", "T") || isTest(f, "Fuzz", "F")) ||
			params == 0 && startsWith(f.Name.Name, "Example") && hasOutput(parsed, f) {
			l.add(file, at, f.Name.Name, string(text[set.Position(f.Pos()).Offset:set.Position(f.End()).Offset]))
		}
	}
}

// built reports whether the file belongs to the package on this machine.
func (l *list) built(file string) bool {
	context := gobuild.Default
	context.BuildTags = l.tags
	context.JoinPath = path.Join
	context.OpenFile = func(name string) (io.ReadCloser, error) { return l.tree.Open(name) }
	ok, err := context.MatchFile(path.Dir(file), path.Base(file))
	return ok && err == nil
}

// importPath is the name of the package in a folder.
func (l *list) importPath(dir string) string {
	if dir == "." {
		return l.module
	}
	return l.module + "/" + dir
}

// isTest reports whether a function is one of go test's: its name, and a parameter that is a pointer to the type of
// that name. What the package testing is called in the file does not matter.
func isTest(f *ast.FuncDecl, prefix, param string) bool {
	if !startsWith(f.Name.Name, prefix) {
		return false
	}
	pointer, ok := f.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	switch t := pointer.X.(type) {
	case *ast.SelectorExpr:
		return t.Sel.Name == param
	case *ast.Ident:
		return t.Name == param
	}
	return false
}

// startsWith tells TestSub and Test from Testament, as go test does.
func startsWith(name, prefix string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok || name == "TestMain" {
		return false
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || !unicode.IsLower(r)
}

var exampleOutput = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\s*(unordered )?output:`)
})

// hasOutput reports whether an example says what it prints; one that does not is compiled and not run. The last comment
// of the function says it.
func hasOutput(file *ast.File, f *ast.FuncDecl) bool {
	last := ""
	for _, group := range file.Comments {
		if f.Body != nil && group.Pos() > f.Body.Lbrace && group.End() < f.Body.Rbrace {
			last = group.Text()
		}
	}
	return exampleOutput().MatchString(last)
}

var (
	nodeTest = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`["'](node:)?test["']`) })
	// nodeCall matches a test with a name that is written out. One within a suite is listed by its own name.
	nodeCall = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^[ \t]*(?:await[ \t]+)?(?:test|it)(?:\.(?:only|skip|todo))?\(\s*` +
			"(?:'([^'\\\\\n]+)'|\"([^\"\\\\\n]+)\"|`([^`\\\\$\n]+)`)" + `\s*[,)]`)
	})
)

// nodeFile lists the tests of a file that uses Node's own runner.
func (l *list) nodeFile(file string, text []byte) {
	if !nodeTest().Match(text) {
		return
	}
	var begins []int
	first, code := len(l.found), nodeCode(text)
	for _, at := range nodeCall().FindAllSubmatchIndex(code, -1) {
		for i := 2; i < len(at); i += 2 {
			if at[i] >= 0 {
				l.add(file, file, string(code[at[i]:at[i+1]]), "")
			}
		}
		begins = append(begins, at[0])
	}
	l.upTo(first, code, begins)
}

// nodeCode drops comments and texts of several lines, in which a call is none. Regular expressions are not told apart:
// one with a quote in it hides what follows on its line.
func nodeCode(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		n := 1
		switch c := text[0]; {
		case bytes.HasPrefix(text, []byte("//")):
			text = text[lineEnd(text):]
			continue
		case bytes.HasPrefix(text, []byte("/*")):
			text = text[2+through(text[2:], "*/"):]
			continue
		case c == '`':
			if n = 1 + through(text[1:], "`"); bytes.IndexByte(text[:n], '\n') >= 0 {
				text = text[n:]
				continue
			}
		case c == '"' || c == '\'':
			n = 1 + min(through(text[1:], string(c)), lineEnd(text[1:]))
		}
		out = append(out, text[:n]...)
		text = text[n:]
	}
	return out
}

// lineEnd is the length up to the end of the line, without it.
func lineEnd(text []byte) int {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return i
	}
	return len(text)
}

// through is the length up to the end of the first mark that no backslash stands before, or that of the whole.
func through(text []byte, mark string) int {
	for i := 0; i+len(mark) <= len(text); i++ {
		if text[i] == '\\' {
			i++
		} else if string(text[i:i+len(mark)]) == mark {
			return i + len(mark)
		}
	}
	return len(text)
}

var (
	pythonClass = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^class[ \t]+(\w+)[ \t]*(?:\(([^)]*)\))?[ \t]*:`)
	})
	pythonTest = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([ \t]*)(?:async[ \t]+)?def[ \t]+(test\w*)[ \t]*\(`)
	})
)

// pythonFile lists the tests of a module: methods of test cases and, for pytest, functions. A class inherits tests that
// are not seen here, and one whose base is not known to be a test case is left to pytest's rule of names.
func (l *list) pythonFile(runner testrun.Runner, file string, text []byte) {
	base := path.Base(file)
	if !strings.HasPrefix(base, "test") && !strings.HasSuffix(base, "_test.py") {
		return
	}
	class, quoted := "", ""
	var begins []int
	first, at := len(l.found), 0
	add := func(name string) {
		l.add(file, file, name, "")
		begins = append(begins, at)
	}
	defer func() { l.upTo(first, text, begins) }()
	next := 0
	for line := range strings.Lines(string(text)) {
		at, next = next, next+len(line)
		if quoted = stillQuoted(quoted, line); quoted != "" {
			continue
		}
		if m := pythonClass().FindStringSubmatch(line); m != nil {
			class = ""
			if strings.Contains(m[2], "TestCase") || runner == testrun.Pytest && strings.HasPrefix(m[1], "Test") {
				class = m[1]
			}
			continue
		}
		m := pythonTest().FindStringSubmatch(line)
		switch {
		case m == nil:
			if line = strings.TrimRight(line, " \t\r\n"); line != "" && !strings.ContainsAny(line[:1], " \t#)]}@\"'") {
				class = "" // something else at the left edge ends a class
			}
		case m[1] == "" && runner == testrun.Pytest:
			class = ""
			add(m[2])
		case m[1] == "":
			class = ""
		case class != "" && len(m[1]) <= 4:
			add(class + "::" + m[2])
		}
	}
}

// stillQuoted follows texts in three quotes over several lines: it returns the quotes that are open behind a line.
func stillQuoted(open, line string) string {
	for line != "" {
		if open != "" {
			i := strings.Index(line, open)
			if i < 0 {
				return open
			}
			open, line = "", line[i+3:]
			continue
		}
		double, single := strings.Index(line, `"""`), strings.Index(line, `'''`)
		switch {
		case double < 0 && single < 0:
			return ""
		case single < 0 || double >= 0 && double < single:
			open, line = `"""`, line[double+3:]
		default:
			open, line = `'''`, line[single+3:]
		}
	}
	return open
}
