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

// geminiChunk is one event of the stream.
type geminiChunk struct {
	Candidates []struct {
		Content struct {
			Parts []json.RawMessage `json:"parts"`
		} `json:"content"`
		Finish string `json:"finishReason"`
	} `json:"candidates"`
	Feedback struct {
		Block string `json:"blockReason"`
	} `json:"promptFeedback"`
	Model string `json:"modelVersion"`
	Usage *struct {
		Prompt   int64 `json:"promptTokenCount"`
		Cached   int64 `json:"cachedContentTokenCount"`
		Answer   int64 `json:"candidatesTokenCount"`
		Thoughts int64 `json:"thoughtsTokenCount"`
	} `json:"usageMetadata"`
	Error json.RawMessage `json:"error"`
}

// geminiAnswer is an answer in the making; parts keeps it in the provider's own words.
type geminiAnswer struct {
	gathered
	parts []json.RawMessage
}

func (s *geminiAnswer) take(data []byte) (bool, error) {
	var c geminiChunk
	if err := json.Unmarshal(data, &c); err != nil {
		return false, malformed(err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return false, s.midway(data)
	}
	if c.Model != "" {
		s.model = c.Model
	}
	if u := c.Usage; u != nil {
		s.usage = effect.Usage{Requests: 1, InTokens: u.Prompt, CachedTokens: u.Cached, OutTokens: u.Answer + u.Thoughts}
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
	var p struct {
		Text      string          `json:"text"`
		Thought   bool            `json:"thought"`
		Signature json.RawMessage `json:"thoughtSignature"`
		Call      *struct {
			ID   string          `json:"id"`
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"functionCall"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return malformed(err)
	}
	s.parts = append(s.parts, raw)
	if p.Thought {
		s.seen += len(p.Text)
	} else {
		s.say(p.Text)
	}
	if p.Call == nil {
		return nil
	}
	c := s.call()
	c.id, c.name, c.opaque = p.Call.ID, p.Call.Name, p.Signature
	c.grow(&s.gathered, string(p.Call.Args))
	return nil
}
