package verify

import (
	"slices"
	"strconv"
	"strings"

	"pawl/effect"
	"pawl/plan"
)

// Select picks the checks that a verification policy asks for, in the order in which they run.
//
//   - none: nothing.
//   - lint: the static checks; build: those and the builds; test: everything that was detected. Commands that the policy
//     lists besides are added at the end, so that naming a command never makes a verification weaker.
//   - custom: the policy's commands and nothing else.
//
// A static check whose program is not installed is left out when another check remains, because the linter that a
// machine lacks must not keep all work on it from being verified; builds and tests are never left out. An unknown mode
// selects everything. A blank command stays in the list: it is an error when it runs, not a check that passes.
func Select(policy plan.VerificationPolicy, detected []effect.Check) []effect.Check {
	level := 2
	switch policy.Mode {
	case plan.VerifyNone:
		return nil
	case plan.VerifyCustom:
		return commands(policy.Commands, nil)
	case plan.VerifyLint:
		level = 0
	case plan.VerifyBuild:
		level = 1
	}
	var out, without []effect.Check
	for _, c := range detected {
		if c.Level > level {
			continue
		}
		out = append(out, c)
		if c.Level > 0 || c.Missing == "" {
			without = append(without, c)
		}
	}
	if len(without) > 0 {
		out = without
	}
	return commands(policy.Commands, out)
}

// commands appends listed commands that are not among the checks yet.
func commands(listed []string, to []effect.Check) []effect.Check {
	for _, c := range listed {
		command := strings.TrimSpace(c)
		if slices.ContainsFunc(to, func(k effect.Check) bool { return k.Dir == "" && k.Command == command && command != "" }) {
			continue
		}
		name := commandName(command)
		if name == "" {
			name = "custom " + strconv.Itoa(len(to)+1)
		}
		to = append(to, effect.Check{Name: name, Command: command, Kind: kindCustom, Level: 2})
	}
	return to
}

// commandName is the first line of a command, cut to a length that fits a table.
func commandName(command string) string {
	line, _, _ := strings.Cut(command, "\n")
	if r := []rune(line); len(r) > 60 {
		line = string(r[:59]) + "…"
	}
	return strings.TrimSpace(line)
}

// allChecks is the policy of the gate "tests".
var allChecks = plan.VerificationPolicy{Mode: plan.VerifyTest, Required: true, StopOnFail: true}
