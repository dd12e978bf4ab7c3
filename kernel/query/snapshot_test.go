package query_test

import (
	"testing"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/query"
	"pawl/text/plan"
)

// TestAPlanShowsItsNetwork: a person sees what an approval grants with its places, and of what cannot be granted at
// least the name.
func TestAPlanShowsItsNetwork(t *testing.T) {
	sites := []effect.Site{{Host: "proxy.golang.org"}}
	config := kernel.Defaults()
	s := &kernel.Snapshot{Config: &config, Solution: &kernel.Solution{Plan: plan.Plan{Network: []string{"go"}}}}
	shown := func(want string, places int) {
		t.Helper()
		got := query.PlanOf(s).Network
		if len(got) != 1 || got[0].Name != want || len(got[0].Sites) != places {
			t.Errorf("%+v, want %s with %d places", got, want, places)
		}
	}
	shown("go", 0)
	config.Network = func(string) ([]effect.Site, error) {
		return nil,
			pawl.Fail(pawl.CodeDenied, "kernel.no_network", "go")
	}
	shown("go", 0)
	config.Network = func(string) ([]effect.Site, error) { return sites, nil }
	shown("go", 1)
	s.Task = &kernel.Task{Grants: []effect.Grant{{Name: "approved", Sites: append(sites, sites...)}}}
	shown("approved", 2)
}
