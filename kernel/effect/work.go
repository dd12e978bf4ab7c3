package effect

import (
	"context"
	"encoding/json"
	"slices"

	"pawl/text/plan"
	"pawl/text/policy"
	"pawl/text/triage"
)

// Usage is what work costs. The first part is that of model calls, with money in millionths of a US dollar, so that
// sums are exact; the second is what pawl itself counts of the agents that it asks and of the calls that it makes.
type Usage struct {
	Requests     int64 `json:"requests,omitempty"`
	InTokens     int64 `json:"in_tokens,omitempty"`
	CachedTokens int64 `json:"cached_tokens,omitempty"` // part of InTokens that the provider had in its cache
	OutTokens    int64 `json:"out_tokens,omitempty"`
	MicroUSD     int64 `json:"micro_usd,omitempty"`
	// Unpriced says that some of the tokens belong to a model without a known price, so that MicroUSD is too low.
	Unpriced bool `json:"unpriced,omitempty"`
	// Turns is how often an agent was asked, Calls how many calls of tools it had, and Processes how many commands and
	// agents' programs were started. WallMS is the time that agents and calls took, in milliseconds; calls in the
	// middle of an agent's work take none of their own.
	Turns     int64 `json:"turns,omitempty"`
	Calls     int64 `json:"calls,omitempty"`
	Processes int64 `json:"processes,omitempty"`
	WallMS    int64 `json:"wall_ms,omitempty"`
}

// Plus returns the sum of two costs.
func (u Usage) Plus(o Usage) Usage {
	return Usage{
		Requests: u.Requests + o.Requests, InTokens: u.InTokens + o.InTokens, CachedTokens: u.CachedTokens +
			o.CachedTokens,
		OutTokens: u.OutTokens + o.OutTokens, MicroUSD: u.MicroUSD + o.MicroUSD, Unpriced: u.Unpriced || o.Unpriced,
		Turns: u.Turns + o.Turns, Calls: u.Calls + o.Calls, Processes: u.Processes + o.Processes, WallMS: u.WallMS +
			o.WallMS,
	}
}

// Said is who answered and what it cost: part of every agent's result.
type Said struct {
	// Agent is the agent's name, and Version what it says of its own version, "" when it has none.
	Agent   string `json:"agent"`
	Version string `json:"version,omitempty"`
	Model   string `json:"model,omitempty"`
	// Prompt is the digest of the system prompt that was used, so that an answer can be judged later.
	Prompt string `json:"prompt_digest,omitempty"`
	Usage  Usage  `json:"usage,omitzero"`
}

// Answered is a question that was put to the person, with the answer; "" while there is none.
type Answered struct {
	// Question is the question in words, or the key of the catalogue's message where pawl asked it itself.
	Question string `json:"question"`
	Answer   string `json:"answer"`
	// About is what the question was about: a triage.Aspect where it was asked in an intake, "" for any other.
	About string `json:"about,omitempty"`
}

// IntakeSpec asks an agent to judge a requirement: whether it is clear enough to be planned, how much it takes, and
// what is dangerous in it (docs/spec/turn.md#s1-1; docs/spec/workflow.md#routing). Nothing of the project is looked at.
type IntakeSpec struct {
	Agent       string     `json:"agent"`
	Requirement string     `json:"requirement"`
	Answers     []Answered `json:"answers,omitempty"`
	Round       int        `json:"round"` // 1, 2, 3
	// Lang is the language to ask in, as "zh-CN" or "en"; "" leaves it to the agent's own settings.
	Lang string `json:"lang,omitempty"`
	// Continue says that the person goes on with what there is: it is judged, and nothing is asked.
	Continue bool `json:"continue,omitempty"`
}

// Replies are the answers as an evaluation takes them.
func (s IntakeSpec) Replies() []triage.Answer {
	var out []triage.Answer
	for _, a := range s.Answers {
		out = append(out, triage.Answer{About: triage.Aspect(a.About), Text: a.Answer})
	}
	return out
}

// Text is what the evaluation is about: its evidence are ranges of it.
func (s IntakeSpec) Text() string { return triage.Merge(s.Requirement, s.Replies()) }

// IntakeResult is the judgement on a requirement. It is valid for the spec's Text (triage.Evaluation.Check), whoever
// made it. Its Evaluation.By says who did, which is pawl where the agent has no judgement of its own.
type IntakeResult struct {
	Said
	Evaluation triage.Evaluation `json:"evaluation"`
}

// Score is how complete the requirement is, 0 to 10.
func (r IntakeResult) Score() int { return r.Evaluation.Score }

// Questions are one to three where the requirement is not clear and the person does not go on with what there is.
func (r IntakeResult) Questions() []triage.Question { return r.Evaluation.Questions }

// Why is what a model says of its judgement, "" for pawl's own.
func (r IntakeResult) Why() string { return r.Evaluation.Why }

// Role says whose message it is.
type Role string

// The roles of a conversation. The system prompt is no message: it is named by its digest in Said.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one message of a conversation with a model, in a form that no provider owns.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"text,omitempty"`
	// Calls are the calls that an assistant's message asks for.
	Calls []Ask `json:"calls,omitempty"`
	// Call is the id of the call that a tool's message answers; Failed says that the call failed or was refused.
	Call   string `json:"call,omitempty"`
	Failed bool   `json:"failed,omitempty"`
	// Opaque is the provider's own metadata (signatures of thoughts), handed back unchanged.
	Opaque json.RawMessage `json:"opaque,omitempty"`
}

// Ask is a tool call that an agent asks for. It is a wish: only what the kernel judged, committed and had made
// happened.
type Ask struct {
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args"`
	Opaque json.RawMessage `json:"opaque,omitempty"`
}

// Gist is what the arguments of a call are about, in one line: its command or path, or all of them.
func Gist(args json.RawMessage) string {
	var known struct{ Command, Path string }
	if json.Unmarshal(args, &known) == nil && known.Command+known.Path != "" {
		return known.Command + known.Path
	}
	return string(args)
}

// RefusedCall is a call that an agent wanted to make and was not allowed to, without a question: the policy denies it,
// or it needs an approval and nobody is there to give one.
type RefusedCall struct {
	Run     string          `json:"run,omitempty"`
	Call    string          `json:"call,omitempty"` // the command or the path, the arguments of a call that has neither
	Reasons []policy.Reason `json:"reasons,omitempty"`
	// Person says that only a person can allow it, Rule which addition to policy.allowed_commands would allow it, "" if
	// none would.
	Person bool   `json:"person,omitempty"`
	Rule   string `json:"rule,omitempty"`
}

// WorkSpec asks an agent to carry out one step, or to mend one failure, whose tool calls are not known beforehand.
type WorkSpec struct {
	Agent string    `json:"agent"`
	Goal  string    `json:"goal"`
	Plan  plan.Plan `json:"plan"`
	Step  string    `json:"step"`
	// Failure is what a repair step has to mend.
	Failure *Failure `json:"failure,omitempty"`
	// Notes are what persons said when they helped, and what was learned from earlier failures of the same kind (known
	// issues), newest last.
	Notes   []string      `json:"notes,omitempty"`
	Context ContextResult `json:"context"`
	// Messages is the conversation so far, for an agent that keeps none of its own; it is filled in when the effect
	// begins.
	Messages []Message `json:"messages,omitempty"`
	// Recent are the results of the last calls of the conversation before this one, newest last.
	Recent []ToolResult `json:"recent,omitempty"`
	// Session is the agent's own session that the work goes on with, "" to begin one.
	Session string `json:"session,omitempty"`
	// Granted is the approval under which the work's calls are made.
	Granted string `json:"granted,omitempty"`
}

// Help is what persons said when they helped a task that was stuck, the newest last, and how many failures it had then:
// what was tried before a person spoke has not been tried with those words.
type Help struct {
	Notes    []string `json:"notes,omitempty"`
	Failures int      `json:"failures,omitempty"`
}

// Bounds of what is kept of what somebody works on is to be told; the newest note is kept whatever its size.
const (
	maxHeard      = 32
	maxHeardBytes = 64 << 10
)

// Heard adds a note to those that whoever works next is told, and drops the oldest where there is too much.
func Heard(notes []string, note string) []string {
	notes = append(slices.Clip(notes), note)
	total := len(note)
	for n := len(notes) - 2; n >= 0; n-- {
		if total += len(notes[n]); total > maxHeardBytes || len(notes)-n > maxHeard {
			return notes[n+1:]
		}
	}
	return notes
}

// Control is how an agent ends its part (docs/spec/turn.md#control).
type Control string

// The control words. Calls is the answer of an agent that keeps no loop of its own: it wants calls made and then be
// asked again.
const (
	StepDone Control = "step_done"
	Replan   Control = "replan"
	GiveUp   Control = "give_up"
	Calls    Control = "calls"
	// Question asks the person what Reason says, and is the word of an agent that has a loop of its own. The answer
	// comes with the next request. An agent without one asks with a call of AskHuman.
	Question Control = "question"
	// DisputeTest says that a test of the plan is wrong; the next request tells what became of that.
	DisputeTest Control = "dispute_test"
)

// AskHuman is the call with which an agent puts a question to the person. It is no tool: the kernel answers it, once
// the person did. Its one argument is the question.
const AskHuman = "ask_human"

// WorkResult is what an agent says of its work. Nothing of it is evidence.
type WorkResult struct {
	Said
	Control Control `json:"control"`
	Reason  string  `json:"reason,omitempty"`
	Text    string  `json:"text,omitempty"`
	// Patch changes the steps that are not done yet, for Replan.
	Patch *plan.Patch `json:"patch,omitempty"`
	// Dispute is what is said against a test, for DisputeTest.
	Dispute *Dispute `json:"dispute,omitempty"`
	// Messages are to be added to the conversation. Asks are those of their calls that are to be made, for Calls.
	Messages []Message `json:"messages,omitempty"`
	Asks     []Ask     `json:"asks,omitempty"`
	// Compacted replaces the conversation by Messages instead.
	Compacted bool   `json:"compacted,omitempty"`
	Session   string `json:"session,omitempty"`
	// Login says whose own login was used, without a secret, where one was.
	Login string `json:"login,omitempty"`
	// Pack is noted where a pack was built anew for the work.
	Pack *PackNote `json:"pack,omitempty"`
	// Before and After are the tree ids around the work of an agent that changes files itself.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Host is what an agent may ask of pawl while it works. Its methods may be called concurrently; the calls of tools are
// made one after the other. All of them fail with CodeCanceled once the effect is over, and with CodeFenced when it was
// taken over.
type Host interface {
	// Call has one tool call judged by policy, committed, made and recorded. The error says that it was refused and not
	// made (denied, approval_needed, budget, invalid, loop); a call that was made and failed is a receipt.
	Call(ctx context.Context, a Ask) (Receipt, error)
	// Reserve sets aside what one model call may cost at most. CodeBudget says that it does not fit and must not be
	// made. Settle must be called once with what the call did cost; it may be called after ctx ended.
	Reserve(ctx context.Context, most Usage) (settle func(Usage), err error)
	// Bind keeps the agent's own session, so that a later attempt can go on with it.
	Bind(ctx context.Context, session string) error
}
