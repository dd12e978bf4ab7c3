package solution

import (
	"slices"
	"strings"
)

// Brief returns what a proposal says to whoever carries it out: each constraint, and each other text behind the heading
// that it stands under, on a line of its own.
func (p Proposal) Brief() []string {
	l := p.Language.known()
	out := lines(p.Constraints, l)
	for _, s := range proposalSections {
		for _, part := range s.parts {
			if part.text != nil && part.word.zh != wordLimits.zh {
				out = append(out, under(part.word, *part.text(&p), l)...)
			}
		}
		if s.own != nil {
			out = append(out, under(s.word, *s.own(&p), l)...)
		}
	}
	for _, d := range p.Decisions {
		out = append(out, strings.TrimSpace(d.ID+" "+d.Title+" "+d.Verdict.In(l)+" "+strings.Join(lines(d.Body, l), " ")))
	}
	return out
}

// under returns a text as one line behind its heading, nothing for an empty one.
func under(w word, text string, l Language) []string {
	said := lines(text, l)
	if len(said) == 0 {
		return nil
	}
	return []string{w.in(l) + ": " + strings.Join(said, "; ")}
}

// lines returns the lines of a text without the signs of a list, and without the word that stands for an empty text.
func lines(text string, l Language) []string {
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "-*+")); line != "" {
			out = append(out, oneLine(line))
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return len(out) == 1 && s == wordNothing.in(l) })
}
