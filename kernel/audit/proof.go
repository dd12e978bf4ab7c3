package audit

import (
	"errors"

	"golang.org/x/mod/sumdb/note"

	"pawl"
	"pawl/text/strictjson"
)

// proofVersion is the version of the form in which proofs are written.
const proofVersion = 1

// MaxProof is the size above which a proof file is not read, in bytes.
const MaxProof = 16 << 20

// Proof shows without the log that records are in it: with the records' exact bytes and the hashes beside them, whoever
// trusts Root, or the checkpoint, needs nothing else.
type Proof struct {
	Version int   `json:"pawl_proof"`
	Size    int64 `json:"log_size"` // of the log that the proof is about, in records
	Root    Hash  `json:"log_root"`
	// Records are the records that are proven, in the order of the log.
	Records []ProvenRecord `json:"records"`
	// Checkpoint ties the log to a signed checkpoint of an earlier state of it; nil without one.
	Checkpoint *ProvenCheckpoint `json:"checkpoint,omitempty"`
}

// ProvenRecord is one record with the hashes that lead from it to the root (RFC 6962 §2.1.1).
type ProvenRecord struct {
	Index  int64  `json:"index"` // from 0
	Record string `json:"record"`
	Hashes []Hash `json:"hashes"`
}

// ProvenCheckpoint is a checkpoint with the hashes that show that the log continues it (RFC 6962 §2.1.2).
type ProvenCheckpoint struct {
	Log    string `json:"log"`  // the name of the log in the note
	Note   string `json:"note"` // the signed note
	Key    string `json:"key"`  // the verifier key that the signature was checked with
	Hashes []Hash `json:"hashes"`
}

// Prove makes the proof that records are in the log of these leaves.
func (l Leaves) Prove(records ...Stored) (Proof, error) {
	head := l.Head()
	p := Proof{Version: proofVersion, Size: head.Size, Root: head.Root, Records: []ProvenRecord{}}
	for _, r := range records {
		hashes, err := l.ProveRecord(r.Index)
		if err != nil {
			return Proof{}, err
		}
		p.Records = append(p.Records, ProvenRecord{Index: r.Index, Record: string(r.Bytes), Hashes: hashes})
	}
	return p, nil
}

// Tie adds to a proof that the log continues a checkpoint, which the caller has verified and which says older.
func (l Leaves) Tie(p Proof, c ProvenCheckpoint, older Tree) (Proof, error) {
	hashes, err := l.ProveTree(older.N)
	if err != nil {
		return Proof{}, err
	}
	if err := CheckTree(hashes, Tree{N: p.Size, Hash: p.Root}, older); err != nil {
		return Proof{}, err
	}
	c.Hashes = hashes
	p.Checkpoint = &c
	return p, nil
}

// ParseProof reads a proof file. The error has code invalid.
func ParseProof(data []byte) (Proof, error) {
	var p Proof
	err := strictjson.Decode(data, &p, strictjson.Options{})
	var e *strictjson.Error
	if errors.As(err, &e) && e.Reason == strictjson.Trailing {
		err = pawl.Fail(pawl.CodeInvalid, "audit.proof_more")
	}
	switch {
	case err != nil:
		return Proof{}, pawl.Fail(pawl.CodeInvalid, "audit.proof_form").In("audit.check").Because(err)
	case p.Version != proofVersion:
		return Proof{}, pawl.Fail(pawl.CodeInvalid, "audit.proof_version", p.Version, proofVersion).In("audit.check")
	case len(p.Records) == 0:
		return Proof{}, pawl.Fail(pawl.CodeInvalid, "audit.proof_empty").In("audit.check")
	}
	return p, nil
}

// Check checks everything that the proof says: each record is well formed and is in the log of Root, and the log
// continues the checkpoint. With a verifier key, the checkpoint must be there and be signed by that key; without one,
// the key that the proof names is used, which the caller has to show to somebody who knows it. It returns what the
// checkpoint says, or the zero Tree without one.
func (p Proof) Check(key string) (Tree, error) {
	head := Tree{N: p.Size, Hash: p.Root}
	for _, r := range p.Records {
		if _, err := Parse([]byte(r.Record)); err != nil {
			return Tree{}, err
		}
		if r.Index < 0 || r.Index >= p.Size {
			return Tree{}, pawl.Fail(pawl.CodeAuditBroken, "audit.range", r.Index, p.Size).In("audit.check")
		}
		if err := CheckRecord(r.Hashes, head, r.Index, []byte(r.Record)); err != nil {
			return Tree{}, err
		}
	}
	c := p.Checkpoint
	if c == nil {
		if key != "" {
			return Tree{}, pawl.Fail(pawl.CodeAuditBroken, "audit.proof_unsigned").In("audit.check")
		}
		return Tree{}, nil
	}
	if key == "" {
		key = c.Key
	}
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return Tree{}, pawl.Fail(pawl.CodeInvalid, "audit.verifier", key).In("audit.check").Because(err)
	}
	older, err := VerifyCheckpoint([]byte(c.Note), c.Log, verifier)
	if err != nil {
		return Tree{}, err
	}
	return older, CheckTree(c.Hashes, head, older)
}
