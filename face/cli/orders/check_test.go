package orders

import (
	"fmt"
	"strings"
	"testing"
)

// Of a long output the lines that say what is wrong are kept, wherever they stand, and its end.
func TestEssential(t *testing.T) {
	if got := essential(" \n\n"); got != nil {
		t.Errorf("%q", got)
	}
	if got := essential("a\tb\nc\n"); len(got) != 2 || got[0] != "a    b" {
		t.Errorf("%q", got)
	}
	var lines []string
	for i := range 300 {
		lines = append(lines, fmt.Sprintf("ok %d", i))
	}
	lines[10], lines[150] = "    sum.test.js:12: want 5", "AssertionError: 5 == 6"
	got := essential(strings.Join(lines, "\n"))
	text := strings.Join(got, "\n")
	for _, want := range []string{"…\n    sum.test.js:12: want 5\n…\nAssertionError: 5 == 6\n…\n", "ok 298\nok 299"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if len(got) > maxTail+3 {
		t.Errorf("%d lines", len(got))
	}
	for i := range lines {
		lines[i] = fmt.Sprintf("error %d", i)
	}
	if got := essential(strings.Join(lines, "\n")); len(got) != maxTail+1 || got[0] != "error 0" ||
		got[len(got)-1] != "error 299" {
		t.Errorf("%q", got)
	}
}
