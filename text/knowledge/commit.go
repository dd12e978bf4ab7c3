package knowledge

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pawl"
	"pawl/text/markdown"
	"pawl/text/pattern"
	"pawl/text/solution"
)

// CommitType is the type of a commit message.
type CommitType string

// The types of the seed's ~commit (docs/spec/workflow.md#command-behaviour).
const (
	CommitInit     CommitType = "init"
	CommitFeat     CommitType = "feat"
	CommitFix      CommitType = "fix"
	CommitDocs     CommitType = "docs"
	CommitStyle    CommitType = "style"
	CommitRefactor CommitType = "refactor"
	CommitPerf     CommitType = "perf"
	CommitTest     CommitType = "test"
	CommitBuild    CommitType = "build"
	CommitCI       CommitType = "ci"
	CommitChore    CommitType = "chore"
	CommitRevert   CommitType = "revert"
)

// commitTypes are the types in the order in which a person is offered them, each with its emoji.
var commitTypes = []struct {
	Type  CommitType
	Emoji string
}{
	{CommitInit, "🎉"}, {CommitFeat, "✨"}, {CommitFix, "🐞"}, {CommitDocs, "📃"}, {CommitStyle, "🌈"}, {CommitRefactor,
		"🦄"},
	{CommitPerf, "🎈"}, {CommitTest, "🧪"}, {CommitBuild, "🔧"}, {CommitCI, "🐎"}, {CommitChore, "🐳"}, {CommitRevert, "↩"},
}

// Emoji returns the sign of a type, or "" for one that is none.
func (t CommitType) Emoji() string {
	for _, c := range commitTypes {
		if c.Type == t {
			return c.Emoji
		}
	}
	return ""
}

// Limits of commit messages, in characters but for the last, which is in bytes.
const (
	MaxSummary = 50
	MaxBody    = 72
	MaxScope   = 30
	MaxMessage = 64 << 10
)

// Wording is what a commit message says in one language. Breaking says what no longer works, "" for nothing.
type Wording struct {
	Summary, Body, Breaking string
}

// Footer is a line at the end of a message, as "Refs: #12".
type Footer struct{ Key, Value string }

// Commit is what a commit message says. Local is its wording in the language of the output, where that is Chinese;
// English is that in English, whether it stands alone or below.
type Commit struct {
	Type    CommitType
	Scope   string
	Breaks  bool
	Local   Wording
	English Wording
	Footers []Footer
}

// separator stands between the two blocks of a bilingual message.
const separator = "---"

// Compose writes a message: emoji, type, scope and summary on the first line, then the body in lines of at most 72
// characters where blanks or Chinese characters let them break, then what breaks, and the footers. A bilingual message
// in Chinese is the Chinese block, a line ---, and the English block, both whole; the footers stand at the end of the
// last block, where git looks for them. In English there is one block, bilingual or not.
//
// A full stop at the end of a summary is taken off. What cannot be repaired without changing what was said is
// CodeInvalid: an unknown type, a scope that is no word, a footer without key or value, and a summary that is missing
// in a language that is written, or longer than 50 characters.
//
// Lines of the body may begin with #; give the message to git with --cleanup=whitespace.
func Compose(c Commit, l Language, bilingual bool) (string, error) {
	for _, w := range []Wording{c.Local, c.English} {
		if n := len(w.Summary) + len(w.Body) + len(w.Breaking); n > MaxMessage {
			return "", invalid("knowledge.commit_huge", n, MaxMessage)
		}
	}
	blocks := []Wording{c.Local, c.English}
	switch {
	case l == English:
		blocks = blocks[1:]
	case !bilingual:
		blocks = blocks[:1]
	}
	for i := range blocks {
		blocks[i].Body = trimBody(blocks[i].Body)
	}
	last := &blocks[len(blocks)-1]
	var own []Footer
	if last.Body, last.Breaking, own = footersOf(last.Body, last.Breaking); len(own) > 0 {
		c.Footers = append(own, c.Footers...)
	}
	if len(blocks) == 2 {
		blocks[0].Body, blocks[0].Breaking = breakingOf(blocks[0].Body, blocks[0].Breaking)
	}
	footers, err := orderly(c.Footers, &last.Breaking)
	if err != nil {
		return "", err
	}
	for _, b := range blocks {
		c.Breaks = c.Breaks || oneLine(b.Breaking) != ""
	}
	var out []string
	for i, b := range blocks {
		head, err := c.head(b.Summary)
		if err != nil {
			return "", err
		}
		var end []string
		if i == len(blocks)-1 {
			end = footers
		}
		out = append(out, strings.Join(append([]string{head}, paragraphs(b, end)...), "\n\n"))
	}
	s := strings.Join(out, "\n\n"+separator+"\n\n") + "\n"
	if len(s) > MaxMessage {
		return "", invalid("knowledge.commit_huge", len(s), MaxMessage)
	}
	return s, nil
}

func invalid(key string, args ...any) error {
	return pawl.Fail(pawl.CodeInvalid, key, args...).In("knowledge.Commit")
}

// head writes the first line of a block.
func (c Commit) head(summary string) (string, error) {
	summary = trimSummary(summary)
	switch n := utf8.RuneCountInString(summary); {
	case c.Type.Emoji() == "":
		return "", invalid("knowledge.commit_type", solution.Clip(oneLine(string(c.Type)), 40))
	case summary == "":
		return "", invalid("knowledge.commit_empty")
	case n > MaxSummary:
		return "", invalid("knowledge.commit_long", n, MaxSummary)
	case c.Scope != "" && (!scopeForm.Get().MatchString(c.Scope) || utf8.RuneCountInString(c.Scope) > MaxScope):
		return "", invalid("knowledge.commit_scope", solution.Clip(oneLine(c.Scope), 40))
	}
	s := c.Type.Emoji() + " " + string(c.Type)
	if c.Scope != "" {
		s += "(" + c.Scope + ")"
	}
	if c.Breaks {
		s += "!"
	}
	return s + ": " + summary, nil
}

// trimSummary returns a summary on one line without a full stop; an ellipsis stays.
func trimSummary(s string) string {
	for s = oneLine(s); ; {
		rest := strings.TrimSuffix(strings.TrimSuffix(s, "."), "。")
		if rest == s || strings.HasSuffix(rest, s[len(rest):]) {
			return s
		}
		s = strings.TrimSpace(rest)
	}
}

// trimBody returns a body with one blank line between its paragraphs and nothing concealed.
func trimBody(s string) string {
	var out []string
	for _, line := range strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n") {
		text := oneLine(line)
		switch {
		case text != "":
			out = append(out, indentOf(line)+text)
		case len(out) > 0 && out[len(out)-1] != "":
			out = append(out, "")
		}
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n")
}

// indentOf returns the blanks before a line, at most eight.
func indentOf(line string) string {
	n := len(line) - len(strings.TrimLeft(line, " "))
	return strings.Repeat(" ", min(n, 8))
}

var (
	scopeForm  = pattern.New(`^[\p{L}\p{N}_][\p{L}\p{N}_./,-]*$`)
	footerForm = pattern.New(`^([A-Za-z][A-Za-z0-9-]*|BREAKING CHANGE)(?:: | (#))(\S.*)$`)
	headForm   = pattern.New(`^(?:(\S+)\s+)?([A-Za-z]+)(?:[(（]([^()（）]*)[)）])?([!！])?[:：]\s*(\S.*)$`)
)

const breakingKey = "BREAKING CHANGE"

// footersOf takes the footers off a body: its last paragraph, where every line is one.
func footersOf(body, breaking string) (rest, breaks string, list []Footer) {
	at := strings.LastIndex(body, "\n\n")
	last := strings.TrimPrefix(body[max(at, 0):], "\n\n")
	if last == "" {
		return body, breaking, nil
	}
	for _, line := range strings.Split(last, "\n") {
		m := footerForm.Get().FindStringSubmatch(line)
		if m == nil {
			return body, breaking, nil
		}
		if m[1] == breakingKey || m[1] == "BREAKING-CHANGE" {
			breaking = strings.TrimSpace(breaking + " " + m[2] + m[3])
			continue
		}
		list = append(list, Footer{m[1], m[2] + m[3]})
	}
	return body[:max(at, 0)], breaking, list
}

// breakingOf takes what breaks off the body of a block that holds no other footers.
func breakingOf(body, breaking string) (rest, breaks string) {
	at := strings.LastIndex(body, "\n\n")
	last := strings.TrimPrefix(body[max(at, 0):], "\n\n")
	if m := footerForm.Get().FindStringSubmatch(last); m != nil && !strings.Contains(last, "\n") && m[1] == breakingKey {
		return body[:max(at, 0)], strings.TrimSpace(breaking + " " + m[2] + m[3])
	}
	return body, breaking
}

// orderly writes footers as lines. What breaks is no footer like others and goes to the wording.
func orderly(list []Footer, breaking *string) ([]string, error) {
	var out []string
	for _, f := range list {
		key, value := strings.ReplaceAll(oneLine(f.Key), " ", "-"), oneLine(f.Value)
		line := key + ": " + value
		if strings.HasPrefix(value, "#") && len(value) > 1 {
			line = key + " " + value
		}
		switch {
		case !footerForm.Get().MatchString(line):
			return nil, invalid("knowledge.commit_footer", solution.Clip(line, 60))
		case key == "BREAKING-CHANGE":
			*breaking = strings.TrimSpace(*breaking + " " + value)
		default:
			out = append(out, line)
		}
	}
	return out, nil
}

// paragraphs writes what follows the first line of a block.
func paragraphs(w Wording, footers []string) []string {
	var out []string
	if w.Body != "" {
		var lines []string
		for _, line := range strings.Split(w.Body, "\n") {
			lines = append(lines, wrap(line)...)
		}
		out = append(out, strings.Join(lines, "\n"))
	}
	var end []string
	if s := oneLine(w.Breaking); s != "" {
		end = append(end, breakingKey+": "+s)
	}
	end = append(end, footers...)
	if len(end) > 0 {
		out = append(out, strings.Join(end, "\n"))
	}
	return out
}

// wrap breaks a line at blanks and between Chinese characters. A line that would be the separator gets a dash more.
func wrap(line string) []string {
	indent := indentOf(line)
	var out []string
	put := func(s string) {
		if s == separator {
			s += "-"
		}
		out = append(out, indent+s)
	}
	rest := []rune(strings.TrimLeft(line, " "))
	width := MaxBody - len(indent)
	for len(rest) > width {
		at := breakAt(rest, width)
		if at == len(rest) {
			break
		}
		put(strings.TrimRight(string(rest[:at]), " "))
		rest = []rune(strings.TrimLeft(string(rest[at:]), " "))
	}
	if len(rest) > 0 || len(out) == 0 {
		put(string(rest))
	}
	return out
}

// breakAt returns the last place up to width at which a line may break, the first beyond it where there is none, and
// the line's length where there is no place at all.
func breakAt(r []rune, width int) int {
	best := 0
	for i := 1; i < len(r); i++ {
		if i > width && best > 0 {
			break
		}
		closing := unicode.IsPunct(r[i]) && han(r[i])
		if r[i] == ' ' || (han(r[i-1]) || han(r[i])) && !closing && r[i-1] != '（' && r[i-1] != '《' && r[i-1] != '「' {
			best = i
		}
	}
	if best == 0 {
		return len(r)
	}
	return best
}

// ParseCommit reads a message. One that holds a line --- between two blocks with a first line each is bilingual;
// otherwise the wording is local where its summary holds a Chinese character, and English where not. The emoji may be
// missing or another. The error of a message of another form, of an unknown type, or of blocks that disagree is
// CodeInvalid. Lengths are not judged; Compose does that.
func ParseCommit(message string) (c Commit, bilingual bool, err error) {
	if len(message) > MaxMessage {
		return Commit{}, false, invalid("knowledge.commit_huge", len(message), MaxMessage)
	}
	if !utf8.ValidString(message) || strings.ContainsRune(message, 0) {
		return Commit{}, false, invalid("knowledge.commit_not_text")
	}
	lines := strings.Split(strings.ReplaceAll(strings.TrimPrefix(message, markdown.ByteOrderMark), "\r\n", "\n"), "\n")
	for i, line := range lines {
		if strings.TrimRight(line, " ") != separator || !headed(lines[i+1:]) || !headed(lines[:i]) {
			continue
		}
		first, w1, err1 := block(lines[:i])
		second, w2, err2 := block(lines[i+1:])
		if err1 != nil || err2 != nil {
			continue
		}
		if first.Type != second.Type || first.Scope != second.Scope || first.Breaks != second.Breaks {
			return Commit{}, false, invalid("knowledge.commit_blocks")
		}
		w1.Body, w1.Breaking = breakingOf(w1.Body, "")
		w2.Body, w2.Breaking, second.Footers = footersOf(w2.Body, "")
		second.Local, second.English = w1, w2
		return second, true, nil
	}
	c, w, err := block(lines)
	if err != nil {
		return Commit{}, false, err
	}
	w.Body, w.Breaking, c.Footers = footersOf(w.Body, "")
	if strings.ContainsFunc(w.Summary, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		c.Local = w
	} else {
		c.English = w
	}
	return c, false, nil
}

// headed reports whether the first line that holds something has the form of one.
func headed(lines []string) bool {
	i := slices.IndexFunc(lines, func(s string) bool { return strings.TrimSpace(s) != "" })
	return i >= 0 && headForm.Get().MatchString(oneLine(lines[i]))
}

// block reads a first line and the body below it.
func block(lines []string) (Commit, Wording, error) {
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	if len(lines) == 0 {
		return Commit{}, Wording{}, invalid("knowledge.commit_empty")
	}
	m := headForm.Get().FindStringSubmatch(oneLine(lines[0]))
	if m == nil || strings.IndexFunc(m[1], func(r rune) bool { return r < 0x80 }) >= 0 {
		return Commit{}, Wording{}, invalid("knowledge.commit_form", solution.Clip(oneLine(lines[0]), 60))
	}
	c := Commit{Type: CommitType(strings.ToLower(m[2])), Scope: strings.TrimSpace(m[3]), Breaks: m[4] != ""}
	if c.Type.Emoji() == "" {
		return Commit{}, Wording{}, invalid("knowledge.commit_type", solution.Clip(m[2], 40))
	}
	return c, Wording{Summary: trimSummary(m[5]), Body: trimBody(strings.Join(lines[1:], "\n"))}, nil
}
