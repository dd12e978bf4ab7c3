package kernel_test

import (
	"strings"
	"testing"

	"pawl"
	"pawl/effect"
	"pawl/kernel"
)

// TestWhatFailedBefore runs the checks that fail first on what the work started from, once, and tells whoever repairs which of
// them have nothing to do with the work.
func TestWhatFailedBefore(t *testing.T) {
	outcome := func(name, fingerprint string) effect.CheckOutcome {
		o := effect.CheckOutcome{Check: effect.Check{Name: name, Command: name}, Status: effect.CheckPassed, Fingerprint: fingerprint}
		if fingerprint != "" {
			o.Status, o.ExitCode, o.Output = effect.CheckFailed, 1, name+" is broken: "+fingerprint
		}
		return o
	}
	verified := func(tree string, list ...effect.CheckOutcome) effect.Receipt {
		v := effect.VerifyResult{Outcomes: list, Tree: tree, TreeAfter: tree, Passed: true}
		if tree == "base" {
			v.TreeAfter = "base2"
		}
		for _, o := range list {
			v.Passed = v.Passed && o.Status == effect.CheckPassed
		}
		if v.Passed {
			return effect.Succeeded(v)
		}
		return effect.FailedWith(pawl.Fail(pawl.CodeChecksFailed, "verify.failed", "x"), v)
	}
	for name, c := range map[string]struct {
		before effect.Receipt // of the failing checks, on the base
		want   string
	}{
		"the same":                {verified("base", outcome("lint", "l1"), outcome("tests", "t1")), "lint tests"},
		"one of them differently": {verified("base", outcome("lint", "l1"), outcome("tests", "t0")), "lint"},
		"it passed":               {verified("base", outcome("lint", ""), outcome("tests", "")), ""},
		"nobody can tell":         {effect.Failed(pawl.Fail(pawl.CodeEnvironment, "verify.environment", "lint")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := &mind{work: []effect.WorkResult{finished}}
			looked, ran := 0, 0
			answer := func(e effect.Effect) effect.Receipt {
				if e.Kind != effect.KindVerify {
					return m.answer(e)
				}
				spec, _ := effect.Decode[effect.VerifySpec](e.Spec)
				if spec.At != "" {
					looked++
					var asked []string
					for _, c := range spec.Checks {
						asked = append(asked, c.Name)
					}
					if got := strings.Join(asked, " "); spec.At != "c0" || got != "lint tests" {
						t.Errorf("run %q at %q", got, spec.At)
					}
					return c.before
				}
				if ran++; ran > 2 {
					return m.world.answer(e)
				}
				return verified("t1", outcome("build", ""), outcome("lint", "l1"), outcome("tests", "t1"))
			}
			b := newBench(t)
			b.k.Config().Agents["m"] = kernel.Traits{Works: true}
			m.plan = intent()
			b.do(&kernel.Start{Requirement: "do", Agent: "m", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}, RunMode: pawl.Assisted})
			b.run(answer)
			b.do(&kernel.Approve{Hash: b.look().Solution.Hash})
			b.run(answer)
			if looked != 1 || ran != 3 {
				t.Errorf("looked back %d times in %d verifications", looked, ran)
			}
			for _, spec := range m.asked[1:] {
				var known []string
				for _, o := range spec.Failure.Checks {
					if o.FailingBefore {
						known = append(known, o.Name)
					}
				}
				if got := strings.Join(known, " "); got != c.want {
					t.Errorf("the repair is told %q, want %q", got, c.want)
				}
			}
			s, err := b.k.LookAt(t.Context(), "T-001")
			if err != nil || s.Task.State != "done" || s.Task.Tree == "base" {
				t.Errorf("%v: task %s with tree %s", err, s.Task.State, s.Task.Tree)
			}
			for _, span := range s.Task.Spans {
				if span.Before == "base" {
					t.Errorf("what was looked at elsewhere counts as a change: %+v", span)
				}
			}
			if failures := s.Task.View(nil).Failures; failures[0].What != "lint" || failures[0].FailingBefore != strings.Contains(c.want, "lint") {
				t.Errorf("shown %+v", failures[0])
			}
			b.verifyAudit()
		})
	}
}
