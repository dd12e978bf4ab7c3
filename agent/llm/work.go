package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"pawl/text/display"

	"pawl"
	"pawl/agent"
	"pawl/kernel/effect"
	"pawl/text/plan"
)

// maxFlaws is how many answers of one effect may ask for nothing that can be understood before it fails.
const maxFlaws = 3

// controls are the words with which a model ends its part, offered as tools (docs/spec/turn.md#control).
func controls() []Tool {
	return []Tool{
		{Name: string(effect.StepDone), Description: "Say that this step is done. Checks are run by the system; do not claim their result.",
			Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"summary":{"type":"string"}}}`)},
		{Name: string(effect.Replan), Description: "Ask to change the steps that are not done yet, because the plan cannot work as it is.",
			Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["reason","patch"],"properties":{"reason":{"type":"string"},"patch":{"type":"object","additionalProperties":false,"properties":{` +
				`"remove_steps":{"type":"array","items":{"type":"string"}},` +
				`"update_steps":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["id"],"properties":{"id":{"type":"string"},"title":{"type":"string"},"description":{"type":"string"},"dependencies":{"type":"array","items":{"type":"string"}}}}},` +
				`"add_steps":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["step_id","title","intent"],"properties":{"step_id":{"type":"string"},"title":{"type":"string"},"intent":{"type":"string"},"depends_on":{"type":"array","items":{"type":"string"}}}}}}}}}`)},
		{Name: string(effect.DisputeTest), Description: "Say that a test that came with the plan is wrong, because it asks for something else than the requirement. Whoever planned is asked once more.",
			Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["path","reason"],"properties":{"path":{"type":"string","minLength":1},"reason":{"type":"string"}}}`)},
		{Name: string(effect.GiveUp), Description: "Say that this step cannot be done, and why. A person will be asked.",
			Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["reason"],"properties":{"reason":{"type":"string"}}}`)},
	}
}

func isControl(name string) bool {
	switch effect.Control(name) {
	case effect.StepDone, effect.Replan, effect.GiveUp, effect.DisputeTest:
		return true
	}
	return false
}

// work has one exchange about a step. An answer that asks for nothing that can be understood is shown to the model with
// what is wrong with it, a few times; the exchanges are reserved and settled each like any other.
func (x exchange) work(ctx context.Context, e effect.Effect) (effect.WorkResult, error) {
	spec, err := effect.Decode[effect.WorkSpec](e.Spec)
	if err != nil {
		return effect.WorkResult{}, err
	}
	if err := x.a.flaw(); err != nil {
		return effect.WorkResult{}, err
	}
	added := continued(spec)
	r := Request{Messages: answered(append(spec.Messages[:len(spec.Messages):len(spec.Messages)], added...)),
		Tools: x.a.tools()}
	result := effect.WorkResult{}
	if shorter, ok := compact(r, x.a.window(x.a.config.Work)-x.a.room(x.a.config.Work)); ok {
		r.Messages, added, result.Compacted = shorter, shorter, true
	}
	result.Messages = added
	for flaws := 1; ; flaws++ {
		reply, said, err := x.ask(ctx, "work", x.a.config.Work, r)
		said.Usage = said.Usage.Plus(result.Usage)
		result.Said = said
		if err != nil {
			return result, err
		}
		heard := hear(spec, r.Messages, reply)
		result.Messages = append(result.Messages[:len(result.Messages):len(result.Messages)], heard.messages...)
		if heard.flaw == nil {
			result.Text = reply.Text
			heard.into(&result)
			return result, nil
		}
		if flaws >= maxFlaws {
			return result, pawl.Fail(pawl.CodeModel, "llm.calls_malformed",
				strconv.Itoa(flaws)).Because(heard.flaw).In("llm.Work")
		}
		r.Messages = append(r.Messages[:len(r.Messages):len(r.Messages)], heard.messages...)
	}
}

func (a *Agent) tools() []Tool {
	var out []Tool
	for _, t := range a.config.Tools {
		out = append(out, Tool{Name: t.Name, Description: t.Description, Schema: t.ArgsSchema})
	}
	return append(append(out, question()), controls()...)
}

// question is the call with which a model asks the person. The kernel answers it.
func question() Tool {
	return Tool{
		Name: effect.AskHuman, Description: "Ask the person one question and wait for the answer. Only for what the task depends on and the repository cannot tell.",
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["question"],"properties":{"question":{"type":"string","minLength":1,"maxLength":2000}}}`),
	}
}

// continued is what the model is told before it goes on: the task at the beginning, and later what it was not told yet.
func continued(spec effect.WorkSpec) []effect.Message {
	user := func(text string) effect.Message { return effect.Message{Role: effect.RoleUser, Text: text} }
	if len(spec.Messages) == 0 {
		return []effect.Message{user(task(spec))}
	}
	var notes strings.Builder
	for _, n := range spec.Notes {
		note, known := agent.Section("Note", n), false
		for _, m := range spec.Messages {
			known = known || m.Role == effect.RoleUser && strings.Contains(m.Text, note)
		}
		if !known {
			notes.WriteString(note)
		}
	}
	last := spec.Messages[len(spec.Messages)-1]
	switch {
	case notes.Len() > 0:
		return []effect.Message{user(notes.String())}
	case last.Role == effect.RoleAssistant && len(last.Calls) == 0:
		return []effect.Message{user(agent.Section("Go on", "The step is still open."))}
	}
	return nil
}

// answered completes a conversation: a call that was never answered, because the work was broken off, was not made. No
// provider takes a conversation with an open call.
func answered(list []effect.Message) []effect.Message {
	var out []effect.Message
	var open []effect.Ask
	closing := func() {
		for _, c := range open {
			out = append(out, effect.Message{Role: effect.RoleTool, Call: c.ID, Failed: true,
				Text: "Not made: the work was broken off."})
		}
		open = nil
	}
	for _, m := range list {
		if m.Role != effect.RoleTool {
			closing()
		}
		out = append(out, m)
		for i, c := range open {
			if m.Call == c.ID {
				open = append(open[:i:i], open[i+1:]...)
				break
			}
		}
		if m.Role == effect.RoleAssistant {
			open = m.Calls
		}
	}
	closing()
	return out
}

// heard is what an answer means.
type heard struct {
	// messages are the answer and what the model is told of those of its calls that are not made.
	messages []effect.Message
	asks     []effect.Ask
	control  effect.Control
	word     word
	// flaw is why nothing of the answer can be used.
	flaw error
}

func (h heard) into(result *effect.WorkResult) {
	result.Control, result.Asks, result.Reason, result.Patch = h.control, h.asks, h.word.reason, h.word.patch
	if h.control == effect.DisputeTest {
		result.Dispute = &effect.Dispute{Path: h.word.path, Reason: h.word.reason}
	}
	if h.word.summary != "" {
		result.Text = strings.TrimSpace(result.Text + "\n" + h.word.summary)
	}
}

// hear makes out what an answer means. Calls of tools come before the model's word that it is done: that word is given
// back to it with the request to look at the results first. An answer that asks for nothing is the end of the step.
func hear(spec effect.WorkSpec, history []effect.Message, reply Reply) heard {
	said := effect.Message{Role: effect.RoleAssistant, Text: reply.Text, Opaque: reply.Opaque}
	out := heard{}
	var told []effect.Message
	tell := func(c effect.Ask, failed bool, text string) {
		told = append(told, effect.Message{Role: effect.RoleTool, Call: c.ID, Text: text, Failed: failed})
	}
	calls, renamed := unique(history, reply.Calls)
	if renamed {
		said.Opaque = nil
	}
	var ending *effect.Ask
	for i, c := range calls {
		var w word
		err := agent.Strict(c.Args)
		if err != nil {
			// The conversation is kept as JSON, and has to stay readable to whoever gets it next.
			calls[i].Args, said.Opaque = unreadable(c.Args), nil
		} else if isControl(c.Name) {
			w, err = read(spec, c)
		}
		switch {
		case err != nil:
			out.flaw = fmt.Errorf("%s: %w", c.Name, err)
			tell(c, true, "Not made, because the arguments cannot be used: "+err.Error())
		case !isControl(c.Name):
			out.asks = append(out.asks, c)
		case ending != nil:
			tell(c, true, "Not taken: one ending is enough.")
		default:
			ending, out.control, out.word = &c, effect.Control(c.Name), w
		}
	}
	said.Calls = calls
	switch {
	case len(out.asks) > 0:
		if ending != nil {
			tell(*ending, true, "Not taken: look at the results of the other calls first.")
		}
		out.control, out.word, out.flaw = effect.Calls, word{}, nil
	case out.flaw != nil:
		if ending != nil {
			tell(*ending, true, "Not taken: another call of the same answer cannot be used.")
		}
	case ending != nil:
		tell(*ending, false, "noted")
	default:
		out.control = effect.StepDone
	}
	out.messages = append([]effect.Message{said}, told...)
	return out
}

// word is what a control word says beside itself.
type word struct {
	summary, reason, path string
	patch                 *plan.Patch
}

// read reads a control word exactly: a field that its schema does not know is a mistake, not something to be passed
// over.
func read(spec effect.WorkSpec, c effect.Ask) (word, error) {
	var schema json.RawMessage
	for _, t := range controls() {
		if t.Name == c.Name {
			schema = t.Schema
		}
	}
	if err := fits(string(schema), c.Args); err != nil {
		return word{}, err
	}
	var args struct {
		Summary string          `json:"summary"`
		Reason  string          `json:"reason"`
		Path    string          `json:"path"`
		Patch   json.RawMessage `json:"patch"`
	}
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return word{}, err
	}
	w := word{summary: args.Summary, reason: args.Reason, path: args.Path}
	if effect.Control(c.Name) != effect.StepDone && strings.TrimSpace(w.reason) == "" {
		return w, errors.New("the reason is empty")
	}
	if effect.Control(c.Name) != effect.Replan {
		return w, nil
	}
	patch, _, err := plan.DecodePatch("patch", args.Patch)
	if err != nil {
		return w, err
	}
	patch.Reason = w.reason
	now := spec.Plan.Clone()
	if i, ok := now.Find(spec.Step); ok && now.Steps[i].Status == plan.InProgress {
		now.Steps[i].Status = plan.Pending
	}
	if len(now.Steps) > 0 {
		// Whether the plan may have so many steps the kernel knows; whether the patch fits the plan can be said here.
		if _, err := plan.Apply(now, patch, plan.Limits{MaxSteps: 30}); err != nil {
			return w, err
		}
	}
	w.patch = &patch
	return w, nil
}

// unreadable keeps arguments that are not what they should be as an object that says so.
func unreadable(args json.RawMessage) json.RawMessage {
	text := strings.ToValidUTF8(string(args), "�")
	raw, err := json.Marshal(map[string]string{"unreadable": display.Head(text, 2000)})
	if err != nil {
		return json.RawMessage(`{}`) // cannot happen: a map of strings encodes
	}
	return raw
}

// unique gives calls ids that the conversation does not have yet, because some servers number them anew in each answer,
// and says whether one had to change.
func unique(history []effect.Message, calls []effect.Ask) (out []effect.Ask, renamed bool) {
	used := map[string]bool{}
	for _, m := range history {
		for _, c := range m.Calls {
			used[c.ID] = true
		}
	}
	out = append(out, calls...)
	for i := range out {
		id := out[i].ID
		for n := 2; used[out[i].ID]; n++ {
			out[i].ID = id + "_" + strconv.Itoa(n)
			renamed = true
		}
		used[out[i].ID] = true
	}
	return out, renamed
}
