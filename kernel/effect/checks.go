package effect

import (
	"fmt"
	"strings"

	"pawl/text/plan"
	"pawl/text/policy"
)

// SelectChecks picks the checks that a verification policy asks for from those that pawl detected: none, the static
// ones, those up to the build, all of them, or the commands that the policy lists (docs/spec/turn.md#s3-3).
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
		c := Check{Name: fmt.Sprintf("check %d", i+1), Command: command, Kind: "custom", Level: 2}
		c.Missing = missingIn(command, detected)
		out = append(out, c)
	}
	return out
}

// missingIn returns the program that a command of a plan runs and that pawl looked for in vain when it detected the
// checks, or "". What a plan names itself is wanted, so that it is never left out.
func missingIn(command string, detected []Check) string {
	parsed, err := policy.ParseCommand(command)
	if err != nil {
		return "" // the policy judges the command, and says what is wrong with it
	}
	for _, call := range parsed.Calls {
		for _, c := range detected {
			if c.Missing == "" || len(call.Argv) == 0 {
				continue
			}
			if program := call.Argv[0]; program == c.Missing || program == c.Dir+"/"+c.Missing &&
				strings.ContainsRune(c.Missing, '/') {
				return program
			}
		}
	}
	return ""
}

// LeaveOut parts checks into those that run and the static ones that are left out because their program is missing: the
// linter that a machine lacks must not keep all work on it from being verified. Nothing is left out where nothing else
// would judge the work. Builds, tests and the commands of a plan are never left out. Missing says whether the program
// of a check that has one to miss is still not there.
func LeaveOut(checks []Check, missing func(Check) bool) (run, left []Check) {
	judged := false
	for _, c := range checks {
		if c.Level == 0 && c.Missing != "" && missing(c) {
			left = append(left, c)
			continue
		}
		run = append(run, c)
		judged = judged || c.Command != ""
	}
	if !judged {
		return checks, nil
	}
	return run, left
}

// LeftOut reports whether the check did not run because its program is not installed, and nobody asked for it by name.
func (o CheckOutcome) LeftOut() bool {
	return o.Status == CheckSkipped && o.Missing != "" && o.Level == 0
}

// Failed reports whether the check ran and did not pass, or could not be run.
func (o CheckOutcome) Failed() bool { return o.Status == CheckFailed || o.Status == CheckError }

// FailedNames names the checks that failed, in their order, with commas between them.
func (v VerifyResult) FailedNames() string {
	var out []string
	for _, o := range v.Outcomes {
		if o.Failed() {
			out = append(out, o.Name)
		}
	}
	return strings.Join(out, ", ")
}
