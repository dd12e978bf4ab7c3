package message

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// name is what a key looks like: an area, and what it is about.
var name = regexp.MustCompile(`^[a-z]+(\.[A-Za-z0-9_~-]+)+$`)

// untold finds what a backslash must not stand before.
var untold = regexp.MustCompile(`\\([^nt\\]|$)`)

// faults reads a file of the catalogue strictly and returns what is wrong with it, each fault with its file and line.
// It shares nothing with the search that the program makes.
func faults(file string, raw string) []string {
	var out []string
	bad := func(line int, format string, args ...any) {
		out = append(out, fmt.Sprintf("%s:%d: ", file, line)+fmt.Sprintf(format, args...))
	}
	lines := strings.Split(raw, "\n")
	if last := len(lines) - 1; lines[last] != "" {
		bad(last+1, "the last line does not end")
	}
	area := strings.TrimSuffix(path.Base(file), extension)
	seen := map[string]bool{}
	before := ""
	for i, line := range lines {
		if !utf8.ValidString(line) {
			bad(i+1, "not valid UTF-8")
		}
		if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) || r == '\ufeff' }) {
			bad(i+1, "a character that cannot be seen")
		}
		if line == "" || line[0] == comment {
			continue
		}
		key, text, ok := strings.Cut(line, is)
		switch {
		case !ok || !name.MatchString(key):
			bad(i+1, "no line of the form key = text: %s", line)
			continue
		case !strings.HasPrefix(key, area+"."):
			bad(i+1, "%s belongs to another area", key)
		case seen[key]:
			bad(i+1, "%s stands there twice", key)
		case key < before:
			bad(i+1, "%s belongs before %s", key, before)
		}
		if text == "" {
			bad(i+1, "%s has no text", key)
		}
		if m := untold.FindString(strings.ReplaceAll(text, `\\`, "")); m != "" {
			bad(i+1, `%s: only \n, \t and \\ are escapes`, key)
		}
		if of, ok := strings.CutSuffix(key, hintSuffix); ok && !seen[of] {
			bad(i+1, "%s is the next step of no message", key)
		}
		seen[key], before = true, key
	}
	return out
}

// library returns the files of the catalogue by language and area.
func library(t *testing.T) map[Lang]map[string]string {
	t.Helper()
	out := map[Lang]map[string]string{}
	err := fs.WalkDir(catalogue, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := catalogue.ReadFile(file)
		lang, of, _ := strings.Cut(strings.TrimPrefix(file, folder), "/")
		area, ok := strings.CutSuffix(of, extension)
		if !ok || Lang(lang) != English && Lang(lang) != Chinese {
			t.Errorf("%s is no file of the catalogue", file)
		}
		if out[Lang(lang)] == nil {
			out[Lang(lang)] = map[string]string{}
		}
		out[Lang(lang)][area] = string(raw)
		return err
	})
	if err != nil || len(out[English]) < 30 {
		t.Fatalf("%d files found, %v", len(out[English]), err)
	}
	return out
}

func TestEveryLineIsWellFormed(t *testing.T) {
	for lang, areas := range library(t) {
		for area, raw := range areas {
			for _, f := range faults(folder+string(lang)+"/"+area+extension, raw) {
				t.Error(f)
			}
		}
	}
}

// plain reads a file line by line, as a person does.
func plain(raw string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(raw) {
		if key, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), is); ok && line[0] != comment {
			out[key] = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t").Replace(text)
		}
	}
	return out
}

// A key that one language lacks is shown to a person as a key, and a hint that it lacks leaves her where she is.
func TestBothLanguagesHaveTheSameKeys(t *testing.T) {
	files := library(t)
	if _, ok := files[English][rules]; ok || files[Chinese][rules] == "" {
		t.Errorf("%s stands in Chinese alone: the tables are in English", rules)
	}
	delete(files[Chinese], rules)
	in := func(lang, other Lang) {
		for area, raw := range files[lang] {
			theirs := plain(files[other][area])
			for _, key := range slices.Sorted(maps.Keys(plain(raw))) {
				if _, ok := theirs[key]; !ok {
					t.Errorf("%s stands in %s and not in %s", key, lang, other)
				}
			}
		}
	}
	in(English, Chinese)
	in(Chinese, English)
}

// Each rule for the files is broken once.
func TestFaultsAreFound(t *testing.T) {
	const good = "# why\na.b = text\na.b.hint = next\n\na.b_c = x = y # z\\n\\t\\\\n\na.b~c-D9 =  blank at both ends \n"
	if got := faults("zh-CN/a.properties", good); len(got) > 0 {
		t.Errorf("%q is taken for wrong: %v", good, got)
	}
	for _, c := range []struct{ raw, want string }{
		{"a.b = text", "a.properties:1: the last line does not end"},
		{"a.b = text\r\n", "a.properties:1: a character that cannot be seen"},
		{"a.a = text\na.b = te\txt\n", "a.properties:2: a character that cannot be seen"},
		{"a.b = \ufefftext\n", "a.properties:1: a character that cannot be seen"},
		{"a.b = \xff\n", "a.properties:1: not valid UTF-8"},
		{"a.b=text\n", "a.properties:1: no line of the form key = text: a.b=text"},
		{"# x\n\na.b text\n", "a.properties:3: no line of the form key = text: a.b text"},
		{" a.b = text\n", "a.properties:1: no line of the form key = text:  a.b = text"},
		{"a = text\n", "a.properties:1: no line of the form key = text: a = text"},
		{"a..b = text\n", "a.properties:1: no line of the form key = text: a..b = text"},
		{" = text\n", "a.properties:1: no line of the form key = text:  = text"},
		{" # why\n", "a.properties:1: no line of the form key = text:  # why"},
		{"ab.c = text\n", "a.properties:1: ab.c belongs to another area"},
		{"a.b = text\na.b = text\n", "a.properties:2: a.b stands there twice"},
		{"a.b = text\na.c = text\na.b = other\n", "a.properties:3: a.b stands there twice"},
		{"a.c = text\na.b = text\n", "a.properties:2: a.b belongs before a.c"},
		{"a.b = \n", "a.properties:1: a.b has no text"},
		{"a.b = c:\\dir\n", `a.properties:1: a.b: only \n, \t and \\ are escapes`},
		{"a.b = end\\\n", `a.properties:1: a.b: only \n, \t and \\ are escapes`},
		{"a.b = \\\\\\x\n", `a.properties:1: a.b: only \n, \t and \\ are escapes`},
		{"a.b.hint = next\n", "a.properties:1: a.b.hint is the next step of no message"},
	} {
		if got := faults("en/a.properties", c.raw); len(got) != 1 || got[0] != "en/"+c.want {
			t.Errorf("%q: %q, want %q", c.raw, got, c.want)
		}
	}
}

// What the program finds is what stands in the files, and between two keys is nothing.
func TestFindAgreesWithPlainReading(t *testing.T) {
	for lang, areas := range library(t) {
		for area, raw := range areas {
			texts := plain(raw)
			for key, want := range texts {
				if got, ok := lang.shelf().find(key); !ok || got != want {
					t.Errorf("%s in %s: %q, %v, want %q", key, lang, got, ok, want)
				}
				for _, near := range []string{key + "!", key + is, key[:len(key)-1]} {
					if _, ok := texts[near]; ok {
						continue
					}
					if got, ok := find([]byte(raw), near); ok {
						t.Errorf("%s in %s of %s is %q", near, area, lang, got)
					}
				}
			}
		}
	}
}

// hostile are lines that a search might stumble over.
var hostile = []string{"", "#", "# a.b = no", "#a.c = no", "#\\", "# ="}

func TestFindInHostileFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"", "x", " = ", "# x", " blanks ", "a.b = a.c = d", `\n\\n\t\\`, `\`, `\q`,
			"一行\u2028字"})
		keys := rapid.SliceOfNDistinct(rapid.StringMatching(`a\.[b#=._~]{0,4}`), 0, 12, rapid.ID).Draw(t, "keys")
		slices.Sort(keys)
		var b strings.Builder
		want := map[string]string{}
		for _, k := range keys {
			for range rapid.IntRange(0, 3).Draw(t, "comments") {
				b.WriteString(rapid.SampledFrom(hostile).Draw(t, "line") + "\n")
			}
			v := text.Draw(t, "text")
			b.WriteString(k + is + v + "\n")
			want[k] = unescape([]byte(v))
		}
		b.WriteString(rapid.SampledFrom(hostile).Draw(t, "end"))
		asked := append(slices.Clone(keys), "", "a", "a.", "a.zz", "# a.b", "#a.c")
		for _, k := range keys {
			asked = append(asked, k+is+"a.b") // the beginning of a line whose text looks like a line
		}
		for _, k := range asked {
			text, ok := want[k]
			if got, found := find([]byte(b.String()), k); found != ok || got != text {
				t.Fatalf("%q in %q: %q, %v", k, b.String(), got, found)
			}
		}
	})
}

// A file that is no catalogue at all must not keep a program from going on.
func TestFindEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.StringMatching(`[\n# =ab\\]{0,60}`).Draw(t, "lines")
		find([]byte(lines), rapid.StringMatching(`[ab# =]{0,3}`).Draw(t, "key"))
	})
}

func TestEscapes(t *testing.T) {
	for text, want := range map[string]string{
		`plain`: "plain", `a\nb`: "a\nb", `a\tb`: "a\tb", `a\\b`: `a\b`, `a\\nb`: `a\nb`, `\\\n`: "\\\n",
		`end\`: `end\`, ` both `: " both ", ``: "",
	} {
		if got := unescape([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Keys come from whatever asks, such as the reason that somebody else gave.
func TestWhatIsNoKeyIsNotFound(t *testing.T) {
	if _, ok := Lookup("kernel.paused"); !ok {
		t.Error("kernel.paused is not found")
	}
	for _, key := range []string{
		"", ".", "..", "kernel", "kernel.", "kernel.paused ", "kernel.paused = ", "kernel.paused.hint",
		"kernel.paused\n", "\nkernel.paused", "# kernel.paused",
		"../en/kernel.paused", "en/kernel.paused", "kernel.properties", "nothing.of_it", "kernel.paused\x00",
	} {
		if e, ok := Lookup(key); ok {
			t.Errorf("%q is found: %v", key, e)
		}
		for _, l := range []Lang{English, Chinese, "fr"} {
			if got, want := l.Text(key, 1), strings.TrimSpace(key+" 1"); got != want {
				t.Errorf("%q in %s: %q, want %q", key, l, got, want)
			}
			if got := l.Hint(key); got != "" {
				t.Errorf("%q in %s: the hint %q", key, l, got)
			}
		}
	}
}

// A start that says one thing reads one file of one language.
func TestOnlyWhatIsAskedForIsRead(t *testing.T) {
	for _, lang := range []Lang{English, Chinese} {
		s := shelf{lang: lang}
		for range 2 {
			if _, ok := s.find("kernel.paused"); !ok {
				t.Errorf("kernel.paused is not found in %s", lang)
			}
			s.find("nothing.of_it")
		}
		read := map[any]bool{}
		s.files.Range(func(area, _ any) bool { read[area] = true; return true })
		if len(read) != 1 || !read["kernel"] {
			t.Errorf("%s: %v were read", lang, read)
		}
	}
}
