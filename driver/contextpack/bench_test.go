package contextpack_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/driver/contextpack"
	"pawl/driver/search"
	"pawl/kernel/effect"
)

// corpusFiles is the number of files of the tree that the benchmarks work on: sources of the Go distribution, which are
// twice as long as those of most projects.
const corpusFiles = 5000

const benchRequirement = "The server closes keep-alive connections too early: TestServerKeepAlivesEnabled fails with \"unexpected EOF\" in serve_test.go:120"

func corpusTree(b *testing.B) effect.Place {
	b.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip("no go command")
	}
	src, dir := filepath.Join(strings.TrimSpace(string(out)), "src"), b.TempDir()
	n, old := 0, time.Now().Add(-time.Hour)
	err = filepath.WalkDir(src, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(src, p)
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.Contains(rel, "vendor") {
			return err
		}
		if n++; n > corpusFiles {
			return fs.SkipAll
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, data, 0o644); err != nil {
			return err
		}
		return os.Chtimes(to, old, old)
	})
	if err != nil || n < corpusFiles {
		b.Fatalf("%d files: %v", n, err)
	}
	if err := os.Mkdir(filepath.Join(dir, ".pawl"), 0o755); err != nil {
		b.Fatal(err)
	}
	return effect.Place{Workspace: dir, Tree: dir}
}

func build(b *testing.B, builder contextpack.Builder, place effect.Place) {
	b.Helper()
	p, err := builder.Build(b.Context(), contextpack.Ask{Place: place, Requirement: benchRequirement, Tokens: 8000})
	if err != nil || len(p.Snippets) == 0 {
		b.Fatalf("%d snippets: %v", len(p.Snippets), err)
	}
}

func fresh() contextpack.Builder { return contextpack.Builder{Walk: search.Files} }

// BenchmarkBuild builds a pack.
func BenchmarkBuild(b *testing.B) {
	place := corpusTree(b)
	for b.Loop() {
		build(b, fresh(), place)
	}
}
