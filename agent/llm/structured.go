package llm

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"pawl"
	"pawl/agent"
	"pawl/kernel/effect"
	"pawl/text/plan"
)

// fits holds a document against a schema.
func fits(schema string, raw []byte) error {
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(schema), &s); err != nil {
		return err
	}
	form, err := s.Resolve(nil)
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	return form.Validate(v)
}

// plan asks for a plan.
func (x exchange) plan(ctx context.Context, e effect.Effect) (effect.PlanResult, error) {
	spec, err := effect.Decode[effect.PlanSpec](e.Spec)
	if err != nil {
		return effect.PlanResult{}, err
	}
	if given, ok, err := agent.Given(spec, effect.Said{Agent: Name}); ok || err != nil {
		return given, err
	}
	if strings.TrimSpace(spec.Requirement) == "" {
		return effect.PlanResult{}, pawl.Fail(pawl.CodeInvalid, "script.empty_requirement").In("llm.Plan")
	}
	var proposed plan.Plan
	text := agent.Section("Requirement", spec.Requirement) + answers(spec.Answers)
	for _, f := range spec.Feedback {
		text += agent.Section("Feedback on an earlier plan", f)
	}
	text += facts(spec.Context) + pack(spec.Context.Pack)
	said, err := x.structured(ctx, "plan", x.a.config.Planning, planSchema, text, func(raw []byte) (err error) {
		proposed, err = x.a.proposal(raw, spec.Requirement)
		return err
	})
	if err != nil {
		return effect.PlanResult{}, err
	}
	return effect.PlanResult{Said: said, Plan: &proposed}, nil
}

// structured asks for one document. Malformed output is shown to the model once, with what is wrong with it. A server
// that knows no schemas is told of it in words.
func (x exchange) structured(ctx context.Context, purpose, model, schema, text string,
	read func([]byte) error) (effect.Said, error) {
	r := Request{Name: purpose, Schema: json.RawMessage(schema),
		Messages: []effect.Message{{Role: effect.RoleUser, Text: text}}}
	var usage effect.Usage
	for try := 0; ; try++ {
		reply, said, err := x.ask(ctx, purpose, model, r)
		if schemaRefused(err) && r.Schema != nil {
			usage = usage.Plus(said.Usage)
			r.Schema = nil
			r.Messages[0].Text += agent.Section("Form", "The JSON schema of the answer is:\n"+schema)
			reply, said, err = x.ask(ctx, purpose, model, r)
		}
		usage = usage.Plus(said.Usage)
		said.Usage = usage
		if err != nil {
			return said, err
		}
		raw := document(reply.Text)
		if err = strict(raw); err == nil {
			err = read(raw)
		}
		if err == nil {
			return said, nil
		}
		if try > 0 {
			return said, pawl.Fail(pawl.CodeModel, "llm.malformed_twice", purpose).Because(err).In("llm.Do")
		}
		r.Messages = append(r.Messages, effect.Message{Role: effect.RoleAssistant, Text: first(reply.Text, "-")},
			effect.Message{Role: effect.RoleUser, Text: agent.Section("Your answer cannot be used", err.Error()+
				"\nGive the whole document again, corrected, and nothing else.")})
	}
}

// schemaRefused reports whether a server refused a request because it asks for a document of a schema.
func schemaRefused(err error) bool {
	var e *pawl.Error
	if !errors.As(err, &e) || e.Key != "llm.refused" || e.Err == nil {
		return false
	}
	said := strings.ToLower(e.Err.Error())
	return strings.Contains(said, "response_format") || strings.Contains(said, "json_schema") ||
		strings.Contains(said, "jsonschema")
}

// document finds the JSON document in a text: models like to wrap it into a fence.
func document(text string) []byte {
	text = strings.TrimSpace(text)
	if i, j := strings.Index(text, "{"), strings.LastIndex(text, "}"); i >= 0 && j > i {
		return []byte(text[i : j+1])
	}
	return []byte(text)
}
