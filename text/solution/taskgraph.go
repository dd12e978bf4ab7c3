package solution

import (
	"slices"
	"strings"
)

// graph looks at what the tasks say of each other.
func (r *taskReader) graph() {
	list := r.file.List
	place := make(map[string]int, len(list))
	for i, t := range list {
		if t.Number == "" {
			continue
		}
		if first, ok := place[t.Number]; ok {
			r.issue(t.Line, "solution.same_number", t.Number, list[first].Line)
			continue
		}
		place[t.Number] = i
	}
	edges := make([][]int, len(list))
	for i := range list {
		t := &list[i]
		seen := make(map[string]bool, len(t.DependsOn))
		t.DependsOn = slices.DeleteFunc(t.DependsOn, func(d string) bool {
			was := seen[d]
			seen[d] = true
			return was
		})
		for _, d := range t.DependsOn {
			on, ok := place[d]
			if !ok {
				r.issue(t.Line, "solution.unknown_dependency", d)
				continue
			}
			edges[i] = append(edges[i], on)
			if t.Status == Completed && list[on].Status != Completed {
				r.warn(t.Line, "solution.done_too_early", t.Number, d)
			}
		}
	}
	if c := circle(edges); c != nil {
		var names []string
		for _, i := range c {
			names = append(names, list[i].Number)
		}
		line := list[c[0]].Line
		if len(names) > 8 {
			names = append(append(names[:4:4], "…"), names[len(names)-3:]...)
		}
		r.issue(line, "solution.circle", strings.Join(names, " → "))
	}
	r.parts()
}

// parts warns of tasks that are done while a part of them is not.
func (r *taskReader) parts() {
	var above []int
	warned := map[int]bool{}
	for i, t := range r.file.List {
		above = append(above[:min(t.Level, len(above))], i)
		if t.Status == Completed || t.Status == Skipped {
			continue
		}
		for _, p := range above[:len(above)-1] {
			if r.file.List[p].Status == Completed && !warned[p] {
				warned[p] = true
				r.warn(r.file.List[p].Line, "solution.part_open", t.Line)
			}
		}
	}
}

// circle returns the first circle of a graph, with its first node at both ends, or nil.
func circle(edges [][]int) []int {
	const fresh, at, done = 0, 1, 2
	state := make([]int, len(edges))
	next := make([]int, len(edges))
	for start := range edges {
		if state[start] != fresh {
			continue
		}
		path := []int{start}
		state[start] = at
		for len(path) > 0 {
			n := path[len(path)-1]
			if next[n] == len(edges[n]) {
				state[n] = done
				path = path[:len(path)-1]
				continue
			}
			to := edges[n][next[n]]
			next[n]++
			switch state[to] {
			case fresh:
				state[to] = at
				path = append(path, to)
			case at:
				for i, p := range path {
					if p == to {
						return append(path[i:], to)
					}
				}
			}
		}
	}
	return nil
}
