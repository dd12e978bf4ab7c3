package inside

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func BenchmarkLook(b *testing.B) {
	root := b.TempDir()
	for d := range 100 {
		dir := filepath.Join(root, "node_modules", fmt.Sprint("p", d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for f := range 500 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("file-", f, ".js")), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		if _, err := Look(root, func(string) bool { return false }); err != nil {
			b.Fatal(err)
		}
	}
}
