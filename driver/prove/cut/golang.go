package cut

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// golang is a file in Go whose parts are found.
type golang struct {
	set         *token.FileSet
	before, now string
	out         []Part
}

// goParts finds functions, which return their zero results at once, and constants and variables with a literal, which
// becomes that of nothing. The statements of a function stay behind the return, so that nothing is unused without them.
func goParts(before, now string) []Part {
	g := golang{set: token.NewFileSet(), before: before, now: now}
	file, err := parser.ParseFile(g.set, "", now, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil && len(d.Body.List) > 0 && d.Name.Name != "init" && g.fresh(d) {
				g.function(d)
			}
		case *ast.GenDecl:
			if d.Tok == token.CONST || d.Tok == token.VAR {
				g.values(d)
			}
		}
	}
	return g.out
}

func (g *golang) at(p token.Pos) int { return g.set.Position(p).Offset }

// fresh reports whether a node is not in the text before.
func (g *golang) fresh(n ast.Node) bool {
	return !strings.Contains(g.before, g.now[g.at(n.Pos()):g.at(n.End())])
}

func (g *golang) function(d *ast.FuncDecl) {
	var vars, names, others []string
	if d.Type.Results != nil {
		for _, r := range d.Type.Results.List {
			if len(r.Names) > 0 {
				vars, names, others = nil, nil, nil // a bare return gives them back
				break
			}
			v, kind := "pawl"+strconv.Itoa(len(names)), g.now[g.at(r.Type.Pos()):g.at(r.Type.End())]
			vars = append(vars, "var "+v+" "+kind+"; ")
			names, others = append(names, v), append(others, cmp.Or(something[kind], v))
		}
	}
	other := ""
	if !slices.Equal(names, others) {
		other = " if true { " + strings.Join(vars, "") + "_ = " + names[0] + "; return " + strings.Join(others, ", ") + " }; "
		for _, v := range names[1:] {
			other = strings.Replace(other, "; return ", "; _ = "+v+"; return ", 1)
		}
	}
	from := g.at(d.Body.Lbrace) + 1
	body, takes := g.now[from:g.at(d.Body.Rbrace)], g.now[g.at(d.Type.Params.Opening)+1:g.at(d.Type.Params.Closing)]
	if d.Recv != nil && takes != "" {
		takes += g.now[g.at(d.Recv.Pos()):g.at(d.Recv.End())]
	}
	g.out = append(g.out, Part{
		Line: g.set.Position(d.Name.Pos()).Line, Name: goName(d), From: from, To: from, Blind: blind(takes, body),
		With: " if true { " + strings.Join(vars, "") + "return " + strings.Join(names, ", ") + " }; ", Other: other,
		begins: g.set.Position(d.Pos()).Line, ends: g.set.Position(d.End()).Line + 1,
	})
}

// something are values of types that are none of the usual ones.
var something = map[string]string{"bool": "true", "string": `"pawl"`, "int": "97", "int64": "97", "int32": "97",
	"uint": "97", "uint64": "97", "byte": "97", "float64": "97.5", "float32": "97.5"}

// goName is the name of a function, with the type that it is a method of.
func goName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) != 1 {
		return d.Name.Name
	}
	name := ""
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name + "." + d.Name.Name
}

func (g *golang) values(d *ast.GenDecl) {
	for _, s := range d.Specs {
		v, ok := s.(*ast.ValueSpec)
		if !ok || len(v.Values) != len(v.Names) || !g.fresh(v) {
			continue
		}
		for i, value := range v.Values {
			lit, ok := value.(*ast.BasicLit)
			if !ok {
				continue
			}
			none := "0"
			if lit.Kind == token.STRING {
				none = `""`
			}
			if lit.Value == none || lit.Value == "``" {
				continue
			}
			line := g.set.Position(lit.Pos()).Line
			g.out = append(g.out, Part{Line: line, Name: v.Names[i].Name, From: g.at(lit.Pos()), To: g.at(lit.End()),
				With: none, begins: g.set.Position(v.Pos()).Line, ends: g.set.Position(v.End()).Line + 1})
		}
	}
}
