package shell

import (
	"strings"
	"testing"
)

func TestLineFeed(t *testing.T) {
	var got []string
	f := &lineFeed{show: func(l string) { got = append(got, l) }}
	for _, p := range []string{"one\ntw", "o\x1b[0m\n", "thr", "ee\r", "a\nb\nc\nd", strings.Repeat("x", 1<<20), "\n",
		"\n\n", "end\n"} {
		f.write([]byte(p))
	}
	if len(got) != 6 || got[0] != "one" || got[1] != "two" || got[2] != "three" || got[3] != "c" ||
		len(got[4]) != maxUnfinished || got[5] != "end" {
		t.Errorf("%d lines: %.200q", len(got), got)
	}
	if cap(f.rest) > 2<<20 {
		t.Errorf("%d bytes are kept", cap(f.rest))
	}
}
