package contextpack

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pawl/kernel/effect"
)

// The sources of a hit.
const (
	sourceManual   = "manual"   // the requirement names it
	sourceSymbol   = "symbol"   // by its name, or by what uses it
	sourceGrep     = "grep"     // by what is written in it
	sourceSemantic = "semantic" // by meaning
)

// The shares of a budget, with the most tokens of each. What a part does not use is left for the snippets, which come
// last and are what an agent reads.
var shares = struct{ recent, summary, constraints, hits share }{
	recent: share{30, 1 << 30}, summary: share{10, 160}, constraints: share{12, 220}, hits: share{14, 240},
}

type share struct{ percent, most int }

func (s share) of(total int) int { return min(s.most, total*s.percent/100) }

// pack builds the pack.
func (p *packer) pack() (effect.ContextPack, error) {
	r := rank(p.corpus, ask(p.ask.text()))
	files := r.candidates()
	tests := make(chan map[int32]float64, 1)
	failing, passing := r.spokenOf()
	go func() { tests <- r.spectrum(failing, passing) }()
	for _, f := range files {
		if p.corpus.files[f].marks&sampled == 0 {
			if data := p.text(f); data != nil {
				r.readBody(f, data)
			}
		}
	}
	r.told = <-tests
	p.weighSense(r)
	pieces := p.pieces(r, r.result(), files)
	limits := limitsFor(p.ask.Tokens)
	out := effect.ContextPack{Constraints: []string{}, Hits: []effect.Hit{}, Snippets: []effect.CodeSnippet{},
		RecentActions: []effect.ToolResult{}, Lexical: effect.LexicalIndex, Degraded: p.degraded}
	total := p.ask.Tokens
	out.Budget = effect.TokenBudget{Total: total, Limits: limits}
	out.RecentActions = recentActions(p.ask.Recent, shares.recent.of(total))
	out.WorkspaceSummary = p.corpus.summary(shares.summary.of(total))
	out.Constraints = constraints(p.root, p.ask.Place.Workspace, shares.constraints.of(total))
	out.Hits = p.hits(pieces, shares.hits.of(total))
	out.Snippets = p.snippets(r, pieces, limits, total-Cost(out))
	out.Budget.Used = Cost(out)
	return out, nil
}

// limitsFor bounds the snippets of a pack by its size.
func limitsFor(tokens int) effect.PackLimits {
	return effect.PackLimits{MaxSnippets: max(1, min(40, tokens/150)), MaxLinesPerSnippet: 120}
}

// weighSense lets what was found by meaning count like a name that was found.
func (p *packer) weighSense(r *ranking) {
	for i, h := range p.sense {
		for _, f := range r.corpus.find(h.Path) {
			if r.corpus.files[f].path != h.Path {
				continue
			}
			first, _, _ := strings.Cut(h.Lines, "-")
			line, _ := strconv.Atoi(first)
			if n := r.corpus.enclosing(f, line); n >= 0 {
				r.spots[n] = max(r.spots[n], 0.5/float64(1+i/4))
			}
		}
	}
}

// maxPieces bounds what could be shown before the budget does.
const maxPieces = 80

// pieces are the parts of files that could be shown, best first.
func (p *packer) pieces(r *ranking, nodes []scored, files []int32) []piece {
	var out []piece
	for _, n := range nodes[:min(len(nodes), maxPieces)] {
		s := r.corpus.symbol(n.node)
		out = append(out, piece{file: fileOf(n.node), node: n.node, start: int(s.start), end: int(s.end),
			score: n.score, source: p.source(r, n.node)})
	}
	for _, at := range r.q.places {
		for _, f := range r.corpus.find(at.path) {
			if r.corpus.enclosing(f, at.line) < 0 {
				out = append(out, piece{file: f, node: -1, start: at.line - 8, end: at.line + 8, score: 0.9,
					source: sourceManual})
			}
		}
	}
	top := 1e-9
	for _, f := range files {
		top = max(top, r.fileScore[f])
	}
	for _, f := range files {
		if e := r.corpus.files[f]; len(e.symbols) == 0 && len(out) < 2*maxPieces {
			score, source := 0.5*r.fileScore[f]/top, sourceGrep
			if r.manual[f] {
				score, source = max(score, 0.7), sourceManual
			}
			if start, end := r.bestWindow(f, p.text(f), 30); end > 0 {
				out = append(out, piece{file: f, node: -1, start: start, end: end, score: score, source: source})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b piece) int { return cmp.Compare(b.gain(), a.gain()) })
	return out
}

// gain is the score of a piece for what it costs: of two that are as likely, the short one leaves room for others.
func (x piece) gain() float64 {
	return x.score / (1 + float64(min(x.end-x.start, 120))/gainLines)
}

// gainLines is the length at which a piece has to be twice as likely as a single line.
const gainLines = 40

func (p *packer) source(r *ranking, node int32) string {
	switch {
	case r.spots[node] > 0 && !r.manual[fileOf(node)]:
		return sourceSemantic
	case r.manual[fileOf(node)]:
		return sourceManual
	case r.names[node] > 0 || r.bodies[node] == 0:
		return sourceSymbol
	}
	return sourceGrep
}

// maxHits is the number of places that a pack names.
const maxHits = 24

// hits name the best places, each with its first line: a map of what matters.
func (p *packer) hits(pieces []piece, budget int) []effect.Hit {
	out := []effect.Hit{}
	for _, x := range pieces {
		if len(out) == maxHits {
			break
		}
		if p.text(x.file) == nil {
			continue
		}
		h := effect.Hit{
			Source: x.source, Path: p.corpus.files[x.file].path, Score: float64(int(x.score*1000+0.5)) / 1000,
			Summary: p.headline(x), Lines: fmt.Sprintf("%d-%d", max(1, x.start), x.end),
		}
		cost := hitCost(h)
		if cost > budget {
			break
		}
		budget -= cost
		out = append(out, h)
	}
	return out
}

// headline is the line of a piece that says what it is: the first that is no comment.
func (p *packer) headline(x piece) string {
	comment := styles[p.corpus.files[x.file].lang]
	fallback := ""
	for _, l := range p.lines(x.file, x.start, min(x.end, x.start+40)) {
		text := oneLine(l, 110)
		switch {
		case text == "":
		case comment.line != "" && strings.HasPrefix(text, comment.line), comment.block &&
			(strings.HasPrefix(text, "/*") || strings.HasPrefix(text, "*")), strings.HasPrefix(text, "@"):
			fallback = cmp.Or(fallback, text)
		default:
			return strings.TrimSuffix(text, " {")
		}
	}
	return fallback
}
