package plan

import (
	"strings"

	"pawl/text/markdown"
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

var taskLine = pattern.New(`^[-*+][ \t]+\[(.)\](?:[ \t]+(.*))?$`)

// prdRules: only backticks make a block.
var prdRules = markdown.Rules{Fence: func(row, _ string) bool { return row[0] == '`' }}

// tokens splits a document. Line breaks of all systems are read; blanks at the ends of lines mean nothing outside of
// fences.
func tokens(text string) []token {
	text = strings.TrimPrefix(text, markdown.ByteOrderMark)
	scan := markdown.Scanner{Rules: prdRules}
	var out []token
	var body []string
	for n, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		_, kind := scan.Next(line)
		last := len(out) - 1
		switch {
		case kind == markdown.Prose:
			out = append(out, lineToken(line, n+1))
		case kind == markdown.Code:
			body = append(body, unindent(line, out[last].raw))
		case scan.InCode():
			out, body = append(out, token{kind: tokenOpenFence, raw: line, line: n + 1}), nil
		default:
			out[last].kind, out[last].text = tokenFence, strings.Join(body, "\n")
		}
	}
	return out
}

// unindent takes the blanks off that the fence itself is indented by, as far as the line has them.
func unindent(l, fence string) string {
	n, indent := 0, len(fence)-len(strings.TrimLeft(fence, " \t"))
	for n < indent && n < len(l) && (l[n] == ' ' || l[n] == '\t') {
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
