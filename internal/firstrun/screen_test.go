package firstrun

import (
	"slices"
	"strings"
	"testing"
)

var someVerbs = []string{"agent", "answer", "approve", "auto", "config", "deny", "doctor", "fix", "init", "plan",
	"prepare", "resume", "revise", "rollback", "run", "skip", "status"}

func TestAsked(t *testing.T) {
	for screen, want := range map[string][]string{
		"pawl: it is not there\n  next: Make one with: pawl init\n  not_found\n":                                                 {"pawl init"},
		"pawl: no\n  next: Name the commands in a plan: pawl run --plan FILE\n  cannot_plan\n":                                   {"pawl run --plan FILE"},
		"  next: Go on with pawl resume; if it happens again, look at it with: pawl agent check codex":                           {"pawl resume", "pawl agent check codex"},
		"  next: It waits (pawl approve 01ab23 --yes), or say no\n    with: pawl deny\n":                                         {"pawl approve 01ab23 --yes", "pawl deny"},
		"next: Install what the output names; then continue with: pawl fix\n\nWays on\n  pawl fix       go on\n  pawl skip  x\n": {"pawl fix", "pawl skip"},
		"  next: Ask an agent: pawl run \"make the checks pass\" --agent NAME, or mend it":                                       {"pawl run \"make the checks pass\" --agent NAME"},
		"  next: pawl prepare fetches them, pawl run then goes on":                                                               {"pawl prepare", "pawl run"},
		"  next: Fetch them: go mod download, then: pawl fix.":                                                                   {"go mod download", "pawl fix"},
		"  next: Set it: pawl config set isolation outer (once)":                                                                 {"pawl config set isolation outer"},
		"    pawl found no way to check this project\n  a pawl is a catch\n":                                                     nil,
		"It waits for an answer:\n  pawl approve 6c25fb091986 --yes\n  pawl revise -m \"WHAT SHOULD BE DIFFERENT\"\n":            {"pawl approve 6c25fb091986 --yes", "pawl revise -m \"WHAT SHOULD BE DIFFERENT\""},
		"": nil,
	} {
		if got := Named(screen, someVerbs); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", screen, got, want)
		}
	}
}

func TestSaid(t *testing.T) {
	for screen, want := range map[string]string{
		"→ x\n\n✗ BLOCKED (failed)\n  3 repairs in a row\n  failed\n\nmore\n": "BLOCKED (failed) 3 repairs in a row failed",
		"• IDLE\npawl: nothing to check\n  next: x\n":                         "nothing to check",
		"one\ntwo\n\n": "two",
		"":             "",
	} {
		if got := said(screen); got != want {
			t.Errorf("%q: %q, want %q", screen, got, want)
		}
	}
	if !same("go vet failed after 1.2s in /tmp/a/01M82C8PFWRRF5F3FG431M9Z4W on 1cfa9227aa05",
		"go vet failed after 300ms in /tmp/b/x on c4926771683b") {
		t.Error("times, paths and hashes make a difference")
	}
	if same("go vet is missing", "go test is missing") {
		t.Error("words make no difference")
	}
}

// TestFoldersHoldTheirFault guards the samples: each file with a fault differs from what mends it, and what a test says
// of the fault stands in some file.
func TestFoldersHoldTheirFault(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Folders() {
		if seen[f.Name] || f.right == "" || f.test == "" || f.asks == "" {
			t.Errorf("%+v", f)
		}
		seen[f.Name] = true
		if f.Name == "empty" {
			continue
		}
		says := false
		for _, text := range f.files {
			says = says || strings.Contains(text, "sum of 2 and 3 is ")
		}
		if f.wrong == f.right || f.files[f.file] != f.wrong || !says {
			t.Errorf("%s: %q is mended by %q", f.Name, f.wrong, f.right)
		}
	}
	if len(seen) < 15 {
		t.Errorf("%d folders", len(seen))
	}
}

func TestTable(t *testing.T) {
	rows := []Row{
		{Says: "Go", Way: Agent, Verdict: Done, State: "IDLE", Told: true, Checks: []string{"go test"},
			Note: "with a stand-in"},
		{Says: "C", Way: Default, Verdict: ByHand, Status: 8,
			Tries: []Try{{Command: "pawl fix", Played: "mends it", ByHand: true}}},
		{Says: "sh", Way: Default, Floor: "docker", Verdict: DeadEnd, Why: "nothing", Status: 10, Message: "no walls",
			Screens: []string{"$ pawl run x\nno"}},
		{Says: "rust", Verdict: NotTried, Why: "cargo is not installed"},
	}
	got := Table(rows)
	for _, want := range []string{
		"| Go (with a stand-in) | agent | done | 0 | IDLE | 0.0 | yes | go test |",
		"`pawl fix` (0, the person mends it)",
		"**sh, default** (floor docker): DEAD END: nothing\n- `pawl run x` exit 10: no walls\n",
		"| not tried here |  |  |  |  |  | cargo is not installed |",
		"4 ways: 1 done, 1 done by hand, 1 DEAD END, 1 not tried here",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}
