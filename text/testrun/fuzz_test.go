package testrun_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pawl/text/testrun"
)

// FuzzGoReader: what go test is said to have printed is read the same however it arrives, and whatever it is, what is
// read is in order.
func FuzzGoReader(f *testing.F) {
	f.Add(sample, false, 7)
	f.Add(sample, true, 1)
	for line := range strings.Lines(sample) {
		f.Add(line, false, 3)
	}
	for _, s := range []string{"{\n", "go: warning\n{\"Action\":\"start\",\"Package\":\"p\"}", "\x16--- PASS: x\n",
		`{"Action":"pass","Package":"p","Test":"TestA/sub"}` + "\n", `{"action":"PASS","package":"p"}` + "\n",
		`{"Action":"output","Package":"p","Test":"T","Output":"--- FAIL: T (0s)\n"}` + "\n"} {
		f.Add(s+sample, false, 11)
	}
	f.Fuzz(func(t *testing.T, text string, verbose bool, piece int) {
		whole, plain := goRun(text, verbose, len(text)+1)
		sound(t, whole)
		run, printed := goRun(text, verbose, 1+int(uint(piece)%97))
		if diff := cmp.Diff(whole, run); diff != "" || printed != plain {
			t.Fatalf("in pieces it reads differently: %s\n%q\n%q", diff, plain, printed)
		}
	})
}

// FuzzRead: a report of one of pawl's reporters is read in order whatever stands in it, and no report is whole with a
// line in it that is none of theirs.
func FuzzRead(f *testing.F) {
	const begin, end, done = `{"event":"begin","file":"/w/t/a.py","test":"C::test_a"}`,
		`{"event":"end","file":"/w/t/a.py","test":"C::test_a","end":"passed"}`, `{"event":"done"}`
	for _, s := range []string{"", begin, done, end + "\n" + done, begin + "\n" + end + "\n" + done + "\n",
		`{"event":"file","file":"file:///w/x.mjs"}` + "\n" + done, `{"event":"end","file":"../../etc","test":"","end":"skipped","why":"\u001b[2J"}`,
		`{"event":"en` + "\n" + done, `{"EVENT":"done"}`, `{"event":1}`, "[]\n" + done, done + "\n" + begin} {
		f.Add(s, "/w")
	}
	f.Fuzz(func(t *testing.T, text, root string) {
		for _, runner := range []testrun.Runner{testrun.Node, testrun.Pytest, testrun.Unittest} {
			run := testrun.Read(runner, strings.NewReader(text), root)
			sound(t, run)
			if torn := testrun.Read(runner, strings.NewReader(text+"\n{\"event\"\n"), root); torn.Whole {
				t.Fatal("whole, with a torn line")
			}
			if cut := testrun.Read(runner, strings.NewReader(""), root); cut.Whole {
				t.Fatal("nothing is whole")
			}
		}
	})
}

// sound checks that what is said of a run agrees with itself.
func sound(t *testing.T, run testrun.Run) {
	t.Helper()
	var all []testrun.Name
	count := 0
	for _, e := range []testrun.End{testrun.Unended, testrun.Passed, testrun.Failed, testrun.Skipped, testrun.Excused} {
		count += run.Count(e)
		all = append(all, run.With(e)...)
	}
	if count != len(run.Ends) || len(all) != count {
		t.Fatalf("%d tests, of which %d ended in a way that there is", len(run.Ends), count)
	}
	for name := range run.Ends {
		if !run.Files[name.File] {
			t.Fatalf("%v is of no file that ran", name)
		}
	}
	heard := run.Plain()
	for _, silent := range run.Silent(slices.Collect(maps.Keys(heard.Ends))) {
		if e := heard.Ends[silent]; e != testrun.Unended {
			t.Fatalf("%v is silent and %s", silent, e)
		}
	}
}
