package triage

import (
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed lexicon/weights.txt
var weightsText string

// weights say how much each trait of a sentence speaks for high risk, or against it where they are below 0, as the
// labelled sets have taught it. They are read when they are first needed.
var weights = sync.OnceValue(func() map[string]float64 {
	out := map[string]float64{}
	for line := range strings.Lines(weightsText) {
		if trait, w, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			out[trait], _ = strconv.ParseFloat(w, 64)
		}
	}
	return out
})

// How sure a guess has to be.
const (
	guessAsks  = 0.6  // a sentence in which the rules find nothing is asked about from here on
	guessDoubt = 0.12 // what they find in words is no more than asked about up to here
)

// A guess looks at the beginning of a sentence, and at so many sentences of a text: one of such a length is no request
// that somebody types.
const (
	maxGuessed   = 2000
	maxSentences = 500
)

// Weigh is Detect for a requirement: the words that somebody who is there gives. It also guesses. Where the rules find
// nothing in a sentence that sounds like those of extremely high risk, or something in one that does not sound like
// them at all, it is not sure, and the finding has the stance of that.
func Weigh(text string) []Finding {
	f := fold(text)
	d := detector{folded: f, quotes: quotes(text)}
	all := clauses(f.text, d.quotes, f)
	for i, n := 0, 0; i < len(all); {
		s, from, plain := all[i].sentence, len(d.found), true
		for ; i < len(all) && all[i].sentence == s; i++ {
			plain = plain && !all[i].comment && !all[i].refused
			d.clause(all[i])
		}
		if n++; n <= maxSentences {
			d.guess(s, from, plain)
		}
	}
	return d.result()
}

// guess judges a sentence as a whole, of which the findings from one on are.
func (d *detector) guess(s sentence, from int, plain bool) {
	text := strings.TrimSpace(d.text[s.start:s.end])
	acts := slices.IndexFunc(d.found[from:], func(f Finding) bool { return f.Stance == StanceAction })
	q, quoted := within(d.quotes, d.at[s.start])
	switch p := guessed(text[:min(len(text), maxGuessed)]); {
	case acts < 0 && p > guessAsks && plain && (!quoted || q.End < d.at[s.end]):
		d.add(RiskUnclear, s.start, s.end, StanceUnsure)
	case acts >= 0 && p < guessDoubt && !d.certain:
		for i := range d.found[from:] {
			if f := &d.found[from+i]; f.Stance == StanceAction {
				f.Stance = StanceUnsure
			}
		}
	}
	d.certain = false
}

// traits are what a guess rests on, each once: the words of a sentence and their neighbours, the classes of the lexicon
// in which they are, and these together. The text is folded.
func traits(text string) []string {
	l, seen := words(), map[string]bool{}
	var out, classes []string
	add := func(kind, what string) bool {
		if seen[kind+what] {
			return false
		}
		seen[kind+what] = true
		out = append(out, kind+what)
		return true
	}
	last := ""
	for i, t := range lex(text) {
		word := strings.TrimSuffix(text[t.start:t.end], "s")
		if i == 0 {
			add("f:", word)
		}
		add("w:", word)
		add("b:", last+" "+word)
		last = word
		for n, name := range l.order {
			if t.senses.has(sense(n)) && add("s:", name) {
				classes = append(classes, name)
			}
		}
	}
	for i, a := range classes {
		for _, b := range classes[i+1:] {
			add("p:", min(a, b)+"+"+max(a, b))
		}
	}
	return out
}

// guessed says how likely a sentence is of extremely high risk, from 0 to 1.
func guessed(text string) float64 {
	list, w := traits(text), weights()
	sum := 0.0
	for _, t := range list {
		sum += w[t]
	}
	return 1 / (1 + math.Exp(-w["bias"]-sum/math.Sqrt(float64(max(1, len(list))))))
}
