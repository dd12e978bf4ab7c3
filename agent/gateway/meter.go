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

	begun  bool        // something came that is no blank
	sse    bool        // it is a stream of events, whatever its content type says
	events wire.Events // of a stream
	data   []byte      // of an answer that is no stream: as far as it came
	lost   bool        // it is too long to be looked at

	model           string
	in, cached, out int64
	final           bool  // the provider said what it costs up to here
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
	if !m.begun {
		p = bytes.TrimLeft(p, " \t\r\n")
		m.begun = len(p) > 0
		m.sse = m.begun && !m.lost && p[0] != '{' && p[0] != '['
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

// event reads one event, or a plain answer. Of what does not fit its form only the size counts: the agent gets it as it
// is, and judges for itself.
func (m *meter) event(data []byte) {
	if !json.Valid(data) && !wire.Done(data) {
		m.said += tokens(data)
		return
	}
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

// say estimates what was said in an event: every text in it, whatever it is called. Figures that came before are not
// those of the whole then.
func (m *meter) say(parts ...json.RawMessage) {
	before := m.said
	for _, p := range parts {
		var v any
		_ = json.Unmarshal(p, &v) // it is a part of what was read, or nothing
		m.said += texts(v)
	}
	m.final = m.final && m.said == before
}

// texts estimates the tokens of the texts in a value, without those that say what kind of thing it is.
func texts(v any) (n int64) {
	switch v := v.(type) {
	case string:
		return tokens([]byte(v))
	case []any:
		for _, e := range v {
			n += texts(e)
		}
	case map[string]any:
		for name, e := range v {
			if name != "role" && name != "type" {
				n += texts(e)
			}
		}
	}
	return n
}

func (m *meter) chat(data []byte) {
	if wire.Done(data) {
		m.ended = true
		return
	}
	var v struct {
		wire.ChatAnswer
		Choices []struct {
			Delta   json.RawMessage `json:"delta"`
			Message json.RawMessage `json:"message"`
			Finish  string          `json:"finish_reason"`
		} `json:"choices"`
		Usage *openAIUsage `json:"usage"`
	}
	_ = json.Unmarshal(data, &v) // as far as it fits
	m.named(v.Model)
	if v.Choices == nil && v.Usage == nil {
		m.said += tokens(data)
	}
	for _, c := range v.Choices {
		m.say(c.Delta, c.Message)
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
	m.final = m.out > 0
}

func (m *meter) responses(data []byte) {
	type response struct {
		wire.ResponsesAnswer
		Usage  *openAIUsage    `json:"usage"`
		Output json.RawMessage `json:"output"`
	}
	var v struct {
		wire.ResponsesEvent
		Delta    json.RawMessage `json:"delta"`
		Response *response       `json:"response"`
		response
	}
	_ = json.Unmarshal(data, &v)
	m.say(v.Delta)
	r := &v.response
	if v.Response != nil {
		r = v.Response
	} else {
		m.say(v.Output)
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
		Block   json.RawMessage `json:"content_block"`
		Delta   json.RawMessage `json:"delta"`
		Content json.RawMessage `json:"content"`
	}
	_ = json.Unmarshal(data, &v)
	m.named(v.Model)
	m.say(v.Block, v.Delta, v.Content)
	m.named(v.Message.Model)
	u := v.Message.Usage
	m.count(u.All(), u.Read, u.Out)
	if u := v.Usage; u != nil {
		m.count(u.All(), u.Read, u.Out)
		m.final = m.out > 0
	}
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
		m.say(c.Content.Parts...)
		m.ended = m.ended || c.Finish != ""
	}
	m.ended = m.ended || v.Feedback.Block != ""
	m.failed = m.failed || len(v.Error) > 0 && !empty(v.Error)
	if u := v.Usage; u != nil {
		m.count(u.Prompt+int64(u.Tools), u.Cached, u.Out())
		// Every event tells the cost so far, the last one that of the whole answer.
		m.final = m.ended && m.out > 0
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

// cost is what the answer costs as far as it came; asked is the estimate of the request. It is never nothing: an answer
// in which nothing was understood costs what its bytes do.
func (m *meter) cost(asked int64) effect.Usage {
	u := effect.Usage{Requests: 1, InTokens: m.in, CachedTokens: min(m.cached, m.in), OutTokens: m.out}
	if u.InTokens == 0 {
		u.InTokens = asked
	}
	switch {
	case m.final:
	case m.said == 0:
		u.OutTokens = max(u.OutTokens, (m.passed+2)/3, 1)
	default:
		u.OutTokens = max(u.OutTokens, m.said)
	}
	return u
}
