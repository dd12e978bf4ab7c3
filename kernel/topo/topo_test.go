package topo_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pawl/kernel/topo"
)

// world is a graph, of which a part is loaded.
type world struct {
	nodes  map[string]*topo.Node
	loaded map[string]bool // nil when all is
}

func (w world) graph(id string) (*topo.Node, bool) {
	if w.loaded != nil && !w.loaded[id] {
		return nil, false
	}
	return w.nodes[id], true
}

// leads walks from one node over what it waits for to another one.
func (w world) leads(from, to string) bool {
	seen := map[string]bool{}
	var walk func(id string) bool
	walk = func(id string) bool {
		if id == to {
			return true
		}
		if seen[id] {
			return false
		}
		seen[id] = true
		return slices.ContainsFunc(w.nodes[id].On, walk)
	}
	return walk(from)
}

// awaited reports whether a node waits for another one.
func (w world) awaited(id string) bool {
	for _, n := range w.nodes {
		if slices.Contains(n.On, id) {
			return true
		}
	}
	return false
}

// TestAdd grows random graphs edge by edge. An edge is refused exactly where it closes a circle, whose way is one;
// otherwise all edges go downwards. What is not loaded is asked for, and never anything that has been loaded.
func TestAdd(t *testing.T) {
	lowered := false
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(9, seed))
		size := 2 + r.IntN(120)
		w := world{nodes: map[string]*topo.Node{}}
		for n := range size {
			w.nodes[fmt.Sprint(n)] = &topo.Node{Stored: r.IntN(8) > 0}
		}
		for range 4 * size {
			x, on := fmt.Sprint(r.IntN(size)), fmt.Sprint(r.IntN(size))
			circle := w.leads(on, x)
			last := !w.awaited(x)
			w.loaded = map[string]bool{x: true}
			rise := topo.Add(w.graph, x, on, last)
			for range size {
				if rise.Need == nil {
					break
				}
				for id := range rise.Need {
					if w.loaded[id] {
						t.Fatalf("seed %d: %s is asked for again", seed, id)
					}
					w.loaded[id] = true
				}
				rise = topo.Add(w.graph, x, on, last)
			}
			w.loaded = nil
			if circle != (rise.Circle != nil) || rise.Need != nil || rise.Unknown != "" {
				t.Fatalf("seed %d: %s on %s: circle %v, got %+v", seed, x, on, circle, rise)
			}
			if circle {
				if rise.Circle[0] != x || len(rise.Circle) < 13 && !w.round(rise.Circle, on) {
					t.Fatalf("seed %d: %s on %s is no way round: %v", seed, x, on, rise.Circle)
				}
				continue
			}
			for id, h := range rise.Heights {
				lowered = lowered || h < w.nodes[id].Height
				w.nodes[id].Height = h
			}
			w.nodes[x].On = append(w.nodes[x].On, on)
			for id, n := range w.nodes {
				for _, dep := range n.On {
					if w.nodes[dep].Height <= n.Height {
						t.Fatalf("seed %d: %s (%d) waits for %s (%d)", seed, id, n.Height, dep, w.nodes[dep].Height)
					}
				}
			}
		}
	}
	if !lowered {
		t.Error("no node was ever lowered instead of raising many")
	}
}

// round reports whether the nodes follow one another over what waits, the new edge from the first one included.
func (w world) round(way []string, on string) bool {
	for n, id := range way {
		next := way[(n+1)%len(way)]
		if n == 0 && next == on || slices.Contains(w.nodes[id].On, next) {
			continue
		}
		return false
	}
	return true
}

func TestAddToWhatIsNot(t *testing.T) {
	w := world{nodes: map[string]*topo.Node{"a": {}}}
	for _, edge := range [][2]string{{"a", "b"}, {"b", "a"}} {
		if rise := topo.Add(w.graph, edge[0], edge[1], false); rise.Unknown != "b" {
			t.Errorf("%v: %+v", edge, rise)
		}
	}
	if rise := topo.Add(w.graph, "a", "a", false); !slices.Equal(rise.Circle, []string{"a"}) {
		t.Errorf("itself: %+v", rise)
	}
}
