package triage

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
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

// quotes finds what is set apart in a text, in order and without overlaps. A mark without its partner on the same line sets
// nothing apart; a fence without an end lasts until the end of the text, as it does in Markdown.
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
	if len(line)-len(body) > 3 || body == "" || body[0] != '`' && body[0] != '~' {
		return ""
	}
	rest := strings.TrimLeft(body, body[:1])
	n := len(body) - len(rest)
	if n < 3 || body[0] == '`' && strings.Contains(rest, "`") || body[0] == '~' && strings.Contains(rest, "~~") {
		return ""
	}
	return body[:n]
}

// pairs are the marks that open and close speech.
var pairs = map[rune]rune{'“': '”', '‘': '’', '「': '」', '『': '』', '«': '»', '《': '》'}

// lineQuotes finds what is set apart in one line.
func lineQuotes(line string, at int) []quote {
	code := codeSpans(line)
	var out []quote
	open := map[rune]int{} // where a mark that waits for its partner stands
	done := 0              // nothing before this byte is looked at again
	closed := func(start, end int, kind quoteKind) {
		for len(out) > 0 && out[len(out)-1].Start >= at+start {
			out = out[:len(out)-1] // what stands inside belongs to the outer one
		}
		out = append(out, quote{Span{at + start, at + end}, kind})
		clear(open)
	}
	before := ' '
	for i, r := range line {
		if i < done {
			before = r
			continue
		}
		if len(code) > 0 && i == code[0].Start {
			out = append(out, quote{Span{at + i, at + code[0].End}, quoteCode})
			done, code = code[0].End, code[1:]
			continue
		}
		_, size := utf8.DecodeRuneInString(line[i:])
		next, _ := utf8.DecodeRuneInString(line[i+size:])
		switch {
		case r == '~' && next == '~':
			done = i + 2
			if start, ok := open['~']; ok {
				closed(start, i+2, quoteStrike)
			} else {
				open['~'] = i
			}
		case r == '"':
			if start, ok := open['"']; ok {
				closed(start, i+1, quoteSpeech)
			} else if !unicode.IsDigit(before) { // 5" is a length
				open['"'] = i
			}
		case r == '\'':
			start, ok := open['\'']
			switch {
			case ok && !letter(next) && !unicode.IsSpace(before):
				closed(start, i+1, quoteSpeech)
			case !ok && !letter(before) && !unicode.IsSpace(next):
				open['\''] = i
			}
		default:
			if end, ok := pairs[r]; ok {
				if _, waits := open[end]; !waits {
					open[end] = i
				}
			} else if start, ok := open[r]; ok && r > utf8.RuneSelf {
				closed(start, i+size, quoteSpeech)
			}
		}
		before = r
	}
	return out
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
