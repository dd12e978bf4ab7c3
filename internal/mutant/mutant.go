// Package mutant builds the program with an error in it and finds out which tests notice. The error is in an overlay of
// the build alone; the checkout stays as it is.
package mutant

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Mutant is the program with an error.
type Mutant struct {
	Name  string
	edits []edit
}

// edit replaces a text that stands in a file exactly once.
type edit struct{ file, old, new string }

// New describes an error by threes: a file of the checkout, a text that stands in it exactly once, and what stands
// there instead. Where a second thing would notice at once that the first is wrong, it goes with it.
func New(name string, threes ...string) Mutant {
	m := Mutant{Name: name}
	for three := range slices.Chunk(threes, 3) {
		m.edits = append(m.edits, edit{three[0], three[1], three[2]})
	}
	return m
}

// files are the files that are edited, each once.
func (m Mutant) files() []string {
	var out []string
	for _, e := range m.edits {
		if !slices.Contains(out, e.file) {
			out = append(out, e.file)
		}
	}
	return out
}

// text returns a file of the checkout, the working directory, with the error in it.
func (m Mutant) text(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for _, e := range m.edits {
		if e.file != file {
			continue
		}
		if n := bytes.Count(text, []byte(e.old)); n != 1 {
			return nil, fmt.Errorf("%s: %s holds %q %d times, want once", m.Name, file, e.old, n)
		}
		text = bytes.Replace(text, []byte(e.old), []byte(e.new), 1)
	}
	return text, nil
}

// Check reports why the error could not be made: each text stands in its file once, and what comes in its place is Go
// that uses all that the file imports.
func (m Mutant) Check() error {
	for _, file := range m.files() {
		text, err := m.text(file)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, text, 0)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		if names := idle(f); len(names) > 0 {
			return fmt.Errorf("%s: %s imports %s for nothing", m.Name, file, strings.Join(names, ", "))
		}
	}
	return nil
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
		name := path.Base(from)
		if len(name) == 2 && name[0] == 'v' { // a version of it
			name = path.Base(path.Dir(from))
		}
		if imported.Name == nil && !used[name] {
			out = append(out, from)
		}
	}
	return out
}

// Test runs go test with the arguments, the error built in, and returns the top-level tests that failed. A Mutant
// without edits is the program as it is.
func (m Mutant) Test(ctx context.Context, args ...string) ([]string, error) {
	dir, err := os.MkdirTemp("", "pawl-mutant-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	replace := map[string]string{}
	for i, file := range m.files() {
		text, err := m.text(file)
		if err != nil {
			return nil, err
		}
		from, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		replace[from] = filepath.Join(dir, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(replace[from], text, 0o600); err != nil {
			return nil, err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	name := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(name, overlay, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-vet=off", "-count=1", "-timeout", "10m", "-overlay",
		name}, args...)...)
	out, err := cmd.CombinedOutput()
	return failures(string(out), err)
}

// failures finds the top-level tests that failed in what go test printed.
func failures(out string, ended error) ([]string, error) {
	if strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]") {
		return nil, fmt.Errorf("it does not build: %.600s", out)
	}
	var failed []string
	for line := range strings.Lines(out) {
		name, ok := strings.CutPrefix(line, "--- FAIL: ")
		if ok {
			name, _, _ = strings.Cut(name, " ")
			failed = append(failed, name)
		}
	}
	if ended != nil && len(failed) == 0 {
		return nil, fmt.Errorf("the tests ended with %w: %.600s", ended, out)
	}
	return failed, nil
}
