// Package audit is the record of what happened and on whose word: records as docs/spec/task.md#s8 has them, sealed into
// exact bytes, chained per subject and collected in one Merkle log (RFC 6962 hashing) per workspace. Everything here is
// pure; the store keeps the bytes and the head in the same transaction as the change that they tell of.
package audit

import (
	"encoding/json"
	"iter"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"pawl"
)

// Hash is a SHA-256 hash of the Merkle log.
type Hash = tlog.Hash

// Level grades a record (docs/spec/task.md#levels).
type Level string

// The three levels.
const (
	Info  Level = "info"
	Warn  Level = "warn"
	Error Level = "error"
)

// Subject is what a record is about: the kind of a row and its ID.
type Subject struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
}

// Transition is the payload of a record about a state change (docs/spec/task.md#s8-1).
type Transition struct {
	From     string          `json:"from_state"`
	To       string          `json:"to_state"`
	Rule     string          `json:"rule"`
	Event    string          `json:"event"`
	Actor    pawl.Actor      `json:"actor"`
	Reason   string          `json:"reason"`
	Metadata json.RawMessage `json:"transition_metadata,omitempty"`
}

// Entry is a record as the kernel decides it, before the store's chain is known. Exactly one of Move and Data is set.
type Entry struct {
	Subject Subject
	Level   Level
	// Event is the seed's event type: TASK_CREATED, STATE_TRANSITION_RUNNING, GATE_VERIFICATION_RESULT, …
	Event string
	Move  *Transition
	Actor pawl.Actor
	Data  json.RawMessage
	At    time.Time
	Trace string
}

// Sealed is an entry with its place in the subject's chain and its exact bytes. Bytes are what is hashed, stored,
// exported and verified; they are never re-encoded.
type Sealed struct {
	ID      pawl.ID
	Subject Subject
	Seq     int64
	Event   string
	At      time.Time
	Bytes   []byte
	Hash    Hash
}

// Stored is a record as the store hands it back.
type Stored struct {
	Index   int64 // position in the log, from 0
	Subject Subject
	Seq     int64
	Bytes   []byte
	Hash    Hash // the leaf hash as stored, which Verify recomputes
}

// Log is an audit log as it is at one moment: records that are written later are not in it. It can be read for as long
// as whoever handed it out says.
type Log struct {
	// Identity is the name of the store that the log is in: random, made with the store, kept by its copies and by
	// nothing else.
	Identity string
	// Unnamed says that the log is older than its store's identity, so that nothing said of it before has that name.
	Unnamed bool
	Head    Head
	// Front reads what is known of the oldest records where they were retired, as Front.Bytes wrote it; nil, or
	// nothing, for a log that begins with its first record.
	Front func() ([]byte, error)
	// Records are all records that are there, in their order. They may be gone through more than once, by one goroutine
	// at a time.
	Records iter.Seq2[Stored, error]
}

// Head is the state of a Merkle log: its size, its root, and the frontier of complete subtrees from which it grows.
type Head struct {
	Size     int64
	Root     Hash
	Frontier []Hash
}
