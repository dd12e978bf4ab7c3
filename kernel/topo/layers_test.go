package topo

import (
	"slices"
	"strconv"
	"testing"
)

// TestLayers: a node stands behind all that it waits for, and the longest way is through what counts.
func TestLayers(t *testing.T) {
	on := map[string][]string{"b": {"a"}, "c": {"a", "b", "gone"}, "d": {"a"}, "e": {"d"}, "f": {"e"}}
	ids := []string{"f", "e", "c", "d", "b", "a"}
	layer, longest := Layers(ids, func(id string) []string { return on[id] }, nil)
	for id, want := range map[string]int{"a": 0, "b": 1, "c": 2, "d": 1, "e": 2, "f": 3} {
		if layer[id] != want {
			t.Errorf("%s is in layer %d, want %d", id, layer[id], want)
		}
	}
	if !slices.Equal(longest, []string{"a", "d", "e", "f"}) {
		t.Error(longest)
	}
	open := func(id string) bool { return id != "d" && id != "e" && id != "f" }
	if _, longest = Layers(ids, func(id string) []string { return on[id] }, open); !slices.Equal(longest, []string{"a", "b", "c"}) {
		t.Error(longest)
	}
	if layer, longest := Layers(nil, nil, nil); len(layer)+len(longest) > 0 {
		t.Error(layer, longest)
	}
	const long = 50_000
	chain := make([]string, long)
	for n := range chain {
		chain[n] = strconv.Itoa(long - n)
	}
	before := func(id string) []string { n, _ := strconv.Atoi(id); return []string{strconv.Itoa(n - 1)} }
	if layer, longest = Layers(chain, before, nil); len(longest) != long || layer[strconv.Itoa(long)] != long-1 {
		t.Error(len(longest), layer[strconv.Itoa(long)])
	}
}
