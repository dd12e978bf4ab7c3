package contextpack

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/driver/search"
	"pawl/sandbox/safeopen"
)

func analysed(path, text string) (*facts, *table) {
	t := newTable()
	a := analyst{t: t}
	return a.analyse(path, []byte(text), nil), t
}

// told writes declarations as "owner.name start-end".
func told(f *facts, t *table) []string {
	var out []string
	for _, s := range f.symbols {
		name := t.list[s.name]
		if s.owner != 0 {
			name = t.list[s.owner] + "." + name
		}
		out = append(out, fmt.Sprintf("%s %d-%d", name, s.start, s.end))
	}
	return out
}

func TestDeclarations(t *testing.T) {
	for _, c := range []struct{ path, text, want string }{
		{"a.go", "// Package a.\npackage a\n\nimport \"b\"\n\n// T is.\ntype T[K any] struct {\n\tx int\n}\n\n// M does.\nfunc (t *T[K]) M() {\n}\n\nconst (\n\tA = 1\n\tB = 2\n)\n", "T 6-9|T.M 11-13|A 16-16|B 17-17"},
		{"broken.go", "package a\n\nfunc ok() {}\n\nfunc bad( {\n", "ok 3-3|bad 5-5"},
		{"nonsense.go", "func alone() {\n\treturn\n}\n", "alone 1-3"},
		{"a.py", "import os\n\nclass Vat(Base):\n    def rate(self):\n        return 1\n\n    async def late(self):\n        pass\n\ndef top(\n    a,\n):\n    return a\n", "Vat 3-8|Vat.rate 4-5|Vat.late 7-8|top 10-13"},
		{"a.ts", "export class Cart {\n  total(x: number) {\n    if (x) {\n    }\n    return x;\n  }\n}\nexport const add = (a) => {\n  return a;\n};\n", "Cart 1-7|Cart.total 2-6|add 8-10"},
		{"a.rs", "pub struct P {\n    x: i32,\n}\n\nimpl P {\n    pub fn new() -> P {\n        P { x: 'a' as i32 }\n    }\n}\n", "P 1-3|P 5-9|P.new 6-8"},
		{"A.java", "public class A {\n    public int sum(int a) {\n        return call(a);\n    }\n}\n",
			"A 1-5|A.sum 2-4"},
		{"a.c", "static int\nadd(int a)\n{\n\treturn a;\n}\nint sub(int b)\n{\n\treturn b;\n}\n", "add 2-5|sub 6-9"},
		{"a.sh", "say() {\n  echo hi\n}\n", "say 1-3"},
		{"a.md", "# One\ntext\n## Two\n```\n# no\n```\n# Three\n", "One 1-6|Two 3-6|Three 7-8"},
		{"a.json", "{\"def x\": 1}", ""},
	} {
		f, tab := analysed(c.path, c.text)
		if got := strings.Join(told(f, tab), "|"); got != c.want {
			t.Errorf("%s: %s, want %s", c.path, got, c.want)
		}
	}
}

func TestUses(t *testing.T) {
	f, tab := analysed("a.go", "package a\n\n// total mentions comment.\nfunc total() { // hidden\n\tlog(\"quoted\", `raw\nstring`, 'c', price.Of(item))\n}\n\nfunc other() { elsewhere() }\n")
	var used []string
	for _, id := range f.symbols[0].refs {
		used = append(used, tab.list[id])
	}
	slices.Sort(used)
	if want := []string{"func", "item", "log", "price"}; !slices.Equal(used, want) {
		t.Errorf("uses %q, want %q", used, want)
	}
	var words []string
	for _, id := range f.words {
		words = append(words, tab.list[id])
	}
	for _, w := range []string{"comment", "hidden", "quoted", "raw", "elsewhere"} {
		if !slices.Contains(words, w) {
			t.Errorf("%q is not among the words %q", w, words)
		}
	}
}

// TestUsesStayInOrder analyses a source with words that have other numbers: two readings of a tree rank alike.
func TestUsesStayInOrder(t *testing.T) {
	source := "package a\n\nfunc total() {\n\tzeta(mid)\n\ttype inner struct{ mid int }\n\talpha(zeta)\n}\n"
	found := []outlined{
		{name: "total", kind: kindFunc, start: 3, end: 7}, {name: "inner", kind: kindType, start: 5, end: 5},
	}
	for _, first := range []string{"", "alpha mid zeta", "zeta mid alpha"} {
		a := analyst{t: newTable()}
		for w := range strings.FieldsSeq(first) {
			a.t.idOf(w)
		}
		var used []string
		for _, id := range a.analyse("a.go", []byte(source), found).symbols[0].refs {
			used = append(used, a.t.list[id])
		}
		if want := []string{"func", "zeta", "mid", "alpha"}; !slices.Equal(used, want) {
			t.Errorf("with the numbers of %q: uses %q, want %q", first, used, want)
		}
	}
}

func TestWordsWithoutSpaces(t *testing.T) {
	f, tab := analysed("a.md", "修复解析器 parse文件 x")
	var words []string
	for _, id := range f.words {
		words = append(words, tab.list[id])
	}
	if want := []string{"修复", "复解", "解析", "析器", "parse", "文件"}; !slices.Equal(words, want) {
		t.Errorf("%q, want %q", words, want)
	}
}

func TestQuery(t *testing.T) {
	q := ask("Fix TestParse_Range in `pkg/file.go`: `Cart.addItem()` returns \"no such row\" at src/a.py:12:3.\n  File \"/home/u/src/b.py\", line 7, in x\nBitte 修复解析器的问题")
	weights := map[string]float64{}
	for _, x := range q.terms {
		weights[x.text] = x.weight
	}
	for text, want := range map[string]float64{
		"TestParse_Range": weightName, "Parse_Range": weightStem, "Range": weightStem, "Parse": weightWord,
		"addItem": weightName, "Cart": weightQuote, "row": weightQuote, "解析": weightPair, "Bitte": weightWord,
	} {
		if weights[text] != want {
			t.Errorf("%s weighs %v, want %v", text, weights[text], want)
		}
	}
	for _, text := range []string{"Fix", "in", "returns", "问题", "no"} {
		if w, ok := weights[text]; ok && text != "returns" {
			t.Errorf("%s weighs %v", text, w)
		}
	}
	if want := []spot{{"/home/u/src/b.py", 7}, {"src/a.py", 12}}; !reflect.DeepEqual(q.places, want) {
		t.Errorf("places %v", q.places)
	}
	if !slices.Contains(q.paths, "pkg/file.go") {
		t.Errorf("paths %v", q.paths)
	}
	if q := ask(strings.Repeat("wordAnd"+strings.Repeat("x", 9)+" 很长的要求 a.go:1 \"q\" ",
		20_000)); len(q.terms) > maxTerms || len(q.places) > maxSpots || len(q.runs) > 4100 {
		t.Errorf("a long requirement: %d terms, %d places, %d runs", len(q.terms), len(q.places), len(q.runs))
	}
}

// TestMarksMissNothing compares the quick look at a word with the full one.
func TestMarksMissNothing(t *testing.T) {
	q := ask("parseRange HTTPServer cleanName 解析 invoices of quoted strings")
	r := &ranking{q: q, stemIndex: map[string]int32{}}
	for s := range q.stems {
		r.stemIndex[s] = int32(len(r.stemIndex))
	}
	for _, w := range []string{"parseRange", "PARSERANGE", "Range", "parse_ranges", "http", "HTTPServers",
		"newServerName", "cleaning", "解析", "invoice", "Quote"} {
		if _, ok := r.look([]byte(w), nil); !ok {
			t.Errorf("%s is not found", w)
		}
		if !q.may(markOf([]byte(w))) {
			t.Errorf("%s is passed over", w)
		}
	}
	missed := 0
	for i := range 2000 {
		if q.may(markOf(fmt.Appendf(nil, "unrelated%dwordOf%x", i, i*7919))) {
			missed++
		}
	}
	if missed > 400 {
		t.Errorf("%d of 2000 words are looked at in vain", missed)
	}
}

func TestParts(t *testing.T) {
	for name, want := range map[string]string{
		"parseHTTPHeader": "parse http header", "snake_case_2": "snake case 2", "X": "x", "utf8Valid": "utf 8 valid",
		"ABC": "abc", "_a__b": "a b", "kebab-case": "kebab case",
	} {
		var got []string
		parts([]byte(name), nil, func(p []byte) { got = append(got, string(p)) })
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
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

// TestReadsOnlyWhatChanged counts the files that are read.
func TestReadsOnlyWhatChanged(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour)
	put := func(name, text string, at time.Time) {
		t.Helper()
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir+"/"+name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	put("a.go", "package a\n", old)
	put("b.go", "package b\n", old)
	put(".env", "SECRET=1\n", old)
	root, err := safeopen.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	ix := &index{t: newTable(), files: map[string]*entry{}}
	refresh := func(want ...string) {
		t.Helper()
		r := reader{ctx: t.Context(), root: root, old: ix, now: time.Now()}
		next, err := r.refresh(search.Files)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range r.changed {
			got = append(got, e.path)
		}
		if !slices.Equal(got, want) {
			t.Errorf("read %v, want %v", got, want)
		}
		ix = next
	}
	refresh(".env", "a.go", "b.go")
	refresh()
	before := ix.files["b.go"].facts
	put("b.go", "package b\n", old.Add(time.Second)) // looks new and is not
	refresh("b.go")
	if ix.files["b.go"].facts != before {
		t.Error("what is known by its content was analysed again")
	}
	put("a.go", "package a\n\nfunc x() {}\n", time.Now())
	refresh("a.go")
	refresh("a.go") // it is so new that it may have changed within its time stamp
	if ix.files[".env"].marks&unread == 0 || len(ix.files["a.go"].symbols) != 1 {
		t.Error("the facts are wrong")
	}
}

// TestUpdatedCorpusIsAsIfNew changes what files declare and use, and compares a corpus that was updated with a new one.
func TestUpdatedCorpusIsAsIfNew(t *testing.T) {
	tab := newTable()
	a := analyst{t: tab}
	file := func(i, what int) *entry {
		text := fmt.Sprintf("package p\n\nfunc one%d() { two%d(); shared() }\n\nfunc shared() { one%d() }\n", what,
			what+1, i)
		if what%3 == 0 {
			text += "\nfunc more() { shared() }\n"
		}
		return &entry{path: fmt.Sprintf("p/f%d.go", i), facts: a.analyse("f.go", []byte(text), nil)}
	}
	ix := &index{t: tab}
	for i := range 6 {
		ix.list = append(ix.list, file(i, i))
	}
	c := newCorpus(ix.t, ix.list, nil)
	for round := range 40 {
		next := &index{t: tab, list: slices.Clone(ix.list)}
		for range round % 3 {
			i := rand.IntN(len(next.list))
			next.list[i] = file(i, round*7+i)
		}
		was := newCorpus(ix.t, ix.list, nil)
		c2, want := newCorpus(next.t, next.list, c), newCorpus(next.t, next.list, nil)
		if c2.folders != c.folders {
			t.Fatal("not updated")
		}
		for id := range uint32(len(tab.list)) {
			if !slices.Equal(c2.declaring(id), want.declaring(id)) || c2.users[id] != want.users[id] {
				t.Fatalf("round %d: %s is declared at %v and used %d times, want %v and %d", round, tab.list[id],
					c2.declaring(id), c2.users[id], want.declaring(id), want.users[id])
			}
			if int(id) >= len(c.users) {
				continue
			}
			if !slices.Equal(c.declaring(id), was.declaring(id)) || c.users[id] != was.users[id] {
				t.Fatalf("round %d: the old corpus changed", round)
			}
		}
		if c2.nodes != want.nodes {
			t.Fatalf("%d nodes, want %d", c2.nodes, want.nodes)
		}
		ix, c = next, c2
	}
	less := &index{t: tab, list: ix.list[1:]}
	if got, want := newCorpus(less.t, less.list, c), newCorpus(less.t, less.list, nil); !reflect.DeepEqual(got, want) {
		t.Errorf("of other files: %+v, want %+v", got, want)
	}
}

func TestCodec(t *testing.T) {
	tab := newTable()
	a := analyst{t: tab}
	var all []*entry
	for i, text := range []string{"package a\n\nimport \"x/y\"\n\nfunc (t T) One() { two(three) }\n", "",
		"package b\n\ntype Two struct{}\n"} {
		e := &entry{path: fmt.Sprintf("d/f%d.go", i), stamp: stamp{int64(len(text)), -5, 1 << 60},
			facts: a.analyse("f.go", []byte(text), nil)}
		e.sum[3] = byte(i)
		all = append(all, e)
	}
	tab.idOf("a word that no file uses")
	data := encode(tab, all, true)
	got, entries := decode(data, true)
	if len(entries) != len(all) {
		t.Fatalf("%d entries", len(entries))
	}
	for i, e := range entries {
		w := all[i]
		if e.path != w.path || e.stamp != w.stamp || e.sum != w.sum || e.lines != w.lines || e.marks != w.marks ||
			e.lang != w.lang || e.about != w.about {
			t.Errorf("%+v, want %+v", e, w)
		}
		if x, y := told(e.facts, got), told(w.facts, tab); !slices.Equal(x, y) {
			t.Errorf("%v, want %v", x, y)
		}
		for j := range e.symbols {
			uses := func(t *table, f *facts) (out []string) {
				for _, id := range append(slices.Clone(f.imports), f.symbols[j].refs...) {
					out = append(out, t.list[id])
				}
				return out
			}
			if x, y := uses(got, e.facts), uses(tab, w.facts); !slices.Equal(x, y) ||
				e.symbols[j].kind != w.symbols[j].kind {
				t.Errorf("declaration %d of %s uses %q, want %q", j, e.path, x, y)
			}
		}
		for j, id := range e.words {
			if got.list[id] != tab.list[w.words[j]] || got.marks[id] != tab.marks[w.words[j]] {
				t.Errorf("word %d of %s is %q", j, e.path, got.list[id])
			}
		}
	}
	if slices.Contains(got.list, "a word that no file uses") {
		t.Error("words that nobody uses are kept")
	}
	if other, _ := decode(data, false); other != nil {
		t.Error("facts from ctags were taken for others")
	}
}

func FuzzDecode(f *testing.F) {
	tab := newTable()
	a := analyst{t: tab}
	facts := a.analyse("f.go", []byte("package a\n\nfunc one() { two() }\n"), nil)
	f.Add(encode(tab, []*entry{{path: "f.go", facts: facts}}, false), true)
	f.Fuzz(func(t *testing.T, data []byte, sum bool) {
		if sum {
			data = withSum(data)
		}
		tab, entries := decode(data, false)
		if tab == nil {
			return
		}
		ix := &index{t: tab, files: map[string]*entry{}}
		ix.list = entries
		rank(newCorpus(ix.t, ix.list, nil), ask("one two")).result()
	})
}

func FuzzAnalyse(f *testing.F) {
	f.Add("a.go", "package a\n\nfunc one() { two() }\n", "one fails at a.go:3")
	f.Add("a.py", "class A:\n  def x(self):\n    '''doc", "x()")
	f.Add("a.md", "# 标题\n文字", "标题")
	f.Add("a.ts", "const a = `x\n${b}` // y\n/*", "\"a\" 'b")
	f.Fuzz(func(t *testing.T, path, text, requirement string) {
		facts, tab := analysed(path, text)
		for _, s := range facts.symbols {
			if s.start < 1 || s.end < s.start || s.end > facts.lines {
				t.Fatalf("lines %d-%d of %d", s.start, s.end, facts.lines)
			}
		}
		ix := &index{t: tab, list: []*entry{{path: path, facts: facts}}}
		r := rank(newCorpus(ix.t, ix.list, nil), ask(requirement))
		r.readBody(0, []byte(text))
		for _, s := range r.result() {
			if !(s.score >= 0 && s.score <= 1.0001) {
				t.Fatalf("score %v", s.score)
			}
		}
	})
}

// withSum gives data a right checksum, so that what is behind it is tried too.
func withSum(data []byte) []byte {
	if len(data) < 4 {
		return data
	}
	body := slices.Clone(data[:len(data)-4])
	return binary.LittleEndian.AppendUint32(body, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
}
