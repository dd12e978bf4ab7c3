package archtest

import (
	"go/ast"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A path that is resolved again follows whatever stands on the way by then. So pawl deletes its own directories through
// store/owndir, and what it finds by a pattern it may not take for its own.

// byPath are the calls of os.RemoveAll that are left, each with the reason why nothing of anybody else's can go.
var byPath = map[string]string{
	"agent/mcptools/hub.go":     "a temporary directory that the function made",
	"driver/verify/gostd.go":    "a temporary directory that the function made",
	"face/registry/check.go":    "a temporary directory that the function made",
	"face/registry/external.go": "a temporary directory that the function made",
	"face/demo/demo.go":         "the directory of the demonstration, which it made and marked",
	"sandbox/git/checkout.go":   "made by the function, in the user's git directory",
	"sandbox/git/warm.go":       "a registration in the user's git directory that names a tree of pawl's",
	"sandbox/git/worktree.go":   "a registration in the user's git directory that names a tree of pawl's",
	"sandbox/prove/prove.go":    "a temporary directory that the function made",
}

// byName is how often the directories of the program call os.Remove, filepath.Glob and filepath.WalkDir. A number may
// only fall: new code uses store/owndir.
var byName = map[string]int{
	"agent/check": 1, "agent/login": 2, "driver/archive": 1, "driver/land": 1, "driver/leftover": 2,
	"driver/retention": 1, "driver/verify": 4, "driver/verify/gocache": 1,
	"face/cli": 3, "face/cli/orders": 1, "face/cli/servers": 2,
	"face/cli/setup": 1, "face/demo": 2, "face/doctor": 1, "face/serve": 3, "face/web": 1, "sandbox": 3, "sandbox/allow": 1,
	"sandbox/deps": 3, "sandbox/git": 37, "sandbox/git/layout": 6, "sandbox/git/meta": 1, "sandbox/git/object": 2,
	"sandbox/git/own": 5, "sandbox/git/program": 1,
	"sandbox/inside": 2, "sandbox/keep": 4, "sandbox/meter": 1, "store/known": 1, "store/lockfile": 1,
	"store/notary": 9, "store/presence": 4, "store/sqlite": 4,
}

func TestDeletions(t *testing.T) {
	found, counts := map[string]bool{}, map[string]int{}
	for _, p := range packages(t) {
		top, _, _ := strings.Cut(p.rel(), "/")
		if top == "." || !slices.Contains(layers, top) || strings.HasSuffix(p.rel(), "test") {
			continue
		}
		for _, name := range p.files() {
			inspect(t, filepath.Join(p.Dir, name), func(n ast.Node) {
				call, ok := n.(*ast.SelectorExpr)
				if !ok {
					return
				}
				of, _ := call.X.(*ast.Ident)
				switch {
				case of == nil:
				case of.Name == "os" && call.Sel.Name == "RemoveAll":
					found[p.rel()+"/"+name] = true
				case of.Name == "os" && call.Sel.Name == "Remove", of.Name == "filepath" && call.Sel.Name == "Glob",
					of.Name == "filepath" && call.Sel.Name == "WalkDir":
					counts[p.rel()]++
				}
			})
		}
	}
	for _, file := range slices.Sorted(maps.Keys(found)) {
		if byPath[file] == "" {
			t.Errorf("%s: os.RemoveAll by path: use store/owndir, or name the reason in byPath", file)
		}
	}
	for file := range byPath {
		if !found[file] {
			t.Errorf("%s: os.RemoveAll is gone; take it out of byPath", file)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(counts)) {
		if counts[dir] != byName[dir] {
			t.Errorf("%q: %d, byName says %d", dir, counts[dir], byName[dir])
		}
	}
}
