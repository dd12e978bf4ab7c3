package audit_test

import (
	"bytes"
	"encoding/json"
	"maps"
	mathrand "math/rand/v2"
	"testing"
	"time"

	"pawl"
	"pawl/kernel/audit"
)

// keeper is the subject whose records say what was retired.
var keeper = audit.Subject{Kind: "session", ID: "01KS"}

// cutLog is a log whose first n records were retired, and that has a record more which says so.
type cutLog struct {
	front   audit.Front
	records []audit.Stored
	head    audit.Head
}

func (c cutLog) log() audit.Log {
	return audit.Log{Head: c.head, Records: each(c.records), Front: func() ([]byte, error) { return c.front.Bytes(), nil }}
}

// cut retires the records of a log before n, of which one subject does not stay.
func cut(t *testing.T, of cutLog, n int64, gone ...audit.Subject) cutLog {
	t.Helper()
	front, err := of.log().Advance(func(index int64, _ time.Time) bool { return index == n })
	if err != nil || front.Size != n {
		t.Fatalf("advanced to %d of %d, %v", front.Size, n, err)
	}
	front = front.Without(func(s audit.Subject) bool { return len(gone) > 0 && s == gone[0] })
	data, err := json.Marshal(audit.Retired{Records: n, Front: front.Digest(), Root: front.Tree().Hash})
	if err != nil {
		t.Fatal(err)
	}
	seq, prev := int64(1), audit.Genesis(keeper)
	for _, r := range of.records {
		if r.Subject == keeper {
			seq, prev = r.Seq+1, r.Hash
		}
	}
	rec := audit.Seal(audit.Entry{Subject: keeper, Level: audit.Info, Event: audit.EventRetired, At: instant, Data: data}, seq, prev)
	records := append(of.records[n-of.front.Size:len(of.records):len(of.records)], audit.Stored{Index: of.head.Size, Subject: keeper,
		Seq: rec.Seq, Bytes: rec.Bytes, Hash: rec.Hash})
	return cutLog{front, records, of.head.Append(rec.Hash)}
}

// A log may begin anywhere: it verifies, proves what is there, says what it does not know, and has the head that the
// whole log has.
func TestFront(t *testing.T) {
	records, head := chain(40)
	whole := cutLog{records: records, head: head}
	for n := int64(1); n <= head.Size; n++ {
		c := cut(t, whole, n)
		var anchors []audit.Tree
		for at := n; at <= head.Size; at += 5 {
			anchors = append(anchors, headOf(records[:at]).Tree())
		}
		report, err := c.log().Verify(append(anchors, headOf(records[:n-1]).Tree())...)
		if err != nil || report.Front != n || report.Size != head.Size+1 || report.Root != c.head.Root || len(report.Tails) != 8 {
			t.Fatalf("cut at %d: %+v, %v", n, report, err)
		}
		again, err := audit.ParseFront(c.front.Bytes())
		if err != nil || again.Digest() != c.front.Digest() || again.Tree() != headOf(records[:n]).Tree() {
			t.Fatalf("cut at %d: the front reads back as %v, %v", n, again, err)
		}
		leaves, err := c.log().Leaves(nil)
		if err != nil {
			t.Fatal(err)
		}
		for at := int64(1); at <= head.Size; at++ {
			proof, err := leaves.ProveRecord(at - 1)
			tree, cannot := leaves.ProveTree(at)
			if at <= n {
				if pawl.CodeOf(err) != pawl.CodeNotFound {
					t.Errorf("cut at %d: record %d is proven: %v", n, at-1, err)
				}
			} else if err != nil || audit.CheckRecord(proof, c.head.Tree(), at-1, records[at-1].Bytes) != nil {
				t.Errorf("cut at %d: record %d is not proven: %v", n, at-1, err)
			}
			if at < n {
				if pawl.CodeOf(cannot) != pawl.CodeNotFound {
					t.Errorf("cut at %d: size %d is proven: %v", n, at, cannot)
				}
			} else if cannot != nil || audit.CheckTree(tree, c.head.Tree(), headOf(records[:at]).Tree()) != nil {
				t.Errorf("cut at %d: size %d is not proven: %v", n, at, cannot)
			}
		}
		if n < 2 {
			continue
		}
		// What was retired may be retired further, and the record of the first time with it.
		further := cut(t, cut(t, whole, n/2), n)
		last := cut(t, further, head.Size+1, task(0))
		for _, c := range []cutLog{further, last} {
			if report, err := c.log().Verify(c.head.Tree()); err != nil || report.Front != c.front.Size {
				t.Fatalf("cut at %d and %d: %v", n/2, c.front.Size, err)
			}
		}
		if _, ok := last.front.Tails[task(0)]; ok || len(last.front.Tails) != 7 {
			t.Errorf("tails of what is gone stay: %v", last.front.Tails)
		}
	}
}

// Whatever somebody changes in what is known of retired records is told, by the record that speaks of them or, where
// that is changed, too, by a checkpoint.
func TestFrontFindsEveryMutation(t *testing.T) {
	records, head := chain(60)
	whole := cutLog{records: records, head: head}
	random := mathrand.New(mathrand.NewPCG(2, uint64(*mutations)))
	for i := range *mutations {
		c := cut(t, whole, 1+random.Int64N(head.Size))
		anchors := []audit.Tree{head.Tree()}
		front := c.front
		front.Frontier, front.Tails = append([]audit.Hash{}, front.Frontier...), maps.Clone(front.Tails)
		what := ""
		change := func(f func(*audit.Tail)) {
			subject := task(random.IntN(7))
			tail := front.Tails[subject]
			f(&tail)
			front.Tails[subject] = tail
		}
		switch i % 9 {
		case 0:
			what = "a subtree"
			front.Frontier[random.IntN(len(front.Frontier))][random.IntN(32)] ^= 1
		case 1:
			what = "the size"
			front.Size ^= 1 << random.IntN(7)
		case 2:
			what = "a number"
			change(func(t *audit.Tail) { t.Seq++ })
		case 3:
			what = "a hash"
			change(func(t *audit.Tail) { t.Hash[random.IntN(32)] ^= 1 })
		case 4:
			what = "a state"
			change(func(t *audit.Tail) { t.State += "x" })
		case 5:
			what = "a subject left out"
			delete(front.Tails, task(0))
			if _, ok := c.front.Tails[task(0)]; !ok {
				continue
			}
		case 6:
			what = "a front that says it was never cut"
			front = audit.Front{}
		case 7:
			what = "another history, with a record of it"
			p, err := audit.Parse(records[0].Bytes)
			if err != nil {
				t.Fatal(err)
			}
			p.Trace = "forged"
			forged := bytes.Clone(audit.Seal(p.Entry, p.Seq, p.Prev).Bytes)
			all := append([]audit.Stored{{Bytes: forged}}, records[1:]...)
			all, forgedHead := relink(all)
			c = cut(t, cutLog{records: all, head: forgedHead}, c.front.Size)
			front = c.front
		case 8:
			what = "a cut behind the last checkpoint"
			anchors = []audit.Tree{headOf(records[:c.front.Size-1]).Tree()}
		}
		c.front = front
		if _, err := c.log().Verify(anchors...); pawl.CodeOf(err) != pawl.CodeAuditBroken {
			t.Errorf("mutation %d (%s): %v", i, what, err)
		}
	}
	c := cut(t, whole, 17)
	c.records, c.head = records[17:], head
	if _, err := c.log().Verify(); pawl.CodeOf(err) != pawl.CodeAuditBroken {
		t.Errorf("a front that no record speaks of: %v", err)
	}
	for _, data := range []string{"x", "{}", `{"size":1,"frontier":[],"tails":[]}`, `{"size":-1}`, string(cut(t, whole, 3).front.Bytes()) + " "} {
		if _, err := audit.ParseFront([]byte(data)); pawl.CodeOf(err) != pawl.CodeAuditBroken {
			t.Errorf("%s: %v", data, err)
		}
	}
}
