package verify

import (
	"strings"
	"testing"

	"pawl/kernel/effect"
)

func TestFingerprint(t *testing.T) {
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
	if Fingerprint(here, outcome(first)) != Fingerprint(there, outcome(again)) {
		t.Errorf("the same failure differs:\n%q\n%q", essence(here, first), essence(there, again))
	}
	for _, other := range []string{
		strings.Replace(first, "got 1", "got 3", 1), strings.Replace(first, "a_test.go:7", "a_test.go:8",
			1), strings.Replace(first, "TestA", "TestB", 1), "",
	} {
		if Fingerprint(here, outcome(first)) == Fingerprint(here, outcome(other)) {
			t.Errorf("another failure has the same fingerprint: %q", other)
		}
	}
	if got := Fingerprint(here, outcome(first)[:1]); got != "" {
		t.Errorf("a pass has fingerprint %q", got)
	}
	failed := outcome(first)
	failed[1].ExitCode = 2
	if Fingerprint(here, outcome(first)) == Fingerprint(here, failed) {
		t.Error("the exit status does not count")
	}
}

func TestTail(t *testing.T) {
	for in, want := range map[string]string{
		"":                                     "",
		"a\nb\n":                               "a\nb",
		"10%\r50%\r100%\ndone\r\n":             "100%\ndone",
		"\x1b[31mred\x1b[0m \x1b]0;t\x07x\x00": "red x",
		"\xff\xfe bad":                         "\uFFFD\uFFFD bad",
		"bidi \u202e here":                     "bidi \uFFFD here",
		"世界\t!":                                "世界\t!",
	} {
		if got := tail([]byte(in), 100); got != want {
			t.Errorf("tail(%q) = %q, want %q", in, got, want)
		}
	}
	long := strings.Repeat("0123456789世\n", 10000)
	got := tail([]byte(long), 1000)
	if len(got) > 1000 || !strings.HasPrefix(got, "0123456789世\n") || !strings.HasSuffix(got, "世") {
		t.Errorf("%d bytes: %q…", len(got), got[:20])
	}
}

func FuzzFingerprint(f *testing.F) {
	f.Add("a\nb 1.2s 0xff", 10)
	f.Fuzz(func(t *testing.T, output string, limit int) {
		place := effect.Place{Tree: "/t", Workspace: "/w"}
		o := []effect.CheckOutcome{{Status: effect.CheckFailed, Output: tail([]byte(output), 1+limit&0xfff)}}
		if once, again := Fingerprint(place, o), Fingerprint(place, o); once != again || once == "" {
			t.Error("not a function of the output")
		}
	})
}
