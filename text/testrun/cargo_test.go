package testrun_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl/text/testrun"
)

const cargoSample = `   Compiling shop v1.0.0 (/w)
    Finished test [unoptimized + debuginfo] target(s) in 0.31s
     Running unittests src/lib.rs (/cache/debug/deps/shop-0123456789abcdef)

running 4 tests
test tests::sum_adds_up_prices ... ok
test tests::later ... ignored, when there is time
test tests::refuses - should panic ... ok
test tests::discount ... FAILED

failures:

---- tests::discount stdout ----
thread 'tests::discount' panicked at src/lib.rs:20:9:
assertion failed

failures:
    tests::discount

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/price.rs (/cache/debug/deps/price-0123456789abcdef)

running 0 tests

test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests shop

running 1 test
test src/lib.rs - sum (line 3) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.20s

`

func cargoRun(text string, piece int) testrun.Run {
	c := testrun.NewCargoReader()
	for len(text) > 0 {
		n := min(piece, len(text))
		_, _ = c.Write([]byte(text[:n]))
		text = text[n:]
	}
	return c.Run()
}

func TestCargo(t *testing.T) {
	for _, piece := range []int{1, 7, 1 << 20} {
		run := cargoRun(cargoSample, piece)
		for name, want := range map[testrun.Name]testrun.End{
			{File: "shop", Test: "tests::sum_adds_up_prices"}:     testrun.Passed,
			{File: "shop", Test: "tests::later"}:                  testrun.Skipped,
			{File: "shop", Test: "tests::refuses"}:                testrun.Passed,
			{File: "shop", Test: "tests::discount"}:               testrun.Failed,
			{File: "doc shop", Test: "src/lib.rs - sum (line 3)"}: testrun.Passed,
		} {
			if run.Ends[name] != want {
				t.Errorf("%v: %q, want %q", name, run.Ends[name], want)
			}
		}
		if said := run.Said[testrun.Name{File: "shop", Test: "tests::discount"}]; !strings.Contains(said, "assertion failed") {
			t.Errorf("said %q", said)
		}
		if !run.Whole || len(run.Ends) != 5 || !run.Files["price"] {
			t.Errorf("%+v", run)
		}
		silent := run.Silent([]testrun.Name{{File: "shop", Test: "later"}, {File: "shop", Test: "gone"}, {File: "price", Test: "other"},
			{File: "elsewhere", Test: "x"}})
		if len(silent) != 2 || silent[0].Test != "other" || silent[1].Test != "gone" {
			t.Errorf("silent %v", silent)
		}
	}
}

// TestCargoCutOff is about programs that leave before they have said everything.
func TestCargoCutOff(t *testing.T) {
	head := "     Running unittests src/lib.rs (target/debug/deps/shop-0123456789abcdef)\n"
	end := "\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
	for name, text := range map[string]string{
		"nothing":           "",
		"before its tests":  head,
		"after it began":    head + "\nrunning 2 tests\n",
		"within":            head + "\nrunning 2 tests\ntest a ... ok\n",
		"one too few":       head + "\nrunning 2 tests\ntest a ... ok\n" + end,
		"one too many":      head + "\nrunning 1 test\ntest a ... ok\ntest b ... ok\n" + end,
		"before the second": head + "\nrunning 1 test\ntest a ... ok\n" + end + strings.ReplaceAll(head, "shop", "price"),
		"two heads":         head + "\nrunning 1 test\nrunning 1 test\ntest a ... ok\n" + end,
	} {
		if cargoRun(text, 11).Whole {
			t.Errorf("%s: it is whole", name)
		}
	}
	if !cargoRun(head+"\nrunning 1 test\ntest a ... ok\n"+end, 11).Whole {
		t.Error("what is whole is not")
	}
}

// TestCargoReaderDoesNotBreak feeds the reader with anything.
func TestCargoReaderDoesNotBreak(t *testing.T) {
	pieces := append(strings.SplitAfter(cargoSample, "\n"), "running 99999999999999999999 tests\n", "test  ... ok\n", "---- x stdout ----\n", "\x00")
	rapid.Check(t, func(t *rapid.T) {
		run := cargoRun(strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "pieces"), ""), rapid.IntRange(1, 99).Draw(t, "piece"))
		for name, end := range run.Ends {
			if !run.Files[name.File] || end == "" {
				t.Fatalf("%v %q", name, end)
			}
		}
	})
}
