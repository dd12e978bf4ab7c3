package topo

// Layers puts each node of a graph without circles into the layer behind the last of those that it waits for, the first
// being 0. Those that the graph does not have count for nothing. Longest is the longest way through nodes that count
// (all of them, where counts is nil), from the first that has to be done to the last.
func Layers(ids []string, on func(id string) []string, counts func(id string) bool) (layer map[string]int,
	longest []string) {
	known, layer, length, from := map[string]bool{}, map[string]int{}, map[string]int{}, map[string]string{}
	for _, id := range ids {
		known[id] = true
	}
	each(ids, on, known, func(id string) {
		for _, o := range on(id) {
			if !known[o] {
				continue
			}
			layer[id] = max(layer[id], layer[o]+1)
			if length[o] > length[id] {
				length[id], from[id] = length[o], o
			}
		}
		if counts == nil || counts(id) {
			length[id]++
		}
	})
	last := ""
	for _, id := range ids {
		if length[id] > 0 && (last == "" || length[id] > length[last]) {
			last = id
		}
	}
	for id := last; id != ""; id = from[id] {
		if counts == nil || counts(id) {
			longest = append([]string{id}, longest...)
		}
	}
	return layer, longest
}

// each calls f with every node that is known, once, after those that it waits for. A node waits on a stack until these
// are done, so that a long chain needs no deep call.
func each(ids []string, on func(id string) []string, known map[string]bool, f func(id string)) {
	done := map[string]bool{}
	for _, root := range ids {
		entered := map[string]bool{}
		for stack := []string{root}; len(stack) > 0; {
			id := stack[len(stack)-1]
			if done[id] || entered[id] {
				if stack = stack[:len(stack)-1]; !done[id] {
					done[id] = true
					f(id)
				}
				continue
			}
			entered[id] = true
			for _, o := range on(id) {
				if known[o] && !done[o] && !entered[o] {
					stack = append(stack, o)
				}
			}
		}
	}
}
