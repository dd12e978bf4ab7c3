package contextpack_test

import (
	"bytes"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/driver/contextpack"
)

// Bounds of BenchmarkRecall: faults of one module, the time that its tests may take, and the lines of their output.
const (
	recallFaults = 40
	recallTime   = 60 * time.Second
	recallLines  = 25
)

// BenchmarkRecall plants faults in modules of the module cache, one at a time and blindly: the first condition of a
// function is turned round. It reports in how many of those that tests notice the function is shown within the first
// 2,000 tokens of a pack that is built for nothing but the output of the tests.
func BenchmarkRecall(b *testing.B) {
	found, planted := 0, 0
	for b.Loop() {
		for _, name := range []string{"github.com/bluekeyes/go-gitdiff", "github.com/bmatcuk/doublestar/v4",
			"github.com/oklog/ulid/v2"} {
			place := module(b, name)
			builder, of := fresh(), 0
			for _, f := range faults(b, place.Tree) {
				said := f.output(b, place.Tree)
				if said == "" || of == recallFaults {
					continue
				}
				of++
				p := pack(b, builder, contextpack.Ask{Place: place,
					Requirement: "The tests fail; find and fix the bug.", Said: []string{said}, Tokens: 8000})
				for _, s := range first2000(p) {
					if s.Path == f.file && s.StartLine <= f.line+1 && (s.EndLine >= f.end || s.EndLine >= f.line+60) {
						found++
						break
					}
				}
			}
			planted += of
		}
	}
	b.ReportMetric(float64(planted), "faults")
	b.ReportMetric(100*float64(found)/float64(max(planted, 1)), "%shown")
}

// fault is a function with its first condition turned round.
type fault struct {
	file      string
	line, end int
	right     []byte
	wrong     []byte
}

// faults finds a fault in each function that has a condition.
func faults(b *testing.B, dir string) (out []fault) {
	b.Helper()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, p, data, 0)
		if err != nil {
			return nil
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			var at *ast.IfStmt
			fn, ok := decl.(*ast.FuncDecl)
			ast.Inspect(decl, func(n ast.Node) bool {
				if i, is := n.(*ast.IfStmt); is && at == nil {
					at = i
				}
				return at == nil
			})
			if !ok || at == nil {
				continue
			}
			from, to := set.Position(at.Cond.Pos()).Offset, set.Position(at.Cond.End()).Offset
			wrong := string(data[:from]) + "!(" + string(data[from:to]) + ")" + string(data[to:])
			out = append(out, fault{filepath.ToSlash(rel), set.Position(fn.Pos()).Line, set.Position(fn.End()).Line,
				data, []byte(wrong)})
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return out
}

// output plants the fault and returns what the tests of its package say, "" where they notice nothing.
func (f fault) output(b *testing.B, dir string) string {
	b.Helper()
	name := filepath.Join(dir, filepath.FromSlash(f.file))
	if err := os.Chmod(name, 0o644); err != nil {
		b.Fatal(err)
	}
	write(b, name, string(f.wrong))
	defer write(b, name, string(f.right))
	ctx, cancel := context.WithTimeout(b.Context(), recallTime)
	defer cancel()
	c := exec.CommandContext(ctx, "go", "test", "-timeout", "20s", "./"+filepath.ToSlash(filepath.Dir(f.file)))
	c.Dir, c.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	all, err := c.CombinedOutput()
	i := bytes.Index(all, []byte("--- FAIL"))
	if err == nil || i < 0 || bytes.Contains(all, []byte("build failed")) {
		return ""
	}
	lines := strings.SplitN(strings.ReplaceAll(string(all[i:]), dir+"/", ""), "\n", recallLines+1)
	out := strings.Join(lines[:min(len(lines), recallLines)], "\n") + "\n"
	for line := range strings.Lines(string(all)) {
		if strings.HasPrefix(line, "--- FAIL") {
			out += line
		}
	}
	return out
}
