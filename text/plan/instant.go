package plan

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"
)

// Instant is a time that is written as RFC 3339 UTC with milliseconds and read from that or from an integer of Unix
// seconds or milliseconds (docs/spec/turn.md#b14). The zero Instant means that no time was given; it is left out when a
// plan is written.
type Instant struct{ time.Time }

// instantLayout is RFC 3339 with exactly the milliseconds.
const instantLayout = "2006-01-02T15:04:05.000Z07:00"

// Bounds of the integers that are read: larger than maxSeconds means milliseconds, and years have four digits.
const (
	maxSeconds = 99_999_999_999
	maxMillis  = 253_402_300_799_999
)

var errInstant = errors.New("not a time: want RFC 3339, or Unix seconds or milliseconds")

// At returns the instant of t, cut to milliseconds and in UTC, so that it survives being written and read.
func At(t time.Time) Instant {
	if t.IsZero() {
		return Instant{}
	}
	return Instant{t.UTC().Truncate(time.Millisecond)}
}

// String returns the written form, or "" for the zero Instant.
func (i Instant) String() string {
	if i.IsZero() {
		return ""
	}
	return i.UTC().Format(instantLayout)
}

// MarshalJSON writes the instant as a string; the zero Instant is the empty string.
func (i Instant) MarshalJSON() ([]byte, error) {
	if y := i.UTC().Year(); y < 0 || y > 9999 {
		return nil, errInstant
	}
	return json.Marshal(i.String())
}

// UnmarshalJSON reads what MarshalJSON writes, any RFC 3339 time, and integers.
func (i *Instant) UnmarshalJSON(data []byte) error {
	if string(data) == `""` {
		*i = Instant{}
		return nil
	}
	v, err := parseJSON(data)
	if err != nil {
		return errInstant
	}
	got, err := v.instant()
	if err != nil {
		return err
	}
	*i = got
	return nil
}

// instant reads a time from a text or a number.
func (v *value) instant() (Instant, error) {
	switch {
	case v.kind == kindText:
		t, err := time.Parse(time.RFC3339Nano, v.text)
		if y := t.UTC().Year(); err != nil || y < 0 || y > 9999 {
			return Instant{}, errInstant
		}
		return At(t), nil
	case v.kind == kindNumber:
		n, err := strconv.ParseInt(v.text, 10, 64)
		switch {
		case err != nil || n < 0 || n > maxMillis:
			return Instant{}, errInstant
		case n <= maxSeconds:
			return At(time.Unix(n, 0)), nil
		default:
			return At(time.UnixMilli(n)), nil
		}
	}
	return Instant{}, errInstant
}
