package contextpack

import (
	"bytes"
	"cmp"
	"maps"
	"math"
	"slices"
)

// found is what a word of the table has to do with a query.
type found struct {
	term  int32   // the term that it is, -1 for none
	stems []int32 // the stems of its parts that are in the query
	parts int
}

// ranking is the state of one query over one corpus. It reads nothing but these two and the texts that it is given.
type ranking struct {
	corpus *corpus
	q      *query
	// at gives for a word the place in hits, 0 for none.
	at   []int32
	hits []found
	// some has a bit for each word, which is set where at is not 0: most words are not, and the bits stay at hand.
	some []uint64
	// inFiles are the words of the files that are in hits: the file, and the place. They are in the order of the files.
	inFiles [][2]int32
	// features are the terms of the query, and behind them its stems, whose numbers are in stemIndex.
	stemIndex map[string]int32
	weight    []float64 // by feature
	rareText  []float64 // by feature: how rare it is among files
	rareName  []float64 // and among names

	fileScore []float64
	names     map[int32]float64 // by node
	bodies    map[int32]float64
	spots     map[int32]float64
	said      map[int32]float64 // by node: runs of the query that are written in it
	told      map[int32]float64 // by node: what the tests tell of it
	walk      *flow
	manual    map[int32]bool      // files that the requirement names
	memo      []remembered        // by the lowest bits of the hash, the newest
	weights   map[int32][]float64 // of the lines of files
}

func rank(c *corpus, q *query) *ranking {
	r := &ranking{corpus: c, q: q, walk: &flow{corpus: c, number: map[int32]int32{}}, hits: make([]found, 1),
		names: map[int32]float64{}, bodies: map[int32]float64{}, spots: map[int32]float64{}, said: map[int32]float64{},
		manual: map[int32]bool{}, memo: make([]remembered, 1<<14), weights: map[int32][]float64{}}
	for _, t := range q.terms {
		r.weight = append(r.weight, t.weight)
	}
	r.stemIndex = make(map[string]int32, len(q.stems))
	for _, s := range slices.Sorted(maps.Keys(q.stems)) {
		r.stemIndex[s] = int32(len(r.weight))
		r.weight = append(r.weight, q.terms[q.stems[s]].weight)
	}
	r.matchWords()
	r.countWords()
	r.scoreFiles()
	r.scoreNames()
	r.placeSpots()
	return r
}

// look says what a word has to do with the query.
func (r *ranking) look(word []byte, buf []byte) (found, bool) {
	f := found{term: -1}
	if i, ok := r.q.exact[string(word)]; ok {
		f.term = int32(i)
	} else {
		buf = foldTo(buf[:0], word)
		if i, ok := r.q.folded[string(buf)]; ok {
			f.term = int32(i)
		}
	}
	parts(word, buf, func(p []byte) {
		f.parts++
		if len(p) < 3 {
			return
		}
		if i, ok := r.stemIndex[string(stem(p))]; ok && !slices.Contains(f.stems, i) {
			f.stems = append(f.stems, i)
		}
	})
	return f, f.term >= 0 || len(f.stems) > 0
}

func (r *ranking) matchWords() {
	r.at = make([]int32, len(r.corpus.t.list))
	r.some = make([]uint64, len(r.corpus.t.list)/64+1)
	buf := make([]byte, 0, 2*maxWord)
	var word []byte
	for id, w := range r.corpus.t.list {
		if !r.q.may(r.corpus.t.marks[id]) {
			continue
		}
		word = append(word[:0], w...)
		if f, ok := r.look(word, buf); ok {
			r.at[id] = int32(len(r.hits))
			r.some[id/64] |= 1 << (id % 64)
			r.hits = append(r.hits, f)
		}
	}
}

// has reports whether a word is in hits.
func (r *ranking) has(id uint32) bool { return r.some[id/64]&(1<<(id%64)) != 0 }

// countWords finds out how rare each feature is among files and among names.
func (r *ranking) countWords() {
	n := len(r.weight)
	inText, inName := make([]int, n), make([]int, n)
	last := make([]int, n) // by feature: the file in which it was counted last, from 1
	for i, f := range r.corpus.files {
		for s := range f.symbols {
			if name := f.symbols[s].name; r.has(name) {
				r.hits[r.at[name]].each(func(feature int32) { inName[feature]++ })
			}
		}
		for _, id := range f.words {
			if !r.has(id) {
				continue
			}
			r.inFiles = append(r.inFiles, [2]int32{int32(i), r.at[id]})
			r.hits[r.at[id]].each(func(feature int32) {
				if last[feature] != i+1 {
					last[feature] = i + 1
					inText[feature]++
				}
			})
		}
	}
	r.rareText, r.rareName = make([]float64, n), make([]float64, n)
	for i := range n {
		r.rareText[i] = math.Log(1 + float64(len(r.corpus.files))/float64(1+inText[i]))
		r.rareName[i] = math.Log(1 + float64(r.corpus.nodes)/float64(1+inName[i]))
	}
}

// each calls do with the features of a word.
func (h *found) each(do func(feature int32)) {
	if h.term >= 0 {
		do(h.term)
	}
	for _, s := range h.stems {
		do(s)
	}
}

// scoreFiles weighs every file by the words in it and in its path.
func (r *ranking) scoreFiles() {
	r.fileScore = make([]float64, len(r.corpus.files))
	best := make([]float64, len(r.rareText))
	buf := make([]byte, 0, 2*maxWord)
	next := 0
	for i, f := range r.corpus.files {
		clear(best)
		for ; next < len(r.inFiles) && r.inFiles[next][0] == int32(i); next++ {
			r.weigh(&r.hits[r.inFiles[next][1]], r.rareText,
				func(feature int32, w float64) { best[feature] = max(best[feature], w) })
		}
		sum := 0.0
		for _, w := range best {
			sum += w
		}
		sum /= 1 + 0.2*math.Log(1+float64(f.lines)/200)
		if r.q.may(r.corpus.marks[i]) {
			if h, ok := r.look([]byte(r.corpus.stems[i]), buf); ok {
				r.weigh(&h, r.rareText, func(_ int32, w float64) { sum += 1.5 * w })
			}
		}
		r.fileScore[i] = sum * r.corpus.quality(int32(i))
	}
}

// weigh tells what a word counts for: the term that it is, or the stems that it is made of.
func (r *ranking) weigh(h *found, rare []float64, add func(feature int32, w float64)) {
	if h.term >= 0 {
		add(h.term, r.weight[h.term]*rare[h.term])
		return
	}
	for _, s := range h.stems {
		add(s, 0.3*r.weight[s]*rare[s])
	}
}

// quality is how likely a file is what somebody wants to see.
func (c *corpus) quality(file int32) float64 {
	f, q := c.files[file], 1.0
	if f.marks&generated != 0 {
		q *= 0.4
	}
	if f.marks&tests != 0 {
		q *= 0.3
	}
	if c.aside[file] {
		q *= 0.3
	}
	if !styles[f.lang].code {
		q *= 0.5
	}
	return q
}

// scoreNames weighs every declaration by its name.
func (r *ranking) scoreNames() {
	for i, f := range r.corpus.files {
		for n := range f.symbols {
			if s := &f.symbols[n]; r.has(s.name) {
				r.names[nodeOf(i, n)] = r.nameScore(s) * weighKind(s.kind)
			}
		}
	}
}

func (r *ranking) nameScore(s *symbol) float64 {
	h := &r.hits[r.at[s.name]]
	score := 0.0
	if h.term >= 0 {
		score = r.weight[h.term] * r.rareName[h.term]
	}
	if len(h.stems) > 0 {
		sum := 0.0
		for _, i := range h.stems {
			sum += r.weight[i] * r.rareName[i]
		}
		// Several words that meet say far more than one.
		cover := float64(len(h.stems)) / float64(max(h.parts, 1))
		score = max(score, 0.35*sum*cover*math.Sqrt(float64(len(h.stems))))
		score += 0.15 * r.ownerScore(s, h.stems)
	}
	return score
}

// ownerScore weighs what the name of a declaration's class adds to that of the declaration.
func (r *ranking) ownerScore(s *symbol, already []int32) float64 {
	at := r.at[s.owner]
	if s.owner == 0 || at == 0 {
		return 0
	}
	sum := 0.0
	for _, i := range r.hits[at].stems {
		if !slices.Contains(already, i) {
			sum += r.weight[i] * r.rareName[i]
		}
	}
	return sum
}

// placeSpots finds the declarations around the lines that the requirement names, and the files that it names.
func (r *ranking) placeSpots() {
	weight := 1.0
	for _, p := range r.q.places {
		for _, f := range r.corpus.find(p.path) {
			r.manual[f] = true
			n := r.corpus.enclosing(f, p.line)
			if n < 0 {
				continue
			}
			// The lines of tests say where a fault was seen; the lines of a trace, innermost first, where it may be.
			if r.corpus.files[f].marks&tests != 0 {
				r.spots[n] = max(r.spots[n], 0.5)
				continue
			}
			r.spots[n] = max(r.spots[n], weight)
			weight = max(0.3, weight*0.8)
		}
	}
	for _, p := range r.q.paths {
		for _, f := range r.corpus.find(p) {
			r.manual[f] = true
		}
	}
}

// maxCandidates is the number of files whose text is looked at, and maxLooked the bytes of them.
const (
	maxCandidates = 32
	maxLooked     = 400 << 10
)

// candidates are the files that are worth reading, best first.
func (r *ranking) candidates() []int32 {
	score := make([]float64, len(r.corpus.files))
	top := 1e-9
	for _, s := range r.fileScore {
		top = max(top, s)
	}
	for i, s := range r.fileScore {
		score[i] = s / top
	}
	topName := 1e-9
	for _, s := range r.names {
		topName = max(topName, s)
	}
	best := map[int32]float64{}
	for n, s := range r.names {
		f := fileOf(n)
		best[f] = max(best[f], s/topName)
	}
	for f, s := range best {
		score[f] += s
	}
	for n := range r.spots {
		score[fileOf(n)] += 3
	}
	for f := range r.manual {
		score[f] += 2
	}
	var out []int32
	for i, s := range score {
		if s > 0 && r.corpus.files[i].marks&unread == 0 {
			out = append(out, int32(i))
		}
	}
	slices.SortStableFunc(out, func(a, b int32) int { return cmp.Compare(score[b], score[a]) })
	out = out[:min(len(out), maxCandidates)]
	looked := int64(0)
	for i, f := range out {
		if looked += min(r.corpus.files[f].stamp.size, maxContent); i > 0 && looked > maxLooked {
			return out[:i]
		}
	}
	return out
}

// remembered is what lookup found out about a word.
type remembered struct {
	hash uint64 // of the word as it stands
	at   int32
}

// lookup is look for the words of a text, of which most come again and again. Hash is that of the word in lower case.
func (r *ranking) lookup(word []byte, hash uint64) *found {
	caps := uint64(0)
	for _, c := range word {
		caps <<= 1
		if upper(c) {
			caps |= 1
		}
	}
	hash ^= caps * 0x9E3779B97F4A7C15
	m := &r.memo[(hash^hash>>29)&(uint64(len(r.memo))-1)]
	if m.hash != hash {
		var space [2 * maxWord]byte
		*m = remembered{hash: hash}
		if f, is := r.look(word, space[:0]); is {
			m.at = int32(len(r.hits))
			r.hits = append(r.hits, f)
		}
	}
	if m.at == 0 {
		return nil
	}
	return &r.hits[m.at]
}

// readBody weighs the declarations of a file by what is written in them.
func (r *ranking) readBody(file int32, data []byte) {
	f := r.corpus.files[file]
	at := make([]float64, len(f.symbols))
	seen := make([]int32, len(r.rareText)) // by feature: the last declaration that it was found in, and 1
	lineOwner := f.owners(bytes.Count(data, []byte{'\n'}) + 1)
	var run runs
	runLine := 0
	scanWords(data, f.lang, func(w []byte, line int, _ bool) bool {
		own := lineOwner[min(line, len(lineOwner)-1)]
		if own < 0 {
			return true
		}
		if line > runLine+1 {
			run = runs{}
		}
		runLine = line
		hash := foldedHash(w)
		two, three := run.next(hash)
		if r.q.runs[two] {
			at[own] += 2
			r.said[nodeOf(int(file), int(own))]++
		}
		if r.q.runs[three] {
			at[own] += 2
			r.said[nodeOf(int(file), int(own))]++
		}
		if h := r.lookup(w, hash); h != nil {
			r.weigh(h, r.rareText, func(feature int32, v float64) {
				if seen[feature] != own+1 {
					seen[feature] = own + 1
					at[own] += v
				}
			})
		}
		return true
	})
	for i, v := range at {
		if v > 0 {
			s := &f.symbols[i]
			r.bodies[nodeOf(int(file), i)] = v / (1 + 0.25*math.Log(1+float64(s.end-s.start)/30))
		}
	}
}

// ordered sorts nodes by their score, and by their number where it is the same.
func ordered(m map[int32]float64) []scored {
	out := make([]scored, 0, len(m))
	for n, s := range m {
		out = append(out, scored{n, s})
	}
	slices.SortFunc(out, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.node, b.node))
	})
	return out
}

// lineWeights weighs each line of a text, from 1, by what of the query is in it.
func (r *ranking) lineWeights(file int32, data []byte) []float64 {
	if out, ok := r.weights[file]; ok {
		return out
	}
	out := make([]float64, bytes.Count(data, []byte{'\n'})+3)
	r.weights[file] = out
	scanWords(data, r.corpus.files[file].lang, func(w []byte, line int, _ bool) bool {
		if h := r.lookup(w, foldedHash(w)); h != nil && line < len(out) {
			r.weigh(h, r.rareText, func(_ int32, v float64) { out[line] += v })
		}
		return true
	})
	return out
}

// bestWindow returns the lines, at most so many, in which most of the query is; 0, 0 where nothing is.
func (r *ranking) bestWindow(file int32, data []byte, most int) (start, end int) {
	if len(data) == 0 {
		return 0, 0
	}
	w := r.lineWeights(file, data)
	lines := len(w) - 2
	sum, best := 0.0, 0.0
	for l := 1; l <= lines; l++ {
		sum += w[l]
		if l > most {
			sum -= w[l-most]
		}
		if sum > best+1e-9 {
			best, end = sum, l
		}
	}
	if end == 0 {
		return 0, 0
	}
	start = max(1, end-most+1)
	for start < end && w[start] == 0 {
		start++
	}
	start = max(1, start-2)
	return start, min(lines, start+most-1)
}
