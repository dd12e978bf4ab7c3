package pawl

import (
	"fmt"
	"io"
	"time"

	"github.com/oklog/ulid/v2"
)

// ID is a ULID in its canonical text form of 26 characters: the key of everything that the store keeps. IDs sort by the
// time at which they were made.
type ID string

// ParseID checks s and returns it in canonical form.
func ParseID(s string) (ID, error) {
	u, err := ulid.ParseStrict(s)
	if err != nil {
		return "", Fail(CodeNotFound, "id.malformed", s)
	}
	return ID(u.String()), nil
}

// Valid reports whether the ID is a well-formed ULID.
func (i ID) Valid() bool {
	_, err := ulid.ParseStrict(string(i))
	return err == nil
}

// NewID makes an ID from an instant and a source of randomness. Both are arguments so that decisions stay reproducible.
func NewID(at time.Time, random io.Reader) (ID, error) {
	u, err := ulid.New(ulid.Timestamp(at), random)
	if err != nil {
		return "", fmt.Errorf("make id: %w", err)
	}
	return ID(u.String()), nil
}

// IDSource hands out IDs that are larger than every earlier one of the same source, even within one millisecond and when
// the clock steps back. It is not safe for concurrent use; a command carries its own.
type IDSource struct {
	at      time.Time
	entropy ulid.MonotonicReader
}

// NewIDSource returns a source for the instant at. The same instant and the same random bytes give the same IDs, which is
// what makes a decision replayable.
func NewIDSource(at time.Time, random io.Reader) *IDSource {
	return &IDSource{at: at, entropy: ulid.Monotonic(random, 0)}
}

// Next returns the next ID.
func (s *IDSource) Next() (ID, error) {
	u, err := ulid.New(ulid.Timestamp(s.at), s.entropy)
	if err != nil {
		return "", fmt.Errorf("make id: %w", err)
	}
	return ID(u.String()), nil
}
