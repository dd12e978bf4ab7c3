package file

import (
	"regexp"
	"strings"
	"sync"

	"pawl"
)

// The markers of the patch format that coding models emit. White space around a marker line is ignored.
const (
	markBegin  = "*** Begin Patch"
	markEnd    = "*** End Patch"
	markAdd    = "*** Add File:"
	markDelete = "*** Delete File:"
	markUpdate = "*** Update File:"
	markMove   = "*** Move to:"
	markEOF    = "*** End of File"
	markHunk   = "@@"
)

// ranges matches the line numbers of a unified hunk header, which some models put after the @@ of this format. They are
// ignored: this format finds its place by content.
var ranges = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-\d+(,\d+)? \+\d+(,\d+)? @@ ?`) })

// hunk is one place of an update. Its body lines are found in order, each hunk after the one before.
type hunk struct {
	anchors []string // lines to go past first, outermost first
	body    []bodyLine
	atEnd   bool // the body is the end of the file
	blank   int  // how many lines at the end of body are empty without even a leading space: perhaps only layout
	line    int
}

// bodyLine is a line of a hunk: op is ' ' for context, '-' for removed, '+' for added.
type bodyLine struct {
	op   byte
	text string
}

// envelope parses the *** Begin Patch format.
type envelope struct {
	lines []string
	next  int
}

// isEnvelope reports whether text is in the *** Begin Patch format rather than a unified diff.
func isEnvelope(text string) bool {
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "<<") {
			return l == markBegin
		}
	}
	return false
}

// parseEnvelope reads a patch. Any line that the format does not allow where it stands is an error with its number.
func parseEnvelope(text string) ([]section, error) {
	p := &envelope{lines: strings.Split(text, "\n")}
	for i, l := range p.lines {
		p.lines[i] = strings.TrimSuffix(l, "\r")
	}
	p.unwrap()
	if p.marker() != markBegin {
		return nil, p.fail("file.patch_begin")
	}
	p.next++
	var out []section
	for p.marker() != markEnd {
		if p.next >= len(p.lines) {
			return nil, p.fail("file.patch_end")
		}
		if p.marker() == "" {
			p.next++
			continue
		}
		s, err := p.section()
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	p.next++
	if p.skipBlank(); p.next < len(p.lines) {
		return nil, p.fail("file.patch_after_end")
	}
	if len(out) == 0 {
		return nil, pawl.Fail(pawl.CodeInvalid, "file.patch_empty").In("file.patch")
	}
	return out, nil
}

// unwrap skips blank lines around the patch, and the shell heredoc that models wrap it in when they think of a command.
func (p *envelope) unwrap() {
	for len(p.lines) > 0 && strings.TrimSpace(p.lines[len(p.lines)-1]) == "" {
		p.lines = p.lines[:len(p.lines)-1]
	}
	p.skipBlank()
	tag, ok := strings.CutPrefix(p.marker(), "<<")
	tag = strings.Trim(tag, `"'`)
	if last := len(p.lines) - 1; ok && tag != "" && last > p.next && strings.TrimSpace(p.lines[last]) == tag {
		p.lines = p.lines[:last]
		p.next++
	}
}

func (p *envelope) skipBlank() {
	for p.next < len(p.lines) && p.marker() == "" {
		p.next++
	}
}

// marker returns the current line without the white space around it, "" at the end.
func (p *envelope) marker() string {
	if p.next >= len(p.lines) {
		return ""
	}
	return strings.TrimSpace(p.lines[p.next])
}

func (p *envelope) fail(key string, args ...any) error {
	return pawl.Fail(pawl.CodeInvalid, key, append([]any{p.next + 1}, args...)...).In("file.patch")
}

func (p *envelope) section() (section, error) {
	head := p.marker()
	s := section{line: p.next + 1}
	for _, m := range []struct {
		mark   string
		action action
	}{{markAdd, actionAdd}, {markDelete, actionDelete}, {markUpdate, actionUpdate}} {
		if rest, ok := strings.CutPrefix(head, m.mark); ok {
			s.action, s.path = m.action, strings.TrimSpace(rest)
		}
	}
	if s.action == "" {
		return s, p.fail("file.patch_header", head)
	}
	if s.path == "" {
		return s, p.fail("file.patch_path")
	}
	p.next++
	switch s.action {
	case actionAdd:
		s.add = p.added()
	case actionUpdate:
		return p.update(s)
	}
	return s, nil
}

func (p *envelope) added() string {
	var b strings.Builder
	for ; p.next < len(p.lines); p.next++ {
		text, ok := strings.CutPrefix(p.lines[p.next], "+")
		if !ok {
			break
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}

func (p *envelope) update(s section) (section, error) {
	if rest, ok := strings.CutPrefix(p.marker(), markMove); ok {
		if s.moveTo = strings.TrimSpace(rest); s.moveTo == "" {
			return s, p.fail("file.patch_path")
		}
		p.next++
	}
	for p.next < len(p.lines) {
		if p.marker() == "" && len(s.hunks) > 0 {
			p.next++
			continue
		}
		if strings.HasPrefix(p.marker(), "***") {
			break
		}
		h, err := p.hunk(len(s.hunks) == 0)
		if err != nil {
			return s, err
		}
		s.hunks = append(s.hunks, h)
	}
	if len(s.hunks) == 0 && s.moveTo == "" {
		return s, pawl.Fail(pawl.CodeInvalid, "file.patch_hunk_empty", s.line, s.path).In("file.patch")
	}
	return s, nil
}

// hunk reads one hunk; the first of a section may stand without @@.
func (p *envelope) hunk(first bool) (hunk, error) {
	h := hunk{line: p.next + 1}
	headed := false
	for strings.HasPrefix(p.marker(), markHunk) {
		headed = true
		anchor := strings.TrimPrefix(strings.TrimPrefix(p.marker(), markHunk), " ")
		if ranges().MatchString(anchor) {
			anchor = ""
		}
		if anchor = strings.TrimSpace(anchor); anchor != "" {
			h.anchors = append(h.anchors, anchor)
		}
		p.next++
	}
	if !headed && !first {
		return h, p.fail("file.patch_line", p.marker())
	}
	for ; p.next < len(p.lines); p.next++ {
		l := p.lines[p.next]
		if strings.TrimSpace(l) == markEOF {
			h.atEnd = true
			p.next++
			break
		}
		if l == "" {
			h.body = append(h.body, bodyLine{op: ' '})
			h.blank++
			continue
		}
		if strings.IndexByte(" +-", l[0]) < 0 || p.atMarker() {
			break
		}
		h.blank = 0
		h.body = append(h.body, bodyLine{l[0], l[1:]})
	}
	if len(h.body) == h.blank && !h.atEnd {
		return h, p.fail("file.patch_line", p.marker())
	}
	return h, nil
}

// atMarker tells a marker that is padded with white space from a line of context that happens to look like one: after
// its padding of one space such a context line is still a whole marker, and then the marker is meant.
func (p *envelope) atMarker() bool {
	m := p.marker()
	if p.lines[p.next][0] != ' ' {
		return false
	}
	return m == markEnd || strings.HasPrefix(m, markAdd) || strings.HasPrefix(m, markDelete) ||
		strings.HasPrefix(m, markUpdate)
}

// applyHunks returns the content with the hunks applied.
func (s section) applyHunks(content string) (string, error) {
	const bom = "\ufeff"
	body, marked := strings.CutPrefix(content, bom)
	out, err := s.applyLines(splitLines(body, false))
	if err != nil && hasLoneCR(body) {
		if again, second := s.applyLines(splitLines(body, true)); second == nil {
			out, err = again, nil
		}
	}
	if err != nil {
		return "", err
	}
	if marked {
		out = bom + out
	}
	return out, nil
}

func hasLoneCR(s string) bool { return strings.Count(s, "\r") != strings.Count(s, "\r\n") }

func (s section) applyLines(lines []line) (string, error) {
	find := newSeeker(lines)
	eol := dominantEnd(lines)
	out := make([]line, 0, len(lines))
	done := 0 // lines[:done] are dealt with
	for _, h := range s.hunks {
		at, body, err := s.place(find, h, done)
		if err != nil {
			return "", err
		}
		out = append(out, lines[done:at]...)
		done = at
		for _, b := range body {
			switch b.op {
			case '+':
				out = append(out, line{b.text, eol})
			case ' ':
				out = append(out, lines[done])
				done++
			case '-':
				done++
			}
		}
	}
	return joinLines(append(out, lines[done:]...), eol), nil
}

// place finds where a hunk's body stands, at or after from, and returns it with the body to apply there. A body that
// only adds goes behind its last anchor, or to the end of the file where it has none.
func (s section) place(find *seeker, h hunk, from int) (int, []bodyLine, error) {
	for _, a := range h.anchors {
		at := find.seek([]string{a}, from, false)
		if at < 0 {
			return 0, nil, s.conflict(h, a)
		}
		from = at + 1
	}
	for _, body := range [][]bodyLine{h.body, h.body[:len(h.body)-h.blank]} {
		old := make([]string, 0, len(body))
		for _, b := range body {
			if b.op != '+' {
				old = append(old, b.text)
			}
		}
		if len(old) == 0 && (len(h.anchors) == 0 || h.atEnd) {
			return len(find.lines), body, nil
		}
		if at := find.seek(old, from, h.atEnd); at >= 0 {
			return at, body, nil
		}
	}
	first := ""
	for _, b := range h.body {
		if b.op != '+' && (first == "" || strings.TrimSpace(first) == "") {
			first = b.text
		}
	}
	return 0, nil, s.conflict(h, first)
}

func (s section) conflict(h hunk, missing string) error {
	return pawl.Fail(pawl.CodeConflict, "file.patch_context", s.path, h.line, missing).In("file.patch")
}
