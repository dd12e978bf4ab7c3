package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	maxComplexity = 20
	maxPackage    = 4000 // lines of code
)

// The exceptions, which only become fewer: how many functions of a package are over the limit of complexity, how many
// of its structs are only an embedded type, and how many lines of code it has where these are too many.
var (
	tooTangled = map[string]int{}
	inCoats    = map[string]int{}
	tooLarge   = map[string]int{}
)

// complexity is McCabe's number of a function: one, and one more for each if, for, case of a switch or select, && and
// ||, those of the functions written in it included.
func complexity(f *ast.FuncDecl) int {
	n := 1
	ast.Inspect(f, func(at ast.Node) bool {
		switch at := at.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if at.List != nil { // not the default
				n++
			}
		case *ast.CommClause:
			if at.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if at.Op == token.LAND || at.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

// complexity notes a function that is near the limit or over it.
func (f *figures) complexity(rel, at string, d *ast.FuncDecl) {
	n := complexity(d)
	if n > maxComplexity*3/4 {
		f.branched++
	}
	if n > maxComplexity {
		f.tangled[rel] = append(f.tangled[rel], fmt.Sprintf("%s: %s has a complexity of %d", at, d.Name.Name, n))
	}
}

func TestComplexity(t *testing.T) {
	hold(t, counted(t).tangled, tooTangled, fmt.Sprintf("functions with a complexity over %d", maxComplexity))
}

// hold holds what was found of something, by package, to the exceptions, which are exactly as many as there are.
func hold(t *testing.T, found map[string][]string, exceptions map[string]int, what string) {
	t.Helper()
	for rel, all := range found {
		if most := exceptions[rel]; len(all) > most {
			t.Errorf("%s has %d %s, at most %d:\n%s", rel, len(all), what, most, strings.Join(all, "\n"))
		}
	}
	for rel, most := range exceptions {
		if n := len(found[rel]); n < most {
			t.Errorf("%s has %d %s; put that number in the place of %d", rel, n, what, most)
		}
	}
}

// code is how many lines of a file hold more than a comment.
func code(raw []byte) (n int) {
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(raw))
	var s scanner.Scanner
	s.Init(file, raw, nil, 0)
	last := 0
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return n
		}
		if tok == token.SEMICOLON && text == "\n" {
			continue // the scanner's own
		}
		from := file.Line(pos)
		to := from
		if tok == token.STRING {
			to += strings.Count(text, "\n")
		}
		n += to - max(from-1, last)
		last = to
	}
}

// TestPackageSizes: a package that is too large holds several things. Exceptions are as large as they are said to be,
// and may only shrink.
func TestPackageSizes(t *testing.T) {
	f := counted(t)
	for _, rel := range slices.Sorted(maps.Keys(f.sizes)) {
		n, most := f.sizes[rel], tooLarge[rel]
		if most > 0 && (n <= maxPackage || n < most-50) {
			t.Errorf("%s: %d lines of code; put that in the place of %d, or take away the exception", rel, n, most)
		}
		if most = max(most, maxPackage); n > most {
			t.Errorf("%s: %d lines of code, at most %d", rel, n, most)
		}
	}
	for rel := range tooLarge {
		if f.sizes[rel] == 0 {
			t.Errorf("%s is no package any more", rel)
		}
	}
}

// isCoat reports whether a struct holds nothing but an embedded type of the project. It is another name for that type,
// by which one with too many methods looks like several.
func isCoat(rel string, s *ast.StructType, imports map[string]string) bool {
	return len(s.Fields.List) == 1 && len(s.Fields.List[0].Names) == 0 &&
		embeds(rel, s.Fields.List[0].Type, imports) != ""
}

// TestNoCoats: a type is used as what it is, or stands in a field with a name.
func TestNoCoats(t *testing.T) {
	hold(t, counted(t).coats, inCoats, "structs that are only an embedded type")
}

// TestMeasuresMeasure guards the guards.
func TestMeasuresMeasure(t *testing.T) {
	for text, want := range map[string]int{
		"{}": 1, "{ if a && b || c {} }": 4, "{ for range x { for {} } }": 3,
		"{ switch x { case 1, 2: case 3: default: } }": 3,
		"{ switch x.(type) { case int: } }":            2, "{ select { case <-x: default: } }": 2,
		"{ f := func() bool { return a && b }; _ = f }": 2,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nfunc f() "+text, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := complexity(file.Decls[0].(*ast.FuncDecl)); got != want {
			t.Errorf("%s has a complexity of %d, want %d", text, got, want)
		}
	}
	for text, want := range map[string]int{
		"package x\n": 1, "// a\npackage x // b\n\n/* c\n*/\nvar y = `1\n\n3`\n": 4,
		"package x\nvar y, z = `1\n2`, `3\n4`\nfunc f() {\n}": 6,
	} {
		if got := code([]byte(text)); got != want {
			t.Errorf("%q has %d lines of code, want %d", text, got, want)
		}
	}
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
import ("io"; "pawl/b")
type (
	One struct { *work }
	Two struct { b.Box[int] }
	Named struct { w *work }
	Both struct { *work; n int }
	Theirs struct { io.Reader }
	Inner struct { List []struct{ Three } }
	Failure struct { error }
)
func f() { type Four struct { Five } }
`, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.StructType); ok && isCoat("x", s, importsOf(file)) {
			names = append(names, receiver(s.Fields.List[0].Type))
		}
		return true
	})
	if got := strings.Join(names, " "); got != "work b.Box Three Five" {
		t.Errorf("%q are all that a struct is", got)
	}
}

// maxColumns bounds the width of a line, a tab being four.
const maxColumns = 120

// tooWide says how many lines of a file are wider. The numbers only become smaller.
var tooWide = map[string]int{
	"agent/agenttest/agenttest.go": 1, "agent/programs.go": 4, "driver/archive/write.go": 2,
	"driver/land/land.go": 1, "driver/launch/launch.go": 2,
	"driver/review/review.go": 9, "driver/search/files.go": 1, "driver/verify/detect.go": 1,
	"face/mcp/fixture.go": 1, "internal/firstrun/floor_linux.go": 2, "internal/firstrun/folder.go": 1,
	"kernel/query/log.go":                1,
	"sandbox/landlock/landlock_linux.go": 1, "sandbox/mediate/doc.go": 2,
	"sandbox/seccomp/filter_linux.go": 1, "text/triage/decode.go": 4,
}

// TestLinesAreNarrow: a line is wider only by a text in quotes, which is not cut.
func TestLinesAreNarrow(t *testing.T) {
	seen := 0
	for _, p := range packages(t) {
		for _, name := range p.written(t) {
			file := filepath.Join(p.Dir, name)
			raw := parse(t, file).raw
			quoted, wider := quotedColumns(raw), 0
			for n, line := range strings.Split(string(raw), "\n") {
				seen++
				wide := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
				if most, ok := quoted[n+1]; wide > maxColumns && (!ok || wide-most > maxColumns) {
					wider++
					t.Logf("%s:%d: %d columns, at most %d", file, n+1, wide, maxColumns)
				}
			}
			if rel := path.Join(p.rel(), name); wider != tooWide[rel] {
				t.Errorf("%s: %d lines are too wide, tooWide says %d", rel, wider, tooWide[rel])
			}
		}
	}
	if seen < 50_000 {
		t.Errorf("%d lines were looked at", seen)
	}
}

// quotedColumns says by line how wide the texts in quotes on it are. Every line of a raw text counts as one.
func quotedColumns(raw []byte) map[int]int {
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(raw))
	var s scanner.Scanner
	s.Init(file, raw, nil, scanner.ScanComments)
	out := map[int]int{}
	for {
		pos, tok, lit := s.Scan()
		switch line := set.Position(pos).Line; tok {
		case token.EOF:
			return out
		case token.STRING:
			for i, part := range strings.Split(lit, "\n") {
				out[line+i] += utf8.RuneCountInString(part)
			}
		}
	}
}
