package testrun_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pawl/text/testrun"
)

// goRun reads events in pieces of a size, and returns the run and what is printed.
func goRun(events string, verbose bool, piece int) (testrun.Run, string) {
	var plain strings.Builder
	g := testrun.NewGoReader(verbose, func(b []byte) { plain.Write(b) })
	for len(events) > 0 {
		n := min(piece, len(events))
		_, _ = g.Write([]byte(events[:n]))
		events = events[n:]
	}
	return g.Run(), plain.String()
}

// events writes lines of "ACTION PACKAGE [TEST] [|OUTPUT]" as go test does.
func events(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		head, output, _ := strings.Cut(l, "|")
		f := append(strings.Fields(head), "", "")
		e := map[string]string{"Action": f[0], "Package": f[1]}
		if f[2] != "" {
			e["Test"] = f[2]
		}
		if output != "" {
			e["Output"] = output + "\n"
		}
		text, _ := json.Marshal(e)
		b.Write(append(text, '\n'))
	}
	return b.String()
}

var sample = events(
	"start p", "run p TestA", "output p TestA|=== RUN   TestA", "output p TestA|    a_test.go:3: outer",
	"run p TestA/sub", "output p TestA/sub|=== RUN   TestA/sub", "output p TestA/sub|    a_test.go:4: bad",
	"output p TestA/sub|--- FAIL: TestA/sub (0.00s)", "fail p TestA/sub", "run p TestA/good",
	"output p TestA/good|    a_test.go:5: quiet", "output p TestA/good|--- PASS: TestA/good (0.00s)",
	"pass p TestA/good", "output p TestA|--- FAIL: TestA (0.00s)", "fail p TestA",
	"run p TestB", "output p TestB|--- SKIP: TestB (0.00s)", "skip p TestB", "output p|FAIL",
	"output p|FAIL\tp\t0.003s",
	"fail p", "start q", "run q TestC", "output q TestC|--- PASS: TestC (0.00s)", "pass q TestC", "output q|PASS",
	"output q|ok  \tq\t0.001s", "pass q",
)

func TestGoReader(t *testing.T) {
	want := "--- FAIL: TestA (0.00s)\n    a_test.go:3: outer\n    --- FAIL: TestA/sub (0.00s)\n        a_test.go:4: bad\n" +
		"FAIL\nFAIL\tp\t0.003s\nok  \tq\t0.001s\n"
	for _, piece := range []int{1, 7, 1 << 20} {
		run, plain := goRun(sample, false, piece)
		if diff := cmp.Diff(want, plain); diff != "" {
			t.Fatalf("pieces of %d:\n%s", piece, diff)
		}
		ends := map[string]testrun.End{}
		for n, e := range run.Ends {
			ends[n.String()] = e
		}
		if diff := cmp.Diff(map[string]testrun.End{"p: TestA": testrun.Failed, "p: TestA/sub": testrun.Failed,
			"p: TestA/good": testrun.Passed, "p: TestB": testrun.Skipped, "q: TestC": testrun.Passed},
			ends); diff != "" {
			t.Error(diff)
		}
		if !run.Whole {
			t.Error("the report is whole")
		}
	}
	if _, plain := goRun(sample, true, 100); !strings.Contains(plain, "a_test.go:5: quiet") ||
		!strings.Contains(plain, "=== RUN   TestA\n") {
		t.Errorf("with -v everything is printed: %q", plain)
	}
}

// TestGoReader_CutOff is about reports that do not come to their end, and lines that are none of go test's.
func TestGoReader_CutOff(t *testing.T) {
	declared := []testrun.Name{{File: "p", Test: "TestA"}, {File: "p", Test: "TestB"}, {File: "other", Test: "TestX"}}
	for name, c := range map[string]struct {
		events string
		whole  bool
		silent string
		plain  string
	}{
		"the package never ends": {events("start p", "run p TestA", "output p TestA|--- PASS: TestA",
			"pass p TestA"), false, "[p: TestB]", ""},
		"the process ends in a test": {events("start p", "run p TestA", "output p TestA|=== RUN   TestA",
			"output p TestA|ok  \tp\t0.1s", "pass p TestA"), false, "[p: TestA p: TestB]", "ok  \tp\t0.1s\n"},
		"TestMain ends it": {events("start p", "output p|ok  \tp\t0.1s", "pass p"), true,
			"[p: TestA p: TestB]", "ok  \tp\t0.1s\n"},
		"nothing at all": {"", false, "[]", ""},
		"text beside it": {"go: warning\n" + events("start p", "skip p") + "{\"a\":1}\nno line end", true,
			"[p: TestA p: TestB]",
			"go: warning\n{\"a\":1}\nno line end"},
		"another package": {events("start q", "pass q"), true, "[]", ""},
	} {
		run, plain := goRun(c.events, false, 5)
		if got := fmt.Sprint(run.Silent(declared)); got != c.silent || run.Whole != c.whole || plain != c.plain {
			t.Errorf("%s: silent %s, whole %v, printed %q", name, got, run.Whole, plain)
		}
	}
	long := strings.Repeat("x", 3<<20)
	if run, plain := goRun(long+"\n"+sample, false, 1<<16); !strings.HasPrefix(plain, long+"\n") || !run.Whole {
		t.Error("a line of 3 MiB is given on, and what follows it is read")
	}
}

func TestRead(t *testing.T) {
	report := func(lines ...string) string { return strings.Join(lines, "\n") + "\n" }
	const begin, done = `{"event":"begin","file":"/w/t/a.py","test":"C::test_a"}`, `{"event":"done"}`
	for name, c := range map[string]struct {
		report string
		want   string
		whole  bool
	}{
		"passed": {report(begin, `{"event":"end","file":"/w/t/a.py","test":"C::test_a","end":"passed"}`, done),
			"map[t/a.py: C::test_a:passed]", true},
		"begun alone": {report(begin, done), "map[t/a.py: C::test_a:unended]", true},
		"cut off":     {report(begin), "map[t/a.py: C::test_a:unended]", false},
		"torn line":   {report(begin, `{"event":"en`, done), "map[t/a.py: C::test_a:unended]", false},
		"no such end": {report(`{"event":"end","file":"/w/b","test":"x","end":"fine"}`, done), "map[]", false},
		"worse stays": {report(`{"event":"end","file":"b","test":"x","end":"failed"}`,
			`{"event":"end","file":"b","test":"x","end":"passed"}`, done), "map[b: x:failed]", true},
		"a URL": {report(`{"event":"end","file":"file:///w/b","test":"x","end":"skipped"}`, done),
			"map[b: x:skipped]", true},
		"another root": {report(`{"event":"end","file":"/wide/b","test":"x","end":"passed"}`, done),
			"map[/wide/b: x:passed]", true},
		"nothing": {"", "map[]", false},
	} {
		run := testrun.Read(testrun.Unittest, strings.NewReader(c.report), "/w")
		if got := fmt.Sprint(run.Ends); got != c.want || run.Whole != c.whole {
			t.Errorf("%s: %s, whole %v", name, got, run.Whole)
		}
	}
}

// TestSilent says that a test counts as heard by its plain name: cases and suites are what only a run knows.
func TestSilent(t *testing.T) {
	for _, c := range []struct {
		runner         testrun.Runner
		ran, declared  string
		end            testrun.End
		silentExpected bool
	}{
		{testrun.Go, "TestA/x", "TestA", testrun.Passed, false},
		{testrun.Go, "TestA", "TestA", testrun.Unended, true},
		{testrun.Go, "TestAB", "TestA", testrun.Passed, true},
		{testrun.Node, "suite > inner", "inner", testrun.Passed, false},
		{testrun.Node, "inner", "outer", testrun.Passed, true},
		{testrun.Pytest, "C::test_a[1-2]", "C::test_a", testrun.Skipped, false},
		{testrun.Unittest, "D::test_a", "C::test_a", testrun.Passed, true},
	} {
		run := testrun.Run{Runner: c.runner, Ends: map[testrun.Name]testrun.End{{File: "f", Test: c.ran}: c.end},
			Files: map[string]bool{"f": true}}
		if got := len(run.Silent([]testrun.Name{{File: "f", Test: c.declared}})) > 0; got != c.silentExpected {
			t.Errorf("%+v: silent %v", c, got)
		}
	}
}

// TestReadersDoNotBreak feeds both readers with anything.
func TestReadersDoNotBreak(t *testing.T) {
	pieces := append(strings.SplitAfter(sample, "\n"), `{"event":"done"}`, "\n", "{", `{"Action":"output"}`,
		"\x16--- PASS: x",
		`{"Action":"pass","Package":"p","Test":"TestA/sub"}`+"\n")
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "pieces"), "")
		run, _ := goRun(text, rapid.Bool().Draw(t, "verbose"), rapid.IntRange(1, 99).Draw(t, "piece"))
		for name, end := range run.Ends {
			if !run.Files[name.File] || end == "" {
				t.Fatalf("%v %q", name, end)
			}
		}
		testrun.Read(testrun.Node, strings.NewReader(text), "/")
	})
}
