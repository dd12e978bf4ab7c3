package logs

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const escape = 0x1b

// OutputMark begins each line of a command's output in the log of an agent.
const OutputMark = "│ "

// shownLines is how many lines of one output Brief keeps.
const shownLines = 5

// Brief keeps the last lines of each output in the log of an agent, after a line with the number of those before.
func Brief(lines []string) []string {
	var out []string
	for from := 0; from < len(lines); {
		to := from
		for to < len(lines) && strings.HasPrefix(lines[to], OutputMark) {
			to++
		}
		if over := to - from - shownLines; over > 0 {
			out, from = append(out, OutputMark+"… +"+strconv.Itoa(over)), from+over
		}
		to = max(to, from+1)
		out, from = append(out, lines[from:to]...), to
	}
	return out
}

// Plain turns the output of a terminal program into plain text: valid UTF-8 without control sequences, with one line in
// place of those that a progress display draws over each other. A sequence that does not end is not believed: only its
// first character goes, so that it cannot hide what follows.
func Plain(output []byte) string {
	text := plain(output)
	var b strings.Builder
	b.Grow(len(text))
	for l := range bytes.Lines(text) {
		body, newline := bytes.CutSuffix(l, []byte{'\n'})
		b.Write(drawn(bytes.TrimRight(body, "\r")))
		if newline {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// drawn returns what a terminal shows at the end of a line in which carriage returns went back to its beginning.
func drawn(l []byte) []byte {
	if i := bytes.LastIndexByte(l, '\r'); i >= 0 {
		return l[i+1:]
	}
	return l
}

// plain drops the control sequences and all control characters but tab, newline and carriage return. A backspace takes
// the character before it along.
func plain(in []byte) []byte {
	out := make([]byte, 0, len(in))
	for i := 0; i < len(in); {
		c := in[i]
		switch {
		case c == escape:
			i += sequence(in[i:])
			continue
		case c == '\b':
			if _, size := utf8.DecodeLastRune(out); size > 0 && out[len(out)-1] != '\n' {
				out = out[:len(out)-size]
			}
			i++
			continue
		case c < utf8.RuneSelf:
			if c >= ' ' && c != 0x7f || c == '\t' || c == '\n' || c == '\r' {
				out = append(out, c)
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(in[i:])
		i += size
		if !unicode.IsControl(r) {
			out = utf8.AppendRune(out, r) // an invalid byte becomes U+FFFD
		}
	}
	return out
}

// maxSequence bounds a control sequence; a longer one is not one.
const maxSequence = 4096

// sequence returns the length of the control sequence at the start of in, which begins with ESC.
func sequence(in []byte) int {
	in = in[:min(len(in), maxSequence)]
	if len(in) < 2 {
		return 1
	}
	switch c := in[1]; {
	case c == '[':
		return parameters(in)
	case strings.IndexByte("]PX^_", c) >= 0:
		return message(in)
	case c >= 0x20 && c <= 0x2f: // an intermediate byte, then one more
		if len(in) > 2 && in[2] >= 0x30 && in[2] <= 0x7e {
			return 3
		}
		return 1
	case c >= 0x30 && c <= 0x7e:
		return 2
	}
	return 1
}

// parameters is the length of a sequence that begins with ESC [ and ends with a letter.
func parameters(in []byte) int {
	for i := 2; i < len(in); i++ {
		if in[i] >= 0x40 && in[i] <= 0x7e {
			return i + 1
		}
		if in[i] < 0x20 || in[i] > 0x3f {
			break
		}
	}
	return 1
}

// message is the length of a sequence that holds a text for the terminal and ends with BEL or ESC \.
func message(in []byte) int {
	for i := 2; i < len(in); i++ {
		switch {
		case in[i] == 0x07:
			return i + 1
		case in[i] == escape && i+1 < len(in) && in[i+1] == '\\':
			return i + 2
		case in[i] == '\n':
			return 1
		}
	}
	return 1
}
