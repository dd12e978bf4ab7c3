package audit_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"pawl"
	"pawl/kernel/audit"
)

var mutations = flag.Int("mutations", 400, "how many random mutations of a log to try")

var instant = time.Date(2026, 1, 30, 10, 0, 0, 123456789, time.FixedZone("", 7200))

func task(n int) audit.Subject {
	return audit.Subject{Kind: "task", ID: fmt.Sprintf("01KA%022d", n)}
}

func move(s audit.Subject, from, to string) audit.Entry {
	return audit.Entry{Subject: s, Level: audit.Info, Event: "STATE_TRANSITION_" + strings.ToUpper(to), At: instant,
		Move: &audit.Transition{From: from, To: to, Rule: "T5", Event: "start", Actor: "runner", Reason: "claimed",
			Metadata: json.RawMessage(`{"runner_pid": 12345}`)},
		Trace: "trace-1"}
}

func TestSealHasTheSeedsForm(t *testing.T) {
	got := audit.Seal(move(audit.Subject{Kind: "task", ID: "01KA"}, "queued", "running"), 3, audit.Hash{0xab})
	want := `{"v":1,"audit_id":"` + string(got.ID) +
		`","task_id":"01KA","subject":"task:01KA","seq":3,"level":"info",` +
		`"event_type":"STATE_TRANSITION_RUNNING","payload":{"from_state":"queued","to_state":"running","rule":"T5",` +
		`"event":"start","actor":"runner","reason":"claimed","transition_metadata":{"runner_pid":12345}},` +
		`"created_at":"2026-01-30T08:00:00.123Z","trace":"trace-1","prev":"ab` + strings.Repeat("0", 62) + `"}`
	if string(got.Bytes) != want {
		t.Errorf("sealed\n%s\nwant\n%s", got.Bytes, want)
	}
	if got.Hash != tlog.RecordHash(got.Bytes) {
		t.Error("the hash is not the leaf hash of the bytes")
	}
	if !got.ID.Valid() {
		t.Errorf("audit_id %q is not a ULID", got.ID)
	}
	again := audit.Seal(move(audit.Subject{Kind: "task", ID: "01KA"}, "queued", "running"), 3, audit.Hash{0xab})
	if !bytes.Equal(again.Bytes, got.Bytes) {
		t.Error("sealing twice gave two records")
	}
}

func TestSealWritesInstants(t *testing.T) {
	for at, want := range map[time.Time]string{
		time.Date(2026, 1, 30, 23, 59, 59, 999999999, time.FixedZone("", -3600)):   "2026-01-31T00:59:59.999Z",
		time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC):                               "2026-12-01T00:00:00.000Z",
		time.Date(2026, 2, 3, 4, 5, 6, 7*int(time.Millisecond), time.UTC):          "2026-02-03T04:05:06.007Z",
		time.Date(2026, 2, 3, 4, 5, 6, 450*int(time.Millisecond), time.UTC):        "2026-02-03T04:05:06.450Z",
		time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC):                           "1970-01-01T00:00:00.000Z",
		time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC):                               "9999-12-31T23:59:59.999Z",
		time.Date(2026, 1, 30, 1, 0, 0, int(time.Millisecond)-1, time.UTC).Local(): "2026-01-30T01:00:00.000Z",
	} {
		e := move(task(1), "queued", "running")
		e.At = at
		if got := string(audit.Seal(e, 1, audit.Hash{}).Bytes); !strings.Contains(got, `"created_at":"`+want+`"`) {
			t.Errorf("%v: %s, want %s", at, got, want)
		}
	}
}

// Whatever the texts hold, a record is one line of JSON whose structure the texts cannot touch.
func TestSealCannotBeForged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hostile := rapid.OneOf(
			rapid.String(),
			rapid.SampledFrom([]string{"\"}\n{\"v\":1", "\x00\x1b]52;c;x\x07", "\u202eexe.txt", "\xff\xfe", "\u2028",
				`\u0022`, "\U000e0041", ""}),
			rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) }),
		)
		e := audit.Entry{
			Subject: audit.Subject{Kind: rapid.SampledFrom([]string{"task", "turn"}).Draw(t, "kind"),
				ID: hostile.Draw(t, "id")},
			Level: audit.Level(hostile.Draw(t, "level")), Event: hostile.Draw(t, "event"),
			Actor: pawl.Actor(hostile.Draw(t, "actor")), Trace: hostile.Draw(t, "trace"),
			At: time.UnixMilli(rapid.Int64().Draw(t, "at")),
		}
		data := json.RawMessage(rapid.OneOf(hostile, rapid.SampledFrom([]string{
			" { \"a\" : [ 1 , \"x\\\"y \u202e\" ] } ", "null", "[1,\n2]", `"text"`, `{"from_state":"a"}`,
			"{}x"})).Draw(t, "data"))
		if rapid.Bool().Draw(t, "is move") {
			e.Move = &audit.Transition{From: hostile.Draw(t, "from"), To: hostile.Draw(t, "to"),
				Reason: hostile.Draw(t, "reason"), Metadata: data}
		} else {
			e.Data = data
		}
		rec := audit.Seal(e, rapid.Int64().Draw(t, "seq"), audit.Genesis(e.Subject))
		if !json.Valid(rec.Bytes) {
			t.Fatalf("not JSON: %q", rec.Bytes)
		}
		for _, r := range string(rec.Bytes) {
			if r < ' ' || r >= 0x7f && r <= 0x9f || r == '\u202e' || r == '\u2028' || r == '\U000e0041' {
				t.Fatalf("%U shows in %q", r, rec.Bytes)
			}
		}
		p, err := audit.Parse(rec.Bytes)
		if err != nil {
			t.Fatalf("parse %q: %v", rec.Bytes, err)
		}
		if p.Seq != rec.Seq || p.ID != rec.ID || p.Prev != audit.Genesis(e.Subject) ||
			(p.Move == nil) != (e.Move == nil) {
			t.Fatalf("read back %+v from %q", p, rec.Bytes)
		}
		if !audit.Follows(rec.Bytes, p.Prev) || audit.Follows(rec.Bytes, rec.Hash) {
			t.Fatalf("Follows does not see the predecessor of %q", rec.Bytes)
		}
		var keys map[string]json.RawMessage
		if err := json.Unmarshal(rec.Bytes, &keys); err != nil || len(keys) < 10 || len(keys) > 12 {
			t.Fatalf("%d keys in %q: %v", len(keys), rec.Bytes, err)
		}
	})
}

func TestParseRefusesOtherForms(t *testing.T) {
	good := string(audit.Seal(move(task(1), "queued", "running"), 1, audit.Genesis(task(1))).Bytes)
	if _, err := audit.Parse([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		"", "{}", "null", good + " ", " " + good, good + good, good[:len(good)-1],
		strings.Replace(good, `"v":1`, `"v":2`, 1),
		strings.Replace(good, `"seq":1`, `"seq":01`, 1),
		strings.Replace(good, `"seq":1`, `"seq":-`, 1),
		strings.Replace(good, `"info"`, `"\u0069nfo"`, 1),
		strings.Replace(good, `"task_id":"01KA`, `"task_id":"01KB`, 1),
		strings.Replace(good, `123Z`, `124Z`, 1),
		strings.Replace(good, `12345}`, `12345 }`, 1),
		strings.Replace(good, `12345}`, `}`, 1),
	} {
		if bad == good {
			t.Fatal("the case changes nothing")
		}
		if p, err := audit.Parse([]byte(bad)); pawl.CodeOf(err) != pawl.CodeAuditBroken {
			t.Errorf("parse %q: %+v, %v", bad, p, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(audit.Seal(move(task(1), "queued", "running"), 1, audit.Genesis(task(1))).Bytes)
	f.Add(audit.Seal(audit.Entry{Subject: task(1), Event: "E", Data: json.RawMessage(`{"a":[1,"\u202e"]}`)}, 2,
		audit.Hash{}).Bytes)
	f.Fuzz(func(t *testing.T, in []byte) {
		p, err := audit.Parse(in)
		if err == nil && !bytes.Equal(audit.Seal(p.Entry, p.Seq, p.Prev).Bytes, in) {
			t.Fatalf("%q was accepted but is not canonical", in)
		}
	})
}

// chain seals n records about a few subjects as a store would keep them.
func chain(n int) ([]audit.Stored, audit.Head) {
	type tail struct {
		seq   int64
		hash  audit.Hash
		state string
	}
	states := []string{"draft", "approved", "queued", "running", "verifying"}
	tails := map[audit.Subject]tail{}
	var out []audit.Stored
	var leaves []audit.Hash
	for i := range n {
		s := task(i % 7)
		old, ok := tails[s]
		if !ok {
			old = tail{hash: audit.Genesis(s), state: states[0]}
		}
		e := move(s, old.state, states[(i/7+1)%len(states)])
		next := e.Move.To
		if i%5 == 4 {
			e.Move, e.Event, e.Data, next = nil, "GATE_VERIFICATION_RESULT", json.RawMessage(`{"gate":"doctor"}`),
				old.state
		}
		rec := audit.Seal(e, old.seq+1, old.hash)
		tails[s] = tail{rec.Seq, rec.Hash, next}
		out = append(out, audit.Stored{Index: int64(i), Subject: s, Seq: rec.Seq, Bytes: rec.Bytes, Hash: rec.Hash})
		leaves = append(leaves, rec.Hash)
	}
	return out, audit.Head{}.Append(leaves...)
}

func each(records []audit.Stored) iter.Seq2[audit.Stored, error] {
	return func(yield func(audit.Stored, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func headOf(records []audit.Stored) (head audit.Head) {
	for _, r := range records {
		head = head.Append(r.Hash)
	}
	return head
}

func leavesOf(t *testing.T, records []audit.Stored) audit.Leaves {
	t.Helper()
	leaves, err := audit.Log{Head: headOf(records), Records: each(records)}.Leaves(nil)
	if err != nil {
		t.Fatal(err)
	}
	return leaves
}

func TestHeadMatchesTlog(t *testing.T) {
	records, _ := chain(300)
	var leaves []audit.Hash
	var head audit.Head
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		var out []tlog.Hash
		for _, i := range indexes {
			out = append(out, stored[i])
		}
		return out, nil
	})
	for n, r := range records {
		more, err := tlog.StoredHashes(int64(n), r.Bytes, reader)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, more...)
		before := head
		head = head.Append(r.Hash)
		leaves = append(leaves, r.Hash)
		want, err := tlog.TreeHash(int64(n)+1, reader)
		if err != nil || head.Root != want || head.Size != int64(n)+1 || !head.Valid() {
			t.Fatalf("size %d: root %v, want %v, %v", head.Size, head.Root, want, err)
		}
		if got := (audit.Head{}).Append(leaves...); got.Root != want {
			t.Fatalf("appending %d at once gives another root", n+1)
		}
		if !before.Valid() {
			t.Fatal("Append changed its receiver")
		}
	}
	if empty, err := tlog.TreeHash(0, reader); err != nil || (audit.Head{}).Append().Root != empty {
		t.Error("the empty log has another root than RFC 6962 says")
	}
}

func TestProofs(t *testing.T) {
	records, head := chain(77)
	leaves := leavesOf(t, records)
	for i, r := range records {
		proof, err := leaves.ProveRecord(int64(i))
		if err != nil {
			t.Fatal(err)
		}
		if err := audit.CheckRecord(proof, head.Tree(), int64(i), r.Bytes); err != nil {
			t.Error(err)
		}
		if audit.CheckRecord(proof, head.Tree(), int64(i), append(bytes.Clone(r.Bytes), ' ')) == nil {
			t.Errorf("record %d: the proof of other bytes passed", i)
		}
		older := headOf(records[:i+1]).Tree()
		tree, err := leaves.ProveTree(older.N)
		if err != nil {
			t.Fatal(err)
		}
		if err := audit.CheckTree(tree, head.Tree(), older); err != nil {
			t.Error(err)
		}
		older.Hash[3] ^= 1
		if audit.CheckTree(tree, head.Tree(), older) == nil {
			t.Errorf("size %d: another history passed", older.N)
		}
	}
	for _, bad := range []int64{-1, 77} {
		if _, err := leaves.ProveRecord(bad); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("proof of record %d: %v", bad, err)
		}
	}
	for _, bad := range []int64{0, 78} {
		if _, err := leaves.ProveTree(bad); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("proof of size %d: %v", bad, err)
		}
	}
}

func keys(t testing.TB) (note.Signer, note.Verifier) {
	t.Helper()
	skey, vkey, err := audit.GenerateKey("pawl.test", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(skey)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	return signer, verifier
}

func TestCheckpoint(t *testing.T) {
	signer, verifier := keys(t)
	_, head := chain(9)
	for _, h := range []audit.Head{head, {}} {
		text, err := audit.Checkpoint(h, "pawl/workspace", signer)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), fmt.Sprintf("pawl/workspace\n%d\n", h.Size)) {
			t.Errorf("not a tlog-checkpoint:\n%s", text)
		}
		tree, err := audit.VerifyCheckpoint(text, "pawl/workspace", verifier)
		if err != nil || tree != h.Append().Tree() {
			t.Errorf("read back %v, %v", tree, err)
		}
		if _, err := audit.VerifyCheckpoint(text, "pawl/other", verifier); pawl.CodeOf(err) != pawl.CodeAuditBroken {
			t.Errorf("the checkpoint of another log passed: %v", err)
		}
		for i := range text {
			forged := bytes.Clone(text)
			forged[i] ^= 1
			if tree, err := audit.VerifyCheckpoint(forged, "pawl/workspace", verifier); err == nil &&
				tree != h.Append().Tree() {
				t.Errorf("byte %d flipped and still verified as %v", i, tree)
			}
		}
		_, stranger := keys(t)
		if _, err := audit.VerifyCheckpoint(text, "pawl/workspace", stranger); err == nil {
			t.Error("a key that did not sign verified")
		}
	}
	for _, origin := range []string{"", "a\nb"} {
		if _, err := audit.Checkpoint(head, origin, signer); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("origin %q: %v", origin, err)
		}
	}
	head.Root[0] ^= 1
	if _, err := audit.Checkpoint(head, "o", signer); pawl.CodeOf(err) != pawl.CodeAuditBroken {
		t.Errorf("a head that contradicts itself was signed: %v", err)
	}
	if _, _, err := audit.GenerateKey("two words", rand.Reader); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Errorf("key name with a space: %v", err)
	}
}

func TestVerifyAccepts(t *testing.T) {
	for _, n := range []int{0, 1, 2, 40} {
		records, head := chain(n)
		var anchors []audit.Tree
		for i := 0; i <= n; i += 13 {
			_, h := chain(i)
			anchors = append(anchors, h.Tree())
		}
		report, err := audit.Log{Head: head, Records: each(records)}.Verify(anchors...)
		if err != nil || report.Size != int64(n) || report.Root != head.Root || len(report.Tails) != min(n, 7) {
			t.Errorf("%d records: %+v, %v", n, report, err)
		}
	}
}

// relink seals records again from place on, as somebody would who can write the whole store.
func relink(records []audit.Stored) ([]audit.Stored, audit.Head) {
	tails := map[audit.Subject]audit.Stored{}
	var leaves []audit.Hash
	for i, r := range records {
		p, err := audit.Parse(r.Bytes)
		if err != nil {
			panic(err)
		}
		prev, seq := audit.Genesis(p.Subject), int64(1)
		if old, ok := tails[p.Subject]; ok {
			prev, seq = old.Hash, old.Seq+1
		}
		rec := audit.Seal(p.Entry, seq, prev)
		records[i] = audit.Stored{Index: int64(i), Subject: p.Subject, Seq: seq, Bytes: rec.Bytes, Hash: rec.Hash}
		tails[p.Subject] = records[i]
		leaves = append(leaves, rec.Hash)
	}
	return records, audit.Head{}.Append(leaves...)
}

func TestVerifyFindsEveryMutation(t *testing.T) {
	original, head := chain(60)
	random := mathrand.New(mathrand.NewPCG(1, uint64(*mutations)))
	kinds := []func([]audit.Stored) ([]audit.Stored, audit.Head, string){
		func(r []audit.Stored) ([]audit.Stored, audit.Head, string) {
			b := r[random.IntN(len(r))].Bytes
			b[random.IntN(len(b))] ^= 1 << random.IntN(8)
			return r, head, "bit"
		},
		func(r []audit.Stored) ([]audit.Stored, audit.Head, string) {
			i := random.IntN(len(r))
			b := r[i].Bytes
			b[random.IntN(len(b))] ^= 1 << random.IntN(8)
			r[i].Hash = audit.Leaf(b)
			return r, head, "bit and leaf hash"
		},
		func(r []audit.Stored) ([]audit.Stored, audit.Head, string) {
			r[random.IntN(len(r))].Hash[random.IntN(32)] ^= 1 << random.IntN(8)
			return r, head, "leaf hash"
		},
		func(r []audit.Stored) ([]audit.Stored, audit.Head, string) {
			i := random.IntN(len(r))
			return append(r[:i], r[i+1:]...), head, "deletion"
		},
		func(r []audit.Stored) ([]audit.Stored, audit.Head, string) {
			i := random.IntN(len(r))
			r = append(r[:i], r[i+1:]...)
			for i := range r {
				r[i].Index = int64(i)
			}
			return r, head, "deletion, renumbered"
		},
		func(r []audit.Stored) ([]audit.Stored, audit.Head, string) {
			i, j := random.IntN(len(r)), random.IntN(len(r))
			r = append(r[:i], append([]audit.Stored{r[j]}, r[i:]...)...)
			for i := range r {
				r[i].Index = int64(i)
			}
			return r, head, "insertion"
		},
		func(r []audit.Stored) ([]audit.Stored, audit.Head, string) {
			i := random.IntN(len(r) - 1)
			j := i + 1 + random.IntN(len(r)-i-1)
			r[i], r[j] = r[j], r[i]
			r[i].Index, r[j].Index = int64(i), int64(j)
			return r, head, "swap"
		},
		func(r []audit.Stored) ([]audit.Stored, audit.Head, string) {
			return r[:random.IntN(len(r))], head, "truncation"
		},
		func(r []audit.Stored) ([]audit.Stored, audit.Head, string) {
			h := head
			h.Root[random.IntN(32)] ^= 1 << random.IntN(8)
			return r, h, "head"
		},
		// From here on the whole store is rewritten consistently; only the checkpoint kept elsewhere tells.
		func(r []audit.Stored) ([]audit.Stored, audit.Head, string) {
			r, h := relink(r[:random.IntN(len(r))])
			return r, h, "consistent truncation"
		},
		func(r []audit.Stored) ([]audit.Stored, audit.Head, string) {
			i := random.IntN(len(r))
			p, _ := audit.Parse(r[i].Bytes)
			p.Trace = "forged"
			r[i].Bytes = audit.Seal(p.Entry, p.Seq, p.Prev).Bytes
			r, h := relink(r)
			return r, h, "consistent rewriting"
		},
	}
	for n := range *mutations {
		records := make([]audit.Stored, len(original))
		for i, r := range original {
			records[i] = r
			records[i].Bytes = bytes.Clone(r.Bytes)
		}
		mutated, h, what := kinds[n%len(kinds)](records)
		if _, err := (audit.Log{Head: h, Records: each(mutated)}).Verify(head.Tree()); pawl.CodeOf(err) != pawl.CodeAuditBroken {
			t.Errorf("mutation %d (%s) passed: %v", n, what, err)
		}
	}
}

func TestVerifyNamesTheFirstBadRecord(t *testing.T) {
	records, head := chain(30)
	records[11].Bytes = append(bytes.Clone(records[11].Bytes), ' ')
	report, err := audit.Log{Head: head, Records: each(records)}.Verify()
	if report.Size != 11 || err == nil || !strings.Contains(err.Error(), "audit.altered 11") {
		t.Errorf("%+v, %v", report, err)
	}

	// A transition that does not start where the last one ended is found even when hashes and chain agree.
	records, _ = chain(30)
	p, _ := audit.Parse(records[14].Bytes)
	for i := 15; p.Move == nil; i++ {
		p, _ = audit.Parse(records[i].Bytes)
	}
	at := -1
	for i, r := range records {
		if q, _ := audit.Parse(r.Bytes); q.ID == p.ID {
			at = i
		}
	}
	p.Move.From = "done"
	records[at].Bytes = audit.Seal(p.Entry, p.Seq, p.Prev).Bytes
	records, head = relink(records)
	if _, err := (audit.Log{Head: head, Records: each(records)}).Verify(); err == nil ||
		!strings.Contains(err.Error(), fmt.Sprintf("audit.continuity %d", at)) {
		t.Errorf("a leap between states: %v", err)
	}
}

func BenchmarkSeal(b *testing.B) {
	e := move(task(1), "queued", "running")
	e.Move.Metadata = json.RawMessage(`{"runner_pid":12345,"version":"v1","evidence":"` + strings.Repeat("a", 120) +
		`"}`)
	b.ReportAllocs()
	for b.Loop() {
		audit.Seal(e, 7, audit.Hash{1})
	}
}

func BenchmarkVerify(b *testing.B) {
	records, head := chain(20000)
	b.SetBytes(int64(len(records[0].Bytes)))
	for b.Loop() {
		if _, err := (audit.Log{Head: head, Records: each(records)}).Verify(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(records)), "ns/record")
}

// TestVerifyComparesChains: a record that names another predecessor is found where leaf hashes and head were made anew
// to fit it, so that no root gives it away.
func TestVerifyComparesChains(t *testing.T) {
	original, _ := chain(30)
	for at, r := range original {
		p, err := audit.Parse(r.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		for name, prev := range map[string]audit.Hash{"nothing": {}, "the record itself": r.Hash,
			"another subject's": original[(at+1)%len(original)].Hash, "another beginning": audit.Genesis(task(99))} {
			records, tail := slices.Clone(original), audit.Hash{}
			var leaves []audit.Hash
			for i, next := range records {
				q, _ := audit.Parse(next.Bytes)
				switch {
				case i == at:
					q.Prev = prev
				case i > at && q.Subject == p.Subject:
					q.Prev = tail
				}
				sealed := audit.Seal(q.Entry, q.Seq, q.Prev)
				records[i].Bytes, records[i].Hash = sealed.Bytes, sealed.Hash
				if q.Subject == p.Subject {
					tail = sealed.Hash
				}
				leaves = append(leaves, sealed.Hash)
			}
			report, err := audit.Log{Head: audit.Head{}.Append(leaves...), Records: each(records)}.Verify()
			if report.Size != int64(at) || err == nil || !strings.Contains(err.Error(), "audit.chain") {
				t.Errorf("record %d follows %s: %d records are good, %v", at, name, report.Size, err)
			}
		}
	}
}
