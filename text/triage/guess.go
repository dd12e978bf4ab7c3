package triage

import (
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"pawl/text/pattern"
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
	guessAsks   = 0.55 // a sentence in which the rules find nothing is asked about from here on
	guessDoubts = 0.3  // what they find in words is no more than asked about up to here
	guessDenies = 0.1  // and no more than mentioned up to here
)

// A guess looks at the beginning of a sentence, and at so many sentences of a text: one of such a length is no request
// that somebody types.
const (
	maxGuessed   = 2000
	maxSentences = 500
)

// Weigh is Detect for a requirement: the words that somebody who is there gives. It also guesses. Where the rules find
// nothing in a sentence that sounds like those of extremely high risk, or something in one that hardly sounds like
// them, it is not sure, and the finding has the stance of that. What they find in words in one that does not sound like
// them at all is a mention.
func Weigh(text string) []Finding { return weigh(text, weights()) }

func weigh(text string, w map[string]float64) []Finding {
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
			d.guess(s, from, plain, w)
		}
	}
	return d.result()
}

// guess judges a sentence as a whole, of which the findings from one on are.
func (d *detector) guess(s sentence, from int, plain bool, w map[string]float64) {
	text := strings.TrimSpace(d.text[s.start:s.end])
	acts := slices.IndexFunc(d.found[from:], func(f Finding) bool { return f.Stance == StanceAction })
	q, quoted := within(d.quotes, d.at[s.start])
	plain = plain && !pasted(d.text, s.start)
	p := guessed(text[:min(len(text), maxGuessed)], w)
	switch {
	case acts < 0 && p > guessAsks && plain && (!quoted || q.End < d.at[s.end]):
		d.add(RiskUnclear, s.start, s.end, StanceUnsure)
	case acts >= 0 && p < guessDoubts && !d.certain:
		for i := range d.found[from:] {
			if f := &d.found[from+i]; f.Stance == StanceAction && p < guessDenies {
				f.Stance = StanceMention
			} else if f.Stance == StanceAction {
				f.Stance = StanceUnsure
			}
		}
	}
	d.certain = false
}

// output matches the beginning of a line that a program has printed: of code, by its indent, of a test or of a diff, or
// with the place in a file that it is about.
var output = pattern.New(`^(?: {4}|\t|--- |\+\+\+ |=== |@@ |\S+\.\w+:\d+)`)

// pasted reports whether a line that holds an offset was printed rather than said: nothing is asked for by it.
func pasted(text string, at int) bool {
	return output.Get().MatchString(text[1+strings.LastIndexByte(text[:at], '\n'):])
}

// traits are what a guess rests on, each once: the words of a sentence, their beginnings and their neighbours, what
// they stand for and what that stands beside, and the classes of the lexicon. The text is folded.
func traits(text string) []string {
	seen := map[string]bool{}
	var out, all []string
	add := func(kind, what string) bool {
		if seen[kind+what] {
			return false
		}
		seen[kind+what] = true
		out = append(out, kind+what)
		return true
	}
	beside := func(kind string, before, here []string) {
		for _, a := range before {
			for _, b := range here {
				add(kind, a+">"+b)
			}
		}
	}
	last, before := "", []string(nil)
	for _, w := range knownWords(text) {
		if last == "" {
			add("f:", w.said)
		}
		add("w:", w.said)
		add("b:", last+" "+w.said)
		if !w.han && len(w.said) > 4 {
			add("x:", w.said[:4])
		}
		for _, n := range w.notions {
			if before == nil {
				add("m:", n)
			}
			if add("n:", n) {
				all = append(all, n)
			}
		}
		beside("o:", before, w.notions)
		if last = w.said; w.notions != nil {
			before = w.notions
		}
	}
	for i, a := range all {
		for _, b := range all[i+1:] {
			add("p:", min(a, b)+"+"+max(a, b))
		}
	}
	l := words()
	before = nil
	for _, t := range lex(text) {
		var here []string
		for n, name := range l.order {
			if t.senses.has(sense(n)) {
				here = append(here, name)
				add("s:", name)
			}
		}
		beside("c:", before, here)
		before = here
	}
	return out
}

// guessed says how likely a sentence is of extremely high risk, from 0 to 1.
func guessed(text string, w map[string]float64) float64 {
	list := traits(text)
	sum := 0.0
	for _, t := range list {
		sum += w[t]
	}
	return 1 / (1 + math.Exp(-w["bias"]-sum/math.Sqrt(float64(max(1, len(list))))))
}
