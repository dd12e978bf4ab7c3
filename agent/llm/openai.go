package llm

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"pawl/effect"
)

// openai speaks Chat Completions, which OpenAI, vLLM, llama.cpp, Ollama, OpenRouter and many others understand.
type openai struct{ *Client }

type object = map[string]any

func bearer(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

func (o openai) request(r Request) object {
	messages := []object{}
	if r.System != "" {
		messages = append(messages, object{"role": "system", "content": r.System})
	}
	for _, m := range r.Messages {
		switch m.Role {
		case effect.RoleTool:
			messages = append(messages, object{"role": "tool", "tool_call_id": m.Call, "content": m.Text})
		case effect.RoleAssistant:
			messages = append(messages, openaiSaid(m))
		default:
			messages = append(messages, object{"role": "user", "content": m.Text})
		}
	}
	body := object{"model": r.Model, "messages": messages, "stream": true, "stream_options": object{"include_usage": true}}
	if r.MaxOut > 0 {
		body[o.bound()] = r.MaxOut
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
func (o openai) bound() string {
	if strings.HasPrefix(o.URL, "https://api.openai.com/") {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

func openaiSaid(m effect.Message) object {
	said := object{"role": "assistant", "content": m.Text}
	if len(m.Calls) == 0 {
		return said
	}
	calls := []object{}
	for _, c := range m.Calls {
		call := object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": string(c.Args)}}
		if extra := foreign(OpenAI, c.Opaque); extra != nil {
			call["extra_content"] = extra
		}
		calls = append(calls, call)
	}
	said["tool_calls"] = calls
	if thoughts := foreign(OpenAI, m.Opaque); thoughts != nil {
		said["reasoning_content"] = thoughts
	}
	return said
}

// chunk is one event of the stream. Extra and Reasoning are words of providers that want them back.
type chunk struct {
	Model   string `json:"model"`
	Choices []struct {
		Index int `json:"index"`
		Delta struct {
			Content   string     `json:"content"`
			Refusal   string     `json:"refusal"`
			Reasoning string     `json:"reasoning_content"`
			ToolCalls []callPart `json:"tool_calls"`
		} `json:"delta"`
		Finish string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Details    struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type callPart struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	Extra json.RawMessage `json:"extra_content"`
}

// Stream sends a request.
func (o openai) Stream(ctx context.Context, r Request, emit func(string)) (Reply, error) {
	s := &openaiStream{gathered: gathered{form: OpenAI, url: o.URL, emit: emit}, client: o.Client}
	err := o.exchange(ctx, "/chat/completions", bearer, o.request(r), &s.gathered, s.take)
	return s.reply(r.Model), err
}

// Models asks for the endpoint's models.
func (o openai) Models(ctx context.Context) ([]string, error) {
	return o.Client.Models(ctx, "/models", bearer)
}

// openaiStream is an answer in the making. At are the newest calls by their index.
type openaiStream struct {
	gathered
	client   *Client
	thoughts strings.Builder
	at       map[int]*piece
}

func (s *openaiStream) take(e event) (bool, error) {
	if strings.TrimSpace(string(e.data)) == "[DONE]" {
		if s.thoughts.Len() > 0 {
			s.opaque, _ = json.Marshal(s.thoughts.String()) // a string always encodes
		}
		return true, s.ended()
	}
	var c chunk
	if err := json.Unmarshal(e.data, &c); err != nil {
		return false, malformed(err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return false, s.client.midway(e.data)
	}
	s.add(c)
	return false, nil
}

// add adds one chunk.
func (s *openaiStream) add(c chunk) {
	if c.Model != "" {
		s.model = c.Model
	}
	if u := c.Usage; u != nil {
		s.usage = effect.Usage{Requests: 1, InTokens: u.Prompt, CachedTokens: u.Details.Cached, OutTokens: u.Completion}
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		s.say(choice.Delta.Content + choice.Delta.Refusal)
		s.thoughts.WriteString(choice.Delta.Reasoning)
		s.seen += len(choice.Delta.Reasoning)
		for _, t := range choice.Delta.ToolCalls {
			s.part(t)
		}
		if choice.Finish != "" {
			s.finish = choice.Finish
		}
	}
}

// part adds a part of a call. Some servers leave out the index, and some give several calls the same one: a call begins
// where its index is new, or where another id than that of the call before is named, or without an index a name.
func (s *openaiStream) part(t callPart) {
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
