package prove

import (
	"testing"

	"pawl/driver/prove/cut"
	"pawl/kernel/effect"
	"pawl/text/testrun"
)

// TestReasons is about what runners say when something fails, and what that says of it.
func TestReasons(t *testing.T) {
	r := newReasons([]effect.FileStat{{Path: "calc.py", Status: "M"}, {Path: "lib/extra.js", Status: "A"},
		{Path: "test_calc.py", Status: "A"}, {Path: "go.mod", Status: "M"}},
		map[string]string{"calc.py": "def add(a):\n    return a\n"},
		map[string]string{"calc.py": "def add(a):\n    return a\ndef mul(a, scale=1):\n    return a\n",
			"lib/extra.js": "exports.twice = 1;\n", "test_calc.py": "from other import thing\n", "go.mod": "require example.com/dep v1\n"})
	failed := func(said string) sight { return sight{end: testrun.Failed, said: said} }
	silent := func(output string) sight { return sight{output: output} }
	for name, c := range map[string]struct {
		seen sight
		want effect.Without
	}{
		"passed":                 {sight{end: testrun.Passed}, effect.WithoutGreen},
		"skipped":                {sight{end: testrun.Skipped}, effect.WithoutGreen},
		"an assertion":           {failed("AssertionError: 1 != 2"), effect.WithoutAssertion},
		"a new attribute":        {failed("AttributeError: module 'calc' has no attribute 'mul'"), effect.WithoutBuild},
		"an attribute of None":   {failed("AttributeError: 'NoneType' object has no attribute 'name'"), effect.WithoutAssertion},
		"a new parameter":        {failed("TypeError: add() got an unexpected keyword argument 'scale'"), effect.WithoutBuild},
		"more parameters":        {failed("TypeError: mul() takes 1 positional argument but 2 were given"), effect.WithoutBuild},
		"a new name":             {failed("NameError: name 'mul' is not defined"), effect.WithoutBuild},
		"another name":           {failed("NameError: name 'zork' is not defined"), effect.WithoutAssertion},
		"no function":            {failed("TypeError: x.twice is not a function"), effect.WithoutBuild},
		"another import":         {failed("ImportError: cannot import name 'thing' from 'other'"), effect.WithoutMachine},
		"a new import":           {failed("ImportError: cannot import name 'mul' from 'calc' (/w/calc.py)"), effect.WithoutBuild},
		"the disk":               {failed("OSError: [Errno 28] No space left on device"), effect.WithoutMachine},
		"a new module":           {silent("Error: Cannot find module './lib/extra.js'\n"), effect.WithoutBuild},
		"a new module, by path":  {silent("Cannot find module '/w/lib/extra.js' imported from /w/a.mjs"), effect.WithoutBuild},
		"a module of others":     {silent("Error: Cannot find module 'left-pad'\n"), effect.WithoutMachine},
		"no export":              {silent("SyntaxError: The requested module './a.js' does not provide an export named 'twice'"), effect.WithoutBuild},
		"Go does not compile":    {silent("# m\n./a_test.go:3:1: undefined: X\nFAIL\tm [build failed]\n"), effect.WithoutBuild},
		"a new package":          {silent("a_test.go:3:8: no required module provides package example.com/dep; to add it:\nFAIL\tm [setup failed]\n"), effect.WithoutBuild},
		"a package of others":    {silent("a_test.go:3:8: no required module provides package example.com/no; to add it:\nFAIL\tm [setup failed]\n"), effect.WithoutMachine},
		"silence":                {silent("ok"), effect.WithoutMachine},
		"late":                   {sight{late: true, output: "NameError: name 'mul' is not defined"}, effect.WithoutMachine},
		"failed before the time": {sight{end: testrun.Failed, late: true, said: "1 != 2"}, effect.WithoutAssertion},
	} {
		s := &subject{}
		s.test.Test = "x"
		if got := r.reason(s, c.seen); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	whole := &subject{}
	for name, c := range map[string]struct {
		seen sight
		want effect.Without
	}{
		"a command":      {failed("no such line"), effect.WithoutUnmet},
		"no program":     {sight{end: testrun.Failed, machine: true}, effect.WithoutMachine},
		"late":           {sight{end: testrun.Failed, late: true}, effect.WithoutMachine},
		"does not build": {sight{end: testrun.Failed, output: "FAIL\tm [build failed]\n"}, effect.WithoutBuild},
		"a test": {sight{end: testrun.Failed, red: []testrun.Name{{Test: "a"}, {Test: "b"}}, failing: map[testrun.Name]string{
			{Test: "a"}: "NameError: name 'mul' is not defined", {Test: "b"}: "1 != 2"}}, effect.WithoutAssertion},
	} {
		if got := r.reason(whole, c.seen); got != c.want {
			t.Errorf("the whole, %s: %s, want %s", name, got, c.want)
		}
	}
}

func TestMentions(t *testing.T) {
	for _, c := range []struct {
		source, text string
		want         bool
	}{
		{"func TestDryRun(t *testing.T) {", "--dry-run", true},
		{"def test_dry_run(self)", "dry run", true},
		{"func TestDryRunner(", "--dry-run", false},
		{"retryLimit", "limit", true},
		{"limits", "limit", false},
		{"x == \"=>\"", "=>", true},
		{"立即退出码", "退出", true},
		{"", "", true},
	} {
		if got := mentions(cut.Words(c.source), c.source, c.text); got != c.want {
			t.Errorf("%q of %q: %v", c.source, c.text, got)
		}
	}
}

// TestOfPackage keeps apart what go test prints of several packages.
func TestOfPackage(t *testing.T) {
	output := "# m/a [m/a.test]\na/x_test.go:1: undefined: X\n# m/ab [m/ab.test]\nab/y.go:2: bad\nFAIL\tm/a [build failed]\n" +
		"--- FAIL: TestB (0.00s)\n    b: 1\nFAIL\tm/ab [build failed]\nok  \tm/c\t0.1s\n"
	if got := ofPackage(output, "m/a"); got != "# m/a [m/a.test]\na/x_test.go:1: undefined: X\nFAIL\tm/a [build failed]\n" {
		t.Errorf("%q", got)
	}
	if got := ofPackage(output, "m/c"); got != "ok  \tm/c\t0.1s\n" {
		t.Errorf("%q", got)
	}
}

// TestApartIn: a name is gone where it is only a part of longer ones.
func TestApartIn(t *testing.T) {
	for text, c := range map[string]struct {
		in   string
		want bool
	}{
		"Sub":       {"Subject mySub Sub_", false},
		"Foo":       {"FooBar(Foo)", true},
		"discount(": {"reduce(1) // discount is old", false},
		"sum(":      {"checksum(1)", false},
		"--out":     {"x --output", false},
		"旧名":        {"这是旧名称", true},
		"a.b":       {"xa.b a.bc (a.b)", true},
		"":          {"x", false},
	} {
		if got := apartIn(c.in, text); got != c.want {
			t.Errorf("%q in %q: %v", text, c.in, got)
		}
	}
}
