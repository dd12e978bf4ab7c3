package llm

import (
	"encoding/json"
	"strings"

	"pawl/agent/wire"
	"pawl/effect"
)

// object is a JSON object.
type object = map[string]any

func chatRequest(r Request, endpoint string) object {
	messages := []object{}
	if r.System != "" {
		messages = append(messages, object{"role": "system", "content": r.System})
	}
	for _, m := range r.Messages {
		switch m.Role {
		case effect.RoleTool:
			messages = append(messages, object{"role": "tool", "tool_call_id": m.Call, "content": m.Text})
		case effect.RoleAssistant:
			messages = append(messages, chatSaid(m))
		default:
			messages = append(messages, object{"role": "user", "content": m.Text})
		}
	}
	body := object{"model": r.Model, "messages": messages, "stream": true, "stream_options": object{"include_usage": true}}
	if r.MaxOut > 0 {
		body[bound(endpoint)] = r.MaxOut
	}
	tools := []object{}
	for _, t := range r.Tools {
		tools = append(tools, object{"type": "function", "function": object{"name": t.Name, "description": t.Description, "parameters": t.Schema}})
	}
	if len(tools) > 0 {
		body["tools"] = tools
	}
	if r.Schema != nil {
		body["response_format"] = object{"type": "json_schema", "json_schema": object{"name": r.Name, "schema": r.Schema}}
	}
	return body
}

// bound is the field that bounds the answer. OpenAI's own newer models refuse the old name, which is the only one that most
// other servers know.
func bound(endpoint string) string {
	if strings.HasPrefix(endpoint, "https://api.openai.com/") {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

func chatSaid(m effect.Message) object {
	said := object{"role": "assistant", "content": m.Text}
	if len(m.Calls) == 0 {
		return said
	}
	calls := []object{}
	for _, c := range m.Calls {
		call := object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": string(c.Args)}}
		if extra := foreign(wire.Chat, c.Opaque); extra != nil {
			call["extra_content"] = extra
		}
		calls = append(calls, call)
	}
	said["tool_calls"] = calls
	if thoughts := foreign(wire.Chat, m.Opaque); thoughts != nil {
		said["reasoning_content"] = thoughts
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
