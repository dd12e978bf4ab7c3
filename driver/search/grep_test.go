package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pawl/driver/drivertest"
	"pawl/driver/search"
)

// TestGrepOrder searches files with folders between them: the answer is in the order of the walk, and one that is cut
// is the beginning of the whole one.
func TestGrepOrder(t *testing.T) {
	dir := t.TempDir()
	tree := map[string]string{}
	for i := range 300 {
		tree[fmt.Sprintf("d%d/f%03d.txt", i%7, i)] = strings.Repeat("needle\n", 1+i%3)
		tree[fmt.Sprintf("d%d/m%d/f%03d.txt", i%7, i%2, i)] = "needle\n"
	}
	drivertest.Populate(t, dir, tree)
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range tree {
			if !yield(name) {
				return
			}
		}
	})
	var want strings.Builder
	for _, name := range names {
		for i := range strings.Count(tree[name], "\n") {
			fmt.Fprintf(&want, "%s:%d:needle\n", name, i+1)
		}
	}
	lines := strings.SplitAfter(want.String(), "\n")
	for range 5 {
		all := run[grepped](t, search.Grep(), dir, `{"pattern":"needle","max_results":2000}`)
		if diff := cmp.Diff(want.String(), all.String()); diff != "" || all.Truncated || all.Files != 600 {
			t.Fatalf("%d files, %v\n%s", all.Files, all.Truncated, diff)
		}
		for _, most := range []int{1, 37, 899, 900} {
			cut := run[grepped](t, search.Grep(), dir, fmt.Sprintf(`{"pattern":"needle","max_results":%d}`, most))
			if diff := cmp.Diff(strings.Join(lines[:most], ""), cut.String()); diff != "" ||
				cut.Truncated != (most < 900) {
				t.Fatalf("%d: %v\n%s", most, cut.Truncated, diff)
			}
		}
	}
}

// TestGrepDeep finds what is further down than descriptors are kept open for, and what follows it above.
func TestGrepDeep(t *testing.T) {
	dir := t.TempDir()
	deep := strings.Repeat("d/", 150)
	drivertest.Populate(t, dir, map[string]string{deep + "x.txt": "needle\n", strings.Repeat("d/", 80) +
		"y.txt": "needle\n", "z.txt": "needle\n"})
	got := run[grepped](t, search.Grep(), dir, `{"pattern":"needle"}`)
	if want := deep + "x.txt:1:needle\n" + strings.Repeat("d/", 80) +
		"y.txt:1:needle\nz.txt:1:needle\n"; got.String() != want {
		t.Error(got.String())
	}
}
