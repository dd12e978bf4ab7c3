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
	f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return true
	}
	own, over := declaredIn(f), false
	assigns := func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && a.Tok != token.DEFINE {
			over = over || slices.ContainsFunc(a.Lhs, func(to ast.Expr) bool { return !own[assigned(to)] })
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

// declaredIn are the names of variables and parameters that a file declares, wherever it does.
func declaredIn(f *ast.File) map[string]bool {
	own := map[string]bool{"_": true}
	names := func(list []*ast.Ident) {
		for _, n := range list {
			own[n.Name] = true
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			names(n.Names)
		case *ast.Field:
			names(n.Names)
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				if id, ok := to.(*ast.Ident); ok && n.Tok == token.DEFINE {
					own[id.Name] = true
				}
			}
		case *ast.RangeStmt:
			for _, to := range []ast.Expr{n.Key, n.Value} {
				if id, ok := to.(*ast.Ident); ok && n.Tok == token.DEFINE {
					own[id.Name] = true
				}
			}
		}
		return true
	})
	return own
}

// assigned is the name of what an assignment is to: of the variable of which it changes a part, or of a package.
func assigned(to ast.Expr) string {
	switch to := to.(type) {
	case *ast.Ident:
		return to.Name
	case *ast.SelectorExpr:
		return assigned(to.X)
	case *ast.ParenExpr:
		return assigned(to.X)
	case *ast.StarExpr:
		return assigned(to.X)
	case *ast.IndexExpr:
		return assigned(to.X)
	}
	return ""
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

// pythonTakesOver looks at what runs when a module is read, line by line: what stands at the left edge, and the blocks
// of conditions there.
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
