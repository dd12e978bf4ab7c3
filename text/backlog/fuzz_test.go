package backlog_test

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl"
	"pawl/machine/board"
	"pawl/text/backlog"
	"pawl/text/message"
)

// FuzzRead tries every form on every input: nothing panics, what is read is sound and reads the same again, and what is
// refused says why in both languages.
func FuzzRead(f *testing.F) {
	mixed, err := os.ReadFile("testdata/mixed.md")
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		state, ccw, string(mixed), "[" + hub(1, "open", "depends on #1, #2") +
			"]", "- [ ] a {#a} (depends on #a)", "# a\n#", "- [ ] \n  ```\n", "---\n---\na\n-\n",
		`{"title":"\ud800","id":1e3,"priority":1e0}`, "a\n\n=\n- [x] #1: b\n\tc", "<!--", "[{}]",
		`{"number":1,"html_url":"https://a/b/c/issues/1","title":"x"}`,
		"## #1 A\nDepends on: #2\n## #2 B\n依赖 #1", "```\n- [ ] x", "* [ ]\tx\n\n\t- y",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.NewReplacer("%", "p", "backlog.", "").Replace(text) // what messages are searched for
		for _, form := range []backlog.Format{backlog.Auto, backlog.State, backlog.Records, backlog.Markdown} {
			for _, opt := range []backlog.Options{{}, {Loose: true, Scope: "s", Repo: "a/b"}} {
				b, err := backlog.Read(strings.NewReader(text), "x", form, opt)
				if err != nil {
					var m *pawl.Problems
					if !errors.As(err, &m) || pawl.CodeOf(err) != pawl.CodeInvalid || len(b.Issues) > 0 {
						t.Fatalf("%s: %v", form, err)
					}
					spoken(t, err)
					continue
				}
				sound(t, b)
				again, err := backlog.Read(strings.NewReader(text), "x", form, opt)
				if err != nil || shown(again) != shown(b) {
					t.Fatalf("%s reads differently the second time: %v", form, err)
				}
			}
		}
	})
}

// word draws a word of a title that means nothing else in any form.
var word = rapid.SampledFrom([]string{"Login", "缓存", "fails", "the", "支付", "with", "a_b", "x", "über", "42", "C++",
	"v1.2", "`code`", "<b>", "…", "a/b", "50%"})

// issues draws a backlog whose dependencies go backwards, so that they make no circle.
func issues(t *rapid.T) []backlog.Issue {
	n := rapid.IntRange(1, 12).Draw(t, "n")
	out := make([]backlog.Issue, n)
	for i := range out {
		is := backlog.Issue{
			ID: "i" + strconv.Itoa(i), Title: strings.Join(rapid.SliceOfN(word, 1, 5).Draw(t, "title"), " "),
			Body: strings.Join(rapid.SliceOfN(word, 0, 9).Draw(t, "body"), "\n"), Priority: rapid.IntRange(1, 5).Draw(t,
				"priority"),
			Status: rapid.SampledFrom([]board.IssueStatus{board.IssueRegistered, board.IssueCompleted}).Draw(t,
				"status"),
		}
		is.Ref = is.ID
		is.Tags = append(is.Tags, rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"auth", "网络", "a-b", "两 词"}), 0, 3,
			rapid.ID).Draw(t, "tags")...)
		for j := range i {
			if rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
				is.DependsOn = append(is.DependsOn, out[j].ID)
			}
		}
		out[i] = is
	}
	return out
}

func indented(s, by string) string {
	if s == "" {
		return ""
	}
	return by + strings.ReplaceAll(s, "\n", "\n"+by) + "\n"
}

// Whatever is written in the documented ways comes back as it was, from a task, from a heading and from a record.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := issues(t)
		var md, lines strings.Builder
		zh := rapid.Bool().Draw(t, "zh")
		words := []string{"Depends on: ", "Tags: ", "Priority: ", ", ", "Status: "}
		if zh {
			words = []string{"依赖：", "标签：", "优先级：", "、", "状态："}
		}
		for _, i := range want {
			by := ""
			if rapid.Bool().Draw(t, "task") {
				by = "    "
				box := " "
				if i.Status == board.IssueCompleted {
					box = "x"
				}
				md.WriteString("# Tasks\n- [" + box + "] " + i.Title + " {#" + i.ID + "}\n")
			} else {
				md.WriteString("## " + i.Title + " {#" + i.ID + "}\n" + words[4] + string(i.Status) + "\n")
			}
			if len(i.DependsOn) > 0 {
				md.WriteString(by + words[0] + "#" + strings.Join(i.DependsOn, words[3]+"#") + "\n")
			}
			if len(i.Tags) > 0 {
				md.WriteString(by + words[1] + strings.Join(i.Tags, words[3]) + "\n")
			}
			md.WriteString(by + words[2] + strconv.Itoa(i.Priority) + "\n\n" + indented(i.Body, by) + "\n")
			lines.WriteString(record(i) + "\n")
		}
		for name, text := range map[string]string{"a.md": md.String(), "a.jsonl": lines.String()} {
			b, err := backlog.Read(strings.NewReader(text), name, backlog.Auto, backlog.Options{})
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, text)
			}
			for n, i := range b.Issues {
				if i.Digest() != want[n].Digest() {
					t.Fatalf("%s: %+v\nwant %+v\n%s", name, i, want[n], text)
				}
			}
			if len(b.Issues) != len(want) {
				t.Fatalf("%s: %d issues of %d", name, len(b.Issues), len(want))
			}
		}
	})
}

func record(i backlog.Issue) string {
	quoted := func(all []string) string {
		var out []string
		for _, s := range all {
			out = append(out, strconv.Quote(s))
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	return `{"id":"` + i.ID + `","title":` + strconv.Quote(i.Title) + `,"body":` + strconv.Quote(i.Body) +
		`,"priority":` + strconv.Itoa(i.Priority) +
		`,"tags":` + quoted(i.Tags) + `,"depends_on":` + quoted(i.DependsOn) + `,"status":"` + string(i.Status) + `"}`
}

// Every text of the catalogue's area is used, and every one that is used is there.
func TestTexts(t *testing.T) {
	var used []string
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		raw, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`"(backlog\.[a-z_]+)"`).FindAllStringSubmatch(string(raw), -1) {
			used = append(used, m[1])
		}
	}
	for _, key := range used {
		if _, ok := message.Lookup(key); !ok {
			t.Errorf("%s has no text", key)
		}
	}
	for _, key := range message.Keys() {
		if strings.HasPrefix(key, "backlog.") && !slices.Contains(used, key) {
			t.Errorf("%s is used nowhere", key)
		}
	}
}
