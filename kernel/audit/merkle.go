package audit

import (
	"crypto/sha256"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"

	"pawl"
)

// Leaf returns the RFC 6962 hash of a record, which is also what the subject's next record names as its predecessor.
func Leaf(record []byte) Hash { return tlog.RecordHash(record) }

// Append returns the head of the log after more leaves, in order. The receiver is not changed, and the zero Head is the
// empty log. Appending nothing computes the root from the frontier.
func (h Head) Append(leaves ...Hash) Head {
	f := frontier{size: h.Size, trees: make([]Hash, len(h.Frontier), bits.Len64(uint64(h.Size)+uint64(len(leaves)))+1)}
	copy(f.trees, h.Frontier)
	for _, leaf := range leaves {
		f.add(leaf)
	}
	return Head{Size: f.size, Root: f.root(), Frontier: f.trees}
}

// frontier holds the complete subtrees that a log of this size consists of, largest first.
type frontier struct {
	size  int64
	trees []Hash
}

// add appends a leaf. A one bit in the size is a complete subtree; a carry joins two of them.
func (f *frontier) add(leaf Hash) {
	for n := f.size; n&1 == 1; n >>= 1 {
		last := len(f.trees) - 1
		leaf = tlog.NodeHash(f.trees[last], leaf)
		f.trees = f.trees[:last]
	}
	f.trees = append(f.trees, leaf)
	f.size++
}

// root joins the subtrees, smallest first. The root of the empty log is the hash of nothing.
func (f *frontier) root() Hash {
	if len(f.trees) == 0 {
		return Hash(sha256.Sum256(nil))
	}
	root := f.trees[len(f.trees)-1]
	for i := len(f.trees) - 2; i >= 0; i-- {
		root = tlog.NodeHash(f.trees[i], root)
	}
	return root
}

// Valid reports whether the head agrees with itself: the frontier has one hash for each one bit of the size, and the
// root follows from it. The zero Head is valid.
func (h Head) Valid() bool {
	if h.Size < 0 || bits.OnesCount64(uint64(h.Size)) != len(h.Frontier) {
		return false
	}
	f := frontier{size: h.Size, trees: h.Frontier}
	return h.Root == f.root() || h.Size == 0 && h.Root == Hash{}
}

// Leaves are what proofs are made from: the leaf hashes of a log, behind the subtrees of what was retired of it. The
// zero value is that of an empty log.
type Leaves struct {
	front  Front
	hashes []Hash
}

// Leaves returns those of the records that are there, and makes sure that they amount to the head. See, which may be
// nil, is shown each record.
func (l Log) Leaves(see func(Stored)) (Leaves, error) {
	front, err := l.Beginning()
	if err != nil {
		return Leaves{}, err
	}
	out := Leaves{front: front}
	for rec, err := range l.Records {
		if err != nil {
			return Leaves{}, err
		}
		out.hashes = append(out.hashes, Leaf(rec.Bytes))
		if see != nil {
			see(rec)
		}
	}
	if head := out.Head(); head.Size != l.Head.Size || head.Root != l.Head.Append().Root {
		return Leaves{}, broken("audit.root", head.Size)
	}
	return out, nil
}

// Head is that of the log of these leaves.
func (l Leaves) Head() Head {
	return Head{Size: l.front.Size, Frontier: l.front.Frontier}.Append(l.hashes...)
}

// size is that of the log.
func (l Leaves) size() int64 { return l.front.Size + int64(len(l.hashes)) }

// ReadHashes answers with the hashes at tlog's stored-hash indexes, computed from the leaves.
func (l Leaves) ReadHashes(indexes []int64) ([]Hash, error) {
	out := make([]Hash, len(indexes))
	for i, index := range indexes {
		level, n := tlog.SplitStoredHashIndex(index)
		from, to := n<<level, (n+1)<<level
		if to > l.size() {
			return nil, pawl.Fail(pawl.CodeInvalid, "audit.range", to-1, l.size()).In("audit.prove")
		}
		var err error
		if out[i], err = l.complete(from, to); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// complete hashes a subtree whose number of leaves is a power of two. Of what was retired, only the largest subtrees
// are known, which are what a proof of anything later needs.
func (l Leaves) complete(from, to int64) (Hash, error) {
	if to <= l.front.Size {
		at := int64(0)
		for _, tree := range l.front.Frontier {
			next := at + 1<<(bits.Len64(uint64(l.front.Size-at))-1)
			if at == from && next == to {
				return tree, nil
			}
			at = next
		}
		return Hash{}, retired(from, l.front.Size)
	}
	if to-from == 1 {
		return l.hashes[from-l.front.Size], nil
	}
	middle := (from + to) / 2
	left, err := l.complete(from, middle)
	if err != nil {
		return Hash{}, err
	}
	right, err := l.complete(middle, to)
	return tlog.NodeHash(left, right), err
}

// retired is the error for a record, or a size of the log, of which nothing can be proven any more.
func retired(index, front int64) error {
	return pawl.Fail(pawl.CodeNotFound, "audit.retired", index, front).In("audit.prove")
}

// ProveRecord makes the proof that record index is in the log of these leaves.
func (l Leaves) ProveRecord(index int64) (tlog.RecordProof, error) {
	switch {
	case index < 0 || index >= l.size():
		return nil, pawl.Fail(pawl.CodeInvalid, "audit.range", index, l.size()).In("audit.prove")
	case index < l.front.Size:
		return nil, retired(index, l.front.Size)
	}
	return tlog.ProveRecord(l.size(), index, l)
}

// ProveTree makes the proof that the log of these leaves continues its own first size records.
func (l Leaves) ProveTree(size int64) (tlog.TreeProof, error) {
	switch {
	case size < 1 || size > l.size():
		return nil, pawl.Fail(pawl.CodeInvalid, "audit.range", size, l.size()).In("audit.prove")
	case size < l.front.Size:
		return nil, retired(size, l.front.Size)
	}
	return tlog.ProveTree(l.size(), size, l)
}

// CheckRecord checks a proof of ProveRecord against a head that the caller trusts: record, exactly these bytes, is
// number index of the log.
func CheckRecord(proof tlog.RecordProof, head Tree, index int64, record []byte) error {
	if err := tlog.CheckRecord(proof, head.N, head.Hash, index, Leaf(record)); err != nil {
		return pawl.Fail(pawl.CodeAuditBroken, "audit.proof", index).In("audit.prove").Because(err)
	}
	return nil
}

// CheckTree checks a proof of ProveTree: the log of head begins with exactly the records of older.
func CheckTree(proof tlog.TreeProof, head, older Tree) error {
	if err := tlog.CheckTree(proof, head.N, head.Hash, older.N, older.Hash); err != nil {
		return pawl.Fail(pawl.CodeAuditBroken, "audit.rewritten", older.N).In("audit.prove").Because(err)
	}
	return nil
}
