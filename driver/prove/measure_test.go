package prove

import (
	"fmt"
	"testing"
)

func TestUnrun(t *testing.T) {
	now := "package m\n\nfunc A(a int) int {\n\tif a > 1 {\n\t\treturn 2\n\t}\n\treturn a\n}\n\nfunc B() int {\n\tprintln()\n\treturn 3\n}\n\nfunc C() int { return 4 }\n"
	ran := map[int]bool{3: true, 4: true, 5: false, 7: true, 10: false, 11: false, 12: false, 15: false}
	for before, want := range map[string]string{
		"":                              "[a.go:5 a.go:10-12 B a.go:15 C]",
		"func C() int { return 4 }\n":   "[a.go:5 a.go:10-12 B]",
		"func B() int {\n\tprintln()\n": "[a.go:5 a.go:12 B a.go:15 C]",
		now:                             "[]",
	} {
		if got := fmt.Sprint(unrun("a.go", before, now, ran)); got != want {
			t.Errorf("%q: %s, want %s", before, got, want)
		}
	}
	if got := unrun("a.go", "", now, map[int]bool{}); got != nil {
		t.Error("what nobody can tell of", got)
	}
}
