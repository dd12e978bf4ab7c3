package testlist

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// TakesOver reports whether a new file of tests changes what the others show: it runs them all in the place of the
// runner, or, when it is loaded, puts something in the place of what they try. One in Go that cannot be parsed may.
func TakesOver(file string, text []byte) bool {
	switch path.Ext(file) {
	case ".go":
		return strings.HasSuffix(file, "_test.go") && goTakesOver(text)
	case ".py":
		return pythonTakesOver(string(text))
	}
	return false
}

// goTakesOver looks for TestMain, and for assignments that are made before the tests run to what the file does not
// declare.
func goTakesOver(text []byte) bool {
	f, err := parser.ParseFile(token.NewFileSet(), "", text, 0) //nolint:staticcheck // objects of the file alone are wanted
	if err != nil {
		return true
	}
	over := false
	assigns := func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && a.Tok != token.DEFINE {
			over = over || slices.ContainsFunc(a.Lhs, func(to ast.Expr) bool { return foreignTo(to, f) })
		}
		return true
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "TestMain" {
				return true
			}
			if d.Recv == nil && d.Name.Name == "init" {
				ast.Inspect(d, assigns)
			}
		case *ast.GenDecl:
			ast.Inspect(d, assigns)
		}
	}
	return over
}

// foreignTo reports whether what is assigned to is declared in another file: a variable, or one of another package.
func foreignTo(to ast.Expr, f *ast.File) bool {
	switch to := to.(type) {
	case *ast.Ident:
		return to.Name != "_" && to.Obj == nil
	case *ast.SelectorExpr:
		x, ok := to.X.(*ast.Ident)
		return ok && x.Obj == nil && slices.ContainsFunc(f.Imports, func(s *ast.ImportSpec) bool {
			name := path.Base(strings.Trim(s.Path.Value, "\"`"))
			if s.Name != nil {
				name = s.Name.Name
			}
			return name == x.Name
		})
	case *ast.ParenExpr:
		return foreignTo(to.X, f)
	case *ast.StarExpr:
		return foreignTo(to.X, f)
	case *ast.IndexExpr:
		return foreignTo(to.X, f)
	}
	return false
}

var (
	// pythonAssigns matches an assignment to a part of something else, when a module is read.
	pythonAssigns = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z_]\w*(?:\.\w+|\[[^\]]*\])+\s*[-+*/|&]?=[^=]`)
	})
	pythonPatches = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:setattr|delattr|exec|eval|reload|__import__)\s*\(|\bpatch\b.*\.start\(|\b(?:__dict__|globals\(\)|sys\.modules|builtins|` +
			`pytest_plugins|_pytest|os\._exit|sys\.(?:exit|settrace|setprofile|meta_path)|sitecustomize)\b|^pytest_\w+\s*=|^def pytest_\w+|^load_tests\b|^def load_tests\b`)
	})
	pythonHarmless = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:os\.environ\[|sys\.path\b|sys\.modules\.pop\(__name__)`)
	})
)

// pythonTakesOver looks at what runs when a module is read, line by line: what stands at the left edge, and the blocks of
// conditions there.
func pythonTakesOver(text string) bool {
	quoted, inside := "", false // a function or class, whose body runs later
	for line := range strings.Lines(text) {
		if quoted = stillQuoted(quoted, line); quoted != "" {
			continue
		}
		code := strings.TrimRight(line, " \t\r\n")
		edge := code != "" && !strings.ContainsAny(code[:1], " \t)]}#")
		if edge {
			inside = strings.HasPrefix(code, "def ") || strings.HasPrefix(code, "async ") || strings.HasPrefix(code, "class ")
		}
		switch code = strings.TrimLeft(code, " \t"); {
		case inside && !edge, pythonHarmless().MatchString(code):
		case pythonPatches().MatchString(code), pythonAssigns().MatchString(code):
			return true
		}
	}
	return false
}
