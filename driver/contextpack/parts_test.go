package contextpack

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestOutline(t *testing.T) {
	for _, c := range []struct{ path, text, want string }{
		{"a.go", "// Package a.\npackage a\n\nimport \"b\"\n\n// T is.\ntype T[K any] struct {\n\tx int\n}\n\n// M does.\nfunc (t *T[K]) M() {\n\tvar local int\n}\n\nvar errA = 1\n", "T 6-9|M 11-14|errA 16-16"},
		{"broken.go", "package a\n\nfunc ok() {}\n\nfunc bad( {\n", "ok 3-3|bad 5-5"},
		{"quotes.go", "package a\n\nfunc text() {\n\ta := `one\ntwo\n`\n\tb(a)\n}\n\nvar next = 1\n", "text 3-8|next 10-10"},
		{"a.py", "import os\n\nclass Vat(Base):\n    def rate(self):\n        return 1\n\n    @cached\n    async def late(self):\n        pass\n\ndef top(\n    a,\n):\n    return a\n", "Vat 3-9|rate 4-5|late 7-9|top 11-14"},
		{"a.ts", "export class Cart {\n  total(x: number) {\n    if (x) {\n    }\n    return x;\n  }\n}\nexport const add = (a) => {\n  return a;\n};\n", "Cart 1-7|total 2-6|add 8-10"},
		{"a.rs", "pub struct P {\n    x: i32,\n}\n\nimpl P {\n    pub fn new() -> P {\n        P { x: 'a' as i32 }\n    }\n}\n", "P 1-3|P 5-9|new 6-8"},
		{"A.java", "public class A {\n    public List<T> sum(int a) {\n        return call(a);\n    }\n}\n", "A 1-5|sum 2-4"},
		{"a.c", "static int\nadd(int a)\n{\n\treturn a;\n}\nint *sub(int b)\n{\n\twhile (b) {\n\t}\n\treturn b;\n}\n", "add 2-5|sub 6-11"},
		{"a.sh", "say() {\n  echo hi\n}\n", "say 1-3"},
		{"a.json", "{\"def x\": 1}", ""},
	} {
		var got []string
		for _, d := range outline(c.path, strings.Split(c.text, "\n")) {
			got = append(got, fmt.Sprintf("%s %d-%d", d.name, d.start, d.end))
		}
		if got := strings.Join(got, "|"); got != c.want {
			t.Errorf("%s: %s, want %s", c.path, got, c.want)
		}
	}
}

func TestQuery(t *testing.T) {
	q := ask("Fix TestParse_Range in `pkg/file.go`: `Cart.addItem()` returns \"no such row\" at src/a.py:12:3.\n  File \"/home/u/src/b.py\", line 7, in x\nBitte parse修复解析器的问题")
	weights := map[string]float64{}
	for _, x := range append(q.terms, q.runs...) {
		weights[x.text] = x.weight
	}
	for text, want := range map[string]float64{
		"testparse_range": weightName, "parse_range": weightStem, "range": weightStem, "additem": weightName,
		"cart": weightWord, "row": weightWord, "解析": weightPair, "bitte": weightWord, "no such row": weightName,
		"in": 0, "for": 0,
	} {
		if weights[text] != want {
			t.Errorf("%s weighs %v, want %v", text, weights[text], want)
		}
	}
	if want := []spot{{"/home/u/src/b.py", 7}, {"src/a.py", 12}}; !reflect.DeepEqual(q.places, want) {
		t.Errorf("places %v", q.places)
	}
	if !slices.Contains(q.paths, "pkg/file.go") {
		t.Errorf("paths %v", q.paths)
	}
	long := ask(strings.Repeat("wordAnd"+strings.Repeat("x", 9)+" 很长的要求 a.go:1 \"quoted\" ", 20_000))
	if len(long.terms) > maxTerms || len(long.runs) > maxTerms || len(long.places) > maxSpots || len(long.paths) > maxSpots {
		t.Errorf("a long requirement: %d terms, %d runs, %d places", len(long.terms), len(long.runs), len(long.places))
	}
}

func TestTokens(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "abc": 1, "abcd": 2, "你好": 2, "né": 2,
		strings.Repeat("ab ", 100): 100} {
		if got := Tokens(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	for range 1000 {
		b := make([]byte, rand.IntN(40))
		for i := range b {
			b[i] = byte(rand.IntN(256))
		}
		x, y := string(b), string(b[:len(b)/2])
		if Tokens(x+"ab") < Tokens(x) || Tokens(y) > Tokens(y+"好") {
			t.Fatalf("%q: not monotonous", x)
		}
	}
}

// FuzzPieces outlines a file and looks for a requirement in it: every part lies within the file.
func FuzzPieces(f *testing.F) {
	f.Add("a.go", "package a\n\nfunc one() { two() }\n", "one fails at a.go:3")
	f.Add("a.py", "class A:\n  def x(self):\n    '''doc", "x()")
	f.Add("a.md", "# 标题\n文字", "标题")
	f.Add("a.ts", "const a = `x\n${b}` // y\n/*", "\"a\" 'b")
	f.Fuzz(func(t *testing.T, path, text, requirement string) {
		q := ask(requirement)
		fl := &file{path: path, size: int64(len(text))}
		fl.search([]byte(text), q.terms)
		s := &scanned{files: []*file{fl}}
		s.weigh(q)
		r := &ranking{query: q, scanned: s, declares: map[string][]*node{}, usedBy: map[string][]*node{}}
		r.sources = []*source{{file: fl, lines: strings.Split(text, "\n")}}
		r.order()
		for _, x := range r.pieces() {
			if x.start < 1 || x.end < x.start || x.end > len(x.of.lines) || !(x.score >= 0 && x.score <= 1.0001) {
				t.Fatalf("lines %d-%d of %d, score %v", x.start, x.end, len(x.of.lines), x.score)
			}
		}
	})
}
