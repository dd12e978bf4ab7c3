package board_test

import (
	"encoding/json"
	"slices"
	"testing"

	"pawl"
	"pawl/machine/board"
)

// Evidence on which every gate of a region's move to a state passes.
var (
	claimable = board.Evidence{Approved: true}
	asking    = board.Evidence{SessionWaits: true}
	leftover  = board.Evidence{Unfinished: true}
)

// TestRegions takes every row of the regions, and refuses it for the want of each thing that its gates look at.
func TestRegions(t *testing.T) {
	type refused struct {
		e    board.Evidence
		gate string
	}
	unapproved := refused{board.Evidence{}, board.GateApproved}
	depends := refused{board.Evidence{Approved: true, OpenDependencies: 1}, board.GateDependencies}
	early := refused{board.Evidence{Approved: true, Early: true}, board.GateDue}
	leased := refused{board.Evidence{Approved: true, Leased: true}, board.GateLeaseOver}
	runs := refused{board.Evidence{}, board.GateSessionWaits}
	waits := refused{asking, board.GateSessionRuns}
	both := refused{board.Evidence{SessionWaits: true, Unfinished: true}, board.GateFinished}
	unfinished := refused{leftover, board.GateFinished}
	finished := refused{asking, board.GateUnfinished}
	seen := map[string]bool{}
	for _, c := range []struct {
		row, region string
		from        board.Regions
		on          board.Event
		when        string
		to          board.Regions
		e           board.Evidence
		refused     []refused
	}{
		{row: "B38", region: "board.hold", from: board.Regions{Hold: "open"}, on: board.Pause,
			to: board.Regions{Hold: "paused"}},
		{row: "B39", region: "board.hold", from: board.Regions{Hold: "paused"}, on: board.Resume,
			to: board.Regions{Hold: "open"}},
		{row: "B40", region: "board.work", from: board.Regions{Work: "runnable"}, on: board.Wait,
			to: board.Regions{Work: "waiting"}, e: asking, refused: []refused{runs, both}},
		{row: "B41", region: "board.work", from: board.Regions{Work: "runnable"}, on: board.Drain,
			to: board.Regions{Work: "draining"}, e: leftover, refused: []refused{finished}},
		{row: "B42", region: "board.work", from: board.Regions{Work: "waiting"}, on: board.GoOn,
			to: board.Regions{Work: "runnable"}, refused: []refused{waits, unfinished}},
		{row: "B43", region: "board.work", from: board.Regions{Work: "waiting"}, on: board.Drain,
			to: board.Regions{Work: "draining"}, e: leftover, refused: []refused{finished}},
		{row: "B44", region: "board.work", from: board.Regions{Work: "draining"}, on: board.GoOn,
			to: board.Regions{Work: "runnable"}, refused: []refused{waits, unfinished}},
		{row: "B45", region: "board.work", from: board.Regions{Work: "draining"}, on: board.Wait,
			to: board.Regions{Work: "waiting"}, e: asking, refused: []refused{runs, both}},
		{row: "B46", region: "board.claim", from: board.Regions{Claim: "free"}, on: board.Acquire, when: board.ForPlan,
			to: board.Regions{Claim: "claimed"}, refused: []refused{early}},
		{row: "B47", region: "board.claim", from: board.Regions{Claim: "free"}, on: board.Acquire,
			when: board.ForExecute, to: board.Regions{Claim: "claimed"}, e: claimable,
			refused: []refused{unapproved, depends, early}},
		{row: "B48", region: "board.claim", from: board.Regions{Claim: "free"}, on: board.Acquire,
			when: board.ForGoingOn, to: board.Regions{Claim: "claimed"}, refused: []refused{early}},
		{row: "B49", region: "board.claim", from: board.Regions{Claim: "free"}, on: board.Acquire, when: board.ForDrain,
			to: board.Regions{Claim: "claimed"}, refused: []refused{early}},
		{row: "B50", region: "board.claim", from: board.Regions{Claim: "claimed"}, on: board.Acquire,
			when: board.ForPlan, to: board.Regions{Claim: "claimed"}, refused: []refused{leased}},
		{row: "B51", region: "board.claim", from: board.Regions{Claim: "claimed"}, on: board.Acquire,
			when: board.ForExecute, to: board.Regions{Claim: "claimed"}, e: claimable,
			refused: []refused{unapproved, depends, leased}},
		{row: "B52", region: "board.claim", from: board.Regions{Claim: "claimed"}, on: board.Acquire,
			when: board.ForGoingOn, to: board.Regions{Claim: "claimed"}, refused: []refused{leased}},
		{row: "B53", region: "board.claim", from: board.Regions{Claim: "claimed"}, on: board.Acquire,
			when: board.ForDrain, to: board.Regions{Claim: "claimed"}, refused: []refused{leased}},
		{row: "B54", region: "board.claim", from: board.Regions{Claim: "claimed"}, on: board.Release,
			to: board.Regions{Claim: "free"}},
		{row: "B55", region: "board.dependents", from: board.Regions{Dependents: "held"}, on: board.Unblock,
			to: board.Regions{Dependents: "released"}},
	} {
		seen[c.row] = true
		at := c.from
		if err := at.Move(c.region, c.on, c.when, c.e); err != nil || at != c.to {
			t.Errorf("%s: %+v, %v", c.row, at, err)
		}
		for _, r := range c.refused {
			at := c.from
			if err := at.Move(c.region, c.on, c.when, r.e); err == nil || err.Gate != r.gate || err.Rule != c.row ||
				at != c.from {
				t.Errorf("%s: %+v, %v, want the gate %s", c.row, at, err, r.gate)
			}
		}
		if at := c.to; at.Claim == "" { // no row leads on by the same event
			err := at.Move(c.region, c.on, c.when, c.e)
			if pawl.CodeOf(err) != pawl.CodeInvalidTransition || at != c.to {
				t.Errorf("%s twice: %+v, %v", c.row, at, err)
			}
		}
	}
	for _, d := range board.Describe()[4:] {
		for _, r := range d.Rules {
			if !seen[r.ID] {
				t.Errorf("%s of %s is never taken", r.ID, d.Name)
			}
		}
	}
}

// TestRegionsOfEarlierVersions reads the flags of earlier versions as states, and writes none of them.
func TestRegionsOfEarlierVersions(t *testing.T) {
	for doc, want := range map[string]board.Regions{
		`{}`:                               {Hold: "open", Work: "runnable", Claim: "free", Dependents: "held"},
		`{"paused":true}`:                  {Hold: "paused", Work: "runnable", Claim: "free", Dependents: "held"},
		`{"waiting":true}`:                 {Hold: "open", Work: "waiting", Claim: "free", Dependents: "held"},
		`{"winding":true}`:                 {Hold: "open", Work: "draining", Claim: "free", Dependents: "held"},
		`{"waiting":true,"winding":true}`:  {Hold: "open", Work: "draining", Claim: "free", Dependents: "held"},
		`{"released":true,"paused":true}`:  {Hold: "paused", Work: "runnable", Claim: "free", Dependents: "released"},
		`{"paused":false,"hold":"paused"}`: {Hold: "paused", Work: "runnable", Claim: "free", Dependents: "held"},
	} {
		var got, again board.Regions
		if err := json.Unmarshal([]byte(doc), &got); err != nil {
			t.Fatal(err)
		}
		got.Settle(false)
		if got != want {
			t.Errorf("%s: %+v", doc, got)
		}
		raw, err := json.Marshal(got)
		if err == nil {
			err = json.Unmarshal(raw, &again)
		}
		again.Settle(false)
		if err != nil || again != want || board.Outdated(raw) {
			t.Errorf("%s is written as %s, %v", doc, raw, err)
		}
		if flags := doc != `{}` && doc != `{"paused":false,"hold":"paused"}`; board.Outdated([]byte(doc)) != flags {
			t.Errorf("%s: outdated %v", doc, !flags)
		}
	}
	at := board.Regions{}
	if at.Settle(true); at.Claim != board.ClaimClaimed {
		t.Errorf("an issue with a lease is %s", at.Claim)
	}
}

// TestClaimedFor: the state of an issue says what a worker takes it for, unless something is left to finish.
func TestClaimedFor(t *testing.T) {
	var got []string
	for _, s := range board.Issue.States() {
		at := board.Regions{Work: board.WorkRunnable}
		got = append(got, at.ClaimedFor(s))
		if at.Work = board.WorkDraining; at.ClaimedFor(s) != board.ForDrain {
			t.Errorf("what is left of a %s issue is not finished", s)
		}
	}
	if want := []string{"plan", "go-on", "execute", "go-on", "", ""}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
