package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/effect"
	"pawl/kernel/planning"
)

// TestLostTests tells tests that the work has silenced from those that never ran: what is not known of the doubtful
// ones is asked of what the work started from, once, and a check that passed and lost one has failed.
func TestLostTests(t *testing.T) {
	check := effect.Check{Name: "tests", Command: "go test ./...", Kind: "test", Level: 2}
	verified := func(tree string, run effect.TestRun) effect.Receipt {
		return effect.Succeeded(effect.VerifyResult{Tree: tree, TreeAfter: tree, Passed: true,
			Outcomes: []effect.CheckOutcome{{Check: check, Status: effect.CheckPassed, Tests: &run}}})
	}
	unknown := effect.Failed(pawl.Fail(pawl.CodeEnvironment, "verify.environment", "tests"))
	for name, c := range map[string]struct {
		now    effect.TestRun
		before effect.Receipt
		ask    string // the names that are asked for, "" where nothing is
		lost   string
	}{
		"every test ended": {effect.TestRun{Passed: 2, Whole: true}, unknown, "", ""},
		"always skipped": {effect.TestRun{Whole: true, Left: []string{"p: A"}},
			verified("b0", effect.TestRun{Whole: true, Left: []string{"p: A"},
				Asked: map[string]string{"p: A": "skipped"}}), "p: A", ""},
		"skipped by the work": {effect.TestRun{Whole: true, Left: []string{"p: A"}},
			verified("b0", effect.TestRun{Whole: true, Asked: map[string]string{"p: A": "passed"}}), "p: A", "p: A"},
		"new and skipped": {effect.TestRun{Whole: true, Left: []string{"p: A"}},
			verified("b0", effect.TestRun{Whole: true}), "p: A", ""},
		"never ended before": {effect.TestRun{Whole: true, Silent: []string{"p: A"}},
			verified("b0", effect.TestRun{Whole: true, Silent: []string{"p: A"}}), "p: A", ""},
		"silenced by the work": {effect.TestRun{Whole: true, Silent: []string{"p: A", "p: B"}},
			verified("b0", effect.TestRun{Whole: true, Silent: []string{"p: B"}}), "p: A p: B", "p: A"},
		"new and never ended": {effect.TestRun{Whole: true, Silent: []string{"p: New"}},
			verified("b0", effect.TestRun{Whole: true}), "p: New", "p: New"},
		"cut off by the work": {effect.TestRun{Runner: "go test"}, verified("b0", effect.TestRun{Whole: true}),
			"-", "go test"},
		"cut off before, too": {effect.TestRun{Runner: "go test"}, verified("b0", effect.TestRun{}), "-", ""},
		"nobody can tell":     {effect.TestRun{Whole: true, Silent: []string{"p: A"}}, unknown, "p: A", ""},
		"no run of tests known of": {effect.TestRun{Whole: true, Silent: []string{"p: A"}},
			effect.Succeeded(effect.VerifyResult{Tree: "b0", TreeAfter: "b0",
				Outcomes: []effect.CheckOutcome{{Check: check, Status: effect.CheckFailed, ExitCode: 1}}}), "p: A",
			"p: A"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &mind{work: []effect.WorkResult{finished}}
			m.plan = intent()
			var asked []string
			ran := 0
			answer := func(e effect.Effect) effect.Receipt {
				if e.Kind != effect.KindVerify {
					return m.answer(e)
				}
				if spec, _ := effect.Decode[effect.VerifySpec](e.Spec); spec.At != "" {
					asked = append(asked, strings.Join(append(spec.Ask, map[bool]string{true: "-"}[len(spec.Ask) == 0]),
						" "))
					return c.before
				}
				if ran++; ran > 1 { // the repair has brought them back
					return verified("t1", effect.TestRun{Passed: 2, Whole: true})
				}
				return verified("t1", c.now)
			}
			b := newBench(t)
			b.k.Config().Agents["m"] = kernel.Traits{Works: true}
			b.do(&planning.Start{Requirement: "do", Agent: "m",
				Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}, RunMode: pawl.Assisted})
			b.run(answer)
			b.do(&approval.Approve{Hash: b.look().Solution.Hash})
			b.run(answer)
			if got := strings.TrimSpace(strings.Join(asked, "; ")); got != strings.TrimSpace(c.ask) {
				t.Errorf("asked %q, want %q", got, c.ask)
			}
			task := b.task("T-001")
			lost := ""
			for _, f := range task.Failures {
				lost += strings.Join(f.Args, " ")
				if f.Key != "kernel.tests_lost" || f.Fingerprint == "" {
					t.Errorf("failed by %+v", f)
				}
			}
			if lost != c.lost || task.State != "done" {
				t.Errorf("task %s lost %q, want %q: %s", task.State, lost, c.lost, fmt.Sprint(task.Failures))
			}
			b.verifyAudit()
		})
	}
}
