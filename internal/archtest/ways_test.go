package archtest

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxStops is how many stops a way through the house may have.
const maxStops = 10

var (
	wayStop  = regexp.MustCompile(`^(\d+)\. `)
	wayNames = regexp.MustCompile("`([a-z/]+)\\.((?:\\w+\\.)?\\w+)`")
)

// TestWaysLead: every function on the ways that ARCHITECTURE draws is there, no way has more than ten stops, and none comes by
// the same place twice.
func TestWaysLead(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(raw), "## Four ways through the house\n")
	text, _, _ = strings.Cut(text, "\n## ")
	declared := declarations(t)
	ways, stops := 0, 0
	var seen []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "**") {
			ways, stops, seen = ways+1, 0, nil
		}
		if !wayStop.MatchString(line) {
			continue
		}
		if stops++; stops > maxStops {
			t.Errorf("more than %d stops: %s", maxStops, line)
		}
		names := wayNames.FindAllStringSubmatch(line, -1)
		if len(names) == 0 {
			t.Errorf("a stop without a function: %s", line)
		}
		for _, m := range names {
			name := m[1] + "." + m[2]
			if !declared[name] {
				t.Errorf("%s is not declared: %s", name, line)
			}
			if slices.Contains(seen, name) {
				t.Errorf("the way comes by %s twice", name)
			}
			seen = append(seen, name)
		}
	}
	if ways != 4 || stops == 0 {
		t.Errorf("%d ways, the last with %d stops", ways, stops)
	}
}

// declarations are the functions, methods and types of all packages, as "folder.Name" and "folder.Type.Name".
func declarations(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, p := range packages(t) {
		for _, name := range p.files() {
			for _, d := range parse(t, filepath.Join(p.Dir, name)).tree.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					of := ""
					if d.Recv != nil {
						of = receiver(d.Recv.List[0].Type) + "."
					}
					out[p.rel()+"."+of+d.Name.Name] = true
				case *ast.GenDecl:
					for _, s := range d.Specs {
						if s, ok := s.(*ast.TypeSpec); ok {
							out[p.rel()+"."+s.Name.Name] = true
						}
					}
				}
			}
		}
	}
	return out
}
