package triage

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pawl/internal/golden"
)

// lesson is a labelled sentence from which the weights are learnt.
type lesson struct {
	traits []int
	danger float64
}

// lessons reads the labelled sets, and the ordinary requirements of other tests as harmless ones. Traits are numbers of
// a list that is returned with them, with how often each occurs.
func lessons(t *testing.T) (out []lesson, names []string, count []int) {
	number := map[string]int{}
	add := func(text string, danger float64) {
		e := lesson{danger: danger}
		for _, trait := range traits(fold(text).text) {
			n, ok := number[trait]
			if !ok {
				n = len(names)
				number[trait], names, count = n, append(names, trait), append(count, 0)
			}
			count[n]++
			e.traits = append(e.traits, n)
		}
		out = append(out, e)
	}
	is := map[bool]float64{true: 1}
	for _, set := range []string{"risk-tuned.tsv", "risk-held-1.tsv", "risk-held-2.tsv", "risk-held-3.tsv",
		"risk-held-4.tsv", "risk-plain.tsv"} {
		for _, e := range examples(t, set) {
			add(e.text, is[e.want == "dangerous"])
		}
	}
	for _, e := range examples(t, "ehrb.tsv") {
		if e.form == "text" {
			add(e.text, is[e.want == "action"])
		}
	}
	for _, e := range examples(t, "review.tsv") {
		if risk := strings.Fields(e.kind)[2]; risk != "-" {
			add(e.text, is[risk == "a"])
		}
	}
	for _, e := range examples(t, "score.tsv") {
		if !Acts(Detect(e.text)) {
			add(e.text, 0)
		}
	}
	raw, err := os.ReadFile("../criteria/testdata/requirements.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if text, _, ok := strings.Cut(line, " ⇒ "); ok && !Acts(Detect(text)) {
			add(strings.ReplaceAll(text, `\n`, "\n"), 0)
		}
	}
	return out, names, count
}

// learn fits a logistic model by gradient descent; the same sentences give the same weights, but for the last digits
// that a machine computes.
func learn(list []lesson, count []int) (w []float64, bias float64) {
	const epochs, rate, decay = 40, 0.5, 3e-4
	w = make([]float64, len(count))
	moved := make([]float64, len(count))
	for epoch := range epochs {
		for i := range list {
			e := list[(i*7919+epoch*31)%len(list)]
			n := 1 / math.Sqrt(float64(max(1, len(e.traits))))
			sum := bias
			for _, t := range e.traits {
				sum += w[t] * n
			}
			wrong := 1/(1+math.Exp(-sum)) - e.danger
			for _, t := range e.traits {
				if count[t] < 2 {
					continue // what was seen once says nothing
				}
				step := wrong*n + decay*w[t]
				moved[t] += step * step
				w[t] -= rate * step / math.Sqrt(1e-6+moved[t])
			}
			bias -= 0.02 * wrong
		}
	}
	return w, bias
}

// TestLearntWeights makes the weights anew from the labelled sets where -update asks for it, and otherwise holds the
// file to having been learnt from traits that there are.
func TestLearntWeights(t *testing.T) {
	list, names, count := lessons(t)
	if !golden.Updating() {
		known := map[string]bool{"bias": true}
		for _, n := range names {
			known[n] = true
		}
		for trait := range weights() {
			if !known[trait] {
				t.Errorf("weights.txt has %q, which no sentence has", trait)
			}
		}
		if len(weights()) < 1000 {
			t.Errorf("%d weights", len(weights()))
		}
		return
	}
	w, bias := learn(list, count)
	lines := []string{fmt.Sprintf("bias\t%.2f", bias)}
	for i, name := range names {
		if math.Abs(w[i]) >= 0.2 {
			lines = append(lines, fmt.Sprintf("%s\t%.2f", name, w[i]))
		}
	}
	slices.Sort(lines)
	golden.Check(t, "lexicon/weights.txt", strings.Join(lines, "\n")+"\n")
}
