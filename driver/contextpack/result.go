package contextpack

import (
	"math"
	"slices"
)

// The shares of the parts of a score, each of which is at most 1 before it is weighed.
const (
	shareSeen   = 1.0
	shareRaised = 0.8
	shareName   = 1.0
	shareBody   = 0.8
	shareSpot   = 1.6
	shareFile   = 0.4
	maxSeeds    = 24
	// The shares of the whole: what a declaration says itself, what leads to it, and what tests tell of it.
	wholeOwn, wholeFlow, wholeSeen = 0.5, 0.5, 0.4
	// A declaration of fewer lines is the less likely at fault, because less can be wrong in it.
	fullLength = 8
)

// result returns the declarations by how likely they are what the requirement is about, best first. The best has the
// score
// 1.
func (r *ranking) result() []scored {
	own := map[int32]float64{}
	add := func(from map[int32]float64, share float64) {
		top := 1e-9
		for _, v := range from {
			top = max(top, v)
		}
		for n, v := range from {
			own[n] += share * v / top
		}
	}
	add(r.told, shareSeen)
	add(r.raised(), shareRaised)
	add(r.names, shareName)
	add(r.bodies, shareBody)
	for n, v := range r.spots {
		own[n] += shareSpot * v
	}
	named := r.namedFiles()
	for n := range own {
		if named[fileOf(n)] {
			own[n] += shareFile
		}
	}
	seeds := ordered(own)
	seeds = slices.Clone(seeds[:min(len(seeds), maxSeeds)])
	sum := 0.0
	for i := range seeds {
		seeds[i].score *= seeds[i].score // the best lead, the many that match a little do not
		sum += seeds[i].score
	}
	for i := range seeds {
		seeds[i].score /= sum
	}
	flow := r.walk.spread(seeds)
	final := map[int32]float64{}
	mix := func(from map[int32]float64, share float64) {
		top := 1e-9
		for n, v := range from {
			top = max(top, v*r.worth(n))
		}
		for n, v := range from {
			final[n] += share * v * r.worth(n) / top
		}
	}
	mix(own, wholeOwn)
	mix(flow, wholeFlow)
	mix(r.told, wholeSeen)
	out := ordered(final)
	if len(out) > 0 && out[0].score > 0 {
		top := out[0].score
		for i := range out {
			out[i].score /= top
		}
	}
	return out
}

// namedFiles are the files that the requirement names, and those that they test.
func (r *ranking) namedFiles() map[int32]bool {
	out := map[int32]bool{}
	tested := map[string]bool{}
	for f := range r.manual {
		if e := r.corpus.files[f]; e.marks&tests == 0 {
			out[f] = true
		} else {
			tested[r.corpus.dirs[f]+"/"+r.corpus.stems[f]] = true
		}
	}
	for i, e := range r.corpus.files {
		if e.marks&tests == 0 && tested[r.corpus.dirs[i]+"/"+r.corpus.stems[i]] {
			out[int32(i)] = true
		}
	}
	return out
}

// worth is quality for a declaration.
func (r *ranking) worth(node int32) float64 {
	s := r.corpus.symbol(node)
	long := math.Sqrt(min(1, float64(s.end-s.start+1)/fullLength))
	return r.corpus.quality(fileOf(node)) * (0.3 + 0.7*weighKind(s.kind)) * long
}
