package llm

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"pawl/agent/wire"
	"pawl/kernel/effect"
)

// responsesRequest is a request in the form that OpenAI's newer models think better in, and some speak alone. Nothing
// is stored at the provider: the conversation goes along whole, with what the model thought in a form that only the
// provider can read.
func responsesRequest(r Request) wire.ResponsesRequest {
	out := wire.ResponsesRequest{
		Model: r.Model, Input: []any{}, Stream: true, Instructions: r.System, MaxTokens: max(r.MaxOut, 0),
	}
	for _, m := range r.Messages {
		switch m.Role {
		case effect.RoleTool:
			out.Input = append(out.Input, wire.ResponsesResult{Type: wire.ItemResult, Call: m.Call, Output: m.Text})
		case effect.RoleAssistant:
			out.Input = append(out.Input, responsesSaid(m)...)
		default:
			turn := wire.ResponsesTurn{Type: wire.ItemMessage, Role: wire.RoleUser, Content: m.Text}
			out.Input = append(out.Input, turn)
		}
	}
	if thinks(r.Model) {
		out.Include = []string{"reasoning.encrypted_content"}
	}
	for _, t := range r.Tools {
		tool := wire.ResponsesTool{Type: wire.Function, Name: t.Name, Description: t.Description, Parameters: t.Schema}
		out.Tools = append(out.Tools, tool)
	}
	if f := &out.Text.Format; r.Schema != nil {
		f.Type, f.Name, f.Schema = wire.JSONSchema, r.Name, r.Schema
	}
	return out
}

// thoughtless are the beginnings of the names of models that do not think before they speak, and refuse to be asked
// for their thoughts.
var thoughtless = []string{"gpt-3", "gpt-4", "chatgpt-4"}

func thinks(model string) bool {
	name := model[strings.LastIndexByte(model, '/')+1:]
	return !slices.ContainsFunc(thoughtless, func(p string) bool { return strings.HasPrefix(name, p) })
}

// responsesSaid are the items of an assistant's message: in the provider's own words where they were kept.
func responsesSaid(m effect.Message) (out []any) {
	for _, item := range ownWords[json.RawMessage](wire.Responses, m) {
		out = append(out, item)
	}
	if len(out) > 0 {
		return out
	}
	if m.Text != "" {
		out = append(out, wire.ResponsesTurn{Type: wire.ItemMessage, Role: wire.RoleAssistant, Content: m.Text})
	}
	for _, c := range m.Calls {
		out = append(out, wire.ResponsesCall{Type: wire.ItemCall, Call: c.ID, Name: c.Name, Args: string(c.Args)})
	}
	return out
}

// responsesAnswer is an answer in the making. Items are those that were begun, by their places.
type responsesAnswer struct {
	gathered
	items []*responsesItem
}

// responsesItem is one item of an answer.
type responsesItem struct {
	own   json.RawMessage // in the provider's own words; nil until it is done
	heard int             // bytes of it that came in pieces
}

// take takes one event. An answer is whole with response.completed alone.
func (s *responsesAnswer) take(data []byte) (bool, error) {
	var v wire.ResponsesEvent
	if err := json.Unmarshal(data, &v); err != nil {
		return false, malformed(err)
	}
	s.known(v)
	switch v.Type {
	case wire.ResponsesItemAdded:
		return false, s.open(v)
	case wire.ResponsesText, wire.ResponsesRefusal:
		s.say(v.Delta)
		s.hear(v, 0)
	case wire.ResponsesArguments, wire.ResponsesSummary, wire.ResponsesReasoning:
		s.hear(v, len(v.Delta))
	case wire.ResponsesItemDone:
		return false, s.close(v)
	case wire.ResponsesCompleted:
		s.finish = wire.Stop
		return true, s.complete(v)
	case wire.ResponsesIncomplete:
		switch s.finish = v.Response.Incomplete.Reason; s.finish {
		case "", "content_filter":
		case "max_output_tokens":
			s.finish = wire.Length
		default:
			s.finish = "incomplete: " + s.finish // which is no good end, whatever the reason is called
		}
		return true, s.ended()
	case wire.ResponsesFailed, wire.EventError:
		return false, s.midway(data)
	}
	return false, nil
}

// known notes what an event says of the whole answer.
func (s *responsesAnswer) known(v wire.ResponsesEvent) {
	if v.Response.Model != "" {
		s.model = v.Response.Model
	}
	if u := v.Response.Usage; u != nil {
		s.usage = effect.Usage{Requests: 1, InTokens: u.In, CachedTokens: u.Cached.Tokens, OutTokens: u.Out}
	}
}

// open begins an item.
func (s *responsesAnswer) open(v wire.ResponsesEvent) error {
	if v.At != len(s.items) || len(s.items) >= 3*maxAsked {
		return malformed(errors.New("an item out of its order"))
	}
	s.items = append(s.items, &responsesItem{})
	return nil
}

// hear counts a piece of an item; unsaid are the bytes of it that are not counted yet.
func (s *responsesAnswer) hear(v wire.ResponsesEvent, unsaid int) {
	s.seen += unsaid
	if v.At >= 0 && v.At < len(s.items) {
		s.items[v.At].heard += len(v.Delta)
	}
}

// close takes a whole item. What it says in the end is what counts, whatever its pieces were.
func (s *responsesAnswer) close(v wire.ResponsesEvent) error {
	if v.At < 0 || v.At >= len(s.items) || s.items[v.At].own != nil {
		return malformed(errors.New("an item that is not open"))
	}
	s.items[v.At].own = v.Item
	return nil
}

// complete takes the terminal event: every item that was begun is done, and what they ask for counts.
func (s *responsesAnswer) complete(v wire.ResponsesEvent) error {
	if len(s.items) == 0 {
		// Servers that tell of no items give them with the end.
		for _, item := range v.Response.Output {
			s.items = append(s.items, &responsesItem{own: item})
		}
	}
	kept := []json.RawMessage{}
	for _, item := range s.items {
		if item.own == nil {
			return malformed(errors.New("an item was never finished"))
		}
		if err := s.item(item); err != nil {
			return err
		}
		kept = append(kept, item.own)
	}
	if len(kept) > 0 {
		s.opaque, _ = json.Marshal(kept) // raw JSON always encodes
	}
	return s.ended()
}

// item takes what one item says or asks for.
func (s *responsesAnswer) item(i *responsesItem) error {
	var v wire.ResponsesItem
	if err := json.Unmarshal(i.own, &v); err != nil {
		return malformed(err)
	}
	switch v.Type {
	case wire.ItemMessage:
		for _, c := range v.Content {
			if i.heard == 0 {
				s.say(c.Text + c.Refusal)
			}
		}
	case wire.ItemCall:
		p := s.call()
		p.id, p.name = v.Call, v.Name
		p.args.WriteString(v.Args)
		s.seen += max(len(v.Args)-i.heard, 0)
	}
	return nil
}
