package triage

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"pawl"
	"pawl/text/strictjson"
)

// MaxDocument is the largest evaluation that is decoded, in bytes.
const MaxDocument = 1 << 20

// maxNesting bounds the nesting of an evaluation.
const maxNesting = 16

//go:embed schema/evaluation.schema.json
var evaluationSchema string

// Schema returns the JSON Schema (draft 2020-12) of an evaluation as a model may write it. It leaves out what only
// Check can see: that evidence is in the text, and that the score is the sum. It ends with a line break and is the same
// on every call.
func Schema() []byte { return []byte(evaluationSchema) }

// Decode reads an evaluation of text that a model wrote, and returns it checked and completed:
//   - evidence without a range, or whose range does not cover the quote, gets the range of the quote's first place in the
//     text, however the model wrote its blanks and letters' case; the quote becomes the words of the text;
//   - evidence that is not in the text, or is about the judgement itself ("score this 10"), is left out, and a dimension whose
//     points rest on no other is cut to 0 (Unsaid says which); where the requirement is not clear then and the model asks
//     nothing, pawl's own questions are asked;
//   - what Detect finds in the text is added to the findings, and a mention that a model made of an action is an action again:
//     a model may find more than pawl, never less;
//   - the risk is high where a finding is an action;
//   - By and AsIs are not the model's to say, and are empty.
//
// Everything else that Check refuses is CodeInvalid, with the score held against the points as the model gave them, and
// so are unknown and repeated members and a second document.
func Decode(raw []byte, text string) (Evaluation, error) {
	const op = "triage.Decode"
	e, err := read(raw, text, op)
	if err != nil {
		return Evaluation{}, err
	}
	c := &checker{text: text, unfounded: true}
	c.whole(e)
	if err := c.err(op); err != nil {
		return Evaluation{}, err
	}
	e.cut(text)
	return e, nil
}

// Unsaid reports the dimensions that Decode cuts to 0, with the evidence that does not count, so that a model can be
// asked to quote again. It is nil where none is cut, and for what Decode refuses.
func Unsaid(raw []byte, text string) error {
	const op = "triage.Unsaid"
	e, err := read(raw, text, op)
	if err != nil {
		return nil
	}
	c := &checker{text: text}
	g := groundOf(text)
	for i, d := range e.Dimensions {
		if !g.unfounded(d) {
			continue
		}
		path := fmt.Sprintf("dimensions[%d]", i)
		before := c.found.Total()
		c.founded(path, d)
		if c.found.Total() == before {
			c.at(path+".evidence", "triage.to_judge")
		}
	}
	return c.err(op)
}

// read reads a document of the form, and completes what a model may leave out.
func read(raw []byte, text, op string) (Evaluation, error) {
	if len(raw) > MaxDocument {
		return Evaluation{}, pawl.Fail(pawl.CodeInvalid, "triage.document_too_long", len(raw), MaxDocument).In(op)
	}
	if err := readable(text, op); err != nil {
		return Evaluation{}, err
	}
	var e Evaluation
	if err := strictjson.Decode(raw, &e, strictjson.Options{Depth: maxNesting}); err != nil {
		return Evaluation{}, malformed(err)
	}
	e.By, e.AsIs = "", false
	e.complete(text)
	return e, nil
}

// cut takes the points away that rest on words that the user did not say of the work.
func (e *Evaluation) cut(text string) {
	e.Score = 0
	g := groundOf(text)
	for i := range e.Dimensions {
		d := &e.Dimensions[i]
		if g.unfounded(*d) {
			d.Points = 0
		}
		d.Evidence = slices.DeleteFunc(d.Evidence, func(q Evidence) bool { return !g.holds(q) })
		e.Score += d.Points
	}
	if !e.Ready() && len(e.Questions) == 0 {
		e.Questions = e.ask(scorer{folded: fold(text), quotes: quotes(text), class: e.Class}, nil)
	}
}

// ground is what points may rest on: the words of a text, but for those that are about the judgement.
type ground struct {
	text    string
	toJudge []Span
}

func groundOf(text string) ground {
	g := ground{text: text}
	f := fold(text)
	for _, m := range toJudge.Get().FindAllStringIndex(f.text, -1) {
		g.toJudge = append(g.toJudge, f.span(m[0], m[1]))
	}
	return g
}

// holds reports whether the words are those of the text, and something of them is about the work.
func (g ground) holds(q Evidence) bool {
	if q.In(g.text) != q.Quote {
		return false
	}
	says := visible(q.Quote)
	for _, s := range g.toJudge {
		if from, to := max(s.Start, q.Start), min(s.End, q.End); from < to {
			says -= visible(g.text[from:to])
		}
	}
	return says > 0
}

// unfounded reports whether a dimension has points and nothing that they rest on. Points for limits that nobody spoke
// of need nothing.
func (g ground) unfounded(d Dimension) bool {
	if d.Points <= 0 || d.Name == Limits && len(d.Evidence) == 0 {
		return false
	}
	return !slices.ContainsFunc(d.Evidence, g.holds)
}

func malformed(err error) error {
	c := &checker{}
	c.at("", "triage.syntax", clip(err.Error()))
	return c.err("triage.Decode")
}

// complete brings the quotes and findings of a model in line with the text.
func (e *Evaluation) complete(text string) {
	l := locator{text: text}
	for i := range e.Dimensions {
		if e.Dimensions[i].Evidence == nil {
			e.Dimensions[i].Evidence = []Evidence{}
		}
		for j := range e.Dimensions[i].Evidence[:min(len(e.Dimensions[i].Evidence), maxEvidence)] {
			q := &e.Dimensions[i].Evidence[j]
			q.Quote, q.Span = l.locate(q.Quote, q.Span)
		}
	}
	if e.Questions == nil {
		e.Questions = []Question{}
	}
	for i := range e.HighRisk[:min(len(e.HighRisk), maxFound)] {
		f := &e.HighRisk[i]
		f.Quote, f.Span = l.locate(f.Quote, f.Span)
	}
	e.HighRisk = join(Weigh(text), e.HighRisk)
	if e.Dangerous() {
		e.Risk = pawl.RiskHigh
	}
}

// join adds the findings of a model to pawl's own. Where both found the same words, pawl's stands, unless only the
// model takes them for an action.
func join(own, more []Finding) []Finding {
	out := append([]Finding{}, own...)
next:
	for _, f := range more {
		for i := range own {
			if own[i].Kind == f.Kind && own[i].Start < f.End && f.Start < own[i].End {
				if f.Stance == StanceAction {
					out[i].Stance = StanceAction
				}
				continue next
			}
		}
		out = append(out, f)
	}
	return out
}

// locator finds quotes in a text.
type locator struct {
	text   string
	folded *folded
	blank  string // the folded text with single blanks
	at     []int  // where its bytes stand in the folded text
}

// locate returns the words of the text that a quote means, and where they stand. A quote that is not in the text stays
// as it is, for Check to refuse.
func (l *locator) locate(quote string, at Span) (string, Span) {
	if quote == "" || at.In(l.text) == quote || len(quote) > maxQuote {
		return quote, at
	}
	if i := strings.Index(l.text, quote); i >= 0 {
		return quote, Span{i, i + len(quote)}
	}
	if l.folded == nil {
		f := fold(l.text)
		l.folded = &f
		l.blank, l.at = single(f.text)
	}
	want, _ := single(fold(quote).text)
	if want = strings.TrimSpace(want); want == "" {
		return quote, at
	}
	i := strings.Index(l.blank, want)
	if i < 0 {
		return quote, at
	}
	span := l.folded.span(l.at[i], l.at[i+len(want)-1]+1)
	return span.In(l.text), span
}

// single writes rows of blanks as one, and returns where each byte stood.
func single(s string) (string, []int) {
	var b strings.Builder
	var at []int
	blank := false
	for i := range len(s) {
		space := s[i] == ' ' || s[i] == '\n' || s[i] == '\t'
		switch {
		case !space:
			b.WriteByte(s[i])
			at = append(at, i)
		case !blank:
			b.WriteByte(' ')
			at = append(at, i)
		}
		blank = space
	}
	return b.String(), at
}
