package prove

import (
	"context"
	"os"
	"path"
	"slices"

	"pawl/driver/verify"
	"pawl/driver/verify/testlist"
	"pawl/kernel/effect"
)

// objections runs the tests with which a reviewer objects to the work, each alone on a copy of all of it.
func (p *proving) objections(ctx context.Context) error {
	for _, o := range p.Objections {
		w := effect.Witness{Criterion: o.ID, Kind: kindTest, Test: o.Test.Path}
		var err error
		if w.Without, err = p.objection(ctx, *o.Test); err != nil {
			return err
		}
		p.result.Witnesses = append(p.result.Witnesses, w)
	}
	return nil
}

// objection says how one test ends on the work. It counts as red only where it ran twice and was not met both times: a
// test that does not build, or that wants a name which is not there, says nothing of what is.
func (p *proving) objection(ctx context.Context, t effect.ReviewTest) (effect.Without, error) {
	if err := p.bench.fresh(ctx); err != nil {
		return "", err
	}
	if t.Run == "" && !isTest(t.Path) {
		return effect.WithoutAbsent, nil
	}
	if broken, err := p.bench.broken(ctx); broken || err != nil { // and what the checks need of a build is there
		return effect.WithoutMachine, err
	}
	before := p.runs(t)
	if t.Run == "" && len(before) > 0 && before[0].whole() { // not known test by test: green without it, then
		if err := p.bench.try(ctx, before, func(s *subject, seen sight) { s.before = []sight{seen} }); err != nil {
			return "", err
		}
		before = slices.DeleteFunc(before, func(s *subject) bool { return !s.greenBefore() })
	}
	if !p.bench.add(t) {
		return effect.WithoutAbsent, nil
	}
	list := p.runs(t)
	if t.Run == "" && len(list) > 0 && list[0].whole() {
		list = before
	}
	if len(list) == 0 {
		return effect.WithoutMachine, nil
	}
	for _, s := range list {
		s.before = nil
	}
	for range 2 {
		if err := p.bench.try(ctx, list, func(s *subject, seen sight) { s.before = append(s.before, seen) }); err != nil {
			return "", err
		}
	}
	end := effect.WithoutGreen
	for _, s := range list {
		switch is := p.ended(s); is {
		case effect.WithoutAssertion, effect.WithoutUnmet:
			return is, nil
		case effect.WithoutGreen:
		default:
			end = is
		}
	}
	return end, nil
}

// runs are what runs a test: its command, the tests that its file declares, or the checks that test as they are.
func (p *proving) runs(t effect.ReviewTest) (list []*subject) {
	if t.Run != "" {
		return []*subject{{check: command(t.Run)}}
	}
	var whole []*subject
	for _, c := range p.Checks {
		for _, declared := range verify.Tests(verify.OpenDir, p.bench.place, c) {
			if path.Join(c.Dir, declared.Path) == t.Path {
				list = append(list, &subject{check: c, test: declared})
			}
		}
		if isTests(c) {
			whole = append(whole, &subject{check: c, test: testlist.Test{}})
		}
	}
	if len(list) == 0 {
		return whole
	}
	return list
}

// ended says how a subject ended in both of its runs.
func (p *proving) ended(s *subject) effect.Without {
	first, second := s.before[0], s.before[1]
	is := p.reasons.reason(s, first)
	switch {
	case p.reasons.reason(s, second) != is, is != effect.WithoutGreen && first.print != second.print:
		return effect.WithoutFlickers
	case is == effect.WithoutAssertion && symbols().MatchString(first.said):
		return effect.WithoutBuild
	}
	return is
}

// add puts a new file with a test into the copy, and reports whether it could.
func (b *bench) add(t effect.ReviewTest) bool {
	root, err := os.OpenRoot(b.place.Tree)
	if err != nil {
		return false
	}
	defer root.Close()
	if root.MkdirAll(path.Dir(t.Path), 0o755) != nil {
		return false
	}
	f, err := root.OpenFile(t.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return false
	}
	_, err = f.WriteString(t.Content)
	return f.Close() == nil && err == nil
}
