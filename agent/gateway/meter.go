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
	maxLabel = 100     // bytes of a text that may only name something
	maxKinds = 64      // kinds of events that are told apart
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
	final           bool             // the provider said what it costs up to here
	ended           bool             // the terminal event came
	failed          bool             // the provider said in the stream that it failed
	said            int64            // tokens of what could not be read so far, estimated
	texts           map[string]int64 // tokens of the texts so far, estimated, by the kind of event
	passed          int64            // bytes
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
	var e map[string]any
	_ = json.Unmarshal(data, &e) // nil for what is no object
	switch m.form {
	case wire.Chat:
		m.chat(data, e)
	case wire.Responses:
		m.responses(data, e)
	case wire.Messages:
		m.messages(data, e)
	case wire.Gemini:
		m.gemini(data, e)
	}
}

// labels are the members that say what kind of thing it is, or which.
var labels = list("role type id call_id status finish_reason stop_reason category probability severity")

// say estimates what was said in an event: every long text in it, wherever it is, and the short ones in its parts. A
// stream may say the same in pieces and again as a whole, in events of another kind: the kind that says most counts.
// Figures that came before are not those of the whole then.
func (m *meter) say(kind string, event map[string]any, parts ...any) {
	n := texts(event, true) + texts(parts, false)
	if n == 0 {
		return
	}
	if m.final = false; m.texts == nil {
		m.texts = map[string]int64{}
	}
	if len(m.texts) >= maxKinds && m.texts[kind] == 0 {
		kind = ""
	}
	m.texts[kind] += n
}

// texts estimates the tokens of the texts in a value: of the long ones, or of the short ones that are no labels.
func texts(v any, long bool) (n int64) {
	switch v := v.(type) {
	case string:
		if len(v) > maxLabel == long {
			return tokens([]byte(v))
		}
	case []any:
		for _, e := range v {
			n += texts(e, long)
		}
	case map[string]any:
		for name, e := range v {
			if long {
				n += texts(name, true) + texts(e, true)
			} else if !labels[plain(name)] {
				n += texts(e, false)
			}
		}
	}
	return n
}

func (m *meter) chat(data []byte, e map[string]any) {
	if wire.Done(data) {
		m.ended = true
		return
	}
	var v struct {
		wire.ChatAnswer
		Choices []struct {
			Finish string `json:"finish_reason"`
		} `json:"choices"`
		Usage *openAIUsage `json:"usage"`
	}
	_ = json.Unmarshal(data, &v) // as far as it fits
	m.named(v.Model)
	if v.Choices == nil && v.Usage == nil {
		m.said += tokens(data)
	} else {
		m.say("", e, e["choices"])
	}
	for _, c := range v.Choices {
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

func (m *meter) responses(data []byte, e map[string]any) {
	type response struct {
		wire.ResponsesAnswer
		Usage *openAIUsage `json:"usage"`
	}
	var v struct {
		wire.ResponsesEvent
		Response *response `json:"response"`
		response
	}
	_ = json.Unmarshal(data, &v)
	r, answer, kind := &v.response, e, v.Type
	if v.Response != nil {
		r = v.Response
		answer, _ = e["response"].(map[string]any)
	}
	// An answer repeats these of its request.
	delete(answer, "instructions")
	delete(answer, "tools")
	if e["delta"] != nil {
		kind = ""
	}
	m.say(kind, e, e["delta"], e["item"], e["part"], e["text"], e["arguments"], answer["output"])
	m.named(r.Model)
	m.openAI(r.Usage)
	switch v.Type {
	case wire.ResponsesCompleted, wire.ResponsesIncomplete:
		m.ended = true
	case wire.ResponsesFailed, wire.EventError:
		m.ended, m.failed = true, true
	}
}

func (m *meter) messages(data []byte, e map[string]any) {
	var v struct {
		wire.MessagesEvent
		Model string `json:"model"`
	}
	_ = json.Unmarshal(data, &v)
	m.named(v.Model)
	m.say("", e, e["content_block"], e["delta"], e["content"])
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

func (m *meter) gemini(data []byte, e map[string]any) {
	var v wire.GeminiAnswer
	_ = json.Unmarshal(data, &v)
	m.named(v.Model)
	m.say("", e, e["candidates"])
	for _, c := range v.Candidates {
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
	said := m.said
	for _, n := range m.texts {
		said = max(said, m.said+n)
	}
	switch {
	case m.final:
	case said == 0:
		u.OutTokens = max(u.OutTokens, (m.passed+2)/3, 1)
	default:
		u.OutTokens = max(u.OutTokens, said)
	}
	return u
}
