package triage

import (
	"fmt"
	"slices"
	"strings"

	"pawl"
	"pawl/machine/workflow"
)

// Aspect names one of the four dimensions in which a requirement is scored (docs/spec/workflow.md#evaluation).
type Aspect string

// The four dimensions, in their order.
const (
	Goal     Aspect = "goal"     // 任务目标, 0–3
	Criteria Aspect = "criteria" // 完成标准, 0–3
	Scope    Aspect = "scope"    // 涉及范围, 0–2
	Limits   Aspect = "limits"   // 限制条件, 0–2
)

// Aspects returns the four dimensions in their order.
func Aspects() []Aspect { return []Aspect{Goal, Criteria, Scope, Limits} }

// Most returns the largest number of points of a dimension, and 0 for a name that is none.
func (a Aspect) Most() int {
	switch a {
	case Goal, Criteria:
		return 3
	case Scope, Limits:
		return 2
	}
	return 0
}

// Bounds of an evaluation.
const (
	// PassScore is the score from which a requirement is clear enough.
	PassScore = workflow.PassScore
	// MaxQuestions is how many questions one round asks.
	MaxQuestions = 3

	maxEvidence = 8      // pieces of evidence of one dimension
	maxFound    = 200    // findings of one evaluation
	maxQuestion = 500    // characters of a question
	maxWhy      = 2000   // characters of a reason in words
	maxBy       = 100    // characters of an agent's name
	maxQuote    = 20_000 // characters of a piece of evidence
)

// Class is what kind of work a requirement asks for.
type Class string

// The classes.
const (
	ClassQuestion Class = "question"
	ClassTweak    Class = "tweak"
	ClassFeature  Class = "feature"
	ClassRefactor Class = "refactor"
	ClassBugfix   Class = "bugfix"
	ClassChore    Class = "chore"
)

func classes() []Class {
	return []Class{ClassQuestion, ClassTweak, ClassFeature, ClassRefactor, ClassBugfix, ClassChore}
}

// Evidence are words of the user: Quote is what the range of the text covers.
type Evidence struct {
	Quote string `json:"quote"`
	Span
}

// Dimension is the score in one dimension with the words that it rests on.
type Dimension struct {
	Name     Aspect     `json:"name"`
	Points   int        `json:"points"`
	Evidence []Evidence `json:"evidence"`
}

// Question is one question to the user about what a dimension lacks. A model writes Text; the embedded agent names a
// message of the catalogue by Key and Args. Exactly one of Text and Key is set.
type Question struct {
	About Aspect   `json:"about"`
	Text  string   `json:"text,omitempty"`
	Key   string   `json:"key,omitempty"`
	Args  []string `json:"args,omitempty"`
}

// Answer is the user's answer to a question of an earlier round. An empty Text leaves the question open.
type Answer struct {
	About Aspect `json:"about"`
	Text  string `json:"text"`
}

// ByPawl is the Evaluation.By of Evaluate.
const ByPawl = "pawl"

// Evaluation is the judgement on one requirement, as the embedded agent and a model both give it. It is about a text
// that it does not hold: Merge returns that text.
type Evaluation struct {
	// By says who judged: ByPawl, or the name of the agent whose model did. No document says it of itself: who calls
	// Decode knows.
	By    string    `json:"by,omitempty"`
	Class Class     `json:"class"`
	Score int       `json:"score"` // 0 to 10, the sum of the dimensions' points
	Risk  pawl.Risk `json:"risk"`
	// Dimensions are the four dimensions in their order.
	Dimensions []Dimension `json:"dimensions"`
	// Questions are one to three where the score is below 7 and AsIs does not hold, and none otherwise.
	Questions []Question `json:"questions"`
	// AsIs says that the person goes on with what there is, so that nothing is asked whatever the score is.
	AsIs bool `json:"as_is,omitempty"`
	// Factors decide the path; the path itself is pawl's to compute (Factors.Path).
	Factors Factors `json:"factors"`
	// HighRisk are the findings of extremely high risk. What Detect finds in the text is always among those of a
	// checked document.
	HighRisk []Finding `json:"ehrb"`
	// Why is what a model says of its judgement; the embedded agent says nothing.
	Why string `json:"why,omitempty"`
}

// Points returns the points in a dimension.
func (e Evaluation) Points(a Aspect) int {
	for _, d := range e.Dimensions {
		if d.Name == a {
			return d.Points
		}
	}
	return 0
}

// Ready reports whether the requirement is clear enough to be planned.
func (e Evaluation) Ready() bool { return e.Score >= PassScore }

// GoOn returns the evaluation for a person who goes on with what there is: the judgement stays, and nothing is asked.
func (e Evaluation) GoOn() Evaluation {
	e.AsIs, e.Questions = true, []Question{}
	return e
}

// Dangerous reports whether a finding is about something that would be done, rather than only mentioned.
func (e Evaluation) Dangerous() bool { return Acts(e.HighRisk) }

// Merge returns the text that is evaluated: the requirement, and behind it the user's answers, each on lines of its
// own. The questions are not part of it, because they are nobody's evidence.
func Merge(requirement string, answers []Answer) string {
	text, _ := merge(requirement, answers)
	return text
}

// merge also returns where each answer stands; an empty answer stands nowhere.
func merge(requirement string, answers []Answer) (string, []Span) {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(requirement))
	at := make([]Span, len(answers))
	for i, a := range answers {
		if text := strings.TrimSpace(a.Text); text != "" {
			b.WriteString("\n\n")
			at[i] = Span{b.Len(), b.Len() + len(text)}
			b.WriteString(text)
		}
	}
	return b.String(), at
}

// Check reports everything that makes an evaluation of text unusable: dimensions that are missing, repeated or have too
// many points, a score that is not their sum, points without evidence, evidence that is not in the text, questions
// where none are to be asked or none where some are, words that are no words. Points for limits need no evidence,
// because a requirement without obvious limits may have them all. The error is CodeInvalid, its cause a *Malformed with
// every problem.
func (e Evaluation) Check(text string) error {
	c := &checker{text: text}
	c.whole(e)
	return c.err("triage.Check")
}

// whole checks all of an evaluation.
func (c *checker) whole(e Evaluation) {
	choice(c, "class", e.Class, classes())
	choice(c, "risk", e.Risk, []pawl.Risk{pawl.RiskLow, pawl.RiskMedium, pawl.RiskHigh})
	c.dimensions(e)
	c.questions(e)
	c.factors(e.Factors)
	if len(e.HighRisk) > maxFound {
		c.at("ehrb", "triage.too_many", len(e.HighRisk), maxFound)
	}
	for i, f := range e.HighRisk[:min(len(e.HighRisk), maxFound)] {
		path := fmt.Sprintf("ehrb[%d]", i)
		choice(c, path+".kind", f.Kind, Kinds())
		choice(c, path+".stance", f.Stance, []Stance{StanceAction, StanceMention, StanceUnsure})
		c.evidence(path, Evidence{f.Quote, f.Span})
	}
	c.prose("why", e.Why, maxWhy, false)
	c.prose("by", e.By, maxBy, false)
}

// checker collects the problems of a document.
type checker struct {
	text string
	// unfounded leaves evidence of the dimensions unchecked, which Decode mends itself.
	unfounded bool
	found     pawl.Problems
}

func (c *checker) at(field, key string, args ...any) {
	c.found.Add(pawl.Problem{Field: field, Key: key, Args: args})
}

func (c *checker) err(op string) error {
	if c.found.Total() == 0 {
		return nil
	}
	c.found.At, c.found.Whole = "triage.at", "evaluation"
	return pawl.Fail(pawl.CodeInvalid, "triage.malformed", c.found.Total()).In(op).Because(&c.found)
}

func (c *checker) dimensions(e Evaluation) {
	sum := 0
	seen := map[Aspect]bool{}
	if len(e.Dimensions) > len(Aspects()) {
		c.at("dimensions", "triage.too_many", len(e.Dimensions), len(Aspects()))
		return
	}
	for i, d := range e.Dimensions {
		path := fmt.Sprintf("dimensions[%d]", i)
		if d.Name.Most() == 0 {
			choice(c, path+".name", d.Name, Aspects())
			continue
		}
		if seen[d.Name] {
			c.at(path+".name", "triage.repeated", string(d.Name))
		}
		seen[d.Name] = true
		if d.Points < 0 || d.Points > d.Name.Most() {
			c.at(path+".points", "triage.bad_points", d.Points, d.Name.Most())
		}
		sum += d.Points
		if len(d.Evidence) > maxEvidence {
			c.at(path+".evidence", "triage.too_many", len(d.Evidence), maxEvidence)
		}
		if !c.unfounded {
			c.founded(path, d)
		}
	}
	for _, a := range Aspects() {
		if !seen[a] {
			c.at("dimensions", "triage.no_dimension", string(a))
		}
	}
	if e.Score != sum {
		c.at("score", "triage.bad_score", e.Score, sum)
	}
}

// founded checks what the points of a dimension rest on.
func (c *checker) founded(path string, d Dimension) {
	if d.Points > 0 && d.Name != Limits && len(d.Evidence) == 0 {
		c.at(path+".evidence", "triage.no_evidence", d.Points)
	}
	for j, q := range d.Evidence[:min(len(d.Evidence), maxEvidence)] {
		c.evidence(fmt.Sprintf("%s.evidence[%d]", path, j), q)
	}
}

// evidence checks that words are those of the text.
func (c *checker) evidence(path string, q Evidence) {
	switch {
	case visible(q.Quote) == 0:
		c.at(path+".quote", "triage.blank")
	case q.Span.In(c.text) != q.Quote:
		c.at(path+".quote", "triage.not_said", clip(q.Quote))
	}
}

func (c *checker) questions(e Evaluation) {
	switch n := len(e.Questions); {
	case e.AsIs && n > 0:
		c.at("questions", "triage.as_is_questions", n)
		return
	case e.AsIs:
		return
	case e.Ready() && n > 0:
		c.at("questions", "triage.needless_questions", e.Score, PassScore)
		return
	case !e.Ready() && (n == 0 || n > MaxQuestions):
		c.at("questions", "triage.question_count", n, MaxQuestions)
		return
	}
	seen := map[string]bool{}
	for i, q := range e.Questions {
		path := fmt.Sprintf("questions[%d]", i)
		if q.About.Most() == 0 {
			choice(c, path+".about", q.About, Aspects())
		} else if e.Points(q.About) >= q.About.Most() {
			c.at(path+".about", "triage.nothing_missing", string(q.About))
		}
		switch {
		case q.Key == "":
			c.prose(path+".text", q.Text, maxQuestion, true)
		case q.Text != "" || !asks(q.Key, len(q.Args)):
			c.at(path+".key", "triage.bad_value", clip(q.Key), "text")
		}
		for j, a := range q.Args[:min(len(q.Args), 1)] {
			c.prose(fmt.Sprintf("%s.args[%d]", path, j), a, maxQuestion, false)
		}
		same := strings.Join(strings.Fields(fold(string(q.About)+" "+q.Text+q.Key).text), " ")
		if seen[same] {
			c.at(path+".text", "triage.repeated", clip(q.Text+q.Key))
		}
		seen[same] = true
	}
}

func (c *checker) factors(f Factors) {
	choice(c, "factors.design", f.Design, []Design{DesignUnknown, DesignNone, DesignSimple, DesignFull})
	choice(c, "factors.extent", f.Extent, []Extent{ExtentUnknown, ExtentPoint, ExtentLocal, ExtentCross})
}

// prose checks text that a person will read.
func (c *checker) prose(path, s string, most int, needed bool) {
	switch n := len([]rune(s)); {
	case strings.TrimSpace(s) == "" && needed:
		c.at(path, "triage.blank")
	case n > most:
		c.at(path, "triage.prose_too_long", n, most)
	case strings.ContainsFunc(s, unseen):
		c.at(path, "triage.hidden_character")
	}
}

// choice checks that a value is one of its kind.
func choice[T ~string](c *checker, path string, got T, want []T) {
	if slices.Contains(want, got) {
		return
	}
	var names []string
	for _, w := range want {
		if w != "" {
			names = append(names, string(w))
		}
	}
	c.at(path, "triage.bad_value", clip(string(got)), strings.Join(names, ", "))
}
