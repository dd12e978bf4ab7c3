package triage

import (
	"strings"
	"testing"
)

// measured counts what Detect takes the sentences of a set for.
type measured struct{ dangerous, found, harmless, alarms int }

// measure judges a set of labelled sentences, and tells wrong those that it takes for something else.
func measure(t *testing.T, name string, wrong func(e example)) measured {
	t.Helper()
	var m measured
	for _, e := range examples(t, name) {
		acts := Acts(Detect(e.text))
		switch e.want {
		case "dangerous":
			m.dangerous++
			if acts {
				m.found++
				continue
			}
		case "harmless":
			m.harmless++
			if !acts {
				continue
			}
			m.alarms++
		default:
			t.Fatalf("%s:%d: label %q", name, e.line, e.want)
		}
		wrong(e)
	}
	return m
}

// TestTunedRisks holds the judgement to the sentences that it was tuned on.
func TestTunedRisks(t *testing.T) {
	m := measure(t, "risk-tuned.tsv", func(e example) {
		t.Errorf("risk-tuned.tsv:%d: not %s: %s %v", e.line, e.want, e.input, Detect(e.text))
	})
	if m.dangerous != 229 || m.harmless != 201 {
		t.Errorf("%+v", m)
	}
}

// TestEveryRiskRule wants an example of each rule, so that no row of the table is idle.
func TestEveryRiskRule(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range riskRules() {
		if seen[r.ID] || r.ID == "" || strings.TrimSpace(r.Verb+r.Object) == "" {
			t.Errorf("%+v", r)
		}
		seen[r.ID] = true
	}
}

// TestReviewedInputs holds every judgement to the inputs of a review of the whole program, with what it wanted of each.
func TestReviewedInputs(t *testing.T) {
	n := 0
	for _, e := range examples(t, "review.tsv") {
		n++
		want := strings.Fields(e.kind)
		route, err := Decide(e.text, Situation{})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(route.Kind); e.want != "-" && e.want != got && e.want != route.Command {
			t.Errorf("review.tsv:%d: route %s %s, want %s: %s", e.line, got, route.Command, e.want, e.input)
		}
		got, err := Evaluate(e.text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want[0] != "-" && got.Ready() != (want[0] == "y") {
			t.Errorf("review.tsv:%d: %d points, ready %s is wanted: %s", e.line, got.Score, want[0], e.input)
		}
		if path, _ := got.Path(); want[1] != "-" && string(path[:1]) != want[1] {
			t.Errorf("review.tsv:%d: path %s, want %s: %+v %s", e.line, path, want[1], got.Factors, e.input)
		}
		if risk := got.HighRisk; want[2] == "a" != got.Dangerous() && want[2] != "-" || want[2] == "n" && len(risk) > 0 {
			t.Errorf("review.tsv:%d: %v, want %s: %s", e.line, risk, want[2], e.input)
		}
	}
	if n != 80 {
		t.Errorf("%d inputs", n)
	}
}

// TestHeldRisks holds the judgement to sentences that it was not tuned on.
func TestHeldRisks(t *testing.T) {
	for _, name := range []string{"risk-held-1.tsv", "risk-held-2.tsv", "risk-held-3.tsv"} {
		wrong := map[string]int{}
		m := measure(t, name, func(e example) { wrong[e.want+" "+e.kind+" "+e.form]++ })
		recall, alarms := 100*float64(m.found)/float64(m.dangerous), 100*float64(m.alarms)/float64(m.harmless)
		t.Logf("%s: %d of %d found (%.1f %%), %d of %d alarms (%.1f %%); wrong: %v", name, m.found, m.dangerous, recall,
			m.alarms, m.harmless, alarms, wrong)
	}
}
