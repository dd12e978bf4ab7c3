//go:build linux

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"strconv"
	"testing"
)

// Every wall can still be taken away: what is replaced stands in its file once, and what comes in its place is Go that
// uses all that the file imports.
func TestWallsCanBeTakenAway(t *testing.T) {
	t.Chdir("../..")
	if len(walls) < 10 {
		t.Errorf("%d walls", len(walls))
	}
	for _, w := range walls {
		for _, file := range w.files() {
			text, err := os.ReadFile(file)
			if err == nil {
				text, err = w.without(file, text)
			}
			var f *ast.File
			if err == nil {
				f, err = parser.ParseFile(token.NewFileSet(), file, text, 0)
			}
			if err != nil {
				t.Errorf("%s: %v", w.name, err)
				continue
			}
			for _, name := range idle(f) {
				t.Errorf("%s: %s imports %s for nothing", w.name, file, name)
			}
		}
	}
}

// idle names the imported packages of a file that it does not use.
func idle(f *ast.File) (out []string) {
	used := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok {
				used[x.Name] = true
			}
		}
		return true
	})
	for _, imported := range f.Imports {
		from, _ := strconv.Unquote(imported.Path.Value) // the file was parsed
		if imported.Name == nil && !used[path.Base(from)] {
			out = append(out, from)
		}
	}
	return out
}
