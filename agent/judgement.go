package agent

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"pawl"
	"pawl/kernel/effect"
	"pawl/text/triage"
)

// Judgement is what a model says of a requirement. Its document is held against the text (triage.Decode), so that
// whatever the requirement talks the model into, the form stays and nothing counts that the user did not say.
type Judgement struct {
	text   string
	floor  pawl.Risk // what pawl itself says of the danger, which a model can only raise
	found  triage.Evaluation
	usable bool // there is one
}

// IntakeQuestion asks for a judgement of a requirement, in the language of the person where that is known. The error is
// CodeInvalid for a text that cannot be judged.
func IntakeQuestion(spec effect.IntakeSpec, chinese bool) (Question, *Judgement, error) {
	own, err := triage.Evaluate(spec.Requirement, spec.Replies())
	if err != nil {
		return Question{}, nil, err
	}
	if spec.Lang != "" {
		chinese = strings.HasPrefix(strings.ToLower(spec.Lang), "zh")
	}
	j := &Judgement{text: spec.Text(), floor: own.Risk}
	return Question{
		Purpose: purposeIntake, Chinese: chinese, Schema: intakeForm(),
		Text: Section("Requirement", spec.Requirement) + answersText(spec.Answers),
		take: j.take, usable: func() bool { return j.usable },
	}, j, nil
}

// Result is the judgement as the answer of who made it.
func (j *Judgement) Result(spec effect.IntakeSpec, said effect.Said) effect.IntakeResult {
	j.found.By = said.Agent
	if spec.Continue {
		j.found = j.found.GoOn()
	}
	return effect.IntakeResult{Said: said, Evaluation: j.found}
}

// take takes an answer of the model. Points that rest on nothing that the user said are a reason to ask once more: what
// they are cut to costs a person an answer. The cut document is there in case that the next answer is worse.
func (j *Judgement) take(raw []byte) error {
	e, err := triage.Decode(raw, j.text)
	if err != nil {
		return err
	}
	if !e.Risk.AtLeast(j.floor) {
		e.Risk = j.floor
	}
	again := j.usable
	j.found, j.usable = e, true
	if again {
		return nil
	}
	return triage.Unsaid(raw, j.text)
}

// intakeForm is the published schema as models are shown it: without what only pawl fills in, and without the words
// that some servers refuse or take minutes to follow. Decode holds the answer to all of it.
var intakeForm = sync.OnceValue(func() string {
	var whole map[string]any
	if err := json.Unmarshal(triage.Schema(), &whole); err != nil {
		panic(err) // the schema is part of the program
	}
	defs, _ := whole["$defs"].(map[string]any)
	raw, err := json.Marshal(slim(whole, defs))
	if err != nil {
		panic(err) // maps, lists and texts always encode
	}
	return string(raw)
})

// slim writes the parts of a schema where they are used, and leaves out what models are not told.
func slim(v any, defs map[string]any) any {
	switch v := v.(type) {
	case []any:
		out := []any{}
		for _, part := range v {
			out = append(out, slim(part, defs))
		}
		return out
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			return slim(defs[strings.TrimPrefix(ref, "#/$defs/")], defs)
		}
		out := map[string]any{}
		for name, part := range v {
			switch name {
			case "$schema", "$id", "$defs", "title", "minimum", "maximum", "minLength", "maxLength", "minItems",
				"maxItems":
			case "properties":
				out[name] = slim(told(part), defs)
			case "enum":
				// The empty word says the same as leaving the member out, and some servers take no empty words.
				list, _ := part.([]any)
				out[name] = slices.DeleteFunc(slices.Clone(list), func(word any) bool { return word == "" })
			default:
				out[name] = slim(part, defs)
			}
		}
		return out
	}
	return v
}

// told are the members that a model is to write.
func told(members any) map[string]any {
	out := map[string]any{}
	all, _ := members.(map[string]any)
	for name, part := range all {
		switch name {
		case "by", "as_is", "start", "end", "key", "args":
		default:
			out[name] = part
		}
	}
	return out
}
