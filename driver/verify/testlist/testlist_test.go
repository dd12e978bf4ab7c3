package testlist_test

import (
	"runtime"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"pawl/driver/verify/testlist"
	"pawl/text/testrun"
)

func tree(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func listed(files map[string]string, r testrun.Runner, tags ...string) []string {
	out := []string{}
	for _, n := range testlist.Of(tree(files), r, tags) {
		out = append(out, n.String())
	}
	slices.Sort(out)
	return out
}

func TestGo(t *testing.T) {
	other := "windows"
	if runtime.GOOS == other {
		other = "linux"
	}
	files := map[string]string{
		"go.mod": "module example.com/m // the module\n\ngo 1.24\n",
		"a_test.go": `package a
import "testing"
func TestMain(m *testing.M) {}
func Test(t *testing.T) {}
func TestA(t *testing.T) { func() { /* TestNo */ }() }
func Testament(t *testing.T) {}
func TestHelper(t *testing.T, x int) {}
func TestGeneric[T any](t *testing.T) {}
func (s suite) TestMethod(t *testing.T) {}
func FuzzA(f *testing.F) {}
func ExampleA() {
	// Output: 1
}
func ExampleQuiet() { /* nothing is compared */ }
func BenchmarkA(b *testing.B) {}
// func TestCommented(t *testing.T) {}
var text = ` + "`\nfunc TestInText(t *testing.T) {}\n`" + `
`,
		"sub/b_test.go":               "package sub_test\nimport . \"testing\"\nfunc TestB(t *T) {}\n",
		"sub/c_" + other + "_test.go": "package sub\nimport \"testing\"\nfunc TestElsewhere(t *testing.T) {}\n",
		"sub/d_test.go":               "//go:build slow\n\npackage sub\nimport \"testing\"\nfunc TestSlow(t *testing.T) {}\n",
		"sub/broken_test.go":          "package sub\nfunc TestBroken(",
		"sub/e.go":                    "package sub\nimport \"testing\"\nfunc TestNotInATest(t *testing.T) {}\n",
		"testdata/x_test.go":          "package x\nimport \"testing\"\nfunc TestData(t *testing.T) {}\n",
		"vendor/v/x_test.go":          "package v\nimport \"testing\"\nfunc TestVendored(t *testing.T) {}\n",
		"_old/x_test.go":              "package x\nimport \"testing\"\nfunc TestOld(t *testing.T) {}\n",
		"mod/go.mod":                  "module other\n",
		"mod/x_test.go":               "package x\nimport \"testing\"\nfunc TestOther(t *testing.T) {}\n",
	}
	want := []string{"example.com/m/sub: TestB", "example.com/m: ExampleA", "example.com/m: FuzzA",
		"example.com/m: Test",
		"example.com/m: TestA"}
	if diff := cmp.Diff(want, listed(files, testrun.Go)); diff != "" {
		t.Error(diff)
	}
	if !slices.Contains(listed(files, testrun.Go, "slow"), "example.com/m/sub: TestSlow") {
		t.Error("the tags of the check count")
	}
}

func TestNode(t *testing.T) {
	files := map[string]string{
		"a.test.js": `const { test, describe, it } = require('node:test');
test('one', () => {});
describe('suite', () => {
  it("two", () => {});
  it.skip(` + "`three`" + `, () => {});
});
test(` + "`${n} computed`" + `, () => {});
// test('commented', () => {});
/*
test('in a comment', () => {});
*/
const text = ` + "`\ntest('in a text', () => {});\n`;" + `
await test('four', async () => {});
`,
		"jest.test.js":           "test('of another runner', () => {});\n",
		"node_modules/x/test.js": "require('node:test'); test('theirs', () => {});\n",
		"src/b.test.mts":         "import test from 'node:test';\n\ttest('five', { skip: true }, () => {});\n",
	}
	want := []string{"a.test.js: four", "a.test.js: one", "a.test.js: three", "a.test.js: two", "src/b.test.mts: five"}
	if diff := cmp.Diff(want, listed(files, testrun.Node)); diff != "" {
		t.Error(diff)
	}
}

func TestPython(t *testing.T) {
	files := map[string]string{
		"tests/test_a.py": `import unittest

class TestA(unittest.TestCase):
    """def test_no(self): and
    def test_in_text(self):
    """
    def setUp(self): pass

    @unittest.skip("why")
    def test_one(self):
        def test_inner(): pass
    async def test_two(self): pass

def test_function(): pass

class TestPlain:
    def test_three(self): pass

helper = 1
    # def test_commented(self): pass
class Helper:
    def test_none(self): pass
`,
		"tests/helper.py":            "def test_not_collected(): pass\n",
		"venv/test_x.py":             "def test_theirs(): pass\n",
		"src/calc_test.py":           "class X(base.MyTestCase):\n\tdef test_four(self): pass\n",
		"src/.hidden/test_hidden.py": "def test_hidden(): pass\n",
	}
	unit := []string{"src/calc_test.py: X::test_four", "tests/test_a.py: TestA::test_one",
		"tests/test_a.py: TestA::test_two"}
	if diff := cmp.Diff(unit, listed(files, testrun.Unittest)); diff != "" {
		t.Error("unittest", diff)
	}
	both := append(slices.Clone(unit), "tests/test_a.py: TestPlain::test_three", "tests/test_a.py: test_function")
	slices.Sort(both)
	if diff := cmp.Diff(both, listed(files, testrun.Pytest)); diff != "" {
		t.Error("pytest", diff)
	}
}

// FuzzOf says that no source is too strange to be listed.
func FuzzOf(f *testing.F) {
	for _, text := range []string{"`", "/*", "//", "'", "test('x", "class A(TestCase):\n def test_a(", `"""`,
		"package a\nfunc Test("} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		files := map[string]string{"test_a.py": text, "a.js": "'node:test'\n" + text, "a_test.go": text}
		for _, r := range []testrun.Runner{testrun.Go, testrun.Node, testrun.Unittest, testrun.Pytest} {
			listed(files, r)
		}
	})
}
