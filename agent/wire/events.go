package wire

import "bytes"

// Events finds the events in a stream of them, which comes in pieces (WHATWG HTML, section 9.2, "server-sent events").
type Events struct {
	// Take is given the data of each event, which is valid during the call. It returns true where the rest does not
	// matter.
	Take func(data []byte) (done bool)
	// Most bounds a line and an event's data, in bytes; Lost is told of each piece that is more. With 0
	// nothing is lost.
	Most int
	Lost func(piece []byte)

	line  []byte // the line that is not ended yet
	data  []byte // the event that is not ended yet
	begun bool   // the event has data, be it none
	lost  bool   // the line is too long
	done  bool
}

// Feed takes a piece of the stream.
func (e *Events) Feed(p []byte) {
	for len(p) > 0 && !e.done {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			e.keep(p)
			return
		}
		if len(e.line) == 0 && !e.lost {
			e.take(p[:i])
		} else {
			e.keep(p[:i])
			e.take(e.line)
			e.line, e.lost = e.line[:0], false
		}
		p = p[i+1:]
	}
}

// End takes the stream for ended where it is: what is there of an event counts, although its closing blank line is
// missing. Without it such an event never happened.
func (e *Events) End() {
	if len(e.line) > 0 && !e.lost {
		e.take(e.line)
	}
	e.take(nil)
}

// keep adds to the line that is not ended yet.
func (e *Events) keep(p []byte) {
	if e.lost = e.lost || e.Most > 0 && len(e.line)+len(p) > e.Most; e.lost {
		e.Lost(e.line)
		e.Lost(p)
		e.line = e.line[:0]
		return
	}
	e.line = append(e.line, p...)
}

// take takes a line. One that was lost closes the event before it.
func (e *Events) take(line []byte) {
	line = bytes.TrimRight(line, "\r")
	if len(line) == 0 {
		if e.begun {
			e.done = e.Take(e.data)
		}
		e.data, e.begun = e.data[:0], false
		return
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	if string(field) != "data" {
		return
	}
	if e.Most > 0 && len(e.data)+len(value) > e.Most {
		e.Lost(value)
		return
	}
	if e.begun {
		e.data = append(e.data, '\n')
	}
	e.data, e.begun = append(e.data, bytes.TrimPrefix(value, []byte(" "))...), true
}
