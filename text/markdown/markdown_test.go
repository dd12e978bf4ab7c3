package markdown_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl/text/markdown"
)

// drawn are the kinds of lines that a transcript shows: prose, code, border, comment.
const drawn = ".=+!"

// TestScanner: lines behind a bar, each with what it is in front and, in comments within lines, what is left of it.
func TestScanner(t *testing.T) {
	within := markdown.Rules{Comments: markdown.WithinLines}
	for _, c := range []struct {
		name  string
		rules markdown.Rules
		lines string
		kinds string
		open  int
	}{
		{"a block", markdown.Rules{}, "a\n```go\n# b\n```\nc", ".+=+.", 0},
		{"the row that ends a block is as long", markdown.Rules{}, "~~~~\n~~~\n~~~ x\n```\n\t~~~~~ \na", "+===+.", 0},
		{"a span is no fence", markdown.Rules{}, "```a`\n~~~a`\n", ".+=", 2},
		{"two backticks are none", markdown.Rules{}, "``\na", "..", 0},
		{"nothing ends it", markdown.Rules{}, "a\n ```\nb", ".+=", 2},
		{"comments are text", markdown.Rules{}, "<!-- a\nb", "..", 0},
		{"comments at lines", markdown.Rules{Comments: markdown.AtLines},
			"a <!--\n <!-- b\n```\nc --> d\ne\n<!-- f --> g\n<!--\n", ".!!!.!!!", 7},
		{"comments within lines", within, "a <!-- b --> c <!--\n```\nd --> ```\ne\n```\n--> f", ".!+=+.", 0},
		{"a comment in a block", within, "```\n<!--\n```\na", "+=+.", 0},
		{"an open comment", within, "a\n<!-- <!-- --> b <!--", "..", 2},
		{"rules of fences", markdown.Rules{Fence: func(row, info string) bool { return row == "```" && info == "x" }},
			"~~~\n````x\n```\n```x\n~~~\n````", "...+=+", 0},
	} {
		s := markdown.Scanner{Rules: c.rules}
		var kinds strings.Builder
		for line := range strings.SplitSeq(c.lines, "\n") {
			_, kind := s.Next(line)
			kinds.WriteByte(drawn[kind])
		}
		if kinds.String() != c.kinds || s.Open() != c.open {
			t.Errorf("%s: %s, open %d; want %s, open %d", c.name, &kinds, s.Open(), c.kinds, c.open)
		}
	}
	s := markdown.Scanner{Rules: within}
	var left []string
	for _, line := range []string{"a<!-- b -->c<!-- d -->e <!-- f", "g", "h --> i"} {
		text, _ := s.Next(line)
		left = append(left, text)
	}
	if !slices.Equal(left, []string{"ace ", "", " i"}) {
		t.Errorf("%q is left", left)
	}
}

func TestHeading(t *testing.T) {
	for line, want := range map[string]struct {
		level int
		title string
	}{
		"# a": {1, "a"}, "   ###### b ": {6, "b"}, "#": {1, ""}, "##\tc": {2, "c"}, "    # d": {}, "####### e": {},
		"#f": {}, "g": {}, "\t# h": {}, "## i #": {2, "i #"},
	} {
		level, title, ok := markdown.Heading(line)
		if level != want.level || title != want.title || ok != (want.level > 0) {
			t.Errorf("%q: %d %q %v", line, level, title, ok)
		}
	}
	for kind := range markdown.Comment + 1 {
		if level, _ := (markdown.Row{Text: "# a", Kind: kind}).Heading(); level > 0 != (kind == markdown.Prose) {
			t.Errorf("level %d in kind %d", level, kind)
		}
	}
}

func TestIndent(t *testing.T) {
	for line, want := range map[string]int{"": 0, "a b": 0, "  a": 2, "\ta": 4, "  \ta": 4, "    \t a": 9, "\u3000a": 0} {
		if n := markdown.Indent(line); n != want {
			t.Errorf("%q: %d", line, n)
		}
	}
	for _, c := range []struct {
		line string
		n    int
		want string
	}{{"  a", 1, " a"}, {"  a", 5, "a"}, {"\ta", 1, "a"}, {" \t b", 4, " b"}, {" a", -1, " a"}, {"", 3, ""}} {
		if got := markdown.Outdent(c.line, c.n); got != c.want {
			t.Errorf("%q by %d: %q", c.line, c.n, got)
		}
	}
}

func TestCells(t *testing.T) {
	for line, want := range map[string]string{
		"| a | b |": "a·b—", " |a|b": "a—b", "|": "—", "||": "—", "a | b": "none", `| a \| b | c\\|d|`: `a \| b·c\\·d—`,
	} {
		cells, rest, ok := markdown.Cells(line)
		got := strings.Join(cells, "·") + "—" + rest
		if !ok {
			got = "none"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	for line, want := range map[string]bool{
		"|---|:-:|": true, " | - |\t": true, "|": false, "---": false, "| a |": false,
	} {
		if markdown.Rule(line) != want {
			t.Errorf("%q: %v", line, !want)
		}
	}
}

func TestNotText(t *testing.T) {
	for data, want := range map[string]int{"": 0, "a\nb": 0, "a\n\xff": 2, "\x00": 1, "a\n\n中\xe4": 3, "\ufffd": 0} {
		if n := markdown.NotText([]byte(data)); n != want {
			t.Errorf("%q: %d", data, n)
		}
	}
}

// parts are what documents are drawn from.
var parts = []string{"a", "#", "# b", "```", "````", "~~~", "<!--", "-->", "|", "| c |", "- [ ] d", "中", " ", "\t", "\r",
	markdown.ByteOrderMark, "\xff", "\x00"}

func draw(t *rapid.T, label string) string {
	return strings.Join(rapid.SliceOf(rapid.SampledFrom(append(parts, "\n", "\n", "\r\n"))).Draw(t, label), "")
}

// TestTextIsTheFile: a file is its lines again, whatever it holds, and an edit changes only the lines that it names.
// TestLoneCarriageReturn has a file whose last line ends in half a line break: a line put after it leaves its content.
func TestLoneCarriageReturn(t *testing.T) {
	for _, data := range []string{"a\r", "x\r\na\r", "x\na\r"} {
		text := markdown.TextOf(data)
		last := len(text.Lines) - 1
		spliced := text.Splice(last+1, last+1, []string{"b"})
		if got := spliced.Content(last); got != "a" || spliced.Content(last+1) != "b" {
			t.Errorf("%q: %q", data, spliced.Lines)
		}
	}
}

func TestTextIsTheFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := draw(t, "data")
		text := markdown.TextOf(data)
		if text.String() != data {
			t.Fatalf("%q", text)
		}
		n := len(text.Lines)
		from := rapid.IntRange(0, n).Draw(t, "from")
		to := rapid.IntRange(from, n).Draw(t, "to")
		with := rapid.SliceOfN(rapid.SampledFrom([]string{"", "x", "# y"}), 0, 3).Draw(t, "with")
		spliced := text.Splice(from, to, with)
		if text.String() != data {
			t.Fatal("the text was changed")
		}
		if len(spliced.Lines) != n-(to-from)+len(with) {
			t.Fatalf("%d lines of %d", len(spliced.Lines), n)
		}
		for i := range spliced.Lines {
			want := ""
			switch {
			case i < from:
				want = text.Content(i)
			case i < from+len(with):
				want = with[i-from]
			default:
				want = text.Content(i - len(with) - from + to)
			}
			if got := spliced.Content(i); got != want {
				t.Fatalf("line %d is %q, want %q", i, got, want)
			}
		}
		if from < to {
			return
		}
		if got := text.Insert(map[int][]string{from: with}); got.String() != spliced.String() {
			t.Fatalf("inserted as %q, spliced as %q", got, spliced)
		}
	})
}

// TestReplace: a line gets another content and keeps its break.
func TestReplace(t *testing.T) {
	text := markdown.TextOf("\ufeffa\r\nb\nc")
	for i, with := range []string{"", "# x", "y"} {
		text.Replace(i, with)
	}
	if got := text.String(); got != "\ufeff\r\n# x\ny" {
		t.Errorf("%q", got)
	}
	if text.LineBreak() != "\r\n" || !text.Blank(0) || text.Blank(2) {
		t.Errorf("%q", text)
	}
}

// TestKinds: what begins ends in order. A block has a border at each end and nothing but code between; only what is open
// at the end has no end; a row has the number and the content of its line.
func TestKinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := markdown.TextOf(draw(t, "data"))
		rules := markdown.Rules{Comments: markdown.Comments(rapid.IntRange(0, 2).Draw(t, "comments"))}
		rows, open := text.Rows(rules)
		in, began := false, 0
		for i, r := range rows {
			if r.N != i+1 || r.Text != text.Content(i) {
				t.Fatalf("%+v for line %d", r, i+1)
			}
			switch {
			case r.Kind == markdown.Border:
				if in = !in; in {
					began = r.N
				}
			case (r.Kind == markdown.Code) != in:
				t.Fatalf("kind %d at %d, in a block: %v", r.Kind, r.N, in)
			case r.Kind == markdown.Comment && rules.Comments == markdown.NoComments:
				t.Fatalf("a comment at %d", r.N)
			}
		}
		if len(rows) != len(text.Lines) || in && open != began || open > len(rows) ||
			open == 0 && in || rules.Comments == markdown.NoComments && !in && open > 0 {
			t.Fatalf("%d rows of %d lines, open at %d; in a block since %d: %v", len(rows), len(text.Lines), open, began, in)
		}
		// What is read does not depend on what comes.
		if n := len(rows); n > 0 {
			before, _ := (markdown.Text{Lines: text.Lines[:n-1]}).Rows(rules)
			if !slices.Equal(before, rows[:n-1]) {
				t.Fatal("the last line changes those before it")
			}
		}
	})
}

func FuzzRows(f *testing.F) {
	for _, s := range parts {
		f.Add(s+"\n"+s, uint8(1))
	}
	f.Fuzz(func(t *testing.T, data string, comments uint8) {
		text := markdown.TextOf(data)
		if text.String() != data {
			t.Fatalf("%q", text)
		}
		rows, open := text.Rows(markdown.Rules{Comments: markdown.Comments(comments % 3)})
		if len(rows) != len(text.Lines) || open > len(rows) {
			t.Fatalf("%d rows of %d lines, open at %d", len(rows), len(text.Lines), open)
		}
		for _, r := range rows {
			if level, title := r.Heading(); level > 6 || level > 0 && strings.Contains(title, "\n") {
				t.Fatalf("level %d, %q", level, title)
			}
			column := markdown.Indent(r.Text)
			if rest := markdown.Outdent(r.Text, column); markdown.Indent(rest) != 0 {
				t.Fatalf("%q outdented is %q", r.Text, rest)
			}
			cells, rest, ok := markdown.Cells(r.Text)
			if !ok && len(cells) > 0 || len(strings.Join(append(cells, rest), "")) > len(r.Text) {
				t.Fatalf("%q has the cells %q", r.Text, cells)
			}
		}
	})
}
