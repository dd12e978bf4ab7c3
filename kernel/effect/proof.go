package effect

import (
	"time"

	"pawl/text/plan"
)

// ProveSpec is the spec of KindProve: it asks what shows that the work did what was wanted, by trying the same with and
// without the work. Everything runs on copies beside the task's tree, which are gone afterwards.
type ProveSpec struct {
	// Base is the commit, or the tree in the task's store, that the work started from, and Tree the tree that passed.
	Base string `json:"base"`
	Tree string `json:"tree"`
	// Checks are the checks that passed on Tree. They have passed there once: only what is doubted runs there again.
	Checks []Check `json:"checks,omitempty"`
	// Red maps the keys (CheckKey) of checks that are known to have failed on Base to how they failed, as a check that
	// was run there before shows; Green are the keys of those that are known to have passed there. What is in neither
	// is found out where it matters.
	Red   map[string]Without `json:"red,omitempty"`
	Green []string           `json:"green,omitempty"`
	// Criteria are those of the plan that can be tried: with proofs check, kept, gone and diff.
	Criteria []plan.Criterion `json:"criteria,omitempty"`
	PerCheck time.Duration    `json:"per_check"`
	// Budget bounds the time in which parts of the work are taken away; with 0 none is.
	Budget time.Duration `json:"budget"`
}

// ProveResult is what was seen.
type ProveResult struct {
	Tree string `json:"tree"`
	// Changed are the files in which Tree differs from Base.
	Changed   []FileStat `json:"changed,omitempty"`
	Witnesses []Witness  `json:"witnesses,omitempty"`
	Parts     []Part     `json:"parts,omitempty"`
	// Unreached counts the parts for which no time was left.
	Unreached  int   `json:"unreached,omitempty"`
	DurationMS int64 `json:"duration_ms"`
}

// Without is how something ended without the work.
type Without string

// The ends. Only assertion, build where it is confirmed, and unmet say that the work was missing.
const (
	WithoutGreen     Without = "green"     // it held already
	WithoutAssertion Without = "assertion" // a test ran and was not met
	WithoutBuild     Without = "build"     // it did not build, or a name was missing
	WithoutUnmet     Without = "unmet"     // a command failed, or a state of files did not hold
	WithoutMachine   Without = "machine"   // the machine was the reason, or the time ran out
	WithoutFlickers  Without = "flickers"  // two runs did not agree
	WithoutAbsent    Without = "absent"    // the test that was named is not there with the work either
)

// Witness is a test, a command or a state of files, with how it was without the work. With the work it holds, unless
// Failed says otherwise.
type Witness struct {
	// Criterion is the id of the criterion that names it, "" for a test or check of the project's own.
	Criterion string `json:"criterion,omitempty"`
	// Check is the name of the check or the command that ran, and Kind its kind ("test", "lint", "build", …, "files").
	Check string `json:"check,omitempty"`
	Kind  string `json:"kind,omitempty"`
	// Test is the name of one test, "" for the whole.
	Test    string  `json:"test,omitempty"`
	Without Without `json:"without"`
	// Confirmed says of one that did not build without the work that it fails as well where what the work added is
	// there and does nothing.
	Confirmed bool `json:"confirmed,omitempty"`
	// Failed says that it does not hold with the work, or not each time.
	Failed bool `json:"failed,omitempty"`
	// Own says that the work added or changed the test.
	Own bool `json:"own,omitempty"`
	// Texts are those of the criteria's words that the test, or what it fails on, speaks of.
	Texts []string `json:"texts,omitempty"`
	// Said is the end of what was printed without the work, at most 1 KiB.
	Said string `json:"said,omitempty"`
}

// Shows reports whether something shows that the work was missing before and is there now.
func (w Witness) Shows() bool {
	switch w.Without {
	case WithoutAssertion, WithoutUnmet:
		return !w.Failed
	case WithoutBuild:
		return !w.Failed && w.Confirmed
	}
	return false
}

// Part is a part of the work that was taken away for once: the body of a function, or a hunk of a file.
type Part struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	// Name is that of the function, "" for a hunk.
	Name string `json:"name,omitempty"`
	// Noticed says that something failed then, which By names.
	Noticed bool   `json:"noticed"`
	By      string `json:"by,omitempty"`
}
