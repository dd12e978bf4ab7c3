package audit

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pawl"
)

// Parsed is what a record's bytes say.
type Parsed struct {
	Entry
	ID   pawl.ID
	Seq  int64
	Prev Hash
}

// Parse reads a record. It accepts exactly what Seal writes and nothing else (there is one way to write a record), so
// sealing the result again gives the same bytes. The error has code audit_broken and names the field at which the
// record departs from the format.
func Parse(record []byte) (Parsed, error) {
	s := scanner{rest: record}
	p := s.record()
	if s.bad != "" {
		return Parsed{}, pawl.Fail(pawl.CodeAuditBroken, "audit.format", s.bad).In("audit.parse")
	}
	// The scanner reads every escape that JSON has; only sealing again tells whether the record used the canonical
	// ones.
	if !bytes.Equal(Seal(p.Entry, p.Seq, p.Prev).Bytes, record) {
		return Parsed{}, pawl.Fail(pawl.CodeAuditBroken, "audit.format", "encoding").In("audit.parse")
	}
	return p, nil
}

// scanner walks over a record in the order in which it was written. The first thing that does not fit is kept in bad,
// and every later step does nothing.
type scanner struct {
	rest []byte
	bad  string
	// skim leaves out what verification does not compare: the texts of level, event, actor, rule, reason and trace.
	skim bool
}

func (s *scanner) record() Parsed {
	var p Parsed
	s.expect("v", `{"v":1`)
	s.expect("audit_id", `,"audit_id":`)
	p.ID = pawl.ID(s.text("audit_id"))
	task, isTask := "", false
	if s.has(`,"task_id":`) {
		task, isTask = s.text("task_id"), true
	}
	s.expect("subject", `,"subject":`)
	p.Subject = s.subject()
	if isTask != (p.Subject.Kind == taskKind) || isTask && task != p.Subject.ID {
		s.fail("task_id")
	}
	s.expect("seq", `,"seq":`)
	p.Seq = s.number("seq")
	s.expect("level", `,"level":`)
	p.Level = Level(s.note("level"))
	s.expect("event_type", `,"event_type":`)
	p.Event = s.note("event_type")
	if s.has(`,"actor":`) {
		p.Actor = pawl.Actor(s.note("actor"))
		s.expect("payload", `,"payload":`)
		p.Data = s.value("payload")
	} else {
		s.expect("payload", `,"payload":`)
		p.Move = s.move()
		p.Actor = p.Move.Actor
	}
	s.expect("created_at", `,"created_at":`)
	p.At = s.time()
	s.expect("trace", `,"trace":`)
	p.Trace = s.note("trace")
	s.expect("prev", `,"prev":"`)
	p.Prev = s.hash()
	s.expect("prev", `"}`)
	if len(s.rest) > 0 {
		s.fail("end")
	}
	if s.bad == "" && recordID(p.At, p.Prev) != p.ID {
		s.fail("audit_id")
	}
	return p
}

func (s *scanner) fail(field string) {
	if s.bad == "" {
		s.bad = field
	}
	s.rest = nil
}

// has consumes lit if the rest begins with it.
func (s *scanner) has(lit string) bool {
	if len(s.rest) < len(lit) || string(s.rest[:len(lit)]) != lit {
		return false
	}
	s.rest = s.rest[len(lit):]
	return true
}

func (s *scanner) expect(field, lit string) {
	if !s.has(lit) {
		s.fail(field)
	}
}

// quoted consumes a JSON string and returns it with its quotes; plain says that it holds no escape.
func (s *scanner) quoted(field string) (raw []byte, plain bool) {
	if len(s.rest) == 0 || s.rest[0] != '"' {
		s.fail(field)
		return nil, true
	}
	plain = true
	for i := 1; i < len(s.rest); i++ {
		switch s.rest[i] {
		case '\\':
			plain = false
			i++
		case '"':
			raw = s.rest[:i+1]
			s.rest = s.rest[i+1:]
			return raw, plain
		}
	}
	s.fail(field)
	return nil, true
}

func (s *scanner) text(field string) string {
	raw, plain := s.quoted(field)
	if len(raw) == 0 {
		return ""
	}
	if plain {
		inner := raw[1 : len(raw)-1]
		if !utf8.Valid(inner) {
			s.fail(field)
			return ""
		}
		return string(inner)
	}
	var out string
	if json.Unmarshal(raw, &out) != nil {
		s.fail(field)
	}
	return out
}

// note is text that is left out when skimming.
func (s *scanner) note(field string) string {
	if !s.skim {
		return s.text(field)
	}
	s.quoted(field)
	return ""
}

// subject splits "kind:ID" at the first colon; a kind never holds one.
func (s *scanner) subject() Subject {
	kind, id, ok := strings.Cut(s.text("subject"), ":")
	if !ok {
		s.fail("subject")
	}
	return Subject{Kind: kind, ID: id}
}

func (s *scanner) number(field string) int64 {
	n := 0
	for n < len(s.rest) && (s.rest[n] >= '0' && s.rest[n] <= '9' || n == 0 && s.rest[n] == '-') {
		n++
	}
	v, err := strconv.ParseInt(string(s.rest[:n]), 10, 64)
	if err != nil {
		s.fail(field)
		return 0
	}
	s.rest = s.rest[n:]
	return v
}

// time reads the one form that Seal writes, in which every digit has its place.
func (s *scanner) time() time.Time {
	raw, _ := s.quoted("created_at")
	if len(raw) != len(timeLayout)+2 {
		s.fail("created_at")
		return time.Time{}
	}
	raw = raw[1 : len(raw)-1]
	var n [7]int
	field := 0
	for i, c := range raw {
		switch digit := c >= '0' && c <= '9'; {
		case digit != (timeLayout[i] >= '0' && timeLayout[i] <= '9') || !digit && c != timeLayout[i]:
			s.fail("created_at")
			return time.Time{}
		case digit:
			n[field] = n[field]*10 + int(c-'0')
		default:
			field = min(field+1, len(n)-1)
		}
	}
	return time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], n[6]*int(time.Millisecond), time.UTC)
}

func (s *scanner) hash() Hash {
	var h Hash
	if len(s.rest) < 2*len(h) {
		s.fail("prev")
		return h
	}
	if _, err := hex.Decode(h[:], s.rest[:2*len(h)]); err != nil {
		s.fail("prev")
		return h
	}
	s.rest = s.rest[2*len(h):]
	return h
}

func (s *scanner) move() *Transition {
	m := &Transition{}
	s.expect("from_state", `{"from_state":`)
	m.From = s.text("from_state")
	s.expect("to_state", `,"to_state":`)
	m.To = s.text("to_state")
	s.expect("rule", `,"rule":`)
	m.Rule = s.note("rule")
	s.expect("event", `,"event":`)
	m.Event = s.note("event")
	s.expect("actor", `,"actor":`)
	m.Actor = pawl.Actor(s.note("actor"))
	s.expect("reason", `,"reason":`)
	m.Reason = s.note("reason")
	if s.has(`,"transition_metadata":`) {
		m.Metadata = s.value("transition_metadata")
	}
	s.expect("payload", `}`)
	return m
}

// value consumes one JSON value of any kind and returns its bytes. It only finds the value's end; whether the bytes are
// JSON is settled by sealing them again.
func (s *scanner) value(field string) json.RawMessage {
	depth, i := 0, 0
scan:
	for ; i < len(s.rest); i++ {
		switch s.rest[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				break scan
			}
		case ',':
			if depth == 0 {
				break scan
			}
		case '"':
			sub := scanner{rest: s.rest[i:]}
			raw, _ := sub.quoted(field)
			if len(raw) == 0 {
				s.fail(field)
				return nil
			}
			i += len(raw) - 1
		}
	}
	if i == 0 || i > len(s.rest) {
		s.fail(field)
		return nil
	}
	out := json.RawMessage(s.rest[:i:i])
	s.rest = s.rest[i:]
	return out
}
