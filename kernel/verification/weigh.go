package verification

import (
	"slices"
	"strings"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/text/plan"
)

// scale is what criteria are weighed by: the task's plan, and what was seen with and without the work.
type scale struct {
	task *kernel.Task
	seen effect.ProveResult
	// approved says that the work was to be exactly the calls of the plan, on a person's word.
	approved bool
}

// weigh judges each criterion by what was seen, and the work by all of them.
func weigh(tx *kernel.Tx, seen effect.ProveResult) effect.Proof {
	t := tx.Task
	criteria, derived := criteriaOf(t)
	s := scale{task: t, seen: seen, approved: asApproved(tx)}
	out := effect.Proof{Tree: seen.Tree, Derived: derived, Changed: len(seen.Changed), Unreached: seen.Unreached,
		Measured: seen.Measured, Unrun: seen.Unrun,
		At: tx.Now}
	for _, part := range seen.Parts {
		if !part.Noticed {
			out.Unnoticed = append(out.Unnoticed, part)
		}
	}
	for _, c := range criteria {
		out.Criteria = append(out.Criteria, s.criterion(c))
	}
	for _, c := range artifacts(t.Plan) {
		if m := s.named(c); m.Verdict == effect.Unproven && !touched(seen.Changed, c.Paths[0]) {
			out.Criteria = append(out.Criteria, m)
		}
	}
	if out.Verdict = overall(out.Criteria); out.Verdict == effect.AlreadySo && len(seen.Changed) > 0 {
		out.Verdict = effect.Unproven // it did what nobody asked for
		for i := range out.Criteria {
			out.Criteria[i].Verdict = effect.Unproven
		}
	}
	return out
}

// touched reports whether the work changed, brought or removed a file, or something in a folder whose name ends with a
// slash.
func touched(changed []effect.FileStat, path string) bool {
	return slices.ContainsFunc(changed, func(f effect.FileStat) bool {
		return f.Path == path || strings.HasSuffix(path, "/") && strings.HasPrefix(f.Path, path)
	})
}

// overall is the verdict on all criteria together. What held before takes nothing from the rest; where nothing else was
// wanted, the work had nothing to do.
func overall(criteria []effect.Met) effect.Verdict {
	verdict := effect.AlreadySo
	for _, c := range criteria {
		switch c.Verdict {
		case effect.Unproven:
			return effect.Unproven
		case effect.Proven:
			verdict = effect.Proven
		}
	}
	return verdict
}

// criterion judges one criterion.
func (s *scale) criterion(c plan.Criterion) effect.Met {
	var m effect.Met
	switch c.Proof {
	case plan.ProofPerson:
		m = effect.Met{Criterion: c, Verdict: effect.Unproven, Why: effect.WhyPerson}
	case plan.ProofReview:
		m = effect.Met{Criterion: c, Verdict: effect.Unproven, Why: effect.WhyReview}
	case plan.ProofKept:
		m = s.kept(c)
	case plan.ProofTest:
		m = s.tested(c)
	case plan.ProofGone, plan.ProofDiff:
		m = s.named(c)
	default:
		m = s.check(c)
	}
	if m.Verdict == effect.Unproven && s.approved && m.Why != effect.WhyNotMet && m.Why != effect.WhyHeldOut {
		m.Verdict, m.Why = effect.Proven, effect.WhyAsApproved
	}
	for _, d := range s.task.Disputed {
		if m.Verdict == effect.Proven && d.Criterion == c.ID && d.Doubtful() {
			m.Verdict, m.Why, m.Shown = effect.Unproven, effect.WhyDisputed, []string{d.Path}
		}
	}
	return m
}

// check judges what has to be red without the work and green with it.
func (s *scale) check(c plan.Criterion) effect.Met {
	if c.Named() {
		return s.named(c)
	}
	m := effect.Met{Criterion: c, Verdict: effect.Unproven, Why: effect.WhyNoWitness}
	if len(s.seen.Changed) == 0 {
		m.Why = effect.WhyNothing
		return m
	}
	var places []string // of the work that are the reason why what was red shows nothing
	for _, w := range s.seen.Witnesses {
		if w.Criterion != "" && w.Criterion != c.ID || !tests(w) {
			continue
		}
		switch {
		case w.Shows() && speaks(w, c):
			m.Verdict, m.Why = effect.Proven, effect.WhyRedGreen
			if !slices.Contains(m.Shown, w.Name()) {
				m.Shown = append(m.Shown, w.Name())
			}
		case m.Verdict == effect.Proven:
		case w.Shows():
			m.Why = effect.WhyElsewhere
		default:
			if m.Why = graver(m.Why, shortcoming(w)); m.Why == w.Doubt {
				places = append(places, fresh(w.At, places)...)
			}
		}
	}
	if m.Verdict != effect.Proven && (m.Why == effect.WhyMemorised || m.Why == effect.WhyEquality) {
		m.Shown = places
	}
	m.Shown = m.Shown[:min(len(m.Shown), effect.MaxShown)]
	return m
}

// tests reports whether a witness is one of tests, which alone show how a program behaves.
func tests(w effect.Witness) bool { return w.Test != "" || w.Kind == "test" || w.Kind == "custom" }

// speaks reports whether a witness speaks of what a criterion is about, where its words say what that is. A check
// that does not name its tests speaks of anything.
func speaks(w effect.Witness, c plan.Criterion) bool {
	return len(c.Texts) == 0 || w.Test == "" || slices.ContainsFunc(c.Texts, func(t string) bool {
		return slices.ContainsFunc(w.Texts, func(in string) bool { return strings.EqualFold(in, t) })
	})
}

// shortcoming says why a witness shows nothing.
func shortcoming(w effect.Witness) effect.Why {
	switch {
	case w.Failed && w.Held:
		return effect.WhyHeldOut
	case w.Failed:
		return effect.WhyNotMet
	case w.Doubt != "":
		return w.Doubt
	case w.Without == effect.WithoutBuild:
		return effect.WhyHollow
	case w.Without == effect.WithoutMachine:
		return effect.WhyMachine
	case w.Without == effect.WithoutFlickers:
		return effect.WhyFlickers
	case w.Without == effect.WithoutAbsent:
		return effect.WhyAbsent
	case w.Without == effect.WithoutGreen:
		return effect.WhyBefore
	}
	return effect.WhyNoWitness
}

// graver is the reason of the two that says more of what is wrong.
func graver(a, b effect.Why) effect.Why {
	order := []effect.Why{effect.WhyNoTests, effect.WhyNoWitness, effect.WhyIdle, effect.WhyBefore, effect.WhyMachine,
		effect.WhyHollow, effect.WhyFlickers, effect.WhyMemorised, effect.WhyEquality, effect.WhyAbsent,
		effect.WhyElsewhere, effect.WhyHeldOut, effect.WhyNotMet}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

// named judges a criterion that says itself what shows it: all of that has to hold with the work, and something of it
// must not have held without.
func (s *scale) named(c plan.Criterion) effect.Met {
	m := effect.Met{Criterion: c, Verdict: effect.Unproven, Why: effect.WhyUntried}
	shows, before, all := 0, 0, 0
	var short, places []string
	for _, w := range s.seen.Witnesses {
		if w.Criterion != c.ID {
			continue
		}
		all++
		switch {
		case w.Shows():
			shows++
			m.Shown = append(m.Shown, w.Name())
		case w.Without == effect.WithoutGreen && !w.Failed:
			before++
		default:
			why := shortcoming(w)
			if m.Why == effect.WhyUntried || graver(m.Why, why) != m.Why {
				m.Why, places, short = why, w.At, nil
			}
			if why == m.Why {
				short = append(short, shortOf(w, why))
			}
		}
	}
	if all == 0 || shows+before < all {
		if m.Shown = short; len(places) > 0 {
			m.Shown = places
		}
	}
	m.Shown = m.Shown[:min(len(m.Shown), effect.MaxShown)]
	switch {
	case all == 0 || shows+before < all:
	case shows > 0:
		m.Verdict, m.Why = effect.Proven, how(c.Proof)
	default:
		m.Verdict, m.Why = effect.AlreadySo, effect.WhyBefore
	}
	return m
}

// shortOf names a witness that falls short, with the last of what a command printed that could not be run, or that
// fails with the work alone.
func shortOf(w effect.Witness, why effect.Why) string {
	speaks := why == effect.WhyMachine || w.Failed && w.Without == effect.WithoutGreen
	said := strings.TrimSpace(w.Said)
	if said = said[1+strings.LastIndexByte(said, '\n'):]; speaks && w.Test == "" && said != "" {
		return w.Name() + ": " + kernel.FirstLine(said)
	}
	return w.Name()
}

func how(p plan.Proof) effect.Why {
	switch p {
	case plan.ProofGone:
		return effect.WhyGone
	case plan.ProofDiff:
		return effect.WhyDiff
	}
	return effect.WhyRedGreen
}

// kept judges what must not be lost: the checks have passed, and no test of before is missing, or the work would not
// have come here. What is left to ask is whether anything was changed, and whether tests ran that could have failed.
func (s *scale) kept(c plan.Criterion) effect.Met {
	m := effect.Met{Criterion: c, Verdict: effect.Unproven, Why: effect.WhyNothing}
	if len(s.seen.Changed) == 0 {
		return m
	}
	if c.Named() {
		if m = s.named(c); m.Verdict == effect.AlreadySo {
			m.Verdict, m.Why = effect.Proven, effect.WhyKept
		}
		return m
	}
	for _, l := range s.seen.Unrun {
		if l.Name != "" && len(m.Shown) < effect.MaxShown {
			m.Why, m.Shown = effect.WhyUnrun, append(m.Shown, l.String())
		}
	}
	if m.Why == effect.WhyUnrun {
		return m
	}
	m.Why = effect.WhyNoTests
	for _, o := range s.task.Verified.Outcomes {
		if o.Tests != nil && o.Tests.Passed > 0 || o.Tests == nil && o.Kind == "test" && o.Status == effect.CheckPassed {
			m.Verdict, m.Why = effect.Proven, effect.WhyKept
			m.Shown = append(m.Shown, o.Name)
		}
	}
	return m
}

// tested judges tests that were asked for themselves: one of those that the work brings tells whether what it is about
// does anything.
func (s *scale) tested(c plan.Criterion) effect.Met {
	m := effect.Met{Criterion: c, Verdict: effect.Unproven, Why: effect.WhyNoTests}
	for _, w := range s.seen.Witnesses {
		switch {
		case !w.Own || w.Criterion != "" || m.Verdict == effect.Proven && !w.Confirmed:
		case w.Failed:
			m.Why = effect.WhyNotMet
		case !w.Confirmed && !w.Shows():
			m.Why = graver(m.Why, effect.WhyIdle)
		case !speaks(w, c):
			m.Why = graver(m.Why, effect.WhyElsewhere)
		default:
			m.Verdict, m.Why, m.Shown = effect.Proven, effect.WhyTested, append(m.Shown, w.Name())
		}
	}
	m.Shown = m.Shown[:min(len(m.Shown), effect.MaxShown)]
	return m
}

// asApproved reports whether the work was to be exactly what a person saw or wrote: every step of the plan names its
// calls, and the plan is a person's, or was approved by one who looked at it, or made by rules from a person's words.
// Whoever writes criteria beside the calls wants those to be shown.
func asApproved(tx *kernel.Tx) bool {
	if len(tx.Run.Given) > 0 && len(tx.Task.Plan.Criteria) > 0 {
		return false
	}
	for _, s := range tx.Task.Plan.Steps {
		if s.Repair() == 0 && s.Status != plan.Skipped && len(s.ToolCalls) == 0 {
			return false
		}
	}
	return len(tx.Run.Given) > 0 || !kernel.TraitsOf(tx).Works || tx.Task.ApprovedBy.Kind() == pawl.KindUser
}

// shortfall says in one line what is not shown, by the criteria's ids and reasons.
func shortfall(p *effect.Proof) string {
	var out []string
	for _, c := range p.Criteria {
		if c.Verdict == effect.Unproven {
			out = append(out, c.ID+" "+string(c.Why))
		}
	}
	return strings.Join(out, ", ")
}
