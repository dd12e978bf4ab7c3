package audit_test

import (
	"crypto/rand"
	"encoding/json"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"pawl"
	"pawl/kernel/audit"
)

// TestProofStandsAlone makes proofs of every size of log up to a few trees, and reads them back from their text as
// whoever checks them does.
func TestProofStandsAlone(t *testing.T) {
	secret, public, err := audit.GenerateKey("pawl", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 12; n++ {
		records, _ := chain(n)
		leaves := leavesOf(t, records)
		for old := 1; old <= n; old++ {
			older := headOf(records[:old])
			text, err := audit.Checkpoint(older, "pawl/x", signer)
			if err != nil {
				t.Fatal(err)
			}
			p, err := leaves.Prove(records[old-1], records[n-1])
			if err != nil {
				t.Fatal(err)
			}
			if p, err = leaves.Tie(p, audit.ProvenCheckpoint{Log: "pawl/x", Note: string(text), Key: public},
				older.Tree()); err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			for _, key := range []string{"", public} {
				got, err := audit.ParseProof(raw)
				if err != nil {
					t.Fatal(err)
				}
				if tree, err := got.Check(key); err != nil || tree != older.Tree() {
					t.Fatalf("%d of %d: %v %v", old, n, tree, err)
				}
			}
		}
	}
}

// TestProofOfSomethingElse changes each part of a proof in turn; each must be noticed.
func TestProofOfSomethingElse(t *testing.T) {
	secret, public, _ := audit.GenerateKey("pawl", rand.Reader)
	_, stranger, _ := audit.GenerateKey("pawl", rand.Reader)
	signer, _ := note.NewSigner(secret)
	records, _ := chain(11)
	leaves := leavesOf(t, records)
	older := headOf(records[:6])
	text, err := audit.Checkpoint(older, "pawl/x", signer)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := leaves.Tie(audit.Proof{Size: 11, Root: leaves.Head().Root}, audit.ProvenCheckpoint{},
		audit.Tree{N: 6}); pawl.CodeOf(err) != pawl.CodeAuditBroken {
		t.Errorf("a log that does not continue the checkpoint was tied to it: %v", err)
	}
	for name, c := range map[string]struct {
		spoil func(p *audit.Proof)
		key   string
		want  pawl.Code
	}{
		"nothing": {func(*audit.Proof) {}, public, ""},
		"a record": {func(p *audit.Proof) {
			p.Records[0].Record = strings.Replace(p.Records[0].Record, "info",
				"warn", 1)
		}, "", pawl.CodeAuditBroken},
		"another record": {func(p *audit.Proof) { p.Records[0].Record = string(records[3].Bytes) }, "",
			pawl.CodeAuditBroken},
		"no record at all": {func(p *audit.Proof) { p.Records[0].Record = "{}" }, "", pawl.CodeAuditBroken},
		"the index":        {func(p *audit.Proof) { p.Records[0].Index++ }, "", pawl.CodeAuditBroken},
		"a negative index": {func(p *audit.Proof) { p.Records[0].Index = -1 }, "", pawl.CodeAuditBroken},
		"an index outside": {func(p *audit.Proof) { p.Records[0].Index = 11 }, "", pawl.CodeAuditBroken},
		"a hash":           {func(p *audit.Proof) { p.Records[0].Hashes[0][0]++ }, "", pawl.CodeAuditBroken},
		"a hash too few": {func(p *audit.Proof) { p.Records[0].Hashes = p.Records[0].Hashes[1:] }, "",
			pawl.CodeAuditBroken},
		"the second record": {func(p *audit.Proof) { p.Records[1].Index = 0 }, "", pawl.CodeAuditBroken},
		"the root":          {func(p *audit.Proof) { p.Root[0]++ }, "", pawl.CodeAuditBroken},
		"the size":          {func(p *audit.Proof) { p.Size = 10 }, "", pawl.CodeAuditBroken},
		"a negative size":   {func(p *audit.Proof) { p.Size = -1 }, "", pawl.CodeAuditBroken},
		"the note": {func(p *audit.Proof) {
			p.Checkpoint.Note = strings.Replace(p.Checkpoint.Note, "\n6\n",
				"\n5\n", 1)
		}, "", pawl.CodeAuditBroken},
		"the log's name": {func(p *audit.Proof) { p.Checkpoint.Log = "pawl/y" }, "", pawl.CodeAuditBroken},
		"the key":        {func(p *audit.Proof) { p.Checkpoint.Key = stranger }, "", pawl.CodeAuditBroken},
		"the wanted key": {func(*audit.Proof) {}, stranger, pawl.CodeAuditBroken},
		"no key":         {func(*audit.Proof) {}, "x", pawl.CodeInvalid},
		"the tie":        {func(p *audit.Proof) { p.Checkpoint.Hashes[0][0]++ }, "", pawl.CodeAuditBroken},
		"no tie":         {func(p *audit.Proof) { p.Checkpoint = nil }, public, pawl.CodeAuditBroken},
	} {
		p, err := leaves.Prove(records[2], records[9])
		if err == nil {
			p, err = leaves.Tie(p, audit.ProvenCheckpoint{Log: "pawl/x", Note: string(text), Key: public}, older.Tree())
		}
		if err != nil {
			t.Fatal(err)
		}
		c.spoil(&p)
		if _, err := p.Check(c.key); pawl.CodeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, bad := range []string{"", "null", "[]", "{}", `{"pawl_proof":2,"records":[{}]}`,
		`{"pawl_proof":1,"records":[]}`, `{"pawl_proof":1,"records":[{}],"x":1}`,
		`{"pawl_proof":1,"records":[{}]} {}`} {
		if _, err := audit.ParseProof([]byte(bad)); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
