package plan

import (
	"strings"

	"pawl/text/pattern"
)

// token is one unit of a PRD document. text is the rest of a line after its marker, and the content of a fenced block.
type token struct {
	kind tokenKind
	text string
	raw  string // the whole line
	line int
	mark rune // of a task: what stands in its box
}

type tokenKind uint8

const (
	tokenBlank tokenKind = iota
	tokenText
	tokenQuote
	tokenHeading
	tokenBullet
	tokenTask
	tokenFence
	tokenOpenFence // a fence that nothing closes
)

var (
	fenceLine = pattern.New("^([ \t]*)(`{3,})[^`]*$")
	taskLine  = pattern.New(`^[-*+][ \t]+\[(.)\](?:[ \t]+(.*))?$`)
)

// tokens splits a document. Line breaks of all systems are read; blanks at the ends of lines mean nothing outside of
// fences.
func tokens(text string) []token {
	text = strings.TrimPrefix(text, "\ufeff")
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	var out []token
	for n := 0; n < len(lines); n++ {
		if m := fenceLine.Get().FindStringSubmatch(lines[n]); m != nil {
			body, end := fenced(lines[n+1:], m[1], m[2])
			kind := tokenFence
			if end < 0 {
				kind, end = tokenOpenFence, len(lines)
			}
			out = append(out, token{kind: kind, text: body, raw: lines[n], line: n + 1})
			n += end + 1
			continue
		}
		out = append(out, lineToken(lines[n], n+1))
	}
	return out
}

// fenced returns the content of a block up to the row that closes it, and the place of that row, or -1 without one.
func fenced(lines []string, indent, row string) (string, int) {
	var body []string
	for i, l := range lines {
		if bare := strings.Trim(l, " \t"); len(bare) >= len(row) && strings.Trim(bare, "`") == "" {
			return strings.Join(body, "\n"), i
		}
		body = append(body, unindent(l, indent))
	}
	return "", -1
}

// unindent takes the blanks off that the fence itself is indented by, as far as the line has them.
func unindent(l, indent string) string {
	n := 0
	for n < len(indent) && n < len(l) && (l[n] == ' ' || l[n] == '\t') {
		n++
	}
	return l[n:]
}

func lineToken(raw string, n int) token {
	t := token{raw: strings.TrimRight(raw, " \t"), line: n}
	s := strings.Trim(raw, " \t")
	m := taskLine.Get().FindStringSubmatch(s)
	switch {
	case s == "":
		t.kind = tokenBlank
	case m != nil:
		t.kind, t.text, t.mark = tokenTask, strings.Trim(m[2], " \t"), []rune(m[1])[0]
	case s == "-" || strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "* "):
		t.kind, t.text = tokenBullet, strings.Trim(s[1:], " \t")
	case strings.HasPrefix(s, ">"):
		t.kind, t.text = tokenQuote, s[1:]
	case strings.HasPrefix(s, "#"):
		t.kind, t.text = tokenHeading, strings.Trim(strings.TrimLeft(s, "#"), " \t")
	default:
		t.kind, t.text = tokenText, s
	}
	return t
}
