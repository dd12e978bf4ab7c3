package display_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"pawl/text/display"
)

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain text, 中文, é": "plain text, 中文, é", "a\nb\tc\rd": `a\nb\tc\rd`, "\x1b]52;c;x\a": `\x1b]52;c;x\x07`,
		"a\u202eb": `a\u{202e}b`,
		"a\u200bb": `a\u{200b}b`, "a\U000e0041": `a\u{e0041}`, "a\u00a0b": `a\xa0b`, "\u009b2J": `\x9b2J`,
		"\xff": `\xff`, "\u3000": `\u{3000}`, "\ufe0f": `\u{fe0f}`, "\ufffd": "\ufffd",
	} {
		if got := display.Line(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
		if again := display.Line(display.Line(in)); again != want {
			t.Errorf("%q changes when it is shown twice: %s", in, again)
		}
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"", 1, ""}, {"中文", 2, "中文"}, {"中文字", 2, "中…"}, {"abc", 1, "…"}, {"abc", 3, "abc"}, {"é\xffx", 2, "é…"},
	} {
		if got := display.Clip(c.in, c.limit); got != c.want {
			t.Errorf("%q to %d: %q, want %q", c.in, c.limit, got, c.want)
		}
	}
	if display.Hash("0123456789abcdef") != "0123456789ab" || display.Hash("01") != "01" {
		t.Error("a hash is shown otherwise")
	}
}

// TestEnds: beginning and end are those of the text, as long as they may be, and no character is cut.
func TestEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.SampledFrom([]rune("aé中😀"))).Draw(t, "text")
		most := rapid.IntRange(0, len(s)+2).Draw(t, "most")
		for _, got := range []string{display.Head(s, most), display.Tail(s, most)} {
			if len(got) > most || !utf8.ValidString(got) || len(got) < len(s) && len(got) <= most-utf8.UTFMax {
				t.Fatalf("%q of %q, at most %d bytes", got, s, most)
			}
		}
		if !strings.HasPrefix(s, display.Head(s, most)) || !strings.HasSuffix(s, display.Tail(s, most)) {
			t.Fatalf("%q and %q of %q", display.Head(s, most), display.Tail(s, most), s)
		}
		if clipped := display.Clip(s, most+1); utf8.RuneCountInString(clipped) > most+1 {
			t.Fatalf("%q is longer than %d", clipped, most+1)
		}
	})
}
