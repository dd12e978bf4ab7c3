package gateway

import (
	"bytes"
	"encoding/json"

	"pawl/agent/wire"
	"pawl/effect"
)

// Bounds of what is looked at in an answer.
const (
	maxEvent = 4 << 20 // bytes of one event of a stream
	maxPlain = 8 << 20 // bytes of an answer that is no stream
)

// meter reads from an answer, while it passes, what it costs. What it cannot read it estimates from above.
type meter struct {
	form wire.Form
	sse  bool

	events wire.Events // of a stream
	data   []byte      // of an answer that is no stream: as far as it came
	lost   bool        // it is too long to be looked at

	model           string
	in, cached, out int64
	final           bool  // the provider said what the whole answer costs
	ended           bool  // the terminal event came
	failed          bool  // the provider said in the stream that it failed
	said            int64 // tokens of what was said so far, estimated
	passed          int64 // bytes
}

// feed takes a piece of the answer.
func (m *meter) feed(p []byte) {
	m.passed += int64(len(p))
	if m.form == wire.Free {
		return
	}
	if !m.sse {
		if m.lost = m.lost || len(m.data)+len(p) > maxPlain; !m.lost {
			m.data = append(m.data, p...)
		}
		return
	}
	if m.events.Take == nil {
		m.events = wire.Events{
			Take: func(data []byte) bool { m.event(data); return false },
			Most: maxEvent, Lost: func(piece []byte) { m.said += tokens(piece) },
		}
	}
	m.events.Feed(p)
}

// end takes the end of the body.
func (m *meter) end() {
	switch {
	case m.form == wire.Free:
		m.ended = true
	case m.sse:
		m.events.End()
	case m.lost:
		m.said += m.passed
	default:
		m.plain(m.data)
	}
}

// plain reads an answer that is no stream. One form writes its streams as a list of answers when it is not asked for events.
func (m *meter) plain(body []byte) {
	body = bytes.TrimSpace(body)
	if len(body) > 0 && body[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(body, &list) != nil {
			m.said += tokens(body)
			return
		}
		for _, one := range list {
			m.event(one)
		}
		return
	}
	m.event(body)
	m.ended = m.ended || json.Valid(body)
}

// event reads one event, or a plain answer. What does not fit its form is left out of the reading: the agent gets it as it
// is, and judges for itself.
func (m *meter) event(data []byte) {
	switch m.form {
	case wire.Chat:
		m.chat(data)
	case wire.Responses:
		m.responses(data)
	case wire.Messages:
		m.messages(data)
	case wire.Gemini:
		m.gemini(data)
	}
}

// say estimates what was said in an event. An event with anything in it is a token at least.
func (m *meter) say(texts ...string) {
	for _, t := range texts {
		if t != "" {
			m.said += tokens([]byte(t))
		}
	}
}

type chatSaid struct {
	Content   string `json:"content"`
	Refusal   string `json:"refusal"`
	Reasoning string `json:"reasoning"`
	Thinking  string `json:"reasoning_content"`
	Calls     []struct {
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (m *meter) chat(data []byte) {
	if string(bytes.TrimSpace(data)) == "[DONE]" {
		m.ended = true
		return
	}
	var v struct {
		Model   string `json:"model"`
		Choices []struct {
			Delta   chatSaid `json:"delta"`
			Message chatSaid `json:"message"`
			Finish  string   `json:"finish_reason"`
		} `json:"choices"`
		Usage *openAIUsage    `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(data, &v) // as far as it fits
	m.named(v.Model)
	for _, c := range v.Choices {
		for _, s := range []*chatSaid{&c.Delta, &c.Message} {
			m.say(s.Content, s.Refusal, s.Reasoning, s.Thinking)
			for _, call := range s.Calls {
				m.say(call.Function.Name, call.Function.Arguments)
			}
		}
		m.ended = m.ended || c.Finish != ""
	}
	m.openAI(v.Usage)
	m.failed = m.failed || len(v.Error) > 0 && !empty(v.Error)
}

// openAIUsage is what both forms of OpenAI say of the cost, each in its own words.
type openAIUsage struct {
	Prompt     int64         `json:"prompt_tokens"`
	Completion int64         `json:"completion_tokens"`
	PromptMore cachedDetails `json:"prompt_tokens_details"`
	Input      int64         `json:"input_tokens"`
	Output     int64         `json:"output_tokens"`
	InputMore  cachedDetails `json:"input_tokens_details"`
}

type cachedDetails struct {
	Cached int64 `json:"cached_tokens"`
}

func (m *meter) openAI(u *openAIUsage) {
	if u == nil {
		return
	}
	m.count(max(u.Prompt, u.Input), max(u.PromptMore.Cached, u.InputMore.Cached), max(u.Completion, u.Output))
	m.final = true
}

func (m *meter) responses(data []byte) {
	type response struct {
		Model  string          `json:"model"`
		Usage  *openAIUsage    `json:"usage"`
		Output json.RawMessage `json:"output"`
	}
	var v struct {
		Type     string    `json:"type"`
		Delta    string    `json:"delta"`
		Response *response `json:"response"`
		response
	}
	_ = json.Unmarshal(data, &v)
	m.say(v.Delta)
	r := &v.response
	if v.Response != nil {
		r = v.Response
	} else {
		m.said += tokens(v.Output)
	}
	m.named(r.Model)
	m.openAI(r.Usage)
	switch v.Type {
	case "response.completed", "response.incomplete":
		m.ended = true
	case "response.failed", "error":
		m.ended, m.failed = true, true
	}
}

type anthropicUsage struct {
	In      int64 `json:"input_tokens"`
	Out     int64 `json:"output_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
	Created int64 `json:"cache_creation_input_tokens"`
}

func (m *meter) messages(data []byte) {
	var v struct {
		Type    string `json:"type"`
		Model   string `json:"model"`
		Message *struct {
			Model string         `json:"model"`
			Usage anthropicUsage `json:"usage"`
		} `json:"message"`
		Block struct {
			Name string `json:"name"`
			Text string `json:"text"`
		} `json:"content_block"`
		Delta struct {
			Text      string `json:"text"`
			JSON      string `json:"partial_json"`
			Thinking  string `json:"thinking"`
			Signature string `json:"signature"`
		} `json:"delta"`
		Content json.RawMessage `json:"content"`
		Usage   *anthropicUsage `json:"usage"`
	}
	_ = json.Unmarshal(data, &v)
	m.named(v.Model)
	m.say(v.Block.Name, v.Block.Text, v.Delta.Text, v.Delta.JSON, v.Delta.Thinking, v.Delta.Signature)
	if v.Message != nil {
		m.named(v.Message.Model)
		u := v.Message.Usage
		m.count(u.In+u.Read+u.Created, u.Read, u.Out)
	}
	if u := v.Usage; u != nil {
		m.count(u.In+u.Read+u.Created, u.Read, u.Out)
		m.final = true
	}
	m.said += tokens(v.Content)
	switch v.Type {
	case "message_stop":
		m.ended = true
	case "error":
		m.ended, m.failed = true, true
	}
}

func (m *meter) gemini(data []byte) {
	var v struct {
		Model      string `json:"modelVersion"`
		Candidates []struct {
			Content struct {
				Parts []struct {
					Text string          `json:"text"`
					Call json.RawMessage `json:"functionCall"`
				} `json:"parts"`
			} `json:"content"`
			Finish string `json:"finishReason"`
		} `json:"candidates"`
		Feedback struct {
			Block string `json:"blockReason"`
		} `json:"promptFeedback"`
		Usage *struct {
			Prompt   int64 `json:"promptTokenCount"`
			Tools    int64 `json:"toolUsePromptTokenCount"`
			Cached   int64 `json:"cachedContentTokenCount"`
			Answer   int64 `json:"candidatesTokenCount"`
			Thoughts int64 `json:"thoughtsTokenCount"`
		} `json:"usageMetadata"`
		Error json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(data, &v)
	m.named(v.Model)
	for _, c := range v.Candidates {
		for _, p := range c.Content.Parts {
			m.say(p.Text, string(p.Call))
		}
		m.ended = m.ended || c.Finish != ""
	}
	m.ended = m.ended || v.Feedback.Block != ""
	m.failed = m.failed || len(v.Error) > 0 && !empty(v.Error)
	if u := v.Usage; u != nil {
		m.count(u.Prompt+u.Tools, u.Cached, u.Answer+u.Thoughts)
		// Every event tells the cost so far, the last one that of the whole answer.
		m.final = m.ended
	}
}

func (m *meter) named(model string) {
	if model != "" {
		m.model = model
	}
}

// count takes what the provider says. Numbers only grow: later events repeat or add.
func (m *meter) count(in, cached, out int64) {
	m.in, m.cached, m.out = within(m.in, in), within(m.cached, cached), within(m.out, out)
}

func within(old, n int64) int64 { return min(max(old, n), maxCount) }

// cost is what the answer costs as far as it came; asked is the estimate of the request. It is never nothing.
func (m *meter) cost(asked int64) effect.Usage {
	u := effect.Usage{Requests: 1, InTokens: m.in, CachedTokens: min(m.cached, m.in), OutTokens: m.out}
	if u.InTokens == 0 {
		u.InTokens = asked
	}
	if !m.final {
		u.OutTokens = max(u.OutTokens, m.said, 1)
	}
	return u
}
