// Package llm makes an agent of any model that speaks one of four wire forms: the two of OpenAI, of which most
// servers share the first, that of Anthropic, and that of Gemini. The agent keeps no loop and no state: each request
// for work is one exchange, and what the model asks for is handed back as wishes, which the kernel judges and has
// made. A stream that breaks off before its terminal event asks for nothing.
package llm

import (
	"context"
	"encoding/json"

	"pawl/agent/wire"
	"pawl/kernel/effect"
)

// Request is one exchange with a model, in a form that no provider owns.
type Request struct {
	Model    string
	System   string
	Messages []effect.Message
	Tools    []Tool
	// Schema asks for one JSON document of this schema instead of text; Name names it.
	Name   string
	Schema json.RawMessage
	// MaxOut bounds the answer, in tokens.
	MaxOut int64
}

// Tool is a tool that the model may ask for.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// Reply is a whole answer: one whose terminal event arrived. Beside an error it holds no more than what is known of
// the cost.
type Reply struct {
	Text  string
	Calls []effect.Ask
	// Opaque is the answer in the provider's own words, which has to be handed back unchanged with the conversation.
	Opaque json.RawMessage
	Model  string
	// Usage is what the provider says that the exchange cost, as far as it came to say so.
	Usage effect.Usage
	// Written are the tokens, part of Usage.InTokens, that the provider put into its cache at a price of their own.
	Written int64
	// Begun says that the provider began to answer, so that the request was charged; Seen estimates the tokens that
	// came.
	Begun bool
	Seen  int64
}

// Provider speaks one wire form. Stream sends a request once and returns when its answer is whole; emit is told of
// pieces of text as they come and may be nil. It is safe for concurrent use.
type Provider interface {
	Stream(ctx context.Context, r Request, emit func(string)) (Reply, error)
}

// Speak returns the provider that is asked in a form.
func Speak(form wire.Form, c *Client) Provider { return speaker{c, form} }

// speaker asks in one form.
type speaker struct {
	*Client
	form wire.Form
}

// Models asks for the endpoint's models.
func (s speaker) Models(ctx context.Context) ([]string, error) {
	return s.Client.Models(ctx, s.form.Provider())
}

// Stream sends a request.
func (s speaker) Stream(ctx context.Context, r Request, emit func(string)) (Reply, error) {
	got, take := s.answer(emit)
	err := s.exchange(ctx, s.form, r.Model, s.request(r), got, take)
	reply := got.reply(r.Model)
	if s.form == wire.Messages && r.Schema != nil && len(reply.Calls) == 1 && reply.Calls[0].Name == r.Name {
		reply.Text, reply.Calls, reply.Opaque = string(reply.Calls[0].Args), nil, nil
	}
	return reply, err
}

// request is a request as the form writes it.
func (s speaker) request(r Request) any {
	switch s.form {
	case wire.Responses:
		return responsesRequest(r)
	case wire.Messages:
		return messagesRequest(r)
	case wire.Gemini:
		return geminiRequest(r)
	}
	return chatRequest(r, s.URL)
}

// answer is an answer in the making: what it comes to, and what takes the data of an event and reports with true that
// it was the terminal one.
func (s speaker) answer(emit func(string)) (got *gathered, take func(data []byte) (done bool, err error)) {
	begun := gathered{form: s.form, url: s.URL, emit: emit}
	switch s.form {
	case wire.Responses:
		a := &responsesAnswer{gathered: begun}
		return &a.gathered, a.take
	case wire.Messages:
		a := &messagesAnswer{gathered: begun}
		return &a.gathered, a.take
	case wire.Gemini:
		a := &geminiAnswer{gathered: begun}
		return &a.gathered, a.take
	}
	a := &chatAnswer{gathered: begun}
	return &a.gathered, a.take
}
