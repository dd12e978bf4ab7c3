package knowledge_test

import (
	"fmt"
	"maps"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/internal/golden"
	"pawl/text/knowledge"
)

var noon = time.Date(2026, 2, 8, 12, 30, 0, 0, time.UTC)

func project() knowledge.Project {
	return knowledge.Project{Name: "shop", Stack: []string{"Go 1.26", "SQLite"}, SourceFiles: 12, Lines: 3400,
		Modules: []knowledge.Module{
			{Name: "web", Path: "web", Summary: "pages | and <forms>", Files: []string{"web/b.go", "web/a.go"},
				Exports: []string{"Serve", "`odd`"}, Depends: []string{"auth"}},
			{Name: "auth", Path: "auth", Summary: "登录与会话", Files: []string{"auth/a.go"}},
		}}
}

func made(t *testing.T, s knowledge.Scan) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for i := range max(1, len(s.Project.Batches())) {
		apply(t, s, out, i)
	}
	return out
}

// apply makes a batch and returns the names of the documents that changed.
func apply(t *testing.T, s knowledge.Scan, files map[string][]byte, batch int) []string {
	t.Helper()
	docs, err := knowledge.Update(s, files, batch)
	if err != nil {
		t.Fatal(err)
	}
	for name, doc := range docs {
		files[name] = []byte(doc)
	}
	return slices.Sorted(maps.Keys(docs))
}

func TestDocuments(t *testing.T) {
	for _, l := range []knowledge.Language{knowledge.Chinese, knowledge.English} {
		s := knowledge.Scan{Project: project(), At: noon, Language: l}
		files := made(t, s)
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(files)) {
			fmt.Fprintf(&b, "=== %s\n%s", name, files[name])
		}
		golden.Check(t, "testdata/documents."+string(l)+".md", b.String())
		if c, found := knowledge.Judge(files); c != knowledge.Fine || len(found) > 0 {
			t.Errorf("%v %v", c, found)
		}
		if found := knowledge.Audit(s, files); len(found) > 0 {
			t.Errorf("audit: %v", found)
		}
		s.At = noon.Add(time.Hour)
		if again := apply(t, s, files, 0); len(again) > 0 {
			t.Errorf("a repeated scan changed %v", again)
		}
		s.Project.Modules[0].Summary, s.Project.Lines = "other", 1
		apply(t, s, files, 0)
		if x, err := knowledge.ReadIndex(files[knowledge.IndexName]); err != nil || !x.Updated.Equal(s.At) {
			t.Errorf("something changed, and the index says %v, %v", x.Updated, err)
		}
		if fresh := made(t, s); !reflect.DeepEqual(fresh, files) {
			t.Errorf("brought up to date, the documents are not what they are when made anew: %s", files)
		}
	}
}

// What people wrote stays, byte for byte, wherever it stands and however the lines end.
func TestPeoplesWordsStay(t *testing.T) {
	s := knowledge.Scan{Project: project(), At: noon}
	files := made(t, s)
	for name, data := range files {
		text := "mine above\r\n" + strings.ReplaceAll(string(data), "## ", "my words\n\n## ") +
			"```\n<!-- pawl:begin module -->\n```\nmine below, no break"
		files[name] = []byte(text)
	}
	before := maps.Clone(files)
	s.Project.Modules[1].Files, s.Project.Lines, s.Project.Name = []string{"auth/new.go"}, 1, "mart"
	apply(t, s, files, 0)
	for name := range before {
		if strings.Count(string(files[name]), "my words") != strings.Count(string(before[name]), "my words") ||
			outside(string(files[name])) != outside(string(before[name])) {
			t.Errorf("%s: a person's words changed:\n%s", name, files[name])
		}
	}
	m, err := knowledge.ReadModule("modules/auth.md", files["modules/auth.md"])
	if err != nil || !slices.Equal(m.Files, []string{"auth/new.go"}) {
		t.Errorf("%+v, %v", m, err)
	}
}

// outside returns what is not between marks.
func outside(s string) string {
	var out []string
	in := false
	for _, line := range strings.SplitAfter(s, "\n") {
		if !in {
			out = append(out, line)
		}
		if strings.HasPrefix(line, "<!-- pawl:begin") && !strings.HasSuffix(strings.Join(out, ""), "```\n"+line) {
			in = true
		}
		if strings.HasPrefix(line, "<!-- pawl:end") {
			in = false
		}
	}
	return strings.Join(out, "")
}

func TestBrokenDocumentsAreRefused(t *testing.T) {
	for text, key := range map[string]string{
		"<!-- pawl:begin index -->\n":                          "knowledge.not_ended",
		"<!-- pawl:begin index -->\n<!-- pawl:begin other -->": "knowledge.not_ended",
		"a\n<!-- pawl:end index -->\n":                         "knowledge.not_begun",
		"<!-- pawl:begin index -->\n<!-- pawl:end index -->\n<!-- pawl:begin index -->\n<!-- pawl:end index -->\n": "knowledge.twice",
		"a\n```\nb\n":                            "knowledge.block_open",
		"a\n\xff\n":                              "solution.not_text",
		"a\x00":                                  "solution.not_text",
		strings.Repeat("a", knowledge.MaxFile+1): "solution.too_large",
	} {
		s := knowledge.Scan{Project: project(), At: noon}
		old := map[string][]byte{knowledge.IndexName: []byte(text)}
		_, err := knowledge.Update(s, old, 0)
		e, ok := err.(*pawl.Error)
		if !ok || e.Code != pawl.CodeInvalid || e.Err.(*pawl.Error).Key != key {
			t.Errorf("%.60q: %v", text, err)
		}
		if c, found := knowledge.Judge(old); c != knowledge.Bad || len(found) == 0 {
			t.Errorf("%.60q: %v", text, c)
		}
		s.Rebuild = true
		docs, err := knowledge.Update(s, old, 0)
		if err != nil || docs[knowledge.IndexName+".old"] != text ||
			!strings.Contains(docs[knowledge.IndexName], "shop") {
			t.Errorf("%.60q: rebuilt as %.80v, %v", text, docs, err)
		}
	}
}

func TestJudge(t *testing.T) {
	for _, files := range []map[string][]byte{nil, {"CHANGELOG.md": []byte("x")}, {"plan/a/tasks.md": nil}} {
		if c, _ := knowledge.Judge(files); c != knowledge.Missing {
			t.Errorf("%v: %v", files, c)
		}
	}
	for _, drop := range []string{knowledge.IndexName, knowledge.ContextName, knowledge.ModulesName, "modules/web.md"} {
		files := made(t, knowledge.Scan{Project: project(), At: noon})
		delete(files, drop)
		if c, found := knowledge.Judge(files); c != knowledge.Bad || len(found) != 1 || found[0].File != drop {
			t.Errorf("without %s: %v %v", drop, c, found)
		}
	}
	files := made(t, knowledge.Scan{Project: project(), At: noon})
	files[knowledge.ContextName] = []byte(strings.Replace(string(files[knowledge.ContextName]), "3400", "many", 1))
	if c, found := knowledge.Judge(files); c != knowledge.Bad || len(found) != 1 || found[0].Line == 0 {
		t.Errorf("%v %v", c, found)
	}
}

func TestBatches(t *testing.T) {
	s := knowledge.Scan{Project: knowledge.Project{Name: "big"}, At: noon}
	for i := range 45 {
		s.Project.Modules = append(s.Project.Modules, knowledge.Module{Name: fmt.Sprintf("m%02d", i), Path: "p"})
	}
	if !s.Project.Large() || len(s.Project.Batches()) != 3 {
		t.Fatal(len(s.Project.Batches()))
	}
	files := map[string][]byte{}
	for i, want := range []int{20, 20, 8} {
		if got := apply(t, s, files, i); len(got) != want {
			t.Errorf("batch %d made %d documents: %v", i, len(got), got)
		}
	}
	if c, found := knowledge.Judge(files); c != knowledge.Fine {
		t.Error(found)
	}
	for _, i := range []int{-1, 3} {
		if _, err := knowledge.Update(s, files, i); pawl.CodeOf(err) != pawl.CodeInternal {
			t.Error(err)
		}
	}
	for p, want := range map[*knowledge.Project]bool{{SourceFiles: 500, Lines: 50_000}: false, {SourceFiles: 501}: true,
		{Lines: 50_001}: true, {Modules: make([]knowledge.Module, 30)}: false,
		{Modules: make([]knowledge.Module, 31)}: true} {
		if p.Large() != want {
			t.Errorf("%d %d %d", p.SourceFiles, p.Lines, len(p.Modules))
		}
	}
}

func TestAudit(t *testing.T) {
	s := knowledge.Scan{Project: project(), At: noon, Language: knowledge.English}
	files := made(t, s)
	s.Project.Modules[0].Files = []string{"web/a.go", "web/c.go"}
	s.Project.Modules[1] = knowledge.Module{Name: "pay", Path: "pay"}
	s.Project.Lines = 9
	keys := func() (out []string) {
		for _, f := range knowledge.Audit(s, files) {
			out = append(out, f.File+" "+strings.TrimPrefix(f.Key, "knowledge."))
		}
		return out
	}
	want := []string{"context.md stale_fact", "modules/_index.md gone", "modules/_index.md unlisted",
		"modules/auth.md gone", "modules/pay.md no_module", "modules/web.md stale"}
	if got := keys(); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	// What keeps the CHANGELOG from growing is told, though all of it can be read.
	files["CHANGELOG.md"], files["CHANGELOG_2024.md"], files["CHANGELOG_old.md"] = []byte("# Log\n```\n"), []byte{0xff},
		[]byte{0xff}
	want = append([]string{"CHANGELOG.md block_open", "CHANGELOG_2024.md solution.not_text"}, want...)
	if got := keys(); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestModuleFiles(t *testing.T) {
	hostile := []string{"", "_index", "../../etc/passwd", "con", "COM1.x", "a", "A", "登录", "a/b", "a-b",
		strings.Repeat("x", 200), strings.Repeat("x", 201), "\x00", ".git", "a`|<"}
	var list []knowledge.Module
	for i, n := range hostile {
		list = append(list, knowledge.Module{Name: n, Path: fmt.Sprint(i)})
	}
	seen := map[string]bool{"modules/_index.md": true}
	for i, f := range knowledge.ModuleFiles(list) {
		low := strings.ToLower(f)
		if seen[low] || strings.Count(f, "/") != 1 || strings.ContainsAny(f, "\\`|<\x00 ") ||
			strings.Contains(f, "..") || strings.HasPrefix(f, "modules/.") || len(f) > 255 {
			t.Errorf("%q: %q", hostile[i], f)
		}
		seen[low] = true
	}
	if f := knowledge.ModuleFiles([]knowledge.Module{{Name: "登录"}, {Name: "web"}}); f[0] != "modules/登录.md" ||
		f[1] != "modules/web.md" {
		t.Error(f)
	}
}

// Whatever the facts hold, the documents give them back, and give back the same when written again.
func TestFactsRoundTrip(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	signs := []rune("ab -:：|`\\<>[]()*_#\n\t\r中文“”\u202e\x00\u2028é!.,、<!-- pawl:end module -->")
	text := func() string {
		var out []rune
		for range r.Intn(12) {
			out = append(out, signs[r.Intn(len(signs))])
		}
		return string(out)
	}
	list := func() (out []string) {
		for range r.Intn(4) {
			out = append(out, text())
		}
		return out
	}
	for range 3000 {
		l := []knowledge.Language{knowledge.Chinese, knowledge.English}[r.Intn(2)]
		m := knowledge.Module{Name: text(), Path: text(), Summary: text(), Files: list(), Exports: list(),
			Depends: list()}
		doc, err := knowledge.UpdateModule("m", nil, m, l)
		if err != nil {
			t.Fatal(err)
		}
		back, err := knowledge.ReadModule("m", []byte(doc))
		if err != nil || !reflect.DeepEqual(back, m.Normal()) {
			t.Fatalf("%+v, %v, want %+v:\n%s", back, err, m.Normal(), doc)
		}
		index, err := knowledge.UpdateModules(nil, []knowledge.Module{m}, l)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := knowledge.ReadModules([]byte(index))
		if err != nil || len(rows) != 1 || rows[0].Name != back.Name || rows[0].Path != back.Path ||
			rows[0].Summary != back.Summary {
			t.Fatalf("%+v, %v:\n%s", rows, err, index)
		}
		c := knowledge.Context{Project: back.Name, Stack: back.Files, SourceFiles: r.Intn(9), Lines: r.Intn(9),
			Large: r.Intn(2) == 0}
		doc, _ = knowledge.UpdateContext(nil, c, l)
		if again, err := knowledge.ReadContext([]byte(doc)); err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("%+v, %v, want %+v:\n%s", again, err, c, doc)
		}
		x := knowledge.Index{Project: back.Name, Modules: r.Intn(9), Updated: noon}
		doc, _ = knowledge.UpdateIndex(nil, x, l)
		if again, err := knowledge.ReadIndex([]byte(doc)); err != nil || again != x {
			t.Fatalf("%+v, %v:\n%s", again, err, doc)
		}
	}
}

func FuzzDocument(f *testing.F) {
	f.Add("# a\n\n<!-- pawl:begin module -->\n- 模块: a\n<!-- pawl:end module -->\nb", "x")
	f.Add("```\r\n<!-- pawl:begin module -->\r\n```\r\n", "`")
	f.Fuzz(func(t *testing.T, text, name string) {
		_, _ = knowledge.ReadIndex([]byte(text))
		_, _ = knowledge.ReadContext([]byte(text))
		_, _ = knowledge.ReadModules([]byte(text))
		doc, err := knowledge.UpdateModule("m", []byte(text), knowledge.Module{Name: name, Files: []string{name}},
			knowledge.English)
		if err != nil {
			return
		}
		if _, err := knowledge.ReadModule("m", []byte(doc)); err != nil {
			t.Fatalf("%v:\n%q", err, doc)
		}
		if again, err := knowledge.UpdateModule("m", []byte(doc), knowledge.Module{Name: name, Files: []string{name}},
			knowledge.English); err != nil || again != doc {
			t.Fatalf("%v: %q became %q", err, doc, again)
		}
	})
}
