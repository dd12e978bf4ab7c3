package verification

import (
	"slices"

	"pawl/kernel"
	"pawl/kernel/effect"
)

// asksOfTests asks what the tests that a passing verification says nothing of did on what the work started from: those
// that were skipped, and those that are declared and never ended. A suite that always skips some of its tests is
// nobody's doing; one of which the work has silenced a part proves nothing. It is false where there is nothing to ask,
// or nothing to ask it of.
func asksOfTests(tx *kernel.Tx, result effect.VerifyResult) bool {
	t := tx.Task
	if !canLookBack(t) {
		return false
	}
	spec := effect.VerifySpec{Required: true, PerCheck: tx.Config.PerCheck, At: t.Base}
	for _, o := range result.Outcomes {
		if o.Status != effect.CheckPassed || !o.Tests.Doubtful() {
			continue
		}
		before := t.Baseline.TestsOf(o.Check)
		names := slices.Concat(fresh(o.Tests.Left, before.Left), fresh(o.Tests.Silent, before.Silent))
		if len(names) > 0 || !o.Tests.Whole && before.Whole {
			spec.Checks, spec.Ask = append(spec.Checks, o.Check), append(spec.Ask, names...)
		}
	}
	if len(spec.Checks) == 0 {
		return false
	}
	tx.Emit(effect.KindVerify, spec, true)
	return true
}

// fresh are the names that are not among those before.
func fresh(now, before []string) []string {
	var out []string
	for _, n := range now {
		if !slices.Contains(before, n) {
			out = append(out, n)
		}
	}
	return out
}

// lost are the tests that the work has kept from running: those that are skipped now and were not before, and those
// that never ended and did before, or are new. A new test that is skipped is none: nothing has become less by it.
func lost(now effect.TestRun, before *effect.TestRun) []string {
	if before == nil {
		before = &effect.TestRun{Whole: true}
	}
	var out []string
	for _, name := range now.Left {
		if end := before.Asked[name]; end == "passed" || end == "failed" {
			out = append(out, name)
		}
	}
	known := len(before.Silent)
	for _, name := range now.Silent {
		if known == effect.MaxTestNames && name > before.Silent[known-1] {
			break // the list ended there, and what is behind is not known
		}
		if !slices.Contains(before.Silent, name) {
			out = append(out, name)
		}
	}
	if len(out) == 0 && !now.Whole && before.Whole {
		out = []string{now.Runner}
	}
	slices.Sort(out)
	return out
}
