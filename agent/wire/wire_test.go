package wire

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// forms are requests and answers of every form with what stands on the wire for them.
var forms = []struct {
	name string
	is   any
	text string
	only bool // it is read and not written
}{
	{name: "a request of Chat", text: `{"max_tokens":9,"messages":[{"content":"be brief","role":"system"},{"content":"go","role":"user"},` +
		`{"content":"","reasoning_content":"hm","role":"assistant","tool_calls":[{"extra_content":{"s":1},"function":{"arguments":"{}","name":"f"},"id":"c1"}]},` +
		`{"content":"x","role":"tool","tool_call_id":""}],"model":"m","response_format":{"json_schema":{"name":"plan","schema":{"a":1}},"type":"json_schema"},` +
		`"stream":true,"stream_options":{"include_usage":true},"tools":[{"function":{"description":"","name":"f","parameters":null},"type":"function"}]}`,
		is: &ChatRequest{MaxTokens: 9, Model: "m", Stream: true, Options: StreamOptions{Usage: true},
			Messages: []ChatTurn{
				{Role: RoleSystem, Content: "be brief"}, {Role: RoleUser, Content: "go"},
				{Role: RoleAssistant, Reasoning: raw(`"hm"`),
					Calls: []ChatCall{{ID: "c1", Extra: raw(`{"s":1}`), Function: chatFunction("f", "{}")}}},
				{Role: RoleTool, Call: new(""), Content: "x"},
			}, Format: chatFormat("plan", `{"a":1}`), Tools: []ChatTool{chatTool("f")}}},
	{name: "the least request of Chat", text: `{"messages":[],"model":"m","stream":false}`,
		is: &ChatRequest{Messages: []ChatTurn{}, Model: "m"}},
	{name: "a request of Responses", text: `{"include":["x"],"input":["go"],"instructions":"s","max_output_tokens":9,"model":"m","store":false,"stream":true,` +
		`"text":{"format":{"name":"plan","schema":{},"strict":false,"type":"json_schema"}},` +
		`"tools":[{"description":"d","name":"f","parameters":{},"strict":false,"type":"function"},` +
		`{"description":"","name":"n","parameters":null,"strict":false,"tools":[1],"type":"namespace"}]}`,
		is: &ResponsesRequest{Include: []string{"x"}, Input: []any{"go"}, Instructions: "s", MaxTokens: 9, Model: "m",
			Stream: true, Text: demands("plan", `{}`),
			Tools: []ResponsesTool{
				{Description: "d", Name: "f", Parameters: raw(`{}`), Type: Function}, {Name: "n",
					Parameters: raw("null"), Tools: raw(`[1]`), Type: Namespace},
			}}},
	{name: "a turn of Responses", text: `{"content":"","role":"user","type":"message"}`,
		is: &ResponsesTurn{Role: RoleUser, Type: ItemMessage}},
	{name: "a call of Responses", text: `{"arguments":"","call_id":"c","name":"f","type":"function_call"}`,
		is: &ResponsesCall{Call: "c", Name: "f", Type: ItemCall}},
	{name: "a result of Responses", text: `{"call_id":"c","output":"","type":"function_call_output"}`,
		is: &ResponsesResult{Call: "c", Type: ItemResult}},
	{name: "a request of Messages", text: `{"max_tokens":1,"messages":[{"content":["own words"],"role":"assistant"}],"model":"m","stream":true,` +
		`"system":[{"cache_control":{"type":"ephemeral"},"text":"s","type":"text"}],"tool_choice":{"name":"plan","type":"tool"},` +
		`"tools":[{"description":"","input_schema":{"a":1},"name":"f"}]}`,
		is: &MessagesRequest{MaxTokens: 1, Model: "m", Stream: true,
			Messages: []MessagesTurn{{Role: RoleAssistant, Content: []any{"own words"}}},
			System:   []*MessagesBlock{{Type: BlockText, Text: new("s"), Cache: &MessagesCache{Type: "ephemeral"}}},
			Choice:   MessagesChoice{Name: "plan", Type: ChoiceTool},
			Tools:    []MessagesTool{{Name: "f", Schema: raw(`{"a":1}`)}}}},
	{name: "a call of Messages", text: `{"id":"c","input":{},"name":"f","type":"tool_use"}`,
		is: &MessagesBlock{ID: "c", Input: raw(`{}`), Name: "f", Type: BlockToolUse}},
	{name: "a result of Messages", text: `{"content":"","is_error":false,"tool_use_id":"c","type":"tool_result"}`,
		is: &MessagesBlock{Type: BlockResult, Content: new(""), Failed: new(false), Call: new("c")}},
	{name: "a request of Gemini", text: `{"contents":[{"parts":["own words"],"role":"model"}],` +
		`"generationConfig":{"maxOutputTokens":9,"responseJsonSchema":{},"responseMimeType":"application/json"},"systemInstruction":{"parts":["s"]},` +
		`"tools":[{"functionDeclarations":[{"description":"d","name":"f","parametersJsonSchema":{}}]}]}`,
		is: &GeminiRequest{Contents: []GeminiTurn{{Parts: []any{"own words"}, Role: RoleModel}},
			System: GeminiTurn{Parts: []any{"s"}},
			Config: GeminiConfig{MaxTokens: 9, JSONSchema: raw(`{}`), Mime: "application/json"},
			Tools: []GeminiTools{{Functions: []GeminiFunction{{Description: "d", Name: "f",
				JSONSchema: raw(`{}`)}}}}}},
	{name: "the least request of Gemini", text: `{"contents":[],"generationConfig":{}}`,
		is: &GeminiRequest{Contents: []GeminiTurn{}}},
	{name: "a call of Gemini", text: `{"functionCall":{"args":{},"id":"c","name":"f"},"thoughtSignature":"s"}`,
		is: &GeminiSaid{Call: &GeminiCall{Args: raw(`{}`), ID: "c", Name: "f"}, Signature: raw(`"s"`)}},
	{name: "a result of Gemini", text: `{"functionResponse":{"id":"c","name":"f","response":{"output":""}}}`,
		is: &GeminiSaid{Result: &GeminiResult{ID: "c", Name: "f", Response: map[string]string{"output": ""}}}},

	{name: "an event of Chat", only: true,
		text: `{"id":7,"choices":[{"index":1,"finish_reason":null,"delta":{"content":null,"reasoning":{"x":1},"reasoning_content":"hm","refusal":"no",` +
			`"tool_calls":[{"index":0,"id":"c","type":5,"function":{"name":"f","arguments":"{"},"extra_content":7}]},"message":3}],` +
			`"usage":{"prompt_tokens":3,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":1}},"model":"m"}`,
		is: &ChatAnswer{Model: "m", Usage: &ChatUsage{In: 3, Out: 2, Cached: Cached{1}},
			Choices: []ChatChoice{{Index: 1, Message: raw("3"), Delta: ChatMessage{
				Thought: raw(`{"x":1}`), Reasoning: "hm", Refusal: "no",
				Calls: []ChatCall{{Index: new(0), ID: "c", Function: chatFunction("f", "{"), Extra: raw("7")}}}}}}},
	{name: "an event of Responses", only: true,
		text: `{"type":"response.incomplete","output_index":2,"item":{"a":1},"delta":"d","sequence_number":"x",` +
			`"response":{"model":"m","output":[1],"incomplete_details":{"reason":"r"},"usage":{"input_tokens":3,"output_tokens":2,"input_tokens_details":{"cached_tokens":1}}}}`,
		is: &ResponsesEvent{Type: ResponsesIncomplete, At: 2, Item: raw(`{"a":1}`), Delta: "d",
			Response: responsesAnswer("m", "r", raw("1"), ResponsesUsage{In: 3, Out: 2, Cached: Cached{1}})}},
	{name: "an event of Messages", only: true,
		text: `{"type":"content_block_start","index":2,"content_block":{"type":"thinking","signature":"s"},"usage":{"output_tokens":4}}`,
		is: &MessagesEvent{Type: BlockStart, Index: 2, Block: map[string]json.RawMessage{"type": raw(`"thinking"`),
			"signature": raw(`"s"`)}, Usage: &MessagesUsage{Out: 4}}},
	{name: "an event of Gemini", only: true,
		text: `{"candidates":[{"content":{"parts":[{"own":1}]},"finishReason":"STOP"}],"modelVersion":"m",` +
			`"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"thoughtsTokenCount":1,"cachedContentTokenCount":1,"toolUsePromptTokenCount":"many"}}`,
		is: geminiAnswer("m", "STOP", raw(`{"own":1}`), GeminiUsage{Prompt: 3, Answer: 2, Thoughts: 1, Cached: 1})},
	{name: "a part of Gemini", only: true,
		text: `{"text":"x","thought":true,"functionCall":{"own":1},"thoughtSignature":7}`,
		is:   &GeminiPart{Text: "x", Thought: true, Call: raw(`{"own":1}`), Signature: raw("7")}},
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func chatFunction(name, args string) (c struct {
	Arguments string `json:"arguments"`
	Name      string `json:"name"`
}) {
	c.Name, c.Arguments = name, args
	return c
}

func chatFormat(name, schema string) (f ChatFormat) {
	f.Type, f.Schema.Name, f.Schema.Schema = JSONSchema, name, raw(schema)
	return f
}

func chatTool(name string) (t ChatTool) {
	t.Type, t.Function.Name, t.Function.Parameters = Function, name, raw("null")
	return t
}

func demands(name, schema string) (d ResponsesDemands) {
	d.Format.Type, d.Format.Name, d.Format.Schema = JSONSchema, name, raw(schema)
	return d
}

func responsesAnswer(model, reason string, item json.RawMessage, u ResponsesUsage) ResponsesAnswer {
	a := ResponsesAnswer{Model: model, Output: []json.RawMessage{item}, Usage: &u}
	a.Incomplete.Reason = reason
	return a
}

func geminiAnswer(model, end string, part json.RawMessage, u GeminiUsage) *GeminiAnswer {
	a := GeminiAnswer{Model: model, Usage: &u}
	_ = json.Unmarshal([]byte(`[{}]`), &a.Candidates)
	a.Candidates[0].Content.Parts, a.Candidates[0].Finish = []json.RawMessage{part}, end
	return &a
}

func TestForms(t *testing.T) {
	for _, f := range forms {
		got := reflect.New(reflect.TypeOf(f.is).Elem()).Interface()
		if err := json.Unmarshal([]byte(f.text), got); err != nil || !reflect.DeepEqual(got, f.is) {
			t.Errorf("%s is read as %+v, not as %+v: %v", f.name, got, f.is, err)
		}
		if f.only {
			continue
		}
		if text, err := json.Marshal(f.is); err != nil || string(text) != f.text {
			t.Errorf("%s is written as\n%s, not as\n%s: %v", f.name, text, f.text, err)
		}
	}
}

func TestRoutes(t *testing.T) {
	for _, c := range []struct {
		provider     Provider
		method, path string
		want         Route // none where nothing is let through
	}{
		{OpenAI, "POST", "/v1/chat/completions", Route{Chat, "/chat/completions", ""}},
		{OpenAI, "POST", "/responses", Route{Responses, "/responses", ""}},
		{OpenAI, "GET", "/v1/models/org/m", Route{Free, "/models/org/m", ""}},
		{Anthropic, "POST", "/v1/messages", Route{Messages, "/v1/messages", ""}},
		{Anthropic, "POST", "/v1/messages/count_tokens", Route{Free, "/v1/messages/count_tokens", ""}},
		{Google, "POST", "/v1beta/models/m-1:streamGenerateContent",
			Route{Gemini, "/v1beta/models/m-1:streamGenerateContent", "m-1"}},
		{Google, "POST", "/v1/models/m:countTokens", Route{Free, "/v1/models/m:countTokens", "m"}},
		{OpenAI, "GET", "/v1/chat/completions", Route{}}, {OpenAI, "POST", "/v1/files", Route{}}, {OpenAI, "GET",
			"/v1/responses/r", Route{}},
		{Anthropic, "POST", "/v1/messages/batches", Route{}}, {Google, "POST", "/v1beta/models/m:batchGenerateContent",
			Route{}}, {"", "POST", "/v1/messages", Route{}},
	} {
		if got, ok := c.provider.Route(c.method, c.path); got != c.want || ok != (c.want.Form != "") {
			t.Errorf("%s %s %s: %+v", c.provider, c.method, c.path, got)
		}
	}
	for _, f := range []Form{Chat, Responses, Messages, Gemini} {
		path, _, _ := strings.Cut(f.StreamPath("models/a"), "?")
		if r, ok := f.Provider().Route("POST", path); !ok || r.Form != f || FormAt("/any/base"+path) != f {
			t.Errorf("%s is asked at %s: %+v", f, path, r)
		}
		models, _, _ := strings.Cut(f.Provider().ModelsPath(), "?")
		if r, ok := f.Provider().Route("GET", models); !ok || r.Form != Free {
			t.Errorf("%s has its models at %s: %+v", f, models, r)
		}
	}
}

func TestErrors(t *testing.T) {
	for p, want := range map[Provider]string{
		OpenAI:    `{"error":{"code":null,"message":"pawl: no","param":null,"type":"permission_error"}}`,
		Anthropic: `{"error":{"message":"pawl: no","type":"permission_error"},"type":"error"}`,
		Google:    `{"error":{"code":403,"message":"pawl: no","status":"PERMISSION_DENIED"}}`,
	} {
		body := p.Error(403, "pawl: no")
		if string(body) != want || ErrorText(body) != "pawl: no" {
			t.Errorf("%s: %s", p, body)
		}
	}
	for body, want := range map[string]string{
		`{"error":"no"}`: "no", `{"message":"no"}`: "no", `{"error":{"code":1},"message":"no"}`: "no", `no`: "no",
		`{}`: `{}`, `[1]`: `[1]`,
	} {
		if got := ErrorText([]byte(body)); got != want {
			t.Errorf("%s says %q", body, got)
		}
	}
}

func TestEnds(t *testing.T) {
	for reason, want := range map[string]End{
		"": Unsaid, "stop": Whole, "STOP": Whole, "tool_calls": Whole, "end_turn": Whole, "tool_use": Whole,
		"stop_sequence": Whole,
		"length":        Truncated, "MAX_TOKENS": Truncated, "content_filter": Filtered, "SAFETY": Filtered,
		"refusal":                 Filtered,
		"MALFORMED_FUNCTION_CALL": Unknown, "pause_turn": Unknown, "incomplete: stop": Unknown,
	} {
		if got := EndOf(reason); got != want {
			t.Errorf("%q: %d, not %d", reason, got, want)
		}
	}
}

func TestEvents(t *testing.T) {
	for _, c := range []struct{ stream, want, end string }{
		{"data: a\n\ndata:b\r\n\r\n", "a|b|", ""},
		{": hello\nevent: x\ndata: a\ndata:  b\n\n", "a\n b|", ""},
		{"\n\n\ndata\n\n", "|", ""},
		{"data: a\n\ndata: b", "a|", "b|"},
		{"data: a\n\ndata: b\n", "a|", "b|"},
		{"data: " + strings.Repeat("x", 40) + "\n\ndata: a\n\n", "a|", ""},
		{"data: aaaaaaaaaaaaaa\ndata: bbbbbbbbbbbbbb\n\n", "aaaaaaaaaaaaaa|", ""},
		{"data: a\n\ndata: STOP\n\ndata: b\n\n", "a|STOP|", ""},
	} {
		for size := 1; size <= len(c.stream); size++ {
			got, lost := "", 0
			e := Events{Most: 20, Lost: func(p []byte) { lost += len(p) },
				Take: func(data []byte) bool { got += string(data) + "|"; return string(data) == "STOP" }}
			for rest := []byte(c.stream); len(rest) > 0; rest = rest[min(size, len(rest)):] {
				e.Feed(rest[:min(size, len(rest))])
			}
			if before := got; before != c.want {
				t.Errorf("%q in pieces of %d: %q", c.stream, size, got)
			}
			if got = ""; c.want != "a|STOP|" {
				e.End()
			}
			if got != c.end || (lost > 0) != (len(c.stream) > 40) {
				t.Errorf("%q in pieces of %d: %q at the end, %d lost", c.stream, size, got, lost)
			}
		}
	}
}
