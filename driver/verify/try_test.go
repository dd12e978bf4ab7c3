package verify_test

import (
	"strings"
	"testing"
	"time"

	"pawl/driver/ground"
	"pawl/driver/verify"
	"pawl/internal/need"
	"pawl/kernel/effect"
	"pawl/text/testrun"
)

// TestTry runs some tests of a check alone, of each runner. What it did not run has no end.
func TestTry(t *testing.T) {
	node := "const test = require('node:test');\n"
	python := "import unittest\n\nclass T(unittest.TestCase):\n    def test_a(self): pass\n    def test_b(self): self.fail('why')\n" +
		"    def test_c(self): pass\n"
	for name, c := range map[string]struct {
		need, command string
		files         map[string]string
		only          []testrun.Name
		want          string
	}{
		"go": {"go", "go test -v -race=false ./...", map[string]string{"go.mod": "module x\n\ngo 1.24\n", "a_test.go": "package x\n\n" +
			"import \"testing\"\n\nfunc TestA(t *testing.T) {}\nfunc TestAB(t *testing.T) {}\n" +
			"func TestB(t *testing.T) { t.Run(\"sub\", func(t *testing.T) { t.Error(\"why\") }) }\n"},
			[]testrun.Name{{File: "x", Test: "TestA"}, {File: "x", Test: "TestB"}}, "x: TestA passed, x: TestB failed why"},
		"npm": {"node", "npm test", map[string]string{"package.json": `{"scripts":{"test":"node --test"}}`,
			"a.test.js": node + "test('a', () => {});\ntest('b', () => { throw new Error('why'); });\n", "c.test.js": node + "test('c', () => {});\n"},
			[]testrun.Name{{File: "a.test.js", Test: "b"}}, "a.test.js: a passed, a.test.js: b failed why"},
		"npm with a step before": {"node", "npm test", map[string]string{"a.test.js": node + "test('a', () => {});\n",
			"package.json": `{"scripts":{"pretest":"true","test":"node --test"}}`, "c.test.js": node + "test('c', () => {});\n"},
			[]testrun.Name{{File: "a.test.js", Test: "a"}}, "a.test.js: a passed, c.test.js: c passed"},
		"unittest": {"python3", "python3 -m unittest", map[string]string{"setup.cfg": "", "test_x.py": python},
			[]testrun.Name{{File: "test_x.py", Test: "T::test_b"}}, "test_x.py: T::test_b failed why"},
		"pytest": {"pytest", "pytest -q", map[string]string{"setup.cfg": "", "test_x.py": python},
			[]testrun.Name{{File: "test_x.py", Test: "T::test_b"}, {File: "test_x.py", Test: "T::test_c"}},
			"test_x.py: T::test_c passed, test_x.py: T::test_b failed why"},
		"a runner that is not known": {"sh", "sh a.sh", map[string]string{"a.sh": "echo $GOFLAGS\n"},
			[]testrun.Name{{File: "a.sh", Test: "x"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			need.Program(t, c.need)
			v, place, _ := project(t, c.files)
			r, err := v.Try(t.Context(), &ground.Ground{Place: place}, effect.Check{Name: "t", Command: c.command, Kind: "test"}, c.only, 5*time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, end := range []testrun.End{testrun.Passed, testrun.Failed, testrun.Skipped, testrun.Unended} {
				for _, n := range r.Run.With(end) {
					line := n.String() + " " + string(end)
					if strings.Contains(r.Run.Said[n], "why") {
						line += " why"
					}
					got = append(got, line)
				}
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("%s\nwant %s\n%s", strings.Join(got, ", "), c.want, r.Output)
			}
			if name == "a runner that is not known" && !strings.Contains(r.Output, "-count=1") {
				t.Errorf("%q", r.Output)
			}
		})
	}
	if verify.Tests(verify.OpenDir, effect.Place{}, effect.Check{Command: "make test", Kind: "test"}) != nil {
		t.Error("tests of a runner that is not known")
	}
}
