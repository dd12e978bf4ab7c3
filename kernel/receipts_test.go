package kernel_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
	"pawl/kernel/joined"
	"pawl/kernel/planning"
)

// moment is what the receipt of an effect at work is decided from, and when.
type moment struct {
	at   *kernel.Snapshot
	good *effects.Report
	now  time.Time
}

// moments are those of a run from its requirement to its result, one of each kind of effect.
func moments(tb testing.TB) (out []moment) {
	w := &world{plan: twoSteps(), failChecks: 1}
	b := newBench(tb)
	// What a decision is made from is known once it was made.
	b.k.OnDecide(func(d kernel.Decided) {
		if c, ok := d.Envelope.Command.(*effects.Report); ok && !slices.ContainsFunc(out,
			func(m moment) bool { return m.at.Effect.What() == d.Snapshot.Effect.What() }) {
			out = append(out, moment{d.Snapshot, c, d.Now})
		}
	})
	b.do(&planning.Start{Requirement: "do the work", Place: place, RunMode: pawl.Assisted})
	b.run(w.answer)
	b.do(&approval.Approve{Hash: b.look().Approval.Hash})
	b.run(w.answer)
	if s := b.look(); s.Session.State != "IDLE" || len(out) < 11 {
		tb.Fatalf("session %s, effects of %d kinds", s.Session.State, len(out))
	}
	return out
}

// FuzzReceipt: whatever a driver reports of an effect, the kernel decides something that can be written down. It is a
// pure function, and so decides the same a second time.
func FuzzReceipt(f *testing.F) {
	at := moments(f)
	for i, m := range at {
		r := m.good.Receipt
		for _, result := range []string{string(r.Result), "{}", "null", "[]", `{"Outcomes":null}`, `{"tree":1}`, `""`} {
			f.Add(uint(i), r.OK, "", result)
		}
		f.Add(uint(i), false, string(pawl.CodeEnvironment), string(r.Result))
		f.Add(uint(i), false, string(pawl.CodeConflict), "null")
	}
	p := joined.Table()
	f.Fuzz(func(t *testing.T, which uint, ok bool, code, result string) {
		if !json.Valid([]byte(result)) || !utf8.ValidString(code) {
			return // drivers write their results with the kernel's own types
		}
		m := at[which%uint(len(at))]
		decide := func() (kernel.Decision, error) {
			return kernel.Decide(p, m.at, &kernel.Envelope{Actor: "runner:r1", Command: &effects.Report{Effect: m.good.Effect,
				Token: m.good.Token, Receipt: effect.Receipt{OK: ok, Code: pawl.Code(code), Result: json.RawMessage(result)}}},
				m.now)
		}
		d, err := decide()
		again, twice := decide()
		if (err == nil) != (twice == nil) || len(again.Touched) != len(d.Touched) || len(again.Entries) != len(d.Entries) {
			t.Fatalf("decided %v, and then %v", err, twice)
		}
		if err != nil {
			t.Fatalf("%s, ok %v, code %q: the receipt is not taken, so the effect stays at work: %v", m.at.Effect.What(), ok, code,
				err)
		}
		if unused(d.Touched) {
			t.Fatalf("%s, ok %v, code %q: the receipt was refused", m.at.Effect.What(), ok, code)
		}
		for _, doc := range d.Touched {
			if _, err := json.Marshal(doc); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// unused reports whether documents show an effect whose receipt the kernel could not use.
func unused(touched []kernel.Document) bool {
	return slices.ContainsFunc(touched, func(doc kernel.Document) bool {
		e, ok := doc.(*kernel.EffectDoc)
		return ok && e.Receipt != nil && e.Receipt.Refused
	})
}
