package effect

import "time"

// ReviewSpec asks an agent to look for what is wrong with work whose checks have passed. It can change nothing, and
// proves nothing.
type ReviewSpec struct {
	Agent       string     `json:"agent"`
	Requirement string     `json:"requirement"`
	Answers     []Answered `json:"answers,omitempty"`
	// Lang is the language to object in, "" for the agent's own settings.
	Lang string `json:"lang,omitempty"`
	// Criteria are what had to hold, with what shows each; Checks are the outcomes of the checks, without their output.
	Criteria []Met          `json:"criteria"`
	Checks   []CheckOutcome `json:"checks"`
	// Base is the commit or the tree that the work started from, and Tree the one that passed.
	Base string `json:"base"`
	Tree string `json:"tree"`
	// Files are those that the work changed. Patch is the change itself as far as there is room for it, and Cut are the
	// files that are not in it, or not to their end. All three are looked up when the effect is carried out.
	Files []ReviewedFile `json:"files,omitempty"`
	Patch string         `json:"patch,omitempty"`
	Cut   []string       `json:"cut,omitempty"`
}

// ReviewedFile is a file that the work changed. Lines is how many it has, or had where it is gone; 0 where they cannot
// be counted.
type ReviewedFile struct {
	FileStat
	Lines int `json:"lines"`
}

// ReviewResult is what a reviewer objects to, nothing where it has no objection.
type ReviewResult struct {
	Said
	Objections []Objection `json:"objections,omitempty"`
}

// Objection is one thing that a reviewer finds wrong: at a place of the change, with a test that shows it, or both.
type Objection struct {
	ID string `json:"id,omitempty"`
	// Criterion is the id of what does not hold; File is a file of the change, and Line one of its lines, from 1.
	Criterion string      `json:"criterion,omitempty"`
	File      string      `json:"file,omitempty"`
	Line      int         `json:"line,omitempty"`
	Reason    string      `json:"reason"`
	Test      *ReviewTest `json:"test,omitempty"`
	// Ended is how its test ended on the tree, "" where it was not run: assertion and unmet say that it failed as it
	// should, green that it passed, absent that it could not be put there.
	Ended Without `json:"ended,omitempty"`
}

// ReviewTest is a new file with a test that fails on the work. Run is the command that runs it, "" for the project's
// own checks.
type ReviewTest struct {
	Path    string `json:"path"`
	Content string `json:"content,omitempty"`
	Run     string `json:"run,omitempty"`
}

// Witness reports whether there is something to an objection that can be looked at: a test that fails on the work, or a
// criterion with a place. One whose test passes is refuted.
func (o Objection) Witness() bool {
	return o.Red() || o.Ended != WithoutGreen && o.Criterion != "" && o.File != ""
}

// Red reports whether a test of an objection fails on the work, as it should.
func (o Objection) Red() bool { return o.Ended == WithoutAssertion || o.Ended == WithoutUnmet }

// WorkReview is what became of one look at the work on a tree.
type WorkReview struct {
	Said
	Tree       string      `json:"tree"`
	Objections []Objection `json:"objections,omitempty"`
	// Fault says why the work was not reviewed, nil where it was.
	Fault *Fault `json:"fault,omitempty"`
	// SentBack says that the work went back to its agent for the objections.
	SentBack bool      `json:"sent_back,omitempty"`
	At       time.Time `json:"at"`
}
