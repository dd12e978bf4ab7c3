package backlog

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"pawl/text/strictjson"
)

// source is a file, or one record of it, while it is read.
type source struct {
	file    string
	raw     []byte
	line    int    // of the first byte
	pointer string // of the whole within its file
	lines   strictjson.Lines
}

func (s *source) lineAt(at int) int {
	line, _ := s.lines.At(at)
	return s.line + line - 1
}

// parse returns the value that the source is, or says with its place why it is not one JSON value in UTF-8. Names that
// repeat are for the reader of an object to report.
func (s *source) parse() (node, *torn) {
	s.lines.Text = s.raw
	top, err := strictjson.Parse(s.raw, strictjson.Options{Repeats: true, HalfPairs: true})
	var e *strictjson.Error
	if !errors.As(err, &e) {
		return node{s, top, s.pointer}, nil
	}
	switch e.Reason {
	case strictjson.NotText:
		return node{}, &torn{s.lineAt(e.Offset), "backlog.not_text", nil}
	case strictjson.CutOff:
		return node{}, &torn{s.lineAt(len(bytes.TrimRight(s.raw, " \t\r\n"))), "backlog.cut_off", nil}
	}
	return node{}, &torn{s.lineAt(e.Offset), "backlog.json", []any{e.Text}}
}

// node is one value of a source.
type node struct {
	src *source
	strictjson.Value
	pointer string
}

func (n node) line() int { return n.src.lineAt(n.Offset()) }

// members calls see with each member of an object, in its order.
func (n node) members(see func(name string, at int, value node)) {
	for m := range n.Members() {
		see(m.Name, m.Offset, node{n.src, m.Value, n.pointer + "/" + escape(m.Name)})
	}
}

// elements calls see with each element of an array, in its order.
func (n node) elements(see func(i int, value node)) {
	for i, v := range n.Items() {
		see(i, node{n.src, v, n.pointer + "/" + strconv.Itoa(i)})
	}
}

// escape writes a name as a part of a JSON pointer.
func escape(name string) string {
	if strings.ContainsFunc(name, blankish) || len(name) > MaxID {
		name = clip(name)
	}
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
