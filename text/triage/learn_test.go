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
	set, text string
	traits    []int
	danger    float64
}

// lessons reads the labelled sets, and the ordinary requirements of other tests as harmless ones. Traits are numbers of
// a list that is returned with them.
func lessons(t *testing.T) (out []lesson, names []string) {
	number := map[string]int{}
	set := ""
	add := func(text string, danger float64) {
		e := lesson{set: set, text: text, danger: danger}
		for _, trait := range traits(fold(text).text) {
			n, ok := number[trait]
			if !ok {
				n = len(names)
				number[trait], names = n, append(names, trait)
			}
			e.traits = append(e.traits, n)
		}
		out = append(out, e)
	}
	is := map[bool]float64{true: 1}
	for _, set = range append(heldNames(), "risk-tuned.tsv", "risk-plain.tsv") {
		for _, e := range examples(t, set) {
			add(e.text, is[e.want == "dangerous"])
		}
	}
	set = ""
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
	return out, names
}

// learn fits a logistic model by gradient descent, and returns what it has learnt of each trait; the same sentences
// give the same weights, but for the last digits that a machine computes.
func learn(list []lesson, names []string) map[string]float64 {
	const epochs, rate, decay = 40, 0.2, 3e-4
	w, moved, count := make([]float64, len(names)), make([]float64, len(names)), make([]int, len(names))
	for _, e := range list {
		for _, t := range e.traits {
			count[t]++
		}
	}
	bias := 0.0
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
	out := map[string]float64{"bias": bias}
	for i, name := range names {
		if math.Abs(w[i]) >= 0.25 {
			out[name] = w[i]
		}
	}
	return out
}

// TestLearntWeights makes the weights anew from the labelled sets where -update asks for it, and otherwise holds the
// file to having been learnt from traits that there are.
func TestLearntWeights(t *testing.T) {
	list, names := lessons(t)
	if !golden.Updating() {
		known := map[string]bool{"bias": true}
		for _, name := range names {
			known[name] = true
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
	var lines []string
	for name, w := range learn(list, names) {
		lines = append(lines, fmt.Sprintf("%s\t%.2f", name, w))
	}
	slices.Sort(lines)
	golden.Check(t, "lexicon/weights.txt", strings.Join(lines, "\n")+"\n")
}

// TestLeftOutRisks learns from all sets but one, and judges that one: what comes of sentences that the guess has not
// seen. The rules have seen the first four.
func TestLeftOutRisks(t *testing.T) {
	all, names := lessons(t)
	for _, set := range held {
		var list []lesson
		for _, e := range all {
			if e.set != set.name {
				list = append(list, e)
			}
		}
		got := weighed(t, set.name, learn(list, names))
		t.Logf("%s: %+v", set.name, got)
		if got.caught() < set.leftOut-tolerated || got.doubts() > set.doubts+tolerated {
			t.Errorf("%s: %.1f %% found or asked about, and %.1f %% of the others; %+v", set.name, got.caught(), got.doubts(),
				set)
		}
	}
}
