package prove

import (
	"context"
	"path"
	"slices"
	"time"

	"pawl/driver/prove/cut"
	"pawl/driver/verify"
	"pawl/kernel/effect"
	"pawl/text/plan"
)

// maxShare is the part of the time for taking parts away that measuring takes at most beside that.
const maxShare = 4

// keeps reports whether something is to be kept by whatever tests there are, so that it counts whether they run it.
func keeps(criteria []plan.Criterion) bool {
	return slices.ContainsFunc(criteria, func(c plan.Criterion) bool {
		return c.Proof == plan.ProofKept && c.Run == "" && len(c.Tests)+len(c.Checks) == 0
	})
}

// kept looks whether checks run what is to be kept, where nothing else has to be tried.
func (b *bench) kept(ctx context.Context, result *effect.ProveResult) error {
	if b.Budget <= 0 || !keeps(b.Criteria) || !couldShow(b.changed) {
		return nil
	}
	if err := b.fresh(ctx); err != nil {
		return err
	}
	before := b.texts()
	if err := b.repo.Overlay(ctx, b.Base, b.Tree, func(string) bool { return true }); err != nil {
		return err
	}
	b.say("verify.prove_lines")
	return b.measure(ctx, before, b.texts(), b.Budget, result)
}

// measure finds the lines that the work changed and that no check runs, in a copy that holds the work, as far as the
// checks tell that within a time. What a check could not tell of says nothing.
func (b *bench) measure(ctx context.Context, before, now map[string]string, limit time.Duration,
	result *effect.ProveResult) error {
	texts := map[string]string{}
	for _, f := range b.changed {
		if text, ok := now[f.Path]; ok && !isTest(f.Path) && len(cut.Fresh(before[f.Path], text)) > 0 {
			texts[f.Path] = text
		}
	}
	ran, until := verify.Ran{}, time.Now().Add(limit)
	for _, c := range b.Checks {
		left := time.Until(until)
		if b.PerCheck > 0 {
			left = min(left, b.PerCheck)
		}
		if !isTests(c) || left <= 0 || len(texts) == 0 {
			continue
		}
		b.say("▶ " + c.Name)
		ok, err := b.verify.Measure(ctx, b.ground, c, texts, left, ran)
		if err != nil {
			return err
		}
		result.Measured = result.Measured || ok
	}
	for _, f := range b.changed {
		if lines := ran[f.Path]; lines != nil {
			result.Unrun = append(result.Unrun, unrun(f.Path, before[f.Path], texts[f.Path], lines)...)
		}
	}
	result.Unrun = result.Unrun[:min(len(result.Unrun), effect.MaxUnrun)]
	return nil
}

// unrun are the changed lines of a file that did not run, those of a function together. Where none of its changed lines
// ran, they have its name.
func unrun(file, before, now string, ran map[int]bool) []effect.Lines {
	functions := cut.Functions(file, now)
	of := func(line int) int {
		found := -1
		for i, f := range functions {
			if f.Has(line) && (found < 0 || f.Line >= functions[found].Line) {
				found = i
			}
		}
		return found
	}
	lives := map[int]bool{} // the functions of which a changed line ran
	var lines []int
	var renamed map[int]bool
	if path.Ext(file) == ".go" { // what only has other names is compiled
		renamed = cut.Renamed(before, now)
	}
	for _, line := range cut.Fresh(before, now) {
		if renamed[line] {
			continue
		}
		if is, known := ran[line]; is {
			lives[of(line)] = true
		} else if known {
			lines = append(lines, line)
		}
	}
	var out []effect.Lines
	for _, line := range lines {
		in, last := of(line), len(out)-1
		name := ""
		if in >= 0 && !lives[in] {
			name = functions[in].Name
		}
		if last >= 0 && out[last].To >= line-1 && out[last].Name == name {
			out[last].To = line
			continue
		}
		out = append(out, effect.Lines{Path: file, Line: line, To: line, Name: name})
	}
	return out
}
