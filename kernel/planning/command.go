package planning

import (
	"pawl"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/machine/workflow"
	"pawl/text/plan"
	"pawl/text/solution"
)

// Commands of a person about the session.
type (
	// Init makes the session of a workspace, once.
	Init struct{ Place effect.Place }
	// Relocate notes that the workspace was moved to another path. What else follows from that is done before.
	Relocate struct{ From, To string }
	// Start takes up a requirement. Given is a plan file's content, Name its name; AutoApprove names the policy in
	// whose name the plan is approved without asking, "" for none.
	Start struct {
		Requirement string
		Given       []byte
		Name        string
		Place       effect.Place
		RunMode     pawl.RunMode
		AutoApprove pawl.Actor
		// Agent is the agent that works and, unless Planner names another, judges and plans; "" is the embedded one.
		// Reviewer is the agent that reviews, "" for nobody.
		Agent    string
		Planner  string `json:",omitempty"`
		Reviewer string `json:",omitempty"`
		// Issue takes up an issue of the board, by its id, in a session of its own; Token is the claim's.
		Issue string `json:",omitempty"`
		Token int64  `json:",omitempty"`
		// Command is the ~command that asks for it, "" for a requirement in plain words. Package is the solution
		// package that ~exec carries out, and Written what a person wrote into it, with the plan that it is Given; nil
		// for one that is as pawl wrote it. Lang is the language in which an agent may ask.
		Command string            `json:",omitempty"`
		Package string            `json:",omitempty"`
		Written *solution.Written `json:",omitempty"`
		Lang    string            `json:",omitempty"`
		// Restart is the task whose plan is Given once more, "" for none.
		Restart string `json:",omitempty"`
		// Confirm says that somebody is there to confirm each stage as the mode asks for. AsIs goes on with what there
		// is.
		Confirm bool `json:",omitempty"`
		AsIs    bool `json:",omitempty"`
	}
	// Choose answers the question that a stage has ended with, bound to the hash of what was shown. For EVALUATE,
	// Choice is that of the machine of the mode, and Path another way of working than the one that was found, "" for
	// that.
	Choose struct {
		Choice string
		Path   workflow.Path `json:",omitempty"`
		Hash   string
	}
	// Revise sends the plan back to planning, with feedback or with another plan.
	Revise struct {
		Feedback string
		Given    []byte
		Name     string
	}
	// EditPlan replaces the plan that waits for approval by one that a person edited; Base is the hash it was made
	// from.
	EditPlan struct {
		Plan plan.Plan
		Base string
	}
)

func (c *Start) ForAgents() bool              { return c.AutoApprove == "" && c.RunMode != pawl.Autonomous }
func (*Revise) TakesFlowOn(*kernel.Tx) bool   { return true }
func (*EditPlan) TakesFlowOn(*kernel.Tx) bool { return true }
func (*Choose) TakesFlowOn(*kernel.Tx) bool   { return true }
