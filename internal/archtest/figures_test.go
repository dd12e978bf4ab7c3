package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pawl/internal/golden"
)

// figures are what is counted of the house.
type figures struct {
	packages, files, lines int
	main, assembly         int      // lines of cmd/pawl and of app
	reads                  []string // of the store by faces
	texts                  []string // lines of Go that hold text for people
	longFiles, longFuncs   int
	branched               int                 // functions of a complexity that is over three quarters of the limit
	tangled                map[string][]string // those over the limit, by package
	coats                  map[string][]string // structs that are only an embedded type of ours, by package
	sizes                  map[string]int      // lines of code by package
	types                  map[string]*kind    // by package and name
}

// kind is a type with its own methods and the types that are embedded in it, by package and name.
type kind struct {
	own      map[string]bool
	embedded []string
}

// counted are the figures of the house, which all tests share.
func counted(t *testing.T) *figures {
	t.Helper()
	if whole != nil {
		return whole
	}
	f := &figures{types: map[string]*kind{}, tangled: map[string][]string{}, coats: map[string][]string{},
		sizes: map[string]int{}}
	for _, p := range packages(t) {
		if len(p.GoFiles) == 0 {
			continue
		}
		f.packages++
		for _, name := range p.written(t) {
			f.file(t, p, name)
		}
	}
	whole = f
	return f
}

var whole *figures

func (f *figures) file(t *testing.T, p pkg, name string) {
	t.Helper()
	s := parse(t, filepath.Join(p.Dir, name))
	file, rel, lines, imports := s.tree, p.rel(), s.lines(), importsOf(s.tree)
	f.files++
	f.lines += lines
	f.sizes[rel] += code(s.raw)
	if lines > maxFile*7/8 {
		f.longFiles++
	}
	switch rel {
	case "cmd/pawl":
		f.main += lines
	case "face/app":
		f.assembly += lines
	}
	ast.Inspect(file, func(n ast.Node) bool {
		at := func() string { return fmt.Sprintf("%s/%s:%d", rel, name, fset.Position(n.Pos()).Line) }
		if isFace(rel) {
			if what := ofRows(n); what != "" && rel+" "+what != opening {
				f.reads = append(f.reads, at())
			}
		}
		switch n := n.(type) {
		case *ast.FuncDecl:
			if fset.Position(n.End()).Line-fset.Position(n.Pos()).Line+1 > maxFunction*7/8 {
				f.longFuncs++
			}
			f.complexity(rel, at(), n)
		case *ast.StructType:
			if isCoat(rel, n, imports) {
				f.coats[rel] = append(f.coats[rel], at())
			}
		case *ast.BasicLit:
			if rel == "text/message" && n.Kind == token.STRING && isText(n.Value) {
				f.texts = append(f.texts, at())
			}
		}
		return true
	})
	f.declarations(rel, file)
}

// faces are the packages that show things to people or to programs, and those that are wired for them over the kernel.
var faces = []string{"face/cli", "face/cli/*", "face/tui", "face/mcp", "cmd/*", "face/app", "driver/export",
	"store/recording", "face/project", "face/registry", "driver/workspace/relocate"}

// isFace reports whether a package is one of the faces.
func isFace(rel string) bool {
	return slices.ContainsFunc(faces, func(face string) bool { return fits(face, rel) })
}

var (
	sentence = regexp.MustCompile(`\p{L}+ \p{L}+ \p{L}+`)
	chinese  = regexp.MustCompile(`\p{Han}`)
)

// isText reports whether a literal could be shown to somebody: three words, or Chinese.
func isText(literal string) bool {
	return sentence.MatchString(literal) || chinese.MatchString(literal)
}

// importsOf are the packages of ours that a file imports, by the name that it has for them.
func importsOf(file *ast.File) map[string]string {
	imports := map[string]string{}
	for _, i := range file.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		if own, ok := strings.CutPrefix(p, module+"/"); ok || p == module {
			name := own[strings.LastIndexByte(own, '/')+1:]
			if p == module {
				own, name = ".", module
			}
			if i.Name != nil {
				name = i.Name.Name
			}
			imports[name] = own
		}
	}
	return imports
}

// embeds is the type of ours, by package and name, that an embedded field of a file of a package is; "" where it is
// somebody else's.
func embeds(rel string, field ast.Expr, imports map[string]string) string {
	where, name, ok := strings.Cut(receiver(field), ".")
	switch {
	case !ok && types.Universe.Lookup(where) != nil:
		return ""
	case !ok:
		return rel + "." + where
	}
	if where = imports[where]; where == "" {
		return ""
	}
	return where + "." + name
}

// declarations notes the types of a file, with what is embedded in them, and their methods.
func (f *figures) declarations(rel string, file *ast.File) {
	imports := importsOf(file)
	at := func(name string) *kind {
		k := f.types[rel+"."+name]
		if k == nil {
			k = &kind{own: map[string]bool{}}
			f.types[rel+"."+name] = k
		}
		return k
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				at(receiver(d.Recv.List[0].Type)).own[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok {
					at(s.Name.Name).declare(rel, s.Type, imports)
				}
			}
		}
	}
}

// declare notes what a type holds in itself: the methods of an interface, and what is embedded.
func (k *kind) declare(rel string, e ast.Expr, imports map[string]string) {
	var fields *ast.FieldList
	methods := false
	switch e := e.(type) {
	case *ast.StructType:
		fields = e.Fields
	case *ast.InterfaceType:
		fields, methods = e.Methods, true
	default:
		return
	}
	for _, field := range fields.List {
		if methods {
			for _, n := range field.Names {
				k.own[n.Name] = true
			}
		}
		if len(field.Names) > 0 {
			continue
		}
		if e := embeds(rel, field.Type, imports); e != "" {
			k.embedded = append(k.embedded, e)
		}
	}
}

// methods are the names of the methods that a type has, those of what is embedded in it included.
func (f *figures) methods(name string, seen map[string]bool) map[string]bool {
	k := f.types[name]
	if k == nil || seen[name] {
		return nil
	}
	seen[name] = true
	out := maps.Clone(k.own)
	for _, e := range k.embedded {
		maps.Copy(out, f.methods(e, seen))
	}
	return out
}

// up rounds up to a multiple, so that a figure does not change with every commit.
func up(n, to int) int { return (n + to - 1) / to * to }

// largest are the ten types with the most methods of those that fit, in steps of five.
func (f *figures) largest(fits func(rel string) bool) string {
	type row struct {
		name       string
		own, whole int
	}
	var rows []row
	for name, k := range f.types {
		rel := name[:strings.LastIndexByte(name, '.')]
		if rel == "." {
			name = module + name[1:]
		}
		if fits(rel) {
			rows = append(rows, row{name, up(len(k.own), 5),
				up(len(f.methods(strings.Replace(name, module+".", "..", 1), map[string]bool{})), 5)})
		}
	}
	slices.SortFunc(rows, func(x, y row) int {
		return cmp.Or(y.whole-x.whole, y.own-x.own,
			strings.Compare(x.name, y.name))
	})
	var b strings.Builder
	b.WriteString("| type | methods of its own | with embedded ones |\n|---|---|---|\n")
	for _, r := range rows[:min(10, len(rows))] {
		fmt.Fprintf(&b, "| `%s` | %d | %d |\n", r.name, r.own, r.whole)
	}
	return b.String()
}

// heaviest are the packages that have three quarters of the lines of code that they may have, or more.
func (f *figures) heaviest() string {
	var b strings.Builder
	b.WriteString("| package | lines of code, at most |\n|---|---|\n")
	for _, rel := range slices.SortedFunc(maps.Keys(f.sizes), func(x, y string) int {
		return cmp.Or(up(f.sizes[y], 250)-up(f.sizes[x], 250), strings.Compare(x, y))
	}) {
		if f.sizes[rel] >= maxPackage*3/4 {
			fmt.Fprintf(&b, "| `%s` | %d |\n", rel, up(f.sizes[rel], 250))
		}
	}
	return b.String()
}

// arrowTable says of each package that is drawn how many arrows it has.
func arrowTable(all map[string]*drawing) string {
	var b strings.Builder
	b.WriteString("| package | arrows, at most | of them up |\n|---|---|---|\n")
	for _, rel := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "| `%s` | %d | %d |\n", rel, up(all[rel].arrows(), 10), len(all[rel].up()))
	}
	return b.String()
}

// count is how many there are in all packages.
func count(byPackage map[string][]string) (n int) {
	for _, all := range byPackage {
		n += len(all)
	}
	return n
}

// TestFigures compares the page with what is counted now. What grows with every commit is rounded up there.
func TestFigures(t *testing.T) {
	f := counted(t)
	var b strings.Builder
	fmt.Fprintf(&b, `# The house in figures

Written by `+"`go test ./internal/archtest -update`"+`, from the code without its tests. Figures in the column "at most" are rounded up, so that they
change seldom; the limits are tests.

| what | at most | limit |
|---|---|---|
| direct reads of the store by faces (the command line, the terminal, MCP, the wiring) | %d | 0 |
| lines of Go in package message that hold text for people; the catalogue is data | %d | 0 |
| lines of the program's start, `+"`cmd/pawl`"+` | %d | %d |
| lines of the wiring, `+"`app`"+` | %d | %d |
| packages | %d | |
| files | %d | |
| lines of Go | %d | |
| files of more than %d lines | %d | %d lines |
| functions of more than %d lines | %d | %d lines |
| functions of a complexity over %d | %d | |
| functions of a complexity over %d; `+"`internal/archtest`"+` names their packages | %d | 0 |
| structs that are only an embedded type of ours; `+"`internal/archtest`"+` names their packages | %d | 0 |

`, len(f.reads), len(f.texts), up(f.main, 50), maxMain, up(f.assembly, 50), maxAssembly, up(f.packages, 10), up(f.files, 50), up(f.lines, 10_000),
		maxFile*7/8, up(f.longFiles, 5), maxFile, maxFunction*7/8, up(f.longFuncs, 10), maxFunction,
		maxComplexity*3/4, up(f.branched, 20), maxComplexity, count(f.tangled), count(f.coats))
	b.WriteString("## Methods\n\nA type may have 25 methods, those of what is embedded in it included, as far as it is ours. They are counted in steps of five.\n\n")
	b.WriteString(f.largest(func(rel string) bool { return !testSupport(rel) }))
	fmt.Fprintf(&b, `
## Packages

A package may have %d lines of code: those that hold more than a comment. `+"`internal/archtest`"+` says how large those are that have more, which
may only shrink.

%s
## Between the files of a package

An arrow runs from a file to another whose constants, variables, types, functions or methods it uses. The files stand in the order in
which the fewest arrows run back up; those that do are bounded.

%s`, maxPackage, f.heaviest(), arrowTable(drawn(t)))
	golden.Check(t, "../../docs/architecture-figures.md", b.String())
	for what, where := range map[string][]string{"reads the store": f.reads, "holds text for people": f.texts} {
		for _, at := range where {
			t.Errorf("%s %s", at, what)
		}
	}
}

// TestMethodsWithEmbedded holds types to the budget of methods, whoever brings them: embedding makes a type no smaller.
func TestMethodsWithEmbedded(t *testing.T) {
	f := counted(t)
	for name := range f.types {
		rel := name[:strings.LastIndexByte(name, '.')]
		if testSupport(rel) {
			continue
		}
		if n := len(f.methods(name, map[string]bool{})); n > maxMethods {
			t.Errorf("%s: %d methods with those of what is embedded in it, at most %d", name, n, maxMethods)
		}
	}
}

// TestEmbeddingIsFlat: in what people and programs meet, a type says with named fields what it works with. It may embed
// one type of ours that has methods, which then embeds none; types that only hold data may be put together as their
// form in JSON wants.
func TestEmbeddingIsFlat(t *testing.T) {
	f := counted(t)
	for name := range f.types {
		if rel := name[:strings.LastIndexByte(name, '.')]; !slices.ContainsFunc([]string{"face/cli", "face/cli/*",
			"face/tui", "face/mcp"}, func(face string) bool { return fits(face, rel) }) {
			continue
		}
		if chain := f.chain(name); len(chain) > 2 {
			t.Errorf("embedding deeper than one: %s", strings.Join(chain, " < "))
		}
	}
}

// chain is a longest way from a type through what is embedded in it, as far as that has methods; the type itself is the
// first of it.
func (f *figures) chain(name string, above ...string) []string {
	var longest []string
	for _, e := range f.types[name].embedded {
		if len(f.methods(e, map[string]bool{})) == 0 || slices.Contains(above, e) {
			continue
		}
		if c := f.chain(e, append(above, name)...); len(c) > len(longest) {
			longest = c
		}
	}
	return append([]string{name}, longest...)
}

// TestMethodsAreCounted guards the count: embedding, in other packages as well, a name that hides another, and circles.
func TestMethodsAreCounted(t *testing.T) {
	f := &figures{types: map[string]*kind{}}
	for rel, text := range map[string]string{
		"a": "package a\nimport (\n\"io\"\n\"pawl/b\"\n)\ntype T struct { *U; b.V[int]; io.Reader; name string; F func() }\nfunc (T) One() {}\nfunc (*T) Two() {}\ntype U struct { W; *T }\nfunc (u *U) Two() {}\nfunc (u *U) Three() {}\ntype W interface { Four(); Five() }\n",
		"b": "package b\ntype V[X any] struct{}\nfunc (v *V[X]) Six() {}\n",
		"c": "package c\ntype T struct{ Data }\nfunc (T) One() {}\ntype U struct{ *T }\ntype V struct{ Data; U }\ntype Data struct{ Line }\ntype Line struct{}\n",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), rel+".go", text, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.declarations(rel, file)
	}
	for name, want := range map[string]string{"a.T": "Five Four One Six Three Two", "a.W": "Five Four", "b.V": "Six",
		"a.none": ""} {
		if got := strings.Join(slices.Sorted(maps.Keys(f.methods(name, map[string]bool{}))), " "); got != want {
			t.Errorf("%s has %s, want %s", name, got, want)
		}
	}
	for name, want := range map[string]string{"c.T": "c.T", "c.U": "c.U c.T", "c.V": "c.V c.U c.T",
		"c.Data": "c.Data"} {
		if got := strings.Join(f.chain(name), " "); got != want {
			t.Errorf("%s embeds %s, want %s", name, got, want)
		}
	}
	for literal, text := range map[string]bool{`"go on with this"`: true, `"继续"`: true,
		`"text/message/catalogue"`: false, `"two words"`: false, `"%[1]s = %d"`: false} {
		if isText(literal) != text {
			t.Errorf("%s: %t", literal, !text)
		}
	}
}
