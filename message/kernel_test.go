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
	files, err := filepath.Glob(filepath.Join("..", dir, "*.go"))
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
	for _, dir := range []string{"kernel", "runner", "effect", "view"} {
		for k, file := range keysOf(t, dir) {
			used[k] = true
			if _, ok := Lookup(k); !ok {
				t.Errorf("%s names %s, which has no text", file, k)
			}
		}
	}
	for _, table := range []Table{kernelText, runnerText} {
		for k, e := range table {
			if !used[k] {
				t.Errorf("%s is named nowhere", k)
			}
			checkEntry(t, k, e)
		}
	}
}

// verb matches a placeholder, with its index where it has one.
var verb = regexp.MustCompile(`%(?:\[(\d+)\])?[a-z]`)

// checkEntry checks that both languages say something with the same placeholders, and that the notes on a result alone have
// no hint.
func checkEntry(t *testing.T, k string, e Entry) {
	t.Helper()
	if e.En == "" || e.Zh == "" || (e.HintEn == "") != (e.HintZh == "") {
		t.Errorf("%s is not in both languages", k)
	}
	if e.HintEn == "" && !strings.HasPrefix(k, "kernel.risk_") {
		t.Errorf("%s says no next step", k)
	}
	n := 0
	for _, text := range []string{e.En, e.Zh, e.HintEn, e.HintZh} {
		found := verb.FindAllStringSubmatch(text, -1)
		n = max(n, len(found))
		for _, v := range found {
			at, _ := strconv.Atoi(v[1]) // "" for a placeholder without an index
			n = max(n, at)
		}
	}
	args := make([]any, n)
	for i := range args {
		args[i] = "arg" + strconv.Itoa(i)
	}
	for _, text := range []string{e.En, e.Zh, e.HintEn, e.HintZh} {
		if got := English.format(text, args); strings.Contains(got, "%!") {
			t.Errorf("%s is rendered as %q", k, got)
		}
	}
	for i, arg := range args {
		if en, zh := strings.Contains(English.format(e.En, args), arg.(string)), strings.Contains(Chinese.format(e.Zh, args), arg.(string)); en != zh {
			t.Errorf("%s: argument %d is shown in one language only", k, i)
		}
	}
	if !strings.ContainsFunc(e.Zh+e.HintZh, func(r rune) bool { return r >= 0x4e00 && r <= 0x9fff }) {
		t.Errorf("%s is not Chinese: %q", k, e.Zh)
	}
}
