package llm

import (
	"encoding/json"
	"errors"
	"strings"

	"pawl/agent/wire"
	"pawl/effect"
)

// The last message and the system prompt are marked for the provider's cache, so that a long conversation is paid once.
var cached = object{"type": "ephemeral"}

// turns joins messages of the same role, as the form demands.
type turns struct {
	list  []object
	field string
}

func (t *turns) add(role string, content []any) {
	if n := len(t.list); n > 0 && t.list[n-1]["role"] == role {
		t.list[n-1][t.field] = append(t.list[n-1][t.field].([]any), content...)
		return
	}
	t.list = append(t.list, object{"role": role, t.field: content})
}

func messagesRequest(r Request) object {
	said := turns{list: []object{}, field: "content"}
	for _, m := range r.Messages {
		switch m.Role {
		case effect.RoleTool:
			said.add("user", []any{object{"type": "tool_result", "tool_use_id": m.Call, "content": m.Text, "is_error": m.Failed}})
		case effect.RoleAssistant:
			said.add("assistant", messagesSaid(m))
		default:
			said.add("user", []any{object{"type": "text", "text": m.Text}})
		}
	}
	if n := len(said.list); n > 0 && said.list[n-1]["role"] == "user" {
		content := said.list[n-1]["content"].([]any)
		content[len(content)-1].(object)["cache_control"] = cached
	}
	body := object{"model": r.Model, "messages": said.list, "stream": true, "max_tokens": max(r.MaxOut, 1)}
	if r.System != "" {
		body["system"] = []object{{"type": "text", "text": r.System, "cache_control": cached}}
	}
	tools := []object{}
	for _, t := range r.Tools {
		tools = append(tools, object{"name": t.Name, "description": t.Description, "input_schema": t.Schema})
	}
	if r.Schema != nil {
		// The form has no structured answer of its own that all models know; a tool that must be called is one.
		tools = append(tools, object{"name": r.Name, "description": "Give your answer.", "input_schema": r.Schema})
		body["tool_choice"] = object{"type": "tool", "name": r.Name}
	}
	if len(tools) > 0 {
		body["tools"] = tools
	}
	return body
}

// messagesSaid is an assistant's message: in the provider's own words where they were kept.
func messagesSaid(m effect.Message) []any {
	var kept []json.RawMessage
	out := []any{}
	if raw := foreign(wire.Messages, m.Opaque); raw != nil && json.Unmarshal(raw, &kept) == nil && len(kept) > 0 {
		for _, block := range kept {
			out = append(out, block)
		}
		return out
	}
	if m.Text != "" {
		out = append(out, object{"type": "text", "text": m.Text})
	}
	for _, c := range m.Calls {
		out = append(out, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": c.Args})
	}
	if len(out) == 0 {
		out = append(out, object{"type": "text", "text": "-"})
	}
	return out
}

// messagesAnswer is an answer in the making. Blocks keeps it in the provider's own words.
type messagesAnswer struct {
	gathered
	blocks []map[string]json.RawMessage
	piece  *piece                      // the call that the open block is
	grown  map[string]*strings.Builder // what deltas add to fields of the open block; nil while none is open
}

func (s *messagesAnswer) take(data []byte) (bool, error) {
	var v wire.MessagesEvent
	if err := json.Unmarshal(data, &v); err != nil {
		return false, malformed(err)
	}
	switch v.Type {
	case wire.MessageStart:
		u := v.Message.Usage
		s.model, s.written = v.Message.Model, u.Created
		s.usage = effect.Usage{Requests: 1, InTokens: u.All(), CachedTokens: u.Read, OutTokens: u.Out}
	case wire.BlockStart:
		return false, s.open(v)
	case wire.BlockDelta:
		if s.grown == nil || v.Index != len(s.blocks)-1 {
			return false, malformed(errors.New("a piece of a block that is not open"))
		}
		s.grow(v.Delta.Text, v.Delta.JSON, v.Delta.Thinking, v.Delta.Signature)
	case wire.BlockStop:
		s.close()
	case wire.MessageDelta:
		if v.Delta.Stop != "" {
			s.finish = v.Delta.Stop
		}
		if v.Usage != nil {
			s.usage.OutTokens = max(s.usage.OutTokens, v.Usage.Out)
		}
	case wire.MessageStop:
		if s.grown != nil {
			return true, malformed(errors.New("a block was never closed"))
		}
		s.opaque, _ = json.Marshal(s.blocks) // raw JSON always encodes
		return true, s.ended()
	case wire.EventError:
		return false, s.midway(data)
	}
	return false, nil
}

func (s *messagesAnswer) open(v wire.MessagesEvent) error {
	if s.grown != nil || v.Index != len(s.blocks) || v.Block == nil || len(s.blocks) >= 2*maxAsked {
		return malformed(errors.New("a block out of its order"))
	}
	s.blocks = append(s.blocks, v.Block)
	s.piece, s.grown = nil, map[string]*strings.Builder{}
	switch wire.Text(v.Block["type"]) {
	case wire.BlockToolUse:
		s.piece = s.call()
		s.piece.id, s.piece.name = wire.Text(v.Block["id"]), wire.Text(v.Block["name"])
	case wire.BlockText:
		s.grow(wire.Text(v.Block["text"]), "", "", "")
	}
	return nil
}

func (s *messagesAnswer) grow(text, args, thinking, signature string) {
	s.say(text)
	s.seen += len(thinking)
	if s.piece != nil {
		s.piece.grow(&s.gathered, args)
	}
	s.add("text", text)
	s.add("thinking", thinking)
	s.add("signature", signature)
}

func (s *messagesAnswer) add(field, more string) {
	if more == "" {
		return
	}
	if s.grown[field] == nil {
		s.grown[field] = &strings.Builder{}
	}
	s.grown[field].WriteString(more)
}

func (s *messagesAnswer) close() {
	if s.grown == nil {
		return
	}
	block := s.blocks[len(s.blocks)-1]
	for field, text := range s.grown {
		block[field], _ = json.Marshal(text.String()) // a string always encodes
	}
	if s.piece != nil {
		// Servers that know no pieces give the arguments with the block itself.
		if args := s.piece.args.String(); args == "" {
			s.piece.grow(&s.gathered, string(block["input"]))
		} else if json.Valid([]byte(args)) {
			block["input"] = json.RawMessage(args)
		}
	}
	s.piece, s.grown = nil, nil
}
