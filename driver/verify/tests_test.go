package verify_test

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pawl/internal/need"
	"pawl/kernel/effect"
)

// told runs the tests of a project behind real walls and returns what they said of themselves.
func told(t *testing.T, files map[string]string) (effect.CheckOutcome, string) {
	t.Helper()
	v, place, found := project(t, files)
	_, result := run(t, v, place, only(found, "test"))
	o := result.Outcomes[0]
	if o.Tests == nil {
		return o, "unknown"
	}
	r := *o.Tests
	out := []string{string(o.Status)}
	for _, part := range []struct {
		name string
		n    int
	}{{"passed", r.Passed}, {"failed", r.Failed}, {"skipped", r.Skipped}} {
		if part.n > 0 {
			out = append(out, strings.Repeat("+", part.n)+part.name)
		}
	}
	if !r.Whole {
		out = append(out, "torn")
	}
	if len(r.Left) > 0 {
		out = append(out, "left("+strings.Join(r.Left, ", ")+")")
	}
	if len(r.Silent) > 0 {
		out = append(out, "silent("+strings.Join(r.Silent, ", ")+")")
	}
	return o, strings.Join(out, " ")
}

// TestTestsAreCountedByName runs honest suites and those that end with 0 without having run what they declare: every
// one says which tests ended, and of a test that is missing its name. Whether that is the work's doing is decided
// elsewhere.
func TestTestsAreCountedByName(t *testing.T) {
	node := func(body string) map[string]string {
		return map[string]string{"package.json": `{"name":"x","scripts":{"test":"node --test"}}`,
			"x.test.js": "const { test, describe, it } = require('node:test');\nconst assert = require('node:assert');\n" + body}
	}
	python := func(body string) map[string]string {
		return map[string]string{"setup.cfg": "", "test_x.py": "import os, unittest\n\nclass T(unittest.TestCase):\n" +
			body}
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"node, honest": {node("test('a', () => {});\ndescribe('s', () => { it('b', () => {}); });\n"),
			"passed ++passed"},
		"node, red":  {node("test('a', () => { assert.equal(1, 2) });\n"), "failed +failed"},
		"node, exit": {node("test('a', () => {});\nprocess.exit(0);\n"), "passed silent(x.test.js: a)"},
		"node, exit inside": {node("test('a', () => { process.exit(0) });\ntest('b', () => {});\n"),
			"passed silent(x.test.js: a, x.test.js: b)"},
		"node, todo": {node("test('a', { todo: true }, () => { assert.equal(1, 2) });\n"),
			"passed +skipped left(x.test.js: a)"},
		"node, skip": {node("test('a', { skip: 'later' }, () => {});\n"), "passed +skipped left(x.test.js: a)"},
		"unittest, honest": {python("    def test_a(self): pass\n    def test_b(self): self.assertEqual(1, 1)\n"),
			"passed ++passed"},
		"unittest, red": {python("    def test_a(self): self.assertEqual(1, 2)\n"), "failed +failed"},
		"unittest, exit": {python("    def test_a(self): os._exit(0)\n    def test_b(self): pass\n"),
			"failed torn silent(test_x.py: T::test_a, test_x.py: T::test_b)"},
		"unittest, skip": {python("    @unittest.skip('x')\n    def test_a(self): pass\n"),
			"passed +skipped left(test_x.py: T::test_a)"},
		"unittest, excused": {python("    @unittest.expectedFailure\n    def test_a(self): self.fail()\n"),
			"passed +skipped left(test_x.py: T::test_a)"},
		"unittest, replaced": {python("    def test_a(self): self.assertEqual(1, 2)\n\n" +
			"unittest.TestCase.assertEqual = lambda *all: None\n"), "failed +failed"},
		"unittest, gone": {python("    def test_a(self): pass\n\ndel T.test_a\n"),
			"passed silent(test_x.py: T::test_a)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, got := told(t, c.files)
			if got != c.want {
				t.Errorf("%s\nwant %s\n%s", got, c.want, o.Output)
			}
		})
	}
}

var took = regexp.MustCompile(`\d+\.\d+s|\(cached\)`)

// TestGoTestsAreCountedByName does the same for packages of one module. What a person reads of it is what go test
// prints where nobody asks it for events.
func TestGoTestsAreCountedByName(t *testing.T) {
	const passing = "func TestA(t *testing.T) {}\nfunc TestB(t *testing.T) { t.Run(\"sub\", func(t *testing.T) {}) }\n"
	files := map[string]string{"go.mod": "module x\n\ngo 1.24\n", "none/n.go": "package none\n"}
	for name, body := range map[string]string{
		"honest": passing,
		"red": `func TestA(t *testing.T) {
	t.Log("outer")
	t.Run("sub", func(t *testing.T) { t.Error("bad"); t.Run("deep", func(t *testing.T) { t.Error("worse\nlines") }) })
	t.Run("good", func(t *testing.T) { t.Log("quiet") })
}
func TestP(t *testing.T) { t.Parallel(); t.Fatal("par") }
`,
		"skips":   "func TestA(t *testing.T) { t.Skip() }\n",
		"main":    "func TestMain(m *testing.M) { os.Exit(0) }\n" + passing,
		"start":   "func init() { syscall.Exit(0) }\n" + passing,
		"inside":  "func TestA(t *testing.T) { syscall.Exit(0) }\nfunc TestB(t *testing.T) {}\n",
		"unbuilt": "func TestA(t *testing.T) { undefined() }\n",
	} {
		files[name+"/x_test.go"] = "package x\n\nimport (\n\t\"os\"\n\t\"syscall\"\n\t\"testing\"\n)\n\n" +
			"var _, _ = os.Exit, syscall.Exit\n\n" + body
	}
	v, place, _ := project(t, files)
	r, result := run(t, v, place, []effect.Check{{Name: "t", Command: "go test ./...", Kind: "test"}})
	got := result.Outcomes[0]
	want := effect.TestRun{Runner: "go test", Passed: 4, Failed: 4, Skipped: 1, Left: []string{"x/skips: TestA"},
		Silent: []string{"x/inside: TestA", "x/inside: TestB", "x/main: TestA", "x/main: TestB", "x/start: TestA",
			"x/start: TestB", "x/unbuilt: TestA"}}
	if diff := cmp.Diff(&want, got.Tests); diff != "" || got.Status != effect.CheckFailed {
		t.Errorf("%s %+v\n%s", diff, r.Code, got.Output)
	}
	direct := exec.Command("go", "test", "./...")
	direct.Dir = place.Tree
	printed, _ := direct.CombinedOutput()
	sorted := func(text string) []string {
		lines := strings.Split(strings.TrimSpace(took.ReplaceAllString(text, "<t>")), "\n")
		slices.Sort(lines)
		return slices.Compact(lines)
	}
	if diff := cmp.Diff(sorted(string(printed)), sorted(got.Output)); diff != "" {
		t.Errorf("%s\n%s", diff, got.Output)
	}
}

// TestOtherCommandsSpeak is about commands of which pawl knows no runner: they run as they are, and what they say by the
// Test Anything Protocol counts.
func TestOtherCommandsSpeak(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"silent":        {"true", "unknown"},
		"honest":        {"echo 1..2; echo ok 1 - a; echo ok 2 - b", "passed ++passed"},
		"red":           {"echo 1..2; echo ok 1 - a; echo not ok 2 - b; exit 1", "failed +passed +failed"},
		"red and 0":     {"echo 1..2; echo ok 1 - a; echo not ok 2 - b", "failed +passed +failed"},
		"later":         {"echo 1..1; echo 'not ok 1 - a # TODO'", "passed +skipped left(: a)"},
		"one too few":   {"echo 1..2; echo ok 1 - a", "passed +passed torn"},
		"no such thing": {"echo ok then; echo 1..", "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if o, got := told(t, map[string]string{"test.sh": c.script + "\n"}); got != c.want {
				t.Errorf("%s, want %s\n%s", got, c.want, o.Output)
			}
		})
	}
	if o, _ := told(t, map[string]string{"test.sh": "echo it ran\nexit 3\n"}); o.ExitCode != 3 || !strings.Contains(o.Output, "it ran") {
		t.Errorf("it did not run as it is: %d %q", o.ExitCode, o.Output)
	}
}

// TestCargoTellsItsTests does the same for a crate.
func TestCargoTellsItsTests(t *testing.T) {
	need.Program(t, "cargo")
	const head = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {\n"
	const tail = "    }\n\n    #[test]\n    #[ignore]\n    fn b() {}\n}\n"
	for name, c := range map[string]struct{ body, want string }{
		"honest": {"        assert_eq!(1, 1);\n", "passed +passed +skipped left(x: tests::b)"},
		"red":    {"        assert_eq!(1, 2);\n", "failed +failed +skipped left(x: tests::b)"},
		"exit":   {"        std::process::exit(0);\n", "passed torn silent(x: a, x: b)"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"Cargo.toml": "[package]\nname = \"x\"\nversion = \"1.0.0\"\nedition = \"2021\"\n",
				".gitignore": "target\nCargo.lock\n", "src/lib.rs": head + c.body + tail}
			o, got := told(t, files)
			// Older harnesses tell of what is ignored before anything runs.
			got = strings.ReplaceAll(got, "+skipped torn left(x: tests::b) silent(x: a)", "torn silent(x: a, x: b)")
			if got != c.want {
				t.Errorf("%s, want %s\n%s", got, c.want, o.Output)
			}
		})
	}
}
