package gateway

import (
	"bytes"
	"encoding/json"

	"pawl/agent/wire"
	"pawl/kernel/effect"
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

// plain reads an answer that is no stream. One form writes its streams as a list of answers when it is not asked for
// events.
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

// event reads one event, or a plain answer. What does not fit its form is left out of the reading: the agent gets it
// as it is, and judges for itself.
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

func (m *meter) chat(data []byte) {
	if wire.Done(data) {
		m.ended = true
		return
	}
	var v struct {
		wire.ChatAnswer
		Usage *openAIUsage `json:"usage"`
	}
	_ = json.Unmarshal(data, &v) // as far as it fits
	m.named(v.Model)
	for _, c := range v.Choices {
		var whole wire.ChatMessage
		_ = json.Unmarshal(c.Message, &whole)
		for _, s := range []*wire.ChatMessage{&c.Delta, &whole} {
			m.say(s.Content, s.Refusal, wire.Text(s.Thought), s.Reasoning)
			for _, call := range s.Calls {
				m.say(call.Function.Name, call.Function.Arguments)
			}
		}
		m.ended = m.ended || c.Finish != ""
	}
	m.openAI(v.Usage)
	m.failed = m.failed || len(v.Error) > 0 && !empty(v.Error)
}

// openAIUsage is what both forms of OpenAI say of the cost: some servers use the words of the other one.
type openAIUsage struct {
	wire.ChatUsage
	wire.ResponsesUsage
}

func (m *meter) openAI(u *openAIUsage) {
	if u == nil {
		return
	}
	chat, other := u.ChatUsage, u.ResponsesUsage
	m.count(max(chat.In, other.In), max(chat.Cached.Tokens, other.Cached.Tokens), max(chat.Out, other.Out))
	m.final = true
}

func (m *meter) responses(data []byte) {
	type response struct {
		wire.ResponsesAnswer
		Usage  *openAIUsage    `json:"usage"`
		Output json.RawMessage `json:"output"`
	}
	var v struct {
		wire.ResponsesEvent
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
	case wire.ResponsesCompleted, wire.ResponsesIncomplete:
		m.ended = true
	case wire.ResponsesFailed, wire.EventError:
		m.ended, m.failed = true, true
	}
}

func (m *meter) messages(data []byte) {
	var v struct {
		wire.MessagesEvent
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
	}
	_ = json.Unmarshal(data, &v)
	m.named(v.Model)
	m.say(wire.Text(v.Block["name"]), wire.Text(v.Block["text"]))
	m.say(v.Delta.Text, v.Delta.JSON, v.Delta.Thinking, v.Delta.Signature)
	m.named(v.Message.Model)
	u := v.Message.Usage
	m.count(u.All(), u.Read, u.Out)
	if u := v.Usage; u != nil {
		m.count(u.All(), u.Read, u.Out)
		m.final = true
	}
	m.said += tokens(v.Content)
	switch v.Type {
	case wire.MessageStop:
		m.ended = true
	case wire.EventError:
		m.ended, m.failed = true, true
	}
}

func (m *meter) gemini(data []byte) {
	var v wire.GeminiAnswer
	_ = json.Unmarshal(data, &v)
	m.named(v.Model)
	for _, c := range v.Candidates {
		for _, raw := range c.Content.Parts {
			var p wire.GeminiPart
			_ = json.Unmarshal(raw, &p)
			m.say(p.Text, string(p.Call))
		}
		m.ended = m.ended || c.Finish != ""
	}
	m.ended = m.ended || v.Feedback.Block != ""
	m.failed = m.failed || len(v.Error) > 0 && !empty(v.Error)
	if u := v.Usage; u != nil {
		m.count(u.Prompt+int64(u.Tools), u.Cached, u.Out())
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
