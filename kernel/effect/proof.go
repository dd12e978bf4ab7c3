package effect

import (
	"slices"
	"strconv"
	"time"

	"pawl"
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
	// Goal is what the work was to reach, in the words of whoever asked for it.
	Goal string `json:"goal,omitempty"`
	// Criteria are those of the plan that can be tried: with proofs check, kept, gone, diff and test.
	Criteria []plan.Criterion `json:"criteria,omitempty"`
	PerCheck time.Duration    `json:"per_check"`
	// Budget bounds the time in which parts of the work are taken away; with 0 none is.
	Budget time.Duration `json:"budget"`
	// Objections have their tests run on Tree, each alone, instead of all else: the witnesses bear their ids, and
	// Without says how each ended.
	Objections []Objection `json:"objections,omitempty"`
}

// ProveResult is what was seen.
type ProveResult struct {
	Tree string `json:"tree"`
	// Changed are the files in which Tree differs from Base.
	Changed   []FileStat `json:"changed,omitempty"`
	Witnesses []Witness  `json:"witnesses,omitempty"`
	Parts     []Part     `json:"parts,omitempty"`
	// Unreached counts the parts for which no time was left.
	Unreached int `json:"unreached,omitempty"`
	// Measured says that checks told which lines they ran, and Unrun are those that the work changed and none of them
	// ran, at most MaxUnrun.
	Measured   bool    `json:"measured,omitempty"`
	Unrun      []Lines `json:"unrun,omitempty"`
	DurationMS int64   `json:"duration_ms"`
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
	// there and does nothing; and of a test that was asked for that it fails where what it is about does nothing.
	Confirmed bool `json:"confirmed,omitempty"`
	// Failed says that it does not hold with the work, or not each time.
	Failed bool `json:"failed,omitempty"`
	// Own says that the work added or changed the test.
	Own bool `json:"own,omitempty"`
	// Doubt says why a test shows nothing although it was red without the work and is green with it: memorised or
	// equality. At are the places of the work that are the reason, at most MaxShown.
	Doubt Why      `json:"doubt,omitempty"`
	At    []string `json:"at,omitempty"`
	// Held says of a test that it came with the plan and was never shown to whoever did the work.
	Held bool `json:"held,omitempty"`
	// Texts are those of the criteria's words that the test, or what it fails on, speaks of.
	Texts []string `json:"texts,omitempty"`
	// Said is the end of what was printed without the work, at most 1 KiB.
	Said string `json:"said,omitempty"`
}

// Shows reports whether something shows that the work was missing before and is there now.
func (w Witness) Shows() bool {
	if w.Doubt != "" {
		return false
	}
	switch w.Without {
	case WithoutAssertion, WithoutUnmet:
		return !w.Failed
	case WithoutBuild:
		return !w.Failed && w.Confirmed
	}
	return false
}

// Name is how a person would call it: the test, or the command.
func (w Witness) Name() string {
	if w.Test != "" {
		return w.Test
	}
	return w.Check
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

// String is the place of the part.
func (p Part) String() string {
	s := p.Path + ":" + strconv.Itoa(p.Line)
	if p.Name != "" {
		s += " " + p.Name
	}
	return s
}

// Lines are lines of a file that no check ran.
type Lines struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	To   int    `json:"to"`
	// Name is that of a function of whose changed lines none ran, "" where others did, and outside of functions.
	Name string `json:"name,omitempty"`
}

// MaxUnrun bounds the places that nothing ran.
const MaxUnrun = 50

// String is the place of the lines.
func (l Lines) String() string {
	s := l.Path + ":" + strconv.Itoa(l.Line)
	if l.To > l.Line {
		s += "-" + strconv.Itoa(l.To)
	}
	if l.Name != "" {
		s += " " + l.Name
	}
	return s
}

// Verdict says what became of what was wanted.
type Verdict string

// The verdicts on a run and on each of its criteria. A criterion is never accepted by itself.
const (
	// Proven: it did not hold without the work, and holds with it.
	Proven Verdict = "proven"
	// AlreadySo: it held before, and nothing had to be changed for it.
	AlreadySo Verdict = "already_so"
	// Unproven: nothing shows it.
	Unproven Verdict = "unproven"
	// Accepted: nothing shows it, and a person takes it all the same.
	Accepted Verdict = "accepted"
)

// Why says in one word what a verdict on a criterion comes from; the catalogue has the sentence (proof.WHY).
type Why string

// The reasons. They are append-only.
const (
	WhyRedGreen   Why = "red_green"       // a check failed without the work and passes with it
	WhyKept       Why = "kept"            // the tests that passed before pass, and something changed
	WhyGone       Why = "gone"            // it was there and is not
	WhyDiff       Why = "diff"            // the files say what they have to say
	WhyAsApproved Why = "as_approved"     // the calls that a person approved were carried out, as they are
	WhyBefore     Why = "green_before"    // it held before the work
	WhyNothing    Why = "nothing_changed" // the work changed nothing
	WhyNoWitness  Why = "no_witness"      // no check was red without the work
	WhyElsewhere  Why = "elsewhere"       // what was red and is green speaks of something else
	WhyHollow     Why = "hollow"          // it is red without the work only because a name is missing
	WhyFlickers   Why = "flickers"        // two runs did not agree
	WhyMachine    Why = "machine"         // it could not be run
	WhyAbsent     Why = "absent"          // the test that the plan names is not there
	WhyNotMet     Why = "not_met"         // it does not hold with the work
	WhyHeldOut    Why = "held_out"        // it holds for the cases that were shown, and not for others
	WhyNoTests    Why = "no_tests"        // no test ran that could show that nothing was lost
	WhyPerson     Why = "person"          // only a person can say so
	WhyReview     Why = "review"          // a reviewer can object to it, and proves nothing
	WhyUntried    Why = "untried"         // what was to be tried could not be
	WhyTested     Why = "tested"          // a new test passes, and fails where what it is about does nothing
	WhyIdle       Why = "idle"            // the new tests pass as well where what they are about does nothing
	WhyUnrun      Why = "unrun"           // no check runs what the work changed
	WhyMemorised  Why = "memorised"       // the work answers what its tests ask, and nothing shows that it knows more
	WhyEquality   Why = "equality"        // the work itself says what is equal, and nobody asked for that
	WhyDisputed   Why = "disputed"        // its test was written anew at the word of who works, and no person approved that
)

// Met is the verdict on one criterion.
type Met struct {
	plan.Criterion
	Verdict Verdict `json:"verdict"`
	Why     Why     `json:"why"`
	// Shown names what shows it: tests, commands, paths; or, where nothing does, those that do not, or the places of
	// the work that are the reason. At most MaxShown.
	Shown []string `json:"shown,omitempty"`
}

// MaxShown bounds the names of what shows a criterion.
const MaxShown = 20

// Proof is what became of all that was wanted of a task, on one tree.
type Proof struct {
	Verdict Verdict `json:"verdict"`
	Tree    string  `json:"tree"`
	// Derived says that the plan names no criteria, so that they were taken from the words of its goal.
	Derived  bool  `json:"derived,omitempty"`
	Criteria []Met `json:"criteria"`
	// Changed counts the files that differ from what the work started from. Unnoticed are the parts that were taken
	// away for once without a check that failed then, and Unreached counts those that were not. The rest of what was
	// seen is in the receipt of the effect.
	Changed   int    `json:"changed"`
	Unnoticed []Part `json:"unnoticed,omitempty"`
	Unreached int    `json:"unreached,omitempty"`
	// Measured says that checks told which lines they ran, and Unrun are those that the work changed and none ran.
	Measured bool    `json:"measured,omitempty"`
	Unrun    []Lines `json:"unrun,omitempty"`
	// By is the person who took the work without proof, with the reason.
	By     pawl.Actor `json:"accepted_by,omitempty"`
	Reason string     `json:"reason,omitempty"`
	At     time.Time  `json:"at"`
}

// Open are the criteria that nothing shows.
func (p *Proof) Open() []Met {
	var out []Met
	for _, c := range p.Criteria {
		if c.Verdict == Unproven {
			out = append(out, c)
		}
	}
	return out
}

// Mendable reports whether who works can do something about what nothing shows. About a disputed test only a person
// can.
func (p *Proof) Mendable() bool {
	return slices.ContainsFunc(p.Open(), func(m Met) bool { return m.Why != WhyDisputed })
}

// Settled reports whether the work on a tree needs no further word about its proof.
func (p *Proof) Settled(tree string) bool { return p != nil && p.Tree == tree && p.Verdict != Unproven }
