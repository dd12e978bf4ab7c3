package contextpack

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Bounds of following what tests use.
const (
	maxFailing = 12   // tests that are said to fail
	maxPassing = 24   // tests beside them that are not
	maxReach   = 4    // uses between a test and what it reaches
	maxOpened  = 120  // declarations whose uses are looked at for the failing tests
	maxBeside  = 6    // of those that they did not reach, for each other test
	leastReach = 0.03 // likelihood that a use is meant, below which it is not followed
	farther    = 0.85 // what reaching through one more declaration leaves of it
)

// spectrum weighs declarations by the tests that reach them: what the failing tests reach and those beside them do not
// is where a fault is likely. Which tests passed is not known; those that nobody speaks of in the same folders count as
// such. It is empty where no test is named. Only the walk and the corpus are used, so that texts may be read meanwhile.
func (r *ranking) spectrum(failing, passing []int32) map[int32]float64 {
	if len(failing) == 0 {
		return nil
	}
	f := r.walk
	bad, good := map[int32]float64{}, map[int32]float64{}
	room := maxOpened
	for i, t := range failing {
		room -= f.reach(t, bad, room/(len(failing)-i))
	}
	for _, t := range passing {
		f.reach(t, good, maxBeside)
	}
	out := map[int32]float64{}
	for n, b := range bad {
		if node := f.nodes[n]; r.corpus.files[fileOf(node)].marks&tests == 0 {
			out[node] = b / math.Sqrt(float64(len(failing))*(b+good[n]))
		}
	}
	return out
}

// spokenOf returns the tests that the requirement names, and others of the same folders, those of the same files first.
func (r *ranking) spokenOf() (failing, passing []int32) {
	inFile, inDir := map[int32]bool{}, map[int32]bool{}
	named := map[uint32]bool{}
	for i, f := range r.corpus.files {
		if f.marks&tests == 0 {
			continue
		}
		for n := range f.symbols {
			if name := f.symbols[n].name; r.has(name) && (named[name] || r.namesTest(name)) &&
				len(failing) < maxFailing {
				named[name] = true
				failing = append(failing, nodeOf(i, n))
				inFile[int32(i)], inDir[r.corpus.dir[i]] = true, true
			}
		}
	}
	if len(failing) == 0 {
		return nil, nil
	}
	for i, f := range r.corpus.files {
		if f.marks&tests == 0 || !inDir[r.corpus.dir[i]] {
			continue
		}
		for n := range f.symbols {
			if s := &f.symbols[n]; s.kind == kindFunc && !named[s.name] && isTestName(r.corpus.t.list[s.name]) {
				passing = append(passing, nodeOf(i, n))
			}
		}
	}
	slices.SortStableFunc(passing, func(a, b int32) int {
		return cmp.Compare(farOff(inFile, a), farOff(inFile, b))
	})
	return failing, passing[:min(len(passing), maxPassing)]
}

// namesTest reports whether a word is the name of a test that the requirement names.
func (r *ranking) namesTest(word uint32) bool {
	i := r.hits[r.at[word]].term
	return i >= 0 && r.q.terms[i].text == r.corpus.t.list[word] && isTestName(r.corpus.t.list[word])
}

// isTestName reports whether a function of that name is a test.
func isTestName(name string) bool {
	return (strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "test") || strings.HasPrefix(name, "Fuzz")) &&
		testName.Get().MatchString(name)
}

// farOff is 0 for a node in one of the files, and 1 for any other.
func farOff(files map[int32]bool, node int32) int {
	if files[fileOf(node)] {
		return 0
	}
	return 1
}

// reach adds to sum how likely a test reaches each declaration, by the number of the declaration. It opens
// at most so many declarations besides the test that were not open yet, and says how many it did.
func (f *flow) reach(test int32, sum map[int32]float64, most int) (opened int) {
	best := map[int32]float64{}
	at := []scored{{f.of(test), 1}}
	for depth := 0; depth < maxReach && len(at) > 0; depth++ {
		next := map[int32]float64{}
		for _, x := range at {
			if f.edges[x.node] == nil && depth > 0 {
				if opened == most {
					continue
				}
				opened++
			}
			for _, e := range f.open(x.node) {
				if w := x.score * e.likely * farther; w > leastReach && w > best[e.node] && w > next[e.node] {
					next[e.node] = w
				}
			}
		}
		at = at[:0]
		for _, x := range ordered(next) {
			best[x.node] = x.score
			at = append(at, x)
		}
	}
	for n, w := range best {
		sum[n] += w
	}
	return opened
}

// Bounds of the values whose users are looked for.
const (
	maxRaised = 24
	maxUsers  = 12  // of one value, above which they say nothing
	leastSaid = 0.3 // of what is written in the one that says most
)

// raised weighs what uses a value or a type by what is written in it: an error that is declared with the words of the
// requirement is raised elsewhere.
func (r *ranking) raised() map[int32]float64 {
	from := map[uint32]float64{}
	top := 1e-9
	for n, v := range r.said {
		if k := r.corpus.symbol(n).kind; k == kindValue || k == kindType {
			top = max(top, v)
		}
	}
	for _, x := range ordered(r.said) {
		s := r.corpus.symbol(x.node)
		if s.kind != kindValue && s.kind != kindType || x.score < leastSaid*top || r.corpus.users[s.name] > maxUsers ||
			r.corpus.files[fileOf(x.node)].marks&tests != 0 {
			continue
		}
		from[s.name] = max(from[s.name], x.score/top)
		if len(from) == maxRaised {
			break
		}
	}
	if len(from) == 0 {
		return nil
	}
	some := make([]uint64, len(r.corpus.t.list)/64+1) // a bit for each of them: most uses are of others
	for id := range from {
		some[id/64] |= 1 << (id % 64)
	}
	out := map[int32]float64{}
	for i, f := range r.corpus.files {
		if f.marks&tests != 0 {
			continue
		}
		for n := range f.symbols {
			if f.symbols[n].kind != kindFunc {
				continue
			}
			for _, id := range f.symbols[n].refs {
				if some[id/64]&(1<<(id%64)) != 0 {
					out[nodeOf(i, n)] = max(out[nodeOf(i, n)], from[id]/math.Sqrt(float64(max(1, r.corpus.users[id]))))
				}
			}
		}
	}
	return out
}
