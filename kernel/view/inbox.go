package view

import (
	"cmp"
	"time"

	"pawl"
	"pawl/machine/session"
	"pawl/text/policy"
)

// What a need is about beside the subjects of approvals.
const (
	AboutUnproven    = "unproven"    // work stopped because nothing shows that it is done
	AboutBlocked     = "blocked"     // work stopped for another reason
	AboutUnclear     = "unclear"     // the planner asks what a requirement means
	AboutQuestion    = "question"    // an agent asks
	AboutPaused      = "paused"      // a person paused a run
	AboutInterrupted = "interrupted" // no process works on a run, or its process is stopped
	AboutFailed      = "failed"      // an issue failed, or was skipped while other issues depend on it
	AboutUnclaimed   = "unclaimed"   // issues are approved or started, and no worker runs
)

// Need is what a session waits for a person with.
type Need struct {
	// Issue is the issue whose session it is, "" for that of the person who sits in the workspace. Run is its run.
	Issue string        `json:"issue,omitempty"`
	Run   string        `json:"run,omitempty"`
	State session.State `json:"state"`
	Goal  string        `json:"goal"`
	// About is what is to be decided: the subject of the open approval, or one of the above.
	About string `json:"about"`
	// Digest is the hash of what is decided, "" where there is none to compare.
	Digest string `json:"digest,omitempty"`
	// Risk is that of what would be done, "" where that is not a plan. Rule is the one harmless rule of the policy that
	// all falls under which is to be confirmed in a plan of low risk, so that it may be answered together with others
	// of that rule; "" where it has to be looked at by itself.
	Risk pawl.Risk   `json:"risk,omitempty"`
	Rule policy.Code `json:"rule,omitempty"`
	// Since is since when it waits; By is on whose word the work began, and Agent who proposed what is asked about.
	Since time.Time  `json:"since,omitzero"`
	By    pawl.Actor `json:"by,omitempty"`
	Agent string     `json:"agent,omitempty"`
	// Behind are the issues that stand still behind it.
	Behind []string `json:"behind,omitempty"`
	// Blocked is what stopped the work, and Questions what agents ask.
	Blocked   *Blocked   `json:"blocked,omitempty"`
	Questions []Question `json:"questions,omitempty"`
	// Next are the commands that answer it, the usual one first.
	Next []Next `json:"next"`
}

// Waits reports whether a person is asked for something, or has to help.
func (n *Need) Waits() bool { return n.About != "" }

// Weight orders what waits: the riskiest first, and among these what most stands still behind.
func (n *Need) Weight() int {
	w := min(len(n.Behind), 999)
	switch {
	case n.Risk == pawl.RiskHigh:
		w += 3000
	case n.Risk == pawl.RiskMedium:
		w += 2000
	case n.Blocked != nil:
		w += 1000
	}
	return w
}

// Graver orders what waits as slices.SortFunc wants it: by weight, and of the same weight what has waited longer first.
func Graver(a, b Need) int {
	return cmp.Or(cmp.Compare(b.Weight(), a.Weight()), a.Since.Compare(b.Since))
}

// Inbox is what waits for a person in a workspace, the gravest first.
type Inbox struct {
	Needs []Need `json:"needs"`
	// More says that there may be more than was looked at.
	More bool `json:"more,omitempty"`
}
