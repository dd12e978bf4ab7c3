package kernel_test

import (
	"strings"
	"testing"

	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/effect"
	"pawl/kernel/planning"
	"pawl/kernel/steps"
)

// briefed is a mind whose workspace is described by a pack.
type briefed struct {
	*mind
	spec effect.ContextSpec
}

func (m *briefed) answer(e effect.Effect) effect.Receipt {
	if e.Kind != effect.KindContext {
		return m.mind.answer(e)
	}
	m.spec, _ = effect.Decode[effect.ContextSpec](e.Spec)
	facts, _ := effect.Decode[effect.ContextResult](m.mind.answer(e).Result)
	facts.Pack = &effect.ContextPack{Lexical: effect.LexicalScan, Degraded: []string{"context.too_many"}}
	return effect.Succeeded(facts)
}

// TestWhatAnAgentIsShown: the pack is built for what the person answered, too; what it could not use is recorded and
// seen; and a repair is told the last results of the work before it.
func TestWhatAnAgentIsShown(t *testing.T) {
	b := newBench(t)
	b.k.Config().Agents["m"] = kernel.Traits{Works: true, Intakes: true, Judges: true, Reads: true}
	again := finished
	again.Pack = &effect.PackNote{Used: 7}
	m := &briefed{mind: &mind{questions: []string{"which one?"}, world: world{failChecks: 1}, work: []effect.WorkResult{
		wants(call("a", "read_file", "x"), call("b", "no_such_tool", "x"), call("c", "write_file", "x"),
			call("d", "read_file", "y"), call("e", "read_file", "z"), call("f", "read_file", "v")), finished, again,
	}}}
	m.plan = intent()
	b.do(&planning.Start{Requirement: "do the work", Agent: "m",
		Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}, RunMode: "assisted"})
	b.run(m.answer)
	b.do(&steps.AnswerQuestions{Answers: []string{"the first"}})
	b.run(m.answer)
	if a := m.spec.Answers; len(a) != 1 || a[0].Answer != "the first" || m.spec.Tokens == 0 {
		t.Errorf("the pack is for %+v", m.spec)
	}
	if st := b.status(); st.Run == nil || strings.Join(st.Run.Degraded, " ") != "context.too_many" {
		t.Errorf("status %+v", st.Run)
	}
	if b.recorded("CONTEXT_BUILT") == "" {
		t.Error("nothing tells of the pack")
	}
	b.do(&approval.Approve{Hash: b.look().Solution.Hash})
	b.run(m.answer)
	if len(m.asked) != 3 || len(m.asked[0].Recent) != 0 {
		t.Fatalf("asked %d times: %+v", len(m.asked), m.asked[0].Recent)
	}
	got := m.asked[2].Recent
	if len(got) != 5 || got[0].CallID != "b" || !strings.Contains(string(got[0].Payload), `"failed":true`) ||
		!strings.Contains(string(got[1].Payload), `"tool":"write_file"`) || got[4].CallID != "f" {
		t.Errorf("the repair was told %+v", got)
	}
	if n := b.count("CONTEXT_BUILT"); n != 2 {
		t.Errorf("%d packs are recorded", n)
	}
	b.verifyAudit()
}

// count returns how many records of an event there are.
func (b *bench) count(event string) (n int) {
	b.t.Helper()
	for rec, err := range b.store.Records(b.t.Context(), "", 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		if strings.Contains(string(rec.Bytes), `"`+event+`"`) {
			n++
		}
	}
	return n
}
