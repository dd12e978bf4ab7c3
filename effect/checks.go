package effect

import (
	"fmt"

	"pawl/plan"
)

// SelectChecks picks the checks that a verification policy asks for from those that pawl detected: none, the static ones,
// those up to the build, all of them, or the commands that the policy lists (seed 001 §3.3).
func SelectChecks(p plan.VerificationPolicy, detected []Check) []Check {
	highest := -1
	switch p.Mode {
	case plan.VerifyLint:
		highest = 0
	case plan.VerifyBuild:
		highest = 1
	case plan.VerifyTest:
		highest = 2
	}
	var out []Check
	for _, c := range detected {
		if c.Level <= highest {
			out = append(out, c)
		}
	}
	if p.Mode == plan.VerifyNone {
		return nil
	}
	for i, command := range p.Commands {
		out = append(out, Check{Name: fmt.Sprintf("check %d", i+1), Command: command, Kind: "custom", Level: 2})
	}
	return out
}
