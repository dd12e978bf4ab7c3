package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode"

	"pawl"
	"pawl/kernel/effect"
	"pawl/text/plan"
	"pawl/text/strictjson"
)

// Question is a document that an agent is asked for. Whoever answers, the rules, the form and the check are the same.
type Question struct {
	// Purpose names the document, and the rules that are told to who writes it (Rules).
	Purpose string
	Chinese bool
	// Text is what it is about, and Schema its form as models are shown it.
	Text, Schema string
	// take takes a document, or says what is wrong with it.
	take func(raw []byte) error
	// usable reports whether a document was taken although something is wrong with it.
	usable func() bool
}

// The purposes.
const (
	purposeIntake  = "intake"
	purposePlan    = "plan"
	purposeReview  = "review"
	purposeRewrite = "rewrite"
)

// maxDepth bounds how deep a document of a model may be nested.
const maxDepth = 100

// Read takes the document that is in an answer. The error says what is wrong with it, to whoever wrote it.
func (q Question) Read(answer string) error {
	raw := document(answer)
	if err := Strict(raw); err != nil {
		return err
	}
	return q.take(withoutNulls(raw))
}

// Failed is the error of a question whose answer, corrected once, is still none: nil where the earlier one can be used.
func (q Question) Failed(err error) error {
	if code := pawl.CodeOf(err); q.usable != nil && q.usable() &&
		(code == pawl.CodeModel || code == pawl.CodeEnvironment) {
		return nil
	}
	return err
}

// Form is the part of a prompt that tells the form of the answer.
func (q Question) Form() string {
	return Section("Form: "+q.Purpose, "The JSON schema of the answer is:\n"+q.Schema)
}

// Again is the part of a prompt that tells what is wrong with an answer.
func Again(flaw error) string {
	return Section("Your answer cannot be used", flaw.Error()+
		"\nGive the whole document again, corrected, and nothing else.")
}

// document finds the JSON document in a text: models like to wrap it into a fence, and to talk before they come to it.
func document(text string) []byte {
	inner := func(text string) []byte {
		text = strings.TrimSpace(text)
		if i, j := strings.Index(text, "{"), strings.LastIndex(text, "}"); i >= 0 && j > i {
			return []byte(text[i : j+1])
		}
		return []byte(text)
	}
	all := inner(text)
	if _, fenced, ok := strings.Cut(text, "```json\n"); ok && !json.Valid(all) {
		return inner(fenced)
	}
	return all
}

// Strict reports what keeps a text from being one JSON object that every reader understands alike: text that is no
// object, anything behind it, and keys that repeat or differ by case alone.
func Strict(raw []byte) error {
	v, err := strictjson.Parse(raw, strictjson.Options{Depth: maxDepth, HalfPairs: true})
	if err == nil && v.Kind() != strictjson.Object {
		return errors.New("not a JSON object")
	}
	return err
}

// PlanQuestion asks for a plan. Its steps may call the tools, where there are any; without them they are worked out by
// an agent.
func PlanQuestion(spec effect.PlanSpec, tools []effect.ToolInfo, limits plan.Limits, chinese bool) (Question,
	*plan.Plan, error) {
	if strings.TrimSpace(spec.Requirement) == "" {
		return Question{}, nil, pawl.Fail(pawl.CodeInvalid, "agent.empty_requirement").In("agent.Plan")
	}
	q := Question{Purpose: purposePlan, Chinese: chinese, Schema: planForm(len(tools) > 0),
		Text: Section("Requirement", spec.Requirement) + answersText(spec.Answers)}
	for _, f := range spec.Feedback {
		q.Text += Section("Feedback on an earlier plan", f)
	}
	said := len(q.Text)
	q.Text += FactsText(spec.Context)
	if spec.Context.Pack != nil {
		q.Text += PackText(*spec.Context.Pack)
	}
	found, usable := new(plan.Plan), false
	q.take = func(raw []byte) error {
		p, err := proposal(raw, tools, limits)
		if err != nil {
			return err
		}
		again := usable
		if *found, usable = p, true; again {
			return nil
		}
		return foreign(p, q.Text[:said], chinese)
	}
	q.usable = func() bool { return usable }
	return q, found, nil
}

// foreign says that a plan is not in the language of those who read it, as far as the script shows: what was said is
// mostly Chinese and nothing of the plan is, or the other way round where the person does not read Chinese anyway. That
// is a reason to ask once more; a plan that stays so can be used.
func foreign(p plan.Plan, said string, chinese bool) error {
	prose := p.Goal
	for _, s := range p.Steps {
		prose += " " + s.Title + " " + s.Intent
	}
	for _, c := range p.Criteria {
		prose += " " + c.Text
	}
	chars, others := scripts(said)
	planned, rest := scripts(prose)
	switch {
	case 3*chars > others && planned == 0:
		return errors.New("goal, titles, intents and criteria have to be in Chinese, the language of the requirement")
	case chars == 0 && 3*planned > rest && !chinese:
		return errors.New("goal, titles, intents and criteria have to be in the language of the requirement")
	}
	return nil
}

// scripts counts the characters of a text that are Chinese, and its other letters.
func scripts(text string) (chinese, others int) {
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Han, r):
			chinese++
		case unicode.IsLetter(r):
			others++
		}
	}
	return chinese, others
}

// planForm is the form of a plan as a model gives it: the plan of docs/spec/turn.md#plan without what pawl fills in
// itself.
func planForm(calls bool) string {
	const tools = `,"tool_calls":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["name","args_hint"],"properties":{"name":{"type":"string"},"args_hint":{"type":"object"},"why":{"type":"string"}}}}`
	const form = `{"type":"object","additionalProperties":false,"required":["goal","steps","verification","risk_level"],"properties":{` +
		`"goal":{"type":"string"},"constraints":{"type":"array","items":{"type":"string"}},"risk_level":{"type":"string","enum":["low","medium","high"]},` +
		`"network":{"type":"array","items":{"type":"string"},"description":"package registries that a step has to reach, such as go or npm; nothing else"},` +
		`"criteria":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["id","text","proof"],"properties":{` +
		`"id":{"type":"string"},"text":{"type":"string"},"from":{"type":"string"},"proof":{"type":"string","enum":["check","kept","gone","diff","test","review","person"]},"run":{"type":"string"},` +
		`"tests":{"type":"array","items":{"type":"string"}},"checks":{"type":"array","items":{"type":"string"}},"paths":{"type":"array","items":{"type":"string"}},"texts":{"type":"array","items":{"type":"string"}},` +
		`"files":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["path","content"],"properties":{"path":{"type":"string"},"content":{"type":"string"},"held":{"type":"boolean"}}}}}}},` +
		`"steps":{"type":"array","minItems":1,"items":{"type":"object","additionalProperties":false,"required":["step_id","title","intent"],"properties":{` +
		`"step_id":{"type":"string"},"title":{"type":"string"},"intent":{"type":"string"},"depends_on":{"type":"array","items":{"type":"string"}},` +
		`"expected_artifacts":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["type","value"],"properties":{"type":{"type":"string","enum":["file","command","note"]},"value":{"type":"string"}}}}` +
		tools + `}}},` +
		`"verification":{"type":"object","additionalProperties":false,"required":["mode"],"properties":{` +
		`"mode":{"type":"string","enum":["lint","test","build","custom"]},"commands":{"type":"array","items":{"type":"string"}}}}}}`
	if calls {
		return form
	}
	return strings.Replace(form, tools, "", 1)
}

// proposal reads a plan as a model gave it, as strictly as one of a file, and checks it as every plan is checked. Steps
// are pending whatever the model says, and a verification that proves nothing is not the model's to choose.
func proposal(raw []byte, tools []effect.ToolInfo, limits plan.Limits) (plan.Plan, error) {
	p, at, err := plan.Decode("plan", raw)
	if err != nil {
		return p, err
	}
	p.PlanID, p.CreatedAt = "", plan.Instant{}
	for i := range p.Steps {
		p.Steps[i].Status = plan.Pending
	}
	if v := &p.Verification; v.Mode == plan.VerifyNone {
		*v = plan.VerificationPolicy{Mode: plan.VerifyTest, Commands: []string{}}
	}
	p.Verification.Required, p.Verification.StopOnFail = true, true
	if strings.TrimSpace(string(p.RiskLevel)) == "" {
		p.RiskLevel = pawl.RiskMedium
	}
	limits.Tools = slices.Clone(limits.Tools)
	for _, t := range tools {
		limits.Tools = append(limits.Tools, t.Name)
	}
	if err := plan.Check(p, schemas(tools), limits); err != nil {
		return p, at.Locate(err)
	}
	return p, nil
}

// schemas finds the schema of a tool's arguments by its name.
func schemas(tools []effect.ToolInfo) func(name string) ([]byte, bool) {
	return func(name string) ([]byte, bool) {
		i := slices.IndexFunc(tools, func(t effect.ToolInfo) bool { return t.Name == name })
		if i < 0 {
			return nil, false
		}
		return tools[i].ArgsSchema, true
	}
}

// schemaFile is where a program finds the form of the answer, below its home.
const schemaFile = ".pawl-form.json"

// strictForm writes a schema so that strict readers take it: each object has all of its members, and those that may be
// left out may be null.
func strictForm(schema string) string {
	var v map[string]any
	if err := json.Unmarshal([]byte(schema), &v); err != nil {
		panic(err) // the schemas are part of the program
	}
	raw, err := json.Marshal(tightened(v))
	if err != nil {
		panic(err) // maps, lists and texts always encode
	}
	return string(raw)
}

func tightened(v any) any {
	node, ok := v.(map[string]any)
	if !ok {
		return v
	}
	delete(node, "minItems")
	if items, ok := node["items"]; ok {
		node["items"] = tightened(items)
	}
	members, ok := node["properties"].(map[string]any)
	if !ok {
		return node
	}
	required, _ := node["required"].([]any)
	for name, part := range members {
		part = tightened(part)
		if sub, ok := part.(map[string]any); ok && !slices.Contains(required, any(name)) {
			sub["type"] = []any{sub["type"], "null"}
			if words, ok := sub["enum"].([]any); ok {
				sub["enum"] = append(words, nil)
			}
		}
		members[name] = part
	}
	node["required"] = slices.Sorted(maps.Keys(members))
	return node
}

// withoutNulls leaves members out that are null: some writers have to write all of them.
func withoutNulls(raw []byte) []byte {
	if !bytes.Contains(raw, []byte("null")) {
		return raw
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return raw
	}
	out, err := json.Marshal(given(v))
	if err != nil {
		return raw
	}
	return out
}

func given(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = given(v[i])
		}
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, member any) bool { return member == nil })
		for name := range v {
			v[name] = given(v[name])
		}
	}
	return v
}
