package effect_test

import (
	"strings"
	"testing"

	"pawl/kernel/effect"
	"pawl/text/plan"
)

func names(checks []effect.Check) string {
	out := make([]string, 0, len(checks))
	for _, c := range checks {
		out = append(out, c.Name)
	}
	return strings.Join(out, " ")
}

var detected = []effect.Check{
	{Name: "vet", Command: "go vet ./...", Level: 0},
	{Name: "lint", Command: "golangci-lint run", Level: 0, Missing: "golangci-lint"},
	{Name: "build", Command: "go build ./...", Level: 1},
	{Name: "unit", Command: "vendor/bin/phpunit", Level: 2, Dir: "php", Missing: "vendor/bin/phpunit"},
}

func TestLeaveOut(t *testing.T) {
	gone := func(effect.Check) bool { return true }
	for name, c := range map[string]struct {
		checks    []effect.Check
		missing   func(effect.Check) bool
		run, left string
	}{
		"a linter goes, a runner of tests stays": {detected, gone, "vet build unit", "lint"},
		"installed meanwhile": {detected, func(effect.Check) bool { return false },
			"vet lint build unit", ""},
		"nothing else judges": {detected[1:2], gone, "lint", ""},
		"nothing else runs a command": {append([]effect.Check{{Name: "doctor"}}, detected[1]), gone,
			"doctor lint", ""},
		"nothing is there": {nil, gone, "", ""},
	} {
		run, left := effect.LeaveOut(c.checks, c.missing)
		if names(run) != c.run || names(left) != c.left {
			t.Errorf("%s: %q runs and %q is left out", name, names(run), names(left))
		}
	}
}

// What a plan runs itself is never left out, and what is known to be missing is known of its commands, too.
func TestSelectChecksKnowsWhatIsMissing(t *testing.T) {
	policy := plan.VerificationPolicy{Mode: plan.VerifyCustom, Commands: []string{
		"golangci-lint run --fast", "make && cd x && golangci-lint run", "echo golangci-lint", "php/vendor/bin/phpunit",
		"go vet ./...", "((",
	}}
	var got []string
	for _, c := range effect.SelectChecks(policy, detected) {
		got = append(got, c.Missing)
		if c.Level == 0 {
			t.Errorf("%q could be left out", c.Command)
		}
	}
	if s := strings.Join(got, "|"); s != "golangci-lint|golangci-lint||php/vendor/bin/phpunit||" {
		t.Error(s)
	}
}
