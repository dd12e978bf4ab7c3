package wire

import "encoding/json"

// Label is a member that is written and that nobody reads: whatever stands there makes nothing unreadable.
type Label string

// UnmarshalJSON implements json.Unmarshaler.
func (*Label) UnmarshalJSON([]byte) error { return nil }

// The roles of messages, and the kinds of tools and of structured answers.
const (
	RoleSystem    = "system"    // Chat
	RoleUser      = "user"      // all
	RoleAssistant = "assistant" // all but Gemini
	RoleModel     = "model"     // Gemini
	RoleTool      = "tool"      // Chat

	Function   = "function"    // Chat and Responses: the agent runs the tool
	Custom     = "custom"      // Responses: a tool whose argument is a text
	Namespace  = "namespace"   // Responses: a group of tools
	JSONSchema = "json_schema" // the answer has to be a document of a schema
	ChoiceTool = "tool"        // Messages: the model has to call one tool
)

// ChatRequest asks in Chat. MaxTokens bounds the answer, under the name that most servers know; OpenAI's own newer
// models know MaxCompletionTokens alone.
type ChatRequest struct {
	MaxCompletionTokens int64         `json:"max_completion_tokens,omitempty"`
	MaxTokens           int64         `json:"max_tokens,omitempty"`
	Messages            []ChatTurn    `json:"messages"`
	Model               string        `json:"model"`
	Format              ChatFormat    `json:"response_format,omitzero"`
	Stream              bool          `json:"stream"`
	Options             StreamOptions `json:"stream_options,omitzero"`
	Tools               []ChatTool    `json:"tools,omitempty"`
}

// ChatTurn is a message of the conversation. Reasoning is opaque, Call names the call that a tool answers.
type ChatTurn struct {
	Content   string          `json:"content"`
	Reasoning json.RawMessage `json:"reasoning_content,omitempty"`
	Role      string          `json:"role"`
	Call      *string         `json:"tool_call_id,omitempty"`
	Calls     []ChatCall      `json:"tool_calls,omitempty"`
}

// ChatFormat asks for a structured answer.
type ChatFormat struct {
	Schema struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
	Type string `json:"type"`
}

// StreamOptions ask for the cost of an answer at its end.
type StreamOptions struct {
	Usage bool `json:"include_usage"`
}

// ChatTool offers a tool.
type ChatTool struct {
	Function struct {
		Description string          `json:"description"`
		Name        string          `json:"name"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
	Type string `json:"type"`
}

// ResponsesRequest asks in Responses. Store keeps the conversation at the provider, Include asks for more than is
// told otherwise. Input are a ResponsesTurn, ResponsesCall or ResponsesResult each, or an item in the provider's own
// words.
type ResponsesRequest struct {
	Include      []string         `json:"include,omitempty"`
	Input        []any            `json:"input"`
	Instructions string           `json:"instructions,omitempty"`
	MaxTokens    int64            `json:"max_output_tokens,omitempty"`
	Model        string           `json:"model"`
	Store        bool             `json:"store"`
	Stream       bool             `json:"stream"`
	Text         ResponsesDemands `json:"text,omitzero"`
	Tools        []ResponsesTool  `json:"tools,omitempty"`
}

// ResponsesDemands ask for a structured answer.
type ResponsesDemands struct {
	Format struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
		Strict bool            `json:"strict"`
		Type   string          `json:"type"`
	} `json:"format"`
}

// ResponsesTool offers a tool, or in Tools those of a namespace.
type ResponsesTool struct {
	Description string          `json:"description"`
	Name        string          `json:"name"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
	Tools       json.RawMessage `json:"tools,omitempty"`
	Type        string          `json:"type"`
}

// ResponsesTurn is a message of the conversation.
type ResponsesTurn struct {
	Content string `json:"content"`
	Role    string `json:"role"`
	Type    string `json:"type"` // ItemMessage
}

// ResponsesCall is a call of the conversation.
type ResponsesCall struct {
	Args string `json:"arguments"`
	Call string `json:"call_id"`
	Name string `json:"name"`
	Type string `json:"type"` // ItemCall
}

// ResponsesResult is the result of a call.
type ResponsesResult struct {
	Call   string `json:"call_id"`
	Output string `json:"output"`
	Type   string `json:"type"` // ItemResult
}

// MessagesRequest asks in Messages.
type MessagesRequest struct {
	MaxTokens int64            `json:"max_tokens"`
	Messages  []MessagesTurn   `json:"messages"`
	Model     string           `json:"model"`
	Output    MessagesDemands  `json:"output_config,omitzero"`
	Stream    bool             `json:"stream"`
	System    []*MessagesBlock `json:"system,omitempty"`
	Choice    MessagesChoice   `json:"tool_choice,omitzero"`
	Tools     []MessagesTool   `json:"tools,omitempty"`
}

// MessagesTurn is what one side says: *MessagesBlock each, or a block in the provider's own words.
type MessagesTurn struct {
	Content []any  `json:"content"`
	Role    string `json:"role"`
}

// MessagesBlock is a text, a call or the result of a call. Cache marks where the provider's cache may end.
type MessagesBlock struct {
	Cache   *MessagesCache  `json:"cache_control,omitempty"`
	Content *string         `json:"content,omitempty"`
	ID      string          `json:"id,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	Failed  *bool           `json:"is_error,omitempty"`
	Name    string          `json:"name,omitempty"`
	Text    *string         `json:"text,omitempty"`
	Call    *string         `json:"tool_use_id,omitempty"`
	Type    string          `json:"type"`
}

// MessagesCache says for how long something is cached.
type MessagesCache struct {
	Type string `json:"type"` // "ephemeral"
}

// MessagesDemands ask for a structured answer.
type MessagesDemands struct {
	Format struct {
		Type string `json:"type"`
	} `json:"format"`
}

// MessagesChoice is what the model has to do.
type MessagesChoice struct {
	Name string `json:"name"`
	Type string `json:"type"` // ChoiceTool
}

// MessagesTool offers a tool.
type MessagesTool struct {
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"input_schema"`
	Name        string          `json:"name"`
}

// GeminiRequest asks in Gemini.
type GeminiRequest struct {
	Contents []GeminiTurn  `json:"contents"`
	Config   GeminiConfig  `json:"generationConfig"`
	System   GeminiTurn    `json:"systemInstruction,omitzero"`
	Tools    []GeminiTools `json:"tools,omitempty"`
}

// GeminiTurn is what one side says: GeminiSaid each, or a part in the provider's own words.
type GeminiTurn struct {
	Parts []any  `json:"parts"`
	Role  string `json:"role,omitempty"`
}

// GeminiSaid is a text, a call or the result of a call. Signature is opaque.
type GeminiSaid struct {
	Call      *GeminiCall     `json:"functionCall,omitempty"`
	Result    *GeminiResult   `json:"functionResponse,omitempty"`
	Text      *string         `json:"text,omitempty"`
	Signature json.RawMessage `json:"thoughtSignature,omitempty"`
}

// GeminiResult is the result of a call: under "output", or under "error" where it failed.
type GeminiResult struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Response map[string]string `json:"response"`
}

// GeminiConfig bounds the answer, or asks for a structured one by either of two kinds of schema.
type GeminiConfig struct {
	MaxTokens  int64           `json:"maxOutputTokens,omitempty"`
	JSONSchema json.RawMessage `json:"responseJsonSchema,omitempty"`
	Mime       string          `json:"responseMimeType,omitempty"`
	Schema     json.RawMessage `json:"responseSchema,omitempty"`
}

// GeminiTools offer tools.
type GeminiTools struct {
	Functions []GeminiFunction `json:"functionDeclarations"`
}

// GeminiFunction is a tool, with its arguments in either of two kinds of schema.
type GeminiFunction struct {
	Description string          `json:"description"`
	Name        string          `json:"name"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	JSONSchema  json.RawMessage `json:"parametersJsonSchema"`
}
