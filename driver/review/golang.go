package review

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"pawl/kernel/effect"
)

// goSyntax applies the rules for Go. A file that does not parse is told of and looked at no further.
func (f *file) goSyntax(data []byte) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, f.rel, data, parser.SkipObjectResolution)
	if err != nil {
		line := 1
		if tree != nil {
			if list, ok := err.(interface{ Unwrap() []error }); ok && len(list.Unwrap()) > 0 {
				err = list.Unwrap()[0]
			}
		}
		f.add(effect.Critical, "no-syntax", line, firstLine(err.Error()))
		return
	}
	g := golang{file: f, set: set, test: strings.HasSuffix(f.rel, "_test.go"), imports: map[string]string{}}
	for _, i := range tree.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			continue
		}
		name := p[strings.LastIndexByte(p, '/')+1:]
		if i.Name != nil {
			name = i.Name.Name
		}
		g.imports[name] = p
		if !g.test && (p == "crypto/md5" || p == "crypto/sha1" || p == "crypto/des" || p == "crypto/rc4") {
			f.add(effect.Warning, "weak-hash", g.line(i))
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool { g.node(n); return true })
}

func firstLine(s string) string { s, _, _ = strings.Cut(s, "\n"); return s }

type golang struct {
	*file
	set     *token.FileSet
	test    bool
	imports map[string]string
}

func (g golang) line(n ast.Node) int { return g.set.Position(n.Pos()).Line }

func (g golang) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		g.function(n)
	case *ast.CallExpr:
		g.call(n)
	case *ast.KeyValueExpr:
		if isName(n.Key, "InsecureSkipVerify") && isName(n.Value, "true") {
			g.add(effect.Critical, "tls", g.line(n))
		}
	case *ast.IfStmt:
		if n.Body != nil && len(n.Body.List) == 0 && n.Else == nil && checksError(n.Cond) {
			g.add(effect.Warning, "swallowed", g.line(n))
		}
	}
}

func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

func checksError(e ast.Expr) bool {
	b, ok := e.(*ast.BinaryExpr)
	return ok && b.Op == token.NEQ && isName(b.X, "err") && isName(b.Y, "nil")
}

// function judges how hard a function is to follow.
func (g golang) function(d *ast.FuncDecl) {
	if d.Body == nil {
		return
	}
	name := d.Name.Name
	paths := 1
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			paths++
		case *ast.CaseClause:
			if n.List != nil {
				paths++
			}
		case *ast.CommClause:
			if n.Comm != nil {
				paths++
			}
		case *ast.BinaryExpr:
			if n.Op == token.LAND || n.Op == token.LOR {
				paths++
			}
		}
		return true
	})
	switch {
	case g.test:
	case paths > tangled:
		g.add(effect.Warning, "complexity", g.line(d), name, strconv.Itoa(paths), strconv.Itoa(complexity))
	case paths > complexity:
		g.add(effect.Info, "complexity", g.line(d), name, strconv.Itoa(paths), strconv.Itoa(complexity))
	}
	if lines := g.set.Position(d.End()).Line - g.line(d) + 1; lines > longFunc && !g.test {
		g.add(effect.Info, "long-function", g.line(d), name, strconv.Itoa(lines), strconv.Itoa(longFunc))
	}
}

// queries are methods whose first text is a statement of SQL.
var queries = []string{"Query", "QueryRow", "Exec", "QueryContext", "QueryRowContext", "ExecContext", "Prepare",
	"PrepareContext"}

// dangers are the calls that a reviewer looks at: of what package and name, and with what arguments. A call has the
// first that fits.
var dangers = []struct {
	rule     string
	severity effect.Severity
	fits     func(pkg, name string, args []ast.Expr) bool
}{
	{"shell-command", effect.Critical, runsShell},
	{"sql", effect.Critical, func(_, name string, args []ast.Expr) bool {
		return slices.Contains(queries, name) &&
			slices.ContainsFunc(args[:min(len(args), 2)], func(a ast.Expr) bool { return built(a) && sqlText(a) })
	}},
	{"html", effect.Warning, func(pkg, name string, args []ast.Expr) bool {
		return pkg == "html/template" && (name == "HTML" || name == "JS") && len(args) == 1 && !constant(args[0])
	}},
	{"wide-open", effect.Warning, func(pkg, name string, args []ast.Expr) bool {
		return pkg == "os" && name == "Chmod" && len(args) == 2 && isNumber(args[1], "0777", "0o777")
	}},
}

// runsShell reports whether a call gives a shell a command that is put together.
func runsShell(pkg, name string, args []ast.Expr) bool {
	if pkg != "os/exec" || name != "Command" && name != "CommandContext" {
		return false
	}
	if name == "CommandContext" && len(args) > 0 {
		args = args[1:]
	}
	return len(args) >= 3 && isText(args[0], "sh", "bash", "/bin/sh", "/bin/bash", "cmd", "powershell") &&
		isText(args[1], "-c", "/c", "-Command") && built(args[2])
}

func (g golang) call(c *ast.CallExpr) {
	s, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	pkg := ""
	if id, ok := s.X.(*ast.Ident); ok {
		pkg = g.imports[id.Name]
	}
	for _, d := range dangers {
		if d.fits(pkg, s.Sel.Name, c.Args) {
			g.add(d.severity, d.rule, g.line(c))
			return
		}
	}
}

func isText(e ast.Expr, among ...string) bool {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return false
	}
	s, err := strconv.Unquote(l.Value)
	return err == nil && slices.Contains(among, s)
}

func isNumber(e ast.Expr, among ...string) bool {
	l, ok := e.(*ast.BasicLit)
	return ok && l.Kind == token.INT && slices.Contains(among, l.Value)
}

// built reports whether a text is put together from something that is no constant.
func built(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (!constant(e.X) || !constant(e.Y))
	case *ast.CallExpr:
		s, ok := e.Fun.(*ast.SelectorExpr)
		return ok && s.Sel.Name == "Sprintf" && len(e.Args) > 1
	}
	return false
}

func constant(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.ParenExpr:
		return constant(e.X)
	case *ast.BinaryExpr:
		return constant(e.X) && constant(e.Y)
	}
	return false
}

// sqlText reports whether one of the constants in a text begins a statement.
func sqlText(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			s := strings.ToUpper(strings.TrimLeft(l.Value, "\"` \n\t"))
			for _, verb := range []string{"SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH ", "DROP "} {
				found = found || strings.HasPrefix(s, verb)
			}
		}
		return !found
	})
	return found
}
