package doctor

import (
	"strconv"
	"strings"

	"pawl/kernel/effect"
)

// Project looks at what the checks of a project need: programs are those that they use, as far as pawl knows them by
// name, and find says where one is installed. A linter that is missing is left out of verifications; a missing build
// tool or test runner stops them, and so do packages that are not on the machine.
func Project(found effect.ContextResult, programs []string, find func(string) (string, bool)) []Finding {
	if len(found.Checks) == 0 {
		return []Finding{{Name: "checks", State: Warn, Key: "cli.doctor_no_checks"}}
	}
	out := []Finding{{Name: "checks", State: OK, Key: "cli.doctor_checks",
		Args: []string{strconv.Itoa(len(found.Checks))}, Value: strings.Join(found.Ecosystems, ", ")}}
	told := map[string]bool{}
	run, left := effect.LeaveOut(found.Checks, func(effect.Check) bool { return true })
	for _, c := range run {
		if c.Missing != "" && !told[c.Missing] {
			told[c.Missing] = true
			out = append(out, Finding{Name: "  " + c.Missing, State: Fail, Key: "cli.doctor_runner_missing",
				Args: []string{c.Name}})
		}
	}
	for _, c := range left {
		if !told[c.Missing] {
			told[c.Missing] = true
			out = append(out, Finding{Name: "  " + c.Missing, State: Warn, Key: "cli.doctor_linter_missing",
				Args: []string{c.Name}})
		}
	}
	for _, program := range programs {
		if where, ok := find(program); ok && !told[program] {
			out = append(out, Finding{Name: "  " + program, State: OK, Key: "cli.doctor_tool", Value: where})
		}
	}
	for _, n := range found.Needs {
		text := strings.Join(n.Missing, ", ")
		if more := n.Count - len(n.Missing); more > 0 {
			text += ", +" + strconv.Itoa(more)
		}
		out = append(out, Finding{Name: "  " + n.Ecosystem, State: Warn, Key: "cli.doctor_needs", Args: []string{text},
			Value: n.Next()})
	}
	return out
}
