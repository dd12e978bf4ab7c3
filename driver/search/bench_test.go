package search_test

import (
	"fmt"
	"strings"
	"testing"

	"pawl/driver/drivertest"
	"pawl/driver/search"
)

// BenchmarkGrep searches 5000 files of about 10 KB each in 250 folders for a word that stands in ten of them.
func BenchmarkGrep(b *testing.B) {
	dir := b.TempDir()
	tree := map[string]string{".gitignore": "*.log\n/dist/\nnode_modules/\n"}
	text := strings.Repeat("func handle(ctx context.Context, request *Request) error { return process(request) }\n",
		120)
	for i := range 5000 {
		data := text
		if i%500 == 0 {
			data += "// the needle\n"
		}
		tree[fmt.Sprintf("mod%02d/pkg%d/file%04d.go", i%50, i%5, i)] = data
	}
	drivertest.Populate(b, dir, tree)
	for _, pattern := range []string{"needle", `need[a-z]+\\b`, "(?i)NEEDLE"} {
		b.Run(pattern, func(b *testing.B) {
			for b.Loop() {
				if got := run[grepped](b, search.Grep(), dir, `{"pattern":"`+pattern+`"}`); len(got.Matches) != 10 {
					b.Fatalf("%d matches", len(got.Matches))
				}
			}
		})
	}
}
