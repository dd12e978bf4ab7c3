package prove

import (
	"path"
	"slices"
	"strings"

	"pawl/driver/prove/cut"
	"pawl/kernel/effect"
	"pawl/text/display"
	"pawl/text/plan"
)

// report makes witnesses of what was seen: those of the work's own tests, and those that the criteria ask for.
func (p *proving) report() {
	add := func(w ...effect.Witness) { p.result.Witnesses = append(p.result.Witnesses, w...) }
	asked := map[*subject]bool{}
	for _, c := range p.claims {
		var all []effect.Witness
		for _, s := range c.subjects {
			w := p.witness(s)
			w.Criterion = c.ID
			all = append(all, w)
			asked[s] = asked[s] || !c.any
		}
		if c.any && len(all) > 0 {
			all = []effect.Witness{best(all, c.Texts)}
		}
		for _, s := range c.files {
			all = append(all, fileWitness(c.Criterion, s))
		}
		for _, name := range c.absent {
			all = append(all, effect.Witness{Criterion: c.ID, Kind: kindTest, Test: name,
				Without: effect.WithoutAbsent})
		}
		if len(all) == 0 && c.Proof != plan.ProofTest { // which any test of the work's own shows
			all = []effect.Witness{{Criterion: c.ID, Without: effect.WithoutAbsent}}
		}
		add(all...)
	}
	for _, s := range p.subjects {
		if s.own || !asked[s] && !s.was && isTests(s.check) {
			add(p.witness(s))
		}
	}
}

// best is the witness that says the most: one that shows the work and speaks of one of the texts, one that shows it,
// one that speaks.
func best(all []effect.Witness, texts []string) effect.Witness {
	points := func(w effect.Witness) (n int) {
		if w.Shows() {
			n += 2
		}
		if slices.ContainsFunc(texts, func(t string) bool { return slices.Contains(w.Texts, t) }) {
			n++
		}
		return n
	}
	return slices.MaxFunc(all, func(a, b effect.Witness) int { return points(a) - points(b) })
}

// fileWitness is that of a state of files: what is to be gone was there, and what is to come was not.
func fileWitness(c plan.Criterion, s *state) effect.Witness {
	w := effect.Witness{Criterion: c.ID, Check: s.what, Kind: "files", Without: effect.WithoutUnmet}
	wanted := c.Proof == plan.ProofDiff
	if s.before == wanted {
		w.Without = effect.WithoutGreen
	}
	w.Failed = s.now != wanted
	return w
}

// maxSaid bounds what a witness quotes, in bytes.
const maxSaid = 1 << 10

func (p *proving) witness(s *subject) effect.Witness {
	w := effect.Witness{Check: s.check.Name, Kind: s.check.Kind, Without: s.without, Confirmed: s.confirmed,
		Failed: s.failed(), Own: s.own, Doubt: s.doubted, At: s.at}
	if !s.whole() {
		w.Test = s.test.String()
	}
	if f := p.bench.planned(s); f != nil {
		w.Own, w.Held = false, f.Held
	}
	seen := s.after
	if len(s.before) > 0 && s.without != effect.WithoutGreen {
		seen = s.before[0]
	}
	said := seen.said
	if said == "" && seen.end == "" {
		said = seen.output
	}
	if w.Without != effect.WithoutGreen || w.Failed {
		said, _, _ = strings.Cut(said, "\ngoroutine ")
		if at := imports().FindStringIndex(said); at != nil { // what follows are the calls that led there
			said = display.Head(said[1+strings.LastIndexByte(said[:at[0]], '\n'):], maxSaid)
		}
		if w.Said = display.Tail(said, maxSaid); len(w.Said) < len(said) {
			_, w.Said, _ = strings.Cut(w.Said, "\n")
		}
	}
	if s.lost != "" {
		w.Failed, w.Test = true, s.lost
	}
	source := s.test.Test + "\n" + path.Base(s.test.Path) + "\n" + s.test.Source + "\n" + said
	if s.own {
		source += "\n" + p.beside[beside{effect.CheckKey(s.check), path.Join(s.check.Dir, s.test.Path)}]
	}
	if s.whole() {
		source = s.check.Command + "\n" + said
	}
	speaks := cut.Words(source)
	for _, c := range p.Criteria {
		for _, text := range c.Texts {
			if !slices.Contains(w.Texts, text) && mentions(speaks, source, text) {
				w.Texts = append(w.Texts, text)
			}
		}
	}
	return w
}

// mentions reports whether a text occurs among words, as words of its own; one without any, or of a script that sets no
// blanks between words, as it is.
func mentions(words, source, text string) bool {
	wanted := cut.Words(text)
	if wanted == "" || strings.ContainsFunc(text, func(r rune) bool { return r > 0x2e80 }) {
		return strings.Contains(strings.ToLower(source), strings.ToLower(text))
	}
	return strings.Contains(" "+words+" ", " "+wanted+" ")
}
