package llm

import (
	"bufio"
	"bytes"
	"io"
)

// event is one server-sent event (WHATWG HTML, section 9.2).
type event struct{ data []byte }

// events reads a stream of events. An event whose closing blank line is missing never happened.
type events struct{ r *bufio.Reader }

func newEvents(r io.Reader) *events { return &events{bufio.NewReaderSize(r, 16<<10)} }

func (e *events) next() (event, error) {
	var out event
	has := false
	for {
		line, err := e.line()
		if err != nil {
			return event{}, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			if has {
				return out, nil
			}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		if string(field) != "data" {
			continue
		}
		if has {
			out.data = append(out.data, '\n')
		}
		out.data = append(out.data, bytes.TrimPrefix(value, []byte(" "))...)
		has = true
	}
}

// line reads a line without copying it where it fits the buffer; it is valid until the next one is read.
func (e *events) line() ([]byte, error) {
	line, err := e.r.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return line, err
	}
	whole := append([]byte(nil), line...)
	for err == bufio.ErrBufferFull {
		line, err = e.r.ReadSlice('\n')
		whole = append(whole, line...)
	}
	return whole, err
}
