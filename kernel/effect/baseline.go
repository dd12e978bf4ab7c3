package effect

import (
	"maps"
	"slices"
	"time"
)

// Baseline is what pawl's own runs of checks have shown of one tree.
type Baseline struct {
	Tree string    `json:"tree"`
	At   time.Time `json:"at"`
	// Checks maps a check, by its folder and command, to the fingerprint of its failure, "" where it passed.
	Checks map[string]string `json:"checks"`
	// Tests maps a check to what its run said of its tests, where some of them say nothing (TestRun.Doubtful).
	Tests map[string]TestRun `json:"tests,omitempty"`
}

// Baselines are those of the last few trees, newest first.
type Baselines []Baseline

// maxTrees is the number of trees of which is remembered what their checks said: that of the last result, and those
// that a person had checked since.
const maxTrees = 4

// With returns the baselines with what a run of checks has shown of a tree. What the machine is to blame for says
// nothing of the tree.
func (b Baselines) With(v VerifyResult, now time.Time) Baselines {
	if v.Tree == "" || v.Tree != v.TreeAfter {
		return b
	}
	is := Baseline{Tree: v.Tree, At: now, Checks: map[string]string{}, Tests: map[string]TestRun{}}
	if old := b.Of(v.Tree); old != nil {
		maps.Copy(is.Checks, old.Checks)
		maps.Copy(is.Tests, old.Tests)
	}
	for _, o := range v.Outcomes {
		if o.Command != "" && !o.Environment && (o.Status == CheckPassed || o.Status == CheckFailed) {
			is.Checks[CheckKey(o.Check)] = o.Fingerprint
			if delete(is.Tests, CheckKey(o.Check)); o.Tests.Doubtful() {
				is.Tests[CheckKey(o.Check)] = *o.Tests
			}
		}
	}
	others := slices.DeleteFunc(slices.Clone(b), func(k Baseline) bool { return k.Tree == v.Tree })
	return append(Baselines{is}, others[:min(len(others), maxTrees-1)]...)
}

// Of is what is remembered of a tree, or nil.
func (b Baselines) Of(tree string) *Baseline {
	if i := slices.IndexFunc(b, func(k Baseline) bool { return k.Tree == tree }); i >= 0 && tree != "" {
		found := b[i]
		return &found
	}
	return nil
}

// CheckKey tells one check from another wherever it was found.
func CheckKey(c Check) string { return c.Dir + ": " + c.Command }

// Of returns the fingerprint of a check's failure, "" where it passed, and whether the check is known.
func (b *Baseline) Of(c Check) (failure string, known bool) {
	if b == nil {
		return "", false
	}
	failure, known = b.Checks[CheckKey(c)]
	return failure, known
}

// TestsOf is what is known of the tests of a check, as far as some of them say nothing; of what is not known, nothing.
func (b *Baseline) TestsOf(c Check) TestRun {
	if b == nil {
		return TestRun{Whole: true}
	}
	if run, ok := b.Tests[CheckKey(c)]; ok {
		return run
	}
	return TestRun{Whole: true}
}
