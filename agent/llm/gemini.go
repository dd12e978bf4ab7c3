package llm

import (
	"encoding/json"

	"pawl"
	"pawl/agent/wire"
	"pawl/kernel/effect"
)

func geminiRequest(r Request) wire.GeminiRequest {
	said := turns{}
	names := map[string]string{}
	for _, m := range r.Messages {
		switch m.Role {
		case effect.RoleTool:
			answer := map[string]string{"output": m.Text}
			if m.Failed {
				answer = map[string]string{"error": m.Text}
			}
			result := wire.GeminiResult{ID: m.Call, Name: names[m.Call], Response: answer}
			said.add(wire.RoleUser, wire.GeminiSaid{Result: &result})
		case effect.RoleAssistant:
			for _, c := range m.Calls {
				names[c.ID] = c.Name
			}
			said.add(wire.RoleModel, geminiSaid(m)...)
		default:
			said.add(wire.RoleUser, wire.GeminiSaid{Text: &m.Text})
		}
	}
	out := wire.GeminiRequest{Contents: []wire.GeminiTurn{}}
	for _, t := range said {
		out.Contents = append(out.Contents, wire.GeminiTurn{Role: t.Role, Parts: t.Content})
	}
	out.Config.MaxTokens = max(r.MaxOut, 0)
	if r.Schema != nil {
		out.Config.Mime, out.Config.JSONSchema = "application/json", titled(r.Schema, r.Name)
	}
	if r.System != "" {
		out.System.Parts = []any{wire.GeminiSaid{Text: &r.System}}
	}
	var functions []wire.GeminiFunction
	for _, t := range r.Tools {
		function := wire.GeminiFunction{Name: t.Name, Description: t.Description, JSONSchema: t.Schema}
		functions = append(functions, function)
	}
	if len(functions) > 0 {
		out.Tools = []wire.GeminiTools{{Functions: functions}}
	}
	return out
}

// titled names a schema, since the form has no other place for its name.
func titled(schema json.RawMessage, name string) json.RawMessage {
	var s map[string]json.RawMessage
	if json.Unmarshal(schema, &s) != nil {
		return schema
	}
	s["title"], _ = json.Marshal(name) // a string always encodes
	named, _ := json.Marshal(s)        // so does raw JSON
	return named
}

// geminiSaid is an assistant's message: in the provider's own words where they were kept, the ids of calls completed
// where the provider gave none, so that answers can name them.
func geminiSaid(m effect.Message) (out []any) {
	n := 0
	for _, part := range ownWords[map[string]json.RawMessage](wire.Gemini, m) {
		var call map[string]json.RawMessage
		if raw, ok := part["functionCall"]; ok && json.Unmarshal(raw, &call) == nil && call != nil && n < len(m.Calls) {
			call["id"], _ = json.Marshal(m.Calls[n].ID)  // a string always encodes
			part["functionCall"], _ = json.Marshal(call) // so does raw JSON
			n++
		}
		out = append(out, part)
	}
	if len(out) > 0 {
		return out
	}
	if m.Text != "" {
		out = append(out, wire.GeminiSaid{Text: &m.Text})
	}
	for _, c := range m.Calls {
		call := &wire.GeminiCall{ID: c.ID, Name: c.Name, Args: c.Args}
		out = append(out, wire.GeminiSaid{Call: call, Signature: foreign(wire.Gemini, c.Opaque)})
	}
	if len(out) == 0 {
		out = append(out, wire.GeminiSaid{Text: new("-")})
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
