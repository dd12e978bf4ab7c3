// Package wire holds the forms in which models are asked and answer: where requests go and how they show a key, how
// requests, answers and errors are written, and why an answer ends. It is pure.
//
// The client of models (agent/llm) writes requests with these types and reads answers, the proxy before models
// (agent/gateway) reads answers, and the scripted model (agent/scripted) reads requests. What the last one answers it
// writes out by itself, as a provider would: a mistake in the types would else be the same on both sides, and no test
// would show it.
//
// The forms are their makers' and are described there:
//
//   - Chat: https://platform.openai.com/docs/api-reference/chat and …/chat-streaming
//   - Responses: https://platform.openai.com/docs/api-reference/responses and …/responses-streaming
//   - Messages: https://docs.anthropic.com/en/api/messages, …/messages-streaming and …/errors
//   - Gemini: https://ai.google.dev/api/generate-content, and for errors https://cloud.google.com/apis/design/errors
//
// Members of structs stand in the order of their names in JSON, so that they are written in one order whoever writes
// them. What a provider wants back as it was said (signatures, encrypted thoughts, whole blocks) is json.RawMessage
// and is never looked into.
package wire

import (
	"encoding/json"
	"strings"
)

// Form is how requests and answers are written.
type Form string

// The forms. Free is that of requests which no model answers: lists of models and counts of tokens.
const (
	Chat      Form = "chat"      // OpenAI Chat Completions, which most other servers speak as well
	Responses Form = "responses" // OpenAI Responses
	Messages  Form = "messages"  // Anthropic Messages
	Gemini    Form = "gemini"    // Gemini generateContent
	Free      Form = "free"
)

// Provider is whose interface an endpoint speaks.
type Provider string

// The providers. OpenAI's interface has two forms, with the same endpoint and key.
const (
	OpenAI    Provider = "openai"
	Anthropic Provider = "anthropic"
	Google    Provider = "gemini"
)

// Provider is whose form it is.
func (f Form) Provider() Provider {
	switch f {
	case Messages:
		return Anthropic
	case Gemini:
		return Google
	}
	return OpenAI
}

// Form is the form in which a provider is asked. api chooses between those of OpenAI: "responses", or anything else
// for Chat. It is "" for a provider that is none of the constants.
func (p Provider) Form(api string) Form {
	switch {
	case p == Anthropic:
		return Messages
	case p == Google:
		return Gemini
	case p == OpenAI && api == string(Responses):
		return Responses
	case p == OpenAI:
		return Chat
	}
	return ""
}

// URL is where the provider itself answers: with the version for OpenAI, without it for the others.
func (p Provider) URL() string {
	switch p {
	case Anthropic:
		return "https://api.anthropic.com"
	case Google:
		return "https://generativelanguage.googleapis.com"
	}
	return "https://api.openai.com/v1"
}

// KeyEnv is the variable of the environment that usually holds the provider's key.
func (p Provider) KeyEnv() string {
	switch p {
	case Anthropic:
		return "ANTHROPIC_API_KEY"
	case Google:
		return "GEMINI_API_KEY"
	}
	return "OPENAI_API_KEY"
}

// Headers are what a request has to have besides its body: the key, if there is one, and the version.
func (p Provider) Headers(key string) map[string]string {
	out := map[string]string{}
	if p == Anthropic {
		out["Anthropic-Version"] = "2023-06-01"
	}
	switch {
	case key == "":
	case p == Anthropic:
		out["X-Api-Key"] = key
	case p == Google:
		out["X-Goog-Api-Key"] = key
	default:
		out["Authorization"] = "Bearer " + key
	}
	return out
}

// The names that the providers give to a status, for errors that are not their own.
var (
	openAIErrors = map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 402: "insufficient_quota", 403: "permission_error",
		413: "invalid_request_error",
	}
	anthropicErrors = map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
		413: "request_too_large",
	}
	googleErrors = map[int]string{
		400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 402: "FAILED_PRECONDITION", 403: "PERMISSION_DENIED",
		413: "INVALID_ARGUMENT",
	}
)

// Error is an error's body as the provider would write it.
func (p Provider) Error(status int, text string) []byte {
	named := func(names map[int]string, otherwise string) string {
		if n, ok := names[status]; ok {
			return n
		}
		return otherwise
	}
	problem := map[string]any{"message": text}
	body := map[string]any{"error": problem}
	switch p {
	case Anthropic:
		body["type"], problem["type"] = "error", named(anthropicErrors, "api_error")
	case Google:
		problem["code"], problem["status"] = status, named(googleErrors, "UNAVAILABLE")
	default:
		problem["type"], problem["param"], problem["code"] = named(openAIErrors, "server_error"), nil, nil
	}
	raw, _ := json.Marshal(body) // strings and maps of them always encode
	return raw
}

// ErrorText is the sentence in an error's body or event, all of it where there is none: every provider puts it
// somewhere below "error".
func ErrorText(raw []byte) string {
	var e struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return string(raw)
	}
	var inner struct {
		Message string `json:"message"`
	}
	var text string
	switch {
	case json.Unmarshal(e.Error, &inner) == nil && inner.Message != "":
		return inner.Message
	case json.Unmarshal(e.Error, &text) == nil && text != "":
		return text
	case e.Message != "":
		return e.Message
	}
	return string(raw)
}

// End is what the reason means that an answer gives for its end.
type End int

// The ends. A reason that is not known to be a good one is Unknown.
const (
	Unknown   End = iota
	Unsaid        // no reason was given
	Whole         // the model had nothing more to say, or waits for the results of its calls
	Truncated     // the answer became too long
	Filtered      // the provider keeps the answer to itself
)

// The reasons for an end that are written here as well.
const (
	Stop      = "stop"       // Chat, and Gemini in capitals
	ToolCalls = "tool_calls" // Chat
	EndTurn   = "end_turn"   // Messages
	ToolUse   = "tool_use"   // Messages
	Length    = "length"     // Chat
)

// EndOf is what a reason means, in any form and any case.
func EndOf(reason string) End {
	switch strings.ToLower(reason) {
	case "":
		return Unsaid
	case Stop, ToolCalls, EndTurn, ToolUse, "function_call", "stop_sequence", "eos", "eos_token", "complete":
		return Whole
	case Length, "max_tokens", "model_length", "model_context_window_exceeded":
		return Truncated
	case "content_filter", "safety", "refusal", "recitation", "blocklist", "prohibited_content", "spii", "language",
		"image_safety":
		return Filtered
	}
	return Unknown
}
