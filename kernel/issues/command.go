package issues

import (
	"time"

	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/machine/board"
)

// Commands about the board (docs/spec/board.md). Issues are named by their ids, where nothing else is said.
type (
	// AddIssues registers issues, all or none. One whose external id is known is brought up to date instead, unless it
	// is what it was. The answer is the list of their labels, in the order of the command. With Fresh no issue is open,
	// and the batch is begun for a branch anew.
	AddIssues struct {
		Issues []NewIssue
		Fresh  bool `json:",omitempty"`
	}
	// EditIssue changes what is set.
	EditIssue struct {
		Issue    string
		Branch   *string   `json:",omitempty"`
		Title    *string   `json:",omitempty"`
		Context  *string   `json:",omitempty"`
		Priority *int      `json:",omitempty"`
		Tags     *[]string `json:",omitempty"`
		Agent    *string   `json:",omitempty"`
		Paused   *bool     `json:",omitempty"`
		// Given is a plan file to plan with, and its name; an empty one takes it back.
		Given     *[]byte `json:",omitempty"`
		GivenName string  `json:",omitempty"`
		// Feedback is added to what the next attempt is told.
		Feedback string `json:",omitempty"`
	}
	// AddDependency has an issue wait for another one, or no longer.
	AddDependency struct {
		Issue, On string
		Remove    bool `json:",omitempty"`
	}
	// ClaimIssue claims the next issue for a worker: one to plan, or one whose approved plan is to be carried out and
	// whose files no claimed issue is expected to change. Issue names a certain one. It is answered with Taken, or null
	// where there is none.
	ClaimIssue struct {
		Owner    string
		Planning bool      `json:",omitempty"`
		Issue    string    `json:",omitempty"`
		Now      time.Time // by the caller's clock
		// Branch is the one that the batch is begun for, where it is not yet.
		Branch string `json:",omitempty"`
		// Living are owners that are known to be at work, whatever the clock says of their leases.
		Living []string `json:",omitempty"`
	}
	// AimBoard has the batch go on for another branch: issues whose work has not begun, and that name none, land there.
	AimBoard struct{ Branch string }
	// RenewIssue prolongs a claim, Leave ends it. Again is before when the issue is not to be claimed. Without an
	// issue, Leave ends all claims of an owner who is known to be gone.
	RenewIssue struct {
		Issue string
		Token int64
	}
	ReleaseIssue struct {
		Issue string    `json:",omitempty"`
		Token int64     `json:",omitempty"`
		Owner string    `json:",omitempty"`
		Again time.Time `json:",omitzero"`
	}
	// Release tells the issues that depend on a completed one.
	Release struct{ Issue string }
	// RetryIssue puts a failed issue back: to be planned anew, with the failure as feedback.
	RetryIssue struct {
		Issue string
		Note  string `json:",omitempty"`
	}
	// MoveBoard takes the batch to another phase: list, plan, execute, or complete, which ends it.
	MoveBoard struct{ Action board.Event }
)

// NewIssue is an issue to register. After names issues that must be completed first, by id, label, external id, or Ref:
// the name that an issue of the same command has in it. Label is kept where it is free. Height is a lower bound, for a
// caller who adds a large graph piece by piece. Closed says that it was completed elsewhere: it is kept as history, and
// what depends on it does not wait.
type NewIssue struct {
	Ref       string `json:",omitempty"`
	Label     string `json:",omitempty"`
	Title     string
	Context   string   `json:",omitempty"`
	Priority  int      `json:",omitempty"`
	Tags      []string `json:",omitempty"`
	After     []string `json:",omitempty"`
	External  string   `json:",omitempty"`
	Digest    string   `json:",omitempty"`
	URL       string   `json:",omitempty"`
	Given     []byte   `json:",omitempty"`
	GivenName string   `json:",omitempty"`
	Agent     string   `json:",omitempty"`
	Branch    string   `json:",omitempty"`
	Feedback  []string `json:",omitempty"`
	Paused    bool     `json:",omitempty"`
	Closed    bool     `json:",omitempty"`
	Height    int64    `json:",omitempty"`
	// State is what a state.json says of it beside that, nil where it comes from elsewhere.
	State *IssueState `json:",omitempty"`
}

// IssueState is what became of an issue before it was imported: it has failed, or was closed.
type IssueState struct {
	Failed              bool                `json:",omitempty"`
	PlannedAt, Executed time.Time           `json:",omitzero"`
	Error               *effect.Fault       `json:",omitempty"`
	Errors              []kernel.IssueError `json:",omitempty"`
	Came                kernel.Came
}

// Taken is the answer to Take. Lane is the label of the issue's session.
type Taken struct {
	Issue   string `json:"issue"`
	Session string `json:"lane"`
	Token   int64  `json:"token"`
}
