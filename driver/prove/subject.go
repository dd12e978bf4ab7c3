package prove

import (
	"cmp"
	"context"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"pawl/driver/prove/cut"
	"pawl/driver/verify"
	"pawl/driver/verify/testlist"
	"pawl/kernel/effect"
	"pawl/text/testrun"
)

// subject is what is tried without and with the work: one test of a check, or the whole of it.
type subject struct {
	check effect.Check
	test  testlist.Test // its Name is empty for the whole
	// own says that the work added or changed the test, and was that the subject is judged by what was there before,
	// without the work's own tests.
	own, was bool
	// gone says that the test is not there any more with the work. Of the tests of a whole check that is to be kept,
	// which were there before, lost is one that is not.
	gone  bool
	tests []string
	lost  string
	// known is how it is known to end without the work, "" where that has to be tried.
	known  effect.Without
	before []sight // what was seen without the work
	after  sight   // what was seen with it
	tried  bool    // with the work
	holds  bool    // with the work

	without   effect.Without
	confirmed bool
	doubted   effect.Why // why it shows nothing although it was red and is green, "" where it does
	at        []string   // the places of the work that are the reason
}

func (s *subject) whole() bool     { return s.test.Name == testrun.Name{} }
func (s *subject) asItWas() bool   { return s.was }
func (s *subject) withTests() bool { return !s.was }

// greenBefore reports whether it held without the work.
func (s *subject) greenBefore() bool {
	return s.known == effect.WithoutGreen || s.known == "" && s.before[0].end == testrun.Passed
}

// failed reports whether it does not hold with the work. What could be run neither without the work nor with it says
// nothing of the work.
func (s *subject) failed() bool {
	return !s.holds && (s.without != effect.WithoutMachine || !s.after.late && !s.after.machine)
}

// red reports whether it failed without the work.
func (s *subject) red() bool { return len(s.before) > 0 && s.before[0].end == testrun.Failed }

// subject returns the subject for a test of a check, or for the whole of it, as often as it is asked for.
func (p *proving) subject(c effect.Check, t testlist.Test, was bool) *subject {
	for _, s := range p.subjects {
		if effect.CheckKey(s.check) == effect.CheckKey(c) && s.test.Name == t.Name && s.was == was {
			return s
		}
	}
	s := &subject{check: c, test: t, was: was}
	if s.whole() {
		s.known = p.known(c)
	}
	p.subjects = append(p.subjects, s)
	return s
}

// known is how a check is known to end without the work, "" where it is not.
func (p *proving) known(c effect.Check) effect.Without {
	if slices.Contains(p.Green, effect.CheckKey(c)) {
		return effect.WithoutGreen
	}
	return p.Red[effect.CheckKey(c)]
}

const (
	kindTest   = "test"
	kindBuild  = "build"
	kindCustom = "custom"
)

func isBuild(c effect.Check) bool { return c.Kind == kindBuild }
func isTests(c effect.Check) bool { return c.Kind == kindTest || c.Kind == kindCustom }

// fixture matches what tests compare with, by the folder that holds it.
var fixture = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.*?)(?:^|/)(?:testdata|fixtures|__fixtures__|__snapshots__)/`)
})

// scriptTest matches the names under which Node finds tests, besides those that are matched everywhere.
var scriptTest = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|/)test-[^/]*\.[cm]?[jt]s$|-test\.[cm]?[jt]s$`)
})

// isTest reports whether a file is a test or belongs to tests, by its path.
func isTest(file string) bool {
	return verify.Judges(file) || scriptTest().MatchString(file) || path.Base(file) == "conftest.py" ||
		fixture().MatchString(file)
}

// ownTests picks the tests of a check that the work added or changed: those whose source is another one, and those of
// files in which something besides the tests changed, or beside what they compare with.
func (p *proving) ownTests(c effect.Check, before, now []testlist.Test) []testlist.Test {
	texts := p.bench.texts()
	had, has := sources(before), sources(now)
	compared := map[string]bool{}
	var touched []string
	for _, f := range p.result.Changed {
		if m := fixture().FindStringSubmatch(f.Path); m != nil {
			compared[path.Clean(m[1])] = true
		} else if isTest(f.Path) {
			was, is := rest(p.before[f.Path], before, f.Path, c), rest(texts[f.Path], now, f.Path, c)
			if was != is {
				touched = append(touched, f.Path)
				p.beside[beside{effect.CheckKey(c), f.Path}] = cut.Added(was, is)
			}
		}
	}
	var out []testlist.Test
	for _, t := range now {
		file := path.Join(c.Dir, t.Path)
		if had[t.Name] != has[t.Name] || slices.Contains(touched, file) || compared[path.Dir(file)] {
			out = append(out, t)
		}
	}
	return out
}

// beside names a file of tests, as a check sees it.
type beside struct{ check, file string }

// sources maps tests to what they say, those of one name together.
func sources(tests []testlist.Test) map[testrun.Name]string {
	out := map[testrun.Name]string{}
	for _, t := range tests {
		out[t.Name] += strings.TrimSpace(t.Source) + "\n"
	}
	return out
}

// importing matches lines that bring other code into a file, or say nothing.
var importing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(import|from|package)\b|^\s*[\w.]*\s*"[^"]*"\s*$|\brequire\(|` +
		`^\s*[()]?\s*(//.*|#.*)?$`)
})

// rest is what a file of tests says besides them.
func rest(text string, tests []testlist.Test, file string, c effect.Check) string {
	for _, t := range tests {
		if path.Join(c.Dir, t.Path) == file && t.Source != "" {
			text = strings.Replace(text, t.Source, "", 1)
		}
	}
	var out []string
	for line := range strings.Lines(text) {
		if !importing().MatchString(line) {
			out = append(out, strings.TrimRight(line, " \t\r\n"))
		}
	}
	return strings.Join(out, "\n")
}

// tryAll runs the subjects of one kind without the work: those that fail are run twice, as far as they build.
func (p *proving) tryAll(ctx context.Context, wanted func(*subject) bool) error {
	var list []*subject
	for _, s := range p.subjects {
		if wanted(s) && s.known == "" {
			list = append(list, s)
		}
	}
	if err := p.bench.try(ctx, list, func(s *subject, seen sight) { s.before = append(s.before, seen) }); err != nil {
		return err
	}
	var again []*subject
	for _, s := range list {
		if s.whole() && !s.was && len(s.before[0].red) > 0 {
			again = append(again, p.split(s)...)
		} else if s.before[0].end == testrun.Failed && !s.before[0].late {
			again = append(again, s)
		}
	}
	return p.bench.try(ctx, again, func(s *subject, seen sight) { s.before = append(s.before, seen) })
}

// split has the tests that failed in a run of a whole check stand for it, so that they alone are tried from then on.
func (p *proving) split(s *subject) []*subject {
	tests := verify.Tests(verify.OpenDir, p.bench.place, s.check)
	var out []*subject
	for _, t := range tests {
		if slices.Contains(s.before[0].red, t.Name) && len(out) < maxSplit {
			of := p.subject(s.check, t, false)
			if seen := s.before[0]; len(of.before) == 0 {
				seen.end, seen.said, seen.red = testrun.Failed, seen.failing[t.Name], nil
				seen.print = p.bench.print(s.check, seen)
				of.before = []sight{seen}
				out = append(out, of)
			}
		}
	}
	if len(out) == 0 {
		return []*subject{s}
	}
	p.subjects = slices.DeleteFunc(p.subjects, func(o *subject) bool { return o == s })
	for i := range p.claims {
		c := &p.claims[i]
		if slices.Contains(c.subjects, s) {
			others := slices.DeleteFunc(slices.Clone(c.subjects), func(o *subject) bool { return o == s })
			c.subjects = append(others, out...)
		}
	}
	return out
}

// maxSplit bounds the tests that stand for a check.
const maxSplit = 50

// tryWith runs with the work what can show something.
func (p *proving) tryWith(ctx context.Context) error {
	declared := p.bench.declared()
	var list []*subject
	for _, s := range p.subjects {
		here := func(t testlist.Test) bool { return t.Name == s.test.Name }
		s.gone = !s.whole() && !slices.ContainsFunc(declared[effect.CheckKey(s.check)], here)
		there := names(declared[effect.CheckKey(s.check)])
		for _, name := range s.tests {
			if !slices.Contains(there, name) {
				s.lost = cmp.Or(s.lost, name)
			}
		}
		switch passed := slices.ContainsFunc(p.Checks, func(c effect.Check) bool {
			return effect.CheckKey(c) == effect.CheckKey(s.check)
		}); {
		case s.gone:
		case s.whole() && passed && s.greenBefore():
			s.holds = true // it passed, before and after: nothing about it is in doubt
		default:
			list = append(list, s)
			if !passed { // it never ran with the work
				list = append(list, s)
			}
		}
	}
	return p.bench.try(ctx, list, func(s *subject, seen sight) {
		s.holds = seen.end == testrun.Passed && (!s.tried || s.holds)
		s.after, s.tried = seen, true
	})
}

// build has the project's builds run, where its checks need what they leave.
func (p *proving) build(ctx context.Context) (err error) {
	if p.builds {
		p.broken, err = p.bench.broken(ctx)
	}
	return err
}

// judge says how each subject ended without the work.
func (p *proving) judge() {
	for _, s := range p.subjects {
		if s.without = s.known; s.known != "" {
			continue
		}
		s.without = p.reasons.reason(s, s.before[0])
		if len(s.before) > 1 && (s.before[0].print != s.before[1].print ||
			p.reasons.reason(s, s.before[1]) != s.without) {
			s.without = effect.WithoutFlickers
		}
		if s.without == effect.WithoutUnmet && p.unbuilt && !s.was {
			s.without = effect.WithoutBuild // it had nothing to run
		}
	}
}
