package contextpack

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"pawl/kernel/effect"
	"pawl/sandbox/safeopen"
)

const (
	maxLine     = 300 // bytes of a line that is shown
	maxTestTake = 14  // lines of a test that are shown
	maxTypeTake = 30  // lines of a type, a value or a section that are shown
	maxAbove    = 6   // lines of comment above a declaration that are shown, the last ones
	leastLines  = 6   // lines without which a part of a declaration is not worth showing
)

// taken are the lines of a file that are shown already.
type taken map[int32][][2]int

func (t taken) overlaps(file int32, start, end int) bool {
	for _, r := range t[file] {
		if start <= r[1] && end >= r[0] {
			return true
		}
	}
	return false
}

// snippets show the best pieces until the budget is used up: a declaration as a whole where it fits, else the part of
// it in which most of the requirement is.
func (p *packer) snippets(r *ranking, pieces []piece, limits effect.PackLimits, budget int) []effect.CodeSnippet {
	out := []effect.CodeSnippet{}
	shown := taken{}
	for _, x := range pieces {
		if len(out) == limits.MaxSnippets || budget < 3*perItem {
			break
		}
		data := p.text(x.file)
		if data == nil {
			continue
		}
		most := limits.MaxLinesPerSnippet
		e := p.corpus.files[x.file]
		switch {
		case e.marks&tests != 0:
			most = maxTestTake
		case x.node >= 0 && p.corpus.symbol(x.node).kind != kindFunc:
			most = maxTypeTake
		}
		start, end := max(1, x.start), x.end
		if end-start+1 > most {
			start, end = p.part(r, x, data, most)
		}
		start += p.skipped(x, start, end)
		if shown.overlaps(x.file, start, end) {
			continue
		}
		s, ok := p.fit(x.file, start, end, budget)
		if !ok {
			continue
		}
		budget -= snippetCost(s)
		shown[x.file] = append(shown[x.file], [2]int{s.StartLine, s.EndLine})
		out = append(out, s)
	}
	return out
}

// skipped is the number of lines at the beginning of a declaration that are left out: long comments leave no room for
// code.
func (p *packer) skipped(x piece, start, end int) int {
	mark := styles[p.corpus.files[x.file].lang].line
	if x.node < 0 || mark == "" {
		return 0
	}
	n := 0
	for _, l := range p.lines(x.file, start, end-1) {
		if !strings.HasPrefix(strings.TrimSpace(l), mark) {
			break
		}
		n++
	}
	return max(0, n-maxAbove)
}

// part returns the lines of a long piece that are shown: its beginning, unless the requirement says more of another
// part.
func (p *packer) part(r *ranking, x piece, data []byte, most int) (start, end int) {
	w := r.lineWeights(x.file, data)
	sum, best, at := 0.0, 0.0, x.start
	for l := x.start; l <= x.end && l < len(w); l++ {
		sum += w[l]
		first := l - most + 1
		if first > x.start {
			sum -= w[first-1]
		}
		if first >= x.start && sum > 1.3*best+1e-9 {
			best, at = sum, first
		}
	}
	return at, min(x.end, at+most-1)
}

// fit makes a snippet of as many of the lines as the budget allows.
func (p *packer) fit(file int32, start, end, budget int) (effect.CodeSnippet, bool) {
	s := effect.CodeSnippet{Path: p.corpus.files[file].path, StartLine: start}
	room := (budget-perItem)*tokenUnits - units(s.Path)
	var b strings.Builder
	n := 0
	lines := p.lines(file, start, end)
	for _, l := range lines {
		text := clip(clean(l), maxLine) + "\n"
		cost := units(text)
		if cost > room {
			break
		}
		room -= cost
		b.WriteString(text)
		n++
	}
	if n == 0 || n < len(lines) && n < leastLines {
		return s, false
	}
	s.EndLine, s.Content = start+n-1, b.String()
	return s, true
}

// packer puts one pack together: it reads what the ranking asks for, and nothing else.
type packer struct {
	corpus   *corpus
	ctx      context.Context
	root     *safeopen.Root
	ask      Ask
	texts    map[int32][]byte  // by file
	starts   map[int32][]int32 // by file: where its lines begin, found when they are asked for
	sense    []effect.Hit
	degraded []string
}

func (p *packer) degrade(is bool, key string) {
	if is && !slices.Contains(p.degraded, key) {
		p.degraded = append(p.degraded, key)
	}
}

// maxText bounds a file of which a part is shown.
const maxText = 8 << 20

// text returns the content of a file, nil where it cannot be read any more. One that is no longer as long as when it
// was indexed is not shown, because its lines would be wrong.
func (p *packer) text(file int32) []byte {
	if data, ok := p.texts[file]; ok {
		return data
	}
	e := p.corpus.files[file]
	data, err := p.root.ReadFile(e.path, maxText)
	if err != nil || int64(len(data)) != e.stamp.size || bytes.IndexByte(data[:min(len(data), sniff)], 0) >= 0 {
		data = nil
	}
	p.texts[file] = data
	return data
}

// piece is a part of a file that could be shown.
type piece struct {
	file       int32
	node       int32 // -1 for a part that is no declaration
	start, end int
	score      float64
	source     string
}

// lines returns the lines from start to end of a file's text, which count from 1.
func (p *packer) lines(file int32, start, end int) []string {
	data := p.text(file)
	at, ok := p.starts[file]
	if !ok {
		at = append(at, 0)
		for i, c := range data {
			if c == '\n' && i+1 < len(data) {
				at = append(at, int32(i+1))
			}
		}
		p.starts[file] = at
	}
	var out []string
	for n := max(1, start); n <= min(end, len(at)) && len(data) > 0; n++ {
		stop := len(data)
		if n < len(at) {
			stop = int(at[n])
		}
		out = append(out, strings.TrimRight(string(data[at[n-1]:stop]), "\r\n"))
	}
	return out
}
