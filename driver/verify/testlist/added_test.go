package testlist_test

import (
	"strings"
	"testing"

	"pawl/driver/verify/testlist"
)

const goBase = `package shop

import "testing"

var rate = 2

func helper(t *testing.T, got, want int) {
	if got != want {
		t.Errorf("%d, want %d", got, want)
	}
}

// TestSum asks for sums.
func TestSum(t *testing.T) {
	helper(t, Sum(1, 2), 3)
}
`

const pythonBase = `import unittest
from shop import total


class Total(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2]), 3)


if __name__ == "__main__":
    unittest.main()
`

const nodeBase = `import { test, describe } from 'node:test';
import assert from 'node:assert';
import { total } from './shop.js';

describe('shop', () => {
  test('total', () => {
    assert.equal(total([1, 2]), 3);
  });
});
`

const commonBase = `const test = require('node:test');
const { total } = require('./shop');

test('total', (t) => {
  t.assert.equal(total([1, 2]), 3);
});
`

// TestAdds: an added test is one; whatever could change what the tests that were there say is none.
func TestAdds(t *testing.T) {
	const goTest = "\nfunc TestMax(t *testing.T) {\n\thelper(t, Max(1, 2), 2)\n}\n"
	const method = "\n    def test_highest(self):\n        self.assertEqual(highest([3, 9]), 9)\n\n"
	const call = "  test('highest', () => {\n    assert.equal(highest([3, 9]), 9); // all of them\n  });\n"
	const top = "\ntest('highest', (t) => {\n  t.assert.equal(highest([3, 9]), 9);\n});\n"
	in := func(text, old, new string) string {
		t.Helper()
		if !strings.Contains(text, old) {
			t.Fatalf("no %q", old)
		}
		return strings.Replace(text, old, new, 1)
	}
	main := "\n\nif __name__"
	imported := in(pythonBase, "import total\n", "import highest, total\n")
	end := func(s string) string { return in(nodeBase, "\n  });\n});\n", "\n  });\n"+s+"});\n") }
	for _, c := range []struct {
		name, file, before, after string
		want                      bool
	}{
		{"go: nothing", "a_test.go", goBase, goBase, true},
		{"go: a test behind", "a_test.go", goBase, goBase + goTest, true},
		{"go: a test before, with an import and a helper", "a_test.go", goBase, in(in(goBase, "import \"testing\"",
			"import (\n\t\"strings\"\n\t\"testing\"\n)"), "var rate", "func other() string { return strings.ToUpper(\"a\") }\n"+goTest+
			"\nvar rate"), true},
		{"go: removed", "a_test.go", goBase + goTest, goBase, false},
		{"go: changed", "a_test.go", goBase, in(goBase, "3)", "4)") + goTest, false},
		{"go: skipped", "a_test.go", goBase, in(goBase, "\thelper(t, Sum", "\tt.Skip()\n\thelper(t, Sum") + goTest, false},
		{"go: renamed", "a_test.go", goBase, in(goBase, "func TestSum", "func testSum") + goTest, false},
		{"go: a helper changed", "a_test.go", goBase, in(goBase, "got != want", "got != got") + goTest, false},
		{"go: a variable changed", "a_test.go", goBase, in(goBase, "rate = 2", "rate = 3") + goTest, false},
		{"go: TestMain", "a_test.go", goBase, goBase + "\nfunc TestMain(m *testing.M) {}\n" + goTest, false},
		{"go: init", "a_test.go", goBase, goBase + "\nfunc init() { Sum = nil }\n" + goTest, false},
		{"go: a second init", "a_test.go", goBase + "\nfunc init() { n++ }\n", goBase + "\nfunc init() { n++ }\nfunc init() { n++ }\n",
			false},
		{"go: a variable that runs", "a_test.go", goBase, goBase + "\nvar _ = cheat()\n" + goTest, false},
		{"go: a name of the language", "a_test.go", goBase, goBase + "\nfunc len(any) int { return 3 }\n", false},
		{"go: a type of the language", "a_test.go", goBase, goBase + "\ntype error interface{}\n", false},
		{"go: a method", "a_test.go", goBase, goBase + "\nfunc (price) Equal(any) bool { return true }\n", false},
		{"go: a build tag", "a_test.go", goBase, "//go:build never\n\n" + goBase + goTest, false},
		{"go: a build tag moved up", "a_test.go", goBase + "\n//go:build never\n", "//go:build never\n\n" + goBase, false},
		{"go: linkname", "a_test.go", goBase, goBase + "\n//go:linkname x testing.x\n" + goTest, false},
		{"go: another import of the name", "a_test.go", goBase, in(goBase, "\"testing\"", "testing \"shop/testing\""), false},
		{"go: an import for what it does", "a_test.go", goBase, in(goBase, "import", "import _ \"shop/cheat\"\nimport"), false},
		{"go: C", "a_test.go", goBase, in(goBase, "import", "// void f(){}\nimport \"C\"\nimport"), false},
		{"go: does not parse", "a_test.go", goBase, goBase + "\nfunc {", false},

		{"python: a method", "test_a.py", pythonBase, in(imported, main, method+main), true},
		{"python: a class and an import", "test_a.py", pythonBase, in(in(pythonBase, "from shop", "import os\nfrom shop"), main,
			"\n\nclass Other(unittest.TestCase):"+method+main), true},
		{"python: a function", "test_a.py", "from shop import total\n\n\ndef test_total():\n    assert total([1]) == 1\n",
			"from shop import total, highest\n\n\ndef test_total():\n    assert total([1]) == 1\n\n\ndef test_highest():\n    assert highest([1]) == 1\n",
			true},
		{"python: changed", "test_a.py", pythonBase, in(in(pythonBase, "3)", "4)"), main, method+main), false},
		{"python: skipped", "test_a.py", pythonBase, in(pythonBase, "    def test_total", "    @unittest.skip('x')\n    def test_total"), false},
		{"python: the same name again", "test_a.py", pythonBase, in(pythonBase, main, in(method, "test_highest", "test_total")+main), false},
		{"python: a class of the name again", "test_a.py", pythonBase, in(pythonBase, main,
			"\n\nclass Total(unittest.TestCase):"+method+main), false},
		{"python: what an import binds is used", "test_a.py", pythonBase, in(pythonBase, "import total", "import total, unittest"), false},
		{"python: another module", "test_a.py", pythonBase, in(pythonBase, "from shop", "from fake"), false},
		{"python: setUp", "test_a.py", pythonBase, in(pythonBase, main, in(method, "test_highest", "setUp")+main), false},
		{"python: load_tests", "test_a.py", pythonBase, pythonBase + "\ndef load_tests(a, b, c):\n    return None\n", false},
		{"python: code at the edge", "test_a.py", pythonBase, pythonBase + "\nimport os\nos._exit(0)\n", false},
		{"python: code in a class", "test_a.py", pythonBase, in(pythonBase, main, "\n\nclass Other(unittest.TestCase):\n        os._exit(0)\n"+
			method+main), false},
		{"python: an attribute behind a method", "test_a.py", pythonBase, in(pythonBase, main, method+"    test_total = None\n"+main), false},
		{"python: more of the last method", "test_a.py", pythonBase, in(pythonBase, main, "\n        return\n"+method+main), false},
		{"python: what runs when it is read", "test_a.py", pythonBase, in(pythonBase, main, in(method, "(self)", "(self, a=cheat())")+main),
			false},
		{"python: a fixture", "test_a.py", pythonBase, pythonBase + "\n@pytest.fixture(autouse=True)\ndef test_x():\n    pass\n", false},
		{"python: an inherited test", "test_a.py", in(pythonBase, "unittest.TestCase", "Base"),
			in(in(pythonBase, "unittest.TestCase", "Base"), main, method+main), false},
		{"python: a line end that editors do not show", "test_a.py", pythonBase, in(pythonBase, main, method+"        # x\ros._exit(0)\n"+main), false},
		{"python: a text with an import in it", "test_a.py", "WANT = \"\"\"\na\n\"\"\"\n\n\ndef test_a():\n    pass\n",
			"WANT = \"\"\"\nimport b\na\n\"\"\"\n\n\ndef test_a():\n    pass\n", false},

		{"node: in a suite, with a name more", "a.test.js", nodeBase, in(end("\n"+call), "{ total }", "{ total, highest }"), true},
		{"node: at the end", "a.test.js", commonBase, in(commonBase, "{ total }", "{ total, highest }") + top, true},
		{"node: changed", "a.test.js", commonBase, in(commonBase, "3)", "4)") + top, false},
		{"node: skipped", "a.test.js", commonBase, in(commonBase, "test('total'", "test.skip('total'") + top, false},
		{"node: only", "a.test.js", commonBase, commonBase + in(top, "test('highest'", "test.only('highest'"), false},
		{"node: beforeEach", "a.test.js", nodeBase, end("  beforeEach(() => {\n    cheat();\n  });\n" + call), false},
		{"node: code at the edge", "a.test.js", commonBase, commonBase + "process.exit(0);\n", false},
		{"node: code behind a test", "a.test.js", commonBase, commonBase + in(top, "});\n", "}); process.exit(0);\n"), false},
		{"node: out of a test", "a.test.js", commonBase, commonBase + in(top, "9);\n", "9); }); process.exit(0); test('x', () => {\n"),
			false},
		{"node: out by a pattern", "a.test.js", commonBase, commonBase + in(top, "9);\n", "9); /{(/; }); process.exit(0); f(() => {\n"), false},
		{"node: out by a comment", "a.test.js", commonBase, commonBase + in(top, "9);\n", "9);\n<!-- ({\n});\nprocess.exit(0);\n"), false},
		{"node: another module", "a.test.js", commonBase, in(commonBase, "'./shop'", "'./fake'") + top, false},
		{"node: a name that is used", "a.test.js", commonBase, in(commonBase, "{ total }", "{ total, test }") + top, false},
		{"node: a suite, which runs at once", "a.test.js", commonBase, commonBase + in(top, "test(", "describe("), false},

		{"another language", "a_test.rb", "a\n", "a\nb\n", false},
	} {
		if got := testlist.Adds(c.file, []byte(c.before), []byte(c.after)); got != c.want {
			t.Errorf("%s: %v, want %v\n%s", c.name, got, c.want, c.after)
		}
	}
}
