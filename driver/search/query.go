package search

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"pawl"
)

// query matches an expression line by line.
type query struct {
	line *regexp.Regexp
	// block finds candidates in many lines at once, which is much faster where matches are rare. It is nil for
	// expressions that ask for the beginning or the end of the text, which is the line's for us.
	block *regexp.Regexp
	// ends says that the expression asks for the end of a line, which a carriage return hides in a block.
	ends bool
	// must is a text that every match contains, in lower case where fold says that case does not matter; "" when none
	// is known. Most files do not contain it, and a search for it is many times faster than one for the expression.
	must string
	fold bool
}

func compile(pattern string, ignoreCase bool) (*query, error) {
	flags := ""
	if ignoreCase {
		flags = "(?i)"
	}
	line, err := regexp.Compile(flags + pattern)
	if err != nil {
		return nil, pawl.Fail(pawl.CodeInvalid, "search.bad_pattern", pattern).In("search.args").Because(err)
	}
	q := &query{line: line}
	tree, err := syntax.Parse("(?m)"+flags+pattern, syntax.Perl)
	if err != nil {
		return q, nil
	}
	q.must, q.fold = required(tree)
	if !uses(tree, syntax.OpBeginText, syntax.OpEndText) {
		q.block, _ = regexp.Compile("(?m)" + flags + pattern) // it parses, as the line above says
		q.ends = uses(tree, syntax.OpEndLine)
	}
	return q, nil
}

func uses(re *syntax.Regexp, ops ...syntax.Op) bool {
	return slices.Contains(ops, re.Op) || slices.ContainsFunc(re.Sub,
		func(sub *syntax.Regexp) bool { return uses(sub, ops...) })
}

// required returns the longest text that is known to be in every match. Text that is matched without regard to case is
// used only where it is ASCII, and is returned in lower case.
func required(re *syntax.Regexp) (text string, fold bool) {
	switch re.Op {
	case syntax.OpLiteral:
		text, fold = string(re.Rune), re.Flags&syntax.FoldCase != 0
		if fold && !isASCII([]byte(text)) {
			return "", false
		}
		if fold {
			text = strings.ToLower(text)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if t, f := required(sub); len(t) > len(text) {
				text, fold = t, f
			}
		}
	}
	return text, fold
}

func isASCII(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c >= utf8.RuneSelf })
}

// may reports whether data can have a match at all.
func (q *query) may(data []byte) bool {
	switch {
	case q.must == "":
		return true
	case !q.fold:
		return bytes.Contains(data, []byte(q.must))
	}
	// Two letters beyond ASCII are equal to one in it when case does not matter.
	return containsFold(data, q.must) || strings.ContainsAny(q.must, "ks") &&
		(bytes.Contains(data, []byte("\u017f")) || bytes.Contains(data, []byte("\u212a")))
}

// containsFold reports whether data contains text, which is in lower case, without regard to the case of ASCII letters.
func containsFold(data []byte, text string) bool {
	const piece = 16 << 10
	var lower [piece]byte
	for len(data) >= len(text) {
		n := copy(lower[:], data)
		for i, c := range lower[:n] {
			if 'A' <= c && c <= 'Z' {
				lower[i] = c + 'a' - 'A'
			}
		}
		if bytes.Contains(lower[:n], []byte(text)) {
			return true
		}
		if n == len(data) {
			break
		}
		data = data[n-len(text)+1:]
	}
	return false
}

// lines yields the bounds of the matching lines, without their newlines.
func (q *query) lines(data []byte) func(yield func(start, end int) bool) {
	block := q.block
	if q.ends && bytes.IndexByte(data, '\r') >= 0 {
		block = nil
	}
	return func(yield func(start, end int) bool) {
		for start := 0; start < len(data); {
			if block != nil {
				at := block.FindIndex(data[start:])
				if at == nil {
					return
				}
				start += bytes.LastIndexByte(data[start:start+at[0]], '\n') + 1
				if start == len(data) {
					return // behind the last newline is no line
				}
			}
			end := lineEnd(data, start)
			if q.line.Match(bytes.TrimSuffix(data[start:end], []byte{'\r'})) && !yield(start, end) {
				return
			}
			start = end + 1
		}
	}
}
