package contextpack

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"

	"pawl/sandbox/safeopen"
	"pawl/text/pattern"
)

// Bounds of the files that are outlined.
const (
	maxSources = 40
	maxOutline = 600 << 10 // bytes
)

// source is a file that is outlined.
type source struct {
	*file
	lines  []string
	named  bool // by the requirement
	weight []float64
}

// node is a declaration of a source.
type node struct {
	declaration
	of        *source
	low       string   // its lines, but for those of declarations in it, in lower case
	uses      []string // names that are declared in the sources, each once
	name      float64  // by its name: what of the query is in it
	body      float64  // by its lines
	spot      float64  // whether the requirement names a line of it
	own, flow float64  // by itself, and by what uses it
	score     float64
}

// ranking is the state of one query over one tree.
type ranking struct {
	*query
	*scanned
	sources  []*source
	nodes    []*node
	declares map[string][]*node // by name
	usedBy   map[string][]*node
}

var identifier = pattern.New(`[\pL_$][\w$]*`)

// rank reads the files that look best and ranks their declarations.
func rank(q *query, s *scanned, root *safeopen.Root) *ranking {
	r := &ranking{query: q, scanned: s, declares: map[string][]*node{}, usedBy: map[string][]*node{}}
	r.read(root)
	r.order()
	return r
}

// order outlines the sources and ranks what they declare.
func (r *ranking) order() {
	for _, src := range r.sources {
		r.outline(src)
	}
	for _, n := range r.nodes {
		n.uses = slices.DeleteFunc(n.uses, func(name string) bool { return len(r.declares[name]) == 0 })
		for _, name := range n.uses {
			r.usedBy[name] = append(r.usedBy[name], n)
		}
	}
	r.match()
	r.place()
	r.spread()
}

// read picks the files that are worth outlining and reads them. Those beside a file that looks good may hold what it
// uses.
func (r *ranking) read(root *safeopen.Root) {
	named := map[*file]bool{}
	for _, p := range r.paths {
		for _, f := range r.find(p) {
			named[f] = true
		}
	}
	top, beside := 1e-9, map[string]float64{}
	for _, f := range r.files {
		dir := path.Dir(f.path)
		top, beside[dir] = max(top, f.score), max(beside[dir], f.score)
	}
	worth := func(f *file) float64 {
		out := f.score
		if isCode(f.path) && !isTest(f.path) {
			out += 0.5 * beside[path.Dir(f.path)]
		}
		if named[f] {
			out += 3 * top
		}
		return out
	}
	list := slices.DeleteFunc(slices.Clone(r.files), func(f *file) bool { return !f.text || worth(f) == 0 })
	slices.SortStableFunc(list, func(a, b *file) int { return cmp.Compare(worth(b), worth(a)) })
	room := int64(maxOutline)
	for _, f := range list[:min(len(list), maxSources)] {
		cost := min(f.size, maxOutline/4) // a long file does not take the place of all others
		if cost > room {
			continue
		}
		if data, err := root.ReadFile(f.path, maxContent); err == nil && !isBinary(data) {
			room -= cost
			lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n"), "\n")
			r.sources = append(r.sources, &source{file: f, lines: lines, named: named[f]})
		}
	}
}

// find returns the files that a name in a text means: the whole path, or else those whose path ends with as many of its
// components as any does. A name that stands for many files points at none of them.
func (r *ranking) find(name string) (out []*file) {
	best := 0
	want := strings.Split(strings.Trim(name, "/"), "/")
	for _, f := range r.files {
		if !strings.HasSuffix(f.path, want[len(want)-1]) {
			continue
		}
		have := strings.Split(f.path, "/")
		n := 0
		for n < len(have) && n < len(want) && have[len(have)-1-n] == want[len(want)-1-n] {
			n++
		}
		if n > best {
			best, out = n, nil
		}
		if n > 0 && n == best {
			out = append(out, f)
		}
	}
	if len(out) > 8 {
		return nil
	}
	return out
}

// outline adds the declarations of a source. A line belongs to the innermost declaration around it.
func (r *ranking) outline(src *source) {
	first := len(r.nodes)
	owner := make([]int, len(src.lines)+1)
	for i, d := range outline(src.path, src.lines) {
		n := &node{declaration: d, of: src}
		r.nodes = append(r.nodes, n)
		r.declares[d.name] = append(r.declares[d.name], n)
		for l := d.start; l <= d.end; l++ {
			owner[l] = i + 1
		}
	}
	text := make([]strings.Builder, len(r.nodes)-first)
	seen := make([]map[string]bool, len(text))
	for i, line := range src.lines {
		o := owner[i+1] - 1
		if o < 0 {
			continue
		}
		n := r.nodes[first+o]
		text[o].WriteString(strings.ToLower(line) + "\n")
		if seen[o] == nil {
			seen[o] = map[string]bool{n.declaration.name: true}
		}
		if isComment(line) {
			continue
		}
		for _, name := range identifier.Get().FindAllString(line, -1) {
			if !seen[o][name] {
				seen[o][name] = true
				n.uses = append(n.uses, name)
			}
		}
	}
	for i := range text {
		r.nodes[first+i].low = text[i].String()
	}
}

// match weighs declarations by what of the query is in their names and in their lines.
func (r *ranking) match() {
	for i, t := range r.terms {
		for _, n := range r.nodes {
			if strings.Contains(n.low, t.text) {
				n.body += t.weight * r.idf[i]
			}
			if name := n.declaration.name; strings.Contains(strings.ToLower(name), t.text) {
				n.name += t.weight * r.idf[i] * float64(len(t.text)) / float64(len(name))
			}
		}
	}
	for _, t := range r.runs {
		var in []*node
		for _, n := range r.nodes {
			if strings.Contains(n.low, t.text) {
				in = append(in, n)
			}
		}
		for _, n := range in {
			n.body += t.weight * rarity(len(r.nodes), len(in))
		}
	}
	for _, n := range r.nodes {
		n.body /= 1 + 0.25*math.Log(1+float64(n.end-n.start)/30)
		n.name *= n.kind.weight()
	}
}

// place weighs the declarations around the lines that the requirement names. The lines of tests say where a fault was
// seen; the lines of a trace, innermost first, where it may be.
func (r *ranking) place() {
	weight := 1.0
	for _, at := range r.places {
		for _, n := range r.around(at) {
			if isTest(n.of.path) {
				n.spot = max(n.spot, 0.5)
				continue
			}
			n.spot = max(n.spot, weight)
			weight = max(0.3, weight*0.8)
		}
	}
}

// around returns the innermost declaration around a line in each file that it may be of.
func (r *ranking) around(at spot) (out []*node) {
	for _, f := range r.find(at.path) {
		var in *node
		for _, n := range r.nodes {
			if n.of.file == f && n.start <= at.line && at.line <= n.end {
				in = n
			}
		}
		if in != nil {
			out = append(out, in)
		}
	}
	return out
}

// The walk along uses.
const (
	maxSeeds = 24   // declarations that it begins at
	rounds   = 8    // uses between one of them and what it reaches
	passed   = 0.75 // of its weight, which a declaration passes on
	maxNamed = 12   // declarations of one name, above which it could mean anything
)

// spread ranks declarations by themselves and by what uses them: weight flows from the best ones along uses, and counts
// where it arrives.
func (r *ranking) spread() {
	normal(r.nodes, func(n *node) *float64 { return &n.name })
	normal(r.nodes, func(n *node) *float64 { return &n.body })
	for _, n := range r.nodes {
		n.own = n.name + 1.6*n.spot
		if !isTest(n.of.path) { // what else tests say leads everywhere
			n.own += 0.8 * n.body
		}
		if n.of.named && n.own > 0 {
			n.own += 0.4
		}
	}
	seeds := slices.Clone(r.nodes)
	slices.SortStableFunc(seeds, func(a, b *node) int { return cmp.Compare(b.own, a.own) })
	now := map[*node]float64{}
	at := seeds[:min(len(seeds), maxSeeds)]
	for _, n := range at {
		now[n] = n.own * n.own // the best lead, the many that match a little do not
	}
	for range rounds {
		next := map[*node]float64{}
		var reached []*node
		for _, n := range at {
			r.pass(n, func(to *node, share float64) {
				if next[to] == 0 {
					reached = append(reached, to)
				}
				next[to] += passed * share * now[n]
				to.flow += passed * share * now[n]
			})
		}
		now, at = next, reached
	}
	for _, n := range r.nodes {
		n.own *= n.worth()
		n.flow *= n.worth() * rarity(len(r.nodes), len(r.usedBy[n.declaration.name]))
	}
	normal(r.nodes, func(n *node) *float64 { return &n.own })
	normal(r.nodes, func(n *node) *float64 { return &n.flow })
	for _, n := range r.nodes {
		n.score = n.own + n.flow
	}
	normal(r.nodes, func(n *node) *float64 { return &n.score })
}

// pass calls give for what a declaration uses, with the share of each use. A name weighs more the fewer use it. From a
// value weight also goes to what uses it, because an error is raised elsewhere than it is declared.
func (r *ranking) pass(n *node, give func(to *node, share float64)) {
	type use struct {
		to *node
		w  float64
	}
	var out []use
	sum := 0.0
	add := func(list []*node, w float64) {
		if len(list) > maxNamed {
			return
		}
		for _, to := range list {
			if share := w * near(n, to) * to.kind.weight() / float64(len(list)); to != n && share > 0 {
				out = append(out, use{to, share})
				sum += share
			}
		}
	}
	if n.kind == kindValue {
		add(r.usedBy[n.declaration.name], 1)
	}
	for _, name := range n.uses {
		add(r.declares[name], rarity(len(r.nodes), len(r.usedBy[name])))
	}
	for _, u := range out {
		give(u.to, u.w/sum)
	}
}

// near is how likely a name in one declaration means another one.
func near(from, to *node) float64 {
	switch {
	case isTest(to.of.path) && !isTest(from.of.path):
		return 0
	case path.Dir(from.of.path) == path.Dir(to.of.path):
		return 1
	case extension(from.of.path) == extension(to.of.path):
		return 0.4
	}
	return 0.05
}

// normal divides a part of all scores by the highest of them.
func normal(nodes []*node, part func(*node) *float64) {
	top := 1e-9
	for _, n := range nodes {
		top = max(top, *part(n))
	}
	for _, n := range nodes {
		*part(n) /= top
	}
}

func (k kind) weight() float64 { return []float64{1, 0.5, 0.3}[k] }

// fullLength is the number of lines below which a declaration is the less likely at fault, because less can be wrong.
const fullLength = 8

// worth is the quality of a declaration's file, for the declaration.
func (n *node) worth() float64 {
	long := math.Sqrt(min(1, float64(n.end-n.start+1)/fullLength))
	return n.of.quality() * (0.3 + 0.7*n.kind.weight()) * long
}
