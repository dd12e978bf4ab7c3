package llm

import (
	"encoding/json"

	"pawl"
	"pawl/agent/wire"
	"pawl/effect"
)

func geminiRequest(r Request) object {
	said := turns{list: []object{}, field: "parts"}
	names := map[string]string{}
	for _, m := range r.Messages {
		switch m.Role {
		case effect.RoleTool:
			answer := object{"output": m.Text}
			if m.Failed {
				answer = object{"error": m.Text}
			}
			said.add("user", []any{object{"functionResponse": object{"id": m.Call, "name": names[m.Call], "response": answer}}})
		case effect.RoleAssistant:
			for _, c := range m.Calls {
				names[c.ID] = c.Name
			}
			said.add("model", geminiSaid(m))
		default:
			said.add("user", []any{object{"text": m.Text}})
		}
	}
	config := object{}
	if r.MaxOut > 0 {
		config["maxOutputTokens"] = r.MaxOut
	}
	if r.Schema != nil {
		config["responseMimeType"], config["responseJsonSchema"] = "application/json", titled(r.Schema, r.Name)
	}
	body := object{"contents": said.list, "generationConfig": config}
	if r.System != "" {
		body["systemInstruction"] = object{"parts": []any{object{"text": r.System}}}
	}
	functions := []object{}
	for _, t := range r.Tools {
		functions = append(functions, object{"name": t.Name, "description": t.Description, "parametersJsonSchema": t.Schema})
	}
	if len(functions) > 0 {
		body["tools"] = []object{{"functionDeclarations": functions}}
	}
	return body
}

// titled names a schema, since the form has no other place for its name.
func titled(schema json.RawMessage, name string) any {
	var s map[string]json.RawMessage
	if json.Unmarshal(schema, &s) != nil {
		return schema
	}
	s["title"], _ = json.Marshal(name) // a string always encodes
	return s
}

// geminiSaid is an assistant's message: in the provider's own words where they were kept, the ids of calls completed where
// the provider gave none, so that answers can name them.
func geminiSaid(m effect.Message) []any {
	var kept []map[string]json.RawMessage
	out := []any{}
	if raw := foreign(wire.Gemini, m.Opaque); raw != nil && json.Unmarshal(raw, &kept) == nil && len(kept) > 0 {
		n := 0
		for _, part := range kept {
			var call map[string]json.RawMessage
			if raw, ok := part["functionCall"]; ok && json.Unmarshal(raw, &call) == nil && call != nil && n < len(m.Calls) {
				call["id"], _ = json.Marshal(m.Calls[n].ID)  // a string always encodes
				part["functionCall"], _ = json.Marshal(call) // so does raw JSON
				n++
			}
			out = append(out, part)
		}
		return out
	}
	if m.Text != "" {
		out = append(out, object{"text": m.Text})
	}
	for _, c := range m.Calls {
		part := object{"functionCall": object{"id": c.ID, "name": c.Name, "args": c.Args}}
		if signature := foreign(wire.Gemini, c.Opaque); signature != nil {
			part["thoughtSignature"] = signature
		}
		out = append(out, part)
	}
	if len(out) == 0 {
		out = append(out, object{"text": "-"})
	}
	return out
}

// geminiAnswer is an answer in the making; parts keeps it in the provider's own words.
type geminiAnswer struct {
	gathered
	parts []json.RawMessage
}

func (s *geminiAnswer) take(data []byte) (bool, error) {
	var c wire.GeminiAnswer
	if err := json.Unmarshal(data, &c); err != nil {
		return false, malformed(err)
	}
	if wire.Given(c.Error) {
		return false, s.midway(data)
	}
	if c.Model != "" {
		s.model = c.Model
	}
	if u := c.Usage; u != nil {
		s.usage = effect.Usage{Requests: 1, InTokens: u.Prompt, CachedTokens: u.Cached, OutTokens: u.Out()}
	}
	if c.Feedback.Block != "" {
		return true, pawl.Fail(pawl.CodeModel, "llm.filtered", c.Feedback.Block).In("llm.Stream")
	}
	if len(c.Candidates) == 0 {
		return false, nil
	}
	for _, raw := range c.Candidates[0].Content.Parts {
		if err := s.part(raw); err != nil {
			return false, err
		}
	}
	if s.finish = c.Candidates[0].Finish; s.finish == "" {
		return false, nil
	}
	s.opaque, _ = json.Marshal(s.parts) // raw JSON always encodes
	return true, s.ended()
}

func (s *geminiAnswer) part(raw json.RawMessage) error {
	var p wire.GeminiPart
	var call *wire.GeminiCall
	err := json.Unmarshal(raw, &p)
	if err == nil && wire.Given(p.Call) {
		err = json.Unmarshal(p.Call, &call)
	}
	if err != nil {
		return malformed(err)
	}
	s.parts = append(s.parts, raw)
	if p.Thought {
		s.seen += len(p.Text)
	} else {
		s.say(p.Text)
	}
	if call == nil {
		return nil
	}
	c := s.call()
	c.id, c.name, c.opaque = call.ID, call.Name, p.Signature
	c.grow(&s.gathered, string(call.Args))
	return nil
}
