package view

import (
	"time"

	"pawl/kernel/effect"
	"pawl/machine/board"
)

// Claim is somebody who works on something, under a lease that is renewed while it lives.
type Claim struct {
	Owner string `json:"owner"`
	// Issue and Task are the labels of what is worked on: an issue of the board, or a task outside of it.
	Issue string `json:"issue,omitempty"`
	Task  string `json:"task,omitempty"`
	Title string `json:"title"`
	// Planning says that a plan is being made.
	Planning bool `json:"planning,omitempty"`
	// Since is when it was taken up, where that is known; Until is when the lease ends, and Lost says that it has ended
	// without having been renewed, so that anybody may take it over.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"lease_until,omitzero"`
	Lost  bool      `json:"lost,omitempty"`
}

// Costs is what the work has cost, as the ledger of budgets has it. Each list accounts for the same money in another
// way, as far back as that is looked at.
type Costs struct {
	// Runs, Issues and Days are the budgets of each, the newest first.
	Runs   []CostLine `json:"runs"`
	Issues []CostLine `json:"issues"`
	Days   []CostLine `json:"days"`
	// Agents is what the runs listed have spent, by agent and model, the dearest first. What no answer accounts for,
	// such as a call that was cut off, has neither.
	Agents []AgentCost `json:"agents"`
	// Calls are the dearest answers of agents.
	Calls []CallCost `json:"calls"`
	// More says that there are older budgets that are not listed.
	More bool `json:"more,omitempty"`
}

// CostLine is one budget: what is held back for work under way, what is spent, and in millionths of a dollar what may
// be spent, and is left of that; 0 and 0 where no limit is set.
type CostLine struct {
	Label string       `json:"label"`
	Held  effect.Usage `json:"reserved"`
	Spent effect.Usage `json:"spent"`
	Limit int64        `json:"limit_micro_usd,omitempty"`
	Left  int64        `json:"left_micro_usd,omitempty"`
}

// AgentCost is what an agent has cost, with one model.
type AgentCost struct {
	Agent string       `json:"agent,omitempty"`
	Model string       `json:"model,omitempty"`
	Spent effect.Usage `json:"spent"`
}

// CallCost is what one answer of an agent has cost.
type CallCost struct {
	Run   string       `json:"run"`
	Kind  effect.Kind  `json:"kind"`
	Agent string       `json:"agent"`
	Model string       `json:"model,omitempty"`
	At    time.Time    `json:"at"`
	Spent effect.Usage `json:"spent"`
}

// Graph is the board as a graph: an issue stands in the layer behind the last of those that it waits for.
type Graph struct {
	Nodes []GraphNode `json:"nodes"`
	// Critical are the labels of the longest way through issues that are not completed, in the order in which they
	// have to be.
	Critical []string `json:"critical,omitempty"`
	// More says that there are further issues, which are left out.
	More bool `json:"more,omitempty"`
}

// GraphNode is an issue of a graph. After are the labels of those in the graph that it waits for, Other how many more
// there are.
type GraphNode struct {
	Label    string            `json:"label"`
	Title    string            `json:"title"`
	Status   board.IssueStatus `json:"status"`
	Standing Standing          `json:"standing,omitempty"`
	Layer    int               `json:"layer"`
	After    []string          `json:"after,omitempty"`
	Other    int               `json:"other,omitempty"`
}
