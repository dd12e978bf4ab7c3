package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Every case of the document has tests, each of which exists, and no row is of a case that it does not have.
func TestEveryCaseIsTried(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "spec", "threats.md"))
	if err != nil {
		t.Fatal(err)
	}
	for prefix, rows := range map[string][]row{"case": cases, "seen": seen} {
		var documented []int
		for _, m := range regexp.MustCompile(`<a id="`+prefix+`-(\d+)"></a>`).FindAllStringSubmatch(string(page), -1) {
			n, _ := strconv.Atoi(m[1])
			documented = append(documented, n)
		}
		tried := map[int]bool{}
		for _, r := range rows {
			for n := r.from; n <= r.to; n++ {
				tried[n] = true
				if !slices.Contains(documented, n) {
					t.Errorf("%s %d is not in the document", prefix, n)
				}
			}
			files, _ := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(r.pkg), "*_test.go"))
			source := ""
			for _, f := range files {
				b, _ := os.ReadFile(f)
				source += string(b)
			}
			for _, name := range strings.Fields(r.tests) {
				if !strings.Contains(source, fmt.Sprintf("\nfunc %s(", name)) {
					t.Errorf("%s %d: %s has no %s", prefix, r.from, r.pkg, name)
				}
			}
		}
		for _, n := range documented {
			if !tried[n] {
				t.Errorf("%s %d is not tried", prefix, n)
			}
		}
		if len(documented) < 17 {
			t.Error(prefix, documented)
		}
	}
}
