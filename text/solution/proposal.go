package solution

import (
	"encoding/json"
	"fmt"
	"strings"

	"pawl/text/pattern"
)

// Type is the seed's 方案类型.
type Type string

// The two types. An overview is only to be read: it never enters DEVELOP.
const (
	Implementation Type = "implementation"
	Overview       Type = "overview"
)

// Priority is how soon a package is looked at, from P0.
type Priority string

// The four priorities.
const (
	P0 Priority = "P0"
	P1 Priority = "P1"
	P2 Priority = "P2"
	P3 Priority = "P3"
)

// Verdict is what became of a decision. Verdicts are kept and append-only.
type Verdict string

// The three verdicts (docs/spec/workflow.md#proposal), and none where a document says none, or several.
const (
	Adopted   Verdict = "✅采纳"
	Abandoned Verdict = "❌废弃"
	Shelved   Verdict = "⏸搁置"
	Undecided Verdict = ""
)

// verdicts are the English forms of the verdicts.
var verdicts = []struct {
	verdict Verdict
	english string
}{{Adopted, "✅adopted"}, {Abandoned, "❌abandoned"}, {Shelved, "⏸shelved"}}

// In returns the verdict as documents of a language say it.
func (v Verdict) In(l Language) string {
	for _, f := range verdicts {
		if f.verdict == v && l == English {
			return f.english
		}
	}
	return string(v)
}

// Proposal is what a proposal.md says. Texts without another type are Markdown of any length in their section; headings
// that would begin another section become text. An empty text of §1 and §2 is written as "none"; the sections behind
// are left out.
type Proposal struct {
	Language Language
	Title    string

	// The metadata. Created is written as it is given; More is what else stands there, without fields whose name is
	// none or is one of the seed's.
	Kind     string
	Type     Type
	Priority Priority
	State    string
	Created  string
	More     []Field

	Background, Goal, Constraints, Acceptance string // §1
	Technical, Impact                         string // §2
	Risks                                     Table  // §2
	Design, Scenarios                         string // §3, §4
	Decisions                                 []Decision
}

// Field is a line of the metadata.
type Field struct{ Name, Value string }

// Decision is a decision of §5. Its id is feature#D001.
type Decision struct {
	ID, Title string
	Verdict   Verdict
	Body      string
	// Line is the decision's line in the file that it was read from.
	Line int
}

// DecisionID names the n-th decision of a feature, from 1.
func DecisionID(feature string, n int) string { return fmt.Sprintf("%s#D%03d", feature, n) }

// Render writes a new proposal.md. Whatever the texts contain, reading it gives the same sections, metadata and
// decisions.
func (p Proposal) Render() string {
	l := p.Language.known()
	var b strings.Builder
	b.WriteString("# " + orDash(oneLine(p.Title)) + "\n\n## " + wordMeta.in(l) + "\n\n```yaml\n")
	if p.Type != Overview {
		p.Type = Implementation
	}
	for _, f := range []struct {
		word  word
		value string
	}{{wordKind, p.Kind}, {wordType, string(p.Type)}, {wordPriority, string(p.Priority)}, {wordState, p.State}} {
		b.WriteString(f.word.in(l) + ": " + plain(f.value) + "\n")
	}
	b.WriteString(wordCreated.in(l) + ": " + quoted(p.Created) + "\n")
	for _, f := range p.More {
		if fieldName(f.Name) {
			b.WriteString(strings.TrimSpace(f.Name) + ": " + quoted(f.Value) + "\n")
		}
	}
	b.WriteString("```\n")
	for _, s := range proposalSections {
		s.write(&b, &p, l)
	}
	if len(p.Decisions) > 0 {
		b.WriteString("\n## 5. " + wordDecisions.in(l) + "\n")
		for i, d := range p.Decisions {
			if !wholeID.Get().MatchString(d.ID) {
				d.ID = DecisionID("", i+1)
			}
			d.write(&b, l)
		}
	}
	return b.String()
}

// section is a section of a proposal: a heading of the second level with parts below it, or with a text of its own.
type section struct {
	number int
	word   word
	needed bool
	parts  []part
	own    func(*Proposal) *string
}

// part is a heading of the third level and where its text stands; the table of risks has none.
type part struct {
	word word
	text func(*Proposal) *string
}

// proposalSections are the sections in their order (docs/spec/workflow.md#proposal).
var proposalSections = []section{
	{number: 1, word: wordNeed, needed: true, parts: []part{
		{wordBackground, func(p *Proposal) *string { return &p.Background }},
		{wordGoal, func(p *Proposal) *string { return &p.Goal }},
		{wordLimits, func(p *Proposal) *string { return &p.Constraints }},
		{wordAcceptance, func(p *Proposal) *string { return &p.Acceptance }},
	}},
	{number: 2, word: wordApproach, needed: true, parts: []part{
		{wordTechnical, func(p *Proposal) *string { return &p.Technical }},
		{wordImpact, func(p *Proposal) *string { return &p.Impact }},
		{wordRisks, nil},
	}},
	{number: 3, word: wordDesign, own: func(p *Proposal) *string { return &p.Design }},
	{number: 4, word: wordScenarios, own: func(p *Proposal) *string { return &p.Scenarios }},
}

// riskHeads are the heads of the table of risks.
var riskHeads = map[Language][]string{Chinese: {"风险", "等级", "应对"}, English: {"Risk", "Level", "Answer"}}

func (s section) write(b *strings.Builder, p *Proposal, l Language) {
	if s.own != nil {
		if text := *s.own(p); strings.TrimSpace(text) != "" {
			fmt.Fprintf(b, "\n## %d. %s\n\n%s\n", s.number, s.word.in(l), block(text, l))
		}
		return
	}
	fmt.Fprintf(b, "\n## %d. %s\n", s.number, s.word.in(l))
	for _, part := range s.parts {
		b.WriteString("\n### " + part.word.in(l) + "\n\n")
		if part.text != nil {
			b.WriteString(block(*part.text(p), l) + "\n")
			continue
		}
		risks := p.Risks
		if len(risks.Header) == 0 {
			risks.Header = riskHeads[l]
		}
		b.WriteString(risks.String())
	}
}

func (d Decision) write(b *strings.Builder, l Language) {
	fmt.Fprintf(b, "\n### %s: %s\n\n- %s: %s\n", d.ID, orDash(oneLine(d.Title)), wordState.in(l),
		orDash(d.Verdict.In(l)))
	if strings.TrimSpace(d.Body) != "" {
		b.WriteString("\n" + block(d.Body, l) + "\n")
	}
}

var wholeID = pattern.New(`^[a-zA-Z0-9\x{4e00}-\x{9fff}_.-]*#D\d{3,6}$`)

var plainForm = pattern.New(`^[\p{L}\p{N}][\p{L}\p{N} _./-]*$`)

// plain writes a word of the metadata as it is, and anything else in quotes.
func plain(s string) string {
	if s = oneLine(s); plainForm.Get().MatchString(s) && !strings.HasPrefix(s, "-") {
		return s
	}
	return quoted(s)
}

// quoted writes a value in double quotes; JSON's are YAML's, too.
func quoted(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(oneLine(s)) // text is always encoded
	return strings.TrimSuffix(b.String(), "\n")
}

var nameOfField = pattern.New(`^[\p{L}_@][\p{L}\p{N} _.-]{0,39}$`)

// fieldName reports whether a name may stand among the metadata without being taken for a field of the seed.
func fieldName(s string) bool {
	s = strings.TrimSpace(s)
	for _, w := range metaWords {
		if w.language(s) != "" {
			return false
		}
	}
	return nameOfField.Get().MatchString(s)
}

// metaWords are the fields of the metadata that the seed names.
var metaWords = []word{wordKind, wordType, wordPriority, wordState, wordCreated}
