package wire

import (
	"encoding/json"
	"strings"
)

// Text is a string, "" for anything else.
func Text(raw json.RawMessage) (s string) {
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// Count is a number that nothing depends on: what is none counts as 0.
type Count int64

// UnmarshalJSON implements json.Unmarshaler.
func (c *Count) UnmarshalJSON(raw []byte) error {
	var n int64
	if json.Unmarshal(raw, &n) == nil {
		*c = Count(n)
	}
	return nil
}

// Given reports whether a member is there, and not null.
func Given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// Done reports whether the data of an event is what ends a stream of Chat.
func Done(data []byte) bool { return strings.TrimSpace(string(data)) == "[DONE]" }

// ChatAnswer is an event of a stream of Chat, behind whose last one stands Done, or a whole answer.
type ChatAnswer struct {
	Choices []ChatChoice    `json:"choices"`
	Error   json.RawMessage `json:"error"`
	Model   string          `json:"model"`
	Usage   *ChatUsage      `json:"usage"`
}

// ChatChoice is one of the answers that were asked for. Delta is what an event adds to it, Message, a ChatMessage,
// the whole of it.
type ChatChoice struct {
	Delta   ChatMessage     `json:"delta"`
	Finish  string          `json:"finish_reason"`
	Index   int             `json:"index"`
	Message json.RawMessage `json:"message"`
}

// ChatMessage is what a model says. Reasoning is what it thinks, in the words of providers that want it back; Thought
// that of others.
type ChatMessage struct {
	Content   string          `json:"content"`
	Thought   json.RawMessage `json:"reasoning"`
	Reasoning string          `json:"reasoning_content"`
	Refusal   string          `json:"refusal"`
	Calls     []ChatCall      `json:"tool_calls"`
}

// ChatCall is a call, or a part of one. Extra is opaque. Some servers leave out the index, and some give several
// calls the same.
type ChatCall struct {
	Extra    json.RawMessage `json:"extra_content,omitempty"`
	Function struct {
		Arguments string `json:"arguments"`
		Name      string `json:"name"`
	} `json:"function"`
	ID    string `json:"id,omitempty"`
	Index *int   `json:"index,omitempty"`
	Type  Label  `json:"type,omitempty"`
}

// Cached are those of the tokens of a request that came from the provider's cache.
type Cached struct {
	Tokens int64 `json:"cached_tokens"`
}

// ChatUsage is what an answer cost, in tokens.
type ChatUsage struct {
	Out    int64  `json:"completion_tokens"`
	In     int64  `json:"prompt_tokens"`
	Cached Cached `json:"prompt_tokens_details"`
}

// ResponsesEvent is an event of a stream of Responses. At is the place of the item that it is about.
type ResponsesEvent struct {
	Delta    string          `json:"delta"`
	Item     json.RawMessage `json:"item"`
	At       int             `json:"output_index"`
	Response ResponsesAnswer `json:"response"`
	Type     string          `json:"type"`
}

// The types of the events of Responses that say how an answer goes on. An answer is whole with ResponsesCompleted
// alone.
const (
	ResponsesItemAdded  = "response.output_item.added"
	ResponsesItemDone   = "response.output_item.done"
	ResponsesText       = "response.output_text.delta"
	ResponsesRefusal    = "response.refusal.delta"
	ResponsesArguments  = "response.function_call_arguments.delta"
	ResponsesSummary    = "response.reasoning_summary_text.delta"
	ResponsesReasoning  = "response.reasoning_text.delta"
	ResponsesCompleted  = "response.completed"
	ResponsesIncomplete = "response.incomplete"
	ResponsesFailed     = "response.failed"
)

// EventError is the type of an event that tells of an error, in Responses and Messages.
const EventError = "error"

// ResponsesAnswer is a whole answer, or what is known of it in a stream.
type ResponsesAnswer struct {
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Model  string            `json:"model"`
	Output []json.RawMessage `json:"output"` // a ResponsesItem each
	Usage  *ResponsesUsage   `json:"usage"`
}

// ResponsesUsage is what an answer cost, in tokens.
type ResponsesUsage struct {
	In     int64  `json:"input_tokens"`
	Cached Cached `json:"input_tokens_details"`
	Out    int64  `json:"output_tokens"`
}

// ResponsesItem is a message or a call.
type ResponsesItem struct {
	ResponsesCall
	Content []struct {
		Refusal string `json:"refusal"`
		Text    string `json:"text"`
	} `json:"content"`
}

// The types of the items of Responses.
const (
	ItemMessage = "message"
	ItemCall    = "function_call"
	ItemResult  = "function_call_output"
)

// MessagesEvent is an event of a stream of Messages. Block is the block that begins, in the provider's own words.
type MessagesEvent struct {
	Block map[string]json.RawMessage `json:"content_block"`
	Delta struct {
		JSON      string `json:"partial_json"`
		Signature string `json:"signature"`
		Stop      string `json:"stop_reason"`
		Text      string `json:"text"`
		Thinking  string `json:"thinking"`
	} `json:"delta"`
	Index   int `json:"index"`
	Message struct {
		Model string        `json:"model"`
		Usage MessagesUsage `json:"usage"`
	} `json:"message"`
	Type  string         `json:"type"`
	Usage *MessagesUsage `json:"usage"`
}

// The types of the events of Messages. An answer is whole with MessageStop alone.
const (
	MessageStart = "message_start"
	BlockStart   = "content_block_start"
	BlockDelta   = "content_block_delta"
	BlockStop    = "content_block_stop"
	MessageDelta = "message_delta"
	MessageStop  = "message_stop"
)

// The types of the blocks of Messages.
const (
	BlockText    = "text"
	BlockToolUse = "tool_use"
	BlockResult  = "tool_result"
)

// MessagesUsage is what an answer cost, in tokens. Created and Read are the tokens of the request that went into the
// provider's cache and came from it; In are the others.
type MessagesUsage struct {
	Created int64 `json:"cache_creation_input_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
	In      int64 `json:"input_tokens"`
	Out     int64 `json:"output_tokens"`
}

// All are the tokens of the request.
func (u MessagesUsage) All() int64 { return u.In + u.Read + u.Created }

// GeminiAnswer is an event of a stream of Gemini, or a whole answer. An answer is whole with the event that names a
// reason for its end.
type GeminiAnswer struct {
	Candidates []struct {
		Content struct {
			Parts []json.RawMessage `json:"parts"` // a GeminiPart each
		} `json:"content"`
		Finish string `json:"finishReason"`
	} `json:"candidates"`
	Error    json.RawMessage `json:"error"`
	Model    string          `json:"modelVersion"`
	Feedback struct {
		Block string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *GeminiUsage `json:"usageMetadata"`
}

// GeminiPart is a piece of text or a call (GeminiCall). Signature is opaque.
type GeminiPart struct {
	Call      json.RawMessage `json:"functionCall"`
	Text      string          `json:"text"`
	Thought   bool            `json:"thought"`
	Signature json.RawMessage `json:"thoughtSignature"`
}

// GeminiCall is a call.
type GeminiCall struct {
	Args json.RawMessage `json:"args"`
	ID   string          `json:"id"`
	Name string          `json:"name"`
}

// GeminiUsage is what an answer cost so far, in tokens.
type GeminiUsage struct {
	Cached   int64 `json:"cachedContentTokenCount"`
	Answer   int64 `json:"candidatesTokenCount"`
	Prompt   int64 `json:"promptTokenCount"`
	Thoughts int64 `json:"thoughtsTokenCount"`
	Tools    Count `json:"toolUsePromptTokenCount"`
}

// Out are the tokens of the answer.
func (u GeminiUsage) Out() int64 { return u.Answer + u.Thoughts }
