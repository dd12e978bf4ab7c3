package verify

import (
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	for in, want := range map[string]string{
		"":                                     "",
		"a\nb\n":                               "a\nb",
		"10%\r50%\r100%\ndone\r\n":             "100%\ndone",
		"\x1b[31mred\x1b[0m \x1b]0;t\x07x\x00": "red x",
		"\xff\xfe bad":                         "\uFFFD\uFFFD bad",
		"bidi \u202e here":                     "bidi \uFFFD here",
		"世界\t!":                                "世界\t!",
	} {
		if got := tail([]byte(in), 100); got != want {
			t.Errorf("tail(%q) = %q, want %q", in, got, want)
		}
	}
	long := strings.Repeat("0123456789世\n", 10000)
	got := tail([]byte(long), 1000)
	if len(got) > 1000 || !strings.HasPrefix(got, "0123456789世\n") || !strings.HasSuffix(got, "世") {
		t.Errorf("%d bytes: %q…", len(got), got[:20])
	}
}
