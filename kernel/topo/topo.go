// Package topo keeps the heights of a graph that grows by one edge at a time and must not close a circle: on every
// edge, the height of what is waited for is greater than that of what waits. An edge that respects them already costs
// nothing; one that does not touches only what is too low. It is an incremental topological order in the manner of
// Pearce and Kelly (A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs, JEA 2006), without their second,
// downward search.
//
// It is pure: it reads from what the caller gives it and says what is to be written.
package topo

import (
	"cmp"
	"container/heap"
	"slices"
)

// Node is a place of the graph.
type Node struct {
	Height int64
	// On are the ids of those that this one waits for.
	On []string
	// Stored says that a new height is a write of its own.
	Stored bool
}

// Graph looks a node up. It is nil for one that does not exist, and not ok for one that has not been loaded.
type Graph func(id string) (n *Node, ok bool)

// Rise is what becomes of a graph with a new edge. At most one of its fields is set; all are empty where nothing has to
// change.
type Rise struct {
	// Heights are the new heights.
	Heights map[string]int64
	// Circle is the way round that the edge would close, from the one that is to wait back to it, which is named once.
	Circle []string
	// Unknown is a node that does not exist.
	Unknown string
	// Need are the nodes that have to be loaded before it can be said, and the height that each must have at least.
	Need map[string]int64
}

// maxRaised is how many stored nodes are raised before one that nobody waits for is lowered instead.
const maxRaised = 32

// Add says what becomes of the heights when x waits for on. Only the nodes that are too low are looked at, which for a
// new edge are few or none. Where they are many and last says that nobody waits for x, x is lowered below on, which
// takes no other write than its own.
func Add(graph Graph, x, on string, last bool) Rise {
	start, ok := graph(x)
	if !ok || start == nil {
		return Rise{Unknown: x}
	}
	if n, _ := graph(on); n != nil && n.Height > start.Height {
		return Rise{}
	}
	c := climber{graph: graph, x: x, heights: map[string]int64{}, from: map[string]string{on: x},
		need: map[string]int64{}}
	c.push(on, start.Height+1)
	for stored := 0; c.queue.Len() > 0 && c.unknown == ""; {
		at := heap.Pop(&c.queue).(place)
		if at.id == x {
			return Rise{Circle: c.round()}
		}
		before, again := c.heights[at.id]
		if again && before >= at.new {
			continue
		}
		n, _ := graph(at.id)
		if n.Stored && !again {
			stored++
		}
		if last && stored > maxRaised {
			dep, _ := graph(on)
			return Rise{Heights: map[string]int64{x: dep.Height - 1}}
		}
		c.heights[at.id] = at.new
		for _, id := range n.On {
			if _, ok := c.from[id]; !ok {
				c.from[id] = at.id
			}
			c.push(id, at.new+1)
		}
	}
	switch {
	case c.unknown != "":
		return Rise{Unknown: c.unknown}
	case len(c.need) > 0:
		return Rise{Need: c.need}
	}
	return Rise{Heights: c.heights}
}

// climber is on its way up from a dependency to what it depends on.
type climber struct {
	graph   Graph
	x       string
	queue   places
	heights map[string]int64
	from    map[string]string // over which node one was come to first
	need    map[string]int64
	unknown string
}

// push has a node looked at that must have a height at least.
func (c *climber) push(id string, need int64) {
	n, ok := c.graph(id)
	before, again := c.heights[id]
	switch {
	case !ok:
		if h, asked := c.need[id]; !asked || h < need {
			c.need[id] = need
		}
	case n == nil:
		c.unknown = id
	case id == c.x || n.Height < need && (!again || before < need):
		heap.Push(&c.queue, place{id, n.Height, need})
	}
}

// maxRound is how many nodes of a circle are named.
const maxRound = 12

// round names the nodes of a circle, from x on.
func (c *climber) round() []string {
	var out []string
	for id := c.from[c.x]; id != c.x && id != "" && len(out) < maxRound; id = c.from[id] {
		out = append(out, id)
	}
	slices.Reverse(out)
	return append([]string{c.x}, out...)
}

// place is a node with the height that it has and the one that it needs. The lowest is settled first, so that each is
// settled once.
type place struct {
	id       string
	old, new int64
}

type places []place

func (p places) Len() int { return len(p) }
func (p places) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(p[i].old, p[j].old), cmp.Compare(p[i].id, p[j].id)) < 0
}
func (p places) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p *places) Push(x any)   { *p = append(*p, x.(place)) }
func (p *places) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}
