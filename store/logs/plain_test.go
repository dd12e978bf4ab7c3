package logs

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPlain(t *testing.T) {
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
		if got := Plain([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("\x1b[31m\x1b]0;\x07\b\xff\r\n")
	f.Fuzz(func(t *testing.T, in string) {
		out := Plain([]byte(in))
		if !utf8.ValidString(out) || strings.ContainsAny(out, "\x1b\x07\b\x00\u009b") {
			t.Fatalf("%q became %q", in, out)
		}
		if again := Plain([]byte(out)); again != out {
			t.Fatalf("%q becomes %q", out, again)
		}
	})
}
