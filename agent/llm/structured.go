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
	q, found, err := agent.PlanQuestion(spec, x.a.config.Tools, x.a.config.Limits, x.chinese)
	if err != nil {
		return effect.PlanResult{}, err
	}
	said, err := x.structured(ctx, q, x.a.config.Planning)
	if err = q.Failed(err); err != nil {
		return effect.PlanResult{}, err
	}
	return effect.PlanResult{Said: said, Plan: found}, nil
}

// intake has a model judge a requirement.
func (x exchange) intake(ctx context.Context, e effect.Effect) (effect.IntakeResult, error) {
	spec, err := effect.Decode[effect.IntakeSpec](e.Spec)
	if err != nil {
		return effect.IntakeResult{}, err
	}
	q, found, err := agent.IntakeQuestion(spec, x.chinese)
	if err != nil {
		return effect.IntakeResult{}, err
	}
	said, err := x.structured(ctx, q, x.a.config.Intent)
	if err = q.Failed(err); err != nil {
		return effect.IntakeResult{}, err
	}
	return found.Result(spec, said), nil
}

// review has a model look at work that is done. It is a conversation of its own, without tools.
func (x exchange) review(ctx context.Context, e effect.Effect) (effect.ReviewResult, error) {
	spec, err := effect.Decode[effect.ReviewSpec](e.Spec)
	if err != nil {
		return effect.ReviewResult{}, err
	}
	q, found := agent.ReviewQuestion(spec, x.chinese)
	said, err := x.structured(ctx, q, x.a.config.Review)
	return effect.ReviewResult{Said: said, Objections: *found}, err
}

// rewrite has a model look at a disputed test once more.
func (x exchange) rewrite(ctx context.Context, e effect.Effect) (effect.RewriteResult, error) {
	spec, err := effect.Decode[effect.RewriteSpec](e.Spec)
	if err != nil {
		return effect.RewriteResult{}, err
	}
	q, found := agent.RewriteQuestion(spec, x.chinese)
	found.Said, err = x.structured(ctx, q, x.a.config.Planning)
	return *found, err
}

// structured asks for one document. Malformed output is shown to the model once, with what is wrong with it. A server
// that knows no schemas is told of it in words.
func (x exchange) structured(ctx context.Context, q agent.Question, model string) (effect.Said, error) {
	x.chinese = q.Chinese
	r := Request{Name: q.Purpose, Schema: json.RawMessage(q.Schema),
		Messages: []effect.Message{{Role: effect.RoleUser, Text: q.Text}}}
	var usage effect.Usage
	for try := 0; ; try++ {
		reply, said, err := x.ask(ctx, q.Purpose, model, r)
		if schemaRefused(err) && r.Schema != nil {
			usage = usage.Plus(said.Usage)
			r.Schema = nil
			r.Messages[0].Text += q.Form()
			reply, said, err = x.ask(ctx, q.Purpose, model, r)
		}
		usage = usage.Plus(said.Usage)
		said.Usage = usage
		if err != nil {
			return said, err
		}
		if err = q.Read(reply.Text); err == nil {
			return said, nil
		}
		if try > 0 {
			return said, pawl.Fail(pawl.CodeModel, "llm.malformed_twice", q.Purpose).Because(err).In("llm.Do")
		}
		r.Messages = append(r.Messages, effect.Message{Role: effect.RoleAssistant, Text: first(reply.Text, "-")},
			effect.Message{Role: effect.RoleUser, Text: agent.Again(err)})
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
