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
func (b *bench) objections(ctx context.Context) (out []effect.Witness, err error) {
	for _, o := range b.Objections {
		w := effect.Witness{Criterion: o.ID, Kind: kindTest, Test: o.Test.Path}
		if w.Without, err = b.objection(ctx, *o.Test); err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// objection says how one test ends on the work. It counts as red only where it ran twice and was not met both times: a
// test that does not build, or that wants a name which is not there, says nothing of what is.
func (b *bench) objection(ctx context.Context, t effect.ReviewTest) (effect.Without, error) {
	if err := b.fresh(ctx); err != nil {
		return "", err
	}
	if broken, err := b.broken(ctx); broken || err != nil { // and what the checks need of a build is there
		return effect.WithoutMachine, err
	}
	without, err := b.tried(ctx, b.runs(t), t.Run == "")
	if err != nil {
		return "", err
	}
	if t.Run == "" && !isTest(t.Path) || !b.add(t) {
		return effect.WithoutAbsent, nil
	}
	list := b.runs(t)
	if t.Run == "" && len(list) > 0 && list[0].whole() { // what is red with it has to be green without
		list = slices.DeleteFunc(without, func(s *subject) bool { return !s.greenBefore() })
	}
	if len(list) == 0 {
		return effect.WithoutMachine, nil
	}
	for range 2 {
		if list, err = b.tried(ctx, list, true); err != nil {
			return "", err
		}
	}
	return worst(list), nil
}

// tried is a list of what runs a test once it has run, if it is to.
func (b *bench) tried(ctx context.Context, list []*subject, is bool) ([]*subject, error) {
	if !is {
		return list, nil
	}
	return list, b.try(ctx, list, func(s *subject, seen sight) { s.before = append(s.before, seen) })
}

// worst says how what runs a test has ended, where all of it has run twice: one that was not met is enough.
func worst(list []*subject) effect.Without {
	end := effect.WithoutGreen
	for _, s := range list {
		switch is := endOf(s); is {
		case effect.WithoutAssertion, effect.WithoutUnmet:
			return is
		case effect.WithoutGreen:
		default:
			end = is
		}
	}
	return end
}

// runs are what runs a test: its command, the tests that its file declares, or the checks that test as they are.
func (b *bench) runs(t effect.ReviewTest) (list []*subject) {
	if t.Run != "" {
		return []*subject{{check: command(t.Run)}}
	}
	var whole []*subject
	for _, c := range b.Checks {
		for _, declared := range verify.Tests(verify.OpenDir, b.place, c) {
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

// endOf says how a subject ended in its last two runs.
func endOf(s *subject) effect.Without {
	n := len(s.before)
	first, second := s.before[n-2], s.before[n-1]
	is := reasons(nil).reason(s, first)
	switch {
	case reasons(nil).reason(s, second) != is, is != effect.WithoutGreen && first.print != second.print:
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
