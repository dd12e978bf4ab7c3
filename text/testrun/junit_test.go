package testrun_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl/text/testrun"
)

const junitSample = `<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="shop.PriceTest" tests="4" errors="1" skipped="1" failures="1">
  <properties><property name="a" value="b"/></properties>
  <testcase name="sum()" classname="shop.PriceTest" time="0.01"/>
  <testcase name="later" classname="shop.PriceTest$Inner"><skipped message="x"/></testcase>
  <testcase name="discount" classname="shop.PriceTest"><failure message="expected 1" type="E">at Price</failure></testcase>
  <testcase name="breaks" classname="shop.PriceTest"><error type="E">boom</error></testcase>
</testsuite>`

func junitRun(reports ...string) testrun.Run {
	j := testrun.NewJUnit()
	for _, r := range reports {
		j.Add(strings.NewReader(r))
	}
	return j.Run()
}

func TestJUnit(t *testing.T) {
	run := junitRun(junitSample, `<testsuites><testsuite name="x" tests="1"><testcase classname="shop.CartTest" name="counts"/></testsuite></testsuites>`)
	for name, want := range map[string]testrun.End{"sum": testrun.Passed, "later": testrun.Skipped, "discount": testrun.Failed,
		"breaks": testrun.Failed} {
		if got := run.Ends[testrun.Name{File: "shop.PriceTest", Test: name}]; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if said := run.Said[testrun.Name{File: "shop.PriceTest", Test: "discount"}]; said != "expected 1\nat Price" {
		t.Errorf("said %q", said)
	}
	if !run.Whole || len(run.Ends) != 5 {
		t.Errorf("%+v", run)
	}
	for name, reports := range map[string][]string{
		"none": nil, "torn": {junitSample[:300]}, "no report": {"<html/>"}, "no xml": {"x"}, "empty": {""},
		"fewer than it says": {`<testsuite tests="2"><testcase classname="a" name="b"/></testsuite>`},
		"one of two torn":    {junitSample, junitSample[:200]},
	} {
		if junitRun(reports...).Whole {
			t.Errorf("%s: it is whole", name)
		}
	}
}

func tapRun(text string, piece int) (testrun.Run, bool) {
	r := testrun.NewTAPReader()
	for len(text) > 0 {
		n := min(piece, len(text))
		_, _ = r.Write([]byte(text[:n]))
		text = text[n:]
	}
	run := r.Run()
	return run, r.Spoke()
}

func TestTAP(t *testing.T) {
	run, spoke := tapRun("TAP version 13\n1..6\nok 1 - adds up\nnot ok 2 - takes off\n  ---\n  x: y\n  ...\nok 3 # SKIP no disk\n"+
		"not ok 4 - later # TODO\n    not ok 1 - within\nok\nok 6 of all", 5)
	want := map[string]testrun.End{"adds up": testrun.Passed, "takes off": testrun.Failed, "3": testrun.Skipped, "later": testrun.Excused,
		"5": testrun.Passed, "of all": testrun.Passed}
	for name, end := range want {
		if got := run.Ends[testrun.Name{Test: name}]; got != end {
			t.Errorf("%s: %q, want %q", name, got, end)
		}
	}
	if !spoke || !run.Whole || len(run.Ends) != len(want) {
		t.Errorf("%v %+v", spoke, run)
	}
	for text, whole := range map[string]bool{
		"1..2\nok 1\n": false, "1..1\nok 1\n": true, "ok 1\n1..1\n": true, "1..0 # skip all\n": true, "1..1\nok 1\nok 2\n": false,
		"1..1\nok 1\nBail out!\n": false, "1..1\n1..1\nok 1\n": false,
	} {
		if run, _ := tapRun(text, 3); run.Whole != whole {
			t.Errorf("%q: whole %v", text, run.Whole)
		}
	}
	if _, spoke := tapRun("ok  \tpawl/text\t0.1s\nok then\n", 4); spoke {
		t.Error("what has no plan is taken for a report")
	}
}

// TestMoreReadersDoNotBreak feeds the readers with anything.
func TestMoreReadersDoNotBreak(t *testing.T) {
	pieces := append(strings.SplitAfter(junitSample, ">"), "1..99999999999999999999\n", "not ok", "\n", "ok 1 # TODO", "\x00")
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "pieces"), "")
		run, _ := tapRun(text, rapid.IntRange(1, 99).Draw(t, "piece"))
		for _, r := range []testrun.Run{run, junitRun(text)} {
			for name, end := range r.Ends {
				if !r.Files[name.File] || end == "" {
					t.Fatalf("%v %q", name, end)
				}
			}
		}
	})
}
