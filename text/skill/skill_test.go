package skill_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"pawl"
	"pawl/text/message"
	"pawl/text/skill"
)

var langs = []message.Lang{message.English, message.Chinese}

// TestFrontMatter is what the standard asks of a skill: a name that is the folder's, and a description that says when.
func TestFrontMatter(t *testing.T) {
	for _, lang := range langs {
		_, rest, _ := strings.Cut(skill.Text(lang), "---\n")
		head, body, ok := strings.Cut(rest, "\n---\n")
		var front struct {
			Name        string            `yaml:"name"`
			Description string            `yaml:"description"`
			Metadata    map[string]string `yaml:"metadata"`
		}
		if err := yaml.Unmarshal([]byte(head), &front); err != nil || !ok {
			t.Fatalf("%s: %v", lang, err)
		}
		if front.Name != skill.Name || !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(front.Name) ||
			front.Metadata["generator"] != "pawl" {
			t.Errorf("%s: %+v", lang, front)
		}
		if n := utf8.RuneCountInString(front.Description); n < 40 || n > 1024 {
			t.Errorf("%s: a description of %d characters", lang, n)
		}
		if strings.Count(body, "\n") > 500 || !strings.HasSuffix(body, "\n") || strings.Contains(body, "\r") {
			t.Errorf("%s: %d lines", lang, strings.Count(body, "\n"))
		}
	}
}

// Both languages teach the same commands and tools, in the same order.
func TestBothLanguagesSayTheSame(t *testing.T) {
	named := regexp.MustCompile("`[^`]+`")
	quoted := regexp.MustCompile(`"[^"]*"`)
	for what, text := range map[string]func(message.Lang) string{"skill": skill.Text, "section": skill.Section} {
		var lists []string
		for _, lang := range langs {
			var out []string
			for _, n := range named.FindAllString(text(lang), -1) {
				if n = quoted.ReplaceAllString(n, `""`); strings.HasPrefix(n, "`pawl ") || strings.Contains(n, "_") {
					out = append(out, n)
				}
			}
			lists = append(lists, strings.Join(out, "\n"))
		}
		if lists[0] != lists[1] || strings.Count(lists[0], "\n") < 5 {
			t.Errorf("%s:\n%s\n---\n%s", what, lists[0], lists[1])
		}
	}
}

func TestOwner(t *testing.T) {
	for _, lang := range langs {
		file := skill.File(lang)
		if skill.OwnerOf(file) != skill.OwnerPawl || !bytes.HasPrefix(file, []byte(skill.Text(lang))) {
			t.Errorf("%s: not its own", lang)
		}
		for i := range file {
			changed := bytes.Clone(file)
			changed[i] ^= 1
			if skill.OwnerOf(changed) == skill.OwnerPawl {
				t.Fatalf("%s: byte %d is changed and nobody sees it", lang, i)
			}
		}
		for _, more := range []string{"\n", "x", "\nmore\n"} {
			if got := skill.OwnerOf(append(bytes.Clone(file), more...)); got != skill.OwnerChanged {
				t.Errorf("%s: %q is added: %s", lang, more, got)
			}
		}
	}
	for _, foreign := range []string{"", "---\nname: context-manager\n---\n", strings.Repeat("x", 1<<20), "\xff\x00"} {
		if got := skill.OwnerOf([]byte(foreign)); got != skill.OwnerOther {
			t.Errorf("%.20q: %s", foreign, got)
		}
	}
}

func TestTargets(t *testing.T) {
	show := func(home bool, names ...string) string {
		targets, err := skill.Targets(home, names...)
		if err != nil {
			return string(pawl.CodeOf(err))
		}
		var out []string
		for _, t := range targets {
			if t.Path = strings.ReplaceAll(t.Path, "/skills/context-manager/SKILL.md", "/*"); t.Doc {
				t.Path += "#"
			}
			out = append(out, t.Path)
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		home  bool
		names []string
		want  string
	}{
		{false, nil, ".agents/* .claude/* AGENTS.md#"},
		{true, nil, ".agents/* .claude/*"},
		{false, []string{"claude"}, ".claude/*"},
		{false, []string{"Codex", "pi", "codex"}, ".agents/* AGENTS.md# .pi/*"},
		{true, []string{"codex"}, ".agents/* .codex/AGENTS.md#"},
		{true, []string{"opencode", "gemini"}, ".config/opencode/* .config/opencode/AGENTS.md# .gemini/*"},
		{false, []string{"nosuch"}, "usage"},
		{false, []string{"codex", ""}, "usage"},
	} {
		if got := show(c.home, c.names...); got != c.want {
			t.Errorf("%t %v: %s, want %s", c.home, c.names, got, c.want)
		}
	}
	for _, name := range skill.Agents() {
		for _, home := range []bool{false, true} {
			targets, err := skill.Targets(home, name)
			if err != nil || len(targets) == 0 {
				t.Errorf("%s: %v, %v", name, targets, err)
			}
			for _, x := range targets {
				if strings.HasPrefix(x.Path, "/") || strings.Contains(x.Path, "..") {
					t.Errorf("%s: %s", name, x.Path)
				}
			}
		}
	}
}

func TestSection(t *testing.T) {
	section := func(doc string, lang message.Lang) string {
		t.Helper()
		out, err := skill.Put([]byte(doc), lang)
		if err != nil {
			t.Fatalf("%q: %v", doc, err)
		}
		return string(out)
	}
	for _, doc := range []string{
		"", "\n", "# Mine", "# Mine\n", "# Mine\n\n", "\ufeff# Mine\r\n\r\ntext\r\n", "# 我的\n文本", "a\r\nb", "\n\n\n",
		"# Mine\n<!-- pawling -->\n", "\r\n",
	} {
		for _, lang := range langs {
			with := section(doc, lang)
			if !strings.HasPrefix(with, doc) || strings.Count(with, "pawl:begin") != 1 ||
				!strings.Contains(strings.ReplaceAll(with, "\r\n", "\n"), skill.Section(lang)) {
				t.Errorf("%q becomes %q", doc, with)
			}
			if strings.Contains(doc, "\r\n") && strings.Count(with, "\n") != strings.Count(with, "\r\n") {
				t.Errorf("%q gets lines of another kind", doc)
			}
			if again := section(with, lang); again != with {
				t.Errorf("%q is changed by a second time", doc)
			}
			if other := section(section(with, message.Chinese), lang); other != with {
				t.Errorf("%q is another one after the other language", doc)
			}
			back, found, err := skill.Cut([]byte(with))
			if err != nil || !found || string(back) != doc {
				t.Errorf("%q comes back as %q, %v", doc, back, err)
			}
		}
	}
	// What was written around the section later stays.
	mine := "# Mine\n"
	with := section(mine, message.English)
	around := "first\n" + with + "\nlast\n"
	if got := section(around, message.Chinese); !strings.HasPrefix(got, "first\n# Mine\n\n<!-- pawl:begin") ||
		!strings.HasSuffix(got, "<!-- pawl:end -->\n\nlast\n") {
		t.Errorf("%q", got)
	}
	if back, _, err := skill.Cut([]byte(around)); err != nil || string(back) != "first\n# Mine\n\nlast\n" {
		t.Errorf("%q, %v", back, err)
	}
	if back, found, err := skill.Cut([]byte(mine)); err != nil || found || string(back) != mine {
		t.Errorf("%q, %t, %v", back, found, err)
	}
}

func TestBrokenDocuments(t *testing.T) {
	begin, end := "<!-- pawl:begin -->\n", "<!-- pawl:end -->\n"
	for doc, line := range map[string]string{
		"a\n" + begin + "b\n": "2", "a\nb\n" + end: "3", end + begin: "1", begin + begin + end: "2", begin + end +
			end: "3", begin + end + begin + end: "3",
		"<!-- pawl:begin\n": "1", "\xff\xfe": "", "a\x00b": "", strings.Repeat("x", skill.MaxDoc+1): "",
	} {
		for _, f := range []func([]byte) error{
			func(b []byte) error { _, err := skill.Put(b, message.English); return err },
			func(b []byte) error { _, _, err := skill.Cut(b); return err },
		} {
			err := f([]byte(doc))
			if pawl.CodeOf(err) != pawl.CodeInvalid || line != "" && !strings.Contains(err.Error(), line) {
				t.Errorf("%.40q: %v, want line %s", doc, err, line)
			}
		}
	}
}

// Whatever the document is, to put the section and to cut it again gives the document back.
func FuzzSection(f *testing.F) {
	f.Add([]byte("# Mine\r\n"))
	f.Add([]byte("<!-- pawl:begin -->\n<!-- pawl:end -->"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		if _, found, err := skill.Cut(doc); err != nil || found {
			return
		}
		with, err := skill.Put(doc, message.English)
		if err != nil {
			t.Fatal(err)
		}
		if back, found, err := skill.Cut(with); err != nil || !found || !bytes.Equal(back, doc) {
			t.Fatalf("%q comes back as %q, %v", doc, back, err)
		}
	})
}

func TestAnyDocument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "\n", "\r\n", "\r", "# b", "<!-- pawl:", "é",
			" "})).Draw(t, "doc"), "")
		with, err := skill.Put([]byte(doc), message.Chinese)
		if err != nil {
			t.Fatal(err)
		}
		if back, found, err := skill.Cut(with); err != nil || !found || string(back) != doc {
			t.Fatalf("%q comes back as %q, %v", doc, back, err)
		}
	})
}
