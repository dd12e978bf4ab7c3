package board

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"pawl"
	"pawl/machine"
)

// HoldStatus says whether a person holds an issue back.
type HoldStatus string

// The two states of a hold.
const (
	HoldOpen   HoldStatus = "open"
	HoldPaused HoldStatus = "paused"
)

// IsZero reports whether a document need not say it: that of an issue which nobody holds back.
func (s HoldStatus) IsZero() bool { return s == "" || s == HoldOpen }

// WorkStatus says what the work on an issue needs next: what its session says to the board.
type WorkStatus string

// The three states of the work.
const (
	WorkRunnable WorkStatus = "runnable"
	WorkWaiting  WorkStatus = "waiting"
	WorkDraining WorkStatus = "draining"
)

// IsZero reports whether a document need not say it: that of an issue whose work can go on.
func (s WorkStatus) IsZero() bool { return s == "" || s == WorkRunnable }

// ClaimStatus says whether a worker has an issue, under a lease.
type ClaimStatus string

// The two states of a claim.
const (
	ClaimFree    ClaimStatus = "free"
	ClaimClaimed ClaimStatus = "claimed"
)

// DependentsStatus says whether those issues that depend on one may go on for its part.
type DependentsStatus string

// The two states of the dependents.
const (
	DependentsHeld     DependentsStatus = "held"
	DependentsReleased DependentsStatus = "released"
)

// IsZero reports whether a document need not say it: that of an issue on which others wait.
func (s DependentsStatus) IsZero() bool { return s == "" || s == DependentsHeld }

// The arguments of ACQUIRE: what the worker takes the issue for.
const (
	ForPlan    = "plan"
	ForExecute = "execute"
	ForGoingOn = "go-on"
	ForDrain   = "drain"
)

// Regions are the states of an issue of the board that stand beside its own (docs/spec/board.md#regions). A document
// says of them what is not initial; the claim is said by the lease.
type Regions struct {
	Hold       HoldStatus       `json:"hold,omitzero"`
	Work       WorkStatus       `json:"work,omitzero"`
	Claim      ClaimStatus      `json:"-"`
	Dependents DependentsStatus `json:"dependents,omitzero"`
	earlier
}

// earlier is what earlier versions kept in the place of the regions (docs/spec/board.md#earlier). It is read and never
// written.
type earlier struct {
	WasPaused   bool `json:"paused,omitempty"`
	WasWaiting  bool `json:"waiting,omitempty"`
	WasReleased bool `json:"released,omitempty"`
	WasDraining bool `json:"winding,omitempty"`
}

// Outdated reports whether a document of an issue has something that earlier versions kept in the place of the regions.
func Outdated(doc []byte) bool {
	var was earlier
	return json.Unmarshal(doc, &was) == nil && was != (earlier{})
}

// Settle gives what was read from a document the states that it does not spell out: those that an earlier version kept
// as flags, and initial ones. Claimed says that there is a lease. It is the one place where that is decided.
func (r *Regions) Settle(claimed bool) {
	Hold.Settle(&r.Hold, r.WasPaused, HoldPaused)
	Dependents.Settle(&r.Dependents, r.WasReleased, DependentsReleased)
	Work.Settle(&r.Work, r.WasWaiting, WorkWaiting)
	Work.Settle(&r.Work, r.WasDraining, WorkDraining)
	Claim.Settle(&r.Claim, claimed, ClaimClaimed)
	r.earlier = earlier{}
}

// ClaimedFor is what a worker takes an issue for, as far as its state and its work say: an argument of ACQUIRE, or ""
// where there is nothing to do for it.
func (r *Regions) ClaimedFor(s IssueStatus) string {
	switch {
	case r.Work == WorkDraining:
		return ForDrain
	case s == IssueRegistered:
		return ForPlan
	case s == IssuePlanned:
		return ForExecute
	case s == IssuePlanning || s == IssueExecuting:
		return ForGoingOn
	}
	return ""
}

// UsualPriority is that of an issue for which none was given.
const UsualPriority = 3

// Rank orders the claims, the highest first (docs/spec/board.md#order): by priority, where 0 is the usual one, then by
// age, then by the length of the chain that waits. What must not be claimed now comes behind everything else, so that
// the next one is always found at once.
func Rank(priority int, created time.Time, height int64, ready bool) int64 {
	if priority == 0 {
		priority = UsualPriority
	}
	age := int64(1)<<41 - 1 - created.UnixMilli()&(1<<41-1)
	r := int64(5-priority)<<60 | age<<19 | min(max(height, 0), 1<<19-1)
	if !ready {
		r -= math.MaxInt64
	}
	return r
}

// Overlap reports whether two lists of files have one in common. A name that ends with a slash stands for what is below
// it.
func Overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool {
			return x == y || strings.HasSuffix(x, "/") && strings.HasPrefix(y, x) || strings.HasSuffix(y, "/") &&
				strings.HasPrefix(x, y)
		})
	})
}

// Work is what the work on an issue needs next: what is to be finished goes before what is asked.
func (e Evidence) Work() WorkStatus {
	switch {
	case e.Unfinished:
		return WorkDraining
	case e.SessionWaits:
		return WorkWaiting
	}
	return WorkRunnable
}

// Move takes the region of a name, which is that of its table, to another state: by a row of the table, if its gates
// pass. The seed has none of the regions, so that they move under --strict as well.
func (r *Regions) Move(region string, on Event, when string, e Evidence) *pawl.Error {
	switch region {
	case Hold.Name():
		return move(Hold, &r.Hold, on, when, e)
	case Work.Name():
		return move(Work, &r.Work, on, when, e)
	case Claim.Name():
		return move(Claim, &r.Claim, on, when, e)
	}
	return move(Dependents, &r.Dependents, on, when, e)
}

func move[S ~string](m *machine.Machine[S, Event], at *S, on Event, when string, e Evidence) *pawl.Error {
	return m.Move(at, on, when, func(r *machine.Rule[S, Event]) *pawl.Error { return Admit(r, e) })
}
