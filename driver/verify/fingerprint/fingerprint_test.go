package fingerprint

import (
	"strings"
	"testing"

	"pawl/kernel/effect"
)

func TestOf(t *testing.T) {
	here := effect.Place{Tree: "/w/.pawl/trees/1", Workspace: "/w"}
	there := effect.Place{Tree: "/other/.pawl/trees/7", Workspace: "/other"}
	outcome := func(output string) []effect.CheckOutcome {
		return []effect.CheckOutcome{
			{Check: effect.Check{Command: "go vet"}, Status: effect.CheckPassed, Output: "whatever"},
			{Check: effect.Check{Command: "go test"}, Status: effect.CheckFailed, ExitCode: 1, Output: output},
		}
	}
	first := "--- FAIL: TestA (0.03s)\n    a_test.go:7: got 1 at 0xc000123400, want 2\n" +
		"2026-02-09 21:08:01 goroutine 17 [running] /tmp/TestA123/001/x\nok   x 1.2s\nFAIL y 0.124s\n/w/.pawl/trees/1/a.go:3\n"
	again := "2027-12-31T01:02:03.5Z goroutine 4 [running] /tmp/TestA999/002/y\n/other/.pawl/trees/7/a.go:3\r\n\x1b[31m--- FAIL: TestA (11.00s)\x1b[0m\n" +
		"    a_test.go:7: got 1 at 0xc000ffff00, want 2\nFAIL y 2m1.5s\nok   x (cached)\n\n"
	if Of(here, outcome(first)) != Of(there, outcome(again)) {
		t.Errorf("the same failure differs:\n%q\n%q", essence(here, first), essence(there, again))
	}
	for _, other := range []string{
		strings.Replace(first, "got 1", "got 3", 1), strings.Replace(first, "a_test.go:7", "a_test.go:8",
			1), strings.Replace(first, "TestA", "TestB", 1), "",
	} {
		if Of(here, outcome(first)) == Of(here, outcome(other)) {
			t.Errorf("another failure has the same fingerprint: %q", other)
		}
	}
	if got := Of(here, outcome(first)[:1]); got != "" {
		t.Errorf("a pass has fingerprint %q", got)
	}
	failed := outcome(first)
	failed[1].ExitCode = 2
	if Of(here, outcome(first)) == Of(here, failed) {
		t.Error("the exit status does not count")
	}
}

func FuzzOf(f *testing.F) {
	f.Add("a\nb 1.2s 0xff")
	f.Fuzz(func(t *testing.T, output string) {
		place := effect.Place{Tree: "/t", Workspace: "/w"}
		o := []effect.CheckOutcome{{Status: effect.CheckFailed, Output: output}}
		if once, again := Of(place, o), Of(place, o); once != again || once == "" {
			t.Error("not a function of the output")
		}
	})
}
