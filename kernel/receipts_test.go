package kernel_test

import (
	"encoding/json"
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
	at *kernel.Snapshot
	e  effect.Effect
	by time.Time
}

// moments are those of a run in which an effect of each kind is at work, with a receipt in good order.
func moments(tb testing.TB) (out []moment, good []effect.Receipt) {
	for _, kind := range []effect.Kind{effect.KindContext, effect.KindPlan, effect.KindWorktree, effect.KindCheckpoint,
		effect.KindTool, effect.KindVerify, effect.KindRepair, effect.KindGates, effect.KindLand, effect.KindCleanup,
		effect.KindArchive} {
		w := &world{plan: twoSteps()}
		if kind == effect.KindRepair {
			w.failChecks = 1
		}
		b := newBench(tb)
		b.do(&planning.Start{Requirement: "do the work", Place: place, RunMode: pawl.Assisted})
		for n := 0; ; n++ {
			s := b.look()
			if s.Effect != nil && s.Effect.What() == kind && s.Effect.State == kernel.EffectPending {
				break
			}
			if s.Session.State == "CONFIRMING" {
				b.do(&approval.Approve{Hash: s.Approval.Hash})
			} else if !b.act(w.answer) || n > 60 {
				tb.Fatalf("never came to %s", kind)
			}
		}
		e := b.beginNow(b.look().Effect.ID)
		receipt := w.answer(e)
		// What a decision is made from is known once it was made.
		var m moment
		b.k.OnDecide(func(d kernel.Decided) { m = moment{d.Snapshot, e, d.Now} })
		b.do(&effects.Report{Effect: e.ID, Token: e.Token, Receipt: receipt})
		out, good = append(out, m), append(good, receipt)
	}
	return out, good
}

// FuzzReceipt: whatever a driver reports of an effect, the kernel decides something that can be written down. It is a
// pure function, and so decides the same a second time.
func FuzzReceipt(f *testing.F) {
	at, good := moments(f)
	for i, r := range good {
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
			return kernel.Decide(p, m.at, &kernel.Envelope{Actor: "runner:r1", Command: &effects.Report{Effect: m.e.ID,
				Token: m.e.Token, Receipt: effect.Receipt{OK: ok, Code: pawl.Code(code), Result: json.RawMessage(result)}}},
				m.by)
		}
		d, err := decide()
		again, twice := decide()
		if (err == nil) != (twice == nil) || len(again.Touched) != len(d.Touched) || len(again.Entries) != len(d.Entries) {
			t.Fatalf("decided %v, and then %v", err, twice)
		}
		if err != nil {
			t.Fatalf("%s, ok %v, code %q: the receipt is not taken, so the effect stays at work: %v", m.e.Kind, ok, code,
				err)
		}
		for _, doc := range d.Touched {
			if _, err := json.Marshal(doc); err != nil {
				t.Fatal(err)
			}
		}
	})
}
