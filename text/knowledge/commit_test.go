package knowledge_test

import (
	"strings"
	"testing"

	"pawl"
	"pawl/internal/golden"
	"pawl/text/knowledge"
)

func example() knowledge.Commit {
	return knowledge.Commit{
		Type: knowledge.CommitFeat, Scope: "auth",
		Local: knowledge.Wording{Summary: "增加登录页。",
			Body:     "会话保存在签名的 cookie 中，服务器不再保留状态，因此可以随意增减实例；旧的会话表仍会读取一个版本，之后由迁移脚本删除，届时需要重新登录一次即可。\n---",
			Breaking: "旧会话失效"},
		English: knowledge.Wording{Summary: "add a login page.",
			Body: "Sessions live in a signed cookie, and the server keeps no state of them, so that instances come and go as they like.\n\n- one\n- two", Breaking: "old sessions end"},
		Footers: []knowledge.Footer{{"Closes", "#12"}, {"Reviewed-by", "Ann <ann@example.org>"}},
	}
}

func TestComposeGolden(t *testing.T) {
	for name, c := range map[string]struct {
		l    knowledge.Language
		both bool
	}{"commit_zh": {knowledge.Chinese, false}, "commit_both": {knowledge.Chinese, true},
		"commit_en": {knowledge.English, true}} {
		s, err := knowledge.Compose(example(), c.l, c.both)
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, "testdata/"+name+".txt", s)
		for _, line := range strings.Split(s, "\n") {
			if n := len([]rune(line)); n > knowledge.MaxBody {
				t.Errorf("%s: a line of %d characters: %s", name, n, line)
			}
		}
		back, both, err := knowledge.ParseCommit(s)
		if err != nil || both != (name == "commit_both") {
			t.Fatalf("%s: %v, %v", name, both, err)
		}
		if again, err := knowledge.Compose(back, c.l, c.both); err != nil || again != s {
			t.Errorf("%s: %v\n%s\nbecame\n%s", name, err, s, again)
		}
		if len(back.Footers) != 2 || !back.Breaks || back.Scope != "auth" {
			t.Errorf("%s: %+v", name, back)
		}
	}
}

func TestEveryTypeHasItsEmoji(t *testing.T) {
	seen := map[string]bool{}
	for _, typ := range knowledge.CommitTypes() {
		if e := typ.Emoji(); e == "" || seen[e] {
			t.Errorf("%s: %q", typ, e)
		}
		seen[typ.Emoji()] = true
		s, err := knowledge.Compose(knowledge.Commit{Type: typ, English: knowledge.Wording{Summary: "x"}},
			knowledge.English, false)
		if err != nil || s != typ.Emoji()+" "+string(typ)+": x\n" {
			t.Errorf("%q, %v", s, err)
		}
	}
	if len(seen) != 12 {
		t.Errorf("%d types", len(seen))
	}
}

func TestComposeRefuses(t *testing.T) {
	for name, change := range map[string]func(*knowledge.Commit){
		"commit_type":   func(c *knowledge.Commit) { c.Type = "wip" },
		"commit_long":   func(c *knowledge.Commit) { c.English.Summary = strings.Repeat("字", 51) },
		"commit_empty":  func(c *knowledge.Commit) { c.Local.Summary = " \n" },
		"commit_scope":  func(c *knowledge.Commit) { c.Scope = "a) b: c" },
		"commit_footer": func(c *knowledge.Commit) { c.Footers = []knowledge.Footer{{"", "x"}} },
		"commit_huge":   func(c *knowledge.Commit) { c.Local.Body = strings.Repeat("a b ", 20_000) },
	} {
		c := example()
		change(&c)
		_, err := knowledge.Compose(c, knowledge.Chinese, true)
		if e, ok := err.(*pawl.Error); !ok || e.Key != "knowledge."+name || e.Code != pawl.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := example()
	c.English.Summary = strings.Repeat("字", 50)
	if _, err := knowledge.Compose(c, knowledge.Chinese, true); err != nil {
		t.Error(err)
	}
}

func TestParseCommit(t *testing.T) {
	for s, want := range map[string]string{
		"fix: a": "fix||a|",
		"🐛 fix(核心)!: 修好它。\n\n正文":              "fix|核心|修好它|正文",
		"\n✨ Feat（ui）：按钮\r\n\r\nb\r\n":        "feat|ui|按钮|b",
		"docs: a\n\nb\n\n---\n\nnot a header": "docs||a|b\n\n---\n\nnot a header",
	} {
		c, both, err := knowledge.ParseCommit(s)
		w := c.Local
		if w.Summary == "" {
			w = c.English
		}
		if got := strings.Join([]string{string(c.Type), c.Scope, w.Summary, w.Body}, "|"); err != nil || both ||
			got != want {
			t.Errorf("%q: %q, %v", s, got, err)
		}
	}
	for s, key := range map[string]string{
		"": "commit_empty", "hello": "commit_form", "x fix: a": "commit_form", "wip: a": "commit_type",
		"fix:":                     "commit_form",
		"fix: 甲\n\n---\n\nfeat: a": "commit_blocks", "fix: a\x00": "commit_not_text", "fix: \xff": "commit_not_text",
		strings.Repeat("a", 70_000): "commit_huge",
	} {
		_, _, err := knowledge.ParseCommit(s)
		if e, ok := err.(*pawl.Error); !ok || e.Key != "knowledge."+key {
			t.Errorf("%.40q: %v", s, err)
		}
	}
}

func TestSuggestCommit(t *testing.T) {
	file := func(kind knowledge.ChangeKind, paths ...string) (out []knowledge.Change) {
		for _, p := range paths {
			out = append(out, knowledge.Change{Path: p, Kind: kind})
		}
		return out
	}
	for _, c := range []struct {
		changes []knowledge.Change
		first   bool
		want    string
	}{
		{file(knowledge.FileAdded, "a.go"), true, "🎉 init: set up the project"},
		{file(knowledge.FileAdded, "auth/a.go", "auth/b.go"), false, "✨ feat(auth): add 2 files"},
		{file(knowledge.FileModified, "auth/a.go"), false, "🐳 chore(auth): update a.go"},
		{file(knowledge.FileModified, "README.md"), false, "📃 docs: update README.md"},
		{file(knowledge.FileDeleted, "x/a_test.go", "x/testdata/b.md"), false, "🧪 test(x): remove 2 files"},
		{file(knowledge.FileRenamed, ".github/workflows/ci.yml"), false, "🐎 ci: rename ci.yml"},
		{file(knowledge.FileModified, "go.mod", "go.sum"), false, "🔧 build: update 2 files"},
		{file(knowledge.FileModified, "go.mod", "README.md"), false, "🐳 chore: update 2 files"},
		{file(knowledge.FileModified, strings.Repeat("长", 300)+".go"), false, "🐳 chore: update 1 file"},
	} {
		got, err := knowledge.SuggestCommit(c.changes, c.first)
		if err != nil {
			t.Fatal(err)
		}
		for _, both := range []bool{true, false} {
			if _, err := knowledge.Compose(got, knowledge.Chinese, both); err != nil {
				t.Error(err)
			}
		}
		if s, err := knowledge.Compose(got, knowledge.English, false); err != nil || strings.TrimSpace(s) != c.want {
			t.Errorf("%v: %q, %v", c.changes, s, err)
		}
	}
	if _, err := knowledge.SuggestCommit(nil, false); pawl.CodeOf(err) != pawl.CodeNotFound {
		t.Error(err)
	}
}

func FuzzCompose(f *testing.F) {
	f.Add("auth", "增加", "正文\n---\nBREAKING CHANGE: a", "add", "a\n\nb: c\nBREAKING CHANGE: x", "Refs", "#1", byte(3))
	f.Add("", ".。", "a", ". .", "b", "", "", byte(64))
	f.Add("", "x.", strings.Repeat("a ", 80), "y", strings.Repeat("汉，", 60)+"\n  "+strings.Repeat("--- ", 40), "", "",
		byte(1))
	f.Fuzz(func(t *testing.T, scope, zh, zhBody, en, enBody, key, value string, bits byte) {
		types := knowledge.CommitTypes()
		c := knowledge.Commit{Type: types[int(bits)%len(types)], Scope: scope, Breaks: bits&16 != 0,
			Local:   knowledge.Wording{Summary: zh, Body: zhBody},
			English: knowledge.Wording{Summary: en, Body: enBody, Breaking: value}}
		if key != "" {
			c.Footers = []knowledge.Footer{{key, value}}
		}
		both := bits&32 != 0
		l := knowledge.Chinese
		if bits&64 != 0 {
			l, both = knowledge.English, false
		}
		s, err := knowledge.Compose(c, l, both)
		if err != nil {
			return
		}
		back, isBoth, err := knowledge.ParseCommit(s)
		if err != nil || both && !isBoth {
			t.Fatalf("%v, %v:\n%q", isBoth, err, s)
		}
		if !both && !isBoth && back.Local.Summary == "" {
			back.Local = back.English
		} else if !both && back.English.Summary == "" {
			back.English = back.Local
		}
		if isBoth != both {
			t.Fatalf("one block read as two:\n%q", s)
		}
		if again, err := knowledge.Compose(back, l, both); err != nil || again != s {
			t.Fatalf("%v\n%q\nbecame\n%q", err, s, again)
		}
	})
}

func FuzzParseCommit(f *testing.F) {
	f.Add("🐛 fix(核心)!: 修好它。\n\n正文\n\n---\n\nfix: a")
	f.Fuzz(func(t *testing.T, s string) {
		c, both, err := knowledge.ParseCommit(s)
		if err == nil && (c.Type.Emoji() == "" || both && (c.Local.Summary == "" || c.English.Summary == "")) {
			t.Fatalf("%q: %+v", s, c)
		}
	})
}
