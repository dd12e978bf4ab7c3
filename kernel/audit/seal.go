package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"pawl"
)

// version is the number of the record format. Readers refuse a number that they do not know.
const version = 1

// taskKind is the kind of subject whose ID the seed's format also carries as "task_id".
const taskKind = "task"

// String returns the subject as records and chains name it: "kind:ID".
func (s Subject) String() string { return s.Kind + ":" + s.ID }

// Genesis returns the hash that the first record of a subject names as its predecessor: the SHA-256 of "kind:ID". It
// ties a chain to its subject, so that the records of one subject cannot pass for those of another.
func Genesis(s Subject) Hash { return Hash(sha256.Sum256([]byte(s.String()))) }

// Seal fixes an entry's place and bytes: its number seq within the subject (from 1) and the hash prev of the subject's
// previous record (Genesis for the first). The bytes are one line of JSON in the order of docs/spec/task.md#s8-1, with
// the fields that the chain needs. Sealing is deterministic: the same entry, number and predecessor give the same
// record, its audit_id included.
//
// Whatever the entry holds, the result is one well-formed line: control and format characters are escaped, broken UTF-8
// becomes U+FFFD, Data that is not JSON is kept as a JSON string, and instants are cut to the millisecond in UTC. When
// Move is set, Data is left out, and Actor counts only if Move names none.
func Seal(e Entry, seq int64, prev Hash) Sealed {
	at := clamp(e.At)
	id := recordID(at, prev)
	// One byte ahead of the record is the prefix that RFC 6962 puts before a leaf, so that hashing needs no copy.
	buf := make([]byte, 1, 512+len(e.Data)+metadataLen(e.Move))
	b := appendHeader(buf, e, id, seq)
	b = append(b, `,"payload":`...)
	if e.Move != nil {
		b = appendMove(b, e.Move, e.Actor)
	} else {
		b = appendRaw(b, e.Data)
	}
	b = append(b, `,"created_at":"`...)
	b = appendTime(b, at)
	b = append(b, `","trace":`...)
	b = appendText(b, e.Trace)
	b = append(b, `,"prev":"`...)
	b = hex.AppendEncode(b, prev[:])
	b = append(b, `"}`...)
	return Sealed{ID: id, Subject: e.Subject, Seq: seq, Event: e.Event, At: at,
		Bytes: b[1:len(b):len(b)], Hash: Hash(sha256.Sum256(b))}
}

// Follows reports whether a sealed record names prev as its predecessor. It looks at the end of the record only, which
// is where Seal puts it, so that a store can ask for each record that it takes.
func Follows(record []byte, prev Hash) bool {
	var end [2*len(prev) + 2]byte
	hex.Encode(end[:], prev[:])
	copy(end[2*len(prev):], `"}`)
	return bytes.HasSuffix(record, end[:])
}

// timeLayout is RFC 3339 with exactly three digits of milliseconds, in UTC.
const timeLayout = "2006-01-02T15:04:05.000Z"

// clamp cuts an instant to what both the text form and a ULID can hold: the years 1970 to 9999, in milliseconds.
func clamp(at time.Time) time.Time {
	const last = 253402300799999 // 9999-12-31T23:59:59.999Z
	return time.UnixMilli(min(max(at.UnixMilli(), 0), last)).UTC()
}

// appendTime writes what clamp returned in the timeLayout. The package time has a short way for RFC 3339 without
// fractions, and none for a layout of one's own, which would take as long as the hash of the record.
func appendTime(b []byte, at time.Time) []byte {
	b = at.AppendFormat(b, time.RFC3339)
	ms := at.Nanosecond() / int(time.Millisecond)
	return append(b[:len(b)-1], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z')
}

// recordID derives a record's ULID from its instant and its predecessor.
func recordID(at time.Time, prev Hash) pawl.ID {
	var u ulid.ULID
	// Neither call can fail: clamp keeps the time in range, and the entropy has exactly the length that is asked for.
	_ = u.SetTime(uint64(at.UnixMilli()))
	_ = u.SetEntropy(prev[:10])
	return pawl.ID(u.String())
}

func metadataLen(m *Transition) int {
	if m == nil {
		return 0
	}
	return len(m.Reason) + len(m.Metadata)
}

// appendHeader writes everything before the payload. A record without "actor" at this level is a transition, whose
// payload names the actor; that is how a reader tells the two apart without trusting the payload.
func appendHeader(b []byte, e Entry, id pawl.ID, seq int64) []byte {
	b = append(b, `{"v":`...)
	b = strconv.AppendInt(b, version, 10)
	b = append(b, `,"audit_id":"`...)
	b = append(b, id...)
	b = append(b, '"')
	if e.Subject.Kind == taskKind {
		b = append(b, `,"task_id":`...)
		b = appendText(b, e.Subject.ID)
	}
	b = append(b, `,"subject":`...)
	b = appendText(b, e.Subject.String())
	b = append(b, `,"seq":`...)
	b = strconv.AppendInt(b, seq, 10)
	b = append(b, `,"level":`...)
	b = appendText(b, string(e.Level))
	b = append(b, `,"event_type":`...)
	b = appendText(b, e.Event)
	if e.Move == nil {
		b = append(b, `,"actor":`...)
		b = appendText(b, string(e.Actor))
	}
	return b
}

func appendMove(b []byte, m *Transition, actor pawl.Actor) []byte {
	if m.Actor != "" {
		actor = m.Actor
	}
	b = append(b, `{"from_state":`...)
	b = appendText(b, m.From)
	b = append(b, `,"to_state":`...)
	b = appendText(b, m.To)
	b = append(b, `,"rule":`...)
	b = appendText(b, m.Rule)
	b = append(b, `,"event":`...)
	b = appendText(b, m.Event)
	b = append(b, `,"actor":`...)
	b = appendText(b, string(actor))
	b = append(b, `,"reason":`...)
	b = appendText(b, m.Reason)
	if len(m.Metadata) > 0 {
		b = append(b, `,"transition_metadata":`...)
		b = appendRaw(b, m.Metadata)
	}
	return append(b, '}')
}

// appendText writes s as a JSON string.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf-1 && c != '"' && c != '\\' {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if n > 1 && !hidden(r) {
			i += n
			continue
		}
		b = append(b, s[start:i]...)
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case r == utf8.RuneError && n == 1:
			b = utf8.AppendRune(b, r)
		default:
			b = appendEscape(b, r)
		}
		i += n
		start = i
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

// hidden reports whether a rune would not show, or would change how its neighbours show, when a log is printed:
// controls, format characters such as bidirectional marks, tags and zero-width joiners, and the two Unicode line
// separators.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

func appendEscape(b []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	unit := func(b []byte, u rune) []byte {
		return append(b, '\\', 'u', digits[u>>12&15], digits[u>>8&15], digits[u>>4&15], digits[u&15])
	}
	if r > 0xffff {
		r -= 0x10000
		return unit(unit(b, 0xd800+r>>10), 0xdc00+r&0x3ff)
	}
	return unit(b, r)
}

// appendRaw writes JSON without its insignificant space and with hidden characters escaped; nothing is written as {},
// and what is not JSON as a string.
func appendRaw(b []byte, raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return append(b, "{}"...)
	}
	if !json.Valid(raw) {
		return appendText(b, string(raw))
	}
	quoted := false
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c >= utf8.RuneSelf-1:
			r, n := utf8.DecodeRune(raw[i:])
			if hidden(r) {
				b = appendEscape(b, r)
			} else {
				b = utf8.AppendRune(b, r)
			}
			i += n
			continue
		case quoted && c == '\\':
			b = append(b, c, raw[i+1])
			i += 2
			continue
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ' ' || c == '\n' || c == '\r' || c == '\t'):
			i++
			continue
		}
		b = append(b, c)
		i++
	}
	return b
}
