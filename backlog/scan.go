package backlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// source is a file, or one record of it, while it is read. It tells lines of places that are asked for in their order.
type source struct {
	file    string
	raw     []byte
	line    int    // of the first byte
	pointer string // of the whole within its file
	at, had int    // the place that was asked for last, and the line breaks before it
}

func (s *source) lineAt(at int) int {
	if at < s.at {
		s.at, s.had = 0, 0
	}
	s.had += bytes.Count(s.raw[s.at:at], []byte("\n"))
	s.at = at
	return s.line + s.had
}

// fault tries whether the source is one JSON value in UTF-8, and returns the place and message of what is wrong, or "".
func (s *source) fault() (at int, key string, args []any) {
	if !utf8.Valid(s.raw) {
		for at < len(s.raw) {
			r, n := utf8.DecodeRune(s.raw[at:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			at += n
		}
		return at, "backlog.not_text", nil
	}
	var raw json.RawMessage
	err := json.Unmarshal(s.raw, &raw)
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return 0, "", nil
	case errors.As(err, &syntax) && int(syntax.Offset) < len(bytes.TrimRight(s.raw, " \t\r\n")):
		return max(int(syntax.Offset)-1, 0), "backlog.json", []any{syntax.Error()}
	case errors.As(err, &syntax) && !strings.Contains(syntax.Error(), "unexpected end"):
		return max(min(int(syntax.Offset), len(s.raw))-1, 0), "backlog.json", []any{syntax.Error()}
	}
	return len(bytes.TrimRight(s.raw, " \t\r\n")), "backlog.cut_off", nil
}

// node is one value of a source that is valid JSON.
type node struct {
	src      *source
	from, to int
	pointer  string
}

// top is the value that the whole source is.
func (s *source) top() node {
	from := blanks(s.raw, 0)
	return node{s, from, skip(s.raw, from), s.pointer}
}

func (n node) raw() []byte { return n.src.raw[n.from:n.to] }
func (n node) line() int   { return n.src.lineAt(n.from) }

// kind is the first byte of a value: { [ " t f n, and 0 for a number.
func (n node) kind() byte {
	switch c := n.src.raw[n.from]; c {
	case '{', '[', '"', 't', 'f', 'n':
		return c
	}
	return '0'
}

func (n node) text() string {
	if raw := n.raw(); bytes.IndexByte(raw, '\\') < 0 && raw[0] == '"' {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	_ = json.Unmarshal(n.raw(), &s) // the source is valid
	return s
}

// members calls see with each member of an object, in its order.
func (n node) members(see func(name string, at int, value node)) {
	b := n.src.raw
	for i := blanks(b, n.from+1); b[i] != '}'; {
		end := skip(b, i)
		name := node{src: n.src, from: i, to: end}.text()
		from := blanks(b, blanks(b, end)+1)
		to := skip(b, from)
		see(name, i, node{n.src, from, to, n.pointer + "/" + escape(name)})
		if i = blanks(b, to); b[i] == ',' {
			i = blanks(b, i+1)
		}
	}
}

// elements calls see with each element of an array, in its order.
func (n node) elements(see func(i int, value node)) {
	b := n.src.raw
	for i, at := 0, blanks(b, n.from+1); b[at] != ']'; i++ {
		to := skip(b, at)
		see(i, node{n.src, at, to, n.pointer + "/" + strconv.Itoa(i)})
		if at = blanks(b, to); b[at] == ',' {
			at = blanks(b, at+1)
		}
	}
}

// escape writes a name as a part of a JSON pointer.
func escape(name string) string {
	if strings.ContainsFunc(name, blankish) || len(name) > MaxID {
		name = clip(name)
	}
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

func blanks(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// skip returns the end of the value that begins at i.
func skip(b []byte, i int) int {
	switch b[i] {
	case '"':
		return quoted(b, i)
	case '{', '[':
		for depth := 0; ; i++ {
			switch b[i] {
			case '"':
				i = quoted(b, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	for i < len(b) && b[i] != ',' && b[i] != ']' && b[i] != '}' && b[i] > ' ' {
		i++
	}
	return i
}

// quoted returns the end of the string that begins at i.
func quoted(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}
