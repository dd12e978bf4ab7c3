package scripted

import (
	"encoding/json"
	"fmt"
	"strings"

	"pawl/agent/wire"
)

// answer is what is said, before it is put into a wire form.
type answer struct {
	id, model string
	text      string
	thought   string
	finish    string
	calls     []asked
	ids       []string
	in, out   int
}

// firstText is the place of the first piece of text in a stream.
func (a answer) firstText(form wire.Form) int {
	at := map[wire.Form]int{wire.Chat: 1, wire.Responses: 2, wire.Messages: 2, wire.Gemini: 0}[form]
	if a.thought == "" {
		return at
	}
	return at + map[wire.Form]int{wire.Chat: 1, wire.Responses: 3, wire.Messages: 4, wire.Gemini: 1}[form]
}

// end is the reason for the end.
func (a answer) end(usual string) string {
	if a.finish != "" {
		return a.finish
	}
	return usual
}

// schemaOf reads a schema as far as it can be understood.
func schemaOf(raw json.RawMessage) (s schema) {
	_ = json.Unmarshal(raw, &s) // a tool without one takes anything
	return s
}

func (q *query) chat(body []byte) {
	var r wire.ChatRequest
	_ = json.Unmarshal(body, &r) // a request that is no JSON gets the first step
	q.seen.Model, q.seen.Stream = r.Model, r.Stream
	for _, t := range r.Tools {
		q.tools = append(q.tools, tool{Name: t.Function.Name, Schema: schemaOf(t.Function.Parameters)})
	}
	q.json, q.schema = strings.HasPrefix(r.Format.Type, "json"), r.Format.Schema.Name
}

func (q *query) responses(body []byte) {
	var r wire.ResponsesRequest
	_ = json.Unmarshal(body, &r)
	q.seen.Model, q.seen.Stream = r.Model, r.Stream
	// Newer models are offered their tools in an item of the conversation, each in a namespace.
	var items struct {
		Input []struct {
			Tools []wire.ResponsesTool `json:"tools"`
		} `json:"input"`
	}
	_ = json.Unmarshal(body, &items) // the input may be a text
	for _, item := range items.Input {
		for _, space := range item.Tools {
			var inside []wire.ResponsesTool
			_ = json.Unmarshal(space.Tools, &inside)
			for _, t := range inside {
				q.offered(t, space.Name)
			}
		}
	}
	for _, t := range r.Tools {
		if t.Name != "" && t.Type != wire.Namespace {
			q.offered(t, "")
		}
	}
	q.json, q.schema = r.Text.Format.Type == wire.JSONSchema, r.Text.Format.Name
}

// offered notes a tool of Responses.
func (q *query) offered(t wire.ResponsesTool, space string) {
	q.tools = append(q.tools, tool{Name: t.Name, Space: space, Schema: schemaOf(t.Parameters),
		Freeform: t.Type == wire.Custom})
}

func (q *query) messages(body []byte) {
	var r wire.MessagesRequest
	_ = json.Unmarshal(body, &r)
	q.seen.Model, q.seen.Stream = r.Model, r.Stream
	for _, t := range r.Tools {
		q.tools = append(q.tools, tool{Name: t.Name, Schema: schemaOf(t.Schema)})
	}
	if r.Choice.Type == wire.ChoiceTool {
		q.json, q.schema, q.forced = true, r.Choice.Name, r.Choice.Name
	}
	q.json = q.json || r.Output.Format.Type == wire.JSONSchema
}

func (q *query) gemini(body []byte) {
	var r wire.GeminiRequest
	_ = json.Unmarshal(body, &r)
	for _, t := range r.Tools {
		for _, f := range t.Functions {
			s := schemaOf(f.Parameters)
			if given := schemaOf(f.JSONSchema); len(given.Properties) > 0 {
				s = given
			}
			q.tools = append(q.tools, tool{Name: f.Name, Schema: s})
		}
	}
	q.json = r.Config.Mime == "application/json" && len(r.Config.Schema)+len(r.Config.JSONSchema) > 0
	var titled struct {
		Title string `json:"title"`
	}
	_ = json.Unmarshal(r.Config.JSONSchema, &titled)
	q.schema = titled.Title
}

// pieces cuts a text into parts of a stream, between runes.
func pieces(text string) []string {
	const size = 24
	runes := []rune(text)
	var out []string
	for len(runes) > 0 {
		n := min(size+len(text)/64, len(runes))
		out = append(out, string(runes[:n]))
		runes = runes[n:]
	}
	return out
}

func event(name string, v any) []byte {
	line := "data: " + encode(v) + "\n\n"
	if name != "" {
		line = "event: " + name + "\n" + line
	}
	return []byte(line)
}

type object = map[string]any

func (a answer) stream(form wire.Form) [][]byte {
	switch form {
	case wire.Chat:
		return a.chatStream()
	case wire.Responses:
		return a.responsesStream()
	case wire.Messages:
		return a.anthropicStream()
	}
	return a.geminiStream()
}

func (a answer) plain(form wire.Form) []byte {
	switch form {
	case wire.Chat:
		message := object{"role": wire.RoleAssistant, "content": a.text}
		if len(a.calls) > 0 {
			message["tool_calls"] = a.chatCalls()
		}
		return []byte(encode(object{"id": "chat-" + a.id, "object": "chat.completion", "created": 1, "model": a.model,
			"usage":   a.chatUsage(),
			"choices": []any{object{"index": 0, "message": message, "finish_reason": a.chatFinish()}}}))
	case wire.Responses:
		return []byte(encode(a.response("completed", a.items())))
	case wire.Messages:
		return []byte(encode(object{"id": "msg_" + a.id, "type": "message", "role": wire.RoleAssistant,
			"model": a.model, "content": a.blocks(),
			"stop_reason": a.stopReason(), "stop_sequence": nil,
			"usage": object{"input_tokens": a.in, "output_tokens": a.out}}))
	}
	return []byte(encode(a.geminiBody(a.geminiParts(), true)))
}

func (a answer) chatFinish() string {
	if len(a.calls) > 0 {
		return a.end(wire.ToolCalls)
	}
	return a.end(wire.Stop)
}

func (a answer) chatUsage() object {
	return object{"prompt_tokens": a.in, "completion_tokens": a.out, "total_tokens": a.in + a.out}
}

func (a answer) chatCalls() []any {
	var out []any
	for i, c := range a.calls {
		out = append(out, object{"index": i, "id": a.ids[i], "type": wire.Function,
			"function": object{"name": c.Name, "arguments": c.Args}})
	}
	return out
}

func (a answer) chatStream() [][]byte {
	chunk := func(delta object, finish any, usage any) []byte {
		return event("", object{"id": "chat-" + a.id, "object": "chat.completion.chunk", "created": 1, "model": a.model,
			"usage":   usage,
			"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	out := [][]byte{chunk(object{"role": wire.RoleAssistant, "content": ""}, nil, nil)}
	if a.thought != "" {
		out = append(out, chunk(object{"reasoning_content": a.thought}, nil, nil))
	}
	for _, p := range pieces(a.text) {
		out = append(out, chunk(object{"content": p}, nil, nil))
	}
	for i, c := range a.calls {
		call := object{"index": i, "id": a.ids[i], "type": wire.Function,
			"function": object{"name": c.Name, "arguments": ""}}
		if a.thought != "" {
			call["extra_content"] = object{"signature": Thinks}
		}
		out = append(out, chunk(object{"tool_calls": []any{call}}, nil, nil))
		for _, p := range pieces(c.Args) {
			out = append(out, chunk(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": p}}}},
				nil, nil))
		}
	}
	out = append(out, chunk(object{}, a.chatFinish(), nil))
	out = append(out, event("", object{"id": "chat-" + a.id, "object": "chat.completion.chunk", "created": 1,
		"model": a.model, "choices": []any{}, "usage": a.chatUsage()}))
	return append(out, []byte("data: [DONE]\n\n"))
}

func (a answer) items() []any {
	out := []any{}
	if a.thought != "" {
		out = append(out, object{"type": "reasoning", "id": "rs_" + a.id,
			"summary": []any{object{"type": "summary_text", "text": a.thought}}, "encrypted_content": Thinks})
	}
	if a.text != "" {
		out = append(out, object{"type": wire.ItemMessage, "id": "msg_" + a.id, "role": wire.RoleAssistant,
			"status":  "completed",
			"content": []any{object{"type": "output_text", "text": a.text, "annotations": []any{}}}})
	}
	for i, c := range a.calls {
		if c.Freeform {
			call := object{"type": "custom_tool_call", "id": "ctc_" + a.ids[i], "call_id": a.ids[i], "name": c.Name,
				"input": c.Args, "status": "completed"}
			if c.Space != "" {
				call["namespace"] = c.Space
			}
			out = append(out, call)
			continue
		}
		out = append(out, object{"type": wire.ItemCall, "id": "fc_" + a.ids[i], "call_id": a.ids[i], "name": c.Name,
			"arguments": c.Args, "status": "completed"})
	}
	return out
}

func (a answer) response(status string, items []any) object {
	var partial any
	if status == "incomplete" {
		partial = object{"reason": a.finish}
	}
	return object{"incomplete_details": partial, "id": "resp_" + a.id, "object": "response", "created_at": 1,
		"model": a.model, "status": status, "output": items, "error": nil,
		"usage": object{"input_tokens": a.in, "output_tokens": a.out, "total_tokens": a.in + a.out,
			"input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0}}}
}

func (a answer) responsesStream() [][]byte {
	n := 0
	say := func(kind string, v object) []byte {
		v["type"], v["sequence_number"] = kind, n
		n++
		return event(kind, v)
	}
	out := [][]byte{say("response.created", object{"response": a.response("in_progress", []any{})})}
	for i, item := range a.items() {
		m := item.(object)
		out = append(out, say(wire.ResponsesItemAdded, object{"output_index": i, "item": item}))
		if m["type"] == "reasoning" {
			out = append(out, say(wire.ResponsesSummary,
				object{"item_id": m["id"], "output_index": i, "summary_index": 0, "delta": a.thought}))
		}
		if m["type"] == wire.ItemMessage {
			for _, p := range pieces(a.text) {
				out = append(out, say(wire.ResponsesText,
					object{"item_id": m["id"], "output_index": i, "content_index": 0, "delta": p}))
			}
			out = append(out, say("response.output_text.done",
				object{"item_id": m["id"], "output_index": i, "content_index": 0, "text": a.text}))
		}
		if m["type"] == wire.ItemCall {
			args := m["arguments"].(string)
			for _, p := range pieces(args) {
				out = append(out, say(wire.ResponsesArguments,
					object{"item_id": m["id"], "output_index": i, "delta": p}))
			}
			out = append(out, say("response.function_call_arguments.done",
				object{"item_id": m["id"], "output_index": i, "arguments": args}))
		}
		out = append(out, say(wire.ResponsesItemDone, object{"output_index": i, "item": item}))
	}
	end := "completed"
	if a.finish != "" {
		end = "incomplete"
	}
	return append(out, say("response."+end, object{"response": a.response(end, a.items())}))
}

func (a answer) stopReason() string {
	if len(a.calls) > 0 {
		return a.end(wire.ToolUse)
	}
	return a.end(wire.EndTurn)
}

func (a answer) blocks() []any {
	out := []any{}
	if a.text != "" {
		out = append(out, object{"type": wire.BlockText, "text": a.text})
	}
	for i, c := range a.calls {
		out = append(out, object{"type": wire.BlockToolUse, "id": a.ids[i], "name": c.Name, "input": raw(c.Args)})
	}
	return out
}

// raw is text that is meant to be JSON; what is none becomes a string, so that the answer around it stays one.
func raw(s string) any {
	if json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	return s
}

func (a answer) anthropicStream() [][]byte {
	out := [][]byte{event(wire.MessageStart,
		object{"type": wire.MessageStart, "message": object{"id": "msg_" + a.id, "type": "message",
			"role": wire.RoleAssistant, "model": a.model,
			"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
			"usage": object{"input_tokens": a.in, "output_tokens": 1}}})}
	block := func(i int, start object, kind, field string, parts []string) {
		out = append(out, event(wire.BlockStart, object{"type": wire.BlockStart, "index": i, "content_block": start}))
		for _, p := range parts {
			out = append(out, event(wire.BlockDelta,
				object{"type": wire.BlockDelta, "index": i, "delta": object{"type": kind, field: p}}))
		}
		out = append(out, event(wire.BlockStop, object{"type": wire.BlockStop, "index": i}))
	}
	i := 0
	if a.thought != "" {
		out = append(out, event(wire.BlockStart, object{"type": wire.BlockStart, "index": 0,
			"content_block": object{"type": "thinking", "thinking": "", "signature": ""}}),
			event(wire.BlockDelta, object{"type": wire.BlockDelta, "index": 0,
				"delta": object{"type": "thinking_delta", "thinking": a.thought}}),
			event(wire.BlockDelta, object{"type": wire.BlockDelta, "index": 0,
				"delta": object{"type": "signature_delta", "signature": Thinks}}),
			event(wire.BlockStop, object{"type": wire.BlockStop, "index": 0}))
		i++
	}
	if a.text != "" {
		block(i, object{"type": wire.BlockText, "text": ""}, "text_delta", "text", pieces(a.text))
		i++
	}
	for n, c := range a.calls {
		block(i, object{"type": wire.BlockToolUse, "id": a.ids[n], "name": c.Name, "input": object{}},
			"input_json_delta", "partial_json", pieces(c.Args))
		i++
	}
	out = append(out, event(wire.MessageDelta, object{"type": wire.MessageDelta,
		"delta": object{"stop_reason": a.stopReason(), "stop_sequence": nil}, "usage": object{"output_tokens": a.out}}))
	return append(out, event(wire.MessageStop, object{"type": wire.MessageStop}))
}

func (a answer) geminiParts() []any {
	out := []any{}
	if a.text != "" {
		out = append(out, object{"text": a.text})
	}
	for i, c := range a.calls {
		out = append(out, object{"functionCall": object{"id": a.ids[i], "name": c.Name, "args": raw(c.Args)},
			"thoughtSignature": "c2lnbmVk" + fmt.Sprint(i)})
	}
	return out
}

func (a answer) geminiBody(parts []any, last bool) object {
	candidate := object{"index": 0, "content": object{"role": wire.RoleModel, "parts": parts}}
	body := object{"candidates": []any{candidate}, "modelVersion": a.model, "responseId": "gem-" + a.id}
	if last {
		candidate["finishReason"] = a.end(strings.ToUpper(wire.Stop))
		body["usageMetadata"] = object{"promptTokenCount": a.in, "candidatesTokenCount": a.out,
			"totalTokenCount": a.in + a.out}
	}
	return body
}

func (a answer) geminiStream() [][]byte {
	var out [][]byte
	if a.thought != "" {
		out = append(out, event("", a.geminiBody([]any{object{"text": a.thought, "thought": true,
			"thoughtSignature": Thinks}}, false)))
	}
	for _, p := range pieces(a.text) {
		out = append(out, event("", a.geminiBody([]any{object{"text": p}}, false)))
	}
	a.text = "" // it was sent
	return append(out, event("", a.geminiBody(a.geminiParts(), true)))
}

// Recorded returns the bytes of one stream that asks for a call, as the server would send them.
func Recorded(form wire.Form, c Call, offered string) []byte {
	a := answer{id: "0-0", model: "mock-model", text: "I will do it.", calls: []asked{{Name: offered, Args: c.Args}},
		ids: []string{callID(0, 0, 0)}, in: 100, out: 10}
	var out []byte
	for _, p := range a.stream(form) {
		out = append(out, p...)
	}
	return out
}
