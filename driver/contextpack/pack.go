package contextpack

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"pawl/kernel/effect"
)

// The sources of a hit.
const (
	sourceManual = "manual" // the requirement names its file
	sourceSymbol = "symbol" // by its name, or by what uses it
	sourceGrep   = "grep"   // by what is written in it
)

// piece is a part of a file that could be shown.
type piece struct {
	of         *source
	node       *node // nil for a part that is no declaration
	start, end int
	score      float64
	source     string
}

// gain is the score of a piece for what it costs: of two that are as likely, the short one leaves room for others.
func (x piece) gain() float64 { return x.score / (1 + float64(min(x.end-x.start, 120))/40) }

// maxPieces bounds what could be shown before the budget does.
const maxPieces = 80

// pieces are the parts of files that could be shown, best first.
func (r *ranking) pieces() []piece {
	var out []piece
	for _, n := range r.nodes {
		if n.score == 0 {
			continue
		}
		x := piece{of: n.of, node: n, start: n.start, end: n.end, score: n.score, source: sourceGrep}
		switch {
		case n.of.named:
			x.source = sourceManual
		case n.name > 0 || n.body == 0:
			x.source = sourceSymbol
		}
		out = append(out, x)
	}
	top := 1e-9
	for _, src := range r.sources {
		top = max(top, src.score*src.quality())
	}
	for _, src := range r.sources {
		if slices.ContainsFunc(r.nodes, func(n *node) bool { return n.of == src }) {
			continue
		}
		if start, end := r.window(src, 1, len(src.lines), 30); end > 0 {
			x := piece{of: src, start: start, end: end, source: sourceGrep}
			x.score = 0.5 * src.score * src.quality() / top
			if src.named {
				x.score, x.source = max(x.score, 0.7), sourceManual
			}
			out = append(out, x)
		}
	}
	for _, at := range r.places {
		for _, f := range r.find(at.path) {
			i := slices.IndexFunc(r.sources, func(s *source) bool { return s.file == f })
			if i < 0 || len(r.around(at)) > 0 || at.line > len(r.sources[i].lines) {
				continue
			}
			src := r.sources[i]
			out = append(out, piece{of: src, start: max(1, at.line-8), end: min(len(src.lines), at.line+8), score: 0.9,
				source: sourceManual})
		}
	}
	slices.SortStableFunc(out, func(a, b piece) int { return cmp.Compare(b.gain(), a.gain()) })
	return out[:min(len(out), maxPieces)]
}

// window returns those lines of a part, at most so many, in which most of the query is; its beginning unless another
// part holds clearly more, and 0, 0 where there is nothing of it.
func (r *ranking) window(src *source, from, to, most int) (start, end int) {
	if src.weight == nil {
		src.weight = make([]float64, len(src.lines))
		for i, line := range src.lines {
			line = strings.ToLower(line)
			for _, t := range src.found {
				if strings.Contains(line, r.terms[t].text) {
					src.weight[i] += r.terms[t].weight * r.idf[t]
				}
			}
		}
	}
	sum, best := 0.0, 0.0
	for l := from; l <= to; l++ {
		sum += src.weight[l-1]
		first := max(from, l-most+1)
		if sum > 1.3*best+1e-9 {
			best, start = sum, first
		}
		if l-most+1 >= from {
			sum -= src.weight[l-most]
		}
	}
	if best == 0 {
		return 0, 0
	}
	return start, min(to, start+most-1)
}

// maxHits is the number of places that a pack names.
const maxHits = 24

// hits name the best places, each with its first line: a map of what matters.
func hits(pieces []piece, budget int) []effect.Hit {
	out := []effect.Hit{}
	for _, x := range pieces[:min(len(pieces), maxHits)] {
		h := effect.Hit{Source: x.source, Path: x.of.path, Score: math.Round(x.score*1000) / 1000,
			Summary: x.headline(), Lines: fmt.Sprintf("%d-%d", x.start, x.end)}
		if budget -= hitCost(h); budget < 0 {
			break
		}
		out = append(out, h)
	}
	return out
}

// headline is the line of a piece that says what it is: the first that is no comment.
func (x piece) headline() string {
	for _, line := range x.of.lines[x.start-1 : x.end] {
		if text := oneLine(line, 110); text != "" && !isComment(text) {
			return strings.TrimSuffix(text, " {")
		}
	}
	return oneLine(x.of.lines[x.start-1], 110)
}

const (
	maxLine     = 300 // bytes of a line that is shown
	maxTestTake = 14  // lines of a test that are shown
	maxTypeTake = 30  // lines of a type, a value or another part that are shown
	leastLines  = 6   // lines without which a part of a declaration is not worth showing
)

// snippets show the best pieces until the budget is used up: a declaration as a whole where it fits, else the part of
// it in which most of the requirement is.
func (r *ranking) snippets(pieces []piece, limits effect.PackLimits, budget int) []effect.CodeSnippet {
	out := []effect.CodeSnippet{}
	for _, x := range pieces {
		if len(out) == limits.MaxSnippets {
			break
		}
		most := limits.MaxLinesPerSnippet
		switch {
		case isTest(x.of.path):
			most = maxTestTake
		case x.node == nil || x.node.kind != kindFunc:
			most = maxTypeTake
		}
		start, end := x.start, x.end
		if end-start+1 > most {
			if start, end = r.window(x.of, x.start, x.end, most); end == 0 {
				start, end = x.start, x.start+most-1
			}
		}
		if slices.ContainsFunc(out, func(s effect.CodeSnippet) bool {
			return s.Path == x.of.path && start <= s.EndLine && s.StartLine <= end
		}) {
			continue
		}
		if s, ok := fit(x.of, start, end, budget); ok {
			budget -= snippetCost(s)
			out = append(out, s)
		}
	}
	return out
}

// fit makes a snippet of as many of the lines as the budget allows.
func fit(src *source, start, end, budget int) (effect.CodeSnippet, bool) {
	s := effect.CodeSnippet{Path: src.path, StartLine: start, EndLine: start - 1}
	room := (budget-perItem)*tokenUnits - units(s.Path)
	for _, line := range src.lines[start-1 : end] {
		text := clip(clean(line), maxLine) + "\n"
		if room -= units(text); room < 0 {
			break
		}
		s.Content += text
		s.EndLine++
	}
	shown := s.EndLine - start + 1
	return s, shown > 0 && (s.EndLine == end || shown >= leastLines)
}
