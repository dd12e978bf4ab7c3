package triage

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"pawl"
)

// MaxDocument is the largest evaluation that is decoded, in bytes.
const MaxDocument = 1 << 20

//go:embed schema/evaluation.schema.json
var evaluationSchema string

// Schema returns the JSON Schema (draft 2020-12) of an evaluation as a model may write it. It leaves out what only Check can
// see: that evidence is in the text, and that the score is the sum. It ends with a line break and is the same on every call.
func Schema() []byte { return []byte(evaluationSchema) }

// Decode reads an evaluation of text that a model wrote, and returns it checked and completed:
//   - evidence without a range, or whose range does not cover the quote, gets the range of the quote's first place in the
//     text, however the model wrote its blanks and letters' case; the quote becomes the words of the text;
//   - what Detect finds in the text is added to the findings, and a mention that a model made of an action is an action again:
//     a model may find more than pawl, never less;
//   - the risk is high where a finding is an action.
//
// Unknown and repeated members, a second document and everything that Check refuses are CodeInvalid.
func Decode(raw []byte, text string) (Evaluation, error) {
	const op = "triage.Decode"
	if len(raw) > MaxDocument {
		return Evaluation{}, pawl.Fail(pawl.CodeInvalid, "triage.document_too_long", len(raw), MaxDocument).In(op)
	}
	if err := readable(text, op); err != nil {
		return Evaluation{}, err
	}
	if err := unrepeated(raw); err != nil {
		return Evaluation{}, malformed(err)
	}
	var e Evaluation
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return Evaluation{}, malformed(err)
	}
	e.complete(text)
	if err := e.Check(text); err != nil {
		return Evaluation{}, err
	}
	return e, nil
}

func malformed(err error) error {
	return pawl.Fail(pawl.CodeInvalid, "triage.malformed", 1).In("triage.Decode").
		Because(&Malformed{Issues: []Issue{{Key: "triage.syntax", Args: []any{clip(err.Error())}}}})
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
	for i := range e.EHRB[:min(len(e.EHRB), maxFound)] {
		f := &e.EHRB[i]
		f.Quote, f.Span = l.locate(f.Quote, f.Span)
	}
	e.EHRB = join(Detect(text), e.EHRB)
	if e.Dangerous() {
		e.Risk = pawl.RiskHigh
	}
}

// join adds the findings of a model to pawl's own. Where both found the same words, pawl's stands, unless only the model takes
// them for an action.
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

// locate returns the words of the text that a quote means, and where they stand. A quote that is not in the text stays as it
// is, for Check to refuse.
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

// maxNesting bounds the nesting of a document.
const maxNesting = 16

// unrepeated refuses a document that names a member twice, because two readers could read it differently, one that is nested
// too deep, and anything behind the document.
func unrepeated(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	type level struct {
		seen  map[string]bool // nil in a list
		value bool            // the next token is the value of a member
	}
	var open []level
	for {
		t, err := d.Token()
		if err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		top := len(open) - 1
		switch delim, isDelim := t.(json.Delim); {
		case isDelim && (delim == '}' || delim == ']'):
			open = open[:top]
		case top >= 0 && open[top].seen != nil && !open[top].value:
			name, _ := t.(string)
			if open[top].seen[strings.ToLower(name)] {
				return errors.New("the member " + name + " is there twice")
			}
			open[top].seen[strings.ToLower(name)], open[top].value = true, true
			continue
		case isDelim:
			if len(open) == maxNesting {
				return errors.New("nested too deep")
			}
			if top >= 0 {
				open[top].value = false
			}
			l := level{}
			if delim == '{' {
				l.seen = map[string]bool{}
			}
			open = append(open, l)
			continue
		}
		if len(open) == 0 {
			break
		}
		open[len(open)-1].value = false
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is something behind the document")
	}
	return nil
}
