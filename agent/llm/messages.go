package llm

import (
	"encoding/json"
	"errors"
	"strings"

	"pawl/agent/wire"
	"pawl/kernel/effect"
)

// The last message and the system prompt are marked for the provider's cache, so that a long conversation is paid once.
var cached = &wire.MessagesCache{Type: "ephemeral"}

// turns joins messages of the same role, as two of the forms demand.
type turns []wire.MessagesTurn

func (t *turns) add(role string, content ...any) {
	if n := len(*t); n > 0 && (*t)[n-1].Role == role {
		(*t)[n-1].Content = append((*t)[n-1].Content, content...)
		return
	}
	*t = append(*t, wire.MessagesTurn{Role: role, Content: content})
}

func messagesRequest(r Request) wire.MessagesRequest {
	said := turns{}
	for _, m := range r.Messages {
		switch m.Role {
		case effect.RoleTool:
			result := wire.MessagesBlock{Type: wire.BlockResult, Call: &m.Call, Content: &m.Text, Failed: &m.Failed}
			said.add(wire.RoleUser, &result)
		case effect.RoleAssistant:
			said.add(wire.RoleAssistant, messagesSaid(m)...)
		default:
			said.add(wire.RoleUser, &wire.MessagesBlock{Type: wire.BlockText, Text: &m.Text})
		}
	}
	if n := len(said); n > 0 && said[n-1].Role == wire.RoleUser {
		content := said[n-1].Content
		content[len(content)-1].(*wire.MessagesBlock).Cache = cached
	}
	out := wire.MessagesRequest{Model: r.Model, Messages: said, Stream: true, MaxTokens: max(r.MaxOut, 1)}
	if r.System != "" {
		out.System = []*wire.MessagesBlock{{Type: wire.BlockText, Text: &r.System, Cache: cached}}
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, wire.MessagesTool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	if r.Schema != nil {
		// The form has no structured answer of its own that all models know; a tool that must be called is one.
		answer := wire.MessagesTool{Name: r.Name, Description: "Give your answer.", Schema: r.Schema}
		out.Tools = append(out.Tools, answer)
		out.Choice = wire.MessagesChoice{Type: wire.ChoiceTool, Name: r.Name}
	}
	return out
}

// ownWords are the parts of an assistant's message in the words of the provider that said it, none where they were
// not kept.
func ownWords[Part any](form wire.Form, m effect.Message) (kept []Part) {
	if raw := foreign(form, m.Opaque); raw == nil || json.Unmarshal(raw, &kept) != nil {
		return nil
	}
	return kept
}

// messagesSaid is an assistant's message: in the provider's own words where they were kept.
func messagesSaid(m effect.Message) (out []any) {
	for _, block := range ownWords[json.RawMessage](wire.Messages, m) {
		out = append(out, block)
	}
	if len(out) > 0 {
		return out
	}
	if m.Text != "" {
		out = append(out, &wire.MessagesBlock{Type: wire.BlockText, Text: &m.Text})
	}
	for _, c := range m.Calls {
		out = append(out, &wire.MessagesBlock{Type: wire.BlockToolUse, ID: c.ID, Name: c.Name, Input: c.Args})
	}
	if len(out) == 0 {
		out = append(out, &wire.MessagesBlock{Type: wire.BlockText, Text: new("-")})
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
