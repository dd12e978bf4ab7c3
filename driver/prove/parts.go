package prove

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"pawl/driver/prove/cut"
	"pawl/kernel/effect"
	"pawl/text/plan"
	"pawl/text/testrun"
)

const (
	maxParts   = 500
	maxPatch   = 8 << 20
	maxConfirm = 8 // parts that are taken away one by one to confirm a witness, where all at once says nothing
)

// takeAway finds out which parts of the work its tests notice. That a test notices something of it is found out first,
// whatever the time, where it did not build without the work: else a function that does nothing would do.
func (p *proving) takeAway(ctx context.Context) error {
	functions, hunks := p.parts(ctx)
	var tests, open []*subject
	for _, s := range p.subjects {
		if s.holds && !s.was && (isTests(s.check)) {
			tests = append(tests, s)
			if s.without == effect.WithoutBuild {
				open = append(open, s)
			}
		}
	}
	all, err := p.confirm(ctx, open, functions)
	if err == nil {
		err = p.doubt(ctx)
	}
	if err == nil && slices.ContainsFunc(p.Criteria, func(c plan.Criterion) bool { return c.Proof == plan.ProofTest }) {
		err = (&idle{p.bench, wanted(p.ProveSpec)}).confirm(ctx, p.subjects)
	}
	if err != nil || p.Budget <= 0 || len(tests) == 0 {
		return err
	}
	p.bench.say("verify.prove_parts")
	until := time.Now().Add(p.Budget)
	parts := append(functions, hunks...)
	for i, part := range parts {
		left := time.Until(until)
		if left <= 0 || i == maxParts {
			p.result.Unreached = len(parts) - i
			break
		}
		seen := all
		if len(functions) != 1 || i > 0 || all.by == "" { // else it was seen already
			if seen, err = p.notice(ctx, []cut.Part{part}, tests, left); err != nil {
				return err
			}
		}
		switch {
		case seen.out:
			p.result.Unreached = len(parts) - i
			return nil
		case !seen.unbuilt:
			p.result.Parts = append(p.result.Parts, effect.Part{Path: part.Path, Line: part.Line, Name: part.Name,
				Noticed: seen.by != "", By: seen.by})
		}
	}
	return nil
}

// parts finds what can be taken away: functions and values, those first that the tests speak of, and then hunks.
func (p *proving) parts(ctx context.Context) (functions, hunks []cut.Part) {
	for _, f := range p.result.Changed {
		if text, ok := p.now[f.Path]; ok && !isTest(f.Path) {
			functions = append(functions, cut.Parts(f.Path, p.before[f.Path], text)...)
		}
	}
	spoken := map[string]bool{}
	for _, s := range p.subjects {
		for n := range cut.Names(s.test.Source) {
			spoken[n] = true
		}
	}
	slices.SortStableFunc(functions, func(a, b cut.Part) int {
		return cmp.Compare(rank(spoken, a), rank(spoken, b))
	})
	patch, _, err := p.bench.repo.Objects.Patch(ctx, p.Base, p.Tree, maxPatch)
	if err != nil {
		return functions, nil
	}
	files, _, err := gitdiff.Parse(strings.NewReader(patch))
	if err != nil {
		return functions, nil
	}
	for _, f := range files {
		if text, ok := p.now[f.NewName]; ok && !isTest(f.NewName) {
			hunks = append(hunks, cut.Hunks(f, text, slices.DeleteFunc(slices.Clone(functions),
				func(c cut.Part) bool { return c.Path != f.NewName }))...)
		}
	}
	return functions, hunks
}

// rank is 0 for a part that is named, and 1 for another.
func rank(named map[string]bool, c cut.Part) int {
	if named[c.Name[1+strings.LastIndexByte(c.Name, '.'):]] {
		return 0
	}
	return 1
}

// confirm looks which tests that did not build without the work fail where what it brought is there and does nothing.
// Those that pass then are content with nothing; those that end otherwise, because nothing is left to call, see the
// functions go one at a time. Functions that answer everybody alike confirm nothing: what a test expects may be all
// that they know.
func (p *proving) confirm(ctx context.Context, open []*subject,
	functions []cut.Part) (all noticed, err error) {
	functions = slices.DeleteFunc(slices.Clone(functions), func(c cut.Part) bool { return c.Blind })
	if len(open) == 0 || len(functions) == 0 {
		return all, nil
	}
	p.bench.say("verify.prove_confirm")
	if all, err = p.notice(ctx, functions, open, 0); err != nil {
		return all, err
	}
	for _, part := range functions[:min(len(functions), maxConfirm)] {
		open = slices.DeleteFunc(open, func(s *subject) bool { return s.confirmed || slices.Contains(all.content, s) })
		if len(open) == 0 {
			break
		}
		if _, err := p.notice(ctx, []cut.Part{part}, open, 0); err != nil {
			return all, err
		}
	}
	return all, nil
}

// noticed is what came of taking something away.
type noticed struct {
	by      string     // what failed, "" for nothing
	content []*subject // what passed
	unbuilt bool       // it could not be built
	out     bool       // the time was up before that was known
	blind   bool       // nothing was taken away but functions that answer everybody alike, which confirms no test
}

// notice takes parts away, runs tests for so long at most, where that is not 0, and puts the parts back.
func (p *proving) notice(ctx context.Context, parts []cut.Part, tests []*subject,
	left time.Duration) (seen noticed, err error) {
	seen.blind = !slices.ContainsFunc(parts, func(c cut.Part) bool { return !c.Blind })
	err = p.bench.taken(p.now, parts, func() error {
		var err error
		cutShort := left > 0 && (p.PerCheck <= 0 || left < p.PerCheck)
		if cutShort {
			p.bench.PerCheck = left
			defer func() { p.bench.PerCheck = p.PerCheck }()
		}
		if slices.ContainsFunc(tests, (*subject).whole) {
			if seen.unbuilt, err = p.bench.broken(ctx); seen.unbuilt || err != nil {
				return err
			}
		}
		near, far := apart(parts, tests)
		for _, list := range [][]*subject{near, far} {
			if seen.by == "" || len(parts) > 1 {
				err = cmp.Or(err, p.bench.try(ctx, list, func(s *subject, is sight) { seen.add(p, s, is, cutShort) }))
			}
		}
		return err
	})
	return seen, err
}

// apart puts the tests first that are near to a part: those in its folder, and those that speak of it.
func apart(parts []cut.Part, tests []*subject) (near, far []*subject) {
	for _, s := range tests {
		spoken, folder := cut.Names(s.test.Source), path.Join(s.check.Dir, path.Dir(s.test.Path))
		is := func(c cut.Part) bool { return path.Dir(c.Path) == folder || rank(spoken, c) == 0 }
		if slices.ContainsFunc(parts, is) {
			near = append(near, s)
		} else {
			far = append(far, s)
		}
	}
	return near, far
}

// add takes what was seen of one test.
func (n *noticed) add(p *proving, s *subject, is sight, cutShort bool) {
	switch {
	case is.end == testrun.Passed:
		n.content = append(n.content, s)
		return
	case is.late && is.end != testrun.Failed && cutShort:
		n.out = true
		return
	case is.end != testrun.Failed && builds(is.output), s.whole() && len(is.red) == 0 && builds(is.output):
		n.unbuilt = true
		return
	case is.end == testrun.Failed && s.without == effect.WithoutBuild && !n.blind:
		r := p.reasons.reason(s, is)
		s.confirmed = s.confirmed || r == effect.WithoutAssertion || r == effect.WithoutUnmet
	}
	n.by = cmp.Or(n.by, s.label())
}

// label names a subject in one line.
func (s *subject) label() string {
	if s.whole() {
		return s.check.Name
	}
	return s.test.String()
}

// taken takes parts of the copy's files away, whose texts are known, does something, and puts the parts back.
func (b *bench) taken(texts map[string]string, parts []cut.Part, do func() error) (err error) {
	root, err := os.OpenRoot(b.place.Tree)
	if err != nil {
		return err
	}
	defer root.Close()
	files := map[string][]cut.Part{}
	for _, c := range parts {
		files[c.Path] = append(files[c.Path], c)
	}
	for file, list := range files {
		defer func() { err = cmp.Or(err, rewrite(root, file, texts[file])) }()
		if err := rewrite(root, file, cut.Without(texts[file], list...)); err != nil {
			return err
		}
	}
	return do()
}

// rewrite gives a file of the copy another text.
func rewrite(root *os.Root, file, text string) error {
	perm := os.FileMode(0o644)
	if info, err := root.Lstat(file); err == nil {
		perm = info.Mode().Perm()
	}
	if err := root.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // it is made anew, so that no link that a test has put there is followed
	}
	return root.WriteFile(file, []byte(text), perm)
}
