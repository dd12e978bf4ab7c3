// Package llm makes an agent of any model that speaks one of four wire forms: the two of OpenAI, of which most servers share
// the first, that of Anthropic, and that of Gemini. The agent keeps no loop and no state: each request for work is one exchange, and what the
// model asks for is handed back as wishes, which the kernel judges and has made. A stream that breaks off before its terminal
// event asks for nothing.
package llm

import (
	"context"
	"encoding/json"

	"pawl/effect"
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

// Reply is a whole answer: one whose terminal event arrived. Beside an error it holds no more than what is known of the cost.
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
	// Begun says that the provider began to answer, so that the request was charged; Seen estimates the tokens that came.
	Begun bool
	Seen  int64
}

// Provider speaks one wire form. Stream sends a request once and returns when its answer is whole; emit is told of pieces of
// text as they come and may be nil. It is safe for concurrent use.
type Provider interface {
	Stream(ctx context.Context, r Request, emit func(string)) (Reply, error)
}

// Kind names a wire form.
type Kind string

// The wire forms.
const (
	OpenAI    Kind = "openai"
	Anthropic Kind = "anthropic"
	Gemini    Kind = "gemini"
	// Responses is the other form that OpenAI speaks, with the same endpoint and key.
	Responses Kind = "responses"
)

// DefaultURL is where the kind's own provider answers.
func (k Kind) DefaultURL() string {
	switch k {
	case Anthropic:
		return "https://api.anthropic.com"
	case Gemini:
		return "https://generativelanguage.googleapis.com"
	}
	return "https://api.openai.com/v1"
}

// DefaultKeyEnv is the variable that usually holds the kind's key.
func (k Kind) DefaultKeyEnv() string {
	switch k {
	case Anthropic:
		return "ANTHROPIC_API_KEY"
	case Gemini:
		return "GEMINI_API_KEY"
	}
	return "OPENAI_API_KEY"
}

// Speak returns the provider of a kind.
func Speak(k Kind, c *Client) Provider {
	switch k {
	case Anthropic:
		return anthropic{c}
	case Gemini:
		return gemini{c}
	case Responses:
		return responses{c}
	}
	return openai{c}
}
