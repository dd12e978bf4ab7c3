package solution

import (
	"bytes"

	"pawl"
	"pawl/text/markdown"
)

// rows sorts the lines of a document into prose, code and comments, which stand on lines of their own. open is the line
// at which something begins that nothing ends, or 0.
func rows(t markdown.Text) (rows []markdown.Row, open int) {
	return t.Rows(markdown.Rules{Comments: markdown.AtLines})
}

// Unreadable says why a file cannot be read at all: it is too large, or no text.
func Unreadable(file string, data []byte) (pawl.Problem, bool) {
	if len(data) > MaxFile {
		return pawl.Problem{File: file, Key: "solution.too_large", Args: []any{len(data), MaxFile}}, true
	}
	if n := markdown.NotText(data); n > 0 {
		return pawl.Problem{File: file, Line: n, Key: "solution.not_text"}, true
	}
	return pawl.Problem{}, false
}

// unusable says why a file of a package cannot be read: nothing in it is as bad as what is Unreadable.
func unusable(file string, data []byte) (pawl.Problem, bool) {
	if bad, is := Unreadable(file, data); is {
		return bad, true
	}
	if len(bytes.TrimSpace(bytes.TrimPrefix(data, []byte(markdown.ByteOrderMark)))) == 0 {
		return pawl.Problem{File: file, Key: "solution.empty"}, true
	}
	return pawl.Problem{}, false
}
