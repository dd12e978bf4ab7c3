package prove_test

import (
	"fmt"
	"testing"
	"time"

	"pawl/internal/need"
	"pawl/kernel/effect"
	"pawl/text/plan"
)

// kinds are projects of a language whose checks tell which lines they ran, with a function that is tested, one that is
// not, and how both are written anew.
var kinds = map[string]struct {
	program     string
	check       effect.Check
	base, after map[string]string
	unrun       string
}{
	"go": {"go", goTest, map[string]string{"go.mod": goMod, "calc_test.go": calcTest,
		"calc.go": calc + "\nfunc Sub(a, b int) int {\n\treturn a - b\n}\n"},
		map[string]string{"calc.go": "package m\n\nfunc Add(a, b int) int { return b + a }\n\nfunc Sub(a, b int) int {\n\treturn -b + a\n}\n"},
		"calc.go:6 Sub"},
	"python": {"python3", effect.Check{Name: "unittest", Command: "python3 -m unittest", Kind: "test", Level: 2},
		map[string]string{"setup.cfg": "", "calc.py": "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n",
			"test_calc.py": "import unittest\nimport calc\n\n\nclass T(unittest.TestCase):\n    def test_add(self):\n" +
				"        self.assertEqual(calc.add(1, 2), 3)\n"},
		map[string]string{"calc.py": "def add(a, b):\n    return b + a\n\n\ndef sub(a, b):\n    return -b + a\n"},
		"calc.py:6 sub"},
	"node": {"node", effect.Check{Name: "node", Command: "node --test", Kind: "test", Level: 2},
		map[string]string{"package.json": "{}\n", "calc.js": "exports.add = (a, b) => a + b;\n\nexports.sub = function sub(a, b) {\n  return a - b;\n};\n",
			"calc.test.js": "const { test } = require('node:test');\nconst { add } = require('./calc.js');\n\n" +
				"test('adds', () => { require('node:assert').equal(add(1, 2), 3); });\n"},
		map[string]string{"calc.js": "exports.add = (a, b) => b + a;\n\nexports.sub = function sub(a, b) {\n  return -b + a;\n};\n"},
		"calc.js:4 sub"},
}

// What the checks do not run of the work is found where it has to stay as it was.
func TestWhatNoCheckRuns(t *testing.T) {
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			need.Program(t, k.program)
			r := newWorld(t).prove(work{base: k.base, change: k.after, budget: time.Minute, checks: []effect.Check{k.check},
				green:    []string{effect.CheckKey(k.check)},
				criteria: []plan.Criterion{{ID: "c", Text: "nothing changes", Proof: plan.ProofKept}}})
			var got []string
			for _, l := range r.Unrun {
				got = append(got, l.String())
			}
			if !r.Measured || fmt.Sprint(got) != fmt.Sprint([]string{k.unrun}) {
				t.Errorf("measured %v, did not run: %q, want %q", r.Measured, got, k.unrun)
			}
		})
	}
}

// Tests that were red and are green show nothing where the work knows their cases, or says itself what is equal; tests
// that were asked for show nothing where they pass whatever they are about does.
func TestWhatOnlySeemsToBeShown(t *testing.T) {
	need.Program(t, "python3")
	const head = "import unittest\nimport calc\n\n\nclass T(unittest.TestCase):\n"
	base := map[string]string{"setup.cfg": "", "calc.py": "def add(a, b):\n    return a + b\n",
		"test_old.py": head + "    def test_old(self):\n        self.assertEqual(calc.add(1, 2), 3)\n"}
	mul := []plan.Criterion{{ID: "c", Text: "mul multiplies", Proof: plan.ProofCheck, Texts: []string{"mul"}}}
	tests := []plan.Criterion{{ID: "c", Text: "add is tested", Proof: plan.ProofTest, Texts: []string{"add"}}}
	for name, c := range map[string]struct {
		code, test string
		criteria   []plan.Criterion
		doubt      effect.Why
		shows      bool
	}{
		"it multiplies": {"def mul(a, b):\n    return a * b\n", "self.assertEqual(calc.mul(3, 7), 21)", mul, "", true},
		"it knows the case": {"def mul(a, b):\n    if (a, b) == (3, 7):\n        return 21\n    return 0\n",
			"self.assertEqual(calc.mul(3, 7), 21)", mul, effect.WhyMemorised, false},
		"it says what is equal": {"class Any:\n    def __init__(self, n):\n        self.n = n\n\n    def __eq__(self, other):\n" +
			"        return True\n\n\ndef mul(a, b):\n    return Any(a + b)\n",
			"self.assertEqual(calc.mul(3, 7), 21)", mul, effect.WhyEquality, false},
		"a test that notices":       {"", "self.assertEqual(calc.add(3, 4), 7)", tests, "", true},
		"a test that never notices": {"", "calc.add(3, 4)", tests, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newWorld(t).prove(work{base: base, budget: time.Minute, criteria: c.criteria, change: map[string]string{
				"calc.py":     base["calc.py"] + "\n\n" + c.code,
				"test_new.py": head + "    def test_new(self):\n        " + c.test + "\n"},
				checks: []effect.Check{kinds["python"].check}})
			found := false
			for _, w := range r.Witnesses {
				if w.Test != "test_new.py: T::test_new" || !w.Own {
					continue
				}
				found = true
				shows := w.Shows() || w.Confirmed && c.code == ""
				if w.Doubt != c.doubt || shows != c.shows || (len(w.At) > 0) != (c.doubt != "") {
					t.Errorf("%+v", w)
				}
			}
			if !found {
				t.Errorf("the test was not tried: %+v", r.Witnesses)
			}
		})
	}
}
