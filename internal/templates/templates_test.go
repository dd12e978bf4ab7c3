// Package templates compiles the templates of the dashboard (face/web/*.templ) into Go. It is a package of its own because
// theirs does not build while the two differ. It holds tests only.
package templates

import (
	"bytes"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a-h/templ/generator"
	parser "github.com/a-h/templ/parser/v2"

	"pawl/internal/golden"
)

// TestTemplates: the Go of each template is what stands there, and no template is gone whose Go is left.
func TestTemplates(t *testing.T) {
	folder := filepath.Join("..", "..", "face", "web")
	found, err := filepath.Glob(filepath.Join(folder, "*.templ"))
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	made := map[string]bool{}
	for _, path := range found {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseString(string(raw))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		// What is said of the version and the place is what the generator itself would say.
		var b bytes.Buffer
		if _, err = generator.Generate(file, &b, generator.WithFileName(filepath.ToSlash(filepath.Base(path)))); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		code, err := format.Source(b.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out := strings.TrimSuffix(path, ".templ") + "_templ.go"
		made[out] = true
		golden.Check(t, out, string(code))
	}
	left, err := filepath.Glob(filepath.Join(folder, "*_templ.go"))
	for _, path := range left {
		if !made[path] {
			t.Errorf("%s is of no template", path)
		}
	}
	if err != nil {
		t.Error(err)
	}
}
