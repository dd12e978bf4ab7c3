package shell

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n":                                  "plain\n",
		"\x1b[1;31mred\x1b[0m\n":                   "red\n",
		"\x1b]0;title\x07text":                     "text",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\": "link",
		"\x1bP1$r\x1b\\a\x1b(Bb\x1b=c":             "abc",
		"10%\r50%\r100%\nnext\r\n":                 "100%\nnext\n",
		"a\rb\r\r\n":                               "b\n",
		"x\bx_\by":                                 "xy",
		"\b\n\bz":                                  "\nz",
		"caf\xe9 \x00\x07\x7f\u0085|":              "caf\uFFFD |",
		"\x1b]52;c;never ends\nsecond":             "]52;c;never ends\nsecond",
		"\x1b[12;3":                                "[12;3",
		"\x1b":                                     "",
		"日本\x1b[Kéé":                               "日本éé",
	} {
		if got := clean([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("\x1b[31m\x1b]0;\x07\b\xff\r\n")
	f.Fuzz(func(t *testing.T, in string) {
		out := clean([]byte(in))
		if !utf8.ValidString(out) || strings.ContainsAny(out, "\x1b\x07\b\x00\u009b") {
			t.Fatalf("%q became %q", in, out)
		}
		if again := clean([]byte(out)); again != out {
			t.Fatalf("%q becomes %q", out, again)
		}
	})
}

func TestLineFeed(t *testing.T) {
	var got []string
	f := &lineFeed{show: func(l string) { got = append(got, l) }}
	for _, p := range []string{"one\ntw", "o\x1b[0m\n", "thr", "ee\r", "a\nb\nc\nd", strings.Repeat("x", 1<<20), "\n", "\n\n", "end\n"} {
		f.write([]byte(p))
	}
	if len(got) != 6 || got[0] != "one" || got[1] != "two" || got[2] != "three" || got[3] != "c" || len(got[4]) != maxSequence || got[5] != "end" {
		t.Errorf("%d lines: %.200q", len(got), got)
	}
	if cap(f.rest) > 2<<20 {
		t.Errorf("%d bytes are kept", cap(f.rest))
	}
}
