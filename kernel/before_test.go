package kernel_test

import (
	"strings"
	"testing"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/effect"
	"pawl/kernel/orders"
	"pawl/kernel/planning"
	"pawl/kernel/query"
)

// TestWhatFailedBefore runs the checks that fail first on what the work started from, once, and tells whoever repairs
// which of them have nothing to do with the work.
func TestWhatFailedBefore(t *testing.T) {
	outcome := func(name, fingerprint string) effect.CheckOutcome {
		o := effect.CheckOutcome{Check: effect.Check{Name: name, Command: name}, Status: effect.CheckPassed,
			Fingerprint: fingerprint}
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
			b.do(&planning.Start{Requirement: "do", Agent: "m",
				Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}, RunMode: pawl.Assisted})
			b.run(answer)
			b.do(&approval.Approve{Hash: b.look().Solution.Hash})
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
			s, err := b.k.TaskSnapshot(t.Context(), "T-001")
			if err != nil || s.Task.State != "done" || s.Task.Tree == "base" {
				t.Errorf("%v: task %s with tree %s", err, s.Task.State, s.Task.Tree)
			}
			for _, span := range s.Task.Spans {
				if span.Before == "base" {
					t.Errorf("what was looked at elsewhere counts as a change: %+v", span)
				}
			}
			if failures := query.TaskOf(s.Task, nil).Failures; failures[0].What != "lint" ||
				failures[0].FailingBefore != strings.Contains(c.want, "lint") {
				t.Errorf("shown %+v", failures[0])
			}
			b.verifyAudit()
		})
	}
}

// TestBaseline takes what pawl has run on the very tree that the work starts from for what was red and green before: it
// is told before the approval, nothing is run twice for it, and the result says what the work has mended.
func TestBaseline(t *testing.T) {
	checks := []effect.Check{{Name: "lint", Command: "lint", Level: 0}, {Name: "tests", Command: "test", Level: 2},
		{Name: "more", Command: "more", Dir: "x", Level: 2}}
	outcome := func(c effect.Check, fingerprint string, machine bool) effect.CheckOutcome {
		o := effect.CheckOutcome{Check: c, Status: effect.CheckPassed, Fingerprint: fingerprint, Environment: machine}
		if fingerprint != "" {
			o.Status, o.ExitCode, o.Output = effect.CheckFailed, 1, "broken"
		}
		return o
	}
	result := func(tree string, list ...effect.CheckOutcome) effect.Receipt {
		v := effect.VerifyResult{Outcomes: list, Tree: tree, TreeAfter: tree, Passed: true}
		for _, o := range list {
			v.Passed = v.Passed && o.Status == effect.CheckPassed
		}
		if v.Passed {
			return effect.Succeeded(v)
		}
		return effect.FailedWith(pawl.Fail(pawl.CodeChecksFailed, "verify.failed", "x"), v)
	}
	for name, c := range map[string]struct {
		tree       string // of the commit that the work starts from
		red, green string
		looked     int
	}{
		"of the same tree":   {"t0", "tests", "lint", 0},
		"of another tree":    {"t9", "", "", 1},
		"of an unknown tree": {"", "", "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			w := &world{plan: twoSteps()}
			looked, ran := 0, 0
			answer := func(e effect.Effect) effect.Receipt {
				switch e.Kind {
				case effect.KindTest: // somebody had them run before; the third one says nothing of the tree
					return result("t0", outcome(checks[0], "", false), outcome(checks[1], "t1", false),
						outcome(checks[2], "m1", true))
				case effect.KindContext:
					return effect.Succeeded(effect.ContextResult{Head: "c0", Tree: c.tree, Branch: "main",
						Checks: checks})
				case effect.KindCheckpoint:
					r := w.answer(e)
					made, _ := effect.Decode[effect.CheckpointResult](r.Result)
					if made.Tree = c.tree; made.Tree == "" {
						made.Tree = "t8"
					}
					return effect.Succeeded(made)
				case effect.KindVerify:
					spec, _ := effect.Decode[effect.VerifySpec](e.Spec)
					if spec.At != "" {
						looked++
						return result("t7", outcome(checks[1], "t1", false))
					}
					if ran++; ran == 1 {
						return result("t2", outcome(checks[0], "", false), outcome(checks[1], "t1", false))
					}
					return result("t1", outcome(checks[0], "", false), outcome(checks[1], "", false))
				}
				return w.answer(e)
			}
			b.do(&orders.Order{Command: "~test", Kind: effect.KindTest,
				Spec: effect.Encode(effect.VerifySpec{Checks: checks}), Idempotent: true})
			b.run(answer)
			b.do(&planning.Start{Requirement: "do", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true},
				RunMode: pawl.Assisted})
			b.run(answer)
			p := query.PlanOf(b.look())
			if strings.Join(p.Red, " ") != c.red || strings.Join(p.Green, " ") != c.green {
				t.Errorf("red %q, green %q", p.Red, p.Green)
			}
			b.do(&approval.Approve{Hash: b.look().Solution.Hash})
			b.run(answer)
			if looked != c.looked {
				t.Errorf("looked back %d times", looked)
			}
			task := b.task("T-001")
			if task.State != "done" || task.Verified.Outcomes[1].Before != effect.CheckFailed {
				t.Errorf("task %s: %+v", task.State, task.Verified.Outcomes)
			}
			if first := task.Failures[0].Checks[1]; !first.FailingBefore || first.Before != effect.CheckFailed {
				t.Errorf("%+v", first)
			}
			// What has landed is known when the next work begins.
			b.do(&planning.Start{Requirement: "do more", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true},
				RunMode: pawl.Assisted})
			c.tree = "t1"
			b.run(answer)
			if p := query.PlanOf(b.look()); strings.Join(p.Green, " ") != "lint tests" || len(p.Red) > 0 {
				t.Errorf("red %q, green %q", p.Red, p.Green)
			}
		})
	}
}
