package audit

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"time"
)

// Front is where a log begins whose oldest records were retired, with what is still known of those: the subtrees that
// they amount to, from which the root of the whole log follows as before, and where the records of each subject ended
// that stays. The zero Front is that of a whole log.
type Front struct {
	Size     int64 // how many records were retired: the index of the first that is there
	Frontier []Hash
	Tails    map[Subject]Tail
}

// Tree is the size and root of what was retired.
func (f Front) Tree() Tree { return Head{Size: f.Size, Frontier: f.Frontier}.Append().Tree() }

// EventRetired is the event of the record that says what was retired. Its payload is a Retired.
const EventRetired = "HISTORY_RETIRED"

// Retired is what the log says of its front. A front counts only if a record behind it says this of it.
type Retired struct {
	Records int64 `json:"records"` // how many records of the log are retired, with those that were before
	Front   Hash  `json:"front"`   // the digest of the front
	Root    Hash  `json:"root"`    // the root over the records that are retired
	Rows    int   `json:"rows"`    // how many rows were removed with them, this time
	// Before is the instant before which what they tell of had ended.
	Before time.Time `json:"before"`
}

// frontForm is a front in the one form in which it is stored and digested.
type frontForm struct {
	Size     int64      `json:"size"`
	Frontier []Hash     `json:"frontier"`
	Tails    []tailForm `json:"tails"`
}

type tailForm struct {
	Kind  string `json:"kind"`
	ID    string `json:"id"`
	Seq   int64  `json:"seq"`
	Hash  Hash   `json:"hash"`
	Moved bool   `json:"moved,omitempty"`
	State string `json:"state,omitempty"`
}

// MarshalJSON writes the front in the one form that there is of it.
func (f Front) MarshalJSON() ([]byte, error) {
	form := frontForm{Size: f.Size, Frontier: f.Frontier, Tails: make([]tailForm, 0, len(f.Tails))}
	for s, t := range f.Tails {
		form.Tails = append(form.Tails, tailForm{s.Kind, s.ID, t.Seq, t.Hash, t.Moved, t.State})
	}
	slices.SortFunc(form.Tails, func(a, b tailForm) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.ID, b.ID))
	})
	return json.Marshal(form)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (f *Front) UnmarshalJSON(data []byte) error {
	var form frontForm
	if err := json.Unmarshal(data, &form); err != nil {
		return err
	}
	*f = Front{Size: form.Size, Frontier: form.Frontier, Tails: make(map[Subject]Tail, len(form.Tails))}
	for _, t := range form.Tails {
		f.Tails[Subject{t.Kind, t.ID}] = Tail{Seq: t.Seq, Hash: t.Hash, Moved: t.Moved, State: t.State}
	}
	return nil
}

// Bytes is the front as it is stored and digested: its JSON, and nil for that of a whole log.
func (f Front) Bytes() []byte {
	if f.Size == 0 {
		return nil
	}
	out, err := json.Marshal(f)
	if err != nil {
		panic(err) // numbers, texts and hashes can always be written
	}
	return out
}

// Digest is the hash of the front's bytes.
func (f Front) Digest() Hash { return sha256.Sum256(f.Bytes()) }

// ParseFront reads what Bytes wrote. The error has code audit_broken.
func ParseFront(data []byte) (Front, error) {
	if len(data) == 0 {
		return Front{}, nil
	}
	var f Front
	if err := json.Unmarshal(data, &f); err != nil || f.Size < 1 ||
		bits.OnesCount64(uint64(f.Size)) != len(f.Frontier) || !bytes.Equal(f.Bytes(), data) {
		return Front{}, broken("audit.front", f.Size)
	}
	return f, nil
}

// Without is the front when the rows of some subjects are removed, of which nothing needs to be known any more.
func (f Front) Without(gone func(Subject) bool) Front {
	f.Tails = maps.Clone(f.Tails)
	maps.DeleteFunc(f.Tails, func(s Subject, _ Tail) bool { return gone(s) })
	return f
}

// Advance returns the front that the log has when its records are retired up to the first for which stop says so, and
// verifies each of them on the way as Verify does. Whoever retires them verifies the log as a whole before.
func (l Log) Advance(stop func(index int64, at time.Time) bool) (Front, error) {
	front, err := l.Beginning()
	if err != nil {
		return Front{}, err
	}
	v := newVerifier(front)
	for rec, err := range l.Records {
		if err != nil {
			return Front{}, err
		}
		p, leaf, err := v.record(rec)
		if err != nil {
			return Front{}, err
		}
		if stop(rec.Index, p.At) {
			break
		}
		v.take(p, leaf)
	}
	return Front{Size: v.head.size, Frontier: v.head.trees, Tails: v.report.Tails}, nil
}

// said reports whether a record says that this front was retired.
func (f Front) said(record []byte) bool {
	if !bytes.Contains(record, []byte(`"event_type":"`+EventRetired+`"`)) {
		return false
	}
	p, err := Parse(record)
	var r Retired
	return err == nil && p.Event == EventRetired && json.Unmarshal(p.Data, &r) == nil &&
		r.Records == f.Size && r.Front == f.Digest() && r.Root == f.Tree().Hash
}
