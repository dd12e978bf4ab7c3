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

// IDSource hands out IDs of one instant that are each larger than the one before. It is not safe for concurrent use; a
// command carries its own.
type IDSource struct {
	at     time.Time
	random io.Reader
	last   ulid.ULID
	begun  bool
}

// NewIDSource returns a source for the instant at, which takes ten random bytes for its first ID and counts on from
// there. The same instant and the same random bytes give the same IDs, which is what makes a decision replayable.
func NewIDSource(at time.Time, random io.Reader) *IDSource {
	return &IDSource{at: at, random: random}
}

// Next returns the next ID. It fails where the random bytes end, and behind the last ID of a millisecond.
func (s *IDSource) Next() (ID, error) {
	if s.begun {
		return s.following()
	}
	u, err := ulid.New(ulid.Timestamp(s.at), s.random)
	if err != nil {
		return "", fmt.Errorf("make id: %w", err)
	}
	s.last, s.begun = u, true
	return ID(u.String()), nil
}

// following counts the random part of the last ID up by one.
func (s *IDSource) following() (ID, error) {
	const random = 6 // bytes ahead of it hold the instant
	next := s.last
	for i := len(next) - 1; i >= random; i-- {
		if next[i]++; next[i] != 0 {
			s.last = next
			return ID(next.String()), nil
		}
	}
	return "", fmt.Errorf("make id: %w", ulid.ErrMonotonicOverflow)
}
