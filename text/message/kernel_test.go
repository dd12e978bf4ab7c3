package message

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// key matches a key of one of the areas whose text belongs to the core.
var key = regexp.MustCompile(`^(kernel|runner)\.[a-z_]+$`)

// keysOf collects the keys that the sources of a folder name.
func keysOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", dir, len(files), err)
	}
	out := map[string]string{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if s, err := strconv.Unquote(lit.Value); err == nil && key.MatchString(s) {
					out[s] = name
				}
			}
			return true
		})
	}
	return out
}

func TestTheCoreHasText(t *testing.T) {
	used := map[string]bool{}
	for _, dir := range []string{"kernel", "kernel/*", "runner"} {
		for k, file := range keysOf(t, dir) {
			used[k] = true
			if _, ok := Lookup(k); !ok {
				t.Errorf("%s names %s, which has no text", file, k)
			}
		}
	}
	for _, k := range Keys() {
		if !key.MatchString(k) {
			continue
		}
		if !used[k] {
			t.Errorf("%s is named nowhere", k)
		}
		e, _ := Lookup(k)
		checkEntry(t, k, e)
	}
}

// checkEntry checks that a message of the core names the next step, and that the Chinese is Chinese. The notes on a
// result alone have no next step of their own: the summary that shows them does.
func checkEntry(t *testing.T, k string, e Entry) {
	t.Helper()
	if e.HintEn == "" && !strings.HasPrefix(k, "kernel.risk_") {
		t.Errorf("%s says no next step", k)
	}
	if !strings.ContainsFunc(e.Zh+e.HintZh, func(r rune) bool { return r >= 0x4e00 && r <= 0x9fff }) {
		t.Errorf("%s is not Chinese: %q", k, e.Zh)
	}
}
