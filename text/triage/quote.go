package triage

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"pawl/text/markdown"
)

// quoteKind says by what a part of a text is set apart.
type quoteKind uint8

const (
	quoteFence  quoteKind = iota + 1 // a block of code between ``` or ~~~
	quoteCode                        // a code span
	quoteSpeech                      // "…", '…', “…”, 「…」
	quoteStrike                      // ~~…~~
)

// quote is a part of a text that somebody else says or that is not to be read as said. Its marks belong to it.
type quote struct {
	Span
	kind quoteKind
}

// quotes finds what is set apart in a text, in order and without overlaps. A mark without its partner on the same line
// sets nothing apart; a fence without an end lasts until the end of the text, as it does in Markdown.
func quotes(src string) []quote {
	var out []quote
	fence, from := "", 0
	at := 0
	for line := range strings.Lines(src) {
		mark := fenceMark(line)
		switch {
		case fence != "":
			if strings.HasPrefix(mark, fence) && strings.Trim(line, " \t\r\n"+fence[:1]) == "" {
				out = append(out, quote{Span{from, at + len(line)}, quoteFence})
				fence = ""
			}
		case mark != "":
			fence, from = mark, at
		default:
			out = append(out, lineQuotes(line, at)...)
		}
		at += len(line)
	}
	if fence != "" {
		out = append(out, quote{Span{from, len(src)}, quoteFence})
	}
	return out
}

// fenceMark returns the row of marks with which a line opens or closes a block of code, or "".
func fenceMark(line string) string {
	body := strings.TrimLeft(line, " ")
	row, info := markdown.Fence(body)
	if len(line)-len(body) > 3 || strings.HasPrefix(row, "~") && strings.Contains(info, "~~") {
		return ""
	}
	return row
}

// pairs are the marks that open and close speech.
var pairs = map[rune]rune{'“': '”', '‘': '’', '「': '」', '『': '』', '«': '»', '《': '》'}

// marks are the marks of one line that wait for their partners.
type marks struct {
	at   int // where the line begins in the text
	out  []quote
	open map[rune]int // where a mark that waits for its partner stands
}

// close sets apart what stands between a mark that waits and its partner, and reports whether one waits. What stands
// inside belongs to the outer quote.
func (m *marks) close(mark rune, end int, kind quoteKind) bool {
	start, waits := m.open[mark]
	if waits {
		for len(m.out) > 0 && m.out[len(m.out)-1].Start >= m.at+start {
			m.out = m.out[:len(m.out)-1]
		}
		m.out = append(m.out, quote{Span{m.at + start, m.at + end}, kind})
		clear(m.open)
	}
	return waits
}

// lineQuotes finds what is set apart in one line.
func lineQuotes(line string, at int) []quote {
	code := codeSpans(line)
	m := &marks{at: at, open: map[rune]int{}}
	done := 0 // nothing before this byte is looked at again
	before := ' '
	for i, r := range line {
		_, size := utf8.DecodeRuneInString(line[i:])
		next, _ := utf8.DecodeRuneInString(line[i+size:])
		switch {
		case i < done:
		case len(code) > 0 && i == code[0].Start:
			m.out = append(m.out, quote{Span{at + i, at + code[0].End}, quoteCode})
			done, code = code[0].End, code[1:]
			continue
		case r == '~' && next == '~':
			done = i + 2
			if !m.close('~', i+2, quoteStrike) {
				m.open['~'] = i
			}
		default:
			m.speech(r, before, next, i, i+size)
		}
		before = r
	}
	return m.out
}

// speech opens or closes what a mark of speech at line[i:end] sets apart.
func (m *marks) speech(r, before, next rune, i, end int) {
	switch partner, opens := pairs[r]; {
	case r == '"':
		if !m.close(r, end, quoteSpeech) && !unicode.IsDigit(before) { // 5" is a length
			m.open[r] = i
		}
	case r == '\'':
		if _, waits := m.open[r]; !waits && !letter(before) && !unicode.IsSpace(next) {
			m.open[r] = i
		} else if waits && !letter(next) && !unicode.IsSpace(before) {
			m.close(r, end, quoteSpeech)
		}
	case opens:
		if _, waits := m.open[partner]; !waits {
			m.open[partner] = i
		}
	case r > utf8.RuneSelf:
		m.close(r, end, quoteSpeech)
	}
}

// codeSpans finds the code spans of a line: a row of backticks up to the next row of the same length.
func codeSpans(line string) []Span {
	type row struct{ at, n int }
	var rows []row
	for i := 0; i < len(line); {
		if line[i] != '`' {
			i++
			continue
		}
		n := 1
		for i+n < len(line) && line[i+n] == '`' {
			n++
		}
		rows = append(rows, row{i, n})
		i += n
	}
	partner := make([]int, len(rows))
	last := map[int]int{}
	for i := len(rows) - 1; i >= 0; i-- {
		partner[i] = last[rows[i].n]
		last[rows[i].n] = i
	}
	var out []Span
	for i := 0; i < len(rows); i++ {
		if p := partner[i]; p > i {
			out = append(out, Span{rows[i].at, rows[p].at + rows[p].n})
			i = p
		}
	}
	return out
}

// within returns the quote that holds a byte of the text.
func within(qs []quote, at int) (quote, bool) {
	i := sort.Search(len(qs), func(i int) bool { return qs[i].End > at })
	if i < len(qs) && qs[i].Start <= at {
		return qs[i], true
	}
	return quote{}, false
}
