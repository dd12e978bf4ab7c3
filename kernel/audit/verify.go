package audit

import (
	"cmp"
	"crypto/sha256"
	"iter"
	"slices"

	"pawl"
)

// Report is what Verify found in the records that it read, complete only when there was no error.
type Report struct {
	Size  int64            // records read and found good
	Moves int64            // how many of them are transitions
	Root  Hash             // the root over the records read
	Tails map[Subject]Tail // where each subject's records ended
}

// Tail is how far the records of a subject go.
type Tail struct {
	Seq   int64
	Hash  Hash
	Moved bool   // at least one of them is a transition
	State string // where the last transition led
}

// Verify reads a whole log from its first record and checks everything that can be checked from the log itself: the
// form of each record, its leaf hash, that it is where it says it is, each subject's numbers and chain, that each
// transition starts where the subject's last one ended, and that the records amount to the head. Anchors are what
// trusted checkpoints said (VerifyCheckpoint); each must be a prefix of the log, which is what reveals a log that was
// cut short or rewritten together with its head.
//
// The error names the first record that is wrong, has code audit_broken and stands beside a report of what was read up
// to there. An error of the iteration is returned as it is. Time is linear, memory grows with the number of subjects
// only.
func Verify(records iter.Seq2[Stored, error], head Head, anchors ...Tree) (Report, error) {
	v := verifier{report: Report{Tails: map[Subject]Tail{}}}
	v.anchors = slices.SortedFunc(slices.Values(anchors), func(a, b Tree) int { return cmp.Compare(a.N, b.N) })
	err := v.run(records, head)
	v.report.Root = v.head.root()
	return v.report, err
}

type verifier struct {
	head    frontier
	anchors []Tree
	report  Report
	scratch []byte
}

func (v *verifier) run(records iter.Seq2[Stored, error], head Head) error {
	for rec, err := range records {
		if err != nil {
			return err
		}
		if v.report.Size >= head.Size {
			return broken("audit.surplus", v.report.Size)
		}
		if err := v.anchor(); err != nil {
			return err
		}
		if err := v.record(rec); err != nil {
			return err
		}
		v.report.Size++
	}
	if err := v.anchor(); err != nil {
		return err
	}
	if v.report.Size < head.Size {
		return broken("audit.missing", v.report.Size, head.Size)
	}
	if len(v.anchors) > 0 {
		return broken("audit.truncated", v.report.Size, v.anchors[0].N)
	}
	if !head.Valid() || head.Append().Root != v.head.root() {
		return broken("audit.root", head.Size)
	}
	return nil
}

// anchor compares the log so far with the checkpoints of this size.
func (v *verifier) anchor() error {
	for len(v.anchors) > 0 && v.anchors[0].N == v.report.Size {
		if v.anchors[0].Hash != v.head.root() {
			return broken("audit.rewritten", v.report.Size)
		}
		v.anchors = v.anchors[1:]
	}
	return nil
}

func (v *verifier) record(rec Stored) error {
	at := v.report.Size
	if rec.Index != at {
		return broken("audit.missing", at, rec.Index)
	}
	v.scratch = append(append(v.scratch[:0], 0), rec.Bytes...)
	leaf := Hash(sha256.Sum256(v.scratch))
	if leaf != rec.Hash {
		return broken("audit.altered", at)
	}
	s := scanner{rest: rec.Bytes, skim: true}
	p := s.record()
	if s.bad != "" {
		return broken("audit.record", at, s.bad)
	}
	if p.Subject != rec.Subject || p.Seq != rec.Seq {
		return broken("audit.misplaced", at, p.Subject.String(), p.Seq)
	}
	t, known := v.report.Tails[p.Subject]
	if !known {
		t.Hash = Genesis(p.Subject)
	}
	if p.Seq != t.Seq+1 {
		return broken("audit.sequence", at, p.Subject.String(), p.Seq, t.Seq+1)
	}
	if p.Prev != t.Hash {
		return broken("audit.chain", at, p.Subject.String(), p.Seq)
	}
	if p.Move != nil {
		if t.Moved && p.Move.From != t.State {
			return broken("audit.continuity", at, p.Subject.String(), p.Move.From, t.State)
		}
		t.Moved, t.State = true, p.Move.To
		v.report.Moves++
	}
	t.Seq, t.Hash = p.Seq, leaf
	v.report.Tails[p.Subject] = t
	v.head.add(leaf)
	return nil
}

func broken(key string, args ...any) error {
	return pawl.Fail(pawl.CodeAuditBroken, key, args...).In("audit.verify")
}
