package backlog

import (
	"bufio"
	"errors"
	"io"
	"strconv"
)

// splitter cuts a stream of JSON objects into records: objects behind each other in lines or otherwise, or arrays of
// objects. It keeps one record at a time.
type splitter struct {
	in    *bufio.Reader
	file  string
	line  int
	array bool // inside an array of records
	comma bool // a record of the array has ended
	n     int  // of the record in its array
	buf   []byte
}

// torn is a fault of the outer form of a file of records.
type torn struct {
	line int
	key  string
	args []any
}

func (t *torn) Error() string { return t.key }

// next returns the next record; io.EOF says that the file ends as it should. Other errors are a *torn, or come from
// below.
func (s *splitter) next() (*source, error) {
	for {
		c, err := s.in.ReadByte()
		if err != nil {
			if errors.Is(err, io.EOF) && s.array {
				return nil, &torn{s.line, "backlog.cut_off", nil}
			}
			return nil, err
		}
		switch {
		case c == '{' && !(s.array && s.comma):
			return s.record()
		case !s.between(c):
			return nil, &torn{s.line, "backlog.not_object", []any{s.rest(c)}}
		}
	}
}

// between takes a byte that stands between records, and reports whether it may stand there.
func (s *splitter) between(c byte) bool {
	switch {
	case c == '\n':
		s.line++
	case c == ' ' || c == '\t' || c == '\r':
	case c == '[' && !s.array:
		s.array, s.comma, s.n = true, false, 0
	case c == ']' && s.array && (s.comma || s.n == 0):
		s.array = false
	case c == ',' && s.array && s.comma:
		s.comma = false
	default:
		return false
	}
	return true
}

// rest shows what stands where a record should.
func (s *splitter) rest(c byte) string {
	more, _ := s.in.Peek(min(s.in.Buffered(), 40))
	return clip(string(c) + string(more))
}

// record reads an object whose brace has been read.
func (s *splitter) record() (*source, error) {
	out := &source{file: s.file, line: s.line}
	if s.array {
		out.pointer = "/" + strconv.Itoa(s.n)
	}
	s.buf = append(s.buf[:0], '{')
	text, escaped := false, false
	for depth := 1; depth > 0; {
		c, err := s.in.ReadByte()
		if errors.Is(err, io.EOF) {
			return nil, &torn{out.line, "backlog.cut_off", nil}
		}
		if err != nil {
			return nil, err
		}
		if len(s.buf) == MaxRecord {
			return nil, &torn{out.line, "backlog.too_large", []any{MaxRecord}}
		}
		s.buf = append(s.buf, c)
		switch {
		case c == '\n':
			if s.line++; text {
				return nil, &torn{s.line - 1, "backlog.open_text", nil}
			}
		case escaped:
			escaped = false
		case text:
			text, escaped = c != '"', c == '\\'
		case c == '"':
			text = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
	s.comma = s.array
	s.n++
	out.raw = s.buf
	return out, nil
}
