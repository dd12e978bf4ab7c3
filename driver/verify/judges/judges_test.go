package judges_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"pawl/driver/verify/judges"
	"pawl/kernel/effect"
)

// TestChanged tries changes, each a tree before ("was/…") and what the work made of it ("now/…", empty for gone). The
// comment names what has to be asked about.
func TestChanged(t *testing.T) {
	for name, c := range map[string]struct {
		files          string
		read, tested   []string
		unknown        bool // which files were read
		commands, want string
	}{
		"code and its new test": {files: `
-- was/a.go --
package a
-- now/a.go --
package a // b
-- now/a_test.go --
package a`},
		"a test that changed": {want: "a_test.go", files: `
-- was/a_test.go --
package a

func TestA(t *testing.T) { t.Fatal() }
-- now/a_test.go --
package a

func TestA(t *testing.T) {}`},
		"a test that is gone": {want: "a_test.go", files: `
-- was/a_test.go --
package a
-- now/a_test.go --`},
		"a test added to the others": {files: `
-- was/a_test.go --
package a

func TestA(t *testing.T) { t.Fatal() }
-- now/a_test.go --
package a

func TestA(t *testing.T) { t.Fatal() }

func TestB(t *testing.T) { t.Fatal() }`},
		"what takes the run over": {want: "m_test.go", files: `
-- now/m_test.go --
package a

func /* all */ TestMain(m *testing.M) {}`},
		"a required module": {files: `
-- was/go.mod --
module a
-- now/go.mod --
module a

require b v1.0.0`},
		"a replaced module": {want: "go.mod", files: `
-- was/go.mod --
module a
-- now/go.mod --
module a

replace (
	b => ./b
)`},
		"a module around code that was there": {want: "b/go.mod", files: `
-- was/go.mod --
module a
-- was/b/c/c.go --
package c
-- now/b/go.mod --
module b`},
		"a module with code of its own": {files: `
-- was/go.mod --
module a
-- now/b/go.mod --
module b
-- now/b/b.go --
package b`},
		"a module that is gone": {want: "b/go.mod", files: `
-- was/b/go.mod --
module b
-- was/b/b.go --
package b
-- now/b/go.mod --`},
		"a package of others": {want: "vendor/c/c.go", files: `
-- was/vendor/c/c.go --
package c
-- now/vendor/c/c.go --
package c // d`},
		"a file beside those of others": {want: "vendor/c/d.go", files: `
-- was/vendor/c/c.go --
package c
-- now/vendor/c/d.go --
package c`},
		"a new package of others": {files: `
-- was/vendor/c/c.go --
package c
-- now/vendor/d/d.go --
package d
-- now/vendor/modules.txt --
# d`},
		"a new package for Node": {want: "node_modules/chai/index.js", files: `
-- now/node_modules/chai/index.js --
exports.a = 1`},
		"a package for tests": {want: "internal/same/same.go", files: `
-- was/go.mod --
module a
-- was/internal/same/same.go --
package same

import "testing"

func Same(t *testing.T) { t.Fatal() }
-- was/a_test.go --
package a

import "a/internal/same"
-- now/internal/same/same.go --
package same

import "testing"

func Same(t *testing.T) {}`},
		"a package that the program uses as well": {files: `
-- was/go.mod --
module a
-- was/internal/check/check.go --
package check
-- was/a.go --
package a

import "a/internal/check"
-- was/a_test.go --
package a

import "a/internal/check"
-- now/internal/check/check.go --
package check // that`},
		"a package that a test imports, and that asserts nothing": {files: `
-- was/go.mod --
module a
-- was/client/client.go --
package client
-- was/a_test.go --
package a

import "a/client"
-- now/client/client.go --
package client // that`},
		"a function for tests": {want: "help.go", files: `
-- was/help.go --
package a

func near(a, b int) bool { return a == b }
-- was/a_test.go --
package a

var _ = near(1, 2)
-- now/help.go --
package a

func near(a, b int) bool { return true }`},
		"a function that tests call, too": {files: `
-- was/help.go --
package a

func near(a, b int) bool { return a == b }

// A is it.
func A() bool { return near(1, 2) }
-- was/a_test.go --
package a

var _ = near(1, 2)
-- now/help.go --
package a

func near(a, b int) bool { return b == a }

// A is it.
func A() bool { return near(1, 2) }`},
		"modules that stand for others": {want: "pytest/__main__.py tests/unittest.py unittest.py", files: `
-- now/pytest/__main__.py --
-
-- now/unittest.py --
-
-- now/tests/unittest.py --
-
-- now/shop/queue.py --
-
-- now/cart.py --
-`},
		"a module of that name that was there": {files: `
-- was/queue.py --
a = 1
-- now/queue.py --
a = 2`},
		"a module in Python for tests": {want: "support.py", files: `
-- was/support.py --
def same(a, b): assert a == b
-- was/tests/test_a.py --
from support import same
-- now/support.py --
def same(a, b): pass`},
		"a module in Python that a test alone imports": {files: `
-- was/shop/names.py --
def clean(a): return a
-- was/tests/test_a.py --
from shop.names import clean
-- now/shop/names.py --
def clean(a): return a.strip()`},
		"a module for Node for tests": {want: "lib/is.js", files: `
-- was/lib/is.js --
const assert = require('node:assert');
-- was/a.test.js --
import { is } from './lib/is.js';
-- now/lib/is.js --
exports.is = () => {};`},
		"a module for Node that the program uses as well": {files: `
-- was/lib/is.js --
const assert = require('node:assert');
-- was/index.js --
const is = require("./lib/is");
-- was/a.test.js --
import { is } from './lib/is.js';
-- now/lib/is.js --
exports.is = () => {};`},
		"a plugin that a configuration names": {want: "plug.py", files: `
-- was/pytest.ini --
[pytest]
addopts = -p plug
-- was/plug.py --
a = 1
-- now/plug.py --
a = 2`},
		"a set-up file of jest": {want: "scripts/before.js", files: `
-- was/jest.config.js --
module.exports = { setupFiles: ['<rootDir>/scripts/before.js'] };
-- was/scripts/before.js --
a = 1
-- now/scripts/before.js --
a = 2`},
		"a module in Rust for tests": {want: "src/same.rs", files: `
-- was/src/lib.rs --
#[cfg(test)]
mod same;
-- was/src/same.rs --
pub fn same() {}
-- now/src/same.rs --
pub fn same(){}`},
		"a crate for tests": {want: "same/src/lib.rs", files: `
-- was/Cargo.toml --
[dependencies]
other = { path = "other" }

[dev-dependencies]
same = { path = "same" }
other = { path = "other" }
-- was/same/src/lib.rs --
pub fn same() {}
-- was/other/src/lib.rs --
pub fn other() {}
-- now/same/src/lib.rs --
pub fn same(){}
-- now/other/src/lib.rs --
pub fn other(){}`},
		"tests in a file of the program": {want: "src/lib.rs", files: `
-- was/src/lib.rs --
fn a() {}
#[cfg(test)]
mod tests {
    #[test]
    fn b() { assert!(true); }
}
-- now/src/lib.rs --
fn a() {}
#[cfg(test)]
mod tests {
    #[test]
    fn b() {}
}`},
		"a configuration far below, and read": {want: "a/b/c/pytest.ini", read: []string{"a/b/c/pytest.ini"}, files: `
-- now/a/b/c/pytest.ini --
[pytest]
-- now/a/b/d/pytest.ini --
[pytest]`},
		"a script that a command names": {want: "check", commands: "sh ./check", read: []string{"check"}, files: `
-- was/check --
a
-- now/check --
b`},
		"a script that a check read": {want: "tools/inner", read: []string{"tools/inner", "bin/shop"}, files: `
-- was/tools/inner --
a
-- was/bin/shop --
a
-- now/tools/inner --
b
-- now/bin/shop --
b`},
		"data that tests alone speak of": {want: "cases/a cases/b golden.txt", unknown: true, files: `
-- was/a_test.go --
package a // Glob("cases/*") and "golden.txt"
-- was/a.go --
package a // labels.txt, and golden rules of cases
-- was/cases/a --
1
-- was/cases/b --
1
-- was/golden.txt --
1
-- was/labels.txt --
1
-- was/other.txt --
1
-- now/cases/a --
2
-- now/cases/b --
-- now/cases/c --
2
-- now/golden.txt --
2
-- now/labels.txt --
2
-- now/other.txt --
2`},
		"data of both": {files: `
-- was/a_test.go --
package a // "labels.json"
-- was/a.go --
package a

//go:embed *.json
-- was/labels.json --
1
-- now/labels.json --
2`},
		"data that nobody speaks of, and that was read": {want: "sums/one", read: []string{"sums/one", "config/app.yml", "two"},
			tested: []string{"sums/one", "config/app.yml"}, files: `
-- was/sums/one --
1
-- was/two --
1
-- was/config/app.yml --
1
-- now/sums/one --
2
-- now/two --
2
-- now/config/app.yml --
2`},
		"documents and records": {read: []string{"README.md", "go.sum", "docs/a.txt", "Cargo.lock"},
			tested: []string{"README.md", "go.sum", "docs/a.txt", "Cargo.lock"}, files: `
-- was/README.md --
1
-- was/go.sum --
1
-- was/docs/a.txt --
1
-- was/Cargo.lock --
1
-- now/README.md --
2
-- now/go.sum --
2
-- now/docs/a.txt --
2
-- now/Cargo.lock --
2`},
	} {
		t.Run(name, func(t *testing.T) {
			was, tree := map[string]string{}, fstest.MapFS{}
			status := map[string]string{}
			for _, f := range txtar.Parse([]byte(c.files)).Files {
				part, file, _ := strings.Cut(f.Name, "/")
				switch text := string(f.Data); {
				case part == "was":
					was[file], tree[file] = text, &fstest.MapFile{Data: f.Data}
				case text == "":
					delete(tree, file)
					status[file] = "D"
				default:
					tree[file] = &fstest.MapFile{Data: f.Data}
					if status[file] = "A"; was[file] != "" {
						status[file] = "M"
					}
				}
			}
			w := judges.Work{Tree: tree, Commands: []string{c.commands}, Was: func(paths []string) map[string]string {
				out := map[string]string{}
				for _, p := range paths {
					if text, ok := was[p]; ok {
						out[p] = text
					}
				}
				return out
			}}
			if !c.unknown {
				w.Read, w.Tested = map[string]bool{}, map[string]bool{}
			}
			for _, p := range c.read {
				w.Read[p] = true
			}
			for _, p := range c.tested {
				w.Tested[p] = true
			}
			for _, p := range slices.Sorted(maps.Keys(status)) {
				w.Files = append(w.Files, effect.FileStat{Path: p, Status: status[p]})
			}
			if got := strings.Join(w.Changed(), " "); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestModule is about what of a go.mod decides how its module is judged.
func TestModule(t *testing.T) {
	plain := "module a\n\ngo 1.24\n\nrequire b v1.0.0\n"
	if d := judges.Module([]byte(plain)); d != "" {
		t.Errorf("a module with nothing to say has %q", d)
	}
	seen := map[string]string{}
	for _, text := range []string{"replace b => ./b\n", "replace b => ./c\n", "exclude b v1.0.0\n", "ignore ./b\n", "not a go.mod {\n"} {
		d := judges.Module([]byte(plain + text))
		if d == "" || seen[d] != "" {
			t.Errorf("%q and %q: %q", text, seen[d], d)
		}
		seen[d] = text
	}
	one, two := judges.Module([]byte(plain+"replace b => ./b\n")), judges.Module([]byte("module a\n\nreplace (\n\tb => ./b\n)\n\nrequire c v1.2.3\n"))
	if one != two {
		t.Errorf("the same in a block is not the same: %q, %q", one, two)
	}
}

// TestScripts is about the scripts that recipes name.
func TestScripts(t *testing.T) {
	for recipe, want := range map[string]string{
		"test:\n\t@./check ./...\n":                 "check",
		"test:\n\tsh tools/check -v\n":              "tools/check",
		"bash -e run && node build.mjs":             "build.mjs run",
		"include mk/rules.mk\n-include local.mk\n":  "local.mk mk/rules.mk",
		"./scripts/all.sh; python3 tests/test_a.py": "scripts/all.sh",
		"go test ./... && go build ./cmd/shop":      "cmd/shop",
	} {
		got := judges.Scripts("", recipe)
		slices.Sort(got)
		if strings.Join(slices.Compact(got), " ") != want {
			t.Errorf("%q: %q, want %q", recipe, got, want)
		}
	}
}
