package contextpack

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"unicode/utf8"
)

// goFile is what go/parser finds in a file. One with mistakes is read as far as it can be understood.
type goFile struct {
	decls   []outlined
	imports []string
	about   string
	main    bool
}

func (g *goFile) read(path string, data []byte) {
	set := token.NewFileSet()
	if !utf8.Valid(data) {
		data = bytes.ToValidUTF8(data, []byte("?")) // the parser would stop there, and lines stay where they are
	}
	f, err := parser.ParseFile(set, path, data, parser.ParseComments|parser.SkipObjectResolution)
	if f == nil || err != nil && len(f.Decls) == 0 {
		return
	}
	line := func(p token.Pos) int { return set.PositionFor(p, false).Line }
	if f.Doc != nil {
		g.about = clip(sentence(f.Doc.Text()), 160)
	}
	for _, i := range f.Imports {
		if p, err := strconv.Unquote(i.Path.Value); err == nil && len(p) <= 256 {
			g.imports = append(g.imports, p)
		}
	}
	g.decls = []outlined{}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			o := outlined{name: d.Name.Name, kind: kindFunc, start: line(above(d.Pos(), d.Doc)), end: line(d.End())}
			if d.Recv != nil && len(d.Recv.List) > 0 {
				o.owner = receiver(d.Recv.List[0].Type)
			}
			g.main = g.main || d.Recv == nil && o.name == "main" && f.Name.Name == "main"
			g.decls = append(g.decls, o)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				g.spec(d, s, line)
			}
		}
	}
}

// spec adds the names of one specification. A declaration without parentheses is shown with its keyword and comment.
func (g *goFile) spec(d *ast.GenDecl, s ast.Spec, line func(token.Pos) int) {
	from, to := s.Pos(), s.End()
	if !d.Lparen.IsValid() {
		from, to = above(d.Pos(), d.Doc), d.End()
	}
	switch s := s.(type) {
	case *ast.TypeSpec:
		g.decls = append(g.decls, outlined{name: s.Name.Name, kind: kindType, start: line(above(from, s.Doc)),
			end: line(to)})
	case *ast.ValueSpec:
		for _, n := range s.Names {
			if n.Name != "_" {
				g.decls = append(g.decls, outlined{name: n.Name, kind: kindValue, start: line(above(from, s.Doc)),
					end: line(to)})
			}
		}
	}
}

func above(p token.Pos, doc *ast.CommentGroup) token.Pos {
	if doc != nil {
		return doc.Pos()
	}
	return p
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.ParenExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// sentence returns the first sentence of a comment in one line.
func sentence(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if i := strings.Index(s, ". "); i >= 0 {
		return s[:i+1]
	}
	return s
}
