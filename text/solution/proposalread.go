package solution

import (
	"encoding/json"
	"slices"
	"strings"

	"pawl/text/markdown"
	"pawl/text/pattern"

	"pawl"
)

// ProposalFile is what a proposal.md says.
type ProposalFile struct {
	Proposal
	// IDs are the ids of all decisions that are named anywhere in the prose, each once, as they are written.
	IDs []string
	// Warnings are oddities that do not keep the file from being used.
	Warnings []pawl.Problem
}

// ReadProposal reads a proposal.md. The error is of CodeInvalid; its cause is a *Broken with every problem and its
// line: text that is not UTF-8, too large or empty, a missing §1 or §2, a type of package that there is not, a decision
// that is made twice, a block that nothing ends.
func ReadProposal(data []byte) (*ProposalFile, error) {
	f, issues := readProposal(data)
	if err := broken("solution.ReadProposal", ProposalName, issues); err != nil {
		return nil, err
	}
	return f, nil
}

func readProposal(data []byte) (*ProposalFile, []pawl.Problem) {
	if bad, ok := unusable(ProposalName, data); ok {
		return &ProposalFile{Proposal: Proposal{Type: Implementation}}, []pawl.Problem{bad}
	}
	return readProposalText(markdown.TextOf(string(data)))
}

// proposalReader reads a file from its first line to its last.
type proposalReader struct {
	file   *ProposalFile
	issues findings
	odd    findings // the warnings
	titled bool
	meta   bool     // within the metadata's section
	where  *section // the section of the second level, nil in an unknown one
	in     *string  // where the text of the part goes, nil in an unknown one
	risky  bool     // within the table of risks
	chosen bool     // within the decisions
	choice bool     // within one of them, the last that was read
	typed  bool     // the metadata say the type
	lines  []string // of the part
	risks  []markdown.Row
	words  []markdown.Row // lines of the decision
	seen   map[int]bool
	ids    map[string]bool
	spoken Language
}

func readProposalText(t markdown.Text) (*ProposalFile, []pawl.Problem) {
	r := &proposalReader{
		file: &ProposalFile{}, seen: map[int]bool{}, ids: map[string]bool{},
		issues: findings{file: ProposalName}, odd: findings{file: ProposalName},
	}
	r.file.Type = Implementation
	rows, open := rows(t)
	for _, row := range rows {
		r.row(row)
	}
	r.end()
	if open > 0 {
		r.issue(open, "solution.not_ended")
	}
	r.file.Risks = tableOf(r.risks)
	for _, s := range proposalSections {
		if s.needed && !r.seen[s.number] {
			r.issue(0, "solution.no_section", s.word.zh, s.word.en)
		}
	}
	if !r.typed {
		r.warn(0, "solution.no_type")
	}
	if r.file.Language = r.spoken; r.spoken == "" {
		r.file.Language = languageOf(t.String())
	}
	r.decided()
	r.file.Warnings = r.odd.all()
	return r.file, r.issues.all()
}

func (r *proposalReader) issue(line int, key string, args ...any) { r.issues.add(line, key, args...) }

func (r *proposalReader) warn(line int, key string, args ...any) { r.odd.add(line, key, args...) }

func (r *proposalReader) hear(l Language) bool {
	if r.spoken == "" {
		r.spoken = l
	}
	return l != ""
}

var idForm = pattern.New(`([a-zA-Z0-9\x{4e00}-\x{9fff}_.-]*)#D(\d{3,6})`)

func (r *proposalReader) row(row markdown.Row) {
	if row.Kind == markdown.Prose {
		for _, id := range idForm.Get().FindAllString(row.Text, -1) {
			if !r.ids[id] && len(r.ids) < MaxTasks {
				r.ids[id] = true
				r.file.IDs = append(r.file.IDs, id)
			}
		}
		if strings.ContainsFunc(row.Text, Concealed) {
			r.warn(row.N, "solution.concealed")
		}
		if level, title := row.Heading(); level > 0 && level <= 3 {
			r.heading(row.N, level, title)
			return
		}
	}
	if r.meta && row.Kind != markdown.Comment && row.Kind != markdown.Border {
		r.field(row)
	}
	switch {
	case r.risky:
		r.risks = append(r.risks, row)
	case r.choice:
		r.words = append(r.words, row)
	case r.in != nil:
		r.lines = append(r.lines, row.Text)
	}
}

// end closes the part that goes before a heading.
func (r *proposalReader) end() {
	if r.in != nil {
		if s := unblock(r.lines); *r.in == "" {
			*r.in = s
		}
	}
	if r.choice {
		r.file.Decisions[len(r.file.Decisions)-1].read(r.words)
	}
	r.in, r.lines, r.words, r.risky, r.choice = nil, nil, nil, false, false
}

func (r *proposalReader) heading(n, level int, title string) {
	r.end()
	switch level {
	case 1:
		if !r.titled {
			r.file.Title, r.titled = title, true
		}
		r.meta, r.where, r.chosen = false, nil, false
	case 2:
		r.where = nil
		r.meta, r.chosen = r.hear(wordMeta.heads(title)), r.hear(wordDecisions.heads(title))
		for i := range proposalSections {
			if s := &proposalSections[i]; r.hear(s.word.heads(title)) {
				r.where = s
				r.seen[s.number] = true
				if s.own != nil {
					r.in = s.own(&r.file.Proposal)
				}
			}
		}
	case 3:
		r.meta = false
		r.third(n, title)
	}
}

// third reads a heading of the third level: a part of a section, or a decision.
func (r *proposalReader) third(n int, title string) {
	if m := idForm.Get().FindStringSubmatchIndex(title); m != nil && r.chosen {
		d := Decision{ID: title[m[0]:m[1]], Line: n,
			Title: strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(title[m[1]:]), ":："))}
		r.file.Decisions, r.choice = append(r.file.Decisions, d), true
		return
	}
	if r.where == nil {
		return
	}
	for _, part := range r.where.parts {
		if !r.hear(part.word.heads(title)) {
			continue
		}
		if part.text == nil {
			r.risky = len(r.risks) == 0
			return
		}
		r.in = part.text(&r.file.Proposal)
	}
}

// field reads a line of the metadata.
func (r *proposalReader) field(row markdown.Row) {
	m := fieldForm.Get().FindStringSubmatch(strings.TrimLeft(row.Text, "-* \t"))
	if m == nil {
		return
	}
	name, value := strings.Trim(m[2], "*"), unquoted(strings.TrimSpace(strings.Trim(m[3], "*")))
	at := slices.IndexFunc(metaWords, func(w word) bool { return r.hear(w.language(name)) })
	if at < 0 {
		if row.Kind == markdown.Code {
			r.file.More = append(r.file.More, Field{name, value})
		}
		return
	}
	p := &r.file.Proposal
	switch metaWords[at].zh {
	case wordKind.zh:
		p.Kind = value
	case wordState.zh:
		p.State = value
	case wordCreated.zh:
		p.Created = value
	case wordPriority.zh:
		if p.Priority = Priority(strings.ToUpper(value)); !slices.Contains([]Priority{P0, P1, P2, P3, ""}, p.Priority) {
			r.warn(row.N, "solution.bad_priority", Clip(visible(value), 40))
		}
	case wordType.zh:
		r.typed = true
		if p.Type = Type(strings.ToLower(value)); p.Type != Implementation && p.Type != Overview {
			r.issue(row.N, "solution.bad_type", Clip(visible(value), 40))
			p.Type = Implementation
		}
	}
}

// unquoted reads a value of the metadata.
func unquoted(s string) string {
	var out string
	switch {
	case strings.HasPrefix(s, `"`) && json.Unmarshal([]byte(s), &out) == nil:
		return out
	case len(s) > 1 && s[0] == '\'' && s[len(s)-1] == '\'':
		return strings.ReplaceAll(s[1:len(s)-1], "''", "'")
	}
	if i := strings.Index(s, " #"); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSpace(s)
}

// read takes the verdict and the text of a decision from the lines below its heading.
func (d *Decision) read(rows []markdown.Row) {
	var body []string
	for _, row := range rows {
		m := fieldForm.Get().FindStringSubmatch(strings.TrimLeft(row.Text, "-* \t"))
		if d.Verdict == Undecided && row.Kind == markdown.Prose && m != nil &&
			wordState.language(strings.Trim(m[2], "* ")) != "" {
			d.Verdict = verdictOf(m[3])
			continue
		}
		body = append(body, row.Text)
	}
	d.Body = unblock(body)
}

// verdictOf reads a verdict. A line that names several, as a template does, says none.
func verdictOf(s string) Verdict {
	s = bare(s)
	var found Verdict
	for _, f := range verdicts {
		if strings.Contains(s, bare(string(f.verdict))) || strings.Contains(s, f.english) {
			if found != Undecided {
				return Undecided
			}
			found = f.verdict
		}
	}
	return found
}

// decided looks at the decisions.
func (r *proposalReader) decided() {
	lines := map[string]int{}
	for _, d := range r.file.Decisions {
		if first, ok := lines[d.ID]; ok {
			r.issue(d.Line, "solution.same_decision", d.ID, first)
			continue
		}
		lines[d.ID] = d.Line
		if d.Verdict == Undecided {
			r.warn(d.Line, "solution.no_verdict", d.ID)
		}
	}
}
