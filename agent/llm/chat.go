package llm

import (
	"encoding/json"
	"strings"

	"pawl/agent/wire"
	"pawl/kernel/effect"
)

// chatRequest is a request in the form that OpenAI, vLLM, llama.cpp, Ollama, OpenRouter and many others understand.
func chatRequest(r Request, endpoint string) wire.ChatRequest {
	out := wire.ChatRequest{
		Model: r.Model, Messages: []wire.ChatTurn{}, Stream: true, Options: wire.StreamOptions{Usage: true},
	}
	if r.System != "" {
		out.Messages = append(out.Messages, wire.ChatTurn{Role: wire.RoleSystem, Content: r.System})
	}
	for _, m := range r.Messages {
		switch m.Role {
		case effect.RoleTool:
			out.Messages = append(out.Messages, wire.ChatTurn{Role: wire.RoleTool, Call: &m.Call, Content: m.Text})
		case effect.RoleAssistant:
			out.Messages = append(out.Messages, chatSaid(m))
		default:
			out.Messages = append(out.Messages, wire.ChatTurn{Role: wire.RoleUser, Content: m.Text})
		}
	}
	// OpenAI's own newer models refuse the old name of the bound, which is the only one that most other servers know.
	if bound := max(r.MaxOut, 0); strings.HasPrefix(endpoint, "https://api.openai.com/") {
		out.MaxCompletionTokens = bound
	} else {
		out.MaxTokens = bound
	}
	for _, t := range r.Tools {
		tool := wire.ChatTool{Type: wire.Function}
		tool.Function.Name, tool.Function.Description, tool.Function.Parameters = t.Name, t.Description, t.Schema
		out.Tools = append(out.Tools, tool)
	}
	if r.Schema != nil {
		out.Format.Type, out.Format.Schema.Name, out.Format.Schema.Schema = wire.JSONSchema, r.Name, r.Schema
	}
	return out
}

func chatSaid(m effect.Message) wire.ChatTurn {
	said := wire.ChatTurn{Role: wire.RoleAssistant, Content: m.Text}
	for _, c := range m.Calls {
		call := wire.ChatCall{ID: c.ID, Type: wire.Function, Extra: foreign(wire.Chat, c.Opaque)}
		call.Function.Name, call.Function.Arguments = c.Name, string(c.Args)
		said.Calls = append(said.Calls, call)
	}
	if len(m.Calls) > 0 {
		said.Reasoning = foreign(wire.Chat, m.Opaque)
	}
	return said
}

// chatAnswer is an answer in the making. At are the newest calls by their index.
type chatAnswer struct {
	gathered
	thoughts strings.Builder
	at       map[int]*piece
}

func (s *chatAnswer) take(data []byte) (bool, error) {
	if wire.Done(data) {
		if s.thoughts.Len() > 0 {
			s.opaque, _ = json.Marshal(s.thoughts.String()) // a string always encodes
		}
		return true, s.ended()
	}
	var c wire.ChatAnswer
	if err := json.Unmarshal(data, &c); err != nil {
		return false, malformed(err)
	}
	if wire.Given(c.Error) {
		return false, s.midway(data)
	}
	s.add(c)
	return false, nil
}

// add adds one chunk.
func (s *chatAnswer) add(c wire.ChatAnswer) {
	if c.Model != "" {
		s.model = c.Model
	}
	if u := c.Usage; u != nil {
		s.usage = effect.Usage{Requests: 1, InTokens: u.In, CachedTokens: u.Cached.Tokens, OutTokens: u.Out}
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		s.say(choice.Delta.Content + choice.Delta.Refusal)
		s.thoughts.WriteString(choice.Delta.Reasoning)
		s.seen += len(choice.Delta.Reasoning)
		for _, t := range choice.Delta.Calls {
			s.part(t)
		}
		if choice.Finish != "" {
			s.finish = choice.Finish
		}
	}
}

// part adds a part of a call. Some servers leave out the index, and some give several calls the same one: a call begins
// where its index is new, or where another id than that of the call before is named, or without an index a name.
func (s *chatAnswer) part(t wire.ChatCall) {
	at := 0
	if t.Index != nil {
		at = *t.Index
	}
	p := s.at[at]
	if p == nil || t.ID != "" && p.id != "" && t.ID != p.id || t.Index == nil && t.ID == "" && t.Function.Name != "" {
		if s.at == nil {
			s.at = map[int]*piece{}
		}
		p = s.call()
		s.at[at] = p
	}
	if t.ID != "" {
		p.id = t.ID
	}
	if p.name == "" {
		p.name = t.Function.Name
	} else if t.Function.Name != "" && t.Function.Name != p.name {
		p.name += t.Function.Name
	}
	if len(t.Extra) > 0 {
		p.opaque = t.Extra
	}
	p.grow(&s.gathered, t.Function.Arguments)
}
