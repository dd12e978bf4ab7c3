package audit

import (
	"cmp"
	"crypto/sha256"
	"iter"
	"maps"
	"slices"

	"pawl"
)

// Report is what Verify found in the records that it read, complete only when there was no error.
type Report struct {
	Size  int64            // records of the log up to the last that was found good, with those that were retired
	Front int64            // how many of them were retired, and so not read
	Moves int64            // how many of those that were read are transitions
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

// Verify reads a log from its first record that is there and checks everything that can be checked from the log itself:
// the form of each record, its leaf hash, that it is where it says it is, each subject's numbers and chain, that each
// transition starts where the subject's last one ended, and that the records amount to the head. Anchors are what
// trusted checkpoints said (VerifyCheckpoint); each must be a prefix of the log, which is what reveals a log that was
// cut short or rewritten together with its head.
//
// Of a log whose oldest records were retired, a record must say so, and say the same of them as the front; and where
// there are anchors, one must reach as far, or nothing would tell a front that somebody made up.
//
// The error names the first record that is wrong, has code audit_broken and stands beside a report of what was read up
// to there. An error of the iteration is returned as it is. Time is linear, memory grows with the number of subjects
// only.
func (l Log) Verify(anchors ...Tree) (Report, error) {
	front, err := l.Beginning()
	if err != nil {
		return Report{}, err
	}
	v := newVerifier(front)
	v.anchors = slices.SortedFunc(slices.Values(anchors), func(a, b Tree) int { return cmp.Compare(a.N, b.N) })
	err = v.run(l.Records, l.Head)
	v.report.Root = v.head.root()
	return v.report, err
}

// Beginning is the front of the log: what is known of the records that were retired.
func (l Log) Beginning() (Front, error) {
	if l.Front == nil {
		return Front{}, nil
	}
	data, err := l.Front()
	if err != nil {
		return Front{}, err
	}
	return ParseFront(data)
}

type verifier struct {
	front   Front
	head    frontier
	anchors []Tree
	report  Report
	scratch []byte
}

func newVerifier(f Front) *verifier {
	v := &verifier{front: f, head: frontier{size: f.Size, trees: slices.Clone(f.Frontier)}}
	v.report = Report{Size: f.Size, Front: f.Size, Tails: maps.Clone(f.Tails)}
	if v.report.Tails == nil {
		v.report.Tails = map[Subject]Tail{}
	}
	return v
}

func (v *verifier) run(records iter.Seq2[Stored, error], head Head) error {
	if err := v.reached(); err != nil {
		return err
	}
	said := v.front.Size == 0
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
		p, leaf, err := v.record(rec)
		if err != nil {
			return err
		}
		v.take(p, leaf)
		said = said || v.front.said(rec.Bytes)
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
	if !said {
		return broken("audit.front_unsaid", v.front.Size)
	}
	return nil
}

// reached leaves out the checkpoints of records that were retired, behind which there must be another.
func (v *verifier) reached() error {
	last := int64(-1)
	for len(v.anchors) > 0 && v.anchors[0].N < v.front.Size {
		last, v.anchors = v.anchors[0].N, v.anchors[1:]
	}
	if last >= 0 && len(v.anchors) == 0 {
		return broken("audit.front_anchor", v.front.Size, last)
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

// record checks the record that is next, and returns it with its hash.
func (v *verifier) record(rec Stored) (p Parsed, leaf Hash, err error) {
	at := v.report.Size
	if rec.Index != at {
		return p, leaf, broken("audit.missing", at, rec.Index)
	}
	v.scratch = append(append(v.scratch[:0], 0), rec.Bytes...)
	if leaf = sha256.Sum256(v.scratch); leaf != rec.Hash {
		return p, leaf, broken("audit.altered", at)
	}
	s := scanner{rest: rec.Bytes, skim: true}
	p = s.record()
	if s.bad != "" {
		return p, leaf, broken("audit.record", at, s.bad)
	}
	if p.Subject != rec.Subject || p.Seq != rec.Seq {
		return p, leaf, broken("audit.misplaced", at, p.Subject.String(), p.Seq)
	}
	t, known := v.report.Tails[p.Subject]
	if !known {
		t.Hash = Genesis(p.Subject)
	}
	if p.Seq != t.Seq+1 {
		return p, leaf, broken("audit.sequence", at, p.Subject.String(), p.Seq, t.Seq+1)
	}
	if p.Prev != t.Hash {
		return p, leaf, broken("audit.chain", at, p.Subject.String(), p.Seq)
	}
	if p.Move != nil && t.Moved && p.Move.From != t.State {
		return p, leaf, broken("audit.continuity", at, p.Subject.String(), p.Move.From, t.State)
	}
	return p, leaf, nil
}

// take goes on behind a record that was checked.
func (v *verifier) take(p Parsed, leaf Hash) {
	t := v.report.Tails[p.Subject]
	if p.Move != nil {
		t.Moved, t.State = true, p.Move.To
		v.report.Moves++
	}
	t.Seq, t.Hash = p.Seq, leaf
	v.report.Tails[p.Subject] = t
	v.head.add(leaf)
	v.report.Size++
}

func broken(key string, args ...any) error {
	return pawl.Fail(pawl.CodeAuditBroken, key, args...).In("audit.verify")
}
