package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"pawl/text/pattern"
)

// active matches what Markdown would turn into something else than the text itself: markup, links, images, entities and
// escapes. Such text is shown as code, so that what a person sees is what the plan says.
var active = pattern.New("[<\\\\\t]|\\]\\(|&[#A-Za-z]")

// RenderPRD returns the plan as a Markdown document (docs/spec/session.md#prd) that a person can read, edit and
// approve, and that ParsePRD reads back exactly. The header names the plan, its hash and its state. The document holds
// all that the hash covers; nothing of it is hidden when the Markdown is displayed.
func RenderPRD(p Plan, l Labels) string {
	w := &prd{labels: l}
	w.header(p)
	w.line("## 1. " + l.Goals)
	w.line("")
	w.line("### " + l.Goal)
	w.line("")
	if plain(p.Goal) {
		w.line(p.Goal)
	} else {
		w.fence("", "text", p.Goal)
	}
	w.line("")
	w.line("### " + l.Constraints)
	w.line("")
	for _, c := range p.Constraints {
		w.bullet("", "", c)
	}
	w.line("")
	w.line("### " + l.Criteria)
	w.line("")
	for _, c := range p.Criteria {
		w.criterion(c)
	}
	w.line("")
	w.line("## 2. " + l.Specs)
	w.line("")
	w.bullet("", l.Mode, string(p.Verification.Mode))
	w.bullet("", l.Required, strconv.FormatBool(p.Verification.Required))
	w.bullet("", l.StopOnFail, strconv.FormatBool(p.Verification.StopOnFail))
	for _, c := range p.Verification.Commands {
		w.code("", l.Command, c)
	}
	w.line("")
	w.line("## 3. " + l.Tasks)
	w.line("")
	for i, s := range p.Steps {
		w.step(i, s)
	}
	w.line("## 4. " + l.Risks)
	w.line("")
	w.bullet("", l.Risk, string(p.RiskLevel))
	for _, n := range p.Network {
		w.code("", l.Network, n)
	}
	return w.String()
}

type prd struct {
	strings.Builder
	labels Labels
}

func (w *prd) line(s string) {
	w.WriteString(s)
	w.WriteByte('\n')
}

func (w *prd) header(p Plan) {
	l := w.labels
	w.line("# " + l.Title)
	w.line("")
	if p.PlanID != "" {
		w.code("", l.Plan, p.PlanID)
	}
	w.code("", l.Hash, Hash(p))
	w.bullet("", l.Status, l.State)
	if !p.CreatedAt.IsZero() {
		w.bullet("", l.Created, p.CreatedAt.String())
	}
	w.line("")
	if l.Help != "" {
		w.line("> " + strings.ReplaceAll(l.Help, "\n", "\n> "))
		w.line("")
	}
}

func (w *prd) step(i int, s Step) {
	l := w.labels
	w.line(fmt.Sprintf("- [%c] T-%03d: [P0] `%s` %s", mark(s.Status), i+1, s.StepID, inline(s.Title)))
	w.bullet("  ", l.Intent, s.Intent)
	if len(s.DependsOn) > 0 {
		w.line("  - " + l.DependsOn + ": `" + strings.Join(s.DependsOn, "`, `") + "`")
	}
	for _, c := range s.ToolCalls {
		w.code("  ", l.Call, c.Name)
		if c.Why != "" {
			w.bullet("    ", l.Why, c.Why)
		}
		w.fence("    ", "json", shown(c.ArgsHint))
	}
	for _, a := range s.ExpectedArtifacts {
		label := "  - " + l.Verify + ": " + string(a.Type)
		if strings.Contains(a.Value, "\n") {
			w.line(label)
			w.fence("    ", "text", a.Value)
		} else {
			w.line(label + " " + span(a.Value))
		}
	}
	if s.RollbackHint != "" {
		w.bullet("  ", l.Undo, s.RollbackHint)
	}
	w.line("")
}

// criterion writes what has to hold, and below it how that is shown.
func (w *prd) criterion(c Criterion) {
	l, lead := w.labels, "- `"+c.ID+"` ["+string(c.Proof)+"]"
	if strings.Contains(c.Text, "\n") {
		w.line(lead)
		w.fence("  ", "text", c.Text)
	} else {
		w.line(lead + " " + inline(c.Text))
	}
	if c.From != "" {
		w.bullet("  ", l.From, c.From)
	}
	if c.Run != "" {
		w.code("  ", l.Command, c.Run)
	}
	for _, named := range []struct {
		label string
		list  []string
	}{{l.Test, c.Tests}, {l.Check, c.Checks}, {l.Path, c.Paths}, {l.Text, c.Texts}} {
		for _, text := range named.list {
			w.code("  ", named.label, text)
		}
	}
	for _, f := range c.Files {
		label := l.File
		if f.Held {
			label = l.Held
		}
		w.code("  ", label, f.Path)
		w.fence("    ", "text", f.Content)
	}
}

// bullet writes a list item with a label, or without one where label is "".
func (w *prd) bullet(indent, label, text string) { w.item(indent, label, text, inline) }

// code is bullet for text that is code.
func (w *prd) code(indent, label, text string) { w.item(indent, label, text, span) }

func (w *prd) item(indent, label, text string, form func(string) string) {
	lead := indent + "-"
	if label != "" {
		lead += " " + label + ":"
	}
	if strings.Contains(text, "\n") {
		w.line(lead)
		w.fence(indent+"  ", "text", text)
		return
	}
	w.line(lead + " " + form(text))
}

// fence writes a block that ends at a row of backticks longer than any in the text.
func (w *prd) fence(indent, info, text string) {
	row := strings.Repeat("`", max(3, 1+longestRun(text)))
	w.line(indent + row + info)
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" {
			line = indent + line
		}
		w.line(line)
	}
	w.line(indent + row)
}

// inline writes text of one line as it is where Markdown leaves it alone, and as code otherwise.
func inline(s string) string {
	if plain(s) {
		return s
	}
	return span(s)
}

// plain reports whether a text of one line can be written as it is and read back: it begins with a letter or a digit,
// does not end with a blank, and holds nothing that Markdown acts on.
func plain(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	last, _ := utf8.DecodeLastRuneInString(s)
	return (unicode.IsLetter(first) || unicode.IsDigit(first)) && !unicode.IsSpace(last) &&
		!strings.Contains(s, "\n") && !active.Get().MatchString(s)
}

// span writes text of one line as code.
func span(s string) string {
	row := "`"
	if n := longestRun(s); n > 0 {
		row = strings.Repeat("`", n+1)
	}
	outer := len(s) > 0 && s[0] == ' ' && s[len(s)-1] == ' ' && strings.Trim(s, " ") != ""
	if outer || strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return row + s + row
}

// unspan returns the text that inline or span wrote.
func unspan(s string) string {
	n := len(s) - len(strings.TrimLeft(s, "`"))
	if n == 0 || len(s) < 2*n+1 {
		return s
	}
	row, body := s[:n], s[n:len(s)-n]
	if s[len(s)-n:] != row || strings.HasSuffix(body, "`") || hasRun(body, n) {
		return s
	}
	if body[0] == ' ' && body[len(body)-1] == ' ' && strings.Trim(body, " ") != "" {
		body = body[1 : len(body)-1]
	}
	return body
}

// longestRun returns the length of the longest row of backticks.
func longestRun(s string) (longest int) {
	run := 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// hasRun reports whether s holds a row of exactly n backticks.
func hasRun(s string, n int) bool {
	for run := range strings.FieldsFuncSeq(s, func(r rune) bool { return r != '`' }) {
		if len(run) == n {
			return true
		}
	}
	return false
}

// shown returns arguments as they are displayed: indented, with everything invisible escaped.
func shown(raw json.RawMessage) string {
	v, err := parseJSON(raw)
	if err != nil {
		return string(raw)
	}
	var out bytes.Buffer
	// What encode writes is JSON, which always indents.
	_ = json.Indent(&out, v.encode(nil), "", "  ")
	return out.String()
}

// marks are the checkboxes of the statuses.
var marks = map[Status]rune{Pending: ' ', InProgress: '/', Done: 'x', Blocked: '!', Skipped: '-'}

func mark(s Status) rune {
	if m, ok := marks[s]; ok {
		return m
	}
	return ' '
}

func statusOf(m rune) (Status, bool) {
	for s, r := range marks {
		if r == unicode.ToLower(m) {
			return s, true
		}
	}
	return "", false
}
