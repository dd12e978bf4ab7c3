package prove

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"pawl/driver/prove/cut"
	"pawl/driver/verify"
	"pawl/kernel/effect"
	"pawl/text/testrun"
)

var (
	// unbuilt matches what says that nothing ran because a program did not build.
	unbuilt = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)\[(build|setup) failed\]\s*$|` +
			`^error(\[E\d+\])?: (could not compile|cannot find)|error TS\d+:|COMPILATION ERROR`)
	})
	// compiled matches those where the code itself is the reason.
	compiled = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)\[build failed\]\s*$|could not compile|error TS\d+:|COMPILATION ERROR`)
	})
	// imports matches the want of a module, and symbols that of a name, or of a parameter, in what Python and Node say.
	imports = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(ImportError|ModuleNotFoundError)\b.*|Cannot find (module|package) .*|` +
			`does not provide an export named .*|(cannot find|no required) (package|module) .*|` +
			`package \S+ is not in std.*`)
	})
	symbols = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(AttributeError|NameError|ReferenceError)\b.*|` +
			`TypeError\b.* is not a (function|constructor).*|` +
			`TypeError\b.*(unexpected keyword argument|positional argument).*|` +
			`Cannot read properties of undefined.*`)
	})
)

// reasons says why something failed. It holds the names that the work brings, by which a failure for want of them is
// known.
type reasons map[string]bool

func newReasons(changed []effect.FileStat, before, now map[string]string) reasons {
	r := reasons{}
	for _, f := range changed {
		if isTest(f.Path) || f.Status == "D" {
			continue
		}
		for n := range cut.Names(cut.Added(before[f.Path], now[f.Path])) {
			r[n] = true
		}
		if f.Status == "A" {
			for n := range cut.Names(strings.TrimSuffix(f.Path, path.Ext(f.Path))) {
				r[n] = true
			}
		}
	}
	return r
}

func builds(output string) bool { return unbuilt().MatchString(output) }

// reason says how a subject ended without the work, as far as one run shows.
func (r reasons) reason(s *subject, seen sight) effect.Without {
	switch {
	case seen.end == testrun.Passed, seen.end == testrun.Skipped, seen.end == testrun.Excused:
		return effect.WithoutGreen
	case s.whole():
		return r.reasonOfWhole(seen)
	case seen.end == testrun.Failed:
		return r.reasonOf(seen.said)
	case seen.late:
		return effect.WithoutMachine
	}
	return r.reasonOfSilence(seen.output)
}

// reasonOfWhole is that of a whole check: its tests say more than its exit status.
func (r reasons) reasonOfWhole(seen sight) effect.Without {
	if len(seen.red) > 0 {
		best := effect.WithoutMachine
		for _, n := range seen.red {
			switch is := r.reasonOf(seen.failing[n]); is {
			case effect.WithoutAssertion:
				return is
			case effect.WithoutBuild:
				best = is
			}
		}
		return best
	}
	if seen.late || seen.machine && r.reasonOfSilence(seen.output) != effect.WithoutBuild {
		return effect.WithoutMachine
	}
	if builds(seen.output) || imports().MatchString(seen.output) {
		return r.reasonOfSilence(seen.output)
	}
	return effect.WithoutUnmet
}

// reasonOf is that of a test that ran and failed, by what it failed on.
func (r reasons) reasonOf(said string) effect.Without {
	missing := imports().FindString(said)
	switch {
	case missing != "" && r.brings(missing):
		return effect.WithoutBuild
	case missing != "" || verify.Environmental(said):
		return effect.WithoutMachine
	case r.brings(symbols().FindString(said)):
		return effect.WithoutBuild
	}
	return effect.WithoutAssertion
}

// reasonOfSilence is that of a test of which nothing was heard, by what was printed.
func (r reasons) reasonOfSilence(output string) effect.Without {
	if compiled().MatchString(output) {
		return effect.WithoutBuild
	}
	for _, kind := range []*regexp.Regexp{imports(), symbols()} {
		for _, missing := range kind.FindAllString(output, -1) {
			if r.brings(missing) {
				return effect.WithoutBuild
			}
		}
	}
	return effect.WithoutMachine
}

var (
	quoted   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("['\"`]([^'\"`]+)['\"`]") })
	unquoted = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`([\w$]+) is not (?:a |defined)|([\w$]+)\(\)|package ([^\s;]+)`)
	})
	script = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.([cm]?[jt]sx?|py)$`) })
)

// brings reports whether what a complaint finds missing is something that the work brings.
func (r reasons) brings(complaint string) bool {
	missing := ""
	if all := quoted().FindAllStringSubmatch(complaint, -1); len(all) > 0 {
		if missing = all[0][1]; strings.Contains(complaint, "attribute") {
			missing = all[len(all)-1][1]
		}
	} else if m := unquoted().FindStringSubmatch(complaint); m != nil {
		missing = m[1] + m[2] + m[3]
	}
	missing = script().ReplaceAllString(missing, "")
	return r[missing[1+strings.LastIndexAny(missing, "/.-"):]]
}
